//! The robot world behind the layer's simulator: who is in whose way.

use std::cell::RefCell;
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use promenade_human::entity::{Door, DynamicObstacle, StaticObstacle, Wall, WaypointMode};
use promenade_human::episode::EpisodeRequest;
use promenade_human::message::{Pedestrian, Pose, Twist};
use promenade_human::outbox::{Marker, MarkerTopic};
use promenade_human::sims::world::{
    BodyTwist, DriveError, RobotModelError, RobotModels, RobotView, WorldOptions, WorldSim,
};
use promenade_human::{
    BackendContext, BusFrame, Environment, EpisodePlan, HumanLayer, Outbox, Registry, Robot, Sim, Ticked,
    Transforms,
};
use promenade_kernel::Time;
use promenade_robot_world::registry::Registry as Kinematics;
use promenade_scenario::{AssetLibrary, AssetPlace, AssetSource, BUILT_IN_ROBOTS};
use proptest::prelude::*;

const STEP: f64 = 0.05;

fn models() -> RobotModels {
    RobotModels::new(Arc::new(AssetLibrary::empty()), Kinematics::built_in())
}

fn sim() -> WorldSim {
    WorldSim::new(&WorldOptions { step_time: STEP, ..WorldOptions::default() }, models())
        .expect("an empty world")
}

fn robot(name: &str, model: &str, x: f64, y: f64) -> Robot {
    Robot {
        name: name.to_owned(),
        sim_path: format!("env_0/{name}"),
        model: model.to_owned(),
        base_frame: Some(format!("env_0/{name}/base_link")),
        pose: Pose::planar(x, y, 0.0),
    }
}

fn person(name: &str, x: f64, y: f64) -> DynamicObstacle {
    DynamicObstacle {
        name: name.to_owned(),
        sim_path: format!("env_0/{name}"),
        model: "arenian".to_owned(),
        model_uri: String::new(),
        pose: Pose::planar(x, y, 0.0),
        velocity: 1.0,
        agent_type: String::new(),
        waypoints: Vec::new(),
        waypoint_mode: WaypointMode::Repeat,
        entry: None,
    }
}

fn wall(x: f64) -> Wall {
    Wall { start: [x, -5.0], end: [x, 5.0] }
}

fn door(x: f64) -> Door {
    Door { name: "main".to_owned(), line: wall(x) }
}

fn ahead(speed: f64) -> BodyTwist {
    BodyTwist { forward: speed, ..BodyTwist::default() }
}

/// Drives the robot `r` for so many seconds.
fn drive(sim: &mut WorldSim, twist: BodyTwist, seconds: f64) -> [f64; 3] {
    for _ in 0..(seconds / STEP) as usize {
        sim.command("r", twist).expect("a robot");
        sim.step();
    }
    sim.robot("r").expect("a robot").pose
}

/// Somebody walks along x.
fn walk(sim: &mut WorldSim, name: &str, x: f64, speed: f64) -> bool {
    let one = Pedestrian {
        name: name.to_owned(),
        pose: Pose::planar(x, 0.0, 0.0),
        twist: Twist { linear: [speed, 0.0, 0.0], ..Twist::default() },
        ..Pedestrian::default()
    };
    let mut results = Vec::new();
    sim.pedestrian_update(Time::ZERO, &[one], &mut results);
    results == [true]
}

