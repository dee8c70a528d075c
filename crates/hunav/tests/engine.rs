//! What holds in both modes: timers, sight, arrival, and the protocol of the services (HuNav specification, section 11, tests 4 to 6 and 9).

use std::f64::consts::FRAC_PI_2;

use promenade_hunav::{
    Agent, Behavior, BehaviorKind, Manager, ManagerVersion, Options, Point, Request, Robot, World,
};

fn both(check: impl Fn(Options)) {
    for options in
        [Options::default(), Options::strict(ManagerVersion::P15), Options::strict(ManagerVersion::P1)]
    {
        check(options);
    }
}

fn walker(id: i32, position: Point) -> Agent {
    let goals = vec![[position[0] + 50.0, position[1]]];
    Agent { id, position, goals, desired_velocity: 1.0, ..Agent::default() }
}

fn robot(position: Point) -> Robot {
    Robot { id: 100, position, ..Robot::default() }
}

fn world(options: Options, agent: Agent, robot: &Robot) -> World {
    let mut world = World::new(options);
    world.reset(&[agent], robot);
    world
}

fn state(world: &World) -> Agent {
    let mut agent = Agent::default();
    world.agent_into(0, &mut agent);
    agent
}

/// In which of `ticks` ticks of 0.1 s a surprised walker reacts, with a robot that it sees in those of `seen`.
fn reactions(options: Options, once: bool, ticks: usize, seen: impl Fn(usize) -> bool) -> Vec<usize> {
    let behavior =
        Behavior { kind: BehaviorKind::Surprised, dist: 3.0, duration: 0.35, once, ..Behavior::default() };
    let agent = Agent { behavior, ..walker(1, [0.0; 2]) };
    let mut world = world(options, agent, &robot([2.0, 0.0]));
    let here = walker(1, [0.0; 2]);
    let reacts = |tick: &usize| {
        let robot = if seen(*tick) { robot([2.0, 0.0]) } else { robot([-2.0, 0.0]) };
        world.observe(std::slice::from_ref(&here), &robot);
        world.compute(0.1);
        world.is_reacting(0)
    };
    (1..=ticks).filter(reacts).collect()
}

#[test]
fn a_timer_counts_while_the_robot_is_seen_and_walks_in_the_tick_in_which_it_expires() {
    for options in
        [Options { integrator_dt_max: 1.0, ..Options::default() }, Options::strict(ManagerVersion::P15)]
    {
        // 0.1, 0.2, 0.3, and at 0.4 the 0.35 s are over.
        assert_eq!(reactions(options, true, 9, |_| true), [1, 2, 3], "once");
        assert_eq!(reactions(options, false, 9, |_| true), [1, 2, 3, 5, 6, 7, 9], "again and again");
        assert_eq!(reactions(options, true, 9, |tick| tick % 2 == 0), [2, 4, 6], "only what is seen counts");
    }
}

#[test]
fn the_first_manager_has_numbers_of_its_own() {
    let first = |kind, at, behavior| {
        let agent = Agent {
            behavior: Behavior { kind, dist: 0.0, duration: 0.0, ..behavior },
            ..walker(1, [0.0; 2])
        };
        let mut world = world(Options::strict(ManagerVersion::P1), agent, &robot(at));
        world.compute(0.1);
        world.is_reacting(0)
    };
    let any = Behavior::default();
    assert!(
        first(BehaviorKind::Surprised, [3.9, 0.0], any) && !first(BehaviorKind::Surprised, [4.1, 0.0], any)
    );
    assert!(first(BehaviorKind::Scared, [2.9, 0.0], any) && !first(BehaviorKind::Scared, [3.1, 0.0], any));
    assert!(first(BehaviorKind::Curious, [9.9, 0.0], any) && !first(BehaviorKind::Curious, [10.1, 0.0], any));
    assert!(
        first(BehaviorKind::Threatening, [3.9, 0.0], any)
            && !first(BehaviorKind::Threatening, [4.1, 0.0], any)
    );
}

