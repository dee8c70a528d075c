//! The `/clock` that a simulator of ours makes: it can be paused and stepped, by the services `~/pause` and `~/step`.
//!
//! One thread owns the `ClockHost` and publishes; service callbacks only hand it their requests. `/clock` goes out at `rate`
//! messages per *wall* second, also while paused, so that a late node learns the time. It is offered reliable and volatile,
//! which every reader of a clock matches. A pause or a step goes out at once.
//!
//! More than 0.1 s between two messages (a long step, a high real-time factor, a stalled machine) is published as a run of
//! readings at most 0.1 s apart, one per millisecond: to a node that simulates by the clock it is time that passes quickly,
//! not a jump. `~/step` answers when the last of them is out.

mod clock;

use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use futures::channel::oneshot;
use promenade_kernel::Time;
use promenade_msgs::srv::rmw::{StepClock, StepClockRequest, StepClockResponse};
use rclrs::{IntoPrimitiveOptions, Node, Publisher, Service};
use rosgraph_msgs::msg::rmw::Clock;
use rosidl_runtime_rs::String as WireString;
use std_srvs::srv::rmw::{SetBool, SetBoolRequest, SetBoolResponse};

pub use clock::{ClockError, Reading, SimClock};

use crate::bus::time_to_wire;
use crate::ros::Running;

/// Between readings that catch up.
const CATCH_UP: Duration = Duration::from_millis(1);
/// Messages per wall second: slower would keep a late node waiting for the time, faster would only cost.
const RATES: std::ops::RangeInclusive<f64> = 1.0..=5000.0;

/// What the thread of the clock is asked for.
pub(crate) enum ClockRequest {
    /// `~/pause`.
    Pause(bool, oneshot::Sender<SetBoolResponse>),
    /// `~/step`, seconds.
    Step(f64, oneshot::Sender<StepClockResponse>),
}

/// `~/pause` and `~/step` for as long as it is kept.
pub(crate) struct ClockServices {
    _pause: Service<SetBool>,
    _step: Service<StepClock>,
}

impl ClockServices {
    /// Serves below `node`; `tell` hands a request to the thread of the clock, or drops it.
    pub(crate) fn open(
        node: &Node,
        tell: impl Fn(ClockRequest) + Clone + Send + Sync + 'static,
    ) -> Result<Self> {
        let to_clock = tell.clone();
        let pause = node.create_async_service::<SetBool, _>("~/pause", move |request: SetBoolRequest| {
            let (answer, answered) = oneshot::channel();
            to_clock(ClockRequest::Pause(request.data, answer));
            async move { answered.await.unwrap_or(SetBoolResponse { success: false, message: busy() }) }
        })?;
        let step =
            node.create_async_service::<StepClock, _>("~/step", move |request: StepClockRequest| {
                let (answer, answered) = oneshot::channel();
                tell(ClockRequest::Step(request.seconds, answer));
                async move {
                    answered.await.unwrap_or(StepClockResponse {
                        success: false,
                        message: busy(),
                        ..StepClockResponse::default()
                    })
                }
            })?;
        Ok(ClockServices { _pause: pause, _step: step })
    }
}

/// Said when the queue is full or the node stops.
fn busy() -> WireString {
    "not done: the clock is busy or about to stop".into()
}

/// The clock with everything that its thread needs.
pub(crate) struct ClockHost {
    clock: SimClock,
    period: Duration,
    publisher: Publisher<Clock>,
    message: Clock,
    origin: Instant,
    due: Instant,
    longest_step: f64,
    /// Steps to be answered once this reading is out.
    steps: Vec<(Time, oneshot::Sender<StepClockResponse>)>,
}

