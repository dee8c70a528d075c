//! Gait phases of everybody, advanced together (human-layer specification, section 9).
//!
//! One call per tick over a structure of arrays; no allocation once everybody has been seen. A person's posture
//! depends on their own inputs and phase alone, so the order of a batch never matters. This module must never decide
//! *which* state a person is in: there are no speed thresholds here.

use std::{
    collections::HashMap,
    f64::consts::{PI, TAU},
    hash::{BuildHasherDefault, Hasher},
    sync::Arc,
};

use crate::{
    gait::{Gait, IDLE_HZ, sway},
    joint::{JOINT_COUNT, Pose40},
    library::{DEFAULT_RUN, DEFAULT_WALK, ProfileLibrary},
    manner::Manner,
};

/// Beyond this a phase is folded: a double of this size still resolves a millionth of a radian, one much larger would
/// swallow every step.
const FOLD_ABOVE: f64 = 1e9;
/// Ten cycles: a whole number of periods of every gait and of the sway's 0.3 and 0.5 multiples.
const FOLD_PERIOD: f64 = 10.0 * TAU;

/// What an `animation_state` means for the gait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Motion {
    /// WALKING (1).
    Walk,
    /// RUNNING (2).
    Run,
    /// Every other state.
    Idle,
}

/// Number of `animation_state` values the message defines (IDLE 0 to THREATENING 6).
pub const KNOWN_STATES: u8 = 7;

impl From<u8> for Motion {
    fn from(animation_state: u8) -> Self {
        match animation_state {
            1 => Self::Walk,
            2 => Self::Run,
            _ => Self::Idle,
        }
    }
}

/// The gaits of one kind of person.
#[derive(Debug, Clone)]
pub struct PoseProfile {
    /// Walking.
    pub walk: Arc<Gait>,
    /// Running.
    pub run: Arc<Gait>,
    /// A held or cyclic idle pose; `None` is the built-in sway.
    pub idle: Option<Arc<Gait>>,
    /// What goes beyond the gaits; `None` in every person of the contract. [`crate::Articulator`] shows it.
    pub manner: Option<Manner>,
}

impl Default for PoseProfile {
    /// The default person: `walk_cmu_12_01`, `run`, built-in sway.
    fn default() -> Self {
        let gait = |stem| {
            ProfileLibrary::builtin().gait(stem).map(Arc::clone).expect("the default gaits are built in")
        };
        Self { walk: gait(DEFAULT_WALK), run: gait(DEFAULT_RUN), idle: None, manner: None }
    }
}

/// A profile of a [`PoseTable`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct PoseId(u32);

impl PoseId {
    /// The default person, present in every table.
    pub const DEFAULT: Self = Self(0);
}

/// The pose profiles in use, by handle.
#[derive(Debug, Clone)]
pub struct PoseTable(Vec<PoseProfile>);

impl Default for PoseTable {
    fn default() -> Self {
        Self(vec![PoseProfile::default()])
    }
}

impl PoseTable {
    /// Adds a profile; handles stay valid for the life of the table.
    pub fn insert(&mut self, profile: PoseProfile) -> PoseId {
        self.0.push(profile);
        PoseId(u32::try_from(self.0.len() - 1).unwrap_or(0))
    }

    /// The profile of a handle; a handle of another table gives the default person.
    #[must_use]
    pub fn get(&self, id: PoseId) -> &PoseProfile {
        self.0.get(id.0 as usize).unwrap_or(&self.0[0])
    }
}

/// One tick's inputs, one entry per person in each slice.
#[derive(Debug, Clone, Copy)]
pub struct GaitBatch<'a> {
    /// Person ids.
    pub ids: &'a [u32],
    /// `animation_state` values.
    pub states: &'a [u8],
    /// Speeds along the heading in m/s, signed. Not finite counts as 0.
    pub speeds: &'a [f64],
    /// Seconds since each person's last tick. Not finite or negative counts as 0.
    pub dts: &'a [f64],
    /// Phases in radians that replace the step; NaN (or infinite) means none.
    pub phase_overrides: &'a [f64],
    /// Pose profiles.
    pub poses: &'a [PoseId],
}

