//! Reads a launch file into typed actions.
//!
//! The documented subset of launch XML: `launch`, `arg` (with `choice`), `let`, `set_env`, `group`, `include`, `node` (with
//! `param`, `remap`, `env`), `set_parameter`, `set_remap`, `push-ros-namespace` and `log`, with the attributes of [`ALLOWED`].
//! Anything else is refused by name and place, wherever it stands, and all problems of a file are found in one go. Nothing is
//! evaluated here.

use std::path::{Path, PathBuf};

use roxmltree::{Document, Node};
use thiserror::Error;

use super::nearest;
use super::parameter::Kind;
use super::substitution::Template;

/// Elements that may stand where, with their attributes: parent kind, element, required attributes, optional attributes.
const ALLOWED: [(Parent, &str, &[&str], &[&str]); 19] = [
    (Parent::Actions, "arg", &["name"], &["default", "description", "if", "unless"]),
    (Parent::Arg, "choice", &["value"], &[]),
    (Parent::Actions, "let", &["name", "value"], &["if", "unless"]),
    (Parent::Actions, "set_env", &["name", "value"], &["if", "unless"]),
    (Parent::Actions, "group", &[], &["scoped", "if", "unless"]),
    (Parent::Actions, "include", &["file"], &["if", "unless"]),
    (Parent::Include, "arg", &["name", "value"], &[]),
    (
        Parent::Actions,
        "node",
        &["pkg", "exec"],
        &["name", "exec_name", "namespace", "output", "args", "ros_args", "on_exit", "if", "unless"],
    ),
    (Parent::Node, "param", &[], &["name", "value", "type", "from"]),
    (Parent::Param, "param", &["name"], &["value", "type"]),
    (Parent::Node, "remap", &["from", "to"], &[]),
    (Parent::Node, "env", &["name", "value"], &[]),
    (Parent::Actions, "set_parameter", &["name", "value"], &["if", "unless"]),
    (Parent::Actions, "set_remap", &["from", "to"], &["if", "unless"]),
    (Parent::Actions, "push-ros-namespace", &["namespace"], &["if", "unless"]),
    (Parent::Actions, "push_ros_namespace", &["namespace"], &["if", "unless"]),
    (Parent::Actions, "log", &["message"], &["level", "if", "unless"]),
    (Parent::Actions, "log_info", &["message"], &["if", "unless"]),
    (Parent::Document, "launch", &[], &["version"]),
];

/// Groups and parameters inside each other.
const MAX_DEPTH: usize = 32;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Parent {
    Document,
    Actions,
    Arg,
    Include,
    Node,
    Param,
}

/// Line and column, from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Place {
    pub(crate) line: u32,
    pub(crate) column: u32,
}

/// One thing wrong with a launch file.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{}:{}:{}: {message}", file.display(), place.line, place.column)]
pub(crate) struct Problem {
    pub(crate) file: PathBuf,
    pub(crate) place: Place,
    pub(crate) message: String,
}

/// Everything wrong with a launch file, in the order of the file.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))]
pub(crate) struct Problems(pub(crate) Vec<Problem>);

impl From<Problem> for Problems {
    fn from(problem: Problem) -> Self {
        Self(vec![problem])
    }
}

/// A launch file.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct LaunchFile {
    pub(crate) path: PathBuf,
    pub(crate) actions: Vec<Action>,
}

/// An attribute value and where it stands.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Text {
    pub(crate) place: Place,
    pub(crate) template: Template,
}

/// One element that does something.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Action {
    pub(crate) place: Place,
    pub(crate) condition: Option<Condition>,
    pub(crate) kind: ActionKind,
}

/// `if` and `unless`.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Condition {
    pub(crate) text: Text,
    pub(crate) wanted: bool,
}

/// What an element does.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum ActionKind {
    Argument(Box<Argument>),
    Let { name: Text, value: Text },
    SetEnvironment { name: Text, value: Text },
    Group { scoped: Option<Text>, actions: Vec<Action> },
    Include { file: Text, arguments: Vec<(Text, Text)> },
    Node(Box<NodeAction>),
    SetParameter { name: Text, value: Text },
    SetRemap { from: Text, to: Text },
    PushNamespace(Text),
    Log(Text),
}

