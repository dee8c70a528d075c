use promenade_crowd::Wall;
use promenade_crowd::protocol::{AgentState, ObstacleConfig, ParameterValue, animation, kind, mode};

use crate::{engine, person, place, run, walker, way};

#[test]
fn stamps_are_the_scheduled_times() {
    let mut engine = engine(&[("mode", ParameterValue::Text("subsystem".to_owned()))]);
    engine.set_epoch_ns(7_000_000_000);
    assert_eq!((engine.dt_ns(), engine.now_ns()), (50_000_000, 7_000_000_000));
    engine.tick();
    assert_eq!(engine.frame().stamp_ns, 7_000_000_000, "the first tick covers the epoch itself");
    run(&mut engine, 3);
    assert_eq!((engine.frame().stamp_ns, engine.now_ns()), (7_150_000_000, 7_200_000_000));
    engine.remove_agents(&[]).expect("everybody");
    assert_eq!((engine.ticks(), engine.now_ns()), (0, 7_200_000_000), "ticks begin anew while time goes on");
}

#[test]
fn a_waypoint_advances_between_decision_ticks_but_the_direction_changes_at_the_next_one() {
    let mut engine = engine(&[]);
    let state = AgentState {
        waypoints: way(&[[0.3, 0.0], [0.3, 9.0]], mode::ONCE),
        velocity: [1.0, 0.0],
        desired_velocity: 1.0,
        ..person(1, 0.0, 0.0)
    };
    engine.spawn_agents(&[state]).expect("free");
    let mut advanced = None;
    for tick in 0..40_u64 {
        engine.tick();
        let (_, index) = engine.waypoints_of(1).expect("a way");
        let target = engine.crowd().target(1).expect("a command");
        assert_eq!(target[1], if index == 0 { 0.0 } else { 9.0 }, "the command follows at once");
        if index == 1 && advanced.is_none() {
            advanced = Some(tick);
            assert_ne!((tick + 1) % 5, 0, "this test is about the ticks in between");
        }
        let goal = engine.crowd().pool().goal_y[0];
        if advanced.is_some_and(|advanced| tick / 5 == advanced / 5) {
            assert_eq!(goal, 0.0, "tick {tick}");
        }
    }
    assert!(advanced.is_some() && place(&engine, 1)[1] > 0.3, "{advanced:?}");
}

#[test]
fn an_arrival_is_released_when_the_agent_is_sent_on() {
    let mut engine = engine(&[]);
    engine.spawn_agents(&[walker(1, [0.0, 0.0], [1.0, 0.0])]).expect("free");
    run(&mut engine, 100);
    assert!(engine.crowd().pool().latched[0]);
    engine.set_waypoints(0, "person_1", &way(&[[1.0, 5.0]], mode::ONCE)).expect("known");
    run(&mut engine, 60);
    assert!(place(&engine, 1)[1] > 1.0);
    engine.set_waypoints(1, "", &way(&[], mode::ONCE)).expect("known");
    run(&mut engine, 100);
    let stays = place(&engine, 1);
    run(&mut engine, 10);
    assert_eq!(place(&engine, 1), stays, "an empty list takes the goal away");
    assert_eq!(engine.waypoints_of(1), None);
}

#[test]
fn staggered_decisions_come_one_after_the_other() {
    let set_off = |staggered: bool| {
        let mut engine = engine(&[("staggered_decisions", ParameterValue::Bool(staggered))]);
        engine.tick();
        let people: Vec<AgentState> =
            (1..=5).map(|id| walker(id, [0.0, 3.0 * f64::from(id)], [9.0, 3.0 * f64::from(id)])).collect();
        engine.spawn_agents(&people).expect("free");
        let mut first = [0; 5];
        for tick in 1..=10 {
            engine.tick();
            for (first, has_goal) in first.iter_mut().zip(&engine.crowd().pool().has_goal) {
                if *has_goal && *first == 0 {
                    *first = tick;
                }
            }
        }
        first
    };
    assert_eq!(set_off(false), [5; 5]);
    assert_eq!(set_off(true), [4, 3, 2, 1, 5]);
}

#[test]
fn ways_end_wrap_turn_back_or_jump_as_their_mode_says() {
    let visits = |mode: u8| {
        let mut engine = engine(&[("waypoint_threshold", ParameterValue::Double(0.3))]);
        let points = [[0.0, 0.0], [2.0, 0.0], [2.0, 2.0], [0.0, 2.0]];
        let state =
            AgentState { waypoints: way(&points, mode), desired_velocity: 1.4, ..person(1, 0.0, 0.0) };
        engine.spawn_agents(&[state]).expect("free");
        let mut visits = vec![0];
        for _ in 0..900 {
            engine.tick();
            let (_, index) = engine.waypoints_of(1).expect("a way");
            if visits.last() != Some(&index) {
                visits.push(index);
            }
        }
        visits
    };
    assert_eq!(visits(mode::ONCE), [0, 1, 2, 3]);
    assert_eq!(visits(mode::REPEAT)[..7], [0, 1, 2, 3, 0, 1, 2]);
    assert_eq!(visits(mode::REVERSE)[..9], [0, 1, 2, 3, 2, 1, 0, 1, 2]);
    let random = visits(mode::RANDOM);
    assert!(random.len() > 6 && random.windows(2).all(|pair| pair[0] != pair[1]));
    assert_eq!(random, visits(mode::RANDOM), "from the stream of the seed");
}

