//! What a body can do of what its planner wants: braking, turning, acceleration and speed limits, integration and heading
//! (crowd-engine specification, sections 8.2 to 8.4).
//!
//! Read from the state at the start of the tick; nothing is written but motions. A row's result depends on that row alone.

use std::array;
use std::f64::consts::PI;

use crate::perception::LANES;
use crate::planner::Motion;
use crate::pool::Pool;
use crate::yielding::Yielding;
use promenade_kernel::elementary::{atan2, sin_cos, wrap};

/// Numbers that hold for everybody.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Kinematics {
    /// Length of the tick, s.
    pub dt: f64,
    /// Slower than this a velocity has no direction, m/s.
    pub min_speed_for_heading: f64,
    /// Time constant with which arrived agents brake, s; at least `dt`.
    pub tau_brake: f64,
}

/// The smallest turning circle that divides.
const SMALLEST_TURN: f64 = 1e-9;

/// What of this a planner does itself.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct Freedom {
    /// It turns the bodies.
    pub(crate) owns_heading: bool,
    /// It keeps its own limits of velocity.
    pub(crate) bypasses_limits: bool,
}

impl Kinematics {
    /// Factor on the velocity of an arrived agent, per tick.
    #[must_use]
    pub fn braking(&self) -> f64 {
        (-self.dt / self.tau_brake.max(self.dt)).exp()
    }

    /// Turn the motions that a planner wants of some rows into those that their bodies can do: who has arrived brakes, velocities are limited,
    /// and bodies turn, from the pose and velocity at the start of the tick. Who yields neither brakes nor turns to where it steps. In code for
    /// the widest vectors of this machine.
    pub(crate) fn hold(
        &self,
        pool: &Pool,
        yielding: &Yielding,
        rows: &[u32],
        motions: &mut [Motion],
        freedom: Freedom,
    ) {
        pulp::Arch::new().dispatch(Hold { kinematics: self, pool, yielding, rows, motions, freedom });
    }

    /// The velocity of a body that wants `v` and had `v0`: turned, then accelerated, then capped (section 8.3).
    #[inline(always)]
    fn limited(&self, body: &Body, v: [f64; 2]) -> [f64; 2] {
        let v0 = body.v0;
        let speed0 = norm(v0);
        let around = turned(v0, v, body.turn_rate(speed0) * self.dt);
        let v = if speed0 > self.min_speed_for_heading { around } else { v };
        let slower = v[0] * v0[0] + v[1] * v0[1] < speed0 * speed0;
        let limit = if slower { body.deceleration } else { body.acceleration } * self.dt;
        let change = [v[0] - v0[0], v[1] - v0[1]];
        let size = norm(change);
        let scale = limit / size;
        let gradually = [v0[0] + change[0] * scale, v0[1] + change[1] * scale];
        let v = if size > limit && size > 1e-9 { gradually } else { v };
        let speed = norm(v);
        let scale = if speed > body.max_velocity { body.max_velocity / speed } else { 1.0 };
        [v[0] * scale, v[1] * scale]
    }

    /// Heading after the tick (section 8.4), not wrapped. `theta` is the heading that the planner left; with `follows` the body turns to
    /// where it walks, `velocity`, and in any case to a heading it has to hold.
    #[inline(always)]
    fn heading(&self, body: &Body, velocity: [f64; 2], theta: f64, follows: bool) -> f64 {
        let speed = norm(velocity);
        let along = atan2(velocity[1], velocity[0]);
        let walks = follows & (speed > self.min_speed_for_heading);
        let target = if body.has_goal_theta { body.goal_theta } else { along };
        let turned = turned_to(theta, target, body.turn_rate(speed) * self.dt);
        if body.has_goal_theta | walks { turned } else { theta }
    }

    /// A body at `theta` that turns toward `target` for one tick, at a speed; not wrapped.
    #[must_use]
    #[inline]
    pub fn turned_body(&self, pool: &Pool, row: usize, speed: f64, theta: f64, target: f64) -> f64 {
        let rate = turn_rate(pool.pivot_angular_velocity[row], pool.min_turning_radius[row], speed);
        turned_to(theta, target, rate * self.dt)
    }
}

/// What limits a body, and its velocity at the start of the tick.
struct Body {
    v0: [f64; 2],
    acceleration: f64,
    deceleration: f64,
    max_velocity: f64,
    pivot: f64,
    circle: f64,
    goal_theta: f64,
    has_goal_theta: bool,
}

impl Body {
    #[inline(always)]
    fn turn_rate(&self, speed: f64) -> f64 {
        turn_rate(self.pivot, self.circle, speed)
    }
}

