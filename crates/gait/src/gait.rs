//! A profile compiled for evaluation: one sine and one cosine give all forty joints.
//!
//! `sin(k (psi + shift) + phase)` is expanded into `sin(k psi)` and `cos(k psi)`, which follow from the fundamental by
//! rotation. What is left per joint is a dot product, laid out in blocks of four joints so that it vectorises. Nothing
//! here may allocate after construction.

use std::f64::consts::TAU;

use crate::{
    joint::{JOINT_COUNT, Joint, Pose40},
    profile::{CadenceLaw, GainLaw, MAX_HARMONICS, PhaseWarp, Profile},
};

/// Rate of the idle cycle in Hz, whatever the profile.
pub const IDLE_HZ: f64 = 0.25;

const LANES: usize = 4;
type Lane = [f64; LANES];

/// Four joints evaluated together; the last block is padded with lanes that write nowhere.
#[derive(Debug, Clone)]
struct Block {
    joints: [usize; LANES],
    used: usize,
    mean: Lane,
    lo: Lane,
    hi: Lane,
}

/// A compiled profile.
#[derive(Debug, Clone)]
pub struct Gait {
    warp: PhaseWarp,
    cadence: CadenceLaw,
    gain: GainLaw,
    harmonics: usize,
    blocks: Vec<Block>,
    /// Per block: `harmonics` pairs of (coefficients of sin(k psi), coefficients of cos(k psi)).
    waves: Vec<[Lane; 2]>,
    /// What the unbound joints are: 0, clamped.
    rest: Pose40,
    /// Gaits for speeds, ascending; empty for a gait that is one for all.
    speeds: Vec<AtSpeed>,
}

/// The gait of one speed.
#[derive(Debug, Clone)]
struct AtSpeed {
    /// m/s.
    speed: f64,
    /// Cycles per second at that speed.
    hz: f64,
    gait: Gait,
}

impl Gait {
    /// Compiles a profile. Harmonics beyond [`MAX_HARMONICS`] are dropped; no file that loads has any.
    #[must_use]
    pub fn new(profile: &Profile) -> Self {
        let mut rest = [0.0; JOINT_COUNT];
        for joint in Joint::ALL {
            let [lo, hi] = profile.limits_of(joint);
            rest[joint.index()] = 0.0_f64.max(lo).min(hi);
        }
        let harmonics = profile
            .bindings
            .iter()
            .map(|binding| profile.signals[binding.signal].1.harmonics.len())
            .max()
            .unwrap_or(0)
            .min(MAX_HARMONICS);
        let mut blocks = Vec::with_capacity(profile.bindings.len().div_ceil(LANES));
        let mut waves = Vec::with_capacity(blocks.capacity() * harmonics);
        for group in profile.bindings.chunks(LANES) {
            let mut block = Block {
                joints: [0; LANES],
                used: group.len(),
                mean: [0.0; LANES],
                lo: [0.0; LANES],
                hi: [0.0; LANES],
            };
            let first_wave = waves.len();
            waves.resize(first_wave + harmonics, [[0.0; LANES]; 2]);
            for (lane, binding) in group.iter().enumerate() {
                let signal = &profile.signals[binding.signal].1;
                block.joints[lane] = binding.joint.index();
                block.mean[lane] = signal.mean;
                [block.lo[lane], block.hi[lane]] = profile.limits_of(binding.joint);
                for (k, harmonic) in (1u32..).zip(signal.harmonics.iter().take(harmonics)) {
                    let (sin, cos) = (f64::from(k) * binding.shift + harmonic.phase).sin_cos();
                    let [of_sin, of_cos] = &mut waves[first_wave + k as usize - 1];
                    of_sin[lane] = harmonic.amplitude * cos;
                    of_cos[lane] = harmonic.amplitude * sin;
                }
            }
            blocks.push(block);
        }
        Self {
            warp: profile.phase_warp,
            cadence: profile.cadence,
            gain: profile.gain,
            harmonics,
            blocks,
            waves,
            rest,
            speeds: profile
                .speeds
                .iter()
                .map(|(speed, profile)| AtSpeed {
                    speed: *speed,
                    hz: profile.cadence.hz(*speed),
                    gait: Self::new(profile),
                })
                .collect(),
        }
    }

    /// Phase step of a walk or run in radians for a signed speed in m/s over `dt` seconds. The IEEE sign decides the
    /// direction: +0.0 steps forward, -0.0 backward.
    #[must_use]
    pub fn step(&self, speed: f64, dt: f64) -> f64 {
        TAU * self.hz(speed).copysign(speed) * dt
    }

