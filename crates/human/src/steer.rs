//! A body with a heading in the plane: it turns, speeds up and goes where it looks.
//!
//! What people who walk straight lines and robots that drive them share. Where to and how fast is their affair.

use std::f64::consts::{FRAC_PI_2, PI, TAU};

/// What a body can do.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Agility {
    /// Speeding up and slowing down, m/s2.
    pub(crate) acceleration: f64,
    /// Turning, rad/s.
    pub(crate) turn_rate: f64,
}

/// Where it is, where it looks and how fast it goes that way: metres, radians, m/s.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Body {
    pub(crate) position: [f64; 2],
    pub(crate) yaw: f64,
    pub(crate) speed: f64,
}

impl Body {
    /// Goes towards `goal` for `dt` seconds, at `speed` at most.
    pub(crate) fn go_towards(&mut self, goal: [f64; 2], speed: f64, dt: f64, agility: Agility) {
        let (turn, wanted) = self.towards(goal, speed, dt, agility);
        if let Some(turn) = turn {
            self.yaw = wrap(self.yaw + turn);
        }
        self.go_on(wanted, dt, agility);
    }

    /// Slows down to a halt.
    pub(crate) fn halt(&mut self, dt: f64, agility: Agility) {
        self.go_on(0.0, dt, agility);
    }

    /// How far to turn within `dt` seconds to get to `goal`, `None` when it is there, and how fast to go, at `speed` at most.
    pub(crate) fn towards(
        &self,
        goal: [f64; 2],
        speed: f64,
        dt: f64,
        agility: Agility,
    ) -> (Option<f64>, f64) {
        let to_goal = [goal[0] - self.position[0], goal[1] - self.position[1]];
        let error = wrap(f64::atan2(to_goal[1], to_goal[0]) - self.yaw);
        let most = agility.turn_rate * dt;
        let turn = (to_goal[0].hypot(to_goal[1]) > 1e-6).then(|| error.clamp(-most, most));
        // Nobody goes sideways into a turn: more than a quarter turn away they stop and turn on the spot.
        (turn, if error.abs() > FRAC_PI_2 { 0.0 } else { speed * error.cos() })
    }

    /// The speed after `dt` seconds of getting to the one that is wanted.
    pub(crate) fn speed_after(&self, wanted: f64, dt: f64, agility: Agility) -> f64 {
        let most = agility.acceleration * dt;
        self.speed + (wanted - self.speed).clamp(-most, most)
    }

    fn go_on(&mut self, wanted: f64, dt: f64, agility: Agility) {
        self.speed = self.speed_after(wanted, dt, agility);
        let (sin, cos) = self.yaw.sin_cos();
        self.position[0] += self.speed * cos * dt;
        self.position[1] += self.speed * sin * dt;
    }

    /// Velocity x, y.
    pub(crate) fn velocity(&self) -> [f64; 2] {
        let (sin, cos) = self.yaw.sin_cos();
        [self.speed * cos, self.speed * sin]
    }
}

/// An angle in (-pi, pi].
#[must_use]
pub fn wrap(angle: f64) -> f64 {
    PI - (PI - angle).rem_euclid(TAU)
}
