//! The commands as a user types them, from the root of the repository.

use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

fn promenade(arguments: &[&str]) -> Output {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    Command::new(env!("CARGO_BIN_EXE_promenade")).args(arguments).current_dir(root).output().expect("starts")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("UTF-8")
}

fn run_report(seed: &str, scenario: &str) -> String {
    let folder = tempfile::tempdir().expect("temporary folder");
    let report = folder.path().join("r.json");
    let report_path = report.to_str().expect("UTF-8 path");
    let output = promenade(&[
        "run",
        scenario,
        "--duration",
        "60",
        "--rtf",
        "0",
        "--seed",
        seed,
        "--report",
        report_path,
    ]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    std::fs::read_to_string(report).expect("a report")
}

#[test]
fn two_runs_with_one_seed_give_identical_reports() {
    let first = run_report("7", "clinic/waiting_room");
    assert_eq!(first, run_report("7", "clinic/waiting_room"));
    assert_ne!(first, run_report("8", "clinic/waiting_room"), "the seed decides something");
}

#[test]
fn robots_drive_to_where_their_phases_send_them_and_end_the_episode() {
    let scenario = "tests/scenarios/hospital/scenarios/fire_alarm";
    let report: Value = serde_json::from_str(&run_report("0", scenario)).expect("JSON");
    assert_eq!(report["outcome"], "success");
    let robot = &report["robots"][0];
    assert_eq!(robot["task"], "completed");
    let end = |axis: usize| robot["end"][axis].as_f64().expect("a number");
    assert!((end(0) - 10.0).hypot(end(1) - 2.0) < 0.3, "{robot}");
    assert!(robot["distance_m"].as_f64().expect("a number") > 16.0, "{robot}");
}

#[test]
fn people_of_the_corridor_walk() {
    let report: Value = serde_json::from_str(&run_report("0", "clinic/corridor_crowd")).expect("JSON");
    let people = report["pedestrians"].as_array().expect("a list");
    assert_eq!(people.len(), 10);
    assert_eq!(report["scenario"], "clinic/corridor_crowd");
    for person in people {
        let distance = person["distance_m"].as_f64().expect("a number");
        assert!((20.0..150.0).contains(&distance), "{person}");
    }
    assert_eq!(report["timing"]["frames"], 1800);
    assert_eq!(report["timing"]["bus_messages"], 3000);
}

#[test]
fn the_real_corridor_of_the_hospital_runs() {
    let report: Value =
        serde_json::from_str(&run_report("0", "tests/scenarios/hospital/scenarios/corridor_crowd"))
            .expect("JSON");
    assert_eq!(report["pedestrians"].as_array().expect("a list").len(), 8);
    assert_eq!(report["robots"].as_array().expect("a list").len(), 1);
}

#[test]
fn nobody_is_walked_with_human_none() {
    let output = promenade(&["run", "clinic/corridor_crowd", "--human", "none", "--duration", "1"]);
    assert!(text(&output.stderr).contains("30 bus messages"), "{}", text(&output.stderr));
}

#[test]
fn a_backend_that_is_not_built_yet_says_so() {
    let output = promenade(&["run", "clinic/corridor_crowd", "--human", "arena"]);
    assert!(!output.status.success());
    assert!(text(&output.stderr).contains("human:=arena is not built yet; this version has dummy, none"));
}

#[test]
fn a_scenario_that_is_not_there_is_answered_with_where_it_was_looked_for() {
    let output = promenade(&["run", "clinic/corridor_crow"]);
    let stderr = text(&output.stderr);
    assert!(!output.status.success());
    assert!(stderr.contains("configs/worlds/clinic/scenarios/corridor_crow"), "{stderr}");
    assert!(stderr.contains("corridor_crowd"), "{stderr}");
}

#[test]
fn pose_prints_the_reference_vector() {
    let output = promenade(&[
        "pose", "--id", "7", "--state", "walk", "--speed", "-1.0", "--steps", "40", "--dt", "0.05", "--json",
    ]);
    let row: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let near = |value: &Value, expected: f64| (value.as_f64().expect("a number") - expected).abs() < 1e-9;
    assert!(near(&row["phase"], -11.815_879_036), "{row}");
    assert!(near(&row["joints"]["l_r_hip"], 0.464_312_849), "{row}");
    assert!(near(&row["positions"][31], -0.296_501_201), "r_knee is number 32: {row}");
    assert_eq!(row["positions"].as_array().expect("a list").len(), 40);
}

#[test]
fn check_finds_only_hints_in_the_real_folders_and_one_error_in_each_broken_file() {
    let output =
        promenade(&["check", "tests/scenarios/hospital", "configs/worlds/clinic", "profiles/run.yaml"]);
    let stdout = text(&output.stdout);
    assert!(output.status.success(), "{stdout}");
    assert!(stdout.contains("0 errors, 0 warnings, 3 hints"), "{stdout}");
    let broken = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/scenarios/broken");
    let mut files = 0;
    for entry in std::fs::read_dir(broken).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_file() {
            files += 1;
            let output = promenade(&["check", "--json", path.to_str().expect("UTF-8 path")]);
            assert_eq!(output.status.code(), Some(1), "{}", path.display());
            let first = text(&output.stdout);
            let line: Value = serde_json::from_str(first.lines().next().expect("a line")).expect("JSON");
            assert!(line["line"].as_u64().expect("a number") >= 1, "{line}");
            assert_eq!(line["severity"], "error", "{line}");
        }
    }
    assert_eq!(files, 10);
}

