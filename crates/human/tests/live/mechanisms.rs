//! Schedules, signals, pressure plates, and the regimes between them.

use promenade_human::live::{DoorPhase, FieldValue};

use crate::stage::{at, hall, live, live_with, person, phase, robot, run, told};

const DOOR: &str = "  doors:\n  - {name: d, start: {x: -1, y: 0}, end: {x: 1, y: 0}, activation_distance: 0, hold_time: 1}\n";

fn schedule(params: &str) -> String {
    format!("  schedules:\n  - {{name: s, semantics: [{{preset: schedule, params: {params}}}]}}\n")
}

fn signal(params: &str) -> String {
    format!("  signals:\n  - {{name: light, semantics: [{{preset: signal, params: {params}}}]}}\n")
}

fn plate(params: &str) -> String {
    format!("  semantics:\n  - {{preset: pressure_plate, params: {{position: [5, 5], radius: 1{params}}}}}\n")
}

#[test]
fn a_schedule_is_active_in_its_windows_and_has_their_values() {
    let mut live = live(&hall(&schedule(
        "{windows: [{start: 2, end: 4, value: busy}, {start: 3, end: 6}], default: quiet, regime: rush}",
    )));
    live.start(at(100.0));
    for (t, active, value) in [
        (0.0, false, FieldValue::Text("quiet")),
        (1.9, false, FieldValue::Text("quiet")),
        (2.0, true, FieldValue::Text("busy")),
        (3.5, true, FieldValue::Text("busy")),
        (4.0, true, FieldValue::Bool(true)),
        (6.0, false, FieldValue::Text("quiet")),
    ] {
        live.step(at(100.0 + t), []);
        assert_eq!(live.field("s", "active"), Some(FieldValue::Bool(active)), "{t}");
        assert_eq!(live.field("s", "value"), Some(value), "{t}");
        assert_eq!(live.regime("rush"), active, "{t}");
    }
}

#[test]
fn a_window_whose_value_is_false_is_not_active() {
    let mut live = live(&hall(&schedule("{windows: [{start: 1, end: 2, value: false}], default: true}")));
    for (t, active) in [(0.0, true), (1.0, false), (2.0, true)] {
        live.step(at(t), []);
        assert_eq!(live.field("s", "active"), Some(FieldValue::Bool(active)), "{t}");
    }
}

#[test]
fn a_regime_that_turns_true_is_a_stimulus_for_everybody_each_time() {
    let mut live =
        live(&hall(&schedule("{windows: [{start: 1, end: 2}, {start: 3, end: 4}], regime: bell}")));
    let told = run(&mut live, 0.0, 5.0, &[]);
    assert_eq!(told, [(1.0, "!bell".to_owned()), (3.0, "!bell".to_owned())]);
}

#[test]
fn a_regime_with_two_sources_has_one_edge() {
    let two = "  schedules:\n  - {name: s, semantics: [{preset: schedule, params: {windows: [{start: 1, end: 3}], regime: bell}}]}\n  - {name: t, semantics: [{preset: schedule, params: {windows: [{start: 2, end: 5}], regime: bell}}]}\n";
    let mut live = live(&hall(two));
    assert_eq!(run(&mut live, 0.0, 4.5, &[]), [(1.0, "!bell".to_owned())]);
    assert!(live.regime("bell"));
    run(&mut live, 4.6, 5.0, &[]);
    assert!(!live.regime("bell"));
}

#[test]
fn a_signal_runs_through_its_phases_for_ever() {
    let mut live = live(&hall(&signal(
        "{phases: [{name: go, duration: 3}, {name: stop, duration: 2}], stop_phases: [stop], regime: red}",
    )));
    for (t, phase, red) in [
        (0.0, "go", false),
        (2.9, "go", false),
        (3.0, "stop", true),
        (4.9, "stop", true),
        (5.0, "go", false),
        (1_000_003.5, "stop", true),
    ] {
        live.step(at(t), []);
        assert_eq!(live.field("light", "phase"), Some(FieldValue::Text(phase)), "{t}");
        assert_eq!(live.field("light", "stop"), Some(FieldValue::Bool(red)), "{t}");
        assert_eq!(live.regime("red"), red, "{t}");
    }
}

#[test]
fn a_recalled_signal_stays_in_its_first_phase_until_the_regime_ends() {
    let world = hall(&format!(
        "{}{}",
        schedule("{windows: [{start: 4, end: 10}], regime: priority}"),
        signal("{phases: [{name: go, duration: 3}, {name: stop, duration: 2}], recall_on: priority}")
    ));
    let mut live = live(&world);
    live.start(at(0.0));
    for (t, phase) in [(3.5, "stop"), (4.0, "go"), (9.9, "go"), (10.0, "go"), (12.8, "go"), (13.0, "stop")] {
        run(&mut live, t, t, &[]);
        assert_eq!(live.field("light", "phase"), Some(FieldValue::Text(phase)), "{t}");
    }
}

#[test]
fn a_timeline_puts_a_signal_into_the_beginning_of_a_phase() {
    let world = hall(&signal("{phases: [{name: go, duration: 30}, {name: stop, duration: 2}]}"));
    let mut live =
        live_with(&world, "timeline: [{at: 1, set: [{entity: light, field: phase, value: stop}]}]");
    live.step(at(0.0), []);
    live.step(at(1.5), []);
    for (t, phase) in [(1.5, "stop"), (3.4, "stop"), (3.5, "go")] {
        live.step(at(t), []);
        assert_eq!(live.field("light", "phase"), Some(FieldValue::Text(phase)), "{t}");
    }
}

