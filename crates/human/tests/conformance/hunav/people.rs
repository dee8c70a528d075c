//! What people of files are to an engine (HuNav specification, section 4.4).

use promenade_human::backends::hunav::HunavSettings;
use promenade_human::entity::DynamicObstacle;
use promenade_hunav::configure::MissingBehavior;
use promenade_hunav::{Agent, Behavior, BehaviorKind, Configuration, Kind};

use super::{Play, one_metre_on, people};
use crate::stage::person;

fn sent_with(settings: HunavSettings, seed: u64, entries: &[&str]) -> Vec<Agent> {
    let mut play = Play::with(settings);
    play.stage.layer.set_seed(seed);
    play.spawn(&people(entries)).answers(one_metre_on);
    play.stage.tick_at(10.1);
    play.asked()
}

fn sent(entry: &str) -> Agent {
    sent_with(HunavSettings::default(), 0, &[entry]).remove(0)
}

#[test]
fn somebody_of_whom_nothing_is_said_is_as_the_template_and_stands() {
    let expected = Agent {
        id: 1,
        name: "ann".to_owned(),
        position: [11.0, -3.0],
        z: 1.25,
        yaw: 0.5,
        desired_velocity: 0.8,
        radius: 0.3,
        goal_radius: 2.0,
        cyclic_goals: true,
        behavior_tree: "BTRegularNav.xml".to_owned(),
        behavior: Behavior {
            goal_force_factor: 5.0,
            obstacle_force_factor: 0.0,
            social_force_factor: 0.0,
            other_force_factor: 0.0,
            ..Behavior::default()
        },
        ..Agent::default()
    };
    assert_eq!(sent("name: ann, pose: [1, 2, 0.5]"), expected);
}

#[test]
fn what_an_entry_says_is_forwarded_as_written() {
    let agent = sent(
        "name: ann, pose: [0, 0, 0], waypoints: [[9, 9]], position: {x: 1, y: 2, z: 0.5, h: 0.7}, \
         desired_velocity: 1.3, linear_vel: 0.2, angular_vel: -0.1, goals: [a, b], a: {x: 3, y: 4}, \
         b: {x: 5, y: 6, z: 1}, behavior_tree: ./wary.xml, cyclic_goals: false, goal_radius: 0.4, id: 7, type: 3, \
         skin: 2, group_id: 4, radius: 0.45, behavior: {type: Scared, configuration: 0, duration: 12, once: false, \
         vel: 0.6, dist: 3.5, social_force_factor: 1, goal_force_factor: 2.5, obstacle_force_factor: 3, other_force_factor: 40}",
    );
    let expected = Agent {
        id: 7,
        kind: Kind::Other,
        skin: 2,
        name: "ann".to_owned(),
        group_id: 4,
        position: [11.0, -3.0],
        z: 0.5,
        yaw: 0.7,
        desired_velocity: 1.3,
        radius: 0.45,
        linear_vel: 0.2,
        angular_vel: -0.1,
        behavior: Behavior {
            kind: BehaviorKind::Scared,
            state: 0,
            configuration: Configuration::Default,
            duration: 12.0,
            once: false,
            vel: 0.6,
            dist: 3.5,
            social_force_factor: 1.0,
            goal_force_factor: 2.5,
            obstacle_force_factor: 3.0,
            other_force_factor: 40.0,
        },
        behavior_tree: "/scenes/wary.xml".to_owned(),
        goals: vec![[13.0, -1.0], [15.0, 1.0]],
        cyclic_goals: false,
        goal_radius: 0.4,
        ..Agent::default()
    };
    assert_eq!(agent, expected);
}

#[test]
fn a_missing_behaviour_is_the_templates_when_that_is_asked_for() {
    let settings = HunavSettings { missing_behavior: MissingBehavior::Template, ..HunavSettings::default() };
    let agents = sent_with(settings, 0, &["name: ann, pose: [0, 0, 0]"]);
    let Behavior {
        goal_force_factor, obstacle_force_factor, social_force_factor, other_force_factor, ..
    } = agents[0].behavior;
    let factors = [goal_force_factor, obstacle_force_factor, social_force_factor, other_force_factor];
    assert_eq!(factors, [5.0, 20.0, 20.0, 20.0]);
}

