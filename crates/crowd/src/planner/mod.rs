//! Local planners: from goals, neighbours and walls to velocities (crowd-engine specification, section 20).
//!
//! One file per model behind [`LocalPlanner`]. A planner reads the state at the start of the tick and moves nobody itself; whether a
//! motion is possible for a body is decided afterwards, by the kinematic limits.

mod avm;
mod cfsm;
mod contact_time;
#[cfg(test)]
mod contract;
mod gains;
mod gcf;
mod half_planes;
mod helbing;
mod hsfm;
mod johansson;
mod karamouzas;
mod nearest;
mod orca;
mod pedvo;
pub mod policy;
mod sfm;
mod social_force;
mod straight;
mod zanlungo;

pub use avm::{AnticipationVelocity, AnticipationVelocityLaw};
pub use cfsm::{CollisionFreeSpeed, CollisionFreeSpeedLaw};
pub use gains::{GainIndex, GainTable, Gains, KindGain};
pub use gcf::{CentrifugalForce, CentrifugalForceLaw};
pub use helbing::{EscapePanic, EscapePanicLaw};
pub use hsfm::HeadedSocialForce;
pub use johansson::{EllipticSocialForce, EllipticSocialForceLaw};
pub use karamouzas::{PredictiveAvoidance, PredictiveAvoidanceLaw};
pub use orca::{ReciprocalAvoidance, ReciprocalAvoidanceLaw, Values as AvoidanceValues};
pub use pedvo::{PedestrianVelocityObstacles, PedestrianVelocityObstaclesLaw};
pub use sfm::SocialForce;
pub use social_force::Force;
pub use straight::Straight;
pub use zanlungo::{CollisionPrediction, CollisionPredictionLaw};

use std::marker::PhantomData;

use crate::error::CrowdError;
use crate::grid::Grid;
use crate::improvements::Improvements;
use crate::perception::Neighbours;
use crate::pool::Pool;
use crate::sampling::{AgentParameters, PlannerKey};
use crate::walls::WallIndex;

/// What a planner may look at.
#[derive(Debug, Clone, Copy)]
pub struct Scene<'a> {
    /// All agents, those of other planners too.
    pub pool: &'a Pool,
    /// Whom each of them sees.
    pub neighbours: &'a Neighbours,
    /// Where each of them is, for planners that look around on their own.
    pub grid: &'a Grid,
    /// How much stronger some classes push than others.
    pub gains: &'a GainTable,
    /// Walls within [`WALL_REACH`] of a point.
    pub walls: &'a WallIndex,
    /// What they may do better.
    pub improvements: Improvements,
    /// Length of the tick, seconds.
    pub dt: f64,
}

/// How far planners find walls, metres.
pub const WALL_REACH: f64 = 5.5;

/// What a planner wants of one row.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Motion {
    /// Velocity, m/s.
    pub velocity: [f64; 2],
    /// Heading after the tick, for planners that own it; else ignored.
    pub theta: f64,
    /// The planner's own state of the row after the tick.
    pub state: f64,
}

/// A model of how people choose their velocity.
///
/// A planner has one slot per row of the pool, also for rows it does not move, so that its columns line up with the pool's.
pub trait LocalPlanner: std::fmt::Debug + Send + Sync {
    /// Its name in parameters and agent types.
    fn name(&self) -> &'static str;

    /// Its parameters, in the order they are drawn.
    fn keys(&self) -> &'static [PlannerKey];

    /// Whether it turns the bodies itself.
    fn owns_heading(&self) -> bool {
        false
    }

    /// Whether its velocities are taken as they are, at most at the largest speed, without limits of acceleration and turning.
    fn bypasses_limits(&self) -> bool {
        false
    }

    /// A row was appended to the pool.
    fn push(&mut self, parameters: &AgentParameters);

    /// The parameters of a row changed. What the planner remembers of the row, it keeps.
    fn set(&mut self, row: usize, parameters: &AgentParameters);