/// `<arg>` at the top of a file.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Argument {
    pub(crate) name: String,
    pub(crate) default: Option<Text>,
    /// The default as it stands in the file.
    pub(crate) written_default: Option<String>,
    pub(crate) description: Option<String>,
    pub(crate) choices: Vec<String>,
}

/// `<node>`.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct NodeAction {
    pub(crate) package: Text,
    pub(crate) executable: Text,
    pub(crate) name: Option<Text>,
    pub(crate) label: Option<Text>,
    pub(crate) namespace: Option<Text>,
    pub(crate) output: Option<Text>,
    pub(crate) arguments: Option<Text>,
    pub(crate) ros_arguments: Option<Text>,
    pub(crate) ends_launch: bool,
    pub(crate) parameters: Vec<Parameter>,
    pub(crate) remaps: Vec<(Text, Text)>,
    pub(crate) environment: Vec<(Text, Text)>,
}

/// `<param>` of a node, nested ones flattened.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Parameter {
    /// `name` has one part per level.
    Value {
        name: Vec<Text>,
        value: Text,
        kind: Option<Kind>,
    },
    File(Text),
}

impl LaunchFile {
    /// Reads the file at `path`.
    pub(crate) fn read(path: &Path) -> Result<Self, Problems> {
        let source = std::fs::read_to_string(path).map_err(|error| Problem {
            file: path.to_owned(),
            place: Place { line: 1, column: 1 },
            message: format!("cannot be read: {error}"),
        })?;
        Self::parse(path, &source)
    }

    /// Reads `source`, which is the text of the file at `path`.
    pub(crate) fn parse(path: &Path, source: &str) -> Result<Self, Problems> {
        let document = Document::parse(source).map_err(|error| Problem {
            file: path.to_owned(),
            place: Place { line: error.pos().row, column: error.pos().col },
            message: format!("not well-formed XML: {error}"),
        })?;
        let mut reader = Reader { path, document: &document, problems: Vec::new() };
        let root = document.root_element();
        let actions =
            if reader.accepts(Parent::Document, root) { reader.actions(root, 0) } else { Vec::new() };
        let mut problems = reader.problems;
        if problems.is_empty() {
            Ok(Self { path: path.to_owned(), actions })
        } else {
            problems.sort_by_key(|problem| problem.place);
            Err(Problems(problems))
        }
    }

    /// Arguments that the file declares outside groups: those a caller can give.
    pub(crate) fn arguments(&self) -> impl Iterator<Item = &Argument> {
        self.actions.iter().filter_map(|action| match &action.kind {
            ActionKind::Argument(argument) => Some(argument.as_ref()),
            _ => None,
        })
    }
}

struct Reader<'a, 'input> {
    path: &'a Path,
    document: &'a Document<'input>,
    problems: Vec<Problem>,
}

impl Reader<'_, '_> {
    fn place(&self, offset: usize) -> Place {
        let position = self.document.text_pos_at(offset);
        Place { line: position.row, column: position.col }
    }

    fn report(&mut self, offset: usize, message: String) {
        let place = self.place(offset);
        self.problems.push(Problem { file: self.path.to_owned(), place, message });
    }

