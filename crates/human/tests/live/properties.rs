//! What holds whatever people and clocks do.

use proptest::collection::vec;
use proptest::prelude::*;

use promenade_human::live::{DoorPhase, Effect, LiveWorld, Occupant};
use promenade_kernel::Time;

use crate::stage::{hall, live_with, person};

const DOORS: [(&str, [f64; 4]); 4] = [
    ("plain", [-1.0, 0.0, 1.0, 0.0]),
    ("gate", [4.0, -1.0, 4.0, 1.0]),
    ("sudden", [-6.0, -6.0, -5.0, -5.0]),
    ("slow", [-4.0, 5.0, -2.0, 5.0]),
];

fn world() -> LiveWorld {
    let more = [
        ", hold_time: 0.5",
        ", activation_distance: 2, semantics: [{preset: gate, params: {authorized: [p0], unlock_on: open}}]",
        ", kind: teleport, hold_time: 0",
        ", transition_time: 4, activation_distance: 1, width: 0.6",
    ];
    let doors: String = DOORS
        .iter()
        .zip(more)
        .map(|((name, [x, y, u, v]), more)| {
            format!("  - {{name: {name}, start: {{x: {x}, y: {y}}}, end: {{x: {u}, y: {v}}}{more}}}\n")
        })
        .collect();
    let rest = format!(
        "  doors:\n{doors}  schedules:\n  - {{name: s, semantics: [{{preset: schedule, params: {{windows: [{{start: 5, end: 9}}], regime: open}}}}]}}\n  signals:\n  - {{name: l, semantics: [{{preset: signal, params: {{phases: [{{name: a, duration: 1}}, {{name: b, duration: 2}}], stop_phases: [b], regime: stop, recall_on: open}}}}]}}\n  semantics:\n  - {{preset: pressure_plate, params: {{position: [7, 7], radius: 1, drives: slow, press_on: stop}}}}\n  - {{preset: pressure_plate, params: {{position: [-7, 7], radius: 2, drives: s, latch: true}}}}\n"
    );
    live_with(
        &hall(&rest),
        "timeline: [{every: 3, set: [{entity: plain, field: locked, value: true}]}, {every: 3, offset: 1.5, set: [{entity: plain, field: locked, value: false}]}, {when: {entity: plain, field: state, is: open}, set: [{entity: l, field: phase, value: b}]}]",
    )
}

fn distance([x, y]: [f64; 2], [ax, ay, bx, by]: [f64; 4]) -> f64 {
    let (dx, dy) = (bx - ax, by - ay);
    let t = (((x - ax) * dx + (y - ay) * dy) / (dx * dx + dy * dy)).clamp(0.0, 1.0);
    (x - ax - t * dx).hypot(y - ay - t * dy)
}

/// Nanoseconds to the next step, and where four people are then, with their radii.
type Moment = (i64, Vec<([f64; 2], f64)>);

fn moment() -> impl Strategy<Value = Moment> {
    let dt = prop_oneof![
        6 => 0..500_000_000_i64,
        1 => 0..100_000_000_000_i64,
        1 => -10_000_000_000..0_i64,
        1 => prop_oneof![Just(i64::MAX), Just(i64::MIN)],
    ];
    let near = (0..4_usize, -1.2..1.2_f64, -1.2..1.2_f64).prop_map(|(door, dx, dy)| {
        let [ax, ay, bx, by] = DOORS[door].1;
        [(ax + bx) / 2.0 + dx, (ay + by) / 2.0 + dy]
    });
    let anywhere = (-10.0..10.0_f64, -10.0..10.0_f64).prop_map(|(x, y)| [x, y]);
    let nowhere = Just([f64::NAN, f64::INFINITY]);
    let place = prop_oneof![8 => near, 4 => anywhere, 1 => nowhere];
    let radius = prop_oneof![8 => 0.1..0.6_f64, 1 => Just(3.0), 1 => Just(f64::NAN), 1 => Just(-1.0)];
    (dt, vec((place, radius), 4))
}

