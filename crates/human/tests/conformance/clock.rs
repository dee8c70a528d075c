//! Frames that follow a clock from outside (human-layer specification, sections 1, 16 and 29).

use std::time::Duration;

use promenade_human::{ClockStep, Clocked, HumanLayer};
use promenade_kernel::Time;

use crate::stage::{Stage, walking};

fn clocked(stage: Stage) -> (Clocked<HumanLayer>, std::rc::Rc<std::cell::RefCell<crate::stage::Log>>) {
    let Stage { layer, log } = stage;
    (Clocked::new(layer, 0, Time::from_secs_f64(10.0)).expect("30 Hz is a rate"), log)
}

fn to(clocked: &mut Clocked<HumanLayer>, seconds: f64) -> ClockStep {
    clocked.advance_to(Time::from_secs_f64(seconds)).expect("no system fails")
}

#[test]
fn thirty_frames_per_second_only_while_the_clock_runs() {
    let (mut clocked, log) = clocked(Stage::with_people(&["ann"]));
    for k in 0..=100 {
        to(&mut clocked, 10.0 + 0.01 * f64::from(k));
    }
    assert_eq!(log.borrow().frames.len(), 31, "frames at 0, 1/30, ... 1 s");
    for _ in 0..500 {
        to(&mut clocked, 11.0);
    }
    assert_eq!(log.borrow().frames.len(), 31);
    let stamps: Vec<i64> =
        log.borrow().frames.iter().map(|(stamp, _)| stamp.nanos() - 10_000_000_000).collect();
    assert_eq!(stamps[..4], [0, 33_333_333, 66_666_666, 100_000_000]);
}

#[test]
fn one_reading_that_covers_several_frames_yields_them_all() {
    let (mut clocked, log) = clocked(Stage::with_people(&["ann"]));
    to(&mut clocked, 10.0);
    to(&mut clocked, 10.5);
    assert_eq!(log.borrow().frames.len(), 16);
}

#[test]
fn an_hour_ahead_is_not_simulated_and_the_next_tick_is_right() {
    let (mut clocked, log) = clocked(Stage::with_people(&["ann"]));
    to(&mut clocked, 10.0);
    clocked.get().on_stream(&crate::stage::batch(10.0, vec![walking("ann", 4.0)]));
    let before = log.borrow().frames.len();
    assert_eq!(to(&mut clocked, 3610.0), ClockStep::JumpedAhead(Duration::from_secs(3600)));
    assert_eq!(log.borrow().frames.len() - before, 1, "at the new reading, also if the clock now stands");
    to(&mut clocked, 3610.04);
    let log = log.borrow();
    let stamps: Vec<i64> = log.frames[before..].iter().map(|(stamp, _)| stamp.nanos()).collect();
    assert_eq!(stamps, [3_610_000_000_000, 3_610_033_333_333]);
    let (_, people) = log.frames.last().expect("a frame");
    assert_eq!(people[0].0.pose.position[0], 4.0, "released where the stream left them");
    assert_eq!(people[0].0.animation_state, 0);
}

#[test]
fn a_clock_that_starts_again_goes_on_from_there() {
    let (mut clocked, log) = clocked(Stage::with_people(&["ann"]));
    to(&mut clocked, 10.5);
    let before = log.borrow().frames.len();
    assert_eq!(to(&mut clocked, 0.5), ClockStep::JumpedBack(Duration::from_secs(10)));
    to(&mut clocked, 1.5);
    let log = log.borrow();
    assert_eq!(log.frames.len() - before, 31, "at 0.5, ... 1.5 s");
    assert!(log.frames.last().expect("a frame").0.as_secs_f64() <= 1.5);
}

#[test]
fn extreme_readings_do_not_panic() {
    let (mut clocked, _log) = clocked(Stage::with_people(&["ann"]));
    for nanos in [i64::MAX, i64::MIN, 0, -1, i64::MAX, 5] {
        clocked.advance_to(Time::from_nanos(nanos)).expect("no system fails");
    }
    let _: &HumanLayer = &clocked.get();
}

#[test]
fn a_stream_goes_on_after_the_clock_went_back() {
    let (mut clocked, log) = clocked(Stage::with_people(&["ann"]));
    to(&mut clocked, 10.5);
    to(&mut clocked, 2.0);
    clocked.get().on_stream(&crate::stage::batch(1.9, vec![walking("ann", 3.0)]));
    assert_eq!(log.borrow().updates.len(), 0, "a stamp before the new time is stale");
    clocked.get().on_stream(&crate::stage::batch(2.0, vec![walking("ann", 4.0)]));
    let log = log.borrow();
    assert_eq!(log.frames.last().expect("a frame").1[0].0.pose.position[0], 4.0);
}
