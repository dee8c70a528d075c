//! The register of systems: their names, their order, what to do when one fails, and their clean-ups.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use crate::error::{LoadError, SystemResult};
use crate::frame::FrameSystem;

/// A system's place in the order of adding; never reused.
pub(crate) type SystemId = usize;

pub(crate) type Cleanup = Box<dyn FnOnce() -> SystemResult>;

/// What happens when a system fails.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnError {
    /// The run ends with its error.
    #[default]
    Stop,
    /// The error is logged and reported, the system removed, and the run goes on.
    Continue,
}

/// How a frame system is ordered, and the system itself unless it runs at the moment.
pub(crate) struct FrameSlot {
    pub(crate) system: Option<Box<dyn FrameSystem>>,
    pub(crate) priority: i32,
    pub(crate) after: Vec<String>,
    pub(crate) every: u64,
}

pub(crate) struct Entry {
    pub(crate) name: Rc<str>,
    pub(crate) removed: bool,
    pub(crate) cleanup: Option<Cleanup>,
    pub(crate) frame: Option<FrameSlot>,
}

#[derive(Default)]
pub(crate) struct Systems {
    entries: Vec<Entry>,
    by_name: BTreeMap<Rc<str>, SystemId>,
    pub(crate) policies: BTreeMap<String, OnError>,
    /// Frame systems in the order they run.
    order: Vec<SystemId>,
    pub(crate) unsorted: bool,
}

impl Systems {
    pub(crate) fn add(&mut self, name: &str, frame: Option<FrameSlot>) -> Result<SystemId, LoadError> {
        if self.by_name.contains_key(name) {
            return Err(LoadError::DuplicateSystem { name: name.to_owned() });
        }
        let name: Rc<str> = name.into();
        self.by_name.insert(Rc::clone(&name), self.entries.len());
        self.unsorted |= frame.is_some();
        self.entries.push(Entry { name, removed: false, cleanup: None, frame });
        Ok(self.entries.len() - 1)
    }

    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    pub(crate) fn entry(&mut self, id: SystemId) -> Option<&mut Entry> {
        self.entries.get_mut(id)
    }

    pub(crate) fn find(&self, name: &str) -> Option<SystemId> {
        self.by_name.get(name).copied()
    }

    pub(crate) fn name(&self, id: SystemId) -> Rc<str> {
        self.entries.get(id).map_or_else(|| "kernel".into(), |entry| Rc::clone(&entry.name))
    }

    pub(crate) fn is_removed(&self, id: SystemId) -> bool {
        self.entries.get(id).is_none_or(|entry| entry.removed)
    }

    pub(crate) fn policy(&self, id: SystemId) -> OnError {
        let entry = self.entries.get(id);
        entry.and_then(|e| self.policies.get(&*e.name)).copied().unwrap_or_default()
    }

    /// Frees the name and takes the system out of the frame order.
    pub(crate) fn mark_removed(&mut self, id: SystemId) {
        if let Some(entry) = self.entries.get_mut(id) {
            entry.removed = true;
            self.by_name.remove(&entry.name);
            self.unsorted |= entry.frame.is_some();
        }
    }

    pub(crate) fn frame_count(&self) -> usize {
        self.order.len()
    }

    /// The frame system at this place of the order, if it is to run in this frame.
    pub(crate) fn check_out(
        &mut self,
        place: usize,
        frame: u64,
    ) -> Option<(SystemId, Box<dyn FrameSystem>, u64)> {
        let id = *self.order.get(place)?;
        let entry = self.entries.get_mut(id).filter(|entry| !entry.removed)?;
        let slot = entry.frame.as_mut()?;
        if !frame.is_multiple_of(slot.every) {
            return None;
        }
        slot.system.take().map(|system| (id, system, slot.every))
    }

    pub(crate) fn check_in(&mut self, id: SystemId, system: Box<dyn FrameSystem>) {
        if let Some(slot) = self.entries.get_mut(id).and_then(|entry| entry.frame.as_mut()) {
            slot.system = Some(system);
        }
    }

    /// Checks that every name in `on_error` is known.
    pub(crate) fn check_policies(&self) -> Result<(), LoadError> {
        match self.policies.keys().find(|name| self.find(name).is_none()) {
            Some(name) => {
                Err(LoadError::UnknownSystem { name: name.clone(), wanted_by: "on_error".to_owned() })
            }
            None => Ok(()),
        }
    }

    /// Orders the frame systems: of those whose `after` systems are all placed, the highest priority comes next, and
    /// among equals the one added first. A name that was ordered against and has since been removed no longer binds.
    pub(crate) fn sort(&mut self) -> Result<(), LoadError> {
        if !self.unsorted {
            return Ok(());
        }
        let mut known: BTreeSet<&str> = BTreeSet::new();
        let mut unplaced = Vec::new();
        for (id, entry) in self.entries.iter().enumerate() {
            let Some(slot) = &entry.frame else { continue };
            known.insert(&entry.name);
            if entry.removed {
                continue;
            }
            if slot.every < 1 {
                return Err(LoadError::EveryBelowOne { name: entry.name.to_string() });
            }
            unplaced.push((id, entry, slot));
        }
        for (_, entry, slot) in &unplaced {
            if let Some(name) = slot.after.iter().find(|name| !known.contains(name.as_str())) {
                let wanted_by = format!("\"after\" of \"{}\"", entry.name);
                return Err(LoadError::UnknownSystem { name: name.clone(), wanted_by });
            }
        }
        unplaced.sort_by_key(|(id, _, slot)| (-i64::from(slot.priority), *id));
        let mut order = Vec::new();
        while !unplaced.is_empty() {
            let waits_for = |name: &String| unplaced.iter().any(|(_, other, _)| *other.name == **name);
            let Some(next) = unplaced.iter().position(|(_, _, slot)| !slot.after.iter().any(waits_for))
            else {
                let names = unplaced.iter().map(|(_, entry, _)| entry.name.to_string()).collect();
                return Err(LoadError::OrderCycle { names });
            };
            order.push(unplaced.remove(next).0);
        }
        self.order = order;
        self.unsorted = false;
        Ok(())
    }
}
