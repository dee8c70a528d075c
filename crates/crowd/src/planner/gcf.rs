//! `gcf`: the generalised centrifugal force model (Chraibi, Seyfried & Schadschneider 2010, Phys. Rev. E 82, 046111; crowd-engine
//! specification, section 20.7).
//!
//! Bodies are ellipses that grow with the step. Only what lies ahead pushes, and straight back: without symmetry breaking two people who
//! meet exactly head on stop for good, and counterflow jams.

use super::{Accelerating, AccelerationLaw, SMALLEST, Scene, drive, leaning};
use crate::sampling::PlannerKey;

const KEYS: [PlannerKey; 13] = [
    PlannerKey::exactly("relaxation_time", 0.5),
    PlannerKey::exactly("nu_agent", 0.3),
    PlannerKey::exactly("max_agent_dist", 2.0),
    PlannerKey::exactly("max_agent_force", 3.0),
    PlannerKey::exactly("agent_interp_width", 0.12),
    PlannerKey::exactly("a_min", 0.18),
    PlannerKey::exactly("a_rate", 0.53),
    PlannerKey::exactly("b_max", 0.25),
    PlannerKey::exactly("b_growth", 0.05),
    PlannerKey::exactly("nu_wall", 0.3),
    PlannerKey::exactly("max_wall_dist", 2.0),
    PlannerKey::exactly("max_wall_force", 3.0),
    PlannerKey::exactly("wall_interp_width", 0.12),
];

/// Shorter walls are not felt, metres.
const SHORTEST_WALL: f64 = 0.1;
/// Half an ellipse is never thinner, metres.
const THINNEST: f64 = 0.01;
/// Speed that `b_growth` refers to, m/s.
const REFERENCE_SPEED: f64 = 1.3;
/// Slower than this a velocity has no direction, m/s.
const AT_REST: f64 = 1e-6;

/// Centrifugal force between ellipses.
pub type CentrifugalForce = Accelerating<CentrifugalForceLaw, 13>;

/// The law of [`CentrifugalForce`].
#[derive(Debug, Clone, Copy)]
pub struct CentrifugalForceLaw;

impl AccelerationLaw<13> for CentrifugalForceLaw {
    const NAME: &'static str = "gcf";
    const KEYS: &'static [PlannerKey; 13] = &KEYS;

    #[inline(always)]
    fn acceleration(values: &[[f64; 13]], scene: &Scene<'_>, row: usize, e: [f64; 2]) -> [f64; 2] {
        let pool = scene.pool;
        let own = &values[row];
        let (position, v, desired) =
            (pool.position(row), [pool.vx[row], pool.vy[row]], pool.desired_velocity[row]);
        let body = Ellipse::of(own, scene, row);
        let (agents, walls) = (Falloff::new(&own[2..5]), Falloff::new(&own[10..13]));
        let (drive, mut social, mut wall_push) = (drive(pool, row, e, own[0]), [0.0; 2], [0.0; 2]);
        let push =
            |sum: &mut [f64; 2], n: [f64; 2], size: f64| *sum = [sum[0] + size * n[0], sum[1] + size * n[1]];
        for other in scene.neighbours.of(row) {
            let other = *other as usize;
            let apart = [position[0] - pool.x[other], position[1] - pool.y[other]];
            let distance = norm(apart);
            let n = apart.map(|axis| axis / distance.max(SMALLEST));
            let ahead = ahead(v, n);
            if ahead > 0.0 {
                let theirs = Ellipse::of(&values[other], scene, other);
                if distance - body.longest() - theirs.longest() >= agents.far {
                    continue;
                }
                let gap = distance - contact_distance(&body, &theirs, n);
                let approach = -dot([v[0] - pool.vx[other], v[1] - pool.vy[other]], n);
                let pace = own[1] * desired + approach.max(0.0);
                push(&mut social, n, ahead * agents.at(gap) * pace * pace);
            }
        }
        for wall in scene.walls.near(position).filter(|w| w.length2 >= SHORTEST_WALL * SHORTEST_WALL) {
            let (distance, offset) = wall.offset(position);
            if distance > own[10] + body.longest() {
                continue;
            }
            let nearest = offset.map(|axis| axis / distance.max(SMALLEST));
            let ahead = ahead(v, nearest);
            let pace = own[9] * desired - dot(v, nearest).min(0.0);
            let length = wall.length2.sqrt();
            let along = wall.along.map(|axis| axis / length);
            let foot = dot(
                [position[0] - offset[0] - wall.start[0], position[1] - offset[1] - wall.start[1]],
                along,
            );
            for at in [foot, foot - body.b, foot + body.b] {
                // The nearest point itself is on the wall, whatever rounding says.
                if ahead <= 0.0 || (at != foot && !(0.0..=length).contains(&at)) {
                    continue;
                }
                let apart = [0, 1].map(|axis| position[axis] - wall.start[axis] - at * along[axis]);
                let distance = norm(apart);
                let n = apart.map(|axis| axis / distance.max(SMALLEST));
                push(&mut wall_push, n, ahead * walls.at(distance - body.polar_radius(n)) * pace * pace);
            }
        }
        let social = leaning(scene, row, e, social);
        [0, 1].map(|axis| drive[axis] + social[axis] + wall_push[axis])
    }
}

