//! From edges to way-points: the shortest line through a channel that keeps clear of its corners.
//!
//! The funnel gives the corners a taut string would touch; around each of them lies a disc, and the string is pulled again. Corners
//! that come too near are added, corners that it no longer touches are taken out. Arcs become few straight legs outside the disc.

use super::search::{Rules, Spot};
use super::{Mesh, SLACK, cross, distance};
use crate::walls::Segment;

/// Times a search is done again without an edge that turned out to lead nowhere.
const BANS: usize = 4;
/// Share of the gap at a corner, and of the way to start or goal, that its disc may take.
const OF_GAP: f64 = 0.45;
const OF_WAY: f64 = 0.8;
/// An arc is replaced by legs that turn by at most this, radians.
const TURN: f64 = std::f64::consts::FRAC_PI_4;
/// Rounds of pulling per corner there may be.
const ROUNDS: usize = 6;
/// Times a corner is added that is none of the channel's.
const REPAIRS: usize = 4;
/// A string whose legs come this much nearer to a wall than asked for is good enough, metres; legs around a disc may, in narrow places.
const TOLERANCE: f64 = 0.02;

/// A disc that the path goes around, or with no radius one of its ends.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Corner {
    at: [f64; 2],
    radius: f64,
    /// 1 if it lies to the left of the path, -1 to the right, 0 for the ends.
    side: f64,
    /// The first edge of the channel that it belongs to.
    portal: usize,
}

/// How large discs at corners are, metres.
#[derive(Debug, Clone, Copy)]
struct Discs {
    least: f64,
    most: f64,
}

/// An edge of the channel as seen by who crosses it.
#[derive(Debug, Clone, Copy)]
struct Portal {
    left: u32,
    right: u32,
}

impl Mesh {
    /// Way-points from `start` to `goal` with `start` first, and whether they end at the goal; or as near to it as one can get.
    pub(in crate::global) fn plan(&mut self, start: [f64; 2], goal: [f64; 2]) -> (Vec<[f64; 2]>, bool) {
        let freed = self.freed(start);
        let (from, mut to) = (self.spot(freed), self.spot(goal));
        let mut squeeze = false;
        let mut reaches = self.are_joined(from, to);
        if !reaches && !self.lines.clear(freed, freed, self.inflation - TOLERANCE) {
            // Who stands where it is too narrow may leave through what is too narrow.
            squeeze = true;
            reaches = self.channel(from, to, Rules { banned: &[], squeeze }).is_some();
            squeeze = reaches;
        }
        let end = if reaches { goal } else { self.nearest_reachable(from, to.at) };
        if !reaches {
            to = self.spot(end);
        }
        let mut points = vec![start];
        let mut push = |p: [f64; 2]| {
            if points.last().is_none_or(|last| distance(*last, p) > SLACK) {
                points.push(p);
            }
        };
        push(freed);
        if self.lines.clear(freed, end, self.comfort - 0.005) {
            push(end);
            return (points, reaches);
        }
        push(from.at);
        self.string(from, to, squeeze).into_iter().for_each(&mut push);
        push(to.at);
        push(end);
        if points.len() == 1 {
            points.push(end);
        }
        (points, reaches)
    }

    /// Way-points between two spots, without them.
    fn string(&mut self, from: Spot, to: Spot, squeeze: bool) -> Vec<[f64; 2]> {
        let ends = [from.at, to.at];
        let (inflation, comfort) = (self.inflation, self.comfort);
        let mut banned = Vec::new();
        let mut fallback = None;
        for attempt in 0..=BANS {
            let Some(edges) = self.channel(from, to, Rules { banned: &banned, squeeze }) else {
                break;
            };
            let portals = self.portals(from, to, &edges);
            let taut = self.funnel(ends, &portals);
            for most in [comfort, inflation].into_iter().filter(|_| !squeeze) {
                let string = self.pulled(ends, &portals, &taut, Discs { least: inflation, most });
                let Some(leg) = self.first_conflict(ends, &string, inflation) else {
                    return string;
                };
                if most == inflation {
                    banned.extend(self.culprit(ends, &string, leg, &edges));
                }
            }
            // As clear as there is room, or at least through no wall.
            fallback = fallback.or_else(|| {
                let string = self.pulled(ends, &portals, &taut, Discs { least: 0.0, most: inflation });
                let crosses = self.first_conflict(ends, &string, 0.0).is_some();
                Some(if crosses { taut.iter().map(|corner| corner.at).collect() } else { string })
            });
            if banned.len() <= attempt {
                break;
            }
        }
        fallback.unwrap_or_default()
    }

