//! Files that describe agents (HuNav specification, section 4).

use std::path::Path;

use promenade_hunav::configure::{Entry, Loader, LoaderFormat, MissingBehavior, Template};
use promenade_hunav::{Agent, Behavior, BehaviorKind, Configuration};
use promenade_scenario::Loaded;

const FILE: &str = "agents.yaml";

fn loader(parameters: &str) -> Loader {
    let text = format!("hunav_loader:\n  ros__parameters:\n{parameters}");
    let Loaded { value, report } =
        Loader::read(&text, Path::new(FILE)).unwrap_or_else(|report| panic!("{report}"));
    assert!(report.is_empty(), "{report}");
    value
}

fn problems(parameters: &str) -> String {
    let text = format!("hunav_loader:\n  ros__parameters:\n{parameters}");
    let loaded = Loader::read(&text, Path::new(FILE));
    loaded.map_or_else(|report| report.to_string(), |loaded| panic!("holds: {:?}", loaded.value))
}

#[test]
fn a_file_of_2023_names_a_behaviour_by_its_number() {
    let loader = loader(
        "    map: cafe
    publish_people: false
    agents: [agent1]
    agent1:
      id: 7
      skin: -1
      group_id: 2
      max_vel: 1.5
      radius: 0.4
      behavior: 5
      init_pose: {x: -3.5, y: 1.25, z: 1.25, h: 0.5}
      goal_radius: 0.3
      cyclic_goals: false
      goals: [g0, g1]
      g0: {x: 1.0, y: 2.0, h: 0.0}
      g1: {x: 3.0, y: 4.0, h: 1.25}
",
    );
    assert_eq!(
        (loader.format, loader.map.as_str(), loader.publish_people),
        (LoaderFormat::P1, "cafe", false)
    );
    let expected = Agent {
        id: 7,
        name: "agent1".to_owned(),
        group_id: 2,
        position: [-3.5, 1.25],
        z: 1.25,
        yaw: 0.5,
        desired_velocity: 1.5,
        radius: 0.4,
        behavior: Behavior { kind: BehaviorKind::Curious, ..Behavior::default() },
        goals: vec![[1.0, 2.0], [3.0, 4.0]],
        cyclic_goals: false,
        goal_radius: 0.3,
        ..Agent::default()
    };
    assert_eq!(loader.agents, [expected]);
}

#[test]
fn a_file_of_2024_has_blocks_and_the_defaults_of_the_loader() {
    let loader = loader(
        "    agents: [a, b]
    a: {id: 1, goals: [g], g: {x: 1, y: 2}, behavior: {type: 4, configuration: 1, vel: 2.5, dist: 3.0, goal_force_factor: 9.0}}
    b: {id: 2, goals: [g], g: {x: 1, y: 2}}
",
    );
    assert_eq!((loader.format, loader.publish_people), (LoaderFormat::P15, true));
    let scared = Behavior {
        kind: BehaviorKind::Scared,
        configuration: Configuration::Custom,
        vel: 1.8,
        dist: 3.0,
        goal_force_factor: 9.0,
        ..Behavior::default()
    };
    assert_eq!(loader.agents[0].behavior, scared, "the speed of a reaction is cut at 1.8 m/s");
    let plain = &loader.agents[1];
    assert_eq!((plain.desired_velocity, plain.radius, plain.goal_radius), (1.0, 0.35, 0.0));
    assert_eq!((plain.cyclic_goals, plain.group_id, plain.behavior), (true, -1, Behavior::default()));
    assert_eq!(loader.configured(1)[0].behavior, scared, "a custom mode changes nothing");
}

