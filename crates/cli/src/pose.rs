//! `promenade pose`: what a gait or a clip gives, as numbers, as pictures and as clips.

mod motion;
mod pictures;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::{Context, Result, bail};
use promenade_gait::{
    Gait, GaitInput, GaitPool, JOINT_COUNT, Joint, Pose40, PoseProfile, ProfileLibrary, ProfileSource,
    animation::Animation,
    clip::{Annotation, ClipData, ClipLibrary, Limits},
    gesture::Channel,
    quality::{MotionQuality, measure},
    rig::Rig,
};
use promenade_human::message::animation_state;
use serde_json::{Map, json};

use self::motion::{GESTURE_S, Motion};
use crate::draw::{Figure, Stance, sheet};

/// Show the 40 joints of a person after some steps of their gait, or of a clip.
///
/// The phase starts from the id, as it does for everybody. Values are radians in wire order. Pictures show the person's left in
/// blue and right in orange.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  promenade pose --id 7 --state walk --speed 1.0 --steps 40 --dt 0.05 --json
  promenade pose --profile seated --state idle --png seated.png
  promenade pose --speed 1.2 --strip --png cycle.png --gif cycle.gif
  promenade pose --clip wave --strip --png wave.png
  promenade pose --state idle --point 2,-1,0.5 --look 2,-1,0.5 --strip --png point.png
  promenade pose --sheet --png sheet.png
  promenade pose --clip wave --export clips
  promenade pose --profile natural --speed 1.2 --seconds 6 --export clips
  promenade pose --quality")]
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
    /// Profile that replaces the gait of the state: a shipped name or a .yaml file
    #[arg(long, value_name = "NAME|FILE")]
    profile: Option<String>,
    /// A clip instead of a gait: a shipped name or a .npy, .npz or key-frame file
    #[arg(long, value_name = "NAME|FILE", conflicts_with = "profile")]
    clip: Option<String>,
    /// Point at a place while doing it: metres forward, left and up from the person's feet
    #[arg(long, value_parser = place, allow_hyphen_values = true, conflicts_with = "clip", value_name = "X,Y,Z")]
    point: Option<[f64; 3]>,
    /// Look at a place while doing it
    #[arg(long, value_parser = place, allow_hyphen_values = true, conflicts_with = "clip", value_name = "X,Y,Z")]
    look: Option<[f64; 3]>,
    /// Seconds into the clip or gesture; the middle without it
    #[arg(long, value_name = "S")]
    at: Option<f64>,
    /// Draw to a PNG: the posture from the front and the side with its 40 values
    #[arg(long, value_name = "FILE")]
    png: Option<PathBuf>,
    /// Eight postures of the gait cycle or the clip in the PNG, instead of one
    #[arg(long, requires = "png")]
    strip: bool,
    /// Every shipped clip and every gesture in the PNG, eight postures each
    #[arg(long, requires = "png", conflicts_with_all = ["clip", "strip", "gif", "json"])]
    sheet: bool,
    /// Draw one cycle of the gait, or the clip, to a moving GIF
    #[arg(long, value_name = "FILE")]
    gif: Option<PathBuf>,
    /// Write the clip, the gesture, or --seconds of the gait, as a clip to FOLDER/NAME/NAME.npz with its annotation.yaml
    #[arg(long, value_name = "FOLDER")]
    export: Option<PathBuf>,
    /// How much of a gait is exported, at 20 frames per second
    #[arg(long, default_value_t = 6.0, value_name = "S", requires = "export")]
    seconds: f64,
    /// Measure walks instead: sliding of the feet, their height, ranges of motion, for --profile or all that are shipped
    #[arg(long, conflicts_with_all = ["clip", "png", "gif", "export"])]
    quality: bool,
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

impl State {
    fn name(self) -> &'static str {
        match self {
            Self::Idle => "idle",
            Self::Walk => "walk",
            Self::Run => "run",
        }
    }
}

fn motion_of(args: &PoseArgs) -> Result<Motion> {
    if let Some(name) = &args.clip {
        return Ok(Motion::Clip(clip(name)?));
    }
    let state = match args.state {
        State::Idle => animation_state::IDLE,
        State::Walk => animation_state::WALKING,
        State::Run => animation_state::RUNNING,
    };
    let input = GaitInput { state, speed: args.speed, dt: args.dt, phase_override: None };
    let of = args.profile.as_deref().map_or_else(String::new, |profile| format!(" of {profile}"));
    let mut title = match args.state {
        State::Idle => format!("idle{of}"),
        state => format!("{}{of} at {} m/s", state.name(), args.speed),
    };
    let profile = profile(args)?;
    let mut channels = Vec::new();
    for (slot, what, at) in [("head", "look", args.look), ("arm", "point", args.point)] {
        if let Some(at) = at {
            let [x, y, z] = at;
            title.push_str(&format!(", {what} at {x}, {y}, {z}"));
            channels.push(Channel { slot, at, ..Channel::default() });
        }
    }
    if channels.is_empty() {
        return Ok(Motion::Gait { profile, input, title });
    }
    Motion::gesture(args.id, profile, &input, title, &channels)
}

