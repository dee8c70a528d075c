//! The cycle of a gait: its rate, its warped phase, and what it does to the velocity over one stride or push.

use std::f64::consts::{PI, TAU};

use serde::{Deserialize, Serialize};

/// Harmonics that a profile may have; more are not read.
pub const MOST_HARMONICS: usize = 3;

/// The slowest a cycle may make somebody who walks, as a fraction of the mean speed.
const SLOWEST: f64 = 0.05;

/// How many cycles per second at a speed.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Cadence {
    /// At rest, Hz.
    pub base: f64,
    /// More per speed, Hz per m/s.
    pub per_speed: f64,
    /// At least, Hz.
    pub min: f64,
    /// At most, Hz.
    pub max: f64,
}

impl Default for Cadence {
    fn default() -> Self {
        Self { base: 0.4, per_speed: 0.55, min: 0.4, max: 2.2 }
    }
}

impl Cadence {
    /// Cycles per second at a speed in m/s.
    #[must_use]
    pub fn at(&self, speed: f64) -> f64 {
        (self.base + self.per_speed * speed).max(self.min).min(self.max)
    }
}

/// A periodic curve of up to [`MOST_HARMONICS`] sines `(amplitude, phase)`, less its mean over time.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Profile {
    harmonics: Vec<[f64; 2]>,
    mean: f64,
}

impl Profile {
    /// The curve of these sines for cycles whose first half takes the fraction `split` of the time.
    #[must_use]
    pub fn new(mut harmonics: Vec<[f64; 2]>, split: f64) -> Self {
        harmonics.truncate(MOST_HARMONICS);
        let share = |(at, [a, p]): (usize, &[f64; 2])| {
            let k = (at + 1) as f64;
            a * (p.cos() - (k * PI + p).cos()) / (k * PI)
        };
        let mean = (2.0 * split - 1.0) * harmonics.iter().enumerate().map(share).sum::<f64>();
        Self { harmonics, mean }
    }

    /// Amplitudes and phases of the sines.
    #[must_use]
    pub fn harmonics(&self) -> &[[f64; 2]] {
        &self.harmonics
    }

    /// Whether it is zero everywhere.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.harmonics.is_empty()
    }

    /// Value at a warped phase.
    #[must_use]
    pub fn at(&self, warped: f64) -> f64 {
        let sine = |(at, [a, p]): (usize, &[f64; 2])| a * ((at + 1) as f64 * warped + p).sin();
        self.harmonics.iter().enumerate().map(sine).sum::<f64>() - self.mean
    }
}

/// The phase as the profiles see it: the fraction `split` of a cycle counts as its first half.
#[must_use]
pub fn warped(phase: f64, split: f64) -> f64 {
    let turns = phase / TAU;
    let u = turns - turns.floor();
    if u < split { PI * u / split } else { PI + PI * (u - split) / (1.0 - split) }
}

/// Factor on the velocity for a value of the speed profile.
#[must_use]
pub fn speed_factor(value: f64, amplitude_scale: f64) -> f64 {
    (1.0 + amplitude_scale * value).max(SLOWEST)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn cadence_grows_with_speed_between_its_limits() {
        let cadence = Cadence::default();
        assert_eq!((cadence.at(0.0), cadence.at(10.0)), (0.4, 2.2));
        assert!((cadence.at(1.1) - 1.005).abs() < 1e-12);
        // Limits the wrong way round give the upper one instead of an end of the program.
        assert_eq!(Cadence { min: 3.0, ..cadence }.at(0.0), 2.2);
    }

    #[test]
    fn the_first_half_of_a_warped_cycle_takes_the_split_of_its_time() {
        assert!((warped(0.58 * TAU, 0.58) - PI).abs() < 1e-12);
        assert!((warped(0.29 * TAU + 5.0 * TAU, 0.58) - PI / 2.0).abs() < 1e-9);
        assert!((warped(1.3, 0.5) - 1.3).abs() < 1e-12, "an even split warps nothing");
    }

    #[test]
    fn nobody_goes_backwards_through_a_profile() {
        assert_eq!(speed_factor(-4.0, 1.0), SLOWEST);
    }

    proptest! {
        #[test]
        fn over_a_cycle_a_profile_changes_no_mean_speed(
            harmonics in proptest::collection::vec((-0.3..0.3_f64, -3.0..3.0_f64), 0..3),
            split in 0.2..0.8_f64,
        ) {
            let profile = Profile::new(harmonics.into_iter().map(|(a, p)| [a, p]).collect(), split);
            let count = 20_000;
            let at = |n: i32| profile.at(warped((f64::from(n) + 0.5) / f64::from(count) * TAU, split));
            let mean = (0..count).map(at).sum::<f64>() / f64::from(count);
            prop_assert!(mean.abs() < 1e-4, "{mean}");
        }
    }
}
