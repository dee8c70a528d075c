//! Messages out of a world and into it.

use promenade_robot_world::snapshot::Ranges;
use promenade_robot_world::world::{ObjectRef, Odometry, OdometryError};
use serde_json::json;

use super::{command, motion, near, steps, world};

const SCENE: &str = "
    world: {name: lab, step_time: 0.05}
    robot:
      - {name: a, kinematics: {name: acker, wheelbase: 2}, shape: {name: circle, radius: 0.3}, state: [0, 0, 0, 0.3], goal: [5, 1, 0.5],
         sensors: [{name: lidar2d, number: 3, range_min: 1, range_max: 4}, {name: lidar2d, number: 5}]}
      - {name: b, kinematics: {name: omni_angular}, shape: {name: circle, radius: 0.3}, state: [0, 3, 3], goal: [5, 1]}
    obstacle:
      - {name: box, shape: {name: rectangle}, state: [3, 0, 1.5], mass: 2, velocity: [1, 0, 0.5], friction: 0}";

#[test]
fn a_snapshot_has_the_fields_of_the_message() {
    let mut world = world(SCENE);
    command(&mut world, "a", &[0.5, 0.3]);
    let state = serde_json::to_value(world.snapshot(Ranges::Finite)).expect("plain values");
    assert_eq!(state["header"], json!({"seq": 1, "stamp": 0.05, "frame_id": "world"}));
    assert_eq!(
        (&state["name"], &state["status"], &state["step_time"]),
        (&json!("lab"), &json!("Running"), &json!(0.05))
    );
    let a = &state["objects"][0];
    let keys: Vec<&str> = a.as_object().expect("a mapping").keys().map(String::as_str).collect();
    assert_eq!(
        keys,
        [
            "header",
            "id",
            "name",
            "role",
            "kinematics",
            "shape",
            "odom",
            "scan",
            "scans",
            "goal",
            "static",
            "arrive",
            "collision",
            "collision_ids",
            "contact_force",
            "contact_time",
            "air_time",
            "contacts"
        ]
    );
    assert_eq!(
        (&a["id"], &a["role"], &a["kinematics"], &a["shape"]),
        (&json!(0), &json!("robot"), &json!("acker"), &json!("circle"))
    );
    assert_eq!(a["goal"], json!([[5.0], [1.0], [0.5]]));
    assert_eq!(a["odom"]["child_frame_id"], "a/base_link");
    assert_eq!(a["odom"]["pose"]["covariance"], json!(vec![0.0; 36]));
    let turned = 0.5 * 0.3_f64.tan() / 2.0 * 0.05 / 2.0;
    near(&[a["odom"]["pose"]["pose"]["orientation"]["z"].as_f64().expect("a number")], &[turned.sin()]);
    assert_eq!((&a["scan"], a["scans"].as_array().map(Vec::len)), (&a["scans"][0], Some(2)));
    assert_eq!(
        (&a["scan"]["header"]["frame_id"], &a["scans"][1]["header"]["frame_id"]),
        (&json!("a/laser"), &json!("a/laser_1"))
    );
    let b = &state["objects"][1];
    assert_eq!((&b["goal"], &b["scan"]), (&json!([[5.0], [1.0]]), &json!(null)));
    let passive = &state["objects"][2];
    assert_eq!(
        (&passive["kinematics"], &passive["static"], &passive["role"]),
        (&json!(null), &json!(false), &json!("obstacle"))
    );
}

#[test]
fn twists_are_of_the_body_frame() {
    let mut world = world(SCENE);
    world
        .step(&[(ObjectRef::Name("a"), &[0.5, 0.3]), (ObjectRef::Name("b"), &[0.4, -0.2, 0.1])])
        .expect("commands");
    let objects = world.objects();
    near(&objects.body_twist(0), &[0.5, 0.0, 0.5 * 0.3_f64.tan() / 2.0]);
    near(&objects.body_twist(1), &[0.4, -0.2, 0.1]);
    // Without friction the box keeps its velocity of the world while it turns.
    let heading = objects.state[2][2];
    near(&objects.body_twist(2), &[heading.cos(), -heading.sin(), 0.5]);
}

