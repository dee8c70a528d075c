//! Making way: who stands lets those pass who want to, and goes back to its place when nobody does any more.
//!
//! Only people without a goal make way, be it that they have none or that they have arrived. Planners give them no velocity; this does.
//! Who has somewhere to go, who is a robot, and whoever no planner moves is left alone.

use crate::planner::Scene;
use crate::pool::{Kind, NO_POLICY, Pool};

/// How far ahead of its body somebody asks others to make way, metres.
const AHEAD: f64 = 1.2;
/// Gap that one leaves for whoever passes, metres.
const GAP: f64 = 0.1;
/// Speed of stepping aside and back, m/s.
const SPEED: f64 = 0.6;
/// How long the way has to be free before one goes back, s.
const PATIENCE: f64 = 1.0;
/// Nearer than this one is back in its place, metres.
const BACK: f64 = 0.05;
/// Something slower than this does not want to pass, m/s.
const MOVING: f64 = 0.1;
/// Who arrived may make way by this much more before it counts as pushed away, metres.
pub(crate) const LEEWAY: f64 = 1.5;

/// Those who are making way, by row.
#[derive(Debug, Clone, Default)]
pub(crate) struct Yielding {
    places: Vec<Option<Place>>,
}

/// Where somebody stood, and how it is making way.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Place {
    home: [f64; 2],
    /// 1 to the left of who passes, -1 to the right.
    side: f64,
    /// How long nobody has wanted to pass, s.
    calm: f64,
}

/// Somebody who wants to pass.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Passer {
    /// Unit vector along which it goes.
    along: [f64; 2],
    /// How far ahead of it the row stands.
    ahead: f64,
    /// How far to the left of its line the row stands.
    left: f64,
    /// How far from its line the row has to stand.
    needed: f64,
}

impl Yielding {
    pub(crate) fn push(&mut self) {
        self.places.push(None);
    }

    pub(crate) fn swap_remove(&mut self, row: usize) {
        self.places.swap_remove(row);
    }

    /// Whether a row is making way or on its way back.
    #[inline]
    pub(crate) fn is_yielding(&self, row: usize) -> bool {
        self.places[row].is_some()
    }

    /// Velocity of a row that has no goal, one tick on.
    pub(crate) fn advance(&mut self, scene: &Scene<'_>, row: usize) -> [f64; 2] {
        let pool = scene.pool;
        let position = pool.position(row);
        if let Some(passer) = passer(scene, row) {
            let side = match self.places[row] {
                Some(place) => place.side,
                None => free_side(scene, row, &passer),
            };
            let home = self.places[row].map_or(position, |place| place.home);
            self.places[row] = Some(Place { home, side, calm: 0.0 });
            let missing = passer.needed - side * passer.left;
            return scaled([-passer.along[1], passer.along[0]], side * speed(missing, scene.dt));
        }
        let Some(place) = &mut self.places[row] else {
            return [0.0; 2];
        };
        place.calm += scene.dt;
        if place.calm < PATIENCE {
            return [0.0; 2];
        }
        let back = [place.home[0] - position[0], place.home[1] - position[1]];
        let distance = back[0].hypot(back[1]);
        if distance < BACK {
            self.places[row] = None;
            return [0.0; 2];
        }
        scaled(back, speed(distance, scene.dt) / distance)
    }

    /// A row has somewhere to go.
    #[inline]
    pub(crate) fn leave(&mut self, row: usize) {
        self.places[row] = None;
    }
}

/// Whether a row may make way at all.
#[inline]
pub(crate) fn stands(pool: &Pool, row: usize) -> bool {
    !pool.has_goal[row] && pool.kind[row] == Kind::Human && pool.policy[row] != NO_POLICY
}

/// Of those a row sees and stands in the way of, the one that is upon it first.
fn passer(scene: &Scene<'_>, row: usize) -> Option<Passer> {
    let asking = scene.neighbours.of(row).iter().filter_map(|other| asks(scene.pool, *other as usize, row));
    asking.reduce(|first, next| if next.ahead < first.ahead { next } else { first })
}

/// How `other` wants to pass `row`, if it does.
fn asks(pool: &Pool, other: usize, row: usize) -> Option<Passer> {
    let (along, to_go) = wish(pool, other)?;
    let apart = [pool.x[row] - pool.x[other], pool.y[row] - pool.y[other]];
    let ahead = apart[0] * along[0] + apart[1] * along[1];
    let left = along[0] * apart[1] - along[1] * apart[0];
    let bodies = pool.radius[row] + pool.radius[other];
    let needed = bodies + GAP;
    let near = ahead > 0.0 && ahead < bodies + AHEAD && ahead - bodies < to_go;
    (near && left.abs() < needed).then_some(Passer { along, ahead, left, needed })
}

/// Where somebody is going and how far.
fn wish(pool: &Pool, row: usize) -> Option<([f64; 2], f64)> {
    if pool.has_goal[row] && pool.desired_velocity[row] > MOVING {
        let to = [pool.goal_x[row] - pool.x[row], pool.goal_y[row] - pool.y[row]];
        let distance = to[0].hypot(to[1]);
        return (distance > BACK).then(|| (scaled(to, 1.0 / distance), distance));
    }
    let v = [pool.vx[row], pool.vy[row]];
    let speed = v[0].hypot(v[1]);
    // Whom somebody else moves tells nobody its goal.
    (pool.policy[row] == NO_POLICY && speed > MOVING).then(|| (scaled(v, 1.0 / speed), f64::INFINITY))
}

/// The side on which a row already stands, unless a wall is there; in doubt the left, since others lean to their right.
fn free_side(scene: &Scene<'_>, row: usize, passer: &Passer) -> f64 {
    let side = if passer.left > -BACK { 1.0 } else { -1.0 };
    let walled = |side: f64| {
        let missing = side * (passer.needed - side * passer.left);
        let [x, y] = scene.pool.position(row);
        let there = [x - passer.along[1] * missing, y + passer.along[0] * missing];
        scene.walls.near(there).any(|wall| wall.offset(there).0 < scene.pool.radius[row])
    };
    if walled(side) && !walled(-side) { -side } else { side }
}

/// Speed over what is left of a way, so that one does not overshoot.
fn speed(distance: f64, dt: f64) -> f64 {
    SPEED.min(0.2 * distance / dt)
}

fn scaled(v: [f64; 2], factor: f64) -> [f64; 2] {
    [v[0] * factor, v[1] * factor]
}
