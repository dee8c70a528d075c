//! Scanners (robot-world specification, section 13).
//!
//! A scanner sees the scene as it is after a step and changes nothing in it. Every beam is cast on its own, so that results depend neither on the
//! order of objects in the index nor on anything but the scene.

mod beams;
mod cast;
mod sensing;
mod targets;
#[cfg(test)]
mod tests;
mod view;

use std::f64::consts::TAU;

pub use sensing::Sensing;
pub use view::{in_view, sees};

/// A `lidar2d` or `fmcw_lidar2d` as a file gives it.
#[derive(Clone, Debug, PartialEq)]
pub struct LidarSpec {
    /// Whether it measures radial velocities.
    pub fmcw: Option<Fmcw>,
    /// Metres.
    pub range_min: f64,
    /// Metres.
    pub range_max: f64,
    /// Full angle, 0 to 2 pi.
    pub angle_range: f64,
    /// Beams.
    pub number: usize,
    /// Seconds, reported only.
    pub scan_time: f64,
    /// Deviation of ranges, metres; `None` = without noise.
    pub std: Option<f64>,
    /// Deviation of beam angles, radians; acts with noise only.
    pub angle_std: f64,
    /// Pose in the body frame.
    pub offset: [f64; 3],
    /// Whether it reports the velocity of what is hit.
    pub has_velocity: bool,
    /// Drawing keys, shared by all scanners of the mapping.
    pub drawing: std::sync::Arc<serde_json::Value>,
}

/// What a frequency-modulated lidar adds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fmcw {
    /// Whether the carrier's own velocity is taken out.
    pub motion_compensate: bool,
    /// Deviation of radial velocities, m/s.
    pub velocity_noise_std: f64,
}

/// One scan. What does not change from scan to scan is in its [`LidarSpec`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Scan {
    /// World pose of the scanner.
    pub origin: [f64; 3],
    /// Metres, one per beam; `range_max` for a miss, `range_min` for a return in the blind zone.
    pub ranges: Vec<f64>,
    /// Whether the beam measured something within range.
    pub valid: Vec<bool>,
    /// World velocity of what each beam hit; empty unless asked for.
    pub velocity: Vec<[f64; 2]>,
    /// Radial velocity per beam, m/s; empty unless fmcw.
    pub radial_velocity: Vec<f64>,
}

impl LidarSpec {
    /// Angle of the first beam in the scanner's frame, radians. A single beam points straight ahead.
    #[must_use]
    pub fn angle_min(&self) -> f64 {
        if self.number > 1 { -self.angle_range.clamp(0.0, TAU) / 2.0 } else { 0.0 }
    }

    /// Angle of the last beam, radians.
    #[must_use]
    pub fn angle_max(&self) -> f64 {
        -self.angle_min()
    }

    /// Angle from beam to beam, radians.
    #[must_use]
    pub fn angle_increment(&self) -> f64 {
        if self.number > 1 { (self.angle_max() - self.angle_min()) / (self.number - 1) as f64 } else { 0.0 }
    }

    /// Nominal angle of a beam, radians.
    #[must_use]
    pub fn angle(&self, beam: usize) -> f64 {
        if beam + 1 == self.number {
            self.angle_max()
        } else {
            self.angle_min() + beam as f64 * self.angle_increment()
        }
    }
}

impl Scan {
    /// The ranges as REP 117 wants them: infinite for a miss, negative infinite for a return in the blind zone.
    pub fn rep117(&self, spec: &LidarSpec) -> impl ExactSizeIterator<Item = f64> + '_ {
        let range_min = spec.range_min;
        self.ranges.iter().zip(&self.valid).map(move |(range, valid)| match valid {
            true => *range,
            false if *range <= range_min => f64::NEG_INFINITY,
            false => f64::INFINITY,
        })
    }

    /// What valid beams hit, in the scanner's frame at their nominal angles, without what is as far as the scanner sees.
    pub fn point_cloud<'a>(&'a self, spec: &'a LidarSpec) -> impl Iterator<Item = [f64; 2]> + 'a {
        self.ranges.iter().zip(&self.valid).enumerate().filter_map(|(beam, (range, valid))| {
            let (sin, cos) = spec.angle(beam).sin_cos();
            (*valid && *range < spec.range_max - 0.02).then_some([range * cos, range * sin])
        })
    }
}
