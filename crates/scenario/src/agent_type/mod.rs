//! Agent types: what the human layer reads of their files (human-layer specification, section 24), and the built-in ones.
//!
//! The file belongs to the pedestrian engine. Behaviour (`needs`, `actions`, `sequences`) is carried along and not interpreted
//! here, and nothing is drawn from a distribution.

mod library;

use std::path::{Path, PathBuf};

use crate::decode::{Decoder, Fields, Unknown};
use crate::problem::{Loaded, Report, nearest};
use crate::scenario::read_text;
use crate::tree::{Node, Value};

pub use library::{AgentTypeError, AgentTypeLibrary, BUILT_IN_TYPES, ResolvedType, TypeDocument};

/// Fields that are drawn per person.
pub const DISTRIBUTIONS: [&str; 10] = [
    "desired_velocity",
    "max_velocity",
    "max_acceleration",
    "max_deceleration",
    "agent_radius",
    "min_turning_radius",
    "pivot_angular_velocity",
    "reaction_time",
    "personal_space_min",
    "idle_gaze_rate",
];

/// A clipped distribution.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Distribution {
    /// Mean (the median for `reaction_time`).
    pub mean: f64,
    /// Standard deviation.
    pub std: f64,
    /// Smallest value.
    pub clip_low: f64,
    /// Largest value, possibly infinite.
    pub clip_high: f64,
}

impl Distribution {
    /// A distribution that always gives `value`, within the default clips.
    #[must_use]
    pub const fn exactly(value: f64) -> Self {
        Self { mean: value, std: 0.0, clip_low: 0.01, clip_high: f64::INFINITY }
    }
}

/// How an agent decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AgentMode {
    /// Along its way-points.
    Simple,
    /// By needs and sequences.
    BehaviorTree,
}

/// An agent-type file: only what it declares, before `extends` is applied.
#[derive(Debug, Clone, PartialEq)]
pub struct AgentTypeFile {
    /// The file it was read from.
    pub file: PathBuf,
    /// Declared name; without one a type goes by its file's stem.
    pub name: Option<String>,
    /// Built-in type it builds on.
    pub extends: Option<String>,
    /// Declared mode.
    pub mode: Option<AgentMode>,
    /// Declared distributions among [`DISTRIBUTIONS`], in file order.
    pub distributions: Vec<(String, Distribution)>,
    /// Declared numbers of `perception`, in file order; angles in degrees, as written.
    pub perception: Vec<(String, Distribution)>,
    /// Declared numbers of `local_planner_params`, in file order.
    pub local_planner_params: Vec<(String, Distribution)>,
    /// `locomotion.phase_warp.split`, between 0 and 1.
    pub phase_warp_split: Option<f64>,
    /// The `pose:` section, as written, for the gait.
    pub pose: Option<Node>,
    /// Tags a model must carry.
    pub assets: Vec<String>,
    /// The whole file as written.
    pub document: Node,
}

/// Every key but the [`DISTRIBUTIONS`].
const KEYS: &[&str] = &[
    "name",
    "extends",
    "description",
    "mode",
    "perception",
    "perception_stack",
    "local_planner",
    "local_planner_params",
    "global_planner",
    "global_planner_params",
    "animation",
    "needs",
    "utility_weights",
    "actions",
    "sequences",
    "initial_sequence",
    "assets",
    "pose",
    "locomotion",
    "handedness",
    "interaction_class",
];

impl AgentTypeFile {
    /// Read an agent-type file.
    ///
    /// # Errors
    /// Every problem of the file, at least one of them an error.
    pub fn load(file: &Path) -> Result<Loaded<Self>, Report> {
        let text = read_text(file).map_err(|problem| Report::new(vec![problem]))?;
        Self::parse(&text, file)
    }

    /// Read an agent type from text; `file` is for messages and need not exist.
    ///
    /// # Errors
    /// Every problem of the text, at least one of them an error.
    pub fn parse(text: &str, file: &Path) -> Result<Loaded<Self>, Report> {
        Decoder::read(text, file, |decoder, node| decoder.agent_type_file(node, "", file))
    }

    /// The declared distribution of a field.
    #[must_use]
    pub fn distribution(&self, field: &str) -> Option<Distribution> {
        self.distributions.iter().find(|(name, _)| name == field).map(|(_, d)| *d)
    }
}

/// Keys whose maps a child's go over entry by entry.
const MERGED: [&str; 7] =
    ["needs", "utility_weights", "actions", "sequences", "vars", "perception", "local_planner_params"];
/// Keys whose maps are merged however deep they are.
const MERGED_DEEPLY: [&str; 2] = ["locomotion", "pose"];

