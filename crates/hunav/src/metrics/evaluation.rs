//! The metrics of an episode.

use super::Metric;
use crate::Point;

/// The value of a metric.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value {
    /// A finite number in the metric's unit.
    Number(f64),
    /// Of [`Metric::Completed`].
    Truth(bool),
}

/// The metrics of an episode, and their numbers per step.
#[derive(Clone, Debug)]
pub struct Evaluation {
    pub(super) values: [Option<Value>; Metric::COUNT],
    pub(super) series: [Vec<f64>; Metric::COUNT],
    pub(super) stamps: Vec<f64>,
    pub(super) positions: Vec<Point>,
    pub(super) skipped_frames: usize,
    pub(super) skipped_agents: usize,
}

impl Evaluation {
    /// The value of a metric; none where it is not defined, such as distances without people or a goal.
    #[must_use]
    pub fn value(&self, metric: Metric) -> Option<Value> {
        self.values[metric as usize]
    }

    /// As [`value`](Self::value), as a number: 1 for true.
    #[must_use]
    pub fn number(&self, metric: Metric) -> Option<f64> {
        self.value(metric).map(|value| match value {
            Value::Number(number) => number,
            Value::Truth(truth) => f64::from(u8::from(truth)),
        })
    }

    /// One number per step, not a number where it is not defined; empty for metrics that have none.
    #[must_use]
    pub fn series(&self, metric: Metric) -> &[f64] {
        &self.series[metric as usize]
    }

    /// Seconds from the first step, per step.
    #[must_use]
    pub fn stamps(&self) -> &[f64] {
        &self.stamps
    }

    /// Where the robot was, per step.
    #[must_use]
    pub fn positions(&self) -> &[Point] {
        &self.positions
    }

    /// Frames that were left out, since the place of the robot was no finite number.
    #[must_use]
    pub fn skipped_frames(&self) -> usize {
        self.skipped_frames
    }

    /// People of frames who were left out for the same reason.
    #[must_use]
    pub fn skipped_agents(&self) -> usize {
        self.skipped_agents
    }
}
