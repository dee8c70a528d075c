//! Fields that files can read and set by name, resolved once and read often.

use std::fmt;
use std::sync::Arc;

use promenade_scenario::problem::nearest;
use promenade_scenario::{Node, Value};

use super::door::DoorPhase;
use super::{Effect, LiveWorld};

/// The entity whose fields are the regimes.
const REGIME: &str = "regime";

/// The value of a field.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum FieldValue<'a> {
    /// `true` or `false`.
    Bool(bool),
    /// A number.
    Number(f64),
    /// Text.
    Text(&'a str),
}

impl fmt::Display for FieldValue<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FieldValue::Bool(value) => value.fmt(f),
            FieldValue::Number(value) => value.fmt(f),
            FieldValue::Text(value) => f.write_str(value),
        }
    }
}

/// A value from a file.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Stored {
    Bool(bool),
    Number(f64),
    Text(Arc<str>),
}

impl Stored {
    /// Lists and maps become their JSON.
    pub(super) fn of(node: &Node) -> Self {
        match &node.value {
            Value::Bool(value) => Stored::Bool(*value),
            Value::Int(value) => Stored::Number(*value as f64),
            Value::Float(value) => Stored::Number(*value),
            Value::Text(text) => Stored::Text(text.as_str().into()),
            _ => Stored::Text(node.to_json().to_string().into()),
        }
    }

    pub(super) fn view(&self) -> FieldValue<'_> {
        match self {
            Stored::Bool(value) => FieldValue::Bool(*value),
            Stored::Number(value) => FieldValue::Number(*value),
            Stored::Text(value) => FieldValue::Text(value),
        }
    }
}

/// Why a field cannot be read or set.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FieldError {
    /// Nothing has this name.
    #[error("no door, schedule, signal, plate, zone, person, robot or regime is named {entity:?}{}", did_you_mean(.meant))]
    UnknownEntity {
        /// The name.
        entity: String,
        /// The nearest known one.
        meant: Option<String>,
    },
    /// It has no such field.
    #[error("{entity:?} has no field {field:?} to {verb}; it has {has}")]
    UnknownField {
        /// The entity.
        entity: String,
        /// The field.
        field: String,
        /// `read` or `set`.
        verb: &'static str,
        /// The fields it has, as a list for people.
        has: String,
    },
    /// The field never has this value.
    #[error("{entity:?}.{field} is never {value:?}, expected {expected}{}", did_you_mean(.meant))]
    Value {
        /// The entity.
        entity: String,
        /// The field.
        field: String,
        /// The value.
        value: String,
        /// What it can be.
        expected: String,
        /// The nearest it can be.
        meant: Option<String>,
    },
}

fn did_you_mean(meant: &Option<String>) -> String {
    meant.as_ref().map(|meant| format!("; did you mean {meant:?}?")).unwrap_or_default()
}

/// A field, by index.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum FieldRef {
    DoorState(usize),
    DoorOpen(usize),
    DoorFraction(usize),
    DoorLocked(usize),
    ScheduleActive(usize),
    ScheduleValue(usize),
    SignalPhase(usize),
    SignalStop(usize),
    Pressed(Arc<str>),
    Occupancy(usize),
    Occupied(usize),
    Full(usize),
    Quiet(usize),
    Restricted(usize),
    MaxSpeed(usize),
    AgentZone(Arc<str>),
    AgentStimulus(Arc<str>),
    Regime(usize),
}

impl FieldRef {
    fn is_readable(&self) -> bool {
        !matches!(self, FieldRef::AgentStimulus(_))
    }

    fn is_settable(&self) -> bool {
        matches!(
            self,
            FieldRef::DoorOpen(_)
                | FieldRef::DoorLocked(_)
                | FieldRef::ScheduleActive(_)
                | FieldRef::SignalPhase(_)
                | FieldRef::Pressed(_)
                | FieldRef::AgentStimulus(_)
                | FieldRef::Regime(_)
        )
    }
}

/// `<entity>.<field> == <value>`.
#[derive(Clone, Debug)]
pub(super) struct Condition {
    field: FieldRef,
    is: Stored,
    /// The zone that the value names, for [`FieldRef::AgentZone`].
    zone: Option<usize>,
}

