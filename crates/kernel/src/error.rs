//! Everything that can go wrong, with names instead of numbers.

use std::error::Error;
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::clock::Time;
use crate::world::Entity;

/// Any error a system may return.
pub type BoxError = Box<dyn Error + Send + Sync>;

/// What systems, processes and clean-ups return.
pub type SystemResult<T = ()> = Result<T, BoxError>;

/// Why a run stopped early: the system, the instant, the cause, and the clean-ups that then failed as well.
#[derive(Debug, thiserror::Error)]
#[error("system \"{system}\" failed at {time} s{}", also_failed(.cleanup))]
pub struct SimError {
    /// The system whose error ended the run.
    pub system: String,
    /// The simulated instant of the error.
    pub time: Time,
    /// What the system returned, [`Panicked`], or one of the errors of this module.
    pub source: BoxError,
    /// Clean-ups that failed after it.
    pub cleanup: Vec<CleanupError>,
}

impl SimError {
    /// The cause, if it is a `T`.
    pub fn cause<T: Error + 'static>(&self) -> Option<&T> {
        self.source.downcast_ref()
    }
}

fn also_failed(cleanup: &[CleanupError]) -> String {
    if cleanup.is_empty() { String::new() } else { format!(" (and then {})", list(cleanup)) }
}

fn list(cleanup: &[CleanupError]) -> String {
    let texts: Vec<_> = cleanup.iter().map(|e| format!("{e}: {}", e.source)).collect();
    texts.join("; ")
}

/// One clean-up that failed.
#[derive(Debug, thiserror::Error)]
#[error("the clean-up of \"{system}\" failed")]
pub struct CleanupError {
    /// The system it belongs to.
    pub system: String,
    /// What it returned.
    pub source: BoxError,
}

/// The run itself went well, but these clean-ups did not. All of them ran.
#[derive(Debug, thiserror::Error)]
#[error("{}", list(.0))]
pub struct CleanupFailed(pub Vec<CleanupError>);

/// The systems cannot be put in order.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LoadError {
    /// Two systems of one name.
    #[error("there is already a system named \"{name}\"")]
    DuplicateSystem {
        /// The name.
        name: String,
    },
    /// A name that belongs to no system.
    #[error("there is no system named \"{name}\", wanted by {wanted_by}")]
    UnknownSystem {
        /// The unknown name.
        name: String,
        /// Who refers to it.
        wanted_by: String,
    },
    /// Systems that all want to run after each other.
    #[error("these systems can not be ordered, each waits for another: {}", .names.join(", "))]
    OrderCycle {
        /// The systems of the cycle, and those that wait for it.
        names: Vec<String>,
    },
    /// `every` of a frame system is below 1.
    #[error("\"every\" of system \"{name}\" must be at least 1")]
    EveryBelowOne {
        /// The system.
        name: String,
    },
}

/// The entity was deleted, or never was.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no entity {entity:?}")]
pub struct NoSuchEntity {
    /// The stale id.
    pub entity: Entity,
}

/// A component could not be reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ComponentError {
    /// No entity.
    #[error(transparent)]
    NoSuchEntity(#[from] NoSuchEntity),
    /// The entity lives, but does not carry it.
    #[error("entity {entity:?} has no {component}")]
    MissingComponent {
        /// The entity.
        entity: Entity,
        /// The type name of the component.
        component: &'static str,
    },
}

/// A system kept, or found, the world borrowed across a wait.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the world is already borrowed by \"{system}\"; a system must give it back before it waits")]
pub struct WorldHeld {
    /// The system at fault.
    pub system: String,
}

/// The event store refused a record.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StoreError {
    /// A JSON payload does not parse as the type that listens for this tag.
    #[error("bad payload for \"{tag}\": {reason}")]
    BadPayload {
        /// The tag.
        tag: String,
        /// What was wrong with it.
        reason: String,
    },
    /// Too many records that nobody takes.
    #[error("{held} records wait in the event store and nobody takes them; {count} of them are \"{tag}\"")]
    EventStoreFull {
        /// The most frequent tag.
        tag: String,
        /// Records of that tag.
        count: usize,
        /// All records held, the limit of the store.
        held: usize,
    },
    /// Two payload types claim one tag.
    #[error("\"{tag}\" is the tag of two payload types")]
    TagClash {
        /// The tag.
        tag: String,
    },
}

/// A system ran and ran without simulated time passing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("\"{system}\" goes round in circles: more than {steps} steps at {time} s")]
pub struct ZeroTimeLoop {
    /// The system that took the last step.
    pub system: String,
    /// The instant.
    pub time: Time,
    /// The limit.
    pub steps: u32,
}

/// A system panicked; the panic was caught.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("panicked: {message}")]
pub struct Panicked {
    /// The text of the panic.
    pub message: String,
}

/// Runs foreign code; a panic in it becomes an error.
pub(crate) fn guarded<T>(run: impl FnOnce() -> T) -> Result<T, BoxError> {
    catch_unwind(AssertUnwindSafe(run)).map_err(|panic| {
        let text = panic.downcast_ref::<&str>().map(|s| (*s).to_owned());
        let text = text.or_else(|| panic.downcast_ref::<String>().cloned());
        Panicked { message: text.unwrap_or_else(|| "no message".to_owned()) }.into()
    })
}
