//! The file as a whole, its people and what stands around.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use super::{
    EventScript, Goal, InteractionScript, Simulation, StandaloneAgent, StandaloneObject, StandaloneObstacle,
    StandaloneScenario, StandaloneWall,
};
use crate::agent_type::{BUILT_IN_TYPES, ResolvedType};
use crate::decode::{Decoder, Fields, Unknown};
use crate::entry::{MODES, WaypointMode};
use crate::problem::Position;
use crate::tree::Node;

const KEYS: &[&str] = &[
    "name",
    "description",
    "simulation",
    "modules",
    "agents",
    "agent_types",
    "world_objects",
    "walls",
    "obstacles",
    "flow",
    "interaction_scripts",
    "event_scripts",
];
const AGENT_KEYS: &[&str] = &[
    "agent_id",
    "agent_type",
    "spawn_pose",
    "goal_sequence",
    "waypoint_mode",
    "desired_velocity",
    "agent_radius",
    "interaction_preferences",
    "kind",
    "policy",
    "policy_params",
    "services",
    "spawn_tick",
];

/// Names that the rest of the file refers to.
#[derive(Default)]
pub(super) struct Known {
    /// Types of the file and built in.
    pub(super) all_types: BTreeSet<String>,
    /// Ids of agents that were given one.
    pub(super) agents: BTreeSet<i64>,
    /// Objects by id.
    pub(super) objects: BTreeSet<String>,
    /// Kinds of objects.
    pub(super) object_kinds: BTreeSet<String>,
}

impl Known {
    /// Collected from the raw file, so that something which is wrong in itself is not also missing elsewhere.
    fn of(node: &Node) -> Self {
        let items = |key: &str| node.get(key).and_then(Node::items).unwrap_or_default();
        let texts = |key: &str, field: &str| -> BTreeSet<String> {
            items(key).iter().filter_map(|n| n.get(field)?.as_str()).map(str::to_owned).collect()
        };
        let mut types: Vec<String> =
            items("agent_types").iter().filter_map(|n| n.get("name")?.as_str()).map(str::to_owned).collect();
        let named = node.get("agent_types").and_then(Node::entries).unwrap_or_default();
        types.extend(named.iter().map(|entry| entry.key.clone()));
        Self {
            all_types: types.into_iter().chain(BUILT_IN_TYPES.map(str::to_owned)).collect(),
            agents: items("agents").iter().filter_map(|n| n.get("agent_id")?.as_i64()).collect(),
            objects: texts("world_objects", "object_id"),
            object_kinds: texts("world_objects", "type"),
        }
    }
}

/// What a file has that does nothing yet, by name, with the place of the first of each.
#[derive(Default)]
pub(super) struct Idle(BTreeMap<Position, String>);

impl Idle {
    pub(super) fn note(&mut self, at: Position, what: &str) {
        if !self.0.values().any(|known| known == what) {
            self.0.insert(at, what.to_owned());
        }
    }

    fn tell(self, d: &mut Decoder) {
        let Some(at) = self.0.keys().next().copied() else { return };
        let names: Vec<String> = self.0.into_values().collect();
        d.warning(at, "", format!("checked, and without effect yet: {}", names.join(", ")));
    }
}

