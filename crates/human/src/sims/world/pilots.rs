//! Who drives the robots of a scenario: along ways around walls, and past whoever stays in the way.
//!
//! A stand-in for a navigation stack. Where to go is the affair of the robots' tasks, how far they get that of the world; nothing
//! here moves a robot except by commands.

use std::time::Duration;

use promenade_kernel::Time;
use promenade_scenario::RobotEntry;

use super::{BodyTwist, DriveError, WorldSim};
use crate::live::{DriveLimits, LiveWorld, RobotDriver, Ways};
use crate::robot::Robot;

/// A robot that could not go on for this long tries to get around whoever stands there, until it is beside them or this time is over.
const WAITING: Duration = Duration::from_secs(2);
const ASIDE: Duration = Duration::from_secs(5);
/// So near to the place beside its way it goes on, and so far from the first of such places they are forgotten; metres.
const THERE: f64 = 0.2;
const PAST: f64 = 2.0;
/// So often it tries at one place; then it waits.
const TRIES: u32 = 6;

/// A pilot for each robot of a scenario.
#[derive(Debug, Default)]
pub struct Pilots {
    ways: Ways,
    /// `None` for a robot that the world refused.
    pilots: Vec<Option<Pilot>>,
}

/// Who drives one robot.
#[derive(Debug)]
struct Pilot {
    driver: RobotDriver,
    limits: DriveLimits,
    /// As the layer knows it, and as the world does.
    name: String,
    sim_path: String,
    detour: Detour,
}

impl Pilots {
    /// For robots that are in the world, with their entries of the scenario in the same order.
    #[must_use]
    pub fn new(sim: &WorldSim, robots: &[Robot], entries: &[RobotEntry]) -> Self {
        let pilot = |(robot, entry): (&Robot, &RobotEntry)| {
            let limits = sim.drive_limits(&robot.sim_path)?;
            let [x, y, _] = robot.pose.position;
            let start = [x, y, robot.pose.yaw()];
            let driver = RobotDriver::new(&robot.name, entry.start_floor.as_deref(), start, limits);
            let (name, sim_path) = (robot.name.clone(), robot.sim_path.clone());
            Some(Pilot { driver, limits, name, sim_path, detour: Detour::default() })
        };
        let pilots: Vec<_> = robots.iter().zip(entries).map(pilot).collect();
        let radii = pilots.iter().map(|pilot| pilot.as_ref().map_or(0.0, |pilot| pilot.limits.radius));
        Pilots { ways: Ways::new(sim.standing_lines(), radii), pilots }
    }

    /// A new frame begins: ways may be planned again.
    pub fn begin(&mut self) {
        self.ways.begin();
    }

    /// Gives robot `index` its command for the `dt` that begins at `now`. Answers whether it has given up.
    ///
    /// # Errors
    /// When the world does not know the robot any more.
    pub fn drive(
        &mut self,
        sim: &mut WorldSim,
        index: usize,
        goal: Option<[f64; 3]>,
        live: &LiveWorld,
        (now, dt): (Time, Duration),
    ) -> Result<bool, DriveError> {
        let Some(Some(Pilot { driver, limits, name, sim_path, detour })) = self.pilots.get_mut(index) else {
            return Ok(false);
        };
        let Some(view) = sim.robot(sim_path) else { return Ok(false) };
        let ([x, y, yaw], twist) = (view.pose, view.twist);
        let via = match goal {
            Some([to_x, to_y, _]) => {
                let via = self.ways.next(index, [x, y], [to_x, to_y]);
                let around = || self.ways.around(index, name, [x, y], via, live);
                detour.via(now, [x, y], via, driver.blocked() > WAITING, around)
            }
            None => [x, y],
        };
        // One that cannot turn drives where it has to go, whichever way it looks.
        let looks = if limits.turns() { yaw } else { f64::atan2(via[1] - y, via[0] - x) };
        let (sin, cos) = (looks - yaw).sin_cos();
        let speed = twist.forward * cos + twist.left * sin;
        let [forward, yaw_rate] = driver.command(dt, ([x, y, looks], speed), (goal, via), live);
        sim.command(sim_path, BodyTwist { forward: forward * cos, left: forward * sin, yaw_rate })?;
        Ok(driver.has_given_up())
    }
}

/// A way around somebody.
#[derive(Debug, Default)]
struct Detour {
    /// Where it leads, and since when it is tried.
    to: Option<([f64; 2], Time)>,
    /// Where the first one began, and how many there have been.
    from: [f64; 2],
    tries: u32,
}

impl Detour {
    /// Where to go now, on the way to `via`; `find` finds a place beside it.
    fn via(
        &mut self,
        now: Time,
        here: [f64; 2],
        via: [f64; 2],
        is_stuck: bool,
        find: impl FnOnce() -> Option<[f64; 2]>,
    ) -> [f64; 2] {
        let near = |place: [f64; 2], reach: f64| (place[0] - here[0]).hypot(place[1] - here[1]) < reach;
        if !near(self.from, PAST) {
            (self.from, self.tries) = (here, 0);
        }
        if let Some((to, since)) = self.to {
            if !near(to, THERE) && now.saturating_since(since) < ASIDE {
                return to;
            }
            self.to = None;
        } else if is_stuck && self.tries < TRIES {
            self.tries += 1;
            self.to = find().map(|place| (place, now));
        }
        self.to.map_or(via, |(to, _)| to)
    }
}
