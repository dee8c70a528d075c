//! Entries of `static:` and `dynamic:`: objects and people, in a scenario or in a world's zones.
//!
//! What a file declares and what holds by default are kept apart, so that a backend may let an agent type's own numbers apply.
//! This module must not decide which of the two wins.

use std::path::{Path, PathBuf};

use promenade_kernel::KeyedStreams;
use rand::RngExt;

use crate::decode::{Decoder, Fields, Unknown};
use crate::pose::{Place, Pose, Waypoint};
use crate::problem::{Position, nearest};
use crate::tree::{Node, Value};

/// Desired velocity when nothing declares one, m/s.
pub const DEFAULT_DESIRED_VELOCITY: Range = Range { min: 1.0, max: 1.5 };
/// Body radius when nothing declares one, metres.
pub const DEFAULT_AGENT_RADIUS: f64 = 0.35;
/// Agent type when `agent:` is there without one.
pub const DEFAULT_AGENT_TYPE: &str = "adult";
/// Speed of a dynamic entry that says nothing, m/s.
pub const DEFAULT_VELOCITY: f64 = 1.0;

/// A closed interval, `min <= max`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Range {
    /// Smallest value.
    pub min: f64,
    /// Largest value.
    pub max: f64,
}

impl Range {
    /// The interval that holds one value.
    #[must_use]
    pub const fn exactly(value: f64) -> Self {
        Self { min: value, max: value }
    }

    /// A uniform draw, or the one value it holds.
    pub fn sample(&self, rng: &mut impl rand::Rng) -> f64 {
        if self.min < self.max { rng.random_range(self.min..=self.max) } else { self.min }
    }
}

/// An agent type by built-in name or by file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AgentType {
    /// A built-in type such as `adult`.
    Named(String),
    /// A file: absolute, or resolved against the folder of the file that names it.
    File(PathBuf),
}

/// The `agent:` of an entry: only what the file declares.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct AgentSpec {
    /// The declared type.
    pub agent_type: Option<AgentType>,
    /// The declared desired velocity, m/s.
    pub desired_velocity: Option<Range>,
    /// The declared body radius, metres.
    pub radius: Option<f64>,
}

impl AgentSpec {
    /// The declared type, or [`DEFAULT_AGENT_TYPE`].
    #[must_use]
    pub fn agent_type(&self) -> AgentType {
        self.agent_type.clone().unwrap_or_else(|| AgentType::Named(DEFAULT_AGENT_TYPE.to_owned()))
    }

    /// The declared interval, or [`DEFAULT_DESIRED_VELOCITY`].
    #[must_use]
    pub fn desired_velocity(&self) -> Range {
        self.desired_velocity.unwrap_or(DEFAULT_DESIRED_VELOCITY)
    }

    /// The declared radius, or [`DEFAULT_AGENT_RADIUS`].
    #[must_use]
    pub fn radius(&self) -> f64 {
        self.radius.unwrap_or(DEFAULT_AGENT_RADIUS)
    }
}

/// What someone does after the last way-point.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum WaypointMode {
    /// From the first again.
    #[default]
    Repeat,
    /// Back along the route, and forth again.
    Reverse,
    /// Stay.
    Once,
    /// Any other way-point next.
    Random,
}

impl WaypointMode {
    /// The mode of this name, without regard to case.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        MODES.iter().find(|(word, _)| word.eq_ignore_ascii_case(name)).map(|(_, mode)| *mode)
    }
}

pub(crate) const MODES: [(&str, WaypointMode); 4] = [
    ("repeat", WaypointMode::Repeat),
    ("reverse", WaypointMode::Reverse),
    ("once", WaypointMode::Once),
    ("random", WaypointMode::Random),
];

