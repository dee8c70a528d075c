//! Driven joints: the vectors of section 31 and the "Wheels" items of section 30 of the human-layer specification.

use std::f64::consts::{FRAC_PI_2, PI};

use promenade_gait::driver::{Driver, DriverPool, RigFile};

const FILE: &str = "skeleton: cmu\nroot_offset: [0.0, 0.0, 0.1]\ndrivers:\n  l_wheel: {bone: WheelL, from: distance, radius: 0.3, lateral: 0.28, axis: [0, 1, 0]}\n  r_wheel: {bone: WheelR, from: distance, radius: 0.3, lateral: -0.28, axis: [0, 1, 0]}\n";

fn wheelchair() -> Vec<Driver> {
    RigFile::parse("rig.yaml", FILE).unwrap().drivers
}

fn roll(poses: impl IntoIterator<Item = [f64; 3]>) -> [f64; 2] {
    let drivers = wheelchair();
    let mut pool = DriverPool::default();
    let mut angles = [0.0; 2];
    for pose in poses {
        angles.copy_from_slice(pool.advance(7, pose, &drivers));
    }
    angles
}

fn close(found: [f64; 2], expected: [f64; 2], tolerance: f64) {
    for (found, expected) in found.iter().zip(expected) {
        assert!((found - expected).abs() <= tolerance, "{found} instead of {expected}");
    }
}

#[test]
fn straight_five_metres() {
    let angles = roll((0..=100).map(|step| [0.05 * f64::from(step), 0.0, 0.0]));
    close(angles, [5.0 / 0.3; 2], 1e-9);
    assert!((angles[0] - 16.667).abs() < 1e-3);
}

#[test]
fn backwards_rolls_back() {
    close(roll([[0.0, 0.0, 1.0], [-(1.0_f64.cos()), -(1.0_f64.sin()), 1.0]]), [-1.0 / 0.3; 2], 1e-12);
}

#[test]
fn a_pivot_turns_the_wheels_against_each_other() {
    let angles = roll((0..=10).map(|step| [1.0, 2.0, 0.1 * f64::from(step)]));
    close(angles, [-0.28 / 0.3, 0.28 / 0.3], 1e-9);
}

#[test]
fn a_pivot_over_the_wrap_is_short() {
    close(roll([[0.0, 0.0, PI - 0.05], [0.0, 0.0, -PI + 0.05]]), [-0.1 * 0.28 / 0.3, 0.1 * 0.28 / 0.3], 1e-9);
}

#[test]
fn sideways_does_not_roll() {
    close(roll([[0.0, 0.0, 0.0], [0.0, 3.0, 0.0]]), [0.0; 2], 1e-15);
}

#[test]
fn a_quarter_left_arc() {
    let steps = 2000;
    let angles = roll((0..=steps).map(|step| {
        let turn = FRAC_PI_2 * f64::from(step) / f64::from(steps);
        [2.0 * turn.sin(), 2.0 - 2.0 * turn.cos(), turn]
    }));
    close(angles, [(2.0 - 0.28) * FRAC_PI_2 / 0.3, (2.0 + 0.28) * FRAC_PI_2 / 0.3], 1e-5);
}

#[test]
fn forget_resets_and_people_are_independent() {
    let drivers = wheelchair();
    let mut pool = DriverPool::default();
    pool.advance(1, [0.0; 3], &drivers);
    pool.advance(2, [0.0; 3], &drivers);
    pool.advance(1, [3.0, 0.0, 0.0], &drivers);
    assert!((pool.angles(1).unwrap()[0] - 10.0).abs() < 1e-12);
    assert_eq!(pool.angles(2).unwrap(), [0.0; 2]);
    pool.forget(1);
    assert_eq!(pool.advance(1, [9.0, 0.0, 0.0], &drivers), [0.0; 2]);
    pool.retain(|id| id == 2);
    assert!(pool.angles(1).is_none() && pool.angles(2).is_some());
}

#[test]
fn poses_that_are_no_numbers_roll_nothing() {
    close(roll([[0.0; 3], [f64::NAN, 0.0, 0.0], [0.3, 0.0, 0.0]]), [1.0; 2], 1e-12);
    close(roll([[f64::INFINITY, 0.0, 0.0], [0.3, 0.0, 0.0], [0.6, 0.0, 0.0]]), [1.0; 2], 1e-12);
}

#[test]
fn files_without_drivers_drive_nothing() {
    for text in ["", "skeleton: cmu\n", "drivers:\n", "drivers: {}\n"] {
        assert!(RigFile::parse("rig.yaml", text).unwrap().drivers.is_empty(), "{text}");
    }
    assert_eq!(RigFile::parse("rig.yaml", FILE).unwrap().root_offset, [0.0, 0.0, 0.1]);
}

#[test]
fn malformed_files_say_the_expected_form() {
    for (text, expected) in [
        ("driver: {}\n", "rig.yaml:1:1: rig: unknown key \"driver\""),
        ("drivers: [1]\n", "rig.yaml:1:10: drivers: expected drivers: {l_wheel: {bone"),
        ("drivers: {w: 1}\n", "rig.yaml:1:14: drivers.w: expected drivers: {l_wheel: {bone"),
        (
            "drivers: {w: {radius: 1}}\n",
            "rig.yaml:1:14: drivers.w: missing key \"from\"; expected drivers: {l_wheel",
        ),
        (
            "drivers: {w: {from: distance}}\n",
            "rig.yaml:1:14: drivers.w: missing key \"radius\"; expected drivers:",
        ),
        (
            "drivers: {w: {from: time, radius: 1}}\n",
            "rig.yaml:1:21: drivers.w.from: expected distance; drivers:",
        ),
        ("drivers: {w: {from: distance, radius: 0}}\n", "rig.yaml:1:39: drivers.w.radius: expected a radius"),
        (
            "drivers: {w: {from: distance, radius: .nan}}\n",
            "rig.yaml:1:39: drivers.w.radius: expected a radius",
        ),
        (
            "drivers: {l_knee: {from: distance, radius: 1}}\n",
            "rig.yaml:1:11: drivers: expected a joint that is not",
        ),
        ("root_offset: [1, 2]\n", "rig.yaml:1:14: root_offset: expected three numbers"),
    ] {
        let told = RigFile::parse("rig.yaml", text).unwrap_err().to_string();
        assert!(told.starts_with(expected), "{told}\n  instead of\n{expected}");
    }
}
