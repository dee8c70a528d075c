//! People as HuNavSim moves them: social forces, six ways to react to a robot, behaviour trees, and the numbers that papers compute from it.
//!
//! The engine knows no ROS type and no clock: time is a stamp in a request. It never draws a random number that does not follow from its
//! seed, and nothing that a client sends can panic it.

mod agent;
pub mod configure;
pub mod manager;
pub mod metrics;
mod options;
pub mod scene;
pub mod tree;
pub mod workload;
pub mod world;

pub use agent::{Agent, Behavior, BehaviorKind, Configuration, Kind, Robot};
pub use manager::{Manager, Request};
pub use options::{Compat, ManagerVersion, ObstacleRule, Options, Order};
pub use world::{Forces, Goal, World};

/// A point or vector of the plane, metres.
pub type Point = [f64; 2];

/// `angle` moved into (-pi, pi]; 0 for an angle that is not finite.
#[must_use]
pub fn wrap(angle: f64) -> f64 {
    use std::f64::consts::{PI, TAU};
    if angle.is_finite() { PI - (PI - angle).rem_euclid(TAU) } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use std::f64::consts::PI;

    use super::*;

    #[test]
    fn an_angle_is_wrapped_into_the_half_open_turn() {
        assert_eq!(wrap(PI), PI);
        assert_eq!(wrap(-PI), PI);
        assert!((wrap(3.0 * PI + 0.25) - (0.25 - PI)).abs() < 1e-12);
        assert_eq!(wrap(f64::NAN), 0.0);
    }
}
