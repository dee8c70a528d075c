//! Small versions of cases of the validation, so that a model that stops working does not wait for somebody to run them all.

use promenade_crowd::Settings;
use promenade_crowd::validation::{CASES, Size, Verdict, named};

fn rows(case: &str, planner: &str) -> Vec<(String, f64, Verdict)> {
    let settings = Settings { local_planner: planner.to_owned(), ..Settings::default() };
    let outcome =
        named(case).and_then(|case| case.run(&settings, Size::Quick)).unwrap_or_else(|e| panic!("{e}"));
    outcome.rows.into_iter().map(|row| (row.figure, row.measured, row.verdict)).collect()
}

#[test]
fn somebody_keeps_a_prescribed_speed() {
    for planner in ["sfm", "hsfm"] {
        let rows = rows("rimea_1", planner);
        assert!(rows.iter().all(|row| row.2 == Verdict::Pass), "{planner}: {rows:?}");
    }
}

#[test]
fn a_group_gets_around_a_corner_without_going_through_walls() {
    let rows = rows("rimea_6", "sfm");
    assert_eq!(
        rows.iter().find(|row| row.0.contains("through a wall")).map(|row| row.1),
        Some(0.0),
        "{rows:?}"
    );
}

#[test]
fn people_set_off_when_they_are_told_to() {
    let rows = rows("rimea_5", "sfm");
    assert!(rows.iter().all(|row| row.2 == Verdict::Pass), "{rows:?}");
}

#[test]
fn a_case_gives_the_same_rows_again_and_with_two_threads() {
    let case = named("lanes").expect("there");
    let run = |threads| {
        let settings = Settings { threads, ..Settings::default() };
        case.run(&settings, Size::Quick).expect("runs").rows
    };
    assert_eq!(run(1), run(2));
}

#[test]
fn people_slow_down_where_it_is_dense() {
    let rows = rows("fundamental_diagram", "sfm");
    assert!(rows[0].1 > rows[1].1 + 0.1, "{rows:?}");
}

#[test]
fn an_unknown_case_is_answered_with_those_there_are() {
    let error = named("lane").expect_err("unknown").to_string();
    assert!(error.contains("lanes") && error.contains("rimea_15"), "{error}");
    let mut names = CASES.map(|case| case.name);
    names.sort_unstable();
    assert!(names.windows(2).all(|pair| pair[0] != pair[1]));
}
