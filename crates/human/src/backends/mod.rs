//! The backends of this crate.

pub mod arena;
pub mod dummy;
pub mod hunav;
