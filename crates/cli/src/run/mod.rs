//! `promenade run`: one episode without ROS.
//!
//! Composes the same layer, backend and walker that the nodes run, on one kernel in one process. It must never show a
//! behaviour that the nodes do not have, and two runs with one seed must give equal reports.

mod engine;
mod observe;
pub(crate) mod report;
mod robots;
mod tape;
mod world;

use std::cell::RefCell;
use std::io::{IsTerminal, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use indicatif::{ProgressBar, ProgressStyle};
use promenade_human::episode::{EpisodeRequest, asset_cache, world_roots};
use promenade_human::walker::{STREAM_RATE_HZ, Walker};
use promenade_human::{
    BackendContext, DummySim, Environment, EpisodePlan, Frames, HumanLayer, HumanSimulator, Outbox,
    Parameter, Registry, Ticked, load_motions,
};
use promenade_kernel::{FrameCtx, FrameSystem, Phase, Simulation, SystemResult};
use promenade_scenario::Severity;

use self::observe::{Observer, Robots};
use self::report::{Recorder, Run, Shared};
use self::tape::Tape;
use crate::up::packages::{PROMENADE, Packages};

/// Run one episode of a scenario without ROS.
///
/// People move as the backend says, doors open and close, robots drive to where their phases send them: around walls, not into people and
/// closed doors, and no further than what stands in their way lets them. With `arena` or `hunav` that engine runs within the process. With
/// `dummy`, everybody who has way-points is walked along them in straight lines, through possession, as the `possess` node would do it.
/// The report holds no wall time: the same seed gives the same file.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  promenade run clinic/corridor_crowd --duration 60 --report r.json
  promenade run my/scenario.yaml --world clinic --rtf 1 --seed 7
  promenade run clinic/corridor_crowd --human arena --possess nurse_1 --param humansim.local_planner=hsfm
  promenade run hall/robot_reactions --human hunav --param hunav.compat=strict")]
pub(crate) struct RunArgs {
    /// A scenario file or folder, or WORLD/SCENARIO from worlds/, configs/worlds/ or the installed worlds
    scenario: String,
    /// Human backend: arena (the crowd engine), hunav (the engine of HuNavSim), dummy, or none (nobody is walked)
    #[arg(long, default_value = "dummy", value_name = "K")]
    human: String,
    /// Simulator of robots: world (2-D physics: walls, doors, things and people are in their way), or dummy (they drive straight through
    /// everything but people and closed doors)
    #[arg(long, default_value = "world", value_name = "S")]
    sim: SimKind,
    /// World of a scenario that lies in no world folder: a name or a path
    #[arg(long, default_value = "", value_name = "W", hide_default_value = true)]
    world: String,
    /// Simulated seconds
    #[arg(long, default_value_t = 60.0, value_name = "S", value_parser = seconds)]
    duration: f64,
    /// Real-time factor: simulated seconds per second; 0 = as fast as possible
    #[arg(long, default_value_t = 0.0, value_name = "R", value_parser = seconds)]
    rtf: f64,
    /// Seed of everything random
    #[arg(long, default_value_t = 0, value_name = "N")]
    seed: u64,
    /// Walk these people along their way-points through possession, as the possess node would; with dummy it is everybody
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    possess: Vec<String>,
    /// Parameter of the backend for this episode, such as humansim.local_planner=hsfm; may be repeated
    #[arg(long = "param", value_name = "NAME=VALUE", value_parser = engine::parameter)]
    params: Vec<Parameter>,
    /// Threads of the crowd engine; the result does not depend on them
    #[arg(long, default_value_t = 1, value_name = "T", value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: u16,
    /// Folder of pose profiles of your own, which agent types may name like the shipped ones
    #[arg(long, value_name = "DIR")]
    profiles: Option<PathBuf>,
    /// Folder of clips of your own, which gestures may name like the shipped ones
    #[arg(long, value_name = "DIR")]
    clips: Option<PathBuf>,
    /// Write what the nodes would publish into a bag: arena_peds, human_states, robot_states, odometry and TF
    #[arg(long, value_name = "F.mcap")]
    record: Option<PathBuf>,
    /// Write per-pedestrian and per-robot results as JSON, robots with their metrics
    #[arg(long, value_name = "F.json")]
    report: Option<PathBuf>,
}

/// Who moves robots.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum SimKind {
    /// The robot world.
    World,
    /// Nobody: they drive along lines.
    Dummy,
}