impl Condition {
    pub(super) fn holds(&self, live: &LiveWorld) -> bool {
        match (&self.field, self.zone) {
            (FieldRef::AgentZone(agent), Some(zone)) => live.seen(agent).is_some_and(|seen| {
                let zone = &live.zones[zone];
                seen.level.is_none_or(|level| level == zone.level) && zone.contains(seen.position)
            }),
            // A value of any type, compared with what was written as text.
            (FieldRef::ScheduleValue(_), _) => match &self.is {
                Stored::Text(is) => live.read(&self.field).is_some_and(|value| same_scalar(value, is)),
                _ => false,
            },
            (field, _) => live.read(field) == Some(self.is.view()),
        }
    }
}

fn same_scalar(value: FieldValue<'_>, text: &str) -> bool {
    match value {
        FieldValue::Bool(value) => boolean(text) == Some(value),
        FieldValue::Number(value) => text.trim().parse() == Ok(value),
        FieldValue::Text(value) => value == text,
    }
}

fn boolean(text: &str) -> Option<bool> {
    match text.trim() {
        "true" | "True" | "TRUE" => Some(true),
        "false" | "False" | "FALSE" => Some(false),
        _ => None,
    }
}

/// A field and what to set it to.
#[derive(Clone, Debug)]
pub(super) enum Setting {
    DoorOpen(usize, bool),
    DoorLocked(usize, bool),
    ScheduleActive(usize, bool),
    SignalPhase(usize, usize),
    Pressed(Arc<str>, bool),
    Regime(usize, bool),
    Stimulus(Effect),
}

