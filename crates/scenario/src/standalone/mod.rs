//! Scenarios of the crowd engine alone: agents, walls, flow and agent types of their own in one file (crowd-engine specification,
//! section 26).
//!
//! Another grammar than the scenarios of worlds. What only behaviour would use (sequences, scripts, formations) is checked and kept as
//! written; nothing here runs anything.

mod behaviour;
mod expression;
mod flow;
mod read;
mod types;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::agent_type::ResolvedType;
use crate::decode::Decoder;
use crate::entry::WaypointMode;
use crate::problem::{Loaded, Report};
use crate::region::RatePoint;
use crate::tree::Node;

/// A scenario of the engine alone. Metres, radians, seconds.
#[derive(Debug, Clone, PartialEq)]
pub struct StandaloneScenario {
    /// The file it was read from.
    pub file: PathBuf,
    /// Its name; empty without one.
    pub name: String,
    /// What it shows.
    pub description: String,
    /// How it runs.
    pub simulation: Simulation,
    /// Who is there, or comes at a tick.
    pub agents: Vec<StandaloneAgent>,
    /// Agent types of the file, by name, with what they extend.
    pub agent_types: Vec<(String, Arc<ResolvedType>)>,
    /// Things people go to.
    pub world_objects: Vec<StandaloneObject>,
    /// Walls.
    pub walls: Vec<StandaloneWall>,
    /// Boxes in the way.
    pub obstacles: Vec<StandaloneObstacle>,
    /// Where people come in; `source_<i>` by index.
    pub sources: Vec<StandaloneSource>,
    /// Where people leave; `sink_<i>` by index.
    pub sinks: Vec<StandaloneSink>,
    /// Interactions that are arranged.
    pub interaction_scripts: Vec<InteractionScript>,
    /// Events that are fired.
    pub event_scripts: Vec<EventScript>,
}

/// How a scenario runs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Simulation {
    /// Seed of all random streams.
    pub seed: i64,
    /// Length of a tick.
    pub dt: f64,
    /// Ticks between decisions.
    pub bt_tick_interval: u32,
    /// Ticks to run; 0 = no end.
    pub max_ticks: u64,
    /// Scale of formations.
    pub formation_scale: f64,
    /// Whether it ends once every robot has arrived.
    pub robot_shutdown: bool,
}

impl Default for Simulation {
    fn default() -> Self {
        Self {
            seed: 0,
            dt: 0.05,
            bt_tick_interval: 5,
            max_ticks: 0,
            formation_scale: 1.0,
            robot_shutdown: false,
        }
    }
}

/// A goal, and how near counts as there; 0 = the engine's default.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Goal {
    /// x, y, theta.
    pub pose: [f64; 3],
    /// Radius.
    pub radius: f64,
}

/// Somebody in a standalone scenario.
#[derive(Debug, Clone, PartialEq)]
pub struct StandaloneAgent {
    /// Its id; 0 = whatever is free.
    pub agent_id: i32,
    /// Name of its type: of the file, built in, or a path.
    pub agent_type: String,
    /// Where it starts: x, y, theta.
    pub spawn_pose: [f64; 3],
    /// Where it goes.
    pub goals: Vec<Goal>,
    /// What it does at the end of its goals.
    pub waypoint_mode: WaypointMode,
    /// Speed it wants, m/s.
    pub desired_velocity: f64,
    /// Body radius.
    pub agent_radius: f64,
    /// Whether it is a robot.
    pub robot: bool,
    /// Local planner of its own; empty = the default.
    pub policy: String,
    /// JSON for the planner.
    pub policy_params: String,
    /// Tick it comes at.
    pub spawn_tick: u64,
}

/// Something people go to.
#[derive(Debug, Clone, PartialEq)]
pub struct StandaloneObject {
    /// Id.
    pub object_id: String,
    /// What it is.
    pub kind: String,
    /// x, y, theta.
    pub pose: [f64; 3],
    /// People it serves at a time.
    pub capacity: u32,
    /// Needs it satisfies, in file order.
    pub satisfies: Vec<(String, f64)>,
    /// How near one has to come; 0 = the default.
    pub interaction_radius: f64,
    /// Formation of its users; empty = that of the interaction.
    pub formation: String,
    /// Parameters of the formation, in file order.
    pub formation_params: Vec<(String, f64)>,
}

