//! Global planning: where to walk next on the way to a target (crowd-engine specification, section 22).
//!
//! Every agent keeps the path it was given; it is planned anew only when the agent has left it, the target has moved, or a gate has
//! closed across it.

mod lattice;
mod mesh;
mod route;

use serde::{Deserialize, Serialize};

use crate::error::CrowdError;
use crate::walls::{LineIndex, Toggle, WallSet};

use lattice::Lattice;
use mesh::Mesh;

pub use route::Route;

/// How paths are found.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub enum GlobalPlanner {
    /// Straight to the target, as planners that opt out do.
    Off,
    /// Shortest paths through a mesh of triangles between the walls.
    NavMesh {
        /// Clearance from walls that every path keeps, metres.
        inflation: f64,
        /// Clearance from walls where there is room, metres; less than the inflation counts as the inflation.
        comfort: f64,
    },
    /// Shortest paths on a lattice.
    Lattice {
        /// Clearance from walls, metres; rounded up to whole steps of the lattice.
        inflation: f64,
        /// Distance between nodes, metres.
        resolution: f64,
        /// How a lattice is searched.
        search: LatticeSearch,
    },
}

/// How a lattice is searched; the paths are equally long.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum LatticeSearch {
    /// From the goal to everywhere, once for all agents with that goal (`dijkstra`).
    Everywhere,
    /// From the goal to the agent, for each agent (`astar`).
    OneWay,
}

impl Default for GlobalPlanner {
    fn default() -> Self {
        Self::NavMesh { inflation: 0.38, comfort: 0.6 }
    }
}

/// Names of the global planners there are.
pub const GLOBAL_PLANNERS: [&str; 4] = ["navmesh", "astar", "dijkstra", "off"];

impl GlobalPlanner {
    /// A global planner by name; each takes of the numbers what it needs.
    ///
    /// # Errors
    /// A name that is none of [`GLOBAL_PLANNERS`].
    pub fn named(name: &str, inflation: f64, resolution: f64, comfort: f64) -> Result<Self, CrowdError> {
        let lattice = |search| Self::Lattice { inflation, resolution, search };
        match name {
            "navmesh" => Ok(Self::NavMesh { inflation, comfort }),
            "dijkstra" => Ok(lattice(LatticeSearch::Everywhere)),
            "astar" => Ok(lattice(LatticeSearch::OneWay)),
            "off" => Ok(Self::Off),
            _ => Err(CrowdError::Unknown {
                kind: "global planner",
                name: name.to_owned(),
                known: GLOBAL_PLANNERS.to_vec(),
            }),
        }
    }

    /// Whether it can cope with these walls.
    ///
    /// # Errors
    /// Walls that reach too far for a lattice, or cross each other too often for a mesh.
    pub fn check(self, walls: &WallSet) -> Result<(), CrowdError> {
        match self {
            Self::Off => Ok(()),
            Self::NavMesh { .. } if LineIndex::of_walls(walls).crossings_below(MOST_CROSSINGS) => Ok(()),
            Self::NavMesh { .. } => Err(CrowdError::TooManyCrossings { most: MOST_CROSSINGS }),
            Self::Lattice { inflation, resolution, .. } => lattice::check(walls, inflation, resolution),
        }
    }
}

/// An agent this far off its path gets a new one, metres.
const OFF_PATH: f64 = 1.0;
/// A target that moved this far asks for a new path, metres.
const MOVED: f64 = 1.0;
/// Targets this near are walked to in one leg if nothing is in between, metres.
const NEAR: f64 = 3.0;
/// An agent of the mesh whose way to its sub-goal comes nearer to a wall than this gets a new path, metres: it would walk into a corner.
const ELBOW: f64 = 0.15;
/// Unless it has not gone this far since the last one, metres.
const ANEW: f64 = 0.25;
/// So near to a corner, metres, an agent looks around it.
const AT_CORNER: f64 = 1.0;
/// Pairs of walls that cross, for a mesh.
const MOST_CROSSINGS: usize = 50_000;
/// Steps of searches in the mesh that a tick may take, and what a plan costs besides; further plans wait for the next tick.
const BUDGET: u64 = 50_000;
const PER_PLAN: u64 = 500;

/// Where to go now, and where to in the end.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Leg {
    /// Point to walk to.
    pub sub_goal: [f64; 2],
    /// The target in free space; with a mesh, the end of the path.
    pub terminal: [f64; 2],
}

/// Paths among the walls.
#[derive(Debug, Clone, Default)]
pub struct PathFinder {
    map: Map,
    lines: LineIndex,
    /// Steps of this tick.
    spent: u64,
}

