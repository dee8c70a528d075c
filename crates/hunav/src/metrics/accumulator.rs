//! From frames to numbers, one frame at a time.

use super::contact::{contact, gap};
use super::force::{modulus, obstacle, social};
use super::{Body, Evaluation, Frame, Metric, Settings, Value};
use crate::{Point, wrap};

/// Ends of the intimate, personal and social space, metres.
const SPACES: [f64; 3] = [0.45, 1.2, 3.6];
/// Members of a group talk this far ahead of them, metres.
const TALK: f64 = 1.5;
/// Below these a robot stands, m/s and rad/s.
const STANDING: [f64; 2] = [0.01, 0.02];

/// Takes the frames of an episode in their order and gives its metrics.
///
/// ```
/// use promenade_hunav::metrics::{Accumulator, Body, Frame, Metric, Settings};
/// let mut metrics = Accumulator::new(Settings { goals: vec![[1.0, 0.0]], ..Settings::default() });
/// for step in 0..=10 {
///     let robot = Body { position: [0.1 * f64::from(step), 0.0], linear_vel: 1.0, ..Body::default() };
///     metrics.push(&Frame { stamp_ns: i64::from(step) * 100_000_000, robot, agents: Vec::new() });
/// }
/// let evaluation = metrics.finish();
/// assert!((evaluation.number(Metric::PathLength).unwrap() - 1.0).abs() < 1e-9);
/// ```
#[derive(Clone, Debug)]
pub struct Accumulator {
    settings: Settings,
    first_ns: i64,
    last: Option<Last>,
    stamps: Vec<f64>,
    series: [Vec<f64>; Metric::COUNT],
    path: f64,
    least_gap: f64,
    largest_gap: f64,
    positions: Vec<Point>,
    /// Sum of the speeds of people, and how many speeds.
    speeds: (f64, usize),
    /// By the robot and by people; a step may have several.
    collisions: [u64; 2],
    skipped_frames: usize,
    skipped_agents: usize,
    /// Centres of groups of the current frame: key, sum of centres, members.
    groups: Vec<(i32, Point, usize)>,
}

/// What the next step needs of this one.
#[derive(Clone, Copy, Debug)]
struct Last {
    stamp_ns: i64,
    position: Point,
    yaw: f64,
    speed: f64,
}

impl Accumulator {
    /// For an episode that begins with the next frame.
    #[must_use]
    pub fn new(settings: Settings) -> Self {
        Accumulator {
            settings,
            first_ns: 0,
            last: None,
            stamps: Vec::new(),
            series: std::array::from_fn(|_| Vec::new()),
            path: 0.0,
            least_gap: f64::INFINITY,
            largest_gap: f64::NEG_INFINITY,
            positions: Vec::new(),
            speeds: (0.0, 0),
            collisions: [0; 2],
            skipped_frames: 0,
            skipped_agents: 0,
            groups: Vec::new(),
        }
    }

    /// Number of steps so far.
    #[must_use]
    pub fn len(&self) -> usize {
        self.stamps.len()
    }

