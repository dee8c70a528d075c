//! What behaviours take for walls: lines, the outline of a map and, on request, the edges of obstacles that never move.
//!
//! Built when objects come or go; says which rows and segments are worth a look and never where they are now, which the objects know.

use std::ops::Range;

use crate::Point;
use crate::objects::Objects;
use crate::shape::{Shape, ShapeKind};

/// Rows of walls, and the outline of the map in an index.
#[derive(Clone, Debug, Default)]
pub struct Walls {
    /// Rows of what may be a wall, ascending, with the outline of those that are maps.
    pub(super) rows: Vec<(u32, Option<Outline>)>,
}

impl Walls {
    /// The walls among `objects`: linestrings, maps, and static rectangles, polygons and compounds.
    #[must_use]
    pub fn of(objects: &Objects) -> Self {
        let rows = objects.shape.iter().zip(&objects.is_static).enumerate();
        let rows = rows.filter_map(|(row, (shape, is_static))| {
            let outline = match shape.kind {
                ShapeKind::Linestring => None,
                ShapeKind::Map(_) => Some(Outline::of(shape)),
                ShapeKind::Circle { .. } => return None,
                _ if *is_static => None,
                _ => return None,
            };
            Some((row as u32, outline))
        });
        Self { rows: rows.collect() }
    }
}

/// The point of a segment nearest to `point`.
pub(super) fn nearest(segment: &[Point; 2], point: Point) -> Point {
    let [start, end] = *segment;
    let along = [end[0] - start[0], end[1] - start[1]];
    let square = along[0] * along[0] + along[1] * along[1];
    let share = ((point[0] - start[0]) * along[0] + (point[1] - start[1]) * along[1]) / square;
    let share = if square > 0.0 { share.clamp(0.0, 1.0) } else { 0.0 };
    [start[0] + share * along[0], start[1] + share * along[1]]
}

/// Cells along the longer side of an outline's index.
const CELLS: f64 = 256.0;

/// The outline of a map, straight runs in one piece, and which of them are near a place. A map has a vertex at every corner
/// of a cell; without joining them a wall would push the harder the finer the map is.
#[derive(Clone, Debug)]
pub(super) struct Outline {
    segments: Vec<[Point; 2]>,
    low: Point,
    cell: f64,
    size: [usize; 2],
    /// Where a cell's segments begin, one more than there are cells.
    starts: Vec<u32>,
    entries: Vec<u32>,
}

impl Outline {
    fn of(shape: &Shape) -> Self {
        let mut segments: Vec<[Point; 2]> = Vec::new();
        for ring in &shape.rings {
            let points = &shape.points[ring.start as usize..ring.end as usize];
            join(points, ring.closed, &mut segments);
        }
        let (mut low, mut high) = ([f64::INFINITY; 2], [f64::NEG_INFINITY; 2]);
        for axis in [0, 1] {
            for segment in &segments {
                low[axis] = low[axis].min(segment[0][axis]).min(segment[1][axis]);
                high[axis] = high[axis].max(segment[0][axis]).max(segment[1][axis]);
            }
        }
        if segments.is_empty() {
            (low, high) = ([0.0; 2], [0.0; 2]);
        }
        let cell = ((high[0] - low[0]).max(high[1] - low[1]) / CELLS).max(1.0);
        let size = [0, 1].map(|axis| ((high[axis] - low[axis]) / cell) as usize + 1);
        let mut outline =
            Self { segments, low, cell, size, starts: vec![0; size[0] * size[1] + 1], entries: Vec::new() };
        outline.fill();
        outline
    }

    fn fill(&mut self) {
        let boxes: Vec<_> = self
            .segments
            .iter()
            .map(|[a, b]| self.cells([a[0].min(b[0]), a[1].min(b[1])], [a[0].max(b[0]), a[1].max(b[1])]))
            .collect();
        for [columns, rows] in &boxes {
            for row in rows.clone() {
                for column in columns.clone() {
                    self.starts[row * self.size[0] + column + 1] += 1;
                }
            }
        }
        for index in 1..self.starts.len() {
            self.starts[index] += self.starts[index - 1];
        }
        self.entries = vec![0; self.starts.last().map_or(0, |&end| end as usize)];
        let mut next = self.starts.clone();
        for (number, [columns, rows]) in boxes.iter().enumerate() {
            for row in rows.clone() {
                for column in columns.clone() {
                    let place = &mut next[row * self.size[0] + column];
                    self.entries[*place as usize] = number as u32;
                    *place += 1;
                }
            }
        }
    }

