//! The template of every agent, and what an entry of a scenario says instead (section 4.4).

use std::path::Path;

use promenade_scenario::decode::{Decoder, Fields, Unknown};
use promenade_scenario::{Loaded, Node, Problem, Report, Severity, Value};

use super::MissingBehavior;
use super::behavior::BehaviorSpec;
use crate::Point;
use crate::agent::{Agent, Behavior, Kind};

/// The file that is part of the program.
const BUILT_IN: &str = include_str!("../../../../configs/hunav/default.yaml");

const TEMPLATE_KEYS: &[&str] = &[
    "id",
    "group_id",
    "skin",
    "type",
    "max_vel",
    "radius",
    "goal_radius",
    "cyclic_goals",
    "behavior_tree",
    "init_pose",
    "goals",
    "behavior",
];

const POSE_KEYS: &[&str] = &["x", "y", "z", "h"];

/// What an agent is like that nobody says anything about: `configs/hunav/default.yaml`.
#[derive(Clone, Debug, PartialEq)]
pub struct Template {
    /// The agent; its id, name and place are those of nobody in particular.
    pub agent: Agent,
}

impl Template {
    /// The shipped one.
    #[must_use]
    pub fn built_in() -> Self {
        let loaded = Self::read(BUILT_IN, Path::new("configs/hunav/default.yaml"));
        loaded.map(|loaded| loaded.value).unwrap_or_else(|_| Template { agent: Agent::default() })
    }

    /// Reads the text of a template. A key that it leaves out has the value of the force library (section 7) or of the loader
    /// (section 4.1).
    ///
    /// # Errors
    /// Every error of the file.
    pub fn read(text: &str, file: &Path) -> Result<Loaded<Self>, Report> {
        Decoder::read(text, file, |d, node| {
            let fields = d.fields(node, "", "a template of agents", TEMPLATE_KEYS)?;
            let plain = Agent::default();
            let goals = fields.read(d, "goals", |d, n, p| Some(goals(d, &fields, n, p))).unwrap_or_default();
            let pose = fields.read(d, "init_pose", pose).unwrap_or_default();
            let behavior = fields.read(d, "behavior", BehaviorSpec::read).unwrap_or_default();
            let agent = Agent {
                id: fields.read(d, "id", id).unwrap_or(plain.id),
                kind: fields.read(d, "type", kind).unwrap_or(plain.kind),
                skin: fields.read(d, "skin", small).unwrap_or(plain.skin),
                group_id: fields.read(d, "group_id", group).unwrap_or(plain.group_id),
                position: pose.position.unwrap_or_default(),
                z: pose.z.unwrap_or(plain.z),
                yaw: pose.yaw.unwrap_or_default(),
                desired_velocity: non_negative(d, &fields, "max_vel").unwrap_or(plain.desired_velocity),
                radius: non_negative(d, &fields, "radius").unwrap_or(plain.radius),
                behavior: behavior.over(plain.behavior),
                behavior_tree: fields.read(d, "behavior_tree", tree).unwrap_or_default(),
                goals,
                cyclic_goals: fields.read(d, "cyclic_goals", Decoder::boolean).unwrap_or(true),
                goal_radius: non_negative(d, &fields, "goal_radius").unwrap_or(plain.goal_radius),
                ..plain
            };
            fields.finish(d, Unknown::Closed, &goal_names(&fields));
            Some(Template { agent })
        })
    }

