//! A steady-state tick allocates nothing, whatever the size of the crowd.

use promenade_human::backends::arena::{Arena, InProcess};
use promenade_human::backends::dummy::Dummy;
use promenade_human::backends::hunav::Hunav;
use promenade_human::entity::{DynamicObstacle, Wall};
use promenade_human::message::{Pedestrian, Pedestrians, Pose};
use promenade_human::outbox::{Marker, MarkerTopic};
use promenade_human::{BackendContext, BusFrame, DummySim, HumanLayer, HumanSimulator, Outbox, Sim};
use promenade_kernel::Time;

const PEOPLE: usize = 500;

struct Discard;

impl Outbox for Discard {
    fn publish_pedestrians(&mut self, frame: &BusFrame<'_>) {
        assert_eq!(frame.pedestrians.len(), PEOPLE);
        assert!(frame.joints(PEOPLE - 1).is_some());
    }

    fn publish_markers(&mut self, _: MarkerTopic, _: Time, _: &[Marker]) {}
}

fn person(i: usize) -> DynamicObstacle {
    DynamicObstacle {
        name: format!("p{i}"),
        sim_path: format!("env_0/p{i}"),
        model: "adult".to_owned(),
        model_uri: String::new(),
        pose: Pose::planar(i as f64, 0.0, 0.0),
        velocity: 1.0,
        agent_type: "adult".to_owned(),
        waypoints: Vec::new(),
        waypoint_mode: promenade_human::entity::WaypointMode::Repeat,
        entry: None,
    }
}

fn crowd() -> HumanLayer {
    let people: Vec<DynamicObstacle> = (0..PEOPLE).map(person).collect();
    let sim: Box<dyn Sim> = Box::new(DummySim);
    let mut layer = HumanLayer::new(Box::<Dummy>::default(), sim, Box::new(Discard));
    layer.spawn_pedestrians(&people);
    layer
}

#[test]
fn a_tick_allocates_nothing() {
    let mut layer = crowd();
    layer.tick();
    let counted = allocation_counter::measure(|| {
        for k in 1..=30 {
            layer.set_now(Time::from_nanos(k * 33_333_333));
            layer.tick();
        }
    });
    assert_eq!(counted.count_total, 0, "30 ticks of {PEOPLE} people");
}

#[test]
fn a_stream_batch_allocates_nothing() {
    let mut layer = crowd();
    let mut batch = Pedestrians {
        pedestrians: (0..PEOPLE)
            .map(|i| Pedestrian { name: format!("p{i}"), animation_state: 1, ..Pedestrian::default() })
            .collect(),
        ..Pedestrians::default()
    };
    layer.on_stream(&batch);
    let mut beat = 0;
    let mut stream = |count: i64| {
        for _ in 0..count {
            beat += 50_000_000;
            batch.stamp = Time::from_nanos(beat);
            layer.set_now(batch.stamp);
            layer.on_stream(&batch);
        }
    };
    stream(2);
    let counted = allocation_counter::measure(|| stream(20));
    assert_eq!(counted.count_total, 0, "20 batches of {PEOPLE} people");
}

/// Allocations of 50 ticks among 100 walkers and a wall, after 500 ticks.
fn allocations_of(backend: Box<dyn HumanSimulator>, period_ns: i64) -> u64 {
    const WALKERS: usize = 100;
    struct Count;
    impl Outbox for Count {
        fn publish_pedestrians(&mut self, frame: &BusFrame<'_>) {
            assert_eq!(frame.pedestrians.len(), WALKERS);
        }
        fn publish_markers(&mut self, _: MarkerTopic, _: Time, _: &[Marker]) {}
    }
    let mut layer = HumanLayer::new(backend, Box::new(DummySim), Box::new(Count));
    layer.spawn_world(&[Wall { start: [-2.0, -10.0], end: [-2.0, 2000.0] }], &[], &[]);
    let people: Vec<DynamicObstacle> = (0..WALKERS)
        .map(|i| {
            let (x, y) = ((i % 10) as f64 * 2.0, (i / 10) as f64 * 2.0);
            let waypoints = vec![[x, y + 1000.0]];
            DynamicObstacle { pose: Pose::planar(x, y, 0.0), waypoints, ..person(i) }
        })
        .collect();
    layer.spawn_pedestrians(&people);
    let mut beat = 0;
    let mut run = |count: i64| {
        for _ in 0..count {
            beat += period_ns;
            layer.set_now(Time::from_nanos(beat));
            layer.tick();
        }
    };
    run(500);
    allocation_counter::measure(|| run(50)).count_total
}

#[test]
fn a_tick_with_the_engine_allocates_nothing() {
    let engine = InProcess::new(&[]).expect("an engine");
    let arena = Arena::new(Box::new(engine), "env_0", [3.0, 4.0]);
    assert_eq!(allocations_of(Box::new(arena), 20_000_000), 0);
}

#[test]
fn a_tick_with_hunavs_engine_allocates_nothing() {
    assert_eq!(allocations_of(Box::new(Hunav::new(BackendContext::default())), 100_000_000), 0);
}