#[test]
fn a_scan_sees_people_where_their_discs_begin_and_walls_behind_them() {
    let mut sim = sim();
    assert_eq!(sim.robot_spawn(&[robot("r", "", 0.0, 0.0)]), [true]);
    assert_eq!(sim.pedestrian_spawn(&[person("ann", 3.0, 0.0)]), [true]);
    assert!(sim.spawn_walls(&[wall(6.0), wall(-2.0)], false));
    sim.step();
    let range = |sim: &WorldSim, angle: f64| {
        let view = sim.robot("r").expect("a robot");
        let (lidar, scan) = (&view.lidars[0], &view.scans[0]);
        let increment = lidar.angle_range / (lidar.number as f64 - 1.0);
        scan.ranges[((angle + lidar.angle_range / 2.0) / increment).round() as usize]
    };
    let (ahead, behind, slant) = (range(&sim, 0.0), range(&sim, 3.1), range(&sim, 0.3));
    assert!((ahead - 2.7).abs() < 0.01, "3 m less a radius of 0.3 m: {ahead}");
    assert!((behind - 2.0).abs() < 0.01, "{behind}");
    assert!((slant - 6.0 / 0.3f64.cos()).abs() < 0.05, "past her: {slant}");
    assert!(walk(&mut sim, "env_0/ann", 4.0, 1.0), "by the name of the bus");
    sim.step();
    assert!((range(&sim, 0.0) - 3.7).abs() < 0.01);
    assert!(walk(&mut sim, "ann", 2.0, 0.0), "and by the plain one");
    assert!(!walk(&mut sim, "bob", 2.0, 0.0), "nobody of that name");
    sim.pedestrian_delete(&[person("ann", 0.0, 0.0)]);
    sim.step();
    assert!((range(&sim, 0.0) - 6.0).abs() < 0.01);
}

#[test]
fn a_person_bumps_a_robot_and_a_robot_does_not_bump_a_person() {
    let mut sim = sim();
    sim.robot_spawn(&[robot("r", "", 0.0, 0.0)]);
    sim.pedestrian_spawn(&[person("ann", 2.0, 0.0)]);
    let [x, _, _] = drive(&mut sim, ahead(0.8), 5.0);
    assert!((x - 1.4).abs() < 0.01, "it stops at her: {x}");
    let results = sim.robot("r").expect("a robot").results.clone();
    assert_eq!((results.touched.people, results.touched.walls), (1, 0));
    assert!(results.contact_time > 2.0 && results.nearest_person.is_some_and(|near| near.abs() < 0.01));
    // She walks on, and it is in her way.
    for step in 0..40 {
        assert!(walk(&mut sim, "ann", 2.0 - f64::from(step) * 0.05, 1.0));
        sim.step();
    }
    let [x, y, _] = sim.robot("r").expect("a robot").pose;
    assert!((x - (0.05 - 0.6)).abs() < 0.02 && y.abs() < 0.01, "pushed along: {x} {y}");
}

#[test]
fn a_wall_and_a_closed_door_stop_a_robot_and_an_open_one_lets_it_pass() {
    let mut sim = sim();
    sim.robot_spawn(&[robot("r", "", 0.0, 0.0)]);
    sim.spawn_walls(&[wall(6.0)], false);
    assert_eq!(sim.spawn_doors(&[door(2.0)]), [true]);
    let [x, _, _] = drive(&mut sim, ahead(0.8), 5.0);
    assert!((x - 1.7).abs() < 0.01, "a door is closed until it opens: {x}");
    sim.update_doors(&[(door(2.0), true)]);
    let [x, _, _] = drive(&mut sim, ahead(0.8), 3.0);
    assert!(x > 3.0, "{x}");
    sim.update_doors(&[(door(2.0), false), (door(2.0), false)]);
    let [x, _, _] = drive(&mut sim, ahead(-0.8), 5.0);
    assert!((x - 2.3).abs() < 0.01, "closed behind it: {x}");
    let [x, _, _] = drive(&mut sim, ahead(0.8), 8.0);
    assert!((x - 5.7).abs() < 0.01, "the wall: {x}");
    assert_eq!(sim.robot("r").expect("a robot").results.touched.walls, 3);
    sim.remove_world();
    let [x, _, _] = drive(&mut sim, ahead(0.8), 3.0);
    assert!(x > 7.0, "nothing is left: {x}");
}

#[test]
fn a_fast_robot_does_not_pass_through_a_thin_wall() {
    let mut sim = sim();
    sim.robot_spawn(&[robot("r", "field_robot", 0.0, 0.0)]);
    sim.spawn_walls(&[wall(4.0)], false);
    let [x, _, _] = drive(&mut sim, ahead(9.0), 6.0);
    assert!((x - 3.745).abs() < 0.02, "half its length before the wall: {x}");
}

