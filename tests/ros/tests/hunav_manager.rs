//! `hunav_agent_manager` before clients that are not ours (HuNav specification, sections 2, 3, 9.2 and 11).

use std::collections::BTreeMap;
use std::f64::consts::{PI, TAU};
use std::path::Path;

use anyhow::{Context as _, Result, ensure};
use promenade_ros_tests::hunav::{Manager, agent, echo, request, robot};
use promenade_ros_tests::{SECOND, Stage, wire};
use r2r::geometry_msgs::msg::Point;
use r2r::hunav_msgs::msg::{Agent, AgentBehavior, Agents};
use r2r::hunav_msgs::srv::{
    ComputeAgent, DeleteActors, GetAgents, GetWalls, MoveAgent, ResetAgents, SetArenaWorldSize,
    SetVelocityField,
};
use r2r::people_msgs::msg::People;
use r2r::std_msgs::msg::{Float32MultiArray, MultiArrayDimension, MultiArrayLayout};
use r2r::std_srvs::srv::Trigger;
use r2r::tf2_msgs::msg::TFMessage;
use r2r::visualization_msgs::msg::MarkerArray;
use r2r::{QosProfile, WrappedTypesupport};
use serde::Deserialize;

const TENTH: i64 = SECOND / 10;

/// A scene of the format `hunav-reference/1`.
#[derive(Deserialize)]
struct Scene {
    semantics: Semantics,
    dt: f64,
    steps: i64,
    tolerance: BTreeMap<String, f64>,
    columns: Vec<String>,
    agents: Vec<Walker>,
    robot: Robot,
    expected: Vec<Vec<f64>>,
}

#[derive(Deserialize)]
struct Semantics {
    manager: String,
}

#[derive(Deserialize)]
struct Walker {
    id: i32,
    group_id: i8,
    x: f64,
    y: f64,
    yaw: f32,
    vx: f64,
    vy: f64,
    desired_velocity: f32,
    radius: f32,
    goal_radius: f32,
    cyclic_goals: bool,
    goals: Vec<[f64; 2]>,
    obstacles: Vec<[f64; 2]>,
    behavior: Behavior,
}

#[derive(Deserialize)]
struct Behavior {
    #[serde(rename = "type")]
    kind: u8,
    state: u8,
    configuration: u8,
    duration: f32,
    once: bool,
    vel: f32,
    dist: f32,
    goal_force_factor: f32,
    obstacle_force_factor: f32,
    social_force_factor: f32,
    other_force_factor: f32,
}

#[derive(Deserialize)]
struct Robot {
    id: i32,
    group_id: i8,
    radius: f32,
    desired_velocity: f32,
    states: Vec<[f64; 6]>,
}

impl Walker {
    fn agent(&self) -> Agent {
        let mut agent = agent(self.id, &format!("agent_{}", self.id), [self.x, self.y], &self.goals);
        agent.group_id = self.group_id;
        agent.yaw = self.yaw;
        (agent.velocity.linear.x, agent.velocity.linear.y) = (self.vx, self.vy);
        (agent.desired_velocity, agent.radius) = (self.desired_velocity, self.radius);
        (agent.goal_radius, agent.cyclic_goals) = (self.goal_radius, self.cyclic_goals);
        agent.closest_obs = self.obstacles.iter().map(|[x, y]| Point { x: *x, y: *y, z: 0.0 }).collect();
        let from = &self.behavior;
        agent.behavior = AgentBehavior {
            type_: from.kind,
            state: from.state,
            configuration: from.configuration,
            duration: from.duration,
            once: from.once,
            vel: from.vel,
            dist: from.dist,
            goal_force_factor: from.goal_force_factor,
            obstacle_force_factor: from.obstacle_force_factor,
            social_force_factor: from.social_force_factor,
            other_force_factor: from.other_force_factor,
        };
        agent
    }
}

impl Robot {
    fn agent(&self, step: i64) -> Agent {
        let [x, y, yaw, vx, vy, wz] = self.states[step as usize];
        let mut agent = robot([x, y]);
        (agent.id, agent.group_id) = (self.id, self.group_id);
        (agent.radius, agent.desired_velocity, agent.yaw) = (self.radius, self.desired_velocity, yaw as f32);
        (agent.velocity.linear.x, agent.velocity.linear.y, agent.velocity.angular.z) = (vx, vy, wz);
        agent
    }
}

