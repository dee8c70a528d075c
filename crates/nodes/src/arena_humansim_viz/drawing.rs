//! Agents as markers.
//!
//! The topic may be shared with other publishers, so that only own markers are deleted: those of the last message that are not in this
//! one, before anything is added. What arrives may be anything: arrays are read as far as they reach, and what is no number is not drawn.

use std::collections::BTreeSet;

use arena_humansim_msgs::msg::rmw::AgentViz;
use geometry_msgs::msg::rmw::{Point, Pose, Quaternion, Vector3};
use rosidl_runtime_rs::{Sequence, SequenceAlloc};
use std_msgs::msg::rmw::{ColorRGBA, Header};
use visualization_msgs::msg::rmw::{Marker, MarkerArray};

const ARROW: i32 = 0;
const CYLINDER: i32 = 3;
const LINE_LIST: i32 = 5;
const SPHERE_LIST: i32 = 7;
const TEXT: i32 = 9;
const ADD: i32 = 0;
const DELETE: i32 = 2;

const ROBOT: u8 = 1;
/// Heights of a person and of a robot, m.
const PERSON_HEIGHT: f64 = 1.7;
const ROBOT_HEIGHT: f64 = 0.4;
/// Corners of the arc of a field of view.
const ARC: usize = 12;
/// Most markers of agents; more would stall any viewer.
const MOST_AGENTS: usize = 5000;

const PERSON_COLOR: [f32; 4] = [0.25, 0.55, 0.95, 0.8];
const ROBOT_COLOR: [f32; 4] = [0.45, 0.45, 0.45, 0.8];
const HEADING_COLOR: [f32; 4] = [1.0, 0.85, 0.1, 0.9];
const TEXT_COLOR: [f32; 4] = [1.0, 1.0, 1.0, 1.0];
const NEED_COLOR: [f32; 4] = [0.7, 1.0, 0.7, 1.0];
const INTERACTION_COLOR: [f32; 4] = [1.0, 0.4, 0.9, 0.7];
const VISION_COLOR: [f32; 4] = [0.9, 0.9, 0.4, 0.25];
const OBSERVED_COLOR: [f32; 4] = [0.9, 0.9, 0.4, 0.35];
const PATH_COLOR: [f32; 4] = [0.2, 0.9, 0.9, 0.6];
const SUB_GOAL_COLOR: [f32; 4] = [0.2, 0.9, 0.9, 0.9];
const GOAL_COLOR: [f32; 4] = [0.2, 0.9, 0.2, 0.9];
const WAYPOINT_COLOR: [f32; 4] = [0.6, 0.6, 1.0, 0.6];
const ACTIVE_COLOR: [f32; 4] = [0.6, 0.6, 1.0, 0.9];

/// How to draw.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct View {
    /// Added to every position, m.
    pub(crate) offset: [f64; 2],
    /// Whether robots are drawn.
    pub(crate) robots: bool,
}

/// What is on display.
#[derive(Debug, Default)]
pub(crate) struct Drawing {
    shown: BTreeSet<(&'static str, i32)>,
}

impl Drawing {
    /// Markers that turn what is on display into this.
    pub(crate) fn draw(&mut self, viz: &AgentViz, view: View) -> MarkerArray {
        let mut canvas = Canvas { header: &viz.header, offset: view.offset, markers: Vec::new() };
        if viz.level > 0 {
            agents(&mut canvas, viz, view.robots);
            interactions(&mut canvas, viz);
        }
        if viz.level > 1 {
            details(&mut canvas, viz);
        }
        let added = canvas.markers;
        let now: BTreeSet<_> = added.iter().map(|(namespace, marker)| (*namespace, marker.id)).collect();
        let stale = self.shown.difference(&now).map(|(namespace, id)| Marker {
            header: viz.header.clone(),
            ns: (*namespace).into(),
            id: *id,
            action: DELETE,
            ..Marker::default()
        });
        let markers: Vec<Marker> = stale.chain(added.into_iter().map(|(_, marker)| marker)).collect();
        self.shown = now;
        MarkerArray { markers: markers.into() }
    }
}

struct Canvas<'h> {
    header: &'h Header,
    offset: [f64; 2],
    markers: Vec<(&'static str, Marker)>,
}

impl Canvas<'_> {
    /// A marker at a place; nothing where the place is none.
    fn put(
        &mut self,
        namespace: &'static str,
        id: i32,
        kind: i32,
        color: [f32; 4],
        at: [f64; 4],
        scale: [f64; 3],
    ) -> Option<&mut Marker> {
        if !at.iter().chain(&scale).all(|value| value.is_finite()) {
            return None;
        }
        let ([x, y, z, theta], [r, g, b, a]) = (at, color);
        let (sin, cos) = (0.5 * theta).sin_cos();
        let marker = Marker {
            header: self.header.clone(),
            ns: namespace.into(),
            id,
            type_: kind,
            action: ADD,
            pose: Pose {
                position: Point { x: x + self.offset[0], y: y + self.offset[1], z },
                orientation: Quaternion { x: 0.0, y: 0.0, z: sin, w: cos },
            },
            scale: Vector3 { x: scale[0], y: scale[1], z: scale[2] },
            color: ColorRGBA { r, g, b, a },
            ..Marker::default()
        };
        self.markers.push((namespace, marker));
        self.markers.last_mut().map(|(_, marker)| marker)
    }