/// A folder of assets with a box that weighs something, one that does not, and a robot.
fn library(folder: &Path) -> Arc<AssetLibrary> {
    let write = |path: &str, text: &str| {
        let path = folder.join(path);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        std::fs::write(path, text).expect("written");
    };
    let bounds = "bounding_box: [[-0.2, 0.2], [-0.2, 0.2], [0, 0.5]]\n";
    write("Common/object/carton/annotation.yaml", &format!("{bounds}mass: 2\n"));
    write("Common/object/cabinet/annotation.yaml", bounds);
    write("Common/object/poster/annotation.yaml", "name: poster\n");
    write("Common/robot/crawler/annotation.yaml", "base_frame: chassis\n");
    write(
        "Common/robot/crawler/robot.yaml",
        "robot: {kinematics: {name: omni_angular}, shape: {name: rectangle, length: 0.4, width: 0.4}, vel_max: [0.2, 0.2, 1]}\n",
    );
    write("Common/robot/puzzle/robot.yaml", "robot: {kinematics: {name: dif}}\n");
    write("Common/robot/pair/robot.yaml", "robot: {kinematics: {name: diff}, number: 2}\n");
    write("Common/robot/picture/annotation.yaml", "name: picture\n");
    Arc::new(AssetLibrary::new([AssetPlace { source: AssetSource::World, folder: folder.to_owned() }]))
}

fn thing(name: &str, model: &str, x: f64) -> StaticObstacle {
    StaticObstacle {
        name: name.to_owned(),
        sim_path: format!("env_0/{name}"),
        model: model.to_owned(),
        pose: Pose::planar(x, 0.0, 0.0),
        scale: None,
        entry: None,
    }
}

#[test]
fn a_robot_pushes_what_is_light_and_stops_at_what_stands() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut sim = sim();
    sim.set_models(RobotModels::new(library(folder.path()), Kinematics::built_in()));
    sim.robot_spawn(&[robot("r", "", 0.0, 0.0)]);
    let things = [thing("a", "carton", 1.0), thing("b", "cabinet", 3.0), thing("c", "poster", 1.0)];
    assert_eq!(sim.obstacle_spawn(&things), [true, true, true]);
    let [x, _, _] = drive(&mut sim, ahead(0.8), 8.0);
    assert!((x - 2.1).abs() < 0.02, "0.3 m and a carton of 0.4 m before a cabinet of 0.4 m: {x}");
    assert_eq!(sim.robot("r").expect("a robot").results.touched.things, 1, "the poster is in nobody's way");
    // The next episode: everything back to its place.
    sim.before_reset_episode();
    assert_eq!(sim.obstacle_move(&things), [true, true, true]);
    assert_eq!(sim.robot_move(&[robot("r", "", 0.0, 0.0)]), [true]);
    sim.after_reset_episode();
    let row = sim.world().objects().row(sim.world().find("env_0/a").expect("the carton")).expect("a row");
    assert_eq!(sim.world().objects().state[row][..2], [1.0, 0.0]);
    assert_eq!(sim.obstacle_delete(&things), [true, true, true]);
    let [x, _, _] = drive(&mut sim, ahead(0.8), 8.0);
    assert!(x > 4.0, "{x}");
}

#[test]
fn a_reset_puts_robots_back_at_rest_and_lets_no_time_pass() {
    let mut sim = sim();
    sim.robot_spawn(&[robot("r", "", 0.0, 0.0)]);
    assert_eq!(sim.advance_to(Time::from_secs_f64(0.5)), 10);
    drive(&mut sim, ahead(0.8), 3.0);
    let driven = sim.robot("r").expect("a robot").results.distance;
    let before = sim.world().count();
    sim.before_reset_episode();
    assert_eq!(sim.robot_move(&[robot("r", "", 5.0, 1.0)]), [true]);
    assert_eq!(sim.advance_to(Time::from_secs_f64(4.0)), 0);
    sim.after_reset_episode();
    assert_eq!(sim.advance_to(Time::from_secs_f64(4.5)), 10);
    assert_eq!(sim.world().count(), before + 10);
    let view = sim.robot("r").expect("a robot");
    assert_eq!((view.pose, view.twist), ([5.0, 1.0, 0.0], BodyTwist::default()), "the last command is over");
    assert_eq!(view.results.distance, driven, "being put elsewhere is no way");
    assert_eq!(
        sim.latest("env_0/r/base_link"),
        Some((Time::from_secs_f64(4.5), Pose::planar(5.0, 1.0, 0.0)))
    );
    assert_eq!(sim.latest("env_0/r/wheel"), None);
}

