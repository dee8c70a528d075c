//! Files that are broken, cut short or mixed up: always a world or a list of problems inside the file, never a panic.

use std::path::Path;

use promenade_robot_world::{ReadOptions, Registry, World, WorldSpec};
use proptest::prelude::*;

const WHOLE: &str = "world: {height: 12, width: 12, step_time: 0.1, collision_mode: contact, fog_map: true}
robot:
- number: 2
  kinematics: {name: diff, noise: true, alpha: [0.03, 0, 0, 0.03], tau: 0.1}
  shape: [{name: circle, radius: 0.2}, {name: rectangle, length: 0.5, width: 0.4}]
  state: [[1, 2, 0], [3, 4, 0.5]]
  goal: [[[5, 5, 0], [6, 6, 0]], [7, 7, 0]]
  vel_max: [1.0, 2.0]
  acce: [.inf, 2]
  behavior: {name: rvo, vxmax: 1.2, mode: hrvo, target_roles: robot, wander: true, range_low: [0, 0, -3]}
  sensors: [{name: lidar2d, number: 30, noise: true, offset: [0.1, 0, 0]}, {type: fmcw_lidar2d}]
  angle_range: [-3.1416, 3.1416]
  mass: [1, '2']
- {group_behavior: {name: sfm, social_groups: [[0]]}, kinematics: {name: omni}, shape: {name: circle}, color: cycle}
obstacle:
- {shape: {name: polygon, vertices: [[0, 0], [2, 0], [1, 2]]}, state: [5, 5, 0], mass: 3, velocity: [1, 0]}
- {shape: {name: compound, parts: [{name: circle, pose: [1, 0, 0]}, {name: rectangle}]}, unobstructed: true}
- {shape: {name: linestring, vertices: [[0, 0], [3, 1]]}, plot: {show_goal: true}}
- {number: 3, distribution: {name: random, min_distance: 0.5}, shape: {name: polygon, random_shape: true}}
";

fn read(text: &str) -> Result<(), TestCaseError> {
    let file = Path::new("w.yaml");
    for lenient in [false, true] {
        match WorldSpec::from_text(text, file, &Registry::built_in(), &ReadOptions { lenient }) {
            Ok(loaded) => {
                prop_assert!(!loaded.report.has_errors());
                // What was read can be made and stepped, or is refused: there may be no room.
                if let Ok(mut world) = World::new(&loaded.value, 1) {
                    prop_assert!(world.step(&[]).is_ok());
                }
            }
            Err(report) => {
                prop_assert!(report.has_errors());
                let lines = text.lines().count().max(1) as u32;
                prop_assert!(report.iter().all(|problem| (1..=lines).contains(&problem.at.line)), "{report}");
            }
        }
    }
    Ok(())
}

/// A value that could stand anywhere.
fn value() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec![
        "",
        "~",
        "[]",
        "{}",
        "-1",
        "0",
        "1e300",
        "-1e300",
        ".inf",
        "-.inf",
        ".nan",
        "true",
        "''",
        "'inf'",
        "9999999999999999999",
        "[[]]",
        "[1, 2, 3]",
        "[[1, 2], 3]",
        "{name: circle}",
        "{name: diff}",
        "[{}]",
        "[.inf, .nan]",
        "diff",
        "\"\\u0000\"",
        "[[[[]]]]",
        "{1: 2}",
    ])
}

#[test]
fn the_whole_file_is_a_world() {
    let loaded =
        WorldSpec::from_text(WHOLE, Path::new("w.yaml"), &Registry::built_in(), &ReadOptions::default());
    let loaded = loaded.expect("a world");
    assert!(loaded.report.is_empty(), "{}", loaded.report);
    assert_eq!(
        loaded.value.groups.iter().map(|group| group.objects.len()).collect::<Vec<_>>(),
        [2, 1, 1, 1, 1, 3]
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn a_value_in_the_place_of_another_is_read_or_told(place in 0_usize..200, value in value()) {
        // Every value begins after a colon or inside a list.
        let starts: Vec<usize> = WHOLE.match_indices([':', '[', ',']).map(|(at, _)| at + 1).collect();
        let start = starts[place % starts.len()];
        let end = start + WHOLE[start..].find([',', '}', ']', '\n']).unwrap_or(0);
        read(&format!("{} {value}{}", &WHOLE[..start], &WHOLE[end..]))?;
    }

    #[test]
    fn a_file_without_some_of_its_characters_is_read_or_told(start in 0_usize..1600, length in 1_usize..60) {
        let start = start % WHOLE.len();
        let end = (start + length).min(WHOLE.len());
        read(&format!("{}{}", &WHOLE[..start], &WHOLE[end..]))?;
    }

    #[test]
    fn lines_in_another_order_are_read_or_told(order in Just((0..WHOLE.lines().count()).collect::<Vec<_>>()).prop_shuffle()) {
        let lines: Vec<&str> = WHOLE.lines().collect();
        let text: Vec<&str> = order.iter().map(|line| lines[*line]).collect();
        read(&text.join("\n"))?;
    }
}
