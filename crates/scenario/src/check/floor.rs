//! Where one can stand and walk on a level: the questions about a floor plan that a check asks.
//!
//! Doors count as open for whoever walks, since they open by themselves, and as closed for whoever stands.

use crate::geometry::{self, Point};
use crate::world::Level;
use crate::zone::{Door, Wall, Zone};

/// How far beside a zone counts as in it, metres: rooms lie a wall's thickness apart.
const EDGE: f64 = 0.1;
/// How far from a door's line its opening reaches, metres.
const DOORWAY: f64 = 0.15;
/// How far from its edge a zone's doors may lie, metres.
const ADJOINS: f64 = 0.25;

pub(super) struct Floor<'w> {
    pub(super) level: &'w Level,
    /// What one question costs: the lines that are looked at.
    pub(super) cost: usize,
    walls: Vec<&'w Wall>,
    doors: Vec<&'w Door>,
}

impl<'w> Floor<'w> {
    pub(super) fn new(level: &'w Level) -> Self {
        let (walls, doors): (Vec<_>, Vec<_>) = (level.walls().collect(), level.doors().collect());
        let edges: usize = level.zones.iter().map(|zone| zone.corners.len()).sum();
        Self { level, cost: walls.len() + doors.len() + edges, walls, doors }
    }

    /// A door whose middle lies in an outline.
    pub(super) fn door_in(&self, corners: &[Point]) -> Option<&'w Door> {
        self.doors.iter().copied().find(|door| geometry::contains(corners, door.line.at(0.5)))
    }

    pub(super) fn is_inside(&self, p: Point) -> bool {
        self.level.zones.iter().any(|zone| zone.contains(p) || edge_distance(zone, p) <= EDGE)
    }

    /// The wall closest to a point, if it is closer than `reach`, and its distance.
    pub(super) fn wall_near(&self, p: Point, reach: f64) -> Option<(&'w Wall, f64)> {
        let near = self.walls.iter().map(|wall| (*wall, wall.line.distance(p)));
        near.filter(|(_, distance)| *distance < reach).min_by(|a, b| a.1.total_cmp(&b.1))
    }

    /// The door closest to a point, if it is closer than `reach`.
    pub(super) fn door_near(&self, p: Point, reach: f64) -> Option<&'w Door> {
        let near = self.doors.iter().map(|door| (*door, door.line.distance(p)));
        let near = near.filter(|(_, distance)| *distance < reach);
        near.min_by(|a, b| a.1.total_cmp(&b.1)).map(|(door, _)| door)
    }

    /// The first wall on the straight way between two points. A wall that a door lies in is open there.
    pub(super) fn wall_between(&self, from: Point, to: Point) -> Option<&'w Wall> {
        let way = geometry::Segment { start: from, end: to };
        let crossings = self.walls.iter().filter_map(|wall| Some((*wall, way.crossing(&wall.line)?)));
        let crossings = crossings.filter(|(_, t)| self.door_near(way.at(*t), DOORWAY).is_none());
        crossings.min_by(|a, b| a.1.total_cmp(&b.1)).map(|(wall, _)| wall)
    }

    /// A zone at the end of a way that its start is not in, and a door into it: rather one that leads out of the zone of the start.
    pub(super) fn door_into(&self, from: Point, to: Point) -> Option<(&'w Zone, &'w Door)> {
        let zone = self.level.zones.iter().find(|z| z.contains(to) && !z.contains(from))?;
        let leads_to = |door: &Door, zone: &Zone| {
            let middle = door.line.at(0.5);
            zone.contains(middle) || edge_distance(zone, middle) <= ADJOINS
        };
        let out_of_start = |door: &Door| self.level.zones_at(from).any(|start| leads_to(door, start));
        let doors = || self.doors.iter().copied().filter(|door| leads_to(door, zone));
        let door = doors().find(|door| out_of_start(door)).or_else(|| doors().next())?;
        Some((zone, door))
    }
}

fn edge_distance(zone: &Zone, p: Point) -> f64 {
    geometry::edges(&zone.corners).map(|edge| edge.distance(p)).fold(f64::INFINITY, f64::min)
}
