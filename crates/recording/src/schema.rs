//! Definitions of messages as a bag brings them, and fields by name.
//!
//! A definition is the text of a `.msg` file, followed by those of the messages it holds, each behind a line of `=` and one that names it.

use std::collections::BTreeMap;

use crate::cdr::{Cursor, DecodeError};

/// More than any definition has; beyond, a file is broken or hostile.
const MOST_STRUCTS: usize = 1000;
const MOST_FIELDS: usize = 100_000;
const DEEPEST: usize = 32;

/// Why a definition cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SchemaError {
    /// A line that declares nothing.
    #[error("the definition of {message} has the line {line:?}; expected a type and a name")]
    Line {
        /// Of which message.
        message: String,
        /// The line.
        line: String,
    },
    /// A message that is not defined.
    #[error("{message} holds a {missing}, whose definition is missing")]
    Missing {
        /// Which message.
        message: String,
        /// What it holds.
        missing: String,
    },
    /// Messages that hold themselves, or are nested too deeply.
    #[error("{0} is nested too deeply")]
    Deep(String),
    /// Too many messages or fields.
    #[error("the definition of {0} is too large")]
    Large(String),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Bool,
    I8,
    U8,
    I16,
    U16,
    I32,
    U32,
    I64,
    U64,
    F32,
    F64,
    Text,
    WideText,
    Struct(usize),
}

impl Kind {
    fn primitive(word: &str) -> Option<Kind> {
        Some(match word {
            "bool" => Kind::Bool,
            "int8" => Kind::I8,
            "uint8" | "byte" | "char" => Kind::U8,
            "int16" => Kind::I16,
            "uint16" => Kind::U16,
            "int32" => Kind::I32,
            "uint32" => Kind::U32,
            "int64" => Kind::I64,
            "uint64" => Kind::U64,
            "float32" => Kind::F32,
            "float64" => Kind::F64,
            "string" => Kind::Text,
            "wstring" => Kind::WideText,
            _ => return None,
        })
    }

