//! `arena_people_msgs/Pedestrians` between the wire and the layer.
//!
//! Both directions re-use what they fill: a frame of a thousand people is 40 000 joint names, and none of them may be
//! allocated again per tick. Strings from outside may hold any bytes; what is not UTF-8 becomes U+FFFD.

use arena_people_msgs::msg::rmw as wire;
use builtin_interfaces::msg::rmw::Time as WireTime;
use geometry_msgs::msg::rmw as geometry;
use promenade_gait::{JOINT_COUNT, Joint};
use promenade_human::message::{Gesture, JointState, Pedestrian, Pedestrians, Pose, Twist};
use promenade_human::{BusFrame, MAP_FRAME};
use promenade_kernel::Time;
use rosidl_runtime_rs::{Sequence, SequenceAlloc, String as WireString};

const NANOS: i64 = 1_000_000_000;

/// A stamp from the wire. Any field values are legal; the sum cannot overflow.
#[must_use]
pub fn time_from_wire(stamp: &WireTime) -> Time {
    Time::from_nanos(i64::from(stamp.sec) * NANOS + i64::from(stamp.nanosec))
}

/// A stamp for the wire; seconds saturate at the 32 bits of the message.
#[must_use]
pub fn time_to_wire(time: Time) -> WireTime {
    let nanos = time.nanos();
    let sec = nanos.div_euclid(NANOS).clamp(i64::from(i32::MIN), i64::from(i32::MAX));
    WireTime { sec: sec as i32, nanosec: nanos.rem_euclid(NANOS) as u32 }
}

/// Sets a wire string, and leaves it alone when it has that value.
pub fn set_string(target: &mut WireString, value: &str) {
    let same = target.len() == value.len() && target.iter().zip(value.bytes()).all(|(&c, b)| c as u8 == b);
    if !same {
        *target = WireString::from(value);
    }
}

/// Reads a wire string into an existing one.
pub fn read_string(source: &WireString, target: &mut String) {
    let mut bytes = std::mem::take(target).into_bytes();
    bytes.clear();
    bytes.extend(source.iter().map(|&c| c as u8));
    *target = match String::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => String::from_utf8_lossy(error.as_bytes()).into_owned(),
    };
}

/// Gives a sequence this length; its items are kept when it has it.
pub fn resize<T: SequenceAlloc>(sequence: &mut Sequence<T>, len: usize) {
    if sequence.len() != len {
        *sequence = Sequence::new(len);
    }
}

/// A pose from the wire.
#[must_use]
pub fn pose_from_wire(pose: &geometry::Pose) -> Pose {
    let (p, q) = (&pose.position, &pose.orientation);
    Pose { position: [p.x, p.y, p.z], orientation: [q.x, q.y, q.z, q.w] }
}

/// A pose for the wire.
#[must_use]
pub fn pose_to_wire(pose: &Pose) -> geometry::Pose {
    let ([x, y, z], [qx, qy, qz, qw]) = (pose.position, pose.orientation);
    geometry::Pose {
        position: geometry::Point { x, y, z },
        orientation: geometry::Quaternion { x: qx, y: qy, z: qz, w: qw },
    }
}

/// A batch of `human/stream`, read into a re-used one.
pub fn read_batch(source: &wire::Pedestrians, target: &mut Pedestrians) {
    target.stamp = time_from_wire(&source.header.stamp);
    read_string(&source.header.frame_id, &mut target.frame_id);
    target.pedestrians.resize_with(source.pedestrians.len(), Pedestrian::default);
    for (from, to) in source.pedestrians.iter().zip(&mut target.pedestrians) {
        read_pedestrian(from, to);
    }
}

/// One person, read into a re-used value.
pub fn read_pedestrian(from: &wire::Pedestrian, to: &mut Pedestrian) {
    read_string(&from.name, &mut to.name);
    to.id = from.id;
    to.pose = pose_from_wire(&from.pose);
    let (linear, angular) = (&from.twist.linear, &from.twist.angular);
    to.twist = Twist { linear: [linear.x, linear.y, linear.z], angular: [angular.x, angular.y, angular.z] };
    to.animation_state = from.animation_state;
    to.gestures.resize_with(from.gestures.len(), Gesture::default);
    for (from, to) in from.gestures.iter().zip(&mut to.gestures) {
        read_string(&from.slot, &mut to.slot);
        to.at = [from.at.x, from.at.y, from.at.z];
        read_string(&from.clip, &mut to.clip);
        read_string(&from.hand, &mut to.hand);
        to.render_pose_override = from.render_pose_override;
    }
    let joints = &mut to.joint_state;
    joints.stamp = time_from_wire(&from.joint_state.header.stamp);
    read_string(&from.joint_state.header.frame_id, &mut joints.frame_id);
    joints.name.resize_with(from.joint_state.name.len(), String::new);
    for (from, to) in from.joint_state.name.iter().zip(&mut joints.name) {
        read_string(from, to);
    }
    read_numbers(&from.joint_state.position, &mut joints.position);
    read_numbers(&from.joint_state.velocity, &mut joints.velocity);
    read_numbers(&from.joint_state.effort, &mut joints.effort);
    to.gait_phase = from.gait_phase;
    to.gait_cadence = from.gait_cadence;
    read_string(&from.agent_type, &mut to.agent_type);
    read_string(&from.model_uri, &mut to.model_uri);
}

