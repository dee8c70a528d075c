//! The arithmetic of the synthetic clock; it knows neither ROS nor how to read a wall clock.
//!
//! `clock = (wall time - paused time) * realtime_factor + stepped time`, in whole nanoseconds. A reading never goes back.

use std::time::Duration;

use promenade_kernel::Time;

/// The furthest that one published reading leaps ahead of the one before. Readers that keep only the last message may miss
/// some, and the human layer takes more than 1 s between two readings for a jump and does not simulate it.
const LEAP: Duration = Duration::from_millis(100);

/// A step of more than this is shown as the jump that it is: as a run of readings it would take longer than anybody waits.
const LONGEST_RUN: Duration = Duration::from_secs(1000);

/// The longest step, seconds.
const LONGEST_STEP: f64 = 1e6;

/// Sim seconds per wall second that readings of [`LEAP`] can follow.
const FASTEST: f64 = 50.0;

/// The last reading that `builtin_interfaces/Time` can hold.
const LAST: Time = Time::from_nanos(i32::MAX as i64 * 1_000_000_000);

/// Why a clock or a step was refused.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum ClockError {
    /// The real-time factor makes no clock.
    #[error("realtime_factor is {0}; it must be more than 0 and at most {FASTEST}")]
    Factor(f64),
    /// The step is not a time to step by.
    #[error("cannot step by {0} s: a step is 0 to {LONGEST_STEP} seconds")]
    Step(f64),
    /// The clock is at the end of what its message can hold.
    #[error("cannot step by {0} s from {1} s: a clock message ends at {LAST} s")]
    End(f64, Time),
}

/// A reading to publish.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reading {
    /// What the clock shows.
    pub time: Time,
    /// The clock is ahead of that: the next reading should follow soon.
    pub is_behind: bool,
}

/// The clock. Wall time is told as the time since some origin; a wall time before an earlier one counts as that one.
#[derive(Clone, Debug)]
pub struct SimClock {
    factor: f64,
    is_paused: bool,
    /// The latest wall time told.
    wall: Duration,
    /// Wall time that passed unpaused.
    ran: Duration,
    stepped: Duration,
    shown: Time,
}

impl SimClock {
    /// A clock at zero.
    ///
    /// # Errors
    /// [`ClockError::Factor`] unless `0 < realtime_factor <= 50`.
    pub fn new(realtime_factor: f64, start_paused: bool) -> Result<Self, ClockError> {
        if !(realtime_factor > 0.0 && realtime_factor <= FASTEST) {
            return Err(ClockError::Factor(realtime_factor));
        }
        Ok(SimClock {
            factor: realtime_factor,
            is_paused: start_paused,
            wall: Duration::ZERO,
            ran: Duration::ZERO,
            stepped: Duration::ZERO,
            shown: Time::ZERO,
        })
    }

    /// Whether wall time is not counted.
    #[must_use]
    pub fn is_paused(&self) -> bool {
        self.is_paused
    }

    /// The clock at wall time `wall`.
    pub fn now(&mut self, wall: Duration) -> Time {
        if !self.is_paused {
            self.ran += wall.saturating_sub(self.wall);
        }
        self.wall = self.wall.max(wall);
        // One rounding of the whole, not a sum of rounded parts. With a factor of 1 it is exact for the first 104 days.
        let ran = (self.ran.as_nanos() as f64 * self.factor).round();
        (Time::from_nanos(ran as i64) + self.stepped).min(LAST)
    }

    /// Stops or starts counting wall time; the same again changes nothing.
    pub fn set_paused(&mut self, wall: Duration, paused: bool) -> Time {
        let now = self.now(wall);
        self.is_paused = paused;
        now
    }

    /// Advances the clock by exactly `seconds`, to the nearest nanosecond, paused or not, and answers the clock after it.
    ///
    /// # Errors
    /// [`ClockError::Step`] for NaN, negative and overlong steps; [`ClockError::End`] beyond the last possible reading.
    pub fn step(&mut self, wall: Duration, seconds: f64) -> Result<Time, ClockError> {
        if !(0.0..=LONGEST_STEP).contains(&seconds) {
            return Err(ClockError::Step(seconds));
        }
        let now = self.now(wall);
        let step = Duration::from_nanos((seconds * 1e9).round() as u64);
        if LAST.saturating_since(now) < step {
            return Err(ClockError::End(seconds, now));
        }
        self.stepped += step;
        let after = self.now(wall);
        if step > LONGEST_RUN {
            self.shown = after;
        }
        Ok(after)
    }

