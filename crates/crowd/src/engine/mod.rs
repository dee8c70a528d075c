//! The engine as its clients see it: requests between ticks, and the tick (crowd-engine specification, sections 3 and 7).
//!
//! One file per concern; [`Engine::tick`] is where they meet. A request is checked whole before it changes anything, so an error leaves
//! everything as it was. No call may read wall time, do I/O of its own, or depend on the order of a hash map.

mod agents;
mod area;
mod error;
mod external;
mod flow;
mod named;
mod names;
mod output;
mod parameters;
mod people;
mod profile;
mod reset;
mod session;
mod stimuli;
mod warnings;
mod waypoints;
mod world;

pub use agents::TypeSource;
pub use error::EngineError;
pub use parameters::{ParameterRange, ParameterRule};
pub use session::{Divergence, ReplayError, Replayed, replay};
pub use stimuli::Stimulus;

use agents::Schedule;
use external::Feed;
use flow::Flow;
use named::Named;
use names::Names;
use output::Output;
use parameters::Parameters;
use people::People;
use profile::Stopwatch;
use session::Log;
use stimuli::Stimuli;
use warnings::Warnings;

use crate::protocol::{ObstacleConfig, ParameterValue, WorldObjectInfo};
use crate::step::Crowd;
use crate::walls::Wall;
use promenade_kernel::generator::Generator;

/// Stream that random ways draw from.
const WAYPOINT_STREAM: &str = "waypoint_advance";

/// The pedestrian engine.
pub struct Engine {
    crowd: Crowd,
    /// By row, as the pool of the crowd.
    people: People,
    names: Names,
    types: Option<TypeSource>,
    schedule: Schedule,

    walls: Named<Wall>,
    obstacles: Named<ObstacleConfig>,
    objects: Named<WorldObjectInfo>,
    geometry_revision: u64,

    parameters: Parameters,
    flow: Flow,
    feed: Feed,
    stimuli: Stimuli,
    waypoint_stream: Generator,

    epoch_ns: i64,
    output: Output,
    spawned: Vec<i32>,
    despawned: Vec<i32>,
    warnings: Warnings,
    log: Option<Log>,
    stopwatch: Stopwatch,
}

impl std::fmt::Debug for Engine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let agents = self.crowd.pool().len();
        f.debug_struct("Engine")
            .field("ticks", &self.ticks())
            .field("agents", &agents)
            .finish_non_exhaustive()
    }
}

impl Engine {
    /// An engine without agents and walls. Parameters that are not given have their defaults.
    ///
    /// # Errors
    /// A parameter there is not, or a value out of its range.
    pub fn new(parameters: &[(String, ParameterValue)]) -> Result<Self, EngineError> {
        let parameters = Parameters::new(parameters)?;
        let crowd = Crowd::new(parameters.crowd_settings()?)?;
        Ok(Self {
            waypoint_stream: Generator::named(crowd.settings().seed, WAYPOINT_STREAM),
            crowd,
            people: People::default(),
            names: Names::default(),
            types: None,
            schedule: Schedule::default(),
            walls: Named::default(),
            obstacles: Named::default(),
            objects: Named::default(),
            geometry_revision: 0,
            parameters,
            flow: Flow::default(),
            feed: Feed::default(),
            stimuli: Stimuli::default(),
            epoch_ns: 0,
            output: Output::untold(),
            spawned: Vec::new(),
            despawned: Vec::new(),
            warnings: Warnings::default(),
            log: None,
            stopwatch: Stopwatch::default(),
        })
    }

    /// One tick: who is due leaves, who is due comes, external agents are where they were said to be, everybody looks around, plans and
    /// moves ([`Crowd::step_in_phases`]), way-points are passed, and all of it is told. Behaviour and interactions, which other
    /// pedestrian engines have between looking and planning and between planning and moving, are not part of this one yet.
    pub fn tick(&mut self) {
        let (tick, stamp_ns) = (self.ticks(), self.now_ns());
        self.stopwatch.start(self.parameters.is_on("profile_phases"));

        self.despawn();
        self.stopwatch.despawned();

        self.spawn_scheduled();
        self.stimuli.arrive(tick);
        self.run_sources();
        self.follow_feed();
        self.stopwatch.spawned();

        self.note_requests();
        self.crowd.step_in_phases(|phase| self.stopwatch.phase(phase));
        self.note_step();

        self.advance_waypoints();
        self.publish(stamp_ns);
        self.note_tick(tick);
        self.stopwatch.published();
    }

    /// Let the tick count begin at this time.
    pub fn set_epoch_ns(&mut self, ns: i64) {
        self.epoch_ns = ns;
    }

    /// Time of the next tick, nanoseconds: the epoch and as many steps as there were ticks. The frame of a tick bears the time of that tick.
    #[must_use]
    pub fn now_ns(&self) -> i64 {
        let ticks = i64::try_from(self.ticks()).unwrap_or(i64::MAX);
        self.epoch_ns.saturating_add(self.dt_ns().saturating_mul(ticks))
    }

    /// Length of a tick, nanoseconds.
    #[must_use]
    pub fn dt_ns(&self) -> i64 {
        (self.crowd.settings().dt * 1e9).round() as i64
    }

    /// Ticks since the start, or since everybody was taken out.
    #[must_use]
    pub fn ticks(&self) -> u64 {
        self.crowd.ticks()
    }

    /// Rows, routes and neighbours.
    #[must_use]
    pub const fn crowd(&self) -> &Crowd {
        &self.crowd
    }
}
