//! Sweeps over the pairs that move overlapping objects apart (robot-world specification, section 12.6).
//!
//! Gauss-Seidel over positions with inverse masses, after the manner of position-based dynamics. Nothing here knows velocities or drives
//! beyond the few numbers it is given; what the moves mean for the objects is decided in `apply`.

use crate::Point;
use crate::contact::bodies::{Bodies, Part};
use crate::contact::overlap::{Overlap, along};
use crate::objects::Objects;
use crate::shape::{cross, dot, minus};

/// Sweeps at most.
const SWEEPS: usize = 32;
/// Objects are parted by this much more than they overlap, metres.
const GAP: f64 = 1e-6;
/// An overlap of less is rounding, metres.
const ROUNDING: f64 = 1e-12;
/// A lever shorter than this turns nothing, metres.
const LEVER: f64 = 1e-6;
/// Loads equal to this part are equal: sums of equal masses differ in the last digit.
const EQUAL: f64 = 1e-9;
const NONE: u32 = u32::MAX;

/// Two objects that may touch, by their bodies, a before b.
#[derive(Clone, Debug)]
pub(super) struct Pair {
    pub(super) a: u32,
    pub(super) b: u32,
    /// Sum of what separated them, kg m.
    pub(super) impulse: f64,
    /// The deepest contact of the step.
    pub(super) deepest: Option<Overlap>,
    pub(super) bounce: Option<Bounce>,
    moved: bool,
    /// The overlap when the bodies had been moved `at` times.
    overlap: Option<Overlap>,
    at: [u32; 2],
    /// Both are pushable: one may be part of the other's load. The normal while they touch, as of the start of the sweep.
    pushable: bool,
    touch: Option<Point>,
}

/// A bounce to come: how fast the two must part along a normal.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Bounce {
    pub(super) normal: Point,
    pub(super) target: f64,
    /// Which of a and b could be moved.
    pub(super) movable: [bool; 2],
}

/// A direction in which a body may not move in this sweep.
#[derive(Clone, Copy, Debug)]
struct Block {
    direction: Point,
    friction: f64,
    next: u32,
}

/// A pair of pushable bodies, in the list of one of them.
#[derive(Clone, Copy, Debug)]
struct Link {
    pair: u32,
    other: u32,
    next: u32,
}

/// The sweeps, with all buffers.
#[derive(Clone, Debug, Default)]
pub(super) struct Sweeps {
    pub(super) pairs: Vec<Pair>,
    /// Pairs in contact, in the order of their first.
    pub(super) recorded: Vec<u32>,
    blocks: Vec<Block>,
    first_block: Vec<u32>,
    links: Vec<Link>,
    first_link: Vec<u32>,
    visited: Vec<bool>,
    stack: Vec<u32>,
    reached: Vec<u32>,
}

/// What blocks leave of a motion: the motion, and how far it gets in the direction wanted.
fn allowed(direction: Point, block: Option<(Point, f64)>, own_friction: Option<f64>) -> (Point, f64) {
    let Some((against, friction)) = block else { return (direction, 1.0) };
    let pressed = dot(direction, against);
    if pressed <= 0.0 {
        return (direction, 1.0);
    }
    let motion = along(direction, against, -pressed);
    let gain = dot(motion, direction);
    let sticks =
        own_friction.is_some_and(|own| motion[0].hypot(motion[1]) <= (own + friction) / 2.0 * pressed);
    if gain <= 1e-12 || sticks { ([0.0; 2], 0.0) } else { (motion, gain) }
}

/// What one side of a contact could do.
#[derive(Clone, Copy, Debug)]
struct Side {
    motion: Point,
    share: f64,
    lever: f64,
    turn: f64,
}

impl Side {
    fn freeze(&mut self) {
        (self.share, self.turn) = (0.0, 0.0);
    }
    fn moves(&self) -> bool {
        self.share + self.turn > 0.0
    }
}

impl Sweeps {
    /// Takes the pairs of a step, in order.
    pub(super) fn prepare(&mut self, bodies: &Bodies, pairs: impl Iterator<Item = [u32; 2]>) {
        self.pairs.clear();
        self.recorded.clear();
        self.links.clear();
        let count = bodies.iter().len();
        for list in [&mut self.first_block, &mut self.first_link] {
            list.clear();
            list.resize(count, NONE);
        }
        self.visited.clear();
        self.visited.resize(count, false);
        for [a, b] in pairs {
            let pushable = [a, b].iter().all(|&slot| bodies[slot].part == Part::Pushable);
            if pushable {
                for (one, other) in [(a, b), (b, a)] {
                    let next = self.first_link[one as usize];
                    self.first_link[one as usize] = self.links.len() as u32;
                    self.links.push(Link { pair: self.pairs.len() as u32, other, next });
                }
            }
            self.pairs.push(Pair {
                a,
                b,
                impulse: 0.0,
                deepest: None,
                bounce: None,
                moved: false,
                overlap: None,
                at: [NONE; 2],
                pushable,
                touch: None,
            });
        }
    }

