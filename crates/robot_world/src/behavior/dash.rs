//! `dash`: straight to the goal, whatever stands there (robot-world specification, section 9.1).
//!
//! It does not slow down before the goal and sees no other object.

use std::sync::Arc;

use super::{Behavior, Scratch};
use crate::kinematics::{Command, MAX_COMMAND};
use crate::registry::{Argument, Entry, Kind, MakeBehavior, Parameter};
use crate::spec::ArriveMode;
use crate::world::Scene;
use crate::wrap;

/// How the model it drives turns.
#[derive(Clone, Copy, Debug)]
enum Drive {
    Diff,
    Omni,
    OmniAngular,
    Acker,
}

/// Behaviour `dash`.
#[derive(Clone, Copy, Debug)]
struct Dash {
    drive: Drive,
    /// Radians of bearing error that are not corrected.
    tolerance: f64,
}

const TOLERANCE: f64 = 0.1;

pub(super) fn entry() -> Entry<MakeBehavior> {
    let parameters = vec![Parameter {
        name: "angle_tolerance",
        kind: Kind::Number { min: 0.0, max: f64::MAX, above: false },
        default: Some(Argument::Number(TOLERANCE)),
    }];
    let make: MakeBehavior = Arc::new(|arguments, kinematics| {
        let drive = match kinematics {
            "omni" => Drive::Omni,
            "omni_angular" => Drive::OmniAngular,
            "acker" => Drive::Acker,
            _ => Drive::Diff,
        };
        Ok(Arc::new(Dash { drive, tolerance: arguments.number("angle_tolerance").unwrap_or(TOLERANCE) }))
    });
    Entry { name: "dash", kinematics: &["acker", "diff", "omni", "omni_angular"], parameters, make }
}

impl Behavior for Dash {
    fn name(&self) -> &str {
        "dash"
    }

    fn command(&self, scene: &Scene<'_>, ego: usize, _scratch: &mut Scratch) -> Command {
        let objects = scene.objects;
        let Some(goal) = objects.goals[ego].front() else { return [0.0; MAX_COMMAND] };
        let [x, y, heading, ..] = objects.state[ego];
        let (limit, acce) = (&objects.vel_max[ego], &objects.acce[ego]);
        let [dx, dy] = [goal.position[0] - x, goal.position[1] - y];
        let (distance, threshold) = (dx.hypot(dy), objects.goal_threshold[ego]);
        let bearing = dy.atan2(dx);
        let error = wrap(bearing - heading);
        let rate = |error: f64, number: usize| {
            self.rate(error, limit[number], acce[number], scene.settings.step_time)
        };
        let along = || {
            let (sin, cos) = error.sin_cos();
            if distance > threshold { [limit[0] * cos, limit[1] * sin] } else { [0.0; 2] }
        };
        match self.drive {
            Drive::Diff if distance < threshold => match (objects.arrive_mode[ego], goal.heading) {
                // Only who must also face somewhere turns at the goal.
                (ArriveMode::Pose { heading: tolerance }, Some(target)) => {
                    let error = wrap(target - heading);
                    let dt = scene.settings.step_time;
                    let tolerance = self.tolerance.min(tolerance / 2.0);
                    let rate = Self { tolerance, ..*self }.rate(error, limit[1], acce[1], dt);
                    // No further than the heading, which a step at full rate would pass.
                    let turn = if error.abs() < tolerance { 0.0 } else { rate.abs().min(error.abs() / dt) };
                    let turn = turn.copysign(error);
                    [0.0, turn, 0.0, 0.0]
                }
                _ => [0.0; MAX_COMMAND],
            },
            Drive::Diff => {
                let turn = if error.abs() < self.tolerance { 0.0 } else { rate(error, 1) };
                [limit[0] * error.cos(), turn, 0.0, 0.0]
            }
            Drive::Omni => {
                let [forward, left] = along();
                [forward, left, 0.0, 0.0]
            }
            Drive::OmniAngular => {
                let target = if distance > threshold { bearing } else { goal.heading.unwrap_or(heading) };
                let error = wrap(target - heading);
                let turn = if error.abs() <= self.tolerance { 0.0 } else { rate(error, 2) };
                let [forward, left] = along();
                [forward, left, turn, 0.0]
            }
            Drive::Acker if distance < threshold => [0.0; MAX_COMMAND],
            Drive::Acker => {
                let error = if error.abs() < self.tolerance { 0.0 } else { error };
                [limit[0], error.max(-limit[1]).min(limit[1]), 0.0, 0.0]
            }
        }
    }
}

impl Dash {
    /// A yaw rate against `error` that can still be braked to nothing at the tolerance, where braking has a limit.
    fn rate(&self, error: f64, limit: f64, acce: f64, dt: f64) -> f64 {
        let mut rate = limit.abs();
        if acce.is_finite() {
            let step = acce * dt;
            rate =
                rate.min(-step + (step * step + 2.0 * acce * (error.abs() - self.tolerance).max(0.0)).sqrt());
        }
        error.signum() * rate
    }
}
