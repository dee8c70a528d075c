//! What leaves the layer: the bus frame and the marker layers, and the port they leave through.
//!
//! An [`Outbox`] must never block and must never call back into the layer.

use std::time::Duration;

use promenade_gait::Pose40;
use promenade_kernel::Time;

use crate::message::{Pedestrian, Pose};
use crate::record::{EpisodeRecord, RecordTopic};
use crate::wheels::{DrivenAt, Wheels};

/// One person as published.
#[derive(Clone, Debug, Default)]
pub struct BusPedestrian {
    /// Every field but synthesised joints. `joint_state` has names only when the joints came from upstream.
    pub pedestrian: Pedestrian,
    /// Index into [`BusFrame::postures`], when the layer synthesised the joints.
    pub(crate) posture: Option<usize>,
    /// Wheels and the like, when the person's model drives any.
    pub(crate) driven: Option<DrivenAt>,
}

/// One `arena_peds` message. Borrowed from the layer; an outbox copies what it keeps.
#[derive(Clone, Copy, Debug)]
pub struct BusFrame<'a> {
    /// Header stamp.
    pub stamp: Time,
    /// Header frame.
    pub frame_id: &'a str,
    /// Node-clock time of publishing; the stamp of synthesised joints.
    pub now: Time,
    /// The whole roster.
    pub pedestrians: &'a [BusPedestrian],
    pub(crate) postures: &'a [Pose40],
    pub(crate) wheels: &'a Wheels,
}

impl<'a> BusFrame<'a> {
    /// The synthesised joints of person `index` in wire order; `None` when that person's joints came from upstream.
    #[must_use]
    pub fn joints(&self, index: usize) -> Option<&'a Pose40> {
        Some(&self.postures[self.pedestrians.get(index)?.posture?])
    }

    /// The driven joints of person `index`, names and angles in radians, in the order of the model's `rig.yaml`. They go on
    /// top of all other joints, whether these were synthesised or came from upstream: one that has the name of another
    /// replaces it, the rest follow.
    pub fn driven(&self, index: usize) -> impl Iterator<Item = (&'a str, f64)> + Clone + use<'a> {
        let wheels = self.wheels;
        let at = self.pedestrians.get(index).and_then(|entry| entry.driven);
        at.into_iter().flat_map(move |at| wheels.driven(at))
    }
}

/// The marker topics below `pedestrian_markers/`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum MarkerTopic {
    /// `static_walls`.
    StaticWalls,
    /// `static_objects`.
    StaticObjects,
}

/// Shape of a marker; the numbers are those of `visualization_msgs/Marker`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub enum MarkerShape {
    /// A box.
    Cube = 1,
    /// A polyline through [`Marker::points`].
    LineStrip = 4,
}

/// What a marker does; the numbers are those of `visualization_msgs/Marker`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub enum MarkerAction {
    /// Add or replace.
    Add = 0,
    /// Remove all markers of the namespace.
    DeleteAll = 3,
}

/// One `visualization_msgs/Marker` in frame `map`.
#[derive(Clone, Debug, PartialEq)]
pub struct Marker {
    /// Namespace.
    pub ns: String,
    /// Id within the namespace.
    pub id: i32,
    /// Shape; irrelevant for [`MarkerAction::DeleteAll`].
    pub shape: MarkerShape,
    /// Action.
    pub action: MarkerAction,
    /// Pose of the marker.
    pub pose: Pose,
    /// Size in metres.
    pub scale: [f64; 3],
    /// Red, green, blue, alpha in [0, 1].
    pub color: [f32; 4],
    /// Points of a line strip, relative to the pose.
    pub points: Vec<[f64; 3]>,
    /// Zero = until replaced.
    pub lifetime: Duration,
}

impl Marker {
    /// The marker that clears namespace `ns`.
    #[must_use]
    pub fn delete_all(ns: &str) -> Self {
        Marker {
            ns: ns.to_owned(),
            id: 0,
            shape: MarkerShape::Cube,
            action: MarkerAction::DeleteAll,
            pose: Pose::default(),
            scale: [0.0; 3],
            color: [0.0; 4],
            points: Vec::new(),
            lifetime: Duration::ZERO,
        }
    }
}

/// The way out of the layer. ROS nodes publish; the embedded mode records.
pub trait Outbox {
    /// Publishes one frame on `arena_peds`.
    fn publish_pedestrians(&mut self, frame: &BusFrame<'_>);

    /// Publishes a latched marker layer, stamped `now`, frame `map`.
    fn publish_markers(&mut self, topic: MarkerTopic, now: Time, markers: &[Marker]);

    /// Publishes what runs or what is queued, latched.
    fn publish_record(&mut self, _topic: RecordTopic, _record: &EpisodeRecord) {}
}