/// A type's document over that of the type it extends (crowd-engine specification, section 10.2): behaviour, perception and planner
/// parameters merge entry by entry, locomotion and poses field by field, everything else is replaced, so that a distribution
/// never keeps the clips of another. Keys of `base` come first, in its order.
#[must_use]
pub fn extend(base: &Node, own: &Node) -> Node {
    merge(base, own, |key, base, own| match key {
        _ if MERGED.contains(&key) => merge(base, own, |_, _, own| own.clone()),
        _ if MERGED_DEEPLY.contains(&key) => merge_deeply(base, own),
        _ => own.clone(),
    })
}

fn merge_deeply(base: &Node, own: &Node) -> Node {
    merge(base, own, |_, base, own| merge_deeply(base, own))
}

/// Both maps as one; `both` decides about a key that both have. What is no map is replaced.
fn merge(base: &Node, own: &Node, both: impl Fn(&str, &Node, &Node) -> Node) -> Node {
    let (Value::Map(base_entries), Value::Map(own_entries)) = (&base.value, &own.value) else {
        return own.clone();
    };
    let mut merged = base_entries.clone();
    for entry in own_entries {
        match merged.iter_mut().find(|e| e.key == entry.key) {
            Some(existing) => {
                existing.value = both(&entry.key, &existing.value, &entry.value);
                existing.at = entry.at;
            }
            None => merged.push(entry.clone()),
        }
    }
    Node { value: Value::Map(merged), at: own.at }
}

impl Decoder {
    /// An agent type at a path of a document.
    pub(crate) fn agent_type_file(&mut self, node: &Node, path: &str, file: &Path) -> Option<AgentTypeFile> {
        let fields = self.fields_of(node, path, "an agent type", [KEYS, &DISTRIBUTIONS])?;
        let value = AgentTypeFile {
            file: file.to_owned(),
            name: fields.read(self, "name", Self::name),
            extends: fields.read(self, "extends", Self::extends),
            mode: fields.read(self, "mode", |d, n, p| {
                d.choice(
                    n,
                    p,
                    "mode",
                    &[("simple", AgentMode::Simple), ("behavior_tree", AgentMode::BehaviorTree)],
                )
            }),
            distributions: self.declared_distributions(&fields),
            perception: self.section(&fields, "perception"),
            local_planner_params: self.section(&fields, "local_planner_params"),
            phase_warp_split: self.phase_warp_split(&fields),
            pose: fields.get("pose").cloned(),
            assets: fields
                .read(self, "assets", |d, n, p| Some(d.list_of(n, p, "tags", Self::name)))
                .unwrap_or_default(),
            document: node.clone(),
        };
        fields.finish(self, Unknown::Open, &[]);
        self.initial_sequence(&fields);
        Some(value)
    }

    fn extends(&mut self, node: &Node, path: &str) -> Option<String> {
        let base = self.name(node, path)?;
        if !BUILT_IN_TYPES.contains(&base.as_str()) {
            let known = BUILT_IN_TYPES.map(|t| format!("`{t}`")).join(", ");
            self.error_try(
                node.at,
                path,
                format!("{base:?} is no built-in type, and only those can be extended: {known}"),
                nearest(&base, BUILT_IN_TYPES).map(str::to_owned),
            );
            return None;
        }
        Some(base)
    }

    fn declared_distributions(&mut self, fields: &Fields<'_>) -> Vec<(String, Distribution)> {
        let mut declared = Vec::new();
        for entry in fields.entries() {
            if DISTRIBUTIONS.contains(&entry.key.as_str())
                && let Some(distribution) = self.distribution(&entry.value, &fields.path_of(&entry.key))
            {
                declared.push((entry.key.clone(), distribution));
            }
        }
        declared
    }

    /// A number or `{mean, std, clip_low, clip_high}`.
    fn distribution(&mut self, node: &Node, path: &str) -> Option<Distribution> {
        if node.as_f64().is_some() {
            return self.number(node, path).map(Distribution::exactly);
        }
        if node.entries().is_none() {
            self.mismatch(node, path, "a number or `{mean, std, clip_low, clip_high}`");
            return None;
        }
        let mut fields =
            self.fields(node, path, "a distribution", &["mean", "std", "clip_low", "clip_high"])?;
        let mean = fields.require(self, "mean", "the mean");
        fields.finish(self, Unknown::Closed, &[]);
        let mean = mean.and_then(|n| self.number(n, &fields.path_of("mean")));
        let std = fields.read(self, "std", Self::non_negative).unwrap_or(0.0);
        let clip_low = fields.read(self, "clip_low", Self::number).unwrap_or(0.01);
        let clip_high = fields.read(self, "clip_high", |d, n, p| {
            if n.as_f64() == Some(f64::INFINITY) { Some(f64::INFINITY) } else { d.number(n, p) }
        });
        let clip_high = clip_high.unwrap_or(f64::INFINITY);
        if clip_low > clip_high {
            self.error(node.at, path, format!("clip_low {clip_low} is greater than clip_high {clip_high}"));
        }
        Some(Distribution { mean: mean?, std, clip_low, clip_high })
    }

