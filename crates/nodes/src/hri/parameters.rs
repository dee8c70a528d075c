//! The node's parameters, read once at the start.
//!
//! What `-p` and YAML make of a value is not what a user thinks of: `off` is a boolean there and `20` not a double. Both
//! are taken for what they mean.

use anyhow::{Result, bail};
use promenade_gait::rig::Rig;
use rclrs::ParameterValue;

use super::settings::{GlobalAlias, IdStyle, MarkerStyle, Settings, choice, refuse};
use crate::ros::Running;

/// The settings of the node.
///
/// # Errors
/// A value of the wrong type, or one that is unknown or not supported.
pub(crate) fn read(ros: &Running) -> Result<Settings> {
    let max_bodies = ros.parameter("max_bodies", 0_i64, "most bodies at a time, 0 = unlimited")?;
    let height = number(ros, "default_height", 1.65, "body height of a model that does not say, metres")?;
    let fov = number(ros, "view.fov_deg", 60.0, "field of view of a face, degrees")?;
    let view_clip_near = number(ros, "view.clip_near", 0.15, "near clipping distance of a face, metres")?;
    let id_style = word(ros, "id_style", "arena", "arena or short5")?;
    let rig = word(ros, "rig", "arena", "the rig of all bodies: arena")?;
    let tf_source = word(ros, "tf_source", "self", "who sends the frames of bodies: self, rsp or none")?;
    let tf_rate = number(ros, "tf_rate", 20.0, "most frame messages per second, 0 = every message")?;
    let engagement = word(ros, "engagement", "animation", "where engagement comes from: animation")?;
    let marker_style = word(ros, "marker_style", "capsules", "capsules, lines or off")?;
    let marker_labels = ros.parameter("marker_labels", true, "whether markers show names")?;
    let global_alias = word(ros, "global_alias", "auto", "repeat everything under /humans: auto, on or off")?;

    let Some(rig_at_height) = Rig::new(height) else {
        bail!("parameter default_height: {height} is not a height; it is above 0");
    };
    if !(fov > 0.0 && fov < 180.0) {
        bail!("parameter view.fov_deg: {fov} is not between 0 and 180");
    }
    if !(tf_rate >= 0.0 && tf_rate.is_finite()) {
        bail!("parameter tf_rate: {tf_rate} is not a rate; it is 0 or above");
    }
    let Ok(max_bodies) = usize::try_from(max_bodies) else {
        bail!("parameter max_bodies: {max_bodies} is below 0");
    };
    refuse("engagement", &engagement, "gaze", "this version does not read where robots are; use animation")?;
    choice("engagement", &engagement, &[("animation", ())])?;
    refuse("rig", &rig, "stock", "this version has the 40-joint rig only; use arena")?;
    choice("rig", &rig, &[("arena", ())])?;
    Ok(Settings {
        max_bodies,
        rig: rig_at_height,
        view_fov: fov.to_radians(),
        view_clip_near,
        id_style: choice("id_style", &id_style, &[("arena", IdStyle::Arena), ("short5", IdStyle::Short5)])?,
        sends_frames: choice("tf_source", &tf_source, &[("self", true), ("rsp", false), ("none", false)])?,
        tf_rate,
        marker_style: choice(
            "marker_style",
            &marker_style,
            &[("capsules", MarkerStyle::Capsules), ("lines", MarkerStyle::Lines), ("off", MarkerStyle::Off)],
        )?,
        marker_labels,
        global_alias: choice(
            "global_alias",
            &global_alias,
            &[("auto", GlobalAlias::Auto), ("on", GlobalAlias::On), ("off", GlobalAlias::Off)],
        )?,
    })
}

fn word(ros: &Running, name: &str, default: &str, description: &str) -> Result<String> {
    let value = ros.parameter(name, ParameterValue::String(default.into()), description)?;
    as_word(&value).map_or_else(|| bail!("parameter {name}: {value:?} is not a word"), Ok)
}

fn number(ros: &Running, name: &str, default: f64, description: &str) -> Result<f64> {
    let value = ros.parameter(name, ParameterValue::Double(default), description)?;
    as_number(&value).map_or_else(|| bail!("parameter {name}: {value:?} is not a number"), Ok)
}

fn as_word(value: &ParameterValue) -> Option<String> {
    match value {
        ParameterValue::String(word) => Some(word.to_string()),
        ParameterValue::Bool(true) => Some("on".to_owned()),
        ParameterValue::Bool(false) => Some("off".to_owned()),
        _ => None,
    }
}

fn as_number(value: &ParameterValue) -> Option<f64> {
    match value {
        ParameterValue::Double(number) => Some(*number),
        ParameterValue::Integer(number) => Some(*number as f64),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_taken_for_what_they_mean() {
        assert_eq!(as_word(&ParameterValue::Bool(false)).as_deref(), Some("off"));
        assert_eq!(as_word(&ParameterValue::Bool(true)).as_deref(), Some("on"));
        assert_eq!(as_word(&ParameterValue::String("auto".into())).as_deref(), Some("auto"));
        assert_eq!(as_word(&ParameterValue::Integer(1)), None);
        assert_eq!(as_number(&ParameterValue::Integer(20)), Some(20.0));
        assert_eq!(as_number(&ParameterValue::Double(0.5)), Some(0.5));
        assert_eq!(as_number(&ParameterValue::Bool(true)), None);
    }
}
