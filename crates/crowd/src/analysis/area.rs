//! The floor that people can walk on, as a polygon for programs that want one.

use std::fmt::Write;

use crate::trajectory::Trajectory;
use crate::walls::Segment;

/// The floor of a scene.
#[derive(Debug, Clone, PartialEq)]
pub struct WalkableArea {
    /// Its outline, without the first corner again.
    pub outline: Vec<[f64; 2]>,
    /// What is cut out of it, such as pillars.
    pub holes: Vec<Vec<[f64; 2]>>,
}

impl WalkableArea {
    /// The floor within walls. Walls that close a loop around everybody are its outline, and other loops in there are holes. Without such
    /// walls it is the box around everything; walls that close nothing do not show.
    #[must_use]
    pub fn of(walls: &[Segment], trajectory: &Trajectory) -> Self {
        let mut loops = loops(walls);
        let people = || trajectory.frames().flat_map(|f| f.x.iter().copied().zip(f.y.iter().copied()));
        let around = loops
            .iter()
            .position(|l| people().all(|(x, y)| contains(l, [x, y])) && people().next().is_some());
        let outline = match around {
            Some(index) => loops.swap_remove(index),
            None => {
                let ends = walls.iter().flat_map(|wall| [wall.start, wall.end()]);
                let [x0, y0, x1, y1] = bounds(ends.chain(people().map(|(x, y)| [x, y])));
                vec![[x0, y0], [x1, y0], [x1, y1], [x0, y1]]
            }
        };
        let strictly_inside =
            |l: &Vec<[f64; 2]>| l.iter().all(|p| contains(&outline, *p) && !outline.contains(p));
        let holes = loops.into_iter().filter(strictly_inside).collect();
        Self { outline, holes }
    }

    /// Smallest x and y, largest x and y.
    #[must_use]
    pub fn bounds(&self) -> [f64; 4] {
        bounds(self.outline.iter().copied())
    }

    /// As well-known text.
    #[must_use]
    pub fn to_wkt(&self) -> String {
        let rings = std::iter::once(&self.outline).chain(&self.holes);
        let mut text = String::new();
        for (number, ring) in rings.enumerate() {
            text.push_str(if number == 0 { "POLYGON((" } else { ", (" });
            for (index, [x, y]) in ring.iter().chain(ring.first()).enumerate() {
                let comma = if index == 0 { "" } else { ", " };
                // Writing into a string cannot fail.
                let _ = write!(text, "{comma}{x} {y}");
            }
            text.push(')');
        }
        text.push(')');
        text
    }
}

fn bounds(points: impl Iterator<Item = [f64; 2]>) -> [f64; 4] {
    let none = [f64::INFINITY, f64::INFINITY, f64::NEG_INFINITY, f64::NEG_INFINITY];
    let [x0, y0, x1, y1] = points.fold(none, |[a, b, c, d], [x, y]| [a.min(x), b.min(y), c.max(x), d.max(y)]);
    if x0 <= x1 { [x0, y0, x1.max(x0 + 1e-3), y1.max(y0 + 1e-3)] } else { [0.0, 0.0, 1.0, 1.0] }
}

/// Closed chains of walls in which every corner belongs to two of them.
fn loops(walls: &[Segment]) -> Vec<Vec<[f64; 2]>> {
    // To the micrometre, since ends that are meant to meet are computed.
    let key = |p: [f64; 2]| p.map(|c| (c * 1e6).round() as i64);
    let mut at: std::collections::BTreeMap<[i64; 2], Vec<usize>> = std::collections::BTreeMap::new();
    for (number, wall) in walls.iter().enumerate() {
        at.entry(key(wall.start)).or_default().push(number);
        at.entry(key(wall.end())).or_default().push(number);
    }
    let mut used = vec![false; walls.len()];
    let mut loops = Vec::new();
    for first in 0..walls.len() {
        let (mut chain, mut wall, mut corner) = (Vec::new(), first, walls[first].start);
        while !used[wall] {
            used[wall] = true;
            chain.push(corner);
            corner =
                if key(corner) == key(walls[wall].start) { walls[wall].end() } else { walls[wall].start };
            match at.get(&key(corner)).map(Vec::as_slice) {
                Some([a, b]) if *a != *b => wall = if *a == wall { *b } else { *a },
                _ => break,
            }
        }
        if chain.len() >= 3 && key(corner) == key(chain[0]) {
            loops.push(chain);
        }
    }
    loops
}

fn contains(ring: &[[f64; 2]], [x, y]: [f64; 2]) -> bool {
    let mut inside = false;
    for (i, a) in ring.iter().enumerate() {
        let b = ring[(i + 1) % ring.len()];
        if (a[1] > y) != (b[1] > y) && x < a[0] + (y - a[1]) / (b[1] - a[1]) * (b[0] - a[0]) {
            inside = !inside;
        }
    }
    inside
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::AgentFrame;

    fn line(points: &[[f64; 2]]) -> Vec<Segment> {
        points.windows(2).map(|pair| Segment::between(pair[0], pair[1])).collect()
    }

    fn somebody_at(x: f64, y: f64) -> Trajectory {
        let mut trajectory = Trajectory::new(1.0);
        trajectory.record(&AgentFrame {
            agent_id: vec![1],
            x: vec![x],
            y: vec![y],
            theta: vec![0.0],
            vx: vec![0.0],
            vy: vec![0.0],
            radius: vec![0.2],
            ..AgentFrame::default()
        });
        trajectory
    }

    #[test]
    fn a_closed_room_with_a_pillar_is_a_polygon_with_a_hole() {
        let mut walls = line(&[[0.0, 0.0], [4.0, 0.0], [4.0, 4.0], [0.0, 4.0], [0.0, 0.0]]);
        walls.extend(line(&[[1.0, 1.0], [2.0, 1.0], [2.0, 2.0], [1.0, 1.0]]));
        walls.extend(line(&[[3.0, 3.0], [3.5, 3.0]]));
        let area = WalkableArea::of(&walls, &somebody_at(3.0, 1.0));
        assert_eq!(area.to_wkt(), "POLYGON((0 0, 4 0, 4 4, 0 4, 0 0), (1 1, 2 1, 2 2, 1 1))");
        assert_eq!(area.bounds(), [0.0, 0.0, 4.0, 4.0]);
    }

    #[test]
    fn without_a_closed_room_it_is_the_box_around_everything() {
        let walls = line(&[[0.0, 0.0], [4.0, 0.0]]);
        let area = WalkableArea::of(&walls, &somebody_at(3.0, 2.0));
        assert_eq!(area.to_wkt(), "POLYGON((0 0, 4 0, 4 2, 0 2, 0 0))");
        let nothing = WalkableArea::of(&[], &Trajectory::new(1.0));
        assert_eq!(nothing.bounds(), [0.0, 0.0, 1.0, 1.0]);
    }
}
