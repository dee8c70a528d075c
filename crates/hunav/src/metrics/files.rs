//! The evaluator's result files as text: one row per run, and one file of steps per run.
//!
//! With commas as HuNavSim 2 writes them, with tabs as its predecessors do. What is not defined is an empty cell.

use std::fmt::Write as _;

use super::{Evaluation, Metric, Value};

/// What parts the cells of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Delimiter {
    /// `.csv`, with the run in the last column.
    Comma,
    /// `.txt`, without the run.
    Tab,
}

impl Delimiter {
    fn sign(self) -> char {
        match self {
            Delimiter::Comma => ',',
            Delimiter::Tab => '\t',
        }
    }

    /// A text as one cell.
    fn cell(self, text: &str) -> String {
        match self {
            Delimiter::Comma if text.contains([',', '"', '\n', '\r']) => {
                format!("\"{}\"", text.replace('"', "\"\""))
            }
            Delimiter::Comma => text.to_owned(),
            Delimiter::Tab => text.replace(['\t', '\n', '\r'], " "),
        }
    }
}

/// The line above the rows, with its end.
#[must_use]
pub fn title(delimiter: Delimiter, metrics: &[Metric]) -> String {
    let mut line = "experiment_tag".to_owned();
    for metric in metrics {
        line.push(delimiter.sign());
        line.push_str(metric.name());
    }
    if delimiter == Delimiter::Comma {
        line.push_str(",run_id");
    }
    line + "\n"
}

/// The row of a run, with its end.
#[must_use]
pub fn row(delimiter: Delimiter, metrics: &[Metric], tag: &str, run: i32, evaluation: &Evaluation) -> String {
    let mut line = delimiter.cell(tag);
    for metric in metrics {
        line.push(delimiter.sign());
        // Truths are spelt as the original's readers know them.
        let _ = match evaluation.value(*metric) {
            Some(Value::Number(number)) => write!(line, "{number}"),
            Some(Value::Truth(true)) => write!(line, "True"),
            Some(Value::Truth(false)) => write!(line, "False"),
            None => Ok(()),
        };
    }
    if delimiter == Delimiter::Comma {
        let _ = write!(line, ",{run}");
    }
    line + "\n"
}

/// The steps of a run: a title and a line per step, with the time in seconds in front.
#[must_use]
pub fn steps(delimiter: Delimiter, metrics: &[Metric], evaluation: &Evaluation) -> String {
    let columns: Vec<Metric> = metrics.iter().copied().filter(|metric| metric.is_per_step()).collect();
    let mut text = "time_stamps".to_owned();
    for metric in &columns {
        text.push(delimiter.sign());
        text.push_str(metric.name());
    }
    text.push('\n');
    for (step, stamp) in evaluation.stamps().iter().enumerate() {
        let _ = write!(text, "{stamp}");
        for metric in &columns {
            text.push(delimiter.sign());
            if let Some(value) = evaluation.series(*metric).get(step).filter(|value| value.is_finite()) {
                let _ = write!(text, "{value}");
            }
        }
        text.push('\n');
    }
    text
}

/// A tag as a part of a file's name: whatever is no letter, digit, `-`, `_` or inner `.` becomes `_`, and it is at most 100 signs long.
#[must_use]
pub fn file_word(tag: &str) -> String {
    let word: String = tag
        .chars()
        .take(100)
        .map(|sign| if sign.is_alphanumeric() || matches!(sign, '-' | '_' | '.') { sign } else { '_' })
        .collect();
    word.trim_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::super::{Accumulator, Body, Frame, Settings};
    use super::*;

    const METRICS: [Metric; 4] =
        [Metric::PathLength, Metric::Completed, Metric::AvgRobotLinearSpeed, Metric::MinimumDistanceToPeople];

    fn evaluation() -> Evaluation {
        let mut metrics = Accumulator::new(Settings { goals: vec![[0.5, 0.0]], ..Settings::default() });
        for (stamp_ns, x) in [(1_000_000_000, 0.0), (1_500_000_000, 0.5)] {
            let robot = Body { position: [x, 0.0], linear_vel: 2.0 * x, ..Body::default() };
            metrics.push(&Frame { stamp_ns, robot, agents: Vec::new() });
        }
        metrics.finish()
    }

    #[test]
    fn a_run_is_a_row_and_its_steps_a_table() {
        let evaluation = evaluation();
        let text =
            title(Delimiter::Comma, &METRICS) + &row(Delimiter::Comma, &METRICS, "a,\"b", 7, &evaluation);
        assert_eq!(
            text,
            "experiment_tag,path_length,completed,avg_robot_linear_speed,minimum_distance_to_people,run_id\n\
             \"a,\"\"b\",0.5,True,0.5,,7\n"
        );
        assert_eq!(row(Delimiter::Tab, &METRICS, "a\tb", 7, &evaluation), "a b\t0.5\tTrue\t0.5\t\n");
        assert_eq!(
            steps(Delimiter::Comma, &METRICS, &evaluation),
            "time_stamps,avg_robot_linear_speed\n0,0\n0.5,1\n"
        );
    }

    #[test]
    fn a_tag_never_leads_out_of_the_folder() {
        assert_eq!(file_word("../../etc/x y"), "_.._etc_x_y");
        assert_eq!(file_word("exp_1.b-ü"), "exp_1.b-ü");
        assert_eq!(file_word(".."), "");
        assert_eq!(file_word(&"x".repeat(5000)).len(), 100);
    }
}
