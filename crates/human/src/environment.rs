//! One environment: a layer and its episodes, one after the other.
//!
//! A scenario is an episode, and a seed makes it the same episode again. A reset that cannot be done changes nothing: the
//! running episode goes on and the caller is told why. Two environments share nothing.

use std::sync::Arc;

use promenade_kernel::{KeyedStreams, Time};
use rand::RngExt;

use crate::episode::{Episode, EpisodeError, EpisodeRequest};
use crate::frames::Ticked;
use crate::known::ObstacleLayer;
use crate::layer::{EVERYBODY, HumanLayer};
use crate::live::{Effect, LiveWorld, RobotTask, TaskEvent};
use crate::parameter::{ParameterError, ParameterValue, check_human_params};
use crate::record::{EpisodePlan, EpisodeRecord, MERGE, Outcome, QueueRequest, RecordTopic};
use crate::robot::Robot;

/// The parameters of the obstacle mode that name the scenario of the next episode.
const SCENARIO_PARAMS: [&str; 2] = ["scenario.file", "task.scenario.file"];

/// Parameters that may be queued; a hostile client must not fill the memory.
const MOST_PARAMS: usize = 10_000;

/// Why nothing was queued or reset.
#[derive(Debug, thiserror::Error)]
pub enum EpisodeLoopError {
    /// An action that `queue_episode` does not have.
    #[error("unknown action {0}; MERGE = {MERGE} is the only one")]
    UnknownAction(u8),
    /// A parameter that no backend can accept.
    #[error(transparent)]
    Parameter(#[from] ParameterError),
    /// A scenario parameter that is not a text.
    #[error("parameter {0:?} must be a text: a scenario file or world/scenario")]
    ScenarioParameter(String),
    /// More parameters than anybody means.
    #[error("more than {MOST_PARAMS} parameters would be queued")]
    TooMuch,
    /// The files of the next episode are not there or have errors.
    #[error("{0}; the running episode goes on")]
    Episode(#[from] EpisodeError),
    /// The world that was asked for is not the one that the scenario lies in.
    #[error(
        "the scenario {scenario:?} runs in its own world, not in {world:?}; queue another {parameter} with that world",
        parameter = SCENARIO_PARAMS[0]
    )]
    OtherWorld {
        /// The scenario.
        scenario: String,
        /// The world asked for.
        world: String,
    },
    /// There was no clock reading yet.
    #[error("there is no clock yet, so there is no episode to reset")]
    NotStarted,
}

/// See the module.
#[derive(Debug)]
pub struct Environment {
    layer: HumanLayer,
    /// Scenario, roots, prefix, offset, and the seed that later seeds derive from.
    request: EpisodeRequest,
    /// What the next reset runs.
    queued: EpisodePlan,
    running: Episode,
    live: LiveWorld,
    robots: Vec<OnTask>,
    record: EpisodeRecord,
    started: bool,
    lingers: bool,
}

/// What a robot of the scenario has to do.
#[derive(Debug)]
struct OnTask {
    task: RobotTask,
    /// Where to go now: x, y and heading in `map`.
    goal: Option<[f64; 3]>,
    /// `None` while it is under way.
    completed: Option<bool>,
}

impl Environment {
    /// An environment whose first episode is `request` with what `plan` says besides; it begins with [`Environment::start`].
    ///
    /// # Errors
    /// A file that is not there or has errors, or a parameter that no backend can accept.
    pub fn new(
        layer: HumanLayer,
        request: EpisodeRequest,
        plan: EpisodePlan,
    ) -> Result<Self, EpisodeLoopError> {
        check_human_params(&plan.human_params, layer.param_namespace())?;
        let queued = EpisodePlan { world: request.world.clone(), ..plan };
        let mut running = Episode::load(&request.with_plan(&queued)?)?;
        let live = running.live(&request);
        let record = EpisodeRecord::queued(0, request.seed.cast_signed(), queued.clone());
        Ok(Environment {
            layer,
            request,
            queued,
            running,
            live,
            robots: Vec::new(),
            record,
            started: false,
            lingers: true,
        })
    }

    /// The environment whose episodes follow one another by themselves once their robots are done, or, as is the default, stay
    /// until somebody resets.
    #[must_use]
    pub fn with_lingering(mut self, lingers: bool) -> Self {
        self.lingers = lingers;
        self
    }

    /// The layer.
    #[must_use]
    pub fn layer(&self) -> &HumanLayer {
        &self.layer
    }

