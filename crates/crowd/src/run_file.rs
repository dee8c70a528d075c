//! Recorded runs: JSON files of format `crowd-reference/1`, which hold a scene and what became of it (crowd-engine specification,
//! section 33).
//!
//! A file is read into a [`RunFile`] and run again; the rows come out in the shape the file has them in. Nothing is read from disk here.

use serde::Deserialize;
use serde_json::{Map, Value, json};

use promenade_scenario::AgentTypeLibrary;

use crate::collision::{Contacts, MARGIN};
use crate::error::{CrowdError, coordinate, finite, positive};
use crate::global::GlobalPlanner;
use crate::grid::Grid;
use crate::improvements::Improvements;
use crate::occlusion::OcclusionMode;
use crate::perception::Neighbours;
use crate::planner::{self, GainTable, Motion, Scene, WALL_REACH};
use crate::pool::{NO_POLICY, Pool, Row};
use crate::protocol::AgentFrame;
use crate::sampling::{AgentParameters, HUMAN_CLASS, Handedness};
use crate::settings::Settings;
use crate::spawn::SpawnRequest;
use crate::step::Crowd;
use crate::trajectory::Trajectory;
use crate::walls::{Segment, Wall, WallIndex};

/// The format this reads and writes.
pub const FORMAT: &str = "crowd-reference/1";

/// Why a file cannot be run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunFileError {
    /// Not JSON, or not the fields it takes; the message has line and column.
    #[error("{0}")]
    Json(#[from] serde_json::Error),
    /// A field that is not what it has to be.
    #[error("{field}: expected {expected}, found {found}")]
    Field {
        /// Where it is.
        field: String,
        /// What it may be.
        expected: String,
        /// What it is.
        found: String,
    },
    /// A scene that the engine refuses.
    #[error("{0}")]
    Crowd(#[from] CrowdError),
}

fn field<T>(field: &str, expected: &str, found: &dyn std::fmt::Display) -> Result<T, RunFileError> {
    Err(RunFileError::Field {
        field: field.to_owned(),
        expected: expected.to_owned(),
        found: found.to_string(),
    })
}

/// A recorded run.
#[derive(Debug)]
pub struct RunFile {
    document: Map<String, Value>,
    kind: KindOfRun,
}

#[derive(Debug)]
enum KindOfRun {
    Run(Box<RunScene>),
    Planner(PlannerScene),
    Collision(CollisionScene),
}

/// State after each tick or step: `x[t][k]` is that of `ids[k]` after tick `t`.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Rows {
    /// Who is in which column.
    pub ids: Vec<i32>,
    /// Position, m.
    pub x: Vec<Vec<f64>>,
    /// Position, m.
    pub y: Vec<Vec<f64>>,
    /// Heading, rad, as the engine keeps it.
    pub theta: Vec<Vec<f64>>,
    /// Velocity, m/s.
    pub vx: Vec<Vec<f64>>,
    /// Velocity, m/s.
    pub vy: Vec<Vec<f64>>,
    /// Body radius of each id, m.
    pub radius: Vec<f64>,
    /// Of collision cases: the ids that a wall moved in each step.
    pub pushed_by_walls: Option<Vec<Vec<i32>>>,
}

impl Rows {
    /// Names of the columns.
    pub const COLUMNS: [&str; 5] = ["x", "y", "theta", "vx", "vy"];

    /// A column by name.
    #[must_use]
    pub fn column(&self, name: &str) -> Option<&[Vec<f64>]> {
        let columns = [&self.x, &self.y, &self.theta, &self.vx, &self.vy];
        Self::COLUMNS.iter().zip(columns).find(|(n, _)| **n == name).map(|(_, column)| column.as_slice())
    }

