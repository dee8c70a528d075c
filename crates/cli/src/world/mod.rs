//! `promenade world`: a robot world from its file, without ROS.
//!
//! The world is `promenade_robot_world`'s; this reads the command line, shows what happens and writes it down. It never moves anything itself.

mod drive;
mod keyboard;
mod play;
mod summary;
mod terminal;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result, anyhow};
use promenade_robot_world::file::ReadOptions;
use promenade_robot_world::record::Script;
use promenade_robot_world::registry::Registry;
use promenade_robot_world::spec::ControlMode;
use promenade_robot_world::{World, WorldSpec};

use self::play::{Keep, Run};
use crate::draw::world::{Film, Format};
use crate::draw::write_gif;

/// Run a robot world: robots, obstacles, sensors and contacts from a YAML file as IR-SIM has it.
///
/// Without --steps a world runs as long as its `custom.steps` says; without that until every robot has arrived or stands, at most
/// 1000 steps. `custom.seed` and `custom.actions` are taken over too: with `{from: 0, to: 40, object: robot_0, action: [0.5, 0.1]}`
/// robot_0 gets that command in steps 0 to 39 instead of what its behaviour would do.
///
/// Equal files, steps and seeds give equal runs. A summary goes to standard output, problems and warnings to standard error. Exits
/// with 1 when the file has errors; all of them are told at once, with line and column (`promenade check FILE` only reads).
#[derive(Debug, clap::Args)]
#[command(
    arg_required_else_help = true,
    after_help = "\
Examples:
  promenade world configs/robot_worlds/box_pushing.yaml --gif boxes.gif
  promenade world configs/robot_worlds/rvo_crossing.yaml --seed 7 --plot crossing.png --out crossing.json
  promenade world my_irsim_world.yaml --lenient --steps 500
  promenade world configs/robot_worlds/office.yaml --keyboard

Pictures:
  Robots have the colour of the file, else one each; a light arrowhead or a car's windscreen shows where they head. A thin outline is
  where something started, the line its way. Rings with a cross are goals, as wide as `goal_threshold`; dashes join way-points. Blue
  fans and dots are scans (approaching blue, receding orange for fmcw_lidar2d); `plot: {show_fov: true}` adds the field of view.
  Pink arrows are contact forces on what is pushed, 1 m for 20 N. Red edges collide. Grey veils are fog. Keys of `plot` that matter:
  show_goal, show_goals, show_trajectory, show_trail, show_sensor, show_fov, show_text, show_arrow, obj_color, obj_alpha,
  goal_color, traj_color, traj_alpha, traj_width, keep_traj_length, trail_freq, text_color, arrow_color, arrow_length, fov_color,
  fov_alpha; of `world.plot`: title, show_title, no_axis, figure_pixels.

Keyboard:
  w s / up down      faster, slower (beyond standing: backwards)
  a d / left right   turn or steer left and right; sideways for omni robots
  , .                sideways for omni_angular robots
  space              stop
  tab, 1 to 9        drive the next robot, or the one with that number
  p r                pause, start again
  + -                look from nearer or farther
  q, Esc, Ctrl-C     end
  Speeds end at `gui.keyboard.key_lv_max` and `key_ang_max` and at the robot's own limits.

The document of --out has the keys `steps`, `step_time`, `seed`, `objects`, `trajectory`, `flags`, `status`, `scans`, `contacts` and so
on; docs/robot-world.md explains them and the whole file format."
)]
pub(crate) struct WorldArgs {
    /// The world, a YAML file
    #[arg(value_name = "FILE.yaml")]
    file: PathBuf,
    /// Steps to run
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(..=1_000_000_000))]
    steps: Option<u64>,
    /// Seed of everything random; `custom.seed` or 0 without
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// Write every state, event, scan and contact as JSON
    #[arg(long, value_name = "F.json")]
    out: Option<PathBuf>,
    /// Draw the world after the last step, with the ways to it
    #[arg(long, value_name = "F.png")]
    plot: Option<PathBuf>,
    /// Draw the whole run as a moving picture
    #[arg(long, value_name = "F.gif")]
    gif: Option<PathBuf>,
    /// How many times faster than real the moving picture plays; as fast as makes it last half a minute without, but not slower than real
    #[arg(long, value_name = "X", requires = "gif", value_parser = speed)]
    speed: Option<f64>,
    /// Warn about keys that nobody knows, rather than refuse the file
    #[arg(long)]
    lenient: bool,
    /// Drive a robot from this terminal, in real time
    #[arg(long)]
    keyboard: bool,
}

