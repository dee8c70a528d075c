//! Density, speed and flow out of trajectories, as people who measure crowds do it.
//!
//! Density is that of Voronoi cells, cut off at [`CUT_OFF`] and at walls: B. Steffen and A. Seyfried, "Methods for measuring pedestrian
//! density, flow, speed and direction with minimal scatter", Physica A 389 (2010) 1902; the method that PedPy calls individual Voronoi
//! density. Nothing here moves anybody.

mod area;
mod profile;
mod voronoi;

pub use area::WalkableArea;
pub use profile::{Map, Profiles, profiles};
pub use voronoi::{CUT_OFF, Cell, cells};

use crate::trajectory::Trajectory;
use crate::walls::Segment;

/// The speed at a density on level ground, m/s and 1/m2: U. Weidmann, "Transporttechnik der Fussgänger", ETH Zürich 1993.
#[must_use]
pub fn weidmann(density: f64) -> f64 {
    const FREE: f64 = 1.34;
    const STEEPNESS: f64 = 1.913;
    const JAM: f64 = 5.4;
    if density <= 0.0 {
        return FREE;
    }
    (FREE * (1.0 - (-STEEPNESS * (1.0 / density - 1.0 / JAM)).exp())).max(0.0)
}

/// Density (1/m2) and speed (m/s) of everybody in every `stride`th frame.
#[must_use]
pub fn fundamental_diagram(trajectory: &Trajectory, walls: &[Segment], stride: usize) -> Vec<[f64; 2]> {
    let mut samples = Vec::new();
    for frame in trajectory.frames().step_by(stride.max(1)) {
        let cells = cells(frame.x, frame.y, walls);
        let speed = |row: usize| frame.vx[row].hypot(frame.vy[row]);
        samples.extend(cells.iter().enumerate().map(|(row, cell)| [cell.density(), speed(row)]));
    }
    samples
}

/// Means of samples by their first number, in steps of `width`: middle of the step, mean of the second number, how many there are.
/// Steps without samples are left out.
#[must_use]
pub fn binned(samples: &[[f64; 2]], width: f64) -> Vec<(f64, f64, usize)> {
    let last = samples.iter().map(|s| (s[0] / width) as usize).max().unwrap_or(0).min(10_000);
    let mut sums = vec![(0.0, 0_usize); last + 1];
    for [at, value] in samples {
        let (sum, count) = &mut sums[((at / width) as usize).min(last)];
        *sum += value;
        *count += 1;
    }
    let means = sums.iter().enumerate().filter(|(_, (_, count))| *count > 0);
    means.map(|(step, (sum, count))| ((step as f64 + 0.5) * width, sum / *count as f64, *count)).collect()
}

/// The line that fits points best: slope, value at 0 and the share of the variance it explains. `None` below two different places.
#[must_use]
pub fn fitted_line(points: &[[f64; 2]]) -> Option<Line> {
    let n = points.len() as f64;
    let [mx, my] = points.iter().fold([0.0; 2], |[x, y], p| [x + p[0] / n, y + p[1] / n]);
    let [mut xx, mut xy, mut yy] = [0.0; 3];
    for [x, y] in points {
        xx += (x - mx) * (x - mx);
        xy += (x - mx) * (y - my);
        yy += (y - my) * (y - my);
    }
    if xx <= 0.0 {
        return None;
    }
    let slope = xy / xx;
    let explained = if yy > 0.0 { xy * xy / (xx * yy) } else { 1.0 };
    Some(Line { slope, at_zero: my - slope * mx, explained })
}

/// A straight line through points.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Line {
    /// Rise per step.
    pub slope: f64,
    /// Value at 0.
    pub at_zero: f64,
    /// Share of the variance that it explains (R squared).
    pub explained: f64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weidmann_gives_the_published_values() {
        for (density, speed) in [(0.5, 1.30), (1.0, 1.06), (2.0, 0.61), (3.0, 0.33), (4.0, 0.16)] {
            assert!((weidmann(density) - speed).abs() < 0.006, "{density}: {}", weidmann(density));
        }
        assert_eq!((weidmann(0.0), weidmann(5.4), weidmann(8.0)), (1.34, 0.0, 0.0));
    }

    #[test]
    fn a_line_is_found_with_how_well_it_fits() {
        let line = fitted_line(&[[1.0, 3.0], [2.0, 5.0], [4.0, 9.0]]).expect("a line");
        assert!((line.slope - 2.0).abs() < 1e-12 && (line.at_zero - 1.0).abs() < 1e-12);
        assert!((line.explained - 1.0).abs() < 1e-12);
        assert_eq!(fitted_line(&[[1.0, 3.0], [1.0, 5.0]]), None);
        assert_eq!(fitted_line(&[]), None);
    }

    #[test]
    fn samples_fall_into_steps() {
        let steps = binned(&[[0.1, 1.0], [0.15, 3.0], [0.55, 5.0]], 0.2);
        assert_eq!(steps.len(), 2);
        assert_eq!((steps[0].1, steps[0].2), (2.0, 2));
        assert!((steps[1].0 - 0.5).abs() < 1e-12);
        assert!(binned(&[], 0.2).is_empty());
    }
}
