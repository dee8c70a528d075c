//! Playing clips: a base animation per person with crossfades, and overlay slots on top (human-layer specification,
//! section 13).
//!
//! This module must never read files on its own account (see [`crate::clip`]) nor decide who gestures at what (see
//! [`crate::gesture`]).

mod manager;
mod overlay;

use std::sync::Arc;

pub use manager::{AnimationManager, BASE_FADE};
pub use overlay::{Blend, BlendError, Ended, OnEnd, SlotId};

use crate::{
    clip::{Annotation, ClipData},
    joint::{JOINT_COUNT, Pose40},
    joint_set::JointSet,
    pool::Motion,
};

/// What cannot be an animation.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
pub enum AnimationError {
    /// No frames.
    #[error("an animation needs at least one frame")]
    NoFrames,
    /// Backward play of a one-shot.
    #[error("reverse only together with loop")]
    ReverseOneShot,
    /// A loop that begins behind the last frame.
    #[error("loop_from {loop_from} is outside the {frames} frames")]
    LoopFrom {
        /// The frame asked for.
        loop_from: usize,
        /// Number of frames.
        frames: usize,
    },
    /// A rate that is no rate.
    #[error("{0} frames per second")]
    Fps(f64),
}

/// Frames of joint angles and how they are played.
#[derive(Debug, Clone, PartialEq)]
pub struct Animation {
    name: String,
    synthetic: Option<Motion>,
    /// Joints it drives.
    joints: JointSet,
    /// Joints it has data of, one column each in wire order.
    present: JointSet,
    data: Vec<f64>,
    /// Metres of the lowest point over the floor per frame; empty when it always touches it.
    lift: Vec<f64>,
    frames: usize,
    fps: f64,
    looping: bool,
    reverse: bool,
    loop_from: usize,
}

/// Two neighbouring frames and the fraction between them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Place {
    from: usize,
    to: usize,
    fraction: f64,
}

impl Animation {
    /// An animation of frames of which the joints `present` are used, 20 per second unless annotated otherwise.
    ///
    /// # Errors
    /// [`AnimationError`]; all of them are mistakes of the caller.
    pub fn new(
        name: impl Into<String>,
        frames: &[Pose40],
        present: JointSet,
        annotation: &Annotation,
        loop_from: usize,
    ) -> Result<Self, AnimationError> {
        let mut animation = Self {
            name: name.into(),
            synthetic: None,
            joints: annotation.joints,
            present,
            data: Vec::with_capacity(frames.len() * present.len()),
            lift: Vec::new(),
            frames: 0,
            fps: annotation.fps,
            looping: annotation.looping,
            reverse: annotation.reverse,
            loop_from,
        };
        for frame in frames {
            animation.data.extend(present.iter().map(|joint| frame[joint.index()]));
            animation.frames += 1;
        }
        animation.check()?;
        Ok(animation)
    }

    fn check(&self) -> Result<(), AnimationError> {
        if self.frames == 0 {
            return Err(AnimationError::NoFrames);
        }
        if !(self.fps.is_finite() && self.fps > 0.0) {
            return Err(AnimationError::Fps(self.fps));
        }
        if self.reverse && !self.looping {
            return Err(AnimationError::ReverseOneShot);
        }
        if self.loop_from >= self.frames {
            return Err(AnimationError::LoopFrom { loop_from: self.loop_from, frames: self.frames });
        }
        Ok(())
    }

    /// `idle`, `walk` or `run`: a gait instead of frames.
    #[must_use]
    pub fn synthetic(motion: Motion) -> Self {
        let name = match motion {
            Motion::Idle => "idle",
            Motion::Walk => "walk",
            Motion::Run => "run",
        };
        Self {
            name: name.to_owned(),
            synthetic: Some(motion),
            joints: JointSet::ALL,
            present: JointSet::EMPTY,
            data: Vec::new(),
            lift: Vec::new(),
            frames: 0,
            fps: crate::clip::DEFAULT_FPS,
            looping: true,
            reverse: false,
            loop_from: 0,
        }
    }

    /// An empty one to be filled with [`Self::refill`].
    pub(crate) fn blank() -> Self {
        Self { synthetic: None, ..Self::synthetic(Motion::Idle) }
    }

    /// Begins anew in the same memory; frames follow with [`Self::push`].
    pub(crate) fn refill(&mut self, joints: JointSet, fps: f64) {
        self.data.clear();
        self.lift.clear();
        (self.joints, self.present, self.frames) = (joints, joints, 0);
        (self.fps, self.looping, self.reverse, self.loop_from) = (fps, false, false, 0);
    }

