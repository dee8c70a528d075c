//! From spawn to purge: objects and people (human-layer specification, sections 5.2, 5.3 and 5.5).
//!
//! The engine side and the simulator side can fail independently; whatever failed is offered again at the next spawn. Nothing
//! here may touch possession except by the gate.

use crate::backend::BusName;
use crate::entity::{Door, DynamicObstacle, StaticObstacle, Wall};
use crate::episode::Episode;
use crate::known::{KnownTable, ObstacleLayer};
use crate::layer::world::door_wall;
use crate::layer::{HumanLayer, LayerCx, Obstacle};
use crate::robot::Robot;

impl HumanLayer {
    /// Spawns, moves or re-registers static objects.
    pub fn spawn_obstacles(&mut self, obstacles: &[StaticObstacle], layer: ObstacleLayer) {
        let cx = &mut self.cx;
        let mut to_move = Vec::new();
        let mut to_register = Vec::new();
        for obstacle in obstacles {
            let row = cx
                .obstacles
                .create_or_get(&obstacle.name, ObstacleLayer::Unused, || Obstacle::Static(obstacle.clone()));
            if !matches!(row.payload, Obstacle::Static(_)) {
                tracing::warn!(
                    "{:?} is a person already; the static object of that name is skipped",
                    obstacle.name
                );
                continue;
            }
            row.payload = Obstacle::Static(obstacle.clone());
            if row.in_sim {
                row.layer = layer;
                to_move.push(obstacle.clone());
            }
            if !row.spawned {
                to_register.push(obstacle.clone());
            }
        }
        if !to_move.is_empty() {
            cx.sim.obstacle_move(&to_move);
        }
        // Also when there is nothing to register: the backend's latched layers then say that there is nothing.
        let registered = self.backend.0.spawn_obstacles(cx, &to_register);
        let mut to_spawn = Vec::new();
        for (asked, kept) in to_register.iter().zip(registered) {
            let (Some(kept), Some(row)) = (kept, cx.obstacles.get_mut(&asked.name)) else { continue };
            row.spawned = true;
            row.layer = layer;
            if !row.in_sim {
                to_spawn.push(kept.clone());
            }
            row.payload = Obstacle::Static(kept);
        }
        if to_spawn.is_empty() {
            return;
        }
        cx.create_objects(&to_spawn);
    }

    /// Spawns, moves or re-registers people, then opens the stream gate - also for an empty list.
    pub fn spawn_pedestrians(&mut self, people: &[DynamicObstacle]) {
        let cx = &mut self.cx;
        let mut to_replace = Vec::new();
        let mut to_move = Vec::new();
        let mut to_register = Vec::new();
        for person in people {
            let (model, uri) = cx.resolve_model(&person.model);
            let person = DynamicObstacle { model, model_uri: uri, ..person.clone() };
            cx.bus.set_model(&person.name, &person.sim_path, &person.model_uri);
            let row = cx
                .obstacles
                .create_or_get(&person.name, ObstacleLayer::Unused, || Obstacle::Dynamic(person.clone()));
            let Obstacle::Dynamic(before) = &row.payload else {
                tracing::warn!(
                    "{:?} is a static object already; the person of that name is skipped",
                    person.name
                );
                continue;
            };
            if row.in_sim && before.model != person.model {
                to_replace.push(before.clone());
                row.in_sim = false;
            }
            if row.in_sim {
                row.layer = ObstacleLayer::InUse;
                to_move.push(person.clone());
            }
            row.payload = Obstacle::Dynamic(person.clone());
            if !row.spawned || !row.in_sim {
                to_register.push((person, row.spawned));
            }
        }
        if !to_replace.is_empty() {
            cx.sim.pedestrian_delete(&to_replace);
        }
        if !to_move.is_empty() {
            cx.sim.pedestrian_move(&to_move);
        }
        let unregistered: Vec<DynamicObstacle> =
            to_register.iter().filter(|(_, spawned)| !spawned).map(|(person, _)| person.clone()).collect();
        if !unregistered.is_empty() {
            let registered = self.backend.0.spawn_pedestrians(cx, &unregistered);
            for (asked, kept) in unregistered.iter().zip(registered) {
                let (Some(kept), Some(row)) = (kept, cx.obstacles.get_mut(&asked.name)) else { continue };
                row.spawned = true;
                row.layer = ObstacleLayer::InUse;
                row.payload = Obstacle::Dynamic(kept);
            }
        }
        let to_spawn: Vec<DynamicObstacle> = to_register
            .iter()
            .filter_map(|(person, _)| match cx.obstacles.get(&person.name)? {
                row if !row.spawned || row.in_sim => None,
                row => match &row.payload {
                    Obstacle::Dynamic(kept) => Some(kept.clone()),
                    Obstacle::Static(_) => None,
                },
            })
            .collect();
        if !to_spawn.is_empty() {
            cx.create_people(&to_spawn);
        }
        let plain = self.backend.0.bus_name() == BusName::Plain;
        for person in people {
            if matches!(cx.obstacles.get(&person.name).map(|row| &row.payload), Some(Obstacle::Dynamic(_))) {
                let bus_name = if plain { &person.name } else { &person.sim_path };
                cx.index.insert(&person.name, &person.sim_path, bus_name);
            }
        }
        cx.possession.open_gate(cx.now);
    }

