//! The running things of a world: doors, gates, pressure plates, schedules, signals, regimes, timelines, zones and the
//! tasks of robots (world-file format, sections 2 and 3).
//!
//! [`LiveWorld`] is stepped with the time and with who is where, and answers what changed. It is pure: it moves nobody,
//! talks to no layer and knows no time but the one it is given. Everything is in `map`: the offset of the environment is
//! added to what files say.
//!
//! # A step
//!
//! 1. `at` and `every` of the timeline, in file order;
//! 2. who is near which door, on which plate, in which zone;
//! 3. schedules, plates, signals, and with them the regimes; each reads the regimes as those before it left them;
//! 4. a stimulus for each regime that turned true;
//! 5. doors;
//! 6. `when` of the timeline, in file order. What it sets shows in the next step.
//!
//! The clock may do what it likes: a step back counts as no time passing and the episode goes on from there; a leap ahead
//! is one step, in which a door changes its phase once and an `every` fires once.
//!
//! # Fields
//!
//! `until`, `when`, [`LiveWorld::field`] and [`LiveWorld::set`] know these. Where names of different kinds are the same, the
//! first in this list that has the field is meant.
//!
//! | entity | fields to read | to set |
//! |---|---|---|
//! | door | `state` (`closed`, `opening`, `open`, `closing`), `open` (passable), `fraction`, `locked` | `locked`, `open` (`true` holds it open, locked or not, until `false`) |
//! | schedule | `active`, `value` | `active` (from then on, whatever its windows say) |
//! | signal | `phase`, `stop` | `phase` |
//! | whatever carries a plate | `pressed` | `pressed` (`false` also unlatches) |
//! | zone | `occupancy` (people, not robots), `occupied`, `full`, `quiet`, `restricted`, `max_speed` | |
//! | person or robot | `zone`; in a condition true for each zone they are in, otherwise the first of them | `stimulus`: `<name> <intensity>` |
//! | regime | `active` | `active` |
//! | `regime` | the name of a regime | the name of a regime |

mod build;
mod door;
mod driver;
mod fields;
mod ground;
mod plate;
mod regime;
mod schedule;
mod signal;
mod task;
mod timeline;
mod ways;

use std::sync::Arc;

use promenade_kernel::Time;
use promenade_scenario::{Point, Problem};

pub use door::{DoorPhase, DoorState};
pub use driver::{DriveLimits, GAVE_UP, RobotDriver};
pub use fields::{FieldError, FieldValue};
pub use task::{RobotTask, TaskEvent};
pub use ways::Ways;

use door::Door;
use ground::{Feature, Grid, Ground};
use plate::{Drives, Plate};
use regime::{Assertion, Regimes};
use schedule::Schedule;
use signal::Signal;
use timeline::Timeline;

/// Discs larger than this are compared with every door, not only with those the grid has at their place; metres.
const USUAL_RADIUS: f64 = 1.0;

/// What a live world is to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LiveOptions {
    /// Whether `max_speed` has an effect (`world.zone_semantics`).
    pub zone_semantics: bool,
}

impl Default for LiveOptions {
    fn default() -> Self {
        LiveOptions { zone_semantics: true }
    }
}

/// What somebody is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OccupantKind {
    /// A person.
    Person,
    /// A robot.
    Robot,
}

impl OccupantKind {
    /// `person` or `robot`, as `authorized` may say.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            OccupantKind::Person => "person",
            OccupantKind::Robot => "robot",
        }
    }
}

/// Somebody on the floor. One with a position that is not finite is nowhere; any other radius counts as 0.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Occupant<'a> {
    /// Name as authored, which files use.
    pub name: &'a str,
    /// What they are.
    pub kind: OccupantKind,
    /// Agent type of a person, which `authorized` may name; may be empty.
    pub agent_type: &'a str,
    /// Where they are in `map`, metres.
    pub position: [f64; 2],
    /// Radius of the disc they take up, metres.
    pub radius: f64,
    /// The level they are on; without it, and with one that the world does not have, they are on every level.
    pub level: Option<&'a str>,
}

/// Something that changed.
#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    /// A door, by name, became a wall; at the first step also each door, since all begin closed.
    DoorClosed(Arc<str>),
    /// A door, by name, became passable.
    DoorOpened(Arc<str>),
    /// Somebody notices something.
    Stimulus {
        /// Authored name; `None` = everybody.
        agent: Option<Arc<str>>,
        /// Name of the stimulus: the need that it sets.
        name: Arc<str>,
        /// 0 to 1.
        intensity: f32,
    },
}

/// Somebody as of the last step.
#[derive(Debug)]
struct Seen {
    name: String,
    position: Point,
    radius: f64,
    level: Option<usize>,
}

