//! Grid over the walls that lists those near a point.

use super::cells::Cells;
use super::{Segment, Toggle, WallSet, bounds};

/// Grid over the walls: each cell lists the walls within `reach` of any of its points, in order of insertion.
#[derive(Debug, Clone, Default)]
pub struct WallIndex {
    segments: Vec<Segment>,
    reach: f64,
    cells: Cells,
    /// Where the list of every cell starts, and where its part that stands ends.
    starts: Vec<u32>,
    ends: Vec<u32>,
    entries: Vec<u32>,
    /// The same lists with open gates in them; empty without gates.
    known: Vec<u32>,
    closed: Vec<bool>,
}

impl WallIndex {
    /// An index of segments that stay, for distances up to `reach`, metres.
    #[must_use]
    pub fn new(segments: &[Segment], reach: f64) -> Self {
        Self::of(segments, &vec![true; segments.len()], segments.len(), reach)
    }

    /// An index of walls and gates, for distances up to `reach`, metres.
    #[must_use]
    pub fn of_walls(walls: &WallSet, reach: f64) -> Self {
        Self::of(walls.segments(), walls.closed(), walls.fixed(), reach)
    }

    fn of(segments: &[Segment], closed: &[bool], fixed: usize, reach: f64) -> Self {
        let mut index =
            Self { segments: segments.to_vec(), closed: closed.to_vec(), reach, ..Self::default() };
        let Some((low, high)) = bounds(segments) else {
            return index;
        };
        index.cells = Cells::over(low, high, reach, (0.5 * reach).max(0.25));
        let mut cells: Vec<Vec<u32>> = vec![Vec::new(); index.cells.count()];
        for (number, segment) in segments.iter().enumerate() {
            index.cells.within(segment, reach, |cell| cells[cell].push(number as u32));
        }
        index.starts = Vec::with_capacity(cells.len() + 1);
        index.starts.push(0);
        for cell in &cells {
            index.entries.extend_from_slice(cell);
            index.starts.push(index.entries.len() as u32);
        }
        index.ends = index.starts[1..].to_vec();
        if fixed < segments.len() {
            index.known = index.entries.clone();
            (0..index.ends.len()).for_each(|cell| index.list(cell));
        }
        index
    }

    /// List in a cell what stands there.
    fn list(&mut self, cell: usize) {
        let mut end = self.starts[cell];
        for at in self.starts[cell]..self.starts[cell + 1] {
            let number = self.known[at as usize];
            if self.closed[number as usize] {
                self.entries[end as usize] = number;
                end += 1;
            }
        }
        self.ends[cell] = end;
    }

    /// Open or close a gate. Costs as much as there are walls around it.
    pub fn toggle(&mut self, gate: Toggle) {
        self.closed[gate.number] = gate.closed;
        let (mut around, segment) = (Vec::new(), self.segments[gate.number]);
        self.cells.within(&segment, self.reach, |cell| around.push(cell));
        around.into_iter().for_each(|cell| self.list(cell));
    }

    /// How far from a point walls are found, metres.
    #[must_use]
    pub fn reach(&self) -> f64 {
        self.reach
    }

    /// Whether there is no wall, nor any gate.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.segments.is_empty()
    }

    /// Walls that may lie within [`WallIndex::reach`] of `p`, and none that is nearer is missing; in order of insertion.
    #[inline]
    pub fn near(&self, p: [f64; 2]) -> impl Iterator<Item = &Segment> {
        let entries = match self.cells.at(p) {
            Some(cell) => &self.entries[self.starts[cell] as usize..self.ends[cell] as usize],
            None => &[],
        };
        entries.iter().map(|number| &self.segments[*number as usize])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn no_wall_within_reach_is_missing(
            ends in proptest::collection::vec((-30.0..30.0, -30.0..30.0, -30.0..30.0, -30.0..30.0), 1..12),
            p in (-40.0..40.0, -40.0..40.0),
            reach in 0.1..6.0,
        ) {
            let segments: Vec<Segment> =
                ends.iter().map(|(a, b, c, d)| Segment::between([*a, *b], [*c, *d])).collect();
            let index = WallIndex::new(&segments, reach);
            let p = [p.0, p.1];
            let found: Vec<Segment> = index.near(p).filter(|s| s.offset(p).0 <= reach).copied().collect();
            let all: Vec<Segment> = segments.into_iter().filter(|s| s.offset(p).0 <= reach).collect();
            prop_assert_eq!(found, all);
        }

        #[test]
        fn an_index_whose_gates_moved_is_one_built_with_them_where_they_are(
            ends in proptest::collection::vec((-9.0..9.0, -9.0..9.0, -9.0..9.0, -9.0..9.0), 1..9),
            toggles in proptest::collection::vec((0..9_usize, any::<bool>()), 0..20),
            p in (-10.0..10.0, -10.0..10.0),
        ) {
            let segments: Vec<Segment> =
                ends.iter().map(|(a, b, c, d)| Segment::between([*a, *b], [*c, *d])).collect();
            let mut closed = vec![true; segments.len()];
            let mut index = WallIndex::of(&segments, &closed, segments.len() / 2, 1.5);
            for (number, is_closed) in toggles {
                let gates = segments.len() - segments.len() / 2;
                let number = segments.len() / 2 + number % gates;
                closed[number] = is_closed;
                index.toggle(Toggle { number, closed: is_closed });
            }
            let anew = WallIndex::of(&segments, &closed, segments.len() / 2, 1.5);
            let near = |index: &WallIndex| index.near([p.0, p.1]).copied().collect::<Vec<_>>();
            prop_assert_eq!(near(&index), near(&anew));
            prop_assert!(near(&index).iter().all(|s| segments.iter().zip(&closed).any(|(o, c)| *c && o == s)));
        }
    }
}
