//! From frames to the bus: interpolation, names, types, gestures, and frames that nobody should send.

use promenade_crowd::protocol::{AgentFrame, AgentGestures, Gesture};
use promenade_kernel::Time;
use proptest::prelude::*;

use super::{Play, Say, frame, meta, nanos};

#[test]
fn poses_between_two_frames_are_interpolated_and_the_stamp_is_the_time_they_are_for() {
    let mut play = Play::with_people(&["ann"]);
    play.say_frame(10.0, &[(1, 1.0, 2.0, 3.0)]);
    play.say_frame(10.05, &[(1, 2.0, 4.0, -3.0)]);
    play.tick(10.02);
    let (ped, _) = play.stage.published("env_0/ann");
    assert!((ped.pose.position[0] - 11.4).abs() < 1e-9 && (ped.pose.position[1] + 2.2).abs() < 1e-9);
    // 3.0 and -3.0 are 0.283 rad apart across pi.
    let turned = 3.0 + 0.4 * (std::f64::consts::TAU - 6.0);
    assert!((ped.pose.yaw().rem_euclid(std::f64::consts::TAU) - turned).abs() < 1e-9, "{}", ped.pose.yaw());
    assert_eq!(ped.pose.position[2], 0.0);
    let stamps: Vec<Time> = play.stage.log.borrow().frames.iter().map(|(stamp, _)| *stamp).collect();
    assert_eq!(stamps, [Time::from_secs_f64(10.02)]);
}

#[test]
fn a_time_outside_of_two_frames_is_that_of_the_nearer_one() {
    let mut play = Play::with_people(&["ann"]);
    play.say_frame(10.0, &[(1, 1.0, 0.0, 0.0)]);
    play.say_frame(10.05, &[(1, 2.0, 0.0, 0.0)]);
    for (at, x, stamp) in [(9.9, 11.0, 10.0), (10.5, 12.0, 10.05)] {
        play.tick(at);
        assert_eq!(play.places()[0].1[0], x);
        let stamped = play.stage.log.borrow().frames.last().map(|(stamp, _)| stamp.nanos());
        assert_eq!(stamped, Some(nanos(stamp)));
    }
}

#[test]
fn one_frame_or_a_stamp_that_goes_back_is_shown_as_it_is() {
    let mut play = Play::with_people(&["ann"]);
    play.say_frame(10.0, &[(1, 1.0, 0.0, 0.0)]);
    play.tick(10.0);
    assert_eq!(play.places()[0].1, [11.0, -5.0]);
    play.say_frame(9.0, &[(1, 5.0, 0.0, 0.0)]);
    play.tick(10.02);
    assert_eq!(play.places()[0].1, [15.0, -5.0]);
    play.say_frame(9.0, &[(1, 6.0, 0.0, 0.0)]);
    play.tick(10.04);
    assert_eq!(play.places()[0].1, [16.0, -5.0], "no time between two frames");
}

#[test]
fn who_is_new_in_a_frame_is_where_it_says_and_the_others_keep_moving() {
    let mut play = Play::with_people(&["ann", "bob"]);
    play.say_frame(10.0, &[(2, 0.0, 0.0, 0.0)]);
    play.say_frame(10.1, &[(1, 8.0, 0.0, 0.0), (2, 1.0, 0.0, 0.0)]);
    play.tick(10.05);
    let places = play.places();
    assert_eq!(places[0], ("env_0/ann".to_owned(), [18.0, -5.0]));
    assert!((places[1].1[0] - 10.5).abs() < 1e-9);
}

#[test]
fn gait_phase_is_interpolated_only_when_both_frames_carry_it() {
    let mut play = Play::with_people(&["ann", "bob"]);
    let agents = [(1, 0.0, 0.0, 0.0), (2, 0.0, 0.0, 0.0)];
    let mut earlier = frame(10.0, &agents);
    earlier.gait_phase = vec![2.0, 0.0];
    let mut later = frame(10.1, &agents);
    later.gait_phase = vec![3.0, 3.0];
    later.gait_cadence = vec![0.9, f64::INFINITY];
    play.say(Say::Frame(Box::new(earlier)));
    play.say(Say::Frame(Box::new(later)));
    play.tick(10.05);
    let (ann, bob) = (play.stage.published("env_0/ann").0, play.stage.published("env_0/bob").0);
    assert!((ann.gait_phase - 2.5).abs() < 1e-6);
    assert!((bob.gait_phase - 3.0).abs() < 1e-6);
    assert_eq!((ann.gait_cadence, bob.gait_cadence), (0.9, 0.0));
}

