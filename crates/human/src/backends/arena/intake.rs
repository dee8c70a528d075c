//! What the engine last said, and the roster that it makes at a time between two frames (human-layer specification, section 17.3).
//!
//! Frames are data from outside: one whose arrays do not fit is dropped whole, an agent with a number that is none, or one who is there
//! twice, is dropped alone. Composing a roster re-uses what is there and, with the same people, allocates nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::f64::consts::{PI, TAU};

use promenade_crowd::protocol::{AgentFrame, AgentGestures, AgentMeta};
use promenade_kernel::Time;

use super::offset::Offset;
use crate::message::{Gesture, Pedestrian, Pose};

/// Channel of a gesture that may say where to draw the body.
const BODY: &str = "body";

/// What the engine says about an agent besides where it is.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Meta {
    pub(super) name: String,
    pub(super) agent_type: String,
}

/// How people are called on the bus.
pub(super) trait Labels {
    /// Writes the name of an agent.
    fn write_name(&self, id: i32, name: &mut String);

    /// The type of an agent.
    fn agent_type<'a>(&'a self, id: i32, meta: Option<&'a Meta>) -> &'a str;
}

/// See the module.
#[derive(Debug, Default)]
pub(super) struct Intake {
    previous: AgentFrame,
    current: AgentFrame,
    /// Usable frames: 0, 1 or 2.
    frames: u8,
    /// Row in the previous frame of each row of the current one.
    before: Vec<Option<usize>>,
    meta: BTreeMap<i32, Meta>,
    gestures: BTreeMap<i32, Vec<Gesture>>,
    roster: Vec<Pedestrian>,
    used: usize,
    /// Names, types or gestures of the roster may be others.
    relabel: bool,
    /// Others are there than at the last look.
    others: bool,
    scratch: Vec<i32>,
    warned: BTreeSet<&'static str>,
}

impl Intake {
    /// Forgets everything: the people of the episode are gone.
    pub(super) fn clear(&mut self) {
        self.frames = 0;
        self.used = 0;
        self.meta.clear();
        self.gestures.clear();
        self.warned.clear();
        (self.relabel, self.others) = (true, true);
    }

    /// Whether there is a frame to show.
    pub(super) fn has_frame(&self) -> bool {
        self.frames > 0
    }

    /// The newest frame.
    pub(super) fn frame(&self) -> Option<&AgentFrame> {
        (self.frames > 0).then_some(&self.current)
    }

    /// Whether others are there than at the last call.
    pub(super) fn take_others(&mut self) -> bool {
        std::mem::take(&mut self.others)
    }

    /// What was said about an agent.
    pub(super) fn meta(&self, id: i32) -> Option<&Meta> {
        self.meta.get(&id)
    }

    /// Names may have changed.
    pub(super) fn relabel(&mut self) {
        self.relabel = true;
    }

    fn warn(&mut self, what: &'static str) {
        if self.warned.insert(what) {
            tracing::warn!("the engine sends {what} (told once)");
        }
    }

    /// Takes a frame in; the one before stays for interpolation.
    pub(super) fn on_frame(&mut self, frame: &AgentFrame) {
        let count = frame.agent_id.len();
        if [&frame.x, &frame.y, &frame.theta, &frame.vx, &frame.vy].iter().any(|array| array.len() != count) {
            return self.warn("frames whose arrays are not of one length; they are dropped");
        }
        std::mem::swap(&mut self.previous, &mut self.current);
        copy(frame, &mut self.current);
        self.frames = (self.frames + 1).min(2);
        let same = self.frames == 2 && self.previous.agent_id == self.current.agent_id;
        self.drop_bad_rows(same);
        let same = self.frames == 2 && self.previous.agent_id == self.current.agent_id;
        if same && self.before.len() == self.current.agent_id.len() {
            if self.before.iter().enumerate().any(|(row, before)| *before != Some(row)) {
                self.before.iter_mut().enumerate().for_each(|(row, before)| *before = Some(row));
            }
            return;
        }
        (self.relabel, self.others) = (true, true);
        let rows: BTreeMap<i32, usize> = match self.frames {
            2 => self.previous.agent_id.iter().enumerate().map(|(row, id)| (*id, row)).collect(),
            _ => BTreeMap::new(),
        };
        self.before.clear();
        self.before.extend(self.current.agent_id.iter().map(|id| rows.get(id).copied()));
    }

