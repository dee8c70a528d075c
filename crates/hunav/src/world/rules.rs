//! What the options of an engine mean for each of its decisions.
//!
//! Everything that differs between strict and robust, or between managers, is read from here; nothing else asks for the mode.

use crate::{Agent, Compat, ManagerVersion, ObstacleRule, Options, Robot};

/// Places beyond are held at this distance, metres: a client that sends 1e300 shall not turn a sum into infinity.
const FARTHEST: f64 = 1e9;
/// Speeds, radii and factors are held at this size.
const LARGEST: f64 = 1e6;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Rules {
    /// Faults of the original are kept.
    pub(crate) strict: bool,
    /// Constants and sight of the robot as in the first manager.
    pub(crate) first_manager: bool,
    /// Values that messages carry in single precision are held in it, and so are the bearings of reactions.
    pub(crate) single: bool,
    /// How obstacle points add up.
    pub(crate) obstacle: ObstacleRule,
    /// Part of the range added to the angle of an interaction.
    pub(crate) bias: f64,
    /// A step does not write the speed and the turn rate, and any negative group is none.
    pub(crate) whole_list: bool,
}

impl Rules {
    pub(crate) fn of(options: &Options) -> Self {
        let strict = options.compat == Compat::Strict;
        Rules {
            strict,
            first_manager: options.manager == ManagerVersion::P1,
            single: strict,
            obstacle: options.obstacle,
            bias: 0.0,
            whole_list: false,
        }
    }

    /// `value` as a message carries it.
    pub(crate) fn carried(&self, value: f64) -> f64 {
        if self.single { f64::from(value as f32) } else { value }
    }

    /// Whether members of `group` walk together.
    pub(crate) fn is_group(&self, group: i8) -> bool {
        if self.whole_list { group >= 0 } else { group != -1 }
    }
}

/// `value` within `limit`; `otherwise` if it is not a number.
pub(crate) fn held(value: f64, limit: f64, otherwise: f64) -> f64 {
    if value.is_nan() { otherwise } else { value.clamp(-limit, limit) }
}

/// A point that can be computed with; a coordinate that is not a number becomes that of `otherwise`.
pub(crate) fn place(point: [f64; 2], otherwise: [f64; 2]) -> [f64; 2] {
    [held(point[0], FARTHEST, otherwise[0]), held(point[1], FARTHEST, otherwise[1])]
}

/// A velocity that can be computed with.
pub(crate) fn speed(velocity: [f64; 2]) -> [f64; 2] {
    velocity.map(|part| held(part, LARGEST, 0.0))
}

/// A size, speed or factor that can be computed with.
pub(crate) fn size(value: f64) -> f64 {
    held(value, LARGEST, 0.0)
}

/// Make what a client says of an agent safe to compute with, in the precision of the wire.
pub(crate) fn admit(agent: &mut Agent, rules: &Rules) {
    agent.position = place(agent.position, [0.0; 2]);
    agent.velocity = speed(agent.velocity);
    agent.yaw = crate::wrap(rules.carried(agent.yaw));
    let behavior = &mut agent.behavior;
    for value in [
        &mut agent.desired_velocity,
        &mut agent.radius,
        &mut agent.linear_vel,
        &mut agent.angular_vel,
        &mut agent.goal_radius,
        &mut behavior.duration,
        &mut behavior.vel,
        &mut behavior.dist,
        &mut behavior.social_force_factor,
        &mut behavior.goal_force_factor,
        &mut behavior.obstacle_force_factor,
        &mut behavior.other_force_factor,
    ] {
        *value = size(rules.carried(*value));
    }
    if !rules.strict {
        agent.desired_velocity = agent.desired_velocity.max(0.0);
        agent.radius = agent.radius.max(0.0);
    }
    agent.goals.retain(|goal| goal.iter().all(|part| part.is_finite()));
    agent.goals.iter_mut().for_each(|goal| *goal = place(*goal, [0.0; 2]));
    admit_obstacles(&mut agent.closest_obs);
}

/// Points that are none are left out.
pub(crate) fn admit_obstacles(points: &mut Vec<[f64; 2]>) {
    points.retain(|point| point.iter().all(|part| part.is_finite()));
    points.iter_mut().for_each(|point| *point = place(*point, [0.0; 2]));
}

/// The same for the robot.
pub(crate) fn admit_robot(robot: &mut Robot, rules: &Rules) {
    robot.position = place(robot.position, [Robot::PARKED; 2]);
    robot.velocity = speed(robot.velocity);
    robot.yaw = crate::wrap(rules.carried(robot.yaw));
    for value in [&mut robot.angular_vel, &mut robot.desired_velocity, &mut robot.radius] {
        *value = size(rules.carried(*value));
    }
}
