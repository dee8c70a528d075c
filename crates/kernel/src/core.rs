//! The state that systems, contexts and waits share, and the single steps of a run.
//!
//! No borrow of any of these cells may be held while foreign code runs: a process, a clean-up, or the drop of either.
//! The one exception is a store filter, which must not touch the store.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use serde_json::Value;

use crate::clock::{FrameRate, Time};
use crate::error::{BoxError, CleanupError, LoadError, SystemResult, WorldHeld, ZeroTimeLoop, guarded};
use crate::frame::FrameCtx;
use crate::queue::{Queue, Step, Urgency};
use crate::random::{KeyedStreams, SystemRng};
use crate::store::StoreState;
use crate::systems::{OnError, SystemId, Systems};
use crate::task::{Process, Slab, Task, TaskId, Wait, WaitId};
use crate::world::{Commands, World};

/// Stands for the kernel itself where a system is named.
const KERNEL: SystemId = SystemId::MAX;

/// An error that ends the run.
pub(crate) struct Failure {
    pub(crate) system: String,
    pub(crate) time: Time,
    pub(crate) source: BoxError,
}

pub(crate) struct Core {
    pub(crate) now: Cell<Time>,
    pub(crate) queue: RefCell<Queue>,
    pub(crate) world: RefCell<World>,
    pub(crate) store: RefCell<StoreState>,
    pub(crate) systems: RefCell<Systems>,
    pub(crate) tasks: RefCell<Slab<Task>>,
    pub(crate) waits: RefCell<Slab<Wait>>,
    /// The process that runs at the moment.
    pub(crate) active: Cell<Option<TaskId>>,
    /// The system that ran last.
    active_system: Cell<SystemId>,
    pub(crate) rate: Option<FrameRate>,
    pub(crate) config: Value,
    pub(crate) streams: KeyedStreams,
    rngs: RefCell<BTreeMap<String, SystemRng>>,
    pub(crate) killed: RefCell<Option<String>>,
    pub(crate) failure: RefCell<Option<Failure>>,
    pub(crate) cleanup_errors: RefCell<Vec<CleanupError>>,
    pub(crate) warnings: RefCell<Vec<String>>,
    steps_here: Cell<u32>,
    max_steps: u32,
    pub(crate) steps: Cell<u64>,
}

impl Core {
    pub(crate) fn new(
        rate: Option<FrameRate>,
        streams: KeyedStreams,
        config: Value,
        store: StoreState,
        max_steps: u32,
    ) -> Self {
        Self {
            now: Cell::new(Time::ZERO),
            queue: RefCell::default(),
            world: RefCell::new(World::new()),
            store: RefCell::new(store),
            systems: RefCell::default(),
            tasks: RefCell::default(),
            waits: RefCell::default(),
            active: Cell::new(None),
            active_system: Cell::new(KERNEL),
            rate,
            config,
            streams,
            rngs: RefCell::default(),
            killed: RefCell::default(),
            failure: RefCell::default(),
            cleanup_errors: RefCell::default(),
            warnings: RefCell::default(),
            steps_here: Cell::new(0),
            max_steps,
            steps: Cell::new(0),
        }
    }

    /// Whether the run must stop here.
    pub(crate) fn is_over(&self) -> bool {
        self.killed.borrow().is_some() || self.failure.borrow().is_some()
    }

    pub(crate) fn kill(&self, reason: String) {
        self.killed.borrow_mut().get_or_insert(reason);
    }

    pub(crate) fn warn(&self, text: String) {
        tracing::warn!("{text}");
        self.warnings.borrow_mut().push(text);
    }

    pub(crate) fn rng(&self, name: &str) -> SystemRng {
        let mut rngs = self.rngs.borrow_mut();
        if let Some(rng) = rngs.get(name) {
            return rng.clone();
        }
        let rng = SystemRng::new(self.streams.fresh(&["system".into(), name.into()]));
        rngs.insert(name.to_owned(), rng.clone());
        rng
    }

    /// Schedules the first step of a process of `system`.
    pub(crate) fn start(&self, system: SystemId, process: Process) {
        let task = self.tasks.borrow_mut().insert(Task { process: Some(process), system });
        self.queue.borrow_mut().push(self.now.get(), Urgency::Start, Step::Start(task));
    }

