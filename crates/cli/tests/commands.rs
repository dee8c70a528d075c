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

fn text_of(arguments: &[&str]) -> String {
    text(&promenade(arguments).stdout)
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
fn robots_are_bodies_among_people_whatever_the_number_of_threads() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let run = |name: &str, more: &[&str]| {
        let report = folder.path().join(name);
        let mut arguments = vec!["run", "hall/crowd", "--human", "arena", "--duration", "20", "--report"];
        arguments.push(report.to_str().expect("UTF-8 path"));
        arguments.extend(more);
        let output = promenade(&arguments);
        assert!(output.status.success(), "{}", text(&output.stderr));
        std::fs::read_to_string(report).expect("a report")
    };
    let first = run("one.json", &[]);
    assert_eq!(first, run("three.json", &["--threads", "3"]));
    let robot = |report: &str| serde_json::from_str::<Value>(report).expect("JSON")["robots"][0].clone();
    let porter = robot(&first);
    assert!(porter["distance_m"].as_f64().expect("a number") > 7.0, "{porter}");
    assert_eq!(porter["contacts"]["walls"], 0, "{porter}");
    assert!(porter["nearest_person_m"].as_f64().expect("people came by") > -0.01, "{porter}");
    let line = robot(&run("line.json", &["--sim", "dummy"]));
    assert!(line["distance_m"].is_number() && line.get("contacts").is_none(), "{line}");
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
fn people_react_to_a_robot_with_human_hunav() {
    let folder = tempfile::tempdir().expect("a folder");
    let report = |args: &[&str]| -> Value {
        let file = folder.path().join("report.json");
        let file = file.to_str().expect("text");
        let run = ["run", "hall/robot_reactions", "--human", "hunav", "--duration", "20", "--report", file];
        let output = promenade(&[&run, args].concat());
        assert!(output.status.success(), "{}", text(&output.stderr));
        serde_json::from_str(&std::fs::read_to_string(file).expect("a report")).expect("JSON")
    };
    let robust = report(&[]);
    let people = robust["pedestrians"].as_array().expect("a list");
    let seconds = |name: &str, state: &str| {
        let person = people.iter().find(|person| person["name"] == name).expect("somebody");
        person["states_s"][state].as_f64().unwrap_or(0.0)
    };
    for (name, state) in [("curious", "curious"), ("scared", "panic"), ("surprised", "surprised")] {
        assert!(seconds(name, state) > 0.5, "{name} {robust}");
    }
    assert!(seconds("regular_1", "walking") > 15.0 && seconds("friend_1", "walking") > 15.0);
    assert_eq!(report(&[])["digest"], robust["digest"], "the same again");
    assert_ne!(report(&["--param", "hunav.compat=strict"])["digest"], robust["digest"]);
}

#[test]
fn a_loader_file_of_hunavsim_runs_as_it_is() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("agents.yaml");
    let agents = "hunav_loader:\n  ros__parameters:\n    map: cafe\n    agents: [anna]\n    anna:\n      id: 1\n      \
                  max_vel: 1.2\n      init_pose: {x: 0.0, y: 0.0, h: 0.0}\n      goal_radius: 0.3\n      cyclic_goals: false\n      \
                  goals: [g]\n      g: {x: 4.0, y: 0.0}\n      behavior: 1\n";
    std::fs::write(&file, agents).expect("written");
    let file = file.to_str().expect("text");
    let output = promenade(&["check", file]);
    assert!(output.status.success(), "{}", text(&output.stdout));
    let place = folder.path().join("report.json");
    let place = place.to_str().expect("text");
    let output = promenade(&["run", file, "--human", "hunav", "--duration", "10", "--report", place]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let report: Value =
        serde_json::from_str(&std::fs::read_to_string(place).expect("a report")).expect("JSON");
    let x = report["pedestrians"][0]["end"][0].as_f64().expect("a number");
    assert!((3.5..4.5).contains(&x), "{report}");
}

#[test]
fn what_is_wrong_in_the_keys_of_hunav_is_said_with_its_place() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("scenario.yaml");
    let scenario = "dynamic:\n- name: ann\n  model: arenian\n  pose: [0, 0, 0]\n  behavior: {type: Curios, dist: 1}\n  \
                    behavior_tree: ./wary.xml\n  goals: [dor]\n  door: {x: 1, y: 1}\n";
    std::fs::write(&file, scenario).expect("written");
    let output = promenade(&["check", file.to_str().expect("text")]);
    let said = text(&output.stdout);
    for expected in [
        "scenario.yaml:5:20: warning: dynamic[0].behavior.type: unknown behaviour \"Curios\"",
        "(try: Curious)",
        "scenario.yaml:6:18: warning: dynamic[0].behavior_tree: there is no file",
        "scenario.yaml:7:11: warning: dynamic[0].goals[0]: there is no goal `dor`",
        "(try: door)",
    ] {
        assert!(said.contains(expected), "{expected}\n{said}");
    }
}

