//! Evaluates a launch file: which messages and which processes it means, in its order.
//!
//! Follows the evaluation rules of launch: arguments and `<let>` share one scope that an include neither opens nor closes, a
//! `<group>` opens one unless `scoped="false"`, and an argument keeps the value it was given before its default is looked at.
//! Starts nothing and writes nothing.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::file::{
    Action, ActionKind, Argument, LaunchFile, NodeAction, Parameter, Place, Problem, Problems, Text,
};
use super::nearest;
use super::packages::{MissingFromPackages, Packages};
use super::parameter::Value;
use super::substitution::{Scope, SubstitutionError};

/// Launch files that include each other.
const MAX_INCLUDES: usize = 32;

/// One thing to do.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Step {
    /// A message for the user.
    Log(String),
    /// A process to start.
    Start(ProcessSpec),
}

/// A process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ProcessSpec {
    /// What its lines of output are marked with.
    pub(crate) label: String,
    /// Its executable; missing packages are reported together, before anything starts.
    pub(crate) program: Result<PathBuf, MissingFromPackages>,
    /// `package/executable`, for messages.
    pub(crate) origin: String,
    pub(crate) arguments: Vec<String>,
    pub(crate) environment: Vec<(String, String)>,
    /// Whether standard output is shown; standard error always is.
    pub(crate) shows_stdout: bool,
    /// Whether everything stops when it ends.
    pub(crate) ends_launch: bool,
}

/// Evaluates `file` with the arguments the user gave.
pub(crate) fn plan(
    file: &LaunchFile,
    given: &[(String, String)],
    packages: &Packages,
) -> Result<Vec<Step>, Problems> {
    let declared: Vec<&str> = file.arguments().map(|argument| argument.name.as_str()).collect();
    for (name, _) in given {
        if !declared.contains(&name.as_str()) {
            let hint = nearest::hint(name, declared.iter().copied());
            return Err(Problem {
                file: file.path.clone(),
                place: Place { line: 1, column: 1 },
                message: format!("no argument `{name}`{hint} (--show-args lists the arguments)"),
            }
            .into());
        }
    }
    let mut planner = Planner {
        packages,
        files: vec![file.path.clone()],
        scope: Variables { configurations: given.iter().cloned().collect(), ..Variables::default() },
        steps: Vec::new(),
        processes: 0,
    };
    planner.actions(&file.actions)?;
    Ok(planner.steps)
}

/// What a group saves and brings back.
#[derive(Debug, Clone, Default)]
struct Variables {
    configurations: BTreeMap<String, String>,
    environment: BTreeMap<String, String>,
    namespace: Option<String>,
    parameters: Vec<(String, Value)>,
    remaps: Vec<(String, String)>,
}

struct Planner<'a> {
    packages: &'a Packages,
    /// The file being evaluated, after those that include it.
    files: Vec<PathBuf>,
    scope: Variables,
    steps: Vec<Step>,
    processes: usize,
}

impl Scope for Planner<'_> {
    fn variable(&self, name: &str) -> Option<&str> {
        self.scope.configurations.get(name).map(String::as_str)
    }

    fn variables(&self) -> Vec<String> {
        self.scope.configurations.keys().cloned().collect()
    }

    fn environment(&self, name: &str) -> Option<String> {
        self.scope.environment.get(name).cloned().or_else(|| std::env::var(name).ok())
    }

    fn packages(&self) -> &Packages {
        self.packages
    }

    fn launch_folder(&self) -> PathBuf {
        self.file().parent().map(Path::to_owned).unwrap_or_default()
    }
}

