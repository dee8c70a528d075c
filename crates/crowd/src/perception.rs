//! Who sees whom (crowd-engine specification, section 19): by range and field of view, nearby from anywhere, unless a wall is between.
//!
//! Evaluated on the poses that the last tick left. The result is directed, and its order ascending, whatever the number of threads.

use rayon::prelude::*;

use crate::grid::Grid;
use crate::hidden;
use crate::occlusion::Occlusion;
use crate::pool::Pool;
use promenade_kernel::elementary::{LARGEST_ANGLE, sin_cos, wrap};

/// Slots of the grid that are worked on together. Fixed, so that results are laid out alike whatever the number of threads.
const BLOCK: usize = 128;

/// Neighbours that a list is padded to multiples of, so that they can be worked on side by side.
pub const LANES: usize = 8;

/// The neighbours of every row, ascending.
#[derive(Debug, Clone, Default)]
pub struct Neighbours {
    /// Where the list of each row is: its slot among those of all blocks.
    slots: Vec<u32>,
    blocks: Vec<Block>,
}

/// The lists of some slots, and memory to make them.
#[derive(Debug, Clone, Default)]
struct Block {
    /// Where each list starts and how long it is.
    lists: Vec<(u32, u32)>,
    /// The lists, each padded to whole lanes with the row it belongs to, and behind the last one memory for more.
    rows: Vec<u32>,
    company: Company,
}

impl Neighbours {
    /// Rows that `row` sees.
    #[inline]
    #[must_use]
    pub fn of(&self, row: usize) -> &[u32] {
        let (rows, start, count) = self.list(row);
        &rows[start..start + count]
    }

    /// The same in whole lanes, and how many of the rows count; the others are valid rows that mean nothing.
    #[inline(always)]
    pub(crate) fn lanes_of(&self, row: usize) -> (&[[u32; LANES]], usize) {
        let (rows, start, count) = self.list(row);
        (rows[start..start + count.next_multiple_of(LANES)].as_chunks().0, count)
    }

    #[inline(always)]
    fn list(&self, row: usize) -> (&[u32], usize, usize) {
        let slot = self.slots[row] as usize;
        let block = &self.blocks[slot / BLOCK];
        let (start, count) = block.lists[slot % BLOCK];
        (&block.rows, start as usize, count as usize)
    }

    /// Everybody sees everybody.
    #[must_use]
    pub fn everybody(count: usize) -> Self {
        let mut all = Self { slots: (0..count as u32).collect(), ..Self::default() };
        for row in 0..count as u32 {
            if (row as usize).is_multiple_of(BLOCK) {
                all.blocks.push(Block::default());
            }
            let Some(block) = all.blocks.last_mut() else { continue };
            block.lists.push((block.rows.len() as u32, count as u32 - 1));
            block.rows.extend((0..count as u32).filter(|other| *other != row));
            block.rows.resize(block.rows.len().next_multiple_of(LANES), row);
        }
        all
    }
}

/// Finds the neighbours of every row.
#[derive(Debug, Clone, Default)]
pub struct Perception {
    /// Whether people hide people.
    bodies_hide: bool,
    grid: Grid,
    neighbours: Neighbours,
}

/// Smallest edge of a cell, metres.
const SMALLEST_CELL: f64 = 0.5;

/// Edge of a cell, in mean reaches: those in it look around together, and more of them look at more whom they do not see.
const CELL: f64 = 0.8;

impl Perception {
    /// Let people hide those behind them, or not.
    pub fn hide_behind_bodies(&mut self, hide: bool) {
        self.bodies_hide = hide;
    }

    /// What the last [`Perception::sense`] found.
    #[must_use]
    pub fn neighbours(&self) -> &Neighbours {
        &self.neighbours
    }

    /// Where everybody was when they last looked around.
    #[must_use]
    pub fn grid(&self) -> &Grid {
        &self.grid
    }