    /// The next reading to publish: the clock, or less while what is shown catches up with a step or with wall time that
    /// passed unseen. Readings leap by at most 0.1 s, except over a step of more than 1000 s.
    pub fn show(&mut self, wall: Duration) -> Reading {
        let now = self.now(wall);
        self.shown = now.min(self.shown + LEAP);
        Reading { time: self.shown, is_behind: self.shown < now }
    }

    /// Forgets wall time that has not been shown, as far as it is more than `most` behind: whoever cannot keep up goes slower instead of
    /// being ever later. Steps are never forgotten.
    pub fn let_go(&mut self, most: Duration) {
        let behind = self.now(self.wall).saturating_since(self.shown.max(Time::ZERO + self.stepped));
        let spare = behind.saturating_sub(most).as_secs_f64() / self.factor;
        self.ran = self.ran.saturating_sub(Duration::from_secs_f64(spare));
    }

    /// What was shown last.
    #[must_use]
    pub fn shown(&self) -> Time {
        self.shown
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    fn at(seconds: f64) -> Time {
        Time::from_secs_f64(seconds)
    }

    #[test]
    fn it_follows_wall_time_at_its_factor_without_the_paused_time() {
        let mut clock = SimClock::new(2.0, false).expect("valid");
        assert_eq!(clock.now(ms(1000)), at(2.0));
        assert_eq!(clock.set_paused(ms(1500), true), at(3.0));
        assert_eq!(clock.now(ms(9000)), at(3.0));
        assert_eq!(clock.set_paused(ms(9500), true), at(3.0), "pausing again changes nothing");
        assert_eq!(clock.set_paused(ms(10_000), false), at(3.0));
        assert_eq!(clock.set_paused(ms(10_250), false), at(3.5), "so does starting again");
        assert_eq!(clock.now(ms(10_500)), at(4.0));
    }

    #[test]
    fn it_can_start_paused() {
        let mut clock = SimClock::new(1.0, true).expect("valid");
        assert_eq!(clock.show(ms(5000)), Reading { time: Time::ZERO, is_behind: false });
        clock.set_paused(ms(5000), false);
        assert_eq!(clock.now(ms(5100)), at(0.1));
    }

    #[test]
    fn twenty_steps_of_50_ms_are_exactly_a_second() {
        let mut clock = SimClock::new(1.0, true).expect("valid");
        for _ in 0..20 {
            clock.step(ms(3), 0.05).expect("valid");
        }
        assert_eq!(clock.show(ms(3)).time.nanos(), 100_000_000);
        assert_eq!(clock.now(ms(3)).nanos(), 1_000_000_000);
    }

    #[test]
    fn a_step_is_exact_at_any_reading_and_while_running() {
        let mut clock = SimClock::new(0.3, false).expect("valid");
        let before = clock.now(ms(12_345));
        let after = clock.step(ms(12_345), 0.033_333_333).expect("valid");
        assert_eq!(after.saturating_since(before), Duration::from_nanos(33_333_333));
        assert!(clock.now(ms(12_400)) > after);
    }

    #[test]
    fn a_long_step_is_shown_in_readings_that_no_reader_takes_for_a_jump() {
        let mut clock = SimClock::new(1.0, true).expect("valid");
        clock.step(ms(0), 1.05).expect("valid");
        let shown: Vec<_> = std::iter::repeat_with(|| clock.show(ms(1))).take(12).collect();
        let is_behind: Vec<_> = shown.iter().map(|reading| reading.is_behind).collect();
        assert_eq!(is_behind[..10], [true; 10]);
        assert_eq!(shown[0].time, at(0.1));
        assert_eq!(shown[9].time, at(1.0));
        assert_eq!(shown[10], Reading { time: at(1.05), is_behind: false });
        assert_eq!(shown[11], shown[10]);
    }

    #[test]
    fn a_step_too_long_for_a_run_of_readings_is_one_jump() {
        for (seconds, readings) in [(1000.0, 10_000), (1000.1, 1), (1e6, 1)] {
            let mut clock = SimClock::new(1.0, true).expect("valid");
            let after = clock.step(ms(0), seconds).expect("valid");
            let shown = std::iter::repeat_with(|| clock.show(ms(1))).take_while(|r| r.is_behind).count() + 1;
            assert_eq!((shown, clock.shown()), (readings, after), "{seconds} s");
        }
    }

    #[test]
    fn whoever_cannot_keep_up_goes_slower_and_loses_no_step() {
        let mut clock = SimClock::new(2.0, false).expect("valid");
        assert_eq!(clock.show(ms(10_000)).time, at(0.1), "twenty seconds have passed");
        clock.let_go(ms(300));
        assert_eq!(clock.now(ms(10_000)), at(0.4));
        clock.let_go(ms(300));
        assert_eq!(clock.now(ms(10_000)), at(0.4), "it is behind by as much as it may be");
        clock.step(ms(10_000), 5.0).expect("valid");
        clock.let_go(ms(0));
        assert!(clock.now(ms(10_000)) >= at(5.0), "the step is still to be shown");
    }

    #[test]
    fn nonsense_is_refused_and_changes_nothing() {
        for factor in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e9] {
            let refused = SimClock::new(factor, false).expect_err("refused");
            assert!(refused.to_string().contains("realtime_factor"), "{refused}");
        }
        let mut clock = SimClock::new(1.0, true).expect("valid");
        for step in [-1e-9, -1.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1.1e6] {
            assert!(matches!(clock.step(ms(0), step), Err(ClockError::Step(_))), "{step}");
        }
        assert_eq!(clock.now(ms(0)), Time::ZERO);
    }

