//! The fitter against recordings whose profile is known.

use std::f64::consts::{PI, TAU};

use promenade_gait::{
    CadenceLaw, Joint, PhaseWarp, Profile, ProfileFile, ProfileLibrary, Side,
    fit::{Fit, FitError, FitOptions, Recording, fit},
};
use proptest::prelude::*;

fn walk() -> Profile {
    ProfileLibrary::builtin().get("walk_cmu_12_01").unwrap().profile.clone()
}

/// Frames of a profile at phases, not clamped, every bound joint plus a still one.
fn frames(profile: &Profile, phases: &[f64]) -> Vec<Vec<(Joint, f64)>> {
    phases
        .iter()
        .map(|phase| {
            let psi = profile.phase_warp.apply(*phase);
            let mut frame = vec![(Joint::LAnkle, 0.0)];
            frame.extend(
                profile.bindings.iter().map(|binding| {
                    (binding.joint, profile.signals[binding.signal].1.at(psi + binding.shift))
                }),
            );
            frame
        })
        .collect()
}

fn steady(count: usize, frames_per_cycle: f64, start: f64) -> Vec<f64> {
    (0..count).map(|index| start + TAU * index as f64 / frames_per_cycle).collect()
}

fn fitted(frames: Vec<Vec<(Joint, f64)>>) -> Fit {
    let recording = Recording::new(20.0, frames).unwrap();
    fit(&recording, &FitOptions::default(), &mut |_, _| {}).unwrap()
}

fn bound(profile: &Profile, joint: Joint) -> (Vec<[f64; 2]>, f64) {
    let binding = profile.bindings.iter().find(|binding| binding.joint == joint);
    let Some(binding) = binding else { return (vec![], 0.0) };
    let signal = &profile.signals[binding.signal].1;
    // As phasors at the joint, whoever holds the shift.
    let parts = (1u32..).zip(&signal.harmonics).map(|(k, harmonic)| {
        let (sin, cos) = (harmonic.phase + f64::from(k) * binding.shift).sin_cos();
        [harmonic.amplitude * cos, harmonic.amplitude * sin]
    });
    (parts.collect(), signal.mean)
}

/// The largest difference of any coefficient of any joint.
fn worst_coefficient(a: &Profile, b: &Profile) -> f64 {
    let mut worst: f64 = 0.0;
    for joint in Joint::ALL {
        let ((parts_a, mean_a), (parts_b, mean_b)) = (bound(a, joint), bound(b, joint));
        worst = worst.max((mean_a - mean_b).abs());
        for k in 0..parts_a.len().max(parts_b.len()) {
            let part = |parts: &[[f64; 2]]| parts.get(k).copied().unwrap_or_default();
            let ([s, c], [t, d]) = (part(&parts_a), part(&parts_b));
            worst = worst.max((s - t).abs()).max((c - d).abs());
        }
    }
    worst
}

#[test]
fn six_seconds_of_the_walk_round_trip() {
    let fit = fitted(frames(&walk(), &steady(120, 20.0, 1.3)));
    assert_eq!((fit.report.cycles, fit.report.frames_used, fit.report.frames), (6, 120, 120));
    assert!(worst_coefficient(&fit.profile, &walk()) < 1e-6, "{}", worst_coefficient(&fit.profile, &walk()));
    assert!(fit.profile.symmetric);
    assert_eq!(fit.profile.phase_warp.split(), 0.5);
    assert!((fit.report.cadence_hz - 1.0).abs() < 1e-9);
    assert!((fit.report.heel_strike_fraction - 0.5).abs() < 1e-9);
    assert!(fit.report.worst_rms < 1e-6, "{}", fit.report.worst_rms);
    let keys: Vec<&str> = fit.profile.signals.iter().map(|(key, _)| key.as_str()).collect();
    assert_eq!(keys, ["waist", "r_head", "y_head", "p_head", "p_shoulder", "elbow", "hip", "knee"]);
    for binding in &fit.profile.bindings {
        assert_eq!(binding.shift, if binding.joint.side() == Side::Right { PI } else { 0.0 });
    }
    let hip = &fit.profile.signals.iter().find(|(key, _)| key == "hip").unwrap().1;
    assert!((hip.harmonics[0].phase - 0.0041).abs() < 1e-6);
}

#[test]
fn a_period_between_frames_is_recovered() {
    let fit = fitted(frames(&walk(), &steady(120, 23.7, 0.4)));
    assert!((fit.report.period_s * 20.0 - 23.7).abs() < 1e-3, "{}", fit.report.period_s * 20.0);
    assert_eq!(fit.report.cycles, 5);
    assert!(worst_coefficient(&fit.profile, &walk()) < 1e-6, "{}", worst_coefficient(&fit.profile, &walk()));
}

/// Gaussian noise from a fixed linear congruence: the same on every machine.
struct Noise(u64);