    /// Edges as they are crossed. One that goes through start or goal is none to be crossed, since one is on it already.
    fn portals(&self, from: Spot, to: Spot, edges: &[u32]) -> Vec<Portal> {
        let mut triangle = from.triangle;
        let mut portals = Vec::with_capacity(edges.len());
        let mut starts = true;
        for edge in edges {
            let corners = self.triangles[triangle as usize];
            let opposite = self.edges_of[triangle as usize].iter().position(|e| e == edge).unwrap_or(0);
            let portal = Portal { right: corners[(opposite + 1) % 3], left: corners[(opposite + 2) % 3] };
            triangle = self.other_side(*edge, triangle);
            starts = starts && self.is_on(from.at, portal);
            if !starts {
                portals.push(portal);
            }
        }
        while portals.last().is_some_and(|portal| self.is_on(to.at, *portal)) {
            portals.pop();
        }
        portals
    }

    fn is_on(&self, p: [f64; 2], portal: Portal) -> bool {
        let [a, b] = [portal.left, portal.right].map(|v| self.points[v as usize]);
        Segment::between(a, b).offset(p).0 < SLACK
    }

    /// Corners of the shortest line through the portals (Lee and Preparata 1984), without clearance.
    fn funnel(&self, [start, goal]: [[f64; 2]; 2], portals: &[Portal]) -> Vec<Corner> {
        let point = |v: u32| self.points[v as usize];
        let corner = |at: [f64; 2], side: f64, portal: usize| Corner { at, radius: 0.0, side, portal };
        let mut corners: Vec<Corner> = Vec::new();
        let mut apex = start;
        let (mut left, mut right) = ((start, 0), (start, 0));
        let mut at = 0;
        while at <= portals.len() {
            let (new_left, new_right) = match portals.get(at) {
                Some(portal) => (point(portal.left), point(portal.right)),
                None => (goal, goal),
            };
            let mut turned = None;
            if cross(apex, right.0, new_right) >= 0.0 {
                if right.0 == apex || cross(apex, left.0, new_right) < 0.0 {
                    right = (new_right, at);
                } else {
                    turned = Some((left, 1.0));
                }
            }
            if turned.is_none() && cross(apex, left.0, new_left) <= 0.0 {
                if left.0 == apex || cross(apex, right.0, new_left) > 0.0 {
                    left = (new_left, at);
                } else {
                    turned = Some((right, -1.0));
                }
            }
            if let Some(((place, portal), side)) = turned {
                if place != goal && corners.last().is_none_or(|last| last.at != place) {
                    corners.push(corner(place, side, portal));
                }
                apex = place;
                (left, right) = ((apex, portal), (apex, portal));
                at = portal;
            }
            at += 1;
        }
        corners
    }

    /// The string around discs at the corners of the channel.
    fn pulled(
        &self,
        ends: [[f64; 2]; 2],
        portals: &[Portal],
        taut: &[Corner],
        discs: Discs,
    ) -> Vec<[f64; 2]> {
        let [start, goal] = ends;
        let chain = self.chain(ends, portals, discs);
        let radius =
            |c: &Corner| chain.iter().find(|k| k.at == c.at && k.side == c.side).map_or(0.0, |k| k.radius);
        let end = |at: [f64; 2], portal: usize| Corner { at, radius: 0.0, side: 0.0, portal };
        let mut corners = vec![end(start, 0)];
        corners.extend(taut.iter().map(|c| Corner { radius: radius(c), ..*c }));
        corners.push(end(goal, portals.len()));
        let mut repairs = 0;
        for _ in 0..ROUNDS * (portals.len() + 4) {
            let legs = legs(&corners);
            if let Some(slack) = most_slack(&corners, &legs) {
                corners.remove(slack);
                continue;
            }
            let mut lacking = self.worst(&corners, &legs, &chain);
            if lacking.is_none() && discs.least > 0.0 && repairs < REPAIRS {
                repairs += 1;
                lacking = self.bystander(&corners, &legs);
            }
            let Some((leg, corner)) = lacking else {
                break;
            };
            corners.insert(leg + 1, corner);
        }
        round(&corners)
    }