    fn text(&mut self, namespace: &'static str, id: i32, color: [f32; 4], [x, y, z]: [f64; 3], text: &str) {
        if let Some(marker) = self.put(namespace, id, TEXT, color, [x, y, z, 0.0], [0.0, 0.0, 0.22]) {
            marker.text = text.into();
        }
    }

    /// One marker of many points, which are relative to its place; nothing without any.
    fn points(
        &mut self,
        namespace: &'static str,
        kind: i32,
        color: [f32; 4],
        scale: [f64; 3],
        z: f64,
        points: Vec<[f64; 2]>,
    ) {
        if points.is_empty() {
            return;
        }
        if let Some(marker) = self.put(namespace, 0, kind, color, [0.0, 0.0, z, 0.0], scale) {
            marker.points = points.into_iter().map(|[x, y]| Point { x, y, z: 0.0 }).collect();
        }
    }
}

fn get<T: Copy + SequenceAlloc>(from: &Sequence<T>, index: usize) -> Option<T> {
    from.get(index).copied()
}

/// A finite place out of two arrays.
fn place(x: &Sequence<f64>, y: &Sequence<f64>, index: usize) -> Option<[f64; 2]> {
    let place = [get(x, index)?, get(y, index)?];
    place.iter().all(|value| value.is_finite()).then_some(place)
}

/// What of a ragged block belongs to `item`.
fn span(offsets: &Sequence<u32>, item: usize, len: usize) -> std::ops::Range<usize> {
    let end = |index: usize| get(offsets, index).map_or(len, |end| (end as usize).min(len));
    let (from, to) = (end(item), end(item + 1));
    from..to.max(from)
}

/// Index of an agent.
fn row(viz: &AgentViz, id: i32) -> Option<usize> {
    viz.agent_id.iter().position(|known| *known == id)
}

fn agents(canvas: &mut Canvas<'_>, viz: &AgentViz, robots: bool) {
    for (index, id) in viz.agent_id.iter().enumerate().take(MOST_AGENTS) {
        let Some([x, y]) = place(&viz.x, &viz.y, index) else { continue };
        let is_robot = get(&viz.kind, index) == Some(ROBOT);
        if is_robot && !robots {
            continue;
        }
        let theta = get(&viz.theta, index).unwrap_or(0.0);
        let radius = get(&viz.radius, index).unwrap_or(0.25);
        let (height, color) =
            if is_robot { (ROBOT_HEIGHT, ROBOT_COLOR) } else { (PERSON_HEIGHT, PERSON_COLOR) };
        let size = [2.0 * radius, 2.0 * radius, height];
        canvas.put("body", *id, CYLINDER, color, [x, y, 0.5 * height, theta], size);
        canvas.put("heading", *id, ARROW, HEADING_COLOR, [x, y, height, theta], [radius + 0.3, 0.06, 0.06]);
        let command = viz.cmd_agent_id.iter().position(|known| known == id);
        let command = command.and_then(|place| get(&viz.cmd_label_idx, place));
        let command = command.and_then(|label| viz.cmd_labels.get(usize::from(label)));
        let label = command.map_or_else(|| id.to_string(), |command| format!("{id} {command}"));
        canvas.text("label", *id, TEXT_COLOR, [x, y, height + 0.25], &label);
    }
    needs(canvas, viz);
}

fn needs(canvas: &mut Canvas<'_>, viz: &AgentViz) {
    let mut lines: std::collections::BTreeMap<i32, String> = std::collections::BTreeMap::new();
    for (index, id) in viz.need_agent_id.iter().enumerate().take(MOST_AGENTS) {
        let name = get(&viz.need_name_idx, index).and_then(|name| viz.need_names.get(usize::from(name)));
        if let (Some(name), Some(value)) = (name, get(&viz.need_value, index)) {
            let line = lines.entry(*id).or_default();
            if !line.is_empty() {
                line.push('\n');
            }
            line.push_str(&format!("{name} {value:.0}"));
        }
    }
    for (id, text) in lines {
        if let Some([x, y]) = row(viz, id).and_then(|row| place(&viz.x, &viz.y, row)) {
            canvas.text("needs", id, NEED_COLOR, [x, y, PERSON_HEIGHT + 0.6], &text);
        }
    }
}

