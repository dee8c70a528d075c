//! The topics under one root, `humans` or the absolute `/humans`.
//!
//! Volatile topics are written only while somebody reads them; who reads is looked up a few times per second, not per
//! message. An error of one topic is logged and never stops the others.

use std::collections::BTreeMap;

use anyhow::Result;
use arena_people_msgs::msg::rmw::FaceView;
use hri_msgs::msg::rmw::{EngagementLevel, IdsList};
use promenade_gait::rig::Rig;
use rclrs::{IntoPrimitiveOptions, Node, Publisher, RclrsError};
use rosidl_runtime_rs::{RmwMessage, String as WireString};
use sensor_msgs::msg::rmw::JointState;
use std_msgs::msg::rmw::{Bool, Float32, String as Text};
use tf2_msgs::msg::rmw::TFMessage;
use visualization_msgs::msg::rmw::MarkerArray;

use super::outlet::{BodyWants, Outlet, Wants};

/// All topics of one root.
pub(crate) struct Branch {
    node: Node,
    root: &'static str,
    lists: [Publisher<IdsList>; 4],
    frames: Publisher<TFMessage>,
    fixed_frames: Publisher<TFMessage>,
    markers: Publisher<MarkerArray>,
    bodies: BTreeMap<u32, BodyTopics>,
    /// Writers of a last confidence of 0, kept until the look after next: a writer that goes at once takes what it has not
    /// delivered with it.
    last_words: Vec<Publisher<Float32>>,
    spoken: Vec<Publisher<Float32>>,
    wants: Wants,
}

/// The topics of one body and its person.
struct BodyTopics {
    urdf: Publisher<Text>,
    joints: Publisher<JointState>,
    body_id: Publisher<Text>,
    face_id: Publisher<Text>,
    anonymous: Publisher<Bool>,
    confidence: Publisher<Float32>,
    engagement: Publisher<EngagementLevel>,
    view: Publisher<FaceView>,
    wants: BodyWants,
}

impl Branch {
    /// The topics that every environment has.
    ///
    /// # Errors
    /// When the middleware refuses a publisher.
    pub(crate) fn open(node: &Node, root: &'static str) -> Result<Self> {
        let list = |name: &str| {
            let topic = format!("{root}/{name}");
            node.create_publisher::<IdsList>(topic.as_str().keep_last(1).reliable().transient_local())
        };
        let name = |name: &str| format!("{root}/{name}");
        Ok(Branch {
            lists: [
                list("bodies/tracked")?,
                list("faces/tracked")?,
                list("persons/tracked")?,
                list("persons/known")?,
            ],
            frames: node.create_publisher(name("tf").as_str().keep_last(100).reliable().volatile())?,
            fixed_frames: node
                .create_publisher(name("tf_static").as_str().keep_last(1).reliable().transient_local())?,
            markers: node.create_publisher(name("markers").as_str().keep_last(5).reliable().volatile())?,
            node: node.clone(),
            root,
            bodies: BTreeMap::new(),
            last_words: Vec::new(),
            spoken: Vec::new(),
            wants: Wants::default(),
        })
    }

    /// Looks up who listens. Answers whether anybody does, to anything.
    pub(crate) fn refresh(&mut self) -> bool {
        self.spoken = std::mem::take(&mut self.last_words);
        self.wants = Wants { frames: is_read(&self.frames), markers: is_read(&self.markers) };
        let mut any = self.wants.frames || self.wants.markers || is_read(&self.fixed_frames);
        any |= self.lists.iter().any(is_read);
        for body in self.bodies.values_mut() {
            any |= body.refresh();
        }
        any
    }

    /// Whether somebody reads any topic below the root, also one of a body that does not exist yet: its publishers come with
    /// the body, and the body with the bus, which is read only while somebody listens.
    pub(crate) fn is_awaited(&self) -> bool {
        let root = if self.root.starts_with('/') {
            format!("{}/", self.root)
        } else {
            format!("{}/{}/", self.node.namespace().trim_end_matches('/'), self.root)
        };
        let Ok(topics) = self.node.get_topic_names_and_types() else { return false };
        topics
            .keys()
            .filter(|topic| topic.starts_with(&root))
            .any(|topic| self.node.count_subscriptions(topic).is_ok_and(|count| count > 0))
    }

