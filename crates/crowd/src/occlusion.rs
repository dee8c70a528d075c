//! Whether walls block a sight line (crowd-engine specification, section 19).

use serde::{Deserialize, Serialize};

use crate::error::CrowdError;
use crate::pool::Pool;
use crate::walls::{LineIndex, Segment, Toggle, WallSet};

/// How sight lines are tested.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum OcclusionMode {
    /// Not at all: every sight line is clear.
    Off,
    /// With the reference's distance field over cells of 0.05 m, to the cell; in worlds too large for it, exactly.
    Bitmap,
    /// With the walls themselves, of whatever size the world is.
    #[default]
    Exact,
}

/// Names of the ways to test sight lines.
pub const OCCLUSIONS: [&str; 3] = ["bitmap", "exact", "noop"];

impl OcclusionMode {
    /// A way by name.
    ///
    /// # Errors
    /// A name that is none of [`OCCLUSIONS`].
    pub fn named(name: &str) -> Result<Self, CrowdError> {
        match name {
            "bitmap" => Ok(Self::Bitmap),
            "exact" => Ok(Self::Exact),
            "noop" => Ok(Self::Off),
            _ => Err(CrowdError::Unknown {
                kind: "occlusion",
                name: name.to_owned(),
                known: OCCLUSIONS.to_vec(),
            }),
        }
    }
}

/// What blocks sight lines.
#[derive(Debug, Clone, Default)]
pub enum Occlusion {
    /// Nothing.
    #[default]
    Off,
    /// A distance field of all walls but gates, and the gates themselves.
    Bitmap(Bitmap, LineIndex),
    /// The walls.
    Exact(LineIndex),
}

const CELL: f64 = 0.05;
const MARGIN: f64 = 1.0;
/// 4 bytes each: a square of 200 m.
const MOST_CELLS: f64 = 16e6;

impl Occlusion {
    /// What of these walls blocks sight lines.
    #[must_use]
    pub fn new(mode: OcclusionMode, walls: &WallSet) -> Self {
        let (fixed, gates) = walls.segments().split_at(walls.fixed());
        let bitmap = || if fixed.is_empty() { None } else { Bitmap::new(fixed) };
        match mode {
            _ if walls.segments().is_empty() => Self::Off,
            OcclusionMode::Off => Self::Off,
            OcclusionMode::Exact => Self::Exact(LineIndex::of_walls(walls)),
            OcclusionMode::Bitmap => match bitmap() {
                Some(bitmap) => Self::Bitmap(bitmap, LineIndex::new(gates, &walls.closed()[walls.fixed()..])),
                None => Self::Exact(LineIndex::of_walls(walls)),
            },
        }
    }

    /// Open or close a gate; `fixed` is the number of walls that are none.
    pub(crate) fn toggle(&mut self, gate: Toggle, fixed: usize) {
        match self {
            Self::Off => {}
            Self::Bitmap(_, gates) => gates.toggle(Toggle { number: gate.number - fixed, ..gate }),
            Self::Exact(walls) => walls.toggle(gate),
        }
    }

    /// Whether no line is ever blocked.
    #[must_use]
    pub fn is_clear(&self) -> bool {
        matches!(self, Self::Off)
    }

    /// Whether the line between two rows is clear. It is tested from the lower row to the higher one, for both.
    #[must_use]
    pub fn sees(&self, pool: &Pool, row: usize, other: usize) -> bool {
        let (a, b) = (pool.position(row.min(other)), pool.position(row.max(other)));
        match self {
            Self::Off => true,
            Self::Bitmap(bitmap, gates) => bitmap.clear(a, b) && !gates.blocks(a, b),
            Self::Exact(walls) => !walls.blocks(a, b),
        }
    }
}

/// Cells with the distance to the nearest wall.
#[derive(Debug, Clone)]
pub struct Bitmap {
    origin: [f64; 2],
    columns: usize,
    lines: usize,
    /// Square of the distance to the nearest wall cell, in cells.
    squares: Vec<u32>,
}

impl Bitmap {
    /// The field; `None` if the walls are too far apart for one.
    fn new(walls: &[Segment]) -> Option<Self> {
        let ends = || walls.iter().flat_map(|w| [w.start, w.end()]);
        let low = |axis: usize| ends().map(|p| p[axis]).fold(f64::INFINITY, f64::min) - MARGIN;
        let high = |axis: usize| ends().map(|p| p[axis]).fold(f64::NEG_INFINITY, f64::max) + MARGIN;
        let origin = [low(0), low(1)];
        let [width, height] = [high(0) - origin[0], high(1) - origin[1]];
        let [columns, lines] = [width, height].map(|extent| (extent / CELL).ceil());
        if columns * lines > MOST_CELLS {
            return None;
        }
        let (columns, lines) = (columns as usize, lines as usize);
        let mut bitmap = Self { origin, columns, lines, squares: vec![u32::MAX; columns * lines] };
        for wall in walls {
            bitmap.draw(wall);
        }
        bitmap.dilate();
        bitmap.spread();
        Some(bitmap)
    }

