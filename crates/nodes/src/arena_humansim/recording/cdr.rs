//! Recorded messages in the encoding of ROS 2 (classic CDR, little endian), and their definitions.
//!
//! A number is aligned to its size, counted from behind the four bytes that name the encoding.

use arena_humansim_msgs::msg::rmw as wire;
use geometry_msgs::msg::rmw::{Point, Point32, Pose2D};
use rosgraph_msgs::msg::rmw::Clock;
use rosidl_runtime_rs::{Sequence, SequenceAlloc, String as WireString};
use std_msgs::msg::rmw::Header;

/// Little-endian CDR.
const ENCAPSULATION: [u8; 4] = [0, 1, 0, 0];

/// Bytes of one message; used again for the next.
#[derive(Debug, Default)]
pub(super) struct Cdr(Vec<u8>);

impl Cdr {
    /// Encodes a message anew.
    pub(super) fn encode(&mut self, message: &impl Encode) -> &[u8] {
        self.0.clear();
        self.0.extend_from_slice(&ENCAPSULATION);
        message.encode(self);
        &self.0
    }

    fn raw<const N: usize>(&mut self, bytes: [u8; N]) {
        let behind = self.0.len() - ENCAPSULATION.len();
        self.0.resize(self.0.len() + behind.next_multiple_of(N) - behind, 0);
        self.0.extend_from_slice(&bytes);
    }

    fn length(&mut self, length: usize) {
        // A sequence of more than four thousand million items fits into no message.
        self.raw(u32::try_from(length).unwrap_or(u32::MAX).to_le_bytes());
    }
}

/// What can be encoded.
pub(super) trait Encode {
    /// Appends its bytes.
    fn encode(&self, to: &mut Cdr);
}

/// A message that is recorded.
pub(super) trait Recorded: Encode {
    /// Name of its type.
    const TYPE: &'static str;
    /// Its definition, followed by those of the messages it holds.
    fn definition() -> String;
}

macro_rules! numbers {
    ($($kind:ty),*) => {$(
        impl Encode for $kind {
            fn encode(&self, to: &mut Cdr) {
                to.raw(self.to_le_bytes());
            }
        }
    )*};
}

numbers!(u8, i16, i32, u32, f32, f64);

impl Encode for bool {
    fn encode(&self, to: &mut Cdr) {
        to.raw([u8::from(*self)]);
    }
}

impl Encode for WireString {
    fn encode(&self, to: &mut Cdr) {
        to.length(self.len() + 1);
        to.0.extend(self.iter().map(|byte| *byte as u8));
        to.0.push(0);
    }
}

impl<T: Encode + SequenceAlloc> Encode for Sequence<T> {
    fn encode(&self, to: &mut Cdr) {
        to.length(self.len());
        self.iter().for_each(|item| item.encode(to));
    }
}

/// Encodes the fields of a message in their order.
macro_rules! message {
    ($kind:ty: $($field:ident),*) => {
        impl Encode for $kind {
            fn encode(&self, to: &mut Cdr) {
                $(self.$field.encode(to);)*
            }
        }
    };
}

message!(builtin_interfaces::msg::rmw::Time: sec, nanosec);
message!(Header: stamp, frame_id);
message!(Clock: clock);
message!(Point: x, y, z);
message!(Point32: x, y, z);
message!(Pose2D: x, y, theta);
message!(wire::Gesture: slot, at, clip, hand, render_pose_override);
message!(wire::AgentGestures: header, agent_id, gestures);
message!(wire::AgentMeta: header, policies, agent_id, name, handedness, agent_type);
message!(wire::AgentFrame: header, agent_id, x, y, theta, vx, vy, desired_velocity, radius, kind, animation_state,
    policy_idx, gait_phase, gait_cadence, interaction_id, interaction_type);
message!(wire::ObstacleConfig: name, pose, bb_x_min, bb_x_max, bb_y_min, bb_y_max, bb_z_min, bb_z_max,
    interaction_types, obstacle_type);
message!(wire::WorldObjectInfo: object_id, type_, pose, capacity, satisfies_keys, satisfies_values,
    interaction_radius, formation_type, formation_param_keys, formation_param_values, seats);
message!(wire::WorldGeometry: header, wall_names, wall_starts, wall_ends, obstacles, world_objects);

