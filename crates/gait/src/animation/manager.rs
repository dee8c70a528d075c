//! Everybody's base animation and overlays, by person id.

use std::{
    collections::{BTreeMap, HashMap},
    f64::consts::TAU,
    sync::Arc,
};

use super::{Animation, AnimationError, Blend, BlendError, Ended, SlotId, overlay::Overlay, same};
use crate::{
    clip::{Annotation, ClipError, ClipLibrary},
    joint::{JOINT_COUNT, Pose40},
    joint_set::JointSet,
    pool::{GaitInput, GaitPool, IdHash, KNOWN_STATES, Motion, PoseProfile},
};

/// Seconds of a crossfade between two base animations.
pub const BASE_FADE: f64 = 0.5;

/// A base animation: a gait, or a clip at a playhead.
#[derive(Debug, Clone)]
enum Playing {
    Gait(Motion),
    Clip { animation: Arc<Animation>, playhead: f64 },
}

impl Playing {
    fn start(animation: &Arc<Animation>, id: u32) -> Self {
        match animation.motion() {
            Some(motion) => Self::Gait(motion),
            None => Self::Clip {
                playhead: if animation.looping() { animation.stagger(id) } else { 0.0 },
                animation: Arc::clone(animation),
            },
        }
    }

    fn is(&self, wanted: &Arc<Animation>) -> bool {
        match self {
            Self::Gait(motion) => wanted.motion() == Some(*motion),
            Self::Clip { animation, .. } => same(animation, wanted),
        }
    }

    fn is_gait(&self) -> bool {
        matches!(self, Self::Gait(_))
    }
}

#[derive(Debug, Clone)]
struct Base {
    current: Playing,
    /// What fades out, and for how many seconds it has.
    fading: Option<(Playing, f64)>,
}

#[derive(Debug, Clone)]
struct Person {
    slots: Vec<(SlotId, Overlay)>,
    /// The posture of the last tick, overlays included.
    shown: Pose40,
}

#[derive(Debug, Clone)]
struct Transient {
    animation: Arc<Animation>,
    owner: Option<u32>,
}

/// Base animations, overlays and transient clips of everybody.
#[derive(Debug, Clone)]
pub struct AnimationManager {
    gait: GaitPool,
    clips: ClipLibrary,
    /// Base animation of each `animation_state`.
    states: [Arc<Animation>; KNOWN_STATES as usize],
    /// Whether any state shows a clip; as long as none does, a base is a gait and nothing is remembered.
    canned: bool,
    bases: HashMap<u32, Base, IdHash>,
    people: HashMap<u32, Person, IdHash>,
    transients: BTreeMap<String, Transient>,
    slot_names: Vec<String>,
    ended: Vec<Ended>,
}

impl Default for AnimationManager {
    fn default() -> Self {
        Self::new(ClipLibrary::builtin())
    }
}

impl AnimationManager {
    /// Nobody yet, with the clips of a library.
    #[must_use]
    pub fn new(clips: ClipLibrary) -> Self {
        let gaits =
            [Motion::Idle, Motion::Walk, Motion::Run].map(|motion| Arc::new(Animation::synthetic(motion)));
        let [idle, walk, run] = &gaits;
        let states = [idle, walk, run, idle, idle, idle, idle].map(Arc::clone);
        Self {
            gait: GaitPool::default(),
            clips,
            states,
            canned: false,
            bases: HashMap::default(),
            people: HashMap::default(),
            transients: BTreeMap::new(),
            slot_names: SlotId::NAMES.map(str::to_owned).to_vec(),
            ended: Vec::new(),
        }
    }

    /// The animation of a name: a transient, a gait (`idle`, `walk`, `run`) or a clip, which is loaded now if need be.
    ///
    /// # Errors
    /// There is none, or it cannot be loaded; then it is not tried again.
    pub fn animation(&mut self, name: &str) -> Result<Arc<Animation>, ClipError> {
        if let Some(transient) = self.transients.get(name) {
            return Ok(Arc::clone(&transient.animation));
        }
        match name {
            "idle" => Ok(Arc::new(Animation::synthetic(Motion::Idle))),
            "walk" => Ok(Arc::new(Animation::synthetic(Motion::Walk))),
            "run" => Ok(Arc::new(Animation::synthetic(Motion::Run))),
            name => self.clips.get(name),
        }
    }

    /// Shows another base animation for an `animation_state`. States that no message defines stay what they are: idle.
    pub fn map_state(&mut self, state: u8, animation: Arc<Animation>) {
        if let Some(entry) = self.states.get_mut(usize::from(state)) {
            *entry = animation;
        }
        self.canned = self.states.iter().any(|animation| animation.motion().is_none());
    }

    /// The handle of a slot name.
    pub fn slot(&mut self, name: &str) -> SlotId {
        let known = self.slot_names.iter().position(|known| known == name);
        let index = known.unwrap_or_else(|| {
            self.slot_names.push(name.to_owned());
            self.slot_names.len() - 1
        });
        SlotId(index.min(usize::from(u16::MAX)) as u16)
    }

