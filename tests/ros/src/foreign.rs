//! A pedestrian engine that is not ours: as little of `arena_humansim_msgs` as the human layer may ask for, and what a test wants of it.
//!
//! It runs on a node and a thread of its own. With each clock reading it publishes where everybody is; nobody walks.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use anyhow::Result;
use futures::{FutureExt as _, StreamExt as _};
use r2r::QosProfile;
use r2r::arena_humansim_msgs::msg::{AgentFrame, AgentMeta, AgentState, AgentStates};
use r2r::arena_humansim_msgs::srv::{AddWalls, RemoveAgents, RemoveWalls, ResetSimulation, SpawnAgents};
use r2r::rcl_interfaces::msg::{ParameterValue, SetParametersResult};
use r2r::rcl_interfaces::srv::{GetParameters, SetParametersAtomically};
use r2r::rosgraph_msgs::msg::Clock;
use r2r::std_msgs::msg::Header;

/// How long one turn of the thread may wait for a call.
const TURN: Duration = Duration::from_millis(2);

/// `rcl_interfaces/ParameterType` of a double.
const DOUBLE: u8 = 3;

/// What the engine holds and was told.
#[derive(Clone, Debug, Default)]
pub struct Told {
    /// Calls so far: the service, and the names it is about.
    pub calls: Vec<String>,
    /// Everybody who was spawned and not removed.
    pub agents: Vec<AgentState>,
    /// Names of the walls.
    pub walls: Vec<String>,
    /// Messages of `world_state`.
    pub fed: Vec<AgentStates>,
    /// Requests are taken and never answered.
    pub is_silent: bool,
    /// Batches of parameters are refused.
    pub refuses_parameters: bool,
}

/// See the module; it goes away when dropped.
pub struct ForeignEngine {
    told: Arc<Mutex<Told>>,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<Result<()>>>,
}

impl ForeignEngine {
    /// Serves below `namespace` from now on.
    ///
    /// # Errors
    /// When ROS refuses the node.
    pub fn start(context: &r2r::Context, namespace: &str) -> Result<Self> {
        let node = r2r::Node::create(context.clone(), "arena_humansim", namespace)?;
        let (told, stop): (Arc<Mutex<Told>>, Arc<AtomicBool>) = Default::default();
        let (of_thread, until) = (Arc::clone(&told), Arc::clone(&stop));
        let thread = std::thread::spawn(move || serve(node, &of_thread, &until));
        Ok(Self { told, stop, thread: Some(thread) })
    }

    /// What it holds and was told, to look at and to change.
    pub fn told(&self) -> MutexGuard<'_, Told> {
        self.told.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether a call begins with `text`.
    #[must_use]
    pub fn was_asked(&self, text: &str) -> bool {
        self.told().calls.iter().any(|call| call.starts_with(text))
    }

    /// Takes the calls so far.
    #[must_use]
    pub fn take_calls(&self) -> Vec<String> {
        std::mem::take(&mut self.told().calls)
    }
}

impl Drop for ForeignEngine {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(Ok(Err(error))) = self.thread.take().map(JoinHandle::join) {
            println!("foreign engine: {error}");
        }
    }
}

/// Takes all requests of a service; each is noted and, unless the engine is silent, done and answered.
macro_rules! take {
    ($requests:ident, $told:ident, $service:literal, |$request:ident| $names:expr, $answer:expr) => {
        while let Some(Some(asked)) = $requests.next().now_or_never() {
            let $request = &asked.message;
            let names: Vec<String> = $names;
            $told.calls.push(format!("{} {}", $service, names.join(" ")).trim_end().to_owned());
            if $told.is_silent {
                continue;
            }
            let answer = $answer;
            asked.respond(answer)?;
        }
    };
}

