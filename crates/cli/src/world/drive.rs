//! From keys to commands: what a driver wants of each robot, within limits.
//!
//! A terminal tells when a key goes down and never when it comes up, so a key changes what is wanted and a robot goes on until told otherwise.

use promenade_robot_world::kinematics::{Command, Layout};
use serde_json::Value;

/// Presses from nothing to the limit.
const NOTCHES: f64 = 10.0;

/// What a driver asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Press {
    Faster,
    Slower,
    Left,
    Right,
    SideLeft,
    SideRight,
    Stop,
    Next,
    Pick(usize),
    Pause,
    Reset,
    Nearer,
    Farther,
    Quit,
}

/// `gui.keyboard`, as far as it is about limits and beginnings.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Settings {
    /// Largest speed, m/s.
    pub(super) speed: f64,
    /// Largest turn rate or steering angle.
    pub(super) turn: f64,
    /// Wanted in the beginning: forward, sideways, turn.
    pub(super) begin: [f64; 3],
    /// Id of the robot that is driven first.
    pub(super) id: u32,
}

impl Settings {
    /// From the `gui` block; what is not a number there is as if it were not there.
    pub(super) fn of(gui: &Value) -> Self {
        let number = |key: &str, otherwise: f64| {
            let value = gui.get("keyboard").and_then(|keyboard| keyboard.get(key)).and_then(Value::as_f64);
            value.filter(|value| value.is_finite()).unwrap_or(otherwise)
        };
        Self {
            speed: number("key_lv_max", 3.0).abs(),
            turn: number("key_ang_max", 1.0).abs(),
            begin: [number("key_lv", 0.0), 0.0, number("key_ang", 0.0)],
            id: number("key_id", 0.0).clamp(0.0, f64::from(u32::MAX)) as u32,
        }
    }
}

/// What is wanted of one robot.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Wheel {
    layout: Layout,
    low: Command,
    high: Command,
    settings: Settings,
    command: Command,
}

impl Wheel {
    /// The wheel of a robot with that layout and those limits.
    pub(super) fn new(layout: &Layout, low: Command, high: Command, settings: Settings) -> Self {
        let mut wheel = Self { layout: layout.clone(), low, high, settings, command: [0.0; _] };
        let [forward, _, turn] = settings.begin;
        wheel.set(0, forward);
        if let Some(index) = wheel.turning() {
            wheel.set(index, turn);
        }
        wheel
    }

    /// What is wanted now, in the robot's layout.
    pub(super) fn command(&self) -> &[f64] {
        &self.command[..self.layout.command.len()]
    }

    /// The component that turns the robot: a yaw rate or a steering angle.
    fn turning(&self) -> Option<usize> {
        let second = self.layout.command.len() > 1 && self.layout.translating < 2;
        self.layout.yaw_rate.or(second.then_some(1))
    }

    fn sideways(&self) -> Option<usize> {
        (self.layout.translating >= 2).then_some(1)
    }

    fn set(&mut self, index: usize, value: f64) {
        let most = if self.turning() == Some(index) { self.settings.turn } else { self.settings.speed };
        let [low, high] = [self.low[index].max(-most), self.high[index].min(most)];
        // A limit may leave nothing, as `vel_min` above what the keyboard may ask for.
        self.command[index] = if low <= high { value.clamp(low, high) } else { self.low[index] };
    }

    /// Moves a component by a notch; on its way through zero it stops there, so that one can stand still.
    fn notch(&mut self, index: usize, sign: f64) {
        let turning = self.turning() == Some(index);
        let most = if turning { self.settings.turn } else { self.settings.speed };
        let limit = if sign > 0.0 { self.high[index] } else { -self.low[index] };
        let step = most.min(limit.abs().max(self.high[index].abs())) / NOTCHES;
        let before = self.command[index];
        let after = before + sign * step;
        let passes = before * after < 0.0 || after.abs() < 1e-9;
        self.set(index, if passes { 0.0 } else { after });
    }

