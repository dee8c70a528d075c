//! The worked example of the human-layer specification, section 23, the old formats, and JSON.

use std::path::{Path, PathBuf};

use promenade_kernel::KeyedStreams;
use promenade_scenario::{
    AgentType, Area, GotoTarget, PhaseAction, Place, Pose, Range, RegionKind, Report, Scenario, Severity,
    WaypointMode, World, geometry,
};

const EXAMPLE: &str = include_str!("data/worked_example.yaml");
const FILE: &str = "worlds/w/scenarios/example/scenario.yaml";

fn world() -> World {
    let text = "zones: [{name: lobby, corners: [[6, 0], [12, 0], [12, 4], [6, 4]]}]";
    World::parse(text, Path::new("worlds/w/0/world.yaml"), Some("0")).expect("loads").value
}

fn example() -> Scenario {
    let loaded = Scenario::parse(EXAMPLE, Path::new(FILE)).unwrap_or_else(|report| panic!("{report}"));
    assert!(loaded.report.is_empty(), "{}", loaded.report);
    loaded.value
}

#[test]
fn people_are_as_the_example_says() {
    let scenario = example();
    let guide = &scenario.dynamics[0];
    let agent = guide.agent.as_ref().expect("an agent");
    let file = PathBuf::from("worlds/w/scenarios/example/guide.yaml");
    assert_eq!(agent.agent_type, Some(AgentType::File(file)));
    assert_eq!(agent.desired_velocity, Some(Range::exactly(1.2)));
    assert_eq!(agent.radius, Some(0.3));
    assert_eq!((guide.waypoints.len(), guide.waypoint_mode), (3, WaypointMode::Reverse));
    assert_eq!(guide.waypoints[2].place, Place::Zone("lobby".into()));

    let commuter = &scenario.dynamics[1];
    let agent = commuter.agent.as_ref().expect("an agent");
    assert_eq!(agent.agent_type, Some(AgentType::Named("elder".into())));
    assert_eq!((agent.desired_velocity, agent.radius), (None, None), "declared and default stay apart");
    assert_eq!((commuter.desired_velocity(), commuter.radius()), (Range { min: 1.0, max: 1.5 }, 0.35));
    assert_eq!(commuter.waypoint_mode, WaypointMode::Repeat);
    assert_eq!(commuter.velocity, 1.0);
}

#[test]
fn objects_are_as_the_example_says() {
    let scenario = example();
    let counter = &scenario.statics[0].interaction;
    assert_eq!(
        (counter.kind.as_deref(), counter.capacity(), counter.interaction_radius()),
        (Some("counter"), 2, 1.2)
    );
    assert_eq!(counter.satisfies, [("ticket".to_owned(), 100.0)]);
    let formation = counter.formation.as_ref().expect("a formation");
    assert_eq!((formation.kind.as_str(), formation.params.len()), ("line", 2));
    assert_eq!(counter.seats, None, "the annotation's seats stay");

    let bench = &scenario.statics[1];
    let Place::Pose(pose) = bench.pose else { panic!("a pose") };
    let seats: Vec<Pose> =
        bench.interaction.seats.as_ref().expect("seats").iter().map(|s| s.world_pose(&pose)).collect();
    let close = |a: f64, b: f64| (a - b).abs() < 1e-12;
    assert!(close(seats[0].x, 7.6) && close(seats[0].y, 3.0) && close(seats[0].yaw, 0.0));
    assert!(close(seats[1].x, 8.4) && close(seats[1].y, 3.0) && close(seats[1].yaw, 0.2));
}

