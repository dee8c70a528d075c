//! What the engine knows of an agent beside what moves it, by row of the pool.

use std::sync::Arc;

use promenade_scenario::ResolvedType;

use super::waypoints::Ways;
use crate::spawn::SpawnRequest;

/// What was asked for when an agent came in.
#[derive(Debug, Clone)]
pub(crate) struct Person {
    /// Name of the request.
    pub(crate) name: String,
    /// Type of the request.
    pub(crate) agent_type: String,
    /// The type; `None` for an unknown one.
    pub(crate) resolved: Option<Arc<ResolvedType>>,
    /// The request, which overrides what is drawn.
    pub(crate) request: SpawnRequest,
    /// The source that released it.
    pub(crate) source: Option<u64>,
    /// Tick in which it came.
    pub(crate) since: u64,
}

/// A sink that is none.
pub(crate) const NO_SINK: u32 = u32::MAX;

/// Everybody, in the rows of the pool.
#[derive(Debug, Default)]
pub(crate) struct People {
    /// What was asked for.
    pub(crate) persons: Vec<Person>,
    /// Their ways.
    pub(crate) ways: Ways,
    /// Whether they are in the frame; mirrors of what others move are not.
    pub(crate) published: Vec<bool>,
    /// Serial number of the sink they leave by, or [`NO_SINK`].
    pub(crate) sink: Vec<u32>,
}

impl People {
    pub(crate) fn push(&mut self, person: Person, published: bool, sink: u32) {
        self.persons.push(person);
        self.ways.push();
        self.published.push(published);
        self.sink.push(sink);
    }

    pub(crate) fn swap_remove(&mut self, row: usize) -> Person {
        self.ways.swap_remove(row);
        self.published.swap_remove(row);
        self.sink.swap_remove(row);
        self.persons.swap_remove(row)
    }
}
