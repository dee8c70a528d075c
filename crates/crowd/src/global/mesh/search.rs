//! Which edges to cross: shortest paths over points of edges, to one place or from everywhere.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use super::{Mesh, NONE, SLACK, cross, distance};
use crate::walls::Segment;

/// Goals whose trees are kept, and goals that are remembered in order to notice that one is asked for again.
const TREES: usize = 64;
/// What crossing an edge costs that is too narrow, for those who stand where it is too narrow anyway, metres.
const SQUEEZE: f64 = 20.0;

/// Memory of searches.
#[derive(Debug, Clone, Default)]
pub(super) struct Search {
    pub(super) cost: Vec<f64>,
    next: Vec<u32>,
    queue: BinaryHeap<Reached>,
    trees: Vec<Tree>,
    /// Goals asked for once, oldest first.
    asked: Vec<[f64; 2]>,
    /// What was found to be nearest to a goal in a part of free space.
    nearest: Vec<(u32, [f64; 2], [f64; 2])>,
    uses: u64,
    /// Steps of all searches so far.
    pub(super) work: u64,
}

/// Shortest paths to a goal from everywhere.
#[derive(Debug, Clone)]
struct Tree {
    goal: [f64; 2],
    triangle: u32,
    cost: Vec<f64>,
    next: Vec<u32>,
    used: u64,
}

#[derive(Debug, Clone, Copy, PartialEq)]
struct Reached {
    estimate: f64,
    cost: f64,
    sample: u32,
}

impl Eq for Reached {}

impl Ord for Reached {
    /// The one that promises the shortest path first, and of equal ones the lowest.
    fn cmp(&self, other: &Self) -> Ordering {
        other.estimate.total_cmp(&self.estimate).then(other.sample.cmp(&self.sample))
    }
}

impl PartialOrd for Reached {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// A place and the triangle it is in.
#[derive(Debug, Clone, Copy)]
pub(super) struct Spot {
    pub(super) at: [f64; 2],
    pub(super) triangle: u32,
}

/// What a search may cross.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rules<'a> {
    /// Edges that turned out not to lead anywhere.
    pub(super) banned: &'a [u32],
    /// Whether narrow edges may be crossed, at a price.
    pub(super) squeeze: bool,
}

impl Search {
    /// Forget what was nearest to unreachable goals.
    pub(super) fn forget_nearest(&mut self) {
        self.nearest.clear();
    }
}

impl Mesh {
    pub(super) fn spot(&self, p: [f64; 2]) -> Spot {
        let at = self.inside(p);
        Spot { at, triangle: self.locate(at) }
    }

    pub(super) fn are_joined(&mut self, a: Spot, b: Spot) -> bool {
        self.label();
        self.labels[a.triangle as usize] == self.labels[b.triangle as usize]
    }

    /// Edges to cross from start to goal, in order; `None` if there is no way.
    pub(super) fn channel(&mut self, start: Spot, goal: Spot, rules: Rules<'_>) -> Option<Vec<u32>> {
        if start.triangle == goal.triangle {
            return Some(Vec::new());
        }
        let shared = rules.banned.is_empty() && !rules.squeeze;
        if let Some(tree) = shared.then(|| self.tree(goal)).flatten() {
            let tree = &self.search.trees[tree];
            let edges = self.edges_of[start.triangle as usize];
            let samples = edges.into_iter().flat_map(|edge| self.samples_of(edge));
            let total = |sample: &u32| {
                tree.cost[*sample as usize] + distance(start.at, self.samples[*sample as usize])
            };
            let first = samples.min_by(|a, b| total(a).total_cmp(&total(b)))?;
            return total(&first).is_finite().then(|| self.follow(first, &tree.next));
        }
        let mut search = std::mem::take(&mut self.search);
        let first = self.spread(&mut search, goal, Some(start), rules);
        let channel = first.map(|first| self.follow(first, &search.next));
        self.search = search;
        channel
    }

    pub(super) fn samples_of(&self, edge: u32) -> std::ops::Range<u32> {
        let edge = &self.edges[edge as usize];
        edge.first..edge.first + edge.count
    }

    fn follow(&self, mut sample: u32, next: &[u32]) -> Vec<u32> {
        let mut edges = Vec::new();
        while sample != NONE {
            edges.push(self.edge_of_sample[sample as usize]);
            sample = next[sample as usize];
        }
        edges
    }

