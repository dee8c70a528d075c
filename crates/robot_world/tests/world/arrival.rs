//! Goals: when they are reached, what comes next, and what is said of a robot that never gets there.

use promenade_robot_world::spec::Goal;
use promenade_robot_world::world::Done;

use super::{motion, near, said, steps, world};

#[test]
fn way_points_are_dropped_one_by_one_and_the_last_stays() {
    let mut world = world(
        "robot: {kinematics: {name: omni}, shape: {name: circle}, state: [0, 0, 0], goal: [[0.25, 0, 0], [0.25, 0.25, 0]],
                 behavior: {name: dash}}",
    );
    assert_eq!(world.objects().goals[0].len(), 2);
    steps(&mut world, 2);
    assert_eq!((world.objects().goals[0].len(), world.objects().arrive[0]), (1, false));
    steps(&mut world, 2);
    assert_eq!((world.objects().goals[0].len(), world.status()), (1, "Arrived"));
    assert!(world.done(Done::All) && world.done(Done::Any));
}

#[test]
fn a_run_is_over_for_all_or_for_any_and_never_without_robots() {
    let mut worlds = [
        world(
            "robot:
               - {kinematics: {name: omni}, shape: {name: circle}, state: [0, 0, 0], goal: [0, 0, 0], behavior: {name: dash}}
               - {kinematics: {name: omni}, shape: {name: circle}, state: [3, 0, 0], goal: [9, 0, 0], behavior: {name: dash}}",
        ),
        world("obstacle: {shape: {name: circle}, state: [1, 9, 0]}"),
    ];
    for world in &mut worlds {
        assert!(!world.done(Done::Any));
        steps(world, 1);
    }
    assert_eq!((worlds[0].done(Done::Any), worlds[0].done(Done::All)), (true, false));
    assert_eq!((worlds[1].done(Done::Any), worlds[1].done(Done::All)), (false, false));
    assert_eq!(worlds[1].status(), "Running");
}

#[test]
fn a_state_is_reached_by_distance_and_heading_together_or_each_within_its_own_limit() {
    let file = |mode: &str| {
        format!(
            "robot: {{kinematics: {{name: diff}}, shape: {{name: circle}}, state: [0, 0, 0], goal: [2, 0, 1.5],
                      behavior: {{name: dash}}, {mode}}}"
        )
    };
    let mut world = world(&file("arrive_mode: state"));
    steps(&mut world, 60);
    assert!(!world.objects().arrive[0], "a robot that dashes does not turn at its goal");
    for mode in ["heading_threshold: 0.2", "heading_threshold: 0.02, arrive_mode: state, acce: [.inf, 2]"] {
        let mut world = super::world(&file(mode));
        steps(&mut world, 60);
        let [x, y, heading, ..] = world.objects().state[0];
        assert!(world.objects().arrive[0], "{mode}: {:?}", world.objects().state[0]);
        assert!((x - 2.0).hypot(y) < 0.1 && (heading - 1.5).abs() < 0.2);
    }
}

#[test]
fn a_heading_is_the_same_a_whole_turn_on() {
    let mut world = world(
        "robot: {kinematics: {name: omni}, shape: {name: circle}, state: [0, 0, 3.1], goal: [0, 0, -3.1], arrive_mode: state,
                 goal_threshold: 0.1, behavior: {name: dash}}",
    );
    steps(&mut world, 1);
    assert!(world.objects().arrive[0]);
}

const WANDERERS: &str = "
    world: {collision_mode: unobstructed}
    robot: {number: 3, kinematics: {name: omni}, shape: {name: circle}, state: [[1, 1, 0], [2, 2, 0], [3, 3, 0]], goal_threshold: 0.3,
            behavior: {name: dash, wander: true, range_low: [0, 0, -1], range_high: [4, 4, 1]}}";

