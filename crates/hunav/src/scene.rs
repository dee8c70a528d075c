//! Scenes of the format `hunav-reference/1`: walkers, a robot and a clock in, rows of numbers out (HuNav specification, section 11).
//!
//! A scene says itself which entry point of the original it is about; running one must not depend on anything else.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{
    Agent, Behavior, BehaviorKind, Compat, Configuration, Manager, ManagerVersion, ObstacleRule, Options,
    Point, Request, Robot, World, wrap,
};

/// Name of the format.
pub const FORMAT: &str = "hunav-reference/1";
/// Columns of a row, in order.
pub const COLUMNS: [&str; 21] = [
    "step",
    "id",
    "x",
    "y",
    "yaw",
    "vx",
    "vy",
    "linear_vel",
    "angular_vel",
    "state",
    "goals_left",
    "desired_fx",
    "desired_fy",
    "social_fx",
    "social_fy",
    "obstacle_fx",
    "obstacle_fy",
    "group_fx",
    "group_fy",
    "global_fx",
    "global_fy",
];
/// Calls of one scene, at most.
const MOST_STEPS: u64 = 10_000_000;

/// One row: the numbers of [`COLUMNS`].
pub type Row = [f64; COLUMNS.len()];

/// Why a file is no scene.
#[derive(Debug, thiserror::Error)]
pub enum SceneError {
    /// Its JSON is broken, or a field has the wrong type or is not known.
    #[error(transparent)]
    Json(#[from] serde_json::Error),
    /// It is something else.
    #[error("`format` is {0:?}, not {FORMAT:?}")]
    Format(String),
    /// A number that makes no sense.
    #[error("{0}")]
    Value(String),
}

/// Which entry point of the original a scene is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Level {
    /// The force library: all forces from one state, then one step of each walker.
    SfmSingle,
    /// The force library's call for a whole list.
    SfmBatch,
    /// The manager's `compute_agents`, with a client that echoes.
    Service,
}

/// Versions of the library and of the manager.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Semantics {
    /// How obstacle points add up.
    pub obstacle: SceneObstacle,
    /// Whether interactions are biased to one side.
    #[serde(default)]
    pub epsilon: bool,
    /// Which manager.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub manager: Option<SceneManager>,
}

/// [`ObstacleRule`] by its name in a scene.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SceneObstacle {
    /// They are added.
    Sum,
    /// Their mean counts.
    Mean,
}

/// [`ManagerVersion`] by its name in a scene.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum SceneManager {
    /// HuNavSim of 2023.
    #[serde(rename = "v1")]
    V1,
    /// HuNavSim of 2024.
    #[serde(rename = "v1.5")]
    V15,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SceneBehavior {
    #[serde(rename = "type")]
    kind: u8,
    state: u8,
    configuration: u8,
    duration: f64,
    once: bool,
    vel: f64,
    dist: f64,
    goal_force_factor: f64,
    obstacle_force_factor: f64,
    social_force_factor: f64,
    other_force_factor: f64,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SceneAgent {
    id: i32,
    group_id: i8,
    x: f64,
    y: f64,
    yaw: f64,
    vx: f64,
    vy: f64,
    desired_velocity: f64,
    radius: f64,
    goal_radius: f64,
    cyclic_goals: bool,
    goals: Vec<Point>,
    obstacles: Vec<Point>,
    behavior: SceneBehavior,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SceneRobot {
    id: i32,
    group_id: i8,
    radius: f64,
    desired_velocity: f64,
    /// x, y, yaw, vx, vy and turn rate at each call; the last one stays.
    states: Vec<[f64; 6]>,
}

/// One scene.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scene {
    format: String,
    /// Its name.
    pub name: String,
    /// What it exercises.
    #[serde(default)]
    pub about: String,
    /// The entry point.
    pub level: Level,
    /// Versions.
    pub semantics: Semantics,
    /// Seconds between calls.
    pub dt: f64,
    /// Calls after the initial one.
    pub steps: u64,
    /// Largest difference by column; `default` for those that are not named.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    tolerance: BTreeMap<String, f64>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    columns: Vec<String>,
    agents: Vec<SceneAgent>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    robot: Option<SceneRobot>,
    /// Rows of the original, or of whoever ran the scene last.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    expected: Vec<Vec<f64>>,
}

/// A file: one scene, or many.
#[derive(Clone, Debug)]
pub enum SceneFile {
    /// One.
    One(Box<Scene>),
    /// Cases with the columns and tolerances that they share.
    Cases(Box<Cases>),
}

/// Cases of one file.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cases {
    format: String,
    name: String,
    #[serde(default)]
    about: String,
    tolerance: BTreeMap<String, f64>,
    columns: Vec<String>,
    cases: Vec<Scene>,
}

