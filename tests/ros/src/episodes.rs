//! The episode services and latched records of an environment.

use anyhow::{Context as _, Result};
use futures::FutureExt as _;
use r2r::QosProfile;
use r2r::rcl_interfaces::msg::{Parameter, ParameterValue};
use r2r::task_generator_msgs::msg::EpisodeRecord;
use r2r::task_generator_msgs::srv::{QueueEpisode, ResetEpisode};

use crate::{Environment, Mailbox, Stage};

/// Values of `EpisodeRecord.outcome_state`.
pub mod outcome {
    /// Staged.
    pub const QUEUED: u8 = 0;
    /// Under way.
    pub const RUNNING: u8 = 1;
    /// Reset before it ended.
    pub const SKIPPED: u8 = 4;
}

/// Says that a seed is to be derived.
pub const DERIVE: i64 = -1;

/// See the module.
pub struct Episodes {
    /// What came on `state/episode`.
    pub running: Mailbox<EpisodeRecord>,
    /// What came on `state/queue`.
    pub queued: Mailbox<EpisodeRecord>,
    queue: r2r::Client<QueueEpisode::Service>,
    reset: r2r::Client<ResetEpisode::Service>,
}

/// A request of `queue_episode` that changes nothing.
#[must_use]
pub fn nothing() -> QueueEpisode::Request {
    QueueEpisode::Request { keep_modules: true, ..QueueEpisode::Request::default() }
}

/// A parameter with a text.
#[must_use]
pub fn text(name: &str, value: &str) -> Parameter {
    let value = ParameterValue { type_: 4, string_value: value.to_owned(), ..ParameterValue::default() };
    Parameter { name: name.to_owned(), value }
}

/// A parameter with an integer.
#[must_use]
pub fn integer(name: &str, value: i64) -> Parameter {
    let value = ParameterValue { type_: 2, integer_value: value, ..ParameterValue::default() };
    Parameter { name: name.to_owned(), value }
}

impl Episodes {
    /// Waits until the services are there.
    ///
    /// # Errors
    /// When they do not appear.
    pub fn open(stage: &mut Stage, environment: &Environment) -> Result<Self> {
        let topic = |name: &str| environment.topic(&format!("task_generator/{name}"));
        let latched = || QosProfile::default().keep_last(1).transient_local();
        let services = QosProfile::services_default;
        let running = stage.subscribe(&topic("state/episode"), latched())?;
        let queued = stage.subscribe(&topic("state/queue"), latched())?;
        let queue = stage.node.create_client(&topic("queue_episode"), services())?;
        let reset = stage.node.create_client(&topic("reset_episode"), services())?;
        for available in [r2r::Node::is_available(&queue)?.boxed(), r2r::Node::is_available(&reset)?.boxed()]
        {
            stage.wait("episode services", available).with_context(|| environment.process.log())??;
        }
        Ok(Self { running, queued, queue, reset })
    }

    /// Calls `queue_episode`; the answer is the error, empty = success.
    ///
    /// # Errors
    /// When there is no answer, or one that says success and an error.
    pub fn queue(&self, stage: &mut Stage, request: &QueueEpisode::Request) -> Result<String> {
        let answer = self.queue.request(request)?;
        let answer = stage.wait("answer of queue_episode", answer)??;
        anyhow::ensure!(answer.success == answer.error_msg.is_empty(), "{answer:?}");
        Ok(answer.error_msg)
    }

    /// Sends a request of `reset_episode`; the future is the error, empty = success.
    ///
    /// # Errors
    /// When ROS cannot send.
    pub fn ask_reset(&self, world: &str, seed: i64) -> Result<impl Future<Output = Result<String>> + use<>> {
        let answer = self.reset.request(&ResetEpisode::Request { world: world.to_owned(), seed })?;
        Ok(answer.map(|answer| Ok(answer?.error_msg)))
    }

    /// Calls `reset_episode`; the answer is the error, empty = success.
    ///
    /// # Errors
    /// When there is no answer.
    pub fn reset(&self, stage: &mut Stage, world: &str, seed: i64) -> Result<String> {
        let answer = self.ask_reset(world, seed)?;
        stage.wait("answer of reset_episode", answer)?
    }

    /// Turns until the record of episode `id` arrives in this state.
    ///
    /// # Errors
    /// When it does not.
    pub fn record(&self, stage: &mut Stage, id: u32, state: u8) -> Result<EpisodeRecord> {
        let look = || self.running.find(|record| (record.episode_id, record.outcome_state) == (id, state));
        stage.until_some(&format!("record of episode {id} in state {state}"), look)
    }
}
