//! YAML nodes that know where they stand, so that an error can name line and column.
//!
//! Reading is data only: no tags with meaning, no includes; budgets and the duplicate-key check are the parser's.

use std::{
    fmt,
    io::{self, Read},
    path::Path,
};

use serde::{
    Deserialize, Deserializer,
    de::{MapAccess, SeqAccess, Visitor},
};
use serde_saphyr::{
    Spanned,
    options::{DuplicateKeyPolicy, MergeKeyPolicy, NonFiniteFloatPolicy},
};

/// Most bytes of a file that is read by name: paths of agent types come from messages.
const MOST_BYTES: u64 = 1 << 20;

/// A whole text file; refused before it is read if it is too long or no plain file.
pub(crate) fn read(path: &Path) -> io::Result<String> {
    let refused = |what: String| io::Error::new(io::ErrorKind::InvalidData, what);
    // Not after opening it: to open a pipe is to wait for its writer.
    if !std::fs::metadata(path)?.is_file() {
        return Err(refused("not a plain file".to_owned()));
    }
    let mut text = String::new();
    std::fs::File::open(path)?.take(MOST_BYTES + 1).read_to_string(&mut text)?;
    if text.len() as u64 > MOST_BYTES {
        return Err(refused(format!("more than {MOST_BYTES} bytes")));
    }
    Ok(text)
}

/// Line and column in a file, both from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Position {
    pub(crate) line: u64,
    pub(crate) column: u64,
}

impl Position {
    /// The first character of a file.
    pub(crate) const START: Self = Self { line: 1, column: 1 };
}

/// A value and where it begins.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Node {
    pub(crate) at: Position,
    pub(crate) value: Value,
}

/// A key and where it begins.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Key {
    pub(crate) at: Position,
    pub(crate) text: String,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Value {
    Null,
    Bool(bool),
    Number(f64),
    Text(String),
    List(Vec<Node>),
    Map(Vec<(Key, Node)>),
}

impl Value {
    /// What the value is, for "expected ..., found ..." messages.
    pub(crate) fn describe(&self) -> String {
        match self {
            Self::Null => "nothing".to_owned(),
            Self::Bool(value) => format!("the boolean {value}"),
            Self::Number(value) => format!("the number {value}"),
            Self::Text(text) => format!("the text {text:?}"),
            Self::List(items) => format!("a list of {}", items.len()),
            Self::Map(_) => "a mapping".to_owned(),
        }
    }
}

/// A document that is not well-formed YAML.
#[derive(Debug)]
pub(crate) struct SyntaxError {
    pub(crate) at: Position,
    pub(crate) message: String,
}

/// Parses one document.
pub(crate) fn parse(text: &str) -> Result<Node, SyntaxError> {
    let options = serde_saphyr::options! {
        with_snippet: false,
        duplicate_keys: DuplicateKeyPolicy::Error,
        merge_keys: MergeKeyPolicy::Error,
        reject_unsupported_tags: true,
        // Reported by the reader of the field, with the field's name.
        non_finite_float_policy: NonFiniteFloatPolicy::PassThrough,
    };
    serde_saphyr::from_str_with_options::<Spanned<Bare>>(text, options).map(Node::from).map_err(|error| {
        let at =
            error.location().map_or(Position::START, |at| Position { line: at.line(), column: at.column() });
        SyntaxError { at, message: error.without_snippet().to_string() }
    })
}

/// A node as serde sees it; [`Node`] drops the second location of aliases.
enum Bare {
    Null,
    Bool(bool),
    Number(f64),
    Text(String),
    List(Vec<Spanned<Bare>>),
    Map(Vec<(Spanned<String>, Spanned<Bare>)>),
}

fn position<T>(spanned: &Spanned<T>) -> Position {
    Position { line: spanned.referenced.line(), column: spanned.referenced.column() }
}

impl From<Spanned<Bare>> for Node {
    fn from(spanned: Spanned<Bare>) -> Self {
        let at = position(&spanned);
        let value = match spanned.value {
            Bare::Null => Value::Null,
            Bare::Bool(value) => Value::Bool(value),
            Bare::Number(value) => Value::Number(value),
            Bare::Text(text) => Value::Text(text),
            Bare::List(items) => Value::List(items.into_iter().map(Self::from).collect()),
            Bare::Map(entries) => Value::Map(
                entries
                    .into_iter()
                    .map(|(key, value)| (Key { at: position(&key), text: key.value }, Self::from(value)))
                    .collect(),
            ),
        };
        Self { at, value }
    }
}

impl<'de> Deserialize<'de> for Bare {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(BareVisitor)
    }
}

struct BareVisitor;

impl<'de> Visitor<'de> for BareVisitor {
    type Value = Bare;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a YAML value")
    }

    fn visit_unit<E>(self) -> Result<Bare, E> {
        Ok(Bare::Null)
    }

    fn visit_none<E>(self) -> Result<Bare, E> {
        Ok(Bare::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Bare, E> {
        Ok(Bare::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Bare, E> {
        Ok(Bare::Number(value as f64))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Bare, E> {
        Ok(Bare::Number(value as f64))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Bare, E> {
        Ok(Bare::Number(value))
    }

    fn visit_str<E>(self, text: &str) -> Result<Bare, E> {
        Ok(Bare::Text(text.to_owned()))
    }

    fn visit_string<E>(self, text: String) -> Result<Bare, E> {
        Ok(Bare::Text(text))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Bare, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = seq.next_element()? {
            items.push(item);
        }
        Ok(Bare::List(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Bare, A::Error> {
        let mut entries = Vec::new();
        while let Some(entry) = map.next_entry()? {
            entries.push(entry);
        }
        Ok(Bare::Map(entries))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_and_values_know_where_they_stand() {
        let node = parse("a: 1\nb:\n  c: [2.5, x]\n").unwrap();
        let Value::Map(entries) = node.value else { panic!("a mapping") };
        assert_eq!(entries[1].0.at, Position { line: 2, column: 1 });
        let Value::Map(inner) = &entries[1].1.value else { panic!("a mapping") };
        assert_eq!(inner[0].0, Key { at: Position { line: 3, column: 3 }, text: "c".to_owned() });
        let Value::List(items) = &inner[0].1.value else { panic!("a list") };
        assert_eq!(
            items[1],
            Node { at: Position { line: 3, column: 12 }, value: Value::Text("x".to_owned()) }
        );
    }

    #[test]
    fn broken_documents_say_where() {
        let error = parse("a: 1\nb: [1, 2\n").unwrap_err();
        assert!(error.at.line >= 2, "{error:?}");
        let error = parse("a: 1\na: 2\n").unwrap_err();
        assert_eq!(error.at.line, 2);
        assert!(error.message.contains("duplicate"), "{}", error.message);
    }

    #[test]
    fn special_numbers_arrive_as_numbers() {
        for text in [".nan", ".inf", "-.inf", "1e999"] {
            assert!(
                matches!(parse(text).unwrap().value, Value::Number(value) if !value.is_finite()),
                "{text}"
            );
        }
    }
}
