//! What drives objects that nobody commands: behaviours of one object and of a group (robot-world specification, sections 9 and 10).
//!
//! A behaviour reads the scene and answers a command; the world clips it. It must not remember anything: what lasts belongs to a
//! [`GroupBehavior`], which a reset makes anew.

mod dash;
mod half_planes;
mod orca;
mod rvo;
mod sfm;
mod social_groups;
mod surroundings;
mod to_diff;
mod walls;

use std::fmt::Debug;

pub use self::to_diff::ToDiff;
pub use self::walls::Walls;
use crate::kinematics::Command;
use crate::objects::Objects;
use crate::registry::{
    Argument, ArgumentError, Arguments, Entry, Kind, MakeBehavior, MakeGroupBehavior, Parameter,
};
use crate::world::Scene;

/// Buffers of the behaviours, kept between calls so that a step allocates nothing.
#[derive(Debug, Default)]
pub struct Scratch {
    /// Rows of neighbours.
    pub neighbors: Vec<u32>,
    surroundings: surroundings::Surroundings,
    rvo: rvo::Buffers,
    orca: orca::Buffers,
}

/// The behaviours that come with the crate.
#[must_use]
pub fn entries() -> Vec<Entry<MakeBehavior>> {
    vec![dash::entry(), rvo::entry(), sfm::entry()]
}

/// The group behaviours that come with the crate.
#[must_use]
pub fn group_entries() -> Vec<Entry<MakeGroupBehavior>> {
    vec![orca::entry(), social_groups::entry()]
}

/// A number of a schema from `min` to `max`.
fn number(name: &'static str, default: f64, min: f64, max: f64) -> Parameter {
    Parameter {
        name,
        kind: Kind::Number { min, max, above: false },
        default: Some(Argument::Number(default)),
    }
}

/// A number of a schema above zero.
fn positive(name: &'static str, default: f64) -> Parameter {
    Parameter {
        kind: Kind::Number { min: 0.0, max: f64::MAX, above: true },
        ..number(name, default, 0.0, 0.0)
    }
}

/// A number that has a default, and is missing only when the schema was not applied.
fn required(arguments: &Arguments, name: &str) -> Result<f64, ArgumentError> {
    arguments
        .number(name)
        .ok_or_else(|| ArgumentError { key: name.to_owned(), message: "a number is required".to_owned() })
}

/// The behaviour of one object.
pub trait Behavior: Debug + Send + Sync {
    /// Name in files, as in `dash`.
    fn name(&self) -> &str;
    /// The command of the object `ego`, in its model's layout, before limits.
    fn command(&self, scene: &Scene<'_>, ego: usize, scratch: &mut Scratch) -> Command;
    /// Whether it has nothing to do without a goal; the object then stands still, with one warning.
    fn needs_goal(&self) -> bool {
        true
    }
    /// Metres within which the behaviour looks at other objects; the scene's index is made for the largest.
    fn reach(&self) -> f64 {
        0.0
    }
}

/// Makes the planner of a group: once per world and per reset.
pub trait GroupBehaviorFactory: Debug + Send + Sync {
    /// Name in files, as in `orca`.
    fn name(&self) -> &str;
    /// Metres within which the planner looks at other objects; the scene's index is made for the largest.
    fn reach(&self) -> f64 {
        0.0
    }
    /// A planner for `members`, ids in ascending order.
    fn make(&self, objects: &Objects, members: &[u32]) -> Box<dyn GroupBehavior>;
}

/// The planner of a group with what it remembers.
pub trait GroupBehavior: Debug + Send + Sync {
    /// Commands of all members, in their order, before anything moves. `members` are ids in ascending order; they need not be those of the
    /// beginning, since objects come and go. `commands` is emptied first.
    fn plan(
        &mut self,
        scene: &Scene<'_>,
        members: &[u32],
        scratch: &mut Scratch,
        commands: &mut Vec<Command>,
    );
}
