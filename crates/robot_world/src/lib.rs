//! Robots, obstacles, sensors and contact physics in a plane, from the YAML files that IR-SIM reads.
//!
//! A [`spec::WorldSpec`] is a file as data; a [`World`] is made of it with a seed and stepped. One step
//! ([`World::step`]) reads like section 7 of the robot-world specification: choose commands, move one object after the other, solve contacts,
//! sense, count, check. This crate knows no ROS, no clock but its own count of steps, and never reads the time or the machine's entropy.

pub mod behavior;
pub mod contact;
pub mod file;
pub mod index;
pub mod kinematics;
pub mod map;
pub mod objects;
pub mod place;
pub mod record;
pub mod registry;
pub mod sensor;
pub mod shape;
pub mod snapshot;
pub mod spec;
pub mod world;

pub use file::ReadOptions;
pub use kinematics::{Command, State};
pub use objects::Objects;
pub use registry::Registry;
pub use spec::WorldSpec;
pub use world::World;

/// A point or vector of the plane, metres.
pub type Point = [f64; 2];

/// `angle` moved into [-pi, pi); 0 for an angle that is not finite.
#[must_use]
pub fn wrap(angle: f64) -> f64 {
    use std::f64::consts::{PI, TAU};
    if angle.is_finite() { (angle + PI).rem_euclid(TAU) - PI } else { 0.0 }
}
