//! HuNav: an agent manager under test and a client of what it offers, one that is not ours, and the recorded scenes.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use anyhow::{Context as _, Result};
use futures::{FutureExt as _, StreamExt as _};
use r2r::hunav_msgs::msg::{Agent, AgentBehavior, Agents};
use r2r::hunav_msgs::srv::ComputeAgents;
use r2r::std_srvs::srv::Trigger;
use r2r::visualization_msgs::msg::{Marker, MarkerArray};
use r2r::{QosProfile, WrappedServiceTypeSupport, WrappedTypesupport};

use crate::{Mailbox, Process, Stage, node_arguments, wire};

/// How long one turn of a thread may wait for a call.
const TURN: Duration = Duration::from_millis(2);

/// Number of the next manager.
static NEXT: AtomicU32 = AtomicU32::new(0);

/// A `hunav_agent_manager` under test.
pub struct Manager {
    /// `/hunav_<n>`; a number is used once per test process.
    pub namespace: String,
    /// The node.
    pub process: Process,
}

impl Manager {
    /// Starts the node with parameters.
    ///
    /// # Errors
    /// When it does not start.
    pub fn start(parameters: &[(&str, &str)]) -> Result<Self> {
        crate::own_domain();
        let namespace = format!("/hunav_{}", NEXT.fetch_add(1, Ordering::Relaxed));
        let process = Process::node("hunav_agent_manager", node_arguments(&namespace, parameters))?;
        Ok(Self { namespace, process })
    }

    /// A topic or service of this manager.
    #[must_use]
    pub fn name(&self, of: &str) -> String {
        format!("{}/{of}", self.namespace)
    }

    /// Collects what the manager says on a topic, from when both know each other.
    ///
    /// # Errors
    /// When the subscription cannot be created.
    pub fn subscribe<T: WrappedTypesupport + 'static>(
        &self,
        stage: &mut Stage,
        topic: &str,
    ) -> Result<Mailbox<T>> {
        stage.subscribe(&self.name(topic), QosProfile::default().keep_last(1000))
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
        call::<S>(stage, &self.name(service), request).with_context(|| self.process.log())
    }

    /// One `compute_agents` at a time, with all agents and a robot.
    ///
    /// # Errors
    /// When there is no answer.
    pub fn compute(&self, stage: &mut Stage, at: i64, agents: &[Agent], robot: &Agent) -> Result<Vec<Agent>> {
        let request = ComputeAgents::Request { current_agents: request(at, agents), robot: robot.clone() };
        let answer = self.call::<ComputeAgents::Service>(stage, "compute_agents", &request)?;
        Ok(answer.updated_agents.agents)
    }
}

/// Calls a service of any name.
///
/// # Errors
/// When there is no answer.
pub fn call<S: WrappedServiceTypeSupport + 'static>(
    stage: &mut Stage,
    service: &str,
    request: &S::Request,
) -> Result<S::Response> {
    let client = stage.node.create_client::<S>(service, QosProfile::services_default())?;
    let available = r2r::Node::is_available(&client)?;
    stage.wait(service, available)??;
    let answer = client.request(request)?;
    Ok(stage.wait(&format!("answer of {service}"), answer)??)
}

/// Agents with a stamp.
#[must_use]
pub fn request(at: i64, agents: &[Agent]) -> Agents {
    let header = r2r::std_msgs::msg::Header { stamp: wire::stamp(at), frame_id: "map".to_owned() };
    Agents { header, agents: agents.to_vec() }
}

/// A regular agent on its way from a place to others, with what a loader says of it.
#[must_use]
pub fn agent(id: i32, name: &str, [x, y]: [f64; 2], goals: &[[f64; 2]]) -> Agent {
    Agent {
        id,
        type_: 1,
        name: name.to_owned(),
        group_id: -1,
        position: wire::pose(x, y),
        desired_velocity: 1.0,
        radius: 0.35,
        behavior: AgentBehavior {
            type_: 1,
            goal_force_factor: 2.0,
            obstacle_force_factor: 10.0,
            social_force_factor: 5.0,
            other_force_factor: 20.0,
            ..AgentBehavior::default()
        },
        goals: goals.iter().map(|[x, y]| wire::pose(*x, *y)).collect(),
        cyclic_goals: true,
        goal_radius: 0.3,
        ..Agent::default()
    }
}

/// A robot at a place.
#[must_use]
pub fn robot([x, y]: [f64; 2]) -> Agent {
    Agent {
        id: 0,
        type_: 2,
        name: "robot".to_owned(),
        group_id: -1,
        position: wire::pose(x, y),
        radius: 0.3,
        ..Agent::default()
    }
}

