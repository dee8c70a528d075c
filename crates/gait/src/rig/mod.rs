//! The body as a URDF describes it: 43 links, 42 joints, forward kinematics.
//!
//! The table is the Arena rig of the ROS4HRI projection's specification, section 4.2, with lengths as multiples of
//! u = height / 7.5. Every joint origin has zero rotation, so all frames are body-aligned at rest. Angles here are
//! *URDF* values; [`wire_to_urdf`] makes them from the wire's. Nothing in here may allocate except [`Rig::urdf`].

mod bones;
mod shoulder;
mod transform;
mod urdf;

pub use bones::{BALL_COUNT, BONE_COUNT, Bone, BoneClass};
pub use shoulder::{shoulder_to_urdf, wire_to_urdf, wire_to_urdf_where};
pub use transform::{Matrix, Point, Transform};

use crate::joint::{JOINT_COUNT, Joint, Pose40};

/// Links of the rig.
pub const LINK_COUNT: usize = 43;
/// Joints of the rig, the two fixed ones included.
pub const RIG_JOINT_COUNT: usize = 42;
/// Height of the model when nothing else is known, metres.
pub const DEFAULT_HEIGHT: f64 = 1.65;

/// Body heights of one unit length u.
const UNITS_PER_HEIGHT: f64 = 7.5;
/// A third of the torso, in u.
const THIRD: f64 = 2.75 / 3.0;
const NONE: [f64; 3] = [0.0; 3];

struct Row {
    name: &'static str,
    parent: &'static str,
    child: &'static str,
    /// Origin in the parent link, in u.
    offset: [f64; 3],
}

const fn row(name: &'static str, parent: &'static str, child: &'static str, offset: [f64; 3]) -> Row {
    Row { name, parent, child, offset }
}

/// Parents stand before their children.
static TABLE: [Row; RIG_JOINT_COUNT] = [
    row("r_waist", "body", "r_waist", NONE),
    row("y_waist", "r_waist", "y_waist", NONE),
    row("waist", "y_waist", "waist", NONE),
    row("r_spine", "waist", "r_spine", [0.0, 0.0, THIRD]),
    row("y_spine", "r_spine", "y_spine", NONE),
    row("spine", "y_spine", "spine", NONE),
    row("r_chest", "spine", "r_chest", [0.0, 0.0, THIRD]),
    row("y_chest", "r_chest", "y_chest", NONE),
    row("chest", "y_chest", "chest", NONE),
    row("torso", "chest", "torso", [0.0, 0.0, THIRD]),
    row("r_head", "torso", "r_head", [0.0, 0.0, 0.25]),
    row("y_head", "r_head", "y_head", NONE),
    row("p_head", "y_head", "p_head", NONE),
    row("head", "p_head", "head", [0.25, 0.0, 0.5]),
    row("l_y_collar", "torso", "l_y_collar", NONE),
    row("l_p_collar", "l_y_collar", "l_p_collar", NONE),
    row("l_y_shoulder", "l_p_collar", "l_y_shoulder", [0.0, 0.8, 0.0]),
    row("l_p_shoulder", "l_y_shoulder", "l_p_shoulder", NONE),
    row("l_r_shoulder", "l_p_shoulder", "l_shoulder", NONE),
    row("l_elbow", "l_shoulder", "l_elbow", [0.0, 0.0, -1.6]),
    row("l_r_wrist", "l_elbow", "l_r_wrist", [0.0, 0.0, -1.0]),
    row("l_wrist", "l_r_wrist", "l_wrist", NONE),
    row("r_y_collar", "torso", "r_y_collar", NONE),
    row("r_p_collar", "r_y_collar", "r_p_collar", NONE),
    row("r_y_shoulder", "r_p_collar", "r_y_shoulder", [0.0, -0.8, 0.0]),
    row("r_p_shoulder", "r_y_shoulder", "r_p_shoulder", NONE),
    row("r_r_shoulder", "r_p_shoulder", "r_shoulder", NONE),
    row("r_elbow", "r_shoulder", "r_elbow", [0.0, 0.0, -1.6]),
    row("r_r_wrist", "r_elbow", "r_r_wrist", [0.0, 0.0, -1.0]),
    row("r_wrist", "r_r_wrist", "r_wrist", NONE),
    row("l_y_hip", "body", "l_y_hip", [0.0, 0.6, 0.0]),
    row("l_p_hip", "l_y_hip", "l_p_hip", NONE),
    row("l_r_hip", "l_p_hip", "l_hip", NONE),
    row("l_knee", "l_hip", "l_knee", [0.0, 0.0, -1.5]),
    row("l_y_ankle", "l_knee", "l_y_ankle", [0.0, 0.0, -2.0]),
    row("l_ankle", "l_y_ankle", "l_ankle", NONE),
    row("r_y_hip", "body", "r_y_hip", [0.0, -0.6, 0.0]),
    row("r_p_hip", "r_y_hip", "r_p_hip", NONE),
    row("r_r_hip", "r_p_hip", "r_hip", NONE),
    row("r_knee", "r_hip", "r_knee", [0.0, 0.0, -1.5]),
    row("r_y_ankle", "r_knee", "r_y_ankle", [0.0, 0.0, -2.0]),
    row("r_ankle", "r_y_ankle", "r_ankle", NONE),
];

