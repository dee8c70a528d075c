//! The layer on the kernel, driven by a clock that somebody else owns.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::Duration;

use promenade_kernel::{FrameCtx, FrameSystem, LoadError, Phase, SimError, Simulation, SystemResult, Time};

use crate::layer::HumanLayer;

/// A clock that leaps further ahead than this between two readings has jumped: the time between is not simulated.
const CLOCK_JUMP: Duration = Duration::from_secs(1);

/// Ticks a layer once per frame, at an epoch plus kernel time. The frame rate must be [`HumanLayer::rate_hz`].
pub struct LayerFrames {
    layer: Rc<RefCell<HumanLayer>>,
    epoch: Rc<Cell<Time>>,
}

impl LayerFrames {
    /// Ticks `layer`, whose clock is the kernel's.
    #[must_use]
    pub fn new(layer: Rc<RefCell<HumanLayer>>) -> Self {
        LayerFrames { layer, epoch: Rc::default() }
    }
}

impl FrameSystem for LayerFrames {
    fn name(&self) -> &str {
        "human_layer"
    }

    fn process(&mut self, cx: &mut FrameCtx<'_>) -> SystemResult {
        let mut layer = self.layer.borrow_mut();
        layer.set_now(self.epoch.get() + cx.now().saturating_since(Time::ZERO));
        layer.tick();
        Ok(())
    }
}

/// What a clock reading did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClockStep {
    /// Time went on, or stood still.
    Continued,
    /// The clock went back by this much; frames go on from the new reading.
    JumpedBack(Duration),
    /// The clock leapt ahead by this much; the time between was not simulated.
    JumpedAhead(Duration),
}

/// A layer whose frames follow a clock from outside, such as `/clock`.
///
/// Frames are due at a fixed rate of *that* clock: a paused clock yields none, a reading that covers several yields them
/// all, each with its own time.
pub struct ClockedLayer {
    kernel: Simulation,
    layer: Rc<RefCell<HumanLayer>>,
    epoch: Rc<Cell<Time>>,
    last: Time,
}

impl ClockedLayer {
    /// Starts at clock reading `now`; the first frame is due at once.
    ///
    /// # Errors
    /// When the kernel refuses the rate that the backend asks for.
    pub fn new(layer: HumanLayer, seed: u64, now: Time) -> Result<Self, LoadError> {
        let rate = layer.rate_hz();
        let layer = Rc::new(RefCell::new(layer));
        let epoch = Rc::new(Cell::new(now));
        let mut kernel = Simulation::builder().fps(rate).seed(seed).build();
        let frames = LayerFrames { epoch: Rc::clone(&epoch), ..LayerFrames::new(Rc::clone(&layer)) };
        kernel.add_frame(frames)?.phase(Phase::Gait);
        Ok(ClockedLayer { kernel, layer, epoch, last: now })
    }

    /// Runs the frames due at clock reading `now`, that one included. After a jump frames go on from `now`, the first of them at
    /// once, so that everybody on the bus learns of the new time also when the clock then stands.
    ///
    /// # Errors
    /// What a system of the kernel reports.
    pub fn advance_to(&mut self, now: Time) -> Result<ClockStep, SimError> {
        let (ahead, back) = (now.saturating_since(self.last), self.last.saturating_since(now));
        self.last = now;
        let step = if !back.is_zero() {
            ClockStep::JumpedBack(back)
        } else if ahead > CLOCK_JUMP {
            ClockStep::JumpedAhead(ahead)
        } else {
            ClockStep::Continued
        };
        if step != ClockStep::Continued {
            let next_frame = self.kernel.next_time().unwrap_or(self.kernel.now());
            self.epoch.set(Time::from_nanos(now.nanos().saturating_sub(next_frame.nanos())));
        }
        if matches!(step, ClockStep::JumpedBack(_)) {
            self.layer.borrow_mut().set_back(now);
        }
        let due = now.nanos().saturating_sub(self.epoch.get().nanos());
        // The kernel runs what is due strictly before a time; a frame due exactly now is due.
        self.kernel.run_until(Time::from_nanos(due.saturating_add(1)))?;
        self.layer.borrow_mut().set_now(now);
        Ok(step)
    }

    /// The layer, at the last clock reading.
    #[must_use]
    pub fn layer(&self) -> std::cell::RefMut<'_, HumanLayer> {
        self.layer.borrow_mut()
    }
}

impl std::fmt::Debug for ClockedLayer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ClockedLayer").field("last", &self.last).finish_non_exhaustive()
    }
}
