//! The arena backend: a pedestrian engine moves people, this side tells it of the world and shows what it says (human-layer
//! specification, section 17).
//!
//! It speaks to the engine through an [`EngineLink`] alone and must never decide how anybody walks. An engine that is late, silent or
//! started anew costs its people some time and the layer nothing.

mod feed;
mod flow;
mod in_process;
mod intake;
mod link;
mod objects;
mod offset;
mod people;
mod regions;
mod scene;

use std::collections::BTreeSet;

use promenade_crowd::protocol;

pub use in_process::InProcess;
pub use link::{EngineLink, Heard, LinkError, LinkResult};

use crate::backend::{HumanSimulator, LockstepChannel};
use crate::entity::{DynamicObstacle, Region, StaticObstacle, Wall};
use crate::layer::LayerCx;
use crate::message::{Pedestrian, Pose};
use crate::parameter::{Parameter, ParameterValue};
use feed::Feed;
use flow::Flow;
use intake::{Intake, Labels, Meta};
use offset::Offset;
use scene::Scene;

/// Calls of the publish and simulator loops per second of simulated time.
const RATE_HZ: f64 = 50.0;

/// Prefix of its episode parameters.
const NAMESPACE: &str = "humansim";

/// See the module.
pub struct Arena {
    link: Box<dyn EngineLink>,
    prefix: String,
    offset: Offset,
    scene: Scene,
    intake: Intake,
    flow: Flow,
    feed: Feed,
    paused: bool,
    warned_models: BTreeSet<String>,
}

impl std::fmt::Debug for Arena {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Arena").field("prefix", &self.prefix).finish_non_exhaustive()
    }
}

impl Arena {
    /// The backend of an environment whose sim paths begin with `prefix` and whose authored origin lies at `offset` in `map`.
    #[must_use]
    pub fn new(link: Box<dyn EngineLink>, prefix: &str, offset: [f64; 2]) -> Self {
        Arena {
            link,
            prefix: prefix.to_owned(),
            offset: Offset(offset),
            scene: Scene::default(),
            intake: Intake::default(),
            flow: Flow::default(),
            feed: Feed::default(),
            paused: false,
            warned_models: BTreeSet::new(),
        }
    }

    /// Takes in what the engine said. True when there was a frame.
    fn listen(&mut self, cx: &mut LayerCx) -> bool {
        let Arena { link, intake, offset, .. } = self;
        let (mut started, mut framed) = (false, false);
        link.advance(cx.now(), &mut |heard| match heard {
            Heard::Started => started = true,
            Heard::Frame(frame) => {
                framed = true;
                intake.on_frame(frame);
            }
            Heard::Meta(meta) => intake.on_meta(meta),
            Heard::Gestures(gestures) => intake.on_gestures(gestures, *offset),
        });
        if started {
            self.start_again(cx);
        }
        framed && !started
    }

    fn start_again(&mut self, cx: &mut LayerCx) {
        tracing::info!("the engine is there; it gets the world and the people of the episode");
        self.flow.clear(cx);
        let seen = self.intake.frame().cloned();
        let last_seen = |id| {
            let frame = seen.as_ref()?;
            let row = frame.agent_id.iter().position(|known| *known == id)?;
            Some([frame.x[row], frame.y[row], frame.theta[row]])
        };
        self.scene.send_again(&mut *self.link, last_seen);
        self.intake.clear();
    }

    /// Publishes everybody as of now.
    fn publish(&mut self, cx: &mut LayerCx) -> Option<promenade_kernel::Time> {
        if !self.intake.has_frame() {
            return None;
        }
        let labels = Names { scene: &self.scene, prefix: &self.prefix };
        let stamp = self.intake.compose(cx.now(), self.offset, &labels);
        cx.publish_pedestrians_at(stamp, self.intake.roster());
        Some(stamp)
    }
}

/// Names and types on the bus.
struct Names<'a> {
    scene: &'a Scene,
    prefix: &'a str,
}

impl Labels for Names<'_> {
    fn write_name(&self, id: i32, name: &mut String) {
        match self.scene.person(id) {
            Some((known, _)) => name.push_str(known),
            None => flow::write_name(self.prefix, id, name),
        }
    }

    fn agent_type<'a>(&'a self, id: i32, meta: Option<&'a Meta>) -> &'a str {
        let sent = self.scene.person(id).map_or("", |(_, sent)| sent);
        let reported = meta.map_or("", |meta| meta.agent_type.as_str());
        // A file says more than the name that it gives itself.
        let is_file =
            !sent.is_empty() && matches!(people::type_of(sent), promenade_scenario::AgentType::File(_));
        match (is_file, reported) {
            (true, _) | (false, "") => sent,
            (false, reported) => self.scene.files.on_bus(reported),
        }
    }
}

impl HumanSimulator for Arena {
    fn rate_hz(&self) -> f64 {
        RATE_HZ
    }

    fn tick(&mut self, cx: &mut LayerCx) {
        if self.paused {
            return;
        }
        if self.feed.is_due(cx.now())
            && let Some(states) = self.feed.compose(cx, &self.scene, self.offset)
        {
            self.link.feed(states);
        }
        self.listen(cx);
        self.flow.look(cx, &mut self.intake, &self.scene, &self.prefix, self.offset);
        if let Some(stamp) = self.publish(cx)
            && !self.intake.roster().is_empty()
        {
            cx.relay_pedestrian_update(stamp, self.intake.roster());
        }
    }

    fn on_engine(&mut self, cx: &mut LayerCx) {
        if !self.paused && self.listen(cx) {
            self.publish(cx);
        }
    }

    fn on_sim_restarted(&mut self, cx: &mut LayerCx) {
        self.flow.create_again(cx, &self.intake, self.offset);
    }