    /// The end of an episode: the gate closes, the engine forgets its people, entries stay for re-use.
    pub fn unuse_obstacles(&mut self) {
        let cx = &mut self.cx;
        cx.possession.close_gate();
        let leftovers: Vec<StaticObstacle> = cx
            .obstacles
            .iter()
            .filter(|(_, row)| row.layer == ObstacleLayer::Unused)
            .filter_map(|(_, row)| match &row.payload {
                Obstacle::Static(obstacle) => Some(obstacle.clone()),
                Obstacle::Dynamic(_) => None,
            })
            .collect();
        self.backend.0.remove_pedestrians(cx);
        if !leftovers.is_empty() {
            self.backend.0.remove_obstacles(cx, &leftovers);
        }
        cx.index.clear();
        cx.hearing.clear();
        for (_, row) in cx.obstacles.iter_mut() {
            if row.layer == ObstacleLayer::InUse {
                row.layer = ObstacleLayer::Unused;
                row.spawned = false;
            }
        }
    }

    /// Removes every entry at or below `purge`, from the engine and from the simulator.
    pub fn remove_obstacles(&mut self, purge: ObstacleLayer) {
        let cx = &mut self.cx;
        if purge >= ObstacleLayer::World {
            cx.sim.remove_mechanisms();
            cx.sim.remove_world();
        }
        let mut walls: Vec<String> =
            cx.walls.take_where(|_, row| row.layer <= purge).into_iter().map(|(name, _)| name).collect();
        for (name, _) in cx.doors.take_where(|_, row| row.layer <= purge) {
            if cx.closed_doors.remove(&name) {
                walls.push(door_wall(&name));
            }
        }
        if !walls.is_empty() {
            self.backend.0.remove_walls(cx, &walls);
        }
        let mut objects = Vec::new();
        let mut people = Vec::new();
        for (_, row) in cx.obstacles.take_where(|_, row| row.layer <= purge) {
            match row.payload {
                Obstacle::Static(object) => objects.push(object),
                Obstacle::Dynamic(person) => {
                    // Whoever an earlier episode left over was not addressable any more: nobody of this episode goes with
                    // them, and a gate that closed after a reset would leave everybody standing.
                    if cx.index.remove(&person.name, &person.sim_path) {
                        cx.possession.close_gate();
                    }
                    cx.bus.forget_model(&person.name, &person.sim_path);
                    if row.in_sim {
                        people.push(person);
                    }
                }
            }
        }
        if !objects.is_empty() {
            self.backend.0.remove_obstacles(cx, &objects);
            cx.sim.obstacle_delete(&objects);
        }
        if !people.is_empty() {
            cx.sim.pedestrian_delete(&people);
        }
    }

