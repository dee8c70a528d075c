//! The manager with what it says on topics, and the values that requests are read into.

use hunav_msgs::msg::rmw::{Agent as WireAgent, Agents as WireAgents};
use promenade_hunav::{Agent, Manager, Request, Robot};
#[cfg(hunav_flavour = "arena")]
use std_msgs::msg::rmw::Float32MultiArray;

#[cfg(hunav_flavour = "arena")]
use super::field::Fields;
use super::settings::Settings;
use super::topics::Topics;
use crate::bus::time_from_wire;
use crate::hunav::wire;

/// See the module.
pub(super) struct Host {
    manager: Manager,
    topics: Topics,
    /// Whether the first call was; it initialises, and nothing is published of it.
    has_begun: bool,
    agents: Vec<Agent>,
    robot: Robot,
    answer: Vec<Agent>,
    one: Agent,
    /// Whom a simulator is told of before the first call.
    announced: Vec<Agent>,
    #[cfg(hunav_flavour = "arena")]
    fields: Fields,
}

impl Host {
    pub(super) fn new(settings: Settings, topics: Topics) -> Self {
        let mut manager = Manager::new(settings.options);
        manager.world_mut().set_global_goals(settings.global_goals);
        Host {
            manager,
            topics,
            has_begun: false,
            agents: Vec::new(),
            robot: Robot::default(),
            answer: Vec::new(),
            one: Agent::default(),
            announced: settings.agents,
            #[cfg(hunav_flavour = "arena")]
            fields: Fields::default(),
        }
    }

    /// `compute_agents`.
    pub(super) fn compute_agents(&mut self, agents: &WireAgents, robot: &WireAgent, to: &mut WireAgents) {
        let moves = self.begin(agents, robot);
        let request = Request { stamp_ns: stamp(agents), agents: &self.agents, robot: &self.robot };
        self.manager.compute_agents(&request, &mut self.answer);
        self.finish(agents, moves);
        to.header = agents.header.clone();
        wire::write_agents(&self.answer, &mut to.agents);
    }

    /// `move_agent`; an agent with default fields when there is none of this id.
    pub(super) fn move_agent(&mut self, agents: &WireAgents, robot: &WireAgent, id: i32, to: &mut WireAgent) {
        let moves = self.begin(agents, robot);
        let request = Request { stamp_ns: stamp(agents), agents: &self.agents, robot: &self.robot };
        if self.manager.move_agent(&request, id, &mut self.one) {
            wire::write_agent(&self.one, to);
        } else {
            tracing::warn!("move_agent: there is no agent {id}");
        }
        self.finish(agents, moves);
    }

    /// `compute_agent`; an agent with default fields when there is none of this id.
    pub(super) fn compute_agent(&mut self, id: i32, to: &mut WireAgent) {
        if self.manager.compute_agent(id, &mut self.one) {
            wire::write_agent(&self.one, to);
        } else {
            tracing::warn!("compute_agent: there is no agent {id}");
        }
    }

    /// `reset_agents`.
    pub(super) fn reset_agents(&mut self, agents: &WireAgents, robot: &WireAgent) {
        self.read(agents, robot);
        let request = Request { stamp_ns: stamp(agents), agents: &self.agents, robot: &self.robot };
        self.manager.reset_agents(&request);
        self.has_begun = true;
    }

    /// `clear_agents`; how many there were.
    pub(super) fn clear_agents(&mut self) -> usize {
        let count = self.manager.world().len();
        self.manager.clear_agents();
        self.has_begun = false;
        count
    }

    /// `get_agents`: who is there, or will be.
    pub(super) fn get_agents(&mut self, to: &mut WireAgents) {
        let world = self.manager.world();
        if world.is_empty() {
            return wire::write_agents(&self.announced, &mut to.agents);
        }
        self.answer.resize_with(world.len(), Agent::default);
        self.answer.iter_mut().enumerate().for_each(|(row, agent)| world.agent_into(row, agent));
        wire::write_agents(&self.answer, &mut to.agents);
    }

    /// `set_velocity_field`.
    #[cfg(hunav_flavour = "arena")]
    pub(super) fn set_velocity_field(&mut self, from: &Float32MultiArray) -> Result<(), String> {
        let field = self.fields.set_field(from)?;
        self.manager.world_mut().set_velocity_field(field);
        Ok(())
    }

    /// `set_arena_world_size`: what a field covers.
    #[cfg(hunav_flavour = "arena")]
    pub(super) fn set_world_size(&mut self, from: &Float32MultiArray) -> Result<(), String> {
        let field = self.fields.set_size(from)?;
        self.manager.world_mut().set_velocity_field(field);
        Ok(())
    }

    /// `set_arena_world_bounds`: what a field covers.
    #[cfg(hunav_flavour = "arena")]
    pub(super) fn set_world_bounds(&mut self, from: &Float32MultiArray) -> Result<(), String> {
        let field = self.fields.set_bounds(from)?;
        self.manager.world_mut().set_velocity_field(field);
        Ok(())
    }

    fn read(&mut self, agents: &WireAgents, robot: &WireAgent) {
        wire::read_agents(&agents.agents, &mut self.agents);
        wire::read_robot(robot, &mut self.robot);
    }

    /// Reads a request and publishes it, unless it is the first; whether it moves somebody.
    fn begin(&mut self, agents: &WireAgents, robot: &WireAgent) -> bool {
        self.read(agents, robot);
        let moves = std::mem::replace(&mut self.has_begun, true);
        if moves {
            self.topics.publish_request(agents, robot, &self.agents, &self.robot);
        }
        moves
    }

    fn finish(&mut self, agents: &WireAgents, moves: bool) {
        if moves {
            self.topics.publish_forces(&agents.header, self.manager.world());
        }
    }
}

fn stamp(agents: &WireAgents) -> i64 {
    time_from_wire(&agents.header.stamp).nanos()
}
