//! What postures come from: a gait, a clip, or gestures over a gait. Nothing is drawn here.

use std::f64::consts::TAU;
use std::sync::Arc;

use anyhow::Result;
use promenade_gait::{
    ArticulationBatch, Articulator, Gait, GaitBatch, GaitInput, GaitOutput, GaitPool, JOINT_COUNT, JointSet,
    Pose40, PoseProfile, PoseTable,
    animation::Animation,
    clip::{Annotation, ClipData, DEFAULT_FPS},
    gesture::Channel,
};
use promenade_human::message::animation_state;

use crate::draw::{Figure, Stance};

/// Postures of a strip.
const STRIP: u32 = 8;
/// How long a gesture is shown, and when its channel is gone, seconds.
pub(super) const GESTURE_S: f64 = 3.0;
const GESTURE_ENDS_S: f64 = 2.0;

/// See the module.
pub(super) enum Motion {
    Gait {
        profile: PoseProfile,
        input: GaitInput,
        title: String,
    },
    Clip(Arc<Animation>),
    /// Postures at [`DEFAULT_FPS`].
    Gesture {
        title: String,
        postures: Vec<Pose40>,
    },
}

impl Motion {
    /// Ramp, hold and release of gestures over a gait, as everybody's posture is made.
    pub(super) fn gesture(
        id: u32,
        profile: PoseProfile,
        input: &GaitInput,
        title: String,
        channels: &[Channel<'_>],
    ) -> Result<Self> {
        let mut table = PoseTable::default();
        let kind = table.insert(profile);
        let mut articulator = Articulator::default();
        let mut postures = Vec::new();
        for tick in 0..(GESTURE_S * DEFAULT_FPS) as u32 {
            let lasts = f64::from(tick) < GESTURE_ENDS_S * DEFAULT_FPS;
            let channels = [if lasts { channels.to_vec() } else { Vec::new() }];
            let batch = ArticulationBatch {
                gait: GaitBatch {
                    ids: &[id],
                    states: &[input.state],
                    speeds: &[input.speed],
                    dts: &[1.0 / DEFAULT_FPS],
                    phase_overrides: &[f64::NAN],
                    poses: &[kind],
                },
                positions: &[[0.0; 3]],
                channels: channels.as_slice(),
            };
            let (mut poses, mut phases) = ([[0.0; JOINT_COUNT]], [0.0]);
            articulator.advance(
                &table,
                &batch,
                &mut GaitOutput { poses: &mut poses, phases: &mut phases },
            )?;
            postures.extend(poses);
        }
        Ok(Self::Gesture { title, postures })
    }

    pub(super) fn title(&self) -> String {
        match self {
            Self::Gait { title, .. } | Self::Gesture { title, .. } => title.clone(),
            Self::Clip(clip) => format!("clip {}, {:.2} s", clip.name(), clip.duration()),
        }
    }

    /// The posture at a fraction of the cycle or of the clip.
    pub(super) fn at(&self, fraction: f64) -> Figure {
        match self {
            Self::Gait { profile, input, .. } => {
                let input = GaitInput { phase_override: Some(fraction * TAU), ..*input };
                let mut posture = [0.0; JOINT_COUNT];
                GaitPool::default().advance_one(0, &input, profile, &mut posture);
                Figure { label: format!("{:.0}%", 100.0 * fraction), posture, stance: Stance::Hips }
            }
            Self::Clip(clip) => {
                let seconds = fraction * clip.duration();
                let mut posture = [0.0; JOINT_COUNT];
                clip.sample(seconds, &mut posture);
                let stance = Stance::Lowest(clip.lift(seconds));
                Figure { label: format!("{seconds:.2} s"), posture, stance }
            }
            Self::Gesture { postures, .. } => {
                let last = postures.len() - 1;
                let index = ((fraction * last as f64).round().max(0.0) as usize).min(last);
                let label = format!("{:.2} s", index as f64 / DEFAULT_FPS);
                Figure { label, posture: postures[index], stance: Stance::Hips }
            }
        }
    }

    pub(super) fn strip(&self) -> Vec<Figure> {
        if matches!(self, Self::Clip(clip) if clip.frames() == 1) {
            return vec![self.at(0.0)];
        }
        // A cycle ends where it began; a clip that is not one ends with its last frame.
        let last = match self {
            Self::Clip(clip) if !clip.looping() => STRIP - 1,
            Self::Gesture { .. } => STRIP - 1,
            _ => STRIP,
        };
        (0..STRIP).map(|index| self.at(f64::from(index) / f64::from(last))).collect()
    }

    /// Seconds of one cycle, and frames per second that show it.
    pub(super) fn timing(&self) -> (f64, f64) {
        match self {
            Self::Gait { profile, input, .. } => {
                let rate = |gait: &Gait| gait.step(input.speed, 1.0).abs() / TAU;
                let hz = match input.state {
                    animation_state::WALKING => rate(&profile.walk),
                    animation_state::RUNNING => rate(&profile.run),
                    _ => promenade_gait::IDLE_HZ,
                };
                // A gait that stands still is shown as if it took its time.
                (1.0 / hz.max(0.05), DEFAULT_FPS)
            }
            Self::Clip(clip) => (clip.duration(), clip.fps().min(25.0)),
            Self::Gesture { .. } => (GESTURE_S, DEFAULT_FPS),
        }
    }

    /// The motion as a clip with its annotation: a clip and a gesture as they are, a gait as if recorded for some seconds.
    pub(super) fn recorded(&self, id: u32, seconds: f64) -> (ClipData, Annotation) {
        match self {
            Self::Clip(clip) => (clip.to_clip(), clip.annotation()),
            Self::Gesture { postures, .. } => {
                let clip = ClipData::of_frames(postures.clone(), JointSet::ALL);
                (clip, Annotation { looping: false, ..Annotation::default() })
            }
            Self::Gait { profile, input, .. } => {
                let frames = (seconds * DEFAULT_FPS).round().max(1.0) as usize;
                let mut pool = GaitPool::default();
                let input = GaitInput { dt: 1.0 / DEFAULT_FPS, ..*input };
                let postures = (0..frames).map(|_| {
                    let mut posture = [0.0; JOINT_COUNT];
                    pool.advance_one(id, &input, profile, &mut posture);
                    posture
                });
                let (postures, t): (Vec<_>, Vec<_>) = postures
                    .zip(0..)
                    .map(|(posture, frame)| (posture, f64::from(frame) / DEFAULT_FPS))
                    .unzip();
                let clip = ClipData {
                    root_xy_yaw: Some(t.iter().map(|t| [input.speed * t, 0.0, 0.0]).collect()),
                    animation_state: Some(vec![i16::from(input.state); frames]),
                    t: Some(t),
                    ..ClipData::of_frames(postures, JointSet::ALL)
                };
                (clip, Annotation { looping: false, ..Annotation::default() })
            }
        }
    }
}