    /// The layer, for a stream or a move.
    pub fn layer_mut(&mut self) -> &mut HumanLayer {
        &mut self.layer
    }

    /// The episode that runs.
    #[must_use]
    pub fn episode(&self) -> &Episode {
        &self.running
    }

    /// The running things of the episode.
    #[must_use]
    pub fn live(&self) -> &LiveWorld {
        &self.live
    }

    /// The record of the episode that runs.
    #[must_use]
    pub fn record(&self) -> &EpisodeRecord {
        &self.record
    }

    /// What the next reset runs.
    #[must_use]
    pub fn queued(&self) -> &EpisodePlan {
        &self.queued
    }

    /// Where the robot of an index in the scenario has to go now: x, y and heading in `map`; `None` = stay.
    #[must_use]
    pub fn goal(&self, robot: usize) -> Option<[f64; 3]> {
        self.robots.get(robot)?.goal
    }

    /// Whether the robot of an index did its task (true) or failed it (false); `None` while it is under way.
    #[must_use]
    pub fn completed(&self, robot: usize) -> Option<bool> {
        self.robots.get(robot)?.completed
    }

    /// Whoever drives a robot cannot go on: its phase ends as its `on_failure` says.
    pub fn fail(&mut self, robot: usize, reason: &str) {
        if let Some(robot) = self.robots.get_mut(robot) {
            robot.task.fail(reason);
        }
    }

    /// Begins the first episode at the time that the layer was told last.
    pub fn start(&mut self) {
        self.started = true;
        self.layer.set_seed(self.request.seed);
        self.layer.set_models(Box::new(Arc::clone(&self.running.models)));
        self.layer.spawn_world(&self.running.walls, &self.running.doors, &[]);
        self.spawn();
        self.begin_record(0, self.request.seed.cast_signed(), self.queued.clone());
    }

    /// Changes what the next reset runs. Nothing is changed when an error is answered.
    ///
    /// # Errors
    /// An unknown action, a parameter that no backend can accept, a scenario or world that is not there or has errors.
    pub fn queue(&mut self, request: &QueueRequest) -> Result<(), EpisodeLoopError> {
        if request.action != MERGE {
            return Err(EpisodeLoopError::UnknownAction(request.action));
        }
        check_human_params(&request.plan.human_params, self.layer.param_namespace())?;
        let mut plan = self.queued.clone();
        plan.merge(request);
        if plan.params() > MOST_PARAMS {
            return Err(EpisodeLoopError::TooMuch);
        }
        // A mistake is told now and not at the reset, when nobody looks.
        if plan.world != self.queued.world || plan.obstacles_params != self.queued.obstacles_params {
            self.load(&plan, self.request.seed, !request.plan.world.is_empty())?;
        }
        self.queued = plan;
        self.publish_queue();
        Ok(())
    }

    /// Ends the episode and begins the queued one. `world` empty = as queued; `seed` -1 = derived from the first seed and the
    /// number of the episode.
    ///
    /// # Errors
    /// As [`Environment::queue`], or before [`Environment::start`]; the running episode then goes on untouched.
    pub fn reset(&mut self, world: &str, seed: i64) -> Result<(), EpisodeLoopError> {
        if !self.started {
            return Err(EpisodeLoopError::NotStarted);
        }
        let mut plan = self.queued.clone();
        if !world.is_empty() {
            world.clone_into(&mut plan.world);
        }
        let id = self.record.episode_id.wrapping_add(1);
        let seed = if seed == -1 { derived_seed(self.request.seed, id) } else { seed };
        let next = self.load(&plan, seed.cast_unsigned(), !world.is_empty())?;
        self.end_record();

        self.layer.before_reset();
        self.layer.set_seed(seed.cast_unsigned());
        self.layer.unuse_obstacles();
        let before = std::mem::replace(&mut self.running, next);
        if before.models.places() != self.running.models.places() {
            self.layer.set_models(Box::new(Arc::clone(&self.running.models)));
        }
        self.live = self.running.live(&self.request);
        let other_world = (&before.walls, &before.doors, &before.world_objects)
            != (&self.running.walls, &self.running.doors, &self.running.world_objects);
        if other_world {
            // Nothing of the old world is of use in the new one, in the engine or in the simulator.
            self.layer.remove_obstacles(ObstacleLayer::World);
            self.layer.spawn_world(&self.running.walls, &self.running.doors, &[]);
        }
        self.layer.remove_all_regions();
        self.remove_robots_of(&before);
        self.spawn();
        self.layer.remove_obstacles(ObstacleLayer::Unused);
        self.layer.after_reset();

        self.queued = plan.clone();
        self.begin_record(id, seed, plan);
        Ok(())
    }

