//! What the node knows of one body, and how a pedestrian of the bus becomes it.
//!
//! Wire names are bare and shoulders anatomical; here they become suffixed names and URDF values (ROS4HRI projection,
//! sections 4.3 and 6.2). Numbers that are not finite never leave this module: a joint counts as 0, a pose stays.

use arena_people_msgs::msg::rmw::Pedestrian;
use builtin_interfaces::msg::rmw::Time as WireTime;
use promenade_gait::rig::{Rig, Transform, wire_to_urdf_where};
use promenade_gait::{GaitInput, GaitPool, JOINT_COUNT, Joint, Pose40, PoseProfile};
use promenade_kernel::Time;
use rosidl_runtime_rs::{Sequence, String as WireString};
use sensor_msgs::msg::rmw::JointState;

use super::roster::has_position;
use crate::bus::{read_string, resize, set_string};

/// Time step of a fallback gait whose last stamp is not known, seconds.
const FIRST_STEP: f64 = 0.1;
/// Marks a joint of the message that is not sent on: a second value of a joint of the contract.
const NOWHERE: usize = usize::MAX;

/// One body.
#[derive(Debug)]
pub(crate) struct Body {
    pub(crate) rig: Rig,
    /// Height of the root above the person's position, metres.
    lift: f64,
    /// Where the root link is.
    pub(crate) root: Transform,
    /// Speed over ground, m/s.
    pub(crate) speed: f64,
    /// `animation_state`.
    pub(crate) state: u8,
    /// `Pedestrian.name`.
    pub(crate) name: String,
    wire_name: WireString,
    /// Frame of the person's view.
    pub(crate) gaze_frame: String,
    /// Joint angles as the URDF declares them.
    pub(crate) urdf: Pose40,
    /// The outgoing joint states: the 40 of the contract, then others in the order they came in.
    pub(crate) joints: JointState,
    /// Bare names of those others.
    others: Vec<WireString>,
    /// Where each joint of the message goes.
    targets: Vec<usize>,
    /// Stamp of the last posture that the node made itself.
    made_at: Option<Time>,
    /// Last engagement and when it was sent.
    pub(crate) engagement: Option<(u8, Time)>,
}

impl Body {
    /// A body `id` whose root lies `root_drop` metres above the place of the hips.
    pub(crate) fn new(id: &str, rig: Rig, root_drop: f64) -> Self {
        let joints = JointState { position: Sequence::new(JOINT_COUNT), ..JointState::default() };
        let mut body = Body {
            lift: rig.hip_height() + root_drop,
            rig,
            root: Transform::IDENTITY,
            speed: 0.0,
            state: 0,
            name: String::new(),
            wire_name: WireString::default(),
            gaze_frame: format!("gaze_{id}"),
            urdf: [0.0; JOINT_COUNT],
            joints,
            others: Vec::new(),
            targets: Vec::new(),
            made_at: None,
            engagement: None,
        };
        body.write_names(id);
        body
    }

    /// Forgets the last stamp: the bus was not read for a while, and the next step is not that long.
    pub(crate) fn pause(&mut self) {
        self.made_at = None;
    }

    /// Takes over pose, speed, state and name. Answers whether the name changed.
    pub(crate) fn read(&mut self, pedestrian: &Pedestrian) -> bool {
        if has_position(pedestrian) {
            let (p, q) = (&pedestrian.pose.position, &pedestrian.pose.orientation);
            self.root = Transform::from_pose([p.x, p.y, p.z + self.lift], [q.x, q.y, q.z, q.w]);
        }
        let speed = pedestrian.twist.linear.x.hypot(pedestrian.twist.linear.y);
        self.speed = if speed.is_finite() { speed } else { 0.0 };
        self.state = pedestrian.animation_state;
        let renamed = self.wire_name != pedestrian.name;
        if renamed {
            self.wire_name = pedestrian.name.clone();
            read_string(&pedestrian.name, &mut self.name);
        }
        renamed
    }

