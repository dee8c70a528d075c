//! The phase of every frame: cycles shifted to the mean waveform, the warp's zero, and the split (human-layer
//! specification, section 11, steps 6 to 8).

use std::f64::consts::{FRAC_PI_4, PI, TAU};

use super::{
    FitError,
    recording::Recording,
    waves::{Harmonics, Wave},
};
use crate::{joint::Joint, library::DEFAULT_WALK, library::ProfileLibrary, profile::PhaseWarp};

/// Harmonics of the waveform that cycles are shifted to; more than a profile needs, so that a warp hardly shows.
const REFERENCE_HARMONICS: usize = 8;
const ROUNDS: usize = 5;
const SPLITS: [f64; 2] = [0.25, 0.75];
const GRID: u32 = 50;
const GOLDEN_STEPS: u32 = 26;
/// Steps of [`best_split`], for progress.
pub(super) const SPLIT_STEPS: u32 = GRID + 1 + GOLDEN_STEPS;

/// Phases of all frames in radians, unwarped; the first `used` lie in whole cycles.
pub(super) struct Phases {
    pub(super) all: Vec<f64>,
    pub(super) used: usize,
}

/// Shifts every cycle to the mean waveform of both hips.
pub(super) fn cycle_phases(
    recording: &Recording,
    rate: f64,
    cycles: usize,
    harmonics: usize,
) -> Result<Phases, FitError> {
    let frames = recording.frames();
    let used = (0..frames).take_while(|index| *index as f64 * rate < TAU * cycles as f64 - 1e-6).count();
    if used <= 2 * (2 * harmonics + 1) {
        return Err(FitError::TooFewFrames { used, needed: 2 * (2 * harmonics + 1) + 1 });
    }
    let hips = [Joint::LRHip, Joint::RRHip].map(|joint| &recording.column(joint)[..used]);
    let in_cycle = TAU / rate;
    let reference = REFERENCE_HARMONICS.min(((in_cycle - 1.0) / 2.0) as usize).min((used - 1) / 4);
    let reference = reference.max(harmonics);
    let start: Vec<f64> = (0..used).map(|index| index as f64 * rate).collect();
    let mut shifts = vec![0.0; cycles];
    let mut all = phases_of(&shifts, frames, rate);
    for _ in 0..ROUNDS {
        let basis = Harmonics::at(&all[..used], reference).ok_or(FitError::Degenerate)?;
        let waves = hips.map(|hip| basis.fit(hip));
        let before = shifts.clone();
        for (cycle, shift) in shifts.iter_mut().enumerate() {
            let first = start.partition_point(|phase| *phase < TAU * cycle as f64 - 1e-6);
            let last = start.partition_point(|phase| *phase < TAU * (cycle + 1) as f64 - 1e-6);
            *shift = best_shift(&start[first..last], &hips.map(|hip| &hip[first..last]), &waves);
        }
        // Only where cycles lie to each other is in the data; where all of them begin is decided later.
        let common = shifts.iter().sum::<f64>() / cycles as f64;
        shifts.iter_mut().for_each(|shift| *shift -= common);
        all = phases_of(&shifts, frames, rate);
        if shifts.iter().zip(&before).all(|(a, b)| (a - b).abs() < 1e-10) {
            break;
        }
    }
    Ok(Phases { all, used })
}

/// Phases through the shifted cycle centres: straight between them, at the mean rate outside.
fn phases_of(shifts: &[f64], frames: usize, rate: f64) -> Vec<f64> {
    let centre = |cycle: usize| TAU * cycle as f64 + PI;
    (0..frames)
        .map(|index| {
            let mean = index as f64 * rate;
            // In units of cycles from the first centre.
            let along = ((mean - PI) / TAU).max(0.0);
            let cycle = (along as usize).min(shifts.len() - 1);
            let next = (cycle + 1).min(shifts.len() - 1);
            let part = ((mean - centre(cycle)) / TAU).clamp(0.0, 1.0);
            mean + shifts[cycle] + part * (shifts[next] - shifts[cycle])
        })
        .collect()
}

