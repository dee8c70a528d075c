//! One person driven by key presses.
//!
//! A terminal tells when a key goes down but not when it comes up. So speed is a set value that stays, and turning is an
//! angle still to be turned, which runs out by itself. What is pressed only moves these wishes; the person follows them
//! within human limits. No terminal and no ROS here.

use std::time::Duration;

use promenade_human::MAP_FRAME;
use promenade_human::message::{Pedestrian, Pedestrians, Pose};
use promenade_human::walker::{shown_as, wrap};
use promenade_kernel::Time;

/// Speed per key press, and its limits; nobody walks backwards fast. m/s.
const SPEED_STEP: f64 = 0.2;
const FASTEST: f64 = 3.0;
const BACKWARDS: f64 = -0.6;
/// Angle per key press, and how much a held key can pile up. Radians.
const TURN_STEP: f64 = 15.0 * std::f64::consts::PI / 180.0;
const MOST_TURN: f64 = 3.0 * TURN_STEP;
/// m/s2; stopping may be quicker than starting.
const ACCELERATION: f64 = 1.5;
const DECELERATION: f64 = 2.5;
/// rad/s and rad/s2.
const TURN_RATE: f64 = 2.0;
const TURN_ACCELERATION: f64 = 12.0;
/// Turn rate per angle still to be turned, 1/s.
const TURN_GAIN: f64 = 5.0;

/// What a key asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Command {
    Faster,
    Slower,
    Left,
    Right,
    Stop,
    Quit,
}

/// The wishes and the motion of the person.
#[derive(Clone, Debug, Default)]
pub(crate) struct Drive {
    wanted_speed: f64,
    to_turn: f64,
    speed: f64,
    turn_rate: f64,
    yaw: f64,
    /// Nobody or one person.
    batch: Pedestrians,
}

impl Drive {
    pub(crate) fn new() -> Self {
        Drive {
            batch: Pedestrians { frame_id: MAP_FRAME.to_owned(), ..Pedestrians::default() },
            ..Drive::default()
        }
    }

    /// Takes a person over where they stand.
    pub(crate) fn add(&mut self, name: &str, pose: &Pose) {
        self.batch.pedestrians = vec![Pedestrian { name: name.to_owned(), ..Pedestrian::default() }];
        self.place(pose);
    }

    /// Puts the person elsewhere, standing.
    pub(crate) fn place(&mut self, pose: &Pose) {
        (self.wanted_speed, self.to_turn, self.speed, self.turn_rate) = (0.0, 0.0, 0.0, 0.0);
        self.yaw = pose.yaw();
        if let Some(ped) = self.batch.pedestrians.first_mut() {
            ped.pose = Pose::planar(0.0, 0.0, self.yaw);
            ped.pose.position = pose.position;
        }
    }

    pub(crate) fn release(&mut self) {
        self.batch.pedestrians.clear();
    }

    pub(crate) fn batch(&self) -> &Pedestrians {
        &self.batch
    }

    /// Takes note of a key. [`Command::Quit`] is not for the person and changes nothing.
    pub(crate) fn press(&mut self, command: Command) {
        match command {
            Command::Faster => self.wanted_speed = step(self.wanted_speed, SPEED_STEP),
            Command::Slower => self.wanted_speed = step(self.wanted_speed, -SPEED_STEP),
            Command::Left => self.to_turn = (self.to_turn + TURN_STEP).min(MOST_TURN),
            Command::Right => self.to_turn = (self.to_turn - TURN_STEP).max(-MOST_TURN),
            Command::Stop => (self.wanted_speed, self.to_turn) = (0.0, 0.0),
            Command::Quit => {}
        }
    }

    /// Moves the person by `dt` and stamps the batch.
    pub(crate) fn step(&mut self, dt: Duration, stamp: Time) {
        self.batch.stamp = stamp;
        let Some(ped) = self.batch.pedestrians.first_mut() else { return };
        let dt = dt.as_secs_f64();
        let is_braking = self.wanted_speed.abs() < self.speed.abs() || self.wanted_speed * self.speed < 0.0;
        let limit = dt * if is_braking { DECELERATION } else { ACCELERATION };
        self.speed += (self.wanted_speed - self.speed).clamp(-limit, limit);

        let wanted_rate = (self.to_turn * TURN_GAIN).clamp(-TURN_RATE, TURN_RATE);
        let limit = TURN_ACCELERATION * dt;
        self.turn_rate += (wanted_rate - self.turn_rate).clamp(-limit, limit);
        let turned = self.turn_rate * dt;
        self.to_turn -= turned;
        self.yaw = wrap(self.yaw + turned);

        let (sin, cos) = self.yaw.sin_cos();
        let [x, y, floor] = ped.pose.position;
        ped.pose = Pose::planar(x + self.speed * cos * dt, y + self.speed * sin * dt, self.yaw);
        ped.pose.position[2] = floor;
        ped.twist.linear = [self.speed * cos, self.speed * sin, 0.0];
        ped.twist.angular = [0.0, 0.0, self.turn_rate];
        ped.animation_state = shown_as(self.speed);
    }