impl Decoder {
    pub(super) fn standalone(&mut self, node: &Node, file: &Path) -> Option<StandaloneScenario> {
        let fields = self.fields(node, "", "a scenario of the crowd engine", KEYS)?;
        let known = Known::of(node);
        let mut idle = Idle::default();
        fields.finish(self, Unknown::Closed, &[]);
        let dir = file.parent().unwrap_or(Path::new(""));
        let agent_types: Vec<(String, Arc<ResolvedType>)> = fields
            .read(self, "agent_types", |d, n, p| Some(d.inline_types(n, p, file, &known, &mut idle)))
            .unwrap_or_default();
        let scenario = StandaloneScenario {
            file: file.to_owned(),
            name: fields.read(self, "name", Self::text).unwrap_or_default(),
            description: fields.read(self, "description", Self::text).unwrap_or_default(),
            simulation: fields.read(self, "simulation", Self::simulation).unwrap_or_default(),
            agents: self
                .items(&fields, "agents", "agents", |d, n, p| d.lone_agent(n, p, dir, &known, &mut idle)),
            agent_types,
            world_objects: self
                .items(&fields, "world_objects", "objects", |d, n, p| d.lone_object(n, p, &mut idle)),
            walls: self.items(&fields, "walls", "walls `{name, start, end}`", Self::lone_wall),
            obstacles: self.items(&fields, "obstacles", "obstacles", Self::lone_obstacle),
            sources: Vec::new(),
            sinks: Vec::new(),
            interaction_scripts: self.items(&fields, "interaction_scripts", "scripts", |d, n, p| {
                d.interaction_script(n, p, &known)
            }),
            event_scripts: self
                .items(&fields, "event_scripts", "scripts", |d, n, p| d.event_script(n, p, &known)),
        };
        let (sources, sinks) =
            fields.read(self, "flow", |d, n, p| d.lone_flow(n, p, dir, &known)).unwrap_or_default();
        self.distinct(&fields, "agents", "agent_id");
        self.distinct(&fields, "world_objects", "object_id");
        self.distinct(&fields, "walls", "name");
        self.distinct(&fields, "obstacles", "name");
        if let Some(modules) = fields.get("modules") {
            self.hint(
                modules.at,
                "modules",
                "read by other programs; the parameters of the engine choose its parts",
            );
        }
        for key in ["interaction_scripts", "event_scripts"] {
            if fields.get(key).and_then(Node::items).is_some_and(|items| !items.is_empty()) {
                idle.note(fields.key_at(key), &format!("`{key}`"));
            }
        }
        if scenario.simulation.formation_scale != 1.0 {
            idle.note(fields.key_at("simulation"), "`formation_scale`");
        }
        idle.tell(self);
        Some(StandaloneScenario { sources, sinks, ..scenario })
    }

    fn items<T>(
        &mut self,
        fields: &Fields<'_>,
        key: &str,
        of: &str,
        read: impl FnMut(&mut Self, &Node, &str) -> Option<T>,
    ) -> Vec<T> {
        fields.read(self, key, |d, n, p| Some(d.list_of(n, p, of, read))).unwrap_or_default()
    }

    /// Report names that two items of a list share; the id 0 asks for a free one and may repeat.
    fn distinct(&mut self, fields: &Fields<'_>, list: &str, key: &str) {
        let mut seen: BTreeMap<String, u32> = BTreeMap::new();
        for (i, item) in fields.get(list).and_then(Node::items).unwrap_or_default().iter().enumerate() {
            let Some(node) = item.get(key) else { continue };
            let Some(name) = crate::decode::scalar_text(node).filter(|name| name != "0") else { continue };
            match seen.get(&name) {
                Some(line) => self.error(
                    node.at,
                    &format!("{list}[{i}].{key}"),
                    format!("{name:?} is there twice, first in line {line}"),
                ),
                None => {
                    seen.insert(name, node.at.line);
                }
            }
        }
    }

    fn simulation(&mut self, node: &Node, path: &str) -> Option<Simulation> {
        const KEYS: &[&str] = &[
            "seed",
            "dt",
            "bt_tick_interval",
            "max_ticks",
            "execution_mode",
            "formation_scale",
            "robot_shutdown",
        ];
        let fields = self.fields(node, path, "how the scenario runs", KEYS)?;
        fields.finish(self, Unknown::Closed, &[]);
        fields.read(self, "execution_mode", |d, n, p| {
            d.choice(n, p, "mode", &[("master", ()), ("subsystem", ())])
        });
        let default = Simulation::default();
        Some(Simulation {
            seed: fields.read(self, "seed", Self::integer).unwrap_or(default.seed),
            dt: fields.read(self, "dt", |d, n, p| d.up_to(n, p, 10.0)).unwrap_or(default.dt),
            bt_tick_interval: fields
                .read(self, "bt_tick_interval", |d, n, p| d.count(n, p, 1, 100_000))
                .map_or(default.bt_tick_interval, |n| n as u32),
            max_ticks: fields.read(self, "max_ticks", Self::tick).unwrap_or(default.max_ticks),
            formation_scale: fields
                .read(self, "formation_scale", |d, n, p| d.up_to(n, p, 1000.0))
                .unwrap_or(default.formation_scale),
            robot_shutdown: fields
                .read(self, "robot_shutdown", Self::boolean)
                .unwrap_or(default.robot_shutdown),
        })
    }

