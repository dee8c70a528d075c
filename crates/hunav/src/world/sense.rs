//! Which forces act on whom: the force model applied to a world.
//!
//! Others are read from what was seen when the step began, never from bodies that may have moved since, unless the original's order of moves
//! is wanted.

use super::crowd::{COINCIDENT, SIGHT};
use super::force::{self, Company, Forces, Goal};
use super::{World, rules::Rules};
use crate::{BehaviorKind, ObstacleRule, Point};

/// Walkers as others see them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Seen {
    pub(crate) x: Vec<f64>,
    pub(crate) y: Vec<f64>,
    pub(crate) vx: Vec<f64>,
    pub(crate) vy: Vec<f64>,
}

impl Seen {
    pub(crate) fn push(&mut self, position: Point, velocity: Point) {
        let ([x, y], [vx, vy]) = (position, velocity);
        self.x.push(x);
        self.y.push(y);
        self.vx.push(vx);
        self.vy.push(vy);
    }

    pub(crate) fn put(&mut self, row: usize, position: Point, velocity: Point) {
        [self.x[row], self.y[row]] = position;
        [self.vx[row], self.vy[row]] = velocity;
    }

    pub(crate) fn remove(&mut self, row: usize) {
        for column in [&mut self.x, &mut self.y, &mut self.vx, &mut self.vy] {
            column.remove(row);
        }
    }

    pub(crate) fn clear(&mut self) {
        for column in [&mut self.x, &mut self.y, &mut self.vx, &mut self.vy] {
            column.clear();
        }
    }

    pub(crate) fn position(&self, row: usize) -> Point {
        [self.x[row], self.y[row]]
    }

    pub(crate) fn velocity(&self, row: usize) -> Point {
        [self.vx[row], self.vy[row]]
    }
}

/// What the robot is to a walker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RobotRole {
    Absent,
    Walker,
    Obstacle,
}

/// How a walker takes the robot in a computation of its forces (section 6.1).
pub(crate) fn robot_role(rules: &Rules, kind: BehaviorKind, reacts: bool) -> RobotRole {
    let by_kind = match kind {
        BehaviorKind::Regular => RobotRole::Walker,
        BehaviorKind::Impassive => RobotRole::Obstacle,
        _ => RobotRole::Absent,
    };
    let always = rules.first_manager || (!rules.strict && kind == BehaviorKind::Impassive);
    if reacts || always { by_kind } else { RobotRole::Walker }
}

impl World {
    /// Compute the forces on everybody from the state as it is.
    pub(crate) fn sense(&mut self) {
        self.look();
        if !self.rules.strict {
            let (agents, radius) = (&self.agents, &self.bodies.radius);
            self.crowd.compute(&self.seen, radius, |row| agents[row].id, |row| &agents[row].closest_obs);
        }
        for row in 0..self.len() {
            self.forces[row] = self.sensed(row);
        }
    }

    /// Let everybody be seen where they are.
    pub(crate) fn look(&mut self) {
        let (seen, bodies) = (&mut self.seen, &self.bodies);
        seen.x.clone_from(&bodies.x);
        seen.y.clone_from(&bodies.y);
        seen.vx.clone_from(&bodies.vx);
        seen.vy.clone_from(&bodies.vy);
        self.groups.rebuild(&bodies.group, self.by_id.iter().map(|entry| entry.1));
    }

    /// The forces on a walker that walks to its goals.
    pub(crate) fn sensed(&mut self, row: usize) -> Forces {
        // Only the original keeps this flag from one call to the next, and this computation takes it away.
        let reacts = self.rules.strict && self.agents[row].behavior.state == 1;
        if reacts && !self.rules.first_manager {
            self.agents[row].behavior.state = 0;
        }
        let role = robot_role(&self.rules, self.agents[row].behavior.kind, reacts);
        self.forces_on(row, role, self.first_goal(row), self.bodies.cruise[row])
    }

    /// The goal that a walker walks to.
    pub(crate) fn first_goal(&self, row: usize) -> Option<Goal> {
        let agent = &self.agents[row];
        agent.goals.first().map(|center| Goal { center: *center, radius: agent.goal_radius })
    }

    /// Factors of the forces of the goal, of obstacles and of others.
    fn factors(&self, row: usize) -> [f64; 3] {
        let behavior = &self.agents[row].behavior;
        if self.rules.first_manager {
            [2.0, 10.0, 5.0]
        } else {
            [behavior.goal_force_factor, behavior.obstacle_force_factor, behavior.social_force_factor]
        }
    }

