//! Local planners: from goals, neighbours and walls to velocities (crowd-engine specification, section 20).
//!
//! One file per model behind [`LocalPlanner`]. A planner reads the state at the start of the tick and moves nobody itself; whether a
//! motion is possible for a body is decided afterwards, by the kinematic limits.

mod hsfm;
mod sfm;
mod social_force;
mod straight;

pub use hsfm::HeadedSocialForce;
pub use sfm::SocialForce;
pub use social_force::Gains;
pub use straight::Straight;

use crate::error::CrowdError;
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
    /// Walls within [`WALL_REACH`] of a point.
    pub walls: &'a WallIndex,
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

    /// A row was appended to the pool.
    fn push(&mut self, parameters: &AgentParameters);

    /// A row was removed, and the last one took its place.
    fn swap_remove(&mut self, row: usize);

    /// Plan some rows; `out[k]` is for `rows[k]`. A row's result depends on nothing but the scene and the planner's columns.
    fn plan(&self, scene: &Scene<'_>, rows: &[u32], out: &mut [Motion]);

    /// Keep the state that [`LocalPlanner::plan`] computed.
    fn keep(&mut self, rows: &[u32], out: &[Motion]) {
        let _ = (rows, out);
    }
}

/// Names of all planners there are.
pub const PLANNERS: [&str; 3] = ["sfm", "hsfm", "straight"];

/// A planner by name, without rows.
///
/// # Errors
/// A name that is none of [`PLANNERS`].
pub fn named(name: &str) -> Result<Box<dyn LocalPlanner>, CrowdError> {
    match name {
        "sfm" => Ok(Box::new(SocialForce::default())),
        "hsfm" => Ok(Box::new(HeadedSocialForce::default())),
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

/// A planner's value of a key: the agent's, or the mean of the key.
fn value_of(parameters: &AgentParameters, key: &PlannerKey) -> f64 {
    parameters.planner_value(key.name).unwrap_or(key.default.mean)
}

/// Unit vector to the goal and the distance to it; `None` for a row without goal or on it.
#[inline(always)]
fn toward_goal(pool: &Pool, row: usize) -> Option<[f64; 2]> {
    let to = [pool.goal_x[row] - pool.x[row], pool.goal_y[row] - pool.y[row]];
    let distance = (to[0] * to[0] + to[1] * to[1]).sqrt();
    (pool.has_goal[row] && distance > ON_GOAL).then(|| [to[0] / distance, to[1] / distance])
}

/// An agent this near to its goal, metres, has nowhere to go.
const ON_GOAL: f64 = 1e-6;

/// `velocity` scaled down to at most `most`.
#[inline(always)]
fn capped(velocity: [f64; 2], most: f64) -> [f64; 2] {
    let speed = (velocity[0] * velocity[0] + velocity[1] * velocity[1]).sqrt();
    if speed <= most {
        return velocity;
    }
    [velocity[0] * (most / speed), velocity[1] * (most / speed)]
}
