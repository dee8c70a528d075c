//! The engine: agents, walls and planners, and the tick that moves them (crowd-engine specification, section 3).

use rayon::prelude::*;

use promenade_scenario::ResolvedType;

use crate::collision::Contacts;
use crate::error::{CrowdError, coordinate, finite};
use crate::global::{PathFinder, Route};
use crate::locomotion::{Gait, Locomotion};
use crate::occlusion::Occlusion;
use crate::perception::{Neighbours, Perception};
use crate::planner::{self, LocalPlanner, Motion, Scene, WALL_REACH};
use crate::pool::{Kind, NO_POLICY, Pool, Row};
use crate::sampling::AgentParameters;
use crate::settings::Settings;
use crate::spawn::{Classes, SpawnRequest, class};
use crate::walls::{Wall, WallIndex, WallSet};

/// Rows that are planned together. Fixed, so that the number of threads changes nothing.
const BLOCK: usize = 128;
/// How far contacts look for walls, metres; grown for larger bodies.
const CONTACT_REACH: f64 = 0.6;

/// A pedestrian engine.
#[derive(Debug)]
pub struct Crowd {
    settings: Settings,
    threads: Option<rayon::ThreadPool>,
    tick: u64,
    largest_id: i32,

    pool: Pool,
    /// By row, as the pool's columns.
    agents: Vec<Agent>,
    classes: Classes,
    planners: Vec<Fleet>,
    locomotion: Locomotion,

    walls: WallSet,
    path_finder: PathFinder,
    occlusion: Occlusion,
    walls_for_planners: WallIndex,
    walls_for_contacts: WallIndex,

    perception: Perception,
    contacts: Contacts,
}

/// What an agent has beside its row.
#[derive(Debug)]
struct Agent {
    parameters: AgentParameters,
    /// Where it was told to go.
    target: Option<[f64; 2]>,
    route: Route,
}

/// A planner and the rows it moves.
#[derive(Debug)]
struct Fleet {
    planner: Box<dyn LocalPlanner>,
    rows: Vec<u32>,
    motions: Vec<Motion>,
}

impl Crowd {
    /// An engine without agents and walls.
    ///
    /// # Errors
    /// A setting out of its range, or a planner there is not.
    pub fn new(settings: Settings) -> Result<Self, CrowdError> {
        settings.check()?;
        let default = Fleet::new(&settings.local_planner)?;
        let threads = (settings.threads > 1)
            .then(|| rayon::ThreadPoolBuilder::new().num_threads(settings.threads).build())
            .and_then(Result::ok);
        Ok(Self {
            threads,
            tick: 0,
            largest_id: 0,
            pool: Pool::with_capacity(512),
            agents: Vec::with_capacity(512),
            classes: Classes::default(),
            planners: vec![default],
            locomotion: Locomotion::default(),
            walls: WallSet::default(),
            path_finder: PathFinder::default(),
            occlusion: Occlusion::Off,
            walls_for_planners: WallIndex::default(),
            walls_for_contacts: WallIndex::default(),
            perception: Perception::default(),
            contacts: Contacts::default(),
            settings,
        })
    }

    /// The settings.
    #[must_use]
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Ticks so far.
    #[must_use]
    pub fn ticks(&self) -> u64 {
        self.tick
    }

    /// The agents.
    #[must_use]
    pub fn pool(&self) -> &Pool {
        &self.pool
    }

    /// Whom each row saw in the last tick.
    #[must_use]
    pub fn neighbours(&self) -> &Neighbours {
        self.perception.neighbours()
    }

    /// Contacts of the last tick.
    #[must_use]
    pub fn contacts(&self) -> &Contacts {
        &self.contacts
    }

    /// Names of the interaction classes.
    #[must_use]
    pub fn classes(&self) -> &Classes {
        &self.classes
    }

    /// How an agent gets along whose type has a `locomotion:` block.
    #[must_use]
    pub fn gait_of(&self, id: i32) -> Option<&Gait> {
        self.pool.row_of(id).and_then(|row| self.locomotion.of(row))
    }

    /// What was drawn for an agent, after the overrides of its request.
    #[must_use]
    pub fn parameters(&self, id: i32) -> Option<&AgentParameters> {
        self.pool.row_of(id).map(|row| &self.agents[row].parameters)
    }

    /// The walls.
    #[must_use]
    pub fn walls(&self) -> &WallSet {
        &self.walls
    }

