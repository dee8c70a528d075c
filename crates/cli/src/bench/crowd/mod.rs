//! `promenade bench crowd`: steps of agents per second, the whole tick.

mod plain;
mod scaling;

use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::Result;
use promenade_crowd::{Crowd, Improvements, Settings, Wall, planner::PLANNERS, workload};
use serde_json::Map;

use super::{print_row, rounded};

/// Ticks before the measurement, in which memory grows and people get up to speed.
const WARM_UP: u32 = 20;
/// Ticks of a round at most; later the crowd meets in the middle, which is another workload.
const TICKS: u32 = 200;
/// Each round lasts at least this long, with fresh crowds, and the best of three counts, since other work only slows down.
const ROUND: Duration = Duration::from_millis(600);
const ROUNDS: usize = 3;
/// A door of the maze moves every so many ticks.
const TICKS_PER_DOOR: usize = 10;

/// Agent-steps per second: adults on a square at 0.25 per m2, each heading for the mirrored point; dt 0.05 s, with perception, limits and
/// contacts. People do what they do in the engine that this one is compatible with, unless `--improvements` asks for what it does better.
#[derive(Debug, clap::Args)]
pub(crate) struct CrowdArgs {
    /// People in the crowd
    #[arg(long, default_value_t = 5000, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    agents: u32,
    /// Local planner
    #[arg(long, default_value = "sfm", value_parser = PLANNERS)]
    planner: String,
    /// Where they walk
    #[arg(long, value_enum, default_value = "square")]
    scene: Scene,
    /// Doors of the maze; one of them closes or opens every ten ticks
    #[arg(long, default_value_t = 0, value_name = "N", value_parser = clap::value_parser!(u16).range(0..=10_000))]
    doors: u16,
    /// Threads of a tick
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: u16,
    /// Switch on what this engine does better: making way, passing on the right, people who hide people
    #[arg(long)]
    improvements: bool,
    /// Measure a plain loop over the same people instead: the force and the view of `sfm`, one pair after the other, no contacts
    #[arg(long, conflicts_with_all = ["planner", "scene", "threads", "improvements", "scaling"])]
    plain: bool,
    /// Measure crowds of 100 to 100 000 instead of one
    #[arg(long, conflicts_with = "agents")]
    scaling: bool,
    /// Draw the scaling curve into this PNG
    #[arg(long, value_name = "PNG", requires = "scaling")]
    plot: Option<PathBuf>,
    /// One JSON object per row
    #[arg(long)]
    json: bool,
}

/// Where people walk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Scene {
    /// A square at 0.25 people per m2, everybody toward the mirrored point
    Square,
    /// A disc of 20 m, everybody toward the opposite point of its edge
    Disc,
    /// A maze of 2 m cells, about a cell for each, everybody toward a cell of their own
    Maze,
}

impl Scene {
    fn name(self) -> &'static str {
        match self {
            Self::Square => "square",
            Self::Disc => "disc",
            Self::Maze => "maze",
        }
    }
}

/// A crowd where it walks, with doors that move.
struct Walk {
    crowd: Crowd,
    /// Which of them are closed is known by their number: it is that of the toggles so far.
    doors: Vec<Wall>,
    ticks: usize,
}

impl Walk {
    fn new(args: &CrowdArgs, settings: Settings, count: u32) -> Result<Self> {
        let (crowd, doors) = match args.scene {
            Scene::Square => (workload::mirrored_square(settings, count)?, Vec::new()),
            Scene::Disc => (workload::crossed_disc(settings, count)?, Vec::new()),
            Scene::Maze => workload::maze(settings, count, usize::from(args.doors))?,
        };
        Ok(Self { crowd, doors, ticks: 0 })
    }

