//! A crowd to measure the engine with: a client that echoes, as those of the protocol do.
//!
//! Nothing here decides how anybody moves.

use crate::{Agent, Behavior, BehaviorKind, Manager, Request, Robot};

/// People per square metre.
const DENSITY: f64 = 0.25;
/// Time between calls: 10 Hz.
const STEP_NS: i64 = 100_000_000;

/// A client's side of a crowd.
#[derive(Clone, Debug)]
pub struct Workload {
    stamp_ns: i64,
    agents: Vec<Agent>,
    robot: Robot,
    points: usize,
}

impl Workload {
    /// `count` people of all six behaviours, four to a hundred square metres times four, who walk across a square and back; each has
    /// `points` obstacle points two to four metres away. A robot drives in circles among them.
    #[must_use]
    pub fn new(count: usize, points: usize) -> Self {
        let side = (count as f64 / DENSITY).sqrt();
        let columns = (count as f64).sqrt().ceil().max(1.0);
        let kinds = [
            BehaviorKind::Regular,
            BehaviorKind::Impassive,
            BehaviorKind::Surprised,
            BehaviorKind::Scared,
            BehaviorKind::Curious,
            BehaviorKind::Threatening,
        ];
        let agent = |n: usize| {
            let number = n as f64;
            let cell = side / columns;
            // Low-discrepancy shifts, so that nobody stands on a lattice.
            let [u, v] = [0.754_877_666, 0.569_840_291].map(|part| (part * number).fract() - 0.5);
            let position = [
                (number % columns + 0.5 + 0.6 * u) * cell - 0.5 * side,
                ((number / columns).floor() + 0.5 + 0.6 * v) * cell - 0.5 * side,
            ];
            let across =
                if n.is_multiple_of(2) { [-position[0], position[1]] } else { [position[0], -position[1]] };
            Agent {
                id: i32::try_from(n + 1).unwrap_or(i32::MAX),
                name: format!("person_{}", n + 1),
                group_id: if n % 10 < 3 { i8::try_from(n / 10 % 100).unwrap_or(0) } else { -1 },
                position,
                desired_velocity: 1.0 + 0.4 * (u + 0.5),
                radius: 0.3,
                behavior: Behavior {
                    kind: kinds[n % kinds.len()],
                    dist: 3.0,
                    once: false,
                    ..Behavior::default()
                },
                goals: vec![across, position],
                cyclic_goals: true,
                goal_radius: 0.3,
                ..Agent::default()
            }
        };
        let robot = Robot { id: 0, desired_velocity: 1.0, ..Robot::default() };
        let mut workload = Workload { stamp_ns: 0, agents: (0..count).map(agent).collect(), robot, points };
        workload.surround();
        workload
    }

    /// What the client sends next.
    #[must_use]
    pub fn request(&self) -> Request<'_> {
        Request { stamp_ns: self.stamp_ns, agents: &self.agents, robot: &self.robot }
    }

    /// Call a manager once.
    pub fn call(&self, manager: &mut Manager, answer: &mut Vec<Agent>) {
        manager.compute_agents(&self.request(), answer);
    }

    /// Put the answer into the next request, let the robot drive on, and let time pass.
    pub fn echo(&mut self, answer: &[Agent]) {
        for moved in answer {
            let at = usize::try_from(moved.id).ok().and_then(|id| id.checked_sub(1));
            if let Some(agent) = at.and_then(|at| self.agents.get_mut(at)) {
                (agent.position, agent.velocity) = (moved.position, moved.velocity);
                (agent.yaw, agent.angular_vel) = (moved.yaw, moved.angular_vel);
            }
        }
        self.stamp_ns += STEP_NS;
        self.surround();
    }

    fn surround(&mut self) {
        let (sin, cos) = (0.2 * self.stamp_ns as f64 * 1e-9).sin_cos();
        self.robot.position = [3.0 * cos, 3.0 * sin];
        self.robot.velocity = [-0.6 * sin, 0.6 * cos];
        self.robot.yaw = (cos).atan2(-sin);
        for agent in &mut self.agents {
            let [x, y] = agent.position;
            agent.closest_obs.clear();
            agent.closest_obs.extend((0..self.points).map(|n| {
                let n = n as f64;
                let (sin, cos) = (2.399_963 * n).sin_cos();
                let distance = 2.0 + 2.0 * (0.618_034 * n).fract();
                [x + distance * cos, y + distance * sin]
            }));
        }
    }
}
