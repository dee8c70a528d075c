//! What the beams of one scanner meet first (robot-world specification, section 13.1).
//!
//! Everything is done in the scanner's frame: the origin is the scanner, and the directions of the beams do not change. An object is looked at by
//! the few beams that may meet it.

use std::ops::Range;

use super::beams::{Beams, bearing};
use super::targets::Targets;
use crate::Point;
use crate::map::Cells;
use crate::objects::Objects;
use crate::shape::{
    CIRCLE_STEP, CIRCLE_VERTICES, Shape, ShapeKind, UNIT_CIRCLE, cross, dot, minus, rotate, rotate_back,
};

/// Nearer hits are ignored, metres: a scanner may sit on an edge.
const NEAREST: f64 = 1e-9;

/// No object.
pub(super) const NOTHING: u32 = u32::MAX;

/// The nearest hit of every beam.
#[derive(Clone, Debug, Default)]
pub(super) struct Hits {
    /// Metres; infinite for a miss.
    pub(super) distance: Vec<f64>,
    /// Row of the object, or [`NOTHING`].
    pub(super) row: Vec<u32>,
    /// Vertices of an object in the scanner's frame, with their bearings.
    vertices: Vec<(Point, f64)>,
}

/// Where a scanner is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Eye {
    pub(super) position: Point,
    /// Sine and cosine of the heading.
    pub(super) rotation: [f64; 2],
    /// Metres.
    pub(super) range: f64,
    /// Row of the object that carries it and does not see itself.
    pub(super) carrier: u32,
}

impl Hits {
    /// Casts all beams.
    pub(super) fn cast(
        &mut self,
        eye: &Eye,
        beams: &Beams,
        targets: &Targets,
        objects: &Objects,
        exact_circles: bool,
    ) {
        self.distance.clear();
        self.distance.resize(beams.directions.len(), f64::INFINITY);
        self.row.clear();
        self.row.resize(beams.directions.len(), NOTHING);
        targets.within(eye.position, eye.range, |row, middle, radius| {
            if row != eye.carrier {
                self.look_at(eye, beams, objects, row, (middle, radius), exact_circles);
            }
        });
        for &row in targets.maps.iter().filter(|row| **row != eye.carrier) {
            if let ShapeKind::Map(cells) = &objects.shape[row as usize].kind {
                self.look_at_map(eye, beams, cells, row);
            }
        }
    }

    /// Keeps the nearer hit, of equal ones that of the lower row.
    #[inline]
    fn offer(&mut self, beam: usize, range: f64, distance: f64, row: u32) {
        let best = self.distance[beam];
        if (NEAREST..=range).contains(&distance)
            && (distance < best || distance == best && row < self.row[beam])
        {
            self.distance[beam] = distance;
            self.row[beam] = row;
        }
    }

    fn look_at(
        &mut self,
        eye: &Eye,
        beams: &Beams,
        objects: &Objects,
        row: u32,
        disc: (Point, f64),
        exact: bool,
    ) {
        let index = row as usize;
        let shape = &*objects.shape[index];
        let (middle, radius) = (rotate_back(eye.rotation, minus(disc.0, eye.position)), disc.1);
        let distance = f64::hypot(middle[0], middle[1]);
        let circle = matches!(shape.kind, ShapeKind::Circle { .. });
        let runs = if distance > radius {
            // An upper bound of the arc sine that is exact at both ends.
            let sine = radius / distance;
            let half = sine * (1.0 + 0.5708 * sine * sine);
            let toward = bearing(middle);
            beams.between(toward - half, toward + half)
        } else {
            beams.all()
        };
        if runs.iter().all(Range::is_empty) {
            return;
        }
        // The object's rotation as the scanner sees it.
        let turned = rotate_back(eye.rotation, [objects.rotation[index][1], objects.rotation[index][0]]);
        let rotation = [turned[1], turned[0]];
        if circle && exact {
            for beam in runs.into_iter().flatten() {
                let near = disc_ahead(beams.directions[beam], middle, radius);
                near.into_iter().flatten().for_each(|distance| self.offer(beam, eye.range, distance, row));
            }
        } else if circle && distance > radius {
            let regular = Regular::new(middle, radius, rotation);
            for beam in runs.into_iter().flatten() {
                if let Some(distance) =
                    regular.meet(beams.directions[beam], self.distance[beam].min(eye.range))
                {
                    self.offer(beam, eye.range, distance, row);
                }
            }
        } else {
            let position = minus([objects.state[index][0], objects.state[index][1]], eye.position);
            self.look_at_lines(eye, beams, shape, (rotate_back(eye.rotation, position), rotation), row);
        }
    }

