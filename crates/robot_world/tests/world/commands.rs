//! Commands from outside, pausing, external mode and what is said about idle objects.

use promenade_robot_world::World;
use promenade_robot_world::world::{CommandError, ObjectRef};
use proptest::prelude::*;

use super::{command, motion, near, said, steps, world};

const TWO: &str = "
    robot:
      - {name: a, kinematics: {name: diff}, shape: {name: circle}, state: [0, 0, 0]}
      - {name: b, kinematics: {name: omni_angular}, shape: {name: circle}, state: [2, 0, 0]}
    obstacle: {shape: {name: circle}, state: [5, 5, 0]}";

#[test]
fn a_step_with_one_bad_command_moves_nobody() {
    let mut world = world(TWO);
    let good: (ObjectRef<'_>, &[f64]) = (ObjectRef::Name("a"), &[1.0, 0.0]);
    let bad: [(ObjectRef<'_>, &[f64], &str); 6] = [
        (ObjectRef::Name("c"), &[1.0], "there is no object called \"c\""),
        (ObjectRef::Id(9), &[1.0], "there is no object with id 9"),
        (ObjectRef::Id(1), &[1.0, 0.0], "b: 2 numbers in a command, expected forward, lateral, angular"),
        (ObjectRef::Id(1), &[1.0, f64::NAN, 0.0], "b: a command has a number that is not finite"),
        (ObjectRef::Id(0), &[1.0, 0.0], "a: two commands for one step"),
        (
            ObjectRef::Name("obstacle_2"),
            &[1.0, 0.0],
            "obstacle_2: has no kinematics and takes no command; give it kinematics, or set its velocity",
        ),
    ];
    let before = motion(world.objects());
    for (object, numbers, message) in bad {
        let error = world.step(&[good, (object, numbers)]).expect_err(message);
        assert_eq!(error.to_string(), message);
        assert_eq!((motion(world.objects()), world.count()), (before.clone(), 0));
    }
    world.step(&[good, (ObjectRef::Id(1), &[0.0, 1.0, 0.5])]).expect("both are right");
    near(&world.objects().state[0], &[0.1, 0.0, 0.0]);
    near(&world.objects().state[1], &[2.0, 0.1, 0.05]);
}

#[test]
fn a_command_holds_for_one_step_and_a_robot_without_one_is_named_once() {
    let mut world = world(TWO);
    command(&mut world, "a", &[1.0, 0.0]);
    command(&mut world, "a", &[1.0, 0.0]);
    steps(&mut world, 3);
    near(&world.objects().state[0], &[0.2, 0.0, 0.0]);
    let idle = |name: &str| format!("{name}: has neither a behavior nor a command and stands still");
    assert_eq!(said(&mut world), [idle("b"), idle("a")]);
    steps(&mut world, 3);
    assert_eq!(said(&mut world), [""; 0]);
}

#[test]
fn a_paused_world_ignores_steps() {
    let mut world = world(TWO);
    world.set_paused(true);
    command(&mut world, "a", &[1.0, 0.0]);
    assert_eq!((world.status(), world.count(), world.objects().state[0][0]), ("Pause", 0, 0.0));
    world.set_paused(false);
    command(&mut world, "a", &[1.0, 0.0]);
    assert_eq!((world.status(), world.count()), ("Running", 1));
}

#[test]
fn in_external_mode_the_caller_moves_objects_and_a_command_is_an_error() {
    let mut world = world(&format!("world: {{step_mode: external}}{TWO}"));
    assert_eq!(world.step(&[(ObjectRef::Id(0), &[1.0, 0.0])]), Err(CommandError::External));
    world.set_state(0, &[2.1, 0.0, 0.5]).expect("an object");
    world.set_velocity(1, &[1.0, 0.0, 0.0]).expect("an object");
    steps(&mut world, 1);
    near(&world.objects().state[1], &[2.0, 0.0, 0.0]);
    near(&world.objects().centroid[0], &[2.1, 0.0]);
    assert_eq!((&world.objects().collision[..2], world.count()), (&[true; 2][..], 1));
}

#[test]
fn time_is_exactly_the_count_of_steps_times_their_length() {
    let mut world = world("world: {step_time: 0.005}");
    steps(&mut world, 3);
    assert_eq!((world.time(), world.count()), (3.0 * 0.005, 3));
}

#[test]
fn a_keyboard_world_says_so_until_it_is_made_automatic() {
    let mut world = world(&format!("world: {{control_mode: keyboard}}{TWO}"));
    steps(&mut world, 1);
    assert_eq!(world.status(), "Running (keyboard)");
    world.set_control_mode(promenade_robot_world::spec::ControlMode::Auto);
    steps(&mut world, 1);
    assert_eq!(world.status(), "Running");
}

fn finite(world: &World) -> bool {
    let objects = world.objects();
    objects.state.iter().flatten().chain(objects.velocity.iter().flatten()).all(|number| number.is_finite())
}

proptest! {
    #[test]
    fn no_command_makes_a_number_that_is_not_finite(
        numbers in prop::collection::vec(prop::collection::vec(prop::num::f64::ANY, 0..5), 1..20),
        mode in prop::sample::select(vec!["stop", "contact", "unobstructed"]),
    ) {
        let mut world = world(&format!("world: {{collision_mode: {mode}}}{TWO}"));
        for numbers in &numbers {
            for object in [ObjectRef::Id(0), ObjectRef::Name("b"), ObjectRef::Id(2)] {
                let accepted = world.step(&[(object, numbers)]).is_ok();
                prop_assert!(!accepted || numbers.iter().all(|number| number.is_finite()));
            }
        }
        prop_assert!(finite(&world));
    }
}
