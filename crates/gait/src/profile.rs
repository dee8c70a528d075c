//! A resolved pose profile: laws, limits, signals and the joints bound to them (human-layer specification,
//! sections 9 and 10).
//!
//! Plain data with checked construction. It must never read files (see [`crate::library`]) and never evaluate
//! anything per tick (see [`crate::Gait`]).

use std::collections::BTreeMap;

use crate::joint::Joint;

/// Most harmonics a signal may have. The fitter writes at most 8; the bound keeps the work per pose known.
pub const MAX_HARMONICS: usize = 32;

/// One sine of a signal: `amplitude * sin(k * angle + phase)` for the k-th entry of the list.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Harmonic {
    /// Amplitude in radians.
    pub amplitude: f64,
    /// Phase in radians.
    pub phase: f64,
}

/// `mean + sum over k = 1.. of amplitude_k * sin(k * angle + phase_k)`.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Signal {
    /// Mean in radians.
    pub mean: f64,
    /// Harmonics from the fundamental up; empty for a held joint.
    pub harmonics: Vec<Harmonic>,
}

impl Signal {
    /// The value at a cycle angle in radians.
    #[must_use]
    pub fn at(&self, angle: f64) -> f64 {
        self.harmonics
            .iter()
            .zip(1u32..)
            .map(|(harmonic, k)| harmonic.amplitude * (f64::from(k) * angle + harmonic.phase).sin())
            .fold(self.mean, |sum, term| sum + term)
    }
}

/// A joint that follows a signal, read at `angle + shift`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Binding {
    /// The joint.
    pub joint: Joint,
    /// Index into [`Profile::signals`].
    pub signal: usize,
    /// Shift in radians; the right half of a symmetric gait is read at pi.
    pub shift: f64,
}

/// Cycle rate over speed: `clamp(base + per_speed * |v|, min, max)` in Hz, `v` in m/s.
///
/// Other renderers mirror the default law, so it is frozen.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CadenceLaw {
    /// Rate at rest, Hz.
    pub base: f64,
    /// Rate added per m/s.
    pub per_speed: f64,
    /// Lowest rate, Hz.
    pub min: f64,
    /// Highest rate, Hz.
    pub max: f64,
}

impl Default for CadenceLaw {
    fn default() -> Self {
        Self { base: 0.4, per_speed: 0.55, min: 0.4, max: 2.2 }
    }
}

impl CadenceLaw {
    /// Cycle rate in Hz at a speed in m/s of either sign.
    #[must_use]
    pub fn hz(&self, speed: f64) -> f64 {
        (self.base + self.per_speed * speed.abs()).max(self.min).min(self.max)
    }
}

/// Amplitude over speed: `factor * clamp(|v| / per_speed, min, max)`, `v` in m/s.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GainLaw {
    /// Speed of unit gain before clamping, m/s; above 0.
    pub per_speed: f64,
    /// Lowest gain before the factor.
    pub min: f64,
    /// Highest gain before the factor.
    pub max: f64,
    /// Factor after clamping.
    pub factor: f64,
}

impl Default for GainLaw {
    fn default() -> Self {
        Self { per_speed: 1.2, min: 0.2, max: 1.0, factor: 1.0 }
    }
}

impl GainLaw {
    /// Gain at a speed in m/s of either sign.
    #[must_use]
    pub fn at(&self, speed: f64) -> f64 {
        self.factor * (speed.abs() / self.per_speed).max(self.min).min(self.max)
    }
}

/// The fraction of the period that the first half of the cycle takes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PhaseWarp {
    split: f64,
}

impl Default for PhaseWarp {
    fn default() -> Self {
        Self { split: 0.5 }
    }
}

impl PhaseWarp {
    /// A warp with that split, `None` outside the open interval (0, 1).
    #[must_use]
    pub fn new(split: f64) -> Option<Self> {
        (split > 0.0 && split < 1.0).then_some(Self { split })
    }

    /// The split, in (0, 1); 0.5 changes nothing.
    #[must_use]
    pub fn split(self) -> f64 {
        self.split
    }

    /// Maps the time phase to the cycle angle, both unbounded, radians (human-layer specification, section 9).
    #[must_use]
    pub fn apply(self, phase: f64) -> f64 {
        use std::f64::consts::{PI, TAU};
        if self.split == 0.5 {
            return phase;
        }
        let within = phase.rem_euclid(TAU);
        let cycle = phase - within;
        let turn = TAU * self.split;
        if within < turn {
            cycle + within / (2.0 * self.split)
        } else {
            cycle + PI + (within - turn) / (2.0 * (1.0 - self.split))
        }
    }
}

/// A gait or a held pose, ready to be compiled into a [`crate::Gait`].
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Profile {
    /// Whether each limb pair shares one signal, the right side half a cycle later.
    pub symmetric: bool,
    /// Phase warp.
    pub phase_warp: PhaseWarp,
    /// Cycle rate law.
    pub cadence: CadenceLaw,
    /// Amplitude law.
    pub gain: GainLaw,
    /// Limits `[lo, hi]` in radians that replace the wire limits of section 8 for these joints.
    pub limits: BTreeMap<Joint, [f64; 2]>,
    /// Signals with their keys, in file order.
    pub signals: Vec<(String, Signal)>,
    /// Joints that move or are held, in file order; every other joint is 0.
    pub bindings: Vec<Binding>,
    /// Profiles for speeds in m/s, ascending, between which stride and posture change; what else this profile holds is
    /// then that of the first. Empty in every profile of the contract.
    pub speeds: Vec<(f64, Profile)>,
}

impl Profile {
    /// Changes this profile and those of its speeds alike.
    pub(crate) fn change(&mut self, change: &mut dyn FnMut(&mut Self)) {
        change(self);
        for (_, profile) in &mut self.speeds {
            profile.change(change);
        }
    }

    /// The limits this profile clamps a joint to, radians.
    #[must_use]
    pub fn limits_of(&self, joint: Joint) -> [f64; 2] {
        self.limits.get(&joint).copied().unwrap_or_else(|| joint.wire_limits())
    }
}

#[cfg(test)]
mod tests {
    use std::f64::consts::{PI, TAU};

    use super::*;

    #[test]
    fn warp_matches_the_reference_rows() {
        let warp = PhaseWarp::new(0.25).unwrap();
        for (phase, expected) in [
            (0.0, 0.0),
            (PI / 2.0, PI),
            (PI, PI + PI / 3.0),
            (TAU + PI / 2.0, 3.0 * PI),
            (-PI, -PI + PI / 3.0),
        ] {
            assert!((warp.apply(phase) - expected).abs() < 1e-12, "{phase}: {}", warp.apply(phase));
        }
        assert_eq!(PhaseWarp::default().apply(1.234e5), 1.234e5);
    }

    #[test]
    fn split_is_an_open_interval() {
        for split in [0.0, 1.0, -0.1, 1.1, f64::NAN, f64::INFINITY] {
            assert!(PhaseWarp::new(split).is_none(), "{split}");
        }
    }

    #[test]
    fn default_laws() {
        let cadence = CadenceLaw::default();
        assert_eq!(cadence.hz(0.0), 0.4);
        assert!((cadence.hz(-1.0) - 0.95).abs() < 1e-15);
        assert_eq!(cadence.hz(50.0), 2.2);
        let gain = GainLaw::default();
        assert_eq!((gain.at(0.0), gain.at(0.6), gain.at(9.0)), (0.2, 0.5, 1.0));
    }
}
