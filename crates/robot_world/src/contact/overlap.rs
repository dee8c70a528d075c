//! Overlap of two convex pieces: how deep, along which normal, at which point (robot-world specification, section 12.5).
//!
//! Separating axes over edge normals. Pure geometry: nothing here knows objects, masses or time.

use crate::Point;
use crate::shape::{dot, minus};

/// Pieces up to this far apart count as touching, metres.
pub(super) const TOLERANCE: f64 = 1e-5;
/// Vertices this near the extreme one belong to the touching feature, metres.
const FEATURE: f64 = 1e-7;

/// A convex piece in the world.
#[derive(Clone, Copy, Debug)]
pub(super) enum Convex<'a> {
    /// An exact disc.
    Disc { center: Point, radius: f64 },
    /// A convex polygon, or a segment of two points, with its unit edge normals (one for a segment).
    Ring { points: &'a [Point], normals: &'a [Point] },
}

/// How two pieces a and b overlap.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Overlap {
    /// Unit vector from b to a.
    pub(super) normal: Point,
    /// Metres; negative for pieces that touch across a gap of at most [`TOLERANCE`].
    pub(super) depth: f64,
    /// Middle of the touching features.
    pub(super) point: Point,
}

/// `point + along * direction`.
pub(super) fn along(point: Point, direction: Point, along: f64) -> Point {
    [point[0] + direction[0] * along, point[1] + direction[1] * along]
}

/// The vector's direction; `None` for one too short to have any.
pub(super) fn unit(vector: Point) -> Option<Point> {
    let length = vector[0].hypot(vector[1]);
    (length > 0.0 && length.is_finite()).then(|| [vector[0] / length, vector[1] / length])
}

/// The overlap of two pieces, `None` when they are farther apart than [`TOLERANCE`].
pub(super) fn overlap(a: &Convex<'_>, b: &Convex<'_>) -> Option<Overlap> {
    if let (&Convex::Disc { center: pa, radius: ra }, &Convex::Disc { center: pb, radius: rb }) = (a, b) {
        return discs(pa, ra, pb, rb);
    }
    let mut best: Option<(f64, Point)> = None;
    for axis in axes(a, b).chain(axes(b, a)) {
        let ([low_a, high_a], [low_b, high_b]) = (a.project(axis), b.project(axis));
        let (down, up) = (high_a - low_b, high_b - low_a);
        let depth = down.min(up);
        // Written so that a number that is none separates.
        if !(down >= -TOLERANCE && up >= -TOLERANCE) {
            return None;
        }
        if best.is_none_or(|(least, _)| depth < least) {
            let normal = if up <= down { axis } else { [-axis[0], -axis[1]] };
            best = Some((depth, normal));
        }
    }
    let (depth, normal) = best?;
    Some(Overlap { normal, depth, point: point(a, b, normal) })
}

fn discs(pa: Point, ra: f64, pb: Point, rb: f64) -> Option<Overlap> {
    let offset = minus(pa, pb);
    let distance = offset[0].hypot(offset[1]);
    let depth = ra + rb - distance;
    (depth >= -TOLERANCE).then(|| {
        let normal = if distance > 0.0 { [offset[0] / distance, offset[1] / distance] } else { [1.0, 0.0] };
        Overlap { normal, depth, point: along(pb, normal, rb - depth / 2.0) }
    })
}

/// The axes that `piece` brings along: its edge normals, or for a disc the direction from the other's nearest vertex.
fn axes<'a>(piece: &Convex<'a>, other: &Convex<'_>) -> impl Iterator<Item = Point> + use<'a> {
    let (normals, toward): (&[Point], _) = match (piece, other) {
        (Convex::Ring { normals, .. }, _) => (normals, None),
        (&Convex::Disc { center, .. }, Convex::Ring { points, .. }) => {
            let square = |p: &Point| (center[0] - p[0]).powi(2) + (center[1] - p[1]).powi(2);
            let nearest = points.iter().min_by(|p, q| square(p).total_cmp(&square(q)));
            (&[], nearest.and_then(|p| unit(minus(center, *p))))
        }
        (Convex::Disc { .. }, Convex::Disc { .. }) => (&[], None),
    };
    normals.iter().copied().chain(toward)
}

/// Middle of the features of a and b that face each other.
fn point(a: &Convex<'_>, b: &Convex<'_>, normal: Point) -> Point {
    let tangent = [-normal[1], normal[0]];
    let (low, [start_a, end_a]) = a.feature([-normal[0], -normal[1]], tangent);
    let (high, [start_b, end_b]) = b.feature(normal, tangent);
    let height = (high - low) / 2.0;
    let (start, end) = (start_a.max(start_b), end_a.min(end_b));
    let side = if start <= end { (start + end) / 2.0 } else { (start_a + end_a + start_b + end_b) / 4.0 };
    [normal[0] * height + tangent[0] * side, normal[1] * height + tangent[1] * side]
}

