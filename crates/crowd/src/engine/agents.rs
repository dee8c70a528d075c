//! Agents come, change and go on request (crowd-engine specification, sections 7 and 10.5).
//!
//! A request is carried out whole or not at all: everything in it is checked before the first agent comes in.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use promenade_scenario::{AgentTypeLibrary, ResolvedType};

use super::Engine;
use super::error::{EngineError, refuse};
use super::people::{NO_SINK, Person};
use super::session::Reason;
use super::waypoints;
use crate::error::CrowdError;
use crate::planner;
use crate::pool::Kind;
use crate::protocol::{AgentState, RobotState, Waypoints, kind};
use crate::sampling::{AgentParameters, Handedness};
use crate::spawn::SpawnRequest;

/// Names that mean somebody else in attention.
const RESERVED: [&str; 4] = ["partner", "partners", "target", "goal"];
/// The type of somebody whose request names none.
const DEFAULT_TYPE: &str = "adult";
/// Radius of a robot that tells none, metres.
pub(super) const ROBOT_RADIUS: f64 = 0.3;
/// Most agents at a time.
pub(super) const MOST_AGENTS: usize = 1_000_000;
/// Most ids that are remembered for [`Engine::feedback`].
const MOST_REPORTED: usize = 1_000_000;

/// Finds agent types by name or path: `None` leaves the name to the built-in types, an error is the reason why there is no such type.
pub type TypeSource = Box<dyn Fn(&str) -> Option<Result<Arc<ResolvedType>, String>> + Send>;

/// Somebody about to come in.
pub(super) struct Newcomer {
    pub(super) person: Person,
    pub(super) parameters: AgentParameters,
    pub(super) planner: Option<String>,
    pub(super) waypoints: Waypoints,
    pub(super) sink: u32,
}

/// Agents that wait for their tick.
#[derive(Debug, Default)]
pub(super) struct Schedule(BTreeMap<u64, VecDeque<AgentState>>);

impl Schedule {
    pub(super) fn clear(&mut self) {
        self.0.clear();
    }
}

/// Types that were looked up for one request.
type Looked = BTreeMap<String, Option<Arc<ResolvedType>>>;

impl Engine {
    /// Take agent types from `source` first. Without it there are the built-in ones.
    #[must_use]
    pub fn with_types(
        mut self,
        source: impl Fn(&str) -> Option<Result<Arc<ResolvedType>, String>> + Send + 'static,
    ) -> Self {
        self.types = Some(Box::new(source));
        self
    }

    /// Bring agents in; the ids they got, in order.
    ///
    /// # Errors
    /// A reserved name, a hand that is none, a number that is none, an id that is taken or named twice, a planner there is not. Then
    /// nobody comes in.
    pub fn spawn_agents(&mut self, agents: &[AgentState]) -> Result<Vec<i32>, EngineError> {
        let room = MOST_AGENTS.saturating_sub(self.crowd.pool().len());
        if agents.len() > room {
            let found = self.crowd.pool().len() + agents.len();
            return Err(EngineError::TooMany { what: "agents", found, most: MOST_AGENTS });
        }
        let ids = self.ids_for(agents)?;
        let mut looked = Looked::new();
        let mut newcomers = Vec::with_capacity(agents.len());
        for (agent, id) in agents.iter().zip(&ids) {
            newcomers.push(self.newcomer(agent, *id, &mut looked)?);
        }
        for newcomer in newcomers {
            self.admit(newcomer)?;
        }
        Ok(ids)
    }

    /// Bring agents in at the beginning of a tick to come. Ids that they ask for are kept for them.
    ///
    /// # Errors
    /// As [`Engine::spawn_agents`], as far as that can be said by now; what cannot, becomes a warning when the tick has come.
    pub fn spawn_at(&mut self, tick: u64, agents: &[AgentState]) -> Result<(), EngineError> {
        let waiting: usize = self.schedule.0.values().map(VecDeque::len).sum();
        if waiting + agents.len() > MOST_AGENTS {
            let found = waiting + agents.len();
            return Err(EngineError::TooMany {
                what: "agents that wait for their tick",
                found,
                most: MOST_AGENTS,
            });
        }
        let mut looked = Looked::new();
        let ids = self.ids_for(agents)?;
        for (agent, id) in agents.iter().zip(ids) {
            self.newcomer(agent, id, &mut looked)?;
        }
        agents.iter().for_each(|agent| self.crowd.see_id(agent.agent_id));
        self.schedule.0.entry(tick.max(self.ticks())).or_default().extend(agents.iter().cloned());
        Ok(())
    }

