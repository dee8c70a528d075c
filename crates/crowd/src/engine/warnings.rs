//! Things a node should log, each of them once.

use std::collections::BTreeSet;

use super::Engine;

/// Most different warnings; later ones are not said.
const MOST: usize = 1000;

/// Warnings not yet taken, and all that were said.
#[derive(Debug, Default)]
pub(crate) struct Warnings {
    waiting: Vec<String>,
    said: BTreeSet<String>,
}

impl Warnings {
    pub(crate) fn say(&mut self, warning: String) {
        if self.said.len() < MOST && self.said.insert(warning.clone()) {
            self.waiting.push(warning);
        }
    }
}

impl Engine {
    /// Take the warnings since the last call. None is said twice, and none after the first thousand.
    pub fn warnings(&mut self) -> std::vec::Drain<'_, String> {
        self.warnings.waiting.drain(..)
    }
}
