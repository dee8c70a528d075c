//! Recordings of ROS 2 topics without ROS.
//!
//! A message is bytes of CDR, and its definition lies beside it in the file. [`BagWriter`] writes what ROS 2 tools play; `read` (feature `reading`) takes bags of any
//! recorder, and [`Schema`] finds fields by the definition that the bag brings, so that messages whose definitions changed over the
//! years are all read. Nothing here knows what a message means, and no file, however broken, panics it.

pub mod cdr;
mod definition;
#[cfg(feature = "reading")]
mod read;
mod schema;
mod write;

pub use definition::definition;
#[cfg(feature = "reading")]
pub use read::{ReadError, Reading, Topic, Visitor, read};
pub use schema::{Item, Schema, SchemaError};
pub use write::{BagWriter, Channel, Durability, WriteError};
