//! Episodes and environments (human-layer specification, sections 2.3, 5.5 and 20).

use std::path::{Path, PathBuf};
use std::rc::Rc;

use promenade_human::backends::dummy::Dummy;
use promenade_human::episode::EpisodeRequest;
use promenade_human::message::Pose;
use promenade_human::{
    Environment, EpisodePlan, HumanLayer, HumanSimulator, Outcome, Parameter, ParameterValue, QueueRequest,
    RecordTopic, Ticked as _,
};
use promenade_kernel::Time;

use crate::stage::{Log, Ports, batch, walking};

/// The worlds of these tests, in a folder of their own.
struct Worlds(tempfile::TempDir);

const HALL: &str = "zones: [{name: hall, corners: [{x: 0, y: 0}, {x: 20, y: 0}, {x: 20, y: 20}, {x: 0, y: 20}], walls: [{start: {x: 0, y: 0}, end: {x: 20, y: 0}}]}]";

impl Worlds {
    fn new() -> Self {
        let worlds = Worlds(tempfile::tempdir().expect("a folder"));
        worlds.write("hall/0/world.yaml", HALL);
        worlds.write("other/0/world.yaml", &HALL.replace("20", "30"));
        worlds.scenario("hall", "two", "dynamic: [{name: ann, model: adult, pose: [1, 2]}, {name: bob, model: adult, pose: hall}]\nrobots: [{name: r2, start: [5, 5, 0], phases: [{goto: [9, 5, 0]}]}]\nconditions: [{is: 1}]");
        worlds.scenario("hall", "one", "dynamic: [{name: ann, model: adult, pose: [3, 3]}]");
        worlds.scenario("other", "lonely", "static: [{name: bench, model: bench, pose: [4, 4]}]");
        worlds
    }

    fn write(&self, file: &str, text: &str) {
        let path = self.0.path().join("worlds").join(file);
        std::fs::create_dir_all(path.parent().expect("below the folder")).expect("a folder");
        std::fs::write(path, text).expect("a file");
    }

    fn scenario(&self, world: &str, name: &str, text: &str) {
        self.write(&format!("{world}/scenarios/{name}/scenario.yaml"), text);
    }

    fn roots(&self) -> Vec<PathBuf> {
        vec![Path::new(self.0.path()).join("worlds")]
    }

    fn request(&self, scenario: &str) -> EpisodeRequest {
        EpisodeRequest {
            scenario: scenario.to_owned(),
            roots: self.roots(),
            seed: 4,
            prefix: "env_0".to_owned(),
            tf_namespace: "env_0".to_owned(),
            ..EpisodeRequest::default()
        }
    }
}

struct Play {
    environment: Environment,
    log: Rc<std::cell::RefCell<Log>>,
}

impl Play {
    fn with(backend: Box<dyn HumanSimulator>, request: EpisodeRequest) -> Self {
        let ports = Ports::default();
        let log = ports.0.clone();
        let layer = HumanLayer::new(backend, Box::new(ports.clone()), Box::new(ports));
        let environment = Environment::new(layer, request, EpisodePlan::default()).expect("loads");
        let mut play = Play { environment, log };
        play.at(10.0);
        play.environment.start();
        play
    }

    fn of(request: EpisodeRequest) -> Self {
        Play::with(Box::new(Dummy::default()), request)
    }

    fn at(&mut self, seconds: f64) {
        self.environment.set_now(Time::from_secs_f64(seconds));
    }

    /// Names and places of the people on the bus after a tick.
    fn roster(&mut self) -> Vec<(String, [f64; 3])> {
        self.environment.tick();
        let log = self.log.borrow();
        let (_, people) = log.frames.last().expect("published");
        people.iter().map(|(ped, _)| (ped.name.clone(), ped.pose.position)).collect()
    }

    fn records(&self) -> Vec<(RecordTopic, u32, Outcome)> {
        let records = std::mem::take(&mut self.log.borrow_mut().records);
        records.into_iter().map(|(topic, record)| (topic, record.episode_id, record.outcome)).collect()
    }

