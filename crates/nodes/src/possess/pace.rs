//! When a batch is due: a fixed rate of the sim clock, on a grid that never drifts.

use std::time::Duration;

use promenade_kernel::{FrameRate, Time};

/// A clock that leaps further than this between two readings has jumped, as for the human layer: nobody walks that time.
pub(super) const JUMP: Duration = Duration::from_secs(1);

/// Turns clock readings into steps of a fixed rate.
#[derive(Clone, Debug)]
pub(crate) struct Pace {
    rate: FrameRate,
    /// The reading at which the grid began, and the steps done on it.
    epoch: Option<Time>,
    done: u64,
    last: Time,
}

impl Pace {
    pub(crate) fn new(rate: FrameRate) -> Self {
        Pace { rate, epoch: None, done: 0, last: Time::ZERO }
    }

    /// Calls `step` with its length for each step due at reading `now`, and answers whether there was one. The first reading
    /// and a jump, ahead or back, begin a new grid. A clock that stands still makes nothing due.
    pub(crate) fn advance(&mut self, now: Time, mut step: impl FnMut(Duration)) -> bool {
        let jumped = now < self.last || now.saturating_since(self.last) > JUMP;
        self.last = now;
        let Some(epoch) = self.epoch.filter(|_| !jumped) else {
            (self.epoch, self.done) = (Some(now), 0);
            return false;
        };
        let elapsed = now.saturating_since(epoch);
        let mut before = self.at(self.done);
        let mut is_due = false;
        while let next = self.at(self.done + 1)
            && next <= elapsed
        {
            step(next - before);
            before = next;
            self.done += 1;
            is_due = true;
        }
        is_due
    }

    fn at(&self, step: u64) -> Duration {
        self.rate.frame_time(step).map_or(Duration::MAX, |time| time.saturating_since(Time::ZERO))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pace() -> Pace {
        Pace::new(FrameRate::new(20.0).expect("valid"))
    }

    fn steps(pace: &mut Pace, ms: i64) -> Vec<Duration> {
        let mut steps = Vec::new();
        let is_due = pace.advance(Time::from_nanos(ms * 1_000_000), |dt| steps.push(dt));
        assert_eq!(is_due, !steps.is_empty());
        steps
    }

    const PERIOD: Duration = Duration::from_millis(50);

    #[test]
    fn steps_come_at_the_rate_whatever_the_readings() {
        let mut pace = pace();
        assert_eq!(steps(&mut pace, 10_003), []);
        assert_eq!(steps(&mut pace, 10_052), []);
        assert_eq!(steps(&mut pace, 10_053), [PERIOD]);
        assert_eq!(steps(&mut pace, 10_099), []);
        assert_eq!(steps(&mut pace, 10_303), [PERIOD; 5]);
    }

    #[test]
    fn a_paused_clock_makes_nothing_due() {
        let mut pace = pace();
        steps(&mut pace, 100);
        assert_eq!(steps(&mut pace, 150), [PERIOD]);
        for _ in 0..100 {
            assert_eq!(steps(&mut pace, 150), []);
        }
        assert_eq!(steps(&mut pace, 200), [PERIOD]);
    }

    #[test]
    fn nobody_walks_a_jump() {
        let mut pace = pace();
        steps(&mut pace, 5_000);
        assert_eq!(steps(&mut pace, 6_000).len(), 20, "a second is not a jump");
        assert_eq!(steps(&mut pace, 9_000), []);
        assert_eq!(steps(&mut pace, 9_050), [PERIOD]);
        assert_eq!(steps(&mut pace, 20), [], "back");
        assert_eq!(steps(&mut pace, 70), [PERIOD]);
    }

    #[test]
    fn a_rate_without_a_whole_period_does_not_drift() {
        let mut pace = Pace::new(FrameRate::new(30.0).expect("valid"));
        pace.advance(Time::ZERO, |_| {});
        let (mut count, mut sum) = (0, Duration::ZERO);
        for ms in (0..=60_000).step_by(10) {
            pace.advance(Time::from_nanos(ms * 1_000_000), |dt| {
                count += 1;
                sum += dt;
            });
        }
        assert_eq!((count, sum), (1800, Duration::from_secs(60)));
    }
}
