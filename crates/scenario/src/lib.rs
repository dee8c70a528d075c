//! Scenario, world and agent-type files as typed values, with every problem of a file in one go.
//!
//! A file is read once into a tree that knows every line and column ([`tree`]); typed values are decoded from it and everything
//! that is wrong is collected ([`problem`]). This crate reads files and resolves names; it simulates nothing, prints nothing and
//! never executes what a file says.

pub mod agent_type;
pub mod assets;
pub mod check;
pub mod decode;
pub mod entry;
pub mod geometry;
pub mod locate;
pub mod place;
pub mod pose;
pub mod problem;
pub mod region;
pub mod robot;
pub mod scenario;
pub mod semantics;
pub mod standalone;
pub mod timeline;
pub mod tree;
pub mod world;
pub mod zone;

pub use agent_type::{
    AgentTypeError, AgentTypeFile, AgentTypeLibrary, BUILT_IN_TYPES, Distribution, ResolvedType, TypeDocument,
};
pub use assets::{
    Annotation, AssetError, AssetKind, AssetLibrary, AssetPlace, AssetSource, BUILT_IN_ROBOTS, Bundle,
    DEFAULT_ROBOT, FALLBACK_HUMAN,
};
pub use check::{Checked, FileKind, Surroundings, check, kind_of};
pub use entry::{
    AgentSpec, AgentType, DEFAULT_AGENT_RADIUS, DynamicEntry, Formation, Interaction, Range, Seat,
    StaticEntry, WaypointMode,
};
pub use geometry::{Point, Segment};
pub use locate::{LocateError, Located, ScenarioRef, find_world};
pub use place::{
    Origin, ResolveOptions, ResolvedDynamic, ResolvedRegion, ResolvedRobot, ResolvedScenario, ResolvedStatic,
};
pub use pose::{Place, Pose, Waypoint};
pub use problem::{Loaded, Position, Problem, Report, Severity};
pub use region::{Area, RatePoint, Region, RegionKind, SinkAffinity, SinkConfig, SourceAgent, SourceConfig};
pub use robot::{GotoTarget, OnFailure, Phase, PhaseAction, RobotEntry, Until};
pub use scenario::Scenario;
pub use semantics::{Preset, Semantic};
pub use standalone::StandaloneScenario;
pub use timeline::{SetAction, TimelineEntry, Trigger};
pub use tree::{Node, Value};
pub use world::{Level, World};
pub use zone::{Door, DoorKind, Material, Surface, Wall, Zone};
