//! What a broken or hostile client may send: nothing of it may end the node, and nobody else may suffer.

use anyhow::{Context as _, Result};
use promenade_ros_tests::wire::{self, find, is_marked, marked, person, place};
use promenade_ros_tests::{Cast, Environment, SECOND, Stage};
use r2r::arena_people_msgs::msg::{Gesture, Pedestrian};
use r2r::{PublisherUntyped, QosProfile, WrappedTypesupport as _};

const START: i64 = 30 * SECOND;

/// The same bytes on every run (xorshift).
struct Noise(u64);

impl Noise {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn bytes(&mut self, count: usize) -> Vec<u8> {
        (0..count).map(|_| self.next().to_le_bytes()[3]).collect()
    }
}

fn open(names: &[&str]) -> Result<(Stage, Environment)> {
    let mut stage = Stage::new()?;
    let (environment, _) = Environment::open(&mut stage, &Cast::people(names), START)?;
    Ok((stage, environment))
}

/// A publisher of bytes on `human/stream` that the node has matched.
fn raw_stream(stage: &mut Stage, environment: &Environment) -> Result<PublisherUntyped> {
    let raw = stage.node.create_publisher_untyped(
        &environment.topic("human/stream"),
        "arena_people_msgs/msg/Pedestrians",
        QosProfile::default(),
    )?;
    let matched = raw.wait_for_inter_process_subscribers()?;
    stage.wait("subscription to human/stream", matched)??;
    Ok(raw)
}

/// The node runs, answers its service, takes the stream and publishes.
fn works(stage: &mut Stage, environment: &mut Environment) -> Result<()> {
    environment.process.check_alive()?;
    assert_eq!(environment.teleport(stage, vec![person("nobody", 0.0, 0.0)])?, [1]);
    environment.claim(stage, START, &[marked("anna", -1.0, -1.0)])?;
    environment.tick(stage, 1)?;
    environment.process.check_alive()
}

#[test]
fn a_pose_that_is_not_finite_drops_its_entry() -> Result<()> {
    type Spoil = fn(&mut Pedestrian);
    let spoils: [(&str, Spoil); 7] = [
        ("p0", |p| p.pose.position.x = f64::NAN),
        ("p1", |p| p.pose.position.y = f64::INFINITY),
        ("p2", |p| p.pose.position.z = f64::NEG_INFINITY),
        ("p3", |p| p.pose.orientation.w = f64::NAN),
        ("p4", |p| p.twist.linear.x = f64::INFINITY),
        ("p5", |p| p.twist.angular.z = f64::NAN),
        ("p6", |p| p.joint_state.position[0] = f64::NAN),
    ];
    let names: Vec<_> = spoils.iter().map(|(name, _)| *name).chain(["anna"]).collect();
    let (mut stage, mut environment) = open(&names)?;
    let spoiled = spoils.iter().map(|(name, spoil)| {
        let mut person = marked(name, 9.0, 9.0);
        spoil(&mut person);
        person
    });
    environment.stream(START, spoiled.chain([marked("anna", 5.0, 5.0)]).collect())?;
    let anna = environment.bus_name("anna");
    let frame =
        environment.frame(&mut stage, "claim of anna", |frame| find(frame, &anna).is_some_and(is_marked))?;
    for (x, (name, _)) in (1..).zip(spoils) {
        let person = find(&frame, &environment.bus_name(name)).context(name)?;
        assert_eq!((place(person), is_marked(person)), ([f64::from(x), 0.0], false), "{name}");
    }
    let moved = |x, y| {
        let mut anna = person("anna", 0.0, 0.0);
        (anna.pose.position.x, anna.pose.position.y) = (x, y);
        anna
    };
    let results = environment
        .teleport(&mut stage, vec![moved(f64::NAN, 0.0), moved(0.0, f64::INFINITY), moved(2.0, 2.0)])?;
    assert_eq!(results, [1, 1, 0], "nobody is put at a place that is none");
    works(&mut stage, &mut environment)
}

#[test]
fn a_batch_of_a_hundred_thousand_entries_is_taken() -> Result<()> {
    let (mut stage, mut environment) = open(&["anna"])?;
    let mut batch: Vec<_> = (0..100_000).map(|i| person(&format!("nobody_{i}"), 0.0, 0.0)).collect();
    batch.push(marked("anna", 5.0, 5.0));
    environment.claim(&mut stage, START, &batch[100_000..])?;
    for x in [6.0, 7.0] {
        batch[100_000] = marked("anna", x, 5.0);
        environment.stream(START, batch.clone())?;
        let anna =
            environment.see(&mut stage, "anna", "claim at the end of the batch", |p| place(p) == [x, 5.0])?;
        assert!(is_marked(&anna));
    }
    assert!(environment.process.logged("nobody_") < 100, "a hostile stream does not fill the log");
    works(&mut stage, &mut environment)
}

