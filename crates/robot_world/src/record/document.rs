//! Gathers what happens in a run.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::Script;
use crate::sensor::{LidarSpec, Scan, in_view};
use crate::spec::{CollisionMode, Goal, Role};
use crate::world::{Done, World};

/// Decimals of states and velocities; of ranges, normals and points; of forces.
const STATE: i32 = 9;
const RANGE: i32 = 7;
const FORCE: i32 = 5;

/// A run being recorded.
#[derive(Clone, Debug)]
pub struct Record {
    head: Map<String, Value>,
    lidar_every: Option<u64>,
    watchers: Vec<String>,
    /// By id.
    tracks: BTreeMap<u32, Track>,
    status: Vec<Value>,
    last_status: String,
    done: [Option<u64>; 2],
    scans: Vec<Value>,
    fov: Vec<Value>,
    contacts: Vec<Value>,
}

/// One object's part.
#[derive(Clone, Debug, Default)]
struct Track {
    name: Arc<str>,
    is_static: bool,
    states: Vec<Value>,
    velocities: Vec<Value>,
    /// `arrive`, `collision`, `stop`.
    flags: [Changes<bool>; 3],
    goals_left: Changes<usize>,
    force: Vec<Value>,
    events: Vec<Value>,
}

/// Values with the steps at which they changed.
#[derive(Clone, Debug, Default)]
struct Changes<T> {
    last: Option<T>,
    steps: Vec<Value>,
}

impl<T: Copy + PartialEq + Into<Value>> Changes<T> {
    fn from(first: T) -> Self {
        Self { last: Some(first), steps: Vec::new() }
    }

    fn see(&mut self, step: u64, value: T) {
        if self.last != Some(value) {
            self.last = Some(value);
            self.steps.push(json!([step, value.into()]));
        }
    }
}

impl Record {
    /// Looks at a world before its first step.
    #[must_use]
    pub fn new(world: &World, script: &Script, seed: u64) -> Self {
        let mut record = Self {
            head: head(world, script, seed),
            lidar_every: script.lidar_every,
            watchers: script.fov.clone(),
            tracks: BTreeMap::new(),
            status: Vec::new(),
            last_status: String::new(),
            done: [None; 2],
            scans: Vec::new(),
            fov: Vec::new(),
            contacts: Vec::new(),
        };
        if record.lidar_every.is_some() {
            record.look_out(world);
        }
        record
    }

    /// Looks at the world after a step.
    pub fn look(&mut self, world: &World) {
        let step = world.count();
        for row in 0..world.objects().len() {
            self.follow(world, row, step);
        }
        if world.status() != self.last_status {
            world.status().clone_into(&mut self.last_status);
            self.status.push(json!([step, world.status()]));
        }
        for (done, mode) in self.done.iter_mut().zip([Done::All, Done::Any]) {
            if done.is_none() && world.done(mode) {
                *done = Some(step);
            }
        }
        if self.lidar_every.is_some_and(|every| step.is_multiple_of(every)) {
            self.look_out(world);
        }
        let name = |id| world.objects().row(id).map_or("", |row| &*world.objects().name[row]);
        for contact in world.contacts() {
            let [[nx, ny], [px, py]] =
                [contact.normal, contact.point].map(|point| point.map(|number| round(number, RANGE)));
            let (depth, force) = (round(contact.depth, STATE), round(contact.force, FORCE));
            self.contacts.push(json!([step, name(contact.a), name(contact.b), nx, ny, depth, px, py, force]));
        }
    }

    fn follow(&mut self, world: &World, row: usize, step: u64) {
        let objects = world.objects();
        let track = self.tracks.entry(objects.id[row]).or_insert_with(|| Track {
            name: Arc::clone(&objects.name[row]),
            is_static: objects.is_static[row],
            flags: std::array::from_fn(|_| Changes::from(false)),
            ..Track::default()
        });
        if !track.is_static {
            track.states.push(numbers(&objects.state[row][..objects.state_len(row)], STATE));
            track.velocities.push(numbers(&objects.velocity[row][..objects.velocity_len(row)], STATE));
        }
        let flags = [objects.arrive[row], objects.collision[row], objects.stop[row]];
        for (changes, flag) in track.flags.iter_mut().zip(flags) {
            changes.see(step, flag);
        }
        track.goals_left.see(step, objects.goals[row].len());
        let reading = &objects.contact[row];
        if reading.in_contact {
            let [x, y] = reading.force.map(|number| round(number, FORCE));
            track.force.push(json!([step, x, y]));
        }
        if reading.started {
            track.events.push(json!([step, "start"]));
        }
        if reading.ended {
            track.events.push(json!([step, "end"]));
        }
    }

