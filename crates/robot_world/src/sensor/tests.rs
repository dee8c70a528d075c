use std::f64::consts::TAU;
use std::sync::Arc;

use promenade_kernel::generator::Generator;
use proptest::prelude::*;

use super::{Fmcw, LidarSpec, Scan, Sensing};
use crate::Point;
use crate::objects::Objects;
use crate::shape::{Placed, Shape, ShapeKind};
use crate::spec::MapGrid;

fn lidar(angle_range: f64, number: usize, range_max: f64) -> LidarSpec {
    LidarSpec {
        fmcw: None,
        range_min: 0.0,
        range_max,
        angle_range,
        number,
        scan_time: 0.1,
        std: None,
        angle_std: 0.0,
        offset: [0.0; 3],
        has_velocity: false,
        drawing: Arc::default(),
    }
}

/// Objects with the columns that scanners read.
fn scene(bodies: &[(Shape, [f64; 3], Vec<LidarSpec>)]) -> Objects {
    let mut objects = Objects::default();
    for (row, (shape, [x, y, heading], sensors)) in bodies.iter().enumerate() {
        objects.id.push(row as u32);
        objects.shape.push(Arc::new(shape.clone()));
        objects.state.push([*x, *y, *heading, 0.0, 0.0, 0.0]);
        objects.rotation.push([heading.sin(), heading.cos()]);
        objects.velocity_xy.push([row as f64, -1.0]);
        objects.unobstructed.push(false);
        objects.sensors.push(sensors.clone());
        objects.scans.push(Vec::new());
    }
    objects
}

fn sensed(objects: &mut Objects, exact_circles: bool) -> Scan {
    Sensing::default().sense(objects, exact_circles, &mut Generator::seeded(1));
    objects.scans[0][0].clone()
}

/// Every beam against every edge of every other object, in the world's frame.
fn brute_force(objects: &Objects, spec: &LidarSpec, exact_circles: bool) -> Vec<f64> {
    let [sin, cos] = objects.rotation[0];
    let pose = objects.state[0];
    let origin = [
        pose[0] + cos * spec.offset[0] - sin * spec.offset[1],
        pose[1] + sin * spec.offset[0] + cos * spec.offset[1],
    ];
    let cast = |beam: usize| {
        let angle = pose[2] + spec.offset[2] + spec.angle(beam);
        let direction = [angle.cos(), angle.sin()];
        let mut best = f64::INFINITY;
        for row in (1..objects.len()).filter(|row| !objects.unobstructed[*row]) {
            let placed = Placed {
                shape: &objects.shape[row],
                position: [objects.state[row][0], objects.state[row][1]],
                rotation: objects.rotation[row],
            };
            if let (true, ShapeKind::Circle { radius, center }) = (exact_circles, &placed.shape.kind) {
                let center = placed.to_world(*center);
                let to: Point = [center[0] - origin[0], center[1] - origin[1]];
                let along = to[0] * direction[0] + to[1] * direction[1];
                let square = radius * radius - (to[0] * to[0] + to[1] * to[1] - along * along);
                if square >= 0.0 {
                    let ends = [along - square.sqrt(), along + square.sqrt()];
                    best = ends.into_iter().filter(|d| *d >= 1e-9).fold(best, f64::min);
                }
                continue;
            }
            for ends in placed.shape.segments() {
                let [a, b] =
                    ends.map(|end| placed.to_world(end)).map(|[x, y]| [x - origin[0], y - origin[1]]);
                let side = |p: Point| direction[0] * p[1] - direction[1] * p[0];
                if side(a) * side(b) <= 0.0 && side(a) != side(b) {
                    let part = side(a) / (side(a) - side(b));
                    let hit = [a[0] + part * (b[0] - a[0]), a[1] + part * (b[1] - a[1])];
                    let distance = hit[0] * direction[0] + hit[1] * direction[1];
                    if distance >= 1e-9 {
                        best = best.min(distance);
                    }
                }
            }
        }
        if best <= spec.range_max { best } else { spec.range_max }
    };
    (0..spec.number).map(cast).collect()
}

