//! From the elements of files to a flat program: sub-trees are put in place, ports become literals or slots of one blackboard.
//!
//! Whatever can be wrong with a tree is found here, so that ticking cannot fail. It must not know a world.

use std::collections::BTreeMap;

use promenade_scenario::problem::nearest;

use super::document::{Attribute, Element, Forest, Place};
use super::nodes::{self, Absent, NODES, NodeKind, NodeSpec, Op, PortSpec, PortType};
use super::program::{Node, Port, Program, Slot, Value};

/// Nodes of one tree with its sub-trees, at most.
const MOST_NODES: usize = 4096;
/// Entries of the blackboard of one tree, at most.
const MOST_SLOTS: usize = 16_384;
/// Nodes within nodes, sub-trees put in place, at most.
const DEEPEST: usize = 128;

/// Compile the main tree of a forest, and look at those that it does not use. `provides` says whether the entries of
/// [`super::program::BEHAVIOR_ENTRIES`] are there.
pub(super) fn compile(forest: &mut Forest, provides: bool) -> Option<Program> {
    let (name, place) = forest.main.clone()?;
    if !forest.trees.contains_key(&name) {
        let suggestion = nearest(&name, forest.trees.keys().map(String::as_str)).map(str::to_owned);
        forest.tell(place, "", format!("there is no tree {name:?}"), suggestion.as_deref());
        return None;
    }
    let trees = std::mem::take(&mut forest.trees);
    let mut compiler = Compiler {
        trees: &trees,
        forest,
        program: Program::new(provides),
        scopes: vec![Scope::root()],
        reads: Vec::new(),
        within: Vec::new(),
        used: vec![name.clone()],
        is_full: false,
    };
    let root = compiler.tree(&name, 0, 0);
    compiler.check_reads();
    compiler.check_unused();
    let mut program = compiler.program;
    forest.trees = trees;
    program.root = root?;
    Some(program)
}

/// Names of one (sub-)tree and the slots that they mean.
struct Scope {
    names: BTreeMap<String, usize>,
    outer: Option<usize>,
    /// Names that are not mapped mean those of the outer tree.
    is_open: bool,
}

impl Scope {
    fn root() -> Self {
        let names = super::program::ROOT_ENTRIES.iter().enumerate();
        let names = names.map(|(slot, name)| ((*name).to_owned(), slot)).collect();
        Scope { names, outer: None, is_open: false }
    }
}

/// A port that reads an entry.
struct Read {
    slot: usize,
    scope: usize,
    name: String,
    place: Place,
    tree: String,
}

struct Compiler<'a> {
    trees: &'a BTreeMap<String, super::document::Definition>,
    forest: &'a mut Forest,
    program: Program,
    scopes: Vec<Scope>,
    reads: Vec<Read>,
    /// The trees around the element, outermost first.
    within: Vec<String>,
    used: Vec<String>,
    /// The tree has become too large, which was told.
    is_full: bool,
}