/// What of an answer the recorded rows have, by column.
fn column(agent: &Agent, name: &str) -> Option<f64> {
    Some(match name {
        "x" => agent.position.position.x,
        "y" => agent.position.position.y,
        "yaw" => f64::from(agent.yaw),
        "vx" => agent.velocity.linear.x,
        "vy" => agent.velocity.linear.y,
        "linear_vel" => f64::from(agent.linear_vel),
        "angular_vel" => f64::from(agent.angular_vel),
        "state" => f64::from(agent.behavior.state),
        "goals_left" => agent.goals.len() as f64,
        _ => return None,
    })
}

/// Plays a recorded scene through the services and answers the largest share of a tolerance that was used.
fn play(name: &str) -> Result<f64> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../crates/hunav/tests/reference")
        .join(format!("{name}.json"));
    let scene: Scene = serde_json::from_str(&std::fs::read_to_string(file)?)?;
    let version = if scene.semantics.manager == "v1" { "p1" } else { "p15" };
    let mut stage = Stage::new()?;
    let manager = Manager::start(&[("compat", "strict"), ("manager", version), ("order", "reverse")])?;
    let mut agents: Vec<Agent> = scene.agents.iter().map(Walker::agent).collect();
    let mut worst: f64 = 0.0;
    let mut compared = 0;
    for step in 0..=scene.steps {
        let at = (step as f64 * scene.dt * 1e9).round() as i64;
        let answer = manager.compute(&mut stage, at, &agents, &scene.robot.agent(step))?;
        let ids: Vec<i32> = answer.iter().map(|agent| agent.id).collect();
        let asked: Vec<i32> = agents.iter().rev().map(|agent| agent.id).collect();
        ensure!(ids == asked, "the original answers in the reverse order");
        for row in scene.expected.iter().filter(|row| row[0] as i64 == step) {
            let moved = answer.iter().find(|agent| agent.id == row[1] as i32).context("its id")?;
            for (column_name, expected) in scene.columns.iter().zip(row) {
                let Some(found) = column(moved, column_name) else { continue };
                let tolerance = scene.tolerance.get(column_name).unwrap_or(&scene.tolerance["default"]);
                let mut off = (found - expected).abs();
                if column_name == "yaw" {
                    off = ((found - expected + PI).rem_euclid(TAU) - PI).abs();
                }
                ensure!(
                    off <= *tolerance,
                    "{name}, step {step}, agent {}: {column_name} is {found}, recorded {expected}",
                    moved.id
                );
                worst = worst.max(off / tolerance.max(1e-12));
                compared += 1;
            }
        }
        echo(&answer, &mut agents);
    }
    ensure!(compared > 300, "only {compared} numbers were compared");
    println!("{name}: {compared} numbers over DDS, at most {worst:.3} of a tolerance off");
    Ok(worst)
}

#[test]
fn a_regular_and_an_impassive_walker_cross_a_robot_as_recorded() -> Result<()> {
    play("s06_service_v1_regular_impassive").map(drop)
}

#[test]
fn a_scared_walker_is_as_recorded() -> Result<()> {
    play("s07_service_v15_scared").map(drop)
}

#[test]
fn surprised_curious_and_threatening_walkers_are_as_recorded() -> Result<()> {
    play("s08_service_v15_mixed").map(drop)
}

/// A simulator's loader file.
const LOADER: &str = "hunav_loader:
  ros__parameters:
    map: hall
    publish_people: true
    agents: [anna, ben]
    anna:
      id: 1
      skin: 2
      group_id: -1
      max_vel: 1.2
      radius: 0.4
      init_pose: {x: 0.0, y: 0.0, z: 1.25, h: 0.0}
      goal_radius: 0.3
      cyclic_goals: true
      goals: [g0, g1]
      g0: {x: 4.0, y: 0.0, h: 0.0}
      g1: {x: 0.0, y: 0.0, h: 0.0}
      behavior: {type: 1, configuration: 0}
    ben:
      id: 2
      skin: 1
      group_id: -1
      max_vel: 0.8
      radius: 0.4
      init_pose: {x: 6.0, y: 3.0, z: 1.25, h: 3.14}
      goal_radius: 0.3
      cyclic_goals: true
      goals: [g0]
      g0: {x: -2.0, y: 3.0, h: 0.0}
      behavior: {type: 5, configuration: 1, duration: 40.0, once: true, vel: 1.0, dist: 1.5,
                 goal_force_factor: 2.0, obstacle_force_factor: 10.0, social_force_factor: 5.0, other_force_factor: 20.0}
";

