//! A car: speed and steering angle, or speed and steering rate. The kinematic bicycle about the rear axle.

use std::sync::Arc;

use super::{Command, Layout, Model, State};
use crate::registry::{Argument, Entry, Kind, MakeModel, Parameter};
use crate::wrap;

/// Model `acker`.
#[derive(Debug)]
struct Acker {
    layout: Layout,
    wheelbase: f64,
    /// The second number of a command is a steering rate instead of the angle.
    rate: bool,
}

pub(super) fn entry() -> Entry<MakeModel> {
    let parameters = vec![
        Parameter {
            name: "mode",
            kind: Kind::Word(&["steer", "angular"]),
            default: Some(Argument::Word("steer".into())),
        },
        Parameter {
            name: "wheelbase",
            kind: Kind::Number { min: 0.0, max: f64::MAX, above: true },
            default: None,
        },
    ];
    let make: MakeModel = Arc::new(|arguments, of_shape| {
        let rate = arguments.word("mode") == Some("angular");
        let names: &[_] = if rate { &["linear", "steering rate"] } else { &["linear", "steering"] };
        let wheelbase = arguments.number("wheelbase").or(of_shape).unwrap_or(1.0);
        Ok(Arc::new(Acker { layout: Layout::of(4, names, 1, None), wheelbase, rate }))
    });
    Entry { name: "acker", kinematics: &[], parameters, make }
}

impl Model for Acker {
    fn name(&self) -> &str {
        "acker"
    }

    fn layout(&self) -> &Layout {
        &self.layout
    }

    fn step(&self, state: &State, command: &Command, dt: f64) -> State {
        let ([x, y, heading, steering, ..], [v, s, ..]) = (*state, *command);
        let (sin, cos) = heading.sin_cos();
        let turned = wrap(heading + v * steering.tan() / self.wheelbase * dt);
        let steered = if self.rate { steering + s * dt } else { s };
        [x + v * cos * dt, y + v * sin * dt, turned, steered, 0.0, 0.0]
    }

    fn world_velocity(&self, state: &State, velocity: &Command) -> [f64; 2] {
        super::along(state[2], velocity[0])
    }

    fn to_command(&self, heading: f64, change: [f64; 2]) -> Command {
        super::forward_part(heading, change)
    }

    fn body_twist(&self, state: &State, velocity: &Command) -> [f64; 3] {
        [velocity[0], 0.0, velocity[0] * state[3].tan() / self.wheelbase]
    }

    fn take_twist(&self, state: &mut State, [forward, _, turn]: [f64; 3]) -> Command {
        if forward != 0.0 {
            state[3] = (turn * self.wheelbase / forward).atan();
        }
        [forward, if self.rate { 0.0 } else { state[3] }, 0.0, 0.0]
    }

    fn deviations(&self, command: &Command, alpha: &[f64]) -> Command {
        super::proportional(command, alpha)
    }

    fn default_alpha(&self) -> &[f64] {
        &super::PROPORTIONAL
    }

    fn wheelbase(&self) -> Option<f64> {
        Some(self.wheelbase)
    }
}
