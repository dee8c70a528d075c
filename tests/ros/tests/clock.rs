//! Clocks: the one of `dummy_sim`, and what `human_simulator` makes of a clock that jumps.

use anyhow::{Context as _, Result};
use futures::FutureExt as _;
use promenade_ros_tests::wire::{is_marked, marked, nanos};
use promenade_ros_tests::{Cast, Environment, Process, SECOND, Stage, node_arguments};
use r2r::QosProfile;
use r2r::arena_people_msgs::msg::Pedestrians;
use r2r::promenade_msgs::srv::StepClock;
use r2r::rosgraph_msgs::msg::Clock;
use r2r::std_srvs::srv::SetBool;

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

#[test]
fn dummy_sim_stands_while_paused_and_steps_exactly() -> Result<()> {
    let mut stage = Stage::new()?;
    let clocks = stage.subscribe::<Clock>("/clock", QosProfile::default().keep_last(1000))?;
    let _node = Process::node("dummy_sim", node_arguments("/", &[("start_paused", "true")]))?;
    let services = QosProfile::services_default;
    let pause = stage.node.create_client::<SetBool::Service>("/dummy_sim/pause", services())?;
    let step = stage.node.create_client::<StepClock::Service>("/dummy_sim/step", services())?;
    for available in [r2r::Node::is_available(&pause)?.boxed(), r2r::Node::is_available(&step)?.boxed()] {
        stage.wait("services of dummy_sim", available)??;
    }
    let mut at = nanos(&stage.until_some("clock message", || clocks.pop())?.clock);
    for seconds in [0.25, 1.0 / 30.0, 0.0, 2.5] {
        let answer = step.request(&StepClock::Request { seconds })?;
        let answer = stage.wait("answer of the step", answer)??;
        assert!(answer.success, "{answer:?}");
        let now = nanos(&answer.clock);
        assert!((now - at - (seconds * 1e9).round() as i64).abs() <= 1, "{seconds} s from {at} to {now}");
        at = now;
    }
    stage.until_some("the stepped clock", || clocks.find(|clock| nanos(&clock.clock) == at))?;
    for _ in 0..3 {
        let again = stage.until_some("clock while paused", || clocks.pop())?;
        assert_eq!(nanos(&again.clock), at, "published while paused, and standing");
    }
    let refused = step.request(&StepClock::Request { seconds: -1.0 })?;
    assert!(!stage.wait("answer of a step back", refused)??.success);
    let resumed = pause.request(&SetBool::Request { data: false })?;
    assert!(stage.wait("answer of the resumption", resumed)??.success);
    stage.until_some("a clock that runs", || clocks.find(|clock| nanos(&clock.clock) > at))?;
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