    /// `same`: the ids are those of the frame before, so that each is there once.
    fn drop_bad_rows(&mut self, same: bool) {
        let frame = &self.current;
        let is_finite = |row: usize| {
            [frame.x[row], frame.y[row], frame.theta[row], frame.vx[row], frame.vy[row]]
                .iter()
                .all(|value| value.is_finite())
        };
        let finite = (0..frame.agent_id.len()).all(is_finite);
        let once = same || {
            self.scratch.clear();
            self.scratch.extend_from_slice(&frame.agent_id);
            self.scratch.sort_unstable();
            self.scratch.windows(2).all(|pair| pair[0] != pair[1])
        };
        if finite && once {
            return;
        }
        let mut seen = BTreeSet::new();
        let kept: Vec<usize> = (0..frame.agent_id.len())
            .filter(|&row| is_finite(row) && seen.insert(frame.agent_id[row]))
            .collect();
        keep_rows(&mut self.current, &kept);
        if !finite {
            self.warn("agents whose numbers are not finite; they are left out");
        }
        if !once {
            self.warn("agents that are in one frame twice; the first counts");
        }
    }

    /// Takes names and types in; arrays that do not fit count as empty.
    pub(super) fn on_meta(&mut self, meta: &AgentMeta) {
        self.meta.clear();
        self.relabel = true;
        let ids = &meta.agent_id;
        let fits = |array: &[String], warn: &mut Self| {
            let fits = array.len() == ids.len();
            if !fits {
                warn.warn("names or types that are not as many as agents; they are ignored");
            }
            fits
        };
        let (named, typed) = (fits(&meta.name, self), fits(&meta.agent_type, self));
        if !typed {
            return;
        }
        for (row, id) in ids.iter().enumerate() {
            let name = if named { meta.name[row].clone() } else { String::new() };
            self.meta.insert(*id, Meta { name, agent_type: meta.agent_type[row].clone() });
        }
    }

    /// Takes gestures in; they replace all earlier ones.
    pub(super) fn on_gestures(&mut self, gestures: &AgentGestures, offset: Offset) {
        self.gestures.clear();
        self.relabel = true;
        if gestures.agent_id.len() != gestures.gestures.len() {
            return self.warn("gestures that are not as many as their owners; they are ignored");
        }
        for (owner, gesture) in gestures.agent_id.iter().zip(&gestures.gestures) {
            if gesture.at.iter().any(|value| !value.is_finite()) {
                self.warn("gestures whose target is not finite; they are left out");
                continue;
            }
            let [x, y, z] = gesture.at;
            let [x, y] = offset.point_to_map([x, y]);
            self.gestures.entry(*owner).or_default().push(Gesture {
                slot: gesture.slot.clone(),
                at: [x, y, z],
                clip: gesture.clip.clone(),
                hand: gesture.hand.clone(),
                render_pose_override: gesture.render_pose_override,
            });
        }
    }

    /// Makes the roster at `now`; answers the time that its poses are for.
    pub(super) fn compose(&mut self, now: Time, offset: Offset, labels: &dyn Labels) -> Time {
        let (from, to) = (self.previous.stamp_ns, self.current.stamp_ns);
        let span = to.saturating_sub(from);
        let blends = self.frames == 2 && span > 0;
        let at = if blends { now.nanos().clamp(from, to) } else { to };
        let alpha = if blends { at.saturating_sub(from) as f64 / span as f64 } else { 1.0 };
        self.used = self.current.agent_id.len();
        if self.roster.len() < self.used {
            self.roster.resize_with(self.used, Pedestrian::default);
            self.relabel = true;
        }
        let relabel = std::mem::take(&mut self.relabel);
        for row in 0..self.used {
            let before = self.before[row].filter(|_| blends);
            let person = &mut self.roster[row];
            place(person, &self.previous, &self.current, before, row, alpha, offset);
            if relabel {
                let id = self.current.agent_id[row];
                person.id = id.cast_unsigned();
                person.name.clear();
                labels.write_name(id, &mut person.name);
                person.agent_type.clear();
                person.agent_type.push_str(labels.agent_type(id, self.meta.get(&id)));
                match self.gestures.get(&id) {
                    Some(gestures) => person.gestures.clone_from(gestures),
                    None => person.gestures.clear(),
                }
            }
            let drawn = |gesture: &&Gesture| gesture.render_pose_override && gesture.slot == BODY;
            if let Some([x, y, _]) = person.gestures.iter().find(drawn).map(|gesture| gesture.at) {
                person.pose.position = [x, y, 0.0];
            }
        }
        Time::from_nanos(at)
    }

