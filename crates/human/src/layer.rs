//! The human layer: one environment's people, from spawn to bus.
//!
//! [`HumanLayer`] joins the shared part ([`LayerCx`]: tables, possession, funnels, ports) with one backend. Every entry
//! point takes the time that [`HumanLayer::set_now`] gave last; there are no timers, so a paused clock changes nothing.
//! The layer must never read wall time and never let a backend reach the simulator or the bus except through a funnel.

use std::collections::BTreeSet;

use promenade_kernel::Time;

use crate::backend::{BusName, HumanSimulator};
use crate::bus::Bus;
use crate::entity::{Door, DynamicObstacle, Region, StaticObstacle, Wall};
use crate::known::{KnownTable, ObstacleLayer};
use crate::message::{Pedestrian, Pedestrians, Pose};
use crate::model::{FALLBACK_MODEL, HumanModels};
use crate::outbox::{Marker, MarkerTopic, Outbox};
use crate::possession::{PedIndex, Possession, StreamStats, clip};
use crate::sim::Sim;

/// Frame of everything on the environment's topics.
pub const MAP_FRAME: &str = "map";

/// Radius in metres of the disc that stands for a person towards doors and plates.
pub const PED_RADIUS: f64 = 0.3;

/// An entry of the obstacle table; static and dynamic ones share it.
#[derive(Clone, Debug, PartialEq)]
pub enum Obstacle {
    /// A thing.
    Static(StaticObstacle),
    /// A person.
    Dynamic(DynamicObstacle),
}

/// Result of one item of a move request, as on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum MoveResult {
    /// Done.
    Success = 0,
    /// Nobody of that name, the gate is closed, or the pose is not finite.
    NotFound = 1,
}

/// The part of the layer that backends work with.
pub struct LayerCx {
    now: Time,
    sim: Box<dyn Sim>,
    out: Box<dyn Outbox>,
    models: Box<dyn HumanModels>,
    obstacles: KnownTable<Obstacle>,
    walls: KnownTable<Wall>,
    doors: KnownTable<Door>,
    regions: Vec<Region>,
    wall_serial: u64,
    closed_doors: BTreeSet<String>,
    index: PedIndex,
    possession: Possession,
    bus: Bus,
    relay: Vec<Pedestrian>,
    relayed: Vec<bool>,
    warned_models: BTreeSet<String>,
}

impl std::fmt::Debug for LayerCx {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LayerCx").field("now", &self.now).field("obstacles", &self.obstacles.len()).finish()
    }
}

impl LayerCx {
    /// The node-clock time of this call.
    #[must_use]
    pub fn now(&self) -> Time {
        self.now
    }

