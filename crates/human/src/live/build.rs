//! From files to a live world: every name is looked up here, once.
//!
//! A name that nobody has is a warning with its place, and what uses it has no effect.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use promenade_scenario::problem::nearest;
use promenade_scenario::{
    Point, Position, Preset, Problem, Scenario, Segment, Semantic, SetAction, Severity, Trigger, World, Zone,
};

use super::door::{Door, Gate, Life};
use super::fields::{FieldError, Stored};
use super::ground::{Bounds, Feature, Grid, Ground, Outline};
use super::plate::{Drives, Plate};
use super::regime::{Assertion, Regimes};
use super::schedule::{Schedule, Window};
use super::signal::{Signal, SignalPhase};
use super::timeline::{Due, Entry, Timeline};
use super::{LiveOptions, LiveWorld, USUAL_RADIUS};

/// Somebody waits for a regime.
struct Listener {
    regime: usize,
    key: &'static str,
    file: PathBuf,
    at: Position,
}

struct Builder {
    live: LiveWorld,
    /// Regimes that somebody can assert.
    asserted: Vec<usize>,
    listeners: Vec<Listener>,
    /// What each plate drives, by name, and where that is written.
    drives: Vec<(Option<String>, PathBuf, Position)>,
}

impl LiveWorld {
    /// The running things of a world and a scenario. `offset` is where the world's origin lies in `map`. What has no effect is in
    /// [`LiveWorld::problems`].
    #[must_use]
    pub fn new(world: &World, scenario: &Scenario, offset: [f64; 2], options: LiveOptions) -> Self {
        let residents = world.zones().flat_map(|(_, zone)| &zone.dynamics);
        let people = residents.chain(&scenario.dynamics).map(|entry| entry.name.as_str().into());
        let robots = scenario.robots.iter().enumerate().map(|(i, robot)| match &robot.name {
            Some(name) => name.as_str().into(),
            None => format!("robot_{i}").into(),
        });
        let live = LiveWorld {
            options,
            offset,
            levels: world.levels.iter().map(|level| level.id.as_str().into()).collect(),
            declared: people.chain(robots).collect(),
            doors: Vec::new(),
            schedules: Vec::new(),
            signals: Vec::new(),
            plates: Vec::new(),
            zones: Vec::new(),
            regimes: Regimes::default(),
            said: Vec::new(),
            grid: Grid::default(),
            timeline: Timeline::default(),
            problems: Vec::new(),
            last: None,
            elapsed: 0,
            fresh: true,
            roster: Vec::new(),
            present: 0,
            pending: Vec::new(),
            effects: Vec::new(),
        };
        let mut builder = Builder { live, asserted: Vec::new(), listeners: Vec::new(), drives: Vec::new() };
        for (index, level) in world.levels.iter().enumerate() {
            for zone in &level.zones {
                builder.zone(zone, index, &level.file);
            }
        }
        builder.connect_plates();
        builder.live.grid = builder.grid();
        builder.timeline(scenario);
        builder.tasks(scenario);
        builder.unheard();
        builder.live.reset();
        builder.live
    }
}

impl Builder {
    fn zone(&mut self, zone: &Zone, level: usize, file: &Path) {
        let corners: Vec<Point> = zone.corners.iter().map(|corner| self.placed(*corner)).collect();
        self.live.zones.push(Ground {
            name: zone.name.as_str().into(),
            level,
            outline: Outline::new(corners),
            max_speed: zone.max_speed().filter(|speed| *speed > 0.0),
            cap: zone.occupancy_cap(),
            quiet: zone.quiet(),
            restricted: zone.restricted(),
            people: 0,
        });
        for door in &zone.doors {
            self.door(door, level, file);
        }
        self.mechanisms(&zone.name, &zone.semantics, level, file, zone.at);
        for mechanism in zone.schedules.iter().chain(&zone.signals) {
            self.mechanisms(&mechanism.name, &mechanism.semantics, level, file, mechanism.at);
        }
    }

    fn door(&mut self, door: &promenade_scenario::Door, level: usize, file: &Path) {
        let gate = match door.gate() {
            Some(Preset::Gate { authorized, unlock_on }) => Some(Gate {
                authorized: authorized.iter().map(|name| name.as_str().into()).collect(),
                unlock_on: self.listen(unlock_on.as_deref(), "unlock_on", file, door.at),
            }),
            _ => None,
        };
        let per_squared_length = Some(door.line.length().powi(-2)).filter(|per| per.is_finite());
        let is_sudden = door.kind == promenade_scenario::DoorKind::Teleport;
        self.live.doors.push(Door {
            name: door.name.as_str().into(),
            level,
            line: Segment { start: self.placed(door.line.start), end: self.placed(door.line.end) },
            per_squared_length: per_squared_length.unwrap_or(0.0),
            half_width: door.width / 2.0,
            activation: door.activation_distance,
            transition: if is_sudden { 0 } else { nanos(door.transition_time) },
            hold: nanos(door.hold_time),
            gate,
            life: Life::default(),
        });
        self.mechanisms(&door.name, &door.semantics, level, file, door.at);
    }

