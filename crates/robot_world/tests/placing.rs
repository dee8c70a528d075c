//! Random starts, goals and shapes: free of overlaps, the same for the same seed, refused when there is no room.

use std::path::Path;

use promenade_kernel::generator::Generator;
use promenade_robot_world::place::{PlaceError, Placement, place};
use promenade_robot_world::shape::{Placed, Shape, ShapeKind, overlap};
use promenade_robot_world::{ReadOptions, Registry, WorldSpec};
use proptest::prelude::*;

fn read(text: &str) -> WorldSpec {
    let file = Path::new("world.yaml");
    match WorldSpec::from_text(text, file, &Registry::built_in(), &ReadOptions::default()) {
        Ok(loaded) => loaded.value,
        Err(report) => panic!("{report}"),
    }
}

fn placed(text: &str, seed: u64) -> Result<Vec<Placement>, PlaceError> {
    place(&read(text), &mut Generator::seeded(seed))
}

fn at(placement: &Placement) -> Placed<'_> {
    let [x, y, heading, ..] = placement.state;
    Placed::at(&placement.shape, [x, y, heading])
}

const CROWDED: &str = "
world: {width: 14, height: 12, obstacle_map: {name: perlin, resolution: 0.5, fill: 0.1, seed: 3}}
robot:
  - number: 12
    distribution: {name: random, min_distance: 0.3}
    kinematics: {name: diff}
    shape: [{name: circle, radius: 0.3}, {name: rectangle, length: 0.9, width: 0.4}]
obstacle:
  - {shape: {name: rectangle, length: 6, width: 1}, state: [7, 6, 0.4]}
  - number: 6
    distribution: {name: random}
    shape: {name: polygon, random_shape: true, avg_radius_range: [0.2, 0.5]}
";

#[test]
fn random_starts_overlap_nothing_that_stands_in_the_world() {
    let spec = read(CROWDED);
    let map = Shape::map(spec.map.as_ref().expect("a map")).expect("occupied cells");
    for seed in 0..20 {
        let placements = place(&spec, &mut Generator::seeded(seed)).expect("room");
        assert_eq!(placements.len(), 19);
        for (i, a) in placements.iter().enumerate() {
            // The obstacle with a given place may stand on the map, as its file says.
            let is_given = i == 12;
            assert!(
                is_given || !overlap(&at(a), &Placed::at(&map, [0.0; 3]), false),
                "seed {seed}, {i} on the map"
            );
            for (j, b) in placements.iter().enumerate().skip(i + 1) {
                assert!(!overlap(&at(a), &at(b), false), "seed {seed}, {i} on {j}");
            }
        }
    }
}

#[test]
fn equal_seeds_give_equal_worlds_and_others_do_not() {
    assert_eq!(placed(CROWDED, 5), placed(CROWDED, 5));
    assert_ne!(placed(CROWDED, 5), placed(CROWDED, 6));
}

#[test]
fn starts_are_drawn_before_goals_as_x_y_and_heading() {
    let text = "
robot: {number: 2, distribution: {name: random, range_low: [0, 0, 0], range_high: [1, 1, 1], min_distance: 0}, check_overlap: false,
        kinematics: {name: diff}, shape: {name: circle}}";
    let placements = placed(text, 42).expect("room");
    assert_eq!(placements[0].state[..3], [0.7739560485559633, 0.4388784397520523, 0.8585979199113825]);
    let mut generator = Generator::seeded(42);
    let draws: Vec<f64> = (0..12).map(|_| generator.random()).collect();
    assert_eq!(placements[1].state[..3], draws[3..6]);
    assert_eq!(placements[0].goals[0].position, draws[6..8]);
    assert_eq!(placements[1].goals[0].heading, Some(draws[11]));
}

#[test]
fn a_range_without_room_is_refused_with_the_group_and_what_to_change() {
    let text = "
world: {width: 5}
robot:
  - {shape: {name: circle}, kinematics: {name: diff}}
  - {number: 9, distribution: {name: random, range_low: [3, 3, 0], range_high: [4, 4, 0], min_distance: 0},
     kinematics: {name: diff}, shape: {name: circle, radius: 0.4}}";
    let error = placed(text, 1).expect_err("no room").to_string();
    let expected = "robot[1] (line 5): no free place for number ";
    assert!(error.starts_with(expected), "{error}");
    let expected = " of 9 objects in 1000 draws between [3.0, 3.0, 0.0] and [4.0, 4.0, 0.0]; \
                    widen range_low and range_high, lower number or min_distance, or set check_overlap: false";
    assert!(error.ends_with(expected), "{error}");
    let old = text.replace("min_distance: 0}", "check_overlap: false}");
    assert_eq!(placed(&old, 1).map(|placements| placements.len()), Ok(10));
}

#[test]
fn whom_nobody_meets_takes_no_place() {
    let text = "
robot: {number: 3, unobstructed: true, kinematics: {name: diff}, shape: {name: circle, radius: 2},
        distribution: {name: random, range_low: [3, 3, 0], range_high: [4, 4, 0], min_distance: 0.1}}";
    assert!(placed(text, 1).is_ok());
}

#[test]
fn random_polygons_have_the_vertices_and_the_size_they_were_asked_for() {
    let text = "
obstacle:
  - {number: 200, distribution: {name: circle}, shape: {name: polygon, random_shape: true, is_convex: true, num_vertices_range: [5, 8],
     avg_radius_range: [0.5, 0.6], center_range: [1, 2, 1, 2]}}
  - {number: 50, distribution: {name: circle}, shape: {name: linestring, random_shape: true}}
  - {number: 50, distribution: {name: circle}, shape: {name: circle, random_shape: true, radius_range: [0.3, 0.4]}}";
    let placements = placed(text, 9).expect("shapes");
    let mut counts = std::collections::BTreeSet::new();
    for placement in &placements[..200] {
        counts.insert(placement.shape.points.len());
        assert_eq!(placement.shape.pieces.len(), 1, "convex");
        for [x, y] in &placement.shape.points {
            let radius = f64::hypot(x - 1.0, y - 2.0);
            assert!((0.5..0.6).contains(&radius), "{radius}");
        }
    }
    assert_eq!(counts.into_iter().collect::<Vec<_>>(), [5, 6, 7]);
    assert!(placements[200..250].iter().all(|placement| placement.shape.kind == ShapeKind::Linestring));
    assert!(placements[250..].iter().all(|placement| (0.3..0.4).contains(&placement.shape.radius)));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_random_polygon_is_a_shape(seed: u64, low in 3_u32..12, more in 1_u32..12, spike in 0.0_f64..1.0, irregular in 0.0_f64..1.0) {
        let text = format!(
            "obstacle: {{distribution: {{name: random}}, shape: {{name: polygon, random_shape: true, spikeyness_range: [0, {spike}], \
             irregularity_range: [0, {irregular}], num_vertices_range: [{low}, {}]}}}}",
            low + more
        );
        let placements = placed(&text, seed).expect("a place in an empty world");
        prop_assert!(placements[0].shape.points.len() >= 3);
        prop_assert!(placements[0].shape.unit_inertia > 0.0);
    }
}
