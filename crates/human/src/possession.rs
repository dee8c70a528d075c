//! Possession: people whose motion a stream owns.
//!
//! A batch on `human/stream` is a *claim set*: whoever is named stays possessed, whoever is not named is released at once,
//! and whoever is not renewed for [`TIMEOUT`] is released at the next funnel call. The gate and its stamp keep a stale
//! publisher from grabbing a person of the same name in the next episode (human-layer specification, section 7).
//!
//! This module must never move anybody and never call a backend: it says who was accepted and who was released.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use promenade_gait::Joint;
use promenade_kernel::Time;

use crate::message::{Pedestrian, Pedestrians};

/// An entry is live while `now - last_seen <= TIMEOUT`.
pub const TIMEOUT: Duration = Duration::from_secs(1);

/// Distinct names warned about per gate period; a hostile stream must not fill the log.
const WARNED_NAMES: usize = 32;

/// Slot of a person in the [`PedIndex`].
pub(crate) type Slot = usize;

/// Who can be addressed: every spawned person, under the authored name and under the sim path.
#[derive(Debug, Default)]
pub(crate) struct PedIndex {
    by_name: HashMap<String, Slot>,
    slots: Vec<IndexedPed>,
}

/// One addressable person.
#[derive(Clone, Debug, Default)]
pub(crate) struct IndexedPed {
    /// Name in the table of known obstacles.
    pub name: String,
    /// The spelling used on `arena_peds`.
    pub bus_name: String,
    /// The id under which the backend last published this person.
    pub bus_id: Option<u32>,
}

impl PedIndex {
    pub(crate) fn insert(&mut self, name: &str, sim_path: &str, bus_name: &str) {
        let entry = IndexedPed { name: name.to_owned(), bus_name: bus_name.to_owned(), bus_id: None };
        let slot = match self.by_name.get(name) {
            Some(&slot) => {
                self.slots[slot] = entry;
                slot
            }
            None => {
                self.slots.push(entry);
                self.slots.len() - 1
            }
        };
        self.by_name.insert(name.to_owned(), slot);
        self.by_name.insert(sim_path.to_owned(), slot);
    }

    /// Answers whether the person was addressable.
    pub(crate) fn remove(&mut self, name: &str, sim_path: &str) -> bool {
        let by_path = self.by_name.remove(sim_path);
        self.by_name.remove(name).or(by_path).is_some()
    }

    pub(crate) fn clear(&mut self) {
        self.by_name.clear();
        self.slots.clear();
    }

    pub(crate) fn slot(&self, name: &str) -> Option<Slot> {
        self.by_name.get(name).copied()
    }

    pub(crate) fn set_bus_id(&mut self, slot: Slot, id: u32) {
        self.slots[slot].bus_id = Some(id);
    }

    /// The person whose spelling on the bus this is.
    pub(crate) fn on_bus(&self, bus_name: &str) -> Option<&IndexedPed> {
        self.slot(bus_name).map(|slot| self.ped(slot)).filter(|ped| ped.bus_name == bus_name)
    }

    pub(crate) fn ped(&self, slot: Slot) -> &IndexedPed {
        &self.slots[slot]
    }
}

/// What the stream did so far, for people who ask why nothing moves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StreamStats {
    /// Batches that passed the gate.
    pub batches: u64,
    /// Entries that claimed or renewed.
    pub accepted: u64,
    /// People released because a batch left them out.
    pub released: u64,
    /// People released because nobody renewed them in time.
    pub timed_out: u64,
    /// Batches ignored because the gate was closed.
    pub gate_closed: u64,
    /// Batches dropped because their stamp is older than the gate.
    pub stale: u64,
    /// Entries dropped because nobody has that name.
    pub unknown: u64,
    /// Entries dropped because of their joint names or lengths.
    pub bad_joints: u64,
    /// Entries dropped because a number is NaN or infinite.
    pub not_finite: u64,
    /// Warnings written.
    pub warnings: u64,
}

#[derive(Debug)]
struct Claim {
    last_seen: Time,
    /// Serial of the last batch whose raw names include this person.
    named_in: u64,
    /// Serial of the last batch with a valid entry for this person; a repeated entry replaces the earlier one.
    accepted_in: u64,
    state: Pedestrian,
}

/// Why an entry was dropped; the key of the warn-once sets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Fault {
    Unknown,
    Joints,
    NotFinite,
}

/// The possession table and its gate.
#[derive(Debug, Default)]
pub(crate) struct Possession {
    opened: Option<Time>,
    claims: Vec<Option<Claim>>,
    held: usize,
    batch: u64,
    warned: HashSet<(Fault, String)>,
    warned_stale: bool,
    accepted: Vec<Slot>,
    released: Vec<(Slot, Pedestrian)>,
    pub(crate) stats: StreamStats,
}

impl Possession {
    pub(crate) fn open_gate(&mut self, now: Time) {
        self.opened = Some(now);
    }

    /// The clock went back to `now`: an open gate must not wait for its old time to come round again.
    pub(crate) fn on_clock_back(&mut self, now: Time) {
        self.opened = self.opened.map(|opened| opened.min(now));
    }

    /// Closes the gate. Nobody is "released": those people cease to exist.
    pub(crate) fn close_gate(&mut self) {
        self.opened = None;
        self.claims.clear();
        self.held = 0;
        self.warned.clear();
        self.warned_stale = false;
    }

    pub(crate) fn gate_is_open(&self) -> bool {
        self.opened.is_some()
    }

