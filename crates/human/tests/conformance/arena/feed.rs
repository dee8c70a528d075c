//! What the engine hears of robots and of possessed people (section 17.7).

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use promenade_crowd::protocol::{AgentState, kind};
use promenade_human::message::Pose;
use promenade_human::{Robot, Transforms};
use promenade_kernel::Time;

use super::Play;
use crate::stage::{batch, walking};

#[derive(Clone, Default)]
struct Frames(Rc<RefCell<BTreeMap<String, (Time, Pose)>>>);

impl Transforms for Frames {
    fn latest(&mut self, frame: &str) -> Option<(Time, Pose)> {
        self.0.borrow().get(frame).copied()
    }
}

fn robot(name: &str, x: f64) -> Robot {
    Robot {
        name: name.to_owned(),
        sim_path: format!("env_0/{name}"),
        model: "jackal".to_owned(),
        base_frame: Some(format!("{name}/base")),
        pose: Pose::planar(x, 0.0, 0.5),
    }
}

fn fed(play: &Play) -> Vec<AgentState> {
    play.engine.borrow_mut().fed.pop().map(|states| states.agents).unwrap_or_default()
}

fn names(agents: &[AgentState]) -> Vec<&str> {
    agents.iter().map(|agent| agent.name.as_str()).collect()
}

#[test]
fn each_robot_is_told_of_twice_in_the_engines_world_with_its_velocity() {
    let mut play = Play::with_people(&["ann"]);
    let frames = Frames::default();
    play.stage.layer = play.stage.layer.with_transforms(Box::new(frames.clone()));
    play.stage.layer.spawn_robots(&[robot("jackal", 12.0), robot("rob", 14.0)]);
    let see = |at: f64, x: f64| {
        frames
            .0
            .borrow_mut()
            .insert("rob/base".to_owned(), (Time::from_secs_f64(at), Pose::planar(x, 0.0, 0.0)));
    };
    see(10.0, 14.0);
    play.tick(10.0);
    see(10.1, 14.2);
    play.tick(10.1);
    assert_eq!(play.engine.borrow().fed.last().map(|states| states.stamp_ns), Some(10_100_000_000));
    let agents = fed(&play);
    assert_eq!(names(&agents), ["jackal", "rob", "robot_0", "robot_1"]);
    // The lower 31 bits of the names' numbers, as section 28 lists them.
    assert_eq!(
        agents.iter().map(|agent| agent.agent_id).collect::<Vec<_>>(),
        [1_253_787_973, 942_178_021, 1_253_787_973, 942_178_021]
    );
    assert_eq!(agents[0].pose, [2.0, 5.0, 0.5]);
    for rob in [&agents[1], &agents[3]] {
        assert!((rob.pose[0] - 4.2).abs() < 1e-9 && (rob.velocity[0] - 2.0).abs() < 1e-9);
    }
    assert!(agents.iter().all(|agent| agent.radius == 0.3 && agent.kind == kind::ROBOT));
}

#[test]
fn an_alias_that_is_a_robots_own_name_is_skipped() {
    let mut play = Play::with_people(&[]);
    play.stage.layer.spawn_robots(&[robot("robot_1", 0.0), robot("rob", 1.0), robot("robot_0", 2.0)]);
    play.tick(10.0);
    assert_eq!(names(&fed(&play)), ["robot_1", "rob", "robot_0", "robot_2"]);
}

#[test]
fn nothing_is_told_without_robots_and_possession() {
    let mut play = Play::with_people(&["ann"]);
    for beat in 0..10 {
        play.tick(10.0 + 0.02 * f64::from(beat));
    }
    assert!(play.engine.borrow().fed.is_empty());
}

#[test]
fn invisible_robots_are_not_told_of() {
    let mut play = Play::with_people(&["ann"]);
    play.stage.layer = play.stage.layer.with_robots_visible(false);
    play.stage.layer.spawn_robots(&[robot("rob", 0.0)]);
    play.tick(10.0);
    assert!(play.engine.borrow().fed.is_empty());
    play.stage.stream_at(10.02, vec![walking("ann", 3.0)]);
    play.tick(10.1);
    assert_eq!(names(&fed(&play)), ["env_0/ann"], "possessed people are");
}

