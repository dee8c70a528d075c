//! A thousand resets with 50 people and 5 robots: the same people, the same ids, no memory that grows.

use std::cell::RefCell;
use std::fmt::Write as _;
use std::path::Path;
use std::rc::Rc;

use promenade_human::backends::dummy::Dummy;
use promenade_human::episode::EpisodeRequest;
use promenade_human::message::{Pedestrian, Pedestrians};
use promenade_human::outbox::{Marker, MarkerTopic};
use promenade_human::{BusFrame, DummySim, Environment, EpisodePlan, HumanLayer, Outbox, Ticked as _};
use promenade_kernel::Time;

const PEOPLE: usize = 50;
const ROBOTS: usize = 5;
const RESETS: i64 = 1_000;

/// Names and ids of the last frame.
#[derive(Clone, Default)]
struct Last(Rc<RefCell<Vec<(String, u32)>>>);

impl Outbox for Last {
    fn publish_pedestrians(&mut self, frame: &BusFrame<'_>) {
        let mut last = self.0.borrow_mut();
        last.resize_with(frame.pedestrians.len(), Default::default);
        for (to, from) in last.iter_mut().zip(frame.pedestrians) {
            to.0.clone_from(&from.pedestrian.name);
            to.1 = from.pedestrian.id;
        }
    }

    fn publish_markers(&mut self, _: MarkerTopic, _: Time, _: &[Marker]) {}
}

fn write_world(root: &Path) {
    let world = "zones:\n- name: hall\n  corners: [{x: 0, y: 0}, {x: 40, y: 0}, {x: 40, y: 40}, {x: 0, y: 40}]\n  doors: [{name: d, start: {x: 5, y: 0}, end: {x: 6, y: 0}}]\n";
    let mut scenario = String::from("dynamic:\n");
    for i in 0..PEOPLE {
        writeln!(scenario, "- {{name: p{i}, model: adult, pose: hall}}").expect("a text");
    }
    scenario.push_str("static: [{name: bench, model: bench, pose: [20, 20]}]\nrobots:\n");
    for i in 0..ROBOTS {
        writeln!(scenario, "- {{start: [{i}, 1, 0]}}").expect("a text");
    }
    for (file, text) in [("w/0/world.yaml", world), ("w/scenarios/s/scenario.yaml", &scenario)] {
        let path = root.join(file);
        std::fs::create_dir_all(path.parent().expect("below the root")).expect("a folder");
        std::fs::write(path, text).expect("a file");
    }
}

struct Soak {
    environment: Environment,
    last: Last,
    now: i64,
    _worlds: tempfile::TempDir,
}

impl Soak {
    fn new() -> Self {
        let worlds = tempfile::tempdir().expect("a folder");
        write_world(worlds.path());
        let last = Last::default();
        let layer = HumanLayer::new(Box::<Dummy>::default(), Box::new(DummySim), Box::new(last.clone()));
        let request = EpisodeRequest {
            scenario: "w/s".to_owned(),
            roots: vec![worlds.path().to_owned()],
            prefix: "env_0".to_owned(),
            ..EpisodeRequest::default()
        };
        let mut environment = Environment::new(layer, request, EpisodePlan::default()).expect("loads");
        environment.set_now(Time::from_secs_f64(1.0));
        environment.start();
        Soak { environment, last, now: 1_000_000_000, _worlds: worlds }
    }

    fn tick(&mut self) {
        self.now += 33_333_333;
        self.environment.set_now(Time::from_nanos(self.now));
        self.environment.tick();
    }

    /// One episode: a reset, a stream over everybody, a few ticks.
    fn episode(&mut self) {
        self.environment.reset("", -1).expect("resets");
        let batch = Pedestrians {
            stamp: Time::from_nanos(self.now),
            pedestrians: (0..PEOPLE)
                .map(|i| Pedestrian { name: format!("p{i}"), ..Pedestrian::default() })
                .collect(),
            ..Pedestrians::default()
        };
        self.environment.layer_mut().on_stream(&batch);
        for _ in 0..3 {
            self.tick();
        }
    }
}

#[test]
fn a_thousand_resets_leave_the_roster_the_ids_and_the_memory_as_they_were() {
    let mut soak = Soak::new();
    for _ in 0..20 {
        soak.episode();
    }
    let roster = soak.last.0.borrow().clone();
    assert_eq!(roster.len(), PEOPLE);
    let counted = allocation_counter::measure(|| {
        for _ in 20..RESETS {
            soak.episode();
            assert_eq!(*soak.last.0.borrow(), roster);
        }
    });
    let cx = soak.environment.layer().cx();
    assert_eq!((cx.obstacles().len(), cx.doors().len(), cx.walls().len()), (PEOPLE + 1, 1, 0));
    assert_eq!(soak.environment.layer_mut().tracked_robots().len(), ROBOTS);
    assert_eq!(i64::from(soak.environment.record().episode_id), RESETS);
    // Tables keep some room to grow into; a byte per reset would be 980.
    assert!(counted.bytes_current.abs() < 900, "{} bytes more after 980 resets", counted.bytes_current);
}

#[test]
fn a_tick_of_an_environment_with_doors_allocates_nothing() {
    let mut soak = Soak::new();
    // By then the doors have opened for whoever stands near.
    for _ in 0..60 {
        soak.tick();
    }
    let counted = allocation_counter::measure(|| {
        for _ in 0..30 {
            soak.tick();
        }
    });
    assert_eq!(counted.count_total, 0);
}
