//! `promenade pose`: what the gait gives, as numbers.

use std::io::Write;
use std::process::ExitCode;

use anyhow::{Result, bail};
use promenade_gait::{GaitInput, GaitPool, JOINT_COUNT, Joint, PoseProfile, ProfileLibrary};
use promenade_human::message::animation_state;
use serde_json::{Map, json};

/// Show the 40 joints of a person after some steps of their gait.
///
/// The phase starts from the id, as it does for everybody. Values are radians in wire order.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example:
  promenade pose --id 7 --state walk --speed 1.0 --steps 40 --dt 0.05 --json")]
pub(crate) struct PoseArgs {
    /// Person id: decides the phase to start from
    #[arg(long, default_value_t = 0)]
    id: u32,
    /// What the person does
    #[arg(long, value_enum, default_value_t = State::Walk)]
    state: State,
    /// Speed along the heading in m/s; negative walks backwards
    #[arg(long, default_value_t = 1.0, allow_negative_numbers = true, value_name = "V")]
    speed: f64,
    /// Number of steps
    #[arg(long, default_value_t = 1, value_name = "N")]
    steps: u32,
    /// Seconds per step
    #[arg(long, default_value_t = 0.05, value_name = "S")]
    dt: f64,
    /// Profile that replaces the gait of the state: walk_cmu_12_01, run, seated or seated_wheelchair
    #[arg(long, value_name = "NAME")]
    profile: Option<String>,
    /// Print JSON: the phase, the joints by name, and their positions in wire order
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum State {
    Idle,
    Walk,
    Run,
}

pub(crate) fn run(args: &PoseArgs) -> Result<ExitCode> {
    if !args.speed.is_finite() || !args.dt.is_finite() || args.dt < 0.0 {
        bail!("--speed and --dt must be finite, and --dt not negative");
    }
    let profile = profile(args)?;
    let state = match args.state {
        State::Idle => animation_state::IDLE,
        State::Walk => animation_state::WALKING,
        State::Run => animation_state::RUNNING,
    };
    let input = GaitInput { state, speed: args.speed, dt: args.dt, phase_override: None };
    let mut pool = GaitPool::default();
    let mut joints = [0.0; JOINT_COUNT];
    let mut phase = promenade_gait::initial_phase(args.id);
    for _ in 0..args.steps {
        (phase, _) = pool.advance_one(args.id, &input, &profile, &mut joints);
    }
    let mut out = std::io::stdout().lock();
    if args.json {
        let by_name: Map<_, _> =
            Joint::NAMES.iter().zip(joints).map(|(name, value)| ((*name).to_owned(), json!(value))).collect();
        let line = json!({
            "id": args.id, "steps": args.steps, "dt": args.dt, "speed": args.speed,
            "phase": phase, "joints": by_name, "positions": joints.to_vec(),
        });
        writeln!(out, "{line}")?;
    } else {
        writeln!(out, "phase {phase:.9} rad after {} steps of {} s", args.steps, args.dt)?;
        for (name, value) in Joint::NAMES.iter().zip(joints) {
            writeln!(out, "{name:>13} {value:>13.9} rad {:>8.2} deg", value.to_degrees())?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn profile(args: &PoseArgs) -> Result<PoseProfile> {
    let mut profile = PoseProfile::default();
    let Some(name) = &args.profile else { return Ok(profile) };
    let library = ProfileLibrary::builtin();
    let Some(gait) = library.gait(name).cloned() else {
        let known: Vec<&str> = library.iter().map(|(stem, _)| stem).collect();
        bail!("no profile {name:?}; there are {}", known.join(", "));
    };
    match args.state {
        State::Walk => profile.walk = gait,
        State::Run => profile.run = gait,
        State::Idle => profile.idle = Some(gait),
    }
    Ok(profile)
}
