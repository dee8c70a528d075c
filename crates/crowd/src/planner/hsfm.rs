//! `hsfm`: the headed social force model (Farina, Fontanelli, Garulli, Giannitrapani & Prattichizzo 2017, PLoS ONE 12, e0169734;
//! crowd-engine specification, section 20.2).
//!
//! The force of `sfm`, of which the part across the body counts less and is damped; the heading follows on its own.

use std::f64::consts::FRAC_PI_2;

use super::social_force::{self, Force, Forces};
use super::{LocalPlanner, Motion, Scene, capped, each_row, toward_goal, values_of};
use crate::sampling::{AgentParameters, PlannerKey};
use promenade_kernel::elementary::wrap;

const KEYS: [PlannerKey; 9] = [
    social_force::KEYS[0],
    social_force::KEYS[1],
    social_force::KEYS[2],
    social_force::KEYS[3],
    PlannerKey::exactly("lateral_gain", 0.3),
    PlannerKey::exactly("lateral_damping", 1.5),
    PlannerKey::exactly("angular_gain", 4.0),
    PlannerKey::exactly("angular_damping", 4.0),
    PlannerKey::exactly("heading_source", 0.0),
];

/// Forces below this have no direction, m/s2.
const NO_DIRECTION: f64 = 1e-6;

/// Social force on a body with a front.
#[derive(Debug, Clone, Default)]
pub struct HeadedSocialForce {
    forces: Forces,
    bodies: Vec<Body>,
}

#[derive(Debug, Clone, Copy)]
struct Body {
    lateral_gain: f64,
    lateral_damping: f64,
    angular_gain: f64,
    angular_damping: f64,
    /// Whether the heading follows the total force rather than the drive.
    follows_total: bool,
    /// Turning rate, rad/s.
    omega: f64,
}

impl LocalPlanner for HeadedSocialForce {
    fn name(&self) -> &'static str {
        "hsfm"
    }

    fn keys(&self) -> &'static [PlannerKey] {
        &KEYS
    }

    fn owns_heading(&self) -> bool {
        true
    }

    fn push(&mut self, parameters: &AgentParameters) {
        self.forces.push(parameters);
        self.bodies.push(Body::of(parameters, 0.0));
    }

    fn set(&mut self, row: usize, parameters: &AgentParameters) {
        self.forces.set(row, parameters);
        self.bodies[row] = Body::of(parameters, self.bodies[row].omega);
    }

    fn swap_remove(&mut self, row: usize) {
        self.forces.swap_remove(row);
        self.bodies.swap_remove(row);
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

    fn keep(&mut self, rows: &[u32], out: &[Motion]) {
        for (row, motion) in rows.iter().zip(out) {
            self.bodies[*row as usize].omega = motion.state;
        }
    }
}

impl HeadedSocialForce {
    #[inline(always)]
    fn step(&self, scene: &Scene<'_>, row: usize) -> Motion {
        let pool = scene.pool;
        let theta = pool.theta[row];
        let Some(e) = toward_goal(pool, row) else {
            return Motion { velocity: [0.0; 2], theta: wrap(theta), state: 0.0 };
        };
        let body = &self.bodies[row];
        let force = self.forces.on(scene, row, e);
        let total = force.total();
        let (sin, cos) = theta.sin_cos();
        let v = [pool.vx[row], pool.vy[row]];
        let forward = total[0] * cos + total[1] * sin;
        let across = body.lateral_gain * (-total[0] * sin + total[1] * cos)
            - body.lateral_damping * (-v[0] * sin + v[1] * cos);
        let velocity = [
            v[0] + (forward * cos - across * sin) * scene.dt,
            v[1] + (forward * sin + across * cos) * scene.dt,
        ];
        let turn = wrap(body.target(theta, e, &force) - theta);
        let pivot = pool.pivot_angular_velocity[row];
        let omega = body.omega + (body.angular_gain * turn - body.angular_damping * body.omega) * scene.dt;
        let omega = omega.max(-pivot).min(pivot);
        Motion {
            velocity: capped(velocity, pool.max_velocity[row]),
            theta: wrap(theta + omega * scene.dt),
            state: omega,
        }
    }
}

impl Body {
    fn of(parameters: &AgentParameters, omega: f64) -> Self {
        let [_, _, _, _, lateral_gain, lateral_damping, angular_gain, angular_damping, heading_source] =
            values_of(parameters, &KEYS);
        Self {
            lateral_gain: lateral_gain.clamp(0.0, 1.0),
            lateral_damping,
            angular_gain,
            angular_damping,
            follows_total: heading_source >= 0.5,
            omega,
        }
    }

    /// Where the body wants to face.
    fn target(&self, theta: f64, e: [f64; 2], force: &Force) -> f64 {
        let norm = |f: [f64; 2]| (f[0] * f[0] + f[1] * f[1]).sqrt();
        let direction = |f: [f64; 2]| f[1].atan2(f[0]);
        let total = force.total();
        if self.follows_total && norm(total) > NO_DIRECTION {
            let bearing = direction(e);
            return bearing + wrap(direction(total) - bearing).clamp(-FRAC_PI_2, FRAC_PI_2);
        }
        if norm(force.drive) < NO_DIRECTION { theta } else { direction(force.drive) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn body(follows_total: bool) -> Body {
        Body {
            lateral_gain: 0.3,
            lateral_damping: 1.5,
            angular_gain: 4.0,
            angular_damping: 4.0,
            follows_total,
            omega: 0.0,
        }
    }

    /// What the total lacks to the drive comes from others.
    fn force(drive: [f64; 2], total: [f64; 2]) -> Force {
        Force { drive, social: [total[0] - drive[0], total[1] - drive[1]], walls: [0.0; 2] }
    }

    #[test]
    fn the_body_faces_its_drive_and_keeps_its_heading_without_one() {
        let turning = force([0.0, 2.0], [-1.0, 0.0]);
        assert_eq!(body(false).target(0.4, [1.0, 0.0], &turning), FRAC_PI_2);
        let standing = force([0.0, 1e-7], [-1.0, 0.0]);
        assert_eq!(body(false).target(0.4, [1.0, 0.0], &standing), 0.4);
    }

    #[test]
    fn the_total_force_turns_the_body_at_most_square_to_its_goal() {
        let turning = force([1.0, 0.0], [-1.0, 0.1]);
        assert_eq!(body(true).target(0.0, [1.0, 0.0], &turning), FRAC_PI_2);
        let none = force([0.0, 1.0], [0.0, 0.0]);
        assert_eq!(body(true).target(0.0, [1.0, 0.0], &none), FRAC_PI_2, "the drive decides");
    }
}
