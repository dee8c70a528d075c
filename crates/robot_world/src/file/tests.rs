//! What is said about a mistake: every row of section 17 of the robot-world specification, to the letter.

use std::path::Path;

use promenade_scenario::problem::{Loaded, Report};

use crate::registry::Registry;
use crate::spec::{CollisionMode, Goal, ObjectSpec, WorldSpec};
use crate::{ReadOptions, file::MAX_OBJECTS};

fn read_with(text: &str, lenient: bool) -> Result<Loaded<WorldSpec>, Report> {
    WorldSpec::from_text(text, Path::new("w.yaml"), &Registry::built_in(), &ReadOptions { lenient })
}

fn read(text: &str) -> Result<Loaded<WorldSpec>, Report> {
    read_with(text, false)
}

/// Every problem of a file that does not load, warnings too.
fn refused(text: &str) -> String {
    read(text).expect_err("an error").to_string()
}

/// Problems of a robot with these keys beside its kinematics and shape.
fn refused_robot(keys: &str) -> String {
    refused(&format!("robot:\n- {{kinematics: {{name: diff}}, shape: {{name: circle}}, {keys}}}"))
}

fn accepted(text: &str) -> WorldSpec {
    match read(text) {
        Ok(loaded) => loaded.value,
        Err(report) => panic!("{report}"),
    }
}

fn robots(text: &str) -> Vec<ObjectSpec> {
    accepted(text).groups.into_iter().flat_map(|group| group.objects).collect()
}

fn goal(x: f64, y: f64) -> Goal {
    Goal { position: [x, y], heading: Some(0.0) }
}

#[track_caller]
fn assert_says(found: &str, expected: &str) {
    assert_eq!(found, expected);
}

#[test]
fn an_unknown_kinematics_is_told_with_the_nearest_and_all_known() {
    assert_says(
        &refused(
            "robot: [{shape: {name: circle}}, {shape: {name: circle}}, {kinematics: {name: difff}, shape: {name: circle}}]",
        ),
        "w.yaml:1:79: error: robot[2].kinematics.name: unknown kinematics \"difff\"; did you mean \"diff\"? known: acker, diff, omni, \
         omni_angular, static",
    );
    assert_says(
        &refused("robot: {kinematics: {name: hovercraft}, shape: {name: circle}}"),
        "w.yaml:1:28: error: robot.kinematics.name: unknown kinematics \"hovercraft\"; known: acker, diff, omni, omni_angular, static",
    );
}

#[test]
fn a_key_that_a_model_does_not_take_is_told_with_those_it_takes() {
    let told = |kinematics: &str| {
        refused(&format!("robot:\n- {{shape: {{name: circle}}, kinematics: {kinematics}}}"))
    };
    assert_says(
        &told("{name: diff, wheel: 2}"),
        "w.yaml:2:52: error: robot[0].kinematics.wheel: \"diff\" has no parameter \"wheel\"; it takes noise, alpha, tau",
    );
    assert!(
        told("{name: omni, mode: steer}")
            .contains("\"omni\" has no parameter \"mode\"; it takes noise, alpha, tau")
    );
    assert!(
        told("{name: diff, wheelbase: 1}")
            .contains("\"diff\" has no parameter \"wheelbase\"; it takes noise")
    );
    assert!(told("{name: acker, wheelbas: 1}").ends_with(
        "\"acker\" has no parameter \"wheelbas\"; did you mean wheelbase? it takes noise, alpha, tau, mode, wheelbase"
    ));
    assert_says(
        &told("{name: acker, mode: foo}"),
        "w.yaml:2:59: error: robot[0].kinematics.mode: \"foo\"; known: steer, angular",
    );
    assert_says(
        &told("{name: diff, noise: true, alpha: [0.1, 0]}"),
        "w.yaml:2:65: error: robot[0].kinematics.alpha: 2 numbers, the noise of \"diff\" needs 4",
    );
    assert_says(
        &told("{name: diff, tau: -1}"),
        "w.yaml:2:57: error: robot[0].kinematics.tau: must be a finite number >= 0, got -1.0",
    );
    assert!(told("diff").contains(
        "robot[0].kinematics: expected a mapping with a name, found the text \"diff\"; write {name: diff}"
    ));
    assert!(told("{tau: 1}").contains("robot[0].kinematics.name: required; known: acker"));
}