    /// Takes over the posture, or makes one when the message has none.
    pub(crate) fn pose(
        &mut self,
        id: &str,
        pedestrian: &Pedestrian,
        stamp: Time,
        gait: &mut GaitPool,
        profile: &PoseProfile,
    ) {
        let from = &pedestrian.joint_state;
        if from.name.is_empty() {
            let dt = match self.made_at.replace(stamp) {
                // A clock that went back takes no step.
                Some(before) => ((stamp.nanos() - before.nanos()) as f64 * 1e-9).max(0.0),
                None => FIRST_STEP,
            };
            let input = GaitInput { state: self.state, speed: self.speed, dt, phase_override: None };
            let mut wire = [0.0; JOINT_COUNT];
            gait.advance_one(pedestrian.id, &input, profile, &mut wire);
            self.urdf = wire_to_urdf_where(&wire, |_| true);
            if !self.others.is_empty() {
                self.others.clear();
                self.write_names(id);
            }
            resize(&mut self.joints.position, JOINT_COUNT);
            resize(&mut self.joints.velocity, 0);
            resize(&mut self.joints.effort, 0);
            self.joints.position.copy_from_slice(&self.urdf);
            return;
        }
        self.made_at = None;
        self.forward(id, from);
    }

    fn forward(&mut self, id: &str, from: &JointState) {
        let mut has = [false; JOINT_COUNT];
        let mut others = 0;
        let mut others_changed = false;
        self.targets.clear();
        for (index, name) in from.name.iter().enumerate() {
            let target = match parse(index, name) {
                Some(joint) if has[joint.index()] => NOWHERE,
                Some(joint) => {
                    has[joint.index()] = true;
                    joint.index()
                }
                None => {
                    others_changed |= self.others.get(others) != Some(name);
                    if others_changed {
                        self.others.truncate(others);
                        self.others.push(name.clone());
                    }
                    others += 1;
                    JOINT_COUNT + others - 1
                }
            };
            self.targets.push(target);
        }
        if others_changed || others != self.others.len() {
            self.others.truncate(others);
            self.write_names(id);
        }

        let length = JOINT_COUNT + others;
        let mut wire = [0.0; JOINT_COUNT];
        resize(&mut self.joints.position, length);
        let out = self.joints.position.as_mut_slice();
        for (index, target) in self.targets.iter().enumerate() {
            let value = finite(from.position.get(index).copied().unwrap_or(0.0));
            if let Some(joint) = wire.get_mut(*target) {
                *joint = value;
            } else if let Some(other) = out.get_mut(*target) {
                *other = value;
            }
        }
        self.urdf = wire_to_urdf_where(&wire, |joint| has[joint.index()]);
        out[..JOINT_COUNT].copy_from_slice(&self.urdf);

        scatter(&from.velocity, &self.targets, length, &mut self.joints.velocity);
        scatter(&from.effort, &self.targets, length, &mut self.joints.effort);
        if !self.joints.velocity.is_empty() {
            turn_shoulders(&wire, &self.urdf, &has, &mut self.joints.velocity);
        }
    }

    fn write_names(&mut self, id: &str) {
        use std::fmt::Write as _;

        resize(&mut self.joints.name, JOINT_COUNT + self.others.len());
        let (contract, others) = self.joints.name.split_at_mut(JOINT_COUNT);
        let mut text = String::with_capacity(48);
        for (name, out) in Joint::NAMES.iter().zip(contract) {
            text.clear();
            // Writing to a string cannot fail.
            let _ = write!(text, "{name}_{id}");
            set_string(out, &text);
        }
        for (name, out) in self.others.iter().zip(others) {
            read_string(name, &mut text);
            text.push('_');
            text.push_str(id);
            set_string(out, &text);
        }
    }

    /// Stamps the joint states.
    pub(crate) fn stamp(&mut self, stamp: &WireTime) {
        self.joints.header.stamp = stamp.clone();
    }
}

/// The joint of a wire name. Most messages have the contract's order, which is compared first.
fn parse(index: usize, name: &WireString) -> Option<Joint> {
    let expected = Joint::from_index(index);
    if let Some(joint) = expected {
        let bytes = joint.name().as_bytes();
        if name.len() == bytes.len() && name.iter().zip(bytes).all(|(&c, &b)| c as u8 == b) {
            return expected;
        }
    }
    // A name with a zero inside is none of ours, and ends there in C.
    name.to_cstr().to_str().ok().filter(|text| text.len() == name.len()).and_then(Joint::parse)
}

