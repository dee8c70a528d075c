//! The `human_simulator` node: the people of one environment, or of several.
//!
//! ROS callbacks only put owned messages into a bounded queue; one thread per environment owns its world and takes them out
//! in order. What finds no room is dropped, and a move is then answered with NOT_FOUND; no callback ever blocks.
//! Environments of one process share the executor and the clock, and nothing else.

mod engine;
pub(crate) mod episodes;
mod hunav;
mod inbox;
mod lockstep;
mod outbox;
mod ports;
mod service_sim;
pub(crate) mod settings;
mod world;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anyhow::{Context as _, Result};
use arena_people_msgs::msg::rmw::Pedestrians;
use futures::channel::oneshot;
use promenade_human::backends::arena::EngineLink;
use promenade_human::backends::hunav::HunavLink;
use promenade_human::message::Pose;
use promenade_human::{
    BackendContext, DummySim, Environment, HumanLayer, MoveResult, QueueRequest, Registry, Sim,
};
use promenade_kernel::Time;
use rclrs::Node;

use crate::ros::Running;
use crate::tf::TfListener;
use engine::RosEngine;
use inbox::{Inbox, Teller, inbox};
use ports::Ports;
use service_sim::ServiceSim;
use settings::{Place, Settings};

/// What a world is told.
pub(crate) enum Ingress {
    /// The node clock.
    Clock(Time),
    /// A batch of `human/stream`.
    Stream(Box<Pedestrians>),
    /// A request of `human/move` and where the answer goes.
    Move(Vec<(String, Pose)>, oneshot::Sender<Vec<MoveResult>>),
    /// A request of `queue_episode`; the answer is an error or nothing.
    Queue(Box<QueueRequest>, oneshot::Sender<Result<(), String>>),
    /// A request of `reset_episode`.
    Reset {
        /// World; empty = as queued.
        world: String,
        /// Seed; -1 = derive one.
        seed: i64,
        /// An error or nothing.
        answer: oneshot::Sender<Result<(), String>>,
    },
    /// The engine said something.
    Engine,
    /// The node was asked to stop.
    Stop,
}

/// The backends that have an engine.
const ARENA: &str = "arena";
const HUNAV: &str = "hunav";

/// Runs the node until it is asked to stop.
///
/// # Errors
/// A parameter of the wrong type, an unknown backend, a scenario with errors, or a failure of ROS.
pub fn run() -> Result<()> {
    let ros = Running::start("human_simulator")?;
    let (settings, places) = settings::read(&ros)?;
    let is_one_of_many = places.len() > 1;
    let end = End::default();
    let mut stages = Vec::new();
    let mut ports = Vec::new();
    for place in places {
        let node = match &place.namespace {
            Some(namespace) => ros.node_in("human_simulator", namespace)?,
            None => ros.node.clone(),
        };
        let (teller, inbox) = inbox();
        ports.push(Ports::open(&node, &settings.task_generator, &teller)?);
        end.add(teller.clone());
        let (settings, end) = (settings.clone(), end.clone());
        stages.push(Stage { settings, place, node, inbox, world: teller, end });
    }
    let tellers = end.tellers();
    let _clock = ros.clock(move |now| tellers.iter().for_each(|teller| teller.tell(Ingress::Clock(now))))?;
    ros.spin_beside(
        move || end.come(),
        || {
            std::thread::scope(|scope| {
                let mut threads = Vec::new();
                for stage in stages {
                    let label = stage.place.label.clone();
                    let thread = std::thread::Builder::new()
                        .name(label.clone())
                        .spawn_scoped(scope, move || stage.run())
                        .context("cannot start a thread")?;
                    threads.push((label, thread));
                }
                let mut result = Ok(());
                for (label, thread) in threads {
                    let ended = thread.join().unwrap_or_else(|_| Err(anyhow::anyhow!("its thread panicked")));
                    let named = if is_one_of_many { ended.context(label) } else { ended };
                    result = result.and(named);
                }
                result
            })
        },
    )
}

/// The end of all environments: one that ends ends the others, too.
#[derive(Clone, Default)]
struct End {
    /// Set when nothing should wait any more.
    has_come: Arc<AtomicBool>,
    tellers: Arc<std::sync::Mutex<Vec<Teller>>>,
}

impl End {
    fn tellers(&self) -> Vec<Teller> {
        self.tellers.lock().unwrap_or_else(std::sync::PoisonError::into_inner).clone()
    }

    fn add(&self, teller: Teller) {
        self.tellers.lock().unwrap_or_else(std::sync::PoisonError::into_inner).push(teller);
    }

    fn come(&self) {
        self.has_come.store(true, Ordering::Relaxed);
        self.tellers().iter().for_each(Teller::stop);
    }
}

/// What the thread of one environment starts with. The layer itself stays on that thread.
struct Stage {
    settings: Settings,
    place: Place,
    node: Node,
    inbox: Inbox,
    /// The other end of the inbox.
    world: Teller,
    end: End,
}

impl Drop for Stage {
    fn drop(&mut self) {
        self.end.come();
    }
}

impl Stage {
    fn run(self) -> Result<()> {
        crate::log::use_on_this_thread(self.node.logger().clone());
        let Settings { human, seed, .. } = &self.settings;
        let request = &self.place.request;
        let context = BackendContext {
            seed: *seed,
            prefix: request.prefix.clone(),
            offset: request.offset,
            engine: self.engine()?,
            hunav: self.hunav()?,
            hunav_settings: self.settings.hunav.clone(),
            ..BackendContext::default()
        };
        let backend = Registry::builtin().create(human, context)?;
        let outbox = outbox::RosOutbox::new(&self.node, &self.settings.task_generator)?;
        let mut layer = HumanLayer::new(backend, self.sim()?, Box::new(outbox))
            .with_transforms(Box::new(TfListener::open(&self.node)?))
            .with_robots_visible(self.settings.robots_visible);
        layer.set_motions(self.settings.profiles.clone(), self.settings.clips.clone());
        let environment = Environment::new(layer, self.place.request.clone(), self.settings.plan.clone())?
            .with_lingering(self.settings.lingers);
        for problem in environment.episode().report.iter() {
            tracing::info!("{problem}");
        }
        let _registering = lockstep::register(&self.node, &environment.layer().lockstep_channels());
        world::run(environment, *seed, &self.inbox)
    }

    /// The way to the engine, for the backend that has one.
    fn engine(&self) -> Result<Option<Box<dyn EngineLink>>> {
        let Settings { human, task_generator, engine_timeout, .. } = &self.settings;
        if human != ARENA {
            return Ok(None);
        }
        let engine = RosEngine::open(
            &self.node,
            task_generator,
            self.place.request.offset,
            Duration::from_secs_f64(*engine_timeout),
            Arc::clone(&self.end.has_come),
            self.world.clone(),
        )?;
        Ok(Some(Box::new(engine)))
    }

    /// The way to the HuNav engine, for the backend that has one.
    fn hunav(&self) -> Result<Option<Box<dyn HunavLink>>> {
        let Settings { human, task_generator, hunav, .. } = &self.settings;
        if human != HUNAV {
            return Ok(None);
        }
        hunav::open(&self.node, task_generator, hunav, Arc::clone(&self.end.has_come)).map(Some)
    }

    fn sim(&self) -> Result<Box<dyn Sim>> {
        let Settings { has_sim, sim_ns, sim_timeout, .. } = &self.settings;
        if !has_sim {
            return Ok(Box::new(DummySim));
        }
        let stop = Arc::clone(&self.end.has_come);
        Ok(Box::new(ServiceSim::new(&self.node, sim_ns, *sim_timeout, stop)?))
    }
}
