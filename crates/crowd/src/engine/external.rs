//! Agents that others move: robots and possessed people (crowd-engine specification, section 18).
//!
//! The newest message before a tick counts. Who is in it is found, or becomes a mirror that is not in the frame; who is no longer in any
//! message stops after [`LAPSE`] and is let go after [`LEASE`]. Times are counted in ticks.

use std::collections::BTreeMap;

use super::Engine;
use super::agents::{MOST_AGENTS, ROBOT_RADIUS};
use super::error::EngineError;
use super::people::{NO_SINK, Person};
use super::session::Reason;
use crate::error::{coordinate, finite, within};
use crate::pool::Kind;
use crate::protocol::{AgentState, AgentStates};
use crate::sampling::AgentParameters;
use crate::spawn::SpawnRequest;

/// A mirror or robot that nothing was heard of for this long stands still, seconds.
const LAPSE: f64 = 0.2;
/// Who was not heard of for this long is let go, seconds.
const LEASE: f64 = 2.0;
/// A robot of the engine this near to one that is fed is the same, metres.
const ADOPTED_WITHIN: f64 = 1.0;
/// Two poses further apart in time than this tell no velocity, nanoseconds.
const LONGEST_GAP_NS: i64 = 200_000_000;
/// Faster than this between two poses is a jump, m/s.
const FASTEST: f64 = 10.0;
/// No entry of a message may claim to be faster, m/s.
const FASTEST_FED: f64 = 100.0;

/// Who is moved from outside.
#[derive(Debug, Default)]
pub(crate) struct Feed {
    newest: AgentStates,
    fresh: bool,
    /// By the id that the messages use.
    bindings: BTreeMap<i32, Binding>,
    /// Id in the messages, by id of the agent.
    fed_as: BTreeMap<i32, i32>,
}

#[derive(Debug)]
struct Binding {
    agent: i32,
    role: Role,
    /// Tick of the last message it was in.
    heard: u64,
    /// Time and place in the last message, nanoseconds and metres.
    stamp_ns: i64,
    place: [f64; 2],
}

#[derive(Debug)]
enum Role {
    /// A person of the engine that is possessed, or a robot of it that is fed: what it gets back when the feed ends.
    Own { planner: Option<String>, radius: f64, possessed: bool },
    /// Somebody who exists through the feed alone.
    Mirror,
}

impl Feed {
    pub(crate) fn clear(&mut self) {
        *self = Self::default();
    }

    /// Forget an agent that has gone.
    pub(crate) fn forget(&mut self, agent: i32) {
        if let Some(fed) = self.fed_as.remove(&agent) {
            self.bindings.remove(&fed);
        }
    }

    /// Whether an agent is moved from outside.
    pub(crate) fn is_bound(&self, agent: i32) -> bool {
        self.fed_as.contains_key(&agent)
    }

    /// Change what an agent gets back when its feed ends.
    pub(crate) fn set_own_planner(&mut self, agent: i32, own: Option<String>) {
        let binding = self.fed_as.get(&agent).and_then(|fed| self.bindings.get_mut(fed));
        if let Some(Binding { role: Role::Own { planner, .. }, .. }) = binding {
            *planner = own;
        }
    }

    /// Planners that somebody gets back.
    pub(crate) fn own_planners(&self) -> impl Iterator<Item = &str> {
        self.bindings.values().filter_map(|binding| match &binding.role {
            Role::Own { planner, .. } => planner.as_deref(),
            Role::Mirror => None,
        })
    }
}

impl Engine {
    /// Hear where external agents are. Of several messages before a tick the newest counts.
    pub fn world_state(&mut self, states: &AgentStates) {
        self.feed.newest.clone_from(states);
        self.feed.fresh = true;
    }

    /// Act on the newest message, and let those go that no message was about for too long.
    pub(super) fn follow_feed(&mut self) {
        if std::mem::take(&mut self.feed.fresh) {
            let message = std::mem::take(&mut self.feed.newest);
            for state in &message.agents {
                if let Err(error) = self.follow(state, message.stamp_ns) {
                    self.warnings.say(format!("an entry of world_state is left out: {error}"));
                }
            }
            self.feed.newest = message;
        }
        self.let_go();
    }

    fn follow(&mut self, state: &AgentState, stamp_ns: i64) -> Result<(), EngineError> {
        let fed = state.agent_id;
        let [x, y, theta] = state.pose;
        coordinate(format_args!("x of fed agent {fed}"), x)?;
        coordinate(format_args!("y of fed agent {fed}"), y)?;
        finite(format_args!("theta of fed agent {fed}"), theta)?;
        let speed = state.velocity[0].hypot(state.velocity[1]);
        within(
            format_args!("speed of fed agent {fed}"),
            speed,
            "a number from 0 to 100",
            speed <= FASTEST_FED,
        )?;
        let radius = if state.radius == 0.0 { ROBOT_RADIUS } else { state.radius };
        within(
            format_args!("radius of fed agent {fed}"),
            radius,
            "a number from 0 to 100",
            radius > 0.0 && radius <= 100.0,
        )?;

        let tick = self.ticks();
        let known = self.feed.bindings.contains_key(&fed);
        if !known {
            self.bind(state, radius, tick)?;
        }
        let Some(binding) = self.feed.bindings.get_mut(&fed) else { return Ok(()) };
        let agent = binding.agent;
        let possessed = matches!(binding.role, Role::Own { possessed: true, .. });
        let velocity = if possessed || state.velocity != [0.0; 2] {
            state.velocity
        } else if known {
            between(binding.place, [x, y], stamp_ns.saturating_sub(binding.stamp_ns))
        } else {
            [0.0; 2]
        };
        (binding.heard, binding.stamp_ns, binding.place) = (tick, stamp_ns, [x, y]);
        self.names.bind(&state.name, agent);
        self.crowd.place(agent, state.pose, velocity)?;
        if self.crowd.pool().row_of(agent).is_some_and(|row| self.crowd.pool().radius[row] != radius) {
            self.crowd.set_radius(agent, radius)?;
        }
        Ok(())
    }

