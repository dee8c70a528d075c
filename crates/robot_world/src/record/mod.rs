//! A world run by a script, and what happened as one JSON document in the format of the recorded IR-SIM runs.
//!
//! The script stands in the `custom` block of a world's file. A record only looks; it neither steps the world nor writes files.

mod document;
mod script;

pub use document::Record;
pub use script::{Action, Script, ScriptError};

use serde_json::Value;

use crate::spec::WorldSpec;
use crate::world::{CommandError, World, WorldError};

/// Why a world cannot be run by its script.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum RecordError {
    /// The world cannot be made.
    #[error(transparent)]
    World(#[from] WorldError),
    /// A command of the script is refused.
    #[error("in step {step}: {error}")]
    Command {
        /// Counted from 0.
        step: u64,
        /// Why.
        error: CommandError,
    },
}

/// Runs a world by a script.
///
/// # Errors
/// When the world cannot be made, or refuses a command of the script.
pub fn record(spec: &WorldSpec, script: &Script) -> Result<Value, RecordError> {
    let seed = script.seed.unwrap_or(0);
    let mut world = World::new(spec, seed)?;
    let mut record = Record::new(&world, script, seed);
    for step in 0..script.steps.unwrap_or(0) {
        world.step(&script.commands(step)).map_err(|error| RecordError::Command { step, error })?;
        record.look(&world);
    }
    Ok(record.finish(&world))
}
