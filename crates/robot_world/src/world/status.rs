//! Flags, the label and whether a run is over (robot-world specification, sections 11.2 and 15).

use super::World;
use super::warning::WarningKind;
use crate::spec::{CollisionMode, ControlMode};

/// Whose end ends a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Done {
    /// Every robot's.
    #[default]
    All,
    /// One robot's.
    Any,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Label {
    /// As the file says.
    Initial,
    Running,
    Arrived,
    Collision,
    Reset,
}

impl World {
    /// Arrival, collisions and the label, after everything has moved.
    pub(super) fn judge(&mut self) {
        self.judge_arrival();
        self.judge_collisions();
        let robots = (0..self.objects.len()).filter(|row| self.is_robot(*row));
        let (mut some, mut arrived, mut collides) = (false, true, false);
        for row in robots {
            some = true;
            arrived &= self.objects.arrive[row];
            collides |= self.objects.collision[row];
        }
        self.label = match (some && arrived, collides) {
            (true, _) => Label::Arrived,
            (_, true) => Label::Collision,
            _ => Label::Running,
        };
    }

    /// What touches what, and who must stop for it.
    pub(super) fn judge_collisions(&mut self) {
        self.touching.find(&mut self.objects, self.settings.exact_circles);
        for row in 0..self.objects.len() {
            let robot = self.is_robot(row);
            let touches = !self.objects.collisions[row].is_empty();
            if robot && touches && !self.objects.collision[row] {
                self.warn(row, WarningKind::Collision);
            }
            self.objects.collision[row] = touches;
            self.objects.stop[row] = touches
                && !self.objects.puppet[row]
                && match self.settings.collision_mode {
                    CollisionMode::Stop => true,
                    CollisionMode::UnobstructedObstacles => robot,
                    CollisionMode::Reactive | CollisionMode::Unobstructed | CollisionMode::Contact => false,
                };
        }
    }

    /// Whether all robots, or any, are stopped or have arrived; never without robots.
    #[must_use]
    pub fn done(&self, mode: Done) -> bool {
        let objects = &self.objects;
        let mut ended = (0..objects.len())
            .filter(|row| self.is_robot(*row))
            .map(|row| objects.stop[row] || objects.arrive[row])
            .peekable();
        ended.peek().is_some()
            && match mode {
                Done::All => ended.all(|ended| ended),
                Done::Any => ended.any(|ended| ended),
            }
    }

    /// What the world is doing, in a word.
    #[must_use]
    pub fn status(&self) -> &str {
        match self.label {
            _ if self.paused => "Pause",
            Label::Initial => &self.settings.status,
            Label::Running if self.settings.control_mode == ControlMode::Keyboard => "Running (keyboard)",
            Label::Running => "Running",
            Label::Arrived => "Arrived",
            Label::Collision => "Collision",
            Label::Reset => "Reset",
        }
    }
}
