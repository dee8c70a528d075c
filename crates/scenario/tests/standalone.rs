//! Scenarios of the crowd engine alone, as somebody writes them and gets them wrong.

use std::path::Path;

use promenade_scenario::standalone::{Goal, StandaloneShape};
use promenade_scenario::{FileKind, Severity, StandaloneScenario, Surroundings, WaypointMode, check};

fn read(text: &str) -> StandaloneScenario {
    let loaded = StandaloneScenario::parse(text, Path::new("s.yaml"));
    loaded.unwrap_or_else(|report| panic!("{report}")).value
}

/// All problems, a line each.
fn told(text: &str) -> String {
    match StandaloneScenario::parse(text, Path::new("s.yaml")) {
        Ok(loaded) => loaded.report.to_string(),
        Err(report) => report.to_string(),
    }
}

#[test]
fn every_block_of_the_format_is_read() {
    let loaded = StandaloneScenario::parse(include_str!("data/standalone.yaml"), Path::new("d/s.yaml"));
    let loaded = loaded.unwrap_or_else(|report| panic!("{report}"));
    let s = loaded.value;
    assert_eq!((s.simulation.seed, s.simulation.max_ticks, s.simulation.robot_shutdown), (3, 600, true));
    let ids: Vec<i32> = s.agents.iter().map(|a| a.agent_id).collect();
    assert_eq!(ids, [1, -4, 0]);
    assert_eq!(s.agents[0].goals[1], Goal { pose: [0.0, 1.0, 0.0], radius: 0.0 });
    assert_eq!(s.agents[0].waypoint_mode, WaypointMode::Repeat);
    assert_eq!((s.agents[1].robot, s.agents[1].spawn_tick), (true, 100));
    assert_eq!((s.agents[2].desired_velocity, s.agents[2].agent_radius), (1.3, 0.35));
    assert_eq!(s.sources[0].sink_affinity, [(0, 1.0), (1, 0.5)]);
    assert_eq!(s.sources[1].shape, StandaloneShape::Polygon(vec![[0.0, 0.0], [1.0, 0.0], [1.0, 1.0]]));
    assert_eq!((s.sources[1].keeps_full, s.sources[1].max_concurrent), (true, 10));
    assert_eq!((s.sinks[0].absorption_radius, s.sinks[1].absorption_radius), (1.0, 0.5));
    assert_eq!(s.interaction_scripts[0].participants, [1, -4]);
    assert_eq!(s.obstacles[0].bounds, [[-0.5, 0.5], [-0.2, 0.2], [0.0, 0.5]]);
    let warnings: Vec<String> =
        loaded.report.iter().filter(|p| p.severity == Severity::Warning).map(|p| p.message.clone()).collect();
    assert_eq!(
        warnings,
        [
            "checked, and without effect yet: `formation_scale`, behaviour of agent type `visitor`, `services`, \
          `interaction_preferences`, `world_objects`, `interaction_scripts`, `event_scripts`"
        ]
    );
}

#[test]
fn variables_are_put_in_and_a_child_has_its_own() {
    let s = read(include_str!("data/standalone.yaml"));
    let velocity = |name: &str| {
        let (_, resolved) = s.agent_types.iter().find(|(n, _)| n == name).expect("there");
        let d = resolved.distribution("desired_velocity").expect("declared");
        [d.mean, d.std, d.clip_low]
    };
    assert_eq!(velocity("walker"), [1.2, 0.12, 0.6]);
    assert_eq!(velocity("visitor"), [1.0, 0.1, 0.5]);
    let (_, visitor) = &s.agent_types[1];
    let target =
        visitor.merged.document.get("sequences").and_then(|n| n.get("tour")?.get("steps")?.get("ask"));
    assert_eq!(target.and_then(|n| n.get("target")?.as_str()), Some("desk_0"));
    assert_eq!(visitor.distribution("agent_radius").map(|d| d.mean), Some(0.25), "of adult");
}

#[test]
fn mistakes_come_with_place_and_nearest_word() {
    let text = "simulation: {sede: 3}\nagents:\n- {agent_id: 1, spawn_pose: {x: 1, y: 2}, agent_type: eldr}\n- {agent_id: 1, spawn_pose: {x: 1}}\n- {kind: 2, spawn_pose: here}\n";
    assert_eq!(
        told(text),
        "s.yaml:1:14: error: simulation: unknown key `sede`  (try: seed)\n\
         s.yaml:3:55: warning: agents[0].agent_type: no agent type is named \"eldr\", so fixed numbers are used  (try: elder)\n\
         s.yaml:4:14: error: agents[1].agent_id: \"1\" is there twice, first in line 3\n\
         s.yaml:4:29: error: agents[1].spawn_pose: `y` is missing, expected metres\n\
         s.yaml:5:10: error: agents[2].kind: expected 0 for a human or 1 for a robot, found 2\n\
         s.yaml:5:25: error: agents[2].spawn_pose: expected a pose `{x, y, theta}`, a map, found the text \"here\""
    );
}

