//! What robots have seen of the world (robot-world specification, section 14.4).

use crate::Point;
use crate::objects::Objects;
use crate::spec::Role;
use crate::wrap;

/// Most cells of a fog.
const MAX_CELLS: f64 = 1e8;

/// A grid over the world, hidden at first.
#[derive(Clone, Debug, PartialEq)]
pub struct Fog {
    columns: usize,
    rows: usize,
    /// Cell size in x and y, metres.
    cell: [f64; 2],
    origin: Point,
    revealed: Vec<bool>,
    count: usize,
}

impl Fog {
    /// The fog over a world of a width and height with its lower left corner at `origin`, with cells of about `resolution` metres; `None` when that is not positive or gives too many cells to keep.
    #[must_use]
    pub fn new(size: [f64; 2], origin: Point, resolution: f64) -> Option<Self> {
        let cells = size.map(|extent| (extent / resolution).round().max(1.0));
        let sensible = resolution > 0.0 && cells[0] * cells[1] <= MAX_CELLS;
        sensible.then(|| Self {
            columns: cells[0] as usize,
            rows: cells[1] as usize,
            cell: [size[0] / cells[0], size[1] / cells[1]],
            origin,
            revealed: vec![false; cells[0] as usize * cells[1] as usize],
            count: 0,
        })
    }

    /// Cells in x and y.
    #[must_use]
    pub fn size(&self) -> [usize; 2] {
        [self.columns, self.rows]
    }

    /// Whether each cell has been seen, row by row from the bottom.
    #[must_use]
    pub fn revealed(&self) -> &[bool] {
        &self.revealed
    }

    /// The share of cells that have been seen, 0 to 1.
    #[must_use]
    pub fn explored_ratio(&self) -> f64 {
        self.count as f64 / self.revealed.len() as f64
    }

    /// Hides all.
    pub fn reset(&mut self) {
        self.revealed.fill(false);
        self.count = 0;
    }

    /// Reveals what every robot sees now: along its scanners' beams, or in its field of view when it has no scanner.
    pub fn reveal(&mut self, objects: &Objects) {
        for row in (0..objects.len()).filter(|row| objects.role[*row] == Role::Robot) {
            if objects.sensors[row].is_empty() {
                if let Some(view) = objects.fov[row] {
                    let state = &objects.state[row];
                    self.reveal_sector([state[0], state[1], state[2]], view);
                }
                continue;
            }
            for (spec, scan) in objects.sensors[row].iter().zip(&objects.scans[row]) {
                for (beam, range) in scan.ranges.iter().enumerate() {
                    let (sin, cos) = (scan.origin[2] + spec.angle(beam)).sin_cos();
                    self.reveal_beam([scan.origin[0], scan.origin[1]], [cos, sin], *range);
                }
            }
        }
    }

    /// The cells under points of a beam half a cell apart, and under its end.
    fn reveal_beam(&mut self, [x, y]: Point, [cos, sin]: Point, range: f64) {
        let spacing = self.cell[0].min(self.cell[1]) / 2.0;
        // No beam need be followed further than across the world from wherever it starts.
        let across = f64::hypot(self.columns as f64 * self.cell[0], self.rows as f64 * self.cell[1]);
        let beside = f64::hypot(x - self.origin[0], y - self.origin[1]);
        if range.is_nan() || !beside.is_finite() {
            return;
        }
        let range = range.min(across + beside);
        for sample in 0..=(range / spacing) as usize {
            let distance = sample as f64 * spacing;
            self.reveal_at([x + distance * cos, y + distance * sin]);
        }
        self.reveal_at([x + range * cos, y + range * sin]);
    }

    /// The cells whose centres are in a field of view.
    fn reveal_sector(&mut self, [x, y, heading]: [f64; 3], [angle, radius]: [f64; 2]) {
        let span = |axis: usize, place: f64| {
            let count = [self.columns, self.rows][axis];
            let index = |value: f64| (value - self.origin[axis]) / self.cell[axis];
            // A cast makes what is below 0, or not a number, 0.
            (index(place - radius).floor() as usize).min(count)
                ..(index(place + radius).ceil() as usize).min(count)
        };
        let (columns, rows) = (span(0, x), span(1, y));
        for row in rows {
            for column in columns.clone() {
                let dx = self.origin[0] + (column as f64 + 0.5) * self.cell[0] - x;
                let dy = self.origin[1] + (row as f64 + 0.5) * self.cell[1] - y;
                let ahead = wrap(f64::atan2(dy, dx) - heading).abs() <= angle / 2.0;
                if ahead && f64::hypot(dx, dy) <= radius {
                    self.mark(column, row);
                }
            }
        }
    }

    fn reveal_at(&mut self, [x, y]: Point) {
        let (column, row) = ((x - self.origin[0]) / self.cell[0], (y - self.origin[1]) / self.cell[1]);
        if (0.0..self.columns as f64).contains(&column) && (0.0..self.rows as f64).contains(&row) {
            self.mark(column as usize, row as usize);
        }
    }

    fn mark(&mut self, column: usize, row: usize) {
        let cell = &mut self.revealed[row * self.columns + column];
        self.count += usize::from(!*cell);
        *cell = true;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fog(resolution: f64) -> Option<Fog> {
        Fog::new([10.0, 5.0], [-1.0, 2.0], resolution)
    }

    #[test]
    fn a_beam_reveals_the_cells_up_to_what_it_measured_and_a_reset_hides_them() {
        let mut fog = fog(0.5).unwrap();
        assert_eq!(fog.size(), [20, 10]);
        fog.reveal_beam([0.25, 3.25], [1.0, 0.0], 2.0);
        let seen: Vec<usize> = (0..200).filter(|i| fog.revealed()[*i]).collect();
        assert_eq!(seen, [2 * 20 + 2, 2 * 20 + 3, 2 * 20 + 4, 2 * 20 + 5, 2 * 20 + 6]);
        assert_eq!(fog.explored_ratio(), 0.025);
        fog.reset();
        assert_eq!(fog.explored_ratio(), 0.0);
    }

    #[test]
    fn a_view_reveals_the_cells_whose_centres_it_holds() {
        let mut fog = fog(1.0).unwrap();
        fog.reveal_sector([0.5, 3.5, 0.0], [1.0, 2.1]);
        let seen: Vec<usize> = (0..50).filter(|i| fog.revealed()[*i]).collect();
        assert_eq!(seen, [11, 12, 13]);
        fog.reveal_sector([4.0, 4.5, 1.0], [std::f64::consts::TAU, 50.0]);
        assert_eq!(fog.explored_ratio(), 1.0);
    }

    #[test]
    fn numbers_that_are_none_reveal_nothing() {
        let mut fog = fog(1.0).unwrap();
        fog.reveal_beam([f64::NAN, 3.0], [1.0, 0.0], 4.0);
        fog.reveal_beam([0.0, 3.0], [1.0, 0.0], f64::NAN);
        fog.reveal_sector([f64::NAN, 3.0, 0.0], [1.0, 2.0]);
        assert_eq!(fog.explored_ratio(), 0.0);
    }

    #[test]
    fn a_resolution_that_is_no_size_makes_no_fog() {
        for resolution in [0.0, -1.0, f64::NAN, 1e-9] {
            assert_eq!(fog(resolution), None, "{resolution}");
        }
    }
}
