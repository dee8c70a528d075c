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
mod projection;
mod publishers;
mod roster;
mod settings;
mod social;
mod topics;

use std::sync::{Arc, Weak};
use std::time::Duration;

use anyhow::{Result, bail};
use arena_people_msgs::msg::rmw::Pedestrians;
use promenade_gait::rig::Rig;
use rclrs::{IntoPrimitiveOptions, Node, Worker, WorkerState, WorkerSubscription};

use self::projection::Projection;
use self::settings::{GlobalAlias, IdStyle, MarkerStyle, Settings, choice, refuse};
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
    let settings = settings(&ros)?;
    let node = ros.node.clone();
    let producer = Producer {
        alias: settings.global_alias,
        projection: Projection::new(&node.namespace(), settings),
        topics: Topics::open(&node)?,
        bus: None,
        looks: 0,
        node: node.clone(),
    };
    let worker: Worker<Producer> = node.create_worker(producer);
    let weak = Arc::downgrade(&worker);
    let _watch = worker.create_timer_repeating(WATCH, move |producer: &mut Producer| producer.look(&weak))?;
    ros.spin()
}

fn settings(ros: &Running) -> Result<Settings> {
    let max_bodies = ros.parameter("max_bodies", 0_i64, "most bodies at a time, 0 = unlimited")?;
    let height =
        ros.parameter("default_height", 1.65_f64, "body height of a model that does not say, metres")?;
    let fov = ros.parameter("view.fov_deg", 60.0_f64, "field of view of a face, degrees")?;
    let clip_near = ros.parameter("view.clip_near", 0.15_f64, "near clipping distance of a face, metres")?;
    let id_style = ros.text("id_style", "arena", "arena or short5")?;
    let rig = ros.text("rig", "arena", "the rig of all bodies: arena")?;
    let tf_source = ros.text("tf_source", "self", "who sends the frames of bodies: self, rsp or none")?;
    let tf_rate = ros.parameter("tf_rate", 20.0_f64, "most frame messages per second, 0 = every message")?;
    let engagement = ros.text("engagement", "animation", "where engagement comes from: animation")?;
    let marker_style = ros.text("marker_style", "capsules", "capsules, lines or off")?;
    let marker_labels = ros.parameter("marker_labels", true, "whether markers show names")?;
    let global_alias =
        ros.text("global_alias", "auto", "repeat everything under /humans: auto, on or off")?;

    let Some(rig_at_height) = Rig::new(height) else {
        bail!("parameter default_height: {height} is not a height; it is above 0");
    };
    if !(fov > 0.0 && fov < 180.0) {
        bail!("parameter view.fov_deg: {fov} is not between 0 and 180");
    }
    if !(tf_rate >= 0.0 && tf_rate.is_finite()) {
        bail!("parameter tf_rate: {tf_rate} is not a rate; it is 0 or above");
    }
    let Ok(max_bodies) = usize::try_from(max_bodies) else {
        bail!("parameter max_bodies: {max_bodies} is below 0");
    };
    refuse("engagement", &engagement, "gaze", "this version does not read where robots are; use animation")?;
    choice("engagement", &engagement, &[("animation", ())])?;
    refuse("rig", &rig, "stock", "this version has the 40-joint rig only; use arena")?;
    choice("rig", &rig, &[("arena", ())])?;
    Ok(Settings {
        max_bodies,
        rig: rig_at_height,
        view_fov: fov.to_radians(),
        view_clip_near: clip_near,
        id_style: choice("id_style", &id_style, &[("arena", IdStyle::Arena), ("short5", IdStyle::Short5)])?,
        sends_frames: choice("tf_source", &tf_source, &[("self", true), ("rsp", false), ("none", false)])?,
        tf_rate,
        marker_style: choice(
            "marker_style",
            &marker_style,
            &[("capsules", MarkerStyle::Capsules), ("lines", MarkerStyle::Lines), ("off", MarkerStyle::Off)],
        )?,
        marker_labels,
        global_alias: choice(
            "global_alias",
            &global_alias,
            &[("auto", GlobalAlias::Auto), ("on", GlobalAlias::On), ("off", GlobalAlias::Off)],
        )?,
    })
}

/// What the worker owns.
struct Producer {
    projection: Projection,
    topics: Topics,
    /// The bus, while somebody listens.
    bus: Option<WorkerSubscription<Pedestrians, Producer>>,
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
        let listened = self.topics.refresh();
        if listened && self.bus.is_none() {
            let opened = worker.upgrade().map(|worker| {
                worker.create_subscription::<Pedestrians, _>(
                    "arena_peds".keep_last(10).best_effort().volatile(),
                    |producer: &mut Producer, message: Pedestrians| {
                        producer.projection.step(&message, &mut producer.topics);
                    },
                )
            });
            match opened {
                Some(Ok(bus)) => self.bus = Some(bus),
                Some(Err(error)) => tracing::error!("arena_peds: {error}"),
                None => {}
            }
        } else if !listened && self.bus.take().is_some() {
            self.projection.pause();
        }
        if self.bus.is_some() && self.looks.is_multiple_of(LOOKS_PER_REPEAT) {
            self.projection.repeat_lists(&mut self.topics);
        }
        self.looks += 1;
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
