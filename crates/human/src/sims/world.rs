//! The robot world as the layer's simulator: robots drive, people and closed doors are in their way, scanners see all of them.
//!
//! [`WorldSim`] owns a [`World`] and tells which of its objects is whose. It steps in whole steps of the world when its owner says so; it
//! has no clock of its own and decides neither where robots nor where people go.

mod bodies;
mod ledger;
mod models;
mod pilots;
mod verbs;

use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

use promenade_kernel::Time;
use promenade_robot_world::contact::{Contact, Reading};
use promenade_robot_world::kinematics::{Command, MAX_COMMAND};
use promenade_robot_world::sensor::{LidarSpec, Scan};
use promenade_robot_world::spec::{CollisionMode, WorldSpec};
use promenade_robot_world::world::{ObjectRef, WarningKind, World, WorldError};

use crate::entity::Wall;
use crate::live::DriveLimits;
use crate::robot::Robot;

pub use ledger::{RobotResults, Touched};
pub use models::{ROBOT_FILE, RobotModelError, RobotModels};
pub use pilots::Pilots;

use ledger::{Kind, Ledger};

/// A clock that leaps further ahead than this has jumped: the time between is not simulated.
const CLOCK_JUMP: Duration = Duration::from_secs(1);
/// The part of a step by which a time may miss it: clocks count whole nanoseconds.
const SLACK: f64 = 1e-6;

/// What a world is to be like.
#[derive(Clone, Debug, PartialEq)]
pub struct WorldOptions {
    /// Seconds per step.
    pub step_time: f64,
    /// What touching does.
    pub collision_mode: CollisionMode,
    /// Seed of everything random, as noise of scanners.
    pub seed: u64,
    /// How long a command counts; then the robot stops.
    pub watchdog: Duration,
}

impl Default for WorldOptions {
    fn default() -> Self {
        WorldOptions {
            step_time: 0.02,
            collision_mode: CollisionMode::Contact,
            seed: 0,
            watchdog: Duration::from_millis(500),
        }
    }
}

/// Why a command was not taken.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DriveError {
    /// Nobody has the name.
    #[error("there is no robot {0:?}")]
    Unknown(String),
    /// A velocity that is no number.
    #[error("robot {0:?}: a velocity that is not finite")]
    NotFinite(String),
}

/// A velocity of a robot in its own frame.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct BodyTwist {
    /// m/s.
    pub forward: f64,
    /// m/s.
    pub left: f64,
    /// rad/s, counter-clockwise.
    pub yaw_rate: f64,
}

/// A robot of the world.
#[derive(Debug)]
struct Body {
    robot: Robot,
    id: u32,
    /// The last command, and the time it ceases to count.
    wanted: BodyTwist,
    until: Time,
    command: Command,
    /// Whether its commands come from outside: those of a world file follow their own behaviour until the first one.
    is_commanded: bool,
    ledger: Ledger,
}

/// A robot as it is now.
#[derive(Clone, Copy, Debug)]
pub struct RobotView<'a> {
    /// The robot as the layer knows it, with the pose it was last put to.
    pub robot: &'a Robot,
    /// Its id in the world.
    pub id: u32,
    /// x, y and heading in `map`.
    pub pose: [f64; 3],
    /// Velocity in its own frame.
    pub twist: BodyTwist,
    /// Its scanners.
    pub lidars: &'a [LidarSpec],
    /// What they saw after the last step.
    pub scans: &'a [Scan],
    /// What it felt in the last step.
    pub contact: &'a Reading,
    /// Whether it overlaps something.
    pub collision: bool,
    /// What it did since it was spawned.
    pub results: &'a RobotResults,
}

/// A person's disc.
#[derive(Clone, Copy, Debug)]
struct Person {
    id: u32,
    radius: f64,
}

/// A door and, while it is closed, its wall.
#[derive(Debug)]
struct Door {
    line: Wall,
    id: Option<u32>,
}

/// See the module.
#[derive(Debug)]
pub struct WorldSim {
    world: World,
    models: RobotModels,
    watchdog: Duration,
    /// Reading of the clock at step `origin` of the world.
    epoch: Time,
    origin: u64,
    /// An episode is being reset.
    is_held: bool,
    robots: Vec<Body>,
    /// By sim path; robots look for the nearest of them.
    people: BTreeMap<String, Person>,
    /// Sim paths of people by their plain names.
    plain: HashMap<String, String>,
    /// By sim path; `None` = a thing without a box.
    objects: BTreeMap<String, Option<u32>>,
    walls: Vec<u32>,
    doors: BTreeMap<String, Door>,
    /// Walls made so far: names are not used twice.
    serial: u64,
    /// What is whose.
    kinds: HashMap<u32, Kind>,
}

impl WorldSim {
    /// A world that the layer fills.
    ///
    /// # Errors
    /// A step that is no time.
    pub fn new(options: &WorldOptions, models: RobotModels) -> Result<Self, WorldError> {
        let spec = bodies::empty_world(options);
        Self::from_spec(&spec, options.seed, models).map(|sim| sim.with_watchdog(options.watchdog))
    }

