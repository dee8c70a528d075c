//! What robust mode does better than the original: every difference holds in robust mode and does not in strict mode, which keeps the fault.

use std::f64::consts::{FRAC_PI_2, PI};

use promenade_hunav::{
    Agent, Behavior, BehaviorKind, Manager, ManagerVersion, Options, Point, Request, Robot, World, wrap,
};

/// A claim about the engine that is true in robust mode and false in strict mode.
fn only_robust(claim: impl Fn(Options) -> bool) {
    assert!(claim(Options::default()), "robust mode");
    assert!(!claim(Options::strict(ManagerVersion::P15)), "strict mode has no such fault to keep");
}

/// Somebody at a place who walks along x.
fn walker(id: i32, position: Point) -> Agent {
    let goals = vec![[position[0] + 50.0, position[1]]];
    Agent { id, position, goals, desired_velocity: 1.2, ..Agent::default() }
}

fn of_kind(kind: BehaviorKind, id: i32, position: Point) -> Agent {
    let behavior = Behavior { kind, dist: 3.0, vel: 0.8, ..Behavior::default() };
    Agent { behavior, ..walker(id, position) }
}

fn robot(position: Point) -> Robot {
    Robot { id: 100, position, desired_velocity: 1.0, ..Robot::default() }
}

fn world(options: Options, agents: &[Agent], robot: &Robot) -> World {
    let mut world = World::new(options);
    world.reset(agents, robot);
    world
}

fn state(world: &World, id: i32) -> Agent {
    let mut agent = Agent::default();
    world.agent_into(world.row_of(id).expect("known"), &mut agent);
    agent
}

fn turned(options: Options, yaw: f64, dt: f64) -> f64 {
    let agent = Agent { yaw, ..of_kind(BehaviorKind::Surprised, 1, [0.0; 2]) };
    let mut world = world(options, &[agent], &robot([2.0, 0.0]));
    world.compute(dt);
    wrap(state(&world, 1).yaw)
}

#[test]
fn somebody_who_stands_keeps_the_heading() {
    only_robust(|options| {
        let agent = Agent { yaw: 1.0, goals: Vec::new(), ..walker(1, [0.0; 2]) };
        let mut world = world(options, &[agent], &Robot::default());
        world.compute(0.1);
        state(&world, 1).yaw == 1.0
    });
}

#[test]
fn no_time_changes_nothing() {
    only_robust(|options| {
        let agent = Agent { yaw: 2.0, velocity: [0.5, 0.2], ..walker(1, [0.0; 2]) };
        let mut world = world(options, &[agent], &Robot::default());
        let before = state(&world, 1);
        world.compute(0.0);
        state(&world, 1) == before
    });
}

#[test]
fn a_turn_takes_its_time_whatever_the_rate_of_calls() {
    only_robust(|options| {
        let (one, two) = (turned(options, -1.0, 0.02), turned(options, -1.0, 0.04));
        ((two + 1.0) - 2.0 * (one + 1.0)).abs() < 1e-12
    });
}

#[test]
fn a_turn_to_the_right_does_not_overshoot() {
    only_robust(|options| turned(options, 0.01, 0.1).abs() < 1e-12);
}

#[test]
fn a_standing_walker_has_no_velocity() {
    only_robust(|options| {
        let agent = Agent { velocity: [1.0, 0.0], ..of_kind(BehaviorKind::Surprised, 1, [0.0; 2]) };
        let mut world = world(options, &[agent], &robot([2.0, 0.0]));
        world.compute(0.1);
        state(&world, 1).velocity == [0.0; 2]
    });
}

#[test]
fn a_curious_walker_turns_no_faster_than_people_do() {
    only_robust(|options| {
        let agent = Agent { yaw: FRAC_PI_2, ..of_kind(BehaviorKind::Curious, 1, [0.0; 2]) };
        let mut world = world(options, &[agent], &robot([1.0, 0.0]));
        world.compute(0.1);
        (state(&world, 1).yaw - (FRAC_PI_2 - 0.1 * PI)).abs() < 1e-9
    });
}

#[test]
fn in_front_is_where_the_robot_looks() {
    only_robust(|options| {
        let agent = Agent { yaw: FRAC_PI_2, ..of_kind(BehaviorKind::Threatening, 1, [0.0, -3.0]) };
        let behavior = Behavior { dist: 1.2, ..agent.behavior };
        let mut world = world(options, &[Agent { behavior, ..agent }], &robot([0.0; 2]));
        world.compute(0.05);
        let [vx, vy] = state(&world, 1).velocity;
        // The robot looks along x, so the way is from (0, -3) to (1.2, 0).
        (vx / vy - 1.2 / 3.0).abs() < 1e-9
    });
}

