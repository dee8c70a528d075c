//! Base animations and overlays: section 13 and the "Animation" items of section 30 of the human-layer specification.

use std::sync::Arc;

use promenade_gait::{
    GaitInput, GaitPool, JOINT_COUNT, Joint, JointSet, Pose40, PoseProfile,
    animation::{Animation, AnimationManager, Blend, BlendError, Ended, OnEnd, SlotId},
    clip::{Annotation, ClipError},
};

const LOOP: Annotation = Annotation { looping: true, joints: JointSet::ALL, reverse: false, fps: 10.0 };
const SHOT: Annotation = Annotation { looping: false, ..LOOP };
const IDLE: GaitInput = GaitInput { state: 0, speed: 0.0, dt: 0.1, phase_override: None };
/// An id whose stagger offset is 0.
const ID: u32 = 360;
const ELBOW: usize = Joint::LElbow as usize;
const KNEE: usize = Joint::LKnee as usize;

fn clip(values: &[f64], annotation: &Annotation, loop_from: usize) -> Arc<Animation> {
    let frames: Vec<Pose40> = values.iter().map(|value| [*value; JOINT_COUNT]).collect();
    Arc::new(Animation::new("test", &frames, JointSet::ALL, annotation, loop_from).unwrap())
}

struct Stage {
    manager: AnimationManager,
    profile: PoseProfile,
}

impl Stage {
    fn new() -> Self {
        Self { manager: AnimationManager::default(), profile: PoseProfile::default() }
    }

    fn tick(&mut self, input: &GaitInput) -> Pose40 {
        let mut out = [0.0; JOINT_COUNT];
        self.manager.compute(ID, input, &self.profile, &mut out);
        out
    }

    fn elbows(&mut self, ticks: usize) -> Vec<f64> {
        (0..ticks).map(|_| round(self.tick(&IDLE)[ELBOW])).collect()
    }

    fn set(&mut self, blend: &Blend) {
        self.manager.set_blend(ID, SlotId::ARM, Some(blend)).unwrap();
    }

    fn ended(&mut self) -> Vec<u64> {
        self.manager.drain_ended().map(|ended| ended.on_end.0).collect()
    }
}

fn round(value: f64) -> f64 {
    (value * 1e9).round() / 1e9
}

#[test]
fn without_clips_a_base_is_the_gait_to_the_bit() {
    let mut stage = Stage::new();
    let mut pool = GaitPool::default();
    for (state, speed) in [(1, 1.0), (1, 1.2), (2, 2.5), (3, 0.0), (0, 0.0), (9, 0.5), (6, 0.0)] {
        let input = GaitInput { state, speed, dt: 0.05, phase_override: None };
        let (phase, expected) = pool.advance_default(ID, &input);
        assert_eq!(stage.tick(&input), expected);
        assert_eq!(stage.manager.phase(ID), Some(phase));
    }
}

#[test]
fn fade_in_gives_a_fifth_per_step() {
    let mut stage = Stage::new();
    stage.set(&Blend { fade_in: 0.5, ..Blend::new(clip(&[1.0], &LOOP, 0)) });
    assert_eq!(stage.elbows(6), [0.2, 0.4, 0.6, 0.8, 1.0, 1.0]);
}

#[test]
fn fade_out_at_the_end_of_a_one_shot() {
    let mut stage = Stage::new();
    let blend = Blend { fade_out: 0.5, on_end: Some(OnEnd(3)), ..Blend::new(clip(&[1.0; 10], &SHOT, 0)) };
    stage.set(&blend);
    assert_eq!(stage.elbows(9), [1.0, 1.0, 1.0, 1.0, 1.0, 0.8, 0.6, 0.4, 0.2]);
    assert!(stage.ended().is_empty());
    assert_eq!(stage.elbows(2), [0.0, 0.0]);
    assert_eq!(stage.ended(), [3]);
    assert!(stage.manager.playing(ID, SlotId::ARM).is_none());
}

