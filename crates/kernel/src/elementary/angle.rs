//! Angles, and the functions of angles as compilers turn them into vector code: no branches, no table, no call.
//!
//! Every operation is an IEEE one in a fixed order, so that a result depends on its argument alone and not on the width of the machine.

use std::f64::consts::{FRAC_2_PI, FRAC_PI_2, FRAC_PI_4, PI, SQRT_2};

/// `2^52 * 1.5`: adding it rounds to an integer, which is then the low bits of the sum.
const ROUND: f64 = 6_755_399_441_055_744.0;

/// Angles up to this size, radians, are reduced exactly enough by [`sin_cos`].
pub const LARGEST_ANGLE: f64 = 1e5;

/// A quarter turn in three parts; the first two have so few digits that their products with a count of turns are exact.
const QUARTER: [f64; 3] = [1.570_796_326_734_125_6, 6.077_100_506_303_966e-11, 2.022_266_248_795_950_7e-21];

/// The angle in [-pi, pi] with the direction of `angle`; one within is returned as it is. Angles beyond 1e15 have no direction.
#[inline(always)]
#[must_use]
pub fn wrap(angle: f64) -> f64 {
    let turns = (angle / (2.0 * PI) + ROUND) - ROUND;
    QUARTER.iter().fold(angle, |rest, part| rest - 4.0 * turns * part).clamp(-PI, PI)
}

/// Sine and cosine of an angle of at most [`LARGEST_ANGLE`]. The quarter turns are taken off, Taylor's series do the rest.
#[inline(always)]
#[must_use]
pub fn sin_cos(x: f64) -> (f64, f64) {
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

/// The angle of the direction `(x, y)` in [-pi, pi]; of finite numbers that are not both 0.
#[inline(always)]
#[must_use]
pub fn atan2(y: f64, x: f64) -> f64 {
    let (short, long) = (x.abs().min(y.abs()), x.abs().max(y.abs()));
    // Beyond an eighth of a half turn the angle is taken from the diagonal, so that the series converges fast.
    let diagonal = short > (SQRT_2 - 1.0) * long;
    let t = if diagonal { (short - long) / (short + long) } else { short / long };
    let square = -t * t;
    let series =
        (0..20).rev().fold(1.0 / 41.0, |sum: f64, n| sum.mul_add(square, 1.0 / (2.0 * f64::from(n) + 1.0)));
    let angle = series * t + if diagonal { FRAC_PI_4 } else { 0.0 };
    let angle = if y.abs() > x.abs() { FRAC_PI_2 - angle } else { angle };
    let angle = if x < 0.0 { PI - angle } else { angle };
    angle.copysign(y)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_turns_are_taken_off() {
        assert_eq!((wrap(3.0), wrap(-PI), wrap(PI)), (3.0, -PI, PI));
        assert!((wrap(3.5) - (3.5 - 2.0 * PI)).abs() < 1e-15);
        assert!((wrap(1e4) - (1e4 - 1592.0 * 2.0 * PI)).abs() < 1e-11 && wrap(-1e300).abs() <= PI);
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

    #[test]
    fn the_angle_of_a_direction_agrees_with_the_standard_one() {
        for step in -40_000..40_000 {
            let (y, x) = (f64::from(step) * 8e-5).sin_cos();
            for (y, x) in [(y, x), (1e-3 * y, x), (1e200 * y, 1e200 * x)] {
                let (ours, standard) = (atan2(y, x), y.atan2(x));
                assert!(
                    (ours - standard).abs() <= 4.0 * f64::EPSILON * standard.abs(),
                    "{y} {x}: {ours} {standard}"
                );
            }
        }
        assert_eq!((atan2(0.0, 1.0), atan2(0.0, -1.0), atan2(-0.0, -1.0)), (0.0, PI, -PI));
        assert_eq!((atan2(1.0, 0.0), atan2(-2.0, 0.0)), (FRAC_PI_2, -FRAC_PI_2));
    }
}
