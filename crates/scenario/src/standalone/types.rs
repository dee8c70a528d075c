//! Agent types of the file itself: what they extend, their variables, and the type that comes of it.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use super::expression::evaluate;
use super::read::{Idle, Known};
use crate::agent_type::{AgentMode, AgentTypeLibrary, ResolvedType, extend};
use crate::decode::{Decoder, Unknown, scalar_text};
use crate::problem::Report;
use crate::tree::{Node, Value, join};

/// Types that extend each other.
const MAX_CHAIN: usize = 16;

impl Decoder {
    /// A map of names to types, or a list of types with names.
    pub(super) fn inline_types(
        &mut self,
        node: &Node,
        path: &str,
        file: &Path,
        known: &Known,
        idle: &mut Idle,
    ) -> Vec<(String, Arc<ResolvedType>)> {
        let own = self.named_types(node, path);
        let mut types = Vec::with_capacity(own.len());
        for (name, path, node) in &own {
            let Some((base, mut merged)) = self.with_parents(name, path, node, &own) else { continue };
            let variables = self.variables(&merged, path);
            if let Some(entries) = merged.entries_mut() {
                entries.retain(|e| !["extends", "vars"].contains(&e.key.as_str()));
            }
            if !self.substitute(&mut merged, path, &variables) {
                continue;
            }
            let Some(value) = self.agent_type_file(&merged, path, file) else { continue };
            if value.mode == Some(AgentMode::BehaviorTree) || merged.get("sequences").is_some() {
                idle.note(node.at, &format!("behaviour of agent type `{name}`"));
            }
            self.behaviour(&merged, path, known);
            let chain = base.map(|base| base.chain.clone()).unwrap_or_default();
            let report = Report::default();
            types.push((name.clone(), Arc::new(ResolvedType { chain, merged: value, report })));
        }
        types
    }