    /// Takes a press; false for one that is not about the wheel.
    pub(super) fn press(&mut self, press: Press) -> bool {
        let turn = self.turning();
        let side = self.sideways();
        match press {
            Press::Faster => self.notch(0, 1.0),
            Press::Slower => self.notch(0, -1.0),
            Press::Left => turn.or(side).into_iter().for_each(|index| self.notch(index, 1.0)),
            Press::Right => turn.or(side).into_iter().for_each(|index| self.notch(index, -1.0)),
            Press::SideLeft => side.into_iter().for_each(|index| self.notch(index, 1.0)),
            Press::SideRight => side.into_iter().for_each(|index| self.notch(index, -1.0)),
            Press::Stop => (0..self.layout.command.len()).for_each(|index| self.set(index, 0.0)),
            _ => return false,
        }
        true
    }

    /// What is wanted, for people.
    pub(super) fn describe(&self) -> String {
        let parts: Vec<String> = self
            .layout
            .command
            .iter()
            .zip(self.command)
            .map(|(name, value)| format!("{name} {value:+.2}"))
            .collect();
        parts.join(", ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn wheel(model: &str, gui: &Value) -> Wheel {
        let (command, translating, yaw_rate): (&[&'static str], _, _) = match model {
            "diff" => (&["linear", "angular"], 1, Some(1)),
            "omni" => (&["forward", "lateral"], 2, None),
            "omni_angular" => (&["forward", "lateral", "angular"], 2, Some(2)),
            _ => (&["linear", "steer"], 1, None),
        };
        let layout = Layout::of(3, command, translating, yaw_rate);
        Wheel::new(&layout, [-1.0; _], [1.0; _], Settings::of(gui))
    }

    #[test]
    fn speeds_end_at_the_limits_of_the_file_and_of_the_robot() {
        let mut slow = wheel("diff", &json!({"keyboard": {"key_lv_max": 0.5}}));
        let mut own = wheel("diff", &json!({}));
        for _ in 0..30 {
            slow.press(Press::Faster);
            own.press(Press::Faster);
            own.press(Press::Left);
        }
        assert_eq!(slow.command(), [0.5, 0.0]);
        assert_eq!(own.command(), [1.0, 1.0]);
        assert!(own.press(Press::Stop));
        assert_eq!(own.command(), [0.0, 0.0]);
    }

    #[test]
    fn going_back_stops_at_standing_first() {
        let mut wheel = wheel("diff", &json!({"keyboard": {"key_lv": 0.05}}));
        assert_eq!(wheel.command()[0], 0.05);
        wheel.press(Press::Slower);
        assert_eq!(wheel.command()[0], 0.0);
        wheel.press(Press::Slower);
        assert!((wheel.command()[0] + 0.1).abs() < 1e-12);
    }

    #[test]
    fn left_turns_what_turns_steers_what_steers_and_moves_what_only_slides() {
        for (model, expected) in [
            ("diff", [0.0, 0.1, 0.0]),
            ("acker", [0.0, 0.1, 0.0]),
            ("omni", [0.0, 0.1, 0.0]),
            ("omni_angular", [0.0, 0.0, 0.1]),
        ] {
            let mut wheel = wheel(model, &json!({}));
            wheel.press(Press::Left);
            let command = wheel.command();
            assert!(command.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-12), "{model}: {command:?}");
        }
        let mut wheel = wheel("omni_angular", &json!({}));
        wheel.press(Press::SideRight);
        assert!((wheel.command()[1] + 0.1).abs() < 1e-12);
    }

    #[test]
    fn nonsense_in_the_gui_block_is_as_if_it_were_not_there() {
        let settings =
            Settings::of(&json!({"keyboard": {"key_lv_max": "fast", "key_id": -3, "key_ang_max": [1]}}));
        assert_eq!(settings, Settings::of(&json!({"keyboard": {"key_id": 0}})));
        assert_eq!(Settings::of(&Value::Null).speed, 3.0);
    }
}
