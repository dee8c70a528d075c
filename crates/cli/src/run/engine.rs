//! The engine of a run, and the parameters that the command line gives it.

use anyhow::{Context as _, Result, bail};
use promenade_crowd::protocol::ParameterValue as EngineValue;
use promenade_human::backends::arena::{EngineLink, InProcess};
use promenade_human::backends::hunav::{EngineChoice, HunavSettings};
use promenade_human::{Parameter, ParameterValue};

use super::RunArgs;

/// The backend that has an engine.
const ARENA: &str = "arena";

/// The backend of HuNavSim's engine.
const HUNAV: &str = "hunav";

/// The engine of `--human arena`, within this process.
pub(super) fn engine(args: &RunArgs) -> Result<Option<Box<dyn EngineLink>>> {
    if args.human != ARENA {
        return Ok(None);
    }
    let parameters = [
        ("seed".to_owned(), EngineValue::Integer(args.seed.cast_signed())),
        ("threads".to_owned(), EngineValue::Integer(i64::from(args.threads))),
        ("mode".to_owned(), EngineValue::Text("subsystem".to_owned())),
    ];
    let engine = InProcess::new(&parameters).context("the crowd engine does not start")?;
    Ok(Some(Box::new(engine)))
}

/// The parameters of `--human hunav` that are fixed at the start; the others are the episode's.
pub(super) fn hunav_settings(args: &RunArgs) -> Result<HunavSettings> {
    let mut settings = HunavSettings::default();
    for Parameter { name, value } in &args.params {
        let own = name.strip_prefix("hunav.").filter(|_| args.human == HUNAV);
        if let Some(name) = own {
            settings.set(name, value)?;
        }
    }
    if settings.engine == EngineChoice::External {
        bail!(
            "hunav.engine=external needs ROS 2: use the node human_simulator with the parameter hunav.engine, built with the \
             package hunav_msgs; here only the built-in engine runs"
        );
    }
    Ok(settings)
}

/// `NAME=VALUE` as a parameter; a value is true or false, a whole number, a number, or else a text.
pub(super) fn parameter(text: &str) -> Result<Parameter> {
    let Some((name, value)) = text.split_once('=').filter(|(name, _)| !name.is_empty()) else {
        bail!("{text:?} is no NAME=VALUE such as humansim.local_planner=hsfm");
    };
    let value = match (value.parse(), value.parse(), value.parse()) {
        (Ok(truth), _, _) => ParameterValue::Bool(truth),
        (_, Ok(whole), _) => ParameterValue::Int(whole),
        (_, _, Ok(number)) => ParameterValue::Double(number),
        _ => ParameterValue::Text(value.to_owned()),
    };
    Ok(Parameter { name: name.to_owned(), value })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_parameter_is_a_name_and_a_value_of_the_type_it_looks_like() {
        let value = |text: &str| parameter(text).expect("holds").value;
        assert_eq!(value("a=true"), ParameterValue::Bool(true));
        assert_eq!(value("a=-3"), ParameterValue::Int(-3));
        assert_eq!(value("a=0.5"), ParameterValue::Double(0.5));
        assert_eq!(value("a=hsfm"), ParameterValue::Text("hsfm".to_owned()));
        for text in ["a", "=1"] {
            assert!(parameter(text).is_err_and(|error| error.to_string().contains("NAME=VALUE")));
        }
    }
}
