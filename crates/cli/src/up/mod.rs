//! `promenade up`: starts the nodes of a launch file where `ros2 launch` is absent.
//!
//! Reads a documented subset of ROS 2 launch XML ([`mod@file`]), evaluates it as launch does ([`plan`]) and supervises the processes
//! ([`supervise`]). Whatever is outside the subset is refused by name and place, never skipped: a launch file does here what it does
//! under `ros2 launch`, or it does nothing.

mod expression;
mod file;
mod nearest;
pub(crate) mod packages;
mod parameter;
mod plan;
mod substitution;
mod supervise;
#[cfg(test)]
mod tests;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::mpsc::SyncSender;
use std::time::Duration;

use anyhow::{Context, bail};

use self::file::LaunchFile;
use self::packages::{PROMENADE, Packages};
use self::plan::Step;
use self::supervise::{Event, Patience, Stream};

const SUBSET: &str = "\
Supported launch XML:
  <launch>  <arg name default description> with <choice value>  <let name value>
  <set_env name value>  <group scoped>  <include file> with <arg name value>
  <log message>  <log_info message>  <set_parameter name value>  <set_remap from to>
  <push-ros-namespace namespace>
  <node pkg exec name exec_name namespace output args ros_args on_exit=\"shutdown\">
    with <param name value type>, nested <param>, <param from>, <remap from to>
    and <env name value>
  `if` and `unless` on each of them
Substitutions:
  $(var N [D])  $(env N [D])  $(find-pkg-share P)  $(find-pkg-prefix P)
  $(exec-in-pkg E P)  $(dirname)  $(not B)  $(and B B)  $(or B B)
  $(eval \"...\") with strings, numbers, True, False, ==, !=, not, and, or, +,
    A if C else B, parentheses
Anything else is refused by name, with file, line and column.
output=\"log\" shows standard error only: there is no log file.";

/// Starts a launch file's nodes where `ros2 launch` is absent.
#[derive(Debug, clap::Args)]
#[command(after_help = SUBSET)]
pub(crate) struct UpArgs {
    /// Launch file: a path, or the name of one that Promenade brings (`demo`, `demo.launch.xml`).
    #[arg(value_name = "LAUNCH.xml")]
    launch: PathBuf,

    /// Launch arguments.
    #[arg(value_name = "ARG:=VALUE", value_parser = assignment)]
    arguments: Vec<(String, String)>,

    /// List the arguments of the launch file and exit.
    #[arg(short = 's', long)]
    show_args: bool,

    /// Print the command line of every process and exit.
    #[arg(short, long, conflicts_with = "show_args")]
    print: bool,

    /// Stop everything after this many seconds.
    #[arg(long = "for", value_name = "SECONDS", value_parser = seconds)]
    limit: Option<Duration>,
}

fn assignment(text: &str) -> Result<(String, String), String> {
    match text.split_once(":=") {
        Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), value.to_owned())),
        _ => Err("expected NAME:=VALUE".to_owned()),
    }
}

fn seconds(text: &str) -> Result<Duration, String> {
    let seconds: f64 = text.parse().map_err(|_| "expected a number of seconds".to_owned())?;
    // An Instant can hold any of these; a year is longer than anybody means.
    match Duration::try_from_secs_f64(seconds) {
        Ok(duration) if duration <= Duration::from_secs(366 * 86_400) => Ok(duration),
        _ => Err("expected a number of seconds from 0 to a year".to_owned()),
    }
}

