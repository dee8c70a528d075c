//! The node's parameters, read once at the start.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Result, bail, ensure};
use promenade_human::episode::EpisodeRequest;
use promenade_robot_world::spec::CollisionMode;

use crate::human_simulator::settings::only_episode;
use crate::ros::Running;

/// Steps of the world that make sense, seconds.
const STEP_TIMES: std::ops::RangeInclusive<f64> = 0.001..=0.1;
/// Messages of `odom` per sim second that make sense.
const ODOM_RATES: std::ops::RangeInclusive<f64> = 0.1..=1000.0;
/// Longest wait for a command that makes sense, sim seconds.
const MOST_TIMEOUT: f64 = 3600.0;

/// What the node is to do.
#[derive(Clone, Debug)]
pub(super) struct Settings {
    /// The first episode, prefix, frames and place of the environment.
    pub(super) request: EpisodeRequest,
    /// A robot-world file instead of a scenario.
    pub(super) world_file: Option<PathBuf>,
    /// Seconds per step of the world; a robot-world file has its own.
    pub(super) step_time: f64,
    /// What touching does; a robot-world file has its own.
    pub(super) collision_mode: CollisionMode,
    /// Sim time without a command after which a robot stops.
    pub(super) watchdog: Duration,
    /// Whether `cmd_vel` is a `TwistStamped`.
    pub(super) stamped: bool,
    /// Sim time between messages of `odom`.
    pub(super) odom_period: Duration,
    /// Whether the transform from `map` to the odometry frames is published.
    pub(super) map_to_odom: bool,
    /// Whether robots follow the phases of the scenario until somebody commands them.
    pub(super) follows_phases: bool,
    /// Name below which the episode records are.
    pub(super) task_generator: String,
    /// Namespace of the services for people; empty = the node's.
    pub(super) sim_ns: String,
}

/// Reads the parameters.
///
/// # Errors
/// A value of the wrong type or one that cannot be.
pub(super) fn read(ros: &Running) -> Result<Settings> {
    let request = only_episode(ros)?;
    let world_file = ros.text("world_file", "", "robot-world file (IR-SIM) instead of a scenario")?;
    ensure!(
        world_file.is_empty() || request.scenario.is_empty(),
        "parameters scenario and world_file are both set; a world file has no people and a scenario has its own world"
    );
    let step_time = ros.parameter("step_time", 0.02, "seconds per step of the world")?;
    within("step_time", step_time, &STEP_TIMES)?;
    let mode = ros.text("collision_mode", "contact", "what touching does, as in robot-world files")?;
    let watchdog = ros.parameter("cmd_vel_timeout", 0.5, "sim seconds without a command, then stop")?;
    within("cmd_vel_timeout", watchdog, &(0.0..=MOST_TIMEOUT))?;
    let odom_rate = ros.parameter("odom_rate", 50.0, "messages of odom and /tf per sim second")?;
    within("odom_rate", odom_rate, &ODOM_RATES)?;
    let task_generator =
        ros.text("task_generator", "task_generator", "name below which the episode records are")?;
    ensure!(!task_generator.trim_end_matches('/').is_empty(), "parameter task_generator is empty");
    Ok(Settings {
        request,
        world_file: (!world_file.is_empty()).then(|| PathBuf::from(world_file)),
        step_time,
        collision_mode: collision_mode(&mode)?,
        watchdog: Duration::from_secs_f64(watchdog),
        stamped: ros.parameter(
            "enable_stamped_cmd_vel",
            false,
            "whether cmd_vel is a TwistStamped, as with the parameter of this name of Nav2",
        )?,
        odom_period: Duration::from_secs_f64(1.0 / odom_rate),
        map_to_odom: ros.parameter(
            "map_to_odom",
            true,
            "whether map -> odom is published; off for a localization that does",
        )?,
        follows_phases: ros.parameter(
            "follow_phases",
            true,
            "whether robots do the phases of the scenario until somebody commands them",
        )?,
        task_generator,
        sim_ns: ros.text("sim_ns", "", "namespace of the services for people; empty is the node's")?,
    })
}

fn within(name: &str, value: f64, range: &std::ops::RangeInclusive<f64>) -> Result<()> {
    ensure!(
        range.contains(&value),
        "parameter {name} is {value}; it is a number from {} to {}",
        range.start(),
        range.end()
    );
    Ok(())
}

/// The mode of a name; the names are those of robot-world files.
fn collision_mode(name: &str) -> Result<CollisionMode> {
    Ok(match name {
        "stop" => CollisionMode::Stop,
        "reactive" => CollisionMode::Reactive,
        "unobstructed" => CollisionMode::Unobstructed,
        "unobstructed_obstacles" => CollisionMode::UnobstructedObstacles,
        "contact" => CollisionMode::Contact,
        other => bail!(
            "parameter collision_mode: there is no {other:?}; use stop, reactive, unobstructed, unobstructed_obstacles or contact"
        ),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_out_of_range_is_refused_by_name_and_range() {
        assert!(within("step_time", 0.02, &STEP_TIMES).is_ok());
        for value in [0.0, -0.02, 1.0, f64::NAN, f64::INFINITY] {
            let refused = within("step_time", value, &STEP_TIMES).expect_err("refused").to_string();
            assert!(refused.contains("step_time is") && refused.contains("0.001 to 0.1"), "{refused}");
        }
        let refused = collision_mode("bounce").expect_err("refused").to_string();
        assert!(refused.contains("\"bounce\"") && refused.contains("contact"), "{refused}");
    }
}
