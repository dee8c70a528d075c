//! Bodies as markers, for displays that know neither URDF nor frames (ROS4HRI projection, section 9.2).
//!
//! The set of markers of a body never changes while it lives: what is not drawn in a pass (a heading without speed, a
//! bone without length) is sent as a deletion, so that it does not linger for its lifetime.

use builtin_interfaces::msg::rmw::{Duration as WireDuration, Time as WireTime};
use geometry_msgs::msg::rmw::{Point as WirePoint, Pose as WirePose, Quaternion, Vector3};
use promenade_gait::rig::{BALL_COUNT, BONE_COUNT, BoneClass, Frames, Link, Point, Rig, Transform};
use promenade_human::message::animation_state as state;
use rosidl_runtime_rs::Sequence;
use std_msgs::msg::rmw::ColorRGBA;
use visualization_msgs::msg::rmw::{Marker, MarkerArray};

use super::settings::MarkerStyle;
use crate::bus::{resize, set_string};

const ARROW: i32 = 0;
const SPHERE: i32 = 2;
const CYLINDER: i32 = 3;
const LINE_LIST: i32 = 5;
const SPHERE_LIST: i32 = 7;
const TEXT: i32 = 9;
const ADD: i32 = 0;
const DELETE: i32 = 2;
const DELETE_ALL: i32 = 3;

const LINES_ID: i32 = 0;
const BALLS_ID: i32 = 1;
const HEAD_ID: i32 = 2;
const HEADING_ID: i32 = 3;
const LABEL_ID: i32 = 4;
const FIRST_CYLINDER_ID: i32 = 10;
const FIRST_CAPS_ID: i32 = 40;

const LINE_WIDTH: f64 = 0.03;
const BALL_DIAMETER: f64 = 0.07;
/// Length, shaft diameter of the heading; the display derives the rest.
const HEADING: Vector3 = Vector3 { x: 0.4, y: 0.05, z: 0.08 };
/// Slower people have no heading, m/s.
const SLOWEST_HEADING: f64 = 0.05;
const LABEL_HEIGHT: f64 = 0.18;
const LABEL_ABOVE_HEAD: f64 = 0.25;
const LIFETIME: WireDuration = WireDuration { sec: 1, nanosec: 0 };
const ALPHA: f32 = 0.9;
/// More bodies are drawn as lines.
pub(crate) const MOST_CAPSULES: usize = 60;

/// One body to draw.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Drawn<'a> {
    pub(crate) rig: &'a Rig,
    /// Links in the frame of the message.
    pub(crate) frames: &'a Frames,
    pub(crate) root: &'a Transform,
    pub(crate) state: u8,
    pub(crate) speed: f64,
    /// What the label says.
    pub(crate) label: &'a str,
}

/// The outgoing markers.
#[derive(Debug)]
pub(crate) struct MarkerWriter {
    style: MarkerStyle,
    labels: bool,
    /// The bodies, after a leading part that clears what is gone.
    pub(crate) message: MarkerArray,
    drawn: MarkerStyle,
    leading: usize,
    /// Everything has to be cleared first: the start, or another style.
    clear: bool,
    gone: Vec<String>,
}

impl MarkerWriter {
    pub(crate) fn new(style: MarkerStyle, labels: bool) -> Self {
        MarkerWriter {
            style,
            labels,
            message: MarkerArray::default(),
            drawn: style,
            leading: 0,
            clear: true,
            gone: Vec::new(),
        }
    }

    /// Whether bodies are drawn at all.
    pub(crate) fn is_on(&self) -> bool {
        self.style != MarkerStyle::Off
    }

    /// Clears everything first, as at the start: nobody watched for a while.
    pub(crate) fn restart(&mut self) {
        self.clear = true;
        self.gone.clear();
    }

    /// A body that is gone, to be deleted with the next message.
    pub(crate) fn retire(&mut self, id: &str) {
        if !self.clear {
            self.gone.push(id.to_owned());
        }
    }

    /// Whether the next message has a leading part, or the last one had.
    pub(crate) fn has_leading(&self) -> bool {
        self.leading > 0 || self.clear || !self.gone.is_empty()
    }