    fn cell(&self, p: [f64; 2]) -> [i64; 2] {
        let clamped = |axis: usize, count: usize| {
            (((p[axis] - self.origin[axis]) / CELL).floor() as i64).clamp(0, count as i64 - 1)
        };
        [clamped(0, self.columns), clamped(1, self.lines)]
    }

    /// Bresenham's line between the cells of both ends.
    fn draw(&mut self, wall: &Segment) {
        let ([mut x, mut y], [end_x, end_y]) = (self.cell(wall.start), self.cell(wall.end()));
        let (dx, dy) = ((end_x - x).abs(), -(end_y - y).abs());
        let (step_x, step_y) = ((end_x - x).signum(), (end_y - y).signum());
        let mut error = dx + dy;
        loop {
            self.squares[y as usize * self.columns + x as usize] = 0;
            if (x, y) == (end_x, end_y) {
                return;
            }
            let twice = 2 * error;
            if twice >= dy {
                error += dy;
                x += step_x;
            }
            if twice <= dx {
                error += dx;
                y += step_y;
            }
        }
    }

    fn dilate(&mut self) {
        let walls: Vec<usize> = (0..self.squares.len()).filter(|i| self.squares[*i] == 0).collect();
        for at in walls {
            let (column, line) = (at % self.columns, at / self.columns);
            let mut wall = |inside: bool, neighbour: usize| {
                if inside {
                    self.squares[neighbour] = 0;
                }
            };
            wall(column > 0, at.wrapping_sub(1));
            wall(column + 1 < self.columns, at + 1);
            wall(line > 0, at.wrapping_sub(self.columns));
            wall(line + 1 < self.lines, at + self.columns);
        }
    }

    /// Exact squared distances, columns first and then lines (Felzenszwalb & Huttenlocher 2012, Theory of Computing 8, 415).
    fn spread(&mut self) {
        let longest = self.columns.max(self.lines);
        let (mut values, mut envelope) = (vec![0; longest], Envelope::default());
        for column in 0..self.columns {
            for (line, value) in values.iter_mut().enumerate().take(self.lines) {
                *value = self.squares[line * self.columns + column];
            }
            envelope.transform(&values[..self.lines], |line, square| {
                self.squares[line * self.columns + column] = square;
            });
        }
        for line in self.squares.chunks_exact_mut(self.columns) {
            values[..line.len()].copy_from_slice(line);
            envelope.transform(&values[..line.len()], |column, square| line[column] = square);
        }
    }

    /// Whether the line from `a` to `b` meets no wall: it steps as far as the distance field lets it.
    fn clear(&self, a: [f64; 2], b: [f64; 2]) -> bool {
        let along = [b[0] - a[0], b[1] - a[1]];
        let length = along[0].hypot(along[1]);
        if length <= 1e-9 {
            return true;
        }
        let mut s: f64 = 0.0;
        loop {
            let p = [a[0] + s * along[0], a[1] + s * along[1]];
            // Toward zero, as the reference does: just outside the lower edges counts as the first cell.
            let raw = [0, 1].map(|axis| ((p[axis] - self.origin[axis]) / CELL) as i64);
            let inside = [raw[0].clamp(0, self.columns as i64 - 1), raw[1].clamp(0, self.lines as i64 - 1)];
            let square = self.squares[inside[1] as usize * self.columns + inside[0] as usize];
            if square == 0 && raw == inside {
                return false;
            }
            if s >= 1.0 {
                return true;
            }
            let free = CELL * f64::from(square).sqrt() - CELL * std::f64::consts::SQRT_2;
            s = (s + free.max(CELL * std::f64::consts::FRAC_1_SQRT_2) / length).min(1.0);
        }
    }
}

/// Lower envelope of the parabolas over the cells of a line.
#[derive(Default)]
struct Envelope {
    /// Apex of each parabola, and where it becomes the lowest one.
    parabolas: Vec<(usize, f64)>,
}

