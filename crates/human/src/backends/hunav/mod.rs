//! The hunav backend: a HuNav engine moves people, this side tells it of the world and shows what it says (HuNav specification, section
//! 8).
//!
//! It speaks to the engine through a [`HunavLink`] alone and must never decide how anybody walks. Its own records of people are complete, so
//! that an engine which is late, silent or started anew costs people some time and nothing else.

mod in_process;
mod link;
mod loader_file;
mod obstacles;
mod people;
mod roster;
mod settings;

use std::time::Duration;

use promenade_hunav::configure::Template;
use promenade_hunav::{Agent, Options, Request, Robot, wrap};
use promenade_kernel::Time;
use rand::RngExt;

pub use in_process::InProcess;
pub use link::{HunavLink, LinkError};
pub(crate) use loader_file::load_scenario;
pub use settings::{EngineChoice, HunavSettings, SettingError};

use crate::backend::{BackendContext, BusName, HumanSimulator, LockstepChannel};
use crate::entity::{DynamicObstacle, Region, StaticObstacle, Wall};
use crate::layer::LayerCx;
use crate::message::{Pedestrian, Pose, Twist};
use crate::parameter::Parameter;
use obstacles::Obstacles;
use people::Maker;
use roster::{Odd, Roster};

/// Calls of the engine per second of simulated time.
const RATE_HZ: f64 = 10.0;

/// Prefix of its parameters, and first part of the names of its random streams.
const NAMESPACE: &str = "hunav";

/// Time between two warnings of one kind.
const WARNING_PERIOD: Duration = Duration::from_secs(10);

/// Longest silence that a clock which waits for `arena_peds` allows, seconds.
const LOCKSTEP_PERIOD_S: f64 = 0.15;

/// See the module.
pub struct Hunav {
    link: Box<dyn HunavLink>,
    template: Template,
    offset: [f64; 2],
    /// Of the run, and of the episode.
    base: HunavSettings,
    settings: HunavSettings,
    seed: u64,
    roster: Roster,
    obstacles: Obstacles,
    robot: Robot,
    /// Time and heading of the robot when it was seen last.
    robot_seen: Option<(Time, f64)>,
    answer: Vec<Agent>,
    /// The engine holds something that is not ours, and must forget it before the next call.
    is_stale: bool,
    /// Who and what is there is not what was shown last.
    is_changed: bool,
    is_paused: bool,
    warnings: Warnings,
}

impl std::fmt::Debug for Hunav {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Hunav").field("people", &self.roster.agents.len()).finish_non_exhaustive()
    }
}

impl Hunav {
    /// The backend with the link of the context, or with an engine of its own.
    #[must_use]
    pub fn new(context: BackendContext) -> Self {
        let settings = context.hunav_settings;
        let link = context.hunav.unwrap_or_else(|| Box::new(InProcess::new(settings.options)));
        Hunav {
            link,
            template: Template::built_in(),
            offset: context.offset,
            base: settings.clone(),
            settings,
            seed: context.seed,
            roster: Roster::default(),
            obstacles: Obstacles::default(),
            robot: Robot::default(),
            robot_seen: None,
            answer: Vec::new(),
            is_stale: true,
            is_changed: false,
            is_paused: false,
            warnings: Warnings::default(),
        }
    }

    /// Lets the engine move everybody to now.
    fn compute(&mut self, cx: &mut LayerCx) {
        if self.is_stale {
            if let Err(error) = self.link.clear() {
                return self.warnings.failed(cx.now(), &error);
            }
            self.is_stale = false;
        }
        self.roster.begin_driving();
        for (bus_name, state) in cx.possessed_pedestrians() {
            self.roster.drive(bus_name, state);
        }
        let HunavSettings { obstacle_range, obstacle_max, .. } = self.settings;
        for agent in &mut self.roster.agents {
            self.obstacles.around(agent.position, obstacle_range, obstacle_max, &mut agent.closest_obs);
        }
        self.look_at_robot(cx);
        let request = Request { stamp_ns: cx.now().nanos(), agents: &self.roster.agents, robot: &self.robot };
        match self.link.compute(&request, &mut self.answer) {
            Ok(()) => {
                let odd = self.roster.take(&self.answer, &self.settings);
                self.warnings.odd(cx.now(), &odd);
            }
            Err(error) => self.warnings.failed(cx.now(), &error),
        }
    }

