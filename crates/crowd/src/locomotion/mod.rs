//! How somebody gets along who does not simply walk: the cycle of a gait or of pushing a wheelchair, vehicles that only go where they
//! face, and getting unstuck (crowd-engine specification, section 9).
//!
//! Only agents whose type has a `locomotion:` block have a [`Gait`]; for everybody else nothing here runs. What a cycle does to the
//! velocity is laid over it when the agent moves and taken off before it plans, so that no planner ever sees it.

mod cycle;
mod parameters;
mod recovery;

use std::f64::consts::TAU;

pub use cycle::{Cadence, MOST_HARMONICS, Profile, speed_factor, warped};
pub use parameters::{Drive, LocomotionParameters};
pub use recovery::{Mode, Recovery};

use crate::kinematics::Kinematics;
use crate::planner::Motion;
use crate::pool::Pool;
use promenade_kernel::elementary::wrap;
use recovery::{REVERSE_SPEED, Way};

/// Slower than this a velocity has no direction even for a vehicle, m/s.
const AT_REST: f64 = 1e-9;

/// All gaits there are.
#[derive(Debug, Clone, Default)]
pub struct Locomotion {
    gaits: Vec<Gait>,
}

/// The gait of one row.
#[derive(Debug, Clone)]
pub struct Gait {
    row: u32,
    parameters: LocomotionParameters,
    recovery: Recovery,
    overlay: Option<Overlay>,
}

/// What lies over the velocity of a row.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Overlay {
    factor: f64,
    sideways: [f64; 2],
}

impl Locomotion {
    /// A row with a gait has come into the pool.
    pub(crate) fn push(&mut self, row: usize, parameters: &LocomotionParameters) {
        let parameters = parameters.clone();
        self.gaits.push(Gait { row: row as u32, parameters, recovery: Recovery::default(), overlay: None });
    }

    /// The way a row gets along has changed.
    pub(crate) fn set(&mut self, row: usize, parameters: Option<&LocomotionParameters>) {
        self.gaits.retain(|gait| gait.row as usize != row);
        if let Some(parameters) = parameters {
            self.push(row, parameters);
        }
    }

    /// A row was removed, and `last`, the last one, has taken its place.
    pub(crate) fn swap_remove(&mut self, row: usize, last: usize) {
        self.gaits.retain(|gait| gait.row as usize != row);
        if let Some(moved) = self.gaits.iter_mut().find(|gait| gait.row as usize == last) {
            moved.row = row as u32;
        }
    }

    /// The gait of a row, if it has one.
    #[must_use]
    pub fn of(&self, row: usize) -> Option<&Gait> {
        self.gaits.iter().find(|gait| gait.row as usize == row)
    }

    /// Forget what lies over the velocity of a row, since somebody has given it another one.
    pub fn forget_overlay(&mut self, row: usize) {
        if let Some(gait) = self.gaits.iter_mut().find(|gait| gait.row as usize == row) {
            gait.overlay = None;
        }
    }

    /// Every gait, in no particular order.
    pub(crate) fn gaits_mut(&mut self) -> &mut [Gait] {
        &mut self.gaits
    }

    /// Take what the last tick laid over the velocities off again.
    pub(crate) fn strip(&mut self, pool: &mut Pool) {
        for gait in &mut self.gaits {
            if let Some(Overlay { factor, sideways }) = gait.overlay.take() {
                let row = gait.row as usize;
                pool.vx[row] = (pool.vx[row] - sideways[0]) / factor;
                pool.vy[row] = (pool.vy[row] - sideways[1]) / factor;
            }
        }
    }
}

impl Gait {
    /// Its row.
    #[must_use]
    pub fn row(&self) -> usize {
        self.row as usize
    }

    /// Its numbers.
    #[must_use]
    pub fn parameters(&self) -> &LocomotionParameters {
        &self.parameters
    }

    /// How it gets on.
    #[must_use]
    pub fn recovery(&self) -> &Recovery {
        &self.recovery
    }