    /// Bytes of a number.
    fn size(self) -> Option<usize> {
        Some(match self {
            Kind::Bool | Kind::I8 | Kind::U8 => 1,
            Kind::I16 | Kind::U16 => 2,
            Kind::I32 | Kind::U32 | Kind::F32 => 4,
            Kind::I64 | Kind::U64 | Kind::F64 => 8,
            Kind::Text | Kind::WideText | Kind::Struct(_) => return None,
        })
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Count {
    One,
    Fixed(usize),
    Sequence,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Field {
    name: String,
    kind: Kind,
    count: Count,
}

/// How the bytes of a message are laid out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Schema {
    /// The message itself comes first.
    structs: Vec<Vec<Field>>,
}

impl Schema {
    /// Reads a definition of `message` (`package/msg/Name`).
    ///
    /// # Errors
    /// A definition that is broken, incomplete, or larger than any is.
    pub fn parse(message: &str, definition: &str) -> Result<Self, SchemaError> {
        let mut texts: BTreeMap<String, &str> = BTreeMap::new();
        let mut name = short(message);
        for part in split(definition) {
            let (own, text) = match part.trim_start().strip_prefix("MSG: ") {
                Some(rest) => {
                    let (line, text) = rest.split_once('\n').unwrap_or((rest, ""));
                    (short(line.trim()), text)
                }
                None => (std::mem::take(&mut name), part),
            };
            texts.entry(own).or_insert(text);
            if texts.len() > MOST_STRUCTS {
                return Err(SchemaError::Large(message.to_owned()));
            }
        }
        let mut reading = Parser { texts, numbers: BTreeMap::new(), structs: Vec::new(), fields: 0 };
        reading.structure(&short(message), 0)?;
        Ok(Schema { structs: reading.structs })
    }

    /// Visits the fields of a message in their order; whatever `visit` does not read is passed over.
    ///
    /// # Errors
    /// Bytes that are not of this definition, or what `visit` says.
    pub fn decode(
        &self,
        message: &[u8],
        visit: &mut dyn FnMut(&mut Item<'_, '_>) -> Result<(), DecodeError>,
    ) -> Result<(), DecodeError> {
        let mut cursor = Cursor::new(message)?;
        self.fields(0, &mut cursor, visit)
    }

    fn fields(
        &self,
        structure: usize,
        cursor: &mut Cursor<'_>,
        visit: &mut dyn FnMut(&mut Item<'_, '_>) -> Result<(), DecodeError>,
    ) -> Result<(), DecodeError> {
        for field in &self.structs[structure] {
            let mut item = Item {
                schema: self,
                name: &field.name,
                kind: field.kind,
                count: field.count,
                cursor,
                is_read: false,
            };
            visit(&mut item)?;
            item.finish()?;
        }
        if self.structs[structure].is_empty() {
            // A structure without members has one on the wire.
            cursor.take::<1>()?;
        }
        Ok(())
    }

    fn skip(&self, kind: Kind, cursor: &mut Cursor<'_>) -> Result<(), DecodeError> {
        match (kind, kind.size()) {
            (Kind::Struct(structure), _) => self.fields(structure, cursor, &mut |_| Ok(())),
            (Kind::WideText, _) => {
                let length = cursor.length()?;
                cursor.pass(2, length)
            }
            (_, Some(size)) => cursor.pass(size, 1),
            (_, None) => {
                let length = cursor.length()?;
                cursor.pass(1, length)
            }
        }
    }
}

/// A definition at its lines of `=`.
fn split(definition: &str) -> impl Iterator<Item = &str> {
    let mut rest = Some(definition);
    std::iter::from_fn(move || {
        let text = rest?;
        let mut at = 0;
        for line in text.split_inclusive('\n') {
            if line.len() >= 40 && line.trim_end().bytes().all(|byte| byte == b'=') {
                rest = Some(&text[at + line.len()..]);
                return Some(&text[..at]);
            }
            at += line.len();
        }
        rest = None;
        Some(text)
    })
}

/// `package/Name` of `package/msg/Name`.
fn short(name: &str) -> String {
    name.replacen("/msg/", "/", 1)
}

struct Parser<'a> {
    texts: BTreeMap<String, &'a str>,
    numbers: BTreeMap<String, usize>,
    structs: Vec<Vec<Field>>,
    fields: usize,
}

impl Parser<'_> {
    /// The number of a message of the definition.
    fn structure(&mut self, name: &str, depth: usize) -> Result<usize, SchemaError> {
        if depth > DEEPEST {
            return Err(SchemaError::Deep(name.to_owned()));
        }
        if let Some(number) = self.numbers.get(name) {
            // One that is not complete yet holds itself.
            return match *number {
                usize::MAX => Err(SchemaError::Deep(name.to_owned())),
                number => Ok(number),
            };
        }
        let text = self
            .texts
            .get(name)
            .copied()
            .ok_or_else(|| SchemaError::Missing { message: name.to_owned(), missing: name.to_owned() })?;
        self.numbers.insert(name.to_owned(), usize::MAX);
        let number = self.structs.len();
        self.structs.push(Vec::new());
        let mut fields = Vec::new();
        for line in text.lines() {
            let line = line.split('#').next().unwrap_or_default().trim();
            if line.is_empty() {
                continue;
            }
            fields.extend(self.field(name, line, depth)?);
            self.fields += 1;
            if self.fields > MOST_FIELDS {
                return Err(SchemaError::Large(name.to_owned()));
            }
        }
        self.structs[number] = fields;
        self.numbers.insert(name.to_owned(), number);
        Ok(number)
    }

    /// The field of a line; none for a constant.
    fn field(&mut self, message: &str, line: &str, depth: usize) -> Result<Option<Field>, SchemaError> {
        let bad = || SchemaError::Line { message: message.to_owned(), line: line.to_owned() };
        let (ty, rest) = line.split_once(char::is_whitespace).ok_or_else(bad)?;
        let name = rest.trim_start().split(|sign: char| sign.is_whitespace() || sign == '=').next();
        let name = name.filter(|name| !name.is_empty()).ok_or_else(bad)?;
        if rest.trim_start()[name.len()..].trim_start().starts_with('=') {
            return Ok(None);
        }
        let (element, count) = match ty.strip_suffix(']').and_then(|ty| ty.split_once('[')) {
            None => (ty, Count::One),
            Some((element, "")) => (element, Count::Sequence),
            Some((element, bound)) if bound.starts_with("<=") => (element, Count::Sequence),
            Some((element, count)) => (element, Count::Fixed(count.parse().map_err(|_| bad())?)),
        };
        let word = element.split("<=").next().unwrap_or_default();
        let kind = match Kind::primitive(word) {
            Some(kind) => kind,
            None => {
                let package = message.split('/').next().unwrap_or_default();
                let full = match word {
                    "Header" => "std_msgs/Header".to_owned(),
                    word if word.contains('/') => short(word),
                    word => format!("{package}/{word}"),
                };
                let found = self.structure(&full, depth + 1);
                Kind::Struct(found.map_err(|error| match error {
                    SchemaError::Missing { missing, .. } if missing == full => {
                        SchemaError::Missing { message: message.to_owned(), missing }
                    }
                    other => other,
                })?)
            }
        };
        Ok(Some(Field { name: name.to_owned(), kind, count }))
    }
}

