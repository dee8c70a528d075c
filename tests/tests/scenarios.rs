//! Scenario and world folders as users have them: the real ones, our own, and ten broken ones.

use std::path::{Path, PathBuf};

use promenade_scenario::{
    Area, FileKind, GotoTarget, PhaseAction, Place, RegionKind, Report, Scenario, ScenarioRef, Severity,
    Surroundings, Trigger, World, find_world, kind_of,
};

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the crate lies in the repository").to_owned()
}

fn hospital() -> PathBuf {
    repository().join("tests/scenarios/hospital")
}

fn scenario(world: &Path, name: &str) -> Scenario {
    let file = world.join("scenarios").join(name).join("scenario.yaml");
    Scenario::load(&file).unwrap_or_else(|report| panic!("{report}")).value
}

fn check(paths: &[PathBuf]) -> Report {
    promenade_scenario::check(paths, &Surroundings::default()).report
}

/// A report with paths as seen from the repository.
fn shown(report: &Report) -> String {
    report.to_string().replace(&format!("{}/", repository().display()), "")
}

#[test]
fn the_real_world_loads_with_every_zone_wall_and_door() {
    let loaded = World::load(&hospital()).unwrap_or_else(|report| panic!("{report}"));
    let world = loaded.value;
    assert_eq!(world.name, "hospital");
    assert_eq!((world.zones().count(), world.walls().count(), world.doors().count()), (13, 79, 19));
    let (level, hall) = world.zone("central_hallway").expect("the hallway");
    assert_eq!((level.id.as_str(), hall.max_speed()), ("0", Some(1.0)));
    assert!(world.zone("pharmacy").is_some_and(|(_, z)| z.restricted() && !z.quiet()));
    assert_eq!(hall.schedules.len(), 1);
}

#[test]
fn the_real_corridor_has_its_people() {
    let crowd = scenario(&hospital(), "corridor_crowd");
    assert_eq!((crowd.dynamics.len(), crowd.robots.len()), (8, 1));
    let target = &crowd.dynamics[0];
    assert_eq!(target.name, "target");
    assert_eq!(target.desired_velocity(), promenade_scenario::Range::exactly(0.9));
    assert_eq!(target.radius(), 0.35);
    assert!(crowd.dynamics.iter().all(|e| e.waypoints.len() == 2));
}

#[test]
fn the_real_flow_has_sources_a_sink_and_an_old_goal() {
    let flow = scenario(&hospital(), "flow");
    let names: Vec<&str> = flow.regions.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["entrance_source", "reception_sink", "hallway_spawn"]);
    let RegionKind::Source(source) = &flow.regions[0].1.kind else { panic!("a source") };
    assert_eq!((source.max_concurrent, source.max_total, source.rate_profile[0].rate), (5, 50, 1.5));
    assert_eq!(source.agent.sink_affinity[0].sink, "reception_sink");
    assert!(matches!(&flow.regions[0].1.area, Area::Polygon(corners) if corners.len() == 4));
    let PhaseAction::Goto(GotoTarget::Pose(goal)) = &flow.robots[0].phases[0].action else {
        panic!("a goto")
    };
    assert_eq!((goal.x, goal.y), (4.0, 26.8));
}

#[test]
fn the_real_fire_alarm_names_its_agent_type_and_sets_a_schedule() {
    let alarm = scenario(&hospital(), "fire_alarm");
    let agent = alarm.dynamics[0].agent.as_ref().expect("an agent");
    let promenade_scenario::AgentType::File(file) = agent.agent_type() else { panic!("a file") };
    assert!(file.is_absolute() && file.is_file(), "{}", file.display());
    assert_eq!(alarm.timeline[0].trigger, Trigger::At(12.0));
    assert_eq!(alarm.timeline[0].set[0].value, "true");
    assert_eq!(alarm.statics[0].interaction.kind.as_deref(), Some("exit"));
}

#[test]
fn the_real_folder_gives_nothing_but_hints() {
    let report = check(&[hospital()]);
    assert_eq!(report.count(Severity::Error) + report.count(Severity::Warning), 0, "{report}");
    let expected = "\
tests/scenarios/hospital/0/world.yaml:40:3: hint: zones[0]: `sounds` is kept and has no effect yet
tests/scenarios/hospital/scenarios/fire_alarm/scenario.yaml:3:3: hint: robots[0]: `goal` is deprecated, it is read as one phase  (try: phases: [{goto: ...}])
tests/scenarios/hospital/scenarios/flow/scenario.yaml:3:3: hint: robots[0]: `goal` is deprecated, it is read as one phase  (try: phases: [{goto: ...}])";
    assert_eq!(shown(&report), expected);
}