/// How far rows are from those of the original in one column.
#[derive(Clone, Debug, PartialEq)]
pub struct Deviation {
    /// The column.
    pub column: &'static str,
    /// Largest difference.
    pub largest: f64,
    /// Largest difference that is allowed.
    pub tolerance: f64,
    /// Step and id of the largest difference.
    pub at: (u64, i32),
}

impl Deviation {
    /// Whether it is allowed.
    #[must_use]
    pub fn is_allowed(&self) -> bool {
        self.largest <= self.tolerance
    }
}

impl SceneFile {
    /// Read a file.
    ///
    /// # Errors
    /// Broken JSON with its line and column, a field that is not known, or a value that makes no sense.
    pub fn parse(text: &str) -> Result<Self, SceneError> {
        #[derive(Deserialize)]
        struct Head {
            format: String,
            cases: Option<serde::de::IgnoredAny>,
        }
        let head: Head = serde_json::from_str(text)?;
        if head.format != FORMAT {
            return Err(SceneError::Format(head.format));
        }
        let file = if head.cases.is_some() {
            let mut cases: Cases = serde_json::from_str(text)?;
            for scene in &mut cases.cases {
                scene.tolerance.clone_from(&cases.tolerance);
            }
            SceneFile::Cases(Box::new(cases))
        } else {
            SceneFile::One(Box::new(serde_json::from_str(text)?))
        };
        file.scenes().iter().try_for_each(Scene::check)?;
        Ok(file)
    }

    /// Its scenes.
    #[must_use]
    pub fn scenes(&self) -> &[Scene] {
        match self {
            SceneFile::One(scene) => std::slice::from_ref(scene),
            SceneFile::Cases(cases) => &cases.cases,
        }
    }

    /// The same file with these rows in place of those it expected, one list per scene.
    ///
    /// # Errors
    /// A number that JSON cannot hold.
    pub fn with_rows(&self, rows: &[Vec<Row>]) -> Result<String, serde_json::Error> {
        let columns = || COLUMNS.map(str::to_owned).to_vec();
        let put = |scene: &mut Scene, rows: &Vec<Row>| {
            scene.expected = rows.iter().map(|row| row.to_vec()).collect()
        };
        match self {
            SceneFile::One(scene) => {
                let mut scene = scene.clone();
                scene.columns = columns();
                rows.iter().take(1).for_each(|rows| put(&mut scene, rows));
                serde_json::to_string(&scene)
            }
            SceneFile::Cases(cases) => {
                let mut cases = cases.clone();
                cases.columns = columns();
                cases.cases.iter_mut().zip(rows).for_each(|(scene, rows)| {
                    put(scene, rows);
                    scene.tolerance.clear();
                });
                serde_json::to_string(&cases)
            }
        }
    }
}

impl Scene {
    fn check(&self) -> Result<(), SceneError> {
        let wrong = |what: String| Err(SceneError::Value(format!("scene {:?}: {what}", self.name)));
        if !(self.dt.is_finite() && self.dt >= 0.0) {
            return wrong(format!("`dt` is {}, not a number of seconds from 0", self.dt));
        }
        if self.steps > MOST_STEPS {
            return wrong(format!("`steps` is {}, more than {MOST_STEPS}", self.steps));
        }
        if self.level == Level::Service && self.robot.as_ref().is_none_or(|robot| robot.states.is_empty()) {
            return wrong("a scene of level `service` needs a `robot` with one state at least".to_owned());
        }
        for agent in &self.agents {
            let behavior = &agent.behavior;
            if kind(behavior.kind).is_none() {
                return wrong(format!(
                    "agent {}: behaviour `type` is {}, not 1 to 6",
                    agent.id, behavior.kind
                ));
            }
            if self.agents.iter().filter(|other| other.id == agent.id).count() > 1 {
                return wrong(format!("two agents have the id {}", agent.id));
            }
        }
        Ok(())
    }