#[derive(Debug, Clone, Default)]
enum Map {
    /// Nothing is in the way.
    #[default]
    Open,
    Mesh(Box<Mesh>),
    Lattice(Box<Lattice>),
}

impl PathFinder {
    /// Paths among these walls.
    ///
    /// # Errors
    /// As [`GlobalPlanner::check`].
    pub fn new(planner: GlobalPlanner, walls: &WallSet) -> Result<Self, CrowdError> {
        planner.check(walls)?;
        let map = match planner {
            GlobalPlanner::Off => None,
            GlobalPlanner::NavMesh { inflation, comfort } => {
                Mesh::new(walls, inflation, comfort).map(Box::new).map(Map::Mesh)
            }
            GlobalPlanner::Lattice { inflation, resolution, search } => {
                Lattice::new(walls, inflation, resolution, search)?.map(Box::new).map(Map::Lattice)
            }
        };
        Ok(Self { map: map.unwrap_or_default(), lines: LineIndex::of_walls(walls), spent: 0 })
    }

    /// Open or close a gate. The agents' routes are not its own: see [`Route::gate`] for those it makes wrong.
    pub(crate) fn toggle(&mut self, gate: Toggle) {
        self.lines.toggle(gate);
        match &mut self.map {
            Map::Open => {}
            Map::Mesh(mesh) => mesh.toggle(gate),
            Map::Lattice(lattice) => lattice.toggle(gate),
        }
    }

    /// A tick begins: as many plans as a tick may take can be made.
    pub fn begin_tick(&mut self) {
        self.spent = 0;
    }

    /// The next leg of an agent at `position` to `target`; its route is kept, mended or planned anew. `None` if it has to wait for a plan,
    /// because this tick has seen enough of them.
    pub fn leg(&mut self, route: &mut Route, position: [f64; 2], target: [f64; 2]) -> Option<Leg> {
        let Self { map, lines, spent } = self;
        let key = target.map(|c| (c * 1000.0).round_ties_even() / 1000.0);
        route.waits = false;
        let moved = distance(route.key, target) > MOVED;
        let off = if route.points.is_empty() || moved { f64::INFINITY } else { route.distance(position) };
        let snapped = match map {
            Map::Open => return Some(Leg { sub_goal: target, terminal: target }),
            Map::Mesh(_) if route.key == key && !route.points.is_empty() => route.end().unwrap_or(target),
            Map::Mesh(mesh) => mesh.freed(target),
            Map::Lattice(lattice) => lattice.snapped(target),
        };
        let leg = |route: &mut Route, terminal: [f64; 2]| {
            route.advance(position);
            Some(Leg { sub_goal: route.sub_goal(terminal), terminal })
        };
        let clearance = match map {
            Map::Mesh(mesh) => Some(mesh.clearance()),
            _ => None,
        };
        if off <= OFF_PATH && route.key == key {
            route.advance(position);
            let sub_goal = route.sub_goal(snapped);
            let here = distance(route.points[0], position) < ANEW;
            if clearance.is_none() || here || lines.clear(position, sub_goal, ELBOW) {
                return leg(route, snapped);
            }
        }
        let near = distance(position, target) <= NEAR;
        let on_last_leg = off.is_finite() && route.cursor + 2 >= route.points.len();
        let direct = |from: [f64; 2]| match clearance {
            Some(clearance) => lines.clear(from, snapped, clearance),
            None => !lines.blocks(from, snapped),
        };
        if (near || on_last_leg) && direct(position) {
            route.set(&[position, snapped]);
        } else if off <= OFF_PATH && route.key != key && !(near || on_last_leg) && direct(route.before_last())
        {
            route.points.pop();
            route.points.push(snapped);
            route.falls_short = false;
        } else {
            if clearance.is_some() && *spent > BUDGET {
                route.waits = true;
                return None;
            }
            *spent += PER_PLAN;
            match map {
                Map::Open => {}
                Map::Mesh(mesh) => {
                    let before = mesh.work();
                    let (points, reaches) = mesh.plan(position, snapped);
                    *spent += mesh.work() - before;
                    route.set(&points);
                    route.falls_short = !reaches;
                }
                Map::Lattice(lattice) => {
                    route.clear();
                    match lattice.plan(position, target) {
                        Some((points, reaches)) => (route.points, route.falls_short) = (points, !reaches),
                        None => route.falls_short = true,
                    }
                }
            }
        }
        route.key = key;
        let terminal = if clearance.is_some() { route.end().unwrap_or(snapped) } else { snapped };
        leg(route, terminal)
    }

