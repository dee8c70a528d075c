//! Area, centroid and second moment of rings, by Green's theorem.

use super::{cross, dot, minus};
use crate::Point;

/// Integrals over the inside of a ring, positive when it runs counter-clockwise. Those of rings with holes add up.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Moments {
    /// m^2.
    pub(super) area: f64,
    /// Integral of the position, m^3.
    first: Point,
}

impl Moments {
    pub(super) fn of(ring: &[Point]) -> Self {
        // About a point of the ring first: far from the origin the sums would cancel.
        let Some(&base) = ring.first() else { return Self::default() };
        let (mut area, mut first) = (0.0, [0.0; 2]);
        for i in 0..ring.len() {
            let (a, b) = (minus(ring[i], base), minus(ring[(i + 1) % ring.len()], base));
            let double = cross(a, b);
            area += double / 2.0;
            first = [first[0] + double * (a[0] + b[0]) / 6.0, first[1] + double * (a[1] + b[1]) / 6.0];
        }
        Self { area, first: [first[0] + area * base[0], first[1] + area * base[1]] }
    }

    pub(super) fn plus(&self, other: &Self) -> Self {
        Self {
            area: self.area + other.area,
            first: [self.first[0] + other.first[0], self.first[1] + other.first[1]],
        }
    }

    pub(super) fn centroid(&self) -> Point {
        [self.first[0] / self.area, self.first[1] / self.area]
    }
}

/// Integral of the squared distance to `center` over the inside of a ring, m^4.
pub(super) fn polar_moment(ring: &[Point], center: Point) -> f64 {
    let term = |i: usize| {
        let (a, b) = (minus(ring[i], center), minus(ring[(i + 1) % ring.len()], center));
        cross(a, b) * (dot(a, a) + dot(a, b) + dot(b, b)) / 12.0
    };
    (0..ring.len()).map(term).sum()
}

/// Centroid of segments by their lengths.
pub(super) fn line_centroid(segments: impl Iterator<Item = [Point; 2]>) -> Point {
    let (mut length, mut sum) = (0.0, [0.0; 2]);
    for pair in segments {
        let part = f64::hypot(pair[1][0] - pair[0][0], pair[1][1] - pair[0][1]);
        length += part;
        sum = [
            sum[0] + part * (pair[0][0] + pair[1][0]) / 2.0,
            sum[1] + part * (pair[0][1] + pair[1][1]) / 2.0,
        ];
    }
    [sum[0] / length, sum[1] / length]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_square_far_from_the_origin_has_its_textbook_moments() {
        let square = [[1000.0, 500.0], [1002.0, 500.0], [1002.0, 502.0], [1000.0, 502.0]];
        let moments = Moments::of(&square);
        assert_eq!(moments.area, 4.0);
        assert_eq!(moments.centroid(), [1001.0, 501.0]);
        assert!((polar_moment(&square, [1001.0, 501.0]) - 4.0 * 8.0 / 12.0).abs() < 1e-12);
    }

    #[test]
    fn a_hole_counts_negative() {
        let outer = [[0.0, 0.0], [4.0, 0.0], [4.0, 2.0], [0.0, 2.0]];
        let hole = [[0.5, 0.5], [0.5, 1.5], [1.5, 1.5], [1.5, 0.5]];
        let sum = Moments::of(&outer).plus(&Moments::of(&hole));
        assert_eq!(sum.area, 7.0);
        assert!((sum.centroid()[0] - 15.0 / 7.0).abs() < 1e-12);
    }

    #[test]
    fn a_bent_line_has_its_centroid_by_length() {
        let segments = [[[0.0, 0.0], [2.0, 0.0]], [[2.0, 0.0], [2.0, 6.0]]];
        assert_eq!(line_centroid(segments.into_iter()), [14.0 / 8.0, 18.0 / 8.0]);
    }
}
