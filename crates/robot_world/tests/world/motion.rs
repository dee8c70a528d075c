//! Behaviour dash, coasting, limits, noise and the order of a step.

use promenade_robot_world::behavior::Scratch;
use promenade_robot_world::world::Done;

use super::{command, motion, near, said, steps, world};

/// What dash asks of a robot at the origin that looks along 0.3.
fn dash(kinematics: &str, goal: &str, keys: &str) -> Vec<f64> {
    let world = world(&format!(
        "robot: {{kinematics: {{name: {kinematics}}}, shape: {{name: circle, radius: 0.2}}, state: [0, 0, 0.3], \
         goal: {goal}, behavior: {{name: dash}}, {keys}}}"
    ));
    let behavior = world.objects().behavior[0].clone().expect("dash");
    behavior.command(&world.scene(), 0, &mut Scratch::default()).to_vec()
}

#[test]
fn dash_has_its_published_values() {
    near(&dash("diff", "[3, 4, 0]", "vel_max: [1.2, 1.5]"), &[0.971541671, 1.5]);
    near(&dash("diff", "[3, 4, 0]", "vel_max: [1.2, 1.5], acce: [.inf, 2]"), &[0.971541671, 1.266008483]);
    near(&dash("diff", "[-3, -1, 0]", "vel_max: [1.2, 1.5]"), &[-1.199716159, -1.5]);
    near(&dash("omni", "[3, 4, 0]", "vel_max: [1.2, 0.5]"), &[0.971541671, 0.293478534]);
    near(&dash("acker", "[3, 4, 0]", "vel_max: [1.2, 0.5]"), &[1.2, 0.5]);
}

#[test]
fn dash_stands_at_its_goal_and_omni_angular_turns_to_the_goals_heading_there() {
    for kinematics in ["diff", "omni", "acker"] {
        near(&dash(kinematics, "[0.05, 0, 2]", ""), &[0.0, 0.0]);
    }
    near(&dash("omni_angular", "[0.05, 0, 2]", ""), &[0.0, 0.0, 1.0]);
    near(&dash("omni_angular", "[0.05, 0]", ""), &[0.0, 0.0, 0.0]);
}

#[test]
fn a_pushed_box_slides_as_published() {
    let mut world =
        world("obstacle: {shape: {name: rectangle}, state: [0, 0, 0], mass: 2, velocity: [1, 0]}");
    for speed in [0.5095, 0.019, 0.0] {
        steps(&mut world, 1);
        near(&world.objects().velocity[0], &[speed, 0.0, 0.0]);
    }
    near(&world.objects().state[0], &[0.05285, 0.0, 0.0]);
}

#[test]
fn a_spinning_box_slows_by_friction_over_its_radius_of_gyration() {
    let mut world = world(
        "obstacle: {shape: {name: circle, radius: 1}, state: [0, 0, 0], mass: 2, velocity: [0, 0, -3]}",
    );
    steps(&mut world, 1);
    let spin = -3.0 + 0.5 * 9.81 * 0.1 / 0.5_f64.sqrt();
    near(&world.objects().velocity[0], &[0.0, 0.0, spin]);
    near(&world.objects().state[0], &[0.0, 0.0, spin * 0.1]);
}

#[test]
fn commands_are_clipped_to_limits_and_to_their_change_and_that_is_said_once() {
    let mut world = world(
        "robot: {kinematics: {name: diff}, shape: {name: circle}, state: [0, 0, 0], vel_max: [1, 2], acce: [2, .inf]}",
    );
    command(&mut world, "robot_0", &[1.0, -9.0]);
    near(&world.objects().velocity[0], &[0.2, -1.0]);
    command(&mut world, "robot_0", &[1.0, 9.0]);
    near(&world.objects().velocity[0], &[0.4, 2.0]);
    assert_eq!(
        said(&mut world),
        ["robot_0: number 1 of its command, 1, is outside its limits; 0.2 is taken"]
    );
    steps(&mut world, 1);
    near(&world.objects().velocity[0], &[0.0, 0.0]);
}

#[test]
fn headings_stay_in_the_range_of_their_object() {
    let mut world = world(
        "robot: {kinematics: {name: diff}, shape: {name: circle}, state: [0, 0, 6], angle_range: [0, 6.283185307179586]}",
    );
    command(&mut world, "robot_0", &[0.0, 0.5]);
    near(&world.objects().state[0], &[0.0, 0.0, 6.05]);
    for _ in 0..5 {
        command(&mut world, "robot_0", &[0.0, 0.5]);
    }
    near(&world.objects().state[0], &[0.0, 0.0, 6.3 - std::f64::consts::TAU]);
}

#[test]
fn noise_moves_the_body_and_not_the_stored_velocity_and_comes_from_the_seed() {
    let file = "robot: {kinematics: {name: diff, noise: true}, shape: {name: circle}, state: [0, 0, 0]}";
    let mut worlds = [world(file), world(file)];
    for world in &mut worlds {
        for _ in 0..20 {
            command(world, "robot_0", &[0.8, 0.5]);
        }
    }
    let [a, b] = &worlds;
    assert_eq!(motion(a.objects()), motion(b.objects()));
    near(&a.objects().velocity[0], &[0.8, 0.5]);
    assert!((a.objects().state[0][2] - 1.0).abs() > 1e-4, "{:?}", a.objects().state[0]);
}

#[test]
fn who_touches_stops_until_the_other_leaves_and_an_unobstructed_object_neither_stops_nor_reports() {
    let mut world = world(
        "robot:
           - {kinematics: {name: omni}, shape: {name: circle, radius: 0.3}, state: [0, 0, 0], goal: [9, 0, 0], behavior: {name: dash}}
           - {kinematics: {name: diff}, shape: {name: circle, radius: 0.3}, state: [1, 0, 1.57]}
         obstacle:
           - {shape: {name: circle, radius: 5}, state: [0, 0, 0], unobstructed: true}",
    );
    steps(&mut world, 5);
    let objects = world.objects();
    assert_eq!(
        (&objects.stop[..], &objects.collision[..]),
        (&[true, true, false][..], &[true, true, false][..])
    );
    assert_eq!(objects.collisions, [vec![1], vec![0], vec![]]);
    assert_eq!((world.status(), world.done(Done::All)), ("Collision", true));
    let stopped = objects.state[0];
    steps(&mut world, 3);
    assert_eq!(world.objects().state[0], stopped);
    world.set_state(1, &[1.0, 3.0, 0.0]).expect("an object");
    // The flag is from the last check, so the robot moves in the step after the next.
    steps(&mut world, 2);
    assert!(world.objects().state[0][0] > stopped[0] && !world.objects().stop[0]);
}

#[test]
fn obstacles_pass_through_each_other_where_only_robots_stop() {
    let mut world = world(
        "world: {collision_mode: unobstructed_obstacles}
         robot: {kinematics: {name: omni}, shape: {name: circle}, state: [0, 0, 0], goal: [9, 0, 0], behavior: {name: dash}}
         obstacle: {kinematics: {name: omni}, shape: {name: circle}, state: [0.3, 0, 0], goal: [9, 0, 0], behavior: {name: dash}}",
    );
    steps(&mut world, 1);
    assert_eq!(
        (&world.objects().collision[..], &world.objects().stop[..]),
        (&[true; 2][..], &[true, false][..])
    );
    steps(&mut world, 2);
    near(&world.objects().state[0], &[0.1, 0.0]);
    near(&world.objects().state[1], &[0.6, 0.0]);
}
