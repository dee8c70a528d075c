//! Files nobody wrote on purpose: whatever comes in, loading ends, does not panic and points into the file.

use std::path::{Path, PathBuf};

use promenade_scenario::{
    AgentTypeError, AgentTypeFile, AgentTypeLibrary, Annotation, Report, Scenario, StandaloneScenario,
    Surroundings, World, check, tree,
};
use proptest::prelude::*;

const WORKED_EXAMPLE: &str = include_str!("data/worked_example.yaml");

/// The real folder and our own worlds, read at test time.
fn real_files() -> Vec<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let hospital = root.join("tests/scenarios/hospital");
    let clinic = root.join("configs/worlds/clinic");
    let files = [
        hospital.join("scenarios/flow/scenario.yaml"),
        hospital.join("scenarios/fire_alarm/scenario.yaml"),
        hospital.join("scenarios/fire_alarm/agent_types/evacuee.yaml"),
        hospital.join("scenarios/corridor_crowd/scenario.yaml"),
        clinic.join("scenarios/waiting_room/scenario.yaml"),
        hospital.join("0/world.yaml"),
    ];
    let mut texts: Vec<String> =
        files.iter().map(|f| std::fs::read_to_string(f).expect("a fixture")).collect();
    texts.push(WORKED_EXAMPLE.to_owned());
    texts.push(include_str!("data/standalone.yaml").to_owned());
    texts
}

/// Read a text as everything it could be, and give all reports.
fn read_as_everything(text: &str) -> Vec<Report> {
    let file = PathBuf::from("f.yaml");
    let mut reports = Vec::new();
    match Scenario::parse(text, &file) {
        Ok(loaded) => {
            reports.push(loaded.report);
            match loaded.value.resolve(&World::empty(), 1) {
                Ok(resolved) => reports.push(resolved.report),
                Err(report) => reports.push(report),
            }
        }
        Err(report) => reports.push(report),
    }
    reports.push(World::parse(text, &file, None).map_or_else(|r| r, |l| l.report));
    reports.push(World::parse(text, &file, Some("0")).map_or_else(|r| r, |l| l.report));
    reports.push(AgentTypeFile::parse(text, &file).map_or_else(|r| r, |l| l.report));
    reports.push(match AgentTypeLibrary::built_in().parse(text, &file) {
        Ok(resolved) => resolved.report,
        Err(AgentTypeError::Broken(report)) => report,
        Err(error) => panic!("{error}"),
    });
    reports.push(Annotation::parse(text, &file).map_or_else(|r| r, |l| l.report));
    reports.push(StandaloneScenario::parse(text, &file).map_or_else(|r| r, |l| l.report));
    reports
}

fn hold(text: &str) {
    let lines: Vec<usize> = text.lines().map(|l| l.chars().count()).collect();
    let reports = read_as_everything(text);
    for problem in reports.iter().flatten() {
        let line = problem.at.line as usize;
        assert!(line >= 1 && line <= lines.len().max(1), "{problem} in {} lines", lines.len());
        let length = lines.get(line - 1).copied().unwrap_or(0);
        let column = problem.at.column as usize;
        assert!(column >= 1 && column <= length + 1, "{problem} in a line of {length}");
        assert!(!problem.to_string().contains('\n'), "{problem}");
    }
    assert_eq!(reports, read_as_everything(text), "the same text gives the same report");
}

type Cut = (prop::sample::Index, usize, String);

/// Places to cut, how much to cut out there and what to put in instead.
fn cuts() -> impl Strategy<Value = Vec<Cut>> {
    let insert = "[a-z0-9:\\[\\]{}*&!,'\"\n -]{0,6}";
    proptest::collection::vec((any::<prop::sample::Index>(), 0_usize..20, insert), 1..5)
}

fn mutated(text: &str, cuts: &[Cut]) -> String {
    let mut text: Vec<char> = text.chars().collect();
    for (at, length, insert) in cuts {
        let start = at.index(text.len() + 1);
        let end = (start + length).min(text.len());
        text.splice(start..end, insert.chars());
    }
    text.into_iter().collect()
}

