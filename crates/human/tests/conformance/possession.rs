//! The possession, move and joint items of the conformance checklist (human-layer specification, sections 7, 29 and 30).

use crate::stage::{Stage, batch, person, posed, walking};
use promenade_gait::Joint;
use promenade_human::message::{Gesture, Pedestrian, Pose, animation_state};
use promenade_human::{MoveResult, StreamStats};
use promenade_kernel::Time;

fn stats(stage: &Stage) -> StreamStats {
    stage.layer.cx().stream_stats()
}

#[test]
fn claim_renew_omit_releases_at_once() {
    let mut stage = Stage::with_people(&["ann", "bob"]);
    stage.stream_at(10.0, vec![walking("ann", 4.0), walking("bob", 5.0)]);
    assert_eq!(stage.possessed(), ["env_0/ann", "env_0/bob"]);
    stage.stream_at(10.05, vec![walking("ann", 4.1)]);
    assert_eq!(stage.possessed(), ["env_0/ann"]);
    assert_eq!(stage.published("env_0/ann").0.pose.position[0], 4.1);
    let bob = stage.published("env_0/bob").0;
    assert_eq!(bob.pose.position[0], 5.0, "a released person stays where the stream left them");
    assert_eq!(bob.animation_state, animation_state::IDLE);
    assert_eq!(stats(&stage).released, 1);
}

#[test]
fn an_empty_batch_releases_all() {
    let mut stage = Stage::with_people(&["ann", "bob"]);
    stage.stream_at(10.0, vec![walking("ann", 4.0), walking("bob", 5.0)]);
    stage.stream_at(10.05, vec![]);
    assert!(stage.possessed().is_empty());
    assert_eq!(stats(&stage).released, 2);
}

#[test]
fn a_claim_lives_exactly_one_second() {
    let mut stage = Stage::with_people(&["ann"]);
    stage.stream_at(10.0, vec![walking("ann", 4.0)]);
    stage.tick_at(11.0);
    assert_eq!(stage.possessed(), ["env_0/ann"]);
    assert_eq!(stage.published("env_0/ann").0.animation_state, animation_state::WALKING);
    stage.at(11.001);
    assert!(stage.possessed().is_empty(), "accessors filter what has expired");
    assert_eq!(stats(&stage).timed_out, 0, "but only a funnel releases");
    stage.tick_at(11.001);
    assert_eq!(stats(&stage).timed_out, 1);
    assert_eq!(stage.published("env_0/ann").0.pose.position[0], 4.0);
    assert_eq!(stage.published("env_0/ann").0.animation_state, animation_state::IDLE);
}

#[test]
fn a_paused_clock_never_expires_anything() {
    let mut stage = Stage::with_people(&["ann"]);
    stage.stream_at(10.0, vec![walking("ann", 4.0)]);
    for _ in 0..1000 {
        stage.tick_at(10.5);
    }
    assert_eq!(stage.possessed(), ["env_0/ann"]);
}

#[test]
fn a_clock_that_jumps_back_keeps_the_claim_until_the_gate_closes() {
    let mut stage = Stage::with_people(&["ann"]);
    stage.stream_at(10.5, vec![walking("ann", 4.0)]);
    stage.tick_at(3.0);
    assert_eq!(stage.possessed(), ["env_0/ann"]);
    stage.layer.unuse_obstacles();
    assert!(stage.possessed().is_empty());
}

#[test]
fn a_closed_gate_drops_silently() {
    let mut stage = Stage::with_people(&["ann"]);
    stage.layer.unuse_obstacles();
    let frames = stage.log.borrow().frames.len();
    stage.stream_at(10.5, vec![walking("ann", 4.0)]);
    assert_eq!(stats(&stage), StreamStats { gate_closed: 1, ..StreamStats::default() });
    assert_eq!(stage.log.borrow().frames.len(), frames);
    assert!(stage.log.borrow().updates.is_empty());
}

