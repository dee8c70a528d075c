//! Motion of one gesture: look, point, and what follows them (human-layer specification, section 14.3 and 14.4).
//!
//! Generators write frames into an animation and must never touch a slot.

use std::f64::consts::{PI, TAU};

use super::arm::{self, Hold};
use crate::{
    animation::Animation,
    clip::raised_cosine,
    joint::{JOINT_COUNT, Joint, Pose40, Side},
    joint_set::JointSet,
    rig::Point,
};

/// Frames per second of what is generated.
pub(super) const FPS: f64 = 20.0;
/// Frames of a look's ease in (and to another target), and of its ease out.
const LOOK_IN: usize = 5;
const LOOK_OUT: usize = 6;
/// Frames of the hold in which breathing begins.
const SETTLE: usize = 10;
/// Frames of one breath: a rate of 0.3 Hz.
const BREATH: usize = 67;
const BREATH_AMPLITUDE: f64 = 1.5 * PI / 180.0;
/// Seconds in which an arm is lowered, and how much slower than recorded.
const LOWERING: f64 = 0.8;
const LOWERING_STRETCH: f64 = 1.25;
/// How much the elbow folds in the middle of a swing through half a turn, radians.
const FOLD: f64 = 0.6;
const DOWN: Point = [0.0, 0.0, -1.0];

/// Why nothing can be generated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// Coordinates that are not finite, or millions of metres away.
    #[error("the target is no place")]
    NoPlace,
    /// A target in the eye or in the shoulder.
    #[error("the target is inside the body")]
    TooClose,
    /// The name is no clip, or a clip that cannot be loaded.
    #[error("there is no such clip")]
    NoClip,
}

/// What a generated clip holds on to.
#[derive(Debug, Clone, Copy)]
pub(super) struct Motion {
    /// The held joints, without breathing.
    pub(super) held: Pose40,
    /// Direction of the forearm.
    aim: Point,
    /// Frame at which the hold begins.
    pub(super) hold_start: usize,
    /// Phase of the breath at the first frame, radians, and how deep it is there in [0, 1].
    breath: f64,
    depth: f64,
    /// Whether it follows another one.
    continued: bool,
    /// The target was within reach.
    pub(super) near: bool,
}

/// Seconds of a sweep through an angle in radians.
fn move_time(angle: f64) -> f64 {
    (angle.abs() / 3.5).clamp(0.3, 0.9)
}

fn move_frames(angle: f64) -> usize {
    ((move_time(angle) * FPS).round() as usize).max(2)
}

/// A target that arithmetic can bear.
pub(super) fn place(target: Point) -> Result<Point, Refusal> {
    const FURTHEST: f64 = 1e7;
    if target.iter().all(|number| number.abs() <= FURTHEST) { Ok(target) } else { Err(Refusal::NoPlace) }
}

/// Turns the head to a target in the frame of the person, from `before` (nothing: upright).
pub(super) fn look(
    out: &mut Animation,
    target: Point,
    unit: f64,
    before: Option<&Motion>,
) -> Result<Motion, Refusal> {
    let eye = [0.5 * unit, 0.0, 7.0 * unit];
    let [dx, dy, dz]: Point = std::array::from_fn(|axis| target[axis] - eye[axis]);
    let across = dx.hypot(dy);
    if across.hypot(dz) < 1e-3 {
        return Err(Refusal::TooClose);
    }
    let mut held = [0.0; JOINT_COUNT];
    for (joint, angle) in [(Joint::YHead, dy.atan2(dx)), (Joint::PHead, dz.atan2(across))] {
        let [lo, hi] = joint.wire_limits();
        held[joint.index()] = angle.clamp(lo, hi);
    }
    let from = before.map_or([0.0; JOINT_COUNT], |before| before.held);
    out.refill(JointSet::HEAD, FPS);
    for frame in 0..=LOOK_IN {
        out.push(&mixed(&from, &held, raised_cosine(frame as f64 / LOOK_IN as f64)));
    }
    let (aim, breath, depth, near) = (DOWN, 0.0, 0.0, false);
    Ok(Motion { held, aim, hold_start: LOOK_IN, breath, depth, continued: before.is_some(), near })
}

/// Swings an arm up to point at a target in the frame of the person.
pub(super) fn point(
    out: &mut Animation,
    id: u32,
    side: Side,
    target: Point,
    unit: f64,
    moving: bool,
) -> Result<Motion, Refusal> {
    let Hold { pose: held, aim, near } = arm::hold(side, target, unit, !moving).ok_or(Refusal::TooClose)?;
    let swing = arm::angle(DOWN, aim);
    let hold_start = move_frames(swing);
    // Everybody breathes in their own time: the golden ratio spreads consecutive ids.
    let breath =
        TAU * (f64::from(id) * 0.618_033_988_749_894_9).fract() - TAU * hold_start as f64 / BREATH as f64;
    let motion = Motion { held, aim, hold_start, breath, depth: 0.0, continued: false, near };
    out.refill(arm::joint_set(side).union(JointSet::SPINE), FPS);
    for frame in 0..hold_start {
        out.push(&swung(&held, side, swing, raised_cosine(frame as f64 / hold_start as f64)));
    }
    breathe(out, &motion, side);
    Ok(motion)
}

