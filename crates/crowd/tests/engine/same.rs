//! The same requests give the same run, whatever the number of threads, and a steady state allocates nothing.

use promenade_crowd::protocol::{
    AgentState, AgentStates, AgentTemplate, ParameterValue, RateKeyframe, Shape, SinkConfig, SourceConfig,
    kind, mode, shape, source,
};
use promenade_crowd::{Engine, Wall};

use crate::{Shared, engine, person, run, walker, way};

fn wall(name: &str, start: [f64; 2], end: [f64; 2]) -> Wall {
    Wall { name: name.to_owned(), start, end }
}

/// A hall with a door that opens and closes, sources, sinks, a robot that is fed and a person who is possessed.
fn busy_hall(threads: i64, planner: &str) -> Engine {
    let mut engine = engine(&[
        ("seed", ParameterValue::Integer(11)),
        ("threads", ParameterValue::Integer(threads)),
        ("local_planner", ParameterValue::Text(planner.to_owned())),
    ]);
    engine
        .add_walls(&[
            wall("south", [-12.0, -5.0], [12.0, -5.0]),
            wall("north", [-12.0, 5.0], [12.0, 5.0]),
            wall("left", [0.0, -5.0], [0.0, -0.8]),
            wall("right", [0.0, 0.8], [0.0, 5.0]),
        ])
        .expect("walls");
    for (number, x) in [-10.0, 10.0].into_iter().enumerate() {
        let sink = SinkConfig {
            name: format!("sink_{number}"),
            pose: [-x, 0.0, 0.0],
            absorption_radius: 1.0,
            ..SinkConfig::default()
        };
        engine.add_sink(&sink).expect("a sink");
        let source = SourceConfig {
            name: format!("source_{number}"),
            pose: [x, 0.0, 0.0],
            shape: Shape { kind: shape::RECTANGLE, width: 2.0, height: 6.0, ..Shape::default() },
            kind: source::POISSON,
            rate_profile: vec![RateKeyframe { t: 0.0, rate: 3.0 }],
            max_concurrent: 60,
            max_total: -1,
            agent: AgentTemplate {
                desired_velocity_min: 0.8,
                desired_velocity_max: 1.6,
                agent_radius: 0.25,
                ..AgentTemplate::default()
            },
        };
        engine.add_source(&source).expect("a source");
    }
    let robot = AgentState { kind: kind::ROBOT, agent_type: "robot".to_owned(), ..person(500, 3.0, 3.0) };
    let tour = AgentState {
        waypoints: way(&[[-5.0, 3.0], [5.0, 3.0], [5.0, -3.0]], mode::RANDOM),
        ..person(501, -4.0, 2.0)
    };
    engine.spawn_agents(&[robot, tour, walker(502, [-8.0, -3.0], [8.0, -3.0])]).expect("free");
    engine
}

/// What happens in a tick of the busy hall before it.
fn happen(engine: &mut Engine, tick: u64) {
    let door = [wall("__door_0", [0.0, -0.8], [0.0, 0.8])];
    match tick % 120 {
        60 => engine.add_walls(&door).expect("a wall"),
        90 => engine.remove_walls(&["__door_0".to_owned()]).expect("a wall"),
        _ => {}
    }
    let t = tick as f64 * 0.05;
    let fed =
        |agent_id: i32, x: f64, y: f64| AgentState { agent_id, pose: [x, y, t], ..AgentState::default() };
    if (50..150).contains(&tick) {
        let agents =
            vec![fed(9_000, 3.0 - 0.4 * t, 3.0), fed(502, 2.0 + t.cos(), -3.0), fed(9_001, -6.0, t.sin())];
        engine.world_state(&AgentStates { stamp_ns: (tick * 50_000_000) as i64, agents });
    }
}

#[test]
fn a_busy_hall_is_the_same_for_one_and_two_threads() {
    for planner in ["sfm", "hsfm"] {
        let (mut one, mut two) = (busy_hall(1, planner), busy_hall(2, planner));
        let mut most = 0;
        for tick in 0..300 {
            for engine in [&mut one, &mut two] {
                happen(engine, tick);
                engine.tick();
            }
            assert_eq!(one.frame(), two.frame(), "{planner}, tick {tick}");
            most = most.max(one.frame().agent_id.len());
        }
        assert_eq!(one.meta(), two.meta());
        let lists = one.feedback(&[]).expect("lists");
        assert!(most > 40 && lists.1.len() > 5, "{most} at most, {} left", lists.1.len());
        assert_eq!(lists, two.feedback(&[]).expect("lists"));
    }
}