#[test]
fn misspelt_keys_are_told_with_what_was_meant() {
    assert_says(
        &refused_robot("vel_maxx: [1, 1]"),
        "w.yaml:2:53: error: robot[0].vel_maxx: unknown key; did you mean vel_max?",
    );
    assert_says(
        &refused("world: {heigth: 3}"),
        "w.yaml:1:9: error: world.heigth: unknown key; did you mean height?",
    );
    assert_says(&refused("robots: []"), "w.yaml:1:1: error: robots: unknown key; did you mean robot?");
    assert_says(
        &refused("people: []"),
        "w.yaml:1:1: error: people: unknown key; known: world, robot, obstacle, gui, custom",
    );
}

#[test]
fn lenient_reading_turns_unknown_keys_into_warnings_and_nothing_else() {
    let text = "
world: {heigth: 3}
robot: {kinematics: {name: diff}, vel_maxx: [1, 1], shape: {name: circle, radios: 1}, sensors: [{name: lidar2d, numbr: 3}]}";
    assert_eq!(read(text).expect_err("errors").len(), 4);
    let report = read_with(text, true).expect("warnings").report;
    let told: Vec<String> =
        report.iter().map(|problem| format!("{}: {}", problem.severity, problem.path)).collect();
    let paths = ["world.heigth", "robot.vel_maxx", "robot.shape.radios", "robot.sensors[0].numbr"];
    assert_eq!(told, paths.map(|path| format!("warning: {path}")));
    for strict in [
        "robots: []",
        "robot: {kinematics: {name: diff, wheel: 2}, shape: {name: circle}}",
        "world: {collision_mode: bounce}",
    ] {
        assert!(read_with(strict, true).is_err(), "{strict}");
    }
}

#[test]
fn a_file_that_is_empty_missing_or_no_mapping_is_no_world() {
    let empty = "w.yaml:1:1: error: file is empty; expected a mapping with world, robot, obstacle";
    for text in ["", "\n\n", "# nothing\n", "~"] {
        assert_says(&refused(text), empty);
    }
    assert_says(
        &refused("- world"),
        "w.yaml:1:1: error: expected a mapping with world, robot, obstacle, a map, found a list of 1",
    );
    let missing =
        WorldSpec::read(Path::new("nowhere/w.yaml"), &Registry::built_in(), &ReadOptions::default());
    let told = missing.expect_err("no file").to_string();
    let here = std::env::current_dir().expect("a folder");
    assert_says(&told, &format!("nowhere/w.yaml:1:1: error: file not found; looked in {}", here.display()));
}

#[test]
fn shapes_are_told_apart_and_their_keys_checked() {
    let told = |shape: &str| refused(&format!("obstacle: {{shape: {shape}}}"));
    assert_says(
        &told("{name: triangle}"),
        "w.yaml:1:26: error: obstacle.shape.name: unknown shape \"triangle\"; known: circle, compound, linestring, polygon, rectangle",
    );
    for shape in [
        "circle, radios: 1",
        "rectangle, lenght: 1",
        "polygon, vertixes: 1",
        "linestring, vertixes: 1",
        "compound, part: 1",
    ] {
        let told = told(&format!("{{name: {shape}}}"));
        assert!(told.contains("unknown key; did you mean "), "{told}");
    }
    assert_says(
        &told("{name: linestring}"),
        "w.yaml:1:19: error: obstacle.shape.vertices: required for linestring",
    );
    assert_says(
        &told("{name: polygon}"),
        "w.yaml:1:19: error: obstacle.shape.vertices: required for polygon unless random_shape is true",
    );
    assert!(read("obstacle: {shape: {name: polygon, random_shape: true}}").is_ok());
    assert_says(
        &told("{name: polygon, vertices: [[0, 0], [1, 1], [1, 0], [0, 1]]}"),
        "w.yaml:1:35: error: obstacle.shape.vertices: the ring crosses itself: edge 0 ([0, 0] to [1, 1]) meets edge 2 ([1, 0] to [0, 1])",
    );
    assert!(
        told("{radius: 1}").ends_with(
            "obstacle.shape.name: required; known: circle, compound, linestring, polygon, rectangle"
        )
    );
    assert!(
        told("{name: circle, radius: 0}")
            .ends_with("obstacle.shape.radius: must be a finite number > 0, got 0.0")
    );
    assert!(
        told("{name: rectangle, length: 1e7}")
            .contains("obstacle.shape.length: length must be a number above 0")
    );
    assert!(
        told("{name: polygon, vertices: [[0, 0], [1, .nan], [1, 1]]}")
            .contains("obstacle.shape.vertices[1][1]: expected a finite number")
    );
    assert!(
        told("{name: polygon, vertices: [[0, 0], [1, 1]]}")
            .ends_with("2 distinct vertices, at least 3 are needed")
    );
    assert!(
        told("{name: polygon, random_shape: true, num_vertices_range: [4, 4]}")
            .contains("two whole numbers of 3 to 1000")
    );
    assert!(
        told("{name: circle, random_shape: true, radius_range: [2, 1]}").ends_with(
            "obstacle.shape.radius_range: goes from 2.0 down to 1.0; write the lower number first"
        )
    );
}

