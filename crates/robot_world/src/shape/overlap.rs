//! Whether two shapes share a point (robot-world specification, sections 11.1 and 14.2). Touching counts.

use std::f64::consts::PI;

use super::{
    CIRCLE_STEP, CIRCLE_VERTICES, Piece, Placed, Shape, ShapeKind, UNIT_CIRCLE, cross, dot, minus, rotate,
    rotate_back,
};
use crate::Point;
use crate::map::Cells;

/// Whether `a` and `b` share a point. Circles are the 64-gons of scans, or true discs with `exact_circles`.
///
/// Convex pieces are compared along the normals of their edges; two circles need one normal of each, since a regular polygon looks the same
/// along all of its own.
#[must_use]
pub fn overlap(a: &Placed<'_>, b: &Placed<'_>, exact_circles: bool) -> bool {
    if let ShapeKind::Map(cells) = &a.shape.kind {
        return on_map(b, a, cells, exact_circles);
    }
    if let ShapeKind::Map(cells) = &b.shape.kind {
        return on_map(a, b, cells, exact_circles);
    }
    let between = minus(b.to_world(b.shape.middle), a.to_world(a.shape.middle));
    if let (ShapeKind::Circle { radius: ra, .. }, ShapeKind::Circle { radius: rb, .. }) =
        (&a.shape.kind, &b.shape.kind)
    {
        return discs(between, (*ra, a.rotation), (*rb, b.rotation), exact_circles);
    }
    // Rounding of the enclosing circles must not decide about touching.
    let reach = (a.shape.radius + b.shape.radius) * (1.0 + 1e-9);
    let near = dot(between, between) <= reach * reach;
    // Written so that a pose that is not a number overlaps nothing.
    if !near {
        return false;
    }
    let (pieces_a, pieces_b) = (convex(a, exact_circles), convex(b, exact_circles));
    let offset = minus(b.position, a.position);
    pieces_a.clone().any(|(piece_a, (center_a, radius_a))| {
        let center_a = rotate(a.rotation, center_a);
        pieces_b.clone().any(|(piece_b, (center_b, radius_b))| {
            let center_b = rotate(b.rotation, center_b);
            let apart = [offset[0] + center_b[0] - center_a[0], offset[1] + center_b[1] - center_a[1]];
            let reach = (radius_a + radius_b) * (1.0 + 1e-9);
            dot(apart, apart) <= reach * reach && meet((piece_a, a.rotation), (piece_b, b.rotation), offset)
        })
    })
}

/// Two circles, `between` from the centre of the first to that of the second.
fn discs(between: Point, a: (f64, [f64; 2]), b: (f64, [f64; 2]), exact: bool) -> bool {
    let distance = f64::hypot(between[0], between[1]);
    if exact || distance <= (a.0 + b.0) * inner() {
        return distance <= a.0 + b.0;
    }
    let bearing = f64::atan2(between[1], between[0]);
    let headings = [a.1, b.1].map(|[sin, cos]| f64::atan2(sin, cos));
    // How far every edge normal of one polygon is from the nearest vertex of the other.
    let support = off_lattice(headings[0] - headings[1] + CIRCLE_STEP / 2.0).cos();
    let separated = |near: f64, far: f64, heading: f64| {
        let off_normal = off_lattice(bearing - heading - CIRCLE_STEP / 2.0);
        distance * off_normal.cos() > near * inner() + far * support
    };
    distance <= a.0 + b.0 && !separated(a.0, b.0, headings[0]) && !separated(b.0, a.0, headings[1])
}

/// Inner radius of the 64-gon in a disc of radius 1.
fn inner() -> f64 {
    (PI / CIRCLE_VERTICES as f64).cos()
}

/// `angle` less the nearest multiple of the angle between vertices.
fn off_lattice(angle: f64) -> f64 {
    angle - (angle / CIRCLE_STEP).round() * CIRCLE_STEP
}

/// A convex piece as the overlap test takes it.
#[derive(Clone, Copy)]
enum Convex<'a> {
    Points(&'a [Point]),
    /// The regular polygon in a disc.
    Regular(Point, f64),
    Disc(Point, f64),
}

fn convex<'a>(
    placed: &Placed<'a>,
    exact_circles: bool,
) -> impl Iterator<Item = (Convex<'a>, (Point, f64))> + Clone {
    let shape: &'a Shape = placed.shape;
    shape
        .pieces
        .iter()
        .zip(&shape.piece_discs)
        .map(move |(piece, disc)| (piece_of(piece, exact_circles), *disc))
}

fn piece_of(piece: &Piece, exact_circles: bool) -> Convex<'_> {
    match piece {
        Piece::Disc { center, radius } if exact_circles => Convex::Disc(*center, *radius),
        Piece::Disc { center, radius } => Convex::Regular(*center, *radius),
        Piece::Polygon(points) => Convex::Points(points),
        Piece::Segment(ends) => Convex::Points(ends),
    }
}

/// Two convex pieces in their body frames, `offset` from the origin of the first frame to that of the second.
fn meet(a: (Convex<'_>, [f64; 2]), b: (Convex<'_>, [f64; 2]), offset: Point) -> bool {
    match (a.0, b.0) {
        (Convex::Disc(center, radius), Convex::Points(points)) => {
            let center = rotate(a.1, center);
            let local = rotate_back(b.1, minus(center, offset));
            distance_to(points, local) <= radius
        }
        (Convex::Points(_), Convex::Disc(..)) => meet(b, a, [-offset[0], -offset[1]]),
        (Convex::Regular(center, radius), Convex::Points(points)) => {
            let local = rotate_back(b.1, minus(rotate(a.1, center), offset));
            let distance = distance_to(points, local);
            distance <= radius && (distance <= radius * inner() || along_normals(a, b, offset))
        }
        (Convex::Points(_), Convex::Regular(..)) => meet(b, a, [-offset[0], -offset[1]]),
        _ => along_normals(a, b, offset),
    }
}

