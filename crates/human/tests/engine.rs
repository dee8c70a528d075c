//! The arena backend with the crowd engine behind it, as the embedded mode has them.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use promenade_crowd::protocol::ParameterValue;
use promenade_human::backends::arena::{Arena, InProcess};
use promenade_human::entity::{Door, DynamicObstacle, Region, Wall, WaypointMode};
use promenade_human::message::{Pedestrian, Pedestrians, Pose, animation_state};
use promenade_human::outbox::{Marker, MarkerTopic};
use promenade_human::{BusFrame, DummySim, HumanLayer, Outbox, Parameter, Robot};
use promenade_kernel::Time;
use promenade_scenario::{AgentType, RegionKind, SinkAffinity, SinkConfig, SourceAgent, SourceConfig};

/// Frames of the backend per second.
const RATE: i64 = 50;

/// Everybody of the last message, by name: x, y, and speed.
type Last = BTreeMap<String, [f64; 3]>;

#[derive(Default)]
struct Seen {
    last: Last,
    messages: u64,
    /// Every number that was published, as bits.
    all: Vec<u64>,
    keeps_all: bool,
}

#[derive(Clone, Default)]
struct Bus(Rc<RefCell<Seen>>);

impl Outbox for Bus {
    fn publish_pedestrians(&mut self, frame: &BusFrame<'_>) {
        let mut seen = self.0.borrow_mut();
        seen.messages += 1;
        if seen.keeps_all {
            for (row, entry) in frame.pedestrians.iter().enumerate() {
                let ped = &entry.pedestrian;
                seen.all.push(u64::from(ped.id));
                let numbers = ped.pose.position.iter().chain(&ped.pose.orientation).chain(&ped.twist.linear);
                let joints = frame.joints(row).into_iter().flatten();
                seen.all.extend(numbers.chain(joints).map(|number| number.to_bits()));
            }
            return;
        }
        seen.last = frame
            .pedestrians
            .iter()
            .map(|entry| {
                let ped = &entry.pedestrian;
                let [x, y, _] = ped.pose.position;
                (ped.name.clone(), [x, y, ped.twist.linear[0].hypot(ped.twist.linear[1])])
            })
            .collect();
    }

    fn publish_markers(&mut self, _: MarkerTopic, _: Time, _: &[Marker]) {}
}

struct Scene {
    layer: HumanLayer,
    bus: Bus,
    /// Frames so far.
    beat: i64,
    /// Who is possessed and how: where they start, and their velocity along x.
    possessed: Option<(String, [f64; 2], f64)>,
}

impl Scene {
    fn with(threads: i64, offset: [f64; 2]) -> Self {
        let parameters = [
            ("seed".to_owned(), ParameterValue::Integer(3)),
            ("threads".to_owned(), ParameterValue::Integer(threads)),
        ];
        let engine = InProcess::new(&parameters).expect("an engine");
        let bus = Bus::default();
        let arena = Arena::new(Box::new(engine), "env_0", offset);
        let layer = HumanLayer::new(Box::new(arena), Box::new(DummySim), Box::new(bus.clone()));
        Scene { layer, bus, beat: 0, possessed: None }
    }

    fn new() -> Self {
        Scene::with(1, [0.0; 2])
    }

    fn now(&self) -> Time {
        Time::from_nanos(self.beat * 1_000_000_000 / RATE)
    }

    fn run(&mut self, seconds: f64) {
        for _ in 0..(seconds * RATE as f64).round() as i64 {
            self.step();
        }
    }

    fn step(&mut self) {
        let now = self.now();
        self.layer.set_now(now);
        if let Some((name, start, speed)) = &mut self.possessed {
            let mut ped = Pedestrian {
                name: name.clone(),
                pose: Pose::planar(start[0], start[1], 0.0),
                animation_state: animation_state::WALKING,
                ..Pedestrian::default()
            };
            ped.twist.linear[0] = *speed;
            start[0] += *speed / RATE as f64;
            self.layer.on_stream(&Pedestrians {
                stamp: now,
                frame_id: String::new(),
                pedestrians: vec![ped],
            });
        }
        self.layer.tick();
        self.beat += 1;
    }

    fn at(&self, name: &str) -> [f64; 3] {
        self.last()[name]
    }

    fn last(&self) -> Last {
        self.bus.0.borrow().last.clone()
    }
}

fn person(name: &str, start: [f64; 2], goal: [f64; 2]) -> DynamicObstacle {
    DynamicObstacle {
        name: name.to_owned(),
        sim_path: format!("env_0/{name}"),
        model: "adult".to_owned(),
        model_uri: String::new(),
        pose: Pose::planar(start[0], start[1], (goal[1] - start[1]).atan2(goal[0] - start[0])),
        velocity: 1.2,
        agent_type: String::new(),
        waypoints: vec![goal],
        waypoint_mode: WaypointMode::Once,
        entry: None,
    }
}

fn robot(x: f64, y: f64) -> Robot {
    Robot {
        name: "porter".to_owned(),
        sim_path: "env_0/porter".to_owned(),
        model: "jackal".to_owned(),
        base_frame: None,
        pose: Pose::planar(x, y, 0.0),
    }
}

