//! The crowd engine's node: services, frames, what is latched, and its parameters (crowd-engine specification, sections 2, 4 to 7, 23).

use anyhow::{Context as _, Result};
use promenade_ros_tests::engine::{DT, Engine, agent, double, integer, seen, text, walking};
use promenade_ros_tests::wire::nanos;
use promenade_ros_tests::{Process, SECOND, Stage, node_arguments};
use r2r::QosProfile;
use r2r::arena_humansim_msgs::msg::{
    AgentFrame, AgentMeta, AgentTemplate, AgentViz, FlowConfig, ObstacleConfig, SinkConfig, SourceConfig,
    WorldGeometry, WorldObjectInfo,
};
use r2r::arena_humansim_msgs::srv::{
    AddObstacles, AddSink, AddSource, AddWalls, AddWorldObjects, Feedback, GetProfile, NotifyStimulus,
    RemoveAgents, RemoveObstacles, RemoveSink, RemoveSource, RemoveWalls, RemoveWorldObjects, SetFlow,
    SetWaypoints, SpawnAgents, UpdateAgents, UpdateRobot,
};
use r2r::geometry_msgs::msg::{Point32, Pose2D};
use r2r::rcl_interfaces::srv::{DescribeParameters, GetParameterTypes, ListParameters};
use r2r::rosgraph_msgs::msg::Clock;
use r2r::tf2_msgs::msg::TFMessage;
use r2r::visualization_msgs::msg::MarkerArray;

const START: i64 = 100 * SECOND;

fn latched() -> QosProfile {
    QosProfile::default().keep_last(1).transient_local()
}

fn point(x: f32, y: f32) -> Point32 {
    Point32 { x, y, z: 0.0 }
}

fn walls(names: &[&str]) -> AddWalls::Request {
    AddWalls::Request {
        names: names.iter().map(|name| (*name).to_owned()).collect(),
        starts: names.iter().map(|_| point(-5.0, 3.0)).collect(),
        ends: names.iter().map(|_| point(5.0, 3.0)).collect(),
    }
}

fn sink(name: &str) -> SinkConfig {
    SinkConfig {
        name: name.to_owned(),
        pose: Pose2D { x: 12.0, y: 0.0, theta: 0.0 },
        absorption_radius: 0.5,
        capacity: -1,
        ..SinkConfig::default()
    }
}

/// A source that keeps this many people around.
fn source(name: &str, count: i32) -> SourceConfig {
    SourceConfig {
        name: name.to_owned(),
        pose: Pose2D { x: -12.0, y: 0.0, theta: 0.0 },
        type_: 1,
        max_concurrent: count,
        max_total: -1,
        agent: AgentTemplate {
            desired_velocity_min: 1.0,
            desired_velocity_max: 1.2,
            agent_radius: 0.3,
            ..AgentTemplate::default()
        },
        ..SourceConfig::default()
    }
}

fn desk(name: &str) -> ObstacleConfig {
    ObstacleConfig {
        name: name.to_owned(),
        pose: Pose2D { x: 20.0, y: 20.0, theta: 0.0 },
        bb_x_min: -1.0,
        bb_x_max: 1.0,
        bb_y_min: -0.5,
        bb_y_max: 0.5,
        bb_z_max: 0.8,
        ..ObstacleConfig::default()
    }
}

fn bench(id: &str) -> WorldObjectInfo {
    WorldObjectInfo {
        object_id: id.to_owned(),
        type_: "seat".to_owned(),
        capacity: 2,
        ..WorldObjectInfo::default()
    }
}

/// Calls a service and answers whether it was done, and the message.
macro_rules! ask {
    ($engine:ident, $stage:ident, $name:literal, $service:ident, $request:expr) => {{
        let answer = $engine.call::<$service::Service>(&mut $stage, $name, &$request)?;
        (answer.success, answer.message)
    }};
}

/// The answer of a request that was done.
fn done() -> (bool, String) {
    (true, String::new())
}

