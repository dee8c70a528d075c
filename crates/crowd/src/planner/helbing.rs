//! `helbing`: escape panic (Helbing, Farkas & Vicsek 2000, Nature 407, 487; crowd-engine specification, section 20.3).
//!
//! Bodies repel each other before they touch, and press and rub once they do. No anisotropy. Time steps above a few milliseconds are
//! coarse for its stiff contacts (a pressed body swings with 39 rad/s, and friction at a depth of 2 cm stops it within 17 ms): taken as
//! they are, only the speed cap holds them together. With [`stable_contacts`](crate::Improvements::stable_contacts) the step is
//! linearly implicit in the row's own position and velocity (Hairer & Wanner, Solving Ordinary Differential Equations II, IV.7), which
//! damps both whatever the time step, and tends to the same motion as it shrinks.

use super::{Accelerating, AccelerationLaw, SMALLEST, Scene, drive, leaning};
use crate::sampling::PlannerKey;
use promenade_kernel::elementary::exponential;

const KEYS: [PlannerKey; 7] = [
    PlannerKey::exactly("relaxation_time", 0.5),
    PlannerKey::exactly("mass", 80.0),
    PlannerKey::exactly("agent_scale", 2000.0),
    PlannerKey::exactly("obstacle_scale", 2000.0),
    PlannerKey::exactly("force_distance", 0.08),
    PlannerKey::exactly("body_force", 1.2e5),
    PlannerKey::exactly("friction", 2.4e5),
];

/// In force distances beyond the body: what is further away is not felt.
const WALL_CUT: f64 = 28.0;

/// Repulsion, body pressure and sliding friction.
pub type EscapePanic = Accelerating<EscapePanicLaw, 7>;

/// The law of [`EscapePanic`].
#[derive(Debug, Clone, Copy)]
pub struct EscapePanicLaw;

impl AccelerationLaw<7> for EscapePanicLaw {
    const NAME: &'static str = "helbing";
    const KEYS: &'static [PlannerKey; 7] = &KEYS;

    #[inline(always)]
    fn acceleration(values: &[[f64; 7]], scene: &Scene<'_>, row: usize, e: [f64; 2]) -> [f64; 2] {
        let pool = scene.pool;
        let [relaxation_time, mass, agent_scale, obstacle_scale, force_distance, body_force, friction] =
            values[row];
        let (position, radius, v) = (pool.position(row), pool.radius[row], [pool.vx[row], pool.vy[row]]);
        // The force of something whose surface begins `depth` before the touch, and that moves with `slip` relative to the row.
        let push = |scale: f64, n: [f64; 2], depth: f64, slip: [f64; 2]| {
            let (pressed, t) = (depth.max(0.0), [n[1], -n[0]]);
            let normal = scale * exponential(depth / force_distance) + body_force * pressed;
            let tangential = friction * pressed * (slip[0] * t[0] + slip[1] * t[1]);
            [normal * n[0] + tangential * t[0], normal * n[1] + tangential * t[1]]
        };
        let (mut social, mut walls) = ([0.0; 2], [0.0; 2]);
        let stable = scene.improvements.stable_contacts;
        let mut stiffness =
            Stiffness { dt: scene.dt, force_distance, body_force, friction, ..Stiffness::default() };
        for other in scene.neighbours.of(row) {
            let other = *other as usize;
            let apart = [position[0] - pool.x[other], position[1] - pool.y[other]];
            let distance = (apart[0] * apart[0] + apart[1] * apart[1]).sqrt().max(SMALLEST);
            let n = [apart[0] / distance, apart[1] / distance];
            let slip = [pool.vx[other] - v[0], pool.vy[other] - v[1]];
            let force = push(agent_scale, n, radius + pool.radius[other] - distance, slip);
            social = [social[0] + force[0], social[1] + force[1]];
            if stable {
                stiffness.add(agent_scale, n, radius + pool.radius[other] - distance, slip);
            }
        }
        for wall in scene.walls.near(position) {
            let (distance, offset) = wall.offset(position);
            if distance <= radius + WALL_CUT * force_distance {
                let floored = distance.max(SMALLEST);
                let n = [offset[0] / floored, offset[1] / floored];
                let force = push(obstacle_scale, n, radius - distance, [-v[0], -v[1]]);
                walls = [walls[0] + force[0], walls[1] + force[1]];
                if stable {
                    stiffness.add(obstacle_scale, n, radius - distance, [-v[0], -v[1]]);
                }
            }
        }
        let drive = drive(pool, row, e, relaxation_time);
        let social = leaning(scene, row, e, social);
        let acceleration = [0, 1].map(|axis| drive[axis] + (social[axis] + walls[axis]) / mass);
        if stable { stiffness.damp(acceleration, mass) } else { acceleration }
    }
}

