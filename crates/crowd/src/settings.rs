//! What holds for a whole run (crowd-engine specification, section 5).

use serde::{Deserialize, Serialize};

use crate::error::{CrowdError, positive};
use crate::global::GlobalPlanner;
use crate::improvements::Improvements;
use crate::kinematics::Kinematics;
use crate::occlusion::OcclusionMode;

/// Numbers and modules of an engine. Times in seconds, distances in metres.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Settings {
    /// Seed of all streams.
    pub seed: i64,
    /// Length of a tick.
    pub dt: f64,
    /// Ticks between decisions.
    pub bt_tick_interval: u32,
    /// Whether agents decide one after the other within that interval, by id, rather than all at once.
    pub staggered_decisions: bool,
    /// Local planner of everybody who names none.
    pub local_planner: String,
    /// How paths are found.
    pub global_planner: GlobalPlanner,
    /// Slower than this nobody has a direction, m/s.
    pub min_speed_for_heading: f64,
    /// Nearer than this to its target an agent has arrived.
    pub arrival_r_enter: f64,
    /// Further than this from its target an arrived agent sets off again.
    pub arrival_r_exit: f64,
    /// Time constant with which arrived agents brake.
    pub arrival_tau_brake: f64,
    /// Whether and how walls block sight.
    pub occlusion: OcclusionMode,
    /// Whether bodies touch each other and walls.
    pub contacts: bool,
    /// What this engine does better than the one it is compatible with.
    pub improvements: Improvements,
    /// Threads that a tick is spread over. The result does not depend on it.
    pub threads: usize,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            seed: 0,
            dt: 0.05,
            bt_tick_interval: 5,
            staggered_decisions: false,
            local_planner: "sfm".to_owned(),
            global_planner: GlobalPlanner::default(),
            min_speed_for_heading: 0.1,
            arrival_r_enter: 0.15,
            arrival_r_exit: 0.3,
            arrival_tau_brake: 0.15,
            occlusion: OcclusionMode::default(),
            contacts: true,
            improvements: Improvements::ALL,
            threads: 1,
        }
    }
}

impl Settings {
    /// Whether every number is in its range.
    pub(crate) fn check(&self) -> Result<(), CrowdError> {
        positive("dt", self.dt)?;
        positive("arrival_r_enter", self.arrival_r_enter)?;
        positive("arrival_r_exit", self.arrival_r_exit)?;
        positive("arrival_tau_brake", self.arrival_tau_brake)?;
        let range = |name: &str, value: f64, holds: bool, expected| match holds {
            true => Ok(()),
            false => Err(CrowdError::Number { what: name.to_owned(), expected, found: value }),
        };
        let interval = f64::from(self.bt_tick_interval);
        range("bt_tick_interval", interval, (1.0..=1e5).contains(&interval), "a number from 1 to 100000")?;
        let exceeds = self.arrival_r_exit > self.arrival_r_enter;
        range("arrival_r_exit", self.arrival_r_exit, exceeds, "more than arrival_r_enter")?;
        let speed = self.min_speed_for_heading;
        range("min_speed_for_heading", speed, speed >= 0.0 && speed.is_finite(), "a number of at least 0")?;
        let threads = self.threads as f64;
        range("threads", threads, (1.0..=1024.0).contains(&threads), "a number from 1 to 1024")?;
        let metres =
            |name: &str, value: f64| range(name, value, (0.0..=5.0).contains(&value), "a number from 0 to 5");
        match self.global_planner {
            GlobalPlanner::Off => {}
            GlobalPlanner::NavMesh { inflation, comfort } => {
                metres("global_planner.inflation_radius", inflation)?;
                metres("global_planner.comfort_radius", comfort)?;
            }
            GlobalPlanner::Lattice { inflation, resolution, .. } => {
                metres("global_planner.inflation_radius", inflation)?;
                let step = "global_planner.resolution";
                range(step, resolution, (0.01..=5.0).contains(&resolution), "a number from 0.01 to 5")?;
            }
        }
        Ok(())
    }

    /// What the limits of a body need.
    #[must_use]
    pub fn kinematics(&self) -> Kinematics {
        Kinematics {
            dt: self.dt,
            min_speed_for_heading: self.min_speed_for_heading,
            tau_brake: self.arrival_tau_brake,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_outside_their_range_are_refused_by_name() {
        assert_eq!(Settings::default().check(), Ok(()));
        let refused = |settings: Settings| settings.check().expect_err("refused").to_string();
        let dt = Settings { dt: f64::NAN, ..Settings::default() };
        assert_eq!(refused(dt), "dt: expected a number greater than 0, found NaN");
        let exit = Settings { arrival_r_exit: 0.1, ..Settings::default() };
        assert_eq!(refused(exit), "arrival_r_exit: expected more than arrival_r_enter, found 0.1");
        let interval = Settings { bt_tick_interval: 0, ..Settings::default() };
        assert!(refused(interval).starts_with("bt_tick_interval: expected a number from 1"));
        let fine = GlobalPlanner::named("astar", 0.4, 0.0, 0.6).expect("known");
        let resolution = Settings { global_planner: fine, ..Settings::default() };
        assert!(refused(resolution).starts_with("global_planner.resolution: "));
    }
}