impl GaitBatch<'_> {
    /// Whether all slices, those of the output too, are of one length.
    pub(crate) fn check(&self, out: &GaitOutput<'_>) -> Result<(), BatchError> {
        let ids = self.ids.len();
        for (field, found) in [
            ("states", self.states.len()),
            ("speeds", self.speeds.len()),
            ("dts", self.dts.len()),
            ("phase_overrides", self.phase_overrides.len()),
            ("poses", self.poses.len()),
            ("the posture output", out.poses.len()),
            ("the phase output", out.phases.len()),
        ] {
            if found != ids {
                return Err(BatchError { field, found, ids });
            }
        }
        Ok(())
    }
}

/// One tick's outputs, one entry per person in each slice.
#[derive(Debug)]
pub struct GaitOutput<'a> {
    /// Postures, always finite and inside the profile's limits.
    pub poses: &'a mut [Pose40],
    /// Phases after the tick in radians, always finite.
    pub phases: &'a mut [f64],
}

/// What a tick met that somebody may want to warn about once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct GaitReport {
    /// First entry with an `animation_state` outside the message's constants, treated as idle: (index, state).
    pub unknown_state: Option<(usize, u8)>,
    /// Entries with a speed or time step that was not finite, or a negative time step, read as 0.
    pub repaired: usize,
}

/// The slices of a batch do not have the same length.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("gait batch: {ids} ids, but {field} has {found} entries")]
pub struct BatchError {
    /// The slice of another length.
    pub field: &'static str,
    /// Its length.
    pub found: usize,
    /// The length expected: that of `ids`.
    pub ids: usize,
}

/// One person's inputs of a tick; the fields mean what they mean in [`GaitBatch`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GaitInput {
    /// `animation_state`.
    pub state: u8,
    /// Signed speed, m/s.
    pub speed: f64,
    /// Time step, seconds.
    pub dt: f64,
    /// Phase that replaces the step, radians.
    pub phase_override: Option<f64>,
}

/// Gait phases by person id.
#[derive(Debug, Clone, Default)]
pub struct GaitPool {
    phases: HashMap<u32, f64, IdHash>,
}

/// The phase of an id that has not been seen, radians: people who start together do not walk in step.
#[must_use]
pub fn initial_phase(id: u32) -> f64 {
    f64::from(id % 360) * PI / 180.0
}

impl GaitPool {
    /// An empty pool with room for that many people.
    #[must_use]
    pub fn with_capacity(people: usize) -> Self {
        Self { phases: HashMap::with_capacity_and_hasher(people, BuildHasherDefault::default()) }
    }

    /// Advances everybody in the batch by one tick. Nothing changes when the lengths differ.
    ///
    /// # Errors
    /// [`BatchError`] names the slice whose length is not that of `ids`.
    pub fn advance(
        &mut self,
        table: &PoseTable,
        batch: &GaitBatch<'_>,
        out: &mut GaitOutput<'_>,
    ) -> Result<GaitReport, BatchError> {
        batch.check(out)?;
        let ids = batch.ids.len();
        let mut report = GaitReport::default();
        for index in 0..ids {
            let input = GaitInput {
                state: batch.states[index],
                speed: batch.speeds[index],
                dt: batch.dts[index],
                phase_override: Some(batch.phase_overrides[index]),
            };
            let profile = table.get(batch.poses[index]);
            let (phase, repaired) =
                self.advance_one(batch.ids[index], &input, profile, &mut out.poses[index]);
            out.phases[index] = phase;
            report.repaired += usize::from(repaired);
            if input.state >= KNOWN_STATES && report.unknown_state.is_none() {
                report.unknown_state = Some((index, input.state));
            }
        }
        Ok(report)
    }

