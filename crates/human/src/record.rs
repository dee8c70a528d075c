//! What is queued and what runs: episode plans and records (human-layer specification, sections 2.3 and 20).
//!
//! Plain values with the merge rule of `queue_episode`; [`crate::Environment`] acts on them.

use promenade_kernel::Time;

use crate::parameter::{Parameter, upsert};

/// What an episode is made of, apart from its seed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EpisodePlan {
    /// World by name or path; empty = that of the scenario, else none.
    pub world: String,
    /// Robot mode of the task generator; carried only.
    pub tm_robots: String,
    /// Obstacle mode of the task generator; carried only.
    pub tm_obstacles: String,
    /// Modules of the task generator; carried only.
    pub tm_modules: Vec<String>,
    /// Parameters of the obstacle mode; `scenario.file` names the scenario.
    pub obstacles_params: Vec<Parameter>,
    /// Parameters of the robot mode; carried only.
    pub robots_params: Vec<Parameter>,
    /// Parameters of the human backend, under their full names.
    pub human_params: Vec<Parameter>,
}

/// A request of `queue_episode`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct QueueRequest {
    /// What to do with the queued plan; 0 = merge, and nothing else exists.
    pub action: u8,
    /// The changes.
    pub plan: EpisodePlan,
    /// Keep the queued modules whatever `plan` says.
    pub keep_modules: bool,
}

/// [`QueueRequest::action`]: change what is queued.
pub const MERGE: u8 = 0;

impl EpisodePlan {
    /// How many parameters there are.
    pub(crate) fn params(&self) -> usize {
        self.obstacles_params.len() + self.robots_params.len() + self.human_params.len()
    }

    /// Empty texts keep the queued value, parameters are set key by key, modules are replaced unless kept.
    pub(crate) fn merge(&mut self, request: &QueueRequest) {
        let QueueRequest { plan, keep_modules, .. } = request;
        for (own, new) in [
            (&mut self.world, &plan.world),
            (&mut self.tm_robots, &plan.tm_robots),
            (&mut self.tm_obstacles, &plan.tm_obstacles),
        ] {
            if !new.is_empty() {
                own.clone_from(new);
            }
        }
        if !keep_modules {
            self.tm_modules.clone_from(&plan.tm_modules);
        }
        upsert(&mut self.obstacles_params, &plan.obstacles_params);
        upsert(&mut self.robots_params, &plan.robots_params);
        upsert(&mut self.human_params, &plan.human_params);
    }
}

/// How far an episode is; the numbers are those of `task_generator_msgs/EpisodeRecord`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Outcome {
    /// Staged.
    Queued = 0,
    /// Under way.
    Running = 1,
    /// Ended well: every robot did its task.
    Success = 2,
    /// Ended badly.
    Failed = 3,
    /// Reset before it ended.
    Skipped = 4,
    /// Could not go on.
    Fatal = 5,
}

/// `task_generator_msgs/EpisodeRecord`, without the figures of a robot's drive.
#[derive(Clone, Debug, PartialEq)]
pub struct EpisodeRecord {
    /// Counts up from 0.
    pub episode_id: u32,
    /// Plan. In a running record `human_params` are those that the backend accepted, in a queued one those that are staged.
    pub plan: EpisodePlan,
    /// Seed; -1 in a queued record whose seed is to be derived.
    pub seed: i64,
    /// Names of the robots.
    pub robots: Vec<String>,
    /// How far it is.
    pub outcome: Outcome,
    /// A sentence about the outcome.
    pub outcome_info: String,
    /// When it began, node clock.
    pub start_time: Time,
    /// Everything that the scenario asks for is there, on both sides.
    pub integrity: bool,
    /// The scenario's conditions as a JSON list.
    pub conditions: String,
    /// The robots' phases as a JSON list of lists.
    pub phases: String,
}

impl EpisodeRecord {
    /// An episode that has not begun.
    pub(crate) fn queued(episode_id: u32, seed: i64, plan: EpisodePlan) -> Self {
        EpisodeRecord {
            episode_id,
            plan,
            seed,
            robots: Vec::new(),
            outcome: Outcome::Queued,
            outcome_info: String::new(),
            start_time: Time::ZERO,
            integrity: false,
            conditions: String::new(),
            phases: String::new(),
        }
    }
}

/// The latched topics below the task generator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum RecordTopic {
    /// `state/episode`.
    Episode,
    /// `state/queue`.
    Queue,
}
