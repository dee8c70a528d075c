//! A scenario of the engine, from its text to a trajectory.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Result, anyhow, bail};
use promenade_crowd::protocol::ParameterValue;
use promenade_crowd::scenario::{ScenarioRun, parameters};
use promenade_crowd::{Engine, Trajectory};
use promenade_scenario::{AgentType, AgentTypeLibrary, ResolvedType, StandaloneScenario};

use super::{CrowdArgs, Run, name_of, progress};

/// Ticks of a scenario without an end, at most; an hour at the usual step.
const MOST_TICKS: u64 = 72_000;

pub(super) fn run(args: &CrowdArgs, text: &str) -> Result<Run> {
    let shown = args.file.display();
    if args.sampled {
        bail!("--sampled is for recorded runs; a scenario always draws its agents from the seed");
    }
    let loaded = StandaloneScenario::parse(text, &args.file).map_err(|report| anyhow!("{report}"))?;
    if !loaded.report.is_empty() {
        writeln!(std::io::stderr(), "{}", loaded.report)?;
    }
    let scenario = loaded.value;
    let mut wanted = parameters(&scenario);
    let text = |value: &String| ParameterValue::Text(value.clone());
    let mut set = |name: &str, value: Option<ParameterValue>| {
        if let Some(value) = value {
            wanted.retain(|(known, _)| known != name);
            wanted.push((name.to_owned(), value));
        }
    };
    set("threads", Some(ParameterValue::Integer(args.threads.into())));
    set("compatible", Some(ParameterValue::Bool(args.compatible)));
    set("seed", args.seed.map(ParameterValue::Integer));
    set("local_planner", args.planner.as_ref().map(text));
    set("global_planner", args.global_planner.as_ref().map(text));
    let engine = Engine::new(&wanted).with_context(|| format!("cannot run {shown}"))?;
    let mut run =
        ScenarioRun::new(engine, &scenario, of_file).with_context(|| format!("cannot run {shown}"))?;
    let ticks = match (args.ticks, run.max_ticks()) {
        (Some(ticks), _) => ticks,
        (None, 0) => bail!(
            "{shown} has no `simulation.max_ticks`; say how long with --ticks, at most {MOST_TICKS} are sensible"
        ),
        (None, ticks) => ticks,
    };
    let name = if scenario.name.is_empty() { name_of(Path::new(&args.file)) } else { scenario.name.clone() };
    let mut trajectory = Trajectory::new(1.0 / (scenario.simulation.dt * args.every as f64));
    let bar = progress(ticks);
    for tick in 0..ticks {
        if args.ticks.is_none() && run.is_over() {
            break;
        }
        run.engine_mut().tick();
        if tick.is_multiple_of(args.every) {
            trajectory.record(run.engine().frame());
        }
        if tick.is_multiple_of(64) {
            bar.set_position(tick);
            bar.set_message(format!("{} people", run.engine().frame().agent_id.len()));
        }
    }
    bar.finish_and_clear();
    for warning in run.engine_mut().warnings() {
        writeln!(std::io::stderr(), "warning: {warning}")?;
    }
    let walls = run.engine().crowd().walls().segments().to_vec();
    Ok(Run { name, trajectory, walls })
}

/// An agent type in a file; other names are left to the built-in ones.
fn of_file(name: &str) -> Option<Result<Arc<ResolvedType>, String>> {
    if !(name.contains('/') || name.ends_with(".yaml")) {
        return None;
    }
    let file = AgentType::File(PathBuf::from(name));
    Some(AgentTypeLibrary::built_in().resolve(&file).map_err(|error| error.to_string()))
}
