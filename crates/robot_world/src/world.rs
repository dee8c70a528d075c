//! The world and its step (robot-world specification, section 7).
//!
//! [`World::step`] is the only place where time passes. What it asks of the machine is memory; every random number is drawn from the
//! world's own generator, in the order of objects.

/// The scene of a world, while other parts of it are borrowed.
macro_rules! scene {
    ($world:expr) => {
        $crate::world::Scene {
            objects: &$world.objects,
            settings: &$world.settings,
            walls: &$world.walls,
            centers: &$world.centers,
        }
    };
}

mod build;
mod change;
mod error;
mod goals;
mod motion;
mod odometry;
mod status;
mod touching;
mod warning;

use std::collections::HashMap;
use std::sync::Arc;

use promenade_kernel::generator::Generator;

use crate::Point;
use crate::behavior::{GroupBehavior, GroupBehaviorFactory, Scratch, Walls};
use crate::contact::{Contact, Report, Solver};
use crate::index::Centers;
use crate::kinematics::Command;
use crate::map::Fog;
use crate::objects::Objects;
use crate::sensor::Sensing;
use crate::spec::{CollisionMode, Role, Settings, StepMode, WorldSpec};

pub use error::{CommandError, WorldError};
pub(crate) use goals::Winding;
pub use odometry::{Odometry, OdometryError};
pub use status::Done;
pub use warning::{Warning, WarningKind};

pub(crate) use motion::into_range;
use status::Label;
use touching::Touching;

/// An object, by its id or its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ObjectRef<'a> {
    /// By id.
    Id(u32),
    /// By name.
    Name(&'a str),
}

/// What behaviours, sensors and tests may look at.
#[derive(Clone, Copy, Debug)]
pub struct Scene<'a> {
    /// Every object; those earlier in the order have already moved in this step.
    pub objects: &'a Objects,
    /// The world block.
    pub settings: &'a Settings,
    /// Which objects are walls to behaviours.
    pub walls: &'a Walls,
    /// Where centroids are.
    pub centers: &'a Centers,
}

impl Scene<'_> {
    /// Rows whose centroid is at most `radius` away from `point`, in ascending order, into `out`.
    pub fn neighbors_within(&self, point: Point, radius: f64, out: &mut Vec<u32>) {
        self.centers.within(&self.objects.centroid, point, radius, out);
    }
}

/// A world that can be stepped.
#[derive(Debug)]
pub struct World {
    spec: Arc<WorldSpec>,
    settings: Settings,
    objects: Objects,
    names: HashMap<Arc<str>, u32>,
    next_id: u32,
    generator: Generator,
    groups: Vec<Group>,
    count: u64,
    label: Label,
    paused: bool,
    /// What was chosen for each row in the present step, not yet clipped.
    commands: Vec<Option<Command>>,
    walls: Walls,
    centers: Centers,
    touching: Touching,
    scratch: Scratch,
    solver: Solver,
    sensing: Sensing,
    fog: Option<Fog>,
    warnings: warning::Warnings,
}

/// Objects that plan together.
#[derive(Debug)]
struct Group {
    number: i64,
    factory: Arc<dyn GroupBehaviorFactory>,
    planner: Box<dyn GroupBehavior>,
    members: Vec<u32>,
    commands: Vec<Command>,
}