    /// The rows as a trajectory with a frame after each tick of `dt` seconds.
    #[must_use]
    pub fn trajectory(&self, dt: f64) -> Trajectory {
        let mut trajectory = Trajectory::new(1.0 / dt);
        for tick in 0..self.x.len() {
            trajectory.record(&AgentFrame {
                agent_id: self.ids.clone(),
                x: self.x[tick].clone(),
                y: self.y[tick].clone(),
                theta: self.theta[tick].clone(),
                vx: self.vx[tick].clone(),
                vy: self.vy[tick].clone(),
                radius: self.radius.clone(),
                ..AgentFrame::default()
            });
        }
        trajectory
    }

    fn take(&mut self, pool: &Pool) {
        let of = |column: &[f64]| {
            self.ids.iter().filter_map(|id| pool.row_of(*id)).map(|row| column[row]).collect::<Vec<f64>>()
        };
        if self.radius.is_empty() {
            self.radius = of(&pool.radius);
        }
        let [x, y, theta, vx, vy] = [of(&pool.x), of(&pool.y), of(&pool.theta), of(&pool.vx), of(&pool.vy)];
        self.x.push(x);
        self.y.push(y);
        self.theta.push(theta);
        self.vx.push(vx);
        self.vy.push(vy);
    }
}

/// How to run a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RunOptions {
    /// Ticks or steps; as many as the file says without.
    pub ticks: Option<u64>,
    /// Draw the agents from the seed, rather than take them as the file has them.
    pub sampled: bool,
    /// Threads, at least 1.
    pub threads: usize,
}

impl Default for RunOptions {
    fn default() -> Self {
        Self { ticks: None, sampled: false, threads: 1 }
    }
}

impl RunFile {
    /// Read a file's text.
    ///
    /// # Errors
    /// Text that is no recorded run.
    pub fn parse(text: &str) -> Result<Self, RunFileError> {
        let document: Map<String, Value> = serde_json::from_str(text)?;
        let word = |key: &str| document.get(key).and_then(Value::as_str).unwrap_or("nothing");
        if word("format") != FORMAT {
            return field("format", FORMAT, &word("format"));
        }
        // Typed values are read from the text again, so that a message can name the line.
        let kind = match word("kind") {
            "run" => KindOfRun::Run(serde_json::from_str(text)?),
            "planner" => KindOfRun::Planner(serde_json::from_str::<Typed<PlannerScene>>(text)?.scene),
            "collision" => KindOfRun::Collision(serde_json::from_str::<Typed<CollisionScene>>(text)?.scene),
            kind => return field("kind", "run, planner or collision", &kind),
        };
        Ok(Self { document, kind })
    }

    /// Run it.
    ///
    /// # Errors
    /// A scene that the engine refuses.
    pub fn run(&self, options: RunOptions) -> Result<Rows, RunFileError> {
        match &self.kind {
            KindOfRun::Run(run) => run.run(options),
            KindOfRun::Planner(scene) => scene.run(options),
            KindOfRun::Collision(scene) => scene.run(options),
        }
    }

    /// Length of its ticks or steps, s.
    #[must_use]
    pub fn dt(&self) -> f64 {
        match &self.kind {
            KindOfRun::Run(run) => run.scene.dt,
            KindOfRun::Planner(scene) => scene.dt,
            KindOfRun::Collision(scene) => scene.dt,
        }
    }

    /// Its walls.
    #[must_use]
    pub fn walls(&self) -> Vec<Segment> {
        let pairs = |walls: &[[[f64; 2]; 2]]| {
            walls.iter().map(|[start, end]| Segment::between(*start, *end)).collect()
        };
        match &self.kind {
            KindOfRun::Run(run) => {
                run.scene.walls.iter().map(|wall| Segment::between(wall.start, wall.end)).collect()
            }
            KindOfRun::Planner(scene) => pairs(&scene.walls),
            KindOfRun::Collision(scene) => pairs(&scene.walls),
        }
    }