    /// Whether everything that an episode asks for is there, for the backend and for the simulator.
    #[must_use]
    pub fn is_complete(&self, episode: &Episode) -> bool {
        let objects = episode.world_objects.iter().chain(&episode.objects).map(|object| &object.name);
        let names = objects.chain(episode.people.iter().map(|person| &person.name));
        let is_there =
            |name: &String| self.cx.obstacles.get(name).is_some_and(|row| row.spawned && row.in_sim);
        names.into_iter().all(is_there) && episode.robots.iter().all(|robot| self.tracks_robot(&robot.name))
    }

    /// The simulator lost what it held: it gets everything again, people where they were last seen.
    pub(super) fn create_again(&mut self) {
        let cx = &mut self.cx;
        tracing::warn!("the simulator started anew; everything is created again");
        let walls: Vec<Wall> = cx.walls.iter().map(|(_, row)| row.payload).collect();
        let doors: Vec<Door> = cx.doors.iter().map(|(_, row)| row.payload.clone()).collect();
        if !doors.is_empty() {
            cx.sim.spawn_doors(&doors);
        }
        cx.sim.spawn_walls(&walls, false);
        let robots: Vec<Robot> = cx
            .tracker
            .robots()
            .iter()
            .map(|tracked| Robot { pose: tracked.pose, ..tracked.robot.clone() })
            .collect();
        if !robots.is_empty() {
            cx.sim.robot_spawn(&robots);
        }
        let (mut objects, mut people) = (Vec::new(), Vec::new());
        for (_, row) in cx.obstacles.iter_mut() {
            // What an earlier episode left over was pooled in the simulator that is gone.
            row.in_sim = false;
            if !row.spawned {
                continue;
            }
            match &mut row.payload {
                Obstacle::Static(object) => objects.push(object.clone()),
                Obstacle::Dynamic(person) => {
                    let mut seen = cx.bus.last().iter().map(|entry| &entry.pedestrian);
                    if let Some(seen) =
                        seen.find(|ped| ped.name == person.sim_path || ped.name == person.name)
                    {
                        person.pose = seen.pose;
                    }
                    people.push(person.clone());
                }
            }
        }
        if !objects.is_empty() {
            cx.create_objects(&objects);
        }
        if !people.is_empty() {
            cx.create_people(&people);
        }
        self.backend.0.on_sim_restarted(cx);
    }
}

impl LayerCx {
    fn create_objects(&mut self, objects: &[StaticObstacle]) {
        let done = self.sim.obstacle_spawn(objects);
        mark_in_sim(&mut self.obstacles, &names(objects, |o| &o.name), &done);
    }

    fn create_people(&mut self, people: &[DynamicObstacle]) {
        let done = self.sim.pedestrian_spawn(people);
        mark_in_sim(&mut self.obstacles, &names(people, |p| &p.name), &done);
    }
}

fn names<T>(of: &[T], name: impl Fn(&T) -> &String) -> Vec<&str> {
    of.iter().map(|item| name(item).as_str()).collect()
}

/// Room in a message for the names of who failed.
const NAMED: usize = 5;

fn mark_in_sim(table: &mut KnownTable<Obstacle>, names: &[&str], done: &[bool]) {
    let mut failed = Vec::new();
    for (i, name) in names.iter().enumerate() {
        let done = done.get(i).copied().unwrap_or(false);
        if let Some(row) = table.get_mut(name) {
            row.in_sim = done;
        }
        if !done {
            failed.push(*name);
        }
    }
    if !failed.is_empty() {
        let rest = failed.len().saturating_sub(NAMED);
        let more = if rest > 0 { format!(" and {rest} more") } else { String::new() };
        tracing::warn!(
            "the simulator did not create {} of {}: {}{more}; tried again at the next spawn",
            failed.len(),
            names.len(),
            failed[..failed.len() - rest].join(", ")
        );
    }
}