fn any_shape() -> impl Strategy<Value = Shape> {
    let star = (3_usize..9, 0.2..1.5_f64, 0.2..1.5_f64).prop_map(|(count, even, odd)| {
        let vertex = |i: usize| {
            let (angle, radius) =
                (i as f64 * TAU / count as f64, if i.is_multiple_of(2) { even } else { odd });
            [radius * angle.cos() + 0.3, radius * angle.sin()]
        };
        Shape::polygon((0..count).map(vertex).collect()).unwrap()
    });
    let line = proptest::collection::vec((-4.0..4.0_f64, -4.0..4.0_f64), 2..6)
        .prop_map(|points| Shape::linestring(points.into_iter().map(|(x, y)| [x, y]).collect()).unwrap());
    let compound = (0.1..1.0_f64, 0.1..1.0_f64, -1.0..1.0_f64).prop_map(|(radius, width, shift)| {
        let bar = Shape::rectangle(1.5, width, None).unwrap();
        let disc = Shape::circle(radius, [0.0; 2], None).unwrap();
        Shape::compound(&[(bar, [0.0; 3]), (disc, [shift, shift, 0.4])]).unwrap()
    });
    prop_oneof![
        4 => (0.05..1.5_f64).prop_map(|radius| Shape::circle(radius, [0.1, 0.0], None).unwrap()),
        2 => (0.1..3.0_f64, 0.1..3.0_f64).prop_map(|(length, width)| Shape::rectangle(length, width, None).unwrap()),
        1 => star,
        1 => line,
        1 => compound,
    ]
}

fn any_pose() -> impl Strategy<Value = [f64; 3]> {
    (-6.0..6.0_f64, -6.0..6.0_f64, -3.2..3.2_f64).prop_map(|(x, y, heading)| [x, y, heading])
}

proptest! {
    #[test]
    fn scans_are_those_of_every_beam_against_every_edge(
        bodies in proptest::collection::vec((any_shape(), any_pose()), 1..90),
        carrier in any_pose(),
        angle_range in prop_oneof![Just(TAU), 0.1..6.0_f64],
        number in 1_usize..200,
        offset in (-0.5..0.5_f64, -0.5..0.5_f64, -3.0..3.0_f64),
        range_max in 0.5..12.0_f64,
        exact_circles in any::<bool>(),
    ) {
        let mut spec = lidar(angle_range, number, range_max);
        spec.offset = [offset.0, offset.1, offset.2];
        let mut all = vec![(Shape::circle(0.3, [0.0; 2], None).unwrap(), carrier, vec![spec.clone()])];
        all.extend(bodies.into_iter().map(|(shape, pose)| (shape, pose, Vec::new())));
        let mut objects = scene(&all);
        objects.unobstructed[1] = all.len() % 3 == 0;
        let scan = sensed(&mut objects, exact_circles);
        let expected = brute_force(&objects, &spec, exact_circles);
        for (beam, (found, expected)) in scan.ranges.iter().zip(&expected).enumerate() {
            prop_assert!((found - expected).abs() < 1e-6, "beam {beam}: {found} against {expected}");
        }
    }

    #[test]
    fn blurred_beams_meet_what_the_same_beams_meet_one_by_one(
        bodies in proptest::collection::vec((any_shape(), any_pose()), 1..20),
        angle_std in 0.001..0.5_f64,
        seed in any::<u64>(),
    ) {
        let mut spec = lidar(4.0, 40, 9.0);
        (spec.std, spec.angle_std) = (Some(0.0), angle_std);
        let mut all = vec![(Shape::circle(0.3, [0.0; 2], None).unwrap(), [0.0; 3], vec![spec.clone()])];
        all.extend(bodies.into_iter().map(|(shape, pose)| (shape, pose, Vec::new())));
        let mut objects = scene(&all);
        Sensing::default().sense(&mut objects, false, &mut Generator::seeded(seed));
        let ranges = objects.scans[0][0].ranges.clone();
        let mut generator = Generator::seeded(seed);
        for (beam, range) in ranges.iter().enumerate() {
            let mut single = lidar(0.0, 1, 9.0);
            single.offset[2] = spec.angle(beam) + angle_std * generator.standard_normal();
            let expected = brute_force(&objects, &single, false)[0];
            prop_assert!((range - expected).abs() < 1e-6, "beam {beam}: {range} against {expected}");
        }
    }
}

