//! Poses, places and way-points as files write them. Resolving a zone name to a point is `place`'s work, not this module's.

use crate::decode::Decoder;
use crate::geometry::Point;
use crate::problem::Position;
use crate::tree::{Node, Value};

const POSE_FORMS: &str = "a pose `[x, y]`, `[x, y, yaw]` or `{x, y, z, yaw}`, or a zone name";
const POSITION_FORMS: &str = "a position `[x, y]` or `{x, y}`";

/// Where something stands: metres and radians in the `map` frame.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Pose {
    /// East, metres.
    pub x: f64,
    /// North, metres.
    pub y: f64,
    /// Up, metres; 0 unless written.
    pub z: f64,
    /// Heading, radians, counter-clockwise from east; 0 unless written.
    pub yaw: f64,
}

impl Pose {
    /// The place on the floor.
    #[must_use]
    pub const fn point(&self) -> Point {
        Point::new(self.x, self.y)
    }

    /// This pose seen from the frame that `local` is given in: `self ∘ local`, in the plane.
    #[must_use]
    pub fn compose(&self, local: &Self) -> Self {
        let (sin, cos) = self.yaw.sin_cos();
        Self {
            x: self.x + cos * local.x - sin * local.y,
            y: self.y + sin * local.x + cos * local.y,
            z: self.z + local.z,
            yaw: self.yaw + local.yaw,
        }
    }
}

/// A pose, or the name of a zone to sample one in.
#[derive(Debug, Clone, PartialEq)]
pub enum Place {
    /// Exactly here.
    Pose(Pose),
    /// Somewhere free inside the zone of this name, identity orientation.
    Zone(String),
}

/// One point of a route.
#[derive(Debug, Clone, PartialEq)]
pub struct Waypoint {
    /// Where.
    pub place: Place,
    /// The level it is on, when the file says so.
    pub level_id: Option<String>,
    /// Where in the file.
    pub at: Position,
}

impl Decoder {
    /// A pose in one of its list or map forms; `None` after a report when it is neither.
    pub(crate) fn pose(&mut self, node: &Node, path: &str) -> Option<Pose> {
        match &node.value {
            Value::List(items) => self.pose_list(node, items, path),
            Value::Map(_) => self.pose_map(node, path),
            _ => {
                self.mismatch(node, path, POSE_FORMS);
                None
            }
        }
    }

    /// A pose or a zone name.
    pub(crate) fn place(&mut self, node: &Node, path: &str) -> Option<Place> {
        match &node.value {
            Value::Text(_) => self.name(node, path).map(Place::Zone),
            _ => self.pose(node, path).map(Place::Pose),
        }
    }

    fn pose_list(&mut self, node: &Node, items: &[Node], path: &str) -> Option<Pose> {
        if !(2..=3).contains(&items.len()) {
            self.mismatch(node, path, POSE_FORMS);
            return None;
        }
        // Every number is read before any failure counts, so that all of them are reported.
        let numbers: Vec<Option<f64>> =
            items.iter().enumerate().map(|(i, item)| self.number(item, &format!("{path}[{i}]"))).collect();
        Some(Pose {
            x: numbers[0]?,
            y: numbers[1]?,
            z: 0.0,
            yaw: match numbers.get(2) {
                Some(yaw) => (*yaw)?,
                None => 0.0,
            },
        })
    }

    fn pose_map(&mut self, node: &Node, path: &str) -> Option<Pose> {
        let mut fields = self.fields(node, path, "a pose", &["x", "y", "z", "yaw"])?;
        let x = fields.require(self, "x", "metres");
        let y = fields.require(self, "y", "metres");
        fields.finish(self, crate::decode::Unknown::Closed, &[]);
        let x = x.map(|n| self.number(n, &fields.path_of("x")));
        let y = y.map(|n| self.number(n, &fields.path_of("y")));
        let z = fields.get("z").map(|n| self.number(n, &fields.path_of("z")));
        let yaw = fields.get("yaw").map(|n| self.number(n, &fields.path_of("yaw")));
        Some(Pose { x: x??, y: y??, z: z.unwrap_or(Some(0.0))?, yaw: yaw.unwrap_or(Some(0.0))? })
    }

    /// A point: `[x, y]` (a third number is height or heading and is ignored) or `{x, y[, z]}`.
    pub(crate) fn point(&mut self, node: &Node, path: &str) -> Option<Point> {
        match &node.value {
            Value::List(_) | Value::Map(_) => self.pose(node, path).map(|p| p.point()),
            _ => {
                self.mismatch(node, path, POSITION_FORMS);
                None
            }
        }
    }

    /// A way-point: a pose form, a zone name, or `{position, level_id}`.
    pub(crate) fn waypoint(&mut self, node: &Node, path: &str) -> Option<Waypoint> {
        if node.get("position").is_none() {
            return Some(Waypoint { place: self.place(node, path)?, level_id: None, at: node.at });
        }
        let fields = self.fields(node, path, "a way-point", &["position", "level_id"])?;
        fields.finish(self, crate::decode::Unknown::Closed, &[]);
        let level_id = fields.read(self, "level_id", Self::identifier);
        let place = fields.read(self, "position", Self::place)?;
        Some(Waypoint { place, level_id, at: node.at })
    }

    /// A list of way-points. One bare position is reported with the brackets it needs.
    pub(crate) fn waypoints(&mut self, node: &Node, path: &str) -> Vec<Waypoint> {
        if let Some([Node { value: Value::Int(_) | Value::Float(_), .. }, ..]) = node.items() {
            self.error_try(
                node.at,
                path,
                format!(
                    "expected a list of way-points, found {} numbers",
                    node.items().map_or(0, <[_]>::len)
                ),
                Some("[[x, y], ...]".to_owned()),
            );
            return Vec::new();
        }
        self.list_of(node, path, "way-points", |d, n, p| d.waypoint(n, p))
    }

    /// The corners of a polygon, at least three, which enclose an area.
    pub(crate) fn polygon(&mut self, node: &Node, path: &str) -> Option<Vec<Point>> {
        let items = self.list(node, path, "corners `{x, y}`");
        let corners: Vec<Point> =
            items.iter().enumerate().filter_map(|(i, n)| self.point(n, &format!("{path}[{i}]"))).collect();
        if node.items().is_none() || corners.len() < items.len() {
            return None;
        }
        if corners.len() < 3 {
            self.error(node.at, path, format!("a polygon needs at least 3 corners, found {}", corners.len()));
            return None;
        }
        if crate::geometry::signed_area(&corners).abs() < 1e-9 {
            self.error(node.at, path, "the corners enclose no area");
            return None;
        }
        Some(corners)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn compose_gives_the_seats_of_the_worked_example() {
        let bench = Pose { x: 8.0, y: 3.0, ..Pose::default() };
        let seat = bench.compose(&Pose { x: 0.4, yaw: 0.2, ..Pose::default() });
        assert!((seat.x - 8.4).abs() < 1e-12 && (seat.y - 3.0).abs() < 1e-12);
        assert!((seat.yaw - 0.2).abs() < 1e-12);
    }
}
