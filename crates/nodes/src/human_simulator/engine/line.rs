//! One call at a time to the engine, and how long to wait for it.
//!
//! A call waits for its answer, but never longer than the patience; after one that went unanswered all others fail at once until the
//! engine answers a question again. Nobody waits for a service that is not called. The wall clock serves time-outs only.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, TryRecvError, channel};
use std::time::{Duration, Instant};

use arena_humansim_msgs::srv::rmw::SpawnAgents;
use promenade_human::backends::arena::{LinkError, LinkResult};
use rcl_interfaces::srv::rmw::{GetParameters, GetParametersRequest, GetParametersResponse};
use rclrs::Client;
use rosidl_runtime_rs::Service;

/// How often a waiting thread looks whether services came or went.
const GLANCE: Duration = Duration::from_millis(10);

/// How long a service may take to be discovered once others of the engine are there.
const DISCOVERY: Duration = Duration::from_secs(1);

/// How often the graph is looked at while all is well.
const LOOK: Duration = Duration::from_millis(200);

/// Longest wait for the answer to a question: an endpoint that was just discovered may lose a call.
const ANSWER: Duration = Duration::from_secs(1);

/// Pauses between vain questions double from this on, up to the longest, since each takes the middleware some memory.
const FIRST_PAUSE: Duration = Duration::from_millis(250);
const LONGEST_PAUSE: Duration = Duration::from_secs(16);

/// The parameter that says how far apart frames are.
const DT: &str = "dt";

/// `rcl_interfaces/ParameterType` of a number.
const DOUBLE: u8 = 3;

/// A question that was sent.
struct Question {
    answer: Receiver<GetParametersResponse>,
    until: Instant,
}

/// See the module.
pub(super) struct Line {
    /// Where the engine is, for messages.
    below: String,
    stop: Arc<AtomicBool>,
    patience: Duration,
    /// Whoever offers this is the engine.
    spawn: Client<SpawnAgents>,
    parameters: Client<GetParameters>,
    is_here: bool,
    /// The user knows that it is away.
    is_missed: bool,
    seen: Option<Instant>,
    question: Option<Question>,
    pause: Duration,
    ask_from: Instant,
    look_from: Instant,
    /// Services that were waited for in vain.
    missing: Vec<&'static str>,
    dt: Option<f64>,
}

impl Line {
    /// A line to the engine below a name, which waits for nothing once `stop` is set.
    pub(super) fn new(
        below: &str,
        stop: Arc<AtomicBool>,
        patience: Duration,
        spawn: Client<SpawnAgents>,
        parameters: Client<GetParameters>,
    ) -> Self {
        let now = Instant::now();
        Line {
            below: below.to_owned(),
            stop,
            patience,
            spawn,
            parameters,
            is_here: false,
            is_missed: false,
            seen: None,
            question: None,
            pause: FIRST_PAUSE,
            ask_from: now,
            look_from: now,
            missing: Vec::new(),
            dt: None,
        }
    }

    /// The engine's `dt`, if it said one.
    pub(super) fn dt(&self) -> Option<f64> {
        self.dt
    }

    /// Waits for the engine as long as the patience says.
    pub(super) fn wait(&mut self) {
        let deadline = Instant::now() + self.patience;
        while !self.look() {
            if self.is_over(deadline) {
                return self.miss("is not there yet; people are created in it as soon as it comes");
            }
            std::thread::park_timeout(GLANCE);
        }
    }

    fn is_over(&self, deadline: Instant) -> bool {
        self.stop.load(Ordering::Relaxed) || Instant::now() >= deadline
    }