    /// A row was removed, and the last one took its place.
    fn swap_remove(&mut self, row: usize);

    /// Plan some rows; `out[k]` is for `rows[k]`. A row's result depends on nothing but the scene and the planner's columns.
    fn plan(&self, scene: &Scene<'_>, rows: &[u32], out: &mut [Motion]);

    /// The parts of the force on a row, for pictures; `None` for a row that goes nowhere and for models without such parts.
    fn force(&self, scene: &Scene<'_>, row: usize) -> Option<Force> {
        let _ = (scene, row);
        None
    }

    /// Keep the state that [`LocalPlanner::plan`] computed.
    fn keep(&mut self, rows: &[u32], out: &[Motion]) {
        let _ = (rows, out);
    }
}

/// Names of all planners there are.
pub const PLANNERS: [&str; 12] = [
    "sfm",
    "hsfm",
    "helbing",
    "johansson",
    "karamouzas",
    "zanlungo",
    "gcf",
    "orca",
    "pedvo",
    "cfsm",
    "avm",
    "straight",
];

/// A planner by name, without rows.
///
/// # Errors
/// A name that is none of [`PLANNERS`].
pub fn named(name: &str) -> Result<Box<dyn LocalPlanner>, CrowdError> {
    match name {
        "sfm" => Ok(Box::new(SocialForce::default())),
        "hsfm" => Ok(Box::new(HeadedSocialForce::default())),
        "helbing" => Ok(Box::new(EscapePanic::default())),
        "johansson" => Ok(Box::new(EllipticSocialForce::default())),
        "karamouzas" => Ok(Box::new(PredictiveAvoidance::default())),
        "zanlungo" => Ok(Box::new(CollisionPrediction::default())),
        "gcf" => Ok(Box::new(CentrifugalForce::default())),
        "orca" => Ok(Box::new(ReciprocalAvoidance::default())),
        "pedvo" => Ok(Box::new(PedestrianVelocityObstacles::default())),
        "cfsm" => Ok(Box::new(CollisionFreeSpeed::default())),
        "avm" => Ok(Box::new(AnticipationVelocity::default())),
        "straight" => Ok(Box::new(Straight)),
        _ => Err(CrowdError::Unknown {
            kind: "local planner",
            name: name.to_owned(),
            known: PLANNERS.to_vec(),
        }),
    }
}

/// Compute the motion of every row in code for the widest vectors of this machine.
///
/// `step` has to be inlined whole for that: `#[inline(always)]` on the closure and on what it calls.
#[inline]
fn each_row(rows: &[u32], out: &mut [Motion], step: impl Fn(usize) -> Motion) {
    struct EachRow<'a, F>(&'a [u32], &'a mut [Motion], F);
    impl<F: Fn(usize) -> Motion> pulp::WithSimd for EachRow<'_, F> {
        type Output = ();

        #[inline(always)]
        fn with_simd<S: pulp::Simd>(self, _: S) {
            for (motion, row) in self.1.iter_mut().zip(self.0) {
                *motion = self.2(*row as usize);
            }
        }
    }
    pulp::Arch::new().dispatch(EachRow(rows, out, step));
}

/// A model that remembers nothing of a row but its parameters.
pub trait Law: std::fmt::Debug + Send + Sync {
    /// The parameters of one agent, as the model uses them.
    type Values: Copy + std::fmt::Debug + Send + Sync;

    /// Its name in parameters and agent types.
    const NAME: &'static str;

    /// Its parameters, in the order they are drawn.
    const KEYS: &'static [PlannerKey];

    /// See [`LocalPlanner::owns_heading`].
    const OWNS_HEADING: bool = false;

    /// See [`LocalPlanner::bypasses_limits`].
    const BYPASSES_LIMITS: bool = false;

    /// What an agent's parameters are to the model.
    fn values(parameters: &AgentParameters) -> Self::Values;

