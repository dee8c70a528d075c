//! Whatever arrives in whatever order, the layer keeps its promises.

use promenade_human::known::ObstacleLayer;
use promenade_human::message::{Pedestrian, Pose};
use promenade_kernel::Time;
use proptest::prelude::*;

use crate::stage::{Stage, person, thing, walking};

const NAMES: [&str; 6] = ["ann", "bob", "cyd", "env_0/ann", "env_0/bob", "ghost\u{0}\u{fffd}"];

#[derive(Clone, Debug)]
enum Step {
    Stream { stamp: i64, entries: Vec<Pedestrian> },
    Move(usize, [f64; 3]),
    Tick,
    Clock(i64),
    Reset(u8),
    Purge(u8),
    Thing(usize),
}

/// Mostly ordinary numbers, now and then a monster.
fn number() -> impl Strategy<Value = f64> {
    prop_oneof![8 => -50.0..50.0, 1 => any::<f64>()]
}

fn entry() -> impl Strategy<Value = Pedestrian> {
    (
        0..NAMES.len(),
        number(),
        number(),
        any::<u8>(),
        proptest::collection::vec((0..42_usize, number()), 0..3),
    )
        .prop_map(|(name, x, speed, state, joints)| {
            let mut ped = walking(NAMES[name], x);
            ped.twist.linear[0] = speed;
            ped.animation_state = state;
            for (joint, value) in joints {
                let known = promenade_gait::Joint::NAMES.get(joint).copied().unwrap_or("l_wheel");
                ped.joint_state.name.push(known.to_owned());
                ped.joint_state.position.push(value);
            }
            ped
        })
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => (-2_000_000_000..20_000_000_000_i64, proptest::collection::vec(entry(), 0..5))
            .prop_map(|(stamp, entries)| Step::Stream { stamp, entries }),
        2 => (0..NAMES.len(), [number(), number(), number()]).prop_map(|(name, pose)| Step::Move(name, pose)),
        4 => Just(Step::Tick),
        3 => (-2_000_000_000..20_000_000_000_i64).prop_map(Step::Clock),
        1 => (0..8_u8).prop_map(Step::Reset),
        1 => (0..3_u8).prop_map(Step::Purge),
        1 => (0..2_usize).prop_map(Step::Thing),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn rosters_are_exact_and_everything_published_is_finite(steps in proptest::collection::vec(step(), 1..60)) {
        let mut stage = Stage::with_people(&["ann", "bob"]);
        let mut expected = vec!["env_0/ann", "env_0/bob"];
        for step in steps {
            match step {
                Step::Stream { stamp, entries } => {
                    let mut batch = crate::stage::batch(0.0, entries);
                    batch.stamp = Time::from_nanos(stamp);
                    stage.layer.on_stream(&batch);
                }
                Step::Move(name, [x, y, yaw]) => {
                    stage.layer.on_move(&[(NAMES[name].to_owned(), Pose::planar(x, y, yaw))]);
                }
                Step::Tick => {
                    stage.layer.tick();
                    let frame = stage.last_frame();
                    let names: Vec<&str> = frame.iter().map(|(ped, _)| ped.name.as_str()).collect();
                    prop_assert_eq!(&names, &expected);
                }
                Step::Clock(nanos) => stage.layer.set_now(Time::from_nanos(nanos)),
                Step::Reset(who) => {
                    stage.layer.unuse_obstacles();
                    let people: Vec<&str> =
                        ["ann", "bob", "cyd"].into_iter().enumerate().filter(|(i, _)| who >> i & 1 == 1).map(|(_, n)| n).collect();
                    stage.layer.spawn_pedestrians(&people.iter().map(|name| person(name)).collect::<Vec<_>>());
                    stage.layer.remove_obstacles(ObstacleLayer::Unused);
                    expected = people
                        .iter()
                        .map(|name| match *name {
                            "ann" => "env_0/ann",
                            "bob" => "env_0/bob",
                            _ => "env_0/cyd",
                        })
                        .collect();
                }
                Step::Purge(0) => stage.layer.remove_obstacles(ObstacleLayer::Unused),
                Step::Purge(_) => {
                    stage.layer.unuse_obstacles();
                    stage.layer.remove_obstacles(ObstacleLayer::World);
                    expected.clear();
                }
                Step::Thing(i) => {
                    stage.layer.spawn_obstacles(&[thing(["bench", "lamp"][i])], ObstacleLayer::InUse);
                }
            }
            for name in stage.possessed() {
                prop_assert!(expected.contains(&name.as_str()), "{} is possessed and does not exist", name);
            }
        }
        for (_, frame) in &stage.log.borrow().frames {
            for (ped, joints) in frame {
                prop_assert!(ped.pose.is_finite() && ped.twist.is_finite() && ped.gait_phase.is_finite());
                prop_assert!(joints.iter().flatten().chain(&ped.joint_state.position).all(|q| q.is_finite()));
            }
        }
    }
}
