//! Timelines, and the fields that they read and set.

use promenade_human::live::{Effect, FieldError, FieldValue};

use crate::stage::{at, hall, live_with, person, run, told};

const ALARM: &str = "  schedules:\n  - {name: fire_alarm, semantics: [{preset: schedule, params: {windows: [], regime: alarm}}]}\n  doors:\n  - {name: d, start: {x: -1, y: 0}, end: {x: 1, y: 0}}\n";

/// Somebody who is told things, so that a test sees when something is set.
const ANN: &str = "dynamic: [{name: ann, model: m, pose: [0, 9]}]\n";

fn tell(name: &str) -> String {
    format!("set: [{{entity: ann, field: stimulus, value: '{name} 0.5'}}]")
}

#[test]
fn at_sets_once_and_a_set_on_active_asserts_the_regime() {
    let mut live = live_with(
        &hall(ALARM),
        "timeline: [{at: 2, set: [{entity: fire_alarm, field: active, value: 'true'}]}, {at: 4, set: [{entity: fire_alarm, field: active, value: false}]}]",
    );
    assert!(live.problems().is_empty(), "{:?}", live.problems());
    assert_eq!(run(&mut live, 0.0, 3.9, &[])[1..], [(2.0, "!alarm".to_owned())]);
    assert!(live.regime("alarm"));
    assert!(run(&mut live, 4.0, 9.0, &[]).is_empty());
    assert!(!live.regime("alarm"));
}

#[test]
fn every_fires_from_its_offset_to_its_end() {
    let of = format!("{ANN}timeline: [{{every: 2, offset: 1, until: 5, {}}}]", tell("tea"));
    let mut live = live_with(&hall(""), &of);
    let times: Vec<f64> = run(&mut live, 0.0, 20.0, &[]).into_iter().map(|(at, _)| at).collect();
    assert_eq!(times, [1.0, 3.0, 5.0]);
}

#[test]
fn times_that_one_step_leaps_over_count_once() {
    let of = format!("{ANN}timeline: [{{every: 2, {}}}, {{at: 3, {}}}]", tell("tea"), tell("cake"));
    let mut live = live_with(&hall(""), &of);
    assert_eq!(told(live.step(at(0.0), [])), ["ann!tea"]);
    assert_eq!(told(live.step(at(1e6 + 1.0), [])), ["ann!tea", "ann!cake"]);
    assert!(live.step(at(1e6 + 1.9), []).is_empty());
    assert_eq!(told(live.step(at(1e6 + 2.0), [])), ["ann!tea"]);
}

#[test]
fn when_fires_each_time_its_condition_turns_true() {
    let of = format!("{ANN}timeline: [{{when: {{entity: d, field: state, is: open}}, {}}}]", tell("draught"));
    let mut live = live_with(&hall(ALARM), &of);
    let near = [person("ann", 0.0, 1.0)];
    let first = run(&mut live, 0.0, 3.0, &near);
    assert_eq!(first[1..], [(1.0, "+d".to_owned()), (1.0, "ann!draught".to_owned())]);
    run(&mut live, 3.1, 9.0, &[]);
    let again = run(&mut live, 9.1, 12.0, &near);
    assert_eq!(again, [(10.1, "+d".to_owned()), (10.1, "ann!draught".to_owned())]);
}

#[test]
fn what_holds_before_the_episode_is_no_edge_but_what_the_first_step_brings_is() {
    let of = format!(
        "{ANN}timeline: [{{when: {{entity: d, field: state, is: closed}}, {}}}, {{when: {{entity: hall, field: occupied, is: true}}, {}}}]",
        tell("shut"),
        tell("company")
    );
    let mut live = live_with(&hall(ALARM), &of);
    assert_eq!(told(live.step(at(0.0), [person("bob", 9.0, 9.0)])), ["-d", "ann!company"]);
}

#[test]
fn sets_happen_in_the_order_of_the_list_and_the_last_wins() {
    let mut live = live_with(
        &hall(ALARM),
        "timeline: [{at: 1, set: [{entity: d, field: locked, value: true}, {entity: d, field: locked, value: false}, {entity: regime, field: panic, value: true}]}]",
    );
    let told = run(&mut live, 0.0, 1.0, &[]);
    assert_eq!(told[1..], [(1.0, "!panic".to_owned())], "a timeline may bring a regime into being");
    assert_eq!(live.field("d", "locked"), Some(FieldValue::Bool(false)));
    assert_eq!(live.field("regime", "panic"), Some(FieldValue::Bool(true)));
    assert_eq!(live.field("panic", "active"), Some(FieldValue::Bool(true)));
}