impl ClockHost {
    /// Reads the parameters `rate`, `realtime_factor` and `start_paused`. A step of more than `longest_step` seconds is refused.
    ///
    /// # Errors
    /// A parameter of the wrong type or out of range, or a failure of ROS.
    pub(crate) fn open(ros: &Running, longest_step: f64) -> Result<Self> {
        let rate: f64 = ros.parameter("rate", 100.0, "messages of /clock per wall second")?;
        let factor = ros.parameter("realtime_factor", 1.0, "sim seconds per wall second")?;
        let paused = ros.parameter("start_paused", false, "start with the clock paused")?;
        let (period, clock) = (period(rate)?, SimClock::new(factor, paused)?);
        let publisher = ros.node.create_publisher("/clock".keep_last(10).reliable().volatile())?;
        let state = if paused { "paused" } else { "running" };
        tracing::info!("/clock at {rate} Hz, {factor} sim seconds per wall second, {state}");
        let now = Instant::now();
        let (message, steps) = (Clock::default(), Vec::new());
        Ok(ClockHost { clock, period, publisher, message, origin: now, due: now, longest_step, steps })
    }

    /// Wall time until the next reading is due.
    pub(crate) fn wait(&self) -> Duration {
        self.due.saturating_duration_since(Instant::now())
    }

    /// Does what a request asks for; a step is answered once it was shown.
    pub(crate) fn obey(&mut self, request: ClockRequest) {
        match request {
            // A client that gave up waiting has dropped its end, here and below.
            ClockRequest::Pause(paused, answer) => drop(answer.send(self.pause(paused))),
            ClockRequest::Step(seconds, answer) => self.step(seconds, answer),
        }
    }

    /// The reading to publish next.
    pub(crate) fn reading(&mut self) -> Reading {
        self.clock.show(self.origin.elapsed())
    }

    /// See [`SimClock::let_go`]; a step that was asked for is made whatever it takes.
    pub(crate) fn let_go(&mut self, most: Duration) {
        if self.steps.is_empty() {
            self.clock.let_go(most);
        }
    }

    /// Publishes a reading and answers the steps that it completes.
    ///
    /// # Errors
    /// When ROS cannot publish.
    pub(crate) fn publish(&mut self, reading: Reading) -> Result<()> {
        self.message.clock = time_to_wire(reading.time);
        self.publisher.publish(&self.message).context("cannot publish /clock")?;
        for (after, answer) in self.steps.extract_if(.., |(after, _)| *after <= reading.time) {
            drop(answer.send(StepClockResponse {
                success: true,
                message: format!("stepped to {after} s").as_str().into(),
                clock: time_to_wire(after),
            }));
        }
        let now = Instant::now();
        self.due = if reading.is_behind {
            now + CATCH_UP
        } else {
            // Keeps the beat; after a stall it starts a new one instead of making up for lost messages.
            let next = if self.due <= now { self.due + self.period } else { self.due };
            if next <= now { now + self.period } else { next }
        };
        Ok(())
    }

    fn pause(&mut self, paused: bool) -> SetBoolResponse {
        let now = self.clock.set_paused(self.origin.elapsed(), paused);
        let message = if paused { format!("paused at {now} s") } else { format!("running from {now} s") };
        tracing::info!("{message}");
        SetBoolResponse { success: true, message: message.as_str().into() }
    }

    fn step(&mut self, seconds: f64, answer: oneshot::Sender<StepClockResponse>) {
        let refused = if seconds > self.longest_step {
            format!("cannot step by {seconds} s: a step is at most {} seconds here", self.longest_step)
        } else {
            match self.clock.step(self.origin.elapsed(), seconds) {
                Ok(after) => return self.steps.push((after, answer)),
                Err(error) => error.to_string(),
            }
        };
        drop(answer.send(StepClockResponse {
            success: false,
            message: refused.as_str().into(),
            clock: time_to_wire(self.clock.shown()),
        }));
    }
}

fn period(rate: f64) -> Result<Duration> {
    ensure!(
        RATES.contains(&rate),
        "rate is {rate}; it must be {} to {} messages per second",
        RATES.start(),
        RATES.end()
    );
    Ok(Duration::from_secs_f64(1.0 / rate))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_that_make_no_clock_are_refused_by_name() {
        assert_eq!(period(100.0).expect("valid"), Duration::from_millis(10));
        for rate in [0.0, -100.0, f64::NAN, f64::INFINITY, 1e9] {
            let refused = period(rate).expect_err("refused").to_string();
            assert!(refused.contains("rate is"), "{refused}");
        }
    }
}