#[test]
fn behaviour_trees_are_checked() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("wary.xml");
    let tree = "<root BTCPP_format=\"4\" main_tree_to_execute=\"Wary\"><include path=\"BTRegularNav.xml\"/>\n\
                <BehaviorTree ID=\"Wary\"><Fallback>\n<IsRobotVisble agent_id=\"{id}\" distance=\"{dist}\"/>\n\
                <SubTree ID=\"RegularNavTree\" id=\"{id}\" dt=\"{dt}\"/>\n</Fallback></BehaviorTree></root>\n";
    std::fs::write(&file, tree).expect("written");
    let name = file.to_str().expect("text");
    let output = promenade(&["check", name]);
    assert!(!output.status.success());
    let said = text(&output.stdout);
    let expected = "wary.xml:3:1: error: Wary: there is no node \"IsRobotVisble\"  (try: IsRobotVisible)";
    assert!(said.contains(expected), "{said}");
    std::fs::write(&file, tree.replace("Visble", "Visible")).expect("written");
    let output = promenade(&["check", name]);
    assert!(output.status.success());
    let said = text(&output.stdout);
    assert!(said.contains("wary.xml:3:33: hint: Wary: nothing sets the entry {dist}"), "{said}");
}

#[test]
fn an_engine_elsewhere_needs_ros() {
    let output =
        promenade(&["run", "hall/robot_reactions", "--human", "hunav", "--param", "hunav.engine=external"]);
    assert!(!output.status.success());
    let stderr = text(&output.stderr);
    assert!(stderr.contains("hunav_msgs") && stderr.contains("hunav.engine"), "{stderr}");
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
fn check_finds_only_hints_in_the_real_folders() {
    let output = promenade(&["check", "--strict", "tests/scenarios/hospital"]);
    let stdout = text(&output.stdout);
    assert!(output.status.success(), "{stdout}");
    assert!(stdout.ends_with("0 errors, 0 warnings, 5 hints in 1 path\n"), "{stdout}");
}

#[test]
fn check_has_nothing_to_say_about_our_own_files_but_which_models_are_not_shipped() {
    let mut arguments = vec!["check", "--strict", "configs/worlds/clinic", "configs/worlds/map_empty"];
    arguments.extend(["configs/assets", "animations/annotations.yaml"]);
    let mut files = Vec::new();
    for folder in ["configs/scenarios", "configs/agent_types", "profiles", "animations/source"] {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(folder);
        for entry in std::fs::read_dir(root).expect("a folder") {
            let name = entry.expect("an entry").file_name().into_string().expect("UTF-8");
            files.push(format!("{folder}/{name}"));
        }
    }
    arguments.extend(files.iter().map(String::as_str));
    let output = promenade(&arguments);
    let stdout = text(&output.stdout);
    assert!(output.status.success(), "{stdout}");
    let mut lines: Vec<&str> = stdout.lines().collect();
    assert!(lines.pop().is_some_and(|count| count.starts_with("0 errors, 0 warnings, ")), "{stdout}");
    assert!(lines.iter().all(|line| line.contains("models are installed")), "{stdout}");
}

#[test]
fn check_finds_one_error_in_each_broken_file() {
    let broken = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/scenarios/broken");
    let mut files = 0;
    for entry in std::fs::read_dir(broken).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_file() {
            files += 1;
            let output = promenade(&["check", "--json", "--quiet", path.to_str().expect("UTF-8 path")]);
            assert_eq!(output.status.code(), Some(1), "{}", path.display());
            let report: Value = serde_json::from_slice(&output.stdout).expect("JSON");
            assert_eq!((&report["errors"], &report["warnings"]), (&1.into(), &0.into()), "{report}");
            let problem = &report["problems"][0];
            assert!(problem["line"].as_u64().expect("a number") >= 1, "{problem}");
            assert_eq!(problem["severity"], "error", "{problem}");
        }
    }
    assert_eq!(files, 10);
}

