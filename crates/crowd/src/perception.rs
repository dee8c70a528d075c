//! Who sees whom (crowd-engine specification, section 19): by range and field of view, nearby from anywhere, unless a wall is between.
//!
//! Evaluated on the poses that the last tick left. The result is directed, and its order ascending, whatever the number of threads.

use rayon::prelude::*;

use crate::grid::{Grid, LANES};
use crate::hidden;
use crate::occlusion::Occlusion;
use crate::pool::Pool;

/// Rows that are worked on together. Fixed, so that results are laid out alike whatever the number of threads.
const BLOCK: usize = 128;

/// The neighbours of every row, ascending.
#[derive(Debug, Clone, Default)]
pub struct Neighbours {
    blocks: Vec<Block>,
}

#[derive(Debug, Clone, Default)]
struct Block {
    /// Where the list of each row of the block ends.
    ends: Vec<u32>,
    /// The lists, and behind the last one memory for more.
    rows: Vec<u32>,
}

impl Neighbours {
    /// Rows that `row` sees.
    #[inline]
    #[must_use]
    pub fn of(&self, row: usize) -> &[u32] {
        let (block, at) = (&self.blocks[row / BLOCK], row % BLOCK);
        let start = if at == 0 { 0 } else { block.ends[at - 1] };
        &block.rows[start as usize..block.ends[at] as usize]
    }

    /// Everybody sees everybody.
    #[must_use]
    pub fn everybody(count: usize) -> Self {
        let mut all = Self::default();
        all.fill(count, false, |row, start, rows| {
            rows.truncate(start);
            rows.extend((0..count as u32).filter(|other| *other as usize != row));
            rows.len()
        });
        all
    }

    /// `list` writes the neighbours of a row into a vector from a start on, and returns where they end.
    fn fill(
        &mut self,
        count: usize,
        parallel: bool,
        list: impl Fn(usize, usize, &mut Vec<u32>) -> usize + Sync,
    ) {
        self.blocks.resize_with(count.div_ceil(BLOCK), Block::default);
        let fill = |(number, block): (usize, &mut Block)| {
            block.ends.clear();
            let mut end = 0;
            for row in number * BLOCK..count.min((number + 1) * BLOCK) {
                end = list(row, end, &mut block.rows);
                block.ends.push(end as u32);
            }
        };
        if parallel {
            self.blocks.par_iter_mut().enumerate().for_each(fill);
        } else {
            self.blocks.iter_mut().enumerate().for_each(fill);
        }
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
        let reach = |row: usize| pool.vision_range[row].max(pool.proximity_sense[row]);
        let mean = (0..pool.len()).map(reach).sum::<f64>() / pool.len().max(1) as f64;
        let Self { bodies_hide, grid, neighbours } = self;
        let bodies_hide = *bodies_hide;
        grid.rebuild(&pool.x, &pool.y, (0.5 * mean).max(SMALLEST_CELL));
        let grid = &*grid;
        let arch = pulp::Arch::new();
        neighbours.fill(pool.len(), parallel, |row, start, list| {
            let gaze = Gaze::of(pool, row);
            let mut end = arch.dispatch(Look { gaze, grid, reach: reach(row), own: row as u32, start, list });
            if pool.vision_occlusion[row] && !occlusion.is_clear() {
                end = keep(list, start, end, |other| occlusion.sees(pool, row, other as usize));
            }
            if bodies_hide {
                let seen = &mut list[start..end];
                return start
                    + arch.dispatch(
                        #[inline(always)]
                        || hidden::keep_visible(pool, row, seen),
                    );
            }
            end
        });
    }
}

/// Close the gaps that those of `rows[start..end]` leave who are not seen, and return the new end.
fn keep(rows: &mut [u32], start: usize, end: usize, seen: impl Fn(u32) -> bool) -> usize {
    let mut kept = start;
    for at in start..end {
        if seen(rows[at]) {
            rows[kept] = rows[at];
            kept += 1;
        }
    }
    kept
}

/// From the `k`-th on, `LANES - k` times nothing in particular and then what nobody can see.
const LIMITS: [f64; 2 * LANES] = {
    let mut limits = [f64::MAX; 2 * LANES];
    let mut beyond = LANES;
    while beyond < 2 * LANES {
        limits[beyond] = -1.0;
        beyond += 1;
    }
    limits
};

/// What an observer looks with.
#[derive(Clone, Copy)]
struct Gaze {
    x: f64,
    y: f64,
    heading: [f64; 2],
    /// Squares, of the cosine with its sign.
    range: f64,
    cos: f64,
    proximity: f64,
}

impl Gaze {
    fn of(pool: &Pool, row: usize) -> Self {
        let (sin, cos) = pool.theta[row].sin_cos();
        Self {
            x: pool.x[row],
            y: pool.y[row],
            heading: [cos, sin],
            range: pool.vision_range[row] * pool.vision_range[row],
            cos: pool.vision_cos[row] * pool.vision_cos[row].abs(),
            proximity: pool.proximity_sense[row] * pool.proximity_sense[row],
        }
    }

