//! Occupancy maps as obstacles, as grids for planners, and the fog over what no robot has seen (robot-world specification, section 14).
//!
//! A map is read or generated before a world is made of it and never changes.

mod cells;
mod fog;
mod planner;
mod ray;
pub mod source;

pub use cells::Cells;
pub use fog::Fog;
pub use planner::PlannerGrid;