    /// Whether agents still wait for their tick.
    #[must_use]
    pub fn expects_agents(&self) -> bool {
        !self.schedule.0.is_empty()
    }

    pub(super) fn spawn_scheduled(&mut self) {
        while let Some(entry) =
            self.schedule.0.first_entry().filter(|entry| *entry.key() <= self.crowd.ticks())
        {
            for agent in entry.remove() {
                if let Err(error) = self.spawn_agents(std::slice::from_ref(&agent)) {
                    self.warnings.say(format!("agent {:?} does not come: {error}", agent.name));
                }
            }
        }
    }

    /// The ids of a request. Ids that the client gives come first, so that none is handed out twice.
    fn ids_for(&self, agents: &[AgentState]) -> Result<Vec<i32>, EngineError> {
        let mut given = BTreeSet::new();
        for id in agents.iter().map(|agent| agent.agent_id).filter(|id| *id != 0) {
            if !given.insert(id) || self.crowd.pool().row_of(id).is_some() {
                return Err(CrowdError::IdTaken(id).into());
            }
        }
        let mut largest = given.last().map_or(self.crowd.largest_id(), |id| self.crowd.largest_id().max(*id));
        let mut next = |agent: &AgentState| match agent.agent_id {
            0 => {
                largest = largest.checked_add(1).ok_or(CrowdError::NoIdLeft(largest))?;
                Ok(largest)
            }
            id => Ok(id),
        };
        agents.iter().map(&mut next).collect()
    }

    fn newcomer(
        &mut self,
        agent: &AgentState,
        id: i32,
        looked: &mut Looked,
    ) -> Result<Newcomer, EngineError> {
        if RESERVED.contains(&agent.name.as_str()) {
            return Err(EngineError::ReservedName(agent.name.clone()));
        }
        let mut request = request(agent)?;
        request.id = id;
        request.check()?;
        waypoints::check(&format!("agent {id}"), &agent.waypoints)?;
        let agent_type = if agent.agent_type.is_empty() { DEFAULT_TYPE } else { &agent.agent_type };
        let resolved = match looked.get(agent_type) {
            Some(resolved) => resolved.clone(),
            None => {
                let resolved = self.find_type(agent_type);
                looked.entry(agent_type.to_owned()).or_insert(resolved).clone()
            }
        };
        let planner = self.planner_of(&request, resolved.as_deref());
        let parameters = self.parameters_of(&request, resolved.as_deref())?;
        parameters.check(id)?;
        request.pose = self.freed(request.pose, parameters.radius);
        let person = Person {
            name: agent.name.clone(),
            agent_type: agent.agent_type.clone(),
            resolved,
            request,
            source: None,
            since: self.ticks(),
        };
        Ok(Newcomer { person, parameters, planner, waypoints: agent.waypoints.clone(), sink: NO_SINK })
    }

    /// A type by name or path; `None` for an unknown one, whose agents get fixed numbers.
    pub(super) fn find_type(&mut self, name: &str) -> Option<Arc<ResolvedType>> {
        let found = self.types.as_ref().and_then(|source| source(name)).unwrap_or_else(|| {
            AgentTypeLibrary::built_in().named(name).cloned().map_err(|error| error.to_string())
        });
        found
            .map_err(|reason| {
                self.warnings
                    .say(format!("agents of type {name:?} get the numbers of an unknown type: {reason}"));
            })
            .ok()
    }

    /// Who moves an agent: its own planner or its type's, unless the default is forced on everybody; robots are moved by a feed.
    pub(super) fn planner_of(
        &self,
        request: &SpawnRequest,
        resolved: Option<&ResolvedType>,
    ) -> Option<String> {
        let default = || self.crowd.settings().local_planner.clone();
        match (own_planner(request, resolved), request.kind) {
            (Some(_), _) if self.parameters.is_on("force_local_planner") => Some(default()),
            (Some(own), _) => Some(own.to_owned()),
            (None, Kind::Human) => Some(default()),
            (None, Kind::Robot) => None,
        }
    }

    /// The numbers of an agent: drawn from its own stream, moved with the means that are set, then overridden.
    pub(super) fn parameters_of(
        &self,
        request: &SpawnRequest,
        resolved: Option<&ResolvedType>,
    ) -> Result<AgentParameters, EngineError> {
        let settings = self.crowd.settings();
        let forced = self.parameters.is_on("force_local_planner");
        let own = own_planner(request, resolved).filter(|_| !forced);
        let planner = planner::named(own.unwrap_or(&settings.local_planner))?;
        let means = if own.is_none() { self.parameters.planner_means() } else { Vec::new() };
        let mut parameters = request.parameters(settings.seed, request.id, resolved, planner.keys(), &means);
        // What was said for another planner means nothing to the one that is forced on everybody.
        if !forced || request.planner.as_deref().is_none_or(|name| name == planner.name()) {
            planner::policy::apply(&request.policy_params, &*planner, self.crowd.classes(), &mut parameters)?;
        }
        Ok(parameters)
    }

