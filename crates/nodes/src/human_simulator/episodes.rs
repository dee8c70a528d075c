//! Episodes on the wire: `task_generator_msgs` and `rcl_interfaces` parameters to and from the layer's values.
//!
//! Carries only; what a request means is decided in `promenade_human`.

use std::collections::BTreeMap;

use anyhow::{Context as _, Result};
use promenade_human::parameter::{Parameter, ParameterValue};
use promenade_human::{EpisodePlan, EpisodeRecord, QueueRequest};
use rcl_interfaces::msg::rmw as wire;
use rosidl_runtime_rs::{Sequence, String as WireString};
use serde::Deserialize;
use task_generator_msgs::msg::rmw::EpisodeRecord as WireRecord;
use task_generator_msgs::srv::rmw::QueueEpisodeRequest;

use crate::bus::time_to_wire;

/// Values of `ParameterValue.type` (`rcl_interfaces/ParameterType`).
mod kind {
    pub(super) const NOT_SET: u8 = 0;
    pub(super) const BOOL: u8 = 1;
    pub(super) const INTEGER: u8 = 2;
    pub(super) const DOUBLE: u8 = 3;
    pub(super) const STRING: u8 = 4;
    pub(super) const BYTE_ARRAY: u8 = 5;
    pub(super) const BOOL_ARRAY: u8 = 6;
    pub(super) const INTEGER_ARRAY: u8 = 7;
    pub(super) const DOUBLE_ARRAY: u8 = 8;
    pub(super) const STRING_ARRAY: u8 = 9;
}

/// Parameters of one list of a request: each is looked for among the queued ones.
const MOST_PARAMETERS: usize = 1_000;

/// A request of `queue_episode`.
///
/// # Errors
/// A sentence about a parameter without a name or with a type that does not exist.
pub(crate) fn queue_request(from: &QueueEpisodeRequest) -> Result<QueueRequest, String> {
    Ok(QueueRequest {
        action: from.action,
        plan: EpisodePlan {
            world: from.world.to_string(),
            tm_robots: from.tm_robots.to_string(),
            tm_obstacles: from.tm_obstacles.to_string(),
            tm_modules: texts(&from.tm_modules),
            obstacles_params: parameters(&from.obstacles_params)?,
            robots_params: parameters(&from.robots_params)?,
            human_params: parameters(&from.human_params)?,
        },
        keep_modules: from.keep_modules,
    })
}

/// A list of parameters.
///
/// # Errors
/// A sentence about a parameter without a name or with a type that does not exist, or about too many of them.
pub(crate) fn parameters(from: &Sequence<wire::Parameter>) -> Result<Vec<Parameter>, String> {
    if from.len() > MOST_PARAMETERS {
        return Err(format!("{} parameters at once; at most {MOST_PARAMETERS} are taken", from.len()));
    }
    from.iter().map(parameter).collect()
}

fn parameter(from: &wire::Parameter) -> Result<Parameter, String> {
    let (name, value) = (from.name.to_string(), &from.value);
    if name.is_empty() {
        return Err("a parameter has no name".to_owned());
    }
    let value = match value.type_ {
        kind::NOT_SET => ParameterValue::NotSet,
        kind::BOOL => ParameterValue::Bool(value.bool_value),
        kind::INTEGER => ParameterValue::Int(value.integer_value),
        kind::DOUBLE => ParameterValue::Double(value.double_value),
        kind::STRING => ParameterValue::Text(value.string_value.to_string()),
        kind::BYTE_ARRAY => ParameterValue::Bytes(value.byte_array_value.to_vec()),
        kind::BOOL_ARRAY => ParameterValue::Bools(value.bool_array_value.to_vec()),
        kind::INTEGER_ARRAY => ParameterValue::Ints(value.integer_array_value.to_vec()),
        kind::DOUBLE_ARRAY => ParameterValue::Doubles(value.double_array_value.to_vec()),
        kind::STRING_ARRAY => ParameterValue::Texts(texts(&value.string_array_value)),
        other => return Err(format!("parameter {name:?} has type {other}; the types are 0 to 9")),
    };
    Ok(Parameter { name, value })
}

fn texts(from: &Sequence<WireString>) -> Vec<String> {
    from.iter().map(ToString::to_string).collect()
}