    /// Advances one person and writes the posture. Returns the phase after the tick and whether an input had to be
    /// read as 0.
    pub fn advance_one(
        &mut self,
        id: u32,
        input: &GaitInput,
        profile: &PoseProfile,
        out: &mut Pose40,
    ) -> (f64, bool) {
        let usable = input.speed.is_finite() && input.dt.is_finite() && input.dt >= 0.0;
        let speed = if input.speed.is_finite() { input.speed } else { 0.0 };
        let dt = if input.dt.is_finite() { input.dt.max(0.0) } else { 0.0 };
        let entry = self.phases.entry(id).or_insert_with(|| initial_phase(id));
        let (gait, step, at) = match Motion::from(input.state) {
            Motion::Walk => (Some(&profile.walk), profile.walk.step(speed, dt), Some(speed)),
            Motion::Run => (Some(&profile.run), profile.run.step(speed, dt), Some(speed)),
            Motion::Idle => (profile.idle.as_ref(), TAU * IDLE_HZ * dt, None),
        };
        let mut phase = match input.phase_override {
            Some(phase) if phase.is_finite() => phase,
            _ => *entry + step,
        };
        if phase.abs() > FOLD_ABOVE {
            phase = fold(phase, *entry);
        }
        *entry = phase;
        match (gait, at) {
            (Some(gait), Some(speed)) => gait.at_speed(phase, speed, out),
            (Some(gait), None) => gait.evaluate(phase, 1.0, out),
            (None, _) => sway(phase, out),
        }
        (phase, !usable)
    }

    /// The posture and phase of one person after one tick with the default profile.
    pub fn advance_default(&mut self, id: u32, input: &GaitInput) -> (f64, Pose40) {
        let mut out = [0.0; JOINT_COUNT];
        let (phase, _) = self.advance_one(id, input, &PoseProfile::default(), &mut out);
        (phase, out)
    }

    /// The phase of a person in radians, `None` when unseen.
    #[must_use]
    pub fn phase(&self, id: u32) -> Option<f64> {
        self.phases.get(&id).copied()
    }

    /// Sets a phase in radians; one that is not finite is ignored.
    pub fn set_phase(&mut self, id: u32, phase: f64) {
        if phase.is_finite() {
            self.phases.insert(id, if phase.abs() > FOLD_ABOVE { fold(phase, phase) } else { phase });
        }
    }

    /// Drops a person; the next sight starts from [`initial_phase`].
    pub fn forget(&mut self, id: u32) {
        self.phases.remove(&id);
    }

    /// Drops everybody for whom `keep` is false. The order of the calls is not specified.
    pub fn retain(&mut self, mut keep: impl FnMut(u32) -> bool) {
        self.phases.retain(|id, _| keep(*id));
    }

    /// Drops everybody.
    pub fn clear(&mut self) {
        self.phases.clear();
    }

    /// Number of people seen and not forgotten.
    #[must_use]
    pub fn len(&self) -> usize {
        self.phases.len()
    }

    /// Whether nobody is in the pool.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.phases.is_empty()
    }
}

/// Brings a huge phase back without changing what it looks like; a step that overflowed is not taken.
#[cold]
fn fold(phase: f64, before: f64) -> f64 {
    let finite = if phase.is_finite() { phase } else { before };
    finite % FOLD_PERIOD
}

/// Builds [`IdHasher`]s.
pub(crate) type IdHash = BuildHasherDefault<IdHasher>;

/// Hashes an id with one multiplication. The table's order is never observed.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct IdHasher(u64);

impl Hasher for IdHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_u32(u32::from(*byte));
        }
    }

    fn write_u32(&mut self, id: u32) {
        let product = u128::from(self.0 ^ u64::from(id) ^ 0x9e37_79b9_7f4a_7c15) * 0xd6e8_feb8_6659_fd93;
        self.0 = (product as u64) ^ ((product >> 64) as u64);
    }
}
