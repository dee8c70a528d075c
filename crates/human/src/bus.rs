//! The state behind the outbound funnel `arena_peds`: time steps, gait phases, model URIs, the outgoing frame.
//!
//! [`Bus::compose`] must never change what a backend hands in, and must see the full roster each time: state of ids that
//! are missing is forgotten (human-layer specification, section 6.1).

use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use promenade_gait::animation::AnimationManager;
use promenade_gait::clip::{ClipLibrary, Limits};
use promenade_gait::gesture::{Channel, Channels, GestureLayer, Notice};
use promenade_gait::{
    ArticulationBatch, Articulator, GaitBatch, GaitOutput, JOINT_COUNT, LibraryError, NamedTypes, Pose40,
    PoseId, PoseTypes, ProfileLibrary,
};
use promenade_kernel::Time;
use promenade_scenario::{AgentTypeLibrary, BUILT_IN_TYPES};

use crate::message::Pedestrian;
use crate::outbox::{BusFrame, BusPedestrian};
use crate::possession::{PedIndex, Possession, clip};
use crate::wheels::{RigId, Wheels};

/// Time step of a person that was not synthesised before.
const FIRST_DT: Duration = Duration::from_millis(50);

/// Gesture channels that are looked at per person; there are four slots.
const MOST_CHANNELS: usize = 8;

/// The gestures of a frame, by index in the batch.
struct GestureChannels<'a> {
    frame: &'a [BusPedestrian],
    index: &'a [usize],
}

impl Channels for GestureChannels<'_> {
    fn count(&self, person: usize) -> usize {
        self.frame[self.index[person]].pedestrian.gestures.len().min(MOST_CHANNELS)
    }

    fn channel(&self, person: usize, n: usize) -> Channel<'_> {
        let gesture = &self.frame[self.index[person]].pedestrian.gestures[n];
        Channel { slot: &gesture.slot, at: gesture.at, clip: &gesture.clip, hand: &gesture.hand }
    }
}

/// Tells of a gesture that is not shown as asked; the gesture layer says each thing once per person.
fn warn(notice: &Notice) {
    match notice {
        Notice::UnknownSlot { id, slot } => {
            tracing::warn!(
                "person {id}: no gesture slot {slot:?}; there are head, arm, arm_l, arm_r and body"
            );
        }
        Notice::TwoChannels { id, slot } => {
            tracing::warn!("person {id}: a second gesture for the slot of {slot:?} is ignored");
        }
        Notice::Refused { id, kind, refusal } => {
            tracing::warn!("person {id}: {kind} is not shown: {refusal}")
        }
        Notice::NearTarget { id } => {
            tracing::info!(
                "person {id}: the target is within reach of the hand; pointed at from the shoulder"
            );
        }
    }
}

/// What is remembered of one id between two frames.
#[derive(Clone, Copy, Debug)]
struct Memory {
    /// When this person was last synthesised; `None` while upstream joints override.
    synthesised: Option<Time>,
    /// Serial of the last frame with this id.
    frame: u64,
}

/// Scratch in structure-of-arrays form, re-used every tick.
#[derive(Debug, Default)]
struct Batch {
    index: Vec<usize>,
    ids: Vec<u32>,
    states: Vec<u8>,
    speeds: Vec<f64>,
    dts: Vec<f64>,
    phase_overrides: Vec<f64>,
    poses: Vec<PoseId>,
    /// x, y in metres and yaw in radians.
    positions: Vec<[f64; 3]>,
    phases: Vec<f64>,
}

impl Batch {
    fn clear(&mut self) {
        self.index.clear();
        self.ids.clear();
        self.states.clear();
        self.speeds.clear();
        self.dts.clear();
        self.phase_overrides.clear();
        self.poses.clear();
        self.positions.clear();
    }
}

/// The agent types that are part of the program, as far as they say anything about poses.
#[derive(Debug)]
pub struct BuiltInTypes;

impl NamedTypes for BuiltInTypes {
    fn text(&self, name: &str) -> io::Result<Option<String>> {
        let own = AgentTypeLibrary::built_in().named(name).ok().and_then(|found| found.chain.first());
        Ok(own.map(|document| document.text.clone()))
    }

    fn file(&self, name: &str) -> PathBuf {
        Path::new("configs/agent_types").join(format!("{name}.yaml"))
    }

    fn names(&self) -> Vec<String> {
        let mut names = BUILT_IN_TYPES.map(str::to_owned).to_vec();
        names.sort();
        names
    }
}

/// The shipped profiles and clips with those of two folders over them, for [`crate::HumanLayer::set_motions`]. A clip that cannot be
/// read is left out and warned about.
///
/// # Errors
/// The folder of profiles cannot be read, or a profile does not hold.
pub fn load_motions(
    profiles: Option<&Path>,
    clips: Option<&Path>,
) -> Result<(ProfileLibrary, ClipLibrary), LibraryError> {
    let profiles = match profiles {
        Some(folder) => ProfileLibrary::load_dir_over_builtin(folder)?,
        None => ProfileLibrary::builtin().clone(),
    };
    let Some(folder) = clips else { return Ok((profiles, ClipLibrary::builtin())) };
    let (clips, problems) = ClipLibrary::over_directory(folder, Limits::default());
    for problem in problems {
        tracing::warn!("{problem}; the clip is left out");
    }
    Ok((profiles, clips))
}