/// Calls until a topic of the manager reaches us, so that nothing of the episode is missed.
fn meet<T: WrappedTypesupport + 'static>(
    manager: &Manager,
    stage: &mut Stage,
    topic: &str,
) -> Result<promenade_ros_tests::Mailbox<T>> {
    let mailbox = manager.subscribe::<T>(stage, topic)?;
    let mut at = SECOND;
    let anybody = [agent(9, "herald", [50.0, 50.0], &[])];
    while mailbox.is_empty() {
        at += TENTH;
        manager.compute(stage, at, &anybody, &robot([90.0, 90.0]))?;
        stage.turn();
        ensure!(at < 3000 * TENTH, "nothing comes on {topic}");
    }
    manager.call::<Trigger::Service>(stage, "clear_agents", &Trigger::Request {})?;
    drop(mailbox.drain());
    Ok(mailbox)
}

#[test]
fn a_gazebo_wrapper_plays_a_whole_episode() -> Result<()> {
    let mut stage = Stage::new()?;
    let loader = tempfile::NamedTempFile::with_suffix(".yaml")?;
    std::fs::write(loader.path(), LOADER)?;
    let file = loader.path().to_str().context("a plain path")?;
    let manager = Manager::start(&[("agents_file", file)])?;

    // The plugin asks once which actors there are.
    let mut agents = manager
        .call::<GetAgents::Service>(&mut stage, "get_agents", &GetAgents::Request { empty: 0 })?
        .agents
        .agents;
    let named: Vec<_> = agents.iter().map(|a| (a.id, a.name.as_str(), a.skin, a.goals.len())).collect();
    assert_eq!(named, [(1, "anna", 2, 2), (2, "ben", 1, 1)]);
    assert_eq!((agents[0].behavior.goal_force_factor, agents[1].behavior.type_), (2.0, 5));
    assert_eq!(agents[0].position.position.z, 1.25);

    let human_states = meet::<Agents>(&manager, &mut stage, "human_states")?;
    let robot_states = meet::<Agent>(&manager, &mut stage, "robot_states")?;
    let people = meet::<People>(&manager, &mut stage, "people")?;
    let forces = meet::<MarkerArray>(&manager, &mut stage, "sfm_forces")?;
    let frames = stage.subscribe::<TFMessage>("/tf", QosProfile::default().keep_last(1000))?;
    drop((human_states.drain(), robot_states.drain(), people.drain()));

    // The first call initialises: nobody moves, nothing is published.
    let start = 1000 * SECOND;
    let away = robot([30.0, 30.0]);
    let first = manager.compute(&mut stage, start, &agents, &away)?;
    assert_eq!(first.iter().map(|a| a.id).collect::<Vec<_>>(), [1, 2], "in request order");
    assert_eq!(first[0].position.position, agents[0].position.position);
    assert_eq!((first[1].skin, first[1].desired_velocity, first[1].radius), (1, 0.8, 0.4), "echoed");

    // Then the world goes on at 10 Hz; the plugin says itself how fast everybody was.
    let mut seen_turning = false;
    for step in 1..=80 {
        let before = agents.clone();
        let answer = manager.compute(&mut stage, start + step * TENTH, &agents, &away)?;
        for agent in &mut agents {
            let moved = answer.iter().find(|moved| moved.id == agent.id).context("answered by id")?;
            let old = &before.iter().find(|old| old.id == agent.id).context("known")?.position.position;
            agent.position = moved.position.clone();
            agent.yaw = moved.yaw;
            agent.velocity.linear.x = (moved.position.position.x - old.x) / 0.1;
            agent.velocity.linear.y = (moved.position.position.y - old.y) / 0.1;
            let speed = agent.velocity.linear.x.hypot(agent.velocity.linear.y);
            ensure!(speed <= f64::from(agent.desired_velocity) + 1e-3, "step {step}: {speed} m/s");
        }
        let anna = answer.iter().find(|moved| moved.id == 1).context("anna")?;
        seen_turning |= anna.goals.first().is_some_and(|goal| goal.position.x == 0.0);
    }
    ensure!(seen_turning, "anna reached her first goal, and it went to the end");
    ensure!(agents[1].position.position.x < 2.0, "ben walked on: {:?}", agents[1].position.position);

    // What was published is the requests, from the second on.
    stage.until("80 human_states", || human_states.len() >= 80)?;
    let said = human_states.drain();
    assert_eq!(wire::nanos(&said[0].header.stamp), start + TENTH);
    assert_eq!(said[0].agents[0].position, first[0].position);
    stage.until("robot_states", || robot_states.len() >= 80)?;
    assert_eq!(robot_states.drain()[0], away);
    stage.until("people", || people.len() >= 80)?;
    let person = &people.drain()[79].people[0];
    assert_eq!((person.name.as_str(), person.tags.join(" ")), ("anna", "1 -1 1".to_owned()));
    stage.until("forces", || forces.len() >= 80)?;
    let drawn = &forces.drain()[0];
    let texts: Vec<_> = drawn.markers.iter().filter(|m| m.type_ == 9).map(|m| m.text.as_str()).collect();
    assert_eq!(texts, ["anna/REGULAR", "ben/CURIOUS"]);
    let found = stage.until_some("a frame of anna", || {
        frames.find(|message| message.transforms.iter().any(|frame| frame.child_frame_id == "anna"))
    })?;
    let children: Vec<_> = found.transforms.iter().map(|frame| frame.child_frame_id.as_str()).collect();
    assert_eq!(children, ["anna", "ben", "robot"]);
    assert_eq!(found.transforms[0].header.frame_id, "map");

    // A robot drives up to ben, who is curious and says so.
    let ben = agents[1].position.position.clone();
    let mut at = start + 80 * TENTH;
    let mut reacted = false;
    for _ in 0..60 {
        at += TENTH;
        let near = robot([ben.x - 3.0, ben.y]);
        let answer = manager.compute(&mut stage, at, &agents, &near)?;
        reacted |= answer.iter().any(|moved| moved.id == 2 && moved.behavior.state == 1);
        echo(&answer, &mut agents);
    }
    ensure!(reacted, "robust mode reports the reaction");
    Ok(())
}

