//! `arena_humansim_msgs` to and from the plain values of the crowd engine's protocol. Carries only.

use arena_humansim_msgs::msg;
use arena_humansim_msgs::msg::rmw;
use geometry_msgs::msg::{Point, Point32, Pose2D, Vector3};
use promenade_crowd::Wall;
use promenade_crowd::protocol::{
    AgentFrame, AgentGestures, AgentMeta, AgentState, AgentStates, AgentTemplate, Gesture, ObstacleConfig,
    Pose, Shape, SinkConfig, SourceConfig, WorldObjectInfo,
};
use promenade_kernel::Time;
use rosidl_runtime_rs::{Sequence, String as WireString};

use crate::bus::{read_string, resize, set_string, time_from_wire, write_map_header};

/// Takes a frame over, re-using what is there.
pub(super) fn read_frame(from: &rmw::AgentFrame, to: &mut AgentFrame) {
    fn copy<T: Copy>(from: &[T], to: &mut Vec<T>) {
        to.clear();
        to.extend_from_slice(from);
    }
    to.stamp_ns = time_from_wire(&from.header.stamp).nanos();
    copy(&from.agent_id, &mut to.agent_id);
    copy(&from.x, &mut to.x);
    copy(&from.y, &mut to.y);
    copy(&from.theta, &mut to.theta);
    copy(&from.vx, &mut to.vx);
    copy(&from.vy, &mut to.vy);
    copy(&from.desired_velocity, &mut to.desired_velocity);
    copy(&from.radius, &mut to.radius);
    copy(&from.kind, &mut to.kind);
    copy(&from.animation_state, &mut to.animation_state);
    copy(&from.policy_idx, &mut to.policy_idx);
    copy(&from.gait_phase, &mut to.gait_phase);
    copy(&from.gait_cadence, &mut to.gait_cadence);
    copy(&from.interaction_id, &mut to.interaction_id);
    copy(&from.interaction_type, &mut to.interaction_type);
}

/// Names and types.
pub(super) fn meta(from: &rmw::AgentMeta) -> AgentMeta {
    AgentMeta {
        stamp_ns: time_from_wire(&from.header.stamp).nanos(),
        policies: texts(&from.policies),
        agent_id: from.agent_id.to_vec(),
        name: texts(&from.name),
        handedness: texts(&from.handedness),
        agent_type: texts(&from.agent_type),
    }
}

/// Gestures with their owners.
pub(super) fn gestures(from: &rmw::AgentGestures) -> AgentGestures {
    let gesture = |from: &rmw::Gesture| Gesture {
        slot: from.slot.to_string(),
        at: [from.at.x, from.at.y, from.at.z],
        clip: from.clip.to_string(),
        hand: from.hand.to_string(),
        render_pose_override: from.render_pose_override,
    };
    AgentGestures {
        stamp_ns: time_from_wire(&from.header.stamp).nanos(),
        agent_id: from.agent_id.to_vec(),
        gestures: from.gestures.iter().map(gesture).collect(),
    }
}

fn texts(from: &Sequence<WireString>) -> Vec<String> {
    let mut text = String::new();
    let read = |from: &WireString| {
        read_string(from, &mut text);
        text.clone()
    };
    from.iter().map(read).collect()
}

/// Writes what the engine is told of outside agents, in place.
pub(super) fn write_states(from: &AgentStates, to: &mut rmw::AgentStates) {
    write_map_header(&mut to.header, Time::from_nanos(from.stamp_ns));
    resize(&mut to.agents, from.agents.len());
    for (from, to) in from.agents.iter().zip(to.agents.iter_mut()) {
        to.agent_id = from.agent_id;
        set_string(&mut to.name, &from.name);
        let [x, y, theta] = from.pose;
        (to.pose.x, to.pose.y, to.pose.theta) = (x, y, theta);
        [to.velocity.x, to.velocity.y] = from.velocity;
        to.radius = from.radius;
        to.kind = from.kind;
    }
}

fn pose([x, y, theta]: Pose) -> Pose2D {
    Pose2D { x, y, theta }
}

