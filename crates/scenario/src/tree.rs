//! A YAML or JSON document as a tree whose every node knows its line and column.
//!
//! The document is read once, through `serde-saphyr` with its budgets on; typed values are decoded from the tree afterwards, so
//! that one mistake does not hide the next. This module never interprets a key and never follows a reference to another file.

use std::fmt;
use std::path::Path;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_saphyr::{DuplicateKeyPolicy, NonFiniteFloatPolicy, Spanned};

use crate::problem::{Position, Problem, Severity};

/// Largest file read, in bytes. A world of several hundred zones is below one tenth of it.
pub const MAX_FILE_BYTES: usize = 8 * 1024 * 1024;
/// Deepest nesting of maps and lists.
const MAX_DEPTH: usize = 48;
/// Most nodes that aliases may add to a document: enough for templates, too few for a bomb.
const MAX_REPLAYED_EVENTS: usize = 50_000;

/// One value of a document and where it stands.
#[derive(Debug, Clone, PartialEq)]
pub struct Node {
    /// The value.
    pub value: Value,
    /// Its first character.
    pub at: Position,
}

/// A YAML value. Maps keep the order of the file.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// `null`, `~` or nothing.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// An integer that fits 64 bits.
    Int(i64),
    /// Any other number; may be NaN or infinite.
    Float(f64),
    /// Text.
    Text(String),
    /// A list.
    List(Vec<Node>),
    /// A map in file order. A key that the file repeats is there as often, and was reported.
    Map(Vec<Entry>),
}

/// One key and value of a map.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// The key; scalars that are not text are written out.
    pub key: String,
    /// Where the key stands.
    pub at: Position,
    /// The value.
    pub value: Node,
    /// The key came in through a YAML merge (`<<`), so an explicit one wins.
    merged: bool,
}

impl Node {
    /// An empty map at the start of a file.
    #[must_use]
    pub fn empty_map() -> Self {
        Self { value: Value::Map(Vec::new()), at: Position::START }
    }

    /// The value of a key, when this is a map that has it. Of a repeated key the first is given.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&Node> {
        self.entries()?.iter().find(|e| e.key == key).map(|e| &e.value)
    }

    /// The entries of a map, in file order.
    #[must_use]
    pub fn entries(&self) -> Option<&[Entry]> {
        match &self.value {
            Value::Map(entries) => Some(entries),
            _ => None,
        }
    }

    /// The entries of a map, to change.
    pub(crate) fn entries_mut(&mut self) -> Option<&mut Vec<Entry>> {
        match &mut self.value {
            Value::Map(entries) => Some(entries),
            _ => None,
        }
    }

    /// The items of a list.
    #[must_use]
    pub fn items(&self) -> Option<&[Node]> {
        match &self.value {
            Value::List(items) => Some(items),
            _ => None,
        }
    }

    /// The text of a text value.
    #[must_use]
    pub fn as_str(&self) -> Option<&str> {
        match &self.value {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The value of a number, integer or not; may be NaN or infinite.
    #[must_use]
    pub fn as_f64(&self) -> Option<f64> {
        match self.value {
            Value::Int(i) => Some(i as f64),
            Value::Float(x) => Some(x),
            _ => None,
        }
    }

    /// The value of an integer.
    #[must_use]
    pub fn as_i64(&self) -> Option<i64> {
        match self.value {
            Value::Int(i) => Some(i),
            _ => None,
        }
    }

    /// The value of a boolean.
    #[must_use]
    pub fn as_bool(&self) -> Option<bool> {
        match self.value {
            Value::Bool(b) => Some(b),
            _ => None,
        }
    }

    /// What this is, for a message: `a list of 4`, `the text "lobby"`, `the number 3`.
    #[must_use]
    pub fn describe(&self) -> String {
        match &self.value {
            Value::Null => "nothing".to_owned(),
            Value::Bool(b) => format!("`{b}`"),
            Value::Int(i) => format!("the number {i}"),
            Value::Float(x) => format!("the number {x}"),
            Value::Text(text) => {
                let mut short: String = text.chars().take(40).collect();
                if short.len() < text.len() {
                    short.push('…');
                }
                format!("the text {short:?}")
            }
            Value::List(items) => match items.len() {
                0 => "an empty list".to_owned(),
                n => format!("a list of {n}"),
            },
            Value::Map(entries) => match entries.len() {
                0 => "an empty map".to_owned(),
                1 => format!("a map with the key `{}`", entries[0].key),
                n => format!("a map with {n} keys"),
            },
        }
    }

    /// The same value as JSON, for whoever forwards it. NaN and infinity become null; map order follows `serde_json`.
    #[must_use]
    pub fn to_json(&self) -> serde_json::Value {
        match &self.value {
            Value::Null => serde_json::Value::Null,
            Value::Bool(b) => (*b).into(),
            Value::Int(i) => (*i).into(),
            Value::Float(x) => (*x).into(),
            Value::Text(text) => text.clone().into(),
            Value::List(items) => items.iter().map(Self::to_json).collect(),
            Value::Map(entries) => serde_json::Value::Object(
                entries.iter().map(|e| (e.key.clone(), e.value.to_json())).collect(),
            ),
        }
    }
}

/// A node as the parser gives it, before keys are made text and repeated keys are looked for.
struct Raw {
    value: RawValue,
    at: Position,
    /// The node stands elsewhere than where it is used: an alias or a merge.
    borrowed: bool,
}

enum RawValue {
    Scalar(Value),
    List(Vec<Raw>),
    Map(Vec<(Raw, Raw)>),
}

impl<'de> Deserialize<'de> for Raw {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let spanned = Spanned::<RawValue>::deserialize(deserializer)?;
        Ok(Self {
            value: spanned.value,
            at: position(spanned.defined),
            borrowed: spanned.defined != spanned.referenced,
        })
    }
}

