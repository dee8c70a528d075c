//! Maps of density and speed over the floor, averaged over time.

use super::voronoi::cells;
use crate::trajectory::Trajectory;
use crate::walls::Segment;

/// A number per cell of a grid, row by row from the lower left. NaN where nobody ever was.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Map {
    /// Lower left corner, m.
    pub origin: [f64; 2],
    /// Edge of a cell, m.
    pub step: f64,
    /// Cells along x.
    pub columns: usize,
    /// Cells along y.
    pub rows: usize,
    /// The numbers.
    pub values: Vec<f64>,
}

/// Density (1/m2) and speed (m/s) over the floor.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Profiles {
    /// Mean over all frames of the density of the Voronoi cell over a place, 0 while there is none.
    pub density: Map,
    /// Mean speed of those whose Voronoi cell covers a place, while one does.
    pub speed: Map,
}

/// Cells of a map at most; the step grows until they suffice.
const MOST_CELLS: f64 = 250_000.0;

/// Maps of a box `[x least, y least, x most, y most]` in steps of about `step` metres, over every `stride`th frame.
#[must_use]
pub fn profiles(
    trajectory: &Trajectory,
    walls: &[Segment],
    area: [f64; 4],
    step: f64,
    stride: usize,
) -> Profiles {
    let [left, low, right, high] = area;
    let [width, height] = [(right - left).max(step), (high - low).max(step)];
    let step = step.max((width * height / MOST_CELLS).sqrt());
    let [columns, rows] = [(width / step).ceil() as usize, (height / step).ceil() as usize];
    let mut density = vec![0.0; columns * rows];
    let mut speed = vec![0.0; columns * rows];
    let mut covered = vec![0_u32; columns * rows];
    let mut frames = 0_u32;
    for frame in trajectory.frames().step_by(stride.max(1)) {
        frames += 1;
        for (row, cell) in cells(frame.x, frame.y, walls).iter().enumerate() {
            let reach = |axis: usize| {
                cell.corners
                    .iter()
                    .fold([f64::INFINITY, f64::NEG_INFINITY], |[a, b], c| [a.min(c[axis]), b.max(c[axis])])
            };
            let index =
                |at: f64, from: f64, count: usize| ((at - from) / step).clamp(0.0, count as f64) as usize;
            let ([x0, x1], [y0, y1]) = (reach(0), reach(1));
            for j in index(y0, low, rows)..(index(y1, low, rows) + 1).min(rows) {
                for i in index(x0, left, columns)..(index(x1, left, columns) + 1).min(columns) {
                    let middle = [left + (i as f64 + 0.5) * step, low + (j as f64 + 0.5) * step];
                    if cell.contains(middle) {
                        let at = j * columns + i;
                        density[at] += cell.density();
                        speed[at] += frame.vx[row].hypot(frame.vy[row]);
                        covered[at] += 1;
                    }
                }
            }
        }
    }
    let map = |values: Vec<f64>| Map { origin: [left, low], step, columns, rows, values };
    let mean = |sum: &f64, count: u32| if count > 0 { sum / f64::from(count) } else { f64::NAN };
    let of_frames = density.iter().zip(&covered);
    let density =
        of_frames.map(|(sum, count)| if *count > 0 { mean(sum, frames) } else { f64::NAN }).collect();
    let speed = speed.iter().zip(&covered).map(|(sum, count)| mean(sum, *count)).collect();
    Profiles { density: map(density), speed: map(speed) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::AgentFrame;

    #[test]
    fn maps_show_where_people_were_and_how_fast() {
        let mut trajectory = Trajectory::new(10.0);
        for present in [true, false] {
            let n = if present { 1 } else { 0 };
            trajectory.record(&AgentFrame {
                agent_id: vec![1; n],
                x: vec![2.0; n],
                y: vec![2.0; n],
                theta: vec![0.0; n],
                vx: vec![0.6; n],
                vy: vec![0.8; n],
                radius: vec![0.2; n],
                ..AgentFrame::default()
            });
        }
        let maps = profiles(&trajectory, &[], [0.0, 0.0, 6.0, 4.0], 0.5, 1);
        assert_eq!((maps.density.columns, maps.density.rows), (12, 8));
        let at = 4 * 12 + 4;
        assert!((maps.density.values[at] - 0.5 * 0.142).abs() < 0.001, "half of the time");
        assert!((maps.speed.values[at] - 1.0).abs() < 1e-12);
        assert!(maps.speed.values[11].is_nan() && maps.density.values[11].is_nan());
        let huge = profiles(&trajectory, &[], [-1e6, -1e6, 1e6, 1e6], 0.1, 1);
        assert!(huge.density.values.len() < 300_000);
    }
}