    /// Numbers of an engine section; values of other kinds are the engine's business.
    fn section(&mut self, fields: &Fields<'_>, key: &str) -> Vec<(String, Distribution)> {
        let Some(node) = fields.get(key) else {
            return Vec::new();
        };
        let path = fields.path_of(key);
        let Some(entries) = node.entries() else {
            self.mismatch(node, &path, "a map");
            return Vec::new();
        };
        entries
            .iter()
            .filter(|e| e.value.as_f64().is_some() || e.value.get("mean").is_some())
            .filter_map(|e| {
                let distribution = self.distribution(&e.value, &crate::tree::join(&path, &e.key))?;
                Some((e.key.clone(), distribution))
            })
            .collect()
    }

    fn phase_warp_split(&mut self, fields: &Fields<'_>) -> Option<f64> {
        let node = fields.get("locomotion")?.get("phase_warp")?.get("split")?;
        let path = &fields.path_of("locomotion.phase_warp.split");
        // Of a distribution the mean counts: the split shapes a gait, it is not drawn per person.
        let split = self.distribution(node, path)?.mean;
        if !(split > 0.0 && split < 1.0) {
            self.error(node.at, path, format!("expected a fraction between 0 and 1, found {split}"));
            return None;
        }
        Some(split)
    }

    fn initial_sequence(&mut self, fields: &Fields<'_>) {
        let (Some(initial), Some(sequences)) =
            (fields.get("initial_sequence"), fields.get("sequences").and_then(Node::entries))
        else {
            return;
        };
        let Some(name) = initial.as_str() else {
            self.mismatch(initial, &fields.path_of("initial_sequence"), "the name of a sequence");
            return;
        };
        // With `extends` the sequence may be the base type's.
        if !fields.has("extends") && !sequences.iter().any(|s| s.key == name) {
            let meant = nearest(name, sequences.iter().map(|s| s.key.as_str()));
            self.error_try(
                initial.at,
                &fields.path_of("initial_sequence"),
                format!("no sequence is named {name:?}"),
                meant.map(str::to_owned),
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::parse_document;

    #[test]
    fn each_part_of_a_type_goes_over_its_parent_in_its_own_way() {
        let parse = |text| parse_document(text, Path::new("t")).0.expect("parses");
        let base = parse(
            "desired_velocity: {mean: 1.3, std: 0.2}\nassets: [a, b]\nperception: {range: {mean: 5, std: 1}, fov: 180}\npose: {walk: {base: a, gain: {factor: 2}}}",
        );
        let own = parse(
            "desired_velocity: {mean: 0.9}\nassets: [c]\nperception: {range: {mean: 4}}\npose: {walk: {gain: {min: 1}}}\nname: slow",
        );
        let merged = extend(&base, &own).to_json();
        assert_eq!(
            merged,
            serde_json::json!({
                "desired_velocity": {"mean": 0.9},
                "assets": ["c"],
                "perception": {"range": {"mean": 4}, "fov": 180},
                "pose": {"walk": {"base": "a", "gain": {"factor": 2, "min": 1}}},
                "name": "slow",
            })
        );
    }

    #[test]
    fn numbers_and_maps_are_distributions() {
        let text = "name: slow\nextends: adult\ndesired_velocity: 0.7\nreaction_time: {mean: 0.4, std: 0.1, clip_high: .inf}\nperception: {vision_fov: 120, vision_occlusion: true}\nlocomotion: {phase_warp: {split: 0.4}}\n";
        let t = AgentTypeFile::parse(text, Path::new("t.yaml")).expect("loads").value;
        assert_eq!(t.distribution("desired_velocity"), Some(Distribution::exactly(0.7)));
        assert_eq!(t.distribution("reaction_time").map(|d| (d.mean, d.std)), Some((0.4, 0.1)));
        assert_eq!(t.perception.len(), 1);
        assert_eq!(t.phase_warp_split, Some(0.4));
    }

    #[test]
    fn only_built_in_types_are_extended() {
        let report =
            AgentTypeFile::parse("name: a\nextends: adlut\n", Path::new("t.yaml")).expect_err("refused");
        assert!(report.to_string().ends_with("(try: adult)"), "{report}");
    }
}
