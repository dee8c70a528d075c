//! `hri_producer` over real DDS: a bus made by the test goes in, ROS4HRI comes out (ROS4HRI projection, section 6).

use std::collections::BTreeMap;
use std::f64::consts::TAU;
use std::sync::atomic::{AtomicU32, Ordering};

use anyhow::{Context as _, Result};
use promenade_ros_tests::wire::{self, JOINTS, nanos, person};
use promenade_ros_tests::{Mailbox, Process, SECOND, Stage, node_arguments};
use r2r::arena_people_msgs::msg::{Pedestrian, Pedestrians};
use r2r::geometry_msgs::msg::{Quaternion, TransformStamped};
use r2r::hri_msgs::msg::{EngagementLevel, IdsList};
use r2r::rcl_interfaces::srv::GetParameters;
use r2r::sensor_msgs::msg::JointState;
use r2r::std_msgs::msg::{Bool, Float32, String as Text};
use r2r::tf2_msgs::msg::TFMessage;
use r2r::visualization_msgs::msg::MarkerArray;
use r2r::{QosProfile, WrappedTypesupport};

const START: i64 = 60 * SECOND;

/// The node under test and a bus that the test fills.
struct Projection {
    stage: Stage,
    process: Process,
    namespace: String,
    /// Last segment of the namespace: the first part of every id.
    tag: String,
    bus: r2r::Publisher<Pedestrians>,
    now: i64,
}

impl Projection {
    fn open(parameters: &[(&str, &str)]) -> Result<Self> {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let mut stage = Stage::new()?;
        let tag = format!("hri_{}", NEXT.fetch_add(1, Ordering::Relaxed));
        let namespace = format!("/arena/{tag}");
        let process = Process::node("hri_producer", node_arguments(&namespace, parameters))?;
        let bus = stage.node.create_publisher(&format!("{namespace}/arena_peds"), QosProfile::default())?;
        Ok(Self { stage, process, namespace, tag, bus, now: START })
    }

    fn id(&self, n: u32) -> String {
        format!("{}_agent_{n}", self.tag)
    }

    fn read<T: WrappedTypesupport + 'static>(&mut self, topic: &str) -> Result<Mailbox<T>> {
        self.stage.subscribe(&format!("{}/{topic}", self.namespace), QosProfile::default().keep_last(100))
    }

    fn read_latched<T: WrappedTypesupport + 'static>(&mut self, topic: &str) -> Result<Mailbox<T>> {
        let qos = QosProfile::default().keep_last(1).transient_local();
        self.stage.subscribe(&format!("{}/{topic}", self.namespace), qos)
    }

    /// Keeps these people on the bus, at 20 Hz of message time, until `look` finds something.
    fn feed<T>(
        &mut self,
        people: &[Pedestrian],
        what: &str,
        mut look: impl FnMut() -> Option<T>,
    ) -> Result<T> {
        let Self { bus, now, .. } = self;
        let mut failed = None;
        let found = self.stage.until_some(what, || {
            let found = look();
            if found.is_none() {
                *now += SECOND / 20;
                failed = bus.publish(&wire::people(*now, people.to_vec())).err();
            }
            found
        });
        match failed {
            Some(error) => Err(error.into()),
            None => found.with_context(|| self.process.log()),
        }
    }

    /// Feeds until the list says exactly these numbers.
    fn feed_until_listed(
        &mut self,
        people: &[Pedestrian],
        list: &Mailbox<IdsList>,
        numbers: &[u32],
    ) -> Result<()> {
        let ids: Vec<_> = numbers.iter().map(|n| self.id(*n)).collect();
        self.feed(people, &format!("list of {numbers:?}"), || list.find(|list| list.ids == ids)).map(drop)
    }
}

/// Somebody with a number, a place, and all 40 joints at these angles.
fn posed(id: u32, angles: &[f64]) -> Pedestrian {
    let joint_state = JointState {
        name: JOINTS.map(str::to_owned).to_vec(),
        position: angles.to_vec(),
        ..JointState::default()
    };
    Pedestrian { id, joint_state, ..person(&format!("env/{id}"), f64::from(id), 2.0) }
}

fn standing(id: u32) -> Pedestrian {
    posed(id, &[0.0; 40])
}

#[derive(serde::Deserialize)]
struct Recorded {
    joints: Vec<String>,
    cases: Vec<Posture>,
}

#[derive(serde::Deserialize)]
struct Posture {
    name: String,
    height: f64,
    wire: Vec<f64>,
    urdf: Vec<f64>,
    /// Link origins in the body frame, metres.
    links: BTreeMap<String, [f64; 3]>,
}

