//! Beams through a map, from cell to cell (Amanatides and Woo 1987, Eurographics), which finds the sides of the outline without looking at all.

use super::Cells;
use crate::Point;

impl Cells {
    /// Distance from `origin` along the unit vector `direction` to the first side between an occupied and a free cell, of those at least `nearest`
    /// and at most `limit` away.
    pub(crate) fn first_side(
        &self,
        origin: Point,
        direction: Point,
        nearest: f64,
        limit: f64,
    ) -> Option<f64> {
        let (enter, leave) = self.crossing_of_box(origin, direction);
        let limit = limit.min(leave);
        let start = enter.max(0.0);
        // Written so that numbers that are none find nothing.
        let reaches = start <= limit;
        if !reaches {
            return None;
        }
        let mut walk = Walk::new(self, origin, direction, start);
        let mut solid = self.is_occupied(walk.cell[0], walk.cell[1]);
        // From outside, where all is free.
        let side = enter > 0.0 && if walk.along.is_some() { walk.touches(self) } else { solid };
        if side && enter >= nearest {
            return Some(enter);
        }
        loop {
            let (distance, corner) = walk.next(self);
            let reached = distance <= limit;
            if !reached {
                return None;
            }
            let now = self.is_occupied(walk.cell[0], walk.cell[1]);
            let side = if corner { walk.touches(self) } else { now != solid };
            if side && distance >= nearest {
                return Some(distance);
            }
            solid = now;
        }
    }

    /// Where a ray enters and leaves the box around the map.
    fn crossing_of_box(&self, origin: Point, direction: Point) -> (f64, f64) {
        let size = self.size();
        let (mut enter, mut leave) = (f64::NEG_INFINITY, f64::INFINITY);
        for axis in 0..2 {
            let (low, high) = (self.line(axis, 0), self.line(axis, size[axis] as i64));
            if direction[axis] == 0.0 {
                if !(low..=high).contains(&origin[axis]) {
                    return (f64::INFINITY, f64::NEG_INFINITY);
                }
                continue;
            }
            let ends = [(low - origin[axis]) / direction[axis], (high - origin[axis]) / direction[axis]];
            enter = enter.max(ends[0].min(ends[1]));
            leave = leave.min(ends[0].max(ends[1]));
        }
        (enter, leave)
    }

    /// Coordinate of a line of the lattice across an axis.
    fn line(&self, axis: usize, index: i64) -> f64 {
        self.origin()[axis] + index as f64 * self.cell()[axis]
    }
}

/// The cell a ray is in, and the lines it crosses next.
struct Walk {
    origin: Point,
    direction: Point,
    cell: [i64; 2],
    /// The corner of the lattice the ray has come to, when it has.
    corner: [i64; 2],
    /// The axis along which the ray runs exactly on a line of the lattice.
    along: Option<usize>,
}

impl Walk {
    fn new(cells: &Cells, origin: Point, direction: Point, start: f64) -> Self {
        let size = cells.size();
        let mut along = None;
        let cell = [0, 1].map(|axis| {
            let place = (origin[axis] + start * direction[axis] - cells.origin()[axis]) / cells.cell()[axis];
            if direction[axis] == 0.0 && cells.line(axis, place.round() as i64) == origin[axis] {
                along = Some(1 - axis);
            }
            (place.floor() as i64).clamp(0, size[axis] as i64 - 1)
        });
        let corner = [0, 1].map(|axis| cell[axis] + i64::from(direction[axis] < 0.0));
        let mut walk = Self { origin, direction, cell, corner, along };
        if let Some(axis) = along {
            // On the far line of the last cell the cell's own number is one too low.
            let across = 1 - axis;
            walk.corner[across] =
                ((origin[across] - cells.origin()[across]) / cells.cell()[across]).round() as i64;
        }
        walk
    }

    /// Moves into the next cell; answers the distance to the line crossed and whether a corner was met.
    fn next(&mut self, cells: &Cells) -> (f64, bool) {
        let ahead = [0, 1].map(|axis| {
            let line = self.cell[axis] + i64::from(self.direction[axis] > 0.0);
            let distance = (cells.line(axis, line) - self.origin[axis]) / self.direction[axis];
            if self.direction[axis] == 0.0 { (f64::INFINITY, line) } else { (distance, line) }
        });
        let distance = ahead[0].0.min(ahead[1].0);
        let mut crossed = 0;
        for (axis, (reached, line)) in ahead.into_iter().enumerate() {
            if reached == distance && self.direction[axis] != 0.0 {
                self.cell[axis] += if self.direction[axis] > 0.0 { 1 } else { -1 };
                self.corner[axis] = line;
                crossed += 1;
            }
        }
        (distance, crossed == 2 || self.along.is_some())
    }

