//! Node parameters over the wire: the six parameter services, served from what the engine has declared.
//!
//! `rclrs` stores a parameter without asking; the engine has to say no, and to take a batch as a whole or not at all. Hence its own
//! services, which a client cannot tell from those of any other node. Nothing is decided here.

use anyhow::{Context as _, Result, bail};
use promenade_crowd::protocol::ParameterValue as Plain;
use promenade_crowd::{Engine, ParameterRange};
use rcl_interfaces::msg::rmw as wire;
use rcl_interfaces::srv::rmw as srv;
use rclrs::{Node, ParameterValue};
use rosidl_runtime_rs::{Sequence, String as WireString};

use super::wire::text;

/// Declared by every node; it is known at the start and never changes.
pub(crate) const USE_SIM_TIME: &str = "use_sim_time";

/// Types of a value on the wire, from `rcl_interfaces/ParameterType`.
const NOT_SET: u8 = 0;
const BOOL: u8 = 1;
const INTEGER: u8 = 2;
const DOUBLE: u8 = 3;
const STRING: u8 = 4;

/// What the start gave for the parameters of the engine, by `-p` and parameter files. What the engine has not declared is ignored.
///
/// # Errors
/// When a value is an array, or the engine refuses the planner that declares further ones.
pub(crate) fn given_at_start(node: &Node) -> Result<Vec<(String, Plain)>> {
    let mut given: Vec<(String, Plain)> = Vec::new();
    // A local planner declares its keys: look again with it.
    loop {
        let declared = Engine::new(&given).context("parameters of the engine")?;
        let mut found_more = false;
        for (name, _) in declared.parameters() {
            if given.iter().any(|(known, _)| known == name) {
                continue;
            }
            let parameter = node
                .declare_parameter::<ParameterValue>(name)
                .optional()
                .with_context(|| format!("parameter {name:?}"))?;
            if let Some(value) = parameter.get() {
                given.push((name.to_owned(), plain_at_start(name, &value)?));
                found_more = true;
            }
        }
        if !found_more {
            return Ok(given);
        }
    }
}

fn plain_at_start(name: &str, value: &ParameterValue) -> Result<Plain> {
    Ok(match value {
        ParameterValue::Bool(value) => Plain::Bool(*value),
        ParameterValue::Integer(value) => Plain::Integer(*value),
        ParameterValue::Double(value) => Plain::Double(*value),
        ParameterValue::String(value) => Plain::Text(value.to_string()),
        _ => bail!("parameter {name:?}: expected one value, found a list"),
    })
}

/// A value from the wire.
///
/// # Errors
/// For lists and for nothing, which no parameter of the engine is.
fn plain(parameter: &wire::Parameter) -> Result<(String, Plain), String> {
    let name = text(&parameter.name);
    let value = &parameter.value;
    let plain = match value.type_ {
        BOOL => Plain::Bool(value.bool_value),
        INTEGER => Plain::Integer(value.integer_value),
        DOUBLE => Plain::Double(value.double_value),
        STRING => Plain::Text(text(&value.string_value)),
        NOT_SET => return Err(format!("{name}: expected a value, found none; parameters cannot be removed")),
        _ => return Err(format!("{name}: expected one value, found a list")),
    };
    Ok((name, plain))
}

fn wire_value(value: &Plain) -> wire::ParameterValue {
    let mut to = wire::ParameterValue { type_: wire_type(value), ..wire::ParameterValue::default() };
    match value {
        Plain::Bool(value) => to.bool_value = *value,
        Plain::Integer(value) => to.integer_value = *value,
        Plain::Double(value) => to.double_value = *value,
        Plain::Text(value) => to.string_value = value.as_str().into(),
    }
    to
}

fn wire_type(value: &Plain) -> u8 {
    match value {
        Plain::Bool(_) => BOOL,
        Plain::Integer(_) => INTEGER,
        Plain::Double(_) => DOUBLE,
        Plain::Text(_) => STRING,
    }
}

