//! What an environment listens to: `human/stream`, `human/move`, and the episode services below the task generator.
//!
//! Callbacks only put owned messages into the inbox of the world; they never block and never decide.

use anyhow::{Context as _, Result};
use arena_people_msgs::msg::rmw::Pedestrians;
use arena_people_msgs::srv::rmw::{
    MovePedestrians, MovePedestriansRequest as MoveRequest, MovePedestriansResponse as MoveResponse,
};
use futures::channel::oneshot;
use promenade_human::MoveResult;
use promenade_human::message::Pose;
use rclrs::{IntoPrimitiveOptions, Node, Service, Subscription};
use task_generator_msgs::srv::rmw::{
    QueueEpisode, QueueEpisodeRequest, QueueEpisodeResponse, ResetEpisode, ResetEpisodeRequest,
    ResetEpisodeResponse,
};

use super::Ingress;
use super::episodes::queue_request;
use super::inbox::Teller;
use crate::bus::pose_from_wire;

/// Why a request got no answer from the world.
const BUSY: &str = "the node is stopping, or too many requests are waiting; nothing was changed";

/// The subscriptions and services; they live as long as the environment runs.
pub(crate) struct Ports {
    _stream: Subscription<Pedestrians>,
    _move: Service<MovePedestrians>,
    _queue: Service<QueueEpisode>,
    _reset: Service<ResetEpisode>,
}

impl Ports {
    /// Opens everything below the namespace of `node`; the episode services below `task_generator`.
    pub(crate) fn open(node: &Node, task_generator: &str, world: &Teller) -> Result<Self> {
        let teller = world.clone();
        let stream = node.create_subscription::<Pedestrians, _>(
            "human/stream".keep_last(1).reliable().volatile(),
            move |batch: Box<Pedestrians>| teller.tell(Ingress::Stream(batch)),
        )?;
        let teller = world.clone();
        let moves =
            node.create_async_service::<MovePedestrians, _>("human/move", move |request: MoveRequest| {
                let items: Vec<(String, Pose)> = request
                    .pedestrians
                    .iter()
                    .map(|ped| (ped.name.to_string(), pose_from_wire(&ped.pose)))
                    .collect();
                let count = items.len();
                let (answer, answered) = oneshot::channel();
                teller.tell(Ingress::Move(items, answer));
                async move {
                    // A message without room, or a node that stops, drops the sender: nobody was moved.
                    let results = answered.await.unwrap_or_else(|_| vec![MoveResult::NotFound; count]);
                    MoveResponse { results: results.into_iter().map(|result| result as u8).collect() }
                }
            })?;
        let name = |service: &str| format!("{}/{service}", task_generator.trim_end_matches('/'));
        let context =
            || format!("parameter task_generator: {task_generator:?} is no name such as task_generator");
        let teller = world.clone();
        let queue = node
            .create_async_service::<QueueEpisode, _>(
                name("queue_episode").as_str(),
                move |request: QueueEpisodeRequest| {
                    let (answer, answered) = oneshot::channel();
                    let malformed = match queue_request(&request) {
                        Ok(request) => {
                            teller.tell(Ingress::Queue(Box::new(request), answer));
                            None
                        }
                        Err(error) => Some(error),
                    };
                    async move {
                        let error = match malformed {
                            Some(error) => error,
                            None => error_of(answered.await),
                        };
                        QueueEpisodeResponse { success: error.is_empty(), error_msg: error.as_str().into() }
                    }
                },
            )
            .with_context(context)?;
        let teller = world.clone();
        let reset = node
            .create_async_service::<ResetEpisode, _>(
                name("reset_episode").as_str(),
                move |request: ResetEpisodeRequest| {
                    let (answer, answered) = oneshot::channel();
                    teller.tell(Ingress::Reset {
                        world: request.world.to_string(),
                        seed: request.seed,
                        answer,
                    });
                    async move {
                        let error = error_of(answered.await);
                        ResetEpisodeResponse { success: error.is_empty(), error_msg: error.as_str().into() }
                    }
                },
            )
            .with_context(context)?;
        Ok(Ports { _stream: stream, _move: moves, _queue: queue, _reset: reset })
    }
}

/// The error to answer; empty = none.
fn error_of(answered: Result<Result<(), String>, oneshot::Canceled>) -> String {
    match answered {
        Ok(Ok(())) => String::new(),
        Ok(Err(error)) => error,
        Err(oneshot::Canceled) => BUSY.to_owned(),
    }
}
