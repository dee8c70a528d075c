//! From a scenario to a layer: one episode, ready to spawn.
//!
//! A scenario and a seed make the same episode each time. This module reads files; it must never decide how anybody
//! moves.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use promenade_kernel::KeyedStreams;
use promenade_scenario::{
    AgentType, AssetKind, AssetLibrary, BUILT_IN_ROBOTS, Loaded, LocateError, Located, Node, Origin, Point,
    Problem, Report, ResolveOptions, ResolvedDynamic, ResolvedRobot, ResolvedScenario, ResolvedStatic,
    RobotEntry, Scenario, ScenarioRef, Segment, Severity, Value, World, find_world,
};

use crate::backends::hunav::load_scenario;
use crate::entity::{Door, DynamicObstacle, Region, StaticObstacle, Wall};
use crate::live::{LiveOptions, LiveWorld};
use crate::message::Pose;
use crate::robot::Robot;

/// What to load.
#[derive(Clone, Debug, Default, PartialEq)]
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
    /// Prefix of the TF frames of robots; empty = none.
    pub tf_namespace: String,
    /// Where the authored origin lies in `map`, x, y in metres: environments share one simulator side by side.
    pub offset: [f64; 2],
    /// Which of the world's words have an effect.
    pub options: ResolveOptions,
    /// Folder of models that were fetched once; see [`asset_cache`].
    pub asset_cache: Option<PathBuf>,
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
    /// Robots, where they start.
    pub robots: Vec<Robot>,
    /// The models of the world and of the installation.
    pub models: Arc<AssetLibrary>,
    /// The world, as authored.
    pub world: World,
    /// The scenario, as authored.
    pub scenario: Scenario,
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
            Some(located) => load_scenario(&located.file, request.seed)?,
            None => Scenario::parse("{}", Path::new("scenario.yaml"))?,
        };
        let streams = KeyedStreams::new(request.seed);
        let resolved = scenario.value.resolve_with(&world.value, &streams, request.options)?;
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
        Ok(Self::build(name, world.value, scenario.value, resolved, report, &streams, request))
    }

    fn build(
        name: String,
        world: World,
        scenario: Scenario,
        resolved: ResolvedScenario,
        report: Report,
        streams: &KeyedStreams,
        request: &EpisodeRequest,
    ) -> Self {
        let frame = Frame { prefix: &request.prefix, offset: request.offset };
        let object = |object: ResolvedStatic| StaticObstacle {
            sim_path: frame.sim_path(&object.entry.name),
            name: object.entry.name.clone(),
            model: object.entry.model.clone(),
            pose: frame.pose(&object.pose),
            scale: object.entry.scale,
            entry: Some(Arc::new(object.entry)),
        };
        let (of_world, of_scenario): (Vec<_>, Vec<_>) =
            resolved.statics.into_iter().partition(|object| object.origin == Origin::World);
        let root = Some(world.root.as_path()).filter(|root| !root.as_os_str().is_empty());
        let models = AssetLibrary::of_world(root, &request.roots, request.asset_cache.as_deref());
        let robot = |(i, robot): (usize, &ResolvedRobot)| {
            let name = robot.entry.name.clone().unwrap_or_else(|| format!("robot_{i}"));
            let model = robot.entry.model.clone().unwrap_or_default();
            Robot {
                sim_path: frame.sim_path(&name),
                base_frame: base_frame(&models, &model, &name, &request.tf_namespace),
                model,
                pose: frame.pose(&robot.start),
                name,
            }
        };
        Episode {
            robots: resolved.robots.iter().enumerate().map(robot).collect(),
            name,
            walls: world.walls().map(|wall| frame.line(&wall.line)).collect(),
            doors: world
                .doors()
                .map(|door| Door { name: door.name.clone(), line: frame.line(&door.line) })
                .collect(),
            world_objects: of_world.into_iter().map(object).collect(),
            objects: of_scenario.into_iter().map(object).collect(),
            people: resolved.dynamics.into_iter().map(|person| frame.dynamic(person, streams)).collect(),
            regions: resolved
                .regions
                .into_iter()
                .map(|region| Region {
                    kind: region.kind,
                    polygon: region.corners.iter().map(|&corner| frame.point(corner)).collect(),
                    name: region.name,
                })
                .collect(),
            models: Arc::new(models),
            world,
            scenario,
            report,
        }
    }

    /// The running things of the episode, not yet begun. What in the files has no effect on them is added to the report.
    pub(crate) fn live(&mut self, request: &EpisodeRequest) -> LiveWorld {
        let options = LiveOptions { zone_semantics: request.options.zone_semantics };
        let live = LiveWorld::new(&self.world, &self.scenario, request.offset, options);
        self.report = std::mem::take(&mut self.report).merge(Report::new(live.problems().to_vec()));
        live
    }

    /// Whether `asked`, a name or a path, means the world of this episode.
    #[must_use]
    pub fn is_in_world(&self, asked: &str) -> bool {
        names_world(&self.world.root, asked)
    }

    /// The scenario's conditions as a JSON list.
    #[must_use]
    pub fn conditions_json(&self) -> String {
        serde_json::Value::Array(self.scenario.conditions.iter().map(json).collect()).to_string()
    }

    /// The robots' phases as a JSON list with one list per robot.
    #[must_use]
    pub fn phases_json(&self) -> String {
        let phases = |robot: &RobotEntry| robot.extra.get("phases").map_or_else(|| json_list(&[]), json);
        serde_json::Value::Array(self.scenario.robots.iter().map(phases).collect()).to_string()
    }
}