#[test]
fn every_service_does_what_it_says_and_says_why_when_it_does_not() -> Result<()> {
    let mut stage = Stage::new()?;
    let mut engine = Engine::follow(&mut stage, START, &[])?;
    let robot =
        r2r::arena_humansim_msgs::msg::AgentState { kind: 1, ..agent(7, "robots/jackal", [0.0, 9.0]) };
    let ids = engine
        .spawn(&mut stage, vec![agent(0, "hall/anna", [0.0, 0.0]), robot, agent(0, "ben", [2.0, 0.0])])?;
    assert_eq!((ids[1], ids.len()), (7, 3));
    let request =
        SpawnAgents::Request { agents: vec![agent(0, "cara", [4.0, 0.0]), agent(0, "partner", [5.0, 0.0])] };
    let refused = engine.call::<SpawnAgents::Service>(&mut stage, "spawn_agents", &request)?;
    assert!(
        !refused.success && refused.spawned_ids.is_empty() && refused.message.contains("partner"),
        "{refused:?}"
    );

    let way = walking(agent(0, "", [0.0; 2]), &[[5.0, 0.0]]).waypoints;
    let request = SetWaypoints::Request { agent_id: 0, name: "anna".to_owned(), waypoints: way.clone() };
    assert_eq!(ask!(engine, stage, "set_waypoints", SetWaypoints, request), done());
    let request = SetWaypoints::Request { agent_id: 99, name: String::new(), waypoints: way };
    assert!(!ask!(engine, stage, "set_waypoints", SetWaypoints, request).0);
    let hurried =
        r2r::arena_humansim_msgs::msg::AgentState { desired_velocity: 0.8, ..agent(ids[0], "", [0.0; 2]) };
    let request = UpdateAgents::Request { agents: vec![hurried] };
    let updated = engine.call::<UpdateAgents::Service>(&mut stage, "update_agents", &request)?;
    assert_eq!((updated.success, updated.updated_ids), (true, vec![ids[0]]), "{}", updated.message);
    let moved = UpdateRobot::Request {
        name: "jackal".to_owned(),
        pose: Pose2D { x: 1.0, y: 9.0, theta: 0.0 },
        ..UpdateRobot::Request::default()
    };
    assert!(engine.call::<UpdateRobot::Service>(&mut stage, "update_robot", &moved)?.success);

    assert_eq!(ask!(engine, stage, "add_walls", AddWalls, walls(&["n", "n", "s"])), done());
    let names = vec!["n".to_owned(), "never_there".to_owned()];
    assert_eq!(ask!(engine, stage, "remove_walls", RemoveWalls, RemoveWalls::Request { names }), done());
    let obstacles = vec![desk("desk"), desk("desk")];
    assert_eq!(
        ask!(engine, stage, "add_obstacles", AddObstacles, AddObstacles::Request { obstacles }),
        done()
    );
    let objects = vec![bench("bench")];
    assert_eq!(
        ask!(engine, stage, "add_world_objects", AddWorldObjects, AddWorldObjects::Request { objects }),
        done()
    );

    let added =
        engine.call::<AddSink::Service>(&mut stage, "add_sink", &AddSink::Request { sink: sink("out") })?;
    assert_eq!((added.success, added.name.as_str()), (true, "out"), "{}", added.message);
    let request = AddSource::Request { source: source("in", 2) };
    let added = engine.call::<AddSource::Service>(&mut stage, "add_source", &request)?;
    assert_eq!((added.success, added.name.as_str()), (true, "in"), "{}", added.message);
    let flow = FlowConfig { sources: vec![source("in", 0)], sinks: vec![sink("out")] };
    let (ok, message) = ask!(engine, stage, "set_flow", SetFlow, SetFlow::Request { flow });
    assert!(!ok && !message.is_empty(), "a max source needs max_concurrent");

    let request = NotifyStimulus::Request { agent_id: -1, stimulus: "alarm".to_owned(), intensity: 0.5 };
    assert_eq!(ask!(engine, stage, "notify_stimulus", NotifyStimulus, request), done());

    let frame = engine.run(&mut stage, 10)?;
    assert_eq!(frame.agent_id.len(), 5, "three, and two of the source");
    let (at, velocity) = seen(&frame, ids[0]).context("anna")?;
    assert!(at[0] > 0.0 && velocity[0] > 0.0 && velocity[0] < 0.81, "{at:?} {velocity:?}");
    assert_eq!(seen(&frame, 7).context("jackal")?.0, [1.0, 9.0]);

    let drained = engine.call::<Feedback::Service>(&mut stage, "feedback", &Feedback::Request::default())?;
    assert!(drained.success && drained.despawned_ids.is_empty());
    assert_eq!(
        drained.spawned_ids.len(),
        frame.agent_id.len() - 3 + usize::from(drained.spawned_ids.contains(&7)) * 3
    );
    let again = engine.call::<Feedback::Service>(&mut stage, "feedback", &Feedback::Request::default())?;
    assert!(again.success && again.spawned_ids.is_empty(), "drained");

    let name = String::new();
    assert_eq!(
        ask!(engine, stage, "remove_source", RemoveSource, RemoveSource::Request { name: name.clone() }),
        done()
    );
    assert_eq!(ask!(engine, stage, "remove_sink", RemoveSink, RemoveSink::Request { name }), done());
    let names = vec!["desk".to_owned()];
    assert_eq!(
        ask!(engine, stage, "remove_obstacles", RemoveObstacles, RemoveObstacles::Request { names }),
        done()
    );
    let object_ids = vec![];
    let request = RemoveWorldObjects::Request { object_ids };
    assert_eq!(ask!(engine, stage, "remove_world_objects", RemoveWorldObjects, request), done());
    let request = RemoveAgents::Request { agent_ids: vec![ids[2], 4711] };
    let partly = ask!(engine, stage, "remove_agents", RemoveAgents, request);
    let frame = engine.run(&mut stage, 1)?;
    assert_eq!(seen(&frame, ids[2]).is_none(), partly.0, "whole or not at all: {}", partly.1);
    engine.remove_everybody(&mut stage)?;
    let frame = engine.tick(&mut stage)?;
    assert!(frame.agent_id.is_empty(), "and the next tick begins at the next reading");
    assert_eq!(engine.spawn(&mut stage, vec![agent(0, "", [0.0; 2])])?, [1], "ids begin anew");
    engine.reset(&mut stage, false)?;
    let profile = engine.call::<GetProfile::Service>(
        &mut stage,
        "get_profile",
        &GetProfile::Request { reset: true },
    )?;
    assert_eq!(profile.phase_means_ms.len(), profile.phase_p95s_ms.len());
    engine.process.check_alive()
}