    /// Find the agent that an entry is about: one of its id, else a robot close by, else nobody, who gets a mirror.
    fn bind(&mut self, state: &AgentState, radius: f64, tick: u64) -> Result<(), EngineError> {
        let pool = self.crowd.pool();
        let same = pool.row_of(state.agent_id).filter(|_| !self.feed.is_bound(state.agent_id));
        let row = same.or_else(|| self.unbound_robot_near(state.pose));
        let (agent, role) = match row {
            Some(row) => {
                let agent = pool.id[row];
                let person = &self.people.persons[row];
                let planner = self.planner_of(&person.request, person.resolved.as_deref());
                let possessed = pool.kind[row] == Kind::Human;
                let role = Role::Own { planner, radius: pool.radius[row], possessed };
                self.crowd.set_planner(agent, None)?;
                (agent, role)
            }
            None => (self.mirror(state, radius)?, Role::Mirror),
        };
        let place = [state.pose[0], state.pose[1]];
        let binding = Binding { agent, role, heard: tick, stamp_ns: 0, place };
        self.feed.bindings.insert(state.agent_id, binding);
        self.feed.fed_as.insert(agent, state.agent_id);
        Ok(())
    }

    fn unbound_robot_near(&self, pose: [f64; 3]) -> Option<usize> {
        let pool = self.crowd.pool();
        let distance = |row: usize| (pool.x[row] - pose[0]).hypot(pool.y[row] - pose[1]);
        let is_free = |row: &usize| pool.kind[*row] == Kind::Robot && !self.feed.is_bound(pool.id[*row]);
        let near = (0..pool.len()).filter(is_free).filter(|row| distance(*row) <= ADOPTED_WITHIN);
        near.min_by(|a, b| distance(*a).total_cmp(&distance(*b)))
    }

    fn mirror(&mut self, state: &AgentState, radius: f64) -> Result<i32, EngineError> {
        let found = self.crowd.pool().len() + 1;
        if found > MOST_AGENTS {
            return Err(EngineError::TooMany { what: "agents", found, most: MOST_AGENTS });
        }
        let request = SpawnRequest { pose: state.pose, kind: Kind::Robot, radius, ..SpawnRequest::default() };
        let parameters = AgentParameters { radius, ..AgentParameters::unknown_type() };
        let agent = self.crowd.spawn_with(&request, parameters)?;
        let person = Person {
            name: state.name.clone(),
            agent_type: String::new(),
            resolved: None,
            request: SpawnRequest { id: agent, ..request },
            source: None,
            since: self.ticks(),
        };
        self.people.push(person, false, NO_SINK);
        self.note_arrival(agent);
        Ok(agent)
    }

    /// Stop those that no message was about for a moment, and let go those for a while.
    fn let_go(&mut self) {
        let tick = self.ticks();
        let ticks = |seconds: f64| (seconds / self.crowd.settings().dt - 1e-9).ceil().max(1.0) as u64;
        let (lapse, lease) = (ticks(LAPSE), ticks(LEASE));
        let mut ended = Vec::new();
        for (fed, binding) in &self.feed.bindings {
            let silent = tick.saturating_sub(binding.heard);
            if silent >= lease {
                ended.push(*fed);
            } else if silent >= lapse && !matches!(binding.role, Role::Own { possessed: true, .. }) {
                self.crowd.halt(binding.agent);
            }
        }
        for fed in ended {
            self.end_binding(fed);
        }
    }

    fn end_binding(&mut self, fed: i32) {
        let Some(binding) = self.feed.bindings.remove(&fed) else { return };
        self.feed.fed_as.remove(&binding.agent);
        match binding.role {
            Role::Mirror => self.dismiss(binding.agent, Reason::Lease),
            Role::Own { planner, radius, .. } => {
                let restored = self
                    .crowd
                    .set_planner(binding.agent, planner.as_deref())
                    .and_then(|()| self.crowd.set_radius(binding.agent, radius));
                if let Err(error) = restored {
                    self.warnings.say(format!("agent {} stays without planner: {error}", binding.agent));
                }
                self.crowd.halt(binding.agent);
            }
        }
    }
}

/// Velocity from one place to the next; none across a stale, repeated or backward stamp, or a jump.
fn between(from: [f64; 2], to: [f64; 2], gap_ns: i64) -> [f64; 2] {
    if gap_ns <= 0 || gap_ns > LONGEST_GAP_NS {
        return [0.0; 2];
    }
    let seconds = gap_ns as f64 * 1e-9;
    let velocity = [(to[0] - from[0]) / seconds, (to[1] - from[1]) / seconds];
    if velocity[0].hypot(velocity[1]) > FASTEST { [0.0; 2] } else { velocity }
}
