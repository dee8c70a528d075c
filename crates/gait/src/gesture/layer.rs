//! The state machine of everybody's gesture slots (human-layer specification, section 14.2).

use std::{collections::HashMap, sync::Arc};

use super::{
    arm,
    channel::{Channel, Want, Wire},
    generator::{self, FPS, Motion, Refusal},
};
use crate::{
    animation::{Animation, AnimationManager, Blend, SlotId, same},
    joint::Side,
    joint_set::JointSet,
    pool::IdHash,
    rig::{Point, Rig},
};

/// Seconds of every fade: in, out, and of joints that enter or leave.
const FADE: f64 = 0.25;
/// Seconds that a hold lasts at least before a release.
const LEAST_HOLD: f64 = 0.6;
/// How far a target moves before it is followed, metres.
const FOLLOWED: f64 = 0.15;
/// Rounding of clock times, seconds.
const TICK: f64 = 1e-9;
/// Animations kept for the next gesture.
const SPARE: usize = 256;

/// Something to warn about; each is told once per person.
#[derive(Debug, Clone, PartialEq)]
pub enum Notice {
    /// A channel that no slot serves; it is ignored.
    UnknownSlot {
        /// Whose.
        id: u32,
        /// The word, shortened.
        slot: String,
    },
    /// Two channels for one slot; the first wins.
    TwoChannels {
        /// Whose.
        id: u32,
        /// The slot that came second.
        slot: String,
    },
    /// A gesture that cannot be shown; only its slot stays without.
    Refused {
        /// Whose.
        id: u32,
        /// `look`, `point` or `clip`.
        kind: &'static str,
        /// Why.
        refusal: Refusal,
    },
    /// A target within reach of the hand is pointed at from the shoulder.
    NearTarget {
        /// Whose.
        id: u32,
    },
}

/// What one person is asked for in a tick.
#[derive(Debug, Clone, Copy)]
pub struct Request<C> {
    /// x, y in metres and yaw in radians.
    pub pose: [f64; 3],
    /// Whether the person walks or runs.
    pub moving: bool,
    /// The channels in their order.
    pub channels: C,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Ramp,
    Hold,
    Transition,
    Release,
}

/// A slot at work.
#[derive(Debug, Clone)]
struct Active {
    wire: Wire,
    dominant: Side,
    side: Side,
    clip: String,
    /// In the frame of the person, as of the current clip.
    target: Point,
    moving: bool,
    /// The person started or stopped moving, and the hold is not solved for it yet.
    stale: bool,
    phase: Phase,
    /// Seconds since the current clip began.
    clock: f64,
    /// `None` for a named clip.
    motion: Option<Motion>,
    animation: Arc<Animation>,
}

impl Active {
    fn hold_start(&self) -> f64 {
        self.motion.map_or(0.0, |motion| motion.hold_start as f64 / FPS)
    }

    fn joints(&self) -> JointSet {
        joints_of(self.wire, self.side, self.moving, &self.animation)
    }
}

fn joints_of(wire: Wire, side: Side, moving: bool, animation: &Animation) -> JointSet {
    match wire {
        Wire::Head => JointSet::HEAD,
        Wire::Body => animation.joints(),
        // A walking person does not blend the torso.
        _ if moving => arm::joint_set(side),
        _ => arm::joint_set(side).union(JointSet::SPINE),
    }
}

/// What failed and is not tried again.
#[derive(Debug, Clone, PartialEq)]
struct Failure {
    wire: Wire,
    /// Decimetres.
    at: [i64; 3],
    dominant: Side,
    clip: String,
}

impl Failure {
    fn is(&self, want: &Want<'_>) -> bool {
        self.wire == want.wire
            && self.at == decimetres(want.at)
            && self.dominant == want.dominant
            && self.clip == want.clip
    }
}

fn decimetres(at: Point) -> [i64; 3] {
    // A number that is none rounds to 0, one too large to the largest: both compare equal to themselves.
    at.map(|metres| (10.0 * metres).round() as i64)
}

const TOLD_UNKNOWN: u8 = 1;
const TOLD_TWO: u8 = 2;
const TOLD_NEAR: u8 = 4;
/// Shifted by the slot's index.
const TOLD_REFUSED: u8 = 8;

#[derive(Debug, Clone, Default)]
struct Person {
    /// Boxed, so that who gestures with one slot does not carry three.
    slots: [Option<Box<Active>>; 3],
    failures: [Option<Box<Failure>>; 3],
    told: u8,
}

impl Person {
    fn is_done(&self) -> bool {
        self.told == 0 && self.slots.iter().all(Option::is_none) && self.failures.iter().all(Option::is_none)
    }
}

/// Gestures of everybody, by person id.
#[derive(Debug, Clone, Default)]
pub struct GestureLayer {
    people: HashMap<u32, Person, IdHash>,
    rig: Rig,
    spare: Vec<Arc<Animation>>,
    notices: Vec<Notice>,
}

impl GestureLayer {
    /// For bodies of a height.
    #[must_use]
    pub fn new(rig: Rig) -> Self {
        Self { rig, ..Self::default() }
    }

