//! Names that are almost the same, or that two things share.

use std::collections::BTreeMap;

use super::findings::{Findings, Spot};
use crate::place::value_at;
use crate::scenario::Scenario;
use crate::tree::Node;
use crate::world::World;

/// The names of a world among themselves.
pub(super) fn of_world(world: &World, findings: &mut Findings) {
    let mut names = SimilarNames::default();
    for (what, name, spot) in names_of(world) {
        names.add(what, name, &spot, findings);
    }
}

/// The names of a scenario among themselves and against those of its world.
pub(super) fn of_scenario(world: &World, scenario: &Scenario, findings: &mut Findings) {
    let mut similar = SimilarNames::default();
    for (what, name, spot) in names_of(world) {
        similar.add(what, name, &spot, &mut Findings::default());
    }
    let spot = |extra: &Node, path: String| Spot::new(&scenario.file, value_at(extra, &["name"]), path);
    for (i, e) in scenario.statics.iter().enumerate() {
        similar.add("object", &e.name, &spot(&e.extra, format!("static[{i}].name")), findings);
    }
    for (i, e) in scenario.dynamics.iter().enumerate() {
        similar.add("person", &e.name, &spot(&e.extra, format!("dynamic[{i}].name")), findings);
    }
    let mut taken: BTreeMap<&str, &str> = BTreeMap::new();
    taken.extend(scenario.statics.iter().map(|e| (e.name.as_str(), "an object")));
    taken.extend(scenario.dynamics.iter().map(|e| (e.name.as_str(), "a person")));
    for (i, robot) in scenario.robots.iter().enumerate() {
        let Some(name) = robot.name.as_deref() else { continue };
        let spot = spot(&robot.extra, format!("robots[{i}].name"));
        if let Some(other) = taken.insert(name, "another robot") {
            findings.warning(&spot, format!("the name {name:?} is taken by {other}"), None);
        } else {
            similar.add("robot", name, &spot, findings);
        }
    }
}

/// All names of a world, in file order.
fn names_of(world: &World) -> Vec<(&'static str, &str, Spot<'_>)> {
    let mut names = Vec::new();
    for level in &world.levels {
        for (i, zone) in level.zones.iter().enumerate() {
            let mut add = |what, name, at, rest: String| {
                names.push((what, name, Spot::new(&level.file, at, format!("zones[{i}]{rest}"))));
            };
            add("zone", zone.name.as_str(), zone.at, String::new());
            for (j, door) in zone.doors.iter().enumerate() {
                add("door", &door.name, door.at, format!(".doors[{j}]"));
            }
            for (j, e) in zone.statics.iter().enumerate() {
                add("object", &e.name, e.at, format!(".entities.static[{j}]"));
            }
            for (j, e) in zone.dynamics.iter().enumerate() {
                add("person", &e.name, e.at, format!(".entities.dynamic[{j}]"));
            }
        }
    }
    names
}

/// Names that differ in nothing but capitals, and one name for two things a robot can be sent to.
#[derive(Default)]
struct SimilarNames<'a> {
    seen: BTreeMap<String, Vec<(&'static str, &'a str, Spot<'a>)>>,
}

impl<'a> SimilarNames<'a> {
    fn add(&mut self, what: &'static str, name: &'a str, spot: &Spot<'a>, findings: &mut Findings) {
        let alike = self.seen.entry(name.to_lowercase()).or_default();
        let is_target = |what: &str| matches!(what, "zone" | "door" | "person");
        if let Some((other, spelt, at)) = alike.iter().find(|(_, spelt, _)| *spelt != name) {
            let message = format!(
                "the {what} {name:?} and the {other} {spelt:?} ({}) differ only in capitals",
                at.line_from(spot)
            );
            findings.hint(spot, message, None);
        } else if let Some((other, _, at)) =
            alike.iter().find(|(other, _, _)| *other != what && is_target(other) && is_target(what))
        {
            let message = format!(
                "a {what} and a {other} ({}) share the name {name:?}; where one is named, it may be the other",
                at.line_from(spot)
            );
            findings.hint(spot, message, None);
        }
        alike.push((what, name, spot.clone()));
    }
}
