//! The joint contract: 40 joints, their names, wire order, axes and limits (human-layer specification, section 8).
//!
//! Everything that speaks about a posture speaks in this order. This module must never know how a value came to be
//! (gait, clip, gesture or possession) and never clamps on its own: limits are for generators to apply.

use std::fmt;

/// Number of joints in the contract.
pub const JOINT_COUNT: usize = 40;

/// One posture: wire values in radians, in the order of [`Joint::ALL`].
pub type Pose40 = [f64; JOINT_COUNT];

/// A signed coordinate axis of a body-aligned frame (x forward, y left, z up).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Axis {
    /// +x, forward.
    PX,
    /// -x.
    NX,
    /// +y, left.
    PY,
    /// -y.
    NY,
    /// +z, up.
    PZ,
    /// -z.
    NZ,
}

impl Axis {
    /// The axis as a unit vector (x, y, z).
    #[must_use]
    pub const fn vector(self) -> [f64; 3] {
        match self {
            Self::PX => [1.0, 0.0, 0.0],
            Self::NX => [-1.0, 0.0, 0.0],
            Self::PY => [0.0, 1.0, 0.0],
            Self::NY => [0.0, -1.0, 0.0],
            Self::PZ => [0.0, 0.0, 1.0],
            Self::NZ => [0.0, 0.0, -1.0],
        }
    }
}

/// Which half of the body a joint belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Side {
    /// Torso and head.
    Middle,
    /// The person's left.
    Left,
    /// The person's right.
    Right,
}