#[test]
fn a_file_of_2025_shares_numbered_goals_and_has_a_tree_per_agent() {
    let loader = loader(
        "    map: house
    simulator: Gazebo
    yaml_base_name: scene
    agents: [a]
    global_goals:
      1: {x: 1, y: 2}
      2: {x: 3, y: 4}
    a: {id: 3, goals: [2, 1, 2], behavior: {type: Threatening}}
",
    );
    assert_eq!((loader.format, loader.simulator.as_str()), (LoaderFormat::P2, "Gazebo"));
    assert_eq!(loader.global_goals, [[1.0, 2.0], [3.0, 4.0]]);
    let agent = &loader.agents[0];
    assert_eq!(agent.goals, [[3.0, 4.0], [1.0, 2.0], [3.0, 4.0]]);
    assert_eq!(
        (agent.behavior.kind, agent.behavior_tree.as_str()),
        (BehaviorKind::Threatening, "scene__agent_3_bt.xml")
    );
}

#[test]
fn what_is_wrong_is_said_with_its_place_and_what_was_meant() {
    let said = problems(
        "    agents: [anna, bob, cat]
    ana: {id: 1, goals: []}
    bob: {id: 1, gols: [g], behavior: {type: Curios}}
    cat: {id: 1, goals: [door], dor: {x: 1, y: 2}, max_vel: -1, radius: .nan}
",
    );
    for expected in [
        "agents.yaml:3:14: error: hunav_loader.ros__parameters.agents: there is no block `anna` for this agent  (try: ana)",
        "agents.yaml:5:18: error: hunav_loader.ros__parameters.bob: unknown key `gols`, and `goals` (a list of goals) is missing",
        "agents.yaml:5:46: error: hunav_loader.ros__parameters.bob.behavior.type: unknown behaviour \"Curios\"",
        "(try: Curious)",
        "agents.yaml:6:26: error: hunav_loader.ros__parameters.cat.goals[0]: there is no goal `door`",
        "(try: dor)",
        "the id 1 is that of `bob` too",
        "must not be negative, found -1",
        "expected a finite number, found NaN",
    ] {
        assert!(said.contains(expected), "{expected}\n{said}");
    }
    let said = problems(
        "    agents: [a]\n    global_goals: {1: {x: 0, y: 0}, 3: {x: 0, y: 0}}\n    a: {goals: [4]}\n",
    );
    assert!(said.contains("goals are numbered from 1 without gaps, and 2 is missing"), "{said}");
    assert!(said.contains("there is no global goal 4; there are 1 to 2"), "{said}");
    let said = Loader::read("hunav_lodaer: {}", Path::new(FILE)).expect_err("no loader file").to_string();
    assert!(said.contains("unknown key `hunav_lodaer`, and `hunav_loader`"), "{said}");
}

#[test]
fn the_shipped_template_is_that_of_arena_and_picks_trees_by_type() {
    let text = std::fs::read_to_string(
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../configs/hunav/default.yaml"),
    );
    let Loaded { value, report } =
        Template::read(&text.expect("shipped"), Path::new("default.yaml")).expect("holds");
    assert!(report.is_empty(), "{report}");
    assert_eq!(value, Template::built_in());
    let expected = Agent {
        id: 1,
        z: 1.25,
        desired_velocity: 0.8,
        radius: 0.3,
        goal_radius: 2.0,
        cyclic_goals: true,
        behavior: Behavior {
            goal_force_factor: 5.0,
            obstacle_force_factor: 20.0,
            social_force_factor: 20.0,
            other_force_factor: 20.0,
            ..Behavior::default()
        },
        ..Agent::default()
    };
    assert_eq!(value.agent, expected);
    let agent = value.agent(&Entry::default(), MissingBehavior::Template);
    assert_eq!(agent, expected);
}

#[test]
fn a_template_says_what_is_wrong_in_it() {
    let said =
        Template::read("max_vell: 1.0\nbehavior: {type: 7}\ninit_pose: {x: 1}\n", Path::new("default.yaml"))
            .expect_err("wrong")
            .to_string();
    assert!(said.contains("default.yaml:1:1: error: unknown key `max_vell`  (try: max_vel)"), "{said}");
    assert!(
        said.contains(
            "default.yaml:2:18: error: behavior.type: there is no behaviour 7; there are 1 (Regular)"
        ),
        "{said}"
    );
    assert!(said.contains("default.yaml:3:12: error: init_pose: `x` and `y` belong together"), "{said}");
}