#[test]
fn a_steady_state_allocates_nothing() {
    let mut engine = engine(&[]);
    engine.add_walls(&[wall("south", [-30.0, -6.0], [30.0, -6.0])]).expect("a wall");
    let people: Vec<AgentState> = (0..200)
        .map(|number| {
            let [x, y] = [f64::from(number % 20) * 1.5 - 15.0, f64::from(number / 20) - 4.5];
            AgentState { waypoints: way(&[[x + 0.8, y], [x, y]], mode::REPEAT), ..person(number + 1, x, y) }
        })
        .collect();
    engine.spawn_agents(&people).expect("free");
    run(&mut engine, 600);
    let mut allocations = 0;
    for _ in 0..100 {
        allocations += allocation_counter::measure(|| engine.tick()).count_total;
    }
    assert_eq!(allocations, 0);
}

/// The log of a busy hall with every kind of request in it.
fn logged() -> (String, Engine) {
    let log = Shared::default();
    let mut engine = busy_hall(1, "sfm");
    engine.log_to(log.clone());
    let wheelchair =
        AgentState { agent_type: "wheelchair_manual".to_owned(), ..walker(503, [-9.0, 4.0], [9.0, -4.0]) };
    engine.spawn_agents(&[wheelchair]).expect("free");
    for tick in 0..250 {
        happen(&mut engine, tick);
        match tick {
            40 => engine.remove_agents(&[504, 506, 1]).expect("known or not"),
            60 => engine
                .set_waypoints(501, "", &way(&[[-9.0, -4.0], [-2.0, 4.0]], mode::REPEAT))
                .expect("there"),
            80 => {
                let change = AgentState { agent_type: "elder".to_owned(), ..person(501, 0.0, 0.0) };
                assert_eq!(engine.update_agents(&[change]).expect("a type"), [501]);
            }
            100 => {
                let mean = ParameterValue::Double(0.8);
                engine.set_parameters(&[("local_planner.relaxation_time".to_owned(), mean)]).expect("a mean");
                engine.reset(true).expect("settings");
            }
            _ => {}
        }
        engine.tick();
    }
    (log.text(), engine)
}

#[test]
fn a_logged_session_can_be_replayed_and_the_first_divergence_is_found() {
    let (log, engine) = logged();
    let replayed = promenade_crowd::engine::replay(log.as_bytes()).expect("a log");
    assert_eq!((replayed.divergence, replayed.ticks), (None, 250));
    assert!(replayed.poses > 5000, "{}", replayed.poses);
    for word in [
        "\"reason\":\"sink\"",
        "\"reason\":\"request\"",
        "\"reason\":\"lease\"",
        "\"commands\":{",
        "\"event\":\"update\"",
    ] {
        assert!(log.contains(word), "{word}");
    }
    assert!(engine.config_snapshot().contains("local_planner.relaxation_time: 0.8\n"));
    let parts: Vec<&str> = log.split("\"target\":[9.0,-4.0]").collect();
    assert!(parts.len() > 1, "the wheelchair is sent once");
    let elsewhere = parts.join("\"target\":[9.0,-3.9]");
    let replayed = promenade_crowd::engine::replay(elsewhere.as_bytes()).expect("a log");
    let divergence = replayed.divergence.expect("another way");
    assert_eq!((divergence.agent_id, divergence.tick), (503, 0));
    let cut = log.split_once('\n').expect("lines").1;
    let error = promenade_crowd::engine::replay(cut.as_bytes()).expect_err("no settings").to_string();
    assert_eq!(error, "line 1: expected the settings first, as a session log begins with them");
    let broken = log.replacen("\"vx\":", "\"v\":", 1);
    assert!(
        promenade_crowd::engine::replay(broken.as_bytes())
            .expect_err("a field")
            .to_string()
            .contains("missing field `vx`")
    );
}

#[test]
fn a_log_that_cannot_be_written_ends_with_a_warning_and_the_run_goes_on() {
    struct Full;
    impl std::io::Write for Full {
        fn write(&mut self, _: &[u8]) -> std::io::Result<usize> {
            Err(std::io::ErrorKind::StorageFull.into())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let (mut plain, mut logging) = (busy_hall(1, "sfm"), busy_hall(1, "sfm"));
    logging.log_to(Full);
    run(&mut plain, 30);
    run(&mut logging, 30);
    assert_eq!(plain.frame(), logging.frame());
    let warnings: Vec<String> = logging.warnings().collect();
    assert!(
        matches!(warnings.as_slice(), [one] if one.starts_with("the session log ends here: ")),
        "{warnings:?}"
    );
}
