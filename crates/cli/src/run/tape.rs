//! The bag of a run: what the nodes would have published, in the encoding of ROS 2, so that ROS 2 tools play it and `promenade metrics` reads it.
//!
//! A disk that is full ends the bag and not the run; the command tells of it at the end.

use std::path::Path;

use anyhow::{Context as _, Result, anyhow};
use promenade_gait::Joint;
use promenade_human::BusFrame;
use promenade_human::message::{JointState, Pedestrian, Pose};
use promenade_hunav::metrics::Body;
use promenade_kernel::Time;
use promenade_recording::cdr::Encoder;
use promenade_recording::{BagWriter, Channel, Durability, WriteError};

/// Namespace of the environment, as in the launch files.
const NAMESPACE: &str = "/arena/env_0";
/// The frame that everything is in.
const MAP: &str = "map";

/// The topics of a robot.
struct RobotTopics {
    odometry: Channel,
    odom_frame: String,
    base_frame: String,
}

/// A robot at one step.
pub(super) struct RobotState<'a> {
    /// Index in the scenario.
    pub(super) index: usize,
    /// Its name.
    pub(super) name: &'a str,
    /// Where it is and how it moves.
    pub(super) body: &'a Body,
    /// Where it has to go.
    pub(super) goal: Option<[f64; 2]>,
}

/// A bag under way.
pub(crate) struct Tape {
    bag: BagWriter,
    encoder: Encoder,
    people: Channel,
    human_states: Channel,
    robot_states: Channel,
    transforms: Channel,
    static_transforms: Channel,
    robots: Vec<RobotTopics>,
    error: Option<WriteError>,
}

impl Tape {
    /// Begins a bag with the topics of these robots: name and base frame.
    pub(super) fn create<'a>(
        path: &Path,
        robots: impl Iterator<Item = (&'a str, Option<&'a str>)>,
    ) -> Result<Self> {
        let shown = || format!("cannot write {}", path.display());
        let mut bag = BagWriter::create(path).with_context(shown)?;
        let mut channel = |topic: &str, message: &str, durability| {
            bag.channel(topic, message, durability).with_context(shown)
        };
        let volatile = Durability::Volatile;
        let topic = |name: &str| format!("{NAMESPACE}/{name}");
        let people = channel(&topic("arena_peds"), "arena_people_msgs/msg/Pedestrians", volatile)?;
        let human_states = channel(&topic("human_states"), "hunav_msgs/msg/Agents", volatile)?;
        let robot_states = channel(&topic("robot_states"), "hunav_msgs/msg/Agent", volatile)?;
        let transforms = channel("/tf", "tf2_msgs/msg/TFMessage", volatile)?;
        let static_transforms = channel("/tf_static", "tf2_msgs/msg/TFMessage", Durability::Latched)?;
        let mut topics = Vec::new();
        for (name, base_frame) in robots {
            topics.push(RobotTopics {
                odometry: channel(&topic(&format!("{name}/odom")), "nav_msgs/msg/Odometry", volatile)?,
                odom_frame: format!("env_0/{name}/odom"),
                base_frame: base_frame.map_or_else(|| format!("env_0/{name}/base_link"), str::to_owned),
            });
        }
        let mut tape = Tape {
            bag,
            encoder: Encoder::default(),
            people,
            human_states,
            robot_states,
            transforms,
            static_transforms,
            robots: topics,
            error: None,
        };
        tape.write_static_transforms();
        Ok(tape)
    }

    /// Writes the index; the number of messages.
    pub(super) fn finish(mut self) -> Result<u64> {
        if let Some(error) = self.error.take() {
            return Err(anyhow!(error).context("the bag is not whole"));
        }
        self.bag.finish().context("the bag is not whole")?;
        Ok(self.bag.written())
    }

    fn write(&mut self, channel: Channel, now: Time) {
        if self.error.is_none() {
            let now = u64::try_from(now.nanos()).unwrap_or(0);
            self.error = self.bag.write(channel, now, self.encoder.bytes()).err();
        }
    }

    /// A message of `arena_peds`.
    pub(super) fn people(&mut self, frame: &BusFrame<'_>) {
        let to = self.encoder.begin();
        header(to, frame.stamp, frame.frame_id);
        to.length(frame.pedestrians.len());
        for (index, entry) in frame.pedestrians.iter().enumerate() {
            pedestrian(to, &entry.pedestrian, frame, index);
        }
        self.write(self.people, frame.now);
    }

    /// What HuNavSim's manager would show: everybody, and the first robot.
    pub(super) fn states<'a>(
        &mut self,
        now: Time,
        people: impl ExactSizeIterator<Item = (&'a str, &'a Body)>,
        robot: &RobotState<'_>,
    ) {
        let to = self.encoder.begin();
        header(to, now, MAP);
        to.length(people.len());
        for (name, body) in people {
            agent(to, 1, name, body, None);
        }
        self.write(self.human_states, now);
        let to = self.encoder.begin();
        agent(to, 2, robot.name, robot.body, robot.goal);
        self.write(self.robot_states, now);
    }

    /// Odometry and transform of a robot. Odometry is exact: its frame is the map.
    pub(super) fn robot(&mut self, now: Time, robot: &RobotState<'_>) {
        let Some(RobotTopics { odometry, odom_frame, base_frame }) = self.robots.get(robot.index) else {
            return;
        };
        let body = robot.body;
        let at = Pose::planar(body.position[0], body.position[1], body.yaw);
        let (sin, cos) = body.yaw.sin_cos();
        let [vx, vy] = body.velocity;
        let to = self.encoder.begin();
        header(to, now, odom_frame);
        to.text(base_frame.as_bytes());
        pose(to, &at);
        to.numbers(&[0.0; 36]);
        // Velocities of odometry are those of the body frame.
        to.numbers(&[vx * cos + vy * sin, vy * cos - vx * sin, 0.0]).numbers(&[0.0, 0.0, body.angular_vel]);
        to.numbers(&[0.0; 36]);
        let odometry = *odometry;
        let to = &mut self.encoder;
        let now_ns = u64::try_from(now.nanos()).unwrap_or(0);
        if self.error.is_none() {
            self.error = self.bag.write(odometry, now_ns, to.bytes()).err();
        }
        to.begin().length(1);
        transform(to, now, odom_frame, base_frame, &at);
        self.write(self.transforms, now);
    }

    fn write_static_transforms(&mut self) {
        let to = self.encoder.begin();
        to.length(self.robots.len());
        for robot in &self.robots {
            transform(to, Time::ZERO, MAP, &robot.odom_frame, &Pose::default());
        }
        self.write(self.static_transforms, Time::ZERO);
    }
}

