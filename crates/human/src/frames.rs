//! The layer on the kernel, driven by a clock that somebody else owns.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::Duration;

use promenade_kernel::{FrameCtx, FrameSystem, LoadError, Phase, SimError, Simulation, SystemResult, Time};

use crate::layer::HumanLayer;

/// What has frames: a layer, or an environment around it.
pub trait Ticked {
    /// Frames per second of simulated time.
    fn rate_hz(&self) -> f64;
    /// Sets the time of the calls that follow.
    fn set_now(&mut self, now: Time);
    /// Sets a time that lies before the last one, as after a restart of the simulator.
    fn set_back(&mut self, now: Time);
    /// One frame.
    fn tick(&mut self);
}

impl Ticked for HumanLayer {
    fn rate_hz(&self) -> f64 {
        HumanLayer::rate_hz(self)
    }
    fn set_now(&mut self, now: Time) {
        HumanLayer::set_now(self, now);
    }
    fn set_back(&mut self, now: Time) {
        HumanLayer::set_back(self, now);
    }
    fn tick(&mut self) {
        HumanLayer::tick(self);
    }
}

/// A clock that leaps further ahead than this between two readings has jumped: the time between is not simulated.
const CLOCK_JUMP: Duration = Duration::from_secs(1);

/// Ticks a layer or an environment once per frame, at an epoch plus kernel time. The frame rate must be [`Ticked::rate_hz`].
pub struct Frames<T> {
    ticked: Rc<RefCell<T>>,
    epoch: Rc<Cell<Time>>,
}

impl<T: Ticked> Frames<T> {
    /// Ticks `ticked`, whose clock is the kernel's.
    #[must_use]
    pub fn new(ticked: Rc<RefCell<T>>) -> Self {
        Frames { ticked, epoch: Rc::default() }
    }
}

impl<T: Ticked> FrameSystem for Frames<T> {
    fn name(&self) -> &str {
        "human_layer"
    }

    fn process(&mut self, cx: &mut FrameCtx<'_>) -> SystemResult {
        let mut ticked = self.ticked.borrow_mut();
        ticked.set_now(self.epoch.get() + cx.now().saturating_since(Time::ZERO));
        ticked.tick();
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

/// A layer or an environment whose frames follow a clock from outside, such as `/clock`.
///
/// Frames are due at a fixed rate of *that* clock: a paused clock yields none, a reading that covers several yields them
/// all, each with its own time.
pub struct Clocked<T> {
    kernel: Simulation,
    ticked: Rc<RefCell<T>>,
    epoch: Rc<Cell<Time>>,
    last: Time,
}

impl<T: Ticked + 'static> Clocked<T> {
    /// Starts at clock reading `now`; the first frame is due at once.
    ///
    /// # Errors
    /// When the kernel refuses the rate that the backend asks for.
    pub fn new(ticked: T, seed: u64, now: Time) -> Result<Self, LoadError> {
        let rate = ticked.rate_hz();
        let ticked = Rc::new(RefCell::new(ticked));
        let epoch = Rc::new(Cell::new(now));
        let mut kernel = Simulation::builder().fps(rate).seed(seed).build();
        let frames = Frames { epoch: Rc::clone(&epoch), ..Frames::new(Rc::clone(&ticked)) };
        kernel.add_frame(frames)?.phase(Phase::Gait);
        Ok(Clocked { kernel, ticked, epoch, last: now })
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
            self.ticked.borrow_mut().set_back(now);
        }
        let due = now.nanos().saturating_sub(self.epoch.get().nanos());
        // The kernel runs what is due strictly before a time; a frame due exactly now is due.
        self.kernel.run_until(Time::from_nanos(due.saturating_add(1)))?;
        self.ticked.borrow_mut().set_now(now);
        Ok(step)
    }

    /// What is ticked, at the last clock reading.
    #[must_use]
    pub fn get(&self) -> std::cell::RefMut<'_, T> {
        self.ticked.borrow_mut()
    }
}

impl<T> std::fmt::Debug for Clocked<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Clocked").field("last", &self.last).finish_non_exhaustive()
    }
}