/// The model of a person.
#[derive(Debug)]
struct Model {
    /// SDF path, empty when there is none.
    uri: String,
    rig: Option<RigId>,
}

/// See the module.
#[derive(Debug)]
pub(crate) struct Bus {
    frame: Vec<BusPedestrian>,
    used: usize,
    /// Distinct ids of the frame.
    remembered: usize,
    postures: Vec<Pose40>,
    batch: Batch,
    articulator: Articulator,
    types: PoseTypes,
    wheels: Wheels,
    memory: HashMap<u32, Memory>,
    serial: u64,
    models: HashMap<String, Model>,
    warned_state: bool,
}

impl Default for Bus {
    fn default() -> Self {
        Self {
            frame: Vec::new(),
            used: 0,
            remembered: 0,
            postures: Vec::new(),
            batch: Batch::default(),
            articulator: Articulator::default(),
            types: PoseTypes::new(ProfileLibrary::builtin().clone(), BuiltInTypes),
            wheels: Wheels::default(),
            memory: HashMap::new(),
            serial: 0,
            models: HashMap::new(),
            warned_state: false,
        }
    }
}

impl Bus {
    /// Puts other profiles and clips in place of the shipped ones. Everybody's gait starts anew.
    pub(crate) fn set_motions(&mut self, profiles: ProfileLibrary, clips: ClipLibrary) {
        self.types = PoseTypes::new(profiles, BuiltInTypes);
        self.articulator = Articulator::new(AnimationManager::new(clips), GestureLayer::default());
    }

    /// Records the model of a person under both spellings of the name; an empty uri says "none".
    pub(crate) fn set_model(&mut self, name: &str, sim_path: &str, uri: &str) {
        let rig = self.wheels.of_model(uri);
        for key in [name, sim_path] {
            self.models.insert(key.to_owned(), Model { uri: uri.to_owned(), rig });
        }
    }

    pub(crate) fn forget_model(&mut self, name: &str, sim_path: &str) {
        self.models.remove(name);
        self.models.remove(sim_path);
    }

    /// The gait phase of an id, 0 when unknown.
    pub(crate) fn phase(&self, id: u32) -> f32 {
        self.articulator.phase(id).unwrap_or(0.0) as f32
    }

    /// The people of the last frame.
    pub(crate) fn last(&self) -> &[BusPedestrian] {
        &self.frame[..self.used]
    }