#[test]
fn who_walks_runs_or_stands_is_told_from_the_speed() {
    let mut engine = engine(&[]);
    let runner = AgentState {
        agent_type: "hurried".to_owned(),
        desired_velocity: 2.0,
        max_velocity: 2.5,
        ..walker(2, [0.0, 5.0], [30.0, 5.0])
    };
    engine.spawn_agents(&[walker(1, [0.0, 0.0], [30.0, 0.0]), runner, person(3, 0.0, 10.0)]).expect("free");
    engine.tick();
    assert_eq!(engine.frame().animation_state, [animation::WALKING, animation::WALKING, animation::IDLE]);
    run(&mut engine, 60);
    assert_eq!(engine.frame().animation_state, [animation::WALKING, animation::RUNNING, animation::IDLE]);
}

#[test]
fn agents_that_are_spawned_inside_furniture_are_freed() {
    let mut engine = engine(&[]);
    let table = ObstacleConfig {
        name: "table".to_owned(),
        pose: [2.0, 1.0, 0.5],
        bb_x: [-1.0, 1.0],
        bb_y: [-0.5, 0.5],
        bb_z: [0.0, 0.8],
        ..ObstacleConfig::default()
    };
    engine.add_obstacles(std::slice::from_ref(&table)).expect("a box");
    engine.spawn_agents(&[walker(1, [2.1, 1.1], [8.0, 1.0])]).expect("free");
    run(&mut engine, 400);
    let [x, y] = place(&engine, 1);
    assert!((x - 8.0).hypot(y - 1.0) < 0.5, "{x} {y}");
}

#[test]
fn staggered_agents_come_in_their_tick() {
    let mut engine = engine(&[]);
    engine.spawn_at(3, &[person(1, 0.0, 0.0)]).expect("free");
    engine.spawn_at(5, &[person(0, 2.0, 0.0), person(1, 4.0, 0.0)]).expect("free");
    let counts: Vec<usize> = (0..7)
        .map(|_| {
            engine.tick();
            engine.frame().agent_id.len()
        })
        .collect();
    assert_eq!(counts, [0, 0, 0, 1, 1, 2, 2]);
    let warnings: Vec<String> = engine.warnings().collect();
    assert!(warnings[0].contains("agent 1 is already there"), "{warnings:?}");
    assert!(!engine.expects_agents());
}

#[test]
fn meta_data_changes_with_its_content_and_with_every_reset_only() {
    let mut engine = engine(&[]);
    engine
        .spawn_agents(&[AgentState { handedness: "l".to_owned(), ..walker(4, [0.0, 0.0], [5.0, 0.0]) }])
        .expect("free");
    engine.tick();
    let revision = engine.meta_revision();
    let meta = engine.meta();
    assert_eq!(
        (meta.agent_id.as_slice(), meta.name[0].as_str(), meta.handedness[0].as_str()),
        (&[4][..], "env_0/person_4", "l")
    );
    assert_eq!((meta.policies[engine.frame().policy_idx[0] as usize].as_str(), meta.stamp_ns), ("sfm", 0));
    run(&mut engine, 20);
    assert_eq!(engine.meta_revision(), revision);
    engine.reset(true).expect("settings");
    engine.tick();
    assert_eq!((engine.meta_revision(), engine.meta().stamp_ns), (revision + 1, engine.frame().stamp_ns));
    engine.remove_agents(&[4]).expect("there");
    engine.tick();
    assert!(engine.meta().agent_id.is_empty() && engine.frame().agent_id.is_empty());
}

