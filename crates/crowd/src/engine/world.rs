//! Walls, obstacles and things to use (crowd-engine specification, section 16).

use super::Engine;
use super::error::{EngineError, refuse};
use super::named::HasName;
use crate::error::{coordinate, finite};
use crate::protocol::{ObstacleConfig, WorldObjectInfo};
use crate::walls::Wall;

/// Obstacles' sides go by names that no wall of a client has.
const SIDE: char = '\u{1}';
/// Most walls, sides of obstacles among them.
const MOST_WALLS: usize = 100_000;
/// Most things to use.
const MOST_OBJECTS: usize = 100_000;
/// Room left between an obstacle and somebody who is freed from it, metres.
const FREED_GAP: f64 = 0.02;

impl HasName for Wall {
    fn name(&self) -> &str {
        &self.name
    }
}

impl HasName for ObstacleConfig {
    fn name(&self) -> &str {
        &self.name
    }
}

impl HasName for WorldObjectInfo {
    fn name(&self) -> &str {
        &self.object_id
    }
}

impl Engine {
    /// Add walls; one under a known name takes its place.
    ///
    /// # Errors
    /// An end that is no place, or walls that reach too far; then no wall is added.
    pub fn add_walls(&mut self, walls: &[Wall]) -> Result<(), EngineError> {
        if let Some(wall) = walls.iter().find(|wall| wall.name.contains(SIDE)) {
            return refuse("name of a wall", "a name without control characters", format!("{:?}", wall.name));
        }
        if walls.is_empty() {
            return Ok(());
        }
        self.room_for_walls(walls.len())?;
        self.crowd.add_walls(walls.iter().cloned())?;
        self.note_walls(walls, &[]);
        walls.iter().for_each(|wall| self.walls.upsert(wall.clone()));
        self.geometry_revision += 1;
        Ok(())
    }

    /// Remove walls by name; unknown names are ignored, and no names at all removes every wall.
    ///
    /// # Errors
    /// The walls that are left reach too far, which they did before.
    pub fn remove_walls(&mut self, names: &[String]) -> Result<(), EngineError> {
        let gone: Vec<String> = self.walls.remove(names).into_iter().map(|wall| wall.name).collect();
        if gone.is_empty() {
            return Ok(());
        }
        self.geometry_revision += 1;
        self.note_walls(&[], &gone);
        Ok(self.crowd.remove_walls(&gone)?)
    }

    /// Add obstacles, four walls each; one under a known name is ignored.
    ///
    /// # Errors
    /// A number that is none, or obstacles that reach too far; then none is added.
    pub fn add_obstacles(&mut self, obstacles: &[ObstacleConfig]) -> Result<(), EngineError> {
        let mut sides = Vec::new();
        let mut new: Vec<&ObstacleConfig> = Vec::new();
        for obstacle in obstacles {
            check(obstacle)?;
            if self.obstacles.place(&obstacle.name).is_none() {
                new.push(obstacle);
            }
        }
        let mut seen = std::collections::BTreeSet::new();
        new.retain(|obstacle| seen.insert(obstacle.name.as_str()));
        new.iter().for_each(|obstacle| sides.extend(self::sides(obstacle)));
        if new.is_empty() {
            return Ok(());
        }
        self.room_for_walls(sides.len())?;
        self.crowd.add_walls(sides.iter().cloned())?;
        self.note_walls(&sides, &[]);
        new.into_iter().for_each(|obstacle| self.obstacles.upsert(obstacle.clone()));
        self.geometry_revision += 1;
        Ok(())
    }

    /// Remove obstacles by name; unknown names are ignored, and no names at all removes every obstacle.
    ///
    /// # Errors
    /// The walls that are left reach too far, which they did before.
    pub fn remove_obstacles(&mut self, names: &[String]) -> Result<(), EngineError> {
        let gone: Vec<String> =
            self.obstacles.remove(names).iter().flat_map(sides).map(|side| side.name).collect();
        if gone.is_empty() {
            return Ok(());
        }
        self.geometry_revision += 1;
        self.note_walls(&[], &gone);
        Ok(self.crowd.remove_walls(&gone)?)
    }

    /// Add things to use; one under a known id takes its place.
    ///
    /// # Errors
    /// A number that is none; then none is added.
    pub fn add_world_objects(&mut self, objects: &[WorldObjectInfo]) -> Result<(), EngineError> {
        for object in objects {
            let id = &object.object_id;
            for pose in std::iter::once(&object.pose).chain(&object.seats) {
                coordinate(format_args!("x of object {id:?}"), pose[0])?;
                coordinate(format_args!("y of object {id:?}"), pose[1])?;
                finite(format_args!("theta of object {id:?}"), pose[2])?;
            }
            if !(0.0..=1e4).contains(&object.interaction_radius) {
                let what = format!("interaction_radius of object {id:?}");
                return refuse(what, "a number from 0 to 10000", object.interaction_radius);
            }
            for (key, value) in object.satisfies.iter().chain(&object.formation_params) {
                finite(format_args!("{key} of object {id:?}"), *value)?;
            }
        }
        let found = self.objects.items().len() + objects.len();
        if found > MOST_OBJECTS {
            return Err(EngineError::TooMany { what: "things to use", found, most: MOST_OBJECTS });
        }
        objects.iter().for_each(|object| self.objects.upsert(object.clone()));
        self.geometry_revision += u64::from(!objects.is_empty());
        Ok(())
    }

