//! The Voronoi cell of every person: the ground that is nearer to them than to anybody else.

use crate::walls::Segment;

/// Ground further than this from a person is nobody's, metres. It keeps cells at the edge of a crowd finite; a person alone counts as
/// 0.14 per square metre.
pub const CUT_OFF: f64 = 1.5;
/// Corners of the disc that a cell begins as.
const CORNERS: usize = 32;

/// The ground of one person.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Cell {
    /// Its corners, counter-clockwise.
    pub corners: Vec<[f64; 2]>,
    /// Square metres.
    pub area: f64,
}

impl Cell {
    /// People per square metre; 0 for somebody without ground, such as one of two in the same place.
    #[must_use]
    pub fn density(&self) -> f64 {
        if self.area > 1e-6 { 1.0 / self.area } else { 0.0 }
    }

    /// Whether a point lies in it.
    #[must_use]
    pub fn contains(&self, [x, y]: [f64; 2]) -> bool {
        let next = self.corners.iter().cycle().skip(1);
        !self.corners.is_empty()
            && self
                .corners
                .iter()
                .zip(next)
                .all(|(a, b)| (b[0] - a[0]) * (y - a[1]) - (b[1] - a[1]) * (x - a[0]) >= 0.0)
    }
}

/// The cells of people at these places, in their order. A wall ends a cell where the person faces it; who stands beside the end of one
/// reaches around it.
#[must_use]
pub fn cells(x: &[f64], y: &[f64], walls: &[Segment]) -> Vec<Cell> {
    let mut order: Vec<usize> = (0..x.len()).collect();
    order.sort_unstable_by(|a, b| x[*a].total_cmp(&x[*b]).then(a.cmp(b)));
    let mut cells = vec![Cell::default(); x.len()];
    for (place, &row) in order.iter().enumerate() {
        let centre = [x[row], y[row]];
        let mut corners = disc(centre);
        let is_near = |other: &&usize| (x[**other] - centre[0]).abs() < 2.0 * CUT_OFF;
        let before = order[..place].iter().rev().take_while(is_near);
        let after = order[place + 1..].iter().take_while(is_near);
        for &other in before.chain(after) {
            let offset = [x[other] - centre[0], y[other] - centre[1]];
            let distance = offset[0].hypot(offset[1]);
            if distance > 0.0 && distance < 2.0 * CUT_OFF {
                let normal = [offset[0] / distance, offset[1] / distance];
                let middle = [centre[0] + 0.5 * offset[0], centre[1] + 0.5 * offset[1]];
                cut(&mut corners, middle, normal);
            }
        }
        for wall in walls {
            if let Some((foot, normal)) = faced(wall, centre) {
                cut(&mut corners, foot, normal);
            }
        }
        let area = area(&corners);
        cells[row] = Cell { corners, area };
    }
    cells
}

fn disc([x, y]: [f64; 2]) -> Vec<[f64; 2]> {
    let corner = |i: usize| {
        let (sin, cos) = (std::f64::consts::TAU * i as f64 / CORNERS as f64).sin_cos();
        [x + CUT_OFF * cos, y + CUT_OFF * sin]
    };
    (0..CORNERS).map(corner).collect()
}

/// Where a wall in reach is straight ahead of a person, and the direction to it.
fn faced(wall: &Segment, from: [f64; 2]) -> Option<([f64; 2], [f64; 2])> {
    let [dx, dy] = wall.along;
    let along = ((from[0] - wall.start[0]) * dx + (from[1] - wall.start[1]) * dy) / wall.length2;
    if !(wall.length2 > 0.0 && (0.0..=1.0).contains(&along)) {
        return None;
    }
    let foot = [wall.start[0] + along * dx, wall.start[1] + along * dy];
    let offset = [foot[0] - from[0], foot[1] - from[1]];
    let distance = offset[0].hypot(offset[1]);
    (distance > 1e-9 && distance < CUT_OFF).then(|| (foot, [offset[0] / distance, offset[1] / distance]))
}

/// Keep what lies behind the line through `at`, seen along `normal`.
fn cut(corners: &mut Vec<[f64; 2]>, at: [f64; 2], normal: [f64; 2]) {
    let beyond = |p: [f64; 2]| (p[0] - at[0]) * normal[0] + (p[1] - at[1]) * normal[1];
    let mut kept = Vec::with_capacity(corners.len() + 1);
    for (i, &corner) in corners.iter().enumerate() {
        let next = corners[(i + 1) % corners.len()];
        let [here, there] = [beyond(corner), beyond(next)];
        if here <= 0.0 {
            kept.push(corner);
        }
        if (here < 0.0 && there > 0.0) || (here > 0.0 && there < 0.0) {
            let part = here / (here - there);
            kept.push([corner[0] + part * (next[0] - corner[0]), corner[1] + part * (next[1] - corner[1])]);
        }
    }
    *corners = kept;
}

fn area(corners: &[[f64; 2]]) -> f64 {
    let next = corners.iter().cycle().skip(1);
    0.5 * corners.iter().zip(next).map(|(a, b)| a[0] * b[1] - b[0] * a[1]).sum::<f64>()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn people_on_a_lattice_have_the_density_of_the_lattice() {
        let (mut x, mut y) = (Vec::new(), Vec::new());
        for i in 0..7 {
            for j in 0..7 {
                x.push(f64::from(i) * 0.8);
                y.push(f64::from(j) * 0.8);
            }
        }
        let cells = cells(&x, &y, &[]);
        let middle = &cells[3 * 7 + 3];
        assert!((middle.density() - 1.0 / 0.64).abs() < 1e-9, "{}", middle.density());
        assert!(middle.contains([2.4, 2.4]) && middle.contains([2.7, 2.1]) && !middle.contains([2.9, 2.4]));
    }

    #[test]
    fn somebody_alone_has_the_whole_disc_and_a_wall_halves_it() {
        let alone = &cells(&[0.0], &[0.0], &[])[0];
        assert!((alone.density() - 0.142).abs() < 0.001, "{}", alone.density());
        let wall = Segment::between([-5.0, 1e-6], [5.0, 1e-6]);
        let half = &cells(&[0.0], &[0.0], &[wall])[0];
        assert!((half.area - 0.5 * alone.area).abs() < 1e-3);
        let beside = Segment::between([0.5, -5.0], [0.5, -0.2]);
        assert_eq!(cells(&[0.0], &[0.0], &[beside])[0].area, alone.area, "its end is not faced");
    }

    #[test]
    fn two_in_one_place_are_survived() {
        let both = cells(&[1.0, 1.0, f64::MAX], &[2.0, 2.0, 0.0], &[]);
        assert!(both.iter().all(|cell| cell.density().is_finite()));
    }
}
