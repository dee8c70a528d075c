//! `karamouzas`: predictive avoidance (Karamouzas, Heil, van Beek & Overmars 2009, Motion in Games, LNCS 5884, 41; crowd-engine
//! specification, section 20.5).
//!
//! People step aside for the few they will run into first, from where both will be then.

use super::{Accelerating, AccelerationLaw, SMALLEST, Scene, contact_time, drive, leaning};
use crate::sampling::PlannerKey;

const KEYS: [PlannerKey; 11] = [
    PlannerKey::exactly("relaxation_time", 0.4),
    PlannerKey::exactly("wall_steepness", 2.0),
    PlannerKey::exactly("wall_distance", 2.0),
    PlannerKey::exactly("colliding_count", 5.0),
    PlannerKey::exactly("d_min", 1.0),
    PlannerKey::exactly("d_mid", 8.0),
    PlannerKey::exactly("d_max", 10.0),
    PlannerKey::exactly("agent_force", 3.0),
    PlannerKey::exactly("personal_space", 1.0),
    PlannerKey::exactly("anticipation", 3.0),
    PlannerKey::exactly("fov_angle", 200.0),
];

/// Distances that divide are not taken smaller, metres.
const NEAREST: f64 = 0.01;
/// How much less each later collision counts than the one before it.
const FADE: f64 = 0.8;
/// More collisions than this are not looked at, whatever `colliding_count` says: the weights are down to 3 % by then.
const MOST_COLLISIONS: usize = 16;

/// Avoidance of predicted collisions.
pub type PredictiveAvoidance = Accelerating<PredictiveAvoidanceLaw, 11>;

/// The law of [`PredictiveAvoidance`].
#[derive(Debug, Clone, Copy)]
pub struct PredictiveAvoidanceLaw;

impl AccelerationLaw<11> for PredictiveAvoidanceLaw {
    const NAME: &'static str = "karamouzas";
    const KEYS: &'static [PlannerKey; 11] = &KEYS;

    #[inline(always)]
    fn acceleration(values: &[[f64; 11]], scene: &Scene<'_>, row: usize, e: [f64; 2]) -> [f64; 2] {
        let pool = scene.pool;
        let person = Person::of(&values[row], scene, row);
        let walls = person.walls(scene);
        let drive = drive(pool, row, e, values[row][0]);
        let wanted = [0, 1].map(|axis| person.v[axis] + (drive[axis] + walls[axis]) * scene.dt);
        let social = match person.separation(scene, row) {
            Some(push) => push,
            None => person.avoidance(scene, row, wanted),
        };
        let size = norm(social);
        let scale = if size > person.most { person.most / size } else { 1.0 };
        let social = leaning(scene, row, e, social.map(|axis| scale * axis));
        [0, 1].map(|axis| drive[axis] + walls[axis] + social[axis])
    }
}

struct Person {
    position: [f64; 2],
    v: [f64; 2],
    radius: f64,
    heading: [f64; 2],
    /// Cap of the social force, m/s2.
    most: f64,
    wall_steepness: f64,
    wall_distance: f64,
    collisions: usize,
    d_min: f64,
    d_mid: f64,
    d_max: f64,
    force: f64,
    personal_space: f64,
    anticipation: f64,
    view_cos: f64,
}

impl Person {
    #[inline(always)]
    fn of(values: &[f64; 11], scene: &Scene<'_>, row: usize) -> Self {
        let pool = scene.pool;
        let [_, wall_steepness, wall_distance, count, d_min, d_mid, d_max, force, space, anticipation, fov] =
            *values;
        let (sin, cos) = pool.theta[row].sin_cos();
        Self {
            position: pool.position(row),
            v: [pool.vx[row], pool.vy[row]],
            radius: pool.radius[row],
            heading: [cos, sin],
            most: pool.max_acceleration[row],
            wall_steepness,
            wall_distance,
            collisions: (count.max(0.0) as usize).min(MOST_COLLISIONS),
            d_min,
            d_mid,
            d_max,
            force,
            personal_space: space,
            anticipation,
            view_cos: if fov >= 360.0 { -2.0 } else { (0.5 * fov.to_radians()).cos() },
        }
    }

