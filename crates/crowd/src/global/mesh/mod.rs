//! The navigation mesh: free space as triangles between walls, and paths through it (crowd-engine specification, section 22.3).
//!
//! A gate is a row of edges that are walls while it is closed. Opening and closing it changes those edges, what is known of the space
//! around them, and the goal trees that run through them; nothing else. A path never crosses a wall that stands.

mod build;
mod drawing;
mod landmarks;
mod search;
mod smooth;
#[cfg(test)]
mod tests;

use crate::walls::{LineIndex, Toggle, WallSet};

use search::Search;

/// No triangle, edge or node.
const NONE: u32 = u32::MAX;
/// Distance between the points of an edge that paths are searched over, metres; long edges have fewer.
const SPACING: f64 = 2.0;
const MOST_SAMPLES: usize = 12;
/// Widths are compared to this, metres: walls are drawn to a few micrometres.
const SLACK: f64 = 1e-4;
/// Beyond the clearance that is asked for, a point is pushed out of a wall by so much, metres.
const BEYOND: f64 = 0.01;
const PUSHES: usize = 8;

/// Triangles between walls.
#[derive(Debug, Clone, Default)]
pub(super) struct Mesh {
    inflation: f64,
    comfort: f64,
    points: Vec<[f64; 2]>,
    /// Corners against the clock; edge `i` of a triangle is opposite its corner `i`.
    triangles: Vec<[u32; 3]>,
    edges_of: Vec<[u32; 3]>,
    edges: Vec<Edge>,
    /// How many standing walls each point ends; 0 for the frame and for open gates.
    standing: Vec<u32>,
    /// Distance of each point from the nearest wall that is no gate, at most twice the inflation.
    room: Vec<f64>,
    /// Edges of each gate, and edges that end on one of its points.
    pieces: Vec<Vec<u32>>,
    around: Vec<Vec<u32>>,
    /// Number of the first gate among the walls.
    first_gate: usize,
    /// Which part of free space each triangle belongs to.
    labels: Vec<u32>,
    labels_hold: bool,
    /// Points of edges that paths are searched over, and their edges.
    samples: Vec<[f64; 2]>,
    edge_of_sample: Vec<u32>,
    hints: Hints,
    /// Distances of all samples from a few of them, with all gates open.
    landmarks: Vec<Vec<f64>>,
    search: Search,
    lines: LineIndex,
}

/// An edge of the mesh.
#[derive(Debug, Clone, Copy, Default)]
struct Edge {
    ends: [u32; 2],
    /// Triangles on both sides; [`NONE`] beyond the frame.
    sides: [u32; 2],
    /// Whether it is part of a wall or gate, standing or not.
    is_wall: bool,
    /// How many standing walls it is part of.
    walls: u32,
    /// Whether a disc with the inflation as its radius passes.
    passable: bool,
    /// Its first sample and their number.
    first: u32,
    count: u32,
}

/// A triangle near every cell of a grid over the frame.
#[derive(Debug, Clone, Default)]
struct Hints {
    low: [f64; 2],
    high: [f64; 2],
    cells: [usize; 2],
    triangles: Vec<u32>,
}

/// Twice the area of a triangle, positive against the clock.
fn cross(a: [f64; 2], b: [f64; 2], c: [f64; 2]) -> f64 {
    (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])
}

fn distance(a: [f64; 2], b: [f64; 2]) -> f64 {
    let d = [a[0] - b[0], a[1] - b[1]];
    (d[0] * d[0] + d[1] * d[1]).sqrt()
}

impl Mesh {
    /// The mesh of these walls; `None` without any.
    pub(super) fn new(walls: &WallSet, inflation: f64, comfort: f64) -> Option<Self> {
        let mut mesh = build::mesh(walls, inflation, comfort.max(inflation))?;
        mesh.lines = LineIndex::of_walls(walls);
        mesh.first_gate = walls.fixed();
        mesh.find_neighbours_of_gates();
        (0..mesh.edges.len()).for_each(|edge| mesh.edges[edge].passable = mesh.passes(edge));
        // With all gates open nothing is further than it can ever be.
        mesh.set_landmarks();
        for number in walls.fixed()..walls.segments().len() {
            if walls.closed()[number] {
                mesh.toggle(Toggle { number, closed: true });
            }
        }
        Some(mesh)
    }