    /// A world that has something in it already. Its robots follow their behaviours until they
    /// are commanded, by their names in the file; what the layer adds stands among it.
    ///
    /// # Errors
    /// As [`World::new`].
    pub fn from_spec(spec: &WorldSpec, seed: u64, models: RobotModels) -> Result<Self, WorldError> {
        let mut sim = WorldSim {
            world: World::new(spec, seed)?,
            models,
            watchdog: WorldOptions::default().watchdog,
            epoch: Time::ZERO,
            origin: 0,
            is_held: false,
            robots: Vec::new(),
            people: BTreeMap::new(),
            plain: HashMap::new(),
            objects: BTreeMap::new(),
            walls: Vec::new(),
            doors: BTreeMap::new(),
            serial: 0,
            kinds: HashMap::new(),
        };
        sim.adopt();
        Ok(sim)
    }

    /// The world whose commands count for `watchdog`.
    #[must_use]
    pub fn with_watchdog(mut self, watchdog: Duration) -> Self {
        self.watchdog = watchdog;
        self
    }

    /// Sets where models are looked up. Who is there keeps what it is.
    pub fn set_models(&mut self, models: RobotModels) {
        self.models = models;
    }

    /// The world itself: objects, settings, snapshot.
    #[must_use]
    pub fn world(&self) -> &World {
        &self.world
    }

    /// Seconds per step.
    #[must_use]
    pub fn step_time(&self) -> f64 {
        self.world.settings().step_time
    }

    /// The clock's reading that the state of the world is for.
    #[must_use]
    pub fn time(&self) -> Time {
        self.epoch + self.span(self.world.count() - self.origin)
    }

    /// The state of the world is for `now` from here on, as after a clock that went back.
    pub fn set_time(&mut self, now: Time) {
        (self.epoch, self.origin) = (now, self.world.count());
        self.robots.iter_mut().for_each(|body| body.until = Time::ZERO);
    }

    fn span(&self, steps: u64) -> Duration {
        Duration::from_secs_f64(steps as f64 * self.step_time())
    }

    /// Makes all whole steps up to `now` and answers how many. While an episode is reset, and after a clock that went back or leapt by more
    /// than a second, time passes without any.
    pub fn advance_to(&mut self, now: Time) -> u64 {
        let ahead = now.saturating_since(self.time());
        if self.is_held || now < self.time() || ahead > CLOCK_JUMP {
            self.set_time(now);
            return 0;
        }
        let elapsed = now.saturating_since(self.epoch).as_secs_f64() / self.step_time();
        let due = (elapsed + SLACK) as u64;
        let steps = due.saturating_sub(self.world.count() - self.origin);
        for _ in 0..steps {
            self.step();
        }
        steps
    }

    /// One step of the world, whatever the clock.
    pub fn step(&mut self) {
        let (now, dt) = (self.time(), self.step_time());
        for body in &mut self.robots {
            let twist = if now < body.until { body.wanted } else { BodyTwist::default() };
            body.command = command(&self.world, body.id, twist, dt);
        }
        let objects = self.world.objects();
        let commands: Vec<(ObjectRef<'_>, &[f64])> = self
            .robots
            .iter()
            .filter(|body| body.is_commanded)
            .filter_map(|body| {
                let row = self.world.row(ObjectRef::Id(body.id))?;
                let size = objects.model[row].as_ref()?.layout().command.len();
                Some((ObjectRef::Id(body.id), &body.command[..size]))
            })
            .collect();
        if let Err(error) = self.world.step(&commands) {
            tracing::error!("the robot world refuses a command: {error}");
        }
        for warning in self.world.warnings() {
            match warning.kind {
                // What commands from outside are like says nothing about the world.
                WarningKind::Clipped { .. } | WarningKind::Idle => tracing::debug!("{warning}"),
                _ => tracing::warn!("{warning}"),
            }
        }
        self.note(dt);
    }

    /// A robot is to drive like this from now on, by its name or sim path, until the watchdog's time has passed or it is told otherwise.
    ///
    /// # Errors
    /// A robot that is not there, or a velocity that is not finite.
    pub fn command(&mut self, robot: &str, twist: BodyTwist) -> Result<(), DriveError> {
        let until = self.time() + self.watchdog;
        let BodyTwist { forward, left, yaw_rate } = twist;
        let Some(body) = self.robots.iter_mut().find(|body| body.answers_to(robot)) else {
            return Err(DriveError::Unknown(robot.to_owned()));
        };
        if ![forward, left, yaw_rate].iter().all(|v| v.is_finite()) {
            return Err(DriveError::NotFinite(robot.to_owned()));
        }
        (body.wanted, body.until, body.is_commanded) = (twist, until, true);
        Ok(())
    }

    /// All robots in spawn order.
    pub fn robots(&self) -> impl ExactSizeIterator<Item = RobotView<'_>> {
        self.robots.iter().map(|body| self.view(body))
    }