#[test]
fn a_clock_that_jumps_is_not_caught_up_with() {
    let mut sim = sim();
    for (now, steps) in [(0.0, 0), (0.12, 2), (0.15, 1), (9.0, 0), (9.05, 1), (3.0, 0), (3.1, 2)] {
        assert_eq!(sim.advance_to(Time::from_secs_f64(now)), steps, "{now}");
    }
    // Frames at 30 per second, each a whole number of nanoseconds.
    let options = WorldOptions { step_time: 1.0 / 30.0, ..WorldOptions::default() };
    let mut sim = WorldSim::new(&options, models()).expect("an empty world");
    for frame in 1..1000i64 {
        assert_eq!(sim.advance_to(Time::from_nanos(frame * 1_000_000_000 / 30)), 1, "{frame}");
    }
}

#[test]
fn a_robot_stops_when_commands_stay_out() {
    let mut sim = sim();
    sim.robot_spawn(&[robot("r", "", 0.0, 0.0)]);
    sim.command("env_0/r", ahead(0.8)).expect("a robot");
    for _ in 0..60 {
        sim.step();
    }
    let view = sim.robot("r").expect("a robot");
    assert_eq!(view.twist, BodyTwist::default());
    assert!((0.1..0.6).contains(&view.pose[0]), "half a second of driving: {:?}", view.pose);
}

#[test]
fn robots_of_every_kind_drive_as_their_kinematics_let_them() {
    for model in BUILT_IN_ROBOTS {
        let mut sim = sim();
        assert_eq!(sim.robot_spawn(&[robot("r", model, 0.0, 0.0)]), [true], "{model}");
        let limits = sim.drive_limits("r").expect("a robot");
        let (speed, turn) = (limits.speed * 0.5, limits.turn_rate * 0.3);
        let view = |sim: &WorldSim| {
            let view = sim.robot("r").expect("a robot");
            (view.twist.forward, view.twist.yaw_rate)
        };
        drive(&mut sim, BodyTwist { forward: speed, left: 0.0, yaw_rate: turn }, 3.0);
        let (forward, yaw_rate) = view(&sim);
        assert!(
            (forward - speed).abs() < 1e-6 && (yaw_rate - turn).abs() < 0.05,
            "{model}: {forward} {yaw_rate}"
        );
        let left = drive(&mut sim, BodyTwist { forward: 0.0, left: 0.2, yaw_rate: 0.0 }, 1.0);
        let after = drive(&mut sim, BodyTwist { forward: 0.0, left: 0.2, yaw_rate: 0.0 }, 1.0);
        let sideways = (after[1] - left[1]) * left[2].cos() - (after[0] - left[0]) * left[2].sin();
        let expected = if model == "omni_robot" { 0.2 } else { 0.0 };
        assert!((sideways - expected).abs() < 0.03, "{model}: {sideways}");
    }
}

#[test]
fn a_model_that_is_not_there_has_a_stand_in_and_an_error_that_helps() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut models = RobotModels::new(library(folder.path()), Kinematics::built_in());
    let told = |models: &mut RobotModels, name: &str| models.get(name).expect_err("no robot").to_string();
    assert!(models.get("crawler").is_ok_and(|robot| robot.vel_max[0] == 0.2), "of the library");
    assert!(told(&mut models, "service_robo").contains("(try: service_robot)"));
    assert!(told(&mut models, "picture").contains("has no robot.yaml"));
    assert!(told(&mut models, "pair").contains("found 2 robots and 0 obstacles"));
    let puzzle = told(&mut models, "puzzle");
    assert!(puzzle.contains("puzzle/robot.yaml:1:") && puzzle.contains("diff"), "{puzzle}");
    assert!(matches!(models.get("a/b/c/d"), Err(RobotModelError::Unknown { .. })));
    let mut sim = sim();
    assert_eq!(sim.robot_spawn(&[robot("r", "unheard_of", 0.0, 0.0)]), [true]);
    assert_eq!(sim.drive_limits("r").expect("a robot").radius, 0.3);
}

