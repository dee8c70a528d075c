//! People hidden behind people.
//!
//! Around an observer lie sectors and rings; a body fills the sectors that it covers from one side to the other, and who is in a further
//! ring is seen through none of them. Only who is hidden with the whole width of the body is not seen, so nobody vanishes too early.

use crate::pool::Pool;

/// Sectors around an observer, one bit each. Not all are of one angle: their borders divide the edges of a square evenly, which needs no
/// trigonometry.
const SECTORS: f32 = 128.0;
/// Rings around an observer, and their width, metres; the last one has no end. Bodies in one ring do not hide each other.
const RINGS: usize = 16;
const RING: f32 = 0.4;
/// Others that are worked on side by side.
const LANES: usize = 8;

/// Close the gaps in `rows` that those leave whom `observer` does not see behind others, and return how many are left. Nearer than
/// `proximity_sense` nobody is hidden.
#[inline(always)]
pub(crate) fn keep_visible(pool: &Pool, observer: usize, rows: &mut [u32]) -> usize {
    // What bodies fill in a ring, and then in all nearer ones.
    let mut filled = [0_u128; RINGS];
    for others in rows.chunks(LANES) {
        let outlines = Outlines::of(pool, observer, others);
        for lane in 0..others.len() {
            let first = outlines.right[lane].ceil();
            filled[outlines.ring[lane] as usize] |= sectors(first, outlines.left[lane].floor() - first);
        }
    }
    let mut nearer = 0;
    for ring in &mut filled {
        nearer |= std::mem::replace(ring, nearer);
    }
    if nearer == 0 {
        return rows.len();
    }
    let sense = pool.proximity_sense[observer] as f32;
    let (mut kept, mut start) = (0, 0);
    while start < rows.len() {
        let count = LANES.min(rows.len() - start);
        let outlines = Outlines::of(pool, observer, &rows[start..start + count]);
        for lane in 0..count {
            let first = outlines.right[lane].floor();
            let width = sectors(first, outlines.left[lane].ceil() - first);
            let is_open = width & !filled[outlines.ring[lane] as usize] != 0;
            rows[kept] = rows[start + lane];
            kept += usize::from(is_open | (outlines.distance[lane] <= sense));
        }
        start += count;
    }
    kept
}

/// `count` sectors from `first` on.
#[inline(always)]
fn sectors(first: f32, count: f32) -> u128 {
    let count = count as u32;
    let bits = if count < 128 { (1 << count) - 1 } else { u128::MAX };
    bits.rotate_left(first as u32 % 128)
}

/// Where bodies begin and end as an observer sees them, in sectors, and how far away they are, metres.
struct Outlines {
    right: [f32; LANES],
    left: [f32; LANES],
    distance: [f32; LANES],
    ring: [u32; LANES],
}

impl Outlines {
    #[inline(always)]
    fn of(pool: &Pool, observer: usize, others: &[u32]) -> Self {
        let (x, y) = (pool.x[observer], pool.y[observer]);
        let (mut dx, mut dy, mut width) = ([1.0_f32; LANES], [0.0_f32; LANES], [0.0_f32; LANES]);
        for (lane, other) in others.iter().enumerate().take(LANES) {
            let other = *other as usize;
            (dx[lane], dy[lane]) = ((pool.x[other] - x) as f32, (pool.y[other] - y) as f32);
            width[lane] = pool.radius[other] as f32;
        }
        if pool.has_long_bodies() {
            for (lane, other) in others.iter().enumerate().take(LANES) {
                let (theta, offset) = (pool.theta[*other as usize], pool.axial_offset[*other as usize]);
                let across = (dx[lane] * theta.sin() as f32 - dy[lane] * theta.cos() as f32).abs();
                width[lane] += offset as f32 * across / dx[lane].hypot(dy[lane]).max(1e-6);
            }
        }
        let mut outlines =
            Self { right: [0.0; LANES], left: [0.0; LANES], distance: [0.0; LANES], ring: [0; LANES] };
        for lane in 0..LANES {
            let (dx, dy) = (dx[lane], dy[lane]);
            let distance = (dx * dx + dy * dy).sqrt();
            // Whoever the observer is inside of fills no more than a quarter of the circle.
            let aside = width[lane] / distance.max(width[lane]).max(1e-6);
            let right = turns(dx + aside * dy, dy - aside * dx);
            let left = turns(dx - aside * dy, dy + aside * dx);
            outlines.right[lane] = right;
            outlines.left[lane] = if left < right { left + SECTORS } else { left };
            outlines.distance[lane] = distance;
            outlines.ring[lane] = (distance / RING).min((RINGS - 1) as f32) as u32;
        }
        outlines
    }
}

