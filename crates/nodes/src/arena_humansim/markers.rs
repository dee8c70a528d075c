//! Walls, boxes, objects, sources and sinks as markers (crowd-engine specification, section 25).
//!
//! An array replaces the one before as a whole: it begins by deleting everything.

use geometry_msgs::msg::rmw::{Point, Pose, Quaternion, Vector3};
use promenade_crowd::protocol::{Pose as Plain, Shape, shape};
use promenade_crowd::{Engine, Wall};
use std_msgs::msg::rmw::ColorRGBA;
use visualization_msgs::msg::rmw::{Marker, MarkerArray};

use super::wire::write_header;

const ARROW: i32 = 0;
const CUBE: i32 = 1;
const CYLINDER: i32 = 3;
const LINE_STRIP: i32 = 4;
const LINE_LIST: i32 = 5;
const TEXT: i32 = 9;
const DELETE_ALL: i32 = 3;

/// Width of a wall's line, m.
const WALL_WIDTH: f64 = 0.05;
/// Height of what is drawn flat on the floor, m.
const FLAT: f64 = 0.02;
/// Radius of the disc of an object or of a shape without extent, m.
const DISC: f64 = 0.25;
/// Height of letters and how high they stand, m.
const LETTERS: f64 = 0.25;
const LETTERS_AT: f64 = 0.6;

/// How high force arrows lie, m, and how long 1 m/s2 is.
const ARROW_AT: f64 = 0.15;
const ARROW_LENGTH: f64 = 0.3;
/// Diameters of shaft and head, and length of the head, m.
const ARROW_SIZE: Vector3 = Vector3 { x: 0.03, y: 0.07, z: 0.08 };

const WALL: [f32; 4] = [0.6, 0.0, 0.0, 0.6];
const SOURCE: [f32; 4] = [0.2, 1.0, 0.5, 0.4];
const SINK: [f32; 4] = [1.0, 0.3, 0.3, 0.3];
const OBJECT: [f32; 4] = [0.3, 0.7, 1.0, 0.5];
const OBSTACLE: [f32; 4] = [0.8, 0.5, 0.1, 0.4];
const DRIVE: [f32; 4] = [0.2, 0.9, 0.2, 0.7];
const SOCIAL: [f32; 4] = [1.0, 0.2, 0.2, 0.7];
const AWAY_FROM_WALLS: [f32; 4] = [1.0, 0.6, 0.0, 0.7];
const WHITE: [f32; 4] = [1.0, 1.0, 1.0, 1.0];

/// All walls as one list of lines.
pub(crate) fn walls(stamp_ns: i64, walls: &[Wall]) -> MarkerArray {
    let mut writer = Writer::new(stamp_ns);
    if !walls.is_empty() {
        let mut lines = writer.marker("walls", LINE_LIST, WALL, [0.0; 3]);
        lines.scale.x = WALL_WIDTH;
        lines.points = walls
            .iter()
            .flat_map(|wall| [wall.start, wall.end])
            .map(|[x, y]| Point { x, y, z: 0.0 })
            .collect();
        writer.add(lines);
    }
    writer.finish()
}

/// Everything else that is static; nothing unless `is_on`.
pub(crate) fn objects(stamp_ns: i64, engine: &Engine, is_on: bool) -> MarkerArray {
    let mut writer = Writer::new(stamp_ns);
    if is_on {
        for source in engine.sources() {
            writer.area("sources", SOURCE, source.pose, &source.shape, DISC);
            writer.label("src_label", &source.name, source.pose);
        }
        for sink in engine.sinks() {
            writer.area("sinks", SINK, sink.pose, &sink.shape, sink.absorption_radius);
            writer.label("sink_label", &sink.name, sink.pose);
        }
        for object in engine.world_objects() {
            writer.disc("world_obj", OBJECT, object.pose, DISC);
            writer.label("world_obj_label", &object.object_id, object.pose);
        }
        for obstacle in engine.obstacles() {
            writer.cuboid(
                "obstacles",
                OBSTACLE,
                obstacle.pose,
                [obstacle.bb_x, obstacle.bb_y, obstacle.bb_z],
            );
            writer.label("obstacle_label", &obstacle.name, obstacle.pose);
        }
    }
    writer.finish()
}

/// What pulls and pushes everybody whose planner knows.
pub(crate) fn forces(stamp_ns: i64, engine: &Engine) -> MarkerArray {
    let mut writer = Writer::new(stamp_ns);
    let pool = engine.crowd().pool();
    for row in 0..pool.len() {
        let Some(force) = engine.crowd().force(row) else { continue };
        let at = pool.position(row);
        writer.arrow("f_goal", DRIVE, at, force.drive);
        writer.arrow("f_social", SOCIAL, at, force.social);
        writer.arrow("f_obstacle", AWAY_FROM_WALLS, at, force.walls);
    }
    writer.finish()
}