#[test]
fn there_are_twenty_messages_in_a_second_on_average_and_after_a_clock_that_went_back() {
    let mut play = Play::with_people(&["ann"]);
    play.stage.layer.spawn_robots(&[robot("rob", 0.0)]);
    for beat in 0..50 {
        play.tick(10.0 + 0.02 * f64::from(beat));
    }
    assert_eq!(play.engine.borrow_mut().fed.drain(..).count(), 20);
    play.stage.layer.set_back(Time::from_secs_f64(1.0));
    for beat in 0..50 {
        play.tick(1.0 + 0.02 * f64::from(beat));
    }
    assert_eq!(play.engine.borrow().fed.len(), 20);
}

#[test]
fn a_possessed_person_is_told_of_under_the_engines_id_with_the_velocity_of_the_stream() {
    let mut play = Play::with_people(&["ann", "bob"]);
    play.stage.stream_at(10.0, vec![walking("bob", 13.0)]);
    play.tick(10.0);
    let agents = fed(&play);
    assert_eq!(names(&agents), ["env_0/bob"]);
    let bob = &agents[0];
    assert_eq!((bob.agent_id, bob.pose, bob.velocity, bob.radius), (2, [3.0, 5.0, 0.0], [1.0, 0.0], 0.35));
    assert_eq!(bob.kind, kind::HUMAN);
}

#[test]
fn a_possessed_person_whom_the_engine_has_not_got_has_the_number_of_the_name() {
    let mut play = Play::new();
    play.engine.borrow_mut().is_silent = true;
    play.stage.layer.spawn_pedestrians(&[crate::stage::person("rob")]);
    play.stage.stream_at(10.0, vec![walking("rob", 13.0)]);
    play.tick(10.0);
    let id = (promenade_kernel::stable_int("env_0/rob") & 0x7FFF_FFFF) as i32;
    assert_eq!(fed(&play)[0].agent_id, id);
}

#[test]
fn whoever_is_released_is_told_of_once_more_at_rest_where_the_stream_left_them() {
    let mut play = Play::with_people(&["ann"]);
    play.stage.stream_at(10.0, vec![walking("ann", 13.0)]);
    play.tick(10.0);
    fed(&play);
    play.stage.at(10.03);
    play.stage.layer.on_stream(&batch(10.03, vec![]));
    play.tick(10.06);
    let agents = fed(&play);
    assert_eq!((agents[0].agent_id, agents[0].pose, agents[0].velocity), (1, [3.0, 5.0, 0.0], [0.0; 2]));
    play.tick(10.12);
    assert!(play.engine.borrow().fed.is_empty(), "and then no more");
}

#[test]
fn whoever_is_teleported_is_told_of_once_and_a_possessed_one_stays_with_the_stream() {
    let mut play = Play::with_people(&["ann", "bob"]);
    play.stage.stream_at(10.0, vec![walking("bob", 13.0)]);
    let to = |x| Pose::planar(x, 0.0, 0.0);
    play.stage.layer.on_move(&[("ann".to_owned(), to(20.0)), ("bob".to_owned(), to(30.0))]);
    play.tick(10.0);
    let places: Vec<_> = fed(&play).into_iter().map(|agent| (agent.agent_id, agent.pose[0])).collect();
    assert_eq!(places, [(2, 3.0), (1, 10.0)]);
}

#[test]
fn a_possessed_person_is_on_the_bus_where_the_stream_says_and_afterwards_where_the_engine_does() {
    let mut play = Play::with_people(&["ann"]);
    play.say_frame(10.0, &[(1, 0.0, 0.0, 0.0)]);
    play.stage.stream_at(10.0, vec![walking("ann", 13.0)]);
    play.tick(10.0);
    assert_eq!(play.places()[0].1, [13.0, 0.0]);
    play.tick(11.001);
    assert_eq!(play.places()[0].1, [10.0, -5.0]);
}
