//! A lattice of nodes over the walls and shortest paths on it (crowd-engine specification, section 22.2).

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use super::LatticeSearch;
use crate::error::CrowdError;
use crate::walls::{Segment, Toggle, WallSet};

/// Row and column of a node; may lie outside the lattice.
pub(super) type Node = [i64; 2];

/// 14 bytes each with the memory of a search.
const MOST_NODES: f64 = 32e6;
/// Goals whose searches are kept, if they fit into so many nodes altogether.
const TREES: usize = 64;
const MOST_KEPT: usize = 16_000_000;
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
    /// By how many gates a node is blocked; by all other walls together it counts as one.
    blocked: Vec<u16>,
    walls: Vec<Segment>,
    closed: Vec<bool>,
    /// Nodes of every gate, and the number of the first one among the walls.
    gates: Vec<Vec<u32>>,
    first_gate: usize,
    how: LatticeSearch,
    search: Search,
    /// Searches from goals, which go on where they stopped.
    kept: Vec<Kept>,
    uses: u64,
}

/// A search, from one node outwards.
#[derive(Debug, Clone, Default)]
struct Search {
    cost: Vec<f64>,
    /// The next node toward where the search began.
    next: Vec<u32>,
    queue: BinaryHeap<Reached>,
}

#[derive(Debug, Clone)]
struct Kept {
    goal: usize,
    search: Search,
    used: u64,
}

/// Whether a lattice of these walls fits into memory.
pub(super) fn check(walls: &WallSet, inflation: f64, resolution: f64) -> Result<(), CrowdError> {
    let Some((low, high)) = walls.bounds() else {
        return Ok(());
    };
    let [width, height] = [0, 1].map(|axis| high[axis] - low[axis] + 2.0 * (inflation + 2.0 * resolution));
    let [columns, rows] = [width, height].map(|extent| (extent / resolution).ceil() + 1.0);
    match columns * rows > MOST_NODES {
        true => Err(CrowdError::TooFar { width, height, cell: resolution }),
        false => Ok(()),
    }
}

#[derive(Debug, Clone, Copy, PartialEq)]
struct Reached {
    /// At least as much as the whole path will cost; without a place to come to, the cost.
    estimate: f64,
    cost: f64,
    node: u32,
}

impl Eq for Reached {}

