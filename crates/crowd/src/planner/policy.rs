//! `policy_params`: what a request tells the planner of one agent alone, as JSON (crowd-engine specification, sections 10.5 and 20.1).
//!
//! `{"<key>": number}` sets a key of the planner. `sfm` and `hsfm` also take
//! `{"kind_gains": {"<a>_<b>": {"strength_scale": number, "range_scale": number}}}`: how much stronger and further somebody of class `b`
//! pushes this agent when it is of class `a`.

use serde_json::{Map, Value};

use super::{KindGain, LocalPlanner};
use crate::error::CrowdError;
use crate::sampling::AgentParameters;
use crate::spawn::Classes;

/// The key of the class gains.
const KIND_GAINS: &str = "kind_gains";
/// Planners whose forces have class gains.
const WITH_GAINS: [&str; 2] = ["sfm", "hsfm"];

/// Lay `policy_params` over what an agent of `planner` was drawn. An empty text says nothing.
///
/// # Errors
/// A text that is no such JSON; then the parameters have not changed.
pub fn apply(
    text: &str,
    planner: &dyn LocalPlanner,
    classes: &Classes,
    parameters: &mut AgentParameters,
) -> Result<(), CrowdError> {
    if text.trim().is_empty() {
        return Ok(());
    }
    let refused = |problem: String| CrowdError::PolicyParams { planner: planner.name(), problem };
    let document: Value = serde_json::from_str(text)
        .map_err(|error| refused(format!("expected JSON such as {}, found: {error}", example(planner))))?;
    let Value::Object(entries) = document else {
        return Err(refused(format!("expected an object such as {}, found {document}", example(planner))));
    };
    let has_gains = WITH_GAINS.contains(&planner.name());
    let (mut values, mut pairs) = (Vec::new(), Vec::new());
    for (key, value) in &entries {
        if key == KIND_GAINS && has_gains {
            let Value::Object(gains) = value else {
                return Err(refused(format!(
                    "{KIND_GAINS}: expected an object by pair of classes, found {value}"
                )));
            };
            pairs = kind_gains(gains, classes).map_err(refused)?;
        } else if planner.keys().iter().any(|known| known.name == key) {
            let number = number(key, value, -1e9..=1e9).map_err(refused)?;
            values.push((key, number));
        } else {
            let known = planner.keys().iter().map(|known| known.name).chain(has_gains.then_some(KIND_GAINS));
            let known: Vec<&str> = known.collect();
            return Err(refused(format!("no key is named {key:?}; there are {}", known.join(", "))));
        }
    }
    parameters.kind_gains = pairs;
    values.into_iter().for_each(|(key, value)| parameters.set_planner_value(key, value));
    Ok(())
}

fn example(planner: &dyn LocalPlanner) -> String {
    if WITH_GAINS.contains(&planner.name()) {
        return r#"{"kind_gains": {"human_robot": {"strength_scale": 1.5, "range_scale": 1.3}}}"#.to_owned();
    }
    let key = planner.keys().first();
    key.map_or_else(|| "{}".to_owned(), |key| format!("{{{:?}: {}}}", key.name, key.default.mean))
}

fn kind_gains(gains: &Map<String, Value>, classes: &Classes) -> Result<Vec<KindGain>, String> {
    let mut pairs = Vec::with_capacity(gains.len());
    for (name, scales) in gains {
        let (observer, neighbour) = pair_of(name, classes).ok_or_else(|| {
            format!("{KIND_GAINS}: expected two classes as \"human_robot\", found {name:?}")
        })?;
        let Value::Object(scales) = scales else {
            return Err(format!(
                "{KIND_GAINS}.{name}: expected strength_scale and range_scale, found {scales}"
            ));
        };
        let (observer, neighbour) = (observer.to_owned(), neighbour.to_owned());
        let mut pair = KindGain { observer, neighbour, strength: 1.0, range: 1.0 };
        for (key, value) in scales {
            let what = format!("{KIND_GAINS}.{name}.{key}");
            match key.as_str() {
                "strength_scale" => pair.strength = number(&what, value, 0.0..=1e6)?,
                "range_scale" => pair.range = number(&what, value, 1e-3..=1e6)?,
                _ => {
                    return Err(format!(
                        "{what}: no key is named {key:?}; there are strength_scale, range_scale"
                    ));
                }
            }
        }
        pairs.push(pair);
    }
    Ok(pairs)
}

