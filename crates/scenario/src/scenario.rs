//! A scenario file: people, objects, robots, regions and the timeline of one episode.
//!
//! Reading never falls back on anything: a file with one error gives all its errors and no scenario.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::decode::{Decoder, Unknown};
use crate::entry::{DynamicEntry, StaticEntry};
use crate::problem::{Loaded, Position, Problem, Report, Severity};
use crate::region::Region;
use crate::robot::RobotEntry;
use crate::timeline::TimelineEntry;
use crate::tree::{MAX_FILE_BYTES, Node, Value};

/// Everything a scenario file says.
#[derive(Debug, Clone, PartialEq)]
pub struct Scenario {
    /// The file it was read from, as it was named.
    pub file: PathBuf,
    /// Objects, in file order.
    pub statics: Vec<StaticEntry>,
    /// People, in file order.
    pub dynamics: Vec<DynamicEntry>,
    /// Robots, in file order.
    pub robots: Vec<RobotEntry>,
    /// Regions by name, in file order.
    pub regions: Vec<(String, Region)>,
    /// What happens when, in file order.
    pub timeline: Vec<TimelineEntry>,
    /// Conditions, as written.
    pub conditions: Vec<Node>,
    /// Sounds, as written.
    pub sounds: Vec<Node>,
}

const KEYS: &[&str] =
    &["static", "dynamic", "robots", "regions", "sounds", "timeline", "conditions", "obstacles"];

impl Scenario {
    /// A scenario in which nobody is and nothing happens, for a world that stands alone.
    #[must_use]
    pub fn empty() -> Self {
        Self {
            file: PathBuf::new(),
            statics: Vec::new(),
            dynamics: Vec::new(),
            robots: Vec::new(),
            regions: Vec::new(),
            timeline: Vec::new(),
            conditions: Vec::new(),
            sounds: Vec::new(),
        }
    }

    /// Read a scenario file, YAML or JSON.
    ///
    /// # Errors
    /// Every problem of the file, at least one of them an error.
    pub fn load(file: &Path) -> Result<Loaded<Self>, Report> {
        let text = read_text(file).map_err(|problem| Report::new(vec![problem]))?;
        // Agent-type paths travel to other processes, so they must not depend on where this one runs.
        let absolute = std::path::absolute(file);
        let dir = absolute.as_deref().unwrap_or(file).parent();
        Self::parse_in(&text, file, dir.unwrap_or(Path::new("")))
    }

    /// Read a scenario from text. `file` is named in problems and its folder is what relative paths start from; it need not
    /// exist.
    ///
    /// # Errors
    /// Every problem of the text, at least one of them an error.
    pub fn parse(text: &str, file: &Path) -> Result<Loaded<Self>, Report> {
        Self::parse_in(text, file, file.parent().unwrap_or(Path::new("")))
    }

    fn parse_in(text: &str, file: &Path, dir: &Path) -> Result<Loaded<Self>, Report> {
        Decoder::read(text, file, |decoder, node| decoder.scenario(node, file, dir))
    }

    /// The folder that relative paths in the file start from.
    #[must_use]
    pub fn dir(&self) -> &Path {
        self.file.parent().unwrap_or(Path::new(""))
    }

    /// The region of a name.
    #[must_use]
    pub fn region(&self, name: &str) -> Option<&Region> {
        self.regions.iter().find(|(n, _)| n == name).map(|(_, region)| region)
    }
}

impl Decoder {
    fn scenario(&mut self, node: &Node, file: &Path, dir: &Path) -> Option<Scenario> {
        let empty = Node::empty_map();
        let node = if node.value == Value::Null {
            self.hint(node.at, "", "the file is empty: a scenario without anybody");
            &empty
        } else {
            node
        };
        let fields = self.fields(node, "", "a scenario", KEYS)?;
        let mut statics = fields
            .read(self, "static", |d, n, p| Some(d.list_of(n, p, "static entries", Self::static_entry)))
            .unwrap_or_default();
        let mut dynamics = fields
            .read(self, "dynamic", |d, n, p| {
                Some(d.list_of(n, p, "dynamic entries", |d, n, p| d.dynamic_entry(n, p, dir)))
            })
            .unwrap_or_default();
        if let Some(old) = fields.get("obstacles") {
            self.warning_try(
                fields.key_at("obstacles"),
                "",
                "`obstacles` is the old format; its lists are read",
                Some("`static` and `dynamic` at the top level".to_owned()),
            );
            self.old_obstacles(old, dir, &mut statics, &mut dynamics);
        }
        let robots = fields
            .read(self, "robots", |d, n, p| Some(d.list_of(n, p, "robots", Self::robot_entry)))
            .unwrap_or_default();
        let regions = fields.read(self, "regions", |d, n, p| Some(d.regions(n, p, dir))).unwrap_or_default();
        let timeline = fields
            .read(self, "timeline", |d, n, p| Some(d.list_of(n, p, "timeline entries", Self::timeline_entry)))
            .unwrap_or_default();
        let raw_list = |d: &mut Self, n: &Node, p: &str| Some(d.list(n, p, "entries").to_vec());
        let conditions = fields.read(self, "conditions", raw_list).unwrap_or_default();
        let sounds = fields.read(self, "sounds", raw_list).unwrap_or_default();
        fields.finish(self, Unknown::Closed, &[]);
        self.unique_names(node);
        Some(Scenario {
            file: file.to_owned(),
            statics,
            dynamics,
            robots,
            regions,
            timeline,
            conditions,
            sounds,
        })
    }

