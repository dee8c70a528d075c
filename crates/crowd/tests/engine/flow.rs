use promenade_crowd::protocol::{
    AgentTemplate, FlowConfig, ParameterValue, RateKeyframe, Shape, SinkAffinity, SinkConfig, SourceConfig,
    shape, source,
};
use promenade_crowd::{Engine, Wall};

use crate::{engine, place, run};

/// The flow that the published releases are of.
fn published() -> FlowConfig {
    let agent = AgentTemplate {
        desired_velocity_min: 1.0,
        desired_velocity_max: 1.5,
        agent_radius: 0.25,
        sink_affinity: vec![SinkAffinity { sink_name: "sink_0".to_owned(), weight: 1.0 }],
        ..AgentTemplate::default()
    };
    let source = SourceConfig {
        name: "source_0".to_owned(),
        pose: [2.0, -1.0, 0.0],
        shape: Shape { kind: shape::CIRCLE, radius: 0.8, ..Shape::default() },
        kind: source::POISSON,
        rate_profile: vec![RateKeyframe { t: 0.0, rate: 2.0 }],
        max_concurrent: -1,
        max_total: -1,
        agent,
    };
    let sink = SinkConfig {
        name: "sink_0".to_owned(),
        pose: [10.0, 3.0, 0.0],
        capacity: -1,
        ..SinkConfig::default()
    };
    FlowConfig { sources: vec![source], sinks: vec![sink] }
}

fn seeded(seed: i64) -> Engine {
    engine(&[("seed", ParameterValue::Integer(seed))])
}

/// Pose and speed of everybody in the order in which they came, each in the tick in which it came.
fn releases(engine: &mut Engine, ticks: u64) -> Vec<(i32, [f64; 4])> {
    let mut releases: Vec<(i32, [f64; 4])> = Vec::new();
    for _ in 0..ticks {
        engine.tick();
        let frame = engine.frame();
        for row in 0..frame.agent_id.len() {
            if releases.iter().all(|(id, _)| *id != frame.agent_id[row]) {
                let state = [frame.x[row], frame.y[row], frame.theta[row], frame.desired_velocity[row]];
                releases.push((frame.agent_id[row], state));
            }
        }
    }
    releases
}

#[test]
fn releases_are_the_published_ones() {
    let document: serde_json::Value =
        serde_json::from_str(include_str!("../data/streams.json")).expect("JSON");
    let mut flow = published();
    // All six come in the first tick, and a planner that stands still shows where.
    (flow.sources[0].kind, flow.sources[0].max_concurrent) = (source::MAX, 6);
    flow.sources[0].rate_profile.clear();
    let parameters = [
        ("seed", ParameterValue::Integer(42)),
        ("collision", ParameterValue::Text("noop".to_owned())),
        ("dt", ParameterValue::Double(1e-4)),
    ];
    let mut engine = engine(&parameters);
    engine.set_flow(&flow).expect("a flow");
    let ours = releases(&mut engine, 1);
    let rows = document["releases"]["rows"].as_array().expect("rows");
    assert_eq!(ours.len(), rows.len());
    for ((id, [x, y, theta, speed]), row) in ours.iter().zip(rows) {
        let near =
            |ours: f64, theirs: &serde_json::Value| (ours - theirs.as_f64().expect("a number")).abs() < 1e-7;
        assert!(near(*x, &row["pose"][0]) && near(*y, &row["pose"][1]), "{id} {x} {y} {row}");
        assert!(
            near(*theta, &row["pose"][2]) || (theta - row["pose"][2].as_f64().unwrap_or(9.0)).abs() < 1e-3,
            "{theta} {row}"
        );
        assert_eq!(Some(*speed), row["desired_velocity"].as_f64());
    }
}

#[test]
fn people_walk_from_the_source_to_the_sink_and_leave() {
    let mut engine = seeded(1);
    let mut flow = published();
    flow.sources[0].max_total = 5;
    engine.set_flow(&flow).expect("a flow");
    run(&mut engine, 600);
    let (came, left) = engine.feedback(&[]).expect("lists");
    assert_eq!(came.len(), 5);
    let mut left = left;
    left.sort_unstable();
    assert_eq!((left, engine.crowd().pool().len()), (came, 0));
}