    /// Make of the limited motion of the row what this body does: turn and project a vehicle, get unstuck, and lay the cycle over the
    /// velocity. The pool holds the state at the start of the tick; `owns_heading` tells whether the planner has turned the body.
    pub(crate) fn act(
        &mut self,
        pool: &mut Pool,
        limits: &Kinematics,
        owns_heading: bool,
        motion: &mut Motion,
    ) {
        let (row, dt) = (self.row as usize, limits.dt);
        let theta = pool.theta[row];
        let v0 = [pool.vx[row], pool.vy[row]];
        let way = way(pool, row, motion.theta);
        let mode = self.recovery.advance(&self.parameters, way, dt);
        match (mode, self.parameters.drive) {
            (Mode::Normal, Drive::Holonomic) => {}
            (Mode::Normal, Drive::AlongHeading) => {
                let speed = motion.velocity[0].hypot(motion.velocity[1]);
                let turns = speed > limits.min_speed_for_heading || !pool.has_goal_theta[row];
                if !owns_heading && turns && speed > AT_REST {
                    let target = motion.velocity[1].atan2(motion.velocity[0]);
                    motion.theta = limits.turned_body(pool, row, speed, theta, target);
                }
                let (sin, cos) = motion.theta.sin_cos();
                let forward = (motion.velocity[0] * cos + motion.velocity[1] * sin).max(0.0);
                motion.velocity = [forward * cos, forward * sin];
            }
            (Mode::Rotate, _) => {
                motion.velocity = approached(v0, [0.0; 2], pool.max_deceleration[row] * dt);
                let bearing = way.map_or(theta, |w| (w.goal[1] - pool.y[row]).atan2(w.goal[0] - pool.x[row]));
                motion.theta = limits.turned_body(pool, row, 0.0, theta, bearing);
            }
            (Mode::Reverse, _) => {
                let (sin, cos) = theta.sin_cos();
                let back = [-REVERSE_SPEED * cos, -REVERSE_SPEED * sin];
                motion.velocity = approached(v0, back, pool.max_acceleration[row] * dt);
                motion.theta = theta;
            }
        }
        let facing = if owns_heading { motion.theta } else { theta };
        self.go_on(pool, motion.velocity, dt);
        if mode == Mode::Normal {
            self.lay(pool.gait_phase[row], facing, motion);
        }
    }

    /// Advance the cycle at a velocity; the only thing that happens to a row that somebody else moves.
    pub(crate) fn go_on(&self, pool: &mut Pool, velocity: [f64; 2], dt: f64) {
        let cadence = self.parameters.cadence.at(velocity[0].hypot(velocity[1]));
        pool.gait_cadence[self.row as usize] = cadence;
        pool.gait_phase[self.row as usize] += TAU * cadence * dt;
    }

    fn lay(&mut self, phase: f64, facing: f64, motion: &mut Motion) {
        let LocomotionParameters { speed, lateral, amplitude_scale, .. } = &self.parameters;
        let sways = self.parameters.drive == Drive::Holonomic && !lateral.is_empty();
        if speed.is_empty() && !sways {
            return;
        }
        let warped = warped(phase, self.parameters.split);
        let [vx, vy] = motion.velocity;
        let sway = if sways { vx.hypot(vy) * lateral.at(warped) } else { 0.0 };
        let (sin, cos) = facing.sin_cos();
        let factor = if speed.is_empty() { 1.0 } else { speed_factor(speed.at(warped), *amplitude_scale) };
        let sideways = [-sin * sway, cos * sway];
        motion.velocity = [vx * factor + sideways[0], vy * factor + sideways[1]];
        self.overlay = Some(Overlay { factor, sideways });
    }
}

/// The phase with which an agent starts.
#[must_use]
pub fn initial_phase(id: i32) -> f64 {
    f64::from(id.rem_euclid(360)).to_radians()
}

/// The way of a row that has somewhere to go, for a body that faces `theta`.
fn way(pool: &Pool, row: usize, theta: f64) -> Option<Way> {
    let goal = [pool.goal_x[row], pool.goal_y[row]];
    let to = [goal[0] - pool.x[row], goal[1] - pool.y[row]];
    let way = Way { goal, distance: to[0].hypot(to[1]), turn: wrap(to[1].atan2(to[0]) - theta) };
    (pool.has_goal[row] && pool.desired_velocity[row] > 0.0).then_some(way)
}

/// `from` moved toward `to` by at most `most`.
fn approached(from: [f64; 2], to: [f64; 2], most: f64) -> [f64; 2] {
    let change = [to[0] - from[0], to[1] - from[1]];
    let size = change[0].hypot(change[1]);
    if size <= most {
        return to;
    }
    [from[0] + change[0] * most / size, from[1] + change[1] * most / size]
}
