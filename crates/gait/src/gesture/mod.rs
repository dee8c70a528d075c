//! Gestures: who looks, points or plays a clip, and how that begins, follows its target and ends (human-layer
//! specification, section 14).
//!
//! Nothing is made up here: a slot acts while a channel asks for it. A generator that fails costs its slot and nothing
//! else. This module must never read a clock or a file; time steps come from outside, and clips from the manager.

mod arm;
mod channel;
mod generator;
mod layer;

pub use channel::{Channel, Channels, NoChannels};
pub use generator::Refusal;
pub use layer::{GestureLayer, Notice, Request};
