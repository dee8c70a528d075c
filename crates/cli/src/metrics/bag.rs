//! A bag as steps of a robot among people: HuNavSim's own states when it has them, else the bus and the robot's odometry or TF.
//!
//! Both are followed at once, since a bag tells its topics only as it is read.

use std::collections::VecDeque;
use std::path::Path;

use anyhow::{Context as _, Result};
use indicatif::{ProgressBar, ProgressStyle};
use promenade_hunav::Point;
use promenade_hunav::metrics::{Accumulator, Body, Evaluation, Frame, Settings};
use promenade_recording::cdr::DecodeError;
use promenade_recording::{Reading, Schema, Topic, Visitor, read as read_bag};

use super::align::Aligner;
use super::frames::{Frames, compose};
use super::{MetricsArgs, messages};
use crate::draw::episode::Picture;

/// States that wait for their counterpart at most; more are surplus.
const MOST_WAITING: usize = 10_000;
/// A clock that goes back by more begins another episode, nanoseconds.
const RESTART_NS: i64 = 500_000_000;
/// Points of a drawn way at most; every second one goes when there are more.
const MOST_POINTS: usize = 4000;
/// People whose ways are drawn at most.
const MOST_WAYS: usize = 500;

/// What a bag gave.
pub(crate) struct Found {
    /// Name of the file.
    pub(crate) name: String,
    pub(crate) evaluation: Evaluation,
    /// Where the robot was to go.
    pub(crate) goals: Vec<Point>,
    /// The topics that the numbers come from.
    pub(crate) topics: Vec<String>,
    /// People in the first and the most in any step.
    pub(crate) people: usize,
    /// What is worth knowing.
    pub(crate) notes: Vec<String>,
    ways: Vec<Vec<Point>>,
}

impl Found {
    /// What there is to draw.
    pub(crate) fn picture(&self) -> Picture<'_> {
        Picture { evaluation: &self.evaluation, goals: &self.goals, ways: &self.ways }
    }
}

/// The ways of people, thinned out as they grow.
#[derive(Default)]
struct Ways {
    ways: Vec<(i32, Vec<Point>)>,
    every: usize,
    step: usize,
}

impl Ways {
    fn see(&mut self, bodies: &[Body]) {
        self.step += 1;
        if !self.step.is_multiple_of(self.every.max(1)) {
            return;
        }
        for (index, body) in bodies.iter().enumerate().filter(|(_, body)| body.is_finite()) {
            // Orders stay, so that nobody has to be searched for.
            let at = match self.ways.get(index) {
                Some((id, _)) if *id == body.id => Some(index),
                _ => self.ways.iter().position(|(id, _)| *id == body.id),
            };
            match at {
                Some(at) => self.ways[at].1.push(body.position),
                None if self.ways.len() < MOST_WAYS => self.ways.push((body.id, vec![body.position])),
                None => {}
            }
        }
        if self.ways.iter().any(|(_, way)| way.len() > MOST_POINTS) {
            self.every = self.every.max(1) * 2;
            for (_, way) in &mut self.ways {
                let mut index = 0;
                way.retain(|_| {
                    index += 1;
                    index % 2 == 1
                });
            }
        }
    }
}

/// Steps that became whole, cut to the asked-for time.
struct Steps {
    accumulator: Accumulator,
    first_ns: Option<i64>,
    last_ns: i64,
    /// Number of the episode that runs, and of the one that is meant.
    episode: usize,
    meant: usize,
    from_ns: i64,
    to_ns: i64,
    people: usize,
    /// Whether any body brought a point of an obstacle.
    knows_obstacles: bool,
    ways: Option<Ways>,
}

impl Steps {
    fn new(args: &MetricsArgs) -> Self {
        let settings = Settings {
            compat: !args.corrected,
            goals: args.goal.clone(),
            goal_radius: args.goal_radius,
            ..Settings::default()
        };
        let nanos = |seconds: f64| (seconds * 1e9) as i64;
        Steps {
            accumulator: Accumulator::new(settings),
            first_ns: None,
            last_ns: i64::MIN,
            episode: 1,
            meant: args.episode,
            from_ns: nanos(args.from),
            to_ns: args.to.map_or(i64::MAX, nanos),
            people: 0,
            knows_obstacles: false,
            ways: args.plot.is_some().then(Ways::default),
        }
    }