/// A record for `state/episode` or `state/queue`. Goal and drive of robots are not this layer's and stay empty.
pub(crate) fn record_to_wire(from: &EpisodeRecord) -> WireRecord {
    WireRecord {
        episode_id: from.episode_id,
        world: from.plan.world.as_str().into(),
        seed: from.seed,
        tm_robots: from.plan.tm_robots.as_str().into(),
        tm_obstacles: from.plan.tm_obstacles.as_str().into(),
        tm_modules: from.plan.tm_modules.iter().map(|name| name.as_str().into()).collect(),
        robots: from.robots.iter().map(|name| name.as_str().into()).collect(),
        outcome_state: from.outcome as u8,
        outcome_info: from.outcome_info.as_str().into(),
        start_time: time_to_wire(from.start_time),
        integrity: from.integrity,
        obstacles_params: from.plan.obstacles_params.iter().map(parameter_to_wire).collect(),
        robots_params: from.plan.robots_params.iter().map(parameter_to_wire).collect(),
        human_params: from.plan.human_params.iter().map(parameter_to_wire).collect(),
        conditions: from.conditions.as_str().into(),
        phases: from.phases.as_str().into(),
        ..WireRecord::default()
    }
}

pub(super) fn parameter_to_wire(from: &Parameter) -> wire::Parameter {
    let mut value = wire::ParameterValue::default();
    value.type_ = match &from.value {
        ParameterValue::NotSet => kind::NOT_SET,
        ParameterValue::Bool(v) => {
            value.bool_value = *v;
            kind::BOOL
        }
        ParameterValue::Int(v) => {
            value.integer_value = *v;
            kind::INTEGER
        }
        ParameterValue::Double(v) => {
            value.double_value = *v;
            kind::DOUBLE
        }
        ParameterValue::Text(v) => {
            value.string_value = v.as_str().into();
            kind::STRING
        }
        ParameterValue::Bytes(v) => {
            value.byte_array_value = v.as_slice().into();
            kind::BYTE_ARRAY
        }
        ParameterValue::Bools(v) => {
            value.bool_array_value = v.as_slice().into();
            kind::BOOL_ARRAY
        }
        ParameterValue::Ints(v) => {
            value.integer_array_value = v.as_slice().into();
            kind::INTEGER_ARRAY
        }
        ParameterValue::Doubles(v) => {
            value.double_array_value = v.as_slice().into();
            kind::DOUBLE_ARRAY
        }
        ParameterValue::Texts(v) => {
            value.string_array_value = v.iter().map(|text| text.as_str().into()).collect();
            kind::STRING_ARRAY
        }
    };
    wire::Parameter { name: from.name.as_str().into(), value }
}

/// A value as YAML writes it. The order matters: the first that fits is taken.
#[derive(Deserialize)]
#[serde(untagged)]
enum Plain {
    Bool(bool),
    Int(i64),
    Double(f64),
    Text(String),
    Bools(Vec<bool>),
    Ints(Vec<i64>),
    Doubles(Vec<f64>),
    Texts(Vec<String>),
}

/// Parameters from the text of a node parameter: a YAML map of full names to values, such as `{humansim.dt: 0.05}`; empty =
/// none.
///
/// # Errors
/// A text that is no such map.
pub(crate) fn parameters_from_text(text: &str) -> Result<Vec<Parameter>> {
    if text.trim().is_empty() {
        return Ok(Vec::new());
    }
    let map: BTreeMap<String, Plain> = serde_saphyr::from_str(text).with_context(|| {
        format!("{text:?} is no map of names to values; write for example {{humansim.dt: 0.05}}")
    })?;
    let value = |plain| match plain {
        Plain::Bool(v) => ParameterValue::Bool(v),
        Plain::Int(v) => ParameterValue::Int(v),
        Plain::Double(v) => ParameterValue::Double(v),
        Plain::Text(v) => ParameterValue::Text(v),
        Plain::Bools(v) => ParameterValue::Bools(v),
        Plain::Ints(v) => ParameterValue::Ints(v),
        Plain::Doubles(v) => ParameterValue::Doubles(v),
        Plain::Texts(v) => ParameterValue::Texts(v),
    };
    Ok(map.into_iter().map(|(name, plain)| Parameter { name, value: value(plain) }).collect())
}

#[cfg(test)]
mod tests {
    use promenade_human::Outcome;
    use promenade_kernel::Time;
    use proptest::prelude::*;

    use super::*;

    fn values() -> Vec<ParameterValue> {
        vec![
            ParameterValue::NotSet,
            ParameterValue::Bool(true),
            ParameterValue::Int(i64::MIN),
            ParameterValue::Double(-0.5),
            ParameterValue::Text("caf\u{e9}".to_owned()),
            ParameterValue::Bytes(vec![0, 255]),
            ParameterValue::Bools(vec![true, false]),
            ParameterValue::Ints(vec![1, -1]),
            ParameterValue::Doubles(vec![]),
            ParameterValue::Texts(vec![String::new(), "b".to_owned()]),
        ]
    }

