//! One crowd engine under test: an `arena_humansim` node and a client of what it offers.

use std::sync::atomic::{AtomicU32, Ordering};

use anyhow::{Context as _, Result, ensure};
use r2r::arena_humansim_msgs::msg::{AgentFrame, AgentState, AgentStates, Waypoint, Waypoints};
use r2r::arena_humansim_msgs::srv::{RemoveAgents, ResetSimulation, SpawnAgents};
use r2r::geometry_msgs::msg::{Pose2D, Vector3};
use r2r::rcl_interfaces::msg::{Parameter, ParameterValue, SetParametersResult};
use r2r::rcl_interfaces::srv::{GetParameters, SetParameters, SetParametersAtomically};
use r2r::std_msgs::msg::Header;
use r2r::{QosProfile, WrappedServiceTypeSupport, WrappedTypesupport};

use crate::{Mailbox, Process, SECOND, Stage, node_arguments, wire};

/// Length of a tick, nanoseconds.
pub const DT: i64 = SECOND / 20;

/// Number of the next engine.
static NEXT: AtomicU32 = AtomicU32::new(0);

/// See the module.
pub struct Engine {
    /// `/engine_<n>`; a number is used once per test process.
    pub namespace: String,
    /// The node.
    pub process: Process,
    /// What came on `agent_states`.
    pub frames: Mailbox<AgentFrame>,
    /// What the clock reads.
    pub now: i64,
    feed: r2r::Publisher<AgentStates>,
}

impl Engine {
    /// Starts the node with parameters and waits until it listens.
    ///
    /// # Errors
    /// When it does not start or does not appear.
    pub fn start(stage: &mut Stage, parameters: &[(&str, &str)]) -> Result<Self> {
        let namespace = format!("/engine_{}", NEXT.fetch_add(1, Ordering::Relaxed));
        let frames =
            stage.subscribe(&format!("{namespace}/agent_states"), QosProfile::default().keep_last(1000))?;
        let feed = stage.node.create_publisher(&format!("{namespace}/world_state"), QosProfile::default())?;
        let process = Process::node("arena_humansim", node_arguments(&namespace, parameters))?;
        let matched = feed.wait_for_inter_process_subscribers()?;
        stage.wait("subscription to world_state", matched).context(process.log())??;
        Ok(Self { namespace, process, frames, now: 0, feed })
    }

    /// Starts a node that follows the clock, and lets the clock run from `at` until its frames arrive here.
    ///
    /// # Errors
    /// When no frame arrives.
    pub fn follow(stage: &mut Stage, at: i64, parameters: &[(&str, &str)]) -> Result<Self> {
        let all: Vec<_> = [("mode", "subsystem")].iter().chain(parameters).copied().collect();
        let mut engine = Self::start(stage, &all)?;
        engine.now = at;
        stage.turn_until("frame", |stage| {
            stage.publish_clock(engine.now)?;
            stage.turn();
            if engine.frames.is_empty() {
                engine.now += DT;
                return Ok(None);
            }
            Ok(Some(()))
        })?;
        engine.settle(stage)?;
        Ok(engine)
    }

    /// Waits for the frame of the time that the clock reads.
    ///
    /// # Errors
    /// When it does not come.
    pub fn settle(&self, stage: &mut Stage) -> Result<AgentFrame> {
        let now = self.now;
        stage
            .clock_until(now, "frame of now", || {
                self.frames.find(|frame| wire::nanos(&frame.header.stamp) == now)
            })
            .with_context(|| self.process.log())
    }

    /// Lets the clock go on by one tick and answers the frame of that time.
    ///
    /// # Errors
    /// When it does not come.
    pub fn tick(&mut self, stage: &mut Stage) -> Result<AgentFrame> {
        self.now += DT;
        self.settle(stage)
    }

    /// Lets the clock go on by `ticks` ticks and answers the last frame.
    ///
    /// # Errors
    /// When a frame does not come.
    pub fn run(&mut self, stage: &mut Stage, ticks: usize) -> Result<AgentFrame> {
        (0..ticks).map(|_| self.tick(stage)).last().context("at least one tick")?
    }

    /// A topic or service of this engine.
    #[must_use]
    pub fn name(&self, of: &str) -> String {
        format!("{}/{of}", self.namespace)
    }

