//! One step in contact mode: robots that push a box each, a pile that nothing holds together, robots along the walls of a building and of a
//! large map.

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use promenade_robot_world::World;
use promenade_robot_world::spec::{MapGrid, ObjectSpec, WorldSpec};
use promenade_robot_world::world::ObjectRef;
use scene::{block, disc, robot, spec, thing};

#[allow(dead_code, reason = "the tests of contact mode make worlds with it too")]
#[path = "../tests/contact/scene.rs"]
mod scene;

/// Robots and boxes of half their mass in pairs, with room between the pairs.
fn pushing(count: u32) -> WorldSpec {
    let at = |pair: u32| [f64::from(pair % 10) * 200.0, f64::from(pair / 10) * 2.0];
    let robots = (0..count).map(|pair| {
        let [x, y] = at(pair);
        robot(&format!("r{pair}"), "diff", disc(0.3), [x, y, 0.0])
    });
    let boxes = (0..count).map(|pair| {
        let [x, y] = at(pair);
        ObjectSpec { mass: 0.5, ..thing(&format!("b{pair}"), block(0.6, 0.8), [x + 0.7, y, 0.0]) }
    });
    spec(robots.collect(), boxes.collect())
}

/// Boxes and discs packed in a square that a plough drives into.
fn pile(side: u32) -> WorldSpec {
    let bodies = (0..side * side).map(|number| {
        let [x, y] = [f64::from(number % side) * 0.5, f64::from(number / side) * 0.5];
        let shape = if number % 2 == 0 { disc(0.25) } else { block(0.48, 0.48) };
        ObjectSpec { mass: 0.2, ..thing(&format!("b{number}"), shape, [x, y, 0.0]) }
    });
    let half = f64::from(side) * 0.25;
    let plough = robot("plough", "diff", block(1.0, half), [-1.0, half, 0.0]);
    spec(vec![ObjectSpec { mass: 1e4, ..plough }], bodies.collect())
}

/// Robots along the walls of a map of 500 x 500 cells with a pillar at every tenth each way.
fn halls(count: u32) -> WorldSpec {
    let robots = (0..count).map(|number| {
        let [x, y] = [f64::from(number % 20) * 2.0 + 0.5, f64::from(number / 20) * 2.0 + 0.5];
        robot(&format!("r{number}"), "omni", disc(0.15), [x, y, 0.0])
    });
    let occupied = |cell: usize| [cell % 500, cell / 500].iter().all(|place| place.is_multiple_of(10));
    let values = (0..500 * 500).map(|cell| if occupied(cell) { 100.0 } else { 0.0 }).collect();
    let map = MapGrid { columns: 500, rows: 500, cell: [0.1; 2], origin: [0.0; 2], values, source: None };
    WorldSpec { map: Some(map), ..spec(robots.collect(), Vec::new()) }
}

/// Robots of a building with walls of 4 m in rows.
fn building(walls: u32) -> WorldSpec {
    let wall = |number: u32| {
        let [x, y] = [f64::from(number % 20) * 5.0, f64::from(number / 20) * 2.0];
        thing(&format!("w{number}"), block(4.0, 0.1), [x, y, 0.0])
    };
    let robots = (0..100).map(|number| {
        let [x, y] = [f64::from(number % 10) * 10.0, f64::from(number / 10) * 4.0 + 0.35];
        robot(&format!("r{number}"), "diff", disc(0.3), [x, y, -0.1])
    });
    spec(robots.collect(), (0..walls).map(wall).collect())
}

fn step(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("contact");
    let cases = [
        ("push/100", pushing(100)),
        ("push/1000", pushing(1000)),
        ("pile/400", pile(20)),
        ("halls/200", halls(200)),
        ("building/2000", building(2000)),
    ];
    for (name, spec) in cases {
        group.bench_function(name, |bencher| {
            let mut world = World::new(&spec, 1).expect("a world");
            let robots = spec.groups[0].objects.len() as u32;
            let commands: Vec<_> = (0..robots).map(|id| (ObjectRef::Id(id), [0.5, 0.0].as_slice())).collect();
            (0..20).for_each(|_| world.step(&commands).expect("commands hold"));
            bencher.iter(|| world.step(black_box(&commands)));
        });
    }
    group.finish();
}

criterion_group!(benches, step);
criterion_main!(benches);
