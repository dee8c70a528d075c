//! What the outbound funnel makes of bodies: gaits of agent types, and driven joints.

use std::cell::RefCell;
use std::fs;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use promenade_gait::{GaitInput, GaitPool, Joint, Pose40, PoseProfile, ProfileLibrary};
use promenade_human::backends::dummy::Dummy;
use promenade_human::entity::{DynamicObstacle, WaypointMode};
use promenade_human::message::{Gesture, JointState, Pedestrian, Pedestrians, Pose};
use promenade_human::outbox::{Marker, MarkerTopic};
use promenade_human::walker::Walker;
use promenade_human::{BusFrame, DummySim, HumanLayer, HumanModels, Outbox, load_motions};
use promenade_kernel::Time;

/// The joints of one person as published: the 40, or how many came from upstream, then the driven ones.
#[derive(Clone, Debug, Default)]
struct Body {
    id: u32,
    posture: Option<Pose40>,
    upstream: usize,
    driven: Vec<(String, f64)>,
}

#[derive(Clone, Default)]
struct Recorder(Rc<RefCell<Vec<Body>>>);

impl Outbox for Recorder {
    fn publish_pedestrians(&mut self, frame: &BusFrame<'_>) {
        let bodies = frame.pedestrians.iter().enumerate().map(|(index, entry)| Body {
            id: entry.pedestrian.id,
            posture: frame.joints(index).copied(),
            upstream: entry.pedestrian.joint_state.name.len(),
            driven: frame.driven(index).map(|(name, angle)| (name.to_owned(), angle)).collect(),
        });
        *self.0.borrow_mut() = bodies.collect();
    }

    fn publish_markers(&mut self, _: MarkerTopic, _: Time, _: &[Marker]) {}
}

/// Models are folders.
struct Folder(PathBuf);

impl HumanModels for Folder {
    fn sdf(&self, model: &str) -> Result<String, String> {
        let path = self.0.join(model).join("model.sdf");
        if path.is_file() { Ok(path.display().to_string()) } else { Err("no such folder".to_owned()) }
    }

    fn has_any(&self) -> bool {
        true
    }
}

fn person(name: &str, model: &str, agent_type: &str) -> DynamicObstacle {
    DynamicObstacle {
        name: name.to_owned(),
        sim_path: format!("env_0/{name}"),
        model: model.to_owned(),
        model_uri: String::new(),
        pose: Pose::planar(0.0, 0.0, 0.0),
        velocity: 1.0,
        agent_type: agent_type.to_owned(),
        waypoints: Vec::new(),
        waypoint_mode: WaypointMode::Repeat,
        entry: None,
    }
}

struct Stage {
    layer: HumanLayer,
    published: Rc<RefCell<Vec<Body>>>,
}

impl Stage {
    fn new(models: &Path) -> Self {
        let recorder = Recorder::default();
        let published = Rc::clone(&recorder.0);
        let models = Box::new(Folder(models.to_owned()));
        let backend = Box::new(Dummy::default());
        let mut layer = HumanLayer::new(backend, Box::new(DummySim), Box::new(recorder));
        layer.set_models(models);
        Self { layer, published }
    }

    fn spawn(&mut self, people: &[(&str, &str, &str)]) {
        let people: Vec<_> =
            people.iter().map(|(name, model, agent_type)| person(name, model, agent_type)).collect();
        self.layer.spawn_pedestrians(&people);
    }

    /// Streams the people and publishes a frame.
    fn tick(&mut self, seconds: f64, stream: Vec<Pedestrian>) -> Vec<Body> {
        let stamp = Time::from_secs_f64(seconds);
        self.layer.set_now(stamp);
        self.layer.on_stream(&Pedestrians { stamp, frame_id: "map".to_owned(), pedestrians: stream });
        self.layer.tick();
        self.published.borrow().clone()
    }
}

fn walking(name: &str, agent_type: &str, x: f64) -> Pedestrian {
    let mut ped = Pedestrian {
        name: name.to_owned(),
        pose: Pose::planar(x, 0.0, 0.0),
        animation_state: 1,
        agent_type: agent_type.to_owned(),
        ..Pedestrian::default()
    };
    ped.twist.linear[0] = 1.0;
    ped
}

fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for (name, text) in files {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().expect("in the folder")).expect("made");
        fs::write(path, text).expect("written");
    }
    folder
}

const CHAIR: &str = "drivers:
  l_wheel: {from: distance, radius: 0.3, lateral: 0.28}
  r_wheel: {from: distance, radius: 0.3, lateral: -0.28}
";

#[test]
fn an_agent_type_decides_the_gait() {
    let files = folder(&[
        ("slow.yaml", "pose: {walk: {base: elder}}"),
        ("split.yaml", "locomotion: {phase_warp: {split: {mean: 0.6}}}"),
        ("bad.yaml", "pose: {walk: {base: eldest}}"),
    ]);
    let path = |name: &str| files.path().join(name).display().to_string();
    let mut stage = Stage::new(files.path());
    let names = ["a", "b", "c", "d", "e"];
    stage.spawn(&names.map(|name| (name, "none", "")));
    let types =
        [path("slow.yaml"), path("split.yaml"), path("bad.yaml"), path("missing.yaml"), String::new()];
    let mut bodies = Vec::new();
    for step in 1..=20 {
        let stream = names.iter().zip(&types).map(|(name, kind)| walking(name, kind, 0.0)).collect();
        bodies = stage.tick(0.05 * f64::from(step), stream);
    }
    let mut split = ProfileLibrary::builtin().get("walk_cmu_12_01").expect("shipped").profile.clone();
    split.phase_warp = promenade_gait::PhaseWarp::new(0.6).expect("a split");
    let default = PoseProfile::default;
    let elder = ProfileLibrary::builtin().gait("elder").expect("shipped").clone();
    let expected = [
        PoseProfile { walk: elder, ..default() },
        PoseProfile { walk: promenade_gait::Gait::new(&split).into(), ..default() },
        default(),
        default(),
        default(),
    ];
    for (index, profile) in expected.iter().enumerate() {
        let id = bodies[index].id;
        let mut pool = GaitPool::default();
        let mut posture = [0.0; 40];
        let input = GaitInput { state: 1, speed: 1.0, dt: 0.05, phase_override: None };
        for _ in 0..20 {
            pool.advance_one(id, &input, profile, &mut posture);
        }
        let found = bodies[index].posture.expect("synthesised");
        for joint in Joint::ALL {
            let gap = (found[joint.index()] - posture[joint.index()]).abs();
            assert!(gap < 1e-6, "{} {joint}: {gap}", names[index]);
        }
    }
}

