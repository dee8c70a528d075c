//! What a run did, per person, without any wall time: equal inputs give equal bytes.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use blake2::digest::consts::U16;
use blake2::{Blake2b, Digest};
use promenade_human::entity::DynamicObstacle;
use promenade_human::message::{Pedestrian, Pose, animation_state};
use promenade_human::outbox::{Marker, MarkerTopic};
use promenade_human::sims::world::{RobotResults, Touched};
use promenade_human::{BusFrame, Environment, Outbox, Outcome, PED_RADIUS, Robot, StreamStats};
use promenade_hunav::metrics::{self, Body, Evaluation, Metric};
use promenade_kernel::Time;
use serde::Serialize;
use serde_json::{Map, Value};

use super::observe::Judged;
use super::tape::{RobotState, Tape};
use super::{Physics, RunArgs};

/// Listens on the bus and keeps what the report needs.
#[derive(Default)]
pub(crate) struct Recorder {
    messages: u64,
    people: BTreeMap<String, Track>,
    digest: Blake2b<U16>,
    /// Everybody in the last message.
    now: Vec<(String, Body)>,
    /// Radii of people by name on the bus, of those who declare one.
    radii: BTreeMap<String, f64>,
    tape: Option<Tape>,
}

#[derive(Default)]
struct Track {
    id: u32,
    since: Time,
    first: Option<Pose>,
    last: Option<Pose>,
    seen: Time,
    distance: f64,
    moving: f64,
    max_speed: f64,
    /// Seconds in each animation state.
    states: [f64; STATES.len()],
}

/// Names of the animation states, in the order of their numbers.
const STATES: [&str; 7] = ["idle", "walking", "running", "panic", "surprised", "curious", "threatening"];

impl Recorder {
    /// What a recorder has to know of an episode before it begins.
    pub(super) fn prepare(&mut self, people: &[DynamicObstacle], tape: Option<Tape>) {
        let radius = |person: &DynamicObstacle| person.entry.as_ref()?.agent.as_ref()?.radius;
        let known = people.iter().filter_map(|person| Some((person.name.clone(), radius(person)?)));
        self.radii = known.collect();
        self.tape = tape;
    }

    /// Names and bodies of everybody in the last message.
    pub(super) fn people_now(&self) -> impl ExactSizeIterator<Item = (&str, &Body)> {
        self.now.iter().map(|(name, body)| (name.as_str(), body))
    }

    /// Writes a robot into the bag, if there is one; with the first robot the states of everybody.
    pub(super) fn write_robot(&mut self, now: Time, robot: &RobotState<'_>) {
        let Some(tape) = &mut self.tape else { return };
        tape.robot(now, robot);
        if robot.index == 0 {
            tape.states(now, self.now.iter().map(|(name, body)| (name.as_str(), body)), robot);
        }
    }

    /// The bag, to finish it.
    pub(super) fn take_tape(&mut self) -> Option<Tape> {
        self.tape.take()
    }

    fn see(&mut self, index: usize, ped: &Pedestrian) {
        if index == self.now.len() {
            self.now.push((String::new(), Body::default()));
        }
        let (name, body) = &mut self.now[index];
        name.clone_from(&ped.name);
        let [vx, vy, _] = ped.twist.linear;
        *body = Body {
            id: ped.id.cast_signed(),
            radius: self.radii.get(&ped.name).copied().unwrap_or(PED_RADIUS),
            position: [ped.pose.position[0], ped.pose.position[1]],
            yaw: ped.pose.yaw(),
            velocity: [vx, vy],
            linear_vel: vx.hypot(vy),
            angular_vel: ped.twist.angular[2],
            ..Body::default()
        };
    }
}

