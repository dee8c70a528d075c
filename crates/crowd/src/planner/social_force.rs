//! The forces that `sfm` and `hsfm` share (crowd-engine specification, section 20.1).
//!
//! Drive, circular repulsion with a weaker push from behind, and walls: Helbing & Molnár 1995, Phys. Rev. E 51, 4282; the anisotropy
//! is that of Helbing, Farkas, Molnár & Vicsek 2002, and the wall term that of Moussaïd et al. 2009, Proc. R. Soc. B 276, 2755.

use super::{SMALLEST, Scene, drive, leaning, values_of};
use crate::capsule;
use crate::perception::LANES;
use crate::sampling::{AgentParameters, PlannerKey};
use promenade_kernel::elementary::exponential;

/// Parameters of the forces, in the order they are drawn.
pub(super) const KEYS: [PlannerKey; 4] = [
    PlannerKey::normal("relaxation_time", 0.5, 0.05),
    PlannerKey::normal("repulsion_strength", 2.1, 0.2),
    PlannerKey::normal("repulsion_range", 0.3, 0.03),
    PlannerKey::exactly("anisotropy", 0.5),
];

const WALL_STRENGTH: f64 = 3.0;
const WALL_RANGE: f64 = 0.1;
/// In wall ranges beyond the body: what is further away pushes with less than 2.1e-12 m/s2.
const WALL_CUT: f64 = 28.0;

/// Columns of the parameters.
#[derive(Debug, Clone, Default)]
pub(super) struct Forces {
    relaxation_time: Vec<f64>,
    strength: Vec<f64>,
    range: Vec<f64>,
    anisotropy: Vec<f64>,
}

/// The force on one row by where it comes from, as accelerations, m/s2.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Force {
    /// Toward the desired velocity.
    pub drive: [f64; 2],
    /// Away from others.
    pub social: [f64; 2],
    /// Away from walls.
    pub walls: [f64; 2],
}

impl Force {
    /// Everything together.
    #[must_use]
    #[inline(always)]
    pub fn total(&self) -> [f64; 2] {
        let Self { drive, social, walls } = self;
        [drive[0] + social[0] + walls[0], drive[1] + social[1] + walls[1]]
    }
}

impl Forces {
    pub(super) fn push(&mut self, parameters: &AgentParameters) {
        let [relaxation_time, strength, range, anisotropy] = values_of(parameters, &KEYS);
        self.relaxation_time.push(relaxation_time);
        self.strength.push(strength);
        self.range.push(range);
        self.anisotropy.push(anisotropy);
    }

    pub(super) fn set(&mut self, row: usize, parameters: &AgentParameters) {
        [self.relaxation_time[row], self.strength[row], self.range[row], self.anisotropy[row]] =
            values_of(parameters, &KEYS);
    }

    pub(super) fn swap_remove(&mut self, row: usize) {
        self.relaxation_time.swap_remove(row);
        self.strength.swap_remove(row);
        self.range.swap_remove(row);
        self.anisotropy.swap_remove(row);
    }

    /// Force on a row that wants to go along the unit vector `e`.
    #[inline(always)]
    pub(super) fn on(&self, scene: &Scene<'_>, row: usize, e: [f64; 2]) -> Force {
        let pool = scene.pool;
        let drive = drive(pool, row, e, self.relaxation_time[row]);
        let social = leaning(scene, row, e, self.social(scene, row, e));
        Force { drive, social, walls: self.walls(scene, row) }
    }

    /// Sum of the pushes of all neighbours, in ascending order.
    #[inline(always)]
    fn social(&self, scene: &Scene<'_>, row: usize, e: [f64; 2]) -> [f64; 2] {
        let mut sum = [0.0; 2];
        let (lanes, count) = scene.neighbours.lanes_of(row);
        for (at, rows) in lanes.iter().enumerate() {
            let (fx, fy) = self.pushes(scene, row, e, rows, count - at * LANES);
            for lane in 0..LANES {
                sum[0] += fx[lane];
                sum[1] += fy[lane];
            }
        }
        sum
    }

