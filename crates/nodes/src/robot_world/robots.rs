//! The topics of the robots: `cmd_vel` and `set_pose` in; `odom`, `scan`, `contacts` and TF out.
//!
//! Of each robot only the newest command counts, so that no flood can fill a queue. Messages are kept and written again.

use std::any::Any;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::{Context as _, Result};
use geometry_msgs::msg::rmw::{PoseStamped, Twist, TwistStamped};
use nav_msgs::msg::rmw::Odometry;
use promenade_human::MAP_FRAME;
use promenade_human::message::Pose;
use promenade_human::sims::world::RobotView;
use promenade_kernel::Time;
use promenade_msgs::msg::rmw::Contacts;
use rclrs::{IntoPrimitiveOptions, Node, Publisher, QOS_PROFILE_SENSOR_DATA};
use sensor_msgs::msg::rmw::LaserScan;
use tf2_msgs::msg::rmw::TFMessage;

use super::messages::{
    Frames, write_contacts, write_odometry, write_scan, write_scanner, write_transform,
    write_transform_message,
};
use super::settings::Settings;
use super::stage::Stage;
use crate::bus::{pose_from_wire, resize};

/// What arrived for a robot since it was looked at last.
#[derive(Debug, Default)]
struct Mail {
    /// Forward and left in m/s, yaw rate in rad/s.
    command: Option<[f64; 3]>,
    pose: Option<Pose>,
}

/// What says when something is due that goes out at a rate of sim time.
#[derive(Clone, Copy, Debug)]
struct Pace {
    period: Duration,
    next: Time,
}

impl Pace {
    fn new(period: Duration) -> Self {
        Pace { period, next: Time::ZERO }
    }

    fn is_due(&mut self, now: Time) -> bool {
        // Steps are rounded to nanoseconds.
        if now + Duration::from_nanos(2) < self.next {
            return false;
        }
        let next = self.next + self.period;
        self.next = if next <= now { now + self.period } else { next };
        true
    }
}

/// A scanner's topic.
struct Scanner {
    publisher: Publisher<LaserScan>,
    message: LaserScan,
    pace: Pace,
}

/// The topics of one robot.
struct Ports {
    name: String,
    base_frame: Option<String>,
    frames: Frames,
    mail: Arc<Mutex<Mail>>,
    _inputs: [Arc<dyn Any>; 2],
    odom: Publisher<Odometry>,
    odometry: Odometry,
    contacts: Publisher<Contacts>,
    touched: Contacts,
    scanners: Vec<Scanner>,
    /// Something that is no command, or no place, arrived and was told of.
    complained: bool,
}

/// All robots.
pub(super) struct Fleet {
    node: Node,
    settings: Settings,
    ports: Vec<Ports>,
    pace: Pace,
    tf: Publisher<TFMessage>,
    transforms: TFMessage,
    tf_static: Publisher<TFMessage>,
}

impl Fleet {
    /// Nobody yet.
    pub(super) fn open(node: &Node, settings: &Settings) -> Result<Self> {
        Ok(Fleet {
            node: node.clone(),
            settings: settings.clone(),
            ports: Vec::new(),
            pace: Pace::new(settings.odom_period),
            tf: node.create_publisher("/tf".keep_last(100).reliable().volatile())?,
            transforms: TFMessage::default(),
            tf_static: node.create_publisher("/tf_static".keep_last(1).reliable().transient_local())?,
        })
    }

    /// Gives every robot of the stage its topics, and takes them from those who are not there any more. Tells what stands still.
    pub(super) fn meet(&mut self, stage: &Stage) -> Result<()> {
        let mut before = std::mem::take(&mut self.ports);
        for view in stage.sim().robots() {
            let known = before.iter().position(|ports| ports.is_for(&view)).map(|at| before.swap_remove(at));
            let ports = match known {
                Some(ports) => ports,
                None => Ports::open(&self.node, &self.settings, &view)
                    .with_context(|| format!("topics of robot {:?}", view.robot.name))?,
            };
            self.ports.push(ports);
        }
        drop(before);
        let now = stage.sim().time();
        let mut fixed = Vec::new();
        for (ports, view) in self.ports.iter().zip(stage.sim().robots()) {
            let frames = &ports.frames;
            if self.settings.map_to_odom {
                fixed.push(write_transform(now, MAP_FRAME, &frames.odom, [0.0; 3]));
            }
            for (lidar, frame) in view.lidars.iter().zip(&frames.lasers) {
                fixed.push(write_transform(now, &frames.base, frame, lidar.offset));
            }
        }
        let message = TFMessage { transforms: fixed.into_iter().collect() };
        self.tf_static.publish(&message).context("cannot publish /tf_static")
    }

    /// Hands what arrived to the stage.
    pub(super) fn obey(&mut self, stage: &mut Stage) {
        for ports in &mut self.ports {
            let Mail { command, pose } =
                std::mem::take(&mut *ports.mail.lock().unwrap_or_else(PoisonError::into_inner));
            let odd = match (command, pose) {
                (Some(command), _) if !stage.command(&ports.name, command) => "a command that is not finite",
                (_, Some(pose)) if !stage.put(&ports.name, pose) => "a pose that is none",
                _ => continue,
            };
            if !std::mem::replace(&mut ports.complained, true) {
                tracing::warn!(
                    "robot {:?}: {odd} is dropped; further ones are dropped in silence",
                    ports.name
                );
            }
        }
    }

