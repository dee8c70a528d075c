//! What can be wrong with a profile file, said for the person who wrote it.

use std::{fmt, path::PathBuf};

use crate::{
    document::{DocumentProblem, hint},
    yaml::Position,
};

/// One problem of a profile file: `file:line:column: what`.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{file}:{line}:{column}: {problem}")]
pub struct ProfileError {
    /// The file as the caller named it.
    pub file: String,
    /// Line from 1.
    pub line: u64,
    /// Column from 1, in characters.
    pub column: u64,
    /// What is wrong.
    pub problem: ProfileProblem,
}

impl ProfileError {
    pub(crate) fn new(file: &str, at: Position, problem: impl Into<ProfileProblem>) -> Self {
        Self { file: file.to_owned(), line: at.line, column: at.column, problem: problem.into() }
    }
}

/// Kinds of problems of a profile file.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum ProfileProblem {
    /// What can be wrong with any YAML file: its form, a key, a type, a joint's name.
    #[error(transparent)]
    Document(#[from] DocumentProblem),
    /// A joint bound to a signal the file does not declare.
    #[error("{place}: signal {found:?} is not declared under signals{}", hint(nearest))]
    UnknownSignal {
        /// The joint.
        place: String,
        /// The key.
        found: String,
        /// The declared key most like it.
        nearest: Option<String>,
    },
    /// A range whose lower end is above its upper end.
    #[error("{place}: lower end {lo} is above upper end {hi}")]
    EmptyRange {
        /// The field.
        place: String,
        /// Lower end.
        lo: f64,
        /// Upper end.
        hi: f64,
    },
    /// A number outside what the field allows.
    #[error("{place}: expected {expected}, found {found}")]
    OutOfRange {
        /// The field.
        place: String,
        /// What is allowed.
        expected: &'static str,
        /// What stands there.
        found: f64,
    },
    /// More harmonics than a signal may have.
    #[error("{place}: {found} harmonics, at most {max} are allowed")]
    TooManyHarmonics {
        /// The signal.
        place: String,
        /// How many.
        found: usize,
        /// How many at most.
        max: usize,
    },
    /// A key that is not allowed next to `same_as`.
    #[error(
        "{key:?} cannot stand next to same_as, which takes it from the other profile; only laws and limits can"
    )]
    NextToSameAs {
        /// The key.
        key: String,
    },
    /// `same_as` names a profile the library does not have.
    #[error("same_as: no profile {found:?} in this library{}", hint(nearest))]
    UnknownProfile {
        /// The stem.
        found: String,
        /// The stem most like it.
        nearest: Option<String>,
    },
    /// A key that is not allowed next to `speeds`.
    #[error("{key:?} cannot stand next to speeds, which takes everything from the profiles it names")]
    NextToSpeeds {
        /// The key.
        key: String,
    },
    /// `speeds` names a profile that is not there or has speeds itself.
    #[error("speeds: {found:?} {}{}", if *nested { "has speeds itself" } else { "is no profile of this library" }, hint(nearest))]
    ProfileOfSpeed {
        /// The stem.
        found: String,
        /// Whether it is there.
        nested: bool,
        /// The stem most like it, for one that is not there.
        nearest: Option<String>,
    },
    /// `base` names a profile the library does not have.
    #[error("{gait}.base: no profile {found:?} in this library{}", hint(nearest))]
    UnknownBase {
        /// The gait section.
        gait: &'static str,
        /// The stem.
        found: String,
        /// The stem most like it.
        nearest: Option<String>,
    },
    /// `same_as` of a gait section other than `run: {same_as: walk}`.
    #[error("{gait}.same_as: only `run: {{same_as: walk}}` is allowed, found {found:?}")]
    SameAsOfGait {
        /// The gait section.
        gait: &'static str,
        /// What it names.
        found: String,
    },
    /// A key beside `run: {same_as: walk}` that the walk decides.
    #[error("run.{key}: cannot stand next to same_as: walk, which takes it from the walk")]
    NextToWalk {
        /// The key.
        key: &'static str,
    },
    /// A change to the built-in sway.
    #[error("idle.{key}: the built-in sway accepts no changes; name a profile with idle.base")]
    SwayOverride {
        /// The key.
        key: &'static str,
    },
    /// An operation on something the gait does not have.
    #[error(
        "{gait}.joints: {found:?} is no signal of this gait, no pair and no joint{}; its signals: {}",
        hint(nearest),
        signals.join(", ")
    )]
    UnknownTarget {
        /// The gait section.
        gait: &'static str,
        /// The target.
        found: String,
        /// The signal, pair or joint most like it.
        nearest: Option<String>,
        /// Signal keys of the gait at that point.
        signals: Vec<String>,
    },
    /// One side of a pair in a symmetric gait.
    #[error(
        "{gait}.joints: {joint} is one side of a pair and the gait is symmetric; name {pair:?} or set symmetric: false"
    )]
    OneSided {
        /// The gait section.
        gait: &'static str,
        /// The joint.
        joint: &'static str,
        /// The pair's name.
        pair: &'static str,
    },
    /// `extends` of an agent type that names a file.
    #[error("extends: expected the name of a built-in agent type, found the path {found:?}")]
    ExtendsPath {
        /// The path.
        found: String,
    },
    /// `extends` of an agent type that is not there.
    #[error("extends: agent type {found:?} not found: no file {path}{}", hint(nearest))]
    UnknownParent {
        /// The name.
        found: String,
        /// Where it was looked for.
        path: String,
        /// The agent type most like it.
        nearest: Option<String>,
    },
    /// `extends` of agent types that come back to where they started.
    #[error("extends goes in a circle: {}", types.join(" -> "))]
    ExtendsCycle {
        /// The types, the first repeated at the end.
        types: Vec<String>,
    },
    /// `same_as` references that come back to where they started.
    #[error("same_as goes in a circle: {}", stems.join(" -> "))]
    Cycle {
        /// The stems, the first repeated at the end.
        stems: Vec<String>,
    },
}

/// Everything wrong with one file or library, in file and line order.
#[derive(Debug, Clone, PartialEq)]
pub struct ProfileErrors(pub Vec<ProfileError>);

impl fmt::Display for ProfileErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, error) in self.0.iter().enumerate() {
            if index > 0 {
                f.write_str("\n")?;
            }
            write!(f, "{error}")?;
        }
        Ok(())
    }
}

impl std::error::Error for ProfileErrors {}

/// Why a library could not be loaded.
#[derive(Debug, thiserror::Error)]
pub enum LibraryError {
    /// The directory or a file of it cannot be read.
    #[error("{path}: {source}", path = path.display())]
    Io {
        /// What was read.
        path: PathBuf,
        /// Why it failed.
        source: std::io::Error,
    },
    /// Files that do not hold.
    #[error(transparent)]
    Profiles(#[from] ProfileErrors),
}
