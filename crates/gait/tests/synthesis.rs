//! Gait synthesis against the reference vectors of the human-layer specification, section 31, and hostile input.

use std::f64::consts::{PI, TAU};

use promenade_gait::{
    BatchError, Binding, Gait, GaitBatch, GaitInput, GaitOutput, GaitPool, GaitReport, Harmonic, JOINT_COUNT,
    Joint, PhaseWarp, Pose40, PoseId, PoseProfile, PoseTable, Profile, ProfileLibrary, Signal, initial_phase,
};
use proptest::prelude::*;

const WALK: u8 = 1;
const RUN: u8 = 2;

fn after(id: u32, state: u8, speed: f64, steps: usize) -> (f64, Pose40) {
    let mut pool = GaitPool::default();
    let input = GaitInput { state, speed, dt: 0.05, phase_override: None };
    let mut last = (0.0, [0.0; JOINT_COUNT]);
    for _ in 0..steps {
        last = pool.advance_default(id, &input);
    }
    last
}

#[track_caller]
fn assert_close(found: f64, expected: f64, what: &str) {
    assert!((found - expected).abs() <= 1e-9, "{what}: {found} instead of {expected}");
}

#[test]
fn reference_rows_of_walking_and_running() {
    use Joint::{LElbow, LKnee, LPShoulder, LRHip, RKnee, RRHip, Waist};
    let joints = [LRHip, RRHip, LKnee, RKnee, LPShoulder, LElbow, Waist];
    let rows = [
        (
            (7, WALK, 1.0, 1),
            0.420624350,
            [0.426349576, 0.091064238, -1.028147159, -0.369529300, -0.092289666, 0.187198462, -0.008862542],
        ),
        (
            (7, WALK, 1.0, 40),
            12.060225131,
            [-0.045571746, 0.310681119, -0.687149804, -0.446284002, 0.150651732, 0.348554773, 0.002720591],
        ),
        (
            (1, WALK, 0.3, 40),
            7.117452690,
            [0.140065898, -0.006954192, -0.212934494, -0.080727450, -0.052313804, 0.041618478, -0.002280524],
        ),
        (
            (2, RUN, 2.5, 40),
            22.340214426,
            [0.205567806, 0.700000000, -0.728464508, -2.044221602, 0.183592675, 0.617512632, -0.019273794],
        ),
        (
            (7, WALK, -1.0, 40),
            -11.815879036,
            [0.464312849, 0.003859702, -0.780681451, -0.296501201, -0.160670736, 0.146400273, -0.008337215],
        ),
    ];
    for ((id, state, speed, steps), phase, values) in rows {
        let (found_phase, pose) = after(id, state, speed, steps);
        let row = format!("id {id}, state {state}, speed {speed}, {steps} steps");
        assert_close(found_phase, phase, &format!("{row}, phase"));
        for (joint, value) in joints.into_iter().zip(values) {
            assert_close(pose[joint.index()], value, &format!("{row}, {joint}"));
        }
    }
}

#[test]
fn reference_row_of_idling() {
    for state in [0, 3, 6, 200] {
        let (phase, pose) = after(7, state, 1.0, 40);
        assert_close(phase, 3.263765701, "phase");
        for joint in Joint::ALL {
            let expected = match joint {
                Joint::Waist => -0.003656080,
                Joint::YHead => 0.049800737,
                Joint::PHead => 0.009758479,
                _ => 0.0,
            };
            assert_close(pose[joint.index()], expected, joint.name());
        }
    }
}

/// The formula of section 9 read literally: one sine per harmonic and joint.
fn literal(profile: &Profile, phase: f64, gain: f64) -> Pose40 {
    let angle = profile.phase_warp.apply(phase);
    let mut pose = [0.0; JOINT_COUNT];
    for binding in &profile.bindings {
        pose[binding.joint.index()] = gain * profile.signals[binding.signal].1.at(angle + binding.shift);
    }
    for joint in Joint::ALL {
        let [lo, hi] = profile.limits_of(joint);
        pose[joint.index()] = pose[joint.index()].max(lo).min(hi);
    }
    pose
}

#[test]
fn every_shipped_profile_equals_the_literal_formula() {
    for (stem, entry) in ProfileLibrary::builtin().iter() {
        for step in 0..2000 {
            let phase = f64::from(step) * 0.173 - 150.0;
            let mut pose = [f64::NAN; JOINT_COUNT];
            entry.gait.evaluate(phase, 0.83, &mut pose);
            let expected = literal(&entry.profile, phase, 0.83);
            for joint in Joint::ALL {
                let (found, expected) = (pose[joint.index()], expected[joint.index()]);
                assert!((found - expected).abs() < 1e-12, "{stem}, {joint} at {phase}: {found}, {expected}");
            }
        }
    }
}

