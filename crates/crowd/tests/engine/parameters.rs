//! Parameter cases (crowd-engine specification, sections 23 and 28).

use promenade_crowd::Engine;
use promenade_crowd::protocol::ParameterValue::{self, Bool, Double, Integer, Text};
use promenade_crowd::protocol::{AgentState, SinkConfig};

use crate::{engine, person, run, walker};

fn batch(values: &[(&str, ParameterValue)]) -> Vec<(String, ParameterValue)> {
    values.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect()
}

fn text(word: &str) -> ParameterValue {
    Text(word.to_owned())
}

fn relaxation(engine: &Engine, id: i32) -> f64 {
    engine
        .crowd()
        .parameters(id)
        .and_then(|p| p.planner_value("relaxation_time"))
        .expect("a key of the planner")
}

/// Names of the planners in use, and the one of each agent in the frame.
fn planners(engine: &mut Engine) -> (Vec<String>, Vec<String>) {
    engine.tick();
    let policies = engine.meta().policies.clone();
    let of = |index: &i16| usize::try_from(*index).map_or("none".to_owned(), |at| policies[at].clone());
    let used = engine.frame().policy_idx.iter().map(of).collect();
    (policies, used)
}

#[test]
fn what_is_set_waits_for_the_reset_but_for_three_that_act_at_once() {
    let mut engine = engine(&[]);
    let values = batch(&[("waypoint_threshold", Double(0.4)), ("gesture_mode", text("disabled"))]);
    engine.set_parameters(&values).expect("in range");
    assert_eq!(engine.parameter("waypoint_threshold"), Some(&Double(0.1)));
    assert_eq!(engine.parameter("gesture_mode"), Some(&text("disabled")));
    let set: Vec<_> = engine.parameters().filter(|(name, _)| *name == "waypoint_threshold").collect();
    assert_eq!(set, [("waypoint_threshold", Double(0.4))]);
    engine.reset(true).expect("settings");
    assert_eq!(engine.parameter("waypoint_threshold"), Some(&Double(0.4)));
}

#[test]
fn static_unknown_and_out_of_range_parameters_are_refused_and_nothing_of_the_batch_is_set() {
    let mut engine = engine(&[]);
    let refused = |engine: &mut Engine, bad: (&str, ParameterValue)| {
        let before: Vec<_> = engine.parameters().map(|(name, value)| (name.to_owned(), value)).collect();
        let error =
            engine.set_parameters(&batch(&[("rtf", Double(2.0)), bad, ("waypoint_threshold", Double(0.2))]));
        let after: Vec<_> = engine.parameters().map(|(name, value)| (name.to_owned(), value)).collect();
        assert_eq!(before, after);
        error.expect_err("refused").to_string()
    };
    assert_eq!(refused(&mut engine, ("seed", Integer(3))), "not reconfigurable at runtime: seed");
    assert!(
        refused(&mut engine, ("no_such", Integer(3)))
            .starts_with("no parameter is named no_such; there are ")
    );
    assert_eq!(
        refused(&mut engine, ("arrival_tau_brake", Double(-1.0))),
        "arrival_tau_brake: expected a number above 0 and up to 1e6, found -1.0"
    );
    assert!(
        refused(&mut engine, ("global_planner.resolution", Double(9.0)))
            .contains("from 0.01 to 5, found 9.0")
    );
    assert!(
        refused(&mut engine, ("arrival_r_enter", Double(0.4)))
            .contains("arrival_r_exit: expected more than arrival_r_enter")
    );
    let planner = refused(&mut engine, ("local_planner", text("smf")));
    assert!(
        planner.starts_with("local_planner: expected one of \"sfm\", ") && planner.ends_with("found \"smf\""),
        "{planner}"
    );
    assert_eq!(
        refused(&mut engine, ("profile_phases", Integer(1))),
        "profile_phases: expected true or false, found 1"
    );
    assert!(refused(&mut engine, ("arrival_r_exit", Double(f64::NAN))).contains("found NaN"));
    engine
        .set_parameters(&batch(&[("arrival_r_exit", Integer(1)), ("arrival_r_enter", Double(0.9))]))
        .expect("together they hold");
    assert!(Engine::new(&batch(&[("subsystem_overrun_policy", text("skip"))])).is_err());
}

#[test]
fn keys_of_a_planner_are_declared_when_the_planner_is_named() {
    let mut engine = engine(&[]);
    let key = ("local_planner.lateral_gain", Double(0.5));
    let unknown = engine.set_parameters(&batch(std::slice::from_ref(&key))).expect_err("not yet");
    assert!(unknown.to_string().contains("local_planner.lateral_gain"));
    let negative = batch(&[("local_planner.relaxation_time", Double(-0.5))]);
    let refused = engine.set_parameters(&negative).expect_err("no time is negative").to_string();
    assert_eq!(refused, "local_planner.relaxation_time: expected a number from 0 to 1000000, found -0.5");
    engine.set_parameters(&batch(&[key, ("local_planner", text("hsfm"))])).expect("both at once");
}

