//! The conversation with a simulator that is played by the test.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use promenade_human::entity::WaypointMode;
use promenade_human::message::Pose;

use super::link::{OnAnswer, Services};
use super::*;

/// Longer than any test.
const LONG: Duration = Duration::from_secs(3600);
/// For what is never answered.
const SHORT: Duration = Duration::from_millis(30);

/// What one call said: the service and the names in it.
type Call = (Service, Vec<String>);

#[derive(Default)]
struct Stage {
    is_absent: bool,
    /// Answers to the next calls; a call without one is held.
    script: VecDeque<Vec<u8>>,
    held: VecDeque<OnAnswer>,
    calls: Vec<Call>,
}

/// The services; clones share the stage.
#[derive(Clone, Default)]
struct Stub(Arc<Mutex<Stage>>);

impl Stub {
    fn stage(&self) -> MutexGuard<'_, Stage> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn will_answer(&self, answers: &[&[u8]]) {
        self.stage().script.extend(answers.iter().map(|answer| answer.to_vec()));
    }

    fn answer_held(&self, results: &[u8]) {
        let held = self.stage().held.pop_front().expect("a held call");
        held(results);
    }

    fn calls(&self) -> Vec<Call> {
        std::mem::take(&mut self.stage().calls)
    }
}

impl Services for Stub {
    fn place(&self) -> String {
        "/stub".to_owned()
    }

    fn is_ready(&self, _service: Service) -> bool {
        !self.stage().is_absent
    }

    fn send(&self, request: Request<'_>, on_answer: OnAnswer) -> Result<(), String> {
        let call = match request {
            Request::Spawn(r) => {
                (Service::Spawn, r.pedestrians.iter().map(|p| p.pedestrian.name.to_string()).collect())
            }
            Request::Move(r) => (Service::Move, r.pedestrians.iter().map(|p| p.name.to_string()).collect()),
            Request::Update(r) => {
                (Service::Update, r.pedestrians.iter().map(|p| p.name.to_string()).collect())
            }
            Request::Delete(r) => (Service::Delete, r.names.iter().map(ToString::to_string).collect()),
        };
        let mut stage = self.stage();
        stage.calls.push(call);
        match stage.script.pop_front() {
            Some(results) => drop(std::thread::spawn(move || on_answer(&results))),
            None => stage.held.push_back(on_answer),
        }
        Ok(())
    }
}

fn stub(answer: Duration) -> (ServiceSim, Stub) {
    let stub = Stub::default();
    let patience = Patience { answer, quiet: LONG };
    let link = Link::new(Box::new(stub.clone()), patience, Arc::default());
    (ServiceSim { link }, stub)
}

fn people(names: &[&str]) -> Vec<DynamicObstacle> {
    let person = |name: &&str| DynamicObstacle {
        name: (*name).to_owned(),
        sim_path: format!("env_0/{name}"),
        model: "adult".to_owned(),
        model_uri: format!("/models/{name}.sdf"),
        pose: Pose::default(),
        velocity: 1.0,
        agent_type: String::new(),
        waypoints: Vec::new(),
        waypoint_mode: WaypointMode::default(),
        entry: None,
    };
    names.iter().map(person).collect()
}

fn update(sim: &mut ServiceSim, names: &[&str]) -> Vec<bool> {
    let named = |name: &&str| Pedestrian { name: (*name).to_owned(), ..Pedestrian::default() };
    let people: Vec<_> = names.iter().map(named).collect();
    let mut results = Vec::new();
    sim.pedestrian_update(Time::ZERO, &people, &mut results);
    results
}

fn call(service: Service, names: &[&str]) -> Call {
    (service, names.iter().map(|name| (*name).to_owned()).collect())
}

#[test]
fn a_spawn_is_one_call_and_answers_one_result_per_person() {
    let (mut sim, stub) = stub(LONG);
    stub.will_answer(&[&[0, 1, 2, 77]]);
    let results = sim.pedestrian_spawn(&people(&["a", "b", "c", "d"]));
    assert_eq!(results, [true, false, false, false], "success, model, creation, unknown code");
    assert_eq!(stub.calls(), [call(Service::Spawn, &["env_0/a", "env_0/b", "env_0/c", "env_0/d"])]);
}

