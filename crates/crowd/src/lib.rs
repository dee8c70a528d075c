//! The pedestrian engine behind `human:=arena`, without a node around it (crowd-engine specification).
//!
//! [`Crowd::step`] is the tick: everybody looks around, gets a sub-goal, plans a velocity, is held to what a body can do, moves, and is
//! pushed out of others and of walls. Same seed and same requests at the same ticks give the same run, whatever the number of threads.
//! The crate does no I/O and knows neither ROS nor wall time.

pub mod analysis;
pub mod capsule;
pub mod collision;
pub mod engine;
mod error;
pub mod global;
pub mod grid;
mod hidden;
mod improvements;
pub mod kinematics;
pub mod locomotion;
pub mod occlusion;
pub mod perception;
pub mod planner;
pub mod pool;
pub mod protocol;
pub mod run_file;
pub mod sampling;
pub mod scenario;
mod settings;
pub mod spawn;
mod step;
pub mod trajectory;
pub mod validation;
pub mod walls;
pub mod workload;
mod yielding;

pub use engine::{Engine, EngineError, ParameterRange, ParameterRule};
pub use error::CrowdError;
pub use global::GlobalPlanner;
pub use improvements::Improvements;
pub use occlusion::OcclusionMode;
pub use pool::{Kind, Pool};
pub use sampling::{AgentParameters, Handedness};
pub use settings::Settings;
pub use spawn::SpawnRequest;
pub use step::{Crowd, Phase};
pub use trajectory::Trajectory;
pub use walls::{Segment, Wall, WallIndex, WallSet};
