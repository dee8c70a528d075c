//! The human layer: one environment's people, from spawn to bus.
//!
//! [`HumanLayer`] joins the shared part ([`LayerCx`]: tables, possession, funnels, ports) with one backend. Every entry
//! point takes the time that [`HumanLayer::set_now`] gave last; there are no timers, so a paused clock changes nothing.
//! The layer must never read wall time and never let a backend reach the simulator or the bus except through a funnel.

mod lifecycle;
mod robots;
mod world;

pub use robots::EVERYBODY;

use std::collections::BTreeSet;

use indexmap::IndexSet;
use promenade_gait::ProfileLibrary;
use promenade_gait::clip::ClipLibrary;
use promenade_kernel::{KeyedStreams, Time};

use crate::backend::{HumanSimulator, LockstepChannel};
use crate::bus::Bus;
use crate::entity::{Door, DynamicObstacle, Region, StaticObstacle, Wall};
use crate::known::KnownTable;
use crate::live::{Occupant, OccupantKind};
use crate::message::{Pedestrian, Pedestrians, Pose};
use crate::model::{FALLBACK_MODEL, HumanModels, NoModels};
use crate::outbox::{Marker, MarkerTopic, Outbox};
use crate::possession::{PedIndex, Possession, StreamStats, clip};
use crate::record::{EpisodeRecord, RecordTopic};
use crate::robot::{NoTransforms, TrackedRobot, Tracker, Transforms};
use crate::sim::Sim;
use crate::stimulus::Hearing;

/// Frame of everything on the environment's topics.
pub const MAP_FRAME: &str = "map";

/// Radius in metres of the disc that stands for a person towards doors and plates.
pub const PED_RADIUS: f64 = 0.3;