    /// Plan some rows, as [`LocalPlanner::plan`]; `values` are everybody's, by row.
    fn plan(values: &[Self::Values], scene: &Scene<'_>, rows: &[u32], out: &mut [Motion]);
}

/// The planner of a [`Law`].
#[derive(Debug, Clone)]
pub struct Planner<L: Law> {
    values: Vec<L::Values>,
}

impl<L: Law> Default for Planner<L> {
    fn default() -> Self {
        Self { values: Vec::new() }
    }
}

impl<L: Law> LocalPlanner for Planner<L> {
    fn name(&self) -> &'static str {
        L::NAME
    }

    fn keys(&self) -> &'static [PlannerKey] {
        L::KEYS
    }

    fn owns_heading(&self) -> bool {
        L::OWNS_HEADING
    }

    fn bypasses_limits(&self) -> bool {
        L::BYPASSES_LIMITS
    }

    fn push(&mut self, parameters: &AgentParameters) {
        self.values.push(L::values(parameters));
    }

    fn set(&mut self, row: usize, parameters: &AgentParameters) {
        self.values[row] = L::values(parameters);
    }

    fn swap_remove(&mut self, row: usize) {
        self.values.swap_remove(row);
    }

    fn plan(&self, scene: &Scene<'_>, rows: &[u32], out: &mut [Motion]) {
        L::plan(&self.values, scene, rows, out);
    }
}

/// A [`Law`] that is an acceleration toward the goal and away from others, with `N` parameters per agent.
pub trait AccelerationLaw<const N: usize>: std::fmt::Debug + Send + Sync {
    /// Its name in parameters and agent types.
    const NAME: &'static str;

    /// Its parameters, in the order they are drawn.
    const KEYS: &'static [PlannerKey; N];

    /// Acceleration of a row whose goal lies along the unit vector `e`, m/s2; `values` are everybody's parameters, by row.
    /// `#[inline(always)]`, as the vector code wants it.
    fn acceleration(values: &[[f64; N]], scene: &Scene<'_>, row: usize, e: [f64; 2]) -> [f64; 2];
}

/// The planner of an [`AccelerationLaw`].
pub type Accelerating<L, const N: usize> = Planner<Acceleration<L, N>>;

/// The [`Law`] of an [`AccelerationLaw`].
#[derive(Debug, Clone, Copy)]
pub struct Acceleration<L, const N: usize>(PhantomData<L>);

impl<L: AccelerationLaw<N>, const N: usize> Law for Acceleration<L, N> {
    type Values = [f64; N];
    const NAME: &'static str = L::NAME;
    const KEYS: &'static [PlannerKey] = L::KEYS;

    fn values(parameters: &AgentParameters) -> [f64; N] {
        values_of(parameters, L::KEYS)
    }

