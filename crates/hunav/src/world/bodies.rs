//! Where walkers are and how they move, one array per quantity.

use crate::{Agent, Point};

/// Arrays of equal length, one entry per row.
#[derive(Clone, Debug, Default)]
pub(crate) struct Bodies {
    pub(crate) x: Vec<f64>,
    pub(crate) y: Vec<f64>,
    pub(crate) vx: Vec<f64>,
    pub(crate) vy: Vec<f64>,
    pub(crate) yaw: Vec<f64>,
    /// Speed and turn rate as the last step left them.
    pub(crate) linear: Vec<f64>,
    pub(crate) angular: Vec<f64>,
    /// Cruise speed.
    pub(crate) cruise: Vec<f64>,
    pub(crate) radius: Vec<f64>,
    pub(crate) group: Vec<i8>,
}

impl Bodies {
    fn columns(&mut self) -> [&mut Vec<f64>; 9] {
        let Bodies { x, y, vx, vy, yaw, linear, angular, cruise, radius, group: _ } = self;
        [x, y, vx, vy, yaw, linear, angular, cruise, radius]
    }

    fn of(agent: &Agent) -> [f64; 9] {
        let ([x, y], [vx, vy]) = (agent.position, agent.velocity);
        let Agent { yaw, linear_vel, angular_vel, desired_velocity, radius, .. } = *agent;
        [x, y, vx, vy, yaw, linear_vel, angular_vel, desired_velocity, radius]
    }

    pub(crate) fn push(&mut self, agent: &Agent) {
        self.columns().into_iter().zip(Bodies::of(agent)).for_each(|(column, value)| column.push(value));
        self.group.push(agent.group_id);
    }

    pub(crate) fn put(&mut self, row: usize, agent: &Agent) {
        self.columns().into_iter().zip(Bodies::of(agent)).for_each(|(column, value)| column[row] = value);
        self.group[row] = agent.group_id;
    }

    pub(crate) fn remove(&mut self, row: usize) {
        for column in self.columns() {
            column.remove(row);
        }
        self.group.remove(row);
    }

    pub(crate) fn clear(&mut self) {
        self.columns().into_iter().for_each(Vec::clear);
        self.group.clear();
    }

    pub(crate) fn position(&self, row: usize) -> Point {
        [self.x[row], self.y[row]]
    }

    pub(crate) fn velocity(&self, row: usize) -> Point {
        [self.vx[row], self.vy[row]]
    }

    pub(crate) fn place(&mut self, row: usize, position: Point, velocity: Point) {
        [self.x[row], self.y[row]] = position;
        [self.vx[row], self.vy[row]] = velocity;
    }
}