    /// The file with these rows under `run`, and without those that were recorded.
    #[must_use]
    pub fn with_rows(&self, rows: &Rows) -> Value {
        let mut document = self.document.clone();
        for recorded in ["recorded", "run", "agreement", "tolerance", "pushed_by_walls"] {
            document.shift_remove(recorded);
        }
        document.insert("columns".to_owned(), json!(Rows::COLUMNS));
        document.insert("ids".to_owned(), json!(rows.ids));
        let columns = Rows::COLUMNS.iter().map(|name| ((*name).to_owned(), json!(rows.column(name))));
        document.insert("run".to_owned(), Value::Object(columns.collect()));
        if let Some(pushed) = &rows.pushed_by_walls {
            document.insert("pushed_by_walls".to_owned(), json!(pushed));
        }
        Value::Object(document)
    }
}

#[derive(Debug, Deserialize)]
struct Typed<S> {
    scene: S,
}

/// A whole tick, many times.
#[derive(Debug, Deserialize)]
struct RunScene {
    scene: Scenery,
    #[serde(default)]
    agents: Vec<RecordedAgent>,
    #[serde(default)]
    commands: Vec<Command>,
}

#[derive(Debug, Deserialize)]
struct Scenery {
    seed: i64,
    dt: f64,
    bt_tick_interval: u32,
    ticks: u64,
    #[serde(default)]
    walls: Vec<NamedWall>,
    modules: Modules,
    #[serde(default)]
    parameters: Map<String, Value>,
    spawns: Vec<Spawn>,
}

#[derive(Debug, Deserialize)]
struct NamedWall {
    name: String,
    start: [f64; 2],
    end: [f64; 2],
}

#[derive(Debug, Deserialize)]
struct Modules {
    perception: String,
    occlusion: String,
    global_planner: String,
    local_planner: String,
    animation: String,
    collision: String,
}

#[derive(Debug, Deserialize)]
struct Spawn {
    id: i32,
    agent_type: String,
    pose: [f64; 3],
    #[serde(default)]
    velocity: [f64; 2],
    #[serde(default)]
    desired_velocity: f64,
    #[serde(default)]
    radius: f64,
    #[serde(default)]
    vision_range: f64,
    #[serde(default)]
    vision_fov: f64,
    #[serde(default)]
    waypoints: Vec<[f64; 2]>,
}

#[derive(Debug, Deserialize)]
struct RecordedAgent {
    id: i32,
    desired_velocity: f64,
    radius: f64,
    max_velocity: f64,
    max_acceleration: f64,
    max_deceleration: f64,
    min_turning_radius: f64,
    pivot_angular_velocity: f64,
    reaction_time: f64,
    personal_space_min: f64,
    vision_range: f64,
    vision_fov: f64,
    proximity_sense: f64,
    vision_occlusion: bool,
    idle_gaze_rate: f64,
    handedness: String,
    /// The planner's keys, and what else there is.
    #[serde(flatten)]
    rest: Map<String, Value>,
}

#[derive(Debug, Deserialize)]
struct Command {
    id: i32,
    #[serde(rename = "type")]
    kind: i64,
    target_pose: [f64; 3],
}

impl RunScene {
    fn run(&self, options: RunOptions) -> Result<Rows, RunFileError> {
        let scene = &self.scene;
        let mut crowd = Crowd::new(self.settings(options)?)?;
        let wall = |w: &NamedWall| Wall { name: w.name.clone(), start: w.start, end: w.end };
        crowd.add_walls(scene.walls.iter().map(wall))?;
        for spawn in &scene.spawns {
            self.spawn(&mut crowd, spawn, options.sampled)?;
        }
        let mut rows = Rows { ids: scene.spawns.iter().map(|s| s.id).collect(), ..Rows::default() };
        for _ in 0..options.ticks.unwrap_or(scene.ticks) {
            crowd.step();
            rows.take(crowd.pool());
        }
        Ok(rows)
    }

