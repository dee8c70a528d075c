//! `promenade hunav` and `promenade bench hunav`, as somebody at a terminal uses them.

use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

fn promenade(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_promenade"))
        .args(args)
        .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("../hunav/tests/reference"))
        .output()
        .expect("runs")
}

fn told(output: &Output) -> String {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn rows_have_the_columns_and_the_steps_of_the_format_and_are_a_scene_again() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let out = folder.path().join("rows.json").display().to_string();
    for name in ["s07_service_v15_scared.json", "s02_head_on.json", "probe_forces.json"] {
        told(&promenade(&["hunav", name, "--out", &out]));
        let read = |path: &str| -> Value {
            let at = Path::new(env!("CARGO_MANIFEST_DIR")).join("../hunav/tests/reference").join(path);
            serde_json::from_str(&std::fs::read_to_string(at).expect("there")).expect("JSON")
        };
        let (ours, theirs) = (read(&out), read(name));
        assert_eq!(ours["columns"], theirs["columns"], "{name}");
        let keys = |file: &Value| -> Vec<(Value, Value)> {
            let rows = file["expected"].as_array().into_iter().flatten();
            rows.map(|row| (Value::from(row[0].as_f64()), Value::from(row[1].as_f64()))).collect()
        };
        assert_eq!(keys(&ours), keys(&theirs), "{name}: steps and ids in the order of the answer");
        assert!(
            told(&promenade(&["hunav", &out, "--compare"])).contains("largest deviation 0.0e0"),
            "{name}"
        );
    }
}

#[test]
fn a_comparison_fails_where_a_column_is_beyond_its_tolerance() {
    let within = promenade(&["hunav", "s06_service_v1_regular_impassive.json", "--compare"]);
    assert!(told(&within).starts_with("within  s06_service_v1_regular_impassive: largest deviation"));
    let beyond = promenade(&["hunav", "s08_service_v15_mixed.json", "--compare", "--robust"]);
    assert_eq!(beyond.status.code(), Some(1), "robust mode does not have the original's faults");
    let text = String::from_utf8_lossy(&beyond.stdout).into_owned();
    assert!(text.starts_with("BEYOND") && text.contains("        state: 1.0e0, at most 0e0"), "{text}");
}

#[test]
fn what_is_no_scene_is_told_with_its_place() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = folder.path().join("scene.json");
    let shown = file.display().to_string();
    let says = |text: &str, expected: &[&str]| {
        std::fs::write(&file, text).expect("written");
        let output = promenade(&["hunav", &shown]);
        assert!(!output.status.success());
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(expected.iter().all(|part| said.contains(part)), "{said}");
    };
    says("{\n  \"format\": 7}", &[&shown, "line 2 column"]);
    says(r#"{"format": "crowd-reference/1"}"#, &["crowd-reference/1", "hunav-reference/1"]);
    says(
        "{\"format\": \"hunav-reference/1\",\n \"name\": \"a\", \"stepz\": 3}",
        &["unknown field `stepz`", "line 2 column"],
    );
    says(
        r#"{"format": "hunav-reference/1", "name": "a", "level": "service", "semantics": {"obstacle": "sum"},
            "dt": 0.1, "steps": 3, "agents": []}"#,
        &["needs a `robot`"],
    );
    let library = promenade(&["hunav", "s01_two_goals.json", "--robust"]);
    assert!(String::from_utf8_lossy(&library.stderr).contains("scenes of level `service`"));
}

#[test]
fn a_plot_is_a_picture() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = folder.path().join("p.png");
    told(&promenade(&["hunav", "s05_group.json", "--plot", &file.display().to_string()]));
    let bytes = std::fs::read(&file).expect("written");
    assert_eq!(&bytes[1..4], b"PNG");
    let cases = promenade(&["hunav", "probe_forces.json", "--plot", &file.display().to_string()]);
    assert!(String::from_utf8_lossy(&cases.stderr).contains("24 cases"));
}

#[test]
fn the_benchmark_measures_both_modes() {
    let text = told(&promenade(&["bench", "hunav", "--agents", "12", "--json"]));
    let rows: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert_eq!(
        rows.iter().map(|row| row["mode"].as_str()).collect::<Vec<_>>(),
        [Some("robust"), Some("strict")]
    );
    for row in &rows {
        assert_eq!((row["bench"].as_str(), row["agents"].as_u64()), (Some("hunav"), Some(12)));
        assert!(row["ms_per_call"].as_f64() > Some(0.0) && row["allocations_per_call"] == 0.0, "{row}");
    }
}