#[test]
fn restarts_resends_and_single_agents_keep_to_the_protocol() -> Result<()> {
    let mut stage = Stage::new()?;
    let mut manager = Manager::start(&[])?;
    let far = robot([90.0, 90.0]);
    let mut agents =
        vec![agent(1, "anna", [0.0, 0.0], &[[9.0, 0.0]]), agent(2, "ben", [0.0, 5.0], &[[9.0, 5.0]])];
    let at = |step: i64| 100 * SECOND + step * TENTH;
    manager.compute(&mut stage, at(0), &agents, &far)?;
    for step in 1..=10 {
        let answer = manager.compute(&mut stage, at(step), &agents, &far)?;
        echo(&answer, &mut agents);
    }
    let x = agents[0].position.position.x;
    ensure!(x > 0.4, "anna walked: {x}");

    // A stamp that goes back moves nobody; the world goes on from there.
    let answer = manager.compute(&mut stage, at(-50), &agents, &far)?;
    assert_eq!(answer[0].position.position.x, x);
    let answer = manager.compute(&mut stage, at(-49), &agents, &far)?;
    ensure!(answer[0].position.position.x > x, "and goes on");
    echo(&answer, &mut agents);

    // Somebody new in a later request is added.
    agents.push(agent(3, "cara", [5.0, 9.0], &[[-9.0, 9.0]]));
    manager.compute(&mut stage, at(-48), &agents, &far)?;
    let answer = manager.compute(&mut stage, at(-47), &agents, &far)?;
    ensure!(answer[2].id == 3 && answer[2].position.position.x < 5.0, "cara walks: {:?}", answer[2].position);
    echo(&answer, &mut agents);

    // Clear and resend keeps poses and moves nobody.
    let cleared = manager.call::<Trigger::Service>(&mut stage, "clear_agents", &Trigger::Request {})?;
    ensure!(cleared.success, "{}", cleared.message);
    let answer = manager.compute(&mut stage, at(-46), &agents, &far)?;
    assert_eq!(answer[0].position.position, agents[0].position.position);
    assert_eq!(answer[2].position.position, agents[2].position.position);

    // One agent at a time, all with one stamp.
    for id in [1, 2, 3] {
        let request = MoveAgent::Request {
            current_agents: request(at(-45), &agents),
            robot: far.clone(),
            agent_id: id,
        };
        let moved = manager.call::<MoveAgent::Service>(&mut stage, "move_agent", &request)?.updated_agent;
        let old = agents.iter().find(|agent| agent.id == id).context("known")?;
        ensure!(moved.id == id && moved.position != old.position, "agent {id} got its time");
    }
    let again = manager
        .call::<ComputeAgent::Service>(&mut stage, "compute_agent", &ComputeAgent::Request { id: 2 })?
        .updated_agent;
    assert_eq!((again.id, again.name.as_str()), (2, "ben"));
    let nobody = manager
        .call::<ComputeAgent::Service>(&mut stage, "compute_agent", &ComputeAgent::Request { id: 99 })?
        .updated_agent;
    assert_eq!((nobody.id, nobody.name.as_str()), (0, ""));

    // A reset with other goals begins anew.
    agents[0].goals = vec![wire::pose(-9.0, 0.0)];
    let request = ResetAgents::Request { current_agents: request(at(-44), &agents), robot: far.clone() };
    ensure!(manager.call::<ResetAgents::Service>(&mut stage, "reset_agents", &request)?.ok, "reset");
    let there = manager
        .call::<GetAgents::Service>(&mut stage, "get_agents", &GetAgents::Request { empty: 0 })?
        .agents
        .agents;
    assert_eq!((there.len(), there[0].goals[0].position.x), (3, -9.0));
    let walls = manager.call::<GetWalls::Service>(&mut stage, "get_walls", &GetWalls::Request {})?;
    assert!(walls.walls.is_empty());
    let gone =
        manager.call::<DeleteActors::Service>(&mut stage, "delete_actors", &DeleteActors::Request {})?;
    assert_eq!((gone.success, gone.deleted_count), (true, 3));
    manager.process.check_alive()
}

