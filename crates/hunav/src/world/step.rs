//! How a walker moves: the integration step, goals, and walking to them (HuNav specification, sections 5.3 and 7).

use std::f64::consts::PI;

use super::World;
use super::force::{self, Goal};
use super::rules::held;
use crate::{Point, wrap};

/// Below this speed a heading is kept, m/s; robust only.
const STANDS: f64 = 0.01;
/// Accelerations are held at this size, m/s²; robust only.
const STRONGEST: f64 = 1e12;
/// What a tree grants besides a goal's radius, metres.
const GRANTED: f64 = 0.1;
/// Fastest turn of somebody who stands, rad/s; robust only.
pub(crate) const TURN_RATE: f64 = PI;

impl World {
    /// Whether there is a first goal and the walker is within its radius and 0.1 m.
    #[must_use]
    pub fn is_goal_reached(&self, row: usize) -> bool {
        self.first_goal(row).is_some_and(|goal| {
            force::norm(force::sub(goal.center, self.bodies.position(row))) <= goal.radius + GRANTED
        })
    }

    /// Take the first goal away; if goals are cyclic it becomes the last. The walker does not move.
    pub fn next_goal(&mut self, row: usize) {
        let agent = &mut self.agents[row];
        if agent.goals.is_empty() {
            return;
        }
        if agent.cyclic_goals {
            agent.goals.rotate_left(1);
        } else {
            agent.goals.remove(0);
        }
    }

    /// Walk for `dt` seconds with the forces that are known (`RegularNav`).
    pub fn walk(&mut self, row: usize, dt: f64) {
        self.set_reacting(row, false);
        self.step(row, dt, self.bodies.cruise[row]);
        if !self.moves(dt) {
            return;
        }
        let at = self.bodies.position(row);
        if self.first_goal(row).is_some_and(|goal| force::norm(force::sub(goal.center, at)) <= goal.radius) {
            self.next_goal(row);
        }
    }

    /// Walk to a place that is none of the goals; they stay as they are. The robot counts as it does in a reaction if `reacts`.
    pub(crate) fn walk_to(&mut self, row: usize, goal: Goal, cruise: f64, dt: f64) {
        self.sense_reacting(row, Some(goal), cruise);
        self.step(row, dt, cruise);
    }

    /// One step with the forces that are known; no goal is looked at.
    pub(crate) fn step(&mut self, row: usize, dt: f64, cap: f64) {
        if !self.moves(dt) {
            return;
        }
        let (bodies, mut total) = (&mut self.bodies, self.forces[row].total);
        if !self.rules.strict {
            // A body that a client makes a kilometre wide is pushed beyond what numbers hold.
            total = total.map(|part| held(part, STRONGEST, 0.0));
        }
        let mut velocity = force::add(bodies.velocity(row), force::scale(total, dt));
        let speed = force::norm(velocity);
        if speed > cap {
            velocity = force::scale(velocity, cap / speed);
        }
        let position = force::add(bodies.position(row), force::scale(velocity, dt));
        let (speed, before) = (force::norm(velocity), bodies.yaw[row]);
        if self.rules.strict || speed >= STANDS {
            bodies.yaw[row] = velocity[1].atan2(velocity[0]);
        }
        if !self.rules.whole_list {
            bodies.linear[row] = speed;
            bodies.angular[row] = quotient(wrap(bodies.yaw[row] - before), dt);
        }
        self.put(row, position, velocity);
    }

    /// Whether a step of `dt` changes anything.
    pub(crate) fn moves(&self, dt: f64) -> bool {
        self.rules.strict || dt > 0.0
    }

    /// Stand still for `dt` seconds; robust only, since the original keeps the velocity of somebody who stands.
    pub(crate) fn stand(&mut self, row: usize) {
        if !self.rules.strict {
            self.bodies.linear[row] = 0.0;
            self.put(row, self.bodies.position(row), [0.0; 2]);
        }
    }

    /// Turn from `heading` towards `bearing` for `dt` seconds, no faster than somebody can; robust only.
    pub(crate) fn turn(&mut self, row: usize, heading: f64, bearing: f64, dt: f64) {
        let most = TURN_RATE * dt.max(0.0);
        let turn = wrap(bearing - heading).clamp(-most, most);
        self.bodies.yaw[row] = wrap(heading + turn);
        self.bodies.angular[row] = if dt > 0.0 { turn / dt } else { 0.0 };
    }

    fn put(&mut self, row: usize, position: Point, velocity: Point) {
        self.bodies.place(row, position, velocity);
        if self.rules.strict && !self.rules.whole_list {
            // Whoever is moved later sees where this one is now.
            self.seen.put(row, position, velocity);
        }
    }
}

/// `turn / dt`, which strict mode wants even of a `dt` of 0.
fn quotient(turn: f64, dt: f64) -> f64 {
    turn / dt
}