    /// Where a body of this radius goes next that has just been given a leg: straight on to the point after the next one as soon as that is
    /// in the open, for a corner is there to be got around and not to be stood on. Two who come around it from either side would block each
    /// other for good. Whoever has been pushed so far that a wall is in between gets another path at the next decision.
    pub(crate) fn past_corner(&self, route: &mut Route, position: [f64; 2], radius: f64) -> Option<[f64; 2]> {
        let near = |p: [f64; 2]| distance(position, p) < AT_CORNER;
        while let Some([next, after]) = route.points.get(route.cursor + 1..route.cursor + 3) {
            if !near(*next) || !self.lines.clear(position, *after, radius) {
                break;
            }
            route.cursor += 1;
        }
        let next = route.points.get(route.cursor + 1).copied()?;
        let is_new = distance(*route.points.first()?, position) < ANEW;
        if !is_new && self.lines.blocks(position, next) {
            route.clear();
        }
        Some(next)
    }
}

fn distance(a: [f64; 2], b: [f64; 2]) -> f64 {
    let d = [a[0] - b[0], a[1] - b[1]];
    (d[0] * d[0] + d[1] * d[1]).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::walls::Wall;

    const DIJKSTRA: GlobalPlanner =
        GlobalPlanner::Lattice { inflation: 0.38, resolution: 0.2, search: LatticeSearch::Everywhere };
    const PLANNERS: [GlobalPlanner; 3] = [
        DIJKSTRA,
        GlobalPlanner::Lattice { inflation: 0.38, resolution: 0.2, search: LatticeSearch::OneWay },
        GlobalPlanner::NavMesh { inflation: 0.38, comfort: 0.6 },
    ];

    fn finder(planner: GlobalPlanner, walls: &[[f64; 4]]) -> PathFinder {
        let mut set = WallSet::default();
        let wall = |(number, [a, b, c, d]): (usize, &[f64; 4])| Wall {
            name: number.to_string(),
            start: [*a, *b],
            end: [*c, *d],
        };
        set.add(walls.iter().enumerate().map(wall)).expect("finite");
        PathFinder::new(planner, &set).expect("small")
    }

    fn leg(finder: &mut PathFinder, route: &mut Route, position: [f64; 2], target: [f64; 2]) -> Leg {
        finder.begin_tick();
        finder.leg(route, position, target).expect("the first of a tick never waits")
    }

    #[test]
    fn without_walls_the_sub_goal_is_the_target() {
        for planner in PLANNERS {
            let leg = leg(&mut finder(planner, &[]), &mut Route::default(), [0.0; 2], [9.0, 1.0]);
            assert_eq!(leg, Leg { sub_goal: [9.0, 1.0], terminal: [9.0, 1.0] });
        }
    }

    #[test]
    fn a_near_target_in_sight_is_walked_to_in_one_leg() {
        for planner in PLANNERS {
            let mut finder = finder(planner, &[[0.0, -3.0, 0.0, 3.0]]);
            let mut route = Route::default();
            let to = leg(&mut finder, &mut route, [1.0, 0.0], [3.0, 0.0]);
            assert_eq!((to.sub_goal, route.points.len()), ([3.0, 0.0], 2));
            let around = leg(&mut finder, &mut Route::default(), [-1.0, 0.0], [1.0, 0.0]);
            assert!(around.sub_goal[1].abs() > 2.9, "around the wall: {around:?}");
        }
    }

    #[test]
    fn who_overshoots_the_target_keeps_aiming_back_at_it() {
        for planner in PLANNERS {
            let mut finder = finder(planner, &[[0.0, -3.0, 0.0, 3.0]]);
            let mut route = Route::default();
            leg(&mut finder, &mut route, [1.0, 0.0], [3.0, 0.0]);
            let back = leg(&mut finder, &mut route, [3.4, 0.0], [3.0, 0.0]);
            assert_eq!((back.sub_goal, route.cursor), ([3.0, 0.0], 1));
        }
    }

    #[test]
    fn a_target_that_moves_a_little_bends_the_last_leg_and_one_that_jumps_asks_for_a_new_path() {
        for planner in PLANNERS {
            let mut finder = finder(planner, &[[0.0, -3.0, 0.0, 3.0], [-9.0, -9.0, 9.0, -9.0]]);
            let mut route = Route::default();
            leg(&mut finder, &mut route, [-2.0, 0.0], [4.0, 0.0]);
            let before = route.points.clone();
            leg(&mut finder, &mut route, [-2.0, 0.1], [4.5, 0.0]);
            assert_eq!(route.points[..before.len() - 1], before[..before.len() - 1]);
            assert_eq!(route.points.last(), Some(&[4.5, 0.0]));
            leg(&mut finder, &mut route, [-2.0, 0.2], [6.5, 0.0]);
            assert_eq!(route.points[0], [-2.0, 0.2]);
        }
    }
}
