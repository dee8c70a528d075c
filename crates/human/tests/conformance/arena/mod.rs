//! The arena backend before an engine that only takes down what it is told (human-layer specification, section 17).

mod feed;
mod flow;
mod frames;
mod start;
mod world;

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use promenade_crowd::Wall;
use promenade_crowd::protocol::{
    AgentFrame, AgentGestures, AgentMeta, AgentState, AgentStates, ObstacleConfig, ParameterValue,
    SinkConfig, SourceConfig, WorldObjectInfo,
};
use promenade_human::backends::arena::{Arena, EngineLink, Heard, LinkError, LinkResult};
use promenade_kernel::Time;

use crate::stage::Stage;

/// What the engine says at the next look.
#[derive(Clone, Debug)]
pub(crate) enum Say {
    Started,
    Frame(Box<AgentFrame>),
    Meta(AgentMeta),
    Gestures(AgentGestures),
}

/// What the engine was told, and how it answers.
#[derive(Default)]
pub(crate) struct Told {
    pub(crate) says: Vec<Say>,
    /// Every call but `advance` and `feed`, with the names it is about.
    pub(crate) calls: Vec<String>,
    pub(crate) agents: Vec<AgentState>,
    pub(crate) walls: Vec<Wall>,
    pub(crate) obstacles: Vec<ObstacleConfig>,
    pub(crate) objects: Vec<WorldObjectInfo>,
    pub(crate) sources: Vec<SourceConfig>,
    pub(crate) sinks: Vec<SinkConfig>,
    pub(crate) fed: Vec<AgentStates>,
    pub(crate) batches: Vec<Vec<(String, ParameterValue)>>,
    /// Calls beginning with one of these are refused.
    pub(crate) refuses: Vec<&'static str>,
    pub(crate) is_silent: bool,
    /// The ids that the next spawn answers, whoever is asked for.
    pub(crate) ids: Option<Vec<i32>>,
    pub(crate) next_id: i32,
}

#[derive(Clone)]
pub(crate) struct Fake(pub(crate) Rc<RefCell<Told>>);

impl Fake {
    fn call(&self, verb: &str, about: &[String]) -> LinkResult<()> {
        let mut told = self.0.borrow_mut();
        told.calls.push(format!("{verb} {}", about.join(" ")).trim_end().to_owned());
        if told.is_silent {
            return Err(LinkError::Unreachable);
        }
        match told.refuses.contains(&verb) {
            true => Err(LinkError::Refused("no such luck".to_owned())),
            false => Ok(()),
        }
    }
}

fn names<T>(of: &[T], name: impl Fn(&T) -> &String) -> Vec<String> {
    of.iter().map(|one| name(one).clone()).collect()
}

impl EngineLink for Fake {
    fn dt(&self) -> Duration {
        Duration::from_millis(50)
    }
    fn frame_topic(&self) -> Option<String> {
        Some("task_generator/agent_states".to_owned())
    }
    fn advance(&mut self, _now: Time, hear: &mut dyn FnMut(Heard<'_>)) {
        let says = std::mem::take(&mut self.0.borrow_mut().says);
        for say in &says {
            hear(match say {
                Say::Started => Heard::Started,
                Say::Frame(frame) => Heard::Frame(frame),
                Say::Meta(meta) => Heard::Meta(meta),
                Say::Gestures(gestures) => Heard::Gestures(gestures),
            });
        }
    }
    fn feed(&mut self, states: &AgentStates) {
        self.0.borrow_mut().fed.push(states.clone());
    }
    fn spawn_agents(&mut self, agents: &[AgentState]) -> LinkResult<Vec<i32>> {
        self.call("spawn_agents", &names(agents, |agent| &agent.name))?;
        let mut told = self.0.borrow_mut();
        told.agents.extend_from_slice(agents);
        let first = told.next_id.max(1);
        told.next_id = first + agents.len() as i32;
        let counted = (first..told.next_id).collect();
        Ok(told.ids.take().unwrap_or(counted))
    }
    fn remove_agents(&mut self, ids: &[i32]) -> LinkResult<()> {
        self.call("remove_agents", &ids.iter().map(ToString::to_string).collect::<Vec<_>>())?;
        self.0.borrow_mut().next_id = 1;
        Ok(())
    }
    fn add_source(&mut self, source: &SourceConfig) -> LinkResult<()> {
        self.call("add_source", std::slice::from_ref(&source.name))?;
        self.0.borrow_mut().sources.push(source.clone());
        Ok(())
    }
    fn add_sink(&mut self, sink: &SinkConfig) -> LinkResult<()> {
        self.call("add_sink", std::slice::from_ref(&sink.name))?;
        self.0.borrow_mut().sinks.push(sink.clone());
        Ok(())
    }
    fn remove_source(&mut self, name: &str) -> LinkResult<()> {
        self.call("remove_source", &[name.to_owned()])
    }
    fn remove_sink(&mut self, name: &str) -> LinkResult<()> {
        self.call("remove_sink", &[name.to_owned()])
    }
    fn add_walls(&mut self, walls: &[Wall]) -> LinkResult<()> {
        self.call("add_walls", &names(walls, |wall| &wall.name))?;
        self.0.borrow_mut().walls.extend_from_slice(walls);
        Ok(())
    }
    fn remove_walls(&mut self, names: &[String]) -> LinkResult<()> {
        self.call("remove_walls", names)
    }
    fn add_obstacles(&mut self, obstacles: &[ObstacleConfig]) -> LinkResult<()> {
        self.call("add_obstacles", &names(obstacles, |one| &one.name))?;
        self.0.borrow_mut().obstacles.extend_from_slice(obstacles);
        Ok(())
    }
    fn remove_obstacles(&mut self, names: &[String]) -> LinkResult<()> {
        self.call("remove_obstacles", names)
    }
    fn add_world_objects(&mut self, objects: &[WorldObjectInfo]) -> LinkResult<()> {
        self.call("add_world_objects", &names(objects, |one| &one.object_id))?;
        self.0.borrow_mut().objects.extend_from_slice(objects);
        Ok(())
    }
    fn remove_world_objects(&mut self, names: &[String]) -> LinkResult<()> {
        self.call("remove_world_objects", names)
    }
    fn notify_stimulus(&mut self, agent_id: i32, stimulus: &str, intensity: f32) -> LinkResult<()> {
        self.call("notify_stimulus", &[agent_id.to_string(), stimulus.to_owned(), intensity.to_string()])
    }
    fn set_parameters(&mut self, batch: &[(String, ParameterValue)]) -> LinkResult<()> {
        self.call("set_parameters", &names(batch, |(name, _)| name))?;
        self.0.borrow_mut().batches.push(batch.to_vec());
        Ok(())
    }
    fn reset(&mut self, soft: bool) -> LinkResult<()> {
        self.call("reset", &[if soft { "soft" } else { "hard" }.to_owned()])
    }
}

/// Where the authored origin lies, as in the worked example of section 23.
pub(crate) const OFFSET: [f64; 2] = [10.0, -5.0];

/// A layer with the arena backend before the engine.
pub(crate) struct Play {
    pub(crate) stage: Stage,
    pub(crate) engine: Rc<RefCell<Told>>,
}

impl Play {
    pub(crate) fn new() -> Self {
        let engine: Rc<RefCell<Told>> = Rc::default();
        let arena = Arena::new(Box::new(Fake(Rc::clone(&engine))), "env_0", OFFSET);
        let mut stage = Stage::with(Box::new(arena));
        stage.at(10.0);
        Play { stage, engine }
    }

