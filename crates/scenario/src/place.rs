//! From what a scenario says to where things stand: zone names become points, references are looked up.
//!
//! A point is sampled from the stream `("place", <name>)` of the episode, free of walls and of what is already placed. This module
//! places; it never moves anything that has a pose of its own, however badly that pose is chosen.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use promenade_kernel::{Key, KeyedStreams};
use rand::RngExt;

use crate::entry::{DynamicEntry, StaticEntry};
use crate::geometry::{self, Point, Segment};
use crate::pose::{Place, Pose, Waypoint};
use crate::problem::{MAX_SUGGESTIONS, Position, Problem, Report, Severity, nearest, shown};
use crate::region::{Area, RegionKind};
use crate::robot::{GotoTarget, PhaseAction, RobotEntry};
use crate::scenario::Scenario;
use crate::tree::Node;
use crate::world::{Level, World};
use crate::zone::Zone;

/// Clear distance between a sampled point and any wall or closed door, metres.
pub const WALL_CLEARANCE: f64 = 0.3;
/// Space kept around an object whose extent is not known here, metres.
const OBJECT_RADIUS: f64 = 0.5;
/// Space kept around a robot whose extent is not known here, metres.
pub(crate) const ROBOT_RADIUS: f64 = 0.3;
/// Points tried before a zone counts as full.
const TRIES: u32 = 4_000;

/// Where an entry comes from, which decides its obstacle layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// It belongs to a zone of the world.
    World,
    /// It belongs to the scenario.
    Scenario,
}

/// Which of the world's words have an effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ResolveOptions {
    /// Whether `restricted` zones keep way-point sampling out (`world.zone_semantics`).
    pub zone_semantics: bool,
}

impl Default for ResolveOptions {
    fn default() -> Self {
        Self { zone_semantics: true }
    }
}

/// A scenario whose every place is a pose.
#[derive(Debug, Clone, PartialEq)]
pub struct ResolvedScenario {
    /// Objects: the world's first, then the scenario's.
    pub statics: Vec<ResolvedStatic>,
    /// People: the world's first, then the scenario's.
    pub dynamics: Vec<ResolvedDynamic>,
    /// Robots, in file order.
    pub robots: Vec<ResolvedRobot>,
    /// Regions, in file order.
    pub regions: Vec<ResolvedRegion>,
    /// Warnings; never an error.
    pub report: Report,
}

/// An object and where it stands.
#[derive(Debug, Clone, PartialEq)]
pub struct ResolvedStatic {
    /// The entry.
    pub entry: StaticEntry,
    /// Where it stands.
    pub pose: Pose,
    /// Who it belongs to.
    pub origin: Origin,
}

/// A person, where they start and their route.
#[derive(Debug, Clone, PartialEq)]
pub struct ResolvedDynamic {
    /// The entry.
    pub entry: DynamicEntry,
    /// Where they start.
    pub pose: Pose,
    /// Their route; a way-point sampled in a zone has yaw 0.
    pub waypoints: Vec<Pose>,
    /// Who they belong to.
    pub origin: Origin,
}

/// A robot and where it starts.
#[derive(Debug, Clone, PartialEq)]
pub struct ResolvedRobot {
    /// The entry.
    pub entry: RobotEntry,
    /// Where it starts.
    pub start: Pose,
}

/// A region and its outline.
#[derive(Debug, Clone, PartialEq)]
pub struct ResolvedRegion {
    /// Its name.
    pub name: String,
    /// Its corners in metres, counter-clockwise.
    pub corners: Vec<Point>,
    /// What it does.
    pub kind: RegionKind,
}

impl Scenario {
    /// Give everything a pose, in this world and with this episode seed. Pure: the same inputs give the same poses.
    ///
    /// # Errors
    /// Every unknown zone, door or person a place names, every name that the world has taken, and every zone without room.
    pub fn resolve(&self, world: &World, seed: u64) -> Result<ResolvedScenario, Report> {
        self.resolve_with(world, &KeyedStreams::new(seed), ResolveOptions::default())
    }

    /// As [`resolve`](Self::resolve), with streams and options of the caller's.
    ///
    /// # Errors
    /// As [`resolve`](Self::resolve).
    pub fn resolve_with(
        &self,
        world: &World,
        streams: &KeyedStreams,
        options: ResolveOptions,
    ) -> Result<ResolvedScenario, Report> {
        let problems = self.reference_problems(world);
        if !problems.is_empty() {
            return Err(Report::new(problems));
        }
        let mut placer = Placer::new(world, streams, options);
        placer.reserve(world, self);
        let resolved = placer.scenario(world, self);
        let report = Report::new(placer.problems);
        if report.has_errors() { Err(report) } else { Ok(ResolvedScenario { report, ..resolved }) }
    }

