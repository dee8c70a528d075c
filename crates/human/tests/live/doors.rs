//! The life of a door, and of a gate.

use promenade_human::live::{DoorPhase, LiveOptions, LiveWorld};

use crate::stage::{at, hall, live, live_with, person, phase, robot, run, scenario, told};

/// A door on the x axis from -1 to 1, with more keys.
fn door(more: &str) -> promenade_scenario::World {
    hall(&format!("  doors:\n  - {{name: d, start: {{x: -1, y: 0}}, end: {{x: 1, y: 0}}{more}}}\n"))
}

fn gate(params: &str) -> promenade_scenario::World {
    door(&format!(", semantics: [{{preset: gate, params: {params}}}]"))
}

#[test]
fn every_door_begins_closed_and_says_so_once() {
    let mut live = live(&door(""));
    assert_eq!(told(live.step(at(5.0), [])), ["-d"]);
    assert!(live.step(at(5.1), []).is_empty());
    let state = live.door("d").expect("is there");
    assert_eq!(
        (state.phase, state.fraction, state.passable(), state.locked),
        (DoorPhase::Closed, 0.0, false, false)
    );
}

#[test]
fn somebody_within_the_activation_distance_opens_it_in_its_transition_time() {
    let mut live = live(&door(", activation_distance: 2"));
    live.start(at(0.0));
    let told = run(&mut live, 0.0, 3.0, &[person("ann", 0.0, 2.0)]);
    assert_eq!(told, [(0.0, "-d".to_owned()), (1.0, "+d".to_owned())]);
    let mut other = super::stage::live(&door(", activation_distance: 2"));
    run(&mut other, 0.0, 0.5, &[person("ann", 2.0, 1.0)]);
    let state = other.door("d").expect("is there");
    assert_eq!(state.phase, DoorPhase::Opening, "the distance is that to the line, here to its end");
    assert!((state.fraction - 0.5).abs() < 1e-9 && !state.passable(), "{state:?}");
}

#[test]
fn nobody_near_leaves_it_closed() {
    let mut live = live(&door(", activation_distance: 2"));
    let told = run(&mut live, 0.0, 9.0, &[person("ann", 0.0, 2.01)]);
    assert_eq!(told, [(0.0, "-d".to_owned())], "the radius of the person does not count");
}

#[test]
fn a_robot_opens_it_too() {
    let mut live = live(&door(""));
    run(&mut live, 0.0, 1.0, &[robot("r", 0.0, -1.0)]);
    assert_eq!(phase(&live, "d"), DoorPhase::Open);
}

#[test]
fn a_teleport_door_opens_and_closes_at_once() {
    let mut live = live(&door(", kind: teleport, hold_time: 0.5"));
    assert_eq!(told(live.step(at(0.0), [person("ann", 0.0, 1.0)])), ["-d", "+d"]);
    let told = run(&mut live, 0.1, 3.0, &[]);
    assert_eq!(told, [(0.5, "-d".to_owned())]);
    assert_eq!(phase(&live, "d"), DoorPhase::Closed);
}

#[test]
fn it_closes_the_hold_time_after_the_last_one_left_and_is_a_wall_while_closing() {
    let mut live = live(&door(", hold_time: 2"));
    run(&mut live, 0.0, 4.0, &[person("ann", 0.0, 1.0)]);
    let told = run(&mut live, 4.1, 6.4, &[]);
    assert_eq!(told, [(6.0, "-d".to_owned())], "ann was last seen at 4.0 s");
    let state = live.door("d").expect("is there");
    assert_eq!(state.phase, DoorPhase::Closing);
    assert!((state.fraction - 0.6).abs() < 1e-9, "{state:?}");
    run(&mut live, 6.5, 7.0, &[]);
    assert_eq!(phase(&live, "d"), DoorPhase::Closed);
}

#[test]
fn somebody_who_comes_while_it_closes_opens_it_again_from_where_it_is() {
    let mut live = live(&door(", hold_time: 1"));
    run(&mut live, 0.0, 2.0, &[person("ann", 0.0, 1.0)]);
    run(&mut live, 2.1, 3.3, &[]);
    assert_eq!(phase(&live, "d"), DoorPhase::Closing);
    let told = run(&mut live, 3.4, 5.0, &[person("ann", 0.0, 1.0)]);
    assert_eq!(told, [(3.7, "+d".to_owned())], "0.3 s of closing are 0.3 s of opening");
}

