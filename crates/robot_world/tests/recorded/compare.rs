//! Two documents of a run, compared key by key.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::ops::Range;

use serde_json::Value;

/// How far a run may be from the recorded one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tolerances {
    /// Of an object's position, and of all else about its motion; nothing where it is not compared. Given its name, the step and the step of
    /// its first arrival.
    pub(crate) state: fn(&str, u64, Option<u64>) -> Option<[f64; 2]>,
    /// An object of which the recorded `collision` and `stop` are not compared: they stay false.
    pub(crate) unobstructed: &'static str,
    /// Whether status and `done` are compared.
    pub(crate) outcome: bool,
}

impl Default for Tolerances {
    fn default() -> Self {
        Self { state: |_, _, _| Some([1e-6; 2]), unobstructed: "", outcome: true }
    }
}

impl Tolerances {
    pub(crate) fn contact() -> Self {
        Self { state: |_, _, _| Some([1e-5; 2]), ..Self::default() }
    }

    /// What an rvo robot does after its first arrival hinges on rounding.
    pub(crate) fn rvo() -> Self {
        Self {
            state: |_, step, arrival| arrival.is_none_or(|arrival| step <= arrival).then_some([1e-6; 2]),
            ..Self::default()
        }
    }

    /// The recorded planner of orca works in single precision: its limits are those of positions. What a differential robot does on its goal,
    /// turning on the spot, follows directions that rounding made.
    pub(crate) fn groups() -> Self {
        let state = |name: &str, step, arrival: Option<u64>| {
            let number: u32 = name.strip_prefix("robot_").and_then(|number| number.parse().ok()).unwrap_or(0);
            Some(match number {
                6..=9 => [1e-4, 1e-3],
                10..=12 if arrival.is_none_or(|arrival| step <= arrival) => [1e-3, 1e-2],
                10..=12 => [1e-2, f64::INFINITY],
                _ => [1e-6; 2],
            })
        };
        Self { state, ..Self::default() }
    }
}

/// What was found: problems, and the largest deviation of each quantity.
#[derive(Debug)]
pub(crate) struct Comparison<'t> {
    tolerances: &'t Tolerances,
    pub(crate) problems: Vec<String>,
    largest: BTreeMap<&'static str, f64>,
}

/// In the table, in this order.
const QUANTITIES: [&str; 7] = ["position", "heading", "velocity", "range", "contact", "depth", "force"];

impl fmt::Display for Comparison<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for quantity in QUANTITIES {
            match self.largest.get(quantity) {
                Some(largest) => write!(f, "{quantity} {largest:.1e}  ")?,
                None => write!(f, "{quantity:<width$}  ", width = quantity.len() + 8)?,
            }
        }
        Ok(())
    }
}

type Numbers = Vec<f64>;

fn numbers(value: &Value) -> Numbers {
    match value {
        Value::Array(items) => items.iter().flat_map(numbers).collect(),
        Value::Number(number) => vec![number.as_f64().expect("a number")],
        Value::String(word) if word == "inf" => vec![f64::INFINITY],
        _ => Vec::new(),
    }
}

fn items<'v>(document: &'v Value, key: &str) -> &'v [Value] {
    document[key].as_array().map_or(&[], Vec::as_slice)
}

/// Some items of a list, as far as there are.
fn part(list: &Value, range: Range<usize>) -> Value {
    list.as_array().into_iter().flatten().skip(range.start).take(range.len()).cloned().collect()
}

/// Names of both mappings.
fn names<'v>(a: &'v Value, b: &'v Value) -> BTreeSet<&'v str> {
    [a, b].into_iter().filter_map(Value::as_object).flatten().map(|(name, _)| name.as_str()).collect()
}

impl<'t> Comparison<'t> {
    pub(crate) fn new(tolerances: &'t Tolerances) -> Self {
        Self { tolerances, problems: Vec::new(), largest: BTreeMap::new() }
    }

    pub(crate) fn documents(&mut self, expected: &Value, found: &Value) {
        self.same("", expected, found, &["steps", "step_time", "seed", "collision_mode", "actions"]);
        self.objects(expected, found);
        self.trajectories(expected, found);
        self.flags(expected, found);
        self.same("", expected, found, &["goals_left"]);
        if self.tolerances.outcome {
            self.same("", expected, found, &["status", "done_all_step", "done_any_step"]);
        }
        self.near("final_time", "", &expected["final_time"], &found["final_time"], 1e-9);
        self.mapped("sensors", expected, found, 1e-8);
        self.scans(expected, found);
        self.same("", expected, found, &["fov"]);
        self.contacts(expected, found);
        self.forces(expected, found);
        self.same("", expected, found, &["contact_events"]);
        self.mapped("final_timers", expected, found, 1e-6);
    }

