//! A `robot_world` under test whose clock the test steps, and a client of one of its robots.

use std::path::Path;

use anyhow::{Context as _, Result, ensure};
use futures::FutureExt as _;
use r2r::QosProfile;
use r2r::geometry_msgs::msg::{Pose, PoseStamped, Twist, Vector3};
use r2r::nav_msgs::msg::Odometry;
use r2r::promenade_msgs::msg::Contacts;
use r2r::promenade_msgs::srv::StepClock;
use r2r::rosgraph_msgs::msg::Clock;
use r2r::sensor_msgs::msg::LaserScan;
use r2r::std_srvs::srv::SetBool;
use r2r::tf2_msgs::msg::TFMessage;

use crate::wire::nanos;
use crate::{Mailbox, Process, Stage, node_arguments};

/// Seconds of a step of the world, its default.
pub const DT: f64 = 0.02;

/// See the module.
pub struct RobotWorld {
    /// The node.
    pub process: Process,
    /// What came on `/clock`.
    pub clocks: Mailbox<Clock>,
    pause: r2r::Client<SetBool::Service>,
    step: r2r::Client<StepClock::Service>,
    namespace: String,
}

/// The topics of one robot.
pub struct RobotClient {
    /// What came on `odom`.
    pub odom: Mailbox<Odometry>,
    /// What came on `scan`.
    pub scans: Mailbox<LaserScan>,
    /// What came on `contacts`.
    pub contacts: Mailbox<Contacts>,
    cmd_vel: r2r::Publisher<Twist>,
    set_pose: r2r::Publisher<PoseStamped>,
}

impl RobotWorld {
    /// Starts the node, paused, and waits until its services are there.
    ///
    /// # Errors
    /// When it does not start.
    pub fn start(stage: &mut Stage, namespace: &str, further: &[(&str, &str)]) -> Result<Self> {
        let parameters: Vec<_> = [("start_paused", "true")].iter().chain(further).copied().collect();
        let clocks = stage.subscribe("/clock", QosProfile::default().keep_last(1000))?;
        let process = Process::node("robot_world", node_arguments(namespace, &parameters))?;
        let service = |name: &str| format!("{namespace}/robot_world/{name}");
        let qos = QosProfile::services_default;
        let pause = stage.node.create_client(&service("pause"), qos())?;
        let step = stage.node.create_client(&service("step"), qos())?;
        for available in [r2r::Node::is_available(&pause)?.boxed(), r2r::Node::is_available(&step)?.boxed()] {
            stage.wait("services of robot_world", available).with_context(|| process.log())??;
        }
        Ok(Self { process, clocks, pause, step, namespace: namespace.to_owned() })
    }

    /// The node for a scenario.
    ///
    /// # Errors
    /// When it does not start.
    pub fn of_scenario(
        stage: &mut Stage,
        namespace: &str,
        scenario: &Path,
        further: &[(&str, &str)],
    ) -> Result<Self> {
        let prefix = namespace.rsplit('/').next().unwrap_or_default();
        let scenario = scenario.to_str().context("a plain path")?;
        let parameters: Vec<_> =
            [("scenario", scenario), ("prefix", prefix)].iter().chain(further).copied().collect();
        Self::start(stage, namespace, &parameters)
    }

    /// A client of a robot, once it and the node know each other.
    ///
    /// # Errors
    /// When they do not.
    pub fn robot(&self, stage: &mut Stage, name: &str) -> Result<RobotClient> {
        let topic = |last: &str| format!("{}/{name}/{last}", self.namespace);
        let qos = || QosProfile::default().keep_last(10_000);
        let odom = stage.subscribe(&topic("odom"), qos())?;
        let scans = stage.subscribe(&topic("scan"), QosProfile::sensor_data())?;
        let contacts = stage.subscribe(&topic("contacts"), qos())?;
        let cmd_vel = stage.node.create_publisher::<Twist>(&topic("cmd_vel"), QosProfile::default())?;
        let set_pose =
            stage.node.create_publisher::<PoseStamped>(&topic("set_pose"), QosProfile::default())?;
        for matched in [
            cmd_vel.wait_for_inter_process_subscribers()?.boxed(),
            set_pose.wait_for_inter_process_subscribers()?.boxed(),
        ] {
            stage.wait("reader of cmd_vel", matched).with_context(|| self.process.log())??;
        }
        let client = RobotClient { odom, scans, contacts, cmd_vel, set_pose };
        // The readers are matched when something arrived on each topic.
        stage.turn_until("odometry, scan and contacts", |stage| {
            self.step(stage, 0.1)?;
            Ok((!client.odom.is_empty() && !client.scans.is_empty() && !client.contacts.is_empty())
                .then_some(()))
        })?;
        Ok(client)
    }