#[test]
fn a_cap_loses_the_surplus_of_a_poisson_source_and_changes_no_release() {
    let mut free = seeded(3);
    free.set_flow(&published()).expect("a flow");
    let mut capped = seeded(3);
    let mut flow = published();
    flow.sources[0].max_concurrent = 2;
    capped.set_flow(&flow).expect("a flow");
    let (all, some) = (releases(&mut free, 200), releases(&mut capped, 200));
    assert!(some.len() < all.len() && some.len() > 2, "{} {}", some.len(), all.len());
    for ((_, ours), (_, theirs)) in some.iter().zip(&all) {
        assert_eq!(ours[3], theirs[3], "release by release the same people");
    }
    assert!(capped.crowd().pool().len() <= 2);
}

#[test]
fn the_rate_of_arrivals_follows_the_profile() {
    let mut engine = seeded(5);
    let mut flow = published();
    flow.sources[0].rate_profile =
        vec![RateKeyframe { t: 10.0, rate: 0.0 }, RateKeyframe { t: 20.0, rate: 6.0 }];
    engine.set_flow(&flow).expect("a flow");
    let mut came = |ticks: u64| {
        run(&mut engine, ticks);
        engine.feedback(&[]).expect("lists").0.len()
    };
    assert_eq!(came(200), 0);
    let rising = came(200);
    assert!((18..45).contains(&rising), "30 expected, {rising} came");
    let steady = came(1200);
    assert!((300..420).contains(&steady), "360 expected, {steady} came");
}

#[test]
fn a_max_source_refills_in_the_tick_after_somebody_left() {
    let mut engine = seeded(1);
    let mut flow = published();
    (flow.sources[0].kind, flow.sources[0].max_concurrent) = (source::MAX, 3);
    flow.sources[0].rate_profile.clear();
    engine.set_flow(&flow).expect("a flow");
    engine.tick();
    assert_eq!(engine.frame().agent_id, [1, 2, 3]);
    engine.remove_agents(&[2]).expect("there");
    engine.tick();
    assert_eq!(engine.frame().agent_id, [1, 3, 4]);
}

#[test]
fn only_those_bound_for_a_sink_leave_by_it_and_its_polygon_counts() {
    let mut engine = seeded(1);
    let mut flow = published();
    flow.sources[0].max_total = 1;
    let square = vec![[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]];
    flow.sinks[0].shape = Shape { kind: shape::POLYGON, vertices: square, ..Shape::default() };
    engine.set_flow(&flow).expect("a flow");
    engine.spawn_agents(&[crate::person(50, 10.5, 3.5)]).expect("free");
    let mut last = [0.0; 2];
    for _ in 0..400 {
        engine.tick();
        let frame = engine.frame();
        if let Some(row) = frame.agent_id.iter().position(|id| *id == 51) {
            last = [frame.x[row], frame.y[row]];
        }
    }
    assert_eq!(engine.frame().agent_id, [50]);
    assert!((8.9..9.2).contains(&last[0]), "absorbed at the edge of the square: {last:?}");
    assert!((place(&engine, 50)[0] - 10.5).abs() < 0.5);
}

#[test]
fn a_lifetime_takes_released_people_out_by_force() {
    let mut engine = engine(&[("max_lifetime_s", ParameterValue::Double(1.0))]);
    let mut flow = published();
    flow.sources[0].max_total = 1;
    flow.sinks[0].pose = [500.0, 0.0, 0.0];
    engine.set_flow(&flow).expect("a flow");
    engine.spawn_agents(&[crate::person(50, 20.0, 20.0)]).expect("free");
    run(&mut engine, 200);
    assert_eq!(engine.frame().agent_id, [50], "others live on");
    assert_eq!(engine.feedback(&[]).expect("lists"), (vec![50, 51], vec![51]));
}

