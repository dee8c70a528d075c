//! `promenade crowd`: the pedestrian engine alone, trajectories and pictures out.

mod output;
mod scenario;
mod sqlite;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use indicatif::{ProgressBar, ProgressStyle};
use promenade_crowd::global::GLOBAL_PLANNERS;
use promenade_crowd::planner::PLANNERS;
use promenade_crowd::run_file::{RunFile, RunOptions};
use promenade_crowd::{Segment, Trajectory};

use crate::draw::floor;

/// Run people with the pedestrian engine alone and write where everybody was.
///
/// FILE is a scenario of the engine (YAML: agents, walls, flow; see configs/crowd) or a recorded run (JSON of format crowd-reference/1).
/// What --out gets depends on its ending: .json all columns with all digits (of a recorded run in that format again), .csv a table, .txt
/// the text form of JuPedSim and PedPy, .sqlite the database of JuPedSim.
#[derive(Debug, clap::Args)]
#[command(
    arg_required_else_help = true,
    after_help = "\
Examples:
  promenade crowd configs/crowd/corridor.yaml --plot corridor.png
  promenade crowd configs/crowd/bottleneck.yaml --planner hsfm --ticks 1200 --every 2 --out paths.sqlite
  promenade crowd sfm_corridor.json --out rows.json"
)]
pub(crate) struct CrowdArgs {
    /// A scenario or a recorded run
    file: PathBuf,
    /// Ticks to run; as many as the file says without
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    ticks: Option<u64>,
    /// File to write: .json, .csv, .txt (PedPy) or .sqlite (JuPedSim); of a recorded run JSON to standard output without
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Picture of paths, density, speed and the fundamental diagram
    #[arg(long, value_name = "F.png")]
    plot: Option<PathBuf>,
    /// Write every Nth tick only
    #[arg(long, default_value_t = 1, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    every: u64,
    /// Local planner of everybody who names none
    #[arg(long, value_parser = PLANNERS)]
    planner: Option<String>,
    /// How paths are found
    #[arg(long, value_parser = GLOBAL_PLANNERS)]
    global_planner: Option<String>,
    /// Seed, instead of the scenario's
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    seed: Option<i64>,
    /// Of a scenario: without what this engine does better than the one it is compatible with
    #[arg(long)]
    compatible: bool,
    /// Of a recorded run: draw the agents from the file's seed, rather than take them as it lists them
    #[arg(long)]
    sampled: bool,
    /// Threads; the result does not depend on them
    #[arg(long, default_value_t = 1, value_name = "T", value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: u16,
}

/// What came of a run.
struct Run {
    name: String,
    trajectory: Trajectory,
    walls: Vec<Segment>,
}

pub(crate) fn run(args: &CrowdArgs) -> Result<ExitCode> {
    let shown = args.file.display();
    if let Some(out) = &args.out {
        // Rather now than after an hour.
        output::Format::of(out)?;
    }
    let text = std::fs::read_to_string(&args.file).with_context(|| format!("cannot read {shown}"))?;
    if text.trim_start().starts_with('{') {
        recorded(args, &text)
    } else {
        let run = scenario::run(args, &text)?;
        finish(args, &run)
    }
}

/// Run a recorded scene again.
fn recorded(args: &CrowdArgs, text: &str) -> Result<ExitCode> {
    let shown = args.file.display();
    if args.planner.is_some() || args.global_planner.is_some() || args.seed.is_some() {
        bail!("{shown} is a recorded run, which says itself which planners and which seed it has");
    }
    let file = RunFile::parse(text).with_context(|| format!("{shown} is no recorded crowd run"))?;
    let options = RunOptions { ticks: args.ticks, sampled: args.sampled, threads: usize::from(args.threads) };
    let rows = file.run(options).with_context(|| format!("cannot run {shown}"))?;
    let as_recorded = match &args.out {
        Some(out) => output::Format::of(out)? == output::Format::Json,
        None => args.plot.is_none(),
    };
    if as_recorded {
        let written = format!("{}\n", file.with_rows(&rows));
        match &args.out {
            Some(out) => {
                std::fs::write(out, written).with_context(|| format!("cannot write {}", out.display()))?;
            }
            None => std::io::stdout().lock().write_all(written.as_bytes())?,
        }
    }
    let run = Run { name: name_of(&args.file), trajectory: rows.trajectory(file.dt()), walls: file.walls() };
    let out = args.out.clone().filter(|_| !as_recorded);
    write(out.as_deref(), args.plot.as_deref(), &run)?;
    Ok(ExitCode::SUCCESS)
}

fn name_of(file: &Path) -> String {
    file.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

fn finish(args: &CrowdArgs, run: &Run) -> Result<ExitCode> {
    write(args.out.as_deref(), args.plot.as_deref(), run)?;
    Ok(ExitCode::SUCCESS)
}

fn write(out: Option<&Path>, plot: Option<&Path>, run: &Run) -> Result<()> {
    if let Some(out) = out {
        output::write(out, &run.name, &run.trajectory, &run.walls)?;
    }
    if let Some(plot) = plot {
        floor::sheet(&run.name, &run.trajectory, &run.walls)?.write_png(plot)?;
    }
    Ok(())
}

/// A bar for runs that take a while; none where nobody looks.
fn progress(ticks: u64) -> ProgressBar {
    let style = ProgressStyle::with_template("{bar:32} {pos}/{len} ticks  {msg}  {eta} left");
    let bar = ProgressBar::new(ticks);
    bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
    bar.enable_steady_tick(Duration::from_millis(200));
    bar
}
