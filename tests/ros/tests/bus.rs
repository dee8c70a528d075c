//! What is on `arena_peds`: joints, stamps, and one frame per thirtieth of a second of simulated time.

use anyhow::Result;
use promenade_ros_tests::wire::{JOINTS, marked, nanos, person, place};
use promenade_ros_tests::{Cast, Environment, SECOND, Stage};

const START: i64 = 50 * SECOND;

#[test]
fn everybody_has_the_forty_joints_in_order() -> Result<()> {
    let mut stage = Stage::new()?;
    let (environment, _) = Environment::open(&mut stage, &Cast::people(&["anna", "ben", "carl"]), START)?;
    for index in 1..4 {
        let frame = environment.tick(&mut stage, index)?;
        assert_eq!(frame.header.frame_id, "map");
        let names: Vec<_> = frame.pedestrians.iter().map(|p| p.name.clone()).collect();
        assert_eq!(names, ["anna", "ben", "carl"].map(|name| environment.bus_name(name)));
        for person in &frame.pedestrians {
            let joints = &person.joint_state;
            assert_eq!(joints.name, JOINTS);
            assert_eq!(joints.position.len(), JOINTS.len());
            assert!(joints.position.iter().all(|angle| angle.is_finite()), "{joints:?}");
            assert!(joints.velocity.is_empty() && joints.effort.is_empty(), "{joints:?}");
            assert_eq!(joints.header.stamp, frame.header.stamp);
            assert_eq!((person.animation_state, place(person)[1]), (0, 0.0), "nobody moves by themselves");
            assert!(person.gait_phase > 0.0);
        }
        let mut ids: Vec<_> = frame.pedestrians.iter().map(|person| person.id).collect();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), 3, "ids differ");
    }
    Ok(())
}

#[test]
fn the_idle_sway_is_that_of_the_specification() -> Result<()> {
    let mut stage = Stage::new()?;
    let (environment, _) = Environment::open(&mut stage, &Cast::people(&["anna"]), START)?;
    let mut last = None;
    for index in 1..=30 {
        let frame = environment.tick(&mut stage, index)?;
        let anna = &frame.pedestrians[0];
        // The phase is on the bus with 32 bits; the joints come from 64.
        let phase = f64::from(anna.gait_phase);
        let joint = |name: &str| {
            let at = JOINTS.iter().position(|joint| *joint == name).expect("a joint of the contract");
            anna.joint_state.position[at]
        };
        for (name, expected) in [
            ("waist", 0.03 * phase.sin()),
            ("y_head", 0.06 * (0.3 * phase).sin()),
            ("p_head", 0.02 * (0.5 * phase + 1.0).sin()),
            ("l_knee", 0.0),
        ] {
            assert!((joint(name) - expected).abs() < 1e-6, "{name} {} instead of {expected}", joint(name));
        }
        if let Some(last) = last.replace(phase) {
            let step = std::f64::consts::TAU * 0.25 / 30.0;
            assert!(
                (phase - last - step).abs() < 1e-5,
                "a quarter of a cycle per second: {last} then {phase}"
            );
        }
    }
    Ok(())
}

#[test]
fn there_are_thirty_frames_in_a_second_of_simulated_time_and_none_while_it_stands() -> Result<()> {
    let mut stage = Stage::new()?;
    let (environment, _) = Environment::open(&mut stage, &Cast::people(&["anna"]), START)?;
    environment.tick(&mut stage, 30)?;
    let mut stamps = Vec::new();
    // The clock of a simulator at 100 Hz: no reading but each third falls onto a frame.
    for centisecond in 101..=300 {
        let at = START + centisecond * SECOND / 100;
        let due = usize::try_from((centisecond * 30).div_euclid(100) - 30)?;
        stage.clock_until(at, "frames of a clock reading", || {
            stamps.extend(environment.frames.drain().iter().map(|frame| nanos(&frame.header.stamp)));
            (stamps.len() >= due).then_some(())
        })?;
    }
    let expected: Vec<_> = (31..=90).map(|index| environment.frame_time(index)).collect();
    assert_eq!(stamps, expected, "thirty per second, each with its own time");

    // Time stands still, whatever the clock repeats; the answer of a service tells that the node had its turn.
    for _ in 0..20 {
        stage.publish_clock(environment.frame_time(90))?;
        assert_eq!(environment.teleport(&mut stage, vec![person("nobody", 0.0, 0.0)])?, [1]);
    }
    assert!(environment.frames.is_empty(), "no frame while the clock stands");
    stage.publish_clock(environment.frame_time(91))?;
    let next = environment.frame(&mut stage, "frame after the pause", |_| true)?;
    assert_eq!(nanos(&next.header.stamp), environment.frame_time(91), "the next one is the next one");
    Ok(())
}

#[test]
fn a_merge_publishes_while_the_clock_stands() -> Result<()> {
    let mut stage = Stage::new()?;
    let (environment, _) = Environment::open(&mut stage, &Cast::people(&["anna", "ben"]), START)?;
    for step in 1..=20 {
        let frame = environment.claim(&mut stage, START, &[marked("anna", f64::from(step), 2.0)])?;
        assert_eq!(nanos(&frame.header.stamp), START);
        assert_eq!(frame.pedestrians.len(), 2, "always the full roster");
    }
    Ok(())
}

#[test]
fn two_hundred_people_share_one_frame() -> Result<()> {
    let names: Vec<String> = (0..200).map(|i| format!("p{i}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let mut stage = Stage::new()?;
    let (environment, _) = Environment::open(&mut stage, &Cast::people(&names), START)?;
    let frame = environment.tick(&mut stage, 30)?;
    let on_bus: Vec<_> = frame.pedestrians.iter().map(|person| person.name.clone()).collect();
    let expected: Vec<_> = names.iter().map(|name| environment.bus_name(name)).collect();
    assert_eq!(on_bus, expected);
    assert!(frame.pedestrians.iter().all(|person| person.joint_state.name == JOINTS));

    let everybody: Vec<_> = names.iter().map(|name| marked(name, -1.0, -2.0)).collect();
    environment.claim(&mut stage, environment.frame_time(30), &everybody)?;
    Ok(())
}
