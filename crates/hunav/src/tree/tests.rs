//! Trees as agents run them.

use std::path::Path;

use promenade_scenario::Report;

use super::{Library, NODES, PortType, Status, Tree};
use crate::world::VelocityField;
use crate::{Agent, Behavior, BehaviorKind, Compat, Options, Robot, World};

fn library() -> Library {
    Library::new(&Options::default())
}

/// The tree with these nodes as its root.
fn file(root: &str) -> String {
    format!(r#"<root BTCPP_format="4"><BehaviorTree ID="T">{root}</BehaviorTree></root>"#)
}

fn problems(text: &str) -> String {
    let report: Report = library().parse(text, Path::new("t.xml")).expect_err("a wrong tree");
    report.to_string()
}

/// A walker at the origin that looks along x, and a world with it as row 0.
fn world(others: &[Agent]) -> World {
    let walker = Agent { id: 1, goals: vec![[20.0, 0.0]], ..Agent::default() };
    let mut agents = vec![walker];
    agents.extend(others.iter().cloned());
    let mut world = World::new(Options { integrator_dt_max: 0.0, ..Options::default() });
    world.reset(&agents, &Robot::default());
    world
}

fn tree(root: &str, world: &World) -> Tree {
    let loaded = library().parse(&file(root), Path::new("t.xml")).unwrap_or_else(|report| panic!("{report}"));
    let mut agent = Agent::default();
    world.agent_into(0, &mut agent);
    Tree::new(loaded.value, &agent)
}

/// The answers of some ticks of 0.1 s for row 0.
fn answers(root: &str, world: &mut World, ticks: usize) -> Vec<Status> {
    let mut tree = tree(root, world);
    (0..ticks).map(|_| tree.tick(world, 0, 0.1)).collect()
}

use Status::{Failure, Running, Skipped, Success};

#[test]
fn every_tree_of_the_library_compiles() {
    let names: Vec<_> = Library::names().collect();
    assert_eq!(names.len(), 10);
    for name in names {
        let loaded = library().tree(name, BehaviorKind::Regular).unwrap_or_else(|report| panic!("{report}"));
        assert!(loaded.report.is_empty(), "{}", loaded.report);
        assert!(loaded.value.len() >= 5);
    }
}

#[test]
fn a_tree_that_is_named_has_no_behaviour_on_its_blackboard_in_strict_mode() {
    let options = Options { compat: Compat::Strict, ..Options::default() };
    let mut library = Library::new(&options);
    assert!(library.tree("", BehaviorKind::Scared).is_ok());
    let report = library.tree("BTScaredNav.xml", BehaviorKind::Scared).unwrap_err().to_string();
    assert!(report.contains("BTScaredNav.xml:7:"), "{report}");
    assert!(report.contains("nothing sets the entry {dist} of the blackboard"), "{report}");
    assert!(self::library().tree("BTScaredNav.xml", BehaviorKind::Scared).is_ok());
}

#[test]
fn mistakes_are_told_with_place_and_nearest_word() {
    let told = problems(
        "<root BTCPP_format=\"4\">\n <BehaviorTree ID=\"T\">\n  <Sequnce/>\n </BehaviorTree>\n</root>",
    );
    assert_eq!(told, "t.xml:3:3: error: T: there is no node \"Sequnce\"  (try: Sequence)");
    let told = problems(&file("<RegularNav agentid=\"{id}\"/>"));
    assert!(told.contains("RegularNav has no port `agentid`  (try: agent_id)"), "{told}");
    assert!(told.contains("RegularNav needs `agent_id`"), "{told}");
    let told = problems(&file("<RegularNav agent_id=\"{ID}\"/>"));
    assert!(told.contains("nothing sets the entry {ID} of the blackboard  (try: id)"), "{told}");
    let told = problems(&file("<Repeat num_cycles=\"often\"><AlwaysSuccess/></Repeat>"));
    assert!(told.contains("`num_cycles` is \"often\", expected a whole number"), "{told}");
    let told = problems(&file("<Inverter/>"));
    assert!(told.contains("Inverter takes one child, found 0"), "{told}");
    let told = problems(&file("<SubTree ID=\"t\"/>"));
    assert!(told.contains("there is no tree \"t\"  (try: T)"), "{told}");
    let told = problems(&file("<SubTree ID=\"T\"/>"));
    assert!(told.contains("tree \"T\" contains itself"), "{told}");
    let told = problems(&file("<GoTo agent_id=\"{id}\" target_x=\"1\"/>"));
    assert!(told.contains("GoTo needs `goal_id`, or `target_x` and `target_y`"), "{told}");
    let told = problems("<root><include path=\"BTRegularNav.xm\"/></root>");
    assert!(told.contains("(try: BTRegularNav.xml)"), "{told}");
    assert!(problems("<root").contains("t.xml:1:"));
    assert!(problems("<tree/>").contains("found <tree>, expected <root>"));
}

#[test]
fn a_tree_that_is_too_deep_or_too_large_is_refused() {
    let deep = "<Inverter>".repeat(500) + "<AlwaysSuccess/>" + &"</Inverter>".repeat(500);
    assert!(problems(&file(&deep)).contains("deep"));
    let level = |n: usize| {
        let child = format!("<SubTree ID=\"L{}\"/>", n + 1);
        format!("<BehaviorTree ID=\"L{n}\"><Sequence>{}</Sequence></BehaviorTree>", child.repeat(10))
    };
    let levels: String = (0..8).map(level).collect();
    let last = "<BehaviorTree ID=\"L8\"><AlwaysSuccess/></BehaviorTree>";
    let text = format!("<root BTCPP_format=\"4\" main_tree_to_execute=\"L0\">{levels}{last}</root>");
    assert!(problems(&text).contains("too large"));
    let wide = "<a/>".repeat(1000) + &"<b>".repeat(20_000) + &"</b>".repeat(20_000);
    assert!(problems(&file(&wide)).contains("deep"));
}

#[test]
fn a_sequence_goes_on_with_the_child_that_runs_and_a_reactive_one_begins_anew() {
    let wait = "<StopAndWaitTimerAction agent_id=\"{id}\" wait_duration=\"0.2\"/>";
    let text =
        format!("<Sequence><RunOnce then_skip=\"false\"><AlwaysSuccess/></RunOnce>{wait}{wait}</Sequence>");
    assert_eq!(answers(&text, &mut world(&[]), 5), [Running, Running, Running, Running, Success]);
    let text = format!("<ReactiveSequence>{wait}<AlwaysFailure/></ReactiveSequence>");
    assert_eq!(answers(&text, &mut world(&[]), 4), [Running, Running, Failure, Running]);
    // The wait is interrupted in the second tick and begins anew in the third.
    let flips =
        "<Inverter><TimeExpiredCondition seconds=\"0.2\" ts=\"{dt}\" only_once=\"false\"/></Inverter>";
    let text = format!("<ReactiveSequence>{flips}{wait}</ReactiveSequence>");
    assert_eq!(answers(&text, &mut world(&[]), 6), [Running, Failure, Running, Failure, Running, Failure]);
}

#[test]
fn decorators_change_what_a_child_answers() {
    let one = |text: &str| answers(text, &mut world(&[]), 1)[0];
    assert_eq!(one("<Inverter><AlwaysFailure/></Inverter>"), Success);
    assert_eq!(one("<ForceSuccess><AlwaysFailure/></ForceSuccess>"), Success);
    assert_eq!(one("<ForceFailure><AlwaysSuccess/></ForceFailure>"), Failure);
    assert_eq!(one("<Fallback><AlwaysFailure/><AlwaysSuccess/></Fallback>"), Success);
    let some = |text: &str, ticks| answers(text, &mut world(&[]), ticks);
    assert_eq!(some("<RunOnce><AlwaysSuccess/></RunOnce>", 2), [Success, Skipped]);
    assert_eq!(some("<RunOnce then_skip=\"false\"><AlwaysFailure/></RunOnce>", 2), [Failure, Failure]);
    let text = "<Repeat num_cycles=\"3\"><AlwaysSuccess/></Repeat>";
    assert_eq!(some(text, 4), [Running, Running, Success, Running]);
    let text = "<RetryUntilSuccessful num_attempts=\"2\"><AlwaysFailure/></RetryUntilSuccessful>";
    assert_eq!(some(text, 3), [Running, Failure, Running]);
    let text = "<KeepRunningUntilFailure><AlwaysSuccess/></KeepRunningUntilFailure>";
    assert_eq!(some(text, 2), [Running, Running]);
    let text = "<Delay delay_msec=\"150\"><AlwaysSuccess/></Delay>";
    assert_eq!(some(text, 4), [Running, Running, Success, Running]);
    let text = "<TimeDelay duration=\"0.15\"><AlwaysSuccess/></TimeDelay>";
    assert_eq!(some(text, 3), [Running, Running, Success]);
    let wait = "<StopAndWaitTimerAction agent_id=\"{id}\" wait_duration=\"9\"/>";
    assert_eq!(some(&format!("<Timeout msec=\"150\">{wait}</Timeout>"), 3), [Running, Running, Failure]);
}

#[test]
fn a_timer_expires_once_or_again_and_again() {
    let timer = |once| format!("<TimeExpiredCondition seconds=\"0.2\" ts=\"0.1\" only_once=\"{once}\"/>");
    assert_eq!(answers(&timer(true), &mut world(&[]), 4), [Failure, Success, Success, Success]);
    assert_eq!(answers(&timer(false), &mut world(&[]), 4), [Failure, Success, Failure, Success]);
}

#[test]
fn sub_trees_see_what_is_mapped_in_both_formats() {
    let sub = "<BehaviorTree ID=\"S\"><FindNearestAgent agent_id=\"{me}\" target_agent_id=\"{who}\"/></BehaviorTree>";
    let say = "<IsAgentClose observer_id=\"{id}\" target_agent_id=\"{other}\" threshold=\"5\"/>";
    let main = |call: &str| format!("<BehaviorTree ID=\"M\"><Sequence>{call}{say}</Sequence></BehaviorTree>");
    let three = format!(
        "<root main_tree_to_execute=\"M\">{}{sub}</root>",
        main("<SubTree ID=\"S\" me=\"id\" who=\"other\"/>")
    );
    let four = format!(
        "<root BTCPP_format=\"4\" main_tree_to_execute=\"M\">{}{sub}</root>",
        main("<SubTree ID=\"S\" me=\"{id}\" who=\"{other}\"/>")
    );
    for text in [three, four.clone()] {
        let mut world = world(&[Agent { id: 7, position: [3.0, 0.0], ..Agent::default() }]);
        let loaded = library().parse(&text, Path::new("t.xml")).unwrap_or_else(|report| panic!("{report}"));
        let agent = Agent { id: 1, ..Agent::default() };
        assert_eq!(Tree::new(loaded.value, &agent).tick(&mut world, 0, 0.1), Success);
    }
    // Without the mapping nobody sets it.
    assert!(problems(&four.replace(" who=\"{other}\"", "")).contains("nothing sets the entry {other}"));
}

#[test]
fn every_node_survives_a_world_without_whom_it_names() {
    for spec in NODES {
        let value = |takes| match takes {
            PortType::Out => "{out}",
            PortType::Ids => "98,99",
            PortType::Bool => "true",
            PortType::Int | PortType::Float | PortType::Text => "97",
        };
        let ports: String =
            spec.ports.iter().map(|port| format!(" {}=\"{}\"", port.name, value(port.takes))).collect();
        let child = match spec.kind {
            super::NodeKind::Control | super::NodeKind::Decorator => "<AlwaysSuccess/>",
            _ => "",
        };
        for agent in ["97", "{id}"] {
            let ports = ports.replacen("agent_id=\"97\"", &format!("agent_id=\"{agent}\""), 1);
            let text = format!("<{0}{ports}>{child}</{0}>", spec.id);
            let mut world = world(&[]);
            answers(&text, &mut world, 3);
            assert!(world.position(0).iter().all(|part| part.is_finite()), "{text}");
        }
    }
}

#[test]
fn a_wrong_tree_is_told_and_replaced_by_that_of_the_behaviour() {
    let agent = Agent {
        id: 4,
        behavior_tree: "BTCurious.xml".to_owned(),
        goals: vec![[9.0, 0.0]],
        behavior: Behavior { kind: BehaviorKind::Curious, ..Behavior::default() },
        ..Agent::default()
    };
    let mut world = World::new(Options::default());
    world.reset(std::slice::from_ref(&agent), &Robot::default());
    let problems = world.take_tree_problems();
    assert_eq!(problems.len(), 1);
    assert_eq!(problems[0].0, 4);
    world.compute(0.1);
    assert!(world.position(0)[0] > 0.0);

    let mut strict = World::new(Options { compat: Compat::Strict, ..Options::default() });
    strict.reset(&[agent], &Robot::default());
    strict.compute(0.1);
    assert_eq!(strict.position(0), [0.0; 2]);
}

#[test]
fn a_company_that_is_led_from_the_tree_of_any_member_is_let_go_when_its_time_is_over() {
    // All members have the same tree, as files that are written per agent have it; the main agent comes last.
    let others = [2, 3].map(|id| Agent { id, position: [0.0, f64::from(id)], ..Agent::default() });
    let mut world = world(&others);
    let node = r#"<SetGroupWalk main_agent_id="3" non_main_agent_ids="1, 2" duration="0.5"/>"#;
    let mut first = tree(node, &world);
    for _ in 0..5 {
        assert_eq!(first.tick(&mut world, 0, 0.1), Running);
        assert_eq!(world.leader(0), None, "its own tree goes on, else nobody would ever let them go");
        assert_eq!((world.leader(1), world.leader(2)), (Some(1), Some(1)));
        assert_eq!((0..3).map(|row| world.group(row)).collect::<Vec<_>>(), [0, 0, 0]);
    }
    assert_eq!(first.tick(&mut world, 0, 0.1), Success);
    assert_eq!((0..3).map(|row| world.leader(row)).collect::<Vec<_>>(), [None; 3]);
    assert_eq!((0..3).map(|row| world.group(row)).collect::<Vec<_>>(), [-1, -1, -1]);
}

#[test]
fn whoever_is_led_leads_nobody_elsewhere() {
    let others = [2, 3].map(|id| Agent { id, position: [0.0, f64::from(id)], ..Agent::default() });
    let mut world = world(&others);
    world.set_leader(3, Some(2));
    let node = r#"<SetGroupWalk main_agent_id="3" non_main_agent_ids="1" duration="9"/>"#;
    assert_eq!(answers(node, &mut world, 2), [Failure, Failure]);
    assert_eq!((world.leader(0), world.leader(2)), (None, Some(2)));
}

#[test]
fn a_slow_field_and_short_ticks_move_agents_too() {
    for (speed, dt) in [(1.0_f32, 0.05), (0.3, 0.1), (1.0, 0.01)] {
        let data: Vec<f32> = (0..64 * 64 * 2).map(|at| if at % 2 == 0 { 0.0 } else { speed }).collect();
        let mut world = world(&[]);
        let field = VelocityField::new(&[1, 64, 64, 2], &data, [-32.0; 2], [64.0; 2]).unwrap();
        world.set_velocity_field(Some(field));
        let follow = r#"<FollowVelocityField agent_id="{id}" velocity_field_group_id="0"/>"#;
        let mut tree = tree(follow, &world);
        for _ in 0..(5.0 / dt) as usize {
            tree.tick(&mut world, 0, dt);
        }
        let at = world.position(0);
        assert!(at[1] > 0.5 && at[0].abs() < 1e-9, "{speed} m/s, {dt} s: {at:?}");
    }
}