#[test]
fn left_is_right_half_a_cycle_later() {
    let walk = ProfileLibrary::builtin().gait("walk_cmu_12_01").unwrap();
    let (mut now, mut later) = ([0.0; JOINT_COUNT], [0.0; JOINT_COUNT]);
    for step in 0..100 {
        let phase = f64::from(step) * 0.31;
        walk.evaluate(phase, 1.0, &mut now);
        walk.evaluate(phase + PI, 1.0, &mut later);
        for joint in [Joint::LRHip, Joint::LKnee, Joint::LPShoulder, Joint::LElbow] {
            let right = joint.partner().unwrap();
            assert_close(now[joint.index()], later[right.index()], joint.name());
        }
    }
}

#[test]
fn minus_zero_walks_backward() {
    let start = initial_phase(7);
    assert!(after(7, WALK, 0.0, 1).0 > start);
    assert!(after(7, WALK, -0.0, 1).0 < start);
}

#[test]
fn a_phase_override_replaces_the_step() {
    let mut pool = GaitPool::default();
    let input = GaitInput { state: WALK, speed: 1.0, dt: 0.05, phase_override: Some(3.5) };
    assert_eq!(pool.advance_default(4, &input).0, 3.5);
    let next = GaitInput { phase_override: None, ..input };
    assert_close(pool.advance_default(4, &next).0, 3.5 + TAU * 0.95 * 0.05, "the step after an override");
}

#[test]
fn forgetting_starts_over() {
    let mut pool = GaitPool::default();
    for id in [3, 363, 9] {
        pool.set_phase(id, 100.0);
    }
    pool.forget(3);
    assert_eq!(pool.phase(3), None);
    pool.retain(|id| id == 9);
    assert_eq!((pool.len(), pool.phase(9)), (1, Some(100.0)));
    let still = GaitInput { state: WALK, speed: 0.0, dt: 0.0, phase_override: None };
    assert_eq!(pool.advance_default(363, &still).0, 3.0 * PI / 180.0);
}

#[test]
fn an_idle_profile_is_evaluated_at_unit_gain() {
    let library = ProfileLibrary::builtin();
    let seated = library.gait("seated").unwrap().clone();
    let profile = PoseProfile { idle: Some(seated), ..PoseProfile::default() };
    let mut pool = GaitPool::default();
    let mut pose = [0.0; JOINT_COUNT];
    let input = GaitInput { state: 0, speed: 0.0, dt: 0.05, phase_override: None };
    pool.advance_one(1, &input, &profile, &mut pose);
    for binding in &library.get("seated").unwrap().profile.bindings {
        let entry = &library.get("seated").unwrap().profile;
        let [lo, hi] = entry.limits_of(binding.joint);
        let mean = entry.signals[binding.signal].1.mean;
        assert_eq!(pose[binding.joint.index()], mean.clamp(lo, hi), "{}", binding.joint);
    }
    assert_eq!(
        pose[Joint::Spine.index()],
        0.800_056_226_625_716_8,
        "the profile's own limit, not the table's"
    );
    assert_eq!(pose[Joint::LRHip.index()], 1.421_124_413_859_586_2);
}

#[test]
fn unbound_joints_obey_the_profiles_limits() {
    let mut profile = Profile::default();
    profile.limits.insert(Joint::LElbow, [0.2, 1.0]);
    let mut pose = [0.0; JOINT_COUNT];
    Gait::new(&profile).evaluate(0.0, 1.0, &mut pose);
    assert_eq!(pose[Joint::LElbow.index()], 0.2);
}

#[test]
fn a_batch_equals_single_steps_in_any_order() {
    let table = PoseTable::default();
    let people: u32 = 50;
    let ids: Vec<u32> = (0..people).map(|n| n.wrapping_mul(2_654_435_761)).collect();
    let states: Vec<u8> = (0..people).map(|n| (n % 8) as u8).collect();
    let speeds: Vec<f64> = (0..people).map(|n| f64::from(n) * 0.07 - 1.0).collect();
    let dts: Vec<f64> = (0..people).map(|n| 0.01 + f64::from(n) * 0.001).collect();
    let overrides: Vec<f64> = (0..people).map(|n| if n % 9 == 4 { f64::from(n) } else { f64::NAN }).collect();
    let poses = vec![PoseId::DEFAULT; people as usize];
    let (mut batch_pool, mut single_pool) = (GaitPool::default(), GaitPool::default());
    let mut out = vec![[0.0; JOINT_COUNT]; people as usize];
    let mut phases = vec![0.0; people as usize];
    for _ in 0..20 {
        let batch = GaitBatch {
            ids: &ids,
            states: &states,
            speeds: &speeds,
            dts: &dts,
            phase_overrides: &overrides,
            poses: &poses,
        };
        let mut output = GaitOutput { poses: &mut out, phases: &mut phases };
        let report = batch_pool.advance(&table, &batch, &mut output).unwrap();
        assert_eq!(report, GaitReport { unknown_state: Some((7, 7)), repaired: 0 });
        for n in (0..people as usize).rev() {
            let input = GaitInput {
                state: states[n],
                speed: speeds[n],
                dt: dts[n],
                phase_override: (!overrides[n].is_nan()).then_some(overrides[n]),
            };
            let (phase, pose) = single_pool.advance_default(ids[n], &input);
            assert_eq!((phase.to_bits(), pose), (phases[n].to_bits(), out[n]), "entry {n}");
        }
    }
}

