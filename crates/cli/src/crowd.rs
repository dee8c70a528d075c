//! `promenade crowd`: the pedestrian engine alone, trajectories out.

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, Result};
use promenade_crowd::run_file::{RunFile, RunOptions};

/// Run a recorded crowd scene and write where everybody was.
///
/// RUN.json is a file of format crowd-reference/1 of kind run, planner or collision. The output has the columns x, y, theta, vx and vy
/// of all ids after every tick under `run`, in the shape of that format.
#[derive(Debug, clap::Args)]
#[command(
    arg_required_else_help = true,
    after_help = "\
Examples:
  promenade crowd sfm_corridor.json --out rows.json
  promenade crowd sfm_corridor.json --sampled --ticks 100 --threads 2 --out rows.json"
)]
pub(crate) struct CrowdArgs {
    /// A recorded run
    run: PathBuf,
    /// Ticks to run; as many as the file says without
    #[arg(long, value_name = "N")]
    ticks: Option<u64>,
    /// File to write; standard output without
    #[arg(long, value_name = "F.json")]
    out: Option<PathBuf>,
    /// Draw the agents from the file's seed, rather than take them as it lists them
    #[arg(long)]
    sampled: bool,
    /// Threads; the result does not depend on them
    #[arg(long, default_value_t = 1, value_name = "T", value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: u16,
}

pub(crate) fn run(args: &CrowdArgs) -> Result<ExitCode> {
    let shown = args.run.display();
    let text = std::fs::read_to_string(&args.run).with_context(|| format!("cannot read {shown}"))?;
    let file = RunFile::parse(&text).with_context(|| format!("{shown} is no recorded crowd run"))?;
    let options = RunOptions { ticks: args.ticks, sampled: args.sampled, threads: usize::from(args.threads) };
    let rows = file.run(options).with_context(|| format!("cannot run {shown}"))?;
    let written = format!("{}\n", file.with_rows(&rows));
    match &args.out {
        Some(out) => {
            std::fs::write(out, written).with_context(|| format!("cannot write {}", out.display()))?;
        }
        None => std::io::stdout().lock().write_all(written.as_bytes())?,
    }
    Ok(ExitCode::SUCCESS)
}
