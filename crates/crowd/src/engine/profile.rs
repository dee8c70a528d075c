//! How long the phases of a tick take.
//!
//! The clock is handed in, so that no behaviour can depend on it; without one, or with `profile_phases` off, nothing is measured.

use super::Engine;
use crate::protocol::Profile;
use crate::step::Phase;

/// Names of the phases in the order of a tick.
const NAMES: [&str; 9] = [
    "despawn",
    "spawn",
    "sense",
    "global_plan",
    "local_plan",
    "kinematics",
    "integrate",
    "collision",
    "publish",
];
/// Ticks that the percentiles are of.
const KEPT: usize = 2048;

/// A clock that only goes forward, in nanoseconds.
pub(crate) type Clock = Box<dyn FnMut() -> u64 + Send>;

/// Times of phases.
#[derive(Default)]
pub(crate) struct Stopwatch {
    clock: Option<Clock>,
    on: bool,
    last: u64,
    /// Nanoseconds of the running tick.
    tick: [u64; NAMES.len()],
    /// Nanoseconds of the last [`KEPT`] ticks, oldest overwritten first.
    kept: Vec<[u64; NAMES.len()]>,
    sums: [u64; NAMES.len()],
    ticks: u64,
}

impl std::fmt::Debug for Stopwatch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Stopwatch").field("on", &self.on).field("ticks", &self.ticks).finish_non_exhaustive()
    }
}

impl Stopwatch {
    pub(crate) fn set_clock(&mut self, clock: Clock) {
        self.clock = Some(clock);
    }

    /// A tick begins.
    pub(crate) fn start(&mut self, wanted: bool) {
        self.on = wanted && self.clock.is_some();
        if self.on {
            self.kept.reserve_exact(KEPT.saturating_sub(self.kept.len()));
            self.tick = [0; NAMES.len()];
            self.last = self.clock.as_mut().map_or(0, |clock| clock());
        }
    }

    /// The phase at this place in [`NAMES`] is over.
    fn lap(&mut self, phase: usize) {
        if let (true, Some(clock)) = (self.on, &mut self.clock) {
            let now = clock();
            self.tick[phase] += now.saturating_sub(self.last);
            self.last = now;
        }
    }

    /// Agents have left.
    pub(crate) fn despawned(&mut self) {
        self.lap(0);
    }

    /// Agents have come, and those moved from outside were placed.
    pub(crate) fn spawned(&mut self) {
        self.lap(1);
    }

    /// A phase of the crowd is over.
    pub(crate) fn phase(&mut self, phase: Phase) {
        self.lap(2 + phase as usize);
    }

    /// The tick is over.
    pub(crate) fn published(&mut self) {
        self.lap(NAMES.len() - 1);
        if !self.on {
            return;
        }
        for (sum, time) in self.sums.iter_mut().zip(self.tick) {
            *sum += time;
        }
        match self.kept.len() {
            KEPT => self.kept[self.ticks as usize % KEPT] = self.tick,
            _ => self.kept.push(self.tick),
        }
        self.ticks += 1;
    }

    fn report(&self, agents: usize) -> Profile {
        if self.ticks == 0 {
            return Profile { n_agents: count(agents), ..Profile::default() };
        }
        let milliseconds = |ns: u64| ns as f64 * 1e-6;
        let percentile = |phase: usize| {
            let mut times: Vec<u64> = self.kept.iter().map(|tick| tick[phase]).collect();
            times.sort_unstable();
            times.get((times.len() * 95).div_ceil(100).saturating_sub(1)).copied().unwrap_or(0)
        };
        Profile {
            phase_names: NAMES.map(str::to_owned).to_vec(),
            phase_means_ms: self.sums.iter().map(|sum| milliseconds(*sum) / self.ticks as f64).collect(),
            phase_p95s_ms: (0..NAMES.len()).map(|phase| milliseconds(percentile(phase))).collect(),
            n_ticks: i32::try_from(self.ticks).unwrap_or(i32::MAX),
            n_agents: count(agents),
        }
    }

    fn clear(&mut self) {
        self.kept.clear();
        (self.sums, self.ticks) = ([0; NAMES.len()], 0);
    }
}

fn count(agents: usize) -> i32 {
    i32::try_from(agents).unwrap_or(i32::MAX)
}

impl Engine {
    /// Measure phases with this clock, nanoseconds that only grow. Ticks do not depend on it.
    #[must_use]
    pub fn with_clock(mut self, clock: impl FnMut() -> u64 + Send + 'static) -> Self {
        self.stopwatch.set_clock(Box::new(clock));
        self
    }

    /// Times of the phases since the profile was reset last; empty while `profile_phases` is off or without a clock.
    pub fn profile(&mut self, reset: bool) -> Profile {
        let profile = self.stopwatch.report(self.crowd.pool().len());
        if reset {
            self.stopwatch.clear();
        }
        profile
    }
}
