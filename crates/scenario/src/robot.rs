//! Entries of `robots:`: where a robot starts and the phases of its task (world-file format, section 3).

use crate::decode::{Decoder, Fields, Unknown, scalar_text};
use crate::pose::{Place, Pose};
use crate::problem::Position;
use crate::tree::{Node, Value};

/// One robot.
#[derive(Debug, Clone, PartialEq)]
pub struct RobotEntry {
    /// Declared name.
    pub name: Option<String>,
    /// Declared model.
    pub model: Option<String>,
    /// Where it starts.
    pub start: Place,
    /// Level it starts on, when declared.
    pub start_floor: Option<String>,
    /// Level of its goal, when declared.
    pub goal_floor: Option<String>,
    /// Its task, one phase after the other.
    pub phases: Vec<Phase>,
    /// The whole entry as written.
    pub extra: Node,
    /// Where it stands in its file.
    pub at: Position,
}

/// One phase of a task.
#[derive(Debug, Clone, PartialEq)]
pub struct Phase {
    /// What to do.
    pub action: PhaseAction,
    /// Condition that ends the phase.
    pub until: Option<Until>,
    /// Seconds to stay once the phase is met.
    pub hold_time: Option<f64>,
    /// Further conditions, as written.
    pub conditions: Vec<Node>,
    /// A sentence about the phase.
    pub text: Option<String>,
    /// What a failure does, when declared.
    pub on_failure: Option<OnFailure>,
    /// Where it stands in its file.
    pub at: Position,
}

/// What a phase does.
#[derive(Debug, Clone, PartialEq)]
pub enum PhaseAction {
    /// Drive there.
    Goto(GotoTarget),
    /// Make a gesture; kept as written, without effect yet.
    Gesture(Node),
    /// Reach for something; kept as written, without effect yet.
    Reach(Node),
    /// Stay until `until` or for `hold_time`.
    Hold,
}

/// Where a robot goes.
#[derive(Debug, Clone, PartialEq)]
pub enum GotoTarget {
    /// To a pose.
    Pose(Pose),
    /// To a zone (met by being inside), a door or a person of this name.
    Named(String),
}

/// The condition `<entity>.<field> == <value>`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Until {
    /// Whose field.
    pub entity: String,
    /// Which field.
    pub field: String,
    /// The value it is compared with, as text.
    pub value: String,
}

impl Until {
    /// Parse `<entity>.<field> == <value>`; spaces are free and the value may be quoted.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let (left, value) = text.split_once("==")?;
        // Entity names may hold dots, field names do not.
        let (entity, field) = left.trim().rsplit_once('.')?;
        let value = value.trim();
        let value =
            value.strip_prefix(['\'', '"']).and_then(|v| v.strip_suffix(['\'', '"'])).unwrap_or(value);
        let parts = [entity.trim(), field.trim(), value];
        if parts.iter().any(|p| p.is_empty()) {
            return None;
        }
        let [entity, field, value] = parts.map(str::to_owned);
        Some(Self { entity, field, value })
    }
}

/// What a failed phase does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnFailure {
    /// Go on with the next phase.
    Continue,
    /// End the robot's task.
    StopTask,
    /// End the episode.
    AbortEpisode,
}

const PHASE_KEYS: &[&str] =
    &["goto", "gesture", "reach", "hold", "until", "hold_time", "conditions", "text", "on_failure"];

impl Decoder {
    pub(crate) fn robot_entry(&mut self, node: &Node, path: &str) -> Option<RobotEntry> {
        let mut fields = self.fields(
            node,
            path,
            "a robot",
            &["name", "model", "start", "start_floor", "goal_floor", "goal", "phases"],
        )?;
        let name = fields.read(self, "name", Self::name);
        let model = fields.read(self, "model", Self::name);
        let start = fields
            .require(self, "start", "`[x, y, yaw]` or a zone name")
            .map(|n| self.place(n, &fields.path_of("start")));
        let start_floor = fields.read(self, "start_floor", Self::identifier);
        let goal_floor = fields.read(self, "goal_floor", Self::identifier);
        let mut phases = fields
            .read(self, "phases", |d, n, p| Some(d.list_of(n, p, "phases", Self::phase)))
            .unwrap_or_default();
        if let Some(goal) = fields.get("goal") {
            self.old_goal(&fields, goal, &mut phases);
        }
        fields.finish(self, Unknown::Open, &[]);
        Some(RobotEntry {
            name,
            model,
            start: start??,
            start_floor,
            goal_floor,
            phases,
            extra: node.clone(),
            at: node.at,
        })
    }

