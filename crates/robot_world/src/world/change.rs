//! What a caller may change between steps: states, velocities, goals and puppets. Geometry follows at once.

use super::motion::into_range;
use super::{Winding, World, WorldError};
use crate::kinematics::{Command, State};
use crate::spec::{ControlMode, Goal};

impl World {
    /// Puts an object at a state in its model's layout, or at a pose of three numbers, and then keeps the rest of its state.
    ///
    /// # Errors
    /// When nobody has this id, or the numbers are too few, too many or not finite.
    pub fn set_state(&mut self, id: u32, numbers: &[f64]) -> Result<(), WorldError> {
        let row = self.known(id)?;
        let expected = self.objects.state_len(row);
        if numbers.len() != 3 {
            self.check(row, "state", numbers, expected)?;
        }
        self.check(row, "state", numbers, numbers.len())?;
        let mut state = self.objects.state[row];
        state[..numbers.len()].copy_from_slice(numbers);
        self.put(row, state);
        Ok(())
    }

    /// Gives an object a velocity in its model's layout; of a passive one: world-frame x and y, and a yaw rate. Its drive has it too.
    ///
    /// # Errors
    /// As [`World::set_state`].
    pub fn set_velocity(&mut self, id: u32, numbers: &[f64]) -> Result<(), WorldError> {
        let row = self.known(id)?;
        let expected = self.objects.velocity_len(row);
        self.check(row, "velocity", numbers, expected)?;
        let mut velocity = Command::default();
        velocity[..numbers.len()].copy_from_slice(numbers);
        self.objects.drive[row] = velocity;
        self.objects.store_velocity(row, velocity);
        Ok(())
    }

    /// Gives an object other goals, until they are reached or the world is reset; a looping object then goes on with its configured ones.
    ///
    /// # Errors
    /// When nobody has this id, or a goal is not finite.
    pub fn set_goals(&mut self, id: u32, goals: &[Goal]) -> Result<(), WorldError> {
        let row = self.known(id)?;
        for goal in goals {
            self.check(row, "goal", &[goal.position[0], goal.position[1], goal.heading.unwrap_or(0.0)], 3)?;
        }
        self.objects.goals[row].clear();
        self.objects.goals[row].extend(goals);
        self.objects.arrive[row] = false;
        self.objects.winding[row] = Winding::default();
        Ok(())
    }

    /// Moves a puppet to a pose with a velocity of the world frame and a yaw rate; an object becomes a puppet with the first call.
    ///
    /// # Errors
    /// When nobody has this id, or a number is not finite.
    pub fn set_puppet(&mut self, id: u32, pose: [f64; 3], velocity: [f64; 3]) -> Result<(), WorldError> {
        let row = self.known(id)?;
        self.check(row, "pose", &pose, 3)?;
        self.check(row, "velocity", &velocity, 3)?;
        let objects = &mut self.objects;
        if !objects.puppet[row] || objects.is_static[row] {
            objects.puppet[row] = true;
            objects.is_static[row] = false;
            objects.stop[row] = false;
            self.touching.forget();
        }
        let mut state = objects.state[row];
        state[..3].copy_from_slice(&pose);
        let [vx, vy, turn] = velocity;
        objects.velocity[row] = [vx, vy, turn, 0.0];
        objects.velocity_xy[row] = [vx, vy];
        self.put(row, state);
        Ok(())
    }

    /// Sets who drives; a front end without a keyboard makes a world of keyboard mode automatic with this.
    pub fn set_control_mode(&mut self, mode: ControlMode) {
        self.settings.control_mode = mode;
    }

    fn known(&self, id: u32) -> Result<usize, WorldError> {
        self.objects.row(id).ok_or(WorldError::UnknownId(id))
    }

    fn check(
        &self,
        row: usize,
        what: &'static str,
        numbers: &[f64],
        expected: usize,
    ) -> Result<(), WorldError> {
        let name = || self.objects.name[row].to_string();
        if numbers.len() != expected {
            return Err(WorldError::Length { name: name(), what, found: numbers.len(), expected });
        }
        if !numbers.iter().all(|number| number.is_finite()) {
            return Err(WorldError::NotFinite { name: name(), what });
        }
        Ok(())
    }

    pub(super) fn put(&mut self, row: usize, mut state: State) {
        state[2] = into_range(state[2], self.objects.angle_low[row]);
        self.objects.state[row] = state;
        // A velocity of a driven body turns with it.
        if !self.objects.puppet[row] {
            let velocity = self.objects.velocity[row];
            self.objects.store_velocity(row, velocity);
        }
        self.objects.place(row);
        self.centers.moved(row, self.objects.centroid[row]);
        if self.objects.is_static[row] {
            self.touching.forget();
        }
    }
}
