use promenade_crowd::protocol::{AgentState, RobotState, kind, mode};

use crate::{engine, person, place, run, walker, way};

#[test]
fn ids_are_given_above_the_largest_seen_also_within_one_request() {
    let mut engine = engine(&[]);
    let ids =
        engine.spawn_agents(&[person(0, 0.0, 0.0), person(1, 2.0, 0.0), person(7, 4.0, 0.0)]).expect("ids");
    assert_eq!(ids, [8, 1, 7]);
    engine.remove_agents(&[8, 99]).expect("unknown ids are ignored");
    assert_eq!(engine.spawn_agents(&[person(0, 0.0, 0.0)]).expect("an id"), [9], "above all ids ever seen");
    engine.remove_agents(&[]).expect("everybody");
    assert_eq!(engine.spawn_agents(&[person(0, 0.0, 0.0)]).expect("an id"), [1]);
}

#[test]
fn a_request_with_one_bad_agent_brings_nobody_in() {
    let mut engine = engine(&[]);
    engine.spawn_agents(&[person(3, 0.0, 0.0)]).expect("free");
    let refused = |engine: &mut promenade_crowd::Engine, bad: AgentState| {
        let error = engine.spawn_agents(&[person(0, 5.0, 0.0), bad]).expect_err("refused");
        run(engine, 1);
        assert_eq!(engine.frame().agent_id, [3]);
        error.to_string()
    };
    let reserved = AgentState { name: "partner".to_owned(), ..person(0, 1.0, 0.0) };
    assert!(refused(&mut engine, reserved).contains("\"partner\" is a reserved name"));
    let hand = AgentState { handedness: "left".to_owned(), ..person(0, 1.0, 0.0) };
    assert!(refused(&mut engine, hand).contains("expected l, r or nothing, found \"left\""));
    assert!(refused(&mut engine, person(3, 1.0, 0.0)).contains("agent 3 is already there"));
    assert!(refused(&mut engine, person(0, f64::NAN, 0.0)).contains("found NaN"));
    let policy = AgentState { policy: "smf".to_owned(), ..person(0, 1.0, 0.0) };
    assert!(refused(&mut engine, policy).contains("no local planner is named \"smf\""));
    assert_eq!(engine.spawn_agents(&[person(0, 5.0, 0.0)]).expect("an id"), [4], "no id was used up");
}

#[test]
fn an_unknown_type_gets_fixed_numbers_and_a_warning() {
    let mut engine = engine(&[]);
    let state = AgentState { agent_type: "astronaut".to_owned(), ..person(1, 0.0, 0.0) };
    engine.spawn_agents(&[state.clone(), AgentState { agent_id: 2, ..state }]).expect("fixed numbers");
    let parameters = engine.crowd().parameters(1).expect("there");
    assert_eq!((parameters.radius, parameters.max_velocity, parameters.desired_velocity), (0.35, 2.0, 1.3));
    let warnings: Vec<String> = engine.warnings().collect();
    assert!(
        matches!(warnings.as_slice(), [one] if one.contains("astronaut") && one.contains("adult")),
        "{warnings:?}"
    );
}

#[test]
fn a_robot_without_policy_stands_until_it_is_put_somewhere_by_any_of_its_names() {
    let mut engine = engine(&[]);
    let robot = AgentState {
        kind: kind::ROBOT,
        agent_type: "robot".to_owned(),
        waypoints: way(&[[9.0, 0.0]], mode::ONCE),
        ..person(5, 0.0, 0.0)
    };
    engine.spawn_agents(&[robot]).expect("free");
    run(&mut engine, 20);
    assert_eq!((place(&engine, 5), engine.frame().policy_idx[0]), ([0.0, 0.0], -1));
    for (name, x) in [("env_0/person_5", 1.0), ("person_5", 2.0), ("robot", 3.0)] {
        let state = RobotState { name: name.to_owned(), pose: [x, 0.0, 0.0], radius: 0.0 };
        engine.update_robot(&state).expect("known");
        run(&mut engine, 1);
        assert_eq!((place(&engine, 5), engine.frame().radius[0]), ([x, 0.0], 0.3));
    }
    let stranger = RobotState { name: "stranger".to_owned(), ..RobotState::default() };
    assert_eq!(
        engine.update_robot(&stranger).expect_err("nobody").to_string(),
        "no agent is named \"stranger\""
    );
}