#[test]
fn an_impassive_walker_always_takes_the_robot_for_an_obstacle() {
    only_robust(|options| {
        let agent = of_kind(BehaviorKind::Impassive, 1, [0.0; 2]);
        let mut world = world(options, &[agent], &robot([0.8, 0.0]));
        world.compute(0.1);
        world.forces(0).obstacle[0] < -0.5
    });
}

#[test]
fn every_reaction_is_reported() {
    for kind in [BehaviorKind::Scared, BehaviorKind::Curious, BehaviorKind::Threatening] {
        only_robust(|options| {
            let mut world = world(options, &[of_kind(kind, 1, [0.0; 2])], &robot([2.9, 0.0]));
            let behavior = Behavior {
                dist: if kind == BehaviorKind::Curious { 1.0 } else { 3.0 },
                ..state(&world, 1).behavior
            };
            world.upsert(&Agent { behavior, ..of_kind(kind, 1, [0.0; 2]) });
            world.compute(0.1);
            assert!(world.is_reacting(0), "{kind:?} reacts in any mode");
            state(&world, 1).behavior.state == 1
        });
    }
}

#[test]
fn the_robot_pushes_a_scared_walker_out_of_itself() {
    only_robust(|options| {
        let agent = Agent { goals: Vec::new(), ..of_kind(BehaviorKind::Scared, 1, [0.0; 2]) };
        let mut world = world(options, &[agent], &robot([0.2, 0.0]));
        world.compute(0.05);
        state(&world, 1).position[0] < 0.0
    });
}

#[test]
fn two_on_one_place_part() {
    only_robust(|options| {
        let agents = [walker(1, [0.0; 2]), walker(2, [0.0; 2])];
        let mut world = world(options, &agents, &Robot::default());
        world.compute(0.1);
        let (one, two) = (state(&world, 1).position, state(&world, 2).position);
        assert!(one.iter().chain(&two).all(|part| part.is_finite()));
        one != two
    });
}

#[test]
fn a_point_underfoot_does_not_hide_the_wall() {
    only_robust(|options| {
        let agent = Agent { closest_obs: vec![[0.0, 0.0], [0.5, 0.0]], ..walker(1, [0.0; 2]) };
        world(options, &[agent], &Robot::default()).forces(0).obstacle[0] < -1.0
    });
}

#[test]
fn nobody_beyond_eight_metres_counts() {
    only_robust(|options| {
        let oncoming = Agent { velocity: [-3.0, 0.0], ..walker(2, [8.5, 0.1]) };
        let agents = [Agent { velocity: [1.2, 0.0], ..walker(1, [0.0; 2]) }, oncoming];
        world(options, &agents, &Robot::default()).forces(0).social == [0.0; 2]
    });
}

#[test]
fn reactions_do_not_jump_far_from_the_origin() {
    only_robust(|options| {
        // Single precision has steps of 6 cm out here.
        let far = 1e6;
        let world =
            world(options, &[of_kind(BehaviorKind::Scared, 1, [far, 0.0])], &robot([far + 0.98, 0.0]));
        world.sees_robot(0, 0.99) && !world.sees_robot(0, 0.97)
    });
}

/// A crowd of all kinds around a robot.
fn crowd() -> Vec<Agent> {
    let kinds =
        [BehaviorKind::Regular, BehaviorKind::Scared, BehaviorKind::Curious, BehaviorKind::Threatening];
    (0..24)
        .map(|n| {
            let at = [f64::from(n % 6) * 0.9 - 2.0, f64::from(n / 6) * 1.1 - 2.0];
            Agent { group_id: if n < 6 { 2 } else { -1 }, ..of_kind(kinds[n as usize % 4], n + 1, at) }
        })
        .collect()
}

#[test]
fn the_order_of_a_request_changes_nothing() {
    only_robust(|options| {
        let (forward, mut backward) = (crowd(), crowd());
        backward.reverse();
        let robot = robot([0.5, 0.2]);
        let [mut one, mut other] = [Manager::new(options), Manager::new(options)];
        let run = |manager: &mut Manager, mut agents: Vec<Agent>| {
            let mut answer = Vec::new();
            for step in 0..40 {
                let request = Request { stamp_ns: step * 100_000_000, agents: &agents, robot: &robot };
                manager.compute_agents(&request, &mut answer);
                std::mem::swap(&mut agents, &mut answer);
            }
            agents.sort_by_key(|agent| agent.id);
            agents.iter().map(|agent| (agent.id, agent.position, agent.yaw)).collect::<Vec<_>>()
        };
        run(&mut one, forward) == run(&mut other, backward)
    });
}

