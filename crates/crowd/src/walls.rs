//! Walls as named segments, and the index that finds those near a point.
//!
//! Whoever asks gets walls in order of insertion, since sums over walls run in that order (crowd-engine specification, section 1).

use serde::{Deserialize, Serialize};

use crate::error::{CrowdError, coordinate};

/// A named segment, metres.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Wall {
    /// Name; a wall added under the name of another takes its place.
    pub name: String,
    /// One end.
    pub start: [f64; 2],
    /// The other end.
    pub end: [f64; 2],
}

/// A segment as its start and the way to its end.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Segment {
    /// Start.
    pub start: [f64; 2],
    /// End minus start.
    pub along: [f64; 2],
    /// Square of the length.
    pub length2: f64,
}

impl Segment {
    /// The segment between two points.
    #[must_use]
    pub fn between(start: [f64; 2], end: [f64; 2]) -> Self {
        let along = [end[0] - start[0], end[1] - start[1]];
        Self { start, along, length2: along[0] * along[0] + along[1] * along[1] }
    }

    /// The other end.
    #[must_use]
    pub fn end(&self) -> [f64; 2] {
        [self.start[0] + self.along[0], self.start[1] + self.along[1]]
    }

    /// The point of the segment closest to `p`.
    #[must_use]
    #[inline]
    pub fn closest(&self, p: [f64; 2]) -> [f64; 2] {
        let to = [p[0] - self.start[0], p[1] - self.start[1]];
        let t = if self.length2 > 0.0 {
            ((to[0] * self.along[0] + to[1] * self.along[1]) / self.length2).clamp(0.0, 1.0)
        } else {
            0.0
        };
        [self.start[0] + t * self.along[0], self.start[1] + t * self.along[1]]
    }

    /// Distance of `p`, and `p` minus the closest point.
    #[must_use]
    #[inline]
    pub fn offset(&self, p: [f64; 2]) -> (f64, [f64; 2]) {
        let closest = self.closest(p);
        let offset = [p[0] - closest[0], p[1] - closest[1]];
        ((offset[0] * offset[0] + offset[1] * offset[1]).sqrt(), offset)
    }
}

/// All walls, and the segments they are.
#[derive(Debug, Clone, Default)]
pub struct WallSet {
    walls: Vec<Wall>,
    segments: Vec<Segment>,
}

impl WallSet {
    /// Add walls; one under a known name replaces the earlier one in its place.
    ///
    /// # Errors
    /// A coordinate that is no place; then no wall is added.
    pub fn add(&mut self, walls: impl IntoIterator<Item = Wall>) -> Result<(), CrowdError> {
        let walls: Vec<Wall> = walls.into_iter().collect();
        for wall in &walls {
            for place in wall.start.iter().chain(&wall.end) {
                coordinate(&format!("end of wall {:?}", wall.name), *place)?;
            }
        }
        for wall in walls {
            let segment = Segment::between(wall.start, wall.end);
            match self.walls.iter().position(|w| w.name == wall.name) {
                Some(at) => (self.walls[at], self.segments[at]) = (wall, segment),
                None => {
                    self.walls.push(wall);
                    self.segments.push(segment);
                }
            }
        }
        Ok(())
    }

    /// Remove walls by name; names of none are ignored. No names at all removes every wall.
    pub fn remove(&mut self, names: &[String]) {
        self.walls.retain(|wall| !names.is_empty() && !names.contains(&wall.name));
        self.segments = self.walls.iter().map(|w| Segment::between(w.start, w.end)).collect();
    }

    /// The walls in order of insertion.
    #[must_use]
    pub fn walls(&self) -> &[Wall] {
        &self.walls
    }

    /// The segments in order of insertion.
    #[must_use]
    pub fn segments(&self) -> &[Segment] {
        &self.segments
    }

    /// Smallest and largest corner of the box around all walls; `None` without any.
    #[must_use]
    pub fn bounds(&self) -> Option<([f64; 2], [f64; 2])> {
        bounds(&self.segments)
    }
}

fn bounds(segments: &[Segment]) -> Option<([f64; 2], [f64; 2])> {
    let mut ends = segments.iter().flat_map(|s| [s.start, s.end()]);
    let first = ends.next()?;
    Some(ends.fold((first, first), |(low, high), p| {
        ([low[0].min(p[0]), low[1].min(p[1])], [high[0].max(p[0]), high[1].max(p[1])])
    }))
}

/// Grid over the walls: each cell lists the walls within `reach` of any of its points, in order of insertion.
#[derive(Debug, Clone, Default)]
pub struct WallIndex {
    segments: Vec<Segment>,
    reach: f64,
    cell: f64,
    origin: [f64; 2],
    columns: usize,
    rows: usize,
    starts: Vec<u32>,
    entries: Vec<u32>,
}

/// More cells would cost more memory than they save time; larger worlds get larger cells.
const MOST_CELLS: f64 = 262_144.0;

impl WallIndex {
    /// An index that answers for distances up to `reach`, metres.
    #[must_use]
    pub fn new(segments: &[Segment], reach: f64) -> Self {
        let Some((low, high)) = bounds(segments) else {
            return Self { reach, ..Self::default() };
        };
        let origin = [low[0] - reach, low[1] - reach];
        let extent = [high[0] - low[0] + 2.0 * reach, high[1] - low[1] + 2.0 * reach];
        let cell = (0.5 * reach).max(0.25).max((extent[0] * extent[1] / MOST_CELLS).sqrt());
        let [columns, rows] = extent.map(|e| ((e / cell).ceil() as usize).clamp(1, MOST_CELLS as usize));
        let mut index =
            Self { segments: segments.to_vec(), reach, cell, origin, columns, rows, ..Self::default() };
        index.fill();
        index
    }

