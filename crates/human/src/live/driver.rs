//! Robots driven straight to their goal, in a world ([`RobotDriver::command`]) or without one ([`RobotDriver::step`]).
//!
//! A stand-in for a navigation stack, not a planner: it knows neither walls nor a way around people. It stops for closed doors on its
//! leg and for whoever is ahead, and then waits.

use std::time::Duration;

use promenade_scenario::{Point, Segment};

use super::LiveWorld;
use crate::steer::{Agility, Body};

/// Room that a robot leaves ahead of it to people and other robots, and to a closed door; metres from edge to edge.
const ROOM: f64 = 0.5;
const ROOM_AT_DOOR: f64 = 0.2;
/// Slower than this in m/s with somewhere to go it counts as blocked.
const STANDING: f64 = 0.01;
/// A robot in a world counts as blocked while it stays within this distance of a place, metres, and its goal is farther than that.
const STAYING: f64 = 0.1;
/// Of its speed a robot that cannot turn on the spot keeps at least this in a turn, however sharp.
const CREEP: f64 = 0.3;

/// A robot that could not go on for this long has given up.
const PATIENCE: Duration = Duration::from_secs(30);
/// Why the phase of such a robot failed.
pub const GAVE_UP: &str = "something was in the way for too long";

/// What a robot can do.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DriveLimits {
    /// Highest speed, m/s.
    pub speed: f64,
    /// Speeding up and slowing down, m/s2.
    pub acceleration: f64,
    /// Turning, rad/s.
    pub turn_rate: f64,
    /// Radius of its disc, metres.
    pub radius: f64,
    /// Radius of its tightest turn, metres; 0 = it turns on the spot.
    pub turning_radius: f64,
}

impl DriveLimits {
    /// Whether it can turn at all: one on wheels that roll any way may not need to.
    #[must_use]
    pub fn turns(&self) -> bool {
        self.turn_rate > 0.0
    }
}

impl Default for DriveLimits {
    /// A service robot of moderate size.
    fn default() -> Self {
        DriveLimits { speed: 0.8, acceleration: 0.8, turn_rate: 1.2, radius: 0.3, turning_radius: 0.0 }
    }
}

/// See the module: a differential drive on the floor.
#[derive(Debug)]
pub struct RobotDriver {
    name: String,
    level: Option<String>,
    limits: DriveLimits,
    body: Body,
    /// Where it was when it last got on.
    anchor: [f64; 2],
    blocked: Duration,
}

impl RobotDriver {
    /// A robot of this authored name at rest at `pose` (x, y, yaw in `map`), on a level of the world or on all of them.
    #[must_use]
    pub fn new(name: &str, level: Option<&str>, pose: [f64; 3], limits: DriveLimits) -> Self {
        let mut driver = RobotDriver {
            name: name.to_owned(),
            level: level.map(str::to_owned),
            limits,
            body: Body::default(),
            anchor: [0.0; 2],
            blocked: Duration::ZERO,
        };
        driver.place(pose);
        driver
    }

    /// Puts it elsewhere, at rest.
    pub fn place(&mut self, [x, y, yaw]: [f64; 3]) {
        self.body = Body { position: [x, y], yaw, speed: 0.0 };
        self.anchor = [x, y];
        self.blocked = Duration::ZERO;
    }

    /// x, y, yaw in `map`.
    #[must_use]
    pub fn pose(&self) -> [f64; 3] {
        let [x, y] = self.body.position;
        [x, y, self.body.yaw]
    }

    /// Velocity x, y in `map`, m/s.
    #[must_use]
    pub fn velocity(&self) -> [f64; 2] {
        self.body.velocity()
    }

    /// For how long a closed door, somebody ahead or, in a world, anything has kept it from going on.
    #[must_use]
    pub fn blocked(&self) -> Duration {
        self.blocked
    }

    /// Whether it was blocked for so long that its phase fails, with [`GAVE_UP`] for a reason.
    #[must_use]
    pub fn has_given_up(&self) -> bool {
        self.blocked > PATIENCE
    }

    /// Moves it by `dt` towards `goal`, among everybody of the last step of `live`. Without a goal, or with one that is not finite, it
    /// comes to rest. It stops at a goal; the heading there is not turned to. Answers the pose.
    pub fn step(&mut self, dt: Duration, goal: Option<[f64; 3]>, live: &LiveWorld) -> [f64; 3] {
        let seconds = dt.as_secs_f64();
        let DriveLimits { speed, acceleration, turn_rate, .. } = self.limits;
        let agility = Agility { acceleration, turn_rate };
        let goal = goal.filter(|goal| goal[0].is_finite() && goal[1].is_finite());
        let Some([x, y, _]) = goal else {
            self.body.halt(seconds, agility);
            self.blocked = Duration::ZERO;
            return self.pose();
        };
        let here = Point::from(self.body.position);
        let way = here.distance(Point::new(x, y));
        let room = self.room(here, Point::new(x, y), live);
        let speed = stopping_speed(way.min(room), acceleration, seconds).min(speed);
        self.body.go_towards([x, y], speed, seconds, agility);
        let is_blocked = room < way && speed <= STANDING && self.body.speed <= STANDING;
        self.blocked = if is_blocked { self.blocked.saturating_add(dt) } else { Duration::ZERO };
        self.pose()
    }

