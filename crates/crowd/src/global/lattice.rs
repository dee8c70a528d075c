//! A lattice of nodes over the walls and shortest paths on it (crowd-engine specification, section 22.2).

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use crate::error::CrowdError;
use crate::walls::{Segment, WallSet};

/// Row and column of a node; may lie outside the lattice.
pub(super) type Node = [i64; 2];

/// 13 bytes each with the memory of a search.
const MOST_NODES: f64 = 32e6;
/// Widest ring in which a free node is looked for.
const WIDEST_RING: i64 = 200;
/// Cost of a diagonal step; the reference keeps costs in single precision.
const DIAGONAL: f64 = std::f32::consts::SQRT_2 as f64;
/// Coarser lattices do not look for the nearest node that can be reached.
const FINE: f64 = 0.1;

/// Nodes, and which of them are free.
#[derive(Debug, Clone)]
pub(super) struct Lattice {
    origin: [f64; 2],
    resolution: f64,
    inflation: f64,
    rows: usize,
    columns: usize,
    blocked: Vec<bool>,
    walls: Vec<Segment>,
    search: Search,
}

/// Memory of a search.
#[derive(Debug, Clone, Default)]
struct Search {
    cost: Vec<f64>,
    /// The next node toward where the search began.
    next: Vec<u32>,
    queue: BinaryHeap<Reached>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
struct Reached {
    cost: f64,
    node: u32,
}

impl Eq for Reached {}

impl Ord for Reached {
    /// The cheapest first, and of equal ones the lowest node.
    fn cmp(&self, other: &Self) -> Ordering {
        other.cost.total_cmp(&self.cost).then(other.node.cmp(&self.node))
    }
}

impl PartialOrd for Reached {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Lattice {
    /// The lattice of these walls; `None` without any.
    ///
    /// # Errors
    /// Walls so far apart that the lattice would not fit into memory.
    pub(super) fn new(walls: &WallSet, inflation: f64, resolution: f64) -> Result<Option<Self>, CrowdError> {
        let Some((low, high)) = walls.bounds() else {
            return Ok(None);
        };
        let margin = inflation + 2.0 * resolution;
        let origin = [low[0] - margin, low[1] - margin];
        let [width, height] = [0, 1].map(|axis| high[axis] + margin - origin[axis]);
        let [columns, rows] = [width, height].map(|extent| (extent / resolution).ceil() + 1.0);
        if columns * rows > MOST_NODES {
            return Err(CrowdError::TooFar { width, height, cell: resolution });
        }
        let (columns, rows) = (columns as usize, rows as usize);
        let mut lattice = Self {
            origin,
            resolution,
            inflation,
            rows,
            columns,
            blocked: vec![false; rows * columns],
            walls: walls.segments().to_vec(),
            search: Search::default(),
        };
        lattice.block();
        Ok(Some(lattice))
    }

    fn block(&mut self) {
        let reach = (self.inflation / self.resolution).ceil() as i64;
        let disc: Vec<Node> = (-reach..=reach)
            .flat_map(|row| (-reach..=reach).map(move |column| [row, column]))
            .filter(|[row, column]| row * row + column * column <= reach * reach)
            .collect();
        for wall in self.walls.clone() {
            let fraction = |p: [f64; 2]| [0, 1].map(|axis| (p[axis] - self.origin[axis]) / self.resolution);
            let (start, end) = (fraction(wall.start), fraction(wall.end()));
            let steps = (end[0] - start[0]).abs().max((end[1] - start[1]).abs()).floor() as usize;
            for step in 0..=steps {
                let p = [0, 1].map(|axis| evenly(start[axis], end[axis], step, steps));
                let [row, column] = [p[1].round_ties_even() as i64, p[0].round_ties_even() as i64];
                for [dr, dc] in &disc {
                    if let Some(index) = self.index([row + dr, column + dc]) {
                        self.blocked[index] = true;
                    }
                }
            }
        }
    }

    fn index(&self, [row, column]: Node) -> Option<usize> {
        let inside = (0..self.rows as i64).contains(&row) && (0..self.columns as i64).contains(&column);
        inside.then(|| row as usize * self.columns + column as usize)
    }

    fn node(&self, index: usize) -> Node {
        [(index / self.columns) as i64, (index % self.columns) as i64]
    }

    pub(super) fn node_of(&self, p: [f64; 2]) -> Node {
        [1, 0].map(|axis| ((p[axis] - self.origin[axis]) / self.resolution).round_ties_even() as i64)
    }

    fn position(&self, [row, column]: Node) -> [f64; 2] {
        [self.origin[0] + column as f64 * self.resolution, self.origin[1] + row as f64 * self.resolution]
    }

    fn is_free(&self, node: Node) -> bool {
        self.index(node).is_some_and(|index| !self.blocked[index])
    }