#[test]
fn a_stale_stamp_drops_the_batch_with_one_warning_per_gate_period() {
    let mut stage = Stage::with_people(&["ann"]);
    for _ in 0..3 {
        stage.at(10.5);
        stage.layer.on_stream(&batch(9.999, vec![walking("ann", 4.0)]));
    }
    assert_eq!((stats(&stage).stale, stats(&stage).warnings), (3, 1));
    stage.layer.on_stream(&batch(0.0, vec![walking("ann", 4.0)]));
    assert_eq!(stats(&stage).stale, 4, "a zero stamp is older than the gate");
    assert!(stage.possessed().is_empty());
    stage.layer.on_stream(&batch(10.0, vec![walking("ann", 4.0)]));
    assert_eq!(stage.possessed(), ["env_0/ann"], "a stamp equal to the gate's is accepted");
}

#[test]
fn a_reopened_gate_accepts_only_newer_stamps() {
    let mut stage = Stage::with_people(&["ann"]);
    stage.stream_at(10.0, vec![walking("ann", 4.0)]);
    stage.layer.unuse_obstacles();
    stage.at(20.0);
    stage.layer.spawn_pedestrians(&[person("ann")]);
    stage.layer.on_stream(&batch(19.9, vec![walking("ann", 4.0)]));
    assert!(stage.possessed().is_empty());
    assert_eq!(stats(&stage).stale, 1);
    stage.stream_at(20.0, vec![walking("ann", 4.0)]);
    assert_eq!(stage.possessed(), ["env_0/ann"]);
}

#[test]
fn an_empty_episode_opens_the_gate() {
    let mut stage = Stage::with_people(&[]);
    stage.stream_at(10.0, vec![walking("ann", 4.0)]);
    assert_eq!((stats(&stage).gate_closed, stats(&stage).unknown), (0, 1));
}

#[test]
fn unknown_names_suffixed_joints_and_mismatched_lengths_drop_that_entry_only() {
    let mut stage = Stage::with_people(&["ann", "bob", "cyd", "dan"]);
    let mut suffixed = posed("bob", 0.1);
    suffixed.joint_state.name[0] = "r_waist_env_0_agent_7".to_owned();
    let mut short = posed("cyd", 0.1);
    short.joint_state.position.pop();
    let mut wheel = walking("dan", 0.0);
    wheel.joint_state.name = vec!["l_wheel".to_owned()];
    wheel.joint_state.position = vec![1.0];
    for _ in 0..2 {
        stage.stream_at(
            10.0,
            vec![walking("ghost", 1.0), suffixed.clone(), short.clone(), wheel.clone(), walking("ann", 4.0)],
        );
    }
    assert_eq!(stage.possessed(), ["env_0/ann"]);
    let stats = stats(&stage);
    assert_eq!((stats.unknown, stats.bad_joints, stats.accepted), (2, 6, 2));
    assert_eq!(stats.warnings, 4, "one warning per name");
}

#[test]
fn an_entry_that_is_present_but_invalid_neither_renews_nor_releases() {
    let mut stage = Stage::with_people(&["ann"]);
    stage.stream_at(10.0, vec![walking("ann", 4.0)]);
    let mut broken = posed("ann", 0.1);
    broken.joint_state.position.clear();
    stage.stream_at(10.6, vec![broken.clone()]);
    assert_eq!(stage.possessed(), ["env_0/ann"]);
    stage.stream_at(11.1, vec![broken]);
    assert!(stage.possessed().is_empty());
    assert_eq!((stats(&stage).released, stats(&stage).timed_out), (0, 1));
}

