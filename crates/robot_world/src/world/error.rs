//! Why a world cannot be made or changed, and why a step refuses commands.

use super::ObjectRef;
use crate::place::PlaceError;
use crate::shape::ShapeError;

/// Why a world cannot be made, or an object cannot be changed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum WorldError {
    /// No room for a group.
    #[error(transparent)]
    Place(#[from] PlaceError),
    /// A random shape whose ranges make none.
    #[error("no random shape: {0}")]
    Shape(#[from] ShapeError),
    /// Two objects of one name.
    #[error("there already is an object called \"{0}\"; every name is used once")]
    DuplicateName(String),
    /// An id that nobody has.
    #[error("there is no object with id {0}")]
    UnknownId(u32),
    /// Too few or too many numbers.
    #[error("{name}: {found} numbers for its {what}, expected {expected}")]
    Length {
        /// Of the object.
        name: String,
        /// What the numbers are.
        what: &'static str,
        /// How many there are.
        found: usize,
        /// How many there may be.
        expected: usize,
    },
    /// A number that is not finite.
    #[error("{name}: its {what} has a number that is not finite")]
    NotFinite {
        /// Of the object.
        name: String,
        /// What the numbers are.
        what: &'static str,
    },
}

/// Why a step refuses its commands; nothing has moved then.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CommandError {
    /// In external mode.
    #[error(
        "step_mode is external: the caller moves the objects and a step takes no commands; use step_mode: internal"
    )]
    External,
    /// A name that nobody has.
    #[error("there is no object called \"{0}\"")]
    UnknownName(String),
    /// An id that nobody has.
    #[error("there is no object with id {0}")]
    UnknownId(u32),
    /// An object without kinematics.
    #[error("{0}: has no kinematics and takes no command; give it kinematics, or set its velocity")]
    Passive(String),
    /// Too few or too many numbers.
    #[error("{name}: {found} numbers in a command, expected {expected}")]
    Length {
        /// Of the object.
        name: String,
        /// How many there are.
        found: usize,
        /// Names of the numbers, with commas.
        expected: String,
    },
    /// A number that is not finite.
    #[error("{0}: a command has a number that is not finite")]
    NotFinite(String),
    /// Two commands for one object.
    #[error("{0}: two commands for one step")]
    Twice(String),
}

impl CommandError {
    pub(super) fn unknown(object: ObjectRef<'_>) -> Self {
        match object {
            ObjectRef::Id(id) => Self::UnknownId(id),
            ObjectRef::Name(name) => Self::UnknownName(name.to_owned()),
        }
    }
}
