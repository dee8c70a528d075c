//! A backend from outside this crate: everybody walks on a circle around their spawn pose.
//!
//! `cargo run -p promenade_human --example turntable` registers it, runs ten seconds and prints where people are. The
//! guide is `docs/adding-a-backend.md`.

use std::f64::consts::TAU;

use promenade_human::entity::{DynamicObstacle, WaypointMode};
use promenade_human::message::{Pedestrian, Pose, animation_state};
use promenade_human::outbox::{Marker, MarkerTopic};
use promenade_human::{
    BackendContext, BusFrame, Clocked, DummySim, HumanLayer, HumanSimulator, LayerCx, Outbox, Registry,
};
use promenade_kernel::Time;

const RADIUS: f64 = 2.0;
const SPEED: f64 = 1.2;

/// The backend: a centre per person.
#[derive(Default)]
struct Turntable {
    people: Vec<(Pedestrian, [f64; 2])>,
}

impl HumanSimulator for Turntable {
    fn rate_hz(&self) -> f64 {
        50.0
    }

    fn tick(&mut self, cx: &mut LayerCx) {
        let angle = cx.now().as_secs_f64() * SPEED / RADIUS;
        for (i, (person, centre)) in self.people.iter_mut().enumerate() {
            let (sin, cos) = (angle + i as f64).sin_cos();
            person.pose = Pose::planar(
                centre[0] + RADIUS * cos,
                centre[1] + RADIUS * sin,
                angle + i as f64 + TAU / 4.0,
            );
            person.twist.linear = [-SPEED * sin, SPEED * cos, 0.0];
        }
        // The whole roster, every time. Joints, possession and model paths are the layer's business.
        cx.publish_pedestrians(self.people.iter().map(|(person, _)| person));
    }

    fn spawn_pedestrians(
        &mut self,
        _: &mut LayerCx,
        people: &[DynamicObstacle],
    ) -> Vec<Option<DynamicObstacle>> {
        for person in people {
            let ped = Pedestrian {
                name: person.sim_path.clone(),
                id: self.people.len() as u32 + 1,
                animation_state: animation_state::WALKING,
                ..Pedestrian::default()
            };
            self.people.push((ped, [person.pose.position[0], person.pose.position[1]]));
        }
        people.iter().cloned().map(Some).collect()
    }

    fn remove_pedestrians(&mut self, _: &mut LayerCx) {
        self.people.clear();
    }
}

/// An outbox that prints one frame per simulated second.
struct Print;

impl Outbox for Print {
    fn publish_pedestrians(&mut self, frame: &BusFrame<'_>) {
        if frame.now.nanos() % 1_000_000_000 != 0 {
            return;
        }
        for (i, entry) in frame.pedestrians.iter().enumerate() {
            let [x, y, _] = entry.pedestrian.pose.position;
            let hip = frame.joints(i).map_or(0.0, |joints| joints[promenade_gait::Joint::LRHip.index()]);
            tracing::info!(
                "{} s: {} at ({x:.2}, {y:.2}), left hip {hip:.3} rad",
                frame.now,
                entry.pedestrian.name
            );
        }
    }

    fn publish_markers(&mut self, _: MarkerTopic, _: Time, _: &[Marker]) {}
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    tracing_subscriber::fmt().without_time().init();
    let mut registry = Registry::builtin();
    registry.register("turntable", |_| Ok(Box::new(Turntable::default())))?;

    let backend = registry.create("turntable", BackendContext::default())?;
    let mut layer = HumanLayer::new(backend, Box::new(DummySim), Box::new(Print));
    let person = |name: &str, x: f64| DynamicObstacle {
        name: name.to_owned(),
        sim_path: format!("env_0/{name}"),
        model: "arenian".to_owned(),
        model_uri: String::new(),
        pose: Pose::planar(x, 0.0, 0.0),
        velocity: SPEED,
        agent_type: String::new(),
        waypoints: Vec::new(),
        waypoint_mode: WaypointMode::Repeat,
        entry: None,
    };
    layer.spawn_pedestrians(&[person("ann", 0.0), person("bob", 10.0)]);
    let mut clocked = Clocked::new(layer, 0, Time::ZERO)?;
    clocked.advance_to(Time::from_nanos(0))?;
    for millis in (500..=10_000).step_by(500) {
        clocked.advance_to(Time::from_nanos(millis * 1_000_000))?;
    }
    Ok(())
}