#[test]
fn compounds_are_told_which_part_is_wrong() {
    let told = |parts: &str| refused(&format!("obstacle: {{shape: {{name: compound{parts}}}}}"));
    assert!(told("").contains("obstacle.shape.parts: required for compound"));
    assert!(
        told(", parts: []")
            .ends_with("obstacle.shape.parts: expected a list of 1 to 200 parts, found an empty list")
    );
    assert!(told(", parts: [{name: circle}, {name: linestring}]").ends_with(
        "obstacle.shape.parts[1].name: unknown shape \"linestring\"; known: circle, polygon, rectangle"
    ));
    assert!(
        told(", parts: [3]")
            .ends_with("obstacle.shape.parts[0]: expected a shape, a map, found the number 3")
    );
    assert!(
        told(", parts: [{name: circle, color: red}]")
            .ends_with("obstacle.shape.parts[0].color: a part has no colour of its own; give the object one")
    );
    assert!(
        told(", parts: [{name: circle, pose: [1, 2]}]")
            .ends_with("obstacle.shape.parts[0].pose: expected a list of 3 numbers, found a list of 2")
    );
    assert!(
        told(", parts: [{name: circle, pose: [1, 2, .inf]}]")
            .contains("obstacle.shape.parts[0].pose[2]: expected a finite number")
    );
}

#[test]
fn modes_are_told_with_all_there_are() {
    let told = |keys: &str| refused(&format!("world: {{{keys}}}"));
    assert_says(
        &told("collision_mode: bounce"),
        "w.yaml:1:25: error: world.collision_mode: unknown collision mode \"bounce\"; known: stop, reactive, unobstructed, \
         unobstructed_obstacles, contact",
    );
    assert!(
        told("step_mode: foo")
            .ends_with("world.step_mode: unknown step mode \"foo\"; known: internal, external")
    );
    assert!(told("control_mode: foo").ends_with("unknown control mode \"foo\"; known: auto, keyboard"));
    assert!(
        refused_robot("arrive_mode: foo")
            .ends_with("robot[0].arrive_mode: unknown arrive mode \"foo\"; known: position, state")
    );
    assert_eq!(accepted("world: {collision_mode: Contact}").settings.collision_mode, CollisionMode::Contact);
}

#[test]
fn a_range_of_headings_spans_a_turn() {
    assert_says(
        &refused_robot("angle_range: [0, 3]"),
        "w.yaml:2:66: error: robot[0].angle_range: must span 2*pi, got 3.0",
    );
    let robots = robots("robot: {kinematics: {name: diff}, shape: {name: circle}, angle_range: [-3, 3.28]}");
    assert_eq!(robots[0].angle_low, -3.0);
}

