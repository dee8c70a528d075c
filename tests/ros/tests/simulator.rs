//! A simulator outside the process, behind the services of `arena_people_msgs` (human-layer specification, sections 2.1, 5
//! and 25).

use std::path::Path;

use anyhow::{Context as _, Result};
use promenade_ros_tests::episodes::{DERIVE, outcome};
use promenade_ros_tests::wire::{is_marked, marked, nanos, person, place};
use promenade_ros_tests::{Cast, Environment, Episodes, Process, SECOND, Simulator, Stage, Verb};

const START: i64 = 40 * SECOND;
const NOT_CREATED: u8 = 2;

/// Parameters of a node whose people are held by the services; a call waits this long.
fn service(timeout: &'static str) -> [(&'static str, &'static str); 2] {
    [("sim", "service"), ("sim_timeout", timeout)]
}

/// An environment and its simulator, which was there first.
fn open(names: &[&str], timeout: &'static str) -> Result<(Stage, Simulator, Environment)> {
    let mut stage = Stage::new()?;
    let simulator = Simulator::start(&stage.context, &Environment::next_namespace())?;
    let environment = Environment::open_with(&mut stage, &Cast::people(names), START, &service(timeout))?;
    Ok((stage, simulator, environment))
}

fn bus_names(environment: &Environment, names: &[&str]) -> Vec<String> {
    names.iter().map(|name| environment.bus_name(name)).collect()
}

#[test]
fn people_are_created_in_one_call_and_go_where_the_stream_says() -> Result<()> {
    let (mut stage, simulator, environment) = open(&["anna", "ben"], "20.0")?;
    let all = bus_names(&environment, &["anna", "ben"]);
    let calls = simulator.take_calls();
    let spawns: Vec<_> = calls.iter().filter(|call| call.verb == Verb::Spawn).collect();
    assert_eq!(spawns.len(), 1, "{calls:?}");
    assert_eq!((&spawns[0].names, &spawns[0].places), (&all, &vec![[1.0, 0.0], [2.0, 0.0]]));
    assert_eq!(simulator.names(), all);
    let model = &simulator.people()[&all[0]].model_ref;
    assert!(Path::new(model).is_absolute() && Path::new(model).is_file(), "an SDF to open: {model:?}");

    environment.claim(&mut stage, START, &[marked("anna", 5.0, 5.0)])?;
    stage.until("update of anna", || simulator.people()[&all[0]].place == [5.0, 5.0])?;
    let update = simulator.take_calls().into_iter().rfind(|call| call.verb == Verb::Update);
    let update = update.context("an update")?;
    assert_eq!((update.names, update.stamp), (vec![all[0].clone()], START));

    assert_eq!(environment.teleport(&mut stage, vec![person("ben", 8.0, 8.0)])?, [0]);
    assert_eq!(simulator.people()[&all[1]].place, [8.0, 8.0], "complete when the answer is there");
    Ok(())
}

#[test]
fn a_simulator_that_is_absent_costs_one_line_and_gets_everybody_when_it_comes() -> Result<()> {
    let mut stage = Stage::new()?;
    let cast = Cast::people(&["anna", "ben"]);
    let mut environment = Environment::open_with(&mut stage, &cast, START, &service("0.2"))?;
    let episodes = Episodes::open(&mut stage, &environment)?;
    for index in 1..=3 {
        assert_eq!(episodes.reset(&mut stage, "", DERIVE)?, "", "the episode goes on without it");
        let frame = environment.tick(&mut stage, index)?;
        assert_eq!(frame.pedestrians.len(), 2, "people are on the bus");
        assert_eq!(environment.teleport(&mut stage, vec![person("anna", 3.0, 3.0)])?, [0]);
    }
    assert!(!episodes.record(&mut stage, 3, outcome::RUNNING)?.integrity);
    assert_eq!(environment.process.logged("no service"), 1, "{}", environment.process.log());
    assert_eq!(environment.process.logged("spawn_pedestrians, move_pedestrians"), 1, "what to start");

    let simulator = Simulator::start(&stage.context, &environment.namespace)?;
    let all = bus_names(&environment, &["anna", "ben"]);
    environment.run_until(&mut stage, 3, "everybody in the simulator", || {
        (simulator.names() == all).then_some(())
    })?;
    assert_eq!(simulator.people()[&all[0]].place, [3.0, 3.0], "where they are on the bus");
    environment.process.check_alive()
}

