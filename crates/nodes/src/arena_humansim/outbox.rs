//! What the engine says on topics (crowd-engine specification, section 4).
//!
//! Every message is written into the one of the last tick. Nothing here may fail a tick: what the middleware refuses to send is told once.

use anyhow::Result;
use arena_humansim_msgs::msg::rmw as wire;
use promenade_crowd::Engine;
use promenade_kernel::Time;
use rclrs::{IntoPrimitiveOptions, Node, Publisher, RclrsError};
use rosgraph_msgs::msg::rmw::Clock;
use rosidl_runtime_rs::Message;
use visualization_msgs::msg::rmw::MarkerArray;

use super::markers;
use super::recording::Tape;
use super::viz::VizWriter;
use super::wire::{write_frame, write_geometry, write_gestures, write_header, write_meta};
use crate::bus::time_to_wire;

/// What was said last of something that is said when it changes.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
struct Said(Option<u64>);

impl Said {
    /// Whether this is something new.
    fn is_news(&mut self, revision: u64) -> bool {
        self.0.replace(revision) != Some(revision)
    }
}

/// All publishers, and the messages they send again and again.
pub(crate) struct Outbox {
    frames: Publisher<wire::AgentFrame>,
    metas: Publisher<wire::AgentMeta>,
    gestures: Publisher<wire::AgentGestures>,
    interactions: Publisher<wire::Interactions>,
    geometries: Publisher<wire::WorldGeometry>,
    viz_states: Publisher<wire::AgentViz>,
    wall_markers: Publisher<MarkerArray>,
    object_markers: Publisher<MarkerArray>,
    /// What pulls and pushes people, as arrows.
    module_markers: Publisher<MarkerArray>,
    /// Of a master only.
    clocks: Option<Publisher<Clock>>,

    frame: wire::AgentFrame,
    meta: wire::AgentMeta,
    gesture_set: wire::AgentGestures,
    interaction_set: wire::Interactions,
    viz: VizWriter,
    tape: Tape,

    said_meta: Said,
    said_gestures: Said,
    said_geometry: Said,
    said_markers: Said,
    /// Marker detail that holds.
    level: u8,
    has_failed: bool,
}

impl Outbox {
    /// Opens all topics below the namespace of `node`.
    ///
    /// # Errors
    /// When the middleware does not offer one.
    pub(crate) fn open(node: &Node, makes_clock: bool, tape: Tape) -> Result<Self> {
        let clocks = match makes_clock {
            true => Some(node.create_publisher("/clock".keep_last(10).reliable().transient_local())?),
            false => None,
        };
        Ok(Self {
            frames: node.create_publisher("agent_states".keep_last(10).reliable().volatile())?,
            metas: node.create_publisher("agent_meta".keep_last(1).reliable().transient_local())?,
            gestures: node.create_publisher("agent_gestures".keep_last(1).reliable().transient_local())?,
            interactions: node.create_publisher("interactions".keep_last(50).reliable().volatile())?,
            geometries: node.create_publisher("world_geometry".keep_last(1).reliable().transient_local())?,
            viz_states: node.create_publisher("viz_state".keep_last(10).reliable().volatile())?,
            wall_markers: node
                .create_publisher("viz_static/walls".keep_last(1).reliable().transient_local())?,
            object_markers: node
                .create_publisher("viz_static/objects".keep_last(1).reliable().transient_local())?,
            module_markers: node.create_publisher("viz".keep_last(100).reliable().volatile())?,
            clocks,
            frame: wire::AgentFrame::default(),
            meta: wire::AgentMeta::default(),
            gesture_set: wire::AgentGestures::default(),
            interaction_set: wire::Interactions::default(),
            viz: VizWriter::default(),
            tape,
            said_meta: Said::default(),
            said_gestures: Said::default(),
            said_geometry: Said::default(),
            said_markers: Said::default(),
            level: 0,
            has_failed: false,
        })
    }