    /// Collects what the engine says on a topic.
    ///
    /// # Errors
    /// When the subscription cannot be created.
    pub fn subscribe<T: WrappedTypesupport + 'static>(
        &self,
        stage: &mut Stage,
        topic: &str,
        qos: QosProfile,
    ) -> Result<Mailbox<T>> {
        stage.subscribe(&self.name(topic), qos)
    }

    /// Calls a service.
    ///
    /// # Errors
    /// When there is no answer.
    pub fn call<S: WrappedServiceTypeSupport + 'static>(
        &self,
        stage: &mut Stage,
        service: &str,
        request: &S::Request,
    ) -> Result<S::Response> {
        let client = stage.node.create_client::<S>(&self.name(service), QosProfile::services_default())?;
        let available = r2r::Node::is_available(&client)?;
        stage.wait(service, available).with_context(|| self.process.log())??;
        let answer = client.request(request)?;
        Ok(stage.wait(&format!("answer of {service}"), answer).with_context(|| self.process.log())??)
    }

    /// Spawns agents and answers their ids.
    ///
    /// # Errors
    /// When the engine refuses.
    pub fn spawn(&self, stage: &mut Stage, agents: Vec<AgentState>) -> Result<Vec<i32>> {
        let answer =
            self.call::<SpawnAgents::Service>(stage, "spawn_agents", &SpawnAgents::Request { agents })?;
        ensure!(answer.success, "{}", answer.message);
        Ok(answer.spawned_ids)
    }

    /// Takes everybody away.
    ///
    /// # Errors
    /// When the engine refuses.
    pub fn remove_everybody(&self, stage: &mut Stage) -> Result<()> {
        let answer =
            self.call::<RemoveAgents::Service>(stage, "remove_agents", &RemoveAgents::Request::default())?;
        ensure!(answer.success, "{}", answer.message);
        Ok(())
    }

    /// Resets the engine.
    ///
    /// # Errors
    /// When the engine refuses.
    pub fn reset(&self, stage: &mut Stage, soft: bool) -> Result<()> {
        let answer =
            self.call::<ResetSimulation::Service>(stage, "reset", &ResetSimulation::Request { soft })?;
        ensure!(answer.success, "{}", answer.message);
        Ok(())
    }

    /// Publishes external agents with a stamp.
    ///
    /// # Errors
    /// When ROS cannot publish.
    pub fn feed(&self, at: i64, agents: Vec<AgentState>) -> Result<()> {
        let header = Header { stamp: wire::stamp(at), frame_id: "map".to_owned() };
        Ok(self.feed.publish(&AgentStates { header, agents })?)
    }

    /// Sets parameters one by one.
    ///
    /// # Errors
    /// When there is no answer.
    pub fn set(
        &self,
        stage: &mut Stage,
        parameters: &[(&str, ParameterValue)],
    ) -> Result<Vec<SetParametersResult>> {
        let request = SetParameters::Request { parameters: batch(parameters) };
        let service = "arena_humansim/set_parameters";
        Ok(self.call::<SetParameters::Service>(stage, service, &request)?.results)
    }

    /// Sets parameters as one.
    ///
    /// # Errors
    /// When there is no answer.
    pub fn set_as_one(
        &self,
        stage: &mut Stage,
        parameters: &[(&str, ParameterValue)],
    ) -> Result<SetParametersResult> {
        let request = SetParametersAtomically::Request { parameters: batch(parameters) };
        let service = "arena_humansim/set_parameters_atomically";
        Ok(self.call::<SetParametersAtomically::Service>(stage, service, &request)?.result)
    }

    /// A parameter.
    ///
    /// # Errors
    /// When there is no answer.
    pub fn get(&self, stage: &mut Stage, name: &str) -> Result<ParameterValue> {
        let request = GetParameters::Request { names: vec![name.to_owned()] };
        let service = "arena_humansim/get_parameters";
        let answer = self.call::<GetParameters::Service>(stage, service, &request)?;
        answer.values.into_iter().next().context("a value")
    }
}

fn batch(parameters: &[(&str, ParameterValue)]) -> Vec<Parameter> {
    let one =
        |(name, value): &(&str, ParameterValue)| Parameter { name: (*name).to_owned(), value: value.clone() };
    parameters.iter().map(one).collect()
}

/// A whole number as a parameter.
#[must_use]
pub fn integer(value: i64) -> ParameterValue {
    ParameterValue { type_: 2, integer_value: value, ..ParameterValue::default() }
}

/// A number as a parameter.
#[must_use]
pub fn double(value: f64) -> ParameterValue {
    ParameterValue { type_: 3, double_value: value, ..ParameterValue::default() }
}

/// A text as a parameter.
#[must_use]
pub fn text(value: &str) -> ParameterValue {
    ParameterValue { type_: 4, string_value: value.to_owned(), ..ParameterValue::default() }
}

/// An agent at a place, to spawn or to feed.
#[must_use]
pub fn agent(agent_id: i32, name: &str, [x, y]: [f64; 2]) -> AgentState {
    AgentState { agent_id, name: name.to_owned(), pose: Pose2D { x, y, theta: 0.0 }, ..AgentState::default() }
}

/// The same agent on its way.
#[must_use]
pub fn walking(agent: AgentState, to: &[[f64; 2]]) -> AgentState {
    let point = |[x, y]: &[f64; 2]| Waypoint { pose: Pose2D { x: *x, y: *y, theta: 0.0 }, radius: 0.0 };
    AgentState { waypoints: Waypoints { points: to.iter().map(point).collect(), mode: 2 }, ..agent }
}

/// The same agent with a velocity.
#[must_use]
pub fn moving(agent: AgentState, [x, y]: [f64; 2]) -> AgentState {
    AgentState { velocity: Vector3 { x, y, z: 0.0 }, ..agent }
}

/// Where an agent of a frame is, and its velocity.
#[must_use]
pub fn seen(frame: &AgentFrame, id: i32) -> Option<([f64; 2], [f64; 2])> {
    let row = frame.agent_id.iter().position(|known| *known == id)?;
    Some(([*frame.x.get(row)?, *frame.y.get(row)?], [*frame.vx.get(row)?, *frame.vy.get(row)?]))
}