fn position(location: serde_saphyr::Location) -> Position {
    let number = |n: u64| u32::try_from(n).unwrap_or(u32::MAX).max(1);
    Position { line: number(location.line()), column: number(location.column()) }
}

impl<'de> Deserialize<'de> for RawValue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(RawVisitor)
    }
}

struct RawVisitor;

impl<'de> Visitor<'de> for RawVisitor {
    type Value = RawValue;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E>(self) -> Result<RawValue, E> {
        Ok(RawValue::Scalar(Value::Null))
    }

    fn visit_none<E>(self) -> Result<RawValue, E> {
        Ok(RawValue::Scalar(Value::Null))
    }

    fn visit_bool<E>(self, v: bool) -> Result<RawValue, E> {
        Ok(RawValue::Scalar(Value::Bool(v)))
    }

    fn visit_i64<E>(self, v: i64) -> Result<RawValue, E> {
        Ok(RawValue::Scalar(Value::Int(v)))
    }

    fn visit_u64<E>(self, v: u64) -> Result<RawValue, E> {
        Ok(RawValue::Scalar(i64::try_from(v).map_or(Value::Float(v as f64), Value::Int)))
    }

    fn visit_i128<E>(self, v: i128) -> Result<RawValue, E> {
        Ok(RawValue::Scalar(i64::try_from(v).map_or(Value::Float(v as f64), Value::Int)))
    }

    fn visit_u128<E>(self, v: u128) -> Result<RawValue, E> {
        Ok(RawValue::Scalar(i64::try_from(v).map_or(Value::Float(v as f64), Value::Int)))
    }

    fn visit_f64<E>(self, v: f64) -> Result<RawValue, E> {
        Ok(RawValue::Scalar(Value::Float(v)))
    }

    fn visit_str<E>(self, v: &str) -> Result<RawValue, E> {
        Ok(RawValue::Scalar(Value::Text(v.to_owned())))
    }

    fn visit_string<E>(self, v: String) -> Result<RawValue, E> {
        Ok(RawValue::Scalar(Value::Text(v)))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<RawValue, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = seq.next_element()? {
            items.push(item);
        }
        Ok(RawValue::List(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<RawValue, A::Error> {
        let mut entries = Vec::new();
        while let Some(entry) = map.next_entry()? {
            entries.push(entry);
        }
        Ok(RawValue::Map(entries))
    }
}

/// Turns the parser's tree into ours, collecting what a map may not hold.
struct Builder<'a> {
    file: &'a Path,
    end: Extent,
    problems: Vec<Problem>,
}

impl Builder<'_> {
    fn error(&mut self, at: Position, path: &str, message: String) {
        self.problems.push(Problem {
            file: self.file.to_owned(),
            at: self.end.clamp(at),
            severity: Severity::Error,
            path: path.to_owned(),
            message,
            suggestion: None,
        });
    }

    fn node(&mut self, raw: Raw, path: &str) -> Node {
        let at = self.end.clamp(raw.at);
        let value = match raw.value {
            RawValue::Scalar(value) => value,
            RawValue::List(items) => Value::List(
                items
                    .into_iter()
                    .enumerate()
                    .map(|(i, item)| self.node(item, &format!("{path}[{i}]")))
                    .collect(),
            ),
            RawValue::Map(entries) => Value::Map(self.map(entries, path)),
        };
        Node { value, at }
    }

    fn map(&mut self, raw: Vec<(Raw, Raw)>, path: &str) -> Vec<Entry> {
        let mut entries: Vec<Entry> = Vec::with_capacity(raw.len());
        let mut seen: std::collections::BTreeMap<String, usize> = std::collections::BTreeMap::new();
        for (key, value) in raw {
            let at = self.end.clamp(key.at);
            let merged = key.borrowed;
            let Some(text) = key_text(&key.value) else {
                self.error(at, path, "a key must be text, a number or a boolean".to_owned());
                continue;
            };
            let value = self.node(value, &join(path, &text));
            let entry = Entry { key: text, at, value, merged };
            match seen.get(&entry.key).copied() {
                None => {
                    seen.insert(entry.key.clone(), entries.len());
                    entries.push(entry);
                }
                // A merged key gives way to the one that is written out, and to an earlier merge.
                Some(_) if entry.merged => {}
                Some(first) if entries[first].merged => entries[first] = entry,
                Some(first) => {
                    let line = entries[first].at.line;
                    self.error(
                        at,
                        path,
                        format!("the key `{}` is there twice, first in line {line}", entry.key),
                    );
                    entries.push(entry);
                }
            }
        }
        entries
    }
}

fn key_text(value: &RawValue) -> Option<String> {
    match value {
        RawValue::Scalar(Value::Text(text)) => Some(text.clone()),
        RawValue::Scalar(Value::Int(i)) => Some(i.to_string()),
        RawValue::Scalar(Value::Float(x)) => Some(x.to_string()),
        RawValue::Scalar(Value::Bool(b)) => Some(b.to_string()),
        _ => None,
    }
}

/// Most characters of a key that a path shows; below a key of megabytes every path would hold it again.
const MAX_KEY_SHOWN: usize = 60;

/// The path of a key below another path.
#[must_use]
pub fn join(path: &str, key: &str) -> String {
    let end = key.char_indices().nth(MAX_KEY_SHOWN).map_or(key.len(), |(i, _)| i);
    let (shown, rest) = key.split_at(end);
    let dot = if path.is_empty() { "" } else { "." };
    let more = if rest.is_empty() { "" } else { "…" };
    format!("{path}{dot}{shown}{more}")
}

/// Length of every line, so that a reported place is always one the file has.
struct Extent {
    /// Characters per line, at least 1 each.
    columns: Vec<u32>,
}

impl Extent {
    fn of(text: &str) -> Self {
        let mut columns: Vec<u32> =
            text.lines().map(|l| u32::try_from(l.chars().count()).unwrap_or(u32::MAX).max(1)).collect();
        if columns.is_empty() {
            columns.push(1);
        }
        Self { columns }
    }

