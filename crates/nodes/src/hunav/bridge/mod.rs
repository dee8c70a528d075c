//! The `hunav_bridge` node: what lies between `human_simulator` and a HuNav agent manager of somebody else (HuNav specification, section
//! 8).
//!
//! It speaks the `hunav_msgs` of the environment on one side and `promenade_msgs` on the other, so that nothing else needs to know which
//! flavour there is. It also answers simulators that ask who and what is there (`get_agents`, `get_walls`), whichever engine moves
//! people, and passes forces on as markers. It carries and decides nothing; one thread makes all calls, one at a time.

mod line;
mod shown;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::Duration;

use anyhow::{Context as _, Result};
use futures::channel::oneshot;
use promenade_msgs::msg::rmw::HunavStatus;
use promenade_msgs::srv::rmw::{HunavStep, HunavStepRequest, HunavStepResponse};
use rclrs::{IntoPrimitiveOptions, Node, Publisher, Service, Subscription};
use std_srvs::srv::rmw::{Trigger, TriggerRequest, TriggerResponse};
use visualization_msgs::msg::rmw::MarkerArray;

use super::names;
use crate::ros::Running;
use line::Line;
use shown::Shown;

/// How often it is looked whether the manager came or went.
const LOOK: Duration = Duration::from_millis(50);

/// Calls that may wait.
const QUEUE: usize = 16;

/// What a client hears whose call found no room.
const BUSY: &str = "hunav_bridge is stopping, or too many calls are waiting";

/// What the thread of the calls is told.
enum Ingress {
    Step(Box<HunavStepRequest>, oneshot::Sender<HunavStepResponse>),
    Clear(oneshot::Sender<TriggerResponse>),
    Stop,
}

/// Runs the node until it is asked to stop.
///
/// # Errors
/// A parameter of the wrong type, a name that is none, or a failure of ROS.
pub fn run() -> Result<()> {
    let ros = Running::start("hunav_bridge")?;
    let manager = ros.text("manager", "", "namespace of the agent manager; empty = that of this node")?;
    let extra = ros.text(
        "markers",
        "pedestrian_markers/extra",
        "topic that forces are passed on to; empty = they are not",
    )?;
    let below = match manager.trim_end_matches('/') {
        "" => String::new(),
        namespace => format!("{namespace}/"),
    };
    let stop = Arc::new(AtomicBool::new(false));
    let line = Line::open(&ros.node, &below, Arc::clone(&stop))
        .with_context(|| format!("parameter manager: {manager:?} is no namespace such as /hunav"))?;
    let (tell, told) = sync_channel(QUEUE);
    let _services = serve(&ros.node, &tell)?;
    let _shown = Shown::open(&ros.node)?;
    let _forces = relay(&ros.node, &below, &extra)?;
    let latched = names::STATUS.keep_last(1).reliable().transient_local();
    let status = ros.node.create_publisher(latched)?;
    tracing::info!("hunav_msgs: {}; the manager's services: {}", super::wire::FLAVOUR, line.name());
    let on_signal = move || {
        stop.store(true, Ordering::Relaxed);
        // A full queue holds calls that return at once now, and then the sender is gone.
        drop(tell.try_send(Ingress::Stop));
    };
    ros.spin_beside(on_signal, || work(line, &told, &status))
}

fn serve(node: &Node, tell: &SyncSender<Ingress>) -> Result<(Service<HunavStep>, Service<Trigger>)> {
    let queue = tell.clone();
    let step = node.create_async_service::<HunavStep, _>(names::STEP, move |request: HunavStepRequest| {
        let (answer, answered) = oneshot::channel();
        // Without room the sender is dropped, which is an answer as well.
        drop(queue.try_send(Ingress::Step(Box::new(request), answer)));
        async move {
            answered
                .await
                .unwrap_or_else(|_| HunavStepResponse { message: BUSY.into(), ..Default::default() })
        }
    })?;
    let queue = tell.clone();
    let clear =
        node.create_async_service::<Trigger, _>(names::CLEAR, move |_: TriggerRequest| {
            let (answer, answered) = oneshot::channel();
            drop(queue.try_send(Ingress::Clear(answer)));
            async move {
                answered.await.unwrap_or_else(|_| TriggerResponse { success: false, message: BUSY.into() })
            }
        })?;
    Ok((step, clear))
}

/// Passes the manager's markers on; nothing when there is no topic to pass them to.
fn relay(node: &Node, below: &str, to: &str) -> Result<Option<Subscription<MarkerArray>>> {
    if to.is_empty() {
        return Ok(None);
    }
    // Reliable satisfies both kinds of subscribers.
    let out: Publisher<MarkerArray> = node.create_publisher(to.keep_last(10).reliable().volatile())?;
    let from = format!("{below}sfm_forces");
    let subscription = node.create_subscription::<MarkerArray, _>(
        from.as_str().keep_last(5).reliable().volatile(),
        move |markers: MarkerArray| {
            if let Err(error) = out.publish(&markers) {
                tracing::error!("markers: {error}");
            }
        },
    )?;
    Ok(Some(subscription))
}

/// Makes one call after the other until told to stop.
fn work(mut line: Line, told: &Receiver<Ingress>, status: &Publisher<HunavStatus>) -> Result<()> {
    let mut shown = None;
    loop {
        let is_there = line.look();
        if shown != Some(is_there) {
            shown = Some(is_there);
            let message = HunavStatus {
                flavour: super::wire::FLAVOUR.into(),
                manager: line.name().into(),
                available: is_there,
            };
            status.publish(&message).context("cannot publish the status")?;
        }
        // Clients that gave up do not read their answers.
        match told.recv_timeout(LOOK) {
            Ok(Ingress::Step(request, answer)) => drop(answer.send(line.step(&request))),
            Ok(Ingress::Clear(answer)) => drop(answer.send(line.clear())),
            Err(RecvTimeoutError::Timeout) if !line.is_stopping() => {}
            Ok(Ingress::Stop) | Err(_) => return Ok(()),
        }
    }
}
