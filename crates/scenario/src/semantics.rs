//! Semantics of zones, doors, schedules and signals: states, predicates and presets (world-file format, section 2).
//!
//! Names this product has no meaning for are kept as they are; this module gives none of them an effect.

use std::collections::BTreeSet;

use crate::decode::{Decoder, Fields, Unknown};
use crate::geometry::Point;
use crate::problem::{Position, nearest};
use crate::tree::{Node, join};

/// One item of a `semantics:` list.
#[derive(Debug, Clone, PartialEq)]
pub enum Semantic {
    /// A value, such as `max_speed`.
    State {
        /// Its name.
        name: String,
        /// Its value, as written.
        value: Node,
    },
    /// Something that holds or not, such as `quiet`.
    Predicate {
        /// Its name.
        name: String,
        /// Its value, as written.
        value: Node,
    },
    /// A ready-made behaviour.
    Preset(Preset),
}

/// A ready-made behaviour with its parameters.
#[derive(Debug, Clone, PartialEq)]
pub enum Preset {
    /// A door that opens for some, or while a regime holds.
    Gate {
        /// Who may pass; empty means nobody in particular is named.
        authorized: Vec<String>,
        /// Regime that unlocks it.
        unlock_on: Option<String>,
    },
    /// A place that drives something while someone stands on it.
    PressurePlate {
        /// Its centre.
        position: Point,
        /// Its radius, metres.
        radius: f64,
        /// What it drives.
        drives: Option<String>,
        /// Whether it stays pressed.
        latch: bool,
        /// Regime that presses it.
        press_on: Option<String>,
    },
    /// Most people a zone takes.
    OccupancyCap {
        /// The number.
        cap: i64,
    },
    /// A signal that runs through phases.
    Signal {
        /// Phases in order.
        phases: Vec<SignalPhase>,
        /// Names of the phases that mean stop.
        stop_phases: Vec<String>,
        /// Regime asserted by a stop phase.
        regime: Option<String>,
        /// Regime that calls the first phase back.
        recall_on: Option<String>,
    },
    /// A schedule that is active in time windows.
    Schedule {
        /// Windows in file order.
        windows: Vec<Window>,
        /// Value outside every window, as written.
        default: Option<Node>,
        /// Regime asserted while active.
        regime: Option<String>,
    },
    /// A preset this product does not know.
    Other {
        /// Its kind.
        kind: String,
        /// Its parameters, as written.
        params: Node,
    },
}

/// One phase of a signal.
#[derive(Debug, Clone, PartialEq)]
pub struct SignalPhase {
    /// Its name.
    pub name: String,
    /// Seconds it lasts, greater than 0.
    pub duration: f64,
}

/// A time window of a schedule.
#[derive(Debug, Clone, PartialEq)]
pub struct Window {
    /// First second.
    pub start: f64,
    /// Last second, greater than `start`.
    pub end: f64,
    /// Value inside the window, as written.
    pub value: Option<Node>,
}

/// The value of a state of this name.
#[must_use]
pub fn state<'a>(semantics: &'a [Semantic], wanted: &str) -> Option<&'a Node> {
    semantics.iter().find_map(|s| match s {
        Semantic::State { name, value } if name == wanted => Some(value),
        _ => None,
    })
}

/// Whether a predicate of this name is true.
#[must_use]
pub fn predicate(semantics: &[Semantic], wanted: &str) -> bool {
    semantics.iter().any(
        |s| matches!(s, Semantic::Predicate { name, value } if name == wanted && value.as_bool() == Some(true)),
    )
}

/// Words with a meaning, and what they are.
const VOCABULARY: [(&str, &str); 3] =
    [("state", "max_speed"), ("predicate", "quiet"), ("predicate", "restricted")];

const PRESETS: [&str; 5] = ["gate", "pressure_plate", "occupancy_cap", "signal", "schedule"];