    /// Ends a wait: its process goes on later in this instant. A wait that was dropped is ignored.
    pub(crate) fn wake(&self, id: WaitId) {
        if let Some(wait) = self.waits.borrow_mut().get_mut(id)
            && !wait.queued
            && !wait.over
        {
            wait.queued = true;
            self.queue.borrow_mut().push(self.now.get(), Urgency::Normal, Step::Wake(id));
        }
    }

    /// The next step due strictly before `limit`.
    pub(crate) fn next_step(&self, limit: Time) -> Option<(Time, Step)> {
        let waits = self.waits.borrow();
        self.queue.borrow_mut().pop_before(limit, |wait| waits.get(wait).is_some())
    }

    /// The instant of the next step.
    pub(crate) fn next_time(&self) -> Option<Time> {
        let waits = self.waits.borrow();
        self.queue.borrow_mut().next_time(|wait| waits.get(wait).is_some())
    }

    /// Moves the clock, which never goes back.
    pub(crate) fn set_clock(&self, time: Time) {
        if time > self.now.get() {
            self.now.set(time);
            self.steps_here.set(0);
        }
    }

    /// Moves the clock to the time of the next step, and notices when it stands still.
    pub(crate) fn enter(&self, time: Time) {
        self.set_clock(time);
        self.steps.set(self.steps.get() + 1);
        self.steps_here.set(self.steps_here.get() + 1);
        if self.steps_here.get() > self.max_steps {
            self.steps_here.set(0);
            let system = self.active_system.get();
            let name = self.systems.borrow().name(system).to_string();
            self.fail(system, ZeroTimeLoop { system: name, time, steps: self.max_steps }.into());
        }
    }

    /// A wait is over: its process goes on.
    pub(crate) fn resume(&self, id: WaitId) {
        let task = {
            let mut waits = self.waits.borrow_mut();
            let Some(wait) = waits.get_mut(id) else { return };
            wait.queued = false;
            wait.over = true;
            wait.task
        };
        if let Some(task) = task {
            self.run_process(task);
        }
    }

    /// Runs a process to its next wait.
    pub(crate) fn run_process(&self, id: TaskId) {
        let taken = self.tasks.borrow_mut().get_mut(id).map(|task| (task.process.take(), task.system));
        let Some((Some(mut process), system)) = taken else { return };
        self.active.set(Some(id));
        self.active_system.set(system);
        let polled = guarded(|| process.as_mut().poll(&mut Context::from_waker(Waker::noop())));
        self.active.set(None);
        let result = match polled {
            Ok(Poll::Pending) if self.world.try_borrow_mut().is_ok() => self.suspend(id, process),
            Ok(Poll::Pending) => {
                let system = self.systems.borrow().name(system).to_string();
                self.end_process(id, process, Err(WorldHeld { system }.into()))
            }
            Ok(Poll::Ready(result)) => self.end_process(id, process, result),
            Err(panic) => self.end_process(id, process, Err(panic)),
        };
        if let Err(error) = result {
            self.fail(system, error);
        }
        if self.rate.is_none() {
            self.world.borrow_mut().apply_deletions();
        }
    }

    /// Puts a process that waits back into the table, unless its system was removed while it ran.
    fn suspend(&self, id: TaskId, process: Process) -> SystemResult {
        if let Some(task) = self.tasks.borrow_mut().get_mut(id) {
            task.process = Some(process);
            return Ok(());
        }
        dropped(process)
    }

    fn end_process(&self, id: TaskId, process: Process, result: SystemResult) -> SystemResult {
        self.tasks.borrow_mut().remove(id);
        result.and(dropped(process))
    }

    /// Hands records of the store to those who wait for them.
    pub(crate) fn match_records(&self) {
        let now = self.now.get();
        let matched = guarded(|| {
            self.store.borrow_mut().match_records(now, |id, record| {
                if let Some(wait) = self.waits.borrow_mut().get_mut(id) {
                    wait.record = Some(record);
                }
                self.wake(id);
            });
        });
        if let Err(panic) = matched {
            let wait = self.store.borrow_mut().filtering.take();
            let task = wait.and_then(|wait| self.waits.borrow().get(wait)?.task);
            let system = task.and_then(|task| Some(self.tasks.borrow().get(task)?.system));
            self.fail(system.unwrap_or(KERNEL), panic);
        }
    }