/// Cosine between the velocity and where a push along `n` comes from; 0 from behind and at rest.
#[inline(always)]
fn ahead(v: [f64; 2], n: [f64; 2]) -> f64 {
    let speed = norm(v);
    if speed < AT_REST { 0.0 } else { (-dot(v, n) / speed).max(0.0) }
}

/// An ellipse with half axis `a` along its heading and `b` across.
struct Ellipse {
    heading: [f64; 2],
    a: f64,
    b: f64,
}

impl Ellipse {
    #[inline(always)]
    fn of(values: &[f64; 13], scene: &Scene<'_>, row: usize) -> Self {
        let pool = scene.pool;
        let [_, _, _, _, _, a_min, a_rate, b_max, b_growth, ..] = *values;
        let speed = norm([pool.vx[row], pool.vy[row]]);
        let (sin, cos) = pool.theta[row].sin_cos();
        Self {
            heading: [cos, sin],
            a: (a_min + a_rate * speed).max(THINNEST),
            b: (b_max - b_growth * speed / REFERENCE_SPEED).max(THINNEST),
        }
    }

    /// Half its longer axis.
    #[inline(always)]
    fn longest(&self) -> f64 {
        self.a.max(self.b)
    }

    /// Half its width along the direction `u`.
    #[inline(always)]
    fn polar_radius(&self, u: [f64; 2]) -> f64 {
        let (along, across) = self.components(u);
        let (x, y) = (along / self.a, across / self.b);
        (x * x + y * y).sqrt().max(SMALLEST).recip()
    }

    /// A vector in the axes of the ellipse.
    #[inline(always)]
    fn components(&self, u: [f64; 2]) -> (f64, f64) {
        let [cos, sin] = self.heading;
        (u[0] * cos + u[1] * sin, u[1] * cos - u[0] * sin)
    }

    /// `[s0, s1, s2]`, so that the square of the reach of the ellipse along `d + t * across` is `s0 + 2 * s1 * t + s2 * t * t`, where
    /// `across` is `d` turned left by a right angle.
    #[inline(always)]
    fn reach(&self, d: [f64; 2]) -> [f64; 3] {
        let (x, y) = self.components(d);
        let (a2, b2) = (self.a * self.a, self.b * self.b);
        [a2 * x * x + b2 * y * y, (b2 - a2) * x * y, a2 * y * y + b2 * x * x]
    }
}

/// Distance between the centres of two ellipses that touch and lie along the unit vector `d` from each other.
///
/// Zheng & Palffy-Muhoray 2007, Phys. Rev. E 75, 061709, solve a quartic for it. The same number is the smallest sum of both reaches
/// over all `d + t * across`: a convex function of `t`, whose minimum Newton's method finds between those of the two parts.
#[inline(always)]
fn contact_distance(first: &Ellipse, second: &Ellipse, d: [f64; 2]) -> f64 {
    let parts = [first.reach(d), second.reach(d)];
    let [one, other] = parts.map(|[_, s1, s2]| -s1 / s2);
    let (mut low, mut high) = (one.min(other), one.max(other));
    let mut t = 0.5 * (low + high);
    // Near its minimum the distance changes with the square of `t`, so this close is close enough.
    for _ in 0..STEPS {
        let (mut slope, mut bend) = (0.0, 0.0);
        for [s0, s1, s2] in parts {
            let square = s0 + t * (2.0 * s1 + t * s2);
            let root = square.sqrt();
            slope += (s1 + s2 * t) / root;
            bend += (s0 * s2 - s1 * s1) / (square * root);
        }
        if slope > 0.0 {
            high = t;
        } else {
            low = t;
        }
        let next = t - slope / bend;
        let before = t;
        t = if next >= low && next <= high { next } else { 0.5 * (low + high) };
        if (t - before).abs() < CLOSE * (1.0 + t.abs()) {
            break;
        }
    }
    parts.iter().map(|[s0, s1, s2]| (s0 + t * (2.0 * s1 + t * s2)).sqrt()).sum()
}

