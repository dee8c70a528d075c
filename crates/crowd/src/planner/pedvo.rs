//! `pedvo`: pedestrian velocity obstacles (Curtis & Manocha 2014, Pedestrian and Evacuation Dynamics 2012, 875; crowd-engine
//! specification, section 20.9).
//!
//! As `orca`, with a shorter look ahead, and nobody walks faster than a stride has room for among those ahead.

use std::f64::consts::PI;

use super::orca::{Surroundings, Values, wanted};
use super::{Law, Motion, Planner, Scene, capped, values_of};
use crate::sampling::{AgentParameters, PlannerKey};
use promenade_kernel::elementary::exponential;

const KEYS: [PlannerKey; 7] = [
    PlannerKey::exactly("time_horizon", 2.5),
    PlannerKey::exactly("max_neighbors", 10.0),
    PlannerKey::exactly("neighbor_dist", 5.0),
    PlannerKey::exactly("time_horizon_obst", 0.15),
    PlannerKey::exactly("wall_clearance", 0.05),
    PlannerKey::exactly("goal_radius", 1e-6),
    PlannerKey::exactly("turning_bias", 1.0),
];

/// Where the density counts, metres ahead.
const AHEAD: f64 = 1.0;
/// Width of what a neighbour adds, metres, and how much narrower that is to the sides.
const AGENT_WIDTH: f64 = 1.5;
const SIDEWAYS: f64 = 2.5;
/// Width of what a wall adds, metres, and how far away it still does.
const WALL_WIDTH: f64 = 0.75;
const WALL_REACH: f64 = 3.0;
/// Length over density: metres of walking room at one person per square metre.
const ROOM: f64 = 0.48;
/// Below this density there is room enough for any stride.
const EMPTY: f64 = 0.001;
const ENDLESS: f64 = 100.0;
/// Room of a stride at 1 m/s: stride factor 1.57 and stride buffer 0.9.
const STRIDE: f64 = (1.0 + 0.9) / 2.0 / 1.57;
/// Beyond these `turning_bias` is taken as the nearer.
const BIAS: (f64, f64) = (0.1, 10.0);

/// Velocity obstacles with the density-speed relation of people.
pub type PedestrianVelocityObstacles = Planner<PedestrianVelocityObstaclesLaw>;

/// The law of [`PedestrianVelocityObstacles`].
#[derive(Debug, Clone, Copy)]
pub struct PedestrianVelocityObstaclesLaw;

impl Law for PedestrianVelocityObstaclesLaw {
    /// Those of `orca`, and the turning bias.
    type Values = (Values, f64);
    const NAME: &'static str = "pedvo";
    const KEYS: &'static [PlannerKey] = &KEYS;

    fn values(parameters: &AgentParameters) -> (Values, f64) {
        let [time, most, reach, wall_time, clearance, goal_radius, bias] = values_of(parameters, &KEYS);
        let avoidance = Values::of([time, most, reach, wall_time, clearance, goal_radius]);
        (avoidance, bias.max(BIAS.0).min(BIAS.1))
    }

    fn plan(values: &[(Values, f64)], scene: &Scene<'_>, rows: &[u32], out: &mut [Motion]) {
        Surroundings::with(|around| {
            for (motion, row) in out.iter_mut().zip(rows) {
                let row = *row as usize;
                let (values, bias) = &values[row];
                let velocity = match wanted(scene, row, values.goal_radius) {
                    Some(wanted) => step(around, scene, row, values, *bias, wanted),
                    None => [0.0; 2],
                };
                *motion = Motion { velocity, ..Motion::default() };
            }
        });
    }
}

fn step(
    around: &mut Surroundings,
    scene: &Scene<'_>,
    row: usize,
    values: &Values,
    bias: f64,
    wanted: [f64; 2],
) -> [f64; 2] {
    let speed = (wanted[0] * wanted[0] + wanted[1] * wanted[1]).sqrt();
    if speed == 0.0 {
        return [0.0; 2];
    }
    let e = wanted.map(|axis| axis / speed);
    around.look(scene, row, values);
    let speed = speed.min(speed_in(density(around, scene, row, e)));
    around.constrain(scene, row, values);
    let most = scene.pool.max_velocity[row];
    if bias == 1.0 {
        return capped(around.lines.nearest_allowed(e.map(|axis| axis * speed), most), most);
    }
    // Sideways lengths count less by the bias: a turn is then nearer to what is wanted than a slower walk.
    let to_biased = |v: [f64; 2]| [v[0] * e[0] + v[1] * e[1], (e[0] * v[1] - e[1] * v[0]) / bias];
    for line in around.lines.lines_mut() {
        let direction = to_biased(line.direction);
        let length = (direction[0] * direction[0] + direction[1] * direction[1]).sqrt();
        line.point = to_biased(line.point);
        line.direction = direction.map(|axis| axis / length);
    }
    let [along, across] = around.lines.nearest_allowed([speed, 0.0], most);
    let across = across * bias;
    capped([along * e[0] - across * e[1], along * e[1] + across * e[0]], most)
}

