//! Time of one tick of everybody's bodies: 20 percent with an overlay, 5 percent pointing, the rest walking.

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use promenade_gait::{
    ArticulationBatch, Articulator, GaitBatch, GaitOutput, JOINT_COUNT, PoseId, PoseTable,
    gesture::{Channel, NoChannels},
};

fn animate(c: &mut Criterion) {
    let mut group = c.benchmark_group("animate");
    for people in [1_000_usize, 10_000] {
        group.throughput(Throughput::Elements(people as u64));
        let table = PoseTable::default();
        let ids: Vec<u32> = (0..people as u32).map(|n| n.wrapping_mul(2_654_435_761)).collect();
        let states = vec![1; people];
        let speeds: Vec<f64> = (0..people).map(|n| 0.3 + (n % 40) as f64 * 0.05).collect();
        let (dts, overrides, poses) =
            (vec![0.05; people], vec![f64::NAN; people], vec![PoseId::DEFAULT; people]);
        let positions = vec![[0.0; 3]; people];
        let channels: Vec<Vec<Channel<'_>>> = (0..people)
            .map(|person| match person % 20 {
                0 => vec![Channel { slot: "arm", at: [3.0, 1.0, 1.0], ..Channel::default() }],
                1..=4 => vec![Channel { slot: "body", clip: "wave", ..Channel::default() }],
                _ => Vec::new(),
            })
            .collect();
        let gait = GaitBatch {
            ids: &ids,
            states: &states,
            speeds: &speeds,
            dts: &dts,
            phase_overrides: &overrides,
            poses: &poses,
        };
        let (mut out, mut phases) = (vec![[0.0; JOINT_COUNT]; people], vec![0.0; people]);
        let mut plain = Articulator::default();
        group.bench_function(format!("plain_{people}"), |b| {
            b.iter(|| {
                let batch = ArticulationBatch { gait, positions: &positions, channels: &NoChannels };
                let mut output = GaitOutput { poses: &mut out, phases: &mut phases };
                black_box(plain.advance(&table, &batch, &mut output)).is_ok()
            });
        });
        let mut crowd = Articulator::default();
        group.bench_function(format!("mixed_{people}"), |b| {
            b.iter(|| {
                let batch = ArticulationBatch { gait, positions: &positions, channels: channels.as_slice() };
                let mut output = GaitOutput { poses: &mut out, phases: &mut phases };
                black_box(crowd.advance(&table, &batch, &mut output)).is_ok()
            });
        });
        // Everybody walks on, so that each pointing arm follows its target every third tick.
        let mut walking = Articulator::default();
        let mut moved = positions.clone();
        group.bench_function(format!("mixed_walking_{people}"), |b| {
            b.iter(|| {
                moved.iter_mut().for_each(|position| position[0] = (position[0] + 0.06) % 2.0);
                let batch = ArticulationBatch { gait, positions: &moved, channels: channels.as_slice() };
                let mut output = GaitOutput { poses: &mut out, phases: &mut phases };
                black_box(walking.advance(&table, &batch, &mut output)).is_ok()
            });
        });
    }
    group.finish();
}

criterion_group!(benches, animate);
criterion_main!(benches);