    pub(crate) fn push(&mut self, frame: &Pose40) {
        self.data.extend(self.present.iter().map(|joint| frame[joint.index()]));
        self.frames += 1;
    }

    /// Makes the frames from here on the loop.
    pub(crate) fn loop_from_here(&mut self) {
        (self.looping, self.loop_from) = (true, self.frames);
    }

    /// With heights over the floor, one per frame.
    pub(crate) fn with_lift(mut self, lift: Vec<f64>) -> Self {
        self.lift = lift;
        self
    }

    /// How high the lowest point of the body is over the floor at a playhead in seconds, metres. For pictures: what plays on
    /// the bus has no root.
    #[must_use]
    pub fn lift(&self, playhead: f64) -> f64 {
        let Place { from, to, fraction } = self.place(playhead, self.looping);
        let at = |frame: usize| self.lift.get(frame).copied().unwrap_or(0.0);
        at(from) + (at(to) - at(from)) * fraction
    }

    /// Its frames as a clip that can be written. Where a loop comes back to is not part of it.
    #[must_use]
    pub fn to_clip(&self) -> ClipData {
        let frames = (0..self.frames).map(|frame| {
            let mut posture = [0.0; JOINT_COUNT];
            let row = &self.data[frame * self.present.len()..];
            for (joint, value) in self.present.iter().zip(row) {
                posture[joint.index()] = *value;
            }
            posture
        });
        let t = (0..self.frames).map(|frame| frame as f64 / self.fps);
        ClipData { t: Some(t.collect()), ..ClipData::of_frames(frames.collect(), self.present) }
    }

    /// How it is played, as an annotation says it.
    #[must_use]
    pub fn annotation(&self) -> Annotation {
        Annotation { looping: self.looping, joints: self.joints, reverse: self.reverse, fps: self.fps }
    }

    /// Its name; names do not tell animations apart, objects do.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The gait it stands for.
    #[must_use]
    pub fn motion(&self) -> Option<Motion> {
        self.synthetic
    }

    /// Joints it drives and has data of.
    #[must_use]
    pub fn joints(&self) -> JointSet {
        self.joints.intersection(self.present)
    }

    /// Number of frames.
    #[must_use]
    pub fn frames(&self) -> usize {
        self.frames
    }

    /// Frames per second.
    #[must_use]
    pub fn fps(&self) -> f64 {
        self.fps
    }

    /// Whether it starts over by itself.
    #[must_use]
    pub fn looping(&self) -> bool {
        self.looping
    }

    /// Whether it runs forward, then backward.
    #[must_use]
    pub fn reverse(&self) -> bool {
        self.reverse
    }

    /// The frame a loop comes back to; the ones before play once.
    #[must_use]
    pub fn loop_from(&self) -> usize {
        self.loop_from
    }

    /// Memory of its frames.
    pub(crate) fn bytes(&self) -> usize {
        size_of_val(self.data.as_slice())
    }

    fn cycle(&self) -> usize {
        if self.reverse && self.frames > 1 { 2 * self.frames - 2 } else { self.frames }
    }

    /// Seconds of one cycle.
    #[must_use]
    pub fn duration(&self) -> f64 {
        self.cycle() as f64 / self.fps
    }

    /// Where a looping clip starts, so that people who start together are not in step, seconds.
    #[must_use]
    pub fn stagger(&self, id: u32) -> f64 {
        f64::from(id % 360) / 360.0 * self.duration()
    }

    /// Brings a playhead in seconds back into the loop; before the loop it runs straight.
    pub(crate) fn wrap(&self, playhead: f64) -> f64 {
        let start = self.loop_from as f64 / self.fps;
        let duration = self.duration();
        if playhead < duration { playhead } else { start + (playhead - start) % (duration - start) }
    }

    /// The frames around a playhead in seconds.
    pub(crate) fn place(&self, playhead: f64, looping: bool) -> Place {
        let last = self.frames.saturating_sub(1);
        let position = playhead.max(0.0) * self.fps;
        if !looping && position >= last as f64 {
            return Place { from: last, to: last, fraction: 0.0 };
        }
        let position = if position < self.cycle() as f64 { position } else { self.wrap(playhead) * self.fps };
        let cycle = self.cycle().max(1);
        // Rounding can end at the cycle's length itself.
        let at = (position as usize).min(cycle - 1);
        let next = if at + 1 == cycle { self.loop_from } else { at + 1 };
        let fold = |frame: usize| if frame > last { cycle - frame } else { frame };
        Place { from: fold(at), to: fold(next), fraction: (position - at as f64).clamp(0.0, 1.0) }
    }

