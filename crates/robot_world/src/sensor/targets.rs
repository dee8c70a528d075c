//! What scanners can see, binned by place once per step, so that a scanner looks only at what is within its range.

use crate::objects::Objects;
use crate::shape::{Placed, ShapeKind};

/// Below this many targets all of them are looked at.
const FEW: usize = 48;

/// A disc around every visible object. Columns have one entry per target, ordered by bin.
#[derive(Clone, Debug, Default)]
pub(super) struct Targets {
    row: Vec<u32>,
    x: Vec<f64>,
    y: Vec<f64>,
    radius: Vec<f64>,
    /// The targets of bin i are `starts[i]..starts[i + 1]`; those in no bin, because they are large, come after all bins.
    starts: Vec<u32>,
    columns: usize,
    rows: usize,
    low: [f64; 2],
    bin: f64,
    /// Largest radius of a binned target.
    reach: f64,
    /// Rows of maps, which have no disc.
    pub(super) maps: Vec<u32>,
    order: Vec<(u32, u32)>,
    /// Memory for sorting columns.
    sorted: Vec<f64>,
    sorted_row: Vec<u32>,
}

impl Targets {
    /// Takes the objects as they are now.
    pub(super) fn renew(&mut self, objects: &Objects) {
        self.maps.clear();
        self.order.clear();
        for column in [&mut self.x, &mut self.y, &mut self.radius] {
            column.clear();
        }
        self.row.clear();
        for row in 0..objects.len() {
            let pose_is_finite = objects.state[row][..3].iter().all(|value| value.is_finite());
            if objects.unobstructed[row] || !pose_is_finite {
                continue;
            }
            let shape = &*objects.shape[row];
            if matches!(shape.kind, ShapeKind::Map(_)) {
                self.maps.push(row as u32);
                continue;
            }
            let position = [objects.state[row][0], objects.state[row][1]];
            let [x, y] = Placed { shape, position, rotation: objects.rotation[row] }.to_world(shape.middle);
            self.row.push(row as u32);
            self.x.push(x);
            self.y.push(y);
            self.radius.push(shape.radius);
        }
        self.sort_into_bins();
    }

    fn sort_into_bins(&mut self) {
        let count = self.row.len();
        self.starts.clear();
        (self.columns, self.rows) = (0, 0);
        if count <= FEW {
            self.starts.push(0);
            return;
        }
        let least = |values: &[f64]| values.iter().copied().fold(f64::INFINITY, f64::min);
        let largest = |values: &[f64]| values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        self.low = [least(&self.x), least(&self.y)];
        let extent = [largest(&self.x) - self.low[0], largest(&self.y) - self.low[1]];
        // About four targets per bin, and never more bins than targets.
        let even = (extent[0].max(1e-3) * extent[1].max(1e-3) * 4.0 / count as f64).sqrt();
        self.bin = even.max(extent[0].max(extent[1]) * 4.0 / count as f64);
        self.columns = (extent[0] / self.bin) as usize + 1;
        self.rows = (extent[1] / self.bin) as usize + 1;
        let bins = self.columns * self.rows;
        self.starts.resize(bins + 2, 0);
        self.reach = 0.0;
        for i in 0..count {
            let small = self.radius[i] <= self.bin;
            let bin = if small {
                self.bin_of(self.x[i], 0) + self.columns * self.bin_of(self.y[i], 1)
            } else {
                bins
            };
            if small {
                self.reach = self.reach.max(self.radius[i]);
            }
            self.order.push((bin as u32, i as u32));
            self.starts[bin + 1] += 1;
        }
        for i in 0..=bins {
            self.starts[i + 1] += self.starts[i];
        }
        self.order.sort_unstable();
        for column in [&mut self.x, &mut self.y, &mut self.radius] {
            sort(column, &self.order, &mut self.sorted);
        }
        sort(&mut self.row, &self.order, &mut self.sorted_row);
    }

    fn bin_of(&self, value: f64, axis: usize) -> usize {
        let last = [self.columns, self.rows][axis] - 1;
        (((value - self.low[axis]) / self.bin) as usize).min(last)
    }

    /// Calls `visit` with the row, middle and radius of every target whose disc is within `range` of a place.
    pub(super) fn within(&self, [x, y]: [f64; 2], range: f64, mut visit: impl FnMut(u32, [f64; 2], f64)) {
        let mut look = |from: u32, to: u32| {
            let span = from as usize..to as usize;
            let columns =
                self.x[span.clone()].iter().zip(&self.y[span.clone()]).zip(&self.radius[span.clone()]);
            for (i, ((tx, ty), radius)) in columns.enumerate() {
                let (dx, dy, reach) = (tx - x, ty - y, range + radius);
                if dx * dx + dy * dy <= reach * reach {
                    visit(self.row[span.start + i], [*tx, *ty], *radius);
                }
            }
        };
        let bins = self.columns * self.rows;
        if bins == 0 {
            look(0, self.row.len() as u32);
            return;
        }
        let reach = range + self.reach;
        let (left, right) = (self.bin_of(x - reach, 0), self.bin_of(x + reach, 0));
        for row in self.bin_of(y - reach, 1)..=self.bin_of(y + reach, 1) {
            look(self.starts[row * self.columns + left], self.starts[row * self.columns + right + 1]);
        }
        look(self.starts[bins], self.starts[bins + 1]);
    }
}

/// Brings a column into an order of (bin, present place); `sorted` is memory.
fn sort<T: Copy>(column: &mut Vec<T>, order: &[(u32, u32)], sorted: &mut Vec<T>) {
    sorted.clear();
    sorted.extend(order.iter().map(|(_, from)| column[*from as usize]));
    std::mem::swap(column, sorted);
}
