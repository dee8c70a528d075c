//! One overlay slot: a clip blended over chosen joints, with fades, a release and per-joint ramps (human-layer
//! specification, section 13.3).

use std::sync::Arc;

use super::Animation;
use crate::{
    joint::{Joint, Pose40},
    joint_set::JointSet,
};

/// A slot name, as a handle.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SlotId(pub(super) u16);

impl SlotId {
    /// `head`
    pub const HEAD: Self = Self(0);
    /// `arm`
    pub const ARM: Self = Self(1);
    /// `body`
    pub const BODY: Self = Self(2);
    pub(super) const NAMES: [&'static str; 3] = ["head", "arm", "body"];
}

/// What the owner of an overlay wants to be told by when it ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OnEnd(pub u64);

/// An overlay that ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ended {
    /// Whose.
    pub id: u32,
    /// Which slot.
    pub slot: SlotId,
    /// What [`Blend::on_end`] was.
    pub on_end: OnEnd,
}

/// What cannot be an overlay.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum BlendError {
    /// A gait has no frames to blend.
    #[error("a synthetic animation cannot be an overlay")]
    Synthetic,
}

/// An overlay to be set.
#[derive(Debug, Clone)]
pub struct Blend {
    /// What to play.
    pub animation: Arc<Animation>,
    /// Joints to blend.
    pub joints: JointSet,
    /// Weight in [0, 1].
    pub weight: f64,
    /// Whether to loop; `None` as the animation does.
    pub looping: Option<bool>,
    /// Seconds to rise.
    pub fade_in: f64,
    /// Seconds to fall at the end of a one-shot; 0 parks it on the last frame.
    pub fade_out: f64,
    /// What to be told when it ends.
    pub on_end: Option<OnEnd>,
    /// Whether to keep the joints and ramps that the slot has.
    pub carry_ramps: bool,
    /// First playhead in seconds; partners in contact pass the same.
    pub start: Option<f64>,
}

impl Blend {
    /// Both arms at full weight, without fades.
    #[must_use]
    pub fn new(animation: Arc<Animation>) -> Self {
        Self {
            animation,
            joints: JointSet::ARMS,
            weight: 1.0,
            looping: None,
            fade_in: 0.0,
            fade_out: 0.0,
            on_end: None,
            carry_ramps: false,
            start: None,
        }
    }
}

#[derive(Debug, Clone, Copy)]
struct Ramp {
    joint: Joint,
    from: f64,
    to: f64,
    elapsed: f64,
    over: f64,
}

impl Ramp {
    fn factor(&self) -> f64 {
        self.from + (self.to - self.from) * (self.elapsed / self.over).min(1.0)
    }
}

#[derive(Debug, Clone, Copy)]
struct Release {
    from: f64,
    elapsed: f64,
    over: f64,
}

/// What became of an overlay in a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Step {
    /// Whether it reached its end now.
    pub(super) ended: bool,
    /// Whether it goes away.
    pub(super) gone: bool,
}

#[derive(Debug, Clone)]
pub(super) struct Overlay {
    pub(super) animation: Arc<Animation>,
    pub(super) on_end: Option<OnEnd>,
    joints: JointSet,
    weight: f64,
    looping: bool,
    fade_in: f64,
    fade_out: f64,
    playhead: f64,
    elapsed: f64,
    release: Option<Release>,
    ended: bool,
    ramps: Vec<Ramp>,
}

impl Overlay {
    pub(super) fn new(blend: &Blend, id: u32) -> Self {
        let animation = Arc::clone(&blend.animation);
        let looping = blend.looping.unwrap_or(animation.looping());
        let staggered = looping && animation.loop_from() == 0;
        let start = blend.start.filter(|start| start.is_finite() && *start >= 0.0);
        let playhead = start.unwrap_or(if staggered { animation.stagger(id) } else { 0.0 });
        Self {
            on_end: blend.on_end,
            joints: blend.joints,
            weight: blend.weight.clamp(0.0, 1.0),
            looping,
            fade_in: blend.fade_in,
            fade_out: blend.fade_out,
            playhead: if looping { animation.wrap(playhead) } else { playhead },
            elapsed: 0.0,
            release: None,
            ended: false,
            ramps: Vec::new(),
            animation,
        }
    }

