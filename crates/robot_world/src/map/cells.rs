//! The occupied cells of a map, their outline, and what is near a place.

use crate::Point;
use crate::spec::MapGrid;

/// Which cells are occupied, with the segments of their outline at hand cell by cell.
#[derive(Clone, Debug, PartialEq)]
pub struct Cells {
    columns: usize,
    rows: usize,
    cell: [f64; 2],
    origin: Point,
    /// Row by row from the bottom.
    occupied: Vec<bool>,
    /// Bounding box of the occupied cells.
    bounds: [f64; 4],
    /// Corners of the outline as column and row of the lattice, ring by ring.
    corners: Vec<[u32; 2]>,
    /// First corner of every ring, and the number of corners.
    starts: Vec<usize>,
    /// Of the cell i, the outline segments on its own sides are `sides[side_starts[i]..side_starts[i + 1]]`, ascending.
    side_starts: Vec<u32>,
    sides: Vec<u32>,
}

/// Directions along the lattice, counter-clockwise from right.
const STEPS: [[i64; 2]; 4] = [[1, 0], [0, 1], [-1, 0], [0, -1]];

impl Cells {
    /// `None` when no cell is occupied, or the grid's own numbers do not fit together.
    #[must_use]
    pub fn new(grid: &MapGrid) -> Option<Self> {
        let occupied: Vec<bool> = grid.values.iter().map(|value| *value > 50.0).collect();
        if occupied.len() != grid.columns * grid.rows || !occupied.contains(&true) {
            return None;
        }
        let mut cells = Self {
            columns: grid.columns,
            rows: grid.rows,
            cell: grid.cell,
            origin: grid.origin,
            occupied,
            bounds: [0.0; 4],
            corners: Vec::new(),
            starts: Vec::new(),
            side_starts: Vec::new(),
            sides: Vec::new(),
        };
        let owners = cells.trace();
        let mut order: Vec<u32> = (0..owners.len() as u32).collect();
        order.sort_by_key(|segment| (owners[*segment as usize], *segment));
        cells.side_starts = vec![0; cells.occupied.len() + 1];
        for owner in &owners {
            cells.side_starts[owner + 1] += 1;
        }
        for i in 0..cells.occupied.len() {
            cells.side_starts[i + 1] += cells.side_starts[i];
        }
        cells.sides = order;
        cells.bounds = crate::shape::bounds(cells.corners.iter().map(|corner| cells.corner(*corner)));
        Some(cells)
    }

    /// Follows the outline with what is occupied on the left; answers the cell each segment belongs to.
    fn trace(&mut self) -> Vec<usize> {
        // One bit per direction in which an outline segment leaves a corner and has not been followed.
        let width = self.columns + 1;
        let mut open = vec![0_u8; width * (self.rows + 1)];
        for row in 0..self.rows as i64 {
            for column in (0..self.columns as i64).filter(|column| self.is_occupied(*column, row)) {
                let corners = [[0, 0], [1, 0], [1, 1], [0, 1]];
                for (direction, [x, y]) in corners.into_iter().enumerate() {
                    // The neighbour across the side that runs in this direction lies to its right.
                    let [dx, dy] = STEPS[(direction + 3) % 4];
                    if !self.is_occupied(column + dx, row + dy) {
                        open[(row + y) as usize * width + (column + x) as usize] |= 1 << direction;
                    }
                }
            }
        }
        let mut owners = Vec::new();
        for start in 0..open.len() {
            while open[start] != 0 {
                self.starts.push(self.corners.len());
                let (mut at, mut heading) = (start, open[start].trailing_zeros() as usize);
                loop {
                    open[at] &= !(1 << heading);
                    let [x, y] = [(at % width) as i64, (at / width) as i64];
                    self.corners.push([x as u32, y as u32]);
                    let [dx, dy] = STEPS[heading];
                    let [left_x, left_y] = STEPS[(heading + 1) % 4];
                    // The cell to the left of the segment.
                    let [cx, cy] = [x + (dx + left_x - 1) / 2, y + (dy + left_y - 1) / 2];
                    owners.push(cy as usize * self.columns + cx as usize);
                    at = (y + dy) as usize * width + (x + dx) as usize;
                    if at == start && open[start] == 0 {
                        break;
                    }
                    // Left first: at a corner where two cells meet diagonally, each keeps its own ring.
                    let turns = [1, 0, 3].map(|turn| (heading + turn) % 4);
                    match turns.into_iter().find(|turn| open[at] & (1 << turn) != 0) {
                        Some(turn) => heading = turn,
                        None => break,
                    }
                }
            }
        }
        owners
    }

    /// Cells in x and y.
    #[must_use]
    pub fn size(&self) -> [usize; 2] {
        [self.columns, self.rows]
    }

    /// Size of a cell in x and y, metres.
    #[must_use]
    pub fn cell(&self) -> [f64; 2] {
        self.cell
    }

    /// Lower left corner of cell (0, 0).
    #[must_use]
    pub fn origin(&self) -> Point {
        self.origin
    }

    /// Bounding box of the occupied cells.
    #[must_use]
    pub fn bounds(&self) -> [f64; 4] {
        self.bounds
    }