    /// Steps the clock and answers what it reads then, nanoseconds.
    ///
    /// # Errors
    /// When the node refuses or does not answer.
    pub fn step(&self, stage: &mut Stage, seconds: f64) -> Result<i64> {
        let answer = self.try_step(stage, seconds)?;
        ensure!(answer.success, "{answer:?}");
        Ok(nanos(&answer.clock))
    }

    /// Asks for a step.
    ///
    /// # Errors
    /// When the node does not answer.
    pub fn try_step(&self, stage: &mut Stage, seconds: f64) -> Result<StepClock::Response> {
        let answer = self.step.request(&StepClock::Request { seconds })?;
        Ok(stage.wait("answer of the step", answer).with_context(|| self.process.log())??)
    }

    /// Pauses the clock, or lets it run.
    ///
    /// # Errors
    /// When the node refuses or does not answer.
    pub fn pause(&self, stage: &mut Stage, paused: bool) -> Result<()> {
        let answer = self.pause.request(&SetBool::Request { data: paused })?;
        let answer = stage.wait("answer of the pause", answer)??;
        ensure!(answer.success, "{answer:?}");
        Ok(())
    }

    /// Steps the clock and answers the robot's odometry of the last step of the world.
    ///
    /// # Errors
    /// When it does not come.
    pub fn advance(&self, stage: &mut Stage, robot: &RobotClient, seconds: f64) -> Result<Odometry> {
        let at = self.step(stage, seconds)?;
        let look = || robot.odom.find(|odom| at - nanos(&odom.header.stamp) < (DT * 1e9) as i64);
        stage.until_some("odometry of the step", look).with_context(|| self.process.log())
    }

    /// The last scan that the robot has made by now.
    ///
    /// # Errors
    /// When it makes none.
    pub fn scan(&self, stage: &mut Stage, robot: &RobotClient) -> Result<LaserScan> {
        let from = self.step(stage, 0.0)?;
        stage.turn_until("scan", |stage| {
            self.step(stage, 0.1)?;
            Ok(robot.scans.find(|scan| nanos(&scan.header.stamp) > from))
        })
    }
}

impl RobotClient {
    /// Publishes a command: forward and left in m/s, yaw rate in rad/s.
    ///
    /// # Errors
    /// When ROS cannot publish.
    pub fn command(&self, forward: f64, left: f64, yaw_rate: f64) -> Result<()> {
        Ok(self.cmd_vel.publish(&Twist {
            linear: Vector3 { x: forward, y: left, z: 0.0 },
            angular: Vector3 { x: 0.0, y: 0.0, z: yaw_rate },
        })?)
    }

    /// Publishes a pose to be put to.
    ///
    /// # Errors
    /// When ROS cannot publish.
    pub fn put(&self, pose: Pose) -> Result<()> {
        Ok(self.set_pose.publish(&PoseStamped { pose, ..PoseStamped::default() })?)
    }

    /// Commands the robot again and again, a step of the world at a time, until its odometry passes `test`.
    ///
    /// # Errors
    /// When it does not.
    pub fn drive_until(
        &self,
        stage: &mut Stage,
        world: &RobotWorld,
        command: [f64; 3],
        what: &str,
        mut test: impl FnMut(&Odometry) -> bool,
    ) -> Result<Odometry> {
        let [forward, left, yaw_rate] = command;
        let seen = stage.turn_until(what, |stage| {
            self.command(forward, left, yaw_rate)?;
            let odom = world.advance(stage, self, DT)?;
            Ok(test(&odom).then_some(odom))
        });
        seen.with_context(|| world.process.log())
    }
}

/// Collects `/tf`, and `/tf_static`, which is latched.
///
/// # Errors
/// When a subscription cannot be created.
pub fn transforms(stage: &mut Stage) -> Result<[Mailbox<TFMessage>; 2]> {
    let moving = stage.subscribe("/tf", QosProfile::default().keep_last(10_000))?;
    let fixed = stage.subscribe("/tf_static", QosProfile::default().keep_last(10).transient_local())?;
    Ok([moving, fixed])
}

/// x, y and heading.
#[must_use]
pub fn planar(pose: &Pose) -> [f64; 3] {
    let q = &pose.orientation;
    [pose.position.x, pose.position.y, 2.0 * q.z.atan2(q.w)]
}

/// How far from `from` a ray at an angle is when it first meets a disc.
#[must_use]
pub fn ray_to_disc(from: [f64; 2], angle: f64, centre: [f64; 2], radius: f64) -> Option<f64> {
    let (sin, cos) = angle.sin_cos();
    let (dx, dy) = (centre[0] - from[0], centre[1] - from[1]);
    let (along, aside) = (dx * cos + dy * sin, dy * cos - dx * sin);
    let half = radius * radius - aside * aside;
    (along > 0.0 && half > 0.0).then(|| along - half.sqrt())
}
