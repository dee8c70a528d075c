//! `promenade hunav`: scenes of the HuNav engine, rows and pictures out.

mod plot;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use promenade_hunav::scene::{Deviation, Level, Row, Scene, SceneFile};
use promenade_hunav::{Compat, Options, Order};

/// Run scenes of the HuNav engine and write what became of everybody.
///
/// FILE has the format hunav-reference/1: walkers, a robot, a clock, and rows to compare with. A scene says itself whether it is about the
/// force library or about the service, and with which version. Rows have the columns of that format; without --out, --plot and --compare
/// they go to standard output.
#[derive(Debug, clap::Args)]
#[command(
    arg_required_else_help = true,
    after_help = "\
Examples:
  promenade hunav crates/hunav/tests/reference/s07_service_v15_scared.json --compare
  promenade hunav crates/hunav/tests/reference/s08_service_v15_mixed.json --robust --plot mixed.png
  promenade hunav scene.json --out rows.json"
)]
pub(crate) struct HunavArgs {
    /// A scene, or a file of cases
    file: PathBuf,
    /// File to write: the scene with the rows of this run as those it expects
    #[arg(long, value_name = "F.json")]
    out: Option<PathBuf>,
    /// Picture of the paths, with where somebody reacted to the robot
    #[arg(long, value_name = "F.png")]
    plot: Option<PathBuf>,
    /// Print how far each column is from the rows of the file; exit 1 if one is beyond its tolerance
    #[arg(long)]
    compare: bool,
    /// Run a service with the original's faults mended
    #[arg(long)]
    robust: bool,
}

pub(crate) fn run(args: &HunavArgs) -> Result<ExitCode> {
    let shown = args.file.display();
    let text = std::fs::read_to_string(&args.file).with_context(|| format!("cannot read {shown}"))?;
    let file = SceneFile::parse(&text).with_context(|| format!("{shown} is no scene"))?;
    if args.robust && file.scenes().iter().any(|scene| scene.level != Level::Service) {
        bail!(
            "{shown} is about the force library, which --robust does not change; it is for scenes of level `service`"
        );
    }
    let rows: Vec<Vec<Row>> = file.scenes().iter().map(|scene| scene.rows(options(args, scene))).collect();
    let mut output = std::io::stdout().lock();
    let written = || file.with_rows(&rows).with_context(|| format!("cannot write the rows of {shown}"));
    if let Some(out) = &args.out {
        std::fs::write(out, format!("{}\n", written()?))
            .with_context(|| format!("cannot write {}", out.display()))?;
    } else if args.plot.is_none() && !args.compare {
        writeln!(output, "{}", written()?)?;
    }
    if let Some(plot) = &args.plot {
        picture(args, &file, plot)?;
    }
    if !args.compare {
        return Ok(ExitCode::SUCCESS);
    }
    let mut all_within = true;
    for (scene, rows) in file.scenes().iter().zip(&rows) {
        all_within &= compare(&mut output, scene, rows)?;
    }
    Ok(if all_within { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn options(args: &HunavArgs, scene: &Scene) -> Options {
    let strict = scene.options();
    match args.robust {
        true => Options { compat: Compat::Robust, order: Order::Request, ..strict },
        false => strict,
    }
}

fn picture(args: &HunavArgs, file: &SceneFile, plot: &Path) -> Result<()> {
    let [scene] = file.scenes() else {
        bail!("{} has {} cases; --plot draws one scene", args.file.display(), file.scenes().len());
    };
    plot::paths(scene, options(args, scene))?.write_png(plot)
}

/// Print the largest deviation of every column; whether all are allowed.
fn compare(out: &mut impl Write, scene: &Scene, rows: &[Row]) -> Result<bool> {
    let deviations = scene.compare(rows);
    if deviations.is_empty() {
        bail!("scene {:?} has no `expected` rows to compare with", scene.name);
    }
    let beyond: Vec<&Deviation> = deviations.iter().filter(|deviation| !deviation.is_allowed()).collect();
    // What uses most of its tolerance; columns without any are exact or beyond.
    let worst = deviations.iter().max_by(|a, b| a.largest.total_cmp(&b.largest));
    if let Some(Deviation { column, largest, tolerance, at: (step, id) }) = worst {
        let verdict = if beyond.is_empty() { "within" } else { "BEYOND" };
        let name = &scene.name;
        writeln!(
            out,
            "{verdict}  {name}: largest deviation {largest:.1e} in {column} (at most {tolerance:.0e}) at step {step}, agent {id}"
        )?;
    }
    for Deviation { column, largest, tolerance, at: (step, id) } in &beyond {
        writeln!(
            out,
            "        {column}: {largest:.1e}, at most {tolerance:.0e}, at step {step}, agent {id}"
        )?;
    }
    Ok(beyond.is_empty())
}
