//! Possession over `human/stream`: who is claimed, who is released, and when (human-layer specification, section 7).

use std::path::Path;

use anyhow::{Context as _, Result};
use promenade_ros_tests::wire::{find, is_marked, marked, nanos, person, place};
use promenade_ros_tests::{Cast, Environment, Process, SECOND, Stage};
use r2r::arena_people_msgs::msg::{Pedestrian, Pedestrians};
use r2r::sensor_msgs::msg::JointState;

/// The clock of most tests starts here.
const START: i64 = 100 * SECOND;

fn open(names: &[&str]) -> Result<(Stage, Environment)> {
    let mut stage = Stage::new()?;
    let (environment, _) = Environment::open(&mut stage, &Cast::people(names), START)?;
    Ok((stage, environment))
}

/// Somebody of the scenario in a frame.
fn of<'f>(environment: &Environment, frame: &'f Pedestrians, name: &str) -> Result<&'f Pedestrian> {
    find(frame, &environment.bus_name(name)).with_context(|| format!("{name} is not in {frame:?}"))
}

#[test]
fn a_claimed_person_is_where_the_stream_says() -> Result<()> {
    let (mut stage, environment) = open(&["anna", "ben"])?;
    let frame = environment.claim(&mut stage, START, &[marked("anna", 5.5, -2.25)])?;
    assert_eq!(place(of(&environment, &frame, "anna")?), [5.5, -2.25]);
    let ben = of(&environment, &frame, "ben")?;
    assert_eq!((place(ben), is_marked(ben)), ([2.0, 0.0], false), "nobody claimed ben");
    Ok(())
}

#[test]
fn a_claim_under_the_bus_name_reaches_the_same_person() -> Result<()> {
    let (mut stage, environment) = open(&["anna"])?;
    environment.stream(START, vec![marked(&environment.bus_name("anna"), 3.0, 4.0)])?;
    let anna = environment.see(&mut stage, "anna", "claim under the sim path", is_marked)?;
    assert_eq!(place(&anna), [3.0, 4.0]);
    Ok(())
}

#[test]
fn who_is_left_out_of_a_batch_is_released_at_once() -> Result<()> {
    let (mut stage, environment) = open(&["anna", "ben"])?;
    environment.claim(&mut stage, START, &[marked("anna", 5.0, 5.0), marked("ben", 6.0, 6.0)])?;
    let frame = environment.claim(&mut stage, START, &[marked("ben", 6.5, 6.0)])?;
    let anna = of(&environment, &frame, "anna")?;
    assert!(!is_marked(anna), "released without any time passing: {anna:?}");
    assert_eq!(
        (place(anna), anna.joint_state.name.len()),
        ([5.0, 5.0], 40),
        "stays where the stream left her"
    );
    Ok(())
}

#[test]
fn an_empty_batch_releases_everybody() -> Result<()> {
    let (mut stage, environment) = open(&["anna", "ben"])?;
    environment.claim(&mut stage, START, &[marked("anna", 5.0, 5.0), marked("ben", 6.0, 6.0)])?;
    environment.stream(START, Vec::new())?;
    let frame = environment.frame(&mut stage, "frame without possession", |frame| {
        frame.pedestrians.len() == 2 && !frame.pedestrians.iter().any(is_marked)
    })?;
    assert_eq!(nanos(&frame.header.stamp), START, "no time passed");
    Ok(())
}

#[test]
fn a_claim_lives_for_one_second_and_no_frame_longer() -> Result<()> {
    let (mut stage, environment) = open(&["anna"])?;
    environment.claim(&mut stage, START, &[marked("anna", 5.0, 5.0)])?;
    // A renewal counts from when it comes, here half a second in.
    environment.tick(&mut stage, 15)?;
    environment.claim(&mut stage, environment.frame_time(15), &[marked("anna", 7.0, 5.0)])?;

    let alive = environment.tick(&mut stage, 45)?;
    assert_eq!(nanos(&alive.header.stamp), START + 3 * SECOND / 2, "exactly 1.000 s after the renewal");
    assert!(is_marked(of(&environment, &alive, "anna")?), "1.000 s is still alive");

    let released = environment.tick(&mut stage, 46)?;
    let anna = of(&environment, &released, "anna")?;
    assert!(!is_marked(anna), "1.033 s is too long");
    assert_eq!(place(anna), [7.0, 5.0]);
    Ok(())
}

