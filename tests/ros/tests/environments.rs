//! Two environments side by side, with the same names in both.

use anyhow::{Context as _, Result};
use promenade_ros_tests::wire::{self, find, is_marked, marked, nanos, person, place};
use promenade_ros_tests::{Cast, Environment, Mailbox, Process, SECOND, Stage, node_arguments};
use r2r::QosProfile;
use r2r::arena_people_msgs::msg::Pedestrians;
use r2r::task_generator_msgs::srv::ResetEpisode;
use r2r::visualization_msgs::msg::MarkerArray;

const START: i64 = 5 * SECOND;

#[test]
fn two_environments_share_a_clock_and_nothing_else() -> Result<()> {
    let mut stage = Stage::new()?;
    let cast = Cast::people(&["anna", "ben"]);
    let (left, _) = Environment::open(&mut stage, &cast, START)?;
    let (right, _) = Environment::open(&mut stage, &cast, START)?;
    assert_ne!(left.namespace, right.namespace);

    left.claim(&mut stage, START, &[marked("anna", 5.0, 5.0)])?;
    right.claim(&mut stage, START, &[marked("ben", -6.0, -6.0)])?;
    assert_eq!(
        left.teleport(&mut stage, vec![person("ben", 8.0, 8.0), person(&right.bus_name("anna"), 9.0, 9.0)])?,
        [0, 1]
    );
    // The other one's bus name is nobody here.
    right.stream(START, vec![marked("ben", -6.0, -6.0), marked(&left.bus_name("anna"), 9.0, 9.0)])?;
    right.logged(&mut stage, &left.bus_name("anna"))?;

    for index in 1..=10 {
        let (on_left, on_right) = (left.tick(&mut stage, index)?, right.tick(&mut stage, index)?);
        let see = |environment: &Environment, frame, name: &str| -> Result<_> {
            let person = find(frame, &environment.bus_name(name)).context("on the bus")?;
            Ok((place(person), is_marked(person)))
        };
        assert_eq!(on_left.header.stamp, on_right.header.stamp);
        assert_eq!(see(&left, &on_left, "anna")?, ([5.0, 5.0], true));
        assert_eq!(see(&left, &on_left, "ben")?, ([8.0, 8.0], false));
        assert_eq!(see(&right, &on_right, "anna")?, ([1.0, 0.0], false));
        assert_eq!(see(&right, &on_right, "ben")?, ([-6.0, -6.0], true));
        for (environment, frame) in [(&left, &on_left), (&right, &on_right)] {
            let prefix = format!("{}/", environment.prefix);
            assert!(frame.pedestrians.iter().all(|p| p.name.starts_with(&prefix)), "{frame:?}");
        }
    }

    // One of them ends; the other does not notice.
    drop(left);
    right.tick(&mut stage, 20)?;
    Ok(())
}

#[test]
fn the_same_name_in_two_environments_is_two_people() -> Result<()> {
    let mut stage = Stage::new()?;
    let cast = Cast::people(&["anna"]);
    let (_left, on_left) = Environment::open(&mut stage, &cast, START)?;
    let (_right, on_right) = Environment::open(&mut stage, &cast, START)?;
    assert_ne!(on_left.pedestrians[0].id, on_right.pedestrians[0].id, "ids come from the sim path");
    Ok(())
}

#[test]
fn two_processes_lie_side_by_side_each_at_its_offset() -> Result<()> {
    let mut stage = Stage::new()?;
    let cast = Cast { walls: vec![([0.0, 1.0], [5.0, 1.0])], ..Cast::people(&["anna"]) };
    let left = Environment::open_with(&mut stage, &cast, START, &[("env_offset", "[10.0, -5.0]")])?;
    let right = Environment::open_with(&mut stage, &cast, START, &[])?;
    for (environment, offset) in [(&left, [10.0, -5.0]), (&right, [0.0, 0.0])] {
        let frame = environment.tick(&mut stage, 1)?;
        let anna = find(&frame, &environment.bus_name("anna")).context("anna")?;
        assert_eq!(place(anna), [1.0 + offset[0], offset[1]]);
        let qos = QosProfile::default().keep_last(1).transient_local();
        let walls =
            stage.subscribe::<MarkerArray>(&environment.topic("pedestrian_markers/static_walls"), qos)?;
        let array = stage.until_some("walls", || walls.pop())?;
        let line = array.markers.last().context("a wall")?;
        let ends: Vec<_> = line.points.iter().map(|p| [p.x - offset[0], p.y - offset[1]]).collect();
        assert_eq!(ends, [[0.0, 1.0], [5.0, 1.0]]);
    }
    // What comes in is in map already: an offset is applied once.
    left.claim(&mut stage, left.frame_time(1), &[marked("anna", 3.0, 4.0)])?;
    Ok(())
}

