//! The `dummy_sim` node: a synthetic `/clock` that can be paused and stepped, and nothing else.
//!
//! A step of more than 1000 s is one jump of the clock: as a run of readings it would take more than ten seconds.

use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};

use anyhow::Result;

use crate::ros::Running;
use crate::sim_clock::{ClockHost, ClockRequest, ClockServices};

/// Requests that may wait for the clock thread; it takes each within a millisecond.
const QUEUE: usize = 64;

/// What the clock thread is told.
enum Ingress {
    Clock(ClockRequest),
    Stop,
}

/// Runs the node until it is asked to stop.
///
/// # Errors
/// A parameter of the wrong type or out of range, or a failure of ROS.
pub fn run() -> Result<()> {
    let ros = Running::start("dummy_sim")?;
    let host = ClockHost::open(&ros, f64::INFINITY)?;
    let (tell, told) = sync_channel(QUEUE);
    let to_clock = tell.clone();
    let _services =
        ClockServices::open(&ros.node, move |request| drop(to_clock.try_send(Ingress::Clock(request))))?;
    let on_signal = move || drop(tell.send(Ingress::Stop));
    ros.spin_beside(on_signal, || serve(host, &told))
}

fn serve(mut host: ClockHost, told: &Receiver<Ingress>) -> Result<()> {
    loop {
        match told.recv_timeout(host.wait()) {
            Ok(Ingress::Clock(request)) => host.obey(request),
            Ok(Ingress::Stop) | Err(RecvTimeoutError::Disconnected) => return Ok(()),
            Err(RecvTimeoutError::Timeout) => {}
        }
        let reading = host.reading();
        host.publish(reading)?;
    }
}
