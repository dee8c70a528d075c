//! `promenade bench validate`: the engine against what is published about real crowds.

use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context, Result, anyhow, bail};
use promenade_crowd::planner::PLANNERS;
use promenade_crowd::validation::{CASES, Case, Outcome, Scene, Size, Verdict, named};
use promenade_crowd::{Improvements, Settings, Trajectory};
use serde_json::{Map, Value};

use super::{print_row, report, rounded};
use crate::draw::{floor, plot};

/// The engine against published data: fundamental diagram, single file, bottlenecks, lanes, RiMEA cases and more.
///
/// A row per figure: what was measured, what it should be with its source, and pass, fail or documented. Parameters are those of the
/// shipped agent types; nothing is fitted to a case.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  promenade bench validate --list
  promenade bench validate --case lanes --planner sfm --planner orca --plot plots
  promenade bench validate --json > rows.json")]
pub(crate) struct ValidateArgs {
    /// Case, as often as wanted; all of them without
    #[arg(long, value_name = "NAME")]
    case: Vec<String>,
    /// Local planner, as often as wanted
    #[arg(long, default_values_t = ["sfm".to_owned()], value_parser = PLANNERS)]
    planner: Vec<String>,
    /// Seed of all random streams
    #[arg(long, default_value_t = 0)]
    seed: i64,
    /// Without what this engine does better than the one it is compatible with, for comparison
    #[arg(long)]
    compatible: bool,
    /// Few people and short times: shows that it runs, the figures mean little
    #[arg(long)]
    quick: bool,
    /// Threads of a tick; the figures do not depend on them
    #[arg(long, default_value_t = 1, value_name = "T", value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: u16,
    /// Folder for a picture of each chart and of a run of each case
    #[arg(long, value_name = "DIR")]
    plot: Option<PathBuf>,
    /// Markdown of all tables, with the pictures of --plot
    #[arg(long, value_name = "F.md")]
    report: Option<PathBuf>,
    /// Names and questions of the cases
    #[arg(long)]
    list: bool,
    /// One JSON object per row
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &ValidateArgs) -> Result<()> {
    let wanted: Vec<&Case> = args.case.iter().map(|name| named(name)).collect::<Result<_, _>>()?;
    let cases = if wanted.is_empty() { CASES.iter().collect() } else { wanted };
    if args.list {
        for case in cases {
            let mut row = Map::new();
            row.insert("case".into(), case.name.into());
            row.insert("question".into(), case.question.into());
            row.insert("source".into(), case.source.into());
            print_row(args.json, &row)?;
        }
        return Ok(());
    }
    if let Some(folder) = &args.plot {
        std::fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))?;
    }
    let mut results = Vec::new();
    for case in cases {
        let planners: Vec<&String> = args.planner.iter().filter(|planner| case.is_for(planner)).collect();
        let mut outcomes = Vec::new();
        for (planner, (outcome, seconds)) in planners.iter().zip(side_by_side(args, case, &planners)?) {
            tell(args, case, planner, &outcome, seconds)?;
            if let Some(folder) = &args.plot {
                draw(folder, case, planner, &outcome)?;
            }
            // Pictures are drawn, and what they show takes much room.
            let scene = outcome.scene.map(|scene| Scene { trajectory: Trajectory::default(), ..scene });
            outcomes.push(((*planner).clone(), Outcome { scene, ..outcome }));
        }
        if !outcomes.is_empty() {
            results.push(report::Result { case, outcomes });
        }
    }
    if results.is_empty() {
        let planners: Vec<&str> = CASES.iter().flat_map(|case| case.planners).copied().collect();
        bail!("no case is for the planners given; try --planner {}", planners.join(" --planner "));
    }
    if let Some(file) = &args.report {
        let folder = args.plot.as_ref().map(|folder| seen_from(file, folder));
        let page = report::tables(&results, &args.planner, folder.as_deref());
        std::fs::write(file, page).with_context(|| format!("cannot write {}", file.display()))?;
    }
    Ok(())
}

/// Run a case with each planner, at the same time; what came of it and the seconds it took, in their order.
fn side_by_side(args: &ValidateArgs, case: &Case, planners: &[&String]) -> Result<Vec<(Outcome, f64)>> {
    let size = if args.quick { Size::Quick } else { Size::Full };
    let one = |planner: &str| {
        let settings = Settings {
            seed: args.seed,
            local_planner: planner.to_owned(),
            threads: usize::from(args.threads),
            improvements: if args.compatible { Improvements::NONE } else { Improvements::ALL },
            ..Settings::default()
        };
        let start = Instant::now();
        let outcome = case.run(&settings, size).with_context(|| format!("cannot run {}", case.name))?;
        Ok((outcome, start.elapsed().as_secs_f64()))
    };
    std::thread::scope(|scope| {
        let runs: Vec<_> = planners.iter().map(|planner| scope.spawn(|| one(planner))).collect();
        let ended = |run: std::thread::ScopedJoinHandle<'_, _>| {
            run.join().unwrap_or_else(|_| Err(anyhow!("{} broke off", case.name)))
        };
        runs.into_iter().map(ended).collect()
    })
}

/// A folder as a page links to it.
fn seen_from(page: &Path, folder: &Path) -> String {
    let beside = page.parent().and_then(|parent| folder.strip_prefix(parent).ok());
    beside.unwrap_or(folder).display().to_string()
}

fn tell(args: &ValidateArgs, case: &Case, planner: &str, outcome: &Outcome, seconds: f64) -> Result<()> {
    for row in &outcome.rows {
        let mut out = Map::new();
        out.insert("bench".into(), "validate".into());
        out.insert("case".into(), case.name.into());
        out.insert("planner".into(), planner.into());
        out.insert("figure".into(), row.figure.as_str().into());
        let measured = if row.measured.is_finite() { rounded(row.measured) } else { Value::from("never") };
        out.insert("measured".into(), measured);
        for (key, text) in [("unit", row.unit), ("expected", &row.expected), ("verdict", row.verdict.word())]
        {
            if !text.is_empty() || args.json {
                out.insert(key.into(), text.into());
            }
        }
        if args.json || (!row.expected.is_empty() && row.verdict != Verdict::Documented) {
            out.insert("source".into(), case.source.into());
        }
        if !row.note.is_empty() || args.json {
            out.insert("note".into(), row.note.as_str().into());
        }
        if args.json {
            out.insert("seconds".into(), rounded(seconds));
        }
        print_row(args.json, &out)?;
    }
    Ok(())
}

fn draw(folder: &Path, case: &Case, planner: &str, outcome: &Outcome) -> Result<()> {
    for chart in &outcome.charts {
        let file = folder.join(format!("{}_{}_{planner}.png", case.name, chart.name));
        plot::chart(chart)?.write_png(&file)?;
    }
    if let Some(scene) = &outcome.scene {
        let file = folder.join(format!("{}_{planner}.png", case.name));
        let title = format!("{}: {planner}", case.name);
        floor::paths(&title, &scene.trajectory, &scene.walls)?.write_png(&file)?;
    }
    Ok(())
}
