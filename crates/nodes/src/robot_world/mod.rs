//! The `robot_world` node: a simulator of robots among people, with `/clock`, `cmd_vel`, `odom`, `scan` and TF.
//!
//! One thread owns the clock and the world; callbacks only hand it their messages, the newest command of each robot or a place in
//! a bounded queue. The world makes one step of `dt` for every `dt` of the clock, never more and never fewer, before the
//! reading goes out that is for the time after it. A world that cannot keep up with `realtime_factor` makes the clock slower.
//!
//! People belong to `human_simulator`, which hands them over by the services of `arena_people_msgs`. The files of the scenario
//! say the rest: walls, doors, things and robots. Doors, and the tasks of robots, are worked out here once more from who is
//! where, so that they need no topic; nothing here decides where people go.

mod messages;
mod people;
mod play;
mod robots;
mod settings;
mod stage;

use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::time::Duration;

use anyhow::Result;
use rclrs::{IntoPrimitiveOptions, Node, Subscription};
use task_generator_msgs::msg::rmw::EpisodeRecord as WireRecord;

use crate::ros::Running;
use crate::sim_clock::{ClockHost, ClockRequest, ClockServices};
use people::{PeopleRequest, PeopleServices};
use robots::Fleet;
use stage::Stage;

/// Messages that may wait for the thread of the world.
const QUEUE: usize = 256;
/// How far the world may be behind the clock before the clock waits for it, wall time.
const LAG: Duration = Duration::from_millis(200);
/// The longest `~/step`, seconds: all of it is simulated.
const LONGEST_STEP: f64 = 1000.0;

/// What the thread of the world is told.
pub(crate) enum Ingress {
    /// `~/pause` and `~/step`.
    Clock(ClockRequest),
    /// The services of people.
    People(PeopleRequest),
    /// What episode runs.
    Episode(Box<WireRecord>),
    /// The node was asked to stop.
    Stop,
}

/// Runs the node until it is asked to stop.
///
/// # Errors
/// A parameter of the wrong type or out of range, a file with errors, or a failure of ROS.
pub fn run() -> Result<()> {
    let ros = Running::start("robot_world")?;
    let settings = settings::read(&ros)?;
    let stage = Stage::open(&settings)?;
    let clock = ClockHost::open(&ros, LONGEST_STEP)?;
    let (tell, told) = sync_channel(QUEUE);
    let to_world = tell.clone();
    let _clock =
        ClockServices::open(&ros.node, move |request| drop(to_world.try_send(Ingress::Clock(request))))?;
    let to_world = tell.clone();
    let _people = PeopleServices::open(&ros.node, &settings.sim_ns, move |request| {
        drop(to_world.try_send(Ingress::People(request)));
    })?;
    let to_world = tell.clone();
    let _episodes = episodes(&ros.node, &settings.task_generator, move |record| {
        drop(to_world.try_send(Ingress::Episode(record)));
    })?;
    let fleet = Fleet::open(&ros.node, &settings)?;
    let on_signal = move || drop(tell.send(Ingress::Stop));
    ros.spin_beside(on_signal, || Host { stage, clock, fleet }.run(&told))
}

/// Tells of every record of the episode that runs.
fn episodes(
    node: &Node,
    task_generator: &str,
    tell: impl Fn(Box<WireRecord>) + Send + Sync + 'static,
) -> Result<Subscription<WireRecord>> {
    let topic = format!("{}/state/episode", task_generator.trim_end_matches('/'));
    let latched = topic.as_str().keep_last(1).reliable().transient_local();
    Ok(node.create_subscription::<WireRecord, _>(latched, move |record: Box<WireRecord>| tell(record))?)
}

/// The thread of the world.
struct Host {
    stage: Stage,
    clock: ClockHost,
    fleet: Fleet,
}

impl Host {
    fn run(mut self, told: &Receiver<Ingress>) -> Result<()> {
        self.fleet.meet(&self.stage)?;
        self.fleet.publish(&self.stage)?;
        loop {
            let is_for_clock = match told.recv_timeout(self.clock.wait()) {
                Ok(Ingress::Clock(request)) => {
                    self.clock.obey(request);
                    true
                }
                Ok(Ingress::People(request)) => {
                    self.stage.serve(request);
                    false
                }
                Ok(Ingress::Episode(record)) => {
                    if self.stage.follow(&record) {
                        self.fleet.meet(&self.stage)?;
                    }
                    false
                }
                Ok(Ingress::Stop) | Err(RecvTimeoutError::Disconnected) => return Ok(()),
                Err(RecvTimeoutError::Timeout) => true,
            };
            // Messages do not change the beat of the clock, however many they are.
            if is_for_clock || self.clock.wait().is_zero() {
                self.turn()?;
            }
        }
    }

    /// One reading of the clock, and before it all steps of the world up to its time.
    fn turn(&mut self) -> Result<()> {
        let reading = self.clock.reading();
        self.fleet.obey(&mut self.stage);
        while self.stage.next_time() <= reading.time {
            self.stage.step();
            self.fleet.publish(&self.stage)?;
        }
        self.clock.publish(reading)?;
        self.clock.let_go(LAG);
        Ok(())
    }
}
