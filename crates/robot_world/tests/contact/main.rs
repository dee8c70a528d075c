//! What pushing, bumping and bouncing come to: the expected outcomes of the robot-world specification, section 12.9, and people among them.

mod people;
mod properties;
mod scene;

use promenade_robot_world::shape::Shape;
use promenade_robot_world::spec::ObjectSpec;
use promenade_robot_world::world::ObjectRef;
use scene::{Scene, block, disc, near, robot, thing};

const AHEAD: &[f64] = &[1.0, 0.0];

/// A robot of 1 kg at 1 m/s; its front is at x = 1.
fn pusher() -> ObjectSpec {
    robot("robot", "diff", disc(0.35), [0.65, 2.0, 0.0])
}

/// A box whose face is at `x`.
fn load(name: &str, x: f64, mass: f64) -> ObjectSpec {
    ObjectSpec { mass, ..thing(name, block(0.7, 0.9), [x + 0.35, 2.0, 0.0]) }
}

#[test]
fn a_robot_pushes_a_box_no_heavier_than_itself_at_its_own_speed() {
    for (mass, force) in [(0.25, 1.22625), (1.0, 4.905)] {
        let mut scene = Scene::new(vec![(pusher(), AHEAD)], vec![load("box", 2.0, mass)]);
        scene.run(30);
        let before = scene.state("box");
        scene.step();
        near(scene.state("box")[0] - before[0], 0.1, 1e-12);
        near(scene.velocity("box")[0], 1.0, 1e-9);
        near(scene.velocity("robot")[0], 1.0, 1e-12);
        near(scene.force("robot", "box").expect("they touch"), force, 1e-4);
        near(scene.reading("box").force[0], force, 1e-4);
        near(scene.reading("robot").force[0], -force, 1e-4);
    }
}

#[test]
fn a_robot_stalls_at_a_box_heavier_than_itself() {
    for mass in [2.0, 4.0] {
        let mut scene = Scene::new(vec![(pusher(), AHEAD)], vec![load("box", 2.0, mass)]);
        scene.run(40);
        assert_eq!(scene.state("box"), [2.35, 2.0, 0.0]);
        near(2.0 - (scene.state("robot")[0] + 0.35), 1e-6, 1e-9);
        near(scene.velocity("robot")[0], 0.0, 1e-9);
        near(scene.force("robot", "box").expect("they touch"), 4.905, 1e-9);
        let row = scene.id("robot") as usize;
        near(scene.world.objects().drive[row][0], 1.0, 1e-12);
    }
}

#[test]
fn a_light_box_in_front_of_one_too_heavy_stalls_the_robot() {
    let boxes = || vec![load("light", 2.0, 0.3), load("heavy", 2.7, 0.9)];
    let mut scene = Scene::new(vec![(pusher(), AHEAD)], boxes());
    scene.run(40);
    near(scene.state("light")[0], 2.35, 1e-5);
    near(scene.state("heavy")[0], 3.05, 1e-5);
    near(scene.velocity("robot")[0], 0.0, 1e-9);
    let strong = ObjectSpec { mass: 1.3, ..pusher() };
    let mut scene = Scene::new(vec![(strong, AHEAD)], boxes());
    scene.run(40);
    near(scene.velocity("heavy")[0], 1.0, 1e-6);
}

#[test]
fn loads_whose_sum_equals_the_grip_but_for_rounding_are_pushed() {
    let mut scene = Scene::new(
        vec![(pusher(), AHEAD)],
        vec![load("one", 2.0, 0.1), load("two", 2.8, 0.2), load("three", 3.6, 0.7)],
    );
    scene.run(60);
    near(scene.velocity("three")[0], 1.0, 1e-6);
}

#[test]
fn a_box_beside_the_load_does_not_count() {
    let beside = ObjectSpec { mass: 9.0, ..thing("beside", block(0.7, 0.9), [2.35, 2.9, 0.0]) };
    let mut scene = Scene::new(vec![(pusher(), AHEAD)], vec![load("box", 2.0, 1.0), beside]);
    scene.run(40);
    near(scene.velocity("box")[0], 1.0, 1e-6);
}

#[test]
fn a_second_robot_behind_the_first_adds_no_traction() {
    let second = robot("second", "diff", disc(0.3), [-0.5, 2.0, 0.0]);
    let mut scene = Scene::new(vec![(pusher(), AHEAD), (second, AHEAD)], vec![load("box", 2.0, 1.5)]);
    scene.run(60);
    assert_eq!(scene.state("box")[0], 2.35);
    near(scene.velocity("second")[0], 0.0, 1e-6);
}

