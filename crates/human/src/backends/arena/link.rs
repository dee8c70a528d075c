//! The way to a pedestrian engine: what the arena backend asks of it and hears from it (human-layer specification, section 17).
//!
//! Only what the backend uses is here, so that no engine has to offer more and nobody waits for a service that is never called. A
//! link carries and never decides; it must answer every call within a bounded time, whether the engine is there or not.

use std::time::Duration;

use promenade_crowd::Wall;
use promenade_crowd::protocol::{
    AgentFrame, AgentGestures, AgentMeta, AgentState, AgentStates, ObstacleConfig, ParameterValue,
    SinkConfig, SourceConfig, WorldObjectInfo,
};
use promenade_kernel::Time;

/// Why the engine did not do what it was asked.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LinkError {
    /// It answered no and changed nothing; its reason.
    #[error("{0}")]
    Refused(String),
    /// Nobody answered. It may have been done or not; once the engine is there again, the link says [`Heard::Started`].
    #[error("the engine does not answer")]
    Unreachable,
}

/// What a call answers.
pub type LinkResult<T> = Result<T, LinkError>;

/// What comes from the engine, in the order in which it was sent.
#[derive(Debug, Clone, Copy)]
pub enum Heard<'a> {
    /// The engine is there, and what it holds is not known: it gets everything.
    Started,
    /// Where everybody is.
    Frame(&'a AgentFrame),
    /// Names and types.
    Meta(&'a AgentMeta),
    /// Who points where.
    Gestures(&'a AgentGestures),
}

/// A way to an engine. Coordinates are the engine's own.
pub trait EngineLink {
    /// Time between two frames.
    fn dt(&self) -> Duration;

    /// The topic of the frames, for the simulator to wait for; `None` when the engine never lags behind the clock.
    fn frame_topic(&self) -> Option<String> {
        None
    }

    /// Lets the engine know the time where it does not know by itself, and hands on what came since the last call.
    fn advance(&mut self, now: Time, hear: &mut dyn FnMut(Heard<'_>));

    /// External agents, as the topic `world_state` has them.
    fn feed(&mut self, states: &AgentStates);

    /// Brings agents in, all or none. One id per agent, in order.
    ///
    /// # Errors
    /// As every call here: what the engine says, or its silence.
    fn spawn_agents(&mut self, agents: &[AgentState]) -> LinkResult<Vec<i32>>;

    /// Removes agents; no ids = all.
    ///
    /// # Errors
    /// See [`EngineLink::spawn_agents`].
    fn remove_agents(&mut self, ids: &[i32]) -> LinkResult<()>;

    /// Adds or replaces a source.
    ///
    /// # Errors
    /// See [`EngineLink::spawn_agents`].
    fn add_source(&mut self, source: &SourceConfig) -> LinkResult<()>;

    /// Adds or replaces a sink.
    ///
    /// # Errors
    /// See [`EngineLink::spawn_agents`].
    fn add_sink(&mut self, sink: &SinkConfig) -> LinkResult<()>;

    /// Removes a source; empty = all.
    ///
    /// # Errors
    /// See [`EngineLink::spawn_agents`].
    fn remove_source(&mut self, name: &str) -> LinkResult<()>;

    /// Removes a sink; empty = all.
    ///
    /// # Errors
    /// See [`EngineLink::spawn_agents`].
    fn remove_sink(&mut self, name: &str) -> LinkResult<()>;

    /// Adds or replaces walls.
    ///
    /// # Errors
    /// See [`EngineLink::spawn_agents`].
    fn add_walls(&mut self, walls: &[Wall]) -> LinkResult<()>;

    /// Removes walls; no names = all.
    ///
    /// # Errors
    /// See [`EngineLink::spawn_agents`].
    fn remove_walls(&mut self, names: &[String]) -> LinkResult<()>;

    /// Adds boxes that stand in the way.
    ///
    /// # Errors
    /// See [`EngineLink::spawn_agents`].
    fn add_obstacles(&mut self, obstacles: &[ObstacleConfig]) -> LinkResult<()>;

    /// Removes boxes; no names = all.
    ///
    /// # Errors
    /// See [`EngineLink::spawn_agents`].
    fn remove_obstacles(&mut self, names: &[String]) -> LinkResult<()>;

    /// Adds or replaces things that people use.
    ///
    /// # Errors
    /// See [`EngineLink::spawn_agents`].
    fn add_world_objects(&mut self, objects: &[WorldObjectInfo]) -> LinkResult<()>;

    /// Removes things that people use; no names = all.
    ///
    /// # Errors
    /// See [`EngineLink::spawn_agents`].
    fn remove_world_objects(&mut self, names: &[String]) -> LinkResult<()>;

    /// Somebody (-1 = everybody) notices something, with an intensity from 0 to 1.
    ///
    /// # Errors
    /// See [`EngineLink::spawn_agents`].
    fn notify_stimulus(&mut self, agent_id: i32, stimulus: &str, intensity: f32) -> LinkResult<()>;

    /// Sets parameters, all or none.
    ///
    /// # Errors
    /// See [`EngineLink::spawn_agents`].
    fn set_parameters(&mut self, batch: &[(String, ParameterValue)]) -> LinkResult<()>;

    /// An episode begins: parameters take effect; a reset that is not soft forgets everything.
    ///
    /// # Errors
    /// See [`EngineLink::spawn_agents`].
    fn reset(&mut self, soft: bool) -> LinkResult<()>;
}
