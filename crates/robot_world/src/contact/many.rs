//! Finding the pieces of a shape of many, as of a map's outline, that lie near something.
//!
//! A grid over the pieces' boxes in the body frame, made once per shape. It only proposes: who touches is decided by the caller.

use std::sync::Arc;

use crate::Point;
use crate::contact::bodies::{EMPTY, bounds, join};
use crate::shape::{Piece, Placed, Shape, minus, rotate_back};

/// Cells per axis at most.
const CELLS: f64 = 512.0;

/// The grid of one shape.
#[derive(Clone, Debug)]
pub(super) struct Many {
    shape: Arc<Shape>,
    origin: Point,
    /// Cells per metre.
    scale: f64,
    columns: usize,
    rows: usize,
    /// Where the pieces of a cell begin in `pieces`.
    starts: Vec<u32>,
    pieces: Vec<u32>,
}

impl Many {
    /// Place of a shape's grid in `all`, made when there is none yet. Grids of shapes that nobody else holds any more are dropped.
    pub(super) fn of(all: &mut Vec<Many>, shape: &Arc<Shape>) -> usize {
        if let Some(at) = all.iter().position(|many| Arc::ptr_eq(&many.shape, shape)) {
            return at;
        }
        // Grids in use keep their place: bodies of this solve hold it.
        let many = Many::new(shape);
        match all.iter().position(|many| Arc::strong_count(&many.shape) == 1) {
            Some(free) => {
                all[free] = many;
                free
            }
            None => {
                all.push(many);
                all.len() - 1
            }
        }
    }

    fn new(shape: &Arc<Shape>) -> Self {
        let boxes: Vec<[f64; 4]> = shape.pieces.iter().map(around).collect();
        let [low_x, low_y, high_x, high_y] = boxes.iter().fold(EMPTY, |all, &piece| join(all, piece));
        let (width, height) = (high_x - low_x, high_y - low_y);
        let count = boxes.len().max(1) as f64;
        let largest = width.max(height);
        let cell = (width * height / count).sqrt().max(largest / count).max(largest / CELLS);
        let scale = if cell > 0.0 && cell.is_finite() { 1.0 / cell } else { 0.0 };
        let cells = |size: f64| (size * scale) as usize + 1;
        let (columns, rows) = (cells(width), cells(height));
        let mut many = Self {
            shape: Arc::clone(shape),
            origin: [low_x, low_y],
            scale,
            columns,
            rows,
            starts: vec![0; columns * rows + 1],
            pieces: Vec::new(),
        };
        for one in &boxes {
            many.cells(one).for_each(|cell| many.starts[cell + 1] += 1);
        }
        (0..columns * rows).for_each(|cell| many.starts[cell + 1] += many.starts[cell]);
        let mut next = many.starts.clone();
        many.pieces = vec![0; many.starts[columns * rows] as usize];
        for (piece, one) in boxes.iter().enumerate() {
            for cell in many.cells(one) {
                many.pieces[next[cell] as usize] = piece as u32;
                next[cell] += 1;
            }
        }
        many
    }

    /// The cells a box of the body frame covers.
    fn cells(&self, [low_x, low_y, high_x, high_y]: &[f64; 4]) -> impl Iterator<Item = usize> + use<> {
        let place = |value: f64, origin: f64, count: usize| {
            (((value - origin) * self.scale).max(0.0) as usize).min(count - 1)
        };
        let (left, right) =
            (place(*low_x, self.origin[0], self.columns), place(*high_x, self.origin[0], self.columns));
        let (low, high) =
            (place(*low_y, self.origin[1], self.rows), place(*high_y, self.origin[1], self.rows));
        let columns = self.columns;
        (low..=high).flat_map(move |row| (left..=right).map(move |column| row * columns + column))
    }

    /// Adds the numbers of the pieces whose cells meet a box of the body frame: ascending, each once.
    pub(super) fn within(&self, area: &[f64; 4], found: &mut Vec<u32>) {
        for cell in self.cells(area) {
            let range = self.starts[cell] as usize..self.starts[cell + 1] as usize;
            found.extend_from_slice(&self.pieces[range]);
        }
        found.sort_unstable();
        found.dedup();
    }
}

fn around(piece: &Piece) -> [f64; 4] {
    match piece {
        Piece::Disc { center, radius } => bounds(std::slice::from_ref(center), Some(*radius)),
        Piece::Polygon(points) => bounds(points, None),
        Piece::Segment(ends) => bounds(ends, None),
    }
}

/// The box around a box of the world in a body's frame, a little larger.
pub(super) fn into_frame(area: &[f64; 4], at: &Placed<'_>) -> [f64; 4] {
    const SLACK: f64 = 1e-3;
    let [x, y, u, v] = [area[0] - SLACK, area[1] - SLACK, area[2] + SLACK, area[3] + SLACK];
    let corners = [[x, y], [u, y], [u, v], [x, v]];
    bounds(&corners.map(|corner| rotate_back(at.rotation, minus(corner, at.position))), None)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_shape_has_one_grid_and_gives_its_place_to_another_when_nobody_holds_it() {
        let line = |length: f64| {
            let points = (0..50).map(|i| [length * f64::from(i), 0.0]).collect();
            Arc::new(Shape::linestring(points).expect("a line"))
        };
        let mut all = Vec::new();
        let (one, two) = (line(1.0), line(2.0));
        assert_eq!([&one, &two, &one].map(|shape| Many::of(&mut all, shape)), [0, 1, 0]);
        drop(one);
        assert_eq!(Many::of(&mut all, &line(3.0)), 0);
        assert_eq!(all.len(), 2);
    }

    proptest! {
        #[test]
        fn nothing_near_is_missed(
            steps in prop::collection::vec((-1.0..1.0, -0.2..1.0), 2..80),
            low in prop::array::uniform2(-5.0..30.0), size in prop::array::uniform2(0.0..8.0),
        ) {
            let mut at = [0.0; 2];
            let points = steps.iter().map(|(x, y)| { at = [at[0] + x, at[1] + y]; at }).collect();
            let shape = Shape::linestring(points);
            prop_assume!(shape.is_ok());
            let shape = Arc::new(shape.expect("a line"));
            let area = [low[0], low[1], low[0] + size[0], low[1] + size[1]];
            let mut found = Vec::new();
            Many::new(&shape).within(&area, &mut found);
            prop_assert!(found.windows(2).all(|pair| pair[0] < pair[1]));
            for (number, piece) in shape.pieces.iter().enumerate() {
                let [x, y, u, v] = around(piece);
                let meets = x <= area[2] && area[0] <= u && y <= area[3] && area[1] <= v;
                prop_assert!(!meets || found.contains(&(number as u32)));
            }
        }
    }
}