    fn old_obstacles(
        &mut self,
        node: &Node,
        dir: &Path,
        statics: &mut Vec<StaticEntry>,
        dynamics: &mut Vec<DynamicEntry>,
    ) {
        let Some(fields) =
            self.fields(node, "obstacles", "`obstacles`", &["static", "interactive", "dynamic"])
        else {
            return;
        };
        for key in ["static", "interactive"] {
            statics.extend(
                fields
                    .read(self, key, |d, n, p| Some(d.list_of(n, p, "static entries", Self::static_entry)))
                    .unwrap_or_default(),
            );
        }
        dynamics.extend(
            fields
                .read(self, "dynamic", |d, n, p| {
                    Some(d.list_of(n, p, "dynamic entries", |d, n, p| d.dynamic_entry(n, p, dir)))
                })
                .unwrap_or_default(),
        );
        fields.finish(self, Unknown::Closed, &[]);
    }

    /// Objects and people share one table of names. Looked for in the tree, so that an entry with another mistake still counts.
    fn unique_names(&mut self, node: &Node) {
        let obstacles = node.get("obstacles");
        let mut lists: Vec<(String, &Node)> = Vec::new();
        for (prefix, parent, keys) in [
            ("", Some(node), ["static", "dynamic"].as_slice()),
            ("obstacles.", obstacles, &["static", "interactive", "dynamic"]),
        ] {
            for key in keys {
                if let Some(list) = parent.and_then(|p| p.get(key)) {
                    lists.push((format!("{prefix}{key}"), list));
                }
            }
        }
        let mut seen: BTreeMap<&str, Position> = BTreeMap::new();
        for (path, list) in lists {
            for (i, item) in list.items().unwrap_or_default().iter().enumerate() {
                let Some(name_node) = item.get("name") else { continue };
                let Some(name) = name_node.as_str() else { continue };
                match seen.get(name) {
                    None => {
                        seen.insert(name, name_node.at);
                    }
                    Some(first) => {
                        let line = first.line;
                        self.error(
                            name_node.at,
                            &format!("{path}[{i}].name"),
                            format!("the name {name:?} is taken, first in line {line}"),
                        );
                    }
                }
            }
        }
    }
}

/// The text of a file, or why there is none. Bounded, so that a device or a huge file cannot exhaust memory.
///
/// # Errors
/// When there is no such file, when it cannot be read, is too large or is not UTF-8.
pub fn read_text(file: &Path) -> Result<String, Problem> {
    use std::io::Read;
    let fail = |message: String| Problem::of_file(file, Severity::Error, message);
    let cannot = |e: std::io::Error| fail(format!("cannot be read: {e}"));
    // Asked before opening: opening a pipe would wait for somebody to write to it.
    if !std::fs::metadata(file).map_err(cannot)?.is_file() {
        return Err(fail("expected a file, found a folder, a pipe or a device".to_owned()));
    }
    let handle = std::fs::File::open(file).map_err(cannot)?;
    let mut bytes = Vec::new();
    handle.take(MAX_FILE_BYTES as u64 + 1).read_to_end(&mut bytes).map_err(cannot)?;
    if bytes.len() > MAX_FILE_BYTES {
        return Err(fail(format!("the file is larger than {MAX_FILE_BYTES} bytes")));
    }
    String::from_utf8(bytes).map_err(|e| {
        let valid = &e.as_bytes()[..e.utf8_error().valid_up_to()];
        let line = valid.iter().filter(|b| **b == b'\n').count() + 1;
        let mut problem = fail("the file is not UTF-8 text".to_owned());
        problem.at = Position { line: u32::try_from(line).unwrap_or(u32::MAX), column: 1 };
        problem
    })
}