/// The shift within a quarter half-turn that brings both hips of a cycle closest to their waveforms.
fn best_shift(phases: &[f64], hips: &[&[f64]; 2], waves: &[Wave; 2]) -> f64 {
    let sums = |shift: f64| {
        let (mut error, mut gradient, mut curvature) = (0.0, 0.0, 0.0);
        for (hip, wave) in hips.iter().zip(waves) {
            for (phase, value) in phases.iter().zip(*hip) {
                let [fitted, slope] = wave.at(phase + shift);
                error += (value - fitted) * (value - fitted);
                gradient += (value - fitted) * slope;
                curvature += slope * slope;
            }
        }
        (error, if curvature > 0.0 { gradient / curvature } else { 0.0 })
    };
    let grid = (-8..=8).map(|step| f64::from(step) * FRAC_PI_4 / 8.0);
    let mut shift = grid.min_by(|a, b| sums(*a).0.total_cmp(&sums(*b).0)).unwrap_or(0.0);
    for _ in 0..20 {
        let (error, step) = sums(shift);
        let moved = (shift + step).clamp(-FRAC_PI_4, FRAC_PI_4);
        if sums(moved).0 > error || (moved - shift).abs() < 1e-13 {
            break;
        }
        shift = moved;
    }
    shift
}

/// Phase of the left hip's fundamental in the library walk, radians: every fitted gait begins where that one does.
pub(super) fn library_phase() -> f64 {
    let entry = ProfileLibrary::builtin().get(DEFAULT_WALK);
    let hip = entry.and_then(|entry| {
        let profile = &entry.profile;
        let binding = profile.bindings.iter().find(|binding| binding.joint == Joint::LRHip)?;
        Some(profile.signals[binding.signal].1.harmonics.first()?.phase + binding.shift)
    });
    hip.unwrap_or_default()
}

/// Phases shifted so that, after the warp, the left hip's fundamental has the library's phase.
pub(super) fn aligned(
    phases: &Phases,
    hip: &[f64],
    warp: PhaseWarp,
    harmonics: usize,
) -> Result<(f64, Harmonics), FitError> {
    let target = library_phase();
    let mut offset = 0.0;
    // Near the end a step shortens by a factor of about 4 or better, whatever the split.
    for _ in 0..60 {
        let basis = warped(phases, offset, warp, harmonics)?;
        let ahead = basis.fit(&hip[..phases.used]).fundamental_phase() - target;
        let step = (ahead + PI).rem_euclid(TAU) - PI;
        if step.abs() < 1e-12 {
            return Ok((offset, basis));
        }
        offset += step;
    }
    Ok((offset, warped(phases, offset, warp, harmonics)?))
}

fn warped(phases: &Phases, offset: f64, warp: PhaseWarp, harmonics: usize) -> Result<Harmonics, FitError> {
    let psi: Vec<f64> = phases.all[..phases.used].iter().map(|phase| warp.apply(phase + offset)).collect();
    Harmonics::at(&psi, harmonics).ok_or(FitError::Degenerate)
}

/// The split that leaves the smallest squared residual over all joints, each candidate aligned anew. `progress` is called
/// [`SPLIT_STEPS`] times.
pub(super) fn best_split(
    recording: &Recording,
    phases: &Phases,
    harmonics: usize,
    progress: &mut dyn FnMut(),
) -> Result<f64, FitError> {
    let hip = recording.column(Joint::LRHip);
    let mut residual = |split: f64| -> Result<f64, FitError> {
        progress();
        let warp = PhaseWarp::new(split).unwrap_or_default();
        let (_, basis) = aligned(phases, hip, warp, harmonics)?;
        let squares = recording.columns().map(|(_, column)| {
            let values = &column[..phases.used];
            basis.residual(&basis.fit(values), values)
        });
        Ok(squares.sum())
    };
    let [lowest, highest] = SPLITS;
    let step = (highest - lowest) / f64::from(GRID);
    let mut best = (f64::INFINITY, 0.5);
    for index in 0..=GRID {
        let split = lowest + step * f64::from(index);
        let found = residual(split)?;
        if found < best.0 {
            best = (found, split);
        }
    }
    let ratio = (5.0_f64.sqrt() - 1.0) / 2.0;
    let [mut a, mut b] = [(best.1 - step).max(lowest), (best.1 + step).min(highest)];
    let [mut c, mut d] = [b - ratio * (b - a), a + ratio * (b - a)];
    let [mut at_c, mut at_d] = [residual(c)?, residual(d)?];
    for _ in 2..GOLDEN_STEPS {
        if at_c < at_d {
            [b, d, at_d] = [d, c, at_c];
            c = b - ratio * (b - a);
            at_c = residual(c)?;
        } else {
            [a, c, at_c] = [c, d, at_d];
            d = a + ratio * (b - a);
            at_d = residual(d)?;
        }
    }
    Ok(0.5 * (a + b))
}