    /// Puts another clip in place of this one.
    pub(super) fn replace(&mut self, blend: &Blend, id: u32) {
        let ramps = std::mem::take(&mut self.ramps);
        let joints = self.joints;
        *self = Self::new(blend, id);
        self.ramps = ramps;
        if blend.carry_ramps {
            self.joints = joints;
        } else {
            self.ramps.clear();
        }
    }

    pub(super) fn playhead(&self) -> f64 {
        self.playhead
    }

    fn envelope(&self, raw: f64) -> f64 {
        if let Some(release) = self.release {
            return release.from * (1.0 - release.elapsed / release.over).max(0.0);
        }
        let mut envelope = 1.0_f64;
        if self.fade_in > 0.0 {
            envelope = envelope.min(self.elapsed / self.fade_in);
        }
        if !self.looping && self.fade_out > 0.0 {
            envelope = envelope.min((self.animation.duration() - raw) / self.fade_out);
        }
        envelope.clamp(0.0, 1.0)
    }

    /// Begins to fade away from what shows now. A second call changes nothing.
    pub(super) fn release(&mut self, over: f64) {
        if self.release.is_none() {
            let from = self.envelope(self.playhead);
            self.release = Some(Release { from, elapsed: 0.0, over });
        }
    }

    /// Advances by `dt` seconds and blends into `pose`.
    pub(super) fn step(&mut self, dt: f64, pose: &mut Pose40) -> Step {
        let raw = self.playhead + dt;
        self.elapsed += dt;
        self.advance_ramps(dt);
        if let Some(release) = &mut self.release {
            release.elapsed += dt;
        }
        let duration = self.animation.duration();
        let at_end = !self.looping && raw >= duration;
        self.playhead = if self.looping {
            self.animation.wrap(raw)
        } else {
            raw.min(duration - 1.0 / self.animation.fps())
        };
        let released = self.release.is_some_and(|release| release.elapsed >= release.over);
        let gone = released || (at_end && self.fade_out > 0.0);
        let ended = (released || at_end) && !self.ended;
        self.ended |= ended;
        if !gone {
            self.blend(self.weight * self.envelope(raw), pose);
        }
        Step { ended, gone }
    }

    fn blend(&self, weight: f64, pose: &mut Pose40) {
        let place = self.animation.place(self.playhead, self.looping);
        let ramped: JointSet = self.ramps.iter().map(|ramp| ramp.joint).collect();
        let joints = self.joints.intersection(self.animation.joints());
        self.animation.mix(joints.difference(ramped), place, weight, pose);
        for ramp in self.ramps.iter().filter(|ramp| joints.contains(ramp.joint)) {
            let weight = weight * ramp.factor();
            self.animation.mix(JointSet::from_iter([ramp.joint]), place, weight, pose);
        }
    }

    fn advance_ramps(&mut self, dt: f64) {
        let joints = &mut self.joints;
        self.ramps.retain_mut(|ramp| {
            ramp.elapsed += dt;
            let done = ramp.elapsed >= ramp.over;
            if done && ramp.to == 0.0 {
                joints.remove(ramp.joint);
            }
            !done
        });
    }

    /// Swaps the joints: leaving ones ramp to 0 and then leave, entering ones ramp to 1 from where they are.
    pub(super) fn set_joints(&mut self, wanted: JointSet, over: f64) {
        if over <= 0.0 || !over.is_finite() {
            self.ramps.clear();
            self.joints = wanted;
            return;
        }
        for joint in self.joints.union(wanted).iter() {
            let to = if wanted.contains(joint) { 1.0 } else { 0.0 };
            let ramp = self.ramps.iter_mut().find(|ramp| ramp.joint == joint);
            match ramp {
                Some(ramp) if ramp.to == to => {}
                Some(ramp) => *ramp = Ramp { joint, from: ramp.factor(), to, elapsed: 0.0, over },
                None => {
                    let from = if self.joints.contains(joint) { 1.0 } else { 0.0 };
                    if from != to {
                        self.ramps.push(Ramp { joint, from, to, elapsed: 0.0, over });
                    }
                }
            }
        }
        self.joints = self.joints.union(wanted);
    }
}
