//! How fast the kernel itself is: wake-ups of processes, deliveries of the store, and frames over many entities.

use std::time::Duration;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use promenade_kernel::{Ctx, EventTag, FrameCtx, FrameSystem, Simulation, SystemResult};

const WAKE_UPS: u64 = 1_000_000;
const PROCESSES: u64 = 1000;
const RECORDS: u64 = 100_000;
const FRAMES: u64 = 600;
const ENTITIES: u32 = 10_000;

fn wake_ups(c: &mut Criterion) {
    let mut group = c.benchmark_group("kernel");
    group.throughput(Throughput::Elements(WAKE_UPS));
    group.bench_function("wake_ups", |b| {
        b.iter(|| {
            let mut sim = Simulation::builder().build();
            for process in 0..PROCESSES {
                let tick = async move |cx: Ctx| {
                    for _ in 0..WAKE_UPS / PROCESSES {
                        cx.timeout(Duration::from_nanos(1000 + process)).await;
                    }
                    Ok(())
                };
                sim.add_event(&process.to_string(), tick).expect("a new name");
            }
            sim.run().expect("no errors")
        });
    });
    group.finish();
}

struct Request(u64);

impl EventTag for Request {
    const TAG: &'static str = "Request";
}

fn deliveries(c: &mut Criterion) {
    let mut group = c.benchmark_group("kernel");
    group.throughput(Throughput::Elements(RECORDS));
    group.bench_function("deliveries", |b| {
        b.iter(|| {
            let mut sim = Simulation::builder().build();
            sim.add_event("taker", async |cx| {
                for n in 0..RECORDS {
                    assert_eq!(cx.store().take::<Request>().await.0, n);
                }
                Ok(())
            })
            .expect("a new name");
            sim.add_event("sender", async |cx| {
                for n in 0..RECORDS {
                    cx.store().put(Request(n))?;
                    cx.timeout(Duration::from_nanos(1)).await;
                }
                Ok(())
            })
            .expect("a new name");
            sim.run().expect("no errors")
        });
    });
    group.finish();
}

struct Position(f64, f64);
struct Velocity(f64, f64);

struct Move {
    ordered: bool,
}

impl FrameSystem for Move {
    fn name(&self) -> &str {
        "move"
    }

    fn process(&mut self, cx: &mut FrameCtx<'_>) -> SystemResult {
        let dt = cx.dt();
        let step = |(p, v): (&mut Position, &Velocity)| {
            p.0 += v.0 * dt;
            p.1 += v.1 * dt;
        };
        if self.ordered {
            cx.ordered::<(&mut Position, &Velocity)>(|_, item| step(item));
        } else {
            cx.query::<(&mut Position, &Velocity)>().iter().for_each(step);
        }
        Ok(())
    }
}

fn frames(c: &mut Criterion) {
    let mut group = c.benchmark_group("kernel");
    group.throughput(Throughput::Elements(FRAMES * u64::from(ENTITIES)));
    for (name, ordered) in [("frames", false), ("frames_ordered", true)] {
        group.bench_function(name, |b| {
            b.iter(|| {
                let mut sim = Simulation::builder().fps(60.0).duration(Duration::from_secs(10)).build();
                sim.with_world(|world| {
                    for n in 0..ENTITIES {
                        world.spawn((Position(0.0, 0.0), Velocity(f64::from(n), 1.0)));
                    }
                });
                sim.add_frame(Move { ordered }).expect("a new name");
                assert_eq!(sim.run().expect("no errors").frames, FRAMES);
            });
        });
    }
    group.finish();
}

criterion_group!(benches, wake_ups, deliveries, frames);
criterion_main!(benches);
