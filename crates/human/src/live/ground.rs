//! Where things are: zones, and a grid that answers what could matter at a point.
//!
//! Doors, zones and plates never move, so the grid is built once; a step costs one look-up per occupant.

use std::sync::Arc;

use promenade_scenario::{Point, Segment, geometry};

/// Most cells along one side.
const SIDE: usize = 64;
/// Most entries over all cells; a coarser grid is taken before there are more.
const MOST_ENTRIES: usize = 1 << 20;

/// A piece of floor with what holds in it. Metres in `map`.
#[derive(Debug)]
pub(super) struct Ground {
    pub(super) name: Arc<str>,
    pub(super) level: usize,
    pub(super) outline: Outline,
    pub(super) max_speed: Option<f64>,
    pub(super) cap: Option<i64>,
    pub(super) quiet: bool,
    pub(super) restricted: bool,
    /// People in it, as of the last step.
    pub(super) people: u32,
}

impl Ground {
    pub(super) fn contains(&self, p: Point) -> bool {
        self.outline.contains(p)
    }

    /// Whether it has taken all that it takes.
    pub(super) fn is_full(&self) -> bool {
        self.cap.is_some_and(|cap| i64::from(self.people) >= cap)
    }
}

/// A polygon that is asked often what it contains.
#[derive(Debug)]
pub(super) struct Outline {
    pub(super) corners: Vec<Point>,
    pub(super) bounds: Bounds,
    /// It is its own bounds, as most rooms are.
    is_upright: bool,
}

impl Outline {
    pub(super) fn new(corners: Vec<Point>) -> Self {
        let bounds = Bounds::around(&corners, 0.0);
        let is_upright = match corners[..] {
            [a, _, c, _] => {
                let straight = |e: Segment| (e.start.x == e.end.x) != (e.start.y == e.end.y);
                a.x != c.x && a.y != c.y && geometry::edges(&corners).all(straight)
            }
            _ => false,
        };
        Outline { corners, bounds, is_upright }
    }

    pub(super) fn contains(&self, p: Point) -> bool {
        self.bounds.contain(p) && (self.is_upright || geometry::contains(&self.corners, p))
    }
}

/// An upright rectangle, edges included.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Bounds {
    pub(super) low: Point,
    pub(super) high: Point,
}

impl Bounds {
    pub(super) fn around(points: &[Point], margin: f64) -> Self {
        let (low, high) = geometry::bounds(points).unwrap_or_default();
        Bounds {
            low: Point::new(low.x - margin, low.y - margin),
            high: Point::new(high.x + margin, high.y + margin),
        }
    }

    pub(super) fn contain(&self, p: Point) -> bool {
        p.x >= self.low.x && p.x <= self.high.x && p.y >= self.low.y && p.y <= self.high.y
    }

    fn join(self, other: Self) -> Self {
        Bounds {
            low: Point::new(self.low.x.min(other.low.x), self.low.y.min(other.low.y)),
            high: Point::new(self.high.x.max(other.high.x), self.high.y.max(other.high.y)),
        }
    }
}

/// Something that matters around a place, by index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Feature {
    Door(usize),
    Zone(usize),
    Plate(usize),
}

/// What could matter at a point: a superset, in the order in which it was given.
#[derive(Debug, Default)]
pub(super) struct Grid {
    bounds: Option<Bounds>,
    columns: usize,
    rows: usize,
    /// Cells per metre along x and y.
    scale: [f64; 2],
    /// Where each cell's entries begin in `entries`, and one more for the end.
    starts: Vec<usize>,
    entries: Vec<Feature>,
}

impl Grid {
    pub(super) fn new(features: &[(Feature, Bounds)]) -> Self {
        let Some(bounds) = features.iter().map(|(_, bounds)| *bounds).reduce(Bounds::join) else {
            return Grid::default();
        };
        let mut side = SIDE;
        loop {
            let grid = Grid::empty(bounds, side);
            let entries: usize = features.iter().map(|(_, bounds)| grid.cell_count(bounds)).sum();
            if entries <= MOST_ENTRIES || side == 1 {
                return grid.filled(features);
            }
            side /= 2;
        }
    }

    fn empty(bounds: Bounds, side: usize) -> Self {
        let per = |extent: f64| {
            // Cells under a metre gain nothing.
            let count = (extent.ceil() as usize).clamp(1, side);
            (count, if extent > 0.0 { count as f64 / extent } else { 0.0 })
        };
        let (columns, x) = per(bounds.high.x - bounds.low.x);
        let (rows, y) = per(bounds.high.y - bounds.low.y);
        Grid { bounds: Some(bounds), columns, rows, scale: [x, y], ..Grid::default() }
    }

