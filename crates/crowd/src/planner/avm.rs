//! `avm`: the anticipation velocity model (Xu, Chraibi & Seyfried 2021, Transp. Res. C 133, 103464).
//!
//! As `cfsm`, but people turn aside for where the others will be, sideways only, and more for those who come the other way. The heading
//! of the body is the model's direction of movement. First order in the speed, so the limits of acceleration do not apply. Walls are
//! standing agents without size at their nearest point, as in the paper.

use super::cfsm::room;
use super::{Law, Motion, Planner, SMALLEST, Scene, capped, contact_time, each_row, toward_goal, values_of};
use crate::sampling::{AgentParameters, PlannerKey};
use promenade_kernel::elementary::exponential;
use promenade_kernel::elementary::wrap;

const KEYS: [PlannerKey; 5] = [
    PlannerKey::exactly("time_gap", 1.06),
    PlannerKey::exactly("strength_neighbor_repulsion", 3.0),
    PlannerKey::exactly("range_neighbor_repulsion", 0.1),
    PlannerKey::exactly("anticipation_time", 1.0),
    PlannerKey::exactly("turning_time", 0.3),
];

/// Speed from the room ahead, direction from where the others will be.
pub type AnticipationVelocity = Planner<AnticipationVelocityLaw>;

/// The law of [`AnticipationVelocity`].
#[derive(Debug, Clone, Copy)]
pub struct AnticipationVelocityLaw;

impl Law for AnticipationVelocityLaw {
    type Values = [f64; 5];
    const NAME: &'static str = "avm";
    const KEYS: &'static [PlannerKey] = &KEYS;
    const OWNS_HEADING: bool = true;
    const BYPASSES_LIMITS: bool = true;

    fn values(parameters: &AgentParameters) -> [f64; 5] {
        values_of(parameters, &KEYS)
    }

    fn plan(values: &[[f64; 5]], scene: &Scene<'_>, rows: &[u32], out: &mut [Motion]) {
        each_row(
            rows,
            out,
            #[inline(always)]
            |row| match toward_goal(scene.pool, row) {
                Some(e) => step(&values[row], scene, row, e),
                None => Motion { theta: wrap(scene.pool.theta[row]), ..Motion::default() },
            },
        );
    }
}

#[inline(always)]
fn step(values: &[f64; 5], scene: &Scene<'_>, row: usize, wanted: [f64; 2]) -> Motion {
    let pool = scene.pool;
    let [time_gap, _, _, _, turning_time] = *values;
    let (sin, cos) = pool.theta[row].sin_cos();
    let best = direction(values, scene, row, wanted, [cos, sin]);
    let turn = (scene.dt / turning_time).min(1.0);
    let e = [cos + turn * (best[0] - cos), sin + turn * (best[1] - sin)];
    // Exactly turned round there is no shorter side; the relaxed direction then is none, and the best one counts.
    let e = unit(e).unwrap_or(best);
    let room = room(scene, row, e).min(room_to_walls(scene, row, e));
    let speed = (room / time_gap).max(0.0).min(pool.desired_velocity[row]);
    let velocity = capped(e.map(|axis| axis * speed), pool.max_velocity[row]);
    Motion { velocity, theta: e[1].atan2(e[0]), ..Motion::default() }
}

/// The direction that keeps clear of where the others will be, for somebody who goes along `e` and wants to go along `wanted`.
#[inline(always)]
fn direction(values: &[f64; 5], scene: &Scene<'_>, row: usize, wanted: [f64; 2], e: [f64; 2]) -> [f64; 2] {
    let (pool, position, radius) = (scene.pool, scene.pool.position(row), scene.pool.radius[row]);
    let v = [pool.vx[row], pool.vy[row]];
    let [_, strength, range, anticipation, _] = *values;
    let mut aside = 0.0;
    let mut avoid = |to: [f64; 2], other_v: [f64; 2], length: f64, alike: f64| {
        let distance = dot(to, to).sqrt();
        if dot(to, e) <= 0.0 && dot(to, wanted) <= 0.0 {
            return;
        }
        let closing = dot([other_v[0] - v[0], other_v[1] - v[1]], to) / distance.max(SMALLEST);
        let then = (distance + anticipation * closing).max(length);
        let push = strength * (1.0 + 0.5 * (1.0 - alike)) * exponential((length - then) / range);
        let place = [to[0] + anticipation * other_v[0], to[1] + anticipation * other_v[1]];
        let left = wanted[0] * place[1] - wanted[1] * place[0];
        // Of two equal sides the paper draws one; here it is always the right.
        aside += if left < 0.0 { push } else { -push };
    };
    for other in scene.neighbours.of(row) {
        let other = *other as usize;
        let to = [pool.x[other] - position[0], pool.y[other] - position[1]];
        let (sin, cos) = pool.theta[other].sin_cos();
        let alike = wanted[0] * cos + wanted[1] * sin;
        avoid(to, [pool.vx[other], pool.vy[other]], radius + pool.radius[other], alike);
    }
    for wall in scene.walls.near(position) {
        let offset = wall.offset(position).1;
        // A wall goes no way, so it is as somebody who goes the same.
        avoid([-offset[0], -offset[1]], [0.0; 2], radius, 1.0);
    }
    unit([wanted[0] - aside * wanted[1], wanted[1] + aside * wanted[0]]).unwrap_or(wanted)
}