    /// Columns and rows of the cells of a box; none where it is outside.
    fn cells(&self, low: Point, high: Point) -> [Range<usize>; 2] {
        [0, 1].map(|axis| {
            let place = |value: f64| (value - self.low[axis]) / self.cell;
            if place(high[axis]) < 0.0 {
                return 0..0;
            }
            let end = (place(high[axis]) as usize).saturating_add(1).min(self.size[axis]);
            (place(low[axis]) as usize).min(end)..end
        })
    }

    /// Calls `found` with every segment nearer to `point` than `radius`, in the outline's order. `numbers` is memory.
    pub(super) fn within(
        &self,
        point: Point,
        radius: f64,
        numbers: &mut Vec<u32>,
        mut found: impl FnMut(&[Point; 2]),
    ) {
        numbers.clear();
        let [columns, rows] = self.cells(point.map(|axis| axis - radius), point.map(|axis| axis + radius));
        for row in rows {
            for column in columns.clone() {
                let cell = row * self.size[0] + column;
                let range = self.starts[cell] as usize..self.starts[cell + 1] as usize;
                numbers.extend_from_slice(&self.entries[range]);
            }
        }
        numbers.sort_unstable();
        numbers.dedup();
        for &number in &*numbers {
            let segment = &self.segments[number as usize];
            let nearest = nearest(segment, point);
            if (nearest[0] - point[0]).hypot(nearest[1] - point[1]) < radius {
                found(segment);
            }
        }
    }
}

/// Adds the straight runs of a line of points.
fn join(points: &[Point], closed: bool, segments: &mut Vec<[Point; 2]>) {
    let count = points.len();
    let turns = |index: usize| {
        let (before, here, after) =
            (points[(index + count - 1) % count], points[index], points[(index + 1) % count]);
        let (a, b) = ([here[0] - before[0], here[1] - before[1]], [after[0] - here[0], after[1] - here[1]]);
        let (cross, dot) = (a[0] * b[1] - a[1] * b[0], a[0] * b[0] + a[1] * b[1]);
        cross.abs() > 1e-9 * dot
    };
    let corners: Vec<Point> = (0..count)
        .filter(|&index| (!closed && (index == 0 || index + 1 == count)) || turns(index))
        .map(|index| points[index])
        .collect();
    segments.extend(corners.windows(2).map(|pair| [pair[0], pair[1]]));
    if let (true, Some(&last), Some(&first)) = (closed, corners.last(), corners.first()) {
        segments.push([last, first]);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::spec::MapGrid;

    fn map(columns: usize, occupied: impl Fn(usize, usize) -> bool) -> Option<Shape> {
        let values = (0..columns * columns)
            .map(|index| if occupied(index % columns, index / columns) { 100.0 } else { 0.0 });
        Shape::map(&MapGrid {
            columns,
            rows: columns,
            cell: [0.5, 0.25],
            origin: [-3.0, 2.0],
            values: values.collect(),
            source: None,
        })
    }

    #[test]
    fn a_straight_wall_of_many_cells_is_one_segment_per_side() {
        let shape = map(40, |_, row| row == 3).unwrap();
        let outline = Outline::of(&shape);
        assert_eq!(outline.segments.len(), 4, "{:?}", outline.segments);
        assert!(shape.segments().count() > 80);
    }

    proptest! {
        #[test]
        fn the_segments_near_a_place_are_those_of_a_plain_search(
            cells in prop::collection::vec(any::<bool>(), 144),
            point in [-6.0..6.0, -1.0..8.0f64],
            radius in 0.0..4.0,
        ) {
            let Some(shape) = map(12, |column, row| cells[row * 12 + column]) else { return Ok(()) };
            let outline = Outline::of(&shape);
            let near = |segment: &&[Point; 2]| {
                let nearest = nearest(segment, point);
                (nearest[0] - point[0]).hypot(nearest[1] - point[1]) < radius
            };
            let expected: Vec<_> = outline.segments.iter().filter(near).copied().collect();
            let mut found = Vec::new();
            outline.within(point, radius, &mut Vec::new(), |segment| found.push(*segment));
            prop_assert_eq!(found, expected);
            // Joined or not, the outline is as long.
            let length = |segments: &mut dyn Iterator<Item = [Point; 2]>| {
                segments.map(|[a, b]| (a[0] - b[0]).hypot(a[1] - b[1])).sum::<f64>()
            };
            let (joined, whole) =
                (length(&mut outline.segments.iter().copied()), length(&mut shape.segments()));
            prop_assert!((joined - whole).abs() < 1e-9, "{joined} {whole}");
        }
    }
}
