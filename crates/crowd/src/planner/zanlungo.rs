//! `zanlungo`: social force with explicit collision prediction (Zanlungo, Ikeda & Kanda 2011, EPL 93, 68005; crowd-engine
//! specification, section 20.6).
//!
//! One time for each person, that of its next collision, at which all forces are taken. Who stands exerts nothing on somebody who
//! stands, so a crowd at rest does not spread.

use super::{Accelerating, AccelerationLaw, SMALLEST, Scene, contact_time, drive, leaning};
use crate::sampling::PlannerKey;
use crate::walls::Segment;
use promenade_kernel::elementary::exponential;

const KEYS: [PlannerKey; 5] = [
    PlannerKey::exactly("relaxation_time", 0.5),
    PlannerKey::exactly("mass", 80.0),
    PlannerKey::exactly("agent_scale", 2000.0),
    PlannerKey::exactly("obstacle_scale", 2000.0),
    PlannerKey::exactly("force_distance", 0.08),
];

/// Walls further away are not looked at, metres.
const WALL_CUT: f64 = 5.0;
/// Slower than this nobody is walking, m/s.
const AT_REST: f64 = 1e-6;

/// Social force at the time of the next collision.
pub type CollisionPrediction = Accelerating<CollisionPredictionLaw, 5>;

/// The law of [`CollisionPrediction`].
#[derive(Debug, Clone, Copy)]
pub struct CollisionPredictionLaw;

impl AccelerationLaw<5> for CollisionPredictionLaw {
    const NAME: &'static str = "zanlungo";
    const KEYS: &'static [PlannerKey; 5] = &KEYS;

    #[inline(always)]
    fn acceleration(values: &[[f64; 5]], scene: &Scene<'_>, row: usize, e: [f64; 2]) -> [f64; 2] {
        let [relaxation_time, mass, agent_scale, obstacle_scale, force_distance] = values[row];
        let drive = drive(scene.pool, row, e, relaxation_time);
        let walker = Walker::of(scene, row);
        let Some(time) = walker.next_collision(scene, row) else {
            return drive;
        };
        let time = time.max(scene.dt);
        let social = walker.social(scene, row, time, agent_scale, force_distance);
        let walls = walker.walls(scene, time, obstacle_scale, force_distance);
        let social = leaning(scene, row, e, social.map(|axis| axis / mass));
        [0, 1].map(|axis| drive[axis] + social[axis] + walls[axis] / mass)
    }
}

struct Walker {
    position: [f64; 2],
    v: [f64; 2],
    speed: f64,
    radius: f64,
}

/// A neighbour as its observer sees it.
struct Other {
    /// Position and velocity of the observer from it.
    p: [f64; 2],
    w: [f64; 2],
    /// Both radii.
    reach: f64,
}

impl Walker {
    #[inline(always)]
    fn of(scene: &Scene<'_>, row: usize) -> Self {
        let v = [scene.pool.vx[row], scene.pool.vy[row]];
        Self { position: scene.pool.position(row), v, speed: norm(v), radius: scene.pool.radius[row] }
    }

    /// Those whom it touches or comes nearer to.
    #[inline(always)]
    fn others<'a>(&'a self, scene: &'a Scene<'_>, row: usize) -> impl Iterator<Item = Other> + 'a {
        let pool = scene.pool;
        scene.neighbours.of(row).iter().filter_map(move |other| {
            let other = *other as usize;
            let p = [self.position[0] - pool.x[other], self.position[1] - pool.y[other]];
            let w = [self.v[0] - pool.vx[other], self.v[1] - pool.vy[other]];
            let reach = self.radius + pool.radius[other];
            (dot(p, w) < 0.0 || norm(p) < reach).then_some(Other { p, w, reach })
        })
    }

    /// Walls near enough to matter to somebody who walks.
    #[inline(always)]
    fn walls_ahead<'a>(&'a self, scene: &'a Scene<'_>) -> impl Iterator<Item = &'a Segment> {
        let near = |wall: &&Segment| self.speed >= AT_REST && wall.offset(self.position).0 < WALL_CUT;
        scene.walls.near(self.position).filter(near)
    }

    /// Time to the first contact with somebody; if there will be none, to the first closest approach or contact with a wall.
    #[inline(always)]
    fn next_collision(&self, scene: &Scene<'_>, row: usize) -> Option<f64> {
        let (mut contact, mut approach) = (f64::INFINITY, f64::INFINITY);
        for Other { p, w, reach } in self.others(scene, row) {
            match contact_time::of_circle(p, w, reach) {
                Some(time) => contact = contact.min(time),
                None => approach = approach.min(-dot(p, w) / dot(w, w)),
            }
        }
        if contact.is_finite() {
            return Some(contact);
        }
        for wall in self.walls_ahead(scene) {
            if let Some(time) = contact_time::of_wall(wall, self.position, self.v, self.radius) {
                approach = approach.min(time);
            }
        }
        approach.is_finite().then_some(approach)
    }

    /// Force of all neighbours, newtons.
    #[inline(always)]
    fn social(&self, scene: &Scene<'_>, row: usize, time: f64, scale: f64, range: f64) -> [f64; 2] {
        let mut sum = [0.0; 2];
        for Other { p, w, reach } in self.others(scene, row) {
            let o = [p[0] + w[0] * time, p[1] + w[1] * time];
            if dot(o, w) <= 0.0 {
                let distance = norm(o);
                let push = scale * norm(w) / time * exponential((reach - distance) / range);
                let push = push / distance.max(SMALLEST);
                sum = [sum[0] + push * o[0], sum[1] + push * o[1]];
            }
        }
        sum
    }

    /// Force of all walls, newtons. One that the walk leads through pushes back to this side.
    #[inline(always)]
    fn walls(&self, scene: &Scene<'_>, time: f64, scale: f64, range: f64) -> [f64; 2] {
        let mut sum = [0.0; 2];
        let then = [self.position[0] + self.v[0] * time, self.position[1] + self.v[1] * time];
        for wall in self.walls_ahead(scene) {
            let (distance, offset) = wall.offset(then);
            let push = scale * self.speed / time * exponential((self.radius - distance) / range);
            let side = if crosses(wall, self.position, then) { -1.0 } else { 1.0 };
            let push = side * push / distance.max(SMALLEST);
            sum = [sum[0] + push * offset[0], sum[1] + push * offset[1]];
        }
        sum
    }
}