/// [`Kinematics::hold`] in vector code: [`LANES`] rows at a time, whose columns are gathered first.
struct Hold<'a> {
    kinematics: &'a Kinematics,
    pool: &'a Pool,
    yielding: &'a Yielding,
    rows: &'a [u32],
    motions: &'a mut [Motion],
    freedom: Freedom,
}

impl pulp::WithSimd for Hold<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, _: S) {
        let Self { kinematics, pool, yielding, rows, motions, freedom } = self;
        let braking = kinematics.braking();
        for (rows, motions) in rows.chunks(LANES).zip(motions.chunks_mut(LANES)) {
            let row = |lane: usize| rows[lane.min(rows.len() - 1)] as usize;
            let column = |of: &[f64]| -> [f64; LANES] { array::from_fn(|lane| of[row(lane)]) };
            let (v0x, v0y) = (column(&pool.vx), column(&pool.vy));
            let (acceleration, deceleration) =
                (column(&pool.max_acceleration), column(&pool.max_deceleration));
            let max_velocity = column(&pool.max_velocity);
            let (pivot, circle) = (column(&pool.pivot_angular_velocity), column(&pool.min_turning_radius));
            let goal_theta = column(&pool.goal_theta);
            let has_goal_theta: [bool; LANES] = array::from_fn(|lane| pool.has_goal_theta[row(lane)]);
            let mut follows = [false; LANES];
            let (mut vx, mut vy, mut theta) = ([0.0; LANES], [0.0; LANES], column(&pool.theta));
            for (lane, motion) in motions.iter().enumerate() {
                follows[lane] = !freedom.owns_heading && !yielding.is_yielding(row(lane));
                let brakes = pool.latched[row(lane)] && !yielding.is_yielding(row(lane));
                let factor = if brakes { braking } else { 1.0 };
                (vx[lane], vy[lane]) = (motion.velocity[0] * factor, motion.velocity[1] * factor);
                theta[lane] = if freedom.owns_heading { motion.theta } else { theta[lane] };
            }
            for lane in 0..LANES {
                let body = Body {
                    v0: [v0x[lane], v0y[lane]],
                    acceleration: acceleration[lane],
                    deceleration: deceleration[lane],
                    max_velocity: max_velocity[lane],
                    pivot: pivot[lane],
                    circle: circle[lane],
                    goal_theta: goal_theta[lane],
                    has_goal_theta: has_goal_theta[lane],
                };
                let wanted = [vx[lane], vy[lane]];
                let limited = kinematics.limited(&body, wanted);
                let v = if freedom.bypasses_limits { wanted } else { limited };
                theta[lane] = kinematics.heading(&body, v, theta[lane], follows[lane]);
                (vx[lane], vy[lane]) = (v[0], v[1]);
            }
            for (lane, motion) in motions.iter_mut().enumerate() {
                (motion.velocity, motion.theta) = ([vx[lane], vy[lane]], theta[lane]);
            }
        }
    }
}

/// How fast a body turns at a speed, rad/s.
#[inline(always)]
fn turn_rate(pivot: f64, circle: f64, speed: f64) -> f64 {
    pivot.max(speed / circle.max(SMALLEST_TURN))
}

/// `theta` turned toward `target` by at most `step`.
#[inline(always)]
fn turned_to(theta: f64, target: f64, step: f64) -> f64 {
    theta + wrap(target - theta).max(-step).min(step)
}

/// `v` turned toward the direction of `v0` until the two are at most `limit` apart; its length stays.
#[inline(always)]
fn turned(v0: [f64; 2], v: [f64; 2], limit: f64) -> [f64; 2] {
    let (cross, dot) = (v0[0] * v[1] - v0[1] * v[0], v0[0] * v[0] + v0[1] * v[1]);
    // The sine and cosine of the angle between, times both lengths: no need for the angle itself.
    let (speed0, speed) = (norm(v0), norm(v));
    let (sin, cos) = sin_cos(limit.min(PI));
    let sin = if cross < 0.0 { -sin } else { sin };
    let scale = speed / speed0;
    let around = [scale * (v0[0] * cos - v0[1] * sin), scale * (v0[0] * sin + v0[1] * cos)];
    let near = (limit >= PI) | (speed == 0.0) | (dot >= cos * speed0 * speed);
    if near { v } else { around }
}

