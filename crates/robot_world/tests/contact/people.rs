//! People are puppets: they walk where their own engine puts them, push robots out of the way, and are not pushed.

use crate::scene::{DT, Scene, block, disc, near, robot, thing};
use promenade_robot_world::spec::ObjectSpec;

/// A scene with a person of radius 0.25 m at `at`.
fn with_person(robots: Vec<(ObjectSpec, &[f64])>, things: Vec<ObjectSpec>, at: [f64; 2]) -> Scene {
    let mut scene = Scene::new(robots, things);
    let person = thing("person", disc(0.25), [at[0], at[1], 0.0]);
    let id = scene.world.add(&person, 9).expect("a free name");
    scene.world.set_puppet(id, [at[0], at[1], 0.0], [0.0; 3]).expect("a known id");
    scene
}

/// Lets the person walk for some steps.
fn walk(scene: &mut Scene, velocity: [f64; 2], steps: usize) {
    let id = scene.id("person");
    for _ in 0..steps {
        let [x, y, heading] = scene.state("person");
        let pose = [x + velocity[0] * DT, y + velocity[1] * DT, heading];
        scene.world.set_puppet(id, pose, [velocity[0], velocity[1], 0.0]).expect("a known id");
        scene.step();
    }
}

#[test]
fn a_person_walking_into_a_robot_pushes_it_along() {
    let waiting = robot("robot", "omni", disc(0.3), [2.0, 0.0, 0.0]);
    let mut scene = with_person(vec![(waiting, &[0.0, 0.0])], Vec::new(), [0.0, 0.0]);
    walk(&mut scene, [1.0, 0.0], 30);
    near(scene.state("person")[0], 3.0, 1e-9);
    near(scene.state("robot")[0], 3.0 + 0.55, 1e-5);
    near(scene.velocity("robot")[0], 1.0, 1e-6);
    assert!(scene.reading("person").in_contact && scene.reading("robot").force[0] > 0.0);
}

#[test]
fn a_robot_driving_into_a_person_is_stopped_by_it_and_presses_no_harder_than_its_grip() {
    let careless = robot("robot", "diff", disc(0.3), [0.0, 0.0, 0.0]);
    let mut scene = with_person(vec![(careless, &[1.0, 0.0])], Vec::new(), [2.0, 0.0]);
    let mut largest = 0.0_f64;
    for _ in 0..40 {
        walk(&mut scene, [0.0, 0.0], 1);
        largest = largest.max(scene.force("robot", "person").unwrap_or(0.0));
    }
    assert_eq!(scene.state("person"), [2.0, 0.0, 0.0]);
    near(scene.state("robot")[0], 2.0 - 0.55, 1e-5);
    near(scene.velocity("robot")[0], 0.0, 1e-6);
    near(largest, 4.905, 1e-9);
    near(scene.reading("person").force[0], 4.905, 1e-9);
}

#[test]
fn a_box_between_a_robot_and_a_person_is_not_pushed_into_the_person() {
    let strong = ObjectSpec { mass: 20.0, ..robot("robot", "diff", disc(0.3), [0.0, 0.0, 0.0]) };
    let load = ObjectSpec { mass: 1.0, ..thing("box", block(0.5, 0.5), [1.0, 0.0, 0.0]) };
    let mut scene = with_person(vec![(strong, &[1.0, 0.0])], vec![load], [2.5, 0.0]);
    walk(&mut scene, [0.0, 0.0], 50);
    assert_eq!(scene.state("person"), [2.5, 0.0, 0.0]);
    near(scene.state("box")[0], 2.5 - 0.25 - 0.25, 1e-5);
    near(scene.velocity("robot")[0], 0.0, 1e-6);
}

#[test]
fn a_person_who_walks_off_lets_the_robot_go_on() {
    let careless = robot("robot", "diff", disc(0.3), [0.0, 0.0, 0.0]);
    let mut scene = with_person(vec![(careless, &[1.0, 0.0])], Vec::new(), [1.0, 0.0]);
    walk(&mut scene, [0.0, 0.0], 10);
    assert!(scene.reading("robot").in_contact);
    walk(&mut scene, [0.0, 1.5], 10);
    assert!(!scene.reading("robot").in_contact);
    near(scene.velocity("robot")[0], 1.0, 1e-12);
}

#[test]
fn people_walk_through_walls_and_each_other_if_their_engine_says_so() {
    let wall = thing("wall", block(0.2, 4.0), [1.0, 0.0, 0.0]);
    let mut scene = with_person(Vec::new(), vec![wall], [0.0, 0.0]);
    let other = thing("other", disc(0.25), [2.0, 0.0, 0.0]);
    let id = scene.world.add(&other, 9).expect("a free name");
    scene.world.set_puppet(id, [2.0, 0.0, 0.0], [0.0; 3]).expect("a known id");
    walk(&mut scene, [1.0, 0.0], 30);
    near(scene.state("person")[0], 3.0, 1e-9);
    assert_eq!(scene.state("other"), [2.0, 0.0, 0.0]);
    assert!(scene.world.contacts().is_empty());
}
