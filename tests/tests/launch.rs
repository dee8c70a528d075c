//! The launch files stay within what launch_xml of ROS 2 Humble reads, and the rviz files within what every rviz2 has.

use std::path::{Path, PathBuf};

use roxmltree::{Document, Node};
use serde_json::Value;

/// Element, the element it stands in (`launch` stands for every list of actions), required attributes, optional attributes: the
/// part of Humble's first release that our launch files use. `on_exit` came with a later patch release, `level` of `log` with
/// a later distribution, so neither is here.
const SCHEMA: [(&str, &str, &[&str], &[&str]); 9] = [
    ("arg", "launch", &["name"], &["default", "description"]),
    ("choice", "arg", &["value"], &[]),
    ("let", "launch", &["name", "value"], &[]),
    ("log", "launch", &["message"], &["if", "unless"]),
    ("group", "launch", &[], &["if", "unless", "scoped"]),
    ("include", "launch", &["file"], &["if", "unless"]),
    ("arg", "include", &["name", "value"], &[]),
    (
        "node",
        "launch",
        &["pkg", "exec"],
        &["name", "namespace", "output", "args", "ros_args", "if", "unless"],
    ),
    ("param", "node", &["name", "value"], &["type"]),
];

/// Substitutions of Humble's first release that our launch files use.
const SUBSTITUTIONS: [&str; 3] = ["var", "find-pkg-share", "eval"];

/// Arguments of the task generator and their defaults, from the human-layer specification, section 26.
const SECTION_26: [(&str, &str); 18] = [
    ("sim", "dummy"),
    ("human", ""),
    ("human.robots.visible", "true"),
    ("world", "map_empty"),
    ("task.robots", "explore"),
    ("task.obstacles", "random"),
    ("task.modules", "rviz_ui"),
    ("task.scenario.file", ""),
    ("task.scenario.linger_after_completion", "false"),
    ("task.params", ""),
    ("task.config", ""),
    ("env.id", "65535"),
    ("env.ns", ""),
    ("env.managed", "false"),
    ("env.tf", "auto"),
    ("robot", "auto"),
    ("log_level", "warn"),
    ("humansim.markers", "2"),
];

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn launch_files() -> Vec<(String, String)> {
    let folder = repository().join("launch");
    let mut files: Vec<_> = std::fs::read_dir(&folder)
        .expect("launch folder")
        .map(|entry| {
            let path = entry.expect("entry").path();
            let name = path.file_name().and_then(|name| name.to_str()).expect("name").to_owned();
            (name, std::fs::read_to_string(path).expect("text"))
        })
        .collect();
    files.sort();
    files
}

fn source(name: &str) -> String {
    std::fs::read_to_string(repository().join("launch").join(name)).expect("launch file")
}

/// Name and default of every argument that a launch file declares.
fn arguments<'a>(document: &'a Document<'_>) -> Vec<(&'a str, Option<&'a str>)> {
    let root = document.root_element();
    let declared = root.children().filter(|child| child.has_tag_name("arg"));
    declared.map(|arg| (arg.attribute("name").expect("name"), arg.attribute("default"))).collect()
}

fn check_element(file: &str, document: &Document<'_>, element: Node<'_, '_>) {
    let position = document.text_pos_at(element.range().start);
    let name = element.tag_name().name();
    let parent = element.parent_element().map_or("", |parent| match parent.tag_name().name() {
        "group" => "launch",
        other => other,
    });
    let (.., required, optional) = SCHEMA
        .iter()
        .find(|(known, allowed_in, ..)| *known == name && *allowed_in == parent)
        .unwrap_or_else(|| panic!("{file}:{position}: <{name}> inside <{parent}>"));
    for attribute in required.iter() {
        assert!(element.has_attribute(*attribute), "{file}:{position}: <{name}> without `{attribute}`");
    }
    for attribute in element.attributes() {
        let known = required.iter().chain(optional.iter()).any(|known| *known == attribute.name());
        assert!(known, "{file}:{position}: attribute `{}` of <{name}>", attribute.name());
        check_value(&format!("{file}:{position}"), attribute.value());
    }
}