/// No edge normal of either piece separates them.
fn along_normals(a: (Convex<'_>, [f64; 2]), b: (Convex<'_>, [f64; 2]), offset: Point) -> bool {
    let apart = |normal: Point| {
        let low = -support(b.0, rotate_back(b.1, [-normal[0], -normal[1]]));
        dot(normal, offset) + low > support(a.0, rotate_back(a.1, normal))
    };
    let apart_either_way = |normal: Point| apart(normal) || apart([-normal[0], -normal[1]]);
    ![a, b].into_iter().any(|(piece, rotation)| match piece {
        Convex::Points([start, end]) => {
            // A line has a normal to either side, and two lines in a row are separated along themselves.
            let along = rotate(rotation, minus(*end, *start));
            apart_either_way([along[1], -along[0]]) || apart_either_way(along)
        }
        Convex::Points(points) => (0..points.len()).any(|i| {
            let along = minus(points[(i + 1) % points.len()], points[i]);
            apart_either_way(rotate(rotation, [along[1], -along[0]]))
        }),
        Convex::Regular(..) => {
            let unit = &*UNIT_CIRCLE;
            (0..CIRCLE_VERTICES / 2).any(|i| {
                let middle = [unit[i][0] + unit[i + 1][0], unit[i][1] + unit[i + 1][1]];
                apart_either_way(rotate(rotation, middle))
            })
        }
        Convex::Disc(..) => false,
    })
}

/// How far a piece reaches along a direction of its body frame, times the direction's length.
fn support(piece: Convex<'_>, direction: Point) -> f64 {
    match piece {
        Convex::Points(points) => {
            points.iter().map(|point| dot(*point, direction)).fold(f64::NEG_INFINITY, f64::max)
        }
        Convex::Regular(center, radius) => {
            let off_vertex = off_lattice(f64::atan2(direction[1], direction[0]));
            dot(center, direction) + radius * off_vertex.cos() * f64::hypot(direction[0], direction[1])
        }
        Convex::Disc(center, radius) => {
            dot(center, direction) + radius * f64::hypot(direction[0], direction[1])
        }
    }
}

/// Distance of a point to a convex polygon or segment; 0 inside.
fn distance_to(points: &[Point], point: Point) -> f64 {
    let count = points.len();
    let edges = if count == 2 { 1 } else { count };
    let (mut inside, mut least) = (count > 2, f64::INFINITY);
    for i in 0..edges {
        let (start, end) = (points[i], points[(i + 1) % count]);
        let (along, to) = (minus(end, start), minus(point, start));
        inside &= cross(along, to) >= 0.0;
        let part = (dot(to, along) / dot(along, along)).clamp(0.0, 1.0);
        least = least.min(f64::hypot(to[0] - part * along[0], to[1] - part * along[1]));
    }
    if inside { 0.0 } else { least }
}

/// Distance of a point of the world to a shape; 0 inside.
fn distance(shape: &Placed<'_>, point: Point, exact_circles: bool) -> f64 {
    let local = rotate_back(shape.rotation, minus(point, shape.position));
    let distances = shape.shape.pieces.iter().map(|piece| match piece_of(piece, exact_circles) {
        Convex::Points(points) => distance_to(points, local),
        Convex::Disc(center, radius) => {
            (f64::hypot(local[0] - center[0], local[1] - center[1]) - radius).max(0.0)
        }
        Convex::Regular(center, radius) => {
            let [x, y] = minus(local, center);
            // The nearest edge is the one in whose sector the point lies: turn that sector onto the x axis.
            let off_middle = off_lattice(f64::atan2(y, x) - CIRCLE_STEP / 2.0);
            let (sin, cos) = off_middle.sin_cos();
            let from_center = f64::hypot(x, y);
            let half_side = radius * (CIRCLE_STEP / 2.0).sin();
            let beyond = from_center * cos - radius * inner();
            if beyond <= 0.0 {
                0.0
            } else {
                f64::hypot(beyond, (from_center * sin.abs() - half_side).max(0.0))
            }
        }
    });
    distances.fold(f64::INFINITY, f64::min)
}

/// The map's rule: near the centre of an occupied cell under the shape's bounding box, or on the outline.
fn on_map(shape: &Placed<'_>, map: &Placed<'_>, cells: &Cells, exact_circles: bool) -> bool {
    let bounds = match &shape.shape.kind {
        ShapeKind::Map(other) => other.bounds(),
        ShapeKind::Circle { .. } if !exact_circles => {
            super::bounds(shape.shape.points.iter().map(|p| shape.to_world(*p)))
        }
        _ => shape.bounds(),
    };
    let [columns, rows] = cells.under(bounds);
    let near = cells.cell()[0].max(cells.cell()[1]) / 2.0;
    let mut segments = Vec::new();
    let centers = rows.flat_map(|row| columns.clone().map(move |column| [column, row]));
    if centers
        .filter(|[column, row]| cells.is_occupied(*column, *row))
        .any(|[column, row]| distance(shape, cells.center(column, row), exact_circles) <= near)
    {
        return true;
    }
    cells.segments_near(bounds, &mut segments);
    segments.iter().any(|segment| {
        let outline = piece_of(&map.shape.pieces[*segment as usize], exact_circles);
        convex(shape, exact_circles).any(|(piece, _)| {
            meet((piece, shape.rotation), (outline, [0.0, 1.0]), [-shape.position[0], -shape.position[1]])
        })
    })
}