/// Takes over what a simulator takes over from an answer, by id: pose, heading and velocity, nothing else.
pub fn echo(answer: &[Agent], agents: &mut [Agent]) {
    for agent in agents {
        if let Some(moved) = answer.iter().find(|moved| moved.id == agent.id) {
            agent.position = moved.position.clone();
            agent.yaw = moved.yaw;
            agent.velocity = moved.velocity.clone();
            agent.linear_vel = moved.linear_vel;
            agent.angular_vel = moved.angular_vel;
        }
    }
}

/// How a manager that is not ours answers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Manner {
    /// As the original: in another order, and only the fields that it fills.
    #[default]
    Original,
    /// Not at all.
    Silent,
    /// With somebody unknown first, without the first agent, and with a second one who is nowhere.
    Odd,
}

/// What a manager that is not ours was asked.
#[derive(Clone, Debug, Default)]
pub struct Asked {
    /// Requests of `compute_agents` since the last clear.
    pub requests: Vec<ComputeAgents::Request>,
    /// Calls of `clear_agents`.
    pub clears: usize,
    /// How it answers from now on.
    pub manner: Manner,
}

/// A manager that is not ours: everybody walks along x at 1 m/s. It goes away when dropped.
pub struct ForeignManager {
    asked: Arc<Mutex<Asked>>,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<Result<()>>>,
}

impl ForeignManager {
    /// Serves below `namespace` from now on.
    ///
    /// # Errors
    /// When ROS refuses the node.
    pub fn start(context: &r2r::Context, namespace: &str) -> Result<Self> {
        let node = r2r::Node::create(context.clone(), "hunav_agent_manager", namespace)?;
        let (asked, stop): (Arc<Mutex<Asked>>, Arc<AtomicBool>) = Default::default();
        let (of_thread, until) = (Arc::clone(&asked), Arc::clone(&stop));
        let thread = std::thread::spawn(move || serve(node, &of_thread, &until));
        Ok(Self { asked, stop, thread: Some(thread) })
    }

    /// What it was asked, to look at and to change.
    pub fn asked(&self) -> MutexGuard<'_, Asked> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How many requests it got since the last clear.
    #[must_use]
    pub fn count(&self) -> usize {
        self.asked().requests.len()
    }
}

impl Drop for ForeignManager {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(Ok(Err(error))) = self.thread.take().map(JoinHandle::join) {
            println!("foreign manager: {error}");
        }
    }
}

fn serve(mut node: r2r::Node, shared: &Mutex<Asked>, until: &AtomicBool) -> Result<()> {
    let qos = QosProfile::services_default;
    let mut computes = node.create_service::<ComputeAgents::Service>("compute_agents", qos())?;
    let mut clears = node.create_service::<Trigger::Service>("clear_agents", qos())?;
    let forces = node.create_publisher::<MarkerArray>("sfm_forces", QosProfile::default().keep_last(5))?;
    while !until.load(Ordering::Relaxed) {
        node.spin_once(TURN);
        let mut asked = shared.lock().unwrap_or_else(PoisonError::into_inner);
        while let Some(Some(call)) = clears.next().now_or_never() {
            asked.clears += 1;
            asked.requests.clear();
            call.respond(Trigger::Response { success: true, message: String::new() })?;
        }
        while let Some(Some(call)) = computes.next().now_or_never() {
            let before = asked.requests.last().map(|request| seconds(&request.current_agents));
            let dt = before.map_or(0.0, |before| seconds(&call.message.current_agents) - before);
            asked.requests.push(call.message.clone());
            if asked.manner == Manner::Silent {
                continue;
            }
            let marker = Marker { ns: "foreign/robot_forces".to_owned(), ..Marker::default() };
            forces.publish(&MarkerArray { markers: vec![marker] })?;
            let answer = answer(&call.message.current_agents, dt, asked.manner);
            call.respond(ComputeAgents::Response { updated_agents: answer })?;
        }
    }
    Ok(())
}

fn seconds(agents: &Agents) -> f64 {
    wire::nanos(&agents.header.stamp) as f64 * 1e-9
}

fn answer(from: &Agents, dt: f64, manner: Manner) -> Agents {
    let mut agents: Vec<Agent> = from.agents.iter().map(|agent| walked(agent, dt)).collect();
    if manner == Manner::Odd {
        if let Some(second) = agents.get_mut(1) {
            second.position.position.x = f64::NAN;
        }
        agents.drain(..1.min(agents.len()));
        agents.push(Agent { id: 4711, name: "nobody".to_owned(), ..Agent::default() });
    }
    agents.reverse();
    Agents { header: from.header.clone(), agents }
}

/// What the original fills of an answer.
fn walked(from: &Agent, dt: f64) -> Agent {
    let mut agent = Agent {
        id: from.id,
        name: from.name.clone(),
        type_: from.type_,
        position: from.position.clone(),
        behavior: from.behavior.clone(),
        goals: from.goals.clone(),
        linear_vel: 1.0,
        ..Agent::default()
    };
    agent.position.position.x += dt;
    agent.position.position.z = 0.0;
    agent.velocity.linear.x = 1.0;
    agent
}
