//! Makes a world of a file, adds and removes objects, and goes back to the start.

use std::collections::HashMap;
use std::sync::Arc;

use promenade_kernel::generator::Generator;

use super::status::Label;
use super::touching::Touching;
use super::warning::Warnings;
use super::{Group, Winding, World, WorldError};
use crate::behavior::{GroupBehaviorFactory, Scratch, Walls};
use crate::contact::{Reading, Solver};
use crate::index::Centers;
use crate::kinematics::MAX_STATE;
use crate::map::Fog;
use crate::objects::{Objects, Start};
use crate::place::{Placement, draw_shape, place};
use crate::sensor::Sensing;
use crate::shape::Shape;
use crate::spec::{Drawing, MapGrid, ObjectSpec, Role, WorldSpec};

/// Group of the map's object, which belongs to none.
const NO_GROUP: i64 = -1;

impl World {
    /// The world of a file, with everything random drawn from a generator seeded with `seed`. Its scanners have looked once.
    ///
    /// # Errors
    /// When a group finds no room, or two objects have one name.
    pub fn new(spec: &WorldSpec, seed: u64) -> Result<Self, WorldError> {
        Self::build(&Arc::new(spec.clone()), Generator::seeded(seed))
    }

    fn build(spec: &Arc<WorldSpec>, mut generator: Generator) -> Result<Self, WorldError> {
        let placements = place(spec, &mut generator)?;
        let mut world = Self {
            settings: spec.settings.clone(),
            objects: Objects::default(),
            names: HashMap::new(),
            next_id: 0,
            generator,
            groups: Vec::new(),
            count: 0,
            label: Label::Initial,
            paused: false,
            commands: Vec::new(),
            walls: Walls::default(),
            centers: Centers::default(),
            touching: Touching::default(),
            scratch: Scratch::default(),
            solver: Solver::default(),
            sensing: Sensing::default(),
            fog: spec.fog.and_then(|cell| {
                Fog::new([spec.settings.width, spec.settings.height], spec.settings.offset, cell)
            }),
            warnings: Warnings::default(),
            spec: Arc::clone(spec),
        };
        let objects =
            spec.groups.iter().flat_map(|group| group.objects.iter().map(move |object| (group, object)));
        for ((group, object), placement) in objects.zip(placements) {
            world.push(object, group.group, placement)?;
        }
        if let Some((grid, shape)) = spec.map.as_ref().and_then(|grid| Some((grid, Shape::map(grid)?))) {
            world.push_map(grid, shape)?;
        }
        for group in &spec.groups {
            if let Some(factory) = &group.group_behavior {
                world.form(group.group, Arc::clone(factory));
            }
        }
        for row in 0..world.objects.len() {
            world.start_wandering(row);
        }
        world.regroup();
        world.sense();
        Ok(world)
    }

    /// Adds an object with a new id. Its `state` and `goals` are taken as they are; a random shape is drawn.
    ///
    /// # Errors
    /// When the name is taken, or the state is not finite.
    pub fn add(&mut self, spec: &ObjectSpec, group: i64) -> Result<u32, WorldError> {
        let shape = draw_shape(&spec.shape, &mut self.generator)?;
        let mut state = [0.0; MAX_STATE];
        for (to, from) in state.iter_mut().zip(&spec.state) {
            *to = *from;
        }
        let placement = Placement { shape, state, goals: spec.goals.clone() };
        let id = self.push(spec, group, placement)?;
        self.start_wandering(self.objects.len() - 1);
        self.regroup();
        Ok(id)
    }

    /// Removes an object.
    ///
    /// # Errors
    /// When nobody has this id.
    pub fn remove(&mut self, id: u32) -> Result<(), WorldError> {
        let row = self.objects.row(id).ok_or(WorldError::UnknownId(id))?;
        self.names.remove(&self.objects.name[row]);
        self.objects.remove(row);
        self.warnings.said.remove(row);
        for collisions in &mut self.objects.collisions {
            collisions.retain(|other| *other != id);
        }
        self.solver.forget(id);
        self.regroup();
        Ok(())
    }

    /// Back to the start: states, velocities and goals of every object as they were placed, the count at 0, and nothing moved. The generator goes
    /// on where it is; a wanderer draws a goal.
    pub fn reset(&mut self) {
        for row in 0..self.objects.len() {
            let objects = &mut self.objects;
            let start = &objects.start[row];
            objects.state[row] = start.state;
            objects.drive[row] = start.velocity;
            objects.goals[row].clear();
            objects.goals[row].extend(&start.goals);
            let velocity = start.velocity;
            objects.store_velocity(row, velocity);
            objects.place(row);
            objects.winding[row] = Winding::default();
            objects.contact[row] = Reading::default();
            self.start_wandering(row);
        }
        self.solver.clear();
        if let Some(fog) = &mut self.fog {
            fog.reset();
        }
        self.count = 0;
        self.regroup();
        for group in &mut self.groups {
            group.planner = group.factory.make(&self.objects, &group.members);
        }
        self.sense();
        self.judge();
        self.label = Label::Reset;
    }

    /// [`World::reset`] with the generator seeded anew: the same seed gives the same run, goals of wanderers included.
    pub fn reset_seeded(&mut self, seed: u64) {
        self.generator = Generator::seeded(seed);
        self.reset();
    }