impl Outbox for Recorder {
    fn publish_pedestrians(&mut self, frame: &BusFrame<'_>) {
        self.messages += 1;
        if let Some(tape) = &mut self.tape {
            tape.people(frame);
        }
        self.now.truncate(frame.pedestrians.len());
        for (index, entry) in frame.pedestrians.iter().enumerate() {
            self.see(index, &entry.pedestrian);
        }
        self.digest.update(frame.stamp.nanos().to_le_bytes());
        for (i, entry) in frame.pedestrians.iter().enumerate() {
            let ped = &entry.pedestrian;
            self.digest.update(ped.id.to_le_bytes());
            let joints = frame.joints(i).map_or(ped.joint_state.position.as_slice(), |joints| joints);
            for value in ped.pose.position.iter().chain(&ped.pose.orientation).chain(joints) {
                self.digest.update(value.to_le_bytes());
            }
            let track = self.people.entry(ped.name.clone()).or_default();
            let [x, y, _] = ped.pose.position;
            if let Some(before) = track.last {
                track.distance += (x - before.position[0]).hypot(y - before.position[1]);
                let since = frame.stamp.saturating_since(track.seen).as_secs_f64();
                if ped.animation_state != animation_state::IDLE {
                    track.moving += since;
                }
                if let Some(seconds) = track.states.get_mut(usize::from(ped.animation_state)) {
                    *seconds += since;
                }
            }
            track.id = ped.id;
            if track.first.is_none() {
                (track.first, track.since) = (Some(ped.pose), frame.stamp);
            }
            track.last = Some(ped.pose);
            track.seen = frame.stamp;
            track.max_speed = track.max_speed.max(ped.twist.linear[0].hypot(ped.twist.linear[1]));
        }
    }

    fn publish_markers(&mut self, _topic: MarkerTopic, _now: Time, _markers: &[Marker]) {}
}

/// A recorder that the run also reads.
impl Outbox for Shared {
    fn publish_pedestrians(&mut self, frame: &BusFrame<'_>) {
        self.0.borrow_mut().publish_pedestrians(frame);
    }

    fn publish_markers(&mut self, topic: MarkerTopic, now: Time, markers: &[Marker]) {
        self.0.borrow_mut().publish_markers(topic, now, markers);
    }
}

/// See [`Recorder`].
pub(crate) struct Shared(pub(crate) Rc<RefCell<Recorder>>);

/// The report file.
#[derive(Serialize)]
pub(crate) struct Run {
    format: &'static str,
    scenario: String,
    human: String,
    seed: u64,
    /// `running`, `success` or `failed`, as in the episode record.
    outcome: &'static str,
    outcome_info: String,
    timing: Timing,
    stream: Stream,
    pedestrians: Vec<PedestrianResult>,
    robots: Vec<RobotResult>,
    /// BLAKE2b-128 over every pose and joint published, in order.
    digest: String,
}

/// Simulated time only.
#[derive(Serialize)]
struct Timing {
    simulated_s: f64,
    frames: u64,
    bus_messages: u64,
}

#[derive(Serialize)]
struct Stream {
    batches: u64,
    accepted: u64,
    released: u64,
    timed_out: u64,
    dropped_unknown: u64,
    dropped_bad_joints: u64,
    dropped_not_finite: u64,
}

#[derive(Serialize)]
struct PedestrianResult {
    name: String,
    id: u32,
    /// x, y in metres and yaw in radians.
    start: [f64; 3],
    end: [f64; 3],
    /// Simulated time of the first and the last message with this person.
    from_s: f64,
    until_s: f64,
    distance_m: f64,
    moving_s: f64,
    mean_moving_speed: f64,
    max_speed: f64,
    /// Simulated time in each animation state that was seen.
    states_s: BTreeMap<&'static str, f64>,
}

#[derive(Serialize)]
struct RobotResult {
    name: String,
    start: [f64; 3],
    end: [f64; 3],
    distance_m: f64,
    /// In the robot world only.
    #[serde(flatten)]
    touching: Option<Touching>,
    /// `none`, `running`, `completed` or `failed`.
    task: &'static str,
    metrics: RobotMetrics,
}

/// The metrics of HuNavSim from the start until the robot's task had ended; see [`Metric`].
#[derive(Serialize)]
struct RobotMetrics {
    until_s: f64,
    steps: usize,
    /// Where the robot was to go at last.
    goal: Option<[f64; 2]>,
    /// With the public evaluator's exchanged angles.
    compatible: Map<String, Value>,
    /// With the angles that were meant.
    corrected: Map<String, Value>,
}

impl From<&Judged> for RobotMetrics {
    fn from(judged: &Judged) -> Self {
        let [compatible, corrected] = &judged.evaluations;
        RobotMetrics {
            until_s: judged.until.as_secs_f64(),
            steps: compatible.stamps().len(),
            goal: judged.goal,
            compatible: values(compatible),
            corrected: values(corrected),
        }
    }
}

/// The metrics of an episode by name; null where one is not defined.
pub(crate) fn values(evaluation: &Evaluation) -> Map<String, Value> {
    let value = |metric: Metric| match evaluation.value(metric) {
        Some(metrics::Value::Number(number)) => Value::from(number),
        Some(metrics::Value::Truth(truth)) => Value::from(truth),
        None => Value::Null,
    };
    Metric::ALL.into_iter().map(|metric| (metric.name().to_owned(), value(metric))).collect()
}

