//! Simulated time: integer nanoseconds, and the instants at which frames start.
//!
//! Nothing here reads a wall clock, and no instant is ever the sum of rounded steps: frame *k* is computed from *k*.

use std::fmt;
use std::ops::{Add, AddAssign, Sub};
use std::time::Duration;

const NANOS_PER_SEC: u128 = 1_000_000_000;

/// An instant of the node or simulation clock, in whole nanoseconds since its origin.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time(i64);

impl Time {
    /// The origin of the clock: the instant of frame 0.
    pub const ZERO: Self = Self(0);
    /// The last instant there is, about 292 years after the origin.
    pub const MAX: Self = Self(i64::MAX);

    /// The instant `nanos` nanoseconds after the origin.
    pub const fn from_nanos(nanos: i64) -> Self {
        Self(nanos)
    }

    /// Nanoseconds since the origin.
    pub const fn nanos(self) -> i64 {
        self.0
    }

    /// The instant nearest to `secs` seconds; what does not fit saturates, NaN is the origin.
    pub fn from_secs_f64(secs: f64) -> Self {
        Self((secs * 1e9).round() as i64)
    }

    /// Seconds since the origin, rounded to the nearest double.
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / 1e9
    }

    /// How long after `earlier` this instant is; zero when it is not after it.
    pub fn saturating_since(self, earlier: Self) -> Duration {
        if self.0 <= earlier.0 { Duration::ZERO } else { Duration::from_nanos(self.0.abs_diff(earlier.0)) }
    }

    /// `self + duration`, or `None` beyond [`Time::MAX`].
    pub fn checked_add(self, duration: Duration) -> Option<Self> {
        let nanos = i128::from(self.0) + i128::try_from(duration.as_nanos()).ok()?;
        i64::try_from(nanos).ok().map(Self)
    }
}

impl Add<Duration> for Time {
    type Output = Self;

    /// The instant `duration` later, or [`Time::MAX`] if that is beyond it.
    fn add(self, duration: Duration) -> Self {
        self.checked_add(duration).unwrap_or(Self::MAX)
    }
}

impl AddAssign<Duration> for Time {
    fn add_assign(&mut self, duration: Duration) {
        *self = *self + duration;
    }
}

impl Sub<Duration> for Time {
    type Output = Self;

    /// The instant `duration` earlier, or the earliest one there is.
    fn sub(self, duration: Duration) -> Self {
        let nanos = i64::try_from(duration.as_nanos()).unwrap_or(i64::MAX);
        Self(self.0.saturating_sub(nanos))
    }
}

/// Seconds without a unit and without trailing zeros: `2.5`, `-0.000000001`, `10`.
impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.0 < 0 { "-" } else { "" };
        let nanos = self.0.unsigned_abs();
        let (secs, rest) = (nanos / 1_000_000_000, nanos % 1_000_000_000);
        if rest == 0 {
            return f.pad(&format!("{sign}{secs}"));
        }
        let fraction = format!("{rest:09}");
        f.pad(&format!("{sign}{secs}.{}", fraction.trim_end_matches('0')))
    }
}

/// Frames per simulated second as an exact fraction, so that frame instants never drift.
///
/// A floating-point rate is taken as the shortest decimal that prints as it: `0.1` is exactly 1/10, not the nearest
/// double, because that is what the person who wrote it meant (10 s of it hold one frame, not two).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrameRate {
    numerator: u128,
    denominator: u128,
}

impl FrameRate {
    /// The rate `fps`, or `None` unless `0 < fps <= 1e9` (a frame lasts at least one nanosecond) and a frame lasts
    /// less than the clock's range.
    pub fn new(fps: f64) -> Option<Self> {
        if !(1e-9..=1e9).contains(&fps) {
            return None;
        }
        let text = fps.to_string();
        let (whole, fraction) = text.split_once('.').unwrap_or((&text, ""));
        let numerator = format!("{whole}{fraction}").parse().ok()?;
        let denominator = 10_u128.checked_pow(u32::try_from(fraction.len()).ok()?)?;
        Some(Self::reduced(numerator, denominator))
    }

    /// Exactly `numerator / denominator` frames per second, such as 30000/1001; `None` when out of range.
    pub fn from_ratio(numerator: u32, denominator: u32) -> Option<Self> {
        let (n, d) = (u128::from(numerator), u128::from(denominator));
        let valid = n > 0 && d > 0 && n <= d * NANOS_PER_SEC;
        valid.then(|| Self::reduced(n, d))
    }

    fn reduced(numerator: u128, denominator: u128) -> Self {
        let (mut a, mut b) = (numerator, denominator);
        while b != 0 {
            (a, b) = (b, a % b);
        }
        Self { numerator: numerator / a, denominator: denominator / a }
    }

