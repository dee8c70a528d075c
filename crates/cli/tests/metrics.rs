//! `promenade run --record` and `promenade metrics` as somebody types them.

use std::path::Path;
use std::process::{Command, Output};

use promenade_hunav::metrics::Metric;
use promenade_recording::cdr::Encoder;
use promenade_recording::{BagWriter, Channel, Durability};
use serde_json::Value;

fn promenade(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_promenade")).args(arguments).output().expect("the command starts")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn json(arguments: &[&str]) -> Vec<Value> {
    let output = promenade(&[&["metrics", "--json"], arguments].concat());
    assert!(output.status.success(), "{}", text(&output.stderr));
    text(&output.stdout).lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

fn number(result: &Value, metric: &str) -> f64 {
    result["metrics"][metric].as_f64().unwrap_or_else(|| panic!("{metric} is {}", result["metrics"][metric]))
}

fn scenario(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../configs/scenarios").join(name);
    path.to_str().expect("UTF-8").to_owned()
}

#[test]
fn a_recorded_run_has_the_metrics_of_its_report_whichever_topics_are_read() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = |name: &str| folder.path().join(name).to_str().expect("UTF-8").to_owned();
    let (bag, report, steps, plot) =
        (file("run.mcap"), file("run.json"), file("steps.csv"), file("plot.png"));
    let scenario = scenario("robot_among_people.yaml");
    let run = promenade(&["run", &scenario, "--duration", "10", "--record", &bag, "--report", &report]);
    assert!(run.status.success(), "{}", text(&run.stderr));
    let [states, reported] = &json(&[&bag, &report])[..] else { panic!("two results") };
    let [tf] = &json(&[&bag, "--people", "arena_peds", "--frame", &frame(&report)])[..] else {
        panic!("one result")
    };
    assert!(states["topics"][0].as_str().is_some_and(|topic| topic.ends_with("human_states")));
    let [corrected] = &json(&[&report, "--corrected"])[..] else { panic!("one result") };
    let mut differ = 0;
    for metric in Metric::ALL {
        let name = metric.name();
        if states["metrics"][name].is_f64() && reported["metrics"][name].is_f64() {
            let (a, b) = (number(states, name), number(reported, name));
            // Some fields of hunav_msgs have single precision.
            assert!((a - b).abs() <= 2e-3 * a.abs() + 1e-3, "{name}: {a} in the bag, {b} in the report");
        }
        differ += usize::from(corrected["metrics"][name] != reported["metrics"][name]);
    }
    assert!((1..=5).contains(&differ), "{differ}");
    for name in ["path_length", "time_to_reach_goal", "avg_distance_to_closest_person"] {
        let (a, b) = (number(states, name), number(tf, name));
        assert!((a - b).abs() < 0.15 * a.abs() + 0.1, "{name}: {a} by states, {b} by TF");
    }
    let drawn = promenade(&["metrics", &bag, "--steps", &steps, "--plot", &plot, "--to", "5"]);
    assert!(drawn.status.success(), "{}", text(&drawn.stderr));
    let table = text(&drawn.stdout);
    assert!(table.contains("path_length") && table.lines().count() == Metric::COUNT + 4, "{table}");
    let steps = std::fs::read_to_string(&steps).expect("written");
    let last: f64 = steps
        .lines()
        .last()
        .and_then(|line| line.split(',').next())
        .expect("a row")
        .parse()
        .expect("seconds");
    assert!(last > 4.5 && last <= 5.0, "{last}");
    assert!(std::fs::read(&plot).expect("written").starts_with(b"\x89PNG"));
    let again = file("again.mcap");
    assert!(promenade(&["run", &scenario, "--duration", "10", "--record", &again]).status.success());
    assert!(
        std::fs::read(&bag).expect("read") == std::fs::read(&again).expect("read"),
        "equal seeds, equal bags"
    );
}

/// The base frame of the first robot of a report.
fn frame(report: &str) -> String {
    let report: Value = serde_json::from_str(&std::fs::read_to_string(report).expect("read")).expect("JSON");
    format!("env_0/{}/base_link", report["robots"][0]["name"].as_str().expect("a robot"))
}

/// A bag of a robot's odometry and one person, as a ROS 2 node would send them.
struct Scene {
    bag: BagWriter,
    people: Channel,
    odometry: Channel,
    encoder: Encoder,
}