    /// Names that a scenario uses and the world does not have, and names both give to an entity. Everything found is an error.
    #[must_use]
    pub fn reference_problems(&self, world: &World) -> Vec<Problem> {
        let mut references = References::new(world, self);
        references.check();
        references.problems
    }
}

/// Looks names up without placing anything.
struct References<'a> {
    world: &'a World,
    scenario: &'a Scenario,
    zones: BTreeSet<&'a str>,
    /// What a robot can be sent to: zones, doors and people.
    targets: BTreeSet<&'a str>,
    /// Entities of the world, with the zone they belong to and its file.
    residents: BTreeMap<&'a str, (&'a Zone, &'a Path)>,
    problems: Vec<Problem>,
}

impl<'a> References<'a> {
    fn new(world: &'a World, scenario: &'a Scenario) -> Self {
        let zones: BTreeSet<&str> = world.zones().map(|(_, z)| z.name.as_str()).collect();
        let doors = world.doors().map(|d| d.name.as_str());
        let people = scenario.dynamics.iter().map(|e| e.name.as_str());
        let mut targets: BTreeSet<&str> = zones.iter().copied().chain(doors).chain(people).collect();
        let mut residents = BTreeMap::new();
        for (level, zone) in world.zones() {
            for e in &zone.statics {
                residents.insert(e.name.as_str(), (zone, &*level.file));
            }
            for e in &zone.dynamics {
                residents.insert(e.name.as_str(), (zone, &*level.file));
                targets.insert(&e.name);
            }
        }
        Self { world, scenario, zones, targets, residents, problems: Vec::new() }
    }

    fn check(&mut self) {
        let (world, scenario) = (self.world, self.scenario);
        for level in &world.levels {
            for (i, zone) in level.zones.iter().enumerate() {
                for (j, e) in zone.statics.iter().enumerate() {
                    let path = format!("zones[{i}].entities.static[{j}]");
                    self.place(&level.file, &e.pose, value_at(&e.extra, &["pose", "pos"]), &path);
                }
                for (j, e) in zone.dynamics.iter().enumerate() {
                    self.dynamic(&level.file, e, &format!("zones[{i}].entities.dynamic[{j}]"));
                }
            }
        }
        for (i, e) in scenario.statics.iter().enumerate() {
            let path = format!("static[{i}]");
            self.place(&scenario.file, &e.pose, value_at(&e.extra, &["pose", "pos"]), &path);
            self.name_is_free(&e.name, value_at(&e.extra, &["name"]), &path);
            self.level(e.level_id.as_deref(), value_at(&e.extra, &["level_id"]), &path);
        }
        for (i, e) in scenario.dynamics.iter().enumerate() {
            let path = format!("dynamic[{i}]");
            self.dynamic(&scenario.file, e, &path);
            self.name_is_free(&e.name, value_at(&e.extra, &["name"]), &path);
            self.level(e.level_id.as_deref(), value_at(&e.extra, &["level_id"]), &path);
            for (j, w) in e.waypoints.iter().enumerate() {
                self.level(w.level_id.as_deref(), w.at, &format!("{path}.waypoints[{j}]"));
            }
        }
        for (i, robot) in scenario.robots.iter().enumerate() {
            let start = value_at(&robot.extra, &["start"]);
            self.place(&scenario.file, &robot.start, start, &format!("robots[{i}].start"));
            for (key, floor) in [("start_floor", &robot.start_floor), ("goal_floor", &robot.goal_floor)] {
                self.level(floor.as_deref(), value_at(&robot.extra, &[key]), &format!("robots[{i}].{key}"));
            }
            for (j, phase) in robot.phases.iter().enumerate() {
                if let PhaseAction::Goto(GotoTarget::Named(name)) = &phase.action {
                    self.goto(name, phase.at, &format!("robots[{i}].phases[{j}]"));
                }
            }
        }
        for (name, region) in &scenario.regions {
            if let Area::Zone(zone) = &region.area {
                self.zone(&scenario.file, zone, region.area_at, &format!("regions.{name}.ref"));
            }
        }
    }

