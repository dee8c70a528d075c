//! The bookkeeping items of the conformance checklist (human-layer specification, sections 5, 16, 29 and 30).

use crate::stage::{Stage, person, thing, walking};
use promenade_human::entity::{Door, DynamicObstacle, StaticObstacle, Wall};
use promenade_human::known::ObstacleLayer;
use promenade_human::outbox::{MarkerAction, MarkerTopic};
use promenade_human::{HumanSimulator, LayerCx};

const EAST: Wall = Wall { start: [0.0, 0.0], end: [4.0, 0.0] };
const NORTH: Wall = Wall { start: [4.0, 0.0], end: [4.0, 3.0] };

fn door(name: &str) -> Door {
    Door { name: name.to_owned(), line: Wall { start: [1.0, 0.0], end: [2.0, 0.0] } }
}

/// Refuses whom it is told to refuse.
#[derive(Default)]
struct Picky {
    refuses: std::rc::Rc<std::cell::RefCell<Vec<String>>>,
}

impl HumanSimulator for Picky {
    fn rate_hz(&self) -> f64 {
        1.0
    }
    fn tick(&mut self, _cx: &mut LayerCx) {}
    fn spawn_obstacles(
        &mut self,
        _: &mut LayerCx,
        obstacles: &[StaticObstacle],
    ) -> Vec<Option<StaticObstacle>> {
        obstacles.iter().map(|o| (!self.refuses.borrow().contains(&o.name)).then(|| o.clone())).collect()
    }
    fn spawn_pedestrians(
        &mut self,
        _: &mut LayerCx,
        people: &[DynamicObstacle],
    ) -> Vec<Option<DynamicObstacle>> {
        people.iter().map(|p| (!self.refuses.borrow().contains(&p.name)).then(|| p.clone())).collect()
    }
}

#[test]
fn a_reused_static_name_moves_instead_of_spawning() {
    let mut stage = Stage::with_people(&[]);
    stage.layer.spawn_obstacles(&[thing("bench")], ObstacleLayer::InUse);
    assert_eq!(stage.sim_calls(), ["obstacle_spawn bench"]);
    stage.layer.unuse_obstacles();
    stage.layer.spawn_obstacles(&[thing("bench")], ObstacleLayer::InUse);
    assert_eq!(stage.sim_calls(), ["obstacle_move bench"]);
    stage.layer.remove_obstacles(ObstacleLayer::Unused);
    assert!(stage.sim_calls().is_empty(), "reclaimed entries survive the purge");
    assert!(stage.layer.cx().obstacles().contains("bench"));
}

#[test]
fn what_is_not_reclaimed_is_purged() {
    let mut stage = Stage::with_people(&["ann"]);
    stage.layer.spawn_obstacles(&[thing("bench"), thing("lamp")], ObstacleLayer::InUse);
    stage.sim_calls();
    stage.layer.unuse_obstacles();
    stage.layer.spawn_obstacles(&[thing("lamp")], ObstacleLayer::InUse);
    stage.sim_calls();
    stage.layer.remove_obstacles(ObstacleLayer::Unused);
    assert_eq!(stage.sim_calls(), ["obstacle_delete bench"]);
    assert_eq!(stage.layer.cx().obstacles().iter().map(|(name, _)| name).collect::<Vec<_>>(), ["lamp"]);
}

#[test]
fn a_model_change_deletes_and_respawns() {
    let mut stage = Stage::with_people(&["ann", "bob"]);
    stage.sim_calls();
    let nurse = DynamicObstacle { model: "nurse".to_owned(), ..person("ann") };
    stage.layer.spawn_pedestrians(&[nurse, person("bob")]);
    assert_eq!(stage.sim_calls(), ["pedestrian_delete ann", "pedestrian_move bob", "pedestrian_spawn ann"]);
    stage.tick_at(10.0);
    assert_eq!(stage.published("env_0/ann").0.model_uri, "/models/nurse/model.sdf");
}

#[test]
fn a_missing_model_falls_back_and_the_same_request_is_no_change() {
    let mut stage = Stage::with_people(&[]);
    let alien = DynamicObstacle { model: "alien".to_owned(), ..person("ann") };
    stage.layer.spawn_pedestrians(std::slice::from_ref(&alien));
    stage.tick_at(10.0);
    assert_eq!(stage.published("env_0/ann").0.model_uri, "/models/arenian/model.sdf");
    stage.sim_calls();
    stage.layer.spawn_pedestrians(&[alien]);
    assert_eq!(stage.sim_calls(), ["pedestrian_move ann"]);
}

