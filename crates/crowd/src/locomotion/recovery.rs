//! What an agent does that has got nowhere for a while: it turns to its goal, and at the second time backs up first.

use super::parameters::LocomotionParameters;

/// Nearer than this to its goal nobody is stuck, metres.
const AT_GOAL: f64 = 0.3;
/// This much nearer to the goal counts as progress, metres.
const PROGRESS: f64 = 0.05;
/// A goal that moved further than this is a new one, metres.
const MOVED: f64 = 0.05;
/// Facing the goal to within this the turn is done, radians.
const FACING: f64 = 0.15;
/// After a turn the next stall comes sooner for this long, seconds.
const COOLDOWN: f64 = 2.0;
/// Stall time during the cool-down at most, seconds.
const IMPATIENCE: f64 = 1.0;
/// Speed of backing up, m/s.
pub(super) const REVERSE_SPEED: f64 = 0.3;

/// What an agent is doing about its progress.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Mode {
    /// Walking as planned.
    #[default]
    Normal,
    /// Turning on the spot to face the goal.
    Rotate,
    /// Backing up.
    Reverse,
}

/// Progress of one agent.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Recovery {
    mode: Mode,
    goal: Option<[f64; 2]>,
    best: f64,
    stalled: f64,
    cooldown: f64,
    backed_up: f64,
    events: u32,
}

/// What recovery has to know of a tick: the way to the goal, if there is one to walk to, and how far the body is turned from it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Way {
    pub(super) goal: [f64; 2],
    pub(super) distance: f64,
    pub(super) turn: f64,
}

impl Recovery {
    /// What it is doing.
    #[must_use]
    pub fn mode(&self) -> Mode {
        self.mode
    }

    /// How often it has been stuck.
    #[must_use]
    pub fn events(&self) -> u32 {
        self.events
    }

    /// One tick of `dt` seconds; the mode for this tick.
    pub(super) fn advance(&mut self, parameters: &LocomotionParameters, way: Option<Way>, dt: f64) -> Mode {
        if parameters.stall_after <= 0.0 {
            return Mode::Normal;
        }
        let Some(way) = way.filter(|way| way.distance > AT_GOAL) else {
            *self = Self { events: self.events, ..Self::default() };
            return Mode::Normal;
        };
        let cooling = self.cooldown > 0.0;
        self.cooldown = (self.cooldown - dt).max(0.0);
        match self.mode {
            Mode::Normal => self.watch(parameters, way, cooling, dt),
            Mode::Reverse => {
                self.backed_up += REVERSE_SPEED * dt;
                if self.backed_up >= parameters.reverse {
                    self.mode = Mode::Rotate;
                }
            }
            Mode::Rotate if way.turn.abs() < FACING => {
                self.mode = Mode::Normal;
                self.cooldown = COOLDOWN;
                (self.best, self.stalled) = (way.distance, 0.0);
            }
            Mode::Rotate => {}
        }
        self.mode
    }

    fn watch(&mut self, parameters: &LocomotionParameters, way: Way, cooling: bool, dt: f64) {
        let is_new =
            self.goal.is_none_or(|goal| (goal[0] - way.goal[0]).hypot(goal[1] - way.goal[1]) > MOVED);
        if is_new || way.distance < self.best - PROGRESS {
            (self.goal, self.best, self.stalled) = (Some(way.goal), way.distance, 0.0);
            return;
        }
        self.stalled += dt;
        let patience = if cooling { parameters.stall_after.min(IMPATIENCE) } else { parameters.stall_after };
        // Sums of time steps fall short of round numbers by rounding.
        if self.stalled < patience - 1e-9 {
            return;
        }
        self.events = self.events.saturating_add(1);
        (self.stalled, self.backed_up) = (0.0, 0.0);
        self.mode = if cooling && parameters.reverse > 0.0 { Mode::Reverse } else { Mode::Rotate };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parameters() -> LocomotionParameters {
        LocomotionParameters { stall_after: 3.0, reverse: 0.3, ..LocomotionParameters::default() }
    }

    fn way(distance: f64, turn: f64) -> Option<Way> {
        Some(Way { goal: [5.0, 0.0], distance, turn })
    }

    /// Ticks of 0.05 s until the mode is another than `mode`.
    fn ticks(recovery: &mut Recovery, way: Option<Way>, mode: Mode) -> u32 {
        (1..1000).find(|_| recovery.advance(&parameters(), way, 0.05) != mode).expect("another mode")
    }

    #[test]
    fn a_stall_turns_the_body_and_the_next_one_backs_it_up_first() {
        let mut recovery = Recovery::default();
        assert_eq!(ticks(&mut recovery, way(2.0, 1.0), Mode::Normal), 61, "3 s after the first look");
        assert_eq!((recovery.mode(), recovery.events()), (Mode::Rotate, 1));
        assert_eq!(recovery.advance(&parameters(), way(2.0, 0.1), 0.05), Mode::Normal, "it faces the goal");
        assert_eq!(ticks(&mut recovery, way(2.0, 0.1), Mode::Normal), 20, "1 s in the cool-down");
        assert_eq!(recovery.mode(), Mode::Reverse);
        assert_eq!(ticks(&mut recovery, way(2.0, 0.1), Mode::Reverse), 20, "0.3 m at 0.3 m/s");
        assert_eq!(recovery.mode(), Mode::Rotate);
    }

    #[test]
    fn progress_a_new_goal_and_nearness_are_no_stall() {
        let mut recovery = Recovery::default();
        for tick in 0..400 {
            let distance = 9.0 - 0.02 * f64::from(tick);
            assert_eq!(recovery.advance(&parameters(), way(distance, 0.0), 0.05), Mode::Normal);
        }
        for tick in 0..400 {
            let goal = [f64::from(tick / 50), 0.0];
            let way = Some(Way { goal, distance: 2.0, turn: 0.0 });
            assert_eq!(recovery.advance(&parameters(), way, 0.05), Mode::Normal);
        }
        for _ in 0..400 {
            assert_eq!(recovery.advance(&parameters(), way(0.3, 0.0), 0.05), Mode::Normal);
        }
        assert_eq!(recovery.events(), 0);
    }

    #[test]
    fn without_a_goal_it_is_forgotten() {
        let mut recovery = Recovery::default();
        ticks(&mut recovery, way(2.0, 1.0), Mode::Normal);
        assert_eq!(recovery.advance(&parameters(), None, 0.05), Mode::Normal);
        assert_eq!(recovery.events(), 1, "what has happened stays");
    }
}