#[test]
fn optional_arrays_of_another_length_count_as_absent() {
    let mut play = Play::with_people(&["ann"]);
    let mut odd = frame(10.0, &[(1, 0.0, 0.0, 0.0)]);
    odd.animation_state = vec![];
    odd.gait_cadence = vec![1.0, 2.0];
    odd.gait_phase = vec![1.0, 2.0];
    play.say(Say::Frame(Box::new(odd)));
    play.tick(10.0);
    let (ped, joints) = play.stage.published("env_0/ann");
    assert_eq!((ped.animation_state, ped.gait_cadence), (0, 0.0));
    assert!(joints.is_some(), "the layer makes up a phase of its own");
}

#[test]
fn a_name_is_the_sim_path_from_the_first_moment_and_a_type_is_what_the_engine_reports() {
    let mut play = Play::with_people(&["ann"]);
    play.say_frame(10.0, &[(1, 0.0, 0.0, 0.0), (9, 0.0, 0.0, 0.0)]);
    play.tick(10.0);
    let people = play.stage.last_frame();
    assert_eq!((&*people[0].0.name, people[0].0.id), ("env_0/ann", 1));
    assert_eq!((&*people[1].0.name, people[1].0.id), ("env_0/flow_9", 9));
    play.say(Say::Meta(meta(&[(1, "env_0/ann", "elder"), (9, "", "child")])));
    play.tick(10.02);
    let types: Vec<_> = play.stage.last_frame().into_iter().map(|(ped, _)| ped.agent_type).collect();
    assert_eq!(types, ["elder", "child"]);
}

#[test]
fn metadata_of_another_length_counts_as_empty() {
    let mut play = Play::with_people(&["ann"]);
    play.say_frame(10.0, &[(1, 0.0, 0.0, 0.0)]);
    play.say(Say::Meta(meta(&[(1, "env_0/ann", "elder")])));
    play.tick(10.0);
    assert_eq!(play.stage.published("env_0/ann").0.agent_type, "elder");
    let mut odd = meta(&[(1, "env_0/ann", "child")]);
    odd.agent_type.push("child".to_owned());
    play.say(Say::Meta(odd));
    play.tick(10.02);
    assert_eq!(play.stage.published("env_0/ann").0.agent_type, "");
}

fn gesture(slot: &str, at: [f64; 3], draws: bool) -> Gesture {
    Gesture {
        slot: slot.to_owned(),
        at,
        clip: String::new(),
        hand: "l".to_owned(),
        render_pose_override: draws,
    }
}

#[test]
fn gestures_are_grouped_by_owner_shifted_and_replaced_as_a_whole() {
    let mut play = Play::with_people(&["ann", "bob"]);
    play.say_frame(10.0, &[(1, 0.0, 0.0, 0.0), (2, 0.0, 0.0, 0.0)]);
    play.say(Say::Gestures(AgentGestures {
        stamp_ns: 0,
        agent_id: vec![2, 1, 2],
        gestures: vec![
            gesture("head", [1.0, 2.0, 1.5], false),
            gesture("arm", [3.0, 4.0, 1.0], false),
            gesture("arm_l", [f64::NAN, 0.0, 0.0], false),
        ],
    }));
    play.tick(10.0);
    let (ann, bob) = (play.stage.published("env_0/ann").0, play.stage.published("env_0/bob").0);
    assert_eq!((ann.gestures.len(), &*ann.gestures[0].slot, &*ann.gestures[0].hand), (1, "arm", "l"));
    assert_eq!(ann.gestures[0].at, [13.0, -1.0, 1.0]);
    assert_eq!(bob.gestures.len(), 1, "a target that is none is left out");
    assert_eq!(bob.gestures[0].at, [11.0, -3.0, 1.5]);
    play.say(Say::Gestures(AgentGestures::default()));
    play.tick(10.02);
    assert!(play.stage.last_frame().iter().all(|(ped, _)| ped.gestures.is_empty()));
}

#[test]
fn a_body_gesture_may_say_where_to_draw_the_body() {
    let mut play = Play::with_people(&["ann", "bob"]);
    play.say_frame(10.0, &[(1, 0.0, 0.0, 0.0), (2, 0.0, 0.0, 0.0)]);
    play.say(Say::Gestures(AgentGestures {
        stamp_ns: 0,
        agent_id: vec![1, 2],
        gestures: vec![gesture("body", [4.0, 1.0, 0.4], true), gesture("head", [4.0, 1.0, 0.4], true)],
    }));
    play.tick(10.0);
    assert_eq!(play.stage.published("env_0/ann").0.pose.position, [14.0, -4.0, 0.0]);
    assert_eq!(play.stage.published("env_0/bob").0.pose.position, [10.0, -5.0, 0.0], "heads draw nobody");
}