#[test]
fn long_calls_come_close_to_many_short_ones() {
    only_robust(|options| {
        let run = |calls: u32, dt: f64| {
            let agents = [walker(1, [0.0; 2]), Agent { goals: vec![[-9.0, 0.3]], ..walker(2, [6.0, 0.2]) }];
            let mut world = world(options, &agents, &Robot::default());
            (0..calls).for_each(|_| world.compute(dt));
            state(&world, 1).position
        };
        let (fine, coarse) = (run(400, 0.01), run(8, 0.5));
        // At half a second the relaxation of half a second is one whole step of the original.
        (fine[0] - coarse[0]).hypot(fine[1] - coarse[1]) < 0.1
    });
}

#[test]
fn a_leap_of_the_stamp_neither_hangs_nor_throws_people_far() {
    let mut world = world(Options::default(), &[walker(1, [0.0; 2])], &Robot::default());
    world.compute(1e12);
    let [x, _] = state(&world, 1).position;
    assert!(x > 20.0 && x < 1.2 * 20.0 + 1e-6, "20 s of walking, not a million years: {x}");
}

#[test]
fn a_robot_that_comes_later_has_its_own_size() {
    only_robust(|options| {
        let mut manager = Manager::new(options);
        let (agents, mut answer) = ([walker(1, [0.0; 2])], Vec::new());
        let parked = Robot { id: 100, ..Robot::default() };
        manager.compute_agents(&Request { stamp_ns: 0, agents: &agents, robot: &parked }, &mut answer);
        let there = Robot { radius: 0.9, ..robot([3.0, 0.0]) };
        manager.compute_agents(&Request { stamp_ns: 1, agents: &agents, robot: &there }, &mut answer);
        manager.world().robot().radius == 0.9
    });
}

#[test]
fn somebody_who_comes_later_walks() {
    only_robust(|options| {
        let mut manager = Manager::new(options);
        let (agents, mut answer) = ([walker(1, [0.0; 2]), walker(2, [0.0, 3.0])], Vec::new());
        let robot = Robot::default();
        for stamp in 0..3 {
            let agents = if stamp == 0 { &agents[..1] } else { &agents };
            manager.compute_agents(
                &Request { stamp_ns: stamp * 100_000_000, agents, robot: &robot },
                &mut answer,
            );
        }
        answer.iter().any(|agent| agent.id == 2 && agent.velocity[0] > 0.1)
    });
}

#[test]
fn an_answer_has_all_fields_in_the_order_of_the_request() {
    only_robust(|options| {
        let mut manager = Manager::new(options);
        let other = Agent {
            skin: 4,
            group_id: 3,
            z: 1.25,
            behavior_tree: "default.xml".into(),
            ..walker(7, [5.0, 5.0])
        };
        let agents =
            [walker(3, [0.0; 2]), Agent { closest_obs: vec![[1.0, 2.0]], name: "eve".into(), ..other }];
        let mut answer = Vec::new();
        manager
            .compute_agents(&Request { stamp_ns: 0, agents: &agents, robot: &Robot::default() }, &mut answer);
        answer == agents
    });
}

#[test]
fn a_reset_with_other_goals_begins_anew() {
    only_robust(|options| {
        let mut manager = Manager::new(options);
        let (robot, mut answer) = (Robot::default(), Vec::new());
        let before = [walker(1, [0.0; 2])];
        manager.compute_agents(&Request { stamp_ns: 0, agents: &before, robot: &robot }, &mut answer);
        let after = [Agent { goals: vec![[0.0, 9.0]], ..walker(1, [0.0; 2]) }];
        manager.reset_agents(&Request { stamp_ns: 1, agents: &after, robot: &robot });
        manager.compute_agents(&Request { stamp_ns: 2, agents: &after, robot: &robot }, &mut answer);
        answer[0].goals == after[0].goals
    });
}

#[test]
fn everybody_who_is_moved_one_by_one_gets_the_same_time() {
    only_robust(|options| {
        let mut manager = Manager::new(options);
        let (agents, robot) = ([walker(1, [0.0; 2]), walker(2, [0.0, 4.0])], Robot::default());
        let mut answer = Agent::default();
        let request = |stamp_ns| Request { stamp_ns, agents: &agents, robot: &robot };
        manager.move_agent(&request(0), 1, &mut answer);
        let mut moved = |id| {
            manager.move_agent(&request(100_000_000), id, &mut answer);
            answer.position[0]
        };
        let (one, two) = (moved(1), moved(2));
        assert!(one > 0.0);
        two > 0.0
    });
}
