//! The interactions of a whole crowd at once, in vectors: what [`force::from_walker`](super::force::from_walker) and
//! [`force::from_point`](super::force::from_point) say one by one, within 8 m, and always a number. Robust mode only.
//!
//! Walkers are sorted by cell and id, and every pair is computed once, since its two forces are opposite. Sums are in an order that depends on
//! places and ids alone: never on rows, and so never on the order of a request.

use promenade_kernel::elementary::{atan2, exponential};

use super::force::{ANGULAR, ANTICIPATION, INTERACTION, OBSTACLE_RANGE};
use super::sense::Seen;
use crate::Point;

/// Walkers farther than this do not count, metres.
pub(crate) const SIGHT: f64 = 8.0;
/// Walkers nearer than this stand on one place, metres.
pub(crate) const COINCIDENT: f64 = 1e-9;
/// Obstacle points with a larger gap do not count, metres: the force of a gap of 6 m is 1e-13 of that of contact.
const POINT_SIGHT: f64 = 6.0;
/// Edge of a cell, and how many cells reach as far as sight.
const CELL: f64 = 4.0;
const REACH: u64 = 2;
/// Pairs that are computed together, and points.
const BATCH: usize = 512;
const LANES: usize = 8;
type Lanes = [f64; LANES];
/// Keeps quotients finite where there is no direction or no range.
const TINY: f64 = 1e-300;

/// See the module.
#[derive(Clone, Debug, Default)]
pub(crate) struct Crowd {
    /// Cell, id and row of walkers, ascending.
    order: Vec<(u64, i32, u32)>,
    /// Walkers in that order.
    sorted: Seen,
    /// Force on each of them.
    sum: [Vec<f64>; 2],
    batch: Option<Box<Batch>>,
    /// Force of other walkers on each row, before its factor.
    social: Vec<Point>,
    /// Force of obstacle points on each row, summed, before its factor.
    obstacle: Vec<Point>,
}

/// Pairs to compute.
#[derive(Clone, Debug)]
struct Batch {
    len: usize,
    pair: [[u32; BATCH]; 2],
    way: [[f64; BATCH]; 2],
    relative: [[f64; BATCH]; 2],
    force: [[f64; BATCH]; 2],
}

impl Default for Batch {
    fn default() -> Self {
        let empty = [[0.0; BATCH]; 2];
        Batch { len: 0, pair: [[0; BATCH]; 2], way: empty, relative: empty, force: empty }
    }
}

impl Crowd {
    /// What acts on a row, social and obstacle, if it was computed.
    pub(crate) fn on(&self, row: usize) -> Option<[Point; 2]> {
        Some([*self.social.get(row)?, *self.obstacle.get(row)?])
    }

    /// Rows are no more what they were.
    pub(crate) fn forget(&mut self) {
        self.social.clear();
        self.obstacle.clear();
    }

    /// Compute what acts on everybody; `obstacles` are the points of a row.
    pub(crate) fn compute<'a>(
        &mut self,
        seen: &Seen,
        radius: &[f64],
        ids: impl Fn(usize) -> i32,
        obstacles: impl Fn(usize) -> &'a [Point],
    ) {
        self.order.clear();
        self.order.extend((0..seen.x.len()).map(|row| (cell(seen.position(row)), ids(row), row as u32)));
        self.order.sort_unstable();
        let Seen { x, y, vx, vy } = &mut self.sorted;
        for (sorted, from) in [(x, &seen.x), (y, &seen.y), (vx, &seen.vx), (vy, &seen.vy)] {
            sorted.clear();
            sorted.extend(self.order.iter().map(|entry| from[entry.2 as usize]));
        }
        for sum in &mut self.sum {
            sum.clear();
            sum.resize(seen.x.len(), 0.0);
        }
        self.social.clear();
        self.social.resize(seen.x.len(), [0.0; 2]);
        self.obstacle.clear();
        pulp::Arch::new().dispatch(Interact { crowd: self, seen, radius, obstacles });
    }
}

