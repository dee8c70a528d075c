//! The entities that the layer registers: static objects, people, walls, doors, regions.
//!
//! Plain values. Where they came from (a scenario file, a service, a test) must not matter here.

use std::sync::Arc;

use promenade_scenario::{DynamicEntry, StaticEntry};
pub use promenade_scenario::{RegionKind, WaypointMode};

use crate::message::Pose;

/// A static object of the scene.
#[derive(Clone, Debug, PartialEq)]
pub struct StaticObstacle {
    /// Name as authored.
    pub name: String,
    /// Name below the environment's prefix, as the simulator knows it.
    pub sim_path: String,
    /// Model name.
    pub model: String,
    /// Pose in `map`.
    pub pose: Pose,
    /// Size in metres; `None` = unknown.
    pub scale: Option<[f64; 3]>,
    /// The entry of the file this came from: a backend reads what people can do with it there.
    pub entry: Option<Arc<StaticEntry>>,
}

/// A person as spawned.
#[derive(Clone, Debug, PartialEq)]
pub struct DynamicObstacle {
    /// Name as authored.
    pub name: String,
    /// Name below the environment's prefix, as the simulator knows it.
    pub sim_path: String,
    /// Model name.
    pub model: String,
    /// Absolute SDF path of the model, which the layer resolves when it spawns the person; empty = none.
    pub model_uri: String,
    /// Pose in `map`.
    pub pose: Pose,
    /// Authored walking speed in m/s.
    pub velocity: f64,
    /// Agent type name or file; empty = default.
    pub agent_type: String,
    /// Way-points in `map`: x, y in metres.
    pub waypoints: Vec<[f64; 2]>,
    /// Order in which the way-points are visited.
    pub waypoint_mode: WaypointMode,
    /// The scenario entry this came from: a backend reads its own keys there.
    pub entry: Option<Arc<DynamicEntry>>,
}

/// A straight wall on the floor plan.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Wall {
    /// Start x, y in metres.
    pub start: [f64; 2],
    /// End x, y in metres.
    pub end: [f64; 2],
}

/// A door; closed it is a wall on its line.
#[derive(Clone, Debug, PartialEq)]
pub struct Door {
    /// Name, unique in the world.
    pub name: String,
    /// The line that the closed door blocks.
    pub line: Wall,
}

/// A source or sink of people.
#[derive(Clone, Debug, PartialEq)]
pub struct Region {
    /// Name.
    pub name: String,
    /// Whether people appear here or vanish here, and how.
    pub kind: RegionKind,
    /// Corners, counter-clockwise, in `map`.
    pub polygon: Vec<[f64; 2]>,
}
