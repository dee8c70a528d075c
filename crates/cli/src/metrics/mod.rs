//! `promenade metrics`: what a robot did among people, from a bag or from the report of a run.
//!
//! The numbers are those of `promenade_hunav::metrics`; this module must never compute one of its own.

mod align;
mod bag;
mod frames;
mod messages;
mod report;
mod show;

use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context as _, Result, bail};
use promenade_hunav::metrics::{Delimiter, Metric, steps};

use self::bag::Found;

/// Compute HuNavSim's metrics of a recorded episode of any backend.
///
/// FILE is a bag (a .mcap or .db3 file, or a folder of rosbag2; of `promenade run --record`, `ros2 bag record`, or anybody else) with human_states and
/// robot_states, or with arena_peds and a robot's odometry; or it is the JSON of `promenade run --report`. Several files are shown side by side.
/// docs/metrics.md says what each number means.
#[derive(Debug, clap::Args)]
#[command(
    arg_required_else_help = true,
    after_help = "\
Examples:
  promenade run hall/crowd --human arena --record hall.mcap && promenade metrics hall.mcap
  promenade metrics rosbag2_2026_01_01 --goal 3.2,0.8 --from 12 --to 60 --plot episode.png
  promenade metrics dummy.mcap arena.mcap hunav.mcap --csv > table.csv"
)]
pub(crate) struct MetricsArgs {
    /// Bags, or reports of promenade run
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Where the robot was to go, x,y in metres; may be repeated. As the bag says (robot_states or goal_pose) without
    #[arg(long, value_name = "X,Y", value_parser = point, allow_hyphen_values = true)]
    goal: Vec<[f64; 2]>,
    /// From this distance to the goal on it is not reached, metres
    #[arg(long, default_value_t = 0.2, value_name = "M", value_parser = length)]
    goal_radius: f64,
    /// Leave out what is earlier, seconds from the first step of the bag
    #[arg(long, value_name = "S", default_value_t = 0.0)]
    from: f64,
    /// Leave out what is later
    #[arg(long, value_name = "S")]
    to: Option<f64>,
    /// Which episode, of a bag whose clock goes back between them
    #[arg(long, value_name = "N", default_value_t = 1)]
    episode: usize,
    /// The robot, when the bag has several: a part of the name of its topic
    #[arg(long, value_name = "NAME", default_value = "", hide_default_value = true)]
    robot: String,
    /// The people, when the bag has several environments: a part of the name of their topic
    #[arg(long, value_name = "NAME", default_value = "", hide_default_value = true)]
    people: String,
    /// Base frame of the robot, to take its way from TF rather than from odometry
    #[arg(long, value_name = "FRAME")]
    frame: Option<String>,
    /// Radius of the robot where no message says it, metres
    #[arg(long, default_value_t = 0.3, value_name = "M", value_parser = length)]
    robot_radius: f64,
    /// Radius of people where no message says it, metres
    #[arg(long, default_value_t = 0.35, value_name = "M", value_parser = length)]
    person_radius: f64,
    /// Take the angles and turn rates that were meant, where the public evaluator has others (metrics.compat false)
    #[arg(long)]
    corrected: bool,
    /// Print JSON, one object per file
    #[arg(long, conflicts_with = "csv")]
    json: bool,
    /// Print a table with commas, one row per file, as HuNavSim's evaluator writes it
    #[arg(long)]
    csv: bool,
    /// Write the numbers of every step as a table with commas
    #[arg(long, value_name = "F.csv")]
    steps: Option<PathBuf>,
    /// Picture of the ways, the distance to people and the speeds
    #[arg(long, value_name = "F.png")]
    plot: Option<PathBuf>,
}

fn point(text: &str) -> Result<[f64; 2], String> {
    let parts: Vec<f64> = text.split(',').filter_map(|part| part.trim().parse().ok()).collect();
    match parts[..] {
        [x, y] if x.is_finite() && y.is_finite() && text.matches(',').count() == 1 => Ok([x, y]),
        _ => Err(format!("{text:?} is no X,Y such as 3.2,-0.8")),
    }
}

fn length(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if (0.0..=1000.0).contains(&value) => Ok(value),
        _ => Err(format!("{text:?} is no length from 0 to 1000 m")),
    }
}

/// The metrics of a file.
pub(crate) enum Source {
    Bag(Box<Found>),
    Report(report::Reported),
}

pub(crate) fn run(args: &MetricsArgs) -> Result<ExitCode> {
    if args.files.len() > 1 && (args.steps.is_some() || args.plot.is_some()) {
        bail!("--steps and --plot are for one file, not for {}", args.files.len());
    }
    let mut sources = Vec::new();
    for path in &args.files {
        sources.extend(read(args, path)?);
    }
    let mut out = std::io::stdout().lock();
    if args.json {
        for source in &sources {
            writeln!(out, "{}", show::json(args, source))?;
        }
    } else if args.csv {
        write!(out, "{}", show::csv(&sources))?;
    } else {
        write!(out, "{}", show::table(&sources))?;
    }
    out.flush()?;
    if let Some(path) = &args.steps {
        let found = only_bag(&sources, "--steps")?;
        let text = steps(Delimiter::Comma, &Metric::ALL, &found.evaluation);
        std::fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))?;
    }
    if let Some(path) = &args.plot {
        let found = only_bag(&sources, "--plot")?;
        crate::draw::episode::episode(&found.name, &found.picture())?.write_png(path)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// The bag that an option needs.
fn only_bag<'a>(sources: &'a [Source], option: &str) -> Result<&'a Found> {
    match sources {
        [Source::Bag(found)] => Ok(found),
        _ => bail!("{option} needs a bag: a report has no steps; run again with --record F.mcap"),
    }
}

fn name_of(path: &Path) -> String {
    path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

fn read(args: &MetricsArgs, path: &Path) -> Result<Vec<Source>> {
    if path.extension().is_some_and(|end| end == "json") {
        let reported = report::read(args, path)?;
        return Ok(reported.into_iter().map(Source::Report).collect());
    }
    let found = bag::read(args, path)?;
    let mut stderr = std::io::stderr();
    for note in &found.notes {
        writeln!(stderr, "{}: {note}", path.display())?;
    }
    Ok(vec![Source::Bag(Box::new(found))])
}

/// Whether somebody looks who wants to see progress.
fn is_watched() -> bool {
    std::io::stderr().is_terminal()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_point_is_two_finite_numbers() {
        assert_eq!(point("3.2,-0.8"), Ok([3.2, -0.8]));
        for text in ["", "1", "1,2,3", "1,x", "nan,1", "1,inf"] {
            assert!(point(text).is_err_and(|error| error.contains("no X,Y")), "{text}");
        }
        assert!(length("-1").is_err() && length("nan").is_err() && length("0.3") == Ok(0.3));
    }
}
