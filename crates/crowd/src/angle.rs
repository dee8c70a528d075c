//! Angles between -pi and pi.

use std::f64::consts::PI;

/// The angle in [-pi, pi] with the direction of `angle`; one within is returned as it is.
#[inline]
#[must_use]
pub(crate) fn wrap(angle: f64) -> f64 {
    if angle.abs() <= PI {
        return angle;
    }
    angle.sin().atan2(angle.cos())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_turns_are_taken_off() {
        assert_eq!((wrap(3.0), wrap(-PI), wrap(PI)), (3.0, -PI, PI));
        assert!((wrap(3.5) - (3.5 - 2.0 * PI)).abs() < 1e-15);
        assert!((wrap(-20.0) - (-20.0 + 6.0 * PI)).abs() < 1e-14);
    }
}
