//! What the engine refuses, and why.

use std::fmt::Display;

/// A request the engine does not carry out; nothing has changed.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum CrowdError {
    /// A number that is not finite or outside its range.
    #[error("{what}: expected {expected}, found {found}")]
    Number {
        /// What the number is.
        what: String,
        /// What it may be.
        expected: &'static str,
        /// What it is.
        found: f64,
    },
    /// A name that is none of the known ones.
    #[error("no {kind} is named {name:?}; there are {}", known.join(", "))]
    Unknown {
        /// What was looked up.
        kind: &'static str,
        /// The name.
        name: String,
        /// The names there are.
        known: Vec<&'static str>,
    },
    /// `policy_params` that its planner does not take.
    #[error("policy_params of {planner}: {problem}")]
    PolicyParams {
        /// The planner.
        planner: &'static str,
        /// What was found and what was expected.
        problem: String,
    },
    /// An id that an agent already has.
    #[error("agent {0} is already there; remove it first, or spawn with id 0 to get a new id")]
    IdTaken(i32),
    /// An id that no agent has.
    #[error("there is no agent {0}")]
    NoAgent(i32),
    /// No id is left above the largest one seen.
    #[error("no agent id is left above {0}; spawn with ids of your own")]
    NoIdLeft(i32),
    /// Walls that cross each other more often than a mesh of them could hold.
    #[error(
        "the walls cross each other more than {most} times, too often for a mesh of them; join or remove some, or plan with dijkstra"
    )]
    TooManyCrossings {
        /// How often they may.
        most: usize,
    },
    /// Walls that reach further than a grid of them could hold.
    #[error(
        "the walls span {width:.0} m x {height:.0} m, too far for a grid of {cell} m; a wall may be misplaced"
    )]
    TooFar {
        /// Extent along x, metres.
        width: f64,
        /// Extent along y, metres.
        height: f64,
        /// Edge of a grid cell, metres.
        cell: f64,
    },
}

/// `value` if it is finite.
pub(crate) fn finite(what: impl Display, value: f64) -> Result<f64, CrowdError> {
    within(what, value, "a finite number", value.is_finite())
}

/// Beyond this, metres from the origin, squares of distances would drown what happens between people.
const FARTHEST: f64 = 1e7;

/// `value` if it is a place along an axis.
pub(crate) fn coordinate(what: impl Display, value: f64) -> Result<f64, CrowdError> {
    within(what, value, "a number between -1e7 and 1e7", value.abs() <= FARTHEST)
}

/// `value` if `holds`, which a value that is no number never does.
pub(crate) fn within(
    what: impl Display,
    value: f64,
    expected: &'static str,
    holds: bool,
) -> Result<f64, CrowdError> {
    if holds { Ok(value) } else { Err(CrowdError::Number { what: what.to_string(), expected, found: value }) }
}

/// `value` if it is finite and greater than zero.
pub(crate) fn positive(what: impl Display, value: f64) -> Result<f64, CrowdError> {
    within(what, value, "a number greater than 0", value.is_finite() && value > 0.0)
}
