//! Half planes of allowed velocities and the linear programmes over them (van den Berg, Guy, Lin & Manocha 2011; the incremental programmes of
//! de Berg et al., Computational Geometry, chapter 4, in the given order, so that a result can be repeated).
//!
//! Geometry alone: nothing here knows an object.

use super::sfm::length;
use crate::Point;

/// Lines with at most this between their directions are parallel.
const PARALLEL: f64 = 1e-5;

/// What lies to the left of a line through `point` along the unit vector `direction`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct HalfPlane {
    pub(super) point: Point,
    pub(super) direction: Point,
}

pub(super) fn cross(a: Point, b: Point) -> f64 {
    a[0] * b[1] - a[1] * b[0]
}

pub(super) fn dot(a: Point, b: Point) -> f64 {
    a[0] * b[0] + a[1] * b[1]
}

pub(super) fn minus(a: Point, b: Point) -> Point {
    [a[0] - b[0], a[1] - b[1]]
}

/// `a + share * b`.
pub(super) fn plus(a: Point, share: f64, b: Point) -> Point {
    [a[0] + share * b[0], a[1] + share * b[1]]
}

/// The unit vector of `a`; along x where there is none.
pub(super) fn unit(a: Point) -> Point {
    let length = length(a);
    if length > 0.0 { a.map(|axis| axis / length) } else { [1.0, 0.0] }
}

impl HalfPlane {
    /// How far `velocity` is outside, negative inside.
    fn excess(&self, velocity: Point) -> f64 {
        cross(self.direction, minus(self.point, velocity))
    }

    /// The part of the line within a circle of radius `most` around the origin and within the half planes `others`, as distances from
    /// `point`.
    fn within(&self, most: f64, others: &[Self]) -> Option<[f64; 2]> {
        let middle = -dot(self.point, self.direction);
        let square = middle * middle + most * most - dot(self.point, self.point);
        if square < 0.0 {
            return None;
        }
        let (mut low, mut high) = (middle - square.sqrt(), middle + square.sqrt());
        for other in others {
            let sine = cross(self.direction, other.direction);
            let offset = cross(other.direction, minus(self.point, other.point));
            if sine.abs() <= PARALLEL {
                if offset < 0.0 {
                    return None;
                }
            } else if sine >= 0.0 {
                high = high.min(offset / sine);
            } else {
                low = low.max(offset / sine);
            }
            if low > high {
                return None;
            }
        }
        Some([low, high])
    }
}

/// The allowed velocity of at most `most` that is nearest to `wanted`. When there is none, the one that breaks a half plane by the least.
/// `projected` is memory.
pub(super) fn nearest(
    planes: &[HalfPlane],
    most: f64,
    wanted: Point,
    projected: &mut Vec<HalfPlane>,
) -> Point {
    let start = if dot(wanted, wanted) > most * most { unit(wanted).map(|axis| axis * most) } else { wanted };
    let along = |plane: &HalfPlane, [low, high]: [f64; 2]| {
        // No clamp, which would panic at no number.
        dot(plane.direction, minus(wanted, plane.point)).max(low).min(high)
    };
    match solve(planes, most, start, along) {
        Ok(velocity) => velocity,
        Err((failed, velocity)) => least_bad(planes, failed, most, velocity, projected),
    }
}

/// The velocity of at most `most` that is furthest in `direction`.
fn furthest(planes: &[HalfPlane], most: f64, direction: Point) -> Option<Point> {
    let along = |plane: &HalfPlane, [low, high]: [f64; 2]| {
        if dot(direction, plane.direction) > 0.0 { high } else { low }
    };
    solve(planes, most, direction.map(|axis| axis * most), along).ok()
}

/// Adds the half planes one after the other. On each line that the best velocity so far breaks, `along` says what is best. Fails with the
/// half plane that leaves nothing and the best velocity before it.
fn solve(
    planes: &[HalfPlane],
    most: f64,
    start: Point,
    along: impl Fn(&HalfPlane, [f64; 2]) -> f64,
) -> Result<Point, (usize, Point)> {
    let mut velocity = start;
    for (number, plane) in planes.iter().enumerate() {
        if plane.excess(velocity) > 0.0 {
            let Some(range) = plane.within(most, &planes[..number]) else {
                return Err((number, velocity));
            };
            velocity = plus(plane.point, along(plane, range), plane.direction);
        }
    }
    Ok(velocity)
}

/// The smallest excess over all half planes, beginning with the first that could not be kept.
fn least_bad(
    planes: &[HalfPlane],
    failed: usize,
    most: f64,
    mut velocity: Point,
    projected: &mut Vec<HalfPlane>,
) -> Point {
    let mut excess = 0.0;
    for (number, plane) in planes.iter().enumerate().skip(failed) {
        if plane.excess(velocity) <= excess {
            continue;
        }
        // Where both are broken alike.
        projected.clear();
        for other in &planes[..number] {
            let sine = cross(plane.direction, other.direction);
            let point = if sine.abs() > PARALLEL {
                let share = cross(other.direction, minus(plane.point, other.point)) / sine;
                plus(plane.point, share, plane.direction)
            } else if dot(plane.direction, other.direction) > 0.0 {
                continue;
            } else {
                plus(plane.point, 0.5, minus(other.point, plane.point))
            };
            projected.push(HalfPlane { point, direction: unit(minus(other.direction, plane.direction)) });
        }
        // Where rounding leaves nothing, what there was stays.
        let inward = [-plane.direction[1], plane.direction[0]];
        velocity = furthest(projected, most, inward).unwrap_or(velocity);
        excess = plane.excess(velocity);
    }
    velocity
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plane(point: Point, angle: f64) -> HalfPlane {
        HalfPlane { point, direction: [angle.cos(), angle.sin()] }
    }

    fn solved(planes: &[HalfPlane], most: f64, wanted: Point) -> Point {
        nearest(planes, most, wanted, &mut Vec::new())
    }

    #[test]
    fn without_half_planes_only_the_speed_is_limited() {
        assert_eq!(solved(&[], 2.0, [0.5, 0.5]), [0.5, 0.5]);
        assert_eq!(solved(&[], 2.0, [3.0, 0.0]), [2.0, 0.0]);
    }

    #[test]
    fn a_wish_outside_a_half_plane_is_moved_to_its_line() {
        // Allowed is y >= 1.
        let found = solved(&[plane([0.0, 1.0], 0.0)], 5.0, [2.0, -3.0]);
        assert!((found[0] - 2.0).abs() < 1e-12 && (found[1] - 1.0).abs() < 1e-12, "{found:?}");
    }

    #[test]
    fn half_planes_without_a_common_point_are_broken_alike() {
        use std::f64::consts::PI;
        // y >= 1 and y <= -1, x free: the middle breaks both by 1.
        let found = solved(&[plane([0.0, 1.0], 0.0), plane([0.0, -1.0], PI)], 5.0, [0.5, 3.0]);
        assert!(found[1].abs() < 1e-9, "{found:?}");
    }
}