#[test]
fn geometry_is_kept_by_name_and_its_revision_tells_changes() {
    let mut engine = engine(&[]);
    let wall = |name: &str, y: f64| Wall { name: name.to_owned(), start: [-5.0, y], end: [5.0, y] };
    engine.add_walls(&[wall("a", 1.0), wall("b", 2.0), wall("a", 3.0)]).expect("walls");
    assert_eq!(engine.walls(), [wall("a", 3.0), wall("b", 2.0)]);
    let block = |name: &str, x: f64| ObstacleConfig {
        name: name.to_owned(),
        pose: [x, 0.0, 0.0],
        bb_x: [-0.5, 0.5],
        bb_y: [-0.5, 0.5],
        ..ObstacleConfig::default()
    };
    engine.add_obstacles(&[block("box", 1.0), block("box", 2.0)]).expect("a box");
    engine.add_obstacles(&[block("box", 3.0)]).expect("ignored");
    assert_eq!(engine.obstacles(), [block("box", 1.0)]);
    assert_eq!(engine.crowd().walls().walls().len(), 6);
    let revision = engine.geometry_revision();
    engine.remove_walls(&["none".to_owned()]).expect("ignored");
    assert_eq!(engine.geometry_revision(), revision);
    engine.remove_walls(&[]).expect("all walls");
    assert_eq!((engine.walls().len(), engine.crowd().walls().walls().len()), (0, 4), "the box stays");
    engine.remove_obstacles(&["box".to_owned()]).expect("known");
    assert!(engine.crowd().walls().walls().is_empty() && engine.geometry_revision() > revision);
}

#[test]
fn a_stimulus_acts_when_the_reaction_time_has_passed() {
    let mut engine = engine(&[]);
    engine.spawn_agents(&[person(1, 0.0, 0.0), person(2, 5.0, 0.0)]).expect("free");
    run(&mut engine, 3);
    engine.notify_stimulus(-1, "alarm", 1.5).expect("a number");
    let reaction = |engine: &promenade_crowd::Engine, id: i32| {
        engine.crowd().parameters(id).map_or(0, |p| (p.reaction_time / 0.05).round_ties_even() as u64)
    };
    let due: Vec<(i32, u64)> = [1, 2].map(|id| (id, 3 + reaction(&engine, id))).to_vec();
    let mut came = Vec::new();
    for tick in 3..60 {
        engine.tick();
        came.extend(engine.due_stimuli().map(|stimulus| {
            assert_eq!((stimulus.stimulus.as_str(), stimulus.intensity), ("alarm", 1.0));
            (stimulus.agent_id, tick)
        }));
    }
    came.sort_unstable();
    assert_eq!(came, due);
    assert!(
        engine.notify_stimulus(9, "alarm", 0.5).is_err()
            && engine.notify_stimulus(1, "alarm", f32::NAN).is_err()
    );
}

#[test]
fn phases_are_measured_by_the_clock_that_is_given() {
    let mut now = 0;
    let clock = move || {
        now += 1_000_000;
        now
    };
    let mut engine = engine(&[("profile_phases", ParameterValue::Bool(true))]).with_clock(clock);
    engine.spawn_agents(&[walker(1, [0.0, 0.0], [5.0, 0.0])]).expect("free");
    run(&mut engine, 10);
    let profile = engine.profile(true);
    assert_eq!((profile.n_ticks, profile.n_agents, profile.phase_names.len()), (10, 1, 9));
    let phase = |name: &str| profile.phase_names.iter().position(|n| n == name).expect("a phase");
    assert!((profile.phase_means_ms[phase("sense")] - 1.0).abs() < 1e-9);
    assert!((profile.phase_means_ms[phase("global_plan")] - 0.2).abs() < 1e-9, "every fifth tick");
    assert!((profile.phase_p95s_ms[phase("global_plan")] - 1.0).abs() < 1e-9);
    assert_eq!(engine.profile(false).n_ticks, 0, "it was reset");
}

#[test]
fn robots_have_arrived_when_each_stands_at_the_end_of_its_way() {
    let mut engine = engine(&[]);
    assert!(!engine.robots_have_arrived(), "nobody is there to arrive");
    let robot = |id: i32, y: f64| AgentState {
        kind: kind::ROBOT,
        policy: "straight".to_owned(),
        agent_type: "robot".to_owned(),
        ..walker(id, [0.0, y], [2.0 * f64::from(id), y])
    };
    engine.spawn_agents(&[robot(1, 0.0), robot(2, 5.0), walker(3, [0.0, 9.0], [50.0, 9.0])]).expect("free");
    let mut arrived = 0;
    while !engine.robots_have_arrived() {
        engine.tick();
        arrived += 1;
        assert!(arrived < 300);
    }
    assert!(place(&engine, 2)[0] > 3.8, "the one with the longer way, too");
}

#[test]
fn a_frame_has_the_numbers_of_the_pool_to_the_last_bit() {
    let mut engine = engine(&[]);
    engine
        .spawn_agents(&[walker(1, [0.1, 0.2], [9.3, 0.4]), walker(2, [9.0, 0.3], [0.0, 0.1])])
        .expect("free");
    run(&mut engine, 77);
    let (frame, pool) = (engine.frame(), engine.crowd().pool());
    assert_eq!(
        (&frame.agent_id, &frame.x, &frame.y, &frame.theta),
        (&pool.id, &pool.x, &pool.y, &pool.theta)
    );
    assert_eq!((&frame.vx, &frame.vy, &frame.radius), (&pool.vx, &pool.vy, &pool.radius));
}