/// One process with two environments, each at its own place.
#[test]
fn two_environments_of_one_process_share_nothing_but_the_clock() -> Result<()> {
    let mut stage = Stage::new()?;
    let folder = tempfile::TempDir::new()?;
    let scenario = Cast::people(&["anna", "ben"]).write(folder.path())?;
    let parameters = [
        ("use_sim_time", "true"),
        ("env_ids", "[901, 907]"),
        ("env_offsets", "[0.0, 0.0, 100.0, -50.0]"),
        ("scenario", scenario.to_str().context("a plain name")?),
    ];
    // A namespace on the command line belongs to the process, not to its environments.
    let mut process = Process::node("human_simulator", node_arguments("/elsewhere", &parameters))?;
    let sides = [901, 907].map(|id| Side::open(&mut stage, id));
    let [left, right] = sides.map(|side| side.with_context(|| process.log()));
    let (left, right) = (left?, right?);
    // Frames are due at the rate of the first reading, whichever that was: any frame after a time will do.
    let frame = |stage: &mut Stage, side: &Side, after: i64, what: &str| {
        let look = || side.frames.find(|frame| nanos(&frame.header.stamp) > after);
        stage.clock_until(after + SECOND / 10, what, look)
    };
    let at = |index: i64| START + index * SECOND / 30;
    // The first frames may be over before everybody knows everybody: the clock runs until both sides were seen.
    let (mut first, mut index) = ([None, None], 0);
    let [first_left, first_right] = stage.turn_until("frames of both sides", |stage| {
        stage.publish_clock(at(index))?;
        index += 1;
        for (found, side) in first.iter_mut().zip([&left, &right]) {
            *found = found.take().or_else(|| side.frames.pop());
        }
        Ok(if first.iter().all(Option::is_some) { Some(first.each_mut().map(Option::take)) } else { None })
    })?;
    let (first_left, first_right) = (first_left.context("left")?, first_right.context("right")?);
    let seen = |frame: &Pedestrians| -> Vec<_> {
        frame.pedestrians.iter().map(|p| (p.name.clone(), place(p))).collect()
    };
    let named = |names: [&str; 2]| names.map(str::to_owned);
    let expected = |names: [&str; 2], places: [[f64; 2]; 2]| -> Vec<_> {
        named(names).into_iter().zip(places).collect()
    };
    assert_eq!(seen(&first_left), expected(["env_901/anna", "env_901/ben"], [[1.0, 0.0], [2.0, 0.0]]));
    assert_eq!(
        seen(&first_right),
        expected(["env_907/anna", "env_907/ben"], [[101.0, -50.0], [102.0, -50.0]])
    );
    let ids: std::collections::BTreeSet<u32> =
        first_left.pedestrians.iter().chain(&first_right.pedestrians).map(|p| p.id).collect();
    assert_eq!(ids.len(), 4, "ids never clash");

    // Both are driven at once, under the same name.
    left.stream.publish(&wire::people(at(index), vec![marked("anna", 5.0, 5.0)]))?;
    right.stream.publish(&wire::people(at(index), vec![marked("anna", 6.0, 6.0)]))?;
    for (side, wanted) in [(&left, [5.0, 5.0]), (&right, [6.0, 6.0])] {
        stage.until("claim of this side", || {
            let look =
                |frame: &Pedestrians| frame.pedestrians.iter().any(|p| is_marked(p) && place(p) == wanted);
            side.frames.find(look).is_some()
        })?;
    }
    // A reset of one is none of the other.
    let answer = left.reset.request(&ResetEpisode::Request { world: String::new(), seed: 3 })?;
    assert!(stage.wait("answer of the reset", answer)??.success);
    let (on_left, on_right) = (
        frame(&mut stage, &left, at(index), "left frame")?,
        frame(&mut stage, &right, at(index), "right frame")?,
    );
    assert!(!on_left.pedestrians.iter().any(is_marked), "{on_left:?}");
    assert!(on_right.pedestrians.iter().any(is_marked), "{on_right:?}");
    process.check_alive()?;
    let ended = process.interrupt()?;
    assert!(ended.status.success(), "{ended:?}");
    Ok(())
}

/// The topics of one of several environments.
struct Side {
    frames: Mailbox<Pedestrians>,
    stream: r2r::Publisher<Pedestrians>,
    reset: r2r::Client<ResetEpisode::Service>,
}

impl Side {
    fn open(stage: &mut Stage, id: i64) -> Result<Self> {
        let topic = |name: &str| format!("/arena/env_{id}/{name}");
        let frames = stage.subscribe(&topic("arena_peds"), QosProfile::default().keep_last(1000))?;
        let stream = stage.node.create_publisher(&topic("human/stream"), QosProfile::default())?;
        let reset = stage
            .node
            .create_client(&topic("task_generator/reset_episode"), QosProfile::services_default())?;
        let available = r2r::Node::is_available(&reset)?;
        stage.wait("reset service", available)??;
        let matched = stream.wait_for_inter_process_subscribers()?;
        stage.wait("subscription to human/stream", matched)??;
        Ok(Self { frames, stream, reset })
    }
}

#[test]
fn environments_that_would_clash_are_refused() -> Result<()> {
    promenade_ros_tests::own_domain();
    for (name, value, reason) in [
        ("env_ids", "[1, 1]", "twice"),
        ("prefix", "env_0", "parameter prefix"),
        ("env_offsets", "[1.0]", "1 numbers for 2 environments"),
    ] {
        let mut parameters = vec![("env_ids", "[0, 1]")];
        parameters.retain(|(other, _)| *other != name);
        parameters.push((name, value));
        let ended = Process::node("human_simulator", node_arguments("/", &parameters))?.wait()?;
        assert_eq!(ended.status.code(), Some(1), "{ended:?}");
        assert!(ended.log.contains(reason), "{}", ended.log);
    }
    Ok(())
}
