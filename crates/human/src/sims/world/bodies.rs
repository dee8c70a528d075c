//! What the layer's entities are in the robot world: walls and closed doors lines, things boxes, people discs.
//!
//! Nothing here touches a world. Whatever is not finite, or farther out than any map, is nowhere.

use std::sync::Arc;

use promenade_robot_world::shape::Shape;
use promenade_robot_world::spec::{ObjectSpec, Settings, WorldSpec};
use promenade_scenario::Annotation;

use super::WorldOptions;
use crate::entity::{DynamicObstacle, StaticObstacle, Wall};
use crate::layer::PED_RADIUS;
use crate::message::Pose;

/// Nothing of a scene is farther from the origin than this, metres: a thousand kilometres.
const FARTHEST: f64 = 1e6;
/// Radii of people that are believed, metres.
const RADII: [f64; 2] = [0.05, 2.0];

/// A world without anything in it.
pub(super) fn empty_world(options: &WorldOptions) -> WorldSpec {
    let WorldOptions { step_time, collision_mode, .. } = *options;
    WorldSpec::empty(Settings { step_time, collision_mode, ..Settings::default() })
}

/// Nobody moves faster, m/s and rad/s.
const FASTEST: f64 = 100.0;

/// A velocity that is one.
pub(super) fn is_believed(velocity: [f64; 3]) -> bool {
    velocity.iter().all(|v| v.abs() <= FASTEST)
}

/// x, y and heading of a pose that is somewhere.
pub(super) fn planar(pose: &Pose) -> Option<[f64; 3]> {
    let [x, y, _] = pose.position;
    let is_somewhere = pose.is_finite() && x.abs() <= FARTHEST && y.abs() <= FARTHEST;
    is_somewhere.then(|| [x, y, pose.yaw()])
}

/// A wall, or a closed door, as a line; `None` for one that is nowhere or has no length.
pub(super) fn wall(wall: &Wall) -> Option<Arc<Shape>> {
    let ends = [wall.start, wall.end];
    let is_somewhere = ends.as_flattened().iter().all(|c| c.abs() <= FARTHEST);
    if !is_somewhere || wall.start == wall.end {
        return None;
    }
    Shape::linestring(ends.to_vec()).ok().map(Arc::new)
}

/// The box of a thing whose annotation has one, in its own frame.
pub(super) fn footprint(object: &StaticObstacle, annotation: &Annotation) -> Option<Arc<Shape>> {
    let [sx, sy, _] = object.scale.unwrap_or([1.0; 3]);
    let corners = annotation.bounding_box?.footprint().map(|[x, y]| [x * sx, y * sy]);
    let is_believed = corners.as_flattened().iter().all(|c| c.abs() <= FARTHEST);
    let shape = is_believed.then(|| Shape::polygon(corners.to_vec()))?;
    shape.ok().map(Arc::new)
}

/// The disc of a person.
pub(super) fn radius(person: &DynamicObstacle) -> f64 {
    let declared = person.entry.as_ref().and_then(|entry| entry.agent.as_ref()?.radius);
    let [least, most] = RADII;
    declared.filter(|radius| (least..=most).contains(radius)).unwrap_or(PED_RADIUS)
}

/// An object that stands where it is unless it is pushed; of infinite mass it is not.
pub(super) fn thing(name: &str, shape: Arc<Shape>, pose: [f64; 3], mass: f64) -> ObjectSpec {
    ObjectSpec {
        name: Some(name.to_owned()),
        is_static: mass.is_infinite(),
        mass,
        ..ObjectSpec::fixed(shape, pose)
    }
}
