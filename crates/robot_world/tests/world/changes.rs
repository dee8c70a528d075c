//! What a caller may do to a world between steps.

use promenade_robot_world::spec::Goal;
use promenade_robot_world::world::WorldError;

use super::{motion, near, said, spec, steps, world};

const ROBOT: &str = "robot: {name: a, kinematics: {name: omni}, shape: {name: circle}, state: [0, 0, 0], goal: [9, 0, 0], behavior: {name: dash}}";

#[test]
fn objects_come_and_go_and_ids_are_never_used_twice() {
    let mut world = world(ROBOT);
    let mut wall = spec("obstacle: {name: w, shape: {name: rectangle}, state: [0.9, 0, 0]}").groups[0]
        .objects[0]
        .clone();
    let id = world.add(&wall, 1).expect("a free name");
    assert_eq!((id, world.find("w"), world.objects().is_static[1]), (1, Some(1), true));
    assert_eq!(world.add(&wall, 1), Err(WorldError::DuplicateName("w".into())));
    steps(&mut world, 5);
    assert_eq!(world.objects().collisions[0], [1]);
    let [x, ..] = world.objects().state[0];
    world.remove(id).expect("it is there");
    assert_eq!((world.find("w"), world.remove(id)), (None, Err(WorldError::UnknownId(1))));
    assert_eq!(world.objects().collisions[0], [0; 0]);
    steps(&mut world, 5);
    assert!(world.objects().state[0][0] > x);
    wall.name = None;
    let id = world.add(&wall, 1).expect("a free name");
    assert_eq!((id, world.find("obstacle_2"), world.objects().row(2)), (2, Some(2), Some(1)));
    wall.state = vec![f64::NAN, 0.0, 0.0];
    assert!(matches!(world.add(&wall, 1), Err(WorldError::NotFinite { .. })));
}

#[test]
fn a_row_taken_out_leaves_the_others_what_they_were() {
    let file = "world: {collision_mode: unobstructed}
        robot: {number: 3, kinematics: {name: diff}, shape: {name: circle}, state: [[0, 0, 0], [1, 1, 1], [2, 2, 2]], goal: [[9, 9, 0]],
                behavior: {name: dash}}";
    let (mut whole, mut without) = (world(file), world(file));
    without.remove(1).expect("it is there");
    steps(&mut whole, 40);
    steps(&mut without, 40);
    assert_eq!(without.objects().id, [0, 2]);
    for (row, of_whole) in [(0, 0), (1, 2)] {
        assert_eq!(without.objects().state[row], whole.objects().state[of_whole]);
    }
}

#[test]
fn states_velocities_and_goals_are_set_and_geometry_follows_at_once() {
    let mut world = world(ROBOT);
    world.set_state(0, &[2.0, 1.0, 0.5]).expect("a pose");
    near(&world.objects().centroid[0], &[2.0, 1.0]);
    near(&world.objects().bounds[0], &[1.8, 0.8, 2.2, 1.2]);
    world.set_velocity(0, &[1.0, 0.0]).expect("a velocity");
    near(&world.objects().velocity_xy[0], &[0.5_f64.cos(), 0.5_f64.sin()]);
    world.set_goals(0, &[Goal { position: [2.0, 1.0], heading: None }]).expect("a goal");
    steps(&mut world, 1);
    assert!(world.objects().arrive[0]);
    let before = motion(world.objects());
    let message = |result: Result<(), WorldError>| result.expect_err("refused").to_string();
    assert_eq!(message(world.set_state(0, &[1.0])), "a: 1 numbers for its state, expected 3");
    assert_eq!(
        message(world.set_state(0, &[1.0, f64::INFINITY, 0.0])),
        "a: its state has a number that is not finite"
    );
    assert_eq!(message(world.set_velocity(0, &[1.0; 3])), "a: 3 numbers for its velocity, expected 2");
    assert_eq!(message(world.set_velocity(4, &[1.0; 2])), "there is no object with id 4");
    let far = Goal { position: [f64::NAN, 0.0], heading: None };
    assert_eq!(message(world.set_goals(0, &[far])), "a: its goal has a number that is not finite");
    assert_eq!(motion(world.objects()), before);
}

#[test]
fn a_puppet_goes_where_it_is_put_and_stops_others_but_never_stops_itself() {
    let mut world =
        world(&format!("{ROBOT}\nobstacle: {{name: p, shape: {{name: circle}}, state: [5, 5, 0]}}"));
    for step in 0..8 {
        let x = 3.0 - 0.3 * f64::from(step);
        world.set_puppet(1, [x, 0.0, 3.0], [-3.0, 0.0, 0.0]).expect("a puppet");
        near(&world.objects().centroid[1], &[x, 0.0]);
        steps(&mut world, 1);
        near(&world.objects().state[1], &[x, 0.0, 3.0]);
        near(&world.objects().velocity_xy[1], &[-3.0, 0.0]);
        assert!(!world.objects().stop[1]);
    }
    assert!(world.objects().stop[0] && world.objects().collision[1]);
    assert_eq!(said(&mut world), ["a: collides"]);
    assert!(world.set_puppet(1, [f64::NAN; 3], [0.0; 3]).is_err());
}

#[test]
fn a_wall_that_is_moved_is_met_where_it_is() {
    let mut world = world(&format!("{ROBOT}\nobstacle: {{shape: {{name: rectangle}}, state: [5, 5, 0]}}"));
    steps(&mut world, 1);
    world.set_state(1, &[0.3, 0.0, 0.0]).expect("a pose");
    steps(&mut world, 1);
    assert_eq!(world.objects().collisions[0], [1]);
}

#[test]
fn who_is_fast_for_its_size_among_contacts_is_named_once() {
    let mut world = world(
        "world: {collision_mode: contact}
         robot: {kinematics: {name: omni}, shape: {name: circle, radius: 0.1}, state: [0, 0, 0], goal: [99, 0, 0], vel_max: [3, 3],
                 friction: 9, behavior: {name: dash}}",
    );
    steps(&mut world, 5);
    let warnings = said(&mut world);
    assert_eq!(warnings.len(), 1);
    assert!(
        warnings[0].starts_with("robot_0: moves 0.300 m in one step and has a radius of 0.100 m"),
        "{warnings:?}"
    );
}
