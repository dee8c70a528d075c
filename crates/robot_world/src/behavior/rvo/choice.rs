//! The best of a grid of velocities (robot-world specification, section 9.2).
//!
//! What is answered is what trying every velocity in order answers, to the last bit: the tests do so. Two properties of rounded arithmetic
//! make it cheap. Along a column of equal x, `cross(edge, c - apex)` is monotone however it is rounded, so that a cone forbids one run of a
//! column; and a sum of non-negative terms is never below one of them, so that columns and blocks too far away need not be looked at.

use super::cone::{Cone, DiscTime, WallTime, length, minus};
use crate::Point;

/// Distance between velocities of the grid, m/s.
const SPACING: f64 = 0.05;

/// Rows and columns of a block of velocities that are bounded together.
const BLOCK: usize = 8;

/// Time to a collision that is counted for one that has begun, seconds.
const AT_ONCE: f64 = 1e-4;

/// What a bound is multiplied by so that it holds however it was rounded.
const CERTAIN: f64 = 1.0 - 1e-9;

/// The velocities of one axis, ascending.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Axis {
    low: f64,
    step: f64,
    count: usize,
}

impl Axis {
    /// What can be had from `present` with a change of `change` within `most`.
    pub(super) fn new(present: f64, change: f64, most: f64) -> Self {
        let low = (present - change).max(-most);
        let high = (present + change).min(most);
        if high <= low {
            return Self { low: present.max(-most).min(most), step: 0.0, count: 1 };
        }
        // The count and the values as rounded by the recorded runs: often it decides whether `high` itself belongs to them.
        let count = ((high - low) / SPACING).ceil() as usize;
        Self { low, step: (low + SPACING) - low, count }
    }

    fn value(&self, index: usize) -> f64 {
        self.low + index as f64 * self.step
    }

    /// Number of values for which `holds`, which must hold for the first ones only, is true; `near` may be any guess.
    fn partition(&self, near: f64, holds: impl Fn(f64) -> bool) -> usize {
        // A conversion saturates, and makes zero of no number.
        let mut index = (near.ceil() as usize).min(self.count);
        while index < self.count && holds(self.value(index)) {
            index += 1;
        }
        while index > 0 && !holds(self.value(index - 1)) {
            index -= 1;
        }
        index
    }

    /// Where `value` would be, in steps.
    fn place(&self, value: f64) -> f64 {
        (value - self.low) / self.step
    }
}

/// What a velocity is chosen by.
#[derive(Clone, Copy, Debug)]
pub(super) struct Problem<'a> {
    pub(super) x: Axis,
    pub(super) y: Axis,
    pub(super) desired: Point,
    /// Weight of the time to a collision.
    pub(super) factor: f64,
    /// What to keep out of, with how soon it is met. The order decides nothing but the effort: best the nearest first.
    pub(super) discs: &'a [(Cone, DiscTime)],
    pub(super) walls: &'a [(Cone, WallTime)],
}

/// Memory of the choice.
#[derive(Debug, Default)]
pub(super) struct Buffers {
    edges: Vec<[Edge; 2]>,
    forbidden: Vec<u64>,
    blocks: Vec<(f64, u32, u32)>,
}

/// One edge of a cone, prepared for the columns of a grid: where along a column it is crossed, as a guess, is `at + slope * x`.
#[derive(Clone, Copy, Debug)]
struct Edge {
    at: f64,
    slope: f64,
    /// Whether what the edge forbids is at the beginning of a column or at its end.
    first: bool,
}

/// A velocity that may be the best: smaller is better, then earlier in the order of velocities.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Best {
    value: f64,
    column: usize,
    row: usize,
}

impl Best {
    fn offer(best: &mut Option<Self>, value: f64, column: usize, row: usize) {
        let better = best.is_none_or(|best| {
            value < best.value || (value == best.value && (column, row) < (best.column, best.row))
        });
        if better {
            *best = Some(Self { value, column, row });
        }
    }
}