    fn filled(mut self, features: &[(Feature, Bounds)]) -> Self {
        let mut cells: Vec<Vec<Feature>> = vec![Vec::new(); self.columns * self.rows];
        for (feature, bounds) in features {
            for cell in self.cells(bounds) {
                cells[cell].push(*feature);
            }
        }
        self.starts.push(0);
        for cell in cells {
            self.entries.extend(cell);
            self.starts.push(self.entries.len());
        }
        self
    }

    /// Column and row of a point; monotone in x and y, so that a point inside bounds lies in one of their cells.
    fn cell(&self, p: Point) -> [usize; 2] {
        let low = self.bounds.map_or(Point::default(), |bounds| bounds.low);
        let index = |offset: f64, scale: f64, count: usize| ((offset * scale) as usize).min(count - 1);
        [index(p.x - low.x, self.scale[0], self.columns), index(p.y - low.y, self.scale[1], self.rows)]
    }

    fn cells(&self, bounds: &Bounds) -> impl Iterator<Item = usize> + use<> {
        let ([left, bottom], [right, top]) = (self.cell(bounds.low), self.cell(bounds.high));
        let columns = self.columns;
        (bottom..=top).flat_map(move |row| (left..=right).map(move |column| row * columns + column))
    }

    fn cell_count(&self, bounds: &Bounds) -> usize {
        let ([left, bottom], [right, top]) = (self.cell(bounds.low), self.cell(bounds.high));
        (right - left + 1) * (top - bottom + 1)
    }

    /// What could matter at `p`, which must be finite.
    pub(super) fn at(&self, p: Point) -> &[Feature] {
        if !self.bounds.is_some_and(|bounds| bounds.contain(p)) {
            return &[];
        }
        let [column, row] = self.cell(p);
        let cell = row * self.columns + column;
        &self.entries[self.starts[cell]..self.starts[cell + 1]]
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn boxes() -> impl Strategy<Value = Vec<[f64; 4]>> {
        let near = (-20.0..20.0_f64, -20.0..20.0_f64, 0.0..9.0_f64, 0.0..9.0_f64);
        let far = (-1e9..1e9_f64, -1e9..1e9_f64, 0.0..1e9_f64, 0.0..1e9_f64);
        proptest::collection::vec(
            prop_oneof![9 => near, 1 => far].prop_map(|(x, y, w, h)| [x, y, w, h]),
            1..30,
        )
    }

    proptest! {
        #[test]
        fn the_grid_misses_nothing(boxes in boxes(), points in proptest::collection::vec((-30.0..30.0_f64, -30.0..30.0_f64), 20)) {
            let bounds = boxes.iter().map(|&[x, y, w, h]| Bounds { low: Point::new(x, y), high: Point::new(x + w, y + h) });
            let features: Vec<_> = bounds.enumerate().map(|(i, bounds)| (Feature::Zone(i), bounds)).collect();
            let grid = Grid::new(&features);
            let corners = features.iter().flat_map(|(_, bounds)| [bounds.low, bounds.high]);
            for p in points.into_iter().map(|(x, y)| Point::new(x, y)).chain(corners) {
                let found = grid.at(p);
                for (feature, bounds) in &features {
                    prop_assert!(!bounds.contain(p) || found.contains(feature), "{p:?} {feature:?}");
                }
                let index = |feature: &Feature| match *feature {
                    Feature::Zone(i) | Feature::Door(i) | Feature::Plate(i) => i,
                };
                prop_assert!(found.is_sorted_by_key(index));
            }
        }

        #[test]
        fn an_outline_contains_what_its_polygon_does(x in -1.0..5.0_f64, y in -1.0..4.0_f64) {
            for corners in [
                [[0., 0.], [4., 0.], [4., 3.], [0., 3.]],
                [[0., 0.], [0., 3.], [4., 3.], [4., 0.]],
                [[0., 0.], [4., 0.], [3., 3.], [0., 3.]],
                [[0., 0.], [4., 3.], [4., 0.], [0., 3.]],
                [[0., 0.], [4., 0.], [0., 0.], [0., 3.]],
            ] {
                let corners = corners.map(Point::from).to_vec();
                let p = Point::new(x, y);
                prop_assert_eq!(Outline::new(corners.clone()).contains(p), geometry::contains(&corners, p));
            }
        }
    }

    #[test]
    fn a_grid_of_nothing_knows_nothing() {
        assert!(Grid::new(&[]).at(Point::new(0.0, 0.0)).is_empty());
    }
}