    /// The command for the next `dt` seconds of a robot that a world moves: forward velocity in m/s and yaw rate in rad/s. It is at
    /// `pose`, drives at `speed` and goes to `goal` by way of `via`; else as [`RobotDriver::step`].
    pub fn command(
        &mut self,
        dt: Duration,
        (pose, speed): ([f64; 3], f64),
        (goal, via): (Option<[f64; 3]>, [f64; 2]),
        live: &LiveWorld,
    ) -> [f64; 2] {
        let seconds = dt.as_secs_f64();
        let limits = self.limits;
        let agility = Agility { acceleration: limits.acceleration, turn_rate: limits.turn_rate };
        let [x, y, yaw] = pose;
        self.body = Body { position: [x, y], yaw, speed };
        let goal = goal.filter(|goal| goal[0].is_finite() && goal[1].is_finite());
        let Some([goal_x, goal_y, _]) = goal.filter(|_| seconds > 0.0) else {
            (self.anchor, self.blocked) = ([x, y], Duration::ZERO);
            return [self.body.speed_after(0.0, seconds, agility), 0.0];
        };
        let (here, next, goal) = (Point::new(x, y), Point::from(via), Point::new(goal_x, goal_y));
        let way = here.distance(next) + next.distance(goal);
        let room = self.room(here, next, live);
        let most = stopping_speed(way.min(room), limits.acceleration, seconds).min(limits.speed);
        let (turn, mut wanted) = self.body.towards(via, most, seconds, agility);
        let mut turn_rate = turn.unwrap_or(0.0) / seconds;
        if limits.turning_radius > 0.0 {
            wanted = wanted.max(CREEP * most);
            let most = wanted / limits.turning_radius;
            turn_rate = turn_rate.clamp(-most, most);
        }
        let gone = here.distance(Point::from(self.anchor));
        if gone > STAYING || way <= STAYING {
            (self.anchor, self.blocked) = ([x, y], Duration::ZERO);
        } else {
            self.blocked = self.blocked.saturating_add(dt);
        }
        [self.body.speed_after(wanted, seconds, agility), turn_rate]
    }

    /// How far it may go: to a closed door between here and the goal, and to whoever is ahead.
    fn room(&self, here: Point, goal: Point, live: &LiveWorld) -> f64 {
        let radius = self.limits.radius;
        let level = live.level(self.level.as_deref());
        let on_it = |of: Option<usize>| level.is_none() || of.is_none() || of == level;
        let leg = Segment { start: here, end: goal };
        let closed = live.doors.iter().filter(|door| !door.is_passable() && on_it(Some(door.level)));
        let doors = closed.filter_map(|door| {
            // Near enough to be noticed by the door.
            let reach = radius + door.half_width;
            Some(crossing(&leg, &door.line)? - reach - ROOM_AT_DOOR.min((door.activation - reach).max(0.0)))
        });
        let (sin, cos) = self.body.yaw.sin_cos();
        let others = live.everybody().iter().filter(|seen| seen.name != self.name && on_it(seen.level));
        let ahead = others.filter_map(|seen| {
            let (dx, dy) = (seen.position.x - here.x, seen.position.y - here.y);
            let (forward, sideways) = (dx * cos + dy * sin, dy * cos - dx * sin);
            let reach = radius + seen.radius;
            (forward > 0.0 && sideways.abs() < reach).then_some(forward - reach - ROOM)
        });
        doors.chain(ahead).fold(f64::INFINITY, f64::min)
    }
}

/// The highest speed from which steps of `dt` at constant deceleration stop within `way`.
fn stopping_speed(way: f64, deceleration: f64, dt: f64) -> f64 {
    if way <= 0.0 || deceleration <= 0.0 {
        return 0.0;
    }
    let half = dt / 2.0;
    deceleration * ((half * half + 2.0 * way / deceleration).sqrt() - half)
}

/// How far along `leg` it meets `line`, metres.
fn crossing(leg: &Segment, line: &Segment) -> Option<f64> {
    let (ax, ay) = (leg.end.x - leg.start.x, leg.end.y - leg.start.y);
    let (bx, by) = (line.end.x - line.start.x, line.end.y - line.start.y);
    let cross = ax * by - ay * bx;
    // Parallel to a door nobody goes through it.
    if cross == 0.0 {
        return None;
    }
    let (dx, dy) = (line.start.x - leg.start.x, line.start.y - leg.start.y);
    let along = (dx * by - dy * bx) / cross;
    let across = (dx * ay - dy * ax) / cross;
    ((0.0..=1.0).contains(&along) && (0.0..=1.0).contains(&across)).then(|| along * leg.length())
}