/// The sector of a direction, with its fraction: 0 along x, growing to the left.
#[inline(always)]
fn turns(x: f32, y: f32) -> f32 {
    let edge = y / (x.abs() + y.abs()).max(f32::MIN_POSITIVE);
    let quarters = if x < 0.0 { 2.0 - edge } else { edge };
    let quarters = if quarters < 0.0 { quarters + 4.0 } else { quarters };
    quarters * (SECTORS / 4.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pool::Row;
    use crate::sampling::AgentParameters;
    use proptest::prelude::*;

    /// Of bodies with a radius of 0.25 m whom the first one sees.
    fn seen(places: &[[f64; 2]]) -> Vec<u32> {
        let parameters = AgentParameters { radius: 0.25, ..AgentParameters::unknown_type() };
        let mut pool = Pool::default();
        for (id, [x, y]) in places.iter().enumerate() {
            pool.push(Row::new(id as i32, [*x, *y, 0.0], &parameters));
        }
        let mut rows: Vec<u32> = (1..places.len() as u32).collect();
        let kept = keep_visible(&pool, 0, &mut rows);
        rows.truncate(kept);
        rows
    }

    #[test]
    fn who_stands_right_behind_somebody_is_hidden_and_beside_is_not() {
        for angle in 0..24 {
            let (sin, cos) = (f64::from(angle) * 0.27).sin_cos();
            let at = |ahead: f64, left: f64| [ahead * cos - left * sin, ahead * sin + left * cos];
            assert_eq!(seen(&[[0.0; 2], at(4.0, 0.0), at(1.5, 0.0)]), [2], "{angle}");
            assert_eq!(seen(&[[0.0; 2], at(4.0, 1.2), at(1.5, 0.0)]), [1, 2], "{angle}");
            assert_eq!(seen(&[[0.0; 2], at(4.0, 0.6), at(1.5, 0.0)]), [1, 2], "half hidden: {angle}");
        }
    }

    #[test]
    fn the_near_are_noticed_whoever_is_in_front() {
        assert_eq!(seen(&[[0.0; 2], [0.95, 0.0], [0.45, 0.0]]), [1, 2]);
    }

    #[test]
    fn two_in_front_hide_who_is_behind_both() {
        assert_eq!(seen(&[[0.0; 2], [4.5, 0.0], [1.5, 0.24], [1.5, -0.24]]), [2, 3]);
    }

    proptest! {
        #[test]
        fn nobody_is_hidden_whose_edges_both_lie_in_the_open(
            places in proptest::collection::vec((-5.0..5.0_f64, -5.0..5.0_f64), 1..30),
        ) {
            let places: Vec<[f64; 2]> =
                std::iter::once([0.0; 2]).chain(places.into_iter().map(|(x, y)| [x, y])).collect();
            let seen = seen(&places);
            // A ray to the edge of a body that no body comes near.
            let open = |target: usize, edge: f64| {
                let [x, y] = places[target];
                let d = x.hypot(y);
                let to = [x - edge * 0.25 * y / d, y + edge * 0.25 * x / d];
                places.iter().enumerate().skip(1).filter(|(other, _)| *other != target).all(|(_, p)| {
                    let along = (p[0] * to[0] + p[1] * to[1]) / (to[0] * to[0] + to[1] * to[1]);
                    let along = along.clamp(0.0, 1.0);
                    (p[0] - along * to[0]).hypot(p[1] - along * to[1]) > 0.26
                })
            };
            for target in 1..places.len() {
                let visible = open(target, -0.9) || open(target, 0.9);
                prop_assert!(!visible || seen.contains(&(target as u32)), "{target} of {places:?}");
            }
        }
    }
}