#[test]
fn an_answer_that_is_too_short_or_too_long_is_a_failure_only_for_whom_it_leaves_out() {
    let (mut sim, stub) = stub(LONG);
    stub.will_answer(&[&[0], &[0, 0, 0, 0, 0], &[]]);
    assert_eq!(sim.pedestrian_spawn(&people(&["a", "b"])), [true, false]);
    assert_eq!(sim.pedestrian_move(&people(&["a", "b"])), [true, true]);
    assert_eq!(sim.pedestrian_delete(&people(&["a", "b"])), [false, false]);
}

#[test]
fn nothing_is_called_for_nobody() {
    let (mut sim, stub) = stub(LONG);
    assert!(sim.pedestrian_spawn(&[]).is_empty());
    assert!(sim.pedestrian_move(&[]).is_empty());
    assert!(sim.pedestrian_delete(&[]).is_empty());
    assert!(update(&mut sim, &[]).is_empty());
    assert!(stub.calls().is_empty());
}

#[test]
fn one_update_is_in_flight_and_the_newest_one_waits() {
    let (mut sim, stub) = stub(LONG);
    assert_eq!(update(&mut sim, &["env_0/a", "env_0/b"]), [true, true], "optimistic before the first answer");
    assert_eq!(update(&mut sim, &["env_0/a"]), [true]);
    assert_eq!(update(&mut sim, &["env_0/b"]), [true]);
    assert_eq!(stub.calls(), [call(Service::Update, &["env_0/a", "env_0/b"])]);
    stub.answer_held(&[0, 1]);
    assert_eq!(
        stub.calls(),
        [call(Service::Update, &["env_0/b"])],
        "the newest, with the answer to the first"
    );
    assert_eq!(update(&mut sim, &["env_0/a", "env_0/b"]), [true, false], "what the last answer said");
    stub.answer_held(&[0]);
    assert_eq!(update(&mut sim, &["env_0/b"]), [true]);
}

#[test]
fn a_lifecycle_call_waits_until_every_update_is_answered() {
    let (mut sim, stub) = stub(LONG);
    update(&mut sim, &["env_0/a"]);
    update(&mut sim, &["env_0/b"]);
    let deleting = std::thread::spawn(move || {
        let deleted = sim.pedestrian_delete(&people(&["a"]));
        (sim, deleted)
    });
    stub.will_answer(&[&[0], &[0]]);
    stub.answer_held(&[0]);
    let (_sim, deleted) = deleting.join().expect("no panic");
    assert_eq!(deleted, [true]);
    assert_eq!(
        stub.calls(),
        [
            call(Service::Update, &["env_0/a"]),
            call(Service::Update, &["env_0/b"]),
            call(Service::Delete, &["env_0/a"])
        ]
    );
}

#[test]
fn an_absent_simulator_fails_everything_and_is_restarted_when_it_comes() {
    let (mut sim, stub) = stub(SHORT);
    stub.stage().is_absent = true;
    assert_eq!(sim.pedestrian_spawn(&people(&["a"])), [false]);
    assert_eq!(sim.pedestrian_move(&people(&["a"])), [false]);
    assert_eq!(update(&mut sim, &["env_0/a"]), [false]);
    assert!(!sim.take_restarted());
    stub.stage().is_absent = false;
    assert!(!sim.take_restarted(), "first it has to answer a question");
    stub.answer_held(&[]);
    assert!(sim.take_restarted());
    assert!(!sim.take_restarted(), "told once");
    stub.will_answer(&[&[0]]);
    assert_eq!(sim.pedestrian_spawn(&people(&["a"])), [true]);
    assert_eq!(
        stub.calls(),
        [call(Service::Update, &[]), call(Service::Spawn, &["env_0/a"])],
        "nothing was sent before it came"
    );
}

#[test]
fn a_simulator_that_goes_and_comes_back_gets_its_people_again() {
    let (mut sim, stub) = stub(LONG);
    stub.will_answer(&[&[0]]);
    sim.pedestrian_spawn(&people(&["a"]));
    stub.stage().is_absent = true;
    assert!(!sim.take_restarted());
    assert_eq!(sim.pedestrian_move(&people(&["a"])), [false], "at once, and not after the time-out");
    stub.stage().is_absent = false;
    stub.stage().held.clear();
    assert!(!sim.take_restarted());
    stub.answer_held(&[]);
    assert!(sim.take_restarted());
    stub.calls();
    // It may have been the network only: whoever may still be there is deleted first.
    stub.will_answer(&[&[1], &[0]]);
    assert_eq!(sim.pedestrian_spawn(&people(&["a"])), [true]);
    assert_eq!(stub.calls(), [call(Service::Delete, &["env_0/a"]), call(Service::Spawn, &["env_0/a"])]);
}