/// See the module. One per episode, or started anew for each.
#[derive(Debug)]
pub struct LiveWorld {
    options: LiveOptions,
    /// Where the world's origin lies in `map`.
    offset: [f64; 2],
    levels: Vec<Arc<str>>,
    /// People and robots that files declare.
    declared: Vec<Arc<str>>,
    doors: Vec<Door>,
    schedules: Vec<Schedule>,
    signals: Vec<Signal>,
    plates: Vec<Plate>,
    zones: Vec<Ground>,
    regimes: Regimes,
    /// What timelines say about regimes, by regime.
    said: Vec<Assertion>,
    grid: Grid,
    timeline: Timeline,
    problems: Vec<Problem>,
    /// Reading of the clock at the last step; `None` before the start.
    last: Option<Time>,
    /// Nanoseconds of the episode.
    elapsed: u64,
    /// No step since the start.
    fresh: bool,
    roster: Vec<Seen>,
    /// How many of `roster` are there; the rest keep their memory.
    present: usize,
    /// Stimuli that were set and not yet reported.
    pending: Vec<Effect>,
    effects: Vec<Effect>,
}

impl LiveWorld {
    /// What in the files has no effect here, such as a timeline that sets a field nobody has: warnings for their author.
    #[must_use]
    pub fn problems(&self) -> &[Problem] {
        &self.problems
    }

    /// Begins the episode at `now`: doors closed, plates and timelines as on the first day. What was set before is forgotten.
    pub fn start(&mut self, now: Time) {
        self.reset();
        self.last = Some(now);
    }

    fn reset(&mut self) {
        self.regimes.reset();
        self.doors.iter_mut().for_each(|door| door.life = door::Life::default());
        self.schedules.iter_mut().for_each(Schedule::reset);
        self.signals.iter_mut().for_each(Signal::reset);
        self.plates.iter_mut().for_each(Plate::reset);
        self.zones.iter_mut().for_each(|zone| zone.people = 0);
        self.said.iter_mut().for_each(Assertion::reset);
        self.pending.clear();
        self.effects.clear();
        (self.present, self.elapsed, self.fresh, self.last) = (0, 0, true, None);
        let mut timeline = std::mem::take(&mut self.timeline);
        timeline.reset(self);
        self.timeline = timeline;
    }

