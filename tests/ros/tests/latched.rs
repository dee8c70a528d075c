//! Latched markers reach who comes late (human-layer specification, section 16).

use anyhow::{Context as _, Result};
use promenade_ros_tests::wire::nanos;
use promenade_ros_tests::{Cast, Environment, SECOND, Stage, wire};
use r2r::QosProfile;
use r2r::visualization_msgs::msg::{Marker, MarkerArray};

const START: i64 = 20 * SECOND;
const ADD: i32 = 0;
const DELETE_ALL: i32 = 3;
const CUBE: i32 = 1;
const LINE_STRIP: i32 = 4;

/// Opens an environment, lets it run, and only then subscribes.
fn late(cast: &Cast, topic: &str) -> Result<Vec<Marker>> {
    let mut stage = Stage::new()?;
    let (environment, _) = Environment::open(&mut stage, cast, START)?;
    environment.tick(&mut stage, 30)?;
    let qos = QosProfile::default().keep_last(1).transient_local();
    let arrays = stage.subscribe::<MarkerArray>(&environment.topic(topic), qos)?;
    let array = stage.until_some(topic, || arrays.pop())?;
    assert!(arrays.is_empty(), "only the last one is kept");
    for marker in &array.markers {
        assert_eq!(marker.header.frame_id, "map");
        assert_eq!(nanos(&marker.header.stamp), START, "stamped when it was made");
    }
    Ok(array.markers)
}

fn color(marker: &Marker) -> [f32; 4] {
    [marker.color.r, marker.color.g, marker.color.b, marker.color.a]
}

#[test]
fn walls_are_red_lines_behind_a_delete_all() -> Result<()> {
    let walls = vec![([0.0, 1.0], [5.0, 1.0]), ([5.0, 1.0], [5.0, -2.5]), ([-3.0, 0.0], [-4.0, 0.5])];
    let markers =
        late(&Cast { walls: walls.clone(), ..Cast::people(&["anna"]) }, "pedestrian_markers/static_walls")?;
    let (first, lines) = markers.split_first().context("an empty array")?;
    assert_eq!((first.action, first.ns.as_str()), (DELETE_ALL, "dummy_walls"));
    assert_eq!(lines.len(), walls.len());
    for ((id, line), (start, end)) in (0..).zip(lines).zip(walls) {
        assert_eq!((line.action, line.type_, line.id), (ADD, LINE_STRIP, id));
        assert_eq!(
            (line.ns.as_str(), line.scale.x, color(line)),
            ("dummy_walls", 0.05, [1.0, 0.0, 0.0, 1.0])
        );
        let points: Vec<_> = line.points.iter().map(|p| [p.x, p.y]).collect();
        assert_eq!(points, [start, end]);
        assert_eq!(line.pose.orientation.w, 1.0, "rviz refuses a quaternion of zeros");
    }
    Ok(())
}

#[test]
fn objects_are_blue_boxes_of_their_own_size() -> Result<()> {
    let things = vec![("desk", [1.0, 2.0, 0.0], Some([1.5, 0.75, 0.5])), ("plant", [-3.0, 4.0, 1.0], None)];
    let markers = late(&Cast { things, ..Cast::people(&["anna"]) }, "pedestrian_markers/static_objects")?;
    let (first, boxes) = markers.split_first().context("an empty array")?;
    assert_eq!((first.action, first.ns.as_str()), (DELETE_ALL, "dummy_objects"));
    let scale = |marker: &Marker| [marker.scale.x, marker.scale.y, marker.scale.z];
    let [desk, plant] = boxes else { panic!("two boxes expected: {boxes:?}") };
    for (id, marker) in [desk, plant].into_iter().enumerate() {
        assert_eq!((marker.action, marker.type_, marker.id), (ADD, CUBE, i32::try_from(id)?));
        assert_eq!((marker.ns.as_str(), color(marker)), ("dummy_objects", [0.0, 0.0, 1.0, 0.6]));
    }
    assert_eq!((scale(desk), desk.pose.clone()), ([1.5, 0.75, 0.5], wire::pose(1.0, 2.0)));
    assert_eq!(scale(plant), [0.5; 3], "half a metre when the scenario says nothing");
    let yaw = 2.0 * plant.pose.orientation.z.atan2(plant.pose.orientation.w);
    assert!((yaw - 1.0).abs() < 1e-12, "turned as the scenario says: {yaw}");
    Ok(())
}
