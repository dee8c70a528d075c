//! A world of walkers and one robot: who is there, where they are, and how a call moves them (HuNav specification, sections 3 and 9).
//!
//! Rows are walkers in the order in which they were first named. The world knows no stamp, only how long a step is.

mod access;
mod bodies;
mod crowd;
mod field;
mod force;
mod groups;
mod mind;
mod reaction;
mod rules;
mod sense;
mod step;

pub use field::{FieldError, VelocityField};
pub use force::{Forces, Goal};

use bodies::Bodies;
use crowd::Crowd;
use groups::Groups;
use mind::Mind;
use rules::Rules;
use sense::Seen;

use promenade_scenario::Report;

use crate::tree::Library;
use crate::{Agent, Options, Order, Point, Robot};

/// Steps into which one call is split, at most: a stamp that leaps by a day must not hold the engine for hours. The rest is dropped.
const MOST_STEPS: f64 = 400.0;

/// See the module.
#[derive(Clone, Debug)]
pub struct World {
    options: Options,
    rules: Rules,
    robot: Robot,
    /// What a message says of an agent; where it is and how fast is in `bodies`.
    agents: Vec<Agent>,
    /// Ids and their rows, ascending.
    by_id: Vec<(i32, usize)>,
    bodies: Bodies,
    seen: Seen,
    crowd: Crowd,
    groups: Groups,
    forces: Vec<Forces>,
    reacting: Vec<bool>,
    minds: Vec<Mind>,
    library: Library,
    tree_problems: Vec<(i32, Report)>,
    global_goals: Vec<Point>,
    velocity_field: Option<VelocityField>,
    /// Length of the tick that runs or ran last, seconds.
    dt: f64,
    /// Length of the last call.
    call_dt: f64,
}

impl World {
    /// A world without anybody.
    #[must_use]
    pub fn new(options: Options) -> Self {
        World {
            options,
            rules: Rules::of(&options),
            robot: Robot::default(),
            agents: Vec::new(),
            by_id: Vec::new(),
            bodies: Bodies::default(),
            seen: Seen::default(),
            crowd: Crowd::default(),
            groups: Groups::default(),
            forces: Vec::new(),
            reacting: Vec::new(),
            minds: Vec::new(),
            library: Library::new(&options),
            tree_problems: Vec::new(),
            global_goals: Vec::new(),
            velocity_field: None,
            dt: 0.0,
            call_dt: 0.0,
        }
    }

    /// The force library alone, in double precision and without trees; `whole_list` is its call for a whole list of walkers.
    pub(crate) fn of_library(options: Options, whole_list: bool, bias: bool) -> Self {
        let mut world = World::new(options);
        world.rules.single = false;
        world.rules.whole_list = whole_list;
        world.rules.bias = if bias { force::WHOLE_LIST_BIAS } else { 0.0 };
        world
    }

    /// The options it was made with.
    #[must_use]
    pub fn options(&self) -> &Options {
        &self.options
    }

