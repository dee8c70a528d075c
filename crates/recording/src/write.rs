//! Bags that ROS 2 tools play: mcap with the profile of rosbag2.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::BufWriter;
use std::path::Path;

use mcap::records::MessageHeader;
use mcap::{WriteOptions, Writer};

use crate::definition;

/// Quality of service that players offer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Durability {
    /// For whoever listens.
    Volatile,
    /// The last message also for whoever comes later.
    Latched,
}

impl Durability {
    fn profile(self) -> &'static str {
        match self {
            Durability::Volatile => "- {history: 1, depth: 10, reliability: 1, durability: 2}\n",
            Durability::Latched => "- {history: 1, depth: 1, reliability: 1, durability: 1}\n",
        }
    }
}

/// Why a bag is not written.
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    /// The file.
    #[error(transparent)]
    Io(#[from] std::io::Error),
    /// Its content.
    #[error(transparent)]
    Mcap(#[from] mcap::McapError),
    /// A message whose definition is not known.
    #[error("the definition of {0} is not known")]
    Definition(String),
}

/// A topic of a bag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Channel(u16);

/// A bag under way. It has to be finished, else it has no index.
pub struct BagWriter {
    writer: Writer<BufWriter<File>>,
    written: u64,
}

impl BagWriter {
    /// Begins a bag at a path.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub fn create(path: &Path) -> Result<Self, WriteError> {
        Self::new(File::create(path)?)
    }

    /// Begins a bag in an empty file.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub fn new(file: File) -> Result<Self, WriteError> {
        let options =
            WriteOptions::new().profile("ros2").library(concat!("promenade ", env!("CARGO_PKG_VERSION")));
        Ok(BagWriter { writer: options.create(BufWriter::new(file))?, written: 0 })
    }

    /// Adds a topic with messages of a type (`package/msg/Name`).
    ///
    /// # Errors
    /// A type whose definition is not known, or a file that cannot be written.
    pub fn channel(
        &mut self,
        topic: &str,
        message: &str,
        durability: Durability,
    ) -> Result<Channel, WriteError> {
        let text = definition(message).ok_or_else(|| WriteError::Definition(message.to_owned()))?;
        let schema = self.writer.add_schema(message, "ros2msg", text.as_bytes())?;
        let metadata = BTreeMap::from([("offered_qos_profiles".to_owned(), durability.profile().to_owned())]);
        Ok(Channel(self.writer.add_channel(schema, topic, "cdr", &metadata)?))
    }

    /// Writes the CDR of a message that was sent at a time, nanoseconds.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub fn write(&mut self, channel: Channel, time_ns: u64, message: &[u8]) -> Result<(), WriteError> {
        let header = MessageHeader {
            channel_id: channel.0,
            sequence: self.written as u32,
            log_time: time_ns,
            publish_time: time_ns,
        };
        self.writer.write_to_known_channel(&header, message)?;
        self.written += 1;
        Ok(())
    }

    /// Messages so far.
    #[must_use]
    pub fn written(&self) -> u64 {
        self.written
    }

    /// Writes the index.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub fn finish(&mut self) -> Result<(), WriteError> {
        self.writer.finish()?;
        Ok(())
    }
}