    /// The end of a wall, of whatever part of the mesh, that a leg comes too near to.
    fn bystander(&self, corners: &[Corner], legs: &[Leg]) -> Option<(usize, Corner)> {
        legs.iter().enumerate().find_map(|(number, leg)| {
            let to = [leg.from[0] + leg.length * leg.way[0], leg.from[1] + leg.length * leg.way[1]];
            let (wall, _) = self.lines.nearest(leg.from, to, self.inflation - SLACK)?;
            let (wall, line) = (self.lines.segments()[wall], Segment::between(leg.from, to));
            let ends = [wall.start, wall.end()];
            let off = |p: &[f64; 2]| line.offset(*p).0;
            let at = ends.into_iter().min_by(|a, b| off(a).total_cmp(&off(b)))?;
            let known = corners.iter().any(|c| distance(c.at, at) < SLACK && c.radius > 0.0);
            let way = distance(corners[0].at, at).min(distance(corners[corners.len() - 1].at, at));
            let radius = self.inflation.min(way * 0.999);
            let side = cross(leg.from, to, at).signum();
            let corner = Corner { at, radius, side, portal: corners[number].portal };
            (!known && off(&at) < self.inflation - SLACK && way > SLACK).then_some((number, corner))
        })
    }

    /// Discs at all corners of the channel, in the order of its edges.
    fn chain(&self, ends: [[f64; 2]; 2], portals: &[Portal], discs: Discs) -> Vec<Corner> {
        let mut chain: Vec<(u32, Corner)> = Vec::with_capacity(portals.len() + 2);
        let mut last = [usize::MAX; 2];
        for (number, portal) in portals.iter().enumerate() {
            for (which, (vertex, other)) in
                [(portal.left, portal.right), (portal.right, portal.left)].into_iter().enumerate()
            {
                let [at, across] = [vertex, other].map(|v| self.points[v as usize]);
                let solid = self.standing[vertex as usize] > 0;
                let gap =
                    if self.standing[other as usize] > 0 { distance(at, across) } else { f64::INFINITY };
                match chain.get_mut(last[which]).filter(|(known, _)| *known == vertex) {
                    Some((_, corner)) => corner.radius = corner.radius.min(OF_GAP * gap),
                    None => {
                        last[which] = chain.len();
                        let radius = if solid { OF_GAP * gap } else { 0.0 };
                        let side = 1.0 - 2.0 * which as f64;
                        chain.push((vertex, Corner { at, radius, side, portal: number }));
                    }
                }
            }
        }
        let sized = |(vertex, corner): (u32, Corner)| {
            let way = ends.iter().map(|end| distance(*end, corner.at)).fold(f64::INFINITY, f64::min);
            let radius = match self.standing[vertex as usize] {
                0 => 0.0,
                _ => corner.radius.min(OF_WAY * way).clamp(discs.least, discs.most).min(way * 0.999),
            };
            Corner { radius, ..corner }
        };
        chain.into_iter().map(sized).collect()
    }

    /// The corner that a leg comes nearest to, in comparison with what it asks for, and the leg.
    fn worst(&self, corners: &[Corner], legs: &[Leg], chain: &[Corner]) -> Option<(usize, Corner)> {
        let mut worst = (SLACK, None);
        for (number, leg) in legs.iter().enumerate() {
            let [before, after] = [corners[number], corners[number + 1]];
            let first = chain.partition_point(|corner| corner.portal + 1 < before.portal);
            for corner in chain[first..].iter().take_while(|corner| corner.portal <= after.portal) {
                if [before.at, after.at].contains(&corner.at) || corner.radius == 0.0 {
                    continue;
                }
                let along =
                    (corner.at[0] - leg.from[0]) * leg.way[0] + (corner.at[1] - leg.from[1]) * leg.way[1];
                if along <= 0.0 || along >= leg.length {
                    continue;
                }
                let beside =
                    cross([0.0; 2], leg.way, [corner.at[0] - leg.from[0], corner.at[1] - leg.from[1]]);
                let lacks = corner.radius - corner.side * beside;
                // What is far on the wrong side is a corner of a part of the channel that the leg does not pass.
                if lacks > worst.0 && lacks < 2.0 * corner.radius {
                    worst = (lacks, Some((number, *corner)));
                }
            }
        }
        worst.1
    }

    /// The first leg that is nearer to a wall than `asked`, as far as it matters.
    fn first_conflict(&self, [start, goal]: [[f64; 2]; 2], string: &[[f64; 2]], asked: f64) -> Option<usize> {
        let own = |p: [f64; 2]| self.lines.nearest(p, p, self.inflation).map_or(self.inflation, |(_, d)| d);
        let asked = (asked - TOLERANCE).max(0.5 * asked);
        let count = string.len() + 1;
        (0..count).find(|leg| {
            let a = if *leg == 0 { start } else { string[leg - 1] };
            let b = string.get(*leg).copied().unwrap_or(goal);
            // Legs that begin or end in a place that is too narrow cannot do better than that place.
            let asked = if *leg == 0 { asked.min(own(a) - SLACK) } else { asked };
            let asked = if *leg + 1 == count { asked.min(own(b) - SLACK) } else { asked };
            !self.lines.clear(a, b, asked.max(SLACK))
        })
    }

