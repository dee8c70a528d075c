//! People on their way in, parameters, and an engine that is late, silent or refuses (sections 17.2, 17.4 and 20).

use std::sync::Arc;

use promenade_crowd::protocol::{AgentState, ParameterValue as Sent, mode};
use promenade_human::entity::DynamicObstacle;
use promenade_human::message::Pose;
use promenade_human::{Parameter, ParameterValue};
use promenade_scenario::{DynamicEntry, Scenario, WaypointMode};

use super::{Play, Say};
use crate::stage::person;

/// The only person of a scenario text.
fn entry(text: &str) -> DynamicEntry {
    let text = format!("dynamic:\n- {{name: ann, model: adult, pose: [1, 1, 0], {text}}}");
    let scenario =
        Scenario::parse(&text, std::path::Path::new("/scenes/scenario.yaml")).expect("holds").value;
    scenario.dynamics[0].clone()
}

fn from(name: &str, agent_type: &str, text: &str) -> DynamicObstacle {
    DynamicObstacle {
        agent_type: agent_type.to_owned(),
        entry: Some(Arc::new(entry(text))),
        velocity: 1.2,
        ..person(name)
    }
}

fn spawned(people: &[DynamicObstacle], seed: u64) -> Vec<AgentState> {
    let mut play = Play::new();
    play.stage.layer.set_seed(seed);
    play.stage.layer.spawn_pedestrians(people);
    std::mem::take(&mut play.engine.borrow_mut().agents)
}

#[test]
fn somebody_without_an_agent_has_their_speed_the_default_radius_and_nothing_else() {
    let ann = DynamicObstacle {
        pose: Pose::planar(11.0, -4.0, 0.5),
        velocity: 0.8,
        waypoints: vec![[11.0, -4.0], [16.0, -4.0]],
        waypoint_mode: WaypointMode::Reverse,
        ..person("ann")
    };
    let agents = spawned(&[ann], 0);
    assert_eq!(agents.len(), 1);
    let expected = AgentState {
        name: "env_0/ann".to_owned(),
        pose: [1.0, 1.0, 0.5],
        desired_velocity: 0.8,
        radius: 0.35,
        ..AgentState::default()
    };
    let points: Vec<_> = agents[0].waypoints.points.iter().map(|point| (point.pose, point.radius)).collect();
    assert_eq!(points, [([1.0, 1.0, 0.0], 0.0), ([6.0, 1.0, 0.0], 0.0)]);
    assert_eq!(agents[0].waypoints.mode, mode::REVERSE);
    assert!((agents[0].pose[2] - 0.5).abs() < 1e-12);
    assert_eq!(
        AgentState { pose: expected.pose, waypoints: expected.waypoints.clone(), ..agents[0].clone() },
        expected
    );
}

#[test]
fn somebody_with_an_agent_is_drawn_from_the_type_and_what_is_declared_counts() {
    let elder = |text| from("ann", "elder", text);
    let drawn = &spawned(&[elder("agent: elder")], 1)[0];
    assert!(
        (0.3..1.2).contains(&drawn.desired_velocity),
        "an elder walks like one: {}",
        drawn.desired_velocity
    );
    assert!(drawn.radius > 0.1 && drawn.vision_range > 0.0 && drawn.vision_fov > 0.0);
    assert!(drawn.relaxation_time > 0.0 && drawn.repulsion_strength > 0.0 && drawn.repulsion_range > 0.0);
    assert_eq!(drawn.agent_type, "elder");
    assert!(["l", "r"].contains(&drawn.handedness.as_str()));
    let declared = &spawned(&[elder("agent: {agent_type: elder, desired_velocity: 1.2, radius: 0.3}")], 1)[0];
    assert_eq!((declared.desired_velocity, declared.radius), (1.2, 0.3));
    assert_eq!(
        (declared.vision_range, declared.repulsion_range, &declared.handedness),
        (drawn.vision_range, drawn.repulsion_range, &drawn.handedness),
        "the rest is drawn the same"
    );
}

#[test]
fn a_draw_depends_on_seed_and_name_and_on_nothing_else() {
    let (ann, bob) = (from("ann", "adult", "agent: adult"), from("bob", "adult", "agent: adult"));
    let alone = spawned(std::slice::from_ref(&bob), 7);
    let both = spawned(&[ann, bob.clone()], 7);
    assert_eq!(alone[0], both[1]);
    assert_ne!(both[0].desired_velocity, both[1].desired_velocity);
    assert_ne!(alone[0].desired_velocity, spawned(&[bob], 8)[0].desired_velocity);
}

