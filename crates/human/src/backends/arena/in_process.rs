//! The crowd engine within the process: the link of the embedded mode, of tests and of batches.
//!
//! It runs the ticks that a node would run at the same time, no more and no fewer (crowd-engine specification, section 2), and
//! hands on what the engine answers.

use std::time::Duration;

use promenade_crowd::protocol::{
    AgentState, AgentStates, ObstacleConfig, ParameterValue, SinkConfig, SourceConfig, WorldObjectInfo,
};
use promenade_crowd::{Engine, EngineError, Wall};
use promenade_kernel::Time;
use promenade_scenario::{AgentType, AgentTypeLibrary};

use super::link::{EngineLink, Heard, LinkError, LinkResult};
use super::people::type_of;

/// A clock that leaps further ahead than this has jumped: the time between is not simulated.
const CLOCK_JUMP: Duration = Duration::from_secs(1);

/// See the module.
#[derive(Debug)]
pub struct InProcess {
    engine: Engine,
    /// The clock of the last ticks.
    now: Option<Time>,
    epoch: Time,
    meta_revision: u64,
    gestures_revision: u64,
}

impl InProcess {
    /// An engine with these parameters; those that are not given have their defaults. Agent types that are paths are read when they
    /// are asked for.
    ///
    /// # Errors
    /// A parameter there is not, or a value out of its range.
    pub fn new(parameters: &[(String, ParameterValue)]) -> Result<Self, EngineError> {
        let files = |text: &str| match type_of(text) {
            AgentType::Named(_) => None,
            file => Some(AgentTypeLibrary::built_in().resolve(&file).map_err(|error| error.to_string())),
        };
        Ok(InProcess {
            engine: Engine::new(parameters)?.with_types(files),
            now: None,
            epoch: Time::ZERO,
            meta_revision: 0,
            gestures_revision: 0,
        })
    }

    /// The engine, to look at.
    #[must_use]
    pub fn engine(&self) -> &Engine {
        &self.engine
    }

    /// Lets the ticks begin at `now`, so that the next one is due at once.
    fn begin(&mut self, now: Time) {
        let passed = self.engine.ticks() as i64 * self.engine.dt_ns();
        self.epoch = Time::from_nanos(now.nanos().saturating_sub(passed));
        self.engine.set_epoch_ns(self.epoch.nanos());
    }

    /// Ticks that are due at `now`.
    fn owed(&self, now: Time) -> u64 {
        let passed = now.saturating_since(self.epoch).as_nanos() as u64;
        let due = passed / self.engine.dt_ns().max(1).cast_unsigned() + 1;
        due.saturating_sub(self.engine.ticks())
    }
}

fn answer<T>(result: Result<T, EngineError>) -> LinkResult<T> {
    result.map_err(|error| LinkError::Refused(error.to_string()))
}

impl EngineLink for InProcess {
    fn dt(&self) -> Duration {
        Duration::from_nanos(self.engine.dt_ns().cast_unsigned())
    }

    fn advance(&mut self, now: Time, hear: &mut dyn FnMut(Heard<'_>)) {
        let jumped = self.now.is_some_and(|last| now < last || now.saturating_since(last) > CLOCK_JUMP);
        if jumped || self.engine.ticks() == 0 {
            self.begin(now);
        }
        self.now = Some(now);
        for _ in 0..self.owed(now) {
            self.engine.tick();
            if self.meta_revision != self.engine.meta_revision() {
                self.meta_revision = self.engine.meta_revision();
                hear(Heard::Meta(self.engine.meta()));
            }
            if self.gestures_revision != self.engine.gestures_revision() {
                self.gestures_revision = self.engine.gestures_revision();
                hear(Heard::Gestures(self.engine.gestures()));
            }
            hear(Heard::Frame(self.engine.frame()));
        }
        for warning in self.engine.warnings() {
            tracing::warn!("engine: {warning}");
        }
    }

    fn feed(&mut self, states: &AgentStates) {
        self.engine.world_state(states);
    }

    fn spawn_agents(&mut self, agents: &[AgentState]) -> LinkResult<Vec<i32>> {
        answer(self.engine.spawn_agents(agents))
    }

    fn remove_agents(&mut self, ids: &[i32]) -> LinkResult<()> {
        answer(self.engine.remove_agents(ids))
    }

    fn add_source(&mut self, source: &SourceConfig) -> LinkResult<()> {
        answer(self.engine.add_source(source))
    }

    fn add_sink(&mut self, sink: &SinkConfig) -> LinkResult<()> {
        answer(self.engine.add_sink(sink))
    }

    fn remove_source(&mut self, name: &str) -> LinkResult<()> {
        answer(self.engine.remove_source(name))
    }

    fn remove_sink(&mut self, name: &str) -> LinkResult<()> {
        answer(self.engine.remove_sink(name))
    }

    fn add_walls(&mut self, walls: &[Wall]) -> LinkResult<()> {
        answer(self.engine.add_walls(walls))
    }

    fn remove_walls(&mut self, names: &[String]) -> LinkResult<()> {
        answer(self.engine.remove_walls(names))
    }

    fn add_obstacles(&mut self, obstacles: &[ObstacleConfig]) -> LinkResult<()> {
        answer(self.engine.add_obstacles(obstacles))
    }

    fn remove_obstacles(&mut self, names: &[String]) -> LinkResult<()> {
        answer(self.engine.remove_obstacles(names))
    }

    fn add_world_objects(&mut self, objects: &[WorldObjectInfo]) -> LinkResult<()> {
        answer(self.engine.add_world_objects(objects))
    }

    fn remove_world_objects(&mut self, names: &[String]) -> LinkResult<()> {
        answer(self.engine.remove_world_objects(names))
    }

    fn notify_stimulus(&mut self, agent_id: i32, stimulus: &str, intensity: f32) -> LinkResult<()> {
        answer(self.engine.notify_stimulus(agent_id, stimulus, intensity))
    }

    fn set_parameters(&mut self, batch: &[(String, ParameterValue)]) -> LinkResult<()> {
        answer(self.engine.set_parameters(batch))
    }

    fn reset(&mut self, soft: bool) -> LinkResult<()> {
        answer(self.engine.reset(soft))
    }
}