#[test]
fn behaviours_are_told_for_whom_there_are_which() {
    let told = |keys: &str| refused(&format!("robot: {{shape: {{name: circle}}, {keys}}}"));
    assert_says(
        &told("kinematics: {name: acker}, behavior: {name: rvo}"),
        "w.yaml:1:76: error: robot.behavior.name: \"rvo\" is not available for \"acker\"; available: dash",
    );
    assert!(told("kinematics: {name: diff}, behavior: {name: dahs}").ends_with(
        "robot.behavior.name: unknown behavior \"dahs\"; did you mean \"dash\"? known: dash, rvo, sfm"
    ));
    assert!(
        told("kinematics: {name: diff}, behavior: {loop: true}").ends_with("robot.behavior.name: required")
    );
    assert!(
        told("mass: 1, behavior: {name: dash}")
            .ends_with("\"dash\" is not available for an object without kinematics; available: none")
    );
    assert!(
        told("kinematics: {name: diff}, group_behavior: {name: swarm}")
            .ends_with("robot.group_behavior.name: unknown group behavior \"swarm\"; known: orca, sfm")
    );
    assert!(
        told("kinematics: {name: acker}, group_behavior: {name: orca}")
            .ends_with("robot.group_behavior.name: \"orca\" is not available for \"acker\"; available: none")
    );
    assert!(
        told("kinematics: {name: diff}, behavior: {name: dash, angle_tolerence: 1}")
            .contains("did you mean angle_tolerance?")
    );
    assert!(
        told("kinematics: {name: diff}, behavior: {name: rvo, mode: vho}")
            .ends_with("robot.behavior.mode: \"vho\"; known: rvo, hrvo, vo")
    );
    assert!(
        told("kinematics: {name: diff}, behavior: {name: dash, target_roles: cars}")
            .ends_with("unknown role \"cars\"; known: all, robot, obstacle")
    );
}

#[test]
fn sensors_are_told_apart_and_their_keys_checked() {
    assert_says(
        &refused_robot("sensors: [{name: camera}]"),
        "w.yaml:2:70: error: robot[0].sensors[0].name: unknown sensor \"camera\"; known: contact2d, fmcw_lidar2d, lidar2d",
    );
    assert!(
        refused_robot("sensors: [{type: lidar2d, range_mx: 3}]")
            .ends_with("robot[0].sensors[0].range_mx: unknown key; did you mean range_max?")
    );
    assert!(
        refused_robot("sensors: [{number: 0}]")
            .ends_with("robot[0].sensors[0].number: must be from 1 to 100000, got 0")
    );
    assert!(
        refused_robot("sensors: [{range_min: 3, range_max: 2}]")
            .ends_with("range_min: range_min 3.0 is above range_max 2.0")
    );
    assert!(refused_robot("sensors: [{motion_compensate: true}]").contains("unknown key"));
}

#[test]
fn distributions_are_told_with_all_there_are() {
    for name in ["uniform", "gaussian"] {
        assert!(refused_robot(&format!("distribution: {{name: {name}}}")).ends_with(&format!(
            "robot[0].distribution.name: unknown distribution \"{name}\"; known: manual, random, circle"
        )));
    }
    assert!(
        refused_robot("distribution: {name: random, 3d: true}")
            .ends_with("robot[0].distribution.3d: is not supported: the world is a plane")
    );
}

#[test]
fn names_are_used_once() {
    let pair = |keys: &str| {
        refused(&format!(
            "robot:\n- {{name: a, kinematics: {{name: diff}}, shape: {{name: circle}}}}\n- {{shape: {{name: circle}}, {keys}}}"
        ))
    };
    assert_says(
        &pair("name: a"),
        "w.yaml:3:3: error: robot[1].name: the name \"a\" is taken by an object of robot[0]",
    );
    assert!(
        refused("robot: [{name: robot_1, shape: {name: circle}}, {shape: {name: circle}}]")
            .contains("the name \"robot_1\" is taken")
    );
    let told = pair("number: 2, name: b");
    assert!(
        told.contains("w.yaml:3:38: error: robot[1].name: give one name per object or leave it out"),
        "{told}"
    );
    let names = robots("robot: {number: 2, name: [a, b], shape: {name: circle}}");
    assert_eq!(names.iter().map(|robot| robot.name.as_deref()).collect::<Vec<_>>(), [Some("a"), Some("b")]);
}