#[test]
fn thousands_come_and_go_in_one_request() {
    let mut engine = engine(&[]);
    let people: Vec<AgentState> =
        (0..20_000).map(|n| person(0, f64::from(n % 200) * 2.0, f64::from(n / 200) * 2.0)).collect();
    let ids = engine.spawn_agents(&people).expect("room");
    assert_eq!((ids.len(), ids[0], ids[19_999]), (20_000, 1, 20_000));
    let half: Vec<i32> = ids.into_iter().filter(|id| id % 2 == 0).collect();
    engine.remove_agents(&half).expect("there");
    assert_eq!(engine.crowd().pool().len(), 10_000);
    engine.remove_agents(&[]).expect("everybody");
    assert!(engine.crowd().pool().is_empty());
}

#[test]
fn feedback_tells_once_who_came_and_went() {
    let mut engine = engine(&[]);
    engine.spawn_agents(&[person(1, 0.0, 0.0), person(2, 3.0, 0.0)]).expect("free");
    engine.remove_agents(&[1]).expect("there");
    assert_eq!(engine.feedback(&[]).expect("lists"), (vec![1, 2], vec![1]));
    assert_eq!(engine.feedback(&[]).expect("lists"), (vec![], vec![]));
}

#[test]
fn agents_are_updated_where_they_stand() {
    let mut engine = engine(&[]);
    engine.spawn_agents(&[walker(1, [0.0, 0.0], [9.0, 0.0])]).expect("free");
    run(&mut engine, 10);
    let before = place(&engine, 1);
    let change =
        AgentState { desired_velocity: 0.4, agent_type: "elder".to_owned(), ..person(1, 50.0, 50.0) };
    assert_eq!(engine.update_agents(&[change, person(9, 0.0, 0.0)]).expect("numbers"), [1]);
    run(&mut engine, 1);
    let after = place(&engine, 1);
    assert!((after[0] - before[0]).abs() < 0.1, "{before:?} {after:?}");
    let parameters = engine.crowd().parameters(1).expect("there");
    assert_eq!(parameters.desired_velocity, 0.4);
    assert!(parameters.max_velocity <= 1.5 && engine.meta().agent_type == ["elder"]);
    let quicker = AgentState { max_velocity: 2.5, ..person(1, 0.0, 0.0) };
    engine.update_agents(&[quicker]).expect("numbers");
    let parameters = engine.crowd().parameters(1).expect("there");
    assert_eq!((parameters.max_velocity, parameters.desired_velocity), (2.5, 0.4), "earlier ones stay");
}

#[test]
fn an_agent_is_the_same_whichever_way_it_comes_in() {
    let numbers =
        |engine: &promenade_crowd::Engine, id: i32| engine.crowd().parameters(id).cloned().expect("there");
    let mut at_once = engine(&[]);
    at_once.spawn_agents(&[person(1, 0.0, 0.0), person(2, 2.0, 0.0)]).expect("free");
    let mut one_by_one = engine(&[]);
    one_by_one.spawn_agents(&[person(2, 2.0, 0.0)]).expect("free");
    one_by_one.remove_agents(&[2]).expect("there");
    one_by_one.spawn_agents(&[person(2, 2.0, 0.0)]).expect("an id that is used again draws the same");
    let mut later = engine(&[]);
    later.spawn_at(4, &[person(2, 2.0, 0.0)]).expect("free");
    run(&mut later, 5);
    assert_eq!(numbers(&at_once, 2), numbers(&one_by_one, 2));
    assert_eq!(numbers(&at_once, 2), numbers(&later, 2));
    assert_ne!(numbers(&at_once, 1), numbers(&at_once, 2));
}

#[test]
fn more_than_the_engine_holds_is_refused_at_once() {
    let mut engine = engine(&[]);
    let wall = |n: usize| promenade_crowd::Wall { name: n.to_string(), start: [0.0, 0.0], end: [1.0, 0.0] };
    let walls: Vec<promenade_crowd::Wall> = (0..100_001).map(wall).collect();
    let error = engine.add_walls(&walls).expect_err("too many").to_string();
    assert_eq!(error, "100001 walls are more than the engine holds; it holds 100000");
    assert!(engine.walls().is_empty() && engine.crowd().walls().walls().is_empty());
}