#[inline(always)]
fn norm(v: [f64; 2]) -> f64 {
    (v[0] * v[0] + v[1] * v[1]).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pool::Row;
    use crate::sampling::AgentParameters;
    use proptest::prelude::*;

    const KINEMATICS: Kinematics = Kinematics { dt: 0.05, min_speed_for_heading: 0.1, tau_brake: 0.15 };

    fn pool(v0: [f64; 2]) -> Pool {
        let mut pool = Pool::default();
        pool.push(Row::new(1, [0.0; 3], &AgentParameters::unknown_type()));
        (pool.vx[0], pool.vy[0]) = (v0[0], v0[1]);
        pool
    }

    /// The motion of the only row, if its planner wants `velocity`.
    fn held(pool: &Pool, velocity: [f64; 2], owns_heading: bool) -> Motion {
        let mut motions = [Motion { velocity, theta: pool.theta[0], ..Motion::default() }];
        let mut yielding = Yielding::default();
        yielding.push();
        KINEMATICS.hold(pool, &yielding, &[0], &mut motions, Freedom { owns_heading, ..Freedom::default() });
        motions[0]
    }

    /// As the specification writes it, by angles.
    fn turned_by_angles(v0: [f64; 2], v: [f64; 2], limit: f64) -> [f64; 2] {
        let from = v0[1].atan2(v0[0]);
        let a = from + wrap(v[1].atan2(v[0]) - from).clamp(-limit, limit);
        [norm(v) * a.cos(), norm(v) * a.sin()]
    }

    #[test]
    fn an_arrived_agent_brakes_by_the_published_factor() {
        assert!((KINEMATICS.braking() - 0.7165).abs() < 5e-5);
    }

    #[test]
    fn from_rest_the_first_tick_gives_what_acceleration_allows() {
        let v = held(&pool([0.0; 2]), [3.0, 4.0], false).velocity;
        assert!((norm(v) - 1.5 * 0.05).abs() < 1e-15 && (v[1] / v[0] - 4.0 / 3.0).abs() < 1e-15);
    }

    #[test]
    fn stopping_is_limited_by_deceleration_along_the_line_of_walking() {
        let v = held(&pool([1.0, 0.0]), [0.0; 2], false).velocity;
        assert_eq!(v, [1.0 - 2.5 * 0.05, 0.0]);
    }

    #[test]
    fn a_heading_to_hold_turns_who_stands_and_walking_turns_who_walks() {
        let mut pool = pool([0.2, 0.0]);
        pool.theta[0] = 1.0;
        assert_eq!(held(&pool, [0.08, 0.0], false).theta, 1.0, "too slow to have a direction");
        assert_eq!(held(&pool, [0.2, 0.0], false).theta, 1.0 - 2.0 * 0.05);
        assert_eq!(held(&pool, [0.2, 0.0], true).theta, 1.0);
        (pool.has_goal_theta[0], pool.goal_theta[0]) = (true, 1.01);
        assert!((held(&pool, [0.0; 2], true).theta - 1.01).abs() < 1e-15);
    }

    proptest! {
        #[test]
        fn turning_without_angles_gives_what_turning_by_angles_gives(
            v0 in (0.2..2.0_f64, -3.1..3.1_f64),
            v in (0.0..2.0_f64, -3.1..3.1_f64),
            limit in 0.0..4.0_f64,
        ) {
            let cartesian = |(r, a): (f64, f64)| [r * a.cos(), r * a.sin()];
            let (v0, v) = (cartesian(v0), cartesian(v));
            let (ours, theirs) = (turned(v0, v, limit), turned_by_angles(v0, v, limit));
            prop_assert!((0..2).all(|axis| (ours[axis] - theirs[axis]).abs() < 1e-14), "{ours:?} {theirs:?}");
        }

        #[test]
        fn the_width_of_the_vectors_changes_nothing(
            v0 in (-1.5..1.5_f64, -1.5..1.5_f64),
            v in (-3.0..3.0_f64, -3.0..3.0_f64),
            theta in -9.0..9.0_f64,
        ) {
            let mut pool = pool([v0.0, v0.1]);
            pool.theta[0] = theta;
            let mut yielding = Yielding::default();
            yielding.push();
            let mut motions = [Motion { velocity: [v.0, v.1], ..Motion::default() }];
            let freedom = Freedom::default();
            pulp::Simd::vectorize(
                pulp::Scalar::new(),
                Hold {
                    kinematics: &KINEMATICS,
                    pool: &pool,
                    yielding: &yielding,
                    rows: &[0],
                    motions: &mut motions,
                    freedom,
                },
            );
            prop_assert_eq!(motions[0], held(&pool, [v.0, v.1], false));
        }

        #[test]
        fn no_limit_is_exceeded(v0 in (-1.0..1.0, -1.0..1.0), v in (-9.0..9.0, -9.0..9.0)) {
            let pool = pool([v0.0, v0.1]);
            let limited = held(&pool, [v.0, v.1], false).velocity;
            prop_assert!(norm(limited) <= pool.max_velocity[0] * (1.0 + 1e-12));
            let change = norm([limited[0] - v0.0, limited[1] - v0.1]);
            prop_assert!(change <= pool.max_deceleration[0] * 0.05 * (1.0 + 1e-9));
        }
    }
}