#[test]
fn what_is_nowhere_is_refused_and_changes_nothing() {
    let mut sim = sim();
    sim.robot_spawn(&[robot("r", "", 0.0, 0.0)]);
    sim.pedestrian_spawn(&[person("ann", 2.0, 0.0)]);
    let count = sim.world().objects().len();
    for bad in [f64::NAN, f64::INFINITY, -1e300] {
        assert_eq!(sim.robot_spawn(&[robot("q", "", bad, 0.0)]), [false]);
        assert_eq!(sim.robot_move(&[robot("r", "", 0.0, bad)]), [false]);
        assert_eq!(sim.pedestrian_spawn(&[person("bob", bad, 0.0)]), [false]);
        assert_eq!(sim.pedestrian_move(&[person("ann", bad, 0.0)]), [false]);
        assert!(!walk(&mut sim, "ann", bad, 0.0) && !walk(&mut sim, "ann", 2.0, bad));
        assert_eq!(sim.obstacle_spawn(&[thing("box", "carton", bad)]), [false]);
        assert!(!sim.spawn_walls(&[wall(bad)], false));
        assert_eq!(sim.spawn_doors(&[door(bad)]), [false]);
        assert_eq!(sim.command("r", ahead(bad)).is_err(), !bad.is_finite());
    }
    assert!(!sim.spawn_walls(&[Wall { start: [1.0, 1.0], end: [1.0, 1.0] }], false), "a wall without length");
    assert_eq!(sim.command("nobody", ahead(1.0)), Err(DriveError::Unknown("nobody".to_owned())));
    assert_eq!(sim.world().objects().len(), count);
    sim.step();
    let [x, y, _] = sim.robot("r").expect("a robot").pose;
    assert!(x.is_finite() && y == 0.0);
}

#[test]
fn what_comes_and_goes_leaves_nothing_behind() {
    let mut sim = sim();
    for round in 0..200 {
        let x = f64::from(round % 7);
        assert_eq!(
            sim.robot_spawn(&[robot("r", "", x, 0.0), robot("r", "", x, 3.0)]),
            [true, true],
            "the second takes its place"
        );
        assert_eq!(sim.pedestrian_spawn(&[person("ann", x, 1.0), person("ann", x, 2.0)]), [true, true]);
        assert!(sim.spawn_walls(&[wall(9.0), wall(10.0)], true));
        assert_eq!(sim.spawn_doors(&[door(8.0)]), [true]);
        sim.step();
        assert_eq!(sim.world().objects().len(), 5, "round {round}");
        if round % 2 == 0 {
            assert_eq!(sim.robot_delete(&[robot("r", "", 0.0, 0.0)]), [true]);
            assert_eq!(sim.robot_delete(&[robot("r", "", 0.0, 0.0)]), [false]);
            assert_eq!(sim.pedestrian_delete(&[person("ann", 0.0, 0.0)]), [true]);
            assert_eq!(sim.pedestrian_delete(&[person("ann", 0.0, 0.0)]), [false]);
            assert!(sim.remove_world());
            assert!(sim.world().objects().is_empty());
        }
    }
}

#[test]
fn the_same_calls_make_the_same_run() {
    let run = || {
        let mut sim = sim();
        sim.robot_spawn(&[robot("r", "", 0.0, 0.0), robot("s", "omni_robot", 3.0, 0.1)]);
        sim.pedestrian_spawn(&[person("ann", 1.5, 0.4), person("bob", 4.0, -0.3)]);
        sim.spawn_walls(&[wall(5.0)], false);
        let mut poses = Vec::new();
        for step in 0..200 {
            walk(&mut sim, "ann", 1.5 + f64::from(step) * 0.01, 0.2);
            sim.command("s", BodyTwist { forward: -0.3, left: 0.1, yaw_rate: 0.2 }).expect("a robot");
            poses.push(drive(&mut sim, ahead(0.8), STEP));
        }
        let scans: Vec<Vec<f64>> = sim.robots().map(|view| view.scans[0].ranges.clone()).collect();
        (poses, scans)
    };
    assert_eq!(run(), run());
}

/// Nobody reads the bus.
struct NoBus;