    /// Sweeps until nothing moves any more.
    pub(super) fn run(&mut self, bodies: &mut Bodies, objects: &Objects) {
        let driven = bodies.iter().any(|body| body.part == Part::Driven);
        for _ in 0..SWEEPS {
            self.blocks.clear();
            self.first_block.fill(NONE);
            if driven {
                for index in 0..self.pairs.len() {
                    if self.pairs[index].pushable {
                        self.pairs[index].touch =
                            self.find(index, bodies, objects).map(|overlap| overlap.normal);
                    }
                }
            }
            let mut moved = false;
            for index in 0..self.pairs.len() {
                moved |= self.settle(index, bodies, objects);
            }
            if !moved {
                return;
            }
        }
    }

    /// The overlap of a pair now.
    fn find(&mut self, index: usize, bodies: &mut Bodies, objects: &Objects) -> Option<Overlap> {
        let pair = &mut self.pairs[index];
        let at = [bodies[pair.a].moves, bodies[pair.b].moves];
        if pair.at != at {
            pair.at = at;
            pair.overlap = bodies.overlap(objects, pair.a, pair.b);
        }
        pair.overlap
    }

    /// Parts one pair, if it overlaps; whether anything moved.
    fn settle(&mut self, index: usize, bodies: &mut Bodies, objects: &Objects) -> bool {
        let Some(mut contact) = self.find(index, bodies, objects) else { return false };
        contact.depth += GAP;
        let normal = contact.normal;
        let opposite = [-normal[0], -normal[1]];
        let (a, b) = (self.pairs[index].a, self.pairs[index].b);
        let mut one = self.side(bodies, a, normal, contact.point, normal);
        let mut two = self.side(bodies, b, opposite, contact.point, normal);
        self.drive(bodies, [a, b], opposite, &mut one, &mut two);
        self.drive(bodies, [b, a], normal, &mut two, &mut one);
        let total = one.share + one.turn + two.share + two.turn;
        if total.is_nan() || total <= 0.0 {
            return false;
        }
        let moving = contact.depth > ROUNDING;
        if moving {
            let k = contact.depth / total;
            for (slot, side, sign) in [(a, one, 1.0), (b, two, -1.0)] {
                let by = if side.share > 0.0 { k * bodies[slot].inverse_mass } else { 0.0 };
                let turn =
                    if side.turn > 0.0 { sign * k * bodies[slot].inverse_inertia * side.lever } else { 0.0 };
                if side.moves() {
                    bodies.advance(slot, [by * side.motion[0], by * side.motion[1]], turn);
                }
            }
            let pair = &mut self.pairs[index];
            pair.impulse += k;
            if !pair.moved {
                pair.moved = true;
                pair.bounce = bounce(bodies, objects, [a, b], normal, [one.moves(), two.moves()]);
            }
        }
        if two.share <= 0.0 && bodies[a].inverse_mass > 0.0 {
            self.block(a, opposite, bodies[b].friction);
        }
        if one.share <= 0.0 && bodies[b].inverse_mass > 0.0 {
            self.block(b, normal, bodies[a].friction);
        }
        let pair = &mut self.pairs[index];
        if pair.deepest.is_none() {
            self.recorded.push(index as u32);
        }
        if pair.deepest.is_none_or(|deepest| contact.depth > deepest.depth) {
            pair.deepest = Some(contact);
        }
        moving
    }

    /// What a body can do when it is to move in a direction.
    fn side(&self, bodies: &Bodies, slot: u32, direction: Point, point: Point, normal: Point) -> Side {
        let body = &bodies[slot];
        let own_friction = (body.part != Part::Driven).then_some(body.friction);
        let (motion, gain) = allowed(direction, self.hardest(slot, direction), own_friction);
        let center = body.center();
        let lever = cross(minus(point, center), normal);
        let lever = if lever.abs() < LEVER { 0.0 } else { lever };
        Side { motion, share: body.inverse_mass * gain, lever, turn: body.inverse_inertia * lever * lever }
    }

