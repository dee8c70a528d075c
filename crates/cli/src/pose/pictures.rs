//! Motions as moving pictures and as one sheet of everything that ships.

use std::path::Path;

use anyhow::Result;
use promenade_gait::{GaitInput, PoseProfile, clip::ClipLibrary, gesture::Channel, rig::Rig};
use promenade_human::message::animation_state;

use super::motion::Motion;
use crate::draw::{sheet, write_gif};

/// A longer motion is shown up to here, seconds.
const LONGEST_S: f64 = 60.0;

/// One cycle of a motion as a GIF.
pub(super) fn moving(rig: &Rig, motion: &Motion, path: &Path) -> Result<()> {
    let (seconds, fps) = motion.timing();
    let frames = (seconds.min(LONGEST_S) * fps).round().max(1.0);
    let fps = frames / seconds.min(LONGEST_S);
    let title = motion.title();
    let postures = (0..frames as u32).map(|index| {
        let figure = motion.at(f64::from(index) / (fps * seconds));
        sheet::moving(rig, &title, &figure)
    });
    write_gif(path, fps, postures)
}

/// Every shipped clip and every kind of gesture, eight postures each.
pub(super) fn everything(rig: &Rig, path: &Path) -> Result<()> {
    let mut library = ClipLibrary::builtin();
    let names: Vec<String> = library.names().map(str::to_owned).collect();
    let mut motions = Vec::new();
    for name in names {
        motions.push(Motion::Clip(library.get(&name)?));
    }
    for (title, walking, channel) in gestures() {
        let (state, speed) =
            if walking { (animation_state::WALKING, 1.2) } else { (animation_state::IDLE, 0.0) };
        let input = GaitInput { state, speed, dt: 0.05, phase_override: None };
        motions.push(Motion::gesture(0, PoseProfile::default(), &input, title.to_owned(), &[channel])?);
    }
    let rows: Vec<_> = motions.iter().map(|motion| (motion.title(), motion.strip())).collect();
    sheet::contact(rig, "the shipped clips and gestures", &rows)?.write_png(path)
}

/// What is asked for, whether the person walks, and the channel.
fn gestures() -> impl Iterator<Item = (&'static str, bool, Channel<'static>)> {
    let at = |slot, at| Channel { slot, at, ..Channel::default() };
    [
        ("look up to the left", false, at("head", [1.0, 1.0, 2.4])),
        ("look down to the right", false, at("head", [1.0, -0.8, 0.4])),
        ("point ahead", false, at("arm", [3.0, 0.0, 1.3])),
        ("point to the left", false, at("arm", [0.5, 3.0, 1.2])),
        ("point to the left with the right arm", false, at("arm_r", [1.5, 3.0, 1.2])),
        ("point to the right with the left arm", false, at("arm_l", [1.5, -3.0, 1.2])),
        ("point behind", false, at("arm", [-3.0, -2.0, 1.2])),
        ("point up", false, at("arm", [1.0, -0.5, 3.5])),
        ("point at the floor", false, at("arm", [0.8, -0.6, 0.0])),
        ("point while walking", true, at("arm", [3.0, -2.0, 1.2])),
        ("wave while walking", true, Channel { slot: "body", clip: "wave", ..Channel::default() }),
    ]
    .into_iter()
}
