//! The nearest agents and walls of a row, for the planners that look around on their own and not through perception.
//!
//! The lists live in memory of the thread, so that nothing is allocated once they have had their largest size.

use super::Scene;
use crate::walls::Segment;

/// Entries that there is room for from the start, so that a rare crowded place does not allocate.
const USUAL: usize = 64;

/// The nearest of something, sorted by distance; equal ones by number.
#[derive(Debug, Clone)]
pub(super) struct Nearest<T> {
    /// Distance, or its square, and number; and what is there.
    entries: Vec<((f64, u32), T)>,
}

impl<T> Default for Nearest<T> {
    fn default() -> Self {
        Self { entries: Vec::new() }
    }
}

impl<T> Nearest<T> {
    /// Nearest first.
    pub(super) fn iter(&self) -> impl Iterator<Item = &T> {
        self.entries.iter().map(|(_, what)| what)
    }

    fn clear(&mut self) {
        self.entries.clear();
        self.entries.reserve(USUAL);
    }

    fn insert(&mut self, key: (f64, u32), what: T, most: usize) {
        let at = self.entries.partition_point(|(earlier, _)| *earlier < key);
        if at < most {
            self.entries.truncate(most.saturating_sub(1));
            self.entries.insert(at, (key, what));
        }
    }
}

impl Nearest<usize> {
    /// Find the `most` agents nearest to a row whose centres are nearer than `reach`, seen or not.
    pub(super) fn agents(&mut self, scene: &Scene<'_>, row: usize, reach: f64, most: usize) {
        self.clear();
        let [x, y] = scene.pool.position(row);
        let mut reach2 = reach * reach;
        for run in scene.grid.runs(x, y, reach) {
            let (rows, xs, ys) = scene.grid.slots(run);
            for ((other, other_x), other_y) in rows.iter().zip(xs).zip(ys) {
                let (dx, dy) = (other_x - x, other_y - y);
                let distance2 = dx * dx + dy * dy;
                if distance2 <= reach2 && distance2 < reach * reach && *other as usize != row {
                    self.insert((distance2, *other), *other as usize, most);
                    if self.entries.len() == most {
                        reach2 = self.entries.last().map_or(reach2, |((last, _), _)| *last);
                    }
                }
            }
        }
    }
}

impl Nearest<Segment> {
    /// Find those of some walls that are nearer than `reach` to a point.
    pub(super) fn walls<'a>(&mut self, walls: impl Iterator<Item = &'a Segment>, p: [f64; 2], reach: f64) {
        self.clear();
        for (number, wall) in walls.enumerate() {
            let distance = wall.offset(p).0;
            if distance < reach {
                self.insert((distance, number as u32), *wall, usize::MAX);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::Stage;
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn they_are_those_of_a_search_of_all(
            points in proptest::collection::vec((-6.0..6.0_f64, -6.0..6.0_f64), 1..60),
            reach in 0.0..9.0,
            most in 0_usize..12,
        ) {
            let rows: Vec<[f64; 4]> = points.iter().map(|(x, y)| [*x, *y, 0.0, 0.0]).collect();
            let stage = Stage::new(&rows, &[]);
            let mut nearest = Nearest::default();
            nearest.agents(&stage.scene(), 0, reach, most);
            let distance2 = |row: usize| {
                (points[row].0 - points[0].0).powi(2) + (points[row].1 - points[0].1).powi(2)
            };
            let mut all: Vec<usize> = (1..points.len()).filter(|row| distance2(*row) < reach * reach).collect();
            all.sort_by(|a, b| distance2(*a).total_cmp(&distance2(*b)).then(a.cmp(b)));
            all.truncate(most);
            prop_assert_eq!(nearest.iter().copied().collect::<Vec<_>>(), all);
        }
    }
}