    /// The first robot in the order of spawns, or one that is nowhere.
    fn look_at_robot(&mut self, cx: &mut LayerCx) {
        let now = cx.now();
        let robot = &mut self.robot;
        let Some(tracked) = cx.visible_robots().first().filter(|tracked| tracked.pose.is_finite()) else {
            *robot = Robot { radius: self.settings.robot_radius, ..Robot::default() };
            self.robot_seen = None;
            return;
        };
        let [x, y, _] = tracked.pose.position;
        let yaw = tracked.pose.yaw();
        let stamp = tracked.stamp.unwrap_or(now);
        match self.robot_seen {
            Some((before, heading)) if stamp > before => {
                robot.angular_vel = wrap(yaw - heading) / stamp.saturating_since(before).as_secs_f64();
                self.robot_seen = Some((stamp, yaw));
            }
            Some((before, _)) if stamp == before => {}
            _ => {
                robot.angular_vel = 0.0;
                self.robot_seen = Some((stamp, yaw));
            }
        }
        robot.name.clone_from(&tracked.robot.name);
        robot.position = [x, y];
        robot.yaw = yaw;
        robot.velocity = tracked.velocity;
        robot.radius = self.settings.robot_radius;
    }

    fn publish(&mut self, cx: &mut LayerCx) {
        cx.publish_pedestrians(&self.roster.bus);
    }

    /// The engine begins anew with the options of the episode.
    fn restart_engine(&mut self) -> bool {
        self.is_stale = true;
        self.link.set_options(&Options { seed: self.seed, ..self.settings.options })
    }

    fn show_walls(&mut self, cx: &mut LayerCx) {
        self.is_changed = true;
        self.obstacles.publish(cx);
    }
}

/// How people become agents, without a hold on the roster.
macro_rules! maker {
    ($backend:expr) => {
        Maker {
            template: &$backend.template,
            settings: &$backend.settings,
            offset: $backend.offset,
            seed: $backend.seed,
            names_trees: $backend.link.names_trees(),
        }
    };
}

impl HumanSimulator for Hunav {
    fn bus_name(&self) -> BusName {
        BusName::Plain
    }

    fn rate_hz(&self) -> f64 {
        RATE_HZ
    }

    fn tick(&mut self, cx: &mut LayerCx) {
        if self.is_paused {
            return;
        }
        if std::mem::take(&mut self.is_changed) {
            self.link.show(&self.roster.agents, &self.obstacles.walls());
        }
        if cx.is_gate_open() && !self.roster.is_empty() {
            self.compute(cx);
        }
        // Also when nobody is there or nobody answers: a clock may wait for it.
        self.publish(cx);
        if !self.roster.is_empty() {
            cx.relay_pedestrian_update(cx.now(), &self.roster.bus);
        }
    }

    fn spawn_obstacles(
        &mut self,
        cx: &mut LayerCx,
        obstacles: &[StaticObstacle],
    ) -> Vec<Option<StaticObstacle>> {
        for thing in obstacles {
            let footprint = cx.models().object(&thing.model).map(|said| said.bounding_box);
            match footprint {
                Ok(Some(bounds)) => self.obstacles.add_thing(thing, bounds.footprint()),
                Ok(None) => self.obstacles.remove_thing(&thing.name),
                Err(why) => {
                    self.obstacles.remove_thing(&thing.name);
                    tracing::warn!("{why}; people walk through {:?}", thing.name);
                }
            }
        }
        self.show_walls(cx);
        obstacles.iter().cloned().map(Some).collect()
    }

    fn spawn_pedestrians(
        &mut self,
        cx: &mut LayerCx,
        pedestrians: &[DynamicObstacle],
    ) -> Vec<Option<DynamicObstacle>> {
        if self.roster.is_empty() {
            self.seed = cx.streams().fresh(&[NAMESPACE.into()]).random();
            self.restart_engine();
        }
        let before = self.roster.agents.len();
        let places = self.roster.add(pedestrians, &maker!(self));
        // Somebody known who begins anew is nothing that an engine hears of by a later request.
        let all_new = self.roster.agents.len() == before + pedestrians.len();
        self.is_stale |= !all_new || !self.link.adds_agents();
        self.is_changed = true;
        let at = |(person, pose): (&DynamicObstacle, Pose)| Some(DynamicObstacle { pose, ..person.clone() });
        pedestrians.iter().zip(places).map(at).collect()
    }

