//! What papers compute from a recorded episode of a robot among people (HuNav specification, section 10).
//!
//! An [`Accumulator`] takes one [`Frame`] after the other and keeps a few numbers per step, never the frames, so that recordings of any length
//! fit into memory. It knows no file and no clock; numbers that are not finite are left out and counted, and never panic it.

mod accumulator;
mod contact;
mod evaluation;
mod files;
mod force;
mod metric;
mod session;

pub use accumulator::Accumulator;
pub use evaluation::{Evaluation, Value};
pub use files::{Delimiter, file_word, row, steps, title};
pub use metric::Metric;
pub use session::Session;

use crate::{Agent, BehaviorKind, Point};

/// How metrics are computed.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// `metrics.compat`: the public evaluator's exchanged angles, and negative turn rates that count as standing still. False takes the
    /// angles and rates that were meant.
    pub compat: bool,
    /// Where the robot was to go; with several the nearest counts, with none the metrics of the goal stay undefined.
    pub goals: Vec<Point>,
    /// From this distance to a goal on it is not reached, metres.
    pub goal_radius: f64,
    /// Whether bodies bring the points of obstacles; false leaves the metrics of obstacles undefined.
    pub knows_obstacles: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Settings { compat: true, goals: Vec::new(), goal_radius: 0.2, knows_obstacles: true }
    }
}

/// A disc with a heading: the robot or a person at one step.
#[derive(Clone, Debug, PartialEq)]
pub struct Body {
    /// Key.
    pub id: i32,
    /// Walking group; -1 = none.
    pub group_id: i32,
    /// How it takes the robot.
    pub behavior: BehaviorKind,
    /// Radius, metres.
    pub radius: f64,
    /// Centre.
    pub position: Point,
    /// Heading.
    pub yaw: f64,
    /// Velocity in the world, m/s.
    pub velocity: Point,
    /// Speed, m/s.
    pub linear_vel: f64,
    /// Turn rate, rad/s.
    pub angular_vel: f64,
    /// Points of obstacles in the world.
    pub closest_obs: Vec<Point>,
}

impl Default for Body {
    fn default() -> Self {
        Body::from(&Agent::default())
    }
}

impl From<&Agent> for Body {
    fn from(agent: &Agent) -> Self {
        Body {
            id: agent.id,
            group_id: i32::from(agent.group_id),
            behavior: agent.behavior.kind,
            radius: agent.radius,
            position: agent.position,
            yaw: agent.yaw,
            velocity: agent.velocity,
            linear_vel: agent.linear_vel,
            angular_vel: agent.angular_vel,
            closest_obs: agent.closest_obs.clone(),
        }
    }
}

impl Body {
    /// Whether everything that a metric reads is a finite number, points of obstacles apart.
    #[must_use]
    pub fn is_finite(&self) -> bool {
        let scalars = [self.radius, self.yaw, self.linear_vel, self.angular_vel];
        self.position.iter().chain(&self.velocity).chain(&scalars).all(|number| number.is_finite())
    }
}

/// The robot and the people at one step.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Frame {
    /// When, nanoseconds.
    pub stamp_ns: i64,
    /// The robot.
    pub robot: Body,
    /// The people, in any order that stays.
    pub agents: Vec<Body>,
}