    fn dynamic(&mut self, file: &Path, e: &DynamicEntry, path: &str) {
        self.place(file, &e.pose, value_at(&e.extra, &["pose", "pos"]), &format!("{path}.pose"));
        for (i, w) in e.waypoints.iter().enumerate() {
            self.place(file, &w.place, w.at, &format!("{path}.waypoints[{i}]"));
        }
    }

    fn place(&mut self, file: &Path, place: &Place, at: Position, path: &str) {
        if let Place::Zone(name) = place {
            self.zone(file, name, at, path);
        }
    }

    fn zone(&mut self, file: &Path, name: &str, at: Position, path: &str) {
        if self.zones.contains(name) {
            return;
        }
        let message = if self.world.levels.is_empty() {
            format!("{name:?} should name a zone, and there is no world to look it up in")
        } else {
            format!("no zone of the world {:?} is named {name:?}", self.world.name)
        };
        let meant = self.nearest(name, &self.zones);
        self.error(file, at, path, message, meant);
    }

    fn goto(&mut self, name: &str, at: Position, path: &str) {
        if !self.targets.contains(name) {
            let meant = self.nearest(name, &self.targets);
            let message = format!("no zone, door or person is named {name:?}");
            self.error(&self.scenario.file, at, path, message, meant);
        }
    }

    /// Without a world there are no levels to be wrong about.
    fn level(&mut self, id: Option<&str>, at: Position, path: &str) {
        let Some(id) = id else { return };
        let levels = &self.world.levels;
        if levels.is_empty() || self.world.level(id).is_some() {
            return;
        }
        let known: Vec<String> = levels.iter().map(|l| format!("`{}`", l.id)).collect();
        let message =
            format!("the world {:?} has no level {id:?}; it has {}", self.world.name, known.join(", "));
        self.error(&self.scenario.file, at, path, message, None);
    }

    fn name_is_free(&mut self, name: &str, at: Position, path: &str) {
        let Some((zone, file)) = self.residents.get(name) else {
            return;
        };
        let message =
            format!("the name {name:?} is taken by an entity of zone {:?} in {}", zone.name, shown(file));
        self.error(&self.scenario.file, at, path, message, None);
    }

    fn nearest(&self, name: &str, known: &BTreeSet<&'a str>) -> Option<&'a str> {
        (self.problems.len() < MAX_SUGGESTIONS).then(|| nearest(name, known.iter().copied())).flatten()
    }

    fn error(&mut self, file: &Path, at: Position, path: &str, message: String, meant: Option<&str>) {
        self.problems.push(Problem {
            file: file.to_owned(),
            at,
            severity: Severity::Error,
            path: path.to_owned(),
            message,
            suggestion: meant.map(str::to_owned),
        });
    }
}

/// Where the value of the first of these keys stands in an entry, or the entry itself.
pub(crate) fn value_at(entry: &Node, keys: &[&str]) -> Position {
    keys.iter().find_map(|key| entry.get(key)).map_or(entry.at, |value| value.at)
}

/// Something that takes up room.
#[derive(Clone, Copy)]
struct Disc {
    centre: Point,
    radius: f64,
    level: usize,
    /// People walk away, so way-points ignore them; objects stay.
    stays: bool,
}

/// Someone or something that needs a place.
struct Stander<'a> {
    file: &'a Path,
    at: Position,
    name: &'a str,
    radius: f64,
    stays: bool,
}

struct Placer<'a> {
    streams: &'a KeyedStreams,
    options: ResolveOptions,
    /// Blocking lines per level of the world.
    lines: Vec<Vec<Segment>>,
    discs: Vec<Disc>,
    /// Smallest radius for which a zone (by name) had no room left: a larger one need not try.
    full: BTreeMap<(String, Purpose), f64>,
    problems: Vec<Problem>,
}

/// What a sampled point is for.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Purpose {
    Stand,
    PassBy,
}

impl<'a> Placer<'a> {
    fn new(world: &World, streams: &'a KeyedStreams, options: ResolveOptions) -> Self {
        Self {
            streams,
            options,
            lines: world.levels.iter().map(Level::closed_lines).collect(),
            discs: Vec::new(),
            full: BTreeMap::new(),
            problems: Vec::new(),
        }
    }