fn square(name: &str, x: f64, kind: RegionKind) -> Region {
    let corners = [[x - 0.5, -0.5], [x + 0.5, -0.5], [x + 0.5, 0.5], [x - 0.5, 0.5]];
    Region { name: name.to_owned(), kind, polygon: corners.to_vec() }
}

fn distance(a: [f64; 3], b: [f64; 3]) -> f64 {
    (a[0] - b[0]).hypot(a[1] - b[1])
}

#[test]
fn people_walk_to_where_their_way_leads_and_stay_there() {
    let mut scene = Scene::new();
    scene.layer.spawn_pedestrians(&[person("ann", [0.0, 0.0], [6.0, 0.0])]);
    scene.run(2.0);
    assert!((0.5..3.0).contains(&scene.at("env_0/ann")[0]), "{:?}", scene.last());
    scene.run(8.0);
    let [x, y, speed] = scene.at("env_0/ann");
    assert!((x - 6.0).abs() < 0.4 && y.abs() < 0.2 && speed < 0.1, "{:?}", scene.last());
}

#[test]
fn an_offset_moves_the_scene_and_nothing_else() {
    let run = |offset: [f64; 2]| {
        let mut scene = Scene::with(1, offset);
        let at = |x: f64, y: f64| [x + offset[0], y + offset[1]];
        let wall = Wall { start: at(3.0, -1.0), end: at(3.0, 1.0) };
        scene.layer.spawn_world(&[wall], &[], &[]);
        scene.layer.spawn_pedestrians(&[person("ann", at(0.0, 0.0), at(6.0, 0.0))]);
        scene.run(6.0);
        let [x, y, _] = scene.at("env_0/ann");
        [x - offset[0], y - offset[1]]
    };
    let (here, there) = (run([0.0; 2]), run([128.0, -64.0]));
    assert!(here[0] > 3.0, "she went around the wall: {here:?}");
    assert!((here[0] - there[0]).abs() < 1e-6 && (here[1] - there[1]).abs() < 1e-6, "{here:?} {there:?}");
}

#[test]
fn others_avoid_a_possessed_person() {
    let mut nearest = [f64::INFINITY; 2];
    for (case, possessed_at) in [(0, 0.15), (1, 40.0)] {
        let mut scene = Scene::new();
        scene.layer.spawn_pedestrians(&[
            person("ann", [0.0, 0.0], [12.0, 0.0]),
            person("bob", [12.0, possessed_at], [12.0, possessed_at]),
        ]);
        scene.possessed = Some(("bob".to_owned(), [12.0, possessed_at], -1.0));
        for _ in 0..7 * RATE {
            scene.step();
            let (ann, mut bob) = (scene.at("env_0/ann"), scene.at("env_0/bob"));
            bob[1] = 0.15;
            nearest[case] = nearest[case].min(distance(ann, bob));
        }
    }
    assert!(nearest[0] > 0.5, "she steps aside for bob: {nearest:?}");
    assert!(nearest[1] < 0.4, "and walks straight on without him: {nearest:?}");
}

#[test]
fn a_released_person_goes_on_from_where_the_stream_left_them() {
    let mut scene = Scene::new();
    scene.layer.spawn_pedestrians(&[person("ann", [0.0, 0.0], [20.0, 5.0])]);
    scene.possessed = Some(("ann".to_owned(), [0.0, 0.0], 1.0));
    scene.run(4.0);
    let left = scene.at("env_0/ann");
    assert!((left[0] - 4.0).abs() < 0.05 && left[1].abs() < 1e-9, "{left:?}");
    scene.possessed = None;
    let none = Pedestrians { stamp: scene.now(), ..Pedestrians::default() };
    scene.layer.set_now(scene.now());
    scene.layer.on_stream(&none);
    let mut before = left;
    for _ in 0..6 * RATE {
        scene.step();
        let now = scene.at("env_0/ann");
        assert!(distance(now, before) < 0.15, "no jump: {before:?} to {now:?}");
        before = now;
    }
    assert!(before[0] > 5.0 && before[1] > 0.3, "she is on her way again: {before:?}");
}

#[test]
fn people_walk_around_a_robot_and_through_one_that_they_do_not_see() {
    let nearest = |visible: bool| {
        let mut scene = Scene::new();
        scene.layer = scene.layer.with_robots_visible(visible);
        scene.layer.spawn_robots(&[robot(5.0, 0.05)]);
        scene.layer.spawn_pedestrians(&[person("ann", [0.0, 0.0], [10.0, 0.0])]);
        let mut nearest = f64::INFINITY;
        for _ in 0..13 * RATE {
            scene.step();
            nearest = distance(scene.at("env_0/ann"), [5.0, 0.05, 0.0]).min(nearest);
        }
        assert!(scene.at("env_0/ann")[0] > 9.0, "she arrives: {:?}", scene.last());
        nearest
    };
    assert!(nearest(true) > 0.45);
    assert!(nearest(false) < 0.2);
}

