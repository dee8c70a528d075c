//! A layer with recording ports: the stage that the tests of this crate play on.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use promenade_gait::{Joint, Pose40};
use promenade_human::entity::{DynamicObstacle, StaticObstacle, Wall, WaypointMode};
use promenade_human::message::{Pedestrian, Pedestrians, Pose, animation_state};
use promenade_human::outbox::{Marker, MarkerTopic};
use promenade_human::{
    BusFrame, EpisodeRecord, HumanLayer, HumanModels, HumanSimulator, Outbox, RecordTopic, Robot, Sim,
    backends::dummy::Dummy,
};
use promenade_kernel::Time;

/// One published person: every field but the joints, and the joints if they were synthesised.
pub(crate) type Published = (Pedestrian, Option<Pose40>);

/// What the ports saw.
#[derive(Default)]
pub(crate) struct Log {
    pub(crate) frames: Vec<(Time, Vec<Published>)>,
    pub(crate) markers: BTreeMap<MarkerTopic, Vec<Vec<Marker>>>,
    pub(crate) sim: Vec<String>,
    pub(crate) updates: Vec<Vec<Pedestrian>>,
    pub(crate) update_stamps: Vec<Time>,
    pub(crate) sim_fails_for: Vec<String>,
    /// The simulator starts anew before the next tick.
    pub(crate) sim_restarts: bool,
    /// Where people were created last.
    pub(crate) spawned_at: Vec<[f64; 3]>,
    pub(crate) records: Vec<(RecordTopic, EpisodeRecord)>,
}

#[derive(Clone, Default)]
pub(crate) struct Ports(pub(crate) Rc<RefCell<Log>>);

impl Ports {
    fn call<'n>(&self, verb: &str, names: impl Iterator<Item = &'n str>) -> Vec<bool> {
        let names: Vec<&str> = names.collect();
        let mut log = self.0.borrow_mut();
        log.sim.push(format!("{verb} {}", names.join(" ")));
        names.iter().map(|name| !log.sim_fails_for.iter().any(|failing| failing == name)).collect()
    }
}

impl Outbox for Ports {
    fn publish_pedestrians(&mut self, frame: &BusFrame<'_>) {
        let people = frame
            .pedestrians
            .iter()
            .enumerate()
            .map(|(i, entry)| (entry.pedestrian.clone(), frame.joints(i).copied()))
            .collect();
        self.0.borrow_mut().frames.push((frame.stamp, people));
    }

    fn publish_markers(&mut self, topic: MarkerTopic, _now: Time, markers: &[Marker]) {
        self.0.borrow_mut().markers.entry(topic).or_default().push(markers.to_vec());
    }

    fn publish_record(&mut self, topic: RecordTopic, record: &EpisodeRecord) {
        self.0.borrow_mut().records.push((topic, record.clone()));
    }
}

impl Sim for Ports {
    fn obstacle_spawn(&mut self, o: &[StaticObstacle]) -> Vec<bool> {
        self.call("obstacle_spawn", o.iter().map(|o| o.name.as_str()))
    }
    fn obstacle_move(&mut self, o: &[StaticObstacle]) -> Vec<bool> {
        self.call("obstacle_move", o.iter().map(|o| o.name.as_str()))
    }
    fn obstacle_delete(&mut self, o: &[StaticObstacle]) -> Vec<bool> {
        self.call("obstacle_delete", o.iter().map(|o| o.name.as_str()))
    }
    fn pedestrian_spawn(&mut self, p: &[DynamicObstacle]) -> Vec<bool> {
        self.0.borrow_mut().spawned_at = p.iter().map(|p| p.pose.position).collect();
        self.call("pedestrian_spawn", p.iter().map(|p| p.name.as_str()))
    }
    fn pedestrian_move(&mut self, p: &[DynamicObstacle]) -> Vec<bool> {
        self.call("pedestrian_move", p.iter().map(|p| p.name.as_str()))
    }
    fn pedestrian_delete(&mut self, p: &[DynamicObstacle]) -> Vec<bool> {
        self.call("pedestrian_delete", p.iter().map(|p| p.name.as_str()))
    }
    fn pedestrian_update(&mut self, stamp: Time, p: &[Pedestrian], results: &mut Vec<bool>) {
        let mut log = self.0.borrow_mut();
        log.updates.push(p.to_vec());
        log.update_stamps.push(stamp);
        results.extend(p.iter().map(|_| true));
    }
    fn robot_spawn(&mut self, r: &[Robot]) -> Vec<bool> {
        self.call("robot_spawn", r.iter().map(|r| r.name.as_str()))
    }
    fn robot_move(&mut self, r: &[Robot]) -> Vec<bool> {
        self.call("robot_move", r.iter().map(|r| r.name.as_str()))
    }
    fn robot_delete(&mut self, r: &[Robot]) -> Vec<bool> {
        self.call("robot_delete", r.iter().map(|r| r.name.as_str()))
    }
    fn before_reset_episode(&mut self) {
        self.0.borrow_mut().sim.push("before_reset".to_owned());
    }
    fn after_reset_episode(&mut self) {
        self.0.borrow_mut().sim.push("after_reset".to_owned());
    }
    fn take_restarted(&mut self) -> bool {
        std::mem::take(&mut self.0.borrow_mut().sim_restarts)
    }
    fn spawn_walls(&mut self, walls: &[Wall], clear_existing: bool) -> bool {
        self.0.borrow_mut().sim.push(format!("spawn_walls {} clear={clear_existing}", walls.len()));
        true
    }
    fn remove_world(&mut self) -> bool {
        self.0.borrow_mut().sim.push("remove_world".to_owned());
        true
    }
    fn remove_mechanisms(&mut self) -> bool {
        self.0.borrow_mut().sim.push("remove_mechanisms".to_owned());
        true
    }
}

