//! The loop, and an engine that is late, silent, started anew, or says odd things.

use promenade_human::backends::hunav::{Hunav, HunavSettings};
use promenade_human::message::{Pose, animation_state};
use promenade_human::{BackendContext, HumanSimulator as _, ParameterValue};
use promenade_hunav::Agent;

use super::{Answers, Play, one_metre_on, param, people, text};
use crate::stage::{posed, walking};

const TWO: [&str; 2] = [
    "name: ann, pose: [0, 0, 0], waypoints: [[5, 0], [0, 0]], group_id: 3, radius: 0.4, desired_velocity: 1.1, goal_radius: 0.6, behavior: {type: 5, dist: 1.5}",
    "name: bob, pose: [0, 3, 0], waypoints: [[5, 3]], behavior: {}",
];

#[test]
fn an_answer_that_leaves_fields_empty_takes_nothing_away() {
    let mut play = Play::new();
    play.spawn(&people(&TWO)).answers(one_metre_on);
    play.stage.tick_at(10.1);
    let first = play.asked();
    play.stage.tick_at(10.2);
    let second = play.asked();
    for (before, after) in first.iter().zip(&second) {
        let moved = Agent {
            position: [before.position[0] + 1.0, before.position[1]],
            yaw: 0.25,
            velocity: [1.0, 0.0],
            linear_vel: 1.0,
            ..before.clone()
        };
        assert_eq!(*after, moved);
    }
    let stamps: Vec<i64> = play.told.borrow().requests.iter().map(|(stamp, ..)| *stamp).collect();
    assert_eq!(stamps, [10_100_000_000, 10_200_000_000]);
}

#[test]
fn answers_are_matched_by_id_and_shown_under_plain_names() {
    let mut play = Play::new();
    play.spawn(&people(&TWO)).answers(one_metre_on);
    play.stage.tick_at(10.1);
    let seen: Vec<_> = play
        .stage
        .last_frame()
        .into_iter()
        .map(|(ped, _)| (ped.name, ped.id, ped.pose.position, ped.twist.linear, ped.animation_state))
        .collect();
    let walking = animation_state::WALKING;
    assert_eq!(
        seen,
        [
            ("ann".to_owned(), 1, [11.0, -5.0, 0.0], [1.0, 0.0, 0.0], walking),
            ("bob".to_owned(), 2, [11.0, -2.0, 0.0], [1.0, 0.0, 0.0], walking),
        ]
    );
    let log = play.stage.log.borrow();
    assert_eq!(log.updates.last().map(Vec::len), Some(2), "the simulator hears of them too");
}

#[test]
fn a_silent_engine_costs_time_and_no_state() {
    let mut play = Play::new();
    play.spawn(&people(&TWO)).answers(one_metre_on);
    play.stage.tick_at(10.1);
    play.told.borrow_mut().is_silent = true;
    for tick in 2..200 {
        play.stage.tick_at(10.0 + f64::from(tick) * 0.1);
        assert_eq!(play.stage.published("ann").0.pose.position[0], 11.0);
    }
    play.told.borrow_mut().is_silent = false;
    play.stage.tick_at(30.0);
    assert_eq!(play.stage.published("ann").0.pose.position[0], 12.0);
    assert_eq!(play.told.borrow().clears, 1, "before the first call, and never after");
}

#[test]
fn unknown_missing_repeated_and_broken_answers_cost_nobody_else_anything() {
    let mut play = Play::new();
    let mut three = TWO.to_vec();
    three.push("name: cat, pose: [0, 6, 0], waypoints: [[5, 6]]");
    play.spawn(&people(&three)).answers(|agents| {
        let mut said = one_metre_on(agents);
        // cat, bob, ann: cat is nowhere, bob comes twice, ann is missing, and two are nobody's.
        said[0].position[1] = f64::NAN;
        said[2] = Agent { position: [99.0, 99.0], ..said[1].clone() };
        said.push(Agent { id: 77, ..Agent::default() });
        said.push(Agent { id: -1, ..Agent::default() });
        said
    });
    play.stage.tick_at(10.1);
    let x = |name: &str| play.stage.published(name).0.pose.position[0];
    assert_eq!([x("ann"), x("bob"), x("cat")], [10.0, 11.0, 10.0]);
    assert_eq!(play.stage.last_frame().len(), 3);
}