/// The cell of a place, ascending by row and then along it.
fn cell(at: Point) -> u64 {
    let [x, y] = at.map(|part| u64::from(((part / CELL).floor() as i32 as u32) ^ (1 << 31)));
    y << 32 | x
}

/// Computes all interactions in code for the widest vectors of this machine.
struct Interact<'a, O> {
    crowd: &'a mut Crowd,
    seen: &'a Seen,
    radius: &'a [f64],
    obstacles: O,
}

impl<'a, O: Fn(usize) -> &'a [Point]> pulp::WithSimd for Interact<'_, O> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, _: S) {
        let Interact { crowd, seen, radius, obstacles } = self;
        let Crowd { order, sorted, sum, batch, social, obstacle } = crowd;
        let batch = &mut **batch.get_or_insert_default();
        let (mut end, mut ahead) = (0, [[0; 2]; REACH as usize]);
        for (first, entry) in order.iter().enumerate() {
            let cell = entry.0;
            // Cells ascend with walkers, so that no limit ever moves back.
            let past =
                |from: usize, cell: u64| from + order[from..].iter().take_while(|e| e.0 <= cell).count();
            let before =
                |from: usize, cell: u64| from + order[from..].iter().take_while(|e| e.0 < cell).count();
            end = past(end.max(first), cell + REACH);
            collect(batch, sorted, sum, first, first + 1..end);
            for (rows, [from, to]) in (1..).zip(&mut ahead) {
                let row = cell.saturating_add(rows << 32);
                *from = before(*from, row.saturating_sub(REACH));
                *to = past((*to).max(*from), row.saturating_add(REACH));
                collect(batch, sorted, sum, first, *from..*to);
            }
        }
        flush(batch, sum);
        for (at, entry) in order.iter().enumerate() {
            social[entry.2 as usize] = [sum[0][at], sum[1][at]];
        }
        // A loop of its own here: in an iterator's it would not be code for wide vectors.
        for (row, radius) in radius.iter().enumerate() {
            obstacle.push(points(seen.position(row), *radius, obstacles(row)));
        }
    }
}

/// Put the pairs of one walker with others that are near enough into the batch.
#[inline(always)]
fn collect(
    batch: &mut Batch,
    seen: &Seen,
    sum: &mut [Vec<f64>; 2],
    one: usize,
    others: std::ops::Range<usize>,
) {
    let ([x, y], [vx, vy]) = (seen.position(one), seen.velocity(one));
    for other in others {
        if batch.len == BATCH {
            flush(batch, sum);
        }
        let at = batch.len;
        let way = [seen.x[other] - x, seen.y[other] - y];
        batch.pair[0][at] = one as u32;
        batch.pair[1][at] = other as u32;
        batch.way[0][at] = way[0];
        batch.way[1][at] = way[1];
        batch.relative[0][at] = vx - seen.vx[other];
        batch.relative[1][at] = vy - seen.vy[other];
        // Written in any case and overwritten if it does not count: cheaper than a branch that nobody can foresee.
        batch.len += usize::from(way[0] * way[0] + way[1] * way[1] <= SIGHT * SIGHT);
    }
}

/// Compute the pairs of the batch, add their forces, and empty it.
#[inline(always)]
fn flush(batch: &mut Batch, sum: &mut [Vec<f64>; 2]) {
    let Batch { len, pair, way, relative, force } = batch;
    // In whole vectors; what is beyond the last pair is stale but finite, and nobody adds it.
    for at in (0..*len).step_by(LANES) {
        // On copies, since a compiler that fears overlap makes no vectors.
        let way = [lanes(&way[0], at), lanes(&way[1], at)];
        let [fx, fy] = pair_forces(&way, &[lanes(&relative[0], at), lanes(&relative[1], at)]);
        force[0][at..at + LANES].copy_from_slice(&fx);
        force[1][at..at + LANES].copy_from_slice(&fy);
    }
    let [fx, fy] = force;
    for at in 0..*len {
        let [one, other] = [pair[0][at] as usize, pair[1][at] as usize];
        for (axis, force) in [fx[at], fy[at]].into_iter().enumerate() {
            sum[axis][one] += force;
            sum[axis][other] -= force;
        }
    }
    *len = 0;
}