#[test]
fn a_type_that_is_none_makes_somebody_without_one() {
    let agents = spawned(&[from("ann", "eldre", "agent: elder")], 0);
    assert_eq!((agents[0].desired_velocity, agents[0].radius, &*agents[0].agent_type), (1.2, 0.35, ""));
}

#[test]
fn a_type_from_a_file_is_sent_and_shown_with_its_path() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("guide.yaml");
    std::fs::write(&path, "name: tour_guide\nextends: adult\n").expect("writes");
    let path = path.display().to_string();
    let mut play = Play::new();
    play.stage.layer.spawn_pedestrians(&[from("ann", &path, "agent: adult")]);
    assert_eq!(play.engine.borrow().agents[0].agent_type, path);
    play.say_frame(10.0, &[(1, 0.0, 0.0, 0.0)]);
    play.say(Say::Meta(super::meta(&[(1, "env_0/ann", "tour_guide")])));
    play.tick(10.0);
    assert_eq!(play.stage.published("env_0/ann").0.agent_type, path);
}

#[test]
fn ids_are_taken_by_position_whatever_they_are() {
    let mut play = Play::new();
    play.engine.borrow_mut().ids = Some(vec![40, 7]);
    play.stage.layer.spawn_pedestrians(&[person("ann"), person("bob")]);
    play.say_frame(10.0, &[(7, 1.0, 0.0, 0.0), (40, 2.0, 0.0, 0.0)]);
    play.tick(10.0);
    let names: Vec<_> = play.places().into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["env_0/bob", "env_0/ann"]);
    assert_eq!(play.stage.layer.agent_id("ann"), Some(40));
}

#[test]
fn a_refused_spawn_is_nobody_and_is_tried_again_at_the_next_one() {
    let mut play = Play::new();
    play.engine.borrow_mut().refuses.push("spawn_agents");
    let people = [person("ann"), person("bob")];
    play.stage.layer.spawn_pedestrians(&people);
    assert!(play.stage.sim_calls().is_empty(), "nobody is made in the simulator");
    play.engine.borrow_mut().refuses.clear();
    play.calls();
    play.stage.layer.spawn_pedestrians(&people);
    assert_eq!(play.calls(), ["spawn_agents env_0/ann env_0/bob"]);
    assert_eq!(play.stage.sim_calls(), ["pedestrian_spawn ann bob"]);
}

#[test]
fn ids_that_cannot_be_are_a_failure_and_who_came_in_goes_again() {
    for ids in [vec![1], vec![3, 3], vec![1, 2, 3]] {
        let mut play = Play::new();
        play.engine.borrow_mut().ids = Some(ids.clone());
        play.stage.layer.spawn_pedestrians(&[person("ann"), person("bob")]);
        let gone = ids.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ");
        assert_eq!(
            play.calls(),
            ["spawn_agents env_0/ann env_0/bob".to_owned(), format!("remove_agents {gone}")]
        );
        assert!(play.stage.sim_calls().is_empty());
    }
}

#[test]
fn the_end_of_an_episode_removes_all_agents_and_forgets_who_was_who() {
    let mut play = Play::with_people(&["ann"]);
    play.say_frame(10.0, &[(1, 0.0, 0.0, 0.0)]);
    play.tick(10.0);
    play.stage.layer.unuse_obstacles();
    assert_eq!(play.calls(), ["remove_agents"]);
    let frames = play.frames();
    play.tick(10.02);
    assert_eq!(play.frames(), frames, "there is nobody to show");
    play.say_frame(10.1, &[(1, 0.0, 0.0, 0.0)]);
    play.tick(10.1);
    assert_eq!(play.places()[0].0, "env_0/flow_1");
}

fn param(name: &str, value: ParameterValue) -> Parameter {
    Parameter { name: name.to_owned(), value }
}

#[test]
fn parameters_go_as_one_batch_before_a_soft_reset_which_also_comes_alone() {
    let mut play = Play::new();
    let params = [
        param("humansim.waypoint_threshold", ParameterValue::Double(0.2)),
        param("humansim.local_planner", ParameterValue::Text("hsfm".to_owned())),
    ];
    assert_eq!(play.stage.layer.configure(&params).len(), 2);
    assert_eq!(play.calls(), ["set_parameters local_planner waypoint_threshold", "reset soft"]);
    let batch = play.engine.borrow().batches[0].clone();
    assert_eq!(batch[0], ("local_planner".to_owned(), Sent::Text("hsfm".to_owned())));
    assert_eq!(play.stage.layer.configure(&[]), []);
    assert_eq!(play.calls(), ["reset soft"]);
}

