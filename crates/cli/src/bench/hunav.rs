//! `promenade bench hunav`: milliseconds per `compute_agents`, and the original's all-pairs way in the same build.

use std::time::{Duration, Instant};

use anyhow::Result;
use promenade_hunav::workload::Workload;
use promenade_hunav::{Manager, ManagerVersion, Options};
use serde_json::Map;

use super::{print_row, rounded};

/// Calls before anything is measured: people get up to speed and every buffer to its size.
const WARM: u32 = 20;
/// Calls of a round, and rounds; the best round counts, since other work only slows down.
const CALLS: u32 = 10;
const ROUNDS: usize = 12;
/// Rounds end when they have taken this long.
const LONGEST: Duration = Duration::from_secs(8);

/// Milliseconds per call of compute_agents for a crowd at 10 Hz, on one thread; robust mode, then the strict one, which looks at all pairs
/// as the original does.
#[derive(Debug, clap::Args)]
pub(crate) struct HunavArgs {
    /// People
    #[arg(long, default_value_t = 200, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    agents: u32,
    /// Obstacle points of each
    #[arg(long, default_value_t = 16, value_parser = clap::value_parser!(u32).range(0..=100_000))]
    points: u32,
    /// One JSON object per row
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &HunavArgs) -> Result<()> {
    let robust = measure(args, Options::default());
    let strict = measure(args, Options::strict(ManagerVersion::P15));
    for (mode, figures) in [("robust", &robust), ("strict", &strict)] {
        let mut row = Map::new();
        row.insert("bench".into(), "hunav".into());
        row.insert("agents".into(), args.agents.into());
        row.insert("points".into(), args.points.into());
        row.insert("mode".into(), mode.into());
        row.insert("threads".into(), 1.into());
        row.insert("ms_per_call".into(), rounded(figures.ms));
        row.insert("ms_slowest_call".into(), rounded(figures.slowest));
        row.insert("core_share_at_10_hz".into(), rounded(figures.ms / 100.0));
        row.insert("allocations_per_call".into(), rounded(figures.allocations));
        if mode == "robust" {
            row.insert("speedup_over_strict".into(), rounded(strict.ms / figures.ms));
        }
        print_row(args.json, &row)?;
    }
    Ok(())
}

struct Figures {
    ms: f64,
    slowest: f64,
    allocations: f64,
}

fn measure(args: &HunavArgs, options: Options) -> Figures {
    let (mut workload, mut manager) =
        (Workload::new(args.agents as usize, args.points as usize), Manager::new(options));
    let mut answer = Vec::new();
    let mut call = |workload: &mut Workload| {
        let start = Instant::now();
        workload.call(&mut manager, &mut answer);
        let took = start.elapsed();
        workload.echo(&answer);
        took
    };
    for _ in 0..WARM {
        call(&mut workload);
    }
    let (begun, mut ms, mut slowest) = (Instant::now(), f64::INFINITY, f64::INFINITY);
    for _ in 0..ROUNDS {
        let took: Vec<f64> = (0..CALLS).map(|_| 1e3 * call(&mut workload).as_secs_f64()).collect();
        ms = ms.min(took.iter().sum::<f64>() / f64::from(CALLS));
        slowest = slowest.min(took.iter().copied().fold(0.0, f64::max));
        if begun.elapsed() > LONGEST {
            break;
        }
    }
    let counted = allocation_counter::measure(|| {
        workload.call(&mut manager, &mut answer);
    });
    Figures { ms, slowest, allocations: counted.count_total as f64 }
}
