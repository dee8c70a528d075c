//! Walls, doors and things (section 17.6).

use std::sync::Arc;

use promenade_human::HumanModels;
use promenade_human::entity::{Door, StaticObstacle, Wall};
use promenade_human::known::ObstacleLayer;
use promenade_human::message::Pose;
use promenade_scenario::{Annotation, Scenario};

use super::Play;

/// Annotations by model name.
struct Annotated(Vec<(&'static str, &'static str)>);

impl HumanModels for Annotated {
    fn sdf(&self, model: &str) -> Result<String, String> {
        Err(format!("no model {model}"))
    }
    fn has_any(&self) -> bool {
        false
    }
    fn object(&self, model: &str) -> Result<Annotation, String> {
        let text = self.0.iter().find(|(name, _)| *name == model).map(|(_, text)| *text);
        let text = text.ok_or_else(|| format!("no model {model}"))?;
        Annotation::parse(text, std::path::Path::new("annotation.yaml"))
            .map(|loaded| loaded.value)
            .map_err(|report| report.to_string())
    }
}

const BENCH: &str = "
name: Oak bench
hoi: [sit, lie]
bounding_box: [[-0.8, 0.8], [-0.2, 0.2], [0.0, 0.45]]
seats: [{x: -0.4, y: 0.0}, {x: 0.4, y: 0.0, yaw: 0.2}]
";

const COUNTER: &str = "desc: A counter\nbounding_box: [[-1, 1], [-0.3, 0.3], [0, 1.1]]";

/// The things of a scenario text, placed where the offset puts them.
fn things(text: &str) -> Vec<StaticObstacle> {
    let scenario = Scenario::parse(text, std::path::Path::new("scenario.yaml")).expect("holds").value;
    let resolved = scenario.resolve(&promenade_scenario::World::empty(), 0).expect("resolves");
    let thing = |one: promenade_scenario::ResolvedStatic| StaticObstacle {
        name: one.entry.name.clone(),
        sim_path: format!("env_0/{}", one.entry.name),
        model: one.entry.model.clone(),
        pose: Pose::planar(one.pose.x + super::OFFSET[0], one.pose.y + super::OFFSET[1], one.pose.yaw),
        scale: None,
        entry: Some(Arc::new(one.entry)),
    };
    resolved.statics.into_iter().map(thing).collect()
}

fn play() -> Play {
    let mut play = Play::new();
    play.stage.layer.set_models(Box::new(Annotated(vec![("bench_oak", BENCH), ("counter_low", COUNTER)])));
    play
}

const FURNITURE: &str = "
static:
- name: ticket_counter
  model: counter_low
  pose: [4.0, 1.5, 1.5708]
  type: counter
  capacity: 2
  interaction_radius: 1.2
  satisfies: {ticket: 100.0}
  formation: {type: line, params: {base_step: 0.8, front_offset: 0.6}}
- name: window_bench
  model: bench_oak
  pose: {x: 8.0, y: 3.0, yaw: 0.0}
  type: bench
  capacity: 2
  seats:
  - {x: -0.4, y: 0.0}
  - {x: 0.4, y: 0.0, yaw: 0.2}
- {name: old_bench, model: bench_oak, pose: [1, 1, 1.5707963267948966]}
- {name: bare_bench, model: bench_oak, pose: [2, 1], seats: []}
- {name: mystery, model: unknown, pose: [3, 1]}
";

#[test]
fn an_annotated_thing_is_a_box_and_every_thing_is_one_to_use() {
    let mut play = play();
    play.stage.layer.spawn_obstacles(&things(FURNITURE), ObstacleLayer::InUse);
    assert_eq!(
        play.calls(),
        [
            "add_obstacles env_0/ticket_counter env_0/window_bench env_0/old_bench env_0/bare_bench",
            "add_world_objects env_0/ticket_counter env_0/window_bench env_0/old_bench env_0/bare_bench env_0/mystery",
        ],
        "what has no annotation is no box"
    );
    let engine = play.engine.borrow();
    let (counter, bench) = (&engine.obstacles[0], &engine.obstacles[1]);
    assert_eq!((counter.bb_x, counter.bb_y, counter.bb_z), ([-1.0, 1.0], [-0.3, 0.3], [0.0, 1.1]));
    assert_eq!(&*counter.obstacle_type, "A counter", "a name if there is one, else the description");
    assert_eq!(
        (&*bench.obstacle_type, &bench.interaction_types[..]),
        ("Oak bench", &["sit".to_owned(), "lie".to_owned()][..])
    );
    assert!((bench.pose[0] - 8.0).abs() < 1e-12 && (bench.pose[1] - 3.0).abs() < 1e-12);
}