    /// Options under which its numbers are those of the original.
    #[must_use]
    pub fn options(&self) -> Options {
        let manager = match self.semantics.manager {
            Some(SceneManager::V1) => ManagerVersion::P1,
            _ => ManagerVersion::P15,
        };
        let obstacle = match self.semantics.obstacle {
            SceneObstacle::Sum => ObstacleRule::Sum,
            SceneObstacle::Mean => ObstacleRule::Mean,
        };
        Options { obstacle, ..Options::strict(manager) }
    }

    /// The walkers before the first call.
    #[must_use]
    pub fn agents(&self) -> Vec<Agent> {
        self.agents.iter().map(agent).collect()
    }

    /// The robot at a call; parked where there is none.
    #[must_use]
    pub fn robot(&self, call: u64) -> Robot {
        let Some(robot) = &self.robot else { return Robot::default() };
        let last = robot.states.len() - 1;
        let [x, y, yaw, vx, vy, angular_vel] =
            robot.states[usize::try_from(call).map_or(last, |at| at.min(last))];
        let SceneRobot { id, group_id, radius, desired_velocity, .. } = *robot;
        let (position, velocity) = ([x, y], [vx, vy]);
        Robot {
            id,
            name: String::new(),
            group_id,
            position,
            yaw,
            velocity,
            angular_vel,
            desired_velocity,
            radius,
        }
    }

    /// Whether the format keeps the rows of a step: the first ten, every fifth, the last, and of services the initial one.
    #[must_use]
    pub fn keeps(&self, step: u64) -> bool {
        let first = u64::from(self.level != Level::Service);
        step >= first && (step <= 10 || step.is_multiple_of(5) || step == self.steps)
    }

    /// Run it as the original does, or a service with other options, and give each step's rows to `seen`.
    pub fn run(&self, options: Options, mut seen: impl FnMut(u64, &[Row])) {
        let mut rows = Vec::with_capacity(self.agents.len());
        if self.level == Level::Service {
            return self.run_service(options, &mut rows, seen);
        }
        let whole_list = self.level == Level::SfmBatch;
        let options = Options { compat: Compat::Strict, ..options };
        let mut world = World::of_library(options, whole_list, self.semantics.epsilon);
        world.reset(&self.agents(), &self.robot(0));
        let mut out = Agent::default();
        for step in 1..=self.steps {
            world.sense();
            rows.clear();
            for row in 0..world.len() {
                world.walk(row, self.dt);
                world.agent_into(row, &mut out);
                rows.push(row_of(step, &out, &world));
            }
            seen(step, &rows);
        }
    }

    fn run_service(&self, options: Options, rows: &mut Vec<Row>, mut seen: impl FnMut(u64, &[Row])) {
        let (mut manager, mut agents, mut answer) = (Manager::new(options), self.agents(), Vec::new());
        for step in 0..=self.steps {
            let stamp_ns = (step as f64 * self.dt * 1e9).round() as i64;
            let robot = self.robot(step);
            manager.compute_agents(&Request { stamp_ns, agents: &agents, robot: &robot }, &mut answer);
            rows.clear();
            rows.extend(answer.iter().map(|out| row_of(step, out, manager.world())));
            seen(step, rows);
            for moved in &answer {
                if let Some(agent) = agents.iter_mut().find(|agent| agent.id == moved.id) {
                    (agent.position, agent.velocity) = (moved.position, moved.velocity);
                    (agent.yaw, agent.angular_vel) = (moved.yaw, moved.angular_vel);
                }
            }
        }
    }