    /// The funnel to `arena_peds`. `roster` is everybody: whoever is missing is forgotten. Possessed people are
    /// substituted, joints are synthesised where `joint_state` has no names, `model_uri` is the layer's.
    pub fn publish_pedestrians<'r>(&mut self, roster: impl IntoIterator<Item = &'r Pedestrian>) {
        self.publish_pedestrians_at(Time::ZERO, roster);
    }

    /// [`LayerCx::publish_pedestrians`] with the time that the poses are for; zero means now.
    pub fn publish_pedestrians_at<'r>(
        &mut self,
        stamp: Time,
        roster: impl IntoIterator<Item = &'r Pedestrian>,
    ) {
        self.bus.compose(roster, &self.possession, &mut self.index, self.now);
        self.out.publish_pedestrians(&self.bus.outgoing(stamp, MAP_FRAME, self.now));
    }

    /// The funnel to the simulator: smooth motion, possessed people substituted, no joints added. `stamp` is the time that the
    /// poses are for. One result per entry.
    pub fn relay_pedestrian_update<'r>(
        &mut self,
        stamp: Time,
        pedestrians: impl IntoIterator<Item = &'r Pedestrian>,
    ) -> &[bool] {
        let mut count = 0;
        for ped in pedestrians {
            if self.relay.len() == count {
                self.relay.push(Pedestrian::default());
            }
            let out = &mut self.relay[count];
            let possessed = self.index.slot(&ped.name).and_then(|slot| self.possession.state(slot, self.now));
            match possessed {
                Some(state) => {
                    out.clone_from(state);
                    out.name.clone_from(&ped.name);
                    out.id = ped.id;
                    out.gait_phase = self.bus.phase(ped.id);
                }
                None => out.clone_from(ped),
            }
            count += 1;
        }
        self.send_relayed(stamp, count)
    }

    /// Publishes a latched marker layer.
    pub fn publish_markers(&mut self, topic: MarkerTopic, markers: &[Marker]) {
        self.out.publish_markers(topic, self.now, markers);
    }

    /// Deletes every tracked person from the simulator; each is created again at its next spawn.
    pub fn delete_tracked_pedestrians(&mut self) {
        let mut people = Vec::new();
        for (_, row) in self.obstacles.iter_mut() {
            if let Obstacle::Dynamic(person) = &row.payload
                && row.in_sim
            {
                people.push(person.clone());
                row.in_sim = false;
            }
        }
        if !people.is_empty() {
            self.sim.pedestrian_delete(&people);
        }
    }

    /// Every live possessed person: bus name and streamed state.
    pub fn possessed_pedestrians(&self) -> impl Iterator<Item = (&str, &Pedestrian)> {
        self.possession.live(self.now).map(|(slot, state)| (self.index.ped(slot).bus_name.as_str(), state))
    }

    /// The obstacle table.
    #[must_use]
    pub fn obstacles(&self) -> &KnownTable<Obstacle> {
        &self.obstacles
    }

    /// The wall table, closed doors not included.
    #[must_use]
    pub fn walls(&self) -> &KnownTable<Wall> {
        &self.walls
    }

    /// The door table.
    #[must_use]
    pub fn doors(&self) -> &KnownTable<Door> {
        &self.doors
    }

    /// The regions of the episode.
    #[must_use]
    pub fn regions(&self) -> &[Region] {
        &self.regions
    }

    /// What the stream did so far.
    #[must_use]
    pub fn stream_stats(&self) -> StreamStats {
        self.possession.stats
    }

    /// The people of the last published frame: name, x, y, radius in metres.
    pub fn pedestrian_discs(&self) -> impl Iterator<Item = (&str, [f64; 2], f64)> {
        self.bus.last().iter().map(|entry| {
            let [x, y, _] = entry.pedestrian.pose.position;
            (entry.pedestrian.name.as_str(), [x, y], PED_RADIUS)
        })
    }

    /// The effective model of a person and its SDF path, empty when there is none.
    fn resolve_model(&mut self, model: &str) -> (String, String) {
        if let Some(uri) = self.models.sdf(model) {
            return (model.to_owned(), uri);
        }
        if self.models.has_any() && self.warned_models.insert(model.to_owned()) {
            tracing::warn!("no human model {model:?} with an SDF; using {FALLBACK_MODEL:?} instead");
        }
        (FALLBACK_MODEL.to_owned(), self.models.sdf(FALLBACK_MODEL).unwrap_or_default())
    }

    /// Sends what the last batch accepted to the simulator, under bus names and ids.
    fn relay_accepted(&mut self, stamp: Time) {
        let mut count = 0;
        for &slot in self.possession.accepted() {
            let Some(state) = self.possession.state(slot, self.now) else { continue };
            if self.relay.len() == count {
                self.relay.push(Pedestrian::default());
            }
            let (out, ped) = (&mut self.relay[count], self.index.ped(slot));
            out.clone_from(state);
            out.name.clone_from(&ped.bus_name);
            out.id = ped.bus_id.unwrap_or(state.id);
            out.gait_phase = self.bus.phase(out.id);
            count += 1;
        }
        if count > 0 {
            self.send_relayed(stamp, count);
        }
    }

    fn send_relayed(&mut self, stamp: Time, count: usize) -> &[bool] {
        self.relayed.clear();
        self.sim.pedestrian_update(stamp, &self.relay[..count], &mut self.relayed);
        &self.relayed
    }
}

/// The human layer of one environment.
#[derive(Debug)]
pub struct HumanLayer {
    cx: LayerCx,
    backend: BackendSlot,
    /// Room for the bus names that a batch accepts; kept for its allocations.
    accepted: Vec<String>,
}

struct BackendSlot(Box<dyn HumanSimulator>);