#[test]
fn one_update_is_in_flight_the_newest_waits_and_a_reset_waits_for_both() -> Result<()> {
    let (mut stage, simulator, environment) = open(&["anna"], "20.0")?;
    let episodes = Episodes::open(&mut stage, &environment)?;
    let anna = environment.bus_name("anna");
    drop(simulator.take_calls());
    simulator.hold(Verb::Update);
    for step in 0..10 {
        environment.claim(&mut stage, START, &[marked("anna", f64::from(step), 7.0)])?;
    }
    assert_eq!(simulator.called(Verb::Update), 1, "the others wait, and only the newest of them");
    let mut answer = Box::pin(episodes.ask_reset("", DERIVE)?);
    for _ in 0..20 {
        stage.turn();
        assert!(futures::FutureExt::now_or_never(&mut answer).is_none(), "a call is in flight");
    }
    simulator.release();
    assert_eq!(stage.wait("answer of the reset", answer)??, "");
    let calls = simulator.take_calls();
    let places: Vec<_> =
        calls.iter().filter(|call| call.verb == Verb::Update).map(|call| call.places[0]).collect();
    assert_eq!(places, [[0.0, 7.0], [9.0, 7.0]]);
    let verbs: Vec<_> = calls.iter().map(|call| call.verb).collect();
    assert_eq!(verbs, [Verb::Update, Verb::Update, Verb::Delete, Verb::Spawn], "nothing overtakes");
    assert_eq!(simulator.people()[&anna].place, [1.0, 0.0]);
    let first = environment.tick(&mut stage, 1)?;
    assert!(!first.pedestrians.iter().any(is_marked));
    assert_eq!(place(&first.pedestrians[0]), [1.0, 0.0]);
    Ok(())
}

#[test]
fn a_simulator_that_does_not_answer_costs_one_wait_per_reset() -> Result<()> {
    let (mut stage, simulator, environment) = open(&["anna", "ben"], "1.0")?;
    let episodes = Episodes::open(&mut stage, &environment)?;
    simulator.hold(Verb::Delete);
    assert_eq!(episodes.reset(&mut stage, "", DERIVE)?, "");
    assert!(!episodes.record(&mut stage, 1, outcome::RUNNING)?.integrity);
    assert_eq!(environment.process.logged("no answer of delete_pedestrians"), 1);
    assert_eq!(environment.tick(&mut stage, 1)?.pedestrians.len(), 2, "the bus does not wait");
    simulator.release();
    environment.logged(&mut stage, "a late answer")?;
    assert_eq!(episodes.reset(&mut stage, "", DERIVE)?, "");
    assert!(episodes.record(&mut stage, 2, outcome::RUNNING)?.integrity, "{}", environment.process.log());
    assert_eq!(simulator.names(), bus_names(&environment, &["anna", "ben"]));
    Ok(())
}

#[test]
fn who_is_not_created_is_named_and_tried_again_at_the_next_reset() -> Result<()> {
    let (mut stage, simulator, environment) = open(&["anna", "ben"], "20.0")?;
    let episodes = Episodes::open(&mut stage, &environment)?;
    let ben = environment.bus_name("ben");
    simulator.fail(&ben, NOT_CREATED);
    assert_eq!(episodes.reset(&mut stage, "", DERIVE)?, "");
    assert!(!episodes.record(&mut stage, 1, outcome::RUNNING)?.integrity);
    environment.logged(&mut stage, &format!("1 of 2 failed: {ben:?} (not created)"))?;
    simulator.mend();
    assert_eq!(episodes.reset(&mut stage, "", DERIVE)?, "");
    assert!(episodes.record(&mut stage, 2, outcome::RUNNING)?.integrity);
    assert_eq!(simulator.names(), bus_names(&environment, &["anna", "ben"]));
    Ok(())
}

