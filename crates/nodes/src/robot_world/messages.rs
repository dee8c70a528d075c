//! State of the world as messages: `nav_msgs/Odometry`, `sensor_msgs/LaserScan` (REP 117), contacts, transforms.
//!
//! Fields as in the robot-world specification, section 16. Nothing here reads a clock or a topic.

use geometry_msgs::msg::rmw::{Quaternion, TransformStamped, Vector3};
use nav_msgs::msg::rmw::Odometry;
use promenade_human::MAP_FRAME;
use promenade_human::sims::world::{RobotView, WorldSim};
use promenade_kernel::Time;
use promenade_msgs::msg::rmw::Contacts;
use promenade_robot_world::sensor::{LidarSpec, Scan};
use promenade_robot_world::world::ObjectRef;
use sensor_msgs::msg::rmw::LaserScan;

use super::robots::numbered;
use crate::bus::{resize, set_string, time_to_wire};

/// The base frame of a robot whose model does not name another (REP 105).
const BASE_FRAME: &str = "base_link";

/// Names of a robot's frames.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Frames {
    pub(super) odom: String,
    pub(super) base: String,
    /// One per scanner.
    pub(super) lasers: Vec<String>,
}

impl Frames {
    /// The frames of a robot below `namespace`: its base frame as the layer knows it, and its others beside that.
    pub(super) fn of(robot: &str, base: Option<&str>, namespace: &str, scanners: usize) -> Self {
        let beside = |last: &str| {
            let parts = [namespace, robot, last];
            parts.iter().filter(|part| !part.is_empty()).copied().collect::<Vec<_>>().join("/")
        };
        Frames {
            odom: beside("odom"),
            base: base.map_or_else(|| beside(BASE_FRAME), str::to_owned),
            lasers: (0..scanners).map(|i| beside(&numbered("laser", i))).collect(),
        }
    }
}

fn heading(yaw: f64) -> Quaternion {
    let (sin, cos) = (yaw / 2.0).sin_cos();
    Quaternion { x: 0.0, y: 0.0, z: sin, w: cos }
}

/// A transform as a message of its own.
pub(super) fn write_transform(at: Time, parent: &str, child: &str, pose: [f64; 3]) -> TransformStamped {
    let mut message = TransformStamped::default();
    write_transform_message(at, parent, child, pose, &mut message);
    message
}

/// A transform into a kept message.
pub(super) fn write_transform_message(
    at: Time,
    parent: &str,
    child: &str,
    [x, y, yaw]: [f64; 3],
    to: &mut TransformStamped,
) {
    to.header.stamp = time_to_wire(at);
    set_string(&mut to.header.frame_id, parent);
    set_string(&mut to.child_frame_id, child);
    to.transform.translation = Vector3 { x, y, z: 0.0 };
    to.transform.rotation = heading(yaw);
}

/// Pose in the frame of the odometry, which is where the map is; twist in the robot's own frame.
pub(super) fn write_odometry(at: Time, frames: &Frames, view: &RobotView<'_>, to: &mut Odometry) {
    to.header.stamp = time_to_wire(at);
    set_string(&mut to.header.frame_id, &frames.odom);
    set_string(&mut to.child_frame_id, &frames.base);
    let [x, y, yaw] = view.pose;
    (to.pose.pose.position.x, to.pose.pose.position.y) = (x, y);
    to.pose.pose.orientation = heading(yaw);
    let twist = &mut to.twist.twist;
    (twist.linear.x, twist.linear.y, twist.angular.z) =
        (view.twist.forward, view.twist.left, view.twist.yaw_rate);
}

/// What of a scan never changes.
pub(super) fn write_scanner(lidar: &LidarSpec, frame: &str, to: &mut LaserScan) {
    set_string(&mut to.header.frame_id, frame);
    let gaps = lidar.number.saturating_sub(1).max(1) as f64;
    to.angle_min = (-lidar.angle_range / 2.0) as f32;
    to.angle_max = (lidar.angle_range / 2.0) as f32;
    to.angle_increment = (lidar.angle_range / gaps) as f32;
    to.scan_time = lidar.scan_time as f32;
    to.range_min = lidar.range_min as f32;
    to.range_max = lidar.range_max as f32;
    resize(&mut to.ranges, lidar.number);
}

/// Ranges as REP 117 wants them: infinite when nothing was hit, minus infinite for something too near to measure.
pub(super) fn write_scan(at: Time, scan: &Scan, to: &mut LaserScan) {
    to.header.stamp = time_to_wire(at);
    resize(&mut to.ranges, scan.ranges.len());
    let nearest = f64::from(to.range_min);
    for ((range, valid), to) in scan.ranges.iter().zip(&scan.valid).zip(to.ranges.iter_mut()) {
        *to = match valid {
            true => *range as f32,
            false if *range <= nearest => f32::NEG_INFINITY,
            false => f32::INFINITY,
        };
    }
}

/// What a robot feels.
pub(super) fn write_contacts(at: Time, sim: &WorldSim, view: &RobotView<'_>, to: &mut Contacts) {
    to.header.stamp = time_to_wire(at);
    set_string(&mut to.header.frame_id, MAP_FRAME);
    let reading = view.contact;
    to.in_contact = reading.in_contact;
    (to.contact_force.x, to.contact_force.y) = (reading.force[0], reading.force[1]);
    (to.contact_time, to.air_time) = (reading.contact_time, reading.air_time);
    let own =
        |contact: &&promenade_robot_world::contact::Contact| view.id == contact.a || view.id == contact.b;
    resize(&mut to.contacts, sim.contacts().iter().filter(own).count());
    for (contact, to) in sim.contacts().iter().filter(own).zip(to.contacts.iter_mut()) {
        let (other, sign) = if view.id == contact.a { (contact.b, 1.0) } else { (contact.a, -1.0) };
        to.other_id = other;
        let row = sim.world().row(ObjectRef::Id(other));
        set_string(&mut to.other, row.map_or("", |row| &sim.world().objects().name[row]));
        (to.point.x, to.point.y) = (contact.point[0], contact.point[1]);
        (to.normal.x, to.normal.y) = (sign * contact.normal[0], sign * contact.normal[1]);
        (to.depth, to.force) = (contact.depth, contact.force);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_below_the_namespace_and_the_robot() {
        let frames = Frames::of("jackal", Some("env_0/jackal/base_footprint"), "env_0", 2);
        assert_eq!((&*frames.odom, &*frames.base), ("env_0/jackal/odom", "env_0/jackal/base_footprint"));
        assert_eq!(frames.lasers, ["env_0/jackal/laser", "env_0/jackal/laser_1"]);
        let global = Frames::of("jackal", None, "", 0);
        assert_eq!((&*global.odom, &*global.base), ("jackal/odom", "jackal/base_link"));
    }

    #[test]
    fn ranges_without_a_measurement_are_infinite() {
        let mut message = LaserScan { range_min: 0.1, range_max: 10.0, ..LaserScan::default() };
        let scan = Scan {
            ranges: vec![2.5, 10.0, 0.1, 10.0],
            valid: vec![true, false, false, true],
            ..Scan::default()
        };
        write_scan(Time::from_nanos(1_500_000_000), &scan, &mut message);
        assert_eq!(message.ranges.to_vec(), [2.5, f32::INFINITY, f32::NEG_INFINITY, 10.0]);
        assert_eq!((message.header.stamp.sec, message.header.stamp.nanosec), (1, 500_000_000));
    }
}
