//! The built-in behaviours (HuNav specification, section 5.2), each as its tree would do it.

use super::World;
use crate::BehaviorKind;

/// What a tree remembers between ticks: the timer of its reaction.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Timer {
    sum: f64,
    expired: bool,
}

impl Timer {
    /// Add `dt`; whether `seconds` are over.
    fn over(&mut self, seconds: f64, dt: f64, once: bool) -> bool {
        if once && self.expired {
            return true;
        }
        self.sum += dt;
        self.expired = self.sum >= seconds;
        if self.expired && !once {
            self.sum = 0.0;
        }
        self.expired
    }
}

/// The numbers of a reaction.
struct Reaction {
    sight: f64,
    seconds: f64,
    once: bool,
    vel: f64,
    factor: f64,
    distance: f64,
}

impl World {
    /// Tick the tree of a walker once.
    pub(crate) fn tick(&mut self, row: usize, dt: f64) {
        let kind = self.agents[row].behavior.kind;
        if let Some(reaction) = self.reaction(row)
            && self.sees_robot(row, reaction.sight)
            && !self.timers[row].over(reaction.seconds, dt, reaction.once)
        {
            return match kind {
                BehaviorKind::Surprised => self.surprised(row),
                BehaviorKind::Scared => self.scared(row, dt, reaction.vel, reaction.factor),
                BehaviorKind::Curious => self.curious(row, dt, reaction.distance, reaction.vel),
                _ => self.threatening(row, dt, reaction.distance),
            };
        }
        if self.is_goal_reached(row) {
            self.next_goal(row);
        } else {
            self.walk(row, dt);
        }
    }

    fn reaction(&self, row: usize) -> Option<Reaction> {
        let behavior = &self.agents[row].behavior;
        let first = self.rules.first_manager;
        let (sight, fixed) = match behavior.kind {
            BehaviorKind::Regular | BehaviorKind::Impassive => return None,
            BehaviorKind::Surprised => (behavior.dist, [4.0, 30.0, 0.0, 0.0, 0.0]),
            BehaviorKind::Scared => (behavior.dist, [3.0, 40.0, 0.6, 20.0, 0.0]),
            BehaviorKind::Curious => (10.0, [10.0, 30.0, 1.8, 0.0, 1.5]),
            BehaviorKind::Threatening => (4.5, [4.0, 40.0, 0.0, 0.0, 1.1]),
        };
        let [sight, seconds, vel, factor, distance] = if first {
            fixed
        } else {
            [sight, behavior.duration, behavior.vel, behavior.other_force_factor, behavior.dist]
        };
        let once = if first { behavior.kind != BehaviorKind::Scared } else { behavior.once };
        Some(Reaction { sight, seconds, once, vel, factor, distance })
    }
}