    #[test]
    fn every_type_of_parameter_survives_the_round_trip() {
        for (number, value) in (0..).zip(values()) {
            let before = Parameter { name: format!("humansim.p{number}"), value };
            let on_wire = parameter_to_wire(&before);
            assert_eq!(on_wire.value.type_, number, "the numbers of rcl_interfaces/ParameterType");
            assert_eq!(parameter(&on_wire), Ok(before));
        }
    }

    #[test]
    fn a_parameter_without_name_or_of_an_unknown_type_is_refused() {
        let mut odd = wire::Parameter::default();
        assert!(parameter(&odd).is_err_and(|error| error.contains("no name")));
        odd.name = "humansim.x".into();
        odd.value.type_ = 77;
        let many: Sequence<wire::Parameter> = Sequence::new(MOST_PARAMETERS + 1);
        assert!(parameters(&many).is_err_and(|error| error.contains("at most 1000")));
        let error = parameter(&odd).expect_err("unknown type");
        assert_eq!(error, "parameter \"humansim.x\" has type 77; the types are 0 to 9");
    }

    #[test]
    fn a_request_arrives_field_by_field() {
        let from = QueueEpisodeRequest {
            action: 3,
            tm_robots: "scenario".into(),
            tm_obstacles: "random".into(),
            tm_modules: vec!["staged".into(), "sounds".into()].into(),
            keep_modules: true,
            world: "clinic".into(),
            human_params: vec![parameter_to_wire(&Parameter {
                name: "humansim.dt".to_owned(),
                value: ParameterValue::Double(0.1),
            })]
            .into(),
            ..QueueEpisodeRequest::default()
        };
        let request = queue_request(&from).expect("well-formed");
        assert_eq!((request.action, request.keep_modules), (3, true));
        assert_eq!(request.plan.world, "clinic");
        assert_eq!(request.plan.tm_modules, ["staged", "sounds"]);
        assert_eq!((&*request.plan.tm_robots, &*request.plan.tm_obstacles), ("scenario", "random"));
        assert_eq!(request.plan.human_params[0].value, ParameterValue::Double(0.1));
    }

    #[test]
    fn a_record_goes_out_field_by_field() {
        let param = Parameter { name: "humansim.dt".to_owned(), value: ParameterValue::Int(1) };
        let record = EpisodeRecord {
            episode_id: 7,
            plan: EpisodePlan {
                world: "clinic".to_owned(),
                human_params: vec![param],
                ..EpisodePlan::default()
            },
            seed: -1,
            robots: vec!["jackal".to_owned()],
            outcome: Outcome::Skipped,
            outcome_info: "reset while it ran".to_owned(),
            start_time: Time::from_nanos(1_500_000_000),
            integrity: true,
            conditions: "[]".to_owned(),
            phases: "[[]]".to_owned(),
        };
        let out = record_to_wire(&record);
        assert_eq!((out.episode_id, out.seed, out.outcome_state, out.integrity), (7, -1, 4, true));
        assert_eq!((out.start_time.sec, out.start_time.nanosec), (1, 500_000_000));
        let texts = [&out.world, &out.robots[0], &out.outcome_info, &out.conditions, &out.phases];
        assert_eq!(texts.map(ToString::to_string), ["clinic", "jackal", "reset while it ran", "[]", "[[]]"]);
        assert_eq!((out.human_params.len(), out.human_params[0].value.type_), (1, kind::INTEGER));
    }

    #[test]
    fn a_text_of_parameters_is_a_map_with_the_types_of_yaml() {
        let params = parameters_from_text(
            "{humansim.markers: 2, humansim.dt: 0.05, humansim.collision: wall_projection, humansim.on: true, humansim.xs: [1.5, 2]}",
        )
        .expect("a map");
        let named: Vec<_> = params.iter().map(|p| (p.name.as_str(), p.value.clone())).collect();
        assert_eq!(
            named,
            [
                ("humansim.collision", ParameterValue::Text("wall_projection".to_owned())),
                ("humansim.dt", ParameterValue::Double(0.05)),
                ("humansim.markers", ParameterValue::Int(2)),
                ("humansim.on", ParameterValue::Bool(true)),
                ("humansim.xs", ParameterValue::Doubles(vec![1.5, 2.0])),
            ]
        );
        assert_eq!(parameters_from_text(" ").expect("none"), []);
        for text in ["[1, 2]", "{a: {b: 1}}", "{a: ", "dt"] {
            let error = parameters_from_text(text).expect_err(text);
            assert!(error.to_string().contains("no map of names to values"), "{error}");
        }
    }

    proptest! {
        #[test]
        fn no_text_of_parameters_is_a_panic(text in ".{0,60}") {
            drop(parameters_from_text(&text));
        }
    }
}