    /// Whether a cell is occupied; cells outside the map are not.
    #[must_use]
    pub fn is_occupied(&self, column: i64, row: i64) -> bool {
        (0..self.columns as i64).contains(&column)
            && (0..self.rows as i64).contains(&row)
            && self.occupied[row as usize * self.columns + column as usize]
    }

    /// A corner of the lattice in the world.
    pub(crate) fn corner(&self, [column, row]: [u32; 2]) -> Point {
        [self.origin[0] + f64::from(column) * self.cell[0], self.origin[1] + f64::from(row) * self.cell[1]]
    }

    /// Centre of a cell.
    pub(crate) fn center(&self, column: i64, row: i64) -> Point {
        [
            self.origin[0] + (column as f64 + 0.5) * self.cell[0],
            self.origin[1] + (row as f64 + 0.5) * self.cell[1],
        ]
    }

    /// Columns and rows under a box; empty when the box is beside the map or not a number.
    pub(crate) fn under(&self, bounds: [f64; 4]) -> [std::ops::Range<i64>; 2] {
        [0, 1].map(|axis| {
            let count = self.size()[axis] as f64;
            let index = |value: f64| ((value - self.origin[axis]) / self.cell[axis]).floor();
            let (low, high) = (index(bounds[axis]), index(bounds[axis + 2]));
            if low < count && high >= 0.0 {
                low.max(0.0) as i64..high.min(count - 1.0) as i64 + 1
            } else {
                0..0
            }
        })
    }

    /// The outline segments that may meet a box, in the outline's order. They replace what is in `segments`, as
    /// numbers into [`crate::shape::Shape::pieces`].
    pub fn segments_near(&self, bounds: [f64; 4], segments: &mut Vec<u32>) {
        segments.clear();
        // A box that only touches a cell's far side is under the next cell: look one further.
        let [cx, cy] = self.cell.map(|side| side / 2.0);
        let [columns, rows] = self.under([bounds[0] - cx, bounds[1] - cy, bounds[2] + cx, bounds[3] + cy]);
        for row in rows {
            for column in columns.clone() {
                let cell = row as usize * self.columns + column as usize;
                let own = self.side_starts[cell] as usize..self.side_starts[cell + 1] as usize;
                segments.extend_from_slice(&self.sides[own]);
            }
        }
        segments.sort_unstable();
    }

    /// Corners of the outline, the first and one past the last of every ring.
    pub(crate) fn rings(&self) -> (Vec<Point>, Vec<[usize; 2]>) {
        let points = self.corners.iter().map(|corner| self.corner(*corner)).collect();
        let ends = self.starts.iter().skip(1).copied().chain([self.corners.len()]);
        (points, self.starts.iter().copied().zip(ends).map(|(start, end)| [start, end]).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cells(rows: &[&str]) -> Cells {
        let values = rows
            .iter()
            .rev()
            .flat_map(|row| row.chars().map(|c| if c == '#' { 100.0 } else { 0.0 }))
            .collect();
        let grid = MapGrid {
            columns: rows[0].len(),
            rows: rows.len(),
            cell: [0.5, 0.25],
            origin: [-1.0, 2.0],
            values,
            source: None,
        };
        Cells::new(&grid).unwrap()
    }

    #[test]
    fn the_outline_has_a_vertex_at_every_cell_corner_and_goes_around_holes_the_other_way() {
        let cells = cells(&["###", "#.#", "###"]);
        let (points, rings) = cells.rings();
        assert_eq!(rings, [[0, 12], [12, 16]]);
        let area = |[start, end]: [usize; 2]| -> f64 {
            (start..end)
                .map(|i| {
                    let (a, b) = (points[i], points[if i + 1 == end { start } else { i + 1 }]);
                    (a[0] * b[1] - a[1] * b[0]) / 2.0
                })
                .sum()
        };
        assert_eq!(area(rings[0]), 9.0 * 0.125);
        assert_eq!(area(rings[1]), -0.125);
        assert_eq!(cells.bounds(), [-1.0, 2.0, 0.5, 2.75]);
    }

    #[test]
    fn diagonal_neighbours_are_two_rings() {
        assert_eq!(cells(&["#.", ".#"]).rings().1, [[0, 4], [4, 8]]);
    }

    #[test]
    fn segments_near_a_place_are_those_of_the_cells_around_it() {
        let cells = cells(&["#..#", "....", "#..."]);
        let mut near = Vec::new();
        cells.segments_near([-0.9, 2.0, -0.8, 2.1], &mut near);
        assert_eq!(near, [0, 1, 2, 3]);
        cells.segments_near([5.0, 5.0, f64::NAN, 6.0], &mut near);
        assert!(near.is_empty());
    }

    #[test]
    fn a_map_without_occupied_cells_or_with_missing_values_is_none() {
        let grid = |values: Vec<f64>| MapGrid {
            columns: 2,
            rows: 1,
            cell: [1.0, 1.0],
            origin: [0.0; 2],
            values,
            source: None,
        };
        assert_eq!(Cells::new(&grid(vec![0.0, 50.0])), None);
        assert_eq!(Cells::new(&grid(vec![100.0])), None);
    }
}