impl World {
    /// Lets `step_time` seconds pass. `commands` are in the layouts of their objects' models and count for this step only.
    ///
    /// # Errors
    /// When a command is for nobody, of the wrong length, not finite, given twice, or given although the caller moves the objects itself; then
    /// nothing has happened.
    pub fn step(&mut self, commands: &[(ObjectRef<'_>, &[f64])]) -> Result<(), CommandError> {
        self.take_commands(commands)?;
        if self.paused {
            return Ok(());
        }
        if self.settings.step_mode == StepMode::Internal {
            self.plan_groups();
            for row in 0..self.objects.len() {
                self.advance(row);
            }
            if self.settings.collision_mode == CollisionMode::Contact {
                self.solve_contacts();
            }
        }
        self.sense();
        self.count += 1;
        self.lift_fog();
        self.judge();
        Ok(())
    }

    /// Checks all commands before it keeps any.
    fn take_commands(&mut self, commands: &[(ObjectRef<'_>, &[f64])]) -> Result<(), CommandError> {
        self.commands.clear();
        self.commands.resize(self.objects.len(), None);
        if self.settings.step_mode == StepMode::External && !commands.is_empty() {
            return Err(CommandError::External);
        }
        for (object, numbers) in commands {
            let row = self.resolve(*object).ok_or_else(|| CommandError::unknown(*object))?;
            let name = || self.objects.name[row].to_string();
            let model = self.objects.model[row].as_ref().ok_or_else(|| CommandError::Passive(name()))?;
            let layout = model.layout();
            if numbers.len() != layout.command.len() {
                let expected = layout.command.join(", ");
                return Err(CommandError::Length { name: name(), found: numbers.len(), expected });
            }
            if !numbers.iter().all(|number| number.is_finite()) {
                return Err(CommandError::NotFinite(name()));
            }
            if self.commands[row].is_some() {
                return Err(CommandError::Twice(name()));
            }
            let mut command = Command::default();
            command[..numbers.len()].copy_from_slice(numbers);
            self.commands[row] = Some(command);
        }
        Ok(())
    }

    /// Group behaviours, all from the same scene; a command from outside comes before theirs.
    fn plan_groups(&mut self) {
        let scene = scene!(self);
        for group in &mut self.groups {
            group.commands.clear();
            group.planner.plan(&scene, &group.members, &mut self.scratch, &mut group.commands);
            for (id, command) in group.members.iter().zip(&group.commands) {
                if let Some(row) = self.objects.row(*id) {
                    self.commands[row].get_or_insert(*command);
                }
            }
        }
    }

    fn solve_contacts(&mut self) {
        self.solver.solve(&mut self.objects, self.settings.gravity, self.settings.step_time);
        for (row, centroid) in self.objects.centroid.iter().enumerate() {
            self.centers.moved(row, *centroid);
        }
    }

    fn sense(&mut self) {
        self.sensing.sense(&mut self.objects, self.settings.exact_circles, &mut self.generator);
    }

    fn lift_fog(&mut self) {
        if let Some(fog) = &mut self.fog {
            fog.reveal(&self.objects);
        }
    }

    /// What robots have seen so far, when the file asked for fog.
    #[must_use]
    pub fn fog(&self) -> Option<&Fog> {
        self.fog.as_ref()
    }

    fn resolve(&self, object: ObjectRef<'_>) -> Option<usize> {
        match object {
            ObjectRef::Id(id) => self.objects.row(id),
            ObjectRef::Name(name) => self.objects.row(*self.names.get(name)?),
        }
    }

    /// The objects.
    #[must_use]
    pub fn objects(&self) -> &Objects {
        &self.objects
    }

    /// The world block.
    #[must_use]
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// The file the world was made of.
    #[must_use]
    pub fn spec(&self) -> &WorldSpec {
        &self.spec
    }

    /// The scene as behaviours and sensors see it.
    #[must_use]
    pub fn scene(&self) -> Scene<'_> {
        scene!(self)
    }

    /// Steps since the start or the last reset.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Seconds since the start or the last reset: exactly [`World::count`] times the step time.
    #[must_use]
    pub fn time(&self) -> f64 {
        self.count as f64 * self.settings.step_time
    }

    /// Id of the object called `name`.
    #[must_use]
    pub fn find(&self, name: &str) -> Option<u32> {
        self.names.get(name).copied()
    }

    /// Row of an object in [`World::objects`].
    #[must_use]
    pub fn row(&self, object: ObjectRef<'_>) -> Option<usize> {
        self.resolve(object)
    }

    /// A paused world ignores steps.
    pub fn set_paused(&mut self, paused: bool) {
        self.paused = paused;
    }

    /// Whether steps are ignored.
    #[must_use]
    pub fn is_paused(&self) -> bool {
        self.paused
    }

    /// Contacts of the last step, in the order the solver found them.
    #[must_use]
    pub fn contacts(&self) -> &[Contact] {
        self.solver.contacts()
    }

    /// What `id` felt in the last step, contact by contact.
    pub fn reports(&self, id: u32) -> impl Iterator<Item = Report> + '_ {
        self.contacts().iter().filter_map(move |contact| contact.seen_by(id))
    }

    fn is_robot(&self, row: usize) -> bool {
        self.objects.role[row] == Role::Robot
    }
}