    /// Add walls; one under a known name replaces the earlier one.
    ///
    /// # Errors
    /// A coordinate that is no number, or walls that reach too far; then the walls stay as they were.
    pub fn add_walls(&mut self, walls: impl IntoIterator<Item = Wall>) -> Result<(), CrowdError> {
        let mut all = self.walls.clone();
        all.add(walls)?;
        self.set_walls(all)
    }

    /// Remove walls by name; names of none are ignored, and no names at all removes every wall.
    ///
    /// # Errors
    /// The walls that are left reach too far, which they did before.
    pub fn remove_walls(&mut self, names: &[String]) -> Result<(), CrowdError> {
        let mut all = self.walls.clone();
        all.remove(names);
        self.set_walls(all)
    }

    fn set_walls(&mut self, walls: WallSet) -> Result<(), CrowdError> {
        let path_finder = PathFinder::new(self.settings.global_planner, &walls)?;
        let occlusion = match self.settings.occlusion {
            true => Occlusion::bitmap(walls.segments())?,
            false => Occlusion::Off,
        };
        self.walls_for_planners = WallIndex::new(walls.segments(), WALL_REACH);
        (self.path_finder, self.occlusion, self.walls) = (path_finder, occlusion, walls);
        self.index_walls_for_contacts();
        self.agents.iter_mut().for_each(|agent| agent.route.clear());
        Ok(())
    }

    fn index_walls_for_contacts(&mut self) {
        let largest = self.pool.radius.iter().fold(0.0, |most: f64, radius| most.max(*radius));
        let reach = CONTACT_REACH.max(1.5 * largest);
        self.walls_for_contacts = WallIndex::new(self.walls.segments(), reach);
    }

    /// Bring an agent in with numbers drawn from its type, and return its id. Without a type it gets fixed ones.
    ///
    /// # Errors
    /// A number that is none, an id that is taken, a planner there is not; then nobody comes in.
    pub fn spawn(
        &mut self,
        request: &SpawnRequest,
        resolved: Option<&ResolvedType>,
    ) -> Result<i32, CrowdError> {
        let of_type = resolved.and_then(|r| r.merged.document.get("local_planner")).and_then(|n| n.as_str());
        let name = request.planner.as_deref().or(of_type).unwrap_or(&self.settings.local_planner);
        let keys = planner::named(name)?.keys();
        let id = self.free_id(request.id)?;
        let parameters = request.parameters(self.settings.seed, id, resolved, keys);
        self.insert(request, id, parameters, of_type)
    }

    /// Bring an agent in with these numbers and return its id; of the request only id, pose, velocity, kind and planner count.
    ///
    /// # Errors
    /// As [`Crowd::spawn`].
    pub fn spawn_with(
        &mut self,
        request: &SpawnRequest,
        parameters: AgentParameters,
    ) -> Result<i32, CrowdError> {
        let id = self.free_id(request.id)?;
        self.insert(request, id, parameters, None)
    }

    fn free_id(&self, wanted: i32) -> Result<i32, CrowdError> {
        if wanted == 0 {
            return self.largest_id.checked_add(1).ok_or(CrowdError::NoIdLeft(self.largest_id));
        }
        if self.pool.row_of(wanted).is_some() {
            return Err(CrowdError::IdTaken(wanted));
        }
        Ok(wanted)
    }

    fn insert(
        &mut self,
        request: &SpawnRequest,
        id: i32,
        parameters: AgentParameters,
        of_type: Option<&str>,
    ) -> Result<i32, CrowdError> {
        request.check()?;
        parameters.check(id)?;
        let named = request.planner.as_deref().or(of_type);
        let planner = match (named, request.kind) {
            (Some(name), _) => Some(name.to_owned()),
            (None, Kind::Human) => Some(self.settings.local_planner.clone()),
            // Robots move by a feed unless a planner was asked for.
            (None, Kind::Robot) => None,
        };
        let policy = planner.map_or(Ok(NO_POLICY), |name| self.policy(&name))?;
        let mut row = Row::new(id, request.pose, &parameters);
        [row.vx, row.vy] = request.velocity;
        row.kind = request.kind;
        row.policy = policy;
        row.class = match request.kind {
            Kind::Robot => class::ROBOT,
            Kind::Human => self.classes.index(&parameters.interaction_class),
        };
        let at = self.pool.push(row);
        for (number, fleet) in self.planners.iter_mut().enumerate() {
            fleet.planner.push(&parameters);
            if number as i16 == policy {
                fleet.rows.push(at as u32);
            }
        }
        if let Some(locomotion) = &parameters.locomotion {
            self.locomotion.push(at, locomotion);
        }
        self.agents.push(Agent { parameters, target: None, route: Route::default() });
        self.largest_id = self.largest_id.max(id);
        if self.pool.radius[at] > Contacts::largest_radius(&self.walls_for_contacts) {
            self.index_walls_for_contacts();
        }
        Ok(id)
    }

