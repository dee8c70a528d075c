//! Elementary functions that compilers turn into vector code: no branches, no table, no call.
//!
//! Every operation is an IEEE one in a fixed order, so that a result depends on its arguments alone and not on the machine: what a crowd does
//! in vectors of eight is what it does one by one.

mod angle;
mod exponential;

pub use angle::{LARGEST_ANGLE, atan2, sin_cos, wrap};
pub use exponential::exponential;