    /// A number above 0.
    fn up_to(&mut self, node: &Node, path: &str, most: f64) -> Option<f64> {
        let x = self.positive(node, path)?;
        if x > most {
            self.error(node.at, path, format!("expected at most {most}, found {x}"));
            return None;
        }
        Some(x)
    }

    /// A whole number in a range.
    pub(super) fn count(&mut self, node: &Node, path: &str, least: i64, most: i64) -> Option<i64> {
        let n = self.integer(node, path)?;
        if !(least..=most).contains(&n) {
            self.error(node.at, path, format!("expected a whole number from {least} to {most}, found {n}"));
            return None;
        }
        Some(n)
    }

    pub(super) fn tick(&mut self, node: &Node, path: &str) -> Option<u64> {
        self.count(node, path, 0, i64::from(i32::MAX)).map(|n| n as u64)
    }

    /// An agent id; negative ones are legal.
    fn agent_id(&mut self, node: &Node, path: &str) -> Option<i32> {
        self.count(node, path, i32::MIN.into(), i32::MAX.into()).map(|n| n as i32)
    }

    /// `{x, y, theta}`, or the same as a list.
    pub(super) fn lone_pose(&mut self, node: &Node, path: &str) -> Option<[f64; 3]> {
        if let Some(items) = node.items() {
            if !(2..=3).contains(&items.len()) {
                self.mismatch(node, path, "a pose `{x, y, theta}`");
                return None;
            }
            let mut pose = [0.0; 3];
            for (i, (item, place)) in items.iter().zip(&mut pose).enumerate() {
                *place = self.number(item, &format!("{path}[{i}]"))?;
            }
            return Some(pose);
        }
        let fields = self.fields(node, path, "a pose `{x, y, theta}`", &["x", "y", "theta", "z"])?;
        self.lone_pose_of(fields)
    }

    fn lone_pose_of(&mut self, mut fields: Fields<'_>) -> Option<[f64; 3]> {
        let x = fields.require(self, "x", "metres");
        let y = fields.require(self, "y", "metres");
        fields.finish(self, Unknown::Closed, &[]);
        let x = x.map(|n| self.number(n, &fields.path_of("x")));
        let y = y.map(|n| self.number(n, &fields.path_of("y")));
        let theta = fields.read(self, "theta", Self::number).unwrap_or(0.0);
        Some([x??, y??, theta])
    }

    /// `{x, y}`, or the same as a list.
    pub(super) fn lone_point(&mut self, node: &Node, path: &str) -> Option<[f64; 2]> {
        self.lone_pose(node, path).map(|[x, y, _]| [x, y])
    }

    fn goal(&mut self, node: &Node, path: &str) -> Option<Goal> {
        if node.entries().is_none() {
            return self.lone_pose(node, path).map(|pose| Goal { pose, radius: 0.0 });
        }
        let known = &["x", "y", "theta", "z", "radius"];
        let fields = self.fields(node, path, "a goal `{x, y, theta, radius}`", known)?;
        let radius = fields.read(self, "radius", Self::non_negative).unwrap_or(0.0);
        Some(Goal { pose: self.lone_pose_of(fields)?, radius })
    }

    /// A type of the file, a built-in one or a path; one there is not is warned about, since the engine takes fixed numbers for it.
    pub(super) fn lone_type(&mut self, node: &Node, path: &str, dir: &Path, known: &Known) -> Option<String> {
        let name = self.name(node, path)?;
        if name.contains('/') || name.ends_with(".yaml") {
            let relative = name.strip_prefix("./").unwrap_or(&name);
            return Some(dir.join(relative).to_string_lossy().into_owned());
        }
        if !known.all_types.contains(&name) {
            let meant = self.nearest(&name, known.all_types.iter().map(String::as_str));
            let message = format!("no agent type is named {name:?}, so fixed numbers are used");
            self.warning_try(node.at, path, message, meant);
        }
        Some(name)
    }