#[test]
fn it_finishes_opening_for_somebody_who_has_gone() {
    let mut live = live(&door(", hold_time: 2"));
    run(&mut live, 0.0, 0.2, &[person("ann", 0.0, 1.0)]);
    let told = run(&mut live, 0.3, 4.0, &[]);
    assert_eq!(told, [(1.0, "+d".to_owned()), (2.2, "-d".to_owned())]);
}

#[test]
fn it_never_closes_onto_somebody_standing_in_it() {
    let mut live = live(&door(", activation_distance: 0, hold_time: 1, width: 0.2"));
    live.set("d", "open", "true").expect("can be set");
    run(&mut live, 0.0, 2.0, &[]);
    live.set("d", "open", "false").expect("can be set");
    let inside = [person("ann", 0.9, 0.39)];
    assert!(run(&mut live, 2.1, 60.0, &inside).is_empty(), "her disc and the door's width overlap");
    let beside = [person("ann", 0.9, 0.41)];
    assert_eq!(run(&mut live, 60.1, 70.0, &beside), [(61.0, "-d".to_owned())]);
}

#[test]
fn somebody_who_gets_into_a_closing_door_reverses_it_even_where_they_may_not_pass() {
    let mut live = live(&gate("{authorized: [nurse]}"));
    run(&mut live, 0.0, 2.0, &[person("nurse", 0.0, 1.0)]);
    run(&mut live, 2.1, 4.3, &[]);
    assert_eq!(phase(&live, "d"), DoorPhase::Closing);
    live.step(at(4.4), [person("ann", 0.0, 0.1)]);
    assert_eq!(phase(&live, "d"), DoorPhase::Opening);
}

#[test]
fn a_locked_gate_stays_closed_but_does_not_close_onto_anybody() {
    let mut live = live(&gate("{authorized: [nurse]}"));
    assert!(live.door("d").expect("is there").locked);
    run(&mut live, 0.0, 5.0, &[person("ann", 0.0, 0.1)]);
    assert_eq!(phase(&live, "d"), DoorPhase::Closed);
    run(&mut live, 5.1, 8.0, &[person("ann", 0.0, 0.1), person("nurse", 0.0, 2.0)]);
    assert_eq!(phase(&live, "d"), DoorPhase::Open, "the nurse is authorized");
    run(&mut live, 8.1, 30.0, &[person("ann", 0.0, 0.1)]);
    assert_eq!(phase(&live, "d"), DoorPhase::Open, "ann stands in it");
    run(&mut live, 30.1, 34.0, &[person("ann", 0.0, 1.0)]);
    assert_eq!(phase(&live, "d"), DoorPhase::Closed, "near is not enough");
}

#[test]
fn authorized_names_people_robots_agent_types_and_kinds() {
    for (entry, who) in [
        ("ann", person("ann", 0.0, 1.0)),
        ("adult", person("ann", 0.0, 1.0)),
        ("person", person("ann", 0.0, 1.0)),
        ("r2", robot("r2", 0.0, 1.0)),
        ("robot", robot("r2", 0.0, 1.0)),
    ] {
        let mut live = live(&gate(&format!("{{authorized: [{entry}]}}")));
        run(&mut live, 0.0, 2.0, &[who]);
        assert_eq!(phase(&live, "d"), DoorPhase::Open, "{entry}");
    }
    let mut live = live(&gate("{authorized: [robot]}"));
    run(&mut live, 0.0, 2.0, &[person("ann", 0.0, 1.0)]);
    assert_eq!(phase(&live, "d"), DoorPhase::Closed);
}

#[test]
fn a_regime_unlocks_a_gate_while_it_holds() {
    let world = hall(
        "  schedules:\n  - {name: visiting, semantics: [{preset: schedule, params: {windows: [{start: 2, end: 4}], regime: open_day}}]}\n  doors:\n  - {name: d, start: {x: -1, y: 0}, end: {x: 1, y: 0}, hold_time: 1, semantics: [{preset: gate, params: {unlock_on: open_day}}]}\n",
    );
    let mut live = live(&world);
    let told = run(&mut live, 0.0, 9.0, &[person("ann", 0.0, 1.0)]);
    let expected = [(0.0, "-d"), (2.0, "!open_day"), (3.0, "+d"), (4.9, "-d")];
    assert_eq!(told, expected.map(|(at, what)| (at, what.to_owned())), "last kept open at 3.9 s");
}

