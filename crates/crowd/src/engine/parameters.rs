//! Node parameters: what there are, what they may be, and when they act (crowd-engine specification, sections 5 and 23).
//!
//! A value that was set waits for the next reset, but for those that act at once. Nothing here touches the crowd.

use std::collections::{BTreeMap, BTreeSet};

use super::error::EngineError;
use crate::global::{GLOBAL_PLANNERS, GlobalPlanner};
use crate::improvements::Improvements;
use crate::occlusion::{OCCLUSIONS, OcclusionMode};
use crate::planner::{self, PLANNERS};
use crate::protocol::ParameterValue::{self, Bool, Double, Integer, Text};
use crate::settings::Settings;

/// When a value that was set comes to hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Effect {
    /// Never; it is read when the engine is made.
    Fixed,
    /// At the next reset.
    AtReset,
    /// In the moment it is set.
    AtOnce,
}

/// What values there may be, beside those of the default's kind.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Rule {
    /// Any.
    Any,
    /// One of these words.
    OneOf(&'static [&'static str]),
    /// From the first to the second.
    Within(f64, f64),
    /// Above 0.
    Positive,
}

/// Values that a parameter may have.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ParameterRange {
    /// From the first to the second.
    Numbers(f64, f64),
    /// One of these words.
    Words(&'static [&'static str]),
}

/// What there is to say about a parameter to somebody who is about to set it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ParameterRule {
    /// Whether it can be set at the start only.
    pub is_fixed: bool,
    /// When a value acts, as a sentence without its full stop.
    pub effect: &'static str,
    /// What it may be; `None` = anything of its kind.
    pub range: Option<ParameterRange>,
}

/// A parameter: what is set, and what holds.
#[derive(Debug, Clone, PartialEq)]
struct Parameter {
    set: ParameterValue,
    holds: ParameterValue,
    rule: Rule,
    effect: Effect,
}

/// Largest length, speed or time that a parameter may be.
const LARGEST: f64 = 1e6;

const MODES: &[&str] = &["master", "subsystem"];
const WAYPOINT_MODES: &[&str] = &["", "once", "repeat", "reverse", "random"];

/// All parameters of an engine.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Parameters {
    all: BTreeMap<String, Parameter>,
}

impl Parameters {
    /// The parameters of a new engine, some of them set.
    pub(crate) fn new(given: &[(String, ParameterValue)]) -> Result<Self, EngineError> {
        let mut parameters = Self { all: BTreeMap::new() };
        parameters.declare();
        parameters.apply(given, true)?;
        parameters.settle();
        Ok(parameters)
    }