#[inline(always)]
fn lanes(axis: &[f64; BATCH], at: usize) -> Lanes {
    let mut lanes = [0.0; LANES];
    lanes.copy_from_slice(&axis[at..at + LANES]);
    lanes
}

/// The force on the one from the other; see [`force::from_walker`](super::force::from_walker). Of two on one place the one is the lower id,
/// which has the other to its right. In short loops, each of which compilers turn into vectors.
#[inline(always)]
fn pair_forces(way: &[Lanes; 2], relative: &[Lanes; 2]) -> [Lanes; 2] {
    let (mut ix, mut iy, mut inverse) = ([0.0; LANES], [0.0; LANES], [0.0; LANES]);
    let (mut range, mut fall) = ([0.0; LANES], [0.0; LANES]);
    let (mut sine, mut cosine) = ([0.0; LANES], [0.0; LANES]);
    for lane in 0..LANES {
        let (x, y) = (way[0][lane], way[1][lane]);
        let distance = (x * x + y * y).sqrt();
        let apart = distance >= COINCIDENT;
        let over = 1.0 / distance;
        let (dx, dy) = (if apart { x * over } else { 1.0 }, if apart { y * over } else { 0.0 });
        let (x, y) = (ANTICIPATION * relative[0][lane] + dx, ANTICIPATION * relative[1][lane] + dy);
        let length = (x * x + y * y).sqrt();
        (ix[lane], iy[lane]) = (x, y);
        inverse[lane] = 1.0 / (length + TINY);
        range[lane] = INTERACTION * length;
        fall[lane] = -distance / (INTERACTION * length + TINY);
        cosine[lane] = dx * x + dy * y + TINY;
        sine[lane] = dy * x - dx * y;
    }
    let mut angle = [0.0; LANES];
    for lane in 0..LANES {
        angle[lane] = atan2(sine[lane], cosine[lane]);
    }
    let (mut turning, mut slowing) = ([0.0; LANES], [0.0; LANES]);
    for lane in 0..LANES {
        let spread = range[lane] * angle[lane];
        let spread = spread * spread;
        turning[lane] = exponential(fall[lane] - ANGULAR[0] * ANGULAR[0] * spread);
        slowing[lane] = exponential(fall[lane] - ANGULAR[1] * ANGULAR[1] * spread);
    }
    let (mut fx, mut fy) = ([0.0; LANES], [0.0; LANES]);
    for lane in 0..LANES {
        let sign = if angle[lane] == 0.0 { 0.0 } else { 1.0_f64.copysign(angle[lane]) };
        let (along, aside) = (-slowing[lane] * inverse[lane], -sign * turning[lane] * inverse[lane]);
        fx[lane] = along * ix[lane] - aside * iy[lane];
        fy[lane] = along * iy[lane] + aside * ix[lane];
    }
    [fx, fy]
}

