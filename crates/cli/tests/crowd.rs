//! `promenade crowd` and `promenade bench validate`, as somebody at a terminal uses them.

use std::path::Path;
use std::process::{Command, Output};

fn promenade(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_promenade"))
        .args(args)
        .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("../.."))
        .output()
        .expect("runs")
}

fn told(output: &Output) -> String {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn a_scenario_gives_the_same_people_in_every_format() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = |name: &str| folder.path().join(name).display().to_string();
    for name in ["t.txt", "t.csv", "t.json", "t.sqlite"] {
        told(&promenade(&[
            "crowd",
            "configs/crowd/circle.yaml",
            "--ticks",
            "40",
            "--every",
            "4",
            "--out",
            &file(name),
        ]));
    }
    let text = std::fs::read_to_string(file("t.txt")).expect("written");
    assert!(text.contains("# framerate: 5 fps\n"), "{}", &text[..200]);
    let rows = text.lines().filter(|line| !line.starts_with('#')).count();
    assert_eq!(rows, 12 * 10);
    assert_eq!(std::fs::read_to_string(file("t.csv")).expect("written").lines().count(), 1 + rows);
    let json: serde_json::Value =
        serde_json::from_str(&std::fs::read_to_string(file("t.json")).expect("written")).expect("JSON");
    assert_eq!(json["run"]["x"].as_array().map(Vec::len), Some(rows));
    let database = rusqlite::Connection::open(file("t.sqlite")).expect("opens");
    let count: i64 =
        database.query_row("SELECT COUNT(*) FROM trajectory_data", [], |row| row.get(0)).expect("rows");
    assert_eq!(count, rows as i64);
}

#[test]
fn a_plot_is_a_picture() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = folder.path().join("p.png");
    let shown = file.display().to_string();
    told(&promenade(&[
        "crowd",
        "configs/crowd/hall.yaml",
        "--ticks",
        "60",
        "--plot",
        &shown,
        "--seed",
        "-3",
    ]));
    let bytes = std::fs::read(&file).expect("written");
    assert!(bytes.starts_with(b"\x89PNG") && bytes.len() > 5_000);
}

#[test]
fn mistakes_are_told_before_anything_runs() {
    let error = |args: &[&str]| {
        let output = promenade(args);
        assert!(!output.status.success(), "{args:?}");
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    let ending = error(&["crowd", "configs/crowd/circle.yaml", "--out", "rows.xls"]);
    assert!(ending.contains(".sqlite (JuPedSim)"), "{ending}");
    let planner = error(&["crowd", "configs/crowd/circle.yaml", "--planner", "sfn"]);
    assert!(planner.contains("sfm"), "{planner}");
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = folder.path().join("s.yaml");
    std::fs::write(&file, "agents: [{spawn_pos: {x: 0, y: 0}}]\n").expect("written");
    let key = error(&["crowd", &file.display().to_string(), "--ticks", "1"]);
    assert!(key.contains("s.yaml:1:11: error: agents[0]") && key.contains("spawn_pose"), "{key}");
    let case = error(&["bench", "validate", "--case", "lane"]);
    assert!(case.contains("lanes"), "{case}");
}

#[test]
fn shipped_scenarios_are_checked_without_a_word() {
    let files: Vec<String> =
        std::fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../configs/crowd"))
            .expect("shipped")
            .map(|entry| entry.expect("a file").path().display().to_string())
            .collect();
    let args: Vec<&str> = std::iter::once("check").chain(files.iter().map(String::as_str)).collect();
    let said = told(&promenade(&args));
    assert!(said.starts_with("0 errors, 0 warnings, 0 hints"), "{said}");
}

#[test]
fn a_validation_has_a_row_per_figure_and_a_page() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let page = folder.path().join("page.md");
    let plots = folder.path().join("plots");
    let said = told(&promenade(&[
        "bench",
        "validate",
        "--quick",
        "--json",
        "--case",
        "rimea_8",
        "--report",
        &page.display().to_string(),
        "--plot",
        &plots.display().to_string(),
    ]));
    for line in said.lines() {
        let row: serde_json::Value = serde_json::from_str(line).expect("JSON");
        assert_eq!((&row["bench"], &row["case"]), (&"validate".into(), &"rimea_8".into()));
        assert!(["pass", "fail", "documented"].contains(&row["verdict"].as_str().expect("a word")));
    }
    assert_eq!(said.lines().count(), 3);
    assert!(plots.join("rimea_8_time_sfm.png").is_file());
    let page = std::fs::read_to_string(page).expect("written");
    assert!(page.contains("![Time to empty a room](plots/rimea_8_time_sfm.png)"), "{page}");
}
