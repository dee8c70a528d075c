//! The scenarios that ship with the engine, run.

use std::path::{Path, PathBuf};

use promenade_crowd::Engine;
use promenade_crowd::protocol::ParameterValue;
use promenade_crowd::scenario::{ScenarioRun, parameters};
use promenade_scenario::StandaloneScenario;

fn shipped() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../configs/crowd");
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(folder).expect("shipped").map(|entry| entry.expect("a file").path()).collect();
    files.sort();
    files
}

fn read(text: &str, file: &Path) -> StandaloneScenario {
    StandaloneScenario::parse(text, file).unwrap_or_else(|report| panic!("{report}")).value
}

fn start(scenario: &StandaloneScenario) -> ScenarioRun {
    let mut wanted = parameters(scenario);
    wanted.push(("global_planner".to_owned(), ParameterValue::Text("dijkstra".to_owned())));
    let engine = Engine::new(&wanted).unwrap_or_else(|error| panic!("{error}"));
    ScenarioRun::new(engine, scenario, |_| None).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn every_shipped_scenario_loads_clean_and_moves_people() {
    let files = shipped();
    assert!(files.len() >= 8, "{files:?}");
    for file in files {
        let text = std::fs::read_to_string(&file).expect("read");
        let loaded = StandaloneScenario::parse(&text, &file).unwrap_or_else(|report| panic!("{report}"));
        assert!(loaded.report.is_empty(), "{}", loaded.report);
        let mut run = start(&loaded.value);
        for _ in 0..200 {
            run.engine_mut().tick();
        }
        assert!(!run.engine().frame().agent_id.is_empty(), "{}", file.display());
        assert!(run.engine().frame().vx.iter().any(|v| v.abs() > 0.3), "{}", file.display());
        let warnings: Vec<String> = run.engine_mut().warnings().collect();
        assert_eq!(warnings, Vec::<String>::new(), "{}", file.display());
    }
}

#[test]
fn staggered_spawns_by_tick() {
    let text = "agents:\n- {agent_id: 5, spawn_pose: {x: 0, y: 0}}\n- {agent_id: 6, spawn_pose: {x: 5, y: 0}, spawn_tick: 3}\n- {spawn_pose: {x: 9, y: 0}, spawn_tick: 4}\n";
    let mut run = start(&read(text, Path::new("s.yaml")));
    let mut present = Vec::new();
    for _ in 0..6 {
        run.engine_mut().tick();
        present.push(run.engine().frame().agent_id.len());
    }
    assert_eq!(present, [1, 1, 1, 2, 3, 3]);
    assert_eq!(run.engine().frame().agent_id, [5, 6, 7]);
}

#[test]
fn an_id_of_somebody_to_come_is_kept_from_sources() {
    let text = "agents: [{agent_id: 2, spawn_pose: {x: 0, y: 9}, spawn_tick: 40}]\nflow:\n  sources: [{pose: {x: 0, y: 0}, shape: {type: circle, radius: 3}, type: max, max_concurrent: 4, agent_template: {sink_affinity: [{sink_idx: 0}]}}]\n  sinks: [{pose: {x: 30, y: 0}}]\n";
    let mut run = start(&read(text, Path::new("s.yaml")));
    for _ in 0..50 {
        run.engine_mut().tick();
    }
    let mut ids = run.engine().frame().agent_id.clone();
    ids.sort_unstable();
    assert_eq!(ids, [2, 3, 4, 5, 6]);
}

#[test]
fn a_cycling_way_of_one_point_goes_back_to_the_start() {
    let text = "agents: [{agent_id: 1, spawn_pose: {x: 0, y: 0}, goal_sequence: [{x: 2, y: 0}], waypoint_mode: repeat}]\n";
    let mut run = start(&read(text, Path::new("s.yaml")));
    let (waypoints, _) = run.engine().waypoints_of(1).expect("there");
    assert_eq!(waypoints.points.len(), 2);
    let (mut farthest, mut back) = (0.0_f64, f64::INFINITY);
    for _ in 0..160 {
        run.engine_mut().tick();
        let x = run.engine().frame().x[0];
        farthest = farthest.max(x);
        if farthest > 1.8 {
            back = back.min(x);
        }
    }
    assert!(farthest > 1.8 && back < 0.5, "{farthest} and {back}");
}

#[test]
fn a_scenario_ends_with_its_ticks_or_when_its_robots_have_arrived() {
    let timed = start(&read("simulation: {max_ticks: 2}\n", Path::new("s.yaml")));
    assert!(!timed.is_over());
    let ticks = |mut run: ScenarioRun| {
        let mut ticks = 0;
        while !run.is_over() && ticks < 400 {
            run.engine_mut().tick();
            ticks += 1;
        }
        ticks
    };
    assert_eq!(ticks(timed), 2);
    let text = "simulation: {robot_shutdown: true}\nagents:\n- {agent_id: 1, kind: 1, agent_type: robot, policy: straight, spawn_pose: {x: 0, y: 0}, goal_sequence: [{x: 3, y: 0}]}\n- {agent_id: 2, spawn_pose: {x: 0, y: 5}, goal_sequence: [{x: 90, y: 5}]}\n";
    let with_robot = ticks(start(&read(text, Path::new("s.yaml"))));
    assert!((40..120).contains(&with_robot), "{with_robot}");
}

#[test]
fn types_of_the_file_are_those_of_its_agents() {
    let text = "agent_types: {crawler: {extends: adult, vars: {pace: {type: float, default: 0.5}}, max_velocity: \"${pace}\"}}\nagents: [{agent_id: 1, agent_type: crawler, spawn_pose: {x: 0, y: 0}, goal_sequence: [{x: 9, y: 0}]}]\n";
    let mut run = start(&read(text, Path::new("s.yaml")));
    for _ in 0..60 {
        run.engine_mut().tick();
    }
    let speed = run.engine().frame().vx[0];
    assert!((0.4..=0.5).contains(&speed), "{speed}");
}

#[test]
fn the_same_scenario_runs_the_same_with_any_number_of_threads() {
    let file = shipped().into_iter().find(|file| file.ends_with("hall.yaml")).expect("shipped");
    let scenario = read(&std::fs::read_to_string(&file).expect("read"), &file);
    let frames = |threads: i64| {
        let mut wanted = parameters(&scenario);
        wanted.push(("threads".to_owned(), ParameterValue::Integer(threads)));
        let engine = Engine::new(&wanted).expect("starts");
        let mut run = ScenarioRun::new(engine, &scenario, |_| None).expect("starts");
        for _ in 0..300 {
            run.engine_mut().tick();
        }
        run.engine().frame().clone()
    };
    assert_eq!(frames(1), frames(2));
}
