//! `straight`: to the goal at the desired speed, whatever is in between. The floor that every other planner is compared with.

use super::{LocalPlanner, Motion, Scene, capped, toward_goal};
use crate::sampling::{AgentParameters, PlannerKey};

/// Walks straight to the goal.
#[derive(Debug, Clone, Copy, Default)]
pub struct Straight;

impl LocalPlanner for Straight {
    fn name(&self) -> &'static str {
        "straight"
    }

    fn keys(&self) -> &'static [PlannerKey] {
        &[]
    }

    fn push(&mut self, _parameters: &AgentParameters) {}

    fn set(&mut self, _row: usize, _parameters: &AgentParameters) {}

    fn swap_remove(&mut self, _row: usize) {}

    fn plan(&self, scene: &Scene<'_>, rows: &[u32], out: &mut [Motion]) {
        for (motion, row) in out.iter_mut().zip(rows) {
            let row = *row as usize;
            let speed = scene.pool.desired_velocity[row];
            let velocity = toward_goal(scene.pool, row).map_or([0.0; 2], |e| [speed * e[0], speed * e[1]]);
            let velocity = capped(velocity, scene.pool.max_velocity[row]);
            *motion = Motion { velocity, ..Motion::default() };
        }
    }
}