/// The frame at the base of a robot whose model does not name another (REP-105).
const BASE_FRAME: &str = "base_link";

/// The frame that a robot is followed by; `None` when its model does not resolve and cannot say.
fn base_frame(models: &AssetLibrary, model: &str, name: &str, namespace: &str) -> Option<String> {
    let frame = match models.robot(model) {
        Ok(bundle) => bundle.annotation.base_frame.clone().unwrap_or_else(|| BASE_FRAME.to_owned()),
        // Nothing said, nothing installed or our own: the customary frame. A model that is there and broken is told of.
        Err(_)
            if model.is_empty()
                || BUILT_IN_ROBOTS.contains(&model)
                || !models.is_stocked(AssetKind::Robot) =>
        {
            BASE_FRAME.to_owned()
        }
        Err(error) => {
            tracing::warn!("robot {name:?}: {error}");
            return None;
        }
    };
    let parts = [namespace, name, &frame];
    Some(parts.iter().filter(|part| !part.is_empty()).copied().collect::<Vec<_>>().join("/"))
}

fn json_list(items: &[Node]) -> serde_json::Value {
    serde_json::Value::Array(items.iter().map(json).collect())
}

fn json(node: &Node) -> serde_json::Value {
    match &node.value {
        Value::Null => serde_json::Value::Null,
        Value::Bool(value) => (*value).into(),
        Value::Int(value) => (*value).into(),
        // JSON has no NaN; such a number becomes null.
        Value::Float(value) => (*value).into(),
        Value::Text(text) => text.as_str().into(),
        Value::List(items) => json_list(items),
        Value::Map(entries) => entries.iter().map(|e| (e.key.clone(), json(&e.value))).collect(),
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

/// Where models are kept that were fetched once: `promenade/assets` in the user's cache (XDG base directories).
#[must_use]
pub fn asset_cache() -> Option<PathBuf> {
    let absolute = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let cache = absolute("XDG_CACHE_HOME").or_else(|| Some(absolute("HOME")?.join(".cache")))?;
    Some(cache.join("promenade/assets"))
}

/// The text that stands for an agent type in messages: its name, or its file with the whole path, since whoever reads it may run
/// in another folder.
pub(crate) fn type_text(agent_type: &AgentType) -> String {
    match agent_type {
        AgentType::Named(name) => name.clone(),
        AgentType::File(path) => {
            std::path::absolute(path).unwrap_or_else(|_| path.clone()).display().to_string()
        }
    }
}

/// The name of an entity below an environment's prefix.
#[must_use]
pub fn sim_path(prefix: &str, name: &str) -> String {
    if prefix.is_empty() { name.to_owned() } else { format!("{prefix}/{name}") }
}

/// How authored names and places become those of the environment.
#[derive(Clone, Copy)]
struct Frame<'a> {
    prefix: &'a str,
    offset: [f64; 2],
}

impl Frame<'_> {
    fn sim_path(&self, name: &str) -> String {
        sim_path(self.prefix, name)
    }

    fn point(&self, from: Point) -> [f64; 2] {
        [from.x + self.offset[0], from.y + self.offset[1]]
    }

    fn line(&self, from: &Segment) -> Wall {
        Wall { start: self.point(from.start), end: self.point(from.end) }
    }

    fn pose(&self, from: &promenade_scenario::Pose) -> Pose {
        let [x, y] = self.point(from.point());
        let mut pose = Pose::planar(x, y, from.yaw);
        pose.position[2] = from.z;
        pose
    }

    fn dynamic(&self, person: ResolvedDynamic, streams: &KeyedStreams) -> DynamicObstacle {
        let ResolvedDynamic { entry, pose: start, waypoints, .. } = person;
        // By the authored name, so that the same scenario is the same in every environment.
        let velocity = entry.sample_desired_velocity(streams, &entry.name);
        let agent_type = entry.agent.as_ref().map(|agent| type_text(&agent.agent_type())).unwrap_or_default();
        DynamicObstacle {
            name: entry.name.clone(),
            sim_path: self.sim_path(&entry.name),
            model: entry.model.clone(),
            model_uri: String::new(),
            pose: self.pose(&start),
            velocity,
            agent_type,
            waypoints: waypoints.iter().map(|pose| self.point(pose.point())).collect(),
            waypoint_mode: entry.waypoint_mode,
            entry: Some(Arc::new(entry)),
        }
    }
}