#[test]
fn an_agent_gets_a_stimulus_with_its_intensity() {
    let of = format!("{ANN}timeline: [{{at: 0, {}}}]", tell("fire alarm"));
    let mut live = live_with(&hall(""), &of);
    let effects = live.step(at(0.0), []);
    let [Effect::Stimulus { agent, name, intensity }] = effects else { panic!("{effects:?}") };
    assert_eq!((agent.as_deref(), &**name, *intensity), (Some("ann"), "fire alarm", 0.5));
}

#[test]
fn a_timeline_locks_a_full_room() {
    let text = "zones:\n- name: room\n  corners: [{x: 0, y: 0}, {x: 4, y: 0}, {x: 4, y: 4}, {x: 0, y: 4}]\n  semantics: [{preset: occupancy_cap, params: {cap: 2}}]\n  doors: [{name: d, start: {x: 1, y: 0}, end: {x: 3, y: 0}, hold_time: 1, activation_distance: 1}]\n";
    let mut live = live_with(
        &crate::stage::world(text),
        "timeline: [{when: {entity: room, field: full, is: true}, set: [{entity: d, field: locked, value: true}]}, {when: {entity: room, field: full, is: false}, set: [{entity: d, field: locked, value: false}]}]",
    );
    let (ann, bob, cem) = (person("ann", 2.0, 3.0), person("bob", 1.0, 3.0), person("cem", 2.0, -0.8));
    run(&mut live, 0.0, 3.0, &[ann, cem]);
    assert_eq!(live.field("d", "state"), Some(FieldValue::Text("open")));
    run(&mut live, 3.1, 9.0, &[ann, bob, cem]);
    assert_eq!(live.field("d", "state"), Some(FieldValue::Text("closed")));
    run(&mut live, 9.1, 12.0, &[ann, cem]);
    assert_eq!(live.field("d", "state"), Some(FieldValue::Text("open")));
}

#[test]
fn what_nobody_has_is_reported_with_its_line_and_the_nearest_name() {
    let of = format!(
        "{ANN}timeline:\n- {{at: 1, set: [{{entity: fire_alram, field: active, value: true}}]}}\n- {{at: 1, set: [{{entity: fire_alarm, field: value, value: 3}}]}}\n- {{at: 1, set: [{{entity: d, field: locked, value: perhaps}}]}}\n- {{when: {{entity: d, field: state, is: opne}}, {}}}\n- {{at: 1, set: [{{entity: ann, field: stimulus, value: 'fire 7'}}]}}\n",
        tell("x")
    );
    let live = live_with(&hall(ALARM), &of);
    let messages: Vec<String> = live.problems().iter().map(ToString::to_string).collect();
    let expected = [
        "did you mean \"fire_alarm\"?",
        "it has `active`",
        "expected `true` or `false`",
        "did you mean \"open\"?",
        "intensity from 0 to 1",
    ];
    assert_eq!(messages.len(), expected.len(), "{messages:#?}");
    for ((message, part), line) in messages.iter().zip(expected).zip(3..) {
        assert!(message.contains(part), "{message} / {part}");
        assert!(message.contains(&format!("scenario.yaml:{line}:")), "{message}");
    }
}

#[test]
fn setting_what_is_not_there_is_an_error_and_changes_nothing() {
    let mut live = live_with(&hall(ALARM), ANN);
    assert!(matches!(live.set("nobody", "active", "true"), Err(FieldError::UnknownEntity { .. })));
    assert!(matches!(live.set("d", "state", "open"), Err(FieldError::UnknownField { verb: "set", .. })));
    assert!(matches!(live.set("d", "open", "wide"), Err(FieldError::Value { .. })));
    assert!(matches!(live.set("regime", "nonsense", "true"), Err(FieldError::UnknownField { .. })));
    for value in ["", "fear", "fear NaN", "fear inf", "fear -1", " 0.5"] {
        assert!(matches!(live.set("ann", "stimulus", value), Err(FieldError::Value { .. })), "{value:?}");
    }
    assert_eq!(told(live.step(at(0.0), [])), ["-d"]);
    live.set("ann", "stimulus", "fear 1").expect("can be set");
    assert_eq!(told(live.step(at(0.1), [])), ["ann!fear"]);
}

#[test]
fn a_value_reads_as_text() {
    let mut live = live_with(&hall(ALARM), ANN);
    live.step(at(0.0), [person("ann", 0.0, 9.0)]);
    let shown = |entity, field| live.field(entity, field).map(|value| value.to_string());
    assert_eq!(shown("d", "state").as_deref(), Some("closed"));
    assert_eq!(shown("d", "fraction").as_deref(), Some("0"));
    assert_eq!(shown("hall", "occupancy").as_deref(), Some("1"));
    assert_eq!(shown("ann", "zone").as_deref(), Some("hall"));
    assert_eq!(shown("ann", "stimulus"), None, "can only be set");
    assert_eq!(shown("nobody", "zone"), None);
}