    /// Whether `element` may stand below `parent`, after reporting everything wrong with its name, attributes and text.
    fn accepts(&mut self, parent: Parent, element: Node<'_, '_>) -> bool {
        let name = element.tag_name().name();
        let start = element.range().start;
        let Some((.., required, optional)) =
            ALLOWED.iter().find(|(allowed_in, known, ..)| *allowed_in == parent && *known == name)
        else {
            let known: Vec<&str> =
                ALLOWED.iter().filter(|entry| entry.0 == parent).map(|entry| entry.1).collect();
            let hint = nearest::hint(name, known.iter().copied());
            let known = if known.is_empty() { "no element".to_owned() } else { known.join(", ") };
            self.report(start, format!("<{name}> is not supported here; supported: {known}{hint}"));
            return false;
        };
        for attribute in element.attributes() {
            if !required.contains(&attribute.name()) && !optional.contains(&attribute.name()) {
                let known: Vec<&str> = required.iter().chain(optional.iter()).copied().collect();
                let hint = nearest::hint(attribute.name(), known.iter().copied());
                let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
                self.report(
                    attribute.range().start,
                    format!(
                        "attribute `{}` of <{name}> is not supported; supported: {known}{hint}",
                        attribute.name()
                    ),
                );
            }
        }
        let mut complete = true;
        for missing in required.iter().filter(|attribute| !element.has_attribute(**attribute)) {
            self.report(start, format!("<{name}> needs the attribute `{missing}`"));
            complete = false;
        }
        let stray = element
            .children()
            .find(|child| child.text().is_some_and(|text| child.is_text() && !text.trim().is_empty()));
        if let Some(stray) = stray {
            self.report(stray.range().start, format!("text inside <{name}> means nothing"));
        }
        complete
    }

    /// Children of `element` that are well-formed below `parent`; the others are reported.
    fn children<'a, 'input>(&mut self, parent: Parent, element: Node<'a, 'input>) -> Vec<Node<'a, 'input>> {
        element.children().filter(Node::is_element).filter(|child| self.accepts(parent, *child)).collect()
    }

    fn text(&mut self, element: Node<'_, '_>, attribute: &str) -> Option<Text> {
        let attribute = element.attribute_node(attribute)?;
        match Template::parse(attribute.value()) {
            Ok(template) => Some(Text { place: self.place(attribute.range().start), template }),
            Err(error) => {
                self.report(attribute.range().start, error.to_string());
                None
            }
        }
    }

    fn pairs(&mut self, elements: &[Node<'_, '_>], element: &str, from: &str, to: &str) -> Vec<(Text, Text)> {
        let named = elements.iter().filter(|child| child.has_tag_name(element));
        named.filter_map(|child| Some((self.text(*child, from)?, self.text(*child, to)?))).collect()
    }

    fn actions(&mut self, parent: Node<'_, '_>, depth: usize) -> Vec<Action> {
        if depth > MAX_DEPTH {
            self.report(parent.range().start, "elements are nested too deeply".to_owned());
            return Vec::new();
        }
        let elements = self.children(Parent::Actions, parent);
        elements.into_iter().filter_map(|element| self.action(element, depth)).collect()
    }

    fn action(&mut self, element: Node<'_, '_>, depth: usize) -> Option<Action> {
        let place = self.place(element.range().start);
        if let (Some(_), Some(unless)) = (element.attribute_node("if"), element.attribute_node("unless")) {
            self.report(unless.range().start, "`if` and `unless` exclude each other".to_owned());
        }
        let condition = match (self.text(element, "if"), self.text(element, "unless")) {
            (Some(text), _) => Some(Condition { text, wanted: true }),
            (None, Some(text)) => Some(Condition { text, wanted: false }),
            (None, None) => None,
        };
        let kind = match element.tag_name().name() {
            "arg" => ActionKind::Argument(Box::new(self.argument(element))),
            "let" => {
                ActionKind::Let { name: self.text(element, "name")?, value: self.text(element, "value")? }
            }
            "set_env" => ActionKind::SetEnvironment {
                name: self.text(element, "name")?,
                value: self.text(element, "value")?,
            },
            "group" => ActionKind::Group {
                scoped: self.text(element, "scoped"),
                actions: self.actions(element, depth + 1),
            },
            "include" => {
                let given = self.children(Parent::Include, element);
                let arguments = self.pairs(&given, "arg", "name", "value");
                ActionKind::Include { file: self.text(element, "file")?, arguments }
            }
            "node" => ActionKind::Node(Box::new(self.node(element)?)),
            "set_parameter" => ActionKind::SetParameter {
                name: self.text(element, "name")?,
                value: self.text(element, "value")?,
            },
            "set_remap" => {
                ActionKind::SetRemap { from: self.text(element, "from")?, to: self.text(element, "to")? }
            }
            "push-ros-namespace" | "push_ros_namespace" => {
                ActionKind::PushNamespace(self.text(element, "namespace")?)
            }
            // `log` and `log_info`: the table of elements has nothing else.
            _ => ActionKind::Log(self.text(element, "message")?),
        };
        if !matches!(
            kind,
            ActionKind::Argument(_)
                | ActionKind::Group { .. }
                | ActionKind::Include { .. }
                | ActionKind::Node(_)
        ) {
            for child in element.children().filter(Node::is_element) {
                let (name, parent) = (child.tag_name().name(), element.tag_name().name());
                self.report(child.range().start, format!("<{name}> is not supported inside <{parent}>"));
            }
        }
        Some(Action { place, condition, kind })
    }

