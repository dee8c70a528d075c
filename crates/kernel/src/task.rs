//! Where processes and their waits live: two tables with generational ids.
//!
//! The tables hold data only. Running a process, and dropping one (which runs foreign code), is up to the caller, who
//! must not hold a borrow of a table meanwhile.

use std::future::Future;
use std::pin::Pin;

use crate::error::SystemResult;
use crate::record::Record;
use crate::systems::SystemId;

pub(crate) type Process = Pin<Box<dyn Future<Output = SystemResult>>>;

/// A generational table.
pub(crate) struct Slab<T> {
    slots: Vec<(u32, Option<T>)>,
    free: Vec<u32>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SlotId {
    index: u32,
    generation: u32,
}

pub(crate) type TaskId = SlotId;
pub(crate) type WaitId = SlotId;

impl<T> Default for Slab<T> {
    fn default() -> Self {
        Self { slots: Vec::new(), free: Vec::new() }
    }
}

impl<T> Slab<T> {
    pub(crate) fn insert(&mut self, value: T) -> SlotId {
        let index = self.free.pop().unwrap_or_else(|| {
            self.slots.push((0, None));
            u32::try_from(self.slots.len() - 1).unwrap_or(u32::MAX)
        });
        let (generation, slot) = &mut self.slots[index as usize];
        *slot = Some(value);
        SlotId { index, generation: *generation }
    }

    pub(crate) fn get(&self, id: SlotId) -> Option<&T> {
        let (generation, slot) = self.slots.get(id.index as usize)?;
        if *generation == id.generation { slot.as_ref() } else { None }
    }

    pub(crate) fn get_mut(&mut self, id: SlotId) -> Option<&mut T> {
        let (generation, slot) = self.slots.get_mut(id.index as usize)?;
        if *generation == id.generation { slot.as_mut() } else { None }
    }

    pub(crate) fn remove(&mut self, id: SlotId) -> Option<T> {
        let (generation, slot) = self.slots.get_mut(id.index as usize)?;
        if *generation != id.generation {
            return None;
        }
        let value = slot.take()?;
        *generation = generation.wrapping_add(1);
        self.free.push(id.index);
        Some(value)
    }

    /// Takes out all values that `pick` accepts, in table order.
    pub(crate) fn drain(&mut self, pick: impl Fn(&T) -> bool) -> Vec<T> {
        let mut taken = Vec::new();
        for (index, (generation, slot)) in self.slots.iter_mut().enumerate() {
            if let Some(value) = slot.take_if(|value| pick(value)) {
                *generation = generation.wrapping_add(1);
                self.free.push(u32::try_from(index).unwrap_or(u32::MAX));
                taken.push(value);
            }
        }
        taken
    }
}

/// A process and the system it belongs to.
pub(crate) struct Task {
    /// `None` while it runs.
    pub(crate) process: Option<Process>,
    pub(crate) system: SystemId,
}

/// Something a process waits for.
#[derive(Default)]
pub(crate) struct Wait {
    /// Who to wake.
    pub(crate) task: Option<TaskId>,
    /// Its wake-up is in the queue.
    pub(crate) queued: bool,
    /// Its wake-up has come.
    pub(crate) over: bool,
    /// A record the store assigned to this wait.
    pub(crate) record: Option<Record>,
}