#[test]
fn a_frame_has_every_field_of_everybody_and_the_time_it_is_for() -> Result<()> {
    let mut stage = Stage::new()?;
    let mut engine = Engine::follow(&mut stage, START, &[])?;
    let ids = engine.spawn(
        &mut stage,
        vec![walking(agent(0, "anna", [0.0, 0.0]), &[[9.0, 0.0]]), agent(0, "ben", [0.0, 5.0])],
    )?;
    let frame = engine.run(&mut stage, 20)?;
    assert_eq!((frame.agent_id.clone(), frame.header.frame_id.as_str()), (ids, "map"));
    let lengths = [
        frame.x.len(),
        frame.y.len(),
        frame.theta.len(),
        frame.vx.len(),
        frame.vy.len(),
        frame.desired_velocity.len(),
        frame.radius.len(),
        frame.kind.len(),
        frame.animation_state.len(),
        frame.policy_idx.len(),
        frame.gait_phase.len(),
        frame.gait_cadence.len(),
        frame.interaction_id.len(),
        frame.interaction_type.len(),
    ];
    assert_eq!(lengths, [2; 14]);
    assert_eq!((frame.animation_state, frame.kind), (vec![1, 0], vec![0, 0]), "one walks, one stands");
    assert_eq!((frame.policy_idx, frame.interaction_id), (vec![0, 0], vec![-1, -1]));
    assert!(frame.radius.iter().chain(&frame.desired_velocity).all(|value| *value > 0.1));
    Ok(())
}

#[test]
fn a_burst_runs_every_owed_tick_with_its_own_stamp_and_a_held_clock_none() -> Result<()> {
    let mut stage = Stage::new()?;
    let mut engine = Engine::follow(&mut stage, START, &[])?;
    let began = engine.now;
    engine.now += 25 * DT + DT / 2;
    let last = engine.now - DT / 2;
    let mut stamps = Vec::new();
    stage.clock_until(engine.now, "burst", || {
        stamps.extend(engine.frames.drain().iter().map(|frame| nanos(&frame.header.stamp)));
        (stamps.last() == Some(&last)).then_some(())
    })?;
    assert_eq!(
        stamps,
        (1..=25).map(|tick| began + tick * DT).collect::<Vec<_>>(),
        "none skipped, none twice"
    );
    // The clock was held above, for at least one repetition; nothing may follow but what is due next.
    engine.now = last;
    let next = engine.tick(&mut stage)?;
    assert_eq!(nanos(&next.header.stamp), last + DT);
    assert!(engine.frames.is_empty());

    // Ticks begin anew with the first reading after everybody is gone.
    engine.remove_everybody(&mut stage)?;
    engine.now += 10 * DT + 1;
    let first = engine.settle(&mut stage)?;
    assert_eq!(nanos(&first.header.stamp), engine.now, "the new epoch");
    Ok(())
}

