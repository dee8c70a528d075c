//! The `hunav_agent_manager` node: our engine behind the services of the agent manager of HuNavSim, for its clients (HuNav
//! specification, sections 2, 3 and 9.2).
//!
//! Requests are answered one at a time by one worker, and time enters through their stamps alone. The node converts and decides nothing.

#[cfg(hunav_flavour = "arena")]
mod field;
mod forces;
mod host;
mod services;
mod settings;
mod topics;

use std::sync::Mutex;

use anyhow::Result;

use crate::ros::Running;
use host::Host;
use settings::Settings;
use topics::Topics;

/// Runs the node until it is asked to stop.
///
/// # Errors
/// A parameter of the wrong type or out of range, a file with errors, or a failure of ROS.
pub fn run() -> Result<()> {
    let ros = Running::start("hunav_agent_manager")?;
    let settings = Settings::read(&ros)?;
    let topics = Topics::open(&ros.node, &settings)?;
    tracing::info!("hunav_msgs: {}, compat: {:?}", super::wire::FLAVOUR, settings.options.compat);
    let answers_for_simulator = settings.serves_simulator;
    let worker = ros.node.create_worker(Mutex::new(Host::new(settings, topics)));
    let _services = services::serve(&worker, answers_for_simulator)?;
    ros.spin()
}
