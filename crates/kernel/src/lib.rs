//! The kernel of a Promenade simulation: one integer-nanosecond clock, one world of entities, systems that run every
//! frame, systems that wait for events between frames, and keyed random streams.
//!
//! The kernel is single-threaded and deterministic. It never reads wall time and never prints.

mod clock;
mod random;

pub use clock::{FrameRate, Time};
pub use random::{Key, KeyedStreams, stable_int};
