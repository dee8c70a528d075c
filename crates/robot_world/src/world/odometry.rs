//! Poses and velocities from outside, as odometry messages bring them (robot-world specification, section 16).

use super::{CommandError, ObjectRef, World};
use crate::spec::Role;

/// What an odometry message says.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Odometry<'a> {
    /// Whose it is; `None` = the first robot's.
    pub object: Option<ObjectRef<'a>>,
    /// Metres.
    pub position: [f64; 2],
    /// x, y, z, w; of any length but zero.
    pub orientation: [f64; 4],
    /// Body-frame twist: forward and left in m/s, yaw rate in rad/s.
    pub twist: [f64; 3],
}

/// Why a batch of odometry is refused; nothing has changed then.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("odometry message {message}: {problem}")]
pub struct OdometryError {
    /// Counted from 0.
    pub message: usize,
    /// What is wrong with it.
    pub problem: OdometryProblem,
}

/// What is wrong with a message.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OdometryProblem {
    /// Nobody has this name or id.
    #[error(transparent)]
    Unknown(#[from] CommandError),
    /// There is no robot.
    #[error("it names no object and there is no robot")]
    NoRobot,
    /// A number that is not finite.
    #[error("a number is not finite")]
    NotFinite,
    /// A quaternion without direction.
    #[error("the orientation is a quaternion of length 0")]
    NoDirection,
    /// A second message for one object.
    #[error("\"{0}\" has a message in this batch already")]
    Twice(String),
}

impl World {
    /// Takes a batch of odometry: all messages are checked before any is applied.
    ///
    /// # Errors
    /// When one names nobody, has a number that is not finite or no orientation, or is the second one for its object.
    pub fn take_odometry(&mut self, batch: &[Odometry<'_>]) -> Result<(), OdometryError> {
        let mut rows = Vec::with_capacity(batch.len());
        let mut taken = vec![false; self.objects.len()];
        for (message, odometry) in batch.iter().enumerate() {
            let row = self.target(odometry).and_then(|row| {
                if std::mem::replace(&mut taken[row], true) {
                    return Err(OdometryProblem::Twice(self.objects.name[row].to_string()));
                }
                Ok(row)
            });
            rows.push(row.map_err(|problem| OdometryError { message, problem })?);
        }
        for (row, odometry) in rows.into_iter().zip(batch) {
            self.take(row, odometry);
        }
        Ok(())
    }

    fn target(&self, odometry: &Odometry<'_>) -> Result<usize, OdometryProblem> {
        let row = match odometry.object {
            Some(object) => self.resolve(object).ok_or_else(|| CommandError::unknown(object))?,
            None => {
                let roles = &self.objects.role;
                roles.iter().position(|role| *role == Role::Robot).ok_or(OdometryProblem::NoRobot)?
            }
        };
        let numbers = odometry.position.iter().chain(&odometry.orientation).chain(&odometry.twist);
        if !numbers.copied().all(f64::is_finite) {
            return Err(OdometryProblem::NotFinite);
        }
        if odometry.orientation.iter().all(|number| *number == 0.0) {
            return Err(OdometryProblem::NoDirection);
        }
        Ok(row)
    }

    fn take(&mut self, row: usize, odometry: &Odometry<'_>) {
        let mut state = self.objects.state[row];
        state[..2].copy_from_slice(&odometry.position);
        state[2] = yaw(odometry.orientation);
        let [forward, left, turn] = odometry.twist;
        let velocity = match &self.objects.model[row] {
            Some(model) => model.take_twist(&mut state, odometry.twist),
            None => {
                let (sin, cos) = state[2].sin_cos();
                [forward * cos - left * sin, forward * sin + left * cos, turn, 0.0]
            }
        };
        self.objects.velocity[row] = velocity;
        self.objects.drive[row] = velocity;
        self.put(row, state);
    }
}

/// Heading of a quaternion of any length.
fn yaw(orientation: [f64; 4]) -> f64 {
    // A largest part of 1, so that no product overflows or vanishes.
    let scale = orientation.iter().fold(0.0_f64, |scale, number| scale.max(number.abs()));
    let [x, y, z, w] = orientation.map(|number| number / scale);
    (2.0 * (w * z + x * y)).atan2(w * w + x * x - y * y - z * z)
}
