//! Tells the simulator which topics its clock may have to wait for (human-layer specification, section 2.4).
//!
//! Best effort: a simulator that offers no such service, or refuses, costs a line in the log and nothing else. The node works
//! meanwhile.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use arena_runtime_msgs::msg::rmw::{LockstepChannel as WireChannel, LockstepRegistration};
use arena_runtime_msgs::srv::rmw::{LockstepRegister, LockstepRegisterRequest, LockstepRegisterResponse};
use promenade_human::LockstepChannel;
use rclrs::Node;

/// Where simulators offer it.
const SERVICE: &str = "/arena/sim_lifecycle/lockstep/register";

/// Longest wait for the service and its answer together.
const PATIENCE: Duration = Duration::from_secs(3);

/// How often the graph is looked at meanwhile.
const GLANCE: Duration = Duration::from_millis(20);

/// A registration under way; dropping it ends it, so that nothing of it is left when its node goes.
pub(crate) struct Registering {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Drop for Registering {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take()
            && thread.join().is_err()
        {
            tracing::error!("the registration at {SERVICE} panicked");
        }
    }
}

/// Registers `channels` of the environment of `node`, on a thread of its own that ends after at most [`PATIENCE`].
pub(crate) fn register(node: &Node, channels: &[LockstepChannel]) -> Registering {
    let stop: Arc<AtomicBool> = Arc::default();
    if channels.is_empty() {
        return Registering { stop, thread: None };
    }
    let registration = registration(&node.fully_qualified_name(), &node.namespace(), channels);
    let (node, until) = (node.clone(), Arc::clone(&stop));
    let spawned = std::thread::Builder::new().name("lockstep".to_owned()).spawn(move || {
        match ask(&node, registration, &until) {
            Ok(answer) if answer.success => tracing::info!("{SERVICE}: the clock waits for this node"),
            Ok(answer) => {
                tracing::warn!("{SERVICE} refused: {}; going on without lockstep", answer.error_msg)
            }
            Err(error) => tracing::info!("{error}; going on without lockstep"),
        }
    });
    let thread = spawned
        .inspect_err(|error| tracing::warn!("no thread for {SERVICE}: {error}; going on without lockstep"))
        .ok();
    Registering { stop, thread }
}

fn ask(
    node: &Node,
    registration: LockstepRegistration,
    stop: &AtomicBool,
) -> Result<LockstepRegisterResponse> {
    let end = Instant::now() + PATIENCE;
    let is_over = || stop.load(Ordering::Relaxed) || Instant::now() >= end;
    let client = node.create_client::<LockstepRegister>(SERVICE)?;
    while !client.service_is_ready()? {
        ensure!(!is_over(), "no service {SERVICE} within {PATIENCE:?}");
        std::thread::park_timeout(GLANCE);
    }
    let (tell, told) = std::sync::mpsc::channel();
    // The promise only tells when the callback is through.
    drop(
        client.call_then(
            &LockstepRegisterRequest { registration },
            move |answer: LockstepRegisterResponse| drop(tell.send(answer)),
        )?,
    );
    loop {
        match told.recv_timeout(GLANCE) {
            Ok(answer) => return Ok(answer),
            Err(_) => ensure!(!is_over(), "no answer of {SERVICE} within {PATIENCE:?}"),
        }
    }
}

fn registration(caller: &str, env: &str, channels: &[LockstepChannel]) -> LockstepRegistration {
    let channel = |channel: &LockstepChannel| WireChannel {
        name: channel.name.as_str().into(),
        topic: absolute(env, &channel.topic).as_str().into(),
        type_: channel.message_type.as_str().into(),
        period_s: channel.period_s,
        hard: channel.hard,
    };
    LockstepRegistration {
        caller: caller.into(),
        env: env.into(),
        channels: channels.iter().map(channel).collect(),
    }
}

/// A topic below the environment, unless it is absolute already.
fn absolute(env: &str, topic: &str) -> String {
    if topic.starts_with('/') { topic.to_owned() } else { format!("{}/{topic}", env.trim_end_matches('/')) }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use futures::channel::oneshot;
    use rclrs::{Context, CreateBasicExecutor as _, InitOptions, RclrsErrorFilter as _, SpinOptions};

    use super::*;

    /// Of its own, below those that the conformance tests take.
    const DOMAIN: usize = 9;

    #[test]
    fn a_simulator_that_offers_the_service_gets_the_registration() {
        let init = InitOptions::new().with_domain_id(Some(DOMAIN));
        let mut executor = Context::new([], init).expect("ROS").create_basic_executor();
        let simulator = executor.create_node("simulator").expect("a node");
        let (tell, told) = oneshot::channel();
        let tell = Mutex::new(Some(tell));
        let seen: Arc<Mutex<Option<LockstepRegistration>>> = Arc::default();
        let to_seen = Arc::clone(&seen);
        let _service = simulator
            .create_service::<LockstepRegister, _>(SERVICE, move |request: LockstepRegisterRequest| {
                *to_seen.lock().expect("no panic") = Some(request.registration);
                if let Some(tell) = tell.lock().expect("no panic").take() {
                    let _ = tell.send(());
                }
                LockstepRegisterResponse { success: true, ..LockstepRegisterResponse::default() }
            })
            .expect("a service");
        let node = executor.create_node("human_simulator").expect("a node");
        let channel = LockstepChannel {
            name: "roster".to_owned(),
            topic: "arena_peds".to_owned(),
            message_type: "arena_people_msgs/msg/Pedestrians".to_owned(),
            period_s: 0.15,
            hard: true,
        };
        let registering = register(&node, &[channel]);
        let patience = SpinOptions::default().until_promise_resolved(told).timeout(10 * PATIENCE);
        executor.spin(patience).first_error().expect("the registration arrives in time");
        drop(registering);
        let seen = seen.lock().expect("no panic").take().expect("a registration");
        assert_eq!(seen.caller.to_string(), "/human_simulator");
        assert_eq!(seen.channels[0].topic.to_string(), "/arena_peds");
    }

    #[test]
    fn a_registration_names_caller_environment_and_absolute_topics() {
        let channel = |topic: &str| LockstepChannel {
            name: "roster".to_owned(),
            topic: topic.to_owned(),
            message_type: "arena_people_msgs/msg/Pedestrians".to_owned(),
            period_s: 0.15,
            hard: true,
        };
        let sent = registration(
            "/arena/env_3/human_simulator",
            "/arena/env_3",
            &[channel("arena_peds"), channel("/elsewhere")],
        );
        assert_eq!(sent.caller.to_string(), "/arena/env_3/human_simulator");
        assert_eq!(sent.env.to_string(), "/arena/env_3");
        let topics: Vec<_> = sent.channels.iter().map(|channel| channel.topic.to_string()).collect();
        assert_eq!(topics, ["/arena/env_3/arena_peds", "/elsewhere"]);
        assert_eq!((sent.channels[0].period_s, sent.channels[0].hard), (0.15, true));
        assert_eq!(absolute("/", "arena_peds"), "/arena_peds");
    }
}