/// Every file in `doubtful` loads and has one mistake of its own; what is said about it stands in `expected.txt`.
#[test]
fn check_says_what_is_doubtful_about_a_file_that_loads() {
    let folder = "tests/scenarios/doubtful";
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut files: Vec<String> = std::fs::read_dir(root.join(folder))
        .expect("a folder")
        .map(|entry| format!("{folder}/{}", entry.expect("an entry").file_name().to_string_lossy()))
        .filter(|file| file.ends_with(".yaml"))
        .collect();
    files.sort();
    files.push(format!("{folder}/agent_types/evacuee.yaml"));
    let expected = std::fs::read_to_string(root.join(folder).join("expected.txt")).expect("a list");
    let mut told = String::new();
    for file in &files {
        let output = promenade(&["check", file]);
        assert_eq!(output.status.code(), Some(0), "{file}: {}", text(&output.stdout));
        let strict = promenade(&["check", "--strict", file]);
        assert_eq!(strict.status.code(), Some(1), "{file}: {}", text(&strict.stdout));
        let stdout = text(&output.stdout);
        told += stdout.rsplit_once("0 errors, ").expect("a count").0;
    }
    assert_eq!(told, expected);
}

#[test]
fn check_gives_editors_one_object() {
    let output = promenade(&["check", "--json", "tests/scenarios/doubtful/model_missing.yaml"]);
    let report: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!((&report["errors"], &report["warnings"], &report["hints"]), (&0.into(), &3.into(), &0.into()));
    assert_eq!(
        report["problems"][2],
        serde_json::json!({
            "file": "tests/scenarios/doubtful/model_missing.yaml",
            "line": 10,
            "column": 10,
            "severity": "warning",
            "path": "dynamic[1].model",
            "message": "no human model is named \"nures\", so the fallback stands in",
            "suggestion": "Common/nurse",
        })
    );
}

#[test]
fn check_says_what_a_running_world_would_refuse() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        std::fs::write(path, text).expect("written");
    };
    let corners = "corners: [{x: 0, y: 0}, {x: 9, y: 0}, {x: 9, y: 9}, {x: 0, y: 9}]";
    let gate = "semantics: [{preset: gate, params: {unlock_on: alram}}]";
    let door = format!("doors: [{{name: exit, start: {{x: 0, y: 1}}, end: {{x: 0, y: 2}}, {gate}}}]");
    write("w/0/world.yaml", &format!("zones:\n- name: hall\n  {corners}\n  {door}\n"));
    let root = folder.path().join("w");
    let check = || text(&promenade(&["check", root.to_str().expect("UTF-8 path")]).stdout);
    let waits = "world.yaml:4:11: warning: `unlock_on` waits for the regime \"alram\"";
    assert!(check().contains(waits), "{}", check());
    // Where one scenario of a world says what the gate waits for, the world is not to blame.
    write("w/scenarios/a/scenario.yaml", "timeline: [{at: 1, set: [{entity: hal, field: x, value: 1}]}]\n");
    let stdout = check();
    assert!(
        stdout.contains(waits) && stdout.contains("a/scenario.yaml:1:") && stdout.contains("\"hal\""),
        "{stdout}"
    );
    write(
        "w/scenarios/b/scenario.yaml",
        "timeline: [{at: 1, set: [{entity: regime, field: alram, value: true}]}]\n",
    );
    let stdout = check();
    assert!(!stdout.contains(waits) && stdout.contains("\"hal\""), "{stdout}");
}

#[test]
fn check_speaks_of_poses_rigs_and_clips_too() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).expect("written");
        path.to_str().expect("UTF-8 path").to_owned()
    };
    let guide = write("guide.yaml", "extends: elder\npose:\n  walk: {base: edler}\n  wlak: {}\n");
    let rig = write("rig.yaml", "drivers:\n  wheel: {from: distance}\n");
    let clips = write("annotations.yaml", "wave: {loop: true}\nhug: {lop: true}\n");
    let keys = write("nod.yaml", "keys:\n  - {t: 0.0}\n  - {t: 1.0, p_haed: 0.2}\n");
    let stdout = text(&promenade(&["check", &guide, &rig, &clips, &keys]).stdout);
    for told in ["guide.yaml:4:", "rig.yaml:2:", "annotations.yaml:2:", "nod.yaml:3:"] {
        assert!(stdout.contains(told), "{told}: {stdout}");
    }
    assert!(stdout.ends_with("4 errors, 0 warnings, 0 hints in 4 paths\n"), "{stdout}");
}