fn read_numbers(from: &Sequence<f64>, to: &mut Vec<f64>) {
    to.clear();
    to.extend_from_slice(from);
}

fn write_numbers(from: &[f64], to: &mut Sequence<f64>) {
    resize(to, from.len());
    to.copy_from_slice(from);
}

/// Writes one person without joints.
pub fn write_pedestrian(from: &Pedestrian, to: &mut wire::Pedestrian) {
    set_string(&mut to.name, &from.name);
    to.id = from.id;
    to.pose = pose_to_wire(&from.pose);
    let (l, a) = (from.twist.linear, from.twist.angular);
    to.twist.linear = geometry::Vector3 { x: l[0], y: l[1], z: l[2] };
    to.twist.angular = geometry::Vector3 { x: a[0], y: a[1], z: a[2] };
    to.animation_state = from.animation_state;
    resize(&mut to.gestures, from.gestures.len());
    for (from, to) in from.gestures.iter().zip(to.gestures.iter_mut()) {
        set_string(&mut to.slot, &from.slot);
        to.at = geometry::Point { x: from.at[0], y: from.at[1], z: from.at[2] };
        set_string(&mut to.clip, &from.clip);
        set_string(&mut to.hand, &from.hand);
        to.render_pose_override = from.render_pose_override;
    }
    to.gait_phase = from.gait_phase;
    to.gait_cadence = from.gait_cadence;
    set_string(&mut to.agent_type, &from.agent_type);
    set_string(&mut to.model_uri, &from.model_uri);
}

fn write_joint_state(from: &JointState, to: &mut sensor_msgs::msg::rmw::JointState) {
    to.header.stamp = time_to_wire(from.stamp);
    set_string(&mut to.header.frame_id, &from.frame_id);
    resize(&mut to.name, from.name.len());
    for (from, to) in from.name.iter().zip(to.name.iter_mut()) {
        set_string(to, from);
    }
    write_numbers(&from.position, &mut to.position);
    write_numbers(&from.velocity, &mut to.velocity);
    write_numbers(&from.effort, &mut to.effort);
}

/// Writes joints that came from upstream, with driven ones on top: one of the same name is replaced, the rest follow.
fn write_overridden<'n>(
    from: &JointState,
    driven: impl Iterator<Item = (&'n str, f64)> + Clone,
    to: &mut sensor_msgs::msg::rmw::JointState,
) {
    let own = from.name.len();
    // A state that gives fewer numbers than names has none to replace and none to follow.
    let whole = from.position.len() == own;
    let is_new = |name: &str| !from.name.iter().any(|known| known == name);
    let count = own + driven.clone().filter(|(name, _)| is_new(name)).count();
    if !whole || driven.clone().next().is_none() {
        write_joint_state(from, to);
        return;
    }
    to.header.stamp = time_to_wire(from.stamp);
    set_string(&mut to.header.frame_id, &from.frame_id);
    resize(&mut to.name, count);
    for (from, to) in from.name.iter().zip(to.name.iter_mut()) {
        set_string(to, from);
    }
    for (from, to) in [
        (&from.position, &mut to.position),
        (&from.velocity, &mut to.velocity),
        (&from.effort, &mut to.effort),
    ] {
        // Speeds and forces of joints that have none are 0; a state without any stays without.
        let len = if from.len() == own { count } else { from.len() };
        resize(to, len);
        to[..from.len()].copy_from_slice(from);
        to[from.len()..].fill(0.0);
    }
    let mut next = own;
    for (name, angle) in driven {
        let at = from.name.iter().position(|known| known == name).unwrap_or_else(|| {
            set_string(&mut to.name[next], name);
            next += 1;
            next - 1
        });
        to.position[at] = angle;
    }
}

/// Writes a stream batch into a re-used message.
pub fn write_batch(batch: &Pedestrians, message: &mut wire::Pedestrians) {
    message.header.stamp = time_to_wire(batch.stamp);
    set_string(&mut message.header.frame_id, &batch.frame_id);
    resize(&mut message.pedestrians, batch.pedestrians.len());
    for (from, to) in batch.pedestrians.iter().zip(message.pedestrians.iter_mut()) {
        write_person(from, to);
    }
}

