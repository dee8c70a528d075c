//! What is in the way: walls and the edges of things, as the points that a HuNav engine knows (HuNav specification, section 8.4).
//!
//! Points are found by a grid, so that a large building costs each agent only what is near it.

use indexmap::IndexMap;
use promenade_hunav::Point;

use crate::entity::{StaticObstacle, Wall};
use crate::layer::LayerCx;
use crate::outbox::{Marker, MarkerAction, MarkerShape, MarkerTopic};

/// Distance of the points of a wall, metres.
const SPACING: f64 = 0.2;

/// Most points of one wall; a longer one than 4 km has them further apart.
const MOST_POINTS: f64 = 20_000.0;

/// Side of a cell of the grid, metres.
const CELL: f64 = 4.0;

const NS: &str = "hunav_walls";
const WIDTH: f64 = 0.05;
const RED: [f32; 4] = [1.0, 0.0, 0.0, 1.0];

/// A point and the row and column of its cell.
type Filed = (i64, i64, Point);

/// See the module.
#[derive(Debug, Default)]
pub(super) struct Obstacles {
    walls: IndexMap<String, Wall>,
    /// How many walls each thing has.
    things: IndexMap<String, usize>,
    /// Sorted by row, column, and place in the order of walls.
    points: Vec<Filed>,
    is_filed: bool,
    /// Room for the points near an agent: squared distance, and the point.
    near: Vec<(f64, Point)>,
}

impl Obstacles {
    pub(super) fn add_walls(&mut self, walls: &[(String, Wall)]) {
        self.walls.extend(walls.iter().cloned());
        self.is_filed = false;
    }

    pub(super) fn remove_walls(&mut self, names: &[String]) {
        for name in names {
            self.walls.shift_remove(name);
        }
        self.is_filed = false;
    }

    /// The edges of a thing's bounds in its own frame, counter-clockwise from a corner, become walls.
    pub(super) fn add_thing(&mut self, thing: &StaticObstacle, footprint: [[f64; 2]; 4]) {
        self.remove_thing(&thing.name);
        let [x, y, _] = thing.pose.position;
        let (sin, cos) = thing.pose.yaw().sin_cos();
        let corner = footprint.map(|[a, b]| [x + a * cos - b * sin, y + a * sin + b * cos]);
        for edge in 0..corner.len() {
            let wall = Wall { start: corner[edge], end: corner[(edge + 1) % corner.len()] };
            self.walls.insert(wall_of(&thing.name, edge), wall);
        }
        self.things.insert(thing.name.clone(), corner.len());
        self.is_filed = false;
    }

    pub(super) fn remove_thing(&mut self, name: &str) {
        let edges = self.things.shift_remove(name).unwrap_or_default();
        for edge in 0..edges {
            self.walls.shift_remove(&wall_of(name, edge));
        }
        self.is_filed = false;
    }

    /// Every wall by name.
    pub(super) fn walls(&self) -> Vec<(String, Wall)> {
        self.walls.iter().map(|(name, wall)| (name.clone(), *wall)).collect()
    }

    /// Puts the points within `range` of a place into `found`, the nearest `most` of them in order of distance; 0 = no limit.
    pub(super) fn around(&mut self, place: Point, range: f64, most: usize, found: &mut Vec<Point>) {
        if !self.is_filed {
            self.file();
        }
        let Obstacles { points, near, .. } = self;
        near.clear();
        let mut look_at = |slice: &[Filed]| {
            let away = |point: Point| (point[0] - place[0]).powi(2) + (point[1] - place[1]).powi(2);
            let at_hand = slice.iter().map(|&(_, _, point)| (away(point), point));
            near.extend(at_hand.filter(|(squared, _)| range <= 0.0 || *squared <= range * range));
        };
        if range <= 0.0 || range > CELL * 1000.0 {
            look_at(points);
        } else {
            let cells = |at: f64| (cell(at - range), cell(at + range));
            let ((left, right), (low, high)) = (cells(place[0]), cells(place[1]));
            for row in low..=high {
                let from = points.partition_point(|&(r, c, _)| (r, c) < (row, left));
                let to = points.partition_point(|&(r, c, _)| (r, c) <= (row, right));
                look_at(&points[from..to]);
            }
        }
        if most > 0 && near.len() > most {
            near.select_nth_unstable_by(most - 1, nearer);
            near.truncate(most);
        }
        near.sort_unstable_by(nearer);
        found.clear();
        found.extend(near.iter().map(|(_, point)| *point));
    }

