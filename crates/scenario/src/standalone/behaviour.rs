//! What the steps, actions and sequences of an agent type may say (crowd-engine specification, section 11.4).

use super::read::Known;
use crate::decode::{Decoder, Unknown};
use crate::tree::{Node, join};

/// What an interaction is about.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Handle {
    /// Whoever else is there.
    Partner,
    Object,
    Agent,
    /// A service by its tag.
    Tag,
}

const KINDS: [(&str, Handle); 12] = [
    ("TALK_TO", Handle::Partner),
    ("GROUP_CONVERSATION", Handle::Partner),
    ("SIT_ON", Handle::Object),
    ("LIE_ON", Handle::Object),
    ("USE", Handle::Object),
    ("QUEUE_USE", Handle::Object),
    ("WAVE_AT", Handle::Partner),
    ("BLOCK", Handle::Agent),
    ("SERVICE", Handle::Tag),
    ("HUG", Handle::Partner),
    ("SHAKE_HAND", Handle::Partner),
    ("GROUP_WALK", Handle::Partner),
];

const STEP_KEYS: &[&str] = &[
    "kind",
    "interaction",
    "target",
    "target_pose",
    "duration",
    "patience",
    "satisfies",
    "offer",
    "queueable",
    "min_participants",
    "max_participants",
    "formation_spec",
    "cancel",
    "wait_for_outcome",
    "autonomous",
    "allowed_actions",
    "blocked_actions",
    "until",
    "until_need",
    "interaction_radius",
    "attention",
    "on_failure",
    "interruptible",
];
const ACTION_KEYS: &[&str] =
    &["when", "interaction", "target", "duration", "patience", "satisfies", "on_failure"];
const SEQUENCE_KEYS: &[&str] = &["steps", "then", "on_failure", "transitions", "attention", "interruptible"];
/// Keys of old files, and what says it now.
const REMOVED: [(&str, &str); 6] = [
    ("accept", "the kind of the interaction decides who joins"),
    ("FOLLOW", "follow somebody by SERVICE with a `formation_spec`"),
    ("target_object_id", "use `target`"),
    ("target_object_type", "use `target`"),
    ("target_agent", "use `target`"),
    ("service_tag", "use `target`"),
];
/// Keys that only who offers a service has.
const PROVIDER: [&str; 4] = ["queueable", "min_participants", "max_participants", "formation_spec"];

