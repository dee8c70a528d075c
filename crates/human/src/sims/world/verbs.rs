//! The simulator's verbs on the robot world.
//!
//! A verb that cannot be done says so for its one input and changes nothing; what is known already and is created again takes the place
//! of the old.

use std::sync::Arc;

use promenade_kernel::Time;
use promenade_robot_world::shape::Shape;
use promenade_robot_world::spec::{ObjectSpec, Role};
use promenade_robot_world::world::ObjectRef;

use super::bodies::{footprint, is_believed, planar, radius, thing, wall};
use super::ledger::{Kind, Ledger};
use super::{Body, BodyTwist, Door, Person, WorldSim};
use crate::entity::{Door as LayerDoor, DynamicObstacle, StaticObstacle, Wall};
use crate::message::{Pedestrian, Pose};
use crate::robot::{Robot, Transforms};
use crate::sim::Sim;

/// Groups of the world's objects; robots of the same group would be driven together.
const ROBOTS: i64 = 0;
const OTHERS: i64 = 1;

impl WorldSim {
    /// Puts an object into the world, whose name may be taken.
    fn create(&mut self, spec: &ObjectSpec, group: i64, kind: Kind) -> Option<u32> {
        match self.world.add(spec, group) {
            Ok(id) => {
                self.kinds.insert(id, kind);
                Some(id)
            }
            Err(error) => {
                let name = spec.name.as_deref().unwrap_or_default();
                tracing::warn!("the robot world does not take {name:?}: {error}");
                None
            }
        }
    }

    fn destroy(&mut self, id: u32) {
        self.kinds.remove(&id);
        if let Err(error) = self.world.remove(id) {
            tracing::error!("the robot world: {error}");
        }
    }

    fn create_wall(&mut self, name: &str, line: &Wall) -> Option<u32> {
        let spec = thing(name, wall(line)?, [0.0; 3], f64::INFINITY);
        self.create(&spec, OTHERS, Kind::Wall)
    }

    fn close(&mut self, door: &LayerDoor) -> bool {
        self.open(&door.name);
        let id = self.create_wall(&format!("__door_{}", door.name), &door.line);
        self.doors.insert(door.name.clone(), Door { line: door.line, id });
        id.is_some()
    }

    fn open(&mut self, name: &str) {
        if let Some(id) = self.doors.get_mut(name).and_then(|door| door.id.take()) {
            self.destroy(id);
        }
    }

    fn spawn_object(&mut self, object: &StaticObstacle) -> bool {
        if let Some(Some(old)) = self.objects.remove(&object.sim_path) {
            self.destroy(old);
        }
        let Some(pose) = planar(&object.pose) else { return false };
        let bundle = self.models.assets().object(&object.model).ok();
        let annotation = bundle.as_ref().map(|bundle| &bundle.annotation);
        // Without a box it is in nobody's way, as for the people.
        let Some(shape) = annotation.and_then(|annotation| footprint(object, annotation)) else {
            self.objects.insert(object.sim_path.clone(), None);
            return true;
        };
        let declared = object.entry.as_ref().and_then(|entry| entry.mass);
        let mass = declared.or(annotation.and_then(|annotation| annotation.mass)).unwrap_or(f64::INFINITY);
        let id = self.create(&thing(&object.sim_path, shape, pose, mass), OTHERS, Kind::Thing);
        if id.is_some() {
            self.objects.insert(object.sim_path.clone(), id);
        }
        id.is_some()
    }

    fn move_object(&mut self, object: &StaticObstacle) -> bool {
        match (self.objects.get(&object.sim_path), planar(&object.pose)) {
            (None, _) | (_, None) => false,
            (Some(None), Some(_)) => true,
            (Some(Some(id)), Some(pose)) => {
                self.world.set_velocity(*id, &[0.0; 3]).is_ok() && self.world.set_state(*id, &pose).is_ok()
            }
        }
    }

    fn spawn_person(&mut self, person: &DynamicObstacle) -> bool {
        self.delete_person(person);
        let Some(pose) = planar(&person.pose) else { return false };
        let radius = radius(person);
        let Ok(shape) = Shape::circle(radius, [0.0; 2], None) else { return false };
        let spec = thing(&person.sim_path, Arc::new(shape), pose, f64::INFINITY);
        let Some(id) = self.create(&spec, OTHERS, Kind::Person) else { return false };
        // From now on nobody but the layer moves them.
        if self.world.set_puppet(id, pose, [0.0; 3]).is_err() {
            self.destroy(id);
            return false;
        }
        self.people.insert(person.sim_path.clone(), Person { id, radius });
        self.plain.insert(person.name.clone(), person.sim_path.clone());
        true
    }