    /// The node itself, or the first free one in rings around it: lower row first, then lower column.
    pub(super) fn nearest_free(&self, node: Node) -> Option<Node> {
        if self.is_free(node) {
            return Some(node);
        }
        (1..=WIDEST_RING).find_map(|q| {
            (-q..=q).find_map(|dr| {
                // Between the first and the last line of a ring only its two ends belong to it.
                let step = if dr.abs() == q { 1 } else { 2 * q };
                let columns = (-q..=q).step_by(step as usize);
                columns.map(|dc| [node[0] + dr, node[1] + dc]).find(|n| self.is_free(*n))
            })
        })
    }

    /// A point where it is, unless its node is blocked: then the nearest free node.
    pub(super) fn snapped(&self, p: [f64; 2]) -> [f64; 2] {
        let node = self.node_of(p);
        if self.index(node).is_none() || self.is_free(node) {
            return p;
        }
        self.nearest_free(node).map_or(p, |free| self.position(free))
    }

    /// Way-points from `start` to `target`, `start` first; `None` if the target cannot be reached.
    pub(super) fn plan(&mut self, start: [f64; 2], target: [f64; 2]) -> Option<Vec<[f64; 2]>> {
        let own = self.node_of(start);
        let from = self.nearest_free(own)?;
        let mut goal = self.nearest_free(self.node_of(target))?;
        let mut end = self.snapped(target);
        if !self.flood(goal, Some(from)) {
            goal = self.nearest_reachable(from, goal)?;
            end = self.position(goal);
            self.flood(goal, Some(from));
        }
        let mut points = Vec::new();
        if own != from {
            points.push(start);
        }
        let (mut at, goal) = (self.index(from)?, self.index(goal)?);
        points.push(self.position(from));
        while at != goal {
            at = self.search.next[at] as usize;
            points.push(self.position(self.node(at)));
        }
        points[0] = start;
        if points.len() == 1 {
            points.push(end);
        }
        if let Some(last) = points.last_mut() {
            *last = end;
        }
        let mut points = self.shortened(points);
        self.keep_clear(&mut points);
        Some(points)
    }

    /// Costs from `from` to all nodes, or until `until` is reached; whether it was.
    fn flood(&mut self, from: Node, until: Option<Node>) -> bool {
        let Some(first) = self.index(from) else {
            return false;
        };
        let until = until.and_then(|node| self.index(node));
        let mut search = std::mem::take(&mut self.search);
        search.cost.clear();
        search.cost.resize(self.blocked.len(), f64::INFINITY);
        search.next.resize(self.blocked.len(), 0);
        search.queue.clear();
        search.cost[first] = 0.0;
        search.queue.push(Reached { cost: 0.0, node: first as u32 });
        let mut found = false;
        while let Some(Reached { cost, node }) = search.queue.pop() {
            let index = node as usize;
            if cost > search.cost[index] {
                continue;
            }
            if Some(index) == until {
                found = true;
                break;
            }
            let [row, column] = self.node(index);
            for (dr, dc) in (-1..=1).flat_map(|dr| (-1..=1).map(move |dc| (dr, dc))) {
                let Some(neighbour) = self.index([row + dr, column + dc]) else {
                    continue;
                };
                let step = if dr != 0 && dc != 0 { DIAGONAL } else { 1.0 };
                if !self.blocked[neighbour] && cost + step < search.cost[neighbour] {
                    search.cost[neighbour] = cost + step;
                    search.next[neighbour] = node;
                    search.queue.push(Reached { cost: cost + step, node: neighbour as u32 });
                }
            }
        }
        self.search = search;
        found
    }

    /// On a fine lattice, the node nearest to `goal` among those that can be reached.
    fn nearest_reachable(&mut self, from: Node, goal: Node) -> Option<Node> {
        if self.resolution > FINE {
            return None;
        }
        self.flood(from, None);
        let reached = (0..self.blocked.len()).filter(|index| self.search.cost[*index].is_finite());
        reached.map(|index| self.node(index)).min_by_key(|[r, c]| (r - goal[0]).pow(2) + (c - goal[1]).pow(2))
    }

    /// From each way-point go to the farthest one in sight.
    fn shortened(&self, points: Vec<[f64; 2]>) -> Vec<[f64; 2]> {
        if points.len() < 3 {
            return points;
        }
        let mut kept = vec![points[0]];
        let mut at = 0;
        while at + 1 < points.len() {
            let farthest = (at + 2..points.len()).rev().find(|to| self.in_sight(points[at], points[*to]));
            at = farthest.unwrap_or(at + 1);
            kept.push(points[at]);
        }
        kept
    }

    fn in_sight(&self, a: [f64; 2], b: [f64; 2]) -> bool {
        let (a, b) = (self.node_of(a), self.node_of(b));
        let steps = (b[0].abs_diff(a[0]) + b[1].abs_diff(a[1])) as usize;
        (0..=steps).all(|step| {
            let of = |axis: usize| evenly(a[axis] as f64, b[axis] as f64, step, steps);
            let node = [of(0).round_ties_even() as i64, of(1).round_ties_even() as i64];
            self.index(node).is_none_or(|index| !self.blocked[index])
        })
    }

