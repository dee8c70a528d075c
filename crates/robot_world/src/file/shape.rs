//! `shape` of an object (robot-world specification, section 6).

use std::sync::Arc;

use promenade_scenario::decode::Fields;
use promenade_scenario::tree::Node;

use super::Reader;
use super::value::{Limit, Strictness};
use crate::Point;
use crate::shape::{Shape, ShapeError};
use crate::spec::ShapeSpec;

/// Radius of an explicit circle, metres.
const RADIUS: f64 = 0.2;
/// Most vertices of a random polygon.
const MAX_RANDOM_VERTICES: i64 = 1000;
/// Most parts of a compound.
const MAX_PARTS: usize = 200;

const CIRCLE_KEYS: [&str; 6] = ["name", "radius", "center", "wheelbase", "random_shape", "radius_range"];
const RECTANGLE_KEYS: [&str; 4] = ["name", "length", "width", "wheelbase"];
const POLYGON_KEYS: [&str; 9] = [
    "name",
    "vertices",
    "random_shape",
    "is_convex",
    "center_range",
    "avg_radius_range",
    "irregularity_range",
    "spikeyness_range",
    "num_vertices_range",
];
const COMPOUND_KEYS: [&str; 2] = ["name", "parts"];
const PART_KEYS: [&str; 2] = ["pose", "color"];

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Circle,
    Compound,
    Linestring,
    Polygon,
    Rectangle,
}

const KINDS: [(&str, Kind); 5] = [
    ("circle", Kind::Circle),
    ("compound", Kind::Compound),
    ("linestring", Kind::Linestring),
    ("polygon", Kind::Polygon),
    ("rectangle", Kind::Rectangle),
];
const PART_KINDS: [(&str, Kind); 3] = [KINDS[0], KINDS[3], KINDS[4]];

impl ShapeSpec {
    /// Distance of the axles, when the file gives one to the shape.
    pub(super) fn wheelbase(&self) -> Option<f64> {
        match self {
            Self::Fixed(shape) => shape.wheelbase,
            Self::RandomCircle { wheelbase, .. } => *wheelbase,
            Self::RandomPolygon { .. } => None,
        }
    }
}

impl<'a> Reader<'_> {
    /// A `shape` mapping.
    pub(super) fn shape(&mut self, node: &'a Node, path: &str) -> Option<ShapeSpec> {
        let (fields, kind) = self.shape_kind(node, path, &KINDS)?;
        match kind {
            Kind::Compound => self.compound(&fields),
            _ => self.simple_shape(&fields, kind, &[]),
        }
    }

    fn shape_kind(
        &mut self,
        node: &'a Node,
        path: &str,
        kinds: &[(&str, Kind)],
    ) -> Option<(Fields<'a>, Kind)> {
        let fields = self.d.fields(node, path, "a shape", &[])?;
        if fields.get("name").is_none() {
            let known: Vec<&str> = kinds.iter().map(|(name, _)| *name).collect();
            self.d.error(
                fields.at,
                &fields.path_of("name"),
                format!("required; known: {}", known.join(", ")),
            );
            return None;
        }
        let kind = self.value(&fields, "name", |r, n, p| r.choice(n, p, "shape", kinds))?;
        Some((fields, kind))
    }

    fn simple_shape(&mut self, fields: &Fields<'a>, kind: Kind, more: &[&str]) -> Option<ShapeSpec> {
        let keys: &[&str] = match kind {
            Kind::Circle => &CIRCLE_KEYS,
            Kind::Rectangle => &RECTANGLE_KEYS,
            Kind::Polygon | Kind::Linestring => &POLYGON_KEYS,
            Kind::Compound => &COMPOUND_KEYS,
        };
        self.finish(fields, &[keys, more].concat(), Strictness::Lenient);
        let wheelbase =
            |r: &mut Self| r.value(fields, "wheelbase", |r, n, p| r.limited(n, p, Limit::Positive));
        match kind {
            Kind::Circle => {
                let radius = self.number_or(fields, "radius", Limit::Positive, RADIUS);
                let center = self.value(fields, "center", |r, n, p| r.array(n, p, Limit::Any));
                let (center, wheelbase) = (center.unwrap_or([0.0; 2]), wheelbase(self));
                if self.flag_or(fields, "random_shape", false) {
                    let radius = self.range_or(fields, "radius_range", Limit::Positive, [0.1, 1.0]);
                    return Some(ShapeSpec::RandomCircle { radius, center, wheelbase });
                }
                self.made(fields, "radius", Shape::circle(radius, center, wheelbase))
            }
            Kind::Rectangle => {
                let length = self.number_or(fields, "length", Limit::Positive, 1.0);
                let width = self.number_or(fields, "width", Limit::Positive, 1.0);
                let wheelbase = wheelbase(self);
                self.made(fields, "length", Shape::rectangle(length, width, wheelbase))
            }
            _ => self.ring(fields, kind == Kind::Linestring),
        }
    }