    /// The pushes of [`LANES`] neighbours, of whom the first `count` count.
    #[inline(always)]
    fn pushes(
        &self,
        scene: &Scene<'_>,
        row: usize,
        e: [f64; 2],
        rows: &[u32; LANES],
        count: usize,
    ) -> ([f64; LANES], [f64; LANES]) {
        let (pool, gains) = (scene.pool, scene.gains.get(scene.pool.gains[row]));
        let (strength, lambda) = (self.strength[row], self.anisotropy[row]);
        let steepness = 1.0 / self.range[row];
        let (x, y, radius, observer) = (pool.x[row], pool.y[row], pool.radius[row], pool.class[row]);
        let (mut dx, mut dy, mut reach) = ([0.0; LANES], [0.0; LANES], [0.0; LANES]);
        let (mut strengths, mut steepnesses) = ([strength; LANES], [steepness; LANES]);
        let mut concerned = false;
        for (lane, other) in rows.iter().enumerate() {
            let other = *other as usize;
            dx[lane] = x - pool.x[other];
            dy[lane] = y - pool.y[other];
            reach[lane] = radius + pool.radius[other];
            concerned |= gains.concern(observer, pool.class[other]);
        }
        if concerned {
            for (lane, other) in rows.iter().enumerate() {
                let (stronger, further) = gains.of(observer, pool.class[*other as usize]);
                strengths[lane] = strength * stronger;
                steepnesses[lane] = steepness / further;
            }
        }
        if pool.has_long_bodies() {
            for (lane, other) in rows.iter().enumerate() {
                [dx[lane], dy[lane]] = capsule::apart(pool, row, *other as usize);
            }
        }
        let (mut fx, mut fy) = ([0.0; LANES], [0.0; LANES]);
        for lane in 0..LANES {
            let distance = (dx[lane] * dx[lane] + dy[lane] * dy[lane]).sqrt().max(SMALLEST);
            let inverse = 1.0 / distance;
            let (nx, ny) = (dx[lane] * inverse, dy[lane] * inverse);
            let cos = -(nx * e[0] + ny * e[1]);
            let weight = lambda + (1.0 - lambda) * (1.0 + cos) * 0.5;
            let push = strengths[lane] * exponential((reach[lane] - distance) * steepnesses[lane]) * weight;
            let push = if lane < count { push } else { 0.0 };
            fx[lane] = push * nx;
            fy[lane] = push * ny;
        }
        (fx, fy)
    }

    /// Sum of the pushes of all walls near enough, in order of insertion.
    fn walls(&self, scene: &Scene<'_>, row: usize) -> [f64; 2] {
        if scene.walls.is_empty() {
            return [0.0; 2];
        }
        let radius = scene.pool.radius[row];
        let cut = radius + WALL_CUT * WALL_RANGE;
        let mut sum = [0.0; 2];
        for disc in capsule::discs(scene.pool, row) {
            for wall in scene.walls.near(disc) {
                let (distance, offset) = wall.offset(disc);
                if distance <= cut {
                    let floored = distance.max(SMALLEST);
                    let push = WALL_STRENGTH * exponential((radius - distance) / WALL_RANGE);
                    sum[0] += push * (offset[0] / floored);
                    sum[1] += push * (offset[1] / floored);
                }
            }
        }
        sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grid::Grid;
    use crate::improvements::Improvements;
    use crate::perception::Neighbours;
    use crate::planner::GainTable;
    use crate::pool::{ClassIndex, Pool, Row};
    use crate::spawn::class;
    use crate::walls::{Segment, WallIndex};

    /// Force on somebody at the origin who stands, wants to stand, and faces along x.
    fn force(other: Option<([f64; 2], ClassIndex)>, wall: Option<Segment>) -> [f64; 2] {
        let parameters =
            AgentParameters { radius: 0.25, desired_velocity: 0.0, ..AgentParameters::unknown_type() };
        let (mut pool, mut forces) = (Pool::default(), Forces::default());
        for (id, (place, class)) in [([0.0; 2], class::HUMAN)].into_iter().chain(other).enumerate() {
            let row = pool.push(Row::new(id as i32, [place[0], place[1], 0.0], &parameters));
            pool.class[row] = class;
            forces.push(&parameters);
        }
        let walls = WallIndex::new(wall.as_slice(), super::super::WALL_REACH);
        let neighbours = Neighbours::everybody(pool.len());
        let (grid, gains, improvements) = (Grid::default(), GainTable::default(), Improvements::NONE);
        let (pool, neighbours) = (&pool, &neighbours);
        let scene =
            Scene { pool, neighbours, grid: &grid, gains: &gains, walls: &walls, improvements, dt: 0.05 };
        forces.on(&scene, 0, [1.0, 0.0]).total()
    }

    fn assert_near(found: [f64; 2], expected: [f64; 2]) {
        assert!((0..2).all(|axis| (found[axis] - expected[axis]).abs() < 5e-5), "{found:?} {expected:?}");
    }

    #[test]
    fn neighbours_push_with_the_published_values() {
        assert_near(force(Some(([1.0, 0.0], class::HUMAN)), None), [-0.3966, 0.0]);
        assert_near(force(Some(([0.0, 1.0], class::HUMAN)), None), [0.0, -0.2975]);
        assert_near(force(Some(([-1.0, 0.0], class::HUMAN)), None), [0.1983, 0.0]);
        assert_near(force(Some(([1.0, 0.0], class::ROBOT)), None), [-0.8740, 0.0]);
    }

    #[test]
    fn walls_push_with_the_published_values() {
        let wall = |y| Some(Segment::between([-3.0, y], [3.0, y]));
        assert_near(force(None, wall(-0.5)), [0.0, 0.2463]);
        assert_near(force(None, wall(0.3)), [0.0, -1.8196]);
    }
}
