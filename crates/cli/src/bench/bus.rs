//! `promenade bench bus`: what the nodes cost on a real bus.
//!
//! Starts the nodes as a launch file would, and a probe that is a client like any other. CPU is what the operating system says
//! about each process; latency and rates are what the probe sees.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use serde_json::{Map, Value};

use super::{print_row, rounded};
use crate::up::packages::{PROMENADE, Packages};

const ENV: &str = "/arena/env_0";

/// CPU share of each node, latency from a stream message to the bus, bytes per second. Needs the ROS environment.
#[derive(Debug, clap::Args)]
pub(crate) struct BusArgs {
    /// People in the scenario; repeat for several rows
    #[arg(long, default_values_t = [200, 1000], value_parser = clap::value_parser!(u32).range(1..=100_000))]
    people: Vec<u32>,
    /// People that the probe possesses at 20 Hz; all of them by default
    #[arg(long, value_name = "N")]
    stream_people: Option<u32>,
    /// Also have the probe take the frames of all bodies from humans/tf
    #[arg(long)]
    tf: bool,
    /// Seconds measured, after everything has been discovered
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..=600))]
    seconds: u64,
    /// The probe; by default the one of this checkout, built first if it has to be
    #[arg(long, value_name = "FILE")]
    probe: Option<PathBuf>,
    /// One JSON object per row
    #[arg(long)]
    json: bool,
}

/// A child that does not outlive the benchmark.
struct Process {
    name: &'static str,
    child: Child,
}

impl Process {
    fn start(name: &'static str, path: &Path, arguments: &[String]) -> Result<Self> {
        let child = Command::new(path)
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .spawn()
            .with_context(|| format!("cannot start {}", path.display()))?;
        Ok(Process { name, child })
    }

