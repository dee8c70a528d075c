//! Clocks: the one of `dummy_sim`, and what `human_simulator` makes of a clock that jumps.

use anyhow::{Context as _, Result};
use promenade_ros_tests::wire::{is_marked, marked, nanos};
use promenade_ros_tests::{Cast, Environment, Process, SECOND, Stage};
use r2r::QosProfile;
use r2r::arena_people_msgs::msg::Pedestrians;
use r2r::rosgraph_msgs::msg::Clock;

const START: i64 = 7200 * SECOND;
const HOUR: i64 = 3600 * SECOND;

#[test]
fn dummy_sim_publishes_a_clock_that_advances() -> Result<()> {
    let mut stage = Stage::new()?;
    let clocks = stage.subscribe::<Clock>("/clock", QosProfile::default())?;
    let mut node = Process::node("dummy_sim", [""; 0])?;
    let mut last = None;
    for _ in 0..10 {
        let now = nanos(&stage.until_some("clock message", || clocks.pop())?.clock);
        assert!(last < Some(now), "{last:?} then {now}");
        last = Some(now);
    }
    node.check_alive()?;
    let ended = node.interrupt()?;
    assert!(ended.status.success(), "{ended:?}");
    Ok(())
}

/// Lets the clock run for a second from `from` on, at 100 Hz, and answers the frames until one is due after its end.
fn second(stage: &mut Stage, environment: &Environment, from: i64) -> Result<Vec<Pedestrians>> {
    for centisecond in 0..=100 {
        stage.publish_clock(from + centisecond * SECOND / 100)?;
        stage.turn();
    }
    let mut frames = Vec::new();
    stage.clock_until(from + SECOND + SECOND / 20, "frame after the second", || {
        frames.extend(environment.frames.drain());
        frames.pop_if(|frame| nanos(&frame.header.stamp) > from + SECOND)
    })?;
    Ok(frames)
}

#[test]
fn a_clock_that_jumps_back_goes_on_from_there() -> Result<()> {
    let mut stage = Stage::new()?;
    let (mut environment, _) = Environment::open(&mut stage, &Cast::people(&["anna"]), START)?;
    environment.tick(&mut stage, 30)?;
    environment.claim(&mut stage, START + SECOND, &[marked("anna", 5.0, 5.0)])?;

    stage.publish_clock(START - HOUR)?;
    environment.logged(&mut stage, "the clock went back by 3601.000 s")?;
    let frames = second(&mut stage, &environment, START - HOUR)?;
    assert!((29..=31).contains(&frames.len()), "thirty frames per second: {}", frames.len());
    assert!(frames.iter().all(|frame| nanos(&frame.header.stamp) >= START - HOUR), "in the new time");
    assert!(frames.iter().all(|frame| frame.pedestrians.len() == 1), "nobody is lost");
    assert_eq!(environment.process.logged("the clock went back"), 1);
    environment.process.check_alive()
}

#[test]
fn a_clock_that_jumps_an_hour_ahead_does_not_make_up_for_it() -> Result<()> {
    let mut stage = Stage::new()?;
    let (mut environment, _) = Environment::open(&mut stage, &Cast::people(&["anna"]), START)?;
    environment.tick(&mut stage, 30)?;
    environment.claim(&mut stage, START + SECOND, &[marked("anna", 5.0, 5.0)])?;

    stage.publish_clock(START + HOUR)?;
    environment.logged(&mut stage, "the clock jumped ahead by 3599.000 s")?;
    let frames = second(&mut stage, &environment, START + HOUR)?;
    assert!((29..=31).contains(&frames.len()), "the hour is not simulated: {} frames", frames.len());
    assert!(frames.iter().all(|frame| nanos(&frame.header.stamp) >= START + HOUR), "in the new time");
    assert!(
        !frames.iter().flat_map(|frame| &frame.pedestrians).any(is_marked),
        "nobody renewed the claim for an hour"
    );
    environment.process.check_alive()
}

#[test]
fn a_clock_at_zero_and_one_at_the_end_of_time_are_times() -> Result<()> {
    for start in [0, i64::from(i32::MAX - 1) * SECOND] {
        let mut stage = Stage::new()?;
        let (environment, first) = Environment::open(&mut stage, &Cast::people(&["anna"]), start)?;
        assert_eq!(nanos(&first.header.stamp), start);
        environment.claim(&mut stage, start, &[marked("anna", 5.0, 5.0)])?;
        let frame = environment.tick(&mut stage, 15)?;
        let anna = frame.pedestrians.first().context("nobody")?;
        assert!(is_marked(anna));
    }
    Ok(())
}
