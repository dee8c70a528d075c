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

/// Slots that are looked at side by side; as many unused ones follow the last.
pub(crate) const LANES: usize = 8;

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
        self.rows.resize(x.len() + LANES, 0);
        self.x.resize(x.len() + LANES, 0.0);
        self.y.resize(x.len() + LANES, 0.0);
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
        let (first, last) = (self.column(x - reach), self.column(x + reach));
        (self.line(y - reach)..=self.line(y + reach)).map(move |line| {
            let cells = line * self.columns;
            self.starts[cells + first] as usize..self.starts[cells + last + 1] as usize
        })
    }

    /// Rows, x and y of [`LANES`] slots, of which those beyond the last agent mean nothing.
    #[inline(always)]
    pub(crate) fn lanes(&self, first: usize) -> (&[u32], &[f64], &[f64]) {
        self.slots(first..first + LANES)
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