    /// Scans and fields of view as they are now.
    fn look_out(&mut self, world: &World) {
        let objects = world.objects();
        let mut scans = Map::from_iter([("step".to_owned(), world.count().into())]);
        for row in 0..objects.len() {
            let pairs = objects.sensors[row].iter().zip(&objects.scans[row]);
            for (number, (spec, seen)) in pairs.enumerate() {
                scans.insert(format!("{}/{number}", objects.name[row]), scan(spec, seen));
            }
        }
        self.scans.push(scans.into());
        if self.watchers.is_empty() {
            return;
        }
        let mut views = Map::from_iter([("step".to_owned(), world.count().into())]);
        for watcher in &self.watchers {
            if let Some(row) = world.find(watcher).and_then(|id| objects.row(id)) {
                let seen: Vec<&str> = in_view(objects, row).map(|row| &*objects.name[row]).collect();
                views.insert(watcher.clone(), json!(seen));
            }
        }
        self.fov.push(views.into());
    }

    /// The document of the run.
    #[must_use]
    pub fn finish(self, world: &World) -> Value {
        let mut document = self.head;
        let tracks = || self.tracks.values();
        let mut put = |key: &str, value: Value| document.insert(key.to_owned(), value);
        put("steps", world.count().into());
        let moving = tracks().filter(|track| !track.is_static);
        put(
            "trajectory",
            named(moving, |track| Some(json!({"state": track.states, "velocity": track.velocities}))),
        );
        put("flags", named(tracks(), flags));
        put("goals_left", named(tracks(), |track| some(&track.goals_left.steps, 2)));
        put("status", self.status.clone().into());
        put("done_all_step", self.done[0].into());
        put("done_any_step", self.done[1].into());
        put("final_time", round(world.time(), STATE).into());
        if self.lidar_every.is_some() {
            put("sensors", sensors(world));
            put("scans", self.scans.clone().into());
            if !self.watchers.is_empty() {
                put("fov", self.fov.clone().into());
            }
        }
        if world.settings().collision_mode == CollisionMode::Contact {
            put("contacts", self.contacts.clone().into());
            put("contact_force", named(tracks(), |track| some(&track.force, 1)));
            put("contact_events", named(tracks(), |track| some(&track.events, 1)));
            put("final_timers", final_timers(world));
        }
        document.into()
    }
}

/// The nearest decimal of so many places; without a negative zero.
fn round(number: f64, places: i32) -> f64 {
    let scale = 10_f64.powi(places);
    let rounded = (number * scale).round() / scale;
    if rounded.is_finite() { rounded + 0.0 } else { number }
}

fn number(value: f64, places: i32) -> Value {
    if value == f64::INFINITY { "inf".into() } else { round(value, places).into() }
}

fn numbers(values: &[f64], places: i32) -> Value {
    values.iter().map(|value| number(*value, places)).collect()
}

fn some(values: &[Value], least: usize) -> Option<Value> {
    (values.len() >= least).then(|| values.to_vec().into())
}

fn named<'t>(tracks: impl Iterator<Item = &'t Track>, value: impl Fn(&Track) -> Option<Value>) -> Value {
    let entries = tracks.filter_map(|track| Some((track.name.to_string(), value(track)?)));
    Map::from_iter(entries).into()
}

fn flags(track: &Track) -> Option<Value> {
    let changed = ["arrive", "collision", "stop"].into_iter().zip(&track.flags);
    let changed = changed.filter_map(|(name, changes)| Some((name.to_owned(), some(&changes.steps, 1)?)));
    let changed = Map::from_iter(changed);
    (!changed.is_empty()).then(|| changed.into())
}

fn head(world: &World, script: &Script, seed: u64) -> Map<String, Value> {
    let settings = world.settings();
    let actions: Vec<Value> = script
        .actions
        .iter()
        .map(|a| json!({"from": a.from, "to": a.to, "object": a.object, "action": a.command}))
        .collect();
    let objects: Vec<Value> = (0..world.objects().len()).map(|row| object(world, row)).collect();
    let head = json!({
        "format": "robot-world-reference/1",
        "world": settings.name,
        "about": script.about,
        "source": {"simulator": "promenade", "version": env!("CARGO_PKG_VERSION")},
        "steps": 0,
        "step_time": settings.step_time,
        "seed": seed,
        "collision_mode": mode(settings.collision_mode),
        "actions": actions,
        "objects": objects,
    });
    match head {
        Value::Object(head) => head,
        _ => Map::new(),
    }
}

