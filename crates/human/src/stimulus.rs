//! What people hear: the edge trigger between a hearing source and the engine (human-layer specification, section 24).
//!
//! A source tells levels as often as it likes; the engine is told of onsets only.

use std::collections::BTreeSet;

/// Pairs that may sound at once; a hostile source must not fill the memory.
const MOST_PAIRS: usize = 65_536;

/// The pairs (agent, stimulus) that sound now.
#[derive(Debug, Default)]
pub(crate) struct Hearing {
    sounding: BTreeSet<(i32, String)>,
}

impl Hearing {
    /// Takes in a level; true = this is the onset. An intensity of 0, below, or NaN is silence.
    pub(crate) fn hear(&mut self, agent: i32, stimulus: &str, intensity: f32) -> bool {
        let pair = (agent, stimulus.to_owned());
        if intensity > 0.0 {
            self.sounding.len() < MOST_PAIRS && self.sounding.insert(pair)
        } else {
            self.sounding.remove(&pair);
            false
        }
    }

    /// Nobody hears anything: the episode is over.
    pub(crate) fn clear(&mut self) {
        self.sounding.clear();
    }
}
