//! Which velocities lead into something: cones of the velocity plane (robot-world specification, section 9.2; Fiorini & Shiller 1998,
//! van den Berg, Lin & Manocha 2008, Snape et al. 2011).
//!
//! Geometry alone: nothing here knows an object.

use std::f64::consts::{FRAC_PI_2, PI};

use super::{Disc, Ego, Mode};
use crate::Point;

/// Velocities `c` with `cross(left, c - apex) <= 0` and `cross(right, c - apex) >= 0`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Cone {
    pub(super) apex: Point,
    /// Direction of the edge on the left, a unit vector.
    pub(super) left: Point,
    /// Direction of the edge on the right, a unit vector.
    pub(super) right: Point,
}

pub(super) fn cross(a: Point, b: Point) -> f64 {
    a[0] * b[1] - a[1] * b[0]
}

pub(super) fn minus(a: Point, b: Point) -> Point {
    [a[0] - b[0], a[1] - b[1]]
}

pub(super) fn length(a: Point) -> f64 {
    (a[0] * a[0] + a[1] * a[1]).sqrt()
}

fn angle(a: Point) -> f64 {
    a[1].atan2(a[0])
}

fn direction(angle: f64) -> Point {
    let (sine, cosine) = angle.sin_cos();
    [cosine, sine]
}

impl Cone {
    /// What a disc forbids.
    pub(super) fn of_disc(ego: &Ego, disc: &Disc, mode: Mode) -> Self {
        let to = minus(disc.center, ego.position);
        let reach = ego.radius + disc.radius;
        let half = (reach / length(to).max(reach)).clamp(-1.0, 1.0).asin();
        let middle = angle(to);
        let (left, right) = (direction(middle + half), direction(middle - half));
        let shared = [0, 1].map(|axis| (ego.velocity[axis] + disc.velocity[axis]) / 2.0);
        let apex = match mode {
            Mode::Rvo => shared,
            Mode::Vo => disc.velocity,
            Mode::Hrvo => {
                let gap = minus(shared, disc.velocity);
                let opening = if PI - 2.0 * half == 0.0 { 0.01 } else { PI - 2.0 * half };
                let along = length(gap) * (middle + half - angle(gap)).sin() / opening.sin();
                if cross(to, minus(ego.velocity, shared)) <= 0.0 {
                    [0, 1].map(|axis| shared[axis] - along * right[axis])
                } else {
                    [0, 1].map(|axis| disc.velocity[axis] + along * right[axis])
                }
            }
        };
        Self { apex, left, right }
    }

    /// What a segment forbids.
    pub(super) fn of_wall(ego: &Ego, wall: &[Point; 2]) -> Self {
        let [(start, start_angle, start_half), (end, end_angle, end_half)] = wall.map(|end| {
            let to = minus(end, ego.position);
            let distance = length(to);
            let half = if distance <= 1e-6 {
                FRAC_PI_2
            } else {
                (ego.radius / distance.max(ego.radius)).min(1.0).asin()
            };
            (to, angle(to), half)
        });
        let (left, right) = if cross(start, end) >= 0.0 {
            (end_angle + end_half, start_angle - start_half)
        } else {
            (start_angle + start_half, end_angle - end_half)
        };
        Self { apex: [0.0; 2], left: direction(left), right: direction(right) }
    }
}

/// How soon a velocity meets a disc, as the choice between bad velocities counts it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct DiscTime {
    /// Sum of both velocities.
    pub(super) sum: Point,
    /// Length of the tangent to the disc, metres.
    pub(super) tangent: f64,
}

impl DiscTime {
    pub(super) fn new(ego: &Ego, disc: &Disc) -> Self {
        let to = minus(disc.center, ego.position);
        let reach = ego.radius + disc.radius;
        Self {
            sum: [ego.velocity[0] + disc.velocity[0], ego.velocity[1] + disc.velocity[1]],
            tangent: (to[0] * to[0] + to[1] * to[1] - reach * reach).max(0.0).sqrt(),
        }
    }

    /// Seconds.
    pub(super) fn of(&self, velocity: Point) -> f64 {
        let twice = [2.0 * velocity[0] - self.sum[0], 2.0 * velocity[1] - self.sum[1]];
        self.tangent / (length(twice) + 1e-7)
    }

    /// Whether a velocity meets it before `time`, which may be wrong by what rounding makes of it.
    pub(super) fn is_sooner(&self, velocity: Point, time: f64) -> bool {
        let twice = [2.0 * velocity[0] - self.sum[0], 2.0 * velocity[1] - self.sum[1]];
        self.tangent < time * (length(twice) + 1e-7)
    }
}

/// How soon a velocity meets a segment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct WallTime {
    /// From the start towards the end.
    unit: Point,
    /// Unit vector from the line towards the ego.
    normal: Point,
    /// Metres along the segment.
    length: f64,
    /// The ego's foot along the segment, metres from its start.
    foot: f64,
    /// Metres between the ego's disc and the line.
    gap: f64,
    /// The ego's radius.
    radius: f64,
}

impl WallTime {
    pub(super) fn new(ego: &Ego, wall: &[Point; 2]) -> Self {
        let along = minus(wall[1], wall[0]);
        let length = length(along);
        let unit = along.map(|axis| axis / length);
        let from = minus(ego.position, wall[0]);
        let height = cross(unit, from);
        let side = if height < 0.0 { -1.0 } else { 1.0 };
        Self {
            unit,
            normal: [-unit[1] * side, unit[0] * side],
            length,
            foot: from[0] * unit[0] + from[1] * unit[1],
            gap: height.abs() - ego.radius,
            radius: ego.radius,
        }
    }

    /// Seconds; very many for a velocity that leads past it.
    pub(super) fn of(&self, velocity: Point) -> f64 {
        const NEVER: f64 = 1e6;
        let approach = -(self.normal[0] * velocity[0] + self.normal[1] * velocity[1]);
        if approach > 1e-7 {
            let time = (self.gap / approach).max(0.0);
            let foot = self.foot + (velocity[0] * self.unit[0] + velocity[1] * self.unit[1]) * time;
            if foot >= -self.radius && foot <= self.length + self.radius {
                return time;
            }
        }
        NEVER
    }
}
