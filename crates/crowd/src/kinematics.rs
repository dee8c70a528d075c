//! What a body can do of what its planner wants: braking, turning, acceleration and speed limits, integration and heading
//! (crowd-engine specification, sections 8.2 to 8.4).
//!
//! Each function is about one row and reads the state at the start of the tick; nothing is written here.

use crate::angle::wrap;
use crate::pool::Pool;

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

impl Kinematics {
    /// Factor on the velocity of an arrived agent, per tick.
    #[must_use]
    pub fn braking(&self) -> f64 {
        (-self.dt / self.tau_brake.max(self.dt)).exp()
    }

    /// The velocity of a row that wants `v`: turned, then accelerated, then capped (section 8.3). The pool holds the velocity at the
    /// start of the tick.
    #[must_use]
    #[inline]
    pub fn limited(&self, pool: &Pool, row: usize, v: [f64; 2]) -> [f64; 2] {
        let v0 = [pool.vx[row], pool.vy[row]];
        let speed0 = norm(v0);
        let mut v = v;
        if speed0 > self.min_speed_for_heading {
            v = turned(v0, v, turn_rate(pool, row, speed0) * self.dt);
        }
        let slower = v[0] * v0[0] + v[1] * v0[1] < speed0 * speed0;
        let limit = if slower { pool.max_deceleration[row] } else { pool.max_acceleration[row] } * self.dt;
        let change = [v[0] - v0[0], v[1] - v0[1]];
        let size = norm(change);
        if size > limit && size > 1e-9 {
            let scale = limit / size;
            v = [v0[0] + change[0] * scale, v0[1] + change[1] * scale];
        }
        let (speed, most) = (norm(v), pool.max_velocity[row]);
        if speed > most {
            v = [v[0] * (most / speed), v[1] * (most / speed)];
        }
        v
    }

    /// Heading after the tick (section 8.4), not wrapped. `theta` is the heading that the planner left; with `follows` the body turns to
    /// where it walks, `velocity`, and in any case to a heading it has to hold.
    #[must_use]
    #[inline]
    pub fn heading(&self, pool: &Pool, row: usize, velocity: [f64; 2], theta: f64, follows: bool) -> f64 {
        let speed = norm(velocity);
        let target = if pool.has_goal_theta[row] {
            pool.goal_theta[row]
        } else if follows && speed > self.min_speed_for_heading {
            velocity[1].atan2(velocity[0])
        } else {
            return theta;
        };
        self.turned_body(pool, row, speed, theta, target)
    }

    /// A body at `theta` that turns toward `target` for one tick, at a speed; not wrapped.
    #[must_use]
    #[inline]
    pub fn turned_body(&self, pool: &Pool, row: usize, speed: f64, theta: f64, target: f64) -> f64 {
        let step = turn_rate(pool, row, speed) * self.dt;
        theta + wrap(target - theta).max(-step).min(step)
    }
}

/// How fast a body turns at a speed, rad/s.
#[inline]
fn turn_rate(pool: &Pool, row: usize, speed: f64) -> f64 {
    pool.pivot_angular_velocity[row].max(speed / pool.min_turning_radius[row].max(SMALLEST_TURN))
}

/// `v` turned toward the direction of `v0` until the two are at most `limit` apart; its length stays.
#[inline]
fn turned(v0: [f64; 2], v: [f64; 2], limit: f64) -> [f64; 2] {
    let (cross, dot) = (v0[0] * v[1] - v0[1] * v[0], v0[0] * v[0] + v0[1] * v[1]);
    // The sine and cosine of the angle between, times both lengths: no need for the angle itself.
    let speed0 = norm(v0);
    let speed = norm(v);
    if limit >= std::f64::consts::PI || speed == 0.0 {
        return v;
    }
    let (sin, cos) = limit.sin_cos();
    if dot >= cos * speed0 * speed {
        return v;
    }
    let sin = if cross < 0.0 { -sin } else { sin };
    let scale = speed / speed0;
    [scale * (v0[0] * cos - v0[1] * sin), scale * (v0[0] * sin + v0[1] * cos)]
}

#[inline]
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
        let v = KINEMATICS.limited(&pool([0.0; 2]), 0, [3.0, 4.0]);
        assert!((norm(v) - 1.5 * 0.05).abs() < 1e-15 && (v[1] / v[0] - 4.0 / 3.0).abs() < 1e-15);
    }

    #[test]
    fn stopping_is_limited_by_deceleration_along_the_line_of_walking() {
        let v = KINEMATICS.limited(&pool([1.0, 0.0]), 0, [0.0; 2]);
        assert_eq!(v, [1.0 - 2.5 * 0.05, 0.0]);
    }

    #[test]
    fn a_heading_to_hold_turns_who_stands_and_walking_turns_who_walks() {
        let mut pool = pool([0.0; 2]);
        assert_eq!(KINEMATICS.heading(&pool, 0, [0.05, 0.0], 1.0, true), 1.0, "too slow to have a direction");
        assert_eq!(KINEMATICS.heading(&pool, 0, [0.2, 0.0], 1.0, true), 1.0 - 2.0 * 0.05);
        assert_eq!(KINEMATICS.heading(&pool, 0, [0.2, 0.0], 1.0, false), 1.0);
        (pool.has_goal_theta[0], pool.goal_theta[0]) = (true, 1.01);
        assert!((KINEMATICS.heading(&pool, 0, [0.0; 2], 1.0, false) - 1.01).abs() < 1e-15);
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
        fn no_limit_is_exceeded(v0 in (-1.0..1.0, -1.0..1.0), v in (-9.0..9.0, -9.0..9.0)) {
            let pool = pool([v0.0, v0.1]);
            let limited = KINEMATICS.limited(&pool, 0, [v.0, v.1]);
            prop_assert!(norm(limited) <= pool.max_velocity[0] * (1.0 + 1e-12));
            let change = norm([limited[0] - v0.0, limited[1] - v0.1]);
            prop_assert!(change <= pool.max_deceleration[0] * 0.05 * (1.0 + 1e-9));
        }
    }
}
