//! Global planning: where to walk next on the way to a target (crowd-engine specification, section 22).
//!
//! Every agent keeps the path it was given; it is planned anew only when the agent has left it or the target has moved.

mod lattice;

use serde::{Deserialize, Serialize};

use crate::error::CrowdError;
use crate::walls::{Segment, WallSet};

use lattice::Lattice;

/// How paths are found.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub enum GlobalPlanner {
    /// Straight to the target, as planners that opt out do.
    Off,
    /// Shortest paths on a lattice (`dijkstra` and `astar`, which differ in what a search costs, not in what it finds).
    Lattice {
        /// Clearance from walls, metres; rounded up to whole steps of the lattice.
        inflation: f64,
        /// Distance between nodes, metres.
        resolution: f64,
    },
}

impl Default for GlobalPlanner {
    fn default() -> Self {
        Self::Lattice { inflation: 0.38, resolution: 0.2 }
    }
}

/// Names of the global planners there are.
pub const GLOBAL_PLANNERS: [&str; 3] = ["dijkstra", "astar", "off"];

impl GlobalPlanner {
    /// A global planner by name.
    ///
    /// # Errors
    /// A name that is none of [`GLOBAL_PLANNERS`].
    pub fn named(name: &str, inflation: f64, resolution: f64) -> Result<Self, CrowdError> {
        match name {
            "dijkstra" | "astar" => Ok(Self::Lattice { inflation, resolution }),
            "off" => Ok(Self::Off),
            _ => Err(CrowdError::Unknown {
                kind: "global planner",
                name: name.to_owned(),
                known: GLOBAL_PLANNERS.to_vec(),
            }),
        }
    }
}

/// An agent this far off its path gets a new one, metres.
const OFF_PATH: f64 = 1.0;
/// A target that moved this far asks for a new path, metres.
const MOVED: f64 = 1.0;
/// Targets this near are walked to in one leg if nothing is in between, metres.
const NEAR: f64 = 3.0;

/// The path of one agent.
#[derive(Debug, Clone, Default)]
pub struct Route {
    /// The target it was planned for, to the millimetre.
    key: [f64; 2],
    /// Way-points, the agent's place at planning time first; empty without a path.
    points: Vec<[f64; 2]>,
    /// The leg the agent is on begins at this way-point.
    cursor: usize,
}

/// Where to go now, and where to in the end.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Leg {
    /// Point to walk to.
    pub sub_goal: [f64; 2],
    /// The target in free space.
    pub terminal: [f64; 2],
}

/// Paths among the walls.
#[derive(Debug, Clone, Default)]
pub struct PathFinder {
    lattice: Option<Lattice>,
    walls: Vec<Segment>,
}

impl PathFinder {
    /// Paths among these walls.
    ///
    /// # Errors
    /// Walls that reach too far for the lattice.
    pub fn new(planner: GlobalPlanner, walls: &WallSet) -> Result<Self, CrowdError> {
        let lattice = match planner {
            GlobalPlanner::Off => None,
            GlobalPlanner::Lattice { inflation, resolution } => Lattice::new(walls, inflation, resolution)?,
        };
        Ok(Self { lattice, walls: walls.segments().to_vec() })
    }

    /// The next leg of an agent at `position` to `target`; its route is kept, mended or planned anew.
    pub fn leg(&mut self, route: &mut Route, position: [f64; 2], target: [f64; 2]) -> Leg {
        let Some(lattice) = &mut self.lattice else {
            return Leg { sub_goal: target, terminal: target };
        };
        let snapped = lattice.snapped(target);
        let key = target.map(|c| (c * 1000.0).round_ties_even() / 1000.0);
        let moved = distance(route.key, target) > MOVED;
        let off = if route.points.is_empty() || moved { f64::INFINITY } else { route.distance(position) };
        let near = distance(position, target) <= NEAR;
        let on_last_leg = off.is_finite() && route.cursor + 2 >= route.points.len();
        let visible = |from: [f64; 2]| visible(&self.walls, from, snapped);
        if off <= OFF_PATH && route.key == key {
            route.advance(position);
            return Leg { sub_goal: route.sub_goal(snapped), terminal: snapped };
        }
        if (near || on_last_leg) && visible(position) {
            route.set(&[position, snapped]);
        } else if off <= OFF_PATH && !(near || on_last_leg) && visible(route.before_last()) {
            route.points.pop();
            route.points.push(snapped);
        } else {
            route.points.clear();
            route.cursor = 0;
            if let Some(points) = lattice.plan(position, target) {
                route.points = points;
            }
        }
        route.key = key;
        route.advance(position);
        Leg { sub_goal: route.sub_goal(snapped), terminal: snapped }
    }
}

impl Route {
    /// Forget the path.
    pub fn clear(&mut self) {
        self.points.clear();
        self.cursor = 0;
    }

    fn set(&mut self, points: &[[f64; 2]]) {
        self.points.clear();
        self.points.extend_from_slice(points);
        self.cursor = 0;
    }

    fn before_last(&self) -> [f64; 2] {
        self.points[self.points.len().saturating_sub(2)]
    }

