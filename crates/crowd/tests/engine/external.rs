//! World-state cases (crowd-engine specification, sections 18 and 28).

use promenade_crowd::Engine;
use promenade_crowd::protocol::{AgentState, AgentStates, kind, mode};

use crate::{engine, person, place, run, walker, way};

fn fed(id: i32, x: f64, y: f64) -> AgentState {
    AgentState { agent_id: id, name: format!("fed_{id}"), pose: [x, y, 0.0], ..AgentState::default() }
}

/// Tell where somebody is at a time in milliseconds, and run the tick that hears it.
fn feed(engine: &mut Engine, ms: i64, state: AgentState) {
    engine.world_state(&AgentStates { stamp_ns: ms * 1_000_000, agents: vec![state] });
    engine.tick();
}

/// The row of the only agent that is not in the frame.
fn mirror(engine: &Engine) -> usize {
    let published = &engine.frame().agent_id;
    let pool = engine.crowd().pool();
    (0..pool.len()).find(|row| !published.contains(&pool.id[*row])).expect("a mirror")
}

#[test]
fn an_unknown_agent_gets_a_mirror_that_others_perceive_and_no_frame_shows() {
    let mut engine = engine(&[]);
    engine.spawn_agents(&[person(1, 0.0, 0.0)]).expect("free");
    feed(&mut engine, 0, fed(77_000, 2.0, 0.0));
    assert_eq!((engine.frame().agent_id.as_slice(), engine.crowd().pool().len()), (&[1][..], 2));
    assert_eq!(engine.meta().agent_id, [1]);
    let row = mirror(&engine);
    let pool = engine.crowd().pool();
    assert_eq!((pool.policy[row], pool.radius[row], pool.id[row]), (-1, 0.3, 2));
    assert_eq!(pool.kind[row], promenade_crowd::Kind::Robot);
    let seen = pool.row_of(1).expect("there");
    assert_eq!(engine.crowd().neighbours().of(seen), [row as u32]);
    feed(&mut engine, 50, fed(77_000, 3.0, 0.5));
    let pool = engine.crowd().pool();
    assert_eq!(
        (pool.id[row], pool.x[row], pool.len()),
        (2, 3.0 + pool.vx[row] * 0.05, 2),
        "the same agent, elsewhere"
    );
}

#[test]
fn a_mirror_is_gone_when_its_lease_is_over() {
    let mut engine = engine(&[]);
    feed(&mut engine, 0, fed(9, 2.0, 0.0));
    run(&mut engine, 39);
    assert_eq!(engine.crowd().pool().len(), 1);
    run(&mut engine, 1);
    assert_eq!(engine.crowd().pool().len(), 0, "two seconds without a message");
    assert_eq!(engine.feedback(&[]).expect("lists"), (vec![], vec![]), "mirrors are nobody's business");
}

#[test]
fn velocity_comes_from_two_stamped_poses_and_lapses() {
    let mut engine = engine(&[]);
    feed(&mut engine, 0, fed(9, 2.0, 0.0));
    assert_eq!(engine.crowd().pool().vx[0], 0.0);
    feed(&mut engine, 100, fed(9, 2.1, -0.04));
    let velocity = |engine: &Engine| [engine.crowd().pool().vx[0], engine.crowd().pool().vy[0]];
    let [vx, vy] = velocity(&engine);
    assert!((vx - 1.0).abs() < 1e-12 && (vy + 0.4).abs() < 1e-12, "{vx} {vy}");
    assert!((engine.crowd().pool().x[0] - 2.15).abs() < 1e-12, "integrated between messages");
    run(&mut engine, 3);
    assert_eq!(velocity(&engine), [vx, vy]);
    run(&mut engine, 1);
    assert_eq!(velocity(&engine), [0.0, 0.0], "0.2 s after the last message");
    feed(&mut engine, 400, AgentState { velocity: [0.3, 0.1], ..fed(9, 2.3, 0.0) });
    assert_eq!(velocity(&engine), [0.3, 0.1], "a velocity that is told is taken");
}

#[test]
fn there_is_no_velocity_across_a_jump_a_stale_gap_or_a_repeated_stamp() {
    for (what, ms, x) in
        [("jump", 50, 3.0), ("stale gap", 250, 2.1), ("repeated stamp", 0, 2.1), ("past", -50, 2.1)]
    {
        let mut engine = engine(&[]);
        feed(&mut engine, 0, fed(9, 2.0, 0.0));
        feed(&mut engine, ms, fed(9, x, 0.0));
        assert_eq!(engine.crowd().pool().vx[0], 0.0, "{what}");
        assert_eq!(engine.crowd().pool().x[0], x, "{what}");
    }
}