    fn file(&mut self) {
        self.points.clear();
        for wall in self.walls.values() {
            let [dx, dy] = [wall.end[0] - wall.start[0], wall.end[1] - wall.start[1]];
            let length = dx.hypot(dy);
            if !length.is_finite() {
                continue;
            }
            let spacing = SPACING.max(length / MOST_POINTS);
            let count = (length / spacing).ceil() as usize;
            let along = (0..count).map(|i| i as f64 * spacing / length);
            self.points.extend(along.chain([1.0]).map(|share| {
                let point = [wall.start[0] + share * dx, wall.start[1] + share * dy];
                (cell(point[1]), cell(point[0]), point)
            }));
        }
        self.points.sort_by_key(|&(row, column, _)| (row, column));
        self.is_filed = true;
    }

    /// Shows the walls.
    pub(super) fn publish(&self, cx: &mut LayerCx) {
        let mut markers = vec![Marker::delete_all(NS)];
        for (id, wall) in (0..).zip(self.walls.values()) {
            markers.push(Marker {
                ns: NS.to_owned(),
                id,
                shape: MarkerShape::LineStrip,
                action: MarkerAction::Add,
                scale: [WIDTH, 0.0, 0.0],
                color: RED,
                points: vec![[wall.start[0], wall.start[1], 0.0], [wall.end[0], wall.end[1], 0.0]],
                ..Marker::delete_all(NS)
            });
        }
        cx.publish_markers(MarkerTopic::StaticWalls, &markers);
    }
}

fn wall_of(thing: &str, edge: usize) -> String {
    format!("{thing}_wall_{edge}")
}

/// By distance; points of one distance by their place, so that the choice never depends on the order of a sort.
fn nearer(a: &(f64, Point), b: &(f64, Point)) -> std::cmp::Ordering {
    a.0.total_cmp(&b.0).then(a.1[0].total_cmp(&b.1[0])).then(a.1[1].total_cmp(&b.1[1]))
}

/// The cell of a coordinate; one that is not finite has that of 0.
fn cell(at: f64) -> i64 {
    (at / CELL).floor() as i64
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn wall(name: &str, start: Point, end: Point) -> (String, Wall) {
        (name.to_owned(), Wall { start, end })
    }

    #[test]
    fn a_wall_is_its_points_every_20_cm_and_its_end() {
        let mut obstacles = Obstacles::default();
        obstacles.add_walls(&[wall("a", [0.0, 0.0], [0.5, 0.0])]);
        let mut found = Vec::new();
        obstacles.around([0.0, 0.0], 0.0, 0, &mut found);
        assert_eq!(found, [[0.0, 0.0], [0.2, 0.0], [0.4, 0.0], [0.5, 0.0]]);
        obstacles.around([0.5, 0.0], 4.0, 2, &mut found);
        assert_eq!(found, [[0.5, 0.0], [0.4, 0.0]]);
        obstacles.around([0.5, 0.0], 0.15, 0, &mut found);
        assert_eq!(found, [[0.5, 0.0], [0.4, 0.0]]);
        obstacles.remove_walls(&["a".to_owned()]);
        obstacles.around([0.0, 0.0], 0.0, 0, &mut found);
        assert!(found.is_empty());
    }

    #[test]
    fn a_wall_without_length_is_a_point_and_one_without_end_is_nothing() {
        let mut obstacles = Obstacles::default();
        obstacles.add_walls(&[
            wall("a", [1.0, 1.0], [1.0, 1.0]),
            wall("b", [0.0, 0.0], [f64::INFINITY, 0.0]),
            wall("c", [f64::NAN, 0.0], [0.0, 0.0]),
        ]);
        let mut found = Vec::new();
        obstacles.around([0.0, 0.0], 0.0, 0, &mut found);
        assert_eq!(found, [[1.0, 1.0]]);
        obstacles.add_walls(&[wall("a", [0.0, 0.0], [1e9, 0.0])]);
        obstacles.around([f64::NAN, f64::INFINITY], 4.0, 32, &mut found);
        obstacles.around([1e9, 0.0], 4.0, 32, &mut found);
        assert_eq!(found, [[1e9, 0.0]]);
    }

    proptest! {
        #[test]
        fn the_grid_finds_what_a_look_at_every_point_finds(
            ends in prop::collection::vec((-30.0..30.0f64, -30.0..30.0f64, -30.0..30.0f64, -30.0..30.0f64), 0..8),
            x in -30.0..30.0f64,
            y in -30.0..30.0f64,
            range in 0.1..12.0f64,
            most in 0usize..40,
        ) {
            let mut obstacles = Obstacles::default();
            let walls: Vec<_> = ends.iter().enumerate().map(|(i, &(a, b, c, d))| wall(&i.to_string(), [a, b], [c, d])).collect();
            obstacles.add_walls(&walls);
            let (mut all, mut found) = (Vec::new(), Vec::new());
            obstacles.around([x, y], 0.0, 0, &mut all);
            all.retain(|point| (point[0] - x).powi(2) + (point[1] - y).powi(2) <= range * range);
            if most > 0 {
                all.truncate(most);
            }
            obstacles.around([x, y], range, most, &mut found);
            prop_assert_eq!(found, all);
        }
    }
}