#[test]
fn a_refused_batch_leaves_nothing_accepted_and_the_reset_comes_all_the_same() {
    let mut play = Play::new();
    play.engine.borrow_mut().refuses.push("set_parameters");
    assert_eq!(play.stage.layer.configure(&[param("humansim.dt", ParameterValue::Double(0.1))]), []);
    assert_eq!(play.calls(), ["set_parameters dt", "reset soft"]);
}

#[test]
fn a_value_that_no_engine_takes_costs_the_batch_and_not_the_reset() {
    let mut play = Play::new();
    let params =
        [param("humansim.a", ParameterValue::Int(1)), param("humansim.b", ParameterValue::Ints(vec![1]))];
    assert_eq!(play.stage.layer.configure(&params), []);
    assert_eq!(play.calls(), ["reset soft"]);
}

#[test]
fn stimuli_are_handed_on_with_the_engines_id() {
    let mut play = Play::with_people(&["ann"]);
    play.stage.layer.notify_stimulus(1, "bell", 0.5);
    play.stage.layer.notify_stimulus(promenade_human::EVERYBODY, "alarm", 1.0);
    assert_eq!(play.calls(), ["notify_stimulus 1 bell 0.5", "notify_stimulus -1 alarm 1"]);
}

#[test]
fn the_simulator_waits_for_frames_and_for_people_with_the_period_of_the_engine() {
    let channels = Play::new().stage.layer.lockstep_channels();
    let told: Vec<_> = channels
        .iter()
        .map(|c| (c.name.as_str(), c.topic.as_str(), c.message_type.as_str(), c.period_s, c.hard))
        .collect();
    assert_eq!(
        told,
        [
            ("engine", "task_generator/agent_states", "arena_humansim_msgs/msg/AgentFrame", 0.05, true),
            ("peds", "arena_peds", "arena_people_msgs/msg/Pedestrians", 0.05, true),
        ]
    );
}

#[test]
fn an_engine_that_comes_late_gets_everything_that_it_missed() {
    let mut play = Play::new();
    play.engine.borrow_mut().is_silent = true;
    let wall = promenade_human::entity::Wall { start: [10.0, -5.0], end: [12.0, -5.0] };
    play.stage.layer.spawn_world(&[wall], &[], &[]);
    play.stage.layer.spawn_pedestrians(&[person("ann")]);
    play.stage.layer.configure(&[param("humansim.local_planner", ParameterValue::Text("hsfm".to_owned()))]);
    play.engine.borrow_mut().is_silent = false;
    play.calls();
    play.say(Say::Started);
    play.tick(10.02);
    assert_eq!(
        play.calls(),
        [
            "remove_source",
            "remove_sink",
            "remove_agents",
            "remove_walls",
            "remove_obstacles",
            "remove_world_objects",
            "add_walls wall_0",
            "set_parameters local_planner",
            "reset soft",
            "spawn_agents env_0/ann"
        ]
    );
    play.say_frame(10.05, &[(1, 0.0, 0.0, 0.0)]);
    play.tick(10.05);
    assert_eq!(play.places()[0].0, "env_0/ann");
}

#[test]
fn an_engine_that_started_anew_gets_people_where_they_were_last_seen() {
    let mut play = Play::with_people(&["ann", "bob"]);
    play.say_frame(10.0, &[(1, 3.0, 4.0, 0.5), (2, 7.0, 7.0, 0.0)]);
    play.tick(10.0);
    play.engine.borrow_mut().agents.clear();
    play.say(Say::Started);
    play.tick(10.02);
    let poses: Vec<_> = play.engine.borrow().agents.iter().map(|agent| agent.pose).collect();
    assert_eq!(poses, [[3.0, 4.0, 0.5], [7.0, 7.0, 0.0]]);
}

#[test]
fn an_engine_that_falls_silent_again_in_the_middle_gets_everything_at_its_next_start() {
    let mut play = Play::with_people(&["ann"]);
    play.engine.borrow_mut().is_silent = true;
    play.say(Say::Started);
    play.tick(10.0);
    assert_eq!(play.calls().len(), 6, "nothing is added to what could not be cleared");
    play.engine.borrow_mut().is_silent = false;
    play.say(Say::Started);
    play.tick(10.02);
    assert_eq!(play.calls().last().map(String::as_str), Some("spawn_agents env_0/ann"));
}