#[test]
fn not_finite_numbers_drop_that_entry_only() {
    let mut stage = Stage::with_people(&["ann", "bob", "cyd", "dan"]);
    let mut nan_pose = walking("ann", f64::NAN);
    nan_pose.twist.linear[1] = 0.0;
    let mut infinite_twist = walking("bob", 0.0);
    infinite_twist.twist.angular[2] = f64::INFINITY;
    let nan_joints = posed("cyd", f64::NAN);
    stage.stream_at(10.0, vec![nan_pose, infinite_twist, nan_joints, walking("dan", 2.0)]);
    assert_eq!(stage.possessed(), ["env_0/dan"]);
    assert_eq!(stats(&stage).not_finite, 3);
}

#[test]
fn out_of_limit_positions_pass_unchanged_and_upstream_joints_stay_byte_identical() {
    let mut stage = Stage::with_people(&["ann"]);
    let mut entry = posed("ann", 99.5);
    entry.joint_state.velocity = vec![0.25; 40];
    entry.joint_state.effort = vec![1.0; 3];
    entry.joint_state.stamp = Time::from_secs_f64(7.0);
    entry.joint_state.frame_id = "made_by_me".to_owned();
    stage.stream_at(10.0, vec![entry.clone()]);
    let (published, synthesised) = stage.published("env_0/ann");
    assert_eq!(published.joint_state, entry.joint_state);
    assert!(synthesised.is_none());
}

#[test]
fn model_uri_id_and_phase_are_the_layers_own() {
    let mut stage = Stage::with_people(&["ann"]);
    stage.tick_at(10.0);
    let before = stage.published("env_0/ann").0;
    let mut entry = walking("ann", 4.0);
    entry.model_uri = "/etc/passwd".to_owned();
    entry.id = 4242;
    entry.gait_phase = 77.0;
    stage.stream_at(10.05, vec![entry]);
    let published = stage.published("env_0/ann").0;
    assert_eq!(published.model_uri, "/models/adult/model.sdf");
    assert_eq!(published.id, before.id);
    assert!(published.gait_phase != 77.0 && published.gait_phase > before.gait_phase);
    let relayed = stage.log.borrow().updates.last().expect("relayed")[0].clone();
    assert_eq!((relayed.id, relayed.model_uri.as_str()), (before.id, ""));
}

#[test]
fn the_simulator_gets_the_stamp_of_the_batch() {
    let mut stage = Stage::with_people(&["ann"]);
    stage.at(10.5);
    stage.layer.on_stream(&batch(10.25, vec![walking("ann", 4.0)]));
    assert_eq!(stage.log.borrow().update_stamps, [Time::from_secs_f64(10.25)]);
}

#[test]
fn a_possessed_person_without_joints_keeps_walking() {
    let mut stage = Stage::with_people(&["ann"]);
    let mut phases = Vec::new();
    for k in 0..10 {
        stage.stream_at(10.0 + 0.05 * f64::from(k), vec![walking("ann", 4.0)]);
        phases.push(stage.published("env_0/ann").0.gait_phase);
    }
    assert!(phases.windows(2).all(|pair| pair[1] > pair[0]), "{phases:?}");
}

#[test]
fn the_first_step_after_a_long_override_is_a_short_one() {
    let mut stage = Stage::with_people(&["ann"]);
    stage.tick_at(10.0);
    stage.stream_at(10.1, vec![posed("ann", 0.1)]);
    let held = stage.published("env_0/ann").0.gait_phase;
    for k in 1..600 {
        stage.stream_at(10.1 + f64::from(k), vec![posed("ann", 0.1)]);
    }
    stage.stream_at(700.0, vec![]);
    let after = stage.published("env_0/ann").0.gait_phase;
    let idle_step = (std::f64::consts::TAU * 0.25 * 0.05) as f32;
    assert!((after - held - idle_step).abs() < 1e-5, "stepped by {}", after - held);
}