#[test]
fn the_loop_publishes_and_relays_everybody_fifty_times_a_second_and_each_frame_is_one_more() {
    let mut play = Play::with_people(&["ann"]);
    play.tick(10.0);
    assert_eq!(play.frames(), 0, "nothing is known yet");
    play.say_frame(10.0, &[(1, 0.0, 0.0, 0.0)]);
    assert_eq!(play.stage.layer.rate_hz(), 50.0);
    for beat in 1..=5 {
        play.tick(10.0 + 0.02 * f64::from(beat));
    }
    assert_eq!(play.frames(), 5);
    assert_eq!(play.stage.log.borrow().updates.len(), 5);
    play.stage.at(10.11);
    play.stage.layer.on_engine();
    assert_eq!(play.frames(), 5, "nothing came");
    play.say_frame(10.05, &[(1, 1.0, 0.0, 0.0)]);
    play.say_frame(10.10, &[(1, 2.0, 0.0, 0.0)]);
    play.stage.layer.on_engine();
    assert_eq!(play.frames(), 6, "a burst is published once");
    assert_eq!(play.stage.log.borrow().updates.len(), 5, "only the loop talks to the simulator");
}

#[test]
fn a_paused_backend_says_nothing_until_it_goes_on() {
    let mut play = Play::with_people(&["ann"]);
    play.say_frame(10.0, &[(1, 0.0, 0.0, 0.0)]);
    play.stage.layer.set_paused(true);
    play.stage.at(10.0);
    play.stage.layer.tick();
    play.stage.layer.on_engine();
    assert_eq!(play.frames(), 0);
    play.stage.layer.set_paused(false);
    play.stage.layer.tick();
    assert_eq!(play.frames(), 1);
}

#[test]
fn frames_whose_arrays_do_not_fit_are_dropped_and_bad_rows_are_left_out() {
    let mut play = Play::with_people(&["ann", "bob", "cid"]);
    let good = [(1, 1.0, 0.0, 0.0), (2, 2.0, 0.0, 0.0), (3, 3.0, 0.0, 0.0)];
    play.say_frame(10.0, &good);
    let mut short = frame(10.05, &good);
    short.vy.pop();
    play.say(Say::Frame(Box::new(short)));
    play.tick(10.05);
    assert_eq!(play.places().len(), 3, "the one before stays");
    play.say_frame(
        10.1,
        &[(1, f64::NAN, 0.0, 0.0), (2, 2.5, 0.0, 0.0), (2, 9.0, 0.0, 0.0), (3, 3.0, 0.0, f64::INFINITY)],
    );
    play.tick(10.1);
    assert_eq!(play.places(), [("env_0/bob".to_owned(), [12.5, -5.0])]);
    play.say_frame(10.15, &good);
    play.tick(10.15);
    assert_eq!(play.places().len(), 3);
}

proptest! {
    #[test]
    fn no_sequence_of_frames_is_a_panic_and_nobody_is_published_twice(
        frames in prop::collection::vec(
            (any::<i64>(), prop::collection::vec((-3..6_i32, any::<f64>(), any::<f64>()), 0..6), 0..4_usize),
            1..6,
        ),
        now in 0.0..20.0_f64,
    ) {
        let mut play = Play::with_people(&["ann", "bob"]);
        for (stamp, agents, cut) in frames {
            let agents: Vec<_> = agents.into_iter().map(|(id, x, theta)| (id, x, 0.0, theta)).collect();
            let mut said = AgentFrame { stamp_ns: stamp, ..frame(0.0, &agents) };
            match cut {
                1 => { said.x.pop(); }
                2 => said.gait_phase.push(1.0),
                _ => {}
            }
            play.say(Say::Frame(Box::new(said)));
            play.stage.at(now);
            play.stage.layer.tick();
            let mut ids: Vec<u32> = match play.frames() {
                0 => Vec::new(),
                _ => play.stage.last_frame().iter().map(|(ped, _)| ped.id).collect(),
            };
            let count = ids.len();
            ids.sort_unstable();
            ids.dedup();
            prop_assert_eq!(ids.len(), count);
            if count > 0 {
                prop_assert!(play.stage.last_frame().iter().all(|(ped, _)| ped.pose.is_finite()));
            }
        }
    }
}
