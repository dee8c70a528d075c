//! Centroids in a hash of cells, kept right while objects move one after the other.

use super::{cell, mix};
use crate::Point;

const NONE: u32 = u32::MAX;

/// The centroids of all rows. Moving one within its cell costs a comparison.
#[derive(Clone, Debug, Default)]
pub struct Centers {
    /// Metres; 0 while nobody asks for neighbours, and then nothing is kept.
    size: f64,
    heads: Vec<u32>,
    /// Per row: its cell, the next and the previous row of the same bucket.
    rows: Vec<Row>,
}

#[derive(Clone, Copy, Debug)]
struct Row {
    cell: [i64; 2],
    next: u32,
    previous: u32,
}

impl Centers {
    /// Takes all `centers` for questions about circles of up to `reach` metres; a reach of 0 keeps nothing.
    pub fn fill(&mut self, centers: &[Point], reach: f64) {
        self.rows.clear();
        self.heads.clear();
        self.size = if reach > 0.0 { (reach.min(1e6) / 2.0).max(1e-3) } else { 0.0 };
        if self.size == 0.0 {
            return;
        }
        self.heads.resize((2 * centers.len()).next_power_of_two(), NONE);
        for (row, center) in centers.iter().enumerate() {
            self.rows.push(Row { cell: self.cell_of(*center), next: NONE, previous: NONE });
            self.link(row as u32);
        }
    }

    /// Tells that the centroid of `row` is now at `center`.
    pub fn moved(&mut self, row: usize, center: Point) {
        if self.size == 0.0 {
            return;
        }
        let cell = self.cell_of(center);
        if cell != self.rows[row].cell {
            self.unlink(row as u32);
            self.rows[row].cell = cell;
            self.link(row as u32);
        }
    }

    /// Rows whose centroid, of `centers`, is at most `radius` away from `point`, in ascending order.
    pub fn within(&self, centers: &[Point], point: Point, radius: f64, out: &mut Vec<u32>) {
        out.clear();
        let near = |row: usize| {
            let [x, y] = centers[row];
            let [dx, dy] = [x - point[0], y - point[1]];
            (dx * dx + dy * dy).sqrt() <= radius
        };
        let span = (radius / self.size).ceil() * 2.0 + 1.0;
        let worth = span * span <= centers.len() as f64;
        // Also when nothing is kept: the span is then not a number, or infinite.
        if !worth {
            out.extend((0..centers.len()).filter(|row| near(*row)).map(|row| row as u32));
            return;
        }
        let [low, high] = [-radius, radius].map(|by| self.cell_of([point[0] + by, point[1] + by]));
        for x in low[0]..=high[0] {
            for y in low[1]..=high[1] {
                let mut row = self.heads[mix([x, y]) & (self.heads.len() - 1)];
                while row != NONE {
                    if self.rows[row as usize].cell == [x, y] && near(row as usize) {
                        out.push(row);
                    }
                    row = self.rows[row as usize].next;
                }
            }
        }
        out.sort_unstable();
    }

    fn cell_of(&self, [x, y]: Point) -> [i64; 2] {
        [cell(x, 1.0 / self.size), cell(y, 1.0 / self.size)]
    }

    fn link(&mut self, row: u32) {
        let bucket = mix(self.rows[row as usize].cell) & (self.heads.len() - 1);
        let next = std::mem::replace(&mut self.heads[bucket], row);
        self.rows[row as usize].next = next;
        self.rows[row as usize].previous = NONE;
        if next != NONE {
            self.rows[next as usize].previous = row;
        }
    }

    fn unlink(&mut self, row: u32) {
        let Row { cell, next, previous } = self.rows[row as usize];
        if previous == NONE {
            let bucket = mix(cell) & (self.heads.len() - 1);
            self.heads[bucket] = next;
        } else {
            self.rows[previous as usize].next = next;
        }
        if next != NONE {
            self.rows[next as usize].previous = previous;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use promenade_kernel::generator::Generator;

    #[test]
    fn neighbours_are_those_of_a_plain_search_however_objects_move() {
        let mut generator = Generator::seeded(3);
        let mut centers: Vec<Point> =
            (0..300).map(|_| [generator.uniform(-9.0, 9.0), generator.uniform(-9.0, 9.0)]).collect();
        let mut index = Centers::default();
        index.fill(&centers, 2.0);
        let mut found = Vec::new();
        for turn in 0..2000 {
            let row = generator.choice(300) as usize;
            centers[row] = match turn % 50 {
                0 => [1e300, f64::NEG_INFINITY],
                1 => [f64::NAN, 0.0],
                _ => [generator.uniform(-9.0, 9.0), generator.uniform(-9.0, 9.0)],
            };
            index.moved(row, centers[row]);
            let (point, radius) = (centers[generator.choice(300) as usize], generator.uniform(0.0, 5.0));
            index.within(&centers, point, radius, &mut found);
            let mut plain = Vec::new();
            Centers::default().within(&centers, point, radius, &mut plain);
            assert_eq!(found, plain);
        }
    }
}
