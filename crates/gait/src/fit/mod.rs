//! From a walking clip to a pose profile (human-layer specification, section 11).
//!
//! [`fit`] finds the cycle in the left hip, gives every frame a phase, and fits every joint by least squares. It reads no
//! file and writes none; a clip comes as a [`Recording`], and the profile goes out through
//! [`ProfileFile::of`](crate::ProfileFile::of).

mod period;
mod phase;
mod recording;
mod report;
mod waves;

use std::{collections::BTreeMap, f64::consts::TAU};

pub use recording::Recording;
pub use report::FitReport;

use crate::{
    joint::{Joint, Side},
    profile::{Binding, CadenceLaw, GainLaw, PhaseWarp, Profile, Signal},
};
use phase::{Phases, SPLIT_STEPS};
use waves::{Harmonics, Wave};

/// Most harmonics a fit may use.
pub const MOST_HARMONICS: usize = 8;
/// A split this near to one half is one half.
const EVEN_SPLIT: f64 = 0.02;
/// Two sides differ beyond this fraction of the stronger one's rms amplitude ...
const SIDES_DIFFER: f64 = 0.05;
/// ... and beyond this, radians.
const SIDES_DIFFER_RAD: f64 = 0.01;
/// Samples of a cycle that are looked at for the range of a joint and for its peak.
const SAMPLES: u32 = 720;

/// What a fit may be told.
#[derive(Debug, Clone, PartialEq)]
pub struct FitOptions {
    /// Name of the profile.
    pub name: String,
    /// Harmonics per joint, 1 to [`MOST_HARMONICS`].
    pub harmonics: usize,
    /// Speed of the walk in m/s, for a cadence that follows speed; without it the cadence is fixed.
    pub speed: Option<f64>,
}

impl Default for FitOptions {
    fn default() -> Self {
        Self { name: "walk".to_owned(), harmonics: 3, speed: None }
    }
}