    /// Applies one batch. `None` when the batch as a whole is refused; otherwise [`Possession::accepted`] and
    /// [`Possession::take_released`] say what came of it.
    pub(crate) fn apply(&mut self, batch: &Pedestrians, index: &PedIndex, now: Time) -> Option<()> {
        let Some(opened) = self.opened else {
            self.stats.gate_closed += 1;
            return None;
        };
        if batch.stamp < opened {
            self.stats.stale += 1;
            if !std::mem::replace(&mut self.warned_stale, true) {
                self.stats.warnings += 1;
                tracing::warn!(
                    "human/stream: dropped a batch stamped {} s: the episode began at {opened} s; stamp with the \
                     simulation clock (further stale batches are dropped in silence)",
                    batch.stamp
                );
            }
            return None;
        }
        self.stats.batches += 1;
        self.batch += 1;
        self.accepted.clear();
        for ped in &batch.pedestrians {
            let Some(slot) = index.slot(&ped.name) else {
                self.stats.unknown += 1;
                self.warn(Fault::Unknown, &ped.name, "nobody has that name in this episode");
                continue;
            };
            if let Some(Some(claim)) = self.claims.get_mut(slot) {
                claim.named_in = self.batch;
            }
            if !is_finite(ped) {
                self.stats.not_finite += 1;
                self.warn(Fault::NotFinite, &ped.name, "it has a NaN or infinite number");
            } else if !joints_are_valid(ped) {
                self.stats.bad_joints += 1;
                self.warn(
                    Fault::Joints,
                    &ped.name,
                    "joint_state must have as many positions as names, and only the 40 bare joint names",
                );
            } else {
                self.claim(slot, ped, now);
            }
        }
        self.release_where(|claim, serial| claim.named_in != serial);
        self.stats.released += self.released.len() as u64;
        Some(())
    }

    /// Releases whoever was not renewed in time.
    pub(crate) fn expire(&mut self, now: Time) {
        self.release_where(|claim, _| now.saturating_since(claim.last_seen) > TIMEOUT);
        self.stats.timed_out += self.released.len() as u64;
    }

    /// Slots accepted by the last batch, each once, in order of first appearance.
    pub(crate) fn accepted(&self) -> &[Slot] {
        &self.accepted
    }

    /// Who the last [`Possession::apply`] or [`Possession::expire`] released, with the last streamed state.
    pub(crate) fn take_released(&mut self) -> Vec<(Slot, Pedestrian)> {
        std::mem::take(&mut self.released)
    }

    /// The streamed state of a person, while the claim is live.
    pub(crate) fn state(&self, slot: Slot, now: Time) -> Option<&Pedestrian> {
        let claim = self.claims.get(slot)?.as_ref()?;
        (now.saturating_since(claim.last_seen) <= TIMEOUT).then_some(&claim.state)
    }

    /// All live claims in slot order.
    pub(crate) fn live(&self, now: Time) -> impl Iterator<Item = (Slot, &Pedestrian)> {
        (0..self.claims.len()).filter_map(move |slot| Some((slot, self.state(slot, now)?)))
    }

    fn claim(&mut self, slot: Slot, ped: &Pedestrian, now: Time) {
        if self.claims.len() <= slot {
            self.claims.resize_with(slot + 1, || None);
        }
        let batch = self.batch;
        let claim = match &mut self.claims[slot] {
            Some(claim) => {
                claim.state.clone_from(ped);
                claim
            }
            empty => {
                self.held += 1;
                empty.insert(Claim { last_seen: now, named_in: batch, accepted_in: 0, state: ped.clone() })
            }
        };
        claim.last_seen = now;
        claim.named_in = batch;
        claim.state.model_uri.clear();
        self.stats.accepted += 1;
        if std::mem::replace(&mut claim.accepted_in, batch) != batch {
            self.accepted.push(slot);
        }
    }

    fn release_where(&mut self, leaves: impl Fn(&Claim, u64) -> bool) {
        self.released.clear();
        if self.held == 0 {
            return;
        }
        for (slot, entry) in self.claims.iter_mut().enumerate() {
            if let Some(claim) = entry.take_if(|claim| leaves(claim, self.batch)) {
                self.held -= 1;
                self.released.push((slot, claim.state));
            }
        }
    }

    fn warn(&mut self, fault: Fault, name: &str, why: &str) {
        if self.warned.len() > WARNED_NAMES || self.warned.contains(&(fault, name.to_owned())) {
            return;
        }
        self.stats.warnings += 1;
        if self.warned.len() == WARNED_NAMES {
            tracing::warn!(
                "human/stream: more than {WARNED_NAMES} faulty names; no more of them are reported"
            );
        } else {
            tracing::warn!("human/stream: dropped {:?}: {why}", clip(name));
        }
        self.warned.insert((fault, name.to_owned()));
    }
}

/// A name from outside, cut to what a log line can bear.
pub(crate) fn clip(name: &str) -> &str {
    match name.char_indices().nth(80) {
        Some((end, _)) => &name[..end],
        None => name,
    }
}

fn is_finite(ped: &Pedestrian) -> bool {
    let joints = &ped.joint_state;
    ped.pose.is_finite()
        && ped.twist.is_finite()
        && ped.gait_phase.is_finite()
        && ped.gait_cadence.is_finite()
        && joints.position.iter().chain(&joints.velocity).chain(&joints.effort).all(|v| v.is_finite())
        && ped.gestures.iter().all(|g| g.at.iter().all(|v| v.is_finite()))
}

fn joints_are_valid(ped: &Pedestrian) -> bool {
    let joints = &ped.joint_state;
    joints.name.len() == joints.position.len() && joints.name.iter().all(|name| Joint::parse(name).is_some())
}