    /// Whether a person has anything that a tick without channels would change.
    #[must_use]
    pub fn knows(&self, id: u32) -> bool {
        !self.people.is_empty() && self.people.contains_key(&id)
    }

    /// What there is to warn about since the last call.
    pub fn drain_notices(&mut self) -> impl Iterator<Item = Notice> {
        self.notices.drain(..)
    }

    /// Drops a person; the manager forgets the overlays.
    pub fn forget(&mut self, id: u32) {
        self.people.remove(&id);
    }

    /// Drops everybody for whom `keep` is false.
    pub fn retain(&mut self, mut keep: impl FnMut(u32) -> bool) {
        self.people.retain(|id, _| keep(*id));
    }

    /// One tick of a person's slots, between the base and the overlays.
    pub fn advance<'a, C>(&mut self, manager: &mut AnimationManager, id: u32, dt: f64, request: Request<C>)
    where
        C: IntoIterator<Item = Channel<'a>>,
    {
        let Self { people, rig, spare, notices } = self;
        let person = people.entry(id).or_default();
        let dt = if dt.is_finite() { dt.max(0.0) } else { 0.0 };
        let mut tick = Tick { manager, id, unit: rig.unit(), moving: request.moving, spare, notices };
        for slot in &mut person.slots {
            tick.advance(slot, dt);
        }
        let wants = tick.wants(&mut person.told, request);
        for (index, want) in wants.into_iter().enumerate() {
            let failure = &mut person.failures[index];
            if failure.as_ref().is_some_and(|failure| want.is_none_or(|want| !failure.is(&want))) {
                *failure = None;
            }
            tick.serve(&mut person.slots[index], failure, &mut person.told, want);
        }
        if person.is_done() {
            people.remove(&id);
        }
    }
}

/// One person's tick.
struct Tick<'t> {
    manager: &'t mut AnimationManager,
    id: u32,
    unit: f64,
    moving: bool,
    spare: &'t mut Vec<Arc<Animation>>,
    notices: &'t mut Vec<Notice>,
}