    /// Look around. With `parallel` the rows are spread over the threads of the current pool.
    pub fn sense(&mut self, pool: &Pool, occlusion: &Occlusion, parallel: bool) {
        let mean = (0..pool.len()).map(|row| reach(pool, row)).sum::<f64>() / pool.len().max(1) as f64;
        let Self { bodies_hide, grid, neighbours } = self;
        grid.rebuild(&pool.x, &pool.y, (CELL * mean).max(SMALLEST_CELL));
        neighbours.slots.resize(pool.len(), 0);
        for (slot, row) in grid.rows().iter().enumerate() {
            neighbours.slots[*row as usize] = slot as u32;
        }
        neighbours.blocks.resize_with(pool.len().div_ceil(BLOCK), Block::default);
        let (grid, arch) = (&*grid, pulp::Arch::new());
        let look = |(number, block): (usize, &mut Block)| {
            let first = number * BLOCK;
            arch.dispatch(Look { pool, occlusion, bodies_hide: *bodies_hide, grid, first, block });
        };
        if parallel {
            neighbours.blocks.par_iter_mut().enumerate().for_each(look);
        } else {
            neighbours.blocks.iter_mut().enumerate().for_each(look);
        }
    }
}

/// How far a row notices anybody.
#[inline(always)]
fn reach(pool: &Pool, row: usize) -> f64 {
    pool.vision_range[row].max(pool.proximity_sense[row])
}

/// Lists whom the rows of a block see, in code for the widest vectors of this machine.
struct Look<'a> {
    pool: &'a Pool,
    occlusion: &'a Occlusion,
    bodies_hide: bool,
    grid: &'a Grid,
    first: usize,
    block: &'a mut Block,
}

impl pulp::WithSimd for Look<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, _: S) {
        let Self { pool, occlusion, bodies_hide, grid, first, block } = self;
        let Block { lists, rows, company } = block;
        let observers = &grid.rows()[first..grid.rows().len().min(first + BLOCK)];
        let headings = headings(pool, observers);
        lists.clear();
        let (mut at, mut start) = (0, 0);
        while at < observers.len() {
            let together = (grid.end_of_cell(first + at) - first).min(observers.len());
            company.gather(pool, grid, &observers[at..together]);
            while at < together {
                let row = observers[at] as usize;
                let mut count = company.seen_by(&Gaze::of(pool, row, headings[at]), row as u32, start, rows);
                if pool.vision_occlusion[row] && !occlusion.is_clear() {
                    let seen = |other: u32| occlusion.sees(pool, row, other as usize);
                    count = keep(&mut rows[start..start + count], seen);
                }
                if bodies_hide {
                    count = hidden::keep_visible(pool, row, &mut rows[start..start + count]);
                }
                rows[start + count..start + count + LANES].fill(row as u32);
                lists.push((start as u32, count as u32));
                start += count.next_multiple_of(LANES);
                at += 1;
            }
        }
    }
}

/// Cosine and sine of the headings of up to [`BLOCK`] rows.
#[inline(always)]
fn headings(pool: &Pool, rows: &[u32]) -> [[f64; 2]; BLOCK] {
    let (mut theta, mut headings) = ([0.0; BLOCK], [[0.0; 2]; BLOCK]);
    for (theta, row) in theta.iter_mut().zip(rows) {
        let angle = pool.theta[*row as usize];
        *theta = if angle.abs() > LARGEST_ANGLE { wrap(angle) } else { angle };
    }
    for (heading, theta) in headings.iter_mut().zip(&theta) {
        let (sin, cos) = sin_cos(*theta);
        *heading = [cos, sin];
    }
    headings
}

/// Move those who are seen to the front, and return how many they are.
fn keep(rows: &mut [u32], seen: impl Fn(u32) -> bool) -> usize {
    let mut kept = 0;
    for at in 0..rows.len() {
        if seen(rows[at]) {
            rows[kept] = rows[at];
            kept += 1;
        }
    }
    kept
}

/// What an observer looks with.
#[derive(Clone, Copy)]
struct Gaze {
    x: f64,
    y: f64,
    /// Cosine and sine.
    heading: [f64; 2],
    /// Squares, of the cosine with its sign.
    range: f64,
    cos: f64,
    proximity: f64,
}

impl Gaze {
    #[inline(always)]
    fn of(pool: &Pool, row: usize, heading: [f64; 2]) -> Self {
        Self {
            x: pool.x[row],
            y: pool.y[row],
            heading,
            range: pool.vision_range[row] * pool.vision_range[row],
            cos: pool.vision_cos[row] * pool.vision_cos[row].abs(),
            proximity: pool.proximity_sense[row] * pool.proximity_sense[row],
        }
    }