#[test]
fn every_real_scenario_resolves_in_its_world() {
    let world = World::load(&hospital()).expect("loads").value;
    for name in ["corridor_crowd", "fire_alarm", "flow"] {
        let scenario = scenario(&hospital(), name);
        let resolved = scenario.resolve(&world, 1).unwrap_or_else(|report| panic!("{report}"));
        assert_eq!(resolved.dynamics.len(), scenario.dynamics.len());
        assert_eq!(resolved.regions.len(), scenario.regions.len());
    }
}

#[test]
fn our_own_worlds_are_clean() {
    let worlds = repository().join("configs/worlds");
    for world in ["clinic", "map_empty"] {
        let report = check(&[worlds.join(world)]);
        assert!(report.is_empty(), "{report}");
    }
}

#[test]
fn gait_profiles_are_told_apart_for_their_own_check() {
    for entry in std::fs::read_dir(repository().join("profiles")).expect("the profiles") {
        let file = entry.expect("an entry").path();
        if file.extension().is_some_and(|e| e == "yaml") {
            assert_eq!(kind_of(&file), Ok(FileKind::Profile), "{}", file.display());
        }
    }
}

#[test]
fn our_own_worlds_are_found_by_name() {
    let roots = [repository().join("configs/worlds")];
    let located = ScenarioRef::new("clinic/corridor_crowd").locate(None, &roots).expect("found");
    assert_eq!(located.name, "corridor_crowd");
    assert_eq!(located.world.as_deref().and_then(Path::file_name), Some("clinic".as_ref()));
    assert_eq!(located.load_world().expect("loads").value.name, "clinic");
    assert!(ScenarioRef::new("default").locate(Some("map_empty"), &roots).is_ok());
    let error = find_world("clinik", &roots).expect_err("no such world");
    assert!(error.to_string().ends_with("(try: clinic)"), "{error}");
    let error =
        ScenarioRef::new("clinic/corridor_crowed").locate(None, &roots).expect_err("no such scenario");
    assert!(error.to_string().ends_with("(try: clinic/corridor_crowd)"), "{error}");
}

/// Straight walking in the demo never brings two people together: every pair of routes keeps its distance.
#[test]
fn the_clinic_corridor_keeps_its_lanes_apart() {
    let clinic = repository().join("configs/worlds/clinic");
    let world = World::load(&clinic).expect("loads").value;
    let crowd = scenario(&clinic, "corridor_crowd").resolve(&world, 1).expect("resolves");
    assert_eq!(crowd.dynamics.len(), 10);
    let corridor = world.zone("corridor").expect("the corridor").1;
    let extent = |i: usize| {
        let person = &crowd.dynamics[i];
        let points = || person.waypoints.iter().chain([&person.pose]);
        let low = points().map(|p| p.x).fold(f64::INFINITY, f64::min);
        let high = points().map(|p| p.x).fold(f64::NEG_INFINITY, f64::max);
        assert!(points().all(|p| p.y == person.pose.y && corridor.contains(p.point())));
        (low, high, person.pose.y, person.entry.radius())
    };
    for i in 0..10 {
        for j in 0..i {
            let (a, b) = (extent(i), extent(j));
            let apart = (a.0 - b.1).max(b.0 - a.1);
            let gap = apart.max((a.2 - b.2).abs());
            assert!(gap >= a.3 + b.3, "persons {i} and {j} are {gap} m apart");
        }
    }
}

#[test]
fn the_waiting_room_places_people_inside_their_zones() {
    let clinic = repository().join("configs/worlds/clinic");
    let world = World::load(&clinic).expect("loads").value;
    let scenario = scenario(&clinic, "waiting_room");
    for seed in 0..20 {
        let resolved = scenario.resolve(&world, seed).unwrap_or_else(|report| panic!("{report}"));
        for person in &resolved.dynamics {
            if let Place::Zone(zone) = &person.entry.pose {
                let (level, zone) = world.zone(zone).expect("known");
                assert!(zone.contains(person.pose.point()));
                assert!(level.closed_lines().iter().all(|l| l.distance(person.pose.point()) >= 0.3));
            }
        }
        assert_eq!(resolved, scenario.resolve(&world, seed).expect("resolves"), "same seed, same places");
    }
}