    /// Publishes the state after a step, as far as it is due.
    pub(super) fn publish(&mut self, stage: &Stage) -> Result<()> {
        let now = stage.sim().time();
        let is_due = self.pace.is_due(now);
        if is_due {
            resize(&mut self.transforms.transforms, self.ports.len());
        }
        for (i, (ports, view)) in self.ports.iter_mut().zip(stage.sim().robots()).enumerate() {
            if is_due {
                write_odometry(now, &ports.frames, &view, &mut ports.odometry);
                ports.odom.publish(&ports.odometry).context("cannot publish odom")?;
                write_contacts(now, stage.sim(), &view, &mut ports.touched);
                ports.contacts.publish(&ports.touched).context("cannot publish contacts")?;
                let Frames { odom, base, .. } = &ports.frames;
                write_transform_message(now, odom, base, view.pose, &mut self.transforms.transforms[i]);
            }
            for (scanner, scan) in ports.scanners.iter_mut().zip(view.scans) {
                if scanner.pace.is_due(now) {
                    write_scan(now, scan, &mut scanner.message);
                    scanner.publisher.publish(&scanner.message).context("cannot publish scan")?;
                }
            }
        }
        if is_due && !self.ports.is_empty() {
            self.tf.publish(&self.transforms).context("cannot publish /tf")?;
        }
        Ok(())
    }
}

impl Ports {
    fn open(node: &Node, settings: &Settings, view: &RobotView<'_>) -> Result<Self> {
        let robot = view.robot;
        // A robot-world file knows no frames.
        let base = robot.base_frame.as_deref().filter(|_| settings.world_file.is_none());
        let frames = Frames::of(&robot.name, base, &settings.request.tf_namespace, view.lidars.len());
        let name = topic_token(&robot.name);
        if name != robot.name {
            tracing::warn!("robot {:?}: no topic can be named so; its topics are below {name:?}", robot.name);
        }
        let topic = |last: &str| format!("{name}/{last}");
        let mail: Arc<Mutex<Mail>> = Arc::default();
        let scanners = view.lidars.iter().enumerate().map(|(i, lidar)| {
            let topic = topic(&numbered("scan", i));
            let publisher = node.create_publisher(topic.as_str().qos(QOS_PROFILE_SENSOR_DATA))?;
            let period = Duration::try_from_secs_f64(lidar.scan_time).unwrap_or(settings.odom_period);
            let mut message = LaserScan::default();
            write_scanner(lidar, &frames.lasers[i], &mut message);
            anyhow::Ok(Scanner { publisher, message, pace: Pace::new(period) })
        });
        Ok(Ports {
            name: robot.name.clone(),
            base_frame: robot.base_frame.clone(),
            scanners: scanners.collect::<Result<_>>()?,
            frames,
            _inputs: [
                cmd_vel(node, &topic("cmd_vel"), settings.stamped, Arc::clone(&mail))?,
                set_pose(node, &topic("set_pose"), Arc::clone(&mail))?,
            ],
            mail,
            odom: node.create_publisher(topic("odom").as_str().keep_last(10).reliable().volatile())?,
            odometry: Odometry::default(),
            contacts: node
                .create_publisher(topic("contacts").as_str().keep_last(10).reliable().volatile())?,
            touched: Contacts::default(),
            complained: false,
        })
    }

    fn is_for(&self, view: &RobotView<'_>) -> bool {
        self.name == view.robot.name
            && self.base_frame == view.robot.base_frame
            && self.scanners.len() == view.lidars.len()
    }
}

fn cmd_vel(node: &Node, topic: &str, stamped: bool, mail: Arc<Mutex<Mail>>) -> Result<Arc<dyn Any>> {
    let options = topic.keep_last(1).reliable().volatile();
    let take = move |twist: &Twist| {
        let command = [twist.linear.x, twist.linear.y, twist.angular.z];
        mail.lock().unwrap_or_else(PoisonError::into_inner).command = Some(command);
    };
    Ok(if stamped {
        node.create_subscription::<TwistStamped, _>(options, move |message: TwistStamped| {
            take(&message.twist)
        })?
    } else {
        node.create_subscription::<Twist, _>(options, move |message: Twist| take(&message))?
    })
}

fn set_pose(node: &Node, topic: &str, mail: Arc<Mutex<Mail>>) -> Result<Arc<dyn Any>> {
    let options = topic.keep_last(1).reliable().volatile();
    Ok(node.create_subscription::<PoseStamped, _>(options, move |message: PoseStamped| {
        mail.lock().unwrap_or_else(PoisonError::into_inner).pose = Some(pose_from_wire(&message.pose));
    })?)
}

/// `scan`, `scan_1`, `scan_2`...
pub(super) fn numbered(name: &str, index: usize) -> String {
    if index == 0 { name.to_owned() } else { format!("{name}_{index}") }
}

/// A name that may be part of a topic's: letters, digits and underscores, no digit first.
fn topic_token(name: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
    let token: String = name.chars().map(plain).collect();
    if token.starts_with(|c: char| c.is_ascii_digit()) || token.is_empty() {
        format!("_{token}")
    } else {
        token
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_name_of_a_robot_becomes_one_of_a_topic() {
        for (name, topic) in
            [("jackal", "jackal"), ("robot-1", "robot_1"), ("3po", "_3po"), ("", "_"), ("né a", "n__a")]
        {
            assert_eq!(topic_token(name), topic);
        }
    }

    #[test]
    fn a_pace_is_kept_by_sim_time_and_does_not_make_up_for_a_gap() {
        let ms = |ms: i64| Time::from_nanos(ms * 1_000_000);
        let mut pace = Pace::new(Duration::from_millis(100));
        let due: Vec<i64> = (0..=500).step_by(20).filter(|&at| pace.is_due(ms(at))).collect();
        assert_eq!(due, [0, 100, 200, 300, 400, 500]);
        assert!(pace.is_due(ms(5000)));
        assert!(!pace.is_due(ms(5020)));
        assert!(pace.is_due(ms(5100)));
    }
}