    /// Bring somebody in who was checked.
    pub(super) fn admit(&mut self, newcomer: Newcomer) -> Result<i32, EngineError> {
        let Newcomer { person, parameters, planner, waypoints, sink } = newcomer;
        let request = SpawnRequest { planner, ..person.request.clone() };
        let id = self.crowd.spawn_with(&request, parameters)?;
        self.names.bind(&person.name, id);
        if person.request.kind == Kind::Robot {
            match person.agent_type.as_str() {
                "" => self.names.bind_if_free(&format!("robot_{id}"), id),
                agent_type => self.names.bind_if_free(agent_type, id),
            }
        }
        self.people.push(person, true, sink);
        self.note_arrival(id);
        self.output.meta_stale = true;
        report(&mut self.spawned, id);
        self.start_way(id, waypoints)?;
        Ok(id)
    }

    /// Take agents out; ids of nobody are ignored, and no ids at all takes everybody out: then names, feeds, lifetimes and what is under
    /// way are forgotten, ids begin at 1 and ticks at 0 again, while time goes on and walls, sources and sinks stay.
    ///
    /// # Errors
    /// None today; a later one may refuse who is in use.
    pub fn remove_agents(&mut self, ids: &[i32]) -> Result<(), EngineError> {
        if ids.is_empty() {
            self.remove_everybody();
        }
        for id in ids {
            if self.is_published(*id) {
                self.dismiss(*id, Reason::Request);
            }
        }
        Ok(())
    }

    pub(super) fn remove_everybody(&mut self) {
        for row in (0..self.crowd.pool().len()).rev() {
            self.dismiss(self.crowd.pool().id[row], Reason::Request);
        }
        self.epoch_ns = self.now_ns();
        self.crowd.restart_ids();
        self.crowd.set_ticks(0);
        self.names.clear();
        self.feed.clear();
        self.stimuli.clear();
        self.schedule.clear();
        self.output.meta_stale = true;
    }

    /// Take one agent out, with everything known of it.
    pub(super) fn dismiss(&mut self, id: i32, reason: Reason) {
        let Some(row) = self.crowd.pool().row_of(id) else { return };
        if self.crowd.remove(id).is_err() {
            return;
        }
        self.note_departure(id, reason);
        if self.people.published[row] {
            report(&mut self.despawned, id);
        }
        let person = self.people.swap_remove(row);
        self.flow.left(person.source);
        self.names.forget(id);
        self.stimuli.forget(id);
        self.feed.forget(id);
        self.output.meta_stale = true;
    }

    /// Change agents where they stand; the ids of those that were changed. A type draws all numbers anew, numbers that are not 0 override;
    /// pose, way, kind and planner stay. Id 0 looks up by name, and whoever is not there is left out.
    ///
    /// # Errors
    /// A number or hand that is none; then nobody is changed.
    pub fn update_agents(&mut self, agents: &[AgentState]) -> Result<Vec<i32>, EngineError> {
        let mut changes = Vec::new();
        let mut looked = Looked::new();
        for agent in agents {
            let Ok(id) = self.id_of(agent.agent_id, &agent.name) else { continue };
            let Some(row) = self.crowd.pool().row_of(id).filter(|row| self.people.published[*row]) else {
                continue;
            };
            let person = &self.people.persons[row];
            let mut changed = request(agent)?;
            (changed.id, changed.pose, changed.velocity) = (id, person.request.pose, person.request.velocity);
            (changed.kind, changed.planner) = (person.request.kind, person.request.planner.clone());
            changed.policy_params.clone_from(&person.request.policy_params);
            changed.check()?;
            let (mut agent_type, mut resolved) = (person.agent_type.clone(), person.resolved.clone());
            if agent.agent_type.is_empty() {
                changed = changed.over(&person.request);
            } else {
                agent_type.clone_from(&agent.agent_type);
                resolved = match looked.get(&agent_type) {
                    Some(resolved) => resolved.clone(),
                    None => {
                        let resolved = self.find_type(&agent_type);
                        looked.entry(agent_type.clone()).or_insert(resolved).clone()
                    }
                };
            }
            let parameters = self.parameters_of(&changed, resolved.as_deref())?;
            parameters.check(id)?;
            changes.push((id, changed, agent_type, resolved, parameters));
        }
        let mut updated = Vec::with_capacity(changes.len());
        for (id, request, agent_type, resolved, parameters) in changes {
            let Some(row) = self.crowd.pool().row_of(id) else { continue };
            self.crowd.set_parameters(id, parameters)?;
            let person = &mut self.people.persons[row];
            (person.request, person.agent_type, person.resolved) = (request, agent_type, resolved);
            self.note_change(id);
            updated.push(id);
        }
        self.output.meta_stale |= !updated.is_empty();
        Ok(updated)
    }

