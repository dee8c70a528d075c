//! The metrics of a recorded episode against those of the original evaluator (`reference/m01_metrics.json`).

use promenade_hunav::metrics::{Accumulator, Body, Evaluation, Frame, Metric, Settings};
use proptest::prelude::*;
use serde_json::Value;

const REFERENCE: &str = include_str!("reference/m01_metrics.json");

fn number(value: &Value) -> f64 {
    match value {
        Value::Bool(truth) => f64::from(u8::from(*truth)),
        value => value.as_f64().expect("a number"),
    }
}

fn point(value: &Value) -> [f64; 2] {
    [number(&value[0]), number(&value[1])]
}

fn body(value: &Value) -> Body {
    let get = |key: &str| number(&value[key]);
    Body {
        id: get("id") as i32,
        group_id: get("group_id") as i32,
        radius: get("radius"),
        position: [get("x"), get("y")],
        yaw: get("yaw"),
        velocity: [get("vx"), get("vy")],
        linear_vel: get("linear_vel"),
        angular_vel: get("angular_vel"),
        closest_obs: value["closest_obs"].as_array().expect("points").iter().map(point).collect(),
        ..Body::default()
    }
}

fn frames(reference: &Value) -> Vec<Frame> {
    let frames = reference["frames"].as_array().expect("frames").iter();
    let frame = |value: &Value| Frame {
        stamp_ns: value["stamp_ns"].as_i64().expect("nanoseconds"),
        robot: body(&value["robot"]),
        agents: value["agents"].as_array().expect("agents").iter().map(body).collect(),
    };
    frames.map(frame).collect()
}

fn evaluate(frames: &[Frame], settings: &Settings) -> Evaluation {
    let mut metrics = Accumulator::new(settings.clone());
    frames.iter().for_each(|frame| metrics.push(frame));
    metrics.finish()
}

fn reference() -> (Value, Vec<Frame>, Settings) {
    let reference: Value = serde_json::from_str(REFERENCE).expect("JSON");
    let settings = Settings {
        compat: true,
        goals: vec![point(&reference["robot_goal"])],
        goal_radius: number(&reference["robot_goal_radius"]),
        ..Settings::default()
    };
    let frames = frames(&reference);
    (reference, frames, settings)
}

#[test]
fn a_recorded_episode_has_the_metrics_of_the_original() {
    let (reference, frames, settings) = reference();
    let evaluation = evaluate(&frames, &settings);
    let tolerance = &reference["tolerance"];
    let (relative, absolute) = (number(&tolerance["relative"]), number(&tolerance["absolute"]));
    let mut largest: (f64, &str) = (0.0, "");
    let expected = reference["expected"].as_object().expect("metrics");
    assert_eq!(expected.len(), Metric::COUNT);
    for (name, entry) in expected {
        let metric = Metric::from_name(name).unwrap_or_else(|| panic!("no metric {name}"));
        let value = evaluation.number(metric).unwrap_or_else(|| panic!("{name} is not defined"));
        let per_step = entry.get("per_step").map(|list| list.as_array().expect("a list").as_slice());
        assert_eq!(metric.is_per_step(), per_step.is_some(), "{name}");
        let series = evaluation.series(metric).iter().copied();
        let found = std::iter::once(value).chain(series);
        let wanted = std::iter::once(&entry["value"]).chain(per_step.unwrap_or_default()).map(number);
        assert_eq!(found.clone().count(), wanted.clone().count(), "{name}");
        for (step, (found, wanted)) in found.zip(wanted).enumerate() {
            let off = (found - wanted).abs();
            assert!(off <= relative * wanted.abs() + absolute, "{name}, {step}: {found} is not {wanted}");
            let share = off / (relative * wanted.abs() + absolute);
            if share > largest.0 {
                largest = (share, metric.name());
            }
        }
    }
    assert!(largest.0 < 0.1, "{} is off by {} of what is allowed", largest.1, largest.0);
}

#[test]
fn without_the_quirks_other_numbers_come_out_where_they_matter_and_only_there() {
    let (_, frames, settings) = reference();
    let compat = evaluate(&frames, &settings);
    let meant = evaluate(&frames, &Settings { compat: false, ..settings });
    let differ: Vec<&str> = Metric::ALL
        .into_iter()
        .filter(|metric| compat.number(*metric) != meant.number(*metric))
        .map(Metric::name)
        .collect();
    assert_eq!(
        differ,
        [
            "robot_on_person_collision",
            "person_on_robot_collision",
            "social_force_on_agents",
            "social_force_on_robot",
            "social_work"
        ]
    );
}