const fn same(a: &str, b: &str) -> bool {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    if a.len() != b.len() {
        return false;
    }
    let mut index = 0;
    while index < a.len() {
        if a[index] != b[index] {
            return false;
        }
        index += 1;
    }
    true
}

/// A link of the rig; `body`, the root between the hips, is the first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Link(u8);

impl Link {
    /// The root link, between the hips.
    pub const BODY: Self = Self(0);
    /// The shoulder line.
    pub const TORSO: Self = Self::named("torso");
    /// The eye height, in front of the skull centre.
    pub const HEAD: Self = Self::named("head");

    const fn named(name: &str) -> Self {
        if same(name, "body") {
            return Self(0);
        }
        let mut index = 0;
        while index < RIG_JOINT_COUNT {
            if same(TABLE[index].child, name) {
                return Self(index as u8 + 1);
            }
            index += 1;
        }
        panic!("no such link")
    }

    /// All links, parents before children.
    pub fn all() -> impl Iterator<Item = Self> {
        (0..LINK_COUNT as u8).map(Self)
    }

    /// The link of that bare name.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        Self::all().find(|link| link.name() == name)
    }

    /// Position in [`Frames`].
    #[must_use]
    pub const fn index(self) -> usize {
        self.0 as usize
    }

    /// Bare name, without body suffix.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self.0 {
            0 => "body",
            index => TABLE[index as usize - 1].child,
        }
    }
}

/// A joint of the rig.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RigJoint {
    /// Bare name.
    pub name: &'static str,
    /// The joint of the contract that turns it, `None` for the two fixed ones.
    pub joint: Option<Joint>,
    /// Link it hangs on.
    pub parent: Link,
    /// Link it carries.
    pub child: Link,
}

/// The 42 joints, parents before children; the child of the n-th is link n + 1.
pub static RIG_JOINTS: [RigJoint; RIG_JOINT_COUNT] = {
    let mut joints =
        [RigJoint { name: "", joint: None, parent: Link::BODY, child: Link::BODY }; RIG_JOINT_COUNT];
    let mut index = 0;
    while index < RIG_JOINT_COUNT {
        let mut joint = None;
        let mut wire = 0;
        while wire < JOINT_COUNT {
            if same(Joint::NAMES[wire], TABLE[index].name) {
                joint = Some(Joint::ALL[wire]);
            }
            wire += 1;
        }
        let parent = Link::named(TABLE[index].parent);
        assert!(parent.index() <= index, "a parent stands after its child");
        joints[index] = RigJoint { name: TABLE[index].name, joint, parent, child: Link(index as u8 + 1) };
        index += 1;
    }
    joints
};

/// Where every link is.
#[derive(Debug, Clone, PartialEq)]
pub struct Frames {
    origins: [Point; LINK_COUNT],
    rotations: [Matrix; LINK_COUNT],
}

impl Default for Frames {
    fn default() -> Self {
        Self { origins: [[0.0; 3]; LINK_COUNT], rotations: [Matrix::IDENTITY; LINK_COUNT] }
    }
}

impl Frames {
    /// Origin of a link in metres.
    #[must_use]
    pub fn origin(&self, link: Link) -> Point {
        self.origins[link.index()]
    }

