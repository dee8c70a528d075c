//! Whether a ring crosses or touches itself.

use robust::{Coord, orient2d};

use super::{dot, minus};
use crate::Point;

/// The first two edges of a ring that share a point they should not, the lower first. Edge i runs from point i to the next one.
///
/// Signs are exact (Shewchuk 1997, Discrete & Computational Geometry 18), so a ring that passes can be triangulated.
pub(super) fn crossing(ring: &[Point]) -> Option<[usize; 2]> {
    let count = ring.len();
    let edge = |i: usize| [ring[i], ring[(i + 1) % count]];
    let left = |i: usize| edge(i)[0][0].min(edge(i)[1][0]);
    let right = |i: usize| edge(i)[0][0].max(edge(i)[1][0]);
    let mut order: Vec<usize> = (0..count).collect();
    order.sort_by(|a, b| left(*a).total_cmp(&left(*b)).then(a.cmp(b)));
    let mut found: Option<[usize; 2]> = None;
    for (place, &i) in order.iter().enumerate() {
        for &j in order[place + 1..].iter().take_while(|j| left(**j) <= right(i)) {
            let pair = [i.min(j), i.max(j)];
            if found.is_none_or(|best| pair < best) && meet(ring, pair) {
                found = Some(pair);
            }
        }
    }
    found
}

fn meet(ring: &[Point], [low, high]: [usize; 2]) -> bool {
    let count = ring.len();
    let (a, b) = (ring[low], ring[low + 1]);
    let (c, d) = (ring[high], ring[(high + 1) % count]);
    if high == low + 1 {
        // They share a point, and must not fold back.
        return side(a, b, d) == 0.0 && dot(minus(b, a), minus(d, c)) < 0.0;
    }
    if (high + 1) % count == low {
        return side(c, d, b) == 0.0 && dot(minus(d, c), minus(b, a)) < 0.0;
    }
    let (ac, ad, ca, cb) = (side(a, b, c), side(a, b, d), side(c, d, a), side(c, d, b));
    if ac == 0.0 && on(a, b, c)
        || ad == 0.0 && on(a, b, d)
        || ca == 0.0 && on(c, d, a)
        || cb == 0.0 && on(c, d, b)
    {
        return true;
    }
    (ac > 0.0) != (ad > 0.0) && (ca > 0.0) != (cb > 0.0) && ac != 0.0 && ad != 0.0 && ca != 0.0 && cb != 0.0
}

/// On which side of the line from `a` to `b` the point lies: positive to the left.
fn side(a: Point, b: Point, point: Point) -> f64 {
    let [a, b, point] = [a, b, point].map(|[x, y]| Coord { x, y });
    orient2d(a, b, point)
}

/// Whether a point of the line through `a` and `b` is between them.
fn on(a: Point, b: Point, point: Point) -> bool {
    (0..2).all(|k| point[k] >= a[k].min(b[k]) && point[k] <= a[k].max(b[k]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_hourglass_crosses_where_its_diagonals_meet() {
        assert_eq!(crossing(&[[0.0, 0.0], [2.0, 2.0], [2.0, 0.0], [0.0, 2.0]]), Some([0, 2]));
    }

    #[test]
    fn a_vertex_on_another_edge_and_an_edge_that_folds_back_count() {
        assert_eq!(crossing(&[[0.0, 0.0], [4.0, 0.0], [4.0, 2.0], [2.0, 0.0], [0.0, 2.0]]), Some([0, 2]));
        assert_eq!(crossing(&[[0.0, 0.0], [4.0, 0.0], [2.0, 0.0], [2.0, 2.0]]), Some([0, 1]));
        assert_eq!(crossing(&[[0.0, 0.0], [2.0, 0.0], [2.0, 2.0], [4.0, 0.0]]), Some([0, 3]));
    }

    #[test]
    fn a_simple_ring_with_points_in_a_row_does_not_cross() {
        assert_eq!(crossing(&[[0.0, 0.0], [1.0, 0.0], [2.0, 0.0], [2.0, 2.0], [1.0, 0.5], [0.0, 2.0]]), None);
        assert_eq!(crossing(&[[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]]), None);
    }
}