#[test]
fn flows_that_cannot_be_are_refused() {
    let sources =
        |text: &str| told(&format!("flow:\n  sources:\n  - {text}\n  sinks: [{{pose: {{x: 0, y: 0}}}}]\n"));
    let full = sources("{pose: {x: 0, y: 0}, type: max}");
    assert!(full.contains("needs `max_concurrent` greater than 0"), "{full}");
    let both = sources("{pose: {x: 0, y: 0}, type: max, max_concurrent: 3, rate_profile: [{t: 0, rate: 1}]}");
    assert!(both.contains("`rate_profile` means nothing"), "{both}");
    let sink = sources(
        "{pose: {x: 0, y: 0}, rate_profile: [{t: 0, rate: 1}], agent_template: {sink_affinity: [{sink_idx: 1}]}}",
    );
    assert!(sink.contains("there is no sink 1; the file has 1, counted from 0"), "{sink}");
    let speeds = sources(
        "{pose: {x: 0, y: 0}, rate_profile: [{t: 0, rate: 1}], agent_template: {desired_velocity_min: 2}}",
    );
    assert!(speeds.contains("desired_velocity_min 2 is greater than desired_velocity_max 1.5"), "{speeds}");
}

#[test]
fn variables_that_do_not_hold_say_why() {
    let with = |text: &str| told(&format!("agent_types: {{a: {{extends: adult, {text}}}}}\n"));
    let unknown = with("vars: {pace: {type: float, default: 1}}, desired_velocity: \"${pase}\"");
    assert!(unknown.ends_with("`${pase}`: no variable is named \"pase\"  (try: pace)"), "{unknown}");
    let open = with("desired_velocity: \"${1\"");
    assert!(open.ends_with("a `${` is never closed with `}`"), "{open}");
    let outside = with("vars: {pace: {type: float, default: 3, max: 2}}");
    assert!(outside.contains("vars.pace.default: expected a number from -inf to 2, found 3"), "{outside}");
    let kind = with("vars: {pace: {type: int, default: 1.5}}");
    assert!(kind.contains("expected a whole number, found the number 1.5"), "{kind}");
    let circle = told("agent_types:\n  a: {extends: b}\n  b: {extends: a}\n");
    assert!(circle.contains("a type cannot extend itself: a -> b -> a"), "{circle}");
    let text = with("vars: {n: {type: int, default: 4}}, local_planner: \"p${n}x\"");
    assert_eq!(text, "", "values are written into texts");
}

#[test]
fn behaviour_is_checked_as_far_as_the_format_says() {
    let step = |text: &str| {
        told(&format!(
            "agents: [{{agent_id: 7, spawn_pose: {{x: 0, y: 0}}}}]\nworld_objects: [{{object_id: desk, type: counter, pose: {{x: 0, y: 0}}}}]\nagent_types: {{a: {{sequences: {{s: {{steps: {{it: {text}}}}}}}}}}}\n"
        ))
    };
    let expect = |text: &str, message: &str| {
        let told = step(text);
        assert!(told.contains(message), "{text}: {told}");
    };
    expect("{interactoin: USE}", "unknown key `interactoin` of a step  (try: interaction)");
    expect("{interaction: USE, target: dask}", "no object of the file is named \"dask\"  (try: desk)");
    expect("{interaction: TALK_TO, target: desk}", "with people there is no `target`");
    expect("{interaction: BLOCK, target: 8}", "no agent of the file has the id 8");
    expect("{interaction: BLOCK, target: 7, autonomous: true}", "BLOCK cannot be autonomous");
    expect("{interaction: HUG, offer: true}", "only a SERVICE can be offered");
    expect("{interaction: SERVICE, target: t, queueable: true}", "`queueable` is for who has `offer: true`");
    expect("{kind: go_to}", "exactly one of `target` and `target_pose`");
    expect("{service_tag: t}", "`service_tag` is gone; use `target`");
    expect("{autonomous: true, attention: {gaze: desk}}", "an autonomous step has no attention");
    for good in [
        "{interaction: USE, target: counter}",
        "{interaction: BLOCK, target: 7}",
        "{kind: go_to, target: desk}",
    ] {
        assert!(!step(good).contains("error"), "{good}: {}", step(good));
    }
    let scripts = told(
        "interaction_scripts: [{tick: 0, interaction_type: DANCE, participants: [3], duration_ticks: -1}]",
    );
    for message in [
        "unknown interaction \"DANCE\"",
        "no agent of the file has the id 3",
        "from 0 to 2147483647, found -1",
    ] {
        assert!(scripts.contains(message), "{scripts}");
    }
}

#[test]
fn check_knows_them_by_their_keys() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = folder.path().join("corridor.yaml");
    std::fs::write(&file, "walls: [{start: {x: 0, y: 0}, end: {x: 1}}]\n").expect("written");
    let checked = check(std::slice::from_ref(&file), &Surroundings::default());
    assert_eq!(checked.files, [(file, FileKind::Standalone)]);
    assert!(checked.report.to_string().ends_with("walls[0].end: `y` is missing, expected metres"));
}
