//! Everything a node writes for the projection: one or two roots of topics, the parameters, the global `/tf`.

use std::collections::BTreeMap;
use std::sync::Arc;

use anyhow::Result;
use arena_people_msgs::msg::rmw::FaceView;
use hri_msgs::msg::rmw::{EngagementLevel, IdsList};
use promenade_gait::rig::Rig;
use rclrs::{IntoPrimitiveOptions, Node, Publisher, ReadOnlyParameter};
use sensor_msgs::msg::rmw::JointState;
use tf2_msgs::msg::rmw::TFMessage;
use visualization_msgs::msg::rmw::MarkerArray;

use super::outlet::{BodyWants, Outlet, Wants};
use super::publishers::{Branch, publish};

/// Root of the repeated topics.
const GLOBAL_ROOT: &str = "/humans";

/// The way out on ROS.
pub(crate) struct Topics {
    node: Node,
    own: Branch,
    alias: Option<Branch>,
    global_frames: Option<Publisher<TFMessage>>,
    /// A parameter lives as long as its handle.
    descriptions: BTreeMap<u32, ReadOnlyParameter<Arc<str>>>,
}

impl Topics {
    /// Opens the node's own root.
    ///
    /// # Errors
    /// When the middleware refuses a publisher.
    pub(crate) fn open(node: &Node) -> Result<Self> {
        Ok(Topics {
            own: Branch::open(node, "humans")?,
            node: node.clone(),
            alias: None,
            global_frames: None,
            descriptions: BTreeMap::new(),
        })
    }

    /// Looks up who listens. Answers whether anybody does, to anything.
    pub(crate) fn refresh(&mut self) -> bool {
        let aliased = self.alias.as_mut().is_some_and(Branch::refresh);
        self.own.refresh() || aliased
    }

    /// Whether somebody reads a topic that only the bus can bring about. Dearer than [`Topics::refresh`]: it walks the graph.
    pub(crate) fn is_awaited(&self) -> bool {
        self.own.is_awaited() || self.alias.as_ref().is_some_and(Branch::is_awaited)
    }

    pub(crate) fn has_alias(&self) -> bool {
        self.alias.is_some()
    }

    /// Opens the topics under the absolute root; the caller fills them with what is latched.
    ///
    /// # Errors
    /// When the middleware refuses a publisher.
    pub(crate) fn open_alias(&mut self) -> Result<&mut Branch> {
        Ok(self.alias.insert(Branch::open(&self.node, GLOBAL_ROOT)?))
    }

    pub(crate) fn close_alias(&mut self) {
        self.alias = None;
    }

    fn each(&mut self, write: impl Fn(&mut Branch)) {
        write(&mut self.own);
        if let Some(alias) = &mut self.alias {
            write(alias);
        }
    }
}

impl Outlet for Topics {
    fn wants(&self) -> Wants {
        let (own, alias) = (self.own.wants(), self.alias.as_ref().map(Branch::wants).unwrap_or_default());
        Wants { frames: own.frames || alias.frames, markers: own.markers || alias.markers }
    }

    fn body_wants(&self, n: u32) -> BodyWants {
        let own = self.own.body_wants(n);
        let Some(alias) = self.alias.as_ref().map(|alias| alias.body_wants(n)) else { return own };
        BodyWants {
            joints: own.joints || alias.joints,
            confidence: own.confidence || alias.confidence,
            engagement: own.engagement || alias.engagement,
            view: own.view || alias.view,
        }
    }

    fn describe(&mut self, n: u32, id: &str, rig: &Rig) {
        let name = format!("human_description_{id}");
        let declared = self
            .node
            .declare_parameter::<Arc<str>>(name)
            .default(rig.urdf(id).into())
            .ignore_override()
            .description("URDF of a body that is tracked now")
            .read_only();
        match declared {
            Ok(description) => {
                self.descriptions.insert(n, description);
            }
            Err(error) => tracing::error!("no description parameter for body {id}: {error}"),
        }
        self.each(|branch| branch.describe(n, id, rig));
    }

    fn fixed_frames(&mut self, message: &TFMessage) {
        self.each(|branch| branch.fixed_frames(message));
    }

    fn introduce(&mut self, n: u32, id: &str) {
        self.each(|branch| branch.introduce(n, id));
    }

    fn lists(&mut self, message: &IdsList) {
        self.each(|branch| branch.lists(message));
    }

    fn retire(&mut self, n: u32, id: &str) {
        self.descriptions.remove(&n);
        self.each(|branch| branch.retire(n, id));
    }

    fn joints(&mut self, n: u32, message: &JointState) {
        self.each(|branch| branch.joints(n, message));
    }

    fn confidence(&mut self, n: u32, value: f32) {
        self.each(|branch| branch.confidence(n, value));
    }

    fn engagement(&mut self, n: u32, message: &EngagementLevel) {
        self.each(|branch| branch.engagement(n, message));
    }

    fn view(&mut self, n: u32, message: &FaceView) {
        self.each(|branch| branch.view(n, message));
    }

    fn frames(&mut self, message: &TFMessage) {
        self.each(|branch| branch.frames(message));
    }

    fn faces(&mut self, message: &TFMessage) {
        if self.global_frames.is_none() {
            match self.node.create_publisher("/tf".keep_last(100).reliable().volatile()) {
                Ok(publisher) => self.global_frames = Some(publisher),
                Err(error) => return tracing::error!("/tf: {error}"),
            }
        }
        if let Some(publisher) = &self.global_frames {
            publish(publisher, message);
        }
    }

    fn markers(&mut self, message: &MarkerArray) {
        self.each(|branch| branch.markers(message));
    }
}
