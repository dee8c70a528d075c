//! Grid over the walls that finds those a line meets or comes near.

use super::cells::Cells;
use super::{Segment, Toggle, WallSet, bounds};

/// Edge of a cell, metres; larger worlds get larger cells.
const CELL: f64 = 1.0;

/// Each cell lists the walls that pass through it, open gates among them.
#[derive(Debug, Clone, Default)]
pub struct LineIndex {
    segments: Vec<Segment>,
    closed: Vec<bool>,
    cells: Cells,
    starts: Vec<u32>,
    entries: Vec<u32>,
}

impl LineIndex {
    /// An index of segments, of which those count that are closed.
    #[must_use]
    pub fn new(segments: &[Segment], closed: &[bool]) -> Self {
        let mut index = Self { segments: segments.to_vec(), closed: closed.to_vec(), ..Self::default() };
        let Some((low, high)) = bounds(segments) else {
            return index;
        };
        index.cells = Cells::over(low, high, 0.5 * CELL, CELL);
        let mut counts = vec![0_u32; index.cells.count() + 1];
        for segment in segments {
            index.cells.within(segment, 0.0, |cell| counts[cell] += 1);
        }
        let mut end = 0;
        for count in &mut counts {
            end += *count;
            *count = end;
        }
        index.entries = vec![0; end as usize];
        for (number, segment) in segments.iter().enumerate().rev() {
            index.cells.within(segment, 0.0, |cell| {
                counts[cell] -= 1;
                index.entries[counts[cell] as usize] = number as u32;
            });
        }
        index.starts = counts;
        index
    }

    /// An index of walls and gates.
    #[must_use]
    pub fn of_walls(walls: &WallSet) -> Self {
        Self::new(walls.segments(), walls.closed())
    }

    /// Open or close a gate.
    pub fn toggle(&mut self, gate: Toggle) {
        self.closed[gate.number] = gate.closed;
    }

    /// The segments, open gates too.
    #[must_use]
    pub fn segments(&self) -> &[Segment] {
        &self.segments
    }

    /// Whether any standing wall that may come within `reach` of a line holds; a wall may be asked about more than once.
    #[inline]
    fn any(&self, line: &Segment, reach: f64, mut holds: impl FnMut(usize, &Segment) -> bool) -> bool {
        self.cells.visit(line, reach, |cell| {
            let entries = &self.entries[self.starts[cell] as usize..self.starts[cell + 1] as usize];
            entries.iter().any(|number| {
                let number = *number as usize;
                self.closed[number] && holds(number, &self.segments[number])
            })
        })
    }

    /// Whether the line from `a` to `b`, without `b`, meets a wall; walls along it do not count.
    #[must_use]
    pub fn blocks(&self, a: [f64; 2], b: [f64; 2]) -> bool {
        let line = Segment::between(a, b);
        self.any(&line, 0.0, |_, wall| {
            let meets = |[t, u]: [f64; 2]| (0.0..1.0).contains(&t) && (0.0..=1.0).contains(&u);
            line.crossing(wall).is_some_and(meets)
        })
    }

    /// Whether the line from `a` to `b` keeps at least `clearance` from all walls, metres.
    #[must_use]
    pub fn clear(&self, a: [f64; 2], b: [f64; 2], clearance: f64) -> bool {
        let line = Segment::between(a, b);
        !self.any(&line, clearance, |_, wall| line.distance(wall) < clearance)
    }

    /// The wall nearest to the line from `a` to `b` among those nearer than `reach`, and its distance; the first of equal ones.
    #[must_use]
    pub fn nearest(&self, a: [f64; 2], b: [f64; 2], reach: f64) -> Option<(usize, f64)> {
        let line = Segment::between(a, b);
        let mut best: Option<(usize, f64)> = None;
        self.any(&line, reach, |number, wall| {
            let distance = line.distance(wall);
            let (least, first) = best.map_or((reach, usize::MAX), |(n, d)| (d, n));
            if distance < least || (distance == least && number < first && best.is_some()) {
                best = Some((number, distance));
            }
            false
        });
        best
    }

    /// Visit walls, open gates too, that may lie within `reach` of a line; some more than once.
    pub(crate) fn near(&self, line: &Segment, reach: f64, mut each: impl FnMut(usize, &Segment)) {
        self.cells.within(line, reach, |cell| {
            let entries = &self.entries[self.starts[cell] as usize..self.starts[cell + 1] as usize];
            entries.iter().for_each(|number| each(*number as usize, &self.segments[*number as usize]));
        });
    }

    /// Whether there are fewer than `most` pairs of segments that cross, as counted in every cell that both pass through.
    pub(crate) fn crossings_below(&self, most: usize) -> bool {
        let mut count = 0;
        !self.segments.iter().enumerate().any(|(number, segment)| {
            self.cells.visit(segment, 0.0, |cell| {
                let entries = &self.entries[self.starts[cell] as usize..self.starts[cell + 1] as usize];
                let later = entries.iter().filter(|other| **other as usize > number);
                count += later.filter(|other| segment.crosses(&self.segments[**other as usize])).count();
                count >= most
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn segments(ends: &[(f64, f64, f64, f64)]) -> Vec<Segment> {
        ends.iter().map(|(a, b, c, d)| Segment::between([*a, *b], [*c, *d])).collect()
    }

    #[test]
    fn sight_ends_before_the_end_and_ignores_walls_along_it() {
        let index = LineIndex::new(&[Segment::between([1.0, -1.0], [1.0, 1.0])], &[true]);
        assert!(index.blocks([0.0, 0.0], [2.0, 0.0]));
        assert!(!index.blocks([0.0, 0.0], [1.0, 0.0]), "the end point is not part of it");
        assert!(!index.blocks([1.0, -3.0], [1.0, 3.0]));
    }

    proptest! {
        #[test]
        fn no_wall_along_a_line_is_missed(
            ends in proptest::collection::vec((-30.0..30.0, -30.0..30.0, -30.0..30.0, -30.0..30.0), 1..12),
            closed in proptest::collection::vec(any::<bool>(), 12),
            (a, b) in ((-40.0..40.0, -40.0..40.0), (-40.0..40.0, -40.0..40.0)),
            reach in 0.0..3.0_f64,
        ) {
            let segments = segments(&ends);
            let (a, b) = ([a.0, a.1], [b.0, b.1]);
            let index = LineIndex::new(&segments, &closed[..segments.len()]);
            let line = Segment::between(a, b);
            let standing = || segments.iter().zip(&closed).filter(|(_, closed)| **closed).map(|(s, _)| s);
            let least = standing().map(|s| line.distance(s)).fold(f64::INFINITY, f64::min);
            prop_assert_eq!(index.blocks(a, b), standing().any(|s| line.crosses(s)));
            prop_assert_eq!(index.clear(a, b, reach), least >= reach);
            prop_assert_eq!(index.nearest(a, b, reach).map(|(_, d)| d), (least < reach).then_some(least));
        }
    }
}