/// The parameters of the node.
pub(crate) struct Parameters {
    uses_sim_time: bool,
}

impl Parameters {
    /// Those of a node that was started with this `use_sim_time`.
    pub(crate) fn new(uses_sim_time: bool) -> Self {
        Self { uses_sim_time }
    }

    fn value(&self, engine: &Engine, name: &str) -> Option<Plain> {
        if name == USE_SIM_TIME {
            return Some(Plain::Bool(self.uses_sim_time));
        }
        engine.parameters().find(|(known, _)| *known == name).map(|(_, value)| value)
    }

    fn names(&self, engine: &Engine) -> Vec<String> {
        engine.parameters().map(|(name, _)| name.to_owned()).chain([USE_SIM_TIME.to_owned()]).collect()
    }

    /// `get_parameters`.
    pub(crate) fn get(
        &self,
        engine: &Engine,
        request: &srv::GetParametersRequest,
    ) -> srv::GetParametersResponse {
        let values = request
            .names
            .iter()
            .map(|name| self.value(engine, &text(name)).as_ref().map(wire_value).unwrap_or_default())
            .collect();
        srv::GetParametersResponse { values }
    }

    /// `get_parameter_types`.
    pub(crate) fn types(
        &self,
        engine: &Engine,
        request: &srv::GetParameterTypesRequest,
    ) -> srv::GetParameterTypesResponse {
        let kind = |name: &WireString| {
            let value = self.value(engine, &text(name));
            value.as_ref().map_or(NOT_SET, wire_type)
        };
        srv::GetParameterTypesResponse { types: request.names.iter().map(kind).collect() }
    }

    /// `list_parameters`.
    pub(crate) fn list(
        &self,
        engine: &Engine,
        request: &srv::ListParametersRequest,
    ) -> srv::ListParametersResponse {
        let prefixes = super::wire::texts(&request.prefixes);
        let names: Vec<String> =
            self.names(engine).into_iter().filter(|name| is_listed(name, &prefixes, request.depth)).collect();
        let mut groups: Vec<&str> =
            names.iter().filter_map(|name| name.rsplit_once('.').map(|(group, _)| group)).collect();
        groups.sort_unstable();
        groups.dedup();
        let result = wire::ListParametersResult {
            names: names.iter().map(|name| name.as_str().into()).collect(),
            prefixes: groups.into_iter().map(WireString::from).collect(),
        };
        srv::ListParametersResponse { result }
    }

    /// `describe_parameters`.
    pub(crate) fn describe(
        &self,
        engine: &Engine,
        request: &srv::DescribeParametersRequest,
    ) -> srv::DescribeParametersResponse {
        let descriptors = request.names.iter().map(|name| self.descriptor(engine, &text(name))).collect();
        srv::DescribeParametersResponse { descriptors }
    }

    fn descriptor(&self, engine: &Engine, name: &str) -> wire::ParameterDescriptor {
        let mut to = wire::ParameterDescriptor { name: name.into(), ..wire::ParameterDescriptor::default() };
        if let Some(value) = self.value(engine, name) {
            to.type_ = wire_type(&value);
        }
        if name == USE_SIM_TIME {
            to.read_only = true;
        }
        let Some(rule) = engine.parameter_rule(name) else { return to };
        to.read_only = rule.is_fixed;
        to.description = rule.effect.into();
        match rule.range {
            Some(ParameterRange::Words(words)) => {
                to.additional_constraints = format!("one of {words:?}").as_str().into();
            }
            Some(ParameterRange::Numbers(low, high)) if to.type_ == INTEGER => {
                let range = wire::IntegerRange { from_value: low as i64, to_value: high as i64, step: 0 };
                to.integer_range = [range].into_iter().collect();
            }
            Some(ParameterRange::Numbers(from_value, to_value)) => {
                let range = wire::FloatingPointRange { from_value, to_value, step: 0.0 };
                to.floating_point_range = [range].into_iter().collect();
            }
            None => {}
        }
        to
    }