/// The postures that the gait crate's tests use, too.
fn recorded() -> Result<Recorded> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../crates/gait/tests/data/rig_fk.json");
    let recorded: Recorded = serde_json::from_slice(&std::fs::read(path)?)?;
    assert_eq!(recorded.joints, JOINTS);
    Ok(recorded)
}

#[test]
fn recorded_postures_get_suffixed_names_and_urdf_shoulders() -> Result<()> {
    let recorded = recorded()?;
    let mut projection = Projection::open(&[("global_alias", "off")])?;
    let _tracked = projection.read::<IdsList>("humans/bodies/tracked")?;
    let people: Vec<_> = (0..).zip(&recorded.cases).map(|(n, case)| posed(n, &case.wire)).collect();
    let mut all_states = Vec::new();
    for n in (0..).take(people.len()) {
        let topic = format!("humans/bodies/{}/joint_states", projection.id(n));
        all_states.push(projection.read::<JointState>(&topic)?);
    }
    for ((n, case), states) in (0..).zip(&recorded.cases).zip(all_states) {
        let id = projection.id(n);
        let state = projection.feed(&people, "joint states", || states.pop())?;
        let names: Vec<_> = JOINTS.iter().map(|joint| format!("{joint}_{id}")).collect();
        assert_eq!(state.name, names);
        assert_eq!(state.position.len(), 40);
        for (joint, (&is, &should)) in state.name.iter().zip(state.position.iter().zip(&case.urdf)) {
            let off = (is - should).rem_euclid(TAU);
            assert!(off.min(TAU - off) < 1e-9, "{} {joint}: {is} instead of {should}", case.name);
        }
        assert!(nanos(&state.header.stamp) > START, "the stamp of the bus");
    }
    Ok(())
}

#[test]
fn people_without_joints_get_a_gait() -> Result<()> {
    let mut projection = Projection::open(&[("global_alias", "off")])?;
    let _tracked = projection.read::<IdsList>("humans/bodies/tracked")?;
    let mut walker = Pedestrian { id: 7, animation_state: 1, ..person("walker", 0.0, 0.0) };
    walker.twist.linear.x = 1.2;
    let states =
        projection.read::<JointState>(&format!("humans/bodies/{}/joint_states", projection.id(7)))?;
    let people = [walker, standing(8)];
    let first = projection.feed(&people, "joint states", || states.pop())?;
    let later =
        projection.feed(&people, "a later step", || states.find(|state| state.position != first.position))?;
    assert_eq!((first.position.len(), later.position.len()), (40, 40));
    let knee = JOINTS.iter().position(|joint| *joint == "l_knee").context("l_knee")?;
    assert_ne!(first.position[knee], later.position[knee], "the legs move");
    Ok(())
}

#[test]
fn who_comes_late_gets_the_description_and_the_ids() -> Result<()> {
    let mut projection = Projection::open(&[("global_alias", "off")])?;
    let tracked = projection.read::<IdsList>("humans/bodies/tracked")?;
    projection.feed_until_listed(&[standing(3)], &tracked, &[3])?;

    let id = projection.id(3);
    let urdf = projection.read_latched::<Text>(&format!("humans/bodies/{id}/urdf"))?;
    let text = projection.stage.until_some("urdf", || urdf.pop())?.data;
    assert_eq!(text.matches("type=\"revolute\"").count(), 40);
    for name in JOINTS.iter().map(|joint| format!("name=\"{joint}_{id}\"")) {
        assert!(text.contains(&name), "no {name}");
    }
    for topic in ["body_id", "face_id"] {
        let ids = projection.read_latched::<Text>(&format!("humans/persons/{id}/{topic}"))?;
        assert_eq!(projection.stage.until_some(topic, || ids.pop())?.data, id);
    }
    let anonymous = projection.read_latched::<Bool>(&format!("humans/persons/{id}/anonymous"))?;
    assert!(!projection.stage.until_some("anonymous", || anonymous.pop())?.data);
    for list in ["bodies/tracked", "persons/tracked", "persons/known", "faces/tracked"] {
        let late = projection.read_latched::<IdsList>(&format!("humans/{list}"))?;
        assert_eq!(projection.stage.until_some(list, || late.pop())?.ids, [id.as_str()]);
    }

    let service = format!("{}/hri_producer/get_parameters", projection.namespace);
    let client = projection
        .stage
        .node
        .create_client::<GetParameters::Service>(&service, QosProfile::services_default())?;
    let available = r2r::Node::is_available(&client)?;
    projection.stage.wait("parameter service", available)??;
    let request = GetParameters::Request { names: vec![format!("human_description_{id}")] };
    let answer = client.request(&request)?;
    let answer = projection.stage.wait("parameter", answer)??;
    assert_eq!(answer.values[0].string_value, text, "old tools read the parameter");
    Ok(())
}

