//! Sets of joints as bit masks, and the groups that clips and gestures drive.

use crate::joint::{JOINT_COUNT, Joint};

/// A set of joints of the contract.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct JointSet(u64);

impl JointSet {
    /// No joint.
    pub const EMPTY: Self = Self(0);
    /// All 40 joints.
    pub const ALL: Self = Self((1 << JOINT_COUNT) - 1);
    /// Waist, spine and chest: nine joints.
    pub const SPINE: Self = Self::span(Joint::RWaist, Joint::Chest);
    /// Roll, yaw and pitch of the head.
    pub const HEAD: Self = Self::span(Joint::RHead, Joint::PHead);
    /// Left collar, shoulder and elbow: six joints.
    pub const LEFT_ARM: Self = Self::span(Joint::LYCollar, Joint::LElbow);
    /// Right collar, shoulder and elbow.
    pub const RIGHT_ARM: Self = Self::span(Joint::RYCollar, Joint::RElbow);
    /// Both arms.
    pub const ARMS: Self = Self::LEFT_ARM.union(Self::RIGHT_ARM);
    /// Torso, head and both arms: 24 joints.
    pub const UPPER_BODY: Self = Self::SPINE.union(Self::HEAD).union(Self::ARMS);
    /// Both wrist pairs.
    pub const WRISTS: Self = Self::span(Joint::LRWrist, Joint::RWrist);

    const fn span(first: Joint, last: Joint) -> Self {
        let mut bits = 0;
        let mut index = first.index();
        while index <= last.index() {
            bits |= 1 << index;
            index += 1;
        }
        Self(bits)
    }

    /// Whether the joint is in the set.
    #[must_use]
    pub const fn contains(self, joint: Joint) -> bool {
        self.0 >> joint.index() & 1 == 1
    }

    /// Adds a joint.
    pub const fn insert(&mut self, joint: Joint) {
        self.0 |= 1 << joint.index();
    }

    /// Removes a joint.
    pub const fn remove(&mut self, joint: Joint) {
        self.0 &= !(1 << joint.index());
    }

    /// Joints of either set.
    #[must_use]
    pub const fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Joints of both sets.
    #[must_use]
    pub const fn intersection(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// Joints of this set that are not in the other.
    #[must_use]
    pub const fn difference(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// Number of joints.
    #[must_use]
    pub const fn len(self) -> usize {
        self.0.count_ones() as usize
    }

    /// Whether there is no joint.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// How many joints of the set stand before this one on the wire.
    #[must_use]
    pub(crate) const fn rank(self, joint: Joint) -> usize {
        (self.0 & ((1 << joint.index()) - 1)).count_ones() as usize
    }

    /// The joints in wire order.
    pub fn iter(self) -> impl Iterator<Item = Joint> {
        let mut bits = self.0;
        std::iter::from_fn(move || {
            let joint = Joint::from_index(bits.trailing_zeros() as usize)?;
            bits &= bits - 1;
            Some(joint)
        })
    }
}

impl FromIterator<Joint> for JointSet {
    fn from_iter<I: IntoIterator<Item = Joint>>(joints: I) -> Self {
        let mut set = Self::EMPTY;
        joints.into_iter().for_each(|joint| set.insert(joint));
        set
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_have_their_joints() {
        assert_eq!(JointSet::ALL.len(), JOINT_COUNT);
        assert_eq!((JointSet::SPINE.len(), JointSet::HEAD.len(), JointSet::ARMS.len()), (9, 3, 12));
        assert_eq!((JointSet::UPPER_BODY.len(), JointSet::WRISTS.len()), (24, 4));
        let names: Vec<_> = JointSet::WRISTS.iter().map(Joint::name).collect();
        assert_eq!(names, ["l_r_wrist", "l_wrist", "r_r_wrist", "r_wrist"]);
        assert!(JointSet::LEFT_ARM.contains(Joint::LElbow) && !JointSet::LEFT_ARM.contains(Joint::RElbow));
    }

    #[test]
    fn sets_behave() {
        let set: JointSet = [Joint::LKnee, Joint::RWaist, Joint::RWrist].into_iter().collect();
        assert_eq!(set.iter().collect::<Vec<_>>(), [Joint::RWaist, Joint::LKnee, Joint::RWrist]);
        assert_eq!((set.rank(Joint::RWaist), set.rank(Joint::LKnee), set.rank(Joint::RWrist)), (0, 1, 2));
        let mut less = set;
        less.remove(Joint::LKnee);
        assert_eq!(set.difference(less).iter().collect::<Vec<_>>(), [Joint::LKnee]);
        assert!(JointSet::EMPTY.iter().next().is_none());
    }
}
