//! Lines that may cross, overlap and touch in any way, and the lines that meet only in vertices which they come down to.

use std::collections::{HashMap, HashSet};

use spade::{ConstrainedDelaunayTriangulation, Point2};

use crate::walls::{LineIndex, Segment};

pub(super) type Delaunay = ConstrainedDelaunayTriangulation<Point2<f64>>;

/// Places are rounded to this, metres: a power of two, so that sums of them stay exact.
pub(super) const GRAIN: f64 = 1.0 / 131_072.0;
/// A line this near to a vertex goes through it.
const THROUGH: f64 = 1.5 * GRAIN;
/// Rounding where lines cross moves them a little, so that they may come to cross others. After so many rounds what still crosses is left
/// out of the mesh; paths are compared to the walls themselves.
const ROUNDS: usize = 6;

/// Distinct vertices and the lines between them.
#[derive(Default)]
pub(super) struct Drawing {
    vertices: Vec<[f64; 2]>,
    known: HashMap<[i64; 2], usize>,
    lines: Vec<[usize; 2]>,
}

impl Drawing {
    pub(super) fn vertex(&mut self, p: [f64; 2]) -> usize {
        vertex(&mut self.vertices, &mut self.known, p)
    }

    pub(super) fn line(&mut self, a: [f64; 2], b: [f64; 2]) {
        let ends = [self.vertex(a), self.vertex(b)];
        if ends[0] != ends[1] {
            self.lines.push(ends);
        }
    }

    /// The constrained triangulation.
    pub(super) fn triangulated(mut self) -> Delaunay {
        self.unite();
        for _ in 0..ROUNDS {
            if !self.cut() {
                break;
            }
            self.unite();
        }
        let vertices = self.vertices.iter().map(|[x, y]| Point2::new(*x, *y)).collect();
        // Vertices are finite and distinct, which is all that loading them asks for.
        Delaunay::try_bulk_load_cdt(vertices, self.lines, |_| {}).unwrap_or_default()
    }

    /// Keep of equal lines the first.
    fn unite(&mut self) {
        let mut seen = HashSet::new();
        self.lines.retain(|[a, b]| seen.insert([*a.min(b), *a.max(b)]));
    }

    /// Cut lines where they cross or go through vertices; whether there was anything to cut.
    fn cut(&mut self) -> bool {
        let lines = std::mem::take(&mut self.lines);
        let segment = |[a, b]: &[usize; 2]| Segment::between(self.vertices[*a], self.vertices[*b]);
        let segments: Vec<Segment> = lines.iter().map(segment).collect();
        let index = LineIndex::new(&segments, &vec![true; segments.len()]);
        let mut has_cut = false;
        for (number, (line, segment)) in lines.iter().zip(&segments).enumerate() {
            let mut cuts: Vec<(f64, usize)> = Vec::new();
            index.near(segment, THROUGH, |other, across| {
                if other == number {
                    return;
                }
                for end in lines[other].into_iter().filter(|end| !line.contains(end)) {
                    let p = self.vertices[end];
                    let (distance, _) = segment.offset(p);
                    if distance <= THROUGH {
                        cuts.push((share(segment, p), end));
                    }
                }
                // Both lines find the same point, whichever comes first.
                let crossing = match number < other {
                    true => segment.crossing(across),
                    false => across.crossing(segment).map(|[t, u]| [u, t]),
                };
                let inside = |share: &f64| *share > 0.0 && *share < 1.0;
                if let Some([t, u]) = crossing.filter(|shares| shares.iter().all(inside)) {
                    let (first, share_of_first) = if number < other { (segment, t) } else { (across, u) };
                    let p = [0, 1].map(|axis| first.start[axis] + share_of_first * first.along[axis]);
                    let place = vertex(&mut self.vertices, &mut self.known, p);
                    if !line.contains(&place) {
                        cuts.push((t, place));
                    }
                }
            });
            cuts.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
            let mut last = line[0];
            for next in cuts.into_iter().map(|(_, vertex)| vertex).chain([line[1]]) {
                if next != last {
                    self.lines.push([last, next]);
                    has_cut |= next != line[1];
                    last = next;
                }
            }
        }
        has_cut
    }
}

fn vertex(vertices: &mut Vec<[f64; 2]>, known: &mut HashMap<[i64; 2], usize>, p: [f64; 2]) -> usize {
    let grains = p.map(|c| (c / GRAIN).round() as i64);
    *known.entry(grains).or_insert_with(|| {
        vertices.push(grains.map(|g| g as f64 * GRAIN));
        vertices.len() - 1
    })
}

/// How far along a segment a point is.
fn share(segment: &Segment, p: [f64; 2]) -> f64 {
    let to = [p[0] - segment.start[0], p[1] - segment.start[1]];
    (to[0] * segment.along[0] + to[1] * segment.along[1]) / segment.length2
}