    /// Push of all walls within `wall_distance` of the body, m/s2.
    #[inline(always)]
    fn walls(&self, scene: &Scene<'_>) -> [f64; 2] {
        let (mut sum, safe) = ([0.0; 2], self.wall_distance + self.radius);
        for wall in scene.walls.near(self.position) {
            let (distance, offset) = wall.offset(self.position);
            if distance < safe {
                let gap = (distance - self.radius).max(NEAREST);
                let push = (safe - distance) / gap.powf(self.wall_steepness) / distance.max(SMALLEST);
                sum = [sum[0] + push * offset[0], sum[1] + push * offset[1]];
            }
        }
        sum
    }

    /// How hard something `distance` metres away is avoided, m/s2.
    #[inline(always)]
    fn law(&self, distance: f64) -> f64 {
        if distance < self.d_min {
            self.force * self.d_min / distance
        } else if distance < self.d_mid {
            self.force
        } else if distance < self.d_max {
            self.force * (self.d_max - distance) / (self.d_max - self.d_mid)
        } else {
            0.0
        }
    }

    /// The push away from those whose personal space this person stands in; `None` if there is nobody.
    #[inline(always)]
    fn separation(&self, scene: &Scene<'_>, row: usize) -> Option<[f64; 2]> {
        let (pool, mut sum) = (scene.pool, None);
        for other in scene.neighbours.of(row) {
            let other = *other as usize;
            let apart = [self.position[0] - pool.x[other], self.position[1] - pool.y[other]];
            let (distance, radius) = (norm(apart), pool.radius[other]);
            if distance < self.personal_space + radius {
                let push = self.law((distance - self.radius - radius).max(NEAREST)) / distance.max(SMALLEST);
                let [x, y] = sum.unwrap_or([0.0; 2]);
                sum = Some([x + push * apart[0], y + push * apart[1]]);
            }
        }
        sum
    }

    /// The evasion of those whom this person runs into first when it walks as it wants to.
    #[inline(always)]
    fn avoidance(&self, scene: &Scene<'_>, row: usize, wanted: [f64; 2]) -> [f64; 2] {
        let pool = scene.pool;
        let (mut first, mut count) = ([(0.0, 0); MOST_COLLISIONS], 0);
        for other in scene.neighbours.of(row) {
            let other = *other as usize;
            let apart = [self.position[0] - pool.x[other], self.position[1] - pool.y[other]];
            let ahead = -(apart[0] * self.heading[0] + apart[1] * self.heading[1]);
            if ahead < self.view_cos * norm(apart) {
                continue;
            }
            let closing = [wanted[0] - pool.vx[other], wanted[1] - pool.vy[other]];
            let space = self.personal_space + pool.radius[other];
            match contact_time::of_circle(apart, closing, space) {
                Some(time) if time < self.anticipation => {
                    insert(&mut first[..self.collisions], &mut count, (time, other));
                }
                _ => {}
            }
        }
        let (mut sum, mut weight) = ([0.0; 2], 1.0);
        for (time, other) in &first[..count] {
            let (time, other) = (*time, *other);
            let q = [
                self.position[0] + wanted[0] * time - pool.x[other] - pool.vx[other] * time,
                self.position[1] + wanted[1] * time - pool.y[other] - pool.vy[other] * time,
            ];
            let size = norm(q);
            let gap = norm(wanted) * time + (size - self.radius - pool.radius[other]).max(0.0);
            let gap = gap.max(NEAREST);
            if gap < self.d_max {
                let push = weight * self.law(gap) / size.max(SMALLEST);
                sum = [sum[0] + push * q[0], sum[1] + push * q[1]];
                weight *= FADE;
            }
        }
        sum
    }
}

/// Insert into the `count` sorted entries at the front of `sorted`; the last one falls out when it is full. Equal ones stay in order.
#[inline(always)]
fn insert(sorted: &mut [(f64, usize)], count: &mut usize, entry: (f64, usize)) {
    let at = sorted[..*count].iter().take_while(|earlier| earlier.0 <= entry.0).count();
    if at < sorted.len() {
        *count = (*count + 1).min(sorted.len());
        sorted[at..*count].rotate_right(1);
        sorted[at] = entry;
    }
}