/// The two classes of `<a>_<b>`. Of several ways to part it that into known classes counts, else the first.
fn pair_of<'a>(name: &'a str, classes: &Classes) -> Option<(&'a str, &'a str)> {
    let parted = |(at, _): (usize, &str)| (&name[..at], &name[at + 1..]);
    let ways = || name.match_indices('_').map(parted).filter(|(a, b)| !a.is_empty() && !b.is_empty());
    let known = |class: &str| classes.names().iter().any(|name| name == class);
    ways().find(|(a, b)| known(a) && known(b)).or_else(|| ways().next())
}

fn number(what: &str, value: &Value, range: std::ops::RangeInclusive<f64>) -> Result<f64, String> {
    let (low, high) = (range.start(), range.end());
    let number = value.as_f64().filter(|number| range.contains(number));
    number.ok_or_else(|| format!("{what}: expected a number from {low} to {high}, found {value}"))
}

#[cfg(test)]
mod tests {
    use super::super::named;
    use super::*;

    fn applied(planner: &str, text: &str) -> Result<AgentParameters, String> {
        let mut parameters = AgentParameters::unknown_type();
        let planner = named(planner).expect("a planner");
        match apply(text, &*planner, &Classes::default(), &mut parameters) {
            Ok(()) => Ok(parameters),
            Err(error) => {
                assert_eq!(parameters, AgentParameters::unknown_type());
                Err(error.to_string())
            }
        }
    }

    #[test]
    fn class_gains_are_read_for_the_planners_that_have_them() {
        let text =
            r#"{"kind_gains": {"human_human": {"strength_scale": 2}, "human_pram": {"range_scale": 1.5}}}"#;
        for planner in ["sfm", "hsfm"] {
            let gains = applied(planner, text).expect("fine").kind_gains;
            let found: Vec<_> =
                gains.iter().map(|g| (&*g.observer, &*g.neighbour, g.strength, g.range)).collect();
            assert_eq!(found, [("human", "human", 2.0, 1.0), ("human", "pram", 1.0, 1.5)]);
        }
    }

    #[test]
    fn numbers_go_to_the_keys_of_the_planner_and_nothing_says_nothing() {
        let parameters = applied("orca", r#"{"time_horizon": 3}"#).expect("fine");
        assert_eq!(parameters.planner_value("time_horizon"), Some(3.0));
        for nothing in ["", "  ", "{}"] {
            assert_eq!(applied("sfm", nothing).expect("fine"), AgentParameters::unknown_type());
        }
    }

    #[test]
    fn what_is_no_such_json_is_refused_with_what_is_expected() {
        let refused = |planner, text| applied(planner, text).expect_err("refused");
        assert!(
            refused("sfm", "{").starts_with("policy_params of sfm: expected JSON such as {\"kind_gains\"")
        );
        assert!(refused("orca", "[1]").ends_with("found [1]"));
        let unknown = refused("orca", r#"{"kind_gains": {}}"#);
        assert!(unknown.contains("no key is named \"kind_gains\"; there are time_horizon, max_neighbors"));
        let one = refused("sfm", r#"{"kind_gains": {"human": {}}}"#);
        assert_eq!(
            one,
            r#"policy_params of sfm: kind_gains: expected two classes as "human_robot", found "human""#
        );
        let text = r#"{"kind_gains": {"human_pram": {"range_scale": 1}, "a_b": {"strength_scale": "2"}}}"#;
        assert!(refused("sfm", text).contains("kind_gains.a_b.strength_scale: expected a number from 0"));
        assert!(refused("hsfm", r#"{"kind_gains": {"a_b": {"range_scale": 0}}}"#).ends_with("found 0"));
        assert!(refused("hsfm", r#"{"lateral_gain": null}"#).ends_with("found null"));
    }

    #[test]
    fn a_pair_is_parted_between_known_classes() {
        let mut classes = Classes::default();
        classes.index("baby_pram");
        assert_eq!(pair_of("human_baby_pram", &classes), Some(("human", "baby_pram")));
        assert_eq!(pair_of("baby_pram_human", &classes), Some(("baby_pram", "human")));
        assert_eq!(pair_of("a_b_c", &classes), Some(("a", "b_c")));
        assert_eq!((pair_of("_a", &classes), pair_of("a_", &classes)), (None, None));
    }
}