    /// Whether a point is seen. Squares with the sign of their root compare as the roots do and need none.
    #[inline(always)]
    fn sees(&self, x: f64, y: f64) -> bool {
        let (dx, dy) = (x - self.x, y - self.y);
        let distance = dx * dx + dy * dy;
        let ahead = dx * self.heading[0] + dy * self.heading[1];
        let in_view = ahead * ahead.abs() >= distance * self.cos;
        ((distance <= self.range) & in_view) | (distance <= self.proximity)
    }
}

/// Everybody whom somebody of a few rows that stand together may see, ascending.
#[derive(Debug, Clone, Default)]
struct Company {
    /// Who they are, and where.
    rows: Vec<u32>,
    x: Vec<f64>,
    y: Vec<f64>,
    /// Their slots in the grid, and more to come while gathering.
    slots: Vec<u32>,
    /// Whether each that is looked at is wanted.
    wanted: Vec<bool>,
}

impl Company {
    /// Find everybody within reach of `observers`.
    #[inline(always)]
    fn gather(&mut self, pool: &Pool, grid: &Grid, observers: &[u32]) {
        let (mut low, mut high, mut far) = ([f64::INFINITY; 2], [f64::NEG_INFINITY; 2], 0.0_f64);
        for row in observers {
            let row = *row as usize;
            low = [low[0].min(pool.x[row]), low[1].min(pool.y[row])];
            high = [high[0].max(pool.x[row]), high[1].max(pool.y[row])];
            far = far.max(reach(pool, row));
        }
        let mut count = 0;
        for run in grid.runs_around(low, high, far) {
            let (_, x, y) = grid.slots(run.clone());
            for (wanted, (x, y)) in room(&mut self.wanted, 0, run.len()).iter_mut().zip(x.iter().zip(y)) {
                let dx = (low[0] - x).max(x - high[0]).max(0.0);
                let dy = (low[1] - y).max(y - high[1]).max(0.0);
                *wanted = dx * dx + dy * dy <= far * far;
            }
            let slots = room(&mut self.slots, count, run.len());
            count += choose(run.map(|slot| slot as u32), &self.wanted, slots);
        }
        let slots = &mut self.slots[..count];
        grid.sort_slots(slots);
        let places = room(&mut self.x, 0, count).iter_mut().zip(room(&mut self.y, 0, count));
        self.rows.resize(count, 0);
        for ((slot, row), (x, y)) in slots.iter().zip(&mut self.rows).zip(places) {
            (*row, *x, *y) = grid.slot(*slot as usize);
        }
    }

    /// Write whom `own` sees into `list` from `start` on, and return how many they are.
    #[inline(always)]
    fn seen_by(&mut self, gaze: &Gaze, own: u32, start: usize, list: &mut Vec<u32>) -> usize {
        let wanted = room(&mut self.wanted, 0, self.rows.len());
        for ((wanted, row), (x, y)) in wanted.iter_mut().zip(&self.rows).zip(self.x.iter().zip(&self.y)) {
            *wanted = gaze.sees(*x, *y) & (*row != own);
        }
        let list = room(list, start, self.rows.len() + LANES);
        choose(self.rows.iter().copied(), &self.wanted, list)
    }
}

/// Room for `count` values from `start` on.
#[inline(always)]
fn room<T: Copy + Default>(values: &mut Vec<T>, start: usize, count: usize) -> &mut [T] {
    if values.len() < start + count {
        values.resize(start + count, T::default());
    }
    &mut values[start..start + count]
}

