//! The protocol of the manager's services as plain values (HuNav specification, sections 3 and 9.2).
//!
//! Time enters through the stamps of requests only. Requests are answered one at a time.

use crate::{Agent, Behavior, Compat, Options, Robot, World};

/// What a client sends.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// Stamp of the agents, nanoseconds.
    pub stamp_ns: i64,
    /// All agents as the client sees them.
    pub agents: &'a [Agent],
    /// The robot as the client sees it.
    pub robot: &'a Robot,
}

/// See the module.
#[derive(Clone, Debug)]
pub struct Manager {
    world: World,
    /// Stamp of the last call; none before the first.
    stamp: Option<i64>,
    /// When each row was last moved. The original knows one stamp for all.
    moved: Vec<i64>,
    strict: bool,
}

impl Manager {
    /// A manager before its first call.
    #[must_use]
    pub fn new(options: Options) -> Self {
        let strict = options.compat == Compat::Strict;
        Manager { world: World::new(options), stamp: None, moved: Vec::new(), strict }
    }

    /// The world that it moves.
    #[must_use]
    pub fn world(&self) -> &World {
        &self.world
    }

    /// The world that it moves, for what no service does.
    pub fn world_mut(&mut self) -> &mut World {
        &mut self.world
    }

    /// `compute_agents`: take the request over and move everybody to its stamp. The first call begins and moves nobody.
    ///
    /// The answer has the agents of the request in their order and with all their fields, then any other that is there. In strict mode it
    /// has all in the reverse order of the first request, and only the fields that the original fills.
    pub fn compute_agents(&mut self, request: &Request<'_>, answer: &mut Vec<Agent>) {
        if let Some(dt) = self.take(request) {
            self.world.compute(dt);
            self.moved.fill(request.stamp_ns);
        }
        self.answer(request, answer);
    }

    /// `move_agent`: take the request over and move one agent only; false, and `answer` as it was, if there is none.
    ///
    /// Robust mode moves it by the time since it was moved last, so that a client can move all of one stamp one after another.
    pub fn move_agent(&mut self, request: &Request<'_>, id: i32, answer: &mut Agent) -> bool {
        let dt = self.take(request);
        let Some(row) = self.world.row_of(id) else {
            self.world.sense();
            return false;
        };
        if let Some(shared) = dt {
            let own = seconds(self.moved[row], request.stamp_ns);
            self.world.move_one(id, if self.strict { shared } else { own });
            self.moved[row] = request.stamp_ns;
        }
        self.fill(row, request.agents.iter().rfind(|agent| agent.id == id), answer);
        true
    }

    /// `compute_agent`: move one agent again for as long as the last call did; false if there is none.
    pub fn compute_agent(&mut self, id: i32, answer: &mut Agent) -> bool {
        let Some(row) = self.world.row_of(id) else { return false };
        self.world.again(id);
        self.fill(row, None, answer);
        true
    }

    /// `reset_agents`: take the request over without motion. If a goal or a behaviour differs, robust mode begins anew with the request's agents.
    pub fn reset_agents(&mut self, request: &Request<'_>) {
        let begins =
            self.stamp.is_none() || (!self.strict && request.agents.iter().any(|agent| self.differs(agent)));
        if begins {
            self.begin(request);
        } else {
            self.world.observe(request.agents, request.robot);
            self.moved.resize(self.world.len(), request.stamp_ns);
            self.world.sense();
        }
    }

    /// `clear_agents`: forget everybody; the next call is the first again.
    pub fn clear_agents(&mut self) {
        self.world.clear();
        self.stamp = None;
        self.moved.clear();
    }

    /// Take the state of a request over; seconds since the last call, none in the first one.
    fn take(&mut self, request: &Request<'_>) -> Option<f64> {
        let Some(before) = self.stamp.replace(request.stamp_ns) else {
            self.begin(request);
            return None;
        };
        self.world.observe(request.agents, request.robot);
        self.moved.resize(self.world.len(), before);
        if request.stamp_ns < before {
            // An episode began anew: nobody owes the time until the old stamp.
            self.moved.fill(request.stamp_ns);
        }
        Some(seconds(before, request.stamp_ns))
    }

    fn begin(&mut self, request: &Request<'_>) {
        self.world.reset(request.agents, request.robot);
        self.stamp = Some(request.stamp_ns);
        self.moved.clear();
        self.moved.resize(self.world.len(), request.stamp_ns);
    }

    /// Whether a client means another agent by this id than we do.
    fn differs(&self, agent: &Agent) -> bool {
        let Some(row) = self.world.row_of(agent.id) else { return true };
        let known = self.world.record(row);
        // Whether it reacts is a state, not what it is.
        let of = |behavior: &Behavior| Behavior { state: 0, ..*behavior };
        known.goals != agent.goals || of(&known.behavior) != of(&agent.behavior)
    }

    fn answer(&self, request: &Request<'_>, answer: &mut Vec<Agent>) {
        let rows = self.world.len();
        if self.strict {
            answer.resize_with(rows, Agent::default);
            answer.iter_mut().enumerate().for_each(|(at, out)| self.fill(rows - 1 - at, None, out));
            return;
        }
        let mut filled = 0;
        let mut next = |row: usize, asked: Option<&Agent>| {
            if filled == answer.len() {
                answer.push(Agent::default());
            }
            self.fill(row, asked, &mut answer[filled]);
            filled += 1;
        };
        for agent in request.agents {
            if let Some(row) = self.world.row_of(agent.id) {
                next(row, Some(agent));
            }
        }
        if request.agents.len() < rows {
            let named = |row: usize| request.agents.iter().any(|agent| agent.id == self.world.id(row));
            (0..rows).filter(|row| !named(*row)).for_each(|row| next(row, None));
        }
        answer.truncate(filled);
    }

    /// Write what the answer says of a row; `asked` is what the request says of it.
    fn fill(&self, row: usize, asked: Option<&Agent>, out: &mut Agent) {
        self.world.agent_into(row, out);
        if self.strict {
            out.behavior_tree.clear();
            out.closest_obs.clear();
            (out.skin, out.group_id, out.z, out.cyclic_goals) = (0, 0, 0.0, false);
            (out.desired_velocity, out.radius, out.goal_radius) = (0.0, 0.0, 0.0);
        } else if let Some(asked) = asked {
            let Agent {
                kind, skin, group_id, z, desired_velocity, radius, cyclic_goals, goal_radius, ..
            } = *asked;
            out.name.clone_from(&asked.name);
            out.behavior_tree.clone_from(&asked.behavior_tree);
            out.closest_obs.clone_from(&asked.closest_obs);
            (out.kind, out.skin, out.group_id, out.z) = (kind, skin, group_id, z);
            (out.desired_velocity, out.radius) = (desired_velocity, radius);
            (out.cyclic_goals, out.goal_radius) = (cyclic_goals, goal_radius);
        }
    }
}

fn seconds(from: i64, to: i64) -> f64 {
    to.saturating_sub(from).max(0) as f64 * 1e-9
}
