//! Time of one tick over 10 000 people (walking, running, idling), of the parse of a message's joint names, and of one
//! body's frames.

use std::hint::black_box;

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use promenade_gait::{
    GaitBatch, GaitInput, GaitOutput, GaitPool, JOINT_COUNT, Joint, PoseId, PoseTable,
    rig::{Frames, RIG_JOINT_COUNT, Rig, Transform, wire_to_urdf},
};

const PEOPLE: usize = 10_000;

fn gait(c: &mut Criterion) {
    let mut group = c.benchmark_group("gait");
    group.throughput(Throughput::Elements(PEOPLE as u64));
    let table = PoseTable::default();
    let ids: Vec<u32> = (0..PEOPLE as u32).map(|n| n.wrapping_mul(2_654_435_761)).collect();
    let speeds: Vec<f64> = (0..PEOPLE).map(|n| 0.3 + (n % 40) as f64 * 0.05).collect();
    let (dts, overrides, poses) = (vec![0.05; PEOPLE], vec![f64::NAN; PEOPLE], vec![PoseId::DEFAULT; PEOPLE]);
    let mut out = vec![[0.0; JOINT_COUNT]; PEOPLE];
    let mut phases = vec![0.0; PEOPLE];
    for (name, state) in [("walk", 1), ("run", 2), ("idle", 0)] {
        let states = vec![state; PEOPLE];
        let mut pool = GaitPool::with_capacity(PEOPLE);
        group.bench_function(name, |b| {
            b.iter(|| {
                let batch = GaitBatch {
                    ids: &ids,
                    states: &states,
                    speeds: &speeds,
                    dts: &dts,
                    phase_overrides: &overrides,
                    poses: &poses,
                };
                let mut output = GaitOutput { poses: &mut out, phases: &mut phases };
                black_box(pool.advance(&table, &batch, &mut output)).is_ok()
            });
        });
    }
    group.finish();
}

fn names(c: &mut Criterion) {
    let mut group = c.benchmark_group("joint");
    group.throughput(Throughput::Elements(JOINT_COUNT as u64));
    group.bench_function("parse_40_names", |b| {
        b.iter_batched(
            || black_box(Joint::NAMES),
            |names| names.into_iter().filter_map(Joint::parse).map(Joint::index).sum::<usize>(),
            BatchSize::SmallInput,
        );
    });
    group.finish();
}

fn body(c: &mut Criterion) {
    let mut group = c.benchmark_group("rig");
    let input = GaitInput { state: 1, speed: 1.0, dt: 0.05, phase_override: None };
    let (_, wire) = GaitPool::default().advance_default(7, &input);
    let rig = Rig::default();
    let urdf = wire_to_urdf(&wire);
    let mut frames = Frames::default();
    let mut transforms = [Transform::IDENTITY; RIG_JOINT_COUNT];
    group.bench_function("wire_to_urdf", |b| b.iter(|| wire_to_urdf(black_box(&wire))));
    group.bench_function("transforms", |b| b.iter(|| rig.transforms(black_box(&urdf), &mut transforms)));
    group.bench_function("forward_and_bones", |b| {
        b.iter(|| {
            rig.forward(&Transform::IDENTITY, black_box(&urdf), &mut frames);
            rig.bones(&frames)
        });
    });
    group.finish();
}

criterion_group!(benches, gait, names, body);
criterion_main!(benches);