impl Convex<'_> {
    /// Least and largest coordinate along a unit vector.
    fn project(&self, axis: Point) -> [f64; 2] {
        match *self {
            Convex::Disc { center, radius } => {
                let middle = dot(center, axis);
                [middle - radius, middle + radius]
            }
            Convex::Ring { points, .. } => {
                points.iter().fold([f64::INFINITY, f64::NEG_INFINITY], |[low, high], &p| {
                    let value = dot(p, axis);
                    [low.min(value), high.max(value)]
                })
            }
        }
    }

    /// The extreme coordinate in a direction, and the interval of the extreme feature along `tangent`.
    fn feature(&self, direction: Point, tangent: Point) -> (f64, [f64; 2]) {
        match *self {
            Convex::Disc { center, radius } => {
                let side = dot(center, tangent);
                (dot(center, direction) + radius, [side, side])
            }
            Convex::Ring { points, .. } => {
                let extreme = points.iter().fold(f64::NEG_INFINITY, |most, &p| most.max(dot(p, direction)));
                let interval = points.iter().filter(|&&p| dot(p, direction) >= extreme - FEATURE).fold(
                    [f64::INFINITY, f64::NEG_INFINITY],
                    |[low, high], &p| {
                        let side = dot(p, tangent);
                        [low.min(side), high.max(side)]
                    },
                );
                (extreme, interval)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A ring with its normals.
    struct Owned(Vec<Point>, Vec<Point>);

    impl Owned {
        fn new(points: &[Point]) -> Self {
            let count = if points.len() == 2 { 1 } else { points.len() };
            let normals = (0..count)
                .filter_map(|i| {
                    let (p, q) = (points[i], points[(i + 1) % points.len()]);
                    unit([q[1] - p[1], p[0] - q[0]])
                })
                .collect();
            Self(points.to_vec(), normals)
        }
        fn rectangle(x: f64, y: f64, length: f64, width: f64, turn: f64) -> Self {
            let (sin, cos) = turn.sin_cos();
            let corner = |u: f64, v: f64| {
                let (p, q) = (u * length / 2.0, v * width / 2.0);
                [x + p * cos - q * sin, y + p * sin + q * cos]
            };
            Self::new(&[corner(-1.0, -1.0), corner(1.0, -1.0), corner(1.0, 1.0), corner(-1.0, 1.0)])
        }
        fn convex(&self) -> Convex<'_> {
            Convex::Ring { points: &self.0, normals: &self.1 }
        }
    }

    fn disc(x: f64, y: f64, radius: f64) -> Convex<'static> {
        Convex::Disc { center: [x, y], radius }
    }

    fn near(found: Overlap, normal: Point, depth: f64, point: Point) {
        let close = |a: f64, b: f64| (a - b).abs() < 1e-12;
        assert!(
            close(found.normal[0], normal[0])
                && close(found.normal[1], normal[1])
                && close(found.depth, depth)
                && close(found.point[0], point[0])
                && close(found.point[1], point[1]),
            "{found:?}, expected {normal:?} {depth} {point:?}"
        );
    }

    #[test]
    fn discs_meet_on_the_line_of_their_centres() {
        near(overlap(&disc(1.0, 0.0, 0.6), &disc(0.0, 0.0, 0.5)).unwrap(), [1.0, 0.0], 0.1, [0.45, 0.0]);
        near(overlap(&disc(2.0, 2.0, 0.5), &disc(2.0, 2.0, 0.3)).unwrap(), [1.0, 0.0], 0.8, [1.9, 2.0]);
        assert_eq!(overlap(&disc(1.0, 0.0, 0.5), &disc(0.0, 0.0, 0.4999)), None);
        let touching = overlap(&disc(1.000_005, 0.0, 0.5), &disc(0.0, 0.0, 0.5)).unwrap();
        assert!((touching.depth + 5e-6).abs() < 1e-12, "{touching:?}");
    }

    #[test]
    fn a_disc_meets_a_face_at_its_foot_and_a_corner_at_the_corner() {
        let square = Owned::rectangle(0.0, 0.0, 2.0, 2.0, 0.0);
        let face = overlap(&disc(1.4, 0.3, 0.5), &square.convex()).unwrap();
        near(face, [1.0, 0.0], 0.1, [0.95, 0.3]);
        // Past the corner by (0.3, 0.4): distance 0.5 of radius 0.6.
        let corner = overlap(&square.convex(), &disc(1.3, 1.4, 0.6)).unwrap();
        near(corner, [-0.6, -0.8], 0.1, [1.0 - 0.05 * 0.6, 1.0 - 0.05 * 0.8]);
        assert_eq!(overlap(&disc(1.3, 1.4, 0.49), &square.convex()), None);
    }

    #[test]
    fn faces_meet_in_the_middle_of_what_they_share() {
        let (a, b) = (Owned::rectangle(0.0, 0.0, 2.0, 2.0, 0.0), Owned::rectangle(1.9, 1.5, 2.0, 2.0, 0.0));
        // Shared part of the faces: y from 0.5 to 1; depth 0.1 in x.
        near(overlap(&a.convex(), &b.convex()).unwrap(), [-1.0, 0.0], 0.1, [0.95, 0.75]);
        near(overlap(&b.convex(), &a.convex()).unwrap(), [1.0, 0.0], 0.1, [0.95, 0.75]);
    }

    #[test]
    fn features_that_share_no_part_meet_between_their_ends() {
        let flat = Owned::new(&[[-1.0, 0.0], [0.0, 0.0]]);
        let tip = Owned::new(&[[0.1, -0.05], [1.1, 1.0], [-0.9, 1.0]]);
        let [x, y] = point(&tip.convex(), &flat.convex(), [0.0, 1.0]);
        assert!((x - (0.1 + 0.1 - 1.0 + 0.0) / 4.0).abs() < 1e-12 && (y + 0.025).abs() < 1e-12, "{x} {y}");
    }

    #[test]
    fn a_corner_on_a_segment_is_pushed_off_its_nearer_side() {
        let line = Owned::new(&[[0.0, 1.0], [10.0, 1.0]]);
        let found = overlap(&disc(5.0, 1.2, 0.3), &line.convex()).unwrap();
        near(found, [0.0, 1.0], 0.1, [5.0, 0.95]);
        let found = overlap(&line.convex(), &disc(5.0, 0.8, 0.3)).unwrap();
        near(found, [0.0, 1.0], 0.1, [5.0, 1.05]);
    }

    #[test]
    fn numbers_that_are_none_touch_nothing() {
        let square = Owned::rectangle(0.0, 0.0, 1.0, 1.0, 0.0);
        for hostile in [f64::NAN, f64::INFINITY, -f64::INFINITY, 1e308] {
            assert_eq!(overlap(&disc(hostile, 0.0, 0.5), &square.convex()), None);
            assert_eq!(overlap(&square.convex(), &disc(0.0, hostile, 0.5)), None);
            assert_eq!(overlap(&disc(hostile, 0.0, 0.5), &disc(0.0, 0.0, 0.5)), None);
        }
    }

    fn piece() -> impl Strategy<Value = (bool, [f64; 5])> {
        (any::<bool>(), (-1.0..1.0, -1.0..1.0, 0.1..1.0, 0.1..1.0, -3.2..3.2))
            .prop_map(|(round, (x, y, l, w, t))| (round, [x, y, l, w, t]))
    }

    fn with<R>(piece: (bool, [f64; 5]), shift: Point, use_it: impl FnOnce(&Convex<'_>) -> R) -> R {
        let [x, y, length, width, turn] = piece.1;
        if piece.0 {
            use_it(&disc(x + shift[0], y + shift[1], length / 2.0))
        } else {
            use_it(&Owned::rectangle(x + shift[0], y + shift[1], length, width, turn).convex())
        }
    }

    proptest! {
        #[test]
        fn moving_a_by_the_depth_along_the_normal_parts_the_pieces(a in piece(), b in piece()) {
            let meet = |shift| with(a, shift, |a| with(b, [0.0; 2], |b| overlap(a, b)));
            if let Some(found) = meet([0.0; 2]) {
                let away = found.depth + 2.0 * TOLERANCE;
                prop_assert_eq!(meet([found.normal[0] * away, found.normal[1] * away]), None);
                let just = found.depth - TOLERANCE;
                prop_assert!(meet([found.normal[0] * just, found.normal[1] * just]).is_some());
            }
        }

        #[test]
        fn swapping_the_pieces_turns_the_normal(a in piece(), b in piece()) {
            let one = with(a, [0.0; 2], |a| with(b, [0.0; 2], |b| overlap(a, b)));
            let two = with(a, [0.0; 2], |a| with(b, [0.0; 2], |b| overlap(b, a)));
            prop_assert_eq!(one.is_some(), two.is_some());
            if let (Some(one), Some(two)) = (one, two) {
                prop_assert!((one.depth - two.depth).abs() < 1e-12);
            }
        }
    }
}
