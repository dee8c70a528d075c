//! Stimuli: what happens around an agent and reaches it after its reaction time (crowd-engine specification, section 7).
//!
//! A due stimulus waits in a list for what will act on it, needs and events of behaviour; see [`Engine::due_stimuli`].

use std::collections::BTreeMap;

use super::Engine;
use super::error::{EngineError, refuse};
use crate::error::CrowdError;

/// Most stimuli that may be under way.
const MOST_PENDING: usize = 1_000_000;
/// Most due stimuli that are kept while nobody takes them; the oldest go first.
const MOST_DUE: usize = 10_000;

/// A stimulus that has reached an agent.
#[derive(Debug, Clone, PartialEq)]
pub struct Stimulus {
    /// Whom.
    pub agent_id: i32,
    /// Name of the need and of the event.
    pub stimulus: String,
    /// How much, from 0 to 1; the need becomes 100 times that.
    pub intensity: f64,
}

/// Stimuli under way, by the tick they are due, and those that have come.
#[derive(Debug, Default)]
pub(crate) struct Stimuli {
    pending: BTreeMap<u64, Vec<Stimulus>>,
    count: usize,
    due: Vec<Stimulus>,
}

impl Stimuli {
    pub(crate) fn clear(&mut self) {
        *self = Self::default();
    }

    /// Forget what is under way to an agent.
    pub(crate) fn forget(&mut self, id: i32) {
        if self.count == 0 && self.due.is_empty() {
            return;
        }
        let mut left = 0;
        self.pending.retain(|_, stimuli| {
            stimuli.retain(|stimulus| stimulus.agent_id != id);
            left += stimuli.len();
            !stimuli.is_empty()
        });
        self.count = left;
        self.due.retain(|stimulus| stimulus.agent_id != id);
    }

    /// Move on what is due.
    pub(crate) fn arrive(&mut self, tick: u64) {
        while let Some(entry) = self.pending.first_entry().filter(|entry| *entry.key() <= tick) {
            let mut stimuli = entry.remove();
            self.count -= stimuli.len();
            self.due.append(&mut stimuli);
        }
        let surplus = self.due.len().saturating_sub(MOST_DUE);
        self.due.drain(..surplus);
    }
}

impl Engine {
    /// Let something happen to an agent, or to everybody with -1. It acts when the reaction time of the agent has passed.
    ///
    /// # Errors
    /// Nobody of that id, an intensity that is no number, or far too many stimuli under way.
    pub fn notify_stimulus(
        &mut self,
        agent_id: i32,
        stimulus: &str,
        intensity: f32,
    ) -> Result<(), EngineError> {
        let intensity = f64::from(intensity);
        if !intensity.is_finite() {
            return refuse(format!("intensity of {stimulus:?}"), "a number from 0 to 1", intensity);
        }
        let pool = self.crowd.pool();
        let ids: Vec<i32> = match agent_id {
            -1 => (0..pool.len()).filter(|row| self.people.published[*row]).map(|row| pool.id[row]).collect(),
            id if pool.row_of(id).is_some() => vec![id],
            id => return Err(CrowdError::NoAgent(id).into()),
        };
        if self.stimuli.count + ids.len() > MOST_PENDING {
            return Err(EngineError::TooMany {
                what: "stimuli under way",
                found: self.stimuli.count + ids.len(),
                most: MOST_PENDING,
            });
        }
        self.stimuli.count += ids.len();
        for id in ids {
            let reaction = self.crowd.parameters(id).map_or(0.0, |parameters| parameters.reaction_time);
            let delay = (reaction / self.crowd.settings().dt).round_ties_even().clamp(0.0, 1e9) as u64;
            let intensity = intensity.clamp(0.0, 1.0);
            let stimulus = Stimulus { agent_id: id, stimulus: stimulus.to_owned(), intensity };
            self.stimuli.pending.entry(self.ticks() + delay).or_default().push(stimulus);
        }
        Ok(())
    }

    /// Take the stimuli that have reached somebody, oldest first. At most the newest 10 000 are kept.
    pub fn due_stimuli(&mut self) -> std::vec::Drain<'_, Stimulus> {
        self.stimuli.due.drain(..)
    }
}