    fn ring(&mut self, fields: &Fields<'a>, open: bool) -> Option<ShapeSpec> {
        if self.flag_or(fields, "random_shape", false) {
            return Some(self.random_polygon(fields, open));
        }
        let what = if open { "linestring" } else { "polygon" };
        if fields.get("vertices").is_none() {
            let unless = if open { "" } else { " unless random_shape is true" };
            self.d.error(fields.at, &fields.path_of("vertices"), format!("required for {what}{unless}"));
            return None;
        }
        let vertices = self.value(fields, "vertices", Self::points)?;
        let shape = if open { Shape::linestring(vertices) } else { Shape::polygon(vertices) };
        self.made(fields, "vertices", shape)
    }

    fn points(&mut self, node: &'a Node, path: &str) -> Option<Vec<Point>> {
        let Some(items) = node.items() else {
            self.d.mismatch(node, path, "a list of points [x, y]");
            return None;
        };
        let read: Vec<Option<Point>> = items
            .iter()
            .enumerate()
            .map(|(i, item)| self.array(item, &format!("{path}[{i}]"), Limit::Any))
            .collect();
        read.into_iter().collect()
    }

    fn random_polygon(&mut self, fields: &Fields<'a>, open: bool) -> ShapeSpec {
        let is_convex = self.flag_or(fields, "is_convex", open);
        let center = self.value(fields, "center_range", |r, n, p| r.array(n, p, Limit::Any));
        let spikeyness = self.range_or(fields, "spikeyness_range", Limit::Share, [0.0, 1.0]);
        let vertices = self.range_or(fields, "num_vertices_range", Limit::Positive, [4.0, 10.0]);
        let [low, high] = vertices.map(|n| n as i64);
        let is_whole = vertices.iter().all(|n| n.fract() == 0.0);
        if !is_whole || low < 3 || high <= low || high > MAX_RANDOM_VERTICES {
            let key = "num_vertices_range";
            let message = format!(
                "must be two whole numbers of 3 to {MAX_RANDOM_VERTICES}, the second, which is excluded, the larger"
            );
            self.d.error(fields.key_at(key), &fields.path_of(key), message);
        }
        ShapeSpec::RandomPolygon {
            open,
            center: center.unwrap_or([0.0; 4]),
            avg_radius: self.range_or(fields, "avg_radius_range", Limit::Positive, [0.1, 1.0]),
            irregularity: self.range_or(fields, "irregularity_range", Limit::Share, [0.0, 1.0]),
            spikeyness: if is_convex { [0.0; 2] } else { spikeyness },
            vertices: [low, high].map(|n| n.clamp(0, MAX_RANDOM_VERTICES) as u32),
        }
    }

    fn range_or(&mut self, fields: &Fields<'a>, key: &str, limit: Limit, default: [f64; 2]) -> [f64; 2] {
        self.value(fields, key, |r, n, p| r.range(n, p, limit)).unwrap_or(default)
    }

    fn compound(&mut self, fields: &Fields<'a>) -> Option<ShapeSpec> {
        self.finish(fields, &COMPOUND_KEYS, Strictness::Lenient);
        let path = fields.path_of("parts");
        let Some(node) = fields.get("parts") else {
            self.d.error(
                fields.at,
                &path,
                "required for compound: a list of circle, polygon or rectangle mappings",
            );
            return None;
        };
        let items = node.items().unwrap_or_default();
        if items.is_empty() || items.len() > MAX_PARTS {
            self.d.mismatch(node, &path, &format!("a list of 1 to {MAX_PARTS} parts"));
            return None;
        }
        let parts: Vec<Option<(Shape, [f64; 3])>> =
            items.iter().enumerate().map(|(i, item)| self.part(item, &format!("{path}[{i}]"))).collect();
        let parts: Option<Vec<_>> = parts.into_iter().collect();
        self.made(fields, "parts", Shape::compound(&parts?))
    }

    fn part(&mut self, node: &'a Node, path: &str) -> Option<(Shape, [f64; 3])> {
        let (fields, kind) = self.shape_kind(node, path, &PART_KINDS)?;
        if fields.has("color") {
            let message = "a part has no colour of its own; give the object one";
            self.d.error(fields.key_at("color"), &fields.path_of("color"), message);
        }
        let pose = match fields.get("pose") {
            Some(_) => self.value(&fields, "pose", |r, n, p| r.array(n, p, Limit::Any)),
            None => Some([0.0; 3]),
        };
        match self.simple_shape(&fields, kind, &PART_KEYS)? {
            ShapeSpec::Fixed(shape) => Some((Arc::unwrap_or_clone(shape), pose?)),
            _ => {
                let key = "random_shape";
                self.d.error(fields.key_at(key), &fields.path_of(key), "a part cannot be random");
                None
            }
        }
    }

    /// A shape that could be made, or why it could not.
    fn made(
        &mut self,
        fields: &Fields<'a>,
        key: &str,
        shape: Result<Shape, ShapeError>,
    ) -> Option<ShapeSpec> {
        match shape {
            Ok(shape) => Some(ShapeSpec::Fixed(Arc::new(shape))),
            Err(error) => {
                let key = match &error {
                    ShapeError::Size { what, .. } if fields.has(what) => what,
                    ShapeError::Coordinate { .. } if fields.has("center") => "center",
                    _ => key,
                };
                self.d.error(fields.key_at(key), &fields.path_of(key), error.to_string());
                None
            }
        }
    }
}