    fn argument(&mut self, element: Node<'_, '_>) -> Argument {
        let choices = self.children(Parent::Arg, element);
        Argument {
            name: element.attribute("name").unwrap_or_default().to_owned(),
            default: self.text(element, "default"),
            written_default: element.attribute("default").map(str::to_owned),
            description: element.attribute("description").map(str::to_owned),
            choices: choices
                .iter()
                .filter_map(|choice| choice.attribute("value"))
                .map(str::to_owned)
                .collect(),
        }
    }

    fn node(&mut self, element: Node<'_, '_>) -> Option<NodeAction> {
        let children = self.children(Parent::Node, element);
        let mut parameters = Vec::new();
        for child in children.iter().filter(|child| child.has_tag_name("param")) {
            self.parameter(*child, &mut Vec::new(), &mut parameters);
        }
        let ends_launch = match element.attribute_node("on_exit") {
            None => false,
            Some(attribute) if attribute.value() == "shutdown" => true,
            Some(attribute) => {
                self.report(
                    attribute.range().start,
                    format!("on_exit=\"{}\" is not supported; supported: shutdown", attribute.value()),
                );
                false
            }
        };
        Some(NodeAction {
            package: self.text(element, "pkg")?,
            executable: self.text(element, "exec")?,
            name: self.text(element, "name"),
            label: self.text(element, "exec_name"),
            namespace: self.text(element, "namespace"),
            output: self.text(element, "output"),
            arguments: self.text(element, "args"),
            ros_arguments: self.text(element, "ros_args"),
            ends_launch,
            parameters,
            remaps: self.pairs(&children, "remap", "from", "to"),
            environment: self.pairs(&children, "env", "name", "value"),
        })
    }

    fn parameter(&mut self, element: Node<'_, '_>, outer: &mut Vec<Text>, found: &mut Vec<Parameter>) {
        let start = element.range().start;
        let nested = self.children(Parent::Param, element);
        let kind = element.attribute_node("type").and_then(|attribute| {
            let kind = Kind::from_name(attribute.value());
            if kind.is_none() {
                let (wrong, known) = (attribute.value(), Kind::NAMES.join(", "));
                self.report(
                    attribute.range().start,
                    format!("type=\"{wrong}\" is not supported; supported: {known}"),
                );
            }
            kind
        });
        if outer.len() > MAX_DEPTH {
            self.report(start, "parameters are nested too deeply".to_owned());
            return;
        }
        let has = |name| element.has_attribute(name);
        match (has("from"), has("name"), has("value"), nested.is_empty()) {
            (true, false, false, true) if !has("type") => {
                found.extend(self.text(element, "from").map(Parameter::File))
            }
            (false, true, true, true) => {
                if let (Some(name), Some(value)) = (self.text(element, "name"), self.text(element, "value")) {
                    let name = outer.iter().cloned().chain([name]).collect();
                    found.push(Parameter::Value { name, value, kind });
                }
            }
            (false, true, false, false) if !has("type") => {
                if let Some(name) = self.text(element, "name") {
                    outer.push(name);
                    for child in nested {
                        self.parameter(child, outer, found);
                    }
                    outer.pop();
                }
            }
            _ => self.report(
                start,
                "<param> needs either `name` and `value`, or `name` and nested <param>, or `from` alone"
                    .to_owned(),
            ),
        }
    }
}