#[test]
fn a_robot_is_seen_up_to_a_distance_and_a_little_behind_the_shoulder() {
    both(|options| {
        let sees = |bearing: f64, distance: f64, limit: f64| {
            let at = [distance * bearing.cos(), distance * bearing.sin()];
            world(options, walker(1, [0.0; 2]), &robot(at)).sees_robot(0, limit)
        };
        assert!(sees(0.0, 3.0, 3.0) && !sees(0.0, 3.001, 3.0));
        let edge = FRAC_PI_2 + 0.17;
        for side in [1.0, -1.0] {
            assert!(sees(side * (edge - 1e-3), 1.0, 3.0));
            assert!(!sees(side * (edge + 1e-3), 1.0, 3.0));
        }
    });
}

#[test]
fn whoever_arrives_takes_the_next_goal_and_does_not_move_in_that_tick() {
    both(|options| {
        for cyclic_goals in [true, false] {
            let goals = vec![[0.35, 0.0], [9.0, 0.0]];
            let agent = Agent { goals, cyclic_goals, goal_radius: 0.3, ..walker(1, [0.0; 2]) };
            let mut world = world(options, agent, &Robot::default());
            assert!(world.is_goal_reached(0), "0.1 m are granted");
            world.compute(0.05);
            let now = state(&world);
            assert_eq!((now.position, now.velocity), ([0.0; 2], [0.0; 2]));
            let rest: &[Point] = if cyclic_goals { &[[9.0, 0.0], [0.35, 0.0]] } else { &[[9.0, 0.0]] };
            assert_eq!(now.goals, rest);
            world.compute(0.05);
            assert!(state(&world).position[0] > 0.0);
        }
    });
}

#[test]
fn without_a_goal_a_walker_slows_down_in_half_a_second() {
    both(|options| {
        let agent = Agent { goals: Vec::new(), velocity: [1.0, 0.0], ..walker(1, [0.0; 2]) };
        let mut world = world(options, agent, &Robot::default());
        for nth in 1..=5 {
            world.compute(0.05);
            let expected = (1.0_f64 - 0.05 / 0.5).powi(nth);
            assert!((state(&world).velocity[0] - expected).abs() < 1e-6);
        }
    });
}

fn ask(manager: &mut Manager, stamp: f64, agents: &[Agent]) -> Vec<Agent> {
    let mut answer = Vec::new();
    let robot = robot([20.0, 20.0]);
    manager.compute_agents(&Request { stamp_ns: (stamp * 1e9) as i64, agents, robot: &robot }, &mut answer);
    answer
}

#[test]
fn the_first_call_moves_nobody_and_a_stamp_that_goes_back_is_no_time() {
    both(|options| {
        let (mut manager, agents) = (Manager::new(options), [walker(1, [0.0; 2])]);
        assert_eq!(ask(&mut manager, 50.0, &agents)[0].position, [0.0; 2]);
        assert!(ask(&mut manager, 50.1, &agents)[0].position[0] > 0.01);
        assert_eq!(ask(&mut manager, 3.0, &agents)[0].position, [0.0; 2], "time went back");
        assert!(ask(&mut manager, 3.1, &agents)[0].position[0] > 0.01, "and goes on from there");
        assert_eq!(ask(&mut manager, 3.1, &agents)[0].position, [0.0; 2], "no time, no way");
    });
}

#[test]
fn later_messages_change_places_and_obstacles_only() {
    both(|options| {
        let (mut manager, before) = (Manager::new(options), walker(1, [0.0; 2]));
        ask(&mut manager, 0.0, std::slice::from_ref(&before));
        // What an adapter sends that has put the original's answer in the place of its own record.
        let emptied =
            Agent { id: 1, position: [3.0, 0.0], desired_velocity: 0.0, radius: 0.0, ..Agent::default() };
        let after = ask(&mut manager, 0.1, &[Agent { closest_obs: vec![[3.0, 1.0]], ..emptied }]);
        assert!(after[0].position[0] > 3.01, "it still has its cruise speed: {:?}", after[0].position);
        assert_eq!(after[0].goals, before.goals);
        assert!(manager.world().forces(0).obstacle[1] < -0.01);
    });
}