#[test]
fn physical_numbers_are_told_with_key_limit_and_value() {
    for (key, value, said) in [
        ("mass", "0", "must be a number > 0 or .inf, got 0.0"),
        ("mass", "-2", "must be a number > 0 or .inf, got -2.0"),
        ("mass", ".nan", "must be a number > 0 or .inf, got NaN"),
        ("mass", "heavy", "must be a number > 0 or .inf, found the text \"heavy\""),
        ("friction", "-0.1", "must be a finite number >= 0, got -0.1"),
        ("friction", ".inf", "must be a finite number >= 0, got inf"),
        ("inertia", "0", "must be a number > 0 or .inf, got 0.0"),
        ("restitution", "1.5", "must be from 0 to 1, got 1.5"),
    ] {
        assert!(
            refused_robot(&format!("{key}: {value}")).ends_with(&format!("robot[0].{key}: {said}")),
            "{key}: {value}"
        );
    }
    for (key, value, said) in [
        ("gravity", "0", "must be a finite number > 0, got 0.0"),
        ("drive_tau", "-1", "must be a finite number >= 0, got -1.0"),
        ("restitution", "-1", "must be from 0 to 1, got -1.0"),
        ("step_time", "0", "must be a finite number > 0, got 0.0"),
        ("width", "-3", "must be a finite number > 0, got -3.0"),
    ] {
        assert!(
            refused(&format!("world: {{{key}: {value}}}")).ends_with(&format!("world.{key}: {said}")),
            "{key}: {value}"
        );
    }
    let text =
        "obstacle: {number: 3, shape: {name: circle}, mass: ['inf', '0.5', .inf], friction: [0.1, 0.2]}";
    let found: Vec<_> = robots(text).iter().map(|object| (object.mass, object.friction)).collect();
    assert_eq!(found, [(f64::INFINITY, 0.1), (0.5, 0.2), (f64::INFINITY, 0.2)]);
}

#[test]
fn vectors_are_told_how_many_numbers_the_model_needs() {
    assert_says(
        &refused_robot("vel_max: [1, 2, 3]"),
        "w.yaml:2:62: error: robot[0].vel_max: 3 numbers, \"diff\" needs 2 (linear, angular)",
    );
    assert!(
        refused_robot("velocity: [1]")
            .ends_with("robot[0].velocity: 1 numbers, \"diff\" needs 2 (linear, angular)")
    );
    assert!(
        refused_robot("acce: [1, -1]").ends_with("robot[0].acce[1]: must be a number >= 0 or .inf, got -1.0")
    );
    assert!(
        refused_robot("vel_min: [2, 0]")
            .ends_with("robot[0].vel_min: vel_min 2.0 is above vel_max 1.0 at place 0")
    );
    assert!(
        refused("obstacle: {shape: {name: circle}, mass: 1, velocity: [1]}")
            .ends_with("obstacle.velocity: 1 numbers, a passive object needs 2 or 3 (vx, vy, yaw rate)")
    );
}

#[test]
fn maps_are_told_what_they_lack() {
    let told = |map: &str| refused(&format!("world: {{obstacle_map: {map}}}"));
    let here = std::env::current_dir().expect("a folder");
    assert_says(
        &told("walls.png"),
        &format!(
            "w.yaml:1:23: error: world.obstacle_map: \"walls.png\": file not found; looked in {}",
            here.display()
        ),
    );
    assert!(
        told("{name: caves}")
            .ends_with("world.obstacle_map.name: unknown map source \"caves\"; known: image, perlin")
    );
    assert!(
        told("{name: perlin}")
            .ends_with("world.obstacle_map.resolution: required for perlin, metres per cell")
    );
    assert!(told("{name: image}").ends_with("world.obstacle_map.path: required for image, the file to read"));
    assert!(told("{name: perlin, resolution: 0.001}").contains("makes 10000 x 10000 cells"));
    assert!(told("Cargo.toml").contains("Cargo.toml: "));
}

#[test]
fn all_problems_of_a_file_are_told_together() {
    let told = refused(
        "world: {heigth: 3, collision_mode: bounce}\nrobot:\n- {kinematics: {name: difff}, shape: {name: triangle}, mass: 0, goal: [1]}\n",
    );
    assert_eq!(told.lines().count(), 6, "{told}");
}

#[test]
fn groups_count_on_from_robots_to_obstacles() {
    let groups = |text: &str| accepted(text).groups.iter().map(|group| group.group).collect::<Vec<_>>();
    let shape = "shape: {name: circle}";
    assert_eq!(
        groups(&format!("robot: [{{{shape}}}, {{{shape}}}]\nobstacle: [{{{shape}}}, {{{shape}}}]")),
        [0, 1, 2, 3]
    );
    assert_eq!(groups(&format!("robot: {{{shape}}}\nobstacle: {{{shape}}}")), [0, 1]);
    assert_eq!(
        groups(&format!("robot: [{{{shape}, group: 7}}]\nobstacle: [{{{shape}}}, {{{shape}, group: 30}}]")),
        [7, 8, 30]
    );
    assert!(
        refused(&format!("robot: {{{shape}}}\nobstacle: {{{shape}, group: 0}}"))
            .contains("obstacle.group: 0 is the group of robot; a group never mixes roles")
    );
}

