//! What `promenade check` says about scenario, world, agent-type and map files.
//!
//! Beyond loading a file this looks up what it names: zones of the world it lies in, agent-type files beside it. It says
//! everything that loading says, at the same severity: an old spelling that keeps its meaning (`goal:`, `pos:`) and a key that is only
//! carried along are hints; what loads and very likely does not do what was meant is a warning.

use std::path::{Path, PathBuf};

use crate::agent_type::{AgentTypeFile, DISTRIBUTIONS};
use crate::decode::{Decoder, Unknown};
use crate::entry::AgentType;
use crate::locate::{SCENARIO_FILES, enclosing_world};
use crate::problem::{Loaded, Problem, Report, Severity, nearest, shown};
use crate::region::RegionKind;
use crate::scenario::{Scenario, read_text};
use crate::tree::{Node, parse_document};
use crate::world::{World, is_world_folder};

/// What a file is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileKind {
    /// A scenario.
    Scenario,
    /// A `world.yaml`.
    World,
    /// An agent type.
    AgentType,
    /// A `map.yaml` beside a map image.
    Map,
    /// A gait profile; told apart here, checked by the gait.
    Profile,
    /// A robot world; told apart here, checked by the robot world.
    RobotWorld,
    /// None of these.
    Unknown,
}

/// What kind of file this is, by its name and else by its keys.
///
/// # Errors
/// When the file cannot be read or is not YAML.
pub fn kind_of(file: &Path) -> Result<FileKind, Report> {
    let text = read_text(file).map_err(|p| Report::new(vec![p]))?;
    let (node, problems) = parse_document(&text, file);
    let named = kind_by_name(file);
    match node {
        Some(node) => Ok(named.unwrap_or_else(|| kind_by_content(&node))),
        None => Err(Report::new(problems)),
    }
}

fn kind_by_name(file: &Path) -> Option<FileKind> {
    match file.file_name()?.to_str()? {
        name if SCENARIO_FILES.contains(&name) => Some(FileKind::Scenario),
        "world.yaml" => Some(FileKind::World),
        _ => None,
    }
}

/// Folders below a scenario's that are looked into; links may go in circles.
const BESIDE_DEPTH: u32 = 3;

const WORLD_KEYS: [&str; 2] = ["zones", "levels"];
const SCENARIO_KEYS: [&str; 6] = ["static", "dynamic", "robots", "regions", "timeline", "obstacles"];

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
fn kind_by_content(node: &Node) -> FileKind {
    let has = |keys: &[&str]| keys.iter().any(|k| node.get(k).is_some());
    if has(&WORLD_KEYS) {
        FileKind::World
    } else if has(&SCENARIO_KEYS) {
        FileKind::Scenario
    } else if has(&["image"]) && has(&["resolution", "origin"]) {
        FileKind::Map
    } else if has(&AGENT_TYPE_KEYS) || (has(&["name"]) && (has(&DISTRIBUTIONS) || has(&["pose"]))) {
        FileKind::AgentType
    } else if has(&["signals", "same_as", "speeds", "cadence", "gain", "phase_warp"]) {
        FileKind::Profile
    } else if has(&["world", "robot", "obstacle", "irsim"]) {
        FileKind::RobotWorld
    } else {
        kind_by_misspelling(node)
    }
}

