//! The `arena_humansim` node: the crowd engine behind topics and services (crowd-engine specification, sections 2 to 7).
//!
//! The engine runs on one worker: services, clock readings and ticks never overlap, and nothing needs a lock. Nodes convert and decide
//! nothing; whatever is refused is refused by the engine, whose words reach the client.

mod host;
mod markers;
mod outbox;
mod pace;
mod parameters;
mod recording;
mod services;
mod session;
mod standalone;
mod types;
mod viz;
mod wire;

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::Result;
use arena_humansim_msgs::msg::rmw::AgentStates;
use promenade_crowd::Engine;
use promenade_crowd::protocol::ParameterValue;
use rclrs::IntoPrimitiveOptions;
use rosgraph_msgs::msg::rmw::Clock;

use crate::bus::time_from_wire;
use crate::ros::Running;
use host::{Host, Source};
use outbox::Outbox;
use parameters::{Parameters, USE_SIM_TIME};
use recording::{Recording, Tape};

/// Between looks at what is static and has changed while no tick is due.
const HOUSEKEEPING: Duration = Duration::from_millis(100);

/// State of the worker. Only callbacks of the worker reach it, one at a time; the mutex is what makes it shareable, and never waits.
pub(crate) type Shared = Mutex<Host>;

/// The host itself.
fn host(shared: &mut Shared) -> &mut Host {
    shared.get_mut().unwrap_or_else(PoisonError::into_inner)
}

/// Runs the node until it is asked to stop, or has run its ticks.
///
/// # Errors
/// A parameter that the engine refuses, or a failure of ROS.
pub fn run() -> Result<()> {
    let ros = Running::start_with_own_parameters("arena_humansim")?;
    let given = parameters::given_at_start(&ros.node)?;
    let started = Instant::now();
    let mut engine = Engine::new(&given)?
        .with_clock(move || u64::try_from(started.elapsed().as_nanos()).unwrap_or(u64::MAX));
    if !text(&engine, "replay_mode").is_empty() {
        return session::replay(text(&engine, "replay_mode"));
    }
    session::begin(&mut engine)?;
    let is_master = text(&engine, "mode") != "subsystem";
    let (engine, source) = if is_master {
        let (engine, end) = standalone::put_into(engine)?;
        (engine, Source::master(end))
    } else {
        if !text(&engine, "scenario").is_empty() {
            tracing::warn!("parameter scenario is for mode:=master; a subsystem ignores it");
        }
        (engine.with_types(types::load), Source::subsystem())
    };
    let uses_sim_time = ros.node.use_undeclared_parameters().get::<bool>(USE_SIM_TIME).unwrap_or(false);

    let tape = Tape::new(Recording::start(&engine, &ros.node.namespace())?);
    let outbox = Outbox::open(&ros.node, is_master, tape.clone())?;
    let host_state = Host::new(engine, outbox, source, Arc::clone(ros.node.commands()));
    let worker = ros.node.create_worker::<Shared>(Mutex::new(host_state));
    let _services = services::serve(&ros.node, &worker, Parameters::new(uses_sim_time), is_master)?;
    let feed = "world_state".keep_last(10).reliable().volatile();
    let _feed = worker.create_subscription::<AgentStates, _>(
        feed,
        |shared: &mut Shared, message: Box<AgentStates>| {
            host(shared).engine.world_state(&wire::agent_states(&message));
        },
    )?;
    let _clock = if is_master {
        None
    } else {
        let options = "/clock".keep_last(10).best_effort().volatile();
        let clock =
            worker.create_subscription::<Clock, _>(options, |shared: &mut Shared, message: Clock| {
                host(shared).on_clock(time_from_wire(&message.clock).nanos());
            })?;
        Some(clock)
    };
    let (node, looks) = (ros.node.clone(), tape.clone());
    let _housekeeping = worker.create_timer_repeating(HOUSEKEEPING, move |shared: &mut Shared| {
        let host = host(shared);
        host.publish_geometry();
        if looks.must_end(&node) {
            host.end();
        }
    })?;
    let handle = Arc::downgrade(&worker);
    // What fails here fails again, and is told, at the next reset.
    drop(worker.run(move |shared: &mut Shared| {
        if let Err(error) = host(shared).start(handle) {
            tracing::error!("{error:#}");
        }
    }));
    let spun = ros.spin();
    tape.finish().and(spun)
}

fn text<'e>(engine: &'e Engine, name: &str) -> &'e str {
    match engine.parameter(name) {
        Some(ParameterValue::Text(value)) => value,
        _ => "",
    }
}

/// Ticks after which a master ends: `ticks`, else `time`; `None` = never.
fn last_tick(engine: &Engine) -> Option<u64> {
    if let Some(ParameterValue::Integer(ticks @ 1..)) = engine.parameter("ticks") {
        return Some(ticks.unsigned_abs());
    }
    match engine.parameter("time") {
        Some(ParameterValue::Double(time)) if *time > 0.0 => {
            // A time that is a whole number of ticks ends with the last of them.
            Some((time * 1e9 / engine.dt_ns() as f64 - 1e-6).ceil().max(1.0) as u64)
        }
        _ => None,
    }
}