#[test]
fn ranges_are_finite_or_as_rep_117_wants_them() {
    let file = "
        robot:
          - {kinematics: {name: omni}, shape: {name: circle, radius: 0.1}, state: [0, 0, 0],
             sensors: [{name: lidar2d, number: 3, range_min: 1, range_max: 4}]}
        obstacle:
          - {shape: {name: linestring, vertices: [[2, -1], [2, 1]]}, state: [0, 0, 0]}
          - {shape: {name: linestring, vertices: [[-1, 0.5], [1, 0.5]]}, state: [0, 0, 0]}";
    let world = world(file);
    let scan = |ranges| world.snapshot(ranges).objects[0].scan.clone().expect("a scan").ranges;
    assert_eq!(scan(Ranges::Finite), [4.0, 2.0, 1.0]);
    assert_eq!(scan(Ranges::Rep117), [f32::INFINITY, 2.0, f32::NEG_INFINITY]);
}

fn odometry(object: Option<ObjectRef<'_>>) -> Odometry<'_> {
    let (sin, cos) = 0.25_f64.sin_cos();
    Odometry {
        object,
        position: [1.0, 2.0],
        orientation: [0.0, 0.0, 3.0 * sin, 3.0 * cos],
        twist: [0.8, 0.3, 0.2],
    }
}

#[test]
fn odometry_sets_pose_and_velocity_and_tells_a_cars_steering() {
    let mut world = world(SCENE);
    let batch = [odometry(None), odometry(Some(ObjectRef::Id(1))), odometry(Some(ObjectRef::Name("box")))];
    world.take_odometry(&batch).expect("a good batch");
    let objects = world.objects();
    let steering = (0.2 * 2.0 / 0.8_f64).atan();
    near(&objects.state[0], &[1.0, 2.0, 0.5, steering]);
    near(&objects.velocity[0], &[0.8, steering]);
    near(&objects.velocity[1], &[0.8, 0.3, 0.2]);
    let (sin, cos) = 0.5_f64.sin_cos();
    near(&objects.velocity[2], &[0.8 * cos - 0.3 * sin, 0.8 * sin + 0.3 * cos, 0.2]);
    near(&objects.centroid[2], &[1.0, 2.0]);
    let still = Odometry { twist: [0.0; 3], ..odometry(None) };
    world.take_odometry(&[still]).expect("a good batch");
    near(&world.objects().state[0], &[1.0, 2.0, 0.5, steering]);
}

#[test]
fn a_batch_of_odometry_with_one_bad_message_changes_nothing() {
    let mut world = world(SCENE);
    let good = odometry(None);
    let bad = [
        (odometry(Some(ObjectRef::Name("c"))), "odometry message 1: there is no object called \"c\""),
        (
            odometry(Some(ObjectRef::Name("a"))),
            "odometry message 1: \"a\" has a message in this batch already",
        ),
        (
            Odometry { position: [f64::NAN, 0.0], ..odometry(Some(ObjectRef::Id(1))) },
            "odometry message 1: a number is not finite",
        ),
        (
            Odometry { orientation: [0.0; 4], ..odometry(Some(ObjectRef::Id(1))) },
            "odometry message 1: the orientation is a quaternion of length 0",
        ),
    ];
    let before = motion(world.objects());
    for (odometry, message) in bad {
        let error: OdometryError = world.take_odometry(&[good, odometry]).expect_err(message);
        assert_eq!(error.to_string(), message);
        assert_eq!(motion(world.objects()), before);
    }
    let mut empty = super::world("obstacle: {shape: {name: circle}, state: [1, 1, 0]}");
    let error = empty.take_odometry(&[good]).expect_err("no robot");
    assert_eq!(error.to_string(), "odometry message 0: it names no object and there is no robot");
    steps(&mut empty, 1);
}
