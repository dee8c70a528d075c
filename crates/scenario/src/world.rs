//! A world: a folder of levels, each a `world.yaml` of zones (world-file format, section 1).
//!
//! The occupancy map is not read here: it is derived from zones and walls by whoever needs one.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::decode::{Decoder, Fields, Unknown};
use crate::geometry::{Point, Segment};
use crate::problem::{Loaded, Problem, Report, Severity};
use crate::scenario::read_text;
use crate::tree::{Node, Value, join, parse_document};
use crate::zone::{Door, Wall, Zone};

/// Sub-folders of a world that are never levels.
const NO_LEVELS: [&str; 3] = ["scenarios", "assets", "map"];
/// Level of a world without level folders.
const ONLY_LEVEL: &str = "0";

/// A world of one or more levels.
#[derive(Debug, Clone, PartialEq)]
pub struct World {
    /// Name of its folder; empty for [`World::empty`].
    pub name: String,
    /// Its folder, as it was named.
    pub root: PathBuf,
    /// Levels, those with numbers for names first and in their order.
    pub levels: Vec<Level>,
}

/// One floor of a world.
#[derive(Debug, Clone, PartialEq)]
pub struct Level {
    /// Name of its folder, or `"0"`.
    pub id: String,
    /// The file it was read from.
    pub file: PathBuf,
    /// Zones in file order.
    pub zones: Vec<Zone>,
    /// Microphones, as written; without effect yet.
    pub microphones: Vec<Node>,
    /// Lights, as written; without effect yet.
    pub lights: Vec<Node>,
}

impl Level {
    /// All walls of the level, in file order. Closed doors are not among them.
    pub fn walls(&self) -> impl Iterator<Item = &Wall> {
        self.zones.iter().flat_map(|z| &z.walls)
    }

    /// All doors of the level, in file order.
    pub fn doors(&self) -> impl Iterator<Item = &Door> {
        self.zones.iter().flat_map(|z| &z.doors)
    }

    /// Lines that block while every door is closed: walls, then doors.
    #[must_use]
    pub fn closed_lines(&self) -> Vec<Segment> {
        self.walls().map(|w| w.line).chain(self.doors().map(|d| d.line)).collect()
    }

    /// The zones a point lies in, in file order.
    pub fn zones_at(&self, p: Point) -> impl Iterator<Item = &Zone> {
        self.zones.iter().filter(move |z| z.contains(p))
    }
}

impl World {
    /// A world without anything in it, for a scenario that stands alone.
    #[must_use]
    pub fn empty() -> Self {
        Self { name: String::new(), root: PathBuf::new(), levels: Vec::new() }
    }

    /// Read the world in a folder.
    ///
    /// # Errors
    /// Every problem of every level, at least one of them an error; also when the folder holds no world.
    pub fn load(root: &Path) -> Result<Loaded<Self>, Report> {
        let name = folder_name(root);
        let mut problems = Vec::new();
        let mut levels = Vec::new();
        let folders = level_folders(root);
        let flat = root.join("world.yaml");
        if folders.is_empty() {
            levels.extend(read_file(&flat, None, &mut problems));
        } else {
            if flat.is_file() {
                let message = "ignored, since the world has level folders";
                problems.push(Problem::of_file(flat, Severity::Hint, message));
            }
            for (id, file) in folders {
                levels.extend(read_file(&file, Some(&id), &mut problems));
            }
        }
        problems.extend(repeated_names(&levels));
        let world = Self { name, root: root.to_owned(), levels };
        Loaded::or_errors(Some(world), problems)
    }

    /// Read a world from the text of one `world.yaml`. `level` names the level when the file is one level's; without it the file may
    /// have `levels:` of its own. `file` is for messages and relative paths and need not exist.
    ///
    /// # Errors
    /// Every problem of the text, at least one of them an error.
    pub fn parse(text: &str, file: &Path, level: Option<&str>) -> Result<Loaded<Self>, Report> {
        let mut problems = Vec::new();
        let levels = read_levels(text, file, level, &mut problems);
        problems.extend(repeated_names(&levels));
        let root = file.parent().unwrap_or(Path::new(""));
        let root = if level.is_some() { root.parent().unwrap_or(Path::new("")) } else { root };
        let world = Self { name: folder_name(root), root: root.to_owned(), levels };
        Loaded::or_errors(Some(world), problems)
    }

    /// The zone of a name, with its level.
    #[must_use]
    pub fn zone(&self, name: &str) -> Option<(&Level, &Zone)> {
        self.zones().find(|(_, zone)| zone.name == name)
    }