    /// Put a robot somewhere; it stands there until it is told otherwise. Radius 0 is 0.3 m.
    ///
    /// # Errors
    /// No agent of that name, or a number that is none.
    pub fn update_robot(&mut self, robot: &RobotState) -> Result<(), EngineError> {
        let id = self.id_of(0, &robot.name)?;
        let radius = if robot.radius == 0.0 { ROBOT_RADIUS } else { robot.radius };
        if !(radius > 0.0 && radius <= 100.0) {
            return refuse(format!("radius of {:?}", robot.name), "a number from 0 to 100", radius);
        }
        self.crowd.place(id, robot.pose, [0.0; 2])?;
        Ok(self.crowd.set_radius(id, radius)?)
    }

    /// Put robots where they are, and tell who has come and who has gone since the last call, mirrors aside. Robots there are not, or that
    /// are nowhere, are left out with a warning. At most a million ids of each list are kept.
    ///
    /// # Errors
    /// None today.
    pub fn feedback(&mut self, robots: &[RobotState]) -> Result<(Vec<i32>, Vec<i32>), EngineError> {
        for robot in robots {
            if let Err(error) = self.update_robot(robot) {
                self.warnings.say(format!("feedback of robot {:?} is left out: {error}", robot.name));
            }
        }
        Ok((std::mem::take(&mut self.spawned), std::mem::take(&mut self.despawned)))
    }

    /// An agent by id, or with id 0 by name.
    pub(super) fn id_of(&self, id: i32, name: &str) -> Result<i32, EngineError> {
        match id {
            0 => self
                .names
                .find(name)
                .ok_or_else(|| EngineError::NoSuch { kind: "agent", name: name.to_owned() }),
            id if self.crowd.pool().row_of(id).is_some() => Ok(id),
            id => Err(CrowdError::NoAgent(id).into()),
        }
    }

    /// Whether an agent is one of the engine's own, which clients know.
    fn is_published(&self, id: i32) -> bool {
        self.crowd.pool().row_of(id).is_some_and(|row| self.people.published[row])
    }
}

/// The planner that an agent's request or type names.
fn own_planner<'a>(request: &'a SpawnRequest, resolved: Option<&'a ResolvedType>) -> Option<&'a str> {
    let of_type = || resolved?.merged.document.get("local_planner")?.as_str();
    request.planner.as_deref().or_else(of_type)
}

/// Remember an id for the next feedback.
fn report(ids: &mut Vec<i32>, id: i32) {
    if ids.len() >= MOST_REPORTED {
        ids.drain(..MOST_REPORTED / 2);
    }
    ids.push(id);
}

/// What an agent's state asks for.
fn request(agent: &AgentState) -> Result<SpawnRequest, EngineError> {
    let handedness = match agent.handedness.as_str() {
        "" => None,
        "l" => Some(Handedness::Left),
        "r" => Some(Handedness::Right),
        found => {
            return Err(EngineError::Handedness { name: agent.name.clone(), found: found.to_owned() });
        }
    };
    if !agent.policy.is_empty() {
        planner::named(&agent.policy)?;
    }
    Ok(SpawnRequest {
        id: agent.agent_id,
        pose: agent.pose,
        velocity: agent.velocity,
        kind: if agent.kind == kind::ROBOT { Kind::Robot } else { Kind::Human },
        planner: (!agent.policy.is_empty()).then(|| agent.policy.clone()),
        desired_velocity: agent.desired_velocity,
        max_velocity: agent.max_velocity,
        radius: agent.radius,
        vision_range: agent.vision_range,
        vision_fov: agent.vision_fov,
        relaxation_time: agent.relaxation_time,
        repulsion_strength: agent.repulsion_strength,
        repulsion_range: agent.repulsion_range,
        handedness,
        policy_params: agent.policy_params.clone(),
    })
}
