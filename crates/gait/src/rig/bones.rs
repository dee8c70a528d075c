//! The body as bones: line segments and capsules for displays that know no URDF (ROS4HRI projection, section 9.2).

use super::{DEFAULT_HEIGHT, Frames, Link, Point, Rig, Transform};

/// Bones of a body.
pub const BONE_COUNT: usize = 21;
/// Joint balls of a body.
pub const BALL_COUNT: usize = 17;

/// Bones shorter than this have no direction, metres.
const SHORTEST: f64 = 1e-3;

/// Bones of one thickness.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum BoneClass {
    /// Spine, shoulder and hip bars.
    Trunk,
    /// Upper arm and forearm.
    Arm,
    /// Thigh.
    Thigh,
    /// Shin.
    Shin,
    /// Hand, foot and neck.
    Extremity,
}

impl BoneClass {
    /// All classes, in the order of the cap lists.
    pub const ALL: [Self; 5] = [Self::Trunk, Self::Arm, Self::Thigh, Self::Shin, Self::Extremity];

    /// Capsule radius at a height of 1.65 m, metres.
    #[must_use]
    pub const fn radius(self) -> f64 {
        match self {
            Self::Trunk => 0.11,
            Self::Arm => 0.045,
            Self::Thigh => 0.075,
            Self::Shin => 0.055,
            Self::Extremity => 0.04,
        }
    }
}

/// A segment of the body in the frame the [`Frames`] are in.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bone {
    /// Thickness class.
    pub class: BoneClass,
    /// One end, metres.
    pub from: Point,
    /// The other end, metres.
    pub to: Point,
    /// Capsule radius of this body, metres.
    pub radius: f64,
}

impl Bone {
    /// Length in metres.
    #[must_use]
    pub fn length(&self) -> f64 {
        let [x, y, z] = self.direction();
        x.hypot(y).hypot(z)
    }

    fn direction(&self) -> Point {
        std::array::from_fn(|axis| self.to[axis] - self.from[axis])
    }

    /// The frame of a cylinder along the bone: origin in the middle, z along it by the shortest arc. `None` for a bone
    /// without direction: shorter than a millimetre, or with an end that is not finite.
    #[must_use]
    pub fn cylinder(&self) -> Option<Transform> {
        let length = self.length();
        if !length.is_finite() || length < SHORTEST {
            return None;
        }
        let [x, y, z] = self.direction().map(|component| component / length);
        // Half way between +z and the bone. A leg hangs close to -z, where 1 + z would cancel, so it is taken from the
        // part across; straight down has no half way, and any axis across serves.
        let across = x.hypot(y);
        let up = if z < 0.0 { across * across / (1.0 - z) } else { 1.0 + z };
        let norm = across.hypot(up);
        let rotation =
            if norm < 1e-150 { [1.0, 0.0, 0.0, 0.0] } else { [-y / norm, x / norm, 0.0, up / norm] };
        let translation = std::array::from_fn(|axis| 0.5 * (self.from[axis] + self.to[axis]));
        Some(Transform { translation, rotation })
    }
}

type Segment = (BoneClass, Link, Link, Point);
const HERE: Point = [0.0; 3];
const FINGERTIP: Point = [0.0, 0.0, -0.10];
const TOE: Point = [0.15, 0.0, 0.0];

const fn bone(class: BoneClass, from: &str, to: &str) -> Segment {
    (class, Link::named(from), Link::named(to), HERE)
}

const fn tip(from: &str, offset: Point) -> Segment {
    (BoneClass::Extremity, Link::named(from), Link::named(from), offset)
}

/// Tips reach to an offset in the frame of their own link; their length does not scale with the body.
static SEGMENTS: [Segment; BONE_COUNT] = [
    bone(BoneClass::Trunk, "waist", "spine"),
    bone(BoneClass::Trunk, "spine", "chest"),
    bone(BoneClass::Trunk, "chest", "torso"),
    bone(BoneClass::Extremity, "torso", "r_head"),
    bone(BoneClass::Extremity, "r_head", "head"),
    bone(BoneClass::Trunk, "torso", "l_shoulder"),
    bone(BoneClass::Arm, "l_shoulder", "l_elbow"),
    bone(BoneClass::Arm, "l_elbow", "l_wrist"),
    tip("l_wrist", FINGERTIP),
    bone(BoneClass::Trunk, "torso", "r_shoulder"),
    bone(BoneClass::Arm, "r_shoulder", "r_elbow"),
    bone(BoneClass::Arm, "r_elbow", "r_wrist"),
    tip("r_wrist", FINGERTIP),
    bone(BoneClass::Trunk, "body", "l_hip"),
    bone(BoneClass::Thigh, "l_hip", "l_knee"),
    bone(BoneClass::Shin, "l_knee", "l_ankle"),
    tip("l_ankle", TOE),
    bone(BoneClass::Trunk, "body", "r_hip"),
    bone(BoneClass::Thigh, "r_hip", "r_knee"),
    bone(BoneClass::Shin, "r_knee", "r_ankle"),
    tip("r_ankle", TOE),
];

static BALLS: [Link; BALL_COUNT] = [
    Link::BODY,
    Link::named("spine"),
    Link::named("chest"),
    Link::TORSO,
    Link::named("r_head"),
    Link::named("l_shoulder"),
    Link::named("l_elbow"),
    Link::named("l_wrist"),
    Link::named("r_shoulder"),
    Link::named("r_elbow"),
    Link::named("r_wrist"),
    Link::named("l_hip"),
    Link::named("l_knee"),
    Link::named("l_ankle"),
    Link::named("r_hip"),
    Link::named("r_knee"),
    Link::named("r_ankle"),
];

impl Rig {
    /// The bones of a body in a fixed order.
    #[must_use]
    pub fn bones(&self, frames: &Frames) -> [Bone; BONE_COUNT] {
        let scale = self.height() / DEFAULT_HEIGHT;
        std::array::from_fn(|index| {
            let (class, from, to, offset) = SEGMENTS[index];
            Bone {
                class,
                from: frames.origin(from),
                to: frames.point(to, offset),
                radius: class.radius() * scale,
            }
        })
    }

    /// Centres of the joint balls in a fixed order.
    #[must_use]
    pub fn balls(&self, frames: &Frames) -> [Point; BALL_COUNT] {
        std::array::from_fn(|index| frames.origin(BALLS[index]))
    }

    /// Centre of the skull.
    #[must_use]
    pub fn skull(&self, frames: &Frames) -> Point {
        frames.point(Link::HEAD, self.skull_offset())
    }
}
