//! What a drive makes of a command: lag and grip (robot-world specification, section 12.2).
//!
//! Pure: the drive's velocity goes in and comes out.

use crate::kinematics::Command;

/// The limits of one object's drive.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Drive {
    /// How many leading numbers of a command translate the body: only those are limited by grip.
    pub(crate) translating: usize,
    /// Lag, seconds.
    pub(crate) tau: f64,
    /// Largest change of the translating numbers, m/s^2: friction times gravity.
    pub(crate) grip: f64,
}

impl Drive {
    /// The drive's velocity after `dt` seconds of `command`, from its velocity `drive` before.
    #[must_use]
    pub(crate) fn respond(&self, drive: &Command, command: &Command, dt: f64) -> Command {
        let gain = if self.tau > 0.0 { (dt / self.tau).min(1.0) } else { 1.0 };
        let mut target = *command;
        if gain < 1.0 {
            for ((target, &drive), &command) in target.iter_mut().zip(drive).zip(command) {
                *target = drive + gain * (command - drive);
            }
        }
        let rows = ..self.translating.min(target.len());
        let change = target[rows].iter().zip(&drive[rows]).map(|(t, d)| (t - d).powi(2)).sum::<f64>().sqrt();
        let most = self.grip * dt;
        if change > most {
            for (target, &drive) in target[rows].iter_mut().zip(&drive[rows]) {
                *target = drive + (*target - drive) * (most / change);
            }
        }
        target
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const WHEELS: Drive = Drive { translating: 1, tau: 0.0, grip: 0.5 * 9.81 };

    fn run(drive: Drive, command: Command, dt: f64, steps: usize) -> Vec<Command> {
        let mut now = Command::default();
        (0..steps)
            .map(|_| {
                now = drive.respond(&now, &command, dt);
                now
            })
            .collect()
    }

    #[test]
    fn grip_limits_how_fast_a_robot_gets_going_and_not_how_fast_it_turns() {
        let speeds = run(WHEELS, [1.0, 2.0, 0.0, 0.0], 0.1, 3);
        for (speed, expected) in speeds.iter().zip([0.4905, 0.981, 1.0]) {
            assert!((speed[0] - expected).abs() < 1e-12, "{speeds:?}");
            assert_eq!(speed[1], 2.0);
        }
    }

    #[test]
    fn without_friction_a_robot_only_turns() {
        let slippery = Drive { grip: 0.0, ..WHEELS };
        assert_eq!(run(slippery, [1.0, 0.5, 0.0, 0.0], 0.1, 5)[4], [0.0, 0.5, 0.0, 0.0]);
    }

    #[test]
    fn lag_closes_a_share_of_the_gap_per_step_in_every_component() {
        let lazy = Drive { tau: 0.2, grip: f64::INFINITY, ..WHEELS };
        let speeds = run(lazy, [1.0, -0.4, 0.0, 0.0], 0.05, 2);
        assert!((speeds[0][0] - 0.25).abs() < 1e-12 && (speeds[0][1] + 0.1).abs() < 1e-12);
        assert!((speeds[1][0] - 0.4375).abs() < 1e-12 && (speeds[1][1] + 0.175).abs() < 1e-12);
        let quick = Drive { tau: 0.01, ..lazy };
        assert_eq!(run(quick, [1.0, -0.4, 0.0, 0.0], 0.05, 1)[0], [1.0, -0.4, 0.0, 0.0]);
    }

    #[test]
    fn grip_of_an_omni_robot_limits_the_length_of_the_change() {
        let omni = Drive { translating: 2, ..WHEELS };
        let speed = run(omni, [3.0, -4.0, 1.0, 0.0], 0.1, 1)[0];
        assert!((speed[0] - 0.4905 * 0.6).abs() < 1e-12 && (speed[1] + 0.4905 * 0.8).abs() < 1e-12);
        assert_eq!(speed[2], 1.0);
    }

    proptest! {
        #[test]
        fn a_drive_never_changes_faster_than_its_grip(
            drive in prop::array::uniform4(-5.0..5.0), command in prop::array::uniform4(-5.0..5.0),
            translating in 0_usize..5, tau in 0.0..1.0, grip in 0.0..10.0,
        ) {
            let after = Drive { translating, tau, grip }.respond(&drive, &command, 0.1);
            let change = (0..translating.min(4)).map(|i| (after[i] - drive[i]).powi(2)).sum::<f64>().sqrt();
            prop_assert!(change <= grip * 0.1 + 1e-12);
            prop_assert!((0..4).all(|i| (after[i] - drive[i]) * (command[i] - drive[i]) >= 0.0));
        }
    }
}