    /// Fills the outgoing frame: substitution, model uri, joints.
    pub(crate) fn compose<'r>(
        &mut self,
        roster: impl IntoIterator<Item = &'r Pedestrian>,
        possession: &Possession,
        index: &mut PedIndex,
        now: Time,
    ) {
        self.serial += 1;
        self.used = 0;
        self.remembered = 0;
        self.batch.clear();
        self.wheels.begin();
        for ped in roster {
            if self.frame.len() == self.used {
                self.frame.push(BusPedestrian::default());
            }
            let slot = index.slot(&ped.name).filter(|&slot| index.ped(slot).bus_name == ped.name);
            if let Some(slot) = slot {
                index.set_bus_id(slot, ped.id);
            }
            let possessed = slot.and_then(|slot| possession.state(slot, now));
            self.fill(self.used, ped, possessed, now);
            self.used += 1;
        }
        self.forget_absent();
        self.synthesise();
    }

    /// The frame that [`Bus::compose`] filled.
    pub(crate) fn outgoing<'a>(&'a self, stamp: Time, frame_id: &'a str, now: Time) -> BusFrame<'a> {
        let stamp = if stamp == Time::ZERO { now } else { stamp };
        let pedestrians = &self.frame[..self.used];
        BusFrame { stamp, frame_id, now, pedestrians, postures: &self.postures, wheels: &self.wheels }
    }

    fn fill(&mut self, at: usize, ped: &Pedestrian, possessed: Option<&Pedestrian>, now: Time) {
        let phase = self.articulator.phase(ped.id).unwrap_or(0.0) as f32;
        let entry = &mut self.frame[at];
        let out = &mut entry.pedestrian;
        match possessed {
            Some(state) => {
                out.clone_from(state);
                out.name.clone_from(&ped.name);
                out.id = ped.id;
                out.gait_phase = phase;
            }
            None => out.clone_from(ped),
        }
        (entry.posture, entry.driven) = (None, None);
        match self.models.get(&ped.name) {
            Some(model) => {
                out.model_uri.clone_from(&model.uri);
                if let Some(rig) = model.rig {
                    self.wheels.advance(rig, entry);
                }
            }
            None => out.model_uri.clear(),
        }
        let out = &entry.pedestrian;
        let memory = self.memory.entry(ped.id).or_insert(Memory { synthesised: None, frame: 0 });
        // Two entries of one id are one person to remember.
        self.remembered += usize::from(std::mem::replace(&mut memory.frame, self.serial) != self.serial);
        if !out.joint_state.name.is_empty() {
            // A release after minutes of override must not become one step of minutes.
            memory.synthesised = None;
            return;
        }
        let dt = memory.synthesised.map_or(FIRST_DT, |before| now.saturating_since(before));
        memory.synthesised = Some(now);
        // A substituted entry carries the layer's own phase; read back as an override it would freeze the gait.
        let backend_phase = f64::from(ped.gait_phase);
        let overridden = possessed.is_none() && backend_phase != 0.0;
        self.batch.index.push(at);
        self.batch.ids.push(ped.id);
        self.batch.states.push(out.animation_state);
        self.batch.speeds.push(out.signed_speed());
        self.batch.dts.push(dt.as_secs_f64());
        self.batch.phase_overrides.push(if overridden { backend_phase } else { f64::NAN });
        self.batch.poses.push(self.types.resolve(&out.agent_type));
        let [x, y, _] = out.pose.position;
        self.batch.positions.push([x, y, out.pose.yaw()]);
        entry.posture = Some(self.batch.ids.len() - 1);
    }

    fn forget_absent(&mut self) {
        if self.memory.len() == self.remembered {
            return;
        }
        let serial = self.serial;
        self.memory.retain(|_, memory| memory.frame == serial);
        let memory = &self.memory;
        self.articulator.retain(|id| memory.contains_key(&id));
        self.wheels.retain(|id| memory.contains_key(&id));
    }

    fn synthesise(&mut self) {
        for warning in self.types.take_warnings() {
            let agent_type = clip(&warning.agent_type);
            tracing::warn!("agent type {agent_type:?} gets the default pose: {}", warning.message);
        }
        let batch = &mut self.batch;
        let people = batch.ids.len();
        self.postures.resize(people, [0.0; JOINT_COUNT]);
        batch.phases.resize(people, 0.0);
        let inputs = GaitBatch {
            ids: &batch.ids,
            states: &batch.states,
            speeds: &batch.speeds,
            dts: &batch.dts,
            phase_overrides: &batch.phase_overrides,
            poses: &batch.poses,
        };
        let mut output = GaitOutput { poses: &mut self.postures, phases: &mut batch.phases };
        let batch_inputs = ArticulationBatch {
            gait: inputs,
            positions: &batch.positions,
            channels: &GestureChannels { frame: &self.frame, index: &batch.index },
        };
        match self.articulator.advance(self.types.table(), &batch_inputs, &mut output) {
            Ok(report) => {
                if let Some((_, state)) = report.unknown_state
                    && !std::mem::replace(&mut self.warned_state, true)
                {
                    tracing::warn!(
                        "arena_peds: animation_state {state} is not one of 0..6 and is shown as idle (told once)"
                    );
                }
            }
            Err(mismatch) => tracing::error!("arena_peds: {mismatch}"),
        }
        for notice in self.articulator.drain_notices() {
            warn(&notice);
        }
        for (at, &phase) in batch.index.iter().zip(&batch.phases) {
            self.frame[*at].pedestrian.gait_phase = phase as f32;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn built_in_types_have_the_gaits_they_ask_for() {
        let mut types = Bus::default().types;
        let of = |types: &PoseTypes, id| {
            let profile = types.table().get(id);
            (profile.walk.clone(), profile.idle.is_some(), profile.manner.is_some())
        };
        for (name, walk, idle, manner) in [
            ("elder", "elder", false, true),
            ("child", "child", false, true),
            ("hurried", "hurried", false, true),
            ("wheelchair_manual", "seated_wheelchair", true, false),
        ] {
            let id = types.resolve(name);
            let (found, has_idle, has_manner) = of(&types, id);
            let expected = ProfileLibrary::builtin().gait(walk).expect("shipped");
            let (mut one, mut other) = ([0.0; JOINT_COUNT], [0.0; JOINT_COUNT]);
            found.evaluate(1.0, 1.0, &mut one);
            expected.evaluate(1.0, 1.0, &mut other);
            assert_eq!(one, other, "{name}");
            assert_eq!((has_idle, has_manner), (idle, manner), "{name}");
        }
        for name in ["adult", "robot", "distracted"] {
            assert_eq!(types.resolve(name), PoseId::DEFAULT, "{name}");
        }
        assert_ne!(types.resolve("adult_limp_right"), PoseId::DEFAULT);
        assert!(types.take_warnings().is_empty());
        assert_eq!(types.resolve("eldre"), PoseId::DEFAULT);
        let told = types.take_warnings();
        assert!(told[0].message.ends_with("did you mean \"elder\"?"), "{told:?}");
    }
}
