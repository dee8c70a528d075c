//! Making shapes, with everything that follows from their points. What cannot be a shape is a [`ShapeError`].

use std::sync::Arc;

use super::crossing::crossing;
use super::enclosing::enclosing_circle;
use super::moments::{Moments, line_centroid, polar_moment};
use super::outline::union;
use super::triangles::convex_pieces;
use super::{Piece, Ring, Shape, ShapeKind, UNIT_CIRCLE, bounds, cross, minus, rotate};
use crate::Point;
use crate::map::Cells;
use crate::spec::MapGrid;

/// Largest coordinate or size of a shape, metres.
pub const MAX_COORDINATE: f64 = 1e6;
/// Most points of one ring, line or compound.
pub const MAX_POINTS: usize = 10_000;
/// Least area of a ring, m^2: anything smaller is a slip of the pen.
const MIN_AREA: f64 = 1e-12;

/// Why something cannot be a shape.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ShapeError {
    /// A size that is not positive, finite and at most [`MAX_COORDINATE`].
    #[error("{what} must be a number above 0 and at most {MAX_COORDINATE}, got {value}")]
    Size {
        /// Which.
        what: &'static str,
        /// What was given.
        value: f64,
    },
    /// A coordinate that is not finite or too large.
    #[error("{what} must be finite and at most {MAX_COORDINATE} from the origin, got [{}, {}]", .value[0], .value[1])]
    Coordinate {
        /// Which.
        what: String,
        /// What was given.
        value: Point,
    },
    /// Too few distinct points.
    #[error("{found} distinct vertices, at least {needed} are needed")]
    TooFew {
        /// Distinct points given.
        found: usize,
        /// Points needed.
        needed: usize,
    },
    /// Too many points.
    #[error("{found} vertices, at most {MAX_POINTS} are allowed")]
    TooMany {
        /// Points given.
        found: usize,
    },
    /// All points are on a line, or nearly so.
    #[error("the vertices enclose no area")]
    NoArea,
    /// Two edges of a ring meet where they should not. An edge is named by its first vertex, counted from 0 in the list as given.
    #[error(
        "the ring crosses itself: edge {first} ([{}, {}] to [{}, {}]) meets edge {second} ([{}, {}] to [{}, {}])",
        .edges[0][0][0], .edges[0][0][1], .edges[0][1][0], .edges[0][1][1], .edges[1][0][0], .edges[1][0][1], .edges[1][1][0], .edges[1][1][1]
    )]
    Crossing {
        /// Lower edge.
        first: usize,
        /// Higher edge.
        second: usize,
        /// Ends of both.
        edges: [[Point; 2]; 2],
    },
    /// A compound without parts.
    #[error("a compound needs at least one part")]
    NoParts,
    /// A part that is not a circle, rectangle or polygon.
    #[error("parts[{part}] is a {found}; a part is a circle, rectangle or polygon")]
    Part {
        /// Which part.
        part: usize,
        /// What it is.
        found: &'static str,
    },
}

impl Shape {
    /// A disc around `center` of the body frame, moved forward by half of `wheelbase` when that is given.
    ///
    /// # Errors
    ///
    /// A radius or wheelbase that is not positive and finite, a centre that is not finite.
    pub fn circle(radius: f64, center: Point, wheelbase: Option<f64>) -> Result<Self, ShapeError> {
        size("radius", radius)?;
        let center = coordinate(|| "center".to_owned(), center)?;
        let center = [center[0] + axle_shift(wheelbase)?, center[1]];
        Ok(Self {
            kind: ShapeKind::Circle { radius, center },
            points: UNIT_CIRCLE
                .iter()
                .map(|[x, y]| [center[0] + radius * x, center[1] + radius * y])
                .collect(),
            rings: vec![ring(0, UNIT_CIRCLE.len(), true)],
            pieces: vec![Piece::Disc { center, radius }],
            piece_discs: vec![(center, radius)],
            centroid: center,
            middle: center,
            radius,
            length: 2.0 * radius,
            width: 2.0 * radius,
            unit_inertia: radius * radius / 2.0,
            wheelbase,
        })
    }