#[test]
fn a_robot_within_a_metre_is_adopted_and_walks_on_by_itself_when_the_feed_ends() {
    let mut engine = engine(&[]);
    let robot = AgentState {
        kind: kind::ROBOT,
        policy: "straight".to_owned(),
        agent_type: "robot".to_owned(),
        waypoints: way(&[[20.0, 0.0]], mode::ONCE),
        ..person(1, 0.0, 0.0)
    };
    engine
        .spawn_agents(&[robot.clone(), AgentState { pose: [0.0, 3.0, 0.0], ..person(2, 0.0, 3.0) }])
        .expect("free");
    feed(&mut engine, 0, fed(500, 0.5, 0.6));
    assert_eq!(
        (engine.crowd().pool().len(), place(&engine, 1), engine.frame().policy_idx[0]),
        (2, [0.5, 0.6], -1)
    );
    feed(&mut engine, 50, fed(600, 0.6, 0.6));
    assert_eq!(engine.crowd().pool().len(), 3, "it is bound already, so another one gets a mirror");
    engine.remove_agents(&[3]).expect("not the client's to remove");
    assert_eq!(engine.crowd().pool().len(), 3);
    run(&mut engine, 60);
    let [x, _] = place(&engine, 1);
    assert!(x > 0.6, "{x}");
    assert!(engine.frame().policy_idx[0] >= 0);
    let far = AgentState { agent_id: 3, ..robot };
    engine.spawn_agents(&[AgentState { pose: [9.0, 9.0, 0.0], ..far }]).expect("free");
    feed(&mut engine, 5000, fed(700, 9.0, 10.1));
    assert_eq!(engine.crowd().pool().len(), 4, "more than a metre away is another robot");
}

#[test]
fn a_possessed_person_is_bound_renewed_and_given_back_where_it_stands() {
    let mut engine = engine(&[]);
    engine.spawn_agents(&[walker(1, [0.0, 0.0], [9.0, 0.0]), person(2, 0.0, 5.0)]).expect("free");
    run(&mut engine, 10);
    let radius = engine.frame().radius[0];
    let possessed = |x: f64| AgentState { velocity: [0.0, -0.5], radius: 0.35, ..fed(1, x, 2.0) };
    for step in 0..50 {
        feed(&mut engine, step * 50, possessed(0.5));
        assert_eq!((engine.frame().policy_idx[0], engine.frame().radius[0]), (-1, 0.35));
        let [x, y] = place(&engine, 1);
        assert!(x == 0.5 && (y - (2.0 - 0.5 * 0.05)).abs() < 1e-12, "fed velocity is integrated: {x} {y}");
    }
    assert_eq!(engine.frame().agent_id, [1, 2], "it stays in the frame");
    feed(&mut engine, 2500, AgentState { velocity: [0.0, 0.0], ..possessed(0.5) });
    run(&mut engine, 38);
    assert_eq!(engine.frame().policy_idx[0], -1);
    let stood = place(&engine, 1);
    run(&mut engine, 41);
    assert_eq!((engine.frame().policy_idx[0], engine.frame().radius[0]), (0, radius));
    let walked = place(&engine, 1);
    assert!(walked[0] > stood[0] + 0.2 && (walked[1] - stood[1]).abs() < 0.5, "{stood:?} {walked:?}");
}

#[test]
fn only_the_newest_message_of_a_tick_counts_and_what_is_no_number_is_left_out() {
    let mut engine = engine(&[]);
    engine.world_state(&AgentStates { stamp_ns: 0, agents: vec![fed(8, 1.0, 0.0)] });
    engine.world_state(&AgentStates { stamp_ns: 0, agents: vec![fed(9, f64::NAN, 0.0), fed(10, 4.0, 0.0)] });
    engine.tick();
    assert_eq!(engine.crowd().pool().x, [4.0]);
    let warnings: Vec<String> = engine.warnings().collect();
    assert!(matches!(warnings.as_slice(), [one] if one.contains("x of fed agent 9")), "{warnings:?}");
}

#[test]
fn several_names_may_stand_for_one_fed_robot() {
    let mut engine = engine(&[]);
    for name in ["jackal", "robot_0"] {
        feed(&mut engine, 0, AgentState { name: name.to_owned(), ..fed(9, 1.0, 0.0) });
    }
    assert_eq!(engine.crowd().pool().len(), 1);
    for name in ["jackal", "robot_0"] {
        engine.set_waypoints(0, name, &way(&[[1.0, 1.0]], mode::ONCE)).expect("known by both");
    }
}