    fn named_types<'n>(&mut self, node: &'n Node, path: &str) -> Vec<(String, String, &'n Node)> {
        if let Some(entries) = node.entries() {
            return entries.iter().map(|e| (e.key.clone(), join(path, &e.key), &e.value)).collect();
        }
        let mut types: Vec<(String, String, &Node)> = Vec::new();
        for (i, item) in self.list(node, path, "agent types").iter().enumerate() {
            let path = format!("{path}[{i}]");
            let Some(name) = item.get("name") else {
                self.error(item.at, &path, "`name` is missing, expected the name of the type");
                continue;
            };
            let Some(text) = self.name(name, &path) else { continue };
            if types.iter().any(|(known, ..)| *known == text) {
                self.error(name.at, &path, format!("{text:?} is there twice"));
            }
            types.push((text, path, item));
        }
        types
    }

    /// The built-in type at the end of the chain, if there is one, and the document over all that it extends.
    fn with_parents(
        &mut self,
        name: &str,
        path: &str,
        node: &Node,
        own: &[(String, String, &Node)],
    ) -> Option<(Option<Arc<ResolvedType>>, Node)> {
        if node.entries().is_none() {
            self.mismatch(node, path, "an agent type, a map");
            return None;
        }
        let mut chain: Vec<(&str, &Node)> = vec![(name, node)];
        let mut base = None;
        while let Some(parent) = chain.last().and_then(|(_, node)| node.get("extends")) {
            let Some(wanted) = parent.as_str() else {
                self.mismatch(parent, &join(path, "extends"), "the name of an agent type");
                return None;
            };
            let circle = chain.iter().any(|(known, _)| *known == wanted);
            if circle || chain.len() > MAX_CHAIN {
                let names: Vec<&str> = chain.iter().map(|(name, _)| *name).chain([wanted]).collect();
                let message = format!("a type cannot extend itself: {}", names.join(" -> "));
                self.error(parent.at, &join(path, "extends"), message);
                return None;
            }
            if let Some((known, _, node)) = own.iter().find(|(known, ..)| known == wanted) {
                chain.push((known, node));
                continue;
            }
            match AgentTypeLibrary::built_in().named(wanted) {
                Ok(built_in) => base = Some(Arc::clone(built_in)),
                Err(_) => {
                    let known = own.iter().map(|(name, ..)| name.as_str());
                    let meant = self.nearest(wanted, known.chain(crate::agent_type::BUILT_IN_TYPES));
                    let message = format!("no agent type is named {wanted:?}");
                    self.error_try(parent.at, &join(path, "extends"), message, meant);
                    return None;
                }
            }
            break;
        }
        let mut merged = base.as_ref().map_or_else(Node::empty_map, |base| base.merged.document.clone());
        for (_, node) in chain.iter().rev() {
            merged = extend(&merged, node);
        }
        merged.at = node.at;
        Some((base, merged))
    }

    fn variables(&mut self, node: &Node, path: &str) -> BTreeMap<String, Value> {
        let mut variables = BTreeMap::new();
        let Some(vars) = node.get("vars") else { return variables };
        let path = join(path, "vars");
        let Some(entries) = vars.entries() else {
            self.mismatch(vars, &path, "a map of names to `{type, default, min, max}`");
            return variables;
        };
        for entry in entries {
            // One that is wrong is there all the same, so that its uses are not reported as well.
            let value = self.variable(&entry.value, &join(&path, &entry.key)).unwrap_or(Value::Null);
            variables.insert(entry.key.clone(), value);
        }
        variables
    }

    fn variable(&mut self, node: &Node, path: &str) -> Option<Value> {
        const KEYS: &[&str] = &["type", "default", "min", "max", "description"];
        const TYPES: [(&str, &str); 4] =
            [("int", "a whole number"), ("float", "a number"), ("bool", "true or false"), ("str", "text")];
        let mut fields = self.fields(node, path, "a variable `{type, default, min, max}`", KEYS)?;
        let kind = fields.require(self, "type", "int, float, bool or str");
        let default = fields.require(self, "default", "its value");
        fields.finish(self, Unknown::Closed, &[]);
        let bounds = ["min", "max"].map(|key| fields.read(self, key, Self::number));
        let expected = self.choice(kind?, &fields.path_of("type"), "type", &TYPES)?;
        let default = default?;
        let value = match (expected, &default.value) {
            ("a whole number", Value::Int(_))
            | ("true or false", Value::Bool(_))
            | ("text", Value::Text(_)) => default.value.clone(),
            ("a number", Value::Int(_) | Value::Float(_)) => {
                Value::Float(self.number(default, &fields.path_of("default"))?)
            }
            _ => {
                self.mismatch(default, &fields.path_of("default"), expected);
                return None;
            }
        };
        if let Some(number) = default.as_f64() {
            let [least, most] = [bounds[0].unwrap_or(f64::NEG_INFINITY), bounds[1].unwrap_or(f64::INFINITY)];
            if !(least..=most).contains(&number) {
                let message = format!("expected a number from {least} to {most}, found {number}");
                self.error(default.at, &fields.path_of("default"), message);
                return None;
            }
        }
        Some(value)
    }

    /// Put values for every `${expr}` below a node; whether all could be.
    fn substitute(&mut self, node: &mut Node, path: &str, variables: &BTreeMap<String, Value>) -> bool {
        let mut all = true;
        match &mut node.value {
            Value::Text(text) if text.contains("${") => match self.filled(text, variables) {
                Ok(value) => node.value = value,
                Err((message, meant)) => {
                    self.error_try(node.at, path, message, meant);
                    all = false;
                }
            },
            Value::List(items) => {
                for (i, item) in items.iter_mut().enumerate() {
                    all &= self.substitute(item, &format!("{path}[{i}]"), variables);
                }
            }
            Value::Map(entries) => {
                for entry in entries {
                    let path = join(path, &entry.key);
                    all &= self.substitute(&mut entry.value, &path, variables);
                }
            }
            _ => {}
        }
        all
    }

    /// A text that is one expression has its value; otherwise values are written into the text.
    fn filled(
        &self,
        text: &str,
        variables: &BTreeMap<String, Value>,
    ) -> Result<Value, (String, Option<String>)> {
        let of_name =
            |name: &str| variables.get(name).cloned().ok_or_else(|| format!("no variable is named {name:?}"));
        let value = |expression: &str| {
            evaluate(expression, &of_name).map_err(|message| {
                let unknown =
                    message.strip_prefix("no variable is named \"").map(|m| m.trim_end_matches('"'));
                let meant = unknown.and_then(|name| self.nearest(name, variables.keys().map(String::as_str)));
                (format!("`${{{expression}}}`: {message}"), meant)
            })
        };
        let (mut written, mut rest) = (String::new(), text);
        while let Some((before, after)) = rest.split_once("${") {
            let Some((expression, after)) = after.split_once('}') else {
                return Err(("a `${` is never closed with `}`".to_owned(), None));
            };
            let value = value(expression)?;
            if before.is_empty() && after.is_empty() && written.is_empty() {
                return Ok(value);
            }
            written.push_str(before);
            let value = Node { value, at: crate::problem::Position::START };
            written.push_str(&scalar_text(&value).unwrap_or_default());
            rest = after;
        }
        written.push_str(rest);
        Ok(Value::Text(written))
    }
}