    /// Open or close a gate.
    pub(super) fn toggle(&mut self, toggle: Toggle) {
        self.lines.toggle(toggle);
        let gate = toggle.number - self.first_gate;
        self.stand(gate, toggle.closed);
        let around = std::mem::take(&mut self.around[gate]);
        for edge in &around {
            let passes = self.passes(*edge as usize);
            if self.edges[*edge as usize].passable != passes {
                self.edges[*edge as usize].passable = passes;
                self.labels_hold = false;
                self.mend_trees(*edge);
            }
        }
        self.around[gate] = around;
        self.search.forget_nearest();
    }

    fn stand(&mut self, gate: usize, closed: bool) {
        for piece in &self.pieces[gate] {
            let edge = &mut self.edges[*piece as usize];
            edge.walls = if closed { edge.walls + 1 } else { edge.walls - 1 };
            for end in edge.ends.map(|end| end as usize) {
                self.standing[end] = if closed { self.standing[end] + 1 } else { self.standing[end] - 1 };
            }
        }
    }

    /// Whether a disc passes the edge. Between walls that stand its length says so; an end that does not stand leaves room beyond it.
    fn passes(&self, edge: usize) -> bool {
        let Edge { ends, sides, walls, .. } = self.edges[edge];
        if walls > 0 || sides.contains(&NONE) {
            return false;
        }
        let mut width = self.length(edge);
        for end in ends.map(|end| end as usize).into_iter().filter(|end| self.standing[*end] == 0) {
            if self.room[end] >= self.inflation {
                return true;
            }
            width += self.room[end];
        }
        width >= 2.0 * self.inflation - SLACK
    }

    fn length(&self, edge: usize) -> f64 {
        let [a, b] = self.edges[edge].ends.map(|end| self.points[end as usize]);
        distance(a, b)
    }

    fn find_neighbours_of_gates(&mut self) {
        let mut gates_at = vec![Vec::new(); self.points.len()];
        for (gate, pieces) in self.pieces.iter().enumerate() {
            for end in pieces.iter().flat_map(|piece| self.edges[*piece as usize].ends) {
                gates_at[end as usize].push(gate);
            }
        }
        self.around = vec![Vec::new(); self.pieces.len()];
        for (number, edge) in self.edges.iter().enumerate() {
            for gate in edge.ends.iter().flat_map(|end| &gates_at[*end as usize]) {
                let list = &mut self.around[*gate];
                if list.last() != Some(&(number as u32)) {
                    list.push(number as u32);
                }
            }
        }
    }

    fn place_samples(&mut self) {
        for number in 0..self.edges.len() {
            let length = self.length(number);
            let usable = (length - 2.0 * self.inflation).max(0.0);
            let count = 1 + ((usable / SPACING) as usize).min(MOST_SAMPLES - 1);
            let edge = &mut self.edges[number];
            (edge.first, edge.count) = (self.samples.len() as u32, count as u32);
            let [a, b] = edge.ends.map(|end| self.points[end as usize]);
            for sample in 0..count {
                let along = match count {
                    1 => 0.5 * length,
                    _ => 0.5 * (length - usable) + usable * sample as f64 / (count - 1) as f64,
                };
                let share = if length > 0.0 { along / length } else { 0.5 };
                self.samples.push([a[0] + share * (b[0] - a[0]), a[1] + share * (b[1] - a[1])]);
                self.edge_of_sample.push(number as u32);
            }
        }
    }

    fn hint(&mut self) {
        let fold = |axis: usize, of: fn(f64, f64) -> f64, from: f64| {
            self.points.iter().map(|p| p[axis]).fold(from, of)
        };
        let low = [0, 1].map(|axis| fold(axis, f64::min, f64::INFINITY));
        let high = [0, 1].map(|axis| fold(axis, f64::max, f64::NEG_INFINITY));
        let side = ((self.triangles.len() as f64).sqrt() as usize).clamp(1, 512);
        self.hints = Hints { low, high, cells: [side, side], triangles: Vec::new() };
        let mut triangle = 0;
        for line in 0..side {
            for column in 0..side {
                // To and fro, so that one walk begins where the last one ended.
                let column = if line % 2 == 0 { column } else { side - 1 - column };
                let share = [column, line].map(|cell| (cell as f64 + 0.5) / side as f64);
                let p = [0, 1].map(|axis| low[axis] + share[axis] * (high[axis] - low[axis]));
                triangle = self.walk(triangle, p);
                self.hints.triangles.push(triangle);
            }
            if line % 2 == 1 {
                self.hints.triangles[line * side..].reverse();
            }
        }
    }