    /// One look without waiting. True when the engine came, or came back.
    pub(super) fn look(&mut self) -> bool {
        let now = Instant::now();
        if self.is_here {
            if now >= self.look_from {
                self.look_from = now + LOOK;
                if !is_ready(&self.spawn) {
                    self.miss("is gone; its people are created anew when it comes back");
                }
            }
            return false;
        }
        if !is_ready(&self.spawn) {
            (self.seen, self.question) = (None, None);
            return false;
        }
        let seen = *self.seen.get_or_insert(now);
        if let Some(question) = &self.question {
            match question.answer.try_recv() {
                Ok(answer) => {
                    let said = answer.values.first().filter(|value| value.type_ == DOUBLE);
                    self.dt = said.map(|value| value.double_value).filter(|dt| dt.is_finite() && *dt > 0.0);
                    return self.meet();
                }
                Err(TryRecvError::Empty) if now < question.until => return false,
                Err(_) => self.pause_from(now),
            }
        }
        if now < self.ask_from {
            return false;
        }
        if !is_ready(&self.parameters) {
            // An engine may have no parameters at all.
            return now.duration_since(seen) > DISCOVERY && self.meet();
        }
        let request = GetParametersRequest { names: vec![DT.into()].into() };
        let (tell, answer) = channel();
        let told = move |answer: GetParametersResponse| drop(tell.send(answer));
        match self.parameters.call_then(request, told) {
            Ok(_) => self.question = Some(Question { answer, until: now + ANSWER }),
            Err(error) => {
                tracing::error!("{}: {error}", self.below);
                self.pause_from(now);
            }
        }
        false
    }

    fn pause_from(&mut self, now: Instant) {
        self.question = None;
        self.ask_from = now + self.pause;
        self.pause = (2 * self.pause).min(LONGEST_PAUSE);
    }

    fn meet(&mut self) -> bool {
        if std::mem::take(&mut self.is_missed) {
            tracing::info!("{}: the engine is there", self.below);
        }
        self.is_here = true;
        self.question = None;
        self.missing.clear();
        true
    }

    /// The engine is away.
    fn miss(&mut self, what: &str) {
        self.is_here = false;
        (self.seen, self.question) = (None, None);
        if !std::mem::replace(&mut self.is_missed, true) && !self.stop.load(Ordering::Relaxed) {
            tracing::warn!(
                "{}: the pedestrian engine {what}. Start one there, such as arena_humansim with mode:=subsystem",
                self.below
            );
        }
    }

    /// One call. Its answer, or why there is none.
    pub(super) fn ask<S: Service>(
        &mut self,
        name: &'static str,
        client: &Client<S>,
        request: S::Request,
    ) -> LinkResult<S::Response> {
        if !self.is_here || self.stop.load(Ordering::Relaxed) {
            return Err(LinkError::Unreachable);
        }
        self.find(name, client)?;
        let deadline = Instant::now() + self.patience;
        let (tell, told) = channel();
        // The promise only tells when the callback is through.
        let sent = client.call_then(request, move |answer: S::Response| drop(tell.send(answer)));
        if let Err(error) = sent {
            return Err(LinkError::Refused(format!("{name} cannot be called: {error}")));
        }
        loop {
            match told.recv_timeout(GLANCE) {
                Ok(answer) => {
                    self.pause = FIRST_PAUSE;
                    return Ok(answer);
                }
                Err(RecvTimeoutError::Disconnected) => return Err(LinkError::Unreachable),
                Err(RecvTimeoutError::Timeout) if !is_ready(&self.spawn) => {
                    self.miss("is gone; its people are created anew when it comes back");
                    return Err(LinkError::Unreachable);
                }
                Err(RecvTimeoutError::Timeout) if self.is_over(deadline) => {
                    self.miss(&format!("does not answer {name}; it gets everything again when it answers"));
                    self.pause_from(Instant::now());
                    return Err(LinkError::Unreachable);
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
    }

    /// Waits until a service is discovered, the first time that it is called.
    fn find<S: Service>(&mut self, name: &'static str, client: &Client<S>) -> LinkResult<()> {
        let deadline = Instant::now() + DISCOVERY;
        while !is_ready(client) {
            if !is_ready(&self.spawn) {
                self.miss("is gone; its people are created anew when it comes back");
                return Err(LinkError::Unreachable);
            }
            if self.missing.contains(&name) || self.is_over(deadline) {
                if !self.missing.contains(&name) {
                    self.missing.push(name);
                }
                return Err(LinkError::Refused(format!("it offers no service {name}")));
            }
            std::thread::park_timeout(GLANCE);
        }
        Ok(())
    }
}

fn is_ready<S: Service>(client: &Client<S>) -> bool {
    client.service_is_ready().unwrap_or(false)
}
