//! Driven joints of everybody whose model has a `rig.yaml` (human-layer specification, section 15).
//!
//! Files are read when a model is first used, never in a tick, and each model is warned about at most once.

use std::collections::BTreeMap;
use std::path::Path;

use promenade_gait::driver::{Driver, DriverPool, RigFile};

use crate::outbox::BusPedestrian;

/// File beside a model that says what it drives.
const RIG_FILE: &str = "rig.yaml";

/// A model with drivers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RigId(usize);

/// Driven joints of one person in a frame: which rig, and where its angles begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DrivenAt {
    rig: RigId,
    first: usize,
}

/// See the module.
#[derive(Debug, Default)]
pub(crate) struct Wheels {
    /// What each model drives, `None` for nothing.
    of_model: BTreeMap<String, Option<RigId>>,
    rigs: Vec<Vec<Driver>>,
    pool: DriverPool,
    /// Angles of the frame in radians, person after person.
    angles: Vec<f64>,
}

impl Wheels {
    /// What the model of an SDF path drives, read at its first use.
    pub(crate) fn of_model(&mut self, uri: &str) -> Option<RigId> {
        if let Some(known) = self.of_model.get(uri) {
            return *known;
        }
        let drivers = match Path::new(uri).parent() {
            Some(folder) if !uri.is_empty() => match RigFile::read(&folder.join(RIG_FILE)) {
                Ok(rig) => rig.drivers,
                Err(error) => {
                    tracing::warn!("the model {uri} drives no joints: {error}");
                    Vec::new()
                }
            },
            _ => Vec::new(),
        };
        let rig = (!drivers.is_empty()).then(|| {
            self.rigs.push(drivers);
            RigId(self.rigs.len() - 1)
        });
        self.of_model.insert(uri.to_owned(), rig);
        rig
    }

    /// Begins a frame.
    pub(crate) fn begin(&mut self) {
        self.angles.clear();
    }

    /// Advances the driven joints of a person to where they are now.
    pub(crate) fn advance(&mut self, rig: RigId, entry: &mut BusPedestrian) {
        let pose = &entry.pedestrian.pose;
        let [x, y, _] = pose.position;
        let first = self.angles.len();
        let angles = self.pool.advance(entry.pedestrian.id, [x, y, pose.yaw()], &self.rigs[rig.0]);
        self.angles.extend_from_slice(angles);
        entry.driven = Some(DrivenAt { rig, first });
    }

    /// The driven joints of a person in the frame: names and angles in radians.
    pub(crate) fn driven(&self, at: DrivenAt) -> impl Iterator<Item = (&str, f64)> + Clone {
        let drivers = &self.rigs[at.rig.0];
        let angles = &self.angles[at.first..at.first + drivers.len()];
        drivers.iter().zip(angles).map(|(driver, angle)| (driver.joint.as_str(), *angle))
    }

    /// Forgets everybody for whom `keep` is false.
    pub(crate) fn retain(&mut self, keep: impl FnMut(u32) -> bool) {
        self.pool.retain(keep);
    }
}
