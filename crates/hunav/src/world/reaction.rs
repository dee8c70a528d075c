//! Reactions to the robot (HuNav specification, section 6), the bodies of the leaves of behaviour trees.
//!
//! Strict mode holds positions, headings, bearings and distances in single precision, as the original does; robust mode does not.

use std::f64::consts::{FRAC_PI_2, PI};

use super::World;
use super::force::{self, Goal, OBSTACLE_RANGE};
use super::sense::robot_role;
use crate::{Point, wrap};

/// Half the field of view beyond a quarter turn, radians.
const BEYOND_QUARTER: f64 = 0.17;
/// Turn of a surprised walker per tick in the original, radians.
const SURPRISED_STEP: f64 = 0.01 * PI;
/// Nearest gap to the robot that a scared walker reckons with, metres; robust only.
const NEAREST_GAP: f64 = 0.02;
/// Arrival distance and cruise speed of a threatening walker.
const FRONT: (f64, f64) = (0.05, 2.0);
/// Distance at which a threatening walker turns to the robot, metres, by manager: first, later.
const FACES: [f64; 2] = [1.2, 0.6];
/// Distance at which a curious walker walks with its full speed, metres.
const CURIOUS_FULL: f64 = 10.0;

impl World {
    /// A number as reactions hold it.
    fn held(&self, value: f64) -> f64 {
        self.rules.carried(value)
    }

    /// The way from a walker to the robot and its length.
    fn to_robot(&self, row: usize) -> (Point, f64) {
        let [from, to] =
            [self.bodies.position(row), self.robot.position].map(|at| at.map(|part| self.held(part)));
        let way = force::sub(to, from).map(|part| self.held(part));
        (way, self.held(force::norm(way)))
    }

    /// Direction of the robot as a walker sees it.
    fn robot_bearing(&self, row: usize) -> f64 {
        let (way, _) = self.to_robot(row);
        self.held(way[1].atan2(way[0]))
    }

    /// Whether the robot is within `distance` metres and not behind the walker (`IsRobotVisible`). Walls do not hide it.
    #[must_use]
    pub fn sees_robot(&self, row: usize, distance: f64) -> bool {
        let (way, _) = self.to_robot(row);
        let square = self.held(force::dot(way, way));
        square <= distance * distance
            && wrap(self.robot_bearing(row) - self.bodies.yaw[row]).abs() <= FRAC_PI_2 + BEYOND_QUARTER
    }

    /// Stand and turn to the robot (`SurprisedNav`).
    pub fn surprised(&mut self, row: usize) {
        self.set_reacting(row, true);
        let bearing = self.robot_bearing(row);
        if !self.rules.strict {
            self.stand(row);
            let dt = self.dt;
            return self.turn(row, self.bodies.yaw[row], bearing, dt);
        }
        let yaw = self.held(self.bodies.yaw[row]);
        let off = self.held(wrap(bearing - yaw));
        let step = if off < 0.0 { -SURPRISED_STEP } else { SURPRISED_STEP };
        // The step has a sign where the offset has none: whoever turns to the right overshoots before it settles.
        let turn = if off.abs() > step { step } else { off };
        self.bodies.yaw[row] = wrap(yaw + turn);
    }

    /// Walk at `vel` m/s and keep away from the robot with `factor` (`ScaredNav`).
    pub fn scared(&mut self, row: usize, dt: f64, vel: f64, factor: f64) {
        self.set_reacting(row, true);
        let cruise = self.held(vel);
        self.sense_reacting(row, self.first_goal(row), cruise);
        let (way, distance) = self.to_robot(row);
        let mut gap = distance - self.bodies.radius[row];
        if !self.rules.strict {
            // Within the radius the original's push turns into a pull.
            gap = gap.max(NEAREST_GAP);
        }
        if distance > 0.0 {
            let push = force::scale(way, -self.held(factor) * OBSTACLE_RANGE / gap / distance);
            self.forces[row].total = force::add(self.forces[row].total, push);
        }
        self.step(row, dt, cruise);
        let at = self.bodies.position(row);
        let reached = |goal: Goal| force::norm(force::sub(goal.center, at)) <= goal.radius;
        if self.moves(dt) && self.first_goal(row).is_some_and(reached) {
            self.next_goal(row);
        }
    }

    /// Walk up to the robot, slower the nearer it is, and look at it from `stop_distance` metres (`CuriousNav`).
    pub fn curious(&mut self, row: usize, dt: f64, stop_distance: f64, vel: f64) {
        self.set_reacting(row, true);
        let (_, distance) = self.to_robot(row);
        if distance <= stop_distance {
            let bearing = self.robot_bearing(row);
            if self.rules.strict {
                self.bodies.yaw[row] = bearing;
            } else {
                self.stand(row);
                self.turn(row, self.bodies.yaw[row], bearing, dt);
            }
            return;
        }
        let center = self.robot.position.map(|part| self.held(part));
        let cruise = self.held(vel * distance / CURIOUS_FULL);
        self.walk_to(row, Goal { center, radius: self.robot.radius }, cruise, dt);
    }

    /// Walk `front_distance` metres ahead of the robot and look at it (`ThreateningNav`).
    pub fn threatening(&mut self, row: usize, dt: f64, front_distance: f64) {
        self.set_reacting(row, true);
        let (sin, cos) = self.robot.yaw.sin_cos();
        // The original takes the one for the other, so that "ahead" is ahead of a robot with a heading of 45 degrees only.
        let ahead = if self.rules.strict { [sin, cos] } else { [cos, sin] };
        let ahead = force::scale(ahead.map(|part| self.held(part)), front_distance);
        let robot = self.robot.position.map(|part| self.held(part));
        let center = force::add(robot, ahead).map(|part| self.held(part));
        let ((radius, cruise), before) = (FRONT, self.bodies.yaw[row]);
        self.walk_to(row, Goal { center, radius }, cruise, dt);
        let (_, distance) = self.to_robot(row);
        if distance <= FACES[usize::from(!self.rules.first_manager)] {
            let bearing = self.robot_bearing(row);
            if self.rules.strict {
                self.bodies.yaw[row] = bearing;
            } else {
                self.turn(row, before, bearing, dt);
            }
        }
    }

    /// Compute the forces on a walker that reacts, with another goal or speed than its own.
    pub(crate) fn sense_reacting(&mut self, row: usize, goal: Option<Goal>, cruise: f64) {
        let behavior = &mut self.agents[row].behavior;
        let role = robot_role(&self.rules, behavior.kind, true);
        if self.rules.strict && !self.rules.first_manager {
            behavior.state = 0;
        }
        self.forces[row] = self.forces_on(row, role, goal, cruise);
    }

    /// Whether the walker reacted to the robot in its last tick; unlike the `state` of strict mode, this is true.
    #[must_use]
    pub fn is_reacting(&self, row: usize) -> bool {
        self.reacting[row]
    }

    pub(crate) fn set_reacting(&mut self, row: usize, reacts: bool) {
        self.reacting[row] = reacts;
        self.agents[row].behavior.state = u8::from(reacts);
    }
}
