//! Frame systems: behaviour that runs every frame, or every few, in a fixed order.

use std::rc::Rc;

use hecs::{Bundle, Component, DynamicBundle, Query, QueryBorrow};
use serde_json::Value;

use crate::clock::Time;
use crate::core::Core;
use crate::error::{ComponentError, LoadError, NoSuchEntity, SystemResult};
use crate::random::SystemRng;
use crate::store::Store;
use crate::systems::{FrameSlot, SystemId};
use crate::world::{Commands, Entity, Ref, RefMut, World};

/// Behaviour that runs every frame.
pub trait FrameSystem {
    /// A name no other system has.
    fn name(&self) -> &str;

    /// One frame. An error ends the run, unless `on_error` says otherwise.
    fn process(&mut self, cx: &mut FrameCtx<'_>) -> SystemResult;

    /// Runs once, when the run ends or the system is removed.
    fn clean_up(&mut self) -> SystemResult {
        Ok(())
    }
}

/// The usual order of work in a frame. A phase is a priority: systems of an earlier phase run first, those of one phase
/// in the order added.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Phase {
    /// P0: commands, goals, possession and guidance from outside.
    Ingress,
    /// P1: spawning, deleting, scenario triggers.
    Spawn,
    /// P2: goals of pedestrians and groups, policies, script steps.
    Behaviour,
    /// P3: route planning.
    Planning,
    /// P4: forces or velocity obstacles over all pedestrians and robots.
    Crowd,
    /// P5: controllers, command limits and odometry of robots.
    RobotControl,
    /// P6: integration and collision response.
    Motion,
    /// P7: footsteps and joint angles from the new poses.
    Gait,
    /// P8: scans, detections, visibility.
    Sensing,
    /// P9: judges, metrics, recorders, messages to the outside.
    Egress,
}

impl Phase {
    /// The priority of this phase: 1000 for [`Phase::Ingress`] down to 100 for [`Phase::Egress`].
    pub fn priority(self) -> i32 {
        1000 - 100 * self as i32
    }
}

/// Says how a frame system that was just added is ordered. Mistakes are found when the run starts.
pub struct FrameHandle<'a> {
    core: &'a Core,
    id: SystemId,
}

impl<'a> FrameHandle<'a> {
    pub(crate) fn add(core: &'a Core, system: Box<dyn FrameSystem>) -> Result<Self, LoadError> {
        let name = system.name().to_owned();
        if core.rate.is_none() {
            core.warn(format!("the frame system \"{name}\" is useless: FPS is 0, so there are no frames"));
        }
        let slot = FrameSlot { system: Some(system), priority: 0, after: Vec::new(), every: 1 };
        let id = core.systems.borrow_mut().add(&name, Some(slot))?;
        Ok(Self { core, id })
    }

    /// Runs before systems of lower priority. The default is 0.
    pub fn priority(self, priority: i32) -> Self {
        self.with(|slot| slot.priority = priority)
    }

    /// The priority of a phase.
    pub fn phase(self, phase: Phase) -> Self {
        self.priority(phase.priority())
    }

    /// Runs after this frame system, whatever their priorities.
    pub fn after(self, name: &str) -> Self {
        self.with(|slot| slot.after.push(name.to_owned()))
    }

    /// Runs only in every `frames`-th frame, beginning with frame 0. Below 1 is an error.
    pub fn every(self, frames: u64) -> Self {
        self.with(|slot| slot.every = frames)
    }

    fn with(self, change: impl FnOnce(&mut FrameSlot)) -> Self {
        let mut systems = self.core.systems.borrow_mut();
        systems.unsorted = true;
        if let Some(slot) = systems.entry(self.id).and_then(|entry| entry.frame.as_mut()) {
            change(slot);
        }
        drop(systems);
        self
    }
}

/// What a frame system sees.
pub struct FrameCtx<'a> {
    pub(crate) core: &'a Rc<Core>,
    pub(crate) world: &'a World,
    pub(crate) commands: &'a mut Commands,
    pub(crate) frame: u64,
    pub(crate) every: u64,
}

impl<'a> FrameCtx<'a> {
    /// The start of this frame.
    pub fn now(&self) -> Time {
        self.core.now.get()
    }

    /// The number of this frame, from 0.
    pub fn frame(&self) -> u64 {
        self.frame
    }

    /// Seconds between two runs of this system: `every / FPS`, the same in every frame.
    pub fn dt(&self) -> f64 {
        self.core.rate.map_or(0.0, |rate| self.every as f64 / rate.per_second())
    }

    /// The world. Components can be changed through it; entities and their sets of components can not.
    pub fn world(&self) -> &'a World {
        self.world
    }

    /// Short for [`World::query`].
    pub fn query<Q: Query>(&self) -> QueryBorrow<'a, Q> {
        self.world.query::<Q>()
    }

    /// Short for [`World::ordered`].
    pub fn ordered<Q: Query>(&self, visit: impl FnMut(Entity, Q::Item<'_>)) {
        self.world.ordered::<Q>(visit);
    }

    /// Short for [`World::get`].
    pub fn get<T: Component>(&self, entity: Entity) -> Result<Ref<'a, T>, ComponentError> {
        self.world.get(entity)
    }

    /// Short for [`World::get_mut`].
    pub fn get_mut<T: Component>(&self, entity: Entity) -> Result<RefMut<'a, T>, ComponentError> {
        self.world.get_mut(entity)
    }

    /// Creates an entity when this system returns. Its id is valid at once.
    pub fn spawn(&mut self, components: impl DynamicBundle) -> Entity {
        self.commands.spawn(self.world, components)
    }

    /// Puts components on an entity when this system returns.
    pub fn insert(&mut self, entity: Entity, components: impl DynamicBundle) -> Result<(), NoSuchEntity> {
        self.commands.insert(self.world, entity, components)
    }

    /// Takes components off an entity when this system returns, if it has them all by then.
    pub fn remove<B: Bundle + 'static>(&mut self, entity: Entity) -> Result<(), NoSuchEntity> {
        self.commands.remove::<B>(self.world, entity)
    }

    /// Deletes an entity at the start of the next frame.
    pub fn delete(&mut self, entity: Entity) -> Result<(), NoSuchEntity> {
        self.commands.delete(self.world, entity)
    }

    /// The event store.
    pub fn store(&self) -> Store {
        Store::new(self.core)
    }

    /// Ends the run now. The first call counts.
    pub fn kill(&self, reason: impl Into<String>) {
        self.core.kill(reason.into());
    }

    /// The random stream of this name, the same one wherever it is asked for.
    pub fn rng(&self, name: &str) -> SystemRng {
        self.core.rng(name)
    }

    /// The configuration of the run.
    pub fn config(&self) -> &'a Value {
        &self.core.config
    }

    /// Adds a frame system, which runs from the next frame on.
    pub fn add_frame(&self, system: impl FrameSystem + 'static) -> Result<FrameHandle<'a>, LoadError> {
        FrameHandle::add(self.core, Box::new(system))
    }

    /// Removes a system of either kind and runs its clean-up: at once, or, for the caller itself, when it returns.
    pub fn remove_system(&self, name: &str) -> Result<(), LoadError> {
        self.core.remove_named(name)
    }
}
