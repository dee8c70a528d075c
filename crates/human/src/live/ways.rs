//! Ways of robots around what stands: walls and things, not doors, which open. Around people only once they have been in the way.
//!
//! Planned with the crowd's mesh ([`PathFinder`]). It says where to go next and never how.

use std::collections::BTreeMap;

use promenade_crowd::global::{GlobalPlanner, PathFinder, Route};
use promenade_crowd::walls::{LineIndex, Segment};
use promenade_crowd::{Wall, WallSet};

use super::LiveWorld;

/// Clearance beyond its radius that a robot keeps, and keeps where there is room; metres.
const CLEARANCE: f64 = 0.05;
const COMFORT: f64 = 0.25;
/// How far a robot goes beside its way to get around somebody, and what room it leaves them; metres.
const ASIDE: f64 = 1.5;
const ROOM: f64 = 0.1;
/// Directions that are tried on either side of the way, radians apart.
const TURN: f64 = std::f64::consts::PI / 12.0;
const TURNS: u32 = 6;
/// Robots whose radii differ by less share a mesh, metres.
const GRAIN: f64 = 0.05;

/// See the module.
#[derive(Debug, Default)]
pub struct Ways {
    walls: WallSet,
    lines: LineIndex,
    /// By the number of grains in the radius.
    finders: BTreeMap<u32, PathFinder>,
    /// By robot.
    routes: Vec<(Route, u32)>,
}

impl Ways {
    /// Ways among lines that stand, for robots with these radii.
    #[must_use]
    pub fn new(lines: impl IntoIterator<Item = [[f64; 2]; 2]>, radii: impl IntoIterator<Item = f64>) -> Self {
        let mut ways = Ways::default();
        let wall = |(i, [start, end]): (usize, [[f64; 2]; 2])| Wall { name: i.to_string(), start, end };
        if let Err(error) = ways.walls.add(lines.into_iter().enumerate().map(wall)) {
            tracing::warn!("robots go straight: {error}");
        }
        ways.lines = LineIndex::of_walls(&ways.walls);
        for radius in radii {
            let grains = (radius.clamp(0.0, 10.0) / GRAIN).ceil() as u32;
            ways.routes.push((Route::default(), grains));
            ways.finders.entry(grains).or_insert_with(|| finder(&ways.walls, f64::from(grains) * GRAIN));
        }
        ways
    }

    /// A new instant: as many plans as one may see can be made.
    pub fn begin(&mut self) {
        self.finders.values_mut().for_each(PathFinder::begin_tick);
    }

    /// Where the robot of an index goes next on its way from `here` to `goal`; it waits while there is no plan yet.
    pub fn next(&mut self, robot: usize, here: [f64; 2], goal: [f64; 2]) -> [f64; 2] {
        let Some((route, grains)) = self.routes.get_mut(robot) else { return goal };
        let Some(finder) = self.finders.get_mut(grains) else { return goal };
        finder.leg(route, here, goal).map_or(here, |leg| leg.sub_goal)
    }
    /// A place beside the way to `via` from which the robot of an index and a name may get around who stands in it; the nearest to its way,
    /// the right before the left.
    #[must_use]
    pub fn around(
        &self,
        robot: usize,
        name: &str,
        here: [f64; 2],
        via: [f64; 2],
        live: &LiveWorld,
    ) -> Option<[f64; 2]> {
        let radius = f64::from(self.routes.get(robot)?.1) * GRAIN;
        let ahead = f64::atan2(via[1] - here[1], via[0] - here[0]);
        let turns = (1..=TURNS).flat_map(|turn| [-f64::from(turn), f64::from(turn)]);
        let places = turns.map(|turn| {
            let (sin, cos) = (ahead + turn * TURN).sin_cos();
            [here[0] + ASIDE * cos, here[1] + ASIDE * sin]
        });
        let is_free = |place: &[f64; 2]| {
            let leg = Segment::between(here, *place);
            let leaves_room = |at: [f64; 2], wide: f64| {
                let [x, y] = leg.closest(at);
                (at[0] - x).hypot(at[1] - y) >= radius + wide + ROOM
            };
            let mut others = live.everybody().iter().filter(|seen| seen.name != name);
            others.all(|seen| leaves_room(seen.position.into(), seen.radius))
                && self.lines.clear(here, *place, radius)
        };
        places.into_iter().find(is_free)
    }
}

fn finder(walls: &WallSet, radius: f64) -> PathFinder {
    let mesh = GlobalPlanner::NavMesh { inflation: radius + CLEARANCE, comfort: radius + COMFORT };
    PathFinder::new(mesh, walls).unwrap_or_else(|error| {
        tracing::warn!("robots go straight: {error}");
        PathFinder::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_way_leads_around_a_wall_with_room_for_the_robot() {
        let wall = [[2.0, -1.0], [2.0, 5.0]];
        let box_around = [[-5.0, -5.0], [9.0, -5.0], [9.0, 9.0], [-5.0, 9.0], [-5.0, -5.0]];
        let lines = box_around.windows(2).map(|w| [w[0], w[1]]).chain([wall]);
        let mut ways = Ways::new(lines, [0.3, 0.5]);
        for (robot, radius) in [(0, 0.3), (1, 0.5)] {
            let (mut here, goal) = ([0.0, 2.0], [4.0, 2.0]);
            for _ in 0..200 {
                ways.begin();
                let [x, y] = ways.next(robot, here, goal);
                let to = [x - here[0], y - here[1]];
                let far = to[0].hypot(to[1]).max(0.1);
                here = [here[0] + to[0] / far * 0.1, here[1] + to[1] / far * 0.1];
                let from_wall = (here[0] - 2.0).hypot(here[1] - here[1].clamp(-1.0, 5.0));
                assert!(from_wall > radius, "{here:?} of robot {robot}");
            }
            assert!((here[0] - 4.0).hypot(here[1] - 2.0) < 0.2, "{here:?}");
        }
    }

    #[test]
    fn without_walls_and_for_a_robot_that_nobody_announced_the_way_is_straight() {
        let mut ways = Ways::new([], [0.3]);
        assert_eq!(ways.next(0, [0.0, 0.0], [3.0, 4.0]), [3.0, 4.0]);
        assert_eq!(ways.next(7, [0.0, 0.0], [3.0, 4.0]), [3.0, 4.0]);
    }
}