#[test]
fn either_spelling_claims_and_the_bus_spelling_is_published() {
    let mut stage = Stage::with_people(&["ann", "bob"]);
    stage.stream_at(10.0, vec![walking("ann", 4.0), walking("env_0/bob", 5.0)]);
    assert_eq!(stage.published("env_0/ann").0.pose.position[0], 4.0);
    assert_eq!(stage.published("env_0/bob").0.pose.position[0], 5.0);
    stage.stream_at(10.1, vec![walking("env_0/ann", 4.5), walking("bob", 5.5)]);
    assert_eq!(stats(&stage).released, 0, "the other spelling renews the same claim");
    let relayed = stage.log.borrow().updates.last().expect("relayed").clone();
    assert_eq!(relayed.iter().map(|p| p.name.as_str()).collect::<Vec<_>>(), ["env_0/ann", "env_0/bob"]);
}

#[test]
fn a_name_repeated_in_a_batch_counts_once_and_the_last_entry_wins() {
    let mut stage = Stage::with_people(&["ann"]);
    stage.stream_at(10.0, vec![walking("ann", 4.0), walking("env_0/ann", 6.0)]);
    assert_eq!(stage.published("env_0/ann").0.pose.position[0], 6.0);
    assert_eq!(stage.log.borrow().updates.last().expect("relayed").len(), 1);
}

#[test]
fn closing_the_gate_fires_no_release_hook() {
    let mut stage = Stage::with_people(&["ann"]);
    stage.stream_at(10.0, vec![walking("ann", 4.0)]);
    stage.layer.unuse_obstacles();
    stage.layer.spawn_pedestrians(&[person("ann")]);
    stage.tick_at(10.1);
    assert_eq!(stage.published("env_0/ann").0.pose.position[0], 1.0, "respawned at the spawn pose");
    assert_eq!(stats(&stage).released, 0);
}

#[test]
fn a_batch_of_a_hundred_thousand_strangers_costs_a_bounded_log() {
    let mut stage = Stage::with_people(&["ann"]);
    let mut entries: Vec<_> = (0..100_000).map(|i| walking(&format!("\u{0}ghost\u{fffd}{i}"), 0.0)).collect();
    entries.push(walking("ann", 4.0));
    stage.stream_at(10.0, entries);
    assert_eq!(stats(&stage).unknown, 100_000);
    assert!(stats(&stage).warnings <= 33);
    assert_eq!(stage.possessed(), ["env_0/ann"]);
}

#[test]
fn move_results_are_aligned_and_both_spellings_work() {
    let mut stage = Stage::with_people(&["ann", "bob"]);
    stage.stream_at(10.0, vec![walking("bob", 9.0)]);
    stage.sim_calls();
    let to = |name: &str, x: f64| (name.to_owned(), Pose::planar(x, 0.0, 1.0));
    let results =
        stage.layer.on_move(&[to("ann", 7.0), to("ghost", 1.0), to("env_0/bob", 8.0), to("ann", f64::NAN)]);
    use MoveResult::{NotFound, Success};
    assert_eq!(results, [Success, NotFound, Success, NotFound]);
    assert_eq!(stage.sim_calls(), ["pedestrian_move ann bob"], "one call for all");
    assert_eq!(stage.published("env_0/ann").0.pose.position[0], 7.0);
    assert_eq!(stage.possessed(), ["env_0/bob"], "a move neither claims nor releases");
    assert_eq!(stage.published("env_0/bob").0.pose.position[0], 9.0, "the stream still owns bob");
}

#[test]
fn a_move_is_not_found_before_the_first_spawn_and_after_a_reset() {
    let mut stage = Stage::with(Box::new(promenade_human::backends::dummy::Dummy::default()));
    let request = [("ann".to_owned(), Pose::planar(7.0, 0.0, 0.0))];
    assert_eq!(stage.layer.on_move(&request), [MoveResult::NotFound]);
    stage.layer.spawn_pedestrians(&[person("ann")]);
    assert_eq!(stage.layer.on_move(&request), [MoveResult::Success]);
    stage.layer.unuse_obstacles();
    assert_eq!(stage.layer.on_move(&request), [MoveResult::NotFound]);
    assert!(stage.layer.on_move(&[]).is_empty());
}

