//! Motion that a biomechanist would not laugh at, in numbers. `docs/motion.md` holds the table.

use promenade_gait::{
    ProfileLibrary,
    quality::{MotionQuality, adult_cadence_hz, measure},
    rig::Rig,
};

fn at(stem: &str, speed: f64) -> MotionQuality {
    measure(ProfileLibrary::builtin().gait(stem).unwrap(), speed, &Rig::default())
}

const OURS: [(&str, f64); 8] = [
    ("walk_creep", 0.4),
    ("walk_slow", 0.8),
    ("walk_level", 1.2),
    ("walk_fast", 1.6),
    ("elder", 0.9),
    ("child", 1.0),
    ("hurried", 1.8),
    ("limping", 0.8),
];

#[test]
fn our_feet_stand_still_at_every_speed() {
    for (stem, speed) in OURS {
        for speed in [0.5 * speed, speed, 1.2 * speed] {
            let quality = at(stem, speed);
            assert!(quality.slide_m < 0.02, "{stem} at {speed}: {quality:?}");
        }
    }
}

#[test]
fn our_feet_stay_on_the_floor() {
    for (stem, speed) in OURS {
        let quality = at(stem, speed);
        assert!(quality.lowest_m > -0.012, "{stem}: {quality:?}");
        assert!(quality.floating_m < 0.015, "{stem}: {quality:?}");
    }
}

#[test]
fn our_adults_move_as_far_as_the_normative_curves() {
    // Hip 40, knee 60, ankle 30 degrees; one standard deviation of about 6, 6 and 5 degrees.
    for stem in ["walk_slow", "walk_level", "walk_fast"] {
        let speed = OURS.iter().find(|(known, _)| *known == stem).unwrap().1;
        let ranges = at(stem, speed).ranges.map(f64::to_degrees);
        for (range, (expected, deviation)) in ranges.into_iter().zip([(40.0, 6.0), (60.0, 6.0), (30.0, 5.0)])
        {
            assert!((range - expected).abs() <= deviation, "{stem}: {ranges:?}");
        }
    }
}

#[test]
fn a_natural_walk_changes_stride_and_cadence_with_speed_and_slides_at_none() {
    let mut before = at("natural", 0.4);
    for step in 1..=30 {
        let speed = 0.4 + 0.04 * f64::from(step);
        let quality = at("natural", speed);
        assert!(quality.slide_m < 0.02, "{quality:?}");
        assert!(quality.lowest_m > -0.012 && quality.floating_m < 0.015, "{quality:?}");
        assert!((quality.cadence_hz - adult_cadence_hz(speed, 1.65)).abs() < 0.012, "{quality:?}");
        assert!(quality.stride_m > before.stride_m && quality.cadence_hz > before.cadence_hz);
        before = quality;
    }
}

#[test]
fn a_natural_walk_starts_and_stops_out_of_standing() {
    for step in 1..=8 {
        let quality = at("natural", 0.05 * f64::from(step));
        assert!(quality.lowest_m > -0.03, "{quality:?}");
        assert!(quality.ranges.iter().all(|range| *range < 0.2 * f64::from(step)), "{quality:?}");
    }
    let mut pose = [0.0; promenade_gait::JOINT_COUNT];
    ProfileLibrary::builtin().gait("natural").unwrap().at_speed(1.0, 0.0, &mut pose);
    assert!(pose.iter().all(|value| *value == 0.0), "standing straight");
}

#[test]
fn our_adults_step_as_often_as_people_do() {
    for (stem, speed) in [("walk_slow", 0.8), ("walk_level", 1.2), ("walk_fast", 1.6)] {
        let found = at(stem, speed).cadence_hz;
        let expected = adult_cadence_hz(speed, 1.65);
        assert!((found - expected).abs() < 0.01, "{stem}: {found} {expected}");
    }
}

#[test]
fn the_contracts_walk_gives_what_it_gives() {
    let quality = at("walk_cmu_12_01", 1.2);
    assert!((0.1..0.6).contains(&quality.slide_m), "{quality:?}");
    assert_eq!(quality.ranges[2], 0.0, "it has no ankles");
    assert!((quality.cadence_hz - 1.06).abs() < 1e-12);
}

#[test]
fn measuring_backwards_and_at_rest() {
    let back = at("walk_level", -1.2);
    assert!((back.slide_m - at("walk_level", 1.2).slide_m).abs() < 1e-3, "{back:?}");
    let still = at("walk_level", 0.0);
    assert_eq!((still.slide_m, still.stride_m), (0.0, 0.0));
}
