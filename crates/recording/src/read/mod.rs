//! Bags of any recorder, message by message: mcap files, whole or cut off, compressed or not, and rosbag2's sqlite files.
//!
//! Bags are read from front to back in one pass with bounded memory.

mod mcap_file;
mod sqlite;

use std::path::{Path, PathBuf};

use crate::cdr::DecodeError;
use crate::{Schema, SchemaError, definition};

/// A topic of a bag.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Topic {
    /// Its name.
    pub name: String,
    /// Type of its messages, `package/msg/Name`.
    pub message: String,
}

/// Who reads a bag.
pub trait Visitor {
    /// Whether the messages of a topic are wanted; the number comes back with each.
    fn topic(&mut self, topic: &Topic) -> Option<usize>;

    /// A message and when it was received, nanoseconds. An error is counted, and the reading goes on.
    ///
    /// # Errors
    /// A message that is not of its definition.
    fn message(
        &mut self,
        topic: usize,
        time_ns: u64,
        schema: &Schema,
        message: &[u8],
    ) -> Result<(), DecodeError>;

    /// How many bytes of how many have been read. False ends the reading.
    fn progress(&mut self, _done: u64, _of: u64) -> bool {
        true
    }
}

/// What there was to read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reading {
    /// Every topic, in the order of the bag.
    pub topics: Vec<Topic>,
    /// Messages that the visitor took.
    pub messages: u64,
    /// Messages that are not of their definition.
    pub bad_messages: u64,
    /// The first of them.
    pub first_bad: Option<String>,
    /// Why the bag ends early, if it does.
    pub cut_off: Option<String>,
}

/// Why a bag cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The file system.
    #[error("cannot read {path}")]
    Io {
        /// What could not be read.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// Neither of the formats.
    #[error("{0} is no bag: expected an .mcap or .db3 file, or a folder with such files")]
    Format(PathBuf),
    /// Messages with an encoding that is not CDR.
    #[error("the messages of {topic} are encoded as {encoding:?}; expected cdr")]
    Encoding {
        /// The topic.
        topic: String,
        /// Its encoding.
        encoding: String,
    },
    /// A definition that cannot be used.
    #[error("topic {topic}")]
    Schema {
        /// The topic.
        topic: String,
        /// Why.
        source: SchemaError,
    },
    /// A type without a definition.
    #[error("the bag has no definition of {message} on {topic}, and it is not one that Promenade knows")]
    NoDefinition {
        /// The topic.
        topic: String,
        /// The type.
        message: String,
    },
    /// A database.
    #[error("{path} is no bag that can be read")]
    Sqlite {
        /// The file.
        path: PathBuf,
        /// Why.
        source: rusqlite::Error,
    },
}

/// What a visitor wants of a topic.
struct Wanted {
    number: usize,
    schema: Schema,
}

/// A reading under way.
struct Pass<'v> {
    visitor: &'v mut dyn Visitor,
    reading: Reading,
    done: u64,
    total: u64,
}

impl Pass<'_> {
    /// Asks for a topic; `text` is the definition that the bag has.
    fn topic(
        &mut self,
        topic: Topic,
        encoding: &str,
        text: Option<&str>,
    ) -> Result<Option<Wanted>, ReadError> {
        let wanted = self.visitor.topic(&topic);
        let name = topic.name.clone();
        let message = topic.message.clone();
        if !self.reading.topics.contains(&topic) {
            self.reading.topics.push(topic);
        }
        let Some(number) = wanted else { return Ok(None) };
        if encoding != "cdr" {
            return Err(ReadError::Encoding { topic: name, encoding: encoding.to_owned() });
        }
        let text = match text {
            Some(text) => text.to_owned(),
            None => definition(&message)
                .ok_or_else(|| ReadError::NoDefinition { topic: name.clone(), message: message.clone() })?,
        };
        let schema =
            Schema::parse(&message, &text).map_err(|source| ReadError::Schema { topic: name, source })?;
        Ok(Some(Wanted { number, schema }))
    }

    fn message(&mut self, wanted: &Wanted, time_ns: u64, message: &[u8]) {
        match self.visitor.message(wanted.number, time_ns, &wanted.schema, message) {
            Ok(()) => self.reading.messages += 1,
            Err(error) => {
                self.reading.bad_messages += 1;
                self.reading.first_bad.get_or_insert_with(|| error.to_string());
            }
        }
    }

    /// Tells of the progress; whether to go on.
    fn advance(&mut self, bytes: u64) -> bool {
        self.done = self.total.min(self.done + bytes);
        self.visitor.progress(self.done, self.total)
    }
}

/// Reads a bag: a file, or a folder of files in the order of their names.
///
/// # Errors
/// What is no bag, or one of whose wanted topics no message could be understood. A bag that is cut off is no error: its rest counts.
pub fn read(path: &Path, visitor: &mut dyn Visitor) -> Result<Reading, ReadError> {
    let files = files(path)?;
    let size = |file: &PathBuf| std::fs::metadata(file).map_or(0, |data| data.len());
    let mut pass =
        Pass { visitor, reading: Reading::default(), done: 0, total: files.iter().map(size).sum() };
    for file in &files {
        let goes_on = match is_mcap(file) {
            true => mcap_file::read(file, &mut pass)?,
            false => sqlite::read(file, size(file), &mut pass)?,
        };
        if !goes_on {
            break;
        }
    }
    Ok(pass.reading)
}

fn is_mcap(path: &Path) -> bool {
    path.extension().is_some_and(|end| end == "mcap")
}

fn files(path: &Path) -> Result<Vec<PathBuf>, ReadError> {
    let io = |source| ReadError::Io { path: path.to_owned(), source };
    let is_bag = |path: &Path| is_mcap(path) || path.extension().is_some_and(|end| end == "db3");
    if !std::fs::metadata(path).map_err(io)?.is_dir() {
        return if is_bag(path) {
            Ok(vec![path.to_owned()])
        } else {
            Err(ReadError::Format(path.to_owned()))
        };
    }
    let mut found = Vec::new();
    for entry in std::fs::read_dir(path).map_err(io)? {
        let file = entry.map_err(io)?.path();
        if is_bag(&file) && file.is_file() {
            found.push(file);
        }
    }
    // rosbag2 numbers its files: shorter names come first, so that _10 follows _9.
    found.sort_by(|a, b| (a.as_os_str().len(), a).cmp(&(b.as_os_str().len(), b)));
    if found.is_empty() { Err(ReadError::Format(path.to_owned())) } else { Ok(found) }
}
