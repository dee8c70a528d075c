//! The XML of behaviour trees, formats 3 and 4: trees by their names, and the files that a file includes (HuNav specification, section 5.1).
//!
//! Files are data from outside. How deep, how long and how many they may be is bounded here; what a tree means is not decided here.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use promenade_scenario::problem::nearest;
use promenade_scenario::{Position, Problem, Severity};
use roxmltree::{Document, Node, ParsingOptions};

use super::library::Library;

/// Bytes of one file, at most.
pub(super) const MOST_BYTES: u64 = 1 << 18;
/// XML nodes of one file, at most.
const MOST_NODES: u32 = 100_000;
/// Files that one tree is made of, at most.
const MOST_FILES: usize = 64;
/// Elements within elements, at most.
const DEEPEST: usize = 64;
/// Attributes of one element, at most.
const MOST_ATTRIBUTES: usize = 64;
/// Problems of one tree that are told, at most.
const MOST_PROBLEMS: usize = 100;

/// Where a file is: on the disk, or in the program.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Origin {
    File(PathBuf),
    BuiltIn(String),
}

impl Origin {
    /// The file as messages name it.
    pub(super) fn shown(&self) -> PathBuf {
        match self {
            Origin::File(path) => path.clone(),
            Origin::BuiltIn(name) => PathBuf::from(name),
        }
    }
}

/// A place in one of the files. Lines are counted only for what is told: doing it for all elements would be quadratic.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    pub(super) file: usize,
    pub(super) byte: usize,
}

/// An attribute.
#[derive(Debug)]
pub(super) struct Attribute {
    pub(super) name: String,
    pub(super) value: String,
    pub(super) place: Place,
}

/// An element within a tree.
#[derive(Debug)]
pub(super) struct Element {
    pub(super) name: String,
    pub(super) place: Place,
    pub(super) attributes: Vec<Attribute>,
    pub(super) children: Vec<Element>,
}

impl Element {
    pub(super) fn attribute(&self, name: &str) -> Option<&Attribute> {
        self.attributes.iter().find(|attribute| attribute.name == name)
    }
}

/// A `BehaviorTree`.
#[derive(Debug)]
pub(super) struct Definition {
    /// The format of its file, 3 or 4.
    pub(super) format: u8,
    pub(super) place: Place,
    pub(super) roots: Vec<Element>,
}

/// All trees that a file and what it includes define.
#[derive(Debug, Default)]
pub(super) struct Forest {
    files: Vec<Origin>,
    /// Text of each file, empty until it is read.
    texts: Vec<Arc<str>>,
    pub(super) trees: BTreeMap<String, Definition>,
    /// The tree to tick, and where the file says so.
    pub(super) main: Option<(String, Place)>,
    pub(super) problems: Vec<Problem>,
}

impl Forest {
    /// Read a file that is known by its text, and all that it includes.
    pub(super) fn read(origin: Origin, text: &str, library: &Library) -> Self {
        let mut forest = Forest { files: vec![origin], texts: vec!["".into()], ..Forest::default() };
        let mut next = forest.file(0, text, library);
        while let Some(file) = next.pop() {
            let origin = forest.files[file].clone();
            match library.text_of(&origin) {
                Ok(text) => {
                    let more = forest.file(file, &text, library);
                    next.extend(more);
                }
                Err(error) => forest.tell(Place { file, byte: 0 }, "", error, None),
            }
        }
        forest
    }

    pub(super) fn tell(&mut self, place: Place, path: &str, message: String, suggestion: Option<&str>) {
        if self.problems.len() < MOST_PROBLEMS {
            let problem = Problem::of_file(self.files[place.file].shown(), Severity::Error, message);
            let problem = Problem { at: self.position(place), path: path.to_owned(), ..problem };
            self.problems.push(problem.with_suggestion(suggestion));
        }
    }

    fn position(&self, place: Place) -> Position {
        let text = &self.texts[place.file];
        let before = text.get(..place.byte).unwrap_or_default();
        let line = before.rsplit('\n').next().unwrap_or_default();
        let count = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        Position { line: count(before.matches('\n').count() + 1), column: count(line.chars().count() + 1) }
    }