#[test]
fn regions_are_as_the_example_says() {
    let scenario = example();
    let Some(Area::Polygon(corners)) = scenario.region("west_door").map(|r| r.area.clone()) else {
        panic!("a polygon")
    };
    let centre = geometry::vertex_mean(&corners);
    let relative: Vec<(f64, f64)> = corners.iter().map(|c| (c.x - centre.x, c.y - centre.y)).collect();
    for (found, expected) in relative.iter().zip([(-0.4, -0.5), (0.4, -0.5), (0.4, 0.5), (-0.4, 0.5)]) {
        assert!((found.0 - expected.0).abs() < 1e-12 && (found.1 - expected.1).abs() < 1e-12);
    }
    let resolved = scenario.resolve(&world(), 3).expect("resolves");
    let exit = &resolved.regions[1];
    assert_eq!((exit.name.as_str(), exit.corners.len(), exit.corners[0].x), ("lobby_exit", 4, 6.0));
    assert!(
        matches!(exit.kind, RegionKind::Sink(config) if config.absorption_radius == 0.6 && config.capacity == -1)
    );
    let RegionKind::Source(source) = &resolved.regions[0].kind else { panic!("a source") };
    assert_eq!((source.max_concurrent, source.max_total), (6, -1));
    assert_eq!((source.agent.agent_radius(), source.agent.behavior_tree()), (0.3, "default"));
}

#[test]
fn the_lobby_way_point_is_drawn_inside_the_lobby_from_the_seed() {
    let (scenario, world) = (example(), world());
    let draw = |seed| scenario.resolve(&world, seed).expect("resolves").dynamics[0].waypoints[2];
    for seed in 0..50 {
        let lobby = world.zone("lobby").expect("known").1;
        assert!(lobby.contains(draw(seed).point()));
        assert_eq!(draw(seed).yaw, 0.0);
    }
    assert_eq!(draw(3), draw(3));
    assert_ne!(draw(3), draw(4));
}

#[test]
fn desired_velocity_is_one_draw_per_person_and_episode() {
    let scenario = example();
    let streams = KeyedStreams::new(5);
    let [guide, commuter] = &scenario.dynamics[..] else { panic!("two people") };
    assert_eq!(guide.sample_desired_velocity(&streams, "env_0/guide"), 1.2);
    let v = commuter.sample_desired_velocity(&streams, "env_0/commuter");
    assert!((1.0..=1.5).contains(&v));
    assert_eq!(v, commuter.sample_desired_velocity(&streams, "env_0/commuter"));
    assert_ne!(v, commuter.sample_desired_velocity(&streams, "env_1/commuter"));
}

#[test]
fn json_with_the_same_keys_reads_the_same() {
    let text = "{\n\t\"dynamic\": [\n\t\t{\"name\": \"a\", \"model\": \"m\", \"pose\": [1, 2.5e0, 0], \"waypoints\": [\"lobby\"]}\n\t]\n}\n";
    let json = Scenario::parse(text, Path::new("scenario.json")).unwrap_or_else(|r| panic!("{r}")).value;
    assert_eq!(json.dynamics[0].pose, Place::Pose(Pose { x: 1.0, y: 2.5, ..Pose::default() }));
    let broken = text.replace("\"pose\": [1", "\"pose\": [\"1\"");
    let report = Scenario::parse(&broken, Path::new("scenario.json")).expect_err("refused");
    assert_eq!(
        report.to_string(),
        "scenario.json:3:40: error: dynamic[0].pose[0]: expected a number, found the text \"1\"  (try: 1)"
    );
}

#[test]
fn the_old_format_is_read_with_a_warning() {
    let text = "\
obstacles:
  static: [{name: a, model: m, pos: [0, 0]}]
  interactive: [{name: b, model: m, pose: [1, 0]}]
  dynamic: [{name: c, model: m, pose: [2, 0], waypoint: [[3, 0]]}]
";
    let loaded = Scenario::parse(text, Path::new("s.yaml")).unwrap_or_else(|r| panic!("{r}"));
    let names: Vec<&str> = loaded.value.statics.iter().map(|e| e.name.as_str()).collect();
    assert_eq!(names, ["a", "b"]);
    assert_eq!(loaded.value.dynamics[0].waypoints.len(), 1);
    assert_eq!(
        loaded.report.to_string(),
        "\
s.yaml:1:1: warning: `obstacles` is the old format; its lists are read  (try: `static` and `dynamic` at the top level)
s.yaml:2:32: hint: obstacles.static[0]: `pos` is an old spelling  (try: pose)
s.yaml:4:47: warning: obstacles.dynamic[0]: `waypoint` is an old spelling  (try: waypoints)"
    );
}