    fn push(&mut self, frame: &Frame) {
        if self.last_ns.saturating_sub(frame.stamp_ns) > RESTART_NS {
            self.episode += 1;
            self.first_ns = None;
        }
        self.last_ns = frame.stamp_ns;
        let first = *self.first_ns.get_or_insert(frame.stamp_ns);
        if self.episode != self.meant {
            return;
        }
        let since = frame.stamp_ns.saturating_sub(first);
        if !(self.from_ns..=self.to_ns).contains(&since) {
            return;
        }
        self.people = self.people.max(frame.agents.len());
        let mut bodies = frame.agents.iter().chain([&frame.robot]);
        self.knows_obstacles |= bodies.any(|body| !body.closest_obs.is_empty());
        if let Some(ways) = &mut self.ways {
            ways.see(&frame.agents);
        }
        self.accumulator.push(frame);
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    HumanStates,
    RobotStates,
    People,
    Odometry,
    Transforms,
    Goal,
}

const ROLES: [Role; 6] =
    [Role::HumanStates, Role::RobotStates, Role::People, Role::Odometry, Role::Transforms, Role::Goal];

struct Watcher<'a> {
    args: &'a MetricsArgs,
    /// The topic of each role; those that came too late.
    topics: Vec<(Role, String)>,
    others: Vec<(Role, String)>,
    human_states: VecDeque<(i64, Vec<Body>)>,
    robot_states: VecDeque<Body>,
    surplus: usize,
    states: Steps,
    aligner: Aligner,
    bus: Steps,
    frames: Frames,
    /// The last place of the frame of the robot, to tell velocities.
    last_place: Option<(i64, [f64; 3])>,
    goals_of_states: Vec<Point>,
    goal_pose: Option<Point>,
    bar: ProgressBar,
}

impl Watcher<'_> {
    fn role(&self, topic: &Topic) -> Option<Role> {
        Some(match topic.message.as_str() {
            "hunav_msgs/msg/Agents" => Role::HumanStates,
            "hunav_msgs/msg/Agent" => Role::RobotStates,
            "arena_people_msgs/msg/Pedestrians" if topic.name.ends_with("arena_peds") => Role::People,
            "nav_msgs/msg/Odometry" if self.args.frame.is_none() => Role::Odometry,
            "tf2_msgs/msg/TFMessage" => Role::Transforms,
            "geometry_msgs/msg/PoseStamped" if topic.name.ends_with("goal_pose") => Role::Goal,
            _ => return None,
        })
    }

    /// Whether the command line lets a topic be.
    fn is_meant(&self, role: Role, name: &str) -> bool {
        match role {
            Role::HumanStates | Role::People => name.contains(&self.args.people),
            Role::RobotStates | Role::Odometry | Role::Goal => name.contains(&self.args.robot),
            Role::Transforms => true,
        }
    }

    fn pair_states(&mut self) {
        while !self.human_states.is_empty() && !self.robot_states.is_empty() {
            if let (Some((stamp_ns, agents)), Some(robot)) =
                (self.human_states.pop_front(), self.robot_states.pop_front())
            {
                self.states.push(&Frame { stamp_ns, robot, agents });
            }
        }
    }

    fn odometry(&mut self, odometry: &messages::Odometry) {
        let [x, y, _] = odometry.pose.position;
        let own = [x, y, odometry.pose.yaw()];
        let [x, y, yaw] = compose(self.frames.place(&odometry.frame), own);
        let (sin, cos) = yaw.sin_cos();
        let [ahead, left, turning] = odometry.velocity;
        let velocity = [ahead * cos - left * sin, ahead * sin + left * cos];
        self.robot(odometry.stamp_ns, [x, y, yaw], velocity, turning);
    }

    /// The robot's frame moved: its velocity is the difference to where it was.
    fn frame(&mut self, stamp_ns: i64, place: [f64; 3]) {
        let seconds = |from: i64| stamp_ns.saturating_sub(from) as f64 / 1e9;
        let (velocity, turning) = match self.last_place {
            Some((at, before)) if stamp_ns > at => {
                let dt = seconds(at);
                let moved = [(place[0] - before[0]) / dt, (place[1] - before[1]) / dt];
                (moved, promenade_hunav::wrap(place[2] - before[2]) / dt)
            }
            _ => ([0.0; 2], 0.0),
        };
        self.last_place = Some((stamp_ns, place));
        self.robot(stamp_ns, place, velocity, turning);
    }

    fn robot(&mut self, stamp_ns: i64, [x, y, yaw]: [f64; 3], velocity: [f64; 2], turning: f64) {
        let body = Body {
            id: -1,
            radius: self.args.robot_radius,
            position: [x, y],
            yaw: promenade_hunav::wrap(yaw),
            velocity,
            linear_vel: velocity[0].hypot(velocity[1]),
            angular_vel: turning,
            ..Body::default()
        };
        let Watcher { aligner, bus, .. } = self;
        aligner.robot(stamp_ns, body, &mut |frame| bus.push(frame));
    }
}

