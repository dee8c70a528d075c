//! Event systems: async functions that run until they wait, and the context they get.

use std::cell::RefMut;
use std::future::Future;
use std::rc::Rc;
use std::time::Duration;

use serde_json::Value;

use crate::clock::Time;
use crate::core::Core;
use crate::error::{LoadError, SystemResult, WorldHeld};
use crate::event::{Either, Event, Process, Timeout, select};
use crate::frame::{FrameHandle, FrameSystem};
use crate::random::SystemRng;
use crate::store::Store;
use crate::systems::SystemId;
use crate::world::World;

/// What an event system gets: the clock, the world, the store, and a way to end it all. A clone is the same context.
///
/// Wait only for what the kernel offers. A future of another runtime is never woken.
#[derive(Clone)]
pub struct Ctx {
    core: Rc<Core>,
    system: SystemId,
}

impl Ctx {
    /// The instant.
    pub fn now(&self) -> Time {
        self.core.now.get()
    }

    /// A wait for `duration` from now.
    pub fn timeout(&self, duration: Duration) -> Timeout {
        self.until(self.now() + duration)
    }

    /// A wait until `time`, or until later in this instant if that has passed.
    pub fn until(&self, time: Time) -> Timeout {
        Timeout::new(&self.core, time)
    }

    /// Waits for `wait`, but no longer than `limit`; `None` when time is up.
    pub async fn within<W: IntoFuture>(&self, limit: Duration, wait: W) -> Option<W::Output> {
        match select(wait, self.timeout(limit)).await {
            Either::First(value) => Some(value),
            Either::Second(()) => None,
        }
    }

    /// A new event object.
    pub fn event<T: Clone>(&self) -> Event<T> {
        Event::new(&self.core)
    }

    /// Starts a process of this system; it takes its first step at this instant, before what is due anyway. Its error
    /// is an error of the system.
    pub fn spawn<T: Clone + 'static>(
        &self,
        process: impl Future<Output = SystemResult<T>> + 'static,
    ) -> Process<T> {
        let done = Event::new(&self.core);
        let ended = done.clone();
        let process = async move {
            ended.fire(process.await?);
            Ok(())
        };
        self.core.start(self.system, Box::pin(process));
        Process { done }
    }

    /// The world; structural changes made through it apply at once, except deletions. It must be given back before the
    /// next wait, else the system fails with [`WorldHeld`].
    pub fn world(&self) -> Result<RefMut<'_, World>, WorldHeld> {
        let held = |_| WorldHeld { system: self.core.systems.borrow().name(self.system).to_string() };
        self.core.world.try_borrow_mut().map_err(held)
    }

    /// The event store.
    pub fn store(&self) -> Store {
        Store::new(&self.core)
    }

    /// Ends the run at this instant: this process still runs to its next wait, nothing else does. The first call counts.
    pub fn kill(&self, reason: impl Into<String>) {
        self.core.kill(reason.into());
    }

    /// The random stream of this name, the same one wherever it is asked for.
    pub fn rng(&self, name: &str) -> SystemRng {
        self.core.rng(name)
    }

    /// The configuration of the run.
    pub fn config(&self) -> &Value {
        &self.core.config
    }

    /// Adds a frame system, which runs from the next frame on.
    pub fn add_frame(&self, system: impl FrameSystem + 'static) -> Result<FrameHandle<'_>, LoadError> {
        FrameHandle::add(&self.core, Box::new(system))
    }

    /// Adds an event system, which takes its first step at this instant.
    pub fn add_event<F>(&self, name: &str, run: impl FnOnce(Ctx) -> F) -> Result<EventHandle<'_>, LoadError>
    where
        F: Future<Output = SystemResult> + 'static,
    {
        EventHandle::add(&self.core, name, run)
    }

    /// Removes a system of either kind and runs its clean-up. The processes of an event system end where they wait, the
    /// caller's own at its next wait.
    pub fn remove_system(&self, name: &str) -> Result<(), LoadError> {
        self.core.remove_named(name)
    }
}

/// An event system that was just added.
pub struct EventHandle<'a> {
    core: &'a Core,
    id: SystemId,
}

impl<'a> EventHandle<'a> {
    pub(crate) fn add<F>(
        core: &'a Rc<Core>,
        name: &str,
        run: impl FnOnce(Ctx) -> F,
    ) -> Result<Self, LoadError>
    where
        F: Future<Output = SystemResult> + 'static,
    {
        let id = core.systems.borrow_mut().add(name, None)?;
        core.start(id, Box::pin(run(Ctx { core: Rc::clone(core), system: id })));
        Ok(Self { core, id })
    }

    /// Runs once, when the run ends or the system is removed.
    pub fn cleanup(self, clean_up: impl FnOnce() -> SystemResult + 'static) -> Self {
        if let Some(entry) = self.core.systems.borrow_mut().entry(self.id) {
            entry.cleanup = Some(Box::new(clean_up));
        }
        self
    }
}