    #[test]
    fn it_ends_where_the_message_ends() {
        let mut clock = SimClock::new(1.0, true).expect("valid");
        while clock.step(ms(0), LONGEST_STEP).is_ok() {}
        let refused = clock.step(ms(0), LONGEST_STEP).expect_err("refused");
        assert!(refused.to_string().contains("2147483647"), "{refused}");
        clock.set_paused(ms(0), false);
        assert_eq!(clock.now(Duration::MAX), LAST);
    }

    #[derive(Clone, Debug)]
    enum Event {
        Show,
        Pause(bool),
        Step(f64),
    }

    fn event() -> impl Strategy<Value = Event> {
        prop_oneof![
            3 => Just(Event::Show),
            1 => any::<bool>().prop_map(Event::Pause),
            2 => prop_oneof![0.0..5.0, Just(f64::NAN), -1.0..0.0, 1e3..1e6].prop_map(Event::Step),
        ]
    }

    proptest! {
        #[test]
        fn readings_never_go_back_nor_leap_nor_pass_the_clock(
            factor in 0.01..50.0,
            paused: bool,
            // Wall times may come out of order.
            events in prop::collection::vec((0_u64..3_000_000_000, event()), 1..60),
        ) {
            let mut clock = SimClock::new(factor, paused).expect("valid");
            let (mut now, mut shown) = (Time::ZERO, Time::ZERO);
            for (nanos, event) in events {
                let wall = Duration::from_nanos(nanos);
                let before = clock.now(wall);
                prop_assert!(before >= now);
                now = before;
                match event {
                    Event::Show => {
                        let reading = clock.show(wall);
                        prop_assert!(reading.time >= shown && reading.time <= now);
                        prop_assert!(reading.time.saturating_since(shown) <= LEAP);
                        prop_assert_eq!(reading.is_behind, reading.time < now);
                        shown = reading.time;
                    }
                    Event::Pause(paused) => {
                        prop_assert_eq!(clock.set_paused(wall, paused), now);
                        prop_assert_eq!(clock.is_paused(), paused);
                    }
                    Event::Step(seconds) => {
                        if let Ok(after) = clock.step(wall, seconds) {
                            prop_assert_eq!(after, now + Duration::from_nanos((seconds * 1e9).round() as u64));
                            now = after;
                            shown = clock.shown();
                            prop_assert!(shown <= now);
                        } else {
                            prop_assert_eq!(clock.now(wall), now);
                        }
                    }
                }
            }
        }
    }
}
