//! The engine: agents, walls and planners, and the tick that moves them (crowd-engine specification, section 3).

mod roster;

use rayon::prelude::*;

use promenade_scenario::ResolvedType;

use crate::collision::Contacts;
use crate::error::CrowdError;
use crate::global::{PathFinder, Route};
use crate::kinematics::Freedom;
use crate::locomotion::{Gait, Locomotion};
use crate::occlusion::Occlusion;
use crate::perception::{Neighbours, Perception};
use crate::planner::{self, Force, GainTable, LocalPlanner, Motion, Scene, WALL_REACH};
use crate::pool::{Kind, NO_POLICY, Pool, Row};
use crate::sampling::AgentParameters;
use crate::settings::Settings;
use crate::spawn::{Classes, SpawnRequest, class};
use crate::walls::{Toggle, Wall, WallIndex, WallSet};
use crate::yielding::{self, LEEWAY, Yielding};

/// Rows that are planned together. Fixed, so that the number of threads changes nothing.
const BLOCK: usize = 128;
/// How far contacts look for walls, metres; grown for larger bodies.
const CONTACT_REACH: f64 = 0.6;

/// The part of a tick that has just been done; the names are those of the profile (crowd-engine specification, section 3).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// Everybody looked around.
    Sense,
    /// Sub-goals and arrivals; on decision ticks only.
    GlobalPlan,
    /// Everybody chose a velocity.
    LocalPlan,
    /// Velocities were held to what bodies can do.
    Kinematics,
    /// Everybody moved.
    Integrate,
    /// Bodies were pushed apart and out of walls.
    Collision,
}

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
    gains: GainTable,
    planners: Vec<Fleet>,
    locomotion: Locomotion,
    /// Whether the rows of the planners have to be listed anew.
    fleets_stale: bool,
    yielding: Yielding,

    walls: WallSet,
    /// Whether what is built over the walls has yet to be built anew.
    walls_are_new: bool,
    path_finder: PathFinder,
    /// The row that global planning begins with: the first one whose plan had to wait.
    first_to_plan: Option<usize>,
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
            gains: GainTable::default(),
            planners: vec![default],
            locomotion: Locomotion::default(),
            fleets_stale: false,
            yielding: Yielding::default(),
            walls: WallSet::default(),
            walls_are_new: false,
            first_to_plan: None,
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

    /// Add walls; one under a known name replaces the earlier one. Gates that are known already, as doors are once they were closed, just
    /// close. Anything else takes effect, and time, at the next step.
    ///
    /// # Errors
    /// A coordinate that is no number, or walls that the global planner cannot cope with; then the walls stay as they were.
    pub fn add_walls(&mut self, walls: impl IntoIterator<Item = Wall>) -> Result<(), CrowdError> {
        let walls: Vec<Wall> = walls.into_iter().collect();
        if let Some(gates) = self.walls.close(&walls) {
            self.toggle(&gates);
            return Ok(());
        }
        let mut all = self.walls.clone();
        all.add(walls)?;
        self.set_walls(all)
    }

    /// Remove walls by name; names of none are ignored, and no names at all removes every wall. Gates just open.
    ///
    /// # Errors
    /// The walls that are left are too much for the global planner, which they were before.
    pub fn remove_walls(&mut self, names: &[String]) -> Result<(), CrowdError> {
        if let Some(gates) = self.walls.open(names) {
            self.toggle(&gates);
            return Ok(());
        }
        let mut all = self.walls.clone();
        all.remove(names);
        self.set_walls(all)
    }

    fn set_walls(&mut self, walls: WallSet) -> Result<(), CrowdError> {
        self.settings.global_planner.check(&walls)?;
        self.walls = walls;
        self.walls_are_new = true;
        self.agents.iter_mut().for_each(|agent| agent.route.clear());
        Ok(())
    }

    /// Open or close gates, and let everybody plan anew whom that concerns.
    fn toggle(&mut self, gates: &[Toggle]) {
        for gate in gates.iter().filter(|_| !self.walls_are_new) {
            self.path_finder.toggle(*gate);
            self.occlusion.toggle(*gate, self.walls.fixed());
            self.walls_for_planners.toggle(*gate);
            self.walls_for_contacts.toggle(*gate);
            let segment = self.walls.segments()[gate.number];
            for (row, agent) in self.agents.iter_mut().enumerate() {
                agent.route.gate(self.pool.position(row), &segment, gate.closed);
            }
        }
    }

    /// Build what is built over the walls.
    fn take_in_walls(&mut self) {
        if !std::mem::take(&mut self.walls_are_new) {
            return;
        }
        // That the planner copes with them was checked when they came.
        self.path_finder = PathFinder::new(self.settings.global_planner, &self.walls).unwrap_or_default();
        self.occlusion = Occlusion::new(self.settings.occlusion, &self.walls);
        self.walls_for_planners = WallIndex::of_walls(&self.walls, WALL_REACH);
        self.index_walls_for_contacts();
    }

    fn index_walls_for_contacts(&mut self) {
        let largest = self.pool.radius.iter().fold(0.0, |most: f64, radius| most.max(*radius));
        let reach = CONTACT_REACH.max(1.5 * largest);
        self.walls_for_contacts = WallIndex::of_walls(&self.walls, reach);
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
        let planner = planner::named(name)?;
        let id = self.free_id(request.id)?;
        let mut parameters = request.parameters(self.settings.seed, id, resolved, planner.keys(), &[]);
        planner::policy::apply(&request.policy_params, &*planner, &self.classes, &mut parameters)?;
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
        if policy == NO_POLICY {
            // It moves by a feed, which has not said anything yet.
            [row.vx, row.vy] = [0.0; 2];
        }
        row.class = match request.kind {
            Kind::Robot => class::ROBOT,
            Kind::Human => self.classes.index(&parameters.interaction_class),
        };
        row.gains = self.gains.index(&parameters.kind_gains, &mut self.classes);
        let at = self.pool.push(row);
        self.yielding.push();
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
        self.fit_wall_index(at);
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
        self.yielding.swap_remove(row);
        self.locomotion.swap_remove(row, self.pool.len());
        self.planners.iter_mut().for_each(|fleet| fleet.planner.swap_remove(row));
        self.fleets_stale = true;
        Ok(())
    }

    /// List anew which rows each planner moves.
    fn muster(&mut self) {
        if !std::mem::take(&mut self.fleets_stale) {
            return;
        }
        self.planners.iter_mut().for_each(|fleet| fleet.rows.clear());
        for (row, policy) in self.pool.policy.iter().enumerate() {
            if let Ok(number) = usize::try_from(*policy) {
                self.planners[number].rows.push(row as u32);
            }
        }
    }

    /// One tick.
    pub fn step(&mut self) {
        self.step_in_phases(|_| {});
    }

    /// One tick; `done` hears of every phase when it is over.
    pub fn step_in_phases(&mut self, mut done: impl FnMut(Phase)) {
        self.take_in_walls();
        self.muster();
        self.sense();
        done(Phase::Sense);
        if self.plan_globally() {
            self.latch_arrivals();
            done(Phase::GlobalPlan);
        }
        self.plan_locally();
        done(Phase::LocalPlan);
        self.limit();
        self.gait();
        done(Phase::Kinematics);
        self.integrate();
        done(Phase::Integrate);
        self.part();
        done(Phase::Collision);
        self.tick += 1;
    }

    fn part(&mut self) {
        let Self { threads, contacts, pool, walls_for_contacts, settings, .. } = self;
        match threads {
            _ if !settings.contacts => {}
            Some(threads) => threads.install(|| contacts.resolve(pool, walls_for_contacts, true)),
            None => contacts.resolve(pool, walls_for_contacts, false),
        }
    }

    fn sense(&mut self) {
        let Self { threads, perception, pool, occlusion, settings, .. } = self;
        perception.hide_behind_bodies(settings.improvements.body_occlusion);
        match threads {
            Some(threads) => threads.install(|| perception.sense(pool, occlusion, true)),
            None => perception.sense(pool, occlusion, false),
        }
    }

    /// Whether this is a decision tick: of everybody, or when decisions are staggered of this id.
    fn decides(&self, id: i32) -> bool {
        let offset = if self.settings.staggered_decisions { id.unsigned_abs() } else { 0 };
        (self.tick + u64::from(offset)).is_multiple_of(u64::from(self.settings.bt_tick_interval))
    }

    /// Sub-goals for those who decide in this tick, and for those whose plan had to wait; whether there may have been any.
    fn plan_globally(&mut self) -> bool {
        let first = self.first_to_plan.take();
        if first.is_none() && !self.settings.staggered_decisions && !self.decides(0) {
            return false;
        }
        self.path_finder.begin_tick();
        let count = self.agents.len();
        for row in (0..count).map(|row| (first.unwrap_or(0) + row) % count) {
            if !self.decides(self.pool.id[row]) && !self.agents[row].route.waits() {
                continue;
            }
            let (pool, agent) = (&mut self.pool, &mut self.agents[row]);
            let Some(target) = agent.target else {
                (pool.has_goal[row], pool.has_terminal[row]) = (false, false);
                agent.route.clear();
                continue;
            };
            let Some(mut leg) = self.path_finder.leg(&mut agent.route, pool.position(row), target) else {
                self.first_to_plan = self.first_to_plan.or(Some(row));
                continue;
            };
            if self.settings.improvements.corner_traps {
                let (position, radius) = (pool.position(row), pool.radius[row]);
                let next = self.path_finder.past_corner(&mut agent.route, position, radius);
                leg.sub_goal = next.unwrap_or(leg.sub_goal);
            }
            (pool.has_goal[row], pool.has_terminal[row]) = (true, true);
            [pool.goal_x[row], pool.goal_y[row]] = leg.sub_goal;
            [pool.terminal_x[row], pool.terminal_y[row]] = leg.terminal;
        }
        true
    }

    /// Who has arrived stays until pushed away or sent elsewhere (section 8.2).
    fn latch_arrivals(&mut self) {
        let (enter, exit) = (self.settings.arrival_r_enter, self.settings.arrival_r_exit);
        for row in 0..self.pool.len() {
            if !self.decides(self.pool.id[row]) {
                continue;
            }
            let pool = &mut self.pool;
            let to = [pool.terminal_x[row] - pool.x[row], pool.terminal_y[row] - pool.y[row]];
            let distance = (to[0] * to[0] + to[1] * to[1]).sqrt();
            let has_terminal = pool.has_terminal[row];
            pool.latched[row] = match pool.latched[row] {
                false => has_terminal && distance < enter,
                true if self.yielding.is_yielding(row) => has_terminal && distance <= exit + LEEWAY,
                true => has_terminal && distance <= exit,
            };
            if pool.latched[row] {
                (pool.goal_x[row], pool.goal_y[row]) = (pool.x[row], pool.y[row]);
                pool.has_goal[row] = false;
            }
        }
    }

    /// The force on a row where it is now, among those it saw in the last tick; `None` if it goes nowhere or its planner knows no such
    /// parts. For pictures: the tick does not need it.
    #[must_use]
    pub fn force(&self, row: usize) -> Option<Force> {
        let fleet = self.planners.get(usize::try_from(*self.pool.policy.get(row)?).ok()?)?;
        let scene =
            scene(&self.pool, &self.perception, &self.gains, &self.walls_for_planners, &self.settings);
        fleet.planner.force(&scene, row)
    }

    /// What every row wants, from the state at the start of the tick.
    fn plan_locally(&mut self) {
        self.locomotion.strip(&mut self.pool);
        let scene =
            scene(&self.pool, &self.perception, &self.gains, &self.walls_for_planners, &self.settings);
        for fleet in &mut self.planners {
            let planner = &*fleet.planner;
            each_block(self.threads.as_ref(), &fleet.rows, &mut fleet.motions, |rows, motions| {
                planner.plan(&scene, rows, motions);
            });
            if self.settings.improvements.step_aside {
                for (motion, row) in fleet.motions.iter_mut().zip(&fleet.rows) {
                    match yielding::stands(&self.pool, *row as usize) {
                        true => motion.velocity = self.yielding.advance(&scene, *row as usize),
                        false => self.yielding.leave(*row as usize),
                    }
                }
            }
        }
    }

    /// What the bodies can do of it: braking after arrival, limits, heading.
    fn limit(&mut self) {
        let kinematics = self.settings.kinematics();
        let (pool, yielding) = (&self.pool, &self.yielding);
        for fleet in &mut self.planners {
            let planner = &mut fleet.planner;
            planner.keep(&fleet.rows, &fleet.motions);
            let freedom =
                Freedom { owns_heading: planner.owns_heading(), bypasses_limits: planner.bypasses_limits() };
            each_block(self.threads.as_ref(), &fleet.rows, &mut fleet.motions, |rows, motions| {
                kinematics.hold(pool, yielding, rows, motions, freedom);
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
                pool.x[row] += pool.vx[row] * dt;
                pool.y[row] += pool.vy[row] * dt;
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

/// What planners may look at.
fn scene<'a>(
    pool: &'a Pool,
    perception: &'a Perception,
    gains: &'a GainTable,
    walls: &'a WallIndex,
    settings: &Settings,
) -> Scene<'a> {
    Scene {
        pool,
        neighbours: perception.neighbours(),
        grid: perception.grid(),
        gains,
        walls,
        improvements: settings.improvements,
        dt: settings.dt,
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
