//! The backend interface and the registry of backends.
//!
//! A backend says how people move; the layer owns everything else. A backend must never publish or talk to the simulator
//! on its own: the funnels of [`LayerCx`] are the only ways out.

use std::collections::BTreeMap;

use promenade_kernel::Time;

use crate::backends::arena::{Arena, EngineLink};
use crate::backends::hunav::{Hunav, HunavLink, HunavSettings};
use crate::entity::{DynamicObstacle, Region, StaticObstacle, Wall};
use crate::layer::LayerCx;
use crate::message::{Pedestrian, Pose};
use crate::parameter::Parameter;
use crate::robot::Robot;

/// Prefixes of episode parameters that backends of this project have.
pub(crate) const PARAM_NAMESPACES: [&str; 2] = ["humansim", "hunav"];

/// Which spelling of a name a backend puts on `arena_peds`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BusName {
    /// The environment-prefixed name.
    SimPath,
    /// The authored name.
    Plain,
}

/// A pedestrian backend. Defaults accept everything and do nothing.
///
/// The `spawn_*` operations answer one item per input: the payload to keep, or `None` for one that failed. A failed one
/// stays unspawned and is offered again at the next spawn.
#[allow(unused_variables)]
pub trait HumanSimulator {
    /// Spelling of names on the bus.
    fn bus_name(&self) -> BusName {
        BusName::SimPath
    }

    /// Calls of [`HumanSimulator::tick`] per second of simulated time.
    fn rate_hz(&self) -> f64;

    /// One step at `cx.now()`.
    fn tick(&mut self, cx: &mut LayerCx);

    /// Registers static objects.
    fn spawn_obstacles(
        &mut self,
        cx: &mut LayerCx,
        obstacles: &[StaticObstacle],
    ) -> Vec<Option<StaticObstacle>> {
        obstacles.iter().cloned().map(Some).collect()
    }

    /// Registers people.
    fn spawn_pedestrians(
        &mut self,
        cx: &mut LayerCx,
        pedestrians: &[DynamicObstacle],
    ) -> Vec<Option<DynamicObstacle>> {
        pedestrians.iter().cloned().map(Some).collect()
    }

    /// Forgets static objects.
    fn remove_obstacles(&mut self, cx: &mut LayerCx, obstacles: &[StaticObstacle]) {}

    /// Forgets all people.
    fn remove_pedestrians(&mut self, cx: &mut LayerCx) {}

    /// Adds walls by name to those that are there.
    fn spawn_walls(&mut self, cx: &mut LayerCx, walls: &[(String, Wall)]) {}

    /// Removes walls by name.
    fn remove_walls(&mut self, cx: &mut LayerCx, names: &[String]) {}

    /// Adds sources and sinks; one success per region.
    fn add_regions(&mut self, cx: &mut LayerCx, regions: &[Region]) -> Vec<bool> {
        vec![true; regions.len()]
    }

    /// Removes all sources and sinks.
    fn remove_regions(&mut self, cx: &mut LayerCx) {}

    /// A stream batch was applied; `accepted` are the bus names that it moves, possibly none.
    fn on_stream_merged(&mut self, cx: &mut LayerCx, accepted: &[String]) {}

    /// A person is no longer possessed; `last` is the last streamed state.
    fn on_pedestrian_released(&mut self, cx: &mut LayerCx, bus_name: &str, last: &Pedestrian) {}

    /// People were teleported by one request.
    fn on_pedestrians_moved(&mut self, cx: &mut LayerCx, moved: &[(String, Pose)]) {}

    /// Robots that the simulator has; one success per robot.
    fn spawn_robots(&mut self, cx: &mut LayerCx, robots: &[Robot]) -> Vec<bool> {
        vec![true; robots.len()]
    }

    /// Robots that were teleported; one success per robot.
    fn move_robots(&mut self, cx: &mut LayerCx, robots: &[Robot]) -> Vec<bool> {
        vec![true; robots.len()]
    }

    /// Robots that are gone; one success per robot.
    fn remove_robots(&mut self, cx: &mut LayerCx, robots: &[Robot]) -> Vec<bool> {
        vec![true; robots.len()]
    }

    /// Somebody (-1 = everybody) notices something, with an intensity from 0 to 1.
    fn notify_stimulus(&mut self, cx: &mut LayerCx, agent_id: i32, stimulus: &str, intensity: f32) {}

    /// The first part of the names of its episode parameters; without one it gets none.
    fn param_namespace(&self) -> Option<&'static str> {
        None
    }

    /// The parameters of the episode that begins, sorted, without the namespace. Called at each reset, also with an empty list.
    /// Answers the names that were accepted.
    fn configure(&mut self, cx: &mut LayerCx, params: &[Parameter]) -> Vec<String> {
        Vec::new()
    }

    /// What the simulator must wait for before it lets time go on.
    fn lockstep_channels(&self) -> Vec<LockstepChannel> {
        Vec::new()
    }

    /// Something came from the engine between two ticks.
    fn on_engine(&mut self, cx: &mut LayerCx) {}

    /// The simulator lost what it held and got everything of the layer again.
    fn on_sim_restarted(&mut self, cx: &mut LayerCx) {}

    /// The simulator was paused.
    fn pause(&mut self, cx: &mut LayerCx) {}

    /// The simulator goes on.
    fn unpause(&mut self, cx: &mut LayerCx) {}
}