#[test]
fn lengths_are_checked_before_anything_moves() {
    let mut pool = GaitPool::default();
    let batch = GaitBatch {
        ids: &[1, 2],
        states: &[1, 1],
        speeds: &[1.0],
        dts: &[0.05, 0.05],
        phase_overrides: &[f64::NAN; 2],
        poses: &[PoseId::DEFAULT; 2],
    };
    let mut output = GaitOutput { poses: &mut [[0.0; JOINT_COUNT]; 2], phases: &mut [0.0; 2] };
    let error = pool.advance(&PoseTable::default(), &batch, &mut output).unwrap_err();
    assert_eq!(error, BatchError { field: "speeds", found: 1, ids: 2 });
    assert!(pool.is_empty());
}

#[test]
fn a_huge_phase_does_not_freeze_the_gait() {
    let mut pool = GaitPool::default();
    let input = GaitInput { state: WALK, speed: 1.0, dt: 0.05, phase_override: Some(1e300) };
    pool.advance_default(1, &input);
    let before = pool.phase(1).unwrap();
    let (after, _) = pool.advance_default(1, &GaitInput { phase_override: None, ..input });
    assert!((after - before - TAU * 0.95 * 0.05).abs() < 1e-6);
}

fn any_f64() -> impl Strategy<Value = f64> {
    prop_oneof![any::<u64>().prop_map(f64::from_bits), -1e3..1e3, Just(f64::NAN), Just(f64::INFINITY)]
}

fn any_profile() -> impl Strategy<Value = Profile> {
    let harmonic = (-3.0..3.0, -4.0..4.0).prop_map(|(amplitude, phase)| Harmonic { amplitude, phase });
    let signal = (-1.0..1.0, prop::collection::vec(harmonic, 0..6));
    let binding = (0..JOINT_COUNT, 0..4usize, -4.0..4.0);
    (
        prop::collection::vec(signal, 4),
        prop::collection::btree_map(0..JOINT_COUNT, binding, 0..20),
        0.05..0.95,
    )
        .prop_map(|(signals, bindings, split)| Profile {
            phase_warp: PhaseWarp::new(split).unwrap(),
            signals: (0..)
                .zip(signals)
                .map(|(n, (mean, harmonics))| (format!("s{n}"), Signal { mean, harmonics }))
                .collect(),
            bindings: bindings
                .into_iter()
                .map(|(joint, (_, signal, shift))| Binding { joint: Joint::ALL[joint], signal, shift })
                .collect(),
            ..Profile::default()
        })
}

proptest! {
    #[test]
    fn hostile_numbers_neither_poison_nor_leave_the_limits(
        inputs in prop::collection::vec((any::<u8>(), any_f64(), any_f64(), prop::option::of(any_f64())), 1..20)
    ) {
        let mut pool = GaitPool::default();
        for (state, speed, dt, phase_override) in inputs {
            let (phase, pose) = pool.advance_default(5, &GaitInput { state, speed, dt, phase_override });
            prop_assert!(phase.is_finite());
            for joint in Joint::ALL {
                let [lo, hi] = joint.wire_limits();
                prop_assert!((lo..=hi).contains(&pose[joint.index()]), "{joint} {}", pose[joint.index()]);
            }
        }
        let before = pool.phase(5).unwrap();
        let good = GaitInput { state: WALK, speed: 1.0, dt: 0.05, phase_override: None };
        let after = pool.advance_default(5, &good).0;
        prop_assert!(after != before);
    }

    #[test]
    fn any_profile_equals_the_literal_formula(profile in any_profile(), phase in -500.0..500.0f64, gain in 0.0..2.0f64) {
        let mut pose = [f64::NAN; JOINT_COUNT];
        Gait::new(&profile).evaluate(phase, gain, &mut pose);
        let expected = literal(&profile, phase, gain);
        for joint in Joint::ALL {
            prop_assert!((pose[joint.index()] - expected[joint.index()]).abs() < 1e-11, "{joint}");
        }
    }
}