/// Why a clip cannot be fitted.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum FitError {
    /// No frame at all.
    #[error("the clip has no frames")]
    Empty,
    /// The frame rate is no rate.
    #[error("the frame rate must be above 0, found {0}")]
    FrameRate(f64),
    /// A frame has a joint too many or too few.
    #[error("frame {frame} does not list the joints of frame 0: {joint}")]
    OtherJoints {
        /// The frame, from 0.
        frame: usize,
        /// The first joint that is too many, missing or repeated.
        joint: &'static str,
    },
    /// An angle that is no number.
    #[error("frame {frame}: {joint} is not finite")]
    NotFinite {
        /// The frame, from 0.
        frame: usize,
        /// The joint.
        joint: &'static str,
    },
    /// A hip that decides phase and symmetry is not in the clip.
    #[error("the clip has no {0}")]
    MissingHip(&'static str),
    /// A left hip that does not move.
    #[error("l_r_hip does not move")]
    Standing,
    /// Not enough walking.
    #[error("needs at least 2 whole walking cycles")]
    TooFewCycles,
    /// Too few frames in a cycle for that many harmonics.
    #[error("a cycle spans {frames:.1} frames; {harmonics} harmonics need more than {}", 2 * harmonics)]
    ShortCycle {
        /// Frames in a cycle.
        frames: f64,
        /// Harmonics asked for.
        harmonics: usize,
    },
    /// Too few frames in all.
    #[error("only {used} frames lie in whole cycles, needs at least {needed}")]
    TooFewFrames {
        /// Frames in whole cycles.
        used: usize,
        /// How many there must be.
        needed: usize,
    },
    /// Frames that all fall on a few phases.
    #[error("the frames fall on too few phases of the cycle for that many harmonics")]
    Degenerate,
    /// An option outside its range.
    #[error("{0}")]
    Option(&'static str),
}

/// A fitted profile and how well it fits.
#[derive(Debug, Clone, PartialEq)]
pub struct Fit {
    /// The profile.
    pub profile: Profile,
    /// What was found on the way.
    pub report: FitReport,
    /// Phase of every frame of the clip in radians, to be given to the profile's gait.
    pub phases: Vec<f64>,
}

/// Fits a profile to a recording. `progress` is called with steps done and steps in all.
///
/// # Errors
/// The clip cannot be fitted, or an option is outside its range.
pub fn fit(
    recording: &Recording,
    options: &FitOptions,
    progress: &mut dyn FnMut(u32, u32),
) -> Result<Fit, FitError> {
    let harmonics = options.harmonics;
    if !(1..=MOST_HARMONICS).contains(&harmonics) {
        return Err(FitError::Option("harmonics must be 1 to 8"));
    }
    if options.speed.is_some_and(|speed| !speed.is_finite() || speed <= 0.0) {
        return Err(FitError::Option("speed must be above 0"));
    }
    let hip = recording.column(Joint::LRHip);
    let period = period::period(hip)?;
    if period <= 2.0 * harmonics as f64 {
        return Err(FitError::ShortCycle { frames: period, harmonics });
    }
    let rate = period::refined_rate(hip, TAU / period, harmonics);
    let cycles = period::whole_cycles(recording.frames(), rate);
    if cycles < 2 {
        return Err(FitError::TooFewCycles);
    }
    let phases = phase::cycle_phases(recording, rate, cycles, harmonics)?;
    let (_, even) = phase::aligned(&phases, hip, PhaseWarp::default(), harmonics)?;
    let heel_strike_fraction = peak_lag(recording, &phases, &even);
    let mut done = 0;
    let split_fitted = phase::best_split(recording, &phases, harmonics, &mut || {
        done += 1;
        progress(done, SPLIT_STEPS);
    })?;
    let warp = PhaseWarp::new(rounded_split(split_fitted)).unwrap_or_default();
    let (offset, basis) = phase::aligned(&phases, hip, warp, harmonics)?;
    let waves: BTreeMap<Joint, Wave> =
        recording.columns().map(|(joint, column)| (joint, basis.fit(&column[..phases.used]))).collect();

    let cadence_hz = recording.fps() * rate / TAU;
    let mut profile = Profile {
        symmetric: is_symmetric(&waves, harmonics),
        phase_warp: warp,
        cadence: cadence_law(cadence_hz, options.speed),
        gain: GainLaw { min: 1.0, max: 1.0, factor: 1.0, ..GainLaw::default() },
        ..Profile::default()
    };
    bind(&mut profile, &waves, harmonics);
    widen_limits(&mut profile, recording);

    let phases_out: Vec<f64> = phases.all.iter().map(|phase| phase + offset).collect();
    let rms = rms(&profile, recording, &phases_out);
    let worst = rms.iter().max_by(|a, b| a.1.total_cmp(b.1)).map(|(joint, value)| (*joint, *value));
    let (worst_joint, worst_rms) = worst.unwrap_or(("", 0.0));
    let report = FitReport {
        name: options.name.clone(),
        fps: recording.fps(),
        frames: recording.frames(),
        frames_used: phases.used,
        cycles,
        period_s: 1.0 / cadence_hz,
        cadence_hz,
        cadence_law: if options.speed.is_some() { "through_speed" } else { "fixed" },
        speed: options.speed,
        harmonics,
        symmetric: profile.symmetric,
        split: warp.split(),
        split_fitted,
        heel_strike_fraction,
        rms,
        worst_joint,
        worst_rms,
        limits_widened: profile.limits.iter().map(|(joint, range)| (joint.name(), *range)).collect(),
    };
    Ok(Fit { profile, report, phases: phases_out })
}

fn rounded_split(split: f64) -> f64 {
    if (split - 0.5).abs() <= EVEN_SPLIT { 0.5 } else { (split * 1e4).round() / 1e4 }
}

fn cadence_law(cadence: f64, speed: Option<f64>) -> CadenceLaw {
    let CadenceLaw { base, min, max, .. } = CadenceLaw::default();
    match speed {
        None => CadenceLaw { base: cadence, per_speed: 0.0, min: cadence, max: cadence },
        Some(speed) => CadenceLaw {
            base,
            per_speed: (cadence - base) / speed,
            min: min.min(cadence),
            max: max.max(cadence),
        },
    }
}

/// How far the right hip's peak lies behind the left one's, as a fraction of a cycle in [0, 1).
fn peak_lag(recording: &Recording, phases: &Phases, basis: &Harmonics) -> f64 {
    let peak = |joint: Joint| {
        let wave = basis.fit(&recording.column(joint)[..phases.used]);
        let step = TAU / f64::from(SAMPLES);
        let value = |index: u32| wave.at(step * f64::from(index))[0];
        let top = (0..SAMPLES).max_by(|a, b| value(*a).total_cmp(&value(*b))).unwrap_or(0);
        let [before, here, after] = [value(top + SAMPLES - 1), value(top), value(top + 1)];
        let bend = before - 2.0 * here + after;
        let refined = if bend < 0.0 { 0.5 * (before - after) / bend } else { 0.0 };
        step * (f64::from(top) + refined)
    };
    let lag = (peak(Joint::RRHip) - peak(Joint::LRHip)) / TAU;
    let fraction = lag.rem_euclid(1.0);
    if fraction < 1.0 { fraction } else { 0.0 }
}

fn is_symmetric(waves: &BTreeMap<Joint, Wave>, harmonics: usize) -> bool {
    let still = Wave::zero(harmonics);
    Joint::ALL.into_iter().filter(|joint| joint.side() == Side::Left).all(|joint| {
        let left = waves.get(&joint).unwrap_or(&still);
        let right = joint.partner().and_then(|partner| waves.get(&partner)).unwrap_or(&still);
        let gap = left.half_a_cycle_later().combined(right, 1.0, -1.0).rms();
        let stronger = left.rms_amplitude().max(right.rms_amplitude());
        gap <= (SIDES_DIFFER * stronger).max(SIDES_DIFFER_RAD)
    })
}

/// Signals and bindings: in a symmetric gait one signal per pair, averaged, the right side half a cycle later.
fn bind(profile: &mut Profile, waves: &BTreeMap<Joint, Wave>, harmonics: usize) {
    use std::f64::consts::PI;
    let still = Wave::zero(harmonics);
    let mut add = |key: &str, signal: Signal, joints: &[(Joint, f64)]| {
        if signal == Signal::default() {
            return;
        }
        profile.signals.push((key.to_owned(), signal));
        let signal = profile.signals.len() - 1;
        profile.bindings.extend(joints.iter().map(|&(joint, shift)| Binding { joint, signal, shift }));
    };
    if !profile.symmetric {
        for (joint, wave) in waves {
            add(joint.name(), wave.signal(), &[(*joint, 0.0)]);
        }
        return;
    }
    for joint in Joint::ALL {
        match (joint.side(), joint.partner()) {
            (Side::Left, Some(right)) if waves.contains_key(&joint) || waves.contains_key(&right) => {
                let [l, r] = [joint, right].map(|side| waves.get(&side).unwrap_or(&still));
                let signal = l.combined(&r.half_a_cycle_later(), 0.5, 0.5).signal();
                let name = joint.name();
                let key = name.strip_prefix("l_").unwrap_or(name);
                let key = if key == "r_hip" { "hip" } else { key };
                add(key, signal, &[(joint, 0.0), (right, PI)]);
            }
            (Side::Middle, _) => {
                if let Some(wave) = waves.get(&joint) {
                    add(joint.name(), wave.signal(), &[(joint, 0.0)]);
                }
            }
            _ => {}
        }
    }
}

/// Limits for joints that the clip or the fit takes outside the contract's.
fn widen_limits(profile: &mut Profile, recording: &Recording) {
    for (joint, column) in recording.columns() {
        let [lo, hi] = joint.wire_limits();
        let mut reached = column.iter().fold([lo, hi], |[lo, hi], value| [lo.min(*value), hi.max(*value)]);
        if let Some((signal, _)) = bound(profile, joint) {
            for index in 0..SAMPLES {
                let value = signal.at(TAU * f64::from(index) / f64::from(SAMPLES));
                reached = [reached[0].min(value), reached[1].max(value)];
            }
        }
        if reached != [lo, hi] {
            profile.limits.insert(joint, reached);
        }
    }
}

fn bound(profile: &Profile, joint: Joint) -> Option<(&Signal, f64)> {
    let binding = profile.bindings.iter().find(|binding| binding.joint == joint)?;
    Some((&profile.signals[binding.signal].1, binding.shift))
}

/// Root mean square difference between clip and profile over all frames, radians.
fn rms(profile: &Profile, recording: &Recording, phases: &[f64]) -> BTreeMap<&'static str, f64> {
    let psi: Vec<f64> = phases.iter().map(|phase| profile.phase_warp.apply(*phase)).collect();
    recording
        .columns()
        .map(|(joint, column)| {
            let bound = bound(profile, joint);
            let squares = psi.iter().zip(column).map(|(psi, value)| {
                let fitted = bound.map_or(0.0, |(signal, shift)| signal.at(psi + shift));
                (value - fitted) * (value - fitted)
            });
            (joint.name(), (squares.sum::<f64>() / column.len() as f64).sqrt())
        })
        .collect()
}
