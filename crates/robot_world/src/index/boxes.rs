//! Bounding boxes in hashes of cells, one hash per size of boxes, so that a long wall costs no more than a disc.
//!
//! A box is kept once, by its centre, in the hash whose cells are at least as large as it; a question looks at the cells around its own box.

use super::{cell, mix};

/// Bounds: min x, min y, max x, max y.
type Bounds = [f64; 4];

/// A box and whose it is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Item {
    /// Row of the object.
    pub row: u32,
    /// Where it is.
    pub bounds: Bounds,
}

/// Boxes by size.
#[derive(Clone, Debug, Default)]
pub struct Boxes {
    levels: Vec<Level>,
}

#[derive(Clone, Debug)]
struct Level {
    /// Cells are 2^exponent metres.
    exponent: i32,
    /// Metres of a cell, and cells of a metre: both are exact.
    size: f64,
    per_metre: f64,
    added: Vec<Item>,
    /// Where the items of a bucket begin in `sorted`; one more than there are buckets.
    starts: Vec<u32>,
    sorted: Vec<([i64; 2], Item)>,
}

/// The exponent of the smallest cell, a power of two, that holds a box of this size and what rounding adds to it.
fn exponent(size: f64) -> i32 {
    (size * 1.000_001).log2().ceil().clamp(-10.0, 60.0) as i32
}

impl Boxes {
    /// Forgets all boxes and keeps the memory.
    pub fn clear(&mut self) {
        for level in &mut self.levels {
            level.added.clear();
            level.starts.clear();
        }
    }

    /// Adds a box whose sides are at most `size` metres, whichever way its object turns. A box that is not finite is left out.
    pub fn add(&mut self, size: f64, item: Item) {
        if !item.bounds.iter().all(|bound| bound.is_finite()) {
            return;
        }
        let exponent = exponent(size);
        let place = self.levels.binary_search_by_key(&exponent, |level| level.exponent);
        let place = place.unwrap_or_else(|place| {
            self.levels.insert(place, Level::new(exponent));
            place
        });
        self.levels[place].added.push(item);
    }

    /// Sorts what was added; before this nothing is found.
    pub fn build(&mut self) {
        self.levels.iter_mut().for_each(Level::build);
    }

    /// Every pair of boxes that meet, each once, lower row first in a pair.
    pub fn pairs(&self, mut found: impl FnMut(u32, u32)) {
        for (place, level) in self.levels.iter().enumerate() {
            level.pairs(&mut found);
            for larger in self.levels[place + 1..].iter().filter(|level| !level.starts.is_empty()) {
                for item in &level.added {
                    larger.meeting(&item.bounds, |other| {
                        found(item.row.min(other.row), item.row.max(other.row));
                    });
                }
            }
        }
    }

    /// Every box that meets `bounds`.
    pub fn meeting(&self, bounds: &Bounds, mut found: impl FnMut(&Item)) {
        for level in &self.levels {
            level.meeting(bounds, &mut found);
        }
    }
}

fn meet(a: &Bounds, b: &Bounds) -> bool {
    a[0] <= b[2] && b[0] <= a[2] && a[1] <= b[3] && b[1] <= a[3]
}

impl Level {
    fn new(exponent: i32) -> Self {
        let size = f64::from(exponent).exp2();
        let (added, starts, sorted) = Default::default();
        Self { exponent, size, per_metre: 1.0 / size, added, starts, sorted }
    }

    fn cell_of(&self, [x, y, to_x, to_y]: Bounds) -> [i64; 2] {
        [cell(x + (to_x - x) / 2.0, self.per_metre), cell(y + (to_y - y) / 2.0, self.per_metre)]
    }

    fn bucket(&self, cell: [i64; 2]) -> &[([i64; 2], Item)] {
        let bucket = mix(cell) & (self.starts.len() - 2);
        &self.sorted[self.starts[bucket] as usize..self.starts[bucket + 1] as usize]
    }

    /// The cells whose boxes may meet `bounds`: a box reaches no further than half a cell from its centre.
    fn around(&self, bounds: &Bounds) -> [[i64; 2]; 2] {
        let half = self.size / 2.0;
        let low = [0, 1].map(|axis| cell(bounds[axis] - half, self.per_metre));
        let high = [2, 3].map(|axis| cell(bounds[axis] + half, self.per_metre));
        [low, high]
    }

