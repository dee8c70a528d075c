//! The task of a robot: its phases, one after the other (world-file format, section 3).
//!
//! A task says where to go and when that is done. It never moves the robot: whoever does tells it where the robot is, and
//! when driving failed.

use std::sync::Arc;

use promenade_kernel::Time;
use promenade_scenario::{GotoTarget, OnFailure, Phase, PhaseAction, Point, RobotEntry, geometry};

use super::LiveWorld;
use super::build::nanos;
use super::fields::Condition;
use super::ground::{Bounds, Outline};

/// A pose is reached within this distance, whatever the heading; metres.
const POSE_REACH: f64 = 0.25;
/// A door (its line) and somebody (their centre) are reached within this distance: social distance (Hall 1966), and more than
/// robots keep from people and locked doors, since nobody could reach them otherwise. Metres.
const REACH: f64 = 1.5;
/// How long a person may be absent before the way to them fails, nanoseconds.
const PATIENCE: u64 = 5_000_000_000;

/// Something that happened to a task. Phases count from 0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TaskEvent {
    /// A phase began.
    PhaseStarted {
        /// Which.
        phase: usize,
        /// What its author wrote about it.
        text: Option<Arc<str>>,
    },
    /// What the phase is for is reached; its `hold_time` may follow.
    PhaseMet {
        /// Which.
        phase: usize,
    },
    /// A phase ended without being met.
    PhaseFailed {
        /// Which.
        phase: usize,
        /// Why, for people.
        reason: String,
    },
    /// There is nothing left to do.
    TaskDone {
        /// False when a failed phase ended it.
        completed: bool,
    },
    /// A failed phase ends the episode.
    AbortEpisode {
        /// Which.
        phase: usize,
    },
}

#[derive(Debug)]
enum Target {
    /// x, y, yaw in `map`.
    Pose([f64; 3]),
    /// By index, and a point inside.
    Zone(usize, Point),
    Door(usize),
    /// A person, or another robot.
    Somebody(Arc<str>),
}

#[derive(Debug)]
enum Action {
    Goto(Target),
    Hold,
    /// Gestures and reaching, which have no effect yet.
    Skip,
}

/// A phase with its names looked up.
#[derive(Debug)]
struct Step {
    action: Action,
    until: Option<Condition>,
    hold: Option<u64>,
    text: Option<Arc<str>>,
    on_failure: OnFailure,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum State {
    /// The next phase has not begun.
    Ready,
    /// Under way; the nanoseconds for which the person it goes to has been away.
    Doing {
        missing: u64,
    },
    /// Met, for so many nanoseconds.
    Met {
        since: u64,
    },
    Done,
}

/// See the module. A phase ends when its `until` turns true, else when its goal is reached, and then lasts its `hold_time`. One that
/// holds without `until` and `hold_time` lasts. A failed phase without `on_failure` ends the task.
#[derive(Debug)]
pub struct RobotTask {
    /// What is wrong with a phase is told when it is its turn.
    steps: Vec<Result<Step, (String, OnFailure)>>,
    current: usize,
    state: State,
    failure: Option<String>,
    events: Vec<TaskEvent>,
    last: Option<Time>,
}

impl RobotTask {
    /// The task of a robot of the scenario that `live` was made of, before its first phase. `gesture` and `reach` are left out with
    /// one warning in the log.
    #[must_use]
    pub fn new(robot: &RobotEntry, live: &LiveWorld) -> Self {
        let steps: Vec<_> = robot.phases.iter().map(|phase| step(phase, live)).collect();
        let skipped = steps.iter().flatten().filter(|step| matches!(step.action, Action::Skip)).count();
        if skipped > 0 {
            let name = robot.name.as_deref().unwrap_or_default();
            tracing::warn!("robot {name:?}: {skipped} phases gesture or reach, which has no effect yet");
        }
        RobotTask { steps, current: 0, state: State::Ready, failure: None, events: Vec::new(), last: None }
    }

