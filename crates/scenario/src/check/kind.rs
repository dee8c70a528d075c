//! What a file is, by its name and else by its keys. Nothing here decides whether it is a good one.

use std::path::Path;

use crate::agent_type::DISTRIBUTIONS;
use crate::assets::{ANNOTATION_FILE, RIG_FILE};
use crate::locate::SCENARIO_FILES;
use crate::problem::{Report, nearest};
use crate::scenario::read_text;
use crate::standalone::StandaloneScenario;
use crate::tree::{Node, parse_document};

/// What a file is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileKind {
    /// A scenario.
    Scenario,
    /// A `world.yaml`.
    World,
    /// An agent type. What it says about poses is the gait's to check.
    AgentType,
    /// A `map.yaml` beside a map image.
    Map,
    /// An `annotation.yaml` of an asset.
    Annotation,
    /// A gait profile; told apart here, checked by the gait.
    Profile,
    /// A `rig.yaml` beside a model; told apart here, checked by the gait.
    Rig,
    /// An `annotations.yaml` of a folder of clips; told apart here, checked by the gait.
    ClipAnnotations,
    /// A clip as key frames; told apart here, checked by the gait.
    KeyFrames,
    /// A scenario of the crowd engine alone. Whether its planners exist is the engine's to say.
    Standalone,
    /// A robot world; told apart here, checked by the robot world.
    RobotWorld,
    /// A loader file of HuNavSim; told apart here, checked by the engine of that name.
    HunavLoader,
    /// A behaviour tree in XML; told apart here, checked by the engine that ticks it.
    BehaviorTree,
    /// None of these.
    Unknown,
}

impl FileKind {
    /// Whether this crate knows everything that can be wrong with such a file.
    #[must_use]
    pub const fn is_checked_here(self) -> bool {
        !matches!(
            self,
            Self::Profile
                | Self::Rig
                | Self::ClipAnnotations
                | Self::KeyFrames
                | Self::RobotWorld
                | Self::HunavLoader
                | Self::BehaviorTree
        )
    }
}

/// What kind of file this is, by its name and else by its keys.
///
/// # Errors
/// When the file cannot be read or is neither YAML nor XML.
pub fn kind_of(file: &Path) -> Result<FileKind, Report> {
    let text = read_text(file).map_err(|p| Report::new(vec![p]))?;
    if is_tree(file) {
        return Ok(FileKind::BehaviorTree);
    }
    match parse_document(&text, file) {
        (Some(node), _) => Ok(kind(file, &node)),
        (None, problems) => Err(Report::new(problems)),
    }
}

/// Whether a file is XML, which of what we read only behaviour trees are.
pub(super) fn is_tree(file: &Path) -> bool {
    file.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("xml"))
}

/// What kind of file a document is.
pub(super) fn kind(file: &Path, node: &Node) -> FileKind {
    let has = |keys: &[&str]| keys.iter().any(|key| node.get(key).is_some());
    match by_name(file) {
        // Both kinds of world are called so.
        Some(FileKind::World) if has(&ROBOT_WORLD_KEYS) && !has(&WORLD_KEYS) => FileKind::RobotWorld,
        Some(kind) => kind,
        None => by_content(node),
    }
}

fn by_name(file: &Path) -> Option<FileKind> {
    match file.file_name()?.to_str()? {
        name if SCENARIO_FILES.contains(&name) => Some(FileKind::Scenario),
        "world.yaml" => Some(FileKind::World),
        ANNOTATION_FILE => Some(FileKind::Annotation),
        RIG_FILE => Some(FileKind::Rig),
        "annotations.yaml" => Some(FileKind::ClipAnnotations),
        _ => None,
    }
}

const WORLD_KEYS: [&str; 2] = ["zones", "levels"];
const SCENARIO_KEYS: [&str; 6] = ["static", "dynamic", "robots", "regions", "timeline", "obstacles"];
const ROBOT_WORLD_KEYS: [&str; 4] = ["world", "robot", "obstacle", "irsim"];
const PROFILE_KEYS: [&str; 6] = ["signals", "same_as", "speeds", "cadence", "gain", "phase_warp"];
const AGENT_TYPE_KEYS: [&str; 10] = [
    "extends",
    "needs",
    "utility_weights",
    "actions",
    "sequences",
    "initial_sequence",
    "local_planner",
    "local_planner_params",
    "perception",
    "locomotion",
];