    /// The roster that was composed last.
    pub(super) fn roster(&self) -> &[Pedestrian] {
        &self.roster[..self.used]
    }
}

/// Motion of one person, `alpha` of the way from row `before` of the earlier frame to row `row` of the later one.
fn place(
    person: &mut Pedestrian,
    earlier: &AgentFrame,
    later: &AgentFrame,
    before: Option<usize>,
    row: usize,
    alpha: f64,
    offset: Offset,
) {
    let between = |from: &[f64], to: &[f64]| match before {
        Some(before) => from[before] + alpha * (to[row] - from[before]),
        None => to[row],
    };
    let x = between(&earlier.x, &later.x);
    let y = between(&earlier.y, &later.y);
    let heading = match before {
        Some(before) => earlier.theta[before] + alpha * shorter_arc(later.theta[row] - earlier.theta[before]),
        None => later.theta[row],
    };
    let [x, y] = offset.point_to_map([x, y]);
    person.pose = Pose::planar(x, y, heading);
    person.twist.linear = [between(&earlier.vx, &later.vx), between(&earlier.vy, &later.vy), 0.0];
    person.animation_state = later.animation_state.get(row).copied().unwrap_or(0);
    let phase = |frame: &AgentFrame, row: usize| frame.gait_phase.get(row).copied().unwrap_or(0.0);
    let (to, from) = (phase(later, row), before.map_or(0.0, |before| phase(earlier, before)));
    let carried = from != 0.0 && to != 0.0;
    person.gait_phase = finite(if carried { from + alpha * (to - from) } else { to });
    person.gait_cadence = finite(later.gait_cadence.get(row).copied().unwrap_or(0.0));
}

/// 0 stands for unknown.
fn finite(value: f64) -> f32 {
    let value = value as f32;
    if value.is_finite() { value } else { 0.0 }
}

/// The angle in [-pi, pi] that leads to the same heading.
fn shorter_arc(angle: f64) -> f64 {
    let turned = angle.rem_euclid(TAU);
    if turned > PI { turned - TAU } else { turned }
}

/// Copies a frame; arrays that may be absent and do not fit are.
fn copy(from: &AgentFrame, to: &mut AgentFrame) {
    let count = from.agent_id.len();
    to.stamp_ns = from.stamp_ns;
    to.agent_id.clone_from(&from.agent_id);
    for (from, to) in [
        (&from.x, &mut to.x),
        (&from.y, &mut to.y),
        (&from.theta, &mut to.theta),
        (&from.vx, &mut to.vx),
        (&from.vy, &mut to.vy),
        (&from.desired_velocity, &mut to.desired_velocity),
        (&from.gait_phase, &mut to.gait_phase),
        (&from.gait_cadence, &mut to.gait_cadence),
    ] {
        to.clear();
        if from.len() == count {
            to.extend_from_slice(from);
        }
    }
    to.animation_state.clear();
    if from.animation_state.len() == count {
        to.animation_state.extend_from_slice(&from.animation_state);
    }
}

/// Keeps these rows, in this order.
fn keep_rows(frame: &mut AgentFrame, rows: &[usize]) {
    fn keep<T: Copy>(array: &mut Vec<T>, rows: &[usize]) {
        if !array.is_empty() {
            *array = rows.iter().map(|&row| array[row]).collect();
        }
    }
    keep(&mut frame.agent_id, rows);
    for array in [
        &mut frame.x,
        &mut frame.y,
        &mut frame.theta,
        &mut frame.vx,
        &mut frame.vy,
        &mut frame.desired_velocity,
        &mut frame.gait_phase,
        &mut frame.gait_cadence,
    ] {
        keep(array, rows);
    }
    keep(&mut frame.animation_state, rows);
}
