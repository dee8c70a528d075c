//! What the ROS conformance tests share: a domain of their own, nodes under test, a stage with an exact clock, and
//! bounded waiting.
//!
//! Nothing here sleeps: a test drives its r2r node until what it waits for has happened, and fails after a deadline that
//! only a broken system reaches. Simulated time is published by the test itself, so that it is exact to the nanosecond.

mod cast;
mod domain;
pub mod engine;
mod environment;
pub mod episodes;
pub mod foreign;
pub mod hunav;
mod process;
pub mod robot_world;
mod simulator;
pub mod soak;
mod stage;
pub mod wire;

use std::time::Duration;

pub use cast::{Cast, Thing};
pub use domain::own_domain;
pub use environment::{Environment, node_arguments};
pub use episodes::Episodes;
pub use process::{Ended, Process, executable, share};
pub use simulator::{Call, Resident, Simulator, Verb};
pub use stage::{Mailbox, Stage};

/// Longest wait for anything. DDS discovery on a loaded machine can take seconds.
pub const DEADLINE: Duration = Duration::from_secs(30);

/// Nanoseconds of a second.
pub const SECOND: i64 = 1_000_000_000;
