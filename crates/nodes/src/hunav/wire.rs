//! `hunav_msgs/Agent` of the environment between the wire and the engine's values (HuNav specification, section 1).
//!
//! The definitions differ in where an agent's behaviour is: two bytes (p1), a message (p15), a message and the file of a tree (arena).
//! What a flavour lacks is read as its default and not written.

use geometry_msgs::msg::rmw::{Pose, Quaternion};
use hunav_msgs::msg::rmw as wire;
use promenade_hunav::{Agent, Behavior, Kind, Point, Robot};
use rosidl_runtime_rs::Sequence;

use super::{behavior_kind, kind, read_points, reuse, write_points};
use crate::bus::{read_string, resize, set_string};

/// Which definitions this program speaks.
#[cfg(hunav_flavour = "arena")]
pub(crate) const FLAVOUR: &str = "arena";
/// Which definitions this program speaks.
#[cfg(hunav_flavour = "p15")]
pub(crate) const FLAVOUR: &str = "p15";
/// Which definitions this program speaks.
#[cfg(hunav_flavour = "p1")]
pub(crate) const FLAVOUR: &str = "p1";

/// Reads agents into a re-used list.
pub(crate) fn read_agents(from: &Sequence<wire::Agent>, to: &mut Vec<Agent>) {
    for (from, to) in from.iter().zip(reuse(to, from.len())) {
        read_agent(from, to);
    }
}

/// Writes agents into a re-used sequence.
pub(crate) fn write_agents(from: &[Agent], to: &mut Sequence<wire::Agent>) {
    resize(to, from.len());
    for (from, to) in from.iter().zip(to.iter_mut()) {
        write_agent(from, to);
    }
}

fn read_agent(from: &wire::Agent, to: &mut Agent) {
    read_string(&from.name, &mut to.name);
    to.goals.clear();
    to.goals.extend(from.goals.iter().map(|goal| [goal.position.x, goal.position.y]));
    read_points(&from.closest_obs, &mut to.closest_obs);
    (to.id, to.kind, to.skin, to.group_id) = (from.id, kind(from.type_), from.skin, from.group_id);
    (to.position, to.z) = ([from.position.position.x, from.position.position.y], from.position.position.z);
    to.yaw = f64::from(from.yaw);
    to.velocity = [from.velocity.linear.x, from.velocity.linear.y];
    (to.desired_velocity, to.radius) = (f64::from(from.desired_velocity), f64::from(from.radius));
    // The turn rate is in two fields; the manager takes the one of the twist.
    (to.linear_vel, to.angular_vel) = (f64::from(from.linear_vel), from.velocity.angular.z);
    (to.cyclic_goals, to.goal_radius) = (from.cyclic_goals, f64::from(from.goal_radius));
    to.behavior = read_behavior(from);
    #[cfg(hunav_flavour = "arena")]
    read_string(&from.behavior_tree, &mut to.behavior_tree);
    #[cfg(not(hunav_flavour = "arena"))]
    to.behavior_tree.clear();
}

#[cfg(hunav_flavour = "p1")]
fn read_behavior(from: &wire::Agent) -> Behavior {
    Behavior { kind: behavior_kind(from.behavior), state: from.behavior_state, ..Behavior::default() }
}

#[cfg(not(hunav_flavour = "p1"))]
fn read_behavior(from: &wire::Agent) -> Behavior {
    let from = &from.behavior;
    Behavior {
        kind: behavior_kind(from.type_),
        state: from.state,
        configuration: super::configuration(from.configuration),
        duration: f64::from(from.duration),
        once: from.once,
        vel: f64::from(from.vel),
        dist: f64::from(from.dist),
        social_force_factor: f64::from(from.social_force_factor),
        goal_force_factor: f64::from(from.goal_force_factor),
        obstacle_force_factor: f64::from(from.obstacle_force_factor),
        other_force_factor: f64::from(from.other_force_factor),
    }
}

/// Writes one agent over another.
pub(crate) fn write_agent(from: &Agent, to: &mut wire::Agent) {
    set_string(&mut to.name, &from.name);
    resize(&mut to.goals, from.goals.len());
    for (goal, to) in from.goals.iter().zip(to.goals.iter_mut()) {
        *to = pose(*goal, 0.0, 0.0);
    }
    write_points(&from.closest_obs, &mut to.closest_obs);
    (to.id, to.type_, to.skin, to.group_id) = (from.id, from.kind as u8, from.skin, from.group_id);
    to.position = pose(from.position, from.z, from.yaw);
    to.yaw = from.yaw as f32;
    [to.velocity.linear.x, to.velocity.linear.y] = from.velocity;
    to.velocity.angular.z = from.angular_vel;
    (to.desired_velocity, to.radius) = (from.desired_velocity as f32, from.radius as f32);
    (to.linear_vel, to.angular_vel) = (from.linear_vel as f32, from.angular_vel as f32);
    (to.cyclic_goals, to.goal_radius) = (from.cyclic_goals, from.goal_radius as f32);
    write_behavior(&from.behavior, to);
    #[cfg(hunav_flavour = "arena")]
    set_string(&mut to.behavior_tree, &from.behavior_tree);
}

#[cfg(hunav_flavour = "p1")]
fn write_behavior(from: &Behavior, to: &mut wire::Agent) {
    (to.behavior, to.behavior_state) = (from.kind as u8, from.state);
}

#[cfg(not(hunav_flavour = "p1"))]
fn write_behavior(from: &Behavior, to: &mut wire::Agent) {
    to.behavior = wire::AgentBehavior {
        type_: from.kind as u8,
        state: from.state,
        configuration: from.configuration as u8,
        duration: from.duration as f32,
        once: from.once,
        vel: from.vel as f32,
        dist: from.dist as f32,
        social_force_factor: from.social_force_factor as f32,
        goal_force_factor: from.goal_force_factor as f32,
        obstacle_force_factor: from.obstacle_force_factor as f32,
        other_force_factor: from.other_force_factor as f32,
    };
}

