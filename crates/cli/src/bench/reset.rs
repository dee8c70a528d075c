//! `promenade bench reset`: what a reset takes, and whether a thousand of them leave anything behind.
//!
//! Starts the nodes as a launch file would and a probe that resets the episode again and again. The probe says what a client
//! sees; threads and memory are what the operating system says about `human_simulator`.

use std::fs;
use std::io::{BufRead, IsTerminal};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use indicatif::{ProgressBar, ProgressStyle};
use serde::Deserialize;
use serde_json::{Map, Value};

use super::stage::{ENV, Process, build_probe, crowd, node};
use super::{print_row, rounded};
use crate::draw::curves::{Curve, curves};
use crate::up::packages::Packages;

/// Time of a reset, and what many of them leave behind: roster, ids, publishers, threads, memory. Needs the ROS environment.
///
/// While it runs a stream moves somebody away before each reset; the first frame of the next episode is the first that shows
/// everybody, that person back at the start.
#[derive(Debug, clap::Args)]
pub(crate) struct ResetArgs {
    /// People in the scenario; repeat for several rows
    #[arg(long, default_values_t = [50], value_parser = clap::value_parser!(u32).range(1..=100_000))]
    people: Vec<u32>,
    /// Robots in the scenario
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(0..=1_000))]
    robots: u32,
    /// How often to reset
    #[arg(long, default_value_t = 1_000, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    resets: u32,
    /// Draw the curves over all resets of the last row as PNG
    #[arg(long, value_name = "F.png")]
    plot: Option<PathBuf>,
    /// The probe; by default the one of this checkout, built first if it has to be
    #[arg(long, value_name = "FILE")]
    probe: Option<PathBuf>,
    /// One JSON object per row
    #[arg(long)]
    json: bool,
}

/// What the probe says of one reset.
#[derive(Debug, Deserialize)]
struct Reset {
    reset_ms: f64,
    first_tick_ms: f64,
    people: u64,
    same_ids: bool,
    publishers: u64,
    topics: u64,
}

/// One reset and the process after it.
struct Sample {
    reset: Reset,
    threads: u64,
    resident_kb: u64,
}

pub(crate) fn run(args: &ResetArgs) -> Result<()> {
    let probe = match &args.probe {
        Some(probe) if !probe.is_file() => bail!("no probe at {}", probe.display()),
        Some(probe) => probe.clone(),
        None => build_probe("reset_probe")?,
    };
    let packages = Packages::from_environment(&std::env::current_dir()?);
    for &people in &args.people {
        let samples = measure(args, &packages, &probe, people)?;
        print_row(args.json, &row(args, people, &samples))?;
        if let Some(path) = &args.plot {
            plot(args, people, &samples, path)?;
        }
    }
    Ok(())
}

fn measure(args: &ResetArgs, packages: &Packages, probe: &Path, people: u32) -> Result<Vec<Sample>> {
    let folder = std::env::temp_dir().join(format!("promenade_bench_{}", std::process::id()));
    fs::create_dir_all(&folder)?;
    let scenario = folder.join("scenario.yaml");
    fs::write(&scenario, crowd(people, args.robots))?;
    let _clock = node(packages, "dummy_sim", &[])?;
    let parameters =
        [format!("scenario:={}", scenario.display()), "human:=dummy".to_owned(), "prefix:=env_0".to_owned()];
    let human = node(packages, "human_simulator", &parameters)?;
    let arguments = ["--env", ENV, "--people", &people.to_string(), "--resets", &args.resets.to_string()]
        .map(str::to_owned);
    let (_probe, lines) = Process::start_talking("reset_probe", probe, &arguments)?;
    let samples = sample(&human, lines, args.resets);
    fs::remove_dir_all(&folder)?;
    samples
}

fn sample(human: &Process, lines: impl BufRead, resets: u32) -> Result<Vec<Sample>> {
    let bar = progress(resets);
    let mut samples = Vec::new();
    for line in lines.lines() {
        let line = line?;
        let reset = serde_json::from_str(&line)
            .with_context(|| format!("the probe said {line:?} instead of its figures"))?;
        samples.push(Sample {
            reset,
            threads: human.status("Threads")?,
            resident_kb: human.status("VmRSS")?,
        });
        bar.inc(1);
    }
    bar.finish_and_clear();
    if samples.len() != resets as usize {
        bail!("the probe ended after {} of {resets} resets; it said why above", samples.len());
    }
    Ok(samples)
}

