//! Which kinematic models and behaviours a file may name, with the keys they take.
//!
//! Built-in ones are registered the same way as a user's. A registry is asked while a file is read, so that a wrong name or key is an error of the
//! file; it makes nothing random and keeps no state.

use std::fmt;
use std::sync::Arc;

use crate::behavior::{self, Behavior, GroupBehaviorFactory};
use crate::kinematics::{self, Model};

/// What a key takes.
#[derive(Clone, Debug, PartialEq)]
pub enum Kind {
    /// A finite number from `min` to `max`; `above` excludes `min` itself.
    Number {
        /// Least value.
        min: f64,
        /// Largest value.
        max: f64,
        /// Whether `min` itself is excluded.
        above: bool,
    },
    /// Yes or no.
    Flag,
    /// One of these words.
    Word(&'static [&'static str]),
    /// Lists of non-negative integers, as in `social_groups`.
    Groups,
}

/// A key with its default.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameter {
    /// Key.
    pub name: &'static str,
    /// What it takes.
    pub kind: Kind,
    /// Used when the file does not give it; `None` = left out.
    pub default: Option<Argument>,
}

/// A value of a key.
#[derive(Clone, Debug, PartialEq)]
pub enum Argument {
    /// A number.
    Number(f64),
    /// Yes or no.
    Flag(bool),
    /// A word.
    Word(String),
    /// Lists of integers.
    Groups(Vec<Vec<usize>>),
}

/// The values of all keys of one mapping, checked against the schema, defaults filled in.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Arguments(Vec<(&'static str, Argument)>);

impl Arguments {
    /// Sets a key.
    pub fn set(&mut self, name: &'static str, value: Argument) {
        match self.0.iter_mut().find(|(known, _)| *known == name) {
            Some((_, old)) => *old = value,
            None => self.0.push((name, value)),
        }
    }

    /// A key's value, if there is one.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Argument> {
        self.0.iter().find(|(known, _)| *known == name).map(|(_, value)| value)
    }

    /// A number, if there is one.
    #[must_use]
    pub fn number(&self, name: &str) -> Option<f64> {
        match self.get(name) {
            Some(Argument::Number(value)) => Some(*value),
            _ => None,
        }
    }

    /// A flag; false when there is none.
    #[must_use]
    pub fn flag(&self, name: &str) -> bool {
        matches!(self.get(name), Some(Argument::Flag(true)))
    }

    /// A word, if there is one.
    #[must_use]
    pub fn word(&self, name: &str) -> Option<&str> {
        match self.get(name) {
            Some(Argument::Word(value)) => Some(value),
            _ => None,
        }
    }

    /// Lists of integers; empty when there are none.
    #[must_use]
    pub fn groups(&self, name: &str) -> &[Vec<usize>] {
        match self.get(name) {
            Some(Argument::Groups(value)) => value,
            _ => &[],
        }
    }
}

/// Why checked arguments do not go together: the key and what is wrong with it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{key}: {message}")]
pub struct ArgumentError {
    /// Key.
    pub key: String,
    /// What was found and what is allowed.
    pub message: String,
}

/// Makes a model of its arguments and of the wheelbase of its shape.
pub type MakeModel =
    Arc<dyn Fn(&Arguments, Option<f64>) -> Result<Arc<dyn Model>, ArgumentError> + Send + Sync>;
/// Makes a behaviour for a kinematic model, by its name.
pub type MakeBehavior =
    Arc<dyn Fn(&Arguments, &str) -> Result<Arc<dyn Behavior>, ArgumentError> + Send + Sync>;
/// Makes a group behaviour for a kinematic model, by its name, and a number of members.
pub type MakeGroupBehavior = Arc<
    dyn Fn(&Arguments, &str, usize) -> Result<Arc<dyn GroupBehaviorFactory>, ArgumentError> + Send + Sync,
>;

/// Something a file may name.
#[derive(Clone)]
pub struct Entry<Make> {
    /// Name in files, lower case.
    pub name: &'static str,
    /// Models it is available for; empty for a model itself.
    pub kinematics: &'static [&'static str],
    /// Keys it takes. Those that renew goals (`wander`, `loop`, `range_low`, `range_high`) every behaviour takes; they are not listed.
    pub parameters: Vec<Parameter>,
    /// Makes one.
    pub make: Make,
}

impl<Make> fmt::Debug for Entry<Make> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Entry")
            .field("name", &self.name)
            .field("kinematics", &self.kinematics)
            .finish_non_exhaustive()
    }
}