    /// Take the room of everything that has a pose, before anything is sampled.
    fn reserve(&mut self, world: &World, scenario: &Scenario) {
        let zones = || world.levels.iter().enumerate().flat_map(|(i, l)| l.zones.iter().map(move |z| (i, z)));
        for (level, zone) in zones() {
            for e in &zone.statics {
                self.take(&e.pose, OBJECT_RADIUS, level, true);
            }
            for e in &zone.dynamics {
                self.take(&e.pose, e.radius(), level, false);
            }
        }
        for e in &scenario.statics {
            let level = level_index(world, e.level_id.as_deref());
            self.take(&e.pose, OBJECT_RADIUS, level, true);
        }
        for e in &scenario.dynamics {
            let level = level_index(world, e.level_id.as_deref());
            self.take(&e.pose, e.radius(), level, false);
        }
        for e in &scenario.robots {
            let level = level_index(world, e.start_floor.as_deref());
            self.take(&e.start, ROBOT_RADIUS, level, false);
        }
    }

    fn take(&mut self, place: &Place, radius: f64, level: usize, stays: bool) {
        if let Place::Pose(pose) = place {
            self.discs.push(Disc { centre: pose.point(), radius, level, stays });
        }
    }

    fn scenario(&mut self, world: &World, scenario: &Scenario) -> ResolvedScenario {
        let mut statics = Vec::new();
        let residents = world.zones().flat_map(|(l, z)| z.statics.iter().map(move |e| (&*l.file, e)));
        let residents = residents.map(|(file, e)| (file, e, Origin::World));
        let own = scenario.statics.iter().map(|e| (&*scenario.file, e, Origin::Scenario));
        for (file, entry, origin) in residents.chain(own) {
            let stander =
                Stander { file, at: entry.at, name: &entry.name, radius: OBJECT_RADIUS, stays: true };
            let pose = self.stand(world, &stander, &entry.pose);
            statics.extend(pose.map(|pose| ResolvedStatic { entry: entry.clone(), pose, origin }));
        }
        let mut dynamics = Vec::new();
        let residents = world.zones().flat_map(|(l, z)| z.dynamics.iter().map(move |e| (&*l.file, e)));
        let residents = residents.map(|(file, e)| (file, e, Origin::World));
        let own = scenario.dynamics.iter().map(|e| (&*scenario.file, e, Origin::Scenario));
        for (file, entry, origin) in residents.chain(own) {
            let radius = entry.radius();
            let stander = Stander { file, at: entry.at, name: &entry.name, radius, stays: false };
            let pose = self.stand(world, &stander, &entry.pose);
            let waypoints = self.route(world, file, entry);
            dynamics.extend(pose.map(|pose| ResolvedDynamic {
                entry: entry.clone(),
                pose,
                waypoints,
                origin,
            }));
        }
        let mut robots = Vec::new();
        for (i, entry) in scenario.robots.iter().enumerate() {
            let name = entry.name.clone().unwrap_or_else(|| format!("robot_{i}"));
            let file = &*scenario.file;
            let stander = Stander { file, at: entry.at, name: &name, radius: ROBOT_RADIUS, stays: false };
            let start = self.stand(world, &stander, &entry.start);
            robots.extend(start.map(|start| ResolvedRobot { entry: entry.clone(), start }));
        }
        ResolvedScenario {
            statics,
            dynamics,
            robots,
            regions: regions(world, scenario),
            report: Report::default(),
        }
    }

    /// The pose of one entry; sampled ones take their room at once, so that the next one keeps clear.
    fn stand(&mut self, world: &World, stander: &Stander<'_>, place: &Place) -> Option<Pose> {
        let zone = match place {
            Place::Pose(pose) => return Some(*pose),
            Place::Zone(zone) => zone,
        };
        let (level, zone) = find_zone(world, zone)?;
        let keys = ["place".into(), stander.name.into()];
        let Some(point) = self.sample(world, level, zone, &keys, stander.radius, Purpose::Stand) else {
            self.no_room(stander.file, stander.at, stander.name, zone);
            return None;
        };
        self.discs.push(Disc { centre: point, radius: stander.radius, level, stays: stander.stays });
        Some(Pose { x: point.x, y: point.y, z: zone.floor_z, yaw: 0.0 })
    }

    fn route(&mut self, world: &World, file: &Path, entry: &DynamicEntry) -> Vec<Pose> {
        let waypoints = entry.waypoints.iter().enumerate();
        waypoints.filter_map(|(i, w)| self.route_point(world, file, entry, i, w)).collect()
    }

