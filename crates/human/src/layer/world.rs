//! The world around the people: walls, doors, sources and sinks (human-layer specification, section 5.4).
//!
//! A closed door is the wall `__door_<name>` of the engine. Walls are merged and removed by name, never replaced as a whole.

use crate::entity::{Door, Region, Wall};
use crate::known::ObstacleLayer;
use crate::layer::HumanLayer;

impl HumanLayer {
    /// Registers the world's walls, collision walls and doors.
    pub fn spawn_world(&mut self, walls: &[Wall], doors: &[Door], collision_walls: &[Wall]) {
        let cx = &mut self.cx;
        let mut named = Vec::new();
        for wall in walls.iter().chain(collision_walls) {
            let name = format!("wall_{}", cx.wall_serial);
            cx.wall_serial += 1;
            cx.walls.create_or_get(&name, ObstacleLayer::World, || *wall).spawned = true;
            named.push((name, *wall));
        }
        for door in doors {
            cx.doors.create_or_get(&door.name, ObstacleLayer::World, || door.clone()).spawned = true;
        }
        if !doors.is_empty() {
            cx.sim.spawn_doors(doors);
        }
        cx.sim.spawn_walls(walls, false);
        self.backend.0.spawn_walls(cx, &named);
    }

    /// Opens and closes doors: a closed one is the wall `__door_<name>` of the engine. Repeating a state does nothing.
    pub fn update_doors(&mut self, doors: &[(Door, bool)]) {
        let cx = &mut self.cx;
        let mut closing = Vec::new();
        let mut opening = Vec::new();
        let mut changed = Vec::new();
        for (door, is_open) in doors {
            let wall = door_wall(&door.name);
            if *is_open {
                if !cx.closed_doors.remove(&door.name) {
                    continue;
                }
                opening.push(wall);
            } else {
                if !cx.closed_doors.insert(door.name.clone()) {
                    continue;
                }
                closing.push((wall, door.line));
            }
            changed.push((door.clone(), *is_open));
        }
        if changed.is_empty() {
            return;
        }
        cx.sim.update_doors(&changed);
        if !closing.is_empty() {
            self.backend.0.spawn_walls(cx, &closing);
        }
        if !opening.is_empty() {
            self.backend.0.remove_walls(cx, &opening);
        }
    }

    /// Opens or closes a door of the world by name.
    pub(crate) fn set_door(&mut self, name: &str, is_open: bool) {
        if let Some(door) = self.cx.doors.get(name).map(|row| row.payload.clone()) {
            self.update_doors(&[(door, is_open)]);
        }
    }

    /// Marks the world's objects as left over; answers the current wall and door names for
    /// [`HumanLayer::remove_stale_world`].
    pub fn unuse_world(&mut self) -> (Vec<String>, Vec<String>) {
        for (_, row) in self.cx.obstacles.iter_mut() {
            if row.layer == ObstacleLayer::World {
                row.layer = ObstacleLayer::Unused;
                row.spawned = false;
            }
        }
        let names = |name: &str| name.to_owned();
        let walls = self.cx.walls.iter().map(|(name, _)| names(name)).collect();
        (walls, self.cx.doors.iter().map(|(name, _)| names(name)).collect())
    }

    /// Forgets the walls and doors of a world that was replaced.
    pub fn remove_stale_world(&mut self, walls: &[String], doors: &[String]) {
        let mut names = walls.to_vec();
        for name in walls {
            self.cx.walls.forget(name);
        }
        for name in doors {
            self.cx.doors.forget(name);
            if self.cx.closed_doors.remove(name) {
                names.push(door_wall(name));
            }
        }
        if !names.is_empty() {
            self.backend.0.remove_walls(&mut self.cx, &names);
        }
    }

    /// Removes the walls with exactly these ends.
    pub fn remove_walls(&mut self, walls: &[Wall]) {
        let gone = self.cx.walls.take_where(|_, row| walls.contains(&row.payload));
        let names: Vec<String> = gone.into_iter().map(|(name, _)| name).collect();
        self.backend.0.remove_walls(&mut self.cx, &names);
    }

    /// Removes doors by name.
    pub fn remove_doors(&mut self, doors: &[Door]) {
        let names: Vec<String> = doors.iter().map(|door| door.name.clone()).collect();
        self.remove_stale_world(&[], &names);
    }

    /// Sets the sources and sinks of the episode; one success per region.
    pub fn setup_regions(&mut self, regions: &[Region]) -> Vec<bool> {
        self.cx.regions.extend_from_slice(regions);
        self.backend.0.add_regions(&mut self.cx, regions)
    }

    /// Removes all sources and sinks.
    pub fn remove_all_regions(&mut self) {
        self.cx.regions.clear();
        self.backend.0.remove_regions(&mut self.cx);
    }
}

pub(super) fn door_wall(door: &str) -> String {
    format!("__door_{door}")
}
