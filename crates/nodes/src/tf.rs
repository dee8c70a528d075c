//! Where frames are, as `/tf` and `/tf_static` say.
//!
//! A [`FrameTree`] keeps the newest transform of each frame, not a history: whoever follows a robot wants to know where it is
//! now. What arrives is data from outside: a transform that is none is dropped with one warning, the number of frames is
//! bounded, and a loop of frames ends a look-up instead of the thread.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use anyhow::Result;
use promenade_gait::rig::{Matrix, Transform};
use promenade_human::MAP_FRAME;
use promenade_human::Transforms;
use promenade_human::message::Pose;
use promenade_kernel::Time;
use rclrs::{IntoPrimitiveOptions, Node, Subscription};
use tf2_msgs::msg::rmw::TFMessage;

use crate::bus::{read_string, time_from_wire};

/// Frames that are kept; further ones are dropped.
const MAX_FRAMES: usize = 10_000;
/// Parents between a frame and the map.
const MAX_DEPTH: usize = 256;
/// Bytes of a frame name.
const MAX_NAME: usize = 256;

/// A frame in its parent.
#[derive(Clone, Debug, PartialEq)]
struct Link {
    parent: String,
    /// `None` = it never moves.
    stamp: Option<Time>,
    transform: Transform,
}

/// The newest transform of every frame.
#[derive(Debug, Default)]
pub struct FrameTree {
    links: BTreeMap<String, Link>,
    /// Dropped so far.
    dropped: u64,
    child: String,
    parent: String,
}

impl FrameTree {
    /// Takes a message of `/tf`, or of `/tf_static`.
    pub fn read(&mut self, message: &TFMessage, is_static: bool) {
        for item in message.transforms.iter() {
            let (mut child, mut parent) = (std::mem::take(&mut self.child), std::mem::take(&mut self.parent));
            read_string(&item.child_frame_id, &mut child);
            read_string(&item.header.frame_id, &mut parent);
            if is_static && child == MAP_FRAME {
                // Many systems hang the map somewhere; here it is where everything hangs.
                (self.child, self.parent) = (child, parent);
                continue;
            }
            let (t, r) = (&item.transform.translation, &item.transform.rotation);
            let stamp = (!is_static).then(|| time_from_wire(&item.header.stamp));
            self.insert(&child, &parent, stamp, [t.x, t.y, t.z], [r.x, r.y, r.z, r.w]);
            (self.child, self.parent) = (child, parent);
        }
    }

    /// Sets frame `child` in frame `parent`: metres and a quaternion (x, y, z, w). No stamp = it never moves. An older
    /// transform than the one that is there is dropped; so is what is none, such as a quaternion without a direction.
    pub fn insert(
        &mut self,
        child: &str,
        parent: &str,
        stamp: Option<Time>,
        translation: [f64; 3],
        quaternion: [f64; 4],
    ) {
        // tf2 forbids the slash, older drivers still send it.
        let [child, parent] = [child, parent].map(|name| name.strip_prefix('/').unwrap_or(name));
        // Everything is wanted in the map; what holds the map, such as `world`, is of no concern.
        if child == MAP_FRAME {
            return;
        }
        if let Some(fault) = fault(child, parent, &translation, &quaternion) {
            return self.on_dropped(child, parent, fault);
        }
        let transform = Transform::from_pose(translation, quaternion);
        if let Some(link) = self.links.get_mut(child) {
            let is_old = matches!((stamp, link.stamp), (Some(new), Some(old)) if new < old);
            if !is_old {
                if link.parent != parent {
                    parent.clone_into(&mut link.parent);
                }
                (link.stamp, link.transform) = (stamp, transform);
            }
            return;
        }
        if self.links.len() >= MAX_FRAMES {
            return self.on_dropped(child, parent, "there are 10 000 frames already");
        }
        self.links.insert(child.to_owned(), Link { parent: parent.to_owned(), stamp, transform });
    }