    fn lone_agent(
        &mut self,
        node: &Node,
        path: &str,
        dir: &Path,
        known: &Known,
        idle: &mut Idle,
    ) -> Option<StandaloneAgent> {
        let mut fields = self.fields(node, path, "an agent", AGENT_KEYS)?;
        let pose = fields.require(self, "spawn_pose", "where it starts");
        fields.finish(self, Unknown::Closed, &[]);
        for key in ["interaction_preferences", "services"] {
            if let Some(node) = fields.get(key) {
                idle.note(node.at, &format!("`{key}`"));
            }
        }
        fields.read(self, "services", |d, n, p| Some(d.list_of(n, p, "services", Self::service)));
        let agent = StandaloneAgent {
            agent_id: fields.read(self, "agent_id", Self::agent_id).unwrap_or(0),
            agent_type: fields
                .read(self, "agent_type", |d, n, p| d.lone_type(n, p, dir, known))
                .unwrap_or_else(|| "adult".to_owned()),
            spawn_pose: [0.0; 3],
            goals: self.items(&fields, "goal_sequence", "goals `{x, y}`", Self::goal),
            waypoint_mode: fields
                .read(self, "waypoint_mode", |d, n, p| d.choice(n, p, "waypoint mode", &MODES))
                .unwrap_or(WaypointMode::Once),
            desired_velocity: fields.read(self, "desired_velocity", Self::non_negative).unwrap_or(1.3),
            agent_radius: fields.read(self, "agent_radius", Self::positive).unwrap_or(0.35),
            robot: fields.read(self, "kind", Self::agent_kind).unwrap_or(false),
            policy: fields.read(self, "policy", Self::text).unwrap_or_default(),
            policy_params: fields.read(self, "policy_params", Self::text).unwrap_or_default(),
            spawn_tick: fields.read(self, "spawn_tick", Self::tick).unwrap_or(0),
        };
        let spawn_pose = self.lone_pose(pose?, &fields.path_of("spawn_pose"))?;
        Some(StandaloneAgent { spawn_pose, ..agent })
    }

    /// 0 or `human`, 1 or `robot`.
    fn agent_kind(&mut self, node: &Node, path: &str) -> Option<bool> {
        match node.as_i64() {
            Some(0) => Some(false),
            Some(1) => Some(true),
            Some(other) => {
                self.error(node.at, path, format!("expected 0 for a human or 1 for a robot, found {other}"));
                None
            }
            None => self.choice(node, path, "kind", &[("human", false), ("robot", true)]),
        }
    }

    fn service(&mut self, node: &Node, path: &str) -> Option<()> {
        let mut fields = self.fields(node, path, "a service", &["tag", "max_participants"])?;
        let tag = fields.require(self, "tag", "its name");
        fields.finish(self, Unknown::Closed, &[]);
        self.name(tag?, &fields.path_of("tag"))?;
        fields.read(self, "max_participants", |d, n, p| d.count(n, p, -1, i32::MAX.into()));
        Some(())
    }

    fn lone_object(&mut self, node: &Node, path: &str, idle: &mut Idle) -> Option<StandaloneObject> {
        const KEYS: &[&str] =
            &["object_id", "type", "pose", "capacity", "satisfies", "formation", "interaction_radius"];
        let mut fields = self.fields(node, path, "an object", KEYS)?;
        let id = fields.require(self, "object_id", "a name");
        let kind = fields.require(self, "type", "what it is");
        let pose = fields.require(self, "pose", "where it is");
        fields.finish(self, Unknown::Closed, &[]);
        let formation = fields.read(self, "formation", Self::lone_formation);
        idle.note(node.at, "`world_objects`");
        let object = StandaloneObject {
            object_id: String::new(),
            kind: kind.and_then(|n| self.name(n, &fields.path_of("type"))).unwrap_or_default(),
            pose: pose.and_then(|n| self.lone_pose(n, &fields.path_of("pose"))).unwrap_or_default(),
            capacity: fields
                .read(self, "capacity", |d, n, p| d.count(n, p, 0, i32::MAX.into()))
                .map_or(1, |n| n as u32),
            satisfies: fields.read(self, "satisfies", Self::numbers).unwrap_or_default(),
            interaction_radius: fields.read(self, "interaction_radius", Self::non_negative).unwrap_or(0.0),
            formation: formation.as_ref().map(|(kind, _)| kind.clone()).unwrap_or_default(),
            formation_params: formation.map(|(_, params)| params).unwrap_or_default(),
        };
        let object_id = self.name(id?, &fields.path_of("object_id"))?;
        Some(StandaloneObject { object_id, ..object })
    }

