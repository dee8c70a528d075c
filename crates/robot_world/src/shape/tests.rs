use std::f64::consts::TAU;

use proptest::prelude::*;

use super::{MAX_POINTS, Placed, Shape, ShapeError, cross, dot, minus, overlap};
use crate::Point;

/// Boundary segments in the world.
fn edges(placed: &Placed<'_>) -> Vec<[Point; 2]> {
    placed.shape.segments().map(|ends| ends.map(|end| placed.to_world(end))).collect()
}

fn encloses(edges: &[[Point; 2]], [x, y]: Point) -> bool {
    let above = |[a, b]: &&[Point; 2]| {
        (a[1] > y) != (b[1] > y) && x < a[0] + (y - a[1]) / (b[1] - a[1]) * (b[0] - a[0])
    };
    edges.iter().filter(above).count() % 2 == 1
}

fn distance([a, b]: [Point; 2], point: Point) -> f64 {
    let (along, to) = (minus(b, a), minus(point, a));
    let part = (dot(to, along) / dot(along, along)).clamp(0.0, 1.0);
    f64::hypot(to[0] - part * along[0], to[1] - part * along[1])
}

/// How far apart two boundaries are, 0 when they cross.
fn gap(a: &[[Point; 2]], b: &[[Point; 2]]) -> f64 {
    let mut least = f64::INFINITY;
    for p in a {
        for q in b {
            let side = |line: &[Point; 2], point| cross(minus(line[1], line[0]), minus(point, line[0]));
            if side(p, q[0]) * side(p, q[1]) < 0.0 && side(q, p[0]) * side(q, p[1]) < 0.0 {
                return 0.0;
            }
            least = least
                .min(distance(*p, q[0]))
                .min(distance(*p, q[1]))
                .min(distance(*q, p[0]))
                .min(distance(*q, p[1]));
        }
    }
    least
}

fn any_shape() -> impl Strategy<Value = Shape> {
    let star = (4_usize..9, 0.2..1.5_f64, 0.2..1.5_f64).prop_map(|(count, even, odd)| {
        let vertex = |i: usize| {
            let (angle, radius) =
                (i as f64 * TAU / count as f64, if i.is_multiple_of(2) { even } else { odd });
            [radius * angle.cos() + 0.3, radius * angle.sin()]
        };
        Shape::polygon((0..count).map(vertex).collect()).unwrap()
    });
    let line = proptest::collection::vec((-2.0..2.0_f64, -2.0..2.0_f64), 2..5)
        .prop_map(|points| Shape::linestring(points.into_iter().map(|(x, y)| [x, y]).collect()).unwrap());
    let compound = (0.1..1.0_f64, 0.1..1.0_f64, -1.5..1.5_f64).prop_map(|(radius, width, shift)| {
        let bar = Shape::rectangle(1.5, width, None).unwrap();
        let disc = Shape::circle(radius, [0.0; 2], None).unwrap();
        Shape::compound(&[(bar, [0.0; 3]), (disc, [shift, shift, 0.4])]).unwrap()
    });
    prop_oneof![
        (0.05..1.5_f64).prop_map(|radius| Shape::circle(radius, [0.1, 0.0], None).unwrap()),
        (0.1..3.0_f64, 0.1..3.0_f64)
            .prop_map(|(length, width)| Shape::rectangle(length, width, None).unwrap()),
        star,
        line,
        compound,
    ]
}

proptest! {
    #[test]
    fn shapes_overlap_when_their_boundaries_meet_or_one_holds_the_other(
        (a, b) in (any_shape(), any_shape()),
        (x, y, heading, turn) in (-2.5..2.5_f64, -2.5..2.5_f64, -3.2..3.2_f64, -3.2..3.2_f64),
    ) {
        let (a, b) = (Placed::at(&a, [5.0, -3.0, turn]), Placed::at(&b, [5.0 + x, -3.0 + y, heading]));
        let (edges_a, edges_b) = (edges(&a), edges(&b));
        let gap = gap(&edges_a, &edges_b);
        let area = |placed: &Placed<'_>| placed.shape.rings.iter().all(|ring| ring.closed);
        // Parts may lie apart, so that one of them alone is held.
        let within = |edges: &[[Point; 2]], others: &[[Point; 2]]| others.iter().any(|edge| encloses(edges, edge[0]));
        let holds = area(&a) && within(&edges_a, &edges_b) || area(&b) && within(&edges_b, &edges_a);
        // Within rounding of touching either answer is right.
        prop_assume!(gap == 0.0 || gap > 1e-9);
        prop_assert_eq!(overlap(&a, &b, false), gap == 0.0 || holds, "gap {}", gap);
        prop_assert_eq!(overlap(&b, &a, false), gap == 0.0 || holds);
    }

    #[test]
    fn any_points_make_a_polygon_or_an_error_and_its_pieces_fill_it(
        points in proptest::collection::vec((-4_i32..4, -4_i32..4).prop_map(|(x, y)| [f64::from(x), f64::from(y)]), 0..9),
    ) {
        if let Ok(shape) = Shape::polygon(points) {
            let area = |ring: &[Point]| -> f64 {
                (0..ring.len()).map(|i| cross(ring[i], ring[(i + 1) % ring.len()]) / 2.0).sum()
            };
            let pieces: f64 = shape
                .pieces
                .iter()
                .map(|piece| match piece {
                    super::Piece::Polygon(points) => area(points),
                    _ => 0.0,
                })
                .sum();
            prop_assert!((pieces - area(&shape.points)).abs() < 1e-9);
        }
    }
}