#[test]
fn a_simulator_that_knows_nobody_any_more_was_restarted() {
    let (mut sim, stub) = stub(LONG);
    stub.will_answer(&[&[0, 0]]);
    sim.pedestrian_spawn(&people(&["a", "b"]));
    update(&mut sim, &["a", "b"]);
    stub.answer_held(&[1, 0]);
    assert!(!sim.take_restarted(), "one missing person is a failure of one person");
    update(&mut sim, &["a", "b"]);
    stub.answer_held(&[1, 1]);
    assert!(sim.take_restarted());
    assert_eq!(
        stub.calls()[1..],
        [call(Service::Update, &["env_0/a", "env_0/b"]), call(Service::Update, &["env_0/a", "env_0/b"])],
        "authored names reach the simulator as sim paths"
    );
}

#[test]
fn a_simulator_that_was_not_spoken_to_is_asked_for_somebody() {
    let (mut sim, stub) = stub(LONG);
    stub.will_answer(&[&[0, 0]]);
    sim.pedestrian_spawn(&people(&["a", "b"]));
    assert!(!sim.take_restarted());
    assert_eq!(stub.calls()[1..], [call(Service::Update, &["env_0/a"])]);
    stub.answer_held(&[1]);
    assert!(sim.take_restarted());
}

#[test]
fn a_call_without_an_answer_fails_and_the_next_one_does_not_wait() {
    let (mut sim, stub) = stub(SHORT);
    assert_eq!(sim.pedestrian_spawn(&people(&["a", "b"])), [false, false]);
    let calls = stub.calls().len();
    assert_eq!(sim.pedestrian_move(&people(&["a"])), [false]);
    assert_eq!((calls, stub.calls().len()), (1, 0), "a reset waits once and not for each of its calls");
    // The late answer tells that the simulator lives and created one of them.
    stub.answer_held(&[0, 1]);
    assert!(sim.take_restarted(), "the layer offers both again");
    stub.answer_held(&[0]);
    stub.calls();
    stub.will_answer(&[&[0], &[1], &[0]]);
    assert_eq!(sim.pedestrian_spawn(&people(&["a", "b"])), [true, true]);
    assert_eq!(
        stub.calls(),
        [
            call(Service::Move, &["env_0/a"]),
            call(Service::Delete, &["env_0/b"]),
            call(Service::Spawn, &["env_0/b"])
        ]
    );
}

#[test]
fn a_silent_simulator_is_asked_and_gets_everybody_when_it_answers() {
    let (mut sim, stub) = stub(SHORT);
    assert_eq!(sim.pedestrian_spawn(&people(&["a"])), [false]);
    assert!(!sim.take_restarted());
    assert_eq!(stub.calls(), [call(Service::Spawn, &["env_0/a"]), call(Service::Update, &[])]);
    let answer_question = || {
        let question = stub.stage().held.pop_back().expect("the question");
        question(&[]);
    };
    answer_question();
    assert!(sim.take_restarted());
    assert!(!sim.take_restarted());
    // It answers questions and never a spawn: the second attempt was the last for a while.
    stub.will_answer(&[&[0]]);
    assert_eq!(sim.pedestrian_spawn(&people(&["a"])), [false]);
    sim.take_restarted();
    answer_question();
    assert!(!sim.take_restarted(), "the world is not stopped again and again");
}

#[test]
fn an_update_without_an_answer_is_given_up_and_its_late_answer_ignored() {
    let (mut sim, stub) = stub(Duration::ZERO);
    update(&mut sim, &["env_0/a"]);
    update(&mut sim, &["env_0/b"]);
    assert_eq!(stub.calls(), [call(Service::Update, &["env_0/a"]), call(Service::Update, &["env_0/b"])]);
    stub.answer_held(&[1]);
    assert_eq!(update(&mut sim, &["env_0/a"]), [true], "the answer was to a call that counts no more");
}

#[test]
fn a_node_that_stops_waits_for_nothing() {
    let stub = Stub::default();
    let stop = Arc::new(AtomicBool::new(true));
    let patience = Patience { answer: LONG, quiet: LONG };
    let mut sim = ServiceSim { link: Link::new(Box::new(stub.clone()), patience, stop) };
    assert_eq!(sim.pedestrian_spawn(&people(&["a"])), [false]);
    stub.stage().is_absent = true;
    assert_eq!(sim.pedestrian_move(&people(&["a"])), [false]);
}
