//! The event store: records go to one taker each, or to every subscriber.
//!
//! The order of deliveries is part of the kernel's contract (kernel specification, section 4.2): `put` never blocks and
//! schedules a matching step at the same instant; a new `take` joins the end of the waiting list and a matching step
//! runs at once; a matching step walks the waiting list oldest first, and each waiter takes the oldest record it
//! accepts; the waiter goes on later in the same instant. A dropped wait leaves the list, and a record already assigned
//! to it goes back to the front.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::future::{Future, IntoFuture};
use std::marker::PhantomData;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};
use std::time::Duration;

use crate::clock::Time;
use crate::core::Core;
use crate::error::StoreError;
use crate::event::WaitSlot;
use crate::queue::{Step, Urgency};
use crate::record::{EventTag, Kind, LoggedEvent, Message, Payload, PayloadType, Receive, Received, Record};
use crate::task::WaitId;

type Filter = Box<dyn Fn(&Record) -> bool>;

/// The door to the event store. Cloning it is cheap.
#[derive(Clone)]
pub struct Store {
    core: Rc<Core>,
}

impl Store {
    pub(crate) fn new(core: &Rc<Core>) -> Self {
        Self { core: Rc::clone(core) }
    }

    /// Sends a request: one taker gets it, and it waits until somebody takes it. Subscribers see it too.
    pub fn put(&self, message: impl Into<Message>) -> Result<(), StoreError> {
        let now = self.core.now.get();
        let woken = self.core.store.borrow_mut().send(message.into(), now, true)?;
        self.core.queue.borrow_mut().push(now, Urgency::Normal, Step::Match);
        self.wake(woken);
        Ok(())
    }

    /// Sends a notification: every subscriber sees it, nobody needs to, and nothing stays behind.
    pub fn broadcast(&self, message: impl Into<Message>) -> Result<(), StoreError> {
        let woken = self.core.store.borrow_mut().send(message.into(), self.core.now.get(), false)?;
        self.wake(woken);
        Ok(())
    }

    /// Claims the tag of `T`, so that text records are parsed before anybody listens for them. Sending or listening
    /// for a `T` does it as well.
    pub fn register<T: EventTag>(&self) -> Result<(), StoreError> {
        self.core.store.borrow_mut().tag_of::<T>().map(|_| ())
    }

    /// Waits for an `EVENT` of this type, taking it out of the store.
    pub fn take<T: EventTag>(&self) -> Take<Received<T>> {
        Take::new(self, self.typed(Want::Events, PhantomData::<T>))
    }

    /// Waits for an `ERROR` of this type, taking it out of the store.
    pub fn take_error<T: EventTag>(&self) -> Take<Received<T>> {
        Take::new(self, self.typed(Want::Errors, PhantomData::<T>))
    }

    /// Waits for a record of this tag, `EVENT` or `ERROR`, typed or not.
    pub fn take_tag(&self, tag: &str) -> Take<Record> {
        let tag = self.core.store.borrow_mut().intern(tag);
        Take::new(self, Selector { tag: Some(tag), want: Want::Both })
    }

    /// Waits for any `ERROR`.
    pub fn take_any_error(&self) -> Take<Record> {
        Take::new(self, Selector { tag: None, want: Want::Errors })
    }

    /// Waits for any record.
    pub fn take_any(&self) -> Take<Record> {
        Take::new(self, Selector { tag: None, want: Want::Both })
    }

    /// From now on sees every `EVENT` of this type.
    pub fn subscribe<T: EventTag>(&self) -> Subscription<Received<T>> {
        Subscription::new(self, self.typed(Want::Events, PhantomData::<T>))
    }

    /// From now on sees every `ERROR` of this type.
    pub fn subscribe_error<T: EventTag>(&self) -> Subscription<Received<T>> {
        Subscription::new(self, self.typed(Want::Errors, PhantomData::<T>))
    }

    /// From now on sees every record of this tag.
    pub fn subscribe_tag(&self, tag: &str) -> Subscription<Record> {
        let tag = self.core.store.borrow_mut().intern(tag);
        Subscription::new(self, Selector { tag: Some(tag), want: Want::Both })
    }

    /// From now on sees every `ERROR`.
    pub fn subscribe_any_error(&self) -> Subscription<Record> {
        Subscription::new(self, Selector { tag: None, want: Want::Errors })
    }

    /// Records that nobody has taken yet, by tag.
    pub fn untaken(&self) -> Vec<(String, usize)> {
        self.core.store.borrow().untaken()
    }

    /// How many `take` waits are in the waiting list.
    pub fn waiting(&self) -> usize {
        self.core.store.borrow().waiters.len()
    }

    fn wake(&self, waits: Vec<WaitId>) {
        for wait in waits {
            self.core.wake(wait);
        }
    }