    /// The block that a direction runs into the most, the first of equals.
    fn hardest(&self, slot: u32, direction: Point) -> Option<(Point, f64)> {
        let mut best: Option<(f64, &Block)> = None;
        let mut at = self.first_block[slot as usize];
        while at != NONE {
            let block = &self.blocks[at as usize];
            let pressed = dot(direction, block.direction);
            // The list runs from the last to the first.
            if best.is_none_or(|(most, _)| pressed >= most) {
                best = Some((pressed, block));
            }
            at = block.next;
        }
        best.map(|(_, block)| (block.direction, block.friction))
    }

    fn block(&mut self, slot: u32, direction: Point, friction: f64) {
        let next = self.first_block[slot as usize];
        self.first_block[slot as usize] = self.blocks.len() as u32;
        self.blocks.push(Block { direction, friction, next });
    }

    /// A driver pushes a passive body along `push` if its grip bears the load, else it stalls.
    fn drive(
        &mut self,
        bodies: &Bodies,
        [driver, body]: [u32; 2],
        push: Point,
        own: &mut Side,
        other: &mut Side,
    ) {
        let pushes = bodies[driver].part == Part::Driven && bodies[body].part == Part::Pushable;
        if !pushes {
            return;
        }
        if bodies[driver].grip * (1.0 + EQUAL) >= self.load(bodies, body, push) {
            if other.share > 0.0 {
                own.freeze();
            }
        } else {
            other.freeze();
        }
    }

    /// Ground friction of a body and of every pushable body ahead of it that it would push along.
    fn load(&mut self, bodies: &Bodies, first: u32, push: Point) -> f64 {
        let mut load = 0.0;
        self.stack.push(first);
        self.visited[first as usize] = true;
        while let Some(slot) = self.stack.pop() {
            self.reached.push(slot);
            load += bodies[slot].grip;
            let mut at = self.first_link[slot as usize];
            while at != NONE {
                let Link { pair, other, next } = self.links[at as usize];
                at = next;
                let pair = &self.pairs[pair as usize];
                let Some(touch) = pair.touch.filter(|_| !self.visited[other as usize]) else { continue };
                // The normal from the other body to this one.
                let back = if pair.a == slot { touch } else { [-touch[0], -touch[1]] };
                if dot(push, back) < -EQUAL {
                    self.visited[other as usize] = true;
                    self.stack.push(other);
                }
            }
        }
        for slot in self.reached.drain(..) {
            self.visited[slot as usize] = false;
        }
        load
    }
}

/// The bounce of a pair that has just been parted for the first time.
fn bounce(
    bodies: &Bodies,
    objects: &Objects,
    [a, b]: [u32; 2],
    normal: Point,
    movable: [bool; 2],
) -> Option<Bounce> {
    let (a, b) = (bodies[a].row as usize, bodies[b].row as usize);
    let restitution = (objects.restitution[a] + objects.restitution[b]) / 2.0;
    let (va, vb) = (objects.velocity_xy[a], objects.velocity_xy[b]);
    let approach = dot(minus(va, vb), normal);
    (restitution > 0.0 && approach < 0.0).then_some(Bounce {
        normal,
        target: -restitution * approach,
        movable,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_free_body_moves_as_wanted() {
        assert_eq!(allowed([1.0, 0.0], None, Some(0.5)), ([1.0, 0.0], 1.0));
        assert_eq!(allowed([1.0, 0.0], Some(([-1.0, 0.0], 0.5)), Some(0.5)), ([1.0, 0.0], 1.0));
        assert_eq!(allowed([1.0, 0.0], Some(([0.0, 1.0], 0.5)), Some(0.5)), ([1.0, 0.0], 1.0));
    }

    #[test]
    fn a_blocked_body_slides_along_or_sticks_within_the_friction_cone() {
        // 30 degrees off the wall's normal: tan(30) = 0.577 beats a friction of 0.5, not one of 0.6.
        let direction = [0.5, -(0.75_f64.sqrt())];
        let wall = [0.0, -1.0];
        let (motion, gain) = allowed(direction, Some((wall, 0.5)), Some(0.5));
        assert!((motion[0] - 0.5).abs() < 1e-12 && motion[1].abs() < 1e-12 && (gain - 0.25).abs() < 1e-12);
        assert_eq!(allowed(direction, Some((wall, 0.6)), Some(0.6)), ([0.0; 2], 0.0));
        // Friction of a pair is the mean of both.
        assert_eq!(allowed(direction, Some((wall, 1.0)), Some(0.2)), ([0.0; 2], 0.0));
        let (_, driven) = allowed(direction, Some((wall, 0.6)), None);
        assert!((driven - 0.25).abs() < 1e-12, "a driven body never sticks");
        assert_eq!(allowed([0.0, -1.0], Some((wall, 0.0)), None), ([0.0; 2], 0.0));
    }
}
