//! What `promenade check` says about scenario, world, agent-type and map files.
//!
//! It says everything that loading says, at the same severity: an old spelling that keeps its meaning (`goal:`, `pos:`) and a key that
//! is only carried along are hints; what loads and very likely does not do what was meant is a warning. Beyond that it looks at what a
//! file names outside itself, where everybody stands and walks, and what a world's plan promises. There it never finds an error:
//! whatever it sees can be run.

mod findings;
mod floor;
mod kind;
mod models;
mod names;
mod plan;
mod regions;
mod scene;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::agent_type::ResolvedType;
use crate::assets::{ANNOTATION_FILE, Annotation, AssetKind, AssetLibrary, RIG_FILE};
use crate::decode::{Decoder, Unknown};
use crate::locate::enclosing_world;
use crate::problem::{Problem, Report, Severity};
use crate::scenario::{Scenario, read_text};
use crate::standalone::StandaloneScenario;
use crate::tree::{Node, parse_document};
use crate::world::{World, is_world_folder};
use findings::{Findings, Spot};
use models::{Models, Unstocked};
use scene::Scene;

pub use kind::{FileKind, kind_of};

/// Folders below a scenario's that are looked into; links may go in circles.
const BESIDE_DEPTH: u32 = 3;
/// Assets of one folder that are checked.
const MAX_ASSETS: usize = 10_000;

/// What lies around the files that are checked, as far as the caller knows.
#[derive(Debug, Clone, Default)]
pub struct Surroundings {
    /// Whether models are looked up, in the assets of a file's world, beside it and in the two below.
    pub models: bool,
    /// Folders of worlds; the `assets` beside each are searched.
    pub roots: Vec<PathBuf>,
    /// The folder of fetched assets.
    pub cache: Option<PathBuf>,
    /// Names of all clips there are; empty when nobody knows them.
    pub clips: Vec<String>,
}

/// What came of a check.
#[derive(Debug, Clone, Default)]
pub struct Checked {
    /// Everything that was found.
    pub report: Report,
    /// Every file that was looked at and what it is, in order of paths. Those whose kind is not checked here, and the poses of agent
    /// types, are for others to look at.
    pub files: Vec<(PathBuf, FileKind)>,
    /// The folders of the worlds among them, in order.
    pub worlds: Vec<PathBuf>,
}

/// Check files and folders. A world folder stands for its levels, scenarios and assets, a scenario folder for its file, a folder of
/// assets for all of them.
#[must_use]
pub fn check(paths: &[PathBuf], surroundings: &Surroundings) -> Checked {
    let mut checker = Checker {
        surroundings,
        findings: Findings::default(),
        world: None,
        unstocked: Unstocked::new(),
        types: BTreeMap::new(),
        files: Vec::new(),
        worlds: BTreeSet::new(),
    };
    for path in paths {
        checker.path(path);
    }
    let mut problems = checker.findings.problems;
    problems.extend(models::unstocked_hints(checker.unstocked));
    checker.files.sort_by(|a, b| a.0.cmp(&b.0));
    checker.files.dedup();
    let worlds = checker.worlds.into_iter().collect();
    Checked { report: Report::new(problems), files: checker.files, worlds }
}

/// A world and the models around it.
struct Place {
    root: PathBuf,
    /// `None` when it does not load.
    world: Option<World>,
    library: Option<AssetLibrary>,
}

struct Checker<'s> {
    surroundings: &'s Surroundings,
    findings: Findings,
    /// The world last looked up, since a folder of scenarios shares one.
    world: Option<Arc<Place>>,
    unstocked: Unstocked,
    types: BTreeMap<PathBuf, Option<Arc<ResolvedType>>>,
    files: Vec<(PathBuf, FileKind)>,
    worlds: BTreeSet<PathBuf>,
}

