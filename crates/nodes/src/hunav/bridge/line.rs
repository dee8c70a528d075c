//! The calls to the manager, and how long to wait for them. The wall clock serves time-outs only.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use anyhow::Result;
use hunav_msgs::srv::rmw::{ComputeAgents, ComputeAgentsRequest, ComputeAgentsResponse};
use promenade_human::MAP_FRAME;
use promenade_hunav::{Agent, Robot};
use promenade_msgs::srv::rmw::{HunavStepRequest, HunavStepResponse};
use rclrs::{Client, Node};
use rosidl_runtime_rs::{Service, String as WireString};
use std_srvs::srv::rmw::{Trigger, TriggerRequest, TriggerResponse};

use crate::bus::set_string;
use crate::hunav::{neutral, wire};

/// How often a waiting thread looks whether the manager went or the node is stopping.
const GLANCE: Duration = Duration::from_millis(10);

/// Longest wait for `clear_agents`, which no simulation waits for.
const CLEAR: Duration = Duration::from_secs(2);

/// How long a service may take to be discovered once `compute_agents` is there.
const DISCOVERY: Duration = Duration::from_secs(1);

/// Longest wait that makes sense.
const MOST_TIMEOUT: f64 = 3600.0;

/// See the module.
pub(super) struct Line {
    compute: Client<ComputeAgents>,
    clear: Client<Trigger>,
    stop: Arc<AtomicBool>,
    name: String,
    /// Whether the manager holds agents, as far as is known.
    has_begun: bool,
    agents: Vec<Agent>,
    robot: Robot,
}

/// Why a call has no answer.
enum Silence {
    /// Nobody offers the service.
    Absent,
    /// Nobody answered in time, or the node is stopping.
    Late,
    /// It cannot be called.
    Broken(String),
}

impl Line {
    /// The manager whose names begin with `below`, which is empty or ends with a slash.
    ///
    /// # Errors
    /// When that makes no name.
    pub(super) fn open(node: &Node, below: &str, stop: Arc<AtomicBool>) -> Result<Self> {
        let name = format!("{below}compute_agents");
        Ok(Line {
            compute: node.create_client(name.as_str())?,
            clear: node.create_client(format!("{below}clear_agents").as_str())?,
            stop,
            name: match name.starts_with('/') {
                true => name,
                false => format!("{}/{name}", node.namespace().trim_end_matches('/')),
            },
            has_begun: false,
            agents: Vec::new(),
            robot: Robot::default(),
        })
    }

    /// The name of `compute_agents`.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Whether somebody offers `compute_agents`.
    pub(super) fn is_there(&self) -> bool {
        self.compute.service_is_ready().unwrap_or(false)
    }

    /// One look; a manager that went takes with it whom it held.
    pub(super) fn look(&mut self) -> bool {
        let is_there = self.is_there();
        self.has_begun &= is_there;
        is_there
    }

    /// Whether the node is stopping.
    pub(super) fn is_stopping(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// One `compute_agents`; no success and no message when nobody answered in time.
    pub(super) fn step(&mut self, from: &HunavStepRequest) -> HunavStepResponse {
        neutral::read_agents(&from.agents, &mut self.agents);
        neutral::read_robot(&from.robot, &mut self.robot);
        let mut request = ComputeAgentsRequest::default();
        request.current_agents.header.stamp = from.stamp.clone();
        set_string(&mut request.current_agents.header.frame_id, MAP_FRAME);
        wire::write_agents(&self.agents, &mut request.current_agents.agents);
        wire::write_robot(&self.robot, &mut request.robot);
        let mut answer = HunavStepResponse::default();
        self.has_begun = true;
        match self.ask::<ComputeAgents>(&self.compute, request, patience(from.timeout)) {
            Ok(ComputeAgentsResponse { updated_agents }) => {
                wire::read_agents(&updated_agents.agents, &mut self.agents);
                neutral::write_agents(&self.agents, &mut answer.agents);
                answer.success = true;
            }
            Err(Silence::Absent | Silence::Late) => {}
            Err(Silence::Broken(why)) => answer.message = why.as_str().into(),
        }
        answer
    }

    /// One `clear_agents`; no success and no message when nobody answered in time.
    pub(super) fn clear(&mut self) -> TriggerResponse {
        let no = |why: &str| TriggerResponse { success: false, message: why.into() };
        match self.ask::<Trigger>(&self.clear, TriggerRequest::default(), Some(CLEAR)) {
            Ok(answer) => {
                self.has_begun &= !answer.success;
                answer
            }
            Err(Silence::Absent) if self.is_there() && !self.has_begun => {
                // Managers before Arena's cannot forget, and before the first call there is nothing to forget.
                TriggerResponse { success: true, message: WireString::default() }
            }
            Err(Silence::Absent) if self.is_there() => no(
                "the agent manager offers no clear_agents, so it takes nobody new after its first call; start it anew",
            ),
            Err(Silence::Absent | Silence::Late) => no(""),
            Err(Silence::Broken(why)) => no(&why),
        }
    }

    /// One call; no patience is as long as it takes, while somebody offers the service.
    fn ask<S: Service>(
        &self,
        client: &Client<S>,
        request: S::Request,
        patience: Option<Duration>,
    ) -> Result<S::Response, Silence> {
        if !self.is_there() {
            return Err(Silence::Absent);
        }
        let began = Instant::now();
        let is_ready = || client.service_is_ready().unwrap_or(false);
        while !is_ready() {
            if began.elapsed() >= DISCOVERY || self.is_stopping() {
                return Err(Silence::Absent);
            }
            std::thread::park_timeout(GLANCE);
        }
        let (tell, told) = channel();
        // An answer that comes too late finds nobody.
        let sent = client.call_then(request, move |answer: S::Response| drop(tell.send(answer)));
        if let Err(error) = sent {
            return Err(Silence::Broken(error.to_string()));
        }
        let is_over = || self.is_stopping() || patience.is_some_and(|patience| began.elapsed() >= patience);
        loop {
            match told.recv_timeout(GLANCE) {
                Ok(answer) => return Ok(answer),
                Err(RecvTimeoutError::Timeout) if !is_over() && is_ready() => {}
                Err(_) => return Err(Silence::Late),
            }
        }
    }
}

/// Seconds as they came; none when there is no limit.
fn patience(seconds: f64) -> Option<Duration> {
    (seconds > 0.0).then(|| Duration::from_secs_f64(seconds.min(MOST_TIMEOUT)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_number_is_a_patience() {
        assert_eq!(patience(0.2), Some(Duration::from_millis(200)));
        assert_eq!(patience(f64::INFINITY), Some(Duration::from_secs(3600)));
        for none in [0.0, -1.0, f64::NAN] {
            assert_eq!(patience(none), None);
        }
    }
}
