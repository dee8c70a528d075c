//! Sources, sinks, and the actors of people who come out of them (section 17.5).

use promenade_crowd::protocol::{shape, source};
use promenade_human::HumanModels;
use promenade_human::entity::Region;
use promenade_scenario::Scenario;

use super::{Play, Say, meta};

/// The regions of a scenario text, with their polygons where the offset puts them.
fn regions(text: &str) -> Vec<Region> {
    let scenario = Scenario::parse(text, std::path::Path::new("scenario.yaml")).expect("holds").value;
    let world = promenade_scenario::World::empty();
    let resolved = scenario.resolve(&world, 0).expect("resolves");
    let shifted = |points: &[promenade_scenario::Point]| {
        points.iter().map(|p| [p.x + super::OFFSET[0], p.y + super::OFFSET[1]]).collect()
    };
    let region = |region: promenade_scenario::ResolvedRegion| Region {
        polygon: shifted(&region.corners),
        kind: region.kind,
        name: region.name,
    };
    resolved.regions.into_iter().map(region).collect()
}

const DOORS: &str = "
regions:
  west_door:
    type: source
    polygon: [{x: 0.2, y: 2.0}, {x: 1.0, y: 2.0}, {x: 1.0, y: 3.0}, {x: 0.2, y: 3.0}]
    config:
      rate_profile: [{t: 0.0, rate: 0.5}, {t: 60.0, rate: 0.1}]
      max_concurrent: 6
      agent:
        desired_velocity: {min: 0.9, max: 1.4}
        agent_radius: 0.3
        sink_affinity: [{sink: lobby_exit}]
  east_door:
    type: source
    polygon: [{x: 9.0, y: 2.0}, {x: 10.0, y: 2.0}, {x: 10.0, y: 3.0}]
    config: {max_concurrent: 3}
  lobby_exit:
    type: sink
    polygon: [{x: 5.0, y: 5.0}, {x: 7.0, y: 5.0}, {x: 7.0, y: 7.0}, {x: 5.0, y: 7.0}]
    config: {absorption_radius: 0.6}
";

#[test]
fn sources_and_sinks_are_around_the_mean_of_their_corners_in_the_engines_world() {
    let mut play = Play::new();
    assert_eq!(play.stage.layer.setup_regions(&regions(DOORS)), [true, true, true]);
    assert_eq!(play.calls(), ["add_source west_door", "add_source east_door", "add_sink lobby_exit"]);
    let engine = play.engine.borrow();
    let west = &engine.sources[0];
    assert!((west.pose[0] - 0.6).abs() < 1e-12 && (west.pose[1] - 2.5).abs() < 1e-12 && west.pose[2] == 0.0);
    assert_eq!(west.shape.kind, shape::POLYGON);
    let corners = [[-0.4, -0.5], [0.4, -0.5], [0.4, 0.5], [-0.4, 0.5]];
    for (found, expected) in west.shape.vertices.iter().zip(corners) {
        assert!(
            (f64::from(found[0]) - expected[0]).abs() < 1e-6
                && (f64::from(found[1]) - expected[1]).abs() < 1e-6
        );
    }
    assert_eq!((west.kind, west.max_concurrent, west.max_total), (source::POISSON, 6, -1));
    let rates: Vec<_> = west.rate_profile.iter().map(|point| (point.t, point.rate)).collect();
    assert_eq!(rates, [(0.0, 0.5), (60.0, 0.1)]);
    let agent = &west.agent;
    assert_eq!((agent.desired_velocity_min, agent.desired_velocity_max, agent.agent_radius), (0.9, 1.4, 0.3));
    assert_eq!((&*agent.behavior_tree, &*agent.agent_type), ("default", "adult"));
    assert_eq!((&*agent.sink_affinity[0].sink_name, agent.sink_affinity[0].weight), ("lobby_exit", 1.0));
    let east = &engine.sources[1];
    assert_eq!(
        (east.agent.desired_velocity_min, east.agent.desired_velocity_max, east.agent.agent_radius),
        (1.0, 1.5, 0.35)
    );
    assert_eq!(east.kind, source::MAX, "without rates it keeps as many people as may be there");
    let sink = &engine.sinks[0];
    assert_eq!((sink.pose, sink.absorption_radius, sink.capacity), ([6.0, 6.0, 0.0], 0.6, -1));
}

#[test]
fn a_refused_region_is_an_error_of_its_own_and_regions_go_by_name() {
    let mut play = Play::new();
    play.engine.borrow_mut().refuses.push("add_sink");
    assert_eq!(play.stage.layer.setup_regions(&regions(DOORS)), [true, true, false]);
    play.calls();
    play.stage.layer.remove_all_regions();
    assert_eq!(
        play.calls(),
        ["remove_source west_door", "remove_source east_door", "remove_agents"],
        "whoever came in meanwhile goes, too"
    );
    play.stage.layer.remove_all_regions();
    assert_eq!(play.calls(), [""; 0]);
}

