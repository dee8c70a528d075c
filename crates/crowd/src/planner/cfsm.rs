//! `cfsm`: the collision-free speed model (Tordeux, Chraibi & Seyfried 2016, Traffic and Granular Flow '15, 225; crowd-engine
//! specification, section 31.1).
//!
//! A first-order model: the direction from repulsions, the speed from the room in that direction. Nobody has inertia, which is what
//! keeps bodies apart, so the limits of acceleration and turning do not apply. Without symmetry breaking two people who meet exactly head
//! on stop for good.

use super::{Law, Motion, Planner, SMALLEST, Scene, capped, each_row, leaning, toward_goal, values_of};
use crate::sampling::{AgentParameters, PlannerKey};
use promenade_kernel::elementary::exponential;

const KEYS: [PlannerKey; 5] = [
    PlannerKey::exactly("time_gap", 1.0),
    PlannerKey::exactly("strength_neighbor_repulsion", 5.0),
    PlannerKey::exactly("range_neighbor_repulsion", 0.1),
    PlannerKey::exactly("strength_geometry_repulsion", 5.0),
    PlannerKey::exactly("range_geometry_repulsion", 0.02),
];

/// The speed that the room ahead allows.
pub type CollisionFreeSpeed = Planner<CollisionFreeSpeedLaw>;

/// The law of [`CollisionFreeSpeed`].
#[derive(Debug, Clone, Copy)]
pub struct CollisionFreeSpeedLaw;

impl Law for CollisionFreeSpeedLaw {
    type Values = [f64; 5];
    const NAME: &'static str = "cfsm";
    const KEYS: &'static [PlannerKey] = &KEYS;
    const BYPASSES_LIMITS: bool = true;

    fn values(parameters: &AgentParameters) -> [f64; 5] {
        values_of(parameters, &KEYS)
    }

    fn plan(values: &[[f64; 5]], scene: &Scene<'_>, rows: &[u32], out: &mut [Motion]) {
        each_row(
            rows,
            out,
            #[inline(always)]
            |row| {
                let velocity = match toward_goal(scene.pool, row) {
                    Some(e) => velocity(&values[row], scene, row, e),
                    None => [0.0; 2],
                };
                Motion { velocity, ..Motion::default() }
            },
        );
    }
}

#[inline(always)]
fn velocity(values: &[f64; 5], scene: &Scene<'_>, row: usize, e: [f64; 2]) -> [f64; 2] {
    let (pool, position, radius) = (scene.pool, scene.pool.position(row), scene.pool.radius[row]);
    let [time_gap, strength, range, wall_strength, wall_range] = *values;
    let (mut social, mut walls) = ([0.0; 2], [0.0; 2]);
    let repel = |sum: &mut [f64; 2], apart: [f64; 2], distance: f64, push: f64| {
        let push = push / distance.max(SMALLEST);
        *sum = [sum[0] + push * apart[0], sum[1] + push * apart[1]];
    };
    for other in scene.neighbours.of(row) {
        let other = *other as usize;
        let apart = [position[0] - pool.x[other], position[1] - pool.y[other]];
        let distance = (apart[0] * apart[0] + apart[1] * apart[1]).sqrt();
        let length = radius + pool.radius[other];
        repel(&mut social, apart, distance, strength * exponential((length - distance) / range));
    }
    for wall in scene.walls.near(position) {
        let (distance, apart) = wall.offset(position);
        repel(&mut walls, apart, distance, wall_strength * exponential((radius - distance) / wall_range));
    }
    let social = leaning(scene, row, e, social);
    let sum = [0, 1].map(|axis| e[axis] + social[axis] + walls[axis]);
    let size = (sum[0] * sum[0] + sum[1] * sum[1]).sqrt();
    let e = if size > SMALLEST && size.is_finite() { sum.map(|axis| axis / size) } else { e };
    let speed = (room(scene, row, e) / time_gap).max(0.0).min(pool.desired_velocity[row]);
    capped(e.map(|axis| axis * speed), pool.max_velocity[row])
}

/// How far a row can walk along the unit vector `e` before it touches somebody, metres; negative within somebody.
///
/// A neighbour counts by its distance, not by where the body would meet it on its way, and walls do not slow, as the model has it: they turn
/// the walk, and contacts keep bodies out of them.
#[inline(always)]
pub(super) fn room(scene: &Scene<'_>, row: usize, e: [f64; 2]) -> f64 {
    let (pool, position, radius) = (scene.pool, scene.pool.position(row), scene.pool.radius[row]);
    let mut room = f64::INFINITY;
    for other in scene.neighbours.of(row) {
        let other = *other as usize;
        let to = [pool.x[other] - position[0], pool.y[other] - position[1]];
        let length = radius + pool.radius[other];
        let ahead = to[0] * e[0] + to[1] * e[1] >= 0.0;
        let in_the_way = (to[1] * e[0] - to[0] * e[1]).abs() <= length;
        if ahead && in_the_way {
            room = room.min((to[0] * to[0] + to[1] * to[1]).sqrt() - length);
        }
    }
    room
}

#[cfg(test)]
mod tests {
    use super::super::tests::Stage;
    use super::*;

    fn planned(rows: &[[f64; 4]], walls: &[[f64; 4]]) -> [f64; 2] {
        Stage::new(rows, walls).plan(&mut CollisionFreeSpeed::default())[0]
    }

    #[test]
    fn the_speed_is_the_room_ahead_over_the_time_gap() {
        // Centres 1.3 m apart, bodies of 0.25 m: 0.8 m of room.
        let [x, y] = planned(&[[0.0, 0.0, 1.5, 0.0], [1.3, 0.0, 0.0, 0.0]], &[]);
        assert!((x - 0.8).abs() < 1e-9 && y == 0.0, "{x} {y}");
        let [x, y] = planned(&[[0.0, 0.0, 1.5, 0.0], [4.0, 0.0, 0.0, 0.0]], &[]);
        assert!((x - 1.5).abs() < 1e-12 && y == 0.0, "{x} {y}");
    }

    #[test]
    fn who_touches_somebody_ahead_goes_no_further() {
        // At the touch the repulsion of 5 turns the walk round, and nobody is behind.
        let [x, y] = planned(&[[0.0, 0.0, 1.0, 0.0], [0.5, 0.0, 0.0, 0.0]], &[]);
        assert!((x + 1.0).abs() < 1e-9 && y == 0.0, "{x} {y}");
        // With somebody behind as well the repulsions cancel.
        let rows = [[0.0, 0.0, 1.0, 0.0], [0.5, 0.0, 0.0, 0.0], [-0.5, 0.0, 0.0, 0.0]];
        assert_eq!(planned(&rows, &[]), [0.0; 2]);
    }

    #[test]
    fn somebody_abeam_turns_the_walk_by_the_published_repulsion() {
        // 0.1 m between the bodies: 5 / e across to 1 along.
        let [x, y] = planned(&[[0.0, 0.0, 1.0, 0.0], [0.0, 0.6, 0.0, 0.0]], &[]);
        assert!((y / x + 5.0 * (-1.0_f64).exp()).abs() < 1e-6, "{x} {y}");
        assert!((x.hypot(y) - 1.0).abs() < 1e-9);
    }

    #[test]
    fn a_wall_turns_the_walk_and_does_not_slow_it() {
        let [x, y] = planned(&[[0.0, 0.0, 1.0, 0.0]], &[[-5.0, 0.25, 5.0, 0.25]]);
        assert!(x > 0.0 && y < 0.0 && (x.hypot(y) - 1.0).abs() < 1e-9, "{x} {y}");
    }
}
