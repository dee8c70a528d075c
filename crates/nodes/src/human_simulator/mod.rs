//! The `human_simulator` node: the people of one environment.
//!
//! ROS callbacks only put owned messages into a bounded queue; one thread owns the layer and takes them out in order.
//! A full queue drops stream batches (the stream keeps the last anyway) and answers a move with NOT_FOUND; it never
//! blocks a callback.

mod outbox;
mod world;

use std::sync::mpsc::{SyncSender, sync_channel};

use anyhow::Result;
use arena_people_msgs::msg::rmw::Pedestrians;
use arena_people_msgs::srv::rmw::{
    MovePedestrians, MovePedestriansRequest as MoveRequest, MovePedestriansResponse as MoveResponse,
};
use futures::channel::oneshot;
use promenade_human::episode::{EpisodeRequest, asset_cache, world_roots};
use promenade_human::message::Pose;
use promenade_human::{
    BackendContext, DummySim, Environment, EpisodePlan, HumanLayer, MoveResult, Registry,
};
use promenade_kernel::Time;
use rclrs::{IntoPrimitiveOptions, Node, Service, Subscription};

use crate::bus::pose_from_wire;
use crate::ros::Running;

/// Messages that may wait for the world thread. At 100 Hz of clock and 20 Hz of stream this is about half a second.
const QUEUE: usize = 64;

/// What the world thread is told.
pub(crate) enum Ingress {
    /// The node clock.
    Clock(Time),
    /// A batch of `human/stream`.
    Stream(Box<Pedestrians>),
    /// A request of `human/move` and where the answer goes.
    Move(Vec<(String, Pose)>, oneshot::Sender<Vec<MoveResult>>),
    /// The node was asked to stop.
    Stop,
}

/// Runs the node until it is asked to stop.
///
/// # Errors
/// A parameter of the wrong type, an unknown backend, a scenario with errors, or a failure of ROS.
pub fn run() -> Result<()> {
    let ros = Running::start("human_simulator")?;
    let human = ros.text("human", "dummy", "human backend")?;
    let env_id = ros.parameter("env_id", 0_i64, "number of the environment")?;
    let seed = ros.parameter("seed", 0_i64, "seed of the episode")?.cast_unsigned();
    let prefix = ros.text("prefix", &format!("env_{env_id}"), "prefix of sim paths")?;
    let request = EpisodeRequest {
        scenario: ros.text("scenario", "", "scenario file, folder, or world/scenario")?,
        world: ros.text("world", "", "world of a scenario that lies in none")?,
        roots: world_roots(crate::ros::share_dir().as_deref()),
        seed,
        tf_namespace: ros.text("tf_namespace", &prefix, "prefix of the frames of robots")?,
        prefix,
        asset_cache: asset_cache(),
        ..EpisodeRequest::default()
    };
    let backend = Registry::builtin().create(&human, &BackendContext { seed, now: Time::ZERO })?;
    let outbox = outbox::RosOutbox::new(&ros.node)?;
    let layer = HumanLayer::new(backend, Box::new(DummySim), Box::new(outbox));
    let environment = Environment::new(layer, request, EpisodePlan::default())?;
    for problem in environment.episode().report.iter() {
        tracing::info!("{problem}");
    }

    let (tell, told) = sync_channel(QUEUE);
    let to_world = tell.clone();
    // A reading that finds the queue full is made up for by the next one.
    let _clock = ros.clock(move |now| drop(to_world.try_send(Ingress::Clock(now))))?;
    let _ports = Ports::open(&ros.node, &tell)?;
    let stop = tell.clone();
    drop(tell);
    // A full queue still takes the stop: this runs on the thread of the signal handler, which may wait.
    let on_signal = move || drop(stop.send(Ingress::Stop));
    ros.spin_beside(on_signal, || world::World::new(environment, seed).run(&told))
}

/// The subscriptions and services; they live as long as the node runs.
struct Ports {
    _stream: Subscription<Pedestrians>,
    _move: Service<MovePedestrians>,
}

impl Ports {
    fn open(node: &Node, tell: &SyncSender<Ingress>) -> Result<Self> {
        let to_world = tell.clone();
        let stream = node.create_subscription::<Pedestrians, _>(
            "human/stream".keep_last(1).reliable().volatile(),
            move |batch: Box<Pedestrians>| drop(to_world.try_send(Ingress::Stream(batch))),
        )?;
        let to_world = tell.clone();
        let service =
            node.create_async_service::<MovePedestrians, _>("human/move", move |request: MoveRequest| {
                let items: Vec<(String, Pose)> = request
                    .pedestrians
                    .iter()
                    .map(|ped| (ped.name.to_string(), pose_from_wire(&ped.pose)))
                    .collect();
                let count = items.len();
                let (answer, answered) = oneshot::channel();
                drop(to_world.try_send(Ingress::Move(items, answer)));
                async move {
                    // A full queue or a node that stops drops the sender: nobody was moved.
                    let results = answered.await.unwrap_or_else(|_| vec![MoveResult::NotFound; count]);
                    MoveResponse { results: results.into_iter().map(|result| result as u8).collect() }
                }
            })?;
        Ok(Ports { _stream: stream, _move: service })
    }
}