impl Planner<'_> {
    fn file(&self) -> PathBuf {
        self.files.last().cloned().unwrap_or_default()
    }

    fn problem(&self, place: Place, message: String) -> Problem {
        Problem { file: self.file(), place, message }
    }

    fn text(&self, text: &Text) -> Result<String, Problem> {
        text.template.perform(self).map_err(|error| self.problem(text.place, error.to_string()))
    }

    fn optional(&self, text: Option<&Text>) -> Result<Option<String>, Problem> {
        text.map(|text| self.text(text)).transpose()
    }

    fn boolean(&self, text: &Text) -> Result<bool, Problem> {
        let located = |error: SubstitutionError| self.problem(text.place, error.to_string());
        text.template.perform_boolean(self).map_err(located)
    }

    fn words(&self, text: Option<&Text>) -> Result<Vec<String>, Problem> {
        text.map_or(Ok(Vec::new()), |text| {
            text.template.perform_words(self).map_err(|error| self.problem(text.place, error.to_string()))
        })
    }

    fn pairs(&self, pairs: &[(Text, Text)]) -> Result<Vec<(String, String)>, Problem> {
        pairs.iter().map(|(left, right)| Ok((self.text(left)?, self.text(right)?))).collect()
    }

    fn actions(&mut self, actions: &[Action]) -> Result<(), Problems> {
        for action in actions {
            if let Some(condition) = &action.condition
                && self.boolean(&condition.text)? != condition.wanted
            {
                continue;
            }
            self.action(action)?;
        }
        Ok(())
    }

    fn action(&mut self, action: &Action) -> Result<(), Problems> {
        match &action.kind {
            ActionKind::Argument(argument) => self.declare(argument, action.place)?,
            ActionKind::Let { name, value } => {
                let (name, value) = (self.text(name)?, self.text(value)?);
                self.scope.configurations.insert(name, value);
            }
            ActionKind::SetEnvironment { name, value } => {
                let (name, value) = (self.text(name)?, self.text(value)?);
                self.check_environment_name(&name, action.place)?;
                self.scope.environment.insert(name, value);
            }
            ActionKind::Group { scoped, actions } => {
                let scoped = scoped.as_ref().map_or(Ok(true), |scoped| self.boolean(scoped))?;
                let saved = scoped.then(|| self.scope.clone());
                self.actions(actions)?;
                if let Some(saved) = saved {
                    self.scope = saved;
                }
            }
            ActionKind::Include { file, arguments } => self.include(file, arguments)?,
            ActionKind::Node(node) => {
                let process = self.node(node)?;
                self.steps.push(Step::Start(process));
            }
            ActionKind::SetParameter { name, value } => {
                let typed = Value::new(self.text(value)?, None)
                    .map_err(|error| self.problem(value.place, error.to_string()))?;
                let name = self.text(name)?;
                self.scope.parameters.push((name, typed));
            }
            ActionKind::SetRemap { from, to } => {
                let remap = (self.text(from)?, self.text(to)?);
                self.scope.remaps.push(remap);
            }
            ActionKind::PushNamespace(namespace) => {
                let pushed = self.text(namespace)?;
                self.scope.namespace = below(self.scope.namespace.as_deref(), Some(&pushed));
            }
            ActionKind::Log(message) => {
                let message = self.text(message)?;
                self.steps.push(Step::Log(message));
            }
        }
        Ok(())
    }

    fn declare(&mut self, argument: &Argument, place: Place) -> Result<(), Problem> {
        let name = &argument.name;
        if !self.scope.configurations.contains_key(name) {
            let Some(default) = &argument.default else {
                return Err(self.problem(
                    place,
                    format!("the required argument `{name}` was not given: add `{name}:=VALUE`"),
                ));
            };
            let default = self.text(default)?;
            self.scope.configurations.insert(name.clone(), default);
        }
        let value = &self.scope.configurations[name];
        if !argument.choices.is_empty() && !argument.choices.contains(value) {
            let hint = nearest::hint(value, argument.choices.iter().map(String::as_str));
            let choices: Vec<String> = argument.choices.iter().map(|choice| format!("`{choice}`")).collect();
            let message = format!("argument `{name}`: `{value}` is not one of {}{hint}", choices.join(", "));
            return Err(self.problem(place, message));
        }
        Ok(())
    }

    fn include(&mut self, file: &Text, arguments: &[(Text, Text)]) -> Result<(), Problems> {
        let path = self.launch_folder().join(self.text(file)?);
        if self.files.len() > MAX_INCLUDES {
            return Err(self
                .problem(file.place, "launch files include each other without end".to_owned())
                .into());
        }
        if path.extension().is_none_or(|extension| extension != "xml") {
            let message =
                format!("{} is not an XML launch file; other kinds need `ros2 launch`", path.display());
            return Err(self.problem(file.place, message).into());
        }
        if !path.is_file() {
            return Err(self.problem(file.place, format!("no such launch file: {}", path.display())).into());
        }
        let included = LaunchFile::read(&path)?;
        // Every value is read before any is set, since a name may stand on both sides.
        for (name, value) in self.pairs(arguments)? {
            self.scope.configurations.insert(name, value);
        }
        self.files.push(included.path);
        self.actions(&included.actions)?;
        self.files.pop();
        Ok(())
    }

    fn check_environment_name(&self, name: &str, place: Place) -> Result<(), Problem> {
        if name.is_empty() || name.contains('=') {
            return Err(self.problem(place, format!("`{name}` is not the name of an environment variable")));
        }
        Ok(())
    }

    fn node(&mut self, node: &NodeAction) -> Result<ProcessSpec, Problem> {
        let (package, executable) = (self.text(&node.package)?, self.text(&node.executable)?);
        let mut arguments = self.words(node.arguments.as_ref())?;
        let ros_arguments = self.words(node.ros_arguments.as_ref())?;
        if !ros_arguments.is_empty() {
            arguments.push("--ros-args".to_owned());
            arguments.extend(ros_arguments);
        }
        arguments.push("--ros-args".to_owned());
        let mut rule = |flag: &str, rule: String| arguments.extend([flag.to_owned(), rule]);
        if let Some(name) = self.optional(node.name.as_ref())? {
            rule("-r", format!("__node:={name}"));
        }
        let namespace = self.optional(node.namespace.as_ref())?;
        if let Some(namespace) = below(self.scope.namespace.as_deref(), namespace.as_deref()) {
            rule("-r", format!("__ns:={namespace}"));
        }
        for (name, value) in &self.scope.parameters {
            rule("-p", format!("{name}:={}", value.to_yaml()));
        }
        for parameter in &node.parameters {
            match parameter {
                Parameter::File(path) => rule("--params-file", self.text(path)?),
                Parameter::Value { name, value, kind } => {
                    let name =
                        name.iter().map(|part| self.text(part)).collect::<Result<Vec<_>, _>>()?.join(".");
                    let typed = Value::new(self.text(value)?, *kind)
                        .map_err(|error| self.problem(value.place, format!("parameter `{name}`: {error}")))?;
                    rule("-p", format!("{name}:={}", typed.to_yaml()));
                }
            }
        }
        for (from, to) in self.scope.remaps.iter().cloned().chain(self.pairs(&node.remaps)?) {
            rule("-r", format!("{from}:={to}"));
        }
        let mut environment = self.scope.environment.clone();
        for ((name, value), (written, _)) in self.pairs(&node.environment)?.into_iter().zip(&node.environment)
        {
            self.check_environment_name(&name, written.place)?;
            environment.insert(name, value);
        }
        let shows_stdout = match self.optional(node.output.as_ref())?.as_deref() {
            None | Some("log") => false,
            Some("screen" | "both") => true,
            Some(other) => {
                let place = node.output.as_ref().map_or(node.package.place, |output| output.place);
                return Err(self.problem(
                    place,
                    format!("output=\"{other}\" is not supported; supported: screen, log, both"),
                ));
            }
        };
        self.processes += 1;
        let name = self.optional(node.label.as_ref())?.unwrap_or_else(|| executable.clone());
        Ok(ProcessSpec {
            label: format!("{name}-{}", self.processes),
            program: self.packages.executable(&package, &executable),
            origin: format!("{package}/{executable}"),
            arguments,
            environment: environment.into_iter().collect(),
            shows_stdout,
            ends_launch: node.ends_launch,
        })
    }
}

/// The namespace `name` below `outer`, absolute; nothing when both are absent.
fn below(outer: Option<&str>, name: Option<&str>) -> Option<String> {
    let outer = outer.unwrap_or_default().trim_end_matches('/');
    match name {
        None if outer.is_empty() => None,
        None => Some(outer.to_owned()),
        Some(name) if name.starts_with('/') => Some(name.to_owned()),
        Some("") if outer.is_empty() => None,
        Some("") => Some(outer.to_owned()),
        Some(name) => Some(format!("{outer}/{name}")),
    }
}