#[test]
fn a_one_shot_without_fade_out_parks_and_ends_once() {
    let mut stage = Stage::new();
    stage.set(&Blend { on_end: Some(OnEnd(1)), ..Blend::new(clip(&[0.1, 0.2, 0.3], &SHOT, 0)) });
    assert_eq!(stage.elbows(6), [0.2, 0.3, 0.3, 0.3, 0.3, 0.3]);
    assert_eq!(stage.ended(), [1]);
    stage.elbows(20);
    assert!(stage.ended().is_empty());
    assert!(stage.manager.playing(ID, SlotId::ARM).is_some());
}

#[test]
fn only_the_blend_joints_change_and_weight_counts() {
    let mut stage = Stage::new();
    stage.set(&Blend { weight: 0.25, ..Blend::new(clip(&[1.0], &LOOP, 0)) });
    let pose = stage.tick(&IDLE);
    assert_eq!((pose[ELBOW], pose[KNEE]), (0.25, 0.0));
}

#[test]
fn release_starts_from_the_current_envelope() {
    let mut stage = Stage::new();
    stage.set(&Blend { fade_in: 0.5, on_end: Some(OnEnd(2)), ..Blend::new(clip(&[1.0], &LOOP, 0)) });
    assert_eq!(stage.elbows(3), [0.2, 0.4, 0.6]);
    stage.manager.clear_blend(ID, Some(SlotId::ARM), 0.3);
    assert_eq!(stage.elbows(1), [0.4]);
    // A second clear changes nothing.
    stage.manager.clear_blend(ID, Some(SlotId::ARM), 0.9);
    assert_eq!(stage.elbows(2), [0.2, 0.0]);
    assert_eq!(stage.ended(), [2]);
    assert!(stage.manager.playing(ID, SlotId::ARM).is_none());
}

#[test]
fn clearing_at_once_tells_nobody() {
    let mut stage = Stage::new();
    stage.set(&Blend { on_end: Some(OnEnd(2)), ..Blend::new(clip(&[1.0], &LOOP, 0)) });
    stage.elbows(1);
    stage.manager.set_blend(ID, SlotId::ARM, None).unwrap();
    assert_eq!(stage.elbows(1), [0.0]);
    assert!(stage.ended().is_empty());
}

#[test]
fn the_same_object_goes_on_and_another_starts_over() {
    let mut stage = Stage::new();
    let first = Blend::new(clip(&[0.0, 0.1, 0.2, 0.3], &SHOT, 0));
    stage.set(&first);
    assert_eq!(stage.elbows(2), [0.1, 0.2]);
    stage.set(&first);
    assert_eq!(stage.elbows(1), [0.3]);
    // Equal in everything, but another object.
    stage.set(&Blend::new(clip(&[0.0, 0.1, 0.2, 0.3], &SHOT, 0)));
    assert_eq!(stage.elbows(1), [0.1]);
}

#[test]
fn the_intro_plays_once() {
    let mut stage = Stage::new();
    stage.set(&Blend::new(clip(&[0.0, 0.1, 0.2, 0.3], &LOOP, 2)));
    assert_eq!(stage.elbows(7), [0.1, 0.2, 0.3, 0.2, 0.3, 0.2, 0.3]);
}

#[test]
fn reverse_plays_0_1_2_1() {
    let mut stage = Stage::new();
    let reverse = Annotation { reverse: true, ..LOOP };
    stage.set(&Blend { start: Some(0.0), ..Blend::new(clip(&[0.0, 0.1, 0.2], &reverse, 0)) });
    assert_eq!(stage.elbows(6), [0.1, 0.2, 0.1, 0.0, 0.1, 0.2]);
}

