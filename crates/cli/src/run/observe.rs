//! What the robots of a run did among the people: their metrics, and their part of the bag, once per frame.

use std::cell::RefCell;
use std::rc::Rc;

use promenade_human::{Environment, TrackedRobot};
use promenade_hunav::metrics::{Accumulator, Body, Evaluation, Frame, Settings};
use promenade_hunav::wrap;
use promenade_kernel::{FrameCtx, FrameSystem, SystemResult, Time};

use super::Physics;
use super::report::Recorder;
use super::tape::RobotState;

/// A robot's metrics while it has something to do, with the public evaluator's quirks and without them.
struct Observed {
    name: String,
    radius: f64,
    goal: Option<[f64; 2]>,
    last: Option<(Time, f64)>,
    until: Time,
    metrics: [Accumulator; 2],
}

/// The metrics of a robot at the end.
pub(crate) struct Judged {
    /// With the quirks, and without.
    pub(crate) evaluations: [Evaluation; 2],
    /// Where it was to go at last.
    pub(crate) goal: Option<[f64; 2]>,
    /// When its task had ended, or the run.
    pub(crate) until: Time,
}

/// The robots of a run under observation.
pub(crate) struct Robots(Vec<Observed>);

impl Robots {
    pub(super) fn new(environment: &Environment, physics: &Physics) -> Self {
        let observed = environment.episode().robots.iter().map(|robot| {
            let limits = match physics {
                Physics::World(world) => world.borrow().drive_limits(&robot.sim_path),
                Physics::Dummy(_) => None,
            };
            let settings = |compat| Settings { compat, knows_obstacles: false, ..Settings::default() };
            Observed {
                name: robot.name.clone(),
                radius: limits.unwrap_or_default().radius,
                goal: None,
                last: None,
                until: Time::ZERO,
                metrics: [Accumulator::new(settings(true)), Accumulator::new(settings(false))],
            }
        });
        Robots(observed.collect())
    }

    /// The metrics of everything that was seen, in the order of the scenario.
    pub(super) fn judge(&mut self) -> Vec<Judged> {
        let judge = |mut robot: Observed| {
            let goals: Vec<[f64; 2]> = robot.goal.into_iter().collect();
            robot.metrics.iter_mut().for_each(|metrics| metrics.set_goals(goals.clone()));
            Judged {
                evaluations: robot.metrics.map(Accumulator::finish),
                goal: robot.goal,
                until: robot.until,
            }
        };
        std::mem::take(&mut self.0).into_iter().map(judge).collect()
    }
}

/// The last thing in a frame: sees where everybody is.
pub(super) struct Observer {
    environment: Rc<RefCell<Environment>>,
    recorder: Rc<RefCell<Recorder>>,
    robots: Rc<RefCell<Robots>>,
    frame: Frame,
}

impl Observer {
    pub(super) fn new(
        environment: &Rc<RefCell<Environment>>,
        recorder: &Rc<RefCell<Recorder>>,
        robots: &Rc<RefCell<Robots>>,
    ) -> Self {
        Observer {
            environment: Rc::clone(environment),
            recorder: Rc::clone(recorder),
            robots: Rc::clone(robots),
            frame: Frame::default(),
        }
    }
}

/// A robot of a number as the layer sees it.
fn body(index: usize, seen: &TrackedRobot, robot: &Observed, now: Time) -> Body {
    let [x, y, _] = seen.pose.position;
    let yaw = seen.pose.yaw();
    let turned = robot.last.map_or(0.0, |(at, before)| {
        let seconds = now.saturating_since(at).as_secs_f64();
        if seconds > 0.0 { wrap(yaw - before) / seconds } else { 0.0 }
    });
    Body {
        // The ids of people count up from 1.
        id: -1 - i32::try_from(index).unwrap_or(0),
        radius: robot.radius,
        position: [x, y],
        yaw,
        velocity: seen.velocity,
        linear_vel: seen.velocity[0].hypot(seen.velocity[1]),
        angular_vel: turned,
        ..Body::default()
    }
}

impl FrameSystem for Observer {
    fn name(&self) -> &str {
        "observer"
    }

    fn process(&mut self, cx: &mut FrameCtx<'_>) -> SystemResult {
        let (environment, now) = (self.environment.borrow(), cx.now());
        let (mut recorder, mut robots) = (self.recorder.borrow_mut(), self.robots.borrow_mut());
        self.frame.stamp_ns = now.nanos();
        self.frame.agents.clear();
        self.frame.agents.extend(recorder.people_now().map(|(_, body)| body.clone()));
        for (index, robot) in robots.0.iter_mut().enumerate() {
            let tracked = environment.layer().cx().robots();
            let Some(seen) = tracked.iter().find(|seen| seen.robot.name == robot.name) else { continue };
            let body = body(index, seen, robot, now);
            robot.last = Some((now, body.yaw));
            let goal = environment.goal(index).map(|[x, y, _]| [x, y]);
            robot.goal = goal.or(robot.goal);
            recorder
                .write_robot(now, &RobotState { index, name: &robot.name, body: &body, goal: robot.goal });
            if environment.completed(index).is_none() {
                robot.until = now;
                self.frame.robot = body;
                robot.metrics.iter_mut().for_each(|metrics| metrics.push(&self.frame));
            }
        }
        Ok(())
    }
}