    fn fill(&mut self) {
        let mut cells: Vec<Vec<u32>> = vec![Vec::new(); self.columns * self.rows];
        // A cell's points are at most half its diagonal away from its centre.
        let near = self.reach + self.cell * std::f64::consts::FRAC_1_SQRT_2 * (1.0 + 1e-9);
        for (number, segment) in self.segments.iter().enumerate() {
            let end = segment.end();
            let range = |axis: usize, count: usize| {
                let (low, high) = (segment.start[axis].min(end[axis]), segment.start[axis].max(end[axis]));
                let of = |p: f64| ((p - self.origin[axis]) / self.cell).floor();
                let first = of(low - near).max(0.0) as usize;
                first..=(of(high + near).max(0.0) as usize).min(count - 1)
            };
            for row in range(1, self.rows) {
                for column in range(0, self.columns) {
                    let centre = [
                        self.origin[0] + (column as f64 + 0.5) * self.cell,
                        self.origin[1] + (row as f64 + 0.5) * self.cell,
                    ];
                    if segment.offset(centre).0 <= near {
                        cells[row * self.columns + column].push(number as u32);
                    }
                }
            }
        }
        self.starts = Vec::with_capacity(cells.len() + 1);
        self.starts.push(0);
        for cell in &cells {
            self.entries.extend_from_slice(cell);
            self.starts.push(self.entries.len() as u32);
        }
    }

    /// How far from a point walls are found, metres.
    #[must_use]
    pub fn reach(&self) -> f64 {
        self.reach
    }

    /// Whether there is no wall.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.segments.is_empty()
    }

    /// Walls that may lie within [`WallIndex::reach`] of `p`, and none that is nearer is missing; in order of insertion.
    #[inline]
    pub fn near(&self, p: [f64; 2]) -> impl Iterator<Item = &Segment> {
        let cell = |axis: usize| ((p[axis] - self.origin[axis]) / self.cell).floor();
        let (column, row) = (cell(0), cell(1));
        let inside = column >= 0.0 && row >= 0.0 && column < self.columns as f64 && row < self.rows as f64;
        let entries = if inside && !self.segments.is_empty() {
            let at = row as usize * self.columns + column as usize;
            &self.entries[self.starts[at] as usize..self.starts[at + 1] as usize]
        } else {
            &[]
        };
        entries.iter().map(|number| &self.segments[*number as usize])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn wall(name: &str, start: [f64; 2], end: [f64; 2]) -> Wall {
        Wall { name: name.to_owned(), start, end }
    }

    #[test]
    fn a_wall_under_a_known_name_takes_the_place_of_the_earlier_one() {
        let mut set = WallSet::default();
        set.add([wall("a", [0.0, 0.0], [1.0, 0.0]), wall("b", [0.0, 1.0], [1.0, 1.0])]).expect("finite");
        set.add([wall("a", [5.0, 0.0], [6.0, 0.0])]).expect("finite");
        assert_eq!(set.walls().iter().map(|w| w.name.as_str()).collect::<Vec<_>>(), ["a", "b"]);
        assert_eq!(set.segments()[0].start, [5.0, 0.0]);
        set.remove(&["nobody".to_owned(), "a".to_owned()]);
        assert_eq!(set.segments().len(), 1);
        set.remove(&[]);
        assert!(set.walls().is_empty() && set.bounds().is_none());
    }

    #[test]
    fn a_wall_without_place_is_refused_and_nothing_added() {
        let mut set = WallSet::default();
        let both = [wall("a", [0.0, 0.0], [1.0, 0.0]), wall("b", [f64::NAN, 1.0], [1.0, 1.0])];
        let error = set.add(both).expect_err("refused").to_string();
        assert_eq!(error, "end of wall \"b\": expected a number between -1e7 and 1e7, found NaN");
        assert!(set.walls().is_empty());
    }

    #[test]
    fn a_wall_of_no_length_is_a_point() {
        let segment = Segment::between([1.0, 2.0], [1.0, 2.0]);
        assert_eq!(segment.offset([4.0, 6.0]), (5.0, [3.0, 4.0]));
    }

    proptest! {
        #[test]
        fn no_wall_within_reach_is_missing(
            ends in proptest::collection::vec((-30.0..30.0, -30.0..30.0, -30.0..30.0, -30.0..30.0), 1..12),
            p in (-40.0..40.0, -40.0..40.0),
            reach in 0.1..6.0,
        ) {
            let segments: Vec<Segment> =
                ends.iter().map(|(a, b, c, d)| Segment::between([*a, *b], [*c, *d])).collect();
            let index = WallIndex::new(&segments, reach);
            let p = [p.0, p.1];
            let found: Vec<Segment> = index.near(p).filter(|s| s.offset(p).0 <= reach).copied().collect();
            let all: Vec<Segment> = segments.into_iter().filter(|s| s.offset(p).0 <= reach).collect();
            prop_assert_eq!(found, all);
        }
    }
}