#[test]
fn lists_follow_the_bus_and_an_empty_room_is_empty() -> Result<()> {
    let mut projection = Projection::open(&[("global_alias", "off")])?;
    let lists = ["bodies/tracked", "persons/tracked", "persons/known", "faces/tracked"]
        .map(|list| projection.read::<IdsList>(&format!("humans/{list}")));
    let states =
        projection.read::<JointState>(&format!("humans/bodies/{}/joint_states", projection.id(2)))?;
    let confidences =
        projection.read::<Float32>(&format!("humans/persons/{}/location_confidence", projection.id(2)))?;
    for list in lists {
        let list = list?;
        projection.feed_until_listed(&[standing(3), standing(2), standing(10)], &list, &[10, 2, 3])?;
        projection.feed_until_listed(&[standing(3)], &list, &[3])?;
        projection.feed_until_listed(&[], &list, &[])?;
        // An episode reset: a number that comes back is a body again.
        projection.feed_until_listed(&[standing(2)], &list, &[2])?;
    }
    projection.feed(&[standing(2)], "joint states", || states.pop())?;
    let seen = |value: f32| move |message: &Float32| message.data == value;
    projection.feed(&[standing(2)], "full confidence", || confidences.find(seen(1.0)))?;
    projection.feed(&[], "no confidence", || confidences.find(seen(0.0)))?;
    Ok(())
}

#[test]
fn the_lowest_numbers_win_when_there_are_too_many() -> Result<()> {
    let mut projection = Projection::open(&[("global_alias", "off"), ("max_bodies", "2")])?;
    let tracked = projection.read::<IdsList>("humans/bodies/tracked")?;
    let people = [standing(9), standing(4), standing(6)];
    projection.feed_until_listed(&people, &tracked, &[4, 6])?;
    assert_eq!(projection.process.logged("max_bodies"), 1, "one warning: {}", projection.process.log());
    projection.feed_until_listed(&people[..2], &tracked, &[4, 9])?;
    Ok(())
}

#[test]
fn engagement_follows_what_people_do() -> Result<()> {
    const DISENGAGED: u8 = 1;
    const ENGAGING: u8 = 2;
    const ENGAGED: u8 = 3;
    let mut projection = Projection::open(&[("global_alias", "off")])?;
    let _tracked = projection.read::<IdsList>("humans/bodies/tracked")?;
    let levels = projection
        .read::<EngagementLevel>(&format!("humans/persons/{}/engagement_status", projection.id(5)))?;
    let expected = [DISENGAGED, ENGAGED, ENGAGED, ENGAGING, ENGAGING, ENGAGING, ENGAGING];
    for (state, level) in (0..).zip(expected) {
        let people = [Pedestrian { animation_state: state, ..standing(5) }];
        // What was under way for the state before comes first; then only this level may come.
        projection.feed(&people, "engagement", || levels.find(|message| message.level == level))?;
        let again = projection.feed(&people, "engagement, repeated", || levels.pop())?;
        assert_eq!(again.level, level, "of state {state}");
    }
    Ok(())
}

/// Frames by name: parent, translation, rotation.
fn collect(frames: &mut BTreeMap<String, TransformStamped>, messages: &Mailbox<TFMessage>) {
    for transform in messages.drain().into_iter().flat_map(|message| message.transforms) {
        frames.insert(transform.child_frame_id.clone(), transform);
    }
}

