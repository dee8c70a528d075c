//! What travels through the event store: typed payloads under a text tag, and their JSON form for senders and readers
//! that know no Rust types (configuration files, scripts, ROS).

use std::any::{Any, TypeId};
use std::borrow::Cow;
use std::fmt;
use std::ops::Deref;
use std::rc::Rc;

use serde_json::Value;

use crate::clock::Time;
use crate::world::Entity;

/// A payload type and the tag it travels under. A sender needs to know nothing else about the receiver.
pub trait EventTag: Sized + 'static {
    /// The tag. Every tag belongs to one payload type.
    const TAG: &'static str;

    /// Reads the text form; the error is the reason given to the sender. Refused unless implemented.
    fn from_json(_json: &Value) -> Result<Self, String> {
        Err("this event has no text form".to_owned())
    }

    /// The text form, for recorders and for takers by text tag; `null` unless implemented.
    fn to_json(&self) -> Value {
        Value::Null
    }
}

/// The two kinds of record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Something happened, or is asked for.
    Event,
    /// Something went wrong with `entity`.
    Error {
        /// The entity the error belongs to.
        entity: Entity,
    },
}

/// A record on its way into the store. Every [`EventTag`] value converts into one.
#[derive(Debug)]
pub struct Message {
    pub(crate) tag: Cow<'static, str>,
    pub(crate) kind: Kind,
    pub(crate) payload: Payload,
}

impl Message {
    /// An `EVENT` record.
    pub fn event<T: EventTag>(payload: T) -> Self {
        let payload = Payload::Typed(Rc::new(payload), PayloadType::of::<T>());
        Self { tag: Cow::Borrowed(T::TAG), kind: Kind::Event, payload }
    }

    /// An `ERROR` record about `entity`.
    pub fn error<T: EventTag>(entity: Entity, payload: T) -> Self {
        Self::event(payload).about(entity)
    }

    /// An `EVENT` record by text tag. It is parsed at the sender when the tag belongs to a type.
    pub fn text(tag: impl Into<Cow<'static, str>>, json: Value) -> Self {
        Self { tag: tag.into(), kind: Kind::Event, payload: Payload::Json(Rc::new(json)) }
    }

    /// The same as an `ERROR` record about `entity`.
    pub fn about(self, entity: Entity) -> Self {
        Self { kind: Kind::Error { entity }, ..self }
    }
}

impl<T: EventTag> From<T> for Message {
    fn from(payload: T) -> Self {
        Self::event(payload)
    }
}

/// A record as the store holds it. Cloning shares the payload.
#[derive(Clone, Debug)]
pub struct Record {
    pub(crate) time: Time,
    pub(crate) kind: Kind,
    pub(crate) tag: Rc<str>,
    pub(crate) tag_index: usize,
    pub(crate) payload: Payload,
}

impl Record {
    /// When it was sent.
    pub fn time(&self) -> Time {
        self.time
    }

    /// `EVENT` or `ERROR`.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// The tag it was sent under.
    pub fn tag(&self) -> &str {
        &self.tag
    }

    /// The payload, if it is a `T`.
    pub fn downcast<T: EventTag>(&self) -> Option<&T> {
        match &self.payload {
            Payload::Typed(value, _) => value.downcast_ref(),
            Payload::Json(_) => None,
        }
    }

    /// The payload as JSON.
    pub fn json(&self) -> Value {
        self.payload.to_json()
    }
}

/// A typed record. It dereferences to its payload, which other subscribers may share.
#[derive(Debug)]
pub struct Received<T> {
    /// When it was sent.
    pub time: Time,
    /// `EVENT` or `ERROR`.
    pub kind: Kind,
    /// What was sent.
    pub payload: Rc<T>,
}

impl<T> Deref for Received<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.payload
    }
}

/// What a wait on the store yields: [`Received`] for a type, [`Record`] for a text tag.
pub trait Receive: Sized + sealed::Sealed {
    #[doc(hidden)]
    fn receive(record: Record) -> Option<Self>;
}

impl<T: EventTag> Receive for Received<T> {
    fn receive(record: Record) -> Option<Self> {
        let Payload::Typed(value, _) = record.payload else { return None };
        let payload = value.downcast().ok()?;
        Some(Self { time: record.time, kind: record.kind, payload })
    }
}

impl Receive for Record {
    fn receive(record: Record) -> Option<Self> {
        Some(record)
    }
}

mod sealed {
    pub trait Sealed {}
    impl<T> Sealed for super::Received<T> {}
    impl Sealed for super::Record {}
}

/// One line of the event log.
#[derive(Clone, Debug, PartialEq)]
pub struct LoggedEvent {
    /// When it was sent.
    pub time: Time,
    /// `EVENT` or `ERROR`.
    pub kind: Kind,
    /// The tag it was sent under.
    pub tag: String,
    /// The payload's text form.
    pub payload: Value,
}

#[derive(Clone)]
pub(crate) enum Payload {
    Typed(Rc<dyn Any>, PayloadType),
    Json(Rc<Value>),
}

impl Payload {
    pub(crate) fn to_json(&self) -> Value {
        match self {
            Self::Typed(value, of) => (of.to_json)(value.as_ref()),
            Self::Json(json) => json.as_ref().clone(),
        }
    }
}

impl fmt::Debug for Payload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.to_json().fmt(f)
    }
}

/// How a payload type is told apart, read and written.
#[derive(Clone, Copy)]
pub(crate) struct PayloadType {
    pub(crate) id: TypeId,
    pub(crate) from_json: fn(&Value) -> Result<Rc<dyn Any>, String>,
    to_json: fn(&dyn Any) -> Value,
}

impl PayloadType {
    pub(crate) fn of<T: EventTag>() -> Self {
        Self {
            id: TypeId::of::<T>(),
            from_json: |json| T::from_json(json).map(|value| Rc::new(value) as Rc<dyn Any>),
            to_json: |value| value.downcast_ref::<T>().map_or(Value::Null, T::to_json),
        }
    }
}