/// A value may hold substitutions of Humble, and quotes only inside `$(eval "...")`: launch's grammar gives quotes, backslashes and
/// lone dollar signs meanings that changed between its versions.
fn check_value(place: &str, value: &str) {
    for (at, _) in value.match_indices('$') {
        let name = value[at..].strip_prefix("$(").unwrap_or_else(|| panic!("{place}: lone `$` in {value}"));
        let name = name.split([' ', ')']).next().unwrap_or_default();
        assert!(SUBSTITUTIONS.contains(&name), "{place}: $({name})");
    }
    assert!(!value.contains('\\'), "{place}: backslash in {value}");
    match value.strip_prefix("$(eval \"").map(|rest| rest.strip_suffix("\")")) {
        Some(Some(expression)) => assert!(!expression.contains('"'), "{place}: double quote in {expression}"),
        Some(None) => panic!("{place}: $(eval) is not the whole value: {value}"),
        None => assert!(!value.contains(['\'', '"']), "{place}: quote in {value}"),
    }
}

#[test]
fn launch_files_use_only_what_humble_reads() {
    let files = launch_files();
    let names: Vec<&str> = files.iter().map(|(name, _)| name.as_str()).collect();
    let expected =
        ["arena_humansim.launch.xml", "demo.launch.xml", "human.launch.xml", "task_generator.launch.xml"];
    assert_eq!(names, expected);
    for (name, text) in &files {
        let document = Document::parse(text).expect("XML");
        let root = document.root_element();
        assert!(root.has_tag_name("launch") && root.attributes().len() == 0, "{name}");
        for element in root.descendants().skip(1).filter(Node::is_element) {
            check_element(name, &document, element);
        }
        let stray = root
            .descendants()
            .find(|node| node.is_text() && !node.text().unwrap_or_default().trim().is_empty());
        assert!(stray.is_none(), "{name}: text between elements: {stray:?}");
    }
}

#[test]
fn variables_are_declared_before_they_are_used() {
    for (name, text) in launch_files() {
        let document = Document::parse(&text).expect("XML");
        let mut known = Vec::new();
        for element in document.root_element().descendants().filter(Node::is_element) {
            for attribute in element.attributes() {
                for used in attribute.value().split("$(var ").skip(1) {
                    let used = used.split(')').next().unwrap_or_default();
                    assert!(known.contains(&used), "{name}: `{used}` is used before it is declared");
                }
            }
            let declares = element.has_tag_name("let")
                || (element.has_tag_name("arg")
                    && element.parent_element().is_some_and(|parent| parent.has_tag_name("launch")));
            if declares {
                known.push(element.attribute("name").expect("name"));
            }
        }
    }
}

#[test]
fn includes_are_scoped_and_pass_arguments_that_exist() {
    for (name, text) in launch_files() {
        let document = Document::parse(&text).expect("XML");
        for include in document.root_element().descendants().filter(|node| node.has_tag_name("include")) {
            // Without a group the arguments of an include overwrite those of the including file.
            assert!(include.parent_element().is_some_and(|parent| parent.has_tag_name("group")), "{name}");
            let file = include.attribute("file").expect("file");
            let included = file.strip_prefix("$(find-pkg-share promenade)/launch/").expect("a file of ours");
            let included = source(included);
            let included = Document::parse(&included).expect("XML");
            let declared = arguments(&included);
            for given in include.children().filter(|child| child.has_tag_name("arg")) {
                let given = given.attribute("name").expect("name");
                assert!(
                    declared.iter().any(|(name, _)| *name == given),
                    "{name}: {file} has no argument `{given}`"
                );
            }
        }
    }
}

#[test]
fn the_task_generator_has_every_argument_of_the_specification() {
    let text = source("task_generator.launch.xml");
    let document = Document::parse(&text).expect("XML");
    let declared = arguments(&document);
    for (name, default) in SECTION_26 {
        assert!(declared.contains(&(name, Some(default))), "{name} with default `{default}`");
    }
    assert!(declared.iter().all(|(_, default)| default.is_some()), "every argument has a default");
    let described = document.root_element().children().filter(|child| child.has_tag_name("arg"));
    assert!(
        described.into_iter().all(|arg| arg.attribute("description").is_some_and(|text| text.ends_with('.')))
    );

    let text = source("human.launch.xml");
    let document = Document::parse(&text).expect("XML");
    let names: Vec<&str> = arguments(&document).into_iter().map(|(name, _)| name).collect();
    assert_eq!(names[..2], ["simulator", "namespace"]);
    let choices = document.root_element().descendants().filter(|node| node.has_tag_name("choice"));
    let choices: Vec<_> = choices.filter_map(|choice| choice.attribute("value")).collect();
    assert_eq!(choices, ["dummy", "none", "arena", "hunav"]);
}