impl Envelope {
    /// `min over q of values[q] + (p - q)^2` for every `p`; `u32::MAX` is infinite.
    fn transform(&mut self, values: &[u32], mut put: impl FnMut(usize, u32)) {
        self.parabolas.clear();
        let height = |q: usize| f64::from(values[q]) + (q * q) as f64;
        for (q, _) in values.iter().enumerate().filter(|(_, value)| **value != u32::MAX) {
            let mut from = f64::NEG_INFINITY;
            while let Some((last, since)) = self.parabolas.last() {
                let meeting = (height(q) - height(*last)) / (2.0 * (q - last) as f64);
                if meeting > *since {
                    from = meeting;
                    break;
                }
                self.parabolas.pop();
            }
            self.parabolas.push((q, from));
        }
        let mut current = 0;
        for p in 0..values.len() {
            while self.parabolas.get(current + 1).is_some_and(|(_, since)| *since < p as f64) {
                current += 1;
            }
            let square = self.parabolas.get(current).map_or(u32::MAX, |(q, _)| {
                let distance = p.abs_diff(*q) as u64;
                (u64::from(values[*q]) + distance * distance).min(u64::from(u32::MAX - 1)) as u32
            });
            put(p, square);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pool::Row;
    use crate::sampling::AgentParameters;
    use crate::walls::Wall;
    use proptest::prelude::*;

    fn bitmap(walls: &[[f64; 4]]) -> Bitmap {
        let walls: Vec<Segment> =
            walls.iter().map(|w| Segment::between([w[0], w[1]], [w[2], w[3]])).collect();
        Bitmap::new(&walls).expect("small")
    }

    #[test]
    fn a_wall_blocks_what_crosses_it_and_nothing_beside_it() {
        let walls = bitmap(&[[0.0, -1.0, 0.0, 1.0]]);
        assert!(!walls.clear([-3.0, 0.0], [3.0, 0.0]));
        assert!(walls.clear([-3.0, 1.5], [3.0, 1.5]));
        assert!(walls.clear([-3.0, -1.0], [-0.2, 1.0]));
        assert!(walls.clear([-0.2, 0.0], [-0.2, 0.0]), "no length");
    }

    fn walls_of(ends: &[[f64; 4]], gates: &[[f64; 4]]) -> WallSet {
        let mut walls = WallSet::default();
        let wall = |name: &str, number: usize, [a, b, c, d]: [f64; 4]| Wall {
            name: format!("{name}{number}"),
            start: [a, b],
            end: [c, d],
        };
        walls.add(ends.iter().enumerate().map(|(n, w)| wall("wall", n, *w))).expect("finite");
        walls.add(gates.iter().enumerate().map(|(n, w)| wall("__door_", n, *w))).expect("finite");
        walls
    }

    fn pool(points: [[f64; 2]; 2]) -> Pool {
        let mut pool = Pool::with_capacity(2);
        for (id, [x, y]) in points.into_iter().enumerate() {
            pool.push(Row::new(id as i32, [x, y, 0.0], &AgentParameters::unknown_type()));
        }
        pool
    }

    #[test]
    fn a_world_too_large_for_the_field_is_looked_through_exactly() {
        let walls = walls_of(&[[0.0, 0.0, 1e6, 1e6]], &[]);
        let occlusion = Occlusion::new(OcclusionMode::Bitmap, &walls);
        assert!(matches!(occlusion, Occlusion::Exact(_)));
        assert!(!occlusion.sees(&pool([[10.0, 8.0], [8.0, 10.0]]), 0, 1));
    }

    #[test]
    fn a_door_hides_what_is_behind_it_only_while_it_is_closed() {
        let mut walls = walls_of(&[[0.0, -3.0, 0.0, -0.5], [0.0, 0.5, 0.0, 3.0]], &[[0.0, -0.5, 0.0, 0.5]]);
        for mode in [OcclusionMode::Bitmap, OcclusionMode::Exact] {
            let mut occlusion = Occlusion::new(mode, &walls);
            let pool = pool([[-1.0, 0.0], [1.0, 0.1]]);
            assert!(!occlusion.sees(&pool, 0, 1));
            for toggle in walls.open(&["__door_0".to_owned()]).expect("a gate") {
                occlusion.toggle(toggle, walls.fixed());
            }
            assert!(occlusion.sees(&pool, 0, 1));
            walls
                .add([Wall { name: "__door_0".into(), start: [0.0, -0.5], end: [0.0, 0.5] }])
                .expect("finite");
        }
        assert!(Occlusion::new(OcclusionMode::Off, &walls).is_clear());
    }

    proptest! {
        #[test]
        fn the_field_holds_the_distance_to_the_nearest_wall_cell(
            walls in proptest::collection::vec((0.0..1.5_f64, 0.0..1.5_f64, 0.0..1.5_f64, 0.0..1.5_f64), 1..4),
        ) {
            let walls: Vec<[f64; 4]> = walls.into_iter().map(|(a, b, c, d)| [a, b, c, d]).collect();
            let field = bitmap(&walls);
            let place = |at: usize| (at % field.columns, at / field.columns);
            let blocked: Vec<(usize, usize)> =
                (0..field.squares.len()).filter(|at| field.squares[*at] == 0).map(place).collect();
            for at in (0..field.squares.len()).step_by(7) {
                let (column, line) = place(at);
                let nearest = blocked.iter().map(|(c, l)| c.abs_diff(column).pow(2) + l.abs_diff(line).pow(2)).min();
                prop_assert_eq!(Some(field.squares[at] as usize), nearest);
            }
        }
    }
}