    /// `length` along x and `width` along y, centred, or with its rear axle at the origin when `wheelbase` is given.
    ///
    /// # Errors
    ///
    /// A size that is not positive and finite.
    pub fn rectangle(length: f64, width: f64, wheelbase: Option<f64>) -> Result<Self, ShapeError> {
        size("length", length)?;
        size("width", width)?;
        let shift = axle_shift(wheelbase)?;
        let (rear, front, side) = (shift - length / 2.0, shift + length / 2.0, width / 2.0);
        let corners = vec![[rear, -side], [front, -side], [front, side], [rear, side]];
        if Moments::of(&corners).area <= MIN_AREA {
            return Err(ShapeError::NoArea);
        }
        let pieces = vec![Piece::Polygon(corners.clone())];
        let mut shape = Self::solid(ShapeKind::Rectangle, vec![vec![corners]], pieces);
        // The sums over corners would leave the last digits of these to rounding.
        (shape.centroid, shape.length, shape.width) = ([shift, 0.0], length, width);
        shape.wheelbase = wheelbase;
        Ok(shape)
    }

    /// The inside of a ring of at least three points, in either sense.
    ///
    /// # Errors
    ///
    /// Points that are not finite, too few or too many, without area, or whose edges cross or touch.
    pub fn polygon(vertices: Vec<Point>) -> Result<Self, ShapeError> {
        let (mut points, given) = distinct(vertices, true)?;
        if let Some([first, second]) = crossing(&points) {
            let edge = |i: usize| [points[i], points[(i + 1) % points.len()]];
            let edges = [edge(first), edge(second)];
            return Err(ShapeError::Crossing { first: given[first], second: given[second], edges });
        }
        let area = Moments::of(&points).area;
        if area.abs() <= MIN_AREA {
            return Err(ShapeError::NoArea);
        }
        if area < 0.0 {
            points.reverse();
        }
        let pieces = convex_pieces(&points);
        Ok(Self::solid(ShapeKind::Polygon, vec![vec![points]], pieces))
    }

    /// An open line of at least two points. It may cross itself.
    ///
    /// # Errors
    ///
    /// Points that are not finite, too few or too many.
    pub fn linestring(vertices: Vec<Point>) -> Result<Self, ShapeError> {
        let (points, _) = distinct(vertices, false)?;
        let pieces = points.windows(2).map(|pair| Piece::Segment([pair[0], pair[1]])).collect();
        let centroid = line_centroid(points.windows(2).map(|pair| [pair[0], pair[1]]));
        Ok(Self::of_points(
            ShapeKind::Linestring,
            points,
            |count| vec![ring(0, count, false)],
            pieces,
            centroid,
            None,
        ))
    }

    /// The union of parts, each with its pose x, y, heading in the compound's body frame.
    ///
    /// # Errors
    ///
    /// No parts, a part of another kind than circle, rectangle or polygon, a pose that is not finite, too many points.
    pub fn compound(parts: &[(Self, [f64; 3])]) -> Result<Self, ShapeError> {
        if parts.is_empty() {
            return Err(ShapeError::NoParts);
        }
        let (mut outlines, mut pieces) = (Vec::new(), Vec::new());
        for (number, (part, [x, y, heading])) in parts.iter().enumerate() {
            let found = match part.kind {
                ShapeKind::Circle { .. } | ShapeKind::Rectangle | ShapeKind::Polygon => None,
                ShapeKind::Linestring => Some("linestring"),
                ShapeKind::Compound => Some("compound"),
                ShapeKind::Map(_) => Some("map"),
            };
            if let Some(found) = found {
                return Err(ShapeError::Part { part: number, found });
            }
            coordinate(|| format!("parts[{number}].pose"), [*x, *y])?;
            coordinate(|| format!("parts[{number}].pose"), [*heading, 0.0])?;
            let (sin, cos) = heading.sin_cos();
            let place = |points: &[Point]| -> Vec<Point> {
                points.iter().map(|p| rotate([sin, cos], *p)).map(|p| [p[0] + x, p[1] + y]).collect()
            };
            outlines.push(place(&part.points));
            pieces.extend(part.pieces.iter().map(|piece| match piece {
                Piece::Disc { .. } => Piece::Polygon(place(&part.points)),
                Piece::Polygon(points) => Piece::Polygon(place(points)),
                Piece::Segment(ends) => Piece::Segment([place(ends)[0], place(ends)[1]]),
            }));
        }
        let found = outlines.iter().map(Vec::len).sum();
        if found > MAX_POINTS {
            return Err(ShapeError::TooMany { found });
        }
        let polygons = union(&outlines);
        if polygons.is_empty() {
            return Err(ShapeError::NoArea);
        }
        Ok(Self::solid(ShapeKind::Compound, polygons, pieces))
    }

