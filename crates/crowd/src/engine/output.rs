//! What the engine tells of its agents: the frame of every tick and what of them changes seldom (crowd-engine specification,
//! sections 4 and 6).
//!
//! Nothing here decides; a steady state fills the same buffers again.

use super::Engine;
use crate::pool::{Kind, NO_POLICY, Pool};
use crate::protocol::{AgentFrame, AgentGestures, AgentMeta, animation, kind};
use crate::sampling::Handedness;

/// Faster than this is walking, m/s.
const WALKS: f64 = 0.05;
/// Faster than this is running, m/s.
const RUNS: f64 = 1.5;

/// What was told last.
#[derive(Debug, Default)]
pub(crate) struct Output {
    frame: AgentFrame,
    meta: AgentMeta,
    meta_revision: u64,
    /// Whether the meta data has to be made anew.
    pub(crate) meta_stale: bool,
    gestures: AgentGestures,
    gestures_revision: u64,
}

impl Output {
    /// Nothing was told yet.
    pub(crate) fn untold() -> Self {
        Self { meta_stale: true, ..Self::default() }
    }
}

impl Engine {
    /// Everybody after the last tick, without the mirrors of what others move.
    #[must_use]
    pub fn frame(&self) -> &AgentFrame {
        &self.output.frame
    }

    /// What of the agents changes seldom, as of the last tick.
    #[must_use]
    pub fn meta(&self) -> &AgentMeta {
        &self.output.meta
    }

    /// Grows when the meta data changes, and in the tick after every reset.
    #[must_use]
    pub fn meta_revision(&self) -> u64 {
        self.output.meta_revision
    }

    /// Gestures on display.
    #[must_use]
    pub fn gestures(&self) -> &AgentGestures {
        &self.output.gestures
    }

    /// Grows when the gestures change.
    #[must_use]
    pub fn gestures_revision(&self) -> u64 {
        self.output.gestures_revision
    }

    /// Fill the frame, and the meta data if it changed. Both bear the time of this tick.
    pub(super) fn publish(&mut self, stamp_ns: i64) {
        self.fill_frame(stamp_ns);
        if std::mem::take(&mut self.output.meta_stale) {
            self.fill_meta(stamp_ns);
        }
    }

    fn fill_frame(&mut self, stamp_ns: i64) {
        let (pool, published) = (self.crowd.pool(), &self.people.published);
        let frame = &mut self.output.frame;
        frame.stamp_ns = stamp_ns;
        copy(&mut frame.agent_id, &pool.id, published);
        copy(&mut frame.x, &pool.x, published);
        copy(&mut frame.y, &pool.y, published);
        copy(&mut frame.theta, &pool.theta, published);
        copy(&mut frame.vx, &pool.vx, published);
        copy(&mut frame.vy, &pool.vy, published);
        copy(&mut frame.desired_velocity, &pool.desired_velocity, published);
        copy(&mut frame.radius, &pool.radius, published);
        copy(&mut frame.policy_idx, &pool.policy, published);
        let rows = || (0..pool.len()).filter(|row| published[*row]);
        fill(
            &mut frame.kind,
            rows().map(|row| match pool.kind[row] {
                Kind::Human => kind::HUMAN,
                Kind::Robot => kind::ROBOT,
            }),
        );
        fill(&mut frame.animation_state, rows().map(|row| animation_state(pool, row)));
        // Interactions are not built yet: nobody takes part in one.
        let count = frame.agent_id.len();
        copy(&mut frame.gait_phase, &pool.gait_phase, published);
        copy(&mut frame.gait_cadence, &pool.gait_cadence, published);
        fill(&mut frame.interaction_id, std::iter::repeat_n(-1, count));
        fill(&mut frame.interaction_type, std::iter::repeat_n(0, count));
    }

    fn fill_meta(&mut self, stamp_ns: i64) {
        let pool = self.crowd.pool();
        let meta = &mut self.output.meta;
        *meta = AgentMeta { stamp_ns, ..AgentMeta::default() };
        meta.policies = self.crowd.planner_names().map(str::to_owned).collect();
        for row in (0..pool.len()).filter(|row| self.people.published[*row]) {
            let person = &self.people.persons[row];
            let hand = match self.crowd.parameters(pool.id[row]).map(|parameters| parameters.handedness) {
                Some(Handedness::Left) => "l",
                Some(Handedness::Right) | None => "r",
            };
            meta.agent_id.push(pool.id[row]);
            meta.name.push(person.name.clone());
            meta.handedness.push(hand.to_owned());
            meta.agent_type.push(person.agent_type.clone());
        }
        self.output.meta_revision += 1;
    }
}

fn copy<T: Copy>(out: &mut Vec<T>, column: &[T], published: &[bool]) {
    if !published.contains(&false) {
        out.clear();
        out.extend_from_slice(column);
        return;
    }
    fill(out, column.iter().zip(published).filter(|(_, published)| **published).map(|(value, _)| *value));
}

fn fill<T>(out: &mut Vec<T>, values: impl Iterator<Item = T>) {
    out.clear();
    out.extend(values);
}

/// Who stands with somewhere to go is about to walk as fast as it wants to.
fn animation_state(pool: &Pool, row: usize) -> u8 {
    let speed = (pool.vx[row] * pool.vx[row] + pool.vy[row] * pool.vy[row]).sqrt();
    let has_goal = pool.has_goal[row] && pool.policy[row] != NO_POLICY;
    match if speed <= WALKS && has_goal { pool.desired_velocity[row] } else { speed } {
        speed if speed > RUNS => animation::RUNNING,
        speed if speed > WALKS => animation::WALKING,
        _ => animation::IDLE,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pool::Row;
    use crate::sampling::AgentParameters;

    #[test]
    fn who_stands_with_somewhere_to_go_is_shown_as_it_will_walk() {
        let mut pool = Pool::default();
        let row = pool.push(Row::new(1, [0.0; 3], &AgentParameters::unknown_type()));
        pool.policy[row] = 0;
        assert_eq!(animation_state(&pool, row), animation::IDLE);
        pool.has_goal[row] = true;
        assert_eq!(animation_state(&pool, row), animation::WALKING);
        pool.desired_velocity[row] = 1.6;
        assert_eq!(animation_state(&pool, row), animation::RUNNING);
        pool.vx[row] = 0.06;
        assert_eq!(animation_state(&pool, row), animation::WALKING);
        (pool.vx[row], pool.policy[row]) = (0.0, NO_POLICY);
        assert_eq!(animation_state(&pool, row), animation::IDLE, "who is moved from outside intends nothing");
    }
}