#[test]
fn a_chain_stops_at_a_wall_and_does_not_drift() {
    let wall = thing("wall", block(0.5, 4.0), [4.25, 2.0, 0.0]);
    let mut scene =
        Scene::new(vec![(pusher(), AHEAD)], vec![load("one", 1.5, 0.3), load("two", 2.3, 0.6), wall]);
    scene.run(60);
    let names = ["robot", "one", "two"];
    let before = names.map(|name| scene.state(name));
    near(before[2][0], 4.0 - 0.35, 1e-5);
    near(before[1][0], 4.0 - 0.35 - 0.7, 1e-5);
    near(before[0][0], 4.0 - 1.4 - 0.35, 1e-5);
    scene.run(200);
    for (name, before) in names.iter().zip(before) {
        near(scene.state(name)[0], before[0], 1e-9);
        near(scene.velocity(name)[0], 0.0, 1e-6);
    }
    let reports: Vec<_> = scene.world.reports(scene.id("two")).collect();
    assert_eq!(reports.len(), 2, "a box between a box and a wall feels both: {reports:?}");
}

#[test]
fn a_released_box_slides_on_as_friction_lets_it() {
    let mut scene = Scene::new(vec![(pusher(), AHEAD)], vec![load("box", 2.0, 0.5)]);
    scene.run(40);
    let released = scene.state("box")[0];
    scene.commands[0].1 = vec![-1.0, 0.0];
    scene.run(1);
    assert!(scene.velocity("robot")[0] > 0.0, "grip lets it brake only so fast");
    // The robot brakes no faster than the box does, so both slide on together.
    scene.run(10);
    near(scene.state("box")[0] - released, 0.05285, 1e-4);
}

#[test]
fn without_friction_a_push_shares_the_momentum() {
    let slider = |name: &str, x, mass, speed| ObjectSpec {
        mass,
        friction: 0.0,
        velocity: [speed, 0.0, 0.0, 0.0],
        ..thing(name, block(0.6, 0.6), [x, 8.0, 0.0])
    };
    let mut scene = Scene::new(Vec::new(), vec![slider("a", 1.0, 1.0, 1.0), slider("b", 2.5, 3.0, 0.0)]);
    scene.run(30);
    near(scene.velocity("a")[0], 0.25, 1e-4);
    near(scene.velocity("b")[0], 0.25, 1e-4);
    near(scene.velocity("a")[0] + 3.0 * scene.velocity("b")[0], 1.0, 1e-12);
}

/// A frictionless disc of restitution 1 whose left side is at `x`.
fn ball(x: f64) -> ObjectSpec {
    ObjectSpec {
        mass: 0.5,
        friction: 0.0,
        restitution: 1.0,
        ..thing("ball", disc(0.25), [x + 0.25, 2.0, 0.0])
    }
}

#[test]
fn a_kicked_ball_leaves_at_twice_the_speed() {
    let kicker = ObjectSpec { restitution: 1.0, ..pusher() };
    let mut scene = Scene::new(vec![(kicker, AHEAD)], vec![ball(2.0)]);
    scene.run(40);
    near(scene.velocity("ball")[0], 2.0, 1e-6);
}

#[test]
fn a_ball_returns_from_a_wall_at_full_or_half_speed() {
    for (restitution, speed) in [(1.0, -1.0), (0.0, -0.5)] {
        let wall = ObjectSpec { restitution, ..thing("wall", block(0.4, 3.0), [4.2, 2.0, 0.0]) };
        let ball = ObjectSpec { velocity: [1.0, 0.0, 0.0, 0.0], ..ball(1.0) };
        let mut scene = Scene::new(Vec::new(), vec![ball, wall]);
        scene.run(40);
        near(scene.velocity("ball")[0], speed, 1e-9);
        assert!(!scene.reading("ball").in_contact);
    }
}

#[test]
fn a_bouncy_robot_does_not_hammer_a_box_that_it_cannot_push() {
    let hammer = ObjectSpec { restitution: 1.0, ..pusher() };
    let anvil = ObjectSpec { restitution: 1.0, ..load("box", 2.0, 5.0) };
    let mut scene = Scene::new(vec![(hammer, AHEAD)], vec![anvil]);
    scene.run(100);
    assert_eq!(scene.state("box"), [2.35, 2.0, 0.0]);
}