#[test]
fn wheels_roll_beneath_synthesised_and_streamed_joints() {
    let models = folder(&[
        ("chair/model.sdf", ""),
        ("chair/rig.yaml", CHAIR),
        ("plain/model.sdf", ""),
        ("broken/model.sdf", ""),
        ("broken/rig.yaml", "drivers: {w: {from: time, radius: 0.3}}"),
    ]);
    let mut stage = Stage::new(models.path());
    stage.spawn(&[
        ("walked", "chair", ""),
        ("posed", "chair", ""),
        ("plain", "plain", ""),
        ("broken", "broken", ""),
    ]);
    let mut last = Vec::new();
    for step in 0..=50 {
        let x = 0.1 * f64::from(step);
        let mut posed = walking("posed", "", x);
        posed.joint_state =
            JointState { name: vec!["waist".to_owned()], position: vec![0.2], ..JointState::default() };
        let stream = vec![walking("walked", "", x), posed, walking("plain", "", x), walking("broken", "", x)];
        last = stage.tick(0.05 * f64::from(step), stream);
    }
    let rolled = 5.0 / 0.3;
    for body in &last[..2] {
        let names: Vec<&str> = body.driven.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["l_wheel", "r_wheel"]);
        assert!(body.driven.iter().all(|(_, angle)| (angle - rolled).abs() < 1e-9), "{body:?}");
    }
    assert!(last[0].posture.is_some() && last[0].upstream == 0);
    assert!(last[1].posture.is_none() && last[1].upstream == 1);
    assert!(last[2].driven.is_empty() && last[3].driven.is_empty());
}

#[test]
fn wheels_start_anew_for_who_comes_back() {
    let models = folder(&[("chair/model.sdf", ""), ("chair/rig.yaml", CHAIR)]);
    let mut stage = Stage::new(models.path());
    let people = [("a", "chair", ""), ("b", "chair", "")];
    stage.spawn(&people);
    let both = |x: f64| vec![walking("a", "", x), walking("b", "", x)];
    stage.tick(1.0, both(0.0));
    let rolled = stage.tick(1.1, both(3.0));
    assert!(rolled.iter().all(|body| (body.driven[0].1 - 10.0).abs() < 1e-9), "{rolled:?}");
    stage.layer.unuse_obstacles();
    stage.layer.set_now(Time::from_secs_f64(1.2));
    stage.layer.tick();
    stage.layer.spawn_pedestrians(&[]);
    stage.spawn(&people);
    let anew = stage.tick(1.3, both(3.0));
    assert!(anew.iter().all(|body| body.driven.iter().all(|(_, angle)| *angle == 0.0)), "{anew:?}");
}

#[test]
fn who_is_walked_keeps_their_agent_type() {
    let mut walker = Walker::new(0);
    walker.add(&person("a", "none", "elder"), &Pose::default());
    let batch = walker.step(std::time::Duration::from_millis(50), Time::ZERO);
    assert_eq!(batch.pedestrians[0].agent_type, "elder");
}

#[test]
fn profiles_and_clips_of_the_user_are_found_by_name() {
    let files = folder(&[
        ("profiles/stroll.yaml", "same_as: elder\ncadence: {max: 0.3}"),
        ("types/strolling.yaml", "pose: {walk: {base: stroll}}"),
        ("animations/bow.yaml", "keys:\n  - {t: 0, waist: 0.5}\n"),
        ("animations/annotations.yaml", "bow: {loop: false, joints: [waist]}"),
    ]);
    let at = |name: &str| files.path().join(name);
    let (profiles, clips) = load_motions(Some(&at("profiles")), Some(&at("animations"))).expect("a library");
    let mut stage = Stage::new(files.path());
    stage.layer.set_motions(profiles, clips);
    stage.spawn(&[("a", "none", "")]);
    let mut ped = walking("a", &at("types/strolling.yaml").display().to_string(), 0.0);
    ped.gestures = vec![Gesture { slot: "body".to_owned(), clip: "bow".to_owned(), ..Gesture::default() }];
    let mut last = Vec::new();
    for step in 1..=40 {
        last = stage.tick(0.05 * f64::from(step), vec![ped.clone()]);
    }
    let posture = last[0].posture.expect("synthesised");
    assert!((posture[Joint::Waist.index()] - 0.5).abs() < 1e-9);
    let phase = promenade_gait::initial_phase(last[0].id) + 40.0 * 0.05 * 0.3 * std::f64::consts::TAU;
    let mut expected = [0.0; 40];
    ProfileLibrary::builtin().gait("elder").expect("shipped").at_speed(phase, 1.0, &mut expected);
    let knee = Joint::LKnee.index();
    assert!((posture[knee] - expected[knee]).abs() < 1e-6, "{} {}", posture[knee], expected[knee]);
}
