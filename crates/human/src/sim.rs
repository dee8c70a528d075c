//! The physics side as the layer sees it.
//!
//! Every verb reports one success per input, in order. Lifecycle verbs (spawn, move, delete, world) are complete when
//! they return; the simulator is paused while an episode is reset, so they must not wait for simulated time.
//! [`Sim::pedestrian_update`] is called every tick and must never block.

use std::cell::RefCell;
use std::rc::Rc;

use promenade_kernel::Time;

use crate::entity::{Door, DynamicObstacle, StaticObstacle, Wall};
use crate::message::Pedestrian;
use crate::robot::Robot;

/// A physics or rendering simulator. Every verb succeeds without effect unless an implementation overrides it.
#[allow(unused_variables)]
pub trait Sim {
    /// Creates static objects.
    fn obstacle_spawn(&mut self, obstacles: &[StaticObstacle]) -> Vec<bool> {
        vec![true; obstacles.len()]
    }
    /// Moves existing static objects.
    fn obstacle_move(&mut self, obstacles: &[StaticObstacle]) -> Vec<bool> {
        vec![true; obstacles.len()]
    }
    /// Deletes static objects.
    fn obstacle_delete(&mut self, obstacles: &[StaticObstacle]) -> Vec<bool> {
        vec![true; obstacles.len()]
    }
    /// Creates people.
    fn pedestrian_spawn(&mut self, pedestrians: &[DynamicObstacle]) -> Vec<bool> {
        vec![true; pedestrians.len()]
    }
    /// Teleports people: receivers reset animation phase and trajectory.
    fn pedestrian_move(&mut self, pedestrians: &[DynamicObstacle]) -> Vec<bool> {
        vec![true; pedestrians.len()]
    }
    /// Deletes people.
    fn pedestrian_delete(&mut self, pedestrians: &[DynamicObstacle]) -> Vec<bool> {
        vec![true; pedestrians.len()]
    }
    /// Smooth motion of people, in frame `map`, for the time `stamp`. Adds one success per person to `results`.
    fn pedestrian_update(&mut self, stamp: Time, pedestrians: &[Pedestrian], results: &mut Vec<bool>) {
        results.resize(results.len() + pedestrians.len(), true);
    }
    /// Creates robots.
    fn robot_spawn(&mut self, robots: &[Robot]) -> Vec<bool> {
        vec![true; robots.len()]
    }
    /// Teleports robots.
    fn robot_move(&mut self, robots: &[Robot]) -> Vec<bool> {
        vec![true; robots.len()]
    }
    /// Deletes robots.
    fn robot_delete(&mut self, robots: &[Robot]) -> Vec<bool> {
        vec![true; robots.len()]
    }
    /// Creates visual walls.
    fn spawn_walls(&mut self, walls: &[Wall], clear_existing: bool) -> bool {
        true
    }
    /// Creates doors.
    fn spawn_doors(&mut self, doors: &[Door]) -> Vec<bool> {
        vec![true; doors.len()]
    }
    /// A door became passable (true) or a wall (false). A simulator that runs its doors itself ignores it.
    fn update_doors(&mut self, doors: &[(Door, bool)]) {}
    /// Removes the world geometry.
    fn remove_world(&mut self) -> bool {
        true
    }
    /// Removes doors, lifts and what else moves.
    fn remove_mechanisms(&mut self) -> bool {
        true
    }
    /// The episode is about to be reset; the simulator stands still until [`Sim::after_reset_episode`].
    fn before_reset_episode(&mut self) {}
    /// The episode was reset.
    fn after_reset_episode(&mut self) {}
    /// Whether the simulator lost everything it held since the last call, as after a restart of its process. The layer then
    /// creates everything again.
    fn take_restarted(&mut self) -> bool {
        false
    }
}

/// The simulator that has no physics: everything succeeds, nothing happens.
#[derive(Clone, Copy, Debug, Default)]
pub struct DummySim;

impl Sim for DummySim {}

/// A simulator that somebody else holds too, such as who drives its robots.
impl<S: Sim> Sim for Rc<RefCell<S>> {
    fn obstacle_spawn(&mut self, obstacles: &[StaticObstacle]) -> Vec<bool> {
        self.borrow_mut().obstacle_spawn(obstacles)
    }
    fn obstacle_move(&mut self, obstacles: &[StaticObstacle]) -> Vec<bool> {
        self.borrow_mut().obstacle_move(obstacles)
    }
    fn obstacle_delete(&mut self, obstacles: &[StaticObstacle]) -> Vec<bool> {
        self.borrow_mut().obstacle_delete(obstacles)
    }
    fn pedestrian_spawn(&mut self, pedestrians: &[DynamicObstacle]) -> Vec<bool> {
        self.borrow_mut().pedestrian_spawn(pedestrians)
    }
    fn pedestrian_move(&mut self, pedestrians: &[DynamicObstacle]) -> Vec<bool> {
        self.borrow_mut().pedestrian_move(pedestrians)
    }
    fn pedestrian_delete(&mut self, pedestrians: &[DynamicObstacle]) -> Vec<bool> {
        self.borrow_mut().pedestrian_delete(pedestrians)
    }
    fn pedestrian_update(&mut self, stamp: Time, pedestrians: &[Pedestrian], results: &mut Vec<bool>) {
        self.borrow_mut().pedestrian_update(stamp, pedestrians, results);
    }
    fn robot_spawn(&mut self, robots: &[Robot]) -> Vec<bool> {
        self.borrow_mut().robot_spawn(robots)
    }
    fn robot_move(&mut self, robots: &[Robot]) -> Vec<bool> {
        self.borrow_mut().robot_move(robots)
    }
    fn robot_delete(&mut self, robots: &[Robot]) -> Vec<bool> {
        self.borrow_mut().robot_delete(robots)
    }
    fn spawn_walls(&mut self, walls: &[Wall], clear_existing: bool) -> bool {
        self.borrow_mut().spawn_walls(walls, clear_existing)
    }
    fn spawn_doors(&mut self, doors: &[Door]) -> Vec<bool> {
        self.borrow_mut().spawn_doors(doors)
    }
    fn update_doors(&mut self, doors: &[(Door, bool)]) {
        self.borrow_mut().update_doors(doors);
    }
    fn remove_world(&mut self) -> bool {
        self.borrow_mut().remove_world()
    }
    fn remove_mechanisms(&mut self) -> bool {
        self.borrow_mut().remove_mechanisms()
    }
    fn before_reset_episode(&mut self) {
        self.borrow_mut().before_reset_episode();
    }
    fn after_reset_episode(&mut self) {
        self.borrow_mut().after_reset_episode();
    }
    fn take_restarted(&mut self) -> bool {
        self.borrow_mut().take_restarted()
    }
}
