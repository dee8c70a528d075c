//! What a robot of a name is: its body, drive and scanners.
//!
//! A robot model is a world file with one robot in it. It lies as `robot.yaml` in the model's folder of assets, or is one of those that
//! come with the program. Where the robot starts and goes is the scenario's affair, so what the file says of that does not count.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use promenade_robot_world::file::ReadOptions;
use promenade_robot_world::registry::Registry;
use promenade_robot_world::spec::{GroupSpec, ObjectSpec, Role, ShapeSpec, WorldSpec};
use promenade_scenario::problem::{Report, nearest};
use promenade_scenario::{AssetError, AssetLibrary, BUILT_IN_ROBOTS, DEFAULT_ROBOT};

/// The description of a robot, in the folder of its model.
pub const ROBOT_FILE: &str = "robot.yaml";

/// The texts of [`BUILT_IN_ROBOTS`], in their order.
const TEXTS: [&str; BUILT_IN_ROBOTS.len()] = [
    include_str!("../../../../../configs/robots/car_robot.yaml"),
    include_str!("../../../../../configs/robots/field_robot.yaml"),
    include_str!("../../../../../configs/robots/omni_robot.yaml"),
    include_str!("../../../../../configs/robots/service_robot.yaml"),
    include_str!("../../../../../configs/robots/small_diff.yaml"),
];

/// Why a name gives no robot.
#[derive(Clone, Debug, thiserror::Error)]
pub enum RobotModelError {
    /// Nobody has the name, or its folder does not load.
    #[error("{error}; built in are {}{}", BUILT_IN_ROBOTS.join(", "), try_this(nearest))]
    Unknown {
        /// What the library of assets said.
        error: AssetError,
        /// The built-in name most like it.
        nearest: Option<String>,
    },
    /// The model is there and does not say how it drives.
    #[error("the model in {} has no {ROBOT_FILE}, which would say how it drives", .0.display())]
    NoDescription(PathBuf),
    /// The description has errors.
    #[error("{0}")]
    Broken(Report),
    /// The description is a world of its own.
    #[error("{}: a robot model is a world file with one robot and nothing else; {found}", .file.display())]
    NotOneRobot {
        /// The file.
        file: PathBuf,
        /// What is in it.
        found: String,
    },
}

fn try_this(nearest: &Option<String>) -> String {
    nearest.as_ref().map_or_else(String::new, |name| format!("  (try: {name})"))
}

/// Robot models by name. Each is read once.
#[derive(Debug)]
pub struct RobotModels {
    assets: Arc<AssetLibrary>,
    registry: Registry,
    known: BTreeMap<String, Result<Arc<ObjectSpec>, RobotModelError>>,
}

/// Names remembered; they may come from messages.
const MOST_KNOWN: usize = 10_000;

impl RobotModels {
    /// The built-in models, and those of a library before them. Kinematics and behaviours are those of `registry`.
    #[must_use]
    pub fn new(assets: Arc<AssetLibrary>, registry: Registry) -> Self {
        RobotModels { assets, registry, known: BTreeMap::new() }
    }

    /// The library that models and objects are looked up in.
    #[must_use]
    pub fn assets(&self) -> &AssetLibrary {
        &self.assets
    }

    /// The robot of a model name; of an empty one the default.
    ///
    /// # Errors
    /// Nobody has the name, or its description does not hold.
    pub fn get(&mut self, model: &str) -> Result<Arc<ObjectSpec>, RobotModelError> {
        let model = if model.is_empty() { DEFAULT_ROBOT } else { model };
        if let Some(known) = self.known.get(model) {
            return known.clone();
        }
        let answer = self.look_up(model).map(Arc::new);
        if self.known.len() < MOST_KNOWN {
            self.known.insert(model.to_owned(), answer.clone());
        }
        answer
    }

    /// The robot that stands in for a model that is not there.
    ///
    /// # Errors
    /// Only when `registry` lacks what the built-in model asks for.
    pub fn fallback(&mut self) -> Result<Arc<ObjectSpec>, RobotModelError> {
        self.get("")
    }

    fn look_up(&self, model: &str) -> Result<ObjectSpec, RobotModelError> {
        let built_in = BUILT_IN_ROBOTS.iter().position(|name| *name == model);
        let read = |at: usize| {
            let file = Path::new("configs/robots").join(BUILT_IN_ROBOTS[at]).with_extension("yaml");
            self.described(
                WorldSpec::from_text(TEXTS[at], &file, &self.registry, &ReadOptions::default()),
                &file,
            )
        };
        match (self.assets.robot(model), built_in) {
            (Ok(bundle), built_in) => {
                let file = bundle.folder.join(ROBOT_FILE);
                match built_in {
                    _ if file.is_file() => {
                        self.described(WorldSpec::read(&file, &self.registry, &ReadOptions::default()), &file)
                    }
                    Some(at) => read(at),
                    None => Err(RobotModelError::NoDescription(bundle.folder.clone())),
                }
            }
            (Err(AssetError::NotFound { .. }), Some(at)) => read(at),
            (Err(error), _) => {
                let nearest = nearest(model, BUILT_IN_ROBOTS).map(str::to_owned);
                Err(RobotModelError::Unknown { error, nearest })
            }
        }
    }

    fn described(
        &self,
        read: Result<promenade_scenario::Loaded<WorldSpec>, Report>,
        file: &Path,
    ) -> Result<ObjectSpec, RobotModelError> {
        let spec = read.map_err(RobotModelError::Broken)?.value;
        let not_one = |found: String| RobotModelError::NotOneRobot { file: file.to_owned(), found };
        let of = |role: Role| {
            let groups = spec.groups.iter().filter(move |group: &&GroupSpec| group.role == role);
            groups.flat_map(|group| &group.objects)
        };
        let (robots, obstacles) = (of(Role::Robot).count(), of(Role::Obstacle).count());
        let mut robots_of = of(Role::Robot);
        let (Some(robot), 1, 0, None) = (robots_of.next(), robots, obstacles, &spec.map) else {
            return Err(not_one(format!("found {robots} robots and {obstacles} obstacles")));
        };
        if robot.model.is_none() || robot.is_static {
            return Err(not_one("its robot has no kinematics, so it could not drive".to_owned()));
        }
        if !matches!(robot.shape, ShapeSpec::Fixed(_)) {
            return Err(not_one(
                "its robot has a random shape, so it would not be the same twice".to_owned(),
            ));
        }
        Ok(ObjectSpec { behavior: None, goals: Vec::new(), ..robot.clone() })
    }
}