    fn settings(&self, options: RunOptions) -> Result<Settings, RunFileError> {
        let (scene, modules) = (&self.scene, &self.scene.modules);
        let only = |name: &str, found: &str, known: &str| match found == known {
            true => Ok(()),
            false => field(&format!("scene.modules.{name}"), known, &found),
        };
        only("perception", &modules.perception, "default")?;
        only("animation", &modules.animation, "noop")?;
        let switch = |name: &str, found: &str, on: &str| match found {
            "noop" => Ok(false),
            _ if found == on => Ok(true),
            _ => field(&format!("scene.modules.{name}"), &format!("{on} or noop"), &found),
        };
        let defaults = Settings::default();
        let number = |key: &str, default: f64| match scene.parameters.get(key) {
            None => Ok(default),
            Some(value) => match value.as_f64() {
                Some(number) => Ok(number),
                None => field(&format!("scene.parameters.{key}"), "a number", value),
            },
        };
        let margin = number("collision_margin", MARGIN)?;
        if margin != MARGIN {
            return field("scene.parameters.collision_margin", &MARGIN.to_string(), &margin);
        }
        Ok(Settings {
            seed: scene.seed,
            dt: scene.dt,
            bt_tick_interval: scene.bt_tick_interval,
            staggered_decisions: false,
            local_planner: modules.local_planner.clone(),
            global_planner: GlobalPlanner::named(
                &modules.global_planner,
                number("global_planner.inflation_radius", 0.38)?,
                number("global_planner.resolution", 0.2)?,
                number("global_planner.comfort_radius", 0.6)?,
            )?,
            min_speed_for_heading: number("min_speed_for_heading", defaults.min_speed_for_heading)?,
            arrival_r_enter: number("arrival_r_enter", defaults.arrival_r_enter)?,
            arrival_r_exit: number("arrival_r_exit", defaults.arrival_r_exit)?,
            arrival_tau_brake: number("arrival_tau_brake", defaults.arrival_tau_brake)?,
            occlusion: OcclusionMode::named(&modules.occlusion)?,
            contacts: switch("collision", &modules.collision, "wall_projection")?,
            improvements: Improvements::NONE,
            threads: options.threads,
        })
    }

    fn spawn(&self, crowd: &mut Crowd, spawn: &Spawn, sampled: bool) -> Result<(), RunFileError> {
        let request = SpawnRequest {
            id: spawn.id,
            pose: spawn.pose,
            velocity: spawn.velocity,
            desired_velocity: spawn.desired_velocity,
            radius: spawn.radius,
            vision_range: spawn.vision_range,
            vision_fov: spawn.vision_fov,
            ..SpawnRequest::default()
        };
        let recorded = self.agents.iter().find(|agent| agent.id == spawn.id && !sampled);
        let id = match recorded {
            Some(agent) => crowd.spawn_with(&request, agent.parameters())?,
            None => match AgentTypeLibrary::built_in().named(&spawn.agent_type) {
                Ok(resolved) => crowd.spawn(&request, Some(resolved))?,
                Err(error) => {
                    return field("scene.spawns.agent_type", "a built-in agent type", &error);
                }
            },
        };
        Ok(crowd.navigate(id, self.target(spawn)?)?)
    }

    /// Where a command sends an agent, or without commands its only way-point.
    fn target(&self, spawn: &Spawn) -> Result<Option<[f64; 2]>, RunFileError> {
        if let Some(command) = self.commands.iter().find(|command| command.id == spawn.id) {
            return match command.kind {
                0 => Ok(Some([command.target_pose[0], command.target_pose[1]])),
                kind => field("commands.type", "0", &kind),
            };
        }
        match spawn.waypoints.as_slice() {
            [] => Ok(None),
            [only] => Ok(Some(*only)),
            list => field("scene.spawns.waypoints", "at most one way-point", &list.len()),
        }
    }
}

