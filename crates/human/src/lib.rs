//! The human layer: who exists, who moves whom, and what goes out on the bus.
//!
//! It sits between an episode loop, a physics simulator ([`Sim`]) and a pedestrian engine ([`HumanSimulator`]), and owns
//! lifecycle, possession and articulation. It knows no ROS: nodes and the embedded mode implement its ports. Nothing in
//! this crate may read wall time or depend on the order of a hash map.

pub mod backend;
pub mod backends;
mod bus;
pub mod entity;
mod environment;
pub mod episode;
mod frames;
pub mod known;
mod layer;
pub mod live;
pub mod message;
mod model;
pub mod outbox;
pub mod parameter;
mod possession;
pub mod record;
pub mod robot;
mod sim;
pub mod sims;
mod steer;
mod stimulus;
pub mod walker;
mod wheels;

pub use backend::{
    BackendContext, BackendError, BusName, Factory, HumanSimulator, LockstepChannel, Registry,
};
pub use bus::{BuiltInTypes, load_motions};
pub use environment::{Environment, EpisodeLoopError};
pub use frames::{ClockStep, Clocked, Frames, Ticked};
pub use layer::{EVERYBODY, HumanLayer, LayerCx, MAP_FRAME, MoveResult, Obstacle, PED_RADIUS, ROBOT_RADIUS};
pub use model::{FALLBACK_MODEL, HumanModels, NoModels};
pub use outbox::{BusFrame, BusPedestrian, Outbox};
pub use parameter::{Parameter, ParameterValue};
pub use possession::{StreamStats, TIMEOUT as POSSESSION_TIMEOUT};
pub use record::{EpisodePlan, EpisodeRecord, Outcome, QueueRequest, RecordTopic};
pub use robot::{NoTransforms, Robot, TrackedRobot, Transforms};
pub use sim::{DummySim, Sim};