/// A person.
#[derive(Debug, Clone, PartialEq)]
pub struct DynamicEntry {
    /// Unique among the entries of the file.
    pub name: String,
    /// Model name, optionally `<domain>/<name>`.
    pub model: String,
    /// Start.
    pub pose: Place,
    /// Route, empty for someone who stands.
    pub waypoints: Vec<Waypoint>,
    /// What follows the last way-point.
    pub waypoint_mode: WaypointMode,
    /// Speed in m/s; [`DEFAULT_VELOCITY`] when not declared. Counts when there is no `agent`.
    pub velocity: f64,
    /// Level the entry is on, when declared.
    pub level_id: Option<String>,
    /// The declared agent, if the entry has one.
    pub agent: Option<AgentSpec>,
    /// The whole entry as written, for backends that read keys of their own.
    pub extra: Node,
    /// The file of the entry; backends resolve paths of their own against its folder.
    pub file: PathBuf,
    /// Where the entry stands in its file.
    pub at: Position,
}

impl DynamicEntry {
    /// The interval desired velocity is drawn from: the agent's, or exactly [`velocity`](Self::velocity) without an agent.
    #[must_use]
    pub fn desired_velocity(&self) -> Range {
        self.agent.as_ref().map_or(Range::exactly(self.velocity), AgentSpec::desired_velocity)
    }

    /// Body radius in metres, declared or default.
    #[must_use]
    pub fn radius(&self) -> f64 {
        self.agent.as_ref().map_or(DEFAULT_AGENT_RADIUS, AgentSpec::radius)
    }

    /// The desired velocity of this person for the whole episode: one draw from the stream `("humansim", sim_path)`.
    #[must_use]
    pub fn sample_desired_velocity(&self, streams: &KeyedStreams, sim_path: &str) -> f64 {
        let mut rng = streams.fresh(&["humansim".into(), sim_path.into()]);
        self.desired_velocity().sample(&mut rng)
    }
}

/// An object.
#[derive(Debug, Clone, PartialEq)]
pub struct StaticEntry {
    /// Unique among the entries of the file.
    pub name: String,
    /// Model name, optionally `<domain>/<name>`.
    pub model: String,
    /// Where it stands.
    pub pose: Place,
    /// Scale per axis, when declared.
    pub scale: Option<[f64; 3]>,
    /// Level the entry is on, when declared.
    pub level_id: Option<String>,
    /// Mass of one that can be pushed, kg, when declared; else that of its model counts.
    pub mass: Option<f64>,
    /// What people can do with it.
    pub interaction: Interaction,
    /// The whole entry as written.
    pub extra: Node,
    /// Where the entry stands in its file.
    pub at: Position,
}

/// The interaction keys of a static entry.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Interaction {
    /// Declared object type (`type:`), e.g. `counter`.
    pub kind: Option<String>,
    /// Declared number of people it serves at once.
    pub capacity: Option<i64>,
    /// Needs it satisfies and by how much, in file order.
    pub satisfies: Vec<(String, f64)>,
    /// Declared reach around the origin, metres.
    pub interaction_radius: Option<f64>,
    /// How those who use it arrange themselves.
    pub formation: Option<Formation>,
    /// Declared seats in the object's frame: `None` leaves the annotation's, an empty list clears them.
    pub seats: Option<Vec<Seat>>,
}

impl Interaction {
    /// The declared capacity, or 1.
    #[must_use]
    pub fn capacity(&self) -> i64 {
        self.capacity.unwrap_or(1)
    }

    /// The declared radius, or 0.
    #[must_use]
    pub fn interaction_radius(&self) -> f64 {
        self.interaction_radius.unwrap_or(0.0)
    }
}

/// A formation of users around an object.
#[derive(Debug, Clone, PartialEq)]
pub struct Formation {
    /// `line`, `cluster`, `f_formation` or `dyad`; other names are passed on.
    pub kind: String,
    /// Parameters in file order.
    pub params: Vec<(String, f64)>,
}

/// A place to sit, in the object's frame.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Seat {
    /// Metres along the object's x.
    pub x: f64,
    /// Metres along the object's y.
    pub y: f64,
    /// Heading relative to the object, when declared.
    pub yaw: Option<f64>,
}

impl Seat {
    /// Where the seat is when the object stands at `object`.
    #[must_use]
    pub fn world_pose(&self, object: &Pose) -> Pose {
        object.compose(&Pose { x: self.x, y: self.y, z: 0.0, yaw: self.yaw.unwrap_or(0.0) })
    }
}

