//! Finding worlds and scenarios by name or by path. Only looks; nothing here parses a file.

use std::path::{Component, Path, PathBuf};

use crate::problem::{Loaded, Report, nearest, shown};
use crate::world::{World, is_world_folder};

/// Files a scenario folder may hold, in the order they are tried.
pub const SCENARIO_FILES: [&str; 2] = ["scenario.yaml", "scenario.json"];

/// Nothing of that name was found.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("no {what} `{wanted}`; looked for {}{}", places(.looked), suggestion(.nearest))]
pub struct LocateError {
    /// `scenario` or `world`.
    pub what: &'static str,
    /// What was asked for.
    pub wanted: String,
    /// Where it was looked for, in order.
    pub looked: Vec<PathBuf>,
    /// The closest name there is.
    pub nearest: Option<String>,
}

fn places(looked: &[PathBuf]) -> String {
    if looked.is_empty() {
        return "nothing, since no folder of worlds is known".to_owned();
    }
    looked.iter().map(|p| shown(p)).collect::<Vec<_>>().join(", ")
}

fn suggestion(nearest: &Option<String>) -> String {
    nearest.as_ref().map_or_else(String::new, |n| format!("  (try: {n})"))
}

/// How a user names a scenario: a path to its file or folder, or `<world>/<scenario>`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScenarioRef(String);

/// A scenario that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Located {
    /// Its file.
    pub file: PathBuf,
    /// Name of the scenario: its folder, or the file's stem when the file is not called `scenario`.
    pub name: String,
    /// The folder of the world it lies in, if it lies in one.
    pub world: Option<PathBuf>,
}

impl Located {
    /// The world the scenario lies in, or [`World::empty`] when it stands alone.
    ///
    /// # Errors
    /// Every problem of the world's files, at least one of them an error.
    pub fn load_world(&self) -> Result<Loaded<World>, Report> {
        match &self.world {
            Some(root) => World::load(root),
            None => Ok(Loaded { value: World::empty(), report: Report::default() }),
        }
    }
}

impl ScenarioRef {
    /// A reference as a user typed it.
    #[must_use]
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// Find it: as a path first, then as `<world>/<scenario>` in each of the folders of worlds, in order. A bare `<scenario>` is
    /// looked for in `world`, a name or a path, when one is given.
    ///
    /// # Errors
    /// [`LocateError`] with every place that was tried.
    pub fn locate(&self, world: Option<&str>, roots: &[PathBuf]) -> Result<Located, LocateError> {
        let path = Path::new(&self.0);
        let mut looked = vec![path.to_owned()];
        if let Some(file) = scenario_file(path) {
            return Ok(located(file));
        }
        let mut names: Vec<String> = Vec::new();
        for folder in self.candidates(world, roots) {
            for file in SCENARIO_FILES {
                let file = folder.join(file);
                if file.is_file() {
                    return Ok(located(file));
                }
                looked.push(file);
            }
            if let Some(scenarios) = folder.parent() {
                names.extend(folder_names(scenarios).into_iter().map(|n| match self.0.split_once('/') {
                    Some((world, _)) => format!("{world}/{n}"),
                    None => n,
                }));
            }
        }
        if let Some((world, scenario)) = self.0.split_once('/') {
            let worlds = roots.iter().flat_map(|r| folder_names(r));
            names.extend(worlds.filter(|w| w != world).map(|w| format!("{w}/{scenario}")));
        }
        let nearest = nearest(&self.0, names.iter().map(String::as_str)).map(str::to_owned);
        Err(LocateError { what: "scenario", wanted: self.0.clone(), looked, nearest })
    }