    /// Distance to the whole path.
    fn distance(&self, p: [f64; 2]) -> f64 {
        let legs = self.points.windows(2).map(|leg| Segment::between(leg[0], leg[1]).offset(p).0);
        legs.fold(f64::INFINITY, f64::min)
    }

    /// Go on to the leg the agent has come to.
    fn advance(&mut self, p: [f64; 2]) {
        while let Some([a, b]) = self.points.get(self.cursor..self.cursor + 2) {
            let along = [b[0] - a[0], b[1] - a[1]];
            let gone = along[0] * (p[0] - a[0]) + along[1] * (p[1] - a[1]);
            if gone < along[0] * along[0] + along[1] * along[1] {
                return;
            }
            self.cursor += 1;
        }
    }

    /// End of the current leg, or `otherwise` without a path.
    fn sub_goal(&self, otherwise: [f64; 2]) -> [f64; 2] {
        self.points.get(self.cursor + 1).or(self.points.last()).copied().unwrap_or(otherwise)
    }
}

fn distance(a: [f64; 2], b: [f64; 2]) -> f64 {
    let d = [a[0] - b[0], a[1] - b[1]];
    (d[0] * d[0] + d[1] * d[1]).sqrt()
}

/// Whether the segment from `a` to `b`, without `b`, meets no wall; walls along it do not count.
fn visible(walls: &[Segment], a: [f64; 2], b: [f64; 2]) -> bool {
    let d = [b[0] - a[0], b[1] - a[1]];
    walls.iter().all(|wall| {
        let w = wall.along;
        let cross = d[0] * w[1] - d[1] * w[0];
        if cross == 0.0 {
            return true;
        }
        let to = [wall.start[0] - a[0], wall.start[1] - a[1]];
        let t = (to[0] * w[1] - to[1] * w[0]) / cross;
        let u = (to[0] * d[1] - to[1] * d[0]) / cross;
        !((0.0..1.0).contains(&t) && (0.0..=1.0).contains(&u))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::walls::Wall;

    fn finder(walls: &[[f64; 4]]) -> PathFinder {
        let mut set = WallSet::default();
        let wall = |(number, [a, b, c, d]): (usize, &[f64; 4])| Wall {
            name: number.to_string(),
            start: [*a, *b],
            end: [*c, *d],
        };
        set.add(walls.iter().enumerate().map(wall)).expect("finite");
        PathFinder::new(GlobalPlanner::default(), &set).expect("small")
    }

    #[test]
    fn without_walls_the_sub_goal_is_the_target() {
        let leg = finder(&[]).leg(&mut Route::default(), [0.0; 2], [9.0, 1.0]);
        assert_eq!(leg, Leg { sub_goal: [9.0, 1.0], terminal: [9.0, 1.0] });
    }

    #[test]
    fn a_near_target_in_sight_is_walked_to_in_one_leg() {
        let mut finder = finder(&[[0.0, -3.0, 0.0, 3.0]]);
        let mut route = Route::default();
        let leg = finder.leg(&mut route, [1.0, 0.0], [3.0, 0.0]);
        assert_eq!((leg.sub_goal, route.points.len()), ([3.0, 0.0], 2));
        let leg = finder.leg(&mut Route::default(), [-1.0, 0.0], [1.0, 0.0]);
        assert!(leg.sub_goal[1].abs() > 2.9, "around the wall: {leg:?}");
    }

    #[test]
    fn who_overshoots_the_target_keeps_aiming_back_at_it() {
        let mut finder = finder(&[[0.0, -3.0, 0.0, 3.0]]);
        let mut route = Route::default();
        finder.leg(&mut route, [1.0, 0.0], [3.0, 0.0]);
        let leg = finder.leg(&mut route, [3.4, 0.0], [3.0, 0.0]);
        assert_eq!((leg.sub_goal, route.cursor), ([3.0, 0.0], 1));
    }

    #[test]
    fn a_target_that_moves_a_little_bends_the_last_leg_and_one_that_jumps_asks_for_a_new_path() {
        let mut finder = finder(&[[0.0, -3.0, 0.0, 3.0], [-9.0, -9.0, 9.0, -9.0]]);
        let mut route = Route::default();
        finder.leg(&mut route, [-2.0, 0.0], [4.0, 0.0]);
        let before = route.points.clone();
        finder.leg(&mut route, [-2.0, 0.1], [4.5, 0.0]);
        assert_eq!(route.points[..before.len() - 1], before[..before.len() - 1]);
        assert_eq!(route.points.last(), Some(&[4.5, 0.0]));
        finder.leg(&mut route, [-2.0, 0.2], [6.5, 0.0]);
        assert_eq!(route.points[0], [-2.0, 0.2]);
    }

    #[test]
    fn sight_ends_before_the_end_and_ignores_walls_along_it() {
        let wall = [Segment::between([1.0, -1.0], [1.0, 1.0])];
        assert!(!visible(&wall, [0.0, 0.0], [2.0, 0.0]));
        assert!(visible(&wall, [0.0, 0.0], [1.0, 0.0]), "the end point is not part of it");
        assert!(visible(&wall, [1.0, -3.0], [1.0, 3.0]));
    }
}