#[test]
fn what_does_not_hold_is_refused_and_the_flow_before_stays() {
    let mut engine = seeded(1);
    engine.set_flow(&published()).expect("a flow");
    let refused = |change: &dyn Fn(&mut FlowConfig)| {
        let mut flow = published();
        flow.sources[0].name = "other".to_owned();
        change(&mut flow);
        let mut engine = seeded(1);
        engine.set_flow(&published()).expect("a flow");
        let error = engine.set_flow(&flow).expect_err("refused");
        assert_eq!(engine.sources().next().map(|source| source.name.as_str()), Some("source_0"));
        error.to_string()
    };
    let max = refused(&|flow| flow.sources[0].kind = source::MAX);
    assert_eq!(
        max,
        "max_concurrent of source \"other\": expected a number from 1 to 100000 for type max, found -1"
    );
    assert!(refused(&|flow| flow.sources[0].rate_profile[0].rate = f64::NAN).contains("found NaN"));
    let flood = refused(&|flow| flow.sources[0].rate_profile[0].rate = 300.0);
    assert!(flood.ends_with("expected 0 or more, and at most 10 people per tick, found 300"), "{flood}");
    assert!(refused(&|flow| flow.sources[0].agent.desired_velocity_min = 2.0).contains("found 2 to 1.5"));
    assert!(refused(&|flow| flow.sources[0].kind = 7).contains("expected 0 poisson or 1 max, found 7"));
    assert!(refused(&|flow| flow.sinks[0].pose[0] = f64::INFINITY).contains("x of sink \"sink_0\""));
    engine.remove_source("none").expect("ignored");
    engine.remove_source("").expect("all");
    engine.remove_sink("").expect("all");
    assert_eq!((engine.sources().len(), engine.sinks().len()), (0, 0));
}

#[test]
fn a_source_without_its_sinks_waits_and_says_so() {
    let mut engine = seeded(1);
    engine.add_source(&published().sources[0]).expect("a source");
    run(&mut engine, 60);
    assert!(engine.frame().agent_id.is_empty());
    let warnings: Vec<String> = engine.warnings().collect();
    assert!(matches!(warnings.as_slice(), [one] if one.contains("source_0")), "{warnings:?}");
    engine.add_sink(&published().sinks[0]).expect("a sink");
    run(&mut engine, 60);
    assert!(!engine.frame().agent_id.is_empty());
}

#[test]
fn two_planners_agree_on_everybody_both_release() {
    let run_with = |planner: &str| {
        let mut engine = engine(&[
            ("seed", ParameterValue::Integer(9)),
            ("local_planner", ParameterValue::Text(planner.to_owned())),
        ]);
        let wall = Wall { name: "w".to_owned(), start: [0.0, 4.0], end: [12.0, 4.0] };
        engine.add_walls(&[wall]).expect("a wall");
        engine.set_flow(&published()).expect("a flow");
        run(&mut engine, 100);
        let pool = engine.crowd().pool();
        let of =
            |row: usize| (pool.id[row], pool.desired_velocity[row], pool.radius[row], pool.max_velocity[row]);
        (0..pool.len()).map(of).collect::<Vec<_>>()
    };
    let (sfm, helbing) = (run_with("sfm"), run_with("helbing"));
    assert!(sfm.len() > 5);
    assert_eq!(sfm, helbing);
}

#[test]
fn who_is_released_between_decisions_stands_until_the_next_one() {
    let mut engine = seeded(1);
    engine.tick();
    let mut flow = published();
    (flow.sources[0].kind, flow.sources[0].max_concurrent) = (source::MAX, 1);
    flow.sources[0].rate_profile.clear();
    engine.set_flow(&flow).expect("a flow");
    engine.tick();
    let released = place(&engine, 1);
    run(&mut engine, 3);
    assert_eq!(place(&engine, 1), released);
    run(&mut engine, 1);
    assert_ne!(place(&engine, 1), released);
}