    fn candidates(&self, world: Option<&str>, roots: &[PathBuf]) -> Vec<PathBuf> {
        let parts: Vec<&str> = self.0.split('/').collect();
        if !is_plain(Path::new(&self.0)) {
            return Vec::new();
        }
        match (&parts[..], world) {
            ([world, scenario], _) => {
                roots.iter().map(|r| r.join(world).join("scenarios").join(scenario)).collect()
            }
            ([scenario], Some(world)) => {
                let mut worlds = vec![PathBuf::from(world)];
                if is_plain(Path::new(world)) {
                    worlds.extend(roots.iter().map(|r| r.join(world)));
                }
                worlds.into_iter().map(|w| w.join("scenarios").join(scenario)).collect()
            }
            _ => Vec::new(),
        }
    }
}

/// Find a world's folder: by path, or by name in each of the folders of worlds, in order.
///
/// # Errors
/// [`LocateError`] with every place that was tried.
pub fn find_world(name: &str, roots: &[PathBuf]) -> Result<PathBuf, LocateError> {
    let path = Path::new(name);
    let mut looked = Vec::new();
    // A bare name is a name first: a folder of that name where the program happens to run must not win.
    if is_plain(path) {
        for root in roots {
            let folder = root.join(name);
            if is_world_folder(&folder) {
                return Ok(folder);
            }
            looked.push(folder);
        }
    }
    if is_world_folder(path) {
        return Ok(path.to_owned());
    }
    looked.push(path.to_owned());
    let names: Vec<String> = roots.iter().flat_map(|r| folder_names(r)).collect();
    let nearest = nearest(name, names.iter().map(String::as_str)).map(str::to_owned);
    Err(LocateError { what: "world", wanted: name.to_owned(), looked, nearest })
}

/// The file of a scenario given as its file or its folder.
#[must_use]
pub fn scenario_file(path: &Path) -> Option<PathBuf> {
    if path.is_file() {
        return Some(path.to_owned());
    }
    SCENARIO_FILES.iter().map(|file| path.join(file)).find(|file| file.is_file())
}

/// The world a scenario file lies in: the nearest folder above it, at most three up, with a `world.yaml`, or with levels and the
/// file right in it or below its `scenarios`. A folder further up that holds worlds side by side is not one world of many levels.
#[must_use]
pub fn enclosing_world(file: &Path) -> Option<PathBuf> {
    // A relative path may have fewer parents than the folder it means.
    let absolute = std::path::absolute(file).ok()?;
    let shown: Vec<&Path> = file.ancestors().skip(1).collect();
    absolute.ancestors().skip(1).take(3).enumerate().find_map(|(i, folder)| {
        let may_have_levels = i == 0 || absolute.starts_with(folder.join("scenarios"));
        let holds_world =
            if may_have_levels { is_world_folder(folder) } else { folder.join("world.yaml").is_file() };
        if !holds_world {
            return None;
        }
        // Prefer the spelling the user gave, which is what messages then show.
        let given = shown.get(i).filter(|p| !p.as_os_str().is_empty());
        Some(given.map_or_else(|| folder.to_owned(), |p| (*p).to_owned()))
    })
}

fn located(file: PathBuf) -> Located {
    let stem = file.file_stem().map(|s| s.to_string_lossy().into_owned()).unwrap_or_default();
    let folder = file.parent().and_then(Path::file_name).map(|n| n.to_string_lossy().into_owned());
    let name = if stem == "scenario" { folder.unwrap_or(stem) } else { stem };
    let world = enclosing_world(&file);
    Located { file, name, world }
}

/// Only plain names between the slashes: a name never leaves the folder it is looked for in.
fn is_plain(path: &Path) -> bool {
    path.components().all(|c| matches!(c, Component::Normal(_))) && path.components().next().is_some()
}

/// Names of the folders in a folder, sorted.
fn folder_names(folder: &Path) -> Vec<String> {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return Vec::new();
    };
    let mut names: Vec<String> = entries
        .filter_map(Result::ok)
        .filter(|e| e.path().is_dir())
        .filter_map(|e| e.file_name().into_string().ok())
        .collect();
    names.sort();
    names
}