#[test]
fn lists_are_spread_over_the_objects_of_a_group() {
    let text = "
robot:
  number: 3
  kinematics: {name: diff}
  shape: [{name: circle, radius: 0.3}, {name: rectangle}]
  vel_max: [1, 2]
  vel_min: [[-1, -2], [-3, -4]]
  mass: [0.5, 2]
  behavior: [{name: dash}, ~]
  state: [[1, 2, 3], [4, 5, 6]]
  goal: [[1, 1, 0], [2, 2, 0]]
  sensors: [{name: lidar2d}, {name: contact2d}, {name: lidar2d, number: 3}]
  color: cycle
";
    let robots = robots(text);
    assert_eq!(robots.iter().map(|robot| robot.vel_max[..2].to_vec()).collect::<Vec<_>>(), [[1.0, 2.0]; 3]);
    assert_eq!(robots.iter().map(|robot| robot.vel_min[1]).collect::<Vec<_>>(), [-2.0, -4.0, -4.0]);
    assert_eq!(robots.iter().map(|robot| robot.mass).collect::<Vec<_>>(), [0.5, 2.0, 2.0]);
    assert_eq!(robots.iter().map(|robot| robot.behavior.is_some()).collect::<Vec<_>>(), [true, false, false]);
    assert_eq!(robots.iter().map(|robot| robot.state[0]).collect::<Vec<_>>(), [1.0, 4.0, 4.0]);
    assert_eq!(robots[2].goals, [goal(2.0, 2.0)]);
    assert_eq!(robots.iter().map(|robot| robot.sensors.len()).collect::<Vec<_>>(), [2; 3]);
    let colors: Vec<_> = robots.iter().filter_map(|robot| robot.drawing.color.as_deref()).collect();
    assert_eq!(colors, ["#009E73", "#0072B2", "#E69F00"]);
}

#[test]
fn poses_of_one_object_are_way_points_and_of_several_one_each() {
    let goals = |keys: &str| {
        let text = format!("robot: {{kinematics: {{name: diff}}, shape: {{name: circle}}, {keys}}}");
        robots(&text).into_iter().map(|robot| robot.goals).collect::<Vec<_>>()
    };
    let [a, b, c] = [goal(2.0, 1.0), goal(4.0, 3.0), goal(1.0, 5.0)];
    assert_eq!(goals("goal: [[2, 1, 0], [4, 3, 0]]"), [vec![a, b]]);
    assert_eq!(goals("goal: [[[2, 1, 0], [4, 3, 0], [1, 5, 0]]]"), [vec![a, b, c]]);
    assert_eq!(goals("number: 2, goal: [[2, 1, 0], [4, 3, 0]]"), [vec![a], vec![b]]);
    assert_eq!(goals("number: 2, goal: [[[2, 1, 0], [4, 3, 0]], [1, 5, 0]]"), [vec![a, b], vec![c]]);
    assert_eq!(goals("number: 2, goal: [2, 1, 0]"), [vec![a], vec![a]]);
    assert_eq!(goals("number: 1"), [vec![goal(1.0, 9.0)]]);
    assert_eq!(goals("goal: ~"), [vec![]]);
    assert_eq!(goals("goal: [3, 4]"), [vec![Goal { position: [3.0, 4.0], heading: None }]]);
}

#[test]
fn a_file_shared_with_other_simulators_has_its_own_part() {
    let spec = accepted("people: 3\nirsim:\n  world: {height: 4, name: hall}\n  custom: {steps: 3}\n");
    assert_eq!((spec.settings.height, spec.settings.name.as_str()), (4.0, "hall"));
    assert_eq!(spec.custom, serde_json::json!({"steps": 3}));
    assert!(
        refused("irsim: {world: {heigth: 4}}")
            .contains("irsim.world.heigth: unknown key; did you mean height?")
    );
}