/// Radius in metres of the disc that stands for a robot (human-layer specification, section 4).
pub const ROBOT_RADIUS: f64 = 0.3;

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
    tracker: Tracker,
    transforms: Box<dyn Transforms>,
    robots_visible: bool,
    hearing: Hearing,
    streams: KeyedStreams,
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

    /// Creates people of a backend's own in the simulator, who are in no table and in nobody's reach. One success per person.
    pub fn create_actors(&mut self, people: &[DynamicObstacle]) -> Vec<bool> {
        let resolved: Vec<DynamicObstacle> = people
            .iter()
            .map(|person| {
                let (model, model_uri) = self.resolve_model(&person.model);
                self.bus.set_model(&person.name, &person.sim_path, &model_uri);
                DynamicObstacle { model, model_uri, ..person.clone() }
            })
            .collect();
        self.sim.pedestrian_spawn(&resolved)
    }

    /// Deletes people made by [`LayerCx::create_actors`].
    pub fn delete_actors(&mut self, people: &[DynamicObstacle]) {
        for person in people {
            self.bus.forget_model(&person.name, &person.sim_path);
        }
        self.sim.pedestrian_delete(people);
    }

    /// Whether people may be moved by the stream: from the spawn of an episode to its end.
    #[must_use]
    pub fn is_gate_open(&self) -> bool {
        self.possession.gate_is_open()
    }

    /// The random streams of the episode.
    #[must_use]
    pub fn streams(&self) -> &KeyedStreams {
        &self.streams
    }

    /// The installed models.
    #[must_use]
    pub fn models(&self) -> &dyn HumanModels {
        &*self.models
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

    /// All robots in spawn order, looked up now.
    pub fn tracked_robots(&mut self) -> &[TrackedRobot] {
        self.tracker.refresh(&mut *self.transforms, self.now);
        self.tracker.robots()
    }

    /// All robots in spawn order, as of their last look-up.
    #[must_use]
    pub fn robots(&self) -> &[TrackedRobot] {
        self.tracker.robots()
    }

    /// The robots that people may react to: all, or none with `human.robots.visible` off.
    pub fn visible_robots(&mut self) -> &[TrackedRobot] {
        if self.robots_visible { self.tracked_robots() } else { &[] }
    }

    /// The people of the last published frame: name, x, y, radius in metres.
    pub fn pedestrian_discs(&self) -> impl Iterator<Item = (&str, [f64; 2], f64)> {
        self.bus.last().iter().map(|entry| {
            let [x, y, _] = entry.pedestrian.pose.position;
            (entry.pedestrian.name.as_str(), [x, y], PED_RADIUS)
        })
    }

    /// Everybody on the floor: the people of the last published frame, then the robots as of their last look-up.
    pub(crate) fn occupants(&self) -> impl Iterator<Item = Occupant<'_>> {
        let people = self.bus.last().iter().map(|entry| {
            let ped = &entry.pedestrian;
            let known = self.index.on_bus(&ped.name).map_or(ped.name.as_str(), |known| &known.name);
            let declared = match self.obstacles.get(known).map(|row| &row.payload) {
                Some(Obstacle::Dynamic(person)) => person.entry.as_ref(),
                _ => None,
            };
            let [x, y, _] = ped.pose.position;
            Occupant {
                name: known,
                kind: OccupantKind::Person,
                agent_type: &ped.agent_type,
                position: [x, y],
                radius: PED_RADIUS,
                level: declared.and_then(|entry| entry.level_id.as_deref()),
            }
        });
        let robots = self.tracker.robots().iter().map(|tracked| {
            let [x, y, _] = tracked.pose.position;
            Occupant {
                name: &tracked.robot.name,
                kind: OccupantKind::Robot,
                agent_type: &tracked.robot.model,
                position: [x, y],
                radius: ROBOT_RADIUS,
                level: None,
            }
        });
        people.chain(robots)
    }

    /// The effective model of a person and its SDF path, empty when there is none.
    fn resolve_model(&mut self, model: &str) -> (String, String) {
        let why = match self.models.sdf(model) {
            Ok(uri) => return (model.to_owned(), uri),
            Err(why) => why,
        };
        if self.models.has_any() && self.warned_models.insert(model.to_owned()) {
            tracing::warn!("{why}; using {FALLBACK_MODEL:?} instead");
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
    /// A layer with its backend and ports, without models and frames.
    #[must_use]
    pub fn new(backend: Box<dyn HumanSimulator>, sim: Box<dyn Sim>, out: Box<dyn Outbox>) -> Self {
        HumanLayer {
            cx: LayerCx {
                now: Time::ZERO,
                sim,
                out,
                models: Box::new(NoModels),
                obstacles: KnownTable::default(),
                walls: KnownTable::default(),
                doors: KnownTable::default(),
                regions: Vec::new(),
                wall_serial: 0,
                closed_doors: BTreeSet::new(),
                index: PedIndex::default(),
                possession: Possession::default(),
                bus: Bus::default(),
                tracker: Tracker::default(),
                transforms: Box::new(NoTransforms),
                robots_visible: true,
                hearing: Hearing::default(),
                streams: KeyedStreams::new(0),
                relay: Vec::new(),
                relayed: Vec::new(),
                warned_models: BTreeSet::new(),
            },
            backend: BackendSlot(backend),
            accepted: Vec::new(),
        }
    }

    /// The layer with frames to follow robots by.
    #[must_use]
    pub fn with_transforms(mut self, transforms: Box<dyn Transforms>) -> Self {
        self.cx.transforms = transforms;
        self
    }

    /// The layer whose people see the robots, or not (`human.robots.visible`).
    #[must_use]
    pub fn with_robots_visible(mut self, visible: bool) -> Self {
        self.cx.robots_visible = visible;
        self
    }

    /// Puts other pose profiles and clips in place of the shipped ones; agent types find them by name. For the start: everybody's
    /// gait begins anew.
    pub fn set_motions(&mut self, profiles: ProfileLibrary, clips: ClipLibrary) {
        self.cx.bus.set_motions(profiles, clips);
    }

    /// Sets the models that people are looked up in.
    pub fn set_models(&mut self, models: Box<dyn HumanModels>) {
        self.cx.models = models;
        self.cx.warned_models.clear();
    }

    /// Sets the seed of the episode that is about to be spawned.
    pub fn set_seed(&mut self, seed: u64) {
        self.cx.streams = KeyedStreams::new(seed);
    }

    /// Something came from the engine between two ticks.
    pub fn on_engine(&mut self) {
        self.expire();
        self.backend.0.on_engine(&mut self.cx);
    }

    /// Sets the node-clock time of the calls that follow.
    pub fn set_now(&mut self, now: Time) {
        self.cx.now = now;
    }

    /// Sets a node-clock time that lies before the last one, as after a restart of the simulator. An open gate takes stamps
    /// from then on.
    pub fn set_back(&mut self, now: Time) {
        self.cx.possession.on_clock_back(now);
        self.cx.transforms.on_clock_back();
        self.cx.tracker.on_clock_back(now);
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

    /// What the simulator must wait for before it lets time go on.
    #[must_use]
    pub fn lockstep_channels(&self) -> Vec<LockstepChannel> {
        self.backend.0.lockstep_channels()
    }

    /// The simulator was paused or goes on.
    pub fn set_paused(&mut self, paused: bool) {
        if paused {
            self.backend.0.pause(&mut self.cx);
        } else {
            self.backend.0.unpause(&mut self.cx);
        }
    }

    /// The simulator is told that an episode is about to be reset.
    pub(crate) fn before_reset(&mut self) {
        self.cx.sim.before_reset_episode();
    }

    /// The simulator is told that the episode was reset.
    pub(crate) fn after_reset(&mut self) {
        self.cx.sim.after_reset_episode();
    }

    /// Publishes what runs or what is queued.
    pub(crate) fn publish_record(&mut self, topic: RecordTopic, record: &EpisodeRecord) {
        self.cx.out.publish_record(topic, record);
    }

    /// One backend step.
    pub fn tick(&mut self) {
        if self.cx.sim.take_restarted() {
            self.create_again();
        }
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
            self.move_in_sim(&moved);
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
        moved.push((ped.bus_name.clone(), pose));
        MoveResult::Success
    }

    /// One call for all who were moved, each once and where they were put last.
    fn move_in_sim(&mut self, moved: &[(String, Pose)]) {
        let cx = &mut self.cx;
        let names: IndexSet<&str> =
            moved.iter().filter_map(|(bus_name, _)| Some(cx.index.on_bus(bus_name)?.name.as_str())).collect();
        let people: Vec<DynamicObstacle> = names
            .into_iter()
            .filter_map(|name| match &cx.obstacles.get(name)?.payload {
                Obstacle::Dynamic(person) => Some(person.clone()),
                Obstacle::Static(_) => None,
            })
            .collect();
        cx.sim.pedestrian_move(&people);
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