/// A wall.
#[derive(Debug, Clone, PartialEq)]
pub struct StandaloneWall {
    /// Name.
    pub name: String,
    /// One end.
    pub start: [f64; 2],
    /// The other end.
    pub end: [f64; 2],
}

/// A box in the way.
#[derive(Debug, Clone, PartialEq)]
pub struct StandaloneObstacle {
    /// Name.
    pub name: String,
    /// x, y, theta.
    pub pose: [f64; 3],
    /// Smallest and largest local x, y and z.
    pub bounds: [[f64; 2]; 3],
    /// What it is.
    pub obstacle_type: String,
    /// What people do with it.
    pub interaction_types: Vec<String>,
}

/// An area around a pose.
#[derive(Debug, Clone, PartialEq)]
pub enum StandaloneShape {
    /// Just the pose; what a polygon without vertices is.
    Point,
    /// A disc.
    Circle(f64),
    /// Corners, relative to the pose. Ours: the original format has no vertices.
    Polygon(Vec<[f64; 2]>),
}

/// Where people come in.
#[derive(Debug, Clone, PartialEq)]
pub struct StandaloneSource {
    /// x, y, theta.
    pub pose: [f64; 3],
    /// Where around the pose they appear.
    pub shape: StandaloneShape,
    /// Whether it keeps as many people as allowed, rather than letting them arrive at random.
    pub keeps_full: bool,
    /// Arrivals per second over time, linear in between.
    pub rate_profile: Vec<RatePoint>,
    /// Most people of it at a time; -1 = any number.
    pub max_concurrent: i32,
    /// Most people of it ever; -1 = any number.
    pub max_total: i32,
    /// Least and most speed its people want, m/s.
    pub desired_velocity: [f64; 2],
    /// Their body radius.
    pub agent_radius: f64,
    /// Their type.
    pub agent_type: String,
    /// Index of a sink and how likely it is the goal.
    pub sink_affinity: Vec<(usize, f64)>,
}

/// Where people leave.
#[derive(Debug, Clone, PartialEq)]
pub struct StandaloneSink {
    /// x, y, theta.
    pub pose: [f64; 3],
    /// Its area, when it is not just a distance.
    pub shape: StandaloneShape,
    /// How near the pose counts as there.
    pub absorption_radius: f64,
    /// Most people at a time; -1 = any number.
    pub capacity: i32,
}

/// An interaction that is arranged.
#[derive(Debug, Clone, PartialEq)]
pub struct InteractionScript {
    /// When.
    pub tick: u64,
    /// What.
    pub kind: String,
    /// Who, the one who begins it first.
    pub participants: Vec<i32>,
    /// How long; 0 = open.
    pub duration_ticks: u64,
    /// The object it is about.
    pub object_id: Option<String>,
}

/// An event that is fired.
#[derive(Debug, Clone, PartialEq)]
pub struct EventScript {
    /// When.
    pub tick: u64,
    /// What.
    pub event: String,
    /// For whom; -1 = everybody.
    pub target_agent: i32,
}

impl StandaloneScenario {
    /// Read a scenario of the engine from text; `file` is for messages and need not exist.
    ///
    /// # Errors
    /// Every problem of the text, at least one of them an error.
    pub fn parse(text: &str, file: &Path) -> Result<Loaded<Self>, Report> {
        Decoder::read(text, file, |decoder, node| decoder.standalone(node, file))
    }

    /// Whether a document is one: it has a key that no other kind of file has.
    pub(crate) fn is_one(node: &Node) -> bool {
        ["simulation", "agents", "walls", "flow", "interaction_scripts", "event_scripts"]
            .iter()
            .any(|key| node.get(key).is_some())
    }
}