    /// How clearly each of `count` points is seen: at least 0 where it is, and less for what is beyond. Squares with the sign of their root compare as the roots do and need
    /// none.
    #[inline(always)]
    fn sights<S: pulp::Simd>(&self, simd: S, x: &[f64], y: &[f64], count: usize, out: &mut [f64]) {
        let (own_x, own_y) = (simd.splat_f64s(self.x), simd.splat_f64s(self.y));
        let (cos, sin) = (simd.splat_f64s(self.heading[0]), simd.splat_f64s(self.heading[1]));
        let (range, view) = (simd.splat_f64s(self.range), simd.splat_f64s(self.cos));
        let proximity = simd.splat_f64s(self.proximity);
        let limits = S::as_simd_f64s(&LIMITS[LANES - count.min(LANES)..]).0;
        let (x, y, out) = (S::as_simd_f64s(x).0, S::as_simd_f64s(y).0, S::as_mut_simd_f64s(out).0);
        for (((out, x), y), limit) in out.iter_mut().zip(x).zip(y).zip(limits) {
            let (dx, dy) = (simd.sub_f64s(*x, own_x), simd.sub_f64s(*y, own_y));
            let distance = simd.add_f64s(simd.mul_f64s(dx, dx), simd.mul_f64s(dy, dy));
            let ahead = simd.add_f64s(simd.mul_f64s(dx, cos), simd.mul_f64s(dy, sin));
            let ahead = simd.mul_f64s(ahead, simd.abs_f64s(ahead));
            let in_view = simd.sub_f64s(ahead, simd.mul_f64s(distance, view));
            let beyond = simd.min_f64s(simd.sub_f64s(range, distance), in_view);
            let either = simd.max_f64s(simd.sub_f64s(proximity, distance), beyond);
            // A negative zero, which is one too, loses its sign.
            *out = simd.min_f64s(simd.add_f64s(either, simd.splat_f64s(0.0)), *limit);
        }
    }
}

/// Lists everybody whom an observer sees, ascending, from `start` on; gives the end of the list.
struct Look<'a> {
    gaze: Gaze,
    grid: &'a Grid,
    reach: f64,
    own: u32,
    start: usize,
    list: &'a mut Vec<u32>,
}

impl pulp::WithSimd for Look<'_> {
    type Output = usize;

    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, simd: S) -> usize {
        let Self { gaze, grid, reach, own, start, list } = self;
        let mut end = start;
        for run in grid.runs(gaze.x, gaze.y, reach) {
            if list.len() < end + run.len() + LANES {
                list.resize(end + run.len() + LANES, 0);
            }
            let mut first = run.start;
            while first < run.end {
                let (rows, x, y) = grid.lanes(first);
                let mut sight = [0.0; LANES];
                gaze.sights(simd, x, y, run.end - first, &mut sight);
                // Without branches, since who is seen is as good as random: what is not seen is overwritten by the next.
                let slots = &mut list[end..end + LANES];
                let mut count = 0;
                for lane in 0..LANES {
                    slots[count % LANES] = rows[lane];
                    count += usize::from(sight[lane].is_sign_positive());
                }
                end += count;
                first += LANES;
            }
        }
        sort_without(&mut list[start..end], own);
        // The observer is always near enough to notice itself.
        end - 1
    }
}

/// Sort distinct rows, of which `own` is one, and put `own` last.
#[inline(always)]
fn sort_without(rows: &mut [u32], own: u32) {
    match rows.len() {
        0..=16 => sort_by_rank::<16>(rows, own),
        17..=32 => sort_by_rank::<32>(rows, own),
        _ => rows.sort_unstable_by_key(|row| (*row == own, *row)),
    }
}

/// Sort at most `MOST` rows by counting for each how many are smaller: no branches, and short lists are what there is.
#[inline(always)]
fn sort_by_rank<const MOST: usize>(rows: &mut [u32], own: u32) {
    let (mut keys, mut ranks) = ([i32::MAX; MOST], [0_i32; MOST]);
    for (key, row) in keys.iter_mut().zip(rows.iter()) {
        *key = if *row == own { i32::MAX } else { *row as i32 };
    }
    for smaller in &keys[..rows.len()] {
        for (rank, key) in ranks.iter_mut().zip(&keys) {
            *rank += i32::from(smaller < key);
        }
    }
    for (key, rank) in keys[..rows.len()].iter().zip(ranks) {
        rows[rank as usize] = *key as u32;
    }
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
    fn lists_of_every_length_are_sorted() {
        for count in 0..40_u32 {
            let mut rows: Vec<u32> = (0..count).map(|n| (n * 17 + 5) % 41).collect();
            let mut expected = rows.clone();
            expected.sort_unstable();
            let own = rows.first().copied().unwrap_or_default();
            sort_without(&mut rows, own);
            expected.retain(|row| *row != own);
            assert_eq!(rows[..expected.len()], expected);
        }
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

    proptest! {
        #[test]
        fn the_grid_finds_what_a_search_of_all_pairs_finds(
            poses in proptest::collection::vec((-20.0..20.0_f64, -20.0..20.0_f64, -4.0..4.0_f64), 1..200),
            range in 0.3..12.0,
        ) {
            let poses: Vec<[f64; 3]> = poses.into_iter().map(|(x, y, t)| [x, y, t]).collect();
            let mut pool = pool(&poses);
            pool.vision_range[0] = range;
            let all: Vec<Vec<u32>> = (0..pool.len())
                .map(|row| {
                    let gaze = Gaze::of(&pool, row);
                    let seen = |other: &usize| {
                        let (x, y, mut sight) = ([pool.x[*other]; 8], [pool.y[*other]; 8], [0.0; 8]);
                        gaze.sights(pulp::Scalar, &x, &y, 1, &mut sight);
                        *other != row && sight[0] >= 0.0
                    };
                    (0..pool.len()).filter(seen).map(|other| other as u32).collect()
                })
                .collect();
            prop_assert_eq!(seen(&pool, &Occlusion::Off), all);
        }
    }
}