    /// Remove things by id; unknown ids are ignored, and no ids at all removes everything.
    ///
    /// # Errors
    /// None today; a later one may refuse what is in use.
    pub fn remove_world_objects(&mut self, ids: &[String]) -> Result<(), EngineError> {
        self.geometry_revision += u64::from(!self.objects.remove(ids).is_empty());
        Ok(())
    }

    fn room_for_walls(&self, more: usize) -> Result<(), EngineError> {
        let found = self.crowd.walls().walls().len() + more;
        match found <= MOST_WALLS {
            true => Ok(()),
            false => Err(EngineError::TooMany { what: "walls", found, most: MOST_WALLS }),
        }
    }

    /// The walls in order of insertion, without those of obstacles.
    #[must_use]
    pub fn walls(&self) -> &[Wall] {
        self.walls.items()
    }

    /// The obstacles in order of insertion.
    #[must_use]
    pub fn obstacles(&self) -> &[ObstacleConfig] {
        self.obstacles.items()
    }

    /// The things to use, in order of insertion.
    #[must_use]
    pub fn world_objects(&self) -> &[WorldObjectInfo] {
        self.objects.items()
    }

    /// Grows with every change of walls, obstacles or things.
    #[must_use]
    pub fn geometry_revision(&self) -> u64 {
        self.geometry_revision
    }

    /// Where to put somebody who would stand in an obstacle: beside its nearest side.
    pub(super) fn freed(&self, pose: [f64; 3], radius: f64) -> [f64; 3] {
        let [mut x, mut y, theta] = pose;
        for obstacle in self.obstacles.items() {
            let (sin, cos) = obstacle.pose[2].sin_cos();
            let (dx, dy) = (x - obstacle.pose[0], y - obstacle.pose[1]);
            let local = [dx * cos + dy * sin, dy * cos - dx * sin];
            let [low, high] = [0, 1].map(|end| [obstacle.bb_x[end], obstacle.bb_y[end]]);
            if (0..2).any(|axis| local[axis] <= low[axis] || local[axis] >= high[axis]) {
                continue;
            }
            let gap = radius + FREED_GAP;
            let ways_out = [
                (local[0] - low[0], [low[0] - gap, local[1]]),
                (high[0] - local[0], [high[0] + gap, local[1]]),
                (local[1] - low[1], [local[0], low[1] - gap]),
                (high[1] - local[1], [local[0], high[1] + gap]),
            ];
            let nearest = ways_out.into_iter().min_by(|a, b| a.0.total_cmp(&b.0));
            if let Some((_, [along, across])) = nearest {
                x = obstacle.pose[0] + along * cos - across * sin;
                y = obstacle.pose[1] + along * sin + across * cos;
            }
        }
        [x, y, theta]
    }
}

fn check(obstacle: &ObstacleConfig) -> Result<(), EngineError> {
    let name = &obstacle.name;
    coordinate(format_args!("x of obstacle {name:?}"), obstacle.pose[0])?;
    coordinate(format_args!("y of obstacle {name:?}"), obstacle.pose[1])?;
    finite(format_args!("theta of obstacle {name:?}"), obstacle.pose[2])?;
    for (axis, [low, high]) in [("bb_x", obstacle.bb_x), ("bb_y", obstacle.bb_y)] {
        if !(low.abs() <= 1e6 && high.abs() <= 1e6 && low <= high) {
            let found = format!("{low} to {high}");
            return refuse(format!("{axis} of obstacle {name:?}"), "a smallest and a largest number", found);
        }
    }
    if name.contains(SIDE) {
        return refuse("name of an obstacle", "a name without control characters", format!("{name:?}"));
    }
    Ok(())
}

/// The four walls of an obstacle.
fn sides(obstacle: &ObstacleConfig) -> [Wall; 4] {
    let (sin, cos) = obstacle.pose[2].sin_cos();
    let corner =
        |x: f64, y: f64| [obstacle.pose[0] + x * cos - y * sin, obstacle.pose[1] + x * sin + y * cos];
    let ([west, east], [south, north]) = (obstacle.bb_x, obstacle.bb_y);
    let corners = [corner(west, south), corner(east, south), corner(east, north), corner(west, north)];
    std::array::from_fn(|side| Wall {
        name: format!("{SIDE}{}{SIDE}{side}", obstacle.name),
        start: corners[side],
        end: corners[(side + 1) % 4],
    })
}