    /// A clash of tags can not be returned to a listener that never hears anything, so it ends the run.
    fn typed<T: EventTag>(&self, want: Want, _: PhantomData<T>) -> Selector {
        let tag = self.core.store.borrow_mut().tag_of::<T>();
        let tag = tag.unwrap_or_else(|clash| {
            self.core.fail_active(clash.into());
            usize::MAX
        });
        Selector { tag: Some(tag), want }
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Want {
    Events,
    Errors,
    Both,
}

#[derive(Clone, Copy)]
struct Selector {
    /// `None` accepts every tag.
    tag: Option<usize>,
    want: Want,
}

impl Selector {
    fn accepts(self, record: &Record) -> bool {
        let kind = match self.want {
            Want::Events => record.kind == Kind::Event,
            Want::Errors => record.kind != Kind::Event,
            Want::Both => true,
        };
        kind && self.tag.is_none_or(|tag| tag == record.tag_index)
    }
}

/// A wait for a record, not yet in the waiting list: awaiting it (or handing it to `select`) puts it there.
#[must_use = "a take does nothing until it is awaited"]
pub struct Take<R> {
    store: Store,
    selector: Selector,
    filter: Option<Filter>,
    yields: PhantomData<R>,
}

impl<R> Take<R> {
    fn new(store: &Store, selector: Selector) -> Self {
        Self { store: store.clone(), selector, filter: None, yields: PhantomData }
    }
}

impl<T: EventTag> Take<Received<T>> {
    /// Takes only payloads that `accept` accepts. It must depend on nothing but the payload, and not touch the store.
    pub fn filter(mut self, accept: impl Fn(&T) -> bool + 'static) -> Self {
        self.filter = Some(Box::new(move |record| record.downcast().is_some_and(&accept)));
        self
    }
}

impl Take<Record> {
    /// Takes only records that `accept` accepts. It must depend on nothing but the record, and not touch the store.
    pub fn filter(mut self, accept: impl Fn(&Record) -> bool + 'static) -> Self {
        self.filter = Some(Box::new(accept));
        self
    }
}

impl<R: Receive + Unpin> IntoFuture for Take<R> {
    type Output = R;
    type IntoFuture = Taking<R>;

    /// Joins the waiting list, and matches at once.
    fn into_future(self) -> Taking<R> {
        let Self { store, selector, filter, .. } = self;
        let slot = WaitSlot::new(&store.core);
        let number = store.core.store.borrow_mut().add_waiter(Waiter { wait: slot.id(), selector, filter });
        store.core.match_records();
        Taking { number, slot, yields: PhantomData }
    }
}

/// A `take` in the waiting list. Dropping it leaves the list.
pub struct Taking<R> {
    number: u64,
    slot: WaitSlot,
    yields: PhantomData<R>,
}

impl<R: Receive + Unpin> Future for Taking<R> {
    type Output = R;

    fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<R> {
        if !self.slot.is_over() {
            return Poll::Pending;
        }
        match self.slot.take_record().and_then(R::receive) {
            Some(received) => Poll::Ready(received),
            None => Poll::Pending,
        }
    }
}

impl<R> Drop for Taking<R> {
    fn drop(&mut self) {
        let core = self.slot.core();
        let waiter = core.store.borrow_mut().waiters.remove(&self.number);
        drop(waiter);
        if let Some(record) = self.slot.take_record() {
            core.store.borrow_mut().give_back(record);
            core.queue.borrow_mut().push(core.now.get(), Urgency::Normal, Step::Match);
        }
    }
}

/// Sees every record it selects from the moment it was made, in order, at its own pace. Records it has not read yet
/// count against `max_items` like those in the store.
pub struct Subscription<R> {
    store: Store,
    number: u64,
    yields: PhantomData<R>,
}

impl<R: Receive> Subscription<R> {
    fn new(store: &Store, selector: Selector) -> Self {
        let number = store.core.store.borrow_mut().add_subscriber(selector);
        Self { store: store.clone(), number, yields: PhantomData }
    }

    /// Waits for the next record. Dropping the wait loses nothing.
    pub fn recv(&mut self) -> Receiving<'_, R> {
        let core = &self.store.core;
        let slot = WaitSlot::new(core);
        let mut store = core.store.borrow_mut();
        if let Some(subscriber) = store.subscribers.get_mut(&self.number) {
            if subscriber.unread.is_empty() {
                subscriber.waiting = Some(slot.id());
            } else {
                core.wake(slot.id());
            }
        }
        drop(store);
        Receiving { subscription: self, slot }
    }

    /// The next record if one is there already.
    pub fn try_recv(&mut self) -> Option<R> {
        let record = self.store.core.store.borrow_mut().read(self.number);
        record.and_then(R::receive)
    }
}

impl<R> Drop for Subscription<R> {
    fn drop(&mut self) {
        let subscriber = self.store.core.store.borrow_mut().subscribers.remove(&self.number);
        drop(subscriber);
    }
}

/// A wait for the next record of a [`Subscription`].
pub struct Receiving<'a, R> {
    subscription: &'a mut Subscription<R>,
    slot: WaitSlot,
}