impl Ord for Reached {
    /// The cheapest first, and of equal ones the lowest node.
    fn cmp(&self, other: &Self) -> Ordering {
        other.estimate.total_cmp(&self.estimate).then(other.node.cmp(&self.node))
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
    /// As [`check`].
    pub(super) fn new(
        walls: &WallSet,
        inflation: f64,
        resolution: f64,
        how: LatticeSearch,
    ) -> Result<Option<Self>, CrowdError> {
        check(walls, inflation, resolution)?;
        let Some((low, high)) = walls.bounds() else {
            return Ok(None);
        };
        let margin = inflation + 2.0 * resolution;
        let origin = [low[0] - margin, low[1] - margin];
        let extent = [0, 1].map(|axis| high[axis] + margin - origin[axis]);
        let [columns, rows] = extent.map(|extent| (extent / resolution).ceil() as usize + 1);
        let mut lattice = Self {
            origin,
            resolution,
            inflation,
            rows,
            columns,
            blocked: vec![0; rows * columns],
            walls: walls.segments().to_vec(),
            closed: walls.closed().to_vec(),
            gates: Vec::new(),
            first_gate: walls.fixed(),
            how,
            search: Search::default(),
            kept: Vec::new(),
            uses: 0,
        };
        for number in 0..lattice.walls.len() {
            let nodes = lattice.nodes_of(&lattice.walls[number]);
            if number < lattice.first_gate {
                nodes.into_iter().for_each(|node| lattice.blocked[node as usize] = 1);
                continue;
            }
            if lattice.closed[number] {
                nodes.iter().for_each(|node| lattice.blocked[*node as usize] += 1);
            }
            lattice.gates.push(nodes);
        }
        Ok(Some(lattice))
    }

    /// Nodes that a wall blocks, ascending.
    fn nodes_of(&self, wall: &Segment) -> Vec<u32> {
        let reach = (self.inflation / self.resolution).ceil() as i64;
        let disc: Vec<Node> = (-reach..=reach)
            .flat_map(|row| (-reach..=reach).map(move |column| [row, column]))
            .filter(|[row, column]| row * row + column * column <= reach * reach)
            .collect();
        let fraction = |p: [f64; 2]| [0, 1].map(|axis| (p[axis] - self.origin[axis]) / self.resolution);
        let (start, end) = (fraction(wall.start), fraction(wall.end()));
        let steps = (end[0] - start[0]).abs().max((end[1] - start[1]).abs()).floor() as usize;
        let mut nodes = Vec::new();
        for step in 0..=steps {
            let p = [0, 1].map(|axis| evenly(start[axis], end[axis], step, steps));
            let [row, column] = [p[1].round_ties_even() as i64, p[0].round_ties_even() as i64];
            let around = disc.iter().filter_map(|[dr, dc]| self.index([row + dr, column + dc]));
            nodes.extend(around.map(|index| index as u32));
        }
        nodes.sort_unstable();
        nodes.dedup();
        nodes
    }

    /// Open or close a gate. Kept searches that have come to its nodes, or near them, are dropped.
    pub(super) fn toggle(&mut self, gate: Toggle) {
        self.closed[gate.number] = gate.closed;
        let nodes = std::mem::take(&mut self.gates[gate.number - self.first_gate]);
        for node in nodes.iter().map(|node| *node as usize) {
            match gate.closed {
                true => self.blocked[node] += 1,
                false => self.blocked[node] -= 1,
            }
        }
        let mut kept = std::mem::take(&mut self.kept);
        kept.retain(|kept| {
            let reached = |node: usize| kept.search.cost[node].is_finite();
            let touched =
                |node: &u32| reached(*node as usize) || self.around(*node as usize).any(|(n, _)| reached(n));
            !nodes.iter().any(touched)
        });
        self.kept = kept;
        self.gates[gate.number - self.first_gate] = nodes;
    }

    /// Nodes beside one, and the cost of the step.
    fn around(&self, node: usize) -> impl Iterator<Item = (usize, f64)> + use<'_> {
        let [row, column] = self.node(node);
        let steps = (-1..=1).flat_map(|dr| (-1..=1).map(move |dc| (dr, dc)));
        steps.filter_map(move |(dr, dc)| {
            let step = if dr != 0 && dc != 0 { DIAGONAL } else { 1.0 };
            self.index([row + dr, column + dc]).map(|index| (index, step))
        })
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
        self.index(node).is_some_and(|index| self.blocked[index] == 0)
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

    /// Way-points from `start` to `target`, `start` first, and whether they end there; `None` if there is no way.
    pub(super) fn plan(&mut self, start: [f64; 2], target: [f64; 2]) -> Option<(Vec<[f64; 2]>, bool)> {
        let own = self.node_of(start);
        let from = self.nearest_free(own)?;
        let mut goal = self.nearest_free(self.node_of(target))?;
        let mut end = self.snapped(target);
        let (mut nodes, mut reaches) = (self.path(from, goal), true);
        if nodes.is_none() {
            goal = self.nearest_reachable(from, goal)?;
            end = self.position(goal);
            (nodes, reaches) = (self.path(from, goal), false);
        }
        let mut points = Vec::new();
        if own != from {
            points.push(start);
        }
        points.extend(nodes?.into_iter().map(|node| self.position(self.node(node as usize))));
        points[0] = start;
        if points.len() == 1 {
            points.push(end);
        }
        if let Some(last) = points.last_mut() {
            *last = end;
        }
        let mut points = self.shortened(points);
        self.keep_clear(&mut points);
        Some((points, reaches))
    }

    /// Nodes of a shortest path.
    fn path(&mut self, from: Node, goal: Node) -> Option<Vec<u32>> {
        let (from, goal) = (self.index(from)?, self.index(goal)?);
        match self.how {
            LatticeSearch::OneWay => {
                let mut search = std::mem::take(&mut self.search);
                search.begin(goal, self.blocked.len());
                let path = self.flood(&mut search, Some(from), true).then(|| search.path(from));
                self.search = search;
                path
            }
            LatticeSearch::Everywhere => {
                let mut kept = std::mem::take(&mut self.kept);
                let at = self.kept_search(&mut kept, goal);
                let search = &mut kept[at].search;
                // What was reached, but from where the search has not yet gone on, may still become cheaper.
                let path = self.flood(search, Some(from), false).then(|| search.path(from));
                self.kept = kept;
                path
            }
        }
    }

    fn kept_search(&mut self, kept: &mut Vec<Kept>, goal: usize) -> usize {
        self.uses += 1;
        let used = self.uses;
        if let Some(at) = kept.iter().position(|kept| kept.goal == goal) {
            kept[at].used = used;
            return at;
        }
        let most = (MOST_KEPT / self.blocked.len()).clamp(1, TREES);
        let oldest = kept.iter().enumerate().min_by_key(|(_, kept)| kept.used).map(|(at, _)| at);
        let mut fresh = match oldest.filter(|_| kept.len() >= most) {
            Some(at) => kept.swap_remove(at),
            None => Kept { goal, search: Search::default(), used },
        };
        (fresh.goal, fresh.used) = (goal, used);
        fresh.search.begin(goal, self.blocked.len());
        kept.push(fresh);
        kept.len() - 1
    }

    /// Go on with a search until it has come to `until`, or everywhere; whether it came there. With `aimed`, toward there first: then it
    /// cannot go on to anywhere else.
    fn flood(&self, search: &mut Search, until: Option<usize>, aimed: bool) -> bool {
        if until.is_some_and(|until| search.is_settled(until)) {
            return true;
        }
        let aim = until.filter(|_| aimed).map(|until| self.node(until));
        let left = |node: usize| {
            let [row, column] = self.node(node);
            aim.map_or(0.0, |[r, c]| {
                let (down, along) = ((r - row).abs() as f64, (c - column).abs() as f64);
                down.max(along) + (DIAGONAL - 1.0) * down.min(along)
            })
        };
        while let Some(reached) = search.queue.pop() {
            let Reached { cost, node, .. } = reached;
            let index = node as usize;
            if cost > search.cost[index] {
                continue;
            }
            if Some(index) == until {
                // Whoever goes on later goes on from here.
                search.queue.push(reached);
                return true;
            }
            for (neighbour, step) in self.around(index) {
                if self.blocked[neighbour] == 0 && cost + step < search.cost[neighbour] {
                    search.cost[neighbour] = cost + step;
                    search.next[neighbour] = node;
                    let estimate = cost + step + left(neighbour);
                    search.queue.push(Reached { estimate, cost: cost + step, node: neighbour as u32 });
                }
            }
        }
        false
    }

    /// On a fine lattice, the node nearest to `goal` among those that can be reached.
    fn nearest_reachable(&mut self, from: Node, goal: Node) -> Option<Node> {
        if self.resolution > FINE {
            return None;
        }
        let first = self.index(from)?;
        let mut search = std::mem::take(&mut self.search);
        search.begin(first, self.blocked.len());
        self.flood(&mut search, None, false);
        let reached = (0..self.blocked.len()).filter(|index| search.cost[*index].is_finite());
        let nearest = reached
            .map(|index| self.node(index))
            .min_by_key(|[r, c]| (r - goal[0]).pow(2) + (c - goal[1]).pow(2));
        self.search = search;
        nearest
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
            self.index(node).is_none_or(|index| self.blocked[index] == 0)
        })
    }

    /// Move interior way-points that are too near to walls away from them, once.
    fn keep_clear(&self, points: &mut [[f64; 2]]) {
        let Some(last) = points.len().checked_sub(1).filter(|last| *last >= 2) else {
            return;
        };
        for point in &mut points[1..last] {
            let mut shift = [0.0; 2];
            for (wall, _) in self.walls.iter().zip(&self.closed).filter(|(_, closed)| **closed) {
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

impl Search {
    fn begin(&mut self, node: usize, nodes: usize) {
        self.cost.clear();
        self.cost.resize(nodes, f64::INFINITY);
        self.next.resize(nodes, 0);
        self.queue.clear();
        self.cost[node] = 0.0;
        self.next[node] = node as u32;
        self.queue.push(Reached { estimate: 0.0, cost: 0.0, node: node as u32 });
    }

    /// Whether nothing that is still to come can be cheaper. The order of nodes decides between equally cheap ones, as if the search had
    /// run up to here alone.
    fn is_settled(&self, node: usize) -> bool {
        let reached = Reached { estimate: self.cost[node], cost: self.cost[node], node: node as u32 };
        reached.cost.is_finite() && self.queue.peek().is_none_or(|next| reached >= *next)
    }

    /// Nodes from one that was reached to where the search began.
    fn path(&self, from: usize) -> Vec<u32> {
        let mut path = vec![from as u32];
        let mut at = from;
        while self.next[at] as usize != at {
            at = self.next[at] as usize;
            path.push(at as u32);
        }
        path
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
        let how = LatticeSearch::Everywhere;
        Lattice::new(&set, inflation, resolution, how).expect("small").expect("walls")
    }

    #[test]
    fn the_published_corridor_gives_the_published_path() {
        let mut lattice = lattice(&[[-8.0, 1.0, 8.0, 1.0], [-8.0, -1.0, 8.0, -1.0]], 0.38, 0.2);
        assert!((lattice.origin[0] + 8.78).abs() < 1e-12 && (lattice.origin[1] + 1.78).abs() < 1e-12);
        let middle: Vec<i64> = (0..lattice.rows as i64).filter(|row| lattice.is_free([*row, 40])).collect();
        assert!(middle.iter().any(|row| (7..=11).contains(row)) && !lattice.is_free([6, 40]));
        assert_eq!(lattice.nearest_free([6, 19]), Some([7, 18]));
        let path = lattice.plan([-5.0, -0.5], [6.0, -0.5]).expect("free").0;
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
        let path = lattice.plan([-2.0, 0.0], [2.0, 0.0]).expect("around").0;
        let length: f64 = path.windows(2).map(|w| (w[1][0] - w[0][0]).hypot(w[1][1] - w[0][1])).sum();
        assert!(path.len() > 2 && (7.0..9.0).contains(&length), "{path:?} {length}");
        let wall = Segment::between([0.0, -3.0], [0.0, 3.0]);
        assert!(path.iter().all(|p| wall.offset(*p).0 > 0.37), "{path:?}");
    }

    #[test]
    fn a_closed_room_is_left_only_as_far_as_a_fine_lattice_knows() {
        assert_eq!(lattice(&ROOM, 0.38, 0.2).plan([2.0, 2.0], [9.0, 2.0]), None);
        let path = lattice(&ROOM, 0.38, 0.1).plan([2.0, 2.0], [4.5, 2.0]).expect("to the wall").0;
        let last = path.last().expect("points");
        assert!(last[0] > 3.0 && last[0] < 4.0 && (last[1] - 2.0).abs() < 0.1, "{path:?}");
    }

    #[test]
    fn walls_across_a_continent_are_refused() {
        let mut set = WallSet::default();
        let wall = Wall { name: "far".to_owned(), start: [0.0; 2], end: [1e7, 1e7] };
        set.add([wall]).expect("finite");
        assert!(matches!(
            Lattice::new(&set, 0.38, 0.2, LatticeSearch::OneWay),
            Err(CrowdError::TooFar { .. })
        ));
    }
}
