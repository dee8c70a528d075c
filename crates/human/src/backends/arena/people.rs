//! What people are like when they enter the engine (human-layer specification, section 17.4).
//!
//! A person with an `agent:` is drawn from their type by the stream of their name; what the file declares counts before the draw.

use std::collections::BTreeMap;

use promenade_crowd::protocol::{AgentState, Waypoint, Waypoints, mode};
use promenade_crowd::{AgentParameters, Handedness, planner};
use promenade_kernel::KeyedStreams;
use promenade_kernel::generator::Generator;
use promenade_scenario::{AgentType, AgentTypeLibrary, DEFAULT_AGENT_RADIUS, WaypointMode};
use rand::RngExt;

use super::offset::Offset;
use crate::entity::DynamicObstacle;

/// First part of the names of this backend's random streams.
pub(super) const STREAM: &str = "humansim";

/// The planner whose keys the messages carry.
const PLANNER: &str = "sfm";

/// The type that a text of a message means.
pub(super) fn type_of(text: &str) -> AgentType {
    if text.contains('/') || text.ends_with(".yaml") {
        AgentType::File(text.into())
    } else {
        AgentType::Named(text.to_owned())
    }
}

/// Files of agent types, by the names that the engine reports them under.
#[derive(Debug, Default)]
pub(super) struct TypeFiles(BTreeMap<String, String>);

impl TypeFiles {
    /// A type that was sent: a file is known by its path, its stem and the name it gives itself.
    pub(super) fn sent(&mut self, text: &str) {
        let AgentType::File(path) = type_of(text) else { return };
        let own = AgentTypeLibrary::built_in().resolve(&AgentType::File(path.clone())).ok();
        let own = own.and_then(|found| found.merged.name.clone());
        let stem = path.file_stem().map(|stem| stem.to_string_lossy().into_owned());
        for name in own.into_iter().chain(stem) {
            self.0.entry(name).or_insert_with(|| text.to_owned());
        }
    }

    /// What to say on the bus for a reported type: its file when it came from one.
    pub(super) fn on_bus<'a>(&'a self, reported: &'a str) -> &'a str {
        self.0.get(reported).map_or(reported, String::as_str)
    }

    pub(super) fn clear(&mut self) {
        self.0.clear();
    }
}

/// A person as the engine gets them.
pub(super) fn agent(person: &DynamicObstacle, offset: Offset, streams: &KeyedStreams) -> AgentState {
    let waypoints = Waypoints {
        points: person.waypoints.iter().map(|&point| waypoint(offset.point_to_engine(point))).collect(),
        mode: match person.waypoint_mode {
            WaypointMode::Repeat => mode::REPEAT,
            WaypointMode::Reverse => mode::REVERSE,
            WaypointMode::Once => mode::ONCE,
            WaypointMode::Random => mode::RANDOM,
        },
    };
    let plain = AgentState {
        name: person.sim_path.clone(),
        pose: offset.pose_to_engine(&person.pose),
        desired_velocity: person.velocity,
        radius: DEFAULT_AGENT_RADIUS,
        waypoints,
        ..AgentState::default()
    };
    let Some(spec) = person.entry.as_ref().and_then(|entry| entry.agent.as_ref()) else { return plain };
    let resolved = match AgentTypeLibrary::built_in().resolve(&type_of(&person.agent_type)) {
        Ok(resolved) => resolved,
        Err(error) => {
            tracing::warn!("{:?} walks as somebody without a type: {error}", person.name);
            return plain;
        }
    };
    let keys = planner::named(PLANNER).map_or(&[][..], |planner| planner.keys());
    // By the authored name, so that the same scenario is the same in every environment.
    let seed: u64 = streams.fresh(&[STREAM.into(), (&person.name).into()]).random();
    let drawn = AgentParameters::sample(&resolved, keys, &mut Generator::seeded(seed));
    let key = |name| drawn.planner_value(name).unwrap_or(0.0);
    AgentState {
        desired_velocity: match spec.desired_velocity {
            // Drawn once per person when the episode was loaded.
            Some(_) => person.velocity,
            None => drawn.desired_velocity,
        },
        radius: spec.radius.unwrap_or(drawn.radius),
        vision_range: drawn.vision_range,
        vision_fov: drawn.vision_fov,
        relaxation_time: key("relaxation_time"),
        repulsion_strength: key("repulsion_strength"),
        repulsion_range: key("repulsion_range"),
        agent_type: person.agent_type.clone(),
        handedness: match drawn.handedness {
            Handedness::Left => "l".to_owned(),
            Handedness::Right => "r".to_owned(),
        },
        ..plain
    }
}

fn waypoint([x, y]: [f64; 2]) -> Waypoint {
    Waypoint { pose: [x, y, 0.0], radius: 0.0 }
}

/// The tags that models of a type must carry; an unknown type has none.
pub(super) fn tags_of(agent_type: &str) -> Vec<String> {
    let found = AgentTypeLibrary::built_in().resolve(&type_of(agent_type));
    found.map(|found| found.merged.assets.clone()).unwrap_or_default()
}
