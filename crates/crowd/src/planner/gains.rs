//! How much stronger and further some classes of neighbours push than others (crowd-engine specification, section 20.1).
//!
//! Most agents share the built-in factors. Those with factors of their own refer to a set in one table, so that a row is one number.

use serde::{Deserialize, Serialize};

use crate::pool::ClassIndex;
use crate::spawn::{Classes, class};

/// Factors on the push of one class on another, by name; what an agent's `kind_gains` say.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct KindGain {
    /// Class of the agent.
    pub observer: String,
    /// Class of whom it keeps away from.
    pub neighbour: String,
    /// Factor on the strength.
    pub strength: f64,
    /// Factor on the range.
    pub range: f64,
}

/// How much stronger and further the push of a class of neighbours is, by the class of the observer.
#[derive(Debug, Clone, PartialEq)]
pub struct Gains {
    /// Observer, neighbour, strength, range.
    pairs: Vec<(ClassIndex, ClassIndex, f64, f64)>,
    /// Whether a class has factors on its own kind.
    within_classes: bool,
}

impl Default for Gains {
    fn default() -> Self {
        Self {
            pairs: vec![
                (class::HUMAN, class::ROBOT, 1.5, 1.3),
                (class::HUMAN, class::WHEELCHAIR, 1.3, 1.4),
                (class::WHEELCHAIR, class::ROBOT, 1.5, 1.3),
            ],
            within_classes: false,
        }
    }
}

impl Gains {
    /// Factors on strength and range.
    #[must_use]
    pub fn of(&self, observer: ClassIndex, neighbour: ClassIndex) -> (f64, f64) {
        let pair = self.pairs.iter().find(|(o, n, ..)| (*o, *n) == (observer, neighbour));
        pair.map_or((1.0, 1.0), |(_, _, strength, range)| (*strength, *range))
    }

    /// Whether factors other than 1 are possible between these two.
    #[inline(always)]
    #[must_use]
    pub fn concern(&self, observer: ClassIndex, neighbour: ClassIndex) -> bool {
        observer != neighbour || self.within_classes
    }

    fn set(&mut self, observer: ClassIndex, neighbour: ClassIndex, strength: f64, range: f64) {
        self.pairs.retain(|(o, n, ..)| (*o, *n) != (observer, neighbour));
        self.pairs.push((observer, neighbour, strength, range));
        self.within_classes |= observer == neighbour;
    }
}

/// All sets of factors that agents have; the first is the built-in one.
#[derive(Debug, Clone, PartialEq)]
pub struct GainTable(Vec<Gains>);

impl Default for GainTable {
    fn default() -> Self {
        Self(vec![Gains::default()])
    }
}

/// Number of a set in a [`GainTable`].
pub type GainIndex = u16;

impl GainTable {
    /// A set.
    #[inline(always)]
    #[must_use]
    pub fn get(&self, index: GainIndex) -> &Gains {
        &self.0[index as usize]
    }

    /// The set of an agent with these factors over the built-in ones; unknown classes are registered. Beyond 65 535 different sets
    /// everybody has the built-in one.
    pub(crate) fn index(&mut self, own: &[KindGain], classes: &mut Classes) -> GainIndex {
        if own.is_empty() {
            return 0;
        }
        let mut gains = Gains::default();
        for gain in own {
            let (observer, neighbour) = (classes.index(&gain.observer), classes.index(&gain.neighbour));
            gains.set(observer, neighbour, gain.strength, gain.range);
        }
        let at = self.0.iter().position(|known| *known == gains).unwrap_or(self.0.len());
        match GainIndex::try_from(at) {
            Ok(index) => {
                if at == self.0.len() {
                    self.0.push(gains);
                }
                index
            }
            Err(_) => 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gain(observer: &str, neighbour: &str, strength: f64, range: f64) -> KindGain {
        KindGain { observer: observer.to_owned(), neighbour: neighbour.to_owned(), strength, range }
    }

    #[test]
    fn class_gains_grow_lazily_over_the_built_in_ones() {
        let (mut table, mut classes) = (GainTable::default(), Classes::default());
        let own = [gain("human", "human", 2.0, 1.0), gain("human", "pram", 1.0, 1.5)];
        let index = table.index(&own, &mut classes);
        assert_eq!((index, &classes.names()[3..]), (1, &["pram".to_owned()][..]));
        let gains = table.get(index);
        assert_eq!(gains.of(class::HUMAN, class::HUMAN), (2.0, 1.0));
        assert_eq!(gains.of(class::HUMAN, 3), (1.0, 1.5));
        assert_eq!(gains.of(class::HUMAN, class::ROBOT), (1.5, 1.3));
        assert!(gains.concern(class::HUMAN, class::HUMAN));
        assert!(!table.get(0).concern(class::HUMAN, class::HUMAN));
    }

    #[test]
    fn the_same_factors_share_a_set() {
        let (mut table, mut classes) = (GainTable::default(), Classes::default());
        assert_eq!(table.index(&[], &mut classes), 0);
        let once = table.index(&[gain("human", "dog", 2.0, 1.0)], &mut classes);
        let again = table.index(&[gain("human", "dog", 2.0, 1.0)], &mut classes);
        let other = table.index(&[gain("human", "dog", 3.0, 1.0)], &mut classes);
        assert_eq!((once, again, other, table.0.len()), (1, 1, 2, 3));
    }
}