impl Checker<'_> {
    fn path(&mut self, path: &Path) {
        if !path.is_dir() {
            return self.file(path);
        }
        let bundles = bundles_below(path);
        if is_world_folder(path) {
            self.world_folder(path);
        } else if let Some(file) = crate::locate::scenario_file(path) {
            self.file(&file);
        } else if path.join(ANNOTATION_FILE).is_file() {
            self.bundle(path);
        } else if !bundles.is_empty() {
            bundles.iter().for_each(|bundle| self.bundle(bundle));
        } else {
            let message = "the folder holds no world, no scenario, no asset and no folder of assets";
            self.findings.problems.push(Problem::of_file(path, Severity::Error, message));
        }
    }

    fn world_folder(&mut self, root: &Path) {
        self.worlds.insert(root.to_owned());
        let loaded = World::load(root);
        self.keep(loaded.map(|loaded| loaded.report));
        for level in sorted_entries(root) {
            let map = level.join("map.yaml");
            if map.is_file() {
                self.file(&map);
            }
            let world = level.join("world.yaml");
            if world.is_file() {
                self.files.push((world, FileKind::World));
            }
        }
        let place = self.place(root);
        if let Some(world) = &place.world {
            self.residents(world, world, place.library.as_ref());
        }
        for bundle in bundles_below(&root.join("assets")) {
            self.bundle(&bundle);
        }
        for folder in sorted_entries(&root.join("scenarios")) {
            if let Some(file) = crate::locate::scenario_file(&folder).filter(|_| folder.is_dir()) {
                self.file(&file);
                self.beside(&folder, BESIDE_DEPTH);
            }
        }
    }

    /// The plan of a world, or of one level of a whole one, and whoever lives in it.
    fn residents(&mut self, world: &World, whole: &World, library: Option<&AssetLibrary>) {
        let strangers = Scenario::empty().reference_problems(whole);
        let is_here = |problem: &Problem| world.levels.iter().any(|level| level.file == problem.file);
        self.findings.problems.extend(strangers.into_iter().filter(is_here));
        names::of_world(world, &mut self.findings);
        plan::check(world, &mut self.findings);
        Scene::new(world, library, true, &mut self.findings).report(&mut self.findings);
        for level in &world.levels {
            for (i, zone) in level.zones.iter().enumerate() {
                let path = format!("zones[{i}].entities");
                for (j, e) in zone.statics.iter().enumerate() {
                    let spot = Spot::new(&level.file, e.at, format!("{path}.static[{j}]"));
                    self.models(library).object(&spot, e);
                }
                for (j, e) in zone.dynamics.iter().enumerate() {
                    let spot = Spot::new(&level.file, e.at, format!("{path}.dynamic[{j}]"));
                    self.models(library).person(&spot, e);
                }
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

    /// An asset: its annotation, and whether a human has a body.
    fn bundle(&mut self, folder: &Path) {
        let annotation = folder.join(ANNOTATION_FILE);
        if annotation.is_file() {
            self.file(&annotation);
        } else {
            let message = "is not there, so the model has no tags, no bounding box and no seats";
            self.findings.problems.push(Problem::of_file(annotation, Severity::Warning, message));
        }
        let rig = folder.join(RIG_FILE);
        if rig.is_file() {
            self.file(&rig);
        }
        let kind = folder.parent().and_then(Path::file_name).map(|name| name.to_string_lossy());
        let is_human = kind.is_some_and(|name| AssetKind::of_folder(&name) == Some(AssetKind::Human));
        let is_sdf = |path: &PathBuf| path.extension().is_some_and(|e| e.eq_ignore_ascii_case("sdf"));
        if is_human && !sorted_entries(folder).iter().any(is_sdf) {
            let message = "the human has no SDF file, so the fallback stands in";
            self.findings.problems.push(Problem::of_file(folder, Severity::Warning, message));
        }
    }

    fn file(&mut self, file: &Path) {
        let text = match read_text(file) {
            Ok(text) => text,
            Err(problem) => return self.findings.problems.push(problem),
        };
        if kind::is_tree(file) {
            return self.files.push((file.to_owned(), FileKind::BehaviorTree));
        }
        let (node, problems) = parse_document(&text, file);
        let Some(node) = node else {
            return self.findings.problems.extend(problems);
        };
        let kind = kind::kind(file, &node);
        self.files.push((file.to_owned(), kind));
        match kind {
            FileKind::Scenario => self.scenario(&text, file),
            FileKind::World => {
                let level = level_of(file, node.get("levels").is_some());
                let folder = file.parent().unwrap_or(Path::new(""));
                let root = if level.is_some() { folder.parent().unwrap_or(folder) } else { folder };
                self.worlds.insert(root.to_owned());
                match World::parse(&text, file, level.as_deref()) {
                    Ok(loaded) => {
                        self.findings.problems.extend(loaded.report.into_problems());
                        let place = self.place(root);
                        let whole = place.world.as_ref().unwrap_or(&loaded.value);
                        self.residents(&loaded.value, whole, place.library.as_ref());
                    }
                    Err(report) => self.findings.problems.extend(report.into_problems()),
                }
            }
            FileKind::AgentType => {
                self.models(None).type_file(file);
            }
            FileKind::Standalone => {
                self.keep(StandaloneScenario::parse(&text, file).map(|loaded| loaded.report));
            }
            FileKind::Annotation => self.keep(Annotation::parse(&text, file).map(|loaded| loaded.report)),
            FileKind::Map => {
                let mut decoder = Decoder::new(file, problems);
                decoder.map_file(&node);
                self.findings.problems.extend(decoder.into_problems());
            }
            FileKind::Profile
            | FileKind::Rig
            | FileKind::ClipAnnotations
            | FileKind::KeyFrames
            | FileKind::RobotWorld
            | FileKind::HunavLoader
            | FileKind::BehaviorTree => {}
            FileKind::Unknown => {
                self.findings.problems.extend(problems);
                let message =
                    "neither a scenario nor a world, an agent type or a map: none of their keys is there";
                self.findings.problems.push(Problem::of_file(file, Severity::Error, message));
            }
        }
    }

    fn keep(&mut self, outcome: Result<Report, Report>) {
        let (Ok(report) | Err(report)) = outcome;
        self.findings.problems.extend(report.into_problems());
    }

    fn models<'c>(&'c mut self, library: Option<&'c AssetLibrary>) -> Models<'c> {
        Models {
            surroundings: self.surroundings,
            library,
            unstocked: &mut self.unstocked,
            types: &mut self.types,
            files: &mut self.files,
            findings: &mut self.findings,
        }
    }

    fn scenario(&mut self, text: &str, file: &Path) {
        let scenario = match Scenario::parse(text, file) {
            Ok(loaded) => {
                self.findings.problems.extend(loaded.report.into_problems());
                loaded.value
            }
            Err(report) => return self.findings.problems.extend(report.into_problems()),
        };
        let place = enclosing_world(file).map(|root| self.place(&root));
        let alone = World::empty();
        let world = match &place {
            Some(place) => {
                if place.world.is_none() {
                    let message = "the world around the file does not load, so its names were not looked up";
                    self.findings.problems.push(Problem::of_file(file, Severity::Warning, message));
                }
                place.world.as_ref()
            }
            None => Some(&alone),
        };
        if let Some(world) = world {
            self.in_world(&scenario, world, place.as_deref());
        }
        let library = place.as_ref().and_then(|place| place.library.as_ref());
        self.models(library).scenario(&scenario);
    }

    fn in_world(&mut self, scenario: &Scenario, world: &World, place: Option<&Place>) {
        let found = scenario.reference_problems(world);
        // Without a world there is nothing to look names up in, and whoever runs the scenario may name one.
        let severity = |problem: Problem| match place {
            Some(_) => problem,
            None => Problem { severity: Severity::Warning, ..problem },
        };
        if found.is_empty() {
            let (Ok(report) | Err(report)) = scenario.resolve(world, 0).map(|resolved| resolved.report);
            self.findings.problems.extend(report.into_problems());
        }
        self.findings.problems.extend(found.into_iter().map(severity));
        let findings = &mut self.findings;
        let library = place.and_then(|place| place.library.as_ref());
        let mut scene = Scene::new(world, library, false, findings);
        for (i, e) in scenario.statics.iter().enumerate() {
            scene.object(&Spot::new(&scenario.file, e.at, format!("static[{i}]")), None, e, findings);
        }
        for (i, e) in scenario.dynamics.iter().enumerate() {
            scene.person(Spot::new(&scenario.file, e.at, format!("dynamic[{i}]")), None, e, true);
        }
        for (i, e) in scenario.robots.iter().enumerate() {
            scene.robot(Spot::new(&scenario.file, e.at, format!("robots[{i}]")), i, e);
        }
        scene.report(findings);
        names::of_scenario(world, scenario, findings);
        regions::check(world, scenario, findings);
    }

    /// A world with the models around it.
    fn place(&mut self, root: &Path) -> Arc<Place> {
        if let Some(place) = self.world.as_ref().filter(|place| place.root == root) {
            return Arc::clone(place);
        }
        let Surroundings { models, roots, cache, .. } = self.surroundings;
        let place = Arc::new(Place {
            root: root.to_owned(),
            world: World::load(root).ok().map(|loaded| loaded.value),
            library: models.then(|| AssetLibrary::of_world(Some(root), roots, cache.as_deref())),
        });
        self.world = Some(Arc::clone(&place));
        place
    }
}

/// The folders `<domain>/<type>/<name>` below a folder, in order.
fn bundles_below(folder: &Path) -> Vec<PathBuf> {
    let is_type = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        AssetKind::of_folder(&name).is_some()
    };
    let types = sorted_entries(folder).into_iter().flat_map(|domain| sorted_entries(&domain)).filter(is_type);
    types.flat_map(|folder| sorted_entries(&folder)).filter(|path| path.is_dir()).take(MAX_ASSETS).collect()
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