#[test]
fn what_is_latched_reaches_who_comes_late_and_comes_once_per_change() -> Result<()> {
    let mut stage = Stage::new()?;
    let mut engine = Engine::follow(&mut stage, START, &[("publish_markers", "1")])?;
    assert_eq!(ask!(engine, stage, "add_walls", AddWalls, walls(&["north"])), done());
    let objects = vec![bench("bench")];
    assert_eq!(
        ask!(engine, stage, "add_world_objects", AddWorldObjects, AddWorldObjects::Request { objects }),
        done()
    );
    engine.spawn(&mut stage, vec![agent(3, "hall/anna", [0.0, 0.0])])?;
    let frame = engine.run(&mut stage, 5)?;

    let metas = engine.subscribe::<AgentMeta>(&mut stage, "agent_meta", latched())?;
    let geometries = engine.subscribe::<WorldGeometry>(&mut stage, "world_geometry", latched())?;
    let drawn_walls = engine.subscribe::<MarkerArray>(&mut stage, "viz_static/walls", latched())?;
    let drawn_objects = engine.subscribe::<MarkerArray>(&mut stage, "viz_static/objects", latched())?;
    let meta = stage.until_some("meta data", || metas.pop())?;
    assert_eq!((meta.agent_id, meta.name), (vec![3], vec!["hall/anna".to_owned()]));
    assert_eq!(meta.policies.first().map(String::as_str), Some("sfm"));
    assert_eq!(meta.agent_type, [""], "empty = adult");
    let geometry = stage.until_some("geometry", || geometries.find(|it| !it.wall_names.is_empty()))?;
    assert_eq!((geometry.wall_names, geometry.wall_ends), (vec!["north".to_owned()], vec![point(5.0, 3.0)]));
    assert_eq!(geometry.world_objects.first().map(|object| object.object_id.as_str()), Some("bench"));
    let lines = stage.until_some("walls drawn", || drawn_walls.pop())?;
    let kinds: Vec<_> = lines.markers.iter().map(|marker| (marker.action, marker.ns.as_str())).collect();
    assert_eq!(kinds, [(3, ""), (0, "walls")], "deletes first");
    let things = stage.until_some("objects drawn", || drawn_objects.pop())?;
    let names: Vec<_> = things.markers.iter().map(|marker| marker.ns.as_str()).collect();
    assert_eq!(names, ["", "world_obj", "world_obj_label"]);

    // Nothing of it changes with ticks; all of it does with its cause, also while the clock is held.
    engine.run(&mut stage, 5)?;
    assert!(metas.is_empty() && geometries.is_empty() && drawn_walls.is_empty());
    engine.reset(&mut stage, true)?;
    let frame_after = engine.tick(&mut stage)?;
    let meta = stage.until_some("meta data after a reset", || metas.pop())?;
    assert_eq!(nanos(&meta.header.stamp), nanos(&frame_after.header.stamp), "stamped like the frame");
    assert!(nanos(&frame.header.stamp) < nanos(&meta.header.stamp));
    assert_eq!(ask!(engine, stage, "remove_walls", RemoveWalls, RemoveWalls::Request::default()), done());
    stage.until("geometry without walls", || geometries.find(|it| it.wall_names.is_empty()).is_some())
}

