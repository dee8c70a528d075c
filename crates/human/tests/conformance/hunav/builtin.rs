//! The backend with the engine of this program.

use promenade_human::message::{Pose, animation_state};
use promenade_human::{BackendContext, Registry, Robot};

use super::{param, people, text};
use crate::stage::{Stage, walking};

fn stage() -> Stage {
    let backend = Registry::builtin().create("hunav", BackendContext::default()).expect("a backend");
    let mut stage = Stage::with(backend);
    stage.at(0.0);
    stage
}

fn run(stage: &mut Stage, from: u32, to: u32) {
    for tick in from..to {
        stage.tick_at(f64::from(tick) * 0.1);
    }
}

const STRAIGHT: &str = "name: ann, pose: [0, 0, 0], waypoints: [[8, 0]], waypoint_mode: once, goal_radius: 0.3, velocity: 1.0, behavior: {}";

#[test]
fn people_walk_to_their_goals_and_stay_there() {
    let mut stage = stage();
    stage.layer.spawn_pedestrians(&people(&[STRAIGHT]));
    run(&mut stage, 1, 2);
    assert_eq!(stage.published("ann").0.pose.position, [10.0, -5.0, 0.0], "the first call moves nobody");
    run(&mut stage, 2, 40);
    let ann = stage.published("ann").0;
    assert!(ann.pose.position[0] > 12.5 && ann.animation_state == animation_state::WALKING, "{ann:?}");
    run(&mut stage, 40, 200);
    let ann = stage.published("ann").0;
    assert!((ann.pose.position[0] - 18.0).abs() < 0.5, "{:?}", ann.pose);
    assert_eq!(ann.animation_state, animation_state::IDLE);
}

#[test]
fn somebody_who_comes_later_does_not_stop_the_others() {
    let mut stage = stage();
    stage.layer.spawn_pedestrians(&people(&[STRAIGHT]));
    run(&mut stage, 1, 30);
    let before = stage.published("ann").0;
    let second = STRAIGHT.replace("ann", "bob").replace("[0, 0, 0]", "[0, 3, 0]");
    stage.layer.spawn_pedestrians(&people(&[&second]));
    run(&mut stage, 30, 31);
    let after = stage.published("ann").0;
    assert!(after.pose.position[0] > before.pose.position[0] + 0.05, "{:?} {:?}", before.pose, after.pose);
    run(&mut stage, 31, 50);
    assert!(stage.published("bob").0.pose.position[0] > 10.5);
    assert_eq!((after.id, stage.published("bob").0.id), (1, 2));
}

/// A robot that stands three metres ahead.
fn robot() -> Robot {
    Robot {
        name: "porter".to_owned(),
        sim_path: "env_0/porter".to_owned(),
        model: "jackal".to_owned(),
        base_frame: None,
        pose: Pose::planar(13.0, -5.0, 0.0),
    }
}

#[test]
fn a_tree_that_is_named_counts_before_the_type() {
    let mut stage = stage();
    stage.layer.spawn_robots(&[robot()]);
    let entry = |name: &str, y: f64, tree: &str| {
        format!(
            "name: {name}, pose: [0, {y}, 0], waypoints: [[20, {y}]], behavior_tree: {tree}, behavior: {{type: Scared, dist: 9}}"
        )
    };
    let entries = [
        entry("calm", 1.0, "BTRegularNav.xml"),
        entry("scared", 2.0, "BTScaredNav.xml"),
        entry("lost", 3.0, "./no_such_tree.xml"),
    ];
    let entries: Vec<&str> = entries.iter().map(String::as_str).collect();
    stage.layer.spawn_pedestrians(&people(&entries));
    run(&mut stage, 1, 8);
    let state = |name: &str| stage.published(name).0.animation_state;
    assert_eq!(state("calm"), animation_state::WALKING);
    assert_eq!(state("scared"), animation_state::PANIC);
    assert_eq!(
        state("lost"),
        animation_state::PANIC,
        "a tree that is not there is told of, and the type's counts"
    );
}

