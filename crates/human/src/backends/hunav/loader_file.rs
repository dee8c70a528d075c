//! A loader file of HuNavSim as a scenario, so that it runs as it is (HuNav specification, section 4.1).
//!
//! Every agent becomes an entry with the keys of this backend: what is written is what a scenario could have said.

use std::fmt::Write as _;
use std::path::Path;

use promenade_hunav::configure::Loader;
use promenade_hunav::{Agent, Behavior};
use promenade_scenario::scenario::read_text;
use promenade_scenario::tree::parse_document;
use promenade_scenario::{FALLBACK_HUMAN, Loaded, Report, Scenario};

/// The scenario of a file, whether it is one or a loader file. The draws of a loader's configuration modes follow from the seed.
///
/// # Errors
/// Every error of the file.
pub(crate) fn load_scenario(file: &Path, seed: u64) -> Result<Loaded<Scenario>, Report> {
    let text = read_text(file).map_err(|problem| Report::new(vec![problem]))?;
    match parse_document(&text, file) {
        (Some(node), _) if Loader::is_one(&node) => {
            let Loaded { value: loader, report } = Loader::read(&text, file)?;
            let mut agents = loader.configured(seed);
            // HuNavSim keeps the trees of agents in a folder of its package; here they may lie beside the file.
            for tree in
                agents.iter_mut().map(|agent| &mut agent.behavior_tree).filter(|tree| !tree.is_empty())
            {
                let beside = file.with_file_name(&*tree);
                if beside.is_file() {
                    *tree = std::path::absolute(&beside).unwrap_or(beside).display().to_string();
                }
            }
            let scenario = Scenario::parse(&scenario_text(&agents), file)?;
            Ok(Loaded { report: report.merge(scenario.report), ..scenario })
        }
        _ => Scenario::parse(&text, file),
    }
}

fn scenario_text(agents: &[Agent]) -> String {
    let mut text = "dynamic:\n".to_owned();
    for agent in agents {
        // Writing into a text cannot fail.
        write_entry(&mut text, agent).unwrap_or_default();
    }
    if agents.is_empty() { "{}".to_owned() } else { text }
}

fn write_entry(out: &mut String, agent: &Agent) -> std::fmt::Result {
    let [x, y] = agent.position;
    writeln!(out, "- name: {}", quoted(&agent.name))?;
    writeln!(out, "  model: {FALLBACK_HUMAN}")?;
    writeln!(out, "  pose: [{x:?}, {y:?}, {:?}]", agent.yaw)?;
    if agent.id > 0 {
        writeln!(out, "  id: {}", agent.id)?;
    }
    writeln!(out, "  skin: {}", agent.skin)?;
    writeln!(out, "  group_id: {}", agent.group_id)?;
    writeln!(out, "  desired_velocity: {:?}", agent.desired_velocity)?;
    writeln!(out, "  radius: {:?}", agent.radius)?;
    writeln!(out, "  goal_radius: {:?}", agent.goal_radius)?;
    writeln!(out, "  cyclic_goals: {}", agent.cyclic_goals)?;
    if !agent.behavior_tree.is_empty() {
        writeln!(out, "  behavior_tree: {}", quoted(&agent.behavior_tree))?;
    }
    let names: Vec<String> = (0..agent.goals.len()).map(|number| format!("hunav_goal_{number}")).collect();
    writeln!(out, "  goals: [{}]", names.join(", "))?;
    for (name, [x, y]) in names.iter().zip(&agent.goals) {
        writeln!(out, "  {name}: {{x: {x:?}, y: {y:?}}}")?;
    }
    let Behavior {
        kind,
        state,
        duration,
        once,
        vel,
        dist,
        social_force_factor,
        goal_force_factor,
        obstacle_force_factor,
        other_force_factor,
        ..
    } = agent.behavior;
    writeln!(out, "  behavior:")?;
    // The mode was applied; what is left of it is to take the factors as they are.
    writeln!(out, "    configuration: 1")?;
    writeln!(out, "    type: {}", kind as u8)?;
    writeln!(out, "    state: {state}")?;
    writeln!(out, "    once: {once}")?;
    for (key, value) in [
        ("duration", duration),
        ("vel", vel),
        ("dist", dist),
        ("social_force_factor", social_force_factor),
        ("goal_force_factor", goal_force_factor),
        ("obstacle_force_factor", obstacle_force_factor),
        ("other_force_factor", other_force_factor),
    ] {
        writeln!(out, "    {key}: {value:?}")?;
    }
    Ok(())
}

/// A text that YAML takes as it is; JSON's way of quoting is one of YAML's.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

#[cfg(test)]
mod tests {
    use promenade_hunav::configure::{Entry, MissingBehavior, Template};

    use super::*;

    const FILE: &str = "\
hunav_loader:
  ros__parameters:
    map: cafe
    agents: [anna, bob]
    anna:
      id: 4
      group_id: 2
      max_vel: 1.4
      radius: 0.4
      behavior: {type: 5, configuration: 3, duration: 30.0, once: false, vel: 2.5, dist: 1.5}
      init_pose: {x: -3.5, y: 1.0, z: 1.25, h: 0.5}
      goal_radius: 0.3
      cyclic_goals: false
      goals: [g0, g1]
      g0: {x: 1.0, y: 2.0, h: 0.0}
      g1: {x: 3.0, y: 4.0, h: 1.25}
    bob: {id: 5, init_pose: {x: 0, y: 0}, goals: [g], g: {x: 1e-7, y: -2}}
";

    #[test]
    fn an_agent_of_a_loader_file_is_the_same_agent_in_a_scenario() {
        let file = Path::new("/scenes/agents.yaml");
        let loader = Loader::read(FILE, file).expect("holds").value;
        let agents = loader.configured(9);
        let scenario = Scenario::parse(&scenario_text(&agents), file).expect("holds").value;
        assert_eq!(scenario.dynamics.len(), 2);
        for (entry, agent) in scenario.dynamics.iter().zip(agents) {
            let (said, report) = Entry::read(&entry.extra, &entry.file, "");
            assert!(report.is_empty(), "{report}");
            let mut made = Template::built_in().agent(&said, MissingBehavior::Documented);
            let promenade_scenario::Place::Pose(pose) = &entry.pose else { panic!("no pose") };
            assert_eq!(([pose.x, pose.y], pose.yaw), (agent.position, agent.yaw));
            made.name.clone_from(&entry.name);
            (made.position, made.yaw, made.z) = (agent.position, agent.yaw, agent.z);
            made.behavior.configuration = agent.behavior.configuration;
            assert_eq!(made, agent);
        }
    }
}
