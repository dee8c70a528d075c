//! What the fitter fits: joint angles over time, nothing else.

use std::collections::BTreeMap;

use super::FitError;
use crate::joint::Joint;

/// A clip as the fitter reads it: for every joint of the clip one value per frame, radians.
#[derive(Debug, Clone, PartialEq)]
pub struct Recording {
    fps: f64,
    frames: usize,
    columns: BTreeMap<Joint, Vec<f64>>,
}

impl Recording {
    /// A recording of frames at `fps` frames per second; each frame gives joints with their angles in radians.
    ///
    /// # Errors
    /// No frames, a frame with other joints than the first, an angle that is not finite, a hip that is missing, or a
    /// rate that is not above 0.
    pub fn new<F>(fps: f64, frames: impl IntoIterator<Item = F>) -> Result<Self, FitError>
    where
        F: IntoIterator<Item = (Joint, f64)>,
    {
        if !fps.is_finite() || fps <= 0.0 {
            return Err(FitError::FrameRate(fps));
        }
        let mut columns: BTreeMap<Joint, Vec<f64>> = BTreeMap::new();
        let mut count = 0;
        for (index, frame) in frames.into_iter().enumerate() {
            for (joint, value) in frame {
                if !value.is_finite() {
                    return Err(FitError::NotFinite { frame: index, joint: joint.name() });
                }
                if index == 0 {
                    columns.entry(joint).or_default();
                }
                match columns.get_mut(&joint) {
                    Some(column) if column.len() == index => column.push(value),
                    _ => return Err(FitError::OtherJoints { frame: index, joint: joint.name() }),
                }
            }
            count = index + 1;
            if let Some((joint, _)) = columns.iter().find(|(_, column)| column.len() != count) {
                return Err(FitError::OtherJoints { frame: index, joint: joint.name() });
            }
        }
        if count == 0 {
            return Err(FitError::Empty);
        }
        for joint in [Joint::LRHip, Joint::RRHip] {
            if !columns.contains_key(&joint) {
                return Err(FitError::MissingHip(joint.name()));
            }
        }
        Ok(Self { fps, frames: count, columns })
    }

    /// Frames per second.
    #[must_use]
    pub fn fps(&self) -> f64 {
        self.fps
    }

    /// Number of frames.
    #[must_use]
    pub fn frames(&self) -> usize {
        self.frames
    }

    /// The joints of the recording in wire order, with their values.
    pub fn columns(&self) -> impl Iterator<Item = (Joint, &[f64])> {
        self.columns.iter().map(|(joint, column)| (*joint, column.as_slice()))
    }

    /// The values of a joint; empty if the recording does not have it.
    #[must_use]
    pub fn column(&self, joint: Joint) -> &[f64] {
        self.columns.get(&joint).map_or(&[], Vec::as_slice)
    }
}