#[test]
fn somebody_whom_nobody_spawned_gets_an_actor_once_their_type_is_known_and_loses_it_when_they_leave() {
    let mut play = Play::with_people(&["ann"]);
    play.stage.sim_calls();
    play.say_frame(10.0, &[(1, 0.0, 0.0, 0.0), (7, 2.0, 1.0, 0.5)]);
    for beat in 0..3 {
        play.tick(10.0 + 0.02 * f64::from(beat));
    }
    assert_eq!(play.stage.sim_calls(), [""; 0], "the type is awaited");
    play.say(Say::Meta(meta(&[(1, "env_0/ann", "adult"), (7, "", "adult")])));
    play.tick(10.06);
    assert_eq!(play.stage.sim_calls(), ["pedestrian_spawn flow_7"]);
    assert_eq!(play.stage.log.borrow().spawned_at, [[12.0, -4.0, 0.0]]);
    let (ped, _) = play.stage.published("env_0/flow_7");
    assert_eq!(
        (&*ped.model_uri, &*ped.agent_type),
        ("/models/arenian/model.sdf", "adult"),
        "no model `default` is there"
    );
    let relayed = play.stage.log.borrow().updates.last().map(|people| people[1].name.clone());
    assert_eq!(relayed.as_deref(), Some("env_0/flow_7"), "the simulator moves the actor");
    play.say_frame(10.1, &[(1, 0.0, 0.0, 0.0)]);
    play.tick(10.1);
    assert_eq!(play.stage.sim_calls(), ["pedestrian_delete flow_7"]);
    assert_eq!(play.stage.last_frame().len(), 1);
}

#[test]
fn a_type_that_does_not_come_is_awaited_for_fifty_ticks() {
    let mut play = Play::with_people(&[]);
    play.say_frame(10.0, &[(7, 2.0, 1.0, 0.5)]);
    for beat in 0..50 {
        play.tick(10.0 + 0.02 * f64::from(beat));
        assert!(play.stage.sim_calls().is_empty(), "{beat}");
    }
    play.tick(11.0);
    assert_eq!(play.stage.sim_calls(), ["pedestrian_spawn flow_7"]);
}

#[test]
fn actors_go_with_the_episode_and_come_back_with_the_simulator() {
    let mut play = Play::with_people(&["ann"]);
    play.say(Say::Meta(meta(&[(7, "", "adult")])));
    play.say_frame(10.0, &[(1, 0.0, 0.0, 0.0), (7, 2.0, 1.0, 0.5)]);
    play.tick(10.0);
    play.stage.sim_calls();
    play.say_frame(10.05, &[(1, 0.0, 0.0, 0.0), (7, 3.0, 1.0, 0.5)]);
    play.tick(10.05);
    play.stage.log.borrow_mut().sim_restarts = true;
    play.tick(10.07);
    let calls = play.stage.sim_calls();
    assert_eq!(calls[calls.len() - 2..], ["pedestrian_spawn ann", "pedestrian_spawn flow_7"]);
    assert_eq!(play.stage.log.borrow().spawned_at, [[13.0, -4.0, 0.0]], "where they are by now");
    play.stage.layer.unuse_obstacles();
    assert_eq!(play.stage.sim_calls(), ["pedestrian_delete flow_7"]);
    assert_eq!(play.calls(), ["remove_agents"]);
}

/// Models whose tags are known.
struct Tagged;

impl HumanModels for Tagged {
    fn sdf(&self, model: &str) -> Result<String, String> {
        Ok(format!("/{model}.sdf"))
    }
    fn has_any(&self) -> bool {
        true
    }
    fn humans_with(&self, tags: &[String]) -> Vec<String> {
        let fits = tags == ["human::mobility::wheelchair"];
        if fits { ["chair_a", "chair_b", "chair_c"].map(str::to_owned).to_vec() } else { Vec::new() }
    }
}

#[test]
fn an_actor_looks_as_its_type_asks_drawn_by_its_id() {
    let looks = |seed: u64| {
        let mut play = Play::new();
        play.stage.layer.set_models(Box::new(Tagged));
        play.stage.layer.set_seed(seed);
        let ids = 1..=20;
        let agents: Vec<_> = ids.clone().map(|id| (id, f64::from(id), 0.0, 0.0)).collect();
        let types: Vec<_> =
            ids.map(|id| (id, "", if id == 20 { "adult" } else { "wheelchair_manual" })).collect();
        play.say(Say::Meta(meta(&types)));
        play.say_frame(10.0, &agents);
        play.tick(10.0);
        play.stage.last_frame().into_iter().map(|(ped, _)| ped.model_uri).collect::<Vec<_>>()
    };
    let first = looks(1);
    assert_eq!(first[19], "/default.sdf", "a type without tags");
    for model in ["/chair_a.sdf", "/chair_b.sdf", "/chair_c.sdf"] {
        assert!(first[..19].iter().any(|uri| uri == model), "{first:?}");
    }
    assert_eq!(first, looks(1));
    assert_ne!(first, looks(2));
}