#[test]
fn a_push_through_the_centre_turns_nothing() {
    let mut scene = Scene::new(vec![(pusher(), AHEAD)], vec![load("box", 2.0, 0.8)]);
    scene.run(60);
    assert_eq!((scene.state("box")[2], scene.state("robot")[2]), (0.0, 0.0));
}

#[test]
fn a_push_beside_the_centre_turns_the_box_and_not_the_robot() {
    let aside = ObjectSpec { state: vec![0.65, 2.2, 0.0], ..pusher() };
    let mut scene = Scene::new(vec![(aside, AHEAD)], vec![load("box", 2.0, 0.8)]);
    scene.run(25);
    assert!(
        scene.state("box")[2] < -0.05,
        "pushed above its centre it turns clockwise: {:?}",
        scene.state("box")
    );
    assert_eq!(scene.state("robot")[2], 0.0);
}

#[test]
fn a_robot_that_something_stops_beside_its_centre_is_turned() {
    let wall = thing("wall", block(0.7, 0.9), [2.35, 2.0, 0.0]);
    for blocker in [wall, load("box", 2.0, 6.0)] {
        let blunt =
            ObjectSpec { state: vec![0.65, 2.6, 0.0], ..robot("robot", "diff", block(0.6, 0.6), [0.0; 3]) };
        let mut scene = Scene::new(vec![(blunt, AHEAD)], vec![blocker]);
        scene.run(20);
        assert!(
            scene.state("robot")[2] < -0.02,
            "held at its right side it turns to the right: {:?}",
            scene.state("robot")
        );
    }
}

#[test]
fn a_box_pressed_on_a_wall_slides_only_outside_the_friction_cone() {
    // A puck lies against a wall below it and is pressed by a robot that comes at an angle off the wall's normal.
    for (degrees, slides) in [(20.0_f64, false), (26.0, false), (27.2, true), (40.0, true)] {
        let (sin, cos) = degrees.to_radians().sin_cos();
        let wall = thing("wall", block(12.0, 0.4), [3.0, -0.2, 0.0]);
        let puck = ObjectSpec { mass: 1.0, ..thing("puck", disc(0.3), [3.0, 0.300_001, 0.0]) };
        let strong = ObjectSpec {
            mass: 3.0,
            ..robot("robot", "omni", disc(0.3), [3.0 - 0.75 * sin, 0.3 + 0.75 * cos, 0.0])
        };
        let command = [0.2 * sin, -0.2 * cos];
        let mut scene = Scene::new(vec![(strong, &command)], vec![puck, wall]);
        scene.run(12);
        let moved = scene.state("puck")[0] - 3.0;
        assert_eq!(moved.abs() > 1e-3, slides, "{degrees} degrees moved it by {moved}");
    }
}

#[test]
fn two_robots_head_on_move_as_the_heavier_one_wins() {
    let one = robot("one", "diff", disc(0.3), [1.0, 2.0, 0.0]);
    let three =
        ObjectSpec { mass: 3.0, ..robot("three", "diff", disc(0.3), [3.0, 2.0, std::f64::consts::PI]) };
    let mut scene = Scene::new(vec![(one, AHEAD), (three, AHEAD)], Vec::new());
    scene.run(20);
    let before = [scene.state("one")[0], scene.state("three")[0]];
    scene.step();
    near(scene.state("one")[0] - before[0], -0.05, 1e-9);
    near(scene.state("three")[0] - before[1], -0.05, 1e-9);
    near(scene.velocity("one")[0], -0.5, 1e-9);
    near(scene.velocity("three")[0], -0.5, 1e-9);
    near(scene.force("one", "three").expect("they touch"), 4.905, 1e-9);
}

#[test]
fn a_driven_object_of_infinite_mass_pushes_everything_and_nothing_stops_it() {
    let truck = ObjectSpec { mass: f64::INFINITY, ..pusher() };
    let wall = thing("wall", block(0.4, 3.0), [4.0, 2.0, 0.0]);
    let mut scene = Scene::new(vec![(truck, AHEAD)], vec![load("box", 2.0, 500.0), wall]);
    scene.run(80);
    near(scene.velocity("robot")[0], 1.0, 1e-12);
    assert!(scene.state("robot")[0] > 6.0, "not even the wall: {:?}", scene.state("robot"));
}

