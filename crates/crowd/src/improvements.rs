//! What this engine does better than the one it is compatible with (crowd-engine specification, section 29), each to be switched off.

use serde::{Deserialize, Serialize};

/// Which improvements are on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Improvements {
    /// Whoever is held back by others leans a little to its right, so that two who meet on one line pass each other.
    pub symmetry_breaking: bool,
    /// Who stands makes way for those who want to pass, and goes back to its place afterwards.
    pub step_aside: bool,
    /// People are hidden behind people, beyond the distance at which one notices others from anywhere.
    pub body_occlusion: bool,
    /// Who has lost sight of the next point of its path behind a corner gets a new path.
    pub corner_traps: bool,
    /// Stiff contacts of `helbing` are integrated implicitly, so that they stay stable at any time step.
    pub stable_contacts: bool,
}

impl Improvements {
    /// All of them.
    pub const ALL: Self = Self {
        symmetry_breaking: true,
        step_aside: true,
        body_occlusion: true,
        corner_traps: true,
        stable_contacts: true,
    };

    /// None: people do what they do in the engine that recorded runs come from.
    pub const NONE: Self = Self {
        symmetry_breaking: false,
        step_aside: false,
        body_occlusion: false,
        corner_traps: false,
        stable_contacts: false,
    };

    /// The names, in the order of [`Improvements::get_mut`].
    pub const NAMES: [&str; 5] =
        ["symmetry_breaking", "step_aside", "body_occlusion", "corner_traps", "stable_contacts"];

    /// The switch of a name.
    pub fn get_mut(&mut self, name: &str) -> Option<&mut bool> {
        match name {
            "symmetry_breaking" => Some(&mut self.symmetry_breaking),
            "step_aside" => Some(&mut self.step_aside),
            "body_occlusion" => Some(&mut self.body_occlusion),
            "corner_traps" => Some(&mut self.corner_traps),
            "stable_contacts" => Some(&mut self.stable_contacts),
            _ => None,
        }
    }
}

impl Default for Improvements {
    fn default() -> Self {
        Self::ALL
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_improvement_has_a_switch() {
        let mut none = Improvements::ALL;
        for name in Improvements::NAMES {
            *none.get_mut(name).expect("a switch") = false;
        }
        assert_eq!(none, Improvements::NONE);
        assert_eq!(none.get_mut("magic"), None);
    }
}