    /// A map of names to numbers.
    fn numbers(&mut self, node: &Node, path: &str) -> Option<Vec<(String, f64)>> {
        let Some(entries) = node.entries() else {
            self.mismatch(node, path, "a map of names to numbers");
            return None;
        };
        let read = |entry: &crate::tree::Entry| {
            let path = crate::tree::join(path, &entry.key);
            Some((entry.key.clone(), self.number(&entry.value, &path)?))
        };
        Some(entries.iter().filter_map(read).collect())
    }

    fn lone_formation(&mut self, node: &Node, path: &str) -> Option<(String, Vec<(String, f64)>)> {
        let mut fields = self.fields(node, path, "a formation", &["type", "anchor", "params"])?;
        let kind = fields.require(self, "type", "the name of a formation");
        fields.finish(self, Unknown::Closed, &[]);
        let params = fields.read(self, "params", |d, n, p| {
            let entries = n.entries()?;
            let number = |entry: &crate::tree::Entry| {
                let path = crate::tree::join(p, &entry.key);
                // Explicit places and switches are for formations alone to read.
                entry.value.as_f64()?;
                Some((entry.key.clone(), d.number(&entry.value, &path)?))
            };
            Some(entries.iter().filter_map(number).collect())
        });
        const KINDS: [(&str, &str); 5] = [
            ("line", "line"),
            ("cluster", "cluster"),
            ("f_formation", "f_formation"),
            ("dyad", "dyad"),
            ("walk", "walk"),
        ];
        let kind = self.choice(kind?, &fields.path_of("type"), "formation", &KINDS)?;
        Some((kind.to_owned(), params.unwrap_or_default()))
    }

    fn lone_wall(&mut self, node: &Node, path: &str) -> Option<StandaloneWall> {
        let mut fields = self.fields(node, path, "a wall", &["name", "start", "end"])?;
        let start = fields.require(self, "start", "`{x, y}`");
        let end = fields.require(self, "end", "`{x, y}`");
        fields.finish(self, Unknown::Closed, &[]);
        let name = fields.read(self, "name", Self::name);
        let start = start.map(|n| self.lone_point(n, &fields.path_of("start")));
        let end = end.map(|n| self.lone_point(n, &fields.path_of("end")));
        // One that nobody has to name gets its place in the file.
        let name = name.unwrap_or_else(|| path.to_owned());
        Some(StandaloneWall { name, start: start??, end: end?? })
    }

    fn lone_obstacle(&mut self, node: &Node, path: &str) -> Option<StandaloneObstacle> {
        const KEYS: &[&str] = &["name", "pose", "bb", "obstacle_type", "interaction_types"];
        let mut fields = self.fields(node, path, "an obstacle", KEYS)?;
        let pose = fields.require(self, "pose", "where it is");
        let bounds = fields.require(self, "bb", "`{x_min, x_max, y_min, y_max}`");
        fields.finish(self, Unknown::Closed, &[]);
        let obstacle = StandaloneObstacle {
            name: fields.read(self, "name", Self::name).unwrap_or_else(|| path.to_owned()),
            pose: [0.0; 3],
            bounds: [[0.0; 2]; 3],
            obstacle_type: fields.read(self, "obstacle_type", Self::text).unwrap_or_default(),
            interaction_types: self.items(&fields, "interaction_types", "names", Self::name),
        };
        let pose = pose.map(|n| self.lone_pose(n, &fields.path_of("pose")));
        let bounds = bounds.map(|n| self.bounds(n, &fields.path_of("bb")));
        Some(StandaloneObstacle { pose: pose??, bounds: bounds??, ..obstacle })
    }