#[test]
fn agents_are_described_to_viewers_while_somebody_looks() -> Result<()> {
    let mut stage = Stage::new()?;
    let mut engine = Engine::follow(&mut stage, START, &[("publish_markers", "2")])?;
    engine.spawn(&mut stage, vec![walking(agent(1, "anna", [0.0, 0.0]), &[[9.0, 0.0]])])?;
    let markers = engine.subscribe::<MarkerArray>(&mut stage, "viz_agents", QosProfile::default())?;
    let ties = stage.subscribe::<TFMessage>("/tf_static", latched())?;
    let viz_node = Process::node("arena_humansim_viz_node", node_arguments(&engine.namespace, &[]))?;
    let (array, at) =
        run_until(&mut stage, &mut engine, "markers", |_| markers.find(|array| !array.markers.is_empty()))
            .with_context(|| viz_node.log())?;
    engine.now = at;
    let spaces: Vec<_> = array.markers.iter().map(|marker| marker.ns.as_str()).collect();
    assert_eq!(spaces[..3], ["body", "heading", "label"]);
    assert!(spaces.contains(&"waypoint") && spaces.contains(&"vision"), "level 2: {spaces:?}");
    assert_eq!(array.markers[2].text, "1 NAVIGATE");
    let tie = stage.until_some("world to map", || ties.pop())?;
    assert_eq!(
        (tie.transforms[0].header.frame_id.as_str(), tie.transforms[0].child_frame_id.as_str()),
        ("world", "map")
    );
    drop((viz_node, markers));

    let states = engine.subscribe::<AgentViz>(&mut stage, "viz_state", QosProfile::default())?;
    let (full, at) = run_until(&mut stage, &mut engine, "viz state", |_| states.pop())?;
    engine.now = at;
    assert_eq!((full.level, full.agent_id, full.wp_x), (2, vec![1], vec![9.0]));
    for (level, ways) in [(1, 0), (0, 0)] {
        assert!(engine.set(&mut stage, &[("publish_markers", integer(level))])?[0].successful);
        engine.reset(&mut stage, true)?;
        let what = format!("viz state of level {level}");
        let (state, at) =
            run_until(&mut stage, &mut engine, &what, |_| states.find(|it| i64::from(it.level) == level))?;
        engine.now = at;
        assert_eq!(state.wp_x.len(), ways);
    }
    engine.run(&mut stage, 3)?;
    assert!(states.is_empty(), "one message says that there is nothing any more");
    Ok(())
}

/// Lets the clock run, a tick per turn, until `look` finds something; answers it and the time.
fn run_until<T>(
    stage: &mut Stage,
    engine: &mut Engine,
    what: &str,
    mut look: impl FnMut(&Engine) -> Option<T>,
) -> Result<(T, i64)> {
    let found = stage.turn_until(what, |stage| {
        engine.now += DT;
        stage.publish_clock(engine.now)?;
        Ok(look(engine))
    })?;
    engine.settle(stage)?;
    Ok((found, engine.now))
}

#[test]
fn a_parameter_waits_for_the_reset_and_is_refused_with_a_reason() -> Result<()> {
    let mut stage = Stage::new()?;
    let mut engine =
        Engine::follow(&mut stage, START, &[("seed", "5"), ("arrival_r_enter", "0.2"), ("no_such", "1")])?;
    assert_eq!(engine.get(&mut stage, "seed")?.integer_value, 5);
    assert_eq!(engine.get(&mut stage, "arrival_r_enter")?.double_value, 0.2);
    assert_eq!(engine.get(&mut stage, "no_such")?.type_, 0, "ignored, as it is not declared");
    engine.spawn(&mut stage, vec![walking(agent(1, "anna", [0.0, 0.0]), &[[90.0, 0.0]])])?;

    // Waits for the reset.
    let set = engine
        .set(&mut stage, &[("local_planner", text("helbing")), ("dt", double(0.1)), ("rtf", integer(2))])?;
    assert_eq!(set.iter().map(|it| it.successful).collect::<Vec<_>>(), [true, false, true], "{set:?}");
    assert!(set[1].reason.contains("not reconfigurable at runtime: dt"), "{}", set[1].reason);
    assert_eq!(engine.get(&mut stage, "rtf")?.double_value, 2.0, "a whole number is a number");
    let metas = engine.subscribe::<AgentMeta>(&mut stage, "agent_meta", latched())?;
    engine.run(&mut stage, 5)?;
    let before = stage.until_some("meta data", || metas.find(|meta| !meta.agent_id.is_empty()))?;
    assert_eq!(before.policies, ["sfm"]);
    engine.reset(&mut stage, true)?;
    let frame = engine.run(&mut stage, 5)?;
    let after = stage.until_some("meta data after the reset", || metas.pop())?;
    let policy = usize::try_from(frame.policy_idx[0])?;
    assert_eq!(after.policies.get(policy).map(String::as_str), Some("helbing"), "{:?}", after.policies);

    // All or nothing, and planner keys that come with their planner.
    let batch = [("waypoint_threshold", double(0.3)), ("arrival_r_enter", double(0.9))];
    let refused = engine.set_as_one(&mut stage, &batch)?;
    assert!(!refused.successful && !refused.reason.is_empty());
    assert_eq!(engine.get(&mut stage, "waypoint_threshold")?.double_value, 0.1, "nothing of it");
    let batch = [
        ("local_planner.mass", double(75.0)),
        ("arrival_r_exit", double(1.0)),
        ("arrival_r_enter", double(0.9)),
    ];
    let taken = engine.set_as_one(&mut stage, &batch)?;
    assert!(taken.successful, "{}", taken.reason);
    assert_eq!(engine.get(&mut stage, "local_planner.mass")?.double_value, 75.0);
    for (name, value, says) in [
        ("rtf", double(-1.0), "0 to 1000"),
        ("rtf", double(f64::NAN), "rtf"),
        ("local_planner", text("teleport"), "sfm"),
        ("gesture_mode", integer(1), "text"),
        ("nonsense", double(1.0), "nonsense"),
        ("mode", text("master"), "not reconfigurable at runtime: mode"),
        ("use_sim_time", text("yes"), "use_sim_time"),
    ] {
        let refused = engine.set_as_one(&mut stage, &[(name, value)])?;
        assert!(!refused.successful && refused.reason.contains(says), "{name}: {}", refused.reason);
    }
    engine.process.check_alive()
}