    fn spawn_obstacles(
        &mut self,
        cx: &mut LayerCx,
        obstacles: &[StaticObstacle],
    ) -> Vec<Option<StaticObstacle>> {
        let (mut boxes, mut objects) = (Vec::new(), Vec::new());
        for object in obstacles {
            let annotation = cx.models().object(&object.model);
            if let Err(why) = &annotation
                && self.warned_models.insert(object.model.clone())
            {
                tracing::warn!("{why}; people walk through {:?}", object.name);
            }
            let annotation = annotation.ok();
            boxes.extend(annotation.as_ref().and_then(|said| objects::obstacle(object, said, self.offset)));
            objects.push(objects::world_object(object, annotation.as_ref(), self.offset));
        }
        let held = self.scene.add_obstacles(&mut *self.link, boxes);
        let held = self.scene.add_objects(&mut *self.link, objects) && held;
        obstacles.iter().map(|object| held.then(|| object.clone())).collect()
    }

    fn spawn_pedestrians(
        &mut self,
        cx: &mut LayerCx,
        pedestrians: &[DynamicObstacle],
    ) -> Vec<Option<DynamicObstacle>> {
        let agent = |person| people::agent(person, self.offset, cx.streams());
        let states = pedestrians.iter().map(agent).collect();
        let held = self.scene.spawn(&mut *self.link, states);
        self.intake.relabel();
        pedestrians.iter().map(|person| held.then(|| person.clone())).collect()
    }

    fn remove_obstacles(&mut self, _cx: &mut LayerCx, obstacles: &[StaticObstacle]) {
        let names = obstacles.iter().map(|object| object.sim_path.as_str());
        self.scene.remove_objects(&mut *self.link, names);
    }

    fn remove_pedestrians(&mut self, cx: &mut LayerCx) {
        self.scene.remove_people(&mut *self.link);
        self.flow.clear(cx);
        self.intake.clear();
        self.feed.clear();
    }

    fn spawn_walls(&mut self, _cx: &mut LayerCx, walls: &[(String, Wall)]) {
        let walls = walls.iter().map(|(name, wall)| self.offset.wall_to_engine(name, wall)).collect();
        self.scene.add_walls(&mut *self.link, walls);
    }

    fn remove_walls(&mut self, _cx: &mut LayerCx, names: &[String]) {
        self.scene.remove_walls(&mut *self.link, names);
    }

    fn add_regions(&mut self, _cx: &mut LayerCx, regions: &[Region]) -> Vec<bool> {
        let flows = regions.iter().map(|region| regions::flow(region, self.offset));
        flows.map(|flow| self.scene.add_flow(&mut *self.link, flow)).collect()
    }

    fn remove_regions(&mut self, _cx: &mut LayerCx) {
        self.scene.remove_flow(&mut *self.link);
    }

    fn on_pedestrian_released(&mut self, _cx: &mut LayerCx, bus_name: &str, last: &Pedestrian) {
        self.feed.let_go(bus_name, last.pose);
    }

    fn on_pedestrians_moved(&mut self, _cx: &mut LayerCx, moved: &[(String, Pose)]) {
        for (bus_name, pose) in moved {
            self.feed.let_go(bus_name, *pose);
        }
    }

    fn notify_stimulus(&mut self, _cx: &mut LayerCx, agent_id: i32, stimulus: &str, intensity: f32) {
        if let Err(LinkError::Refused(why)) = self.link.notify_stimulus(agent_id, stimulus, intensity) {
            tracing::warn!("the engine refuses the stimulus {stimulus:?}: {why}");
        }
    }

    fn param_namespace(&self) -> Option<&'static str> {
        Some(NAMESPACE)
    }

    fn configure(&mut self, _cx: &mut LayerCx, params: &[Parameter]) -> Vec<String> {
        let mut batch = Vec::new();
        let mut odd = Vec::new();
        for param in params {
            match value(&param.value) {
                Some(value) => batch.push((param.name.clone(), value)),
                None => odd.push(param.name.as_str()),
            }
        }
        if !odd.is_empty() {
            tracing::warn!(
                "the parameters of the episode are not sent, {} would need to be a truth, a number or a text",
                odd.join(", ")
            );
            batch.clear();
        }
        if self.scene.configure(&mut *self.link, batch) && odd.is_empty() {
            return params.iter().map(|param| param.name.clone()).collect();
        }
        Vec::new()
    }

    fn lockstep_channels(&self) -> Vec<LockstepChannel> {
        let Some(frames) = self.link.frame_topic() else { return Vec::new() };
        let channel = |name: &str, topic: &str, message_type: &str| LockstepChannel {
            name: name.to_owned(),
            topic: topic.to_owned(),
            message_type: message_type.to_owned(),
            period_s: self.link.dt().as_secs_f64(),
            hard: true,
        };
        vec![
            channel("engine", &frames, "arena_humansim_msgs/msg/AgentFrame"),
            channel("peds", "arena_peds", "arena_people_msgs/msg/Pedestrians"),
        ]
    }

    fn pause(&mut self, _cx: &mut LayerCx) {
        self.paused = true;
    }

    fn unpause(&mut self, _cx: &mut LayerCx) {
        self.paused = false;
    }
}

/// The value as an engine takes it; lists and bytes are nothing that it has.
fn value(from: &ParameterValue) -> Option<protocol::ParameterValue> {
    match from {
        ParameterValue::Bool(value) => Some(protocol::ParameterValue::Bool(*value)),
        ParameterValue::Int(value) => Some(protocol::ParameterValue::Integer(*value)),
        ParameterValue::Double(value) => Some(protocol::ParameterValue::Double(*value)),
        ParameterValue::Text(value) => Some(protocol::ParameterValue::Text(value.clone())),
        _ => None,
    }
}