#[test]
fn agents_that_follow_the_default_are_reseated_and_unused_planners_are_pruned() {
    let mut engine = engine(&[]);
    let pinned = AgentState { policy: "sfm".to_owned(), ..walker(2, [0.0, 3.0], [9.0, 3.0]) };
    let of_type =
        AgentState { agent_type: "wheelchair_manual".to_owned(), ..walker(3, [0.0, 6.0], [9.0, 6.0]) };
    engine.spawn_agents(&[walker(1, [0.0, 0.0], [9.0, 0.0]), pinned, of_type]).expect("free");
    assert_eq!(planners(&mut engine).1, ["sfm", "sfm", "hsfm"]);
    engine.set_parameters(&batch(&[("local_planner", text("helbing"))])).expect("known");
    assert_eq!(planners(&mut engine).1, ["sfm", "sfm", "hsfm"], "until the reset");
    engine.reset(true).expect("settings");
    let (all, used) = planners(&mut engine);
    assert_eq!((used.as_slice(), all.len()), (&["helbing", "sfm", "hsfm"].map(str::to_owned)[..], 3));
    engine.remove_agents(&[2, 3]).expect("there");
    engine.reset(true).expect("settings");
    assert_eq!(planners(&mut engine), (vec!["helbing".to_owned()], vec!["helbing".to_owned()]));
    engine.set_parameters(&batch(&[("force_local_planner", Bool(true))])).expect("known");
    engine.reset(true).expect("settings");
    let forced = AgentState { policy: "sfm".to_owned(), ..person(7, 20.0, 0.0) };
    engine.spawn_agents(&[forced]).expect("free");
    assert_eq!(planners(&mut engine).1, ["helbing", "helbing"]);
    engine.set_parameters(&batch(&[("force_local_planner", Bool(false))])).expect("known");
    engine.reset(true).expect("settings");
    assert_eq!(planners(&mut engine).1, ["helbing", "sfm"], "it has its own again");
    run(&mut engine, 20);
}

#[test]
fn a_mean_shifts_what_was_drawn_and_brings_it_back_exactly() {
    let mut engine = engine(&[("seed", Integer(4))]);
    let own = AgentState { relaxation_time: 0.77, ..person(2, 3.0, 0.0) };
    let pinned = AgentState { policy: "sfm".to_owned(), ..person(3, 6.0, 0.0) };
    engine.spawn_agents(&[person(1, 0.0, 0.0), own, pinned]).expect("free");
    let drawn = [1, 2, 3].map(|id| relaxation(&engine, id));
    let set = |engine: &mut Engine, mean: f64| {
        engine.set_parameters(&batch(&[("local_planner.relaxation_time", Double(mean))])).expect("a mean");
        engine.reset(true).expect("settings");
    };
    set(&mut engine, 0.8);
    let shifted = [1, 2, 3].map(|id| relaxation(&engine, id));
    assert!((shifted[0] - drawn[0] - 0.3).abs() < 1e-12, "the offset from the mean stays");
    assert_eq!(shifted[1..], drawn[1..], "what the request says, and pinned planners, stay");
    engine.spawn_agents(&[person(4, 9.0, 0.0)]).expect("free");
    let late = relaxation(&engine, 4);
    set(&mut engine, 0.0);
    assert_eq!([1, 2, 3].map(|id| relaxation(&engine, id)), drawn);
    assert!((late - relaxation(&engine, 4) - 0.3).abs() < 1e-12, "who came later shifts alike");
}

#[test]
fn a_hard_reset_is_a_new_beginning() {
    let script = |engine: &mut Engine| {
        engine
            .spawn_agents(&[walker(0, [0.0, 0.0], [9.0, 0.5]), walker(0, [9.0, 0.0], [0.0, 0.4])])
            .expect("free");
        run(engine, 50);
        engine.frame().clone()
    };
    let mut engine = engine(&[("seed", Integer(4))]);
    engine.set_epoch_ns(5);
    let first = script(&mut engine);
    engine.add_sink(&SinkConfig { name: "s".to_owned(), ..SinkConfig::default() }).expect("a sink");
    engine.reset(false).expect("settings");
    assert_eq!((engine.ticks(), engine.now_ns(), engine.sinks().len()), (0, 0, 0));
    let second = script(&mut engine);
    assert_eq!(first.x, second.x);
    assert_eq!((first.agent_id, first.stamp_ns), (second.agent_id, second.stamp_ns + 5));
}