/// The simulator of a run.
enum Physics {
    World(world::World),
    Dummy(robots::Frames),
}

impl Physics {
    fn new(args: &RunArgs, rate_hz: f64) -> Result<Self> {
        Ok(match args.sim {
            SimKind::World => Physics::World(world::world(rate_hz, args.seed)?),
            SimKind::Dummy => Physics::Dummy(robots::Frames::default()),
        })
    }

    fn layer(&self, backend: Box<dyn HumanSimulator>, outbox: Box<dyn Outbox>) -> HumanLayer {
        match self {
            Physics::World(world) => HumanLayer::new(backend, Box::new(Rc::clone(world)), outbox)
                .with_transforms(Box::new(Rc::clone(world))),
            Physics::Dummy(frames) => {
                HumanLayer::new(backend, Box::new(DummySim), outbox).with_transforms(Box::new(frames.clone()))
            }
        }
    }
}

/// The largest duration and factor: thirty years, well within the clock of the kernel.
const MOST: f64 = 1e9;

/// A number from 0 to [`MOST`].
fn seconds(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if (0.0..=MOST).contains(&value) => Ok(value),
        Ok(value) => Err(format!("{value} is not a number from 0 to {MOST:e}")),
        Err(error) => Err(error.to_string()),
    }
}

pub(crate) fn run(args: &RunArgs) -> Result<ExitCode> {
    let share = Packages::from_environment(&std::env::current_dir()?).share(PROMENADE).ok();
    let request = EpisodeRequest {
        scenario: args.scenario.clone(),
        world: args.world.clone(),
        roots: world_roots(share.as_deref()),
        seed: args.seed,
        prefix: "env_0".to_owned(),
        tf_namespace: "env_0".to_owned(),
        asset_cache: asset_cache(),
        ..EpisodeRequest::default()
    };
    let recorder = Rc::new(RefCell::new(Recorder::default()));
    let backend = Registry::builtin().create(
        &args.human,
        BackendContext {
            seed: args.seed,
            prefix: request.prefix.clone(),
            engine: engine::engine(args)?,
            hunav_settings: engine::hunav_settings(args)?,
            ..BackendContext::default()
        },
    )?;
    let outbox = Box::new(Shared(Rc::clone(&recorder)));
    let physics = Physics::new(args, backend.rate_hz())?;
    let mut layer = physics.layer(backend, outbox);
    let (profiles, clips) = load_motions(args.profiles.as_deref(), args.clips.as_deref())
        .map_err(|error| anyhow::anyhow!("{error}"))?;
    layer.set_motions(profiles, clips);
    let plan = EpisodePlan { human_params: args.params.clone(), ..EpisodePlan::default() };
    let environment = Environment::new(layer, request, plan)?;
    if let Physics::World(world) = &physics {
        world::set_models(world, &environment);
    }
    let unknown = |name: &&String| environment.episode().people.iter().all(|person| person.name != **name);
    if let Some(name) = args.possess.iter().find(unknown) {
        bail!("--possess {name}: nobody of the scenario has this name");
    }
    let tape = match &args.record {
        Some(path) => {
            let robots = &environment.episode().robots;
            let named = robots.iter().map(|robot| (robot.name.as_str(), robot.base_frame.as_deref()));
            Some(Tape::create(path, named)?)
        }
        None => None,
    };
    recorder.borrow_mut().prepare(&environment.episode().people, tape);
    let mut stderr = std::io::stderr();
    for problem in environment.episode().report.iter().filter(|problem| problem.severity != Severity::Hint) {
        writeln!(stderr, "{problem}")?;
    }
    let interrupted = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&interrupted);
    ctrlc::set_handler(move || flag.store(true, Ordering::Relaxed)).context("cannot watch for Ctrl-C")?;

    let started = Instant::now();
    let name = environment.episode().name.clone();
    let run = simulate(args, environment, &physics, &recorder, &interrupted)?;
    let wall = started.elapsed().as_secs_f64();
    writeln!(
        stderr,
        "{name}: {} people, {:.1} s simulated in {wall:.2} s ({:.0} x real time), {} bus messages",
        run.people(),
        run.simulated_s(),
        run.simulated_s() / wall.max(1e-9),
        run.bus_messages(),
    )?;
    if let (Some(tape), Some(path)) = (recorder.borrow_mut().take_tape(), &args.record) {
        let messages = tape.finish().with_context(|| path.display().to_string())?;
        writeln!(stderr, "{}: {messages} messages", path.display())?;
    }
    if let Some(path) = &args.report {
        let text = serde_json::to_string_pretty(&run)? + "\n";
        std::fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))?;
    }
    if interrupted.load(Ordering::Relaxed) {
        bail!("interrupted; the report covers what was simulated");
    }
    Ok(ExitCode::SUCCESS)
}