fn mode(mode: CollisionMode) -> &'static str {
    match mode {
        CollisionMode::Stop => "stop",
        CollisionMode::Reactive => "reactive",
        CollisionMode::Unobstructed => "unobstructed",
        CollisionMode::UnobstructedObstacles => "unobstructed_obstacles",
        CollisionMode::Contact => "contact",
    }
}

fn object(world: &World, row: usize) -> Value {
    let objects = world.objects();
    let goal = |goal: &Goal| {
        let [x, y] = goal.position;
        goal.heading.map_or_else(|| numbers(&[x, y], STATE), |heading| numbers(&[x, y, heading], STATE))
    };
    let goals: Vec<Value> = objects.goals[row].iter().map(goal).collect();
    let shape = &objects.shape[row];
    let (state, velocity) = (objects.state_len(row), objects.velocity_len(row));
    let mut object = json!({
        "id": objects.id[row],
        "name": *objects.name[row],
        "role": if objects.role[row] == Role::Robot { "robot" } else { "obstacle" },
        "group": objects.group[row],
        "shape": shape.kind.name(),
        "kinematics": objects.model[row].as_ref().map(|model| model.name()),
        "static": objects.is_static[row],
        "unobstructed": objects.unobstructed[row],
        "radius": round(shape.radius, STATE),
        "length": round(shape.length, STATE),
        "width": round(shape.width, STATE),
        "state": numbers(&objects.state[row][..state], STATE),
        "velocity": numbers(&objects.velocity[row][..velocity], STATE),
        "goals": if goals.is_empty() { Value::Null } else { goals.into() },
        "vel_min": numbers(&objects.vel_min[row][..velocity], STATE),
        "vel_max": numbers(&objects.vel_max[row][..velocity], STATE),
    });
    if world.settings().collision_mode == CollisionMode::Contact {
        object["mass"] = number(objects.mass[row], STATE);
        object["friction"] = number(objects.friction[row], STATE);
        object["inertia"] = number(objects.inertia[row], STATE);
        object["restitution"] = number(objects.restitution[row], STATE);
        object["drive_tau"] = number(objects.tau[row], STATE);
    }
    object["centroid"] = numbers(&objects.centroid[row], STATE);
    object
}

fn scan(spec: &LidarSpec, scan: &Scan) -> Value {
    let valid: String = scan.valid.iter().map(|valid| if *valid { '1' } else { '0' }).collect();
    let mut document = json!({
        "origin": numbers(&scan.origin, STATE),
        "ranges": numbers(&scan.ranges, RANGE),
        "valid": valid,
    });
    if spec.fmcw.is_some() {
        document["radial_velocity"] = numbers(&scan.radial_velocity, RANGE);
    } else if spec.has_velocity {
        let axis = |axis: usize| scan.velocity.iter().map(|v| number(v[axis], RANGE)).collect::<Value>();
        document["velocity"] = json!([axis(0), axis(1)]);
    }
    document
}

fn sensors(world: &World) -> Value {
    let objects = world.objects();
    let mut sensors = Map::new();
    for row in 0..objects.len() {
        for (number, spec) in objects.sensors[row].iter().enumerate() {
            let document = json!({
                "type": if spec.fmcw.is_some() { "fmcw_lidar2d" } else { "lidar2d" },
                "number": spec.number,
                "angle_min": round(spec.angle_min(), STATE),
                "angle_max": round(spec.angle_max(), STATE),
                "angle_increment": round(spec.angle_increment(), STATE),
                "range_min": spec.range_min,
                "range_max": spec.range_max,
            });
            sensors.insert(format!("{}/{number}", objects.name[row]), document);
        }
    }
    sensors.into()
}

fn final_timers(world: &World) -> Value {
    let objects = world.objects();
    let timers = (0..objects.len()).map(|row| {
        let reading = &objects.contact[row];
        let [contact, air] = [reading.contact_time, reading.air_time].map(|time| round(time, STATE));
        (objects.name[row].to_string(), json!({"contact_time": contact, "air_time": air}))
    });
    Map::from_iter(timers).into()
}
