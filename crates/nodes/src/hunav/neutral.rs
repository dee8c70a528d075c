//! `promenade_msgs/HunavAgent` between the wire and the engine's values. It has every field of every flavour, with all digits.

use promenade_human::entity::Wall;
use promenade_hunav::{Agent, Behavior, Robot};
use promenade_msgs::msg::rmw as wire;
use rosidl_runtime_rs::Sequence;

use super::{behavior_kind, configuration, kind, read_points, reuse, write_points};
use crate::bus::{read_string, resize, set_string};

/// Reads agents into a re-used list.
pub(crate) fn read_agents(from: &Sequence<wire::HunavAgent>, to: &mut Vec<Agent>) {
    for (from, to) in from.iter().zip(reuse(to, from.len())) {
        read_agent(from, to);
    }
}

/// Writes agents into a re-used sequence.
pub(crate) fn write_agents(from: &[Agent], to: &mut Sequence<wire::HunavAgent>) {
    resize(to, from.len());
    for (from, to) in from.iter().zip(to.iter_mut()) {
        write_agent(from, to);
    }
}

fn read_agent(from: &wire::HunavAgent, to: &mut Agent) {
    read_string(&from.name, &mut to.name);
    read_string(&from.behavior_tree, &mut to.behavior_tree);
    read_points(&from.goals, &mut to.goals);
    read_points(&from.closest_obs, &mut to.closest_obs);
    (to.id, to.kind, to.skin, to.group_id) = (from.id, kind(from.type_), from.skin, from.group_id);
    (to.position, to.z, to.yaw) = ([from.position.x, from.position.y], from.position.z, from.yaw);
    to.velocity = [from.velocity_x, from.velocity_y];
    (to.desired_velocity, to.radius) = (from.desired_velocity, from.radius);
    (to.linear_vel, to.angular_vel) = (from.linear_vel, from.angular_vel);
    (to.cyclic_goals, to.goal_radius) = (from.cyclic_goals, from.goal_radius);
    let behavior = &from.behavior;
    to.behavior = Behavior {
        kind: behavior_kind(behavior.type_),
        state: behavior.state,
        configuration: configuration(behavior.configuration),
        duration: behavior.duration,
        once: behavior.once,
        vel: behavior.vel,
        dist: behavior.dist,
        social_force_factor: behavior.social_force_factor,
        goal_force_factor: behavior.goal_force_factor,
        obstacle_force_factor: behavior.obstacle_force_factor,
        other_force_factor: behavior.other_force_factor,
    };
}

fn write_agent(from: &Agent, to: &mut wire::HunavAgent) {
    set_string(&mut to.name, &from.name);
    set_string(&mut to.behavior_tree, &from.behavior_tree);
    write_points(&from.goals, &mut to.goals);
    write_points(&from.closest_obs, &mut to.closest_obs);
    (to.id, to.type_, to.skin, to.group_id) = (from.id, from.kind as u8, from.skin, from.group_id);
    [to.position.x, to.position.y] = from.position;
    (to.position.z, to.yaw) = (from.z, from.yaw);
    [to.velocity_x, to.velocity_y] = from.velocity;
    (to.desired_velocity, to.radius) = (from.desired_velocity, from.radius);
    (to.linear_vel, to.angular_vel) = (from.linear_vel, from.angular_vel);
    (to.cyclic_goals, to.goal_radius) = (from.cyclic_goals, from.goal_radius);
    let behavior = &from.behavior;
    to.behavior = wire::HunavBehavior {
        type_: behavior.kind as u8,
        state: behavior.state,
        configuration: behavior.configuration as u8,
        duration: behavior.duration,
        once: behavior.once,
        vel: behavior.vel,
        dist: behavior.dist,
        social_force_factor: behavior.social_force_factor,
        goal_force_factor: behavior.goal_force_factor,
        obstacle_force_factor: behavior.obstacle_force_factor,
        other_force_factor: behavior.other_force_factor,
    };
}

/// Reads the robot of a request.
#[cfg(feature = "hunav")]
pub(crate) fn read_robot(from: &wire::HunavAgent, to: &mut Robot) {
    read_string(&from.name, &mut to.name);
    (to.id, to.group_id) = (from.id, from.group_id);
    (to.position, to.yaw) = ([from.position.x, from.position.y], from.yaw);
    (to.velocity, to.angular_vel) = ([from.velocity_x, from.velocity_y], from.angular_vel);
    (to.desired_velocity, to.radius) = (from.desired_velocity, from.radius);
}

/// Writes the robot of a request.
pub(crate) fn write_robot(from: &Robot, to: &mut wire::HunavAgent) {
    set_string(&mut to.name, &from.name);
    (to.id, to.type_, to.group_id) = (from.id, promenade_hunav::Kind::Robot as u8, from.group_id);
    [to.position.x, to.position.y] = from.position;
    to.yaw = from.yaw;
    [to.velocity_x, to.velocity_y] = from.velocity;
    (to.angular_vel, to.linear_vel) = (from.angular_vel, from.velocity[0].hypot(from.velocity[1]));
    (to.desired_velocity, to.radius) = (from.desired_velocity, from.radius);
}

/// Writes walls.
pub(crate) fn write_walls(from: &[(String, Wall)], to: &mut Sequence<wire::HunavWall>) {
    resize(to, from.len());
    for ((name, wall), to) in from.iter().zip(to.iter_mut()) {
        set_string(&mut to.name, name);
        [to.start.x, to.start.y] = wall.start;
        [to.end.x, to.end.y] = wall.end;
    }
}
