//! What a check finds in worlds, scenarios, agent types and assets that load: each mistake alone, with its exact message.

mod folder;

use std::path::Path;

use promenade_scenario::{Checked, FileKind, Severity, Surroundings, check};

use folder::Folder;

impl Folder {
    /// A world of one square room, 8 m wide, with a door in the east.
    fn with_a_room() -> Self {
        let folder = Folder::new();
        folder.write("w/0/world.yaml", &world(""));
        folder
    }

    fn check(&self, below: &str) -> String {
        self.shown(&check(&[self.path(below)], &Surroundings::default()))
    }

    fn check_with_models(&self, below: &str) -> String {
        self.shown(&check(&[self.path(below)], &Surroundings { models: true, ..Surroundings::default() }))
    }

    /// The report with paths as seen from the folder.
    fn shown(&self, checked: &Checked) -> String {
        checked.report.to_string().replace(&format!("{}/", self.0.path().display()), "")
    }

    fn scenario(&self, text: &str) -> String {
        self.write("w/s.yaml", text);
        self.check("w/s.yaml")
    }
}

fn world(more: &str) -> String {
    format!(
        "zones:
- name: room
  corners: [{{x: 0, y: 0}}, {{x: 8, y: 0}}, {{x: 8, y: 8}}, {{x: 0, y: 8}}]
  walls:
  - {{start: {{x: 0, y: 0}}, end: {{x: 8, y: 0}}}}
  - {{start: {{x: 8, y: 0}}, end: {{x: 8, y: 3}}}}
  - {{start: {{x: 8, y: 5}}, end: {{x: 8, y: 8}}}}
{more}"
    )
}

#[test]
fn a_world_is_told_about_its_doors() {
    let folder = Folder::with_a_room();
    let doors = "  doors:
  - {name: slit, start: {x: 8, y: 3}, end: {x: 8, y: 3.4}}
  - {name: tight, start: {x: 8, y: 3.4}, end: {x: 8, y: 4}}
  - {name: low, start: {x: 8, y: 4}, end: {x: 8, y: 5}, height: 1.2}
  - {name: blind, start: {x: 8, y: 5.5}, end: {x: 8, y: 6.5}}
  - {name: shut, start: {x: 0, y: 1}, end: {x: 0, y: 2}, semantics: [{preset: gate, params: {}}]}
";
    folder.write("w/0/world.yaml", &world(doors));
    assert_eq!(
        folder.check("w"),
        "\
w/0/world.yaml:9:5: warning: zones[0].doors[0]: the door \"slit\" is 0.4 m wide, too narrow for anybody
w/0/world.yaml:10:5: hint: zones[0].doors[1]: the door \"tight\" is 0.6 m wide; people of the default radius need 0.7 m
w/0/world.yaml:11:5: warning: zones[0].doors[2]: the door \"low\" is 1.2 m high, lower than a person
w/0/world.yaml:12:5: warning: zones[0].doors[3]: the wall in line 7 of w/0/world.yaml stands in the door \"blind\", so that it leads nowhere; walls end at the sides of a door
w/0/world.yaml:13:5: hint: zones[0].doors[4]: the gate of \"shut\" has neither `authorized` nor `unlock_on`, so it stays locked until a timeline sets `locked`"
    );
}

#[test]
fn a_world_is_told_about_outlines_names_and_words_that_are_not_what_they_seem() {
    let folder = Folder::with_a_room();
    let more = "  doors:
  - {name: room, start: {x: 8, y: 3}, end: {x: 8, y: 4}}
  - {name: Room, start: {x: 8, y: 4}, end: {x: 8, y: 5}}
  semantics:
  - {predicate: restrictd, value: true}
  - {state: quiet, value: true}
- name: bow
  corners: [{x: 10, y: 0}, {x: 20, y: 5}, {x: 20, y: 0}, {x: 10, y: 4}]
";
    folder.write("w/0/world.yaml", &world(more));
    assert_eq!(
        folder.check("w/0/world.yaml"),
        "\
w/0/world.yaml:9:5: hint: zones[0].doors[0]: a door and a zone (line 2) share the name \"room\"; where one is named, it may be the other
w/0/world.yaml:10:5: hint: zones[0].doors[1]: the door \"Room\" and the zone \"room\" (line 2) differ only in capitals
w/0/world.yaml:12:6: warning: zones[0].semantics[0]: the predicate \"restrictd\" is kept without effect  (try: predicate: restricted)
w/0/world.yaml:13:6: warning: zones[0].semantics[1]: the state \"quiet\" is kept without effect  (try: predicate: quiet)
w/0/world.yaml:14:3: warning: zones[1].corners: the sides 1 and 3 of the outline cross; corners go around the floor"
    );
}

