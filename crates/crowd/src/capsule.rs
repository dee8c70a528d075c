//! Bodies longer than they are wide: two discs of the agent's radius, one ahead of the centre and one behind (crowd-engine
//! specification, section 9).
//!
//! Whoever has no length is one disc on its centre, and everything here gives the plain answer for it.

use crate::pool::Pool;

/// Centres of the discs of a body: one, or two of a long body, the foremost first.
#[inline]
pub fn discs(pool: &Pool, row: usize) -> impl Iterator<Item = [f64; 2]> + use<> {
    let (x, y, offset) = (pool.x[row], pool.y[row], pool.axial_offset[row]);
    let long = offset > 0.0;
    let [ahead, across] = if long { [pool.theta[row].cos(), pool.theta[row].sin()] } else { [0.0; 2] };
    let disc = move |offset: f64| [x + offset * ahead, y + offset * across];
    std::iter::once(disc(offset)).chain(long.then(|| disc(-offset)))
}

/// From the disc of `j` to the disc of `i` that are closest to each other; of equals the foremost count.
#[must_use]
#[inline(always)]
pub fn apart(pool: &Pool, i: usize, j: usize) -> [f64; 2] {
    let centres = [pool.x[i] - pool.x[j], pool.y[i] - pool.y[j]];
    if pool.axial_offset[i] <= 0.0 && pool.axial_offset[j] <= 0.0 {
        return centres;
    }
    let (mut nearest, mut least) = (centres, f64::INFINITY);
    for of_i in discs(pool, i) {
        for of_j in discs(pool, j) {
            let d = [of_i[0] - of_j[0], of_i[1] - of_j[1]];
            let square = d[0] * d[0] + d[1] * d[1];
            if square < least {
                (nearest, least) = (d, square);
            }
        }
    }
    nearest
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pool::Row;
    use crate::sampling::AgentParameters;

    fn pool(bodies: &[([f64; 3], f64)]) -> Pool {
        let mut pool = Pool::default();
        for (id, (pose, offset)) in bodies.iter().enumerate() {
            let row = Row::new(id as i32, *pose, &AgentParameters::unknown_type());
            pool.push(Row { axial_offset: *offset, ..row });
        }
        pool
    }

    #[test]
    fn the_nearest_ends_of_two_long_bodies_count() {
        let pool = pool(&[([0.0; 3], 0.3), ([2.0, 0.0, std::f64::consts::FRAC_PI_2], 0.4)]);
        let [x, y] = apart(&pool, 0, 1);
        assert!((x + 1.7).abs() < 1e-12 && (y + 0.4).abs() < 1e-12, "{x} {y}");
    }

    #[test]
    fn without_length_the_centres_count() {
        let pool = pool(&[([0.0, 0.0, 0.3], 0.0), ([0.6, 0.8, 1.0], 0.0)]);
        assert_eq!(apart(&pool, 0, 1), [-0.6, -0.8]);
        assert_eq!(discs(&pool, 1).collect::<Vec<_>>(), [[0.6, 0.8]]);
    }
}
