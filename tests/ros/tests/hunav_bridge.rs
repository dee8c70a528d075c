//! `human:=hunav` before agent managers in another process, through `hunav_bridge` (HuNav specification, section 8).

use anyhow::{Context as _, Result, ensure};
use promenade_ros_tests::hunav::{ForeignManager, Manager, Manner, call};
use promenade_ros_tests::{Cast, Environment, Process, Stage, node_arguments, wire};
use r2r::QosProfile;
use r2r::hunav_msgs::srv::{GetAgents, GetWalls};
use r2r::visualization_msgs::msg::MarkerArray;

/// Where managers that are not ours are.
const FOREIGN: &str = "/foreign";

/// Patience of an environment that a loaded machine must not exhaust.
const PATIENT: [(&str, &str); 4] = [
    ("human", "hunav"),
    ("hunav.engine", "external"),
    ("hunav.timeout", "20.0"),
    ("hunav.discovery_timeout", "30.0"),
];

fn cast() -> Cast {
    Cast {
        walls: vec![([0.0, 3.0], [4.0, 3.0])],
        waypoints: vec![[40.0, 0.0]],
        ..Cast::people(&["anna", "ben", "cara"])
    }
}

/// An environment that is about to be.
struct Place {
    task_generator: String,
}

impl Place {
    fn next() -> Self {
        promenade_ros_tests::own_domain();
        Place { task_generator: format!("{}/task_generator", Environment::next_namespace()) }
    }

    fn bridge(&self, manager: &str) -> Result<Process> {
        let markers = self.task_generator.replace("task_generator", "pedestrian_markers/extra");
        let parameters = [("markers", markers.as_str()), ("manager", manager)];
        let parameters = if manager.is_empty() { &parameters[..1] } else { &parameters[..] };
        Process::node("hunav_bridge", node_arguments(&self.task_generator, parameters))
    }

    fn environment(
        &self,
        stage: &mut Stage,
        cast: &Cast,
        parameters: &[(&str, &str)],
    ) -> Result<Environment> {
        let environment = Environment::start_with(stage, cast, parameters)?;
        ensure!(self.task_generator.starts_with(&environment.namespace), "the next one");
        Ok(environment)
    }
}

/// How far along x somebody is, in the newest frame that waits.
fn along(environment: &Environment, name: &str) -> Option<f64> {
    let frames = environment.frames.drain();
    let frame = frames.iter().rev().find_map(|frame| wire::find(frame, name));
    frame.map(|person| person.pose.position.x)
}

/// Lets time pass from a frame until somebody is beyond `x`; the frame then.
fn walk(environment: &Environment, stage: &mut Stage, from: i64, name: &str, x: f64) -> Result<i64> {
    let beyond = || along(environment, name).filter(|at| *at > x);
    Ok(environment.run_until(stage, from, &format!("{name} beyond {x}"), beyond)?.1)
}

#[test]
fn our_own_manager_in_another_process_moves_people() -> Result<()> {
    let mut stage = Stage::new()?;
    let place = Place::next();
    let manager = Manager::start(&[])?;
    let mut bridge = place.bridge(&manager.namespace)?;
    let mut environment = place.environment(&mut stage, &cast(), &PATIENT)?;
    let at = walk(&environment, &mut stage, 0, "anna", 2.0)?;
    walk(&environment, &mut stage, at, "cara", 4.0)?;
    bridge.check_alive()?;
    environment.process.check_alive()
}