impl Noise {
    fn uniform(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 11) as f64 + 0.5) / (1u64 << 53) as f64
    }

    fn gauss(&mut self, sigma: f64) -> f64 {
        sigma * (-2.0 * self.uniform().ln()).sqrt() * (TAU * self.uniform()).cos()
    }
}

#[test]
fn noise_of_a_hundredth_moves_no_coefficient_by_more() {
    for seed in 0..20 {
        let mut noise = Noise(seed);
        let mut frames = frames(&walk(), &steady(120, 20.0, 0.0));
        for (_, value) in frames.iter_mut().flatten() {
            *value += noise.gauss(0.01);
        }
        let fit = fitted(frames);
        let worst = worst_coefficient(&fit.profile, &walk());
        assert!(worst < 0.01, "seed {seed}: {worst}");
        assert_eq!((fit.report.cycles, fit.report.frames_used), (6, 120), "seed {seed}");
        assert!(fit.profile.symmetric, "seed {seed}");
        assert_eq!(fit.profile.phase_warp.split(), 0.5, "seed {seed}: {}", fit.report.split_fitted);
    }
}

fn limping() -> Profile {
    let mut profile = walk();
    profile.symmetric = false;
    profile.phase_warp = PhaseWarp::new(0.58).unwrap();
    let knee = profile.signals.iter().find(|(key, _)| key == "knee").unwrap().1.clone();
    let mut scaled = knee;
    scaled.mean *= 0.4;
    scaled.harmonics.iter_mut().for_each(|harmonic| harmonic.amplitude *= 0.4);
    profile.signals.push(("r_knee".to_owned(), scaled));
    let last = profile.signals.len() - 1;
    for binding in &mut profile.bindings {
        if binding.joint == Joint::RKnee {
            binding.signal = last;
        }
    }
    profile
}

#[test]
fn an_uneven_walk_is_recovered() {
    for frames_per_cycle in [20.0, 21.3] {
        let fit = fitted(frames(&limping(), &steady(160, frames_per_cycle, 0.9)));
        assert!(!fit.profile.symmetric);
        assert!((fit.profile.phase_warp.split() - 0.58).abs() < 0.01, "{}", fit.report.split_fitted);
        for binding in &limping().bindings {
            let amplitude = |parts: &[[f64; 2]]| parts.first().map_or(0.0, |[a, b]| a.hypot(*b));
            let found = amplitude(&bound(&fit.profile, binding.joint).0);
            let expected = amplitude(&bound(&limping(), binding.joint).0);
            assert!((found - expected).abs() < 0.02 * expected, "{}: {found} {expected}", binding.joint);
        }
        let ratio = bound(&fit.profile, Joint::RKnee).1 / bound(&fit.profile, Joint::LKnee).1;
        assert!((ratio - 0.4).abs() < 0.01);
        let keys: Vec<&str> = fit.profile.signals.iter().map(|(key, _)| key.as_str()).collect();
        assert!(keys.contains(&"l_r_hip") && keys.contains(&"r_knee"), "{keys:?}");
    }
}

#[test]
fn a_cadence_that_drifts_is_followed_cycle_by_cycle() {
    let phases: Vec<f64> = (0..200)
        .map(|index| {
            let t = f64::from(index) / 20.0;
            TAU * t + 0.25 * (TAU * t / 10.0).sin()
        })
        .collect();
    let fit = fitted(frames(&walk(), &phases));
    // A steady rate would leave the knee 0.09 rad off.
    assert!(fit.report.worst_rms < 0.05, "{} {}", fit.report.worst_joint, fit.report.worst_rms);
}

#[test]
fn the_cadence_law_is_fixed_or_goes_through_the_speed() {
    let recording = Recording::new(20.0, frames(&walk(), &steady(120, 20.0, 0.0))).unwrap();
    let law = |speed| {
        let options = FitOptions { speed, ..FitOptions::default() };
        fit(&recording, &options, &mut |_, _| {}).unwrap()
    };
    let fixed = law(None);
    let CadenceLaw { base, per_speed, min, max } = fixed.profile.cadence;
    assert_eq!((base, per_speed, base), (min, 0.0, max));
    assert!((base - 1.0).abs() < 1e-9);
    assert_eq!(fixed.report.cadence_law, "fixed");
    let through = law(Some(1.2));
    assert!((through.profile.cadence.hz(1.2) - 1.0).abs() < 1e-9);
    assert_eq!((through.profile.cadence.base, through.profile.cadence.max), (0.4, 2.2));
    assert_eq!(through.report.cadence_law, "through_speed");
    assert_eq!(through.profile.gain.at(0.1), 1.0);
}

#[test]
fn limits_are_widened_to_what_is_reached() {
    let fit = fitted(frames(&walk(), &steady(120, 20.0, 0.0)));
    assert_eq!(
        fit.report.limits_widened.keys().copied().collect::<Vec<_>>(),
        ["l_knee", "l_r_hip", "r_knee", "r_r_hip"]
    );
    let [lo, hi] = fit.profile.limits[&Joint::LRHip];
    assert!((-0.41..-0.4).contains(&lo), "{lo}");
    assert_eq!(hi, 0.7);
}

