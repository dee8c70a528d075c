//! One tick of people on an open square, by planner and number of people, and the parts of a tick on their own.

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use promenade_crowd::collision::Contacts;
use promenade_crowd::occlusion::Occlusion;
use promenade_crowd::perception::Perception;
use promenade_crowd::planner::{self, GainTable, Motion, Scene};
use promenade_crowd::{Crowd, Improvements, Settings, WallIndex, workload::mirrored_square};

/// A crowd that has got up to speed.
fn crowd(planner: &str, count: u32, improvements: Improvements) -> Crowd {
    let settings = Settings { local_planner: planner.to_owned(), improvements, ..Settings::default() };
    let mut crowd = mirrored_square(settings, count).expect("settings hold");
    (0..20).for_each(|_| crowd.step());
    crowd
}

fn tick(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("tick");
    let cases = [("sfm", 1000), ("sfm", 5000), ("hsfm", 5000), ("orca", 5000), ("straight", 5000)];
    for (planner, count) in cases {
        group.throughput(Throughput::Elements(u64::from(count)));
        for (name, improvements) in [("compatible", Improvements::NONE), ("improved", Improvements::ALL)] {
            group.bench_function(format!("{planner}/{count}/{name}"), |bencher| {
                let mut crowd = crowd(planner, count, improvements);
                bencher.iter(|| crowd.step());
            });
        }
    }
    group.finish();
}

fn parts(criterion: &mut Criterion) {
    const COUNT: u32 = 5000;
    let crowd = crowd("sfm", COUNT, Improvements::NONE);
    let (pool, walls) = (crowd.pool(), WallIndex::default());
    let mut group = criterion.benchmark_group("parts");
    group.throughput(Throughput::Elements(u64::from(COUNT)));
    let mut perception = Perception::default();
    group.bench_function("perception", |bencher| {
        bencher.iter(|| perception.sense(pool, &Occlusion::Off, false));
    });
    let mut planner = planner::named("sfm").expect("a planner");
    for id in &pool.id {
        planner.push(crowd.parameters(*id).expect("an agent"));
    }
    let rows: Vec<u32> = (0..COUNT).collect();
    let mut motions = vec![Motion::default(); rows.len()];
    let scene = Scene {
        pool,
        neighbours: perception.neighbours(),
        grid: perception.grid(),
        gains: &GainTable::default(),
        walls: &walls,
        improvements: Improvements::NONE,
        dt: 0.05,
    };
    group.bench_function("forces", |bencher| bencher.iter(|| planner.plan(&scene, &rows, &mut motions)));
    let mut contacts = Contacts::default();
    group.bench_function("contacts", |bencher| {
        let resolve = |pool: &mut _| contacts.resolve(pool, &walls, false);
        bencher.iter_batched_ref(|| pool.clone(), resolve, BatchSize::LargeInput);
    });
    group.finish();
}

criterion_group!(benches, tick, parts);
criterion_main!(benches);
