//! Robots as the people see them: followed by TF (human-layer specification, sections 5.6 and 19).

use anyhow::Result;
use promenade_ros_tests::wire::stamp;
use promenade_ros_tests::{Cast, Environment, Episodes, Mailbox, SECOND, Stage, episodes};
use r2r::QosProfile;
use r2r::geometry_msgs::msg::{Quaternion, Transform, TransformStamped, Vector3};
use r2r::std_msgs::msg::Header;
use r2r::tf2_msgs::msg::TFMessage;
use r2r::visualization_msgs::msg::MarkerArray;

const START: i64 = 60 * SECOND;

/// A frame in its parent, turned by an angle about z.
fn transform(at: i64, parent: &str, child: &str, [x, y]: [f64; 2], yaw: f64) -> TransformStamped {
    let (sin, cos) = (yaw / 2.0).sin_cos();
    TransformStamped {
        header: Header { stamp: stamp(at), frame_id: parent.to_owned() },
        child_frame_id: child.to_owned(),
        transform: Transform {
            translation: Vector3 { x, y, z: 0.0 },
            rotation: Quaternion { x: 0.0, y: 0.0, z: sin, w: cos },
        },
    }
}

/// A hall with a door at (20, 0) to (22, 0), a person far from it, and a robot that starts even farther away.
fn hall() -> Cast {
    Cast {
        doors: vec![("hatch", [20.0, 0.0], [22.0, 0.0])],
        robots: vec![("jackal".to_owned(), [-30.0, -30.0])],
        ..Cast::people(&["anna"])
    }
}

/// The walls that the engine has now: a closed door is one.
fn walls(stage: &mut Stage, environment: &Environment) -> Result<Mailbox<MarkerArray>> {
    let qos = QosProfile::default().keep_last(1).transient_local();
    stage.subscribe(&environment.topic("pedestrian_markers/static_walls"), qos)
}

/// Lines of an array; the first marker clears the old ones.
fn lines(array: &MarkerArray) -> usize {
    array.markers.len() - 1
}

#[test]
fn a_robot_seen_by_its_transform_opens_a_door_and_the_door_closes_behind_it() -> Result<()> {
    let mut stage = Stage::new()?;
    let (environment, _) = Environment::open(&mut stage, &hall(), START)?;
    let frame = |name: &str| format!("{}/jackal/{name}", environment.prefix);
    let tf = stage.node.create_publisher::<TFMessage>("/tf", QosProfile::default().keep_last(100))?;
    let fixed = stage
        .node
        .create_publisher::<TFMessage>("/tf_static", QosProfile::default().keep_last(1).transient_local())?;
    // The map to the odometry never moves and is turned by a quarter: full transforms are composed.
    let odom = transform(0, "map", &frame("odom"), [10.0, 0.0], std::f64::consts::FRAC_PI_2);
    fixed.publish(&TFMessage { transforms: vec![odom] })?;
    let walls = walls(&mut stage, &environment)?;
    let (_, index) =
        environment.run_until(&mut stage, 0, "closed door", || walls.find(|array| lines(array) == 1))?;
    // (0.5, -11) in the odometry frame is (21, 0.5) in the map.
    let seen = |stage: &mut Stage, from: i64, [x, y]: [f64; 2], count: usize, what: &str| -> Result<i64> {
        let mut index = from;
        stage.turn_until(what, |stage| {
            index += 1;
            let at = environment.frame_time(index);
            let base = transform(at, &frame("odom"), &frame("base_link"), [x, y], 0.3);
            tf.publish(&TFMessage { transforms: vec![base] })?;
            stage.publish_clock(at)?;
            Ok(walls.find(|array| lines(array) == count))
        })?;
        Ok(index)
    };
    let index = seen(&mut stage, index, [0.5, -11.0], 0, "open door")?;
    seen(&mut stage, index, [40.0, 30.0], 1, "door closed again")?;
    Ok(())
}

#[test]
fn a_robot_without_a_transform_is_told_of_once_with_both_frames() -> Result<()> {
    let mut stage = Stage::new()?;
    let (environment, _) = Environment::open(&mut stage, &hall(), START)?;
    let base = format!("{}/jackal/base_link", environment.prefix);
    for index in 1..=90 {
        environment.tick(&mut stage, index)?;
    }
    let log = environment.process.log();
    let told: Vec<_> = log.lines().filter(|line| line.contains(&base)).collect();
    assert_eq!(told.len(), 1, "{log}");
    assert!(told[0].contains("\"map\"") && told[0].contains("WARN"), "{told:?}");
    Ok(())
}

#[test]
fn transforms_that_are_none_do_no_harm() -> Result<()> {
    let mut stage = Stage::new()?;
    let (mut environment, _) = Environment::open(&mut stage, &hall(), START)?;
    let base = format!("{}/jackal/base_link", environment.prefix);
    let tf = stage.node.create_publisher::<TFMessage>("/tf", QosProfile::default().keep_last(100))?;
    let matched = tf.wait_for_inter_process_subscribers()?;
    stage.wait("reader of /tf", matched)??;
    let mut transforms = vec![
        transform(START, "map", &base, [f64::NAN, 0.0], 0.0),
        transform(START, "map", "", [0.0, 0.0], 0.0),
        transform(START, &base, &base, [0.0, 0.0], 0.0),
        transform(START, "loop_a", "loop_b", [0.0, 0.0], 0.0),
        transform(START, "loop_b", "loop_a", [0.0, 0.0], 0.0),
        transform(START, "loop_a", &base, [0.0, 0.0], 0.0),
    ];
    transforms.extend((0..20_000).map(|i| transform(START, "map", &format!("f{i}"), [0.0, 0.0], 0.0)));
    tf.publish(&TFMessage { transforms })?;
    environment.logged(&mut stage, "a transform from")?;
    environment.tick(&mut stage, 1)?;
    assert_eq!(environment.process.logged("a transform from"), 1, "one line for all of them");
    environment.process.check_alive()
}

#[test]
fn robots_are_in_the_record_of_their_episode() -> Result<()> {
    let mut stage = Stage::new()?;
    let (environment, _) = Environment::open(&mut stage, &hall(), START)?;
    let episodes = Episodes::open(&mut stage, &environment)?;
    let record = episodes.record(&mut stage, 0, episodes::outcome::RUNNING)?;
    assert_eq!(record.robots, ["jackal"]);
    Ok(())
}