#[test]
fn an_entry_repeated_a_hundred_thousand_times_is_one_person() -> Result<()> {
    let (mut stage, mut environment) = open(&["anna"])?;
    let mut batch = vec![marked("anna", 4.0, 4.0); 100_000];
    batch.push(marked("anna", 5.0, 5.0));
    environment.stream(START, batch)?;
    let frame = environment.frame(&mut stage, "claim", |frame| frame.pedestrians.iter().any(is_marked))?;
    assert_eq!(frame.pedestrians.len(), 1);
    assert_eq!(place(&frame.pedestrians[0]), [5.0, 5.0], "the last entry counts");
    works(&mut stage, &mut environment)
}

#[test]
fn a_move_of_a_hundred_thousand_items_is_answered() -> Result<()> {
    let (mut stage, mut environment) = open(&["anna"])?;
    let mut items = vec![person("nobody", 0.0, 0.0); 100_000];
    items[50_000] = person("anna", 3.0, 3.0);
    items[99_999] = person("anna", 4.0, 4.0);
    let results = environment.teleport(&mut stage, items)?;
    let found: Vec<_> = (0..results.len()).filter(|&i| results[i] == 0).collect();
    assert_eq!((results.len(), found), (100_000, vec![50_000, 99_999]));
    environment.see(&mut stage, "anna", "the last place", |anna| place(anna) == [4.0, 4.0])?;
    works(&mut stage, &mut environment)
}

#[test]
fn random_bytes_in_names_are_unknown_names() -> Result<()> {
    let (mut stage, mut environment) = open(&["anna"])?;
    let raw = raw_stream(&mut stage, &environment)?;
    // No client library lets a program send what is not UTF-8, so the bytes are put into a serialised batch.
    let placeholder = "@".repeat(24);
    let mut noise = Noise(0x5eed);
    for round in 1..=50 {
        let x = f64::from(round);
        let mut stranger = marked(&placeholder, 9.0, 9.0);
        stranger.agent_type.clone_from(&placeholder);
        stranger.gestures =
            vec![Gesture { slot: placeholder.clone(), clip: placeholder.clone(), ..Gesture::default() }];
        let mut joints = marked("anna", 9.0, 9.0);
        joints.joint_state.name = vec![placeholder.clone()];
        let mut anna = marked("anna", x, 3.0);
        anna.agent_type.clone_from(&placeholder);
        anna.model_uri.clone_from(&placeholder);
        let mut bytes = wire::people(START, vec![stranger, joints, anna]).to_serialized_bytes()?;
        let mut spoiled = 0;
        while let Some(at) = bytes.windows(placeholder.len()).position(|w| w == placeholder.as_bytes()) {
            bytes[at..at + placeholder.len()].copy_from_slice(&noise.bytes(placeholder.len()));
            spoiled += 1;
        }
        assert_eq!(spoiled, 7);
        raw.publish_raw(&bytes)?;
        // r2r reads the odd agent type of the possessed anna without complaint, too.
        let anna = environment.see(&mut stage, "anna", "claim", |p| place(p) == [x, 3.0])?;
        assert!(is_marked(&anna));
    }
    works(&mut stage, &mut environment)
}

#[test]
fn bytes_that_are_no_batch_are_dropped() -> Result<()> {
    let (mut stage, mut environment) = open(&["anna"])?;
    let raw = raw_stream(&mut stage, &environment)?;
    let whole =
        wire::people(START, vec![marked("anna", 9.0, 9.0), marked("ben", 9.0, 9.0)]).to_serialized_bytes()?;
    let mut noise = Noise(0xbad);
    let mut garbage: Vec<Vec<u8>> = Vec::new();
    // Cut off at any place, with lengths that promise gigabytes, and plain noise.
    garbage.extend((0..whole.len()).step_by(23).map(|end| whole[..end].to_vec()));
    garbage.extend((4..whole.len() - 4).step_by(37).map(|at| {
        let mut bytes = whole.clone();
        bytes[at..at + 4].copy_from_slice(&[0xff, 0xff, 0xff, 0x7f]);
        bytes
    }));
    garbage.extend((0..20).map(|_| noise.bytes(300)));
    garbage.extend((0..20).map(|_| [vec![0, 1, 0, 0], noise.bytes(300)].concat()));
    for bytes in garbage {
        // DDS itself may refuse a message without a header.
        drop(raw.publish_raw(&bytes));
        assert_eq!(environment.teleport(&mut stage, vec![person("nobody", 0.0, 0.0)])?, [1]);
        environment.process.check_alive()?;
    }
    works(&mut stage, &mut environment)
}
