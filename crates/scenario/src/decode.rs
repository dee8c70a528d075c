//! Typed values out of a tree, with a collector for everything that is wrong.
//!
//! Every reader reports and goes on: a function that returns `None` has said why. Nothing here knows a key of a format, so that readers of
//! other crates' files share it.

use std::path::{Path, PathBuf};

use crate::problem::{Loaded, MAX_SUGGESTIONS, Position, Problem, Report, Severity, nearest};
use crate::tree::{Entry, Node, Value, join, parse_document};

/// Largest coordinate, length or time taken from a file. Beyond it a double no longer resolves millimetres well, and
/// no building is that large.
pub const MAX_NUMBER: f64 = 1.0e9;

/// Collects the problems of one file while its tree is read.
#[derive(Debug)]
pub struct Decoder {
    file: PathBuf,
    problems: Vec<Problem>,
}

impl Decoder {
    /// Decodes the text of a whole file: its value, or every problem with at least one error.
    ///
    /// # Errors
    /// When anything in the file is an error.
    pub fn read<T>(
        text: &str,
        file: &Path,
        value: impl FnOnce(&mut Self, &Node) -> Option<T>,
    ) -> Result<Loaded<T>, Report> {
        let (node, problems) = parse_document(text, file);
        let Some(node) = node else {
            return Err(Report::new(problems));
        };
        let mut decoder = Self::new(file, problems);
        let value = value(&mut decoder, &node);
        Loaded::or_errors(value, decoder.into_problems())
    }

    /// A decoder of a file in which these problems were found already.
    #[must_use]
    pub fn new(file: &Path, problems: Vec<Problem>) -> Self {
        Self { file: file.to_owned(), problems }
    }

    /// The file that is read.
    #[must_use]
    pub fn file(&self) -> &Path {
        &self.file
    }

    /// Everything that was found.
    #[must_use]
    pub fn into_problems(self) -> Vec<Problem> {
        self.problems
    }

    fn push(
        &mut self,
        severity: Severity,
        at: Position,
        path: &str,
        message: impl Into<String>,
        suggestion: Option<String>,
    ) {
        self.problems.push(Problem {
            file: self.file.clone(),
            at,
            severity,
            path: path.to_owned(),
            message: message.into(),
            suggestion,
        });
    }

    /// Report what keeps the file from loading.
    pub fn error(&mut self, at: Position, path: &str, message: impl Into<String>) {
        self.push(Severity::Error, at, path, message, None);
    }

    /// Report an error and what to write instead.
    pub fn error_try(
        &mut self,
        at: Position,
        path: &str,
        message: impl Into<String>,
        suggestion: Option<String>,
    ) {
        self.push(Severity::Error, at, path, message, suggestion);
    }

    /// Report what loads and very likely is not meant.
    pub fn warning(&mut self, at: Position, path: &str, message: impl Into<String>) {
        self.push(Severity::Warning, at, path, message, None);
    }

    pub(crate) fn warning_try(
        &mut self,
        at: Position,
        path: &str,
        message: impl Into<String>,
        suggestion: Option<String>,
    ) {
        self.push(Severity::Warning, at, path, message, suggestion);
    }

    pub(crate) fn hint(&mut self, at: Position, path: &str, message: impl Into<String>) {
        self.push(Severity::Hint, at, path, message, None);
    }

    pub(crate) fn hint_try(
        &mut self,
        at: Position,
        path: &str,
        message: impl Into<String>,
        suggestion: Option<String>,
    ) {
        self.push(Severity::Hint, at, path, message, suggestion);
    }

