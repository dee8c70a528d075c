//! What the engine published since the last look, between the thread of the executor and that of the world.
//!
//! The newest few frames are kept and older ones dropped; metadata and gestures replace what came before.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use promenade_crowd::protocol::{AgentFrame, AgentGestures, AgentMeta};
use promenade_human::backends::arena::Heard;

use super::super::Ingress;
use super::super::inbox::Teller;

/// Frames that wait at most; only the last two show.
const ROOM: usize = 4;

#[derive(Default)]
struct Waiting {
    frames: VecDeque<AgentFrame>,
    /// Frames to write the next ones into.
    spare: Vec<AgentFrame>,
    meta: Option<AgentMeta>,
    gestures: Option<AgentGestures>,
}

/// See the module.
pub(super) struct Arrivals {
    waiting: Mutex<Waiting>,
    world: Teller,
}

impl Arrivals {
    /// Wakes `world` when frames come.
    pub(super) fn new(world: Teller) -> Self {
        Arrivals { waiting: Mutex::default(), world }
    }

    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A frame came; `read` writes it over an old one.
    pub(super) fn on_frame(&self, read: impl FnOnce(&mut AgentFrame)) {
        let mut waiting = self.lock();
        let was_empty = waiting.frames.is_empty();
        let spare = match waiting.frames.len() {
            ROOM => waiting.frames.pop_front(),
            _ => waiting.spare.pop(),
        };
        let mut frame = spare.unwrap_or_default();
        read(&mut frame);
        waiting.frames.push_back(frame);
        drop(waiting);
        if was_empty {
            self.world.tell(Ingress::Engine);
        }
    }

    pub(super) fn on_meta(&self, meta: AgentMeta) {
        self.lock().meta = Some(meta);
    }

    pub(super) fn on_gestures(&self, gestures: AgentGestures) {
        self.lock().gestures = Some(gestures);
    }

    /// Forgets what waits: it is about people who are gone.
    pub(super) fn clear(&self) {
        let mut waiting = self.lock();
        let Waiting { frames, spare, meta, gestures } = &mut *waiting;
        spare.extend(frames.drain(..));
        (*meta, *gestures) = (None, None);
    }

    /// Hands on what waits.
    pub(super) fn hand_on(&self, hear: &mut dyn FnMut(Heard<'_>)) {
        let mut waiting = self.lock();
        let Waiting { frames, spare, meta, gestures } = &mut *waiting;
        if let Some(meta) = meta.take() {
            hear(Heard::Meta(&meta));
        }
        if let Some(gestures) = gestures.take() {
            hear(Heard::Gestures(&gestures));
        }
        for frame in frames.drain(..) {
            hear(Heard::Frame(&frame));
            spare.push(frame);
        }
    }
}
