//! From walls to triangles: a constrained Delaunay triangulation in which every bottleneck is an edge.
//!
//! Where two walls come nearest to each other, either two of their ends face each other, and then a Delaunay edge joins them, or an end
//! faces the middle of a wall. There the wall gets a vertex too (after Kallmann 2010, Shortest paths with arbitrary clearance from
//! navigation meshes). So a disc passes wherever all edges it crosses are at least as long as it is wide.

use std::collections::HashMap;

use spade::Triangulation;

use super::drawing::{Delaunay, Drawing, GRAIN};
use super::{Edge, Mesh, NONE, cross};
use crate::walls::{LineIndex, Segment, WallSet};

/// The frame around all walls is this far from them, metres.
const FRAME: f64 = 3.0;
/// A foot this near to an end of its wall is that end, metres.
const AT_END: f64 = 2e-3;
/// A piece is part of a wall when both its ends are this near, metres.
const ON_WALL: f64 = 1e-4;

/// The mesh of these walls; `None` without any.
pub(super) fn mesh(walls: &WallSet, inflation: f64, comfort: f64) -> Option<Mesh> {
    let (low, high) = walls.bounds()?;
    let frame = [
        [low[0] - FRAME, low[1] - FRAME],
        [high[0] + FRAME, low[1] - FRAME],
        [high[0] + FRAME, high[1] + FRAME],
        [low[0] - FRAME, high[1] + FRAME],
    ];
    let mut drawing = Drawing::default();
    frame.iter().for_each(|p| _ = drawing.vertex(*p));
    for segment in walls.segments() {
        drawing.line(segment.start, segment.end());
    }
    let first = drawing.triangulated();
    let mut mesh = Mesh::of(&first);
    let reach = 2.0 * comfort.max(1.05 * inflation);
    let feet = feet(&mesh, reach);
    if !feet.is_empty() {
        let mut drawing = Drawing::default();
        mesh.points.iter().for_each(|p| _ = drawing.vertex(*p));
        for (edge, feet) in mesh.edges.iter().zip(feet_by_edge(&mesh, feet)).filter(|(e, _)| e.is_wall) {
            let mut last = mesh.points[edge.ends[0] as usize];
            for foot in feet.into_iter().chain([mesh.points[edge.ends[1] as usize]]) {
                drawing.line(last, foot);
                last = foot;
            }
        }
        mesh = Mesh::of(&drawing.triangulated());
    }
    mesh.inflation = inflation;
    mesh.comfort = comfort;
    mesh.name_walls(walls);
    mesh.place_samples();
    mesh.hint();
    Some(mesh)
}

impl Mesh {
    fn of(delaunay: &Delaunay) -> Self {
        let points: Vec<[f64; 2]> = delaunay.vertices().map(|v| [v.position().x, v.position().y]).collect();
        let mut triangles = Vec::with_capacity(delaunay.num_inner_faces());
        let mut numbers: HashMap<usize, u32> = HashMap::new();
        for face in delaunay.inner_faces() {
            numbers.insert(face.fix().index(), triangles.len() as u32);
            triangles.push(face.vertices().map(|v| v.fix().index() as u32));
        }
        let mut edges_of = vec![[NONE; 3]; triangles.len()];
        let mut edges = Vec::with_capacity(delaunay.num_undirected_edges());
        for edge in delaunay.undirected_edges() {
            let directed = edge.as_directed();
            let ends = [directed.from(), directed.to()].map(|v| v.fix().index() as u32);
            let face = |e: spade::handles::DirectedEdgeHandle<'_, _, _, _, _>| {
                e.face().as_inner().map_or(NONE, |f| numbers[&f.fix().index()])
            };
            let sides = [face(directed), face(directed.rev())];
            for side in sides.into_iter().filter(|side| *side != NONE) {
                let corner = |v: &u32| !ends.contains(v);
                if let Some(opposite) = triangles[side as usize].iter().position(corner) {
                    edges_of[side as usize][opposite] = edges.len() as u32;
                }
            }
            edges.push(Edge { ends, sides, is_wall: edge.is_constraint_edge(), ..Edge::default() });
        }
        Self { points, triangles, edges_of, edges, ..Self::default() }
    }

    /// Find out which walls the pieces are part of.
    fn name_walls(&mut self, walls: &WallSet) {
        let index = LineIndex::new(walls.segments(), &vec![true; walls.segments().len()]);
        self.standing = vec![0; self.points.len()];
        self.pieces = vec![Vec::new(); walls.segments().len() - walls.fixed()];
        let mut numbers = Vec::new();
        for (number, edge) in self.edges.iter_mut().enumerate().filter(|(_, edge)| edge.is_wall) {
            let [a, b] = edge.ends.map(|end| self.points[end as usize]);
            let middle = [0.5 * (a[0] + b[0]), 0.5 * (a[1] + b[1])];
            numbers.clear();
            index.near(&Segment::between(middle, middle), ON_WALL, |wall, segment| {
                if segment.offset(a).0 <= ON_WALL && segment.offset(b).0 <= ON_WALL {
                    numbers.push(wall);
                }
            });
            numbers.sort_unstable();
            numbers.dedup();
            let fixed = numbers.iter().filter(|wall| **wall < walls.fixed()).count();
            for gate in numbers.iter().filter(|wall| **wall >= walls.fixed()) {
                self.pieces[gate - walls.fixed()].push(number as u32);
            }
            // A piece that no wall wants is what rounding made of one: it stands.
            edge.walls = if numbers.is_empty() { 1 } else { fixed as u32 };
            for end in edge.ends {
                self.standing[end as usize] += edge.walls;
            }
        }
        // Walls of no length are points that stand.
        for segment in &walls.segments()[..walls.fixed()] {
            if segment.length2.sqrt() < 2.0 * GRAIN {
                let nearest =
                    (0..self.points.len()).find(|v| segment.offset(self.points[*v]).0 < 2.0 * GRAIN);
                if let Some(vertex) = nearest {
                    self.standing[vertex] += 1;
                }
            }
        }
        self.room = self
            .points
            .iter()
            .map(|p| {
                let reach = 2.0 * self.inflation;
                let mut least = reach;
                index.near(&Segment::between(*p, *p), reach, |wall, segment| {
                    if wall < walls.fixed() {
                        least = least.min(segment.offset(*p).0);
                    }
                });
                least
            })
            .collect();
    }
}