/// Swings an arm that points on to another target, `elapsed` seconds after `before` began.
pub(super) fn point_on(
    out: &mut Animation,
    before: &Motion,
    elapsed: f64,
    side: Side,
    target: Point,
    unit: f64,
    moving: bool,
) -> Result<Motion, Refusal> {
    let Hold { pose, aim, near } = arm::hold(side, target, unit, !moving).ok_or(Refusal::TooClose)?;
    let hold_start = move_frames(arm::angle(before.aim, aim));
    let (breath, depth) = before.breathing(elapsed * FPS);
    let mut motion = Motion { held: pose, aim, hold_start, breath, depth, continued: true, near };
    let shoulder = [2, 3, 4].map(|joint| arm::joints(side)[joint].index());
    let [from, to] = [&before.held, &pose].map(|pose| arm::quaternion(shoulder.map(|joint| pose[joint])));
    let mut triple = shoulder.map(|joint| before.held[joint]);
    out.refill(arm::joint_set(side).union(JointSet::SPINE), FPS);
    for frame in 0..=hold_start {
        let s = raised_cosine(frame as f64 / hold_start as f64);
        let mut mixed = mixed(&before.held, &pose, s);
        triple = arm::triple(arm::slerp(from, to, s), triple);
        for (joint, angle) in shoulder.into_iter().zip(triple) {
            mixed[joint] = angle;
        }
        if frame == hold_start {
            motion.held = mixed;
        } else {
            out.push(&motion.breathed(&mixed, side, frame));
        }
    }
    breathe(out, &motion, side);
    Ok(motion)
}

/// The hold, and one breath as the loop.
fn breathe(out: &mut Animation, motion: &Motion, side: Side) {
    let park = motion.hold_start + SETTLE;
    for frame in motion.hold_start..=park + BREATH {
        if frame == park + 1 {
            out.loop_from_here();
        }
        out.push(&motion.breathed(&motion.held, side, frame));
    }
}

impl Motion {
    /// Phase and depth of the breath at a frame, which may lie between two.
    fn breathing(&self, frame: f64) -> (f64, f64) {
        let x = ((frame - self.hold_start as f64) / SETTLE as f64).clamp(0.0, 1.0);
        let depth = self.depth + (1.0 - self.depth) * x * x * (3.0 - 2.0 * x);
        // One breath more or less is the same breath.
        let phase = (self.breath + TAU * frame / BREATH as f64) % TAU;
        (phase, depth)
    }

    fn breathed(&self, pose: &Pose40, side: Side, frame: usize) -> Pose40 {
        let (phase, depth) = self.breathing(frame as f64);
        let mut pose = *pose;
        for joint in [3, 5].map(|joint| arm::joints(side)[joint].index()) {
            pose[joint] += BREATH_AMPLITUDE * depth * phase.sin();
        }
        pose
    }
}

/// Eases a look out, from what shows.
pub(super) fn look_tail(out: &mut Animation, motion: &Motion, shown: &Pose40) {
    out.refill(JointSet::HEAD, FPS);
    tail(out, shown, LOOK_OUT, |s| mixed(&motion.held, &[0.0; JOINT_COUNT], s));
}

/// Lowers an arm, from what shows.
pub(super) fn point_tail(out: &mut Animation, motion: &Motion, side: Side, shown: &Pose40) {
    out.refill(arm::joint_set(side).union(JointSet::SPINE), FPS);
    let swing = arm::angle(DOWN, motion.aim);
    if motion.continued {
        let frames = (LOWERING_STRETCH * move_time(swing) * FPS).round() as usize;
        tail(out, shown, frames, |s| mixed(&motion.held, &[0.0; JOINT_COUNT], s));
    } else {
        let frames = (LOWERING_STRETCH * LOWERING * FPS).round() as usize;
        tail(out, shown, frames, |s| swung(&motion.held, side, swing, 1.0 - s));
    }
}

/// The arc of a lowering, entered from what shows within 0.4 s.
fn tail(out: &mut Animation, shown: &Pose40, frames: usize, arc: impl Fn(f64) -> Pose40) {
    const ENTRY: f64 = 0.4;
    let entry = (ENTRY * FPS).min(frames as f64);
    for frame in 0..=frames {
        let on_arc = arc(raised_cosine(frame as f64 / frames as f64));
        out.push(&mixed(shown, &on_arc, raised_cosine(frame as f64 / entry)));
    }
}

/// A swing from the hanging arm (s = 0) to a hold (s = 1). The arm rises in the plane of the hold: hanging, its azimuth
/// is already there, and the twist that takes it back shows as nothing.
fn swung(held: &Pose40, side: Side, swing: f64, s: f64) -> Pose40 {
    let mut pose = held.map(|angle| s * angle);
    let [.., y, _, r, elbow] = arm::joints(side).map(Joint::index);
    let [lo, hi] = Joint::LRShoulder.wire_limits();
    pose[y] = held[y];
    pose[r] = s * held[r] + (1.0 - s) * held[y].clamp(lo, hi);
    pose[elbow] += FOLD * (swing / PI) * (PI * s).sin();
    pose
}

fn mixed(from: &Pose40, to: &Pose40, s: f64) -> Pose40 {
    std::array::from_fn(|joint| from[joint] + (to[joint] - from[joint]) * s)
}
