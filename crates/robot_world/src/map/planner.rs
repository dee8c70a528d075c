//! A map as planners want it: at a resolution of their choice, with everything outside the world occupied (robot-world specification, section 14.3).

use std::borrow::Cow;

use crate::Point;
use crate::spec::MapGrid;

/// An occupancy grid for a planner.
#[derive(Clone, Debug, PartialEq)]
pub struct PlannerGrid<'a> {
    /// The cells, those of the map itself when it already has the resolution.
    pub grid: Cow<'a, MapGrid>,
    /// Whether a finer resolution was asked for than the map has; then the map's own cells are given.
    pub too_fine: bool,
}

impl MapGrid {
    /// The map with cells of about `resolution` metres, each as occupied as the most occupied cell it covers.
    ///
    /// Within 5 % of the map's own cells (their longer side) nothing changes. A resolution that is not positive gives the map's own cells.
    #[must_use]
    pub fn for_planner(&self, resolution: f64) -> PlannerGrid<'_> {
        let cells = resolution / self.cell[0].max(self.cell[1]);
        if cells.is_nan() || cells <= 1.05 {
            return PlannerGrid { grid: Cow::Borrowed(self), too_fine: cells.is_nan() || cells < 0.95 };
        }
        let (width, height) = (self.columns as f64 * self.cell[0], self.rows as f64 * self.cell[1]);
        let (columns, rows) = (blocks(width, resolution), blocks(height, resolution));
        let mut values = vec![0.0_f64; columns * rows];
        for (row, line) in values.chunks_mut(columns).enumerate() {
            for (column, value) in line.iter_mut().enumerate() {
                for y in covered(row, rows, self.rows) {
                    let cells = &self.values[y * self.columns..][covered(column, columns, self.columns)];
                    *value = cells.iter().copied().fold(*value, f64::max);
                }
            }
        }
        let cell = [width / columns as f64, height / rows as f64];
        let grid = MapGrid { columns, rows, cell, origin: self.origin, values, source: self.source.clone() };
        PlannerGrid { grid: Cow::Owned(grid), too_fine: false }
    }
}

impl PlannerGrid<'_> {
    /// Whether a point is in an occupied cell or outside the world.
    #[must_use]
    pub fn is_occupied(&self, point: Point) -> bool {
        let grid = &*self.grid;
        let place = [0, 1].map(|axis| (point[axis] - grid.origin[axis]) / grid.cell[axis]);
        let inside =
            (0.0..grid.columns as f64).contains(&place[0]) && (0.0..grid.rows as f64).contains(&place[1]);
        !inside || grid.values[place[1] as usize * grid.columns + place[0] as usize] > 50.0
    }
}

fn blocks(extent: f64, resolution: f64) -> usize {
    ((extent / resolution).round() as usize).max(1)
}

/// Cells that the block `index` of `blocks` covers, if only in part.
fn covered(index: usize, blocks: usize, cells: usize) -> std::ops::Range<usize> {
    index * cells / blocks..((index + 1) * cells).div_ceil(blocks)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grid() -> MapGrid {
        let mut values = vec![0.0; 12 * 6];
        values[2 * 12 + 7] = 100.0;
        MapGrid { columns: 12, rows: 6, cell: [0.5, 0.5], origin: [-1.0, 2.0], values, source: None }
    }

    #[test]
    fn a_coarser_grid_keeps_every_obstacle() {
        let map = grid();
        let coarse = map.for_planner(1.0);
        assert_eq!((coarse.grid.columns, coarse.grid.rows, coarse.grid.cell), (6, 3, [1.0, 1.0]));
        assert!(coarse.is_occupied([2.6, 3.2]) && coarse.is_occupied([2.1, 3.9]));
        assert!(!coarse.is_occupied([1.9, 3.2]));
        let uneven = map.for_planner(0.8);
        assert_eq!((uneven.grid.columns, uneven.grid.rows), (8, 4));
        assert!(uneven.is_occupied([2.75, 3.25]));
    }

    #[test]
    fn the_own_cells_are_kept_at_their_own_resolution_and_with_a_flag_below_it() {
        let map = grid();
        for (resolution, too_fine) in
            [(0.5, false), (0.524, false), (0.476, false), (0.4, true), (f64::NAN, true)]
        {
            let planner = map.for_planner(resolution);
            assert_eq!((planner.grid.columns, planner.too_fine), (12, too_fine), "{resolution}");
        }
    }

    #[test]
    fn outside_the_world_is_occupied() {
        let map = grid();
        let planner = map.for_planner(0.5);
        assert!(!planner.is_occupied([-1.0, 2.0]));
        for point in [[-1.1, 3.0], [5.0, 3.0], [0.0, 5.0], [f64::NAN, 3.0]] {
            assert!(planner.is_occupied(point), "{point:?}");
        }
    }
}