    /// Makes the world anew of its file, with fresh draws.
    ///
    /// # Errors
    /// As [`World::new`]; then the world is as it was.
    pub fn reset_random(&mut self) -> Result<(), WorldError> {
        let mut world = Self::build(&self.spec, self.generator.clone())?;
        world.paused = self.paused;
        world.label = Label::Reset;
        *self = world;
        Ok(())
    }

    /// What depends on which objects there are: members of groups and indices. Planners keep what they remember.
    fn regroup(&mut self) {
        let mut groups = std::mem::take(&mut self.groups);
        for group in &mut groups {
            group.members.clear();
            group.members.extend(self.members(group.number));
        }
        self.groups = groups;
        self.walls = Walls::of(&self.objects);
        let single = self.objects.behavior.iter().flatten().map(|behavior| behavior.reach());
        let reach = single.chain(self.groups.iter().map(|group| group.factory.reach())).fold(0.0, f64::max);
        self.centers.fill(&self.objects.centroid, reach);
        self.touching.forget();
    }

    fn form(&mut self, number: i64, factory: Arc<dyn GroupBehaviorFactory>) {
        let members: Vec<u32> = self.members(number).collect();
        let planner = factory.make(&self.objects, &members);
        self.groups.push(Group { number, factory, planner, members, commands: Vec::new() });
    }

    fn members(&self, number: i64) -> impl Iterator<Item = u32> {
        let objects = &self.objects;
        (0..objects.len())
            .filter(move |row| objects.group[*row] == number && objects.model[*row].is_some())
            .map(|row| objects.id[row])
    }

    fn start_wandering(&mut self, row: usize) {
        if self.objects.renewal[row].wander {
            self.draw_goal(row);
        }
    }

    fn push(&mut self, spec: &ObjectSpec, group: i64, placement: Placement) -> Result<u32, WorldError> {
        let Placement { shape, state, goals } = placement;
        let id = self.next_id;
        let name: Arc<str> = match &spec.name {
            Some(name) => name.as_str().into(),
            None if spec.role == Role::Robot => format!("robot_{id}").into(),
            None => format!("obstacle_{id}").into(),
        };
        if self.names.contains_key(&name) {
            return Err(WorldError::DuplicateName(name.to_string()));
        }
        if !state.iter().all(|number| number.is_finite()) {
            return Err(WorldError::NotFinite { name: name.to_string(), what: "state" });
        }
        let passive = spec.model.is_none();
        let inertia = if spec.mass.is_finite() {
            spec.inertia.unwrap_or(shape.unit_inertia * spec.mass)
        } else {
            f64::INFINITY
        };
        let objects = &mut self.objects;
        objects.id.push(id);
        objects.name.push(Arc::clone(&name));
        objects.role.push(spec.role);
        objects.group.push(group);
        objects.model.push(spec.model.clone());
        objects.noise.push(spec.noise.as_deref().map(Into::into));
        objects.shape.push(shape);
        objects.state.push(state);
        objects.velocity.push(spec.velocity);
        objects.drive.push(spec.velocity);
        objects.velocity_xy.push([0.0; 2]);
        objects.centroid.push([0.0; 2]);
        objects.rotation.push([0.0, 1.0]);
        objects.bounds.push([0.0; 4]);
        objects.goals.push(goals.iter().copied().collect());
        objects.goal_threshold.push(spec.goal_threshold);
        objects.arrive_mode.push(spec.arrive_mode);
        objects.renewal.push(spec.renewal);
        objects.vel_min.push(spec.vel_min);
        objects.vel_max.push(spec.vel_max);
        objects.acce.push(spec.acce);
        objects.angle_low.push(spec.angle_low);
        objects.behavior.push(spec.behavior.clone());
        objects.is_static.push(spec.is_static || (passive && spec.mass.is_infinite()));
        objects.unobstructed.push(spec.unobstructed);
        objects.mass.push(spec.mass);
        objects.inertia.push(inertia);
        objects.friction.push(spec.friction);
        objects.restitution.push(spec.restitution);
        objects.tau.push(spec.tau);
        objects.fov.push(spec.fov);
        objects.arrive.push(false);
        objects.collision.push(false);
        objects.stop.push(false);
        objects.collisions.push(Vec::new());
        objects.contact.push(Reading::default());
        objects.sensors.push(spec.sensors.clone());
        objects.scans.push(Vec::new());
        objects.drawing.push(Arc::new(spec.drawing.clone()));
        objects.puppet.push(false);
        objects.start.push(Start { state, velocity: spec.velocity, goals });
        objects.winding.push(Winding::default());
        let row = objects.len() - 1;
        objects.store_velocity(row, spec.velocity);
        objects.place(row);
        self.warnings.said.push(0);
        self.names.insert(name, id);
        self.next_id += 1;
        Ok(id)
    }

    fn push_map(&mut self, grid: &MapGrid, shape: Shape) -> Result<u32, WorldError> {
        let description = grid.source.as_ref().map(|source| source.display().to_string());
        let shape = Arc::new(shape);
        let spec = ObjectSpec {
            friction: self.settings.friction,
            restitution: self.settings.restitution,
            drawing: Drawing { description, ..Drawing::default() },
            ..ObjectSpec::fixed(Arc::clone(&shape), [0.0; 3])
        };
        self.push(&spec, NO_GROUP, Placement { shape, state: [0.0; MAX_STATE], goals: Vec::new() })
    }
}
