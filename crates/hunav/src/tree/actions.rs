//! Leaves that do something: the walkers of 2024 and the actions of 2025 (HuNav specification, sections 5.3 and 5.4).
//!
//! An action with an aim answers SUCCESS when it is there and FAILURE when its time is over before; one whose aim is the time itself answers
//! SUCCESS then. Where an agent goes meanwhile is kept here, its goals stay as they are.

use super::nodes::Op;
use super::program::Value;
use super::tick::{Run, Status};
use crate::{Compat, Goal, Point};

/// Gap between bodies below which nobody can come nearer, metres.
const BODY_GAP: f64 = 0.1;
/// How far behind somebody a follower walks, and how exactly, metres.
const BEHIND: (f64, f64) = (1.0, 0.3);
/// Arrival distance and cruise speed of somebody who bars a way, and from where it turns to whom it bars; as for the robot.
const FRONT: (f64, f64, f64) = (0.05, 2.0, 0.6);
/// Arrival distance in a field of velocities, metres.
const FIELD_RADIUS: f64 = 0.1;

/// The robot or an agent.
#[derive(Clone, Copy)]
enum Other {
    Robot,
    Agent(usize),
}

impl Run<'_> {
    /// Do what a node does. What cannot be done, since an agent is not there, is a failure.
    pub(super) fn action(&mut self, at: usize, op: Op) -> Status {
        let done = self.row_of(at, 0).and_then(|row| match op {
            Op::ConversationFormation => self.conversation(at, row),
            Op::SetGroupWalk => self.group_walk(at, row),
            Op::UpdateGoal | Op::RegularNav | Op::SurprisedNav => self.walker(at, op, row),
            Op::ScaredNav | Op::CuriousNav | Op::ThreateningNav => self.walker(at, op, row),
            Op::GoTo
            | Op::ApproachAgent
            | Op::ApproachRobot
            | Op::BlockRobot
            | Op::BlockAgent
            | Op::FollowAgent
            | Op::FollowVelocityField => self.walk_somewhere(at, op, row),
            _ => self.at_once(at, op, row),
        });
        done.unwrap_or(Status::Failure)
    }

    /// The place of a node with `goal_id`, `target_x` and `target_y` from `port` on.
    pub(super) fn place(&self, at: usize, port: usize) -> Option<Point> {
        let coordinates = || Some([self.size(at, port + 1)?, self.size(at, port + 2)?]);
        self.id(at, port).and_then(|goal| self.world.global_goal(goal)).or_else(coordinates)
    }

    fn walker(&mut self, at: usize, op: Op, row: usize) -> Option<Status> {
        if op == Op::UpdateGoal {
            self.world.next_goal(row);
            return Some(Status::Success);
        }
        let step = self.step(at);
        match op {
            Op::RegularNav => self.world.walk(row, step),
            Op::SurprisedNav => self.world.surprised(row),
            Op::ScaredNav => {
                let (vel, factor) = (self.size(at, 2)?, self.size(at, 3)?);
                self.world.scared(row, step, vel, factor);
            }
            Op::CuriousNav => {
                let (stop, vel) = (self.size(at, 2)?, self.size(at, 3)?);
                self.world.curious(row, step, stop, vel);
            }
            _ => {
                let front = self.size(at, 2)?;
                self.world.threatening(row, step, front);
            }
        }
        Some(Status::Success)
    }

    fn at_once(&mut self, at: usize, op: Op, row: usize) -> Option<Status> {
        match op {
            Op::FindNearestAgent => {
                let here = self.world.position(row);
                let far = |other: &usize| self.world.distance(*other, here);
                let others = (0..self.world.len()).filter(|other| *other != row);
                let nearest = others.min_by(|a, b| {
                    far(a).total_cmp(&far(b)).then(self.world.id(*a).cmp(&self.world.id(*b)))
                })?;
                self.write(at, 1, Value::Number(f64::from(self.world.id(nearest))));
            }
            Op::SaySomething => {
                let message = match self.value(at, 1) {
                    Value::Unset => return None,
                    Value::Number(number) => number.to_string().into(),
                    Value::Text(text, _) => text.clone(),
                };
                self.world.say(row, message);
            }
            Op::SetGroupId => {
                let group = i8::try_from(self.id(at, 1)?).ok()?;
                self.world.set_group(row, group);
            }
            Op::SetGoal => {
                let place = self.place(at, 1)?;
                self.world.set_goals(row, &[place]);
            }
            Op::StopMovement => self.world.stop(row),
            Op::ResumeMovement => self.world.resume(row),
            Op::StopAndWait => {
                self.world.rest(row);
                return Some(self.lasts(at, 2));
            }
            Op::LookAtAgent => {
                let other = self.row_of(at, 2)?;
                return Some(self.look(at, row, self.world.position(other)));
            }
            Op::LookAtRobot => return Some(self.look(at, row, self.world.robot().position)),
            Op::LookAtPoint => {
                let place = self.place(at, 2)?;
                return Some(self.look(at, row, place));
            }
            _ => return None,
        }
        Some(Status::Success)
    }

    /// Stand and turn; done when the agent looks there.
    fn look(&mut self, at: usize, row: usize, place: Point) -> Status {
        let step = self.step(at);
        if self.world.look_at(row, place, step) { Status::Success } else { Status::Running }
    }

    /// RUNNING for the seconds in a port, then SUCCESS.
    pub(super) fn lasts(&mut self, at: usize, port: usize) -> Status {
        let seconds = self.number(at, port).unwrap_or_default();
        if self.elapsed(at) >= seconds { Status::Success } else { Status::Running }
    }

    fn walk_somewhere(&mut self, at: usize, op: Op, row: usize) -> Option<Status> {
        Some(match op {
            Op::GoTo => {
                let (center, radius) = (self.place(at, 2)?, self.size(at, 5)?);
                self.go(at, row, Goal { center, radius })
            }
            Op::ApproachRobot => {
                let (closest, cruise) = (self.size(at, 3)?, self.size(at, 4)?);
                self.approach(at, row, Other::Robot, closest, cruise)
            }
            Op::ApproachAgent => {
                let other = Other::Agent(self.row_of(at, 3)?);
                let (closest, cruise) = (self.size(at, 4)?, self.size(at, 5)?);
                self.approach(at, row, other, closest, cruise)
            }
            Op::BlockRobot => {
                let front = self.size(at, 3)?;
                self.block(at, row, Other::Robot, front)
            }
            Op::BlockAgent => {
                let other = Other::Agent(self.row_of(at, 3)?);
                let front = self.size(at, 4)?;
                self.block(at, row, other, front)
            }
            Op::FollowAgent => {
                let other = self.row_of(at, 3)?;
                self.follow(at, row, other)
            }
            _ => self.follow_field(at, row)?,
        })
    }

    /// Walk to a place with the agent's own speed.
    fn go(&mut self, at: usize, row: usize, goal: Goal) -> Status {
        if self.world.distance(row, goal.center) <= goal.radius {
            return Status::Success;
        }
        let (cruise, step) = (self.world.cruise(row), self.step(at));
        self.world.go(row, step, goal, cruise, None);
        Status::Running
    }

    /// Where the other is, where it looks, and how wide it is.
    fn whereabouts(&self, other: Other) -> (Point, f64, f64) {
        match other {
            Other::Robot => {
                let robot = self.world.robot();
                (robot.position, robot.yaw, robot.radius)
            }
            Other::Agent(row) => (self.world.position(row), self.world.yaw(row), self.world.radius(row)),
        }
    }

    /// Walk towards the other; the robot is then not evaded, nor is the agent.
    fn go_to_other(&mut self, row: usize, step: f64, goal: Goal, cruise: f64, other: Other) {
        match other {
            Other::Robot => self.world.walk_to(row, goal, cruise, step),
            Other::Agent(other) => self.world.go(row, step, goal, cruise, Some(other)),
        }
        self.world.set_reacting(row, matches!(other, Other::Robot));
    }

    fn approach(&mut self, at: usize, row: usize, other: Other, closest: f64, cruise: f64) -> Status {
        let (center, _, width) = self.whereabouts(other);
        let radius = closest.max(width + self.world.radius(row) + BODY_GAP);
        if self.world.distance(row, center) <= radius {
            let step = self.step(at);
            self.world.look_at(row, center, step);
            return Status::Success;
        }
        if self.lasts(at, 2) == Status::Success {
            return Status::Failure;
        }
        let step = self.step(at);
        self.go_to_other(row, step, Goal { center, radius }, cruise, other);
        Status::Running
    }

    fn block(&mut self, at: usize, row: usize, other: Other, front: f64) -> Status {
        let status = self.lasts(at, 2);
        if status == Status::Success {
            return status;
        }
        let (place, yaw, _) = self.whereabouts(other);
        let center = [place[0] + front * yaw.cos(), place[1] + front * yaw.sin()];
        let ((radius, cruise, near), step) = (FRONT, self.step(at));
        // Small steps about the place must not turn the head away again.
        let before = self.world.yaw(row);
        self.go_to_other(row, step, Goal { center, radius }, cruise, other);
        if self.world.distance(row, center) <= near {
            self.world.turn_to(row, before, place, step);
        }
        Status::Running
    }

    fn follow(&mut self, at: usize, row: usize, other: usize) -> Status {
        let status = self.lasts(at, 2);
        if status == Status::Success {
            return status;
        }
        let (place, yaw, _) = self.whereabouts(Other::Agent(other));
        let (behind, radius) = BEHIND;
        let center = [place[0] - behind * yaw.cos(), place[1] - behind * yaw.sin()];
        let (cruise, step) = (self.world.cruise(row), self.step(at));
        self.go_to_other(row, step, Goal { center, radius }, cruise, Other::Agent(other));
        Status::Running
    }

    /// Walk one step of the field's velocity after the other; done where one ends.
    fn follow_field(&mut self, at: usize, row: usize) -> Option<Status> {
        let (step, tolerance) = (self.step(at), self.size(at, 3)?);
        if !self.memory[at].is_running {
            let group = usize::try_from(self.id(at, 2)?).ok()?;
            let here = self.world.position(row);
            let flow = self.world.velocity_field()?.at(group, here)?;
            let way = flow.map(|part| part * step);
            let length = way[0].hypot(way[1]);
            let factor = if length >= 2.0 * tolerance {
                1.0
            } else if length > 0.0 && self.world.options().compat == Compat::Robust {
                // Twice a short step may still be where the agent is, as far as it can tell.
                (2.0 * tolerance / length).max(2.0)
            } else {
                2.0
            };
            self.memory[at].place = [here[0] + factor * way[0], here[1] + factor * way[1]];
        }
        let center = self.memory[at].place;
        if self.memory[at].is_running && self.world.distance(row, center) <= tolerance {
            return Some(Status::Success);
        }
        let cruise = self.world.cruise(row);
        self.world.go(row, step, Goal { center, radius: FIELD_RADIUS.min(tolerance) }, cruise, None);
        Some(Status::Running)
    }
}