    /// Schedules, signals and plates among the semantics of something.
    fn mechanisms(&mut self, carrier: &str, semantics: &[Semantic], level: usize, file: &Path, at: Position) {
        for semantic in semantics {
            let Semantic::Preset(preset) = semantic else { continue };
            match preset {
                Preset::Schedule { windows, default, regime } => {
                    let windows = windows
                        .iter()
                        .map(|window| Window {
                            start: nanos(window.start),
                            end: nanos(window.end),
                            value: window.value.as_ref().map(Stored::of),
                        })
                        .collect();
                    let regime = self.assert(regime.as_deref());
                    let default = default.as_ref().map(Stored::of);
                    self.live.schedules.push(Schedule::new(carrier, windows, default, regime));
                }
                Preset::Signal { phases, stop_phases, regime, recall_on } => {
                    let phases = phases
                        .iter()
                        .map(|phase| SignalPhase {
                            name: phase.name.as_str().into(),
                            duration: nanos(phase.duration).max(1),
                            stop: stop_phases.contains(&phase.name),
                        })
                        .collect();
                    let regime = self.assert(regime.as_deref());
                    let recall_on = self.listen(recall_on.as_deref(), "recall_on", file, at);
                    self.live.signals.push(Signal::new(carrier, phases, regime, recall_on));
                }
                Preset::PressurePlate { position, radius, drives, latch, press_on } => {
                    let press_on = self.listen(press_on.as_deref(), "press_on", file, at);
                    self.drives.push((drives.clone(), file.to_owned(), at));
                    self.live.plates.push(Plate {
                        carrier: carrier.into(),
                        level,
                        centre: self.placed(*position),
                        radius: *radius,
                        latch: *latch,
                        press_on,
                        drives: Drives::Nothing,
                        weighed: false,
                        latched: false,
                        pressed: false,
                    });
                }
                Preset::Gate { .. } | Preset::OccupancyCap { .. } | Preset::Other { .. } => {}
            }
        }
    }

    /// A plate without `drives` opens the door that carries it.
    fn connect_plates(&mut self) {
        for (plate, (drives, file, at)) in std::mem::take(&mut self.drives).into_iter().enumerate() {
            let carrier = Arc::clone(&self.live.plates[plate].carrier);
            let live = &self.live;
            let door = |name: &str| live.doors.iter().position(|door| &*door.name == name);
            let schedule = |name: &str| live.schedules.iter().position(|other| &*other.name == name);
            let signal = |name: &str| live.signals.iter().position(|other| &*other.name == name);
            let found = match &drives {
                None => Some(door(&carrier).map_or(Drives::Nothing, Drives::Door)),
                Some(name) => door(name)
                    .map(Drives::Door)
                    .or_else(|| schedule(name).map(Drives::Schedule))
                    .or_else(|| signal(name).map(Drives::Signal)),
            };
            let found = match (found, drives) {
                (Some(found), _) => found,
                (None, Some(name)) if self.live.regimes.find(&name).is_some() => {
                    Drives::Regime(Assertion::of(self.assert(Some(&name))))
                }
                (None, name) => {
                    let name = name.unwrap_or_default();
                    let message = format!(
                        "the plate drives {name:?}, and no door, schedule, signal or regime is named so"
                    );
                    let meant = nearest(&name, self.driveable()).map(str::to_owned);
                    self.warn(&file, at, message, meant);
                    Drives::Nothing
                }
            };
            self.live.plates[plate].drives = found;
        }
    }

    fn driveable(&self) -> impl Iterator<Item = &str> {
        let doors = self.live.doors.iter().map(|door| &*door.name);
        let schedules = self.live.schedules.iter().map(|schedule| &*schedule.name);
        let signals = self.live.signals.iter().map(|signal| &*signal.name);
        doors.chain(schedules).chain(signals).chain(self.live.regimes.names())
    }