    fn ids(&self) -> impl Iterator<Item = i32> + use<> {
        let capsules = self.drawn == MarkerStyle::Capsules;
        let own = if capsules {
            [HEAD_ID, HEADING_ID].as_slice()
        } else {
            &[LINES_ID, BALLS_ID, HEAD_ID, HEADING_ID]
        };
        let bones = if capsules { BONE_COUNT as i32 } else { 0 };
        let caps = if capsules { BoneClass::ALL.len() as i32 } else { 0 };
        own.iter()
            .copied()
            .chain(self.labels.then_some(LABEL_ID))
            .chain(FIRST_CYLINDER_ID..FIRST_CYLINDER_ID + bones)
            .chain(FIRST_CAPS_ID..FIRST_CAPS_ID + caps)
    }

    /// Lays the message out for these bodies, in their order.
    pub(crate) fn lay_out<'a>(
        &mut self,
        frame_id: &str,
        stamp: &WireTime,
        bodies: impl ExactSizeIterator<Item = (&'a str, &'a Rig)>,
    ) {
        let style = match self.style {
            MarkerStyle::Capsules if bodies.len() > MOST_CAPSULES => MarkerStyle::Lines,
            style => style,
        };
        if std::mem::replace(&mut self.drawn, style) != style {
            self.clear = true;
        }
        let mut markers: Vec<Marker> = Vec::new();
        if std::mem::take(&mut self.clear) {
            markers.push(Marker { action: DELETE_ALL, ..Marker::default() });
            self.gone.clear();
        }
        for id in std::mem::take(&mut self.gone) {
            let ns = format!("body_{id}");
            markers.extend(self.ids().map(|id| Marker {
                ns: ns.as_str().into(),
                id,
                action: DELETE,
                ..Marker::default()
            }));
        }
        self.leading = markers.len();
        for marker in &mut markers {
            marker.header.stamp = stamp.clone();
        }
        for (id, rig) in bodies {
            let ns = format!("body_{id}");
            markers.extend(self.ids().map(|id| blank(ns.as_str(), id, rig)));
        }
        for marker in &mut markers {
            marker.header.frame_id = frame_id.into();
        }
        self.message.markers = Sequence::from(markers);
    }

    /// Writes body `index` of the layout.
    pub(crate) fn write(&mut self, index: usize, stamp: &WireTime, drawn: &Drawn<'_>) {
        let count = self.ids().count();
        let bones = drawn.rig.bones(drawn.frames);
        let color = color(drawn.state);
        let first = self.leading + index * count;
        for marker in &mut self.message.markers[first..first + count] {
            marker.header.stamp = stamp.clone();
            marker.color = color.clone();
            marker.action = ADD;
            match marker.id {
                LINES_ID => {
                    let ends = bones.iter().flat_map(|bone| [bone.from, bone.to]);
                    write_points(&mut marker.points, ends);
                }
                BALLS_ID => write_points(&mut marker.points, drawn.rig.balls(drawn.frames).into_iter()),
                HEAD_ID => marker.pose.position = point(drawn.rig.skull(drawn.frames)),
                HEADING_ID if drawn.speed > SLOWEST_HEADING => {
                    let chest = Transform {
                        translation: drawn.frames.origin(Link::TORSO),
                        rotation: drawn.root.rotation,
                    };
                    marker.pose = pose(&chest);
                }
                HEADING_ID => marker.action = DELETE,
                LABEL_ID => {
                    let [x, y, z] = drawn.rig.skull(drawn.frames);
                    let above = drawn.rig.head_radius() + LABEL_ABOVE_HEAD;
                    marker.pose.position = point([x, y, z + above]);
                    set_string(&mut marker.text, drawn.label);
                }
                id if id >= FIRST_CAPS_ID => {
                    let class = BoneClass::ALL[(id - FIRST_CAPS_ID) as usize];
                    let of_class = bones.iter().filter(|bone| bone.class == class);
                    write_points(&mut marker.points, of_class.flat_map(|bone| [bone.from, bone.to]));
                }
                id => {
                    let bone = &bones[(id - FIRST_CYLINDER_ID) as usize];
                    match bone.cylinder() {
                        Some(cylinder) => {
                            marker.pose = pose(&cylinder);
                            marker.scale.z = bone.length();
                        }
                        None => marker.action = DELETE,
                    }
                }
            }
        }
    }
}