/// A topic whose newest stamp says how far simulated time is covered (human-layer specification, section 2.4).
#[derive(Clone, Debug, PartialEq)]
pub struct LockstepChannel {
    /// Name of the channel.
    pub name: String,
    /// Topic, absolute or relative to the environment.
    pub topic: String,
    /// Type of its messages, such as `arena_people_msgs/msg/Pedestrians`.
    pub message_type: String,
    /// Time between two messages, seconds.
    pub period_s: f64,
    /// Whether the clock waits for it.
    pub hard: bool,
}

/// What a factory gets to build a backend.
#[derive(Default)]
pub struct BackendContext {
    /// Seed of the run.
    pub seed: u64,
    /// Time of construction.
    pub now: Time,
    /// Prefix of sim paths, such as `env_0`.
    pub prefix: String,
    /// Where the authored origin lies in `map`, x, y in metres.
    pub offset: [f64; 2],
    /// The way to an engine, for backends that have one outside of themselves.
    pub engine: Option<Box<dyn EngineLink>>,
    /// The way to a HuNav engine; without one the hunav backend has an engine of its own.
    pub hunav: Option<Box<dyn HunavLink>>,
    /// The parameters of the hunav backend.
    pub hunav_settings: HunavSettings,
}

impl std::fmt::Debug for BackendContext {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("BackendContext").field("prefix", &self.prefix).finish_non_exhaustive()
    }
}

/// Makes a backend.
pub type Factory = fn(BackendContext) -> Result<Box<dyn HumanSimulator>, BackendError>;

/// Why there is no backend.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BackendError {
    /// No such key.
    #[error("there is no human backend {key:?}; use one of {known}")]
    Unknown {
        /// The key asked for.
        key: String,
        /// The registered keys, separated by commas.
        known: String,
    },
    /// The backend needs an engine and got no way to one.
    #[error("human:={0} needs a link to an engine, and was given none")]
    NoEngine(&'static str),
    /// The key is taken.
    #[error("a human backend {0:?} is registered already")]
    Duplicate(String),
}

/// The backends by key.
#[derive(Clone, Debug)]
pub struct Registry {
    factories: BTreeMap<String, Factory>,
}

impl Registry {
    /// The backends of this crate: `dummy`, `none`, `arena` and `hunav`.
    #[must_use]
    pub fn builtin() -> Self {
        let dummy: Factory = |_| Ok(Box::new(crate::backends::dummy::Dummy::default()));
        let arena: Factory = |mut context| match context.engine.take() {
            Some(engine) => Ok(Box::new(Arena::new(engine, &context.prefix, context.offset))),
            None => Err(BackendError::NoEngine("arena")),
        };
        let hunav: Factory = |context| Ok(Box::new(Hunav::new(context)));
        let factories = [("dummy", dummy), ("none", dummy), ("arena", arena), ("hunav", hunav)];
        Registry {
            factories: factories.into_iter().map(|(key, factory)| (key.to_owned(), factory)).collect(),
        }
    }

    /// Adds a backend.
    ///
    /// # Errors
    /// [`BackendError::Duplicate`] when the key is taken.
    pub fn register(&mut self, key: &str, factory: Factory) -> Result<(), BackendError> {
        if self.factories.contains_key(key) {
            return Err(BackendError::Duplicate(key.to_owned()));
        }
        self.factories.insert(key.to_owned(), factory);
        Ok(())
    }

    /// The registered keys, sorted.
    pub fn keys(&self) -> impl Iterator<Item = &str> {
        self.factories.keys().map(String::as_str)
    }

    /// Makes the backend of `key`.
    ///
    /// # Errors
    /// [`BackendError::Unknown`], or what the factory says.
    pub fn create(
        &self,
        key: &str,
        context: BackendContext,
    ) -> Result<Box<dyn HumanSimulator>, BackendError> {
        match self.factories.get(key) {
            Some(factory) => factory(context),
            None => Err(BackendError::Unknown {
                key: key.to_owned(),
                known: self.keys().collect::<Vec<_>>().join(", "),
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn context() -> BackendContext {
        BackendContext::default()
    }

    #[test]
    fn arena_needs_an_engine_and_the_others_have_what_they_need() {
        let registry = Registry::builtin();
        assert_eq!(registry.keys().collect::<Vec<_>>(), ["arena", "dummy", "hunav", "none"]);
        let refusal = |key| registry.create(key, context()).err().expect("refused").to_string();
        assert_eq!(refusal("arena"), "human:=arena needs a link to an engine, and was given none");
        for key in ["dummy", "hunav", "none"] {
            assert!(registry.create(key, context()).is_ok());
        }
    }

    #[test]
    fn an_unknown_key_names_the_known_ones() {
        let error = Registry::builtin().create("dumy", context()).err().expect("unknown");
        assert_eq!(
            error.to_string(),
            "there is no human backend \"dumy\"; use one of arena, dummy, hunav, none"
        );
    }

    #[test]
    fn a_backend_from_elsewhere_registers_once() {
        let mut registry = Registry::builtin();
        let factory: Factory = |_| Ok(Box::new(crate::backends::dummy::Dummy::default()));
        registry.register("mine", factory).expect("free");
        assert_eq!(registry.register("mine", factory), Err(BackendError::Duplicate("mine".to_owned())));
        assert!(registry.create("mine", context()).is_ok());
    }
}
