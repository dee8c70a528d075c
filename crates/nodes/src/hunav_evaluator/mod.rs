//! The `hunav_evaluator` node: records `human_states` and `robot_states`, and writes HuNavSim's metrics of each run into files (HuNav
//! specification, section 10).
//!
//! The metrics are those of `promenade_hunav::metrics`. A full disk or a bad message never ends the node.

mod files;
mod settings;
mod wire;

use std::any::Any;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use anyhow::Result;
use geometry_msgs::msg::rmw::PoseStamped;
use hunav_msgs::msg::rmw::{Agent, Agents};
#[cfg(hunav_evaluation)]
use hunav_msgs::srv::rmw::{StartEvaluation, StartEvaluationRequest, StartEvaluationResponse};
use promenade_hunav::Point;
use promenade_hunav::metrics::{Body, Session};
use promenade_kernel::Time;
use rclrs::IntoPrimitiveOptions;
use std_srvs::srv::rmw::{Empty, EmptyRequest, EmptyResponse};

use self::settings::{Mode, Settings};
use crate::bus::time_from_wire;
use crate::ros::Running;

/// States that may wait to be read; whoever sends them keeps one.
const DEPTH: u32 = 1000;
/// An automatic recording ends so long after the last message.
const SILENCE: Duration = Duration::from_secs(3);

/// Everything the callbacks share.
struct Evaluator {
    settings: Settings,
    session: Option<Session>,
    /// Runs so far, the numbers of those that nobody numbers.
    runs: i32,
    /// The newest reading of the node clock, and the one at the last message.
    now: Time,
    heard: Time,
    /// Goals that the robot's messages bring, and the one that was sent to the navigation.
    goals: Vec<Point>,
    sent_goal: Option<Point>,
}

impl Evaluator {
    fn start(&mut self, tag: &str, run: i32, goals: Vec<Point>) -> bool {
        if let Some(running) = &self.session {
            tracing::warn!("{} is being recorded; stop it before another begins", running.tag());
            return false;
        }
        let tag = if tag.is_empty() { self.settings.tag.as_str() } else { tag };
        tracing::info!("recording {tag}, run {run}");
        self.session = Some(self.settings.session(tag, run, goals));
        self.heard = self.now;
        self.runs = run.saturating_add(1);
        true
    }

    fn stop(&mut self) {
        let Some(mut session) = self.session.take() else {
            tracing::warn!("nothing is being recorded");
            return;
        };
        if session.is_empty() {
            tracing::error!(
                "{}: no step was recorded; are human_states and robot_states published?",
                session.tag()
            );
            return;
        }
        let goals: &[Point] = self.sent_goal.as_slice();
        session.suggest_goals(if goals.is_empty() { &self.goals } else { goals });
        let (tag, steps) = (session.tag().to_owned(), session.len());
        match files::write(&self.settings, session) {
            Ok(paths) => tracing::info!("{tag}: {steps} steps, written to {}", paths.join(", ")),
            Err(error) => tracing::error!("{tag}: {error:#}"),
        }
    }

    fn toggle(&mut self) {
        match self.session {
            Some(_) => self.stop(),
            None => {
                self.start("", self.runs, Vec::new());
            }
        }
    }

    /// A message came: in the automatic mode this begins a recording.
    fn hear(&mut self) {
        self.heard = self.now;
        if self.session.is_none() && self.settings.mode == Mode::Automatic && !self.settings.waits_for_goal {
            self.start("", self.runs, Vec::new());
        }
    }

    fn people(&mut self, stamp_ns: i64, bodies: Vec<Body>) {
        self.hear();
        if let Some(session) = &mut self.session {
            session.people(stamp_ns, bodies);
        }
    }

    fn robot(&mut self, body: Body, goals: Vec<Point>) {
        self.hear();
        if !goals.is_empty() {
            self.goals = goals;
        }
        if let Some(session) = &mut self.session {
            session.robot(body);
        }
    }