    fn sim_calls(&self) -> Vec<String> {
        std::mem::take(&mut self.log.borrow_mut().sim)
    }
}

fn names(roster: &[(String, [f64; 3])]) -> Vec<&str> {
    roster.iter().map(|(name, _)| name.as_str()).collect()
}

fn text(name: &str, value: &str) -> Parameter {
    Parameter { name: name.to_owned(), value: ParameterValue::Text(value.to_owned()) }
}

fn queue_scenario(file: &str) -> QueueRequest {
    let plan = EpisodePlan { obstacles_params: vec![text("scenario.file", file)], ..EpisodePlan::default() };
    QueueRequest { plan, ..QueueRequest::default() }
}

#[test]
fn a_reset_brings_everybody_back_to_where_the_seed_puts_them() {
    let worlds = Worlds::new();
    let mut play = Play::of(worlds.request("hall/two"));
    let first = play.roster();
    assert_eq!(names(&first), ["env_0/ann", "env_0/bob"]);
    play.environment.layer_mut().on_stream(&batch(10.0, vec![walking("ann", 9.0)]));
    assert_ne!(play.roster(), first);
    play.at(11.0);
    play.environment.reset("", 4).expect("resets");
    assert_eq!(play.roster(), first, "the same seed is the same episode");
    play.environment.reset("", 5).expect("resets");
    let other = play.roster();
    assert_eq!(other[0], first[0], "an authored pose is not sampled");
    assert_ne!(other[1], first[1], "a zone is");
}

#[test]
fn derived_seeds_differ_and_repeat_with_the_run() {
    let worlds = Worlds::new();
    let run = |resets: usize| -> Vec<i64> {
        let mut play = Play::of(worlds.request("hall/two"));
        (0..resets)
            .map(|_| {
                play.environment.reset("", -1).expect("resets");
                play.environment.record().seed
            })
            .collect()
    };
    let seeds = run(4);
    assert_eq!(seeds, run(4));
    assert!(seeds.iter().all(|&seed| seed >= 0));
    assert_eq!(seeds.iter().collect::<std::collections::BTreeSet<_>>().len(), 4);
}

