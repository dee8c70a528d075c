//! The backends of this crate, one file each.

pub mod dummy;
