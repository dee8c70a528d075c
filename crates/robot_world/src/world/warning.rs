//! What a person should know about a running world, each thing once per object (robot-world specification, section 17).

use std::fmt;
use std::sync::Arc;
use std::vec::Drain;

use super::World;

/// At most this many wait to be taken; later ones are dropped.
const WAITING: usize = 10_000;

/// One thing about one object.
#[derive(Clone, Debug, PartialEq)]
pub struct Warning {
    /// Id.
    pub id: u32,
    /// Name.
    pub name: Arc<str>,
    /// What.
    pub kind: WarningKind,
}

/// What there is to know.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum WarningKind {
    /// A command was more than 0.01 outside the limits.
    Clipped {
        /// Which number of the command.
        number: usize,
        /// The command.
        command: f64,
        /// What was made of it.
        taken: f64,
    },
    /// A robot that nobody and nothing drives.
    Idle,
    /// A behaviour without a goal.
    NoGoal,
    /// A robot began to overlap something.
    Collision,
    /// It moves further in a step than it is wide, and may pass through thin things.
    Fast {
        /// Metres in one step.
        step: f64,
        /// Metres.
        radius: f64,
    },
    /// It went round its goal and cannot reach it on this way.
    Circling {
        /// Metres.
        threshold: f64,
    },
    /// Its kinematic model or behaviour answered a number that is not finite; it stands still instead.
    NotFinite,
}

impl WarningKind {
    fn bit(&self) -> u16 {
        1 << match self {
            Self::Clipped { .. } => 0,
            Self::Idle => 1,
            Self::NoGoal => 2,
            Self::Collision => 3,
            Self::Fast { .. } => 4,
            Self::Circling { .. } => 5,
            Self::NotFinite => 6,
        }
    }
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.name)?;
        match self.kind {
            WarningKind::Clipped { number, command, taken } => {
                write!(
                    f,
                    "number {} of its command, {command}, is outside its limits; {taken} is taken",
                    number + 1
                )
            }
            WarningKind::Idle => f.write_str("has neither a behavior nor a command and stands still"),
            WarningKind::NoGoal => f.write_str("has a behavior but no goal and stands still"),
            WarningKind::Collision => f.write_str("collides"),
            WarningKind::Fast { step, radius } => write!(
                f,
                "moves {step:.3} m in one step and has a radius of {radius:.3} m, so it may pass through thin things; \
                 a smaller step_time helps"
            ),
            WarningKind::Circling { threshold } => write!(
                f,
                "went round its goal without reaching it, which it may do for ever: the goal lies inside its turning circle; \
                 a goal_threshold above {threshold}, more vel_max for turning or less for driving helps"
            ),
            WarningKind::NotFinite => f.write_str(
                "its behavior or its kinematics gave a number that is not finite; it stands still instead",
            ),
        }
    }
}

/// What waits, and what was said.
#[derive(Clone, Debug, Default)]
pub(super) struct Warnings {
    waiting: Vec<Warning>,
    /// Bits per row.
    pub(super) said: Vec<u16>,
}

impl World {
    /// Takes what has gathered since the last call, in the order it happened.
    pub fn warnings(&mut self) -> Drain<'_, Warning> {
        self.warnings.waiting.drain(..)
    }

    /// Says `kind` of the object in `row`, unless it was said before.
    pub(super) fn warn(&mut self, row: usize, kind: WarningKind) {
        let (said, bit) = (&mut self.warnings.said[row], kind.bit());
        if *said & bit == 0 && self.warnings.waiting.len() < WAITING {
            *said |= bit;
            let (id, name) = (self.objects.id[row], Arc::clone(&self.objects.name[row]));
            self.warnings.waiting.push(Warning { id, name, kind });
        }
    }
}