fn row(args: &ResetArgs, people: u32, samples: &[Sample]) -> Map<String, Value> {
    let percentile = |of: fn(&Reset) -> f64, share: f64| {
        let mut values: Vec<f64> = samples.iter().map(|sample| of(&sample.reset)).collect();
        values.sort_by(f64::total_cmp);
        // The nearest-rank percentile.
        let rank = (share * values.len() as f64).ceil() as usize;
        rounded(values[rank.saturating_sub(1)])
    };
    let range = |of: fn(&Sample) -> u64| {
        let values = || samples.iter().map(of);
        Value::from(vec![values().min().unwrap_or(0), values().max().unwrap_or(0)])
    };
    let mut row = Map::new();
    row.insert("bench".into(), "reset".into());
    row.insert("people".into(), people.into());
    row.insert("robots".into(), args.robots.into());
    row.insert("resets".into(), args.resets.into());
    row.insert("reset_ms_p50".into(), percentile(|r| r.reset_ms, 0.5));
    row.insert("reset_ms_p99".into(), percentile(|r| r.reset_ms, 0.99));
    row.insert("first_tick_ms_p50".into(), percentile(|r| r.first_tick_ms, 0.5));
    row.insert("first_tick_ms_p99".into(), percentile(|r| r.first_tick_ms, 0.99));
    row.insert("roster".into(), range(|s| s.reset.people));
    row.insert("same_ids".into(), samples.iter().all(|s| s.reset.same_ids).into());
    row.insert("publishers".into(), range(|s| s.reset.publishers));
    row.insert("topics".into(), range(|s| s.reset.topics));
    row.insert("threads".into(), range(|s| s.threads));
    let resident = |at: usize| Value::from(samples[at].resident_kb);
    row.insert("resident_kb_after_10_percent".into(), resident(samples.len() / 10));
    row.insert("resident_kb_at_the_end".into(), resident(samples.len() - 1));
    row
}

fn plot(args: &ResetArgs, people: u32, samples: &[Sample], path: &Path) -> Result<()> {
    let curve = |name: &str, of: fn(&Sample) -> f64| Curve {
        name: name.to_owned(),
        values: samples.iter().map(of).collect(),
    };
    let title = format!("{} resets with {people} people and {} robots", args.resets, args.robots);
    let drawn = [
        curve("resident memory, MB", |s| s.resident_kb as f64 / 1024.0),
        curve("threads", |s| s.threads as f64),
        curve("people on the bus", |s| s.reset.people as f64),
        curve("publishers of arena_peds", |s| s.reset.publishers as f64),
        curve("request to answer, ms", |s| s.reset.reset_ms),
        curve("request to first frame, ms", |s| s.reset.first_tick_ms),
    ];
    curves(&title, "reset", &drawn)?.write_png(path)
}

fn progress(resets: u32) -> ProgressBar {
    if !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template("{wide_bar} {pos}/{len} resets, {eta} left");
    ProgressBar::new(u64::from(resets)).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn args() -> ResetArgs {
        ResetArgs { people: vec![2], robots: 0, resets: 4, plot: None, probe: None, json: true }
    }

    fn samples() -> Vec<Sample> {
        let reset = |i: u64| Reset {
            reset_ms: i as f64,
            first_tick_ms: 10.0 * i as f64,
            people: 2,
            same_ids: i != 3,
            publishers: 1,
            topics: 9,
        };
        (1..=4).map(|i| Sample { reset: reset(i), threads: 8, resident_kb: 100 + i }).collect()
    }

    #[test]
    fn a_row_says_what_changed() {
        let row = row(&args(), 2, &samples());
        assert_eq!(row["reset_ms_p50"], 2.0);
        assert_eq!(row["first_tick_ms_p99"], 40.0);
        assert_eq!(row["same_ids"], false);
        assert_eq!(row["roster"], serde_json::json!([2, 2]));
        assert_eq!(row["resident_kb_at_the_end"], 104);
    }

    #[test]
    fn the_curves_are_drawn() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("soak.png");
        plot(&args(), 2, &samples(), &path).expect("drawn");
        assert!(fs::metadata(path).expect("a file").len() > 1000);
    }
}
