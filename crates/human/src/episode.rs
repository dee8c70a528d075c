//! From a scenario to a layer: one episode, ready to spawn.
//!
//! A scenario and a seed make the same episode each time. This module reads files and fills tables; it must never decide
//! how anybody moves.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use promenade_kernel::KeyedStreams;
use promenade_scenario::{
    AgentType, Loaded, LocateError, Located, Origin, Point, Problem, Report, ResolveOptions, ResolvedDynamic,
    ResolvedScenario, ResolvedStatic, Scenario, ScenarioRef, Segment, Severity, World, find_world,
};

use crate::entity::{Door, DynamicObstacle, Region, StaticObstacle, Wall};
use crate::known::ObstacleLayer;
use crate::layer::HumanLayer;
use crate::message::Pose;

/// What to load.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EpisodeRequest {
    /// A scenario file or folder, or `<world>/<scenario>`; empty = the world without a scenario.
    pub scenario: String,
    /// A world by name or path, for a scenario that lies in none: one inside a world folder runs in that world.
    pub world: String,
    /// Folders of worlds, searched in order.
    pub roots: Vec<PathBuf>,
    /// Seed of the episode.
    pub seed: u64,
    /// Prefix of sim paths, such as `env_0`.
    pub prefix: String,
}

/// Why there is no episode.
#[derive(Debug, thiserror::Error)]
pub enum EpisodeError {
    /// The scenario or the world was not found.
    #[error(transparent)]
    Locate(#[from] LocateError),
    /// A file has errors.
    #[error("{0}")]
    Files(Report),
}

impl From<Report> for EpisodeError {
    fn from(report: Report) -> Self {
        EpisodeError::Files(report)
    }
}

/// A robot of the scenario: where it starts.
#[derive(Clone, Debug, PartialEq)]
pub struct RobotStart {
    /// As declared, else `robot_<index>` in file order.
    pub name: String,
    /// Start pose.
    pub pose: Pose,
}

/// One episode.
#[derive(Clone, Debug)]
pub struct Episode {
    /// Name of the scenario, `<world>/<scenario>` when it lies in a world; the name of the world without a scenario.
    pub name: String,
    /// Walls of every level.
    pub walls: Vec<Wall>,
    /// Doors of every level.
    pub doors: Vec<Door>,
    /// Objects of the world.
    pub world_objects: Vec<StaticObstacle>,
    /// Objects of the scenario.
    pub objects: Vec<StaticObstacle>,
    /// People: the world's first.
    pub people: Vec<DynamicObstacle>,
    /// Sources and sinks.
    pub regions: Vec<Region>,
    /// Robots.
    pub robots: Vec<RobotStart>,
    /// Warnings and hints of the files.
    pub report: Report,
}

impl Episode {
    /// Loads and resolves an episode.
    ///
    /// # Errors
    /// A file that was not found, with every place that was tried, or every error of the files in one report.
    pub fn load(request: &EpisodeRequest) -> Result<Self, EpisodeError> {
        let world_name = Some(request.world.as_str()).filter(|name| !name.is_empty());
        let located = match request.scenario.as_str() {
            "" => None,
            name => Some(ScenarioRef::new(name).locate(world_name, &request.roots)?),
        };
        let world = match (&located, world_name) {
            (Some(located), _) if located.world.is_some() => located.load_world()?,
            (_, Some(name)) => World::load(&find_world(name, &request.roots)?)?,
            _ => Loaded { value: World::empty(), report: Report::default() },
        };
        let scenario = match &located {
            Some(located) => Scenario::load(&located.file)?,
            None => Scenario::parse("{}", Path::new("scenario.yaml"))?,
        };
        let streams = KeyedStreams::new(request.seed);
        let resolved = scenario.value.resolve_with(&world.value, &streams, ResolveOptions::default())?;
        let name = match &located {
            Some(Located { name, world: Some(_), .. }) => format!("{}/{name}", world.value.name),
            Some(Located { name, .. }) => name.clone(),
            None => world.value.name.clone(),
        };
        let mut report = world.report.merge(scenario.report).merge(resolved.report.clone());
        if let (Some(located), Some(asked)) = (&located, world_name)
            && let Some(own) = located.world.as_deref().filter(|own| !names_world(own, asked))
        {
            let message = format!("the scenario runs in its own world {}, not in {asked:?}", own.display());
            report =
                report.merge(Report::new(vec![Problem::of_file(&located.file, Severity::Warning, message)]));
        }
        Ok(Self::build(name, &world.value, resolved, report, &streams, &request.prefix))
    }

