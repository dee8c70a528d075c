//! When ticks are due (crowd-engine specification, section 2).
//!
//! As master the engine makes the time itself: a tick per `dt / rtf` of wall time. As a subsystem it owes ticks to `/clock`, never skips
//! one, and pays them off in slices, so that services are answered in between.

use std::time::Duration;

/// A clock that falls by more than this was started anew; less is a message that came late.
const BACK_NS: i64 = 1_000_000_000;
/// Nobody catches up with a clock that leaps by more than this, an hour.
const LEAP_NS: i64 = 3600 * 1_000_000_000;

/// Wall time between ticks of a master; zero = as fast as possible.
pub(crate) fn period(dt_ns: i64, rtf: f64) -> Duration {
    let nanos = if rtf > 0.0 { dt_ns.max(0) as f64 / rtf } else { 0.0 };
    Duration::from_nanos(nanos as u64)
}

/// What a clock reading is to the engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reading {
    /// Time goes on.
    On,
    /// The first reading before the first tick: it is the epoch.
    First,
    /// The clock was started anew, or has leapt beyond what can be made up for: ticks go on from here.
    Jumped {
        /// By this much, nanoseconds.
        by_ns: i64,
    },
}

/// The clock that a subsystem follows.
#[derive(Debug, Default)]
pub(crate) struct Follower {
    now_ns: Option<i64>,
}

impl Follower {
    /// Takes a reading, `ticks` after the last wipe.
    pub(crate) fn read(&mut self, now_ns: i64, ticks: u64) -> Reading {
        let last = self.now_ns.replace(now_ns);
        if ticks == 0 {
            return Reading::First;
        }
        let by_ns = now_ns.saturating_sub(last.unwrap_or(now_ns));
        if !(-BACK_NS..=LEAP_NS).contains(&by_ns) {
            return Reading::Jumped { by_ns };
        }
        // A late message must not take back what is owed.
        self.now_ns = last.map(|last| last.max(now_ns));
        Reading::On
    }

    /// Ticks that are due but were not run: tick k is due at `epoch + k dt`.
    pub(crate) fn owed(&self, epoch_ns: i64, dt_ns: i64, ticks: u64) -> u64 {
        let Some(now_ns) = self.now_ns else { return 0 };
        let passed = now_ns.saturating_sub(epoch_ns);
        if passed < 0 || dt_ns <= 0 {
            return 0;
        }
        ((passed / dt_ns) as u64 + 1).saturating_sub(ticks)
    }
}

/// The epoch from which tick number `ticks` is due now.
pub(crate) fn epoch_for(now_ns: i64, dt_ns: i64, ticks: u64) -> i64 {
    let ran = i64::try_from(ticks).unwrap_or(i64::MAX).saturating_mul(dt_ns);
    now_ns.saturating_sub(ran)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const DT: i64 = 50_000_000;

    #[test]
    fn a_master_ticks_at_its_factor() {
        assert_eq!(period(DT, 1.0), Duration::from_millis(50));
        assert_eq!(period(DT, 4.0), Duration::from_micros(12_500));
        assert_eq!(period(DT, 0.0), Duration::ZERO);
    }

    #[test]
    fn the_first_reading_is_due_at_once_and_a_held_clock_owes_nothing() {
        let mut clock = Follower::default();
        assert_eq!(clock.owed(0, DT, 0), 0, "no clock yet");
        assert_eq!(clock.read(7 * DT, 0), Reading::First);
        assert_eq!(clock.owed(7 * DT, DT, 0), 1);
        assert_eq!(clock.read(7 * DT, 1), Reading::On);
        assert_eq!(clock.owed(7 * DT, DT, 1), 0);
        assert_eq!(clock.read(8 * DT - 1, 1), Reading::On);
        assert_eq!(clock.owed(7 * DT, DT, 1), 0);
        assert_eq!(clock.read(12 * DT, 1), Reading::On);
        assert_eq!(clock.owed(7 * DT, DT, 1), 5, "a burst");
    }

    #[test]
    fn a_late_message_takes_nothing_back_and_a_new_clock_is_followed() {
        let mut clock = Follower::default();
        clock.read(100 * DT, 0);
        clock.read(110 * DT, 1);
        assert_eq!(clock.read(105 * DT, 1), Reading::On);
        assert_eq!(clock.owed(100 * DT, DT, 1), 10);
        assert_eq!(clock.read(0, 11), Reading::Jumped { by_ns: -110 * DT });
        assert_eq!(clock.owed(epoch_for(0, DT, 11), DT, 11), 1);
    }

    #[test]
    fn nobody_makes_up_for_years() {
        let mut clock = Follower::default();
        clock.read(0, 0);
        let year = 365 * 24 * LEAP_NS;
        assert_eq!(clock.read(year, 1), Reading::Jumped { by_ns: year });
        assert_eq!(clock.owed(epoch_for(year, DT, 1), DT, 1), 1);
    }

    proptest! {
        #[test]
        fn any_readings_are_followed(readings in prop::collection::vec(any::<i64>(), 1..40), dt in 1_i64..=i64::MAX) {
            let (mut clock, mut epoch, mut ticks) = (Follower::default(), 0, 0_u64);
            for now in readings {
                match clock.read(now, ticks) {
                    Reading::First => epoch = now,
                    Reading::Jumped { .. } => epoch = epoch_for(now, dt, ticks),
                    Reading::On => {}
                }
                ticks += clock.owed(epoch, dt, ticks).min(3);
            }
        }
    }
}
