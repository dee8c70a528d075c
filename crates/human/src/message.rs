//! The bus messages as plain values, field for field those of `arena_people_msgs`.
//!
//! The layer never sees a ROS type: nodes convert at their edge. This module must never interpret a value; it only
//! carries it. `clone_from` of these types re-uses the allocations of the target, which is what keeps a steady-state
//! tick free of allocations.

use promenade_kernel::Time;

/// Values of [`Pedestrian::animation_state`].
pub mod animation_state {
    /// Standing.
    pub const IDLE: u8 = 0;
    /// Walking.
    pub const WALKING: u8 = 1;
    /// Running.
    pub const RUNNING: u8 = 2;
    /// Fleeing.
    pub const PANIC: u8 = 3;
    /// Startled.
    pub const SURPRISED: u8 = 4;
    /// Interested.
    pub const CURIOUS: u8 = 5;
    /// Menacing.
    pub const THREATENING: u8 = 6;
}

/// Position in metres and orientation as a quaternion, in the frame of the message that carries it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pose {
    /// x, y, z in metres; z is the height of the floor.
    pub position: [f64; 3],
    /// Quaternion in the order x, y, z, w.
    pub orientation: [f64; 4],
}

impl Default for Pose {
    fn default() -> Self {
        Pose { position: [0.0; 3], orientation: [0.0, 0.0, 0.0, 1.0] }
    }
}

impl Pose {
    /// A pose on the floor (z = 0) with a heading in radians.
    #[must_use]
    pub fn planar(x: f64, y: f64, yaw: f64) -> Self {
        let (sin, cos) = (yaw * 0.5).sin_cos();
        Pose { position: [x, y, 0.0], orientation: [0.0, 0.0, sin, cos] }
    }

    /// Heading in (-pi, pi]. The all-zero quaternion that lazy clients send counts as the identity.
    #[must_use]
    pub fn yaw(&self) -> f64 {
        let [x, y, z, w] = self.orientation;
        f64::atan2(2.0 * (w * z + x * y), w * w + x * x - y * y - z * z)
    }

    /// Whether every number is finite.
    #[must_use]
    pub fn is_finite(&self) -> bool {
        self.position.iter().chain(&self.orientation).all(|v| v.is_finite())
    }
}

/// Velocities in the world frame, m/s and rad/s.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Twist {
    /// Linear velocity.
    pub linear: [f64; 3],
    /// Angular velocity.
    pub angular: [f64; 3],
}

impl Twist {
    /// Whether every number is finite.
    #[must_use]
    pub fn is_finite(&self) -> bool {
        self.linear.iter().chain(&self.angular).all(|v| v.is_finite())
    }
}

/// One attention channel of a person.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Gesture {
    /// `head`, `arm`, `arm_l`, `arm_r` or `body`.
    pub slot: String,
    /// World-frame target of an aimed slot.
    pub at: [f64; 3],
    /// Clip name, for `body`.
    pub clip: String,
    /// Dominant hand `l` or `r`, for `arm`; empty = default.
    pub hand: String,
    /// For `body`: `at` is a render-only position and not a target.
    pub render_pose_override: bool,
}

/// `sensor_msgs/JointState`. No names means "to be synthesised".
#[derive(Debug, Default, PartialEq)]
pub struct JointState {
    /// Header stamp.
    pub stamp: Time,
    /// Header frame.
    pub frame_id: String,
    /// Joint names.
    pub name: Vec<String>,
    /// Positions in radians, aligned with `name`.
    pub position: Vec<f64>,
    /// Velocities, often empty.
    pub velocity: Vec<f64>,
    /// Efforts, often empty.
    pub effort: Vec<f64>,
}

impl JointState {
    /// Makes the state "to be synthesised" and keeps its allocations.
    pub fn clear(&mut self) {
        self.stamp = Time::ZERO;
        self.frame_id.clear();
        self.name.clear();
        self.position.clear();
        self.velocity.clear();
        self.effort.clear();
    }
}

impl Clone for JointState {
    fn clone(&self) -> Self {
        let mut copy = JointState::default();
        copy.clone_from(self);
        copy
    }

    fn clone_from(&mut self, source: &Self) {
        self.stamp = source.stamp;
        self.frame_id.clone_from(&source.frame_id);
        self.name.clone_from(&source.name);
        self.position.clone_from(&source.position);
        self.velocity.clone_from(&source.velocity);
        self.effort.clone_from(&source.effort);
    }
}

/// `arena_people_msgs/Pedestrian`.
#[derive(Debug, Default, PartialEq)]
pub struct Pedestrian {
    /// Name on the bus.
    pub name: String,
    /// Per-run id; keys gait phase and body ids.
    pub id: u32,
    /// Pose in `map`, z = floor height.
    pub pose: Pose,
    /// World-frame velocity.
    pub twist: Twist,
    /// See [`animation_state`].
    pub animation_state: u8,
    /// Active attention channels.
    pub gestures: Vec<Gesture>,
    /// Upstream override of the joints; no names = to be synthesised.
    pub joint_state: JointState,
    /// Gait cycle phase in radians, monotonic; 0 = unknown.
    pub gait_phase: f32,
    /// Gait cycles per second; 0 = unknown.
    pub gait_cadence: f32,
    /// Agent type name or file; empty = default.
    pub agent_type: String,
    /// Local SDF path of the actor.
    pub model_uri: String,
}

impl Clone for Pedestrian {
    fn clone(&self) -> Self {
        let mut copy = Pedestrian::default();
        copy.clone_from(self);
        copy
    }

    fn clone_from(&mut self, source: &Self) {
        self.name.clone_from(&source.name);
        self.id = source.id;
        self.pose = source.pose;
        self.twist = source.twist;
        self.animation_state = source.animation_state;
        self.gestures.clone_from(&source.gestures);
        self.joint_state.clone_from(&source.joint_state);
        self.gait_phase = source.gait_phase;
        self.gait_cadence = source.gait_cadence;
        self.agent_type.clone_from(&source.agent_type);
        self.model_uri.clone_from(&source.model_uri);
    }
}

impl Pedestrian {
    /// Speed along the own heading in m/s; negative when walking backwards.
    #[must_use]
    pub fn signed_speed(&self) -> f64 {
        let (sin, cos) = self.pose.yaw().sin_cos();
        self.twist.linear[0] * cos + self.twist.linear[1] * sin
    }
}

/// `arena_people_msgs/Pedestrians`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Pedestrians {
    /// Header stamp.
    pub stamp: Time,
    /// Header frame.
    pub frame_id: String,
    /// The people.
    pub pedestrians: Vec<Pedestrian>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn yaw_of_a_planar_pose_is_the_yaw_it_was_made_with() {
        for yaw in [-3.1, -1.0, 0.0, 0.5, 3.0] {
            assert!((Pose::planar(1.0, 2.0, yaw).yaw() - yaw).abs() < 1e-12);
        }
    }

    #[test]
    fn the_zero_quaternion_faces_along_x() {
        let pose = Pose { orientation: [0.0; 4], ..Pose::default() };
        assert_eq!(pose.yaw(), 0.0);
    }

    #[test]
    fn signed_speed_is_negative_when_walking_backwards() {
        let mut ped = Pedestrian { pose: Pose::planar(0.0, 0.0, 1.0), ..Pedestrian::default() };
        ped.twist.linear = [-(1.0f64.cos()), -(1.0f64.sin()), 0.0];
        assert!((ped.signed_speed() + 1.0).abs() < 1e-12);
    }
}
