//! Pressure plates: pressed while somebody's centre is on them, a regime presses them, or they are latched.

use std::sync::Arc;

use promenade_scenario::Point;

use super::regime::{Assertion, Regimes};

/// What a plate drives while it is pressed.
#[derive(Debug)]
pub(super) enum Drives {
    /// Nothing; others may read it.
    Nothing,
    /// Opens a door, locked or not.
    Door(usize),
    /// Activates a schedule.
    Schedule(usize),
    /// Calls the first phase of a signal back.
    Signal(usize),
    /// Asserts a regime.
    Regime(Assertion),
}

/// See the module. A plate has no name of its own: it goes by that of the zone, door or mechanism whose semantics hold it.
#[derive(Debug)]
pub(super) struct Plate {
    pub(super) carrier: Arc<str>,
    pub(super) level: usize,
    pub(super) centre: Point,
    pub(super) radius: f64,
    pub(super) latch: bool,
    pub(super) press_on: Option<usize>,
    pub(super) drives: Drives,
    /// Somebody is on it in this step.
    pub(super) weighed: bool,
    pub(super) latched: bool,
    pub(super) pressed: bool,
}

impl Plate {
    pub(super) fn reset(&mut self) {
        (self.weighed, self.latched, self.pressed) = (false, false, false);
        if let Drives::Regime(assertion) = &mut self.drives {
            assertion.reset();
        }
    }

    pub(super) fn step(&mut self, regimes: &mut Regimes) {
        let weighed = std::mem::take(&mut self.weighed);
        self.pressed = weighed || self.latched || self.press_on.is_some_and(|regime| regimes.holds(regime));
        self.latched |= self.latch && self.pressed;
        if let Drives::Regime(assertion) = &mut self.drives {
            assertion.set(self.pressed, regimes);
        }
    }
}