#[test]
fn numbers_that_are_not_finite_stay_with_the_engine() {
    let broken: [Answers; 4] = [
        |agents| vec![Agent { position: [f64::INFINITY, 0.0], ..agents[0].clone() }],
        |agents| vec![Agent { position: [0.0, 1e300], ..agents[0].clone() }],
        |agents| vec![Agent { velocity: [0.0, f64::NAN], ..agents[0].clone() }],
        |agents| vec![Agent { yaw: f64::NAN, ..agents[0].clone() }],
    ];
    for answers in broken {
        let mut play = Play::new();
        play.spawn(&people(&TWO[..1])).answers(answers);
        play.stage.tick_at(10.1);
        let seen = play.stage.published("ann").0;
        assert_eq!((seen.pose, seen.twist), (Pose::planar(10.0, -5.0, 0.0), Default::default()));
    }
}

#[test]
fn an_infinite_turn_rate_and_goals_that_are_nowhere_are_left_out() {
    let mut play = Play::new();
    play.spawn(&people(&TWO[..1])).answers(|agents| {
        let odd = Agent { angular_vel: f64::INFINITY, goals: vec![[f64::NAN, 0.0]], ..agents[0].clone() };
        vec![odd]
    });
    play.stage.tick_at(10.1);
    assert_eq!(play.stage.published("ann").0.twist.angular, [0.0; 3]);
    play.stage.tick_at(10.2);
    assert_eq!(play.asked()[0].goals, [[15.0, -5.0], [10.0, -5.0]]);
}

#[test]
fn somebody_new_means_a_clear_and_everybody_where_they_are_now() {
    let mut play = Play::new();
    play.spawn(&people(&TWO[..1])).answers(one_metre_on);
    play.stage.tick_at(10.1);
    play.stage.tick_at(10.2);
    let clears = play.told.borrow().clears;
    play.spawn(&people(&TWO[1..]));
    play.stage.tick_at(10.3);
    assert_eq!(play.told.borrow().clears, clears + 1);
    let asked = play.asked();
    assert_eq!(
        asked.iter().map(|agent| (agent.id, agent.position[0])).collect::<Vec<_>>(),
        [(1, 12.0), (2, 10.0)]
    );
    assert_eq!((asked[0].group_id, asked[0].radius), (3, 0.4));
}

#[test]
fn a_clear_that_nobody_heard_is_tried_again_before_anything_else() {
    let mut play = Play::new();
    play.told.borrow_mut().is_silent = true;
    play.spawn(&people(&TWO)).answers(one_metre_on);
    play.stage.tick_at(10.1);
    play.stage.tick_at(10.2);
    assert_eq!((play.told.borrow().clears, play.told.borrow().requests.len()), (2, 0));
    play.told.borrow_mut().is_silent = false;
    play.stage.tick_at(10.3);
    assert_eq!((play.told.borrow().clears, play.told.borrow().requests.len()), (3, 1));
}

#[test]
fn nobody_a_pause_and_a_closed_gate_ask_nothing() {
    let mut play = Play::new();
    play.stage.tick_at(10.1);
    assert_eq!(play.stage.last_frame(), [], "a clock may wait for it");
    play.spawn(&people(&TWO)).answers(one_metre_on);
    play.stage.layer.set_paused(true);
    play.stage.tick_at(10.2);
    play.stage.layer.set_paused(false);
    assert!(play.told.borrow().requests.is_empty());
    play.stage.tick_at(10.3);
    assert_eq!(play.told.borrow().requests.len(), 1);
    play.stage.layer.unuse_obstacles();
    let clears = play.told.borrow().clears;
    play.stage.tick_at(10.4);
    assert_eq!((play.told.borrow().requests.len(), clears), (1, 2));
    assert_eq!(play.stage.last_frame(), []);
}

#[test]
fn the_stream_decides_where_a_possessed_person_is() {
    let mut play = Play::new();
    play.spawn(&people(&TWO)).answers(one_metre_on);
    play.stage.tick_at(10.1);
    play.stage.stream_at(10.15, vec![walking("ann", 20.0)]);
    play.stage.tick_at(10.2);
    let asked = play.asked();
    assert_eq!((asked[0].position, asked[0].velocity), ([20.0, 0.0], [1.0, 0.0]));
    assert_eq!(play.stage.published("ann").0.pose.position[0], 20.0);
    assert_eq!(play.stage.published("bob").0.pose.position[0], 12.0);
    // Let go: the engine goes on from there.
    play.stage.stream_at(10.25, vec![]);
    play.stage.tick_at(10.3);
    assert_eq!(play.asked()[0].position, [20.0, 0.0]);
    assert_eq!(play.stage.published("ann").0.pose.position[0], 21.0);
}

#[test]
fn somebody_who_is_moved_goes_on_from_there() {
    let mut play = Play::new();
    play.spawn(&people(&TWO)).answers(one_metre_on);
    play.stage.tick_at(10.1);
    play.stage.layer.on_move(&[("bob".to_owned(), Pose::planar(30.0, 1.0, 0.5))]);
    assert_eq!(play.stage.published("bob").0.pose.position, [30.0, 1.0, 0.0]);
    play.stage.tick_at(10.2);
    let bob = &play.asked()[1];
    assert_eq!((bob.position, bob.velocity), ([30.0, 1.0], [0.0, 0.0]));
    assert!((bob.yaw - 0.5).abs() < 1e-12);
}