pub(crate) fn run(args: &PoseArgs) -> Result<ExitCode> {
    if !args.speed.is_finite() || !args.dt.is_finite() || args.dt < 0.0 {
        bail!("--speed and --dt must be finite, and --dt not negative");
    }
    if args.at.is_some_and(|seconds| !seconds.is_finite()) {
        bail!("--at must be finite");
    }
    if !(args.seconds > 0.0 && args.seconds <= MOST_SECONDS) {
        bail!("--seconds must be above 0 and at most {MOST_SECONDS}");
    }
    let rig = Rig::default();
    if let (true, Some(path)) = (args.sheet, &args.png) {
        pictures::everything(&rig, path)?;
        return Ok(ExitCode::SUCCESS);
    }
    if args.quality {
        return quality(args, &rig);
    }
    let motion = motion_of(args)?;
    let mut shown = Figure { label: String::new(), posture: [0.0; JOINT_COUNT], stance: Stance::Hips };
    let mut phase = promenade_gait::initial_phase(args.id);
    let place = match &motion {
        Motion::Gait { profile, input, .. } => {
            let mut pool = GaitPool::default();
            for _ in 0..args.steps {
                (phase, _) = pool.advance_one(args.id, input, profile, &mut shown.posture);
            }
            format!("phase {phase:.3} rad")
        }
        Motion::Clip(clip) => {
            let seconds = args.at.unwrap_or(0.5 * clip.duration());
            shown = motion.at(seconds / clip.duration());
            format!("at {seconds:.2} s")
        }
        Motion::Gesture { .. } => {
            shown = motion.at(args.at.map_or(0.5, |seconds| seconds / GESTURE_S));
            format!("at {}", shown.label)
        }
    };
    let joints = &shown.posture;
    if let Some(path) = &args.png {
        let canvas = if args.strip {
            sheet::strip(&rig, &motion.title(), &motion.strip())?
        } else {
            sheet::pose(&rig, &format!("{}, {place}", motion.title()), &shown)?
        };
        canvas.write_png(path)?;
    }
    if let Some(path) = &args.gif {
        pictures::moving(&rig, &motion, path)?;
    }
    if let Some(folder) = &args.export {
        export(args, &motion, folder)?;
    }
    if args.json || (args.png.is_none() && args.gif.is_none() && args.export.is_none()) {
        print(args, &motion, phase, &place, joints)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Longest export of a gait, seconds; an hour at 20 frames per second is what the readers take.
const MOST_SECONDS: f64 = 3600.0;

fn export(args: &PoseArgs, motion: &Motion, folder: &Path) -> Result<()> {
    let name = match (motion, &args.profile) {
        (Motion::Clip(clip), _) => clip.name().to_owned(),
        (Motion::Gesture { .. }, _) => "gesture".to_owned(),
        (Motion::Gait { .. }, Some(profile)) => stem(Path::new(profile)),
        (Motion::Gait { .. }, None) => args.state.name().to_owned(),
    };
    let (clip, annotation) = motion.recorded(args.id, args.seconds);
    let folder = folder.join(&name);
    std::fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
    let file = folder.join(format!("{name}.npz"));
    std::fs::write(&file, clip.to_npz()?).with_context(|| format!("cannot write {}", file.display()))?;
    let beside = folder.join("annotation.yaml");
    std::fs::write(&beside, annotation.to_yaml(&name))
        .with_context(|| format!("cannot write {}", beside.display()))?;
    writeln!(std::io::stdout(), "{}: {} frames", file.display(), clip.frames.len())?;
    Ok(())
}

fn print(args: &PoseArgs, motion: &Motion, phase: f64, place: &str, joints: &Pose40) -> Result<()> {
    let mut out = std::io::stdout().lock();
    if args.json {
        let by_name: Map<_, _> =
            Joint::NAMES.iter().zip(joints).map(|(name, value)| ((*name).to_owned(), json!(value))).collect();
        let positions = joints.to_vec();
        let line = match motion {
            Motion::Gesture { title, .. } => json!({
                "gesture": title, "at": args.at.unwrap_or(0.5 * GESTURE_S), "joints": by_name, "positions": positions,
            }),
            Motion::Gait { .. } => json!({
                "id": args.id, "steps": args.steps, "dt": args.dt, "speed": args.speed,
                "phase": phase, "joints": by_name, "positions": positions,
            }),
            Motion::Clip(clip) => json!({
                "clip": clip.name(), "duration": clip.duration(), "at": args.at.unwrap_or(0.5 * clip.duration()),
                "joints": by_name, "positions": positions,
            }),
        };
        writeln!(out, "{line}")?;
        return Ok(());
    }
    match motion {
        Motion::Gait { .. } => {
            writeln!(out, "phase {phase:.9} rad after {} steps of {} s", args.steps, args.dt)?;
        }
        Motion::Clip(_) | Motion::Gesture { .. } => writeln!(out, "{}, {place}", motion.title())?,
    }
    for (name, value) in Joint::NAMES.iter().zip(joints) {
        writeln!(out, "{name:>13} {value:>13.9} rad {:>8.2} deg", value.to_degrees())?;
    }
    Ok(())
}

/// Speeds that walks are measured at, m/s.
const SPEEDS: [f64; 3] = [0.8, 1.2, 1.6];

fn quality(args: &PoseArgs, rig: &Rig) -> Result<ExitCode> {
    let walks: Vec<(String, Arc<Gait>)> = match &args.profile {
        Some(name) => vec![(name.clone(), profile(args)?.walk)],
        None => ProfileLibrary::builtin()
            .iter()
            .filter(|(_, entry)| entry.profile.signals.iter().any(|(_, signal)| !signal.harmonics.is_empty()))
            .map(|(stem, entry)| (stem.to_owned(), Arc::clone(&entry.gait)))
            .collect(),
    };
    let mut out = std::io::stdout().lock();
    if !args.json {
        writeln!(
            out,
            "{:<15} {:>5} {:>8} {:>7} {:>9} {:>8} {:>9} {:>5} {:>5} {:>5}",
            "profile", "m/s", "cadence", "stride", "slide", "lowest", "floating", "hip", "knee", "ankle"
        )?;
        let units = ["", "", "Hz", "m", "m/step", "m", "m", "deg", "deg", "deg"];
        let [a, b, c, d, e, f, g, h, i, j] = units;
        writeln!(out, "{a:<15} {b:>5} {c:>8} {d:>7} {e:>9} {f:>8} {g:>9} {h:>5} {i:>5} {j:>5}")?;
    }
    for (name, gait) in walks {
        for speed in SPEEDS {
            let found = measure(&gait, speed, rig);
            let [hip, knee, ankle] = found.ranges.map(f64::to_degrees);
            let MotionQuality { cadence_hz, stride_m, slide_m, lowest_m, floating_m, .. } = found;
            if args.json {
                let line = json!({
                    "profile": name, "speed": speed, "cadence_hz": cadence_hz, "stride_m": stride_m,
                    "slide_m_per_step": slide_m, "lowest_m": lowest_m, "floating_m": floating_m,
                    "hip_deg": hip, "knee_deg": knee, "ankle_deg": ankle,
                });
                writeln!(out, "{line}")?;
            } else {
                writeln!(
                    out,
                    "{name:<15} {speed:>5.1} {cadence_hz:>8.3} {stride_m:>7.3} {slide_m:>9.4} {lowest_m:>8.4} \
                     {floating_m:>9.4} {hip:>5.1} {knee:>5.1} {ankle:>5.1}"
                )?;
            }
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn place(text: &str) -> Result<[f64; 3], String> {
    let numbers: Vec<f64> = text.split(',').filter_map(|part| part.trim().parse().ok()).collect();
    match <[f64; 3]>::try_from(numbers) {
        Ok(place) if text.split(',').count() == 3 && place.iter().all(|number| number.is_finite()) => {
            Ok(place)
        }
        _ => Err("expected three numbers in metres, such as 2,-1,0.5".to_owned()),
    }
}

fn is_file(name: &str) -> bool {
    name.contains('/') || Path::new(name).extension().is_some()
}

fn stem(path: &Path) -> String {
    path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

fn clip(name: &str) -> Result<Arc<Animation>> {
    if !is_file(name) {
        return Ok(ClipLibrary::builtin().get(name)?);
    }
    let path = Path::new(name);
    let data = ClipData::read(path, &Limits::default())?;
    let annotation = Annotation { looping: false, ..Annotation::default() };
    Ok(Arc::new(Animation::new(stem(path), &data.frames, data.joints(), &annotation, 0)?))
}

fn profile(args: &PoseArgs) -> Result<PoseProfile> {
    let mut profile = PoseProfile::default();
    let Some(name) = &args.profile else { return Ok(profile) };
    let library = ProfileLibrary::builtin();
    let gait = if is_file(name) {
        let path = Path::new(name);
        let text = std::fs::read_to_string(path).with_context(|| format!("cannot read {name}"))?;
        let source = ProfileSource { stem: stem(path), file: name.clone(), text };
        let library = ProfileLibrary::builtin_and([source])?;
        library.gait(&stem(path)).cloned()
    } else {
        library.gait(name).cloned()
    };
    let Some(gait) = gait else {
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