#[test]
fn turning_to_the_right_on_the_spot_is_moving_unless_compatible() {
    let robot = Body { angular_vel: -0.5, ..Body::default() };
    let frames =
        [0, 1_000_000_000].map(|stamp_ns| Frame { stamp_ns, robot: robot.clone(), agents: Vec::new() });
    let standing =
        |compat| evaluate(&frames, &Settings { compat, ..Settings::default() }).number(Metric::TimeNotMoving);
    assert_eq!(standing(true), Some(1.0));
    assert_eq!(standing(false), Some(0.0));
}

#[test]
fn without_people_or_a_goal_their_metrics_are_not_defined() {
    let frame = Frame { robot: Body::default(), ..Frame::default() };
    let evaluation = evaluate(&[frame.clone(), frame], &Settings::default());
    let undefined: Vec<&str> = Metric::ALL
        .into_iter()
        .filter(|metric| evaluation.value(*metric).is_none())
        .map(Metric::name)
        .collect();
    assert_eq!(
        undefined,
        [
            "avg_distance_to_closest_person",
            "minimum_distance_to_people",
            "maximum_distance_to_people",
            "completed",
            "minimum_distance_to_target",
            "final_distance_to_target",
            "avg_pedestrian_velocity",
            "avg_closest_pedestrian_velocity",
        ]
    );
    let nothing = evaluate(&[], &Settings::default());
    assert!(Metric::ALL.into_iter().all(|metric| nothing.value(metric).is_none()));
}

#[test]
fn whom_a_filter_leaves_out_counts_for_nothing() {
    let (_, frames, settings) = reference();
    let alone: Vec<Frame> =
        frames.iter().map(|frame| Frame { agents: frame.agents[2..3].to_vec(), ..frame.clone() }).collect();
    let mut filtered = Accumulator::new(settings.clone());
    frames.iter().for_each(|frame| filtered.push_some(frame, |body| body.id == 3));
    let (filtered, alone) = (filtered.finish(), evaluate(&alone, &settings));
    for metric in Metric::ALL {
        assert_eq!(filtered.value(metric), alone.value(metric), "{}", metric.name());
    }
}

fn hostile() -> impl Strategy<Value = f64> {
    prop_oneof![
        4 => -5.0..5.0_f64,
        1 => prop_oneof![Just(0.0), Just(f64::NAN), Just(f64::INFINITY), Just(-1e300), Just(1e300), Just(1e-300)],
    ]
}

fn any_body() -> impl Strategy<Value = Body> {
    let points = proptest::collection::vec([hostile(), hostile()], 0..4);
    (
        [hostile(), hostile()],
        [hostile(), hostile()],
        [hostile(), hostile(), hostile(), hostile()],
        any::<i32>(),
        points,
    )
        .prop_map(|(position, velocity, [yaw, radius, linear_vel, angular_vel], id, closest_obs)| Body {
            id,
            group_id: id % 3 - 1,
            radius,
            position,
            yaw,
            velocity,
            linear_vel,
            angular_vel,
            closest_obs,
            ..Body::default()
        })
}

proptest! {
    #[test]
    fn whatever_was_recorded_gives_finite_numbers_or_none(
        frames in proptest::collection::vec((any::<i64>(), any_body(), proptest::collection::vec(any_body(), 0..5)), 0..8),
        compat: bool,
    ) {
        let frames: Vec<Frame> = frames
            .into_iter()
            .map(|(stamp_ns, robot, agents)| Frame { stamp_ns, robot, agents })
            .collect();
        let settings = Settings { compat, goals: vec![[0.0, f64::NAN], [1.0, 1.0]], ..Settings::default() };
        let evaluation = evaluate(&frames, &settings);
        let taken = evaluation.stamps().len();
        prop_assert_eq!(taken + evaluation.skipped_frames(), frames.len());
        for metric in Metric::ALL {
            if let Some(number) = evaluation.number(metric) {
                prop_assert!(number.is_finite(), "{}", metric.name());
            }
            prop_assert_eq!(evaluation.series(metric).len(), if metric.is_per_step() { taken } else { 0 });
        }
    }
}