/// A marker of a body with everything that does not move.
fn blank(ns: &str, id: i32, rig: &Rig) -> Marker {
    let mut marker = Marker { ns: ns.into(), id, lifetime: LIFETIME, ..Marker::default() };
    let neutral = Frames::default();
    let cube = |edge: f64| Vector3 { x: edge, y: edge, z: edge };
    (marker.type_, marker.scale) = match id {
        LINES_ID => (LINE_LIST, Vector3 { x: LINE_WIDTH, y: 0.0, z: 0.0 }),
        BALLS_ID => (SPHERE_LIST, cube(BALL_DIAMETER)),
        HEAD_ID => (SPHERE, cube(2.0 * rig.head_radius())),
        HEADING_ID => (ARROW, HEADING),
        LABEL_ID => (TEXT, Vector3 { x: 0.0, y: 0.0, z: LABEL_HEIGHT }),
        id if id >= FIRST_CAPS_ID => {
            let class = BoneClass::ALL[(id - FIRST_CAPS_ID) as usize];
            let radius =
                rig.bones(&neutral).iter().find(|bone| bone.class == class).map_or(0.0, |bone| bone.radius);
            (SPHERE_LIST, cube(2.0 * radius))
        }
        id => {
            let diameter = 2.0 * rig.bones(&neutral)[(id - FIRST_CYLINDER_ID) as usize].radius;
            (CYLINDER, Vector3 { x: diameter, y: diameter, z: 0.0 })
        }
    };
    let points = match id {
        LINES_ID => 2 * BONE_COUNT,
        BALLS_ID => BALL_COUNT,
        id if id >= FIRST_CAPS_ID => {
            let class = BoneClass::ALL[(id - FIRST_CAPS_ID) as usize];
            2 * rig.bones(&neutral).iter().filter(|bone| bone.class == class).count()
        }
        _ => 0,
    };
    resize(&mut marker.points, points);
    marker
}

fn write_points(points: &mut Sequence<WirePoint>, from: impl Iterator<Item = Point>) {
    for (out, from) in points.iter_mut().zip(from) {
        *out = point(from);
    }
}

fn point([x, y, z]: Point) -> WirePoint {
    WirePoint { x, y, z }
}

fn pose(transform: &Transform) -> WirePose {
    let [x, y, z, w] = transform.rotation;
    WirePose { position: point(transform.translation), orientation: Quaternion { x, y, z, w } }
}

fn color(animation_state: u8) -> ColorRGBA {
    let (r, g, b) = match animation_state {
        state::WALKING => (0.20, 0.45, 0.90),
        state::RUNNING => (0.00, 0.65, 0.65),
        state::PANIC => (0.90, 0.15, 0.15),
        state::SURPRISED => (0.95, 0.85, 0.10),
        state::CURIOUS => (0.20, 0.75, 0.25),
        state::THREATENING => (0.85, 0.20, 0.80),
        _ => (0.60, 0.60, 0.60),
    };
    ColorRGBA { r, g, b, a: ALPHA }
}

#[cfg(test)]
mod tests {
    use promenade_gait::JOINT_COUNT;
    use promenade_gait::rig::wire_to_urdf;

    use super::*;

    fn draw(writer: &mut MarkerWriter, people: usize, root: &Transform, speed: f64) {
        let rig = Rig::default();
        let mut frames = Frames::default();
        rig.forward(root, &wire_to_urdf(&[0.0; JOINT_COUNT]), &mut frames);
        let ids: Vec<String> = (0..people).map(|n| format!("e_agent_{n}")).collect();
        writer.lay_out("map", &WireTime::default(), ids.iter().map(|id| (id.as_str(), &rig)));
        for (index, id) in ids.iter().enumerate() {
            let drawn = Drawn { rig: &rig, frames: &frames, root, state: 1, speed, label: id };
            writer.write(index, &WireTime::default(), &drawn);
        }
    }

    fn root() -> Transform {
        Transform { translation: [1.0, 2.0, 0.77], rotation: Transform::IDENTITY.rotation }
    }