fn finite(value: f64) -> f64 {
    if value.is_finite() { value } else { 0.0 }
}

/// Brings values to the outgoing order; those of another length than the names are left out.
fn scatter(from: &[f64], targets: &[usize], length: usize, to: &mut Sequence<f64>) {
    if from.is_empty() || from.len() != targets.len() {
        resize(to, 0);
        return;
    }
    resize(to, length);
    to.fill(0.0);
    for (value, target) in from.iter().zip(targets) {
        if let Some(out) = to.get_mut(*target) {
            *out = finite(*value);
        }
    }
}

/// Velocities of the shoulders in URDF angles. The map of the angles is linear: left azimuth and twist count the other
/// way round, and on the branch that turns the flexion about so does it.
fn turn_shoulders(wire: &Pose40, urdf: &Pose40, has: &[bool; JOINT_COUNT], velocity: &mut [f64]) {
    const SHOULDERS: [([Joint; 3], bool); 2] = [
        ([Joint::LYShoulder, Joint::LPShoulder, Joint::LRShoulder], true),
        ([Joint::RYShoulder, Joint::RPShoulder, Joint::RRShoulder], false),
    ];
    for (triple, left) in SHOULDERS {
        let [y, p, r] = triple.map(Joint::index);
        if !(has[y] && has[p] && has[r]) {
            continue;
        }
        if left {
            velocity[y] = -velocity[y];
            velocity[r] = -velocity[r];
        }
        if wire[p].to_bits() != urdf[p].to_bits() {
            velocity[p] = -velocity[p];
        }
    }
}

#[cfg(test)]
mod tests {
    use std::f64::consts::FRAC_PI_2;

    use super::*;

    fn body() -> Body {
        Body::new("env_0_agent_1", Rig::default(), 0.0)
    }

    fn pedestrian(names: &[&str], positions: &[f64]) -> Pedestrian {
        let mut pedestrian = Pedestrian { id: 1, ..Pedestrian::default() };
        let names: Vec<WireString> = names.iter().map(|name| WireString::from(*name)).collect();
        pedestrian.joint_state.name = names.into();
        pedestrian.joint_state.position = positions.to_vec().into();
        pedestrian
    }

    fn pose(body: &mut Body, pedestrian: &Pedestrian, seconds: f64, gait: &mut GaitPool) {
        let profile = PoseProfile::default();
        body.read(pedestrian);
        body.pose("env_0_agent_1", pedestrian, Time::from_secs_f64(seconds), gait, &profile);
    }

