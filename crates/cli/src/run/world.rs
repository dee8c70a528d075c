//! The robots of a run in the robot world: told how fast to drive, and stopped by whatever is in the way.
//!
//! Where to go is the affair of their tasks, how far they get that of the world.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, Result};
use promenade_human::live::GAVE_UP;
use promenade_human::sims::world::{Pilots, RobotModels, WorldOptions, WorldSim};
use promenade_human::{Environment, Ticked as _};
use promenade_kernel::{FrameCtx, FrameSystem, SystemResult};
use promenade_robot_world::registry::Registry;
use promenade_scenario::AssetLibrary;

/// The longest step of the world, seconds; frames of the layer are cut into steps of equal length.
const LONGEST_STEP: f64 = 0.04;

/// The world of a run.
pub(super) type World = Rc<RefCell<WorldSim>>;

/// A world whose steps fit into the frames of a layer with this rate.
pub(super) fn world(rate_hz: f64, seed: u64) -> Result<World> {
    let period = 1.0 / rate_hz;
    let options = WorldOptions {
        step_time: period / (period / LONGEST_STEP).ceil(),
        seed,
        watchdog: Duration::from_secs_f64(2.0 * period),
        ..WorldOptions::default()
    };
    let models = RobotModels::new(Arc::new(AssetLibrary::empty()), Registry::built_in());
    let world = WorldSim::new(&options, models).context("the robot world does not start")?;
    Ok(Rc::new(RefCell::new(world)))
}

/// Looks models up where the episode's are.
pub(super) fn set_models(world: &World, environment: &Environment) {
    let assets = Arc::clone(&environment.episode().models);
    world.borrow_mut().set_models(RobotModels::new(assets, Registry::built_in()));
}

/// Drives every robot of the scenario, once per frame.
pub(super) struct Drivers {
    environment: Rc<RefCell<Environment>>,
    world: World,
    pilots: Pilots,
    /// Number of robots.
    count: usize,
    dt: Duration,
}

impl Drivers {
    /// For the robots of an episode that has begun.
    pub(super) fn new(environment: &Rc<RefCell<Environment>>, world: &World) -> Self {
        let borrowed = environment.borrow();
        let episode = borrowed.episode();
        Drivers {
            pilots: Pilots::new(&world.borrow(), &episode.robots, &episode.scenario.robots),
            count: episode.robots.len(),
            dt: Duration::from_secs_f64(1.0 / borrowed.rate_hz()),
            environment: Rc::clone(environment),
            world: Rc::clone(world),
        }
    }
}

impl FrameSystem for Drivers {
    fn name(&self) -> &str {
        "robots"
    }

    fn process(&mut self, cx: &mut FrameCtx<'_>) -> SystemResult {
        let (mut environment, mut world) = (self.environment.borrow_mut(), self.world.borrow_mut());
        self.pilots.begin();
        for robot in 0..self.count {
            let (goal, time) = (environment.goal(robot), (cx.now(), self.dt));
            if self.pilots.drive(&mut world, robot, goal, environment.live(), time)? {
                environment.fail(robot, GAVE_UP);
            }
        }
        Ok(())
    }
}

/// Lets the world run to the time of each frame.
pub(super) struct Motion(pub(super) World);

impl FrameSystem for Motion {
    fn name(&self) -> &str {
        "robot_world"
    }

    fn process(&mut self, cx: &mut FrameCtx<'_>) -> SystemResult {
        self.0.borrow_mut().advance_to(cx.now());
        Ok(())
    }
}