fn serve(mut node: r2r::Node, shared: &Mutex<Told>, until: &AtomicBool) -> Result<()> {
    let qos = QosProfile::services_default;
    let mut spawns = node.create_service::<SpawnAgents::Service>("spawn_agents", qos())?;
    let mut removals = node.create_service::<RemoveAgents::Service>("remove_agents", qos())?;
    let mut walls = node.create_service::<AddWalls::Service>("add_walls", qos())?;
    let mut gone_walls = node.create_service::<RemoveWalls::Service>("remove_walls", qos())?;
    let mut resets = node.create_service::<ResetSimulation::Service>("reset", qos())?;
    let mut gets = node.create_service::<GetParameters::Service>("arena_humansim/get_parameters", qos())?;
    let mut sets = node.create_service::<SetParametersAtomically::Service>(
        "arena_humansim/set_parameters_atomically",
        qos(),
    )?;
    let mut clocks = node.subscribe::<Clock>("/clock", QosProfile::default().keep_last(1).best_effort())?;
    let mut feed = node.subscribe::<AgentStates>("world_state", QosProfile::default())?;
    let frames = node.create_publisher::<AgentFrame>("agent_states", QosProfile::default())?;
    let latched = QosProfile::default().keep_last(1).transient_local();
    let metas = node.create_publisher::<AgentMeta>("agent_meta", latched)?;
    while !until.load(Ordering::Relaxed) {
        node.spin_once(TURN);
        let mut told = shared.lock().unwrap_or_else(PoisonError::into_inner);
        take!(
            spawns,
            told,
            "spawn_agents",
            |request| request.agents.iter().map(|a| a.name.clone()).collect(),
            {
                let first = told.agents.len() as i32 + 1;
                let ids: Vec<i32> = (first..).take(request.agents.len()).collect();
                for (agent, id) in request.agents.iter().zip(&ids) {
                    told.agents.push(AgentState { agent_id: *id, ..agent.clone() });
                }
                metas.publish(&meta(&told.agents))?;
                SpawnAgents::Response { success: true, message: String::new(), spawned_ids: ids }
            }
        );
        take!(
            removals,
            told,
            "remove_agents",
            |request| request.agent_ids.iter().map(ToString::to_string).collect(),
            {
                let everybody = request.agent_ids.is_empty();
                told.agents.retain(|agent| !everybody && !request.agent_ids.contains(&agent.agent_id));
                RemoveAgents::Response { success: true, message: String::new() }
            }
        );
        take!(walls, told, "add_walls", |request| request.names.clone(), {
            told.walls.extend(request.names.iter().cloned());
            AddWalls::Response { success: true, message: String::new() }
        });
        take!(gone_walls, told, "remove_walls", |request| request.names.clone(), {
            told.walls.retain(|name| !request.names.is_empty() && !request.names.contains(name));
            RemoveWalls::Response { success: true, message: String::new() }
        });
        take!(
            resets,
            told,
            "reset",
            |request| vec![if request.soft { "soft" } else { "hard" }.to_owned()],
            { ResetSimulation::Response { success: true, message: String::new() } }
        );
        take!(gets, told, "get_parameters", |request| request.names.clone(), {
            let dt = ParameterValue { type_: DOUBLE, double_value: 0.1, ..ParameterValue::default() };
            GetParameters::Response { values: vec![dt] }
        });
        take!(
            sets,
            told,
            "set_parameters",
            |request| request.parameters.iter().map(|p| p.name.clone()).collect(),
            {
                let successful = !told.refuses_parameters;
                let reason = if successful { String::new() } else { "not this one".to_owned() };
                SetParametersAtomically::Response { result: SetParametersResult { successful, reason } }
            }
        );
        while let Some(Some(message)) = feed.next().now_or_never() {
            told.fed.push(message);
        }
        while let Some(Some(clock)) = clocks.next().now_or_never() {
            frames.publish(&frame(clock, &told.agents))?;
        }
    }
    Ok(())
}

fn frame(clock: Clock, agents: &[AgentState]) -> AgentFrame {
    let count = agents.len();
    AgentFrame {
        header: Header { stamp: clock.clock, frame_id: "map".to_owned() },
        agent_id: agents.iter().map(|agent| agent.agent_id).collect(),
        x: agents.iter().map(|agent| agent.pose.x).collect(),
        y: agents.iter().map(|agent| agent.pose.y).collect(),
        theta: agents.iter().map(|agent| agent.pose.theta).collect(),
        vx: vec![0.0; count],
        vy: vec![0.0; count],
        // An older engine says no more than this.
        ..AgentFrame::default()
    }
}

fn meta(agents: &[AgentState]) -> AgentMeta {
    AgentMeta {
        agent_id: agents.iter().map(|agent| agent.agent_id).collect(),
        name: agents.iter().map(|agent| agent.name.clone()).collect(),
        handedness: vec![String::new(); agents.len()],
        agent_type: vec!["adult".to_owned(); agents.len()],
        ..AgentMeta::default()
    }
}
