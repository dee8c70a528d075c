//! What an evaluator does between the start and the stop of a recording, without a topic or a clock of its own.
//!
//! Robot and people come one by one, and the first of one side belongs to the first of the other: the states carry no common stamp. All people
//! count, and once more those of each behaviour.

use std::collections::VecDeque;

use super::{Accumulator, Body, Evaluation, Frame, Settings};
use crate::{BehaviorKind, Point};

/// States that wait for their counterpart at most; of a side that has gone silent the oldest go.
const MOST_WAITING: usize = 1000;

/// A recording.
#[derive(Clone, Debug)]
pub struct Session {
    tag: String,
    run: i32,
    period_ns: i64,
    last_ns: Option<i64>,
    people: VecDeque<(i64, Vec<Body>)>,
    robots: VecDeque<Body>,
    frame: Frame,
    whole: Accumulator,
    /// Of the behaviours that were seen, in ascending order.
    parts: Vec<(BehaviorKind, Accumulator)>,
    settings: Settings,
    by_behavior: bool,
}

impl Session {
    /// Begins a recording of a run. At most `frequency` steps per second of the stamps are taken, all when it is 0; `by_behavior` asks for
    /// the people of each behaviour on their own too.
    #[must_use]
    pub fn new(tag: &str, run: i32, settings: Settings, frequency: f64, by_behavior: bool) -> Self {
        Session {
            tag: tag.to_owned(),
            run,
            period_ns: if frequency > 0.0 { (1e9 / frequency) as i64 } else { 0 },
            last_ns: None,
            people: VecDeque::new(),
            robots: VecDeque::new(),
            frame: Frame::default(),
            whole: Accumulator::new(settings.clone()),
            parts: Vec::new(),
            settings,
            by_behavior,
        }
    }

    /// Tag of the experiment.
    #[must_use]
    pub fn tag(&self) -> &str {
        &self.tag
    }

    /// Number of the run.
    #[must_use]
    pub fn run(&self) -> i32 {
        self.run
    }

    /// Steps so far.
    #[must_use]
    pub fn len(&self) -> usize {
        self.whole.len()
    }

    /// Whether there is no step yet.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.whole.is_empty()
    }

    /// Takes the people of a time.
    pub fn people(&mut self, stamp_ns: i64, people: Vec<Body>) {
        if self.people.len() == MOST_WAITING {
            self.people.pop_front();
        }
        self.people.push_back((stamp_ns, people));
        self.pair();
    }

    /// Takes the robot.
    pub fn robot(&mut self, robot: Body) {
        if self.robots.len() == MOST_WAITING {
            self.robots.pop_front();
        }
        self.robots.push_back(robot);
        self.pair();
    }

    /// One side is empty before and after.
    fn pair(&mut self) {
        if self.people.is_empty() || self.robots.is_empty() {
            return;
        }
        let (Some((stamp_ns, agents)), Some(robot)) = (self.people.pop_front(), self.robots.pop_front())
        else {
            return;
        };
        // A tenth of the period is forgiven, since stamps lie on the grid of whoever sends them.
        let is_early = self.last_ns.is_some_and(|last| {
            let since = stamp_ns.saturating_sub(last);
            since >= 0 && since < self.period_ns - self.period_ns / 10
        });
        if !is_early {
            self.last_ns = Some(stamp_ns);
            self.frame = Frame { stamp_ns, robot, agents };
            self.step();
        }
    }

    fn step(&mut self) {
        if self.by_behavior {
            for body in &self.frame.agents {
                if let Err(at) =
                    self.parts.binary_search_by_key(&(body.behavior as u8), |(kind, _)| *kind as u8)
                {
                    self.parts.insert(at, (body.behavior, Accumulator::new(self.settings.clone())));
                }
            }
        }
        self.whole.push(&self.frame);
        for (kind, part) in &mut self.parts {
            part.push_some(&self.frame, |body| body.behavior == *kind);
        }
    }

    /// Sets where the robot was to go, unless the settings had a goal.
    pub fn suggest_goals(&mut self, goals: &[Point]) {
        if self.settings.goals.is_empty() {
            self.whole.set_goals(goals.to_vec());
            self.parts.iter_mut().for_each(|(_, part)| part.set_goals(goals.to_vec()));
        }
    }

    /// The metrics of everybody, and of the people of each behaviour.
    #[must_use]
    pub fn finish(self) -> (Evaluation, Vec<(BehaviorKind, Evaluation)>) {
        let parts = self.parts.into_iter().map(|(kind, part)| (kind, part.finish()));
        (self.whole.finish(), parts.collect())
    }
}

#[cfg(test)]
mod tests {
    use super::super::Metric;
    use super::*;

    fn body(behavior: BehaviorKind, linear_vel: f64) -> Body {
        Body { behavior, linear_vel, position: [3.0, 0.0], ..Body::default() }
    }

    #[test]
    fn states_belong_together_in_their_order() {
        let mut session = Session::new("a", 1, Settings::default(), 0.0, true);
        let (regular, scared) = (BehaviorKind::Regular, BehaviorKind::Scared);
        session.robot(Body::default());
        session.robot(Body { position: [1.0, 0.0], ..Body::default() });
        assert!(session.is_empty());
        session.people(0, vec![body(scared, 0.5), body(regular, 1.0)]);
        session.people(100, vec![body(regular, 1.0)]);
        session.people(200, vec![body(regular, 7.0)]);
        assert_eq!(session.len(), 2);
        session.suggest_goals(&[[1.0, 0.1]]);
        let (all, parts) = session.finish();
        assert_eq!(all.positions(), [[0.0, 0.0], [1.0, 0.0]]);
        assert_eq!(all.number(Metric::Completed), Some(1.0));
        assert_eq!(all.number(Metric::AvgPedestrianVelocity), Some(2.5 / 3.0));
        let kinds: Vec<BehaviorKind> = parts.iter().map(|(kind, _)| *kind).collect();
        assert_eq!(kinds, [regular, scared]);
        assert_eq!(parts[1].1.number(Metric::AvgPedestrianVelocity), Some(0.5));
    }

    #[test]
    fn a_side_that_is_alone_does_not_grow_for_ever() {
        let mut session = Session::new("a", 1, Settings::default(), 0.0, false);
        for stamp in 0..5000 {
            session.people(stamp, Vec::new());
        }
        session.robot(Body::default());
        assert_eq!((session.len(), session.people.len()), (1, MOST_WAITING - 1));
    }

    #[test]
    fn a_frequency_leaves_steps_out_and_a_clock_that_goes_back_none() {
        let mut session = Session::new("a", 1, Settings::default(), 10.0, false);
        for stamp in [0, 50, 95, 100, 190, 240, 20, 130] {
            session.people(stamp * 1_000_000, Vec::new());
            session.robot(Body::default());
        }
        let (all, parts) = session.finish();
        assert_eq!(all.stamps(), [0.0, 0.095, 0.19, 0.02, 0.13]);
        assert!(parts.is_empty());
    }
}
