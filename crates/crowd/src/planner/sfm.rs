//! `sfm`: the social force model (Helbing & Molnár 1995, Phys. Rev. E 51, 4282; crowd-engine specification, section 20.1).

use super::social_force::{Force, Forces, KEYS};
use super::{LocalPlanner, Motion, Scene, accelerated, each_row, toward_goal};
use crate::sampling::{AgentParameters, PlannerKey};

/// Social force on a disc.
#[derive(Debug, Clone, Default)]
pub struct SocialForce {
    forces: Forces,
}

impl LocalPlanner for SocialForce {
    fn name(&self) -> &'static str {
        "sfm"
    }

    fn keys(&self) -> &'static [PlannerKey] {
        &KEYS
    }

    fn push(&mut self, parameters: &AgentParameters) {
        self.forces.push(parameters);
    }

    fn set(&mut self, row: usize, parameters: &AgentParameters) {
        self.forces.set(row, parameters);
    }

    fn swap_remove(&mut self, row: usize) {
        self.forces.swap_remove(row);
    }

    fn plan(&self, scene: &Scene<'_>, rows: &[u32], out: &mut [Motion]) {
        each_row(
            rows,
            out,
            #[inline(always)]
            |row| self.step(scene, row),
        );
    }

    fn force(&self, scene: &Scene<'_>, row: usize) -> Option<Force> {
        toward_goal(scene.pool, row).map(|e| self.forces.on(scene, row, e))
    }
}

impl SocialForce {
    #[inline(always)]
    fn step(&self, scene: &Scene<'_>, row: usize) -> Motion {
        let Some(e) = toward_goal(scene.pool, row) else {
            return Motion::default();
        };
        accelerated(scene, row, self.forces.on(scene, row, e).total())
    }
}
