//! Robots as the people see them: where they are, and how fast (human-layer specification, sections 5.6 and 19).
//!
//! A robot is followed by its transform. This module must never drive one.

use std::cell::RefCell;
use std::rc::Rc;

use promenade_kernel::Time;

use crate::message::Pose;

/// A robot as spawned.
#[derive(Clone, Debug, PartialEq)]
pub struct Robot {
    /// Name as authored.
    pub name: String,
    /// Name below the environment's prefix, as the simulator knows it.
    pub sim_path: String,
    /// Model name.
    pub model: String,
    /// Name of its base frame; `None` when it could not be resolved: the robot is then taken to stand at its spawn pose.
    pub base_frame: Option<String>,
    /// Pose in `map`.
    pub pose: Pose,
}

/// A robot and its motion.
#[derive(Clone, Debug, PartialEq)]
pub struct TrackedRobot {
    /// The robot, with the pose it was last put to.
    pub robot: Robot,
    /// Last known pose in `map`.
    pub pose: Pose,
    /// Velocity x, y in `map`, m/s.
    pub velocity: [f64; 2],
    /// Time of the pose; `None` = not seen since it was placed.
    pub stamp: Option<Time>,
}

/// Where frames are: TF on ROS, the robot world in the embedded mode.
pub trait Transforms {
    /// The newest pose of `frame` in `map` and its time; `None` when they are not connected.
    fn latest(&mut self, frame: &str) -> Option<(Time, Pose)>;

    /// The clock went back: stamps that lie in the future of the new clock are from another run.
    fn on_clock_back(&mut self) {}
}

/// No frames: every robot stays where it was put.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoTransforms;

impl Transforms for NoTransforms {
    fn latest(&mut self, _frame: &str) -> Option<(Time, Pose)> {
        None
    }
}

/// Frames that somebody else keeps.
impl<T: Transforms> Transforms for Rc<RefCell<T>> {
    fn latest(&mut self, frame: &str) -> Option<(Time, Pose)> {
        self.borrow_mut().latest(frame)
    }
    fn on_clock_back(&mut self) {
        self.borrow_mut().on_clock_back();
    }
}

/// How long a transform may take to appear before the user is told.
const PATIENCE_S: f64 = 1.0;

/// The robots in spawn order.
#[derive(Default)]
pub(crate) struct Tracker {
    robots: Vec<TrackedRobot>,
    /// Per robot: since when its transform is awaited; `None` = it was seen, or the user was told.
    awaited: Vec<Option<Time>>,
}

impl Tracker {
    pub(crate) fn robots(&self) -> &[TrackedRobot] {
        &self.robots
    }

    /// Takes a robot in, or puts a known one to its new pose.
    pub(crate) fn place(&mut self, robot: &Robot, now: Time) {
        if robot.base_frame.is_none() {
            tracing::warn!(
                "robot {:?}: the model {:?} names no base frame, so it is taken to stand at its spawn pose",
                robot.name,
                robot.model
            );
        }
        let tracked =
            TrackedRobot { pose: robot.pose, robot: robot.clone(), velocity: [0.0; 2], stamp: None };
        let awaited = robot.base_frame.is_some().then_some(now);
        match self.robots.iter().position(|known| known.robot.name == robot.name) {
            Some(at) => {
                self.robots[at] = tracked;
                self.awaited[at] = awaited;
            }
            None => {
                self.robots.push(tracked);
                self.awaited.push(awaited);
            }
        }
    }

    pub(crate) fn remove(&mut self, name: &str) {
        if let Some(at) = self.robots.iter().position(|known| known.robot.name == name) {
            self.robots.remove(at);
            self.awaited.remove(at);
        }
    }

    /// Looks every robot up. The first transform after [`Tracker::place`] sets the pose and leaves the robot at rest.
    pub(crate) fn refresh(&mut self, transforms: &mut dyn Transforms, now: Time) {
        for (tracked, awaited) in self.robots.iter_mut().zip(&mut self.awaited) {
            let Some(frame) = &tracked.robot.base_frame else { continue };
            match transforms.latest(frame) {
                Some((stamp, pose)) if pose.is_finite() => {
                    *awaited = None;
                    tracked.see(stamp, &pose);
                }
                _ => {
                    if awaited.is_some_and(|since| now.saturating_since(since).as_secs_f64() > PATIENCE_S) {
                        *awaited = None;
                        tracing::warn!(
                            "robot {:?}: no transform from \"map\" to {frame:?}; it is taken to stand still until there is one",
                            tracked.robot.name
                        );
                    }
                }
            }
        }
    }

    /// The clock went back: what was seen is of another run.
    pub(crate) fn on_clock_back(&mut self, now: Time) {
        for (tracked, awaited) in self.robots.iter_mut().zip(&mut self.awaited) {
            tracked.stamp = None;
            tracked.velocity = [0.0; 2];
            *awaited = awaited.map(|_| now);
        }
    }
}

impl TrackedRobot {
    fn see(&mut self, stamp: Time, pose: &Pose) {
        if self.stamp.is_some_and(|known| stamp <= known) {
            return;
        }
        if let Some(known) = self.stamp {
            let dt = stamp.saturating_since(known).as_secs_f64();
            let [x, y, _] = pose.position;
            self.velocity = [(x - self.pose.position[0]) / dt, (y - self.pose.position[1]) / dt];
        }
        self.pose = *pose;
        self.stamp = Some(stamp);
    }
}
