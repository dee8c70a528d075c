//! Holonomic drives: `omni` keeps its heading, `omni_angular` turns as well.

use std::sync::Arc;

use super::{Command, Layout, Model, State};
use crate::registry::{Entry, MakeModel};
use crate::wrap;

/// Models `omni` and `omni_angular`.
#[derive(Debug)]
struct Omni {
    layout: Layout,
    turns: bool,
}

pub(super) fn entries() -> [Entry<MakeModel>; 2] {
    [("omni", false), ("omni_angular", true)].map(|(name, turns)| {
        let names: &[_] = if turns { &["forward", "lateral", "angular"] } else { &["forward", "lateral"] };
        let layout = Layout::of(3, names, 2, turns.then_some(2));
        let make: MakeModel = Arc::new(move |_, _| Ok(Arc::new(Omni { layout: layout.clone(), turns })));
        Entry { name, kinematics: &[], parameters: Vec::new(), make }
    })
}

impl Model for Omni {
    fn name(&self) -> &str {
        if self.turns { "omni_angular" } else { "omni" }
    }

    fn layout(&self) -> &Layout {
        &self.layout
    }

    fn step(&self, state: &State, command: &Command, dt: f64) -> State {
        let [x, y, heading, ..] = *state;
        let [vx, vy] = self.world_velocity(state, command);
        let turned = if self.turns { wrap(heading + command[2] * dt) } else { heading };
        [x + vx * dt, y + vy * dt, turned, 0.0, 0.0, 0.0]
    }

    fn world_velocity(&self, state: &State, velocity: &Command) -> [f64; 2] {
        let (sin, cos) = state[2].sin_cos();
        let [forward, left, ..] = *velocity;
        [forward * cos - left * sin, forward * sin + left * cos]
    }

    fn to_command(&self, heading: f64, [dx, dy]: [f64; 2]) -> Command {
        let (sin, cos) = heading.sin_cos();
        [dx * cos + dy * sin, dy * cos - dx * sin, 0.0, 0.0]
    }

    fn max_speed(&self, vel_max: &Command) -> f64 {
        vel_max[0].hypot(vel_max[1])
    }

    fn travel_heading(&self, state: &State, velocity: &Command) -> f64 {
        if self.turns { state[2] } else { velocity[1].atan2(velocity[0]) + state[2] }
    }

    fn body_twist(&self, _state: &State, velocity: &Command) -> [f64; 3] {
        [velocity[0], velocity[1], if self.turns { velocity[2] } else { 0.0 }]
    }

    fn take_twist(&self, _state: &mut State, [forward, left, turn]: [f64; 3]) -> Command {
        [forward, left, if self.turns { turn } else { 0.0 }, 0.0]
    }

    fn deviations(&self, _command: &Command, alpha: &[f64]) -> Command {
        let deviation = |i: usize| alpha.get(i).map_or(0.0, |a| a.sqrt());
        [deviation(0), deviation(1), if self.turns { deviation(2) } else { 0.0 }, 0.0]
    }

    fn default_alpha(&self) -> &[f64] {
        &[0.03; 3][..self.layout.command.len()]
    }
}