#[test]
fn world_entries_survive_a_purge_of_the_episode() {
    let mut stage = Stage::with_people(&["ann"]);
    stage.layer.spawn_world(&[EAST], &[door("gate")], &[NORTH]);
    stage.layer.spawn_obstacles(&[thing("pillar")], ObstacleLayer::World);
    stage.layer.spawn_obstacles(&[thing("bench")], ObstacleLayer::InUse);
    assert_eq!(stage.layer.cx().walls().iter().map(|(n, _)| n).collect::<Vec<_>>(), ["wall_0", "wall_1"]);
    assert!(
        stage.sim_calls().contains(&"spawn_walls 1 clear=false".to_owned()),
        "collision walls are not drawn"
    );
    stage.layer.remove_obstacles(ObstacleLayer::InUse);
    assert_eq!(stage.sim_calls(), ["obstacle_delete bench", "pedestrian_delete ann"]);
    assert_eq!((stage.layer.cx().walls().len(), stage.layer.cx().doors().len()), (2, 1));
    assert_eq!(stage.layer.cx().obstacles().iter().map(|(n, _)| n).collect::<Vec<_>>(), ["pillar"]);
    stage.layer.remove_obstacles(ObstacleLayer::World);
    assert_eq!(stage.sim_calls(), ["remove_mechanisms", "remove_world", "obstacle_delete pillar"]);
    assert!(stage.layer.cx().walls().is_empty() && stage.layer.cx().doors().is_empty());
}

#[test]
fn a_refused_entry_stays_unspawned_and_is_retried() {
    let picky = Picky::default();
    let refuses = picky.refuses.clone();
    refuses.borrow_mut().extend(["bench".to_owned(), "ann".to_owned()]);
    let mut stage = Stage::with(Box::new(picky));
    stage.layer.spawn_obstacles(&[thing("bench"), thing("lamp")], ObstacleLayer::InUse);
    stage.layer.spawn_pedestrians(&[person("ann")]);
    assert_eq!(stage.sim_calls(), ["obstacle_spawn lamp"]);
    let row = stage.layer.cx().obstacles().get("bench").expect("known").clone();
    assert_eq!((row.spawned, row.layer), (false, ObstacleLayer::Unused));
    refuses.borrow_mut().clear();
    stage.layer.spawn_obstacles(&[thing("bench")], ObstacleLayer::InUse);
    stage.layer.spawn_pedestrians(&[person("ann")]);
    assert_eq!(stage.sim_calls(), ["obstacle_spawn bench", "pedestrian_spawn ann"]);
    assert!(stage.layer.cx().obstacles().get("ann").expect("known").spawned);
}

#[test]
fn a_failed_sim_side_is_retried_on_its_own() {
    let mut stage = Stage::with_people(&[]);
    stage.log.borrow_mut().sim_fails_for = vec!["bench".to_owned(), "ann".to_owned()];
    stage.layer.spawn_obstacles(&[thing("bench")], ObstacleLayer::InUse);
    stage.layer.spawn_pedestrians(&[person("ann")]);
    let row = stage.layer.cx().obstacles().get("ann").expect("known").clone();
    assert_eq!((row.spawned, row.in_sim), (true, false));
    stage.log.borrow_mut().sim_fails_for.clear();
    stage.sim_calls();
    stage.layer.spawn_pedestrians(&[person("ann")]);
    assert_eq!(stage.sim_calls(), ["pedestrian_spawn ann"]);
    stage.layer.unuse_obstacles();
    stage.sim_calls();
    stage.layer.spawn_obstacles(&[thing("bench")], ObstacleLayer::InUse);
    assert_eq!(stage.sim_calls(), ["obstacle_spawn bench"]);
}

#[test]
fn doors_are_walls_by_name_and_idempotent_both_ways() {
    let mut stage = Stage::with_people(&[]);
    stage.layer.spawn_world(&[EAST, NORTH], &[door("gate")], &[]);
    let walls = |stage: &Stage| {
        let log = stage.log.borrow();
        let drawn = log.markers[&MarkerTopic::StaticWalls].last().expect("published").clone();
        (log.markers[&MarkerTopic::StaticWalls].len(), drawn.len() - 1)
    };
    assert_eq!(walls(&stage), (1, 2));
    stage.layer.update_doors(&[(door("gate"), false)]);
    assert_eq!(walls(&stage), (2, 3), "closing a door keeps the building");
    stage.layer.update_doors(&[(door("gate"), false)]);
    assert_eq!(walls(&stage), (2, 3));
    stage.layer.update_doors(&[(door("gate"), true)]);
    stage.layer.update_doors(&[(door("gate"), true)]);
    assert_eq!(walls(&stage), (3, 2));
}

#[test]
fn a_replaced_world_keeps_nothing_of_the_old_one() {
    let mut stage = Stage::with_people(&[]);
    stage.layer.spawn_world(&[EAST], &[door("gate")], &[]);
    stage.layer.update_doors(&[(door("gate"), false)]);
    let (walls, doors) = stage.layer.unuse_world();
    assert_eq!((walls.as_slice(), doors.as_slice()), (&["wall_0".to_owned()][..], &["gate".to_owned()][..]));
    stage.layer.spawn_world(&[NORTH], &[], &[]);
    stage.layer.remove_stale_world(&walls, &doors);
    assert_eq!(stage.layer.cx().walls().iter().map(|(n, _)| n).collect::<Vec<_>>(), ["wall_1"]);
    let log = stage.log.borrow();
    assert_eq!(log.markers[&MarkerTopic::StaticWalls].last().expect("published").len(), 2);
}