/// How long a moving picture lasts when nobody says how fast it plays, seconds.
const USUAL_LENGTH: f64 = 30.0;
/// Frames of a moving picture per second, at most.
const MOST_FPS: f64 = 20.0;

fn speed(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if (0.01..=1000.0).contains(&value) => Ok(value),
        Ok(value) => Err(format!("{value} is not from 0.01 to 1000")),
        Err(error) => Err(error.to_string()),
    }
}

pub(crate) fn run(args: &WorldArgs) -> Result<ExitCode> {
    let options = ReadOptions { lenient: args.lenient };
    let loaded =
        WorldSpec::read(&args.file, &Registry::built_in(), &options).map_err(|report| anyhow!("{report}"))?;
    let mut stderr = std::io::stderr();
    if !loaded.report.is_empty() {
        writeln!(stderr, "{}", loaded.report)?;
    }
    let mut spec = loaded.value;
    let shown = args.file.display();
    let script = Script::of(&spec.custom).with_context(|| shown.to_string())?;
    spec.settings.control_mode = match (args.keyboard, spec.settings.control_mode) {
        (true, _) => ControlMode::Keyboard,
        (false, ControlMode::Auto) => ControlMode::Auto,
        (false, ControlMode::Keyboard) => {
            writeln!(
                stderr,
                "warning: {shown}: world.control_mode: nobody drives without --keyboard; robots do as with auto"
            )?;
            ControlMode::Auto
        }
    };
    let seed = args.seed.or(script.seed).unwrap_or(0);
    let mut world = World::new(&spec, seed).with_context(|| format!("cannot run {shown}"))?;
    let keep = Keep {
        record: args.out.is_some(),
        paths: args.plot.is_some() || args.gif.is_some() || args.keyboard,
        frames: args.gif.is_some(),
    };
    let mut run = Run::new(&spec, &world, script, seed, keep);
    let ended = if args.keyboard {
        keyboard::run(&spec, &mut world, &mut run, args.steps)
    } else {
        run.play(&mut world, args.steps)
    };
    for warning in run.warnings() {
        writeln!(stderr, "warning: {warning}")?;
    }
    ended.with_context(|| shown.to_string())?;
    if let (Some(out), Some(document)) = (&args.out, run.document(&world)) {
        std::fs::write(out, format!("{document}\n"))
            .with_context(|| format!("cannot write {}", out.display()))?;
    }
    if let Some(film) = run.film() {
        if let Some(plot) = &args.plot {
            film.picture(&film.now(&world), Format::Still)?.write_png(plot)?;
        }
        if let Some(gif) = &args.gif {
            moving(film, &world, args.speed, gif)?;
        }
    }
    write!(std::io::stdout().lock(), "{}", run.summary(&world))?;
    Ok(ExitCode::SUCCESS)
}

/// Draws the frames of a film as a moving picture whose last frame stays for a second.
fn moving(film: &Film, world: &World, speed: Option<f64>, file: &Path) -> Result<()> {
    let length = world.time().max(world.settings().step_time);
    let speed = speed.unwrap_or((length / USUAL_LENGTH).max(1.0));
    let count = film.frames.len().max(1);
    let rate = count as f64 / length * speed;
    let stride = (rate / MOST_FPS).ceil().max(1.0) as usize;
    let fps = rate / stride as f64;
    let bar = play::bar(count.div_ceil(stride) as u64, "drawing");
    let still = film.frames.last().into_iter().cycle().take(fps.ceil() as usize);
    let frames = film.frames.iter().step_by(stride).chain(still).map(|frame| {
        bar.inc(1);
        film.picture(frame, Format::Moving)
    });
    write_gif(file, fps, frames)?;
    bar.finish_and_clear();
    Ok(())
}