impl RecordedAgent {
    fn parameters(&self) -> AgentParameters {
        let planner = self.rest.iter().filter_map(|(key, value)| Some((key.clone(), value.as_f64()?)));
        AgentParameters {
            desired_velocity: self.desired_velocity,
            radius: self.radius,
            max_velocity: self.max_velocity,
            max_acceleration: self.max_acceleration,
            max_deceleration: self.max_deceleration,
            min_turning_radius: self.min_turning_radius,
            pivot_angular_velocity: self.pivot_angular_velocity,
            reaction_time: self.reaction_time,
            personal_space_min: self.personal_space_min,
            vision_range: self.vision_range,
            vision_fov: self.vision_fov,
            proximity_sense: self.proximity_sense,
            vision_occlusion: self.vision_occlusion,
            planner: planner.collect(),
            idle_gaze_rate: self.idle_gaze_rate,
            handedness: if self.handedness == "l" { Handedness::Left } else { Handedness::Right },
            interaction_class: HUMAN_CLASS.to_owned(),
            kind_gains: Vec::new(),
            locomotion: None,
        }
    }
}

/// One planner, alone.
#[derive(Debug, Deserialize)]
struct PlannerScene {
    dt: f64,
    steps: u64,
    planner: String,
    parameters: Map<String, Value>,
    #[serde(default)]
    walls: Vec<[[f64; 2]; 2]>,
    rows: Vec<PlannedRow>,
}

#[derive(Debug, Deserialize)]
struct PlannedRow {
    id: i32,
    pose: [f64; 3],
    velocity: [f64; 2],
    radius: f64,
    goal: [f64; 2],
}

fn segments(walls: &[[[f64; 2]; 2]]) -> Result<Vec<Segment>, CrowdError> {
    for place in walls.iter().flatten().flatten() {
        coordinate("end of a wall", *place)?;
    }
    Ok(walls.iter().map(|[start, end]| Segment::between(*start, *end)).collect())
}

impl PlannerScene {
    fn run(&self, options: RunOptions) -> Result<Rows, RunFileError> {
        let dt = positive("scene.dt", self.dt)?;
        let walls = WallIndex::new(&segments(&self.walls)?, WALL_REACH);
        let mut planner = planner::named(&self.planner)?;
        let mut parameters = AgentParameters::unknown_type();
        for (key, value) in &self.parameters {
            let Some(value) = value.as_f64() else {
                return field(&format!("scene.parameters.{key}"), "a number", value);
            };
            match key.as_str() {
                "desired_velocity" => parameters.desired_velocity = value,
                "max_velocity" => parameters.max_velocity = value,
                "pivot_angular_velocity" => parameters.pivot_angular_velocity = value,
                _ => parameters.set_planner_value(key, value),
            }
        }
        let mut pool = Pool::with_capacity(self.rows.len());
        for row in &self.rows {
            parameters.radius = row.radius;
            let at = put(&mut pool, row.id, row.pose, row.velocity, &parameters)?;
            planner.push(&parameters);
            (pool.goal_x[at], pool.goal_y[at], pool.has_goal[at]) = (row.goal[0], row.goal[1], true);
        }
        let neighbours = Neighbours::everybody(pool.len());
        let numbers: Vec<u32> = (0..pool.len() as u32).collect();
        let mut motions = vec![Motion::default(); pool.len()];
        let mut rows = Rows { ids: pool.id.clone(), ..Rows::default() };
        let (mut grid, gains) = (Grid::default(), GainTable::default());
        for _ in 0..options.ticks.unwrap_or(self.steps) {
            grid.rebuild(&pool.x, &pool.y, 1.0);
            let (neighbours, gains, improvements) = (&neighbours, &gains, Improvements::NONE);
            let scene =
                Scene { pool: &pool, neighbours, grid: &grid, gains, walls: &walls, improvements, dt };
            planner.plan(&scene, &numbers, &mut motions);
            planner.keep(&numbers, &motions);
            for (row, motion) in motions.iter().enumerate() {
                [pool.vx[row], pool.vy[row]] = motion.velocity;
                if planner.owns_heading() {
                    pool.theta[row] = motion.theta;
                }
            }
            advance(&mut pool, dt);
            rows.take(&pool);
        }
        Ok(rows)
    }
}

/// The contact stage, alone.
#[derive(Debug, Deserialize)]
struct CollisionScene {
    dt: f64,
    steps: u64,
    margin: f64,
    #[serde(default)]
    walls: Vec<[[f64; 2]; 2]>,
    rows: Vec<TouchingRow>,
}

