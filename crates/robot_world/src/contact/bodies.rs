//! The objects of a solve with their convex pieces, and how they have moved in it so far (robot-world specification, section 12.4).
//!
//! Places pieces and finds where two objects overlap; who moves by how much is decided in `sweep`.

use std::ops::Range;

use crate::Point;
use crate::contact::many::{Many, into_frame};
use crate::contact::overlap::{Convex, Overlap, along, overlap, unit};
use crate::objects::Objects;
use crate::shape::{Piece, Placed, ShapeKind, minus, rotate};

/// Objects whose boxes are farther apart than this do not touch; wider than any gap that still counts as touching.
const SLACK: f64 = 1e-3;
/// An immovable object of more pieces than this looks its pieces up by place instead of placing them all.
const FEW: usize = 24;

/// How an object takes part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// Moves itself.
    Driven,
    /// Has no drive, a finite mass and is not static.
    Pushable,
    /// Static, or moved by somebody else.
    Fixed,
}

/// One object of a solve.
#[derive(Clone, Debug)]
pub(super) struct Body {
    /// Row among the objects.
    pub(super) row: u32,
    /// How it takes part.
    pub(super) part: Part,
    /// Centre of mass after the kinematics step.
    pub(super) start: Point,
    /// Moved since.
    pub(super) shift: Point,
    /// Turned since, radians.
    pub(super) turn: f64,
    /// 1/kg, 0 for what does not move.
    pub(super) inverse_mass: f64,
    /// 1/(kg m^2), likewise.
    pub(super) inverse_inertia: f64,
    /// Ground friction force that a push must overcome, or traction, N.
    pub(super) grip: f64,
    /// Coefficient.
    pub(super) friction: f64,
    /// Times it was moved: results of before are out of date.
    pub(super) moves: u32,
    bounds: [f64; 4],
    pieces: Range<usize>,
    many: Option<usize>,
}

impl Body {
    /// Centre of mass now.
    pub(super) fn center(&self) -> Point {
        along(self.start, self.shift, 1.0)
    }
}

/// 1/mass of what contacts can move, 0 for everything else.
pub(super) fn inverse_mass(objects: &Objects, row: usize) -> f64 {
    if objects.is_movable(row) { inverse(objects.mass[row]) } else { 0.0 }
}

fn inverse(value: f64) -> f64 {
    if value > 0.0 { (1.0 / value).min(f64::MAX) } else { 0.0 }
}

/// The objects of a solve.
#[derive(Clone, Debug, Default)]
pub(super) struct Bodies {
    list: Vec<Body>,
    /// Body of a row.
    slots: Vec<u32>,
    /// Pieces as they are now.
    now: Pieces,
    /// Points and normals of `now` before anything moved.
    start: Pieces,
    /// Pieces looked up for the test at hand.
    found: Pieces,
    /// Numbers of those pieces.
    numbers: Vec<u32>,
    many: Vec<Many>,
}

const NONE: u32 = u32::MAX;

impl std::ops::Index<u32> for Bodies {
    type Output = Body;
    fn index(&self, slot: u32) -> &Body {
        &self.list[slot as usize]
    }
}

impl Bodies {
    /// Forgets the objects of the last solve.
    pub(super) fn clear(&mut self, rows: usize) {
        self.list.clear();
        self.slots.clear();
        self.slots.resize(rows, NONE);
        self.now.clear();
        self.start.clear();
    }

    /// All of them, in the order of [`Bodies::enter`].
    pub(super) fn iter(&self) -> impl ExactSizeIterator<Item = &Body> {
        self.list.iter()
    }

    /// The body of an object that has entered.
    pub(super) fn of(&self, row: u32) -> u32 {
        self.slots[row as usize]
    }