fn rotated(q: &Quaternion, [x, y, z]: [f64; 3]) -> [f64; 3] {
    // v + 2 w (q x v) + 2 q x (q x v)
    let cross = |a: [f64; 3], b: [f64; 3]| {
        [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
    };
    let axis = [q.x, q.y, q.z];
    let once = cross(axis, [x, y, z]);
    let twice = cross(axis, once);
    std::array::from_fn(|i| [x, y, z][i] + 2.0 * (q.w * once[i] + twice[i]))
}

/// Where the origin of a frame is in `map`, if the whole chain is known.
fn origin(frames: &BTreeMap<String, TransformStamped>, frame: &str) -> Option<[f64; 3]> {
    let (mut at, mut frame) = ([0.0; 3], frame.to_owned());
    while frame != "map" {
        let TransformStamped { header, transform, .. } = frames.get(&frame)?;
        let moved = rotated(&transform.rotation, at);
        let t = &transform.translation;
        at = [moved[0] + t.x, moved[1] + t.y, moved[2] + t.z];
        frame.clone_from(&header.frame_id);
    }
    Some(at)
}

#[test]
fn a_standing_body_has_its_ankles_on_the_floor() -> Result<()> {
    let mut projection = Projection::open(&[("global_alias", "off")])?;
    let moving = projection.read::<TFMessage>("humans/tf")?;
    let fixed = projection.read_latched::<TFMessage>("humans/tf_static")?;
    let id = projection.id(4);
    let mut turned = standing(4);
    turned.pose.position.z = 0.5;
    let half = std::f64::consts::FRAC_1_SQRT_2;
    turned.pose.orientation = Quaternion { x: 0.0, y: 0.0, z: half, w: half };
    let mut frames = BTreeMap::new();
    let head = format!("head_{id}");
    projection.feed(&[turned], "whole tree of frames", || {
        collect(&mut frames, &fixed);
        collect(&mut frames, &moving);
        origin(&frames, &head)
    })?;
    let close = |frame: &str, expected: [f64; 3]| {
        let frame = if frame.contains('/') { frame.to_owned() } else { format!("{frame}_{id}") };
        let at = origin(&frames, &frame).unwrap_or_else(|| panic!("no {frame} in {:?}", frames.keys()));
        let off =
            std::array::from_fn::<_, 3, _>(|i| (at[i] - expected[i]).abs()).into_iter().fold(0.0, f64::max);
        assert!(off < 1e-9, "{frame} at {at:?} instead of {expected:?}");
    };
    // The floor under this person is at 0.5 m, she stands at (4, 2) and looks along y; u = 0.22 m.
    close("body", [4.0, 2.0, 0.5 + 0.77]);
    close("l_ankle", [4.0 - 0.132, 2.0, 0.5]);
    close("r_ankle", [4.0 + 0.132, 2.0, 0.5]);
    close("l_p_shoulder", [4.0 - 0.176, 2.0, 0.5 + 1.375]);
    close("head", [4.0, 2.0 + 0.055, 0.5 + 1.54]);
    close("env/4", [4.0, 2.0, 0.5 + 0.77]);
    Ok(())
}

#[test]
fn every_link_of_a_recorded_posture_is_where_it_was() -> Result<()> {
    let recorded = recorded()?;
    let mut projection = Projection::open(&[("global_alias", "off")])?;
    let moving = projection.read::<TFMessage>("humans/tf")?;
    let fixed = projection.read_latched::<TFMessage>("humans/tf_static")?;
    // The height of all bodies is a parameter, so the taller ones are left out.
    let cases: BTreeMap<u32, _> = (0..).zip(recorded.cases).filter(|(_, case)| case.height == 1.65).collect();
    let people: Vec<_> = cases.iter().map(|(&n, case)| posed(n, &case.wire)).collect();
    let heads: Vec<_> = cases.keys().map(|n| format!("head_{}", projection.id(*n))).collect();
    let mut frames = BTreeMap::new();
    projection.feed(&people, "frames of everybody", || {
        collect(&mut frames, &fixed);
        collect(&mut frames, &moving);
        heads.iter().all(|head| origin(&frames, head).is_some()).then_some(())
    })?;
    for (n, case) in cases {
        assert_eq!(case.links.len(), 43);
        for (link, [x, y, z]) in case.links {
            let frame = format!("{link}_{}", projection.id(n));
            let at = origin(&frames, &frame).with_context(|| format!("no {frame}"))?;
            let should = [x + f64::from(n), y + 2.0, z + 0.77];
            let off =
                std::array::from_fn::<_, 3, _>(|i| (at[i] - should[i]).abs()).into_iter().fold(0.0, f64::max);
            assert!(off < 1e-9, "{} {frame} at {at:?} instead of {should:?}", case.name);
        }
    }
    Ok(())
}

#[test]
fn the_bus_is_read_only_while_somebody_listens() -> Result<()> {
    let mut projection = Projection::open(&[("global_alias", "off")])?;
    let Projection { stage, bus, namespace, .. } = &mut projection;
    let count = |bus: &r2r::Publisher<Pedestrians>| bus.get_inter_process_subscription_count();
    let qos = QosProfile::default();
    let tracked = stage.subscribe::<IdsList>(&format!("{namespace}/humans/bodies/tracked"), qos)?;
    stage.until("a reader of the bus", || count(bus).is_ok_and(|readers| readers == 1))?;
    projection.feed_until_listed(&[standing(1)], &tracked, &[1])?;
    drop(tracked);
    let bus = &projection.bus;
    let mut now = projection.now;
    // r2r ends the subscription with the next message that it receives, so the lists have to be repeated until then.
    projection.stage.until("end of the reader of the bus", || {
        now += SECOND / 20;
        let fed = bus.publish(&wire::people(now, vec![standing(1)]));
        fed.is_ok() && count(bus).is_ok_and(|readers| readers == 0)
    })?;
    Ok(())
}

#[test]
fn a_lone_producer_also_serves_the_absolute_names() -> Result<()> {
    let mut projection = Projection::open(&[("global_alias", "on")])?;
    let tracked = projection.stage.subscribe::<IdsList>("/humans/bodies/tracked", QosProfile::default())?;
    projection.feed_until_listed(&[standing(1)], &tracked, &[1])?;
    Ok(())
}

#[test]
fn a_bus_that_is_not_finite_makes_no_frame_that_is_not() -> Result<()> {
    let mut projection = Projection::open(&[("global_alias", "off")])?;
    let tracked = projection.read::<IdsList>("humans/bodies/tracked")?;
    let moving = projection.read::<TFMessage>("humans/tf")?;
    let spoilt = |n: u32, spoil: fn(&mut Pedestrian)| {
        let mut person = standing(n);
        spoil(&mut person);
        person
    };
    let people = [
        spoilt(1, |p| p.pose.position.x = f64::NAN),
        spoilt(2, |p| p.pose.orientation.w = f64::INFINITY),
        spoilt(3, |p| p.joint_state.position[4] = f64::NAN),
        spoilt(4, |p| p.joint_state.position.clear()),
        spoilt(5, |p| p.pose.orientation = Quaternion { x: 0.0, y: 0.0, z: 0.0, w: 0.0 }),
        standing(6),
    ];
    let sixth = format!("body_{}", projection.id(6));
    let message = projection.feed(&people, "frames of the sixth", || {
        moving.find(|message| message.transforms.iter().any(|frame| frame.child_frame_id == sixth))
    })?;
    for TransformStamped { child_frame_id, transform, .. } in message.transforms {
        let (t, q) = (transform.translation, transform.rotation);
        assert!([t.x, t.y, t.z, q.x, q.y, q.z, q.w].iter().all(|v| v.is_finite()), "{child_frame_id}");
        let norm = (q.x * q.x + q.y * q.y + q.z * q.z + q.w * q.w).sqrt();
        assert!((norm - 1.0).abs() < 1e-6, "{child_frame_id} turns by {norm}");
    }
    drop(tracked);
    projection.process.check_alive()
}

#[test]
fn strange_names_and_broken_messages_end_nobody() -> Result<()> {
    let mut projection = Projection::open(&[("global_alias", "off")])?;
    let tracked = projection.read::<IdsList>("humans/bodies/tracked")?;
    let _frames = projection.read::<TFMessage>("humans/tf")?;
    let _markers = projection.read::<MarkerArray>("humans/markers")?;
    let long = "x".repeat(10_000);
    let names =
        ["", "/", "map", "body_hri_0_agent_1", "a\nb", "\u{e9}\u{1f6b6}", "env//x", " ", &long, "%s%n"];
    let people: Vec<_> =
        (0..).zip(names).map(|(n, name)| Pedestrian { name: name.to_owned(), ..standing(n) }).collect();
    projection.feed_until_listed(&people, &tracked, &[0, 1, 2, 3, 4, 5, 6, 7, 8, 9])?;

    let raw = projection.stage.node.create_publisher_untyped(
        &format!("{}/arena_peds", projection.namespace),
        "arena_people_msgs/msg/Pedestrians",
        QosProfile::default(),
    )?;
    let matched = raw.wait_for_inter_process_subscribers()?;
    projection.stage.wait("reader of the bus", matched)??;
    let whole = wire::people(projection.now, people.clone()).to_serialized_bytes()?;
    for step in 0..100 {
        let at = 4 + step * (whole.len() / 4 - 2) / 100 * 4;
        let mut spoilt = whole.clone();
        spoilt[at..at + 4].copy_from_slice(&[0xff, 0xff, 0xff, 0x7f]);
        raw.publish_raw(&whole[..at])?;
        raw.publish_raw(&spoilt)?;
        projection.stage.turn();
    }
    projection.feed_until_listed(&people[..2], &tracked, &[0, 1])?;
    projection.process.check_alive()
}