#[inline(always)]
fn dot(a: [f64; 2], b: [f64; 2]) -> f64 {
    a[0] * b[0] + a[1] * b[1]
}

#[inline(always)]
fn unit(v: [f64; 2]) -> Option<[f64; 2]> {
    let size = dot(v, v).sqrt();
    (size > SMALLEST && size.is_finite()).then(|| v.map(|axis| axis / size))
}

/// How far a row can walk along the unit vector `e` before it touches a wall, metres: the model has walls as people who stand.
#[inline(always)]
fn room_to_walls(scene: &Scene<'_>, row: usize, e: [f64; 2]) -> f64 {
    let (position, radius) = (scene.pool.position(row), scene.pool.radius[row]);
    let walls = scene.walls.near(position);
    walls.filter_map(|wall| contact_time::of_wall(wall, position, e, radius)).fold(f64::INFINITY, f64::min)
}

#[cfg(test)]
mod tests {
    use super::super::tests::Stage;
    use super::*;

    fn velocity(rows: &[[f64; 4]], walls: &[[f64; 4]]) -> [f64; 2] {
        let mut stage = Stage::new(rows, walls);
        // Turns within the tick.
        stage.parameters.set_planner_value("turning_time", 0.01);
        stage.plan(&mut AnticipationVelocity::default())[0]
    }

    #[test]
    fn who_comes_the_other_way_is_avoided_the_more_the_nearer_it_will_be() {
        // 3.2 m apart, 1.2 m after the second; both face along x in this pool, so alpha is 3. The side is away from the other.
        let [x, y] = velocity(&[[0.0, 0.0, 1.0, 0.0], [3.2, 0.001, -1.0, 0.0]], &[]);
        let expected = 3.0 * ((0.5 - 1.2_f64) / 0.1).exp();
        assert!((y / x + expected).abs() < 1e-5, "{x} {y} {expected}");
        assert!((x.hypot(y) - 1.0).abs() < 1e-9);
    }

    #[test]
    fn those_who_face_the_other_way_count_twice() {
        let mut stage = Stage::new(&[[0.0, 0.0, 1.0, 0.0], [0.9, 0.3, 0.0, 0.0]], &[]);
        stage.parameters.set_planner_value("turning_time", 0.01);
        let mut tangent = |theta: f64| {
            stage.pool.theta[1] = theta;
            let [x, y] = stage.plan(&mut AnticipationVelocity::default())[0];
            y / x
        };
        let (same, opposed) = (tangent(0.0), tangent(std::f64::consts::PI));
        assert!(same < 0.0 && (opposed / same - 2.0).abs() < 1e-9, "{same} {opposed}");
    }

    #[test]
    fn exactly_head_on_both_keep_right() {
        let [_, y] = velocity(&[[0.0, 0.0, 1.0, 0.0], [2.0, 0.0, -1.0, 0.0]], &[]);
        assert!(y < 0.0, "{y}");
    }

    #[test]
    fn the_direction_turns_with_its_time_constant_and_nobody_behind_matters() {
        let mut stage = Stage::new(&[[0.0, 0.0, 1.0, 0.0], [-0.4, -0.4, 1.0, 0.0]], &[]);
        stage.pool.theta[0] = 0.5;
        let [x, y] = stage.plan(&mut AnticipationVelocity::default())[0];
        let turn = 0.01 / 0.3;
        let expected = [0.5_f64.cos() * (1.0 - turn) + turn, 0.5_f64.sin() * (1.0 - turn)];
        assert!((y / x - expected[1] / expected[0]).abs() < 1e-9, "{x} {y}");
    }

    #[test]
    fn the_speed_is_the_room_ahead_over_the_time_gap() {
        let [x, y] = velocity(&[[0.0, 0.0, 1.5, 0.0]], &[[1.05, -9.0, 1.05, 1.0]]);
        assert!(x > 0.0 && y < 0.0, "along a wall is still a way: {x} {y}");
        let mut stage = Stage::new(&[[0.0, 0.0, 1.5, 0.0], [1.3, 0.0, 0.0, 0.0]], &[]);
        stage.parameters.set_planner_value("strength_neighbor_repulsion", 0.0);
        let [x, _] = stage.plan(&mut AnticipationVelocity::default())[0];
        assert!((x - 0.8 / 1.06).abs() < 1e-9, "{x}");
    }
}