macro_rules! contract {
    ($($(#[$doc:meta])* $variant:ident $name:literal $axis:ident [$lo:literal, $hi:literal],)*) => {
        /// A joint of the contract; the discriminant is its position on the wire.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u8)]
        pub enum Joint {
            $($(#[$doc])* $variant,)*
        }

        impl Joint {
            /// All joints in wire order.
            pub const ALL: [Self; JOINT_COUNT] = [$(Self::$variant,)*];
            /// Bare names in wire order.
            pub const NAMES: [&'static str; JOINT_COUNT] = [$($name,)*];
            /// Wire (generator) limits `[lo, hi]` in radians, in wire order.
            pub const WIRE_LIMITS: [[f64; 2]; JOINT_COUNT] = [$([$lo, $hi],)*];
            const AXES: [Axis; JOINT_COUNT] = [$(Axis::$axis,)*];
        }
    };
}

contract! {
    /// Lumbar roll.
    RWaist "r_waist" PX [-0.6, 0.6],
    /// Lumbar yaw.
    YWaist "y_waist" PZ [-0.8, 0.8],
    /// Lumbar forward lean.
    Waist "waist" PY [-0.2, 1.0],
    /// Mid-spine roll, local to the segment below.
    RSpine "r_spine" PX [-0.3, 0.3],
    /// Mid-spine yaw.
    YSpine "y_spine" PZ [-0.4, 0.4],
    /// Mid-spine lean.
    Spine "spine" PY [-0.1, 0.5],
    /// Chest roll.
    RChest "r_chest" PX [-0.3, 0.3],
    /// Chest yaw.
    YChest "y_chest" PZ [-0.4, 0.4],
    /// Chest lean.
    Chest "chest" PY [-0.1, 0.5],
    /// Head roll.
    RHead "r_head" PX [-1.0, 1.0],
    /// Head yaw, left positive.
    YHead "y_head" PZ [-1.4, 1.4],
    /// Head pitch, up positive.
    PHead "p_head" NY [-1.5, 1.5],
    /// Left protraction, forward positive.
    LYCollar "l_y_collar" NZ [-0.5, 0.5],
    /// Left shrug, up positive.
    LPCollar "l_p_collar" PX [-0.2, 0.6],
    /// Left arm azimuth.
    LYShoulder "l_y_shoulder" NZ [-3.1, 3.1],
    /// Left arm flexion, forward positive.
    LPShoulder "l_p_shoulder" PX [-1.0, 3.3],
    /// Left arm twist about the limb.
    LRShoulder "l_r_shoulder" PZ [-1.6, 1.6],
    /// Left elbow flexion.
    LElbow "l_elbow" NY [0.0, 2.5],
    /// Right protraction, forward positive.
    RYCollar "r_y_collar" PZ [-0.5, 0.5],
    /// Right shrug, up positive.
    RPCollar "r_p_collar" NX [-0.2, 0.6],
    /// Right arm azimuth.
    RYShoulder "r_y_shoulder" PZ [-3.1, 3.1],
    /// Right arm flexion, forward positive.
    RPShoulder "r_p_shoulder" NX [-1.0, 3.3],
    /// Right arm twist about the limb.
    RRShoulder "r_r_shoulder" NZ [-1.6, 1.6],
    /// Right elbow flexion.
    RElbow "r_elbow" NY [0.0, 2.5],
    /// Left hip yaw.
    LYHip "l_y_hip" NZ [-0.1, 0.6],
    /// Left hip abduction, outward positive.
    LPHip "l_p_hip" PX [-0.4, 3.3],
    /// Left leg sagittal swing, forward positive.
    LRHip "l_r_hip" NY [-0.4, 0.7],
    /// Left knee, flexed is negative.
    LKnee "l_knee" NY [-2.5, 0.0],
    /// Right hip yaw.
    RYHip "r_y_hip" NZ [-0.1, 0.6],
    /// Right hip abduction, outward positive.
    RPHip "r_p_hip" NX [-0.4, 3.3],
    /// Right leg sagittal swing, forward positive.
    RRHip "r_r_hip" NY [-0.4, 0.7],
    /// Right knee, flexed is negative.
    RKnee "r_knee" NY [-2.5, 0.0],
    /// Left foot yaw, applied before the ankle.
    LYAnkle "l_y_ankle" NZ [-0.6, 0.6],
    /// Left dorsiflexion positive.
    LAnkle "l_ankle" NY [-0.9, 0.6],
    /// Right foot yaw, applied before the ankle.
    RYAnkle "r_y_ankle" NZ [-0.6, 0.6],
    /// Right dorsiflexion positive.
    RAnkle "r_ankle" NY [-0.9, 0.6],
    /// Left forearm pronation, palm backward positive.
    LRWrist "l_r_wrist" NZ [-1.4, 1.4],
    /// Left hand extension positive.
    LWrist "l_wrist" PX [-1.3, 1.3],
    /// Right forearm pronation, palm backward positive.
    RRWrist "r_r_wrist" PZ [-1.4, 1.4],
    /// Right hand extension positive.
    RWrist "r_wrist" NX [-1.3, 1.3],
}

impl Joint {
    /// Position on the wire, 0..40.
    #[must_use]
    pub const fn index(self) -> usize {
        self as usize
    }

    /// The joint at a wire position, `None` from 40 on.
    #[must_use]
    pub fn from_index(index: usize) -> Option<Self> {
        Self::ALL.get(index).copied()
    }

    /// Bare name, without body suffix.
    #[must_use]
    pub const fn name(self) -> &'static str {
        Self::NAMES[self as usize]
    }

    /// The joint of that bare name. One multiplication-free hash and one comparison: message names are parsed with it
    /// every tick.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        let slot = BY_HASH[name_hash(name.as_bytes())?];
        let joint = Self::from_index(usize::from(slot))?;
        (joint.name() == name).then_some(joint)
    }

    /// Rotation axis of the URDF joint in its parent link.
    #[must_use]
    pub const fn axis(self) -> Axis {
        Self::AXES[self as usize]
    }

    /// Limits `[lo, hi]` that generators clamp to, radians.
    #[must_use]
    pub const fn wire_limits(self) -> [f64; 2] {
        Self::WIRE_LIMITS[self as usize]
    }

    /// Limits `[lo, hi]` the URDF declares, radians. They differ from the wire limits only for the shoulder triples,
    /// whose URDF angles are another parametrisation of the same rotation.
    #[must_use]
    pub const fn urdf_limits(self) -> [f64; 2] {
        match self {
            Self::LYShoulder | Self::RYShoulder => [-1.1, 1.9],
            Self::LPShoulder | Self::RPShoulder => [-0.4, 3.3],
            Self::LRShoulder | Self::RRShoulder => [-1.7, 1.5],
            other => other.wire_limits(),
        }
    }

    /// Half of the body the joint moves. `r_waist` and its kin are rolls of the middle, not joints of the right side.
    #[must_use]
    pub const fn side(self) -> Side {
        match self as u8 {
            0..=11 => Side::Middle,
            12..=17 | 24..=27 | 32 | 33 | 36 | 37 => Side::Left,
            _ => Side::Right,
        }
    }

    /// The same joint of the other side, `None` for torso and head.
    #[must_use]
    pub fn partner(self) -> Option<Self> {
        let index = self.index();
        Self::from_index(match index {
            0..=11 => return None,
            12..=17 => index + 6,
            18..=23 => index - 6,
            24..=27 => index + 4,
            28..=31 => index - 4,
            32 | 33 | 36 | 37 => index + 2,
            _ => index - 2,
        })
    }

    /// The contract name most like `word`, for error messages.
    #[must_use]
    pub fn nearest_name(word: &str) -> Option<&'static str> {
        crate::nearest::nearest(word, &Self::NAMES)
    }
}

impl fmt::Display for Joint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

const HASH_SLOTS: usize = 128;
const EMPTY: u8 = u8::MAX;

/// Collision-free over the 40 names; the build of [`BY_HASH`] fails if it ever is not.
const fn name_hash(name: &[u8]) -> Option<usize> {
    let len = name.len();
    if len < 5 || len > 12 {
        return None;
    }
    let sum =
        name[0] as usize + name[2] as usize + 17 * name[len / 2] as usize + name[len - 1] as usize + 7 * len;
    Some(sum % HASH_SLOTS)
}

static BY_HASH: [u8; HASH_SLOTS] = {
    let mut table = [EMPTY; HASH_SLOTS];
    let mut index = 0;
    while index < JOINT_COUNT {
        let Some(slot) = name_hash(Joint::NAMES[index].as_bytes()) else {
            panic!("a joint name has an unexpected length")
        };
        assert!(table[slot] == EMPTY, "two joint names share a hash");
        table[slot] = index as u8;
        index += 1;
    }
    table
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_round_trip_in_wire_order() {
        for (index, joint) in Joint::ALL.into_iter().enumerate() {
            assert_eq!(joint.index(), index);
            assert_eq!(Joint::from_index(index), Some(joint));
            assert_eq!(Joint::parse(joint.name()), Some(joint));
        }
        assert_eq!(Joint::from_index(JOINT_COUNT), None);
        assert_eq!(Joint::NAMES[39], "r_wrist");
    }

    #[test]
    fn other_names_are_refused() {
        for name in
            ["", "w", "waist_env_0_agent_7", "l_wheel", "r_wheel", "L_KNEE", "l_knee ", "éé_éé", "idle"]
        {
            assert_eq!(Joint::parse(name), None, "{name}");
        }
    }

    #[test]
    fn partners_are_mutual_and_named_alike() {
        for joint in Joint::ALL {
            match joint.side() {
                Side::Middle => assert_eq!(joint.partner(), None),
                Side::Left => {
                    let right = joint.partner().expect("a left joint has a partner");
                    assert_eq!(right.name(), format!("r_{}", &joint.name()[2..]));
                    assert_eq!(right.partner(), Some(joint));
                    assert_eq!(right.side(), Side::Right);
                    assert_eq!(right.wire_limits(), joint.wire_limits());
                }
                Side::Right => assert_eq!(joint.partner().and_then(Joint::partner), Some(joint)),
            }
        }
    }

    #[test]
    fn nearest_names_help() {
        assert_eq!(Joint::nearest_name("l_kne"), Some("l_knee"));
        assert_eq!(Joint::nearest_name("zzzzzzzzzzzzz"), None);
    }

    proptest::proptest! {
        #[test]
        fn parse_never_panics(name in ".{0,16}") {
            if let Some(joint) = Joint::parse(&name) {
                assert_eq!(joint.name(), name);
            }
        }
    }
}
