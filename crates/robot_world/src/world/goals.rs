//! Arrival at goals and what comes after (robot-world specification, section 8).

use super::World;
use super::warning::WarningKind;
use crate::objects::Objects;
use crate::spec::{ArriveMode, Goal};
use crate::wrap;

/// Net quarters of a turn about a goal after which an object circles it: a whole turn for certain.
const ROUND: i32 = 5;

/// From which quarter an object was last seen from its goal, and how many it has gone round, counter-clockwise positive.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Winding {
    quarter: Option<u8>,
    turned: i32,
}

impl World {
    /// Gives an arrived object the goals that come next.
    pub(super) fn renew_goals(&mut self, row: usize) {
        if !self.objects.arrive[row] {
            return;
        }
        let renewal = self.objects.renewal[row];
        if renewal.wander {
            self.draw_goal(row);
            self.objects.arrive[row] = false;
        } else if renewal.loops {
            let objects = &mut self.objects;
            let (start, queue) = (&objects.start[row], &mut objects.goals[row]);
            queue.clear();
            if let [goal] = start.goals[..] {
                let back = Goal { position: [start.state[0], start.state[1]], heading: Some(start.state[2]) };
                let cut = |goal: Goal| match objects.arrive_mode[row] {
                    ArriveMode::Position => Goal { heading: None, ..goal },
                    ArriveMode::State | ArriveMode::Pose { .. } => goal,
                };
                queue.extend([cut(goal), cut(back)]);
            } else {
                queue.extend(&start.goals);
            }
        }
    }

    /// One goal out of the range of a wanderer.
    pub(super) fn draw_goal(&mut self, row: usize) {
        let renewal = self.objects.renewal[row];
        let [x, y, heading] = [0, 1, 2].map(|i| self.generator.uniform(renewal.low[i], renewal.high[i]));
        self.objects.goals[row].clear();
        self.objects.goals[row].push_back(Goal { position: [x, y], heading: Some(heading) });
        self.objects.winding[row] = Winding::default();
    }

    /// Whether each object has reached its first goal; a goal reached is dropped unless it is the last.
    pub(super) fn judge_arrival(&mut self) {
        for row in 0..self.objects.len() {
            let objects = &mut self.objects;
            let Some(goal) = objects.goals[row].front().copied() else {
                objects.arrive[row] = false;
                continue;
            };
            let reached = reaches(objects, row, &goal);
            objects.arrive[row] = reached && objects.goals[row].len() == 1;
            if reached {
                if objects.goals[row].len() > 1 {
                    objects.goals[row].pop_front();
                }
                objects.winding[row] = Winding::default();
            } else if objects.behavior[row].is_some() && circles(objects, row, &goal) {
                let threshold = objects.goal_threshold[row];
                self.warn(row, WarningKind::Circling { threshold });
            }
        }
    }
}

fn reaches(objects: &Objects, row: usize, goal: &Goal) -> bool {
    let [x, y, heading, ..] = objects.state[row];
    let (dx, dy) = (goal.position[0] - x, goal.position[1] - y);
    let threshold = objects.goal_threshold[row];
    let turn = goal.heading.map_or(0.0, |goal| wrap(goal - heading));
    match objects.arrive_mode[row] {
        ArriveMode::Position => (dx * dx + dy * dy).sqrt() < threshold,
        ArriveMode::State => (dx * dx + dy * dy + turn * turn).sqrt() < threshold,
        ArriveMode::Pose { heading } => (dx * dx + dy * dy).sqrt() < threshold && turn.abs() < heading,
    }
}

/// Whether an object that cannot move sideways has gone all the way round its goal. Counts quarters seen from the goal, which needs no angle.
fn circles(objects: &mut Objects, row: usize, goal: &Goal) -> bool {
    let sideways = objects.model[row].as_ref().is_none_or(|model| model.layout().translating != 1);
    if sideways {
        return false;
    }
    let [x, y, ..] = objects.state[row];
    let quarter = match (x >= goal.position[0], y >= goal.position[1]) {
        (true, true) => 0,
        (false, true) => 1,
        (false, false) => 2,
        (true, false) => 3,
    };
    let winding = &mut objects.winding[row];
    winding.turned += match (quarter + 4 - winding.quarter.unwrap_or(quarter)) % 4 {
        1 => 1,
        3 => -1,
        _ => 0,
    };
    winding.quarter = Some(quarter);
    winding.turned.abs() >= ROUND
}