    /// The agent of an entry: what the entry says, else what the template says.
    #[must_use]
    pub fn agent(&self, entry: &Entry, missing: MissingBehavior) -> Agent {
        let base = &self.agent;
        let behavior = match (&entry.behavior, missing) {
            (Some(said), _) => said.over(base.behavior),
            (None, MissingBehavior::Template) => base.behavior,
            (None, MissingBehavior::Documented) => Behavior {
                goal_force_factor: 5.0,
                obstacle_force_factor: 0.0,
                social_force_factor: 0.0,
                other_force_factor: 0.0,
                ..base.behavior
            },
        };
        Agent {
            id: entry.id.unwrap_or(base.id),
            kind: entry.kind.unwrap_or(base.kind),
            skin: entry.skin.unwrap_or(base.skin),
            group_id: entry.group_id.unwrap_or(base.group_id),
            position: entry.pose.position.unwrap_or(base.position),
            z: entry.pose.z.unwrap_or(base.z),
            yaw: entry.pose.yaw.unwrap_or(base.yaw),
            desired_velocity: entry.desired_velocity.unwrap_or(base.desired_velocity),
            radius: entry.radius.unwrap_or(base.radius),
            linear_vel: entry.linear_vel.unwrap_or(base.linear_vel),
            angular_vel: entry.angular_vel.unwrap_or(base.angular_vel),
            behavior,
            behavior_tree: entry.behavior_tree.clone().unwrap_or_else(|| base.behavior_tree.clone()),
            goals: entry.goals.clone().unwrap_or_else(|| base.goals.clone()),
            cyclic_goals: entry.cyclic_goals.unwrap_or(base.cyclic_goals),
            goal_radius: entry.goal_radius.unwrap_or(base.goal_radius),
            ..base.clone()
        }
    }
}

/// A pose of which each part may be said or not.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PoseSpec {
    /// Position; both coordinates or none.
    pub position: Option<Point>,
    /// Height.
    pub z: Option<f64>,
    /// Heading.
    pub yaw: Option<f64>,
}

/// What an entry of a scenario says in keys of its own. Coordinates are as written.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Entry {
    /// `id`.
    pub id: Option<i32>,
    /// `type`.
    pub kind: Option<Kind>,
    /// `skin`.
    pub skin: Option<u8>,
    /// `group_id`.
    pub group_id: Option<i8>,
    /// `position`.
    pub pose: PoseSpec,
    /// `desired_velocity`.
    pub desired_velocity: Option<f64>,
    /// `radius`.
    pub radius: Option<f64>,
    /// `linear_vel`.
    pub linear_vel: Option<f64>,
    /// `angular_vel`.
    pub angular_vel: Option<f64>,
    /// `behavior`.
    pub behavior: Option<BehaviorSpec>,
    /// `behavior_tree`; a path that begins with `./` lies beside the scenario and is made whole.
    pub behavior_tree: Option<String>,
    /// `goals`.
    pub goals: Option<Vec<Point>>,
    /// `cyclic_goals`.
    pub cyclic_goals: Option<bool>,
    /// `goal_radius`.
    pub goal_radius: Option<f64>,
}

impl Entry {
    /// Reads the keys of an entry of `dynamic:` as it stands in `file` at `path`. A value that is wrong counts as not said, so every
    /// problem is a warning.
    #[must_use]
    pub fn read(node: &Node, file: &Path, path: &str) -> (Self, Report) {
        let mut d = Decoder::new(file, Vec::new());
        let entry = Self::decode(&mut d, node, path).unwrap_or_default();
        let lenient = |problem| Problem { severity: Severity::Warning, ..problem };
        (entry, Report::new(d.into_problems().into_iter().map(lenient).collect()))
    }

    fn decode(d: &mut Decoder, node: &Node, path: &str) -> Option<Self> {
        // Which keys there are at all is the scenario's to say.
        let fields = d.fields(node, path, "a dynamic entry", &[])?;
        let tree = fields.read(d, "behavior_tree", tree).map(|tree| beside(&tree, d.file()));
        Some(Entry {
            id: fields.read(d, "id", id),
            kind: fields.read(d, "type", kind),
            skin: fields.read(d, "skin", small),
            group_id: fields.read(d, "group_id", group),
            pose: fields.read(d, "position", pose).unwrap_or_default(),
            desired_velocity: non_negative(d, &fields, "desired_velocity"),
            radius: non_negative(d, &fields, "radius"),
            linear_vel: non_negative(d, &fields, "linear_vel"),
            angular_vel: fields.read(d, "angular_vel", Decoder::number),
            behavior: fields.read(d, "behavior", BehaviorSpec::read),
            behavior_tree: tree,
            goals: fields.read(d, "goals", |d, n, p| Some(goals(d, &fields, n, p))),
            cyclic_goals: fields.read(d, "cyclic_goals", Decoder::boolean),
            goal_radius: non_negative(d, &fields, "goal_radius"),
        })
    }
}

