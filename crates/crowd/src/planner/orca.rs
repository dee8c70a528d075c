//! `orca`: optimal reciprocal collision avoidance (van den Berg, Guy, Lin & Manocha 2011, ISRR 2009, STAR 70, 3; crowd-engine
//! specification, section 20.8).
//!
//! Of the velocities that nobody's half-plane forbids, the one nearest to the wanted one. Everybody takes half of each evasion. Whom a
//! person avoids does not depend on what it sees.

use std::cell::RefCell;

use super::half_planes::{self, Line};
use super::nearest::Nearest;
use super::{Law, Motion, Planner, Scene, capped, leaning, values_of};
use crate::sampling::{AgentParameters, PlannerKey};
use crate::walls::Segment;

const KEYS: [PlannerKey; 6] = [
    PlannerKey::exactly("time_horizon", 5.0),
    PlannerKey::exactly("max_neighbors", 10.0),
    PlannerKey::exactly("neighbor_dist", 5.0),
    PlannerKey::exactly("time_horizon_obst", 2.0),
    PlannerKey::exactly("wall_clearance", 0.05),
    PlannerKey::exactly("goal_radius", 1e-6),
];

/// Reciprocal collision avoidance.
pub type ReciprocalAvoidance = Planner<ReciprocalAvoidanceLaw>;

/// The law of [`ReciprocalAvoidance`].
#[derive(Debug, Clone, Copy)]
pub struct ReciprocalAvoidanceLaw;

/// What a person avoids collisions with; times in seconds, lengths in metres.
#[derive(Debug, Clone, Copy)]
pub struct Values {
    pub(super) time_horizon: f64,
    pub(super) most_neighbours: usize,
    pub(super) neighbour_reach: f64,
    pub(super) wall_time_horizon: f64,
    pub(super) wall_clearance: f64,
    pub(super) goal_radius: f64,
}

impl Values {
    /// Of the six keys of `orca`, in their order.
    pub(super) fn of(
        [time_horizon, most, reach, wall_time_horizon, wall_clearance, goal_radius]: [f64; 6],
    ) -> Self {
        Self {
            time_horizon: time_horizon.max(SHORTEST_HORIZON),
            most_neighbours: most.clamp(0.0, MOST_NEIGHBOURS) as usize,
            neighbour_reach: reach.max(0.0),
            wall_time_horizon: wall_time_horizon.max(SHORTEST_HORIZON),
            wall_clearance: wall_clearance.max(0.0),
            goal_radius: goal_radius.max(0.0),
        }
    }
}

/// More neighbours are not avoided, whatever `max_neighbors` says.
const MOST_NEIGHBOURS: f64 = 256.0;
/// Horizons divide.
const SHORTEST_HORIZON: f64 = 1e-3;

impl Law for ReciprocalAvoidanceLaw {
    type Values = Values;
    const NAME: &'static str = "orca";
    const KEYS: &'static [PlannerKey] = &KEYS;

    fn values(parameters: &AgentParameters) -> Values {
        Values::of(values_of(parameters, &KEYS))
    }

    fn plan(values: &[Values], scene: &Scene<'_>, rows: &[u32], out: &mut [Motion]) {
        Surroundings::with(|around| {
            for (motion, row) in out.iter_mut().zip(rows) {
                let row = *row as usize;
                let values = &values[row];
                let velocity = match wanted(scene, row, values.goal_radius) {
                    Some(wanted) => {
                        around.look(scene, row, values);
                        around.constrain(scene, row, values);
                        let most = scene.pool.max_velocity[row];
                        capped(around.lines.nearest_allowed(wanted, most), most)
                    }
                    None => [0.0; 2],
                };
                *motion = Motion { velocity, ..Motion::default() };
            }
        });
    }
}

/// The velocity a row wants: at its speed to the goal; `None` without a goal and on it. Half-planes are blind to which side is free of two
/// equal ones, so with symmetry breaking whoever is slowed down by somebody on its line wants to go to the right of it.
pub(super) fn wanted(scene: &Scene<'_>, row: usize, goal_radius: f64) -> Option<[f64; 2]> {
    let pool = scene.pool;
    let to = [pool.goal_x[row] - pool.x[row], pool.goal_y[row] - pool.y[row]];
    let distance = (to[0] * to[0] + to[1] * to[1]).sqrt();
    let speed = pool.desired_velocity[row];
    (pool.has_goal[row] && distance > goal_radius && distance > 0.0).then(|| {
        let wanted = to.map(|axis| speed * axis / distance);
        let e = to.map(|axis| axis / distance);
        let slowed = e.map(|axis| axis * (pool.vx[row] * e[0] + pool.vy[row] * e[1] - speed).min(0.0));
        let leaning = leaning(scene, row, e, slowed);
        [0, 1].map(|axis| wanted[axis] + (leaning[axis] - slowed[axis]))
    })
}