    fn route_point(
        &mut self,
        world: &World,
        file: &Path,
        entry: &DynamicEntry,
        index: usize,
        waypoint: &Waypoint,
    ) -> Option<Pose> {
        let zone = match &waypoint.place {
            Place::Pose(pose) => return Some(*pose),
            Place::Zone(zone) => zone,
        };
        let (level, zone) = find_zone(world, zone)?;
        if self.options.zone_semantics && zone.restricted() {
            self.problems.push(Problem {
                file: file.to_owned(),
                at: waypoint.at,
                severity: Severity::Warning,
                path: format!("dynamic {:?}", entry.name),
                message: format!(
                    "zone {:?} is restricted, so the way-point is left out; `world.zone_semantics: false` lets it in",
                    zone.name
                ),
                suggestion: None,
            });
            return None;
        }
        let keys = ["place".into(), (&entry.name).into(), "waypoint".into(), index.into()];
        let Some(point) = self.sample(world, level, zone, &keys, entry.radius(), Purpose::PassBy) else {
            self.no_room(file, waypoint.at, &entry.name, zone);
            return None;
        };
        Some(Pose { x: point.x, y: point.y, z: zone.floor_z, yaw: 0.0 })
    }

    fn no_room(&mut self, file: &Path, at: Position, name: &str, zone: &Zone) {
        self.problems.push(Problem {
            file: file.to_owned(),
            at,
            severity: Severity::Error,
            path: String::new(),
            message: format!(
                "no free place for {name:?} in zone {:?}: {TRIES} points were closer than {WALL_CLEARANCE} m to a wall or taken",
                zone.name
            ),
            suggestion: None,
        });
    }

    /// The first free point of the stream, uniform over the zone.
    fn sample(
        &mut self,
        world: &World,
        level: usize,
        zone: &Zone,
        keys: &[Key<'_>],
        radius: f64,
        purpose: Purpose,
    ) -> Option<Point> {
        let memo = (zone.name.clone(), purpose);
        if self.full.get(&memo).is_some_and(|smallest| *smallest <= radius) {
            return None;
        }
        let (low, high) = geometry::bounds(&zone.corners)?;
        let mut rng = self.streams.fresh(keys);
        let point = (0..TRIES).find_map(|_| {
            let u: f64 = rng.random();
            let v: f64 = rng.random();
            let p = Point::new(low.x + u * (high.x - low.x), low.y + v * (high.y - low.y));
            self.is_free(world, level, zone, p, radius, purpose).then_some(p)
        });
        if point.is_none() {
            self.full.insert(memo, radius);
        }
        point
    }

    fn is_free(
        &self,
        world: &World,
        level: usize,
        zone: &Zone,
        p: Point,
        radius: f64,
        purpose: Purpose,
    ) -> bool {
        let keeps_out = purpose == Purpose::PassBy && self.options.zone_semantics;
        // Cheapest first; the discs may be many.
        zone.contains(p)
            && self.lines[level].iter().all(|line| line.distance(p) >= WALL_CLEARANCE)
            && !(keeps_out && world.levels[level].zones_at(p).any(Zone::restricted))
            && self
                .discs
                .iter()
                .filter(|d| d.level == level && (purpose == Purpose::Stand || d.stays))
                .all(|d| d.centre.distance(p) >= d.radius + radius)
    }
}

pub(crate) fn level_index(world: &World, id: Option<&str>) -> usize {
    id.and_then(|id| world.levels.iter().position(|l| l.id == id)).unwrap_or(0)
}

fn find_zone<'w>(world: &'w World, name: &str) -> Option<(usize, &'w Zone)> {
    let mut levels = world.levels.iter().enumerate();
    levels.find_map(|(i, l)| l.zones.iter().find(|z| z.name == name).map(|z| (i, z)))
}

fn regions(world: &World, scenario: &Scenario) -> Vec<ResolvedRegion> {
    let corners = |area: &Area| match area {
        Area::Polygon(corners) => Some(corners.clone()),
        Area::Zone(name) => {
            let mut corners = world.zone(name)?.1.corners.clone();
            if geometry::signed_area(&corners) < 0.0 {
                corners.reverse();
            }
            Some(corners)
        }
    };
    scenario
        .regions
        .iter()
        .filter_map(|(name, region)| {
            let corners = corners(&region.area)?;
            Some(ResolvedRegion { name: name.clone(), corners, kind: region.kind.clone() })
        })
        .collect()
}
