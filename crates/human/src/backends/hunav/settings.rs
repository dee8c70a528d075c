//! The parameters `hunav.*` (HuNav specification, sections 8 and 9.1).
//!
//! One table of names for nodes, launch files, episodes and the command line.

use promenade_hunav::configure::MissingBehavior;
use promenade_hunav::{Compat, ManagerVersion, ObstacleRule, Options, Order};
use promenade_scenario::problem::nearest;

use crate::parameter::{Parameter, ParameterValue};

/// Which engine moves people.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EngineChoice {
    /// The one of this program.
    #[default]
    Builtin,
    /// An agent manager of somebody else.
    External,
    /// External when one answers within [`HunavSettings::discovery_timeout`], else built-in.
    Auto,
}

impl EngineChoice {
    /// The words of parameters, the default first.
    pub const WORDS: &[(&str, Self)] =
        &[("builtin", Self::Builtin), ("external", Self::External), ("auto", Self::Auto)];
}

/// See the module.
#[derive(Clone, Debug, PartialEq)]
pub struct HunavSettings {
    /// Which engine moves people. For whoever makes the link; fixed at the start.
    pub engine: EngineChoice,
    /// Seconds that `auto` waits for an external engine. Fixed at the start.
    pub discovery_timeout: f64,
    /// Seconds of wall time that a call to an external engine may take. Fixed at the start.
    pub timeout: f64,
    /// Options of the built-in engine; the seed is the episode's.
    pub options: Options,
    /// What an entry without `behavior:` means.
    pub missing_behavior: MissingBehavior,
    /// Share of the way to the direction of motion that the published heading turns per tick; 0 = the heading of the engine.
    pub yaw_smoothing: f64,
    /// The animation state follows from the behaviour alone, as in the reference adapter.
    pub animation_compat: bool,
    /// Obstacle points further from an agent than this are not sent, metres; 0 = all are.
    pub obstacle_range: f64,
    /// Most obstacle points per agent, the nearest; 0 = all.
    pub obstacle_max: usize,
    /// Radius of the robot, metres.
    pub robot_radius: f64,
}

impl Default for HunavSettings {
    fn default() -> Self {
        HunavSettings {
            engine: EngineChoice::Builtin,
            discovery_timeout: 2.0,
            timeout: 0.2,
            options: Options::default(),
            missing_behavior: MissingBehavior::Documented,
            yaw_smoothing: 0.0,
            animation_compat: false,
            obstacle_range: 4.0,
            obstacle_max: 32,
            robot_radius: 0.3,
        }
    }
}

/// Why a parameter was not taken.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SettingError {
    /// No parameter of this name.
    #[error("there is no parameter hunav.{name}{}", meant(*.nearest))]
    Unknown {
        /// What was asked for, without `hunav.`.
        name: String,
        /// The name that looks like it.
        nearest: Option<&'static str>,
    },
    /// A value of the wrong type or out of its range.
    #[error("hunav.{name} must be {expected}, found {found}")]
    Value {
        /// The parameter, without `hunav.`.
        name: &'static str,
        /// What it takes.
        expected: String,
        /// What was given.
        found: String,
    },
}

fn meant(nearest: Option<&str>) -> String {
    nearest.map(|known| format!("; did you mean hunav.{known}?")).unwrap_or_default()
}

/// The names, without `hunav.`: those that are fixed at the start, those of the built-in engine, the others.
const NAMES: [&str; 14] = [
    "engine",
    "discovery_timeout",
    "timeout",
    "compat",
    "manager",
    "obstacle",
    "integrator_dt_max",
    "order",
    "missing_behavior",
    "yaw_smoothing",
    "animation_compat",
    "obstacle_range",
    "obstacle_max",
    "robot_radius",
];

/// How many of [`NAMES`] an episode cannot change.
const FIXED: usize = 3;

/// How many of [`NAMES`] come before those that are no options of the engine.
const OF_ENGINE: usize = 8;

