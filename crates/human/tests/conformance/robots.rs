//! Robots, stimuli and parameters: what the layer hands on (human-layer specification, sections 5.6, 19, 20 and 24).

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use promenade_human::message::{Pedestrian, Pose};
use promenade_human::parameter::{ParameterError, check_human_params};
use promenade_human::{HumanSimulator, LayerCx, Parameter, ParameterValue, Robot, Transforms};
use promenade_kernel::Time;

use crate::stage::{Stage, person};

#[derive(Clone, Default)]
struct Frames(Rc<RefCell<BTreeMap<String, (Time, Pose)>>>);

impl Frames {
    fn see(&self, frame: &str, at: f64, x: f64, y: f64) {
        self.0.borrow_mut().insert(frame.to_owned(), (Time::from_secs_f64(at), Pose::planar(x, y, 0.0)));
    }
}

impl Transforms for Frames {
    fn latest(&mut self, frame: &str) -> Option<(Time, Pose)> {
        self.0.borrow().get(frame).copied()
    }
}

/// What a backend was told.
#[derive(Clone, Default)]
pub(crate) struct Told(Rc<RefCell<Vec<String>>>);

impl Told {
    pub(crate) fn take(&self) -> Vec<String> {
        std::mem::take(&mut self.0.borrow_mut())
    }
}

impl HumanSimulator for Told {
    fn rate_hz(&self) -> f64 {
        1.0
    }
    fn tick(&mut self, cx: &mut LayerCx) {
        let one = Pedestrian { name: "env_0/ann".to_owned(), id: 7, ..Pedestrian::default() };
        cx.publish_pedestrians([&one]);
    }
    fn spawn_robots(&mut self, _: &mut LayerCx, robots: &[Robot]) -> Vec<bool> {
        let names: Vec<&str> = robots.iter().map(|robot| robot.name.as_str()).collect();
        self.0.borrow_mut().push(format!("spawn {}", names.join(" ")));
        robots.iter().map(|robot| robot.name != "shy").collect()
    }
    fn notify_stimulus(&mut self, _: &mut LayerCx, agent: i32, stimulus: &str, intensity: f32) {
        self.0.borrow_mut().push(format!("{agent} {stimulus} {intensity}"));
    }
    fn param_namespace(&self) -> Option<&'static str> {
        Some("humansim")
    }
    fn configure(&mut self, _: &mut LayerCx, params: &[Parameter]) -> Vec<String> {
        let names: Vec<&str> = params.iter().map(|param| param.name.as_str()).collect();
        self.0.borrow_mut().push(format!("configure {}", names.join(" ")));
        names.into_iter().filter(|name| *name != "bad").map(str::to_owned).collect()
    }
}

fn robot(name: &str) -> Robot {
    Robot {
        name: name.to_owned(),
        sim_path: format!("env_0/{name}"),
        model: "jackal".to_owned(),
        base_frame: Some(format!("env_0/{name}/base_link")),
        pose: Pose::planar(1.0, 2.0, 0.0),
    }
}

fn stage() -> (Stage, Told, Frames) {
    let (told, frames) = (Told::default(), Frames::default());
    let mut stage = Stage::with(Box::new(told.clone()));
    stage.at(10.0);
    stage.layer = stage.layer.with_transforms(Box::new(frames.clone()));
    (stage, told, frames)
}

#[test]
fn only_robots_that_the_simulator_has_reach_the_tracker_and_the_backend() {
    let (mut stage, told, _) = stage();
    stage.log.borrow_mut().sim_fails_for.push("ghost".to_owned());
    assert_eq!(
        stage.layer.spawn_robots(&[robot("r2"), robot("ghost"), robot("shy")]),
        [true, false, false],
        "success is that of both sides"
    );
    assert_eq!(told.take(), ["spawn r2 shy"]);
    let tracked: Vec<_> = stage.layer.tracked_robots().iter().map(|t| t.robot.name.clone()).collect();
    assert_eq!(tracked, ["r2", "shy"], "in spawn order");
    assert_eq!(stage.layer.remove_robots(&[robot("r2")]), [true]);
    assert!(!stage.layer.tracks_robot("r2"));
}

#[test]
fn velocity_comes_from_the_last_two_stamps_and_the_first_leaves_the_robot_at_rest() {
    let (mut stage, _, frames) = stage();
    stage.layer.spawn_robots(&[robot("r2")]);
    let see = |stage: &mut Stage| {
        let tracked = stage.layer.tracked_robots()[0].clone();
        (tracked.pose.position, tracked.velocity)
    };
    assert_eq!(see(&mut stage), ([1.0, 2.0, 0.0], [0.0; 2]), "no transform yet: where it was put");
    frames.see("env_0/r2/base_link", 10.0, 5.0, 5.0);
    assert_eq!(see(&mut stage), ([5.0, 5.0, 0.0], [0.0; 2]));
    frames.see("env_0/r2/base_link", 10.5, 6.0, 4.0);
    assert_eq!(see(&mut stage), ([6.0, 4.0, 0.0], [2.0, -2.0]));
    assert_eq!(see(&mut stage), ([6.0, 4.0, 0.0], [2.0, -2.0]), "a stamp that is not newer changes nothing");
    stage.layer.move_robots(&[robot("r2")]);
    frames.see("env_0/r2/base_link", 11.0, 1.0, 2.0);
    assert_eq!(see(&mut stage), ([1.0, 2.0, 0.0], [0.0; 2]), "a teleport is no motion");
}