#[derive(Debug, Deserialize)]
struct TouchingRow {
    id: i32,
    pose: [f64; 3],
    velocity: [f64; 2],
    radius: f64,
    movable: bool,
}

impl CollisionScene {
    fn run(&self, options: RunOptions) -> Result<Rows, RunFileError> {
        if self.margin != MARGIN {
            return field("scene.margin", &MARGIN.to_string(), &self.margin);
        }
        let dt = positive("scene.dt", self.dt)?;
        let mut pool = Pool::with_capacity(self.rows.len());
        let mut parameters = AgentParameters::unknown_type();
        for row in &self.rows {
            parameters.radius = row.radius;
            let at = put(&mut pool, row.id, row.pose, row.velocity, &parameters)?;
            pool.policy[at] = if row.movable { 0 } else { NO_POLICY };
        }
        let largest = pool.radius.iter().fold(0.5, |most: f64, radius| most.max(*radius));
        let walls = WallIndex::new(&segments(&self.walls)?, 1.5 * largest);
        let (mut contacts, mut pushed) = (Contacts::default(), Vec::new());
        let mut rows = Rows { ids: pool.id.clone(), ..Rows::default() };
        for _ in 0..options.ticks.unwrap_or(self.steps) {
            contacts.resolve(&mut pool, &walls, false);
            pushed.push(contacts.pushed_by_walls().iter().map(|row| pool.id[*row as usize]).collect());
            rows.take(&pool);
            advance(&mut pool, dt);
        }
        Ok(Rows { pushed_by_walls: Some(pushed), ..rows })
    }
}

fn put(
    pool: &mut Pool,
    id: i32,
    pose: [f64; 3],
    velocity: [f64; 2],
    parameters: &AgentParameters,
) -> Result<usize, CrowdError> {
    if pool.row_of(id).is_some() {
        return Err(CrowdError::IdTaken(id));
    }
    for number in pose.iter().chain(&velocity) {
        finite(format_args!("state of agent {id}"), *number)?;
    }
    coordinate(format_args!("x of agent {id}"), pose[0])?;
    coordinate(format_args!("y of agent {id}"), pose[1])?;
    parameters.check(id)?;
    let mut row = Row::new(id, pose, parameters);
    [row.vx, row.vy] = velocity;
    Ok(pool.push(row))
}

fn advance(pool: &mut Pool, dt: f64) {
    for row in 0..pool.len() {
        pool.x[row] += pool.vx[row] * dt;
        pool.y[row] += pool.vy[row] * dt;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(text: &str) -> String {
        RunFile::parse(text).map(|_| ()).expect_err("refused").to_string()
    }

    #[test]
    fn what_is_no_recorded_run_is_refused_with_what_was_found() {
        assert_eq!(refused("{}"), "format: expected crowd-reference/1, found nothing");
        let kind = refused(r#"{"format": "crowd-reference/1", "kind": "streams"}"#);
        assert_eq!(kind, "kind: expected run, planner or collision, found streams");
        let line = refused(
            "{\"format\": \"crowd-reference/1\",\n\"kind\": \"collision\",\n\"scene\": {\"dt\": \"x\"}}",
        );
        assert!(line.contains("line 3") && line.contains("f64"), "{line}");
    }

    #[test]
    fn a_scene_that_makes_no_sense_is_refused_when_it_is_run() {
        let scene = r#"{"format": "crowd-reference/1", "kind": "collision", "scene": {"dt": 0.05, "steps": 1, "margin": 0.01,
            "rows": [{"id": 1, "pose": [0, 0, 0], "velocity": [0, 0], "radius": -1, "movable": true}]}}"#;
        let error = RunFile::parse(scene).expect("reads").run(RunOptions::default()).expect_err("refused");
        assert_eq!(error.to_string(), "radius of agent 1: expected a number above 0 and up to 100, found -1");
    }
}
