//! The twenty worlds recorded with IR-SIM 2.12, run by their scripts and compared within the tolerances they were published with.
//!
//! `cargo test -p promenade_robot_world --test recorded -- --nocapture` prints the largest deviations of each world.

mod compare;
mod lossy;

use std::path::{Path, PathBuf};

use promenade_robot_world::file::ReadOptions;
use promenade_robot_world::record::{Script, record};
use promenade_robot_world::registry::Registry;
use promenade_robot_world::spec::WorldSpec;
use serde_json::Value;

use compare::{Comparison, Tolerances};

fn data(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(file)
}

/// Runs a world by its script.
fn run(name: &str) -> Value {
    let mut registry = Registry::built_in();
    registry.register_model(lossy::entry()).expect("the name is free");
    let path = data(&format!("{name}.yaml"));
    let spec = WorldSpec::read(&path, &registry, &ReadOptions::default());
    let spec = spec.unwrap_or_else(|report| panic!("{report}")).value;
    let script = Script::of(&spec.custom).expect("a script");
    record(&spec, &script).expect("it runs")
}

#[expect(clippy::print_stdout, reason = "the table of deviations, seen with --nocapture")]
fn compared(name: &str, tolerances: &Tolerances) {
    let text = std::fs::read_to_string(data(&format!("{name}.json"))).expect("a recorded run");
    let expected: Value = serde_json::from_str(&text).expect("JSON");
    let mut comparison = Comparison::new(tolerances);
    comparison.documents(&expected, &run(name));
    println!("{name:22} {comparison}");
    assert!(comparison.problems.is_empty(), "{name}:\n{}", comparison.problems.join("\n"));
}

macro_rules! worlds {
    ($($test:ident: $name:literal, $tolerances:expr;)*) => {
        $(#[test] fn $test() { compared($name, &$tolerances); })*
    };
}

worlds! {
    diff_robots_dash: "01_diff_dash", Tolerances::default();
    omni_robots_dash: "02_omni_dash", Tolerances::default();
    cars_drive: "03_acker", Tolerances::default();
    commands_come_from_outside: "04_open_loop", Tolerances::default();
    who_touches_stops: "05_stop_mode", Tolerances { unobstructed: "obstacle_14", ..Tolerances::default() };
    way_points_loop: "06_waypoints_overlap", Tolerances::default();
    scanners_see_shapes: "07_lidar_shapes", Tolerances::default();
    radial_velocities_and_views: "08_fmcw_fov", Tolerances::default();
    rvo_robots_cross: "09_rvo_crossing", Tolerances::rvo();
    rvo_robots_meet_walls: "10_rvo_walls", Tolerances::rvo();
    sfm_robots_pass: "11_sfm_corridor", Tolerances::default();
    groups_plan: "12_group_behaviors", Tolerances::groups();
    boxes_are_pushed: "13_push_boxes", Tolerances::contact();
    rows_of_boxes_and_a_wall: "14_chain_wall", Tolerances::contact();
    boxes_slide: "15_slide_decay", Tolerances::contact();
    bodies_bounce: "16_restitution", Tolerances::contact();
    grip_limits_drives: "17_drive_limits", Tolerances::contact();
    loads_turn: "18_offcentre_push", Tolerances::contact();
    walls_hold_and_deflect: "19_friction_cone", Tolerances { unobstructed: "ghost", ..Tolerances::contact() };
    a_map_is_a_wall: "20_grid_map", Tolerances::contact();
}
