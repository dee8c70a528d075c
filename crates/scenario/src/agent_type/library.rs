//! The built-in agent types, and whole types: a file together with what it extends.
//!
//! The built-in files of `configs/agent_types` are part of the program, so a name resolves wherever it runs. What a pose section means
//! is the gait's business: it gets the chain of documents and the merged sections.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};

use super::{AgentTypeFile, Distribution, extend};
use crate::decode::Decoder;
use crate::entry::AgentType;
use crate::problem::{Report, nearest, shown};
use crate::scenario::read_text;
use crate::tree::{Node, Value};

/// Types that a name stands for and that a file may extend.
pub const BUILT_IN_TYPES: [&str; 8] =
    ["adult", "elder", "robot", "child", "hurried", "distracted", "wheelchair_manual", "adult_limp_right"];

macro_rules! built_in {
    ($name:literal) => {
        include_str!(concat!("../../../../configs/agent_types/", $name, ".yaml"))
    };
}

/// In the order of [`BUILT_IN_TYPES`].
const TEXTS: [&str; BUILT_IN_TYPES.len()] = [
    built_in!("adult"),
    built_in!("elder"),
    built_in!("robot"),
    built_in!("child"),
    built_in!("hurried"),
    built_in!("distracted"),
    built_in!("wheelchair_manual"),
    built_in!("adult_limp_right"),
];

/// Distributions of a type that says nothing about them (crowd-engine specification, section 10.1).
const DEFAULTS: [(&str, Distribution); 10] = [
    ("desired_velocity", distribution(1.1, 0.12, 0.01, f64::INFINITY)),
    ("max_velocity", distribution(1.5, 0.1, 0.5, f64::INFINITY)),
    ("max_acceleration", distribution(1.5, 0.1, 0.3, f64::INFINITY)),
    ("max_deceleration", distribution(2.5, 0.2, 0.5, f64::INFINITY)),
    ("agent_radius", distribution(0.35, 0.02, 0.01, f64::INFINITY)),
    ("min_turning_radius", distribution(0.3, 0.03, 0.1, f64::INFINITY)),
    ("pivot_angular_velocity", distribution(2.0, 0.2, 1.0, f64::INFINITY)),
    ("reaction_time", distribution(0.4, 0.3, 0.05, 1.5)),
    ("personal_space_min", distribution(0.6, 0.15, 0.2, 2.0)),
    ("idle_gaze_rate", Distribution::exactly(0.0)),
];

/// As [`DEFAULTS`], of `perception`; angles in degrees.
const PERCEPTION_DEFAULTS: [(&str, Distribution); 3] = [
    ("vision_range", distribution(5.0, 0.5, 0.01, f64::INFINITY)),
    ("vision_fov", distribution(180.0, 10.0, 0.01, f64::INFINITY)),
    ("proximity_sense", distribution(1.0, 0.2, 0.5, 2.0)),
];

const fn distribution(mean: f64, std: f64, clip_low: f64, clip_high: f64) -> Distribution {
    Distribution { mean, std, clip_low, clip_high }
}

/// One document of a type.
#[derive(Debug, Clone, PartialEq)]
pub struct TypeDocument {
    /// The name it goes by: a built-in name, or the file's stem.
    pub name: String,
    /// Its file; of a built-in type the one it was built from, which need not be there.
    pub file: PathBuf,
    /// Its text.
    pub text: String,
}

/// A type with everything it extends.
#[derive(Debug, Clone, PartialEq)]
pub struct ResolvedType {
    /// Its documents: its own first, then the one it extends, and so on.
    pub chain: Vec<TypeDocument>,
    /// What all of them declare together; `extends` is gone.
    pub merged: AgentTypeFile,
    /// Warnings and hints about its own file; never an error.
    pub report: Report,
}

impl ResolvedType {
    /// The merged `pose:` section, if any document has one.
    #[must_use]
    pub const fn pose(&self) -> Option<&Node> {
        self.merged.pose.as_ref()
    }

    /// The merged `locomotion:` section. A type without one has no gait phase of its own.
    #[must_use]
    pub fn locomotion(&self) -> Option<&Node> {
        self.merged.document.get("locomotion")
    }

    /// One of [`DISTRIBUTIONS`](super::DISTRIBUTIONS): as declared, or as it holds for every type; `None` for another word.
    #[must_use]
    pub fn distribution(&self, field: &str) -> Option<Distribution> {
        self.merged.distribution(field).or_else(|| named(&DEFAULTS, field))
    }

    /// A number of `perception`, in metres or degrees: as declared, or as it holds for every type; `None` for another word.
    #[must_use]
    pub fn perception(&self, field: &str) -> Option<Distribution> {
        let declared = self.merged.perception.iter().find(|(name, _)| name == field);
        declared.map(|(_, d)| *d).or_else(|| named(&PERCEPTION_DEFAULTS, field))
    }
}

fn named(table: &[(&str, Distribution)], field: &str) -> Option<Distribution> {
    table.iter().find(|(name, _)| *name == field).map(|(_, d)| *d)
}