    fn grid(&self) -> Grid {
        let live = &self.live;
        let zones = live.zones.iter().enumerate().map(|(i, zone)| (Feature::Zone(i), zone.outline.bounds));
        let doors = live.doors.iter().enumerate().map(|(i, door)| {
            let reach = door.activation.max(door.half_width + USUAL_RADIUS);
            (Feature::Door(i), Bounds::around(&[door.line.start, door.line.end], reach))
        });
        let plates = live
            .plates
            .iter()
            .enumerate()
            .map(|(i, plate)| (Feature::Plate(i), Bounds::around(&[plate.centre], plate.radius)));
        Grid::new(&zones.chain(doors).chain(plates).collect::<Vec<_>>())
    }

    fn timeline(&mut self, scenario: &Scenario) {
        // A timeline may bring a regime of its own into being, for agents that have a need of its name.
        for set in scenario.timeline.iter().flat_map(|entry| &entry.set) {
            if set.entity == "regime" {
                self.assert(Some(&set.field));
            }
        }
        self.live.said = (0..self.live.regimes.names().count()).map(|i| Assertion::of(Some(i))).collect();
        for entry in &scenario.timeline {
            let due = match &entry.trigger {
                Trigger::At(at) => Ok(Due::At { at: nanos(*at), done: false }),
                Trigger::Every { period, offset, until } => Ok(Due::Every {
                    period: nanos(*period).max(1),
                    offset: nanos(*offset),
                    until: until.map(nanos),
                    next: nanos(*offset),
                }),
                Trigger::When { entity, field, is } => self
                    .live
                    .condition(entity, field, is)
                    .map(|condition| Due::When { condition, was: false }),
            };
            let due = match due {
                Ok(due) => due,
                Err(error) => {
                    self.refuse(&scenario.file, entry.at, &error);
                    continue;
                }
            };
            let mut settings = Vec::with_capacity(entry.set.len());
            for SetAction { entity, field, value, at } in &entry.set {
                match self.live.setting(entity, field, value) {
                    Ok(setting) => settings.push(setting),
                    Err(error) => self.refuse(&scenario.file, *at, &error),
                }
            }
            self.live.timeline.entries.push(Entry { due, set: settings });
        }
        let said = scenario.timeline.iter().flat_map(|entry| &entry.set);
        let said: Vec<usize> = said.filter_map(|set| self.live.regimes.find(&set.entity)).collect();
        self.asserted.extend(said);
    }

    /// A phase whose condition cannot be read fails when it is its turn; its author learns it now.
    fn tasks(&mut self, scenario: &Scenario) {
        for phase in scenario.robots.iter().flat_map(|robot| &robot.phases) {
            let Some(until) = &phase.until else { continue };
            if let Err(error) = self.live.condition(&until.entity, &until.field, &until.value) {
                self.warn(&scenario.file, phase.at, format!("the phase will fail: {error}"), None);
            }
        }
    }

    /// Whoever waits for a regime that nobody ever asserts waits for ever.
    fn unheard(&mut self) {
        for Listener { regime, key, file, at } in std::mem::take(&mut self.listeners) {
            if self.asserted.contains(&regime) {
                continue;
            }
            let name = self.live.regimes.names().nth(regime).unwrap_or_default().to_owned();
            let known: Vec<&str> =
                self.asserted.iter().filter_map(|&i| self.live.regimes.names().nth(i)).collect();
            let meant = nearest(&name, known).map(str::to_owned);
            let message = format!("`{key}` waits for the regime {name:?}, which nothing asserts");
            self.warn(&file, at, message, meant);
        }
    }

    fn listen(
        &mut self,
        regime: Option<&str>,
        key: &'static str,
        file: &Path,
        at: Position,
    ) -> Option<usize> {
        let regime = self.live.regimes.intern(regime?);
        self.listeners.push(Listener { regime, key, file: file.to_owned(), at });
        Some(regime)
    }

    fn assert(&mut self, regime: Option<&str>) -> Option<usize> {
        let regime = self.live.regimes.intern(regime?);
        self.asserted.push(regime);
        Some(regime)
    }

    fn placed(&self, authored: Point) -> Point {
        let [x, y] = self.live.offset;
        Point::new(authored.x + x, authored.y + y)
    }

    fn refuse(&mut self, file: &Path, at: Position, error: &FieldError) {
        self.warn(file, at, format!("this has no effect: {error}"), None);
    }

    fn warn(&mut self, file: &Path, at: Position, message: String, suggestion: Option<String>) {
        self.live.problems.push(Problem {
            file: file.to_owned(),
            at,
            severity: Severity::Warning,
            path: String::new(),
            message,
            suggestion,
        });
    }
}

/// Whole nanoseconds of seconds that a file says; never negative, and no more than there are.
pub(super) fn nanos(seconds: f64) -> u64 {
    (seconds * 1e9).round() as u64
}