    /// A robot by its name or sim path.
    #[must_use]
    pub fn robot(&self, name: &str) -> Option<RobotView<'_>> {
        self.robots.iter().find(|body| body.answers_to(name)).map(|body| self.view(body))
    }

    /// What a robot can do, by its name or sim path.
    #[must_use]
    pub fn drive_limits(&self, name: &str) -> Option<DriveLimits> {
        let body = self.robots.iter().find(|body| body.answers_to(name))?;
        let objects = self.world.objects();
        let row = self.world.row(ObjectRef::Id(body.id))?;
        let (model, most, usual) =
            (objects.model[row].as_ref()?, objects.vel_max[row], DriveLimits::default());
        let speed = if most[0].is_finite() { most[0] } else { usual.speed };
        let finite = |value: f64, other: f64| if value.is_finite() { value } else { other };
        let turning_radius = model.wheelbase().map_or(0.0, |wheelbase| {
            let steering = most[1].clamp(0.05, 1.4);
            wheelbase / steering.tan()
        });
        let turn_rate = match model.layout().yaw_rate {
            Some(at) => finite(most[at], usual.turn_rate),
            None if turning_radius > 0.0 => speed / turning_radius,
            None => 0.0,
        };
        let acceleration = finite(objects.acce[row][0], usual.acceleration);
        Some(DriveLimits {
            speed,
            acceleration,
            turn_rate,
            radius: objects.shape[row].radius,
            turning_radius,
        })
    }

    /// The outlines of all that stands: walls, and things that nobody can push. Doors are not among them.
    #[must_use]
    pub fn standing_lines(&self) -> Vec<[[f64; 2]; 2]> {
        let objects = self.world.objects();
        let doors: Vec<u32> = self.doors.values().filter_map(|door| door.id).collect();
        let stands = |row: &usize| objects.is_static[*row] && !doors.contains(&objects.id[*row]);
        let lines = |row: usize| {
            let placed = objects.placed(row);
            objects.shape[row].segments().map(move |ends| ends.map(|point| placed.to_world(point)))
        };
        (0..objects.len()).filter(stands).flat_map(lines).collect()
    }

    /// Every contact of the last step.
    #[must_use]
    pub fn contacts(&self) -> &[Contact] {
        self.world.contacts()
    }
}

impl WorldSim {
    fn view<'a>(&'a self, body: &'a Body) -> RobotView<'a> {
        let objects = self.world.objects();
        // A robot is in the world from its spawn to its removal.
        let row = self.world.row(ObjectRef::Id(body.id)).unwrap_or_default();
        let (state, velocity) = (&objects.state[row], &objects.velocity[row]);
        let twist = objects.model[row].as_ref().map_or([0.0; 3], |model| model.body_twist(state, velocity));
        RobotView {
            robot: &body.robot,
            id: body.id,
            pose: [state[0], state[1], state[2]],
            twist: BodyTwist { forward: twist[0], left: twist[1], yaw_rate: twist[2] },
            lidars: &objects.sensors[row],
            scans: &objects.scans[row],
            contact: &objects.contact[row],
            collision: objects.collision[row],
            results: &body.ledger.results,
        }
    }

    /// Enters what the robots did in a step of `dt` seconds.
    fn note(&mut self, dt: f64) {
        let (objects, kinds) = (self.world.objects(), &self.kinds);
        for body in &mut self.robots {
            let Some(row) = self.world.row(ObjectRef::Id(body.id)) else { continue };
            let touched = self.world.reports(body.id).map(|report| report.other);
            let touched = touched.chain(objects.collisions[row].iter().copied());
            let position = [objects.state[row][0], objects.state[row][1]];
            let kind = |id: u32| kinds.get(&id).copied().unwrap_or(Kind::Thing);
            body.ledger.step(position, dt, touched, kind);
            let ([x, y], reach) = (objects.centroid[row], objects.shape[row].radius);
            for person in self.people.values() {
                let Some(other) = self.world.row(ObjectRef::Id(person.id)) else { continue };
                let [to_x, to_y] = objects.centroid[other];
                body.ledger.near((to_x - x).hypot(to_y - y) - reach - person.radius);
            }
        }
    }
}

impl Body {
    fn answers_to(&self, name: &str) -> bool {
        self.robot.name == name || self.robot.sim_path == name
    }
}

/// The command that gives a robot a velocity in its own frame, as well as its kinematics can.
fn command(world: &World, id: u32, twist: BodyTwist, dt: f64) -> Command {
    let objects = world.objects();
    let Some(row) = world.row(ObjectRef::Id(id)) else { return [0.0; MAX_COMMAND] };
    let Some(model) = &objects.model[row] else { return [0.0; MAX_COMMAND] };
    let now = objects.state[row];
    let mut wanted = now;
    let mut command = model.take_twist(&mut wanted, [twist.forward, twist.left, twist.yaw_rate]);
    // A car that is told how fast to steer turns its wheels to where they should be within a step.
    if model.layout().command.get(1) == Some(&"steering rate") {
        command[1] = (wanted[3] - now[3]) / dt;
    }
    command
}