/// Text of one of our message files.
macro_rules! ours {
    ($name:literal) => {
        (
            concat!("arena_humansim_msgs/", $name),
            include_str!(concat!("../../../../../msgs/arena_humansim_msgs/msg/", $name, ".msg")),
        )
    };
}

const TIME: (&str, &str) = ("builtin_interfaces/Time", "int32 sec\nuint32 nanosec\n");
const HEADER: (&str, &str) = ("std_msgs/Header", "builtin_interfaces/Time stamp\nstring frame_id\n");
const POINT: (&str, &str) = ("geometry_msgs/Point", "float64 x\nfloat64 y\nfloat64 z\n");
const POINT32: (&str, &str) = ("geometry_msgs/Point32", "float32 x\nfloat32 y\nfloat32 z\n");
const POSE2D: (&str, &str) = ("geometry_msgs/Pose2D", "float64 x\nfloat64 y\nfloat64 theta\n");

fn joined(own: &str, parts: &[(&str, &str)]) -> String {
    let rule = "=".repeat(80);
    parts.iter().fold(own.to_owned(), |text, (name, part)| format!("{text}\n{rule}\nMSG: {name}\n{part}"))
}

macro_rules! recorded {
    ($kind:ty, $name:literal, $own:expr, [$($part:expr),*]) => {
        impl Recorded for $kind {
            const TYPE: &'static str = $name;

            fn definition() -> String {
                joined($own, &[$($part),*])
            }
        }
    };
}

recorded!(Clock, "rosgraph_msgs/msg/Clock", "builtin_interfaces/Time clock\n", [TIME]);
recorded!(wire::AgentFrame, "arena_humansim_msgs/msg/AgentFrame", ours!("AgentFrame").1, [HEADER, TIME]);
recorded!(wire::AgentMeta, "arena_humansim_msgs/msg/AgentMeta", ours!("AgentMeta").1, [HEADER, TIME]);
recorded!(
    wire::AgentGestures,
    "arena_humansim_msgs/msg/AgentGestures",
    ours!("AgentGestures").1,
    [HEADER, TIME, ours!("Gesture"), POINT]
);
recorded!(
    wire::WorldGeometry,
    "arena_humansim_msgs/msg/WorldGeometry",
    ours!("WorldGeometry").1,
    [HEADER, TIME, POINT32, ours!("ObstacleConfig"), ours!("WorldObjectInfo"), POSE2D]
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_aligned_to_their_size_behind_the_encapsulation() {
        let mut meta = wire::AgentMeta::default();
        meta.header.stamp.sec = 1;
        meta.header.frame_id = "map".into();
        meta.policies = ["a"].map(WireString::from).into_iter().collect();
        let mut cdr = Cdr::default();
        let bytes = cdr.encode(&meta).to_vec();
        let expected: Vec<u8> = [
            vec![0, 1, 0, 0],                            // little-endian CDR
            vec![1, 0, 0, 0, 0, 0, 0, 0],                // stamp
            vec![4, 0, 0, 0, b'm', b'a', b'p', 0],       // frame_id
            vec![1, 0, 0, 0, 2, 0, 0, 0, b'a', 0, 0, 0], // policies, and to the next multiple of four
            vec![0; 16],                                 // four empty sequences
        ]
        .concat();
        assert_eq!(bytes, expected);

        let pose = Pose2D { x: 1.0, y: 0.0, theta: 0.0 };
        let object = wire::WorldObjectInfo { pose, ..wire::WorldObjectInfo::default() };
        let bytes = cdr.encode(&object).to_vec();
        // Two empty texts take 5 bytes each and 3 in between; x begins at the next multiple of eight.
        assert_eq!(bytes[4 + 16..4 + 24], 1.0_f64.to_le_bytes());
    }

    #[test]
    fn a_definition_brings_those_of_all_it_holds() {
        let text = <wire::WorldGeometry as Recorded>::definition();
        for part in
            ["std_msgs/Header", "builtin_interfaces/Time", "geometry_msgs/Point32", "geometry_msgs/Pose2D"]
        {
            assert!(text.contains(&format!("MSG: {part}\n")), "{part}");
        }
        assert!(
            text.contains("MSG: arena_humansim_msgs/ObstacleConfig\n")
                && text.contains("string[] wall_names")
        );
    }
}