/// People and walls per square metre at the point that a row, which wants to go along `e`, is about to reach.
fn density(around: &Surroundings, scene: &Scene<'_>, row: usize, e: [f64; 2]) -> f64 {
    let pool = scene.pool;
    let [x, y] = pool.position(row);
    let point = [x + AHEAD * e[0], y + AHEAD * e[1]];
    let norm = 1.0 / (AGENT_WIDTH * (2.0 * PI).sqrt());
    let gaussian = |distance2: f64, width: f64| norm * exponential(-distance2 / (2.0 * width * width));
    let mut sum = 0.0;
    for other in around.agents.iter().copied() {
        let offset = [pool.x[other] - point[0], pool.y[other] - point[1]];
        let along = offset[0] * e[0] + offset[1] * e[1];
        let across = SIDEWAYS * (e[0] * offset[1] - e[1] * offset[0]);
        sum += gaussian(along * along + across * across, AGENT_WIDTH);
    }
    for wall in scene.walls.near(point) {
        let closest = wall.closest(point);
        let distance2 = (closest[0] - point[0]).powi(2) + (closest[1] - point[1]).powi(2);
        let is_ahead = (closest[0] - x) * e[0] + (closest[1] - y) * e[1] > 0.0;
        if is_ahead && distance2 < WALL_REACH * WALL_REACH {
            sum += gaussian(distance2, WALL_WIDTH);
        }
    }
    sum
}

/// The speed whose stride fits into the room at a density, m/s.
fn speed_in(density: f64) -> f64 {
    let room = if density < EMPTY { ENDLESS } else { ROOM / density };
    (room / STRIDE).powi(2)
}

#[cfg(test)]
mod tests {
    use super::super::tests::Stage;
    use super::*;

    #[test]
    fn the_speed_follows_the_density_with_the_published_values() {
        assert!((speed_in(0.5) - 2.52).abs() < 5e-3, "{}", speed_in(0.5));
        assert!((speed_in(0.8) - 0.98).abs() < 5e-3, "{}", speed_in(0.8));
        assert!(speed_in(0.0) > 1e4);
    }

    #[test]
    fn neighbours_ahead_count_more_than_those_abeam_and_walls_only_ahead() {
        let norm = 1.0 / (1.5 * (2.0 * PI).sqrt());
        let density = |rows: &[[f64; 4]], walls: &[[f64; 4]]| {
            let stage = Stage::new(rows, walls);
            let mut around = Surroundings::default();
            around.agents.agents(&stage.scene(), 0, 5.0, 10);
            super::density(&around, &stage.scene(), 0, [1.0, 0.0])
        };
        let near = |found: f64, expected: f64| assert!((found - expected).abs() < 1e-9, "{found} {expected}");
        near(density(&[[0.0, 0.0, 1.0, 0.0], [1.0, 0.0, 0.0, 0.0]], &[]), norm);
        near(density(&[[0.0, 0.0, 1.0, 0.0], [2.5, 0.0, 0.0, 0.0]], &[]), norm * (-0.5_f64).exp());
        near(density(&[[0.0, 0.0, 1.0, 0.0], [1.0, 0.6, 0.0, 0.0]], &[]), norm * (-0.5_f64).exp());
        near(density(&[[0.0, 0.0, 1.0, 0.0]], &[[1.75, -1.0, 1.75, 1.0]]), norm * (-0.5_f64).exp());
        near(density(&[[0.0, 0.0, 1.0, 0.0]], &[[-0.5, -1.0, -0.5, 1.0]]), 0.0);
    }

    #[test]
    fn a_larger_turning_bias_turns_further_for_the_same_speed() {
        let rows = [[0.0, 0.0, 1.2, 0.0], [3.0, 0.1, 0.0, 0.0]];
        let plan = |bias: f64| {
            let mut stage = Stage::new(&rows, &[]);
            stage.parameters.set_planner_value("turning_bias", bias);
            stage.plan(&mut PedestrianVelocityObstacles::default())[0]
        };
        let (even, turning) = (plan(1.0), plan(3.0));
        let turn = |v: [f64; 2]| v[1].atan2(v[0]).abs();
        assert!(even[1] < 0.0 && turn(turning) > turn(even) && turning[0] > even[0], "{even:?} {turning:?}");
    }
}