    /// Boundary lines, each edge by the beams between its ends.
    fn look_at_lines(&mut self, eye: &Eye, beams: &Beams, shape: &Shape, pose: (Point, [f64; 2]), row: u32) {
        let (position, rotation) = pose;
        let mut vertices = std::mem::take(&mut self.vertices);
        for ring in &shape.rings {
            let points = &shape.points[ring.start as usize..ring.end as usize];
            vertices.clear();
            vertices.extend(points.iter().map(|point| {
                let [x, y] = rotate(rotation, *point);
                let vertex = [x + position[0], y + position[1]];
                (vertex, bearing(vertex))
            }));
            if ring.closed {
                vertices.push(vertices[0]);
            }
            for pair in vertices.windows(2) {
                let [(a, low), (b, high)] = [pair[0], pair[1]];
                let turn = crate::wrap(high - low);
                // An edge that passes close by the scanner spans half of its view: which half is not worth telling.
                let close = !low.is_finite() || !high.is_finite() || turn.abs() > 3.0;
                let runs =
                    if close { beams.all() } else { beams.between(low + turn.min(0.0), low + turn.max(0.0)) };
                for beam in runs.into_iter().flatten() {
                    let distance = edge_ahead(beams.directions[beam], a, b);
                    self.offer(beam, eye.range, distance, row);
                }
            }
        }
        self.vertices = vertices;
    }

    /// The sides of a map's cells, followed along each beam.
    fn look_at_map(&mut self, eye: &Eye, beams: &Beams, cells: &Cells, row: u32) {
        for beam in 0..beams.directions.len() {
            let direction = rotate(eye.rotation, beams.directions[beam]);
            let limit = self.distance[beam].min(eye.range);
            if let Some(distance) = cells.first_side(eye.position, direction, NEAREST, limit) {
                self.offer(beam, eye.range, distance, row);
            }
        }
    }
}

/// Where a beam from the origin enters and leaves a disc.
fn disc_ahead(direction: Point, center: Point, radius: f64) -> Option<[f64; 2]> {
    let (along, beside) = (dot(direction, center), cross(direction, center));
    let square = radius * radius - beside * beside;
    (square >= 0.0).then(|| [along - square.sqrt(), along + square.sqrt()])
}

/// Where a beam from the origin meets the edge from `a` to `b`; infinite when it does not.
///
/// Which side of the beam a vertex lies on is decided the same way for both of its edges, so that no beam slips through between them.
#[inline]
fn edge_ahead(direction: Point, a: Point, b: Point) -> f64 {
    let (side_a, side_b) = (cross(direction, a), cross(direction, b));
    if side_a == 0.0 && side_b == 0.0 {
        // The beam runs along the edge.
        return [dot(direction, a), dot(direction, b)]
            .into_iter()
            .filter(|d| *d >= NEAREST)
            .fold(f64::INFINITY, f64::min);
    }
    if side_a > 0.0 && side_b > 0.0 || side_a < 0.0 && side_b < 0.0 {
        return f64::INFINITY;
    }
    cross(a, minus(b, a)) / (side_b - side_a)
}

/// A circle's 64-gon as seen from outside.
struct Regular {
    center: Point,
    radius: f64,
    rotation: [f64; 2],
    /// The scanner in the circle's frame, in units of the radius.
    origin: Point,
}

impl Regular {
    fn new(center: Point, radius: f64, rotation: [f64; 2]) -> Self {
        let [x, y] = rotate_back(rotation, center);
        Self { center, radius, rotation, origin: [-x / radius, -y / radius] }
    }

    /// Where a beam enters, when that is nearer than `limit`.
    #[inline]
    fn meet(&self, direction: Point, limit: f64) -> Option<f64> {
        let (along, beside) = (dot(direction, self.center), cross(direction, self.center));
        let square = self.radius * self.radius - beside * beside;
        if square < 0.0 {
            return None;
        }
        let entry = along - square.sqrt();
        // The polygon lies within the disc, and the disc within reach or not at all.
        if entry > limit || along < 0.0 {
            return None;
        }
        let local = rotate_back(self.rotation, direction);
        let scale = entry / self.radius;
        let at = bearing([self.origin[0] + scale * local[0], self.origin[1] + scale * local[1]]);
        let unit = &*UNIT_CIRCLE;
        let side = |vertex: usize| cross(local, minus(unit[vertex % CIRCLE_VERTICES], self.origin));
        // From the edge under the point of entry to the one whose ends lie on both sides. On the near side of the polygon, sides fall from vertex
        // to vertex; beyond its silhouette they rise, and a beam that leads there misses.
        let mut edge = ((at / CIRCLE_STEP).floor() + CIRCLE_VERTICES as f64) as usize % CIRCLE_VERTICES;
        let nearer = if beside > 0.0 { CIRCLE_VERTICES - 1 } else { 1 };
        let (mut first, mut second) = (side(edge), side(edge + 1));
        for _ in 0..CIRCLE_VERTICES / 4 {
            if second < first {
                break;
            }
            edge = (edge + nearer) % CIRCLE_VERTICES;
            (first, second) = (side(edge), side(edge + 1));
        }
        for _ in 0..CIRCLE_VERTICES {
            if second >= first {
                return None;
            }
            if first < 0.0 {
                edge = (edge + CIRCLE_VERTICES - 1) % CIRCLE_VERTICES;
                (first, second) = (side(edge), first);
            } else if second > 0.0 {
                edge = (edge + 1) % CIRCLE_VERTICES;
                (first, second) = (second, side(edge + 1));
            } else {
                let (a, b) = (unit[edge], unit[(edge + 1) % CIRCLE_VERTICES]);
                return Some(self.radius * cross(minus(a, self.origin), minus(b, a)) / (second - first));
            }
        }
        None
    }
}