#[test]
fn a_gate_that_locks_while_it_opens_turns_round() {
    let mut live = live(&door(""));
    run(&mut live, 0.0, 0.5, &[person("ann", 0.0, 1.0)]);
    live.set("d", "locked", "true").expect("can be set");
    live.step(at(0.6), [person("ann", 0.0, 1.0)]);
    assert_eq!(phase(&live, "d"), DoorPhase::Closing);
    live.set("d", "locked", "false").expect("can be set");
    live.step(at(0.7), [person("ann", 0.0, 1.0)]);
    assert_eq!(phase(&live, "d"), DoorPhase::Opening);
}

#[test]
fn a_huge_step_changes_a_door_once() {
    let mut live = live(&door(""));
    let ann = [person("ann", 0.0, 1.0)];
    live.step(at(0.0), ann);
    assert_eq!(phase(&live, "d"), DoorPhase::Opening);
    for (now, who, expected) in [
        (1e6, &[][..], DoorPhase::Open),
        (2e6, &[], DoorPhase::Closing),
        (3e6, &[], DoorPhase::Closed),
        (4e6, &ann, DoorPhase::Opening),
    ] {
        live.step(at(now), who.iter().copied());
        assert_eq!(phase(&live, "d"), expected, "{now}");
    }
}

#[test]
fn a_clock_that_goes_back_lets_no_time_pass_and_the_door_goes_on() {
    let mut live = live(&door(", hold_time: 2"));
    run(&mut live, 100.0, 102.0, &[person("ann", 0.0, 1.0)]);
    run(&mut live, 102.1, 103.0, &[]);
    live.step(at(3.0), []);
    assert_eq!(phase(&live, "d"), DoorPhase::Open);
    let told = run(&mut live, 3.1, 6.0, &[]);
    assert_eq!(told, [(4.0, "-d".to_owned())], "1.0 s of holding was left");
    assert!((live.elapsed() - 6.0).abs() < 1e-9, "{}", live.elapsed());
}

#[test]
fn a_start_forgets_the_last_episode() {
    let mut live = live(&door(""));
    live.set("d", "locked", "true").expect("can be set");
    live.start(at(0.0));
    assert_eq!(run(&mut live, 0.0, 2.0, &[person("ann", 0.0, 1.0)]).len(), 2);
    live.start(at(2.0));
    assert_eq!(phase(&live, "d"), DoorPhase::Closed);
    assert_eq!(told(live.step(at(2.0), [])), ["-d"]);
}

#[test]
fn the_offset_moves_the_doors() {
    let mut live = LiveWorld::new(&door(""), &scenario("{}"), [100.0, 50.0], LiveOptions::default());
    run(&mut live, 0.0, 2.0, &[person("ann", 0.0, 1.0)]);
    assert_eq!(phase(&live, "d"), DoorPhase::Closed);
    run(&mut live, 2.1, 4.0, &[person("ann", 100.0, 51.0)]);
    assert_eq!(phase(&live, "d"), DoorPhase::Open);
    let (name, line, _) = live.doors().next().expect("is there");
    assert_eq!((name, line), ("d", [[99.0, 50.0], [101.0, 50.0]]));
}

#[test]
fn somebody_on_another_level_opens_nothing_and_somebody_on_an_unknown_one_does() {
    let square = "corners: [{x: -5, y: -5}, {x: 5, y: -5}, {x: 5, y: 5}, {x: -5, y: 5}]";
    let text = format!(
        "levels:\n  0:\n    zones: [{{name: a, {square}, doors: [{{name: d, start: {{x: -1, y: 0}}, end: {{x: 1, y: 0}}}}]}}]\n  1:\n    zones: [{{name: b, {square}, doors: [{{name: e, start: {{x: -1, y: 0}}, end: {{x: 1, y: 0}}}}]}}]\n"
    );
    let world = crate::stage::world(&text);
    for (level, expected) in [
        (Some("1"), [DoorPhase::Closed, DoorPhase::Open]),
        (None, [DoorPhase::Open, DoorPhase::Open]),
        (Some("cellar"), [DoorPhase::Open, DoorPhase::Open]),
    ] {
        let mut live = live_with(&world, "{}");
        let ann = promenade_human::live::Occupant { level, ..person("ann", 0.0, 1.0) };
        run(&mut live, 0.0, 2.0, &[ann]);
        assert_eq!(["d", "e"].map(|door| phase(&live, door)), expected, "{level:?}");
    }
}
