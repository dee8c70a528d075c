//! A simulation from the outside: building it, adding systems, and driving it step by step or to its end.

use std::future::Future;
use std::rc::Rc;
use std::time::Duration;

use serde_json::Value;

use crate::clock::{FrameRate, Time};
use crate::context::{Ctx, EventHandle};
use crate::core::Core;
use crate::error::{CleanupFailed, LoadError, SimError, SystemResult};
use crate::frame::{FrameHandle, FrameSystem};
use crate::pacer::{Pacer, RealtimePacer};
use crate::queue::{Step, Urgency};
use crate::random::KeyedStreams;
use crate::record::LoggedEvent;
use crate::store::{Store, StoreState};
use crate::systems::{Cleanup, OnError};
use crate::world::{Commands, World};

/// Why a run ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End {
    /// A system, or the driver, fired the kill switch.
    Killed {
        /// The reason it gave; may be empty.
        reason: String,
    },
    /// The configured duration is over.
    Duration,
    /// Nothing is left that could ever happen.
    Idle,
    /// The driver called [`Simulation::finish`].
    Finished,
    /// A system failed.
    Failed,
}

/// How far a run is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Status {
    /// It can go on.
    Running,
    /// It is over, its clean-ups have run.
    Ended(End),
}

/// What is left of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// Why it ended.
    pub end: End,
    /// The clock at the end.
    pub time: Time,
    /// Frames that were run.
    pub frames: u64,
    /// Frames that started late on the wall clock. Only with a pacer.
    pub late_frames: u64,
    /// Steps of the queue.
    pub steps: u64,
    /// Records nobody took, by tag.
    pub untaken: Vec<(String, usize)>,
    /// Records that outlived `event_store.ttl`.
    pub expired: u64,
    /// Warnings, among them the systems that failed and were removed.
    pub warnings: Vec<String>,
}

/// The options of a simulation.
pub struct Builder {
    fps: f64,
    rate: Option<FrameRate>,
    seed: u64,
    duration: Option<Time>,
    config: Value,
    max_items: usize,
    ttl: Option<Duration>,
    max_steps: u32,
    record: bool,
    on_error: Vec<(String, OnError)>,
    pacer: Option<Box<dyn Pacer>>,
}

impl Builder {
    /// Frames per simulated second. 0, the default, means no frames; so does, with a warning, what is no rate.
    pub fn fps(mut self, fps: f64) -> Self {
        self.fps = fps;
        self.rate = FrameRate::new(fps);
        self
    }

    /// The episode seed of all random streams. The default is 0.
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// Ends the run at this time. Zero, like the default, means never.
    pub fn duration(mut self, duration: Duration) -> Self {
        self.duration = (duration > Duration::ZERO).then(|| Time::ZERO + duration);
        self
    }

    /// What [`Ctx::config`] gives.
    pub fn config(mut self, config: Value) -> Self {
        self.config = config;
        self
    }

    /// The most records that may wait in the store. The default is 10 000.
    pub fn max_items(mut self, max_items: usize) -> Self {
        self.max_items = max_items;
        self
    }

    /// Lets records that nobody takes expire after this time. By default they stay.
    pub fn ttl(mut self, ttl: Duration) -> Self {
        self.ttl = Some(ttl);
        self
    }

    /// The most steps that may be taken at one instant. The default is 100 000.
    pub fn max_steps_per_instant(mut self, steps: u32) -> Self {
        self.max_steps = steps;
        self
    }

    /// Keeps a log of every record sent, for [`Simulation::events`].
    pub fn record_events(mut self) -> Self {
        self.record = true;
        self
    }

    /// What happens when this system fails.
    pub fn on_error(mut self, system: &str, policy: OnError) -> Self {
        self.on_error.push((system.to_owned(), policy));
        self
    }

    /// Simulated seconds per wall second. 0, the default, means as fast as possible.
    pub fn realtime_factor(mut self, factor: f64) -> Self {
        self.pacer = RealtimePacer::new(factor).map(|pacer| Box::new(pacer) as Box<dyn Pacer>);
        self
    }

    /// Paces frames by other means.
    pub fn pacer(mut self, pacer: impl Pacer + 'static) -> Self {
        self.pacer = Some(Box::new(pacer));
        self
    }

    /// The simulation, at time 0.
    pub fn build(self) -> Simulation {
        let store = StoreState::new(self.max_items, self.ttl, self.record);
        let core = Core::new(self.rate, KeyedStreams::new(self.seed), self.config, store, self.max_steps);
        if self.fps != 0.0 && self.rate.is_none() {
            core.warn(format!("FPS {} is no frame rate and is treated as 0", self.fps));
        }
        core.systems.borrow_mut().policies.extend(self.on_error);
        Simulation {
            core: Rc::new(core),
            commands: Commands::default(),
            pacer: self.pacer,
            duration: self.duration,
            cleanups: Vec::new(),
            loaded: false,
            ended: None,
            frames: 0,
            late_frames: 0,
        }
    }
}