#[test]
fn parameters_are_listed_and_described() -> Result<()> {
    let mut stage = Stage::new()?;
    let engine = Engine::start(&mut stage, &[("mode", "subsystem")])?;
    let request = ListParameters::Request { prefixes: vec!["global_planner".to_owned()], depth: 0 };
    let listed =
        engine.call::<ListParameters::Service>(&mut stage, "arena_humansim/list_parameters", &request)?;
    let names =
        ["", ".comfort_radius", ".inflation_radius", ".resolution"].map(|end| format!("global_planner{end}"));
    assert_eq!(listed.result.names, names);
    let names: Vec<String> = ["rtf", "seed", "use_sim_time", "nonsense"].map(str::to_owned).to_vec();
    let request = DescribeParameters::Request { names: names.clone() };
    let service = "arena_humansim/describe_parameters";
    let described = engine.call::<DescribeParameters::Service>(&mut stage, service, &request)?.descriptors;
    assert_eq!(described.iter().map(|it| it.read_only).collect::<Vec<_>>(), [false, true, true, false]);
    let range = described[0].floating_point_range.first().context("a range")?;
    assert_eq!((range.from_value, range.to_value), (0.0, 1000.0));
    let request = GetParameterTypes::Request { names };
    let service = "arena_humansim/get_parameter_types";
    assert_eq!(engine.call::<GetParameterTypes::Service>(&mut stage, service, &request)?.types, [3, 2, 1, 0]);
    Ok(())
}

#[test]
fn a_bad_start_ends_with_the_reason() -> Result<()> {
    let _stage = Stage::new()?;
    for (parameter, value, says) in [
        ("subsystem_overrun_policy", "skip", "lag"),
        ("global_planner", "teleport", "navmesh"),
        ("dt", "0.0", "dt"),
    ] {
        let node = Process::node("arena_humansim", node_arguments("/broken", &[(parameter, value)]))?;
        let ended = node.wait()?;
        assert!(!ended.status.success() && ended.log.contains(says), "{parameter}: {}", ended.log);
    }
    Ok(())
}

#[test]
fn a_master_makes_the_clock_at_its_factor_and_ends_after_its_ticks() -> Result<()> {
    let mut stage = Stage::new()?;
    let clocks = stage.subscribe::<Clock>("/clock", QosProfile::default().keep_last(1000))?;
    let engine = Engine::start(&mut stage, &[("rtf", "5.0"), ("publish_markers", "1")])?;
    let mut clock = || -> Result<i64> { Ok(nanos(&stage.until_some("clock", || clocks.pop())?.clock)) };
    let mut at = clock()?;
    for _ in 0..10 {
        let next = clock()?;
        assert_eq!(next - at, DT, "one dt per tick");
        at = next;
    }
    assert_eq!(at % DT, 0, "ticks x dt");
    // The frame of the tick before a reading has the time before it.
    let frame: AgentFrame = stage.until_some("frame", || engine.frames.pop())?;
    assert_eq!(nanos(&frame.header.stamp) % DT, 0);
    // As fast as possible from the next reset on: at its factor an hour would take minutes.
    assert!(engine.set(&mut stage, &[("rtf", double(0.0))])?[0].successful);
    engine.reset(&mut stage, true)?;
    stage.until("an hour", || clocks.find(|clock| nanos(&clock.clock) > at + 3600 * SECOND).is_some())?;
    let ended = engine.process.interrupt()?;
    assert!(ended.status.success(), "{ended:?}");

    let arguments = node_arguments("/limited", &[("rtf", "10.0"), ("time", "4.0")]);
    let ended = Process::node("arena_humansim", arguments)?.wait()?;
    assert!(ended.status.success() && ended.log.contains("the last of 80 ticks is done"), "{ended:?}");
    Ok(())
}