    /// Run it and keep the rows that the format keeps.
    #[must_use]
    pub fn rows(&self, options: Options) -> Vec<Row> {
        let mut kept = Vec::new();
        self.run(options, |step, rows| {
            if self.keeps(step) {
                kept.extend_from_slice(rows);
            }
        });
        kept
    }

    /// How far `rows` are from the expected ones, by column; empty if there are none. A row that is missing is infinitely far.
    #[must_use]
    pub fn compare(&self, rows: &[Row]) -> Vec<Deviation> {
        if self.expected.is_empty() {
            return Vec::new();
        }
        let key = |row: &[f64]| (row.first().map(|step| *step as u64), row.get(1).map(|id| *id as i32));
        let found: BTreeMap<_, &Row> = rows.iter().map(|row| (key(row), row)).collect();
        let default = self.tolerance.get("default").copied().unwrap_or(0.0);
        let deviation = |index: usize| {
            let column = COLUMNS[index];
            let tolerance = self.tolerance.get(column).copied().unwrap_or(default);
            let mut worst = Deviation { column, largest: 0.0, tolerance, at: (0, 0) };
            for expected in &self.expected {
                let difference = match (found.get(&key(expected)), expected.get(index)) {
                    (Some(row), Some(value)) if column == "yaw" => wrap(row[index] - value).abs(),
                    (Some(row), Some(value)) => (row[index] - value).abs(),
                    _ => f64::INFINITY,
                };
                let difference = if difference.is_nan() { f64::INFINITY } else { difference };
                if difference > worst.largest {
                    let (step, id) = key(expected);
                    worst.largest = difference;
                    worst.at = (step.unwrap_or_default(), id.unwrap_or_default());
                }
            }
            worst
        };
        (0..COLUMNS.len()).map(deviation).collect()
    }
}

fn row_of(step: u64, agent: &Agent, world: &World) -> Row {
    let forces = world.row_of(agent.id).map(|row| world.forces(row)).unwrap_or_default();
    let ([x, y], [vx, vy]) = (agent.position, agent.velocity);
    let [[gx, gy], [sx, sy], [ox, oy], [cx, cy], [tx, ty]] =
        [forces.goal, forces.social, forces.obstacle, forces.group, forces.total];
    let (state, left) = (f64::from(agent.behavior.state), agent.goals.len() as f64);
    let (linear, angular) = (agent.linear_vel, agent.angular_vel);
    let [step, id] = [step as f64, f64::from(agent.id)];
    [step, id, x, y, agent.yaw, vx, vy, linear, angular, state, left, gx, gy, sx, sy, ox, oy, cx, cy, tx, ty]
}

fn kind(number: u8) -> Option<BehaviorKind> {
    use BehaviorKind::*;
    [Regular, Impassive, Surprised, Scared, Curious, Threatening]
        .into_iter()
        .find(|kind| *kind as u8 == number)
}

fn agent(scene: &SceneAgent) -> Agent {
    let of = &scene.behavior;
    let configuration = match of.configuration {
        1 => Configuration::Custom,
        2 => Configuration::RandomNormal,
        3 => Configuration::RandomUniform,
        _ => Configuration::Default,
    };
    let behavior = Behavior {
        kind: kind(of.kind).unwrap_or_default(),
        state: of.state,
        configuration,
        duration: of.duration,
        once: of.once,
        vel: of.vel,
        dist: of.dist,
        social_force_factor: of.social_force_factor,
        goal_force_factor: of.goal_force_factor,
        obstacle_force_factor: of.obstacle_force_factor,
        other_force_factor: of.other_force_factor,
    };
    Agent {
        id: scene.id,
        group_id: scene.group_id,
        position: [scene.x, scene.y],
        yaw: scene.yaw,
        velocity: [scene.vx, scene.vy],
        desired_velocity: scene.desired_velocity,
        radius: scene.radius,
        goal_radius: scene.goal_radius,
        cyclic_goals: scene.cyclic_goals,
        goals: scene.goals.clone(),
        closest_obs: scene.obstacles.clone(),
        behavior,
        ..Agent::default()
    }
}