    fn problem(&mut self, what: String) {
        if self.problems.len() < 12 {
            self.problems.push(what);
        }
    }

    fn same(&mut self, place: &str, expected: &Value, found: &Value, keys: &[&str]) {
        for key in keys {
            if expected[key] != found[key] {
                let (expected, found) = (&expected[key], &found[key]);
                self.problem(format!("{place}{key}: found {found}, expected {expected}"));
            }
        }
    }

    /// Numbers within a limit; `quantity` is where the deviation is noted, if anywhere.
    fn near(&mut self, place: &str, quantity: &'static str, expected: &Value, found: &Value, limit: f64) {
        let (a, b) = (numbers(expected), numbers(found));
        if a.len() != b.len() {
            self.problem(format!("{place}: {} numbers, expected {}", b.len(), a.len()));
            return;
        }
        for (a, b) in a.iter().zip(&b) {
            let apart = if a == b { 0.0 } else { (a - b).abs() };
            // A heading of pi is one of -pi.
            let apart =
                if quantity == "heading" { apart.min((std::f64::consts::TAU - apart).abs()) } else { apart };
            let largest = self.largest.entry(quantity).or_insert(0.0);
            *largest = largest.max(apart);
            if !matches!(
                apart.partial_cmp(&limit),
                Some(std::cmp::Ordering::Less | std::cmp::Ordering::Equal)
            ) {
                self.problem(format!("{place}: found {b}, expected {a}, {apart:.2e} apart"));
                return;
            }
        }
    }

    fn objects(&mut self, expected: &Value, found: &Value) {
        let (expected, found) = (items(expected, "objects"), items(found, "objects"));
        if expected.len() != found.len() {
            self.problem(format!("objects: found {}, expected {}", found.len(), expected.len()));
        }
        for (expected, found) in expected.iter().zip(found) {
            let place = format!("objects.{}.", expected["name"]);
            self.same(
                &place,
                expected,
                found,
                &["id", "name", "role", "shape", "kinematics", "static", "unobstructed"],
            );
            // The object of a map has no group; the recorded one is in the first.
            if expected["shape"] != "map" {
                self.same(&place, expected, found, &["group"]);
            }
            let geometry =
                ["radius", "length", "width", "centroid", "state", "velocity", "goals", "vel_min", "vel_max"];
            for key in geometry.into_iter().chain(["mass", "friction", "inertia", "restitution", "drive_tau"])
            {
                self.near(&format!("{place}{key}"), "", &expected[key], &found[key], 2e-9);
            }
        }
    }

    fn trajectories(&mut self, expected: &Value, found: &Value) {
        let flags = &expected["flags"];
        let (expected, found) = (&expected["trajectory"], &found["trajectory"]);
        for name in names(expected, found) {
            let arrival = flags[name]["arrive"][0][0].as_u64();
            for key in ["state", "velocity"] {
                let (expected, found) = (items(&expected[name], key), items(&found[name], key));
                if expected.len() != found.len() {
                    self.problem(format!(
                        "trajectory.{name}.{key}: {} steps, expected {}",
                        found.len(),
                        expected.len()
                    ));
                }
                for (step, (expected, found)) in (1..).zip(expected.iter().zip(found)) {
                    let Some([position, rest]) = (self.tolerances.state)(name, step, arrival) else {
                        continue;
                    };
                    let place = format!("{name}.{key} after step {step}");
                    if key == "velocity" {
                        self.near(&place, "velocity", expected, found, rest);
                    } else {
                        self.near(&place, "position", &part(expected, 0..2), &part(found, 0..2), position);
                        self.near(&place, "heading", &part(expected, 2..9), &part(found, 2..9), rest);
                    }
                }
            }
        }
    }

    fn flags(&mut self, expected: &Value, found: &Value) {
        let arrivals = &expected["flags"];
        let (expected, found) = (&expected["flags"], &found["flags"]);
        for name in names(expected, found) {
            let arrival = arrivals[name]["arrive"][0][0].as_u64();
            for flag in ["arrive", "collision", "stop"] {
                let compared = |changes: &Value| -> Vec<Value> {
                    let changes = changes.as_array().map_or(&[][..], Vec::as_slice);
                    let counts = |change: &&Value| {
                        let step = change[0].as_u64().unwrap_or(0);
                        (self.tolerances.state)(name, step, arrival).is_some()
                    };
                    changes.iter().filter(counts).cloned().collect()
                };
                let mut wanted = compared(&expected[name][flag]);
                if name == self.tolerances.unobstructed && flag != "arrive" {
                    wanted.clear();
                }
                let found = compared(&found[name][flag]);
                if wanted != found {
                    self.problem(format!("{name}.{flag}: found {found:?}, expected {wanted:?}"));
                }
            }
        }
    }