#[test]
fn wanderers_draw_goals_from_their_range_for_ever() {
    let mut world = world(WANDERERS);
    let mut goals = std::collections::BTreeSet::new();
    for _ in 0..600 {
        steps(&mut world, 1);
        let Goal { position: [x, y], heading } = world.objects().goals[0][0];
        assert!((0.0..4.0).contains(&x) && (0.0..4.0).contains(&y));
        assert!((-1.0..1.0).contains(&heading.expect("a drawn heading")));
        goals.insert(x.to_bits());
    }
    assert!(goals.len() > 8, "{} goals", goals.len());
}

#[test]
fn a_seeded_world_behaves_the_same_after_every_reset_with_the_same_seed() {
    let mut world = world(WANDERERS);
    let mut run = |seed: Option<u64>| {
        match seed {
            Some(seed) => world.reset_seeded(seed),
            None => world.reset(),
        }
        assert_eq!((world.count(), world.status()), (0, "Reset"));
        near(&world.objects().state[2], &[3.0, 3.0, 0.0]);
        steps(&mut world, 200);
        (motion(world.objects()), world.objects().goals.clone())
    };
    let (first, other, again) = (run(Some(7)), run(None), run(Some(7)));
    assert!(first == again, "one seed");
    assert!(first != other, "the generator goes on");
}

#[test]
fn the_same_seed_gives_the_same_world_and_a_random_reset_another() {
    let file = "robot: {number: 4, distribution: {name: random}, kinematics: {name: omni}, behavior: {name: dash}, shape: {name: circle}}";
    let (mut a, b) = (world(file), world(file));
    assert_eq!(motion(a.objects()), motion(b.objects()));
    let first = motion(a.objects());
    a.reset_random().expect("room");
    assert_ne!(motion(a.objects()), first);
    assert_eq!((a.count(), a.status()), (0, "Reset"));
}

#[test]
fn a_reset_restores_states_velocities_and_way_points() {
    let mut world = world(
        "robot: {kinematics: {name: diff}, shape: {name: circle}, state: [0, 0, 0], goal: [[0.5, 0, 0], [1, 0, 0]], velocity: [0.3, 0],
                 behavior: {name: dash}}
         obstacle: {shape: {name: circle}, state: [4, 4, 0], mass: 1, velocity: [1, 0, 0]}",
    );
    let (before, goals) = (motion(world.objects()), world.objects().goals.clone());
    steps(&mut world, 30);
    world.reset();
    assert_eq!((motion(world.objects()), &world.objects().goals), (before, &goals));
    assert_eq!((world.objects().arrive[0], world.time()), (false, 0.0));
}

#[test]
fn a_car_that_circles_its_goal_is_named_once_and_one_that_gets_there_is_not() {
    let car = |goal: &str| {
        format!(
            "robot: {{kinematics: {{name: acker}}, shape: {{name: rectangle, wheelbase: 1}}, state: [0, 0, 0, 0], goal: {goal},
                      vel_max: [1, 0.4], vel_min: [-1, -0.4], behavior: {{name: dash}}}}"
        )
    };
    let mut circling = world(&car("[0, 1.5, 0]"));
    steps(&mut circling, 600);
    let warnings = said(&mut circling);
    assert_eq!(warnings.len(), 1, "{warnings:?}");
    assert!(warnings[0].starts_with("robot_0: went round its goal without reaching it"), "{warnings:?}");
    let mut arriving = world(&car("[6, 1.5, 0]"));
    steps(&mut arriving, 80);
    assert_eq!((said(&mut arriving), arriving.status()), (vec![], "Arrived"));
}

#[test]
fn what_has_no_goal_stands_still() {
    let mut world = world(
        "robot: {kinematics: {name: omni}, shape: {name: circle}, state: [0, 0, 0], goal: null, behavior: {name: dash}}",
    );
    steps(&mut world, 4);
    near(&world.objects().state[0], &[0.0, 0.0, 0.0]);
    assert_eq!(said(&mut world), ["robot_0: has a behavior but no goal and stands still"]);
}
