//! The way to a HuNav engine: in this process, or a manager of somebody else through `hunav_bridge` (HuNav specification, section 8).
//!
//! Nothing here links `hunav_msgs`. Whichever engine moves people, who and what is there goes to the bridge, which answers simulators.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use promenade_human::backends::hunav::{EngineChoice, HunavLink, HunavSettings, InProcess, LinkError};
use promenade_human::entity::Wall;
use promenade_hunav::{Agent, Options, Request};
use promenade_kernel::Time;
use promenade_msgs::msg::rmw::{HunavRoster, HunavStatus};
use promenade_msgs::srv::rmw::{HunavStep, HunavStepRequest, HunavStepResponse};
use rclrs::{Client, IntoPrimitiveOptions, Node, Publisher, Subscription};
use rosidl_runtime_rs::{Service, String as WireString};
use std_srvs::srv::rmw::{Trigger, TriggerRequest, TriggerResponse};

use crate::bus::time_to_wire;
use crate::hunav::{names, neutral};

/// How often a waiting thread looks whether something came or the node is stopping.
const GLANCE: Duration = Duration::from_millis(10);

/// What the way to the bridge and back may take beyond the time-out of a call.
const DETOUR: Duration = Duration::from_millis(100);

/// Longest wait for `clear`, seconds.
const CLEAR: f64 = 2.5;

/// The link that `hunav.engine` asks for.
///
/// # Errors
/// `external` in a build without the bridge, a name that is none, or a failure of ROS.
pub(super) fn open(
    node: &Node,
    task_generator: &str,
    settings: &HunavSettings,
    stop: Arc<AtomicBool>,
) -> Result<Box<dyn HunavLink>> {
    let below = task_generator.trim_end_matches('/');
    let show = Show::open(node, below)?;
    let built_in = |show| Ok(Box::new(BuiltIn { engine: InProcess::new(settings.options), show }) as Box<_>);
    if settings.engine == EngineChoice::Builtin {
        return built_in(show);
    }
    ensure!(
        cfg!(feature = "hunav") || settings.engine == EngineChoice::Auto,
        "parameter hunav.engine is external, which needs the executable hunav_bridge; this build has none, \
         since the ROS package hunav_msgs was missing. Build where it is, or set hunav.engine to builtin"
    );
    let bridged = Bridged::open(node, below, settings, stop, show)?;
    bridged.wait(Duration::from_secs_f64(settings.discovery_timeout));
    match bridged.manager() {
        Some(manager) => tracing::info!("people are moved by the agent manager at {manager}"),
        None if settings.engine == EngineChoice::Auto => {
            tracing::info!(
                "hunav.engine: auto: no agent manager was found; the built-in engine moves people"
            );
            return built_in(bridged.show);
        }
        None => tracing::warn!(
            "no agent manager yet: start one and hunav_bridge below {}; people stand until it answers",
            bridged.place
        ),
    }
    Ok(Box::new(bridged))
}

/// What the bridge is told of who and what is there.
struct Show {
    roster: Publisher<HunavRoster>,
    message: HunavRoster,
}

impl Show {
    fn open(node: &Node, below: &str) -> Result<Self> {
        let topic = format!("{below}/{}", names::ROSTER);
        let roster = node.create_publisher(topic.as_str().keep_last(1).reliable().transient_local())?;
        Ok(Show { roster, message: HunavRoster::default() })
    }

    fn show(&mut self, agents: &[Agent], walls: &[(String, Wall)]) {
        neutral::write_agents(agents, &mut self.message.agents);
        neutral::write_walls(walls, &mut self.message.walls);
        if let Err(error) = self.roster.publish(&self.message) {
            tracing::error!("{}: {error}", names::ROSTER);
        }
    }
}

/// The engine of this process.
struct BuiltIn {
    engine: InProcess,
    show: Show,
}

impl HunavLink for BuiltIn {
    fn compute(&mut self, request: &Request<'_>, answer: &mut Vec<Agent>) -> Result<(), LinkError> {
        self.engine.compute(request, answer)
    }

    fn clear(&mut self) -> Result<(), LinkError> {
        self.engine.clear()
    }

    fn adds_agents(&self) -> bool {
        self.engine.adds_agents()
    }

    fn names_trees(&self) -> bool {
        self.engine.names_trees()
    }

    fn set_options(&mut self, options: &Options) -> bool {
        self.engine.set_options(options)
    }

    fn show(&mut self, agents: &[Agent], walls: &[(String, Wall)]) {
        self.show.show(agents, walls);
    }
}