/// Writes one person with the joints they carry.
pub fn write_person(from: &Pedestrian, to: &mut wire::Pedestrian) {
    write_pedestrian(from, to);
    write_joint_state(&from.joint_state, &mut to.joint_state);
}

/// The outgoing `arena_peds` message, re-used from tick to tick.
#[derive(Debug, Default)]
pub struct BusMessage {
    message: wire::Pedestrians,
    /// Per entry: its joint names are the 40 of the contract, in order.
    has_contract_names: Vec<bool>,
}

impl BusMessage {
    /// Writes a frame and answers the message.
    pub fn write(&mut self, frame: &BusFrame<'_>) -> &wire::Pedestrians {
        let people = frame.pedestrians.len();
        if self.message.pedestrians.len() != people {
            resize(&mut self.message.pedestrians, people);
            self.has_contract_names.clear();
            self.has_contract_names.resize(people, false);
        }
        self.message.header.stamp = time_to_wire(frame.stamp);
        set_string(&mut self.message.header.frame_id, frame.frame_id);
        let now = time_to_wire(frame.now);
        for (i, (entry, out)) in frame.pedestrians.iter().zip(self.message.pedestrians.iter_mut()).enumerate()
        {
            write_pedestrian(&entry.pedestrian, out);
            let joints = &mut out.joint_state;
            let driven = frame.driven(i);
            let Some(posture) = frame.joints(i) else {
                write_overridden(&entry.pedestrian.joint_state, driven, joints);
                self.has_contract_names[i] = false;
                continue;
            };
            let count = JOINT_COUNT + driven.clone().count();
            let has_names = std::mem::replace(&mut self.has_contract_names[i], true);
            if !has_names || joints.name.len() != count {
                resize(&mut joints.name, count);
                for (name, out) in Joint::NAMES.iter().zip(joints.name.iter_mut()) {
                    set_string(out, name);
                }
                set_string(&mut joints.header.frame_id, "");
                resize(&mut joints.velocity, 0);
                resize(&mut joints.effort, 0);
            }
            joints.header.stamp = now.clone();
            resize(&mut joints.position, count);
            joints.position[..JOINT_COUNT].copy_from_slice(posture);
            for (at, (name, angle)) in (JOINT_COUNT..).zip(driven) {
                set_string(&mut joints.name[at], name);
                joints.position[at] = angle;
            }
        }
        &self.message
    }
}