    fn delete_person(&mut self, person: &DynamicObstacle) -> bool {
        let Some(known) = self.people.remove(&person.sim_path) else { return false };
        if self.plain.get(&person.name) == Some(&person.sim_path) {
            self.plain.remove(&person.name);
        }
        self.destroy(known.id);
        true
    }

    /// Where somebody is now, by either name, and how fast.
    fn place_person(&mut self, name: &str, pose: &Pose, velocity: [f64; 3]) -> bool {
        let known = self.people.get(name).or_else(|| self.people.get(self.plain.get(name)?));
        let (Some(&Person { id, .. }), Some(pose)) = (known, planar(pose)) else { return false };
        is_believed(velocity) && self.world.set_puppet(id, pose, velocity).is_ok()
    }

    fn spawn_robot(&mut self, robot: &Robot) -> bool {
        let Some(pose) = planar(&robot.pose) else { return false };
        let spec = match self.models.get(&robot.model) {
            Ok(spec) => spec,
            Err(error) => {
                tracing::warn!("robot {:?}: {error}; a service robot stands in", robot.name);
                match self.models.fallback() {
                    Ok(spec) => spec,
                    Err(error) => {
                        tracing::error!("robot {:?}: {error}", robot.name);
                        return false;
                    }
                }
            }
        };
        self.delete_robot(robot);
        let name = if robot.sim_path.is_empty() { &robot.name } else { &robot.sim_path };
        let mut spec = ObjectSpec { name: Some(name.clone()), ..(*spec).clone() };
        put(&mut spec.state, pose);
        let Some(id) = self.create(&spec, ROBOTS, Kind::Robot) else { return false };
        self.robots.push(Body {
            robot: robot.clone(),
            id,
            wanted: BodyTwist::default(),
            until: Time::ZERO,
            command: Default::default(),
            is_commanded: true,
            ledger: Ledger::new([pose[0], pose[1]]),
        });
        true
    }

    fn move_robot(&mut self, robot: &Robot) -> bool {
        let known = self.robots.iter().position(|body| body.robot.name == robot.name);
        let (Some(at), Some(pose)) = (known, planar(&robot.pose)) else { return false };
        let body = &mut self.robots[at];
        let Some(row) = self.world.row(ObjectRef::Id(body.id)) else { return false };
        let objects = self.world.objects();
        let layout = objects.model[row].as_ref().map(|model| model.layout());
        let (states, commands) = layout.map_or((3, 3), |layout| (layout.state, layout.command.len()));
        let mut state = vec![0.0; states];
        put(&mut state, pose);
        let rest = [0.0; promenade_robot_world::kinematics::MAX_COMMAND];
        let done = self.world.set_velocity(body.id, &rest[..commands]).is_ok()
            && self.world.set_state(body.id, &state).is_ok();
        if done {
            body.robot.pose = robot.pose;
            body.until = Time::ZERO;
            body.ledger.place([pose[0], pose[1]]);
        }
        done
    }

    fn delete_robot(&mut self, robot: &Robot) -> bool {
        let Some(at) = self.robots.iter().position(|body| body.robot.name == robot.name) else {
            return false;
        };
        let body = self.robots.remove(at);
        self.destroy(body.id);
        true
    }

    /// Takes what the world had from the start as its robots and things.
    pub(super) fn adopt(&mut self) {
        let objects = self.world.objects();
        for row in 0..objects.len() {
            let id = objects.id[row];
            let is_robot = objects.role[row] == Role::Robot && objects.model[row].is_some();
            self.kinds.insert(id, if is_robot { Kind::Robot } else { Kind::Thing });
            if is_robot {
                let name = objects.name[row].to_string();
                let [x, y, heading] = [0, 1, 2].map(|i| objects.state[row][i]);
                self.robots.push(Body {
                    robot: Robot {
                        sim_path: name.clone(),
                        model: String::new(),
                        base_frame: Some(format!("{name}/base_link")),
                        pose: Pose::planar(x, y, heading),
                        name,
                    },
                    id,
                    wanted: BodyTwist::default(),
                    until: Time::ZERO,
                    command: Default::default(),
                    is_commanded: false,
                    ledger: Ledger::new([x, y]),
                });
            }
        }
    }
}

