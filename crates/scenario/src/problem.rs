//! What is wrong with a file: place, severity, message and the nearest known word.
//!
//! A [`Problem`] is data for a person at a terminal; nothing here decides whether a load fails beyond
//! [`Report::has_errors`], and nothing here prints.

use std::fmt;
use std::path::{Path, PathBuf};

/// A place in a text file, both numbers from 1, columns counted in characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Position {
    /// Line, from 1.
    pub line: u32,
    /// Column in characters, from 1.
    pub column: u32,
}

impl Position {
    /// The first character of a file; also used for problems of a file as a whole.
    pub const START: Self = Self { line: 1, column: 1 };
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.line, self.column)
    }
}

/// How much a problem matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// The file does not load.
    Error,
    /// The file loads, and very likely does not do what its author meant.
    Warning,
    /// The file loads and means what it says; there is something its author may want to know: an old spelling, a
    /// key this product only carries along.
    Hint,
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Error => "error",
            Self::Warning => "warning",
            Self::Hint => "hint",
        })
    }
}

/// One thing that is wrong, or worth knowing, about one place of one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The file, as it was named to the loader.
    pub file: PathBuf,
    /// Where in the file.
    pub at: Position,
    /// How much it matters.
    pub severity: Severity,
    /// The value's path in the document, e.g. `dynamic[2].pose`; empty for the document as a whole.
    pub path: String,
    /// What was found and what was expected.
    pub message: String,
    /// What to write instead, when something close is known.
    pub suggestion: Option<String>,
}

impl Problem {
    /// A problem of a file as a whole, without a place inside it.
    pub fn of_file(file: impl Into<PathBuf>, severity: Severity, message: impl Into<String>) -> Self {
        Self {
            file: file.into(),
            at: Position::START,
            severity,
            path: String::new(),
            message: message.into(),
            suggestion: None,
        }
    }

    /// The same problem with a suggestion.
    #[must_use]
    pub fn with_suggestion(mut self, suggestion: Option<impl Into<String>>) -> Self {
        self.suggestion = suggestion.map(Into::into);
        self
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_line(f, &self.file.display().to_string())?;
        write!(f, ":{}: {}: ", self.at, self.severity)?;
        if !self.path.is_empty() {
            write_line(f, &self.path)?;
            f.write_str(": ")?;
        }
        write_line(f, &self.message)?;
        if let Some(suggestion) = &self.suggestion {
            f.write_str("  (try: ")?;
            write_line(f, suggestion)?;
            f.write_str(")")?;
        }
        Ok(())
    }
}

/// Most characters shown of one part of a problem.
const MAX_SHOWN: usize = 600;

/// Write text on one line. Keys and names come from the file, so they may be long, hold line breaks or drive a terminal.
fn write_line(f: &mut fmt::Formatter<'_>, text: &str) -> fmt::Result {
    use fmt::Write;
    for (i, c) in text.chars().enumerate() {
        if i == MAX_SHOWN {
            return f.write_char('…');
        }
        if c.is_control() { write!(f, "{}", c.escape_default())? } else { f.write_char(c)? }
    }
    Ok(())
}

/// All problems found, sorted by file, place and severity; displayed one per line.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Report(Vec<Problem>);

impl Report {
    /// A report of these problems, sorted; identical ones are kept once.
    #[must_use]
    pub fn new(mut problems: Vec<Problem>) -> Self {
        problems.sort_by(|a, b| {
            (&a.file, a.at, a.severity, &a.path, &a.message)
                .cmp(&(&b.file, b.at, b.severity, &b.path, &b.message))
        });
        problems.dedup();
        Self(problems)
    }

    /// Whether anything in it keeps a file from loading.
    #[must_use]
    pub fn has_errors(&self) -> bool {
        self.count(Severity::Error) > 0
    }

    /// How many problems of one severity there are.
    #[must_use]
    pub fn count(&self, severity: Severity) -> usize {
        self.0.iter().filter(|p| p.severity == severity).count()
    }