impl<R: Receive> Future for Receiving<'_, R> {
    type Output = R;

    fn poll(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<R> {
        if !self.slot.is_over() {
            return Poll::Pending;
        }
        self.subscription.try_recv().map_or(Poll::Pending, Poll::Ready)
    }
}

struct Waiter {
    wait: WaitId,
    selector: Selector,
    filter: Option<Filter>,
}

impl Waiter {
    fn accepts(&self, record: &Record) -> bool {
        self.selector.accepts(record) && self.filter.as_ref().is_none_or(|accept| accept(record))
    }
}

struct Subscriber {
    selector: Selector,
    unread: VecDeque<Record>,
    waiting: Option<WaitId>,
}

struct Tag {
    name: Rc<str>,
    of: Option<PayloadType>,
    /// Its records, by their place in `StoreState::items`.
    items: BTreeSet<i64>,
}

/// The records, and who waits for them.
pub(crate) struct StoreState {
    tags: Vec<Tag>,
    tag_index: BTreeMap<Rc<str>, usize>,
    /// Oldest first. Records that were given back get a place before all others.
    items: BTreeMap<i64, Record>,
    first_place: i64,
    last_place: i64,
    waiters: BTreeMap<u64, Waiter>,
    subscribers: BTreeMap<u64, Subscriber>,
    numbers: u64,
    max_items: usize,
    ttl: Option<Duration>,
    pub(crate) expired: u64,
    pub(crate) log: Option<Vec<LoggedEvent>>,
    /// Whose filter runs at the moment, to know whose fault a panic is.
    pub(crate) filtering: Option<WaitId>,
}

impl StoreState {
    pub(crate) fn new(max_items: usize, ttl: Option<Duration>, log: bool) -> Self {
        Self {
            tags: Vec::new(),
            tag_index: BTreeMap::new(),
            items: BTreeMap::new(),
            first_place: 0,
            last_place: 0,
            waiters: BTreeMap::new(),
            subscribers: BTreeMap::new(),
            numbers: 0,
            max_items,
            ttl,
            expired: 0,
            log: log.then(Vec::new),
            filtering: None,
        }
    }

    pub(crate) fn untaken(&self) -> Vec<(String, usize)> {
        let counts = self.tags.iter().map(|tag| (tag.name.to_string(), tag.items.len()));
        let mut counts: Vec<_> = counts.filter(|(_, count)| *count > 0).collect();
        counts.sort();
        counts
    }

    /// Lets every record, waiter and subscriber go; the caller drops them once the store is free again.
    pub(crate) fn clear(&mut self) -> Self {
        let log = self.log.take();
        let mut empty = Self::new(self.max_items, self.ttl, false);
        empty.log = log;
        std::mem::replace(self, empty)
    }

    /// Hands records to waiters, oldest waiter first.
    pub(crate) fn match_records(&mut self, now: Time, mut assign: impl FnMut(WaitId, Record)) {
        self.expire(now);
        let mut from = 0;
        while let Some((&number, waiter)) = self.waiters.range(from..).next() {
            from = number + 1;
            if self.items.is_empty() {
                break;
            }
            self.filtering = Some(waiter.wait);
            if let Some(place) = self.oldest_for(waiter)
                && let Some(record) = self.remove(place)
                && let Some(waiter) = self.waiters.remove(&number)
            {
                assign(waiter.wait, record);
            }
        }
        self.filtering = None;
    }

    fn oldest_for(&self, waiter: &Waiter) -> Option<i64> {
        let accepts = |place: &i64| self.items.get(place).is_some_and(|record| waiter.accepts(record));
        match waiter.selector.tag {
            Some(tag) => self.tags.get(tag)?.items.iter().copied().find(accepts),
            None => self.items.keys().copied().find(accepts),
        }
    }

