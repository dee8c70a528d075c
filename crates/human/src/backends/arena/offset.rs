//! Where the engine's world lies in `map` (human-layer specification, section 17.1).
//!
//! The engine knows authored coordinates only. The offset goes off on everything sent and on everything received, once each.

use promenade_crowd::protocol;

use crate::entity;
use crate::message::Pose;

/// The authored origin in `map`, x, y in metres.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Offset(pub(super) [f64; 2]);

impl Offset {
    /// A point of `map` in the engine's world.
    pub(super) fn point_to_engine(self, point: [f64; 2]) -> [f64; 2] {
        [point[0] - self.0[0], point[1] - self.0[1]]
    }

    /// A point of the engine's world in `map`.
    pub(super) fn point_to_map(self, point: [f64; 2]) -> [f64; 2] {
        [point[0] + self.0[0], point[1] + self.0[1]]
    }

    /// A pose of `map` in the engine's world.
    pub(super) fn pose_to_engine(self, pose: &Pose) -> protocol::Pose {
        let [x, y, _] = pose.position;
        let [x, y] = self.point_to_engine([x, y]);
        [x, y, pose.yaw()]
    }

    /// A wall of `map` in the engine's world.
    pub(super) fn wall_to_engine(self, name: &str, wall: &entity::Wall) -> promenade_crowd::Wall {
        promenade_crowd::Wall {
            name: name.to_owned(),
            start: self.point_to_engine(wall.start),
            end: self.point_to_engine(wall.end),
        }
    }
}
