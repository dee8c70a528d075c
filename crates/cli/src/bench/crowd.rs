//! `promenade bench crowd`: steps of agents per second, the whole tick.

use std::time::{Duration, Instant};

use anyhow::Result;
use promenade_crowd::{Settings, planner::PLANNERS, workload::mirrored_square};
use serde_json::Map;

use super::{print_row, rounded};

/// Ticks before the measurement, in which memory grows and people get up to speed.
const WARM_UP: u32 = 20;
/// Ticks of a round at most; later the crowd meets in the middle, which is another workload.
const TICKS: u32 = 200;
/// Each round lasts at least this long, with fresh crowds, and the best of three counts, since other work only slows down.
const ROUND: Duration = Duration::from_millis(600);
const ROUNDS: usize = 3;

/// Agent-steps per second: adults on a square at 0.25 per m2, each heading for the mirrored point; dt 0.05 s, with perception, limits and
/// contacts.
#[derive(Debug, clap::Args)]
pub(crate) struct CrowdArgs {
    /// People in the crowd
    #[arg(long, default_value_t = 5000, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    agents: u32,
    /// Local planner
    #[arg(long, default_value = "sfm", value_parser = PLANNERS)]
    planner: String,
    /// Threads of a tick
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: u16,
    /// One JSON object per row
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &CrowdArgs) -> Result<()> {
    let settings = Settings {
        local_planner: args.planner.clone(),
        threads: usize::from(args.threads),
        ..Settings::default()
    };
    let mut best = f64::INFINITY;
    for _ in 0..ROUNDS {
        let (mut spent, mut ticks) = (Duration::ZERO, 0);
        while spent < ROUND {
            let mut crowd = mirrored_square(settings.clone(), args.agents)?;
            (0..WARM_UP).for_each(|_| crowd.step());
            let start = Instant::now();
            let mut done = 0;
            while done < TICKS && spent + start.elapsed() < ROUND {
                crowd.step();
                done += 1;
            }
            spent += start.elapsed();
            ticks += done;
            std::hint::black_box(crowd.pool());
        }
        best = best.min(spent.as_secs_f64() / f64::from(ticks));
    }
    let mut row = Map::new();
    row.insert("bench".into(), "crowd".into());
    row.insert("agents".into(), args.agents.into());
    row.insert("planner".into(), args.planner.as_str().into());
    row.insert("threads".into(), args.threads.into());
    row.insert("agent_steps_per_s".into(), rounded(f64::from(args.agents) / best));
    row.insert("ms_per_tick".into(), rounded(best * 1e3));
    print_row(args.json, &row)
}