    /// The point of the frame's inside nearest to `p`.
    fn inside(&self, p: [f64; 2]) -> [f64; 2] {
        let Hints { low, high, .. } = &self.hints;
        [0, 1].map(|axis| p[axis].clamp(low[axis], high[axis]))
    }

    /// The triangle that a point inside the frame lies in.
    fn locate(&self, p: [f64; 2]) -> u32 {
        let Hints { low, high, cells, triangles } = &self.hints;
        let cell = |axis: usize| {
            let share = (p[axis] - low[axis]) / (high[axis] - low[axis]);
            ((share * cells[axis] as f64) as usize).min(cells[axis] - 1)
        };
        self.walk(triangles[cell(1) * cells[0] + cell(0)], p)
    }

    /// Go from triangle to triangle toward `p`.
    fn walk(&self, mut triangle: u32, p: [f64; 2]) -> u32 {
        let mut came_from = NONE;
        for _ in 0..self.triangles.len() {
            let corners = self.triangles[triangle as usize].map(|v| self.points[v as usize]);
            // Of the edges that `p` is beyond take the one it is furthest beyond, but not back through the last one.
            let mut best = (-1e-12, NONE);
            for corner in 0..3 {
                let (a, b) = (corners[(corner + 1) % 3], corners[(corner + 2) % 3]);
                let beyond = cross(a, b, p) / distance(a, b).max(1e-12);
                let edge = self.edges_of[triangle as usize][corner];
                if beyond < best.0 && edge != came_from {
                    best = (beyond, edge);
                }
            }
            if best.1 == NONE {
                return triangle;
            }
            let next = self.other_side(best.1, triangle);
            if next == NONE {
                return triangle;
            }
            (triangle, came_from) = (next, best.1);
        }
        // A walk that does not end goes round in circles, which triangulations with constraints may allow.
        let off = |triangle: &[u32; 3]| {
            let corners = triangle.map(|v| self.points[v as usize]);
            (0..3).map(|c| -cross(corners[c], corners[(c + 1) % 3], p)).fold(f64::NEG_INFINITY, f64::max)
        };
        let nearest = self.triangles.iter().enumerate().min_by(|a, b| off(a.1).total_cmp(&off(b.1)));
        nearest.map_or(0, |(number, _)| number as u32)
    }

    fn other_side(&self, edge: u32, triangle: u32) -> u32 {
        let [a, b] = self.edges[edge as usize].sides;
        if a == triangle { b } else { a }
    }

    /// Which parts of free space hang together.
    fn label(&mut self) {
        if self.labels_hold {
            return;
        }
        self.labels.clear();
        self.labels.resize(self.triangles.len(), NONE);
        let mut open = Vec::new();
        for first in 0..self.triangles.len() {
            if self.labels[first] != NONE {
                continue;
            }
            self.labels[first] = first as u32;
            open.push(first as u32);
            while let Some(triangle) = open.pop() {
                for edge in self.edges_of[triangle as usize] {
                    let next = self.other_side(edge, triangle);
                    if self.edges[edge as usize].passable && self.labels[next as usize] == NONE {
                        self.labels[next as usize] = first as u32;
                        open.push(next);
                    }
                }
            }
        }
        self.labels_hold = true;
    }

    /// `p`, or if it is nearer to a wall than the inflation, a point beside it that is not, if there is one.
    pub(super) fn freed(&self, p: [f64; 2]) -> [f64; 2] {
        let mut at = p;
        for _ in 0..PUSHES {
            let Some((number, distance)) = self.lines.nearest(at, at, self.inflation - SLACK) else {
                return if self.lines.blocks(p, at) { p } else { at };
            };
            let wall = &self.lines.segments()[number];
            let away = match distance > 1e-9 {
                true => wall.offset(at).1.map(|c| c / distance),
                // On a wall its left is as good as its right.
                false => match wall.length2.sqrt() {
                    0.0 => [1.0, 0.0],
                    length => [-wall.along[1] / length, wall.along[0] / length],
                },
            };
            let push = self.inflation + BEYOND - distance;
            at = [at[0] + push * away[0], at[1] + push * away[1]];
        }
        p
    }

    /// What a way has to keep from walls, metres.
    pub(super) fn clearance(&self) -> f64 {
        self.inflation - SLACK
    }

    /// Steps of all searches so far.
    pub(super) fn work(&self) -> u64 {
        self.search.work
    }
}