#[test]
fn a_manager_gets_whole_records_whatever_it_answers_and_its_forces_are_shown() -> Result<()> {
    let mut stage = Stage::new()?;
    let place = Place::next();
    let manager = ForeignManager::start(&stage.context, FOREIGN)?;
    let _bridge = place.bridge(FOREIGN)?;
    let environment = place.environment(&mut stage, &cast(), &PATIENT)?;
    let markers: promenade_ros_tests::Mailbox<MarkerArray> =
        stage.subscribe(&environment.topic("pedestrian_markers/extra"), QosProfile::default())?;
    let at = walk(&environment, &mut stage, 0, "anna", 2.0)?;
    let shown = || markers.find(|said| said.markers.iter().any(|m| m.ns == "foreign/robot_forces"));
    environment.run_until(&mut stage, at, "the forces", shown)?;
    let asked = manager.asked().clone();
    ensure!(asked.clears >= 1, "it was cleared before the first request");
    let first = &asked.requests[0];
    let last = asked.requests.last().context("some")?;
    assert_eq!(first.current_agents.header.frame_id, "map");
    let ids: Vec<_> = first.current_agents.agents.iter().map(|a| (a.id, a.name.as_str())).collect();
    assert_eq!(ids, [(1, "anna"), (2, "ben"), (3, "cara")]);
    assert_eq!((first.robot.id, first.robot.type_, first.robot.position.position.x), (0, 2, 1e4));
    for (before, after) in first.current_agents.agents.iter().zip(&last.current_agents.agents) {
        ensure!(
            before.desired_velocity > 0.0 && before.radius > 0.0 && !before.goals.is_empty(),
            "{before:?}"
        );
        assert_eq!((before.desired_velocity, before.radius), (after.desired_velocity, after.radius));
        assert_eq!((before.goal_radius, before.cyclic_goals), (after.goal_radius, after.cyclic_goals));
        assert_eq!((before.group_id, &before.behavior_tree), (after.group_id, &after.behavior_tree));
        assert_eq!(before.goals, after.goals);
        ensure!(after.position.position.x > before.position.position.x, "live poses are sent");
        assert_eq!(after.velocity.linear.x, 1.0, "and velocities");
    }
    ensure!(!first.current_agents.agents[0].closest_obs.is_empty(), "points of the wall");
    Ok(())
}

#[test]
fn unknown_missing_and_lost_agents_cost_nobody_else_anything() -> Result<()> {
    let mut stage = Stage::new()?;
    let place = Place::next();
    let manager = ForeignManager::start(&stage.context, FOREIGN)?;
    manager.asked().manner = Manner::Odd;
    let _bridge = place.bridge(FOREIGN)?;
    let mut environment = place.environment(&mut stage, &cast(), &PATIENT)?;
    let at = walk(&environment, &mut stage, 0, "cara", 5.0)?;
    let (frame, at) = environment.run_until(&mut stage, at, "a frame", || environment.frames.pop())?;
    let x = |name: &str| anyhow::Ok(wire::find(&frame, name).context("on the bus")?.pose.position.x);
    assert_eq!((x("anna")?, x("ben")?), (1.0, 2.0), "they keep their last state");
    ensure!(wire::find(&frame, "nobody").is_none());
    manager.asked().manner = Manner::Original;
    let at = walk(&environment, &mut stage, at, "anna", 2.0)?;
    walk(&environment, &mut stage, at, "ben", 3.0)?;
    environment.process.check_alive()
}

#[test]
fn a_silent_manager_stops_people_with_one_warning_until_it_answers() -> Result<()> {
    let mut stage = Stage::new()?;
    let place = Place::next();
    let manager = ForeignManager::start(&stage.context, FOREIGN)?;
    let _bridge = place.bridge(FOREIGN)?;
    let impatient: Vec<_> =
        PATIENT.iter().map(|(k, v)| if *k == "hunav.timeout" { (*k, "0.2") } else { (*k, *v) }).collect();
    let environment = place.environment(&mut stage, &cast(), &impatient)?;
    let at = walk(&environment, &mut stage, 0, "anna", 2.0)?;
    manager.asked().manner = Manner::Silent;
    let before = manager.count();
    let unanswered = || (manager.count() >= before + 8).then_some(());
    let at = environment.run_until(&mut stage, at, "requests in vain", unanswered)?.1;
    let stopped = along(&environment, "anna").context("still on the bus")?;
    let still = || (manager.count() >= before + 12).then_some(());
    let at = environment.run_until(&mut stage, at, "more requests in vain", still)?.1;
    assert_eq!(along(&environment, "anna"), Some(stopped), "people keep their last state");
    assert_eq!(environment.process.logged("does not answer"), 1, "{}", environment.process.log());
    manager.asked().manner = Manner::Original;
    walk(&environment, &mut stage, at, "anna", stopped + 1.0)?;
    Ok(())
}

