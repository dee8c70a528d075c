//! Who came out of a source: actors in the simulator for agents that nobody here spawned (human-layer specification, section 17.5).

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use promenade_crowd::protocol::AgentFrame;
use rand::RngExt;

use super::intake::Intake;
use super::offset::Offset;
use super::people::{STREAM, tags_of};
use super::scene::Scene;
use crate::entity::{DynamicObstacle, WaypointMode};
use crate::layer::LayerCx;
use crate::message::Pose;

/// Ticks that somebody new waits for their type.
const PATIENCE: u32 = 50;

/// Model of everybody whose type asks for none that is there.
const DEFAULT_MODEL: &str = "default";

/// Speed of somebody of whom the engine does not say any, m/s.
const DEFAULT_SPEED: f64 = 1.0;

/// See the module.
#[derive(Debug, Default)]
pub(super) struct Flow {
    /// Ticks waited so far, by id.
    waiting: BTreeMap<i32, u32>,
    actors: BTreeMap<i32, DynamicObstacle>,
    /// Models that fit, by agent type.
    models: BTreeMap<String, Vec<String>>,
}

impl Flow {
    /// Deletes all actors.
    pub(super) fn clear(&mut self, cx: &mut LayerCx) {
        let actors: Vec<DynamicObstacle> = std::mem::take(&mut self.actors).into_values().collect();
        if !actors.is_empty() {
            cx.delete_actors(&actors);
        }
        self.waiting.clear();
        self.models.clear();
    }

    /// Creates all actors anew where they are now: the simulator lost them.
    pub(super) fn create_again(&mut self, cx: &mut LayerCx, intake: &Intake, offset: Offset) {
        if let Some(frame) = intake.frame() {
            for (row, id) in frame.agent_id.iter().enumerate() {
                if let Some(actor) = self.actors.get_mut(id) {
                    actor.pose = pose(frame, row, offset);
                }
            }
        }
        let actors: Vec<DynamicObstacle> = self.actors.values().cloned().collect();
        if !actors.is_empty() {
            cx.create_actors(&actors);
        }
    }

    /// One look at who is there.
    pub(super) fn look(
        &mut self,
        cx: &mut LayerCx,
        intake: &mut Intake,
        scene: &Scene,
        prefix: &str,
        offset: Offset,
    ) {
        if !intake.take_others() && self.waiting.is_empty() {
            return;
        }
        let Some(frame) = intake.frame() else { return };
        let here: BTreeSet<i32> = frame.agent_id.iter().copied().collect();
        self.waiting.retain(|id, _| here.contains(id));
        let gone: Vec<i32> = self.actors.keys().copied().filter(|id| !here.contains(id)).collect();
        let gone: Vec<DynamicObstacle> = gone.iter().filter_map(|id| self.actors.remove(id)).collect();
        if !gone.is_empty() {
            cx.delete_actors(&gone);
        }
        let mut new = Vec::new();
        for (row, &id) in frame.agent_id.iter().enumerate() {
            if scene.person(id).is_some() || self.actors.contains_key(&id) {
                continue;
            }
            let meta = intake.meta(id);
            let waited = self.waiting.entry(id).or_default();
            if meta.is_none() && *waited < PATIENCE {
                *waited += 1;
                continue;
            }
            self.waiting.remove(&id);
            let agent_type = scene.files.on_bus(meta.map_or("", |meta| meta.agent_type.as_str())).to_owned();
            let mut path = String::new();
            write_name(prefix, id, &mut path);
            let speed = frame.desired_velocity.get(row).copied().filter(|speed| speed.is_finite());
            let actor = DynamicObstacle {
                sim_path: path,
                name: format!("flow_{id}"),
                model: self.model(cx, &agent_type, id),
                model_uri: String::new(),
                pose: pose(frame, row, offset),
                velocity: speed.unwrap_or(DEFAULT_SPEED),
                agent_type,
                waypoints: Vec::new(),
                waypoint_mode: WaypointMode::Once,
                entry: None,
            };
            new.push(actor.clone());
            self.actors.insert(id, actor);
        }
        if !new.is_empty() {
            cx.create_actors(&new);
        }
    }

    /// A model that carries what the type asks for, drawn by the id.
    fn model(&mut self, cx: &LayerCx, agent_type: &str, id: i32) -> String {
        if !self.models.contains_key(agent_type) {
            let tags = tags_of(agent_type);
            let fitting = if tags.is_empty() { Vec::new() } else { cx.models().humans_with(&tags) };
            if !tags.is_empty() && fitting.is_empty() {
                tracing::warn!(
                    "agent type {agent_type:?}: no human model carries all of {}; its people look like {DEFAULT_MODEL:?}",
                    tags.join(", ")
                );
            }
            self.models.insert(agent_type.to_owned(), fitting);
        }
        match self.models.get(agent_type).map(Vec::as_slice) {
            None | Some([]) => DEFAULT_MODEL.to_owned(),
            Some(fitting) => {
                let mut stream = cx.streams().fresh(&[STREAM.into(), "flow-model".into(), id.into()]);
                fitting[stream.random_range(0..fitting.len())].clone()
            }
        }
    }
}

/// The sim path of somebody whom nobody here spawned, which is their name on the bus from the first moment on.
pub(super) fn write_name(prefix: &str, id: i32, path: &mut String) {
    let between = if prefix.is_empty() { "" } else { "/" };
    // Writing into a text cannot fail.
    write!(path, "{prefix}{between}flow_{id}").unwrap_or_default();
}

fn pose(frame: &AgentFrame, row: usize, offset: Offset) -> Pose {
    let [x, y] = offset.point_to_map([frame.x[row], frame.y[row]]);
    Pose::planar(x, y, frame.theta[row])
}