#[inline(always)]
fn norm(v: [f64; 2]) -> f64 {
    (v[0] * v[0] + v[1] * v[1]).sqrt()
}

#[cfg(test)]
mod tests {
    use super::super::tests::{Stage, accelerations};
    use super::*;

    fn planner() -> PredictiveAvoidance {
        PredictiveAvoidance::default()
    }

    #[test]
    fn who_will_be_met_is_avoided_from_where_both_will_be() {
        // Head on at 1 m/s each from 5 m: the circle of 1.25 m is entered after 1.875 s, when q is 1.25 m long. g = 1.875 + 0.75.
        let [x, y] = accelerations(&mut planner(), &[[0.0, 0.0, 1.0, 0.0], [5.0, 0.0, -1.0, 0.0]], &[])[0];
        assert!((x + 3.0).abs() < 1e-9 && y == 0.0, "{x} {y}");
        // 0.6 m aside: it is entered after (5 - sqrt(1.25^2 - 0.6^2)) / 2 s, and the push goes along q.
        let [x, y] = accelerations(&mut planner(), &[[0.0, 0.0, 1.0, 0.0], [5.0, 0.6, -1.0, 0.0]], &[])[0];
        let q = [-(1.25_f64 * 1.25 - 0.36).sqrt(), -0.6];
        assert!((x - 3.0 * q[0] / 1.25).abs() < 1e-9 && (y - 3.0 * q[1] / 1.25).abs() < 1e-9, "{x} {y}");
    }

    #[test]
    fn who_passes_behind_is_not_avoided() {
        let apart = [[0.0, 0.0, 1.0, 0.0], [-3.0, 0.0, 2.0, 0.0]];
        assert!(accelerations(&mut planner(), &apart, &[])[0].iter().all(|a| a.abs() < 1e-9));
        let late = [[0.0, 0.0, 1.0, 0.0], [8.0, 0.0, -1.0, 0.0]];
        assert!(accelerations(&mut planner(), &late, &[])[0].iter().all(|a| a.abs() < 1e-9), "in 3.4 s");
    }

    #[test]
    fn in_somebodys_personal_space_there_is_only_separation() {
        // 0.6 m between centres, 0.1 m between bodies: 3 * 1.0 / 0.1.
        let rows = [[0.0, 0.0, 0.0, 0.0], [0.6, 0.0, 0.0, 0.0], [0.0, 2.0, 0.0, -2.0]];
        let [x, y] = accelerations(&mut planner(), &rows, &[])[0];
        assert!((x + 30.0).abs() < 1e-6 && y == 0.0, "{x} {y}");
        let mut stage = Stage::new(&rows, &[]);
        stage.pool.max_acceleration[0] = 1.5;
        let [x, _] = stage.accelerations(&mut planner())[0];
        assert!((x + 1.5).abs() < 1e-9, "the limit of the body caps it: {x}");
    }

    #[test]
    fn a_wall_pushes_the_harder_the_nearer() {
        // r 0.25, D 2.25: (2.25 - 1.25) / 1.0^2 at 1.25 m, and (2.25 - 0.75) / 0.5^2 at 0.75 m.
        for (distance, expected) in [(1.25, 1.0), (0.75, 6.0)] {
            let wall = [[-1.0, -distance, 1.0, -distance]];
            let [x, y] = accelerations(&mut planner(), &[[0.0; 4]], &wall)[0];
            assert!(x.abs() < 1e-9 && (y - expected).abs() < 1e-9, "{distance}: {x} {y}");
        }
    }

    #[test]
    fn the_earliest_collisions_stay_and_equal_ones_in_order() {
        let (mut sorted, mut count) = ([(0.0, 0); 3], 0);
        for entry in [(2.0, 0), (1.0, 1), (2.0, 2), (0.5, 3), (9.0, 4)] {
            insert(&mut sorted, &mut count, entry);
        }
        assert_eq!((count, sorted), (3, [(0.5, 3), (1.0, 1), (2.0, 0)]));
        let mut none = 0;
        insert(&mut sorted[..0], &mut none, (1.0, 1));
        assert_eq!(none, 0);
    }
}