#[test]
fn what_a_file_leaves_out_is_as_specified() {
    let spec = accepted(
        "world: {}\nrobot: {kinematics: {name: acker}, shape: {name: rectangle, wheelbase: 2}, sensors: [{}]}",
    );
    let settings = &spec.settings;
    assert_eq!(
        (settings.name.as_str(), settings.width, settings.height, settings.offset),
        ("w", 10.0, 10.0, [0.0; 2])
    );
    assert_eq!((settings.step_time, settings.sample_steps, settings.gravity), (0.1, 1, 9.81));
    assert_eq!((settings.friction, settings.restitution, settings.status.as_str()), (0.5, 0.0, "None"));
    assert_eq!((settings.collision_mode, spec.map, spec.fog), (CollisionMode::Stop, None, None));
    let robot = &spec.groups[0].objects[0];
    assert_eq!(robot.state, [1.0, 1.0, 0.0, 0.0]);
    assert_eq!(robot.model.as_ref().and_then(|model| model.wheelbase()), Some(2.0));
    assert_eq!(
        (robot.goal_threshold, robot.mass, robot.is_static, robot.group_name.as_str()),
        (0.1, 1.0, false, "robot_0")
    );
    assert_eq!(robot.fov, Some([std::f64::consts::PI, 10.0]));
    assert_eq!((robot.sensors[0].number, robot.sensors[0].std), (100, None));
    let sampled = accepted("world: {step_time: 0.1, sample_time: 0.35}");
    assert_eq!(sampled.settings.sample_steps, 3);
}

#[test]
fn a_start_of_another_length_is_padded_or_cut_and_a_missing_shape_is_a_circle_of_radius_one() {
    let loaded = read(
        "robot: [{kinematics: {name: diff}, state: [1, 2]}, {kinematics: {name: diff}, shape: {name: circle}, state: [1, 2, 3, 4]}]",
    );
    let loaded = loaded.expect("warnings");
    assert_says(
        &loaded.report.to_string(),
        "w.yaml:1:9: warning: robot[0].shape: not given, a circle of radius 1 is used\n\
         w.yaml:1:43: warning: robot[0].state: 2 numbers are padded with zeros to 3\n\
         w.yaml:1:109: warning: robot[1].state: 4 numbers are cut to 3",
    );
    let states: Vec<_> = loaded.value.groups.iter().map(|group| group.objects[0].state.clone()).collect();
    assert_eq!(states, [[1.0, 2.0, 0.0], [1.0, 2.0, 3.0]]);
}

#[test]
fn words_of_python_are_taken_for_flags() {
    let robots = robots(
        "robot: {kinematics: {name: diff, noise: True}, shape: {name: circle}, static: No, unobstructed: 'yes'}",
    );
    assert_eq!(
        (robots[0].noise.as_deref(), robots[0].is_static, robots[0].unobstructed),
        (Some(&[0.03, 0.0, 0.0, 0.03][..]), false, true)
    );
}

#[test]
fn what_asks_for_too_much_is_refused_at_once() {
    let count = MAX_OBJECTS;
    assert!(
        refused_robot("number: 1000000000")
            .ends_with("robot[0].number: must be from 0 to 100000, got 1000000000")
    );
    assert!(refused_robot("number: 1.0e+12").contains("robot[0].number: expected a whole number"));
    assert!(refused_robot("number: -1").ends_with("must be from 0 to 100000, got -1"));
    let two = format!("{{number: {count}, shape: {{name: circle}}, mass: 1}}");
    assert!(
        refused(&format!("robot: [{two}, {two}]"))
            .contains("robot[1].number: more than 100000 objects in all groups together")
    );
    assert!(
        refused_robot(&format!("number: {count}, sensors: [{{number: 1000}}]"))
            .contains("more than 1000000 goals or 20000000 beams")
    );
    assert!(
        refused_robot(&format!("name: {}", "a".repeat(300)))
            .contains("has 300 characters, at most 200 are accepted")
    );
    assert!(
        refused("world: {fog_map: true, fog_map_resolution: 0.0001}")
            .contains("give a coarser fog_map_resolution")
    );
    let deep = format!("custom: {}1{}", "[".repeat(100), "]".repeat(100));
    assert!(refused(&deep).contains("w.yaml:1:"));
}

#[test]
fn no_objects_are_checked_like_one() {
    assert!(refused_robot("number: 0, mass: 0").contains("robot[0].mass"));
    assert!(robots("robot: {number: 0, kinematics: {name: diff}, shape: {name: circle}}").is_empty());
}