    /// Sets the marker detail: 0 off, 1 basic, 2 full. `viz_state` says once that there is nothing any more.
    pub(crate) fn set_level(&mut self, level: u8, engine: &Engine) {
        let before = std::mem::replace(&mut self.level, level);
        if before > 0 && level == 0 {
            let last = self.viz.nothing(engine.frame().stamp_ns);
            let sent = self.viz_states.publish(last);
            self.tell(sent);
        }
        if (before > 0) != (level > 0) {
            self.said_markers = Said::default();
        }
    }

    /// Sends everything of the tick that was just run.
    pub(crate) fn publish_tick(&mut self, engine: &Engine, flow_revision: u64) {
        write_frame(engine.frame(), &mut self.frame);
        let stamp_ns = engine.frame().stamp_ns;
        write_header(stamp_ns, &mut self.interaction_set.header);
        let mut sent = self.frames.publish(&self.frame);
        self.tape.write(|recording| recording.frame(&self.frame));
        if self.said_meta.is_news(engine.meta_revision()) {
            write_meta(engine.meta(), &mut self.meta);
            sent = sent.and(self.metas.publish(&self.meta));
            self.tape.write(|recording| recording.meta(&self.meta));
        }
        if self.said_gestures.is_news(engine.gestures_revision()) {
            write_gestures(engine.gestures(), &mut self.gesture_set);
            write_header(stamp_ns, &mut self.gesture_set.header);
            sent = sent.and(self.gestures.publish(&self.gesture_set));
            self.tape.write(|recording| recording.gestures(&self.gesture_set));
        }
        sent = sent.and(self.interactions.publish(&self.interaction_set));
        if self.level > 0 && is_watched(&self.viz_states) {
            let message = self.viz.write(engine, self.level);
            sent = sent.and(self.viz_states.publish(message));
        }
        if self.level > 1 && is_watched(&self.module_markers) {
            sent = sent.and(self.module_markers.publish(markers::forces(stamp_ns, engine)));
        }
        self.tell(sent);
        if engine.ticks() == 1 {
            self.said_geometry = Said::default();
        }
        self.publish_geometry(engine, flow_revision);
    }

    /// Sends what is static, if it has changed.
    pub(crate) fn publish_geometry(&mut self, engine: &Engine, flow_revision: u64) {
        let stamp_ns = engine.frame().stamp_ns;
        let mut sent = Ok(());
        if self.said_geometry.is_news(engine.geometry_revision()) {
            let (walls, obstacles, objects) = (engine.walls(), engine.obstacles(), engine.world_objects());
            let geometry = write_geometry(stamp_ns, walls, obstacles, objects);
            sent = self.geometries.publish(&geometry);
            self.tape.write(|recording| recording.geometry(&geometry));
        }
        // Both only grow, but for a wipe, which changes the first.
        let revision = engine.geometry_revision().wrapping_mul(1 << 32).wrapping_add(flow_revision);
        if self.said_markers.is_news(revision) {
            let is_on = self.level > 0;
            let walls = if is_on { engine.walls() } else { &[] };
            sent = sent.and(self.wall_markers.publish(markers::walls(stamp_ns, walls)));
            sent = sent.and(self.object_markers.publish(markers::objects(stamp_ns, engine, is_on)));
        }
        self.tell(sent);
    }

    /// Sends the clock of a master.
    pub(crate) fn publish_clock(&mut self, now_ns: i64) {
        let Some(clocks) = &self.clocks else { return };
        let clock = Clock { clock: time_to_wire(Time::from_nanos(now_ns)) };
        let sent = clocks.publish(&clock);
        self.tape.write(|recording| recording.clock(&clock));
        self.tell(sent);
    }

    fn tell(&mut self, sent: Result<(), RclrsError>) {
        if let Err(error) = sent
            && !std::mem::replace(&mut self.has_failed, true)
        {
            tracing::warn!("the middleware does not send: {error}; this is said once");
        }
    }
}

fn is_watched<T: Message>(publisher: &Publisher<T>) -> bool {
    publisher.get_subscription_count().is_ok_and(|count| count > 0)
}