#[test]
fn loops_are_staggered_by_id_unless_started_together() {
    let mut manager = AnimationManager::default();
    let looped = clip(&[0.0; 10], &LOOP, 0);
    manager.set_blend(90, SlotId::ARM, Some(&Blend::new(Arc::clone(&looped)))).unwrap();
    assert_eq!(manager.playing(90, SlotId::ARM).unwrap().1, 0.25);
    manager.set_blend(91, SlotId::ARM, Some(&Blend { start: Some(0.4), ..Blend::new(looped) })).unwrap();
    assert_eq!(manager.playing(91, SlotId::ARM).unwrap().1, 0.4);
    let intro = Blend::new(clip(&[0.0; 10], &LOOP, 3));
    manager.set_blend(92, SlotId::ARM, Some(&intro)).unwrap();
    assert_eq!(manager.playing(92, SlotId::ARM).unwrap().1, 0.0);
}

#[test]
fn joint_ramps_turn_around() {
    let mut stage = Stage::new();
    stage.set(&Blend::new(clip(&[1.0], &LOOP, 0)));
    stage.elbows(1);
    let other = JointSet::from_iter([Joint::LKnee]);
    stage.manager.set_overlay_joints(ID, SlotId::ARM, other, 0.5);
    let pose = stage.tick(&IDLE);
    assert_eq!((round(pose[ELBOW]), round(pose[KNEE])), (0.8, 0.2));
    stage.elbows(1);
    // The elbow comes back from 0.6, the knee leaves from 0.4.
    stage.manager.set_overlay_joints(ID, SlotId::ARM, JointSet::ARMS, 0.5);
    let pose = stage.tick(&IDLE);
    assert_eq!((round(pose[ELBOW]), round(pose[KNEE])), (0.68, 0.32));
    assert_eq!(stage.elbows(5), [0.76, 0.84, 0.92, 1.0, 1.0]);
    assert_eq!(stage.tick(&IDLE)[KNEE], 0.0);
    stage.manager.set_overlay_joints(ID, SlotId::ARM, other, 0.0);
    let pose = stage.tick(&IDLE);
    assert_eq!((pose[ELBOW], pose[KNEE]), (0.0, 1.0));
}

#[test]
fn carried_ramps_go_on_under_another_clip() {
    let mut stage = Stage::new();
    stage.set(&Blend::new(clip(&[1.0], &LOOP, 0)));
    stage.manager.set_overlay_joints(ID, SlotId::ARM, JointSet::RIGHT_ARM, 0.5);
    assert_eq!(stage.elbows(1), [0.8]);
    stage.set(&Blend { carry_ramps: true, ..Blend::new(clip(&[2.0], &LOOP, 0)) });
    assert_eq!(stage.elbows(4), [1.2, 0.8, 0.4, 0.0]);
}

#[test]
fn slots_apply_in_the_order_they_were_set_first() {
    let mut stage = Stage::new();
    stage.manager.set_blend(ID, SlotId::BODY, Some(&Blend::new(clip(&[1.0], &LOOP, 0)))).unwrap();
    stage.set(&Blend { weight: 0.5, ..Blend::new(clip(&[2.0], &LOOP, 0)) });
    assert_eq!(stage.elbows(1), [1.5]);
    let own = stage.manager.slot("left_hand");
    assert_eq!(own, stage.manager.slot("left_hand"));
    assert_eq!(stage.manager.slot("arm"), SlotId::ARM);
    stage.manager.set_blend(ID, own, Some(&Blend::new(clip(&[9.0], &LOOP, 0)))).unwrap();
    assert_eq!(stage.elbows(1), [9.0]);
    stage.manager.clear_blend(ID, None, 0.0);
    assert_eq!(stage.elbows(1), [0.0]);
}

#[test]
fn what_cannot_be_an_overlay() {
    let mut stage = Stage::new();
    let walk = stage.manager.animation("walk").unwrap();
    let result = stage.manager.set_blend(ID, SlotId::ARM, Some(&Blend::new(walk)));
    assert_eq!(result, Err(BlendError::Synthetic));
    assert!(matches!(stage.manager.animation("moonwalk"), Err(ClipError::Unknown { .. })));
}

