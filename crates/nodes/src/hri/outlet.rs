//! Where the projection goes: topics, or a record of a test.

use arena_people_msgs::msg::rmw::FaceView;
use hri_msgs::msg::rmw::{EngagementLevel, IdsList};
use promenade_gait::rig::Rig;
use sensor_msgs::msg::rmw::JointState;
use tf2_msgs::msg::rmw::TFMessage;
use visualization_msgs::msg::rmw::MarkerArray;

/// What somebody listens to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Wants {
    /// `humans/tf`.
    pub(crate) frames: bool,
    /// `humans/markers`.
    pub(crate) markers: bool,
}

/// What somebody listens to of one body.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct BodyWants {
    pub(crate) joints: bool,
    pub(crate) confidence: bool,
    pub(crate) engagement: bool,
    pub(crate) view: bool,
}

/// The way out. Bodies are named by `Pedestrian.id`.
pub(crate) trait Outlet {
    fn wants(&self) -> Wants;
    fn body_wants(&self, n: u32) -> BodyWants;
    /// A body appears: its description, as parameter and latched topic.
    fn describe(&mut self, n: u32, id: &str, rig: &Rig);
    fn fixed_frames(&mut self, message: &TFMessage);
    /// The latched topics of a person who has appeared.
    fn introduce(&mut self, n: u32, id: &str);
    /// All four id lists: bodies, faces and persons have the same ids.
    fn lists(&mut self, message: &IdsList);
    /// A body vanishes: last confidence 0, parameter and topics end.
    fn retire(&mut self, n: u32, id: &str);
    fn joints(&mut self, n: u32, message: &JointState);
    fn confidence(&mut self, n: u32, value: f32);
    fn engagement(&mut self, n: u32, message: &EngagementLevel);
    fn view(&mut self, n: u32, message: &FaceView);
    fn frames(&mut self, message: &TFMessage);
    /// Frames of watched faces, for the global `/tf`.
    fn faces(&mut self, message: &TFMessage);
    fn markers(&mut self, message: &MarkerArray);
}