impl Visitor for Watcher<'_> {
    fn topic(&mut self, topic: &Topic) -> Option<usize> {
        let role = self.role(topic)?;
        let number = ROLES.iter().position(|known| *known == role);
        let taken = self.topics.iter().find(|(known, _)| *known == role).map(|(_, name)| name == &topic.name);
        match taken {
            Some(true) => number,
            // Transforms have two topics, and all of them count.
            Some(false) if role != Role::Transforms => {
                self.others.push((role, topic.name.clone()));
                None
            }
            _ if !self.is_meant(role, &topic.name) => {
                self.others.push((role, topic.name.clone()));
                None
            }
            _ => {
                self.topics.push((role, topic.name.clone()));
                number
            }
        }
    }

    fn message(
        &mut self,
        topic: usize,
        time_ns: u64,
        schema: &Schema,
        message: &[u8],
    ) -> Result<(), DecodeError> {
        // Stamps that nobody filled in are the times of receipt.
        let stamp =
            |stamp_ns: i64| if stamp_ns == 0 { i64::try_from(time_ns).unwrap_or(0) } else { stamp_ns };
        match ROLES[topic] {
            Role::HumanStates => {
                let (at, bodies) = messages::agents(schema, message)?;
                self.human_states.push_back((stamp(at), bodies));
            }
            Role::RobotStates => {
                let (body, goals) = messages::robot(schema, message)?;
                if !goals.is_empty() {
                    self.goals_of_states = goals;
                }
                self.robot_states.push_back(body);
            }
            Role::People => {
                let (at, agents) = messages::people(schema, message, self.args.person_radius)?;
                let frame = Frame { stamp_ns: stamp(at), agents, ..Frame::default() };
                let Watcher { aligner, bus, .. } = self;
                aligner.people(frame, &mut |frame| bus.push(frame));
            }
            Role::Odometry => {
                let mut odometry = messages::odometry(schema, message)?;
                odometry.stamp_ns = stamp(odometry.stamp_ns);
                self.odometry(&odometry);
            }
            Role::Transforms => {
                for transform in messages::transforms(schema, message)? {
                    let at = stamp(transform.stamp_ns);
                    let is_robot = self.args.frame.as_ref().is_some_and(|frame| *frame == transform.child);
                    self.frames.see(&transform);
                    if let Some(frame) = self.args.frame.as_ref().filter(|_| is_robot) {
                        let place = self.frames.place(frame);
                        self.frame(at, place);
                    }
                }
            }
            Role::Goal => self.goal_pose = Some(messages::goal(schema, message)?),
        }
        self.pair_states();
        while self.human_states.len() > MOST_WAITING {
            self.human_states.pop_back();
            self.surplus += 1;
        }
        while self.robot_states.len() > MOST_WAITING {
            self.robot_states.pop_back();
            self.surplus += 1;
        }
        Ok(())
    }

    fn progress(&mut self, done: u64, of: u64) -> bool {
        self.bar.set_length(of);
        self.bar.set_position(done);
        true
    }
}

/// Reads a bag.
pub(super) fn read(args: &MetricsArgs, path: &Path) -> Result<Found> {
    let mut watcher = Watcher {
        args,
        topics: Vec::new(),
        others: Vec::new(),
        human_states: VecDeque::new(),
        robot_states: VecDeque::new(),
        surplus: 0,
        states: Steps::new(args),
        aligner: Aligner::default(),
        bus: Steps::new(args),
        frames: Frames::default(),
        last_place: None,
        goals_of_states: Vec::new(),
        goal_pose: None,
        bar: bar(),
    };
    let reading = read_bag(path, &mut watcher).with_context(|| path.display().to_string())?;
    watcher.bar.finish_and_clear();
    let Watcher { aligner, bus, .. } = &mut watcher;
    aligner.finish(&mut |frame| bus.push(frame));
    watcher.found(path, &reading)
}