/// Somebody to spawn.
pub(super) fn agent(from: &AgentState) -> msg::AgentState {
    let waypoint = |point: &promenade_crowd::protocol::Waypoint| msg::Waypoint {
        pose: pose(point.pose),
        radius: point.radius,
    };
    msg::AgentState {
        agent_id: from.agent_id,
        name: from.name.clone(),
        pose: pose(from.pose),
        velocity: Vector3 { x: from.velocity[0], y: from.velocity[1], z: 0.0 },
        desired_velocity: from.desired_velocity,
        radius: from.radius,
        vision_range: from.vision_range,
        vision_fov: from.vision_fov,
        relaxation_time: from.relaxation_time,
        repulsion_strength: from.repulsion_strength,
        repulsion_range: from.repulsion_range,
        max_velocity: from.max_velocity,
        agent_type: from.agent_type.clone(),
        waypoints: msg::Waypoints {
            points: from.waypoints.points.iter().map(waypoint).collect(),
            mode: from.waypoints.mode,
        },
        kind: from.kind,
        animation_state: from.animation_state,
        policy: from.policy.clone(),
        policy_params: from.policy_params.clone(),
        handedness: from.handedness.clone(),
        gestures: from.gestures.iter().map(gesture).collect(),
    }
}

fn gesture(from: &Gesture) -> msg::Gesture {
    let [x, y, z] = from.at;
    msg::Gesture {
        slot: from.slot.clone(),
        at: Point { x, y, z },
        clip: from.clip.clone(),
        hand: from.hand.clone(),
        render_pose_override: from.render_pose_override,
    }
}

fn shape(from: &Shape) -> msg::Shape {
    msg::Shape {
        type_: from.kind,
        width: from.width,
        height: from.height,
        radius: from.radius,
        vertices: from.vertices.iter().map(|&[x, y]| Point32 { x, y, z: 0.0 }).collect(),
    }
}

/// A source.
pub(super) fn source(from: &SourceConfig) -> msg::SourceConfig {
    msg::SourceConfig {
        name: from.name.clone(),
        pose: pose(from.pose),
        shape: shape(&from.shape),
        type_: from.kind,
        rate_profile: from.rate_profile.iter().map(|p| msg::RateKeyframe { t: p.t, rate: p.rate }).collect(),
        max_concurrent: from.max_concurrent,
        max_total: from.max_total,
        agent: template(&from.agent),
    }
}

fn template(from: &AgentTemplate) -> msg::AgentTemplate {
    let affinity = |a: &promenade_crowd::protocol::SinkAffinity| msg::SinkAffinity {
        sink_name: a.sink_name.clone(),
        weight: a.weight,
    };
    msg::AgentTemplate {
        desired_velocity_min: from.desired_velocity_min,
        desired_velocity_max: from.desired_velocity_max,
        agent_radius: from.agent_radius,
        behavior_tree: from.behavior_tree.clone(),
        agent_type: from.agent_type.clone(),
        sink_affinity: from.sink_affinity.iter().map(affinity).collect(),
        kind: from.kind,
        policy: from.policy.clone(),
        policy_params: from.policy_params.clone(),
    }
}

/// A sink.
pub(super) fn sink(from: &SinkConfig) -> msg::SinkConfig {
    msg::SinkConfig {
        name: from.name.clone(),
        pose: pose(from.pose),
        shape: shape(&from.shape),
        absorption_radius: from.absorption_radius,
        capacity: from.capacity,
    }
}

/// Names, starts and ends of walls.
pub(super) fn walls(from: &[Wall]) -> (Vec<String>, Vec<Point32>, Vec<Point32>) {
    let point = |[x, y]: [f64; 2]| Point32 { x: x as f32, y: y as f32, z: 0.0 };
    (
        from.iter().map(|wall| wall.name.clone()).collect(),
        from.iter().map(|wall| point(wall.start)).collect(),
        from.iter().map(|wall| point(wall.end)).collect(),
    )
}

/// A box in the way.
pub(super) fn obstacle(from: &ObstacleConfig) -> msg::ObstacleConfig {
    msg::ObstacleConfig {
        name: from.name.clone(),
        pose: pose(from.pose),
        bb_x_min: from.bb_x[0],
        bb_x_max: from.bb_x[1],
        bb_y_min: from.bb_y[0],
        bb_y_max: from.bb_y[1],
        bb_z_min: from.bb_z[0],
        bb_z_max: from.bb_z[1],
        interaction_types: from.interaction_types.clone(),
        obstacle_type: from.obstacle_type.clone(),
    }
}

/// Something to use.
pub(super) fn world_object(from: &WorldObjectInfo) -> msg::WorldObjectInfo {
    let (satisfies_keys, satisfies_values) = from.satisfies.iter().cloned().unzip();
    let (formation_param_keys, formation_param_values) = from.formation_params.iter().cloned().unzip();
    msg::WorldObjectInfo {
        object_id: from.object_id.clone(),
        type_: from.kind.clone(),
        pose: pose(from.pose),
        capacity: from.capacity,
        satisfies_keys,
        satisfies_values,
        interaction_radius: from.interaction_radius,
        formation_type: from.formation_type.clone(),
        formation_param_keys,
        formation_param_values,
        seats: from.seats.iter().copied().map(pose).collect(),
    }
}