#[test]
fn people_react_to_a_robot_each_in_their_way() {
    let mut stage = stage();
    stage.layer.spawn_robots(&[robot()]);
    let entry = |name: &str, y: f64, kind: &str, dist: f64| {
        format!(
            "name: {name}, pose: [0, {y}, 0], waypoints: [[20, {y}]], goal_radius: 0.3, \
             behavior: {{type: {kind}, dist: {dist}, vel: 0.8, duration: 40}}"
        )
    };
    let entries = [
        entry("regular", 0.5, "Regular", 0.0),
        entry("curious", -1.0, "Curious", 1.0),
        entry("scared", 2.0, "Scared", 4.0),
        entry("surprised", -2.0, "Surprised", 4.0),
        entry("threatening", 1.5, "Threatening", 1.0),
    ];
    let entries: Vec<&str> = entries.iter().map(String::as_str).collect();
    stage.layer.spawn_pedestrians(&people(&entries));
    run(&mut stage, 1, 8);
    let state = |name: &str| stage.published(name).0.animation_state;
    assert_eq!(state("regular"), animation_state::WALKING);
    assert_eq!(state("curious"), animation_state::CURIOUS);
    assert_eq!(state("scared"), animation_state::PANIC);
    assert_eq!(state("surprised"), animation_state::SURPRISED);
    assert_eq!(state("threatening"), animation_state::THREATENING);
    assert_eq!(stage.published("surprised").0.twist.linear, [0.0; 3], "who stands has no speed");
    run(&mut stage, 8, 150);
    let [x, y, _] = stage.published("curious").0.pose.position;
    let distance = (x - 13.0).hypot(y + 5.0);
    assert!((0.7..1.3).contains(&distance), "walks up to the robot: {distance}");
}

#[test]
fn somebody_let_go_walks_on_from_there() {
    let mut stage = stage();
    stage.layer.spawn_pedestrians(&people(&[STRAIGHT]));
    run(&mut stage, 1, 5);
    stage.stream_at(0.45, vec![walking("ann", 14.0)]);
    run(&mut stage, 5, 6);
    stage.stream_at(0.55, vec![]);
    run(&mut stage, 6, 7);
    let [x, y, _] = stage.published("ann").0.pose.position;
    assert!((x - 14.0).abs() < 0.3 && y.abs() < 0.3, "{x} {y}");
    run(&mut stage, 7, 120);
    assert!((stage.published("ann").0.pose.position[0] - 18.0).abs() < 0.6);
}

#[test]
fn an_episode_is_the_same_again_and_other_options_make_another() {
    let play = |compat: &str| {
        let mut stage = stage();
        let second =
            STRAIGHT.replace("ann", "bob").replace("[0, 0, 0]", "[8, 0.2, 3.1]").replace("[8, 0]", "[0, 0]");
        let mut ends = Vec::new();
        for _ in 0..2 {
            stage.layer.set_seed(3);
            stage.layer.unuse_obstacles();
            stage.layer.set_back(promenade_kernel::Time::ZERO);
            stage.layer.spawn_pedestrians(&people(&[STRAIGHT, &second]));
            assert_eq!(stage.layer.configure(&[param("compat", text(compat))]).len(), 1);
            run(&mut stage, 1, 60);
            ends.push(stage.published("ann").0.pose);
        }
        assert_eq!(ends[0], ends[1]);
        ends[0]
    };
    assert_ne!(play("robust"), play("strict"));
}

#[test]
fn a_clock_that_goes_back_is_no_jump() {
    let mut stage = stage();
    stage.layer.spawn_pedestrians(&people(&[STRAIGHT]));
    run(&mut stage, 1, 30);
    let before = stage.published("ann").0.pose.position[0];
    stage.layer.set_back(promenade_kernel::Time::from_secs_f64(0.5));
    run(&mut stage, 5, 7);
    let after = stage.published("ann").0.pose.position[0];
    assert!((0.0..0.3).contains(&(after - before)), "{before} {after}");
}
