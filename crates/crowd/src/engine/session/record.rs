//! The records of a session log, as they are written.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::locomotion::LocomotionParameters;
use crate::planner::KindGain;
use crate::sampling::{AgentParameters, Handedness};
use crate::settings::Settings;
use crate::walls::Wall;

/// Something that happened between two ticks.
#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "lowercase")]
pub(super) enum Event {
    /// What holds for the whole crowd from here on.
    Settings { settings: Settings },
    /// Walls came and went.
    Walls { add: Vec<Wall>, remove: Vec<String> },
    /// Somebody came.
    Spawn { agent_id: i32, agent_type: String, params: Parameters, robot: bool, state: Between },
    /// Somebody's numbers changed.
    Update { agent_id: i32, params: Parameters },
    /// Somebody went.
    Despawn { tick: u64, agent_id: i32, reason: String },
    /// What requests and feeds changed before this tick.
    Before { tick: u64, agents: Vec<(i32, Between)> },
}

/// What requests and feeds may change of an agent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Between {
    pub(super) pose: Place,
    pub(super) velocity: Velocity,
    pub(super) radius: f64,
    pub(super) policy: Option<String>,
    pub(super) target: Option<[f64; 2]>,
    pub(super) latched: bool,
}

/// A tick that is over.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Tick {
    pub(super) tick: u64,
    pub(super) timestamp: f64,
    pub(super) agents: BTreeMap<i32, Agent>,
    /// Empty: interactions are not built yet.
    pub(super) interactions: BTreeMap<i32, serde_json::Value>,
    pub(super) commands: BTreeMap<i32, Command>,
}

#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(super) struct Agent {
    pub(super) pose: Place,
    pub(super) velocity: Velocity,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(super) struct Place {
    pub(super) x: f64,
    pub(super) y: f64,
    pub(super) theta: f64,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(super) struct Velocity {
    pub(super) vx: f64,
    pub(super) vy: f64,
}

/// Where an agent is sent; type 0 is to navigate.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(super) struct Command {
    #[serde(rename = "type")]
    pub(super) kind: u8,
    pub(super) target_pose: Place,
    pub(super) interaction_target: i32,
}

/// The numbers of an agent after overrides.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Parameters {
    name: String,
    desired_velocity: f64,
    agent_radius: f64,
    max_velocity: f64,
    max_acceleration: f64,
    max_deceleration: f64,
    min_turning_radius: f64,
    pivot_angular_velocity: f64,
    reaction_time: f64,
    personal_space_min: f64,
    perception: Perception,
    local_planner_params: BTreeMap<String, f64>,
    idle_gaze_rate_hz: f64,
    handedness: String,
    interaction_class: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    kind_gains: Vec<KindGain>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    locomotion: Option<Box<LocomotionParameters>>,
}

#[derive(Debug, Serialize, Deserialize)]
struct Perception {
    vision_range: f64,
    vision_fov: f64,
    proximity_sense: f64,
    vision_occlusion: bool,
}

impl Parameters {
    pub(super) fn new(name: &str, of: &AgentParameters) -> Self {
        Self {
            name: name.to_owned(),
            desired_velocity: of.desired_velocity,
            agent_radius: of.radius,
            max_velocity: of.max_velocity,
            max_acceleration: of.max_acceleration,
            max_deceleration: of.max_deceleration,
            min_turning_radius: of.min_turning_radius,
            pivot_angular_velocity: of.pivot_angular_velocity,
            reaction_time: of.reaction_time,
            personal_space_min: of.personal_space_min,
            perception: Perception {
                vision_range: of.vision_range,
                vision_fov: of.vision_fov,
                proximity_sense: of.proximity_sense,
                vision_occlusion: of.vision_occlusion,
            },
            local_planner_params: of.planner.iter().cloned().collect(),
            idle_gaze_rate_hz: of.idle_gaze_rate,
            handedness: if of.handedness == Handedness::Left { "l" } else { "r" }.to_owned(),
            interaction_class: of.interaction_class.clone(),
            kind_gains: of.kind_gains.clone(),
            locomotion: of.locomotion.clone(),
        }
    }
}

impl From<Parameters> for AgentParameters {
    fn from(of: Parameters) -> Self {
        Self {
            desired_velocity: of.desired_velocity,
            radius: of.agent_radius,
            max_velocity: of.max_velocity,
            max_acceleration: of.max_acceleration,
            max_deceleration: of.max_deceleration,
            min_turning_radius: of.min_turning_radius,
            pivot_angular_velocity: of.pivot_angular_velocity,
            reaction_time: of.reaction_time,
            personal_space_min: of.personal_space_min,
            vision_range: of.perception.vision_range,
            vision_fov: of.perception.vision_fov,
            proximity_sense: of.perception.proximity_sense,
            vision_occlusion: of.perception.vision_occlusion,
            planner: of.local_planner_params.into_iter().collect(),
            idle_gaze_rate: of.idle_gaze_rate_hz,
            handedness: if of.handedness == "l" { Handedness::Left } else { Handedness::Right },
            interaction_class: of.interaction_class,
            kind_gains: of.kind_gains,
            locomotion: of.locomotion,
        }
    }
}