    /// The clips.
    pub fn clips(&mut self) -> &mut ClipLibrary {
        &mut self.clips
    }

    /// The gait phases.
    #[must_use]
    pub fn gait(&self) -> &GaitPool {
        &self.gait
    }

    /// The gait phases, to be set.
    pub fn gait_mut(&mut self) -> &mut GaitPool {
        &mut self.gait
    }

    /// One person's whole tick without gestures: base, then overlays. Returns the phase of the base, radians.
    pub fn compute(&mut self, id: u32, input: &GaitInput, profile: &PoseProfile, out: &mut Pose40) -> f64 {
        let (phase, _) = self.advance_base(id, input, profile, out);
        self.advance_overlays(id, input.dt, out);
        phase
    }

    /// Advances the base animation and writes its posture. Returns its phase in radians, and whether an input had to
    /// be read as 0.
    pub fn advance_base(
        &mut self,
        id: u32,
        input: &GaitInput,
        profile: &PoseProfile,
        out: &mut Pose40,
    ) -> (f64, bool) {
        if !self.canned && self.bases.is_empty() {
            return self.gait.advance_one(id, &self.remapped(input), profile, out);
        }
        self.advance_mapped(id, input, profile, out)
    }

    /// The input with the state of the gait that its own state shows.
    #[inline]
    fn remapped(&self, input: &GaitInput) -> GaitInput {
        let wanted = self.states.get(usize::from(input.state)).unwrap_or(&self.states[0]);
        GaitInput { state: state_of(wanted.motion().unwrap_or(Motion::Idle)), ..*input }
    }

    #[cold]
    fn advance_mapped(
        &mut self,
        id: u32,
        input: &GaitInput,
        profile: &PoseProfile,
        out: &mut Pose40,
    ) -> (f64, bool) {
        let dt = usable(input.dt);
        let wanted = self.states.get(usize::from(input.state)).unwrap_or(&self.states[0]);
        let base = self
            .bases
            .entry(id)
            .or_insert_with(|| Base { current: Playing::start(wanted, id), fading: None });
        if !base.current.is(wanted) {
            let next = Playing::start(wanted, id);
            let before = std::mem::replace(&mut base.current, next);
            // From gait to gait the phase is continuous by construction.
            if !(before.is_gait() && base.current.is_gait()) {
                base.fading = Some((before, 0.0));
            }
        }
        let gait = &mut self.gait;
        let mut play = |playing: &mut Playing, out: &mut Pose40| match playing {
            Playing::Gait(motion) => {
                gait.advance_one(id, &GaitInput { state: state_of(*motion), ..*input }, profile, out)
            }
            Playing::Clip { animation, playhead } => {
                *playhead += dt;
                if animation.looping() {
                    *playhead = animation.wrap(*playhead);
                }
                animation.sample(*playhead, out);
                (phase_at(animation, *playhead), false)
            }
        };
        let result = play(&mut base.current, out);
        if let Some((before, elapsed)) = &mut base.fading {
            *elapsed += dt;
            let weight = (*elapsed / BASE_FADE).min(1.0);
            let mut outgoing = [0.0; JOINT_COUNT];
            play(before, &mut outgoing);
            for (angle, outgoing) in out.iter_mut().zip(outgoing) {
                *angle = outgoing + (*angle - outgoing) * weight;
            }
            if weight >= 1.0 {
                base.fading = None;
            }
        }
        result
    }

    /// Advances and blends the overlays of a person, in the order they were set first.
    pub fn advance_overlays(&mut self, id: u32, dt: f64, out: &mut Pose40) {
        if self.people.is_empty() {
            return;
        }
        let Some(person) = self.people.get_mut(&id) else { return };
        let dt = usable(dt);
        let ended = &mut self.ended;
        person.slots.retain_mut(|(slot, overlay)| {
            let step = overlay.step(dt, out);
            if step.ended
                && let Some(on_end) = overlay.on_end.take()
            {
                ended.push(Ended { id, slot: *slot, on_end });
            }
            !step.gone
        });
        person.shown = *out;
        if person.slots.is_empty() {
            self.people.remove(&id);
        }
    }

    /// Sets the overlay of a slot, or clears it at once with `None`. The animation that already plays there goes on
    /// untouched.
    ///
    /// # Errors
    /// [`BlendError::Synthetic`]
    pub fn set_blend(&mut self, id: u32, slot: SlotId, blend: Option<&Blend>) -> Result<(), BlendError> {
        let Some(blend) = blend else {
            self.clear_blend(id, Some(slot), 0.0);
            return Ok(());
        };
        if blend.animation.motion().is_some() {
            return Err(BlendError::Synthetic);
        }
        match self.overlay_mut(id, slot) {
            Some(overlay) if same(&overlay.animation, &blend.animation) => {}
            _ => self.install(id, slot, blend),
        }
        Ok(())
    }