impl Problem<'_> {
    /// The velocity outside all cones nearest to the desired one; where there is none, the least bad one.
    pub(super) fn choose(&self, buffers: &mut Buffers) -> Point {
        let best = self.nearest_allowed(buffers).or_else(|| self.least_bad(&mut buffers.blocks));
        best.map_or([self.x.value(0), self.y.value(0)], |best| self.velocity(best.column, best.row))
    }

    fn cones(&self) -> impl Iterator<Item = &Cone> {
        let walls = self.walls.iter().map(|(cone, _)| cone);
        self.discs.iter().map(|(cone, _)| cone).chain(walls)
    }

    fn velocity(&self, column: usize, row: usize) -> Point {
        [self.x.value(column), self.y.value(row)]
    }

    fn distance(&self, column: usize, row: usize) -> f64 {
        length(minus(self.velocity(column, row), self.desired))
    }

    /// Looks at columns beginning with the nearest to the desired velocity.
    fn nearest_allowed(&self, buffers: &mut Buffers) -> Option<Best> {
        let Buffers { edges, forbidden, .. } = buffers;
        edges.clear();
        edges.extend(self.cones().map(|cone| self.edges(cone)));
        let mut best = None;
        let mut right = self.x.partition(self.x.place(self.desired[0]), |x| x < self.desired[0]);
        let mut left = right;
        let sideways = |column: usize| {
            let gap = self.x.value(column) - self.desired[0];
            (gap * gap).sqrt()
        };
        loop {
            let left_gap = if left > 0 { sideways(left - 1) } else { f64::INFINITY };
            let right_gap = if right < self.x.count { sideways(right) } else { f64::INFINITY };
            let limit = best.map_or(f64::MAX, |best: Best| best.value);
            if left_gap.min(right_gap) > limit {
                return best;
            }
            let column = if left_gap <= right_gap {
                left -= 1;
                left
            } else {
                right += 1;
                right - 1
            };
            if self.forbid(column, edges, forbidden) {
                self.offer_nearest(column, forbidden, &mut best);
            }
        }
    }

    fn edges(&self, cone: &Cone) -> [Edge; 2] {
        [(cone.left, true), (cone.right, false)].map(|(edge, is_left)| {
            let slope = edge[1] / edge[0] / self.y.step;
            Edge {
                at: self.y.place(cone.apex[1]) - slope * cone.apex[0],
                slope,
                // To the right of the left edge is below it where it goes to positive x.
                first: (edge[0] > 0.0) == is_left,
            }
        })
    }

    /// Marks what the cones forbid of a column; false when that is all of it.
    fn forbid(&self, column: usize, edges: &[[Edge; 2]], forbidden: &mut Vec<u64>) -> bool {
        let count = self.y.count;
        forbidden.clear();
        forbidden.resize(count.div_ceil(64), 0);
        // What is beyond the column's end is nobody's choice.
        if !count.is_multiple_of(64)
            && let Some(last) = forbidden.last_mut()
        {
            *last = !0 << (count % 64);
        }
        let x = self.x.value(column);
        for (cone, edges) in self.cones().zip(edges) {
            let gap = x - cone.apex[0];
            let (mut from, mut to) = (0, count);
            for (edge, direction, sign) in [(edges[0], cone.left, 1.0), (edges[1], cone.right, -1.0)] {
                // `cross(direction, c - apex) * sign <= 0`, in which the sign rounds nothing.
                let offset = direction[1] * gap;
                let inside = |y: f64| (direction[0] * (y - cone.apex[1]) - offset) * sign <= 0.0;
                let near = edge.at + edge.slope * x;
                if edge.first {
                    to = to.min(self.y.partition(near, inside));
                } else {
                    from = from.max(self.y.partition(near, |y| !inside(y)));
                }
            }
            if from < to {
                mark(forbidden, from, to);
                if forbidden.iter().all(|word| *word == !0) {
                    return false;
                }
            }
        }
        true
    }

    /// Offers the best allowed velocity of a column that has one.
    fn offer_nearest(&self, column: usize, forbidden: &[u64], best: &mut Option<Best>) {
        let split = self.y.partition(self.y.place(self.desired[1]), |y| y < self.desired[1]);
        if let Some(row) = next_free(forbidden, split) {
            Best::offer(best, self.distance(column, row), column, row);
        }
        // Velocities further away may be as near when rounded, and come first.
        let mut row = split;
        let mut last = f64::INFINITY;
        while let Some(lower) = previous_free(forbidden, row) {
            let distance = self.distance(column, lower);
            if distance > last {
                break;
            }
            Best::offer(best, distance, column, lower);
            (row, last) = (lower, distance);
        }
    }

    /// The least of `factor / time + distance`. Bounds every block of the grid from below and tries blocks beginning with the most promising.
    fn least_bad(&self, blocks: &mut Vec<(f64, u32, u32)>) -> Option<Best> {
        blocks.clear();
        for column in (0..self.x.count).step_by(BLOCK) {
            for row in (0..self.y.count).step_by(BLOCK) {
                blocks.push((self.bound(column, row), column as u32, row as u32));
            }
        }
        blocks.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
        let mut best = None;
        for &(bound, column, row) in &*blocks {
            if best.is_some_and(|best: Best| bound > best.value) {
                break;
            }
            let (column, row) = (column as usize, row as usize);
            for column in column..(column + BLOCK).min(self.x.count) {
                for row in row..(row + BLOCK).min(self.y.count) {
                    if best.is_none_or(|best| !self.is_worse(column, row, best.value)) {
                        Best::offer(&mut best, self.badness(column, row), column, row);
                    }
                }
            }
        }
        best
    }

    fn badness(&self, column: usize, row: usize) -> f64 {
        let velocity = self.velocity(column, row);
        let discs = self.discs.iter().map(|(_, disc)| disc.of(velocity));
        let walls = self.walls.iter().map(|(_, wall)| wall.of(velocity));
        let soonest = discs.chain(walls).fold(f64::INFINITY, f64::min);
        let soonest = if soonest == 0.0 { AT_ONCE } else { soonest };
        self.factor / soonest + self.distance(column, row)
    }

    /// Whether some disc alone makes a velocity worse than `badness`; where rounding could matter, the answer is no.
    fn is_worse(&self, column: usize, row: usize, badness: f64) -> bool {
        let left = badness - self.distance(column, row) * CERTAIN;
        if left < 0.0 {
            return true;
        }
        // No collision that has begun is counted as sooner than this.
        let soonest = self.factor / left * CERTAIN;
        let velocity = self.velocity(column, row);
        soonest > AT_ONCE && self.discs.iter().any(|(_, disc)| disc.is_sooner(velocity, soonest))
    }

    /// Not more than the badness of any velocity of the block that begins with these.
    fn bound(&self, column: usize, row: usize) -> f64 {
        let low = self.velocity(column, row);
        let last = |first: usize, axis: &Axis| (first + BLOCK).min(axis.count) - 1;
        let high = self.velocity(last(column, &self.x), last(row, &self.y));
        let to_block = |from: Point| {
            length([0, 1].map(|axis| (low[axis] - from[axis]).max(from[axis] - high[axis]).max(0.0)))
        };
        let hurry = self
            .discs
            .iter()
            .map(|(_, disc)| 2.0 * to_block(disc.sum.map(|axis| axis / 2.0)) / disc.tangent)
            // A collision that has begun counts less than one that is about to.
            .fold(0.0, |hurry: f64, of_disc| if of_disc > hurry { of_disc } else { hurry })
            .min(1.0 / AT_ONCE);
        (to_block(self.desired) + self.factor * hurry) * CERTAIN
    }
}