    /// The tree of a goal that is asked for the second time.
    fn tree(&mut self, goal: Spot) -> Option<usize> {
        self.search.uses += 1;
        let used = self.search.uses;
        if let Some(at) = self.search.trees.iter().position(|tree| tree.goal == goal.at) {
            self.search.trees[at].used = used;
            return Some(at);
        }
        let Some(asked) = self.search.asked.iter().position(|asked| *asked == goal.at) else {
            if self.search.asked.len() == TREES {
                self.search.asked.remove(0);
            }
            self.search.asked.push(goal.at);
            return None;
        };
        self.search.asked.remove(asked);
        let mut search = std::mem::take(&mut self.search);
        self.spread(&mut search, goal, None, Rules { banned: &[], squeeze: false });
        let (cost, next) = (search.cost.clone(), search.next.clone());
        let tree = Tree { goal: goal.at, triangle: goal.triangle, cost, next, used };
        let at = match search.trees.len() < TREES {
            true => {
                search.trees.push(tree);
                search.trees.len() - 1
            }
            false => {
                let oldest = search.trees.iter().enumerate().min_by_key(|(_, tree)| tree.used);
                let at = oldest.map_or(0, |(at, _)| at);
                search.trees[at] = tree;
                at
            }
        };
        self.search = search;
        Some(at)
    }

    /// Shortest paths from everywhere to `goal`, or only from `start`: then the first sample of its path.
    pub(super) fn spread(
        &self,
        search: &mut Search,
        goal: Spot,
        start: Option<Spot>,
        rules: Rules<'_>,
    ) -> Option<u32> {
        search.cost.clear();
        search.cost.resize(self.samples.len(), f64::INFINITY);
        search.next.clear();
        search.next.resize(self.samples.len(), NONE);
        search.queue.clear();
        let bounds = start.filter(|_| !rules.squeeze).map(|start| self.bounds(start)).unwrap_or_default();
        let left = |sample: u32| {
            let beeline = start.map_or(0.0, |s| distance(s.at, self.samples[sample as usize]));
            beeline.max(self.at_least(sample, &bounds))
        };
        let price = |edge: u32| match self.edges[edge as usize] {
            _ if rules.banned.contains(&edge) => f64::INFINITY,
            edge if edge.passable => 0.0,
            edge if rules.squeeze && edge.walls == 0 && !edge.sides.contains(&NONE) => SQUEEZE,
            _ => f64::INFINITY,
        };
        for edge in self.edges_of[goal.triangle as usize] {
            let price = price(edge);
            for sample in self.samples_of(edge).take_while(|_| price.is_finite()) {
                let cost = price + distance(goal.at, self.samples[sample as usize]);
                search.cost[sample as usize] = cost;
                search.queue.push(Reached { estimate: cost + left(sample), cost, sample });
            }
        }
        let ends = start.map(|s| self.edges_of[s.triangle as usize]);
        while let Some(Reached { cost, sample, .. }) = search.queue.pop() {
            if cost > search.cost[sample as usize] {
                continue;
            }
            let (own, at) = (self.edge_of_sample[sample as usize], self.samples[sample as usize]);
            if ends.is_some_and(|ends| ends.contains(&own)) {
                return Some(sample);
            }
            for triangle in self.edges[own as usize].sides {
                for edge in self.edges_of[triangle as usize] {
                    let price = if edge == own { f64::INFINITY } else { price(edge) };
                    for other in self.samples_of(edge).take_while(|_| price.is_finite()) {
                        search.work += 1;
                        let further = cost + price + distance(at, self.samples[other as usize]);
                        if further < search.cost[other as usize] {
                            search.cost[other as usize] = further;
                            search.next[other as usize] = sample;
                            search.queue.push(Reached {
                                estimate: further + left(other),
                                cost: further,
                                sample: other,
                            });
                        }
                    }
                }
            }
        }
        None
    }

    /// Drop the trees that an edge matters to which has just become passable, or has just ceased to be.
    pub(super) fn mend_trees(&mut self, edge: u32) {
        let mut trees = std::mem::take(&mut self.search.trees);
        trees.retain_mut(|tree| self.holds(tree, edge));
        self.search.trees = trees;
    }

