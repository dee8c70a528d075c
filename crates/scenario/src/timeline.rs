//! Entries of `timeline:`: what changes in the world, and when (world-file format, section 3).

use crate::decode::{Decoder, Fields, Unknown, scalar_text};
use crate::problem::Position;
use crate::tree::Node;

/// Something that happens.
#[derive(Debug, Clone, PartialEq)]
pub struct TimelineEntry {
    /// When.
    pub trigger: Trigger,
    /// What is set, in order.
    pub set: Vec<SetAction>,
    /// Where it stands in its file.
    pub at: Position,
}

/// When an entry happens.
#[derive(Debug, Clone, PartialEq)]
pub enum Trigger {
    /// Once, so many seconds into the episode.
    At(f64),
    /// Every so many seconds.
    Every {
        /// Seconds between two times, greater than 0.
        period: f64,
        /// Seconds to the first time.
        offset: f64,
        /// Seconds after which it ends, if it does.
        until: Option<f64>,
    },
    /// Each time a condition becomes true.
    When {
        /// Whose field.
        entity: String,
        /// Which field.
        field: String,
        /// The value it is compared with, as text.
        is: String,
    },
}

/// One value to set.
#[derive(Debug, Clone, PartialEq)]
pub struct SetAction {
    /// Whose field: a schedule, a door, a signal, an agent.
    pub entity: String,
    /// Which field.
    pub field: String,
    /// The value, as text: `true` and `'true'` are the same here.
    pub value: String,
    /// Where it stands in its file.
    pub at: Position,
}

impl Decoder {
    pub(crate) fn timeline_entry(&mut self, node: &Node, path: &str) -> Option<TimelineEntry> {
        let mut fields =
            self.fields(node, path, "a timeline entry", &["at", "every", "when", "offset", "until", "set"])?;
        let trigger = self.trigger(&fields);
        let set = fields
            .require(self, "set", "a list of `{entity, field, value}`")
            .map(|n| self.list_of(n, &fields.path_of("set"), "`{entity, field, value}`", Self::set_action));
        fields.finish(self, Unknown::Closed, &[]);
        Some(TimelineEntry { trigger: trigger?, set: set?, at: node.at })
    }

    fn trigger(&mut self, fields: &Fields<'_>) -> Option<Trigger> {
        let present: Vec<&str> = ["at", "every", "when"].into_iter().filter(|key| fields.has(key)).collect();
        let [key] = present[..] else {
            let found = match present.len() {
                0 => "none of them".to_owned(),
                _ => format!("`{}`", present.join("` and `")),
            };
            self.error(
                fields.at,
                fields.path(),
                format!("expected exactly one of `at`, `every` and `when`, found {found}"),
            );
            return None;
        };
        if key != "every" {
            for other in ["offset", "until"].into_iter().filter(|k| fields.has(k)) {
                self.error(
                    fields.key_at(other),
                    fields.path(),
                    format!("`{other}` belongs to `every`, found beside `{key}`"),
                );
            }
        }
        let Some(node) = fields.get(key) else {
            self.error(fields.key_at(key), fields.path(), format!("`{key}` has no value"));
            return None;
        };
        let path = fields.path_of(key);
        match key {
            "at" => self.non_negative(node, &path).map(Trigger::At),
            "every" => {
                let period = self.positive(node, &path);
                let offset = fields.read(self, "offset", Self::non_negative);
                let until = fields.read(self, "until", Self::non_negative);
                Some(Trigger::Every { period: period?, offset: offset.unwrap_or(0.0), until })
            }
            _ => self.when(node, &path),
        }
    }

    fn when(&mut self, node: &Node, path: &str) -> Option<Trigger> {
        let mut fields = self.fields(node, path, "a condition", &["entity", "field", "is"])?;
        let (entity, field) = self.entity_field(&mut fields);
        let is = fields.require(self, "is", "the value to wait for");
        fields.finish(self, Unknown::Closed, &[]);
        let is = is.map(|n| self.scalar(n, &fields.path_of("is")));
        Some(Trigger::When { entity: entity?, field: field?, is: is?? })
    }

    fn set_action(&mut self, node: &Node, path: &str) -> Option<SetAction> {
        let mut fields = self.fields(node, path, "an action", &["entity", "field", "value"])?;
        let (entity, field) = self.entity_field(&mut fields);
        let value = fields.require(self, "value", "the value to set");
        fields.finish(self, Unknown::Closed, &[]);
        let value = value.map(|n| self.scalar(n, &fields.path_of("value")));
        Some(SetAction { entity: entity?, field: field?, value: value??, at: node.at })
    }

    fn entity_field(&mut self, fields: &mut Fields<'_>) -> (Option<String>, Option<String>) {
        let entity = fields.require(self, "entity", "the name of an entity");
        let field = fields.require(self, "field", "the name of a field");
        (
            entity.and_then(|n| self.name(n, &fields.path_of("entity"))),
            field.and_then(|n| self.name(n, &fields.path_of("field"))),
        )
    }

    fn scalar(&mut self, node: &Node, path: &str) -> Option<String> {
        let text = scalar_text(node);
        if text.is_none() {
            self.mismatch(node, path, "text, a number, true or false");
        }
        text
    }
}
