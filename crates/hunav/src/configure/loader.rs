//! HuNavSim's own files: `hunav_loader: ros__parameters:` (section 4.1).

use std::collections::BTreeMap;
use std::path::Path;

use promenade_scenario::decode::{Decoder, Fields, Unknown};
use promenade_scenario::{Loaded, Node, Position, Report, Value};

use super::behavior::BehaviorSpec;
use super::entry::{beside, goal_names, goals, group, id, non_negative, point, pose};
use super::mode::configure;
use crate::Point;
use crate::agent::{Agent, Behavior};

/// Whose way of writing a file has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoaderFormat {
    /// HuNavSim of 2023: a behaviour is a number.
    P1,
    /// HuNavSim of 2024: a behaviour is a block.
    P15,
    /// HuNavSim 2: numbered goals that all share, and a tree per agent.
    P2,
}

/// A loader file.
#[derive(Clone, Debug, PartialEq)]
pub struct Loader {
    /// Whose way of writing it has.
    pub format: LoaderFormat,
    /// `map`.
    pub map: String,
    /// `publish_people`.
    pub publish_people: bool,
    /// `simulator`.
    pub simulator: String,
    /// `yaml_base_name`.
    pub yaml_base_name: String,
    /// `global_goals`, the first is number 1.
    pub global_goals: Vec<Point>,
    /// The agents in order, their factors as written.
    pub agents: Vec<Agent>,
}

/// The key of the whole file and the one below it.
const ROOT: [&str; 2] = ["hunav_loader", "ros__parameters"];

const AGENT_KEYS: &[&str] = &[
    "id",
    "skin",
    "group_id",
    "max_vel",
    "radius",
    "init_pose",
    "goal_radius",
    "cyclic_goals",
    "goals",
    "behavior",
    "behavior_tree",
];

const KEYS: &[&str] =
    &["map", "publish_people", "agents", "yaml_base_name", "simulator", "global_goals", "use_sim_time"];

/// Fastest reaction of a loader, m/s.
const MOST_VEL: f64 = 1.8;

impl Loader {
    /// Whether a document is a loader file.
    #[must_use]
    pub fn is_one(node: &Node) -> bool {
        node.get(ROOT[0]).is_some()
    }

    /// Reads the text of a loader file.
    ///
    /// # Errors
    /// Every error of the file.
    pub fn read(text: &str, file: &Path) -> Result<Loaded<Self>, Report> {
        Decoder::read(text, file, Self::decode)
    }

    /// The agents as the loader sends them: with the factors of their configuration modes.
    #[must_use]
    pub fn configured(&self, seed: u64) -> Vec<Agent> {
        let mut agents = self.agents.clone();
        for agent in &mut agents {
            configure(&mut agent.behavior, seed, agent.id);
        }
        agents
    }

    fn decode(d: &mut Decoder, node: &Node) -> Option<Self> {
        let mut outer = d.fields(node, "", "a loader file", &ROOT[..1])?;
        let below = outer.require(d, ROOT[0], "the parameters of HuNavSim's loader")?;
        let mut inner = d.fields(below, ROOT[0], "the parameters of a node", &ROOT[1..])?;
        let node = inner.require(d, ROOT[1], "a map of parameters")?;
        let path = inner.path_of(ROOT[1]);
        let mut fields = d.fields(node, &path, "the parameters of the loader", KEYS)?;
        let names = fields.require(d, "agents", "a list of the names of agents");
        let names =
            names.map(|n| d.list_of(n, &fields.path_of("agents"), "names", named)).unwrap_or_default();
        let global_goals = fields.read(d, "global_goals", global_goals);
        let base = fields.read(d, "yaml_base_name", Decoder::text).unwrap_or_default();
        let mut format =
            if global_goals.is_some() || !base.is_empty() { LoaderFormat::P2 } else { LoaderFormat::P15 };
        let global_goals = global_goals.unwrap_or_default();
        let mut ids = BTreeMap::new();
        let mut agents = Vec::new();
        for (name, at) in &names {
            let Some(block) = fields.get(name) else {
                let blocks =
                    fields.entries().iter().filter(|entry| matches!(entry.value.value, Value::Map(_)));
                let meant = d.nearest(name, blocks.map(|entry| entry.key.as_str()));
                let message = format!("there is no block `{name}` for this agent");
                d.error_try(*at, &fields.path_of("agents"), message, meant);
                continue;
            };
            if format != LoaderFormat::P2 && block.get("behavior").is_some_and(|node| node.as_i64().is_some())
            {
                format = LoaderFormat::P1;
            }
            let Some(agent) = agent(d, block, &fields.path_of(name), name, &global_goals, &base) else {
                continue;
            };
            let at = block.get("id").map_or(block.at, |node| node.at);
            if let Some(first) = ids.insert(agent.id, name) {
                let message = format!("the id {} is that of `{first}` too", agent.id);
                d.error(at, &fields.path_of(name), message);
            }
            agents.push(agent);
        }
        let loader = Loader {
            format,
            map: fields.read(d, "map", Decoder::text).unwrap_or_default(),
            publish_people: fields.read(d, "publish_people", Decoder::boolean).unwrap_or(true),
            simulator: fields.read(d, "simulator", Decoder::text).unwrap_or_default(),
            yaml_base_name: base,
            global_goals,
            agents,
        };
        let known: Vec<&str> = names.iter().map(|(name, _)| name.as_str()).collect();
        fields.finish(d, Unknown::Open, &known);
        Some(loader)
    }
}