/// Two people take a few steps; for needles it comes down to halving.
const STEPS: usize = 64;
/// Steps smaller than this change the distance by less than rounding does.
const CLOSE: f64 = 1e-8;

/// How a push grows from nothing at `far` to three times `force` at the touch.
struct Falloff {
    width: f64,
    far: f64,
    most: f64,
}

impl Falloff {
    /// Of `[max_dist, max_force, interp_width]`.
    #[inline(always)]
    fn new(values: &[f64]) -> Self {
        let (far, force, width) = (values[0].max(SMALLEST), values[1].max(SMALLEST), values[2]);
        // A narrower inner part would have to fall on its way in.
        let width = if width < 1.0 / (3.0 * force) { 1.5 / (3.0 * force) } else { width };
        Self { width: width.min(0.5 * far), far, most: 3.0 * force }
    }

    /// Push at a gap between the bodies, 1/m: one over the gap, with smooth ends.
    #[inline(always)]
    fn at(&self, gap: f64) -> f64 {
        let inverse = |x: f64| (1.0 / x, -1.0 / (x * x));
        if gap <= 0.0 {
            self.most
        } else if gap < self.width {
            hermite(gap / self.width, self.width, (self.most, 0.0), inverse(self.width))
        } else if gap < self.far - self.width {
            1.0 / gap
        } else if gap < self.far {
            let start = self.far - self.width;
            hermite((gap - start) / self.width, self.width, inverse(start), (0.0, 0.0))
        } else {
            0.0
        }
    }
}

/// Cubic at `s` of its `width`, with value and slope at both ends.
#[inline(always)]
fn hermite(s: f64, width: f64, from: (f64, f64), to: (f64, f64)) -> f64 {
    let (s2, s3) = (s * s, s * s * s);
    (2.0 * s3 - 3.0 * s2 + 1.0) * from.0
        + (s3 - 2.0 * s2 + s) * width * from.1
        + (3.0 * s2 - 2.0 * s3) * to.0
        + (s3 - s2) * width * to.1
}

#[inline(always)]
fn dot(a: [f64; 2], b: [f64; 2]) -> f64 {
    a[0] * b[0] + a[1] * b[1]
}

#[inline(always)]
fn norm(v: [f64; 2]) -> f64 {
    dot(v, v).sqrt()
}

#[cfg(test)]
mod tests {
    use super::super::tests::accelerations;
    use super::*;
    use proptest::prelude::*;

    fn planner() -> CentrifugalForce {
        CentrifugalForce::default()
    }

    fn ellipse(angle: f64, a: f64, b: f64) -> Ellipse {
        let (sin, cos) = angle.sin_cos();
        Ellipse { heading: [cos, sin], a, b }
    }

    /// By narrowing down the normal, along `d + t * across`.
    fn searched_contact_distance(first: &Ellipse, second: &Ellipse, d: [f64; 2]) -> f64 {
        let support = |ellipse: &Ellipse, n: [f64; 2]| {
            let (along, across) = ellipse.components(n);
            (ellipse.a * along).hypot(ellipse.b * across)
        };
        let sum = |t: f64| {
            let n = [d[0] - t * d[1], d[1] + t * d[0]];
            support(first, n) + support(second, n)
        };
        let (mut low, mut high) = (-1e4, 1e4);
        for _ in 0..200 {
            let third = (high - low) / 3.0;
            if sum(low + third) < sum(high - third) { high -= third } else { low += third }
        }
        sum(0.5 * (low + high))
    }