    /// The start of frame `index`, `floor(index * 1e9 / fps)` nanoseconds, or `None` beyond [`Time::MAX`].
    pub fn frame_time(self, index: u64) -> Option<Time> {
        let scaled = u128::from(index).checked_mul(NANOS_PER_SEC)?.checked_mul(self.denominator)?;
        i64::try_from(scaled / self.numerator).ok().map(Time::from_nanos)
    }

    /// How many frames start strictly before `end`: `ceil(end * fps)`, zero unless `end` is after the origin.
    pub fn frames_before(self, end: Time) -> u64 {
        let nanos = u128::try_from(end.nanos()).unwrap_or(0);
        let count = match nanos.checked_mul(self.numerator) {
            Some(scaled) => scaled.div_ceil(NANOS_PER_SEC * self.denominator),
            None => u128::MAX,
        };
        u64::try_from(count).unwrap_or(u64::MAX)
    }

    /// Frames per second, rounded to the nearest double.
    pub fn per_second(self) -> f64 {
        self.numerator as f64 / self.denominator as f64
    }

    /// The length of a frame rounded down to nanoseconds; frames differ from it by at most one.
    pub fn period(self) -> Duration {
        self.frame_time(1).map_or(Duration::MAX, |t| t.saturating_since(Time::ZERO))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn time_prints_as_seconds_without_trailing_zeros() {
        assert_eq!(Time::from_nanos(2_500_000_000).to_string(), "2.5");
        assert_eq!(Time::from_nanos(-1).to_string(), "-0.000000001");
        assert_eq!(Time::from_nanos(10_000_000_000).to_string(), "10");
        assert_eq!(Time::from_nanos(i64::MIN).to_string(), "-9223372036.854775808");
    }

    #[test]
    fn time_saturates_instead_of_wrapping() {
        assert_eq!(Time::MAX + Duration::from_nanos(1), Time::MAX);
        assert_eq!(Time::from_nanos(i64::MIN) - Duration::from_secs(1), Time::from_nanos(i64::MIN));
        assert_eq!(Time::from_nanos(i64::MIN) + Duration::from_nanos(u64::MAX), Time::from_nanos(i64::MAX));
        assert_eq!(Time::MAX.saturating_since(Time::from_nanos(i64::MIN)), Duration::from_nanos(u64::MAX));
        assert_eq!(Time::ZERO.saturating_since(Time::MAX), Duration::ZERO);
        assert_eq!(Time::from_secs_f64(f64::NAN), Time::ZERO);
        assert_eq!(Time::from_secs_f64(f64::INFINITY), Time::MAX);
        assert_eq!(Time::from_secs_f64(0.1), Time::from_nanos(100_000_000));
    }

    #[test]
    fn frame_rates_are_the_decimals_people_write() {
        assert_eq!(FrameRate::new(0.1), FrameRate::from_ratio(1, 10));
        assert_eq!(FrameRate::new(29.97), FrameRate::from_ratio(2997, 100));
        assert_eq!(FrameRate::new(1e-7), FrameRate::from_ratio(1, 10_000_000));
        for bad in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e10, 1e-300] {
            assert_eq!(FrameRate::new(bad), None, "{bad}");
        }
        assert_eq!(FrameRate::from_ratio(1, 0), None);
        assert_eq!(FrameRate::from_ratio(0, 1), None);
    }

    #[test]
    fn frames_start_at_the_floor_of_their_exact_instant() {
        let rate = FrameRate::new(30.0).expect("valid");
        let starts: Vec<_> = (0..4).filter_map(|k| rate.frame_time(k)).map(Time::nanos).collect();
        assert_eq!(starts, [0, 33_333_333, 66_666_666, 100_000_000]);
        assert_eq!(rate.period(), Duration::from_nanos(33_333_333));
        assert_eq!(rate.frame_time(u64::MAX), None);
        assert_eq!(FrameRate::new(0.5).expect("valid").frames_before(Time::from_secs_f64(3.0)), 2);
        assert_eq!(rate.frames_before(Time::from_nanos(-5)), 0);
    }

    proptest! {
        #[test]
        fn counting_frames_agrees_with_their_instants(fps in 1e-6..1e6_f64, secs in 0.0..1e5_f64) {
            let rate = FrameRate::new(fps).expect("in range");
            let end = Time::from_secs_f64(secs);
            let count = rate.frames_before(end);
            prop_assert!(count == 0 || rate.frame_time(count - 1).expect("early") < end);
            prop_assert!(rate.frame_time(count).is_none_or(|t| t >= end));
        }

        #[test]
        fn seconds_round_trip(nanos in -1_000_000_000_000_000_i64..1_000_000_000_000_000) {
            let time = Time::from_nanos(nanos);
            prop_assert_eq!(Time::from_secs_f64(time.as_secs_f64()), time);
        }
    }
}
