//! Timelines: what is set when (world-file format, section 3).

use super::LiveWorld;
use super::fields::{Condition, Setting};

/// One entry. Times are nanoseconds of the episode.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) due: Due,
    pub(super) set: Vec<Setting>,
}

/// When an entry is due.
#[derive(Debug)]
pub(super) enum Due {
    /// Once.
    At { at: u64, done: bool },
    /// At `offset` and each `period` later, up to and including `until`. Times that one step leaps over count once.
    Every { period: u64, offset: u64, until: Option<u64>, next: u64 },
    /// Each time that the condition turns true; at the start it counts as what it is then, with nobody there.
    When { condition: Condition, was: bool },
}

/// Entries in file order.
#[derive(Debug, Default)]
pub(super) struct Timeline {
    pub(super) entries: Vec<Entry>,
}

impl Timeline {
    pub(super) fn reset(&mut self, live: &LiveWorld) {
        for entry in &mut self.entries {
            match &mut entry.due {
                Due::At { done, .. } => *done = false,
                Due::Every { offset, next, .. } => *next = *offset,
                Due::When { condition, was } => *was = condition.holds(live),
            }
        }
    }

    /// `at` and `every`.
    pub(super) fn step_timed(&mut self, live: &mut LiveWorld) {
        let elapsed = live.elapsed;
        for entry in &mut self.entries {
            let is_due = match &mut entry.due {
                Due::At { at, done } => {
                    let is_due = elapsed >= *at && !*done;
                    *done |= is_due;
                    is_due
                }
                Due::Every { period, offset, until, next } => {
                    let is_due = elapsed >= *next && until.is_none_or(|until| *next <= until);
                    if is_due {
                        let fired = (elapsed - *offset) / *period;
                        *next = (fired + 1).saturating_mul(*period).saturating_add(*offset);
                    }
                    is_due
                }
                Due::When { .. } => false,
            };
            if is_due {
                live.apply_all(&entry.set);
            }
        }
    }

    /// `when`.
    pub(super) fn step_conditions(&mut self, live: &mut LiveWorld) {
        for entry in &mut self.entries {
            let Due::When { condition, was } = &mut entry.due else { continue };
            let holds = condition.holds(live);
            let held = std::mem::replace(was, holds);
            if holds && !held {
                live.apply_all(&entry.set);
            }
        }
    }
}