#[test]
fn residents_of_a_world_are_looked_at_once_and_stand_in_the_way_of_scenarios() {
    let folder = Folder::with_a_room();
    let residents = "  entities:
    dynamic:
    - {name: porter, model: m, pose: [4, 0.1]}
    - {name: guard, model: m, pose: [2, 4]}
    - {name: lost, model: m, pose: rooom}
";
    folder.write("w/0/world.yaml", &world(residents));
    folder.write("w/scenarios/a/scenario.yaml", "dynamic: [{name: ann, model: m, pose: [2, 4.2]}]");
    assert_eq!(
        folder.check("w"),
        "\
w/0/world.yaml:10:38: warning: zones[0].entities.dynamic[0].pose: [4, 0.1] is 0.1 m from the wall in line 5 of w/0/world.yaml, and the body has a radius of 0.3 m
w/0/world.yaml:12:36: error: zones[0].entities.dynamic[2].pose: no zone of the world \"w\" is named \"rooom\"  (try: room)
w/scenarios/a/scenario.yaml:1:39: warning: dynamic[0].pose: [2, 4.2] is 0.2 m from \"guard\" (line 11 of w/0/world.yaml), and the two bodies need 0.6 m"
    );
}

#[test]
fn an_open_door_lets_a_way_through_and_a_route_may_leave_the_level() {
    let folder = Folder::with_a_room();
    let door = "  doors:
  - {name: exit, start: {x: 8, y: 3}, end: {x: 8, y: 5}}
- name: yard
  corners: [{x: 8, y: 0}, {x: 20, y: 0}, {x: 20, y: 8}, {x: 8, y: 8}]
";
    folder.write("w/0/world.yaml", &world(door));
    folder.write("w/1/world.yaml", &world("").replace("room", "attic"));
    let through = "dynamic:
- {name: ann, model: m, pose: [2, 4], waypoints: [[12, 4], [2, 4]]}
- {name: bob, model: m, pose: [2, 6], waypoints: [{position: [12, 7], level_id: 1}, {position: yard}]}
- {name: eve, model: m, pose: [4, 2], waypoints: [[12, 4], [4, 2]], waypoint_mode: once}
";
    assert_eq!(folder.scenario(through), "");
}

#[test]
fn the_way_back_counts_where_the_route_repeats() {
    let folder = Folder::with_a_room();
    let yard = "- name: yard
  corners: [{x: 8, y: 0}, {x: 20, y: 0}, {x: 20, y: 8}, {x: 8, y: 8}]
";
    folder.write("w/0/world.yaml", &world(yard));
    let route = "dynamic: [{name: ann, model: m, pose: [2, 4], waypoints: [[4, 1], [6, 4], [14, 4]], MODE}]";
    assert_eq!(
        folder.scenario(&route.replace("MODE", "velocity: 1")),
        "w/s.yaml:1:58: warning: dynamic[0].waypoints: the straight way back to the first from [14, 4] to [4, 1] crosses the wall in line 6 of w/0/world.yaml"
    );
    for mode in ["once", "reverse"] {
        assert_eq!(folder.scenario(&route.replace("MODE", &format!("waypoint_mode: {mode}"))), "");
    }
}

#[test]
fn somebody_without_speed_and_somebody_with_too_much_are_told() {
    let folder = Folder::with_a_room();
    let text = "dynamic:
- {name: ann, model: m, pose: [2, 4], velocity: 0, waypoints: [[4, 4]]}
- {name: bob, model: m, pose: [2, 6], agent: {agent_type: elder, desired_velocity: 3}}
";
    assert_eq!(
        folder.scenario(text),
        "\
w/s.yaml:2:49: warning: dynamic[0].velocity: has way-points and a velocity of 0, so nobody ever gets there
w/s.yaml:3:59: hint: dynamic[1].agent: wants to walk at 3 m/s, and nobody of this agent type is faster than 1.5 m/s"
    );
}

#[test]
fn models_are_looked_up_only_where_some_are_installed() {
    let folder = Folder::with_a_room();
    let text = "dynamic:
- {name: ann, model: nures, pose: [2, 4]}
- {name: bob, model: nurse, pose: [2, 6]}
";
    folder.write("w/s.yaml", text);
    assert_eq!(folder.check("w/s.yaml"), "");
    assert_eq!(
        folder.check_with_models("w/s.yaml"),
        "w/s.yaml:2:22: hint: no human models are installed, so 2 names were not looked up; everybody looks like `arenian`"
    );
    folder.write("w/assets/Hospital/human/nurse/annotation.yaml", "tags: [human::age::adult]");
    folder.write("w/assets/Hospital/human/nurse/nurse.sdf", "");
    assert_eq!(
        folder.check_with_models("w/s.yaml"),
        "w/s.yaml:2:22: warning: dynamic[0].model: no human model is named \"nures\", so the fallback stands in  (try: Hospital/nurse)"
    );
}