    /// The edge of the channel that a leg in conflict crosses nearest to the wall.
    fn culprit(
        &self,
        [start, goal]: [[f64; 2]; 2],
        string: &[[f64; 2]],
        leg: usize,
        edges: &[u32],
    ) -> Option<u32> {
        let a = if leg == 0 { start } else { string[leg - 1] };
        let b = string.get(leg).copied().unwrap_or(goal);
        let (wall, _) = self.lines.nearest(a, b, self.inflation)?;
        let wall = self.lines.segments()[wall];
        let off = |edge: &u32| {
            let [p, q] = self.edges[*edge as usize].ends.map(|end| self.points[end as usize]);
            let middle = [0.5 * (p[0] + q[0]), 0.5 * (p[1] + q[1])];
            let on_leg = Segment::between(a, b).offset(middle).0;
            on_leg + wall.offset(middle).0
        };
        edges.iter().min_by(|a, b| off(a).total_cmp(&off(b))).copied()
    }
}

/// The straight part between two discs.
#[derive(Debug, Clone, Copy)]
struct Leg {
    from: [f64; 2],
    way: [f64; 2],
    length: f64,
}

/// The line that touches two discs one after the other.
fn leg(a: &Corner, b: &Corner) -> Leg {
    let apart = [b.at[0] - a.at[0], b.at[1] - a.at[1]];
    let length = apart[0].hypot(apart[1]).max(1e-12);
    let offset = b.side * b.radius - a.side * a.radius;
    // Discs that overlap give way in proportion.
    let shrink = (0.999 * length / offset.abs().max(1e-12)).min(1.0);
    let sin = -offset * shrink / length;
    let cos = (1.0 - sin * sin).max(0.0).sqrt();
    let along = [apart[0] / length, apart[1] / length];
    let way = [along[0] * cos - along[1] * sin, along[0] * sin + along[1] * cos];
    let touch = |c: &Corner| {
        let r = c.side * c.radius * shrink;
        [c.at[0] + r * way[1], c.at[1] - r * way[0]]
    };
    Leg { from: touch(a), way, length: length * cos }
}

fn legs(corners: &[Corner]) -> Vec<Leg> {
    corners.windows(2).map(|pair| leg(&pair[0], &pair[1])).collect()
}

/// How far the path turns around a corner, radians; negative if it turns away from it.
fn turn(corner: &Corner, before: &Leg, after: &Leg) -> f64 {
    let cross = before.way[0] * after.way[1] - before.way[1] * after.way[0];
    let dot = before.way[0] * after.way[0] + before.way[1] * after.way[1];
    let angle = corner.side * cross.atan2(dot);
    // Around the end of a wall it may turn by more than half a turn.
    if angle < -std::f64::consts::FRAC_PI_2 { angle + std::f64::consts::TAU } else { angle }
}

/// The corner that the string touches least, if it does not touch it.
fn most_slack(corners: &[Corner], legs: &[Leg]) -> Option<usize> {
    let turns = (1..corners.len() - 1).map(|at| (turn(&corners[at], &legs[at - 1], &legs[at]), at));
    turns.filter(|(turn, _)| *turn < -1e-9).min_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, at)| at)
}

/// Way-points around the discs, without start and goal.
fn round(corners: &[Corner]) -> Vec<[f64; 2]> {
    let legs = legs(corners);
    let mut points = Vec::new();
    for at in 1..corners.len() - 1 {
        let (corner, before) = (&corners[at], &legs[at - 1]);
        let turn = turn(corner, before, &legs[at]).max(0.0);
        let count = (turn / TURN).ceil().max(1.0);
        let reach = corner.radius / (0.5 * turn / count).cos();
        // From the corner to where the string first touches its disc.
        let (x, y) = (corner.side * before.way[1], -corner.side * before.way[0]);
        for step in 0..count as usize {
            let (sin, cos) = (corner.side * turn * (step as f64 + 0.5) / count).sin_cos();
            points.push([
                corner.at[0] + reach * (x * cos - y * sin),
                corner.at[1] + reach * (x * sin + y * cos),
            ]);
        }
    }
    points
}