impl std::fmt::Debug for BackendSlot {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("backend")
    }
}

impl HumanLayer {
    /// A layer with its backend and ports.
    #[must_use]
    pub fn new(
        backend: Box<dyn HumanSimulator>,
        sim: Box<dyn Sim>,
        out: Box<dyn Outbox>,
        models: Box<dyn HumanModels>,
    ) -> Self {
        HumanLayer {
            cx: LayerCx {
                now: Time::ZERO,
                sim,
                out,
                models,
                obstacles: KnownTable::default(),
                walls: KnownTable::default(),
                doors: KnownTable::default(),
                regions: Vec::new(),
                wall_serial: 0,
                closed_doors: BTreeSet::new(),
                index: PedIndex::default(),
                possession: Possession::default(),
                bus: Bus::default(),
                relay: Vec::new(),
                relayed: Vec::new(),
                warned_models: BTreeSet::new(),
            },
            backend: BackendSlot(backend),
            accepted: Vec::new(),
        }
    }

    /// Sets the node-clock time of the calls that follow.
    pub fn set_now(&mut self, now: Time) {
        self.cx.now = now;
    }

    /// Sets a node-clock time that lies before the last one, as after a restart of the simulator. An open gate takes stamps
    /// from then on.
    pub fn set_back(&mut self, now: Time) {
        self.cx.possession.on_clock_back(now);
        self.cx.now = now;
    }

    /// What can be looked at from outside.
    #[must_use]
    pub fn cx(&self) -> &LayerCx {
        &self.cx
    }

    /// Ticks per second of simulated time that the backend wants.
    #[must_use]
    pub fn rate_hz(&self) -> f64 {
        self.backend.0.rate_hz()
    }

    /// One backend step.
    pub fn tick(&mut self) {
        self.expire();
        self.backend.0.tick(&mut self.cx);
    }

    /// One batch of `human/stream`.
    pub fn on_stream(&mut self, batch: &Pedestrians) {
        if self.cx.possession.apply(batch, &self.cx.index, self.cx.now).is_none() {
            return;
        }
        self.release();
        self.expire();
        self.cx.relay_accepted(batch.stamp);
        let mut names = std::mem::take(&mut self.accepted);
        let accepted = self.cx.possession.accepted();
        if names.len() < accepted.len() {
            names.resize_with(accepted.len(), String::new);
        }
        let count = accepted.len();
        for (name, &slot) in names.iter_mut().zip(accepted) {
            name.clone_from(&self.cx.index.ped(slot).bus_name);
        }
        self.backend.0.on_stream_merged(&mut self.cx, &names[..count]);
        self.accepted = names;
    }

    /// One request of `human/move`: names and poses. One result per item, in order.
    pub fn on_move(&mut self, items: &[(String, Pose)]) -> Vec<MoveResult> {
        let mut moved = Vec::new();
        if let Some((name, _)) = items.iter().find(|(_, pose)| !pose.is_finite()) {
            tracing::warn!(
                "human/move: the pose for {:?} has a NaN or infinite number; nobody is moved to such a pose",
                clip(name)
            );
        }
        let results = items.iter().map(|(name, pose)| self.move_one(name, *pose, &mut moved)).collect();
        if !moved.is_empty() {
            self.expire();
            self.backend.0.on_pedestrians_moved(&mut self.cx, &moved);
        }
        results
    }