impl Tick<'_> {
    /// The moving flip, the clock and the phase of a slot.
    fn advance(&mut self, slot: &mut Option<Box<Active>>, dt: f64) {
        let Some(active) = slot else { return };
        let playing = self.manager.playing(self.id, active.wire.slot());
        if playing.is_none_or(|(animation, _)| !same(animation, &active.animation)) {
            // The tail is over, or somebody else has taken the slot.
            if let Some(active) = slot.take() {
                self.give_back(active.animation);
            }
            return;
        }
        if active.moving != self.moving {
            active.moving = self.moving;
            active.stale = active.wire.index() == 1;
            let joints = active.joints();
            self.manager.set_overlay_joints(self.id, active.wire.slot(), joints, FADE);
        }
        active.clock += dt;
        let rising = matches!(active.phase, Phase::Ramp | Phase::Transition);
        if rising && active.clock >= active.hold_start() - TICK {
            active.phase = Phase::Hold;
        }
    }

    fn wants<'a, C>(&mut self, told: &mut u8, request: Request<C>) -> [Option<Want<'a>>; 3]
    where
        C: IntoIterator<Item = Channel<'a>>,
    {
        let id = self.id;
        let mut wants = [None; 3];
        for channel in request.channels {
            let short = || channel.slot.chars().take(32).collect();
            match Wire::parse(channel.slot) {
                None => self.tell(told, TOLD_UNKNOWN, || Notice::UnknownSlot { id, slot: short() }),
                Some(wire) if wants[wire.index()].is_some() => {
                    self.tell(told, TOLD_TWO, || Notice::TwoChannels { id, slot: short() });
                }
                Some(wire) => wants[wire.index()] = Some(Want::new(wire, channel, request.pose)),
            }
        }
        wants
    }

    fn tell(&mut self, told: &mut u8, flag: u8, notice: impl FnOnce() -> Notice) {
        if *told & flag == 0 {
            *told |= flag;
            self.notices.push(notice());
        }
    }

    fn serve(
        &mut self,
        slot: &mut Option<Box<Active>>,
        failure: &mut Option<Box<Failure>>,
        told: &mut u8,
        want: Option<Want<'_>>,
    ) {
        match (slot.as_mut(), want) {
            (None, None) => {}
            (None, Some(_)) if failure.is_some() => {}
            (None, Some(want)) => match self.start(&want) {
                Ok(active) => {
                    if active.motion.is_some_and(|motion| motion.near) {
                        let id = self.id;
                        self.tell(told, TOLD_NEAR, || Notice::NearTarget { id });
                    }
                    *slot = Some(Box::new(active));
                }
                Err(refusal) => {
                    let (id, index) = (self.id, want.wire.index());
                    let kind = ["look", "point", "clip"][index];
                    self.tell(told, TOLD_REFUSED << index, || Notice::Refused { id, kind, refusal });
                    *failure = Some(Box::new(Failure {
                        wire: want.wire,
                        at: decimetres(want.at),
                        dominant: want.dominant,
                        clip: want.clip.to_owned(),
                    }));
                }
            },
            (Some(active), _) if active.phase == Phase::Release => {}
            (Some(active), None) => {
                if active.clock >= active.hold_start() + LEAST_HOLD - TICK {
                    self.release(active);
                }
            }
            (Some(active), Some(want)) => {
                let other = active.wire != want.wire
                    || (active.wire == Wire::Arm && active.dominant != want.dominant)
                    || (active.wire == Wire::Body && active.clip != want.clip);
                if other {
                    self.release(active);
                } else if active.phase == Phase::Hold && active.motion.is_some() {
                    let moved =
                        (0..3).map(|axis| (want.target[axis] - active.target[axis]).powi(2)).sum::<f64>();
                    // Not "greater": a target that is no place must be refused.
                    let still = moved.sqrt() <= FOLLOWED;
                    if (!still || active.stale) && self.follow(active, &want).is_err() {
                        self.release(active);
                    }
                }
            }
        }
    }

    fn start(&mut self, want: &Want<'_>) -> Result<Active, Refusal> {
        let side = want.side();
        let (animation, motion) = if want.wire == Wire::Body {
            let animation = self.manager.animation(want.clip).map_err(|_| Refusal::NoClip)?;
            if animation.motion().is_some() {
                return Err(Refusal::NoClip);
            }
            (animation, None)
        } else {
            let target = generator::place(want.target)?;
            let mut animation = self.take();
            let out = unique(&mut animation);
            let motion = match want.wire {
                Wire::Head => generator::look(out, target, self.unit, None),
                _ => generator::point(out, self.id, side, target, self.unit, self.moving),
            };
            match motion {
                Ok(motion) => (animation, Some(motion)),
                Err(refusal) => {
                    self.give_back(animation);
                    return Err(refusal);
                }
            }
        };
        let joints = joints_of(want.wire, side, self.moving, &animation);
        self.install(want.wire.slot(), &animation, joints, FADE, 0.0, false);
        Ok(Active {
            wire: want.wire,
            dominant: want.dominant,
            side,
            clip: want.clip.to_owned(),
            target: want.target,
            moving: self.moving,
            stale: false,
            // A clip is held from its first tick.
            phase: if motion.is_some() { Phase::Ramp } else { Phase::Hold },
            clock: 0.0,
            motion,
            animation,
        })
    }

    /// Goes on from the held pose to where the target is now.
    fn follow(&mut self, active: &mut Active, want: &Want<'_>) -> Result<(), Refusal> {
        let Some(before) = active.motion else { return Ok(()) };
        let target = generator::place(want.target)?;
        let mut animation = self.take();
        let out = unique(&mut animation);
        let motion = match active.wire {
            Wire::Head => generator::look(out, target, self.unit, Some(&before)),
            _ => {
                generator::point_on(out, &before, active.clock, active.side, target, self.unit, active.moving)
            }
        };
        let motion = match motion {
            Ok(motion) => motion,
            Err(refusal) => {
                self.give_back(animation);
                return Err(refusal);
            }
        };
        self.install(active.wire.slot(), &animation, active.joints(), 0.0, 0.0, true);
        self.give_back(std::mem::replace(&mut active.animation, animation));
        active.motion = Some(motion);
        (active.target, active.stale, active.phase, active.clock) = (target, false, Phase::Transition, 0.0);
        Ok(())
    }

    /// Lets go: through the lowering arc, from the pose that shows, or by a plain fade.
    fn release(&mut self, active: &mut Active) {
        let slot = active.wire.slot();
        active.phase = Phase::Release;
        let shown = self.manager.shown(self.id).copied();
        let (Some(motion), Some(shown)) = (active.motion, shown) else {
            self.manager.clear_blend(self.id, Some(slot), FADE);
            return;
        };
        let mut animation = self.take();
        let out = unique(&mut animation);
        match active.wire {
            Wire::Head => generator::look_tail(out, &motion, &shown),
            _ => generator::point_tail(out, &motion, active.side, &shown),
        }
        self.install(slot, &animation, active.joints(), 0.0, FADE, true);
        self.give_back(std::mem::replace(&mut active.animation, animation));
    }

    fn install(
        &mut self,
        slot: SlotId,
        animation: &Arc<Animation>,
        joints: JointSet,
        fade_in: f64,
        fade_out: f64,
        carry_ramps: bool,
    ) {
        let blend = Blend { joints, fade_in, fade_out, carry_ramps, ..Blend::new(Arc::clone(animation)) };
        self.manager.install(self.id, slot, &blend);
    }

    /// An animation that nobody else holds, in memory used before if there is any.
    fn take(&mut self) -> Arc<Animation> {
        self.spare.pop().unwrap_or_else(|| Arc::new(Animation::blank()))
    }

    fn give_back(&mut self, mut animation: Arc<Animation>) {
        // Named clips belong to the library, and the manager may still hold what it plays.
        if self.spare.len() < SPARE && Arc::get_mut(&mut animation).is_some() {
            self.spare.push(animation);
        }
    }
}

fn unique(animation: &mut Arc<Animation>) -> &mut Animation {
    // Spare animations are held by nobody else; if one were, it would be left alone.
    Arc::make_mut(animation)
}
