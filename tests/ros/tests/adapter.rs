//! `human:=arena` before an engine that is not ours, over the wire alone (human-layer specification, section 17).

use anyhow::{Context as _, Result};
use promenade_ros_tests::episodes::DERIVE;
use promenade_ros_tests::foreign::ForeignEngine;
use promenade_ros_tests::wire::{find, marked, person, place};
use promenade_ros_tests::{Cast, Environment, Episodes, SECOND, Stage};
use r2r::QosProfile;
use r2r::arena_people_msgs::msg::Pedestrians;
use r2r::visualization_msgs::msg::{Marker, MarkerArray};

const START: i64 = 40 * SECOND;

/// What every environment here is opened with.
const ARENA: [(&str, &str); 3] =
    [("human", "arena"), ("env_offset", "[10.0, -5.0]"), ("human_params", "\"{humansim.markers: 1}\"")];

fn cast() -> Cast {
    Cast {
        walls: vec![([0.0, 3.0], [9.0, 3.0])],
        waypoints: vec![[4.0, 0.0]],
        ..Cast::people(&["anna", "ben"])
    }
}

/// An environment and its engine, which was there first.
fn open(cast: &Cast) -> Result<(Stage, ForeignEngine, Environment)> {
    let mut stage = Stage::new()?;
    let below = format!("{}/task_generator", Environment::next_namespace());
    let engine = ForeignEngine::start(&stage.context, &below)?;
    let environment = Environment::open_with(&mut stage, cast, START, &ARENA)?;
    Ok((stage, engine, environment))
}

/// Lets time pass, which the engine needs to show somebody, until both are on the bus.
fn both_people(environment: &Environment, stage: &mut Stage) -> Result<Pedestrians> {
    let both = || environment.frames.find(|frame| frame.pedestrians.len() == 2);
    Ok(environment.run_until(stage, 1, "both people", both)?.0)
}

fn patient(timeout: &'static str) -> Vec<(&'static str, &'static str)> {
    ARENA.into_iter().chain([("engine_timeout", timeout)]).collect()
}

#[test]
fn a_foreign_engine_gets_world_parameters_and_people_in_its_own_coordinates() -> Result<()> {
    let (mut stage, engine, mut environment) = open(&cast())?;
    let frame = both_people(&environment, &mut stage)?;
    let names = ["anna", "ben"].map(|name| environment.bus_name(name));
    assert_eq!(place(find(&frame, &names[0]).context("anna")?), [11.0, -5.0]);
    assert_eq!(place(find(&frame, &names[1]).context("ben")?), [12.0, -5.0]);
    assert_eq!(frame.pedestrians[0].agent_type, "adult");
    assert_eq!(frame.pedestrians[0].joint_state.name.len(), 40, "bodies are the layer's");
    let told = engine.told().clone();
    assert_eq!(
        told.calls,
        [
            "get_parameters dt".to_owned(),
            "add_walls wall_0".to_owned(),
            format!("spawn_agents {} {}", names[0], names[1]),
            "set_parameters markers".to_owned(),
            "reset soft".to_owned(),
        ],
        "and nothing else, whatever else an engine may offer"
    );
    let anna = &told.agents[0];
    assert_eq!((anna.pose.x, anna.pose.y, anna.desired_velocity, anna.radius), (1.0, 0.0, 1.0, 0.35));
    assert_eq!((anna.waypoints.points[0].pose.x, anna.waypoints.mode), (4.0, 0));
    environment.process.check_alive()
}

#[test]
fn a_reset_removes_everybody_and_a_refused_batch_costs_the_parameters_only() -> Result<()> {
    let (mut stage, engine, environment) = open(&cast())?;
    let episodes = Episodes::open(&mut stage, &environment)?;
    drop(engine.take_calls());
    engine.told().refuses_parameters = true;
    assert_eq!(episodes.reset(&mut stage, "", DERIVE)?, "");
    let calls = engine.take_calls();
    assert_eq!(calls.first().map(String::as_str), Some("remove_agents"));
    assert_eq!(calls.last().map(String::as_str), Some("reset soft"));
    environment.logged(&mut stage, "not this one")?;
    both_people(&environment, &mut stage).map(drop)
}

#[test]
fn possessed_people_and_robots_reach_a_foreign_engine() -> Result<()> {
    let cast = Cast { robots: vec![("porter".to_owned(), [6.0, 6.0])], ..cast() };
    let (mut stage, engine, environment) = open(&cast)?;
    environment.stream(START, vec![marked("anna", 15.0, 1.0)])?;
    let anna = environment.bus_name("anna");
    let (told, _) = environment.run_until(&mut stage, 1, "anna in world_state", || {
        let told = engine.told();
        told.fed.iter().find(|states| states.agents.iter().any(|agent| agent.name == anna)).cloned()
    })?;
    let names: Vec<&str> = told.agents.iter().map(|agent| agent.name.as_str()).collect();
    assert_eq!(names, ["porter", "robot_0", anna.as_str()]);
    assert_eq!((told.agents[0].pose.x, told.agents[0].pose.y, told.agents[0].radius), (6.0, 6.0, 0.3));
    let fed = &told.agents[2];
    assert_eq!((fed.agent_id, fed.pose.x, fed.pose.y, fed.radius), (1, 5.0, 6.0, 0.35));
    Ok(())
}