#[test]
fn a_broken_timeline_fails_whatever_else_is_there() {
    let text = "obstacles: {dynamic: []}\ntimeline: [{at: soon, set: []}]\n";
    assert!(Scenario::parse(text, Path::new("s.yaml")).is_err_and(|r| r.has_errors()));
}

#[test]
fn keys_of_other_programs_are_kept_and_hinted_at() {
    let text = "\
dynamic:
- {name: a, model: m, pose: [0, 0], goals: [g0, g1], g0: {x: 1, y: 1}, g1: {x: 2, y: 2}, behavior: {type: 2}, mood: good}
";
    let loaded = Scenario::parse(text, Path::new("s.yaml")).unwrap_or_else(|r| panic!("{r}"));
    assert_eq!(
        loaded.report.to_string(),
        "s.yaml:2:111: hint: dynamic[0]: unknown key `mood`, kept for whoever reads it"
    );
    let extra = &loaded.value.dynamics[0].extra;
    assert_eq!(extra.get("behavior").and_then(|b| b.get("type")).and_then(|t| t.as_i64()), Some(2));
    assert_eq!(extra.entries().map(|e| e.len()), Some(8));
}

#[test]
fn bad_seats_cost_the_seats_and_not_the_object() {
    let text = "static: [{name: a, model: m, pose: [0, 0], seats: [{x: 1, y: 0}, {x: 1, y: 0, z: 3}]}]\n";
    let loaded = Scenario::parse(text, Path::new("s.yaml")).unwrap_or_else(|r| panic!("{r}"));
    assert_eq!(loaded.value.statics[0].interaction.seats, Some(Vec::new()));
    assert_eq!(loaded.report.count(Severity::Warning), 1);
}

#[test]
fn robots_have_phases() {
    let text = "\
robots:
- start: lobby
  phases:
  - {goto: lobby, hold_time: 2.0, on_failure: stop_task}
  - {until: 'gate.state == open', text: wait for the gate}
  - {gesture: {kind: wave}}
";
    let robot =
        Scenario::parse(text, Path::new("s.yaml")).unwrap_or_else(|r| panic!("{r}")).value.robots.remove(0);
    assert_eq!(robot.phases[0].action, PhaseAction::Goto(GotoTarget::Named("lobby".into())));
    assert_eq!(robot.phases[1].action, PhaseAction::Hold);
    assert_eq!(robot.phases[1].until.as_ref().map(|u| u.value.as_str()), Some("open"));
    assert!(matches!(robot.phases[2].action, PhaseAction::Gesture(_)));
}

fn resolve_error(scenario: &str, world: &str) -> Report {
    let world = World::parse(world, Path::new("w/0/world.yaml"), Some("0")).expect("loads").value;
    let scenario = Scenario::parse(scenario, Path::new("s.yaml")).unwrap_or_else(|r| panic!("{r}")).value;
    scenario.resolve(&world, 0).expect_err("refused")
}

#[test]
fn a_zone_without_room_is_an_error_and_not_a_hang() {
    let world = "zones: [{name: closet, corners: [[0, 0], [1.3, 0], [1.3, 1.3], [0, 1.3]]}]";
    let people: String = (0..9).map(|i| format!("- {{name: p{i}, model: m, pose: closet}}\n")).collect();
    let report = resolve_error(&format!("dynamic:\n{people}"), world);
    assert!(report.to_string().contains("no free place for"), "{report}");
}