    /// Index of a planner; one that nobody has used yet joins the table.
    fn policy(&mut self, name: &str) -> Result<i16, CrowdError> {
        if let Some(index) = self.planners.iter().position(|fleet| fleet.planner.name() == name) {
            return Ok(index as i16);
        }
        let mut fleet = Fleet::new(name)?;
        self.agents.iter().for_each(|agent| fleet.planner.push(&agent.parameters));
        self.planners.push(fleet);
        Ok((self.planners.len() - 1) as i16)
    }

    /// Take an agent out.
    ///
    /// # Errors
    /// An id that nobody has.
    pub fn remove(&mut self, id: i32) -> Result<(), CrowdError> {
        let row = self.pool.row_of(id).ok_or(CrowdError::NoAgent(id))?;
        self.pool.swap_remove(row);
        self.agents.swap_remove(row);
        self.locomotion.swap_remove(row, self.pool.len());
        for (number, fleet) in self.planners.iter_mut().enumerate() {
            fleet.planner.swap_remove(row);
            fleet.rows.clear();
            let own = self.pool.policy.iter().enumerate().filter(|(_, policy)| **policy == number as i16);
            fleet.rows.extend(own.map(|(row, _)| row as u32));
        }
        Ok(())
    }

    /// Send an agent to a target, or with `None` take its target away. It sets off at the next decision tick.
    ///
    /// # Errors
    /// An id that nobody has, or a target that is no place.
    pub fn navigate(&mut self, id: i32, target: Option<[f64; 2]>) -> Result<(), CrowdError> {
        let row = self.pool.row_of(id).ok_or(CrowdError::NoAgent(id))?;
        for place in target.iter().flatten() {
            coordinate(&format!("target of agent {id}"), *place)?;
        }
        self.agents[row].target = target;
        Ok(())
    }

    /// Give an agent a heading to hold, or with `None` let it turn as it walks.
    ///
    /// # Errors
    /// An id that nobody has, or a heading that is no angle.
    pub fn face(&mut self, id: i32, heading: Option<f64>) -> Result<(), CrowdError> {
        let row = self.pool.row_of(id).ok_or(CrowdError::NoAgent(id))?;
        let theta = finite(&format!("heading of agent {id}"), heading.unwrap_or_default())?;
        (self.pool.has_goal_theta[row], self.pool.goal_theta[row]) = (heading.is_some(), theta);
        Ok(())
    }

    /// One tick.
    pub fn step(&mut self) {
        self.sense();
        if self.tick.is_multiple_of(u64::from(self.settings.bt_tick_interval)) {
            self.plan_globally();
            self.latch_arrivals();
        }
        self.plan_locally();
        self.limit();
        self.gait();
        self.integrate();
        if self.settings.contacts {
            self.contacts.resolve(&mut self.pool, &self.walls_for_contacts);
        }
        self.tick += 1;
    }

    fn sense(&mut self) {
        let Self { threads, perception, pool, occlusion, .. } = self;
        match threads {
            Some(threads) => threads.install(|| perception.sense(pool, occlusion, true)),
            None => perception.sense(pool, occlusion, false),
        }
    }

    fn plan_globally(&mut self) {
        let pool = &mut self.pool;
        for (row, agent) in self.agents.iter_mut().enumerate() {
            let has_target = agent.target.is_some();
            (pool.has_goal[row], pool.has_terminal[row]) = (has_target, has_target);
            let Some(target) = agent.target else {
                agent.route.clear();
                continue;
            };
            let leg = self.path_finder.leg(&mut agent.route, pool.position(row), target);
            [pool.goal_x[row], pool.goal_y[row]] = leg.sub_goal;
            [pool.terminal_x[row], pool.terminal_y[row]] = leg.terminal;
        }
    }

