//! What zones do and tell.

use promenade_human::live::{FieldValue, LiveOptions, LiveWorld};

use crate::stage::{at, live, live_with, person, robot, scenario, world};

/// Two rooms that overlap in x 3..4, and an L-shaped one elsewhere.
fn rooms() -> promenade_scenario::World {
    world(
        "zones:\n- name: a\n  corners: [{x: 0, y: 0}, {x: 4, y: 0}, {x: 4, y: 4}, {x: 0, y: 4}]\n  semantics: [{state: max_speed, value: 1.5}, {predicate: quiet, value: true}]\n- name: b\n  corners: [{x: 3, y: 0}, {x: 8, y: 0}, {x: 8, y: 4}, {x: 3, y: 4}]\n  semantics: [{state: max_speed, value: 0.8}, {predicate: restricted, value: true}, {preset: occupancy_cap, params: {cap: 1}}]\n- name: l\n  corners: [{x: 0, y: 10}, {x: 6, y: 10}, {x: 6, y: 11}, {x: 1, y: 11}, {x: 1, y: 16}, {x: 0, y: 16}]\n",
    )
}

#[test]
fn the_least_speed_of_all_zones_at_a_place_holds() {
    let live = live(&rooms());
    for (p, limit) in [
        ([1.0, 1.0], 1.5),
        ([3.5, 1.0], 0.8),
        ([7.0, 1.0], 0.8),
        ([0.5, 15.0], f64::INFINITY),
        ([50.0, 1.0], f64::INFINITY),
        ([f64::NAN, 1.0], f64::INFINITY),
    ] {
        assert_eq!(live.speed_limit(p), limit, "{p:?}");
    }
}

#[test]
fn without_zone_semantics_nobody_is_slowed_down() {
    let options = LiveOptions { zone_semantics: false };
    let live = LiveWorld::new(&rooms(), &scenario("{}"), [0.0; 2], options);
    assert_eq!(live.speed_limit([1.0, 1.0]), f64::INFINITY);
    assert_eq!(live.field("a", "max_speed"), Some(FieldValue::Number(1.5)), "it still says so");
}

#[test]
fn zones_count_people_and_not_robots() {
    let mut live = live(&rooms());
    let (ann, bob) = (person("ann", 3.5, 1.0), person("bob", 0.5, 12.0));
    live.step(at(0.0), [ann, bob, robot("r", 1.0, 1.0), person("cem", 3.0, 12.0)]);
    let read = |zone, field| live.field(zone, field);
    assert_eq!(["a", "b", "l"].map(|zone| read(zone, "occupancy")), [Some(FieldValue::Number(1.0)); 3]);
    assert_eq!(read("b", "full"), Some(FieldValue::Bool(true)));
    assert_eq!(read("a", "full"), Some(FieldValue::Bool(false)), "without a cap never");
    assert_eq!(read("l", "occupied"), Some(FieldValue::Bool(true)));
    live.step(at(0.1), [robot("r", 1.0, 1.0)]);
    assert_eq!(live.field("a", "occupied"), Some(FieldValue::Bool(false)));
}

#[test]
fn zones_tell_whether_they_are_quiet_or_restricted() {
    let live = live(&rooms());
    let read = |zone, field| live.field(zone, field);
    assert_eq!(read("a", "quiet"), Some(FieldValue::Bool(true)));
    assert_eq!(read("a", "restricted"), Some(FieldValue::Bool(false)));
    assert_eq!(read("b", "restricted"), Some(FieldValue::Bool(true)));
    assert_eq!(read("l", "max_speed"), None);
}

#[test]
fn somebody_in_two_zones_is_in_both() {
    let of = "dynamic: [{name: ann, model: m, pose: [0, 0]}]\nrobots: [{start: [0, 0], phases: []}]\ntimeline: [{when: {entity: ann, field: zone, is: b}, set: [{entity: ann, field: stimulus, value: 'b 1'}]}, {when: {entity: robot_0, field: zone, is: a}, set: [{entity: ann, field: stimulus, value: 'robot 1'}]}]";
    let mut live = live_with(&rooms(), of);
    assert!(live.problems().is_empty(), "{:?}", live.problems());
    let effects = live.step(at(0.0), [person("ann", 3.5, 1.0), robot("robot_0", 1.0, 1.0)]);
    assert_eq!(crate::stage::told(effects), ["ann!b", "ann!robot"]);
    assert_eq!(live.field("ann", "zone"), Some(FieldValue::Text("a")), "the first of them");
    live.step(at(0.1), []);
    assert_eq!(live.field("ann", "zone"), None, "not there");
}