/// A field of a message that is being read.
#[derive(Debug)]
pub struct Item<'s, 'a> {
    schema: &'s Schema,
    name: &'s str,
    kind: Kind,
    count: Count,
    cursor: &'s mut Cursor<'a>,
    is_read: bool,
}

impl Item<'_, '_> {
    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        self.name
    }

    /// Whether it holds fields of its own.
    #[must_use]
    pub fn is_structure(&self) -> bool {
        matches!((self.kind, self.count), (Kind::Struct(_), Count::One))
    }

    fn expect(&mut self, holds: bool, expected: &'static str) -> Result<(), DecodeError> {
        if !holds || self.is_read {
            return Err(DecodeError::Kind { field: self.name.to_owned(), expected });
        }
        self.is_read = true;
        Ok(())
    }

    /// Its number; whole numbers beyond 2^53 are rounded.
    ///
    /// # Errors
    /// A field that is no number, or bytes that end too early.
    pub fn number(&mut self) -> Result<f64, DecodeError> {
        self.expect(self.count == Count::One && self.kind.size().is_some(), "number")?;
        let cursor = &mut *self.cursor;
        Ok(match self.kind {
            Kind::Bool | Kind::U8 => f64::from(u8::from_le_bytes(cursor.take()?)),
            Kind::I8 => f64::from(i8::from_le_bytes(cursor.take()?)),
            Kind::I16 => f64::from(i16::from_le_bytes(cursor.take()?)),
            Kind::U16 => f64::from(u16::from_le_bytes(cursor.take()?)),
            Kind::I32 => f64::from(i32::from_le_bytes(cursor.take()?)),
            Kind::U32 => f64::from(u32::from_le_bytes(cursor.take()?)),
            Kind::I64 => i64::from_le_bytes(cursor.take()?) as f64,
            Kind::U64 => u64::from_le_bytes(cursor.take()?) as f64,
            Kind::F32 => f64::from(f32::from_le_bytes(cursor.take()?)),
            Kind::F64 | Kind::Text | Kind::WideText | Kind::Struct(_) => f64::from_le_bytes(cursor.take()?),
        })
    }

    /// Its text, into `text`, whose memory is used again.
    ///
    /// # Errors
    /// A field that is no text, or bytes that are none.
    pub fn text(&mut self, text: &mut String) -> Result<(), DecodeError> {
        self.expect(self.count == Count::One && self.kind == Kind::Text, "text")?;
        text.clear();
        text.push_str(self.cursor.text()?);
        Ok(())
    }

    /// Visits the fields that it holds.
    ///
    /// # Errors
    /// A field that holds none, or what `visit` says.
    pub fn fields(
        &mut self,
        visit: &mut dyn FnMut(&mut Item<'_, '_>) -> Result<(), DecodeError>,
    ) -> Result<(), DecodeError> {
        let holds = self.is_structure();
        self.expect(holds, "message")?;
        match self.kind {
            Kind::Struct(structure) => self.schema.fields(structure, self.cursor, visit),
            _ => Ok(()),
        }
    }

    /// Visits the items of a sequence or an array.
    ///
    /// # Errors
    /// A field that is neither, or what `visit` says.
    pub fn each(
        &mut self,
        visit: &mut dyn FnMut(&mut Item<'_, '_>) -> Result<(), DecodeError>,
    ) -> Result<(), DecodeError> {
        self.expect(self.count != Count::One, "sequence")?;
        let count = match self.count {
            Count::Fixed(count) => count,
            _ => self.cursor.length()?,
        };
        for _ in 0..count {
            let mut item = Item {
                schema: self.schema,
                name: self.name,
                kind: self.kind,
                count: Count::One,
                cursor: self.cursor,
                is_read: false,
            };
            visit(&mut item)?;
            item.finish()?;
        }
        Ok(())
    }

    /// Passes over what nobody read.
    fn finish(&mut self) -> Result<(), DecodeError> {
        if self.is_read {
            return Ok(());
        }
        self.is_read = true;
        let count = match self.count {
            Count::One => 1,
            Count::Fixed(count) => count,
            Count::Sequence => self.cursor.length()?,
        };
        match self.kind.size() {
            Some(size) => self.cursor.pass(size, count),
            None => (0..count).try_for_each(|_| self.schema.skip(self.kind, self.cursor)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cdr::Encoder;

    const RULE: &str = "================================================================================";

    fn schema(text: &str) -> Result<Schema, SchemaError> {
        Schema::parse("p/msg/M", &text.replace("---", RULE))
    }

    #[test]
    fn fields_are_found_by_name_and_all_else_is_passed_over() {
        let schema = schema(
            "# Comment\nuint8 KIND=3\nHeader header\nstring<=9 name \"x\"\nfloat64[3] place\nq/Part[] parts # more\nint8 last\n\
             ---\nMSG: std_msgs/Header\nstring frame\n---\nMSG: q/Part\nbool on\nfloat32[] many\nEmpty e\n---\nMSG: q/Empty\n",
        )
        .expect("a definition");
        let mut encoder = Encoder::default();
        encoder.begin().text(b"map").text(b"ab").numbers(&[1.0, 2.0, 3.0_f64]).length(2);
        for on in [true, false] {
            encoder.number(on).length(2).numbers(&[0.5_f32, 1.5]).number(0_u8);
        }
        encoder.number(-7_i8);
        let (mut name, mut sum, mut last, mut on) = (String::new(), 0.0, 0.0, Vec::new());
        schema
            .decode(encoder.bytes(), &mut |item| match item.name() {
                "name" => item.text(&mut name),
                "place" => item.each(&mut |item| item.number().map(|value| sum += value)),
                "parts" => item.each(&mut |item| {
                    item.fields(&mut |item| {
                        if item.name() == "on" {
                            on.push(item.number()?);
                        }
                        Ok(())
                    })
                }),
                "last" => item.number().map(|value| last = value),
                _ => Ok(()),
            })
            .expect("a message");
        assert_eq!((name.as_str(), sum, last, on.as_slice()), ("ab", 6.0, -7.0, [1.0, 0.0].as_slice()));
        let mut wrong = |item: &mut Item<'_, '_>| item.number().map(|_| ());
        let error = schema.decode(encoder.bytes(), &mut wrong).expect_err("a header is no number");
        assert_eq!(error.to_string(), "field header is no number");
    }

    #[test]
    fn a_broken_definition_says_what_is_missing() {
        for (text, expected) in [
            ("float64", "the line \"float64\""),
            ("float64[x] a", "the line \"float64[x] a\""),
            ("Part part", "p/M holds a p/Part, whose definition is missing"),
            ("M me", "p/M is nested too deeply"),
        ] {
            let error = schema(text).expect_err(text).to_string();
            assert!(error.contains(expected), "{error}");
        }
        let deep: String = (0..40).map(|i| format!("S{} s\n---\nMSG: p/S{i}\n", i)).collect();
        assert!(matches!(schema(&deep), Err(SchemaError::Deep(_) | SchemaError::Missing { .. })));
    }

    #[test]
    fn a_message_of_the_other_endianness_is_read_too() {
        let schema = schema("uint8 a\nfloat64 b").expect("a definition");
        let mut bytes = vec![0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0];
        bytes.extend(2.5_f64.to_be_bytes());
        let mut found = 0.0;
        let mut visit = |item: &mut Item<'_, '_>| {
            if item.name() == "b" {
                found = item.number()?;
            }
            Ok(())
        };
        schema.decode(&bytes, &mut visit).expect("a message");
        assert_eq!(found, 2.5);
        let short = &bytes[..bytes.len() - 1];
        assert_eq!(schema.decode(short, &mut |_| Ok(())), Err(DecodeError::Short(15)));
        bytes[1] = 9;
        assert_eq!(schema.decode(&bytes, &mut |_| Ok(())), Err(DecodeError::Encoding(9)));
    }
}
