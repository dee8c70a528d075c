//! The `dummy_sim` node: a synthetic `/clock` that can be paused and stepped, and nothing else.
//!
//! One thread owns the clock and publishes it; service callbacks only hand it their requests. `/clock` goes out at `rate`
//! messages per *wall* second, also while paused, so that a late node learns the time. It is offered reliable and volatile,
//! which every reader of a clock matches. A pause or a step goes out at once.
//!
//! More than 0.1 s between two messages (a long step, a high real-time factor, a stalled machine) is published as a run of
//! readings at most 0.1 s apart, one per millisecond: to a node that simulates by the clock it is time that passes quickly,
//! not a jump. `~/step` answers when the last of them is out. A step of more than 1000 s is one jump: as a run it would
//! take more than ten seconds.

mod clock;

use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
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

/// Requests that may wait for the clock thread; it takes each within a millisecond.
const QUEUE: usize = 64;
/// Between readings that catch up.
const CATCH_UP: Duration = Duration::from_millis(1);
/// Messages per wall second: slower would keep a late node waiting for the time, faster would only cost.
const RATES: std::ops::RangeInclusive<f64> = 1.0..=5000.0;

/// What the clock thread is told.
enum Ingress {
    Pause(bool, oneshot::Sender<SetBoolResponse>),
    Step(f64, oneshot::Sender<StepClockResponse>),
    Stop,
}

/// Runs the node until it is asked to stop.
///
/// # Errors
/// A parameter of the wrong type or out of range, or a failure of ROS.
pub fn run() -> Result<()> {
    let ros = Running::start("dummy_sim")?;
    let rate: f64 = ros.parameter("rate", 100.0, "messages of /clock per wall second")?;
    let factor = ros.parameter("realtime_factor", 1.0, "sim seconds per wall second")?;
    let paused = ros.parameter("start_paused", false, "start with the clock paused")?;
    let period = period(rate)?;
    let clock = SimClock::new(factor, paused)?;

    let (tell, told) = sync_channel(QUEUE);
    let _services = services(&ros.node, &tell)?;
    let publisher = ros.node.create_publisher("/clock".keep_last(10).reliable().volatile())?;
    let state = if paused { "paused" } else { "running" };
    tracing::info!("/clock at {rate} Hz, {factor} sim seconds per wall second, {state}");
    let on_signal = move || drop(tell.send(Ingress::Stop));
    ros.spin_beside(on_signal, || Host::new(clock, period, publisher).run(&told))
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

fn services(node: &Node, tell: &SyncSender<Ingress>) -> Result<(Service<SetBool>, Service<StepClock>)> {
    let to_clock = tell.clone();
    let pause = node.create_async_service::<SetBool, _>("~/pause", move |request: SetBoolRequest| {
        let (answer, answered) = oneshot::channel();
        drop(to_clock.try_send(Ingress::Pause(request.data, answer)));
        async move { answered.await.unwrap_or(SetBoolResponse { success: false, message: busy() }) }
    })?;
    let to_clock = tell.clone();
    let step = node.create_async_service::<StepClock, _>("~/step", move |request: StepClockRequest| {
        let (answer, answered) = oneshot::channel();
        drop(to_clock.try_send(Ingress::Step(request.seconds, answer)));
        async move {
            answered.await.unwrap_or(StepClockResponse {
                success: false,
                message: busy(),
                ..StepClockResponse::default()
            })
        }
    })?;
    Ok((pause, step))
}

/// Said when the queue is full or the node stops.
fn busy() -> WireString {
    "not done: the clock is busy or about to stop".into()
}

/// The thread that owns the clock.
struct Host {
    clock: SimClock,
    period: Duration,
    publisher: Publisher<Clock>,
    message: Clock,
    origin: Instant,
    /// Steps to be answered once this reading is out.
    steps: Vec<(Time, oneshot::Sender<StepClockResponse>)>,
}

impl Host {
    fn new(clock: SimClock, period: Duration, publisher: Publisher<Clock>) -> Self {
        let (message, steps) = (Clock::default(), Vec::new());
        Host { clock, period, publisher, message, origin: Instant::now(), steps }
    }

    fn run(mut self, told: &Receiver<Ingress>) -> Result<()> {
        let mut due = Instant::now();
        loop {
            match told.recv_timeout(due.saturating_duration_since(Instant::now())) {
                Ok(Ingress::Pause(paused, answer)) => drop(answer.send(self.pause(paused))),
                Ok(Ingress::Step(seconds, answer)) => self.step(seconds, answer),
                Ok(Ingress::Stop) | Err(RecvTimeoutError::Disconnected) => return Ok(()),
                Err(RecvTimeoutError::Timeout) => {}
            }
            let is_behind = self.publish()?;
            let now = Instant::now();
            due = if is_behind {
                now + CATCH_UP
            } else {
                // Keeps the beat; after a stall it starts a new one instead of making up for lost messages.
                let next = if due <= now { due + self.period } else { due };
                if next <= now { now + self.period } else { next }
            };
        }
    }

    fn publish(&mut self) -> Result<bool> {
        let reading = self.clock.show(self.origin.elapsed());
        self.message.clock = time_to_wire(reading.time);
        self.publisher.publish(&self.message).context("cannot publish /clock")?;
        for (after, answer) in self.steps.extract_if(.., |(after, _)| *after <= reading.time) {
            // A client that gave up waiting has dropped its end.
            drop(answer.send(StepClockResponse {
                success: true,
                message: format!("stepped to {after} s").as_str().into(),
                clock: time_to_wire(after),
            }));
        }
        Ok(reading.is_behind)
    }

    fn pause(&mut self, paused: bool) -> SetBoolResponse {
        let now = self.clock.set_paused(self.origin.elapsed(), paused);
        let message = if paused { format!("paused at {now} s") } else { format!("running from {now} s") };
        tracing::info!("{message}");
        SetBoolResponse { success: true, message: message.as_str().into() }
    }

    fn step(&mut self, seconds: f64, answer: oneshot::Sender<StepClockResponse>) {
        match self.clock.step(self.origin.elapsed(), seconds) {
            Ok(after) => self.steps.push((after, answer)),
            Err(error) => drop(answer.send(StepClockResponse {
                success: false,
                message: error.to_string().as_str().into(),
                clock: time_to_wire(self.clock.shown()),
            })),
        }
    }
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