#[test]
fn a_recording_and_a_session_log_are_whole_when_the_node_ends() -> Result<()> {
    let mut stage = Stage::new()?;
    let folder = tempfile::TempDir::new()?;
    let path = |name: &str| folder.path().join(name).display().to_string();
    let (records, logs) = (path("records"), path("logs"));
    let parameters =
        [("record_bag", "true"), ("record_dir", &records), ("trial_id", "one"), ("log_dir", &logs)];
    let mut engine = Engine::follow(&mut stage, START, &parameters)?;
    engine.spawn(&mut stage, vec![walking(agent(0, "anna", [0.0, 0.0]), &[[9.0, 0.0]])])?;
    engine.run(&mut stage, 10)?;
    let ended = engine.process.interrupt()?;
    assert!(ended.status.success(), "{ended:?}");

    let bag = std::fs::read(folder.path().join("records/one/recording.mcap"))?;
    let magic = b"\x89MCAP0\r\n";
    assert!(bag.starts_with(magic) && bag.ends_with(magic), "closed");
    let about = std::fs::read_to_string(folder.path().join("records/one/recording.yaml"))?;
    for line in ["trial_id: one", "finished: true", "contaminated: false", "- sfm"] {
        assert!(about.contains(line), "{line}: {about}");
    }

    // The log runs again the same way, and neither is ever written over.
    let log = path("logs/session.jsonl");
    let replay =
        Process::node("arena_humansim", node_arguments("/replay", &[("replay_mode", &log)]))?.wait()?;
    assert!(replay.status.success() && replay.log.contains("ticks go the same way"), "{replay:?}");
    for parameters in [&parameters[..3], &parameters[3..]] {
        let again = Process::node("arena_humansim", node_arguments("/again", parameters))?.wait()?;
        let names = ["record_dir", "log_dir"].iter().any(|name| again.log.contains(name));
        assert!(!again.status.success() && names, "{again:?}");
    }
    Ok(())
}

#[test]
fn a_master_runs_a_scenario_to_its_end() -> Result<()> {
    let mut stage = Stage::new()?;
    let folder = tempfile::TempDir::new()?;
    let file = folder.path().join("lane.yaml");
    let text = "
name: lane
simulation: {max_ticks: 100000, robot_shutdown: true}
walls: [{name: north, start: {x: -2, y: 2}, end: {x: 8, y: 2}}]
agents:
- {agent_id: 4, kind: 1, agent_type: robot, policy: straight, spawn_pose: {x: 0, y: 0}, goal_sequence: [{x: 2, y: 0}]}
- {agent_id: 5, spawn_pose: {x: 0, y: -3}, goal_sequence: [{x: 50, y: -3}], spawn_tick: 10}
";
    std::fs::write(&file, text)?;
    let path = file.display().to_string();
    let engine = Engine::start(&mut stage, &[("scenario", &path), ("rtf", "5.0")])?;
    let geometries = engine.subscribe::<WorldGeometry>(&mut stage, "world_geometry", latched())?;
    let frame = stage.until_some("everybody", || engine.frames.find(|frame| frame.agent_id.contains(&5)))?;
    assert!(frame.agent_id.contains(&4));
    let geometry = stage.until_some("geometry", || geometries.pop())?;
    assert_eq!(geometry.wall_names, ["north"]);
    let ended = engine.process.wait()?;
    assert!(
        ended.status.success() && ended.log.contains("ticks is done"),
        "the robot has arrived: {ended:?}"
    );

    std::fs::write(&file, "name: lane\nagents: [{agent_id: 4, spawn_poze: {x: 0, y: 0}}]\n")?;
    let broken =
        Process::node("arena_humansim", node_arguments("/broken", &[("scenario", &path)]))?.wait()?;
    assert!(!broken.status.success() && broken.log.contains("spawn_poze"), "{broken:?}");
    Ok(())
}
