//! Schedules: active in time windows of the episode, or because a timeline or a plate says so.

use std::sync::Arc;

use super::fields::{FieldValue, Stored};
use super::regime::{Assertion, Regimes};

/// Times are nanoseconds of the episode.
#[derive(Debug)]
pub(super) struct Schedule {
    pub(super) name: Arc<str>,
    windows: Vec<Window>,
    default: Option<Stored>,
    assertion: Assertion,
    /// What a timeline said; it overrules the windows.
    pub(super) forced: Option<bool>,
    /// A plate activates it; written anew in each step.
    pub(super) driven: bool,
    current: Option<usize>,
    active: bool,
}

/// From `start` up to, but not including, `end`.
#[derive(Debug)]
pub(super) struct Window {
    pub(super) start: u64,
    pub(super) end: u64,
    pub(super) value: Option<Stored>,
}

impl Schedule {
    pub(super) fn new(
        name: &str,
        windows: Vec<Window>,
        default: Option<Stored>,
        regime: Option<usize>,
    ) -> Self {
        Schedule {
            name: name.into(),
            windows,
            default,
            assertion: Assertion::of(regime),
            forced: None,
            driven: false,
            current: None,
            active: false,
        }
    }

    pub(super) fn reset(&mut self) {
        self.assertion.reset();
        (self.forced, self.driven, self.current, self.active) = (None, false, None, false);
    }

    /// The value of the window that `elapsed` lies in (the first in the file), else the default.
    pub(super) fn value(&self) -> FieldValue<'_> {
        let (written, fallback) = match self.current {
            Some(window) => (self.windows[window].value.as_ref(), true),
            None => (self.default.as_ref(), false),
        };
        written.map_or(FieldValue::Bool(fallback), Stored::view)
    }

    pub(super) fn is_active(&self) -> bool {
        self.active
    }

    /// Active while the current value is `true`; a value that is no boolean makes it active inside its window.
    pub(super) fn step(&mut self, elapsed: u64, regimes: &mut Regimes) {
        self.current = self.windows.iter().position(|w| (w.start..w.end).contains(&elapsed));
        let by_window = match self.value() {
            FieldValue::Bool(value) => value,
            _ => self.current.is_some(),
        };
        self.active = self.forced.unwrap_or(by_window) || self.driven;
        self.assertion.set(self.active, regimes);
    }
}