    /// The known word closest to `word`, while the file has few problems.
    pub fn nearest<'c>(&self, word: &str, known: impl IntoIterator<Item = &'c str>) -> Option<String> {
        (self.problems.len() < MAX_SUGGESTIONS).then(|| nearest(word, known).map(str::to_owned)).flatten()
    }

    /// Report a value of the wrong kind.
    pub fn mismatch(&mut self, node: &Node, path: &str, expected: &str) {
        self.error(node.at, path, format!("expected {expected}, found {}", node.describe()));
    }

    /// Text that is written as text.
    pub fn text(&mut self, node: &Node, path: &str) -> Option<String> {
        match &node.value {
            Value::Text(text) => Some(text.clone()),
            Value::Int(_) | Value::Float(_) | Value::Bool(_) => {
                let written = scalar_text(node).unwrap_or_default();
                self.error_try(
                    node.at,
                    path,
                    format!("expected text, found {}", node.describe()),
                    Some(format!("\"{written}\"")),
                );
                None
            }
            _ => {
                self.mismatch(node, path, "text");
                None
            }
        }
    }

    /// A name: text that is not empty and has no control characters or surrounding space, since it becomes part of topic data.
    pub fn name(&mut self, node: &Node, path: &str) -> Option<String> {
        let text = self.text(node, path)?;
        if text.trim().is_empty() {
            self.error(node.at, path, "a name must not be empty");
            return None;
        }
        if text.trim() != text || text.chars().any(char::is_control) {
            self.error_try(
                node.at,
                path,
                "a name must not begin or end with a space or hold control characters",
                Some(text.trim().replace(char::is_control, "")),
            );
            return None;
        }
        Some(text)
    }

    /// An identifier such as a level, which files write as `0` and as `"0"`.
    pub(crate) fn identifier(&mut self, node: &Node, path: &str) -> Option<String> {
        match node.value {
            Value::Int(i) => Some(i.to_string()),
            _ => self.name(node, path),
        }
    }

    /// A finite number of at most [`MAX_NUMBER`] either way.
    pub fn number(&mut self, node: &Node, path: &str) -> Option<f64> {
        let Some(x) = node.as_f64() else {
            let suggestion = node
                .as_str()
                .and_then(|t| t.trim().replace(',', ".").parse::<f64>().ok())
                .filter(|x| x.is_finite())
                .map(|x| x.to_string());
            self.error_try(
                node.at,
                path,
                format!("expected a number, found {}", node.describe()),
                suggestion,
            );
            return None;
        };
        if !x.is_finite() {
            self.error(node.at, path, format!("expected a finite number, found {x}"));
            return None;
        }
        if x.abs() > MAX_NUMBER {
            self.error(node.at, path, format!("{x} is out of range, at most {MAX_NUMBER:e} is accepted"));
            return None;
        }
        Some(x)
    }

    /// A number that is not negative.
    pub fn non_negative(&mut self, node: &Node, path: &str) -> Option<f64> {
        let x = self.number(node, path)?;
        if x < 0.0 {
            self.error(node.at, path, format!("must not be negative, found {x}"));
            return None;
        }
        Some(x)
    }

    /// A number above 0.
    pub fn positive(&mut self, node: &Node, path: &str) -> Option<f64> {
        let x = self.number(node, path)?;
        if x <= 0.0 {
            self.error(node.at, path, format!("must be greater than 0, found {x}"));
            return None;
        }
        Some(x)
    }

    /// A whole number, with or without a point.
    pub fn integer(&mut self, node: &Node, path: &str) -> Option<i64> {
        match node.value {
            Value::Int(i) => Some(i),
            Value::Float(x) if x.fract() == 0.0 && x.abs() <= MAX_NUMBER => Some(x as i64),
            _ => {
                self.mismatch(node, path, "a whole number");
                None
            }
        }
    }

    /// True or false.
    pub fn boolean(&mut self, node: &Node, path: &str) -> Option<bool> {
        match &node.value {
            Value::Bool(b) => Some(*b),
            Value::Text(text) => {
                let meant = match text.to_lowercase().as_str() {
                    "yes" | "on" | "true" => Some("true"),
                    "no" | "off" | "false" => Some("false"),
                    _ => None,
                };
                self.error_try(
                    node.at,
                    path,
                    format!("expected true or false, found {}", node.describe()),
                    meant.map(str::to_owned),
                );
                None
            }
            _ => {
                self.mismatch(node, path, "true or false");
                None
            }
        }
    }

    /// The items of a list; nothing at all counts as an empty list.
    pub(crate) fn list<'a>(&mut self, node: &'a Node, path: &str, of: &str) -> &'a [Node] {
        match &node.value {
            Value::List(items) => items,
            Value::Null => &[],
            _ => {
                self.mismatch(node, path, &format!("a list of {of}"));
                &[]
            }
        }
    }

    /// Read every item of a list, leaving out those that are wrong.
    pub fn list_of<T>(
        &mut self,
        node: &Node,
        path: &str,
        of: &str,
        mut read: impl FnMut(&mut Self, &Node, &str) -> Option<T>,
    ) -> Vec<T> {
        let items = self.list(node, path, of);
        items.iter().enumerate().filter_map(|(i, item)| read(self, item, &format!("{path}[{i}]"))).collect()
    }

    /// A map whose keys are looked up one by one.
    pub fn fields<'a>(
        &mut self,
        node: &'a Node,
        path: &str,
        what: &str,
        known: &'static [&'static str],
    ) -> Option<Fields<'a>> {
        self.fields_of(node, path, what, [known, &[]])
    }

    /// As [`fields`](Self::fields), where the known keys stand in two lists.
    pub(crate) fn fields_of<'a>(
        &mut self,
        node: &'a Node,
        path: &str,
        what: &str,
        known: [&'static [&'static str]; 2],
    ) -> Option<Fields<'a>> {
        let Some(entries) = node.entries() else {
            self.mismatch(node, path, &format!("{what}, a map"));
            return None;
        };
        Some(Fields { at: node.at, entries, path: path.to_owned(), known, answered: Vec::new() })
    }

    /// One word out of a fixed list, compared without case.
    pub fn choice<T: Copy>(
        &mut self,
        node: &Node,
        path: &str,
        what: &str,
        choices: &[(&str, T)],
    ) -> Option<T> {
        let words = || choices.iter().map(|(word, _)| format!("`{word}`")).collect::<Vec<_>>().join(", ");
        let Some(text) = node.as_str() else {
            self.mismatch(node, path, &format!("{what}, one of {}", words()));
            return None;
        };
        let found = choices.iter().find(|(word, _)| word.eq_ignore_ascii_case(text));
        if found.is_none() {
            let suggestion = nearest(text, choices.iter().map(|(word, _)| *word));
            self.error_try(
                node.at,
                path,
                format!("unknown {what} {text:?}, expected one of {}", words()),
                suggestion.map(str::to_owned),
            );
        }
        found.map(|(_, value)| *value)
    }
}