const FORMATIONS: [&str; 4] = ["line", "cluster", "f_formation", "dyad"];

const STATIC_KEYS: &[&str] = &[
    "name",
    "model",
    "pose",
    "pos",
    "scale",
    "mass",
    "level_id",
    "type",
    "capacity",
    "satisfies",
    "interaction_radius",
    "formation",
    "seats",
];

/// The keys of this layer first, then the ones the HuNav backend reads (human-layer specification, section 18).
const DYNAMIC_KEYS: &[&str] = &[
    "name",
    "model",
    "pose",
    "pos",
    "waypoints",
    "waypoint",
    "waypoint_mode",
    "velocity",
    "level_id",
    "agent",
    "position",
    "desired_velocity",
    "linear_vel",
    "angular_vel",
    "goals",
    "behavior_tree",
    "behavior",
    "cyclic_goals",
    "goal_radius",
    "id",
    "type",
    "skin",
    "group_id",
    "radius",
];

/// What both kinds of entry have.
struct Base {
    name: Option<String>,
    model: Option<String>,
    pose: Option<Place>,
    level_id: Option<String>,
}

impl Decoder {
    fn entry_base(&mut self, fields: &mut Fields<'_>) -> Base {
        let name = fields.require(self, "name", "a name unique in the scenario");
        let name = name.and_then(|n| self.name(n, &fields.path_of("name")));
        let model = fields.require(self, "model", "a model name");
        let model = model.and_then(|n| self.name(n, &fields.path_of("model")));
        let pose = match fields.get("pos") {
            Some(old) if !fields.has("pose") => {
                self.hint_try(
                    fields.key_at("pos"),
                    fields.path(),
                    "`pos` is an old spelling",
                    Some("pose".to_owned()),
                );
                self.place(old, &fields.path_of("pos"))
            }
            _ => {
                let node = fields.require(self, "pose", "`[x, y, yaw]` or a zone name");
                node.and_then(|n| self.place(n, &fields.path_of("pose")))
            }
        };
        let level_id = fields.read(self, "level_id", Self::identifier);
        Base { name, model, pose, level_id }
    }

    pub(crate) fn static_entry(&mut self, node: &Node, path: &str) -> Option<StaticEntry> {
        let mut fields = self.fields(node, path, "a static entry", STATIC_KEYS)?;
        let base = self.entry_base(&mut fields);
        let scale = fields.read(self, "scale", Self::scale);
        let mass = fields.read(self, "mass", Self::positive);
        let interaction = self.interaction(&fields);
        fields.finish(self, Unknown::Open, &[]);
        Some(StaticEntry {
            name: base.name?,
            model: base.model?,
            pose: base.pose?,
            scale,
            mass,
            level_id: base.level_id,
            interaction,
            extra: node.clone(),
            at: node.at,
        })
    }

    fn scale(&mut self, node: &Node, path: &str) -> Option<[f64; 3]> {
        let Some(items) = node.items() else {
            return self.positive(node, path).map(|s| [s; 3]);
        };
        let [x, y, z] = items else {
            self.mismatch(node, path, "a number or a list of 3 numbers");
            return None;
        };
        Some([self.positive(x, path)?, self.positive(y, path)?, self.positive(z, path)?])
    }

    fn interaction(&mut self, fields: &Fields<'_>) -> Interaction {
        Interaction {
            kind: fields.read(self, "type", Self::name),
            capacity: fields.read(self, "capacity", Self::integer),
            satisfies: fields.read(self, "satisfies", Self::named_numbers).unwrap_or_default(),
            interaction_radius: fields.read(self, "interaction_radius", Self::non_negative),
            formation: fields.read(self, "formation", Self::formation),
            // Null counts as absent everywhere else; here `seats:` without a value means "none", like an empty list.
            seats: if fields.has("seats") {
                Some(fields.read(self, "seats", Self::seats).unwrap_or_default())
            } else {
                None
            },
        }
    }