#[test]
fn check_speaks_of_profiles_too() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let profile = folder.path().join("mine.yaml");
    std::fs::write(&profile, "name: mine\ncadence: {base: 0.4, per_sped: 0.5}\nsame_as: run\n")
        .expect("written");
    let output = promenade(&["check", profile.to_str().expect("UTF-8 path")]);
    let stdout = text(&output.stdout);
    assert_eq!(output.status.code(), Some(1), "{stdout}");
    assert!(stdout.contains("mine.yaml:2:") && stdout.contains("per_speed"), "{stdout}");
}

#[test]
fn a_duration_beyond_the_clock_is_refused() {
    for duration in ["1e30", "nan", "inf", "-1"] {
        let output = promenade(&["run", "clinic/empty", &format!("--duration={duration}")]);
        let stderr = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{stderr}");
        assert!(stderr.contains("is not a number from 0 to 1e9"), "{stderr}");
    }
}

/// Temporary folders lie side by side, and each may hold a world of its own.
#[test]
fn worlds_beside_a_scenario_are_not_its_levels() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let write = |name: &str, file: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::create_dir_all(&path).expect("a folder");
        std::fs::write(path.join(file), text).expect("written");
        path.join(file).to_str().expect("UTF-8 path").to_owned()
    };
    write("other", "world.yaml", "zones: broken");
    let scenario = write("mine", "scenario.yaml", "dynamic: [{name: ann, model: arenian, pose: [0, 0]}]");
    let output = promenade(&["check", &scenario]);
    assert!(text(&output.stdout).starts_with("0 errors, 0 warnings, 0 hints"), "{}", text(&output.stdout));
    assert!(promenade(&["run", &scenario, "--duration", "1"]).status.success());

    let corners = "corners: [{x: 0, y: 0}, {x: 1, y: 0}, {x: 0, y: 1}]";
    let text_of_world = format!("levels: {{'0': {{zones: [{{name: hall, {corners}}}]}}}}");
    let world = write("flat", "world.yaml", &text_of_world);
    let output = promenade(&["check", &world]);
    assert!(output.status.success(), "{}", text(&output.stdout));
}

#[test]
fn check_follows_same_as_to_the_files_beside_and_the_shipped_ones() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).expect("written");
        path.to_str().expect("UTF-8 path").to_owned()
    };
    let good = write("good.yaml", "same_as: base\n");
    write("base.yaml", "same_as: run\ngain: {factor: 1.2}\n");
    let stranger = write("stranger.yaml", "same_as: bas\n");
    let circle = write("circle.yaml", "same_as: ring\n");
    write("ring.yaml", "same_as: circle\n");
    let output = promenade(&["check", &good]);
    assert!(output.status.success(), "{}", text(&output.stdout));
    for (file, told) in [(stranger, "bas"), (circle, "ring")] {
        let output = promenade(&["check", &file]);
        let stdout = text(&output.stdout);
        assert_eq!(output.status.code(), Some(1), "{stdout}");
        assert!(stdout.contains(told) && stdout.contains("1 error,"), "{stdout}");
    }
}