    /// All zones with their levels, in file order.
    pub fn zones(&self) -> impl Iterator<Item = (&Level, &Zone)> {
        self.levels.iter().flat_map(|level| level.zones.iter().map(move |zone| (level, zone)))
    }

    /// All walls of all levels, in file order.
    pub fn walls(&self) -> impl Iterator<Item = &Wall> {
        self.levels.iter().flat_map(Level::walls)
    }

    /// All doors of all levels, in file order.
    pub fn doors(&self) -> impl Iterator<Item = &Door> {
        self.levels.iter().flat_map(Level::doors)
    }

    /// The door of a name.
    #[must_use]
    pub fn door(&self, name: &str) -> Option<&Door> {
        self.doors().find(|d| d.name == name)
    }

    /// The level of an id.
    #[must_use]
    pub fn level(&self, id: &str) -> Option<&Level> {
        self.levels.iter().find(|l| l.id == id)
    }
}

/// Whether a folder holds a world: a `world.yaml`, or levels that do.
#[must_use]
pub fn is_world_folder(root: &Path) -> bool {
    root.join("world.yaml").is_file() || !level_folders(root).is_empty()
}

/// Level ids and their files, numbers first and by value.
fn level_folders(root: &Path) -> Vec<(String, PathBuf)> {
    let Ok(entries) = std::fs::read_dir(root) else {
        return Vec::new();
    };
    let mut levels: Vec<(String, PathBuf)> = entries
        .filter_map(Result::ok)
        .filter_map(|entry| {
            let id = entry.file_name().into_string().ok()?;
            let file = entry.path().join("world.yaml");
            (!NO_LEVELS.contains(&id.as_str()) && file.is_file()).then_some((id, file))
        })
        .collect();
    levels.sort_by_cached_key(|(id, _)| (id.parse::<i64>().unwrap_or(i64::MAX), id.clone()));
    levels
}

fn folder_name(root: &Path) -> String {
    // `.` and `..` have no name of their own, the folder they stand for has.
    let named = root.file_name().map(|n| n.to_string_lossy().into_owned());
    named
        .or_else(|| root.canonicalize().ok()?.file_name().map(|n| n.to_string_lossy().into_owned()))
        .unwrap_or_default()
}

fn read_file(file: &Path, level: Option<&str>, problems: &mut Vec<Problem>) -> Vec<Level> {
    match read_text(file) {
        Ok(text) => read_levels(&text, file, level, problems),
        Err(problem) => {
            problems.push(problem);
            Vec::new()
        }
    }
}

fn read_levels(text: &str, file: &Path, level: Option<&str>, problems: &mut Vec<Problem>) -> Vec<Level> {
    let (node, found) = parse_document(text, file);
    let Some(node) = node else {
        problems.extend(found);
        return Vec::new();
    };
    let mut decoder = Decoder::new(file, found);
    let levels = decoder.world_file(&node, file, level);
    problems.extend(decoder.into_problems());
    levels
}

impl Decoder {
    fn world_file(&mut self, node: &Node, file: &Path, level: Option<&str>) -> Vec<Level> {
        if node.value == Value::Null {
            self.error(node.at, "", "the file is empty, expected `zones`");
            return Vec::new();
        }
        const LEVEL: &[&str] = &["zones", "microphones", "lights"];
        const WORLD: &[&str] = &["zones", "microphones", "lights", "levels"];
        let known = if level.is_some() { LEVEL } else { WORLD };
        let Some(mut fields) = self.fields(node, "", "a world", known) else {
            return Vec::new();
        };
        let Some(many) = fields.get("levels").filter(|_| level.is_none()) else {
            let id = level.unwrap_or(ONLY_LEVEL);
            let levels = vec![self.level(&mut fields, file, id)];
            fields.finish(self, Unknown::Closed, &[]);
            return levels;
        };
        if fields.has("zones") {
            self.error(
                fields.key_at("levels"),
                "",
                "has both `zones` and `levels`, expected `zones` inside `levels`",
            );
        }
        fields.finish(self, Unknown::Closed, &[]);
        let Some(entries) = many.entries() else {
            self.mismatch(many, "levels", "a map of level ids to `{zones, microphones}`");
            return Vec::new();
        };
        let mut levels = Vec::with_capacity(entries.len());
        for entry in entries {
            let path = join("levels", &entry.key);
            if let Some(mut fields) = self.fields(&entry.value, &path, "a level", LEVEL) {
                levels.push(self.level(&mut fields, file, &entry.key));
                fields.finish(self, Unknown::Closed, &[]);
            }
        }
        levels
    }

