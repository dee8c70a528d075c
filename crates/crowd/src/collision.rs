//! Contacts after the move: agents are pushed apart, then out of walls (crowd-engine specification, section 21).
//!
//! Walls win over agents; what overlap is left carries over to the next tick. Without contact nothing changes.

use rayon::prelude::*;

use crate::capsule;
use crate::grid::Grid;
use crate::pool::{NO_POLICY, Pool};
use crate::walls::WallIndex;

/// Rows whose pairs are listed together. Fixed, so that the number of threads changes nothing.
const BLOCK: usize = 512;
/// Passes over the pairs, and over the walls of a row.
const PASSES: usize = 3;
/// Two centres nearer than this lie on one point, and part along x.
const SAME_POINT: f64 = 1e-9;
/// A wall is left alone when the gap is this close to what is asked for.
const SLACK: f64 = 1e-9;
/// Smallest edge of a cell, metres.
const SMALLEST_CELL: f64 = 0.5;

/// How far from a wall, beyond its body, an agent is kept, metres.
pub const MARGIN: f64 = 0.01;

/// Resolves contacts, and remembers who touched a wall.
#[derive(Debug, Clone, Default)]
pub struct Contacts {
    grid: Grid,
    /// Pairs that may touch, by blocks of the first row, ascending.
    pairs: Vec<Vec<(u32, u32)>>,
    pushed_by_walls: Vec<u32>,
}

impl Contacts {
    /// Rows that a wall moved in the last [`Contacts::resolve`], ascending.
    #[must_use]
    pub fn pushed_by_walls(&self) -> &[u32] {
        &self.pushed_by_walls
    }

    /// Largest body for which an index of walls with this reach is enough, metres.
    #[must_use]
    pub fn largest_radius(walls: &WallIndex) -> f64 {
        walls.reach() - MARGIN
    }

    /// Push everybody apart and out of the walls. With `parallel` the pairs are listed by the threads of the current pool.
    pub fn resolve(&mut self, pool: &mut Pool, walls: &WallIndex, parallel: bool) {
        self.list_pairs(pool, parallel);
        for _ in 0..PASSES {
            for (i, j) in self.pairs.iter().flatten() {
                separate(pool, *i as usize, *j as usize);
            }
        }
        self.pushed_by_walls.clear();
        if walls.is_empty() {
            return;
        }
        for row in 0..pool.len() {
            if pool.policy[row] != NO_POLICY && project(pool, walls, row) {
                self.pushed_by_walls.push(row as u32);
            }
        }
    }

    /// All pairs that may touch, in ascending order.
    fn list_pairs(&mut self, pool: &Pool, parallel: bool) {
        let most = |column: &[f64]| column.iter().fold(0.0, |most: f64, value| most.max(*value));
        let mut reach = 2.0 * most(&pool.radius);
        if pool.has_long_bodies() {
            reach += 2.0 * most(&pool.axial_offset);
        }
        let Self { grid, pairs, .. } = self;
        grid.rebuild(&pool.x, &pool.y, reach.max(SMALLEST_CELL));
        let grid = &*grid;
        pairs.resize_with(pool.len().div_ceil(BLOCK), Vec::new);
        let list = |(number, pairs): (usize, &mut Vec<(u32, u32)>)| {
            pairs.clear();
            for row in number * BLOCK..pool.len().min((number + 1) * BLOCK) {
                list_pairs_of(row, pool, grid, reach, pairs);
            }
        };
        if parallel {
            pairs.par_iter_mut().enumerate().for_each(list);
        } else {
            pairs.iter_mut().enumerate().for_each(list);
        }
    }
}

/// Append the pairs of a row with later ones, ascending.
fn list_pairs_of(row: usize, pool: &Pool, grid: &Grid, reach: f64, pairs: &mut Vec<(u32, u32)>) {
    let (x, y) = (pool.x[row], pool.y[row]);
    let start = pairs.len();
    for run in grid.runs(x, y, reach) {
        let (rows, xs, ys) = grid.slots(run);
        for (other, (ox, oy)) in rows.iter().zip(xs.iter().zip(ys)) {
            let (dx, dy) = (x - ox, y - oy);
            if *other > row as u32 && dx * dx + dy * dy <= reach * reach {
                pairs.push((row as u32, *other));
            }
        }
    }
    if pairs.len() > start + 1 {
        pairs[start..].sort_unstable();
    }
}

/// Push two overlapping bodies apart, and take away the speed with which they approach.
fn separate(pool: &mut Pool, i: usize, j: usize) {
    let apart = capsule::apart(pool, i, j);
    let distance = (apart[0] * apart[0] + apart[1] * apart[1]).sqrt();
    let depth = pool.radius[i] + pool.radius[j] - distance;
    if depth <= 0.0 {
        return;
    }
    let n = if distance <= SAME_POINT { [1.0, 0.0] } else { [apart[0] / distance, apart[1] / distance] };
    let movable = |row: usize| if pool.policy[row] == NO_POLICY { 0.0 } else { 1.0 };
    let (of_i, of_j) = (movable(i), movable(j));
    let both = of_i + of_j;
    if both == 0.0 {
        return;
    }
    let (of_i, of_j) = (of_i / both, of_j / both);
    pool.x[i] += of_i * depth * n[0];
    pool.y[i] += of_i * depth * n[1];
    pool.x[j] -= of_j * depth * n[0];
    pool.y[j] -= of_j * depth * n[1];
    let closing = (pool.vx[i] - pool.vx[j]) * n[0] + (pool.vy[i] - pool.vy[j]) * n[1];
    if closing < 0.0 {
        pool.vx[i] -= of_i * closing * n[0];
        pool.vy[i] -= of_i * closing * n[1];
        pool.vx[j] += of_j * closing * n[0];
        pool.vy[j] += of_j * closing * n[1];
    }
}