    /// Makes a body of an object unless there is one.
    pub(super) fn enter(&mut self, objects: &Objects, row: u32, gravity: f64) {
        let index = row as usize;
        if self.slots[index] != NONE {
            return;
        }
        self.slots[index] = self.list.len() as u32;
        let mass_inverse = inverse_mass(objects, index);
        let shape = &objects.shape[index];
        let at = pose(objects, index);
        let first = self.now.placed.len();
        let mut many = None;
        if mass_inverse == 0.0 && shape.pieces.len() > FEW {
            many = Some(Many::of(&mut self.many, shape));
        } else {
            shape.pieces.iter().for_each(|piece| self.now.place(piece, &at));
            self.start.points.extend_from_slice(&self.now.points[self.start.points.len()..]);
            self.start.normals.extend_from_slice(&self.now.normals[self.start.normals.len()..]);
        }
        let fixed = objects.is_static[index] || objects.puppet[index];
        let part = match (fixed, &objects.model[index]) {
            (true, _) => Part::Fixed,
            (false, Some(_)) => Part::Driven,
            (false, None) if mass_inverse > 0.0 => Part::Pushable,
            (false, None) => Part::Fixed,
        };
        let mass = objects.mass[index];
        let pieces = first..self.now.placed.len();
        self.list.push(Body {
            row,
            part,
            start: objects.centroid[index],
            shift: [0.0; 2],
            turn: 0.0,
            inverse_mass: mass_inverse,
            inverse_inertia: if mass_inverse > 0.0 { inverse(objects.inertia[index]) } else { 0.0 },
            grip: if mass.is_finite() { objects.friction[index] * mass * gravity } else { f64::INFINITY },
            friction: objects.friction[index],
            moves: 0,
            bounds: if many.is_some() { objects.bounds[index] } else { self.now.bounds(pieces.clone()) },
            pieces,
            many,
        });
    }

    /// Moves and turns an object about its centre of mass.
    pub(super) fn advance(&mut self, slot: u32, by: Point, turn: f64) {
        let body = &mut self.list[slot as usize];
        body.shift = along(body.shift, by, 1.0);
        body.turn += turn;
        body.moves += 1;
        let (turned, center, shift) = (body.turn != 0.0, body.start, body.shift);
        let rotation = <[f64; 2]>::from(body.turn.sin_cos());
        for placed in &mut self.now.placed[body.pieces.clone()] {
            for i in placed.points.clone() {
                let start = self.start.points[i];
                let at =
                    if turned { along(center, rotate(rotation, minus(start, center)), 1.0) } else { start };
                self.now.points[i] = along(at, shift, 1.0);
            }
            for i in placed.normals.clone() {
                self.now.normals[i] = rotate(rotation, self.start.normals[i]);
            }
            placed.bounds = bounds(&self.now.points[placed.points.clone()], placed.radius);
        }
        body.bounds = self.now.bounds(body.pieces.clone());
    }

    /// Where two objects touch: their pair of pieces with the largest depth, the first of equals.
    pub(super) fn overlap(&mut self, objects: &Objects, a: u32, b: u32) -> Option<Overlap> {
        let [first, second] = [a, b].map(|slot| &self.list[slot as usize]);
        if !near(&first.bounds, &second.bounds) {
            return None;
        }
        // Two immovable objects are never compared, so at most one is looked up.
        let looked_up = [(first, second), (second, first)].into_iter().find_map(|(body, other)| {
            let many = &self.many[body.many?];
            Some((many, pose(objects, body.row as usize), other.bounds))
        });
        if let Some((many, at, area)) = looked_up {
            self.numbers.clear();
            many.within(&into_frame(&area, &at), &mut self.numbers);
            self.found.clear();
            for &number in &self.numbers {
                self.found.place(&at.shape.pieces[number as usize], &at);
            }
        }
        let [(of_a, a), (of_b, b)] = [first, second].map(|body| match body.many {
            Some(_) => (&self.found, 0..self.found.placed.len()),
            None => (&self.now, body.pieces.clone()),
        });
        let mut best: Option<Overlap> = None;
        for one in &of_a.placed[a] {
            if !near(&one.bounds, &second.bounds) {
                continue;
            }
            for two in &of_b.placed[b.clone()] {
                if near(&one.bounds, &two.bounds)
                    && let Some(found) = overlap(&of_a.convex(one), &of_b.convex(two))
                    && best.is_none_or(|best| found.depth > best.depth)
                {
                    best = Some(found);
                }
            }
        }
        best
    }
}