/// Sets bits `from` to `to`.
fn mark(words: &mut [u64], from: usize, to: usize) {
    for (index, word) in words.iter_mut().enumerate().take(to.div_ceil(64)).skip(from / 64) {
        let low = from.saturating_sub(index * 64);
        let high = (to - index * 64).min(64);
        *word |= (!0 >> (64 - (high - low))) << low;
    }
}

/// The first bit not set from `from` on.
fn next_free(words: &[u64], from: usize) -> Option<usize> {
    let first = from / 64;
    words.iter().enumerate().skip(first).find_map(|(index, word)| {
        let skipped = if index == first { !(!0 << (from % 64)) } else { 0 };
        let free = !(word | skipped);
        (free != 0).then(|| index * 64 + free.trailing_zeros() as usize)
    })
}

/// The last bit not set before `before`.
fn previous_free(words: &[u64], before: usize) -> Option<usize> {
    let last = before / 64;
    words.iter().enumerate().take(last + 1).rev().find_map(|(index, word)| {
        let kept: u64 = if index == last { !(!0 << (before % 64)) } else { !0 };
        let free = !word & kept;
        (free != 0).then(|| index * 64 + 63 - free.leading_zeros() as usize)
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::cone::cross;
    use super::super::{Disc, Ego, Mode};
    use super::*;

    /// The specification word by word: every velocity in order.
    fn by_trying_all(problem: &Problem<'_>) -> Point {
        let inside = |cone: &Cone, c: Point| {
            let from_apex = minus(c, cone.apex);
            cross(cone.left, from_apex) <= 0.0 && cross(cone.right, from_apex) >= 0.0
        };
        let mut allowed: Option<(f64, Point)> = None;
        let mut least_bad: Option<(f64, Point)> = None;
        for column in 0..problem.x.count {
            for row in 0..problem.y.count {
                let c = [problem.x.value(column), problem.y.value(row)];
                let distance = length(minus(c, problem.desired));
                if !problem.cones().any(|cone| inside(cone, c))
                    && allowed.is_none_or(|(best, _)| distance < best)
                {
                    allowed = Some((distance, c));
                }
                let mut soonest = f64::INFINITY;
                for (_, disc) in problem.discs {
                    soonest = soonest.min(disc.of(c));
                }
                for (_, wall) in problem.walls {
                    soonest = soonest.min(wall.of(c));
                }
                let soonest = if soonest == 0.0 { 1e-4 } else { soonest };
                let badness = problem.factor / soonest + distance;
                if least_bad.is_none_or(|(best, _)| badness < best) {
                    least_bad = Some((badness, c));
                }
            }
        }
        allowed.or(least_bad).unwrap().1
    }

    /// Numbers of a grid, so that ties and edges are common, and numbers in between.
    fn coordinate(most: f64) -> impl Strategy<Value = f64> {
        prop_oneof![
            (-most..most),
            (-most..most).prop_map(|value| (value / 0.05).round() * 0.05),
            (-most..most).prop_map(f64::round),
        ]
    }

    fn point(most: f64) -> impl Strategy<Value = Point> {
        [coordinate(most), coordinate(most)]
    }

    fn disc() -> impl Strategy<Value = Disc> {
        (point(3.0), point(1.5), 0.05..0.8).prop_map(|(center, velocity, radius)| Disc {
            center,
            velocity,
            radius,
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

        #[test]
        fn the_choice_is_that_of_trying_all_velocities_to_the_last_bit(
            velocity in point(1.6),
            radius in 0.05..0.8,
            desired in prop_oneof![point(2.0), point(1e7)],
            discs in prop::collection::vec(disc(), 0..9),
            walls in prop::collection::vec([point(3.0), point(3.0)], 0..3),
            mode in prop_oneof![Just(Mode::Rvo), Just(Mode::Hrvo), Just(Mode::Vo)],
            factor in prop_oneof![Just(0.0), Just(1.0), 0.0..5.0],
            change in prop_oneof![Just(1.0), Just(0.0), 0.0..3.0],
            most in [prop_oneof![Just(1.5), 0.0..4.0], prop_oneof![Just(1.5), 0.0..4.0]],
        ) {
            let ego = Ego { position: [0.0, 0.0], velocity, radius };
            let walls: Vec<_> = walls.into_iter().filter(|[a, b]| length(minus(*a, *b)) > 1e-6).collect();
            let discs: Vec<_> = discs
                .iter()
                .map(|disc| (Cone::of_disc(&ego, disc, mode), DiscTime::new(&ego, disc)))
                .collect();
            let walls: Vec<_> =
                walls.iter().map(|wall| (Cone::of_wall(&ego, wall), WallTime::new(&ego, wall))).collect();
            let [x, y] = [0, 1].map(|axis| Axis::new(velocity[axis], change, most[axis]));
            let problem = Problem { x, y, desired, factor, discs: &discs, walls: &walls };
            let found = problem.choose(&mut Buffers::default());
            let expected = by_trying_all(&problem);
            prop_assert_eq!(found.map(f64::to_bits), expected.map(f64::to_bits), "{:?} {:?}", found, expected);
        }
    }

    #[test]
    fn a_window_is_cut_to_the_limits_and_never_empty() {
        let all = |axis: Axis| (0..axis.count).map(|index| axis.value(index)).collect::<Vec<_>>();
        assert_eq!(all(Axis::new(3.0, 0.5, 1.5)), [1.5]);
        assert_eq!(all(Axis::new(0.3, 0.0, 1.5)), [0.3]);
        let values = all(Axis::new(1.0, 0.25, 1.5));
        assert!(values.len() == 10 && values[0] == 0.75 && values[9] < 1.25, "{values:?}");
    }

    #[test]
    fn rounding_decides_whether_the_upper_end_is_tried() {
        assert_eq!(Axis::new(1.4, 0.2, 1.5).count, 7);
        assert_eq!(Axis::new(1.0, 0.5, 1.5).count, 20);
    }
}