    /// Whether a tree is the shortest with the edge as it is now; the edge's own samples are set right.
    fn holds(&self, tree: &mut Tree, edge: u32) -> bool {
        let own = self.samples_of(edge);
        let passable = self.edges[edge as usize].passable;
        let sides = self.edges[edge as usize].sides;
        let beside = || {
            let triangles = sides.into_iter().filter(|side| *side != NONE);
            let edges = triangles.flat_map(|side| self.edges_of[side as usize]).filter(|e| *e != edge);
            edges.filter(|e| self.edges[*e as usize].passable).flat_map(|e| self.samples_of(e))
        };
        if !passable {
            if beside().any(|sample| own.contains(&tree.next[sample as usize])) {
                return false;
            }
            own.for_each(|sample| tree.cost[sample as usize] = f64::INFINITY);
            return true;
        }
        for sample in own {
            let at = self.samples[sample as usize];
            let mut best = if sides.contains(&tree.triangle) {
                (distance(tree.goal, at), NONE)
            } else {
                (f64::INFINITY, NONE)
            };
            for other in beside() {
                let cost = tree.cost[other as usize] + distance(at, self.samples[other as usize]);
                if cost < best.0 {
                    best = (cost, other);
                }
            }
            (tree.cost[sample as usize], tree.next[sample as usize]) = best;
            let shorter =
                |other: u32| best.0 + distance(at, self.samples[other as usize]) < tree.cost[other as usize];
            if best.0.is_finite() && beside().any(shorter) {
                return false;
            }
        }
        true
    }

    /// The point nearest to `goal` in the part of free space that `start` is in.
    pub(super) fn nearest_reachable(&mut self, start: Spot, goal: [f64; 2]) -> [f64; 2] {
        self.label();
        let label = self.labels[start.triangle as usize];
        if let Some((_, _, found)) = self.search.nearest.iter().find(|(l, g, _)| (*l, *g) == (label, goal)) {
            return *found;
        }
        let mut best = (f64::INFINITY, start.triangle, start.at);
        for (triangle, corners) in self.triangles.iter().enumerate().filter(|(t, _)| self.labels[*t] == label)
        {
            let at = closest_of_triangle(corners.map(|v| self.points[v as usize]), goal);
            if distance(at, goal) < best.0 {
                best = (distance(at, goal), triangle as u32, at);
            }
        }
        let found = self.kept_off(best.2, best.1, start);
        self.search.work += self.triangles.len() as u64;
        if self.search.nearest.len() == TREES {
            self.search.nearest.remove(0);
        }
        self.search.nearest.push((label, goal, found));
        found
    }

    /// The point of a triangle freed, or if it is too narrow there, the nearest point with room that is known in its part of space.
    fn kept_off(&self, p: [f64; 2], triangle: u32, start: Spot) -> [f64; 2] {
        let label = |triangle: u32| self.labels[triangle as usize];
        let has_room = |at: [f64; 2]| self.lines.clear(at, at, self.inflation - SLACK);
        let corners = self.triangles[triangle as usize].map(|v| self.points[v as usize]);
        let middle = [0, 1].map(|axis| (corners[0][axis] + corners[1][axis] + corners[2][axis]) / 3.0);
        // A little toward the middle, so that it is beside walls and not on them.
        let share = (SLACK / distance(p, middle).max(SLACK)).min(1.0);
        let freed = self.freed([0, 1].map(|axis| p[axis] + share * (middle[axis] - p[axis])));
        if has_room(freed) && label(self.spot(freed).triangle) == label(triangle) {
            return freed;
        }
        let edges = self.edges.iter().filter(|edge| edge.passable && label(edge.sides[0]) == label(triangle));
        let samples = edges.flat_map(|edge| edge.first..edge.first + edge.count);
        let mut known: Vec<[f64; 2]> = samples.map(|sample| self.samples[sample as usize]).collect();
        known.sort_by(|a, b| distance(*a, p).total_cmp(&distance(*b, p)));
        known.into_iter().find(|at| has_room(*at)).unwrap_or(start.at)
    }
}

fn closest_of_triangle(corners: [[f64; 2]; 3], p: [f64; 2]) -> [f64; 2] {
    let [a, b, c] = corners;
    if cross(a, b, p) >= 0.0 && cross(b, c, p) >= 0.0 && cross(c, a, p) >= 0.0 {
        return p;
    }
    let of = |from: [f64; 2], to: [f64; 2]| Segment::between(from, to).closest(p);
    let nearest = [of(a, b), of(b, c), of(c, a)];
    nearest.into_iter().min_by(|a, b| distance(*a, p).total_cmp(&distance(*b, p))).unwrap_or(a)
}
