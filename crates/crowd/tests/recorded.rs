//! The recorded runs of the original engine, within the tolerances that came with them.

use promenade_crowd::run_file::{Rows, RunFile, RunOptions};
use serde_json::Value;

const FILES: [(&str, &str); 5] = [
    ("sfm_pool", include_str!("data/sfm_pool.json")),
    ("hsfm_pool", include_str!("data/hsfm_pool.json")),
    ("collision_pool", include_str!("data/collision_pool.json")),
    ("sfm_corridor", include_str!("data/sfm_corridor.json")),
    ("hsfm_corridor", include_str!("data/hsfm_corridor.json")),
];

fn document(name: &str) -> Value {
    let (_, text) = FILES.iter().find(|(file, _)| *file == name).expect("a file");
    serde_json::from_str(text).expect("JSON")
}

fn run(name: &str, options: RunOptions) -> Rows {
    let (_, text) = FILES.iter().find(|(file, _)| *file == name).expect("a file");
    RunFile::parse(text).expect("a recorded run").run(options).expect("runs")
}

/// Compare with one set of rows; `at[i]` is the step of its row `i`.
fn compare(name: &str, rows: &Rows, recorded: &Value, at: &[usize], tolerance: f64) {
    for (i, step) in at.iter().enumerate() {
        for column in Rows::COLUMNS {
            let ours = &rows.column(column).expect("a column")[*step];
            let theirs = recorded[column][i].as_array().expect("a row");
            assert_eq!(ours.len(), theirs.len());
            for (k, (a, b)) in ours.iter().zip(theirs).enumerate() {
                let difference = (a - b.as_f64().expect("a number")).abs();
                assert!(difference <= tolerance, "{name}: {column} of {} at {step}: {a} {b}", rows.ids[k]);
            }
        }
    }
}

fn check(name: &str, options: RunOptions) {
    let (file, rows) = (document(name), run(name, options));
    let tolerance = |of: &str| file["tolerance"][of].as_f64().expect("a tolerance");
    let (key, first) = if file["kind"] == "run" { ("ticks", 0) } else { ("steps", 1) };
    let listed = file["recorded"][key].as_array().expect("ticks");
    let recorded: Vec<usize> = listed.iter().map(|t| t.as_u64().expect("a tick") as usize - first).collect();
    let every: Vec<usize> = (0..rows.x.len()).collect();
    assert_eq!(every.len(), file["run"]["x"].as_array().expect("rows").len());
    compare(name, &rows, &file["recorded"], &recorded, tolerance("recorded"));
    compare(name, &rows, &file["run"], &every, tolerance("run"));
}

#[test]
fn the_social_force_alone_gives_the_recorded_rows() {
    check("sfm_pool", RunOptions::default());
}

#[test]
fn the_headed_social_force_alone_gives_the_recorded_rows() {
    check("hsfm_pool", RunOptions::default());
}

#[test]
fn contacts_alone_give_the_recorded_rows_and_move_the_same_people_out_of_walls() {
    check("collision_pool", RunOptions::default());
    let pushed = run("collision_pool", RunOptions::default()).pushed_by_walls;
    assert_eq!(serde_json::json!(pushed), document("collision_pool")["pushed_by_walls"]);
}

#[test]
fn whole_runs_give_the_recorded_rows_at_every_tick() {
    check("sfm_corridor", RunOptions::default());
    check("hsfm_corridor", RunOptions::default());
}

#[test]
fn whole_runs_give_the_recorded_rows_when_the_agents_are_drawn_from_the_seed() {
    let sampled = RunOptions { sampled: true, ..RunOptions::default() };
    check("sfm_corridor", sampled);
    check("hsfm_corridor", sampled);
}

#[test]
fn the_number_of_threads_changes_nothing() {
    for name in ["sfm_corridor", "hsfm_corridor"] {
        let two = RunOptions { threads: 2, ..RunOptions::default() };
        assert_eq!(run(name, two), run(name, RunOptions::default()));
    }
}

#[test]
fn a_run_comes_out_in_the_shape_it_came_in() {
    for (name, text) in FILES {
        let file = RunFile::parse(text).expect("a recorded run");
        let ticks = RunOptions { ticks: Some(3), ..RunOptions::default() };
        let written = file.with_rows(&file.run(ticks).expect("runs"));
        let original = document(name);
        assert_eq!(written["columns"], original["columns"]);
        assert_eq!(written["scene"], original["scene"]);
        assert!(written.get("recorded").is_none());
        assert_eq!(written["run"]["vy"].as_array().map(Vec::len), Some(3));
        let keys = |file: &Value| file["run"].as_object().map(|o| o.keys().cloned().collect::<Vec<_>>());
        assert_eq!(keys(&written), keys(&original));
        if original.get("ids").is_some() {
            assert_eq!(written["ids"], original["ids"]);
        }
    }
}