/// How often a robot began to touch something, for how long it did, and how near it came to people.
#[derive(Serialize)]
struct Touching {
    contacts: Contacts,
    contact_s: f64,
    /// From edge to edge; null when there was nobody.
    nearest_person_m: Option<f64>,
}

#[derive(Serialize)]
struct Contacts {
    people: u32,
    robots: u32,
    /// And closed doors.
    walls: u32,
    things: u32,
}

impl From<&RobotResults> for Touching {
    fn from(results: &RobotResults) -> Self {
        let Touched { people, robots, walls, things } = results.touched;
        Touching {
            contacts: Contacts { people, robots, walls, things },
            contact_s: results.contact_time,
            nearest_person_m: results.nearest_person,
        }
    }
}

/// How far a robot drove and what it touched.
fn driven(physics: &Physics, robot: &Robot) -> (f64, Option<Touching>) {
    match physics {
        Physics::World(world) => world
            .borrow()
            .robot(&robot.sim_path)
            .map_or((0.0, None), |view| (view.results.distance, Some(Touching::from(view.results)))),
        Physics::Dummy(frames) => {
            (robot.base_frame.as_deref().map_or(0.0, |frame| frames.distance(frame)), None)
        }
    }
}

fn planar(pose: &Pose) -> [f64; 3] {
    [pose.position[0], pose.position[1], pose.yaw()]
}

impl Run {
    pub(super) fn new(
        args: &RunArgs,
        environment: &Environment,
        physics: &Physics,
        recorder: &Recorder,
        judged: &[Judged],
        stream: StreamStats,
        (end, frames): (Time, u64),
    ) -> Self {
        let pedestrians = recorder.people.iter().map(|(name, track)| PedestrianResult {
            name: name.clone(),
            id: track.id,
            start: planar(&track.first.unwrap_or_default()),
            end: planar(&track.last.unwrap_or_default()),
            from_s: track.since.as_secs_f64(),
            until_s: track.seen.as_secs_f64(),
            distance_m: track.distance,
            moving_s: track.moving,
            mean_moving_speed: if track.moving > 0.0 { track.distance / track.moving } else { 0.0 },
            max_speed: track.max_speed,
            states_s: STATES.into_iter().zip(track.states).filter(|(_, seconds)| *seconds > 0.0).collect(),
        });
        let episode = environment.episode();
        let tracked = environment.layer().cx().robots();
        let robots = episode.robots.iter().zip(judged).enumerate().map(|(i, (robot, judged))| {
            let seen = tracked.iter().find(|seen| seen.robot.name == robot.name);
            let (distance_m, touching) = driven(physics, robot);
            RobotResult {
                name: robot.name.clone(),
                start: planar(&robot.pose),
                end: planar(seen.map_or(&robot.pose, |seen| &seen.pose)),
                distance_m,
                touching,
                task: match environment.completed(i) {
                    _ if episode.scenario.robots[i].phases.is_empty() => "none",
                    None => "running",
                    Some(true) => "completed",
                    Some(false) => "failed",
                },
                metrics: judged.into(),
            }
        });
        let digest = recorder.digest.clone().finalize();
        Run {
            format: "promenade-report/1",
            scenario: episode.name.clone(),
            human: args.human.clone(),
            seed: args.seed,
            outcome: match environment.record().outcome {
                Outcome::Success => "success",
                Outcome::Failed => "failed",
                _ => "running",
            },
            outcome_info: environment.record().outcome_info.clone(),
            timing: Timing { simulated_s: end.as_secs_f64(), frames, bus_messages: recorder.messages },
            stream: Stream {
                batches: stream.batches,
                accepted: stream.accepted,
                released: stream.released,
                timed_out: stream.timed_out,
                dropped_unknown: stream.unknown,
                dropped_bad_joints: stream.bad_joints,
                dropped_not_finite: stream.not_finite,
            },
            pedestrians: pedestrians.collect(),
            robots: robots.collect(),
            digest: digest.iter().map(|byte| format!("{byte:02x}")).collect(),
        }
    }

    pub(crate) fn people(&self) -> usize {
        self.pedestrians.len()
    }

    pub(crate) fn simulated_s(&self) -> f64 {
        self.timing.simulated_s
    }

    pub(crate) fn bus_messages(&self) -> u64 {
        self.timing.bus_messages
    }
}