impl Compiler<'_> {
    fn tell(&mut self, place: Place, message: String, suggestion: Option<&str>) {
        let tree = self.within.last().cloned().unwrap_or_default();
        self.forest.tell(place, &tree, message, suggestion);
    }

    /// Put a tree in place; the index of its root.
    fn tree(&mut self, name: &str, scope: usize, depth: usize) -> Option<u32> {
        let trees = self.trees;
        let definition = &trees[name];
        self.within.push(name.to_owned());
        let root = match &definition.roots[..] {
            [root] => self.element(root, definition.format, scope, depth),
            roots => {
                let message = format!("a tree has one root, found {}", roots.len());
                self.tell(definition.place, message, None);
                None
            }
        };
        self.within.pop();
        root
    }

    fn element(&mut self, element: &Element, format: u8, scope: usize, depth: usize) -> Option<u32> {
        if self.is_full {
            return None;
        }
        let nodes = self.program.nodes.len().max(self.scopes.len());
        if nodes >= MOST_NODES || depth >= DEEPEST || self.program.slots.len() >= MOST_SLOTS {
            self.is_full = true;
            let message = format!(
                "with its sub-trees it is too large: more than {MOST_NODES} nodes, {DEEPEST} within one another, or \
                 {MOST_SLOTS} entries"
            );
            self.tell(element.place, message, None);
            return None;
        }
        if matches!(element.name.as_str(), "SubTree" | "SubTreePlus") {
            return self.subtree(element, format, scope, depth);
        }
        let (spec, is_explicit) = self.spec(element)?;
        let place = self.program.nodes.len();
        // Its place comes before its children's, so that the budget counts it.
        self.program.nodes.push(Node { op: spec.op, ports: 0, children: 0, count: 0 });
        let ports = self.ports(element, spec, is_explicit, format, scope);
        self.children_fit(element, spec);
        let children: Vec<Option<u32>> =
            element.children.iter().map(|child| self.element(child, format, scope, depth + 1)).collect();
        let children: Vec<u32> = children.into_iter().collect::<Option<_>>()?;
        let node = &mut self.program.nodes[place];
        node.ports = self.program.ports.len();
        node.children = self.program.children.len();
        node.count = children.len();
        self.program.ports.extend(ports?);
        self.program.children.extend(children);
        u32::try_from(place).ok()
    }

    /// The node of the library that an element names, and whether it does so by `ID`.
    fn spec(&mut self, element: &Element) -> Option<(&'static NodeSpec, bool)> {
        let is_explicit = matches!(element.name.as_str(), "Action" | "Condition" | "Control" | "Decorator");
        let (id, place) = match (is_explicit, element.attribute("ID")) {
            (false, _) => (element.name.as_str(), element.place),
            (true, Some(id)) => (id.value.as_str(), id.place),
            (true, None) => {
                self.tell(element.place, format!("<{}> has no `ID`", element.name), None);
                return None;
            }
        };
        let found = nodes::find(id);
        if found.is_none() {
            let names = NODES.iter().map(|node| node.id).chain(["SubTree"]);
            self.tell(place, format!("there is no node {id:?}"), nearest(id, names));
        }
        found.map(|spec| (spec, is_explicit))
    }

    fn children_fit(&mut self, element: &Element, spec: &NodeSpec) {
        let count = element.children.len();
        let expected = match spec.kind {
            NodeKind::Control if count == 0 => "at least one child",
            NodeKind::Decorator if count != 1 => "one child",
            NodeKind::Condition | NodeKind::Action if count != 0 => "no children",
            _ => return,
        };
        self.tell(element.place, format!("{} takes {expected}, found {count}", spec.id), None);
    }

    fn ports(
        &mut self,
        element: &Element,
        spec: &'static NodeSpec,
        is_explicit: bool,
        format: u8,
        scope: usize,
    ) -> Option<Vec<Port>> {
        for attribute in &element.attributes {
            let name = attribute.name.as_str();
            let is_known = name == "name" || (is_explicit && name == "ID") || is_note(name);
            if is_known || spec.ports.iter().any(|port| port.name == name) {
                continue;
            }
            if name.starts_with('_') {
                self.tell(attribute.place, format!("scripts such as `{name}` are not supported"), None);
            } else {
                let names = spec.ports.iter().map(|port| port.name);
                self.tell(attribute.place, format!("{} has no port `{name}`", spec.id), nearest(name, names));
            }
        }
        let ports: Vec<_> = spec
            .ports
            .iter()
            .map(|port| match (element.attribute(port.name), port.absent) {
                (Some(attribute), _) => self.port(spec, port, attribute, format, scope),
                (None, Absent::Allowed) => Some(Port::Absent),
                (None, Absent::Is(value)) => Some(Port::Value(Value::Number(value))),
                (None, Absent::Required) => {
                    self.tell(element.place, format!("{} needs `{}`", spec.id, port.name), None);
                    None
                }
            })
            .collect();
        let takes_place = spec.ports.iter().any(|port| port.name == "goal_id");
        let has = |name| element.attribute(name).is_some();
        if takes_place && !has("goal_id") && !(has("target_x") && has("target_y")) {
            let message = format!("{} needs `goal_id`, or `target_x` and `target_y`", spec.id);
            self.tell(element.place, message, None);
        }
        ports.into_iter().collect()
    }

    fn port(
        &mut self,
        spec: &NodeSpec,
        port: &PortSpec,
        attribute: &Attribute,
        format: u8,
        scope: usize,
    ) -> Option<Port> {
        let text = attribute.value.as_str();
        let entry = match entry(text, port.name, format) {
            // What SetBlackboard writes is named with or without braces.
            None if port.takes == PortType::Out && spec.op == Op::SetBlackboard => Some(text.trim()),
            entry => entry,
        };
        if entry == Some("") {
            self.tell(attribute.place, format!("`{}` names no entry of the blackboard", port.name), None);
            return None;
        }
        if let Some(name) = entry {
            let slot = self.slot(scope, name);
            if port.takes == PortType::Out {
                self.program.slots[slot].is_set = true;
            } else {
                let tree = self.within.last().cloned().unwrap_or_default();
                self.reads.push(Read { slot, scope, name: name.to_owned(), place: attribute.place, tree });
            }
            return Some(Port::Slot(slot));
        }
        let value = Value::text(text);
        let expected = match port.takes {
            PortType::Text => return Some(Port::Value(value)),
            PortType::Ids if super::program::ids(text).all(|id| id.is_some()) => {
                return Some(Port::Value(value));
            }
            PortType::Int if text.trim().parse::<i32>().is_ok() => return Some(Port::Value(value)),
            PortType::Float | PortType::Bool if value.number().is_some() => return Some(Port::Value(value)),
            PortType::Ids => "ids with commas between",
            PortType::Int => "a whole number",
            PortType::Float => "a number",
            PortType::Bool => "true or false",
            PortType::Out => "an entry of the blackboard such as {key}",
        };
        self.tell(attribute.place, format!("`{}` is {text:?}, expected {expected}", port.name), None);
        None
    }

    /// The slot that a name means in a scope.
    fn slot(&mut self, scope: usize, name: &str) -> usize {
        // An entry of the root tree, from anywhere.
        let global = name.trim_start_matches('@');
        let (scope, name) = if global.len() < name.len() { (0, global) } else { (scope, name) };
        if let Some(slot) = self.scopes[scope].names.get(name) {
            return *slot;
        }
        let slot = match self.scopes[scope] {
            Scope { outer: Some(outer), is_open: true, .. } => self.slot(outer, name),
            _ => self.new_slot(Slot::default()),
        };
        self.scopes[scope].names.insert(name.to_owned(), slot);
        slot
    }

    fn new_slot(&mut self, slot: Slot) -> usize {
        self.program.slots.push(slot);
        self.program.slots.len() - 1
    }

    fn subtree(&mut self, element: &Element, format: u8, outer: usize, depth: usize) -> Option<u32> {
        let name = self.subtree_name(element)?;
        if self.within.contains(&name) {
            self.tell(element.place, format!("tree {name:?} contains itself"), None);
            return None;
        }
        if !element.children.is_empty() {
            self.tell(element.place, "a sub-tree takes no children".to_owned(), None);
        }
        let says = |name: &str| {
            element.attribute(name).is_some_and(|found| matches!(found.value.trim(), "true" | "1"))
        };
        self.used.push(name.clone());
        if says("__shared_blackboard") {
            return self.tree(&name, outer, depth + 1);
        }
        let is_open = says("_autoremap") || says("__autoremap");
        let mut scope = Scope { names: BTreeMap::new(), outer: Some(outer), is_open };
        // The first format names entries without braces, and has no literals.
        let is_bare = format == 3 && element.name == "SubTree";
        for attribute in &element.attributes {
            let (name, text) = (attribute.name.as_str(), attribute.value.as_str());
            if matches!(name, "ID" | "name" | "_autoremap" | "__autoremap" | "__shared_blackboard")
                || is_note(name)
            {
                continue;
            }
            if name.starts_with('_') {
                self.tell(attribute.place, format!("scripts such as `{name}` are not supported"), None);
                continue;
            }
            let slot = match entry(text, name, format).or(is_bare.then_some(text.trim())) {
                Some("") => {
                    self.tell(attribute.place, format!("`{name}` names no entry of the blackboard"), None);
                    continue;
                }
                Some(entry) => self.slot(outer, entry),
                None => self.new_slot(Slot { value: Value::text(text), is_set: true }),
            };
            scope.names.insert(name.to_owned(), slot);
        }
        self.scopes.push(scope);
        self.tree(&name, self.scopes.len() - 1, depth + 1)
    }

    /// The tree that a `SubTree` names, if there is one.
    fn subtree_name(&mut self, element: &Element) -> Option<String> {
        let Some(id) = element.attribute("ID") else {
            self.tell(element.place, format!("<{}> has no `ID`", element.name), None);
            return None;
        };
        if !self.trees.contains_key(&id.value) {
            let names = self.trees.keys().map(String::as_str);
            let suggestion = nearest(&id.value, names);
            self.tell(id.place, format!("there is no tree {:?}", id.value), suggestion);
            return None;
        }
        Some(id.value.clone())
    }

    /// Entries that somebody reads must be set by somebody.
    fn check_reads(&mut self) {
        for read in std::mem::take(&mut self.reads) {
            if self.program.slots[read.slot].is_set {
                continue;
            }
            let names = &self.scopes[read.scope].names;
            let set = names.iter().filter(|(_, slot)| self.program.slots[**slot].is_set);
            let suggestion = nearest(&read.name, set.map(|(name, _)| name.as_str()));
            let message = format!("nothing sets the entry {{{}}} of the blackboard", read.name);
            self.forest.tell(read.place, &read.tree, message, suggestion);
        }
    }

    /// Trees that nobody uses are read too: whoever wrote one wants to know.
    fn check_unused(&mut self) {
        let (trees, used) = (self.trees, std::mem::take(&mut self.used));
        for (name, definition) in trees.iter().filter(|(name, _)| !used.contains(name)) {
            self.within.push(name.clone());
            self.scopes.push(Scope { names: BTreeMap::new(), outer: None, is_open: false });
            for root in &definition.roots {
                self.check_element(root, definition.format);
            }
            self.within.pop();
        }
        self.reads.clear();
    }

    fn check_element(&mut self, element: &Element, format: u8) {
        if matches!(element.name.as_str(), "SubTree" | "SubTreePlus") {
            self.subtree_name(element);
        } else if let Some((spec, is_explicit)) = self.spec(element) {
            self.ports(element, spec, is_explicit, format, self.scopes.len() - 1);
            self.children_fit(element, spec);
        }
        element.children.iter().for_each(|child| self.check_element(child, format));
    }
}

/// Whether an attribute is a note for people or editors.
fn is_note(name: &str) -> bool {
    matches!(name, "_description" | "_uid" | "_fullpath")
}

/// The entry that a value names, if it names one; `{=}` is the port's own name.
fn entry<'a>(text: &'a str, port: &'a str, format: u8) -> Option<&'a str> {
    let name = text.trim().strip_prefix('{')?.strip_suffix('}')?.trim();
    Some(if format == 4 && name == "=" { port } else { name })
}