impl LiveWorld {
    /// The value of a field as of the last step; `None` when nobody has it, when it has no value, such as the `max_speed` of a
    /// zone without one, or when the person is not there. The module lists the fields.
    #[must_use]
    pub fn field(&self, entity: &str, field: &str) -> Option<FieldValue<'_>> {
        self.read(&self.resolve(entity, field).ok()?)
    }

    /// Sets a field, as a timeline would. It shows after the next step.
    ///
    /// # Errors
    /// Nobody has the field, or it cannot have the value.
    pub fn set(&mut self, entity: &str, field: &str, value: &str) -> Result<(), FieldError> {
        let setting = self.setting(entity, field, value)?;
        self.apply_all(&[setting]);
        Ok(())
    }

    /// Every field of every entity of this name, in the order of the module's list.
    fn fields_of(&self, entity: &str) -> Vec<(&str, FieldRef)> {
        let mut fields = Vec::new();
        if let Some(door) = self.doors.iter().position(|door| &*door.name == entity) {
            fields.extend([
                ("state", FieldRef::DoorState(door)),
                ("open", FieldRef::DoorOpen(door)),
                ("fraction", FieldRef::DoorFraction(door)),
                ("locked", FieldRef::DoorLocked(door)),
            ]);
        }
        if let Some(schedule) = self.schedules.iter().position(|schedule| &*schedule.name == entity) {
            fields.extend([
                ("active", FieldRef::ScheduleActive(schedule)),
                ("value", FieldRef::ScheduleValue(schedule)),
            ]);
        }
        if let Some(signal) = self.signals.iter().position(|signal| &*signal.name == entity) {
            fields.extend([("phase", FieldRef::SignalPhase(signal)), ("stop", FieldRef::SignalStop(signal))]);
        }
        if let Some(plate) = self.plates.iter().find(|plate| &*plate.carrier == entity) {
            fields.push(("pressed", FieldRef::Pressed(Arc::clone(&plate.carrier))));
        }
        if let Some(zone) = self.zones.iter().position(|zone| &*zone.name == entity) {
            fields.extend([
                ("occupancy", FieldRef::Occupancy(zone)),
                ("occupied", FieldRef::Occupied(zone)),
                ("full", FieldRef::Full(zone)),
                ("quiet", FieldRef::Quiet(zone)),
                ("restricted", FieldRef::Restricted(zone)),
                ("max_speed", FieldRef::MaxSpeed(zone)),
            ]);
        }
        if self.declared.iter().any(|name| &**name == entity) || self.seen(entity).is_some() {
            fields.extend([
                ("zone", FieldRef::AgentZone(entity.into())),
                ("stimulus", FieldRef::AgentStimulus(entity.into())),
            ]);
        }
        if let Some(regime) = self.regimes.find(entity) {
            fields.push(("active", FieldRef::Regime(regime)));
        }
        if entity == REGIME {
            fields.extend(self.regimes.names().enumerate().map(|(i, name)| (name, FieldRef::Regime(i))));
        }
        fields
    }

    fn find(
        &self,
        entity: &str,
        field: &str,
        verb: &'static str,
        usable: fn(&FieldRef) -> bool,
    ) -> Result<FieldRef, FieldError> {
        let mut fields = self.fields_of(entity);
        if fields.is_empty() && entity != REGIME {
            let meant = nearest(entity, self.entity_names()).map(str::to_owned);
            return Err(FieldError::UnknownEntity { entity: entity.to_owned(), meant });
        }
        fields.retain(|(_, field)| usable(field));
        if let Some((_, found)) = fields.iter().find(|(name, _)| *name == field) {
            return Ok(found.clone());
        }
        let names: Vec<String> = fields.iter().map(|(name, _)| format!("`{name}`")).collect();
        let has = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
        Err(FieldError::UnknownField { entity: entity.to_owned(), field: field.to_owned(), verb, has })
    }

    fn resolve(&self, entity: &str, field: &str) -> Result<FieldRef, FieldError> {
        self.find(entity, field, "read", FieldRef::is_readable)
    }

    fn entity_names(&self) -> impl Iterator<Item = &str> {
        let doors = self.doors.iter().map(|door| &*door.name);
        let schedules = self.schedules.iter().map(|schedule| &*schedule.name);
        let signals = self.signals.iter().map(|signal| &*signal.name);
        let zones = self.zones.iter().map(|zone| &*zone.name);
        let declared = self.declared.iter().map(|name| &**name);
        doors.chain(schedules).chain(signals).chain(zones).chain(declared).chain(self.regimes.names())
    }

    fn read(&self, field: &FieldRef) -> Option<FieldValue<'_>> {
        let door = |door: usize| self.doors[door].state(&self.regimes);
        Some(match *field {
            FieldRef::DoorState(i) => FieldValue::Text(door(i).phase.as_str()),
            FieldRef::DoorOpen(i) => FieldValue::Bool(door(i).passable()),
            FieldRef::DoorFraction(i) => FieldValue::Number(door(i).fraction),
            FieldRef::DoorLocked(i) => FieldValue::Bool(door(i).locked),
            FieldRef::ScheduleActive(i) => FieldValue::Bool(self.schedules[i].is_active()),
            FieldRef::ScheduleValue(i) => self.schedules[i].value(),
            FieldRef::SignalPhase(i) => FieldValue::Text(&self.signals[i].phase()?.name),
            FieldRef::SignalStop(i) => FieldValue::Bool(self.signals[i].phase()?.stop),
            FieldRef::Pressed(ref carrier) => {
                let mut plates = self.plates.iter().filter(|plate| plate.carrier == *carrier);
                FieldValue::Bool(plates.any(|plate| plate.pressed))
            }
            FieldRef::Occupancy(i) => FieldValue::Number(f64::from(self.zones[i].people)),
            FieldRef::Occupied(i) => FieldValue::Bool(self.zones[i].people > 0),
            FieldRef::Full(i) => FieldValue::Bool(self.zones[i].is_full()),
            FieldRef::Quiet(i) => FieldValue::Bool(self.zones[i].quiet),
            FieldRef::Restricted(i) => FieldValue::Bool(self.zones[i].restricted),
            FieldRef::MaxSpeed(i) => FieldValue::Number(self.zones[i].max_speed?),
            FieldRef::AgentZone(ref agent) => {
                let seen = self.seen(agent)?;
                let here = |level| seen.level.is_none_or(|on| on == level);
                let mut zones = self.zones_at(seen.position).filter(|zone| here(zone.level));
                FieldValue::Text(&zones.next()?.name)
            }
            FieldRef::AgentStimulus(_) => return None,
            FieldRef::Regime(i) => FieldValue::Bool(self.regimes.holds(i)),
        })
    }

    /// A condition whose value is one that the field can have.
    pub(super) fn condition(&self, entity: &str, field: &str, is: &str) -> Result<Condition, FieldError> {
        let found = self.resolve(entity, field)?;
        let wrong = |expected: &str, meant: Option<&str>| FieldError::Value {
            entity: entity.to_owned(),
            field: field.to_owned(),
            value: is.to_owned(),
            expected: expected.to_owned(),
            meant: meant.map(str::to_owned),
        };
        let one_of = |names: &[&str]| {
            let meant = nearest(is, names.iter().copied());
            if names.contains(&is) {
                Ok(Stored::Text(is.into()))
            } else {
                Err(wrong(&format!("one of {}", names.join(", ")), meant))
            }
        };
        let phases = [DoorPhase::Closed, DoorPhase::Opening, DoorPhase::Open, DoorPhase::Closing]
            .map(DoorPhase::as_str);
        let mut zone = None;
        let is = match found {
            FieldRef::DoorState(_) => one_of(&phases)?,
            FieldRef::SignalPhase(i) => one_of(&self.signals[i].phase_names().collect::<Vec<_>>())?,
            FieldRef::AgentZone(_) => {
                zone = self.zones.iter().position(|zone| &*zone.name == is);
                let names = self.zones.iter().map(|zone| &*zone.name);
                zone.ok_or_else(|| wrong("the name of a zone", nearest(is, names)))?;
                Stored::Text(is.into())
            }
            FieldRef::ScheduleValue(_) | FieldRef::AgentStimulus(_) => Stored::Text(is.into()),
            FieldRef::DoorFraction(_) | FieldRef::Occupancy(_) | FieldRef::MaxSpeed(_) => {
                let number: Option<f64> = is.trim().parse().ok().filter(|x: &f64| x.is_finite());
                Stored::Number(number.ok_or_else(|| wrong("a number", None))?)
            }
            _ => Stored::Bool(boolean(is).ok_or_else(|| wrong("`true` or `false`", None))?),
        };
        Ok(Condition { field: found, is, zone })
    }

    pub(super) fn setting(&self, entity: &str, field: &str, value: &str) -> Result<Setting, FieldError> {
        let found = self.find(entity, field, "set", FieldRef::is_settable)?;
        let wrong = |expected: &str, meant: Option<&str>| FieldError::Value {
            entity: entity.to_owned(),
            field: field.to_owned(),
            value: value.to_owned(),
            expected: expected.to_owned(),
            meant: meant.map(str::to_owned),
        };
        if let FieldRef::SignalPhase(signal) = found {
            let phase = self.signals[signal].phase_named(value);
            let names = self.signals[signal].phase_names();
            let phase = phase.ok_or_else(|| wrong("the name of a phase", nearest(value, names)))?;
            return Ok(Setting::SignalPhase(signal, phase));
        }
        if let FieldRef::AgentStimulus(agent) = found {
            let stimulus = stimulus(value)
                .ok_or_else(|| wrong("`<name> <intensity>` with an intensity from 0 to 1", None))?;
            let (name, intensity) = stimulus;
            return Ok(Setting::Stimulus(Effect::Stimulus {
                agent: Some(agent),
                name: name.into(),
                intensity,
            }));
        }
        let on = boolean(value).ok_or_else(|| wrong("`true` or `false`", None))?;
        Ok(match found {
            FieldRef::DoorOpen(door) => Setting::DoorOpen(door, on),
            FieldRef::DoorLocked(door) => Setting::DoorLocked(door, on),
            FieldRef::ScheduleActive(schedule) => Setting::ScheduleActive(schedule, on),
            FieldRef::Pressed(carrier) => Setting::Pressed(carrier, on),
            FieldRef::Regime(regime) => Setting::Regime(regime, on),
            // `find` answers settable fields only.
            _ => return Err(wrong("a field that can be set", None)),
        })
    }

    pub(super) fn apply_all(&mut self, settings: &[Setting]) {
        for setting in settings {
            match setting {
                Setting::DoorOpen(door, on) => self.doors[*door].life.forced_open = *on,
                Setting::DoorLocked(door, on) => self.doors[*door].life.forced_lock = Some(*on),
                Setting::ScheduleActive(schedule, on) => self.schedules[*schedule].forced = Some(*on),
                Setting::SignalPhase(signal, phase) => self.signals[*signal].jump(*phase),
                Setting::Pressed(carrier, on) => {
                    let plates = self.plates.iter_mut().filter(|plate| plate.carrier == *carrier);
                    plates.for_each(|plate| plate.latched = *on);
                }
                Setting::Regime(regime, on) => self.said[*regime].set(*on, &mut self.regimes),
                Setting::Stimulus(effect) => self.pending.push(effect.clone()),
            }
        }
    }
}

/// `<name> <intensity>`.
fn stimulus(text: &str) -> Option<(&str, f32)> {
    let (name, intensity) = text.trim().rsplit_once(char::is_whitespace)?;
    let intensity: f32 = intensity.parse().ok()?;
    let name = name.trim_end();
    (!name.is_empty() && (0.0..=1.0).contains(&intensity)).then_some((name, intensity))
}
