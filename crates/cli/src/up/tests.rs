//! Launch files from their text to the processes they mean, and the files of this repository.

use std::path::{Path, PathBuf};

use super::file::LaunchFile;
use super::packages::Packages;
use super::plan::{ProcessSpec, Step, plan};
use super::{command_lines, describe};

/// A folder with an installed package `demo` that has the executable `talker`.
struct Installed {
    folder: tempfile::TempDir,
}

impl Installed {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("temporary folder");
        for path in ["share/demo/launch", "lib/demo"] {
            std::fs::create_dir_all(folder.path().join(path)).expect("folder");
        }
        let installed = Self { folder };
        installed.write("share/demo/package.xml", "");
        installed.write("lib/demo/talker", "");
        installed
    }

    fn write(&self, path: &str, text: &str) {
        std::fs::write(self.folder.path().join(path), text).expect("file");
    }

    fn packages(&self) -> Packages {
        Packages::new(vec![self.folder.path().to_owned()], None)
    }

    /// The steps of a launch file with this body, or its problems as text.
    fn plan(&self, body: &str, given: &[(&str, &str)]) -> Result<Vec<Step>, String> {
        let given: Vec<_> =
            given.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let path = self.folder.path().join("share/demo/launch/main.launch.xml");
        LaunchFile::parse(&path, &format!("<launch>{body}</launch>"))
            .and_then(|file| plan(&file, &given, &self.packages()))
            .map_err(|problems| problems.to_string())
    }

    fn processes(&self, body: &str, given: &[(&str, &str)]) -> Vec<ProcessSpec> {
        let steps = self.plan(body, given).expect("plan");
        steps
            .into_iter()
            .filter_map(|step| if let Step::Start(process) = step { Some(process) } else { None })
            .collect()
    }

    fn logs(&self, body: &str, given: &[(&str, &str)]) -> Vec<String> {
        let steps = self.plan(body, given).expect("plan");
        steps
            .into_iter()
            .filter_map(|step| if let Step::Log(message) = step { Some(message) } else { None })
            .collect()
    }

    /// The one problem of a body, without the name of the file.
    fn problem(&self, body: &str) -> String {
        let problem = self.plan(body, &[]).expect_err(body);
        assert_eq!(problem.lines().count(), 1, "{problem}");
        problem.split_once("main.launch.xml:").expect("place").1.to_owned()
    }
}

