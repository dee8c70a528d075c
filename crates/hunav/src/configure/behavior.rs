//! The `behavior:` block of an agent.

use promenade_scenario::Node;
use promenade_scenario::decode::{Decoder, Fields, Unknown};

use crate::agent::{Behavior, BehaviorKind, Configuration};

/// The types by the names that HuNavSim 2 writes; their numbers are 1 to 6 in this order.
const KINDS: [(&str, BehaviorKind); 6] = [
    ("Regular", BehaviorKind::Regular),
    ("Impassive", BehaviorKind::Impassive),
    ("Surprised", BehaviorKind::Surprised),
    ("Scared", BehaviorKind::Scared),
    ("Curious", BehaviorKind::Curious),
    ("Threatening", BehaviorKind::Threatening),
];

/// The modes by name; their numbers are 0 to 3 in this order.
const CONFIGURATIONS: [(&str, Configuration); 4] = [
    ("default", Configuration::Default),
    ("custom", Configuration::Custom),
    ("random_normal", Configuration::RandomNormal),
    ("random_uniform", Configuration::RandomUniform),
];

const KEYS: &[&str] = &[
    "type",
    "state",
    "configuration",
    "duration",
    "once",
    "vel",
    "dist",
    "social_force_factor",
    "goal_force_factor",
    "obstacle_force_factor",
    "other_force_factor",
];

/// What a file says about a behaviour; the rest is somebody else's.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BehaviorSpec {
    /// How the agent takes the robot.
    pub kind: Option<BehaviorKind>,
    /// 0 = walks, 1 = reacts.
    pub state: Option<u8>,
    /// Where the factors come from.
    pub configuration: Option<Configuration>,
    /// Seconds of reaction.
    pub duration: Option<f64>,
    /// Whether the agent reacts once only.
    pub once: Option<bool>,
    /// Cruise speed of the reaction, m/s.
    pub vel: Option<f64>,
    /// Distance in metres; its meaning depends on the behaviour.
    pub dist: Option<f64>,
    /// Factor of the social force.
    pub social_force_factor: Option<f64>,
    /// Factor of the force to the goal.
    pub goal_force_factor: Option<f64>,
    /// Factor of the force of obstacles.
    pub obstacle_force_factor: Option<f64>,
    /// Extra push away from the robot.
    pub other_force_factor: Option<f64>,
}

impl BehaviorSpec {
    /// Reads a block. A whole number in its place is a type, as HuNavSim of 2023 writes it.
    pub fn read(d: &mut Decoder, node: &Node, path: &str) -> Option<Self> {
        if node.as_i64().is_some() || node.as_str().is_some() {
            return Some(BehaviorSpec { kind: kind(d, node, path), ..BehaviorSpec::default() });
        }
        let fields = d.fields(node, path, "a behaviour", KEYS)?;
        let number = |d: &mut Decoder, key: &str| fields.read(d, key, Decoder::non_negative);
        let spec = BehaviorSpec {
            kind: fields.read(d, "type", kind),
            state: fields.read(d, "state", state),
            configuration: fields.read(d, "configuration", configuration),
            duration: number(d, "duration"),
            once: fields.read(d, "once", Decoder::boolean),
            vel: number(d, "vel"),
            dist: number(d, "dist"),
            social_force_factor: number(d, "social_force_factor"),
            goal_force_factor: number(d, "goal_force_factor"),
            obstacle_force_factor: number(d, "obstacle_force_factor"),
            other_force_factor: number(d, "other_force_factor"),
        };
        finish(d, &fields);
        Some(spec)
    }

    /// The behaviour with everything that is said here in place of that of `base`.
    #[must_use]
    pub fn over(&self, base: Behavior) -> Behavior {
        Behavior {
            kind: self.kind.unwrap_or(base.kind),
            state: self.state.unwrap_or(base.state),
            configuration: self.configuration.unwrap_or(base.configuration),
            duration: self.duration.unwrap_or(base.duration),
            once: self.once.unwrap_or(base.once),
            vel: self.vel.unwrap_or(base.vel),
            dist: self.dist.unwrap_or(base.dist),
            social_force_factor: self.social_force_factor.unwrap_or(base.social_force_factor),
            goal_force_factor: self.goal_force_factor.unwrap_or(base.goal_force_factor),
            obstacle_force_factor: self.obstacle_force_factor.unwrap_or(base.obstacle_force_factor),
            other_force_factor: self.other_force_factor.unwrap_or(base.other_force_factor),
        }
    }
}

fn finish(d: &mut Decoder, fields: &Fields<'_>) {
    fields.finish(d, Unknown::Closed, &[]);
}

/// A type by number, by name, or by the name of its constant.
fn kind(d: &mut Decoder, node: &Node, path: &str) -> Option<BehaviorKind> {
    numbered(d, node, path, "behaviour", &KINDS, 1, "BEH_")
}

fn configuration(d: &mut Decoder, node: &Node, path: &str) -> Option<Configuration> {
    numbered(d, node, path, "configuration", &CONFIGURATIONS, 0, "BEH_CONF_")
}

/// A value by its number, counted from `first`, or by its name, with or without the prefix of its constant.
fn numbered<T: Copy>(
    d: &mut Decoder,
    node: &Node,
    path: &str,
    what: &str,
    words: &[(&str, T)],
    first: i64,
    prefix: &str,
) -> Option<T> {
    if let Some(text) = node.as_str() {
        let bare = text.get(..prefix.len()).filter(|start| start.eq_ignore_ascii_case(prefix));
        let bare = bare.map_or(text, |_| &text[prefix.len()..]);
        if let Some((_, value)) = words.iter().find(|(word, _)| word.eq_ignore_ascii_case(bare)) {
            return Some(*value);
        }
        return d.choice(node, path, what, words);
    }
    let number = d.integer(node, path)?;
    let at = number.checked_sub(first).and_then(|index| usize::try_from(index).ok());
    let found = at.and_then(|index| words.get(index));
    if found.is_none() {
        let known: Vec<String> =
            (first..).zip(words).map(|(number, (word, _))| format!("{number} ({word})")).collect();
        d.error(node.at, path, format!("there is no {what} {number}; there are {}", known.join(", ")));
    }
    found.map(|(_, value)| *value)
}

fn state(d: &mut Decoder, node: &Node, path: &str) -> Option<u8> {
    let state = d.integer(node, path)?;
    let found = u8::try_from(state).ok().filter(|state| *state <= 2);
    if found.is_none() {
        d.error(node.at, path, format!("expected 0 (walks), 1 (reacts) or 2, found {state}"));
    }
    found
}
