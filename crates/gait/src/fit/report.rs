//! What a fit found, for people and for programs.

use std::{collections::BTreeMap, fmt};

use serde::Serialize;

/// The facts of a fit. Serialises to the keys of the human-layer specification, section 11; displays as a table.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FitReport {
    /// Name of the profile.
    pub name: String,
    /// Frames per second.
    pub fps: f64,
    /// Frames of the clip.
    pub frames: usize,
    /// Frames in whole cycles, which the fit used.
    pub frames_used: usize,
    /// Whole cycles.
    pub cycles: usize,
    /// Length of a cycle, seconds.
    pub period_s: f64,
    /// Cycles per second.
    pub cadence_hz: f64,
    /// `fixed`, or `through_speed` when the walking speed was given.
    pub cadence_law: &'static str,
    /// Walking speed given, m/s.
    pub speed: Option<f64>,
    /// Harmonics per joint.
    pub harmonics: usize,
    /// Whether both sides share their signals.
    pub symmetric: bool,
    /// Split of the profile's phase warp.
    pub split: f64,
    /// The split before it was rounded.
    pub split_fitted: f64,
    /// How far the right hip's peak lies behind the left one's, fraction of a cycle.
    pub heel_strike_fraction: f64,
    /// Joint to rms difference over all frames, radians.
    pub rms: BTreeMap<&'static str, f64>,
    /// The joint with the largest.
    pub worst_joint: &'static str,
    /// The largest, radians.
    pub worst_rms: f64,
    /// Joint to the limits `[lo, hi]` the profile declares because clip or fit leave the contract's, radians.
    pub limits_widened: BTreeMap<&'static str, [f64; 2]>,
}

impl fmt::Display for FitReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "profile    {}", self.name)?;
        writeln!(
            f,
            "frames     {} of {} used, {} cycles, {} frames per second",
            self.frames_used, self.frames, self.cycles, self.fps
        )?;
        writeln!(f, "period     {:.4} s", self.period_s)?;
        write!(f, "cadence    {:.4} Hz, law {}", self.cadence_hz, self.cadence_law)?;
        if let Some(speed) = self.speed {
            write!(f, " at {speed} m/s")?;
        }
        writeln!(f, "\nharmonics  {}", self.harmonics)?;
        writeln!(f, "symmetric  {}", if self.symmetric { "yes" } else { "no" })?;
        writeln!(f, "split      {} (fitted {:.6})", self.split, self.split_fitted)?;
        writeln!(f, "heels      right {:.4} of a cycle behind left", self.heel_strike_fraction)?;
        for (joint, [lo, hi]) in &self.limits_widened {
            writeln!(f, "widened    {joint} to [{lo:.4}, {hi:.4}] rad")?;
        }
        writeln!(f, "worst      {} {:.6} rad", self.worst_joint, self.worst_rms)?;
        writeln!(f, "{:>13}  {:>10} {:>8}", "joint", "rms rad", "deg")?;
        let mut rows: Vec<_> = self.rms.iter().collect();
        rows.sort_by(|a, b| b.1.total_cmp(a.1));
        for (joint, rms) in rows {
            writeln!(f, "{joint:>13}  {rms:>10.6} {:>8.3}", rms.to_degrees())?;
        }
        Ok(())
    }
}