    /// Forgets what moves: the clock went back, and what was seen is of another run.
    pub fn on_clock_back(&mut self) {
        self.links.retain(|_, link| link.stamp.is_none());
    }

    /// Where `frame` is in `map`: the oldest stamp on the way there, and the pose. Zero when nothing on the way moves; `None`
    /// when no way leads to the map.
    #[must_use]
    pub fn latest(&self, frame: &str) -> Option<(Time, Pose)> {
        let frame = frame.strip_prefix('/').unwrap_or(frame);
        let mut oldest: Option<Time> = None;
        let mut found = Transform::IDENTITY;
        let mut at = frame;
        for _ in 0..MAX_DEPTH {
            if at == MAP_FRAME {
                let pose = Pose { position: found.translation, orientation: found.rotation };
                return pose.is_finite().then_some((oldest.unwrap_or(Time::ZERO), pose));
            }
            let link = self.links.get(at)?;
            found = within(&link.transform, &found);
            oldest = match (oldest, link.stamp) {
                (Some(a), Some(b)) => Some(a.min(b)),
                (a, b) => a.or(b),
            };
            at = &link.parent;
        }
        None
    }

    fn on_dropped(&mut self, child: &str, parent: &str, fault: &str) {
        self.dropped += 1;
        if self.dropped == 1 {
            let short = |name: &str| name.chars().take(60).collect::<String>();
            tracing::warn!(
                "a transform from {:?} to {:?} is dropped: {fault}; further ones are dropped in silence",
                short(parent),
                short(child)
            );
        }
    }
}

/// What is wrong with a transform.
fn fault(child: &str, parent: &str, translation: &[f64; 3], quaternion: &[f64; 4]) -> Option<&'static str> {
    if child.is_empty() || parent.is_empty() {
        return Some("a frame has no name");
    }
    if child == parent {
        return Some("a frame is its own parent");
    }
    if child.len() > MAX_NAME || parent.len() > MAX_NAME {
        return Some("a frame name is longer than 256 bytes");
    }
    let is_direction = quaternion.iter().any(|v| *v != 0.0);
    let is_finite = translation.iter().chain(quaternion).all(|v| v.is_finite());
    (!is_finite || !is_direction).then_some("its numbers are no pose")
}

/// `inner`, which is given in `outer`, in the frame that `outer` is given in.
fn within(outer: &Transform, inner: &Transform) -> Transform {
    let turned = Matrix::from_quaternion(outer.rotation).apply(inner.translation);
    let translation = std::array::from_fn(|i| outer.translation[i] + turned[i]);
    let ([ax, ay, az, aw], [bx, by, bz, bw]) = (outer.rotation, inner.rotation);
    let product = [
        aw * bx + ax * bw + ay * bz - az * by,
        aw * by - ax * bz + ay * bw + az * bx,
        aw * bz + ax * by - ay * bx + az * bw,
        aw * bw - ax * bx - ay * by - az * bz,
    ];
    // Normalised again, so that a long chain does not drift.
    Transform::from_pose(translation, product)
}

/// A tree that follows `/tf` and `/tf_static`.
pub struct TfListener {
    tree: Arc<Mutex<FrameTree>>,
    _subscriptions: [Subscription<TFMessage>; 2],
}

impl TfListener {
    /// Listens from now on; the tree is filled on the thread of the executor.
    ///
    /// # Errors
    /// When ROS refuses a subscription.
    pub fn open(node: &Node) -> Result<Self> {
        let tree: Arc<Mutex<FrameTree>> = Arc::default();
        let (to_moving, to_fixed) = (Arc::clone(&tree), Arc::clone(&tree));
        let moving = node.create_subscription::<TFMessage, _>(
            "/tf".keep_last(100).reliable().volatile(),
            move |message: TFMessage| lock(&to_moving).read(&message, false),
        )?;
        let fixed = node.create_subscription::<TFMessage, _>(
            "/tf_static".keep_last(100).reliable().transient_local(),
            move |message: TFMessage| lock(&to_fixed).read(&message, true),
        )?;
        Ok(TfListener { tree, _subscriptions: [moving, fixed] })
    }
}