    fn bounds(&mut self, node: &Node, path: &str) -> Option<[[f64; 2]; 3]> {
        const KEYS: &[&str] = &["x_min", "x_max", "y_min", "y_max", "z_min", "z_max"];
        let mut fields = self.fields(node, path, "a box", KEYS)?;
        let flat: Vec<Option<&Node>> =
            KEYS[..4].iter().map(|key| fields.require(self, key, "metres")).collect();
        fields.finish(self, Unknown::Closed, &[]);
        let mut bounds = [[0.0; 2]; 3];
        for (i, node) in flat.into_iter().enumerate() {
            bounds[i / 2][i % 2] = self.number(node?, &fields.path_of(KEYS[i]))?;
        }
        for (i, key) in KEYS[4..].iter().enumerate() {
            bounds[2][i] = fields.read(self, key, Self::number).unwrap_or(0.0);
        }
        for (axis, [least, most]) in ["x", "y", "z"].iter().zip(bounds) {
            if least > most {
                self.error(node.at, path, format!("{axis}_min {least} is greater than {axis}_max {most}"));
                return None;
            }
        }
        Some(bounds)
    }

    fn interaction_script(&mut self, node: &Node, path: &str, known: &Known) -> Option<InteractionScript> {
        const KEYS: &[&str] = &["tick", "interaction_type", "participants", "duration_ticks", "metadata"];
        let mut fields = self.fields(node, path, "an interaction script", KEYS)?;
        let tick = fields.require(self, "tick", "when");
        let kind = fields.require(self, "interaction_type", "a kind of interaction");
        let participants = fields.require(self, "participants", "ids of agents");
        fields.finish(self, Unknown::Closed, &[]);
        let kind = kind.and_then(|n| self.interaction_kind(n, &fields.path_of("interaction_type")));
        let participants = participants.map(|n| {
            let path = fields.path_of("participants");
            self.list_of(n, &path, "ids of agents", |d, n, p| d.known_agent(n, p, known))
        });
        let object_id = fields.read(self, "metadata", |d, n, p| {
            let fields = d.fields(n, p, "metadata", &["object_id"])?;
            fields.finish(d, Unknown::Open, &[]);
            fields.read(d, "object_id", |d, n, p| d.known_object(n, p, known, false))
        });
        let duration_ticks = fields.read(self, "duration_ticks", Self::tick).unwrap_or(0);
        let tick = self.tick(tick?, &fields.path_of("tick"))?;
        Some(InteractionScript {
            tick,
            kind: kind?.to_owned(),
            participants: participants?,
            duration_ticks,
            object_id,
        })
    }

    fn event_script(&mut self, node: &Node, path: &str, known: &Known) -> Option<EventScript> {
        let mut fields = self.fields(node, path, "an event script", &["tick", "event", "target_agent"])?;
        let tick = fields.require(self, "tick", "when");
        let event = fields.require(self, "event", "the name of an event");
        fields.finish(self, Unknown::Closed, &[]);
        let target_agent = fields.read(self, "target_agent", |d, n, p| match n.as_i64() {
            Some(-1) => Some(-1),
            _ => d.known_agent(n, p, known),
        });
        let tick = self.tick(tick?, &fields.path_of("tick"))?;
        let event = self.name(event?, &fields.path_of("event"))?;
        Some(EventScript { tick, event, target_agent: target_agent.unwrap_or(-1) })
    }

    fn known_agent(&mut self, node: &Node, path: &str, known: &Known) -> Option<i32> {
        let id = self.agent_id(node, path)?;
        if !known.agents.contains(&id.into()) {
            self.error(node.at, path, format!("no agent of the file has the id {id}"));
            return None;
        }
        Some(id)
    }

    /// An object by id, or where that is allowed by what it is.
    pub(super) fn known_object(
        &mut self,
        node: &Node,
        path: &str,
        known: &Known,
        or_kind: bool,
    ) -> Option<String> {
        let name = self.name(node, path)?;
        let of_kind = or_kind && known.object_kinds.contains(&name);
        if !of_kind && !known.objects.contains(&name) {
            let kinds = known.object_kinds.iter().filter(|_| or_kind);
            let meant = self.nearest(&name, known.objects.iter().chain(kinds).map(String::as_str));
            self.error_try(node.at, path, format!("no object of the file is named {name:?}"), meant);
            return None;
        }
        Some(name)
    }
}