    /// A map of names to numbers, in file order.
    pub(crate) fn named_numbers(&mut self, node: &Node, path: &str) -> Option<Vec<(String, f64)>> {
        let Some(entries) = node.entries() else {
            self.mismatch(node, path, "a map of names to numbers");
            return None;
        };
        let mut numbers = Vec::with_capacity(entries.len());
        for entry in entries {
            let path = crate::tree::join(path, &entry.key);
            if let Some(x) = self.number(&entry.value, &path) {
                numbers.push((entry.key.clone(), x));
            }
        }
        Some(numbers)
    }

    fn formation(&mut self, node: &Node, path: &str) -> Option<Formation> {
        let mut fields = self.fields(node, path, "a formation", &["type", "params"])?;
        let kind = fields.require(self, "type", "a formation type");
        let params = fields.read(self, "params", Self::named_numbers).unwrap_or_default();
        fields.finish(self, Unknown::Closed, &[]);
        let kind_path = fields.path_of("type");
        let node = kind?;
        let kind = self.name(node, &kind_path)?;
        if !FORMATIONS.contains(&kind.as_str()) {
            let meant = nearest(&kind, FORMATIONS).map(str::to_owned);
            self.warning_try(
                node.at,
                &kind_path,
                format!(
                    "unknown formation {kind:?}; known are {}",
                    FORMATIONS.map(|f| format!("`{f}`")).join(", ")
                ),
                meant,
            );
        }
        Some(Formation { kind, params })
    }

    /// Seats, or none of them after a warning when any is wrong: the object stays usable (section 17.6).
    pub(crate) fn seats(&mut self, node: &Node, path: &str) -> Option<Vec<Seat>> {
        let Some(items) = node.items() else {
            self.warning(
                node.at,
                path,
                format!(
                    "expected a list of seats `{{x, y, yaw}}`, found {}; the object has none",
                    node.describe()
                ),
            );
            return None;
        };
        let mut seats = Vec::with_capacity(items.len());
        for (i, item) in items.iter().enumerate() {
            match seat(item) {
                Ok(seat) => seats.push(seat),
                Err(reason) => self.warning(
                    item.at,
                    &format!("{path}[{i}]"),
                    format!("{reason}; the object loses all its seats"),
                ),
            }
        }
        (seats.len() == items.len()).then_some(seats)
    }

    /// A person. `dir` is the folder that relative agent-type paths start from.
    pub(crate) fn dynamic_entry(&mut self, node: &Node, path: &str, dir: &Path) -> Option<DynamicEntry> {
        let mut fields = self.fields(node, path, "a dynamic entry", DYNAMIC_KEYS)?;
        let base = self.entry_base(&mut fields);
        let waypoints = self.entry_waypoints(&fields);
        let waypoint_mode = fields.read(self, "waypoint_mode", Self::waypoint_mode).unwrap_or_default();
        let velocity = fields.read(self, "velocity", Self::non_negative).unwrap_or(DEFAULT_VELOCITY);
        let agent = fields.read(self, "agent", |d, n, p| d.agent(n, p, dir));
        // HuNav's `goals` lists sibling keys by name; those are known because the list names them.
        let goals: Vec<&str> = fields
            .get("goals")
            .and_then(Node::items)
            .unwrap_or_default()
            .iter()
            .filter_map(Node::as_str)
            .collect();
        fields.finish(self, Unknown::Open, &goals);
        Some(DynamicEntry {
            name: base.name?,
            model: base.model?,
            pose: base.pose?,
            waypoints,
            waypoint_mode,
            velocity,
            level_id: base.level_id,
            agent,
            extra: node.clone(),
            file: self.file().to_owned(),
            at: node.at,
        })
    }

    fn entry_waypoints(&mut self, fields: &Fields<'_>) -> Vec<Waypoint> {
        let key = if fields.has("waypoint") && !fields.has("waypoints") {
            self.warning_try(
                fields.key_at("waypoint"),
                fields.path(),
                "`waypoint` is an old spelling",
                Some("waypoints".to_owned()),
            );
            "waypoint"
        } else {
            "waypoints"
        };
        fields.read(self, key, |d, n, p| Some(d.waypoints(n, p))).unwrap_or_default()
    }