    #[test]
    fn markers_per_body_and_style() {
        for (style, labels, per_body) in [
            (MarkerStyle::Lines, true, 5),
            (MarkerStyle::Lines, false, 4),
            (MarkerStyle::Capsules, true, 29),
            (MarkerStyle::Capsules, false, 28),
        ] {
            let mut writer = MarkerWriter::new(style, labels);
            draw(&mut writer, 2, &root(), 1.0);
            assert_eq!(writer.message.markers.len(), 1 + 2 * per_body, "{style:?} {labels}");
            assert_eq!(writer.message.markers[0].action, DELETE_ALL);
            assert!(writer.message.markers[1..].iter().all(|marker| marker.action == ADD));
            draw(&mut writer, 2, &root(), 1.0);
            assert_eq!(writer.message.markers.len(), 2 * per_body);
        }
        assert!(!MarkerWriter::new(MarkerStyle::Off, true).is_on());
    }

    #[test]
    fn a_body_that_is_gone_is_deleted_marker_by_marker() {
        let mut writer = MarkerWriter::new(MarkerStyle::Lines, true);
        draw(&mut writer, 2, &root(), 1.0);
        writer.retire("e_agent_1");
        assert!(writer.has_leading());
        draw(&mut writer, 1, &root(), 1.0);
        let deleted: Vec<(String, i32)> = writer
            .message
            .markers
            .iter()
            .filter(|marker| marker.action == DELETE)
            .map(|marker| (marker.ns.to_string(), marker.id))
            .collect();
        let ns = || "body_e_agent_1".to_owned();
        assert_eq!(deleted, (0..5).map(|id| (ns(), id)).collect::<Vec<_>>());
    }

    #[test]
    fn a_crowd_is_drawn_as_lines() {
        let mut writer = MarkerWriter::new(MarkerStyle::Capsules, true);
        draw(&mut writer, MOST_CAPSULES, &root(), 1.0);
        assert_eq!(writer.message.markers.len(), 1 + 29 * MOST_CAPSULES);
        draw(&mut writer, MOST_CAPSULES + 1, &root(), 1.0);
        assert_eq!(writer.message.markers[0].action, DELETE_ALL);
        assert_eq!(writer.message.markers.len(), 1 + 5 * (MOST_CAPSULES + 1));
    }

    #[test]
    fn slow_people_have_no_heading_and_bones_without_length_are_skipped() {
        let mut writer = MarkerWriter::new(MarkerStyle::Capsules, true);
        // So far out that no bone has a length any more.
        let lost = Transform { translation: [1e300, -1e300, 1e300], rotation: Transform::IDENTITY.rotation };
        draw(&mut writer, 1, &lost, 0.0);
        let mut deleted = 0;
        for marker in writer.message.markers.iter() {
            let (p, q) = (&marker.pose.position, &marker.pose.orientation);
            let points = marker.points.iter().flat_map(|point| [point.x, point.y, point.z]);
            let mut numbers = [p.x, p.y, p.z, q.x, q.y, q.z, q.w, marker.scale.z].into_iter().chain(points);
            assert!(numbers.all(f64::is_finite));
            deleted += usize::from(marker.action == DELETE);
        }
        assert_eq!(deleted, 1 + BONE_COUNT);
    }

    #[test]
    fn the_head_is_on_top_and_a_thigh_hangs() {
        let mut writer = MarkerWriter::new(MarkerStyle::Capsules, true);
        draw(&mut writer, 1, &root(), 1.0);
        let of = |id: i32| writer.message.markers.iter().skip(1).find(|marker| marker.id == id).unwrap();
        let head = of(HEAD_ID);
        assert!((head.pose.position.z + head.scale.z / 2.0 - 1.65).abs() < 1e-9);
        assert!((of(LABEL_ID).pose.position.z - 1.90).abs() < 1e-9);
        let thigh = of(FIRST_CYLINDER_ID + 14);
        assert!((thigh.scale.z - 0.33).abs() < 1e-9 && (thigh.scale.x - 0.15).abs() < 1e-9);
        assert!((thigh.pose.position.z - 0.605).abs() < 1e-9);
    }
}