#[test]
fn inner_edges_of_a_compound_are_invisible_and_from_inside_its_far_side_is_seen() {
    let bar = Shape::rectangle(4.0, 1.0, None).unwrap();
    let cross = Shape::compound(&[(bar.clone(), [0.0; 3]), (bar, [0.0, 0.0, TAU / 4.0])]).unwrap();
    let carrier = Shape::circle(0.1, [0.0; 2], None).unwrap();
    let mut objects =
        scene(&[(carrier, [0.25, 0.0, 0.0], vec![lidar(TAU, 5, 10.0)]), (cross, [0.0; 3], Vec::new())]);
    let scan = sensed(&mut objects, false);
    for (range, expected) in scan.ranges.iter().zip([2.25, 2.0, 1.75, 2.0, 2.25]) {
        assert!((range - expected).abs() < 1e-9, "{range} against {expected}");
    }
}

#[test]
fn a_wall_is_met_at_its_nearest_end_by_a_beam_along_it_and_at_exactly_the_largest_range() {
    let carrier = || Shape::circle(0.1, [0.0; 2], None).unwrap();
    let wall = Shape::linestring(vec![[2.0, 0.0], [3.0, 0.0]]).unwrap();
    let mut objects =
        scene(&[(carrier(), [0.0; 3], vec![lidar(0.0, 1, 2.0)]), (wall.clone(), [0.0; 3], Vec::new())]);
    let scan = sensed(&mut objects, false);
    assert_eq!((scan.ranges[0], scan.valid[0]), (2.0, true));
    let mut objects = scene(&[(carrier(), [0.0; 3], vec![lidar(0.0, 1, 1.9)]), (wall, [0.0; 3], Vec::new())]);
    let scan = sensed(&mut objects, false);
    assert_eq!((scan.ranges[0], scan.valid[0]), (1.9, false));
}

#[test]
fn a_return_in_the_blind_zone_reads_the_least_range_and_is_negative_infinity_in_rep_117() {
    let mut spec = lidar(TAU, 5, 10.0);
    spec.range_min = 3.0;
    let near = Shape::linestring(vec![[1.0, -0.5], [1.0, 0.5]]).unwrap();
    let far = Shape::linestring(vec![[-0.5, 5.0], [0.5, 5.0]]).unwrap();
    let carrier = Shape::circle(0.1, [0.0; 2], None).unwrap();
    let bodies =
        [(carrier, [0.0; 3], vec![spec.clone()]), (near, [0.0; 3], Vec::new()), (far, [0.0; 3], Vec::new())];
    let scan = sensed(&mut scene(&bodies), false);
    assert_eq!(scan.ranges[..3], [10.0, 10.0, 3.0]);
    assert_eq!(scan.valid, [false, false, false, true, false]);
    let rep117: Vec<f64> = scan.rep117(&spec).collect();
    assert_eq!(rep117[..3], [f64::INFINITY, f64::INFINITY, f64::NEG_INFINITY]);
    assert!((rep117[3] - 5.0).abs() < 1e-12);
    let cloud: Vec<Point> = scan.point_cloud(&spec).collect();
    assert_eq!(cloud.len(), 1);
    assert!(cloud[0][0].abs() < 1e-9 && (cloud[0][1] - 5.0).abs() < 1e-9);
}

