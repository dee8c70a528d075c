//! What the simulator outside the process is believed to hold, and what its answers say about it.
//!
//! Plain bookkeeping: it sends nothing and waits for nothing. Names here are sim paths.

use std::collections::{BTreeMap, BTreeSet};

use promenade_human::message::Pose;

/// Answer codes of the four services (human-layer specification, section 2.1). Two meanings share the number 1.
pub(super) mod code {
    /// Done.
    pub(in super::super) const SUCCESS: u8 = 0;
    /// Move, update, delete: nobody of that name.
    pub(in super::super) const NOT_FOUND: u8 = 1;
    /// Spawn: the model cannot be read.
    pub(in super::super) const FAILED_PARSE: u8 = 1;
    /// Spawn: the simulator could not create the person, as when one of that name exists.
    pub(in super::super) const FAILED_CREATE: u8 = 2;
}

/// Somebody in the simulator.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Held {
    /// The pose that the simulator was last told.
    pub(super) pose: Pose,
    /// What was spawned.
    pub(super) model_uri: String,
}

/// See the module.
#[derive(Debug, Default)]
pub(super) struct Roster {
    /// Whom the simulator holds.
    held: BTreeMap<String, Held>,
    /// Authored name to sim path: some backends speak of people by the former.
    paths: BTreeMap<String, String>,
    /// Whom the simulator may or may not hold: a call about them got no answer, or the simulator was away.
    unsure: BTreeSet<String>,
    /// Whose last update failed.
    failed: BTreeSet<String>,
}

impl Roster {
    /// The sim path of a name in either spelling.
    pub(super) fn path<'a>(&'a self, name: &'a str) -> &'a str {
        self.paths.get(name).map_or(name, String::as_str)
    }

    /// The simulator created somebody.
    pub(super) fn on_spawned(&mut self, name: &str, path: &str, held: Held) {
        if name != path {
            self.paths.insert(name.to_owned(), path.to_owned());
        }
        self.held.insert(path.to_owned(), held);
        self.unsure.remove(path);
        self.failed.remove(path);
    }

    /// Somebody is no longer there.
    pub(super) fn on_deleted(&mut self, name: &str, path: &str) {
        self.paths.remove(name);
        self.held.remove(path);
        self.unsure.remove(path);
        self.failed.remove(path);
    }

    /// Nobody knows whether the simulator holds them.
    pub(super) fn on_unsure<'n>(&mut self, paths: impl IntoIterator<Item = &'n str>) {
        for path in paths {
            self.held.remove(path);
            self.unsure.insert(path.to_owned());
        }
    }

    /// The simulator is away or came back without its people.
    pub(super) fn on_lost(&mut self) {
        self.unsure.extend(std::mem::take(&mut self.held).into_keys());
        self.failed.clear();
    }

    /// Somebody, by either spelling, is sent to a place.
    pub(super) fn on_sent(&mut self, name: &str, pose: Pose) {
        let path = self.paths.get(name).map_or(name, String::as_str);
        if let Some(held) = self.held.get_mut(path) {
            held.pose = pose;
        }
    }

    /// Whether the simulator holds this person with this model.
    pub(super) fn holds_as(&self, path: &str, model_uri: &str) -> bool {
        self.held.get(path).is_some_and(|held| held.model_uri == model_uri)
    }

    pub(super) fn holds(&self, path: &str) -> bool {
        self.held.contains_key(path)
    }

    /// Whether one of that name may be in the way of a new one.
    pub(super) fn may_hold(&self, path: &str) -> bool {
        self.unsure.contains(path) || self.held.contains_key(path)
    }

    /// Somebody whom the simulator holds, and where.
    pub(super) fn witness(&self) -> Option<(&str, Pose)> {
        self.held.first_key_value().map(|(path, held)| (path.as_str(), held.pose))
    }

    /// Whether the last update of this person succeeded; true before the first answer.
    pub(super) fn updates(&self, path: &str) -> bool {
        !self.failed.contains(path)
    }

    /// Whether an update failed for anybody.
    pub(super) fn has_failures(&self) -> bool {
        !self.failed.is_empty()
    }

    /// Notes the result of one update; true when it newly failed.
    pub(super) fn on_updated(&mut self, path: &str, succeeded: bool) -> bool {
        if succeeded {
            self.failed.remove(path);
            return false;
        }
        !self.failed.contains(path) && self.failed.insert(path.to_owned())
    }
}

/// Counts, over one answer, the people who should be there and are not: when that is all of them, the simulator lost
/// everything it held.
#[derive(Debug, Default)]
pub(super) struct Census {
    held: usize,
    missing: usize,
}

impl Census {
    /// One item of an answer; `None` = the answer was too short.
    pub(super) fn count(&mut self, is_held: bool, code: Option<u8>) {
        if is_held {
            self.held += 1;
            self.missing += usize::from(code == Some(code::NOT_FOUND));
        }
    }

    pub(super) fn all_are_missing(&self) -> bool {
        self.held > 0 && self.missing == self.held
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_person_is_found_under_both_names_until_deleted() {
        let mut roster = Roster::default();
        roster.on_spawned("anna", "env_0/anna", Held::default());
        assert_eq!((roster.path("anna"), roster.path("env_0/anna")), ("env_0/anna", "env_0/anna"));
        roster.on_deleted("anna", "env_0/anna");
        assert_eq!((roster.path("anna"), roster.witness()), ("anna", None));
    }

    #[test]
    fn whom_a_vanished_simulator_held_becomes_unsure() {
        let mut roster = Roster::default();
        roster.on_spawned("anna", "env_0/anna", Held::default());
        roster.on_updated("env_0/anna", false);
        roster.on_lost();
        assert!(roster.may_hold("env_0/anna") && !roster.holds("env_0/anna"));
        assert!(roster.updates("env_0/anna"), "optimistic again");
        roster.on_spawned("anna", "env_0/anna", Held::default());
        assert!(roster.holds("env_0/anna"));
    }

    #[test]
    fn only_a_whole_answer_of_missing_people_means_that_everything_is_lost() {
        let census = |items: &[(bool, Option<u8>)]| {
            let mut census = Census::default();
            items.iter().for_each(|&(held, code)| census.count(held, code));
            census.all_are_missing()
        };
        assert!(census(&[(true, Some(1)), (true, Some(1)), (false, Some(0))]));
        assert!(!census(&[(true, Some(1)), (true, Some(0))]));
        assert!(!census(&[(true, Some(1)), (true, None)]), "a short answer says nothing");
        assert!(!census(&[(false, Some(1))]), "nobody of ours");
        assert!(!census(&[]));
    }
}