fn header(to: &mut Encoder, stamp: Time, frame: &str) {
    const SECOND: i64 = 1_000_000_000;
    let seconds = i32::try_from(stamp.nanos().div_euclid(SECOND)).unwrap_or(i32::MAX);
    to.number(seconds).number(stamp.nanos().rem_euclid(SECOND) as u32).text(frame.as_bytes());
}

fn pose(to: &mut Encoder, pose: &Pose) {
    to.numbers(&pose.position).numbers(&pose.orientation);
}

fn transform(to: &mut Encoder, stamp: Time, parent: &str, child: &str, at: &Pose) {
    header(to, stamp, parent);
    to.text(child.as_bytes());
    pose(to, at);
}

fn pedestrian(to: &mut Encoder, ped: &Pedestrian, frame: &BusFrame<'_>, index: usize) {
    to.text(ped.name.as_bytes()).number(ped.id);
    pose(to, &ped.pose);
    to.numbers(&ped.twist.linear).numbers(&ped.twist.angular).number(ped.animation_state);
    to.length(ped.gestures.len());
    for gesture in &ped.gestures {
        to.text(gesture.slot.as_bytes()).numbers(&gesture.at).text(gesture.clip.as_bytes());
        to.text(gesture.hand.as_bytes()).number(gesture.render_pose_override);
    }
    joints(to, &ped.joint_state, frame, index);
    to.number(ped.gait_phase).number(ped.gait_cadence);
    to.text(ped.agent_type.as_bytes()).text(ped.model_uri.as_bytes());
}

/// The joints of a person: synthesised ones or those from upstream, and driven ones, which replace their namesakes or follow.
fn joints(to: &mut Encoder, own: &JointState, frame: &BusFrame<'_>, index: usize) {
    let is_own = frame.joints(index).is_none();
    let (mut names, mut positions): (Vec<&str>, Vec<f64>) = match frame.joints(index) {
        Some(posture) => (Joint::NAMES.to_vec(), posture.to_vec()),
        None => (own.name.iter().map(String::as_str).collect(), own.position.clone()),
    };
    let before = names.len();
    if positions.len() == before {
        for (name, angle) in frame.driven(index) {
            match names[..before].iter().position(|known| *known == name) {
                Some(at) => positions[at] = angle,
                None => {
                    names.push(name);
                    positions.push(angle);
                }
            }
        }
    }
    let (stamp, frame_id) = if is_own { (own.stamp, own.frame_id.as_str()) } else { (frame.now, "") };
    header(to, stamp, frame_id);
    to.length(names.len());
    names.iter().for_each(|name| {
        to.text(name.as_bytes());
    });
    to.length(positions.len()).numbers(&positions);
    for rates in [&own.velocity, &own.effort] {
        let rates = if is_own { rates.as_slice() } else { &[] };
        // Of joints that have none they are 0; a state without any stays without.
        let more = if !rates.is_empty() && rates.len() == before { names.len() - before } else { 0 };
        to.length(rates.len() + more).numbers(rates);
        (0..more).for_each(|_| {
            to.number(0.0_f64);
        });
    }
}

/// An agent of HuNavSim of a kind (1 = person, 2 = robot), as far as a run knows it.
fn agent(to: &mut Encoder, kind: u8, name: &str, body: &Body, goal: Option<[f64; 2]>) {
    to.number(body.id).number(kind).number(0_u8).text(name.as_bytes());
    to.number(i8::try_from(body.group_id).unwrap_or(-1));
    pose(to, &Pose::planar(body.position[0], body.position[1], body.yaw));
    to.number(body.yaw as f32);
    to.numbers(&[body.velocity[0], body.velocity[1], 0.0]).numbers(&[0.0, 0.0, body.angular_vel]);
    to.number(0.0_f32).number(body.radius as f32);
    to.number(body.linear_vel as f32).number(body.angular_vel as f32);
    // Behaviour: regular, and nothing about it is known.
    to.number(body.behavior as u8)
        .number(0_u8)
        .number(0_u8)
        .number(0.0_f32)
        .number(false)
        .numbers(&[0.0_f32; 6]);
    to.text(b"");
    to.length(usize::from(goal.is_some()));
    if let Some([x, y]) = goal {
        pose(to, &Pose::planar(x, y, 0.0));
    }
    to.number(false).number(0.2_f32);
    to.length(body.closest_obs.len());
    body.closest_obs.iter().for_each(|[x, y]| {
        to.numbers(&[*x, *y, 0.0]);
    });
}