fn simulate(
    args: &RunArgs,
    mut environment: Environment,
    physics: &Physics,
    recorder: &Rc<RefCell<Recorder>>,
    interrupted: &Arc<AtomicBool>,
) -> Result<Run> {
    let rate = environment.rate_hz();
    environment.start();
    let environment = Rc::new(RefCell::new(environment));
    let duration = Duration::from_secs_f64(args.duration);
    let mut kernel =
        Simulation::builder().fps(rate).seed(args.seed).duration(duration).realtime_factor(args.rtf).build();
    match physics {
        Physics::World(world) => {
            kernel.add_frame(world::Drivers::new(&environment, world))?.phase(Phase::RobotControl);
            kernel.add_frame(world::Motion(Rc::clone(world)))?.phase(Phase::Motion);
        }
        Physics::Dummy(frames) => {
            let drivers = robots::Drivers::new(&environment, frames.clone(), rate);
            kernel.add_frame(drivers)?.phase(Phase::RobotControl);
        }
    }
    kernel.add_frame(Frames::new(Rc::clone(&environment)))?.phase(Phase::Gait);
    let observed = Rc::new(RefCell::new(Robots::new(&environment.borrow(), physics)));
    kernel.add_frame(Observer::new(&environment, recorder, &observed))?.phase(Phase::Egress);
    let bar = progress(args.duration);
    kernel.add_frame(Watch { bar: bar.clone(), interrupted: Arc::clone(interrupted) })?.phase(Phase::Egress);
    let is_possessed = |name: &String| match args.possess.is_empty() {
        true => args.human == "dummy",
        false => args.possess.contains(name),
    };
    walk(&mut kernel, &environment, args.seed, is_possessed)?;
    let end = if duration.is_zero() { kernel.finish()? } else { kernel.run()? };
    bar.finish_and_clear();
    let environment = environment.borrow();
    let stream = environment.layer().cx().stream_stats();
    let judged = observed.borrow_mut().judge();
    Ok(Run::new(args, &environment, physics, &recorder.borrow(), &judged, stream, (end.time, end.frames)))
}

/// The walker as an event system: a possession stream with its own rate between the frames, of those whom `is_possessed` means.
fn walk(
    kernel: &mut Simulation,
    environment: &Rc<RefCell<Environment>>,
    seed: u64,
    is_possessed: impl Fn(&String) -> bool,
) -> Result<()> {
    let mut walker = Walker::new(seed);
    for person in environment.borrow().episode().people.iter() {
        if !person.waypoints.is_empty() && is_possessed(&person.name) {
            walker.add(person, &person.pose);
        }
    }
    if walker.is_empty() {
        return Ok(());
    }
    let environment = Rc::clone(environment);
    kernel.add_event("possess", async move |cx| {
        let period = Duration::from_secs_f64(1.0 / STREAM_RATE_HZ);
        loop {
            let now = cx.now();
            {
                let mut environment = environment.borrow_mut();
                environment.set_now(now);
                walker.cap_speeds(|place| environment.live().speed_limit(place));
                environment.layer_mut().on_stream(walker.step(period, now));
            }
            cx.timeout(period).await;
        }
    })?;
    Ok(())
}

/// Shows the progress and ends the run on Ctrl-C.
struct Watch {
    bar: ProgressBar,
    interrupted: Arc<AtomicBool>,
}

impl FrameSystem for Watch {
    fn name(&self) -> &str {
        "progress"
    }

    fn process(&mut self, cx: &mut FrameCtx<'_>) -> SystemResult {
        self.bar.set_position(cx.now().as_secs_f64() as u64);
        if self.interrupted.load(Ordering::Relaxed) {
            cx.kill("interrupted");
        }
        Ok(())
    }
}

fn progress(duration: f64) -> ProgressBar {
    if !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template("{wide_bar} {pos}/{len} s simulated, {eta} left");
    ProgressBar::new(duration.ceil() as u64)
        .with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}