#[test]
fn a_thing_to_use_has_the_keys_of_its_entry_and_seats_in_the_engines_world() {
    let mut play = play();
    play.stage.layer.spawn_obstacles(&things(FURNITURE), ObstacleLayer::InUse);
    let engine = play.engine.borrow();
    let [counter, bench, old, bare, mystery] = &engine.objects[..] else { panic!("five") };
    assert_eq!((&*counter.kind, counter.capacity, counter.interaction_radius), ("counter", 2, 1.2));
    assert_eq!(counter.satisfies, [("ticket".to_owned(), 100.0)]);
    assert_eq!(&*counter.formation_type, "line");
    assert_eq!(counter.formation_params, [("base_step".to_owned(), 0.8), ("front_offset".to_owned(), 0.6)]);
    assert_eq!(bench.seats.len(), 2);
    let near =
        |found: [f64; 3], expected: [f64; 3]| found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-9);
    assert!(
        near(bench.seats[0], [7.6, 3.0, 0.0]) && near(bench.seats[1], [8.4, 3.0, 0.2]),
        "{:?}",
        bench.seats
    );
    let half = std::f64::consts::FRAC_PI_2;
    assert!(
        near(old.seats[0], [1.0, 0.6, half]) && near(old.seats[1], [1.0, 1.4, half + 0.2]),
        "{:?}",
        old.seats
    );
    assert_eq!((&*old.kind, old.capacity, old.interaction_radius), ("Oak bench", 1, 0.0));
    assert!(bare.seats.is_empty(), "an empty list clears the annotation's");
    assert_eq!((&*mystery.kind, mystery.seats.len()), ("", 0));
}

#[test]
fn things_are_removed_by_the_name_they_were_added_under_from_both_lists() {
    let mut play = play();
    let things = things(FURNITURE);
    play.stage.layer.spawn_obstacles(&things[..1], ObstacleLayer::InUse);
    play.calls();
    play.stage.layer.remove_obstacles(ObstacleLayer::InUse);
    assert_eq!(
        play.calls(),
        ["remove_obstacles env_0/ticket_counter", "remove_world_objects env_0/ticket_counter"]
    );
}

#[test]
fn a_box_that_stands_elsewhere_in_the_next_episode_is_moved_by_removing_it_first() {
    let mut play = play();
    let mut things = things(FURNITURE);
    things.truncate(2);
    play.stage.layer.spawn_obstacles(&things, ObstacleLayer::InUse);
    play.stage.layer.unuse_obstacles();
    play.calls();
    things[0].pose.position[0] += 1.0;
    play.stage.layer.spawn_obstacles(&things, ObstacleLayer::InUse);
    assert_eq!(
        play.calls(),
        [
            "remove_obstacles env_0/ticket_counter",
            "add_obstacles env_0/ticket_counter",
            "add_world_objects env_0/ticket_counter env_0/window_bench"
        ]
    );
}

#[test]
fn refused_things_stay_unspawned() {
    let mut play = play();
    play.engine.borrow_mut().refuses.push("add_world_objects");
    play.stage.layer.spawn_obstacles(&things(FURNITURE), ObstacleLayer::InUse);
    assert!(play.stage.sim_calls().is_empty());
}

#[test]
fn walls_are_named_in_the_engines_world_and_doors_are_none_until_they_close() {
    let mut play = play();
    let wall = Wall { start: [10.0, -5.0], end: [14.0, -5.0] };
    let door = Door { name: "main".to_owned(), line: Wall { start: [14.0, -5.0], end: [15.0, -5.0] } };
    play.stage.layer.spawn_world(&[wall], std::slice::from_ref(&door), &[wall]);
    assert_eq!(play.calls(), ["add_walls wall_0 wall_1"]);
    assert_eq!(
        (play.engine.borrow().walls[0].start, play.engine.borrow().walls[0].end),
        ([0.0, 0.0], [4.0, 0.0])
    );
    play.stage.layer.update_doors(&[(door.clone(), false)]);
    play.stage.layer.update_doors(&[(door.clone(), true)]);
    assert_eq!(play.calls(), ["add_walls __door_main", "remove_walls __door_main"]);
    assert_eq!(play.engine.borrow().walls[2].start, [4.0, 0.0]);
}

#[test]
fn a_door_that_is_closed_is_closed_for_an_engine_that_started_anew() {
    let mut play = play();
    let door = Door { name: "main".to_owned(), line: Wall { start: [14.0, -5.0], end: [15.0, -5.0] } };
    play.stage.layer.spawn_world(&[], std::slice::from_ref(&door), &[]);
    play.stage.layer.update_doors(&[(door, false)]);
    play.calls();
    play.say(super::Say::Started);
    play.tick(10.0);
    assert!(play.calls().contains(&"add_walls __door_main".to_owned()));
}
