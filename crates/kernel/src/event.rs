//! What a process can wait for besides the store: time, event objects, other processes, and any or all of these.
//!
//! Every wait is over by way of the queue, even one that has nothing to wait for: a process always goes on *later* in
//! the same instant, so no process can starve the others without being noticed.

use std::cell::RefCell;
use std::future::{Future, IntoFuture, poll_fn};
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::task::{Context, Poll};

use crate::clock::Time;
use crate::core::Core;
use crate::queue::{Step, Urgency};
use crate::record::Record;
use crate::task::{Wait, WaitId};

/// A place in the table of waits, given back when dropped.
pub(crate) struct WaitSlot {
    core: Rc<Core>,
    id: WaitId,
}

impl WaitSlot {
    pub(crate) fn new(core: &Rc<Core>) -> Self {
        let wait = Wait { task: core.active.get(), ..Wait::default() };
        let id = core.waits.borrow_mut().insert(wait);
        Self { core: Rc::clone(core), id }
    }

    pub(crate) fn id(&self) -> WaitId {
        self.id
    }

    pub(crate) fn core(&self) -> &Rc<Core> {
        &self.core
    }

    /// Whether the wake-up has come; if not, it will come to the process that asks.
    pub(crate) fn is_over(&self) -> bool {
        let mut waits = self.core.waits.borrow_mut();
        waits.get_mut(self.id).is_some_and(|wait| {
            wait.task = self.core.active.get();
            wait.over
        })
    }

    pub(crate) fn take_record(&self) -> Option<Record> {
        self.core.waits.borrow_mut().get_mut(self.id)?.record.take()
    }
}

impl Drop for WaitSlot {
    fn drop(&mut self) {
        let wait = self.core.waits.borrow_mut().remove(self.id);
        if wait.is_some_and(|wait| wait.queued) {
            let waits = self.core.waits.borrow();
            self.core.queue.borrow_mut().abandon(|wait| waits.get(wait).is_some());
        }
    }
}

/// A wait for an instant. It is scheduled when it is made, not when it is first awaited.
#[must_use = "nothing waits for a timeout unless it is awaited"]
pub struct Timeout {
    slot: WaitSlot,
}

impl Timeout {
    pub(crate) fn new(core: &Rc<Core>, due: Time) -> Self {
        let slot = WaitSlot::new(core);
        if let Some(wait) = core.waits.borrow_mut().get_mut(slot.id) {
            wait.queued = true;
        }
        let due = due.max(core.now.get());
        core.queue.borrow_mut().push(due, Urgency::Normal, Step::Wake(slot.id));
        Self { slot }
    }
}

impl Future for Timeout {
    type Output = ();

    fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<()> {
        if self.slot.is_over() { Poll::Ready(()) } else { Poll::Pending }
    }
}

/// Something that happens once and carries a value: every process that waits for it gets a clone. A clone of the event
/// is the same event.
pub struct Event<T = ()> {
    core: Rc<Core>,
    state: Rc<RefCell<EventState<T>>>,
}

struct EventState<T> {
    value: Option<T>,
    waiting: Vec<WaitId>,
}

impl<T> Clone for Event<T> {
    fn clone(&self) -> Self {
        Self { core: Rc::clone(&self.core), state: Rc::clone(&self.state) }
    }
}

impl<T: Clone> Event<T> {
    pub(crate) fn new(core: &Rc<Core>) -> Self {
        let state = EventState { value: None, waiting: Vec::new() };
        Self { core: Rc::clone(core), state: Rc::new(RefCell::new(state)) }
    }

    /// Makes it happen. Those that wait go on later in this instant, in the order they began to wait. Only the first
    /// call counts; a later one returns `false`.
    pub fn fire(&self, value: T) -> bool {
        let mut state = self.state.borrow_mut();
        if state.value.is_some() {
            return false;
        }
        state.value = Some(value);
        for wait in state.waiting.drain(..) {
            self.core.wake(wait);
        }
        true
    }

    /// Whether it has happened.
    pub fn is_fired(&self) -> bool {
        self.state.borrow().value.is_some()
    }

    /// Waits for it.
    pub fn wait(&self) -> EventWait<T> {
        let slot = WaitSlot::new(&self.core);
        if self.is_fired() {
            self.core.wake(slot.id);
        } else {
            self.state.borrow_mut().waiting.push(slot.id);
        }
        EventWait { event: self.clone(), slot }
    }
}