/// Puts a state to a pose; a car's steering goes straight.
fn put(state: &mut Vec<f64>, pose: [f64; 3]) {
    state.iter_mut().for_each(|value| *value = 0.0);
    state.resize(state.len().max(3), 0.0);
    state[..3].copy_from_slice(&pose);
}

impl Sim for WorldSim {
    fn obstacle_spawn(&mut self, obstacles: &[StaticObstacle]) -> Vec<bool> {
        obstacles.iter().map(|object| self.spawn_object(object)).collect()
    }

    fn obstacle_move(&mut self, obstacles: &[StaticObstacle]) -> Vec<bool> {
        obstacles.iter().map(|object| self.move_object(object)).collect()
    }

    fn obstacle_delete(&mut self, obstacles: &[StaticObstacle]) -> Vec<bool> {
        let delete = |object: &StaticObstacle| {
            let known = self.objects.remove(&object.sim_path);
            if let Some(Some(id)) = known {
                self.destroy(id);
            }
            known.is_some()
        };
        obstacles.iter().map(delete).collect()
    }

    fn pedestrian_spawn(&mut self, pedestrians: &[DynamicObstacle]) -> Vec<bool> {
        pedestrians.iter().map(|person| self.spawn_person(person)).collect()
    }

    fn pedestrian_move(&mut self, pedestrians: &[DynamicObstacle]) -> Vec<bool> {
        let rest = [0.0; 3];
        pedestrians.iter().map(|person| self.place_person(&person.sim_path, &person.pose, rest)).collect()
    }

    fn pedestrian_delete(&mut self, pedestrians: &[DynamicObstacle]) -> Vec<bool> {
        pedestrians.iter().map(|person| self.delete_person(person)).collect()
    }

    fn pedestrian_update(&mut self, _stamp: Time, pedestrians: &[Pedestrian], results: &mut Vec<bool>) {
        for person in pedestrians {
            let ([vx, vy, _], [_, _, turn]) = (person.twist.linear, person.twist.angular);
            results.push(self.place_person(&person.name, &person.pose, [vx, vy, turn]));
        }
    }

    fn robot_spawn(&mut self, robots: &[Robot]) -> Vec<bool> {
        robots.iter().map(|robot| self.spawn_robot(robot)).collect()
    }

    fn robot_move(&mut self, robots: &[Robot]) -> Vec<bool> {
        robots.iter().map(|robot| self.move_robot(robot)).collect()
    }

    fn robot_delete(&mut self, robots: &[Robot]) -> Vec<bool> {
        robots.iter().map(|robot| self.delete_robot(robot)).collect()
    }

    fn spawn_walls(&mut self, walls: &[Wall], clear_existing: bool) -> bool {
        if clear_existing {
            self.clear_walls();
        }
        let mut all = true;
        for line in walls {
            let name = format!("wall_{}", self.serial);
            self.serial += 1;
            match self.create_wall(&name, line) {
                Some(id) => self.walls.push(id),
                None => all = false,
            }
        }
        all
    }

    fn spawn_doors(&mut self, doors: &[LayerDoor]) -> Vec<bool> {
        doors.iter().map(|door| self.close(door)).collect()
    }

    fn update_doors(&mut self, doors: &[(LayerDoor, bool)]) {
        for (door, is_open) in doors {
            if *is_open {
                self.open(&door.name);
            } else if self
                .doors
                .get(&door.name)
                .is_none_or(|known| known.id.is_none() || known.line != door.line)
            {
                self.close(door);
            }
        }
    }

    fn remove_world(&mut self) -> bool {
        self.clear_walls();
        self.remove_mechanisms()
    }

    fn remove_mechanisms(&mut self) -> bool {
        for door in std::mem::take(&mut self.doors).into_values() {
            if let Some(id) = door.id {
                self.destroy(id);
            }
        }
        true
    }

    fn before_reset_episode(&mut self) {
        self.is_held = true;
    }

    fn after_reset_episode(&mut self) {
        self.is_held = false;
        self.robots.iter_mut().for_each(|body| body.until = Time::ZERO);
    }
}

impl WorldSim {
    fn clear_walls(&mut self) {
        for id in std::mem::take(&mut self.walls) {
            self.destroy(id);
        }
    }
}

impl Transforms for WorldSim {
    fn latest(&mut self, frame: &str) -> Option<(Time, Pose)> {
        let body = self.robots.iter().find(|body| body.robot.base_frame.as_deref() == Some(frame))?;
        let [x, y, heading] = self.view(body).pose;
        Some((self.time(), Pose::planar(x, y, heading)))
    }
}
