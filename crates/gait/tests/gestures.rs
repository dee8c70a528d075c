//! Gesture slots: section 14 and the "Gestures" items of section 30 of the human-layer specification.

use std::sync::Arc;

use promenade_gait::{
    ArticulationBatch, Articulator, GaitBatch, GaitOutput, GaitPool, JOINT_COUNT, Joint, JointSet, Pose40,
    PoseId, PoseTable,
    animation::SlotId,
    gesture::{Channel, NoChannels, Notice, Refusal},
    rig::{Frames, Link, Rig, Transform, wire_to_urdf},
};
use proptest::prelude::*;

const ID: u32 = 360;
const DT: f64 = 0.05;
const WALKING: u8 = 1;
const AHEAD: [f64; 3] = [5.0, 0.0, 1.4];
const LEFT: [f64; 3] = [0.5, 4.0, 1.2];
const RIGHT: [f64; 3] = [0.5, -4.0, 1.2];

const fn look(at: [f64; 3]) -> Channel<'static> {
    Channel { slot: "head", at, clip: "", hand: "" }
}

const fn point(slot: &'static str, at: [f64; 3], hand: &'static str) -> Channel<'static> {
    Channel { slot, at, clip: "", hand }
}

const fn play(clip: &'static str) -> Channel<'static> {
    Channel { slot: "body", at: [0.0; 3], clip, hand: "" }
}

#[derive(Default)]
struct Stage {
    articulator: Articulator,
    table: PoseTable,
    state: u8,
    pose: [f64; 3],
    out: Vec<Pose40>,
}

impl Stage {
    fn tick(&mut self, channels: &[Channel<'_>]) -> Pose40 {
        let channels = [channels.to_vec()];
        let speed = if self.state == WALKING { 1.0 } else { 0.0 };
        let batch = ArticulationBatch {
            gait: GaitBatch {
                ids: &[ID],
                states: &[self.state],
                speeds: &[speed],
                dts: &[DT],
                phase_overrides: &[f64::NAN],
                poses: &[PoseId::DEFAULT],
            },
            positions: &[self.pose],
            channels: channels.as_slice(),
        };
        self.out.resize(1, [0.0; JOINT_COUNT]);
        let mut output = GaitOutput { poses: &mut self.out, phases: &mut [0.0] };
        self.articulator.advance(&self.table, &batch, &mut output).unwrap();
        self.out[0]
    }

    /// Seconds of the same request.
    fn run(&mut self, seconds: f64, channels: &[Channel<'_>]) -> Pose40 {
        let ticks = (seconds / DT).round() as usize;
        (0..ticks).map(|_| self.tick(channels)).last().unwrap()
    }

    fn playing(&self, slot: SlotId) -> Option<(JointSet, usize)> {
        let (animation, _) = self.articulator.manager().playing(ID, slot)?;
        Some((animation.joints(), Arc::as_ptr(animation) as usize))
    }

    fn clip(&self, slot: SlotId) -> usize {
        self.playing(slot).expect("something plays").1
    }

    fn notices(&mut self) -> Vec<Notice> {
        self.articulator.drain_notices().collect()
    }

    /// Degrees between a forearm and the way from its wrist to a place in the world.
    fn aim_error(&self, side: &str, at: [f64; 3]) -> f64 {
        let rig = Rig::default();
        let mut frames = Frames::default();
        let root = Transform { translation: [0.0, 0.0, rig.hip_height()], ..Transform::IDENTITY };
        rig.forward(&root, &wire_to_urdf(&self.out[0]), &mut frames);
        let origin = |name: &str| frames.origin(Link::parse(&format!("{side}_{name}")).unwrap());
        let (elbow, wrist) = (origin("elbow"), origin("wrist"));
        let [x, y, yaw] = self.pose;
        let (sin, cos) = yaw.sin_cos();
        let (dx, dy) = (at[0] - x, at[1] - y);
        let target = [cos * dx + sin * dy, cos * dy - sin * dx, at[2]];
        let dot: f64 = (0..3).map(|axis| (wrist[axis] - elbow[axis]) * (target[axis] - wrist[axis])).sum();
        let length =
            |a: [f64; 3], b: [f64; 3]| (0..3).map(|axis| (a[axis] - b[axis]).powi(2)).sum::<f64>().sqrt();
        (dot / length(wrist, elbow) / length(target, wrist)).clamp(-1.0, 1.0).acos().to_degrees()
    }
}

fn angle(pose: &Pose40, joint: Joint) -> f64 {
    pose[joint.index()]
}

#[test]
fn nobody_gestures_nobody_changes() {
    let mut pool = GaitPool::default();
    let mut articulator = Articulator::default();
    let table = PoseTable::default();
    let ids: Vec<u32> = (0..50).map(|n| n * 7919).collect();
    let states: Vec<u8> = (0..50).map(|n| n % 8).collect();
    let speeds: Vec<f64> = (0..50).map(|n| f64::from(n) * 0.1 - 1.0).collect();
    let (dts, overrides, poses) = (vec![DT; 50], vec![f64::NAN; 50], vec![PoseId::DEFAULT; 50]);
    let gait = GaitBatch {
        ids: &ids,
        states: &states,
        speeds: &speeds,
        dts: &dts,
        phase_overrides: &overrides,
        poses: &poses,
    };
    let (mut expected, mut found) = (vec![[0.0; JOINT_COUNT]; 50], vec![[0.0; JOINT_COUNT]; 50]);
    let (mut expected_phases, mut found_phases) = (vec![0.0; 50], vec![0.0; 50]);
    for _ in 0..40 {
        let mut out = GaitOutput { poses: &mut expected, phases: &mut expected_phases };
        let report = pool.advance(&table, &gait, &mut out).unwrap();
        let batch = ArticulationBatch { gait, positions: &[[0.0; 3]; 50], channels: &NoChannels };
        let mut out = GaitOutput { poses: &mut found, phases: &mut found_phases };
        assert_eq!(articulator.advance(&table, &batch, &mut out).unwrap(), report);
        assert_eq!((&found, &found_phases), (&expected, &expected_phases));
    }
    let short = ArticulationBatch { gait, positions: &[[0.0; 3]; 49], channels: &NoChannels };
    let mut out = GaitOutput { poses: &mut found, phases: &mut found_phases };
    assert_eq!(articulator.advance(&table, &short, &mut out).unwrap_err().field, "positions");
}

#[test]
fn a_look_turns_the_head_to_the_target_and_back() {
    let mut stage = Stage { pose: [1.0, 2.0, 0.5], ..Stage::default() };
    // Two metres to the left and one up from the eye, as the person sees it.
    let (sin, cos) = 0.5_f64.sin_cos();
    let at = [1.0 + 0.11 * cos - 2.0 * sin, 2.0 + 0.11 * sin + 2.0 * cos, 2.54];
    let pose = stage.run(1.0, &[look(at)]);
    assert!((angle(&pose, Joint::YHead) - 1.4).abs() < 1e-9, "beyond the limit of 1.4");
    assert!((angle(&pose, Joint::PHead) - 0.5_f64.atan()).abs() < 1e-9);
    let pose = stage.run(1.0, &[]);
    assert!(stage.playing(SlotId::HEAD).is_none());
    assert!(angle(&pose, Joint::YHead).abs() < 0.07);
}

#[test]
fn ramp_hold_release() {
    let mut stage = Stage::default();
    let mut before = 0.0;
    for _ in 0..9 {
        let flexion = angle(&stage.tick(&[point("arm", AHEAD, "")]), Joint::RPShoulder);
        assert!(flexion >= before, "the arm rises");
        before = flexion;
    }
    stage.run(1.0, &[point("arm", AHEAD, "")]);
    assert!(stage.aim_error("r", AHEAD) < 4.0, "breathing included: {}", stage.aim_error("r", AHEAD));
    let pose = stage.run(2.0, &[]);
    assert!(stage.playing(SlotId::ARM).is_none());
    assert_eq!(angle(&pose, Joint::RPShoulder), 0.0);
    assert!(stage.notices().is_empty());
}

#[test]
fn nothing_jumps() {
    let mut stage = Stage::default();
    let mut before = stage.tick(&[]);
    let script: [(f64, &[Channel<'_>]); 7] = [
        (1.5, &[point("arm", AHEAD, ""), look(LEFT)]),
        (1.5, &[point("arm", [4.0, 1.2, 2.0], ""), look(RIGHT)]),
        (0.2, &[look(RIGHT)]),
        (2.0, &[]),
        (1.2, &[play("wave")]),
        (1.0, &[]),
        (0.4, &[point("arm", RIGHT, "")]),
    ];
    for (seconds, channels) in script {
        for _ in 0..(seconds / DT) as usize {
            let pose = stage.tick(channels);
            for joint in Joint::ALL {
                let step = (angle(&pose, joint) - angle(&before, joint)).abs();
                // Looks and fades take a quarter of a second, however far they go.
                let most = if joint == Joint::YHead { 0.9 } else { 0.55 };
                assert!(step < most, "{joint} steps by {step}");
            }
            before = pose;
        }
    }
}

#[test]
fn a_release_waits_for_six_tenths_of_hold_and_is_cancelled() {
    let mut stage = Stage::default();
    stage.run(0.5, &[look(LEFT)]);
    let clip = stage.clip(SlotId::HEAD);
    // The hold begins at 0.25 s: nothing is released before 0.85 s.
    stage.run(0.3, &[]);
    assert_eq!(stage.clip(SlotId::HEAD), clip);
    stage.run(0.3, &[look(LEFT)]);
    assert_eq!(stage.clip(SlotId::HEAD), clip);
    stage.tick(&[]);
    assert_ne!(stage.clip(SlotId::HEAD), clip, "the tail");
}

#[test]
fn only_a_target_that_moves_further_than_fifteen_centimetres_is_followed() {
    let mut stage = Stage::default();
    stage.run(1.5, &[point("arm", AHEAD, "")]);
    let clip = stage.clip(SlotId::ARM);
    stage.run(0.5, &[point("arm", [5.0, 0.14, 1.4], "")]);
    assert_eq!(stage.clip(SlotId::ARM), clip);
    let near = [5.0, 0.5, 1.4];
    stage.tick(&[point("arm", near, "")]);
    assert_ne!(stage.clip(SlotId::ARM), clip);
    // A walking person's own movement counts as well.
    stage.run(1.5, &[point("arm", near, "")]);
    let clip = stage.clip(SlotId::ARM);
    stage.pose = [0.3, 0.0, 0.1];
    stage.tick(&[point("arm", near, "")]);
    assert_ne!(stage.clip(SlotId::ARM), clip);
    stage.run(1.5, &[point("arm", near, "")]);
    assert!(stage.aim_error("r", near) < 4.0);
}

#[test]
fn a_target_that_moves_in_the_ramp_is_followed_in_the_hold() {
    let mut stage = Stage::default();
    stage.tick(&[point("arm", AHEAD, "")]);
    let clip = stage.clip(SlotId::ARM);
    let other = [4.0, -1.0, 1.0];
    stage.run(0.3, &[point("arm", other, "")]);
    assert_eq!(stage.clip(SlotId::ARM), clip);
    stage.run(1.5, &[point("arm", other, "")]);
    assert!(stage.aim_error("r", other) < 4.0);
}

#[test]
fn another_arm_waits_for_the_tail() {
    let mut stage = Stage::default();
    stage.run(1.5, &[point("arm_r", AHEAD, "")]);
    stage.tick(&[point("arm_l", AHEAD, "")]);
    assert!(stage.playing(SlotId::ARM).unwrap().0.contains(Joint::RElbow), "the right arm is lowered first");
    let mut left = 0;
    for tick in 0..60 {
        let pose = stage.tick(&[point("arm_l", AHEAD, "")]);
        if angle(&pose, Joint::LPShoulder) > 0.0 && left == 0 {
            left = tick;
            assert!(angle(&pose, Joint::RPShoulder).abs() < 0.01);
        }
    }
    assert!((15..30).contains(&left), "{left}");
    assert!(stage.aim_error("l", AHEAD) < 4.0);
}

#[test]
fn the_hand_is_chosen_once_and_kept_across_the_midline() {
    for (at, hand, right) in [
        (AHEAD, "", true),
        (AHEAD, "l", false),
        ([5.0, 1.8, 1.0], "", true),
        ([5.0, 1.9, 1.0], "", false),
        ([5.0, -1.9, 1.0], "l", false),
        (LEFT, "r", false),
        (RIGHT, "l", true),
    ] {
        let at = if at == [5.0, -1.9, 1.0] { [5.0, -1.7, 1.0] } else { at };
        let mut stage = Stage::default();
        stage.tick(&[point("arm", at, hand)]);
        assert_eq!(stage.playing(SlotId::ARM).unwrap().0.contains(Joint::RElbow), right, "{at:?} {hand}");
    }
    let mut stage = Stage::default();
    stage.run(1.5, &[point("arm", RIGHT, "")]);
    stage.run(2.0, &[point("arm", LEFT, "")]);
    assert!(stage.playing(SlotId::ARM).unwrap().0.contains(Joint::RElbow));
    assert!(stage.aim_error("r", LEFT) < 4.0);
}

#[test]
fn a_moving_flip_swaps_the_torso_within_a_quarter_second() {
    let mut stage = Stage::default();
    let standing = stage.run(2.0, &[point("arm", LEFT, "")]);
    let turned = angle(&standing, Joint::YWaist);
    assert!(turned > 0.05, "the trunk helps: {turned}");
    stage.state = WALKING;
    let pose = stage.run(0.25, &[point("arm", LEFT, "")]);
    assert_eq!(angle(&pose, Joint::YWaist), 0.0);
    stage.run(1.5, &[point("arm", LEFT, "")]);
    assert!(
        stage.aim_error("l", LEFT) < 4.5,
        "solved again without the trunk: {}",
        stage.aim_error("l", LEFT)
    );
    stage.state = 0;
    let pose = stage.run(1.5, &[point("arm", LEFT, "")]);
    assert!((angle(&pose, Joint::YWaist) - turned).abs() < 1e-9);
}

#[test]
fn a_broken_gesture_costs_its_slot_only_and_is_not_retried() {
    let mut stage = Stage::default();
    let nowhere = [f64::NAN, 0.0, 0.0];
    let channels = [look(LEFT), point("arm", nowhere, ""), play("moonwalk")];
    let pose = stage.run(1.0, &channels);
    assert!(angle(&pose, Joint::YHead) > 1.0);
    assert!(pose.iter().all(|angle| angle.is_finite()));
    assert!(stage.playing(SlotId::ARM).is_none() && stage.playing(SlotId::BODY).is_none());
    assert_eq!(
        stage.notices(),
        [
            Notice::Refused { id: ID, kind: "point", refusal: Refusal::NoPlace },
            Notice::Refused { id: ID, kind: "clip", refusal: Refusal::NoClip },
        ]
    );
    // Changed, it is tried again; told it is not.
    stage.run(1.0, &[look(LEFT), point("arm", AHEAD, ""), play("walk")]);
    assert!(stage.playing(SlotId::ARM).is_some());
    assert!(stage.notices().is_empty());
    // A target that turns to nothing while it is pointed at lowers the arm.
    stage.run(1.0, &[point("arm", nowhere, "")]);
    stage.run(2.0, &[point("arm", nowhere, "")]);
    assert!(stage.playing(SlotId::ARM).is_none());
}

#[test]
fn unknown_and_repeated_channels_are_told_once() {
    let mut stage = Stage::default();
    let channels = [
        point("tail", AHEAD, ""),
        point("arm_l", AHEAD, ""),
        point("arm_r", AHEAD, ""),
        point("", AHEAD, ""),
    ];
    stage.run(1.5, &channels);
    assert_eq!(
        stage.notices(),
        [
            Notice::UnknownSlot { id: ID, slot: "tail".to_owned() },
            Notice::TwoChannels { id: ID, slot: "arm_r".to_owned() },
        ]
    );
    assert!(stage.aim_error("l", AHEAD) < 4.0, "the first wins");
}

#[test]
fn a_body_clip_plays_over_its_joints_and_fades() {
    let mut stage = Stage { state: WALKING, ..Stage::default() };
    let pose = stage.run(1.5, &[play("wave")]);
    assert!(angle(&pose, Joint::RElbow) > 1.3, "the hand is up");
    let mut pool = GaitPool::default();
    let input = promenade_gait::GaitInput { state: WALKING, speed: 1.0, dt: DT, phase_override: None };
    let gait = (0..30).map(|_| pool.advance_default(ID, &input).1).last().unwrap();
    assert_eq!(angle(&pose, Joint::LKnee), angle(&gait, Joint::LKnee), "the legs walk on");
    stage.tick(&[]);
    stage.run(0.25, &[]);
    assert!(stage.playing(SlotId::BODY).is_none());
    // A one-shot parks.
    stage.state = 0;
    let seated = stage.run(5.0, &[play("sit")]);
    assert_eq!(angle(&seated, Joint::LKnee), -1.5);
    // Another clip is another gesture.
    let pose = stage.run(1.0, &[play("t-pose")]);
    assert_eq!(angle(&pose, Joint::LKnee), 0.0);
    assert!(angle(&pose, Joint::LPShoulder) > 1.5);
}

#[test]
fn breathing_is_slow_small_and_continuous() {
    let mut stage = Stage::default();
    stage.run(1.5, &[point("arm", AHEAD, "")]);
    let flexions: Vec<f64> =
        (0..134).map(|_| angle(&stage.tick(&[point("arm", AHEAD, "")]), Joint::RPShoulder)).collect();
    let lowest = flexions.iter().copied().fold(f64::INFINITY, f64::min);
    let highest = flexions.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    assert!((highest - lowest - 3.0_f64.to_radians()).abs() < 1e-3, "1.5 degrees either way");
    for (now, later) in flexions.iter().zip(&flexions[67..]) {
        assert!((now - later).abs() < 1e-9, "67 frames");
    }
    for pair in flexions.windows(2) {
        assert!((pair[1] - pair[0]).abs() < 0.003);
    }
}

#[test]
fn forgetting_starts_over() {
    let mut stage = Stage::default();
    stage.run(1.0, &[point("arm", AHEAD, ""), point("x", AHEAD, "")]);
    assert_eq!(stage.notices().len(), 1);
    stage.articulator.retain(|id| id != ID);
    assert_eq!(stage.articulator.phase(ID), None);
    let pose = stage.tick(&[]);
    assert_eq!(angle(&pose, Joint::RPShoulder), 0.0);
    stage.tick(&[point("x", AHEAD, "")]);
    assert_eq!(stage.notices().len(), 1);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn whatever_is_asked_postures_stay_finite(
        script in proptest::collection::vec((0..7_usize, any::<f64>(), -6.0..6.0_f64, 0..4_u8, 1..12_usize), 1..24)
    ) {
        let mut stage = Stage::default();
        for (what, wild, place, state, ticks) in script {
            stage.state = state;
            stage.pose = [place, -place, place];
            let channel = match what {
                0 => look([place, 1.0, 1.5]),
                1 => point("arm", [place, place, 1.0], "l"),
                2 => point("arm_l", [wild, place, 0.0], ""),
                3 => play("hug"),
                4 => play("jump"),
                5 => look([place, wild, wild]),
                _ => point("arm_r", [0.0, place, place], ""),
            };
            for _ in 0..ticks {
                let pose = stage.tick(&[channel, look([1.0, place, 1.0])]);
                prop_assert!(pose.iter().all(|angle| angle.is_finite() && angle.abs() < 4.0), "{:?}", pose);
            }
        }
    }
}