#[test]
fn a_canned_base_crossfades_over_half_a_second() {
    let mut stage = Stage::new();
    stage.manager.map_state(3, clip(&[1.0; 8], &LOOP, 0));
    stage.manager.map_state(4, clip(&[3.0; 8], &LOOP, 0));
    stage.tick(&IDLE);
    let talk = GaitInput { state: 3, ..IDLE };
    let found: Vec<f64> = (0..6).map(|_| round(stage.tick(&talk)[ELBOW])).collect();
    assert_eq!(found, [0.2, 0.4, 0.6, 0.8, 1.0, 1.0]);
    let fight = GaitInput { state: 4, ..IDLE };
    let found: Vec<f64> = (0..6).map(|_| round(stage.tick(&fight)[ELBOW])).collect();
    assert_eq!(found, [1.4, 1.8, 2.2, 2.6, 3.0, 3.0]);
    let found: Vec<f64> = (0..6).map(|_| round(stage.tick(&IDLE)[ELBOW])).collect();
    assert_eq!(found, [2.4, 1.8, 1.2, 0.6, 0.0, 0.0]);
}

#[test]
fn the_gait_waits_while_a_clip_is_the_base() {
    let mut stage = Stage::new();
    stage.manager.map_state(3, clip(&[0.0; 10], &LOOP, 0));
    let walk = GaitInput { state: 1, speed: 1.0, ..IDLE };
    stage.tick(&walk);
    let talk = GaitInput { state: 3, ..IDLE };
    for _ in 0..5 {
        stage.tick(&talk);
    }
    let frozen = stage.manager.gait().phase(ID).unwrap();
    stage.tick(&talk);
    assert_eq!(stage.manager.gait().phase(ID), Some(frozen));
    // Six steps of a tenth of a second into a clip of one second.
    let expected = 0.6 * std::f64::consts::TAU;
    assert!((stage.manager.phase(ID).unwrap() - expected).abs() < 1e-9);
    stage.tick(&walk);
    assert!(stage.manager.phase(ID).unwrap() > frozen);
}

#[test]
fn walk_to_run_switches_at_once() {
    let mut stage = Stage::new();
    stage.manager.map_state(3, clip(&[0.0; 10], &LOOP, 0));
    let mut pool = GaitPool::default();
    for state in [1, 2, 0, 1] {
        let input = GaitInput { state, speed: 1.5, ..IDLE };
        assert_eq!(stage.tick(&input), pool.advance_default(ID, &input).1);
    }
}

#[test]
fn forget_drops_transients_of_the_owner() {
    let mut stage = Stage::new();
    let frames = [[0.5; JOINT_COUNT]];
    stage.manager.register_transient("mine", &frames, &LOOP, 0, Some(ID)).unwrap();
    stage.manager.register_transient("all", &frames, &LOOP, 0, None).unwrap();
    let mine = stage.manager.animation("mine").unwrap();
    stage.set(&Blend { on_end: Some(OnEnd(1)), ..Blend::new(mine) });
    assert_eq!(stage.elbows(1), [0.5]);
    stage.manager.forget(ID);
    assert!(stage.manager.animation("mine").is_err());
    assert!(stage.manager.animation("all").is_ok());
    assert_eq!(stage.manager.phase(ID), None);
    assert_eq!(stage.elbows(1), [0.0]);
    assert_eq!(stage.manager.drain_ended().collect::<Vec<Ended>>(), []);
    assert!(stage.manager.register_transient("bad", &[], &LOOP, 0, None).is_err());
}

#[test]
fn hostile_steps_do_no_harm() {
    let mut stage = Stage::new();
    stage.set(&Blend::new(clip(&[0.0, 0.1, 0.2], &LOOP, 1)));
    for dt in [f64::NAN, f64::INFINITY, -1.0, 1e300, 0.0, 1e-300] {
        let pose = stage.tick(&GaitInput { dt, ..IDLE });
        assert!(pose.iter().all(|angle| angle.is_finite()), "{dt}");
    }
}
