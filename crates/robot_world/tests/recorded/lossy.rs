//! The custom model of world 04: a differential drive that loses speed and drifts.

use std::sync::Arc;

use promenade_robot_world::kinematics::{Command, Layout, Model, State};
use promenade_robot_world::registry::{Argument, Entry, Kind, MakeModel, Parameter};
use promenade_robot_world::wrap;

#[derive(Debug)]
struct Lossy {
    layout: Layout,
    ratio: f64,
    drift: f64,
}

/// `lossy_diff` with its two keys.
pub(crate) fn entry() -> Entry<MakeModel> {
    let number = |name, default| Parameter {
        name,
        kind: Kind::Number { min: -10.0, max: 10.0, above: false },
        default: Some(Argument::Number(default)),
    };
    let make: MakeModel = Arc::new(|arguments, _| {
        Ok(Arc::new(Lossy {
            layout: Layout::of(3, &["linear", "angular"], 1, Some(1)),
            ratio: arguments.number("ratio").unwrap_or(1.0),
            drift: arguments.number("drift").unwrap_or(0.0),
        }))
    });
    Entry {
        name: "lossy_diff",
        kinematics: &[],
        parameters: vec![number("ratio", 1.0), number("drift", 0.0)],
        make,
    }
}

impl Model for Lossy {
    fn name(&self) -> &str {
        "lossy_diff"
    }

    fn layout(&self) -> &Layout {
        &self.layout
    }

    fn step(&self, state: &State, command: &Command, dt: f64) -> State {
        let mut next = *state;
        let speed = self.ratio * command[0];
        next[0] += speed * state[2].cos() * dt;
        next[1] += speed * state[2].sin() * dt;
        next[2] = wrap(state[2] + (command[1] + self.drift) * dt);
        next
    }

    fn world_velocity(&self, state: &State, velocity: &Command) -> [f64; 2] {
        [velocity[0] * state[2].cos(), velocity[0] * state[2].sin()]
    }

    fn to_command(&self, heading: f64, change: [f64; 2]) -> Command {
        [change[0] * heading.cos() + change[1] * heading.sin(), 0.0, 0.0, 0.0]
    }
}