#[test]
fn resets_in_a_row_leave_nobody_behind_in_the_simulator() -> Result<()> {
    let names: Vec<String> = (0..20).map(|i| format!("p{i:02}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let (mut stage, simulator, environment) = open(&names, "20.0")?;
    let episodes = Episodes::open(&mut stage, &environment)?;
    let all = bus_names(&environment, &names);
    for id in 1..=20 {
        let now = environment.frame_time(i64::from(id) - 1);
        environment.claim(&mut stage, now, &[marked("p00", 5.0, 5.0)])?;
        assert_eq!(episodes.reset(&mut stage, "", DERIVE)?, "");
        assert_eq!(simulator.names(), all, "everybody once");
        assert_eq!(simulator.people()[&all[0]].place, [1.0, 0.0]);
        assert!(episodes.record(&mut stage, id, outcome::RUNNING)?.integrity);
        environment.tick(&mut stage, i64::from(id))?;
    }
    let calls = simulator.take_calls();
    let count = |verb| calls.iter().filter(|call| call.verb == verb).count();
    assert!(count(Verb::Spawn) + count(Verb::Move) <= 21, "one call for everybody: {}", calls.len());
    Ok(())
}

#[test]
fn a_simulator_that_lost_everybody_gets_them_again() -> Result<()> {
    let (mut stage, simulator, environment) = open(&["anna", "ben"], "20.0")?;
    simulator.forget_everybody();
    let all = bus_names(&environment, &["anna", "ben"]);
    environment.run_until(&mut stage, 0, "everybody again", || (simulator.names() == all).then_some(()))?;
    Ok(())
}

#[test]
fn a_simulator_killed_and_started_again_in_the_middle_of_an_episode_gets_everybody_where_they_are()
-> Result<()> {
    let mut stage = Stage::new()?;
    let namespace = Environment::next_namespace();
    let start = || Process::start(Path::new(env!("CARGO_BIN_EXE_simulator")), [&namespace]);
    let first = start()?;
    let cast = Cast::people(&["anna", "ben"]);
    let mut environment = Environment::open_with(&mut stage, &cast, START, &service("1.0"))?;
    let all = bus_names(&environment, &["anna", "ben"]);
    let created = format!("Spawn {}", all.join(" "));
    stage.until("everybody in the first simulator", || first.logged(&created) == 1)?;
    environment.claim(&mut stage, START, &[marked("anna", 5.0, 5.0)])?;
    environment.stream(START, Vec::new())?;

    first.kill()?;
    let frame = environment.tick(&mut stage, 1)?;
    assert_eq!(frame.pedestrians.len(), 2, "the bus goes on");
    let second = start()?;
    let (_, index) = environment.run_until(&mut stage, 1, "everybody in the second simulator", || {
        (second.logged(&created) > 0).then_some(())
    })?;
    assert!(second.log().contains(&format!("{} at 5 5", all[0])), "where she is: {}", second.log());

    let episodes = Episodes::open(&mut stage, &environment)?;
    assert_eq!(episodes.reset(&mut stage, "", DERIVE)?, "");
    assert!(episodes.record(&mut stage, 1, outcome::RUNNING)?.integrity, "{}", environment.process.log());
    // While the node waited for the simulator the clock may have run away from it, and frames then have other times.
    let reset_at = environment.frame_time(index);
    let frame = stage.clock_until(environment.frame_time(index + 2), "frame after the reset", || {
        environment.frames.find(|frame| nanos(&frame.header.stamp) > reset_at)
    })?;
    assert_eq!(place(&frame.pedestrians[0]), [1.0, 0.0]);
    environment.process.check_alive()
}

#[test]
fn sigint_ends_a_node_that_waits_for_its_simulator() -> Result<()> {
    let mut stage = Stage::new()?;
    let environment = Environment::start_with(&mut stage, &Cast::people(&["anna"]), &service("3600.0"))?;
    // The first reading makes it spawn, and nobody is there to answer.
    for _ in 0..20 {
        stage.publish_clock(START)?;
        stage.turn();
    }
    let ended = environment.process.interrupt()?;
    assert!(ended.status.success(), "{ended:?}");
    Ok(())
}
