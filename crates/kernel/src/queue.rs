//! What happens next: a heap ordered by `(time, urgency, sequence)`, so that the order of a run is total and known.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use crate::clock::Time;
use crate::task::{TaskId, WaitId};

/// Process starts come before everything else at the same instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Urgency {
    Start,
    Normal,
}

/// One thing to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// A process runs for the first time.
    Start(TaskId),
    /// A wait is over: its process goes on.
    Wake(WaitId),
    /// The event store hands records to those who wait for them.
    Match,
    /// A frame begins.
    Frame(u64),
}

#[derive(Clone, Copy, PartialEq, Eq)]
struct Entry {
    time: Time,
    urgency: Urgency,
    sequence: u64,
    step: Step,
}

impl Ord for Entry {
    /// Reversed, because the standard heap gives the greatest first.
    fn cmp(&self, other: &Self) -> Ordering {
        let key = |e: &Self| (e.time, e.urgency, e.sequence);
        key(other).cmp(&key(self))
    }
}

impl PartialOrd for Entry {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

#[derive(Default)]
pub(crate) struct Queue {
    heap: BinaryHeap<Entry>,
    scheduled: u64,
    /// Wake-ups in the heap whose wait was dropped.
    dead: usize,
}

impl Queue {
    pub(crate) fn push(&mut self, time: Time, urgency: Urgency, step: Step) {
        self.heap.push(Entry { time, urgency, sequence: self.scheduled, step });
        self.scheduled += 1;
    }

    /// The next step due strictly before `limit`.
    pub(crate) fn pop_before(&mut self, limit: Time, alive: impl Fn(WaitId) -> bool) -> Option<(Time, Step)> {
        if self.next_time(alive)? >= limit {
            return None;
        }
        self.heap.pop().map(|entry| (entry.time, entry.step))
    }

    /// The instant of the next step. Wake-ups of dropped waits are thrown away on the way: they must not even move the
    /// clock.
    pub(crate) fn next_time(&mut self, alive: impl Fn(WaitId) -> bool) -> Option<Time> {
        while let Some(entry) = self.heap.peek() {
            match entry.step {
                Step::Wake(wait) if !alive(wait) => {
                    self.heap.pop();
                    self.dead = self.dead.saturating_sub(1);
                }
                _ => return Some(entry.time),
            }
        }
        None
    }

    /// A wait with a wake-up in the heap was dropped. Long timeouts that lose every race must not pile up, so the heap
    /// is swept once most of it is dead.
    pub(crate) fn abandon(&mut self, alive: impl Fn(WaitId) -> bool) {
        self.dead += 1;
        if self.dead > 1024 && self.dead > self.heap.len() / 2 {
            self.heap.retain(|entry| !matches!(entry.step, Step::Wake(wait) if !alive(wait)));
            self.dead = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_order_is_total(pushes in prop::collection::vec((0_i64..5, any::<bool>()), 0..60)) {
            let mut queue = Queue::default();
            let mut expected = Vec::new();
            for (sequence, &(nanos, start)) in pushes.iter().enumerate() {
                let urgency = if start { Urgency::Start } else { Urgency::Normal };
                queue.push(Time::from_nanos(nanos), urgency, Step::Frame(sequence as u64));
                expected.push((nanos, urgency, sequence as u64));
            }
            expected.sort();
            let popped: Vec<_> = std::iter::from_fn(|| queue.pop_before(Time::MAX, |_| true)).collect();
            let expected: Vec<_> =
                expected.iter().map(|&(t, _, s)| (Time::from_nanos(t), Step::Frame(s))).collect();
            prop_assert_eq!(popped, expected);
        }
    }

    #[test]
    fn nothing_due_at_the_limit_is_given() {
        let mut queue = Queue::default();
        queue.push(Time::from_nanos(3), Urgency::Normal, Step::Match);
        assert_eq!(queue.pop_before(Time::from_nanos(3), |_| true), None);
        assert!(queue.pop_before(Time::from_nanos(4), |_| true).is_some());
    }
}
