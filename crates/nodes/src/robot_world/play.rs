//! The scenario as the simulator plays it: its walls, doors, things and robots, and where the robots have to go.
//!
//! Doors and tasks follow the same rules as in the human layer, from the same files and places; people come from outside.

use std::sync::Arc;
use std::time::Duration;

use promenade_human::entity::Door;
use promenade_human::episode::{Episode, EpisodeError, EpisodeRequest};
use promenade_human::live::{Effect, GAVE_UP, LiveOptions, LiveWorld, Occupant, OccupantKind, RobotTask};
use promenade_human::sims::world::{Pilots, RobotModels, WorldSim};
use promenade_human::{ROBOT_RADIUS, Sim as _};
use promenade_kernel::Time;
use promenade_robot_world::registry::Registry;

use super::people::People;

/// See the module.
#[derive(Debug)]
pub(super) struct Play {
    request: EpisodeRequest,
    episode: Episode,
    live: LiveWorld,
    pilots: Pilots,
    /// What the robots of the scenario have to do.
    tasks: Vec<RobotTask>,
}

impl Play {
    /// Loads what a request names; nothing is in the simulator yet.
    ///
    /// # Errors
    /// Files that are not there or have errors.
    pub(super) fn load(request: EpisodeRequest) -> Result<Self, EpisodeError> {
        let episode = Episode::load(&request)?;
        let options = LiveOptions { zone_semantics: request.options.zone_semantics };
        let live = LiveWorld::new(&episode.world, &episode.scenario, request.offset, options);
        Ok(Play { request, episode, live, pilots: Pilots::default(), tasks: Vec::new() })
    }

    /// What it was loaded from.
    pub(super) fn request(&self) -> &EpisodeRequest {
        &self.request
    }

    /// Name of the world, as records of episodes have it.
    pub(super) fn world(&self) -> &str {
        &self.episode.world.name
    }

    /// Puts everything into the simulator and begins at `now`.
    pub(super) fn enter(&mut self, sim: &mut WorldSim, people: &mut People, now: Time) {
        let episode = &self.episode;
        sim.set_models(RobotModels::new(Arc::clone(&episode.models), Registry::built_in()));
        sim.spawn_walls(&episode.walls, false);
        sim.spawn_doors(&episode.doors);
        sim.obstacle_spawn(&episode.world_objects);
        sim.obstacle_spawn(&episode.objects);
        sim.robot_spawn(&episode.robots);
        self.live.start(now);
        let entries = &episode.scenario.robots;
        self.tasks = entries.iter().map(|entry| RobotTask::new(entry, &self.live)).collect();
        self.pilots = Pilots::new(sim, &episode.robots, entries);
        people.expect(&self.request.prefix, &episode.people);
    }

    /// Takes everything out of the simulator again.
    pub(super) fn leave(&self, sim: &mut WorldSim) {
        sim.robot_delete(&self.episode.robots);
        sim.obstacle_delete(&self.episode.objects);
        sim.obstacle_delete(&self.episode.world_objects);
        sim.remove_world();
    }

    /// Lets doors and tasks go on for a step of `dt` that the simulator is about to make, and drives the robots that `is_free` names.
    pub(super) fn step(
        &mut self,
        sim: &mut WorldSim,
        people: &People,
        dt: Duration,
        is_free: impl Fn(&str) -> bool,
    ) {
        let now = sim.time();
        let robots = sim.robots().map(|view| Occupant {
            name: &view.robot.name,
            kind: OccupantKind::Robot,
            agent_type: &view.robot.model,
            position: [view.pose[0], view.pose[1]],
            radius: ROBOT_RADIUS,
            level: None,
        });
        let occupants = people.occupants().chain(robots);
        let mut doors = Vec::new();
        for effect in self.live.step(now, occupants) {
            let (name, is_open) = match effect {
                Effect::DoorClosed(name) => (name, false),
                Effect::DoorOpened(name) => (name, true),
                Effect::Stimulus { .. } => continue,
            };
            let door = self.episode.doors.iter().find(|door| door.name == **name);
            doors.extend(door.map(|door: &Door| (door.clone(), is_open)));
        }
        if !doors.is_empty() {
            sim.update_doors(&doors);
        }
        self.pilots.begin();
        for (i, (task, robot)) in self.tasks.iter_mut().zip(&self.episode.robots).enumerate() {
            let Some(view) = sim.robot(&robot.name) else { continue };
            let goal = task.step(now, view.pose, &self.live);
            // A robot that is there is known to the world.
            if is_free(&robot.name)
                && let Ok(true) = self.pilots.drive(sim, i, goal, &self.live, (now, dt))
            {
                task.fail(GAVE_UP);
            }
        }
    }
}