/// What an unknown key of a map means.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Unknown {
    /// The grammar is closed: a typo is an error, anything else a warning.
    Closed,
    /// Other programs read keys of their own from here: a typo is a warning, anything else a hint.
    Open,
}

/// A map being read.
#[derive(Debug)]
pub struct Fields<'a> {
    /// Where the map stands.
    pub at: Position,
    entries: &'a [Entry],
    path: String,
    known: [&'static [&'static str]; 2],
    /// Unknown keys that were already reported as the misspelling of a required one.
    answered: Vec<&'a str>,
}

impl<'a> Fields<'a> {
    /// The value of a key; a key without a value counts as absent.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&'a Node> {
        self.entries.iter().find(|e| e.key == key).map(|e| &e.value).filter(|node| node.value != Value::Null)
    }

    /// The key's own place, for messages about the key rather than its value.
    #[must_use]
    pub fn key_at(&self, key: &str) -> Position {
        self.entries.iter().find(|e| e.key == key).map_or(self.at, |e| e.at)
    }

    /// Whether the key is there, with or without a value.
    #[must_use]
    pub fn has(&self, key: &str) -> bool {
        self.entries.iter().any(|e| e.key == key)
    }

    /// All entries, in file order.
    #[must_use]
    pub fn entries(&self) -> &'a [Entry] {
        self.entries
    }

    /// The path of a key's value.
    #[must_use]
    pub fn path_of(&self, key: &str) -> String {
        join(&self.path, key)
    }

    /// The path of the map itself.
    #[must_use]
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Read the value of a key if it is there.
    pub fn read<T>(
        &self,
        d: &mut Decoder,
        key: &str,
        read: impl FnOnce(&mut Decoder, &'a Node, &str) -> Option<T>,
    ) -> Option<T> {
        read(d, self.get(key)?, &self.path_of(key))
    }

    /// The value of a key that must be there; says what was expected when it is not, at the key that looks like its misspelling.
    pub fn require(&mut self, d: &mut Decoder, key: &str, expected: &str) -> Option<&'a Node> {
        if let Some(node) = self.get(key) {
            return Some(node);
        }
        let unknown = self.entries.iter().filter(|e| !self.is_known(&e.key));
        let misspelt = nearest(key, unknown.map(|e| e.key.as_str()));
        match misspelt {
            Some(found) => {
                d.error_try(
                    self.key_at(found),
                    &self.path,
                    format!("unknown key `{found}`, and `{key}` ({expected}) is missing"),
                    Some(key.to_owned()),
                );
                self.answered.push(found);
            }
            None => d.error(
                if self.has(key) { self.key_at(key) } else { self.at },
                &self.path,
                format!("`{key}` is missing, expected {expected}"),
            ),
        }
        None
    }

    fn is_known(&self, key: &str) -> bool {
        self.known().any(|k| k.strip_suffix('*').map_or(k == key, |stem| key.starts_with(stem)))
    }

    fn known(&self) -> impl Iterator<Item = &'static str> {
        self.known.into_iter().flatten().copied()
    }

    /// Report the keys nobody knows, except those in `also_known`.
    pub fn finish(&self, d: &mut Decoder, unknown: Unknown, also_known: &[&str]) {
        for entry in self.entries {
            let key = entry.key.as_str();
            if self.is_known(key) || also_known.contains(&key) || self.answered.contains(&key) {
                continue;
            }
            let free = self.known().filter(|k| !k.ends_with('*') && !self.has(k));
            let meant = nearest(key, free).map(str::to_owned);
            let message = format!("unknown key `{key}`");
            match (unknown, meant.is_some()) {
                (Unknown::Closed, true) => d.error_try(entry.at, &self.path, message, meant),
                (Unknown::Closed, false) => d.warning(
                    entry.at,
                    &self.path,
                    format!("{message}, it has no effect; known are {}", self.known_list()),
                ),
                (Unknown::Open, true) => d.warning_try(entry.at, &self.path, message, meant),
                (Unknown::Open, false) => {
                    d.hint(entry.at, &self.path, format!("{message}, kept for whoever reads it"))
                }
            }
        }
    }

    fn known_list(&self) -> String {
        let words: Vec<String> = self.known().map(|k| format!("`{k}`")).collect();
        words.join(", ")
    }
}

/// A scalar as text: what a set value, a condition or an annotation compares.
pub(crate) fn scalar_text(node: &Node) -> Option<String> {
    match &node.value {
        Value::Text(text) => Some(text.clone()),
        Value::Bool(b) => Some(b.to_string()),
        Value::Int(i) => Some(i.to_string()),
        Value::Float(x) => Some(x.to_string()),
        _ => None,
    }
}