impl Transforms for TfListener {
    fn latest(&mut self, frame: &str) -> Option<(Time, Pose)> {
        lock(&self.tree).latest(frame)
    }

    fn on_clock_back(&mut self) {
        lock(&self.tree).on_clock_back();
    }
}

fn lock(tree: &Mutex<FrameTree>) -> MutexGuard<'_, FrameTree> {
    tree.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::f64::consts::{FRAC_1_SQRT_2, PI};

    use proptest::prelude::*;

    use super::*;

    const STILL: [f64; 4] = [0.0, 0.0, 0.0, 1.0];
    /// A quarter turn to the left.
    const LEFT: [f64; 4] = [0.0, 0.0, FRAC_1_SQRT_2, FRAC_1_SQRT_2];
    /// Nose up by a quarter turn: x points up.
    const UP: [f64; 4] = [0.0, -FRAC_1_SQRT_2, 0.0, FRAC_1_SQRT_2];

    fn at(seconds: i64) -> Option<Time> {
        Some(Time::from_nanos(seconds * 1_000_000_000))
    }

    fn close(a: &[f64], b: &[f64]) -> bool {
        a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-12)
    }

    #[test]
    fn a_chain_is_composed_with_its_whole_orientation() {
        let mut tree = FrameTree::default();
        tree.insert("odom", "map", at(7), [10.0, 0.0, 0.0], LEFT);
        tree.insert("base", "odom", at(5), [2.0, 0.0, 0.5], UP);
        tree.insert("/laser", "/base", None, [1.0, 0.0, 0.0], STILL);
        let (stamp, pose) = tree.latest("laser").expect("connected");
        assert_eq!(Some(stamp), at(5), "the oldest stamp on the way");
        assert!(close(&pose.position, &[10.0, 2.0, 1.5]), "{pose:?}");
        assert!(close(&pose.orientation, &[0.5, -0.5, 0.5, 0.5]), "{pose:?}");
        assert!((tree.latest("odom").expect("connected").1.yaw() - PI / 2.0).abs() < 1e-12);
    }

    #[test]
    fn a_way_of_fixed_frames_has_the_stamp_zero() {
        let mut tree = FrameTree::default();
        tree.insert("dock", "map", None, [1.0, 2.0, 3.0], STILL);
        assert_eq!(
            tree.latest("dock"),
            Some((Time::ZERO, Pose { position: [1.0, 2.0, 3.0], ..Pose::default() }))
        );
        assert_eq!(tree.latest("map"), Some((Time::ZERO, Pose::default())));
    }

    #[test]
    fn a_frame_that_is_not_connected_is_nowhere() {
        let mut tree = FrameTree::default();
        tree.insert("base", "odom", at(1), [0.0; 3], STILL);
        assert_eq!((tree.latest("base"), tree.latest("nobody"), tree.latest("")), (None, None, None));
        tree.insert("odom", "base", at(1), [0.0; 3], STILL);
        assert_eq!(tree.latest("base"), None, "a loop ends");
    }

    #[test]
    fn the_newest_transform_counts_until_the_clock_goes_back() {
        let mut tree = FrameTree::default();
        tree.insert("base", "map", at(5), [5.0, 0.0, 0.0], STILL);
        tree.insert("base", "map", at(4), [4.0, 0.0, 0.0], STILL);
        assert_eq!(tree.latest("base").map(|(_, pose)| pose.position[0]), Some(5.0));
        tree.insert("dock", "map", None, [0.0; 3], STILL);
        tree.on_clock_back();
        assert_eq!(tree.latest("base"), None);
        assert!(tree.latest("dock").is_some(), "what never moves stays");
        tree.insert("base", "map", at(0), [1.0, 0.0, 0.0], STILL);
        assert_eq!(tree.latest("base").map(|(_, pose)| pose.position[0]), Some(1.0));
    }

    #[test]
    fn what_is_no_transform_is_dropped() {
        let mut tree = FrameTree::default();
        tree.insert("base", "map", at(1), [1.0, 0.0, 0.0], STILL);
        tree.insert("base", "map", at(2), [f64::NAN, 0.0, 0.0], STILL);
        tree.insert("base", "map", at(2), [0.0; 3], [0.0; 4]);
        tree.insert("base", "map", at(2), [0.0; 3], [0.0, f64::INFINITY, 0.0, 1.0]);
        tree.insert("base", "base", at(2), [0.0; 3], STILL);
        tree.insert("", "map", at(2), [0.0; 3], STILL);
        tree.insert("base", "", at(2), [0.0; 3], STILL);
        tree.insert("map", "base", at(2), [0.0; 3], STILL);
        tree.insert(&"x".repeat(300), "map", at(2), [0.0; 3], STILL);
        assert_eq!(tree.dropped, 7, "what holds the map is left alone");
        assert_eq!(tree.latest("base").map(|(stamp, _)| Some(stamp)), Some(at(1)));
    }

    #[test]
    fn the_number_of_frames_is_bounded() {
        let mut tree = FrameTree::default();
        for i in 0..MAX_FRAMES + 5 {
            tree.insert(&format!("f{i}"), "map", at(1), [0.0; 3], STILL);
        }
        assert_eq!((tree.links.len(), tree.dropped), (MAX_FRAMES, 5));
        tree.insert("f0", "map", at(2), [9.0, 0.0, 0.0], STILL);
        assert_eq!(tree.latest("f0").map(|(_, pose)| pose.position[0]), Some(9.0), "known frames go on");
    }

    proptest! {
        /// Whatever a client sends, a look-up ends, and what it answers is a pose.
        #[test]
        fn any_transforms_leave_finite_poses(
            items in prop::collection::vec((0..6_usize, 0..6_usize, any::<Option<i64>>(), any::<[f64; 3]>(), any::<[f64; 4]>()), 0..40)
        ) {
            let names = ["map", "a", "b", "c", "/d", ""];
            let mut tree = FrameTree::default();
            for (child, parent, stamp, translation, quaternion) in items {
                tree.insert(names[child], names[parent], stamp.map(Time::from_nanos), translation, quaternion);
            }
            for name in names {
                if let Some((_, pose)) = tree.latest(name) {
                    prop_assert!(pose.is_finite());
                    let norm = pose.orientation.iter().map(|v| v * v).sum::<f64>();
                    prop_assert!((norm - 1.0).abs() < 1e-9, "{}", norm);
                }
            }
        }

        /// A chain there and its inverse back leave a point where it was.
        #[test]
        fn composing_keeps_distances(
            a in prop::array::uniform4(-1.0..1.0), b in prop::array::uniform4(-1.0..1.0),
            t in prop::array::uniform3(-100.0..100.0), u in prop::array::uniform3(-100.0..100.0_f64)
        ) {
            prop_assume!(a.iter().chain(&b).any(|v: &f64| v.abs() > 0.1));
            let mut tree = FrameTree::default();
            tree.insert("a", "map", at(1), t, a);
            tree.insert("b", "a", at(1), u, b);
            if let (Some((_, outer)), Some((_, inner))) = (tree.latest("a"), tree.latest("b")) {
                let length = |v: [f64; 3]| v.iter().map(|v| v * v).sum::<f64>().sqrt();
                let apart = std::array::from_fn(|i| inner.position[i] - outer.position[i]);
                prop_assert!((length(apart) - length(u)).abs() < 1e-9);
            }
        }
    }
}
