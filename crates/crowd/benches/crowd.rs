//! One tick of people on an open square, by planner and number of people.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use promenade_crowd::{Settings, planner::PLANNERS, workload::mirrored_square};

fn tick(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("tick");
    let every = PLANNERS.map(|planner| (planner, 1000));
    for (planner, count) in every.into_iter().chain([("sfm", 5000), ("hsfm", 5000), ("straight", 5000)]) {
        group.throughput(Throughput::Elements(u64::from(count)));
        group.bench_function(format!("{planner}/{count}"), |bencher| {
            let settings = Settings { local_planner: planner.to_owned(), ..Settings::default() };
            let mut crowd = mirrored_square(settings, count).expect("settings hold");
            (0..20).for_each(|_| crowd.step());
            bencher.iter(|| crowd.step());
        });
    }
    group.finish();
}

criterion_group!(benches, tick);
criterion_main!(benches);
