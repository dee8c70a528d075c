//! The life of one door (world-file format, section 2, "Door life").
//!
//! A door knows who is near it only through what the world told it in this step; it never looks for anybody itself.

use std::sync::Arc;

use promenade_scenario::{Point, Segment};

use super::regime::Regimes;

/// Where a door is in its life.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum DoorPhase {
    /// A wall.
    #[default]
    Closed,
    /// On its way to open; still a wall.
    Opening,
    /// Fully open: the only phase in which anybody passes.
    Open,
    /// On its way to closed; a wall again.
    Closing,
}

impl DoorPhase {
    /// `closed`, `opening`, `open` or `closing`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            DoorPhase::Closed => "closed",
            DoorPhase::Opening => "opening",
            DoorPhase::Open => "open",
            DoorPhase::Closing => "closing",
        }
    }
}

/// A door as of the last step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DoorState {
    /// Where it is in its life.
    pub phase: DoorPhase,
    /// How far it is open, 0 to 1.
    pub fraction: f64,
    /// Whether it stays closed for whoever is not authorized.
    pub locked: bool,
}

impl DoorState {
    /// Whether it is no wall now.
    #[must_use]
    pub fn passable(&self) -> bool {
        self.phase == DoorPhase::Open
    }
}

/// Who and what unlocks a gate.
#[derive(Debug)]
pub(super) struct Gate {
    pub(super) authorized: Vec<Arc<str>>,
    pub(super) unlock_on: Option<usize>,
}

/// What holds around a door in one step.
#[derive(Debug, Clone, Copy, Default)]
struct Around {
    /// Someone is within the activation distance.
    near: bool,
    /// Someone authorized is.
    admitted: bool,
    /// Someone stands in it.
    obstructed: bool,
    /// A plate or a timeline opens it.
    driven: bool,
}

/// See the module. Times are nanoseconds, lengths metres in `map`.
#[derive(Debug)]
pub(super) struct Door {
    pub(super) name: Arc<str>,
    pub(super) level: usize,
    pub(super) line: Segment,
    /// 1 by the square of the line's length; 0 for a line that is a point.
    pub(super) per_squared_length: f64,
    pub(super) half_width: f64,
    pub(super) activation: f64,
    pub(super) transition: u64,
    pub(super) hold: u64,
    pub(super) gate: Option<Gate>,
    pub(super) life: Life,
}

/// The part of a door that an episode changes.
#[derive(Debug, Default)]
pub(super) struct Life {
    phase: DoorPhase,
    /// Time that it has moved away from closed, up to the transition time.
    travelled: u64,
    /// Time since anybody kept it open.
    idle: u64,
    /// What a timeline said about the lock; it overrules the gate.
    pub(super) forced_lock: Option<bool>,
    /// A timeline holds it open.
    pub(super) forced_open: bool,
    around: Around,
}

impl Door {
    /// Somebody at `p` with a disc of `radius`. `is_named` answers whether an entry of `authorized` means them.
    pub(super) fn observe(&mut self, p: Point, radius: f64, is_named: impl Fn(&str) -> bool) {
        // Squares, since everybody near a door passes here in every step.
        let squared = self.squared_distance(p);
        let reach = radius + self.half_width;
        let around = &mut self.life.around;
        around.obstructed |= squared < reach * reach;
        if squared <= self.activation * self.activation {
            around.near = true;
            let gate = self.gate.as_ref().filter(|_| !around.admitted);
            around.admitted |= gate.is_some_and(|gate| gate.authorized.iter().any(|name| is_named(name)));
        }
    }

    fn squared_distance(&self, p: Point) -> f64 {
        let Segment { start, end } = self.line;
        let (dx, dy) = (end.x - start.x, end.y - start.y);
        let along = ((p.x - start.x) * dx + (p.y - start.y) * dy) * self.per_squared_length;
        let t = along.clamp(0.0, 1.0);
        let (x, y) = (p.x - start.x - t * dx, p.y - start.y - t * dy);
        x * x + y * y
    }

    /// A pressed plate opens it, locked or not.
    pub(super) fn drive(&mut self) {
        self.life.around.driven = true;
    }

    pub(super) fn is_locked(&self, regimes: &Regimes) -> bool {
        self.life.forced_lock.unwrap_or_else(|| {
            let unlocked = |gate: &Gate| gate.unlock_on.is_some_and(|regime| regimes.holds(regime));
            self.gate.as_ref().is_some_and(|gate| !unlocked(gate))
        })
    }

    pub(super) fn state(&self, regimes: &Regimes) -> DoorState {
        let fraction = match self.life.phase {
            DoorPhase::Closed => 0.0,
            DoorPhase::Open => 1.0,
            DoorPhase::Opening | DoorPhase::Closing => self.life.travelled as f64 / self.transition as f64,
        };
        DoorState { phase: self.life.phase, fraction, locked: self.is_locked(regimes) }
    }

    pub(super) fn is_passable(&self) -> bool {
        self.life.phase == DoorPhase::Open
    }

    /// One change of phase at most, however long `dt` was. Forgets who was observed.
    pub(super) fn step(&mut self, dt: u64, regimes: &Regimes) {
        let locked = self.is_locked(regimes);
        let (transition, hold) = (self.transition, self.hold);
        let life = &mut self.life;
        let around = std::mem::take(&mut life.around);
        let wanted = around.admitted || around.driven || life.forced_open || (around.near && !locked);
        let kept = wanted || around.obstructed;
        life.idle = if kept { 0 } else { life.idle.saturating_add(dt) };
        life.phase = match life.phase {
            DoorPhase::Closed if wanted => opening(transition),
            DoorPhase::Closed => DoorPhase::Closed,
            // Whoever wanted it may have gone; then it opens all the same. Only a lock turns it round.
            DoorPhase::Opening if locked && !kept => DoorPhase::Closing,
            DoorPhase::Opening => {
                life.travelled = life.travelled.saturating_add(dt).min(transition);
                if life.travelled == transition { DoorPhase::Open } else { DoorPhase::Opening }
            }
            DoorPhase::Open if !kept && life.idle >= hold => closing(transition),
            DoorPhase::Open => DoorPhase::Open,
            // Also for somebody without a right to pass who got into it: never onto anybody.
            DoorPhase::Closing if kept => DoorPhase::Opening,
            DoorPhase::Closing => {
                life.travelled = life.travelled.saturating_sub(dt);
                if life.travelled == 0 { DoorPhase::Closed } else { DoorPhase::Closing }
            }
        };
        match life.phase {
            DoorPhase::Closed => life.travelled = 0,
            DoorPhase::Open => life.travelled = transition,
            DoorPhase::Opening | DoorPhase::Closing => {}
        }
    }
}

fn opening(transition: u64) -> DoorPhase {
    if transition == 0 { DoorPhase::Open } else { DoorPhase::Opening }
}

fn closing(transition: u64) -> DoorPhase {
    if transition == 0 { DoorPhase::Closed } else { DoorPhase::Closing }
}