    /// Read one file; the files to read because of it.
    fn file(&mut self, file: usize, text: &str, library: &Library) -> Vec<usize> {
        let start = Place { file, byte: 0 };
        self.texts[file] = text.into();
        let options = ParsingOptions { nodes_limit: MOST_NODES, ..ParsingOptions::default() };
        let document = match Document::parse_with_options(text, options) {
            Ok(document) => document,
            Err(error) => {
                let at = Position { line: error.pos().row, column: error.pos().col };
                self.tell(start, "", format!("not XML: {error}"), None);
                if let Some(told) = self.problems.last_mut() {
                    told.at = at;
                }
                return Vec::new();
            }
        };
        let reader = Reader { file };
        let root = document.root_element();
        if root.tag_name().name() != "root" {
            let message = format!("found <{}>, expected <root>", root.tag_name().name());
            self.tell(reader.place(root), "", message, None);
            return Vec::new();
        }
        let format = match root.attribute("BTCPP_format") {
            Some("4") => 4,
            None | Some("3") => 3,
            Some(other) => {
                let place = reader.place_of(root, "BTCPP_format");
                self.tell(place, "", format!("`BTCPP_format` is {other:?}, expected 3 or 4"), None);
                return Vec::new();
            }
        };
        let (mut next, mut names) = (Vec::new(), Vec::new());
        for child in root.children().filter(Node::is_element) {
            match child.tag_name().name() {
                "include" => next.extend(self.include(reader, child, library)),
                "BehaviorTree" => names.extend(self.definition(reader, child, format)),
                // What an editor knows of the nodes.
                "TreeNodesModel" => {}
                other => {
                    let suggestion = nearest(other, ["include", "BehaviorTree", "TreeNodesModel"]);
                    let message = format!("found <{other}>, expected <include> or <BehaviorTree>");
                    self.tell(reader.place(child), "", message, suggestion);
                }
            }
        }
        if file == 0 {
            self.main = match root.attribute("main_tree_to_execute") {
                Some(name) => Some((name.to_owned(), reader.place_of(root, "main_tree_to_execute"))),
                None if names.len() == 1 => names.pop().map(|name| (name, start)),
                None => {
                    let message = format!(
                        "<root> has no `main_tree_to_execute`, and there are {} trees to choose from",
                        names.len()
                    );
                    self.tell(reader.place(root), "", message, None);
                    None
                }
            };
        }
        next
    }

    /// Find an included file; its number if it is a new one.
    fn include(&mut self, reader: Reader, element: Node<'_, '_>, library: &Library) -> Option<usize> {
        let place = reader.place(element);
        if element.attribute("ros_pkg").is_some() {
            let message =
                "`ros_pkg` is not supported; write a path relative to this file, or a name of the library";
            self.tell(reader.place_of(element, "ros_pkg"), "", message.to_owned(), None);
            return None;
        }
        let Some(path) = element.attribute("path") else {
            self.tell(place, "", "<include> has no `path`".to_owned(), None);
            return None;
        };
        match library.find_beside(&self.files[reader.file], Path::new(path)) {
            Ok(origin) if self.files.contains(&origin) => None,
            Ok(_) if self.files.len() >= MOST_FILES => {
                self.tell(place, "", format!("more than {MOST_FILES} files"), None);
                None
            }
            Ok(origin) => {
                self.files.push(origin);
                self.texts.push("".into());
                Some(self.files.len() - 1)
            }
            Err(nearest) => {
                let place = reader.place_of(element, "path");
                let message = format!("{path:?} is neither beside this file nor in the library");
                self.tell(place, "", message, nearest.as_deref());
                None
            }
        }
    }

    fn definition(&mut self, reader: Reader, element: Node<'_, '_>, format: u8) -> Option<String> {
        let place = reader.place(element);
        let Some(id) = element.attribute("ID") else {
            self.tell(place, "", "<BehaviorTree> has no `ID`".to_owned(), None);
            return None;
        };
        let mut roots = Vec::new();
        for child in element.children().filter(Node::is_element) {
            match reader.element(child, 0) {
                Some(element) => roots.push(element),
                None => {
                    self.tell(place, id, format!(
                        "nodes lie more than {DEEPEST} deep, or one has more than {MOST_ATTRIBUTES} attributes"
                    ), None);
                    return None;
                }
            }
        }
        if let Some(first) = self.trees.get(id).map(|first| first.place) {
            if self.problems.len() < MOST_PROBLEMS {
                let (file, at) = (self.files[first.file].shown(), self.position(first));
                self.tell(place, "", format!("tree {id:?} is already in {}:{at}", file.display()), None);
            }
            return None;
        }
        self.trees.insert(id.to_owned(), Definition { format, place, roots });
        Some(id.to_owned())
    }
}

/// One file as it is read.
#[derive(Clone, Copy)]
struct Reader {
    file: usize,
}

impl Reader {
    fn at(&self, byte: usize) -> Place {
        Place { file: self.file, byte }
    }

    fn place(&self, node: Node<'_, '_>) -> Place {
        self.at(node.range().start)
    }

    fn place_of(&self, node: Node<'_, '_>, attribute: &str) -> Place {
        node.attribute_node(attribute).map_or_else(|| self.place(node), |found| self.at(found.range().start))
    }

    /// The element with all below it, none if that is too much.
    fn element(&self, node: Node<'_, '_>, depth: usize) -> Option<Element> {
        if depth >= DEEPEST || node.attributes().len() > MOST_ATTRIBUTES {
            return None;
        }
        let attribute = |found: roxmltree::Attribute<'_, '_>| Attribute {
            name: found.name().to_owned(),
            value: found.value().to_owned(),
            place: self.at(found.range().start),
        };
        let children = node.children().filter(Node::is_element);
        Some(Element {
            name: node.tag_name().name().to_owned(),
            place: self.place(node),
            attributes: node.attributes().map(attribute).collect(),
            children: children.map(|child| self.element(child, depth + 1)).collect::<Option<_>>()?,
        })
    }
}
