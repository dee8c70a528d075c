//! `promenade bench world`: steps of robot worlds per second.

mod workload;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow};
use promenade_robot_world::file::ReadOptions;
use promenade_robot_world::registry::Registry;
use promenade_robot_world::{World, WorldSpec};
use serde_json::{Map, Value};

use self::workload::{Case, Workload};
use super::{print_row, rounded};

/// Each case is measured in rounds of at least this long; the best counts, since other work only slows down.
const ROUND: Duration = Duration::from_millis(100);
/// Steps before anything is measured: buffers have their size, robots are under way.
const WARM_UP: u32 = 50;
/// Steps whose allocations are counted.
const COUNTED: u32 = 20;

/// Steps of robot worlds per second, one thread; tools/peers/world.py runs the same files in IR-SIM.
///
/// Without --case all are measured. A step is the whole of it: behaviours, motion, contacts, scans, collisions, status.
#[derive(Debug, clap::Args)]
pub(crate) struct WorldArgs {
    /// What is measured; may be repeated
    #[arg(long, value_enum)]
    case: Vec<Case>,
    /// Robots: 1000 for dash and rvo, 100 for lidar and push, 1 for scan without
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    robots: Option<u32>,
    /// Write the world of the case into a file that IR-SIM reads too, and measure nothing
    #[arg(long, value_name = "F.yaml", requires = "case")]
    write: Option<PathBuf>,
    /// Rounds of a tenth of a second; the best counts
    #[arg(long, default_value_t = 20, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    rounds: u32,
    /// One JSON object per row
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &WorldArgs) -> Result<()> {
    let cases = if args.case.is_empty() { Case::ALL.as_slice() } else { &args.case };
    for case in cases {
        let workload = case.workload(args.robots);
        match &args.write {
            Some(file) => std::fs::write(file, workload.text)
                .with_context(|| format!("cannot write {}", file.display()))?,
            None => print_row(args.json, &measure(*case, &workload, args.rounds)?)?,
        }
    }
    Ok(())
}

fn measure(case: Case, workload: &Workload, rounds: u32) -> Result<Map<String, Value>> {
    let name = format!("{}.yaml", case.name());
    let start = Instant::now();
    let options = ReadOptions::default();
    let spec = WorldSpec::from_text(&workload.text, Path::new(&name), &Registry::built_in(), &options)
        .map_err(|report| anyhow!("{report}"))?
        .value;
    let mut world = World::new(&spec, 0)?;
    let load = start.elapsed();
    for _ in 0..WARM_UP {
        world.step(&[])?;
    }
    let mut failed = Ok(());
    let allocations = allocation_counter::measure(|| failed = (0..COUNTED).try_for_each(|_| world.step(&[])));
    failed?;
    let mut best = f64::INFINITY;
    for _ in 0..rounds {
        let (start, mut steps) = (Instant::now(), 0_u32);
        while start.elapsed() < ROUND {
            world.step(&[])?;
            steps += 1;
        }
        best = best.min(start.elapsed().as_secs_f64() / f64::from(steps));
    }
    let mut row = Map::new();
    row.insert("bench".into(), "world".into());
    row.insert("case".into(), case.name().into());
    row.insert("robots".into(), workload.robots.into());
    row.insert("obstacles".into(), workload.obstacles.into());
    row.insert("beams".into(), workload.beams.into());
    row.insert("threads".into(), 1.into());
    row.insert("steps_per_s".into(), rounded(1.0 / best));
    row.insert("ms_per_step".into(), rounded(1e3 * best));
    row.insert("real_time_factor".into(), rounded(world.settings().step_time / best));
    row.insert("contacts".into(), world.contacts().len().into());
    row.insert("allocations_per_step".into(), rounded(allocations.count_total as f64 / f64::from(COUNTED)));
    row.insert("load_ms".into(), rounded(1e3 * load.as_secs_f64()));
    Ok(row)
}