    /// `goal:` keeps its meaning as one goto, so it is a hint; beside `phases` it has none.
    fn old_goal(&mut self, fields: &Fields<'_>, goal: &Node, phases: &mut Vec<Phase>) {
        let at = fields.key_at("goal");
        if fields.has("phases") {
            self.warning(at, fields.path(), "`goal` has no effect beside `phases`, which say where to go");
            return;
        }
        self.hint_try(
            at,
            fields.path(),
            "`goal` is deprecated, it is read as one phase",
            Some("phases: [{goto: ...}]".to_owned()),
        );
        if let Some(target) = self.goto_target(goal, &fields.path_of("goal")) {
            phases.push(Phase {
                action: PhaseAction::Goto(target),
                until: None,
                hold_time: None,
                conditions: Vec::new(),
                text: None,
                on_failure: None,
                at,
            });
        }
    }

    fn goto_target(&mut self, node: &Node, path: &str) -> Option<GotoTarget> {
        match node.value {
            Value::Text(_) => self.name(node, path).map(GotoTarget::Named),
            Value::List(_) | Value::Map(_) => self.pose(node, path).map(GotoTarget::Pose),
            _ => {
                self.mismatch(node, path, "a pose, or the name of a zone, door or person");
                None
            }
        }
    }

    fn phase(&mut self, node: &Node, path: &str) -> Option<Phase> {
        let fields = self.fields(node, path, "a phase", PHASE_KEYS)?;
        let until = fields.read(self, "until", Self::until);
        let hold_time = fields.read(self, "hold_time", Self::non_negative);
        let conditions = fields
            .read(self, "conditions", |d, n, p| Some(d.list(n, p, "conditions").to_vec()))
            .unwrap_or_default();
        let text = fields.read(self, "text", Self::text);
        let on_failure = fields.read(self, "on_failure", |d, n, p| {
            d.choice(
                n,
                p,
                "reaction to failure",
                &[
                    ("continue", OnFailure::Continue),
                    ("stop_task", OnFailure::StopTask),
                    ("abort_episode", OnFailure::AbortEpisode),
                ],
            )
        });
        let action = self.phase_action(&fields);
        fields.finish(self, Unknown::Closed, &[]);
        Some(Phase { action: action?, until, hold_time, conditions, text, on_failure, at: node.at })
    }

    fn phase_action(&mut self, fields: &Fields<'_>) -> Option<PhaseAction> {
        let present: Vec<&str> =
            ["goto", "gesture", "reach", "hold"].into_iter().filter(|key| fields.has(key)).collect();
        match present[..] {
            ["goto"] => match fields.get("goto") {
                Some(node) => self.goto_target(node, &fields.path_of("goto")).map(PhaseAction::Goto),
                None => {
                    self.error(
                        fields.key_at("goto"),
                        fields.path(),
                        "`goto` needs a pose, or the name of a zone, door or person",
                    );
                    None
                }
            },
            [key @ ("gesture" | "reach")] => {
                self.hint(
                    fields.key_at(key),
                    fields.path(),
                    format!("`{key}` is kept and has no effect yet"),
                );
                let node = fields.get(key).cloned().unwrap_or_else(Node::empty_map);
                Some(if key == "gesture" { PhaseAction::Gesture(node) } else { PhaseAction::Reach(node) })
            }
            ["hold"] => Some(PhaseAction::Hold),
            [] if fields.has("until") || fields.has("hold_time") => Some(PhaseAction::Hold),
            [] => {
                self.error(
                    fields.at,
                    fields.path(),
                    "a phase needs one of `goto`, `gesture`, `reach`, `until` or `hold_time`",
                );
                None
            }
            _ => {
                self.error(
                    fields.at,
                    fields.path(),
                    format!("a phase does one thing, found `{}`", present.join("` and `")),
                );
                None
            }
        }
    }

    fn until(&mut self, node: &Node, path: &str) -> Option<Until> {
        let until = scalar_text(node).and_then(|text| Until::parse(&text));
        if until.is_none() {
            self.mismatch(node, path, "a condition `<entity>.<field> == <value>`");
        }
        until
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_condition_has_three_parts() {
        let until = Until::parse("door.main.state == \"open\"");
        assert_eq!(
            until.map(|u| (u.entity, u.field, u.value)),
            Some(("door.main".into(), "state".into(), "open".into()))
        );
        for bad in ["door.state", "door == open", ".state == open", "door.state =="] {
            assert_eq!(Until::parse(bad), None, "{bad}");
        }
    }
}