#[test]
fn a_batch_from_before_the_episode_is_dropped_and_an_equal_stamp_is_not() -> Result<()> {
    let (mut stage, environment) = open(&["anna"])?;
    environment.stream(START - 1, vec![marked("anna", 9.0, 9.0)])?;
    environment.logged(&mut stage, "dropped a batch stamped")?;
    let frame = environment.tick(&mut stage, 1)?;
    assert_eq!(place(of(&environment, &frame, "anna")?), [1.0, 0.0]);

    environment.stream(0, vec![marked("anna", 9.0, 9.0)])?;
    let frame = environment.claim(&mut stage, START, &[marked("anna", 3.0, 3.0)])?;
    assert_eq!(
        place(of(&environment, &frame, "anna")?),
        [3.0, 3.0],
        "a stamp equal to the opening is accepted"
    );
    assert_eq!(
        environment.process.logged("dropped a batch stamped"),
        1,
        "warns once, whatever the stale batches"
    );
    Ok(())
}

#[test]
fn nothing_happens_while_the_gate_is_closed() -> Result<()> {
    let mut stage = Stage::new()?;
    let mut environment = Environment::start(&mut stage, &Cast::people(&["anna"]))?;
    environment.stream(START + SECOND, vec![marked("anna", 9.0, 9.0)])?;
    assert_eq!(environment.teleport(&mut stage, vec![person("anna", 8.0, 8.0)])?, [1], "nobody is there yet");
    assert!(environment.frames.is_empty(), "nobody is on the bus before the first clock");

    let first = environment.begin(&mut stage, START)?;
    let anna = of(&environment, &first, "anna")?;
    assert_eq!((place(anna), is_marked(anna)), ([1.0, 0.0], false), "the early batch and move left no trace");
    Ok(())
}

#[test]
fn a_bad_entry_drops_itself_and_nobody_else() -> Result<()> {
    let joints = |name: &[&str], position: &[f64]| JointState {
        name: name.iter().map(|name| (*name).to_owned()).collect(),
        position: position.to_vec(),
        ..JointState::default()
    };
    let (mut stage, environment) = open(&["anna", "ben", "carl", "dora"])?;
    let bad = |name, joint_state| Pedestrian { joint_state, ..person(name, 9.0, 9.0) };
    let frame = {
        environment.stream(
            START,
            vec![
                marked("nobody", 9.0, 9.0),
                bad("ben", joints(&["l_knee_env_0_agent_7"], &[0.1])),
                bad("carl", joints(&["l_knee", "r_knee"], &[0.1])),
                bad("dora", joints(&["wheel_left"], &[0.1])),
                marked("anna", 5.0, 5.0),
            ],
        )?;
        let anna = environment.bus_name("anna");
        environment.frame(&mut stage, "claim of anna", |frame| find(frame, &anna).is_some_and(is_marked))?
    };
    assert_eq!(frame.pedestrians.len(), 4, "an unknown name adds nobody");
    for (name, x) in [("ben", 2.0), ("carl", 3.0), ("dora", 4.0)] {
        let person = of(&environment, &frame, name)?;
        assert_eq!((place(person), person.joint_state.name.len()), ([x, 0.0], 40), "{name} is not possessed");
    }
    for name in ["nobody", "ben", "carl", "dora"] {
        environment.logged(&mut stage, name)?;
    }
    Ok(())
}

#[test]
fn an_entry_that_turns_bad_neither_renews_nor_releases() -> Result<()> {
    let (mut stage, environment) = open(&["anna", "ben"])?;
    environment.claim(&mut stage, START, &[marked("anna", 5.0, 5.0)])?;
    environment.tick(&mut stage, 15)?;
    let mut bad = marked("anna", 9.0, 9.0);
    bad.joint_state.position.clear();
    environment.stream(environment.frame_time(15), vec![bad, marked("ben", 7.0, 7.0)])?;
    let ben = environment.bus_name("ben");
    let frame =
        environment.frame(&mut stage, "claim of ben", |frame| find(frame, &ben).is_some_and(is_marked))?;
    let anna = of(&environment, &frame, "anna")?;
    assert_eq!((place(anna), is_marked(anna)), ([5.0, 5.0], true), "not released, and not moved");

    let frame = environment.tick(&mut stage, 30)?;
    assert!(is_marked(of(&environment, &frame, "anna")?));
    let frame = environment.tick(&mut stage, 31)?;
    assert!(!is_marked(of(&environment, &frame, "anna")?), "a second after the last good entry");
    assert!(is_marked(of(&environment, &frame, "ben")?));
    Ok(())
}