/// A wait for an [`Event`].
#[must_use = "nothing waits for an event unless it is awaited"]
pub struct EventWait<T> {
    event: Event<T>,
    slot: WaitSlot,
}

impl<T: Clone> Future for EventWait<T> {
    type Output = T;

    fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<T> {
        if !self.slot.is_over() {
            return Poll::Pending;
        }
        let value = self.event.state.borrow().value.clone();
        value.map_or(Poll::Pending, Poll::Ready)
    }
}

impl<T> Drop for EventWait<T> {
    fn drop(&mut self) {
        self.event.state.borrow_mut().waiting.retain(|&wait| wait != self.slot.id);
    }
}

/// A process started by another one. Await it, or [`Process::join`] it, to wait for its end; dropping this does not
/// stop it. One that failed, or whose system was removed, never ends.
pub struct Process<T = ()> {
    pub(crate) done: Event<T>,
}

impl<T: Clone> Process<T> {
    /// Waits for the end of the process and what it returned.
    pub fn join(&self) -> EventWait<T> {
        self.done.wait()
    }

    /// Whether it has ended.
    pub fn is_finished(&self) -> bool {
        self.done.is_fired()
    }
}

impl<T: Clone> IntoFuture for Process<T> {
    type Output = T;
    type IntoFuture = EventWait<T>;

    fn into_future(self) -> EventWait<T> {
        self.join()
    }
}

/// Which of two waits was over first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Either<A, B> {
    /// The first.
    First(A),
    /// The second.
    Second(B),
}

/// Any of two waits: the one that is over first, or the first of them if both are. The other one is dropped.
pub fn select<A: IntoFuture, B: IntoFuture>(
    a: A,
    b: B,
) -> impl Future<Output = Either<A::Output, B::Output>> {
    let (a, b) = (a.into_future(), b.into_future());
    async move {
        let (mut a, mut b) = (pin!(a), pin!(b));
        poll_fn(move |cx| {
            if let Poll::Ready(value) = a.as_mut().poll(cx) {
                return Poll::Ready(Either::First(value));
            }
            b.as_mut().poll(cx).map(Either::Second)
        })
        .await
    }
}

/// Any of many waits: the index and the value of the one that is over first. Waits for ever when there are none.
pub fn select_all<W: IntoFuture>(
    waits: impl IntoIterator<Item = W>,
) -> impl Future<Output = (usize, W::Output)> {
    let mut waits: Vec<_> = waits.into_iter().map(|wait| Box::pin(wait.into_future())).collect();
    poll_fn(move |cx| {
        for (index, wait) in waits.iter_mut().enumerate() {
            if let Poll::Ready(value) = wait.as_mut().poll(cx) {
                return Poll::Ready((index, value));
            }
        }
        Poll::Pending
    })
}

/// Both waits.
pub fn join<A: IntoFuture, B: IntoFuture>(a: A, b: B) -> impl Future<Output = (A::Output, B::Output)> {
    let (a, b) = (a.into_future(), b.into_future());
    async move {
        let (mut a, mut b) = (pin!(a), pin!(b));
        let (mut first, mut second) = (None, None);
        poll_fn(move |cx| {
            poll_once(a.as_mut(), &mut first, cx);
            poll_once(b.as_mut(), &mut second, cx);
            match (first.take(), second.take()) {
                (Some(x), Some(y)) => Poll::Ready((x, y)),
                (x, y) => {
                    (first, second) = (x, y);
                    Poll::Pending
                }
            }
        })
        .await
    }
}

/// All of many waits, in the order given.
pub fn join_all<W: IntoFuture>(waits: impl IntoIterator<Item = W>) -> impl Future<Output = Vec<W::Output>> {
    let waits = waits.into_iter().map(|wait| (Box::pin(wait.into_future()), None));
    let mut waits: Vec<(Pin<Box<_>>, Option<W::Output>)> = waits.collect();
    poll_fn(move |cx| {
        for (wait, value) in &mut waits {
            poll_once(wait.as_mut(), value, cx);
        }
        if waits.iter().any(|(_, value)| value.is_none()) {
            return Poll::Pending;
        }
        Poll::Ready(waits.drain(..).filter_map(|(_, value)| value).collect())
    })
}

fn poll_once<F: Future>(wait: Pin<&mut F>, value: &mut Option<F::Output>, cx: &mut Context<'_>) {
    if value.is_none()
        && let Poll::Ready(ready) = wait.poll(cx)
    {
        *value = Some(ready);
    }
}