impl Decoder {
    pub(super) fn interaction_kind(&mut self, node: &Node, path: &str) -> Option<&'static str> {
        let kinds = KINDS.map(|(name, _)| (name, name));
        self.choice(node, path, "interaction", &kinds)
    }

    /// Actions and sequences of a type.
    pub(super) fn behaviour(&mut self, document: &Node, path: &str, known: &Known) {
        let actions = document.get("actions");
        if let Some(actions) = actions {
            self.each(actions, &join(path, "actions"), |d, node, path| d.action(node, path, known));
        }
        let Some(sequences) = document.get("sequences") else { return };
        let names: Vec<&str> =
            sequences.entries().unwrap_or_default().iter().map(|e| e.key.as_str()).collect();
        let path = join(path, "sequences");
        self.each(sequences, &path, |d, node, path| d.sequence(node, path, &names, known));
    }

    fn each(&mut self, node: &Node, path: &str, mut read: impl FnMut(&mut Self, &Node, &str)) {
        match node.entries() {
            Some(entries) => {
                entries.iter().for_each(|entry| read(self, &entry.value, &join(path, &entry.key)));
            }
            None => self.mismatch(node, path, "a map of names"),
        }
    }

    fn sequence(&mut self, node: &Node, path: &str, names: &[&str], known: &Known) {
        let Some(fields) = self.fields(node, path, "a sequence", SEQUENCE_KEYS) else { return };
        fields.finish(self, Unknown::Closed, &[]);
        if let Some(steps) = fields.get("steps") {
            self.each(steps, &fields.path_of("steps"), |d, node, path| d.behaviour_step(node, path, known));
        }
        let target = |d: &mut Self, node: &Node, path: &str| {
            let name = d.name(node, path)?;
            if !names.contains(&name.as_str()) {
                let meant = d.nearest(&name, names.iter().copied());
                d.error_try(node.at, path, format!("no sequence is named {name:?}"), meant);
            }
            Some(())
        };
        fields.read(self, "then", target);
        fields.read(self, "on_failure", target);
        let transitions = fields.get("transitions");
        let path = fields.path_of("transitions");
        if let Some(node) = transitions.filter(|n| n.as_str().is_some()) {
            self.error(node.at, &path, "expected a list of `{when, goto}`; a text is no transition any more");
        } else if let Some(node) = transitions {
            self.list_of(node, &path, "`{when, goto}`", |d, node, path| {
                let mut fields = d.fields(node, path, "a transition `{when, goto}`", &["when", "goto"])?;
                let goto = fields.require(d, "goto", "the name of a sequence");
                fields.finish(d, Unknown::Closed, &[]);
                target(d, goto?, &fields.path_of("goto"))
            });
        }
    }

    fn behaviour_step(&mut self, node: &Node, path: &str, known: &Known) {
        const STEPS: [(&str, &str); 3] =
            [("go_to", "go_to"), ("attention", "attention"), ("object_interact", "object_interact")];
        let Some(fields) = self.fields(node, path, "a step", STEP_KEYS) else { return };
        for entry in fields.entries() {
            let key = entry.key.as_str();
            match REMOVED.iter().find(|(old, _)| *old == key) {
                Some((_, now)) => self.error(entry.at, path, format!("`{key}` is gone; {now}")),
                None if !STEP_KEYS.contains(&key) => {
                    let meant = self.nearest(key, STEP_KEYS.iter().copied());
                    self.error_try(entry.at, path, format!("unknown key `{key}` of a step"), meant);
                }
                None => {}
            }
        }
        let kind = fields.read(self, "kind", |d, n, p| d.choice(n, p, "kind of step", &STEPS));
        let is_true = |key: &str| fields.get(key).and_then(Node::as_bool) == Some(true);
        if kind == Some("go_to") && fields.has("target") == fields.has("target_pose") {
            self.error(node.at, path, "a go_to step has exactly one of `target` and `target_pose`");
        }
        if is_true("cancel") && fields.has("interaction") {
            self.error(
                fields.key_at("cancel"),
                path,
                "`cancel` ends an interaction, so there is none to begin",
            );
        }
        if is_true("autonomous") && fields.has("attention") {
            self.error(fields.key_at("attention"), path, "an autonomous step has no attention of its own");
        }
        let offers = is_true("offer");
        for key in PROVIDER.iter().filter(|key| fields.has(key) && !offers) {
            self.error(fields.key_at(key), path, format!("`{key}` is for who has `offer: true`"));
        }
        fields.read(self, "target_pose", Self::lone_pose);
        match (fields.get("interaction"), kind) {
            (Some(interaction), _) => {
                let name = self.interaction_kind(interaction, &fields.path_of("interaction"));
                let handle = handle_of(name);
                if offers && name.is_some() && handle != Some(Handle::Tag) {
                    self.error(fields.key_at("offer"), path, "only a SERVICE can be offered");
                }
                if handle == Some(Handle::Agent) && is_true("autonomous") {
                    self.error(fields.key_at("autonomous"), path, "BLOCK cannot be autonomous");
                }
                self.target_of(handle, offers, &fields.path_of("target"), fields.get("target"), node, known);
            }
            (None, Some("go_to")) => {
                fields.read(self, "target", |d, n, p| d.known_object(n, p, known, true));
            }
            _ => {}
        }
    }

    fn action(&mut self, node: &Node, path: &str, known: &Known) {
        let Some(fields) = self.fields(node, path, "an action", ACTION_KEYS) else { return };
        if fields.has("attention") {
            self.error(fields.key_at("attention"), path, "an action has no attention of its own");
        }
        fields.finish(self, Unknown::Closed, &["attention"]);
        let Some(interaction) = fields.get("interaction") else { return };
        let name = self.interaction_kind(interaction, &fields.path_of("interaction"));
        let handle = handle_of(name);
        if handle == Some(Handle::Agent) {
            self.error(interaction.at, path, "BLOCK cannot be autonomous");
            return;
        }
        // An action may also walk somewhere before it joins others.
        if handle != Some(Handle::Partner) {
            self.target_of(handle, false, &fields.path_of("target"), fields.get("target"), node, known);
        }
    }

    fn target_of(
        &mut self,
        handle: Option<Handle>,
        offers: bool,
        path: &str,
        target: Option<&Node>,
        step: &Node,
        known: &Known,
    ) {
        match (handle, target) {
            (Some(Handle::Partner), Some(target)) => {
                self.error(
                    target.at,
                    path,
                    "with people there is no `target`; whoever is near and willing counts",
                );
            }
            (Some(Handle::Object), Some(target)) => {
                self.known_object(target, path, known, true);
            }
            (Some(Handle::Object), None) => self.error(step.at, path, "the object is missing"),
            (Some(Handle::Agent), Some(target)) => match target.as_i64() {
                Some(id) if known.agents.contains(&id) => {}
                Some(id) => self.error(target.at, path, format!("no agent of the file has the id {id}")),
                None => self.mismatch(target, path, "the id of an agent"),
            },
            (Some(Handle::Agent), None) => self.error(step.at, path, "the id of an agent is missing"),
            (Some(Handle::Tag), Some(target)) => {
                self.name(target, path);
            }
            (Some(Handle::Tag), None) if offers => {
                self.error(step.at, path, "the name of the service is missing")
            }
            _ => {}
        }
    }
}

fn handle_of(name: Option<&str>) -> Option<Handle> {
    KINDS.iter().find(|(kind, _)| Some(*kind) == name).map(|(_, handle)| *handle)
}