#[test]
fn check_knows_profiles_and_clips_of_ones_own() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        std::fs::write(&path, text).expect("written");
        path.to_str().expect("UTF-8 path").to_owned()
    };
    write("profiles/stroll.yaml", "same_as: walk_slow\n");
    write("clips/nod.yaml", "keys:\n  - {t: 0.0}\n  - {t: 1.0, p_head: 0.2}\n");
    let steps = "steps: {a: {duration: 1, attention: {clip: nod}}}";
    let text =
        format!("extends: adult\npose: {{walk: {{base: stroll}}}}\nsequences: {{default: {{{steps}}}}}\n");
    let guide = write("guide.yaml", &text);
    let at = |name: &str| folder.path().join(name).to_str().expect("UTF-8 path").to_owned();
    let stdout = text_of(&["check", &guide]);
    assert!(stdout.ends_with("1 error, 1 warning, 0 hints in 1 path\n"), "{stdout}");
    let stdout = text_of(&["check", &guide, "--profiles", &at("profiles"), "--clips", &at("clips")]);
    assert_eq!(stdout, "0 errors, 0 warnings, 0 hints in 1 path\n");
}

/// The shipped body is what a simulator opens: XML with a model in it.
#[test]
fn the_fallback_body_is_a_model() {
    let file =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../configs/assets/Common/human/arenian/arenian.sdf");
    let sdf = std::fs::read_to_string(file).expect("a body");
    let document = roxmltree::Document::parse(&sdf).expect("XML");
    let root = document.root_element();
    assert_eq!((root.tag_name().name(), root.attribute("version")), ("sdf", Some("1.8")));
    let model = root.children().find(|node| node.has_tag_name("model")).expect("a model");
    assert_eq!(model.attribute("name"), Some("arenian"));
    let links = || model.children().filter(|node| node.has_tag_name("link"));
    let of_links = |name: &str| links().flat_map(|l| l.children()).filter(|n| n.has_tag_name(name)).count();
    assert_eq!((links().count(), of_links("collision"), of_links("visual")), (1, 1, 16));
}

#[test]
fn check_speaks_of_robot_worlds_too() {
    let recorded = Path::new(env!("CARGO_MANIFEST_DIR")).join("../robot_world/tests/data/20_grid_map.yaml");
    let output = promenade(&["check", "--strict", recorded.to_str().expect("UTF-8 path")]);
    assert_eq!(text(&output.stdout), "0 errors, 0 warnings, 0 hints in 1 path\n");
    let folder = tempfile::tempdir().expect("temporary folder");
    let file = folder.path().join("world.yaml");
    let file = file.to_str().expect("UTF-8 path");
    let check = |world: &str| {
        std::fs::write(file, world).expect("written");
        text_of(&["check", file])
    };
    let told = check("world: {heigth: 3}\nrobot: {kinematics: {name: difff}, shape: {name: circle}}\n");
    assert_eq!(
        told,
        format!(
            "{file}:1:9: error: world.heigth: unknown key; did you mean height?\n\
             {file}:2:28: error: robot.kinematics.name: unknown kinematics \"difff\"; did you mean \"diff\"? known: acker, diff, omni, \
             omni_angular, static\n2 errors, 0 warnings, 0 hints in 1 path\n"
        )
    );
    let told = check(
        "robot: {number: 900, kinematics: {name: diff}, shape: {name: circle}, distribution: {name: random}}",
    );
    assert!(told.contains(":1:8: warning: with seed 0: robot (line 1): no free place for number "), "{told}");
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

#[test]
fn the_shipped_scenarios_outside_of_worlds_are_clean() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../configs/scenarios");
    let mut files: Vec<_> =
        std::fs::read_dir(root).expect("the folder").map(|e| e.expect("an entry").path()).collect();
    files.sort();
    assert!(files.len() >= 3);
    let mut arguments = vec!["check", "--strict"];
    arguments.extend(files.iter().map(|file| file.to_str().expect("UTF-8")));
    let output = promenade(&arguments);
    assert!(output.status.success(), "{}", text(&output.stdout));
    assert!(text(&output.stdout).contains("0 errors, 0 warnings, 0 hints"), "{}", text(&output.stdout));
}
