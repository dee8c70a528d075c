//! What the thread of the world owns besides the clock: the simulator, the scenario it plays, and who is in it.

use std::collections::BTreeSet;
use std::time::Duration;

use anyhow::{Context as _, Result};
use promenade_human::episode::EpisodeRequest;
use promenade_human::message::Pose;
use promenade_human::sims::world::{BodyTwist, RobotModels, WorldOptions, WorldSim};
use promenade_human::{EpisodePlan, Sim as _};
use promenade_kernel::Time;
use promenade_robot_world::WorldSpec;
use promenade_robot_world::file::ReadOptions;
use promenade_robot_world::registry::Registry;
use promenade_scenario::AssetLibrary;
use task_generator_msgs::msg::rmw::EpisodeRecord as WireRecord;

use super::people::{People, PeopleRequest};
use super::play::Play;
use super::settings::Settings;
use crate::bus::time_from_wire;
use crate::human_simulator::episodes::parameters;

/// `task_generator_msgs/EpisodeRecord.RUNNING`.
const RUNNING: u8 = 1;

/// See the module.
pub(super) struct Stage {
    sim: WorldSim,
    /// What a request of an episode is made from.
    base: EpisodeRequest,
    /// `None` = a robot-world file, which has no episodes.
    play: Option<Play>,
    people: People,
    follows_phases: bool,
    /// Robots that somebody outside commanded in this episode.
    commanded: BTreeSet<String>,
    /// Number, seed and beginning of the episode that was followed last.
    episode: Option<(u32, i64, Time)>,
}

impl Stage {
    /// The world of the parameters at time zero.
    ///
    /// # Errors
    /// A file that is not there or has errors.
    pub(super) fn open(settings: &Settings) -> Result<Self> {
        let base = settings.request.clone();
        let models = RobotModels::new(AssetLibrary::empty().into(), Registry::built_in());
        let mut people = People::default();
        let (sim, play) = match &settings.world_file {
            Some(file) => {
                let read = WorldSpec::read(file, &Registry::built_in(), &ReadOptions::default());
                let loaded = read.map_err(|report| anyhow::anyhow!("{report}"))?;
                loaded.report.iter().for_each(|problem| tracing::warn!("{problem}"));
                let sim = WorldSim::from_spec(&loaded.value, base.seed, models)
                    .with_context(|| format!("world_file {}", file.display()))?;
                (sim.with_watchdog(settings.watchdog), None)
            }
            None => {
                let options = WorldOptions {
                    step_time: settings.step_time,
                    collision_mode: settings.collision_mode,
                    seed: base.seed,
                    watchdog: settings.watchdog,
                };
                let mut play = Play::load(base.clone())?;
                let mut sim = WorldSim::new(&options, models)?;
                play.enter(&mut sim, &mut people, Time::ZERO);
                (sim, Some(play))
            }
        };
        Ok(Stage {
            sim,
            base,
            play,
            people,
            follows_phases: settings.follows_phases,
            commanded: BTreeSet::new(),
            episode: None,
        })
    }

    /// The simulator.
    pub(super) fn sim(&self) -> &WorldSim {
        &self.sim
    }

    /// The time for which the world is after its next step.
    pub(super) fn next_time(&self) -> Time {
        self.sim.time() + self.dt()
    }

    fn dt(&self) -> Duration {
        Duration::from_secs_f64(self.sim.step_time())
    }

    /// One step of everything.
    pub(super) fn step(&mut self) {
        let dt = self.dt();
        if let Some(play) = &mut self.play {
            let (commanded, follows) = (&self.commanded, self.follows_phases);
            play.step(&mut self.sim, &self.people, dt, |name| follows && !commanded.contains(name));
        }
        self.sim.step();
    }

    /// A call of one of the services of people.
    pub(super) fn serve(&mut self, request: PeopleRequest) {
        self.people.serve(&mut self.sim, request);
    }

    /// Somebody outside commands a robot: forward and left in m/s, yaw rate in rad/s. False when that is no command.
    pub(super) fn command(&mut self, robot: &str, [forward, left, yaw_rate]: [f64; 3]) -> bool {
        if self.sim.command(robot, BodyTwist { forward, left, yaw_rate }).is_err() {
            return false;
        }
        if !self.commanded.contains(robot) {
            tracing::info!("robot {robot:?} is driven by cmd_vel from now on");
            self.commanded.insert(robot.to_owned());
        }
        true
    }

    /// Puts a robot elsewhere, at rest. False when that is no place or nobody has the name.
    pub(super) fn put(&mut self, robot: &str, pose: Pose) -> bool {
        let Some(view) = self.sim.robot(robot).filter(|_| pose.is_finite()) else { return false };
        let moved = promenade_human::Robot { pose, ..view.robot.clone() };
        self.sim.robot_move(&[moved]) == [true]
    }

    /// A record of the episode that runs. True when it began one: walls, things and robots are then those of its beginning.
    pub(super) fn follow(&mut self, record: &WireRecord) -> bool {
        let Some(play) = &self.play else { return false };
        let start = time_from_wire(&record.start_time);
        let episode = (record.episode_id, record.seed, start);
        if record.outcome_state != RUNNING || self.episode == Some(episode) {
            return false;
        }
        self.episode = Some(episode);
        let request = match self.request_of(record, play) {
            Ok(request) => request,
            Err(error) => {
                tracing::error!("episode {}: {error}; the world stays as it is", record.episode_id);
                return false;
            }
        };
        // The first episode is there already, and nothing has driven in it yet.
        let is_here = *play.request() == request;
        let next = if is_here && record.episode_id == 0 && self.commanded.is_empty() {
            None
        } else {
            match Play::load(request) {
                Ok(next) => Some(next),
                Err(error) => {
                    tracing::error!("episode {}: {error}; the world stays as it is", record.episode_id);
                    return false;
                }
            }
        };
        let now = self.sim.time();
        tracing::info!("episode {} from {now} s", record.episode_id);
        if let Some(play) = &mut self.play {
            play.leave(&mut self.sim);
            if let Some(next) = next {
                *play = next;
            }
            play.enter(&mut self.sim, &mut self.people, start.min(now));
        }
        self.commanded.clear();
        true
    }

    fn request_of(&self, record: &WireRecord, play: &Play) -> Result<EpisodeRequest> {
        let world = record.world.to_string();
        // The name of the world that a scenario lies in is no place to look it up by.
        let world = if world == play.world() { self.base.world.clone() } else { world };
        let plan = EpisodePlan {
            world,
            obstacles_params: parameters(&record.obstacles_params).map_err(anyhow::Error::msg)?,
            ..EpisodePlan::default()
        };
        let base = EpisodeRequest { seed: record.seed.cast_unsigned(), ..self.base.clone() };
        Ok(base.with_plan(&plan)?)
    }
}