    fn declare(&mut self) {
        use Effect::{AtOnce, AtReset, Fixed};
        use Rule::{Any, OneOf, Positive, Within};
        let defaults = Settings::default();
        let word = |word: &str| Text(word.to_owned());
        let most = i64::from(i32::MAX) as f64;
        let (inflation, resolution, comfort) = (0.38, 0.2, 0.6);
        let table: &[(&str, ParameterValue, Rule, Effect)] = &[
            ("seed", Integer(defaults.seed), Any, Fixed),
            ("dt", Double(defaults.dt), Within(1e-4, 10.0), Fixed),
            ("bt_tick_interval", Integer(defaults.bt_tick_interval.into()), Within(1.0, 1e5), Fixed),
            ("staggered_decisions", Bool(defaults.staggered_decisions), Any, Fixed),
            ("threads", Integer(defaults.threads as i64), Within(1.0, 1024.0), Fixed),
            ("mode", word("master"), OneOf(MODES), Fixed),
            ("perception", word("default"), OneOf(&["default"]), Fixed),
            ("global_planner", word(default_global_planner()), OneOf(&GLOBAL_PLANNERS), AtReset),
            ("global_planner.inflation_radius", Double(inflation), Within(0.0, 5.0), AtReset),
            ("global_planner.resolution", Double(resolution), Within(0.01, 5.0), AtReset),
            ("global_planner.comfort_radius", Double(comfort), Within(0.0, 5.0), AtReset),
            ("local_planner", word(&defaults.local_planner), OneOf(&PLANNERS), AtReset),
            ("force_local_planner", Bool(false), Any, AtReset),
            ("robot_policy", word(""), Any, Fixed),
            ("robot_shutdown", word(""), OneOf(&["", "true", "false"]), Fixed),
            ("force_waypoint_mode", word(""), OneOf(WAYPOINT_MODES), Fixed),
            ("animation", word("noop"), OneOf(&["noop", "kinematic"]), Fixed),
            ("collision", word("wall_projection"), OneOf(&["wall_projection", "noop"]), Fixed),
            ("occlusion", word("exact"), OneOf(&OCCLUSIONS), Fixed),
            ("compatible", Bool(false), Any, AtReset),
            ("waypoint_threshold", Double(0.1), Positive, AtReset),
            ("min_speed_for_heading", Double(defaults.min_speed_for_heading), Within(0.0, 100.0), AtReset),
            ("arrival_r_enter", Double(defaults.arrival_r_enter), Positive, AtReset),
            ("arrival_r_exit", Double(defaults.arrival_r_exit), Positive, AtReset),
            ("arrival_tau_brake", Double(defaults.arrival_tau_brake), Positive, AtReset),
            ("publish_markers", Integer(0), Within(0.0, 2.0), AtReset),
            ("rtf", Double(1.0), Within(0.0, 1000.0), AtReset),
            ("profile_phases", Bool(false), Any, AtReset),
            ("profile_interval", Integer(0), Within(0.0, most), AtReset),
            ("max_lifetime_s", Double(0.0), Within(0.0, 1e9), AtReset),
            ("contact_mode", word("enabled"), OneOf(&["enabled", "locomotion_only"]), AtOnce),
            ("locomotion_standing_distance", Double(1.2), Positive, AtOnce),
            ("gesture_mode", word("enabled"), OneOf(&["enabled", "disabled"]), AtOnce),
            ("log_dir", word(""), Any, Fixed),
            ("replay_mode", word(""), Any, Fixed),
            ("record_bag", Bool(false), Any, Fixed),
            ("record_dir", word(""), Any, Fixed),
            ("strict_recording", Bool(true), Any, Fixed),
            ("trial_id", word(""), Any, Fixed),
            ("scenario", word(""), Any, Fixed),
            ("ticks", Integer(0), Within(0.0, most), Fixed),
            ("time", Double(0.0), Within(0.0, 1e9), Fixed),
            ("subsystem_overrun_policy", word("lag"), OneOf(&["lag"]), Fixed),
        ];
        for (name, value, rule, effect) in table {
            let (set, holds) = (value.clone(), value.clone());
            let parameter = Parameter { set, holds, rule: *rule, effect: *effect };
            self.all.insert((*name).to_owned(), parameter);
        }
        for name in Improvements::NAMES {
            let (set, holds) = (Bool(true), Bool(true));
            let parameter = Parameter { set, holds, rule: Any, effect: AtReset };
            self.all.insert(format!("improvements.{name}"), parameter);
        }
        self.declare_keys(&defaults.local_planner);
    }

    /// Declare the keys of a planner, all 0: as the agent's type has them.
    fn declare_keys(&mut self, planner: &str) {
        let Ok(planner) = planner::named(planner) else { return };
        for key in planner.keys() {
            // What is positive by default means nothing below 0.
            let least = if key.default.mean > 0.0 { 0.0 } else { -LARGEST };
            let parameter = Parameter {
                set: Double(0.0),
                holds: Double(0.0),
                rule: Rule::Within(least, LARGEST),
                effect: Effect::AtReset,
            };
            self.all.entry(format!("local_planner.{}", key.name)).or_insert(parameter);
        }
    }