/// By keys that no other kind has.
fn by_content(node: &Node) -> FileKind {
    let has = |keys: &[&str]| keys.iter().any(|k| node.get(k).is_some());
    if has(&WORLD_KEYS) {
        FileKind::World
    } else if StandaloneScenario::is_one(node) {
        FileKind::Standalone
    } else if node.get("world").is_some_and(|world| world.entries().is_some()) {
        FileKind::RobotWorld
    } else if has(&["hunav_loader"]) {
        FileKind::HunavLoader
    } else if has(&SCENARIO_KEYS) {
        FileKind::Scenario
    } else if has(&["image"]) && has(&["resolution", "origin"]) {
        FileKind::Map
    } else if has(&AGENT_TYPE_KEYS) || (has(&["name"]) && (has(&DISTRIBUTIONS) || has(&["pose"]))) {
        FileKind::AgentType
    } else if has(&PROFILE_KEYS) {
        FileKind::Profile
    } else if node.get("keys").is_some_and(|keys| keys.items().is_some()) {
        FileKind::KeyFrames
    } else if has(&ROBOT_WORLD_KEYS) {
        FileKind::RobotWorld
    } else {
        by_misspelling(node)
    }
}

/// A file whose only telling key is misspelt gets the message about that key, not one about its kind.
fn by_misspelling(node: &Node) -> FileKind {
    let keys = node.entries().unwrap_or_default();
    let close = |known: &[&str]| keys.iter().any(|e| nearest(&e.key, known.iter().copied()).is_some());
    if close(&SCENARIO_KEYS) {
        FileKind::Scenario
    } else if close(&WORLD_KEYS) {
        FileKind::World
    } else {
        FileKind::Unknown
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_told_apart_by_their_keys() {
        let kind = |text| by_content(&parse_document(text, Path::new("f")).0.expect("parses"));
        assert_eq!(kind("zones: []"), FileKind::World);
        assert_eq!(kind("robots: []"), FileKind::Scenario);
        assert_eq!(kind("dynamics: []"), FileKind::Scenario);
        assert_eq!(kind("name: slow\ndesired_velocity: 0.5"), FileKind::AgentType);
        assert_eq!(kind("name: stiff\npose: {walk: {base: walk_cmu_12_01}}"), FileKind::AgentType);
        assert_eq!(kind("initial_sequence: wander"), FileKind::AgentType);
        assert_eq!(kind("name: run\nsame_as: walk\ngain: {factor: 1.6}"), FileKind::Profile);
        assert_eq!(kind("loop_from: 0.7\nkeys: [{t: 0}]"), FileKind::KeyFrames);
        assert_eq!(kind("world: {height: 10}\nrobot: []\nobstacle: []"), FileKind::RobotWorld);
        assert_eq!(kind("world: {height: 10}\nrobots: []"), FileKind::RobotWorld);
        assert_eq!(kind("irsim: {robot: []}"), FileKind::RobotWorld);
        assert_eq!(kind("image: map.png\nresolution: 0.05"), FileKind::Map);
        assert_eq!(kind("walls: []\nobstacles: []"), FileKind::Standalone);
        assert_eq!(kind("a: 1"), FileKind::Unknown);
    }

    #[test]
    fn some_names_say_it_all() {
        let nothing = Node::empty_map();
        assert_eq!(kind(Path::new("a/world.yaml"), &nothing), FileKind::World);
        assert_eq!(kind(Path::new("a/annotation.yaml"), &nothing), FileKind::Annotation);
        assert_eq!(kind(Path::new("a/rig.yaml"), &nothing), FileKind::Rig);
        assert_eq!(kind(Path::new("annotations.yaml"), &nothing), FileKind::ClipAnnotations);
        assert_eq!(kind(Path::new("a/scenario.json"), &nothing), FileKind::Scenario);
        let robots = parse_document("robot: []", Path::new("f")).0.expect("parses");
        assert_eq!(kind(Path::new("a/world.yaml"), &robots), FileKind::RobotWorld);
    }
}