/// Models `adult` and `arenian` exist; others do not.
struct TwoModels;

impl HumanModels for TwoModels {
    fn sdf(&self, model: &str) -> Result<String, String> {
        let is_there = ["adult", "arenian", "nurse"].contains(&model);
        if is_there { Ok(format!("/models/{model}/model.sdf")) } else { Err(format!("no model {model}")) }
    }
    fn has_any(&self) -> bool {
        true
    }
}

pub(crate) struct Stage {
    pub(crate) layer: HumanLayer,
    pub(crate) log: Rc<RefCell<Log>>,
}

impl Stage {
    pub(crate) fn with(backend: Box<dyn HumanSimulator>) -> Self {
        let ports = Ports::default();
        let log = ports.0.clone();
        let mut layer = HumanLayer::new(backend, Box::new(ports.clone()), Box::new(ports));
        layer.set_models(Box::new(TwoModels));
        Stage { layer, log }
    }

    /// A dummy layer with these people spawned at time 10 s, gate open.
    pub(crate) fn with_people(names: &[&str]) -> Self {
        let mut stage = Stage::with(Box::new(Dummy::default()));
        stage.at(10.0);
        let people: Vec<_> = names.iter().map(|name| person(name)).collect();
        stage.layer.spawn_pedestrians(&people);
        stage
    }

    pub(crate) fn at(&mut self, seconds: f64) -> &mut Self {
        self.layer.set_now(Time::from_secs_f64(seconds));
        self
    }

    pub(crate) fn tick_at(&mut self, seconds: f64) -> Vec<Published> {
        self.at(seconds);
        self.layer.tick();
        self.last_frame()
    }

    pub(crate) fn stream_at(&mut self, seconds: f64, entries: Vec<Pedestrian>) {
        self.at(seconds);
        self.layer.on_stream(&batch(seconds, entries));
    }

    pub(crate) fn last_frame(&self) -> Vec<Published> {
        self.log.borrow().frames.last().expect("a frame was published").1.clone()
    }

    pub(crate) fn published(&self, name: &str) -> Published {
        self.last_frame().into_iter().find(|(ped, _)| ped.name == name).expect("in the last frame")
    }

    pub(crate) fn possessed(&self) -> Vec<String> {
        self.layer.cx().possessed_pedestrians().map(|(name, _)| name.to_owned()).collect()
    }

    pub(crate) fn sim_calls(&self) -> Vec<String> {
        std::mem::take(&mut self.log.borrow_mut().sim)
    }
}

pub(crate) fn batch(stamp: f64, pedestrians: Vec<Pedestrian>) -> Pedestrians {
    Pedestrians { stamp: Time::from_secs_f64(stamp), frame_id: "map".to_owned(), pedestrians }
}

pub(crate) fn person(name: &str) -> DynamicObstacle {
    DynamicObstacle {
        name: name.to_owned(),
        sim_path: format!("env_0/{name}"),
        model: "adult".to_owned(),
        model_uri: String::new(),
        pose: Pose::planar(1.0, 2.0, 0.0),
        velocity: 1.0,
        agent_type: String::new(),
        waypoints: Vec::new(),
        waypoint_mode: WaypointMode::Repeat,
        entry: None,
    }
}

pub(crate) fn thing(name: &str) -> StaticObstacle {
    StaticObstacle {
        name: name.to_owned(),
        sim_path: format!("env_0/{name}"),
        model: "bench".to_owned(),
        pose: Pose::planar(3.0, 0.0, 0.0),
        scale: None,
        entry: None,
    }
}

/// A stream entry that walks along x at 1 m/s, without joints.
pub(crate) fn walking(name: &str, x: f64) -> Pedestrian {
    let mut ped = Pedestrian {
        name: name.to_owned(),
        pose: Pose::planar(x, 0.0, 0.0),
        animation_state: animation_state::WALKING,
        ..Pedestrian::default()
    };
    ped.twist.linear[0] = 1.0;
    ped
}

/// A stream entry with all 40 joints.
pub(crate) fn posed(name: &str, value: f64) -> Pedestrian {
    let mut ped = walking(name, 0.0);
    ped.joint_state.name = Joint::NAMES.iter().map(|&joint| joint.to_owned()).collect();
    ped.joint_state.position = vec![value; 40];
    ped
}