/// Arguments of the engine's launch file, from the crowd-engine specification, section 4.
const ENGINE_ARGUMENTS: [&str; 26] = [
    "namespace",
    "mode",
    "use_sim_time",
    "markers",
    "rviz",
    "record",
    "record_dir",
    "render",
    "render_format",
    "scenario",
    "ticks",
    "time",
    "rtf",
    "perception",
    "global_planner",
    "local_planner",
    "animation",
    "collision",
    "occlusion",
    "force_local_planner",
    "robot_policy",
    "robot_shutdown",
    "force_waypoint_mode",
    "seed",
    "strict_recording",
    "trial_id",
];

#[test]
fn the_engine_has_every_argument_of_the_specification() {
    let text = source("arena_humansim.launch.xml");
    let document = Document::parse(&text).expect("XML");
    let declared = arguments(&document);
    for name in ENGINE_ARGUMENTS {
        assert!(declared.iter().any(|(known, default)| *known == name && default.is_some()), "{name}");
    }
    let nodes: Vec<_> = document
        .root_element()
        .children()
        .filter(|node| node.has_tag_name("node"))
        .filter_map(|node| node.attribute("name"))
        .collect();
    assert_eq!(nodes[..2], ["arena_humansim", "arena_humansim_viz"]);
}

#[test]
fn nodes_run_on_sim_time_in_their_environment() {
    let text = source("task_generator.launch.xml");
    let document = Document::parse(&text).expect("XML");
    let mut executables = Vec::new();
    for node in document.root_element().descendants().filter(|node| node.has_tag_name("node")) {
        let executable = node.attribute("exec").expect("exec");
        executables.push(executable);
        assert_eq!((node.attribute("pkg"), node.attribute("name")), (Some("promenade"), Some(executable)));
        let parameter = |name: &str| {
            let mut parameters = node.children().filter(|child| child.has_tag_name("param"));
            parameters
                .find(|param| param.attribute("name") == Some(name))
                .and_then(|param| param.attribute("value"))
        };
        // The node that makes the clock cannot wait for it.
        let makes_clock = ["dummy_sim", "robot_world"].contains(&executable);
        assert_eq!(parameter("use_sim_time"), (!makes_clock).then_some("true"), "{executable}");
        assert_eq!(
            node.attribute("namespace"),
            (executable != "dummy_sim").then_some("$(var resolved_env_ns)"),
            "{executable}"
        );
        if executable == "hri_producer" {
            assert_eq!(parameter("max_bodies"), Some("$(var hri.max_bodies)"));
        }
    }
    // possess is written twice: with names, or for everybody.
    assert_eq!(
        executables,
        ["dummy_sim", "robot_world", "human_simulator", "hri_producer", "possess", "possess"]
    );
}

