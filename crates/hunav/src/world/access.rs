//! What the leaves of trees ask of a world and do to it, beyond walking and reacting. All is about one row.

use super::force::{self, Goal};
use super::sense::robot_role;
use super::{VelocityField, World, rules};
use crate::{Point, wrap};

/// Whoever looks this exactly at something looks at it, radians.
const LOOKS: f64 = 0.05;

impl World {
    /// Where an agent is.
    #[must_use]
    pub fn position(&self, row: usize) -> Point {
        self.bodies.position(row)
    }

    /// Where it looks, radians.
    #[must_use]
    pub fn yaw(&self, row: usize) -> f64 {
        self.bodies.yaw[row]
    }

    /// Radius of its disc, metres.
    #[must_use]
    pub fn radius(&self, row: usize) -> f64 {
        self.bodies.radius[row]
    }

    /// Its cruise speed, m/s.
    #[must_use]
    pub fn cruise(&self, row: usize) -> f64 {
        self.bodies.cruise[row]
    }

    /// Its walking group, -1 for none.
    #[must_use]
    pub fn group(&self, row: usize) -> i8 {
        self.bodies.group[row]
    }

    /// Its goals in order.
    #[must_use]
    pub fn goals(&self, row: usize) -> &[Point] {
        &self.agents[row].goals
    }

    /// How far it is from a place, metres.
    #[must_use]
    pub fn distance(&self, row: usize, place: Point) -> f64 {
        force::norm(force::sub(place, self.bodies.position(row)))
    }

    /// Whether a place is within `distance` metres of it and within `half_angle` radians of where it looks.
    #[must_use]
    pub fn sees(&self, row: usize, place: Point, distance: f64, half_angle: f64) -> bool {
        self.distance(row, place) <= distance
            && wrap(self.bearing(row, place) - self.bodies.yaw[row]).abs() <= half_angle
    }

    fn bearing(&self, row: usize, place: Point) -> f64 {
        let way = force::sub(place, self.bodies.position(row));
        way[1].atan2(way[0])
    }

    /// Places that trees name by number, the first is number 1.
    pub fn set_global_goals(&mut self, goals: Vec<Point>) {
        self.global_goals = goals;
    }

    pub(crate) fn global_goal(&self, number: i32) -> Option<Point> {
        let index = usize::try_from(number).ok()?.checked_sub(1)?;
        self.global_goals.get(index).copied().filter(|goal| goal.iter().all(|part| part.is_finite()))
    }

    /// The field that `FollowVelocityField` reads.
    pub fn set_velocity_field(&mut self, field: Option<VelocityField>) {
        self.velocity_field = field;
    }

    /// The field that `FollowVelocityField` reads.
    #[must_use]
    pub fn velocity_field(&self) -> Option<&VelocityField> {
        self.velocity_field.as_ref()
    }

    pub(crate) fn set_goals(&mut self, row: usize, goals: &[Point]) {
        let own = &mut self.agents[row].goals;
        own.clear();
        own.extend(goals.iter().map(|goal| rules::place(*goal, [0.0; 2])));
    }

    /// Give one agent the goals of another.
    pub(crate) fn share_goals(&mut self, from: usize, to: usize) {
        if from != to {
            let mut goals = std::mem::take(&mut self.agents[to].goals);
            goals.clone_from(&self.agents[from].goals);
            self.agents[to].goals = goals;
            self.agents[to].cyclic_goals = self.agents[from].cyclic_goals;
        }
    }

    pub(crate) fn set_group(&mut self, row: usize, group: i8) {
        self.bodies.group[row] = group;
        self.agents[row].group_id = group;
    }

    /// Walk to a place that is none of the goals, the robot being what it is to somebody who walks; `other` is not evaded.
    pub(crate) fn go(&mut self, row: usize, dt: f64, goal: Goal, cruise: f64, other: Option<usize>) {
        self.set_reacting(row, false);
        let role = robot_role(&self.rules, self.agents[row].behavior.kind, false);
        self.forces[row] = match other {
            Some(other) if other != row => self.forces_beside(row, role, goal, cruise, other),
            _ => self.forces_on(row, role, Some(goal), cruise),
        };
        self.step(row, dt, cruise);
    }

    /// Stand still.
    pub(crate) fn rest(&mut self, row: usize) {
        self.set_reacting(row, false);
        self.bodies.linear[row] = 0.0;
        self.bodies.angular[row] = 0.0;
        self.bodies.place(row, self.bodies.position(row), [0.0; 2]);
    }

    /// Stand and turn towards a place; whether the agent looks at it now.
    pub(crate) fn look_at(&mut self, row: usize, place: Point, dt: f64) -> bool {
        self.rest(row);
        self.turn_to(row, self.bodies.yaw[row], place, dt);
        wrap(self.bearing(row, place) - self.bodies.yaw[row]).abs() <= LOOKS
    }

    /// Turn from a heading towards a place.
    pub(crate) fn turn_to(&mut self, row: usize, heading: f64, place: Point, dt: f64) {
        let bearing = self.bearing(row, place);
        self.turn(row, heading, bearing, dt);
    }
}