    /// Whether there is nothing to say.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// How many problems there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// The problems in order.
    pub fn iter(&self) -> std::slice::Iter<'_, Problem> {
        self.0.iter()
    }

    /// The problems in order.
    #[must_use]
    pub fn into_problems(self) -> Vec<Problem> {
        self.0
    }

    /// Both reports as one, sorted.
    #[must_use]
    pub fn merge(self, other: Self) -> Self {
        let mut all = self.0;
        all.extend(other.0);
        Self::new(all)
    }
}

impl<'a> IntoIterator for &'a Report {
    type Item = &'a Problem;
    type IntoIter = std::slice::Iter<'a, Problem>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.iter()
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, problem) in self.0.iter().enumerate() {
            if i > 0 {
                f.write_str("\n")?;
            }
            write!(f, "{problem}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Report {}

/// A value that loaded, with whatever warnings and hints its file gave.
#[derive(Debug, Clone)]
pub struct Loaded<T> {
    /// The value.
    pub value: T,
    /// Warnings and hints; never an error.
    pub report: Report,
}

impl<T> Loaded<T> {
    /// `Ok` with the value when no problem is an error, else every problem.
    pub(crate) fn or_errors(value: Option<T>, problems: Vec<Problem>) -> Result<Self, Report> {
        let report = Report::new(problems);
        match value {
            Some(value) if !report.has_errors() => Ok(Self { value, report }),
            _ => Err(report),
        }
    }
}

/// Most edits between a word and what its author meant.
const MAX_DISTANCE: usize = 3;
/// Problems of one file that get a suggestion. Looking for one takes time in proportion to the names there are, and nobody mends
/// more than this in one go, so a hostile file cannot make it quadratic.
pub(crate) const MAX_SUGGESTIONS: usize = 200;

/// The candidate closest to `word`, if one is close enough to be what its author meant.
#[must_use]
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    // Longer strings than any key or name would only make the quadratic distance slow.
    if word.chars().count() > 80 {
        return None;
    }
    let folded = word.to_lowercase();
    candidates
        .into_iter()
        .filter(|c| *c != word && c.len().abs_diff(word.len()) <= MAX_DISTANCE * 4)
        .map(|c| (strsim::damerau_levenshtein(&folded, &c.to_lowercase()), c))
        .filter(|(distance, c)| {
            let longest = c.chars().count().max(word.chars().count());
            *distance <= MAX_DISTANCE && *distance * 3 <= longest
        })
        .min_by(|a, b| a.0.cmp(&b.0).then_with(|| a.1.cmp(b.1)))
        .map(|(_, c)| c)
}

/// A path as it is shown in messages, with forward slashes on every platform.
pub(crate) fn shown(path: &Path) -> String {
    path.display().to_string().replace('\\', "/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nearest_finds_a_typo_and_refuses_a_stranger() {
        let known = ["waypoints", "velocity", "pose"];
        assert_eq!(nearest("waypionts", known), Some("waypoints"));
        assert_eq!(nearest("Pose", known), Some("pose"));
        assert_eq!(nearest("colour", known), None);
        assert_eq!(nearest("pose", ["pose"]), None);
    }

    #[test]
    fn what_a_file_says_cannot_drive_a_terminal() {
        let problem =
            Problem::of_file("a.yaml", Severity::Error, "key `\u{1b}[2J\n` ".to_owned() + &"x".repeat(5_000));
        let shown = problem.to_string();
        assert!(shown.starts_with("a.yaml:1:1: error: key `\\u{1b}[2J\\n` xx"), "{shown}");
        assert!(shown.chars().count() < 700 && shown.ends_with('…'));
    }

    #[test]
    fn report_sorts_and_shows_one_problem_per_line() {
        let mut late = Problem::of_file("b.yaml", Severity::Error, "second");
        late.at = Position { line: 3, column: 2 };
        late.path = "dynamic[0]".to_owned();
        let report = Report::new(vec![
            late.with_suggestion(Some("pose")),
            Problem::of_file("b.yaml", Severity::Hint, "first"),
        ]);
        assert_eq!(
            report.to_string(),
            "b.yaml:1:1: hint: first\nb.yaml:3:2: error: dynamic[0]: second  (try: pose)"
        );
        assert!(report.has_errors());
    }
}