impl Decoder {
    pub(crate) fn semantics(&mut self, fields: &Fields<'_>) -> Vec<Semantic> {
        fields
            .read(self, "semantics", |d, n, p| Some(d.list_of(n, p, "semantics", Self::semantic)))
            .unwrap_or_default()
    }

    fn semantic(&mut self, node: &Node, path: &str) -> Option<Semantic> {
        let fields =
            self.fields(node, path, "a semantic", &["state", "predicate", "value", "preset", "params"])?;
        let kinds = ["state", "predicate", "preset"];
        let present: Vec<&str> = kinds.into_iter().filter(|k| fields.get(k).is_some()).collect();
        let [kind] = present[..] else {
            fields.finish(self, Unknown::Closed, &[]);
            self.error(
                fields.at,
                path,
                format!("expected exactly one of `state`, `predicate` and `preset`, found {}", present.len()),
            );
            return None;
        };
        fields.finish(self, Unknown::Closed, &[]);
        let name = fields.read(self, kind, Self::name)?;
        if kind == "preset" {
            let empty = Node::empty_map();
            let params = fields.get("params").unwrap_or(&empty);
            return self.preset(name, node, params, &fields.path_of("params")).map(Semantic::Preset);
        }
        let Some(value) = fields.get("value").cloned() else {
            self.error(fields.at, path, format!("`{kind}: {name}` needs a `value`"));
            return None;
        };
        self.zone_vocabulary(kind, &name, &value, fields.key_at(kind), path);
        Some(if kind == "state" {
            Semantic::State { name, value }
        } else {
            Semantic::Predicate { name, value }
        })
    }

    /// The words this product gives a meaning must have the type it needs. Any other is kept verbatim, and told about when it looks
    /// like one of them.
    fn zone_vocabulary(&mut self, kind: &str, name: &str, value: &Node, at: Position, path: &str) {
        let value_path = join(path, "value");
        match (kind, name) {
            ("state", "max_speed") => {
                self.positive(value, &value_path);
            }
            ("predicate", "quiet" | "restricted") => {
                self.boolean(value, &value_path);
            }
            _ => {
                let is_meant = |word: &str| word == name || nearest(name, [word]).is_some();
                if let Some((known, meant)) = VOCABULARY.into_iter().find(|(_, word)| is_meant(word)) {
                    let message = format!("the {kind} {name:?} is kept without effect");
                    self.warning_try(at, path, message, Some(format!("{known}: {meant}")));
                }
            }
        }
    }

    fn preset(&mut self, kind: String, node: &Node, params: &Node, path: &str) -> Option<Preset> {
        match kind.as_str() {
            "gate" => {
                let fields = self.fields(params, path, "gate parameters", &["authorized", "unlock_on"])?;
                fields.finish(self, Unknown::Closed, &[]);
                Some(Preset::Gate {
                    authorized: self.names(&fields, "authorized"),
                    unlock_on: fields.read(self, "unlock_on", Self::name),
                })
            }
            "pressure_plate" => self.pressure_plate(params, path),
            "occupancy_cap" => {
                let mut fields = self.fields(params, path, "cap parameters", &["cap"])?;
                let cap = fields.require(self, "cap", "a number of people");
                fields.finish(self, Unknown::Closed, &[]);
                let node = cap?;
                let cap = self.integer(node, &fields.path_of("cap"))?;
                if cap < 0 {
                    self.error(node.at, &fields.path_of("cap"), "must not be negative");
                }
                Some(Preset::OccupancyCap { cap })
            }
            "signal" => self.signal_preset(params, path),
            "schedule" => self.schedule_preset(params, path),
            _ => {
                if let Some(meant) = nearest(&kind, PRESETS) {
                    self.warning_try(
                        node.at,
                        path,
                        format!("unknown preset {kind:?}, kept without effect"),
                        Some(meant.to_owned()),
                    );
                }
                Some(Preset::Other { kind, params: params.clone() })
            }
        }
    }

