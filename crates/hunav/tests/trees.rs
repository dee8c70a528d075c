//! What agents do whose trees are files: the timed nodes of HuNavSim 2 through whole worlds, and trees that nobody meant to write.

use std::path::Path;

use promenade_hunav::tree::{Library, NODES, NodeKind, PortType, Status, Tree};
use promenade_hunav::world::VelocityField;
use promenade_hunav::{Agent, Compat, Options, Point, Robot, World};
use proptest::prelude::*;

fn agent(id: i32, position: Point) -> Agent {
    // Forces between people would only make the places of these tests inexact.
    let mut agent = Agent { id, position, desired_velocity: 1.0, ..Agent::default() };
    agent.behavior.social_force_factor = 1.0;
    agent
}

/// A world in which agent 1 has a tree with this root; the others walk to their goals.
fn world(root: &str, mut agents: Vec<Agent>, robot: &Robot) -> World {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("tree.xml");
    let text = format!(r#"<root BTCPP_format="4"><BehaviorTree ID="T">{root}</BehaviorTree></root>"#);
    std::fs::write(&file, text).expect("written");
    agents[0].behavior_tree = file.to_str().expect("text").to_owned();
    let mut world = World::new(Options::default());
    world.reset(&agents, robot);
    let problems = world.take_tree_problems();
    assert!(problems.is_empty(), "{}", problems[0].1);
    world
}

fn run(world: &mut World, seconds: f64) {
    for _ in 0..(seconds / 0.1).round() as usize {
        world.compute(0.1);
    }
}

fn gap(a: Point, b: Point) -> f64 {
    (a[0] - b[0]).hypot(a[1] - b[1])
}

#[test]
fn go_to_arrives_and_leaves_the_goals_alone() {
    let mut walker = agent(1, [0.0; 2]);
    walker.goals = vec![[-9.0, 0.0]];
    let go = "<GoTo agent_id=\"{id}\" goal_id=\"2\" tolerance=\"0.3\"/>";
    let text = format!("<Sequence>{go}<SaySomething agent_id=\"{{id}}\" message=\"there\"/></Sequence>");
    let mut world = world(&text, vec![walker], &Robot::default());
    world.set_global_goals(vec![[9.0, 9.0], [3.0, 1.0]]);
    run(&mut world, 1.0);
    assert_eq!(world.speech(0), None);
    run(&mut world, 4.0);
    assert!(gap(world.position(0), [3.0, 1.0]) < 0.4, "{:?}", world.position(0));
    assert_eq!(world.speech(0), Some("there"));
    assert_eq!(world.goals(0), [[-9.0, 0.0]]);
}

#[test]
fn whoever_approaches_somebody_gets_there_and_is_heard() {
    let text = "<Sequence><FindNearestAgent agent_id=\"{id}\" target_agent_id=\"{who}\"/>\
                <ApproachAgent agent_id=\"{id}\" target_agent_id=\"{who}\" duration=\"8\"/>\
                <SaySomething agent_id=\"{id}\" message=\"hello\"/></Sequence>";
    let agents = vec![agent(1, [0.0; 2]), agent(2, [4.0, 0.0]), agent(3, [0.0, 9.0])];
    let mut world = world(text, agents, &Robot::default());
    run(&mut world, 6.5);
    assert!(gap(world.position(0), world.position(1)) < 1.2, "{:?}", world.position(0));
    assert_eq!(world.speech(0), Some("hello"));
}

#[test]
fn approaching_in_vain_fails_when_its_time_is_over() {
    let text = "<Fallback><ApproachAgent agent_id=\"{id}\" target_agent_id=\"2\" duration=\"1\"/>\
                <SaySomething agent_id=\"{id}\" message=\"too far\"/></Fallback>";
    let mut world = world(text, vec![agent(1, [0.0; 2]), agent(2, [30.0, 0.0])], &Robot::default());
    run(&mut world, 0.9);
    assert_eq!(world.speech(0), None);
    run(&mut world, 0.3);
    assert_eq!(world.speech(0), Some("too far"));
}

#[test]
fn a_robot_is_barred_from_ahead() {
    let robot = Robot { position: [4.0, 0.0], yaw: std::f64::consts::PI, ..Robot::default() };
    let text = "<BlockRobot agent_id=\"{id}\" duration=\"60\"/>";
    let mut world = world(text, vec![agent(1, [0.0, 0.5])], &robot);
    run(&mut world, 8.0);
    assert!(gap(world.position(0), [3.0, 0.0]) < 0.4, "{:?}", world.position(0));
    assert!(world.yaw(0).abs() < 0.3, "looks at the robot: {}", world.yaw(0));
    assert!(world.is_reacting(0));
}

#[test]
fn a_follower_walks_behind() {
    let mut leader = agent(2, [3.0, 0.0]);
    leader.goals = vec![[40.0, 0.0]];
    let text = "<FollowAgent agent_id=\"{id}\" target_agent_id=\"2\" duration=\"60\"/>";
    let mut follower = agent(1, [0.0, 2.0]);
    follower.desired_velocity = 1.5;
    let mut world = world(text, vec![follower, leader], &Robot::default());
    run(&mut world, 15.0);
    let (follower, leader) = (world.position(0), world.position(1));
    assert!((0.5..1.6).contains(&(leader[0] - follower[0])), "{follower:?} {leader:?}");
    assert!((follower[1] - leader[1]).abs() < 0.3);
}

#[test]
fn a_conversation_gathers_people_and_lets_them_go() {
    let mut others = vec![agent(2, [4.0, 2.0]), agent(3, [4.0, -2.0])];
    others.iter_mut().for_each(|other| other.goals = vec![[40.0, 0.0]]);
    let mut agents = vec![agent(1, [0.0; 2])];
    agents.extend(others);
    let text = "<Sequence><RunOnce><ConversationFormation main_agent_id=\"{id}\" non_main_agent_ids=\"2, 3, 77\" \
                target_x=\"3\" target_y=\"0\" conversation_duration=\"3\"/></RunOnce>\
                <SaySomething agent_id=\"{id}\" message=\"bye\"/></Sequence>";
    let mut world = world(text, agents, &Robot::default());
    run(&mut world, 6.0);
    for row in 0..3 {
        assert!(gap(world.position(row), [3.0, 0.0]) < 1.2, "{row}: {:?}", world.position(row));
        assert!(world.sees(row, [3.0, 0.0], 5.0, 0.3), "{row} looks to the middle");
    }
    run(&mut world, 10.0);
    assert_eq!(world.speech(0), Some("bye"));
    assert!(world.position(1)[0] > 8.0 && world.position(2)[0] > 8.0, "they went on to their goals");
}

#[test]
fn a_group_walks_together_and_gets_its_groups_back() {
    let mut leader = agent(1, [0.0; 2]);
    leader.goals = vec![[30.0, 0.0]];
    let mut other = agent(2, [0.0, 1.0]);
    (other.goals, other.group_id) = (vec![[-30.0, 0.0]], 5);
    let text = "<Sequence><RunOnce><SetGroupWalk main_agent_id=\"{id}\" non_main_agent_ids=\"2\" duration=\"5\"/></RunOnce>\
                <RegularNav agent_id=\"{id}\"/></Sequence>";
    let mut world = world(text, vec![leader, other], &Robot::default());
    run(&mut world, 4.0);
    assert_eq!((world.group(0), world.group(1)), (0, 0));
    assert!(world.position(0)[0] > 2.0 && world.position(1)[0] > 2.0);
    run(&mut world, 2.0);
    assert_eq!((world.group(0), world.group(1)), (-1, 5));
}

#[test]
fn a_leader_who_is_removed_leaves_nobody_behind() {
    let mut other = agent(2, [0.0, 1.0]);
    other.goals = vec![[-30.0, 0.0]];
    let text = "<ConversationFormation main_agent_id=\"{id}\" non_main_agent_ids=\"2\" target_x=\"0\" target_y=\"0\"/>";
    let mut world = world(text, vec![agent(1, [0.0; 2]), other], &Robot::default());
    run(&mut world, 2.0);
    assert!(world.position(0)[0].abs() < 1.5);
    world.remove(1);
    run(&mut world, 5.0);
    assert!(world.position(0)[0] < -2.0, "{:?}", world.position(0));
}

#[test]
fn a_field_is_followed_cell_by_cell() {
    let data: Vec<f32> = (0..64 * 64 * 2).map(|at| if at % 2 == 0 { 1.0 } else { 0.0 }).collect();
    let field = VelocityField::new(&[1, 64, 64, 2], &data, [-32.0; 2], [64.0; 2]).expect("a field");
    let text = "<FollowVelocityField agent_id=\"{id}\" velocity_field_group_id=\"0\"/>";
    let mut world = world(text, vec![agent(1, [0.0; 2])], &Robot::default());
    run(&mut world, 1.0);
    assert_eq!(world.position(0), [0.0; 2], "without a field");
    world.set_velocity_field(Some(field));
    run(&mut world, 5.0);
    assert!(world.position(0)[0] > 1.0, "{:?}", world.position(0));
}

#[test]
fn stopping_holds_until_resuming() {
    let mut walker = agent(1, [0.0; 2]);
    walker.goals = vec![[30.0, 0.0]];
    let text = "<Sequence><RunOnce><StopMovement agent_id=\"{id}\"/></RunOnce>\
                <RunOnce><TimeDelay duration=\"2\"><ResumeMovement agent_id=\"{id}\"/></TimeDelay></RunOnce>\
                <RegularNav agent_id=\"{id}\"/></Sequence>";
    let mut world = world(text, vec![walker], &Robot::default());
    run(&mut world, 1.0);
    assert_eq!((world.cruise(0), world.position(0)), (0.0, [0.0; 2]));
    run(&mut world, 4.0);
    assert_eq!(world.cruise(0), 1.0);
    assert!(world.position(0)[0] > 1.5);
}

#[test]
fn chances_follow_from_the_seed() {
    let text =
        "<root><BehaviorTree ID=\"T\"><RandomChanceCondition probability=\"0.3\"/></BehaviorTree></root>";
    let draws = |seed: u64| -> Vec<bool> {
        let options = Options { seed, ..Options::default() };
        let program = Library::new(&options).parse(text, Path::new("t.xml")).expect("a tree").value;
        let mut world = World::new(options);
        world.reset(&[agent(1, [0.0; 2])], &Robot::default());
        let mut tree = Tree::new(program, &agent(1, [0.0; 2]));
        (0..1000).map(|_| tree.tick(&mut world, 0, 0.1) == Status::Success).collect()
    };
    assert_eq!(draws(7), draws(7));
    assert_ne!(draws(7), draws(8));
    assert!((250..350).contains(&draws(7).iter().filter(|holds| **holds).count()));
}

#[test]
fn the_page_for_users_names_every_node_and_port() {
    let page = include_str!("../../../docs/hunav-trees.md");
    for spec in NODES {
        assert!(page.contains(&format!("`{}`", spec.id)), "{}", spec.id);
        for port in spec.ports.iter().filter(|port| !matches!(port.name, "goal_id" | "target_x" | "target_y"))
        {
            assert!(page.contains(&format!("`{}`", port.name)), "{}: {}", spec.id, port.name);
        }
    }
}

fn value(takes: PortType) -> BoxedStrategy<String> {
    let numbers = prop_oneof![
        Just("{id}"),
        Just("{dt}"),
        Just("{dist}"),
        Just("{who}"),
        Just("1"),
        Just("2"),
        Just("-3"),
        Just("2147483647"),
        Just("1e300"),
        Just("0"),
        Just("0.25"),
        Just("nan"),
        Just(""),
        Just("{"),
        Just("{}"),
    ];
    match takes {
        PortType::Out => {
            prop_oneof![Just("{who}"), Just("{id}"), Just("{dt}"), Just("who")].prop_map(String::from).boxed()
        }
        PortType::Ids => {
            prop_oneof![Just("1,2;3"), Just("2 2 2"), Just("{who}"), Just("")].prop_map(String::from).boxed()
        }
        PortType::Bool => prop_oneof![Just("true"), Just("0"), Just("{once}")].prop_map(String::from).boxed(),
        _ => numbers.prop_map(String::from).boxed(),
    }
}

fn leaf() -> BoxedStrategy<String> {
    let leaves: Vec<_> =
        NODES.iter().filter(|spec| matches!(spec.kind, NodeKind::Condition | NodeKind::Action)).collect();
    proptest::sample::select(leaves)
        .prop_flat_map(|spec| {
            let values: Vec<_> = spec.ports.iter().map(|port| value(port.takes)).collect();
            values.prop_map(move |values| {
                let ports = spec.ports.iter().zip(values);
                let ports: String =
                    ports.map(|(port, value)| format!(" {}=\"{value}\"", port.name)).collect();
                format!("<{}{ports}/>", spec.id)
            })
        })
        .boxed()
}

fn node() -> impl Strategy<Value = String> {
    leaf().prop_recursive(5, 40, 4, |inner| {
        let controls = ["Sequence", "SequenceWithMemory", "ReactiveSequence", "Fallback", "ReactiveFallback"];
        let decorators = [
            "Inverter",
            "ForceSuccess",
            "KeepRunningUntilFailure",
            "RunOnce",
            "Repeat num_cycles=\"3\"",
            "RetryUntilSuccessful num_attempts=\"-1\"",
            "Timeout msec=\"200\"",
            "Delay delay_msec=\"200\"",
        ];
        prop_oneof![
            (proptest::sample::select(controls.to_vec()), prop::collection::vec(inner.clone(), 0..4))
                .prop_map(|(name, children)| format!("<{name}>{}</{name}>", children.concat())),
            (proptest::sample::select(decorators.to_vec()), inner).prop_map(|(name, child)| {
                let end = name.split(' ').next().unwrap_or_default();
                format!("<{name}>{child}</{end}>")
            }),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn any_tree_is_told_or_ticks(
        root in prop::collection::vec(node(), 1..3),
        strict: bool,
        near in -2.0..2.0f64,
    ) {
        let compat = if strict { Compat::Strict } else { Compat::Robust };
        let options = Options { compat, ..Options::default() };
        let set = "<SetBlackboard value=\"2\" output_key=\"who\"/>";
        let text = format!(
            "<root BTCPP_format=\"4\"><BehaviorTree ID=\"T\"><ForceSuccess><Sequence>{set}{}</Sequence></ForceSuccess>\
             </BehaviorTree></root>",
            root.concat()
        );
        if let Ok(loaded) = Library::new(&options).parse(&text, Path::new("t.xml")) {
            let agents = [agent(1, [0.0; 2]), agent(2, [near, 1.0]), agent(3, [near, near])];
            let mut world = World::new(options);
            world.reset(&agents, &Robot { position: [near, 0.5], ..Robot::default() });
            let mut tree = Tree::new(loaded.value, &agents[0]);
            for _ in 0..20 {
                tree.tick(&mut world, 0, 0.1);
                world.compute(0.1);
            }
            for row in 0..3 {
                prop_assert!(world.position(row).iter().all(|part| part.is_finite()), "{}", text);
                prop_assert!(world.yaw(row).is_finite(), "{}", text);
            }
        }
    }

    #[test]
    fn any_text_is_told(text in "\\PC{0,200}", tags in prop::collection::vec("<(/|)(root|BehaviorTree ID=\"T\"|Sequence|SubTree ID=\"T\"|include path=\"BTRegularNav.xml\")(/|)>", 0..12)) {
        let library = Library::new(&Options::default());
        let _ = library.parse(&text, Path::new("t.xml"));
        let _ = library.parse(&format!("<root>{}</root>", tags.concat()), Path::new("t.xml"));
    }
}
