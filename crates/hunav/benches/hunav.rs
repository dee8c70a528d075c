//! One call of `compute_agents` at 10 Hz with 16 obstacle points each, by number of people and by mode.

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use promenade_hunav::workload::Workload;
use promenade_hunav::{Manager, ManagerVersion, Options};

fn call(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("compute_agents");
    for count in [20_usize, 200, 1000] {
        for (name, options) in
            [("robust", Options::default()), ("strict", Options::strict(ManagerVersion::P15))]
        {
            let (mut workload, mut manager) = (Workload::new(count, 16), Manager::new(options));
            let mut answer = Vec::new();
            for _ in 0..20 {
                workload.call(&mut manager, &mut answer);
                workload.echo(&answer);
            }
            group.throughput(Throughput::Elements(count as u64));
            group.bench_function(format!("{name}/{count}"), |bencher| {
                bencher.iter_batched_ref(
                    || (manager.clone(), answer.clone()),
                    |(manager, answer)| workload.call(manager, answer),
                    BatchSize::LargeInput,
                );
            });
        }
    }
    group.finish();
}

criterion_group!(benches, call);
criterion_main!(benches);