#[test]
fn ten_thousand_people_in_one_closet_are_refused_in_good_time() {
    let world = "zones: [{name: closet, corners: [[0, 0], [9, 0], [9, 9], [0, 9]]}]";
    let people: String = (0..10_000).map(|i| format!("- {{name: p{i}, model: m, pose: closet}}\n")).collect();
    let report = resolve_error(&format!("dynamic:\n{people}"), world);
    assert!(report.len() > 9_800, "{}", report.len());
}

#[test]
fn an_unknown_level_is_an_error() {
    let world = "zones: [{name: hall, corners: [[0, 0], [8, 0], [8, 8], [0, 8]]}]";
    let report = resolve_error("dynamic: [{name: a, model: m, pose: hall, level_id: 2}]", world);
    assert_eq!(
        report.to_string(),
        "s.yaml:1:53: error: dynamic[0]: the world \"w\" has no level \"2\"; it has `0`"
    );
}

#[test]
fn sampled_people_keep_clear_of_placed_ones_and_walls() {
    let text = "zones: [{name: room, corners: [[0, 0], [5, 0], [5, 5], [0, 5]], walls: [{start: [2.5, 0], end: [2.5, 5]}]}]";
    let world = World::parse(text, Path::new("w/0/world.yaml"), Some("0")).expect("loads").value;
    let people: String = (0..12).map(|i| format!("- {{name: p{i}, model: m, pose: room}}\n")).collect();
    let text = format!("dynamic:\n- {{name: fixed, model: m, pose: [1, 1]}}\n{people}");
    let scenario = Scenario::parse(&text, Path::new("s.yaml")).unwrap_or_else(|r| panic!("{r}")).value;
    for seed in 0..30 {
        let people = scenario.resolve(&world, seed).unwrap_or_else(|r| panic!("{r}")).dynamics;
        for (i, a) in people.iter().enumerate() {
            assert!(i == 0 || (a.pose.x - 2.5).abs() >= 0.3);
            for b in &people[..i] {
                assert!(a.pose.point().distance(b.pose.point()) >= 0.7);
            }
        }
    }
}

#[test]
fn way_points_stay_out_of_restricted_zones() {
    let text = "\
zones:
- {name: hall, corners: [[0, 0], [8, 0], [8, 8], [0, 8]]}
- {name: vault, corners: [[0, 0], [6, 0], [6, 8], [0, 8]], semantics: [{predicate: restricted, value: true}]}
";
    let world = World::parse(text, Path::new("w/0/world.yaml"), Some("0")).expect("loads").value;
    let text = "dynamic: [{name: a, model: m, pose: [7, 1], waypoints: [hall, vault]}]";
    let scenario = Scenario::parse(text, Path::new("s.yaml")).unwrap_or_else(|r| panic!("{r}")).value;
    for seed in 0..30 {
        let resolved = scenario.resolve(&world, seed).unwrap_or_else(|r| panic!("{r}"));
        assert_eq!(resolved.dynamics[0].waypoints.len(), 1);
        assert!(resolved.dynamics[0].waypoints[0].x > 6.0);
        assert_eq!(resolved.report.count(Severity::Warning), 1);
    }
    let off = promenade_scenario::ResolveOptions { zone_semantics: false };
    let resolved = scenario.resolve_with(&world, &KeyedStreams::new(1), off).expect("resolves");
    assert_eq!((resolved.dynamics[0].waypoints.len(), resolved.report.len()), (2, 0));
}

#[test]
fn names_the_world_has_taken_are_refused() {
    let world = "zones: [{name: hall, corners: [[0, 0], [8, 0], [8, 8], [0, 8]], entities: {static: [{name: plant, model: m, pose: [1, 1]}], dynamic: []}}]";
    let report = resolve_error("dynamic: [{name: plant, model: m, pose: hal}]", world);
    assert_eq!(
        report.to_string(),
        "\
s.yaml:1:18: error: dynamic[0]: the name \"plant\" is taken by an entity of zone \"hall\" in w/0/world.yaml
s.yaml:1:41: error: dynamic[0].pose: no zone of the world \"w\" is named \"hal\"  (try: hall)"
    );
}