    /// Whether the outline passes through the corner the ray has come to.
    fn touches(&self, cells: &Cells) -> bool {
        let [x, y] = self.corner;
        let around = [[x - 1, y - 1], [x, y - 1], [x - 1, y], [x, y]].map(|[x, y]| cells.is_occupied(x, y));
        around.iter().any(|occupied| *occupied != around[0])
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use crate::Point;
    use crate::map::Cells;
    use crate::spec::MapGrid;

    fn cells(columns: usize, occupied: &[bool]) -> Option<Cells> {
        Cells::new(&MapGrid {
            columns,
            rows: occupied.len() / columns,
            cell: [0.5, 0.25],
            origin: [-1.0, 2.0],
            values: occupied.iter().map(|occupied| if *occupied { 100.0 } else { 0.0 }).collect(),
            source: None,
        })
    }

    /// The nearest of all outline segments.
    fn brute_force(cells: &Cells, origin: Point, direction: Point, limit: f64) -> Option<f64> {
        let (points, rings) = cells.rings();
        let mut best = f64::INFINITY;
        for [start, end] in rings {
            for i in start..end {
                let (a, b) = (points[i], points[if i + 1 == end { start } else { i + 1 }]);
                let (a, b) = ([a[0] - origin[0], a[1] - origin[1]], [b[0] - origin[0], b[1] - origin[1]]);
                let side = |p: Point| direction[0] * p[1] - direction[1] * p[0];
                let ahead = |p: Point| direction[0] * p[0] + direction[1] * p[1];
                let distances = if side(a) == 0.0 && side(b) == 0.0 {
                    [ahead(a), ahead(b)]
                } else if side(a) * side(b) <= 0.0 {
                    let part = side(a) / (side(a) - side(b));
                    [ahead([a[0] + part * (b[0] - a[0]), a[1] + part * (b[1] - a[1])]); 2]
                } else {
                    continue;
                };
                best = distances.into_iter().filter(|d| *d >= 1e-9).fold(best, f64::min);
            }
        }
        (best <= limit).then_some(best)
    }

    proptest! {
        #[test]
        fn a_beam_meets_the_same_side_as_among_all_segments(
            occupied in proptest::collection::vec(any::<bool>(), 24),
            columns in prop_oneof![Just(4_usize), Just(6), Just(8)],
            x in -2.0..4.0_f64, y in 1.0..5.0_f64,
            angle in -3.2..3.2_f64,
            even in any::<bool>(),
        ) {
            // Half of the beams run along the lattice, from places on it.
            let origin = if even { [(x * 4.0).round() / 4.0, (y * 8.0).round() / 8.0] } else { [x, y] };
            let quarter = [[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0], [0.0, -1.0]];
            let direction = if even { quarter[(angle + 3.2) as usize % 4] } else { [angle.cos(), angle.sin()] };
            if let Some(cells) = cells(columns, &occupied) {
                let found = cells.first_side(origin, direction, 1e-9, 3.0);
                let expected = brute_force(&cells, origin, direction, 3.0);
                match (found, expected) {
                    (Some(a), Some(b)) => prop_assert!((a - b).abs() < 1e-9, "{a} against {b}"),
                    (a, b) => prop_assert_eq!(a, b),
                }
            }
        }
    }

    #[test]
    fn a_beam_from_nowhere_or_without_direction_meets_nothing() {
        let cells = cells(1, &[true]).unwrap();
        assert_eq!(cells.first_side([f64::NAN, 2.0], [1.0, 0.0], 1e-9, 9.0), None);
        assert_eq!(cells.first_side([-2.0, f64::INFINITY], [1.0, 0.0], 1e-9, 9.0), None);
        assert_eq!(cells.first_side([-2.0, 2.1], [f64::NAN, f64::NAN], 1e-9, 9.0), None);
    }
}