/// Collects markers; every namespace counts its own.
pub(crate) struct Writer {
    stamp_ns: i64,
    markers: Vec<Marker>,
    /// Namespace in use and how many it has.
    count: Vec<(&'static str, i32)>,
}

impl Writer {
    /// An array that begins by deleting what there was.
    pub(crate) fn new(stamp_ns: i64) -> Self {
        let mut first = Marker { action: DELETE_ALL, ..Marker::default() };
        write_header(stamp_ns, &mut first.header);
        Self { stamp_ns, markers: vec![first], count: Vec::new() }
    }

    /// A marker at a pose, of no size yet.
    pub(crate) fn marker(
        &mut self,
        namespace: &'static str,
        kind: i32,
        color: [f32; 4],
        pose: Plain,
    ) -> Marker {
        let mut marker = Marker {
            ns: namespace.into(),
            id: self.next_id(namespace),
            type_: kind,
            pose: upright(pose),
            color: rgba(color),
            ..Marker::default()
        };
        write_header(self.stamp_ns, &mut marker.header);
        marker
    }

    fn next_id(&mut self, namespace: &'static str) -> i32 {
        let place = match self.count.iter().position(|(known, _)| *known == namespace) {
            Some(place) => place,
            None => {
                self.count.push((namespace, 0));
                self.count.len() - 1
            }
        };
        let count = &mut self.count[place].1;
        *count = count.wrapping_add(1);
        count.wrapping_sub(1)
    }

    /// Adds a finished marker.
    pub(crate) fn add(&mut self, marker: Marker) {
        self.markers.push(marker);
    }

    fn disc(&mut self, namespace: &'static str, color: [f32; 4], pose: Plain, radius: f64) {
        let mut marker = self.marker(namespace, CYLINDER, color, pose);
        marker.scale = Vector3 { x: 2.0 * radius, y: 2.0 * radius, z: FLAT };
        self.add(marker);
    }

    fn area(&mut self, namespace: &'static str, color: [f32; 4], pose: Plain, area: &Shape, otherwise: f64) {
        match area.kind {
            shape::RECTANGLE if area.width > 0.0 && area.height > 0.0 => {
                let mut marker = self.marker(namespace, CUBE, color, pose);
                marker.scale = Vector3 { x: area.width, y: area.height, z: FLAT };
                self.add(marker);
            }
            shape::POLYGON if area.vertices.len() > 2 => {
                // Corners are offsets along the axes of the map, whatever the heading of the pose.
                let mut marker = self.marker(namespace, LINE_STRIP, color, [pose[0], pose[1], 0.0]);
                marker.scale.x = WALL_WIDTH;
                let around = area.vertices.iter().chain(area.vertices.first());
                marker.points =
                    around.map(|[x, y]| Point { x: f64::from(*x), y: f64::from(*y), z: 0.0 }).collect();
                self.add(marker);
            }
            shape::CIRCLE if area.radius > 0.0 => self.disc(namespace, color, pose, area.radius),
            _ => self.disc(namespace, color, pose, if otherwise > 0.0 { otherwise } else { DISC }),
        }
    }

    fn cuboid(&mut self, namespace: &'static str, color: [f32; 4], pose: Plain, [x, y, z]: [[f64; 2]; 3]) {
        let middle = [x, y, z].map(|[low, high]| 0.5 * (low + high));
        let (sin, cos) = pose[2].sin_cos();
        let at = [
            pose[0] + cos * middle[0] - sin * middle[1],
            pose[1] + sin * middle[0] + cos * middle[1],
            pose[2],
        ];
        let mut marker = self.marker(namespace, CUBE, color, at);
        marker.pose.position.z = middle[2];
        let [x, y, z] = [x, y, z].map(|[low, high]| (high - low).max(FLAT));
        marker.scale = Vector3 { x, y, z };
        self.add(marker);
    }

    /// A force from a place on; none where there is nothing to see.
    fn arrow(&mut self, namespace: &'static str, color: [f32; 4], [x, y]: [f64; 2], force: [f64; 2]) {
        let [along, across] = force.map(|axis| ARROW_LENGTH * axis);
        if along.hypot(across) < ARROW_SIZE.x {
            return;
        }
        let mut marker = self.marker(namespace, ARROW, color, [0.0; 3]);
        marker.scale = ARROW_SIZE;
        let ends = [[x, y], [x + along, y + across]];
        marker.points = ends.into_iter().map(|[x, y]| Point { x, y, z: ARROW_AT }).collect();
        self.add(marker);
    }

    /// Text above a place.
    pub(crate) fn label(&mut self, namespace: &'static str, text: &str, pose: Plain) {
        let mut marker = self.marker(namespace, TEXT, WHITE, pose);
        marker.pose.position.z = LETTERS_AT;
        marker.scale.z = LETTERS;
        marker.text = text.into();
        self.add(marker);
    }

