//! Directions of a scanner's beams in its own frame, and which of them may meet what is seen under an interval of bearings.

use std::f64::consts::{PI, TAU};
use std::ops::Range;

use promenade_kernel::generator::Generator;

use super::LidarSpec;
use crate::Point;

/// How far a bearing from [`bearing`] may be off, with room to spare, radians.
const SLACK: f64 = 1e-3;

/// The beams of one scanner.
#[derive(Clone, Debug, Default)]
pub(super) struct Beams {
    /// Unit vectors as the beams are cast.
    pub(super) directions: Vec<Point>,
    angle_min: f64,
    /// Beams per radian; infinite when all point the same way.
    density: f64,
    /// How far a beam may be from its nominal angle, radians.
    blur: f64,
}

impl Beams {
    /// The beams at their nominal angles.
    pub(super) fn nominal(spec: &LidarSpec) -> Self {
        let directions = (0..spec.number).map(|beam| direction(spec.angle(beam))).collect();
        Self { directions, angle_min: spec.angle_min(), density: spec.angle_increment().recip(), blur: SLACK }
    }

    /// The beams each with its own error of angle.
    pub(super) fn blurred(spec: &LidarSpec, generator: &mut Generator) -> Self {
        let mut beams = Self::nominal(spec);
        for beam in 0..spec.number {
            let error = spec.angle_std * generator.standard_normal();
            beams.directions[beam] = direction(spec.angle(beam) + error);
            beams.blur = beams.blur.max(SLACK + error.abs());
        }
        beams
    }

    /// Every beam.
    pub(super) fn all(&self) -> [Range<usize>; 2] {
        [0..self.directions.len(), 0..0]
    }

    /// The beams that may lie between two bearings of the scanner's frame, `low` in [-pi, pi] or a little beyond, `high` at most a turn further.
    /// There can be two runs of them: one at either end.
    #[inline]
    pub(super) fn between(&self, low: f64, high: f64) -> [Range<usize>; 2] {
        let (low, high) = (low - self.blur, high + self.blur);
        if high - low >= TAU || !self.density.is_finite() {
            return self.all();
        }
        let wrapped = if low < -PI {
            self.run(low + TAU, high + TAU)
        } else if high > PI {
            self.run(low - TAU, high - TAU)
        } else {
            0..0
        };
        [self.run(low, high), wrapped]
    }

    fn run(&self, low: f64, high: f64) -> Range<usize> {
        // A cast to an unsigned number makes negative values 0.
        let first = ((low - self.angle_min) * self.density).ceil() as usize;
        let past = ((high - self.angle_min) * self.density + 1.0).floor().max(0.0) as usize;
        first..past.min(self.directions.len())
    }
}

fn direction(angle: f64) -> Point {
    let (sin, cos) = angle.sin_cos();
    [cos, sin]
}

/// The bearing of a point from the origin to within 3e-4 rad, for choosing beams; nothing measured depends on it. Not a number at the origin.
#[inline]
pub(super) fn bearing([x, y]: Point) -> f64 {
    let (ax, ay) = (x.abs(), y.abs());
    let ratio = ax.min(ay) / ax.max(ay);
    let square = ratio * ratio;
    // A minimax polynomial of the arctangent on [0, 1].
    let octant =
        ((-0.046_496_474_9 * square + 0.159_314_22) * square - 0.327_622_764) * square * ratio + ratio;
    let quadrant = if ay > ax { PI / 2.0 - octant } else { octant };
    let half = if x < 0.0 { PI - quadrant } else { quadrant };
    if y < 0.0 { -half } else { half }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spec(angle_range: f64, number: usize) -> LidarSpec {
        LidarSpec {
            fmcw: None,
            range_min: 0.0,
            range_max: 10.0,
            angle_range,
            number,
            scan_time: 0.1,
            std: None,
            angle_std: 0.0,
            offset: [0.0; 3],
            has_velocity: false,
            drawing: std::sync::Arc::default(),
        }
    }

    #[test]
    fn approximate_bearings_are_within_the_slack() {
        for i in 0..100_000 {
            let angle = f64::from(i) * TAU / 100_000.0 - PI;
            let error = (bearing([3.0 * angle.cos(), 3.0 * angle.sin()]) - angle).abs();
            assert!(error < 3e-4 || TAU - error < 3e-4, "{error} at {angle}");
        }
    }

    #[test]
    fn every_beam_between_two_bearings_is_found_also_across_the_rear() {
        for (angle_range, number) in [(TAU, 73), (3.0, 61), (0.5, 2), (1.0, 1), (0.0, 5)] {
            let spec = spec(angle_range, number);
            let beams = Beams::nominal(&spec);
            for step in 0..400 {
                let low = f64::from(step) * TAU / 400.0 - PI;
                for width in [0.0, 0.3, 2.0, 5.0] {
                    let runs = beams.between(low, low + width);
                    for beam in 0..number {
                        let inside = [-TAU, 0.0, TAU].iter().any(|turn| {
                            let angle = spec.angle(beam) + turn;
                            angle >= low && angle <= low + width
                        });
                        assert!(
                            !inside || runs.iter().any(|run| run.contains(&beam)),
                            "{beam} of {number} at {low}"
                        );
                    }
                }
            }
        }
    }
}
