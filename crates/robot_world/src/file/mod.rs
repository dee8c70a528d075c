//! World files: IR-SIM's YAML as a [`WorldSpec`] (robot-world specification, sections 1 to 14 and 17).
//!
//! A file is decided here once and for all: what it may say, every default, every mistake with its line. Nothing is drawn and nothing moves;
//! of other files only a map's image is read.

mod behavior;
mod drive;
mod group;
mod map;
mod object;
mod sensor;
mod settings;
mod shape;
#[cfg(test)]
mod tests;
mod value;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use promenade_scenario::decode::Decoder;
use promenade_scenario::problem::{Loaded, Position, Problem, Report, Severity};
use promenade_scenario::scenario::read_text;
use promenade_scenario::tree::{Node, Value};

use self::value::Strictness;
use crate::registry::Registry;
use crate::spec::{GroupSpec, Role, WorldSpec};

/// Most objects of one file.
pub const MAX_OBJECTS: usize = 100_000;
/// Most goals of all objects of a file.
pub const MAX_GOALS: usize = 1_000_000;
/// Most beams of all scanners of a file.
pub const MAX_BEAMS: usize = 20_000_000;
/// Most characters of a name, a colour or a picture.
pub const MAX_TEXT: usize = 200;

const TOP_KEYS: [&str; 5] = ["world", "robot", "obstacle", "gui", "custom"];

/// How a file is read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReadOptions {
    /// Unknown keys of the world, of objects, sensors and shapes are warnings, as other readers of such files have it.
    pub lenient: bool,
}

impl WorldSpec {
    /// Reads a file.
    ///
    /// # Errors
    /// Every problem of the file, when one of them is an error.
    pub fn read(path: &Path, registry: &Registry, options: &ReadOptions) -> Result<Loaded<Self>, Report> {
        if !path.exists() {
            let mut folders = vec![std::env::current_dir().unwrap_or_default()];
            if path.is_absolute() {
                folders = path.parent().map(Path::to_owned).into_iter().collect();
            }
            return Err(Report::new(vec![Problem::of_file(path, Severity::Error, not_found(&folders))]));
        }
        let text = read_text(path).map_err(|problem| Report::new(vec![problem]))?;
        Self::from_text(&text, path, registry, options)
    }

    /// Reads the text of a file; `file` is for messages, and its folder is where maps are looked for.
    ///
    /// # Errors
    /// Every problem of the file, when one of them is an error.
    pub fn from_text(
        text: &str,
        file: &Path,
        registry: &Registry,
        options: &ReadOptions,
    ) -> Result<Loaded<Self>, Report> {
        Decoder::read(text, file, |d, node| {
            let mut reader = Reader { d, registry, lenient: options.lenient, file, left: Budget::default() };
            reader.world_file(node)
        })
    }
}

/// What a message about a missing file says.
fn not_found(folders: &[PathBuf]) -> String {
    let folders: Vec<String> = folders.iter().map(|folder| folder.display().to_string()).collect();
    format!("file not found; looked in {}", folders.join(", "))
}

/// How much a file may still ask for.
#[derive(Debug)]
struct Budget {
    goals: usize,
    beams: usize,
}

impl Default for Budget {
    fn default() -> Self {
        Self { goals: MAX_GOALS, beams: MAX_BEAMS }
    }
}

/// Reads one file.
struct Reader<'r> {
    d: &'r mut Decoder,
    registry: &'r Registry,
    lenient: bool,
    file: &'r Path,
    left: Budget,
}

impl Reader<'_> {
    fn world_file(&mut self, document: &Node) -> Option<WorldSpec> {
        if document.value == Value::Null {
            let message = "file is empty; expected a mapping with world, robot, obstacle";
            self.d.error(Position::START, "", message);
            return None;
        }
        let inner = document.get("irsim").filter(|node| node.entries().is_some());
        let (node, path) = inner.map_or((document, ""), |node| (node, "irsim"));
        let fields = self.d.fields(node, path, "a mapping with world, robot, obstacle", &[])?;
        self.finish(&fields, &TOP_KEYS, Strictness::Strict);

        let nothing = Node::empty_map();
        let world = self.world_block(fields.get("world").unwrap_or(&nothing), &fields.path_of("world"))?;
        let groups = self.groups(&fields, &world);
        let map = world.map.as_ref().is_some_and(|map| map.values.iter().any(|value| *value > 50.0));
        self.unique_names(&groups, map);
        let gui = fields.get("gui").map(|node| self.gui(node, &fields.path_of("gui")));
        Some(WorldSpec {
            settings: world.settings,
            groups,
            map: world.map,
            fog: world.fog,
            gui: gui.unwrap_or_else(|| serde_json::json!({})),
            custom: fields.get("custom").map_or(serde_json::Value::Null, Node::to_json),
            plot: world.plot,
        })
    }

    /// Names are unique over the world, those that follow from an id too.
    fn unique_names(&mut self, groups: &[GroupSpec], has_map: bool) {
        let mut owners: BTreeMap<String, &str> = BTreeMap::new();
        let mut id = 0_usize;
        for group in groups {
            for object in &group.objects {
                let role = match object.role {
                    Role::Robot => "robot",
                    Role::Obstacle => "obstacle",
                };
                let name = object.name.clone().unwrap_or_else(|| format!("{role}_{id}"));
                id += 1;
                let message = match owners.get(&name) {
                    Some(owner) => format!("the name {name:?} is taken by an object of {owner}"),
                    None => {
                        owners.insert(name, &group.path);
                        continue;
                    }
                };
                self.d.error(group.at, &format!("{}.name", group.path), message);
            }
        }
        if let (true, Some(owner)) = (has_map, owners.get(&format!("obstacle_{id}"))) {
            let message =
                format!("the name \"obstacle_{id}\" is taken by an object of {owner}, the map has it");
            self.d.error(Position::START, "world.obstacle_map", message);
        }
    }

    fn gui(&mut self, node: &Node, path: &str) -> serde_json::Value {
        const PARTS: [(&str, &[&str]); 2] = [
            ("keyboard", &["key_lv_max", "key_ang_max", "key_lv", "key_ang", "key_rot", "key_id", "backend"]),
            ("mouse", &["zoom_factor"]),
        ];
        if let Some(fields) = self.d.fields(node, path, "settings of a front end", &[]) {
            self.finish(&fields, &PARTS.map(|(key, _)| key), Strictness::Drawing);
            for (key, known) in PARTS {
                let part = fields.get(key).map(|node| (node, fields.path_of(key)));
                let part = part.and_then(|(node, path)| self.d.fields(node, &path, "settings", &[]));
                if let Some(part) = part {
                    self.finish(&part, known, Strictness::Drawing);
                }
            }
        }
        node.to_json()
    }
}