    /// Adds a record; returns the subscribers' waits that are over now.
    fn send(&mut self, message: Message, now: Time, keep: bool) -> Result<Vec<WaitId>, StoreError> {
        let record = self.admit(message, now, keep)?;
        self.expire(now);
        if keep && self.items.len() >= self.max_items {
            let frequent = self.tags.iter().max_by_key(|tag| tag.items.len());
            let (tag, count) = frequent.map_or(("", 0), |tag| (&*tag.name, tag.items.len()));
            return Err(StoreError::EventStoreFull { tag: tag.to_owned(), count, held: self.items.len() });
        }
        let listening = |subscriber: &&mut Subscriber| subscriber.selector.accepts(&record);
        if let Some(full) =
            self.subscribers.values_mut().filter(listening).find(|s| s.unread.len() >= self.max_items)
        {
            let count = full.unread.iter().filter(|r| r.tag == record.tag).count();
            let (tag, held) = (record.tag.to_string(), full.unread.len());
            return Err(StoreError::EventStoreFull { tag, count, held });
        }
        let mut woken = Vec::new();
        for subscriber in self.subscribers.values_mut().filter(listening) {
            subscriber.unread.push_back(record.clone());
            woken.extend(subscriber.waiting.take());
        }
        if let Some(log) = &mut self.log {
            let (tag, payload) = (record.tag.to_string(), record.json());
            log.push(LoggedEvent { time: now, kind: record.kind, tag, payload });
        }
        if keep {
            self.last_place += 1;
            self.insert(self.last_place, record);
        }
        Ok(woken)
    }

    fn admit(&mut self, message: Message, time: Time, keep: bool) -> Result<Record, StoreError> {
        let Message { tag, kind, payload } = message;
        let tag_index = match &payload {
            Payload::Typed(_, of) => self.claim(&tag, *of)?,
            // What nobody listens for and nothing keeps must not make the table of tags grow.
            Payload::Json(_) if !keep && !self.tag_index.contains_key(&*tag) => {
                return Ok(Record { time, kind, tag: tag.into(), tag_index: usize::MAX, payload });
            }
            Payload::Json(_) => self.intern(&tag),
        };
        let payload = parsed(&self.tags[tag_index], payload)?;
        Ok(Record { time, kind, tag: Rc::clone(&self.tags[tag_index].name), tag_index, payload })
    }

    fn intern(&mut self, name: &str) -> usize {
        if let Some(&index) = self.tag_index.get(name) {
            return index;
        }
        let name: Rc<str> = name.into();
        self.tags.push(Tag { name: Rc::clone(&name), of: None, items: BTreeSet::new() });
        self.tag_index.insert(name, self.tags.len() - 1);
        self.tags.len() - 1
    }

    fn tag_of<T: EventTag>(&mut self) -> Result<usize, StoreError> {
        self.claim(T::TAG, PayloadType::of::<T>())
    }

    /// Makes a tag that of a payload type. Text records that came before are parsed now; their senders are gone, so
    /// those that do not parse are dropped with a warning.
    fn claim(&mut self, name: &str, of: PayloadType) -> Result<usize, StoreError> {
        let index = self.intern(name);
        match self.tags[index].of {
            Some(owner) if owner.id == of.id => return Ok(index),
            Some(_) => return Err(StoreError::TagClash { tag: name.to_owned() }),
            None => self.tags[index].of = Some(of),
        }
        for place in self.tags[index].items.clone() {
            let Some(mut record) = self.remove(place) else { continue };
            match parsed(&self.tags[index], record.payload) {
                Ok(payload) => {
                    record.payload = payload;
                    self.insert(place, record);
                }
                Err(error) => tracing::warn!(%error, "dropped a text record"),
            }
        }
        Ok(index)
    }

    fn add_waiter(&mut self, waiter: Waiter) -> u64 {
        self.numbers += 1;
        self.waiters.insert(self.numbers, waiter);
        self.numbers
    }

    fn add_subscriber(&mut self, selector: Selector) -> u64 {
        self.numbers += 1;
        let subscriber = Subscriber { selector, unread: VecDeque::new(), waiting: None };
        self.subscribers.insert(self.numbers, subscriber);
        self.numbers
    }

    fn read(&mut self, subscriber: u64) -> Option<Record> {
        self.subscribers.get_mut(&subscriber)?.unread.pop_front()
    }

    fn give_back(&mut self, record: Record) {
        self.first_place -= 1;
        self.insert(self.first_place, record);
    }

    fn insert(&mut self, place: i64, record: Record) {
        self.tags[record.tag_index].items.insert(place);
        self.items.insert(place, record);
    }

    fn remove(&mut self, place: i64) -> Option<Record> {
        let record = self.items.remove(&place)?;
        self.tags[record.tag_index].items.remove(&place);
        Some(record)
    }

    fn expire(&mut self, now: Time) {
        let Some(ttl) = self.ttl else { return };
        while let Some((&place, record)) = self.items.first_key_value()
            && now.saturating_since(record.time) >= ttl
        {
            self.remove(place);
            self.expired += 1;
        }
    }
}

fn parsed(tag: &Tag, payload: Payload) -> Result<Payload, StoreError> {
    let (Payload::Json(json), Some(of)) = (&payload, tag.of) else { return Ok(payload) };
    match (of.from_json)(json) {
        Ok(value) => Ok(Payload::Typed(value, of)),
        Err(reason) => Err(StoreError::BadPayload { tag: tag.name.to_string(), reason }),
    }
}