/// Who and what is around one row, and what it forbids. One per thread, used again for every row.
#[derive(Debug, Default)]
pub(super) struct Surroundings {
    pub(super) agents: Nearest<usize>,
    walls: Nearest<Segment>,
    pub(super) lines: half_planes::Programme,
}

thread_local! {
    static SURROUNDINGS: RefCell<Surroundings> = RefCell::default();
}

impl Surroundings {
    /// Work with those of this thread.
    pub(super) fn with(work: impl FnOnce(&mut Self)) {
        SURROUNDINGS.with_borrow_mut(work);
    }

    /// Find who is near a row.
    pub(super) fn look(&mut self, scene: &Scene<'_>, row: usize, values: &Values) {
        self.agents.agents(scene, row, values.neighbour_reach, values.most_neighbours);
    }

    /// Collect what the walls and those who were found forbid.
    pub(super) fn constrain(&mut self, scene: &Scene<'_>, row: usize, values: &Values) {
        let pool = scene.pool;
        let (position, v) = (pool.position(row), [pool.vx[row], pool.vy[row]]);
        self.lines.clear();
        let radius = pool.radius[row] + values.wall_clearance;
        let reach = values.wall_time_horizon * pool.max_velocity[row] + radius;
        self.walls.walls(scene.walls.near(position), position, reach);
        for wall in self.walls.iter() {
            self.lines.add_wall(wall, position, v, radius, 1.0 / values.wall_time_horizon);
        }
        self.lines.end_of_walls();
        for other in self.agents.iter().copied() {
            let p = [pool.x[other] - position[0], pool.y[other] - position[1]];
            let w = [v[0] - pool.vx[other], v[1] - pool.vy[other]];
            let reach = pool.radius[row] + pool.radius[other];
            let line = half_planes::of_agent(p, w, v, reach, values.time_horizon, scene.dt);
            self.lines.add(line);
        }
    }
}

impl half_planes::Programme {
    /// Add the half-plane of a wall, unless those before it cover it. Of its two edges the one counts that has the person on its
    /// right; somebody exactly in its line sees none.
    fn add_wall(&mut self, wall: &Segment, position: [f64; 2], v: [f64; 2], radius: f64, inverse_time: f64) {
        let (start, end) = (wall.start, wall.end());
        let to_start = [start[0] - position[0], start[1] - position[1]];
        let to_end = [end[0] - position[0], end[1] - position[1]];
        let side = half_planes::det(wall.along, to_start);
        let (first, second) = if side > 0.0 { (to_start, to_end) } else { (to_end, to_start) };
        if side != 0.0 && !self.covers(first, second, inverse_time, radius) {
            let line: Option<Line> = half_planes::of_edge(first, second, v, radius, inverse_time);
            line.into_iter().for_each(|line| self.add(line));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::Stage;
    use super::*;
    use serde_json::Value;

    fn numbers(value: &Value) -> Vec<f64> {
        value.as_array().expect("a list").iter().map(|number| number.as_f64().expect("a number")).collect()
    }

    /// One step of a crowded place by the RVO2 library (tools/peers/orca_rvo2.py), with and without walls.
    #[test]
    fn velocities_are_those_of_the_rvo2_library() {
        let file: Value =
            serde_json::from_str(include_str!("../../tests/data/orca_peer.json")).expect("a recording");
        let steps = file["steps"].as_array().expect("steps");
        let (mut walls_met, mut checked) = (0, 0);
        for step in steps {
            let rows: Vec<Vec<f64>> = step["rows"].as_array().expect("rows").iter().map(numbers).collect();
            let walls: Vec<[f64; 4]> = step["walls"]
                .as_array()
                .expect("walls")
                .iter()
                .map(numbers)
                .map(|w| [w[0], w[1], w[2], w[3]])
                .collect();
            let states: Vec<[f64; 4]> = rows.iter().map(|row| [row[0], row[1], row[2], row[3]]).collect();
            let mut stage = Stage::new(&states, &walls);
            stage.parameters.set_planner_value("wall_clearance", 0.0);
            for (row, wanted) in rows.iter().enumerate() {
                stage.pool.max_velocity[row] = 1.5;
                stage.pool.desired_velocity[row] = wanted[4].hypot(wanted[5]);
                stage.pool.goal_x[row] = stage.pool.x[row] + 100.0 * wanted[4];
                stage.pool.goal_y[row] = stage.pool.y[row] + 100.0 * wanted[5];
            }
            let found = stage.plan(&mut ReciprocalAvoidance::default());
            for (found, expected) in found.iter().zip(step["velocities"].as_array().expect("velocities")) {
                let expected = numbers(expected);
                let apart = (found[0] - expected[0]).hypot(found[1] - expected[1]);
                assert!(apart < 2e-3, "{found:?} {expected:?} in {step}");
                checked += 1;
            }
            walls_met += usize::from(!walls.is_empty());
        }
        assert!(checked >= 300 && walls_met >= 20);
    }
}