/// A world, its systems, and the clock that drives them. Systems may hold `Rc`s: everything runs on one thread.
pub struct Simulation {
    core: Rc<Core>,
    commands: Commands,
    pacer: Option<Box<dyn Pacer>>,
    duration: Option<Time>,
    cleanups: Vec<Cleanup>,
    loaded: bool,
    ended: Option<End>,
    frames: u64,
    late_frames: u64,
}

impl Simulation {
    /// A simulation without frames, of seed 0, that runs as fast as possible until killed.
    pub fn builder() -> Builder {
        Builder {
            fps: 0.0,
            rate: None,
            seed: 0,
            duration: None,
            config: Value::Null,
            max_items: 10_000,
            ttl: None,
            max_steps: 100_000,
            record: false,
            on_error: Vec::new(),
            pacer: None,
        }
    }

    /// Adds a frame system. After the start it runs from the next frame on.
    pub fn add_frame(&mut self, system: impl FrameSystem + 'static) -> Result<FrameHandle<'_>, LoadError> {
        FrameHandle::add(&self.core, Box::new(system))
    }

    /// Adds an event system: an async function that gets the context. It takes its first step at the current instant,
    /// before frame 0 if the run has not started.
    pub fn add_event<F>(
        &mut self,
        name: &str,
        run: impl FnOnce(Ctx) -> F,
    ) -> Result<EventHandle<'_>, LoadError>
    where
        F: Future<Output = SystemResult> + 'static,
    {
        EventHandle::add(&self.core, name, run)
    }

    /// Removes a system of either kind and runs its clean-up at once.
    pub fn remove_system(&mut self, name: &str) -> Result<(), LoadError> {
        self.core.remove_named(name)
    }

    /// The user's own clean-up: runs after those of all systems. Of several, the last added runs first.
    pub fn add_cleanup(&mut self, clean_up: impl FnOnce() -> SystemResult + 'static) {
        self.cleanups.push(Box::new(clean_up));
    }

    /// The clock.
    pub fn now(&self) -> Time {
        self.core.now.get()
    }

    /// The instant of the next step, if there is one.
    pub fn next_time(&self) -> Option<Time> {
        self.core.next_time()
    }

    /// Frames run so far.
    pub fn frames(&self) -> u64 {
        self.frames
    }

    /// Calls `look` with the world, between steps.
    pub fn with_world<R>(&mut self, look: impl FnOnce(&mut World) -> R) -> R {
        look(&mut self.core.world.borrow_mut())
    }

    /// The event store.
    pub fn store(&self) -> Store {
        Store::new(&self.core)
    }

    /// Every record sent so far; empty unless the builder was told to record.
    pub fn events(&self) -> Vec<LoggedEvent> {
        self.core.store.borrow().log.clone().unwrap_or_default()
    }

    /// Fires the kill switch: the run ends before its next step. The first call counts.
    pub fn kill(&mut self, reason: impl Into<String>) {
        self.core.kill(reason.into());
    }

    /// Checks and orders the systems, and schedules frame 0 after all that was added. The first step does it as well.
    pub fn load(&mut self) -> Result<(), SimError> {
        if self.loaded {
            return Ok(());
        }
        let checked = {
            let mut systems = self.core.systems.borrow_mut();
            systems.check_policies().and_then(|()| systems.sort())
        };
        if let Err(error) = checked {
            return Err(SimError {
                system: "kernel".to_owned(),
                time: self.now(),
                source: error.into(),
                cleanup: vec![],
            });
        }
        self.loaded = true;
        if self.core.rate.is_some() {
            self.core.queue.borrow_mut().push(self.now(), Urgency::Start, Step::Frame(0));
        }
        Ok(())
    }

    /// Runs everything due strictly before `until` and puts the clock there; what is due exactly then waits for the
    /// next call. So `run_until(a)` and then `run_until(b)` is the same as `run_until(b)`.
    pub fn run_until(&mut self, until: Time) -> Result<Status, SimError> {
        self.load()?;
        let limit = self.duration.map_or(until, |duration| duration.min(until));
        while self.advance(limit) {}
        if self.is_stopped() {
            return self.stop();
        }
        self.core.set_clock(limit);
        if self.duration.is_some_and(|duration| self.now() >= duration) {
            return self.end(End::Duration);
        }
        Ok(Status::Running)
    }

    /// Runs to the end, whatever ends it.
    pub fn run(&mut self) -> Result<Report, SimError> {
        self.load()?;
        let limit = self.duration.unwrap_or(Time::MAX);
        while self.advance(limit) {}
        if self.is_stopped() {
            self.stop()?;
        } else if self.duration.is_some() {
            self.core.set_clock(limit);
            self.end(End::Duration)?;
        } else {
            self.end(End::Idle)?;
        }
        Ok(self.report())
    }

    /// Takes a single step of the queue and returns its instant; `None` when there is none left, or the run is over.
    pub fn step(&mut self) -> Result<Option<Time>, SimError> {
        self.load()?;
        let stepped = self.advance(self.duration.unwrap_or(Time::MAX));
        if self.is_stopped() {
            self.stop()?;
        }
        Ok(stepped.then(|| self.now()))
    }

    /// Runs to the end of the next frame, events due before it included; whether there was one.
    pub fn step_frame(&mut self) -> Result<bool, SimError> {
        let frames = self.frames;
        while self.frames == frames {
            if self.step()?.is_none() {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Ends the run here, unless it is over: runs the clean-ups, and reports.
    pub fn finish(&mut self) -> Result<Report, SimError> {
        self.end(End::Finished)?;
        Ok(self.report())
    }

    /// What the run has come to so far.
    pub fn report(&self) -> Report {
        let store = self.core.store.borrow();
        Report {
            end: self.ended.clone().unwrap_or(End::Finished),
            time: self.now(),
            frames: self.frames,
            late_frames: self.late_frames,
            steps: self.core.steps.get(),
            untaken: store.untaken(),
            expired: store.expired,
            warnings: self.core.warnings.borrow().clone(),
        }
    }

    fn is_stopped(&self) -> bool {
        self.ended.is_some() || self.core.is_over()
    }

    /// The heart of it: takes the next step due before `limit`, if any.
    fn advance(&mut self, limit: Time) -> bool {
        if self.is_stopped() {
            return false;
        }
        let Some((time, step)) = self.core.next_step(limit) else { return false };
        self.core.enter(time);
        if self.core.is_over() {
            return true;
        }
        match step {
            Step::Start(process) => self.core.run_process(process),
            Step::Wake(wait) => self.core.resume(wait),
            Step::Match => self.core.match_records(),
            Step::Frame(index) => self.frame(index),
        }
        true
    }

    fn frame(&mut self, index: u64) {
        let now = self.now();
        if let Some(pacer) = &mut self.pacer {
            self.late_frames += u64::from(pacer.before_frame(now));
        }
        self.core.run_frame(index, &mut self.commands);
        self.frames += 1;
        if let Some(next) = self.core.rate.and_then(|rate| rate.frame_time(index + 1)) {
            self.core.queue.borrow_mut().push(next, Urgency::Normal, Step::Frame(index + 1));
        }
    }

    /// The run is over, or a system wants it to be.
    fn stop(&mut self) -> Result<Status, SimError> {
        let killed = self.core.killed.borrow().clone();
        self.end(killed.map_or(End::Failed, |reason| End::Killed { reason }))
    }

    /// Ends all processes and runs the clean-ups, last added first, the user's own last; once.
    fn end(&mut self, end: End) -> Result<Status, SimError> {
        if let Some(end) = &self.ended {
            return Ok(Status::Ended(end.clone()));
        }
        let failure = self.core.failure.borrow_mut().take();
        let end = if failure.is_some() { End::Failed } else { end };
        self.ended = Some(end.clone());
        self.core.drop_processes();
        let count = self.core.systems.borrow().len();
        for id in (0..count).rev() {
            self.core.clean_up(id);
        }
        for cleanup in self.cleanups.drain(..).rev() {
            self.core.run_cleanup("user", cleanup);
        }
        let cleanup = self.core.cleanup_errors.take();
        if let Some(failure) = failure {
            let (system, time, source) = (failure.system, failure.time, failure.source);
            return Err(SimError { system, time, source, cleanup });
        }
        if let Some(first) = cleanup.first() {
            let (system, time) = (first.system.clone(), self.now());
            let source = CleanupFailed(cleanup).into();
            return Err(SimError { system, time, source, cleanup: vec![] });
        }
        Ok(Status::Ended(end))
    }
}

impl Drop for Simulation {
    /// Clean-ups run whatever ends a run. Then the processes and records go, which hold on to the core.
    fn drop(&mut self) {
        if let Err(error) = self.end(End::Finished) {
            tracing::error!(%error, "a simulation was dropped and failed to end well");
        }
        self.core.drop_processes();
        let records = self.core.store.borrow_mut().clear();
        drop(records);
    }
}