/// Write those that are wanted to the front of `out`, and return how many they are. Without branches, since who is wanted is as good as random:
/// who is not is overwritten by the next.
#[inline(always)]
fn choose(values: impl Iterator<Item = u32>, wanted: &[bool], out: &mut [u32]) -> usize {
    let mut count = 0;
    for (value, wanted) in values.zip(wanted) {
        out[count] = value;
        count += usize::from(*wanted);
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::occlusion::OcclusionMode;
    use crate::pool::Row;
    use crate::sampling::AgentParameters;
    use crate::walls::{Wall, WallSet};
    use proptest::prelude::*;

    fn pool(poses: &[[f64; 3]]) -> Pool {
        let mut pool = Pool::with_capacity(poses.len());
        for (id, pose) in poses.iter().enumerate() {
            pool.push(Row::new(id as i32, *pose, &AgentParameters::unknown_type()));
        }
        pool
    }

    fn seen(pool: &Pool, occlusion: &Occlusion) -> Vec<Vec<u32>> {
        let mut perception = Perception::default();
        perception.sense(pool, occlusion, false);
        (0..pool.len()).map(|row| perception.neighbours().of(row).to_vec()).collect()
    }

    #[test]
    fn range_and_field_of_view_decide_and_the_near_are_noticed_from_anywhere() {
        let pool =
            pool(&[[0.0, 0.0, 0.0], [4.9, 0.0, 0.0], [-0.9, 0.0, 0.0], [-1.1, 0.0, 0.0], [5.1, 0.0, 0.0]]);
        assert_eq!(seen(&pool, &Occlusion::Off)[0], [1, 2]);
    }

    #[test]
    fn a_full_circle_of_view_sees_behind() {
        let mut pool = pool(&[[0.0, 0.0, 0.0], [-4.0, 0.0, 0.0]]);
        pool.vision_cos[0] = -2.0;
        assert_eq!(seen(&pool, &Occlusion::Off)[0], [1]);
    }

    #[test]
    fn walls_hide_both_from_each_other_unless_one_sees_through_them() {
        let mut pool = pool(&[[0.0, 0.0, 0.0], [2.0, 0.0, std::f64::consts::PI]]);
        let mut walls = WallSet::default();
        walls.add([Wall { name: "wall".into(), start: [1.0, -1.0], end: [1.0, 1.0] }]).expect("finite");
        let occlusion = Occlusion::new(OcclusionMode::Bitmap, &walls);
        assert_eq!(seen(&pool, &occlusion), [vec![], Vec::<u32>::new()]);
        pool.vision_occlusion[1] = false;
        assert_eq!(seen(&pool, &occlusion), [vec![], vec![0]]);
    }

    #[test]
    fn the_width_of_the_vectors_changes_nothing() {
        let poses: Vec<[f64; 3]> = (0..300_u32)
            .map(|n| [f64::from(n * 37 % 101) * 0.31, f64::from(n * 53 % 97) * 0.29, f64::from(n) * 0.7])
            .collect();
        let pool = pool(&poses);
        let mut wide = Perception::default();
        wide.sense(&pool, &Occlusion::Off, false);
        let Perception { grid, mut neighbours, .. } = wide.clone();
        for (number, block) in neighbours.blocks.iter_mut().enumerate() {
            let (pool, occlusion, first) = (&pool, &Occlusion::Off, number * BLOCK);
            let look = Look { pool, occlusion, bodies_hide: false, grid: &grid, first, block };
            pulp::Simd::vectorize(pulp::Scalar::new(), look);
        }
        for row in 0..pool.len() {
            assert_eq!(wide.neighbours().of(row), neighbours.of(row));
        }
    }

    proptest! {
        #[test]
        fn the_grid_finds_what_a_search_of_all_pairs_finds(
            poses in proptest::collection::vec((-20.0..20.0_f64, -20.0..20.0_f64, -4.0..4.0_f64), 1..400),
            range in 0.3..12.0,
        ) {
            let poses: Vec<[f64; 3]> = poses.into_iter().map(|(x, y, t)| [x, y, t]).collect();
            let mut pool = pool(&poses);
            pool.vision_range[0] = range;
            let all: Vec<Vec<u32>> = (0..pool.len())
                .map(|row| {
                    let gaze = Gaze::of(&pool, row, headings(&pool, &[row as u32])[0]);
                    let seen = |other: &usize| *other != row && gaze.sees(pool.x[*other], pool.y[*other]);
                    (0..pool.len()).filter(seen).map(|other| other as u32).collect()
                })
                .collect();
            prop_assert_eq!(seen(&pool, &Occlusion::Off), all);
        }
    }
}
