//! Episode parameters as backends see them (human-layer specification, section 20).
//!
//! Values are carried, never interpreted, here.

use crate::backend::PARAM_NAMESPACES;

/// The value of a parameter, as `rcl_interfaces/ParameterValue` has it.
#[derive(Clone, Debug, PartialEq)]
pub enum ParameterValue {
    /// Nothing.
    NotSet,
    /// True or false.
    Bool(bool),
    /// An integer.
    Int(i64),
    /// A number.
    Double(f64),
    /// A text.
    Text(String),
    /// Bytes.
    Bytes(Vec<u8>),
    /// Several truths.
    Bools(Vec<bool>),
    /// Several integers.
    Ints(Vec<i64>),
    /// Several numbers.
    Doubles(Vec<f64>),
    /// Several texts.
    Texts(Vec<String>),
}

/// A named value.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameter {
    /// Full name, such as `humansim.dt`; without the namespace where a backend gets it.
    pub name: String,
    /// Its value.
    pub value: ParameterValue,
}

/// The prefix that is reserved for parameters that every backend honours; there are none yet.
const RESERVED: &str = "human";

/// Why a parameter cannot be queued.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ParameterError {
    /// The prefix `human.`.
    #[error(
        "parameter {0:?}: the prefix \"human.\" is reserved, and no parameter of every backend exists yet"
    )]
    Reserved(String),
    /// A prefix that no backend has.
    #[error("parameter {name:?}: no backend has this prefix; there is {known}")]
    UnknownPrefix {
        /// The parameter.
        name: String,
        /// The known prefixes.
        known: String,
    },
}

/// Refuses names that no backend can ever accept.
///
/// # Errors
/// The first reserved or unknown prefix.
pub fn check_human_params(params: &[Parameter], own_namespace: Option<&str>) -> Result<(), ParameterError> {
    for Parameter { name, .. } in params {
        let prefix = name.split_once('.').map(|(prefix, _)| prefix);
        match prefix {
            Some(RESERVED) => return Err(ParameterError::Reserved(name.clone())),
            Some(prefix) if PARAM_NAMESPACES.contains(&prefix) || own_namespace == Some(prefix) => {}
            _ => {
                let mut known: Vec<String> =
                    PARAM_NAMESPACES.iter().copied().chain(own_namespace).map(|n| format!("{n}.")).collect();
                known.sort();
                known.dedup();
                return Err(ParameterError::UnknownPrefix { name: name.clone(), known: known.join(", ") });
            }
        }
    }
    Ok(())
}

/// Sets `changes` in `params`, one key at a time; new keys go to the end.
pub(crate) fn upsert(params: &mut Vec<Parameter>, changes: &[Parameter]) {
    for change in changes {
        match params.iter_mut().find(|known| known.name == change.name) {
            Some(known) => known.value.clone_from(&change.value),
            None => params.push(change.clone()),
        }
    }
}