    /// Whether there is no step yet.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.stamps.is_empty()
    }

    /// Takes a step. A frame whose robot is not a finite place, and people who are not, are left out and counted.
    pub fn push(&mut self, frame: &Frame) {
        self.push_some(frame, |_| true);
    }

    /// As [`push`](Self::push), with those people alone whom `counts` accepts.
    pub fn push_some(&mut self, frame: &Frame, counts: impl Fn(&Body) -> bool) {
        let robot = &frame.robot;
        if !robot.is_finite() {
            self.skipped_frames += 1;
            return;
        }
        let mut people = 0;
        for agent in frame.agents.iter().filter(|agent| counts(agent)) {
            if agent.is_finite() { people += 1 } else { self.skipped_agents += 1 }
        }
        let agents = || frame.agents.iter().filter(|agent| counts(agent) && agent.is_finite());
        if self.stamps.is_empty() {
            self.first_ns = frame.stamp_ns;
        }
        self.stamps.push(seconds(self.first_ns, frame.stamp_ns));
        self.motion(frame);
        self.nearness(robot, agents(), people);
        self.group_spaces(robot, agents());
        self.forces(robot, agents(), people);
        self.positions.push(robot.position);
        self.last = Some(Last {
            stamp_ns: frame.stamp_ns,
            position: robot.position,
            yaw: robot.yaw,
            speed: robot.linear_vel,
        });
    }

    fn put(&mut self, metric: Metric, value: f64) {
        self.series[metric as usize].push(value);
    }

    fn put_spaces(&mut self, metrics: [Metric; 3], distance: f64) {
        let mut from = 0.0;
        for (metric, to) in metrics.into_iter().zip(SPACES) {
            self.put(metric, f64::from(u8::from((from..to).contains(&distance))));
            from = to;
        }
    }

    /// How the robot moved since the last step.
    fn motion(&mut self, frame: &Frame) {
        let robot = &frame.robot;
        let (mut turned, mut acceleration, mut over) = (0.0, 0.0, 0.0);
        if let Some(last) = self.last {
            self.path +=
                modulus([robot.position[0] - last.position[0], robot.position[1] - last.position[1]]);
            turned = wrap(last.yaw - robot.yaw).abs();
            let dt = seconds(last.stamp_ns, frame.stamp_ns);
            // A clock that stands or goes back says nothing about accelerations.
            if dt > 0.0 {
                acceleration = (robot.linear_vel - last.speed) / dt;
                over = acceleration / dt;
            }
        }
        let turning = if self.settings.compat { robot.angular_vel } else { robot.angular_vel.abs() };
        let stands = robot.linear_vel < STANDING[0] && turning < STANDING[1];
        self.put(Metric::CumulativeHeadingChanges, turned);
        self.put(Metric::TimeNotMoving, f64::from(u8::from(stands)));
        self.put(Metric::AvgRobotLinearSpeed, robot.linear_vel);
        self.put(Metric::AvgRobotAngularSpeed, robot.angular_vel);
        self.put(Metric::AvgAcceleration, acceleration);
        self.put(Metric::AvgOveracceleration, over);
    }

    /// Distances, spaces, collisions and speeds of people. A step without people has no distance: not a number.
    fn nearness<'a>(&mut self, robot: &Body, agents: impl Iterator<Item = &'a Body>, people: usize) {
        let (mut near, mut closest, mut closest_speed) = (f64::NAN, f64::INFINITY, f64::NAN);
        let mut speeds = 0.0;
        let (mut by_robot, mut by_person) = (0, 0);
        for agent in agents {
            let gap = gap(robot, agent);
            near = near.min(gap.max(0.0));
            let to_centre = gap + agent.radius;
            self.largest_gap = self.largest_gap.max(to_centre);
            if to_centre < closest {
                (closest, closest_speed) = (to_centre, agent.linear_vel);
            }
            speeds += agent.linear_vel;
            let contact = contact(robot, agent, self.settings.compat);
            by_robot += u64::from(contact.by_robot);
            by_person += u64::from(contact.by_person);
        }
        self.speeds = (self.speeds.0 + speeds, self.speeds.1 + people);
        self.collisions = [self.collisions[0] + by_robot, self.collisions[1] + by_person];
        self.least_gap = self.least_gap.min(near);
        self.put(Metric::AvgDistanceToClosestPerson, near);
        let spaces =
            [Metric::IntimateSpaceIntrusions, Metric::PersonalSpaceIntrusions, Metric::SocialSpaceIntrusions];
        self.put_spaces(spaces, near);
        self.put(Metric::RobotOnPersonCollision, f64::from(u8::from(by_robot > 0)));
        self.put(Metric::PersonOnRobotCollision, f64::from(u8::from(by_person > 0)));
        self.put(Metric::AvgPedestrianVelocity, if people > 0 { speeds / people as f64 } else { f64::NAN });
        self.put(Metric::AvgClosestPedestrianVelocity, closest_speed);
    }

    /// Spaces around the nearest group: at least two people of one number, as in the force model.
    fn group_spaces<'a>(&mut self, robot: &Body, agents: impl Iterator<Item = &'a Body>) {
        self.groups.clear();
        for agent in agents.filter(|agent| agent.group_id != -1) {
            let (sin, cos) = agent.yaw.sin_cos();
            let ahead = [agent.position[0] + TALK * cos, agent.position[1] + TALK * sin];
            match self.groups.iter_mut().find(|(id, _, _)| *id == agent.group_id) {
                Some((_, sum, members)) => {
                    *sum = [sum[0] + ahead[0], sum[1] + ahead[1]];
                    *members += 1;
                }
                None => self.groups.push((agent.group_id, ahead, 1)),
            }
        }
        let distance = |(_, sum, members): &(i32, Point, usize)| {
            let count = *members as f64;
            let away = [sum[0] / count - robot.position[0], sum[1] / count - robot.position[1]];
            (modulus(away) - robot.radius).max(0.0)
        };
        let nearest = self.groups.iter().filter(|group| group.2 > 1).map(distance).fold(f64::NAN, f64::min);
        let spaces = [
            Metric::GroupIntimateSpaceIntrusions,
            Metric::GroupPersonalSpaceIntrusions,
            Metric::GroupSocialSpaceIntrusions,
        ];
        self.put_spaces(spaces, nearest);
    }

    fn forces<'a>(&mut self, robot: &Body, agents: impl Iterator<Item = &'a Body>, people: usize) {
        let compat = self.settings.compat;
        let (mut on_robot, mut on_agents, mut sum, mut by_obstacles) = (0.0, 0.0, [0.0; 2], 0.0);
        for agent in agents {
            on_agents += modulus(social(agent, robot, compat));
            let force = social(robot, agent, compat);
            on_robot += modulus(force);
            sum = [sum[0] + force[0], sum[1] + force[1]];
            by_obstacles += obstacle(agent);
        }
        let obstacles = obstacle(robot);
        self.put(Metric::SocialForceOnAgents, on_agents);
        self.put(Metric::SocialForceOnRobot, on_robot);
        self.put(Metric::SocialWork, modulus(sum) + obstacles + on_agents);
        self.put(Metric::ObstacleForceOnRobot, obstacles);
        self.put(Metric::ObstacleForceOnAgents, by_obstacles / people.max(1) as f64);
    }

    /// Sets where the robot was to go, which may be known at the end only.
    pub fn set_goals(&mut self, goals: Vec<Point>) {
        self.settings.goals = goals;
    }

    /// Says whether bodies brought the points of obstacles, which may be known at the end only.
    pub fn set_knows_obstacles(&mut self, knows: bool) {
        self.settings.knows_obstacles = knows;
    }

    /// Distance from the place of a step to the nearest goal; none without a goal.
    fn to_goal(&self, position: Point) -> Option<f64> {
        let to = |goal: &Point| modulus([goal[0] - position[0], goal[1] - position[1]]);
        let nearest = self.settings.goals.iter().map(to).fold(f64::NAN, f64::min);
        nearest.is_finite().then_some(nearest)
    }

    /// The metrics of the frames so far.
    #[must_use]
    pub fn finish(self) -> Evaluation {
        let values = Metric::ALL.map(|metric| self.value(metric));
        Evaluation {
            values,
            series: self.series,
            stamps: self.stamps,
            positions: self.positions,
            skipped_frames: self.skipped_frames,
            skipped_agents: self.skipped_agents,
        }
    }

    fn value(&self, metric: Metric) -> Option<Value> {
        if self.stamps.is_empty() {
            return None;
        }
        let series = &self.series[metric as usize];
        let steps = self.stamps.len() as f64;
        let total = self.stamps.last().copied().unwrap_or(0.0);
        let sum = || series.iter().sum::<f64>();
        let number = match metric {
            Metric::TimeToReachGoal => total,
            Metric::PathLength => self.path,
            Metric::MinimumDistanceToPeople => self.least_gap,
            Metric::MaximumDistanceToPeople => self.largest_gap,
            Metric::MinimumDistanceToTarget => {
                let distances = self.positions.iter().filter_map(|position| self.to_goal(*position));
                distances.fold(f64::INFINITY, f64::min)
            }
            Metric::FinalDistanceToTarget => self.to_goal(*self.positions.last()?)?,
            Metric::Completed => {
                let distance = self.to_goal(*self.positions.last()?)?;
                return Some(Value::Truth(distance < self.settings.goal_radius));
            }
            Metric::ObstacleForceOnRobot | Metric::ObstacleForceOnAgents
                if !self.settings.knows_obstacles =>
            {
                return None;
            }
            Metric::IntimateSpaceIntrusions
            | Metric::PersonalSpaceIntrusions
            | Metric::SocialSpaceIntrusions
            | Metric::GroupIntimateSpaceIntrusions
            | Metric::GroupPersonalSpaceIntrusions
            | Metric::GroupSocialSpaceIntrusions => 100.0 * sum() / steps,
            Metric::TimeNotMoving => total / steps * sum(),
            Metric::AvgDistanceToClosestPerson | Metric::AvgClosestPedestrianVelocity => {
                mean_of_known(series)
            }
            Metric::AvgPedestrianVelocity => self.speeds.0 / self.speeds.1 as f64,
            Metric::AvgRobotLinearSpeed => sum() / steps,
            Metric::AvgRobotAngularSpeed | Metric::AvgAcceleration | Metric::AvgOveracceleration => {
                series.iter().map(|value| value.abs()).sum::<f64>() / steps
            }
            Metric::RobotOnPersonCollision => self.collisions[0] as f64,
            Metric::PersonOnRobotCollision => self.collisions[1] as f64,
            Metric::CumulativeHeadingChanges
            | Metric::SocialForceOnAgents
            | Metric::SocialForceOnRobot
            | Metric::SocialWork
            | Metric::ObstacleForceOnRobot
            | Metric::ObstacleForceOnAgents => sum(),
        };
        number.is_finite().then_some(Value::Number(number))
    }
}

/// Seconds between two stamps.
fn seconds(from_ns: i64, to_ns: i64) -> f64 {
    to_ns.saturating_sub(from_ns) as f64 / 1e9
}

/// Mean over the steps that have the number.
fn mean_of_known(series: &[f64]) -> f64 {
    let known = || series.iter().filter(|value| value.is_finite());
    known().sum::<f64>() / known().count() as f64
}