/// A path that begins with `./` as a whole path beside `file`; anything else as it is.
pub(super) fn beside(tree: &str, file: &Path) -> String {
    let Some(relative) = tree.strip_prefix("./") else { return tree.to_owned() };
    let whole = file.parent().unwrap_or(Path::new("")).join(relative);
    std::path::absolute(&whole).unwrap_or(whole).display().to_string()
}

fn tree(d: &mut Decoder, node: &Node, path: &str) -> Option<String> {
    if node.as_str() == Some("") { Some(String::new()) } else { d.name(node, path) }
}

pub(super) fn non_negative(d: &mut Decoder, fields: &Fields<'_>, key: &str) -> Option<f64> {
    fields.read(d, key, Decoder::non_negative)
}

pub(super) fn id(d: &mut Decoder, node: &Node, path: &str) -> Option<i32> {
    ranged(d, node, path)
}

/// A group; any negative one is none.
pub(super) fn group(d: &mut Decoder, node: &Node, path: &str) -> Option<i8> {
    ranged(d, node, path)
}

fn small(d: &mut Decoder, node: &Node, path: &str) -> Option<u8> {
    ranged(d, node, path)
}

/// A whole number that fits the field of the message.
pub(super) fn ranged<T: TryFrom<i64>>(d: &mut Decoder, node: &Node, path: &str) -> Option<T> {
    let number = d.integer(node, path)?;
    let found = T::try_from(number).ok();
    if found.is_none() {
        d.error(node.at, path, format!("{number} does not fit the field of the message"));
    }
    found
}

/// 1 when it is no whole number, as in the original.
fn kind(d: &mut Decoder, node: &Node, path: &str) -> Option<Kind> {
    match node.as_i64() {
        Some(1) => Some(Kind::Person),
        Some(2) => Some(Kind::Robot),
        Some(3) => Some(Kind::Other),
        _ => {
            let message = format!("expected 1 (person), 2 (robot) or 3 (other), found {}", node.describe());
            d.warning(node.at, path, message);
            Some(Kind::Person)
        }
    }
}

pub(super) fn pose(d: &mut Decoder, node: &Node, path: &str) -> Option<PoseSpec> {
    let fields = d.fields(node, path, "a pose", POSE_KEYS)?;
    let mut number = |key| fields.read(d, key, Decoder::number);
    let (x, y, z, yaw) = (number("x"), number("y"), number("z"), number("h"));
    if let (Some(_), None) | (None, Some(_)) = (x, y) {
        d.error(node.at, path, "`x` and `y` belong together");
    }
    fields.finish(d, Unknown::Closed, &[]);
    Some(PoseSpec { position: x.zip(y).map(|(x, y)| [x, y]), z, yaw })
}

/// The names in a list of goals.
pub(super) fn goal_names<'a>(fields: &Fields<'a>) -> Vec<&'a str> {
    let items = fields.get("goals").and_then(Node::items).unwrap_or_default();
    items.iter().filter_map(Node::as_str).collect()
}

/// Goals by the names of the sibling keys that hold them; those that are wrong are left out.
pub(super) fn goals(d: &mut Decoder, siblings: &Fields<'_>, node: &Node, path: &str) -> Vec<Point> {
    d.list_of(node, path, "names of goals", |d, item, path| {
        let name = d.name(item, path)?;
        let Some(place) = siblings.get(&name) else {
            let places = siblings.entries().iter().filter(|entry| matches!(entry.value.value, Value::Map(_)));
            let meant = d.nearest(&name, places.map(|entry| entry.key.as_str()));
            d.error_try(
                item.at,
                path,
                format!("there is no goal `{name}`, a key `{{x, y}}` beside the list"),
                meant,
            );
            return None;
        };
        point(d, place, &siblings.path_of(&name))
    })
}

/// `{x, y}`; a height and a heading may be written and are not used.
pub(super) fn point(d: &mut Decoder, node: &Node, path: &str) -> Option<Point> {
    let mut fields = d.fields(node, path, "a goal", POSE_KEYS)?;
    let x = fields.require(d, "x", "metres along x");
    let y = fields.require(d, "y", "metres along y");
    fields.finish(d, Unknown::Closed, &[]);
    let (x, y) = (d.number(x?, &fields.path_of("x")), d.number(y?, &fields.path_of("y")));
    Some([x?, y?])
}
