//! The path of one agent, and how far it has come on it.

use crate::walls::Segment;

/// The path of one agent.
#[derive(Debug, Clone, Default)]
pub struct Route {
    /// The target it was planned for, to the millimetre.
    pub(super) key: [f64; 2],
    /// Way-points, the agent's place at planning time first; empty without a path.
    pub(super) points: Vec<[f64; 2]>,
    /// The leg the agent is on begins at this way-point.
    pub(super) cursor: usize,
    /// Whether the path ends short of the target, which cannot be reached.
    pub(super) falls_short: bool,
    /// Whether it had to wait for its turn to be planned.
    pub(super) waits: bool,
}

impl Route {
    /// Forget the path.
    pub fn clear(&mut self) {
        self.points.clear();
        self.cursor = 0;
        (self.falls_short, self.waits) = (false, false);
    }

    /// Way-points, the agent's place at planning time first; empty without a path.
    #[must_use]
    pub fn points(&self) -> &[[f64; 2]] {
        &self.points
    }

    /// The way-points that are still ahead.
    #[must_use]
    pub fn ahead(&self) -> &[[f64; 2]] {
        self.points.get(self.cursor + 1..).unwrap_or_default()
    }

    /// Whether the agent has to wait for its path: too many were asked for at once.
    #[must_use]
    pub fn waits(&self) -> bool {
        self.waits
    }

    /// Whether the path ends short of the target, which cannot be reached.
    #[must_use]
    pub fn falls_short(&self) -> bool {
        self.falls_short
    }

    /// Forget a path that a gate makes wrong: one that crosses a gate which has closed, or one that falls short when a gate has opened.
    pub(crate) fn gate(&mut self, position: [f64; 2], gate: &Segment, closed: bool) {
        let from = [position];
        let rest = || from.iter().chain(self.ahead());
        let crossed = || rest().zip(rest().skip(1)).any(|(a, b)| Segment::between(*a, *b).crosses(gate));
        if (closed && crossed()) || (!closed && self.falls_short) {
            self.clear();
        }
    }

    pub(super) fn set(&mut self, points: &[[f64; 2]]) {
        self.clear();
        self.points.extend_from_slice(points);
    }

    pub(super) fn before_last(&self) -> [f64; 2] {
        self.points[self.points.len().saturating_sub(2)]
    }

    /// Distance to the whole path.
    pub(super) fn distance(&self, p: [f64; 2]) -> f64 {
        let legs = self.points.windows(2).map(|leg| Segment::between(leg[0], leg[1]).offset(p).0);
        legs.fold(f64::INFINITY, f64::min)
    }

    /// Go on to the leg the agent has come to.
    pub(super) fn advance(&mut self, p: [f64; 2]) {
        while let Some([a, b]) = self.points.get(self.cursor..self.cursor + 2) {
            let along = [b[0] - a[0], b[1] - a[1]];
            let gone = along[0] * (p[0] - a[0]) + along[1] * (p[1] - a[1]);
            if gone < along[0] * along[0] + along[1] * along[1] {
                return;
            }
            self.cursor += 1;
        }
    }

    /// The last way-point.
    pub(super) fn end(&self) -> Option<[f64; 2]> {
        self.points.last().copied()
    }

    /// End of the current leg, or `otherwise` without a path.
    pub(super) fn sub_goal(&self, otherwise: [f64; 2]) -> [f64; 2] {
        self.points.get(self.cursor + 1).or(self.points.last()).copied().unwrap_or(otherwise)
    }
}