    /// How many walkers there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.agents.len()
    }

    /// Whether nobody is there.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.agents.is_empty()
    }

    /// The id of a row.
    #[must_use]
    pub fn id(&self, row: usize) -> i32 {
        self.agents[row].id
    }

    /// The row of an id.
    #[must_use]
    pub fn row_of(&self, id: i32) -> Option<usize> {
        let found = self.by_id.binary_search_by_key(&id, |entry| entry.0).ok()?;
        Some(self.by_id[found].1)
    }

    /// What is known of an agent; where it is and how it moves is not in here.
    pub(crate) fn record(&self, row: usize) -> &Agent {
        &self.agents[row]
    }

    /// The robot.
    #[must_use]
    pub fn robot(&self) -> &Robot {
        &self.robot
    }

    /// The forces on a walker as they were last computed.
    #[must_use]
    pub fn forces(&self, row: usize) -> Forces {
        self.forces[row]
    }

    /// Write a walker as a message says it; what `out` holds on the heap is used again.
    pub fn agent_into(&self, row: usize, out: &mut Agent) {
        out.clone_from(&self.agents[row]);
        let (bodies, rules) = (&self.bodies, &self.rules);
        out.position = bodies.position(row);
        out.velocity = bodies.velocity(row);
        out.yaw = rules.carried(bodies.yaw[row]);
        out.linear_vel = rules.carried(bodies.linear[row]);
        out.angular_vel = rules.carried(bodies.angular[row]);
    }

    /// Forget everybody and begin with these; nobody moves. Of agents with one id the last counts.
    pub fn reset(&mut self, agents: &[Agent], robot: &Robot) {
        self.clear();
        self.robot.clone_from(robot);
        rules::admit_robot(&mut self.robot, &self.rules);
        agents.iter().for_each(|agent| self.upsert(agent));
        self.sense();
    }

    /// Add a walker, or begin anew with one that is there.
    pub fn upsert(&mut self, agent: &Agent) {
        let row = match self.by_id.binary_search_by_key(&agent.id, |entry| entry.0) {
            Ok(found) => self.by_id[found].1,
            Err(place) => {
                let row = self.len();
                self.by_id.insert(place, (agent.id, row));
                self.agents.push(Agent::default());
                self.bodies.push(agent);
                self.seen.push([0.0; 2], [0.0; 2]);
                self.forces.push(Forces::default());
                self.reacting.push(false);
                self.minds.push(Mind::default());
                row
            }
        };
        let record = &mut self.agents[row];
        record.clone_from(agent);
        rules::admit(record, &self.rules);
        self.bodies.put(row, record);
        self.seen.put(row, record.position, record.velocity);
        self.crowd.forget();
        self.reacting[row] = false;
        self.remake_mind(row);
    }

    /// Take a walker away; whether it was there. Rows after it move up.
    pub fn remove(&mut self, id: i32) -> bool {
        let Ok(found) = self.by_id.binary_search_by_key(&id, |entry| entry.0) else { return false };
        let (_, row) = self.by_id.remove(found);
        self.by_id.iter_mut().filter(|entry| entry.1 > row).for_each(|entry| entry.1 -= 1);
        self.agents.remove(row);
        self.bodies.remove(row);
        self.seen.remove(row);
        self.crowd.forget();
        self.forces.remove(row);
        self.reacting.remove(row);
        self.minds.remove(row);
        self.release(id);
        true
    }

    /// Take everybody away.
    pub fn clear(&mut self) {
        self.agents.clear();
        self.by_id.clear();
        self.bodies.clear();
        self.seen.clear();
        self.crowd.forget();
        self.forces.clear();
        self.reacting.clear();
        self.minds.clear();
        self.tree_problems.clear();
        // Files may have been mended since.
        self.library.forget();
        self.call_dt = 0.0;
    }

    /// Take over where agents and the robot are, how fast, and which obstacle points there are; nothing else of them (section 3.1).
    ///
    /// An unknown agent is added. In strict mode such a one has no tree, and of the robot only pose and velocity are taken.
    pub fn observe(&mut self, agents: &[Agent], robot: &Robot) {
        let Robot { position, yaw, velocity, angular_vel, .. } = *robot;
        if self.rules.strict {
            self.robot = Robot { position, yaw, velocity, angular_vel, ..std::mem::take(&mut self.robot) };
        } else {
            self.robot.clone_from(robot);
        }
        rules::admit_robot(&mut self.robot, &self.rules);
        for agent in agents {
            match self.row_of(agent.id) {
                Some(row) => self.observe_row(row, agent),
                None if self.rules.strict => {
                    self.upsert(&Agent { id: agent.id, ..Agent::default() });
                    let row = self.len() - 1;
                    self.unmind(row);
                    self.observe_row(row, agent);
                }
                None => self.upsert(agent),
            }
        }
    }

    fn observe_row(&mut self, row: usize, agent: &Agent) {
        let (bodies, rules) = (&mut self.bodies, &self.rules);
        bodies.place(row, rules::place(agent.position, bodies.position(row)), rules::speed(agent.velocity));
        if agent.yaw.is_finite() {
            bodies.yaw[row] = crate::wrap(rules.carried(agent.yaw));
        }
        bodies.angular[row] = rules::size(rules.carried(agent.angular_vel));
        let points = &mut self.agents[row].closest_obs;
        points.clone_from(&agent.closest_obs);
        rules::admit_obstacles(points);
    }

    /// Move everybody by `dt` seconds. Robust mode splits a long call into equal steps; of a `dt` that is not positive only the forces come.
    pub fn compute(&mut self, dt: f64) {
        let (steps, step) = self.steps(dt);
        self.call_dt = dt;
        for _ in 0..steps {
            self.sense();
            self.dt = step;
            for at in 0..self.len() {
                let row = match self.options.order {
                    Order::Request => at,
                    Order::Reverse => self.len() - 1 - at,
                };
                self.tick(row, step);
            }
        }
        if steps == 0 {
            self.sense();
        }
    }

    /// Move one walker by `dt` seconds; whether it is there. The forces on all are computed.
    pub fn move_one(&mut self, id: i32, dt: f64) -> bool {
        let (steps, step) = self.steps(dt);
        self.call_dt = dt;
        self.sense();
        let Some(row) = self.row_of(id) else { return false };
        self.dt = step;
        for nth in 0..steps {
            if nth > 0 {
                self.sense();
            }
            self.tick(row, step);
        }
        true
    }

    /// Tick one tree again as long as the last call was, with the forces as they are (section 3.3); whether the walker is there.
    pub fn again(&mut self, id: i32) -> bool {
        let Some(row) = self.row_of(id) else { return false };
        let dt = self.call_dt;
        if self.moves(dt) {
            self.dt = dt;
            self.tick(row, dt);
        }
        true
    }

    /// How many steps a call has, and how long each is.
    fn steps(&self, dt: f64) -> (u32, f64) {
        if self.rules.strict {
            return (1, dt);
        }
        if dt.is_nan() || dt <= 0.0 {
            return (0, 0.0);
        }
        let most = self.options.integrator_dt_max;
        if most.is_nan() || most <= 0.0 || most >= dt {
            return (1, dt);
        }
        // A little less, since 0.1 divided by 0.05 may be a little more than 2.
        let steps = (dt / most - 1e-9).ceil();
        if steps > MOST_STEPS { (MOST_STEPS as u32, most) } else { (steps as u32, dt / steps) }
    }
}
