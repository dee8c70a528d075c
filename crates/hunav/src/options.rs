//! The options of the engine (HuNav specification, section 9.1).

/// Whether faults of the original are kept.
///
/// What robust mode does instead; `tests/robust.rs` has a test of each, which fails in strict mode:
///
/// | the original | robust mode |
/// |---|---|
/// | who stands has the heading 0 | a heading is kept below 0.01 m/s |
/// | a call without time gives an infinite turn rate | it changes nothing |
/// | a surprised walker turns by a fixed step per call and overshoots to the right | it turns at up to pi rad/s and stops at the robot |
/// | curious and threatening walkers turn at once | at up to pi rad/s |
/// | who stands and looks repeats its old velocity | its velocity is 0 |
/// | "in front" exchanges sine and cosine | it is where the robot looks |
/// | an impassive walker takes the robot for a pedestrian | always for an obstacle |
/// | `state` is 0 while most reactions run | it is 1 while one runs |
/// | within its own radius of the robot a scared walker is pulled | it is pushed |
/// | two on one place with one velocity stay there | they part |
/// | a point underfoot drops all obstacles | it alone does not count |
/// | everybody counts | only those within 8 m |
/// | reactions compute in single precision | in double precision |
/// | who is moved first matters | forces come from one state; answers do not depend on the order of requests |
/// | a long call is one step | it is split into steps of at most [`Options::integrator_dt_max`], 400 at most |
/// | the robot's size and group are those of the first call | those of each call |
/// | who comes later never moves | is added |
/// | answers are in hash order and lack fields | in the order of the request, with all fields |
/// | `reset_agents` keeps goals and timers | begins anew if a goal or a behaviour differs |
/// | of agents that are moved one by one only the first gets the time | each gets its own |
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Compat {
    /// Its faults are mended.
    #[default]
    Robust,
    /// Its faults are kept.
    Strict,
}

impl Compat {
    /// The words of files and parameters, the default first.
    pub const WORDS: &[(&str, Self)] = &[("robust", Self::Robust), ("strict", Self::Strict)];
}

/// Whose constants and rules of sight hold (section 6).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ManagerVersion {
    /// HuNavSim of 2024 and later.
    #[default]
    P15,
    /// HuNavSim of 2023.
    P1,
}

impl ManagerVersion {
    /// The words of files and parameters, the default first.
    pub const WORDS: &[(&str, Self)] = &[("p15", Self::P15), ("p1", Self::P1)];
}

/// How the terms of obstacle points become one force (section 7).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ObstacleRule {
    /// They are added.
    #[default]
    Sum,
    /// Their mean counts, as in library versions up to March 2025.
    Mean,
}

impl ObstacleRule {
    /// The words of files and parameters, the default first.
    pub const WORDS: &[(&str, Self)] = &[("sum", Self::Sum), ("mean", Self::Mean)];
}

/// In which order agents are moved within a call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// As requested.
    #[default]
    Request,
    /// The reverse, as the manager does with up to 13 agents.
    Reverse,
}

impl Order {
    /// The words of files and parameters, the default first.
    pub const WORDS: &[(&str, Self)] = &[("request", Self::Request), ("reverse", Self::Reverse)];
}

/// See the module.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Options {
    /// Whether faults of the original are kept.
    pub compat: Compat,
    /// Whose constants hold.
    pub manager: ManagerVersion,
    /// How obstacle points add up.
    pub obstacle: ObstacleRule,
    /// Longer calls are split into equal steps, seconds; robust only.
    pub integrator_dt_max: f64,
    /// Order of moves.
    pub order: Order,
    /// Seed of configuration modes 2 and 3.
    pub seed: u64,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            compat: Compat::Robust,
            manager: ManagerVersion::P15,
            obstacle: ObstacleRule::Sum,
            integrator_dt_max: 0.05,
            order: Order::Request,
            seed: 0,
        }
    }
}

impl Options {
    /// The options under which every number of the original is reproduced.
    #[must_use]
    pub fn strict(manager: ManagerVersion) -> Self {
        Options { compat: Compat::Strict, manager, order: Order::Reverse, ..Options::default() }
    }
}
