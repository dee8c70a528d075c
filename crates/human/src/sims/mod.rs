//! Simulators that run within the process.
//!
//! They are ports of the layer like any other [`Sim`](crate::Sim); nothing here may reach into it.

pub mod world;