    /// One step at `now` with the robot at `pose` (x, y, yaw in `map`), after the step of `live`. Answers where to go: x, y and the
    /// heading to arrive with; `None` = stay. Clocks that go back let no time pass.
    pub fn step(&mut self, now: Time, pose: [f64; 3], live: &LiveWorld) -> Option<[f64; 3]> {
        self.events.clear();
        let last = self.last.replace(now).unwrap_or(now);
        let dt = u64::try_from(now.saturating_since(last).as_nanos()).unwrap_or(u64::MAX);
        if let State::Doing { missing: count } | State::Met { since: count } = &mut self.state {
            *count = count.saturating_add(dt);
        }
        let here = Point::new(pose[0], pose[1]);
        // Each round ends the step or takes up another phase.
        loop {
            if self.state == State::Done {
                self.failure = None;
                return None;
            }
            if let Some(reason) = self.failure.take() {
                self.end_failed(reason);
                continue;
            }
            let Some(step) = self.steps.get(self.current) else {
                self.state = State::Done;
                self.events.push(TaskEvent::TaskDone { completed: true });
                continue;
            };
            let phase = self.current;
            let step = match step {
                Ok(step) => step,
                Err((reason, _)) => {
                    let reason = reason.clone();
                    self.events.push(TaskEvent::PhaseStarted { phase, text: None });
                    self.end_failed(reason);
                    continue;
                }
            };
            match self.state {
                State::Ready if matches!(step.action, Action::Skip) => self.current += 1,
                State::Ready => {
                    self.events.push(TaskEvent::PhaseStarted { phase, text: step.text.clone() });
                    self.state = State::Doing { missing: 0 };
                }
                State::Met { since } if since < step.hold.unwrap_or(0) => return None,
                State::Met { .. } => {
                    self.current += 1;
                    self.state = State::Ready;
                }
                State::Doing { missing } => {
                    let (reached, goal) = match &step.action {
                        Action::Goto(Target::Somebody(name)) if live.seen(name).is_none() => {
                            if missing > PATIENCE {
                                let reason = format!("{name:?} is not there");
                                self.end_failed(reason);
                                continue;
                            }
                            (false, None)
                        }
                        Action::Goto(target) => {
                            self.state = State::Doing { missing: 0 };
                            target.goal(here, live)
                        }
                        Action::Hold => (step.hold.is_some(), None),
                        Action::Skip => (true, None),
                    };
                    if !step.until.as_ref().map_or(reached, |until| until.holds(live)) {
                        return goal;
                    }
                    self.events.push(TaskEvent::PhaseMet { phase });
                    self.state = State::Met { since: 0 };
                }
                State::Done => {}
            }
        }
    }

    /// What the last step brought about, in order.
    #[must_use]
    pub fn events(&self) -> &[TaskEvent] {
        &self.events
    }

    /// Whoever drives cannot: a collision, no way. The next step ends the phase as its `on_failure` says.
    pub fn fail(&mut self, reason: impl Into<String>) {
        if self.state != State::Done {
            self.failure = Some(reason.into());
        }
    }

    /// The phase that is under way, or would be next; `None` when the task is over.
    #[must_use]
    pub fn phase(&self) -> Option<usize> {
        (self.state != State::Done && self.current < self.steps.len()).then_some(self.current)
    }