#[test]
fn a_node_becomes_the_command_line_that_launch_builds() {
    let installed = Installed::new();
    let body = r#"
        <arg name="seed" default="7"/>
        <node pkg="demo" exec="talker" name="t" namespace="/arena/env_0" output="screen" args="--fast 'a b'"
              ros_args="--log-level $(var seed)">
          <param name="seed" value="$(var seed)" type="int"/>
          <param name="world" value="" type="str"/>
          <param name="rate" value="2"/>
          <param name="view"><param name="fov_deg" value="60.0"/></param>
          <param from="/etc/params.yaml"/>
          <remap from="a" to="b"/>
          <env name="X" value="1"/>
        </node>
        <node pkg="demo" exec="talker"/>"#;
    let processes = installed.processes(body, &[("seed", "42")]);
    assert_eq!(
        processes[0].arguments,
        [
            "--fast",
            "a b",
            "--ros-args",
            "--log-level",
            "42",
            "--ros-args",
            "-r",
            "__node:=t",
            "-r",
            "__ns:=/arena/env_0",
            "-p",
            "seed:=42",
            "-p",
            "world:=\"\"",
            "-p",
            "rate:=2",
            "-p",
            "view.fov_deg:=60.0",
            "--params-file",
            "/etc/params.yaml",
            "-r",
            "a:=b",
        ]
    );
    assert_eq!(processes[0].program, Ok(installed.folder.path().join("lib/demo/talker")));
    assert_eq!(processes[0].environment, [("X".to_owned(), "1".to_owned())]);
    assert_eq!((processes[0].label.as_str(), processes[0].shows_stdout), ("talker-1", true));
    assert_eq!(processes[1].arguments, ["--ros-args"]);
    assert_eq!((processes[1].label.as_str(), processes[1].shows_stdout), ("talker-2", false));

    let printed = command_lines(&installed.plan(body, &[]).expect("plan"));
    assert!(printed.contains("X=1 ") && printed.contains("'a b' --ros-args --log-level 7"), "{printed}");
    assert!(printed.contains(r#"-p 'world:=""'"#), "{printed}");
}

#[test]
fn arguments_keep_what_was_given_and_check_it() {
    let installed = Installed::new();
    let body = r#"<arg name="sim" default="dummy"><choice value="dummy"/><choice value="world"/></arg><log message="$(var sim)"/>"#;
    assert_eq!(installed.logs(body, &[]), ["dummy"]);
    assert_eq!(installed.logs(body, &[("sim", "world")]), ["world"]);
    let error = installed.plan(body, &[("sim", "wrold")]).expect_err("choice");
    assert!(error.contains("`wrold` is not one of `dummy`, `world`; did you mean `world`?"), "{error}");
    let error = installed.plan(body, &[("smi", "world")]).expect_err("name");
    assert!(error.contains("no argument `smi`; did you mean `sim`?"), "{error}");
    let error = installed.problem(r#"<arg name="needed"/>"#);
    assert_eq!(error, "1:9: the required argument `needed` was not given: add `needed:=VALUE`");
}

#[test]
fn conditions_choose_and_groups_scope() {
    let installed = Installed::new();
    let body = r#"
        <let name="x" value="1"/>
        <group><let name="x" value="2"/><log message="in $(var x)"/></group>
        <log message="out $(var x)"/>
        <group scoped="false"><let name="x" value="3"/></group>
        <log message="unscoped $(var x)"/>
        <log if="true" message="if"/><log if="0" message="no"/>
        <log unless="$(eval &quot;'$(var x)' == '4'&quot;)" message="unless"/><log unless="1" message="no"/>
        <group if="false"><log message="no"/></group>"#;
    assert_eq!(installed.logs(body, &[]), ["in 2", "out 1", "unscoped 3", "if", "unless"]);
}

#[test]
fn groups_scope_namespaces_parameters_remaps_and_environment() {
    let installed = Installed::new();
    let body = r#"
        <group>
          <push-ros-namespace namespace="a"/><push_ros_namespace namespace="b"/>
          <set_parameter name="use_sim_time" value="true"/><set_remap from="x" to="y"/><set_env name="E" value="1"/>
          <node pkg="demo" exec="talker"/>
          <node pkg="demo" exec="talker" namespace="c"/>
          <node pkg="demo" exec="talker" namespace="/d"/>
        </group>
        <node pkg="demo" exec="talker"/>"#;
    let processes = installed.processes(body, &[]);
    let shared = ["-p", "use_sim_time:=true", "-r", "x:=y"];
    for (process, namespace) in processes.iter().zip(["/a/b", "/a/b/c", "/d"]) {
        let namespace = format!("__ns:={namespace}");
        let expected: Vec<&str> = ["--ros-args", "-r", &namespace].into_iter().chain(shared).collect();
        assert_eq!(process.arguments, expected);
        assert_eq!(process.environment, [("E".to_owned(), "1".to_owned())]);
    }
    assert_eq!(processes[3].arguments, ["--ros-args"]);
    assert!(processes[3].environment.is_empty());
}

#[test]
fn includes_share_the_scope_of_the_including_file() {
    let installed = Installed::new();
    installed.write(
        "share/demo/launch/inner.launch.xml",
        r#"<launch><arg name="a" default="inner a"/><arg name="b" default="inner b"/><log message="$(var a), $(var b)"/></launch>"#,
    );
    let include = |arguments: &str| {
        format!(r#"<include file="$(find-pkg-share demo)/launch/inner.launch.xml">{arguments}</include>"#)
    };
    assert_eq!(installed.logs(&include(""), &[]), ["inner a, inner b"]);
    let body = format!(
        r#"<arg name="a" default="outer a"/><group>{}</group><log message="$(var b none)"/>{}<log message="$(var b)"/>"#,
        include(r#"<arg name="b" value="given $(var a)"/>"#),
        include(r#"<arg name="b" value="leaks"/>"#),
    );
    assert_eq!(installed.logs(&body, &[]), ["outer a, given outer a", "none", "outer a, leaks", "leaks"]);
    assert_eq!(installed.logs(r#"<include file="$(dirname)/inner.launch.xml"/>"#, &[]), ["inner a, inner b"]);

    installed
        .write("share/demo/launch/main.launch.xml", r#"<launch><include file="main.launch.xml"/></launch>"#);
    let error = installed.plan(r#"<include file="main.launch.xml"/>"#, &[]).expect_err("endless");
    assert!(error.contains("include each other without end"), "{error}");
    let error = installed.problem(r#"<include file="x.launch.py"/>"#);
    assert!(error.contains("is not an XML launch file"), "{error}");
    let error = installed.problem(r#"<include file="$(dirname)/x.launch.xml"/>"#);
    assert!(error.starts_with("1:18: no such launch file"), "{error}");
    installed.write("share/demo/launch/broken.launch.xml", "<launch>\n  <timer/>\n</launch>");
    let error = installed.plan(r#"<include file="broken.launch.xml"/>"#, &[]).expect_err("broken");
    assert!(error.contains("broken.launch.xml:2:3: <timer> is not supported here"), "{error}");
}

#[test]
fn what_is_not_supported_is_named_with_its_place() {
    let installed = Installed::new();
    for (body, expected) in [
        ("<nod pkg=\"a\" exec=\"b\"/>", "1:9: <nod> is not supported here; supported: arg, let"),
        ("<nod pkg=\"a\" exec=\"b\"/>", "did you mean `node`?"),
        (
            "<node pkg=\"demo\" exec=\"talker\" respawn=\"true\"/>",
            "1:40: attribute `respawn` of <node> is not supported",
        ),
        ("<node exec=\"talker\"/>", "1:9: <node> needs the attribute `pkg`"),
        ("<let name=\"a\" value=\"$(anon x)\"/>", "1:23: substitution `$(anon)` is not supported"),
        ("<let name=\"a\" value=\"b\"><arg/></let>", "<arg> is not supported inside <let>"),
        ("<group>text</group>", "1:16: text inside <group> means nothing"),
        ("<log message=\"a\" if=\"1\" unless=\"1\"/>", "`if` and `unless` exclude each other"),
        ("<log message=\"a\" if=\"maybe\"/>", "1:26: `maybe` is not a boolean"),
        ("<log message=\"$(var nothing)\"/>", "1:14: `$(var nothing)`: no argument or <let>"),
        ("<node pkg=\"demo\" exec=\"talker\" output=\"file\"/>", "output=\"file\" is not supported"),
        ("<node pkg=\"demo\" exec=\"talker\" on_exit=\"respawn\"/>", "on_exit=\"respawn\" is not supported"),
        (
            "<node pkg=\"demo\" exec=\"talker\"><param name=\"a\" value=\"1\" type=\"yaml\"/></node>",
            "type=\"yaml\" is not supported",
        ),
        ("<node pkg=\"demo\" exec=\"talker\"><param name=\"a\"/></node>", "<param> needs either"),
        (
            "<node pkg=\"demo\" exec=\"talker\"><param name=\"a\" value=\"\"/></node>",
            "parameter `a`: `` has no ROS parameter type",
        ),
        (
            "<node pkg=\"demo\" exec=\"talker\"><param name=\"a\" value=\"x\" type=\"int\"/></node>",
            "`x` is not a value of type `int`",
        ),
        ("<set_env name=\"a=b\" value=\"\"/>", "`a=b` is not the name of an environment variable"),
        ("<log message=\"$(find-pkg-share nowhere)\"/>", "package `nowhere` is in none of the 1 prefixes"),
    ] {
        let problem = installed.problem(body);
        assert!(problem.contains(expected), "{body}: {problem}");
    }
    let error = installed.plan("<log>", &[]).expect_err("XML");
    assert!(error.contains("main.launch.xml:1:") && error.contains("not well-formed XML"), "{error}");
    let error = LaunchFile::parse(Path::new("x.xml"), "<robot/>").expect_err("root").to_string();
    assert_eq!(error, "x.xml:1:1: <robot> is not supported here; supported: launch");
    let deep = format!("{}{}", "<group>".repeat(200), "</group>".repeat(200));
    assert!(installed.plan(&deep, &[]).expect_err("deep").contains("nested too deeply"));
}

#[test]
fn every_problem_of_a_file_is_found_in_one_go() {
    let installed = Installed::new();
    let error = installed
        .plan("\n<timer/>\n<group if=\"false\"><let name=\"a\"/></group>\n<log/>", &[])
        .expect_err("problems");
    let lines: Vec<&str> =
        error.lines().map(|line| line.split_once("main.launch.xml:").expect("place").1).collect();
    assert!(lines[0].starts_with("2:1: <timer>"), "{error}");
    assert_eq!(
        lines[1..],
        ["3:19: <let> needs the attribute `value`", "4:1: <log> needs the attribute `message`"]
    );
}

#[test]
fn a_missing_executable_is_kept_for_one_message_before_anything_starts() {
    let installed = Installed::new();
    let processes = installed.processes(r#"<node pkg="demo" exec="listener"/>"#, &[]);
    let error = processes[0].program.as_ref().expect_err("missing").to_string();
    assert!(error.contains("package `demo` has no executable `listener`"), "{error}");
}

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Evaluates a launch file of this repository as if nothing were installed.
fn shipped(name: &str, given: &[(&str, &str)]) -> Vec<Step> {
    let given: Vec<_> = given.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    let packages = Packages::new(Vec::new(), Some(repository()));
    let file = LaunchFile::read(&repository().join("launch").join(name)).expect("launch file");
    plan(&file, &given, &packages).expect("plan")
}

/// Executables of the processes, and the arguments of `human_simulator`.
fn started(steps: &[Step]) -> (Vec<&str>, String) {
    let processes: Vec<&ProcessSpec> = steps
        .iter()
        .filter_map(|step| if let Step::Start(process) = step { Some(process) } else { None })
        .collect();
    let human = processes
        .iter()
        .find(|process| process.origin == "promenade/human_simulator")
        .expect("human_simulator");
    (processes.iter().map(|process| process.origin.as_str()).collect(), human.arguments.join(" "))
}

/// Arguments of the process of an executable.
fn arguments(steps: &[Step], exec: &str) -> String {
    let found = steps.iter().find_map(|step| match step {
        Step::Start(process) if process.origin == exec => Some(process.arguments.join(" ")),
        _ => None,
    });
    found.expect("is started")
}

#[test]
fn the_demo_lets_the_engine_move_a_crowd_and_possess_walk_one_of_them() {
    let steps = shipped("demo.launch.xml", &[]);
    let (executables, human) = started(&steps);
    assert_eq!(
        executables,
        [
            "promenade/robot_world",
            "promenade/human_simulator",
            "promenade/arena_humansim",
            "promenade/arena_humansim_viz_node",
            "promenade/hri_producer",
            "promenade/possess"
        ]
    );
    assert!(human.contains("human:=\"arena\"") && human.contains("scenario:=\"hall/crowd\""), "{human}");
    assert!(human.contains("human_params:=\"\""), "{human}");
    let arguments = |exec: &str| arguments(&steps, exec);
    let engine = arguments("promenade/arena_humansim");
    for part in [
        "__ns:=/arena/env_0/task_generator",
        "mode:=\"subsystem\"",
        "use_sim_time:=true",
        "publish_markers:=2",
    ] {
        assert!(engine.contains(part), "{engine}");
    }
    assert!(arguments("promenade/possess").contains("people:=[\"guide\"]"));
}

#[test]
fn the_demo_of_hunav_is_people_around_a_robot() {
    let steps = shipped("demo.launch.xml", &[("human", "hunav")]);
    let (executables, human) = started(&steps);
    assert_eq!(
        executables,
        [
            "promenade/robot_world",
            "promenade/human_simulator",
            "promenade/hunav_bridge",
            "promenade/hri_producer"
        ]
    );
    assert!(
        human.contains("human:=\"hunav\"") && human.contains("scenario:=\"hall/robot_reactions\""),
        "{human}"
    );
}

#[test]
fn the_demo_with_the_dummy_walks_the_people_of_the_clinic() {
    let steps = shipped("demo.launch.xml", &[("human", "dummy"), ("scenario", "clinic/corridor_crowd")]);
    let (executables, human) = started(&steps);
    assert_eq!(
        executables,
        ["promenade/robot_world", "promenade/human_simulator", "promenade/hri_producer", "promenade/possess"]
    );
    for part in [
        "--log-level warn",
        "__ns:=/arena/env_0",
        "use_sim_time:=true",
        "human:=\"dummy\"",
        "scenario:=\"clinic/corridor_crowd\"",
        "seed:=0",
        "env_id:=0",
        "prefix:=\"env_0\"",
    ] {
        assert!(human.contains(part), "{human}");
    }
    assert!(!arguments(&steps, "promenade/possess").contains("people:="));
    assert!(matches!(&steps[0], Step::Log(message) if message.contains("/arena/env_0")));
}

#[test]
fn the_backend_follows_from_the_sim() {
    for (given, human, count) in [
        (&[][..], "dummy", 3),
        (&[("sim", "")], "dummy", 2),
        (&[("sim", "gazebo")], "arena", 4),
        (&[("sim", "isaac")], "arena", 4),
        (&[("sim", "world")], "arena", 5),
        (&[("sim", "gazebo"), ("human", "hunav")], "hunav", 3),
        (&[("human", "hunav"), ("hunav.bridge", "false")], "hunav", 3),
        (&[("human", "none"), ("walk", "true")], "none", 4),
    ] {
        let steps = shipped("task_generator.launch.xml", given);
        let (executables, arguments) = started(&steps);
        assert!(arguments.contains(&format!("human:=\"{human}\"")), "{given:?}: {arguments}");
        assert_eq!(executables.len(), count, "{given:?}: {executables:?}");
    }
}

#[test]
fn hunav_gets_a_bridge_that_knows_where_its_manager_is() {
    let given =
        [("human", "hunav"), ("hunav.engine", "external"), ("hunav.manager", "/gazebo"), ("env.id", "2")];
    let steps = shipped("task_generator.launch.xml", &given);
    let bridge = arguments(&steps, "promenade/hunav_bridge");
    for part in [
        "__ns:=/arena/env_2/task_generator",
        "manager:=\"/gazebo\"",
        "markers:=\"/arena/env_2/pedestrian_markers/extra\"",
    ] {
        assert!(bridge.contains(part), "{bridge}");
    }
    assert!(arguments(&steps, "promenade/human_simulator").contains("hunav.engine:=\"external\""));
    let arena = shipped("task_generator.launch.xml", &[("human", "arena")]);
    let (executables, _) = started(&arena);
    assert!(!executables.iter().any(|name| name.contains("hunav")), "{executables:?}");
}

#[test]
fn an_environment_has_its_own_number_and_namespace() {
    let human = started(&shipped("task_generator.launch.xml", &[("env.id", "3")])).1;
    assert!(
        human.contains("__ns:=/arena/env_3")
            && human.contains("env_id:=3")
            && human.contains("prefix:=\"env_3\"")
    );
    let human = started(&shipped("demo.launch.xml", &[("env.id", "3"), ("env.ns", "/x")])).1;
    assert!(human.contains("__ns:=/x ") && human.contains("prefix:=\"env_3\""), "{human}");
}

#[test]
fn arguments_are_listed_as_ros2_launch_lists_them() {
    let file = LaunchFile::read(&repository().join("launch/task_generator.launch.xml")).expect("launch file");
    let text = describe(&file);
    assert!(text.starts_with("Arguments (pass arguments as '<name>:=<value>'):\n\n    'sim':\n"), "{text}");
    assert!(
        text.contains("Valid choices are: ['auto', 'env', 'global']\n        (default: 'auto')"),
        "{text}"
    );
    assert!(text.contains("\n    'env.id':\n") && text.contains("(default: '65535')"), "{text}");
}