/// A file whose only telling key is misspelt gets the message about that key, not one about its kind.
fn kind_by_misspelling(node: &Node) -> FileKind {
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

/// Check files and folders. A world folder stands for its levels and scenarios, a scenario folder for its file.
#[must_use]
pub fn check(paths: &[PathBuf]) -> Report {
    let mut checker = Checker::default();
    for path in paths {
        checker.path(path);
    }
    Report::new(checker.problems)
}

#[derive(Default)]
struct Checker {
    problems: Vec<Problem>,
    /// The world last looked up and its outcome, since a folder of scenarios shares one.
    world: Option<(PathBuf, Option<World>)>,
}

impl Checker {
    fn path(&mut self, path: &Path) {
        if !path.is_dir() {
            return self.file(path);
        }
        if is_world_folder(path) {
            self.world_folder(path);
        } else if let Some(file) = crate::locate::scenario_file(path) {
            self.file(&file);
        } else {
            let message = "the folder holds no world, no `scenario.yaml` and no `scenario.json`";
            self.problems.push(Problem::of_file(path, Severity::Error, message));
        }
    }

    fn world_folder(&mut self, root: &Path) {
        let loaded = World::load(root);
        self.keep(loaded.map(drop_value));
        for level in sorted_entries(root) {
            let map = level.join("map.yaml");
            if map.is_file() {
                self.file(&map);
            }
        }
        for folder in sorted_entries(&root.join("scenarios")) {
            if let Some(file) = crate::locate::scenario_file(&folder).filter(|_| folder.is_dir()) {
                self.file(&file);
                self.beside(&folder, BESIDE_DEPTH);
            }
        }
    }

    /// Agent types anywhere below a scenario's folder, whether it names them or not.
    fn beside(&mut self, folder: &Path, depth: u32) {
        for path in sorted_entries(folder) {
            if path.is_dir() {
                if depth > 0 {
                    self.beside(&path, depth - 1);
                }
            } else if path.extension().is_some_and(|e| e == "yaml")
                && kind_of(&path).ok() == Some(FileKind::AgentType)
            {
                self.file(&path);
            }
        }
    }

    fn file(&mut self, file: &Path) {
        let text = match read_text(file) {
            Ok(text) => text,
            Err(problem) => return self.problems.push(problem),
        };
        let (node, problems) = parse_document(&text, file);
        let Some(node) = node else {
            return self.problems.extend(problems);
        };
        match kind_by_name(file).unwrap_or_else(|| kind_by_content(&node)) {
            FileKind::Scenario => self.scenario(&text, file),
            FileKind::World => {
                let level = level_of(file, node.get("levels").is_some());
                self.keep(World::parse(&text, file, level.as_deref()).map(drop_value))
            }
            FileKind::AgentType => self.keep(AgentTypeFile::parse(&text, file).map(drop_value)),
            FileKind::Map => {
                let mut decoder = Decoder::new(file, problems);
                decoder.map_file(&node);
                self.problems.extend(decoder.into_problems());
            }
            kind @ (FileKind::Profile | FileKind::RobotWorld | FileKind::Unknown) => {
                self.problems.extend(problems);
                if kind == FileKind::RobotWorld {
                    let message = "a robot world: nothing but its YAML is checked yet";
                    self.problems.push(Problem::of_file(file, Severity::Hint, message));
                    return;
                }
                let message = match kind {
                    FileKind::Profile => "a gait profile, which is not a file of a world",
                    _ => {
                        "neither a scenario nor a world, an agent type or a map: none of their keys is there"
                    }
                };
                self.problems.push(Problem::of_file(file, Severity::Error, message));
            }
        }
    }

    fn keep(&mut self, outcome: Result<Report, Report>) {
        let (Ok(report) | Err(report)) = outcome;
        self.problems.extend(report.into_problems());
    }

    fn scenario(&mut self, text: &str, file: &Path) {
        let scenario = match Scenario::parse(text, file) {
            Ok(loaded) => {
                self.problems.extend(loaded.report.into_problems());
                loaded.value
            }
            Err(report) => return self.problems.extend(report.into_problems()),
        };
        match self.world_of(file) {
            Some(Some(world)) => self.problems.extend(scenario.reference_problems(&world)),
            Some(None) => {
                let message = "the world around the file does not load, so its names were not looked up";
                self.problems.push(Problem::of_file(file, Severity::Warning, message));
            }
            // Without a world there is nothing to look names up in, and whoever runs the scenario may name one.
            None => {
                let found = scenario.reference_problems(&World::empty());
                self.problems.extend(found.into_iter().map(|p| Problem { severity: Severity::Warning, ..p }));
            }
        }
        self.agent_types(&scenario);
    }

    /// The world around a file: `None` when there is none, `Some(None)` when it does not load.
    fn world_of(&mut self, file: &Path) -> Option<Option<World>> {
        let root = enclosing_world(file)?;
        if self.world.as_ref().is_none_or(|(known, _)| *known != root) {
            let world = World::load(&root).ok().map(|loaded| loaded.value);
            self.world = Some((root, world));
        }
        self.world.as_ref().map(|(_, world)| world.clone())
    }

    /// An agent type that is not there costs its numbers, not the person, so it is a warning.
    fn agent_types(&mut self, scenario: &Scenario) {
        let people =
            scenario.dynamics.iter().filter_map(|e| Some((e.agent.as_ref()?.agent_type.as_ref()?, e.at)));
        let sources = scenario.regions.iter().filter_map(|(_, r)| match &r.kind {
            RegionKind::Source(source) => Some((source.agent.agent_type.as_ref()?, r.at)),
            RegionKind::Sink(_) => None,
        });
        let mut checked: Vec<&Path> = Vec::new();
        for (agent_type, at) in people.chain(sources) {
            let AgentType::File(path) = agent_type else { continue };
            if !path.is_file() {
                self.problems.push(Problem {
                    file: scenario.file.clone(),
                    at,
                    severity: Severity::Warning,
                    path: String::new(),
                    message: format!("there is no agent type {}; the built-in defaults apply", shown(path)),
                    suggestion: None,
                });
            } else if !checked.contains(&path.as_path()) {
                checked.push(path);
                self.keep(AgentTypeFile::load(path).map(drop_value));
            }
        }
    }
}

fn drop_value<T>(loaded: Loaded<T>) -> Report {
    loaded.report
}

/// The level a `world.yaml` describes, when it lies in a level folder: a folder whose parent has `scenarios` or other levels,
/// told from a world folder by its not having scenarios or, unless the parent has some, `levels` of its own.
fn level_of(file: &Path, has_levels: bool) -> Option<String> {
    let folder = file.parent()?;
    let is_world = folder.join("scenarios").is_dir() || folder.join("map").is_dir();
    let name = folder.file_name()?.to_str()?.to_owned();
    let in_world = folder
        .parent()
        .is_some_and(|world| is_world_folder(world) && (!has_levels || world.join("scenarios").is_dir()));
    (!is_world && in_world).then_some(name)
}

fn sorted_entries(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return Vec::new();
    };
    let mut paths: Vec<PathBuf> = entries.filter_map(Result::ok).map(|e| e.path()).collect();
    paths.sort();
    paths
}

