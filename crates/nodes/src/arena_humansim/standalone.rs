//! Standalone scenarios that a master runs (crowd-engine specification, sections 2, 5 and 26).
//!
//! Parameters of the node win over what the file says: who plans for robots, what people do at the end of their way, when it is over.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail, ensure};
use promenade_crowd::Engine;
use promenade_crowd::scenario::ScenarioRun;
use promenade_scenario::{StandaloneScenario, WaypointMode};

use super::host::End;
use super::{last_tick, text, types};
use crate::ros::share_dir;

/// Longest file that is read, bytes.
const LONGEST: u64 = 1 << 26;

/// Puts the scenario of the parameters into the engine, if they name one, and answers when a master ends.
///
/// # Errors
/// A file that cannot be read, every problem in it, or what the engine refuses of it.
pub(crate) fn put_into(engine: Engine) -> Result<(Engine, End)> {
    let mut end =
        End { last_tick: last_tick(&engine), when_robots_arrive: text(&engine, "robot_shutdown") == "true" };
    let named = text(&engine, "scenario").to_owned();
    if named.is_empty() {
        return Ok((engine.with_types(types::load), end));
    }
    let file = find(&named)?;
    let scenario = read(&file)?;
    let scenario = overridden(scenario, text(&engine, "robot_policy"), text(&engine, "force_waypoint_mode"));
    let run = ScenarioRun::new(engine, &scenario, types::load)
        .with_context(|| format!("parameter scenario: cannot run {}", file.display()))?;
    if end.last_tick.is_none() && run.max_ticks() > 0 {
        end.last_tick = Some(run.max_ticks());
    }
    let engine = run.into_engine();
    if text(&engine, "robot_shutdown").is_empty() {
        end.when_robots_arrive = scenario.simulation.robot_shutdown;
    }
    Ok((engine, end))
}

/// A path, or the name of a scenario that Promenade brings.
fn find(named: &str) -> Result<PathBuf> {
    let path = PathBuf::from(named);
    if path.is_file() {
        return Ok(path);
    }
    let Some(folder) = share_dir().map(|share| share.join("configs/crowd")) else {
        bail!("parameter scenario: no file {named:?}");
    };
    let candidates = [folder.join(named), folder.join(format!("{named}.yaml"))];
    candidates.into_iter().find(|candidate| candidate.is_file()).with_context(|| {
        format!("parameter scenario: no file {named:?}, and none of that name in {}", folder.display())
    })
}

fn read(file: &Path) -> Result<StandaloneScenario> {
    let context = || format!("parameter scenario: cannot read {}", file.display());
    let length = std::fs::metadata(file).with_context(context)?.len();
    ensure!(
        length <= LONGEST,
        "parameter scenario: {} has {length} bytes, expected at most {LONGEST}",
        file.display()
    );
    let text = std::fs::read_to_string(file).with_context(context)?;
    match StandaloneScenario::parse(&text, file) {
        Ok(loaded) => {
            loaded.report.iter().for_each(|problem| tracing::info!("{problem}"));
            Ok(loaded.value)
        }
        Err(report) => bail!("parameter scenario:\n{report}"),
    }
}

fn overridden(mut scenario: StandaloneScenario, robot_policy: &str, mode: &str) -> StandaloneScenario {
    let mode = match mode {
        "once" => Some(WaypointMode::Once),
        "repeat" => Some(WaypointMode::Repeat),
        "reverse" => Some(WaypointMode::Reverse),
        "random" => Some(WaypointMode::Random),
        _ => None,
    };
    for agent in &mut scenario.agents {
        if !agent.robot {
            agent.waypoint_mode = mode.unwrap_or(agent.waypoint_mode);
        } else if !robot_policy.is_empty() {
            robot_policy.clone_into(&mut agent.policy);
        }
    }
    scenario
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "
name: two
simulation: {max_ticks: 7}
agents:
- {agent_id: 1, spawn_pose: {x: 0, y: 0}, goal_sequence: [{x: 5, y: 0}]}
- {agent_id: 2, kind: 1, agent_type: robot, spawn_pose: {x: 0, y: 3}, goal_sequence: [{x: 5, y: 3}]}
";

    #[test]
    fn parameters_win_over_the_file() {
        let read = || StandaloneScenario::parse(FILE, Path::new("two.yaml")).expect("a scenario").value;
        let as_written = overridden(read(), "", "");
        assert_eq!(as_written, read());
        let scenario = overridden(read(), "orca", "repeat");
        assert_eq!(scenario.agents[0].waypoint_mode, WaypointMode::Repeat);
        assert_eq!(
            (scenario.agents[1].waypoint_mode, scenario.agents[1].policy.as_str()),
            (WaypointMode::Once, "orca")
        );
        assert!(scenario.agents[0].policy.is_empty());
    }

    #[test]
    fn a_scenario_that_is_not_there_is_named() {
        let missing = find("/nowhere/hall.yaml").expect_err("missing").to_string();
        assert!(missing.contains("/nowhere/hall.yaml"), "{missing}");
    }
}
