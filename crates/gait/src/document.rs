//! Typed problems that any YAML file of this crate can have, and the readers of the fields of the small ones (clip sources,
//! annotations, rigs). Problems always say where they stand and what would have been right.

use crate::{
    joint::Joint,
    joint_set::JointSet,
    nearest::nearest,
    yaml::{self, Key, Node, Position, Value},
};

/// One problem of a file: `file:line:column: what`.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{file}:{line}:{column}: {problem}")]
pub struct DocumentError {
    /// The file as the caller named it.
    pub file: String,
    /// Line from 1.
    pub line: u64,
    /// Column from 1, in characters.
    pub column: u64,
    /// What is wrong.
    pub problem: Box<DocumentProblem>,
}

/// Kinds of problems.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum DocumentProblem {
    /// Not well-formed YAML, or over a parser budget.
    #[error("{0}")]
    Syntax(String),
    /// A key that nothing reads.
    #[error("{place}: unknown key {found:?}{}; accepted: {}", hint(nearest), accepted.join(", "))]
    UnknownKey {
        /// The mapping.
        place: String,
        /// The key.
        found: String,
        /// Every accepted key.
        accepted: &'static [&'static str],
        /// The accepted key most like it.
        nearest: Option<String>,
    },
    /// A required key is absent.
    #[error("{place}: missing key {key:?}; expected {form}")]
    MissingKey {
        /// The mapping.
        place: String,
        /// The key.
        key: &'static str,
        /// What the mapping should look like.
        form: &'static str,
    },
    /// A value of the wrong type, shape or range.
    #[error("{place}: expected {expected}, found {found}")]
    Unexpected {
        /// The field.
        place: String,
        /// What belongs there.
        expected: String,
        /// What stands there.
        found: String,
    },
    /// A name that is not one of the 40 joints.
    #[error("{place}: unknown joint {found:?}{}", hint(nearest))]
    UnknownJoint {
        /// The mapping.
        place: String,
        /// The name.
        found: String,
        /// The joint most like it.
        nearest: Option<String>,
    },
}

pub(crate) fn hint(nearest: &Option<String>) -> String {
    nearest.as_ref().map_or_else(String::new, |word| format!(", did you mean {word:?}?"))
}

/// A file being read: makes errors that know its name.
#[derive(Clone, Copy)]
pub(crate) struct Document<'a> {
    pub(crate) file: &'a str,
}

pub(crate) type Entries = [(Key, Node)];

impl Document<'_> {
    pub(crate) fn parse(&self, text: &str) -> Result<Node, DocumentError> {
        yaml::parse(text).map_err(|error| self.error(error.at, DocumentProblem::Syntax(error.message)))
    }

    pub(crate) fn error(&self, at: Position, problem: DocumentProblem) -> DocumentError {
        DocumentError {
            file: self.file.to_owned(),
            line: at.line,
            column: at.column,
            problem: Box::new(problem),
        }
    }

    pub(crate) fn unexpected(
        &self,
        node: &Node,
        place: impl Into<String>,
        expected: impl Into<String>,
    ) -> DocumentError {
        let found = node.value.describe();
        let problem = DocumentProblem::Unexpected { place: place.into(), expected: expected.into(), found };
        self.error(node.at, problem)
    }

    pub(crate) fn unknown_key(
        &self,
        key: &Key,
        place: impl Into<String>,
        accepted: &'static [&'static str],
    ) -> DocumentError {
        let problem = DocumentProblem::UnknownKey {
            place: place.into(),
            found: key.text.clone(),
            accepted,
            nearest: nearest(&key.text, accepted).map(str::to_owned),
        };
        self.error(key.at, problem)
    }

    pub(crate) fn map<'n>(
        &self,
        node: &'n Node,
        place: &str,
        expected: &str,
    ) -> Result<&'n Entries, DocumentError> {
        match &node.value {
            Value::Map(entries) => Ok(entries),
            _ => Err(self.unexpected(node, place, expected)),
        }
    }

    pub(crate) fn list<'n>(
        &self,
        node: &'n Node,
        place: &str,
        expected: &str,
    ) -> Result<&'n [Node], DocumentError> {
        match &node.value {
            Value::List(items) => Ok(items),
            _ => Err(self.unexpected(node, place, expected)),
        }
    }

    pub(crate) fn text<'n>(
        &self,
        node: &'n Node,
        place: &str,
        expected: &str,
    ) -> Result<&'n str, DocumentError> {
        match &node.value {
            Value::Text(text) => Ok(text),
            _ => Err(self.unexpected(node, place, expected)),
        }
    }

    pub(crate) fn boolean(&self, node: &Node, place: &str) -> Result<bool, DocumentError> {
        match node.value {
            Value::Bool(value) => Ok(value),
            _ => Err(self.unexpected(node, place, "true or false")),
        }
    }

    /// A finite number for which `fits` holds.
    pub(crate) fn number(
        &self,
        node: &Node,
        place: &str,
        expected: &str,
        fits: impl Fn(f64) -> bool,
    ) -> Result<f64, DocumentError> {
        match node.value {
            Value::Number(value) if value.is_finite() && fits(value) => Ok(value),
            _ => Err(self.unexpected(node, place, expected)),
        }
    }

    pub(crate) fn joint(&self, name: &str, at: Position, place: &str) -> Result<Joint, DocumentError> {
        Joint::parse(name).ok_or_else(|| self.unknown_joint(name, at, place))
    }

    pub(crate) fn unknown_joint(&self, name: &str, at: Position, place: &str) -> DocumentError {
        let nearest = Joint::nearest_name(name).map(str::to_owned);
        self.error(
            at,
            DocumentProblem::UnknownJoint { place: place.to_owned(), found: name.to_owned(), nearest },
        )
    }

    /// A list of joint names.
    pub(crate) fn joints(&self, node: &Node, place: &str) -> Result<JointSet, DocumentError> {
        const FORM: &str = "a list of joint names";
        let mut set = JointSet::EMPTY;
        for item in self.list(node, place, FORM)? {
            set.insert(self.joint(self.text(item, place, FORM)?, item.at, place)?);
        }
        if set.is_empty() { Err(self.unexpected(node, place, "at least one joint")) } else { Ok(set) }
    }
}
