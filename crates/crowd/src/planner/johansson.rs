//! `johansson`: elliptic social force calibrated on video (Johansson, Helbing & Shukla 2007, Adv. Complex Syst. 10, 271; crowd-engine
//! specification, section 20.4).
//!
//! Repulsion from the ellipse that a neighbour's next stride spans. Bodies have no size in it.

use super::{Accelerating, AccelerationLaw, SMALLEST, Scene, drive, leaning};
use crate::sampling::PlannerKey;
use promenade_kernel::elementary::exponential;

const KEYS: [PlannerKey; 6] = [
    PlannerKey::exactly("relaxation_time", 0.5),
    PlannerKey::exactly("agent_scale", 0.11),
    PlannerKey::exactly("obstacle_scale", 0.11),
    PlannerKey::exactly("force_distance", 1.19),
    PlannerKey::exactly("stride_time", 0.5),
    PlannerKey::exactly("fov_weight", 0.16),
];

/// Walls further away are not felt, metres.
const WALL_CUT: f64 = 5.0;

/// Repulsion from a stride.
pub type EllipticSocialForce = Accelerating<EllipticSocialForceLaw, 6>;

/// The law of [`EllipticSocialForce`].
#[derive(Debug, Clone, Copy)]
pub struct EllipticSocialForceLaw;

impl AccelerationLaw<6> for EllipticSocialForceLaw {
    const NAME: &'static str = "johansson";
    const KEYS: &'static [PlannerKey; 6] = &KEYS;

    #[inline(always)]
    fn acceleration(values: &[[f64; 6]], scene: &Scene<'_>, row: usize, e: [f64; 2]) -> [f64; 2] {
        let pool = scene.pool;
        let [relaxation_time, agent_scale, obstacle_scale, force_distance, stride, fov_weight] = values[row];
        let position = pool.position(row);
        let (sin, cos) = pool.theta[row].sin_cos();
        // Of something in the direction opposite to `n`: whole ahead, `fov_weight` of it behind.
        let weight = |n: [f64; 2]| fov_weight + (1.0 - fov_weight) * (1.0 - (n[0] * cos + n[1] * sin)) / 2.0;
        let (mut social, mut walls) = ([0.0; 2], [0.0; 2]);
        for other in scene.neighbours.of(row) {
            let other = *other as usize;
            let apart = [position[0] - pool.x[other], position[1] - pool.y[other]];
            let step = [pool.vx[other] * stride, pool.vy[other] * stride];
            let next = [apart[0] - step[0], apart[1] - step[1]];
            let (now, then) = (norm(apart), norm(next));
            let both = now + then;
            let b = (both * both - (step[0] * step[0] + step[1] * step[1])).max(0.0).sqrt() / 2.0;
            if now < SMALLEST || then < SMALLEST || b < SMALLEST {
                continue;
            }
            let n = [apart[0] / now, apart[1] / now];
            let push = agent_scale * weight(n) * both / (2.0 * b) * exponential(-b / force_distance);
            social[0] += push * (n[0] + next[0] / then) / 2.0;
            social[1] += push * (n[1] + next[1] / then) / 2.0;
        }
        for wall in scene.walls.near(position) {
            let (distance, offset) = wall.offset(position);
            if distance < WALL_CUT {
                let floored = distance.max(SMALLEST);
                let n = [offset[0] / floored, offset[1] / floored];
                let push = obstacle_scale * weight(n) * exponential(-distance / force_distance);
                walls = [walls[0] + push * n[0], walls[1] + push * n[1]];
            }
        }
        let drive = drive(pool, row, e, relaxation_time);
        let social = leaning(scene, row, e, social);
        [0, 1].map(|axis| drive[axis] + social[axis] + walls[axis])
    }
}

#[inline(always)]
fn norm(v: [f64; 2]) -> f64 {
    (v[0] * v[0] + v[1] * v[1]).sqrt()
}

#[cfg(test)]
mod tests {
    use super::super::tests::accelerations;
    use super::*;

    fn on_the_origin(other: [f64; 4]) -> [f64; 2] {
        accelerations(&mut EllipticSocialForce::default(), &[other, [0.0; 4]], &[])[1]
    }

    #[test]
    fn who_stands_repels_from_a_circle_and_less_from_behind() {
        // Without a stride both foci meet: b is the distance, and (|x| + |o|) / 2b is 1.
        let ahead = 0.11 * (-1.0_f64 / 1.19).exp();
        let [x, y] = on_the_origin([1.0, 0.0, 0.0, 0.0]);
        assert!((x + ahead).abs() < 1e-12 && y == 0.0, "{x} {y}");
        let [x, _] = on_the_origin([-1.0, 0.0, 0.0, 0.0]);
        assert!((x - 0.16 * ahead).abs() < 1e-12, "{x}");
        let [_, y] = on_the_origin([0.0, 1.0, 0.0, 0.0]);
        assert!((y + 0.58 * ahead).abs() < 1e-12, "{y}");
    }

    #[test]
    fn who_walks_toward_somebody_repels_from_the_ellipse_of_the_stride() {
        // Foci 2.0 and 1.5 m ahead: 2a = 3.5, s = 0.5, so b = sqrt(3.5^2 - 0.5^2) / 2 = sqrt(3).
        let b = 3.0_f64.sqrt();
        let expected = 0.11 * 3.5 / (2.0 * b) * (-b / 1.19).exp();
        let [x, y] = on_the_origin([2.0, 0.0, -1.0, 0.0]);
        assert!((x + expected).abs() < 1e-12 && y == 0.0, "{x} {y} {expected}");
    }

    #[test]
    fn a_wall_ahead_pushes_back() {
        let wall = [[2.0, -1.0, 2.0, 1.0]];
        let [x, _] = accelerations(&mut EllipticSocialForce::default(), &[[0.0; 4]], &wall)[0];
        assert!((x + 0.11 * (-2.0_f64 / 1.19).exp()).abs() < 1e-12, "{x}");
    }
}
