//! The robots of a run without a world: driven straight to where their tasks send them, through whatever stands there, and seen by the
//! layer as TF would show them.
//!
//! A stand-in for a physics simulator; it must never decide where to go.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::Duration;

use promenade_human::live::{DriveLimits, GAVE_UP, RobotDriver};
use promenade_human::message::Pose;
use promenade_human::{Environment, Transforms};
use promenade_kernel::{FrameCtx, FrameSystem, SystemResult, Time};

/// Where the robots are, by frame.
#[derive(Clone, Default)]
pub(crate) struct Frames(Rc<RefCell<BTreeMap<String, Track>>>);

/// A robot's way so far.
#[derive(Clone, Copy)]
struct Track {
    stamp: Time,
    pose: Pose,
    distance: f64,
}

impl Frames {
    /// How far the robot of a base frame has driven, metres.
    pub(crate) fn distance(&self, frame: &str) -> f64 {
        self.0.borrow().get(frame).map_or(0.0, |track| track.distance)
    }

    fn see(&self, frame: &str, stamp: Time, pose: Pose) {
        let mut tracks = self.0.borrow_mut();
        match tracks.get_mut(frame) {
            Some(track) => {
                let ([x, y, _], [to_x, to_y, _]) = (track.pose.position, pose.position);
                let distance = track.distance + (to_x - x).hypot(to_y - y);
                *track = Track { stamp, pose, distance };
            }
            None => {
                tracks.insert(frame.to_owned(), Track { stamp, pose, distance: 0.0 });
            }
        }
    }
}

impl Transforms for Frames {
    fn latest(&mut self, frame: &str) -> Option<(Time, Pose)> {
        self.0.borrow().get(frame).map(|track| (track.stamp, track.pose))
    }
}

/// Drives every robot of the scenario, once per frame.
pub(crate) struct Drivers {
    environment: Rc<RefCell<Environment>>,
    frames: Frames,
    drivers: Vec<(RobotDriver, String)>,
    dt: Duration,
}

impl Drivers {
    pub(crate) fn new(environment: &Rc<RefCell<Environment>>, frames: Frames, rate_hz: f64) -> Self {
        let borrowed = environment.borrow();
        let episode = borrowed.episode();
        let drivers = episode.robots.iter().zip(&episode.scenario.robots).map(|(robot, entry)| {
            let [x, y, _] = robot.pose.position;
            let start = [x, y, robot.pose.yaw()];
            let level = entry.start_floor.as_deref();
            let driver = RobotDriver::new(&robot.name, level, start, DriveLimits::default());
            (driver, robot.base_frame.clone().unwrap_or_default())
        });
        Drivers {
            drivers: drivers.collect(),
            dt: Duration::from_secs_f64(1.0 / rate_hz),
            environment: Rc::clone(environment),
            frames,
        }
    }
}

impl FrameSystem for Drivers {
    fn name(&self) -> &str {
        "robots"
    }

    fn process(&mut self, cx: &mut FrameCtx<'_>) -> SystemResult {
        let mut environment = self.environment.borrow_mut();
        for (i, (driver, frame)) in self.drivers.iter_mut().enumerate() {
            let [x, y, yaw] = driver.step(self.dt, environment.goal(i), environment.live());
            if driver.has_given_up() {
                environment.fail(i, GAVE_UP);
            }
            self.frames.see(frame, cx.now(), Pose::planar(x, y, yaw));
        }
        Ok(())
    }
}