#[test]
fn bodies_of_a_stream_reach_the_bus() {
    let mut play = Play::new();
    play.spawn(&people(&TWO)).answers(one_metre_on);
    play.stage.stream_at(10.05, vec![posed("ann", 0.5)]);
    play.stage.tick_at(10.1);
    assert_eq!(play.stage.published("ann").0.joint_state.position, [0.5; 40]);
}

#[test]
fn states_show_who_reacts() {
    let shown = |kind: u8, state: u8, speed: f64, compat: bool| {
        let settings = HunavSettings { animation_compat: compat, ..HunavSettings::default() };
        let mut play = Play::with(settings);
        play.spawn(&people(&[&format!(
            "name: ann, pose: [0, 0, 0], behavior: {{type: {kind}, state: {state}}}"
        )]));
        play.told.borrow_mut().answers = Some(match speed {
            0.0 => |agents| vec![Agent { velocity: [0.7, 0.0], ..agents[0].clone() }],
            1.0 => one_metre_on,
            _ => |agents| vec![Agent { velocity: [2.5, 0.0], ..one_metre_on(agents)[0].clone() }],
        });
        play.stage.tick_at(10.1);
        play.stage.published("ann").0.animation_state
    };
    use animation_state::{CURIOUS, IDLE, PANIC, RUNNING, SURPRISED, THREATENING, WALKING};
    for (kind, state) in [(3, SURPRISED), (4, PANIC), (5, CURIOUS), (6, THREATENING)] {
        assert_eq!(shown(kind, 1, 1.0, false), state);
        assert_eq!(shown(kind, 0, 1.0, false), WALKING);
        assert_eq!(shown(kind, 0, 1.0, true), state, "as at its spawn");
    }
    assert_eq!(shown(1, 1, 1.0, false), WALKING);
    assert_eq!(shown(1, 0, 2.5, false), RUNNING);
    assert_eq!(
        shown(1, 0, 0.0, false),
        IDLE,
        "who did not move does not walk, whatever velocity is repeated"
    );
    assert_eq!([shown(1, 0, 0.0, true), shown(2, 0, 1.0, true)], [WALKING, IDLE]);
}

#[test]
fn smoothing_turns_what_is_shown_and_not_what_is_sent() {
    let mut play = Play::with(HunavSettings { yaw_smoothing: 0.15, ..HunavSettings::default() });
    play.spawn(&people(&["name: ann, pose: [0, 0, 1.0]"])).answers(one_metre_on);
    play.stage.tick_at(10.1);
    assert!(
        (play.stage.published("ann").0.pose.yaw() - 0.85).abs() < 1e-12,
        "15 % of the way to the motion's 0"
    );
    play.stage.tick_at(10.2);
    assert_eq!(play.asked()[0].yaw, 0.25);
}

#[test]
fn parameters_of_an_episode_change_what_an_engine_elsewhere_cannot_refuse() {
    let mut play = Play::new();
    play.spawn(&people(&["name: ann, pose: [0, 0, 0]"])).answers(one_metre_on);
    let asked = [
        param("compat", text("strict")),
        param("missing_behavior", text("template")),
        param("obstacle_max", ParameterValue::Int(-4)),
        param("timeout", ParameterValue::Double(3.0)),
        param("no_such", ParameterValue::Double(3.0)),
    ];
    let names = |accepted: Vec<promenade_human::Parameter>| -> Vec<String> {
        accepted.into_iter().map(|param| param.name).collect()
    };
    assert_eq!(names(play.stage.layer.configure(&asked)), ["hunav.missing_behavior"]);
    play.stage.tick_at(10.1);
    assert_eq!(play.asked()[0].behavior.obstacle_force_factor, 20.0);
    // The next episode has none.
    assert_eq!(names(play.stage.layer.configure(&[])), [""; 0]);
    play.stage.tick_at(10.2);
    assert_eq!(play.asked()[0].behavior.obstacle_force_factor, 0.0);
}

#[test]
fn a_clock_waits_for_the_roster() {
    let backend = Hunav::new(BackendContext::default());
    let channels = backend.lockstep_channels();
    assert_eq!(channels.len(), 1);
    assert_eq!((channels[0].name.as_str(), channels[0].topic.as_str()), ("roster", "arena_peds"));
    assert_eq!((channels[0].period_s, channels[0].hard, backend.rate_hz()), (0.15, true, 10.0));
}