#[test]
fn transforms_that_are_not_finite_are_not_believed() {
    let (mut stage, _, frames) = stage();
    stage.layer.spawn_robots(&[robot("r2")]);
    frames.see("env_0/r2/base_link", 10.0, f64::NAN, 0.0);
    assert_eq!(stage.layer.tracked_robots()[0].pose.position, [1.0, 2.0, 0.0]);
}

#[test]
fn after_a_clock_that_went_back_stamps_of_the_new_run_count() {
    let (mut stage, _, frames) = stage();
    stage.layer.spawn_robots(&[robot("r2")]);
    frames.see("env_0/r2/base_link", 10.0, 5.0, 5.0);
    stage.layer.tracked_robots();
    stage.layer.set_back(Time::from_secs_f64(1.0));
    frames.see("env_0/r2/base_link", 1.0, 7.0, 5.0);
    let tracked = &stage.layer.tracked_robots()[0];
    assert_eq!((tracked.pose.position, tracked.velocity), ([7.0, 5.0, 0.0], [0.0; 2]));
}

#[test]
fn invisible_robots_are_tracked_and_not_shown_to_people() {
    struct Looks(Rc<RefCell<Vec<usize>>>);
    impl HumanSimulator for Looks {
        fn rate_hz(&self) -> f64 {
            1.0
        }
        fn tick(&mut self, cx: &mut LayerCx) {
            let seen = cx.visible_robots().len();
            self.0.borrow_mut().push(seen);
        }
    }
    for (visible, seen) in [(true, 1), (false, 0)] {
        let log = Rc::default();
        let mut stage = Stage::with(Box::new(Looks(Rc::clone(&log))));
        stage.layer = stage.layer.with_robots_visible(visible);
        stage.layer.spawn_robots(&[robot("r2")]);
        stage.layer.tick();
        assert_eq!(*log.borrow(), [seen]);
        assert_eq!(stage.layer.tracked_robots().len(), 1);
    }
}

#[test]
fn stimuli_are_told_at_their_onset_per_agent_and_stimulus() {
    let (mut stage, told, _) = stage();
    for (agent, name, intensity) in [
        (3, "alarm", 0.0),
        (3, "alarm", 0.5),
        (3, "alarm", 0.9),
        (4, "alarm", 0.25),
        (3, "music", 1.0),
        (3, "alarm", f32::NAN),
        (3, "alarm", 0.75),
    ] {
        stage.layer.hear(agent, name, intensity);
    }
    assert_eq!(told.take(), ["3 alarm 0.5", "4 alarm 0.25", "3 music 1", "3 alarm 0.75"]);
    stage.layer.unuse_obstacles();
    stage.layer.hear(3, "music", 1.0);
    assert_eq!(told.take(), ["3 music 1"], "the next episode begins in silence");
    stage.layer.notify_stimulus(-1, "fire", 7.0);
    assert_eq!(told.take(), ["-1 fire 1"], "intensities end at 1");
}

#[test]
fn people_are_addressed_by_either_name_once_they_are_on_the_bus() {
    let (mut stage, _, _) = stage();
    stage.layer.spawn_pedestrians(&[person("ann")]);
    assert_eq!(stage.layer.agent_id("ann"), None);
    stage.layer.tick();
    assert_eq!((stage.layer.agent_id("ann"), stage.layer.agent_id("env_0/ann")), (Some(7), Some(7)));
}

fn params(names: &[&str]) -> Vec<Parameter> {
    let param = |name: &&str| Parameter { name: (*name).to_owned(), value: ParameterValue::Double(1.0) };
    names.iter().map(param).collect()
}

#[test]
fn parameters_are_sorted_stripped_and_answered_under_their_full_names() {
    let (mut stage, told, _) = stage();
    let asked = params(&["humansim.z", "hunav.x", "humansim.bad", "humansim.a"]);
    let accepted = stage.layer.configure(&asked);
    assert_eq!(told.take(), ["configure a bad z"]);
    assert_eq!(accepted, params(&["humansim.a", "humansim.z"]));
    assert_eq!(stage.layer.configure(&[]), []);
    assert_eq!(told.take(), ["configure "], "a backend has its episode boundary also without parameters");
}

#[test]
fn a_backend_without_a_namespace_accepts_nothing() {
    let mut stage = Stage::with_people(&["ann"]);
    assert_eq!(stage.layer.configure(&params(&["humansim.dt"])), []);
}

#[test]
fn reserved_and_unknown_prefixes_are_refused() {
    assert_eq!(check_human_params(&params(&["humansim.dt", "mine.x"]), Some("mine")), Ok(()));
    assert_eq!(
        check_human_params(&params(&["human.count"]), None),
        Err(ParameterError::Reserved("human.count".to_owned()))
    );
    for name in ["mine.x", "dt", "", ".dt"] {
        let error = check_human_params(&params(&[name]), None).expect_err(name);
        assert!(
            error.to_string().ends_with("no backend has this prefix; there is humansim., hunav."),
            "{error}"
        );
    }
}

#[test]
fn a_simulator_that_started_anew_gets_everything_again_where_it_is_now() {
    let mut stage = Stage::with_people(&["ann"]);
    stage.layer.spawn_robots(&[robot("r2")]);
    stage.layer.on_move(&[("ann".to_owned(), Pose::planar(9.0, 9.0, 0.0))]);
    stage.tick_at(10.0);
    stage.sim_calls();
    stage.log.borrow_mut().sim_restarts = true;
    stage.tick_at(10.1);
    assert_eq!(stage.sim_calls(), ["spawn_walls 0 clear=false", "robot_spawn r2", "pedestrian_spawn ann"]);
    assert_eq!(stage.log.borrow().spawned_at, [[9.0, 9.0, 0.0]]);
    stage.tick_at(10.2);
    assert!(stage.sim_calls().is_empty(), "once");
}
