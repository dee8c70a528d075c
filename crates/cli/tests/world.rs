//! `promenade world` and `promenade bench world`, as somebody at a terminal uses them.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;
use tempfile::TempDir;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn promenade(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_promenade"))
        .args(args)
        .current_dir(root())
        .stdin(Stdio::null())
        .output()
        .expect("starts")
}

fn said(output: &Output) -> String {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn complaint(args: &[&str]) -> String {
    let output = promenade(args);
    assert_eq!(output.status.code(), Some(1), "{args:?}");
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn folder() -> TempDir {
    tempfile::tempdir().expect("a temporary folder")
}

fn within(folder: &TempDir, name: &str) -> String {
    folder.path().join(name).display().to_string()
}

fn written(folder: &TempDir, text: &str) -> String {
    let file = within(folder, "w.yaml");
    std::fs::write(&file, text).expect("written");
    file
}

fn json(file: &str) -> Value {
    serde_json::from_str(&std::fs::read_to_string(file).expect("a file")).expect("JSON")
}

/// The document that `--out` writes.
fn document(arguments: &[&str]) -> Value {
    let folder = folder();
    let out = within(&folder, "out.json");
    let mut all = vec!["world"];
    all.extend(arguments);
    all.extend(["--out", &out]);
    said(&promenade(&all));
    json(&out)
}

/// How far two documents of equal form are apart, at most; anything but numbers must be equal.
fn apart(a: &Value, b: &Value, at: &str) -> f64 {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => {
            (a.as_f64().expect("a number") - b.as_f64().expect("a number")).abs()
        }
        (Value::Array(a), Value::Array(b)) => {
            assert_eq!(a.len(), b.len(), "{at}");
            let parts = a.iter().zip(b).enumerate();
            parts.map(|(index, (a, b))| apart(a, b, &format!("{at}[{index}]"))).fold(0.0, f64::max)
        }
        (Value::Object(a), Value::Object(b)) => {
            assert!(a.keys().eq(b.keys()), "{at}: {:?} and {:?}", a.keys(), b.keys());
            a.iter().map(|(key, value)| apart(value, &b[key], &format!("{at}.{key}"))).fold(0.0, f64::max)
        }
        _ => {
            assert_eq!(a, b, "{at}");
            0.0
        }
    }
}

#[test]
fn a_recorded_world_is_written_as_it_was_recorded() {
    for (world, tolerance) in [("01_diff_dash", 1e-6), ("05_stop_mode", 1e-6), ("13_push_boxes", 1e-5)] {
        let file = format!("crates/robot_world/tests/data/{world}.yaml");
        let recorded = json(&root().join(&file).with_extension("json").display().to_string());
        let ours = document(&[&file]);
        for key in
            ["format", "world", "steps", "seed", "collision_mode", "done_all_step", "done_any_step", "status"]
        {
            assert_eq!(ours[key], recorded[key], "{world}: {key}");
        }
        for key in ["trajectory", "objects", "contact_force", "contact_events", "final_timers"] {
            if recorded.get(key).is_some() {
                let far = apart(&ours[key], &recorded[key], &format!("{world}: {key}"));
                // Forces have their own limit.
                let tolerance = if key == "contact_force" { 1e-3 } else { tolerance };
                assert!(far <= tolerance, "{world}: {key} differs by {far}");
            }
        }
    }
}

#[test]
fn options_win_over_the_script_and_equal_seeds_give_equal_documents() {
    let noisy = "custom: {steps: 9, seed: 3, actions: [{from: 2, to: 4, object: r, action: [0.5, 0.1]}]}
robot: [{name: r, kinematics: {name: diff, noise: true}, shape: {name: circle}, goal: [8, 8, 0], behavior: {name: dash}}]
";
    let folder = folder();
    let file = written(&folder, noisy);
    let scripted = document(&[&file]);
    assert_eq!((&scripted["steps"], &scripted["seed"]), (&9.into(), &3.into()));
    assert_eq!(scripted["trajectory"]["r"]["velocity"][2], serde_json::json!([0.5, 0.1]));
    assert_eq!(scripted, document(&[&file, "--seed", "3"]));
    let other = document(&[&file, "--seed", "4", "--steps", "12"]);
    assert_eq!(other["steps"], 12);
    assert_ne!(scripted["trajectory"]["r"]["state"][8], other["trajectory"]["r"]["state"][8]);
}

#[test]
fn without_a_number_of_steps_a_world_runs_until_every_robot_has_arrived() {
    let folder = folder();
    let near = "robot: [{kinematics: {name: omni}, shape: {name: circle}, state: [1, 1, 0], goal: [2.05, 1, 0], behavior: {name: dash}}]\n";
    let text = said(&promenade(&["world", &written(&folder, near)]));
    assert!(text.starts_with("w: 10 steps of 0.1 s, 1.0 s, in "), "{text}");
    assert!(text.contains("; Arrived\n") && text.contains("1 robot: 1 arrived, 0 collided"), "{text}");
    let nobody = said(&promenade(&["world", &written(&folder, "world: {step_time: 0.05}\n")]));
    assert!(nobody.starts_with("w: 1000 steps of 0.05 s, 50.0 s"), "{nobody}");
}

#[test]
fn every_mistake_of_a_file_is_told_at_once() {
    let folder = folder();
    let file = written(
        &folder,
        "world: {heigth: 4}
robot:
  - {kinematics: {name: difff}, shape: {name: circle}}
  - {kinematics: {name: diff}, shape: {name: triangle}, vel_maxx: [1, 1]}
",
    );
    let text = complaint(&["world", &file, "--steps", "1"]);
    for part in [
        "w.yaml:1:9: error: world.heigth",
        "height",
        "robot[0].kinematics.name",
        "difff",
        "omni_angular",
        "robot[1].shape.name",
        "triangle",
        "robot[1].vel_maxx",
        "vel_max",
    ] {
        assert!(text.contains(part), "{part} is not in\n{text}");
    }
    let missing = complaint(&["world", &within(&folder, "none.yaml")]);
    assert!(missing.contains("none.yaml") && missing.contains("not found"), "{missing}");
}

#[test]
fn lenient_files_run_with_a_warning() {
    let folder = folder();
    let file = written(
        &folder,
        "world: {heigth: 4}\nrobot: [{kinematics: {name: diff}, shape: {name: circle}, colour: red, behavior: {name: dash}}]\n",
    );
    assert!(complaint(&["world", &file, "--steps", "3"]).contains("robot[0].colour"));
    let output = promenade(&["world", &file, "--steps", "3", "--lenient"]);
    said(&output);
    let warnings = String::from_utf8_lossy(&output.stderr);
    assert!(warnings.contains("warning: world.heigth") && warnings.contains("robot[0].colour"), "{warnings}");
}

#[test]
fn mistakes_of_a_script_and_of_a_command_are_told() {
    let folder = folder();
    let with = |custom: &str| {
        let robot = "robot: [{kinematics: {name: diff}, shape: {name: circle}, behavior: {name: dash}}]";
        complaint(&["world", &written(&folder, &format!("custom: {custom}\n{robot}\n"))])
    };
    let text = with("{steps: many}");
    assert!(text.contains("custom.steps") && text.contains("many"), "{text}");
    let text = with("{steps: 5, actions: [{from: 2, to: 5, object: robot_0, action: [1]}]}");
    assert!(
        text.contains("in step 2") && text.contains("robot_0") && text.contains("linear, angular"),
        "{text}"
    );
    let text = with("{steps: 5, actions: [{from: 0, to: 5, object: nobody, action: [1, 0]}]}");
    assert!(text.contains("nobody"), "{text}");
}

#[test]
fn a_warning_is_told_once() {
    let folder = folder();
    let file = written(
        &folder,
        "robot: [{kinematics: {name: diff}, shape: {name: circle, radius: 0.3}, state: [1, 1, 0], goal: [9, 1, 0], behavior: {name: dash}}]
obstacle: [{shape: {name: circle, radius: 0.5}, state: [4, 1, 0]}]
",
    );
    let output = promenade(&["world", &file, "--steps", "60"]);
    assert!(said(&output).contains("1 robot: 0 arrived, 1 stopped by a collision, 1 collided"));
    let warnings = String::from_utf8_lossy(&output.stderr);
    assert_eq!(warnings.matches("robot_0: collides").count(), 1, "{warnings}");
}

#[test]
fn keyboard_needs_a_terminal() {
    let text = complaint(&["world", "configs/robot_worlds/office.yaml", "--keyboard"]);
    assert!(text.contains("--keyboard needs a terminal"), "{text}");
    let folder = folder();
    let file = written(&folder, "robot: [{shape: {name: circle}}]\n");
    assert!(complaint(&["world", &file, "--keyboard"]).contains("nothing to drive"));
}

#[test]
fn pictures_are_drawn_of_every_shipped_world() {
    let folder = folder();
    let (png, gif) = (within(&folder, "p.png"), within(&folder, "p.gif"));
    for world in shipped() {
        said(&promenade(&["world", &world, "--steps", "4", "--plot", &png, "--gif", &gif, "--speed", "2"]));
        let [picture, moving] = [&png, &gif].map(|file| std::fs::read(file).expect("written"));
        assert!(picture.starts_with(b"\x89PNG") && picture.len() > 5_000, "{world}");
        assert!(moving.starts_with(b"GIF89a") && moving.len() > 2_000, "{world}");
    }
}

#[test]
fn shipped_worlds_are_checked_without_a_word() {
    let worlds = shipped();
    let args: Vec<&str> = std::iter::once("check").chain(worlds.iter().map(String::as_str)).collect();
    let text = said(&promenade(&args));
    assert!(text.starts_with("0 errors, 0 warnings, 0 hints"), "{text}");
}

fn shipped() -> Vec<String> {
    let entries = std::fs::read_dir(root().join("configs/robot_worlds")).expect("shipped");
    let files = entries.map(|entry| entry.expect("a file").path());
    let mut files: Vec<String> = files
        .filter(|file| file.extension().is_some_and(|ending| ending == "yaml"))
        .map(|file| file.display().to_string())
        .collect();
    files.sort();
    assert!(files.len() >= 5);
    files
}

#[test]
fn the_bench_writes_its_worlds_and_a_row_for_each() {
    let folder = folder();
    for (case, figure) in
        [("dash", "robots"), ("rvo", "robots"), ("lidar", "beams"), ("scan", "beams"), ("push", "contacts")]
    {
        let file = within(&folder, "bench.yaml");
        said(&promenade(&["bench", "world", "--case", case, "--robots", "9", "--write", &file]));
        said(&promenade(&["world", &file, "--steps", "2"]));
        let row =
            said(&promenade(&["bench", "world", "--case", case, "--robots", "9", "--rounds", "1", "--json"]));
        let row: Value = serde_json::from_str(&row).expect("JSON");
        assert_eq!((&row["bench"], &row["case"]), (&"world".into(), &case.into()));
        assert!(row["steps_per_s"].as_f64().expect("a number") > 0.0);
        assert!(row[figure].as_u64().expect("a number") > 0, "{row}");
    }
}