    /// One step to `now`, with everybody who is there in any order. Answers what changed, in a fixed order. Without
    /// [`LiveWorld::start`] the first step begins the episode.
    pub fn step<'o>(&mut self, now: Time, occupants: impl IntoIterator<Item = Occupant<'o>>) -> &[Effect] {
        let last = self.last.replace(now).unwrap_or(now);
        let dt = u64::try_from(now.saturating_since(last).as_nanos()).unwrap_or(u64::MAX);
        self.elapsed = self.elapsed.saturating_add(dt);
        self.effects.clear();
        if std::mem::take(&mut self.fresh) {
            self.effects.extend(self.doors.iter().map(|door| Effect::DoorClosed(Arc::clone(&door.name))));
        }
        self.signals.iter_mut().for_each(|signal| signal.advance(dt));
        let mut timeline = std::mem::take(&mut self.timeline);
        timeline.step_timed(self);
        self.observe(occupants);
        self.step_sources();
        self.effects.append(&mut self.pending);
        let effects = &mut self.effects;
        self.regimes.turned_true(|name| {
            effects.push(Effect::Stimulus { agent: None, name: Arc::clone(name), intensity: 1.0 });
        });
        self.step_doors(dt);
        timeline.step_conditions(self);
        self.timeline = timeline;
        self.effects.append(&mut self.pending);
        &self.effects
    }

    fn observe<'o>(&mut self, occupants: impl IntoIterator<Item = Occupant<'o>>) {
        self.zones.iter_mut().for_each(|zone| zone.people = 0);
        self.present = 0;
        for occupant in occupants {
            let position = Point::from(occupant.position);
            if !(position.x.is_finite() && position.y.is_finite()) {
                continue;
            }
            let level = self.level(occupant.level);
            let radius = if occupant.radius.is_finite() { occupant.radius.max(0.0) } else { 0.0 };
            self.remember(occupant.name, position, radius, level);
            let here = |of: usize| level.is_none_or(|level| level == of);
            let is_named = |entry: &str| {
                entry == occupant.name || entry == occupant.agent_type || entry == occupant.kind.as_str()
            };
            let is_large = radius > USUAL_RADIUS;
            if is_large {
                for door in self.doors.iter_mut().filter(|door| here(door.level)) {
                    door.observe(position, radius, is_named);
                }
            }
            for feature in self.grid.at(position) {
                match *feature {
                    Feature::Door(door) if !is_large => {
                        let door = &mut self.doors[door];
                        if here(door.level) {
                            door.observe(position, radius, is_named);
                        }
                    }
                    Feature::Door(_) => {}
                    Feature::Zone(zone) => {
                        let zone = &mut self.zones[zone];
                        let counts = occupant.kind == OccupantKind::Person && here(zone.level);
                        zone.people += u32::from(counts && zone.contains(position));
                    }
                    Feature::Plate(plate) => {
                        let plate = &mut self.plates[plate];
                        plate.weighed |= here(plate.level) && plate.centre.distance(position) <= plate.radius;
                    }
                }
            }
        }
    }

    fn level(&self, id: Option<&str>) -> Option<usize> {
        self.levels.iter().position(|known| Some(&**known) == id)
    }

    fn remember(&mut self, name: &str, position: Point, radius: f64, level: Option<usize>) {
        match self.roster.get_mut(self.present) {
            Some(seen) => {
                if seen.name != name {
                    name.clone_into(&mut seen.name);
                }
                (seen.position, seen.radius, seen.level) = (position, radius, level);
            }
            None => self.roster.push(Seen { name: name.to_owned(), position, radius, level }),
        }
        self.present += 1;
    }

    fn step_sources(&mut self) {
        for schedule in &mut self.schedules {
            schedule.step(self.elapsed, &mut self.regimes);
        }
        self.schedules.iter_mut().for_each(|schedule| schedule.driven = false);
        self.signals.iter_mut().for_each(|signal| signal.driven = false);
        for plate in &mut self.plates {
            plate.step(&mut self.regimes);
            match plate.drives {
                Drives::Door(door) if plate.pressed => self.doors[door].drive(),
                Drives::Schedule(schedule) => self.schedules[schedule].driven |= plate.pressed,
                Drives::Signal(signal) => self.signals[signal].driven |= plate.pressed,
                _ => {}
            }
        }
        for signal in &mut self.signals {
            signal.step(&mut self.regimes);
        }
    }

    fn step_doors(&mut self, dt: u64) {
        for door in &mut self.doors {
            let was_passable = door.is_passable();
            door.step(dt, &self.regimes);
            match (was_passable, door.is_passable()) {
                (false, true) => self.effects.push(Effect::DoorOpened(Arc::clone(&door.name))),
                (true, false) => self.effects.push(Effect::DoorClosed(Arc::clone(&door.name))),
                _ => {}
            }
        }
    }

    /// Seconds of the episode: the forward steps of the clock since the start.
    #[must_use]
    pub fn elapsed(&self) -> f64 {
        self.elapsed as f64 / 1e9
    }

    /// The door of a name.
    #[must_use]
    pub fn door(&self, name: &str) -> Option<DoorState> {
        let door = self.doors.iter().find(|door| &*door.name == name)?;
        Some(door.state(&self.regimes))
    }

    /// All doors in file order: name, the line in `map` from start to end, state.
    pub fn doors(&self) -> impl Iterator<Item = (&str, [[f64; 2]; 2], DoorState)> {
        self.doors.iter().map(|door| {
            let line = [door.line.start.into(), door.line.end.into()];
            (&*door.name, line, door.state(&self.regimes))
        })
    }

    /// Whether a regime holds; one that nobody knows does not.
    #[must_use]
    pub fn regime(&self, name: &str) -> bool {
        self.regimes.find(name).is_some_and(|regime| self.regimes.holds(regime))
    }

    /// The least `max_speed` of the zones at a place, m/s; infinite when none has one or zone semantics are off. Levels that
    /// lie above each other all count, since nobody knows here which is meant.
    #[must_use]
    pub fn speed_limit(&self, p: [f64; 2]) -> f64 {
        if !self.options.zone_semantics {
            return f64::INFINITY;
        }
        self.zones_at(p.into()).filter_map(|zone| zone.max_speed).fold(f64::INFINITY, f64::min)
    }

    /// The zones of every level at a place, in file order.
    fn zones_at(&self, p: Point) -> impl Iterator<Item = &Ground> {
        self.grid.at(p).iter().filter_map(move |feature| match *feature {
            Feature::Zone(zone) if self.zones[zone].contains(p) => Some(&self.zones[zone]),
            _ => None,
        })
    }

    /// Everybody of the last step.
    fn everybody(&self) -> &[Seen] {
        &self.roster[..self.present]
    }

    /// Somebody of the last step, by authored name.
    fn seen(&self, name: &str) -> Option<&Seen> {
        self.everybody().iter().find(|seen| seen.name == name)
    }
}
