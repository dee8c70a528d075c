//! The dummy backend: nobody moves by themselves.
//!
//! Motion comes only from `human/stream` and `human/move`. It republishes its roster at 30 Hz of simulated time and must
//! never despawn anybody because a publisher went away: a released person stays where the stream left them, with the idle
//! gait (human-layer specification, section 16).

use std::collections::HashSet;

use indexmap::IndexMap;
use promenade_kernel::stable_int;

use crate::backend::HumanSimulator;
use crate::entity::{DynamicObstacle, StaticObstacle, Wall};
use crate::layer::LayerCx;
use crate::message::{Pedestrian, Pose};
use crate::outbox::{Marker, MarkerAction, MarkerShape, MarkerTopic};

const RATE_HZ: f64 = 30.0;
const WALL_NS: &str = "dummy_walls";
const OBJECT_NS: &str = "dummy_objects";
const WALL_WIDTH: f64 = 0.05;
const OBJECT_SIZE: f64 = 0.5;
const RED: [f32; 4] = [1.0, 0.0, 0.0, 1.0];
const BLUE: [f32; 4] = [0.0, 0.0, 1.0, 0.6];

/// See the module.
#[derive(Debug, Default)]
pub struct Dummy {
    /// By sim path, in spawn order.
    roster: IndexMap<String, Pedestrian>,
    /// Ids of the roster.
    ids: HashSet<u32>,
    walls: IndexMap<String, Wall>,
    objects: IndexMap<String, StaticObstacle>,
}

impl Dummy {
    /// The 32-bit id of a name, stepped past ids that are taken: two people must never share a gait phase.
    fn free_id(&mut self, sim_path: &str) -> u32 {
        let mut id = (stable_int(sim_path) & 0xFFFF_FFFF) as u32;
        while !self.ids.insert(id) {
            id = id.wrapping_add(1);
        }
        id
    }

    fn publish_walls(&self, cx: &mut LayerCx) {
        let mut markers = vec![Marker::delete_all(WALL_NS)];
        for (id, wall) in (0..).zip(self.walls.values()) {
            markers.push(Marker {
                ns: WALL_NS.to_owned(),
                id,
                shape: MarkerShape::LineStrip,
                action: MarkerAction::Add,
                scale: [WALL_WIDTH, 0.0, 0.0],
                color: RED,
                points: vec![[wall.start[0], wall.start[1], 0.0], [wall.end[0], wall.end[1], 0.0]],
                ..Marker::delete_all(WALL_NS)
            });
        }
        cx.publish_markers(MarkerTopic::StaticWalls, &markers);
    }

    fn publish_objects(&self, cx: &mut LayerCx) {
        let mut markers = vec![Marker::delete_all(OBJECT_NS)];
        for (id, object) in (0..).zip(self.objects.values()) {
            markers.push(Marker {
                ns: OBJECT_NS.to_owned(),
                id,
                shape: MarkerShape::Cube,
                action: MarkerAction::Add,
                pose: object.pose,
                scale: object.scale.unwrap_or([OBJECT_SIZE; 3]),
                color: BLUE,
                ..Marker::delete_all(OBJECT_NS)
            });
        }
        cx.publish_markers(MarkerTopic::StaticObjects, &markers);
    }
}

impl HumanSimulator for Dummy {
    fn rate_hz(&self) -> f64 {
        RATE_HZ
    }

    fn tick(&mut self, cx: &mut LayerCx) {
        cx.publish_pedestrians(self.roster.values());
    }

    fn spawn_obstacles(
        &mut self,
        cx: &mut LayerCx,
        obstacles: &[StaticObstacle],
    ) -> Vec<Option<StaticObstacle>> {
        for obstacle in obstacles {
            self.objects.insert(obstacle.sim_path.clone(), obstacle.clone());
        }
        self.publish_objects(cx);
        obstacles.iter().cloned().map(Some).collect()
    }

    fn spawn_pedestrians(
        &mut self,
        _cx: &mut LayerCx,
        pedestrians: &[DynamicObstacle],
    ) -> Vec<Option<DynamicObstacle>> {
        for person in pedestrians {
            let id = match self.roster.get(&person.sim_path) {
                Some(known) => known.id,
                None => self.free_id(&person.sim_path),
            };
            self.roster.insert(
                person.sim_path.clone(),
                Pedestrian {
                    name: person.sim_path.clone(),
                    id,
                    pose: person.pose,
                    agent_type: person.agent_type.clone(),
                    ..Pedestrian::default()
                },
            );
        }
        pedestrians.iter().cloned().map(Some).collect()
    }

    fn remove_obstacles(&mut self, cx: &mut LayerCx, obstacles: &[StaticObstacle]) {
        for obstacle in obstacles {
            self.objects.shift_remove(&obstacle.sim_path);
        }
        self.publish_objects(cx);
    }

    fn remove_pedestrians(&mut self, cx: &mut LayerCx) {
        cx.delete_tracked_pedestrians();
        self.roster.clear();
        self.ids.clear();
    }

    fn spawn_walls(&mut self, cx: &mut LayerCx, walls: &[(String, Wall)]) {
        self.walls.extend(walls.iter().cloned());
        self.publish_walls(cx);
    }

    fn remove_walls(&mut self, cx: &mut LayerCx, names: &[String]) {
        for name in names {
            self.walls.shift_remove(name);
        }
        self.publish_walls(cx);
    }

    fn on_stream_merged(&mut self, cx: &mut LayerCx, _accepted: &[String]) {
        cx.publish_pedestrians(self.roster.values());
    }

    fn on_pedestrian_released(&mut self, _cx: &mut LayerCx, bus_name: &str, last: &Pedestrian) {
        if let Some(cached) = self.roster.get_mut(bus_name) {
            cached.pose = last.pose;
            cached.joint_state.clear();
        }
    }

    fn on_pedestrians_moved(&mut self, cx: &mut LayerCx, moved: &[(String, Pose)]) {
        for (bus_name, pose) in moved {
            if let Some(cached) = self.roster.get_mut(bus_name) {
                cached.pose = *pose;
            }
        }
        cx.publish_pedestrians(self.roster.values());
    }
}
