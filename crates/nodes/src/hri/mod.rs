//! The `hri_producer` node: the people of `arena_peds` as ROS4HRI topics, frames and markers.
//!
//! One worker owns everything; a message of the bus is projected in one pass. The bus is read only while somebody
//! listens to something under `humans/`. The node must never publish anything about people that is not on the bus.

mod body;
mod face;
mod frames;
mod markers;
mod model;
mod outlet;
mod parameters;
mod projection;
mod publishers;
mod roster;
mod settings;
mod social;
mod topics;

use std::sync::{Arc, Weak};
use std::time::Duration;

use anyhow::Result;
use arena_people_msgs::msg::rmw::Pedestrians;
use rclrs::{
    IntoPrimitiveOptions, Node, QoSProfile, QoSReliabilityPolicy, Worker, WorkerState, WorkerSubscription,
};

use self::projection::Projection;
use self::settings::GlobalAlias;
use self::topics::Topics;
use crate::ros::Running;

/// How often listeners are looked up.
const WATCH: Duration = Duration::from_millis(500);
/// Looks between two repetitions of the lists: one second.
const LOOKS_PER_REPEAT: u64 = 2;
/// Looks between two counts of the other producers: five seconds. The first count leaves time for discovery.
const LOOKS_PER_COUNT: u64 = 10;
const FIRST_COUNT: u64 = 4;

/// Runs the node until it is asked to stop.
///
/// # Errors
/// A parameter of the wrong type or with an unknown or unsupported value, or a failure of ROS.
pub fn run() -> Result<()> {
    let ros = Running::start("hri_producer")?;
    let settings = parameters::read(&ros)?;
    let node = ros.node.clone();
    let producer = Producer {
        alias: settings.global_alias,
        projection: Projection::new(&node.namespace(), settings),
        topics: Topics::open(&node)?,
        bus: None,
        writers: 0,
        looks: 0,
        node: node.clone(),
    };
    let worker: Worker<Producer> = node.create_worker(producer);
    let weak = Arc::downgrade(&worker);
    let _watch = worker.create_timer_repeating(WATCH, move |producer: &mut Producer| producer.look(&weak))?;
    ros.spin()
}

/// What the worker owns.
struct Producer {
    projection: Projection,
    topics: Topics,
    /// The bus, while somebody listens.
    bus: Option<WorkerSubscription<Pedestrians, Producer>>,
    /// Writers of the bus when it was opened.
    writers: usize,
    alias: GlobalAlias,
    looks: u64,
    node: Node,
}

impl Producer {
    /// Looks up who listens, and starts or stops reading the bus.
    fn look(&mut self, worker: &Weak<WorkerState<Producer>>) {
        if self.looks % LOOKS_PER_COUNT == FIRST_COUNT {
            self.decide_alias();
        }
        let listened = self.topics.refresh() || self.topics.is_awaited();
        if !listened {
            if self.bus.take().is_some() {
                self.projection.pause();
            }
        } else if self.bus.is_none() || self.count_writers() != self.writers {
            self.open_bus(worker);
        }
        if self.bus.is_some() && self.looks.is_multiple_of(LOOKS_PER_REPEAT) {
            self.projection.repeat_lists(&mut self.topics);
        }
        self.looks += 1;
    }

    fn count_writers(&self) -> usize {
        let topic = self.bus.as_ref().map(|bus| bus.topic_name()).unwrap_or_default();
        // A topic that cannot be looked up keeps the subscription that it has.
        self.node.count_publishers(&topic).unwrap_or(self.writers)
    }

    /// Reads the bus as reliably as it is written. A best-effort reader matches every writer, but the message of some
    /// hundred people is sent in so many fragments that it hardly ever arrives whole. The middleware chooses when the
    /// subscription is made, so it is made anew when writers come or go.
    fn open_bus(&mut self, worker: &Weak<WorkerState<Producer>>) {
        let Some(worker) = worker.upgrade() else { return };
        let quality = QoSProfile {
            reliability: QoSReliabilityPolicy::BestAvailable,
            ..QoSProfile::topics_default().volatile().keep_last(10)
        };
        let opened = worker.create_subscription::<Pedestrians, _>(
            "arena_peds".qos(quality),
            |producer: &mut Producer, message: Pedestrians| {
                producer.projection.step(&message, &mut producer.topics);
            },
        );
        match opened {
            Ok(bus) => self.bus = Some(bus),
            Err(error) => tracing::error!("arena_peds: {error}"),
        }
        self.writers = self.count_writers();
    }

    /// Opens or closes the topics under `/humans`.
    fn decide_alias(&mut self) {
        let wanted = match self.alias {
            // The node's own topics are there already.
            _ if self.node.namespace() == "/" => false,
            GlobalAlias::On => true,
            GlobalAlias::Off => false,
            GlobalAlias::Auto => {
                let name = self.node.name();
                let names = self.node.get_node_names();
                names.is_ok_and(|names| names.iter().filter(|node| node.name == name).count() <= 1)
            }
        };
        if wanted == self.topics.has_alias() {
            return;
        }
        if !wanted {
            self.topics.close_alias();
            return;
        }
        match self.topics.open_alias() {
            Ok(alias) => self.projection.replay(alias),
            Err(error) => tracing::error!("/humans: {error}"),
        }
    }
}
