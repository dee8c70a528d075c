//! What the engine answers to a request that it does not carry out.

use crate::error::CrowdError;
use crate::protocol::ParameterValue;

/// A request that was refused; nothing has changed. Its text is the `message` of a response.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum EngineError {
    /// Refused by the crowd itself.
    #[error("{0}")]
    Crowd(#[from] CrowdError),
    /// Parameters that are not declared.
    #[error("no parameter is named {}; there are {}", names.join(", "), known.join(", "))]
    UnknownParameters {
        /// The names.
        names: Vec<String>,
        /// The names there are.
        known: Vec<String>,
    },
    /// Parameters that are read at the start only.
    #[error("not reconfigurable at runtime: {}", .0.join(", "))]
    FixedParameters(Vec<String>),
    /// A value of another kind or out of its range.
    #[error("{name}: expected {expected}, found {}", shown(found))]
    Parameter {
        /// The parameter.
        name: String,
        /// What it may be.
        expected: String,
        /// What was given.
        found: ParameterValue,
    },
    /// A name with a meaning of its own in attention.
    #[error("{0:?} is a reserved name (reserved are partner, partners, target, goal); rename the agent")]
    ReservedName(String),
    /// A hand that is none.
    #[error("handedness of agent {name:?}: expected l, r or nothing, found {found:?}")]
    Handedness {
        /// Whose.
        name: String,
        /// What was given.
        found: String,
    },
    /// A number or word of a request that does not hold.
    #[error("{what}: expected {expected}, found {found}")]
    Field {
        /// What it is.
        what: String,
        /// What it may be.
        expected: &'static str,
        /// What was given.
        found: String,
    },
    /// A name that nobody has.
    #[error("no {kind} is named {name:?}")]
    NoSuch {
        /// Kind of thing.
        kind: &'static str,
        /// The name.
        name: String,
    },
    /// More than the engine holds.
    #[error("{found} {what} are more than the engine holds; it holds {most}")]
    TooMany {
        /// What.
        what: &'static str,
        /// How many were asked for.
        found: usize,
        /// How many there may be.
        most: usize,
    },
}

/// A value as a person would write it.
pub(crate) fn shown(value: &ParameterValue) -> String {
    match value {
        ParameterValue::Bool(value) => value.to_string(),
        ParameterValue::Integer(value) => value.to_string(),
        ParameterValue::Double(value) => format!("{value:?}"),
        ParameterValue::Text(value) => format!("{value:?}"),
    }
}

/// Refuse a field.
pub(crate) fn refuse<T>(
    what: impl Into<String>,
    expected: &'static str,
    found: impl std::fmt::Display,
) -> Result<T, EngineError> {
    Err(EngineError::Field { what: what.into(), expected, found: found.to_string() })
}