    /// As [`Self::set_blend`], but starts over even if it is the same object.
    pub(crate) fn install(&mut self, id: u32, slot: SlotId, blend: &Blend) {
        let person = self
            .people
            .entry(id)
            .or_insert_with(|| Person { slots: Vec::with_capacity(2), shown: [0.0; JOINT_COUNT] });
        match person.slots.iter_mut().find(|(known, _)| *known == slot) {
            Some((_, overlay)) => overlay.replace(blend, id),
            None => person.slots.push((slot, Overlay::new(blend, id))),
        }
    }

    /// Ends the overlay of a slot, or of all slots: at once and without telling when `fade_out` is 0, else over that
    /// many seconds.
    pub fn clear_blend(&mut self, id: u32, slot: Option<SlotId>, fade_out: f64) {
        let Some(person) = self.people.get_mut(&id) else { return };
        let hit = |known: SlotId| slot.is_none_or(|slot| slot == known);
        if fade_out > 0.0 {
            let slots = person.slots.iter_mut().filter(|(known, _)| hit(*known));
            slots.for_each(|(_, overlay)| overlay.release(fade_out));
            return;
        }
        person.slots.retain(|(known, _)| !hit(*known));
        if person.slots.is_empty() {
            self.people.remove(&id);
        }
    }

    /// Swaps the joints of an overlay in place over `fade` seconds. Nothing happens without one.
    pub fn set_overlay_joints(&mut self, id: u32, slot: SlotId, joints: JointSet, fade: f64) {
        if let Some(overlay) = self.overlay_mut(id, slot) {
            overlay.set_joints(joints, fade);
        }
    }

    fn overlay_mut(&mut self, id: u32, slot: SlotId) -> Option<&mut Overlay> {
        let slots = &mut self.people.get_mut(&id)?.slots;
        slots.iter_mut().find(|(known, _)| *known == slot).map(|(_, overlay)| overlay)
    }

    fn overlay(&self, id: u32, slot: SlotId) -> Option<&Overlay> {
        let slots = &self.people.get(&id)?.slots;
        slots.iter().find(|(known, _)| *known == slot).map(|(_, overlay)| overlay)
    }

    /// What plays in a slot, and its playhead in seconds.
    #[must_use]
    pub fn playing(&self, id: u32, slot: SlotId) -> Option<(&Arc<Animation>, f64)> {
        self.overlay(id, slot).map(|overlay| (&overlay.animation, overlay.playhead()))
    }

    /// The posture a person with overlays showed last.
    pub(crate) fn shown(&self, id: u32) -> Option<&Pose40> {
        self.people.get(&id).map(|person| &person.shown)
    }

    /// What ended since the last call, in order.
    pub fn drain_ended(&mut self) -> impl Iterator<Item = Ended> {
        self.ended.drain(..)
    }

    /// Makes frames available under a name until [`Self::forget`] of their owner. The last of a name wins.
    ///
    /// # Errors
    /// [`AnimationError`]; all of them are mistakes of the caller.
    pub fn register_transient(
        &mut self,
        name: &str,
        frames: &[Pose40],
        annotation: &Annotation,
        loop_from: usize,
        owner: Option<u32>,
    ) -> Result<Arc<Animation>, AnimationError> {
        let animation = Arc::new(Animation::new(name, frames, annotation.joints, annotation, loop_from)?);
        let transient = Transient { animation: Arc::clone(&animation), owner };
        self.transients.insert(name.to_owned(), transient);
        Ok(animation)
    }

    /// Phase of the base in radians: of a clip its position, of a gait the gait's. `None` when unseen.
    #[must_use]
    pub fn phase(&self, id: u32) -> Option<f64> {
        match self.bases.get(&id).map(|base| &base.current) {
            Some(Playing::Clip { animation, playhead }) => Some(phase_at(animation, *playhead)),
            _ => self.gait.phase(id),
        }
    }

    /// Drops every trace of a person.
    pub fn forget(&mut self, id: u32) {
        self.gait.forget(id);
        self.bases.remove(&id);
        self.people.remove(&id);
        self.transients.retain(|_, transient| transient.owner != Some(id));
    }

    /// Drops every trace of everybody for whom `keep` is false.
    pub fn retain(&mut self, mut keep: impl FnMut(u32) -> bool) {
        self.gait.retain(&mut keep);
        self.bases.retain(|id, _| keep(*id));
        self.people.retain(|id, _| keep(*id));
        self.transients.retain(|_, transient| transient.owner.is_none_or(&mut keep));
    }
}

fn state_of(motion: Motion) -> u8 {
    match motion {
        Motion::Idle => 0,
        Motion::Walk => 1,
        Motion::Run => 2,
    }
}

fn usable(dt: f64) -> f64 {
    if dt.is_finite() { dt.max(0.0) } else { 0.0 }
}

fn phase_at(animation: &Animation, playhead: f64) -> f64 {
    TAU * (playhead / animation.duration()).fract()
}
