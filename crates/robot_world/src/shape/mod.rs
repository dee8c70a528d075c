//! Shapes in the body frame and where they are in the world (robot-world specification, section 6).
//!
//! A [`Shape`] never changes; objects share it. Nothing here moves anything.

mod build;
mod crossing;
mod enclosing;
mod moments;
mod outline;
mod overlap;
#[cfg(test)]
mod tests;
mod triangles;

use std::f64::consts::TAU;
use std::sync::{Arc, LazyLock};

use crate::Point;
use crate::map::Cells;

pub use build::{MAX_COORDINATE, MAX_POINTS, ShapeError};
pub use overlap::overlap;

/// Vertices of the regular polygon that stands for a disc.
pub const CIRCLE_VERTICES: usize = 64;

/// Angle between two of them as seen from the centre.
pub(crate) const CIRCLE_STEP: f64 = TAU / CIRCLE_VERTICES as f64;

/// The vertices of a disc of radius 1, counter-clockwise from angle 0.
pub(crate) static UNIT_CIRCLE: LazyLock<[Point; CIRCLE_VERTICES]> = LazyLock::new(|| {
    std::array::from_fn(|i| {
        let (sin, cos) = (i as f64 * CIRCLE_STEP).sin_cos();
        [cos, sin]
    })
});

/// What a file said a shape is.
#[derive(Clone, Debug, PartialEq)]
pub enum ShapeKind {
    /// A disc, approximated by an inscribed 64-gon except in the contact solver.
    Circle {
        /// Metres.
        radius: f64,
        /// Centre in the body frame.
        center: Point,
    },
    /// Length along x, width along y.
    Rectangle,
    /// A simple ring.
    Polygon,
    /// An open line of no width.
    Linestring,
    /// The union of its parts.
    Compound,
    /// Outline of the occupied cells of a map. It stands where the map is: a pose does not move it.
    Map(Arc<Cells>),
}

impl ShapeKind {
    /// The word for it in files.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Circle { .. } => "circle",
            Self::Rectangle => "rectangle",
            Self::Polygon => "polygon",
            Self::Linestring => "linestring",
            Self::Compound => "compound",
            Self::Map(_) => "map",
        }
    }
}

/// A line of the boundary: points of [`Shape::points`] from `start` to `end`, closed unless of a linestring.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ring {
    /// First point.
    pub start: u32,
    /// One past the last point.
    pub end: u32,
    /// Whether the last point is joined with the first.
    pub closed: bool,
}

/// A convex part of a shape, for contacts and overlap.
#[derive(Clone, Debug, PartialEq)]
pub enum Piece {
    /// An exact disc.
    Disc {
        /// In the body frame.
        center: Point,
        /// Metres.
        radius: f64,
    },
    /// A convex polygon, counter-clockwise.
    Polygon(Vec<Point>),
    /// A segment of no width.
    Segment([Point; 2]),
}

/// A shape in the body frame with everything that follows from it.
#[derive(Clone, Debug, PartialEq)]
pub struct Shape {
    /// What it is.
    pub kind: ShapeKind,
    /// Points of the boundary lines: what lidar beams meet. The union's outline for compounds. Rings run counter-clockwise around what is solid.
    pub points: Vec<Point>,
    /// Boundary lines.
    pub rings: Vec<Ring>,
    /// Convex pieces whose union is the shape: contacts (a circle is one exact disc). Of a map: its outline, one segment per cell side.
    pub pieces: Vec<Piece>,
    /// A disc around every piece, in their order: centre in the body frame, radius in metres.
    pub piece_discs: Vec<(Point, f64)>,
    /// Centroid: of the area, for a linestring of its length.
    pub centroid: Point,
    /// Centre of the smallest enclosing circle, in the body frame.
    pub middle: Point,
    /// Radius of the smallest enclosing circle, metres.
    pub radius: f64,
    /// Size of the bounding box in the body frame, metres.
    pub length: f64,
    /// See [`Shape::length`].
    pub width: f64,
    /// Moment of inertia about the centroid for a mass of 1 kg, m^2.
    pub unit_inertia: f64,
    /// Distance of the axles, when the file gave one to the shape.
    pub wheelbase: Option<f64>,
}

impl Shape {
    /// Corners of the boundary segments, ring by ring.
    pub fn segments(&self) -> impl Iterator<Item = [Point; 2]> + '_ {
        self.rings.iter().flat_map(|ring| {
            let points = &self.points[ring.start as usize..ring.end as usize];
            let closing = ring.closed.then(|| [points[points.len() - 1], points[0]]);
            points.windows(2).map(|pair| [pair[0], pair[1]]).chain(closing)
        })
    }
}

/// A shape at a pose.
#[derive(Clone, Copy, Debug)]
pub struct Placed<'a> {
    /// In its body frame.
    pub shape: &'a Shape,
    /// Where the body frame's origin is.
    pub position: Point,
    /// Sine and cosine of the heading.
    pub rotation: [f64; 2],
}

impl<'a> Placed<'a> {
    /// `shape` at the pose x, y, heading.
    #[must_use]
    pub fn at(shape: &'a Shape, pose: [f64; 3]) -> Self {
        let (sin, cos) = pose[2].sin_cos();
        Self { shape, position: [pose[0], pose[1]], rotation: [sin, cos] }
    }

    /// A point of the body frame in the world.
    #[must_use]
    pub fn to_world(&self, point: Point) -> Point {
        let [x, y] = rotate(self.rotation, point);
        [self.position[0] + x, self.position[1] + y]
    }

    /// Centroid in the world.
    #[must_use]
    pub fn centroid(&self) -> Point {
        self.to_world(self.shape.centroid)
    }

    /// Bounding box in the world: min x, min y, max x, max y. Of a circle: that of the disc, whose polygon lies within.
    #[must_use]
    pub fn bounds(&self) -> [f64; 4] {
        match &self.shape.kind {
            ShapeKind::Circle { radius, center } => {
                let [x, y] = self.to_world(*center);
                [x - radius, y - radius, x + radius, y + radius]
            }
            ShapeKind::Map(cells) => cells.bounds(),
            _ => bounds(self.shape.points.iter().map(|point| self.to_world(*point))),
        }
    }
}

/// `point` turned by the angle whose sine and cosine are given.
pub(crate) fn rotate([sin, cos]: [f64; 2], [x, y]: Point) -> Point {
    [cos * x - sin * y, sin * x + cos * y]
}

/// `point` turned back.
pub(crate) fn rotate_back([sin, cos]: [f64; 2], [x, y]: Point) -> Point {
    [cos * x + sin * y, cos * y - sin * x]
}

pub(crate) fn dot(a: Point, b: Point) -> f64 {
    a[0] * b[0] + a[1] * b[1]
}

pub(crate) fn cross(a: Point, b: Point) -> f64 {
    a[0] * b[1] - a[1] * b[0]
}

pub(crate) fn minus(a: Point, b: Point) -> Point {
    [a[0] - b[0], a[1] - b[1]]
}

/// Bounding box of points: min x, min y, max x, max y.
pub(crate) fn bounds(points: impl Iterator<Item = Point>) -> [f64; 4] {
    points.fold([f64::INFINITY, f64::INFINITY, f64::NEG_INFINITY, f64::NEG_INFINITY], |b, [x, y]| {
        [b[0].min(x), b[1].min(y), b[2].max(x), b[3].max(y)]
    })
}