#[test]
fn an_engine_that_comes_late_gets_everything_and_nobody_waits_for_it() -> Result<()> {
    let mut stage = Stage::new()?;
    let mut environment = Environment::start_with(&mut stage, &cast(), &patient("0.1"))?;
    let below = format!("{}/task_generator", environment.namespace);
    stage.clock_until(START, "a word about the missing engine", || {
        (environment.process.logged("is not there yet") > 0).then_some(())
    })?;
    assert_eq!(environment.teleport(&mut stage, vec![person("nobody", 0.0, 0.0)])?, [1], "the node answers");
    let engine = ForeignEngine::start(&stage.context, &below)?;
    environment.begin(&mut stage, START + SECOND)?;
    environment.run_until(&mut stage, 1, "the people", || engine.was_asked("spawn_agents").then_some(()))?;
    assert!(engine.was_asked("add_walls wall_0") && engine.was_asked("reset soft"));
    environment.process.check_alive()
}

#[test]
fn an_engine_that_went_and_came_back_gets_everybody_again() -> Result<()> {
    let (mut stage, engine, mut environment) = open(&cast())?;
    let below = format!("{}/task_generator", environment.namespace);
    drop(engine);
    environment.run_until(&mut stage, 1, "a word about it", || {
        (environment.process.logged("is gone") > 0).then_some(())
    })?;
    let engine = ForeignEngine::start(&stage.context, &below)?;
    environment
        .run_until(&mut stage, 100, "the people again", || (engine.told().agents.len() == 2).then_some(()))?;
    assert_eq!(engine.told().walls, ["wall_0"]);
    environment.process.check_alive()
}

#[test]
fn an_engine_that_does_not_answer_costs_one_wait_and_gets_everything_when_it_does() -> Result<()> {
    let mut stage = Stage::new()?;
    let below = format!("{}/task_generator", Environment::next_namespace());
    let engine = ForeignEngine::start(&stage.context, &below)?;
    let mut environment = Environment::open_with(&mut stage, &cast(), START, &patient("5.0"))?;
    let episodes = Episodes::open(&mut stage, &environment)?;
    engine.told().is_silent = true;
    assert_eq!(episodes.reset(&mut stage, "", DERIVE)?, "", "the episode begins all the same");
    assert_eq!(
        environment.process.logged("does not answer remove_agents"),
        1,
        "{}",
        environment.process.log()
    );
    engine.told().is_silent = false;
    drop(engine.take_calls());
    environment
        .run_until(&mut stage, 100, "the people again", || engine.was_asked("spawn_agents").then_some(()))?;
    environment.process.check_alive()
}

#[test]
fn the_engines_markers_are_passed_on_where_the_environment_lies() -> Result<()> {
    let (mut stage, _engine, environment) = open(&cast())?;
    let latched = || QosProfile::default().keep_last(1).transient_local();
    let below = environment.topic("task_generator");
    let seen =
        stage.subscribe::<MarkerArray>(&environment.topic("pedestrian_markers/static_walls"), latched())?;
    let walls =
        stage.node.create_publisher::<MarkerArray>(&format!("{below}/viz_static/walls"), latched())?;
    let mut marker = Marker { ns: "walls".to_owned(), ..Marker::default() };
    marker.pose.position.x = 1.0;
    marker.points = vec![r2r::geometry_msgs::msg::Point { x: 2.0, y: 0.0, z: 0.0 }];
    let array = MarkerArray { markers: vec![marker] };
    walls.publish(&array)?;
    let passed = stage.until_some("walls", || seen.pop())?;
    let marker = &passed.markers[0];
    assert_eq!((marker.pose.position.x, marker.pose.position.y, marker.points[0].x), (11.0, -5.0, 2.0));

    let extra = stage.subscribe::<MarkerArray>(
        &environment.topic("pedestrian_markers/extra"),
        QosProfile::default().best_effort(),
    )?;
    let qos = QosProfile::default().best_effort().keep_last(5);
    let viz = stage.node.create_publisher::<MarkerArray>(&format!("{below}/viz"), qos)?;
    environment.run_until(&mut stage, 1, "extra markers", || {
        drop(viz.publish(&array));
        extra.pop()
    })?;
    Ok(())
}
