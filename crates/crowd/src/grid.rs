//! Uniform grid over the agents, rebuilt by counting sort.
//!
//! Agents of a cell, and the cells of a row of cells, lie side by side, so that everybody near a point is found in a few contiguous runs.

use std::ops::Range;

/// Rows of the pool sorted by cell; within a cell by row.
#[derive(Debug, Clone, Default)]
pub struct Grid {
    inverse_cell: f64,
    origin: [f64; 2],
    columns: usize,
    lines: usize,
    /// First slot of every cell, and the number of agents.
    starts: Vec<u32>,
    /// Cell of every row, while sorting.
    cells: Vec<u32>,
    /// Row in every slot.
    rows: Vec<u32>,
    /// Position in every slot.
    x: Vec<f64>,
    y: Vec<f64>,
}

/// Cells per agent at most; a crowd spread wider gets larger cells.
const CELLS_PER_AGENT: f64 = 8.0;

impl Grid {
    /// Sort all agents into cells with edges of at least `cell` metres. Allocates only when there are more agents than ever before.
    pub fn rebuild(&mut self, x: &[f64], y: &[f64], cell: f64) {
        let range = |values: &[f64]| {
            values
                .iter()
                .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| (low.min(*v), high.max(*v)))
        };
        let ((left, right), (bottom, top)) = (range(x), range(y));
        let (width, height) = ((right - left).max(0.0), (top - bottom).max(0.0));
        let most = CELLS_PER_AGENT * x.len() as f64 + 64.0;
        let mut cell = cell.max((width * height / most).sqrt());
        // A crowd along a line has no area, but its cells have to be few as well.
        cell = cell.max(width / most).max(height / most);
        self.inverse_cell = 1.0 / cell;
        self.origin = [left, bottom];
        self.columns = (width * self.inverse_cell) as usize + 1;
        self.lines = (height * self.inverse_cell) as usize + 1;
        self.sort(x, y);
    }

    fn sort(&mut self, x: &[f64], y: &[f64]) {
        let count = self.columns * self.lines;
        self.starts.clear();
        self.starts.resize(count + 1, 0);
        self.cells.clear();
        for (x, y) in x.iter().zip(y) {
            let cell = self.line(*y) * self.columns + self.column(*x);
            self.cells.push(cell as u32);
            self.starts[cell] += 1;
        }
        let mut end = 0;
        for start in &mut self.starts {
            end += *start;
            *start = end;
        }
        self.rows.resize(x.len(), 0);
        self.x.resize(x.len(), 0.0);
        self.y.resize(x.len(), 0.0);
        // From the last row backwards each cell fills from its end, so that its rows ascend.
        for row in (0..x.len()).rev() {
            let start = &mut self.starts[self.cells[row] as usize];
            *start -= 1;
            let slot = *start as usize;
            (self.rows[slot], self.x[slot], self.y[slot]) = (row as u32, x[row], y[row]);
        }
    }

    #[inline]
    fn column(&self, x: f64) -> usize {
        (((x - self.origin[0]) * self.inverse_cell).max(0.0) as usize).min(self.columns - 1)
    }

    #[inline]
    fn line(&self, y: f64) -> usize {
        (((y - self.origin[1]) * self.inverse_cell).max(0.0) as usize).min(self.lines - 1)
    }

    /// Runs of slots that hold everybody within `reach` of a point along either axis, and some more. `reach` may be infinite.
    #[inline]
    pub fn runs(&self, x: f64, y: f64, reach: f64) -> impl Iterator<Item = Range<usize>> + use<'_> {
        self.runs_around([x, y], [x, y], reach)
    }

    /// The same for a box between two corners.
    #[inline(always)]
    pub fn runs_around(
        &self,
        low: [f64; 2],
        high: [f64; 2],
        reach: f64,
    ) -> impl Iterator<Item = Range<usize>> + use<'_> {
        let (first, last) = (self.column(low[0] - reach), self.column(high[0] + reach));
        (self.line(low[1] - reach)..=self.line(high[1] + reach)).map(move |line| {
            let cells = line * self.columns;
            self.starts[cells + first] as usize..self.starts[cells + last + 1] as usize
        })
    }

    /// The row in every slot.
    #[inline]
    #[must_use]
    pub fn rows(&self) -> &[u32] {
        &self.rows
    }

    /// Row, x and y in a slot.
    #[inline(always)]
    #[must_use]
    pub fn slot(&self, slot: usize) -> (u32, f64, f64) {
        (self.rows[slot], self.x[slot], self.y[slot])
    }

    /// First slot after the cell that a slot is in.
    #[inline]
    #[must_use]
    pub fn end_of_cell(&self, slot: usize) -> usize {
        self.starts[self.cells[self.rows[slot] as usize] as usize + 1] as usize
    }

    /// Sort distinct slots by their rows.
    #[inline(always)]
    pub(crate) fn sort_slots(&self, slots: &mut [u32]) {
        match slots.len() {
            0..=32 => self.sort_by_rank::<32>(slots),
            33..=64 => self.sort_by_rank::<64>(slots),
            65..=128 => self.sort_by_rank::<128>(slots),
            _ => slots.sort_unstable_by_key(|slot| self.rows[*slot as usize]),
        }
    }

    /// Sort at most `MOST` slots by counting for each how many rows are smaller: no branches, and short lists are what there is.
    #[inline(always)]
    fn sort_by_rank<const MOST: usize>(&self, slots: &mut [u32]) {
        let (mut keys, mut ranks, mut unsorted) = ([i32::MAX; MOST], [0_i32; MOST], [0_u32; MOST]);
        for ((key, copy), slot) in keys.iter_mut().zip(&mut unsorted).zip(slots.iter()) {
            (*key, *copy) = (self.rows[*slot as usize] as i32, *slot);
        }
        for smaller in &keys[..slots.len()] {
            for (rank, key) in ranks.iter_mut().zip(&keys) {
                *rank += i32::from(smaller < key);
            }
        }
        for (slot, rank) in unsorted[..slots.len()].iter().zip(ranks) {
            slots[rank as usize] = *slot;
        }
    }

    /// Rows, x and y of a run of slots.
    #[inline]
    #[must_use]
    pub fn slots(&self, run: Range<usize>) -> (&[u32], &[f64], &[f64]) {
        (&self.rows[run.clone()], &self.x[run.clone()], &self.y[run])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn everybody_near_a_point_is_in_its_runs(
            points in proptest::collection::vec((-50.0..50.0_f64, -50.0..50.0_f64), 1..60),
            cell in 0.2..9.0,
            reach in 0.0..20.0,
            at in (-60.0..60.0_f64, -60.0..60.0_f64),
        ) {
            let (x, y): (Vec<f64>, Vec<f64>) = points.into_iter().unzip();
            let mut grid = Grid::default();
            grid.rebuild(&x, &y, cell);
            let mut found = Vec::new();
            for run in grid.runs(at.0, at.1, reach) {
                found.extend_from_slice(grid.slots(run).0);
            }
            found.sort_unstable();
            for row in 0..x.len() {
                let near = (x[row] - at.0).hypot(y[row] - at.1) <= reach;
                prop_assert!(!near || found.binary_search(&(row as u32)).is_ok());
            }
            found.windows(2).for_each(|pair| assert!(pair[0] < pair[1], "twice: {pair:?}"));
        }
    }

    #[test]
    fn slots_are_sorted_by_row_however_many() {
        let x: Vec<f64> = (0..300).map(|n| f64::from(n * 71 % 300)).collect();
        let mut grid = Grid::default();
        grid.rebuild(&x, &vec![0.0; 300], 1.0);
        for count in 0..300 {
            let mut slots: Vec<u32> = (0..count).collect();
            grid.sort_slots(&mut slots);
            let rows: Vec<u32> = slots.iter().map(|slot| grid.rows()[*slot as usize]).collect();
            assert!(rows.len() == count as usize && rows.is_sorted());
        }
    }

    #[test]
    fn a_crowd_in_one_point_or_scattered_over_the_globe_is_sorted() {
        let mut grid = Grid::default();
        grid.rebuild(&[3.0; 5], &[4.0; 5], 0.5);
        assert_eq!(grid.runs(3.0, 4.0, 0.0).map(|run| run.len()).sum::<usize>(), 5);
        grid.rebuild(&[-1e12, 1e12], &[0.0, 1e-3], 0.5);
        assert_eq!(grid.runs(0.0, 0.0, f64::INFINITY).map(|run| run.len()).sum::<usize>(), 2);
        grid.rebuild(&[], &[], 0.5);
        assert_eq!(grid.runs(0.0, 0.0, 1.0).map(|run| run.len()).sum::<usize>(), 0);
    }
}