    /// Set a batch as a whole or not at all. It is gone through by name, so that a planner comes before its keys.
    pub(crate) fn set(&mut self, batch: &[(String, ParameterValue)]) -> Result<(), EngineError> {
        self.apply(batch, false)
    }

    fn apply(&mut self, batch: &[(String, ParameterValue)], at_start: bool) -> Result<(), EngineError> {
        let mut next = self.clone();
        let mut sorted: Vec<&(String, ParameterValue)> = batch.iter().collect();
        sorted.sort_by(|a, b| a.0.cmp(&b.0));
        let (mut unknown, mut fixed) = (BTreeSet::new(), BTreeSet::new());
        for (name, value) in sorted {
            let Some(parameter) = next.all.get_mut(name) else {
                unknown.insert(name.clone());
                continue;
            };
            if parameter.effect == Effect::Fixed && !at_start {
                fixed.insert(name.clone());
                continue;
            }
            let value = parameter.checked(name, value)?;
            if parameter.effect == Effect::AtOnce {
                parameter.holds = value.clone();
            }
            parameter.set = value.clone();
            if let ("local_planner", Text(planner)) = (name.as_str(), &value) {
                next.declare_keys(planner);
            }
        }
        if !unknown.is_empty() {
            let known = next.all.into_keys().collect();
            return Err(EngineError::UnknownParameters { names: unknown.into_iter().collect(), known });
        }
        if !fixed.is_empty() {
            return Err(EngineError::FixedParameters(fixed.into_iter().collect()));
        }
        next.settings(|parameter| &parameter.set)?.check()?;
        *self = next;
        Ok(())
    }

    /// Let everything that was set hold.
    pub(crate) fn settle(&mut self) {
        self.all.values_mut().for_each(|parameter| parameter.holds = parameter.set.clone());
    }

    /// Everything declared with what is set, sorted by name.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, ParameterValue)> {
        self.all.iter().map(|(name, parameter)| (name.as_str(), parameter.set.clone()))
    }

    /// What to know before setting a parameter.
    pub(crate) fn rule(&self, name: &str) -> Option<ParameterRule> {
        let parameter = self.all.get(name)?;
        let (is_fixed, effect) = match parameter.effect {
            Effect::Fixed => (true, "read at the start only"),
            Effect::AtReset => (false, "acts at the next reset"),
            Effect::AtOnce => (false, "acts at once"),
        };
        let range = match parameter.rule {
            Rule::Any => None,
            Rule::OneOf(words) => Some(ParameterRange::Words(words)),
            Rule::Within(low, high) => Some(ParameterRange::Numbers(low, high)),
            Rule::Positive => Some(ParameterRange::Numbers(0.0, LARGEST)),
        };
        Some(ParameterRule { is_fixed, effect, range })
    }

    /// What holds now.
    pub(crate) fn value(&self, name: &str) -> Option<&ParameterValue> {
        self.all.get(name).map(|parameter| &parameter.holds)
    }

    /// A number that holds now; 0 for a name of none.
    pub(crate) fn number(&self, name: &str) -> f64 {
        number(self.value(name))
    }

    /// Whether something holds now.
    pub(crate) fn is_on(&self, name: &str) -> bool {
        self.value(name) == Some(&Bool(true))
    }

    /// Means of the default planner's keys that hold now; 0 = the type's own, not listed.
    pub(crate) fn planner_means(&self) -> Vec<(&str, f64)> {
        let keys = self.all.iter().filter_map(|(name, parameter)| {
            let key = name.strip_prefix("local_planner.")?;
            Some((key, number(Some(&parameter.holds))))
        });
        keys.filter(|(_, mean)| *mean != 0.0).collect()
    }

    /// The crowd's settings that hold now.
    pub(crate) fn crowd_settings(&self) -> Result<Settings, EngineError> {
        self.settings(|parameter| &parameter.holds)
    }

    fn settings(&self, of: impl Fn(&Parameter) -> &ParameterValue) -> Result<Settings, EngineError> {
        let value = |name: &str| self.all.get(name).map(&of);
        let double = |name: &str| number(value(name));
        let integer = |name: &str| match value(name) {
            Some(Integer(value)) => *value,
            _ => 0,
        };
        let text = |name: &str| match value(name) {
            Some(Text(value)) => value.as_str(),
            _ => "",
        };
        let is_on = |name: &str| value(name) == Some(&Bool(true));
        let mut improvements = Improvements::NONE;
        for name in Improvements::NAMES {
            if let Some(switch) = improvements.get_mut(name) {
                *switch = !is_on("compatible") && is_on(&format!("improvements.{name}"));
            }
        }
        let global_planner = GlobalPlanner::named(
            text("global_planner"),
            double("global_planner.inflation_radius"),
            double("global_planner.resolution"),
            double("global_planner.comfort_radius"),
        )?;
        let occlusion = match OcclusionMode::named(text("occlusion"))? {
            OcclusionMode::Exact if is_on("compatible") => OcclusionMode::Bitmap,
            mode => mode,
        };
        Ok(Settings {
            seed: integer("seed"),
            dt: double("dt"),
            bt_tick_interval: u32::try_from(integer("bt_tick_interval")).unwrap_or(1),
            staggered_decisions: is_on("staggered_decisions"),
            local_planner: text("local_planner").to_owned(),
            global_planner,
            min_speed_for_heading: double("min_speed_for_heading"),
            arrival_r_enter: double("arrival_r_enter"),
            arrival_r_exit: double("arrival_r_exit"),
            arrival_tau_brake: double("arrival_tau_brake"),
            occlusion,
            contacts: text("collision") != "noop",
            improvements,
            threads: usize::try_from(integer("threads")).unwrap_or(1),
        })
    }
}