    /// Rotation of a link.
    #[must_use]
    pub fn rotation(&self, link: Link) -> &Matrix {
        &self.rotations[link.index()]
    }

    /// A point given in a link's frame.
    #[must_use]
    pub fn point(&self, link: Link, local: Point) -> Point {
        let [x, y, z] = self.origin(link);
        let [dx, dy, dz] = self.rotation(link).apply(local);
        [x + dx, y + dy, z + dz]
    }
}

/// The rig at a body height.
#[derive(Debug, Clone, PartialEq)]
pub struct Rig {
    height: f64,
    offsets: [Point; RIG_JOINT_COUNT],
}

impl Default for Rig {
    fn default() -> Self {
        Self::scaled(DEFAULT_HEIGHT)
    }
}

impl Rig {
    /// A rig of that height in metres, `None` unless it is finite and above 0.
    #[must_use]
    pub fn new(height: f64) -> Option<Self> {
        (height.is_finite() && height > 0.0).then(|| Self::scaled(height))
    }

    fn scaled(height: f64) -> Self {
        let unit = height / UNITS_PER_HEIGHT;
        let mut offsets = [[0.0; 3]; RIG_JOINT_COUNT];
        for (offset, row) in offsets.iter_mut().zip(&TABLE) {
            *offset = row.offset.map(|length| length * unit);
        }
        Self { height, offsets }
    }

    /// Body height, metres.
    #[must_use]
    pub fn height(&self) -> f64 {
        self.height
    }

    /// The unit length u = height / 7.5, metres.
    #[must_use]
    pub fn unit(&self) -> f64 {
        self.height / UNITS_PER_HEIGHT
    }

    /// Height of `body` above the soles of a standing person, metres: thigh and shin, 3.5 u.
    #[must_use]
    pub fn hip_height(&self) -> f64 {
        3.5 * self.unit()
    }

    /// Radius of the head, metres.
    #[must_use]
    pub fn head_radius(&self) -> f64 {
        self.unit() / 2.0
    }

    /// Centre of the skull in the frame of `head`.
    #[must_use]
    pub fn skull_offset(&self) -> Point {
        [-self.head_radius() / 2.0, 0.0, 0.0]
    }

    /// Midpoint of the eyes in the frame of `head`.
    #[must_use]
    pub fn eye_offset(&self) -> Point {
        [0.4 * self.head_radius(), 0.0, 0.0]
    }

    /// Origin of the n-th joint of [`RIG_JOINTS`] in its parent link, metres.
    #[must_use]
    pub fn offset(&self, joint: usize) -> Point {
        self.offsets[joint]
    }

    /// Transforms from parent to child link of all joints in the order of [`RIG_JOINTS`], for URDF values in wire
    /// order. A value that is not finite counts as 0.
    pub fn transforms(&self, urdf: &Pose40, out: &mut [Transform; RIG_JOINT_COUNT]) {
        for ((out, joint), offset) in out.iter_mut().zip(&RIG_JOINTS).zip(&self.offsets) {
            let rotation = match joint.joint {
                Some(joint) => transform::quaternion_about(joint.axis(), usable(urdf[joint.index()])),
                None => Transform::IDENTITY.rotation,
            };
            *out = Transform { translation: *offset, rotation };
        }
    }

    /// Forward kinematics for URDF values in wire order: all links in the frame that `root` places `body` in
    /// ([`Transform::IDENTITY`] gives the body frame). A value that is not finite counts as 0.
    pub fn forward(&self, root: &Transform, urdf: &Pose40, out: &mut Frames) {
        out.origins[0] = root.translation;
        out.rotations[0] = Matrix::from_quaternion(root.rotation);
        for (index, (joint, offset)) in RIG_JOINTS.iter().zip(&self.offsets).enumerate() {
            let parent = joint.parent;
            let origin = if *offset == NONE { out.origin(parent) } else { out.point(parent, *offset) };
            let mut rotation = *out.rotation(parent);
            if let Some(joint) = joint.joint {
                rotation.turn(joint.axis(), usable(urdf[joint.index()]));
            }
            out.origins[index + 1] = origin;
            out.rotations[index + 1] = rotation;
        }
    }
}

fn usable(angle: f64) -> f64 {
    if angle.is_finite() { angle } else { 0.0 }
}
