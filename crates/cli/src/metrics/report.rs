//! The metrics that `promenade run --report` has already computed.

use std::path::Path;

use anyhow::{Context as _, Result, bail};
use serde::Deserialize;
use serde_json::{Map, Value};

use super::MetricsArgs;

/// The format of a report.
const FORMAT: &str = "promenade-report/1";

/// A robot of a report.
pub(crate) struct Reported {
    /// Name of the file and of the robot.
    pub(crate) name: String,
    pub(crate) steps: u64,
    pub(crate) people: usize,
    pub(crate) goal: Option<[f64; 2]>,
    /// By name.
    pub(crate) values: Map<String, Value>,
}

#[derive(Deserialize)]
struct Report {
    format: String,
    pedestrians: Vec<Value>,
    robots: Vec<Robot>,
}

#[derive(Deserialize)]
struct Robot {
    name: String,
    metrics: Option<Metrics>,
}

#[derive(Deserialize)]
struct Metrics {
    steps: u64,
    goal: Option<[f64; 2]>,
    compatible: Map<String, Value>,
    corrected: Map<String, Value>,
}

/// Reads the robots of a report.
pub(super) fn read(args: &MetricsArgs, path: &Path) -> Result<Vec<Reported>> {
    let shown = path.display();
    if !args.goal.is_empty() || args.to.is_some() || args.from != 0.0 || args.goal_radius != 0.2 {
        bail!(
            "{shown} is a report, whose metrics are computed: --goal, --goal-radius, --from and --to need a bag (promenade run --record F.mcap)"
        );
    }
    let text = std::fs::read_to_string(path).with_context(|| format!("cannot read {shown}"))?;
    let report: Report =
        serde_json::from_str(&text).with_context(|| format!("{shown} is no report of promenade run"))?;
    if report.format != FORMAT {
        bail!("{shown} has the format {:?}; expected {FORMAT:?}", report.format);
    }
    let people = report.pedestrians.len();
    let mut found = Vec::new();
    for robot in report.robots.into_iter().filter(|robot| robot.name.contains(&args.robot)) {
        let metrics =
            robot.metrics.with_context(|| format!("{shown} has no metrics of {}; run again", robot.name))?;
        found.push(Reported {
            name: format!("{}:{}", super::name_of(path), robot.name),
            steps: metrics.steps,
            people,
            goal: metrics.goal,
            values: if args.corrected { metrics.corrected } else { metrics.compatible },
        });
    }
    if found.is_empty() {
        bail!("{shown}: metrics are those of a robot, and the run had none of that name");
    }
    Ok(found)
}