    /// Who has arrived stays until pushed away or sent elsewhere (section 8.2).
    fn latch_arrivals(&mut self) {
        let (enter, exit) = (self.settings.arrival_r_enter, self.settings.arrival_r_exit);
        let pool = &mut self.pool;
        for row in 0..pool.len() {
            let to = [pool.terminal_x[row] - pool.x[row], pool.terminal_y[row] - pool.y[row]];
            let distance = (to[0] * to[0] + to[1] * to[1]).sqrt();
            let has_terminal = pool.has_terminal[row];
            pool.latched[row] = match pool.latched[row] {
                false => has_terminal && distance < enter,
                true => has_terminal && distance <= exit,
            };
            if pool.latched[row] {
                (pool.goal_x[row], pool.goal_y[row]) = (pool.x[row], pool.y[row]);
                pool.has_goal[row] = false;
            }
        }
    }

    /// What every row wants, from the state at the start of the tick.
    fn plan_locally(&mut self) {
        self.locomotion.strip(&mut self.pool);
        let scene = Scene {
            pool: &self.pool,
            neighbours: self.perception.neighbours(),
            walls: &self.walls_for_planners,
            dt: self.settings.dt,
        };
        for fleet in &mut self.planners {
            let planner = &*fleet.planner;
            each_block(self.threads.as_ref(), &fleet.rows, &mut fleet.motions, |rows, motions| {
                planner.plan(&scene, rows, motions);
            });
        }
    }

    /// What the bodies can do of it: braking after arrival, limits, heading.
    fn limit(&mut self) {
        let kinematics = self.settings.kinematics();
        let braking = kinematics.braking();
        let pool = &self.pool;
        for fleet in &mut self.planners {
            let owns_heading = fleet.planner.owns_heading();
            fleet.planner.keep(&fleet.rows, &fleet.motions);
            each_block(self.threads.as_ref(), &fleet.rows, &mut fleet.motions, |rows, motions| {
                for (motion, row) in motions.iter_mut().zip(rows) {
                    let row = *row as usize;
                    if pool.latched[row] {
                        motion.velocity = motion.velocity.map(|v| v * braking);
                    }
                    motion.velocity = kinematics.limited(pool, row, motion.velocity);
                    let theta = if owns_heading { motion.theta } else { pool.theta[row] };
                    motion.theta = kinematics.heading(pool, row, motion.velocity, theta, !owns_heading);
                }
            });
        }
    }

    /// What those make of it who do not simply walk.
    fn gait(&mut self) {
        let limits = self.settings.kinematics();
        let pool = &mut self.pool;
        for gait in self.locomotion.gaits_mut() {
            let row = gait.row();
            let planned = self.planners.get_mut(pool.policy[row] as usize).and_then(|fleet| {
                let at = fleet.rows.binary_search(&(row as u32)).ok()?;
                Some((fleet.planner.owns_heading(), &mut fleet.motions[at]))
            });
            match planned {
                Some((owns_heading, motion)) => gait.act(pool, &limits, owns_heading, motion),
                None => gait.go_on(pool, [pool.vx[row], pool.vy[row]], limits.dt),
            }
        }
    }

    /// Move everybody.
    fn integrate(&mut self) {
        let (pool, dt) = (&mut self.pool, self.settings.dt);
        pool.previous_vx.copy_from_slice(&pool.vx);
        pool.previous_vy.copy_from_slice(&pool.vy);
        for row in 0..pool.len() {
            if pool.policy[row] == NO_POLICY {
                (pool.vx[row], pool.vy[row]) = (0.0, 0.0);
            }
        }
        for fleet in &self.planners {
            for (motion, row) in fleet.motions.iter().zip(&fleet.rows) {
                let row = *row as usize;
                let [vx, vy] = motion.velocity;
                (pool.vx[row], pool.vy[row], pool.theta[row]) = (vx, vy, motion.theta);
                pool.x[row] += vx * dt;
                pool.y[row] += vy * dt;
            }
        }
    }
}

impl Fleet {
    fn new(name: &str) -> Result<Self, CrowdError> {
        Ok(Self { planner: planner::named(name)?, rows: Vec::new(), motions: Vec::new() })
    }
}

/// Work on the motions of all rows, block by block.
fn each_block(
    threads: Option<&rayon::ThreadPool>,
    rows: &[u32],
    motions: &mut Vec<Motion>,
    work: impl Fn(&[u32], &mut [Motion]) + Sync,
) {
    motions.resize(rows.len(), Motion::default());
    match threads {
        Some(threads) => threads.install(|| {
            let blocks = rows.par_chunks(BLOCK).zip(motions.par_chunks_mut(BLOCK));
            blocks.for_each(|(rows, motions)| work(rows, motions));
        }),
        None => work(rows, motions),
    }
}