/// Runs `promenade up`; succeeds when every process ended well.
pub(crate) fn run(args: &UpArgs) -> anyhow::Result<ExitCode> {
    let start =
        if args.launch.exists() { args.launch.clone() } else { std::env::current_dir().unwrap_or_default() };
    let packages = Packages::from_environment(&start);
    let path = locate(&args.launch, &packages)?;
    let file = LaunchFile::read(&path)?;
    let mut stdout = std::io::stdout();
    if args.show_args {
        stdout.write_all(describe(&file).as_bytes()).context("cannot write the arguments")?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut given = args.arguments.clone();
    // As with ros2 launch, the last of two values for one name counts; plan() takes them in order.
    given.reverse();
    given.sort_by(|left, right| left.0.cmp(&right.0));
    given.dedup_by(|later, kept| later.0 == kept.0);
    let steps = plan::plan(&file, &given, &packages)?;
    if args.print {
        stdout.write_all(command_lines(&steps).as_bytes()).context("cannot write the command lines")?;
        return Ok(ExitCode::SUCCESS);
    }
    let missing: Vec<String> = steps
        .iter()
        .filter_map(|step| match step {
            Step::Start(process) => process.program.as_ref().err().map(ToString::to_string),
            Step::Log(_) => None,
        })
        .collect();
    if let Some(first) = missing.first() {
        let others = missing.iter().filter(|message| *message != first).count();
        if others == 0 {
            bail!("nothing was started: {first}");
        }
        bail!("nothing was started:\n{}", missing.join("\n"));
    }

    let channel = supervise::events();
    stop_on_signals(channel.0.clone())?;
    let good = supervise::supervise(&steps, args.limit, Patience::default(), channel, &mut |stream, line| {
        // A closed terminal is no reason to leave processes behind.
        let _ = match stream {
            Stream::Output => writeln!(std::io::stdout(), "{line}"),
            Stream::Error => writeln!(std::io::stderr(), "{line}"),
        };
    });
    Ok(if good { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Makes SIGINT, SIGTERM and SIGHUP of this process ask for the end of the launch. Nodes always get SIGINT first, since that is
/// what they end cleanly on.
fn stop_on_signals(sender: SyncSender<Event>) -> anyhow::Result<()> {
    ctrlc::set_handler(move || {
        // Nobody listens any more when this fails: the launch is over.
        let _ = sender.send(Event::Stop);
    })
    .context("cannot take over signals")
}

/// The launch file a user means: a path, or the name of one that Promenade brings.
fn locate(wanted: &Path, packages: &Packages) -> anyhow::Result<PathBuf> {
    if wanted.is_file() {
        return Ok(wanted.to_owned());
    }
    let is_name = wanted.components().count() == 1;
    let folder = packages.share(PROMENADE).map(|share| share.join("launch"));
    let Ok(folder) = folder else {
        bail!(
            "no launch file {}, and Promenade's own are not installed: give a path, or source its set-up first",
            wanted.display()
        );
    };
    if is_name {
        let mut with_extension = wanted.as_os_str().to_owned();
        with_extension.push(".launch.xml");
        for name in [wanted.as_os_str(), with_extension.as_os_str()] {
            let path = folder.join(name);
            if path.is_file() {
                return Ok(path);
            }
        }
    }
    let mut known: Vec<String> = std::fs::read_dir(&folder)
        .into_iter()
        .flatten()
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .filter(|name| name.ends_with(".launch.xml"))
        .collect();
    known.sort();
    bail!("no launch file {}; {} has {}", wanted.display(), folder.display(), known.join(", "))
}

/// What `--show-args` prints, in the form of `ros2 launch --show-args`.
fn describe(file: &LaunchFile) -> String {
    let mut text = String::from("Arguments (pass arguments as '<name>:=<value>'):\n");
    for argument in file.arguments() {
        text.push_str(&format!("\n    '{}':\n        ", argument.name));
        text.push_str(argument.description.as_deref().unwrap_or("no description given"));
        if !argument.choices.is_empty() {
            let choices: Vec<String> = argument.choices.iter().map(|choice| format!("'{choice}'")).collect();
            text.push_str(&format!(" Valid choices are: [{}]", choices.join(", ")));
        }
        if let Some(default) = &argument.written_default {
            text.push_str(&format!("\n        (default: '{default}')"));
        }
        text.push('\n');
    }
    if file.arguments().next().is_none() {
        text.push_str("\n  No arguments.\n");
    }
    text
}

/// What `--print` prints: one line per process that a shell would understand.
fn command_lines(steps: &[Step]) -> String {
    let mut text = String::new();
    for step in steps {
        match step {
            Step::Log(message) => text.push_str(&format!("# {message}\n")),
            Step::Start(process) => {
                for (name, value) in &process.environment {
                    text.push_str(&format!("{name}={} ", shell_quoted(value)));
                }
                match &process.program {
                    Ok(program) => text.push_str(&shell_quoted(&program.display().to_string())),
                    // Not installed here: the command that finds it where it is.
                    Err(_) => text.push_str(&format!("ros2 run {}", process.origin.replace('/', " "))),
                }
                for argument in &process.arguments {
                    text.push(' ');
                    text.push_str(&shell_quoted(argument));
                }
                text.push('\n');
            }
        }
    }
    text
}

fn shell_quoted(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=@%+,".contains(c);
    if !text.is_empty() && text.chars().all(plain) {
        text.to_owned()
    } else {
        format!("'{}'", text.replace('\'', r"'\''"))
    }
}
