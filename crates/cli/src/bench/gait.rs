//! `promenade bench gait`: postures per second, against numpy.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use promenade_gait::{GaitBatch, GaitOutput, GaitPool, JOINT_COUNT, PoseId, PoseTable};
use promenade_human::message::animation_state;
use serde_json::{Map, Value, json};

use super::{print_row, rounded};

/// Each state is measured in rounds of at least this long; the best counts, since other work only slows down. Short ones, so that
/// some have the machine to themselves.
const ROUND: Duration = Duration::from_millis(20);
const ROUNDS: usize = 60;

/// Nanoseconds per 40-joint posture on one thread, and the ratio to numpy with --peer.
#[derive(Debug, clap::Args)]
pub(crate) struct GaitArgs {
    /// People in the crowd
    #[arg(long, default_value_t = 10_000, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    people: u32,
    /// Also run tools/peers/gait_numpy.py with this Python, which needs numpy, and print the ratio
    #[arg(long, value_name = "PYTHON", num_args = 0..=1, default_missing_value = "python3")]
    peer: Option<PathBuf>,
    /// One JSON object per row
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &GaitArgs) -> Result<()> {
    for (state, name, speed) in
        [(animation_state::WALKING, "walk", 1.2), (animation_state::RUNNING, "run", 2.5)]
    {
        let ours = measure(args.people, state, speed)?;
        let mut row = Map::new();
        row.insert("bench".into(), "gait".into());
        row.insert("people".into(), args.people.into());
        row.insert("state".into(), name.into());
        row.insert("threads".into(), 1.into());
        row.insert("ns_per_pose".into(), rounded(ours));
        if let Some(python) = &args.peer {
            let peer = numpy(python, name)?;
            row.insert("numpy_ns_per_pose".into(), rounded(peer));
            row.insert("ratio_to_numpy".into(), rounded(peer / ours));
        }
        print_row(args.json, &row)?;
    }
    Ok(())
}

fn measure(people: u32, state: u8, speed: f64) -> Result<f64> {
    let count = people as usize;
    let ids: Vec<u32> = (0..people).collect();
    let states = vec![state; count];
    let speeds: Vec<f64> = ids.iter().map(|id| speed * (0.8 + 0.4 * f64::from(id % 100) / 100.0)).collect();
    let dts = vec![1.0 / 30.0; count];
    let overrides = vec![f64::NAN; count];
    let profiles = vec![PoseId::DEFAULT; count];
    let (mut postures, mut phases) = (vec![[0.0; JOINT_COUNT]; count], vec![0.0; count]);
    let (table, mut pool) = (PoseTable::default(), GaitPool::with_capacity(count));
    let mut best = f64::INFINITY;
    for _ in 0..ROUNDS {
        let (start, mut ticks) = (Instant::now(), 0_u32);
        while start.elapsed() < ROUND {
            let batch = GaitBatch {
                ids: &ids,
                states: &states,
                speeds: &speeds,
                dts: &dts,
                phase_overrides: &overrides,
                poses: &profiles,
            };
            pool.advance(&table, &batch, &mut GaitOutput { poses: &mut postures, phases: &mut phases })?;
            std::hint::black_box(&postures);
            ticks += 1;
        }
        best = best.min(start.elapsed().as_nanos() as f64 / (f64::from(ticks) * count as f64));
    }
    Ok(best)
}

/// The straightforward numpy layer on a smaller crowd: its cost per posture does not depend on the size.
fn numpy(python: &Path, state: &str) -> Result<f64> {
    let script = Path::new("tools/peers/gait_numpy.py");
    if !script.is_file() {
        bail!("--peer needs {} of a checkout; run it from there", script.display());
    }
    let output = Command::new(python)
        .arg(script)
        .args(["--people", "500", "--ticks", "5", "--state", state])
        .stderr(Stdio::piped())
        .output()
        .with_context(|| format!("cannot run {}", python.display()))?;
    if !output.status.success() {
        std::io::stderr().write_all(&output.stderr)?;
        bail!(
            "{} {} failed: {}; does this Python have numpy?",
            python.display(),
            script.display(),
            output.status
        );
    }
    let row: Value = serde_json::from_slice(&output.stdout).unwrap_or(json!({}));
    row["ns_per_pose"].as_f64().context("the peer printed no ns_per_pose")
}
