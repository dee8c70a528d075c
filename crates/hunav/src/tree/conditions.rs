//! Leaves that answer a question about agents and the robot. None of them changes the world.
//!
//! Those that wait answer RUNNING until it is so, and FAILURE once their time is over.

use std::f64::consts::FRAC_PI_6;

use super::nodes::Op;
use super::program::Value;
use super::tick::{Run, Status};
use crate::wrap;

/// Half the angle within which a robot faces somebody, radians.
const FACING: f64 = FRAC_PI_6;

impl Run<'_> {
    /// The answer of a condition; none if `op` is no condition. What has no answer, since an agent is not there, is a failure.
    pub(super) fn condition(&mut self, at: usize, op: Op) -> Option<Status> {
        let holds = match op {
            Op::TimeExpired => self.time_expired(at),
            Op::RandomChance => self.number(at, 0).map(|chance| self.draw() < chance),
            Op::IsGoalReached => self.row_of(at, 0).map(|row| self.world.is_goal_reached(row)),
            Op::IsRobotVisible => self.about(at, 1, |run, row, far| run.world.sees_robot(row, far)),
            Op::IsRobotClose => {
                self.about(at, 1, |run, row, far| run.world.distance(row, run.world.robot().position) <= far)
            }
            Op::IsRobotFacingAgent => self.row_of(at, 0).map(|row| {
                let robot = self.world.robot();
                let [to, from] = [self.world.position(row), robot.position];
                let bearing = (to[1] - from[1]).atan2(to[0] - from[0]);
                wrap(bearing - robot.yaw).abs() <= FACING
            }),
            Op::IsAgentVisible => self.is_agent_visible(at),
            Op::IsAgentClose => self.about(at, 2, |run, row, far| {
                run.row_of(at, 1)
                    .is_some_and(|other| run.world.distance(row, run.world.position(other)) <= far)
            }),
            Op::IsAtPosition => self.is_at_position(at),
            Op::IsAnyoneSpeaking | Op::IsSpeaking | Op::IsAnyoneLookingAtMe | Op::IsLookingAtMe => {
                return Some(self.awaited(at, op));
            }
            _ => return None,
        };
        Some(holds.unwrap_or(false).into())
    }

    /// What holds of the agent in the first port and the number in another.
    fn about(&self, at: usize, port: usize, holds: impl Fn(&Self, usize, f64) -> bool) -> Option<bool> {
        Some(holds(self, self.row_of(at, 0)?, self.number(at, port)?))
    }

    /// Count the time in which it is reached; whether it is over.
    fn time_expired(&mut self, at: usize) -> Option<bool> {
        let (seconds, once) = (self.number(at, 0)?, self.flag(at, 2));
        if once && self.memory[at].settled == Some(true) {
            return Some(true);
        }
        let step = self.step(at);
        let memory = &mut self.memory[at];
        memory.time += step;
        let is_over = memory.time >= seconds;
        memory.settled = Some(is_over);
        if is_over && !once {
            memory.time = 0.0;
        }
        Some(is_over)
    }

    fn is_agent_visible(&self, at: usize) -> Option<bool> {
        let (observer, other) = (self.row_of(at, 0)?, self.row_of(at, 1)?);
        let (far, half) = (self.number(at, 2)?, self.number(at, 3)?);
        Some(self.world.sees(observer, self.world.position(other), far, half))
    }

    fn is_at_position(&self, at: usize) -> Option<bool> {
        let (row, place) = (self.row_of(at, 0)?, self.place(at, 1)?);
        Some(self.world.distance(row, place) <= self.number(at, 4)?)
    }

    /// Wait for somebody to speak, or to look at the agent.
    fn awaited(&mut self, at: usize, op: Op) -> Status {
        let is_look = matches!(op, Op::IsAnyoneLookingAtMe | Op::IsLookingAtMe);
        let is_anyone = matches!(op, Op::IsAnyoneSpeaking | Op::IsAnyoneLookingAtMe);
        let named = if is_look { 5 } else { 4 };
        let (Some(row), Some(far), Some(duration)) =
            (self.row_of(at, 0), self.number(at, 2), self.number(at, 3))
        else {
            return Status::Failure;
        };
        let angle = if is_look { self.number(at, 4).unwrap_or_default() } else { 0.0 };
        let world = &*self.world;
        let here = world.position(row);
        let does = |other: usize| {
            other != row
                && world.distance(other, here) <= far
                && if is_look { world.sees(other, here, far, angle) } else { world.speech(other).is_some() }
        };
        let found = if is_anyone {
            let others = (0..world.len()).filter(|other| does(*other));
            // Of several the nearest, of equals the lowest id, so that the order of a request does not matter.
            others.min_by(|a, b| {
                let far = |other: usize| world.distance(other, here);
                far(*a).total_cmp(&far(*b)).then(world.id(*a).cmp(&world.id(*b)))
            })
        } else {
            self.row_of(at, named).filter(|other| does(*other))
        };
        let over = self.elapsed(at) >= duration;
        match found {
            Some(other) => {
                if is_anyone {
                    let id = Value::Number(f64::from(self.world.id(other)));
                    self.write(at, named, id);
                }
                Status::Success
            }
            None if over => Status::Failure,
            None => Status::Running,
        }
    }

    /// Uniform in [0, 1), from the seed of the world and the agent's id.
    fn draw(&mut self) -> f64 {
        let (seed, id) = (self.world.options().seed, self.world.id(self.row));
        let new = || {
            let stream = format!("hunav tree {id}");
            Box::new(promenade_kernel::generator::Generator::named(seed as i64, &stream))
        };
        self.chance.get_or_insert_with(new).random()
    }
}