    fn names(body: &Body) -> Vec<String> {
        body.joints.name.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn forty_suffixed_names_with_urdf_shoulders() {
        let mut body = body();
        let values: Vec<f64> = (0..40).map(|i| f64::from(i) * 0.01).collect();
        pose(&mut body, &pedestrian(&Joint::NAMES, &values), 0.0, &mut GaitPool::default());
        assert_eq!(body.joints.name.len(), 40);
        assert_eq!(names(&body)[0], "r_waist_env_0_agent_1");
        let at = |joint: Joint| body.joints.position[joint.index()];
        assert_eq!(at(Joint::RWaist), 0.0);
        assert_eq!(at(Joint::RWrist), 0.39);
        assert_eq!(at(Joint::LYShoulder), FRAC_PI_2 - 0.14);
        assert_eq!(at(Joint::LPShoulder), 0.15);
        assert_eq!(at(Joint::LRShoulder), FRAC_PI_2 - 0.16);
        assert_eq!(at(Joint::RYShoulder), FRAC_PI_2 + 0.20);
        assert!(body.joints.velocity.is_empty() && body.joints.effort.is_empty());
    }

    #[test]
    fn older_streams_are_filled_with_zero_and_wheels_come_after_the_forty() {
        let mut body = body();
        let mut gait = GaitPool::default();
        let spine = |name: &&&str| !name.contains("spine") && !name.contains("chest");
        let mut older: Vec<&str> = Joint::NAMES.iter().filter(spine).copied().collect();
        older.truncate(24);
        older.push("l_wheel");
        older.push("r_wheel");
        let mut values = vec![0.25; 24];
        values.extend([7.0, 8.0]);
        pose(&mut body, &pedestrian(&older, &values), 0.0, &mut gait);
        assert_eq!(names(&body)[40..], ["l_wheel_env_0_agent_1", "r_wheel_env_0_agent_1"]);
        assert_eq!(body.joints.position[40..], [7.0, 8.0]);
        assert_eq!(body.urdf[Joint::Spine.index()], 0.0);
        assert_eq!(body.urdf[Joint::Waist.index()], 0.25);

        let wristless: Vec<&str> = Joint::NAMES[..36].to_vec();
        pose(&mut body, &pedestrian(&wristless, &[0.5; 36]), 0.1, &mut gait);
        assert_eq!(body.joints.name.len(), 40);
        assert_eq!(body.joints.position[36..], [0.0; 4]);
        assert_eq!(body.urdf[35], 0.5);
    }

    #[test]
    fn an_incomplete_shoulder_passes_unchanged() {
        let mut body = body();
        pose(
            &mut body,
            &pedestrian(&["l_p_shoulder", "l_elbow"], &[0.4, 0.5]),
            0.0,
            &mut GaitPool::default(),
        );
        assert_eq!(body.urdf[Joint::LPShoulder.index()], 0.4);
        assert_eq!(body.urdf[Joint::LYShoulder.index()], 0.0);
    }

    #[test]
    fn velocities_follow_their_joints_and_efforts_of_another_length_are_left_out() {
        let mut body = body();
        let mut ped = pedestrian(&Joint::NAMES, &[0.1; 40]);
        ped.joint_state.velocity = vec![1.0; 40].into();
        ped.joint_state.effort = vec![1.0; 3].into();
        pose(&mut body, &ped, 0.0, &mut GaitPool::default());
        for joint in Joint::ALL {
            let sign = if matches!(joint, Joint::LYShoulder | Joint::LRShoulder) { -1.0 } else { 1.0 };
            assert_eq!(body.joints.velocity[joint.index()], sign, "{joint:?}");
        }
        assert!(body.joints.effort.is_empty());
    }

    #[test]
    fn nothing_that_is_not_a_number_gets_through() {
        let mut body = body();
        let mut ped = pedestrian(
            &["waist", "waist", "\u{e9}\u{1F600}", "wheel\0x", ""],
            &[f64::NAN, 1.0, f64::INFINITY],
        );
        ped.twist.linear.x = f64::NAN;
        pose(&mut body, &ped, 0.0, &mut GaitPool::default());
        assert_eq!(body.joints.name.len(), 43);
        assert!(body.joints.position.iter().all(|value| *value == 0.0));
        assert_eq!(body.speed, 0.0);

        ped.pose.position.x = 3.0;
        body.read(&ped);
        ped.pose.position.x = f64::NAN;
        body.read(&ped);
        assert_eq!(body.root.translation, [3.0, 0.0, 0.77]);
    }

    #[test]
    fn a_body_without_joints_walks_by_itself_and_long_gaps_take_one_short_step() {
        let mut body = body();
        let mut gait = GaitPool::default();
        let mut ped = pedestrian(&[], &[]);
        ped.animation_state = 1;
        ped.twist.linear.x = 1.2;
        let step = |seconds: f64, ped: &Pedestrian, body: &mut Body, gait: &mut GaitPool| {
            let before = gait.phase(1).unwrap_or_else(|| promenade_gait::initial_phase(1));
            pose(body, ped, seconds, gait);
            gait.phase(1).unwrap_or(before) - before
        };
        let first = step(5.0, &ped, &mut body, &mut gait);
        let second = step(5.1, &ped, &mut body, &mut gait);
        assert!(first > 0.0 && (first - second).abs() < 1e-9);
        assert_eq!(step(4.0, &ped, &mut body, &mut gait), 0.0);
        assert!(body.urdf[Joint::LRHip.index()] != 0.0);

        let given = pedestrian(&Joint::NAMES, &[0.0; 40]);
        step(6.0, &given, &mut body, &mut gait);
        let after = step(600.0, &ped, &mut body, &mut gait);
        assert!((after - first).abs() < 1e-9);
    }
}
