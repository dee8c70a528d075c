//! Keeping step with the wall clock. This is the only part of the crate that reads it, and nothing it learns reaches
//! the simulation: pacing can not change a result.

use std::thread;
use std::time::{Duration, Instant};

use crate::clock::Time;

/// Holds the run back before each frame.
pub trait Pacer {
    /// Returns when the frame that starts at `time` may run; whether it was late already. A late frame runs at once
    /// and is never skipped.
    fn before_frame(&mut self, time: Time) -> bool;
}

/// A clock and a way to wait on it.
pub trait WallClock {
    /// Time since some fixed instant.
    fn elapsed(&self) -> Duration;
    /// Waits.
    fn sleep(&mut self, duration: Duration);
}

/// The machine's monotonic clock.
pub struct MonotonicClock(Instant);

impl WallClock for MonotonicClock {
    fn elapsed(&self) -> Duration {
        self.0.elapsed()
    }

    fn sleep(&mut self, duration: Duration) {
        thread::sleep(duration);
    }
}

/// Runs `factor` simulated seconds per wall second, counted from the first frame.
pub struct RealtimePacer<C = MonotonicClock> {
    clock: C,
    factor: f64,
    /// Wall and simulated time of the first frame.
    origin: Option<(Duration, Time)>,
}

impl RealtimePacer {
    /// Paces on the machine's clock; `None` (run unpaced) unless `factor` is a positive number.
    pub fn new(factor: f64) -> Option<Self> {
        Self::with_clock(factor, MonotonicClock(Instant::now()))
    }
}

impl<C: WallClock> RealtimePacer<C> {
    /// Paces on another clock.
    pub fn with_clock(factor: f64, clock: C) -> Option<Self> {
        (factor > 0.0 && factor.is_finite()).then_some(Self { clock, factor, origin: None })
    }
}

impl<C: WallClock> Pacer for RealtimePacer<C> {
    fn before_frame(&mut self, time: Time) -> bool {
        let now = self.clock.elapsed();
        let (wall, simulated) = *self.origin.get_or_insert((now, time));
        let ahead = time.saturating_since(simulated).as_secs_f64() / self.factor;
        let due = wall.saturating_add(Duration::try_from_secs_f64(ahead).unwrap_or(Duration::MAX));
        if now <= due {
            self.clock.sleep(due - now);
        }
        now > due
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Default)]
    struct FakeClock {
        now: Duration,
        slept: Duration,
    }

    impl WallClock for FakeClock {
        fn elapsed(&self) -> Duration {
            self.now
        }

        fn sleep(&mut self, duration: Duration) {
            self.now += duration;
            self.slept += duration;
        }
    }

    #[test]
    fn frames_wait_for_the_wall_clock_and_catch_up_when_late() {
        let mut pacer = RealtimePacer::with_clock(2.0, FakeClock::default()).expect("positive");
        let frame = |k: i64| Time::from_nanos(k * 100_000_000);
        assert!(!pacer.before_frame(frame(0)));
        assert!(!pacer.before_frame(frame(1)));
        assert_eq!(pacer.clock.now, Duration::from_millis(50));
        pacer.clock.now += Duration::from_millis(120);
        assert!(pacer.before_frame(frame(2)));
        assert!(pacer.before_frame(frame(3)));
        assert!(!pacer.before_frame(frame(4)));
        assert_eq!(pacer.clock.now, Duration::from_millis(200));
        assert_eq!(pacer.clock.slept, Duration::from_millis(80));
    }

    #[test]
    fn factors_that_mean_nothing_do_not_pace() {
        for factor in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert!(RealtimePacer::new(factor).is_none());
        }
    }
}
