//! Doing a logged session again, and comparing.

use std::io::BufRead;

use serde_json::Value;

use super::record::{Between, Event, Tick};
use crate::error::CrowdError;
use crate::pool::Kind;
use crate::spawn::SpawnRequest;
use crate::step::Crowd;

/// Poses and velocities further apart than this differ.
const TOLERANCE: f64 = 1e-12;

/// Why a log cannot be replayed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReplayError {
    /// It cannot be read.
    #[error("line {line}: {source}")]
    Io {
        /// Line of the log.
        line: usize,
        /// What happened.
        source: std::io::Error,
    },
    /// Not a record of a session.
    #[error("line {line}: {source}")]
    Record {
        /// Line of the log.
        line: usize,
        /// What is wrong.
        source: serde_json::Error,
    },
    /// A record that the crowd refuses.
    #[error("line {line}: {source}")]
    Crowd {
        /// Line of the log.
        line: usize,
        /// What is wrong.
        source: CrowdError,
    },
    /// The log does not begin with the settings.
    #[error("line {line}: expected the settings first, as a session log begins with them")]
    NoSettings {
        /// Line of the log.
        line: usize,
    },
}

/// The first place where a replay went another way.
#[derive(Debug, Clone, PartialEq)]
pub struct Divergence {
    /// In which tick.
    pub tick: u64,
    /// Whose.
    pub agent_id: i32,
    /// x, y, theta, vx or vy; or agents, when somebody is there in only one of the two, whose numbers then count them.
    pub quantity: &'static str,
    /// What the log has.
    pub expected: f64,
    /// What the replay has.
    pub found: f64,
}

/// What came of a replay.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Replayed {
    /// Ticks that were compared.
    pub ticks: u64,
    /// Poses that were compared.
    pub poses: u64,
    /// The first difference; the replay ends there.
    pub divergence: Option<Divergence>,
}

/// Do a session again: spawn who came, give them the commands they had, and compare poses and velocities after every tick to 1e-12.
/// Records of kinds that this does not know are passed over.
///
/// # Errors
/// A log that is none, or that asks for what the crowd refuses; the message has the line.
pub fn replay(log: impl BufRead) -> Result<Replayed, ReplayError> {
    let mut crowd: Option<Crowd> = None;
    let mut replayed = Replayed::default();
    for (number, text) in log.lines().enumerate() {
        let line = number + 1;
        let text = text.map_err(|source| ReplayError::Io { line, source })?;
        if text.trim().is_empty() {
            continue;
        }
        let record = |source| ReplayError::Record { line, source };
        let value: Value = serde_json::from_str(&text).map_err(record)?;
        let refused = |source| ReplayError::Crowd { line, source };
        if value.get("event").is_some() {
            if !is_known(&value) {
                continue;
            }
            match (serde_json::from_value(value).map_err(record)?, &mut crowd) {
                (Event::Settings { settings }, None) => crowd = Some(Crowd::new(settings).map_err(refused)?),
                (event, Some(crowd)) => happen(crowd, event).map_err(refused)?,
                (_, None) => return Err(ReplayError::NoSettings { line }),
            }
            continue;
        }
        let tick: Tick = serde_json::from_value(value).map_err(record)?;
        let crowd = crowd.as_mut().ok_or(ReplayError::NoSettings { line })?;
        crowd.set_ticks(tick.tick);
        crowd.step();
        replayed.ticks += 1;
        replayed.poses += tick.agents.len() as u64;
        replayed.divergence = compare(crowd, &tick);
        if replayed.divergence.is_some() {
            break;
        }
    }
    Ok(replayed)
}

fn is_known(value: &Value) -> bool {
    let known = ["settings", "walls", "spawn", "update", "despawn", "before"];
    value.get("event").and_then(Value::as_str).is_some_and(|event| known.contains(&event))
}

fn happen(crowd: &mut Crowd, event: Event) -> Result<(), CrowdError> {
    match event {
        Event::Settings { settings } => crowd.reconfigure(settings),
        Event::Walls { add, remove } => {
            if !remove.is_empty() {
                crowd.remove_walls(&remove)?;
            }
            if add.is_empty() { Ok(()) } else { crowd.add_walls(add) }
        }
        Event::Spawn { agent_id, params, robot, state, .. } => {
            let request = SpawnRequest {
                id: agent_id,
                kind: if robot { Kind::Robot } else { Kind::Human },
                planner: state.policy.clone(),
                ..SpawnRequest::default()
            };
            crowd.spawn_with(&request, params.into())?;
            change(crowd, agent_id, &state)
        }
        Event::Update { agent_id, params } => crowd.set_parameters(agent_id, params.into()),
        Event::Despawn { agent_id, .. } => crowd.remove(agent_id),
        Event::Before { agents, .. } => agents.iter().try_for_each(|(id, state)| change(crowd, *id, state)),
    }
}

/// Change an agent as requests and feeds did.
fn change(crowd: &mut Crowd, id: i32, state: &Between) -> Result<(), CrowdError> {
    let row = crowd.pool().row_of(id).ok_or(CrowdError::NoAgent(id))?;
    crowd.set_planner(id, state.policy.as_deref())?;
    let pool = crowd.pool();
    let (pose, velocity) =
        ([state.pose.x, state.pose.y, state.pose.theta], [state.velocity.vx, state.velocity.vy]);
    let moved =
        [pool.x[row], pool.y[row], pool.theta[row]] != pose || [pool.vx[row], pool.vy[row]] != velocity;
    let resized = pool.radius[row] != state.radius;
    if moved {
        // Whoever walks may come further than anybody may be placed.
        crowd.put(row, pose, velocity);
    }
    if resized {
        crowd.set_radius(id, state.radius)?;
    }
    if !state.latched {
        crowd.release(row);
    }
    crowd.navigate(id, state.target)
}

fn compare(crowd: &Crowd, tick: &Tick) -> Option<Divergence> {
    let pool = crowd.pool();
    let differs = |agent_id: i32, quantity: &'static str, expected: f64, found: f64| Divergence {
        tick: tick.tick,
        agent_id,
        quantity,
        expected,
        found,
    };
    for (id, agent) in &tick.agents {
        let Some(row) = pool.row_of(*id) else { return Some(differs(*id, "agents", 1.0, 0.0)) };
        let (pose, velocity) = (agent.pose, agent.velocity);
        let columns = [
            ("x", pose.x, pool.x[row]),
            ("y", pose.y, pool.y[row]),
            ("theta", pose.theta, pool.theta[row]),
            ("vx", velocity.vx, pool.vx[row]),
            ("vy", velocity.vy, pool.vy[row]),
        ];
        let apart = columns.into_iter().find(|(_, expected, found)| (expected - found).abs() > TOLERANCE);
        if let Some((quantity, expected, found)) = apart {
            return Some(differs(*id, quantity, expected, found));
        }
    }
    let surplus = pool.id.iter().filter(|id| !tick.agents.contains_key(id)).min();
    surplus.map(|id| differs(*id, "agents", 0.0, 1.0))
}