    fn goal(&mut self, goal: Point) {
        self.sent_goal = Some(goal);
        if self.session.is_none() && self.settings.waits_for_goal {
            self.start("", self.runs, Vec::new());
        }
    }

    /// The node clock; one that goes back counts from there.
    fn reading(&mut self, now: Time) {
        self.now = now;
        self.heard = self.heard.min(now);
        let is_over = now.saturating_since(self.heard) >= SILENCE;
        if is_over && self.session.is_some() && self.settings.mode == Mode::Automatic {
            self.stop();
        }
    }
}

/// A panic in one callback must not silence the others.
fn lock(evaluator: &Mutex<Evaluator>) -> MutexGuard<'_, Evaluator> {
    evaluator.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Runs the node until it is asked to stop; what is being recorded then is written.
///
/// # Errors
/// A parameter of the wrong type or out of range, or a failure of ROS.
pub fn run() -> Result<()> {
    let ros = Running::start("hunav_evaluator")?;
    let settings = settings::read(&ros)?;
    let shared = Arc::new(Mutex::new(Evaluator {
        settings,
        session: None,
        runs: 0,
        now: Time::ZERO,
        heard: Time::ZERO,
        goals: Vec::new(),
        sent_goal: None,
    }));
    let kept = open(&ros, &shared)?;
    let spun = ros.spin();
    drop(kept);
    let mut evaluator = lock(&shared);
    if evaluator.session.is_some() {
        evaluator.stop();
    }
    spun
}

fn open(ros: &Running, shared: &Arc<Mutex<Evaluator>>) -> Result<Vec<Box<dyn Any>>> {
    let node = &ros.node;
    let mut kept: Vec<Box<dyn Any>> = Vec::new();
    let to = Arc::clone(shared);
    kept.push(Box::new(node.create_subscription::<Agents, _>(
        "human_states".keep_last(DEPTH).reliable().volatile(),
        move |message: Agents| {
            let stamp_ns = time_from_wire(&message.header.stamp).nanos();
            lock(&to).people(stamp_ns, message.agents.iter().map(wire::body).collect());
        },
    )?));
    let to = Arc::clone(shared);
    kept.push(Box::new(node.create_subscription::<Agent, _>(
        "robot_states".keep_last(DEPTH).reliable().volatile(),
        move |message: Agent| lock(&to).robot(wire::body(&message), wire::goals(&message)),
    )?));
    let to = Arc::clone(shared);
    kept.push(Box::new(node.create_subscription::<PoseStamped, _>(
        "goal_pose".keep_last(1).reliable().volatile(),
        move |message: PoseStamped| {
            let at = message.pose.position;
            lock(&to).goal([at.x, at.y]);
        },
    )?));
    #[cfg(hunav_evaluation)]
    {
        let to = Arc::clone(shared);
        kept.push(Box::new(node.create_service::<StartEvaluation, _>(
            "hunav_start_recording",
            move |request: StartEvaluationRequest| {
                let at = &request.robot_goal.pose.position;
                let tag = request.experiment_tag.to_string();
                let success = lock(&to).start(&tag, request.run_id, vec![[at.x, at.y]]);
                StartEvaluationResponse { success }
            },
        )?));
    }
    let to = Arc::clone(shared);
    kept.push(Box::new(node.create_service::<Empty, _>(
        "hunav_stop_recording",
        move |_: EmptyRequest| {
            lock(&to).stop();
            EmptyResponse::default()
        },
    )?));
    let to = Arc::clone(shared);
    kept.push(Box::new(node.create_service::<Empty, _>(
        "hunav_trigger_recording",
        move |_: EmptyRequest| {
            lock(&to).toggle();
            EmptyResponse::default()
        },
    )?));
    let to = Arc::clone(shared);
    kept.push(Box::new(ros.clock(move |now| lock(&to).reading(now))?));
    Ok(kept)
}