    fn plan(values: &[[f64; N]], scene: &Scene<'_>, rows: &[u32], out: &mut [Motion]) {
        each_row(
            rows,
            out,
            #[inline(always)]
            |row| match toward_goal(scene.pool, row) {
                Some(e) => accelerated(scene, row, L::acceleration(values, scene, row, e)),
                None => Motion::default(),
            },
        );
    }
}

/// A planner's value of a key: the agent's, or the mean of the key.
fn value_of(parameters: &AgentParameters, key: &PlannerKey) -> f64 {
    parameters.planner_value(key.name).unwrap_or(key.default.mean)
}

/// Values of all keys of a planner, in their order.
fn values_of<const N: usize>(parameters: &AgentParameters, keys: &[PlannerKey; N]) -> [f64; N] {
    keys.each_ref().map(|key| value_of(parameters, key))
}

/// Unit vector to the goal and the distance to it; `None` for a row without goal or on it.
#[inline(always)]
fn toward_goal(pool: &Pool, row: usize) -> Option<[f64; 2]> {
    let to = [pool.goal_x[row] - pool.x[row], pool.goal_y[row] - pool.y[row]];
    let distance = (to[0] * to[0] + to[1] * to[1]).sqrt();
    (pool.has_goal[row] && distance > ON_GOAL).then(|| [to[0] / distance, to[1] / distance])
}

/// Acceleration toward the desired velocity along the unit vector `e`.
#[inline(always)]
fn drive(pool: &Pool, row: usize, e: [f64; 2], relaxation_time: f64) -> [f64; 2] {
    let speed = pool.desired_velocity[row];
    [(speed * e[0] - pool.vx[row]) / relaxation_time, (speed * e[1] - pool.vy[row]) / relaxation_time]
}

/// Of what holds somebody back, how much pushes it to its right as well.
const LEAN: f64 = 0.3;
/// Less than this holds nobody back, m/s2.
const HELD_BACK: f64 = 0.01;

/// What others do to a row that wants to go along the unit vector `e`. With symmetry breaking whoever is held back by somebody who does not
/// go the same way also leans to its right, so that two on one line pass each other; a queue stays straight.
#[inline(always)]
fn leaning(scene: &Scene<'_>, row: usize, e: [f64; 2], social: [f64; 2]) -> [f64; 2] {
    if !scene.improvements.symmetry_breaking {
        return social;
    }
    let back = -(social[0] * e[0] + social[1] * e[1]);
    if back > HELD_BACK && is_opposed(scene, row, e) {
        return [social[0] + LEAN * back * e[1], social[1] - LEAN * back * e[0]];
    }
    social
}

/// Whether the nearest neighbour ahead along `e` stands or goes the other way.
fn is_opposed(scene: &Scene<'_>, row: usize, e: [f64; 2]) -> bool {
    let pool = scene.pool;
    let (mut least, mut opposed) = (f64::INFINITY, false);
    for other in scene.neighbours.of(row) {
        let other = *other as usize;
        let to = [pool.x[other] - pool.x[row], pool.y[other] - pool.y[row]];
        let distance2 = to[0] * to[0] + to[1] * to[1];
        if distance2 < least && to[0] * e[0] + to[1] * e[1] > 0.0 {
            let going = match pool.has_goal[other] {
                true => [pool.goal_x[other] - pool.x[other], pool.goal_y[other] - pool.y[other]],
                false => [pool.vx[other], pool.vy[other]],
            };
            (least, opposed) = (distance2, going[0] * e[0] + going[1] * e[1] <= 0.0);
        }
    }
    opposed
}

/// What a row does under an acceleration for one tick.
#[inline(always)]
fn accelerated(scene: &Scene<'_>, row: usize, acceleration: [f64; 2]) -> Motion {
    let pool = scene.pool;
    let velocity = [pool.vx[row] + acceleration[0] * scene.dt, pool.vy[row] + acceleration[1] * scene.dt];
    Motion { velocity: capped(velocity, pool.max_velocity[row]), ..Motion::default() }
}

/// An agent this near to its goal, metres, has nowhere to go.
const ON_GOAL: f64 = 1e-6;

/// Distances are not taken smaller than this where they divide, metres.
const SMALLEST: f64 = 1e-6;

/// `velocity` scaled down to at most `most`; one beyond all numbers has no direction and becomes 0.
#[inline(always)]
fn capped(velocity: [f64; 2], most: f64) -> [f64; 2] {
    let speed = (velocity[0] * velocity[0] + velocity[1] * velocity[1]).sqrt();
    if speed <= most {
        return velocity;
    }
    if !speed.is_finite() {
        return [0.0; 2];
    }
    [velocity[0] * (most / speed), velocity[1] * (most / speed)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pool::Row;
    use crate::walls::Segment;

    /// Rows `[x, y, vx, vy]` with radius 0.25 m that face along x and want to go on as they go, among walls. Everybody sees everybody,
    /// and no body has limits.
    pub(super) struct Stage {
        /// Of every row.
        pub(super) parameters: AgentParameters,
        pub(super) pool: Pool,
        neighbours: Neighbours,
        grid: Grid,
        gains: GainTable,
        walls: WallIndex,
    }

    impl Stage {
        pub(super) fn new(rows: &[[f64; 4]], walls: &[[f64; 4]]) -> Self {
            let parameters = AgentParameters {
                radius: 0.25,
                max_velocity: 1e9,
                max_acceleration: 1e9,
                ..AgentParameters::unknown_type()
            };
            let mut pool = Pool::default();
            for (id, [x, y, vx, vy]) in rows.iter().enumerate() {
                let row = pool.push(Row::new(id as i32, [*x, *y, 0.0], &parameters));
                let speed = vx.hypot(*vy);
                (pool.vx[row], pool.vy[row], pool.has_goal[row]) = (*vx, *vy, true);
                pool.desired_velocity[row] = speed;
                let e = if speed > 0.0 { [vx / speed, vy / speed] } else { [1.0, 0.0] };
                (pool.goal_x[row], pool.goal_y[row]) = (x + 9.0 * e[0], y + 9.0 * e[1]);
            }
            let walls: Vec<Segment> =
                walls.iter().map(|w| Segment::between([w[0], w[1]], [w[2], w[3]])).collect();
            let mut grid = Grid::default();
            grid.rebuild(&pool.x, &pool.y, 1.0);
            let (walls, neighbours) = (WallIndex::new(&walls, WALL_REACH), Neighbours::everybody(pool.len()));
            Self { parameters, pool, neighbours, grid, gains: GainTable::default(), walls }
        }

        pub(super) fn scene(&self) -> Scene<'_> {
            let Self { pool, neighbours, grid, gains, walls, .. } = self;
            let improvements = Improvements::NONE;
            Scene { pool, neighbours, grid, gains, walls, improvements, dt: 0.01 }
        }

        /// Motions of all rows, which the planner gets here.
        pub(super) fn motions(&self, planner: &mut dyn LocalPlanner) -> Vec<Motion> {
            (0..self.pool.len()).for_each(|_| planner.push(&self.parameters));
            let numbers: Vec<u32> = (0..self.pool.len() as u32).collect();
            let mut out = vec![Motion::default(); self.pool.len()];
            planner.plan(&self.scene(), &numbers, &mut out);
            out
        }

        /// Velocities of all rows.
        pub(super) fn plan(&self, planner: &mut dyn LocalPlanner) -> Vec<[f64; 2]> {
            self.motions(planner).iter().map(|motion| motion.velocity).collect()
        }

        /// Accelerations of all rows.
        pub(super) fn accelerations(&self, planner: &mut dyn LocalPlanner) -> Vec<[f64; 2]> {
            let change = |(row, v): (usize, [f64; 2])| {
                [(v[0] - self.pool.vx[row]) / 0.01, (v[1] - self.pool.vy[row]) / 0.01]
            };
            self.plan(planner).into_iter().enumerate().map(change).collect()
        }
    }

    /// Accelerations of the rows of a [`Stage`].
    pub(super) fn accelerations(
        planner: &mut dyn LocalPlanner,
        rows: &[[f64; 4]],
        walls: &[[f64; 4]],
    ) -> Vec<[f64; 2]> {
        Stage::new(rows, walls).accelerations(planner)
    }

    #[test]
    fn every_planner_goes_by_its_name_and_an_unknown_one_is_refused_with_the_list() {
        for name in PLANNERS {
            assert_eq!(named(name).expect("a planner").name(), name);
        }
        let unknown = named("smf").map(|_| ()).expect_err("unknown").to_string();
        assert_eq!(unknown, format!("no local planner is named \"smf\"; there are {}", PLANNERS.join(", ")));
    }

    #[test]
    fn a_velocity_above_the_cap_keeps_its_direction() {
        assert_eq!(capped([3.0, 4.0], 2.5), [1.5, 2.0]);
        assert_eq!(capped([3.0, 4.0], 6.0), [3.0, 4.0]);
        assert_eq!((capped([f64::INFINITY, 0.0], 2.5), capped([f64::NAN, 0.0], 2.5)), ([0.0; 2], [0.0; 2]));
    }
}
