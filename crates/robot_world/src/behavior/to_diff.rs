//! From a world-frame velocity to the command of a differential drive (robot-world specification, section 9.4).

use crate::kinematics::Command;
use crate::{Point, wrap};

/// Speeds up to this are standing still, m/s.
const STILL: f64 = 0.02;

/// How a differential drive turns towards a velocity.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ToDiff {
    /// Largest yaw rate, rad/s.
    pub most_yaw_rate: f64,
    /// Seconds within which it would like to have turned.
    pub horizon: f64,
    /// Errors of heading below this are left alone, radians.
    pub tolerance: f64,
}

impl Default for ToDiff {
    fn default() -> Self {
        Self { most_yaw_rate: 1.5, horizon: 0.2, tolerance: 0.1 }
    }
}

impl ToDiff {
    /// Forward speed and yaw rate of a body with `heading` that shall move with `velocity`. It never drives backwards.
    #[must_use]
    pub fn command(&self, heading: f64, velocity: Point) -> Command {
        let speed = velocity[0].hypot(velocity[1]);
        let mut command = Command::default();
        if speed > STILL {
            let error = wrap(heading - velocity[1].atan2(velocity[0]));
            command[0] = (speed * error.cos()).max(0.0);
            if error.abs() >= self.tolerance {
                // No clamp: the bounds may be in the wrong order when a window of commands lies below zero.
                command[1] = (-error / self.horizon).max(-self.most_yaw_rate).min(self.most_yaw_rate);
            }
        }
        command
    }
}

/// `velocity` of the world in the frame of a body with `heading`: an omnidirectional drive's command.
pub(super) fn to_omni(heading: f64, velocity: Point) -> Command {
    let (sine, cosine) = heading.sin_cos();
    let mut command = Command::default();
    command[0] = velocity[0] * cosine + velocity[1] * sine;
    command[1] = velocity[1] * cosine - velocity[0] * sine;
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn assert_command(velocity: Point, expected: [f64; 2]) {
        let command = ToDiff::default().command(0.3, velocity);
        assert!((command[0] - expected[0]).abs() < 1e-8, "{command:?}");
        assert!((command[1] - expected[1]).abs() < 1e-8, "{command:?}");
    }

    #[test]
    fn a_velocity_to_the_side_turns_while_driving() {
        assert_command([0.5, 0.8], [0.71408441, 1.5]);
    }

    #[test]
    fn a_velocity_behind_turns_on_the_spot() {
        assert_command([-0.5, -0.1], [0.0, 1.5]);
    }

    #[test]
    fn a_small_error_of_heading_is_left_alone() {
        assert_command([0.5, 0.2], [0.536772286, 0.0]);
    }

    #[test]
    fn next_to_nothing_is_standing_still() {
        assert_command([0.014, 0.014], [0.0, 0.0]);
    }

    #[test]
    fn an_omnidirectional_command_is_the_velocity_in_the_body_frame() {
        let command = to_omni(0.3, [0.5, 0.8]);
        let (sine, cosine) = 0.3f64.sin_cos();
        assert!((command[0] * cosine - command[1] * sine - 0.5).abs() < 1e-15);
        assert!((command[0] * sine + command[1] * cosine - 0.8).abs() < 1e-15);
    }
}
