//! The engine's messages in the encoding of ROS 2, field by field.

use arena_humansim_msgs::msg::rmw as wire;
use geometry_msgs::msg::rmw::{Point, Point32, Pose2D};
use promenade_recording::cdr::Encoder;
use rosgraph_msgs::msg::rmw::Clock;
use rosidl_runtime_rs::{Sequence, SequenceAlloc, String as WireString};
use std_msgs::msg::rmw::Header;

/// What can be encoded.
pub(super) trait Encode {
    /// Appends its bytes.
    fn encode(&self, to: &mut Encoder);
}

/// A message that is recorded.
pub(super) trait Recorded: Encode {
    /// Name of its type.
    const TYPE: &'static str;
}

macro_rules! numbers {
    ($($kind:ty),*) => {$(
        impl Encode for $kind {
            fn encode(&self, to: &mut Encoder) {
                to.number(*self);
            }
        }
    )*};
}

numbers!(bool, u8, i16, i32, u32, f32, f64);

impl Encode for WireString {
    fn encode(&self, to: &mut Encoder) {
        to.text_of(self.iter().map(|byte| *byte as u8));
    }
}

impl<T: Encode + SequenceAlloc> Encode for Sequence<T> {
    fn encode(&self, to: &mut Encoder) {
        to.length(self.len());
        self.iter().for_each(|item| item.encode(to));
    }
}

/// Encodes the fields of a message in their order.
macro_rules! message {
    ($kind:ty: $($field:ident),*) => {
        impl Encode for $kind {
            fn encode(&self, to: &mut Encoder) {
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

macro_rules! recorded {
    ($($kind:ty: $name:literal),*) => {$(
        impl Recorded for $kind {
            const TYPE: &'static str = $name;
        }
    )*};
}

recorded!(
    Clock: "rosgraph_msgs/msg/Clock",
    wire::AgentFrame: "arena_humansim_msgs/msg/AgentFrame",
    wire::AgentMeta: "arena_humansim_msgs/msg/AgentMeta",
    wire::AgentGestures: "arena_humansim_msgs/msg/AgentGestures",
    wire::WorldGeometry: "arena_humansim_msgs/msg/WorldGeometry"
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
        let mut encoder = Encoder::default();
        meta.encode(encoder.begin());
        let bytes = encoder.bytes().to_vec();
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
        object.encode(encoder.begin());
        let bytes = encoder.bytes();
        // Two empty texts take 5 bytes each and 3 in between; x begins at the next multiple of eight.
        assert_eq!(bytes[4 + 16..4 + 24], 1.0_f64.to_le_bytes());
    }
}