fn array(sizes: &[u32], count: usize) -> Float32MultiArray {
    let dim = |size: &u32| MultiArrayDimension { size: *size, ..MultiArrayDimension::default() };
    let layout = MultiArrayLayout { dim: sizes.iter().map(dim).collect(), data_offset: 0 };
    Float32MultiArray { layout, data: vec![0.5; count] }
}

#[test]
fn fields_of_another_shape_are_refused() -> Result<()> {
    let mut stage = Stage::new()?;
    let manager = Manager::start(&[])?;
    let mut set = |array| {
        let request = SetVelocityField::Request { velocity_field: array };
        manager.call::<SetVelocityField::Service>(&mut stage, "set_velocity_field", &request)
    };
    let taken = set(array(&[2, 64, 64, 2], 2 * 64 * 64 * 2))?;
    ensure!(taken.success, "{}", taken.message);
    let refused = set(array(&[2, 32, 32, 2], 2 * 32 * 32 * 2))?;
    ensure!(!refused.success && refused.message.contains("(groups, 64, 64, 2)"), "{refused:?}");
    ensure!(!set(array(&[2, 64, 64, 2], 7))?.success);
    let size = SetArenaWorldSize::Request { arena_world_size: array(&[2], 2) };
    let taken = manager.call::<SetArenaWorldSize::Service>(&mut stage, "set_arena_world_size", &size)?;
    ensure!(taken.success, "{}", taken.message);
    Ok(())
}

#[test]
fn what_no_client_should_send_ends_nothing() -> Result<()> {
    let mut stage = Stage::new()?;
    let mut manager = Manager::start(&[])?;
    let sane = || agent(1, "anna", [0.0, 0.0], &[[9.0, 0.0]]);
    let mut lost = agent(2, "ben", [f64::NAN, f64::INFINITY], &[[f64::NAN, 0.0]]);
    lost.yaw = f32::NAN;
    lost.desired_velocity = f32::NEG_INFINITY;
    lost.behavior.type_ = 250;
    lost.closest_obs = vec![Point { x: f64::NAN, y: 1e308, z: 0.0 }];
    let twin = agent(1, "twin", [1e308, -1e308], &[[1e308, 0.0]]);
    let mut treeless = agent(3, "", [3.0, 3.0], &[]);
    treeless.behavior_tree = "/nowhere/at/all.xml".to_owned();
    let crowds: [&[Agent]; 5] =
        [&[], &[sane(), lost.clone()], &[sane(), twin.clone(), twin], &[treeless, sane()], &[sane(), lost]];
    let mut wild = robot([f64::NAN, 0.0]);
    wild.yaw = f32::INFINITY;
    let mut at = i64::from(i32::MAX) * SECOND;
    for crowd in crowds {
        for machine in [robot([2.0, 0.0]), wild.clone()] {
            at -= TENTH;
            manager.compute(&mut stage, at, crowd, &machine)?;
            manager.compute(&mut stage, at + TENTH / 2, crowd, &machine)?;
        }
    }
    manager.call::<Trigger::Service>(&mut stage, "clear_agents", &Trigger::Request {})?;
    manager.compute(&mut stage, SECOND, &[sane()], &robot([90.0, 90.0]))?;
    let answer = manager.compute(&mut stage, SECOND + TENTH, &[sane()], &robot([90.0, 90.0]))?;
    ensure!(answer[0].position.position.x > 0.0, "anna walks as if nothing had been");
    manager.process.check_alive()
}
