//! `hunav_msgs/Agent` of the environment as what metrics read.

use hunav_msgs::msg::rmw::Agent;
use promenade_hunav::Point;
use promenade_hunav::metrics::Body;

use crate::hunav::behavior_kind;

/// The body of an agent.
pub(super) fn body(from: &Agent) -> Body {
    #[cfg(hunav_flavour = "p1")]
    let behavior = from.behavior;
    #[cfg(not(hunav_flavour = "p1"))]
    let behavior = from.behavior.type_;
    Body {
        id: from.id,
        group_id: i32::from(from.group_id),
        behavior: behavior_kind(behavior),
        radius: f64::from(from.radius),
        position: [from.position.position.x, from.position.position.y],
        yaw: f64::from(from.yaw),
        velocity: [from.velocity.linear.x, from.velocity.linear.y],
        linear_vel: f64::from(from.linear_vel),
        angular_vel: f64::from(from.angular_vel),
        closest_obs: from.closest_obs.iter().map(|point| [point.x, point.y]).collect(),
    }
}

/// The goals of an agent.
pub(super) fn goals(from: &Agent) -> Vec<Point> {
    from.goals.iter().map(|goal| [goal.position.x, goal.position.y]).collect()
}
