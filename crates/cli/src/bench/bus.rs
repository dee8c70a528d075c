//! `promenade bench bus`: what the nodes cost on a real bus.
//!
//! Starts the nodes as a launch file would, and a probe that is a client like any other. CPU is what the operating system says
//! about each process; latency and rates are what the probe sees.

use std::fs;
use std::io::BufRead;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use serde_json::{Map, Value};

use super::stage::{ENV, Process, build_probe, crowd, node};
use super::{print_row, rounded};
use crate::up::packages::Packages;

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

pub(crate) fn run(args: &BusArgs) -> Result<()> {
    let probe = match &args.probe {
        Some(probe) if !probe.is_file() => bail!("no probe at {}", probe.display()),
        Some(probe) => probe.clone(),
        None => build_probe("bus_probe")?,
    };
    let packages = Packages::from_environment(&std::env::current_dir()?);
    for &people in &args.people {
        print_row(args.json, &measure(args, &packages, &probe, people)?)?;
    }
    Ok(())
}

fn measure(args: &BusArgs, packages: &Packages, probe: &Path, people: u32) -> Result<Map<String, Value>> {
    let folder = std::env::temp_dir().join(format!("promenade_bench_{}", std::process::id()));
    fs::create_dir_all(&folder)?;
    let scenario = folder.join("scenario.yaml");
    fs::write(&scenario, crowd(people, 0))?;
    let clock = node(packages, "dummy_sim", &[])?;
    let human = node(
        packages,
        "human_simulator",
        &[format!("scenario:={}", scenario.display()), "human:=dummy".to_owned(), "prefix:=env_0".to_owned()],
    )?;
    let hri = node(packages, "hri_producer", &["max_bodies:=0".to_owned()])?;
    let streamed = args.stream_people.unwrap_or(people);
    let mut arguments: Vec<String> =
        ["--env", ENV, "--people", &people.to_string()].map(str::to_owned).into();
    arguments.extend(["--stream-people".to_owned(), streamed.to_string()]);
    arguments.extend(["--seconds".to_owned(), args.seconds.to_string()]);
    arguments.extend(args.tf.then(|| "--tf".to_owned()));
    let (probe, lines) = Process::start_talking("bus_probe", probe, &arguments)?;
    let row = sample(&[clock, human, hri, probe], lines, people, streamed, args.tf);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_probe_that_dies_is_named() {
        let error = sample(&[], "".as_bytes(), 1, 1, false).expect_err("no figures");
        assert!(error.to_string().contains("the probe said"), "{error}");
    }
}
