//! Square cells over the box around the walls.

use super::Segment;

/// More cells would cost more memory than they save time; larger worlds get larger cells.
const MOST: f64 = 262_144.0;

/// The cells, numbered row by row.
#[derive(Debug, Clone, Default)]
pub(super) struct Cells {
    origin: [f64; 2],
    edge: f64,
    columns: usize,
    rows: usize,
}

impl Cells {
    /// Cells of at least `edge` metres over a box and `margin` around it.
    pub(super) fn over(low: [f64; 2], high: [f64; 2], margin: f64, edge: f64) -> Self {
        let origin = [low[0] - margin, low[1] - margin];
        let extent = [high[0] - low[0] + 2.0 * margin, high[1] - low[1] + 2.0 * margin];
        let edge = edge.max((extent[0] * extent[1] / MOST).sqrt());
        // A row of cells has no area to speak of, but must not be endless either.
        let edge = edge.max(extent[0] / MOST).max(extent[1] / MOST);
        let [columns, rows] = extent.map(|e| (e / edge) as usize + 1);
        Self { origin, edge, columns, rows }
    }

    pub(super) fn count(&self) -> usize {
        self.columns * self.rows
    }

    /// The cell of a point; `None` outside.
    #[inline]
    pub(super) fn at(&self, p: [f64; 2]) -> Option<usize> {
        let [column, row] = [0, 1].map(|axis| (p[axis] - self.origin[axis]) / self.edge);
        let inside = column >= 0.0 && row >= 0.0 && column < self.columns as f64 && row < self.rows as f64;
        inside.then(|| row as usize * self.columns + column as usize)
    }

    /// First and last of `count` lines of cells between two coordinates; may be empty.
    fn lines(&self, axis: usize, low: f64, high: f64, count: usize) -> std::ops::Range<usize> {
        let of = |p: f64| ((p - self.origin[axis]) / self.edge).floor();
        let first = of(low).clamp(0.0, count as f64) as usize;
        first..(of(high) + 1.0).clamp(0.0, count as f64) as usize
    }

    /// Visit all cells with a point within `reach` of a segment, and some more beside it; until `visit` says so.
    #[inline]
    pub(super) fn visit(&self, segment: &Segment, reach: f64, mut visit: impl FnMut(usize) -> bool) -> bool {
        // A hair more, since points on the edge of a cell may round into either.
        let reach = reach + 1e-9 * (1.0 + self.edge);
        let (a, b) = (segment.start, segment.end());
        for row in self.lines(1, a[1].min(b[1]) - reach, a[1].max(b[1]) + reach, self.rows) {
            let low = self.origin[1] + row as f64 * self.edge - reach;
            let high = low + self.edge + 2.0 * reach;
            // The part of the segment within the band.
            let [first, last] = match segment.along[1] {
                0.0 => [0.0, 1.0],
                rise => {
                    let (s, t) = ((low - a[1]) / rise, (high - a[1]) / rise);
                    [s.min(t).clamp(0.0, 1.0), s.max(t).clamp(0.0, 1.0)]
                }
            };
            let [x, y] = [first, last].map(|t| a[0] + t * segment.along[0]);
            for column in self.lines(0, x.min(y) - reach, x.max(y) + reach, self.columns) {
                if visit(row * self.columns + column) {
                    return true;
                }
            }
        }
        false
    }

    /// As [`Cells::visit`], all of them.
    pub(super) fn within(&self, segment: &Segment, reach: f64, mut each: impl FnMut(usize)) {
        self.visit(segment, reach, |cell| {
            each(cell);
            false
        });
    }
}