    fn load(
        &self,
        plan: &EpisodePlan,
        seed: u64,
        world_is_asked_for: bool,
    ) -> Result<Episode, EpisodeLoopError> {
        let request = EpisodeRequest { seed, ..self.request.clone() }.with_plan(plan)?;
        let episode = Episode::load(&request)?;
        if world_is_asked_for && !episode.is_in_world(&plan.world) {
            return Err(EpisodeLoopError::OtherWorld {
                scenario: request.scenario,
                world: plan.world.clone(),
            });
        }
        Ok(episode)
    }

    /// Everything of the running episode but its walls, in the order in which each may need what came before.
    fn spawn(&mut self) {
        let (layer, episode) = (&mut self.layer, &self.running);
        // Its layer is the world's, and it is already there unless the world changed: then this is a move to the same place.
        if !episode.world_objects.is_empty() {
            layer.spawn_obstacles(&episode.world_objects, ObstacleLayer::World);
        }
        layer.spawn_obstacles(&episode.objects, ObstacleLayer::InUse);
        layer.setup_regions(&episode.regions);
        let known: Vec<bool> = episode.robots.iter().map(|robot| layer.tracks_robot(&robot.name)).collect();
        let with = |known_now: bool| -> Vec<Robot> {
            let robots = episode.robots.iter().zip(&known).filter(|&(_, &known)| known == known_now);
            robots.map(|(robot, _)| robot.clone()).collect()
        };
        let (to_move, to_spawn) = (with(true), with(false));
        if !to_move.is_empty() {
            layer.move_robots(&to_move);
        }
        if !to_spawn.is_empty() {
            layer.spawn_robots(&to_spawn);
        }
        layer.spawn_pedestrians(&episode.people);
        self.live.start(layer.cx().now());
        let tasks = episode.scenario.robots.iter().map(|robot| RobotTask::new(robot, &self.live));
        self.robots = tasks.map(|task| OnTask { task, goal: None, completed: None }).collect();
    }

    /// Lets the world run to the layer's time: doors, stimuli.
    fn step_world(&mut self) {
        self.layer.tracked_robots();
        let cx = self.layer.cx();
        for effect in self.live.step(cx.now(), cx.occupants()) {
            match effect {
                Effect::DoorClosed(name) => self.layer.set_door(name, false),
                Effect::DoorOpened(name) => self.layer.set_door(name, true),
                Effect::Stimulus { agent: None, name, intensity } => {
                    self.layer.notify_stimulus(EVERYBODY, name, *intensity);
                }
                Effect::Stimulus { agent: Some(agent), name, intensity } => {
                    // Whoever is not on the bus hears nothing.
                    if let Some(id) = self.layer.agent_id(agent) {
                        self.layer.notify_stimulus(id, name, *intensity);
                    }
                }
            }
        }
    }

    /// Robots that the new episode does not have, or has with another model.
    fn remove_robots_of(&mut self, before: &Episode) {
        let stays = |robot: &Robot| {
            self.running.robots.iter().any(|next| next.name == robot.name && next.model == robot.model)
        };
        let gone: Vec<Robot> = before.robots.iter().filter(|robot| !stays(robot)).cloned().collect();
        if !gone.is_empty() {
            self.layer.remove_robots(&gone);
        }
    }

    fn begin_record(&mut self, episode_id: u32, seed: i64, plan: EpisodePlan) {
        let accepted = self.layer.configure(&plan.human_params);
        let world = self.running.world.name.clone();
        self.record = EpisodeRecord {
            episode_id,
            plan: EpisodePlan { world, human_params: accepted, ..plan },
            seed,
            robots: self.running.robots.iter().map(|robot| robot.name.clone()).collect(),
            outcome: Outcome::Running,
            outcome_info: String::new(),
            start_time: self.layer.cx().now(),
            integrity: self.layer.is_complete(&self.running),
            conditions: self.running.conditions_json(),
            phases: self.running.phases_json(),
        };
        self.layer.publish_record(RecordTopic::Episode, &self.record);
        self.publish_queue();
    }

    /// An episode that is reset while it runs was skipped.
    fn end_record(&mut self) {
        if self.record.outcome == Outcome::Running {
            self.end_with(Outcome::Skipped, "reset while it ran");
        }
    }

