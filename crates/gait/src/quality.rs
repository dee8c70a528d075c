//! How well a gait fits the floor: sliding, height of the feet, ranges of motion.
//!
//! Everything comes from forward kinematics on a body that moves at a steady speed with its hips at the rig's height, as
//! consumers of the posture draw it. This module measures and never changes a gait.

use std::f64::consts::TAU;

use crate::{
    gait::Gait,
    joint::{JOINT_COUNT, Joint, Pose40},
    rig::{Frames, Link, Point, Rig, Transform, wire_to_urdf},
};

/// Rear end of the sole in the frame of the ankle, metres.
pub const HEEL: Point = [-0.06, 0.0, -0.05];
/// Front end of the sole in the frame of the ankle, metres.
pub const TOE: Point = [0.18, 0.0, -0.05];
const SAMPLES: u32 = 1440;

/// What a gait does at one speed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MotionQuality {
    /// Speed, m/s.
    pub speed: f64,
    /// Cycles per second.
    pub cadence_hz: f64,
    /// Length of a cycle (two steps) on the floor, metres.
    pub stride_m: f64,
    /// Path over the floor of whatever point of the soles is lowest, per step, metres. 0 is a foot that stands still.
    pub slide_m: f64,
    /// Lowest point of both soles over the cycle against the soles of a standing person, metres; below 0 is under the
    /// floor.
    pub lowest_m: f64,
    /// Highest that the lower sole's lowest point gets, metres; above 0 neither foot touches the floor then.
    pub floating_m: f64,
    /// Largest minus smallest angle of left hip, knee and ankle, radians.
    pub ranges: [f64; 3],
}

/// Measures a walk at a speed in m/s. A gait that does not move at that speed slides as far as the body goes in a second.
#[must_use]
pub fn measure(gait: &Gait, speed: f64, rig: &Rig) -> MotionQuality {
    let cadence_hz = gait.step(speed, 1.0).abs() / TAU;
    let seconds = if cadence_hz > 0.0 { 1.0 / cadence_hz } else { 2.0 };
    let mut ranges = [[f64::INFINITY, f64::NEG_INFINITY]; 3];
    let mut posture: Pose40 = [0.0; JOINT_COUNT];
    let mut frames = Frames::default();
    let standing = rig.hip_height() - HEEL[2];
    let mut soles = |index: u32| -> [Point; 4] {
        let fraction = f64::from(index) / f64::from(SAMPLES);
        let phase = (TAU * fraction).copysign(speed);
        gait.at_speed(if cadence_hz > 0.0 { phase } else { 0.0 }, speed, &mut posture);
        for (range, joint) in ranges.iter_mut().zip([Joint::LRHip, Joint::LKnee, Joint::LAnkle]) {
            let value = posture[joint.index()];
            *range = [range[0].min(value), range[1].max(value)];
        }
        let root =
            Transform { translation: [speed * seconds * fraction, 0.0, standing], ..Transform::IDENTITY };
        rig.forward(&root, &wire_to_urdf(&posture), &mut frames);
        let ankles = [ANKLES[0], ANKLES[1]].map(|name| Link::parse(name).unwrap_or(Link::BODY));
        [(0, HEEL), (0, TOE), (1, HEEL), (1, TOE)].map(|(side, point)| frames.point(ankles[side], point))
    };
    let (mut path, mut lowest, mut floating) = (0.0, f64::INFINITY, f64::NEG_INFINITY);
    let mut before = soles(0);
    for index in 1..=SAMPLES {
        let after = soles(index);
        let [from, to] = (0..before.len())
            .map(|point| [before[point], after[point]])
            .min_by(|a, b| a[0][2].total_cmp(&b[0][2]))
            .unwrap_or_default();
        path += (to[0] - from[0]).hypot(to[1] - from[1]);
        lowest = from[2].min(lowest);
        floating = from[2].max(floating);
        before = after;
    }
    MotionQuality {
        speed,
        cadence_hz,
        stride_m: speed.abs() * seconds,
        slide_m: 0.5 * path,
        lowest_m: lowest,
        floating_m: floating,
        ranges: ranges.map(|[lo, hi]| hi - lo),
    }
}

const ANKLES: [&str; 2] = ["l_ankle", "r_ankle"];

/// Cycles per second of an adult at a speed in m/s, by the log-log law of Grieve and Gear (Ergonomics 9, 1966): 64.8 cycles a
/// minute at one stature per second, exponent 0.57.
#[must_use]
pub fn adult_cadence_hz(speed: f64, height: f64) -> f64 {
    64.8 / 60.0 * (speed.abs() / height).powf(0.57)
}