impl Outbox for NoBus {
    fn publish_pedestrians(&mut self, _: &BusFrame<'_>) {}
    fn publish_markers(&mut self, _: MarkerTopic, _: Time, _: &[Marker]) {}
}

#[test]
fn an_episode_that_is_reset_begins_with_its_robots_and_doors_where_they_were() {
    let folder = tempfile::tempdir().expect("a folder");
    let write = |path: &str, text: &str| {
        let path = folder.path().join(path);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        std::fs::write(path, text).expect("written");
    };
    let corners = "corners: [{x: 0, y: 0}, {x: 9, y: 0}, {x: 9, y: 9}, {x: 0, y: 9}]";
    let walls = "walls: [{start: {x: 0, y: 0}, end: {x: 9, y: 0}}]";
    let doors = "doors: [{name: d, start: {x: 4, y: 0}, end: {x: 4, y: 4}, transition_time: 0.5}]";
    write("w/0/world.yaml", &format!("zones:\n- name: hall\n  {corners}\n  {walls}\n  {doors}\n"));
    write(
        "w/scenarios/s/scenario.yaml",
        "robots: [{name: r, start: [2, 2, 0]}]\ndynamic: [{name: ann, model: arenian, pose: [8, 8, 0]}]\n",
    );
    let world = Rc::new(RefCell::new(sim()));
    let backend = Registry::builtin().create("none", BackendContext::default()).expect("a backend");
    let layer = HumanLayer::new(backend, Box::new(Rc::clone(&world)), Box::new(NoBus))
        .with_transforms(Box::new(Rc::clone(&world)));
    let request = EpisodeRequest {
        scenario: folder.path().join("w/scenarios/s").display().to_string(),
        prefix: "env_0".to_owned(),
        ..EpisodeRequest::default()
    };
    let mut environment = Environment::new(layer, request, EpisodePlan::default()).expect("an episode");
    environment.start();
    let mut now = 0.0;
    let objects = world.borrow().world().objects().len();
    for round in 0..4 {
        let view = |of: fn(RobotView<'_>) -> [f64; 3]| of(world.borrow().robot("r").expect("a robot"));
        assert_eq!(view(|robot| robot.pose), [2.0, 2.0, 0.0], "round {round}");
        assert_eq!(view(|robot| [robot.twist.forward, robot.twist.left, robot.twist.yaw_rate]), [0.0; 3]);
        assert_eq!(world.borrow().world().objects().len(), objects, "robot, person, wall and closed door");
        for _ in 0..100 {
            now += STEP;
            world.borrow_mut().command("r", ahead(0.8)).expect("a robot");
            world.borrow_mut().advance_to(Time::from_secs_f64(now));
            environment.set_now(Time::from_secs_f64(now));
            environment.tick();
        }
        let [x, _, _] = view(|robot| robot.pose);
        assert!(x > 4.5, "the door opens for it: {x}");
        let tracked = environment.layer_mut().tracked_robots()[0].clone();
        assert!((tracked.pose.position[0] - x).abs() < 1e-9 && (tracked.velocity[0] - 0.8).abs() < 1e-6);
        environment.reset("", -1).expect("again");
        // Doors close with the first tick.
        environment.tick();
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    /// Whatever poses and velocities come from outside, nobody panics and robots stay on the map.
    #[test]
    fn no_message_can_send_a_robot_out_of_the_world(
        poses in prop::collection::vec((any::<f64>(), any::<f64>(), any::<f64>(), -3.0..3.0f64), 1..20),
    ) {
        let mut sim = sim();
        sim.robot_spawn(&[robot("r", "", 0.0, 0.0)]);
        sim.pedestrian_spawn(&[person("ann", 2.0, 0.0)]);
        for (x, y, speed, near) in poses {
            let pose = Pose { position: [x, y, 0.0], orientation: [0.0, 0.0, speed, 1.0] };
            sim.pedestrian_move(&[DynamicObstacle { pose, ..person("ann", 0.0, 0.0) }]);
            walk(&mut sim, "ann", near, speed);
            let _ = sim.command("r", BodyTwist { forward: speed, left: x, yaw_rate: y });
            sim.step();
            let view = sim.robot("r").expect("a robot");
            prop_assert!(view.pose.iter().all(|c| c.abs() < 100.0), "{:?}", view.pose);
        }
        sim.advance_to(Time::ZERO + Duration::from_secs(1));
    }
}