/// Where an object's body frame is. A map stands where it is whatever its pose.
fn pose(objects: &Objects, row: usize) -> Placed<'_> {
    let shape = &objects.shape[row];
    match shape.kind {
        ShapeKind::Map(_) => Placed { shape, position: [0.0; 2], rotation: [0.0, 1.0] },
        _ => objects.placed(row),
    }
}

/// Whether two boxes meet, or nearly.
fn near(a: &[f64; 4], b: &[f64; 4]) -> bool {
    a[0] <= b[2] + SLACK && b[0] <= a[2] + SLACK && a[1] <= b[3] + SLACK && b[1] <= a[3] + SLACK
}

/// The box around points, or around a disc about its one point.
pub(super) fn bounds(points: &[Point], radius: Option<f64>) -> [f64; 4] {
    let reach = radius.unwrap_or(0.0);
    points.iter().fold(EMPTY, |[x, y, u, v], p| {
        [x.min(p[0] - reach), y.min(p[1] - reach), u.max(p[0] + reach), v.max(p[1] + reach)]
    })
}

/// A box around nothing.
pub(super) const EMPTY: [f64; 4] = [f64::INFINITY, f64::INFINITY, f64::NEG_INFINITY, f64::NEG_INFINITY];

/// The box around two boxes.
pub(super) fn join(a: [f64; 4], b: [f64; 4]) -> [f64; 4] {
    [a[0].min(b[0]), a[1].min(b[1]), a[2].max(b[2]), a[3].max(b[3])]
}

/// One piece in the world: its points, and its radius if it is a disc.
#[derive(Clone, Debug)]
struct Put {
    points: Range<usize>,
    normals: Range<usize>,
    radius: Option<f64>,
    bounds: [f64; 4],
}

/// Convex pieces in the world.
#[derive(Clone, Debug, Default)]
struct Pieces {
    placed: Vec<Put>,
    points: Vec<Point>,
    normals: Vec<Point>,
}

impl Pieces {
    fn clear(&mut self) {
        self.placed.clear();
        self.points.clear();
        self.normals.clear();
    }

    fn place(&mut self, piece: &Piece, at: &Placed<'_>) {
        let (first, first_normal) = (self.points.len(), self.normals.len());
        let (body, radius): (&[Point], _) = match piece {
            Piece::Disc { center, radius } => (std::slice::from_ref(center), Some(*radius)),
            Piece::Polygon(points) => (points, None),
            Piece::Segment(ends) => (ends, None),
        };
        self.points.extend(body.iter().map(|point| at.to_world(*point)));
        let points = &self.points[first..];
        let edges = match points.len() {
            0 | 1 => 0,
            2 => 1,
            count => count,
        };
        self.normals.extend((0..edges).filter_map(|i| {
            let (p, q) = (points[i], points[(i + 1) % points.len()]);
            unit([q[1] - p[1], p[0] - q[0]])
        }));
        let bounds = bounds(points, radius);
        self.placed.push(Put {
            points: first..self.points.len(),
            normals: first_normal..self.normals.len(),
            radius,
            bounds,
        });
    }

    fn bounds(&self, pieces: Range<usize>) -> [f64; 4] {
        self.placed[pieces].iter().fold(EMPTY, |all, piece| join(all, piece.bounds))
    }

    fn convex(&self, piece: &Put) -> Convex<'_> {
        let points = &self.points[piece.points.clone()];
        match piece.radius {
            Some(radius) => Convex::Disc { center: points[0], radius },
            None => Convex::Ring { points, normals: &self.normals[piece.normals.clone()] },
        }
    }
}