    /// Puts people somewhere by name (either spelling) with the orientation they were last seen with, through the funnel,
    /// so that a possessed person is not displaced. True when every entry succeeded.
    pub fn pedestrian_teleport(&mut self, places: &[(String, [f64; 2])]) -> bool {
        if places.is_empty() {
            return true;
        }
        self.expire();
        let people: Vec<Pedestrian> = places
            .iter()
            .map(|(name, [x, y])| {
                let bus_name = match self.cx.index.slot(name) {
                    Some(slot) => self.cx.index.ped(slot).bus_name.clone(),
                    None => name.clone(),
                };
                let seen = self.cx.bus.last().iter().find(|entry| entry.pedestrian.name == bus_name);
                let orientation = seen.map_or(Pose::default().orientation, |e| e.pedestrian.pose.orientation);
                Pedestrian {
                    id: seen.map_or(0, |e| e.pedestrian.id),
                    name: bus_name,
                    pose: Pose { position: [*x, *y, 0.0], orientation },
                    ..Pedestrian::default()
                }
            })
            .collect();
        self.cx.relay_pedestrian_update(self.cx.now, &people).iter().all(|&done| done)
    }

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
        let done = cx.sim.obstacle_spawn(&to_spawn);
        mark_in_sim(&mut cx.obstacles, to_spawn.iter().map(|o| o.name.as_str()), &done);
    }

    /// Spawns, moves or re-registers people, then opens the stream gate - also for an empty list.
    pub fn spawn_pedestrians(&mut self, people: &[DynamicObstacle]) {
        let cx = &mut self.cx;
        let mut to_replace = Vec::new();
        let mut to_move = Vec::new();
        let mut to_register = Vec::new();
        for person in people {
            let (model, uri) = cx.resolve_model(&person.model);
            let person = DynamicObstacle { model, ..person.clone() };
            cx.bus.set_model(&person.name, &person.sim_path, &uri);
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
            let done = cx.sim.pedestrian_spawn(&to_spawn);
            mark_in_sim(&mut cx.obstacles, to_spawn.iter().map(|p| p.name.as_str()), &done);
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
        for (door, is_open) in doors {
            let wall = door_wall(&door.name);
            if *is_open {
                if cx.closed_doors.remove(&door.name) {
                    opening.push(wall);
                }
            } else if cx.closed_doors.insert(door.name.clone()) {
                closing.push((wall, door.line));
            }
        }
        if !closing.is_empty() {
            self.backend.0.spawn_walls(cx, &closing);
        }
        if !opening.is_empty() {
            self.backend.0.remove_walls(cx, &opening);
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
                    cx.index.remove(&person.name, &person.sim_path);
                    cx.bus.forget_model(&person.name, &person.sim_path);
                    if row.in_sim {
                        people.push(person);
                    } else {
                        cx.possession.close_gate();
                    }
                }
            }
        }
        if !people.is_empty() {
            cx.possession.close_gate();
        }
        if !objects.is_empty() {
            self.backend.0.remove_obstacles(cx, &objects);
            cx.sim.obstacle_delete(&objects);
        }
        if !people.is_empty() {
            cx.sim.pedestrian_delete(&people);
        }
    }

    fn move_one(&mut self, name: &str, pose: Pose, moved: &mut Vec<(String, Pose)>) -> MoveResult {
        let cx = &mut self.cx;
        if !cx.possession.gate_is_open() {
            return MoveResult::NotFound;
        }
        let Some(slot) = cx.index.slot(name) else { return MoveResult::NotFound };
        if !pose.is_finite() {
            return MoveResult::NotFound;
        }
        let ped = cx.index.ped(slot);
        let Some(Obstacle::Dynamic(person)) = cx.obstacles.get_mut(&ped.name).map(|row| &mut row.payload)
        else {
            return MoveResult::NotFound;
        };
        person.pose = pose;
        cx.sim.pedestrian_move(std::slice::from_ref(person));
        moved.push((ped.bus_name.clone(), pose));
        MoveResult::Success
    }

    /// Releases whom nobody renewed. Called before anything that may use a funnel, so that the hooks see the backend
    /// before it composes its roster.
    fn expire(&mut self) {
        self.cx.possession.expire(self.cx.now);
        self.release();
    }

    fn release(&mut self) {
        for (slot, last) in self.cx.possession.take_released() {
            let bus_name = self.cx.index.ped(slot).bus_name.clone();
            self.backend.0.on_pedestrian_released(&mut self.cx, &bus_name, &last);
        }
    }
}

fn door_wall(door: &str) -> String {
    format!("__door_{door}")
}

fn mark_in_sim<'n>(table: &mut KnownTable<Obstacle>, names: impl Iterator<Item = &'n str>, done: &[bool]) {
    for (name, &done) in names.zip(done) {
        if let Some(row) = table.get_mut(name) {
            row.in_sim = done;
        }
        if !done {
            tracing::warn!("the simulator did not create {name:?}; it is tried again at the next spawn");
        }
    }
}