fn people(places: &[([f64; 2], f64)]) -> Vec<Occupant<'static>> {
    let names = ["p0", "p1", "p2", "p3"];
    names
        .into_iter()
        .zip(places)
        .map(|(name, &([x, y], radius))| Occupant { radius, ..person(name, x, y) })
        .collect()
}

fn play(moments: &[Moment], backwards: bool) -> Vec<Vec<Effect>> {
    let mut live = world();
    let mut now = 0_i64;
    moments
        .iter()
        .map(|(dt, places)| {
            now = now.saturating_add(*dt);
            let mut people = people(places);
            if backwards {
                people.reverse();
            }
            live.step(Time::from_nanos(now), people).to_vec()
        })
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn a_door_never_closes_onto_anybody(moments in vec(moment(), 1..60)) {
        let mut live = world();
        let mut now = 0_i64;
        let mut before = [DoorPhase::Closed; 4];
        for (dt, places) in &moments {
            now = now.saturating_add(*dt);
            live.step(Time::from_nanos(now), people(places));
            for ((name, line), before) in DOORS.iter().zip(&mut before) {
                let width = if *name == "slow" { 0.6 } else { 0.1 };
                let stands_in_it = places.iter().any(|&(p, radius)| {
                    let radius = if radius > 0.0 { radius } else { 0.0 };
                    p[0].is_finite() && distance(p, *line) < radius + width / 2.0 - 1e-9
                });
                let phase = live.door(name).expect("is there").phase;
                // Whoever is there when it begins closed finds a wall; nobody gets a wall put onto them.
                let closed_onto = matches!(phase, DoorPhase::Closing | DoorPhase::Closed)
                    && *before != DoorPhase::Closed
                    && *before != DoorPhase::Opening;
                prop_assert!(!(stands_in_it && closed_onto), "{name}: {before:?} to {phase:?}");
                *before = phase;
            }
        }
    }

    #[test]
    fn the_same_inputs_have_the_same_effects_in_any_order_of_people(moments in vec(moment(), 1..40)) {
        let first = play(&moments, false);
        prop_assert_eq!(&first, &play(&moments, false));
        prop_assert_eq!(&first, &play(&moments, true));
    }

    #[test]
    fn a_door_is_passable_exactly_between_its_effects(moments in vec(moment(), 1..60)) {
        let mut live = world();
        let mut now = 0_i64;
        let mut open = [true; 4];
        for (dt, places) in &moments {
            now = now.saturating_add(*dt);
            for effect in live.step(Time::from_nanos(now), people(places)) {
                let (door, opens) = match effect {
                    Effect::DoorOpened(door) => (door, true),
                    Effect::DoorClosed(door) => (door, false),
                    Effect::Stimulus { .. } => continue,
                };
                let index = DOORS.iter().position(|(name, _)| *name == &**door).expect("is there");
                prop_assert_ne!(open[index], opens, "only changes are told");
                open[index] = opens;
            }
            for ((name, _), open) in DOORS.iter().zip(open) {
                let state = live.door(name).expect("is there");
                prop_assert_eq!(state.passable(), open);
                prop_assert!((0.0..=1.0).contains(&state.fraction));
            }
        }
    }

    #[test]
    fn no_name_or_value_panics(entity in "[a-z]{0,6}|regime|plain|hall|p0|l", field in "[a-z]{0,6}|state|locked|stimulus|phase", value in ".{0,12}|true|open 0.5|1e999") {
        let mut live = world();
        live.step(Time::ZERO, [person("p0", 0.0, 0.0)]);
        let _ = live.field(&entity, &field);
        if let Err(error) = live.set(&entity, &field, &value) {
            prop_assert!(!error.to_string().is_empty());
        }
        live.step(Time::from_nanos(1), []);
    }
}