fn default_global_planner() -> &'static str {
    match GlobalPlanner::default() {
        GlobalPlanner::Off => "off",
        GlobalPlanner::NavMesh { .. } => "navmesh",
        GlobalPlanner::Lattice { .. } => "dijkstra",
    }
}

fn number(value: Option<&ParameterValue>) -> f64 {
    match value {
        Some(Double(value)) => *value,
        Some(Integer(value)) => *value as f64,
        _ => 0.0,
    }
}

impl Parameter {
    /// A value of the right kind and within its range. A whole number is taken where a number is expected.
    fn checked(&self, name: &str, value: &ParameterValue) -> Result<ParameterValue, EngineError> {
        let expects = |expected: String| EngineError::Parameter {
            name: name.to_owned(),
            expected,
            found: value.clone(),
        };
        let value = match (&self.set, value) {
            (Double(_), Integer(whole)) => Double(*whole as f64),
            (Double(_), Double(_)) | (Integer(_), Integer(_)) | (Bool(_), Bool(_)) | (Text(_), Text(_)) => {
                value.clone()
            }
            (Double(_), _) => return Err(expects("a number".to_owned())),
            (Integer(_), _) => return Err(expects("a whole number".to_owned())),
            (Bool(_), _) => return Err(expects("true or false".to_owned())),
            (Text(_), _) => return Err(expects("text".to_owned())),
        };
        let amount = number(Some(&value));
        match self.rule {
            Rule::Any => {}
            Rule::Within(low, high) if (low..=high).contains(&amount) => {}
            Rule::Within(low, high) => return Err(expects(format!("a number from {low} to {high}"))),
            Rule::Positive if amount > 0.0 && amount <= LARGEST => {}
            Rule::Positive => return Err(expects("a number above 0 and up to 1e6".to_owned())),
            Rule::OneOf(words) => match &value {
                Text(word) if words.contains(&word.as_str()) => {}
                _ => {
                    let quoted: Vec<String> = words.iter().map(|word| format!("{word:?}")).collect();
                    return Err(expects(format!("one of {}", quoted.join(", "))));
                }
            },
        }
        Ok(value)
    }
}