#[test]
fn what_the_stream_sends_passes_unchanged_beyond_any_limit() -> Result<()> {
    let (mut stage, environment) = open(&["anna"])?;
    let before = environment.tick(&mut stage, 1)?;
    let id = of(&environment, &before, "anna")?.id;
    let mut sent = marked("anna", 5.0, -5.0);
    sent.id = 4711;
    sent.model_uri = "/no/such/model.sdf".to_owned();
    sent.agent_type = "elder".to_owned();
    sent.animation_state = 3;
    sent.gait_phase = 1234.5;
    sent.gait_cadence = 1.75;
    sent.twist.linear.x = 0.7;
    sent.joint_state = JointState {
        header: r2r::std_msgs::msg::Header {
            stamp: promenade_ros_tests::wire::stamp(42 * SECOND + 7),
            frame_id: "elsewhere".to_owned(),
        },
        name: ["l_knee", "waist", "r_wrist"].map(str::to_owned).to_vec(),
        position: vec![99.0, -1.0e300, 4.9e-324],
        velocity: vec![1.0, -2.0],
        effort: vec![f64::MAX],
    };
    environment.stream(environment.frame_time(1), vec![sent.clone()])?;
    let anna = environment.see(&mut stage, "anna", "claim", |person| person.joint_state.name.len() == 3)?;
    assert_eq!(anna.joint_state, sent.joint_state);
    let bits = |values: &[f64]| values.iter().map(|v| v.to_bits()).collect::<Vec<_>>();
    assert_eq!(bits(&anna.joint_state.position), bits(&sent.joint_state.position));
    assert_eq!(anna.pose, sent.pose);
    assert_eq!(anna.twist, sent.twist);
    assert_eq!((anna.animation_state, anna.gait_cadence), (3, 1.75));
    assert_eq!(anna.agent_type, "elder");
    assert_eq!(anna.id, id, "the id is the layer's own");
    assert!(
        anna.model_uri.ends_with("/arenian.sdf"),
        "so is the model, here the fallback: {}",
        anna.model_uri
    );
    assert_ne!(anna.gait_phase, 1234.5, "the gait phase is the layer's own");
    Ok(())
}

#[test]
fn a_possessed_person_without_joints_keeps_walking() -> Result<()> {
    let (mut stage, environment) = open(&["anna"])?;
    let walking = |x: f64| {
        let mut anna = person("anna", x, 1.0);
        anna.animation_state = 1;
        anna.twist.linear.x = 1.2;
        anna
    };
    environment.stream(START, vec![walking(5.0)])?;
    let first = environment.see(&mut stage, "anna", "claim", |p| place(p) == [5.0, 1.0])?;
    environment.tick(&mut stage, 15)?;
    environment.stream(environment.frame_time(15), vec![walking(6.0)])?;
    let second = environment.see(&mut stage, "anna", "renewal", |p| place(p) == [6.0, 1.0])?;
    assert_eq!(second.joint_state.name.len(), 40);
    assert!(
        second.gait_phase > first.gait_phase + 1.0,
        "half a second of walking: {first:?} then {second:?}"
    );
    assert_ne!(first.joint_state.position, second.joint_state.position);
    Ok(())
}

#[test]
fn a_publisher_killed_with_sigkill_loses_its_person_after_a_second() -> Result<()> {
    let (mut stage, environment) = open(&["anna"])?;
    let claimer = Process::start(
        Path::new(env!("CARGO_BIN_EXE_claimer")),
        [environment.topic("human/stream"), "anna".to_owned()],
    )?;
    // It claims at every clock reading it receives, so frame 0 is repeated until it has come up.
    let look = || environment.frames.find(|frame| frame.pedestrians.iter().any(is_marked));
    stage.clock_until(START, "claim by the other process", look)?;
    // Leave nothing of it under way: time stands still meanwhile, so this costs nothing of the claim's second.
    claimer.kill()?;
    assert_eq!(environment.teleport(&mut stage, vec![person("nobody", 0.0, 0.0)])?, [1]);

    let frame = environment.tick(&mut stage, 30)?;
    assert!(is_marked(of(&environment, &frame, "anna")?), "alive at exactly one second");
    let released = environment.tick(&mut stage, 31)?;
    let anna = of(&environment, &released, "anna")?.clone();
    assert_eq!((place(&anna), anna.joint_state.name.len(), anna.animation_state), ([7.0, 8.0], 40, 0));

    let later = environment.tick(&mut stage, 60)?;
    let idle = of(&environment, &later, "anna")?;
    assert_eq!(place(idle), [7.0, 8.0], "she stays where she was left");
    assert!(idle.gait_phase > anna.gait_phase, "and keeps breathing: the idle gait goes on");
    assert_ne!(idle.joint_state.position, anna.joint_state.position);
    Ok(())
}
