//! What clients of the engine say and hear, as plain data (crowd-engine specification, sections 6 and 7).
//!
//! Field by field the messages of `arena_humansim_msgs`, so that a link over the wire and one within the process carry the same. Nothing
//! here checks or decides: whoever takes such data must. Names of the messages' numbers are in [`mode`], [`shape`], [`source`],
//! [`animation`] and [`outcome`]. Units are SI, angles radians, fields of view degrees, the frame the engine's own `map`.

/// x, y in metres and theta in radians.
pub type Pose = [f64; 3];

/// Modes of [`Waypoints`].
pub mod mode {
    /// Back to the first after the last.
    pub const REPEAT: u8 = 0;
    /// Back and forth.
    pub const REVERSE: u8 = 1;
    /// Stay at the last.
    pub const ONCE: u8 = 2;
    /// Any of the others next.
    pub const RANDOM: u8 = 3;
}

/// Types of [`Shape`].
pub mod shape {
    /// A rectangle around the pose.
    pub const RECTANGLE: u8 = 0;
    /// A disc around the pose.
    pub const CIRCLE: u8 = 1;
    /// A polygon of offsets from the pose.
    pub const POLYGON: u8 = 2;
}

/// Types of [`SourceConfig`].
pub mod source {
    /// Random arrivals at the profile's rate.
    pub const POISSON: u8 = 0;
    /// Always as many people as allowed at once.
    pub const MAX: u8 = 1;
}

/// Kinds of agents.
pub mod kind {
    /// A person.
    pub const HUMAN: u8 = 0;
    /// A robot.
    pub const ROBOT: u8 = 1;
}

/// Values of [`AgentFrame::animation_state`].
pub mod animation {
    /// Stands.
    pub const IDLE: u8 = 0;
    /// Walks.
    pub const WALKING: u8 = 1;
    /// Runs.
    pub const RUNNING: u8 = 2;
}

/// States and ends of an interaction.
pub mod outcome {
    /// Waits for participants.
    pub const FORMING: u8 = 0;
    /// Has all it needs.
    pub const ACTIVE: u8 = 1;
    /// Ended as meant.
    pub const COMPLETED: u8 = 2;
    /// Ended early.
    pub const INTERRUPTED: u8 = 3;
    /// Called off.
    pub const CANCELED: u8 = 4;
}

/// A place to pass.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Waypoint {
    /// Where.
    pub pose: Pose,
    /// How near counts as there, m; 0 = the engine's default.
    pub radius: f64,
}

/// A way, and what to do at its end.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Waypoints {
    /// The places in order.
    pub points: Vec<Waypoint>,
    /// One of [`mode`].
    pub mode: u8,
}

/// A gesture on display.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Gesture {
    /// Channel: head, arm, arm_l, arm_r, body, halt, halt_l, halt_r.
    pub slot: String,
    /// Target, m.
    pub at: [f64; 3],
    /// Clip of a body gesture.
    pub clip: String,
    /// `l` or `r`.
    pub hand: String,
    /// Whether `at` is where to draw the body.
    pub render_pose_override: bool,
}

/// An agent to spawn, to update or to be fed. Of the numbers 0 means: as the type has it.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct AgentState {
    /// Id; 0 asks for a new one.
    pub agent_id: i32,
    /// Name.
    pub name: String,
    /// Pose.
    pub pose: Pose,
    /// Velocity, m/s.
    pub velocity: [f64; 2],
    /// Speed it wants, m/s.
    pub desired_velocity: f64,
    /// Body radius, m.
    pub radius: f64,
    /// How far it sees, m.
    pub vision_range: f64,
    /// Angle of view, degrees.
    pub vision_fov: f64,
    /// Relaxation time, s.
    pub relaxation_time: f64,
    /// Strength of repulsion, m/s2.
    pub repulsion_strength: f64,
    /// Range of repulsion, m.
    pub repulsion_range: f64,
    /// Speed cap, m/s.
    pub max_velocity: f64,
    /// Name or file of its type; empty = adult.
    pub agent_type: String,
    /// Way.
    pub waypoints: Waypoints,
    /// One of [`kind`].
    pub kind: u8,
    /// One of [`animation`].
    pub animation_state: u8,
    /// Local planner of this agent alone.
    pub policy: String,
    /// JSON for the planner.
    pub policy_params: String,
    /// `l`, `r` or empty.
    pub handedness: String,
    /// Gestures it shows.
    pub gestures: Vec<Gesture>,
}

/// External agents at a time.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct AgentStates {
    /// Time of the poses, nanoseconds.
    pub stamp_ns: i64,
    /// The agents.
    pub agents: Vec<AgentState>,
}

/// How likely a sink is the goal.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SinkAffinity {
    /// Name of the sink.
    pub sink_name: String,
    /// Weight, of no unit.
    pub weight: f64,
}

/// A point of a rate profile.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct RateKeyframe {
    /// Time, s.
    pub t: f64,
    /// Arrivals per second.
    pub rate: f64,
}

/// What a source makes.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct AgentTemplate {
    /// Least speed wanted, m/s.
    pub desired_velocity_min: f64,
    /// Most speed wanted, m/s.
    pub desired_velocity_max: f64,
    /// Body radius, m.
    pub agent_radius: f64,
    /// Name of a behaviour tree.
    pub behavior_tree: String,
    /// Agent type.
    pub agent_type: String,
    /// Goals with their weights.
    pub sink_affinity: Vec<SinkAffinity>,
    /// One of [`kind`].
    pub kind: u8,
    /// Local planner.
    pub policy: String,
    /// JSON for the planner.
    pub policy_params: String,
}