    /// Pairs within the level. Each pair is found from the cell that comes first, column by column.
    fn pairs(&self, found: &mut impl FnMut(u32, u32)) {
        for (cell, item) in &self.sorted[..self.added.len()] {
            let [low, high] = self.around(&item.bounds);
            for x in cell[0]..=high[0] {
                let bottom = if x == cell[0] { cell[1] } else { low[1] };
                for y in bottom..=high[1] {
                    for (other_cell, other) in self.bucket([x, y]) {
                        let later = *other_cell != *cell || other.row > item.row;
                        if *other_cell == [x, y] && later && meet(&item.bounds, &other.bounds) {
                            found(item.row.min(other.row), item.row.max(other.row));
                        }
                    }
                }
            }
        }
    }

    fn build(&mut self) {
        if self.added.is_empty() {
            return;
        }
        let buckets = (2 * self.added.len()).next_power_of_two();
        self.starts.clear();
        self.starts.resize(buckets + 1, 0);
        let bucket = |cell: [i64; 2]| mix(cell) & (buckets - 1);
        let filler = ([0; 2], self.added[0]);
        self.sorted.resize(self.added.len(), filler);
        for item in &self.added {
            let place = bucket(self.cell_of(item.bounds)) + 1;
            self.starts[place] += 1;
        }
        for place in 1..=buckets {
            self.starts[place] += self.starts[place - 1];
        }
        // From the last to the first, each bucket filled from its end, so that starts are starts again and the order is kept.
        for item in self.added.iter().rev() {
            let cell = self.cell_of(item.bounds);
            let end = &mut self.starts[bucket(cell) + 1];
            *end -= 1;
            self.sorted[*end as usize] = (cell, *item);
        }
        self.starts.rotate_left(1);
        self.starts[buckets] = self.added.len() as u32;
    }

    fn meeting(&self, bounds: &Bounds, mut found: impl FnMut(&Item)) {
        if self.starts.is_empty() {
            return;
        }
        let [low, high] = self.around(bounds);
        let cells = (high[0] as f64 - low[0] as f64 + 1.0) * (high[1] as f64 - low[1] as f64 + 1.0);
        if cells > self.added.len() as f64 {
            self.added.iter().filter(|item| meet(&item.bounds, bounds)).for_each(found);
            return;
        }
        for x in low[0]..=high[0] {
            for y in low[1]..=high[1] {
                for (cell, item) in self.bucket([x, y]) {
                    if *cell == [x, y] && meet(&item.bounds, bounds) {
                        found(item);
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use promenade_kernel::generator::Generator;

    #[test]
    fn boxes_of_all_sizes_meet_as_in_a_plain_search_also_when_the_memory_is_used_again() {
        let mut generator = Generator::seeded(8);
        let mut boxes = Boxes::default();
        for round in 0..6 {
            boxes.clear();
            let count = [400, 3, 0, 150, 1, 300][round];
            let items: Vec<Item> = (0..count)
                .map(|row| {
                    let size = 10_f64.powf(generator.uniform(-4.0, 1.5));
                    let [x, y] = [generator.uniform(-20.0, 20.0), generator.uniform(-20.0, 20.0)];
                    let bounds = [x, y, x + size * generator.random(), y + size * generator.random()];
                    boxes.add(size, Item { row, bounds });
                    Item { row, bounds }
                })
                .collect();
            boxes.build();
            let mut found = Vec::new();
            boxes.pairs(|a, b| found.push((a, b)));
            found.sort_unstable();
            let mut plain = Vec::new();
            for a in &items {
                for b in &items[a.row as usize + 1..] {
                    if meet(&a.bounds, &b.bounds) {
                        plain.push((a.row, b.row));
                    }
                }
            }
            assert_eq!(found, plain);
            let question = [-3.0, -2.0, 4.0, 1.0];
            let mut found = Vec::new();
            boxes.meeting(&question, |item| found.push(item.row));
            found.sort_unstable();
            let plain: Vec<u32> =
                items.iter().filter(|item| meet(&item.bounds, &question)).map(|item| item.row).collect();
            assert_eq!(found, plain);
        }
    }

    #[test]
    fn boxes_that_are_not_finite_or_far_away_meet_nobody_and_harm_nobody() {
        let mut boxes = Boxes::default();
        let far = [1e300, 1e300, 1e300, 1e300];
        for (row, bounds) in
            [[f64::NAN; 4], [0.0, 0.0, f64::INFINITY, 1.0], [0.0; 4], far].into_iter().enumerate()
        {
            boxes.add(1.0, Item { row: row as u32, bounds });
        }
        boxes.build();
        let mut found = 0;
        boxes.pairs(|_, _| found += 1);
        assert_eq!(found, 0);
    }
}
