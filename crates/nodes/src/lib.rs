//! The ROS 2 side of Promenade: each node is one module here and one thin executable in `src/bin`.
//!
//! Nodes convert between wire and layer and own every thread. They must never decide anything: behaviour lives in the
//! crates that know no ROS, and nothing that arrives on a topic may end a node.

pub mod arena_humansim;
pub mod arena_humansim_viz;
pub mod bus;
pub mod dummy_sim;
pub mod hri;
pub mod human_simulator;
pub mod hunav;
#[cfg(feature = "hunav")]
pub mod hunav_evaluator;
mod log;
pub mod possess;
pub mod robot_world;
pub mod ros;
pub mod sim_clock;
pub mod tf;