    /// The outline of the occupied cells of a map; `None` when there are none.
    #[must_use]
    pub fn map(grid: &MapGrid) -> Option<Self> {
        let cells = Cells::new(grid)?;
        let (points, spans) = cells.rings();
        let rings: Vec<Ring> = spans.iter().map(|[start, end]| ring(*start, *end, true)).collect();
        let follower = |[start, end]: [usize; 2], i: usize| if i + 1 == end { start } else { i + 1 };
        let sides =
            spans.iter().flat_map(|span| (span[0]..span[1]).map(|i| [points[i], points[follower(*span, i)]]));
        // A map is its outline: that is where its middle is, too.
        let centroid = line_centroid(sides.clone());
        let pieces = sides.map(Piece::Segment).collect();
        Some(Self::of_points(ShapeKind::Map(Arc::new(cells)), points, |_| rings, pieces, centroid, None))
    }

    /// A shape of polygons, each an outer ring followed by its holes.
    fn solid(kind: ShapeKind, polygons: Vec<Vec<Vec<Point>>>, pieces: Vec<Piece>) -> Self {
        let total =
            polygons.iter().flatten().fold(Moments::default(), |sum, ring| sum.plus(&Moments::of(ring)));
        let centroid = total.centroid();
        let unit_inertia = match polygons.as_slice() {
            [only] => Some(polar_moment(&only[0], centroid) / Moments::of(&only[0]).area),
            _ => None,
        };
        let mut rings = Vec::new();
        let mut points = Vec::new();
        for line in polygons.into_iter().flatten() {
            rings.push(ring(points.len(), points.len() + line.len(), true));
            points.extend(line);
        }
        Self::of_points(kind, points, |_| rings, pieces, centroid, unit_inertia)
    }

    fn of_points(
        kind: ShapeKind,
        points: Vec<Point>,
        rings: impl FnOnce(usize) -> Vec<Ring>,
        pieces: Vec<Piece>,
        centroid: Point,
        unit_inertia: Option<f64>,
    ) -> Self {
        let (middle, radius) = enclosing_circle(&points);
        let [x0, y0, x1, y1] = bounds(points.iter().copied());
        Self {
            kind,
            rings: rings(points.len()),
            points,
            piece_discs: pieces.iter().map(disc_around).collect(),
            pieces,
            centroid,
            middle,
            radius,
            length: x1 - x0,
            width: y1 - y0,
            unit_inertia: unit_inertia.unwrap_or(radius * radius / 2.0),
            wheelbase: None,
        }
    }
}

fn ring(start: usize, end: usize, closed: bool) -> Ring {
    Ring { start: start as u32, end: end as u32, closed }
}

fn disc_around(piece: &Piece) -> (Point, f64) {
    match piece {
        Piece::Disc { center, radius } => (*center, *radius),
        Piece::Polygon(points) => enclosing_circle(points),
        Piece::Segment(ends) => enclosing_circle(ends),
    }
}

fn size(what: &'static str, value: f64) -> Result<(), ShapeError> {
    if value > 0.0 && value <= MAX_COORDINATE { Ok(()) } else { Err(ShapeError::Size { what, value }) }
}

fn axle_shift(wheelbase: Option<f64>) -> Result<f64, ShapeError> {
    wheelbase.map_or(Ok(0.0), |wheelbase| size("wheelbase", wheelbase).map(|()| wheelbase / 2.0))
}

/// `value`, with numbers too small to matter made zero: triangulation would refuse them.
fn coordinate(what: impl FnOnce() -> String, value: Point) -> Result<Point, ShapeError> {
    if value.iter().all(|v| v.abs() <= MAX_COORDINATE) {
        Ok(value.map(|v| if v.abs() < 1e-30 { 0.0 } else { v }))
    } else {
        Err(ShapeError::Coordinate { what: what(), value })
    }
}

/// Points without repetitions in a row, each with its place in the list as given.
fn distinct(vertices: Vec<Point>, closed: bool) -> Result<(Vec<Point>, Vec<usize>), ShapeError> {
    if vertices.len() > MAX_POINTS {
        return Err(ShapeError::TooMany { found: vertices.len() });
    }
    let (mut points, mut given) = (Vec::with_capacity(vertices.len()), Vec::with_capacity(vertices.len()));
    for (i, vertex) in vertices.into_iter().enumerate() {
        let point = coordinate(|| format!("vertices[{i}]"), vertex)?;
        if points.last() != Some(&point) {
            points.push(point);
            given.push(i);
        }
    }
    if closed && points.len() > 1 && points.first() == points.last() {
        points.pop();
        given.pop();
    }
    let needed = if closed { 3 } else { 2 };
    if points.len() < needed {
        return Err(ShapeError::TooFew { found: points.len(), needed });
    }
    if closed
        && points.iter().all(|point| cross(minus(points[1], points[0]), minus(*point, points[0])) == 0.0)
    {
        return Err(ShapeError::NoArea);
    }
    Ok((points, given))
}
