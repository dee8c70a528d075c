//! Which agent goes by which name.
//!
//! An agent may have several names. A look-up takes the exact name, or the last part of one after a `/` when only one agent has it.

use std::collections::{BTreeMap, BTreeSet};

/// Names and the ids they stand for.
#[derive(Debug, Clone, Default)]
pub(crate) struct Names {
    ids: BTreeMap<String, i32>,
    /// By the part after the last `/`.
    tails: BTreeMap<String, BTreeSet<String>>,
    /// By id.
    names: BTreeMap<i32, BTreeSet<String>>,
}

impl Names {
    /// Let a name stand for an agent, whomever it stood for before. No name stands for nobody.
    pub(crate) fn bind(&mut self, name: &str, id: i32) {
        if name.is_empty() || self.ids.get(name) == Some(&id) {
            return;
        }
        self.unbind(name);
        self.ids.insert(name.to_owned(), id);
        self.tails.entry(tail(name).to_owned()).or_default().insert(name.to_owned());
        self.names.entry(id).or_default().insert(name.to_owned());
    }

    /// As [`Names::bind`], unless the name is taken.
    pub(crate) fn bind_if_free(&mut self, name: &str, id: i32) {
        if !self.ids.contains_key(name) {
            self.bind(name, id);
        }
    }

    fn unbind(&mut self, name: &str) {
        let Some(id) = self.ids.remove(name) else { return };
        drop_from(&mut self.names, &id, name);
        drop_from(&mut self.tails, &tail(name).to_owned(), name);
    }

    /// Forget an agent.
    pub(crate) fn forget(&mut self, id: i32) {
        for name in self.names.remove(&id).unwrap_or_default() {
            self.ids.remove(&name);
            drop_from(&mut self.tails, &tail(&name).to_owned(), &name);
        }
    }

    /// Forget everybody.
    pub(crate) fn clear(&mut self) {
        *self = Self::default();
    }

    /// Who goes by a name.
    pub(crate) fn find(&self, name: &str) -> Option<i32> {
        if let Some(id) = self.ids.get(name) {
            return Some(*id);
        }
        let mut ids = self.tails.get(name)?.iter().filter_map(|full| self.ids.get(full));
        let first = *ids.next()?;
        ids.all(|id| *id == first).then_some(first)
    }
}

fn tail(name: &str) -> &str {
    name.rsplit('/').next().unwrap_or(name)
}

fn drop_from<K: Ord>(sets: &mut BTreeMap<K, BTreeSet<String>>, key: &K, name: &str) {
    if let Some(set) = sets.get_mut(key) {
        set.remove(name);
        if set.is_empty() {
            sets.remove(key);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_found_whole_or_by_a_last_part_that_only_one_agent_has() {
        let mut names = Names::default();
        names.bind("env_0/anna", 1);
        names.bind("env_1/anna", 2);
        names.bind("env_0/bert", 3);
        names.bind("bert", 4);
        names.bind("env_0/carl", 5);
        names.bind("other/carl", 5);
        assert_eq!(names.find("env_1/anna"), Some(2));
        assert_eq!(names.find("anna"), None, "two agents have it");
        assert_eq!(names.find("bert"), Some(4), "the exact name comes first");
        assert_eq!(names.find("carl"), Some(5), "two names of one agent");
        names.forget(2);
        assert_eq!(names.find("anna"), Some(1));
        names.bind("env_0/anna", 7);
        assert_eq!(names.find("anna"), Some(7), "the newest has the name");
        names.forget(1);
        assert_eq!(names.find("anna"), Some(7));
        names.clear();
        assert_eq!(names.find("env_0/bert"), None);
    }
}