    /// `set_parameters`: each for itself. Answers what changed as well.
    pub(crate) fn set(
        &self,
        engine: &mut Engine,
        request: &srv::SetParametersRequest,
    ) -> (srv::SetParametersResponse, Vec<String>) {
        let mut changed = Vec::new();
        let results = request
            .parameters
            .iter()
            .map(|parameter| result(&self.apply(engine, std::slice::from_ref(parameter), &mut changed)))
            .collect();
        (srv::SetParametersResponse { results }, changed)
    }

    /// `set_parameters_atomically`: all or none. Answers what changed as well.
    pub(crate) fn set_all(
        &self,
        engine: &mut Engine,
        request: &srv::SetParametersAtomicallyRequest,
    ) -> (srv::SetParametersAtomicallyResponse, Vec<String>) {
        let mut changed = Vec::new();
        let result = result(&self.apply(engine, &request.parameters, &mut changed));
        (srv::SetParametersAtomicallyResponse { result }, changed)
    }

    fn apply(
        &self,
        engine: &mut Engine,
        parameters: &[wire::Parameter],
        changed: &mut Vec<String>,
    ) -> Result<(), String> {
        let batch = parameters.iter().map(plain).collect::<Result<Vec<_>, _>>()?;
        let mut own = Vec::with_capacity(batch.len());
        for (name, value) in batch {
            if name != USE_SIM_TIME {
                own.push((name, value));
            } else if value != Plain::Bool(self.uses_sim_time) {
                return Err(format!("not reconfigurable at runtime: {USE_SIM_TIME}"));
            }
        }
        engine.set_parameters(&own).map_err(|error| error.to_string())?;
        changed.extend(own.into_iter().map(|(name, _)| name));
        Ok(())
    }

    /// What `/parameter_events` says of a change.
    pub(crate) fn event(&self, engine: &Engine, node: &str, changed: &[String]) -> wire::ParameterEvent {
        let changed: Sequence<wire::Parameter> = changed
            .iter()
            .filter_map(|name| {
                let value = wire_value(&self.value(engine, name)?);
                Some(wire::Parameter { name: name.as_str().into(), value })
            })
            .collect();
        wire::ParameterEvent {
            node: node.into(),
            changed_parameters: changed,
            ..wire::ParameterEvent::default()
        }
    }
}

fn result(applied: &Result<(), String>) -> wire::SetParametersResult {
    let reason = applied.as_ref().err().map(|reason| reason.as_str().into()).unwrap_or_default();
    wire::SetParametersResult { successful: applied.is_ok(), reason }
}

/// Whether a name is at most `depth` levels deep, 0 = any, below one of the prefixes.
fn is_listed(name: &str, prefixes: &[String], depth: u64) -> bool {
    let reaches = |rest: &str| depth == 0 || (rest.matches('.').count() as u64) < depth;
    if prefixes.is_empty() {
        return reaches(name);
    }
    prefixes.iter().any(|prefix| {
        let below = name.strip_prefix(prefix.as_str());
        below == Some("") || below.and_then(|rest| rest.strip_prefix('.')).is_some_and(reaches)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefixes_and_depth_narrow_the_list_as_in_every_node() {
        let of = |name: &str, prefix: &str, depth: u64| is_listed(name, &[prefix.to_owned()], depth);
        assert!(is_listed("a.b.c", &[], 0) && is_listed("a.b", &[], 2) && !is_listed("a.b.c", &[], 2));
        assert!(of("a.b.c", "a", 0) && of("a.b.c", "a", 2) && !of("a.b.c", "a", 1) && of("a", "a", 1));
        assert!(!of("ab.c", "a", 0) && !of("b", "a", 0));
    }
}
