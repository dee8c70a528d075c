//! The hunav backend before an engine that only takes down what it is told, and before its own (HuNav specification, section 8).

mod builtin;
mod engine;
mod people;
mod world;

use std::cell::RefCell;
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;

use promenade_human::backends::hunav::{Hunav, HunavLink, HunavSettings, LinkError};
use promenade_human::entity::{DynamicObstacle, Wall};
use promenade_human::message::Pose;
use promenade_human::{BackendContext, Parameter, ParameterValue};
use promenade_hunav::{Agent, Request, Robot};
use promenade_scenario::Scenario;

use crate::stage::{Stage, person};

/// What an engine makes of the agents of a request.
pub(crate) type Answers = fn(&[Agent]) -> Vec<Agent>;

/// The names of agents, and the walls.
pub(crate) type Shown = (Vec<String>, Vec<(String, Wall)>);

/// What the engine was told, and how it answers.
#[derive(Default)]
pub(crate) struct Told {
    /// Stamp in nanoseconds, agents and robot of each request.
    pub(crate) requests: Vec<(i64, Vec<Agent>, Robot)>,
    pub(crate) clears: usize,
    /// What the engine makes of a request; without it, it says nothing about anybody.
    pub(crate) answers: Option<Answers>,
    pub(crate) is_silent: bool,
    pub(crate) shown: Vec<Shown>,
}

/// An engine of HuNavSim: whoever is new needs a clear.
#[derive(Clone, Default)]
pub(crate) struct Scripted(pub(crate) Rc<RefCell<Told>>);

impl HunavLink for Scripted {
    fn compute(&mut self, request: &Request<'_>, answer: &mut Vec<Agent>) -> Result<(), LinkError> {
        let mut told = self.0.borrow_mut();
        told.requests.push((request.stamp_ns, request.agents.to_vec(), request.robot.clone()));
        if told.is_silent {
            return Err(LinkError::Silent);
        }
        answer.clear();
        answer.extend(told.answers.map(|answers| answers(request.agents)).unwrap_or_default());
        Ok(())
    }

    fn clear(&mut self) -> Result<(), LinkError> {
        let mut told = self.0.borrow_mut();
        told.clears += 1;
        if told.is_silent { Err(LinkError::Silent) } else { Ok(()) }
    }

    fn adds_agents(&self) -> bool {
        false
    }

    fn show(&mut self, agents: &[Agent], walls: &[(String, Wall)]) {
        let names = agents.iter().map(|agent| agent.name.clone()).collect();
        self.0.borrow_mut().shown.push((names, walls.to_vec()));
    }
}

/// A stage whose people a scripted engine moves.
pub(crate) struct Play {
    pub(crate) stage: Stage,
    pub(crate) told: Rc<RefCell<Told>>,
}

impl Play {
    pub(crate) fn new() -> Self {
        Self::with(HunavSettings::default())
    }

    pub(crate) fn with(hunav_settings: HunavSettings) -> Self {
        let link = Scripted::default();
        let told = Rc::clone(&link.0);
        let context = BackendContext {
            hunav: Some(Box::new(link)),
            hunav_settings,
            offset: [10.0, -5.0],
            ..BackendContext::default()
        };
        let mut stage = Stage::with(Box::new(Hunav::new(context)));
        stage.at(10.0);
        Play { stage, told }
    }

    pub(crate) fn spawn(&mut self, people: &[DynamicObstacle]) -> &mut Self {
        self.stage.layer.spawn_pedestrians(people);
        self
    }

    pub(crate) fn answers(&mut self, answers: Answers) -> &mut Self {
        self.told.borrow_mut().answers = Some(answers);
        self
    }

    /// The agents of the last request.
    pub(crate) fn asked(&self) -> Vec<Agent> {
        self.told.borrow().requests.last().expect("a request").1.clone()
    }

    pub(crate) fn robot(&self) -> Robot {
        self.told.borrow().requests.last().expect("a request").2.clone()
    }
}

/// People of a scenario text, each at the place and with the name of its entry, in a world at the offset (10, -5).
pub(crate) fn people(entries: &[&str]) -> Vec<DynamicObstacle> {
    let text: String = entries.iter().map(|entry| format!("- {{model: adult, {entry}}}\n")).collect();
    let file = Path::new("/scenes/scenario.yaml");
    let scenario = Scenario::parse(&format!("dynamic:\n{text}"), file).expect("holds").value;
    let of_entry = |entry: &promenade_scenario::DynamicEntry| {
        let promenade_scenario::Place::Pose(pose) = &entry.pose else { panic!("no pose") };
        let point = |place: &promenade_scenario::Waypoint| match &place.place {
            promenade_scenario::Place::Pose(pose) => [pose.x + 10.0, pose.y - 5.0],
            _ => panic!("no pose"),
        };
        DynamicObstacle {
            pose: Pose::planar(pose.x + 10.0, pose.y - 5.0, pose.yaw),
            velocity: entry.velocity,
            waypoints: entry.waypoints.iter().map(point).collect(),
            waypoint_mode: entry.waypoint_mode,
            entry: Some(Arc::new(entry.clone())),
            ..person(&entry.name)
        }
    };
    scenario.dynamics.iter().map(of_entry).collect()
}

pub(crate) fn param(name: &str, value: ParameterValue) -> Parameter {
    Parameter { name: format!("hunav.{name}"), value }
}

pub(crate) fn text(value: &str) -> ParameterValue {
    ParameterValue::Text(value.to_owned())
}

/// As the original answers: only some fields, one metre further along x, in the reverse order.
pub(crate) fn one_metre_on(agents: &[Agent]) -> Vec<Agent> {
    let on = |agent: &Agent| Agent {
        id: agent.id,
        name: agent.name.clone(),
        position: [agent.position[0] + 1.0, agent.position[1]],
        yaw: 0.25,
        velocity: [1.0, 0.0],
        linear_vel: 1.0,
        behavior: agent.behavior,
        goals: agent.goals.clone(),
        desired_velocity: 0.0,
        radius: 0.0,
        goal_radius: 0.0,
        group_id: 0,
        ..Agent::default()
    };
    agents.iter().rev().map(on).collect()
}