#[test]
fn a_teleport_does_not_displace_a_possessed_person() {
    let mut stage = Stage::with_people(&["ann", "bob"]);
    stage.stream_at(10.0, vec![walking("ann", 4.0)]);
    assert!(stage.layer.pedestrian_teleport(&[]));
    assert!(
        stage.layer.pedestrian_teleport(&[("ann".to_owned(), [9.0, 9.0]), ("bob".to_owned(), [8.0, 8.0])])
    );
    let relayed = stage.log.borrow().updates.last().expect("relayed").clone();
    assert_eq!(relayed[0].pose.position[0], 4.0);
    assert_eq!(relayed[1].pose.position, [8.0, 8.0, 0.0]);
}

#[test]
fn forty_joints_in_wire_order_for_everybody() {
    let mut stage = Stage::with_people(&["ann"]);
    let frame = stage.tick_at(10.0);
    let joints = frame[0].1.expect("synthesised");
    assert_eq!(joints.len(), 40);
    assert_eq!(Joint::NAMES[0], "r_waist");
    assert_eq!(Joint::NAMES[39], "r_wrist");
    assert!(joints.iter().all(|q| q.is_finite()));
}

#[test]
fn a_persistent_roster_is_not_changed_by_publishing() {
    let mut stage = Stage::with_people(&["ann"]);
    let first = stage.tick_at(10.0)[0].clone();
    for k in 1..30 {
        stage.tick_at(10.0 + f64::from(k) / 30.0);
    }
    let last = stage.last_frame()[0].clone();
    assert!(last.1.is_some(), "still synthesised and not read back as an override");
    assert_ne!(first.1, last.1, "and still moving");
}

/// A stream entry that stands at x = 4 and looks at a point to the left of it, half a metre above the eyes.
fn looking(name: &str) -> Pedestrian {
    let mut ped = walking(name, 4.0);
    ped.twist.linear[0] = 0.0;
    ped.animation_state = animation_state::IDLE;
    ped.gestures = vec![Gesture { slot: "head".to_owned(), at: [4.0, 3.0, 2.0], ..Gesture::default() }];
    ped
}

#[test]
fn a_gesture_of_a_possessed_person_turns_the_head_and_lets_go_again() {
    let mut stage = Stage::with_people(&["ann"]);
    let yaw = |stage: &Stage| stage.published("env_0/ann").1.expect("synthesised")[Joint::YHead.index()];
    for k in 0..40 {
        stage.stream_at(10.0 + 0.05 * f64::from(k), vec![looking("ann")]);
    }
    assert!(yaw(&stage) > 1.2, "looks left: {}", yaw(&stage));
    for k in 40..80 {
        let mut idle = looking("ann");
        idle.gestures.clear();
        stage.stream_at(10.0 + 0.05 * f64::from(k), vec![idle]);
    }
    assert!(yaw(&stage).abs() < 0.1, "looks ahead: {}", yaw(&stage));
}

#[test]
fn strange_gestures_cost_nothing_but_themselves() {
    let mut stage = Stage::with_people(&["ann", "bob"]);
    let mut strange = looking("ann");
    strange.gestures = (0..10_000)
        .map(|i| Gesture { slot: format!("slot {i}"), clip: "no such clip".to_owned(), ..Gesture::default() })
        .collect();
    strange.gestures.insert(
        0,
        Gesture { slot: "body".to_owned(), clip: "../../etc/passwd".to_owned(), ..Gesture::default() },
    );
    for k in 0..5 {
        stage.stream_at(10.0 + 0.05 * f64::from(k), vec![strange.clone(), looking("bob")]);
    }
    let joints = stage.published("env_0/ann").1.expect("synthesised");
    assert!(joints.iter().all(|q| q.is_finite()));
}