fn interactions(canvas: &mut Canvas<'_>, viz: &AgentViz) {
    let mut lines = Vec::new();
    for (item, id) in viz.interaction_id.iter().enumerate().take(MOST_AGENTS) {
        let members = span(&viz.interaction_offset, item, viz.interaction_participants.len());
        let places: Vec<[f64; 2]> = viz.interaction_participants[members]
            .iter()
            .filter_map(|member| place(&viz.x, &viz.y, row(viz, *member)?))
            .collect();
        let count = places.len() as f64;
        if places.is_empty() {
            continue;
        }
        let middle = [0, 1].map(|axis| places.iter().map(|place| place[axis]).sum::<f64>() / count);
        lines.extend(places.iter().flat_map(|place| [middle, *place]));
        if let Some(label) = viz.interaction_label.get(item) {
            canvas.text(
                "interaction_label",
                *id,
                INTERACTION_COLOR,
                [middle[0], middle[1], 2.3],
                &label.to_string(),
            );
        }
    }
    canvas.points("interaction", LINE_LIST, INTERACTION_COLOR, [0.05, 0.0, 0.0], 0.1, lines);
}

fn details(canvas: &mut Canvas<'_>, viz: &AgentViz) {
    let mut views = Vec::new();
    for index in 0..viz.agent_id.len().min(MOST_AGENTS) {
        views.extend(field_of_view(viz, index).unwrap_or_default());
    }
    canvas.points("vision", LINE_LIST, VISION_COLOR, [0.03, 0.0, 0.0], 0.02, views);

    let observed = viz.observed_agent_id.iter().enumerate().filter_map(|(index, id)| {
        let from = place(&viz.x, &viz.y, row(viz, *id)?)?;
        Some([from, place(&viz.observed_x, &viz.observed_y, index)?])
    });
    canvas.points("observed", LINE_LIST, OBSERVED_COLOR, [0.02, 0.0, 0.0], 1.0, observed.flatten().collect());

    let mut path = Vec::new();
    for item in 0..viz.path_agent_id.len() {
        let steps = span(&viz.path_offset, item, viz.path_x.len());
        let steps: Vec<[f64; 2]> = steps.filter_map(|index| place(&viz.path_x, &viz.path_y, index)).collect();
        path.extend(steps.windows(2).flatten().copied());
    }
    canvas.points("path", LINE_LIST, PATH_COLOR, [0.04, 0.0, 0.0], 0.05, path);

    let places = |x: &Sequence<f64>, y: &Sequence<f64>| -> Vec<[f64; 2]> {
        (0..x.len()).filter_map(|index| place(x, y, index)).collect()
    };
    canvas.points(
        "sub_goal",
        SPHERE_LIST,
        SUB_GOAL_COLOR,
        [0.12; 3],
        0.1,
        places(&viz.igoal_x, &viz.igoal_y),
    );
    canvas.points("goal", SPHERE_LIST, GOAL_COLOR, [0.25; 3], 0.1, places(&viz.goal_x, &viz.goal_y));
    canvas.points("waypoint", SPHERE_LIST, WAYPOINT_COLOR, [0.15; 3], 0.1, places(&viz.wp_x, &viz.wp_y));
    for (item, id) in viz.wp_agent_id.iter().enumerate().take(MOST_AGENTS) {
        let way = span(&viz.wp_offset, item, viz.wp_x.len());
        let active =
            get(&viz.wp_active, item).map_or(way.end, |active| way.start.saturating_add(active as usize));
        if !way.contains(&active) {
            continue;
        }
        let radius = get(&viz.wp_active_radius, item).filter(|radius| *radius > 0.0).unwrap_or(0.1);
        if let Some([x, y]) = place(&viz.wp_x, &viz.wp_y, active) {
            canvas.put(
                "waypoint_active",
                *id,
                CYLINDER,
                ACTIVE_COLOR,
                [x, y, 0.02, 0.0],
                [2.0 * radius, 2.0 * radius, 0.02],
            );
        }
    }
}