    /// With these people spawned, ids 1, 2 and so on.
    pub(crate) fn with_people(people: &[&str]) -> Self {
        let mut play = Play::new();
        let people: Vec<_> = people.iter().map(|name| crate::stage::person(name)).collect();
        play.stage.layer.spawn_pedestrians(&people);
        play.calls();
        play
    }

    /// One step at `at`, whether anything is published or not.
    pub(crate) fn tick(&mut self, at: f64) {
        self.stage.at(at);
        self.stage.layer.tick();
    }

    pub(crate) fn say(&self, say: Say) {
        self.engine.borrow_mut().says.push(say);
    }

    /// A frame of agents at time `at`: id, x, y, theta in the engine's world.
    pub(crate) fn say_frame(&self, at: f64, agents: &[(i32, f64, f64, f64)]) {
        self.say(Say::Frame(Box::new(frame(at, agents))));
    }

    /// Calls since the last look.
    pub(crate) fn calls(&self) -> Vec<String> {
        std::mem::take(&mut self.engine.borrow_mut().calls)
    }

    /// x and y of everybody in the last published frame, by name.
    pub(crate) fn places(&self) -> Vec<(String, [f64; 2])> {
        let frame = self.stage.last_frame();
        frame.into_iter().map(|(ped, _)| (ped.name, [ped.pose.position[0], ped.pose.position[1]])).collect()
    }

    pub(crate) fn frames(&self) -> usize {
        self.stage.log.borrow().frames.len()
    }
}

pub(crate) fn nanos(seconds: f64) -> i64 {
    Time::from_secs_f64(seconds).nanos()
}

pub(crate) fn frame(at: f64, agents: &[(i32, f64, f64, f64)]) -> AgentFrame {
    let count = agents.len();
    AgentFrame {
        stamp_ns: nanos(at),
        agent_id: agents.iter().map(|agent| agent.0).collect(),
        x: agents.iter().map(|agent| agent.1).collect(),
        y: agents.iter().map(|agent| agent.2).collect(),
        theta: agents.iter().map(|agent| agent.3).collect(),
        vx: vec![1.0; count],
        vy: vec![0.0; count],
        desired_velocity: vec![1.2; count],
        radius: vec![0.3; count],
        kind: vec![0; count],
        animation_state: vec![1; count],
        policy_idx: vec![0; count],
        gait_phase: vec![0.0; count],
        gait_cadence: vec![0.0; count],
        interaction_id: vec![-1; count],
        interaction_type: vec![0; count],
    }
}

pub(crate) fn meta(agents: &[(i32, &str, &str)]) -> AgentMeta {
    AgentMeta {
        stamp_ns: 0,
        policies: vec!["sfm".to_owned()],
        agent_id: agents.iter().map(|agent| agent.0).collect(),
        name: agents.iter().map(|agent| agent.1.to_owned()).collect(),
        handedness: vec![String::new(); agents.len()],
        agent_type: agents.iter().map(|agent| agent.2.to_owned()).collect(),
    }
}