/// Push a body out of the walls, and let it slide along them; whether it was moved.
fn project(pool: &mut Pool, walls: &WallIndex, row: usize) -> bool {
    let wanted = pool.radius[row] + MARGIN;
    let mut moved = false;
    for _ in 0..PASSES {
        let mut touched = false;
        for disc in capsule::discs(pool, row) {
            for wall in walls.near(disc) {
                let (distance, offset) = wall.offset(disc);
                if distance >= wanted - SLACK {
                    continue;
                }
                touched = true;
                let u = away(distance, offset, wall.along);
                pool.x[row] += (wanted - distance) * u[0];
                pool.y[row] += (wanted - distance) * u[1];
                let into = pool.vx[row] * u[0] + pool.vy[row] * u[1];
                if into < 0.0 {
                    pool.vx[row] -= into * u[0];
                    pool.vy[row] -= into * u[1];
                }
            }
        }
        if !touched {
            break;
        }
        moved = true;
    }
    moved
}

/// Unit vector from a wall to a body; from a body right on the wall the wall's left.
fn away(distance: f64, offset: [f64; 2], along: [f64; 2]) -> [f64; 2] {
    if distance > 0.0 {
        return [offset[0] / distance, offset[1] / distance];
    }
    let length = (along[0] * along[0] + along[1] * along[1]).sqrt();
    if length > 0.0 { [-along[1] / length, along[0] / length] } else { [1.0, 0.0] }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pool::Row;
    use crate::sampling::AgentParameters;
    use crate::walls::Segment;
    use proptest::prelude::*;

    fn pool(places: &[[f64; 2]]) -> Pool {
        let parameters = AgentParameters { radius: 0.25, ..AgentParameters::unknown_type() };
        let mut pool = Pool::default();
        for (id, place) in places.iter().enumerate() {
            let row = pool.push(Row::new(id as i32, [place[0], place[1], 0.0], &parameters));
            pool.policy[row] = 0;
        }
        pool
    }

    #[test]
    fn two_on_one_point_part_along_x() {
        let mut pool = pool(&[[1.0, 1.0], [1.0, 1.0]]);
        Contacts::default().resolve(&mut pool, &WallIndex::default(), false);
        assert_eq!((pool.x, pool.y), (vec![1.25, 0.75], vec![1.0, 1.0]));
    }

    #[test]
    fn who_cannot_be_moved_stays_and_the_other_gives_way_whole() {
        let mut pool = pool(&[[0.0, 0.0], [0.4, 0.0]]);
        pool.policy[0] = NO_POLICY;
        pool.vx[1] = -1.0;
        Contacts::default().resolve(&mut pool, &WallIndex::default(), false);
        assert_eq!((pool.x[0], pool.x[1], pool.vx[1]), (0.0, 0.5, 0.0));
        pool.policy[1] = NO_POLICY;
        pool.x[1] = 0.4;
        Contacts::default().resolve(&mut pool, &WallIndex::default(), false);
        assert_eq!(pool.x[1], 0.4);
    }

    #[test]
    fn a_body_right_on_a_wall_gets_off_it() {
        let mut pool = pool(&[[0.0, 0.0]]);
        let walls = WallIndex::new(&[Segment::between([-1.0, 0.0], [1.0, 0.0])], 1.0);
        let mut contacts = Contacts::default();
        contacts.resolve(&mut pool, &walls, false);
        assert_eq!((pool.y[0], contacts.pushed_by_walls()), (0.26, &[0][..]));
        contacts.resolve(&mut pool, &walls, false);
        assert!(contacts.pushed_by_walls().is_empty(), "what is free stays as it is");
    }

    proptest! {
        #[test]
        fn the_pairs_are_those_of_a_search_of_all_pairs(
            places in proptest::collection::vec((-3.0..3.0_f64, -3.0..3.0_f64), 0..80),
        ) {
            let pool = pool(&places.iter().map(|(x, y)| [*x, *y]).collect::<Vec<_>>());
            let mut contacts = Contacts::default();
            contacts.list_pairs(&pool, false);
            let near = |i: usize, j: usize| {
                let (dx, dy) = (pool.x[i] - pool.x[j], pool.y[i] - pool.y[j]);
                dx * dx + dy * dy <= 0.25
            };
            let all: Vec<(u32, u32)> = (0..pool.len())
                .flat_map(|i| (i + 1..pool.len()).map(move |j| (i, j)))
                .filter(|(i, j)| near(*i, *j))
                .map(|(i, j)| (i as u32, j as u32))
                .collect();
            prop_assert_eq!(contacts.pairs.concat(), all);
        }
    }
}