/// How the contacts of a row change over a time step: force per velocity of the row, N s/m, as a symmetric matrix.
#[derive(Debug, Clone, Copy, Default)]
struct Stiffness {
    dt: f64,
    force_distance: f64,
    body_force: f64,
    friction: f64,
    xx: f64,
    xy: f64,
    yy: f64,
    /// Force that the present velocities add by the end of the step.
    ahead: [f64; 2],
}

impl Stiffness {
    /// Of something as it pushes: see `push` above.
    #[inline(always)]
    fn add(&mut self, scale: f64, n: [f64; 2], depth: f64, slip: [f64; 2]) {
        let pressed = depth.max(0.0);
        let rise = if depth > 0.0 { self.body_force } else { 0.0 };
        let normal =
            self.dt * (scale / self.force_distance * exponential(depth / self.force_distance) + rise);
        let tangential = self.friction * pressed;
        self.xx += normal * n[0] * n[0] + tangential * n[1] * n[1];
        self.xy += (normal - tangential) * n[0] * n[1];
        self.yy += normal * n[1] * n[1] + tangential * n[0] * n[0];
        let closing = normal * (slip[0] * n[0] + slip[1] * n[1]);
        self.ahead = [self.ahead[0] + closing * n[0], self.ahead[1] + closing * n[1]];
    }

    /// The acceleration that gives the velocity at the end of an implicit step.
    #[inline(always)]
    fn damp(&self, acceleration: [f64; 2], mass: f64) -> [f64; 2] {
        let step = self.dt / mass;
        let (xx, xy, yy) = (1.0 + step * self.xx, step * self.xy, 1.0 + step * self.yy);
        let [x, y] = [0, 1].map(|axis| acceleration[axis] + self.ahead[axis] / mass);
        let determinant = xx * yy - xy * xy;
        [(yy * x - xy * y) / determinant, (xx * y - xy * x) / determinant]
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::accelerations;
    use super::*;

    #[test]
    fn a_neighbour_pushes_with_the_published_values() {
        for (distance, expected) in [(0.6, 7.16), (0.5, 25.0), (0.48, 62.1)] {
            let [x, y] =
                accelerations(&mut EscapePanic::default(), &[[distance, 0.0, 0.0, 0.0], [0.0; 4]], &[])[1];
            assert!((x + expected).abs() < 0.05 && y == 0.0, "{distance}: {x} {y}");
        }
    }

    #[test]
    fn who_touches_somebody_that_slides_past_is_dragged_along() {
        let standing = accelerations(&mut EscapePanic::default(), &[[0.48, 0.0, 0.0, 0.0], [0.0; 4]], &[]);
        let sliding = accelerations(&mut EscapePanic::default(), &[[0.48, 0.0, 0.0, 1.0], [0.0; 4]], &[]);
        assert_eq!(standing[1][0], sliding[1][0]);
        assert!((sliding[1][1] - 2.4e5 * 0.02 / 80.0).abs() < 1e-9, "{sliding:?}");
    }

    #[test]
    fn a_wall_pushes_as_a_neighbour_of_no_size() {
        let wall = [[-1.0, -0.35, 1.0, -0.35]];
        let [x, y] = accelerations(&mut EscapePanic::default(), &[[0.0; 4]], &wall)[0];
        assert!(x == 0.0 && (y - 25.0 * (-1.25_f64).exp()).abs() < 1e-9, "{x} {y}");
    }
}