    fn clamp(&self, at: Position) -> Position {
        let lines = u32::try_from(self.columns.len()).unwrap_or(u32::MAX);
        if at.line > lines {
            return Position { line: lines, column: self.columns[self.columns.len() - 1] };
        }
        let line = at.line.max(1);
        Position {
            line,
            // One past the end of a line is where an editor puts the cursor for "something is missing here".
            column: at.column.clamp(1, self.columns[line as usize - 1] + 1),
        }
    }
}

/// Read one YAML or JSON document. JSON needs no parser of its own: what the format's files use of it is YAML too.
///
/// Gives the tree unless the text does not parse at all, and every problem of the text itself: syntax, a repeated key, a budget
/// that was exceeded. `file` is only for messages. An empty document is `Null`.
#[must_use]
pub fn parse_document(text: &str, file: &Path) -> (Option<Node>, Vec<Problem>) {
    if text.len() > MAX_FILE_BYTES {
        let message = format!("the file has {} bytes; the limit is {MAX_FILE_BYTES}", text.len());
        return (None, vec![Problem::of_file(file, Severity::Error, message)]);
    }
    let end = Extent::of(text);
    if text.trim_start_matches('\u{feff}').trim().is_empty() {
        let node = Node { value: Value::Null, at: Position::START };
        return (Some(node), Vec::new());
    }
    match serde_saphyr::from_str_with_options::<Raw>(text, options()) {
        Ok(raw) => {
            let mut builder = Builder { file, end, problems: Vec::new() };
            let node = builder.node(raw, "");
            (Some(node), builder.problems)
        }
        Err(error) => {
            let at = error.location().map_or(Position::START, position);
            let mut problem = Problem::of_file(file, Severity::Error, syntax_message(&error, text, at));
            problem.at = end.clamp(at);
            (None, vec![problem])
        }
    }
}

fn options() -> serde_saphyr::Options {
    let mut alias_limits = serde_saphyr::options::AliasLimits::default();
    alias_limits.max_total_replayed_events = MAX_REPLAYED_EVENTS;
    alias_limits.max_replay_stack_depth = 16;
    serde_saphyr::options! {
        budget: serde_saphyr::budget! {
            max_depth: MAX_DEPTH,
            flow_nesting_limit: MAX_DEPTH,
            max_documents: 2,
            max_aliases: 5_000,
            max_anchors: 5_000,
        },
        // Passed through, because a repeated key is then reported together with everything else.
        duplicate_keys: DuplicateKeyPolicy::PassThrough,
        non_finite_float_policy: NonFiniteFloatPolicy::PassThrough,
        strict_booleans: true,
        with_snippet: false,
        emit_comments: false,
        alias_limits: alias_limits,
    }
}

/// The parser's message as one line, with the mistake spelled out where the parser's own words do not help.
fn syntax_message(error: &serde_saphyr::Error, text: &str, at: Position) -> String {
    use serde_saphyr::MessageFormatter;
    let message = serde_saphyr::DefaultMessageFormatter.format_message(error.without_snippet());
    let message = message.split_whitespace().collect::<Vec<_>>().join(" ");
    let line = text.lines().nth(at.line as usize - 1).unwrap_or("");
    let indented = line.len() - line.trim_start().len();
    if line[..indented].contains('\t') {
        format!("not valid YAML: {message}; the line is indented with a tab, YAML needs spaces")
    } else {
        format!("not valid YAML: {message}")
    }
}