/// Lines around what an agent sees.
fn field_of_view(viz: &AgentViz, index: usize) -> Option<Vec<[f64; 2]>> {
    let [x, y] = place(&viz.x, &viz.y, index)?;
    let theta = get(&viz.theta, index)?;
    let (range, fov) = (get(&viz.vision_range, index)?, get(&viz.vision_fov, index)?);
    if !(theta.is_finite() && range.is_finite() && fov.is_finite()) {
        return None;
    }
    let half = 0.5 * fov.clamp(0.0, 360.0).to_radians();
    let arc = (0..=ARC).map(|step| {
        let (sin, cos) = (theta - half + 2.0 * half * step as f64 / ARC as f64).sin_cos();
        [x + range * cos, y + range * sin]
    });
    let around: Vec<[f64; 2]> = std::iter::once([x, y]).chain(arc).chain([[x, y]]).collect();
    Some(around.windows(2).flatten().copied().collect())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const VIEW: View = View { offset: [10.0, -5.0], robots: false };

    fn crowd(ids: &[i32], level: u8) -> AgentViz {
        let numbers = |value: f64| ids.iter().map(|_| value).collect();
        AgentViz {
            level,
            agent_id: ids.iter().copied().collect(),
            x: ids.iter().map(|id| f64::from(*id)).collect(),
            y: numbers(2.0),
            theta: numbers(0.5),
            radius: numbers(0.3),
            kind: ids.iter().map(|id| u8::from(*id >= 100)).collect(),
            vision_range: numbers(5.0),
            vision_fov: numbers(180.0),
            cmd_labels: ["NAVIGATE", "STOP"].map(Into::into).into_iter().collect(),
            cmd_agent_id: ids.iter().copied().collect(),
            cmd_label_idx: ids.iter().map(|_| 1).collect(),
            goal_x: numbers(1.0),
            goal_y: numbers(1.0),
            ..AgentViz::default()
        }
    }

    fn actions(array: &MarkerArray) -> Vec<(String, i32, i32)> {
        array.markers.iter().map(|marker| (marker.ns.to_string(), marker.id, marker.action)).collect()
    }

    #[test]
    fn who_is_gone_is_deleted_before_others_are_drawn() {
        let mut drawing = Drawing::default();
        drawing.draw(&crowd(&[1, 2], 1), VIEW);
        let array = drawing.draw(&crowd(&[2, 3], 1), VIEW);
        let of = |id: i32, action: i32| ["body", "heading", "label"].map(|ns| (ns.to_owned(), id, action));
        assert_eq!(actions(&array)[..3], of(1, DELETE));
        assert_eq!(actions(&array)[3..], [of(2, ADD), of(3, ADD)].concat());
        let gone = drawing.draw(&AgentViz::default(), VIEW);
        assert!(gone.markers.len() == 6 && gone.markers.iter().all(|marker| marker.action == DELETE));
        assert!(drawing.draw(&AgentViz::default(), VIEW).markers.is_empty());
    }

    #[test]
    fn robots_are_hidden_and_places_are_shifted() {
        let array = Drawing::default().draw(&crowd(&[1, 100], 1), VIEW);
        assert!(array.markers.iter().all(|marker| marker.id == 1));
        assert_eq!((array.markers[0].pose.position.x, array.markers[0].pose.position.y), (11.0, -3.0));
        assert_eq!(array.markers[2].text.to_string(), "1 STOP");
        let all = Drawing::default().draw(&crowd(&[1, 100], 1), View { robots: true, ..VIEW });
        assert_eq!(all.markers.len(), 6);
        let full = Drawing::default().draw(&crowd(&[1], 2), VIEW);
        let spaces: Vec<String> = full.markers.iter().map(|marker| marker.ns.to_string()).collect();
        assert_eq!(spaces, ["body", "heading", "label", "vision", "goal"]);
    }

    proptest! {
        #[test]
        fn arrays_of_any_lengths_are_drawn_as_far_as_they_reach(
            ids in prop::collection::vec(-3_i32..5, 0..6),
            numbers in prop::collection::vec(prop_oneof![any::<f64>(), -5.0..5.0], 0..6),
            offsets in prop::collection::vec(any::<u32>(), 0..6),
        ) {
            let mut viz = crowd(&ids, 2);
            let block: Sequence<f64> = numbers.iter().copied().collect();
            let ragged: Sequence<u32> = offsets.iter().copied().collect();
            (viz.y, viz.theta, viz.path_x, viz.wp_x, viz.wp_y) =
                (block.clone(), block.clone(), block.clone(), block.clone(), block);
            (viz.path_offset, viz.wp_offset, viz.wp_active) = (ragged.clone(), ragged.clone(), ragged.clone());
            viz.interaction_offset = ragged;
            viz.interaction_id = ids.iter().copied().collect();
            viz.interaction_participants = ids.iter().copied().collect();
            (viz.path_agent_id, viz.wp_agent_id) = (ids.iter().copied().collect(), ids.iter().copied().collect());
            (viz.need_agent_id, viz.observed_agent_id) = (ids.iter().copied().collect(), ids.iter().copied().collect());
            let array = Drawing::default().draw(&viz, VIEW);
            for marker in array.markers.iter() {
                prop_assert!(marker.pose.position.x.is_finite() && marker.scale.x.is_finite());
            }
        }
    }
}
