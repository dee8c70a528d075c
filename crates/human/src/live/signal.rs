//! Signals: phases one after the other, for ever, of which some mean stop.

use std::sync::Arc;

use super::regime::{Assertion, Regimes};

/// One phase; its duration in nanoseconds is at least 1.
#[derive(Debug)]
pub(super) struct SignalPhase {
    pub(super) name: Arc<str>,
    pub(super) duration: u64,
    pub(super) stop: bool,
}

/// See the module.
#[derive(Debug)]
pub(super) struct Signal {
    pub(super) name: Arc<str>,
    phases: Vec<SignalPhase>,
    cycle: u128,
    assertion: Assertion,
    recall_on: Option<usize>,
    /// A plate calls the first phase back; written anew in each step.
    pub(super) driven: bool,
    /// Nanoseconds since the first phase began.
    into: u128,
    current: usize,
}

impl Signal {
    pub(super) fn new(
        name: &str,
        phases: Vec<SignalPhase>,
        regime: Option<usize>,
        recall_on: Option<usize>,
    ) -> Self {
        Signal {
            name: name.into(),
            cycle: phases.iter().map(|phase| u128::from(phase.duration)).sum(),
            phases,
            assertion: Assertion::of(regime),
            recall_on,
            driven: false,
            into: 0,
            current: 0,
        }
    }

    pub(super) fn reset(&mut self) {
        self.assertion.reset();
        (self.driven, self.into, self.current) = (false, 0, 0);
    }

    /// The current phase; `None` when there are none.
    pub(super) fn phase(&self) -> Option<&SignalPhase> {
        self.phases.get(self.current)
    }

    pub(super) fn phase_named(&self, name: &str) -> Option<usize> {
        self.phases.iter().position(|phase| &*phase.name == name)
    }

    pub(super) fn phase_names(&self) -> impl Iterator<Item = &str> {
        self.phases.iter().map(|phase| &*phase.name)
    }

    /// Goes to the beginning of a phase.
    pub(super) fn jump(&mut self, phase: usize) {
        self.into = self.phases[..phase].iter().map(|p| u128::from(p.duration)).sum();
        self.current = phase;
    }

    /// Lets time pass.
    pub(super) fn advance(&mut self, dt: u64) {
        if self.cycle > 0 {
            self.into = (self.into + u128::from(dt)) % self.cycle;
        }
    }

    /// Finds the phase of this step. A regime or a plate that recalls holds the beginning of the first one.
    pub(super) fn step(&mut self, regimes: &mut Regimes) {
        if self.phases.is_empty() {
            return;
        }
        if self.driven || self.recall_on.is_some_and(|regime| regimes.holds(regime)) {
            self.into = 0;
        }
        let mut end = 0;
        let running = self.phases.iter().position(|phase| {
            end += u128::from(phase.duration);
            self.into < end
        });
        self.current = running.unwrap_or(0);
        self.assertion.set(self.phases[self.current].stop, regimes);
    }
}
