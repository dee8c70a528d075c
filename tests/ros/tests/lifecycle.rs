//! How `human_simulator` starts, refuses to start, and ends.

use anyhow::Result;
use promenade_ros_tests::{Cast, Ended, Environment, Process, SECOND, Stage, node_arguments, own_domain};
use tempfile::TempDir;

/// Starts the node with parameters that it must refuse, and waits until it has ended.
fn refused(parameters: &[(&str, &str)]) -> Result<Ended> {
    own_domain();
    let ended = Process::node("human_simulator", node_arguments("/arena/env_0", parameters))?.wait()?;
    assert_eq!(ended.status.code(), Some(1), "an orderly refusal, no panic and no signal: {ended:?}");
    assert!(!ended.log.contains("panicked"), "{ended:?}");
    Ok(ended)
}

#[test]
fn sigint_ends_the_node_in_good_order() -> Result<()> {
    let mut stage = Stage::new()?;
    let (environment, _) = Environment::open(&mut stage, &Cast::people(&["anna"]), SECOND)?;
    let ended = environment.process.interrupt()?;
    assert!(ended.status.success(), "{ended:?}");
    Ok(())
}

#[test]
fn sigint_ends_a_node_that_never_saw_a_clock() -> Result<()> {
    let mut stage = Stage::new()?;
    let environment = Environment::start(&mut stage, &Cast::people(&["anna"]))?;
    let ended = environment.process.interrupt()?;
    assert!(ended.status.success(), "{ended:?}");
    Ok(())
}

#[test]
fn a_broken_scenario_names_the_place() -> Result<()> {
    let folder = TempDir::new()?;
    let path = folder.path().join("broken.yaml");
    std::fs::write(&path, "dynamic:\n- name: anna\n  model: adult_casual_01\n  poze: [1.0, 0.0]\n")?;
    let scenario = path.display().to_string();
    let ended = refused(&[("use_sim_time", "true"), ("human", "dummy"), ("scenario", &scenario)])?;
    let place = format!("{scenario}:4:3");
    assert!(ended.log.contains(&place), "file, line and column: {}", ended.log);
    assert!(
        ended.log.contains("poze") && ended.log.contains("pose"),
        "what was found and what is near: {}",
        ended.log
    );
    Ok(())
}

#[test]
fn a_scenario_that_is_not_there_is_named() -> Result<()> {
    let ended = refused(&[("human", "dummy"), ("scenario", "/no/such/scenario.yaml")])?;
    assert!(ended.log.contains("/no/such/scenario.yaml"), "{}", ended.log);
    Ok(())
}

#[test]
fn an_unknown_backend_gets_the_list() -> Result<()> {
    let ended = refused(&[("human", "dumy")])?;
    assert!(ended.log.contains("dumy") && ended.log.contains("dummy"), "{}", ended.log);
    Ok(())
}