    fn build(
        name: String,
        world: &World,
        resolved: ResolvedScenario,
        report: Report,
        streams: &KeyedStreams,
        prefix: &str,
    ) -> Self {
        let object = |object: ResolvedStatic| StaticObstacle {
            sim_path: sim_path(prefix, &object.entry.name),
            name: object.entry.name,
            model: object.entry.model,
            pose: pose(&object.pose),
            scale: object.entry.scale,
        };
        let (of_world, of_scenario): (Vec<_>, Vec<_>) =
            resolved.statics.into_iter().partition(|object| object.origin == Origin::World);
        Episode {
            name,
            walls: world.walls().map(|wall| line(&wall.line)).collect(),
            doors: world
                .doors()
                .map(|door| Door { name: door.name.clone(), line: line(&door.line) })
                .collect(),
            world_objects: of_world.into_iter().map(object).collect(),
            objects: of_scenario.into_iter().map(object).collect(),
            people: resolved.dynamics.into_iter().map(|person| dynamic(person, streams, prefix)).collect(),
            regions: resolved
                .regions
                .into_iter()
                .map(|region| Region {
                    kind: region.kind,
                    polygon: region.corners.iter().copied().map(point).collect(),
                    name: region.name,
                })
                .collect(),
            robots: (0..)
                .zip(&resolved.robots)
                .map(|(i, robot): (usize, _)| RobotStart {
                    name: robot.entry.name.clone().unwrap_or_else(|| format!("robot_{i}")),
                    pose: pose(&robot.start),
                })
                .collect(),
            report,
        }
    }

    /// Spawns the world and the episode. The gate of the stream is open afterwards.
    pub fn start(&self, layer: &mut HumanLayer) {
        layer.spawn_world(&self.walls, &self.doors, &[]);
        if !self.world_objects.is_empty() {
            layer.spawn_obstacles(&self.world_objects, ObstacleLayer::World);
        }
        layer.spawn_obstacles(&self.objects, ObstacleLayer::InUse);
        layer.setup_regions(&self.regions);
        layer.spawn_pedestrians(&self.people);
    }
}

/// Whether `asked`, a name or a path, means the world folder `own`.
fn names_world(own: &Path, asked: &str) -> bool {
    let same = |a: &Path, b: &Path| matches!((a.canonicalize(), b.canonicalize()), (Ok(a), Ok(b)) if a == b);
    own.file_name().is_some_and(|name| name == asked) || same(own, Path::new(asked))
}

/// Where worlds are looked for: `worlds` and `configs/worlds` below the current folder, then `configs/worlds` of the
/// share folder of an installation.
#[must_use]
pub fn world_roots(share: Option<&Path>) -> Vec<PathBuf> {
    let here = ["worlds", "configs/worlds"].map(PathBuf::from);
    here.into_iter().chain(share.map(|share| share.join("configs/worlds"))).collect()
}

/// The name of an entity below an environment's prefix.
#[must_use]
pub fn sim_path(prefix: &str, name: &str) -> String {
    if prefix.is_empty() { name.to_owned() } else { format!("{prefix}/{name}") }
}

fn dynamic(person: ResolvedDynamic, streams: &KeyedStreams, prefix: &str) -> DynamicObstacle {
    let ResolvedDynamic { entry, pose: start, waypoints, .. } = person;
    let sim_path = sim_path(prefix, &entry.name);
    let velocity = entry.sample_desired_velocity(streams, &sim_path);
    let agent_type = match entry.agent.as_ref().map(promenade_scenario::AgentSpec::agent_type) {
        Some(AgentType::Named(name)) => name,
        Some(AgentType::File(path)) => path.display().to_string(),
        None => String::new(),
    };
    DynamicObstacle {
        name: entry.name.clone(),
        sim_path,
        model: entry.model.clone(),
        pose: pose(&start),
        velocity,
        agent_type,
        waypoints: waypoints.iter().map(|pose| [pose.x, pose.y]).collect(),
        waypoint_mode: entry.waypoint_mode,
        entry: Some(Arc::new(entry)),
    }
}

fn pose(from: &promenade_scenario::Pose) -> Pose {
    let mut pose = Pose::planar(from.x, from.y, from.yaw);
    pose.position[2] = from.z;
    pose
}

fn point(from: Point) -> [f64; 2] {
    [from.x, from.y]
}

fn line(from: &Segment) -> Wall {
    Wall { start: point(from.start), end: point(from.end) }
}
