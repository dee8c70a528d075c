//! Everybody's posture in one call: gait or clip, gestures, overlays.
//!
//! The order for each person is the base with its crossfade, then the manner of those who have one, then the gesture slots,
//! then the overlays (human-layer specification, section 13.2). People without overlays and gestures take the path of [`GaitPool`](crate::GaitPool) and
//! have its values to the bit. Nothing is allocated in a tick in which no gesture begins or ends.

use crate::{
    animation::AnimationManager,
    gesture::{Channels, GestureLayer, Notice, Request},
    manner::{Going, Manners},
    pool::{BatchError, GaitBatch, GaitInput, GaitOutput, GaitReport, KNOWN_STATES, Motion, PoseTable},
};

/// One tick's inputs, one entry per person in each slice.
#[derive(Debug)]
pub struct ArticulationBatch<'a, C: ?Sized> {
    /// Ids, states, speeds, steps, overrides and profiles.
    pub gait: GaitBatch<'a>,
    /// x, y in metres and yaw in radians.
    pub positions: &'a [[f64; 3]],
    /// Gesture channels, by index in the batch.
    pub channels: &'a C,
}

/// Gait, clips and gestures of everybody. Nobody's posture depends on anybody else's, so a crowd that is cut into several
/// articulators, on as many threads, has the joints of one.
#[derive(Debug, Clone, Default)]
pub struct Articulator {
    manager: AnimationManager,
    gestures: GestureLayer,
    manners: Manners,
}

impl Articulator {
    /// Nobody yet.
    #[must_use]
    pub fn new(manager: AnimationManager, gestures: GestureLayer) -> Self {
        Self { manager, gestures, manners: Manners::default() }
    }

    /// Advances everybody in the batch by one tick. Nothing changes when the lengths differ.
    ///
    /// # Errors
    /// [`BatchError`] names the slice whose length is not that of the ids.
    pub fn advance<C: Channels + ?Sized>(
        &mut self,
        table: &PoseTable,
        batch: &ArticulationBatch<'_, C>,
        out: &mut GaitOutput<'_>,
    ) -> Result<GaitReport, BatchError> {
        let gait = &batch.gait;
        gait.check(out)?;
        let ids = gait.ids.len();
        if batch.positions.len() != ids {
            return Err(BatchError { field: "positions", found: batch.positions.len(), ids });
        }
        let mut report = GaitReport::default();
        for (index, &id) in gait.ids.iter().enumerate() {
            let input = GaitInput {
                state: gait.states[index],
                speed: gait.speeds[index],
                dt: gait.dts[index],
                phase_override: Some(gait.phase_overrides[index]),
            };
            let pose = &mut out.poses[index];
            let profile = table.get(gait.poses[index]);
            let (phase, repaired) = self.manager.advance_base(id, &input, profile, pose);
            out.phases[index] = phase;
            if let Some(manner) = &profile.manner {
                let motion = Motion::from(input.state);
                let yaw = batch.positions[index][2];
                let going = Going { motion, speed: input.speed, dt: input.dt, yaw, phase };
                self.manners.apply(id, manner, &going, pose);
            }
            report.repaired += usize::from(repaired);
            if input.state >= KNOWN_STATES && report.unknown_state.is_none() {
                report.unknown_state = Some((index, input.state));
            }
            let channels = batch.channels.count(index);
            if channels > 0 || self.gestures.knows(id) {
                let request = Request {
                    pose: batch.positions[index],
                    moving: matches!(input.state, 1 | 2),
                    channels: (0..channels).map(|n| batch.channels.channel(index, n)),
                };
                self.gestures.advance(&mut self.manager, id, input.dt, request);
            }
            self.manager.advance_overlays(id, input.dt, pose);
        }
        Ok(report)
    }

    /// Clips, base animations, overlays and gait phases.
    #[must_use]
    pub fn manager(&self) -> &AnimationManager {
        &self.manager
    }

    /// The same, to be changed.
    pub fn manager_mut(&mut self) -> &mut AnimationManager {
        &mut self.manager
    }

    /// What there is to warn about since the last call.
    pub fn drain_notices(&mut self) -> impl Iterator<Item = Notice> {
        self.gestures.drain_notices()
    }

    /// Phase of a person's base in radians, `None` when unseen.
    #[must_use]
    pub fn phase(&self, id: u32) -> Option<f64> {
        self.manager.phase(id)
    }

    /// Drops every trace of a person.
    pub fn forget(&mut self, id: u32) {
        self.manager.forget(id);
        self.gestures.forget(id);
        self.manners.forget(id);
    }

    /// Drops every trace of everybody for whom `keep` is false.
    pub fn retain(&mut self, mut keep: impl FnMut(u32) -> bool) {
        self.manager.retain(&mut keep);
        self.gestures.retain(&mut keep);
        self.manners.retain(keep);
    }
}