    /// The episode has come to its end; it stays on the stage until the next reset.
    fn end_with(&mut self, outcome: Outcome, info: &str) {
        self.record.outcome = outcome;
        info.clone_into(&mut self.record.outcome_info);
        self.layer.publish_record(RecordTopic::Episode, &self.record);
    }

    fn publish_queue(&mut self) {
        let id = self.record.episode_id.wrapping_add(1);
        let staged = EpisodeRecord::queued(id, -1, self.queued.clone());
        self.layer.publish_record(RecordTopic::Queue, &staged);
    }

    /// Lets the tasks of the robots go on, and ends the episode with the last of them.
    fn step_tasks(&mut self) {
        let now = self.layer.cx().now();
        let mut aborted = None;
        let tracked = self.layer.cx().robots();
        for (robot, entry) in self.robots.iter_mut().zip(&self.running.robots) {
            // One that the simulator refused is nowhere and has nothing to do.
            let Some(seen) = tracked.iter().find(|seen| seen.robot.name == entry.name) else { continue };
            let [x, y, _] = seen.pose.position;
            robot.goal = robot.task.step(now, [x, y, seen.pose.yaw()], &self.live);
            for event in robot.task.events() {
                let name = &entry.name;
                match event {
                    TaskEvent::PhaseStarted { phase, text } => {
                        tracing::info!(
                            "robot {name:?} phase {phase}: {}",
                            text.as_deref().unwrap_or("begins")
                        );
                    }
                    TaskEvent::PhaseMet { phase } => tracing::info!("robot {name:?} phase {phase}: met"),
                    TaskEvent::PhaseFailed { phase, reason } => {
                        tracing::warn!("robot {name:?} phase {phase}: failed, {reason}");
                    }
                    TaskEvent::TaskDone { completed } => robot.completed = Some(*completed),
                    TaskEvent::AbortEpisode { phase } => {
                        aborted = Some(format!("robot {name:?} failed phase {phase}"));
                    }
                }
            }
        }
        if self.record.outcome != Outcome::Running {
            return;
        }
        if let Some(info) = aborted {
            self.end_with(Outcome::Failed, &info);
        } else if self.has_tasks() && self.robots.iter().all(|robot| robot.completed.is_some()) {
            match self.robots.iter().filter(|robot| robot.completed == Some(false)).count() {
                0 => self.end_with(Outcome::Success, "every robot did its task"),
                failed => {
                    let info = format!("{failed} of {} robots failed their tasks", self.robots.len());
                    self.end_with(Outcome::Failed, &info);
                }
            }
        }
    }

    /// Without any phase an episode goes on until somebody resets it.
    fn has_tasks(&self) -> bool {
        self.running.scenario.robots.iter().any(|robot| !robot.phases.is_empty())
    }

    fn has_ended(&self) -> bool {
        matches!(self.record.outcome, Outcome::Success | Outcome::Failed)
    }
}

impl Ticked for Environment {
    fn rate_hz(&self) -> f64 {
        self.layer.rate_hz()
    }

    fn set_now(&mut self, now: Time) {
        self.layer.set_now(now);
    }

    fn set_back(&mut self, now: Time) {
        self.layer.set_back(now);
    }

    fn tick(&mut self) {
        if self.has_ended()
            && !self.lingers
            && let Err(error) = self.reset("", -1)
        {
            tracing::error!("no next episode: {error}");
            self.lingers = true;
        }
        self.step_world();
        self.step_tasks();
        self.layer.tick();
    }
}

impl EpisodeRequest {
    /// The request with the world and the scenario that a plan names instead.
    ///
    /// # Errors
    /// A scenario parameter that is not a text.
    pub fn with_plan(&self, plan: &EpisodePlan) -> Result<Self, EpisodeLoopError> {
        let mut request = EpisodeRequest { world: plan.world.clone(), ..self.clone() };
        let file = plan.obstacles_params.iter().rev().find(|p| SCENARIO_PARAMS.contains(&p.name.as_str()));
        match file.map(|param| (&param.value, &param.name)) {
            None => {}
            Some((ParameterValue::Text(file), _)) => request.scenario.clone_from(file),
            Some((_, name)) => return Err(EpisodeLoopError::ScenarioParameter(name.clone())),
        }
        Ok(request)
    }
}

/// The seed of episode `id` of a run: never negative, so that it is never taken for "derive one".
fn derived_seed(run: u64, id: u32) -> i64 {
    let draw: u64 = KeyedStreams::new(run).fresh(&["episode".into(), i64::from(id).into()]).random();
    (draw >> 1).cast_signed()
}