#[test]
fn people_come_out_of_a_source_and_vanish_in_a_sink() {
    let mut scene = Scene::new();
    let agent = SourceAgent {
        agent_type: Some(AgentType::Named("adult".to_owned())),
        sink_affinity: vec![SinkAffinity { sink: "exit".to_owned(), weight: 1.0 }],
        ..SourceAgent::default()
    };
    let source = SourceConfig { max_concurrent: 2, max_total: 3, agent, ..SourceConfig::default() };
    scene.layer.setup_regions(&[
        square("exit", 8.0, RegionKind::Sink(SinkConfig::default())),
        square("entry", 0.0, RegionKind::Source(source)),
    ]);
    scene.layer.spawn_pedestrians(&[]);
    scene.run(1.0);
    let names: Vec<String> = scene.last().into_keys().collect();
    assert_eq!(names, ["env_0/flow_1", "env_0/flow_2"]);
    let mut most_x = 0.0_f64;
    let mut everybody = std::collections::BTreeSet::new();
    for _ in 0..40 * RATE {
        scene.step();
        for (name, [x, ..]) in scene.last() {
            most_x = most_x.max(x);
            everybody.insert(name);
        }
    }
    assert_eq!(everybody.len(), 3, "{everybody:?}");
    assert!(scene.last().is_empty() && most_x > 7.0, "all of them left through the exit");
}

#[test]
fn nobody_passes_a_closed_door_and_somebody_does_when_it_opens() {
    let mut scene = Scene::new();
    let wall = |start: [f64; 2], end: [f64; 2]| Wall { start, end };
    let room = [
        wall([4.0, -3.0], [4.0, -0.6]),
        wall([4.0, 0.6], [4.0, 3.0]),
        wall([-3.0, -3.0], [4.0, -3.0]),
        wall([-3.0, 3.0], [4.0, 3.0]),
        wall([-3.0, -3.0], [-3.0, 3.0]),
    ];
    let door = Door { name: "exit".to_owned(), line: wall([4.0, -0.6], [4.0, 0.6]) };
    scene.layer.spawn_world(&room, std::slice::from_ref(&door), &[]);
    scene.layer.update_doors(&[(door.clone(), false)]);
    scene.layer.spawn_pedestrians(&[person("ann", [0.0, 0.0], [8.0, 0.0])]);
    scene.run(8.0);
    assert!(scene.at("env_0/ann")[0] < 4.0, "{:?}", scene.last());
    scene.layer.update_doors(&[(door, true)]);
    scene.run(12.0);
    assert!(scene.at("env_0/ann")[0] > 7.0, "{:?}", scene.last());
}

#[test]
fn an_episode_after_another_is_the_same_again() {
    let mut scene = Scene::new();
    let mut ends = Vec::new();
    for _ in 0..3 {
        scene.layer.spawn_pedestrians(&[
            person("ann", [0.0, 0.0], [8.0, 0.4]),
            person("bob", [8.0, 0.2], [0.0, 0.0]),
        ]);
        scene.layer.configure(&[]);
        scene.run(4.0);
        ends.push(scene.last());
        scene.layer.unuse_obstacles();
    }
    assert_eq!(ends[0].len(), 2);
    assert_eq!(ends[0], ends[1]);
    assert_eq!(ends[0], ends[2]);
}

#[test]
fn parameters_of_the_episode_reach_the_engine_and_a_bad_batch_does_not() {
    let mut scene = Scene::new();
    let param =
        |name: &str, value: promenade_human::ParameterValue| Parameter { name: name.to_owned(), value };
    let text = |text: &str| promenade_human::ParameterValue::Text(text.to_owned());
    let good = param("humansim.local_planner", text("hsfm"));
    assert_eq!(scene.layer.configure(std::slice::from_ref(&good)).len(), 1);
    assert_eq!(scene.layer.configure(&[good, param("humansim.no_such_thing", text("x"))]), []);
}

/// Two crossing groups, a possessed person and a robot.
fn crossing(threads: i64, people: usize, keeps_all: bool) -> Scene {
    let mut scene = Scene::with(threads, [0.0; 2]);
    scene.bus.0.borrow_mut().keeps_all = keeps_all;
    scene.layer.spawn_robots(&[robot(0.0, 0.3)]);
    let side = (people as f64).sqrt().ceil() as usize;
    let crowd: Vec<DynamicObstacle> = (0..people)
        .map(|i| {
            let (x, y) = ((i % side) as f64 * 1.5, (i / side) as f64 * 1.5);
            person(&format!("p{i}"), [x - 10.0, y - 10.0], [10.0 - x, 10.0 - y])
        })
        .collect();
    scene.layer.spawn_pedestrians(&crowd);
    scene.possessed = Some(("p0".to_owned(), [-10.0, -10.0], 1.0));
    scene
}

#[test]
fn the_same_seed_gives_the_same_numbers_for_one_and_for_two_threads() {
    let all = |threads: i64| {
        let mut scene = crossing(threads, 40, true);
        scene.run(5.0);
        std::mem::take(&mut scene.bus.0.borrow_mut().all)
    };
    let one = all(1);
    assert!(one.len() > 100_000);
    assert!(one == all(1) && one == all(2));
}