#[test]
fn a_plate_opens_its_door_while_somebody_is_on_it() {
    let mut live = live(&hall(&format!("{DOOR}{}", plate(", drives: d"))));
    for who in [person("ann", 5.0, 5.9), robot("r", 5.9, 5.0)] {
        assert_eq!(phase(&live, "d"), DoorPhase::Closed);
        let from = live.elapsed() + 0.1;
        run(&mut live, from, from + 1.0, &[who]);
        assert_eq!(live.field("hall", "pressed"), Some(FieldValue::Bool(true)));
        assert_eq!(phase(&live, "d"), DoorPhase::Open);
        run(&mut live, from + 1.1, from + 5.0, &[person("ann", 5.0, 6.1)]);
        assert_eq!(live.field("hall", "pressed"), Some(FieldValue::Bool(false)));
    }
}

#[test]
fn a_plate_opens_a_locked_gate() {
    let gate = DOOR.replace("hold_time: 1", "hold_time: 1, semantics: [{preset: gate}]");
    let mut live = live(&hall(&format!("{gate}{}", plate(", drives: d"))));
    run(&mut live, 0.0, 2.0, &[person("ann", 5.0, 5.0)]);
    assert_eq!(phase(&live, "d"), DoorPhase::Open);
    assert!(live.door("d").expect("is there").locked);
}

#[test]
fn a_plate_on_a_door_opens_that_door() {
    let door = DOOR.replace(
        "hold_time: 1",
        "hold_time: 1, semantics: [{preset: pressure_plate, params: {position: [5, 5], radius: 1}}]",
    );
    let mut live = live(&hall(&door));
    run(&mut live, 0.0, 2.0, &[person("ann", 5.0, 5.0)]);
    assert_eq!(phase(&live, "d"), DoorPhase::Open);
    assert_eq!(live.field("d", "pressed"), Some(FieldValue::Bool(true)));
}

#[test]
fn a_latched_plate_stays_pressed() {
    let mut live = live(&hall(&format!("{DOOR}{}", plate(", drives: d, latch: true"))));
    live.step(at(0.0), [person("ann", 5.0, 5.0)]);
    run(&mut live, 0.1, 60.0, &[]);
    assert_eq!(phase(&live, "d"), DoorPhase::Open);
    live.set("hall", "pressed", "false").expect("can be set");
    run(&mut live, 60.1, 63.0, &[]);
    assert_eq!(phase(&live, "d"), DoorPhase::Closed);
}

#[test]
fn a_regime_presses_a_plate() {
    let world = hall(&format!(
        "{DOOR}{}{}",
        schedule("{windows: [{start: 1, end: 4}], regime: alarm}"),
        plate(", drives: d, press_on: alarm")
    ));
    let mut live = live(&world);
    let told = run(&mut live, 0.0, 9.0, &[]);
    let expected = [(0.0, "-d"), (1.0, "!alarm"), (2.0, "+d"), (4.9, "-d")];
    assert_eq!(told, expected.map(|(at, what)| (at, what.to_owned())));
}

#[test]
fn a_plate_drives_a_schedule_a_signal_or_a_regime() {
    let world = hall(&format!("{}{}", schedule("{windows: [], regime: alarm}"), plate(", drives: s")));
    let mut by_schedule = live(&world);
    assert_eq!(run(&mut by_schedule, 0.0, 1.0, &[person("ann", 5.0, 5.0)]), [(0.1, "!alarm".to_owned())]);

    let gate = "  doors:\n  - {name: d, start: {x: -1, y: 0}, end: {x: 1, y: 0}, semantics: [{preset: gate, params: {unlock_on: staff}}]}\n";
    let mut by_regime = live(&hall(&format!("{gate}{}", plate(", drives: staff"))));
    assert!(by_regime.problems().is_empty(), "{:?}", by_regime.problems());
    let told = told(by_regime.step(at(0.0), [person("ann", 5.0, 5.0)]));
    assert_eq!(told, ["-d", "!staff"]);
    assert!(!by_regime.door("d").expect("is there").locked);

    let button = format!(
        "{}{}",
        signal("{phases: [{name: walk, duration: 2}, {name: wait, duration: 60}]}"),
        plate(", drives: light")
    );
    let mut by_signal = live(&hall(&button));
    run(&mut by_signal, 0.0, 9.0, &[]);
    assert_eq!(by_signal.field("light", "phase"), Some(FieldValue::Text("wait")));
    run(&mut by_signal, 9.1, 9.1, &[person("ann", 5.0, 5.0)]);
    assert_eq!(by_signal.field("light", "phase"), Some(FieldValue::Text("walk")));
}

#[test]
fn whoever_waits_for_a_regime_that_nothing_asserts_is_told_so() {
    let world = hall(&format!(
        "{}  doors:\n  - {{name: d, start: {{x: -1, y: 0}}, end: {{x: 1, y: 0}}, semantics: [{{preset: gate, params: {{unlock_on: alram}}}}]}}\n",
        schedule("{windows: [], regime: alarm}")
    ));
    let live = live(&world);
    let [problem] = live.problems() else { panic!("{:?}", live.problems()) };
    assert!(
        problem.message.contains("\"alram\"") && problem.suggestion.as_deref() == Some("alarm"),
        "{problem}"
    );
}

#[test]
fn a_plate_that_drives_nothing_known_is_reported() {
    let live = live(&hall(&format!("{DOOR}{}", plate(", drives: dor"))));
    let [problem] = live.problems() else { panic!("{:?}", live.problems()) };
    assert!(problem.message.contains("drives \"dor\""), "{problem}");
}