#[test]
fn the_speed_is_the_entrys_then_the_scenarios_then_the_templates() {
    let speed = |keys: &str| sent(&format!("name: ann, pose: [0, 0, 0], {keys}")).desired_velocity;
    assert_eq!(speed("velocity: 1.2, desired_velocity: 0.5"), 0.5);
    assert_eq!(speed("velocity: 1.2"), 1.2);
    assert_eq!(speed("skin: 1"), 0.8);
    // Somebody whom a service spawns has no entry.
    let mut play = Play::new();
    let bob = DynamicObstacle { velocity: 0.9, waypoints: vec![[3.0, 3.0]], ..person("bob") };
    play.spawn(&[bob]).answers(one_metre_on);
    play.stage.tick_at(10.1);
    assert_eq!((play.asked()[0].desired_velocity, play.asked()[0].goals.clone()), (0.9, vec![[3.0, 3.0]]));
}

#[test]
fn the_radius_of_an_agent_type_counts_when_there_is_no_other() {
    let radius = |keys: &str| sent(&format!("name: ann, pose: [0, 0, 0], {keys}")).radius;
    assert_eq!(radius("agent: {radius: 0.5}"), 0.5);
    assert_eq!(radius("agent: {radius: 0.5}, radius: 0.2"), 0.2);
    assert_eq!(radius("agent: adult"), 0.3);
}

#[test]
fn ways_are_goals_in_their_mode() {
    let way = |keys: &str| {
        let agent = sent(&format!("name: ann, pose: [0, 0, 0], waypoints: [[0, 0], [1, 0], [2, 0]], {keys}"));
        let goals: Vec<i32> = agent.goals.iter().map(|goal| goal[0] as i32 - 10).collect();
        (goals, agent.cyclic_goals)
    };
    assert_eq!(way("skin: 0"), (vec![0, 1, 2], true));
    assert_eq!(way("waypoint_mode: once"), (vec![0, 1, 2], false));
    assert_eq!(way("waypoint_mode: once, cyclic_goals: true"), (vec![0, 1, 2], true));
    assert_eq!(way("waypoint_mode: reverse"), (vec![0, 1, 2, 1], true));
    let (mut random, cyclic) = way("waypoint_mode: random");
    assert_eq!(way("waypoint_mode: random"), (random.clone(), cyclic), "drawn from the seed");
    random.sort_unstable();
    assert_eq!((random, cyclic), (vec![0, 1, 2], true));
}

#[test]
fn ids_count_from_one_around_those_that_are_asked_for() {
    let ids = |entries: &[&str]| -> Vec<i32> {
        sent_with(HunavSettings::default(), 0, entries).iter().map(|agent| agent.id).collect()
    };
    assert_eq!(
        ids(&[
            "name: a, pose: [0, 0, 0]",
            "name: b, pose: [1, 0, 0], id: 1",
            "name: c, pose: [2, 0, 0], id: 1"
        ]),
        [2, 1, 3]
    );
    assert_eq!(
        ids(&["name: a, pose: [0, 0, 0], id: 0", "name: b, pose: [1, 0, 0], id: -3"]),
        [1, 2],
        "0 is the robot's"
    );
}

#[test]
fn draws_follow_from_the_episode_and_are_left_to_modes_that_ask_for_them() {
    let entry = ["name: ann, pose: [0, 0, 0], behavior: {configuration: 3, social_force_factor: 1}"];
    let social = |seed| sent_with(HunavSettings::default(), seed, &entry)[0].behavior.social_force_factor;
    assert_eq!(social(5), social(5));
    assert_ne!(social(5), social(6));
    assert!((4.0..=20.0).contains(&social(5)));
}

#[test]
fn a_key_that_is_wrong_counts_as_not_said() {
    let agent = sent(
        "name: ann, pose: [0, 0, 0], goals: [a, nowhere], a: {x: 3, y: 4}, radius: -1, group_id: 900, id: x, \
         behavior: {type: 9, vel: 1.5, sped: 3}, cyclic_goals: 3, position: {x: 1}",
    );
    assert_eq!((agent.goals, agent.radius, agent.group_id, agent.id), (vec![[13.0, -1.0]], 0.3, -1, 1));
    assert_eq!((agent.behavior.kind, agent.behavior.vel), (BehaviorKind::Regular, 1.5));
    assert_eq!((agent.position, agent.cyclic_goals), ([10.0, -5.0], true));
}

#[test]
fn somebody_begins_where_the_entry_says_for_the_simulator_too() {
    let mut play = Play::new();
    play.spawn(&people(&["name: ann, pose: [0, 0, 0], position: {x: 4, y: 4}"]));
    assert_eq!(play.stage.log.borrow().spawned_at, [[14.0, -1.0, 0.0]]);
}
