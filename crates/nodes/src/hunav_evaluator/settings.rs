//! The node's parameters, read once at the start.

use std::path::PathBuf;

use anyhow::{Result, ensure};
use promenade_hunav::Point;
use promenade_hunav::metrics::{self, Delimiter, Metric, Session};

use crate::ros::Running;

/// What begins and ends a recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    /// The services alone.
    Services,
    /// The first message, and silence after the last.
    Automatic,
}

/// What the node is to do.
#[derive(Clone, Debug)]
pub(super) struct Settings {
    pub(super) tag: String,
    pub(super) mode: Mode,
    /// A goal of the navigation begins a recording.
    pub(super) waits_for_goal: bool,
    /// Files without their ending.
    pub(super) base: PathBuf,
    pub(super) formats: Vec<Delimiter>,
    pub(super) metrics: Vec<Metric>,
    frequency: f64,
    compat: bool,
    goal_radius: f64,
}

impl Settings {
    /// A recording that begins now.
    pub(super) fn session(&self, tag: &str, run: i32, goals: Vec<Point>) -> Session {
        let settings = metrics::Settings {
            compat: self.compat,
            goals,
            goal_radius: self.goal_radius,
            ..metrics::Settings::default()
        };
        Session::new(tag, run, settings, self.frequency, self.formats.contains(&Delimiter::Tab))
    }
}

/// Reads the parameters.
///
/// # Errors
/// A value of the wrong type or one that cannot be.
pub(super) fn read(ros: &Running) -> Result<Settings> {
    let frequency: f64 = ros.parameter("frequency", 0.0, "steps per second; 0 = every message")?;
    ensure!(
        (0.0..=1e6).contains(&frequency),
        "parameter frequency is {frequency}; expected 0 (every message) to 1e6"
    );
    let mode: i64 =
        ros.parameter("mode", 1, "1 = recordings begin and end by services, 2 = also by messages")?;
    ensure!((1..=2).contains(&mode), "parameter mode is {mode}; expected 1 (services) or 2 (automatic)");
    let goal_radius: f64 = ros.parameter("goal_radius", 0.2, "from here on a goal is not reached, metres")?;
    ensure!(
        goal_radius.is_finite() && goal_radius > 0.0,
        "parameter goal_radius is {goal_radius}; expected a length in metres"
    );
    let waits = ros.parameter("use_nav_goal_to_start", false, "goal_pose begins a recording")?;
    // As the public file spells it.
    let waits_too = ros.parameter("use_navgoal_to_start", false, "the same under the name of older files")?;
    let file =
        ros.text("result_file", "metrics.csv", "file of results; its ending follows from the format")?;
    let formats = match ros.text("result_format", "csv", "csv, txt (HuNavSim before 2025), or both")?.as_str()
    {
        "csv" => vec![Delimiter::Comma],
        "txt" => vec![Delimiter::Tab],
        "both" => vec![Delimiter::Comma, Delimiter::Tab],
        other => anyhow::bail!("parameter result_format is {other:?}; expected csv, txt or both"),
    };
    let mut metrics = Vec::new();
    for metric in Metric::ALL {
        if ros.parameter(&format!("metrics.{}", metric.name()), true, metric.about())? {
            metrics.push(metric);
        }
    }
    ensure!(!metrics.is_empty(), "every parameter metrics.<name> is false: there is nothing to write");
    Ok(Settings {
        tag: ros.text("experiment_tag", "exp_1", "tag of recordings that nobody names")?,
        mode: if mode == 2 { Mode::Automatic } else { Mode::Services },
        waits_for_goal: waits || waits_too,
        base: base(&file)?,
        formats,
        metrics,
        frequency,
        compat: ros.parameter("metrics.compat", true, "the public evaluator's exchanged angles")?,
        goal_radius,
    })
}

/// A file without `.csv` or `.txt`.
fn base(file: &str) -> Result<PathBuf> {
    let base = file.strip_suffix(".csv").or_else(|| file.strip_suffix(".txt")).unwrap_or(file);
    ensure!(
        !base.is_empty() && !base.ends_with('/'),
        "parameter result_file is {file:?}; expected the name of a file"
    );
    Ok(PathBuf::from(base))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_result_file_is_a_base_with_or_without_an_ending() {
        for file in ["out/m.v1", "out/m.v1.csv", "out/m.v1.txt"] {
            assert_eq!(base(file).expect("a name"), PathBuf::from("out/m.v1"));
        }
        for file in ["", ".csv", "out/"] {
            assert!(base(file).is_err_and(|error| error.to_string().contains("result_file")), "{file}");
        }
    }
}
