//! The layer's way out on ROS topics. Each message is kept and written again, never built anew.

use std::collections::BTreeMap;

use anyhow::Result;
use arena_people_msgs::msg::rmw::Pedestrians;
use geometry_msgs::msg::rmw::{Point, Vector3};
use promenade_human::outbox::{Marker, MarkerTopic};
use promenade_human::{BusFrame, EpisodeRecord, Outbox, RecordTopic};
use promenade_kernel::Time;
use rclrs::{IntoPrimitiveOptions, Node, Publisher};
use std_msgs::msg::rmw::ColorRGBA;
use task_generator_msgs::msg::rmw::EpisodeRecord as WireRecord;
use visualization_msgs::msg::rmw::{Marker as WireMarker, MarkerArray};

use super::episodes::record_to_wire;
use crate::bus::{BusMessage, pose_to_wire, resize, set_string, write_map_header};

/// Publishes for the layer.
pub(crate) struct RosOutbox {
    pedestrians: Publisher<Pedestrians>,
    message: BusMessage,
    markers: BTreeMap<MarkerTopic, Publisher<MarkerArray>>,
    records: BTreeMap<RecordTopic, Publisher<WireRecord>>,
}

impl RosOutbox {
    /// Publishers below the namespace of `node`; those of episodes below `task_generator`.
    pub(crate) fn new(node: &Node, task_generator: &str) -> Result<Self> {
        let mut markers = BTreeMap::new();
        for (topic, name) in [
            (MarkerTopic::StaticWalls, "pedestrian_markers/static_walls"),
            (MarkerTopic::StaticObjects, "pedestrian_markers/static_objects"),
        ] {
            markers.insert(topic, node.create_publisher(name.keep_last(1).reliable().transient_local())?);
        }
        let mut records = BTreeMap::new();
        for (topic, name) in [(RecordTopic::Episode, "state/episode"), (RecordTopic::Queue, "state/queue")] {
            let name = format!("{}/{name}", task_generator.trim_end_matches('/'));
            records.insert(
                topic,
                node.create_publisher(name.as_str().keep_last(1).reliable().transient_local())?,
            );
        }
        let pedestrians = node.create_publisher("arena_peds".keep_last(10).reliable().volatile())?;
        Ok(RosOutbox { pedestrians, message: BusMessage::default(), markers, records })
    }
}

impl Outbox for RosOutbox {
    fn publish_pedestrians(&mut self, frame: &BusFrame<'_>) {
        if let Err(error) = self.pedestrians.publish(self.message.write(frame)) {
            tracing::error!("arena_peds: {error}");
        }
    }

    fn publish_markers(&mut self, topic: MarkerTopic, now: Time, markers: &[Marker]) {
        let mut array = MarkerArray::default();
        resize(&mut array.markers, markers.len());
        for (from, to) in markers.iter().zip(array.markers.iter_mut()) {
            write_marker(from, now, to);
        }
        if let Err(error) = self.markers[&topic].publish(&array) {
            tracing::error!("{topic:?}: {error}");
        }
    }

    fn publish_record(&mut self, topic: RecordTopic, record: &EpisodeRecord) {
        if let Err(error) = self.records[&topic].publish(record_to_wire(record)) {
            tracing::error!("{topic:?}: {error}");
        }
    }
}

fn write_marker(from: &Marker, now: Time, to: &mut WireMarker) {
    write_map_header(&mut to.header, now);
    set_string(&mut to.ns, &from.ns);
    to.id = from.id;
    to.type_ = from.shape as i32;
    to.action = from.action as i32;
    to.pose = pose_to_wire(&from.pose);
    to.scale = Vector3 { x: from.scale[0], y: from.scale[1], z: from.scale[2] };
    let [r, g, b, a] = from.color;
    to.color = ColorRGBA { r, g, b, a };
    to.lifetime.sec = i32::try_from(from.lifetime.as_secs()).unwrap_or(i32::MAX);
    to.lifetime.nanosec = from.lifetime.subsec_nanos();
    resize(&mut to.points, from.points.len());
    for (from, to) in from.points.iter().zip(to.points.iter_mut()) {
        *to = Point { x: from[0], y: from[1], z: from[2] };
    }
}
