//! The objects of a world, one column per property, one row per object in id order.
//!
//! Rows are written by the world's step only; everything else reads.

use std::collections::VecDeque;
use std::sync::Arc;

use crate::Point;
use crate::behavior::Behavior;
use crate::contact::Reading;
use crate::kinematics::{Command, Model, State};
use crate::sensor::{LidarSpec, Scan};
use crate::shape::{Placed, Shape};
use crate::spec::{ArriveMode, Drawing, Goal, Renewal, Role};
use crate::world::Winding;

/// The columns. All have one entry per object.
#[derive(Clone, Debug, Default)]
pub struct Objects {
    /// Stable ids, ascending; equal to the row until something is deleted.
    pub id: Vec<u32>,
    /// Unique names.
    pub name: Vec<Arc<str>>,
    /// Role.
    pub role: Vec<Role>,
    /// Group number.
    pub group: Vec<i64>,
    /// Kinematic model; `None` = passive.
    pub model: Vec<Option<Arc<dyn Model>>>,
    /// Numbers for noise; `None` = none.
    pub noise: Vec<Option<Arc<[f64]>>>,
    /// Shape in the body frame.
    pub shape: Vec<Arc<Shape>>,
    /// Where it is.
    pub state: Vec<State>,
    /// Stored velocity in the model's layout.
    pub velocity: Vec<Command>,
    /// Velocity of the drive (contact mode).
    pub drive: Vec<Command>,
    /// World-frame velocity of `velocity`, m/s.
    pub velocity_xy: Vec<Point>,
    /// Centroid in the world.
    pub centroid: Vec<Point>,
    /// Sine and cosine of the heading, as of the last move.
    pub rotation: Vec<[f64; 2]>,
    /// Bounding box in the world: min x, min y, max x, max y.
    pub bounds: Vec<[f64; 4]>,
    /// Goals still to reach.
    pub goals: Vec<VecDeque<Goal>>,
    /// Metres.
    pub goal_threshold: Vec<f64>,
    /// When a goal counts.
    pub arrive_mode: Vec<ArriveMode>,
    /// Renewal of goals.
    pub renewal: Vec<Renewal>,
    /// Least command.
    pub vel_min: Vec<Command>,
    /// Largest command.
    pub vel_max: Vec<Command>,
    /// Largest change of command per second.
    pub acce: Vec<Command>,
    /// Lower end of the heading's range.
    pub angle_low: Vec<f64>,
    /// Behaviour.
    pub behavior: Vec<Option<Arc<dyn Behavior>>>,
    /// Never moves.
    pub is_static: Vec<bool>,
    /// Nothing meets or sees it.
    pub unobstructed: Vec<bool>,
    /// kg.
    pub mass: Vec<f64>,
    /// kg m^2.
    pub inertia: Vec<f64>,
    /// Coefficient.
    pub friction: Vec<f64>,
    /// 0 to 1.
    pub restitution: Vec<f64>,
    /// Drive lag, seconds.
    pub tau: Vec<f64>,
    /// Full angle and radius of view.
    pub fov: Vec<Option<[f64; 2]>>,
    /// Reached its last goal.
    pub arrive: Vec<bool>,
    /// Overlaps something.
    pub collision: Vec<bool>,
    /// Must not move.
    pub stop: Vec<bool>,
    /// Ids it overlaps, ascending.
    pub collisions: Vec<Vec<u32>>,
    /// What it feels.
    pub contact: Vec<Reading>,
    /// Scanners.
    pub sensors: Vec<Vec<LidarSpec>>,
    /// Their last scans.
    pub scans: Vec<Vec<Scan>>,
    /// Drawing only.
    pub drawing: Vec<Arc<Drawing>>,
    /// Moved by the caller between steps with a pose and a world velocity, as people and doors are: lidar sees it and it pushes others, nothing
    /// pushes or stops it.
    pub puppet: Vec<bool>,
    /// What a reset goes back to.
    pub start: Vec<Start>,
    /// How it went round its present goal.
    pub(crate) winding: Vec<Winding>,
}

/// How an object began.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Start {
    /// Where.
    pub state: State,
    /// Velocity in the model's layout.
    pub velocity: Command,
    /// Configured goals in order.
    pub goals: Vec<Goal>,
}

impl Objects {
    /// Number of objects.
    #[must_use]
    pub fn len(&self) -> usize {
        self.id.len()
    }

    /// The row of an id.
    #[must_use]
    pub fn row(&self, id: u32) -> Option<usize> {
        let guess = id as usize;
        if self.id.get(guess) == Some(&id) { Some(guess) } else { self.id.binary_search(&id).ok() }
    }

    /// Where an object is: its shape in the world.
    #[must_use]
    pub fn placed(&self, row: usize) -> Placed<'_> {
        let [x, y, ..] = self.state[row];
        Placed { shape: &self.shape[row], position: [x, y], rotation: self.rotation[row] }
    }

    /// Whether contacts may move it: neither static, nor a puppet, nor of infinite mass.
    #[must_use]
    pub fn is_movable(&self, row: usize) -> bool {
        !self.is_static[row] && !self.puppet[row] && self.mass[row].is_finite()
    }

    /// Takes a row out of every column.
    pub(crate) fn remove(&mut self, row: usize) {
        macro_rules! remove {
            ($($column:ident)*) => {
                let Self { $($column),* } = self;
                $($column.remove(row);)*
            };
        }
        remove!(id name role group model noise shape state velocity drive velocity_xy centroid rotation bounds goals goal_threshold arrive_mode renewal vel_min vel_max acce angle_low behavior is_static unobstructed mass inertia friction restitution tau fov arrive collision stop collisions contact sensors scans drawing puppet start winding);
    }

    /// Puts the shape where the state says: rotation, centroid and bounding box.
    pub(crate) fn place(&mut self, row: usize) {
        let (sin, cos) = self.state[row][2].sin_cos();
        self.rotation[row] = [sin, cos];
        let placed = self.placed(row);
        (self.centroid[row], self.bounds[row]) = (placed.centroid(), placed.bounds());
    }

    /// Sets the stored velocity and the world-frame velocity that follows from it.
    pub(crate) fn store_velocity(&mut self, row: usize, velocity: Command) {
        self.velocity[row] = velocity;
        self.velocity_xy[row] = match &self.model[row] {
            Some(model) => model.world_velocity(&self.state[row], &velocity),
            None => [velocity[0], velocity[1]],
        };
    }

    /// How many numbers the stored velocity of an object has.
    #[must_use]
    pub fn velocity_len(&self, row: usize) -> usize {
        self.model[row].as_ref().map_or(3, |model| model.layout().command.len())
    }

    /// How many numbers the state of an object has.
    #[must_use]
    pub fn state_len(&self, row: usize) -> usize {
        self.model[row].as_ref().map_or(3, |model| model.layout().state)
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.id.is_empty()
    }
}
