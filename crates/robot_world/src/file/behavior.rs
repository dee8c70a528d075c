//! `behavior` of an object and `group_behavior` of a group (robot-world specification, sections 8.3, 9, 10 and 17).

use std::f64::consts::PI;
use std::sync::Arc;

use promenade_scenario::tree::Node;

use super::Reader;
use super::value::{At, Limit};
use crate::behavior::{Behavior, GroupBehaviorFactory};
use crate::spec::Renewal;

/// Keys of every behaviour: which others it sees, and how goals are renewed.
const COMMON: [&str; 6] = ["name", "target_roles", "wander", "loop", "range_low", "range_high"];
const ROLES: [(&str, ()); 3] = [("all", ()), ("robot", ()), ("obstacle", ())];

/// Without renewal of goals.
pub(super) const NO_RENEWAL: Renewal =
    Renewal { wander: false, loops: false, low: [0.0, 0.0, -PI], high: [10.0, 10.0, PI] };

impl<'a> Reader<'_> {
    /// The behaviour of an object that moves by the model `kinematics`.
    pub(super) fn behavior(&mut self, at: &At<'a>, kinematics: Option<&str>) -> Option<Arc<dyn Behavior>> {
        let name = self.behavior_name(at)?;
        let registry = self.registry;
        let entry = kinematics.and_then(|kinematics| registry.behavior(&name, kinematics));
        let Some(entry) = entry else {
            let names = (registry.behavior_names(kinematics), registry.behavior_names(None));
            self.not_available(at, "behavior", &name, kinematics, names);
            return None;
        };
        let arguments = self.behavior_arguments(at, entry.name, &entry.parameters)?;
        match (entry.make)(&arguments, kinematics?) {
            Ok(behavior) => Some(behavior),
            Err(error) => {
                self.refused(at, &error);
                None
            }
        }
    }

    /// The behaviour of a group whose members move by the models `kinematics`, at least one.
    pub(super) fn group_behavior(
        &mut self,
        at: &At<'a>,
        kinematics: &[Option<&str>],
        members: usize,
    ) -> Option<Arc<dyn GroupBehaviorFactory>> {
        let name = self.behavior_name(at)?;
        let registry = self.registry;
        let lacks =
            |model: &&Option<&str>| model.is_none_or(|model| registry.group_behavior(&name, model).is_none());
        if let Some(lacking) = kinematics.iter().find(lacks) {
            let names = (registry.group_behavior_names(*lacking), registry.group_behavior_names(None));
            self.not_available(at, "group behavior", &name, *lacking, names);
            return None;
        }
        let model = (*kinematics.first()?)?;
        let entry = registry.group_behavior(&name, model)?;
        let arguments = self.behavior_arguments(at, entry.name, &entry.parameters)?;
        match (entry.make)(&arguments, model, members) {
            Ok(behavior) => Some(behavior),
            Err(error) => {
                self.refused(at, &error);
                None
            }
        }
    }

    fn behavior_name(&mut self, at: &At<'a>) -> Option<String> {
        if let Some(name) = at.node.as_str() {
            let message = format!(
                "expected a mapping with a name, found {}; write {{name: {}}}",
                at.node.describe(),
                super::value::shortened(name)
            );
            self.d.error(at.node.at, &at.path, message);
            return None;
        }
        let fields = self.d.fields(at.node, &at.path, "a behaviour", &[])?;
        let path = fields.path_of("name");
        let Some(name) = fields.get("name") else {
            self.d.error(fields.at, &path, "required");
            return None;
        };
        self.d.text(name, &path)
    }

    fn not_available(
        &mut self,
        at: &At<'a>,
        what: &str,
        name: &str,
        kinematics: Option<&str>,
        (available, known): (Vec<&str>, Vec<&str>),
    ) {
        let path = format!("{}.name", at.path);
        let position = at.node.get("name").map_or(at.node.at, |node| node.at);
        if !known.iter().any(|known| known.eq_ignore_ascii_case(name)) {
            return self.unknown(position, &path, what, name, &known);
        }
        let (whom, available) = match kinematics {
            Some(kinematics) => (format!("{kinematics:?}"), available.join(", ")),
            None => ("an object without kinematics".to_owned(), String::new()),
        };
        let available = if available.is_empty() { "none".to_owned() } else { available };
        self.d.error(
            position,
            &path,
            format!("{name:?} is not available for {whom}; available: {available}"),
        );
    }

    fn behavior_arguments(
        &mut self,
        at: &At<'a>,
        name: &str,
        parameters: &[crate::registry::Parameter],
    ) -> Option<crate::registry::Arguments> {
        let fields = self.d.fields(at.node, &at.path, "a behaviour", &[])?;
        if !parameters.iter().any(|parameter| parameter.name == "target_roles") {
            self.value(&fields, "target_roles", |r, n, p| r.choice(n, p, "role", &ROLES));
        }
        self.arguments(&fields, name, parameters, &COMMON)
    }

    /// How a behaviour renews goals.
    pub(super) fn renewal(&mut self, node: &'a Node, path: &str) -> Renewal {
        if node.entries().is_none() {
            return NO_RENEWAL;
        }
        let Some(fields) = self.d.fields(node, path, "a behaviour", &[]) else { return NO_RENEWAL };
        let wander = self.flag_or(&fields, "wander", false);
        let loops = self.flag_or(&fields, "loop", false);
        if wander && loops {
            self.d.warning(
                fields.key_at("loop"),
                &fields.path_of("loop"),
                "has no effect, since wander is set too",
            );
        }
        let mut range = |key: &str| self.value(&fields, key, |r, n, p| r.array(n, p, Limit::Any));
        let (low, high) = (range("range_low"), range("range_high"));
        Renewal {
            wander,
            loops: loops && !wander,
            low: low.unwrap_or(NO_RENEWAL.low),
            high: high.unwrap_or(NO_RENEWAL.high),
        }
    }
}
