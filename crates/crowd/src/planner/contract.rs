//! What holds for every planner there is (crowd-engine specification, section 28).

use proptest::prelude::*;

use super::tests::Stage;
use super::*;

/// Numbers that break what is not careful.
fn hostile(most: f64) -> impl Strategy<Value = f64> {
    prop_oneof![
        4 => -3.0..3.0,
        1 => prop_oneof![Just(0.0), Just(-0.0), Just(1e-300), Just(1e-9), Just(0.5), Just(1.0)],
        1 => prop_oneof![Just(most), Just(-most)],
    ]
}

fn rows() -> impl Strategy<Value = Vec<[f64; 4]>> {
    let row = (hostile(1e7), hostile(1e7), hostile(1e300), hostile(1e300));
    let rows = proptest::collection::vec(row.prop_map(|(x, y, vx, vy)| [x, y, vx, vy]), 1..14);
    // Some stand in the same place.
    rows.prop_map(|mut rows| {
        let first = rows[0];
        rows.push(first);
        rows
    })
}

fn walls() -> impl Strategy<Value = Vec<[f64; 4]>> {
    let wall = (hostile(1e3), hostile(1e3), hostile(1e3), hostile(1e3));
    proptest::collection::vec(wall.prop_map(|(a, b, c, d)| [a, b, c, d]), 0..4)
}

/// A stage whose bodies can do as much as people can, and that face everywhere.
fn stage(rows: &[[f64; 4]], walls: &[[f64; 4]]) -> Stage {
    let mut stage = Stage::new(rows, walls);
    for row in 0..rows.len() {
        stage.pool.max_velocity[row] = if row % 5 == 4 { 0.0 } else { 2.0 };
        stage.pool.max_acceleration[row] = 1.5;
        stage.pool.desired_velocity[row] = [1.3, 0.0, 1e6][row % 3];
        stage.pool.radius[row] = [0.25, 0.35, 1e-6, 100.0][row % 4];
        stage.pool.theta[row] = row as f64 * 2.1 - 1e3;
    }
    stage
}

fn everybody(stage: &Stage) -> Vec<u32> {
    (0..stage.pool.len() as u32).collect()
}

fn planned(planner: &dyn LocalPlanner, stage: &Stage, rows: &[u32]) -> Vec<Motion> {
    let mut out = vec![Motion::default(); rows.len()];
    planner.plan(&stage.scene(), rows, &mut out);
    out
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn velocities_are_finite_and_at_most_the_largest_whatever_the_pool(
        rows in rows(),
        walls in walls(),
        values in proptest::collection::vec(hostile(1e9), 13),
    ) {
        for name in PLANNERS {
            let mut planner = named(name).expect("a planner");
            let mut stage = stage(&rows, &walls);
            for (key, value) in planner.keys().iter().zip(&values) {
                stage.parameters.set_planner_value(key.name, *value);
                if stage.parameters.check(1).is_err() {
                    stage.parameters.set_planner_value(key.name, key.default.mean);
                }
            }
            for (row, motion) in stage.motions(planner.as_mut()).iter().enumerate() {
                let speed = motion.velocity[0].hypot(motion.velocity[1]);
                // Beside a limit of 0 there are numbers whose square is none.
                let most = stage.pool.max_velocity[row] * (1.0 + 1e-9) + 1e-150;
                prop_assert!(speed <= most, "{}: {:?} of row {}", name, motion, row);
                prop_assert!(motion.theta.is_finite() && motion.state.is_finite(), "{}: {:?}", name, motion);
            }
        }
    }

    #[test]
    fn a_result_depends_on_nothing_but_the_scene(rows in rows(), walls in walls()) {
        for name in PLANNERS {
            let (mut planner, stage) = (named(name).expect("a planner"), stage(&rows, &walls));
            let whole = stage.motions(planner.as_mut());
            let mut backwards = everybody(&stage);
            backwards.reverse();
            let mut again: Vec<Motion> =
                backwards.chunks(3).flat_map(|rows| planned(&*planner, &stage, rows)).collect();
            again.reverse();
            prop_assert_eq!(&whole, &again, "{}", name);
        }
    }
}

#[test]
fn who_has_no_goal_or_stands_on_it_stands_still() {
    let rows = [[0.0, 0.0, 1.0, 0.0], [0.4, 0.1, -1.0, 0.0], [3.0, 0.0, 0.5, 0.5]];
    for name in PLANNERS {
        let mut planner = named(name).expect("a planner");
        let mut stage = Stage::new(&rows, &[[-1.0, -0.5, 2.0, -0.5]]);
        stage.pool.has_goal[0] = false;
        (stage.pool.goal_x[1], stage.pool.goal_y[1]) = (0.4, 0.1);
        let velocities = stage.plan(planner.as_mut());
        assert_eq!(velocities[..2], [[0.0; 2]; 2], "{name}");
        assert_ne!(velocities[2], [0.0; 2], "{name}");
    }
}

#[test]
fn nobody_around_leaves_the_way_to_the_goal() {
    for name in PLANNERS {
        let stage = Stage::new(&[[0.0, 0.0, 1.2, 0.0]], &[]);
        let [x, y] = stage.plan(named(name).expect("a planner").as_mut())[0];
        assert!((x - 1.2).abs() < 1e-9 && y.abs() < 1e-9, "{name}: {x} {y}");
    }
}

#[test]
fn parameters_set_in_place_are_as_if_they_had_come_with_the_row_and_a_removed_row_is_gone() {
    let rows = [[0.0, 0.0, 1.0, 0.0], [0.7, 0.2, -1.0, 0.0], [1.5, -0.2, 0.0, 1.0]];
    for name in PLANNERS {
        let parameters = |factor: f64| {
            let mut parameters = AgentParameters::unknown_type();
            for key in named(name).expect("a planner").keys() {
                parameters.set_planner_value(key.name, key.default.mean * factor);
            }
            parameters
        };
        let stage = Stage::new(&rows, &[[0.0, -0.6, 2.0, -0.6]]);
        let planner = |factors: [f64; 3]| {
            let mut planner = named(name).expect("a planner");
            factors.iter().for_each(|factor| planner.push(&parameters(*factor)));
            planner
        };
        let expected = planned(&*planner([0.9, 0.8, 1.1]), &stage, &[0, 1, 2]);
        let mut set = planner([0.9, 1.0, 1.1]);
        set.set(1, &parameters(0.8));
        assert_eq!(planned(&*set, &stage, &[0, 1, 2]), expected, "{name}");
        let mut shorter = planner([1.0, 0.8, 1.1]);
        shorter.push(&parameters(0.9));
        shorter.swap_remove(0);
        assert_eq!(planned(&*shorter, &stage, &[0, 1, 2]), expected, "{name}");
    }
}

#[test]
fn the_documentation_has_every_planner_with_its_keys() {
    let page = include_str!("../../../../docs/planners.md");
    for name in PLANNERS {
        assert!(page.contains(&format!("| `{name}` |")), "docs/planners.md lacks {name}");
        let planner = named(name).expect("a planner");
        for key in planner.keys() {
            let written = format!("`{}` {}", key.name, key.default.mean);
            assert!(page.contains(&written), "docs/planners.md lacks {written} of {name}");
        }
    }
}
