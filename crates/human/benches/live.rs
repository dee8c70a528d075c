//! What a step of a live world costs: 1 000 people in a world of 100 doors and 60 zones.

use std::fmt::Write as _;
use std::hint::black_box;
use std::path::Path;

use criterion::{Criterion, criterion_group, criterion_main};
use promenade_human::live::{LiveOptions, LiveWorld, Occupant, OccupantKind};
use promenade_kernel::Time;
use promenade_scenario::{Scenario, World};

/// Rooms of 6 x 6 m in ten columns, a door on each lower wall and forty in walls beside.
fn building() -> LiveWorld {
    let mut text = String::from("zones:\n");
    for i in 0..60 {
        let (x, y) = (f64::from(i % 10) * 6.0, f64::from(i / 10) * 6.0);
        let (right, top) = (x + 6.0, y + 6.0);
        let _ = write!(
            text,
            "- name: z{i}\n  corners: [{{x: {x}, y: {y}}}, {{x: {right}, y: {y}}}, {{x: {right}, y: {top}}}, {{x: {x}, y: {top}}}]\n  semantics: [{{state: max_speed, value: 1}}]\n  doors:\n  - {{name: d{i}, start: {{x: {}, y: {y}}}, end: {{x: {}, y: {y}}}, activation_distance: 1.5}}\n",
            x + 2.0,
            x + 3.5
        );
        if i < 40 {
            let _ = writeln!(
                text,
                "  - {{name: e{i}, start: {{x: {x}, y: {}}}, end: {{x: {x}, y: {}}}, activation_distance: 1.5}}",
                y + 2.0,
                y + 3.5
            );
        }
    }
    let world = World::parse(&text, Path::new("world.yaml"), None).expect("the world loads").value;
    let scenario = Scenario::parse("{}", Path::new("scenario.yaml")).expect("the scenario loads").value;
    LiveWorld::new(&world, &scenario, [0.0; 2], LiveOptions::default())
}

fn step(c: &mut Criterion) {
    let mut live = building();
    let names: Vec<String> = (0..1_000).map(|i| format!("env_0/person_{i}")).collect();
    let people: Vec<Occupant<'_>> = names
        .iter()
        .map(|name| Occupant {
            name,
            kind: OccupantKind::Person,
            agent_type: "adult",
            position: [0.0; 2],
            radius: 0.3,
            level: None,
        })
        .collect();
    let frames: Vec<Vec<[f64; 2]>> = (0..100)
        .map(|tick| {
            let way = |i: usize| f64::from(tick) * 0.01 + i as f64 * 0.618;
            (0..people.len())
                .map(|i| [(way(i) * 7.3).rem_euclid(60.0), (way(i) * 3.1).rem_euclid(36.0)])
                .collect()
        })
        .collect();
    let mut tick = 0_usize;
    c.bench_function("live_step_1000_people_100_doors", |b| {
        b.iter(|| {
            tick += 1;
            let places = &frames[tick % frames.len()];
            let people = people.iter().zip(places).map(|(who, &position)| Occupant { position, ..*who });
            black_box(live.step(Time::from_nanos(tick as i64 * 50_000_000), people).len())
        });
    });
    c.bench_function("live_speed_limit_1000_people", |b| {
        b.iter(|| frames[0].iter().map(|&place| live.speed_limit(black_box(place))).sum::<f64>());
    });
}

criterion_group!(benches, step);
criterion_main!(benches);