#[test]
fn a_fitted_profile_is_a_library_file_that_reads_back() {
    let fit = fitted(frames(&limping(), &steady(160, 21.3, 0.9)));
    let text = ProfileFile::of("limping", &fit.profile).to_yaml();
    let file = ProfileFile::parse("limping", "limping.yaml", &text).unwrap();
    assert_eq!(file.to_yaml(), text);
    assert_eq!(file.signals, fit.profile.signals);
}

#[test]
fn reports_have_exactly_the_keys_of_the_specification() {
    let fit = fitted(frames(&walk(), &steady(120, 20.0, 0.0)));
    let json = serde_json::to_value(&fit.report).unwrap();
    let keys: Vec<&str> = json.as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(
        keys,
        [
            "name",
            "fps",
            "frames",
            "frames_used",
            "cycles",
            "period_s",
            "cadence_hz",
            "cadence_law",
            "speed",
            "harmonics",
            "symmetric",
            "split",
            "split_fitted",
            "heel_strike_fraction",
            "rms",
            "worst_joint",
            "worst_rms",
            "limits_widened"
        ]
    );
    assert!(json["speed"].is_null());
    let table = fit.report.to_string();
    assert!(table.contains("6 cycles") && table.contains("l_r_hip"), "{table}");
}

#[track_caller]
fn refused(recording: Result<Recording, FitError>, options: &FitOptions) -> String {
    recording.and_then(|recording| fit(&recording, options, &mut |_, _| {})).unwrap_err().to_string()
}

#[test]
fn clips_that_cannot_be_fitted_say_why() {
    let options = FitOptions::default();
    let new = |frames: Vec<Vec<(Joint, f64)>>| Recording::new(20.0, frames);
    let good = frames(&walk(), &steady(120, 20.0, 0.0));
    assert_eq!(refused(new(vec![]), &options), "the clip has no frames");
    let mut other = good.clone();
    other[7].pop();
    assert_eq!(refused(new(other), &options), "frame 7 does not list the joints of frame 0: p_head");
    let mut other = good.clone();
    other[3].push((Joint::Chest, 0.0));
    assert_eq!(refused(new(other), &options), "frame 3 does not list the joints of frame 0: chest");
    let mut other = good.clone();
    other[4][1].1 = f64::NAN;
    assert_eq!(refused(new(other), &options), "frame 4: l_r_hip is not finite");
    let no_hip = good.iter().map(|frame| frame.iter().copied().filter(|(j, _)| *j != Joint::RRHip).collect());
    assert_eq!(refused(new(no_hip.collect()), &options), "the clip has no r_r_hip");
    let still = vec![vec![(Joint::LRHip, 0.1), (Joint::RRHip, 0.1)]; 50];
    assert_eq!(refused(new(still), &options), "l_r_hip does not move");
    assert_eq!(refused(new(good[..30].to_vec()), &options), "needs at least 2 whole walking cycles");
    for few in 1..8 {
        refused(new(good[..few].to_vec()), &options);
    }
    let fast = frames(&walk(), &steady(60, 5.3, 0.0));
    assert_eq!(refused(new(fast), &options), "a cycle spans 5.3 frames; 3 harmonics need more than 6");
    assert_eq!(
        refused(new(good.clone()), &FitOptions { harmonics: 9, ..options.clone() }),
        "harmonics must be 1 to 8"
    );
    assert_eq!(refused(new(good), &FitOptions { speed: Some(0.0), ..options }), "speed must be above 0");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn no_recording_panics(
        values in prop::collection::vec((-1e3..1e3f64, -4.0..4.0f64), 1..90),
        harmonics in 0usize..10,
        scale in prop::sample::select(vec![0.0, 1e-9, 1.0, 1e12]),
    ) {
        let frames = values.iter().map(|(a, b)| [(Joint::LRHip, a * scale), (Joint::RRHip, *b)]);
        let recording = Recording::new(20.0, frames).unwrap();
        let options = FitOptions { harmonics, ..FitOptions::default() };
        if let Ok(fit) = fit(&recording, &options, &mut |_, _| {}) {
            prop_assert!(fit.report.worst_rms.is_finite());
            prop_assert!(fit.profile.signals.iter().all(|(_, signal)| signal.mean.is_finite()));
        }
    }

    #[test]
    fn splits_are_recovered(split in 0.3..0.7f64, period in 20.0..40.0f64, start in -3.0..3.0f64) {
        let mut profile = walk();
        profile.phase_warp = PhaseWarp::new(split).unwrap();
        let fit = fitted(frames(&profile, &steady(200, period, start)));
        let expected = if (split - 0.5).abs() <= 0.02 { 0.5 } else { split };
        prop_assert!((fit.report.split - expected).abs() < 0.03, "{} {}", fit.report.split, fit.report.split_fitted);
    }
}