/// Longest time-out, seconds: a link must answer within a bounded time.
const MOST_TIMEOUT: f64 = 60.0;

/// Largest length, metres.
const MOST_LENGTH: f64 = 1e6;

/// Most obstacle points per agent that can be asked for.
const MOST_POINTS: i64 = 1_000_000;

impl HunavSettings {
    /// Sets the parameter of a name without `hunav.`; nothing changes when an error is answered.
    ///
    /// # Errors
    /// A name that there is not, or a value that it does not take.
    pub fn set(&mut self, name: &str, value: &ParameterValue) -> Result<(), SettingError> {
        let Some(&name) = NAMES.iter().find(|known| **known == name) else {
            return Err(SettingError::Unknown { name: name.to_owned(), nearest: nearest(name, NAMES) });
        };
        let given = Given { name, value };
        match name {
            "engine" => self.engine = given.word(EngineChoice::WORDS)?,
            "discovery_timeout" => self.discovery_timeout = given.number(0.0, MOST_TIMEOUT)?,
            "timeout" => self.timeout = given.number(0.001, MOST_TIMEOUT)?,
            "compat" => self.options.compat = given.word(Compat::WORDS)?,
            "manager" => self.options.manager = given.word(ManagerVersion::WORDS)?,
            "obstacle" => self.options.obstacle = given.word(ObstacleRule::WORDS)?,
            "integrator_dt_max" => self.options.integrator_dt_max = given.number(0.001, 1.0)?,
            "order" => self.options.order = given.word(Order::WORDS)?,
            "missing_behavior" => self.missing_behavior = given.word(MissingBehavior::WORDS)?,
            "yaw_smoothing" => self.yaw_smoothing = given.number(0.0, 1.0)?,
            "animation_compat" => self.animation_compat = given.truth()?,
            "obstacle_range" => self.obstacle_range = given.number(0.0, MOST_LENGTH)?,
            "obstacle_max" => self.obstacle_max = given.count()?,
            _ => self.robot_radius = given.number(0.0, MOST_LENGTH)?,
        }
        Ok(())
    }

    /// Whether the parameter of a name without `hunav.` can be set by an episode.
    #[must_use]
    pub fn is_of_episode(name: &str) -> bool {
        !NAMES[..FIXED].contains(&name)
    }

    /// Whether the parameter of a name without `hunav.` is an option of the built-in engine.
    #[must_use]
    pub fn is_of_engine(name: &str) -> bool {
        NAMES[FIXED..OF_ENGINE].contains(&name)
    }

    /// Every parameter with its value, names without `hunav.`.
    #[must_use]
    pub fn parameters(&self) -> Vec<Parameter> {
        let value = |name| match name {
            "engine" => word_of(EngineChoice::WORDS, self.engine),
            "discovery_timeout" => ParameterValue::Double(self.discovery_timeout),
            "timeout" => ParameterValue::Double(self.timeout),
            "compat" => word_of(Compat::WORDS, self.options.compat),
            "manager" => word_of(ManagerVersion::WORDS, self.options.manager),
            "obstacle" => word_of(ObstacleRule::WORDS, self.options.obstacle),
            "integrator_dt_max" => ParameterValue::Double(self.options.integrator_dt_max),
            "order" => word_of(Order::WORDS, self.options.order),
            "missing_behavior" => word_of(MissingBehavior::WORDS, self.missing_behavior),
            "yaw_smoothing" => ParameterValue::Double(self.yaw_smoothing),
            "animation_compat" => ParameterValue::Bool(self.animation_compat),
            "obstacle_range" => ParameterValue::Double(self.obstacle_range),
            "obstacle_max" => ParameterValue::Int(self.obstacle_max as i64),
            _ => ParameterValue::Double(self.robot_radius),
        };
        NAMES.map(|name| Parameter { name: name.to_owned(), value: value(name) }).into()
    }
}