    pub(crate) fn forces_on(&self, row: usize, role: RobotRole, goal: Option<Goal>, cruise: f64) -> Forces {
        let bodies = &self.bodies;
        let [to_goal, from_obstacles, from_others] = self.factors(row);
        let (at, velocity) = (bodies.position(row), bodies.velocity(row));
        let [direction, to_goal] = force::to_goal(at, velocity, cruise, goal, to_goal);
        Forces {
            goal: to_goal,
            social: force::scale(self.interactions(row, role), from_others),
            obstacle: self.repulsions(row, role, from_obstacles),
            group: self.company(row, role).force(at, direction),
            total: [0.0; 2],
        }
        .summed()
    }

    /// The same without the force of one other, whom the walker walks up to.
    pub(crate) fn forces_beside(
        &self,
        row: usize,
        role: RobotRole,
        goal: Goal,
        cruise: f64,
        other: usize,
    ) -> Forces {
        let mut forces = self.forces_on(row, role, Some(goal), cruise);
        let [_, _, factor] = self.factors(row);
        let (position, velocity) = (self.seen.position(other), self.seen.velocity(other));
        let pair = force::scale(self.interaction(row, self.agents[other].id, position, velocity), factor);
        forces.social = force::sub(forces.social, pair);
        forces.summed()
    }

    /// What the crowd computed for a row, if the walker is still where it was then.
    fn remembered(&self, row: usize) -> Option<[Point; 2]> {
        let (bodies, seen) = (&self.bodies, &self.seen);
        let moved = bodies.position(row) != seen.position(row) || bodies.velocity(row) != seen.velocity(row);
        if moved { None } else { self.crowd.on(row) }
    }

    fn repulsions(&self, row: usize, role: RobotRole, factor: f64) -> Point {
        let (at, radius, rule) = (self.bodies.position(row), self.bodies.radius[row], self.rules.obstacle);
        let points = &self.agents[row].closest_obs;
        let robot = (role == RobotRole::Obstacle).then_some(self.robot.position);
        // On a point there is no way to be pushed; the original then drops all points.
        let counts = |point: &Point| self.rules.strict || *point != at;
        let Some([_, sum]) = self.remembered(row) else {
            let all = points.iter().copied().chain(robot).filter(counts);
            return force::from_obstacles(at, radius, all, factor, rule);
        };
        let robot_force =
            robot.filter(counts).map_or([0.0; 2], |robot| force::from_point(at, radius, robot, 1.0));
        let count = match rule {
            ObstacleRule::Sum => 1.0,
            ObstacleRule::Mean => (points.len() + usize::from(robot.is_some())).max(1) as f64,
        };
        force::scale(force::add(sum, robot_force), factor / count)
    }

    /// The force of one other before its factor.
    fn interaction(&self, row: usize, id: i32, position: Point, moves: Point) -> Point {
        let way = force::sub(position, self.bodies.position(row));
        let relative = force::sub(self.bodies.velocity(row), moves);
        if self.rules.strict {
            force::from_walker(way, relative, self.rules.bias)
        } else {
            robust_pair(way, relative, self.agents[row].id < id)
        }
    }

    /// The force of all others before its factor.
    fn interactions(&self, row: usize, role: RobotRole) -> Point {
        let own = self.agents[row].id;
        let walkers = self.remembered(row).map_or_else(
            || {
                let others = (0..self.len()).filter(|other| *other != row);
                others.fold([0.0; 2], |sum, other| {
                    let (position, moves) = (self.seen.position(other), self.seen.velocity(other));
                    force::add(sum, self.interaction(row, self.agents[other].id, position, moves))
                })
            },
            |[walkers, _]| walkers,
        );
        let robot = &self.robot;
        if role != RobotRole::Walker || robot.id == own {
            return walkers;
        }
        force::add(walkers, self.interaction(row, robot.id, robot.position, robot.velocity))
    }

    fn company(&self, row: usize, role: RobotRole) -> Company {
        let mut company = Company::default();
        let (bodies, group) = (&self.bodies, self.bodies.group[row]);
        if !self.rules.is_group(group) {
            return company;
        }
        let (at, radius) = (bodies.position(row), bodies.radius[row]);
        for other in self.groups.members(group).iter().copied().filter(|other| *other != row) {
            company.join(at, radius, self.seen.position(other), bodies.radius[other]);
        }
        let robot = &self.robot;
        if role == RobotRole::Walker && robot.group_id == group && robot.id != self.agents[row].id {
            company.join(at, radius, robot.position, robot.radius);
        }
        company
    }
}

/// As [`force::from_walker`], but always a number: nobody beyond sight counts, and two on one place part along x, the lower id to the left.
fn robust_pair(way: Point, relative: Point, lower: bool) -> Point {
    let distance = force::norm(way);
    if distance > SIGHT {
        return [0.0; 2];
    }
    let way = match distance < COINCIDENT {
        true => [if lower { COINCIDENT } else { -COINCIDENT }, 0.0],
        false => way,
    };
    let force = force::from_walker(way, relative, 0.0);
    if force.iter().all(|part| part.is_finite()) { force } else { [0.0; 2] }
}