#[test]
fn clearing_makes_the_next_call_the_first_and_keeps_no_memory() {
    both(|options| {
        let (mut manager, agents) = (Manager::new(options), [walker(1, [0.0; 2]), walker(2, [0.0, 2.0])]);
        ask(&mut manager, 0.0, &agents[..1]);
        let moved = ask(&mut manager, 0.1, &agents[..1]);
        manager.clear_agents();
        assert!(manager.world().is_empty());
        let there = Agent { position: moved[0].position, ..agents[0].clone() };
        let mut again = ask(&mut manager, 0.2, &[there, agents[1].clone()]);
        again.sort_by_key(|agent| agent.id);
        assert_eq!(again[0].position, moved[0].position);
        assert_eq!(again.len(), 2);
    });
}

#[test]
fn one_agent_moves_and_moves_again_as_long() {
    both(|options| {
        let (mut manager, agents) = (Manager::new(options), [walker(1, [0.0; 2]), walker(2, [0.0, 5.0])]);
        let robot = robot([20.0, 20.0]);
        let request = |stamp_ns| Request { stamp_ns, agents: &agents, robot: &robot };
        let mut answer = Agent::default();
        assert!(!manager.compute_agent(1, &mut answer), "nobody is known");
        assert!(manager.move_agent(&request(0), 1, &mut answer));
        assert_eq!(answer.position, [0.0; 2]);
        assert!(manager.compute_agent(1, &mut answer));
        assert_eq!(answer.position, [0.0; 2], "no call had a length yet");
        assert!(manager.move_agent(&request(100_000_000), 1, &mut answer));
        let first = answer.position[0];
        assert!(first > 0.0);
        assert!(manager.compute_agent(1, &mut answer));
        assert!(answer.position[0] > 1.5 * first);
        assert!(manager.compute_agent(2, &mut answer));
        assert!(!manager.move_agent(&request(200_000_000), 9, &mut answer));
        assert_eq!(answer.id, 2, "and the answer is what it was");
    });
}

#[test]
fn resetting_moves_nobody() {
    both(|options| {
        let (mut manager, agents) = (Manager::new(options), [walker(1, [0.0; 2])]);
        ask(&mut manager, 0.0, &agents);
        let away = [Agent { position: [7.0, 1.0], ..walker(1, [0.0; 2]) }];
        manager.reset_agents(&Request { stamp_ns: 900_000_000, agents: &away, robot: &robot([20.0; 2]) });
        let mut agent = Agent::default();
        manager.world().agent_into(0, &mut agent);
        assert_eq!(agent.position, [7.0, 1.0]);
        assert_eq!(agent.goals, agents[0].goals);
    });
}

#[test]
fn ids_lead_to_rows_while_people_come_and_go() {
    let mut world = World::new(Options::default());
    world.reset(
        &[walker(5, [0.0; 2]), walker(-3, [1.0, 0.0]), walker(9, [2.0, 0.0]), walker(5, [4.0, 0.0])],
        &Robot::default(),
    );
    assert_eq!(
        (world.len(), world.row_of(5), world.row_of(-3), world.row_of(9)),
        (3, Some(0), Some(1), Some(2))
    );
    assert_eq!(state(&world).position, [4.0, 0.0], "of two with one id the last counts");
    assert!(world.remove(5) && !world.remove(5));
    assert_eq!((world.row_of(-3), world.row_of(9), world.id(1)), (Some(0), Some(1), 9));
    world.upsert(&walker(0, [9.0, 9.0]));
    assert_eq!(world.row_of(0), Some(2));
    world.compute(0.1);
    world.clear();
    assert!(world.is_empty() && world.row_of(9).is_none());
    world.compute(0.1);
}