    /// A tick, and before it what a door does.
    fn step(&mut self) -> Result<()> {
        if !self.doors.is_empty() && self.ticks.is_multiple_of(TICKS_PER_DOOR) {
            let toggle = self.ticks / TICKS_PER_DOOR;
            let door = &self.doors[toggle % self.doors.len()];
            match (toggle / self.doors.len()).is_multiple_of(2) {
                true => self.crowd.add_walls([door.clone()])?,
                false => self.crowd.remove_walls(std::slice::from_ref(&door.name))?,
            }
        }
        self.crowd.step();
        self.ticks += 1;
        Ok(())
    }
}

pub(crate) fn run(args: &CrowdArgs) -> Result<()> {
    if args.scaling {
        return scaling::run(args);
    }
    if args.plain {
        let crowd = workload::mirrored_square(Settings::default(), args.agents)?;
        return print_row(args.json, &plain::row(crowd.pool()));
    }
    anyhow::ensure!(args.doors == 0 || args.scene == Scene::Maze, "--doors: only --scene maze has doors");
    let figures = measure(args, args.agents)?;
    print_row(args.json, &row(args, args.agents, &figures))
}

/// What was measured of a crowd.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Figures {
    /// Mean of the best round, s.
    tick: f64,
    /// Over all measured ticks, s: median, 95th and 99th of a hundred, the longest.
    percentiles: [f64; 4],
    /// Heap of the engine per person, bytes.
    bytes_per_person: f64,
}

fn measure(args: &CrowdArgs, agents: u32) -> Result<Figures> {
    let settings = Settings {
        local_planner: args.planner.clone(),
        threads: usize::from(args.threads),
        improvements: if args.improvements { Improvements::ALL } else { Improvements::NONE },
        ..Settings::default()
    };
    let (mut best, mut all, mut bytes) = (f64::INFINITY, Vec::new(), 0.0_f64);
    for _ in 0..ROUNDS {
        let (mut spent, mut ticks) = (Duration::ZERO, 0);
        while spent < ROUND {
            let mut walk = None;
            let held = allocation_counter::measure(|| {
                walk = Some(Walk::new(args, settings.clone(), agents).and_then(|mut walk| {
                    (0..WARM_UP).try_for_each(|_| walk.step())?;
                    Ok(walk)
                }));
            });
            let Some(mut walk) = walk.transpose()? else { break };
            bytes = bytes.max(held.bytes_current as f64 / f64::from(agents));
            let mut done = 0;
            while done < TICKS && spent < ROUND {
                let start = Instant::now();
                walk.step()?;
                let tick = start.elapsed();
                all.push(tick.as_secs_f64());
                spent += tick;
                done += 1;
            }
            ticks += done;
            std::hint::black_box(walk.crowd.pool());
        }
        best = best.min(spent.as_secs_f64() / f64::from(ticks));
    }
    all.sort_unstable_by(f64::total_cmp);
    let at = |part: f64| all[((all.len() - 1) as f64 * part).round() as usize];
    Ok(Figures { tick: best, percentiles: [at(0.5), at(0.95), at(0.99), at(1.0)], bytes_per_person: bytes })
}

fn row(args: &CrowdArgs, agents: u32, figures: &Figures) -> Map<String, serde_json::Value> {
    let [median, p95, p99, longest] = figures.percentiles.map(|tick| rounded(tick * 1e3));
    let mut row = Map::new();
    row.insert("bench".into(), "crowd".into());
    row.insert("agents".into(), agents.into());
    row.insert("planner".into(), args.planner.as_str().into());
    row.insert("scene".into(), args.scene.name().into());
    if args.scene == Scene::Maze {
        row.insert("doors".into(), args.doors.into());
    }
    row.insert("threads".into(), args.threads.into());
    row.insert("improvements".into(), args.improvements.into());
    row.insert("agent_steps_per_s".into(), rounded(f64::from(agents) / figures.tick));
    row.insert("ms_per_tick".into(), rounded(figures.tick * 1e3));
    row.insert("ms_median".into(), median);
    row.insert("ms_p95".into(), p95);
    row.insert("ms_p99".into(), p99);
    row.insert("ms_max".into(), longest);
    row.insert("bytes_per_person".into(), rounded(figures.bytes_per_person));
    row
}