    /// Move interior way-points that are too near to walls away from them, once.
    fn keep_clear(&self, points: &mut [[f64; 2]]) {
        let Some(last) = points.len().checked_sub(1).filter(|last| *last >= 2) else {
            return;
        };
        for point in &mut points[1..last] {
            let mut shift = [0.0; 2];
            for wall in &self.walls {
                let (distance, offset) = wall.offset(*point);
                if distance < self.inflation && distance > 0.0 {
                    let push = (self.inflation - distance) / distance;
                    shift[0] += push * offset[0];
                    shift[1] += push * offset[1];
                }
            }
            *point = [point[0] + shift[0], point[1] + shift[1]];
        }
    }
}

/// The `step`-th of `steps + 1` points evenly spaced from `a` to `b`, both included.
fn evenly(a: f64, b: f64, step: usize, steps: usize) -> f64 {
    if step == steps && steps > 0 { b } else { a + step as f64 * ((b - a) / steps.max(1) as f64) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::walls::Wall;

    fn lattice(walls: &[[f64; 4]], inflation: f64, resolution: f64) -> Lattice {
        let mut set = WallSet::default();
        let wall = |(number, [a, b, c, d]): (usize, &[f64; 4])| Wall {
            name: number.to_string(),
            start: [*a, *b],
            end: [*c, *d],
        };
        set.add(walls.iter().enumerate().map(wall)).expect("finite");
        Lattice::new(&set, inflation, resolution).expect("small").expect("walls")
    }

    #[test]
    fn the_published_corridor_gives_the_published_path() {
        let mut lattice = lattice(&[[-8.0, 1.0, 8.0, 1.0], [-8.0, -1.0, 8.0, -1.0]], 0.38, 0.2);
        assert!((lattice.origin[0] + 8.78).abs() < 1e-12 && (lattice.origin[1] + 1.78).abs() < 1e-12);
        let middle: Vec<i64> = (0..lattice.rows as i64).filter(|row| lattice.is_free([*row, 40])).collect();
        assert!(middle.iter().any(|row| (7..=11).contains(row)) && !lattice.is_free([6, 40]));
        assert_eq!(lattice.nearest_free([6, 19]), Some([7, 18]));
        let path = lattice.plan([-5.0, -0.5], [6.0, -0.5]).expect("free");
        let expected = [[-5.0, -0.5], [-5.18, -0.38], [5.82, -0.38]];
        assert_eq!(path.len(), 3, "{path:?}");
        for (point, expected) in path.iter().zip(expected) {
            assert!((point[0] - expected[0]).hypot(point[1] - expected[1]) < 1e-12, "{path:?}");
        }
    }

    const ROOM: [[f64; 4]; 4] =
        [[0.0, 0.0, 4.0, 0.0], [4.0, 0.0, 4.0, 4.0], [4.0, 4.0, 0.0, 4.0], [0.0, 4.0, 0.0, 0.0]];

    #[test]
    fn a_path_goes_around_a_wall_and_keeps_clear_of_it() {
        let mut lattice = lattice(&[[0.0, -3.0, 0.0, 3.0], [-6.0, -6.0, 6.0, -6.0]], 0.38, 0.2);
        let path = lattice.plan([-2.0, 0.0], [2.0, 0.0]).expect("around");
        let length: f64 = path.windows(2).map(|w| (w[1][0] - w[0][0]).hypot(w[1][1] - w[0][1])).sum();
        assert!(path.len() > 2 && (7.0..9.0).contains(&length), "{path:?} {length}");
        let wall = Segment::between([0.0, -3.0], [0.0, 3.0]);
        assert!(path.iter().all(|p| wall.offset(*p).0 > 0.37), "{path:?}");
    }

    #[test]
    fn a_closed_room_is_left_only_as_far_as_a_fine_lattice_knows() {
        assert_eq!(lattice(&ROOM, 0.38, 0.2).plan([2.0, 2.0], [9.0, 2.0]), None);
        let path = lattice(&ROOM, 0.38, 0.1).plan([2.0, 2.0], [4.5, 2.0]).expect("to the wall");
        let last = path.last().expect("points");
        assert!(last[0] > 3.0 && last[0] < 4.0 && (last[1] - 2.0).abs() < 0.1, "{path:?}");
    }

    #[test]
    fn walls_across_a_continent_are_refused() {
        let mut set = WallSet::default();
        let wall = Wall { name: "far".to_owned(), start: [0.0; 2], end: [1e7, 1e7] };
        set.add([wall]).expect("finite");
        assert!(matches!(Lattice::new(&set, 0.38, 0.2), Err(CrowdError::TooFar { .. })));
    }
}