impl Decoder {
    /// A map server's file. Its numbers are checked because viewers read it; nothing here uses the map.
    fn map_file(&mut self, node: &Node) {
        const KEYS: &[&str] =
            &["image", "resolution", "origin", "negate", "occupied_thresh", "free_thresh", "mode"];
        let Some(mut fields) = self.fields(node, "", "a map", KEYS) else { return };
        if let Some(n) = fields.require(self, "image", "the name of an image file") {
            self.name(n, "image");
        }
        if let Some(n) = fields.require(self, "resolution", "metres per pixel") {
            self.positive(n, "resolution");
        }
        if let Some(n) = fields.require(self, "origin", "`[x, y, yaw]`") {
            self.pose(n, "origin");
        }
        for key in ["occupied_thresh", "free_thresh"] {
            fields.read(self, key, Self::non_negative);
        }
        fields.finish(self, Unknown::Open, &[]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_told_apart_by_their_keys() {
        let kind = |text| kind_by_content(&parse_document(text, Path::new("f")).0.expect("parses"));
        assert_eq!(kind("zones: []"), FileKind::World);
        assert_eq!(kind("robots: []"), FileKind::Scenario);
        assert_eq!(kind("dynamics: []"), FileKind::Scenario);
        assert_eq!(kind("name: slow\ndesired_velocity: 0.5"), FileKind::AgentType);
        assert_eq!(kind("name: stiff\npose: {walk: {base: walk_cmu_12_01}}"), FileKind::AgentType);
        assert_eq!(kind("initial_sequence: wander"), FileKind::AgentType);
        assert_eq!(kind("name: run\nsame_as: walk\ngain: {factor: 1.6}"), FileKind::Profile);
        assert_eq!(kind("world: {height: 10}\nrobot: []\nobstacle: []"), FileKind::RobotWorld);
        assert_eq!(kind("image: map.png\nresolution: 0.05"), FileKind::Map);
        assert_eq!(kind("a: 1"), FileKind::Unknown);
    }
}
