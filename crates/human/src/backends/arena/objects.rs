//! What a static object is to the engine: a box in the way, and something to use (human-layer specification, section 17.6).
//!
//! The box comes from the annotation of the model, the use from the entry of the file. Nothing here may fail as a whole: what
//! is missing costs itself.

use promenade_crowd::protocol::{ObstacleConfig, WorldObjectInfo};
use promenade_scenario::{Annotation, Interaction, Seat};

use super::offset::Offset;
use crate::entity::StaticObstacle;

/// The box of an object whose annotation has one.
pub(super) fn obstacle(
    object: &StaticObstacle,
    annotation: &Annotation,
    offset: Offset,
) -> Option<ObstacleConfig> {
    let extent = annotation.bounding_box?;
    Some(ObstacleConfig {
        name: object.sim_path.clone(),
        pose: offset.pose_to_engine(&object.pose),
        bb_x: extent.x,
        bb_y: extent.y,
        bb_z: extent.z,
        interaction_types: annotation.interactions.clone(),
        obstacle_type: kind_of(annotation),
    })
}

/// What people do with an object. Seats of the entry count before those of the annotation, also when there are none.
pub(super) fn world_object(
    object: &StaticObstacle,
    annotation: Option<&Annotation>,
    offset: Offset,
) -> WorldObjectInfo {
    let silent = Interaction::default();
    let entry = object.entry.as_ref().map_or(&silent, |entry| &entry.interaction);
    let pose = offset.pose_to_engine(&object.pose);
    let of_annotation = annotation.map_or(&[][..], |annotation| &annotation.seats);
    let formation = entry.formation.as_ref();
    WorldObjectInfo {
        object_id: object.sim_path.clone(),
        kind: entry.kind.clone().or_else(|| annotation.map(kind_of)).unwrap_or_default(),
        pose,
        capacity: u32::try_from(entry.capacity()).unwrap_or(1),
        satisfies: entry.satisfies.clone(),
        interaction_radius: entry.interaction_radius(),
        formation_type: formation.map(|formation| formation.kind.clone()).unwrap_or_default(),
        formation_params: formation.map(|formation| formation.params.clone()).unwrap_or_default(),
        seats: entry.seats.as_deref().unwrap_or(of_annotation).iter().map(|seat| place(seat, pose)).collect(),
    }
}

fn kind_of(annotation: &Annotation) -> String {
    annotation.name.clone().or_else(|| annotation.desc.clone()).unwrap_or_default()
}

/// A seat of an object that stands at `pose`.
fn place(seat: &Seat, [x, y, yaw]: [f64; 3]) -> [f64; 3] {
    let placed = seat.world_pose(&promenade_scenario::Pose { x, y, z: 0.0, yaw });
    [placed.x, placed.y, placed.yaw]
}