/// An area around a pose.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Shape {
    /// One of [`shape`].
    pub kind: u8,
    /// Along x, m; of a rectangle.
    pub width: f64,
    /// Along y, m; of a rectangle.
    pub height: f64,
    /// Of a circle, m.
    pub radius: f64,
    /// Of a polygon; offsets from the pose, m.
    pub vertices: Vec<[f32; 2]>,
}

/// Where people come in.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SourceConfig {
    /// Name.
    pub name: String,
    /// Pose.
    pub pose: Pose,
    /// Area.
    pub shape: Shape,
    /// One of [`source`].
    pub kind: u8,
    /// Rates over time.
    pub rate_profile: Vec<RateKeyframe>,
    /// Most people of it at a time; -1 = any number.
    pub max_concurrent: i32,
    /// Most people of it ever; -1 = any number.
    pub max_total: i32,
    /// Who comes.
    pub agent: AgentTemplate,
}

/// Where people leave.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SinkConfig {
    /// Name.
    pub name: String,
    /// Pose.
    pub pose: Pose,
    /// Area.
    pub shape: Shape,
    /// How near the pose counts as there, without a polygon; m.
    pub absorption_radius: f64,
    /// Most people at a time; -1 = any number.
    pub capacity: i32,
}

/// All sources and sinks.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct FlowConfig {
    /// Sources.
    pub sources: Vec<SourceConfig>,
    /// Sinks.
    pub sinks: Vec<SinkConfig>,
}

/// A box in the way.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ObstacleConfig {
    /// Name.
    pub name: String,
    /// Pose.
    pub pose: Pose,
    /// Smallest and largest local x, m.
    pub bb_x: [f64; 2],
    /// Smallest and largest local y, m.
    pub bb_y: [f64; 2],
    /// Smallest and largest local z, m.
    pub bb_z: [f64; 2],
    /// What people do with it.
    pub interaction_types: Vec<String>,
    /// What it is.
    pub obstacle_type: String,
}

/// Something people can go to and use.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct WorldObjectInfo {
    /// Id.
    pub object_id: String,
    /// What it is.
    pub kind: String,
    /// Pose.
    pub pose: Pose,
    /// People it serves at a time.
    pub capacity: u32,
    /// Needs that using it satisfies.
    pub satisfies: Vec<(String, f64)>,
    /// How near one has to come, m; 0 = the kind's default.
    pub interaction_radius: f64,
    /// Formation of its users; empty = the kind's.
    pub formation_type: String,
    /// Parameters of the formation.
    pub formation_params: Vec<(String, f64)>,
    /// Seats in the engine's frame.
    pub seats: Vec<Pose>,
}

/// A robot as `feedback` and `update_robot` tell of it.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct RobotState {
    /// Name.
    pub name: String,
    /// Pose.
    pub pose: Pose,
    /// Radius, m; 0 = 0.3.
    pub radius: f64,
}

/// Where everybody of the engine is; the arrays are parallel.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct AgentFrame {
    /// Time the poses are for, nanoseconds.
    pub stamp_ns: i64,
    /// Ids.
    pub agent_id: Vec<i32>,
    /// m.
    pub x: Vec<f64>,
    /// m.
    pub y: Vec<f64>,
    /// rad; not wrapped.
    pub theta: Vec<f64>,
    /// m/s.
    pub vx: Vec<f64>,
    /// m/s.
    pub vy: Vec<f64>,
    /// m/s.
    pub desired_velocity: Vec<f64>,
    /// m.
    pub radius: Vec<f64>,
    /// Of [`kind`].
    pub kind: Vec<u8>,
    /// Of [`animation`].
    pub animation_state: Vec<u8>,
    /// Into [`AgentMeta::policies`]; -1 = moved from outside.
    pub policy_idx: Vec<i16>,
    /// rad; 0 = none.
    pub gait_phase: Vec<f64>,
    /// Hz; 0 = unknown.
    pub gait_cadence: Vec<f64>,
    /// -1 = none.
    pub interaction_id: Vec<i32>,
    /// Kind of the interaction.
    pub interaction_type: Vec<u8>,
}

/// What of the agents changes seldom.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct AgentMeta {
    /// Time, nanoseconds.
    pub stamp_ns: i64,
    /// Names of the local planners by index.
    pub policies: Vec<String>,
    /// Ids.
    pub agent_id: Vec<i32>,
    /// Names.
    pub name: Vec<String>,
    /// `l`, `r`.
    pub handedness: Vec<String>,
    /// Types.
    pub agent_type: Vec<String>,
}

/// Gestures by owner.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct AgentGestures {
    /// Time, nanoseconds.
    pub stamp_ns: i64,
    /// Owner of the gesture at the same index.
    pub agent_id: Vec<i32>,
    /// The gestures.
    pub gestures: Vec<Gesture>,
}

/// A value of a parameter.
#[derive(Debug, Clone, PartialEq)]
pub enum ParameterValue {
    /// True or false.
    Bool(bool),
    /// Whole number.
    Integer(i64),
    /// Number.
    Double(f64),
    /// Text.
    Text(String),
}

/// Times of the phases of a tick since the last reset of the profile.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Profile {
    /// Names of the phases.
    pub phase_names: Vec<String>,
    /// Mean of each, ms.
    pub phase_means_ms: Vec<f64>,
    /// 95th percentile of each, ms.
    pub phase_p95s_ms: Vec<f64>,
    /// Ticks counted.
    pub n_ticks: i32,
    /// Agents there are.
    pub n_agents: i32,
}