fn rviz(name: &str) -> Value {
    let text = std::fs::read_to_string(repository().join("configs/rviz").join(name)).expect("rviz file");
    serde_saphyr::from_str(&text).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// Path of names, class, enabled, topic, durability of every display that is not a group, in order.
fn displays(value: &Value, path: &str) -> Vec<(String, String, bool, String, String)> {
    let mut found = Vec::new();
    for display in value["Displays"].as_array().expect("displays") {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let name = format!("{path}{}", text(&display["Name"]));
        if display["Class"] == "rviz_common/Group" {
            assert_eq!(display["Enabled"], true, "{name}");
            found.extend(displays(display, &format!("{name} / ")));
            continue;
        }
        let enabled = display["Enabled"].as_bool().expect("Enabled");
        assert_eq!(display["Value"], enabled, "{name}");
        let topic =
            [&display["Topic"], &display["Description Topic"]].into_iter().find(|topic| topic.is_object());
        let (topic, durability) = topic.map_or_else(Default::default, |topic| {
            (text(&topic["Value"]), text(&topic["Durability Policy"]))
        });
        found.push((name, text(&display["Class"]), enabled, topic, durability));
    }
    found
}

#[test]
fn rviz_files_have_the_displays_of_the_specification_in_order() {
    // ROS4HRI specification, section 9.1: display, class, topic, durability, enabled with and without the plugin.
    let table = [
        ("Grid", "rviz_default_plugins/Grid", "", "", Some(true), Some(true)),
        ("Map", "rviz_default_plugins/Map", "map", "Transient Local", Some(true), Some(true)),
        (
            "Robot",
            "rviz_default_plugins/RobotModel",
            "robot_description",
            "Transient Local",
            Some(true),
            Some(true),
        ),
        ("Pedestrians / Skeletons", "hri_rviz/Skeletons3D", "", "", Some(true), None),
        (
            "Pedestrians / Skeleton markers",
            "rviz_default_plugins/MarkerArray",
            "{env}/humans/markers",
            "Volatile",
            Some(false),
            Some(true),
        ),
        (
            "Pedestrians / Extra",
            "rviz_default_plugins/MarkerArray",
            "{env}/pedestrian_markers/extra",
            "Volatile",
            Some(false),
            Some(false),
        ),
        (
            "Static / all",
            "rviz_default_plugins/MarkerArray",
            "{env}/pedestrian_markers/static",
            "Transient Local",
            Some(true),
            Some(true),
        ),
        (
            "Static / walls",
            "rviz_default_plugins/MarkerArray",
            "{env}/pedestrian_markers/static_walls",
            "Transient Local",
            Some(true),
            Some(true),
        ),
        (
            "Static / objects",
            "rviz_default_plugins/MarkerArray",
            "{env}/pedestrian_markers/static_objects",
            "Transient Local",
            Some(true),
            Some(true),
        ),
        ("Human TF", "rviz_default_plugins/TF", "", "", Some(false), Some(false)),
        (
            "One body",
            "rviz_default_plugins/RobotModel",
            "{env}/humans/bodies/ID/urdf",
            "Transient Local",
            Some(false),
            Some(false),
        ),
    ];
    for (file, with_plugin) in [("humans_hri.rviz", true), ("humans_markers.rviz", false)] {
        let expected: Vec<_> = table
            .iter()
            .filter_map(|(name, class, topic, durability, hri, markers)| {
                let enabled = if with_plugin { *hri } else { *markers }?;
                Some((
                    (*name).to_owned(),
                    (*class).to_owned(),
                    enabled,
                    (*topic).to_owned(),
                    (*durability).to_owned(),
                ))
            })
            .collect();
        assert_eq!(displays(&rviz(file)["Visualization Manager"], ""), expected, "{file}");
    }
}

#[test]
fn rviz_files_share_their_view_and_need_no_other_plugin() {
    for (file, foreign) in [("humans_hri.rviz", Some("hri_rviz/Skeletons3D")), ("humans_markers.rviz", None)]
    {
        let config = rviz(file);
        let manager = &config["Visualization Manager"];
        let options = &manager["Global Options"];
        assert_eq!(options["Fixed Frame"], "{fixed_frame}", "{file}");
        assert_eq!(
            (&options["Frame Rate"], &options["Background Color"]),
            (&30.into(), &"211; 211; 211".into())
        );
        let view = &manager["Views"]["Current"];
        assert_eq!((&view["Class"], &view["Distance"]), (&"rviz_default_plugins/Orbit".into(), &15.into()));
        assert_eq!(view["Pitch"], 0.9, "{file}");

        let mut found = Vec::new();
        classes(&config, &mut found);
        for class in found {
            let shipped = class.is_empty()
                || class.starts_with("rviz_default_plugins/")
                || class.starts_with("rviz_common/")
                || Some(class) == foreign;
            assert!(shipped, "{file}: {class}");
        }
    }
}

/// Every value of a key `Class`.
fn classes<'a>(value: &'a Value, found: &mut Vec<&'a str>) {
    match value {
        Value::Object(entries) => {
            found.extend(entries.get("Class").and_then(Value::as_str));
            entries.values().for_each(|value| classes(value, found));
        }
        Value::Array(items) => items.iter().for_each(|value| classes(value, found)),
        _ => {}
    }
}