#[test]
fn walls_are_removed_by_their_exact_ends() {
    let mut stage = Stage::with_people(&[]);
    stage.layer.spawn_world(&[EAST, NORTH], &[], &[]);
    stage.layer.remove_walls(&[Wall { start: EAST.end, end: EAST.start }]);
    assert_eq!(stage.layer.cx().walls().len(), 2);
    stage.layer.remove_walls(&[EAST]);
    assert_eq!(stage.layer.cx().walls().iter().map(|(n, _)| n).collect::<Vec<_>>(), ["wall_1"]);
}

#[test]
fn a_reader_of_the_objects_learns_that_there_are_none() {
    let Stage { mut layer, log } = Stage::with_people(&[]);
    layer.spawn_obstacles(&[], ObstacleLayer::InUse);
    let log = log.borrow();
    let things = log.markers[&MarkerTopic::StaticObjects].last().expect("published");
    assert_eq!(things.iter().map(|marker| marker.action).collect::<Vec<_>>(), [MarkerAction::DeleteAll]);
}

#[test]
fn dummy_markers_are_led_by_a_delete_all() {
    let mut stage = Stage::with_people(&[]);
    stage.layer.spawn_world(&[EAST], &[], &[]);
    stage.layer.spawn_obstacles(&[thing("bench")], ObstacleLayer::InUse);
    let log = stage.log.borrow();
    let walls = log.markers[&MarkerTopic::StaticWalls].last().expect("published");
    assert_eq!((walls[0].action, walls[0].ns.as_str()), (MarkerAction::DeleteAll, "dummy_walls"));
    assert_eq!((walls[1].id, walls[1].scale[0], walls[1].color), (0, 0.05, [1.0, 0.0, 0.0, 1.0]));
    assert_eq!(walls[1].points, [[0.0, 0.0, 0.0], [4.0, 0.0, 0.0]]);
    let things = log.markers[&MarkerTopic::StaticObjects].last().expect("published");
    assert_eq!((things[0].action, things[0].ns.as_str()), (MarkerAction::DeleteAll, "dummy_objects"));
    assert_eq!((things[1].scale, things[1].color), ([0.5; 3], [0.0, 0.0, 1.0, 0.6]));
}

#[test]
fn people_respawn_at_their_spawn_poses_under_their_old_ids() {
    let mut stage = Stage::with_people(&["ann", "bob"]);
    let before = stage.tick_at(10.0);
    stage.stream_at(10.1, vec![walking("ann", 7.0)]);
    stage.layer.unuse_obstacles();
    assert!(stage.tick_at(10.2).is_empty(), "a reset empties the roster");
    stage.layer.spawn_pedestrians(&[person("ann"), person("bob")]);
    stage.layer.remove_obstacles(ObstacleLayer::Unused);
    let after = stage.tick_at(10.3);
    let keys = |frame: &[crate::stage::Published]| {
        frame.iter().map(|(ped, _)| (ped.name.clone(), ped.id, ped.pose)).collect::<Vec<_>>()
    };
    assert_eq!(keys(&before), keys(&after));
    assert_eq!(before[0].1, after[0].1, "the gait starts afresh from the id");
}

#[test]
fn a_thousand_resets_leave_nothing_behind() {
    let mut stage = Stage::with_people(&["ann", "bob"]);
    stage.layer.spawn_world(&[EAST], &[], &[]);
    for round in 0..1000 {
        let extra = format!("guest_{round}");
        stage.layer.unuse_obstacles();
        stage.layer.spawn_obstacles(&[thing("bench")], ObstacleLayer::InUse);
        stage.layer.spawn_pedestrians(&[person("ann"), person("bob"), person(&extra)]);
        stage.layer.remove_obstacles(ObstacleLayer::Unused);
        assert_eq!(stage.tick_at(10.0 + f64::from(round)).len(), 3);
        assert_eq!(stage.layer.cx().obstacles().len(), 4);
    }
    assert_eq!(stage.layer.cx().walls().len(), 1);
}

#[test]
fn the_same_name_for_a_person_and_a_thing_is_refused() {
    let mut stage = Stage::with_people(&["ann"]);
    stage.layer.spawn_obstacles(&[thing("ann")], ObstacleLayer::InUse);
    assert_eq!(stage.sim_calls(), ["pedestrian_spawn ann"]);
    stage.layer.spawn_obstacles(&[thing("bench")], ObstacleLayer::InUse);
    stage.layer.spawn_pedestrians(&[person("bench")]);
    assert_eq!(stage.sim_calls(), ["obstacle_spawn bench"]);
    assert_eq!(stage.tick_at(10.0).len(), 1);
}