impl Watcher<'_> {
    fn found(self, path: &Path, reading: &Reading) -> Result<Found> {
        let from_states = !self.states.accumulator.is_empty();
        if !from_states && self.bus.accumulator.is_empty() {
            return Err(self.nothing(path, reading));
        }
        let mut notes = self.notes(reading, from_states);
        let roles: &[Role] = if from_states {
            &[Role::HumanStates, Role::RobotStates]
        } else {
            &[Role::People, Role::Odometry]
        };
        let used = self.topics.iter().filter(|(role, _)| roles.contains(role));
        let topics = used
            .map(|(_, name)| name.clone())
            .chain(self.args.frame.clone().filter(|_| !from_states))
            .collect();
        let goals = match (&self.args.goal, self.goals_of_states, self.goal_pose) {
            (given, _, _) if !given.is_empty() => given.clone(),
            (_, of_states, _) if !of_states.is_empty() => of_states,
            (_, _, Some(pose)) => vec![pose],
            _ => Vec::new(),
        };
        if goals.is_empty() {
            notes.push("no goal is known: name it with --goal X,Y".to_owned());
        }
        let steps = if from_states { self.states } else { self.bus };
        let mut accumulator = steps.accumulator;
        accumulator.set_goals(goals.clone());
        accumulator.set_knows_obstacles(steps.knows_obstacles);
        let evaluation = accumulator.finish();
        for (count, what) in [
            (evaluation.skipped_frames(), "steps whose robot has no finite place"),
            (evaluation.skipped_agents(), "states of people who have no finite place"),
        ] {
            if count > 0 {
                notes.push(format!("left out {count} {what}"));
            }
        }
        if steps.people == 0 {
            notes.push("there is nobody in it but the robot".to_owned());
        }
        if steps.episode > 1 {
            let all = steps.episode;
            notes.push(format!(
                "its clock goes back: this is episode {} of {all}; choose with --episode",
                steps.meant
            ));
        }
        let ways = steps.ways.map(|ways| ways.ways.into_iter().map(|(_, way)| way).collect());
        Ok(Found {
            name: super::name_of(path),
            evaluation,
            goals,
            topics,
            people: steps.people,
            notes,
            ways: ways.unwrap_or_default(),
        })
    }

    fn notes(&self, reading: &Reading, from_states: bool) -> Vec<String> {
        let mut notes = Vec::new();
        if let Some(why) = &reading.cut_off {
            notes.push(format!("the bag is cut off ({why}); what it has counts"));
        }
        if reading.bad_messages > 0 {
            let first = reading.first_bad.as_deref().unwrap_or_default();
            notes.push(format!(
                "left out {} messages that are not of their definition: {first}",
                reading.bad_messages
            ));
        }
        let surplus = match from_states {
            true => self.surplus + self.human_states.len() + self.robot_states.len(),
            false => self.aligner.surplus,
        };
        if surplus > 0 {
            notes.push(format!("left out {surplus} states without a counterpart"));
        }
        for (role, name) in &self.others {
            let used = self.topics.iter().find(|(known, _)| known == role);
            let option = match role {
                Role::HumanStates | Role::People => "--people",
                _ => "--robot",
            };
            if let Some((_, used)) = used.filter(|_| *role != Role::Goal) {
                notes.push(format!("took {used} and not {name}; choose with {option}"));
            }
        }
        notes
    }

    /// Why there is no step, in words that help.
    fn nothing(&self, path: &Path, reading: &Reading) -> anyhow::Error {
        let shown = path.display();
        let has = |role: Role| self.topics.iter().any(|(known, _)| *known == role);
        let names = |topics: &[(Role, String)]| {
            topics.iter().map(|(_, name)| name.as_str()).collect::<Vec<_>>().join(", ")
        };
        let bases = self.frames.bases().join(", ");
        let steps = self.states.first_ns.or(self.bus.first_ns);
        let why = if steps.is_some() {
            "nothing lies between --from and --to, or there is no such --episode".to_owned()
        } else if has(Role::HumanStates) && has(Role::RobotStates) || has(Role::People) && has(Role::Odometry)
        {
            "people and robot are never there at the same time".to_owned()
        } else if has(Role::People) && self.args.frame.is_some() {
            format!("the frame of --frame never moves; frames like it: {bases}")
        } else if has(Role::People) && !bases.is_empty() {
            format!(
                "it has {} and no odometry; name the frame of the robot with --frame: {bases}",
                names(&self.topics)
            )
        } else if !self.others.is_empty() {
            format!("--people and --robot leave out {}", names(&self.others))
        } else {
            let topics: Vec<&str> = reading.topics.iter().map(|topic| topic.name.as_str()).take(20).collect();
            format!(
                "expected human_states and robot_states (hunav_msgs), or arena_peds with a robot's odom; it has {}",
                if topics.is_empty() { "nothing".to_owned() } else { topics.join(", ") }
            )
        };
        let cut = reading.cut_off.as_ref().map_or(String::new(), |why| format!(" (it is cut off: {why})"));
        anyhow::anyhow!("{shown}: no step of a robot among people: {why}{cut}")
    }
}

fn bar() -> ProgressBar {
    if !super::is_watched() {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template("{wide_bar} {bytes}/{total_bytes}, {eta} left");
    ProgressBar::new(0).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}