    /// The array.
    pub(crate) fn finish(self) -> MarkerArray {
        MarkerArray { markers: self.markers.into() }
    }
}

fn upright([x, y, theta]: Plain) -> Pose {
    let (z, w) = (0.5 * theta).sin_cos();
    Pose { position: Point { x, y, z: 0.0 }, orientation: Quaternion { x: 0.0, y: 0.0, z, w } }
}

fn rgba([r, g, b, a]: [f32; 4]) -> ColorRGBA {
    ColorRGBA { r, g, b, a }
}

#[cfg(test)]
mod tests {
    use promenade_crowd::protocol::{AgentState, ObstacleConfig, SourceConfig, Waypoint, Waypoints};

    use super::*;

    fn of(array: &MarkerArray) -> Vec<(String, i32, i32)> {
        array.markers.iter().map(|marker| (marker.ns.to_string(), marker.id, marker.type_)).collect()
    }

    #[test]
    fn an_array_deletes_everything_before_it_adds() {
        let wall = |name: &str| Wall { name: name.to_owned(), start: [0.0, 1.0], end: [2.0, 1.0] };
        let array = walls(0, &[wall("a"), wall("b")]);
        assert_eq!(array.markers[0].action, DELETE_ALL);
        assert_eq!(of(&array)[1..], [("walls".to_owned(), 0, LINE_LIST)]);
        assert_eq!((array.markers[1].points.len(), array.markers[1].scale.x), (4, 0.05));
        assert_eq!(walls(0, &[]).markers.len(), 1, "only the deletion");
    }

    #[test]
    fn a_box_is_drawn_where_its_bounds_are() {
        let mut engine = Engine::new(&[]).expect("defaults");
        let desk = ObstacleConfig {
            name: "desk".into(),
            pose: [1.0, 2.0, std::f64::consts::FRAC_PI_2],
            bb_x: [0.0, 2.0],
            bb_y: [-0.5, 0.5],
            bb_z: [0.0, 0.8],
            ..ObstacleConfig::default()
        };
        engine.add_obstacles(&[desk]).expect("a box");
        let array = objects(0, &engine, true);
        let marker = &array.markers[1];
        let (p, s) = (&marker.pose.position, &marker.scale);
        assert!((p.x - 1.0).abs() < 1e-12 && (p.y - 3.0).abs() < 1e-12 && (p.z - 0.4).abs() < 1e-12);
        assert_eq!((s.x, s.y, s.z), (2.0, 1.0, 0.8));
        assert_eq!(
            of(&array)[1..],
            [("obstacles".to_owned(), 0, CUBE), ("obstacle_label".to_owned(), 0, TEXT)]
        );
        assert_eq!(objects(0, &engine, false).markers.len(), 1, "off");
    }

    #[test]
    fn forces_are_arrows_of_their_length_and_nobody_at_rest_has_one() {
        let mut engine = Engine::new(&[]).expect("defaults");
        let point = Waypoint { pose: [9.0, 0.0, 0.0], radius: 0.0 };
        let walker = AgentState {
            desired_velocity: 1.2,
            relaxation_time: 0.5,
            waypoints: Waypoints { points: vec![point], mode: 2 },
            ..AgentState::default()
        };
        let standing = AgentState { pose: [0.0, 30.0, 0.0], ..AgentState::default() };
        engine.spawn_agents(&[walker, standing]).expect("two people");
        engine.tick();
        let array = forces(0, &engine);
        assert_eq!(of(&array)[1..], [("f_goal".to_owned(), 0, ARROW)]);
        let (from, to) = (&array.markers[1].points[0], &array.markers[1].points[1]);
        let speed = engine.frame().vx[0];
        assert!((to.x - from.x - 0.3 * (1.2 - speed) / 0.5).abs() < 1e-9, "{from:?} {to:?}");
        assert_eq!((from.z, to.y - from.y), (0.15, 0.0));
    }

    #[test]
    fn areas_are_drawn_by_their_shape() {
        let mut engine = Engine::new(&[]).expect("defaults");
        let vertices = vec![[-1.0, -1.0], [1.0, -1.0], [0.0, 1.0]];
        for (name, kind) in
            [("point", shape::RECTANGLE), ("ring", shape::CIRCLE), ("triangle", shape::POLYGON)]
        {
            let area = Shape { kind, radius: 1.5, vertices: vertices.clone(), ..Shape::default() };
            let source = SourceConfig {
                name: name.into(),
                shape: area,
                max_concurrent: 1,
                max_total: -1,
                ..SourceConfig::default()
            };
            engine.add_source(&source).expect("a source");
        }
        let array = objects(0, &engine, true);
        let kinds: Vec<i32> =
            array.markers.iter().filter(|m| m.ns.to_string() == "sources").map(|m| m.type_).collect();
        assert_eq!(kinds, [CYLINDER, CYLINDER, LINE_STRIP]);
        assert_eq!(array.markers.iter().map(|marker| marker.points.len()).max(), Some(4), "closed");
    }
}
