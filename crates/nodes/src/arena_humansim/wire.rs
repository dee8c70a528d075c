//! The engine's plain data between the wire and the engine, field by field.
//!
//! Nothing here decides. Of what comes in only what has no meaning at all is refused: parallel arrays of different lengths. Whatever goes
//! out every tick is written into a message that is used again, so that nothing is allocated while the number of agents stays the same.

use arena_humansim_msgs::msg::rmw as wire;
use geometry_msgs::msg::rmw::{Point, Point32, Pose2D};
use promenade_crowd::protocol as plain;
use promenade_crowd::walls::Wall;
use promenade_human::MAP_FRAME;
use promenade_kernel::Time;
use rosidl_runtime_rs::{Sequence, SequenceAlloc, String as WireString};
use std_msgs::msg::rmw::Header;

use crate::bus::{read_string, resize, set_string, time_from_wire, time_to_wire};

/// Why a request has no meaning.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{what} has {found} entries and {other} has {expected}: the two are read side by side and must be as long as each other"
)]
pub(crate) struct LengthError {
    what: &'static str,
    found: usize,
    other: &'static str,
    expected: usize,
}

fn same_length<A: SequenceAlloc, B: SequenceAlloc>(
    (what, first): (&'static str, &Sequence<A>),
    (other, second): (&'static str, &Sequence<B>),
) -> Result<(), LengthError> {
    let (found, expected) = (first.len(), second.len());
    if found == expected { Ok(()) } else { Err(LengthError { what, found, other, expected }) }
}

/// A text from the wire; what is not UTF-8 becomes U+FFFD.
pub(crate) fn text(from: &WireString) -> String {
    let mut to = String::new();
    read_string(from, &mut to);
    to
}

/// Texts from the wire.
pub(crate) fn texts(from: &Sequence<WireString>) -> Vec<String> {
    from.iter().map(text).collect()
}

/// Items from the wire.
pub(crate) fn all<W: SequenceAlloc, P>(from: &Sequence<W>, one: impl FnMut(&W) -> P) -> Vec<P> {
    from.iter().map(one).collect()
}

fn pose(from: &Pose2D) -> plain::Pose {
    [from.x, from.y, from.theta]
}

fn waypoint(from: &wire::Waypoint) -> plain::Waypoint {
    plain::Waypoint { pose: pose(&from.pose), radius: from.radius }
}

/// A way.
pub(crate) fn waypoints(from: &wire::Waypoints) -> plain::Waypoints {
    plain::Waypoints { points: all(&from.points, waypoint), mode: from.mode }
}

fn gesture(from: &wire::Gesture) -> plain::Gesture {
    plain::Gesture {
        slot: text(&from.slot),
        at: [from.at.x, from.at.y, from.at.z],
        clip: text(&from.clip),
        hand: text(&from.hand),
        render_pose_override: from.render_pose_override,
    }
}

/// An agent that is asked for, or fed.
pub(crate) fn agent_state(from: &wire::AgentState) -> plain::AgentState {
    plain::AgentState {
        agent_id: from.agent_id,
        name: text(&from.name),
        pose: pose(&from.pose),
        velocity: [from.velocity.x, from.velocity.y],
        desired_velocity: from.desired_velocity,
        radius: from.radius,
        vision_range: from.vision_range,
        vision_fov: from.vision_fov,
        relaxation_time: from.relaxation_time,
        repulsion_strength: from.repulsion_strength,
        repulsion_range: from.repulsion_range,
        max_velocity: from.max_velocity,
        agent_type: text(&from.agent_type),
        waypoints: waypoints(&from.waypoints),
        kind: from.kind,
        animation_state: from.animation_state,
        policy: text(&from.policy),
        policy_params: text(&from.policy_params),
        handedness: text(&from.handedness),
        gestures: all(&from.gestures, gesture),
    }
}

/// External agents.
pub(crate) fn agent_states(from: &wire::AgentStates) -> plain::AgentStates {
    plain::AgentStates {
        stamp_ns: time_from_wire(&from.header.stamp).nanos(),
        agents: all(&from.agents, agent_state),
    }
}

/// A robot.
pub(crate) fn robot_state(from: &wire::RobotState) -> plain::RobotState {
    plain::RobotState { name: text(&from.name), pose: pose(&from.pose), radius: from.radius }
}

/// A robot of `update_robot`, which spells its fields out.
pub(crate) fn robot(name: &WireString, at: &Pose2D, radius: f64) -> plain::RobotState {
    plain::RobotState { name: text(name), pose: pose(at), radius }
}

fn shape(from: &wire::Shape) -> plain::Shape {
    plain::Shape {
        kind: from.type_,
        width: from.width,
        height: from.height,
        radius: from.radius,
        vertices: all(&from.vertices, |vertex| [vertex.x, vertex.y]),
    }
}

fn template(from: &wire::AgentTemplate) -> plain::AgentTemplate {
    plain::AgentTemplate {
        desired_velocity_min: from.desired_velocity_min,
        desired_velocity_max: from.desired_velocity_max,
        agent_radius: from.agent_radius,
        behavior_tree: text(&from.behavior_tree),
        agent_type: text(&from.agent_type),
        sink_affinity: all(&from.sink_affinity, |sink| plain::SinkAffinity {
            sink_name: text(&sink.sink_name),
            weight: sink.weight,
        }),
        kind: from.kind,
        policy: text(&from.policy),
        policy_params: text(&from.policy_params),
    }
}

/// A source.
pub(crate) fn source(from: &wire::SourceConfig) -> plain::SourceConfig {
    plain::SourceConfig {
        name: text(&from.name),
        pose: pose(&from.pose),
        shape: shape(&from.shape),
        kind: from.type_,
        rate_profile: all(&from.rate_profile, |key| plain::RateKeyframe { t: key.t, rate: key.rate }),
        max_concurrent: from.max_concurrent,
        max_total: from.max_total,
        agent: template(&from.agent),
    }
}

/// A sink.
pub(crate) fn sink(from: &wire::SinkConfig) -> plain::SinkConfig {
    plain::SinkConfig {
        name: text(&from.name),
        pose: pose(&from.pose),
        shape: shape(&from.shape),
        absorption_radius: from.absorption_radius,
        capacity: from.capacity,
    }
}

/// All sources and sinks.
pub(crate) fn flow(from: &wire::FlowConfig) -> plain::FlowConfig {
    plain::FlowConfig { sources: all(&from.sources, source), sinks: all(&from.sinks, sink) }
}

/// Walls of `add_walls`.
///
/// # Errors
/// When the arrays differ in length.
pub(crate) fn walls(
    names: &Sequence<WireString>,
    starts: &Sequence<Point32>,
    ends: &Sequence<Point32>,
) -> Result<Vec<Wall>, LengthError> {
    same_length(("starts", starts), ("names", names))?;
    same_length(("ends", ends), ("names", names))?;
    let point = |point: &Point32| [f64::from(point.x), f64::from(point.y)];
    Ok(names
        .iter()
        .zip(starts.iter().zip(ends.iter()))
        .map(|(name, (start, end))| Wall { name: text(name), start: point(start), end: point(end) })
        .collect())
}

/// An obstacle.
pub(crate) fn obstacle(from: &wire::ObstacleConfig) -> plain::ObstacleConfig {
    plain::ObstacleConfig {
        name: text(&from.name),
        pose: pose(&from.pose),
        bb_x: [from.bb_x_min, from.bb_x_max],
        bb_y: [from.bb_y_min, from.bb_y_max],
        bb_z: [from.bb_z_min, from.bb_z_max],
        interaction_types: texts(&from.interaction_types),
        obstacle_type: text(&from.obstacle_type),
    }
}

fn pairs(keys: &Sequence<WireString>, values: &Sequence<f64>) -> Vec<(String, f64)> {
    keys.iter().map(text).zip(values.iter().copied()).collect()
}

/// A world object.
///
/// # Errors
/// When keys and values differ in length.
pub(crate) fn world_object(from: &wire::WorldObjectInfo) -> Result<plain::WorldObjectInfo, LengthError> {
    same_length(("satisfies_values", &from.satisfies_values), ("satisfies_keys", &from.satisfies_keys))?;
    same_length(
        ("formation_param_values", &from.formation_param_values),
        ("formation_param_keys", &from.formation_param_keys),
    )?;
    Ok(plain::WorldObjectInfo {
        object_id: text(&from.object_id),
        kind: text(&from.type_),
        pose: pose(&from.pose),
        capacity: from.capacity,
        satisfies: pairs(&from.satisfies_keys, &from.satisfies_values),
        interaction_radius: from.interaction_radius,
        formation_type: text(&from.formation_type),
        formation_params: pairs(&from.formation_param_keys, &from.formation_param_values),
        seats: all(&from.seats, pose),
    })
}

/// Stamps a header for the engine's frame.
pub(crate) fn write_header(stamp_ns: i64, to: &mut Header) {
    to.stamp = time_to_wire(Time::from_nanos(stamp_ns));
    set_string(&mut to.frame_id, MAP_FRAME);
}

pub(crate) fn write_numbers<T: Copy + SequenceAlloc>(from: &[T], to: &mut Sequence<T>) {
    resize(to, from.len());
    to.copy_from_slice(from);
}

pub(crate) fn write_texts(from: &[String], to: &mut Sequence<WireString>) {
    resize(to, from.len());
    from.iter().zip(to.iter_mut()).for_each(|(from, to)| set_string(to, from));
}

pub(crate) fn write_pose([x, y, theta]: plain::Pose) -> Pose2D {
    Pose2D { x, y, theta }
}

/// The frame of a tick.
pub(crate) fn write_frame(from: &plain::AgentFrame, to: &mut wire::AgentFrame) {
    write_header(from.stamp_ns, &mut to.header);
    write_numbers(&from.agent_id, &mut to.agent_id);
    write_numbers(&from.x, &mut to.x);
    write_numbers(&from.y, &mut to.y);
    write_numbers(&from.theta, &mut to.theta);
    write_numbers(&from.vx, &mut to.vx);
    write_numbers(&from.vy, &mut to.vy);
    write_numbers(&from.desired_velocity, &mut to.desired_velocity);
    write_numbers(&from.radius, &mut to.radius);
    write_numbers(&from.kind, &mut to.kind);
    write_numbers(&from.animation_state, &mut to.animation_state);
    write_numbers(&from.policy_idx, &mut to.policy_idx);
    write_numbers(&from.gait_phase, &mut to.gait_phase);
    write_numbers(&from.gait_cadence, &mut to.gait_cadence);
    write_numbers(&from.interaction_id, &mut to.interaction_id);
    write_numbers(&from.interaction_type, &mut to.interaction_type);
}

/// What changes seldom.
pub(crate) fn write_meta(from: &plain::AgentMeta, to: &mut wire::AgentMeta) {
    write_header(from.stamp_ns, &mut to.header);
    write_texts(&from.policies, &mut to.policies);
    write_numbers(&from.agent_id, &mut to.agent_id);
    write_texts(&from.name, &mut to.name);
    write_texts(&from.handedness, &mut to.handedness);
    write_texts(&from.agent_type, &mut to.agent_type);
}

/// Gestures by owner.
pub(crate) fn write_gestures(from: &plain::AgentGestures, to: &mut wire::AgentGestures) {
    write_header(from.stamp_ns, &mut to.header);
    write_numbers(&from.agent_id, &mut to.agent_id);
    resize(&mut to.gestures, from.gestures.len());
    for (from, to) in from.gestures.iter().zip(to.gestures.iter_mut()) {
        set_string(&mut to.slot, &from.slot);
        let [x, y, z] = from.at;
        to.at = Point { x, y, z };
        set_string(&mut to.clip, &from.clip);
        set_string(&mut to.hand, &from.hand);
        to.render_pose_override = from.render_pose_override;
    }
}

fn write_obstacle(from: &plain::ObstacleConfig) -> wire::ObstacleConfig {
    let ([bb_x_min, bb_x_max], [bb_y_min, bb_y_max], [bb_z_min, bb_z_max]) =
        (from.bb_x, from.bb_y, from.bb_z);
    wire::ObstacleConfig {
        name: from.name.as_str().into(),
        pose: write_pose(from.pose),
        bb_x_min,
        bb_x_max,
        bb_y_min,
        bb_y_max,
        bb_z_min,
        bb_z_max,
        interaction_types: from.interaction_types.iter().map(|name| name.as_str().into()).collect(),
        obstacle_type: from.obstacle_type.as_str().into(),
    }
}

fn write_world_object(from: &plain::WorldObjectInfo) -> wire::WorldObjectInfo {
    let keys = |pairs: &[(String, f64)]| pairs.iter().map(|(key, _)| key.as_str().into()).collect();
    let values = |pairs: &[(String, f64)]| pairs.iter().map(|(_, value)| *value).collect();
    wire::WorldObjectInfo {
        object_id: from.object_id.as_str().into(),
        type_: from.kind.as_str().into(),
        pose: write_pose(from.pose),
        capacity: from.capacity,
        satisfies_keys: keys(&from.satisfies),
        satisfies_values: values(&from.satisfies),
        interaction_radius: from.interaction_radius,
        formation_type: from.formation_type.as_str().into(),
        formation_param_keys: keys(&from.formation_params),
        formation_param_values: values(&from.formation_params),
        seats: from.seats.iter().copied().map(write_pose).collect(),
    }
}

/// Everything static. It changes seldom, so that it is made anew each time.
pub(crate) fn write_geometry(
    stamp_ns: i64,
    walls: &[Wall],
    obstacles: &[plain::ObstacleConfig],
    objects: &[plain::WorldObjectInfo],
) -> wire::WorldGeometry {
    let point = |[x, y]: [f64; 2]| Point32 { x: x as f32, y: y as f32, z: 0.0 };
    let mut to = wire::WorldGeometry {
        wall_names: walls.iter().map(|wall| wall.name.as_str().into()).collect(),
        wall_starts: walls.iter().map(|wall| point(wall.start)).collect(),
        wall_ends: walls.iter().map(|wall| point(wall.end)).collect(),
        obstacles: obstacles.iter().map(write_obstacle).collect(),
        world_objects: objects.iter().map(write_world_object).collect(),
        ..wire::WorldGeometry::default()
    };
    write_header(stamp_ns, &mut to.header);
    to
}

#[cfg(test)]
mod tests {
    use std::slice::from_ref;

    use super::*;

    #[test]
    fn a_frame_of_as_many_agents_is_written_where_the_last_one_was() {
        let frame = |x: f64| plain::AgentFrame {
            stamp_ns: 1_500_000_000,
            agent_id: vec![7, 9],
            x: vec![x, 2.0],
            policy_idx: vec![-1, 0],
            ..plain::AgentFrame::default()
        };
        let mut message = wire::AgentFrame::default();
        write_frame(&frame(1.0), &mut message);
        let place = message.x.as_ptr();
        write_frame(&frame(3.0), &mut message);
        assert_eq!((message.x.as_ptr(), message.x.as_slice()), (place, [3.0, 2.0].as_slice()));
        assert_eq!((message.header.stamp.sec, message.header.stamp.nanosec), (1, 500_000_000));
        assert_eq!(message.policy_idx.as_slice(), [-1, 0]);
        assert_eq!(message.header.frame_id, WireString::from("map"));
    }

    #[test]
    fn walls_of_arrays_that_differ_in_length_are_refused_with_both_lengths() {
        let names: Sequence<WireString> = ["a", "b"].map(WireString::from).into_iter().collect();
        let two: Sequence<Point32> = Sequence::new(2);
        let three: Sequence<Point32> = Sequence::new(3);
        assert_eq!(walls(&names, &two, &two).expect("as long as each other").len(), 2);
        let refused = walls(&names, &three, &two).expect_err("refused").to_string();
        assert!(refused.contains("starts has 3 entries and names has 2"), "{refused}");
        assert!(walls(&names, &two, &three).is_err());
    }

    #[test]
    fn geometry_goes_out_as_it_came_in() {
        let object = plain::WorldObjectInfo {
            object_id: "bench".into(),
            kind: "seat".into(),
            pose: [1.0, 2.0, 3.0],
            capacity: 3,
            satisfies: vec![("rest".into(), 40.0)],
            formation_params: vec![("radius".into(), 0.5)],
            seats: vec![[1.0, 1.0, 0.5]],
            ..plain::WorldObjectInfo::default()
        };
        let box_ = plain::ObstacleConfig {
            name: "desk".into(),
            bb_x: [-1.0, 1.0],
            bb_y: [-0.5, 0.5],
            bb_z: [0.0, 0.7],
            interaction_types: vec!["USE".into()],
            ..plain::ObstacleConfig::default()
        };
        let wall = Wall { name: "north".into(), start: [0.0, 1.5], end: [2.0, 1.5] };
        let sent = write_geometry(0, from_ref(&wall), from_ref(&box_), from_ref(&object));
        assert_eq!(walls(&sent.wall_names, &sent.wall_starts, &sent.wall_ends), Ok(vec![wall]));
        assert_eq!(sent.obstacles.iter().map(obstacle).collect::<Vec<_>>(), [box_]);
        assert_eq!(sent.world_objects.iter().map(world_object).collect::<Vec<_>>(), [Ok(object)]);
    }
}
