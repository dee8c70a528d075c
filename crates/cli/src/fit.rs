//! `promenade fit`: a walking clip in, a pose profile out.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::{CommandFactory, error::ErrorKind};
use indicatif::{ProgressBar, ProgressStyle};
use promenade_gait::{
    Joint, ProfileFile,
    clip::{ClipData, Limits},
    fit::{Fit, FitOptions, MOST_HARMONICS, Recording, fit},
};

use crate::draw::chart;

/// Clips longer than this show progress, frames.
const LONG: usize = 2000;

/// Fit a pose profile to a recorded walk.
///
/// The cycle is found in the left hip, so the clip needs both hips (l_r_hip, r_r_hip) and at least two whole cycles. Exits with 1
/// and writes nothing if the clip cannot be fitted.
#[derive(Debug, clap::Args)]
#[command(
    arg_required_else_help = true,
    after_help = "\
Examples:
  promenade fit walk.npy -o profiles/stroll.yaml --speed 1.1
  promenade fit walk.npy -o stroll.yaml --fps 30 --harmonics 5 --report stroll.json --plot stroll.png"
)]
pub(crate) struct FitArgs {
    /// A clip: .npy, .npz or a key-frame file
    clip: PathBuf,
    /// Profile to write
    #[arg(short, long, value_name = "PROFILE.yaml")]
    output: PathBuf,
    /// Frames per second of the clip
    #[arg(long, default_value_t = 20.0, allow_negative_numbers = true, value_name = "F")]
    fps: f64,
    /// Harmonics per joint, 1 to 8
    #[arg(long, default_value_t = 3, allow_negative_numbers = true, value_name = "N")]
    harmonics: i64,
    /// Speed of the walk in m/s, for a cadence that follows speed; without it the cadence is fixed
    #[arg(long, allow_negative_numbers = true, value_name = "V")]
    speed: Option<f64>,
    /// Facts of the fit as JSON
    #[arg(long, value_name = "R.json")]
    report: Option<PathBuf>,
    /// Name of the profile; the stem of the output without it
    #[arg(long)]
    name: Option<String>,
    /// Chart of clip against fit, one per joint
    #[arg(long, value_name = "FILE.png")]
    plot: Option<PathBuf>,
}

fn name_problem(name: &str) -> Option<&'static str> {
    let mut chars = name.chars();
    let starts = chars.next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_');
    if name == "idle" {
        Some("idle is the built-in sway")
    } else if starts && chars.all(|c| c.is_ascii_alphanumeric() || c == '_') {
        None
    } else {
        Some("a name is a letter or _, then letters, digits and _")
    }
}

/// Says what is wrong with the command line, and how it is used, and exits with 2.
fn usage(message: &str) -> ! {
    let mut command = crate::Command::command();
    command.build();
    let fit = command.find_subcommand_mut("fit").expect("this command");
    fit.error(ErrorKind::ValueValidation, message).exit()
}

pub(crate) fn run(args: &FitArgs) -> Result<ExitCode> {
    if !args.clip.is_file() {
        usage(&format!("no clip {}", args.clip.display()));
    }
    for path in [Some(&args.output), args.report.as_ref(), args.plot.as_ref()].into_iter().flatten() {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        if let Some(folder) = folder.filter(|folder| !folder.is_dir()) {
            usage(&format!("no folder {} for {}", folder.display(), path.display()));
        }
    }
    let options = options(args);
    let (recording, fit) = match fitted(args, &options) {
        Ok(fitted) => fitted,
        Err(reason) => {
            writeln!(std::io::stderr(), "fit: {reason}")?;
            return Ok(ExitCode::FAILURE);
        }
    };
    write(&args.output, &ProfileFile::of(&options.name, &fit.profile).to_yaml())?;
    if let Some(path) = &args.report {
        write(path, &format!("{}\n", serde_json::to_string_pretty(&fit.report)?))?;
    }
    if let Some(path) = &args.plot {
        chart::fit(&recording, &fit)?.write_png(path)?;
    }
    write!(std::io::stdout(), "{}", fit.report)?;
    Ok(ExitCode::SUCCESS)
}

/// The options of the command line, or its usage and an exit.
fn options(args: &FitArgs) -> FitOptions {
    for (option, value) in [("--fps", Some(args.fps)), ("--speed", args.speed)] {
        if value.is_some_and(|value| !value.is_finite() || value <= 0.0) {
            usage(&format!("{option} must be above 0"));
        }
    }
    let harmonics = usize::try_from(args.harmonics).unwrap_or(0);
    if !(1..=MOST_HARMONICS).contains(&harmonics) {
        usage(&format!("--harmonics must be 1 to {MOST_HARMONICS}, found {}", args.harmonics));
    }
    let name = args
        .name
        .clone()
        .unwrap_or_else(|| args.output.file_stem().unwrap_or_default().to_string_lossy().into_owned());
    if let Some(problem) = name_problem(&name) {
        usage(&format!("{name:?} cannot name a profile: {problem}; give another with --name"));
    }
    FitOptions { name, harmonics, speed: args.speed }
}

fn fitted(args: &FitArgs, options: &FitOptions) -> Result<(Recording, Fit), String> {
    let clip = ClipData::read(&args.clip, &Limits::default()).map_err(|error| error.to_string())?;
    let frames = clip.frames.iter().zip(&clip.present).map(|(frame, present)| {
        Joint::ALL
            .into_iter()
            .filter(|joint| present.contains(*joint))
            .map(|joint| (joint, frame[joint.index()]))
    });
    let recording = Recording::new(args.fps, frames).map_err(|error| error.to_string())?;
    let bar = if recording.frames() > LONG { progress() } else { ProgressBar::hidden() };
    let fit = fit(&recording, options, &mut |done, all| {
        bar.set_length(u64::from(all));
        bar.set_position(u64::from(done));
    });
    bar.finish_and_clear();
    Ok((recording, fit.map_err(|error| error.to_string())?))
}

/// Drawn on stderr, and only if that is a terminal.
fn progress() -> ProgressBar {
    let style = ProgressStyle::with_template("fitting {bar:40} {percent}% {eta}");
    ProgressBar::new(0).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}

fn write(path: &Path, text: &str) -> Result<()> {
    std::fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))
}