    /// Mappings of mappings of numbers and words.
    fn mapped(&mut self, key: &str, expected: &Value, found: &Value, limit: f64) {
        let (expected, found) = (&expected[key], &found[key]);
        for name in names(expected, found) {
            for inner in names(&expected[name], &found[name]) {
                let (expected, found) = (&expected[name][inner], &found[name][inner]);
                if !expected.is_number() && expected != found {
                    self.problem(format!("{key}.{name}.{inner}: found {found}, expected {expected}"));
                }
                self.near(&format!("{key}.{name}.{inner}"), "", expected, found, limit);
            }
        }
    }

    fn scans(&mut self, expected: &Value, found: &Value) {
        let (expected, found) = (items(expected, "scans"), items(found, "scans"));
        if expected.len() != found.len() {
            self.problem(format!("scans: found {}, expected {}", found.len(), expected.len()));
        }
        for (expected, found) in expected.iter().zip(found) {
            self.same("scans.", expected, found, &["step"]);
            for name in names(expected, found).into_iter().filter(|name| *name != "step") {
                let place = format!("scan of {name} after step {}", expected["step"]);
                let (expected, found) = (&expected[name], &found[name]);
                self.same(&place, expected, found, &["valid"]);
                self.near(&place, "heading", &expected["origin"], &found["origin"], 1e-5);
                for (key, limit) in [("ranges", 1e-5), ("radial_velocity", 1e-5), ("velocity", 1e-6)] {
                    self.near(&format!("{place}, {key}"), "range", &expected[key], &found[key], limit);
                }
            }
        }
    }

    /// Of each step: the same pairs, in whatever order.
    fn contacts(&mut self, expected: &Value, found: &Value) {
        let by_pair = |document: &Value| -> BTreeMap<(u64, String, String), Value> {
            let key = |contact: &Value| {
                let name = |i: usize| contact[i].as_str().unwrap_or_default().to_owned();
                (contact[0].as_u64().unwrap_or(0), name(1), name(2))
            };
            items(document, "contacts").iter().map(|contact| (key(contact), contact.clone())).collect()
        };
        let (expected, found) = (by_pair(expected), by_pair(found));
        for pair in expected.keys().chain(found.keys()).collect::<BTreeSet<_>>() {
            let place = format!("contact {pair:?}");
            let (Some(a), Some(b)) = (expected.get(pair), found.get(pair)) else {
                let side = if found.contains_key(pair) { "not expected" } else { "missing" };
                self.problem(format!("{place}: {side}"));
                continue;
            };
            self.near(&format!("{place} normal"), "contact", &part(a, 3..5), &part(b, 3..5), 1e-5);
            self.near(&format!("{place} depth"), "depth", &part(a, 5..6), &part(b, 5..6), 1e-7);
            self.near(&format!("{place} point"), "contact", &part(a, 6..8), &part(b, 6..8), 1e-5);
            self.near(
                &format!("{place} force"),
                "force",
                &part(a, 8..9),
                &part(b, 8..9),
                force_limit(&part(a, 8..9)),
            );
        }
    }

    fn forces(&mut self, expected: &Value, found: &Value) {
        let (expected, found) = (&expected["contact_force"], &found["contact_force"]);
        for name in names(expected, found) {
            let (expected, found) = (items(expected, name), items(found, name));
            if expected.len() != found.len() {
                self.problem(format!(
                    "force on {name}: in {} steps, expected {}",
                    found.len(),
                    expected.len()
                ));
            }
            for (expected, found) in expected.iter().zip(found) {
                let place = format!("force on {name} in step {}", expected[0]);
                if expected[0] != found[0] {
                    self.problem(format!("{place}: found step {}", found[0]));
                    break;
                }
                self.near(&place, "force", expected, found, force_limit(expected));
            }
        }
    }
}

/// A newton's thousandth, or a thousandth of the force.
fn force_limit(expected: &Value) -> f64 {
    numbers(expected).iter().rev().take(2).fold(0.0_f64, |largest, number| largest.max(number.abs())).max(1.0)
        * 1e-3
}