/// The sum of the forces of obstacle points on a walker, before its factor; one on which it stands has no direction to push.
#[inline(always)]
fn points(at: Point, radius: f64, points: &[Point]) -> Point {
    let mut sum = [0.0; 2];
    for chunk in points.chunks(LANES) {
        let (mut x, mut y) = ([0.0; LANES], [0.0; LANES]);
        for (lane, point) in chunk.iter().enumerate() {
            x[lane] = at[0] - point[0];
            y[lane] = at[1] - point[1];
        }
        let mut push = [0.0; LANES];
        for lane in 0..LANES {
            let distance = (x[lane] * x[lane] + y[lane] * y[lane]).sqrt();
            let gap = distance - radius;
            let counts = (distance > 0.0) & (gap < POINT_SIGHT);
            let force = exponential(-gap / OBSTACLE_RANGE) / distance;
            push[lane] = if counts { force } else { 0.0 };
        }
        for lane in 0..chunk.len() {
            sum[0] += push[lane] * x[lane];
            sum[1] += push[lane] * y[lane];
        }
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::super::force;
    use super::*;

    /// Walkers on a spiral, some on cells' edges, with velocities in all directions.
    fn walkers(count: usize) -> Seen {
        let mut seen = Seen::default();
        for n in 0..count {
            let t = n as f64;
            let (sin, cos) = (2.4 * t).sin_cos();
            let at = [(0.9 * t.sqrt() * cos * 8.0).round() / 8.0, 0.9 * t.sqrt() * sin];
            let (sin, cos) = (1.7 * t).sin_cos();
            seen.push(at, [1.2 * cos, 1.2 * sin]);
        }
        seen
    }

    fn plain(seen: &Seen, row: usize) -> Point {
        (0..seen.x.len()).filter(|other| *other != row).fold([0.0; 2], |sum, other| {
            let way = force::sub(seen.position(other), seen.position(row));
            let relative = force::sub(seen.velocity(row), seen.velocity(other));
            let near = force::norm(way) <= SIGHT;
            force::add(sum, if near { force::from_walker(way, relative, 0.0) } else { [0.0; 2] })
        })
    }

    fn computed(seen: &Seen, obstacles: &[Point]) -> Crowd {
        let (mut crowd, radius) = (Crowd::default(), vec![0.35; seen.x.len()]);
        crowd.compute(seen, &radius, |row| row as i32, |_| obstacles);
        crowd
    }

    #[test]
    fn vectors_say_what_the_model_says_pair_by_pair() {
        let seen = walkers(700);
        let crowd = computed(&seen, &[]);
        let mut largest: f64 = 0.0;
        for row in 0..seen.x.len() {
            let (found, expected) = (crowd.social[row], plain(&seen, row));
            largest = largest.max(force::norm(expected));
            assert!(force::norm(force::sub(found, expected)) < 1e-11, "{row}: {found:?} {expected:?}");
        }
        assert!(largest > 0.5, "somebody is pushed: {largest}");
    }

    #[test]
    fn vectors_say_what_the_model_says_point_by_point() {
        let obstacles: Vec<Point> = (0..19).map(|n| [0.1 * f64::from(n), 1.0 + 0.3 * f64::from(n)]).collect();
        let seen = walkers(40);
        let crowd = computed(&seen, &obstacles);
        for row in 0..seen.x.len() {
            let points = obstacles.iter().copied().filter(|point| *point != seen.position(row));
            let expected =
                force::from_obstacles(seen.position(row), 0.35, points, 1.0, crate::ObstacleRule::Sum);
            let off = force::norm(force::sub(crowd.obstacle[row], expected));
            assert!(off <= 1e-12 * (1.0 + force::norm(expected)), "{row}: {off}");
        }
    }

    #[test]
    fn forces_without_a_direction_are_numbers() {
        let mut seen = Seen::default();
        seen.push([1.0; 2], [0.0; 2]);
        seen.push([1.0; 2], [0.0; 2]);
        // The relative velocity cancels the direction: no interaction.
        seen.push([6.0, 1.0], [0.5, 0.0]);
        let crowd = computed(&seen, &[[1.0; 2]]);
        let [left, right] = [crowd.social[0], crowd.social[1]];
        assert!(left[0] < -0.5 && right[0] > 0.5, "the lower id goes left: {left:?} {right:?}");
        assert!(crowd.social.iter().flatten().all(|part| part.is_finite()));
        assert_eq!(crowd.obstacle[0], [0.0; 2]);
    }

    #[test]
    fn rows_do_not_matter() {
        let seen = walkers(200);
        let mut mirrored = Seen::default();
        (0..200).rev().for_each(|row| mirrored.push(seen.position(row), seen.velocity(row)));
        let forward = computed(&seen, &[]);
        let (mut crowd, radius) = (Crowd::default(), [0.35; 200]);
        crowd.compute(&mirrored, &radius, |row| 199 - row as i32, |_| &[]);
        crowd.social.reverse();
        assert_eq!(crowd.social, forward.social, "to the last bit");
    }
}