#[test]
fn what_is_no_shape_is_an_error_that_says_why() {
    assert!(Shape::circle(f64::NAN, [0.0; 2], None).is_err());
    assert!(Shape::circle(1.0, [f64::INFINITY, 0.0], None).is_err());
    assert!(Shape::rectangle(1e300, 1.0, None).is_err());
    assert!(Shape::rectangle(1.0, 0.0, None).is_err());
    assert!(Shape::rectangle(1.0, 1.0, Some(-1.0)).is_err());
    assert_eq!(Shape::polygon(vec![[0.0; 2]; 5]), Err(ShapeError::TooFew { found: 1, needed: 3 }));
    assert_eq!(Shape::polygon(vec![[0.0, 0.0], [1.0, 1.0], [2.0, 2.0]]), Err(ShapeError::NoArea));
    assert_eq!(
        Shape::linestring(vec![[0.0; 2]; MAX_POINTS + 1]),
        Err(ShapeError::TooMany { found: MAX_POINTS + 1 })
    );
    assert_eq!(Shape::compound(&[]), Err(ShapeError::NoParts));
    let line = Shape::linestring(vec![[0.0, 0.0], [1.0, 0.0]]).unwrap();
    assert_eq!(Shape::compound(&[(line, [0.0; 3])]), Err(ShapeError::Part { part: 0, found: "linestring" }));
    let hourglass = Shape::polygon(vec![[0.0, 0.0], [2.0, 2.0], [2.0, 0.0], [0.0, 2.0]]).unwrap_err();
    assert_eq!(
        hourglass.to_string(),
        "the ring crosses itself: edge 0 ([0, 0] to [2, 2]) meets edge 2 ([2, 0] to [0, 2])"
    );
}

#[test]
fn a_polygon_of_thousands_of_vertices_is_made_and_overlaps() {
    let vertex = |i: u32| {
        let (angle, radius) = (f64::from(i) * TAU / 4000.0, if i.is_multiple_of(2) { 1.0 } else { 1.01 });
        [radius * angle.cos(), radius * angle.sin()]
    };
    let gear = Shape::polygon((0..4000).map(vertex).collect()).unwrap();
    let disc = Shape::circle(0.5, [0.0; 2], None).unwrap();
    assert!(overlap(&Placed::at(&gear, [0.0; 3]), &Placed::at(&disc, [1.4, 0.0, 0.0]), false));
    assert!(!overlap(&Placed::at(&gear, [0.0; 3]), &Placed::at(&disc, [1.6, 0.0, 0.0]), false));
}

#[test]
fn shapes_that_only_touch_overlap_and_those_that_are_nowhere_do_not() {
    let square = Shape::rectangle(1.0, 1.0, None).unwrap();
    let line = Shape::linestring(vec![[0.5, -3.0], [0.5, 3.0]]).unwrap();
    let here = Placed::at(&square, [0.0; 3]);
    assert!(overlap(&here, &Placed::at(&square, [1.0, 1.0, 0.0]), false));
    assert!(overlap(&here, &Placed::at(&line, [0.0; 3]), false));
    assert!(!overlap(&here, &Placed::at(&square, [1.0 + 1e-9, 0.0, 0.0]), false));
    assert!(!overlap(&here, &Placed::at(&square, [f64::NAN, 0.0, 0.0]), false));
    let disc = Shape::circle(0.5, [0.0; 2], None).unwrap();
    let turned =
        |angle: f64| overlap(&Placed::at(&disc, [0.0; 3]), &Placed::at(&disc, [0.9995, 0.0, angle]), false);
    assert!(turned(0.0), "vertex to vertex");
    assert!(overlap(&Placed::at(&disc, [0.0; 3]), &Placed::at(&disc, [1.0, 0.0, 0.3]), true));
}