fn word_of<T: PartialEq + Copy>(words: &[(&str, T)], of: T) -> ParameterValue {
    let found = words.iter().find(|(_, value)| *value == of);
    ParameterValue::Text(found.map(|(word, _)| (*word).to_owned()).unwrap_or_default())
}

/// A value that was given for a parameter.
struct Given<'a> {
    name: &'static str,
    value: &'a ParameterValue,
}

impl Given<'_> {
    fn word<T: Copy>(&self, words: &[(&str, T)]) -> Result<T, SettingError> {
        let found = match self.value {
            ParameterValue::Text(text) => words.iter().find(|(word, _)| word.eq_ignore_ascii_case(text)),
            _ => None,
        };
        found.map(|(_, value)| *value).ok_or_else(|| {
            let known: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
            self.wrong(format!("one of {}", known.join(", ")))
        })
    }

    fn number(&self, least: f64, most: f64) -> Result<f64, SettingError> {
        let number = match *self.value {
            ParameterValue::Double(number) => Some(number),
            ParameterValue::Int(number) => Some(number as f64),
            _ => None,
        };
        number
            .filter(|number| (least..=most).contains(number))
            .ok_or_else(|| self.wrong(format!("a number from {least} to {most}")))
    }

    fn count(&self) -> Result<usize, SettingError> {
        let count = match *self.value {
            ParameterValue::Int(count) if count <= MOST_POINTS => usize::try_from(count).ok(),
            _ => None,
        };
        count.ok_or_else(|| self.wrong(format!("a whole number from 0 to {MOST_POINTS}")))
    }

    fn truth(&self) -> Result<bool, SettingError> {
        match *self.value {
            ParameterValue::Bool(truth) => Ok(truth),
            _ => Err(self.wrong("true or false".to_owned())),
        }
    }

    fn wrong(&self, expected: String) -> SettingError {
        let found = match self.value {
            ParameterValue::NotSet => "nothing".to_owned(),
            ParameterValue::Bool(value) => value.to_string(),
            ParameterValue::Int(value) => value.to_string(),
            ParameterValue::Double(value) => value.to_string(),
            ParameterValue::Text(value) => format!("{value:?}"),
            _ => "a list".to_owned(),
        };
        SettingError::Value { name: self.name, expected, found }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_parameter_takes_back_what_it_says() {
        let mut settings = HunavSettings {
            engine: EngineChoice::Auto,
            options: Options { integrator_dt_max: 0.1, ..Options::strict(ManagerVersion::P1) },
            missing_behavior: MissingBehavior::Template,
            yaw_smoothing: 0.15,
            animation_compat: true,
            obstacle_max: 0,
            ..HunavSettings::default()
        };
        let asked = settings.clone();
        settings = HunavSettings::default();
        for Parameter { name, value } in asked.parameters() {
            settings.set(&name, &value).expect("its own value");
        }
        assert_eq!(settings, asked);
    }

    #[test]
    fn a_wrong_parameter_changes_nothing_and_says_what_it_takes() {
        let mut settings = HunavSettings::default();
        let mut told = |name: &str, value| settings.set(name, &value).expect_err("refused").to_string();
        let text = |text: &str| ParameterValue::Text(text.to_owned());
        assert_eq!(
            told("compta", text("strict")),
            "there is no parameter hunav.compta; did you mean hunav.compat?"
        );
        assert_eq!(
            told("compat", text("srict")),
            "hunav.compat must be one of robust, strict, found \"srict\""
        );
        assert_eq!(
            told("yaw_smoothing", ParameterValue::Double(f64::NAN)),
            "hunav.yaw_smoothing must be a number from 0 to 1, found NaN"
        );
        assert_eq!(
            told("obstacle_max", ParameterValue::Int(-1)),
            "hunav.obstacle_max must be a whole number from 0 to 1000000, found -1"
        );
        assert_eq!(settings, HunavSettings::default());
    }
}
