//! What moves the claimed people: way-points or keys.

use std::time::Duration;

use promenade_human::entity::DynamicObstacle;
use promenade_human::message::{Pedestrian, Pedestrians, Pose};
use promenade_human::walker::Walker;
use promenade_kernel::Time;

use super::adoption::{Changes, Sighting};
use super::drive::Drive;

/// See the module. People are driven in the order in which they were adopted.
pub(crate) enum Motion {
    /// Along the way-points of the scenario.
    Waypoints {
        walker: Walker,
        /// By the number under which they are wanted.
        people: Vec<DynamicObstacle>,
        /// Where each begins when claimed the next time.
        begin: Vec<Begin>,
    },
    /// By the keys; one person.
    Keyboard(Drive),
}

/// Where somebody begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Begin {
    /// Where the bus shows them.
    WhereSeen,
    /// Where the episode puts them: it has just begun, and the bus may still show the last one.
    AtTheirStart,
}

impl Motion {
    /// Walks people along their way-points.
    pub(crate) fn along_waypoints(seed: u64, people: Vec<DynamicObstacle>, begin: Begin) -> Self {
        let begin = vec![begin; people.len()];
        Motion::Waypoints { walker: Walker::new(seed), people, begin }
    }

    /// Everybody who is driven, as last streamed.
    pub(crate) fn people(&self) -> &[Pedestrian] {
        &self.batch().pedestrians
    }

    /// Applies what `roster` changed.
    pub(crate) fn apply(&mut self, changes: &Changes, roster: &[Sighting]) {
        for (index, pose) in &changes.placed {
            self.place(*index, pose);
        }
        self.drop_people(&changes.dropped);
        for &(person, sighting) in &changes.adopted {
            let Sighting { name, pose } = &roster[sighting];
            match self {
                Motion::Waypoints { walker, people, begin } => {
                    let of_episode = &people[person];
                    let begin = std::mem::replace(&mut begin[person], Begin::WhereSeen);
                    let pose = if begin == Begin::AtTheirStart { &of_episode.pose } else { pose };
                    walker.add(&DynamicObstacle { name: name.clone(), ..of_episode.clone() }, pose);
                }
                Motion::Keyboard(drive) => drive.add(name, pose),
            }
        }
    }

    pub(crate) fn drop_people(&mut self, gone: &[String]) {
        if gone.is_empty() {
            return;
        }
        match self {
            Motion::Waypoints { walker, .. } => walker.retain(|ped| !gone.contains(&ped.name)),
            Motion::Keyboard(drive) => drive.release(),
        }
    }

    fn place(&mut self, index: usize, pose: &Pose) {
        match self {
            Motion::Waypoints { walker, .. } => walker.place(index, pose),
            Motion::Keyboard(drive) => drive.place(pose),
        }
    }

    /// Moves everybody by `dt`.
    pub(crate) fn step(&mut self, dt: Duration, stamp: Time) {
        match self {
            Motion::Waypoints { walker, .. } => {
                walker.step(dt, stamp);
            }
            Motion::Keyboard(drive) => drive.step(dt, stamp),
        }
    }

    /// The batch to stream.
    pub(crate) fn batch(&self) -> &Pedestrians {
        match self {
            Motion::Waypoints { walker, .. } => walker.batch(),
            Motion::Keyboard(drive) => drive.batch(),
        }
    }
}
