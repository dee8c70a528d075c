//! Differential drive: forward speed and yaw rate.

use std::sync::Arc;

use super::{Command, Layout, Model, State};
use crate::registry::{Entry, MakeModel};
use crate::wrap;

/// Model `diff`.
#[derive(Debug)]
struct Diff(Layout);

pub(super) fn entry() -> Entry<MakeModel> {
    let layout = Layout::of(3, &["linear", "angular"], 1, Some(1));
    let make: MakeModel = Arc::new(move |_, _| Ok(Arc::new(Diff(layout.clone()))));
    Entry { name: "diff", kinematics: &[], parameters: Vec::new(), make }
}

impl Model for Diff {
    fn name(&self) -> &str {
        "diff"
    }

    fn layout(&self) -> &Layout {
        &self.0
    }

    fn step(&self, state: &State, command: &Command, dt: f64) -> State {
        let ([x, y, heading, ..], [v, w, ..]) = (*state, *command);
        let (sin, cos) = heading.sin_cos();
        [x + v * cos * dt, y + v * sin * dt, wrap(heading + w * dt), 0.0, 0.0, 0.0]
    }

    fn world_velocity(&self, state: &State, velocity: &Command) -> [f64; 2] {
        super::along(state[2], velocity[0])
    }

    fn to_command(&self, heading: f64, change: [f64; 2]) -> Command {
        super::forward_part(heading, change)
    }

    fn body_twist(&self, _state: &State, velocity: &Command) -> [f64; 3] {
        [velocity[0], 0.0, velocity[1]]
    }

    fn take_twist(&self, _state: &mut State, twist: [f64; 3]) -> Command {
        [twist[0], twist[2], 0.0, 0.0]
    }

    fn deviations(&self, command: &Command, alpha: &[f64]) -> Command {
        super::proportional(command, alpha)
    }

    fn default_alpha(&self) -> &[f64] {
        &super::PROPORTIONAL
    }
}
