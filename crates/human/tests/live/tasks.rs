//! The phases of robots.

use promenade_human::live::{LiveWorld, Occupant, RobotTask, TaskEvent};

use crate::stage::{at, hall, live_with, person, robot, scenario};

const WORLD: &str = "  doors:\n  - {name: d, start: {x: -1, y: 0}, end: {x: 1, y: 0}}\n  schedules:\n  - {name: bell, semantics: [{preset: schedule, params: {windows: []}}]}\n- name: corner\n  corners: [{x: 6, y: 6}, {x: 10, y: 6}, {x: 10, y: 10}, {x: 6, y: 10}]\n";

struct Stage {
    live: LiveWorld,
    task: RobotTask,
    now: f64,
}

impl Stage {
    fn new(phases: &str) -> Self {
        let text = format!(
            "dynamic: [{{name: ann, model: m, pose: [0, 9]}}]\nrobots: [{{name: r, start: [0, 0], phases: {phases}}}]"
        );
        let live = live_with(&hall(WORLD), &text);
        let task = RobotTask::new(&scenario(&text).robots[0], &live);
        Stage { live, task, now: 0.0 }
    }

    /// One step of 0.5 s with the robot there and others.
    fn step(&mut self, [x, y]: [f64; 2], others: &[Occupant<'_>]) -> Option<[f64; 2]> {
        let mut everybody = others.to_vec();
        everybody.push(robot("r", x, y));
        self.live.step(at(self.now), everybody);
        let goal = self.task.step(at(self.now), [x, y, 0.0], &self.live);
        self.now += 0.5;
        goal.map(|[x, y, _]| [x, y])
    }

    fn told(&self) -> Vec<String> {
        let tell = |event: &TaskEvent| match event {
            TaskEvent::PhaseStarted { phase, text } => {
                format!("start {phase} {}", text.as_deref().unwrap_or(""))
            }
            TaskEvent::PhaseMet { phase } => format!("met {phase}"),
            TaskEvent::PhaseFailed { phase, reason } => format!("failed {phase}: {reason}"),
            TaskEvent::TaskDone { completed } => format!("done {completed}"),
            TaskEvent::AbortEpisode { phase } => format!("abort {phase}"),
        };
        self.task.events().iter().map(|event| tell(event).trim().to_owned()).collect()
    }
}

#[test]
fn goto_poses_one_after_the_other() {
    let mut stage = Stage::new("[{goto: [3, 0, 1.5], text: east}, {goto: [3, 5]}]");
    assert_eq!(stage.step([0.0, 0.0], &[]), Some([3.0, 0.0]));
    assert_eq!(stage.told(), ["start 0 east"]);
    assert_eq!(stage.step([2.0, 0.0], &[]), Some([3.0, 0.0]));
    assert!(stage.told().is_empty());
    assert_eq!(stage.step([2.8, 0.0], &[]), Some([3.0, 5.0]), "within 0.25 m, the next in the same step");
    assert_eq!(stage.told(), ["met 0", "start 1"]);
    assert_eq!(stage.task.phase(), Some(1));
    assert_eq!(stage.step([3.0, 5.0], &[]), None);
    assert_eq!(stage.told(), ["met 1", "done true"]);
    assert_eq!(stage.step([3.0, 5.0], &[]), None);
    assert!(stage.told().is_empty() && stage.task.phase().is_none());
}

#[test]
fn a_zone_is_met_by_being_inside() {
    let mut stage = Stage::new("[{goto: corner}]");
    assert_eq!(stage.step([0.0, 0.0], &[]), Some([8.0, 8.0]));
    assert_eq!(stage.step([5.9, 8.0], &[]), Some([8.0, 8.0]));
    assert_eq!(stage.step([6.1, 8.0], &[]), None);
    assert_eq!(stage.told(), ["met 0", "done true"]);
}

#[test]
fn a_door_is_met_in_front_of_it() {
    let mut stage = Stage::new("[{goto: d}]");
    assert_eq!(stage.step([0.0, -5.0], &[]), Some([0.0, 0.0]));
    assert_eq!(stage.step([0.0, -1.4], &[]), None);
    assert_eq!(stage.told(), ["met 0", "done true"]);
}

#[test]
fn a_person_is_followed_until_within_reach() {
    let mut stage = Stage::new("[{goto: ann}]");
    assert_eq!(stage.step([0.0, 0.0], &[person("ann", 5.0, 0.0)]), Some([5.0, 0.0]));
    assert_eq!(stage.step([1.0, 0.0], &[person("ann", 5.0, 4.0)]), Some([5.0, 4.0]));
    assert_eq!(stage.step([4.0, 3.0], &[person("ann", 5.0, 4.0)]), None);
    assert_eq!(stage.told(), ["met 0", "done true"]);
}

#[test]
fn a_person_who_is_not_there_is_awaited_for_a_while() {
    let mut stage = Stage::new("[{goto: ann}]");
    for _ in 0..11 {
        assert_eq!(stage.step([0.0, 0.0], &[]), None);
        assert!(stage.task.phase().is_some());
    }
    assert_eq!(stage.step([0.0, 0.0], &[]), None);
    assert_eq!(stage.told(), ["failed 0: \"ann\" is not there", "done false"]);
}

#[test]
fn hold_time_follows_when_the_phase_is_met() {
    let mut stage = Stage::new("[{goto: [3, 0], hold_time: 1}, {hold_time: 0.5}, {goto: [0, 0]}]");
    stage.step([3.0, 0.0], &[]);
    assert_eq!(stage.told(), ["start 0", "met 0"]);
    assert_eq!(stage.step([3.0, 0.0], &[]), None);
    assert!(stage.told().is_empty());
    stage.step([3.0, 0.0], &[]);
    assert_eq!(stage.told(), ["start 1", "met 1"]);
    assert_eq!(stage.step([3.0, 0.0], &[]), Some([0.0, 0.0]));
}

#[test]
fn until_ends_a_phase_and_arriving_does_not() {
    let mut stage = Stage::new("[{goto: d, until: 'd.open == true'}, {goto: [0, 5]}]");
    assert_eq!(stage.step([0.0, -4.0], &[]), Some([0.0, 0.0]));
    assert_eq!(stage.step([0.0, -1.0], &[]), None, "there, and the door is not open yet");
    assert_eq!(stage.step([0.0, -1.0], &[]), None);
    assert_eq!(stage.step([0.0, -1.0], &[]), Some([0.0, 5.0]));
    assert_eq!(stage.told(), ["met 0", "start 1"]);
}

#[test]
fn a_hold_waits_for_its_condition() {
    let mut stage = Stage::new("[{until: 'bell.active == true'}, {goto: [1, 1]}]");
    for _ in 0..5 {
        assert_eq!(stage.step([0.0, 0.0], &[]), None);
    }
    stage.live.set("bell", "active", "true").expect("can be set");
    assert_eq!(stage.step([0.0, 0.0], &[]), Some([1.0, 1.0]));
}

#[test]
fn a_failure_does_what_the_phase_says() {
    for (on_failure, expected) in [
        ("", &["failed 0: collision", "done false"][..]),
        (", on_failure: stop_task", &["failed 0: collision", "done false"]),
        (", on_failure: continue", &["failed 0: collision", "start 1"]),
        (", on_failure: abort_episode", &["failed 0: collision", "abort 0"]),
    ] {
        let mut stage = Stage::new(&format!("[{{goto: [5, 5]{on_failure}}}, {{goto: [1, 1]}}]"));
        stage.step([0.0, 0.0], &[]);
        stage.task.fail("collision");
        let goal = stage.step([0.0, 0.0], &[]);
        assert_eq!(stage.told(), expected, "{on_failure}");
        assert_eq!(goal, on_failure.contains("continue").then_some([1.0, 1.0]));
    }
}

#[test]
fn gestures_and_reaching_are_left_out() {
    let mut stage =
        Stage::new("[{gesture: {name: wave}}, {reach: {object: cup}, hold_time: 5}, {goto: [1, 1]}]");
    assert_eq!(stage.step([0.0, 0.0], &[]), Some([1.0, 1.0]));
    assert_eq!(stage.told(), ["start 2"]);
}

#[test]
fn a_condition_that_nobody_can_answer_fails_when_it_is_its_turn_and_is_reported_before() {
    let mut stage = Stage::new("[{goto: [0, 0]}, {until: 'bel.active == true', on_failure: abort_episode}]");
    let [problem] = stage.live.problems() else { panic!("{:?}", stage.live.problems()) };
    assert!(problem.message.contains("did you mean \"bell\"?"), "{problem}");
    stage.step([0.0, 0.0], &[]);
    let told = stage.told();
    assert_eq!(told[..3], ["start 0", "met 0", "start 1"]);
    assert!(told[3].starts_with("failed 1: no door") && told[4] == "abort 1", "{told:?}");
}

#[test]
fn a_robot_without_phases_has_nothing_to_do() {
    let mut stage = Stage::new("[]");
    assert_eq!(stage.step([0.0, 0.0], &[]), None);
    assert_eq!(stage.told(), ["done true"]);
}

#[test]
fn the_old_goal_is_one_phase() {
    let text = "robots: [{start: [0, 0], goal: [4, 2, 0.5]}]";
    let mut live = live_with(&hall(WORLD), text);
    let mut task = RobotTask::new(&scenario(text).robots[0], &live);
    live.step(at(0.0), []);
    assert_eq!(task.step(at(0.0), [0.0; 3], &live), Some([4.0, 2.0, 0.5]));
}