    /// One line for the person at the keys.
    pub(crate) fn status(&self) -> String {
        const KEYS: &str = "w/s speed  a/d turn  space stop  q quit";
        match self.batch.pedestrians.first() {
            None => format!("waiting for the person to appear on arena_peds   {KEYS}"),
            Some(ped) => format!(
                "{}  {:+.1} m/s (set {:+.1})  heading {:+4.0} deg  at ({:.1}, {:.1})   {KEYS}",
                ped.name.escape_debug(),
                self.speed,
                self.wanted_speed,
                self.yaw.to_degrees(),
                ped.pose.position[0],
                ped.pose.position[1],
            ),
        }
    }
}

/// The next speed, on whole steps so that ten up and ten down end at exactly nothing.
fn step(speed: f64, by: f64) -> f64 {
    let steps = ((speed + by) / SPEED_STEP).round();
    (steps * SPEED_STEP).clamp(BACKWARDS, FASTEST)
}

#[cfg(test)]
mod tests {
    use promenade_human::message::animation_state;
    use proptest::prelude::*;

    use super::*;

    const DT: Duration = Duration::from_millis(50);

    fn standing() -> Drive {
        let mut drive = Drive::new();
        let mut pose = Pose::planar(1.0, 2.0, 0.0);
        pose.position[2] = 3.0;
        drive.add("ann", &pose);
        drive
    }

    fn run(drive: &mut Drive, seconds: f64) -> &Pedestrian {
        for _ in 0..(seconds / DT.as_secs_f64()).round() as usize {
            drive.step(DT, Time::ZERO);
        }
        &drive.batch().pedestrians[0]
    }

    #[test]
    fn speed_stays_until_it_is_changed_and_space_stops() {
        let mut drive = standing();
        for _ in 0..5 {
            drive.press(Command::Faster);
        }
        let ped = run(&mut drive, 5.0);
        assert!((ped.twist.linear[0] - 1.0).abs() < 1e-12);
        assert!(ped.pose.position[0] > 5.0);
        assert_eq!(ped.pose.position[1..], [2.0, 3.0], "straight on, on the same floor");
        assert_eq!(ped.animation_state, animation_state::WALKING);
        drive.press(Command::Stop);
        let ped = run(&mut drive, 1.0);
        assert_eq!((ped.twist.linear, ped.animation_state), ([0.0; 3], animation_state::IDLE));
    }

    #[test]
    fn a_press_turns_by_its_angle_and_then_no_further() {
        for (command, sign) in [(Command::Left, 1.0), (Command::Right, -1.0)] {
            let mut drive = standing();
            drive.press(command);
            let yaw = run(&mut drive, 3.0).pose.yaw();
            assert!((yaw - sign * TURN_STEP).abs() < 1e-3, "{yaw}");
            assert_eq!(run(&mut drive, 1.0).animation_state, animation_state::IDLE, "on the spot");
        }
    }

    #[test]
    fn a_held_key_piles_up_no_more_than_the_limit() {
        let mut drive = standing();
        for _ in 0..1000 {
            drive.press(Command::Left);
            drive.press(Command::Slower);
        }
        let ped = run(&mut drive, 5.0);
        assert!((ped.pose.yaw() - MOST_TURN).abs() < 1e-3);
        assert!((ped.signed_speed() - BACKWARDS).abs() < 1e-9);
        for _ in 0..3 {
            drive.press(Command::Faster);
        }
        assert_eq!(
            run(&mut drive, 2.0).twist.linear.map(f64::abs),
            [0.0; 3],
            "as many up as down is nothing"
        );
    }

    #[test]
    fn without_a_person_keys_and_steps_do_nothing() {
        let mut drive = Drive::new();
        drive.press(Command::Faster);
        drive.step(DT, Time::ZERO);
        assert!(drive.batch().pedestrians.is_empty());
        assert!(drive.status().contains("waiting"));
        drive.add("ann", &Pose::default());
        assert_eq!(run(&mut drive, 1.0).twist.linear, [0.0; 3], "what was pressed before is forgotten");
        drive.release();
        assert!(drive.batch().pedestrians.is_empty());
    }

    #[test]
    fn a_name_cannot_write_to_the_terminal() {
        let mut drive = Drive::new();
        drive.add("\u{1b}[2Jann", &Pose::default());
        assert!(!drive.status().contains('\u{1b}'));
    }

    proptest! {
        #[test]
        fn motion_stays_within_human_limits(keys in prop::collection::vec(0_usize..8, 1..400)) {
            const KEYS: [Command; 5] =
                [Command::Faster, Command::Slower, Command::Left, Command::Right, Command::Stop];
            let mut drive = standing();
            let dt = DT.as_secs_f64();
            for key in keys {
                if let Some(&command) = KEYS.get(key) {
                    drive.press(command);
                }
                let (speed, rate) = (drive.speed, drive.turn_rate);
                drive.step(DT, Time::ZERO);
                prop_assert!((drive.speed - speed).abs() <= DECELERATION * dt + 1e-9);
                prop_assert!((drive.turn_rate - rate).abs() <= TURN_ACCELERATION * dt + 1e-9);
                prop_assert!((BACKWARDS - 1e-9..=FASTEST + 1e-9).contains(&drive.speed));
                prop_assert!(drive.turn_rate.abs() <= TURN_RATE + 1e-9);
                prop_assert!(drive.batch.pedestrians[0].pose.is_finite());
            }
        }
    }
}
