//! Regimes: named booleans that any number of sources assert. A regime holds while at least one of them does.
//!
//! What a regime does to others is their affair.

use std::sync::Arc;

/// All regimes of a world, by index.
#[derive(Debug, Default)]
pub(super) struct Regimes {
    names: Vec<Arc<str>>,
    sources: Vec<u32>,
    held: Vec<bool>,
}

impl Regimes {
    /// The index of a name, which is added when it is new.
    pub(super) fn intern(&mut self, name: &str) -> usize {
        self.find(name).unwrap_or_else(|| {
            self.names.push(name.into());
            self.sources.push(0);
            self.held.push(false);
            self.names.len() - 1
        })
    }

    pub(super) fn find(&self, name: &str) -> Option<usize> {
        self.names.iter().position(|known| &**known == name)
    }

    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.names.iter().map(|name| &**name)
    }

    pub(super) fn holds(&self, regime: usize) -> bool {
        self.sources[regime] > 0
    }

    /// Calls `turned` for each regime that holds and did not at the last call.
    pub(super) fn turned_true(&mut self, mut turned: impl FnMut(&Arc<str>)) {
        for ((name, &sources), held) in self.names.iter().zip(&self.sources).zip(&mut self.held) {
            let holds = sources > 0;
            if holds && !*held {
                turned(name);
            }
            *held = holds;
        }
    }

    /// Nobody asserts anything. Every [`Assertion`] must be made anew.
    pub(super) fn reset(&mut self) {
        self.sources.fill(0);
        self.held.fill(false);
    }
}

/// One source's say about one regime, or about none.
#[derive(Debug, Clone)]
pub(super) struct Assertion {
    regime: Option<usize>,
    on: bool,
}

impl Assertion {
    pub(super) fn of(regime: Option<usize>) -> Self {
        Assertion { regime, on: false }
    }

    pub(super) fn set(&mut self, on: bool, regimes: &mut Regimes) {
        let Some(regime) = self.regime.filter(|_| self.on != on) else { return };
        self.on = on;
        let sources = &mut regimes.sources[regime];
        *sources = if on { *sources + 1 } else { sources.saturating_sub(1) };
    }

    /// After [`Regimes::reset`].
    pub(super) fn reset(&mut self) {
        self.on = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_regime_holds_until_its_last_source_lets_go() {
        let mut regimes = Regimes::default();
        let alarm = regimes.intern("alarm");
        assert_eq!(regimes.intern("alarm"), alarm);
        let (mut a, mut b) = (Assertion::of(Some(alarm)), Assertion::of(Some(alarm)));
        a.set(true, &mut regimes);
        a.set(true, &mut regimes);
        b.set(true, &mut regimes);
        a.set(false, &mut regimes);
        assert!(regimes.holds(alarm));
        b.set(false, &mut regimes);
        assert!(!regimes.holds(alarm));
    }

    #[test]
    fn an_edge_is_reported_once() {
        let mut regimes = Regimes::default();
        let mut source = Assertion::of(Some(regimes.intern("alarm")));
        let mut edges = 0;
        for on in [false, true, true, false, true] {
            source.set(on, &mut regimes);
            regimes.turned_true(|_| edges += 1);
        }
        assert_eq!(edges, 2);
    }
}