    /// Cycles per second at a speed. Below the slowest of several speeds the step shrinks and its rate stays, above the
    /// fastest the fastest one's own law holds.
    fn hz(&self, speed: f64) -> f64 {
        let Some(last) = self.speeds.last() else { return self.cadence.hz(speed) };
        match self.between(speed.abs()) {
            (None, Some(first), _) => first.hz,
            (Some(slower), Some(faster), part) => slower.hz + part * (faster.hz - slower.hz),
            _ => last.gait.cadence.hz(speed),
        }
    }

    /// The neighbours of a speed that is not negative and how far it lies between them, 0 to 1.
    fn between(&self, speed: f64) -> (Option<&AtSpeed>, Option<&AtSpeed>, f64) {
        let index = self.speeds.partition_point(|at| at.speed <= speed);
        let slower = index.checked_sub(1).map(|index| &self.speeds[index]);
        let faster = self.speeds.get(index);
        let from = slower.map_or(0.0, |slower| slower.speed);
        (slower, faster, faster.map_or(0.0, |faster| (speed - from) / (faster.speed - from)))
    }

    /// The posture of a walk or run at a phase in radians and a speed in m/s. Always finite.
    pub fn at_speed(&self, phase: f64, speed: f64, out: &mut Pose40) {
        if self.speeds.is_empty() {
            return self.evaluate(phase, self.gain(speed), out);
        }
        match self.between(speed.abs()) {
            // From standing to the slowest walk the steps grow out of the ground.
            (None, Some(first), part) => first.gait.evaluate(phase, part * first.gait.gain(first.speed), out),
            (Some(slower), Some(faster), part) => {
                let mut other = [0.0; JOINT_COUNT];
                slower.gait.evaluate(phase, slower.gait.gain(slower.speed), out);
                faster.gait.evaluate(phase, faster.gait.gain(faster.speed), &mut other);
                for (value, other) in out.iter_mut().zip(other) {
                    *value += part * (other - *value);
                }
            }
            (slower, _, _) => {
                let gait = slower.map_or(self, |slower| &slower.gait);
                gait.evaluate(phase, gait.gain(speed), out);
            }
        }
    }

    /// Gain of a walk or run at a speed in m/s.
    #[must_use]
    pub fn gain(&self, speed: f64) -> f64 {
        self.gain.at(speed)
    }

    /// The posture at a phase in radians with a gain. Always finite: whatever overflows ends at a limit.
    pub fn evaluate(&self, phase: f64, gain: f64, out: &mut Pose40) {
        *out = self.rest;
        if self.harmonics == 0 {
            for block in &self.blocks {
                block.finish(block.mean, gain, out);
            }
            return;
        }
        let (sin, cos) = self.warp.apply(phase).sin_cos();
        let mut basis = [[0.0; 2]; MAX_HARMONICS];
        let basis = &mut basis[..self.harmonics];
        let [mut s, mut c] = [sin, cos];
        for entry in basis.iter_mut() {
            *entry = [s, c];
            [s, c] = [s * cos + c * sin, c * cos - s * sin];
        }
        for (block, waves) in self.blocks.iter().zip(self.waves.chunks_exact(self.harmonics)) {
            let mut sum = block.mean;
            for ([s, c], [of_sin, of_cos]) in basis.iter().zip(waves) {
                for lane in 0..LANES {
                    sum[lane] += of_sin[lane] * s + of_cos[lane] * c;
                }
            }
            block.finish(sum, gain, out);
        }
    }
}

impl Block {
    #[inline]
    fn finish(&self, sum: Lane, gain: f64, out: &mut Pose40) {
        let mut value = [0.0; LANES];
        for lane in 0..LANES {
            value[lane] = (gain * sum[lane]).max(self.lo[lane]).min(self.hi[lane]);
        }
        for (joint, value) in self.joints[..self.used].iter().zip(value) {
            out[*joint] = value;
        }
    }
}

/// The built-in idle posture: a slow sway of waist and head at a phase in radians.
pub fn sway(phase: f64, out: &mut Pose40) {
    *out = [0.0; JOINT_COUNT];
    for (joint, value) in [
        (Joint::Waist, 0.03 * phase.sin()),
        (Joint::YHead, 0.06 * (0.3 * phase).sin()),
        (Joint::PHead, 0.02 * (0.5 * phase + 1.0).sin()),
    ] {
        let [lo, hi] = joint.wire_limits();
        out[joint.index()] = value.max(lo).min(hi);
    }
}