fn named(d: &mut Decoder, node: &Node, path: &str) -> Option<(String, Position)> {
    Some((d.name(node, path)?, node.at))
}

fn agent(
    d: &mut Decoder,
    node: &Node,
    path: &str,
    name: &str,
    global_goals: &[Point],
    base: &str,
) -> Option<Agent> {
    let mut fields = d.fields(node, path, "an agent", AGENT_KEYS)?;
    let id = fields.read(d, "id", id).unwrap_or(-1);
    let pose = fields.read(d, "init_pose", pose).unwrap_or_default();
    let behavior = fields.read(d, "behavior", BehaviorSpec::read).unwrap_or_default();
    let mut behavior = behavior.over(Behavior::default());
    behavior.vel = behavior.vel.min(MOST_VEL);
    let goals =
        fields.require(d, "goals", "a list of goals").map(|node| route(d, &fields, node, global_goals));
    let own_tree = fields.read(d, "behavior_tree", Decoder::name).map(|tree| beside(&tree, d.file()));
    let tree_of_base = || if base.is_empty() { String::new() } else { format!("{base}__agent_{id}_bt.xml") };
    let agent = Agent {
        id,
        // -1 is "none in particular".
        skin: fields
            .read(d, "skin", Decoder::integer)
            .and_then(|skin| u8::try_from(skin).ok())
            .unwrap_or_default(),
        name: name.to_owned(),
        group_id: fields.read(d, "group_id", group).unwrap_or(-1),
        position: pose.position.unwrap_or_default(),
        z: pose.z.unwrap_or_default(),
        yaw: pose.yaw.unwrap_or_default(),
        desired_velocity: non_negative(d, &fields, "max_vel").unwrap_or(1.0),
        radius: non_negative(d, &fields, "radius").unwrap_or(0.35),
        behavior,
        behavior_tree: own_tree.unwrap_or_else(tree_of_base),
        goals: goals.unwrap_or_default(),
        cyclic_goals: fields.read(d, "cyclic_goals", Decoder::boolean).unwrap_or(true),
        goal_radius: non_negative(d, &fields, "goal_radius").unwrap_or(0.0),
        ..Agent::default()
    };
    fields.finish(d, Unknown::Closed, &goal_names(&fields));
    Some(agent)
}

/// Names of sibling blocks, or numbers of goals that all share.
fn route(d: &mut Decoder, fields: &Fields<'_>, node: &Node, global_goals: &[Point]) -> Vec<Point> {
    let path = fields.path_of("goals");
    let numbered = node.items().is_some_and(|items| items.iter().any(|item| item.as_i64().is_some()));
    if !numbered {
        return goals(d, fields, node, &path);
    }
    d.list_of(node, &path, "numbers of goals", |d, item, path| {
        let number = d.integer(item, path)?;
        let index = usize::try_from(number).ok().and_then(|number| number.checked_sub(1));
        let found = index.and_then(|index| global_goals.get(index));
        if found.is_none() {
            let count = global_goals.len();
            d.error(item.at, path, format!("there is no global goal {number}; there are 1 to {count}"));
        }
        found.copied()
    })
}

/// `{1: {x, y}, 2: ...}`, numbered from 1 without gaps.
fn global_goals(d: &mut Decoder, node: &Node, path: &str) -> Option<Vec<Point>> {
    let Some(entries) = node.entries() else {
        d.mismatch(node, path, "a map of numbers to goals");
        return None;
    };
    let mut numbered = BTreeMap::new();
    for entry in entries {
        let Ok(number) = entry.key.parse::<usize>() else {
            d.error(entry.at, path, format!("the number of a goal is 1 or more, found `{}`", entry.key));
            continue;
        };
        if let Some(place) = point(d, &entry.value, &format!("{path}.{number}")) {
            numbered.insert(number, place);
        }
    }
    if let Some(gap) = (1..).zip(numbered.keys()).find(|(expected, number)| expected != *number) {
        d.error(node.at, path, format!("goals are numbered from 1 without gaps, and {} is missing", gap.0));
    }
    Some(numbered.into_values().collect())
}