    /// Unknown modes repeat, as the platform has it, and are worth a warning.
    fn waypoint_mode(&mut self, node: &Node, path: &str) -> Option<WaypointMode> {
        let known = node.as_str().and_then(WaypointMode::from_name);
        if known.is_none() {
            let meant = node.as_str().and_then(|t| nearest(t, MODES.map(|(word, _)| word)));
            self.warning_try(
                node.at,
                path,
                format!("unknown mode, found {}; `repeat` is used", node.describe()),
                meant.map(str::to_owned),
            );
        }
        known
    }

    fn agent(&mut self, node: &Node, path: &str, dir: &Path) -> Option<AgentSpec> {
        if node.as_str().is_some() {
            return Some(AgentSpec {
                agent_type: Some(self.agent_type_ref(node, path, dir)?),
                ..AgentSpec::default()
            });
        }
        if node.entries().is_none() {
            self.mismatch(node, path, "an agent type or `{agent_type, desired_velocity, radius}`");
            return None;
        }
        let fields = self.fields(node, path, "an agent", &["agent_type", "desired_velocity", "radius"])?;
        let spec = AgentSpec {
            agent_type: fields.read(self, "agent_type", |d, n, p| d.agent_type_ref(n, p, dir)),
            desired_velocity: fields.read(self, "desired_velocity", Self::velocity_range),
            radius: fields.read(self, "radius", Self::positive),
        };
        fields.finish(self, Unknown::Closed, &[]);
        Some(spec)
    }

    /// A built-in name, or a path when it has a `/` or ends in `.yaml`.
    pub(crate) fn agent_type_ref(&mut self, node: &Node, path: &str, dir: &Path) -> Option<AgentType> {
        let name = self.name(node, path)?;
        if name.contains('/') || name.ends_with(".yaml") {
            let relative = name.strip_prefix("./").unwrap_or(&name);
            Some(AgentType::File(dir.join(relative)))
        } else {
            Some(AgentType::Named(name))
        }
    }

    /// A number, or `{min, max}`.
    pub(crate) fn velocity_range(&mut self, node: &Node, path: &str) -> Option<Range> {
        let Value::Map(_) = node.value else {
            if node.as_f64().is_none() {
                self.mismatch(node, path, "a speed in m/s or `{min, max}`");
                return None;
            }
            return self.positive(node, path).map(Range::exactly);
        };
        let mut fields = self.fields(node, path, "a range", &["min", "max"])?;
        let min = fields.require(self, "min", "the slowest speed in m/s");
        let max = fields.require(self, "max", "the fastest speed in m/s");
        fields.finish(self, Unknown::Closed, &[]);
        let min = min.map(|n| self.non_negative(n, &fields.path_of("min")));
        let max = max.map(|n| self.positive(n, &fields.path_of("max")));
        let (min, max) = (min??, max??);
        if min > max {
            self.error(node.at, path, format!("min {min} is greater than max {max}"));
            return None;
        }
        Some(Range { min, max })
    }
}

fn seat(node: &Node) -> Result<Seat, String> {
    let Some(entries) = node.entries() else {
        return Err(format!("expected a seat `{{x, y, yaw}}`, found {}", node.describe()));
    };
    if let Some(other) = entries.iter().find(|e| !["x", "y", "yaw"].contains(&e.key.as_str())) {
        return Err(format!("a seat has `x`, `y` and `yaw`, found `{}`", other.key));
    }
    let number = |key: &str| match node.get(key) {
        None => Ok(None),
        Some(n) => match n.as_f64() {
            Some(x) if x.is_finite() => Ok(Some(x)),
            _ => Err(format!("`{key}` must be a finite number, found {}", n.describe())),
        },
    };
    Ok(Seat {
        x: number("x")?.ok_or("a seat needs `x`")?,
        y: number("y")?.ok_or("a seat needs `y`")?,
        yaw: number("yaw")?,
    })
}
