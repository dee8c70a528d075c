//! What a check found, each with the file and the place it belongs to.

use std::path::Path;

use crate::problem::{MAX_SUGGESTIONS, Position, Problem, Severity, nearest, shown};

/// A place in one of the files that are checked together.
#[derive(Clone)]
pub(super) struct Spot<'a> {
    pub(super) file: &'a Path,
    pub(super) at: Position,
    pub(super) path: String,
}

impl<'a> Spot<'a> {
    pub(super) fn new(file: &'a Path, at: Position, path: impl Into<String>) -> Self {
        Self { file, at, path: path.into() }
    }

    /// Its line, for a message at another place.
    pub(super) fn line_from(&self, other: &Spot<'_>) -> String {
        if self.file == other.file {
            format!("line {}", self.at.line)
        } else {
            format!("line {} of {}", self.at.line, shown(self.file))
        }
    }

    /// A place below this one.
    pub(super) fn below(&self, at: Position, rest: &str) -> Self {
        Self { file: self.file, at, path: format!("{}{rest}", self.path) }
    }
}

#[derive(Default)]
pub(super) struct Findings {
    pub(super) problems: Vec<Problem>,
}

impl Findings {
    fn push(&mut self, severity: Severity, spot: &Spot<'_>, message: String, suggestion: Option<String>) {
        self.problems.push(Problem {
            file: spot.file.to_owned(),
            at: spot.at,
            severity,
            path: spot.path.clone(),
            message,
            suggestion,
        });
    }

    pub(super) fn warning(&mut self, spot: &Spot<'_>, message: String, suggestion: Option<String>) {
        self.push(Severity::Warning, spot, message, suggestion);
    }

    pub(super) fn hint(&mut self, spot: &Spot<'_>, message: String, suggestion: Option<String>) {
        self.push(Severity::Hint, spot, message, suggestion);
    }

    /// The known word closest to `word`, while few problems were found.
    pub(super) fn nearest<'c>(&self, word: &str, known: impl IntoIterator<Item = &'c str>) -> Option<String> {
        (self.problems.len() < MAX_SUGGESTIONS).then(|| nearest(word, known).map(str::to_owned)).flatten()
    }
}
