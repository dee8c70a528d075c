//! Metrics as a table for people, as JSON, and as the evaluator's rows.

use std::fmt::Write as _;

use promenade_hunav::metrics::{Delimiter, Metric, row, title};
use serde_json::{Value, json};

use super::{MetricsArgs, Source};
use crate::run::report::values;

/// Widest column of values.
const WIDEST: usize = 24;

impl Source {
    fn name(&self) -> &str {
        match self {
            Source::Bag(found) => &found.name,
            Source::Report(reported) => &reported.name,
        }
    }

    fn steps(&self) -> u64 {
        match self {
            Source::Bag(found) => found.evaluation.stamps().len() as u64,
            Source::Report(reported) => reported.steps,
        }
    }

    fn people(&self) -> usize {
        match self {
            Source::Bag(found) => found.people,
            Source::Report(reported) => reported.people,
        }
    }

    fn goals(&self) -> Vec<[f64; 2]> {
        match self {
            Source::Bag(found) => found.goals.clone(),
            Source::Report(reported) => reported.goal.into_iter().collect(),
        }
    }

    fn value(&self, metric: Metric) -> Value {
        match self {
            Source::Bag(found) => values(&found.evaluation).get(metric.name()).cloned().unwrap_or_default(),
            Source::Report(reported) => reported.values.get(metric.name()).cloned().unwrap_or_default(),
        }
    }
}

/// One object.
pub(super) fn json(args: &MetricsArgs, source: &Source) -> Value {
    let topics = match source {
        Source::Bag(found) => found.topics.clone(),
        Source::Report(_) => Vec::new(),
    };
    let metrics: serde_json::Map<String, Value> =
        Metric::ALL.into_iter().map(|metric| (metric.name().to_owned(), source.value(metric))).collect();
    json!({
        "format": "promenade-metrics/1",
        "name": source.name(),
        "compat": !args.corrected,
        "topics": topics,
        "steps": source.steps(),
        "people": source.people(),
        "goals": source.goals(),
        "goal_radius": args.goal_radius,
        "metrics": metrics,
    })
}

/// A title and one row per source, as the evaluator of HuNavSim writes them.
pub(super) fn csv(sources: &[Source]) -> String {
    let mut text = title(Delimiter::Comma, &Metric::ALL);
    for (run, source) in sources.iter().enumerate() {
        match source {
            Source::Bag(found) => {
                let run = i32::try_from(run).unwrap_or(i32::MAX);
                text += &row(Delimiter::Comma, &Metric::ALL, &found.name, run, &found.evaluation);
            }
            Source::Report(reported) => {
                text += &reported.name;
                for metric in Metric::ALL {
                    let _ = match source.value(metric) {
                        Value::Bool(true) => write!(text, ",True"),
                        Value::Bool(false) => write!(text, ",False"),
                        Value::Null => write!(text, ","),
                        other => write!(text, ",{other}"),
                    };
                }
                let _ = writeln!(text, ",{run}");
            }
        }
    }
    text
}

/// A table with a line per metric and a column per source.
pub(super) fn table(sources: &[Source]) -> String {
    let mut columns: Vec<Vec<String>> = Vec::new();
    for source in sources {
        let mut cells =
            vec![shortened(source.name()), source.steps().to_string(), source.people().to_string()];
        cells.push(source.goals().first().map_or("-".to_owned(), |[x, y]| format!("{x:.2}, {y:.2}")));
        cells.extend(Metric::ALL.into_iter().map(|metric| shown(&source.value(metric))));
        columns.push(cells);
    }
    let mut names = ["", "steps", "people", "goal"].map(|name| (name, "")).to_vec();
    names.extend(Metric::ALL.map(|metric| (metric.name(), metric.unit())));
    let name_width = names.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    let widths: Vec<usize> = columns
        .iter()
        .map(|cells| cells.iter().map(|cell| cell.chars().count()).max().unwrap_or(0))
        .collect();
    let mut text = String::new();
    for (line, (name, unit)) in names.iter().enumerate() {
        let mut written = format!("{name:name_width$}");
        for (cells, width) in columns.iter().zip(&widths) {
            let _ = write!(written, "  {:>width$}", cells[line]);
        }
        let _ = write!(written, "  {unit}");
        text.push_str(written.trim_end());
        text.push('\n');
    }
    text
}

/// The end of a name that is too long.
fn shortened(name: &str) -> String {
    let count = name.chars().count();
    match count > WIDEST {
        true => format!("..{}", name.chars().skip(count - WIDEST + 2).collect::<String>()),
        false => name.to_owned(),
    }
}

fn shown(value: &Value) -> String {
    match value {
        Value::Bool(truth) => if *truth { "yes" } else { "no" }.to_owned(),
        Value::Null => "-".to_owned(),
        value => value.as_f64().map_or_else(|| value.to_string(), |number| format!("{number:.3}")),
    }
}