    /// CPU time used so far.
    fn cpu(&self) -> Result<Duration> {
        let stat = fs::read_to_string(format!("/proc/{}/stat", self.child.id()))
            .with_context(|| format!("{} has ended", self.name))?;
        cpu_time(&stat).with_context(|| format!("cannot read the CPU time of {}", self.name))
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// User and system time of a `/proc/<pid>/stat` line. Linux counts in hundredths of a second on every supported machine.
fn cpu_time(stat: &str) -> Option<Duration> {
    // The name in parentheses may hold anything, spaces included.
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    let ticks = fields.get(11)?.parse::<u64>().ok()? + fields.get(12)?.parse::<u64>().ok()?;
    Some(Duration::from_millis(ticks * 10))
}

pub(crate) fn run(args: &BusArgs) -> Result<()> {
    let probe = match &args.probe {
        Some(probe) if !probe.is_file() => bail!("no probe at {}", probe.display()),
        Some(probe) => probe.clone(),
        None => build_probe()?,
    };
    let packages = Packages::from_environment(&std::env::current_dir()?);
    for &people in &args.people {
        print_row(args.json, &measure(args, &packages, &probe, people)?)?;
    }
    Ok(())
}

/// The r2r client of this checkout, built if it is not there or not fresh.
fn build_probe() -> Result<PathBuf> {
    let manifest = Path::new("tests/ros/Cargo.toml");
    if !manifest.is_file() {
        bail!("no {}: run this in a checkout of Promenade, or pass --probe", manifest.display());
    }
    let target = Path::new("tests/ros/target");
    let status = Command::new("cargo")
        .args(["build", "--release", "--quiet", "--bin", "bus_probe", "--target-dir"])
        .arg(target)
        .arg("--manifest-path")
        .arg(manifest)
        .status()
        .context("cannot run cargo to build the probe")?;
    if !status.success() {
        bail!(
            "the probe does not build: {status}; is the ROS environment sourced (source tools/ros2/setup.bash)?"
        );
    }
    Ok(target.join("release/bus_probe"))
}

fn measure(args: &BusArgs, packages: &Packages, probe: &Path, people: u32) -> Result<Map<String, Value>> {
    let folder = std::env::temp_dir().join(format!("promenade_bench_{}", std::process::id()));
    fs::create_dir_all(&folder)?;
    let scenario = folder.join("scenario.yaml");
    fs::write(&scenario, crowd(people))?;
    let node = |name: &'static str, parameters: &[String]| -> Result<Process> {
        let path = packages.executable(PROMENADE, name)?;
        let mut arguments = vec!["--ros-args".to_owned()];
        if name != "dummy_sim" {
            let namespace = format!("__ns:={ENV}");
            arguments.extend(["-r".to_owned(), namespace, "-p".to_owned(), "use_sim_time:=true".to_owned()]);
        }
        arguments.extend(parameters.iter().flat_map(|p| ["-p".to_owned(), p.clone()]));
        Process::start(name, &path, &arguments)
    };
    let clock = node("dummy_sim", &[])?;
    let human = node(
        "human_simulator",
        &[format!("scenario:={}", scenario.display()), "human:=dummy".to_owned(), "prefix:=env_0".to_owned()],
    )?;
    let hri = node("hri_producer", &["max_bodies:=0".to_owned()])?;
    let streamed = args.stream_people.unwrap_or(people);
    let mut child = Command::new(probe)
        .args(["--env", ENV, "--people", &people.to_string(), "--stream-people", &streamed.to_string()])
        .args(["--seconds", &args.seconds.to_string()])
        .args(args.tf.then_some("--tf"))
        .stdout(Stdio::piped())
        .stdin(Stdio::null())
        .spawn()
        .context("cannot start the probe")?;
    let lines = child.stdout.take().context("the probe has no output")?;
    let probe = Process { name: "bus_probe", child };
    let row = sample(&[clock, human, hri, probe], BufReader::new(lines), people, streamed, args.tf);
    fs::remove_dir_all(&folder)?;
    row
}

/// The probe says `{"measuring":true}` when everybody has found each other and all people are on the bus, and its figures at
/// the end; CPU is counted in between.
fn sample(
    processes: &[Process],
    mut lines: impl BufRead,
    people: u32,
    streamed: u32,
    tf: bool,
) -> Result<Map<String, Value>> {
    let mut next = || -> Result<Map<String, Value>> {
        let mut line = String::new();
        lines.read_line(&mut line)?;
        serde_json::from_str(&line).with_context(|| format!("the probe said {line:?} instead of its figures"))
    };
    next()?;
    let before: Vec<Duration> = processes.iter().map(Process::cpu).collect::<Result<_>>()?;
    let start = Instant::now();
    let figures = next()?;
    let wall = start.elapsed().as_secs_f64();
    let mut row = Map::new();
    row.insert("bench".into(), "bus".into());
    row.insert("people".into(), people.into());
    row.insert("stream_people".into(), streamed.into());
    row.insert("tf".into(), tf.into());
    for (process, before) in processes.iter().zip(before) {
        let share = process.cpu()?.saturating_sub(before).as_secs_f64() / wall;
        let key = match process.name {
            "human_simulator" => "cpu_share".to_owned(),
            name => format!("cpu_share_{name}"),
        };
        row.insert(key, rounded(share));
    }
    row.extend(figures);
    Ok(row)
}

/// A scenario with people `p0..` on a grid, two metres apart.
fn crowd(people: u32) -> String {
    let columns = f64::from(people).sqrt().ceil() as u32;
    let mut text = "dynamic:\n".to_owned();
    for i in 0..people {
        let (x, y) = (2 * (i % columns), 2 * (i / columns));
        text += &format!("- {{name: p{i}, model: arenian, pose: [{x}.0, {y}.0, 0.0]}}\n");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cpu_time_is_read_past_a_hostile_process_name() {
        let stat = "77 (a ) b) S 1 77 77 0 -1 4194560 10 0 0 0 150 50 0 0 20 0 5 0 100 0 0";
        assert_eq!(cpu_time(stat), Some(Duration::from_secs(2)));
        assert_eq!(cpu_time("77 (short) S 1"), None);
    }

    #[test]
    fn the_crowd_is_a_scenario() {
        let loaded =
            promenade_scenario::Scenario::parse(&crowd(7), Path::new("scenario.yaml")).expect("loads");
        assert_eq!(loaded.value.dynamics.len(), 7);
    }

    #[test]
    fn a_probe_that_dies_is_named() {
        let error = sample(&[], "".as_bytes(), 1, 1, false).expect_err("no figures");
        assert!(error.to_string().contains("the probe said"), "{error}");
    }
}