#[test]
fn a_manager_that_is_restarted_goes_on_with_the_live_poses() -> Result<()> {
    let mut stage = Stage::new()?;
    let place = Place::next();
    let manager = ForeignManager::start(&stage.context, FOREIGN)?;
    let _bridge = place.bridge(FOREIGN)?;
    let environment = place.environment(&mut stage, &cast(), &PATIENT)?;
    let at = walk(&environment, &mut stage, 0, "anna", 2.0)?;
    drop(manager);
    let told = || (environment.process.logged("does not answer") > 0).then_some(());
    let at = environment.run_until(&mut stage, at, "warning", told)?.1;
    let (x, at) =
        environment.run_until(&mut stage, at, "anna, silent or not", || along(&environment, "anna"))?;
    let manager = ForeignManager::start(&stage.context, FOREIGN)?;
    walk(&environment, &mut stage, at, "anna", x + 1.0)?;
    let first = manager.asked().requests[0].clone();
    ensure!(first.current_agents.agents[0].position.position.x >= x - 0.5, "from where she is");
    Ok(())
}

#[test]
fn without_a_manager_auto_takes_the_built_in_engine_and_external_waits_for_one() -> Result<()> {
    let mut stage = Stage::new()?;
    let place = Place::next();
    let bridge = place.bridge(FOREIGN)?;
    let auto = [("human", "hunav"), ("hunav.engine", "auto"), ("hunav.discovery_timeout", "0.5")];
    let environment = place.environment(&mut stage, &cast(), &auto)?;
    environment.logged(&mut stage, "the built-in engine moves people")?;
    walk(&environment, &mut stage, 0, "anna", 2.0)?;
    drop((environment, bridge));

    let place = Place::next();
    let _bridge = place.bridge(FOREIGN)?;
    let external = [("human", "hunav"), ("hunav.engine", "external"), ("hunav.discovery_timeout", "0.5")];
    let external: Vec<_> = external.into_iter().chain([("hunav.timeout", "20.0")]).collect();
    let environment = place.environment(&mut stage, &cast(), &external)?;
    environment.logged(&mut stage, "no agent manager yet")?;
    let shown = || along(&environment, "anna").filter(|x| *x == 1.0);
    let at = environment.run_until(&mut stage, 0, "anna standing", shown)?.1;
    let _manager = ForeignManager::start(&stage.context, FOREIGN)?;
    walk(&environment, &mut stage, at, "anna", 2.0)?;
    Ok(())
}

#[test]
fn a_simulator_that_asks_hears_who_and_what_is_there_with_the_built_in_engine_too() -> Result<()> {
    let mut stage = Stage::new()?;
    let place = Place::next();
    let _bridge = place.bridge("")?;
    let environment = place.environment(&mut stage, &cast(), &[("human", "hunav")])?;
    walk(&environment, &mut stage, 0, "anna", 1.5)?;
    let name = |of: &str| format!("{}/{of}", place.task_generator);
    let agents = stage.turn_until("the agents", |stage| {
        let request = GetAgents::Request { empty: 0 };
        let agents = call::<GetAgents::Service>(stage, &name("get_agents"), &request)?.agents.agents;
        Ok((!agents.is_empty()).then_some(agents))
    })?;
    let named: Vec<_> = agents.iter().map(|a| (a.id, a.name.as_str(), a.goals.len())).collect();
    assert_eq!(named, [(1, "anna", 1), (2, "ben", 1), (3, "cara", 1)]);
    let walls = call::<GetWalls::Service>(&mut stage, &name("get_walls"), &GetWalls::Request {})?.walls;
    assert_eq!((walls.len(), walls[0].length, walls[0].end.x), (1, 4.0, 4.0));
    Ok(())
}

#[test]
fn a_wrong_parameter_ends_the_node_with_what_it_takes() -> Result<()> {
    promenade_ros_tests::own_domain();
    let parameters = [("human", "hunav"), ("hunav.engine", "externl")];
    let ended = Process::node("human_simulator", node_arguments("/arena/env_77", &parameters))?.wait()?;
    ensure!(!ended.status.success());
    ensure!(ended.log.contains("hunav.engine must be one of builtin, external, auto"), "{}", ended.log);
    Ok(())
}
