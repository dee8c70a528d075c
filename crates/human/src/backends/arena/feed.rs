//! What the engine is told of those whom it does not move: robots and possessed people (human-layer specification, section 17.7).
//!
//! 20 messages per second of simulated time, and none when there is nobody to tell of.

use std::fmt::Write as _;
use std::time::Duration;

use promenade_crowd::protocol::{AgentState, AgentStates, kind};
use promenade_kernel::{Time, stable_int};

use super::offset::Offset;
use super::scene::Scene;
use crate::layer::{LayerCx, ROBOT_RADIUS};
use crate::message::Pose;

/// Time between two messages.
const PERIOD: Duration = Duration::from_millis(50);

/// Radius of a possessed person, metres.
const POSSESSED_RADIUS: f64 = 0.35;

/// The id of somebody whom the engine does not know: the lower 31 bits of the name's number.
pub(super) fn outside_id(name: &str) -> i32 {
    (stable_int(name) & 0x7FFF_FFFF) as i32
}

/// See the module.
#[derive(Debug, Default)]
pub(super) struct Feed {
    message: AgentStates,
    due: Option<Time>,
    /// People who were put somewhere and let go: told of once more, at rest, so that the engine goes on from there.
    let_go: Vec<(String, Pose)>,
}

impl Feed {
    /// Nobody is there any more.
    pub(super) fn clear(&mut self) {
        self.let_go.clear();
    }

    /// Somebody stands at a place of `map` that the engine does not know of.
    pub(super) fn let_go(&mut self, bus_name: &str, at: Pose) {
        self.let_go.retain(|(known, _)| known != bus_name);
        self.let_go.push((bus_name.to_owned(), at));
    }

    /// Whether a message is due at `now`.
    pub(super) fn is_due(&mut self, now: Time) -> bool {
        // One that is further away than a period is from before the clock went back.
        let is_due = self.due.is_none_or(|due| now >= due || due.saturating_since(now) > PERIOD);
        if is_due {
            let on_time = self.due.filter(|due| now.saturating_since(*due) < PERIOD && now >= *due);
            self.due = Some(on_time.unwrap_or(now) + PERIOD);
        }
        is_due
    }

    /// The message of now; `None` when there is nobody to tell of.
    pub(super) fn compose(
        &mut self,
        cx: &mut LayerCx,
        scene: &Scene,
        offset: Offset,
    ) -> Option<&AgentStates> {
        let Feed { message, let_go, .. } = self;
        message.stamp_ns = cx.now().nanos();
        let mut entries = Entries { agents: &mut message.agents, used: 0 };
        let robots = cx.visible_robots();
        for tracked in robots {
            let entry = entries.next(&tracked.robot.name);
            entry.agent_id = outside_id(&tracked.robot.name);
            entry.kind = kind::ROBOT;
            entry.pose = offset.pose_to_engine(&tracked.pose);
            entry.velocity = tracked.velocity;
            entry.radius = ROBOT_RADIUS;
        }
        for (index, tracked) in robots.iter().enumerate() {
            let entry = entries.next("");
            // Writing into a text cannot fail.
            write!(entry.name, "robot_{index}").unwrap_or_default();
            if robots.iter().any(|other| other.robot.name == entry.name) {
                entries.used -= 1;
                continue;
            }
            entry.agent_id = outside_id(&tracked.robot.name);
            entry.kind = kind::ROBOT;
            entry.pose = offset.pose_to_engine(&tracked.pose);
            entry.velocity = tracked.velocity;
            entry.radius = ROBOT_RADIUS;
        }
        let mut person = |name: &str, pose: &Pose, velocity: [f64; 2]| {
            let entry = entries.next(name);
            entry.agent_id = scene.id_of(name).unwrap_or_else(|| outside_id(name));
            entry.kind = kind::HUMAN;
            entry.pose = offset.pose_to_engine(pose);
            entry.velocity = velocity;
            entry.radius = POSSESSED_RADIUS;
        };
        for (name, state) in cx.possessed_pedestrians() {
            let [vx, vy, _] = state.twist.linear;
            person(name, &state.pose, [vx, vy]);
        }
        for (name, at) in let_go.drain(..) {
            // Whoever is possessed again is where the stream says.
            if cx.possessed_pedestrians().all(|(possessed, _)| possessed != name) {
                person(&name, &at, [0.0; 2]);
            }
        }
        let used = entries.used;
        message.agents.truncate(used);
        (used > 0).then_some(&self.message)
    }
}

/// The entries of the message, re-used.
struct Entries<'a> {
    agents: &'a mut Vec<AgentState>,
    used: usize,
}

impl Entries<'_> {
    fn next(&mut self, name: &str) -> &mut AgentState {
        if self.agents.len() == self.used {
            self.agents.push(AgentState::default());
        }
        let entry = &mut self.agents[self.used];
        self.used += 1;
        entry.name.clear();
        entry.name.push_str(name);
        entry
    }
}