/// Why there is no such type.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum AgentTypeError {
    /// A name that is no built-in type.
    #[error("no built-in agent type is named {name:?}; there are {}{}", known(), suggestion(nearest))]
    Unknown {
        /// The name.
        name: String,
        /// The built-in type most like it.
        nearest: Option<String>,
    },
    /// A path without a file.
    #[error("there is no agent type {}", shown(file))]
    Missing {
        /// The path.
        file: PathBuf,
    },
    /// A file that does not hold, with every problem.
    #[error("{0}")]
    Broken(Report),
}

fn known() -> String {
    BUILT_IN_TYPES.map(|name| format!("`{name}`")).join(", ")
}

fn suggestion(nearest: &Option<String>) -> String {
    nearest.as_ref().map_or_else(String::new, |n| format!("  (try: {n})"))
}

/// The built-in types by name, and files over them.
#[derive(Debug)]
pub struct AgentTypeLibrary {
    built_in: BTreeMap<&'static str, Result<Arc<ResolvedType>, AgentTypeError>>,
}

static BUILT_IN: LazyLock<AgentTypeLibrary> = LazyLock::new(AgentTypeLibrary::new);

impl AgentTypeLibrary {
    /// The library; it is read once.
    #[must_use]
    pub fn built_in() -> &'static Self {
        &BUILT_IN
    }

    fn new() -> Self {
        let mut library = Self { built_in: BTreeMap::new() };
        let texts = || BUILT_IN_TYPES.into_iter().zip(TEXTS);
        // Those that extend nothing first, so that the others find them.
        let extends = |text: &str| text.lines().any(|line| line.starts_with("extends:"));
        for (name, text) in texts().filter(|(_, t)| !extends(t)).chain(texts().filter(|(_, t)| extends(t))) {
            let file = format!("configs/agent_types/{name}.yaml");
            let resolved = library.parse(text, Path::new(&file)).map(Arc::new);
            library.built_in.insert(name, resolved);
        }
        library
    }

    /// A built-in type by name.
    ///
    /// # Errors
    /// [`AgentTypeError::Unknown`] with the name most like it.
    pub fn named(&self, name: &str) -> Result<&Arc<ResolvedType>, AgentTypeError> {
        match self.built_in.get(name) {
            Some(resolved) => resolved.as_ref().map_err(Clone::clone),
            None => Err(AgentTypeError::Unknown {
                name: name.to_owned(),
                nearest: nearest(name, BUILT_IN_TYPES).map(str::to_owned),
            }),
        }
    }

    /// The type that a scenario refers to. A file is read at every call.
    ///
    /// # Errors
    /// No such name or file, or every problem of the file.
    pub fn resolve(&self, agent_type: &AgentType) -> Result<Arc<ResolvedType>, AgentTypeError> {
        match agent_type {
            AgentType::Named(name) => self.named(name).cloned(),
            AgentType::File(file) if !file.exists() => Err(AgentTypeError::Missing { file: file.clone() }),
            AgentType::File(file) => {
                let text = read_text(file).map_err(|p| AgentTypeError::Broken(Report::new(vec![p])))?;
                self.parse(&text, file).map(Arc::new)
            }
        }
    }

    /// The type of a text; `file` is for messages and need not exist.
    ///
    /// # Errors
    /// [`AgentTypeError::Broken`] with every problem of the text.
    pub fn parse(&self, text: &str, file: &Path) -> Result<ResolvedType, AgentTypeError> {
        let own = AgentTypeFile::parse(text, file).map_err(AgentTypeError::Broken)?;
        let stem = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let document = TypeDocument { name: stem, file: file.to_owned(), text: text.to_owned() };
        let Some(parent) = &own.value.extends else {
            return Ok(ResolvedType { chain: vec![document], merged: own.value, report: own.report });
        };
        let parent = self.named(parent)?;
        let mut merged = extend(&parent.merged.document, &own.value.document);
        if let Value::Map(entries) = &mut merged.value {
            entries.retain(|entry| entry.key != "extends");
        }
        // The parent holds, so whatever is wrong with the whole is wrong in this file.
        let mut decoder = Decoder::new(file, own.report.into_problems());
        let value = decoder.agent_type_file(&merged, "", file);
        let report = Report::new(decoder.into_problems());
        match value {
            Some(merged) if !report.has_errors() => {
                let chain = std::iter::once(document).chain(parent.chain.iter().cloned()).collect();
                Ok(ResolvedType { chain, merged, report })
            }
            _ => Err(AgentTypeError::Broken(report)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent_type::{AgentMode, DISTRIBUTIONS};

    fn built_in(name: &str) -> &'static ResolvedType {
        AgentTypeLibrary::built_in().named(name).unwrap_or_else(|e| panic!("{e}"))
    }

    #[test]
    fn every_built_in_type_loads_clean_under_its_name() {
        for name in BUILT_IN_TYPES {
            let resolved = built_in(name);
            assert_eq!(resolved.merged.name.as_deref(), Some(name));
            assert!(resolved.report.is_empty(), "{}", resolved.report);
            assert_eq!(resolved.merged.extends, None);
            let chain: Vec<&str> = resolved.chain.iter().map(|d| d.name.as_str()).collect();
            let stands_alone = ["adult", "elder", "robot"].contains(&name);
            assert_eq!(chain, if stands_alone { vec![name] } else { vec![name, "adult"] });
        }
    }

    #[test]
    fn the_numbers_are_those_of_the_engine() {
        let of = |name, field| {
            let d = built_in(name).distribution(field).expect("a distribution");
            [d.mean, d.std, d.clip_low, d.clip_high]
        };
        assert_eq!(of("adult", "desired_velocity"), [1.1, 0.12, 0.5, 1.5]);
        assert_eq!(of("adult", "reaction_time"), [0.4, 0.3, 0.05, 1.5], "the engine's own");
        assert_eq!(of("elder", "max_velocity"), [1.0, 0.1, 0.5, 1.5]);
        assert_eq!(of("elder", "idle_gaze_rate")[..2], [0.0, 0.0]);
        assert_eq!(of("child", "agent_radius"), [0.18, 0.02, 0.12, 0.25]);
        assert_eq!(of("hurried", "agent_radius"), of("adult", "agent_radius"));
        assert_eq!(of("distracted", "idle_gaze_rate"), [0.05, 0.03, 0.0, 0.2]);
        assert_eq!(of("robot", "min_turning_radius")[..2], [0.0, 0.0]);
        assert_eq!(of("wheelchair_manual", "agent_radius")[..2], [0.325, 0.0]);
        assert_eq!(of("adult_limp_right", "max_velocity"), [1.1, 0.1, 0.6, 1.4]);
        let fov = built_in("distracted").perception("vision_fov").expect("a number");
        assert_eq!([fov.mean, fov.std, fov.clip_low, fov.clip_high], [90.0, 15.0, 60.0, 130.0]);
        assert_eq!(built_in("robot").perception("proximity_sense").map(|d| d.std), Some(0.2));
        assert!(DISTRIBUTIONS.iter().all(|field| built_in("robot").distribution(field).is_some()));
        assert_eq!(built_in("adult").distribution("colour"), None);
    }

    #[test]
    fn only_those_who_walk_differently_have_a_pose_section() {
        let with: Vec<&str> = BUILT_IN_TYPES.into_iter().filter(|n| built_in(n).pose().is_some()).collect();
        assert_eq!(with, ["elder", "child", "hurried", "wheelchair_manual", "adult_limp_right"]);
        assert_eq!(built_in("adult_limp_right").merged.phase_warp_split, Some(0.58));
        assert!(built_in("adult").locomotion().is_none());
    }

    #[test]
    fn a_file_goes_over_the_type_it_extends() {
        let text = "name: visitor\nextends: elder\nmode: behavior_tree\ndesired_velocity: {mean: 0.9}\nperception: {vision_range: 6.0}\npose: {walk: {gain: {factor: 1.1}}}\n";
        let visitor = AgentTypeLibrary::built_in().parse(text, Path::new("visitor.yaml")).expect("holds");
        assert_eq!(visitor.merged.mode, Some(AgentMode::BehaviorTree));
        let velocity = visitor.distribution("desired_velocity").expect("declared");
        assert_eq!(
            (velocity.std, velocity.clip_high),
            (0.0, f64::INFINITY),
            "a distribution is replaced whole"
        );
        assert_eq!(visitor.perception("vision_range"), Some(Distribution::exactly(6.0)));
        assert_eq!(visitor.perception("vision_fov").map(|d| d.mean), Some(140.0));
        let pose = visitor.pose().expect("merged").to_json();
        assert_eq!(
            pose,
            serde_json::json!({
                "walk": {"base": "elder", "gain": {"factor": 1.1}},
                "manner": {"turn_lead": 0.15, "idle_variety": 0.6, "settle": 0.6},
            })
        );
        let chain: Vec<&str> = visitor.chain.iter().map(|d| d.name.as_str()).collect();
        assert_eq!(chain, ["visitor", "elder"]);
    }

    #[test]
    fn what_is_not_there_is_answered_with_what_is() {
        let library = AgentTypeLibrary::built_in();
        let unknown = library.resolve(&AgentType::Named("eldre".to_owned())).expect_err("unknown");
        assert!(unknown.to_string().ends_with("(try: elder)"), "{unknown}");
        let missing = library.resolve(&AgentType::File("nowhere/guide.yaml".into())).expect_err("missing");
        assert_eq!(missing.to_string(), "there is no agent type nowhere/guide.yaml");
        let text = "name: a\nextends: adult\ninitial_sequence: tour\nsequences: {tuor: {}}\n";
        let broken = library.parse(text, Path::new("a.yaml")).expect_err("broken").to_string();
        assert_eq!(
            broken,
            "a.yaml:3:19: error: initial_sequence: no sequence is named \"tour\"  (try: tuor)"
        );
    }
}