    #[test]
    fn ellipses_touch_where_their_axes_say() {
        let (long, wide) = (ellipse(0.0, 0.8, 0.2), ellipse(std::f64::consts::FRAC_PI_2, 0.8, 0.2));
        let near = |found: f64, expected: f64| assert!((found - expected).abs() < 1e-9, "{found} {expected}");
        near(contact_distance(&long, &long, [1.0, 0.0]), 1.6);
        near(contact_distance(&long, &long, [0.0, 1.0]), 0.4);
        near(contact_distance(&long, &wide, [1.0, 0.0]), 1.0);
        near(contact_distance(&ellipse(0.3, 0.5, 0.5), &ellipse(1.0, 0.25, 0.25), [0.6, 0.8]), 0.75);
    }

    proptest! {
        #[test]
        fn the_contact_distance_is_that_of_a_search(
            angles in (-3.2..3.2, -3.2..3.2, -3.2..3.2),
            axes in (0.01..2.0, 0.01..2.0, 0.01..2.0, 0.01..2.0),
        ) {
            let (first, second) = (ellipse(angles.0, axes.0, axes.1), ellipse(angles.1, axes.2, axes.3));
            let d = [f64::cos(angles.2), f64::sin(angles.2)];
            let found = contact_distance(&first, &second, d);
            let searched = searched_contact_distance(&first, &second, d);
            prop_assert!((found - searched).abs() < 1e-9 * searched, "{} {}", found, searched);
            let polar = first.polar_radius(d) + second.polar_radius(d);
            prop_assert!(found >= polar - 1e-9 && found <= axes.0.max(axes.1) + axes.2.max(axes.3) + 1e-9);
        }

        #[test]
        fn a_push_has_no_steps(gap in -0.1..2.1, width in 0.0..1.5, force in 1.0..6.0) {
            let falloff = Falloff::new(&[2.0, force, width]);
            let step = (falloff.at(gap) - falloff.at(gap + 1e-6)).abs();
            prop_assert!(step < 1e-6 * 10.0 * (3.0 * force).powi(2), "{}", step);
        }
    }

    #[test]
    fn the_push_is_smooth_from_the_touch_to_nothing() {
        let falloff = Falloff::new(&[2.0, 3.0, 0.12]);
        assert_eq!((falloff.at(-1.0), falloff.at(0.0), falloff.at(2.0)), (9.0, 9.0, 0.0));
        assert_eq!(falloff.at(0.5), 2.0);
        for joint in [0.12, 1.88] {
            assert!((falloff.at(joint - 1e-9) - falloff.at(joint + 1e-9)).abs() < 1e-6);
        }
        // The middle of the inner part: half of both values, and an eighth of the width times the outer slope.
        let expected = 0.5 * (9.0 + 1.0 / 0.12) + 0.125 * 0.12 / (0.12 * 0.12);
        assert!((falloff.at(0.06) - expected).abs() < 1e-9);
        assert_eq!(Falloff::new(&[2.0, 3.0, 0.05]).width, 0.5 / 3.0);
    }

    #[test]
    fn what_lies_ahead_pushes_back_and_what_lies_behind_does_not() {
        // At 1 m/s: a 0.71, b 0.2115. Standing: a 0.18, b 0.25. Both face along x, 1.89 m apart: a gap of 1 m.
        let rows = [[0.0, 0.0, 1.0, 0.0], [1.89, 0.0, 0.0, 0.0]];
        let found = accelerations(&mut planner(), &rows, &[]);
        assert!((found[0][0] + 1.3 * 1.3).abs() < 1e-6 && found[0][1].abs() < 1e-9, "{found:?}");
        assert!(found[1].iter().all(|a| a.abs() < 1e-9), "who stands is not pushed: {found:?}");
    }

    #[test]
    fn a_wall_ahead_pushes_from_three_points() {
        let at = |length: f64| {
            let wall = [[1.71, -length / 2.0, 1.71, length / 2.0]];
            accelerations(&mut planner(), &[[0.0, 0.0, 1.0, 0.0]], &wall)[0]
        };
        assert!((at(0.2)[0] + 1.3 * 1.3).abs() < 1e-6, "only the nearest point is on it: {:?}", at(0.2));
        assert!(at(2.0)[0] < -2.5 * 1.3 * 1.3 && at(2.0)[1].abs() < 1e-9, "{:?}", at(2.0));
        assert!(at(0.09)[0].abs() < 1e-9, "too short to be felt");
    }
}