/// Writes `map` and a stamp into a header.
pub fn write_map_header(header: &mut std_msgs::msg::rmw::Header, stamp: Time) {
    header.stamp = time_to_wire(stamp);
    set_string(&mut header.frame_id, MAP_FRAME);
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::rc::Rc;

    use promenade_human::backends::dummy::Dummy;
    use promenade_human::entity::{DynamicObstacle, WaypointMode};
    use promenade_human::outbox::{Marker, MarkerTopic};
    use promenade_human::{DummySim, HumanLayer, HumanModels, Outbox};

    use super::*;

    /// Everybody's model lies in a folder with a `rig.yaml` of two wheels.
    struct Chairs;

    impl HumanModels for Chairs {
        fn sdf(&self, _: &str) -> Result<String, String> {
            Ok(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/chair/model.sdf").to_owned())
        }

        fn has_any(&self) -> bool {
            true
        }
    }

    /// What goes over the wire, frame by frame: names and angles of each person.
    #[derive(Clone, Default)]
    struct Wire(Rc<RefCell<(BusMessage, Vec<Angles>)>>);

    type Angles = Vec<(String, f64)>;

    impl Outbox for Wire {
        fn publish_pedestrians(&mut self, frame: &BusFrame<'_>) {
            let (message, people) = &mut *self.0.borrow_mut();
            let written = message.write(frame).pedestrians.iter().map(|ped| {
                let joints = &ped.joint_state;
                assert_eq!(joints.name.len(), joints.position.len());
                joints.name.iter().map(WireString::to_string).zip(joints.position.iter().copied()).collect()
            });
            *people = written.collect();
        }

        fn publish_markers(&mut self, _: MarkerTopic, _: Time, _: &[Marker]) {}
    }

    #[test]
    fn wheels_follow_the_forty_joints_and_go_with_the_model() {
        let wire = Wire::default();
        let mut layer = HumanLayer::new(Box::<Dummy>::default(), Box::new(DummySim), Box::new(wire.clone()));
        layer.set_models(Box::new(Chairs));
        layer.spawn_pedestrians(&[DynamicObstacle {
            name: "a".to_owned(),
            sim_path: "env_0/a".to_owned(),
            model: "chair".to_owned(),
            model_uri: String::new(),
            pose: Pose::default(),
            velocity: 1.0,
            agent_type: String::new(),
            waypoints: Vec::new(),
            waypoint_mode: WaypointMode::Repeat,
            entry: None,
        }]);
        let mut tick = |seconds: f64, ped: Pedestrian| {
            let stamp = Time::from_secs_f64(seconds);
            layer.set_now(stamp);
            layer.on_stream(&Pedestrians { stamp, pedestrians: vec![ped], ..Pedestrians::default() });
            layer.tick();
            wire.0.borrow().1[0].clone()
        };
        let at = |x: f64| Pedestrian {
            name: "a".to_owned(),
            pose: Pose::planar(x, 0.0, 0.0),
            animation_state: 1,
            ..Pedestrian::default()
        };
        for (step, x) in [(1, 0.0), (2, 1.5), (3, 3.0)] {
            let joints = tick(f64::from(step), at(x));
            let names: Vec<&str> = joints.iter().map(|(name, _)| name.as_str()).collect();
            assert_eq!(names[..JOINT_COUNT], Joint::NAMES);
            assert_eq!(names[JOINT_COUNT..], ["l_wheel", "r_wheel"]);
            assert!((joints[JOINT_COUNT].1 - x / 0.3).abs() < 1e-9, "{joints:?}");
        }
        let mut posed = at(6.0);
        posed.joint_state.name.push("waist".to_owned());
        posed.joint_state.position.push(0.2);
        let joints = tick(4.0, posed);
        assert_eq!(joints[0], ("waist".to_owned(), 0.2));
        assert_eq!((joints[1].0.as_str(), joints[2].0.as_str()), ("l_wheel", "r_wheel"));
        assert!((joints[2].1 - 20.0).abs() < 1e-9, "{joints:?}");
        assert_eq!(tick(5.0, at(6.0)).len(), JOINT_COUNT + 2);
    }

    #[test]
    fn driven_joints_replace_their_namesakes_and_follow_the_rest() {
        let mut out = sensor_msgs::msg::rmw::JointState::default();
        let mut state = JointState {
            name: ["waist", "l_wheel"].map(str::to_owned).to_vec(),
            position: vec![0.1, 9.0],
            velocity: vec![0.5, 0.5],
            ..JointState::default()
        };
        let driven = [("l_wheel", 1.5), ("r_wheel", 2.5)];
        for _ in 0..2 {
            write_overridden(&state, driven.into_iter(), &mut out);
            let names: Vec<String> = out.name.iter().map(WireString::to_string).collect();
            assert_eq!(names, ["waist", "l_wheel", "r_wheel"]);
            assert_eq!(*out.position, [0.1, 1.5, 2.5]);
            assert_eq!((&*out.velocity, &*out.effort), (&[0.5, 0.5, 0.0][..], &[][..]));
        }
        write_overridden(&state, [].into_iter(), &mut out);
        assert_eq!((out.name.len(), &*out.position), (2, &[0.1, 9.0][..]));
        state.position.pop();
        write_overridden(&state, driven.into_iter(), &mut out);
        assert_eq!((out.name.len(), &*out.position), (2, &[0.1][..]));
    }

    #[test]
    fn stamps_survive_the_round_trip_also_before_zero() {
        for nanos in [0, 1, 1_500_000_000, -1, -1_500_000_000] {
            let time = Time::from_nanos(nanos);
            assert_eq!(time_from_wire(&time_to_wire(time)), time);
        }
        assert_eq!(
            time_from_wire(&WireTime { sec: i32::MAX, nanosec: u32::MAX }).nanos(),
            2_147_483_651_294_967_295
        );
    }

    #[test]
    fn a_batch_survives_the_round_trip_and_re_use() {
        let mut batch = Pedestrians { frame_id: "map".to_owned(), ..Pedestrians::default() };
        let mut message = wire::Pedestrians::default();
        let mut back = Pedestrians::default();
        for round in 0..3 {
            batch.pedestrians = (0..round + 1)
                .map(|i| Pedestrian {
                    name: format!("ped {i} of \u{e9}"),
                    id: i,
                    gestures: vec![Gesture {
                        slot: "head".to_owned(),
                        at: [1.0, 2.0, 3.0],
                        ..Gesture::default()
                    }],
                    joint_state: JointState {
                        name: vec!["waist".to_owned(); i as usize],
                        position: vec![0.5; i as usize],
                        ..JointState::default()
                    },
                    ..Pedestrian::default()
                })
                .collect();
            write_batch(&batch, &mut message);
            read_batch(&message, &mut back);
            assert_eq!(batch, back);
        }
    }
}
