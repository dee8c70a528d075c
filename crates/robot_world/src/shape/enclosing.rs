//! The smallest circle around points (Welzl 1991, New Results and New Trends in Computer Science, LNCS 555; here without recursion).

use super::{cross, dot, minus};
use crate::Point;

/// Centre and radius. Zero for no points.
pub(super) fn enclosing_circle(points: &[Point]) -> (Point, f64) {
    let hull = shuffled(hull(points));
    let Some(&first) = hull.first() else { return ([0.0; 2], 0.0) };
    let mut circle = (first, 0.0);
    for i in 1..hull.len() {
        if within(circle, hull[i]) {
            continue;
        }
        circle = (hull[i], 0.0);
        for j in 0..i {
            if within(circle, hull[j]) {
                continue;
            }
            circle = of_two(hull[i], hull[j]);
            for k in 0..j {
                if !within(circle, hull[k]) {
                    circle = of_three(hull[i], hull[j], hull[k]);
                }
            }
        }
    }
    circle
}

/// Corners of the convex hull, counter-clockwise (Andrew's monotone chain).
fn hull(points: &[Point]) -> Vec<Point> {
    // Adding zero makes a negative zero an equal of the positive one also in the order.
    let mut sorted: Vec<Point> = points.iter().map(|point| point.map(|value| value + 0.0)).collect();
    sorted.sort_by(|a, b| a[0].total_cmp(&b[0]).then(a[1].total_cmp(&b[1])));
    sorted.dedup();
    if sorted.len() < 3 {
        return sorted;
    }
    let mut hull: Vec<Point> = Vec::with_capacity(sorted.len());
    let mut chain = |points: &mut dyn Iterator<Item = &Point>| {
        let start = hull.len();
        for point in points {
            while hull.len() >= start + 2
                && cross(
                    minus(hull[hull.len() - 1], hull[hull.len() - 2]),
                    minus(*point, hull[hull.len() - 2]),
                ) <= 0.0
            {
                hull.pop();
            }
            hull.push(*point);
        }
        hull.pop();
    };
    chain(&mut sorted.iter());
    chain(&mut sorted.iter().rev());
    hull
}

/// The points in an order without pattern, so that the search takes linear time; the same order every time.
fn shuffled(mut points: Vec<Point>) -> Vec<Point> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    for i in (1..points.len()).rev() {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        points.swap(i, ((state >> 33) % (i as u64 + 1)) as usize);
    }
    points
}

fn within((center, radius): (Point, f64), point: Point) -> bool {
    f64::hypot(point[0] - center[0], point[1] - center[1]) <= radius * (1.0 + 1e-12)
}

fn of_two(a: Point, b: Point) -> (Point, f64) {
    ([a[0].midpoint(b[0]), a[1].midpoint(b[1])], f64::hypot(b[0] - a[0], b[1] - a[1]) / 2.0)
}

fn of_three(a: Point, b: Point, c: Point) -> (Point, f64) {
    let (ab, ac) = (minus(b, a), minus(c, a));
    let double = 2.0 * cross(ab, ac);
    if double == 0.0 {
        let pairs = [of_two(a, b), of_two(a, c), of_two(b, c)];
        return pairs.into_iter().fold(pairs[0], |best, next| if next.1 > best.1 { next } else { best });
    }
    let (bb, cc) = (dot(ab, ab), dot(ac, ac));
    let offset = [(ac[1] * bb - ab[1] * cc) / double, (ab[0] * cc - ac[0] * bb) / double];
    ([a[0] + offset[0], a[1] + offset[1]], f64::hypot(offset[0], offset[1]))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The smallest circle through two or three of the points that holds all of them.
    fn brute_force(points: &[Point]) -> f64 {
        let mut best = f64::INFINITY;
        let mut offer = |circle: (Point, f64)| {
            let holds = |p: &Point| f64::hypot(p[0] - circle.0[0], p[1] - circle.0[1]) <= circle.1 + 1e-9;
            if points.iter().all(holds) {
                best = best.min(circle.1);
            }
        };
        for (i, a) in points.iter().enumerate() {
            for (j, b) in points[..i].iter().enumerate() {
                offer(of_two(*a, *b));
                points[..j].iter().for_each(|c| offer(of_three(*a, *b, *c)));
            }
        }
        best
    }

    proptest! {
        #[test]
        fn the_circle_holds_all_points_and_none_is_smaller(
            points in proptest::collection::vec((-5.0..5.0_f64, -5.0..5.0_f64).prop_map(|(x, y)| [x, y]), 2..14),
            grid in any::<bool>(),
        ) {
            let points: Vec<Point> = points.into_iter().map(|p| if grid { p.map(f64::round) } else { p }).collect();
            let (center, radius) = enclosing_circle(&points);
            for p in &points {
                prop_assert!(f64::hypot(p[0] - center[0], p[1] - center[1]) <= radius + 1e-9);
            }
            let least = brute_force(&points);
            prop_assert!(points.iter().all(|p| *p == points[0]) || (radius - least).abs() < 1e-7, "{radius} against {least}");
        }
    }
}