/// Whether the way from `a` to `b` leads through a wall.
#[inline(always)]
fn crosses(wall: &Segment, a: [f64; 2], b: [f64; 2]) -> bool {
    let side = |p: [f64; 2]| cross(wall.along, [p[0] - wall.start[0], p[1] - wall.start[1]]);
    let way = [b[0] - a[0], b[1] - a[1]];
    let end = wall.end();
    let of_way = |p: [f64; 2]| cross(way, [p[0] - a[0], p[1] - a[1]]);
    side(a) * side(b) < 0.0 && of_way(wall.start) * of_way(end) <= 0.0
}

#[inline(always)]
fn dot(a: [f64; 2], b: [f64; 2]) -> f64 {
    a[0] * b[0] + a[1] * b[1]
}

#[inline(always)]
fn cross(a: [f64; 2], b: [f64; 2]) -> f64 {
    a[0] * b[1] - a[1] * b[0]
}

#[inline(always)]
fn norm(v: [f64; 2]) -> f64 {
    dot(v, v).sqrt()
}

#[cfg(test)]
mod tests {
    use super::super::tests::accelerations;
    use super::*;

    fn planner() -> CollisionPrediction {
        CollisionPrediction::default()
    }

    #[test]
    fn a_collision_ahead_brakes_with_its_speed_over_its_time() {
        // Discs of 0.25 m, 4 m apart, closing at 2 m/s: contact after 1.75 s at |o| = 0.5, so the exponential is 1.
        let [x, y] = accelerations(&mut planner(), &[[0.0, 0.0, 1.0, 0.0], [4.0, 0.0, -1.0, 0.0]], &[])[0];
        assert!((x + 2000.0 * 2.0 / 1.75 / 80.0).abs() < 1e-6 && y.abs() < 1e-9, "{x} {y}");
    }

    #[test]
    fn without_a_collision_the_closest_approach_decides() {
        // Passing at 0.8 m after 2 s: o = (0, -0.8), and (0.5 - 0.8) / 0.08 in the exponent.
        let [x, y] = accelerations(&mut planner(), &[[0.0, 0.0, 1.0, 0.0], [4.0, 0.8, -1.0, 0.0]], &[])[0];
        let expected = -2000.0 * 2.0 / 2.0 * (-0.3_f64 / 0.08).exp() / 80.0;
        assert!(x.abs() < 1e-6 && (y - expected).abs() < 1e-6, "{x} {y} {expected}");
    }

    #[test]
    fn who_stands_exerts_nothing_on_who_stands_and_the_receding_are_ignored() {
        assert_eq!(accelerations(&mut planner(), &[[0.0; 4], [0.3, 0.0, 0.0, 0.0]], &[])[0], [0.0; 2]);
        let receding = [[0.0, 0.0, -1.0, 0.0], [0.6, 0.0, 1.0, 0.0]];
        assert!(accelerations(&mut planner(), &receding, &[])[0].iter().all(|a| a.abs() < 1e-9));
    }

    #[test]
    fn a_wall_on_the_way_pushes_back_also_when_the_walk_leads_through_it() {
        // Alone: contact with the wall 2.25 m ahead after 2 s, 0.25 m before it.
        let wall = [[2.25, -3.0, 2.25, 3.0]];
        let [x, y] = accelerations(&mut planner(), &[[0.0, 0.0, 1.0, 0.0]], &wall)[0];
        assert!((x + 2000.0 / 2.0 / 80.0).abs() < 1e-6 && y.abs() < 1e-9, "{x} {y}");
        // A collision after 3 s takes the prediction through the wall; it still pushes back.
        let rows = [[0.0, 0.0, 1.0, 0.0], [6.5, 0.0, -1.0, 0.0]];
        let with = accelerations(&mut planner(), &rows, &wall)[0][0];
        let without = accelerations(&mut planner(), &rows, &[])[0][0];
        let expected = -2000.0 / 3.0 * ((0.25 - 0.75_f64) / 0.08).exp() / 80.0;
        assert!((with - without - expected).abs() < 1e-6, "{with} {without} {expected}");
    }
}