    fn level(&mut self, fields: &mut Fields<'_>, file: &Path, id: &str) -> Level {
        let dir = file.parent().unwrap_or(Path::new(""));
        let zones = fields
            .require(self, "zones", "a list of zones")
            .map(|n| self.list_of(n, &fields.path_of("zones"), "zones", |d, n, p| d.zone(n, p, dir)));
        Level {
            id: id.to_owned(),
            file: file.to_owned(),
            zones: zones.unwrap_or_default(),
            microphones: self.kept(fields, "microphones"),
            lights: self.kept(fields, "lights"),
        }
    }
}

/// Names of zones, of doors and of entities are unique in a world, across its levels.
fn repeated_names(levels: &[Level]) -> Vec<Problem> {
    let mut problems = Vec::new();
    let mut seen: BTreeMap<(&str, &str), String> = BTreeMap::new();
    for level in levels {
        let zones = level.zones.iter().map(|z| ("zone", z.name.as_str(), z.at));
        let doors = level.doors().map(|d| ("door", d.name.as_str(), d.at));
        let statics = level.zones.iter().flat_map(|z| &z.statics);
        let statics = statics.map(|e| ("entity", e.name.as_str(), e.at));
        let dynamics = level.zones.iter().flat_map(|z| &z.dynamics);
        let dynamics = dynamics.map(|e| ("entity", e.name.as_str(), e.at));
        for (what, name, at) in zones.chain(doors).chain(statics).chain(dynamics) {
            let here = format!("level {:?} line {}", level.id, at.line);
            match seen.get(&(what, name)) {
                None => {
                    seen.insert((what, name), here);
                }
                Some(first) => problems.push(Problem {
                    file: level.file.clone(),
                    at,
                    severity: Severity::Error,
                    path: String::new(),
                    message: format!("a {what} named {name:?} is there twice, first in {first}"),
                    suggestion: None,
                }),
            }
        }
    }
    problems
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Loaded<World> {
        World::parse(text, Path::new("worlds/w/world.yaml"), None).expect("loads")
    }

    const SQUARE: &str = "corners: [{x: 0, y: 0}, {x: 4, y: 0}, {x: 4, y: 4}, {x: 0, y: 4}]";

    #[test]
    fn a_wall_without_a_surface_is_not_there() {
        let text = format!(
            "zones:\n- name: hall\n  {SQUARE}\n  wall_material: ''\n  walls:\n  - {{start: {{x: 0, y: 0}}, end: {{x: 4, y: 0}}, material: ''}}\n  - {{start: {{x: 0, y: 0}}, end: {{x: 4, y: 0}}, kind: brick}}\n  - {{start: {{x: 0, y: 0}}, end: {{x: 4, y: 0}}}}\n  - {{start: {{x: 0, y: 0}}, end: {{x: 4, y: 0}}, material: [Common/Paint, {{}}]}}\n"
        );
        let world = parse(&text).value;
        let lines: Vec<u32> = world.walls().map(|w| w.at.line).collect();
        assert_eq!(lines, [7, 9]);
    }

    #[test]
    fn doors_have_their_defaults_and_the_larger_distance_counts() {
        let text = format!(
            "zones:\n- name: hall\n  {SQUARE}\n  doors:\n  - {{name: a, start: {{x: 0, y: 0}}, end: {{x: 1, y: 0}}}}\n  - {{name: b, start: {{x: 1, y: 0}}, end: {{x: 2, y: 0}}, kind: hinged, activation_distance: [1.5, 2.5]}}\n"
        );
        let loaded = parse(&text);
        let (a, b) = (loaded.value.door("a").expect("a"), loaded.value.door("b").expect("b"));
        assert_eq!(
            (a.width, a.height, a.activation_distance, a.transition_time, a.hold_time),
            (0.1, 2.0, 3.0, 1.0, 2.0)
        );
        assert_eq!(a.kind, crate::DoorKind::Sliding);
        assert_eq!((b.kind, b.activation_distance), (crate::DoorKind::Teleport, 2.5));
        assert_eq!(loaded.report.count(Severity::Warning), 1);
    }

    #[test]
    fn levels_in_one_file_keep_their_ids_and_share_names() {
        let text = format!(
            "levels:\n  0:\n    zones: [{{name: a, {SQUARE}}}]\n  1:\n    zones: [{{name: b, {SQUARE}}}]\n"
        );
        let world = parse(&text).value;
        assert_eq!(world.levels.iter().map(|l| l.id.as_str()).collect::<Vec<_>>(), ["0", "1"]);
        assert_eq!(world.zone("b").map(|(l, _)| l.id.as_str()), Some("1"));
        let twice = text.replace("name: b", "name: a");
        let report = World::parse(&twice, Path::new("w/world.yaml"), None).expect_err("refused");
        assert!(report.to_string().contains("a zone named \"a\" is there twice"), "{report}");
    }
}
