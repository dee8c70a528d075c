//! Angles, and the functions of angles as compilers turn them into vector code: no branches, no table, no call.
//!
//! Every operation is an IEEE one in a fixed order, so that a result depends on its argument alone and not on the width of the machine.

use std::f64::consts::{FRAC_2_PI, PI};

/// The angle in [-pi, pi] with the direction of `angle`; one within is returned as it is.
#[inline]
#[must_use]
pub(crate) fn wrap(angle: f64) -> f64 {
    if angle.abs() <= PI {
        return angle;
    }
    angle.sin().atan2(angle.cos())
}

/// `2^52 * 1.5`: adding it rounds to an integer, which is then the low bits of the sum.
const ROUND: f64 = 6_755_399_441_055_744.0;

/// Angles up to this size, radians, are reduced exactly enough by [`sin_cos`].
pub(crate) const LARGEST_ANGLE: f64 = 1e5;

/// A quarter turn in three parts; the first two have so few digits that their products with a count of turns are exact.
const QUARTER: [f64; 3] = [1.570_796_326_734_125_6, 6.077_100_506_303_966e-11, 2.022_266_248_795_950_7e-21];

/// Sine and cosine of an angle of at most [`LARGEST_ANGLE`]. The quarter turns are taken off, Taylor's series do the rest.
#[inline(always)]
#[must_use]
pub(crate) fn sin_cos(x: f64) -> (f64, f64) {
    let shifted = x.mul_add(FRAC_2_PI, ROUND);
    let turns = shifted - ROUND;
    let r = QUARTER.iter().fold(x, |r, part| turns.mul_add(-part, r));
    let square = r * r;
    let sin = [17.0, 15.0, 13.0, 11.0, 9.0, 7.0, 5.0, 3.0]
        .iter()
        .fold(1.0, |sum: f64, n| (sum * square).mul_add(-1.0 / (n * (n - 1.0)), 1.0));
    let cos = [16.0, 14.0, 12.0, 10.0, 8.0, 6.0, 4.0, 2.0]
        .iter()
        .fold(1.0, |sum: f64, n| (sum * square).mul_add(-1.0 / (n * (n - 1.0)), 1.0));
    let sin = sin * r;
    let quarter = shifted.to_bits();
    let (sin, cos) = if quarter & 1 == 0 { (sin, cos) } else { (cos, sin) };
    let sign = |bits: u64| (bits & 2) << 62;
    let with_sign = |value: f64, bits: u64| f64::from_bits(value.to_bits() ^ sign(bits));
    (with_sign(sin, quarter), with_sign(cos, quarter.wrapping_add(1)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::f64::consts::FRAC_PI_2;

    #[test]
    fn whole_turns_are_taken_off() {
        assert_eq!((wrap(3.0), wrap(-PI), wrap(PI)), (3.0, -PI, PI));
        assert!((wrap(3.5) - (3.5 - 2.0 * PI)).abs() < 1e-15);
        assert!((wrap(-20.0) - (-20.0 + 6.0 * PI)).abs() < 1e-14);
    }

    #[test]
    fn sine_and_cosine_agree_with_the_standard_ones_also_near_their_zeros() {
        let quarters = (-60_000..60_000).map(|n| f64::from(n) * FRAC_PI_2);
        for x in (-500_000..500_000).map(|n| f64::from(n) * 1.234_5e-3).chain(quarters) {
            let ((sin, cos), standard) = (sin_cos(x), x.sin_cos());
            let near = |a: f64, b: f64| (a - b).abs() <= 2.0 * f64::EPSILON * b.abs().max(1e-8);
            assert!(near(sin, standard.0) && near(cos, standard.1), "{x}: {sin} {cos} {standard:?}");
        }
    }
}
