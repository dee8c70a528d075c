//! Movement along way-points (crowd-engine specification, section 11.1).
//!
//! A way-point reached between decision ticks changes the command at once, but the walking direction only at the next decision tick.

use super::Engine;
use super::error::{EngineError, refuse};
use crate::error::coordinate;
use crate::pool::{Kind, Pool};
use crate::protocol::{Waypoints, mode};
use promenade_kernel::generator::Generator;

/// Most points of one way.
const MOST_POINTS: usize = 100_000;

/// The ways of everybody, by row.
#[derive(Debug, Default)]
pub(crate) struct Ways {
    /// Whether there is a next point to come to.
    leads_on: Vec<bool>,
    /// The current point, m.
    at: Vec<[f64; 2]>,
    /// How near counts as there, m; 0 = the default.
    radius: Vec<f64>,
    ways: Vec<Way>,
}

#[derive(Debug, Default)]
struct Way {
    list: Waypoints,
    index: usize,
    backwards: bool,
}

impl Ways {
    pub(crate) fn push(&mut self) {
        self.leads_on.push(false);
        self.at.push([0.0; 2]);
        self.radius.push(0.0);
        self.ways.push(Way::default());
    }

    pub(crate) fn swap_remove(&mut self, row: usize) {
        self.leads_on.swap_remove(row);
        self.at.swap_remove(row);
        self.radius.swap_remove(row);
        self.ways.swap_remove(row);
    }

    /// Start a row on a way; where to go first.
    pub(crate) fn set(&mut self, row: usize, list: Waypoints) -> Option<[f64; 2]> {
        self.ways[row] = Way { list, ..Way::default() };
        self.aim(row)
    }

    /// The way of a row, and the index of the current point.
    pub(crate) fn of(&self, row: usize) -> (&Waypoints, usize) {
        (&self.ways[row].list, self.ways[row].index)
    }

    fn aim(&mut self, row: usize) -> Option<[f64; 2]> {
        let way = &self.ways[row];
        let point = way.list.points.get(way.index)?;
        let last = way.index + 1 == way.list.points.len();
        self.leads_on[row] = way.list.points.len() > 1 && !(way.list.mode == mode::ONCE && last);
        (self.at[row], self.radius[row]) = ([point.pose[0], point.pose[1]], point.radius);
        Some(self.at[row])
    }

    fn has_come(&self, pool: &Pool, row: usize, threshold: f64) -> bool {
        if !self.leads_on[row] {
            return false;
        }
        let to = [self.at[row][0] - pool.x[row], self.at[row][1] - pool.y[row]];
        let radius = if self.radius[row] > 0.0 { self.radius[row] } else { threshold };
        pool.latched[row] || to[0] * to[0] + to[1] * to[1] <= radius * radius
    }

    /// Go on to the next point of the list; where that is.
    fn advance(&mut self, row: usize, stream: &mut Generator) -> Option<[f64; 2]> {
        let way = &mut self.ways[row];
        let count = way.list.points.len();
        way.index = match way.list.mode {
            mode::REVERSE => {
                way.backwards = match way.index {
                    0 => false,
                    index if index + 1 == count => true,
                    _ => way.backwards,
                };
                if way.backwards { way.index - 1 } else { way.index + 1 }
            }
            mode::ONCE => (way.index + 1).min(count - 1),
            mode::RANDOM => {
                let drawn = stream.choice((count - 1) as u32) as usize;
                drawn + usize::from(drawn >= way.index)
            }
            _ => (way.index + 1) % count,
        };
        self.aim(row)
    }
}

/// Whether the engine takes this way.
pub(crate) fn check(whose: &str, list: &Waypoints) -> Result<(), EngineError> {
    if list.mode > mode::RANDOM {
        return refuse(
            format!("waypoint mode of {whose}"),
            "0 repeat, 1 reverse, 2 once or 3 random",
            list.mode,
        );
    }
    if list.points.len() > MOST_POINTS {
        return Err(EngineError::TooMany {
            what: "way-points of one agent",
            found: list.points.len(),
            most: MOST_POINTS,
        });
    }
    for (number, point) in list.points.iter().enumerate() {
        let what = |field: &str| format!("{field} of way-point {number} of {whose}");
        coordinate(what("x"), point.pose[0])?;
        coordinate(what("y"), point.pose[1])?;
        if !(0.0..=1e6).contains(&point.radius) {
            return refuse(what("radius"), "a number from 0 to 1e6", point.radius);
        }
    }
    Ok(())
}

impl Engine {
    /// Give an agent another way, which it starts at the first point. Id 0 looks it up by name; no points take its goal away.
    ///
    /// # Errors
    /// Nobody of that id or name, or a way that is none.
    pub fn set_waypoints(
        &mut self,
        agent_id: i32,
        name: &str,
        waypoints: &Waypoints,
    ) -> Result<(), EngineError> {
        let id = self.id_of(agent_id, name)?;
        check(&format!("agent {id}"), waypoints)?;
        self.start_way(id, waypoints.clone())
    }

    /// Send an agent along a checked way.
    pub(super) fn start_way(&mut self, id: i32, waypoints: Waypoints) -> Result<(), EngineError> {
        let Some(row) = self.crowd.pool().row_of(id) else { return Ok(()) };
        let target = self.people.ways.set(row, waypoints);
        if target.is_none() {
            self.people.ways.leads_on[row] = false;
        }
        self.crowd.release(row);
        Ok(self.crowd.navigate(id, target)?)
    }

    /// The way of an agent, and the index of the point it goes to.
    #[must_use]
    pub fn waypoints_of(&self, id: i32) -> Option<(&Waypoints, usize)> {
        let row = self.crowd.pool().row_of(id)?;
        Some(self.people.ways.of(row)).filter(|(list, _)| !list.points.is_empty())
    }

    /// Whether there are robots and each of them has arrived at the last point of a way that ends.
    #[must_use]
    pub fn robots_have_arrived(&self) -> bool {
        let pool = self.crowd.pool();
        let is_robot = |row: &usize| pool.kind[*row] == Kind::Robot && self.people.published[*row];
        let has_arrived = |row: usize| {
            let (list, index) = self.people.ways.of(row);
            let is_last = index + 1 == list.points.len() && list.mode == mode::ONCE;
            is_last && pool.latched[row]
        };
        let mut robots = (0..pool.len()).filter(is_robot).peekable();
        robots.peek().is_some() && robots.all(has_arrived)
    }

    /// Send everybody who has come to a way-point to the next one.
    pub(super) fn advance_waypoints(&mut self) {
        let threshold = self.parameters.number("waypoint_threshold");
        for row in 0..self.crowd.pool().len() {
            if !self.people.ways.has_come(self.crowd.pool(), row, threshold) {
                continue;
            }
            let target = self.people.ways.advance(row, &mut self.waypoint_stream);
            self.crowd.release(row);
            self.crowd.send(row, target);
        }
    }
}
