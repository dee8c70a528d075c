//! `kinematics` of an object, and the keys of whatever a registry knows (robot-world specification, sections 5 and 17).

use std::sync::Arc;

use promenade_scenario::decode::Fields;
use promenade_scenario::problem::Position;
use promenade_scenario::tree::Node;

use super::Reader;
use super::value::{At, Limit, shortened};
use crate::kinematics::Model;
use crate::registry::{Argument, ArgumentError, Arguments, Kind, Parameter, STATIC};

/// Keys of every model.
const COMMON: [&str; 4] = ["name", "noise", "alpha", "tau"];
/// Most lists, and numbers of a list, of a key that takes lists of integers.
const MAX_INTEGERS: usize = 10_000;

/// What a `kinematics` mapping says.
pub(super) enum Drive {
    /// It cannot be driven; with `static` it cannot move either.
    Passive { is_static: bool },
    /// It has a model.
    Driven(Driven),
}

/// Numbers of the noise on commands; `None` = without noise.
pub(super) type Noise = Option<Vec<f64>>;

/// A model before its shape is known.
pub(super) struct Driven {
    name: String,
    arguments: Arguments,
    /// The noise's own numbers, when there is noise.
    noise: Option<Option<Vec<f64>>>,
    /// Drive lag, when given.
    pub(super) tau: Option<f64>,
    at: Position,
    path: String,
}

impl<'a> Reader<'_> {
    /// A `kinematics` mapping.
    pub(super) fn drive(&mut self, node: &'a Node, path: &str) -> Option<Drive> {
        if let Some(name) = node.as_str() {
            let message = format!(
                "expected a mapping with a name, found {}; write {{name: {}}}",
                node.describe(),
                shortened(name)
            );
            self.d.error(node.at, path, message);
            return None;
        }
        let fields = self.d.fields(node, path, "kinematics", &[])?;
        let name_path = fields.path_of("name");
        let Some(name) = fields.get("name") else {
            if fields.has("name") {
                return Some(Drive::Passive { is_static: false });
            }
            let known = self.registry.model_names().join(", ");
            self.d.error(fields.at, &name_path, format!("required; known: {known}"));
            return None;
        };
        let text = self.d.text(name, &name_path)?;
        if text.eq_ignore_ascii_case(STATIC) {
            return Some(Drive::Passive { is_static: true });
        }
        let registry = self.registry;
        let Some(entry) = registry.model(&text) else {
            self.unknown(name.at, &name_path, "kinematics", &text, &registry.model_names());
            return None;
        };
        let arguments = self.arguments(&fields, entry.name, &entry.parameters, &COMMON);
        let noise = self.flag_or(&fields, "noise", false);
        let alpha = self.value(&fields, "alpha", |r, n, p| r.numbers(n, p, Limit::NonNegative));
        Some(Drive::Driven(Driven {
            name: entry.name.to_owned(),
            arguments: arguments?,
            noise: noise.then_some(alpha),
            tau: self.value(&fields, "tau", |r, n, p| r.physical(n, p, Limit::NonNegative)),
            at: fields.key_at("alpha"),
            path: path.to_owned(),
        }))
    }

    /// The model and its noise, for a shape with this wheelbase.
    pub(super) fn model(
        &mut self,
        driven: &Driven,
        wheelbase: Option<f64>,
    ) -> Option<(Arc<dyn Model>, Noise)> {
        let entry = self.registry.model(&driven.name)?;
        let model = match (entry.make)(&driven.arguments, wheelbase) {
            Ok(model) => model,
            Err(ArgumentError { key, message }) => {
                self.d.error(driven.at, &format!("{}.{key}", driven.path), message);
                return None;
            }
        };
        let needed = model.default_alpha();
        let noise = driven.noise.as_ref().map(|alpha| alpha.clone().unwrap_or_else(|| needed.to_vec()));
        if let Some(given) = noise.as_ref().map(Vec::len).filter(|given| *given < needed.len()) {
            let message = format!("{given} numbers, the noise of {:?} needs {}", driven.name, needed.len());
            self.d.error(driven.at, &format!("{}.alpha", driven.path), message);
        }
        Some((model, noise))
    }