#[test]
fn records_say_what_runs_what_is_queued_and_how_it_ended() {
    let worlds = Worlds::new();
    let mut play = Play::of(worlds.request("hall/two"));
    use Outcome::{Queued, Running, Skipped};
    use RecordTopic::{Episode, Queue};
    assert_eq!(play.records(), [(Episode, 0, Running), (Queue, 1, Queued)]);
    let record = play.environment.record();
    assert_eq!((record.seed, record.plan.world.as_str(), record.integrity), (4, "hall", true));
    assert_eq!(record.robots, ["r2"]);
    assert_eq!(record.conditions, r#"[{"is":1}]"#);
    assert_eq!(record.phases, r#"[[{"goto":[9,5,0]}]]"#);
    play.environment.reset("", -1).expect("resets");
    assert_eq!(play.records(), [(Episode, 0, Skipped), (Episode, 1, Running), (Queue, 2, Queued)]);
    assert_eq!(play.environment.record().start_time, Time::from_secs_f64(10.0));
}

#[test]
fn queueing_merges_and_takes_effect_at_the_reset() {
    let worlds = Worlds::new();
    let mut play = Play::of(worlds.request("hall/two"));
    let queue = |play: &mut Play, request: &QueueRequest| play.environment.queue(request);
    let modes = EpisodePlan {
        tm_robots: "explore".to_owned(),
        tm_modules: vec!["rviz_ui".to_owned()],
        human_params: vec![text("humansim.a", "1"), text("humansim.b", "1")],
        ..EpisodePlan::default()
    };
    queue(&mut play, &QueueRequest { plan: modes, ..QueueRequest::default() }).expect("merges");
    let change = EpisodePlan { human_params: vec![text("humansim.b", "2")], ..EpisodePlan::default() };
    queue(&mut play, &QueueRequest { plan: change, keep_modules: true, ..QueueRequest::default() })
        .expect("merges");
    queue(&mut play, &QueueRequest { keep_modules: true, ..queue_scenario("hall/one") }).expect("merges");
    let queued = play.environment.queued();
    assert_eq!((queued.tm_robots.as_str(), &*queued.tm_modules), ("explore", &["rviz_ui".to_owned()][..]));
    assert_eq!(queued.human_params, [text("humansim.a", "1"), text("humansim.b", "2")]);
    assert_eq!(names(&play.roster()), ["env_0/ann", "env_0/bob"], "nothing changed yet");
    play.environment.reset("", -1).expect("resets");
    assert_eq!(play.roster(), [("env_0/ann".to_owned(), [3.0, 3.0, 0.0])]);
    assert!(play.environment.record().robots.is_empty());
    assert!(!play.environment.layer().tracks_robot("r2"), "the robot of the last episode is gone");
    assert_eq!(play.environment.record().plan.human_params, [], "the dummy accepts none");
    queue(&mut play, &QueueRequest::default()).expect("merges");
    assert!(play.environment.queued().tm_modules.is_empty(), "modules are replaced unless they are kept");
}

#[test]
fn a_request_with_a_mistake_changes_nothing_and_says_why() {
    let worlds = Worlds::new();
    worlds.scenario("hall", "broken", "dynamic: [{name: ann, pose: nowhere}]");
    let mut play = Play::of(worlds.request("hall/two"));
    let before = (play.environment.queued().clone(), play.environment.record().clone(), play.roster());
    let human = |name: &str| QueueRequest {
        plan: EpisodePlan { human_params: vec![text(name, "1")], ..EpisodePlan::default() },
        ..QueueRequest::default()
    };
    let number = Parameter { name: "scenario.file".to_owned(), value: ParameterValue::Int(3) };
    let mut number_for_file = queue_scenario("");
    number_for_file.plan.obstacles_params = vec![number];
    let mut many = QueueRequest::default();
    many.plan.robots_params = (0..10_001).map(|i| text(&format!("p{i}"), "1")).collect();
    let world = |name: &str| QueueRequest {
        plan: EpisodePlan { world: name.to_owned(), ..EpisodePlan::default() },
        ..QueueRequest::default()
    };
    for (request, said) in [
        (QueueRequest { action: 7, ..QueueRequest::default() }, "unknown action 7"),
        (human("human.count"), "reserved"),
        (human("nobody.x"), "no backend has this prefix"),
        (number_for_file, "must be a text"),
        (many, "more than 10000 parameters"),
        (queue_scenario("hall/thre"), "no scenario `hall/thre`"),
        (queue_scenario("hall/broken"), "scenario.yaml:1:"),
        (world("hal"), "runs in its own world"),
        (world("other"), "runs in its own world, not in \"other\""),
    ] {
        let error = play.environment.queue(&request).expect_err(said).to_string();
        assert!(error.contains(said), "{error}");
    }
    let error = play.environment.reset("other", -1).expect_err("another world").to_string();
    assert!(error.contains("queue another scenario.file"), "{error}");
    let after = (play.environment.queued().clone(), play.environment.record().clone(), play.roster());
    assert_eq!(before, after);
}

#[test]
fn a_file_that_broke_since_leaves_the_running_episode_alone() {
    let worlds = Worlds::new();
    let mut play = Play::of(worlds.request("hall/two"));
    let before = play.roster();
    worlds.scenario("hall", "two", "dynamic: {");
    let error = play.environment.reset("", -1).expect_err("broken").to_string();
    assert!(error.contains("scenario.yaml:1:") && error.ends_with("the running episode goes on"), "{error}");
    assert_eq!(play.roster(), before);
    assert_eq!(play.environment.record().outcome, Outcome::Running);
}

#[test]
fn after_a_reset_that_leaves_somebody_out_the_others_can_be_possessed() {
    let worlds = Worlds::new();
    let mut play = Play::of(worlds.request("hall/two"));
    play.environment.queue(&queue_scenario("hall/one")).expect("queues");
    play.environment.reset("", -1).expect("resets");
    play.environment.layer_mut().on_stream(&batch(10.0, vec![walking("ann", 9.0)]));
    assert_eq!(play.roster(), [("env_0/ann".to_owned(), [9.0, 0.0, 0.0])]);
    assert_eq!(play.environment.layer().cx().stream_stats().gate_closed, 0);
}

#[test]
fn what_was_edited_between_two_resets_is_there_after_the_next() {
    let worlds = Worlds::new();
    let mut play = Play::of(worlds.request("hall/one"));
    worlds.scenario("hall", "one", "dynamic: [{name: cem, model: adult, pose: [7, 7]}]");
    play.environment.reset("", -1).expect("resets");
    assert_eq!(play.roster(), [("env_0/cem".to_owned(), [7.0, 7.0, 0.0])]);
}

#[test]
fn a_reset_reuses_what_stays_and_removes_what_does_not() {
    let worlds = Worlds::new();
    let mut play = Play::with(Box::new(Inert), worlds.request("hall/two"));
    play.sim_calls();
    play.environment.queue(&queue_scenario("hall/one")).expect("queues");
    play.environment.reset("", -1).expect("resets");
    assert_eq!(
        play.sim_calls(),
        ["before_reset", "robot_delete r2", "pedestrian_move ann", "pedestrian_delete bob", "after_reset"],
        "ann is moved and not made anew; the world is not touched"
    );
    play.environment.queue(&queue_scenario("other/lonely")).expect("queues");
    play.environment.reset("other", -1).expect("resets");
    assert_eq!(
        play.sim_calls(),
        [
            "before_reset",
            "remove_mechanisms",
            "remove_world",
            "pedestrian_delete ann",
            "spawn_walls 1 clear=false",
            "obstacle_spawn bench",
            "after_reset"
        ]
    );
    assert_eq!(play.environment.layer().cx().walls().len(), 1, "the walls of the old world are gone");
}

/// Accepts everything and moves nobody.
struct Inert;

impl HumanSimulator for Inert {
    fn rate_hz(&self) -> f64 {
        1.0
    }
    fn tick(&mut self, _: &mut promenade_human::LayerCx) {}
}

#[test]
fn an_offset_moves_everything_that_the_files_place() {
    let worlds = Worlds::new();
    let home = Play::of(worlds.request("hall/two"));
    let away = Play::of(EpisodeRequest { offset: [10.0, -5.0], ..worlds.request("hall/two") });
    let (home, away) = (home.environment.episode(), away.environment.episode());
    for (here, there) in home.people.iter().zip(&away.people) {
        let [x, y, z] = here.pose.position;
        assert_eq!(there.pose.position, [x + 10.0, y - 5.0, z]);
        assert_eq!(here.velocity, there.velocity);
    }
    assert_eq!(away.robots[0].pose.position, [15.0, 0.0, 0.0]);
    assert_eq!((away.walls[0].start, away.walls[0].end), ([10.0, -5.0], [30.0, -5.0]));
}

#[test]
fn there_is_nothing_to_reset_before_the_first_clock_reading() {
    let worlds = Worlds::new();
    let ports = Ports::default();
    let layer = HumanLayer::new(Box::new(Inert), Box::new(ports.clone()), Box::new(ports));
    let mut environment =
        Environment::new(layer, worlds.request("hall/two"), EpisodePlan::default()).expect("loads");
    let error = environment.reset("", -1).expect_err("not started");
    assert_eq!(error.to_string(), "there is no clock yet, so there is no episode to reset");
}

const DOORS: &str = "zones: [{name: hall, corners: [{x: 0, y: 0}, {x: 20, y: 0}, {x: 20, y: 20}, {x: 0, y: 20}], doors: [{name: gate, start: {x: 5, y: 9}, end: {x: 5, y: 11}, activation_distance: 2.0, transition_time: 1.0, hold_time: 2.0}]}]";

/// The walls of the engine now.
fn walls(play: &Play) -> usize {
    let log = play.log.borrow();
    let last = log.markers[&promenade_human::outbox::MarkerTopic::StaticWalls].last().expect("published");
    last.len() - 1
}

#[test]
fn doors_are_walls_until_somebody_comes_and_again_when_nobody_is_there() {
    let worlds = Worlds::new();
    worlds.write("doors/0/world.yaml", DOORS);
    worlds.scenario("doors", "one", "dynamic: [{name: ann, model: adult, pose: [1, 10]}]");
    let mut play = Play::of(worlds.request("doors/one"));
    let mut seen = Vec::new();
    for tick in 0..=100 {
        let now = 10.0 + f64::from(tick) * 0.1;
        play.at(now);
        // Ann walks at 1 m/s along y = 10 through the door at x = 5.
        let mut ann = walking("ann", 1.0 + f64::from(tick) * 0.1);
        ann.pose.position[1] = 10.0;
        play.environment.layer_mut().on_stream(&batch(now, vec![ann]));
        play.roster();
        seen.push(walls(&play));
    }
    let opened = seen.iter().position(|&walls| walls == 0).expect("opens");
    let closed = opened + seen[opened..].iter().position(|&walls| walls == 1).expect("closes");
    // In reach of the door at x = 3, 2 s on; open 1 s later; out of reach at x = 7, 6 s on; closing 2 s after that.
    assert!((28..=34).contains(&opened) && (78..=84).contains(&closed), "{opened} {closed}");
    play.environment.reset("", -1).expect("resets");
    play.roster();
    assert_eq!(walls(&play), 1, "an episode begins with its doors closed");
}

#[test]
fn a_timeline_tells_the_backend_of_stimuli() {
    let worlds = Worlds::new();
    worlds.scenario(
        "hall",
        "alarm",
        "dynamic: [{name: ann, model: adult, pose: [1, 10]}]\ntimeline: [{at: 1.0, set: [{entity: ann, field: stimulus, value: 'alarm 0.5'}]}]",
    );
    let told = crate::robots::Told::default();
    let mut play = Play::with(Box::new(told.clone()), worlds.request("hall/alarm"));
    told.take();
    for tick in 0..30 {
        play.at(10.0 + f64::from(tick) * 0.1);
        play.environment.tick();
    }
    assert_eq!(told.take(), ["7 alarm 0.5"]);
}

/// After each trouble of the clock or of the stream: a reset, and the first tick shows the episode as it was authored.
#[test]
fn the_first_tick_after_a_reset_is_right_whatever_went_on() {
    let worlds = Worlds::new();
    let hour = 3_600.0;
    for (what, at_reset, first_tick) in [
        ("paused", 12.0, 12.0),
        ("running", 12.0, 12.04),
        ("an hour ahead", 12.0 + hour, 12.0 + hour + 0.04),
        ("an hour ahead after the reset", 12.0, 12.0 + hour),
        ("back before the start", 2.0, 2.04),
        ("back after the reset", 12.0, 3.0),
    ] {
        let Play { environment, log } = Play::of(worlds.request("hall/one"));
        let time = Time::from_secs_f64;
        let mut clocked = promenade_human::Clocked::new(environment, 0, time(10.0)).expect("a rate");
        let stream = |clocked: &promenade_human::Clocked<Environment>, stamp: f64, x: f64| {
            clocked.get().layer_mut().on_stream(&batch(stamp, vec![walking("ann", x)]));
        };
        clocked.advance_to(time(12.0)).expect("runs");
        stream(&clocked, 12.0, 9.0);
        clocked.advance_to(time(at_reset)).expect("runs");
        clocked.get().reset("", -1).expect("resets");
        // A batch that was under way before the reset is of another episode.
        stream(&clocked, at_reset - 0.05, 8.0);
        log.borrow_mut().frames.clear();
        clocked.advance_to(time(first_tick)).expect("runs");
        if first_tick == at_reset {
            assert!(log.borrow().frames.is_empty(), "{what}: a paused clock publishes nothing");
            clocked.advance_to(time(first_tick + 0.04)).expect("runs");
        }
        let frame = |log: &Rc<std::cell::RefCell<Log>>, at: usize| {
            let log = log.borrow();
            let (stamp, people) = &log.frames[at];
            let (ann, _) = &people[0];
            (*stamp, people.len(), ann.name.clone(), ann.pose.position)
        };
        let (stamp, count, name, position) = frame(&log, 0);
        assert_eq!((count, name.as_str(), position), (1, "env_0/ann", [3.0, 3.0, 0.0]), "{what}");
        assert!((stamp.as_secs_f64() - first_tick).abs() < 0.05, "{what}: stamped {stamp}");
        // And the stream of the new episode is heard.
        let now = first_tick + 0.04;
        clocked.advance_to(time(now)).expect("runs");
        stream(&clocked, now, 7.0);
        let last = log.borrow().frames.len() - 1;
        assert_eq!(frame(&log, last).3, [7.0, 0.0, 0.0], "{what}");
    }
}

/// A robot that is wherever its goal is, one tick later.
#[derive(Clone, Default)]
struct AtGoal(Rc<std::cell::RefCell<Option<(Time, Pose)>>>);

impl promenade_human::Transforms for AtGoal {
    fn latest(&mut self, frame: &str) -> Option<(Time, Pose)> {
        assert_eq!(frame, "env_0/r2/base_link");
        *self.0.borrow()
    }
}

fn with_robot(scenario: &str, lingers: bool) -> (Play, AtGoal, Worlds) {
    let worlds = Worlds::new();
    worlds.scenario("hall", "task", scenario);
    let robot = AtGoal::default();
    let ports = Ports::default();
    let log = ports.0.clone();
    let layer = HumanLayer::new(Box::new(Inert), Box::new(ports.clone()), Box::new(ports))
        .with_transforms(Box::new(robot.clone()));
    let environment = Environment::new(layer, worlds.request("hall/task"), EpisodePlan::default())
        .expect("loads")
        .with_lingering(lingers);
    let mut play = Play { environment, log };
    play.at(10.0);
    play.environment.start();
    (play, robot, worlds)
}

const TASK: &str = "robots: [{name: r2, start: [5, 5, 0], phases: [{goto: [9, 5, 0]}, {goto: [9, 9, 0], on_failure: abort_episode}]}]";

#[test]
fn an_episode_ends_well_when_every_robot_has_done_its_phases() {
    let (mut play, robot, _worlds) = with_robot(TASK, true);
    let mut goals = Vec::new();
    for tick in 1..10_u32 {
        let now = 10.0 + f64::from(tick) * 0.1;
        play.at(now);
        play.environment.tick();
        if let Some([x, y, yaw]) = play.environment.goal(0) {
            if goals.last() != Some(&[x, y]) {
                goals.push([x, y]);
            }
            *robot.0.borrow_mut() = Some((Time::from_secs_f64(now), Pose::planar(x, y, yaw)));
        }
    }
    assert_eq!(goals, [[9.0, 5.0], [9.0, 9.0]]);
    assert_eq!(play.environment.completed(0), Some(true));
    let record = play.environment.record();
    assert_eq!(
        (record.outcome, record.episode_id),
        (Outcome::Success, 0),
        "it lingers until somebody resets"
    );
    play.environment.reset("", -1).expect("resets");
    let outcomes: Vec<_> = play.records().into_iter().map(|(_, id, outcome)| (id, outcome)).collect();
    use Outcome::{Queued, Running, Success};
    assert_eq!(
        outcomes,
        [(0, Running), (1, Queued), (0, Success), (1, Running), (2, Queued)],
        "an episode that ended well is not skipped"
    );
}

#[test]
fn a_phase_that_aborts_fails_the_episode_and_the_next_follows_by_itself() {
    let (mut play, robot, _worlds) = with_robot(TASK, false);
    *robot.0.borrow_mut() = Some((Time::from_secs_f64(10.0), Pose::planar(9.0, 5.0, 0.0)));
    for tick in 1..5_u32 {
        play.at(10.0 + f64::from(tick) * 0.1);
        play.environment.tick();
    }
    play.environment.fail(0, "ran into a wall");
    play.at(11.0);
    play.environment.tick();
    assert_eq!(play.environment.record().outcome, Outcome::Failed);
    assert_eq!(play.environment.record().outcome_info, "robot \"r2\" failed phase 1");
    play.at(11.1);
    play.environment.tick();
    let record = play.environment.record();
    assert_eq!((record.episode_id, record.outcome), (1, Outcome::Running));
}
