//! The parameters of the manager, read once at the start.

use std::path::Path;

use anyhow::{Context as _, Result, anyhow, bail};
use promenade_hunav::configure::Loader;
use promenade_hunav::{Agent, Compat, ManagerVersion, ObstacleRule, Options, Order, Point};

use crate::ros::Running;

/// See the module.
pub(super) struct Settings {
    pub(super) options: Options,
    pub(super) publish_tf: bool,
    pub(super) publish_forces: bool,
    pub(super) publish_people: bool,
    /// Whether `get_agents` and `get_walls` are offered, which belong to the side of the simulator.
    pub(super) serves_simulator: bool,
    /// Whom `get_agents` names before the first request.
    pub(super) agents: Vec<Agent>,
    /// Places that behaviour trees name by number.
    pub(super) global_goals: Vec<Point>,
}

/// Longest step of the integrator that can be asked for, seconds.
const MOST_DT: f64 = 1.0;

impl Settings {
    /// # Errors
    /// A value of the wrong type or one that cannot be.
    pub(super) fn read(ros: &Running) -> Result<Self> {
        let seed = ros.parameter("seed", 0_i64, "seed of random force factors")?.cast_unsigned();
        let options = Options {
            compat: word(ros, "compat", Compat::WORDS, "whether faults of the original are mended or kept")?,
            manager: word(ros, "manager", ManagerVersion::WORDS, "whose constants hold")?,
            obstacle: word(ros, "obstacle", ObstacleRule::WORDS, "how obstacle points add up")?,
            order: word(ros, "order", Order::WORDS, "in which order agents are moved")?,
            integrator_dt_max: ros.parameter("integrator_dt_max", 0.05, "longest step, s; robust only")?,
            seed,
        };
        let dt = options.integrator_dt_max;
        if !(dt > 0.0 && dt <= MOST_DT) {
            bail!("parameter integrator_dt_max is {dt}; it is a number above 0, at most {MOST_DT}");
        }
        let what = "HuNavSim's loader file, for get_agents and the goals that trees name by number";
        let (agents, global_goals) = loader(&ros.text("agents_file", "", what)?, seed)?;
        let truth = |name: &str, what: &str| ros.parameter(name, true, what);
        Ok(Settings {
            options,
            publish_tf: truth("publish_tf", "a frame per agent and one of the robot")?,
            publish_forces: truth("publish_sfm_forces", "forces as markers on sfm_forces")?,
            publish_people: truth("hunav_loader.publish_people", "people_msgs/People on people")?,
            serves_simulator: truth(
                "serve_simulator",
                "offer get_agents and get_walls; false beside a simulator that offers them",
            )?,
            agents,
            global_goals,
        })
    }
}

/// The agents and the global goals of a loader file; none without one.
fn loader(file: &str, seed: u64) -> Result<(Vec<Agent>, Vec<Point>)> {
    if file.is_empty() {
        return Ok((Vec::new(), Vec::new()));
    }
    let text = std::fs::read_to_string(file).with_context(|| format!("parameter agents_file: {file}"))?;
    let loaded = Loader::read(&text, Path::new(file)).map_err(|report| anyhow!("{report}"))?;
    for problem in loaded.report.iter() {
        tracing::warn!("{problem}");
    }
    Ok((loaded.value.configured(seed), loaded.value.global_goals))
}

/// A parameter that is one of some words; the first one by default.
fn word<T: Copy>(ros: &Running, name: &str, words: &[(&str, T)], what: &str) -> Result<T> {
    let known: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
    let text = ros.text(name, known[0], &format!("{what}: {}", known.join(" or ")))?;
    match words.iter().find(|(word, _)| *word == text) {
        Some((_, value)) => Ok(*value),
        None => bail!("parameter {name}: there is no {text:?}; use {}", known.join(" or ")),
    }
}