    /// The keys of a mapping that a registered entry takes, checked, with defaults. Keys in `common` are others' to read.
    pub(super) fn arguments(
        &mut self,
        fields: &Fields<'a>,
        name: &str,
        parameters: &[Parameter],
        common: &[&str],
    ) -> Option<Arguments> {
        let known = |key: &str| common.contains(&key) || parameters.iter().any(|known| known.name == key);
        let mut complete = true;
        for entry in fields.entries().iter().filter(|entry| !known(&entry.key)) {
            let takes: Vec<&str> = common
                .iter()
                .copied()
                .filter(|key| *key != "name")
                .chain(parameters.iter().map(|known| known.name))
                .collect();
            let hint = self.d.nearest(&entry.key, takes.iter().copied());
            let hint = hint.map_or(String::new(), |meant| format!("did you mean {meant}? "));
            let message = format!(
                "{name:?} has no parameter {:?}; {hint}it takes {}",
                shortened(&entry.key),
                takes.join(", ")
            );
            self.d.error(entry.at, &fields.path_of(&entry.key), message);
            complete = false;
        }
        let mut arguments = Arguments::default();
        for parameter in parameters {
            let value = match fields.get(parameter.name) {
                None => parameter.default.clone(),
                Some(node) => {
                    let value = self.argument(node, &fields.path_of(parameter.name), &parameter.kind);
                    complete &= value.is_some();
                    value
                }
            };
            if let Some(value) = value {
                arguments.set(parameter.name, value);
            }
        }
        complete.then_some(arguments)
    }

    fn argument(&mut self, node: &Node, path: &str, kind: &Kind) -> Option<Argument> {
        match kind {
            Kind::Number { min, max, above } => {
                let x = self.d.number(node, path)?;
                let in_range = x <= *max && if *above { x > *min } else { x >= *min };
                if !in_range {
                    let least = format!("{} {min:?}", if *above { ">" } else { ">=" });
                    let most = if *max < 1e9 { format!(" and <= {max:?}") } else { String::new() };
                    let least = if *min > -1e9 { least } else { String::new() };
                    self.d.error(node.at, path, format!("must be {least}{most}, got {x:?}"));
                }
                in_range.then_some(Argument::Number(x))
            }
            Kind::Flag => self.flag(node, path).map(Argument::Flag),
            Kind::Word(words) => {
                let Some(text) = node.as_str() else {
                    self.d.mismatch(node, path, &format!("one of {}", words.join(", ")));
                    return None;
                };
                let found = words.iter().find(|word| word.eq_ignore_ascii_case(text));
                if found.is_none() {
                    let message = format!("{:?}; known: {}", shortened(text), words.join(", "));
                    self.d.error(node.at, path, message);
                }
                found.map(|word| Argument::Word((*word).to_owned()))
            }
            Kind::Groups => self.integer_lists(node, path).map(Argument::Groups),
        }
    }

    fn integer_lists(&mut self, node: &Node, path: &str) -> Option<Vec<Vec<usize>>> {
        let lists = node.items().filter(|lists| lists.iter().all(|list| list.items().is_some()));
        let Some(lists) = lists else {
            self.d.mismatch(node, path, "a list of lists of whole numbers");
            return None;
        };
        if lists.iter().map(|list| list.items().map_or(0, <[Node]>::len)).sum::<usize>() > MAX_INTEGERS {
            self.d.error(node.at, path, format!("has more than {MAX_INTEGERS} numbers"));
            return None;
        }
        let mut all = Vec::new();
        for (i, list) in lists.iter().enumerate() {
            let numbers = list.items().unwrap_or_default().iter().enumerate();
            let read: Option<Vec<usize>> = numbers
                .map(|(j, item)| {
                    let number =
                        self.count(item, &format!("{path}[{i}][{j}]"), 0, super::MAX_OBJECTS as i64)?;
                    usize::try_from(number).ok()
                })
                .collect();
            all.push(read?);
        }
        Some(all)
    }

    /// Reports what a registered entry made of its arguments, at the key it names.
    pub(super) fn refused(&mut self, at: &At<'_>, error: &ArgumentError) {
        let place = at.node.entries().and_then(|entries| entries.iter().find(|e| e.key == error.key));
        let position = place.map_or(at.node.at, |entry| entry.at);
        self.d.error(position, &format!("{}.{}", at.path, error.key), error.message.clone());
    }
}