/// Check a mutated scenario in the real world, and the real scenarios in a mutated world.
fn hold_in_a_world(which: usize, text: &str) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/scenarios/hospital");
    let folder = tempfile::tempdir().expect("a temporary folder");
    let place = |file: &str, text: &str| {
        let path = folder.path().join(file);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        std::fs::write(path, text).expect("written");
    };
    let read = |file: &str| std::fs::read_to_string(root.join(file)).expect("a fixture");
    let (world, scenario) = (read("0/world.yaml"), read("scenarios/flow/scenario.yaml"));
    let (world, scenario) = if which == 5 { (text, scenario.as_str()) } else { (world.as_str(), text) };
    place("0/world.yaml", world);
    place("scenarios/it/scenario.yaml", scenario);
    place("scenarios/it/agent_types/evacuee.yaml", text);
    place("assets/Common/human/nurse/annotation.yaml", text);
    let surroundings = Surroundings { models: true, clips: vec!["wave".to_owned()], ..Default::default() };
    let paths = [folder.path().to_owned()];
    let first = check(&paths, &surroundings);
    for problem in &first.report {
        assert!(!problem.to_string().contains('\n'), "{problem}");
    }
    assert_eq!(first.report, check(&paths, &surroundings).report, "the same files give the same report");
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn arbitrary_text_is_survived(text in "\\PC{0,200}") {
        hold(&text);
    }

    #[test]
    fn arbitrary_bytes_are_survived(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        hold(&String::from_utf8_lossy(&bytes));
    }

    #[test]
    fn yaml_like_text_is_survived(text in "([a-z]{0,3}|name|pose|dynamic|zones|[\\[\\]{}:,&*!|>'\"#%@?\n\t -]|[0-9.e]{1,4}|<<|\\.nan){0,60}") {
        hold(&text);
    }

    #[test]
    fn mutated_real_files_are_survived(which in 0_usize..8, cuts in cuts()) {
        hold(&mutated(&real_files()[which], &cuts));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 40, ..ProptestConfig::default() })]

    #[test]
    fn checks_of_mutated_files_are_survived(which in 0_usize..7, cuts in cuts()) {
        hold_in_a_world(which, &mutated(&real_files()[which], &cuts));
    }
}

#[test]
fn real_files_point_into_themselves() {
    for text in real_files() {
        hold(&text);
    }
}

#[test]
fn bombs_are_refused() {
    let mut laughs = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
    for i in 1..9 {
        let items = vec![format!("*a{}", i - 1); 10].join(", ");
        laughs += &format!("a{i}: &a{i} [{items}]\n");
    }
    let deep_flow = "[".repeat(100_000);
    let deep_block: String = (0..3_000).map(|i| format!("{}a:\n", " ".repeat(i))).collect();
    let long = "x".repeat(tree::MAX_FILE_BYTES + 1);
    for text in [laughs.as_str(), &deep_flow, &deep_block, &long] {
        let report = Scenario::parse(text, Path::new("bomb.yaml")).expect_err("refused");
        assert_eq!(report.len(), 1, "{report}");
    }
}

#[test]
fn many_unknown_names_do_not_take_quadratic_time() {
    let zones: String =
        (0..8_000).map(|i| format!("- {{name: zone{i}, corners: [[0, 0], [1, 0], [1, 1]]}}\n")).collect();
    let world = World::parse(&format!("zones:\n{zones}"), Path::new("w/0/world.yaml"), Some("0"));
    let world = world.unwrap_or_else(|r| panic!("{r}")).value;
    let people: String = (0..8_000).map(|i| format!("- {{name: p{i}, model: m, pose: Xone{i}}}\n")).collect();
    let scenario = Scenario::parse(&format!("dynamic:\n{people}"), Path::new("s.yaml"));
    let scenario = scenario.unwrap_or_else(|r| panic!("{r}")).value;
    assert_eq!(scenario.resolve(&world, 0).expect_err("refused").len(), 8_000);
}

#[test]
fn a_huge_key_is_not_copied_into_every_path() {
    let text = format!("? {}\n: [{}]\n", "k".repeat(4_000_000), vec!["1"; 100_000].join(","));
    let reports = read_as_everything(&text);
    assert!(reports.iter().flatten().all(|p| p.to_string().len() < 5_000));
}

#[test]
fn a_large_honest_file_loads() {
    let people: String = (0..10_000)
        .map(|i| format!("- {{name: p{i}, model: m, pose: [{i}, 0], waypoints: [[{i}, 1], [{i}, 2]]}}\n"))
        .collect();
    let loaded = Scenario::parse(&format!("dynamic:\n{people}"), Path::new("big.yaml"));
    assert_eq!(loaded.unwrap_or_else(|r| panic!("{r}")).value.dynamics.len(), 10_000);
}