/// Reads the robot of a request.
pub(crate) fn read_robot(from: &wire::Agent, to: &mut Robot) {
    read_string(&from.name, &mut to.name);
    (to.id, to.group_id) = (from.id, from.group_id);
    to.position = [from.position.position.x, from.position.position.y];
    to.yaw = f64::from(from.yaw);
    to.velocity = [from.velocity.linear.x, from.velocity.linear.y];
    to.angular_vel = from.velocity.angular.z;
    (to.desired_velocity, to.radius) = (f64::from(from.desired_velocity), f64::from(from.radius));
}

/// Writes the robot of a request.
pub(crate) fn write_robot(from: &Robot, to: &mut wire::Agent) {
    set_string(&mut to.name, &from.name);
    (to.id, to.type_, to.group_id) = (from.id, Kind::Robot as u8, from.group_id);
    to.position = pose(from.position, 0.0, from.yaw);
    to.yaw = from.yaw as f32;
    [to.velocity.linear.x, to.velocity.linear.y] = from.velocity;
    to.velocity.angular.z = from.angular_vel;
    to.linear_vel = from.velocity[0].hypot(from.velocity[1]) as f32;
    to.angular_vel = from.angular_vel as f32;
    (to.desired_velocity, to.radius) = (from.desired_velocity as f32, from.radius as f32);
}

/// A pose in the plane.
pub(crate) fn pose([x, y]: Point, z: f64, yaw: f64) -> Pose {
    let mut pose = Pose::default();
    (pose.position.x, pose.position.y, pose.position.z) = (x, y, z);
    pose.orientation = quaternion(yaw);
    pose
}

/// A heading as a quaternion; one that is none is 0.
pub(crate) fn quaternion(yaw: f64) -> Quaternion {
    let (z, w) = if yaw.is_finite() { (yaw / 2.0).sin_cos() } else { (0.0, 1.0) };
    Quaternion { x: 0.0, y: 0.0, z, w }
}

#[cfg(test)]
mod tests {
    use std::f64::consts::FRAC_1_SQRT_2;

    use promenade_hunav::{BehaviorKind, Configuration};

    use super::*;

    /// An agent whose every number a float32 holds exactly.
    fn agent() -> Agent {
        Agent {
            id: -7,
            kind: Kind::Other,
            skin: 4,
            name: "caf\u{e9}".to_owned(),
            group_id: -3,
            position: [1.25, -2.5],
            z: 1.5,
            yaw: 0.75,
            velocity: [0.5, -0.25],
            desired_velocity: 1.5,
            radius: 0.375,
            linear_vel: 0.625,
            angular_vel: -0.5,
            behavior: Behavior {
                kind: BehaviorKind::Scared,
                state: 1,
                configuration: Configuration::RandomUniform,
                duration: 12.5,
                once: false,
                vel: 0.5,
                dist: 3.5,
                social_force_factor: 5.5,
                goal_force_factor: 2.25,
                obstacle_force_factor: 11.0,
                other_force_factor: 21.0,
            },
            behavior_tree: "BTScaredNav.xml".to_owned(),
            goals: vec![[1.0, 2.0], [-3.0, 4.5]],
            cyclic_goals: true,
            goal_radius: 0.25,
            closest_obs: vec![[9.0, 8.0]],
        }
    }

    #[cfg(hunav_flavour = "arena")]
    #[test]
    fn every_field_survives_the_round_trip_whatever_was_there_before() {
        let (mut on_wire, mut back) = (wire::Agent::default(), Agent::default());
        for before in [agent(), Agent::default(), agent()] {
            write_agent(&before, &mut on_wire);
            read_agent(&on_wire, &mut back);
            let stays = |v: f64| f64::from(v as f32);
            let expected = Agent {
                desired_velocity: stays(before.desired_velocity),
                radius: stays(before.radius),
                goal_radius: stays(before.goal_radius),
                ..before
            };
            assert_eq!(back, expected);
        }
    }

    #[test]
    fn a_robot_survives_the_round_trip() {
        let before = Robot {
            id: 3,
            name: "jackal".to_owned(),
            position: [1.0, 2.0],
            yaw: -1.5,
            velocity: [0.5, 0.25],
            angular_vel: 0.125,
            desired_velocity: 0.75,
            radius: 0.5,
            group_id: -1,
        };
        let (mut on_wire, mut back) = (wire::Agent::default(), Robot::default());
        write_robot(&before, &mut on_wire);
        read_robot(&on_wire, &mut back);
        assert_eq!((back, on_wire.type_), (before, 2));
    }

    #[test]
    fn numbers_without_a_meaning_are_the_first_one() {
        let mut odd = wire::Agent { type_: 200, ..wire::Agent::default() };
        odd.behavior.type_ = 99;
        odd.behavior.configuration = 99;
        odd.yaw = f32::NAN;
        let mut read = agent();
        read_agent(&odd, &mut read);
        assert_eq!((read.kind, read.behavior.kind), (Kind::Person, BehaviorKind::Regular));
        assert_eq!(read.behavior.configuration, Configuration::Default);
        let turned = quaternion(std::f64::consts::FRAC_PI_2);
        assert!((turned.z - FRAC_1_SQRT_2).abs() < 1e-12 && (turned.w - FRAC_1_SQRT_2).abs() < 1e-12);
        assert_eq!(quaternion(read.yaw).w, 1.0, "a heading that is none");
    }
}