    /// q (1 - w) + angle w for the given ones of [`Self::joints`]; at full weight exactly the animation.
    #[inline]
    pub(crate) fn mix(&self, joints: JointSet, place: Place, weight: f64, pose: &mut Pose40) {
        let width = self.present.len();
        let row = |frame: usize| &self.data[frame * width..(frame + 1) * width];
        let (from, to) = (row(place.from), row(place.to));
        for joint in joints.iter() {
            let column = self.present.rank(joint);
            let angle = from[column] + (to[column] - from[column]) * place.fraction;
            let pose = &mut pose[joint.index()];
            *pose = *pose * (1.0 - weight) + angle * weight;
        }
    }

    /// The posture at a playhead in seconds; joints it does not drive are 0. A synthetic animation has none: all 0.
    pub fn sample(&self, playhead: f64, out: &mut Pose40) {
        self.write(self.place(playhead, self.looping), out);
    }

    pub(crate) fn write(&self, place: Place, out: &mut Pose40) {
        out.fill(0.0);
        if self.frames == 0 {
            return;
        }
        self.mix(self.joints(), place, 1.0, out);
    }
}

/// Whether two handles are one and the same animation.
pub(crate) fn same(a: &Arc<Animation>, b: &Arc<Animation>) -> bool {
    Arc::ptr_eq(a, b)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ramp(count: usize, annotation: &Annotation, loop_from: usize) -> Animation {
        let frames: Vec<Pose40> = (0..count).map(|value| [value as f64; JOINT_COUNT]).collect();
        Animation::new("ramp", &frames, JointSet::ALL, annotation, loop_from).unwrap()
    }

    fn values(animation: &Animation, positions: &[f64]) -> Vec<f64> {
        let mut out = [0.0; JOINT_COUNT];
        positions
            .iter()
            .map(|position| {
                animation.sample(position / animation.fps(), &mut out);
                (out[0] * 1e9).round() / 1e9
            })
            .collect()
    }

    #[test]
    fn one_shots_park_and_loops_wrap() {
        let shot = Annotation { looping: false, ..Annotation::default() };
        assert_eq!(values(&ramp(3, &shot, 0), &[0.0, 0.5, 1.75, 2.0, 9.0]), [0.0, 0.5, 1.75, 2.0, 2.0]);
        let looped = ramp(3, &Annotation::default(), 0);
        assert_eq!(values(&looped, &[2.0, 2.5, 3.0, 4.5]), [2.0, 1.0, 0.0, 1.5]);
    }

    #[test]
    fn the_intro_plays_once() {
        let intro = ramp(4, &Annotation::default(), 2);
        assert_eq!(values(&intro, &[0.0, 1.0, 3.0, 3.5, 4.0, 5.0, 6.0]), [0.0, 1.0, 3.0, 2.5, 2.0, 3.0, 2.0]);
    }

    #[test]
    fn reverse_plays_0_1_2_1() {
        let reverse = Annotation { reverse: true, ..Annotation::default() };
        let clip = ramp(3, &reverse, 0);
        assert_eq!(clip.duration(), 4.0 / 20.0);
        assert_eq!(
            values(&clip, &[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 2.5, 3.5]),
            [0.0, 1.0, 2.0, 1.0, 0.0, 1.0, 1.5, 0.5]
        );
        assert_eq!(values(&ramp(1, &reverse, 0), &[0.0, 0.5, 3.0]), [0.0, 0.0, 0.0]);
    }

    #[test]
    fn mistakes_are_errors() {
        let new = |frames: &[Pose40], annotation: &Annotation, loop_from| {
            Animation::new("x", frames, JointSet::ALL, annotation, loop_from).unwrap_err()
        };
        let one = [[0.0; JOINT_COUNT]];
        let default = Annotation::default();
        assert_eq!(new(&[], &default, 0), AnimationError::NoFrames);
        let backward = Annotation { reverse: true, looping: false, ..default };
        assert_eq!(new(&one, &backward, 0), AnimationError::ReverseOneShot);
        assert_eq!(new(&one, &default, 1), AnimationError::LoopFrom { loop_from: 1, frames: 1 });
        assert_eq!(new(&one, &Annotation { fps: 0.0, ..default }, 0), AnimationError::Fps(0.0));
    }
}