/// One file, one mistake, one line that says how to mend it.
#[test]
fn ten_broken_scenarios_give_ten_useful_messages() {
    let expected = [
        (
            "bad_waypoint",
            "6:14: error: dynamic[0].waypoints: expected a list of way-points, found 2 numbers  (try: [[x, y], ...])",
        ),
        ("duplicate_key", "7:3: error: dynamic[0]: the key `pose` is there twice, first in line 5"),
        ("duplicate_name", "7:9: error: dynamic[0].name: the name \"guide\" is taken, first in line 3"),
        ("missing_model", "3:3: error: dynamic[0]: `model` is missing, expected a model name"),
        (
            "pose_length",
            "5:9: error: dynamic[0].pose: expected a pose `[x, y]`, `[x, y, yaw]` or `{x, y, z, yaw}`, or a zone name, found a list of 4",
        ),
        (
            "region_type",
            "5:11: error: regions.west_door.type: unknown region type \"sorce\", expected one of `source`, `sink`  (try: source)",
        ),
        (
            "two_triggers",
            "4:3: error: timeline[0]: expected exactly one of `at`, `every` and `when`, found `at` and `every`",
        ),
        ("typo_in_key", "2:1: error: unknown key `dynamics`  (try: dynamic)"),
        (
            "unknown_zone",
            "8:5: error: dynamic[0].waypoints[1]: no zone of the world \"broken\" is named \"plattform\"  (try: platform)",
        ),
        (
            "wrong_type",
            "6:13: error: dynamic[0].velocity: expected a number, found the text \"1,2\"  (try: 1.2)",
        ),
    ];
    let folder = repository().join("tests/scenarios/broken");
    let mut shown_all = Vec::new();
    for (name, _) in expected {
        shown_all.push(shown(&check(&[folder.join(format!("{name}.yaml"))])));
    }
    let expected: Vec<String> =
        expected.iter().map(|(name, rest)| format!("tests/scenarios/broken/{name}.yaml:{rest}")).collect();
    assert_eq!(shown_all.join("\n"), expected.join("\n"));
}

#[test]
fn a_file_with_many_mistakes_gives_all_of_them_at_once() {
    let text = "\
dynamic:
- name: a
  model: m
  pose: [.nan, .inf]
  agnet: {agent_type: adult}
- name: 7
  model: m
  pose: {x: 1, y: 2, yaww: 0}
  agent: {desired_velocity: {min: 2, max: 1}, raduis: 0.3}
robots:
- strat: [0, 0]
regions:
  a: {type: source, polygon: [{x: 0, y: 0}, {x: 1, y: 0}]}
  b: {type: source, ref: lobby, config: {rate_profile: [{t: 0, rate: -1}], agent: {sink_affinity: [{sink: bb}]}}}
timeline:
- {at: 1, until: 3, set: [{entity: door, field: open}]}
colour: blue
";
    let report = Scenario::parse(text, Path::new("s.yaml")).expect_err("refused");
    assert_eq!(report.to_string(), "\
s.yaml:4:10: error: dynamic[0].pose[0]: expected a finite number, found NaN
s.yaml:4:16: error: dynamic[0].pose[1]: expected a finite number, found inf
s.yaml:5:3: warning: dynamic[0]: unknown key `agnet`  (try: agent)
s.yaml:6:9: error: dynamic[1].name: expected text, found the number 7  (try: \"7\")
s.yaml:8:22: error: dynamic[1].pose: unknown key `yaww`  (try: yaw)
s.yaml:9:29: error: dynamic[1].agent.desired_velocity: min 2 is greater than max 1
s.yaml:9:47: error: dynamic[1].agent: unknown key `raduis`  (try: radius)
s.yaml:11:3: error: robots[0]: unknown key `strat`, and `start` (`[x, y, yaw]` or a zone name) is missing  (try: start)
s.yaml:13:30: error: regions.a.polygon: a polygon needs at least 3 corners, found 2
s.yaml:14:70: error: regions.b.config.rate_profile[0].rate: must not be negative, found -1
s.yaml:14:107: error: regions.b.config.agent.sink_affinity[0].sink: no sink region is named \"bb\"
s.yaml:16:11: error: timeline[0]: `until` belongs to `every`, found beside `at`
s.yaml:16:27: error: timeline[0].set[0]: `value` is missing, expected the value to set
s.yaml:17:1: warning: unknown key `colour`, it has no effect; known are `static`, `dynamic`, `robots`, `regions`, `sounds`, `timeline`, `conditions`, `obstacles`");
}

#[test]
fn text_that_is_no_yaml_says_where_it_stops_being_it() {
    let report = Scenario::parse("dynamic:\n\t- name: a\n", Path::new("s.yaml")).expect_err("refused");
    assert_eq!(
        report.to_string(),
        "s.yaml:2:2: error: not valid YAML: tabs disallowed within this context (block indentation); the line is indented with a tab, YAML needs spaces"
    );
}
