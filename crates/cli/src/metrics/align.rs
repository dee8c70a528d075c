//! The robot at the times of the people: its poses come at other times, so that each step of the people waits for the pose that follows.

use std::collections::VecDeque;

use promenade_hunav::metrics::{Body, Frame};
use promenade_hunav::wrap;

/// Steps that wait at most; of a robot that has stopped telling where it is, later ones are surplus.
const MOST_WAITING: usize = 10_000;
/// The last pose counts for this long, nanoseconds.
const GOOD_FOR_NS: i64 = 200_000_000;
/// Poses that are kept for people who are told of later than the robot.
const MOST_POSES: usize = 256;
/// A clock that goes back by more begins another episode, nanoseconds.
const RESTART_NS: i64 = 500_000_000;

/// Brings people and a robot together.
#[derive(Debug, Default)]
pub(super) struct Aligner {
    waiting: VecDeque<Frame>,
    /// The newest poses of the robot, in the order of their stamps.
    poses: VecDeque<(i64, Body)>,
    newest_people: Option<i64>,
    /// Steps of people without a pose of the robot before and after.
    pub(super) surplus: usize,
}

impl Aligner {
    /// Takes the people of a time. What has the stamp of the message before is that message again, and no step.
    pub(super) fn people(&mut self, frame: Frame, done: &mut dyn FnMut(&Frame)) {
        if let Some(newest) = self.newest_people {
            if newest.saturating_sub(frame.stamp_ns) > RESTART_NS {
                self.finish(done);
            } else if frame.stamp_ns <= newest {
                return;
            }
        }
        self.newest_people = Some(frame.stamp_ns);
        if self.waiting.len() < MOST_WAITING {
            self.waiting.push_back(frame);
        } else {
            self.surplus += 1;
        }
        self.settle(done);
    }

    /// Takes the robot at a time; the steps that are whole now go to `done`.
    pub(super) fn robot(&mut self, stamp_ns: i64, body: Body, done: &mut dyn FnMut(&Frame)) {
        if let Some((newest, _)) = self.poses.back() {
            if newest.saturating_sub(stamp_ns) > RESTART_NS {
                self.finish(done);
            } else if stamp_ns <= *newest {
                return;
            }
        }
        if self.poses.len() == MOST_POSES {
            self.poses.pop_front();
        }
        self.poses.push_back((stamp_ns, body));
        self.settle(done);
    }

    /// Ends the steps that lie between two poses, or before all.
    fn settle(&mut self, done: &mut dyn FnMut(&Frame)) {
        let Some((newest, _)) = self.poses.back() else { return };
        while self.waiting.front().is_some_and(|frame| frame.stamp_ns <= *newest) {
            let Some(mut frame) = self.waiting.pop_front() else { break };
            // The first pose that is not older.
            let after = self.poses.partition_point(|(at, _)| *at < frame.stamp_ns);
            let Some((to_ns, to)) = self.poses.get(after) else { break };
            match after.checked_sub(1).and_then(|before| self.poses.get(before)) {
                _ if *to_ns == frame.stamp_ns => frame.robot = to.clone(),
                Some((from_ns, from)) => {
                    let part = (frame.stamp_ns - from_ns) as f64 / (to_ns - from_ns) as f64;
                    frame.robot = between(from, to, part);
                }
                None => {
                    self.surplus += 1;
                    continue;
                }
            }
            done(&frame);
        }
    }

    /// No more poses will come, or those of another episode: the last one counts for the steps that follow closely.
    pub(super) fn finish(&mut self, done: &mut dyn FnMut(&Frame)) {
        for mut frame in self.waiting.drain(..) {
            match self.poses.back() {
                Some((at, body)) if frame.stamp_ns.saturating_sub(*at) <= GOOD_FOR_NS => {
                    frame.robot = body.clone();
                    done(&frame);
                }
                _ => self.surplus += 1,
            }
        }
        self.poses.clear();
        self.newest_people = None;
    }
}

/// A body at a part of the way between two.
fn between(from: &Body, to: &Body, part: f64) -> Body {
    let mix = |a: f64, b: f64| a + part * (b - a);
    Body {
        position: [mix(from.position[0], to.position[0]), mix(from.position[1], to.position[1])],
        yaw: wrap(from.yaw + part * wrap(to.yaw - from.yaw)),
        velocity: [mix(from.velocity[0], to.velocity[0]), mix(from.velocity[1], to.velocity[1])],
        linear_vel: mix(from.linear_vel, to.linear_vel),
        angular_vel: mix(from.angular_vel, to.angular_vel),
        ..to.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(x: f64, yaw: f64) -> Body {
        Body { position: [x, 0.0], yaw, ..Body::default() }
    }

    fn people(stamp_ns: i64) -> Frame {
        Frame { stamp_ns, ..Frame::default() }
    }

    #[test]
    fn the_robot_is_where_it_was_between_two_poses() {
        let mut aligner = Aligner::default();
        let mut seen = Vec::new();
        let mut done = |frame: &Frame| seen.push((frame.stamp_ns, frame.robot.position[0], frame.robot.yaw));
        aligner.people(people(5), &mut done);
        aligner.robot(10, at(1.0, 3.0), &mut done);
        aligner.people(people(10), &mut done);
        aligner.people(people(10), &mut done);
        aligner.robot(20, at(2.0, -3.0), &mut done);
        // Told of later than the robot.
        aligner.people(people(15), &mut done);
        aligner.people(people(25), &mut done);
        aligner.finish(&mut done);
        assert_eq!(aligner.surplus, 1, "before the first pose");
        assert_eq!((seen[0].0, seen[0].1, seen[0].2), (10, 1.0, 3.0));
        assert_eq!((seen[1].0, seen[1].1), (15, 1.5));
        assert!((seen[1].2.abs() - std::f64::consts::PI).abs() < 1e-9, "the short way round");
        assert_eq!((seen[2].0, seen[2].1, seen.len()), (25, 2.0, 3));
    }

    #[test]
    fn a_clock_that_goes_back_begins_anew() {
        let mut aligner = Aligner::default();
        let mut seen = Vec::new();
        let mut done = |frame: &Frame| seen.push((frame.stamp_ns, frame.robot.position[0]));
        for (from, x) in [(9_000_000_000, 1.0), (0, 5.0)] {
            aligner.people(people(from), &mut done);
            aligner.robot(from, at(x, 0.0), &mut done);
            aligner.people(people(from + 5), &mut done);
            aligner.robot(from + 10, at(x + 1.0, 0.0), &mut done);
        }
        assert_eq!(seen, [(9_000_000_000, 1.0), (9_000_000_005, 1.5), (0, 5.0), (5, 5.5)]);
        assert_eq!(aligner.surplus, 0);
    }

    #[test]
    fn a_robot_that_went_silent_leaves_surplus_and_no_endless_queue() {
        let mut aligner = Aligner::default();
        aligner.robot(0, at(0.0, 0.0), &mut |_| {});
        for stamp in 0..20_000 {
            aligner.people(people(1_000_000_000 + stamp), &mut |_| {});
        }
        assert!(aligner.waiting.len() <= MOST_WAITING);
        let mut count = 0;
        aligner.finish(&mut |_| count += 1);
        assert_eq!((count, aligner.surplus), (0, 20_000));
    }
}
