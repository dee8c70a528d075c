//! Kinematic models: how a command moves a body (robot-world specification, section 5).
//!
//! Every model, built in or registered by a user, is one [`Model`]. A model knows nothing of limits, goals, contacts or other objects.

mod acker;
mod diff;
mod omni;
#[cfg(test)]
mod tests;

use std::fmt::Debug;

use crate::registry::{Entry, MakeModel};

/// Numbers of a state at most.
pub const MAX_STATE: usize = 6;
/// Numbers of a command at most.
pub const MAX_COMMAND: usize = 4;

/// A state in the model's layout, beginning x, y, heading; unused places are zero.
pub type State = [f64; MAX_STATE];
/// A velocity or command in the model's layout; unused places are zero. Of a passive body: world-frame x, y and yaw rate.
pub type Command = [f64; MAX_COMMAND];

/// How long a model's numbers are and what they mean.
#[derive(Clone, Debug, PartialEq)]
pub struct Layout {
    /// Numbers of a state.
    pub state: usize,
    /// Names of the numbers of a command, in order, as in `linear`, `angular`.
    pub command: Vec<&'static str>,
    /// How many leading numbers of a command translate the body: those grip limits.
    pub translating: usize,
    /// Which number of a command is a yaw rate.
    pub yaw_rate: Option<usize>,
    /// Default limits of a command and of its change per second.
    pub vel_min: Command,
    /// See [`Layout::vel_min`].
    pub vel_max: Command,
    /// See [`Layout::vel_min`].
    pub acce: Command,
}

impl Layout {
    /// `state` numbers, the names of a command's numbers, how many of them translate, which one is a yaw rate. Limits are 1 either way, without
    /// a limit on their change.
    ///
    /// # Panics
    /// When there are more numbers than [`MAX_STATE`] or [`MAX_COMMAND`], fewer than three of a state, or none of a command.
    #[must_use]
    pub fn of(state: usize, command: &[&'static str], translating: usize, yaw_rate: Option<usize>) -> Self {
        let count = command.len();
        assert!((3..=MAX_STATE).contains(&state) && (1..=MAX_COMMAND).contains(&count));
        assert!(translating <= count && yaw_rate.is_none_or(|number| number < count));
        Self {
            state,
            command: command.to_vec(),
            translating,
            yaw_rate,
            vel_min: [-1.0; MAX_COMMAND],
            vel_max: [1.0; MAX_COMMAND],
            acce: [f64::INFINITY; MAX_COMMAND],
        }
    }
}

/// The built-in models, as a file may name them.
#[must_use]
pub fn entries() -> Vec<Entry<MakeModel>> {
    let [omni, omni_angular] = omni::entries();
    vec![acker::entry(), diff::entry(), omni, omni_angular]
}

/// A kinematic model.
pub trait Model: Debug + Send + Sync {
    /// Name in files, as in `diff`.
    fn name(&self) -> &str;
    /// The model's numbers.
    fn layout(&self) -> &Layout;
    /// Integrates `command` for `dt` seconds. The heading need not be wrapped into the object's range.
    fn step(&self, state: &State, command: &Command, dt: f64) -> State;
    /// World-frame velocity of a stored velocity, m/s.
    fn world_velocity(&self, state: &State, velocity: &Command) -> [f64; 2];
    /// The command that expresses a world-frame change of velocity as well as the model can.
    fn to_command(&self, heading: f64, change: [f64; 2]) -> Command;
    /// Largest speed under the limit `vel_max`, m/s.
    fn max_speed(&self, vel_max: &Command) -> f64 {
        vel_max[0]
    }
    /// Where the body travels, radians.
    fn travel_heading(&self, state: &State, _velocity: &Command) -> f64 {
        state[2]
    }
    /// Body-frame twist: forward, left, yaw rate.
    fn body_twist(&self, _state: &State, velocity: &Command) -> [f64; 3] {
        [velocity[0], 0.0, 0.0]
    }
    /// The stored velocity that has this body-frame twist, as well as the model can; `state` may take what the twist tells of it, as a car's
    /// steering.
    fn take_twist(&self, _state: &mut State, twist: [f64; 3]) -> Command {
        let mut velocity = [0.0; MAX_COMMAND];
        velocity[0] = twist[0];
        if let Some(number) = self.layout().yaw_rate {
            velocity[number] = twist[2];
        }
        velocity
    }
    /// Standard deviations of the noise on `command`, given `alpha`.
    fn deviations(&self, _command: &Command, _alpha: &[f64]) -> Command {
        [0.0; MAX_COMMAND]
    }
    /// Numbers of `alpha` the model needs for noise, by default what it takes.
    fn default_alpha(&self) -> &[f64] {
        &[]
    }
    /// Distance of the axles of a car, metres.
    fn wheelbase(&self) -> Option<f64> {
        None
    }
}

/// Default noise of `diff` and `acker`.
const PROPORTIONAL: [f64; 4] = [0.03, 0.0, 0.0, 0.03];

/// Deviations that grow with the command: each number's variance is a sum over both squared.
fn proportional([a, b, ..]: &Command, alpha: &[f64]) -> Command {
    let deviation =
        |i: usize| alpha.get(i..i + 2).map_or(0.0, |alpha| (alpha[0] * a * a + alpha[1] * b * b).sqrt());
    [deviation(0), deviation(2), 0.0, 0.0]
}

/// A speed along a heading.
fn along(heading: f64, speed: f64) -> [f64; 2] {
    let (sin, cos) = heading.sin_cos();
    [speed * cos, speed * sin]
}

/// What a body that only moves forward can make of a change of velocity.
fn forward_part(heading: f64, [dx, dy]: [f64; 2]) -> Command {
    let (sin, cos) = heading.sin_cos();
    [dx * cos + dy * sin, 0.0, 0.0, 0.0]
}