/// An agent manager of somebody else.
struct Bridged {
    step: Client<HunavStep>,
    clear: Client<Trigger>,
    /// What the bridge said last.
    status: Arc<Mutex<HunavStatus>>,
    timeout: f64,
    stop: Arc<AtomicBool>,
    show: Show,
    /// Where the bridge is, for messages.
    place: String,
    _status: Subscription<HunavStatus>,
}

impl Bridged {
    fn open(
        node: &Node,
        below: &str,
        settings: &HunavSettings,
        stop: Arc<AtomicBool>,
        show: Show,
    ) -> Result<Self> {
        let status: Arc<Mutex<HunavStatus>> = Arc::default();
        let to = Arc::clone(&status);
        let topic = format!("{below}/{}", names::STATUS);
        let subscription = node.create_subscription::<HunavStatus, _>(
            topic.as_str().keep_last(1).reliable().transient_local(),
            move |said: HunavStatus| *to.lock().unwrap_or_else(PoisonError::into_inner) = said,
        )?;
        Ok(Bridged {
            step: node.create_client(format!("{below}/{}", names::STEP).as_str())?,
            clear: node.create_client(format!("{below}/{}", names::CLEAR).as_str())?,
            status,
            timeout: settings.timeout,
            stop,
            show,
            place: match below.starts_with('/') {
                true => below.to_owned(),
                false => format!("{}/{below}", node.namespace().trim_end_matches('/')),
            },
            _status: subscription,
        })
    }

    /// The name of the manager's service, if the bridge and the manager are there.
    fn manager(&self) -> Option<String> {
        let status = self.status.lock().unwrap_or_else(PoisonError::into_inner);
        (status.available && is_ready(&self.step)).then(|| status.manager.to_string())
    }

    /// Waits for the manager, at most this long.
    fn wait(&self, patience: Duration) {
        let deadline = Instant::now() + patience;
        while self.manager().is_none() && Instant::now() < deadline && !self.stop.load(Ordering::Relaxed) {
            std::thread::park_timeout(GLANCE);
        }
    }

    /// One call, for at most this many seconds and the detour.
    fn ask<S: Service>(
        &self,
        client: &Client<S>,
        request: S::Request,
        seconds: f64,
    ) -> Result<S::Response, LinkError> {
        if !is_ready(client) {
            return Err(LinkError::Silent);
        }
        let deadline = Instant::now() + Duration::from_secs_f64(seconds) + DETOUR;
        let (tell, told) = channel();
        // An answer that comes too late finds nobody.
        let sent = client.call_then(request, move |answer: S::Response| drop(tell.send(answer)));
        if let Err(error) = sent {
            return Err(LinkError::Refused(error.to_string()));
        }
        loop {
            match told.recv_timeout(GLANCE) {
                Ok(answer) => return Ok(answer),
                Err(RecvTimeoutError::Timeout)
                    if Instant::now() < deadline && !self.stop.load(Ordering::Relaxed) => {}
                Err(_) => return Err(LinkError::Silent),
            }
        }
    }
}

impl HunavLink for Bridged {
    fn compute(&mut self, request: &Request<'_>, answer: &mut Vec<Agent>) -> Result<(), LinkError> {
        let mut call = HunavStepRequest {
            stamp: time_to_wire(Time::from_nanos(request.stamp_ns)),
            timeout: self.timeout,
            ..HunavStepRequest::default()
        };
        neutral::write_agents(request.agents, &mut call.agents);
        neutral::write_robot(request.robot, &mut call.robot);
        let HunavStepResponse { success, message, agents } = self.ask(&self.step, call, self.timeout)?;
        verdict(success, &message)?;
        neutral::read_agents(&agents, answer);
        Ok(())
    }

    fn clear(&mut self) -> Result<(), LinkError> {
        let TriggerResponse { success, message } = self.ask(&self.clear, TriggerRequest::default(), CLEAR)?;
        verdict(success, &message)
    }

    fn adds_agents(&self) -> bool {
        false
    }

    fn show(&mut self, agents: &[Agent], walls: &[(String, Wall)]) {
        self.show.show(agents, walls);
    }
}

/// An answer without success and without a reason is silence.
fn verdict(success: bool, message: &WireString) -> Result<(), LinkError> {
    match (success, message.is_empty()) {
        (true, _) => Ok(()),
        (false, true) => Err(LinkError::Silent),
        (false, false) => Err(LinkError::Refused(message.to_string())),
    }
}

fn is_ready<S: Service>(client: &Client<S>) -> bool {
    client.service_is_ready().unwrap_or(false)
}