    fn end_failed(&mut self, reason: String) {
        let phase = self.current;
        let on_failure = match self.steps.get(phase) {
            Some(Ok(step)) => step.on_failure,
            Some(Err((_, on_failure))) => *on_failure,
            None => OnFailure::StopTask,
        };
        self.events.push(TaskEvent::PhaseFailed { phase, reason });
        match on_failure {
            OnFailure::Continue => {
                self.current += 1;
                self.state = State::Ready;
            }
            OnFailure::StopTask => {
                self.state = State::Done;
                self.events.push(TaskEvent::TaskDone { completed: false });
            }
            OnFailure::AbortEpisode => {
                self.state = State::Done;
                self.events.push(TaskEvent::AbortEpisode { phase });
            }
        }
    }
}

impl Target {
    /// Whether it is reached from `here`, and otherwise where to go.
    fn goal(&self, here: Point, live: &LiveWorld) -> (bool, Option<[f64; 3]>) {
        let (reached, to) = match self {
            Target::Pose([x, y, yaw]) => {
                let reached = here.distance(Point::new(*x, *y)) <= POSE_REACH;
                return (reached, (!reached).then_some([*x, *y, *yaw]));
            }
            Target::Zone(zone, inside) => (live.zones[*zone].contains(here), *inside),
            Target::Door(door) => {
                let line = live.doors[*door].line;
                let middle = Point::new((line.start.x + line.end.x) / 2.0, (line.start.y + line.end.y) / 2.0);
                (line.distance(here) <= REACH, middle)
            }
            Target::Somebody(name) => match live.seen(name) {
                Some(seen) => (here.distance(seen.position) <= REACH, seen.position),
                None => return (false, None),
            },
        };
        (reached, (!reached).then(|| [to.x, to.y, f64::atan2(to.y - here.y, to.x - here.x)]))
    }
}

fn step(phase: &Phase, live: &LiveWorld) -> Result<Step, (String, OnFailure)> {
    let on_failure = phase.on_failure.unwrap_or(OnFailure::StopTask);
    let action = match &phase.action {
        PhaseAction::Goto(target) => {
            Action::Goto(self::target(target, live).map_err(|why| (why, on_failure))?)
        }
        PhaseAction::Hold => Action::Hold,
        PhaseAction::Gesture(_) | PhaseAction::Reach(_) => Action::Skip,
    };
    let until = phase.until.as_ref().map(|until| live.condition(&until.entity, &until.field, &until.value));
    let until = until.transpose().map_err(|error| (error.to_string(), on_failure))?;
    Ok(Step {
        action,
        until,
        hold: phase.hold_time.map(nanos),
        text: phase.text.as_deref().map(Into::into),
        on_failure,
    })
}

/// A zone, else a door, else a person or a robot.
fn target(target: &GotoTarget, live: &LiveWorld) -> Result<Target, String> {
    let name = match target {
        GotoTarget::Pose(pose) => {
            return Ok(Target::Pose([pose.x + live.offset[0], pose.y + live.offset[1], pose.yaw]));
        }
        GotoTarget::Named(name) => name,
    };
    let zone = live.zones.iter().position(|zone| *zone.name == **name);
    let zone = zone.map(|zone| Target::Zone(zone, inside(&live.zones[zone].outline)));
    let door = || live.doors.iter().position(|door| *door.name == **name).map(Target::Door);
    let somebody = || live.declared.iter().find(|known| ***known == **name).map(Arc::clone);
    zone.or_else(door)
        .or_else(|| somebody().map(Target::Somebody))
        .ok_or_else(|| format!("no zone, door, person or robot is named {name:?}"))
}

/// A point inside, half way up in the middle of the widest part there.
fn inside(zone: &Outline) -> Point {
    let Bounds { low, high } = zone.bounds;
    let y = (low.y + high.y) / 2.0;
    let mut crossings: Vec<f64> = geometry::edges(&zone.corners)
        .filter(|edge| (edge.start.y > y) != (edge.end.y > y))
        .map(|e| (e.end.x - e.start.x) * (y - e.start.y) / (e.end.y - e.start.y) + e.start.x)
        .collect();
    crossings.sort_by(f64::total_cmp);
    let widest = crossings.chunks_exact(2).max_by(|a, b| f64::total_cmp(&(a[1] - a[0]), &(b[1] - b[0])));
    let x = widest.map_or((low.x + high.x) / 2.0, |pair| (pair[0] + pair[1]) / 2.0);
    Point::new(x, y)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_point_inside_a_zone_is_inside_also_where_its_middle_is_not() {
        let u_shape = [[0., 0.], [9., 0.], [9., 6.], [7., 6.], [7., 1.], [1., 1.], [1., 6.], [0., 6.]];
        let zone = Outline::new(u_shape.map(Point::from).to_vec());
        assert_eq!(inside(&zone), Point::new(8.0, 3.0));
        assert!(zone.contains(inside(&zone)));
    }
}