    fn open_body(&self, id: &str) -> Result<BodyTopics, RclrsError> {
        let (node, root) = (&self.node, self.root);
        let body = |name: &str| format!("{root}/bodies/{id}/{name}");
        let person = |name: &str| format!("{root}/persons/{id}/{name}");
        let face = |name: &str| format!("{root}/faces/{id}/{name}");
        Ok(BodyTopics {
            urdf: node.create_publisher(body("urdf").as_str().keep_last(1).reliable().transient_local())?,
            joints: node
                .create_publisher(body("joint_states").as_str().keep_last(10).reliable().volatile())?,
            body_id: node
                .create_publisher(person("body_id").as_str().keep_last(1).reliable().transient_local())?,
            face_id: node
                .create_publisher(person("face_id").as_str().keep_last(1).reliable().transient_local())?,
            anonymous: node
                .create_publisher(person("anonymous").as_str().keep_last(1).reliable().transient_local())?,
            confidence: node.create_publisher(
                person("location_confidence").as_str().keep_last(10).reliable().volatile(),
            )?,
            engagement: node
                .create_publisher(person("engagement_status").as_str().keep_last(10).reliable().volatile())?,
            view: node.create_publisher(face("view").as_str().keep_last(10).reliable().volatile())?,
            wants: BodyWants::default(),
        })
    }
}

impl BodyTopics {
    fn refresh(&mut self) -> bool {
        self.wants = BodyWants {
            joints: is_read(&self.joints),
            confidence: is_read(&self.confidence),
            engagement: is_read(&self.engagement),
            view: is_read(&self.view),
        };
        let BodyWants { joints, confidence, engagement, view } = self.wants;
        joints
            || confidence
            || engagement
            || view
            || is_read(&self.urdf)
            || is_read(&self.body_id)
            || is_read(&self.face_id)
            || is_read(&self.anonymous)
    }
}

impl Outlet for Branch {
    fn wants(&self) -> Wants {
        self.wants
    }

    fn body_wants(&self, n: u32) -> BodyWants {
        self.bodies.get(&n).map(|body| body.wants).unwrap_or_default()
    }

    fn describe(&mut self, n: u32, id: &str, rig: &Rig) {
        match self.open_body(id) {
            Ok(body) => {
                publish(&body.urdf, &text(&rig.urdf(id)));
                self.bodies.insert(n, body);
            }
            Err(error) => tracing::error!("no topics for body {id}: {error}"),
        }
    }

    fn fixed_frames(&mut self, message: &TFMessage) {
        publish(&self.fixed_frames, message);
    }

    fn introduce(&mut self, n: u32, id: &str) {
        if let Some(body) = self.bodies.get(&n) {
            let id = text(id);
            publish(&body.body_id, &id);
            publish(&body.face_id, &id);
            publish(&body.anonymous, &Bool { data: false });
        }
    }

    fn lists(&mut self, message: &IdsList) {
        for list in &self.lists {
            publish(list, message);
        }
    }

    fn retire(&mut self, n: u32, _id: &str) {
        if let Some(body) = self.bodies.remove(&n) {
            publish(&body.confidence, &Float32 { data: 0.0 });
            self.last_words.push(body.confidence);
        }
    }

    fn joints(&mut self, n: u32, message: &JointState) {
        if let Some(body) = self.bodies.get(&n).filter(|body| body.wants.joints) {
            publish(&body.joints, message);
        }
    }

    fn confidence(&mut self, n: u32, value: f32) {
        if let Some(body) = self.bodies.get(&n).filter(|body| body.wants.confidence) {
            publish(&body.confidence, &Float32 { data: value });
        }
    }

    fn engagement(&mut self, n: u32, message: &EngagementLevel) {
        if let Some(body) = self.bodies.get(&n) {
            publish(&body.engagement, message);
        }
    }

    fn view(&mut self, n: u32, message: &FaceView) {
        if let Some(body) = self.bodies.get(&n).filter(|body| body.wants.view) {
            publish(&body.view, message);
        }
    }

    fn frames(&mut self, message: &TFMessage) {
        if self.wants.frames {
            publish(&self.frames, message);
        }
    }

    fn faces(&mut self, _message: &TFMessage) {}

    fn markers(&mut self, message: &MarkerArray) {
        if self.wants.markers {
            publish(&self.markers, message);
        }
    }
}

fn text(data: &str) -> Text {
    Text { data: WireString::from(data) }
}

/// A publisher that cannot say has no readers.
fn is_read<T: RmwMessage>(publisher: &Publisher<T>) -> bool {
    publisher.get_subscription_count().is_ok_and(|count| count > 0)
}

pub(crate) fn publish<T: RmwMessage>(publisher: &Publisher<T>, message: &T) {
    if let Err(error) = publisher.publish(message) {
        tracing::error!("{}: {error}", publisher.topic_name());
    }
}