    fn names(&mut self, fields: &Fields<'_>, key: &str) -> Vec<String> {
        fields.read(self, key, |d, n, p| Some(d.list_of(n, p, "names", Self::name))).unwrap_or_default()
    }

    fn pressure_plate(&mut self, params: &Node, path: &str) -> Option<Preset> {
        let mut fields = self.fields(
            params,
            path,
            "plate parameters",
            &["position", "radius", "drives", "latch", "press_on"],
        )?;
        let position = fields.require(self, "position", "a position `[x, y]`");
        let radius = fields.require(self, "radius", "metres");
        fields.finish(self, Unknown::Closed, &[]);
        let position = position.map(|n| self.point(n, &fields.path_of("position")));
        let radius = radius.map(|n| self.positive(n, &fields.path_of("radius")));
        Some(Preset::PressurePlate {
            position: position??,
            radius: radius??,
            drives: fields.read(self, "drives", Self::name),
            latch: fields.read(self, "latch", Self::boolean).unwrap_or(false),
            press_on: fields.read(self, "press_on", Self::name),
        })
    }

    fn signal_preset(&mut self, params: &Node, path: &str) -> Option<Preset> {
        let mut fields = self.fields(
            params,
            path,
            "signal parameters",
            &["phases", "stop_phases", "regime", "recall_on"],
        )?;
        let node = fields.require(self, "phases", "a list of `{name, duration}`");
        fields.finish(self, Unknown::Closed, &[]);
        let stop_phases = self.names(&fields, "stop_phases");
        let regime = fields.read(self, "regime", Self::name);
        let recall_on = fields.read(self, "recall_on", Self::name);
        let node = node?;
        let phases = self.list_of(node, &fields.path_of("phases"), "`{name, duration}`", |d, n, p| {
            let mut fields = d.fields(n, p, "a phase", &["name", "duration"])?;
            let name = fields.require(d, "name", "a name");
            let duration = fields.require(d, "duration", "seconds");
            fields.finish(d, Unknown::Closed, &[]);
            let name = name.map(|n| d.name(n, &fields.path_of("name")));
            let duration = duration.map(|n| d.positive(n, &fields.path_of("duration")));
            Some(SignalPhase { name: name??, duration: duration?? })
        });
        let names: BTreeSet<&str> = phases.iter().map(|p| p.name.as_str()).collect();
        for stop in &stop_phases {
            if !names.contains(stop.as_str()) {
                let meant = self.nearest(stop, names.iter().copied());
                self.error_try(
                    fields.key_at("stop_phases"),
                    &fields.path_of("stop_phases"),
                    format!("no phase is named {stop:?}"),
                    meant,
                );
            }
        }
        Some(Preset::Signal { phases, stop_phases, regime, recall_on })
    }

    fn schedule_preset(&mut self, params: &Node, path: &str) -> Option<Preset> {
        let fields = self.fields(params, path, "schedule parameters", &["windows", "default", "regime"])?;
        fields.finish(self, Unknown::Closed, &[]);
        let windows = fields
            .read(self, "windows", |d, n, p| Some(d.list_of(n, p, "`{start, end, value}`", Self::window)));
        Some(Preset::Schedule {
            windows: windows.unwrap_or_default(),
            default: fields.get("default").cloned(),
            regime: fields.read(self, "regime", Self::name),
        })
    }

    fn window(&mut self, node: &Node, path: &str) -> Option<Window> {
        let mut fields = self.fields(node, path, "a window", &["start", "end", "value"])?;
        let start = fields.require(self, "start", "seconds");
        let end = fields.require(self, "end", "seconds");
        fields.finish(self, Unknown::Closed, &[]);
        let start = start.map(|n| self.non_negative(n, &fields.path_of("start")));
        let end = end.map(|n| self.non_negative(n, &fields.path_of("end")));
        let (start, end) = (start??, end??);
        if end <= start {
            self.error(node.at, path, format!("the window ends at {end}, not after its start {start}"));
        }
        Some(Window { start, end, value: fields.get("value").cloned() })
    }
}