    fn remove_obstacles(&mut self, cx: &mut LayerCx, obstacles: &[StaticObstacle]) {
        for thing in obstacles {
            self.obstacles.remove_thing(&thing.name);
        }
        self.show_walls(cx);
    }

    fn remove_pedestrians(&mut self, _cx: &mut LayerCx) {
        self.roster.clear();
        self.robot_seen = None;
        self.is_changed = true;
        self.is_stale = self.link.clear().is_err();
    }

    fn spawn_walls(&mut self, cx: &mut LayerCx, walls: &[(String, Wall)]) {
        self.obstacles.add_walls(walls);
        self.show_walls(cx);
    }

    fn remove_walls(&mut self, cx: &mut LayerCx, names: &[String]) {
        self.obstacles.remove_walls(names);
        self.show_walls(cx);
    }

    fn add_regions(&mut self, _cx: &mut LayerCx, regions: &[Region]) -> Vec<bool> {
        if let Some(region) = regions.first() {
            tracing::warn!("human:=hunav has no sources and sinks; {:?} has no effect", region.name);
        }
        vec![false; regions.len()]
    }

    fn on_pedestrian_released(&mut self, _cx: &mut LayerCx, bus_name: &str, last: &Pedestrian) {
        self.roster.put(bus_name, &last.pose, &last.twist);
    }

    fn on_pedestrians_moved(&mut self, cx: &mut LayerCx, moved: &[(String, Pose)]) {
        for (bus_name, pose) in moved {
            self.roster.put(bus_name, pose, &Twist::default());
        }
        self.publish(cx);
    }

    fn param_namespace(&self) -> Option<&'static str> {
        Some(NAMESPACE)
    }

    fn configure(&mut self, _cx: &mut LayerCx, params: &[Parameter]) -> Vec<String> {
        let before = std::mem::replace(&mut self.settings, self.base.clone());
        let mut accepted = Vec::new();
        for Parameter { name, value } in params {
            let mut next = self.settings.clone();
            match next.set(name, value) {
                Ok(()) if next != self.settings && !HunavSettings::is_of_episode(name) => {
                    tracing::warn!("hunav.{name} is set at the start, not by an episode");
                }
                Ok(()) => {
                    self.settings = next;
                    accepted.push(name.clone());
                }
                Err(error) => tracing::warn!("{error}"),
            }
        }
        if self.settings != before {
            if self.settings.options != before.options && !self.restart_engine() {
                tracing::warn!(
                    "an engine elsewhere has options of its own; those of the episode have no effect"
                );
                accepted.retain(|name| !HunavSettings::is_of_engine(name));
            }
            self.is_stale = true;
            self.is_changed = true;
            self.roster.make_again(&maker!(self));
        }
        accepted
    }

    fn lockstep_channels(&self) -> Vec<LockstepChannel> {
        vec![LockstepChannel {
            name: "roster".to_owned(),
            topic: "arena_peds".to_owned(),
            message_type: "arena_people_msgs/msg/Pedestrians".to_owned(),
            period_s: LOCKSTEP_PERIOD_S,
            hard: true,
        }]
    }

    fn pause(&mut self, _cx: &mut LayerCx) {
        self.is_paused = true;
    }

    fn unpause(&mut self, _cx: &mut LayerCx) {
        self.is_paused = false;
    }
}

/// What the user was told of the engine, and when.
#[derive(Debug, Default)]
struct Warnings {
    failed: Option<Time>,
    odd: Option<Time>,
    /// Calls without an answer since the last warning.
    silent: u64,
}

impl Warnings {
    fn failed(&mut self, now: Time, error: &LinkError) {
        self.silent += 1;
        if is_due(&mut self.failed, now) {
            let calls = std::mem::take(&mut self.silent);
            tracing::warn!("HuNav: {error} ({calls} calls in vain); people keep their last state");
        }
    }

    fn odd(&mut self, now: Time, odd: &Odd) {
        if *odd != Odd::default() && is_due(&mut self.odd, now) {
            let Odd { unknown, missing, broken } = odd;
            tracing::warn!(
                "HuNav: the answer has {unknown} agents that nobody asked for and {broken} that are not finite, and \
                 {missing} people are missing; those keep their last state"
            );
        }
    }
}

/// Whether the last warning is long enough ago; one from before the clock went back is.
fn is_due(last: &mut Option<Time>, now: Time) -> bool {
    let is_due = last.is_none_or(|last| now < last || now.saturating_since(last) >= WARNING_PERIOD);
    if is_due {
        *last = Some(now);
    }
    is_due
}