    /// Runs the frame systems. Returns early when one ends the run.
    pub(crate) fn run_frame(self: &Rc<Self>, frame: u64, commands: &mut Commands) {
        self.world.borrow_mut().apply_deletions();
        let sorted = self.systems.borrow_mut().sort();
        if let Err(error) = sorted {
            return self.fail(KERNEL, error.into());
        }
        let count = self.systems.borrow().frame_count();
        for place in 0..count {
            let Some((id, mut system, every)) = self.systems.borrow_mut().check_out(place, frame) else {
                continue;
            };
            self.active_system.set(id);
            let result = guarded(|| {
                let world = self.world.borrow();
                system.process(&mut FrameCtx { core: self, world: &world, commands, frame, every })
            });
            self.world.borrow_mut().apply(commands);
            self.systems.borrow_mut().check_in(id, system);
            if self.systems.borrow().is_removed(id) {
                self.clean_up(id);
            }
            if let Err(error) = result.and_then(|result| result) {
                self.fail(id, error);
            }
            if self.is_over() {
                return;
            }
        }
    }

    /// A system failed: ends the run, or removes the system if it is allowed to fail.
    pub(crate) fn fail(&self, system: SystemId, source: BoxError) {
        let (name, policy) = {
            let systems = self.systems.borrow();
            (systems.name(system).to_string(), systems.policy(system))
        };
        if policy == OnError::Continue {
            self.warn(format!("removed \"{name}\", which failed at {} s: {source}", self.now.get()));
            return self.remove(system);
        }
        let failure = Failure { system: name, time: self.now.get(), source };
        self.failure.borrow_mut().get_or_insert(failure);
    }

    /// The system that runs at the moment made a mistake that it can not be told of.
    pub(crate) fn fail_active(&self, source: BoxError) {
        self.fail(self.active_system.get(), source);
    }

    pub(crate) fn remove_named(&self, name: &str) -> Result<(), LoadError> {
        let unknown = || LoadError::UnknownSystem { name: name.to_owned(), wanted_by: "removal".to_owned() };
        let id = self.systems.borrow().find(name).ok_or_else(unknown)?;
        self.remove(id);
        Ok(())
    }

    /// Takes a system out of the run: its processes end where they wait, its clean-up runs at once.
    fn remove(&self, id: SystemId) {
        self.systems.borrow_mut().mark_removed(id);
        let tasks = self.tasks.borrow_mut().drain(|task| task.system == id);
        self.drop_tasks(tasks);
        self.clean_up(id);
    }

    /// Runs the clean-up of a system unless it has run. A frame system that runs at the moment has it when it returns.
    pub(crate) fn clean_up(&self, id: SystemId) {
        let (name, cleanup, frame) = {
            let mut systems = self.systems.borrow_mut();
            let Some(entry) = systems.entry(id) else { return };
            let frame = entry.frame.as_mut().and_then(|slot| slot.system.take());
            (Rc::clone(&entry.name), entry.cleanup.take(), frame)
        };
        if let Some(mut system) = frame {
            self.run_cleanup(&name, || system.clean_up());
        }
        if let Some(cleanup) = cleanup {
            self.run_cleanup(&name, cleanup);
        }
    }

    pub(crate) fn run_cleanup(&self, name: &str, cleanup: impl FnOnce() -> SystemResult) {
        if let Err(source) = guarded(cleanup).and_then(|result| result) {
            tracing::error!(system = name, error = %source, "a clean-up failed");
            self.cleanup_errors.borrow_mut().push(CleanupError { system: name.to_owned(), source });
        }
    }

    /// Ends all processes, so that nothing they hold stands in the way of a clean-up.
    pub(crate) fn drop_processes(&self) {
        let tasks = self.tasks.borrow_mut().drain(|_| true);
        self.drop_tasks(tasks);
    }

    fn drop_tasks(&self, tasks: Vec<Task>) {
        for Task { process, system } in tasks {
            if let Some(Err(error)) = process.map(dropped) {
                let name = self.systems.borrow().name(system);
                self.run_cleanup(&name, || Err(error));
            }
        }
    }
}

/// Drops a process, which runs foreign code.
fn dropped(process: Process) -> SystemResult {
    guarded(|| drop(process))
}