/// A name that is taken.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RegistryError {
    /// There is such a model.
    #[error("there is a kinematic model {0:?} already; choose another name")]
    Model(&'static str),
    /// There is such a behaviour for that model.
    #[error("there is a behaviour {name:?} for {kinematics:?} already; choose another name")]
    Behavior {
        /// Its name.
        name: &'static str,
        /// The model.
        kinematics: &'static str,
    },
}

/// The word in a file for an object that cannot move; no model may take it.
pub const STATIC: &str = "static";

/// What a file may name.
#[derive(Clone, Debug, Default)]
pub struct Registry {
    models: Vec<Entry<MakeModel>>,
    behaviors: Vec<Entry<MakeBehavior>>,
    group_behaviors: Vec<Entry<MakeGroupBehavior>>,
}

impl Registry {
    /// The models and behaviours of this crate.
    #[must_use]
    pub fn built_in() -> Self {
        Self {
            models: kinematics::entries(),
            behaviors: behavior::entries(),
            group_behaviors: behavior::group_entries(),
        }
    }

    /// Adds a model.
    ///
    /// # Errors
    /// When there is one of this name.
    pub fn register_model(&mut self, entry: Entry<MakeModel>) -> Result<(), RegistryError> {
        if entry.name.eq_ignore_ascii_case(STATIC) || self.model(entry.name).is_some() {
            return Err(RegistryError::Model(entry.name));
        }
        self.models.push(entry);
        Ok(())
    }

    /// Adds a behaviour of one object for the models it names, which need not be registered yet.
    ///
    /// # Errors
    /// When one of the models has a behaviour of this name.
    pub fn register_behavior(&mut self, entry: Entry<MakeBehavior>) -> Result<(), RegistryError> {
        add(&mut self.behaviors, entry)
    }

    /// Adds a behaviour of groups for the models it names, which need not be registered yet.
    ///
    /// # Errors
    /// When one of the models has a group behaviour of this name.
    pub fn register_group_behavior(&mut self, entry: Entry<MakeGroupBehavior>) -> Result<(), RegistryError> {
        add(&mut self.group_behaviors, entry)
    }

    /// The model of a name, compared without case.
    #[must_use]
    pub fn model(&self, name: &str) -> Option<&Entry<MakeModel>> {
        self.models.iter().find(|entry| entry.name.eq_ignore_ascii_case(name))
    }

    /// Names of all models and [`STATIC`], in alphabetical order.
    #[must_use]
    pub fn model_names(&self) -> Vec<&'static str> {
        let mut names: Vec<_> = self.models.iter().map(|entry| entry.name).chain([STATIC]).collect();
        names.sort_unstable();
        names
    }

    /// The behaviour of a name for a model.
    #[must_use]
    pub fn behavior(&self, name: &str, kinematics: &str) -> Option<&Entry<MakeBehavior>> {
        find(&self.behaviors, name, kinematics)
    }

    /// Names of the behaviours for a model, for all models when there is none; in alphabetical order.
    #[must_use]
    pub fn behavior_names(&self, kinematics: Option<&str>) -> Vec<&'static str> {
        names(&self.behaviors, kinematics)
    }

    /// The group behaviour of a name for a model.
    #[must_use]
    pub fn group_behavior(&self, name: &str, kinematics: &str) -> Option<&Entry<MakeGroupBehavior>> {
        find(&self.group_behaviors, name, kinematics)
    }

    /// Names of the group behaviours for a model, for all models when there is none; in alphabetical order.
    #[must_use]
    pub fn group_behavior_names(&self, kinematics: Option<&str>) -> Vec<&'static str> {
        names(&self.group_behaviors, kinematics)
    }
}

fn add<Make>(entries: &mut Vec<Entry<Make>>, entry: Entry<Make>) -> Result<(), RegistryError> {
    let taken = entry.kinematics.iter().find(|kinematics| find(entries, entry.name, kinematics).is_some());
    if let Some(kinematics) = taken {
        return Err(RegistryError::Behavior { name: entry.name, kinematics });
    }
    entries.push(entry);
    Ok(())
}

fn find<'e, Make>(entries: &'e [Entry<Make>], name: &str, kinematics: &str) -> Option<&'e Entry<Make>> {
    entries
        .iter()
        .find(|entry| entry.name.eq_ignore_ascii_case(name) && entry.kinematics.contains(&kinematics))
}

fn names<Make>(entries: &[Entry<Make>], kinematics: Option<&str>) -> Vec<&'static str> {
    let is_for = |entry: &&Entry<Make>| kinematics.is_none_or(|name| entry.kinematics.contains(&name));
    let mut names: Vec<_> = entries.iter().filter(is_for).map(|entry| entry.name).collect();
    names.sort_unstable();
    names.dedup();
    names
}