#[test]
fn an_object_of_known_extent_is_in_the_way() {
    let folder = Folder::with_a_room();
    let asset = |name: &str, box_of: &str| {
        let text = format!("tags: [a::b]\nbounding_box: {box_of}\n");
        folder.write(&format!("w/assets/Common/object/{name}/annotation.yaml"), &text);
    };
    asset("desk", "[[-1, 1], [-0.4, 0.4], [0, 0.8]]");
    asset("lamp", "[[-1, 1], [-1, 1], [2.2, 2.6]]");
    asset("carpet", "[[-1, 1], [-1, 1], [0, 0.02]]");
    let door = "  doors: [{name: exit, start: {x: 8, y: 3}, end: {x: 8, y: 5}}]\n";
    folder.write("w/0/world.yaml", &world(door));
    let text = "static:
- {name: desk, model: desk, pose: [4, 4, 1.5708], scale: [2, 1, 1]}
- {name: lamp, model: lamp, pose: [2, 2]}
- {name: carpet, model: carpet, pose: [2, 2]}
- {name: barrier, model: desk, pose: [8, 4, 1.5708]}
- {name: tree, model: desk, pose: [-9, 4]}
dynamic:
- {name: under_the_lamp, model: m, pose: [2, 2]}
- {name: at_the_far_end, model: m, pose: [4.1, 5.8], waypoints: [[4, 2.2], [6, 4]]}
";
    folder.write("w/s.yaml", text);
    let report = folder.check_with_models("w/s.yaml");
    let expected = "\
w/s.yaml:5:38: warning: static[3].pose: the object stands in the door \"exit\"
w/s.yaml:6:35: hint: static[4].pose: [-9, 4] lies outside every zone of level \"0\"
w/s.yaml:8:33: hint: no human models are installed, so the name was not looked up; everybody looks like `arenian`
w/s.yaml:9:42: warning: dynamic[1].pose: [4.1, 5.8] is in the object \"desk\"
w/s.yaml:9:66: warning: dynamic[1].waypoints[0]: [4, 2.2] lies in the object \"desk\", where nobody gets to";
    assert_eq!(report, expected);
}

#[test]
fn a_folder_of_assets_is_checked_asset_by_asset() {
    let folder = Folder::with_a_room();
    folder.write("assets/Common/human/nurse/annotation.yaml", "tag: [human::age::adult]");
    folder.write("assets/Common/human/nurse/rig.yaml", "drivers: {}");
    folder.write("assets/Common/robot/burger/model.sdf", "");
    let checked = check(&[folder.path("assets")], &Surroundings::default());
    assert_eq!(
        folder.shown(&checked),
        "\
assets/Common/human/nurse:1:1: warning: the human has no SDF file, so the fallback stands in
assets/Common/human/nurse/annotation.yaml:1:1: warning: unknown key `tag`  (try: tags)
assets/Common/robot/burger/annotation.yaml:1:1: warning: is not there, so the model has no tags, no bounding box and no seats"
    );
    let kinds: Vec<FileKind> = checked.files.iter().map(|(_, kind)| *kind).collect();
    assert_eq!(kinds, [FileKind::Annotation, FileKind::Rig]);
    assert_eq!(
        folder.check("assets/Common/human"),
        "assets/Common/human:1:1: error: the folder holds no world, no scenario, no asset and no folder of assets"
    );
}

#[test]
fn what_is_not_checked_here_is_named_for_others() {
    let folder = Folder::with_a_room();
    folder.write("w/scenarios/a/scenario.yaml", "{}");
    folder.write("w/scenarios/a/types/guide.yaml", "extends: adult\n");
    folder.write("p/mine.yaml", "same_as: run\n");
    let checked = check(&[folder.path("w"), folder.path("p/mine.yaml")], &Surroundings::default());
    assert!(checked.report.is_empty(), "{}", checked.report);
    let files: Vec<(&Path, FileKind)> = checked.files.iter().map(|(f, kind)| (f.as_path(), *kind)).collect();
    assert_eq!(
        files,
        [
            (folder.path("p/mine.yaml").as_path(), FileKind::Profile),
            (&folder.path("w/0/world.yaml"), FileKind::World),
            (&folder.path("w/scenarios/a/scenario.yaml"), FileKind::Scenario),
            (&folder.path("w/scenarios/a/types/guide.yaml"), FileKind::AgentType),
        ]
    );
    assert!(!FileKind::Profile.is_checked_here() && FileKind::AgentType.is_checked_here());
}

#[test]
fn a_crowd_that_nobody_wrote_is_checked_in_bounded_time() {
    let folder = Folder::with_a_room();
    let walls: String =
        (0..5_000).map(|i| format!("  - {{start: {{x: {i}, y: 20}}, end: {{x: {i}, y: 21}}}}\n")).collect();
    folder.write("w/0/world.yaml", &world(&walls));
    let people: String = (0..15_000)
        .map(|i| format!("- {{name: p{i}, model: m, pose: [4, {}]}}\n", i as f64 / 5_000.0 + 1.0))
        .collect();
    folder.write("w/s.yaml", &format!("dynamic:\n{people}"));
    let report = check(&[folder.path("w/s.yaml")], &Surroundings::default()).report;
    let says = |text: &str| report.iter().any(|problem| problem.message.contains(text));
    assert_eq!(
        report.count(Severity::Error),
        0,
        "{}",
        report.iter().next().map(ToString::to_string).unwrap_or_default()
    );
    assert!(says("not everything was compared"));
}