#[test]
fn readings_say_when_a_contact_began_how_long_it_lasts_and_when_it_ended() {
    let mut scene = Scene::new(vec![(pusher(), AHEAD)], vec![load("box", 1.4, 2.0)]);
    let mut first = None;
    for step in 1..=20 {
        scene.step();
        let reading = scene.reading("robot");
        assert_eq!(reading.started, reading.in_contact && first.is_none(), "step {step}");
        if reading.in_contact {
            let first = *first.get_or_insert(step);
            near(reading.contact_time, f64::from(step - first + 1) * 0.1, 1e-12);
            assert_eq!(reading.air_time, 0.0);
        } else {
            near(reading.air_time, f64::from(step) * 0.1, 1e-12);
        }
        assert!(!reading.ended);
    }
    assert!(first.is_some());
    scene.commands[0].1 = vec![-1.0, 0.0];
    let mut ends = 0;
    for _ in 0..10 {
        scene.step();
        ends += usize::from(scene.reading("box").ended);
    }
    assert_eq!(ends, 1);
    let reading = scene.reading("box");
    assert!(!reading.in_contact && reading.contact_time == 0.0 && reading.force == [0.0; 2]);
    assert!(scene.world.contacts().is_empty());
}

#[test]
fn what_is_unobstructed_takes_no_part() {
    let ghost = ObjectSpec { unobstructed: true, ..load("ghost", 2.0, 1.0) };
    let mut scene = Scene::new(vec![(pusher(), AHEAD)], vec![ghost]);
    scene.run(60);
    assert_eq!(scene.state("ghost"), [2.35, 2.0, 0.0]);
    assert!(scene.state("robot")[0] > 5.0);
}

#[test]
fn an_object_too_fast_for_the_step_is_told_of_once() {
    let fast = ObjectSpec { vel_max: [5.0; 4], friction: 9.0, ..pusher() };
    let mut scene = Scene::new(vec![(fast, &[4.0, 0.0])], Vec::new());
    scene.run(10);
    let warnings: Vec<String> = scene.world.warnings().map(|warning| warning.to_string()).collect();
    assert_eq!(warnings.len(), 1, "{warnings:?}");
    assert!(warnings[0].contains("0.400 m in one step"), "{warnings:?}");
}

#[test]
fn a_line_of_many_pieces_holds_as_one_of_a_single_piece_does() {
    // Both walls stand where the robot, driving up and to the right, slides along them; one is made of 90 pieces.
    let wall = |pieces: u32| {
        let points = (0..=pieces).map(|i| [f64::from(i) * 9.0 / f64::from(pieces) - 2.0, 0.0]);
        thing("wall", Shape::linestring(points.collect()).expect("a line"), [1.0, 2.0, 0.2])
    };
    let run = |pieces: u32| {
        let slider = robot("robot", "omni", disc(0.35), [0.65, 1.0, 0.0]);
        let mut scene = Scene::new(vec![(slider, &[0.6, 0.7])], vec![wall(pieces)]);
        scene.run(40);
        assert!(scene.reading("robot").in_contact);
        scene.state("robot")
    };
    let (one, many) = (run(1), run(90));
    for (one, many) in one.iter().zip(many) {
        near(many, *one, 1e-9);
    }
}

#[test]
fn a_step_in_a_settled_world_allocates_nothing() {
    let wall = thing("wall", block(0.5, 40.0), [9.0, 9.0, 0.0]);
    let robots = (0..10).map(|lane| {
        let mut lane_robot = robot(&format!("r{lane}"), "diff", disc(0.3), [0.0, f64::from(lane) * 2.0, 0.0]);
        lane_robot.mass = 2.0;
        (lane_robot, AHEAD)
    });
    let boxes = (0..20).map(|number| {
        let [x, y] = [f64::from(number % 2) * 0.7 + 2.0, f64::from(number / 2) * 2.0 + 0.1];
        ObjectSpec { mass: 0.5, ..thing(&format!("b{number}"), block(0.6, 0.8), [x, y, 0.0]) }
    });
    let mut scene = Scene::new(robots.collect(), boxes.chain([wall]).collect());
    scene.run(120);
    let commands: Vec<_> = (0..10).map(|id| (ObjectRef::Id(id), AHEAD)).collect();
    let counted = allocation_counter::measure(|| {
        (0..50).for_each(|_| scene.world.step(&commands).expect("commands hold"));
    });
    assert!(!scene.world.contacts().is_empty());
    assert_eq!(counted.count_total, 0);
}
