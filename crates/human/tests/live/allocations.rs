//! A step of a world in full swing allocates nothing.

use promenade_human::live::Occupant;
use promenade_kernel::Time;

use crate::stage::{hall, live_with, person};

#[test]
fn a_step_allocates_nothing_while_doors_open_and_close_and_regimes_come_and_go() {
    let doors: String = (0..20)
        .map(|i| {
            let x = -9.0 + 0.9 * f64::from(i);
            format!("  - {{name: d{i}, start: {{x: {x}, y: 0}}, end: {{x: {}, y: 0}}, activation_distance: 1, hold_time: 0.2}}\n", x + 0.8)
        })
        .collect();
    let rest = format!(
        "  doors:\n{doors}  signals:\n  - {{name: l, semantics: [{{preset: signal, params: {{phases: [{{name: a, duration: 1}}, {{name: b, duration: 1}}], stop_phases: [b], regime: stop}}}}]}}\n  semantics:\n  - {{preset: pressure_plate, params: {{position: [7, 7], radius: 1, drives: d3}}}}\n"
    );
    let mut live = live_with(
        &hall(&rest),
        "dynamic: [{name: p0, model: m, pose: [0, 0]}]\ntimeline: [{every: 1, set: [{entity: p0, field: stimulus, value: 'tea 1'}]}, {when: {entity: p0, field: zone, is: hall}, set: [{entity: d1, field: locked, value: false}]}]",
    );
    let names: Vec<String> = (0..200).map(|i| format!("p{i}")).collect();
    let mut people: Vec<Occupant<'_>> = names.iter().map(|name| person(name, 0.0, 0.0)).collect();
    let mut told = 0;
    let mut steps = |from: i64, to: i64| {
        for tick in from..to {
            let t = tick as f64 * 0.05;
            for (i, ann) in people.iter_mut().enumerate() {
                ann.position = [9.0 * (t + i as f64).sin(), 9.0 * (0.7 * t + i as f64 / 40.0).cos()];
            }
            told += live.step(Time::from_nanos(tick * 50_000_000), people.iter().copied()).len();
        }
    };
    steps(0, 1_000);
    let counted = allocation_counter::measure(|| steps(1_000, 1_400));
    assert_eq!(counted.count_total, 0);
    assert!(told > 100, "there was something to tell: {told}");
}