impl Scene {
    fn new(path: &Path) -> Self {
        let mut bag = BagWriter::create(path).expect("a file");
        let volatile = Durability::Volatile;
        Scene {
            people: bag
                .channel("/arena_peds", "arena_people_msgs/msg/Pedestrians", volatile)
                .expect("a topic"),
            odometry: bag.channel("/robot/odom", "nav_msgs/msg/Odometry", volatile).expect("a topic"),
            bag,
            encoder: Encoder::default(),
        }
    }

    fn at(&mut self, second: i32, x: f64) {
        let time = u64::from(second.unsigned_abs()) * 1_000_000_000;
        let to = self.encoder.begin();
        to.number(second).number(0_u32).text(b"map").length(1);
        to.text(b"anna").number(7_u32).numbers(&[5.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0]).numbers(&[0.0; 6]);
        to.number(0_u8).length(0).number(0).number(0_u32).text(b"").length(0).length(0).length(0).length(0);
        to.numbers(&[0.0_f32; 2]).text(b"").text(b"");
        self.bag.write(self.people, time, self.encoder.bytes()).expect("written");
        let to = self.encoder.begin();
        to.number(second).number(0_u32).text(b"odom").text(b"base_link");
        to.numbers(&[x, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0])
            .numbers(&[0.0; 36])
            .numbers(&[1.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
        to.numbers(&[0.0; 36]);
        self.bag.write(self.odometry, time, self.encoder.bytes()).expect("written");
    }
}

#[test]
fn odometry_and_the_bus_give_the_metrics_of_a_scene_that_can_be_worked_out() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("scene.mcap");
    let mut scene = Scene::new(&path);
    (0..=5).for_each(|second| scene.at(second, f64::from(second)));
    // The clock goes back: another episode.
    (0..=2).for_each(|second| scene.at(second, 10.0));
    scene.bag.finish().expect("finished");
    let path = path.to_str().expect("UTF-8");
    let radii = ["--robot-radius", "0.3", "--person-radius", "0.2"];
    let [first] = &json(&[&[path, "--goal", "5,0.1"], &radii[..]].concat())[..] else { panic!("one result") };
    assert_eq!((first["steps"].as_u64(), first["people"].as_u64()), (Some(6), Some(1)));
    assert_eq!((number(first, "path_length"), number(first, "time_to_reach_goal")), (5.0, 5.0));
    assert!((number(first, "minimum_distance_to_people") - 0.5).abs() < 1e-9);
    assert!((number(first, "final_distance_to_target") - 0.1).abs() < 1e-9);
    assert_eq!(first["metrics"]["completed"], Value::Bool(true));
    assert!(first["metrics"]["obstacle_force_on_robot"].is_null(), "nobody knows of obstacles");
    let [second] = &json(&[path, "--episode", "2"])[..] else { panic!("one result") };
    assert_eq!((second["steps"].as_u64(), number(second, "path_length")), (Some(3), 0.0));
    let missing = promenade(&["metrics", path, "--episode", "3"]);
    assert!(!missing.status.success() && text(&missing.stderr).contains("--episode"));
}

#[test]
fn what_has_no_metrics_says_why() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = |name: &str| folder.path().join(name).to_str().expect("UTF-8").to_owned();
    let (bag, empty, other, text_file) =
        (file("bag.mcap"), file("empty.mcap"), file("other.json"), file("notes.txt"));
    let mut scene = Scene::new(Path::new(&bag));
    scene.at(0, 0.0);
    scene.bag.finish().expect("finished");
    BagWriter::create(Path::new(&empty)).expect("a file").finish().expect("finished");
    std::fs::write(&other, "{\"format\": \"promenade-report/9\", \"pedestrians\": [], \"robots\": []}")
        .expect("written");
    std::fs::write(&text_file, "none").expect("written");
    for (arguments, expected) in [
        (vec![empty.as_str()], "expected human_states and robot_states"),
        (vec![other.as_str()], "expected \"promenade-report/1\""),
        (vec![text_file.as_str()], "is no bag"),
        (vec![bag.as_str(), "--robot", "nobody"], "leave out /robot/odom"),
        (vec![bag.as_str(), "--frame", "base_link"], "never moves"),
        (vec![bag.as_str(), "--from", "7"], "--from and --to"),
        (vec![bag.as_str(), "--goal", "1;2"], "is no X,Y"),
        (vec![bag.as_str(), bag.as_str(), "--plot", "x.png"], "for one file"),
        (vec!["missing.mcap"], "missing.mcap"),
    ] {
        let output = promenade(&[&["metrics"], &arguments[..]].concat());
        let said = text(&output.stderr);
        assert!(!output.status.success() && said.contains(expected), "{arguments:?}: {said}");
    }
}