/// An edge that is a wall, and a point on it that faces a vertex.
struct Foot {
    edge: u32,
    at: [f64; 2],
    share: f64,
}

/// Where vertices face walls nearer than `reach` with nothing in between.
fn feet(mesh: &Mesh, reach: f64) -> Vec<Foot> {
    let mut feet = Vec::new();
    for (triangle, corners) in mesh.triangles.iter().enumerate() {
        for (corner, vertex) in corners.iter().enumerate() {
            let apex = mesh.points[*vertex as usize];
            let edge = mesh.edges_of[triangle][corner];
            let [right, left] =
                [(corner + 1) % 3, (corner + 2) % 3].map(|c| mesh.points[corners[c] as usize]);
            look(mesh, apex, edge, triangle as u32, [right, left], reach, &mut feet);
        }
    }
    feet
}

/// Look from `apex` between two rays through an edge that ends a triangle.
fn look(
    mesh: &Mesh,
    apex: [f64; 2],
    edge: u32,
    triangle: u32,
    rays: [[f64; 2]; 2],
    reach: f64,
    feet: &mut Vec<Foot>,
) {
    let mut open = vec![(edge, triangle, rays)];
    while let Some((edge, from, [right, left])) = open.pop() {
        let Edge { ends, sides, is_wall, .. } = mesh.edges[edge as usize];
        let [a, b] = ends.map(|end| mesh.points[end as usize]);
        let segment = Segment::between(a, b);
        let closest = segment.closest(apex);
        if segment.offset(apex).0 >= reach {
            continue;
        }
        if is_wall {
            let length = segment.length2.sqrt();
            let along = (closest[0] - a[0]).hypot(closest[1] - a[1]);
            let between = cross(apex, right, closest) >= 0.0 && cross(apex, closest, left) >= 0.0;
            if between && along > AT_END && along < length - AT_END {
                feet.push(Foot { edge, at: closest, share: along / length });
            }
            continue;
        }
        let Some(next) = sides.into_iter().find(|side| *side != from && *side != NONE) else {
            continue;
        };
        let corners = mesh.triangles[next as usize];
        for (corner, through) in mesh.edges_of[next as usize].into_iter().enumerate() {
            if through == edge {
                continue;
            }
            // Seen from beyond the edge, the corners of the next one run from left to right.
            let ends = [(corner + 1) % 3, (corner + 2) % 3].map(|c| mesh.points[corners[c] as usize]);
            let [far_right, far_left] = ends;
            let narrow_right = if cross(apex, right, far_right) > 0.0 { far_right } else { right };
            let narrow_left = if cross(apex, left, far_left) < 0.0 { far_left } else { left };
            if cross(apex, narrow_right, narrow_left) > 0.0 {
                open.push((through, next, [narrow_right, narrow_left]));
            }
        }
    }
}

/// The feet of every edge, from its first end to its second, without repetition.
fn feet_by_edge(mesh: &Mesh, mut feet: Vec<Foot>) -> Vec<Vec<[f64; 2]>> {
    feet.sort_by(|a, b| a.edge.cmp(&b.edge).then(a.share.total_cmp(&b.share)));
    let mut by_edge = vec![Vec::new(); mesh.edges.len()];
    for foot in feet {
        let list: &mut Vec<[f64; 2]> = &mut by_edge[foot.edge as usize];
        let apart = |last: &[f64; 2]| (foot.at[0] - last[0]).hypot(foot.at[1] - last[1]) > AT_END;
        if list.last().is_none_or(apart) {
            list.push(foot.at);
        }
    }
    by_edge
}
