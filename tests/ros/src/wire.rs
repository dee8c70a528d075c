//! Messages, their parts, and the joint contract as the specification spells it.

use r2r::arena_people_msgs::msg::{Pedestrian, Pedestrians};
use r2r::builtin_interfaces::msg::Time;
use r2r::geometry_msgs::msg::{Point, Pose, Quaternion};
use r2r::sensor_msgs::msg::JointState;
use r2r::std_msgs::msg::Header;

use crate::SECOND;

/// The 40 joints in wire order (human-layer specification, section 8); typed here, not taken from the code under test.
pub const JOINTS: [&str; 40] = [
    "r_waist",
    "y_waist",
    "waist",
    "r_spine",
    "y_spine",
    "spine",
    "r_chest",
    "y_chest",
    "chest",
    "r_head",
    "y_head",
    "p_head",
    "l_y_collar",
    "l_p_collar",
    "l_y_shoulder",
    "l_p_shoulder",
    "l_r_shoulder",
    "l_elbow",
    "r_y_collar",
    "r_p_collar",
    "r_y_shoulder",
    "r_p_shoulder",
    "r_r_shoulder",
    "r_elbow",
    "l_y_hip",
    "l_p_hip",
    "l_r_hip",
    "l_knee",
    "r_y_hip",
    "r_p_hip",
    "r_r_hip",
    "r_knee",
    "l_y_ankle",
    "l_ankle",
    "r_y_ankle",
    "r_ankle",
    "l_r_wrist",
    "l_wrist",
    "r_r_wrist",
    "r_wrist",
];

/// A stamp from nanoseconds.
///
/// # Panics
/// Outside the 32 bits of the message.
#[must_use]
pub fn stamp(nanos: i64) -> Time {
    Time {
        sec: i32::try_from(nanos.div_euclid(SECOND)).expect("seconds fit into 32 bits"),
        nanosec: u32::try_from(nanos.rem_euclid(SECOND)).expect("a remainder of a second"),
    }
}

/// Nanoseconds of a stamp.
#[must_use]
pub fn nanos(stamp: &Time) -> i64 {
    i64::from(stamp.sec) * SECOND + i64::from(stamp.nanosec)
}

/// A pose on the floor, facing along x.
#[must_use]
pub fn pose(x: f64, y: f64) -> Pose {
    Pose { position: Point { x, y, z: 0.0 }, orientation: Quaternion { x: 0.0, y: 0.0, z: 0.0, w: 1.0 } }
}

/// A person at a place, with an empty joint state.
#[must_use]
pub fn person(name: &str, x: f64, y: f64) -> Pedestrian {
    Pedestrian { name: name.to_owned(), pose: pose(x, y), ..Pedestrian::default() }
}

/// A person at a place whose joints carry one value: what the layer never makes by itself, so that it shows on the bus
/// whether the stream owns the person.
#[must_use]
pub fn marked(name: &str, x: f64, y: f64) -> Pedestrian {
    let joint_state =
        JointState { name: vec!["waist".to_owned()], position: vec![0.25], ..JointState::default() };
    Pedestrian { joint_state, ..person(name, x, y) }
}

/// True when the stream owns a person whom it sent as [`marked`].
#[must_use]
pub fn is_marked(person: &Pedestrian) -> bool {
    person.joint_state.name == ["waist"]
}

/// A message of people.
#[must_use]
pub fn people(at: i64, pedestrians: Vec<Pedestrian>) -> Pedestrians {
    Pedestrians { header: Header { stamp: stamp(at), frame_id: "map".to_owned() }, pedestrians }
}

/// The person of that name in a message.
#[must_use]
pub fn find<'m>(message: &'m Pedestrians, name: &str) -> Option<&'m Pedestrian> {
    message.pedestrians.iter().find(|person| person.name == name)
}

/// Where somebody is.
#[must_use]
pub fn place(person: &Pedestrian) -> [f64; 2] {
    [person.pose.position.x, person.pose.position.y]
}