#[test]
fn velocities_are_those_of_what_is_hit() {
    let mut plain = lidar(1.0, 3, 10.0);
    plain.has_velocity = true;
    let mut doppler = lidar(1.0, 3, 10.0);
    doppler.fmcw = Some(Fmcw { motion_compensate: false, velocity_noise_std: 0.0 });
    let mut compensated = doppler.clone();
    compensated.fmcw = Some(Fmcw { motion_compensate: true, velocity_noise_std: 0.0 });
    let target = Shape::rectangle(1.0, 0.5, None).unwrap();
    let carrier = Shape::circle(0.1, [0.0; 2], None).unwrap();
    let sensors = vec![plain, doppler, compensated];
    let mut objects = scene(&[(carrier, [0.0; 3], sensors), (target, [3.0, 0.0, 0.0], Vec::new())]);
    objects.velocity_xy[0] = [0.25, 0.0];
    sensed(&mut objects, false);
    let scans = &objects.scans[0];
    assert_eq!(scans[0].velocity, [[0.0, 0.0], [1.0, -1.0], [0.0, 0.0]]);
    assert_eq!(scans[1].radial_velocity, [0.0, 0.75, 0.0]);
    assert_eq!(scans[2].radial_velocity, [0.0, 1.0, 0.0]);
    assert!(scans[1].velocity.is_empty() && scans[0].radial_velocity.is_empty());
}

#[test]
fn noise_is_on_hits_only_and_the_same_for_the_same_seed() {
    let mut spec = lidar(TAU, 400, 10.0);
    spec.std = Some(0.1);
    let half = Shape::linestring(vec![[4.0, -500.0], [4.0, 500.0]]).unwrap();
    let carrier = Shape::circle(0.1, [0.0; 2], None).unwrap();
    let bodies = [(carrier, [0.0; 3], vec![spec.clone()]), (half, [0.0; 3], Vec::new())];
    let [mut first, mut second] = [scene(&bodies), scene(&bodies)];
    assert_eq!(sensed(&mut first, false), sensed(&mut second, false));
    let clean = brute_force(&first, &spec, false);
    let errors: Vec<f64> =
        first.scans[0][0].ranges.iter().zip(&clean).map(|(noisy, clean)| noisy - clean).collect();
    let hit: Vec<f64> =
        errors.iter().zip(&clean).filter(|(_, c)| **c < 9.0).map(|(error, _)| *error).collect();
    let mean_square = hit.iter().map(|e| e * e).sum::<f64>() / hit.len() as f64;
    assert!((mean_square.sqrt() - 0.1).abs() < 0.02, "{mean_square}");
    assert!(errors.iter().zip(&clean).all(|(error, clean)| *clean < 10.0 || *error == 0.0));
}

#[test]
fn a_map_is_seen_and_hides_what_is_behind_it() {
    let values = vec![0.0, 100.0, 0.0, 0.0, 100.0, 0.0];
    let grid = MapGrid { columns: 3, rows: 2, cell: [1.0, 1.0], origin: [0.0, -1.0], values, source: None };
    let map = Shape::map(&grid).unwrap();
    let carrier = Shape::circle(0.1, [0.0; 2], None).unwrap();
    let behind = Shape::circle(0.5, [0.0; 2], None).unwrap();
    let mut objects = scene(&[
        (carrier, [-1.0, 0.3, 0.0], vec![lidar(0.0, 1, 9.0)]),
        (map, [0.0; 3], Vec::new()),
        (behind, [4.0, 0.3, 0.0], Vec::new()),
    ]);
    assert_eq!(sensed(&mut objects, false).ranges, [2.0]);
    objects.unobstructed[1] = true;
    assert!((sensed(&mut objects, false).ranges[0] - 4.5).abs() < 1e-12);
}

#[test]
fn objects_and_scanners_that_are_nowhere_see_and_show_nothing() {
    let shape = || Shape::circle(0.5, [0.0; 2], None).unwrap();
    for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let poses = [[bad, 0.0, 0.0], [0.0, bad, 0.0], [0.0, 0.0, bad]];
        for pose in poses {
            let seen = [(shape(), [2.0, 0.0, 0.0], vec![lidar(TAU, 9, 5.0)]), (shape(), pose, Vec::new())];
            assert!(sensed(&mut scene(&seen), false).ranges.iter().all(|range| *range == 5.0));
            let seeing = [(shape(), pose, vec![lidar(TAU, 9, 5.0)]), (shape(), [2.0, 0.0, 0.0], Vec::new())];
            assert!(sensed(&mut scene(&seeing), true).ranges.iter().all(|range| *range == 5.0));
        }
    }
}
