//! What a world's plan promises and cannot hold: doors nobody fits through or that lead nowhere, gates that nobody opens.

use super::findings::{Findings, Spot};
use super::scene::short;
use crate::entry::DEFAULT_AGENT_RADIUS;
use crate::geometry::{self, Point, Segment};
use crate::problem::shown;
use crate::semantics::Preset;
use crate::world::{Level, World};
use crate::zone::Door;

/// Diameter of the slimmest adult, metres.
const SLIM: f64 = 0.5;
/// Height of a person, metres.
const TALL: f64 = 1.65;
/// How far before and behind a door the way must be free, metres.
const THRESHOLD: f64 = 0.3;

pub(super) fn check(world: &World, findings: &mut Findings) {
    for level in &world.levels {
        let walls: Vec<(&Segment, u32)> = level.walls().map(|w| (&w.line, w.at.line)).collect();
        for (i, zone) in level.zones.iter().enumerate() {
            let spot = |at, rest: String| Spot::new(&level.file, at, format!("zones[{i}]{rest}"));
            outline(&zone.corners, &spot(zone.at, ".corners".to_owned()), findings);
            for (j, door) in zone.doors.iter().enumerate() {
                let spot = spot(door.at, format!(".doors[{j}]"));
                size(door, &spot, findings);
                leads_somewhere(door, &walls, level, &spot, findings);
                locked(door, &spot, findings);
            }
        }
    }
}

/// A floor whose sides cross is inside out somewhere.
fn outline(corners: &[Point], spot: &Spot<'_>, findings: &mut Findings) {
    // Nobody draws a room of so many corners; comparing all sides would take long.
    if corners.len() > 500 {
        return;
    }
    let sides: Vec<Segment> = geometry::edges(corners).collect();
    for (i, side) in sides.iter().enumerate() {
        let crosses = |j: &usize| sides[*j].crossing(side).is_some_and(|t| t > 1e-9 && t < 1.0 - 1e-9);
        let neighbour = |j: usize| j == i + 1 || (i == 0 && j == sides.len() - 1);
        if let Some(j) = (i + 1..sides.len()).filter(|j| !neighbour(*j)).find(crosses) {
            let message = format!(
                "the sides {} and {} of the outline cross; corners go around the floor",
                i + 1,
                j + 1
            );
            return findings.warning(spot, message, None);
        }
    }
}

fn size(door: &Door, spot: &Spot<'_>, findings: &mut Findings) {
    let (width, fits) = (door.line.length(), 2.0 * DEFAULT_AGENT_RADIUS);
    if width < SLIM - 1e-6 {
        let message = format!("the door {:?} is {} m wide, too narrow for anybody", door.name, short(width));
        findings.warning(spot, message, None);
    } else if width < fits - 1e-6 {
        let message = format!(
            "the door {:?} is {} m wide; people of the default radius need {} m",
            door.name,
            short(width),
            short(fits)
        );
        findings.hint(spot, message, None);
    }
    if door.height < TALL {
        let message =
            format!("the door {:?} is {} m high, lower than a person", door.name, short(door.height));
        findings.warning(spot, message, None);
    }
}

/// The way through the middle of an open door must not end at a wall.
fn leads_somewhere(
    door: &Door,
    walls: &[(&Segment, u32)],
    level: &Level,
    spot: &Spot<'_>,
    findings: &mut Findings,
) {
    let (line, middle) = (&door.line, door.line.at(0.5));
    let length = line.length();
    if length < 1e-6 {
        return;
    }
    let (across_x, across_y) = ((line.start.y - line.end.y) / length, (line.end.x - line.start.x) / length);
    let beyond = |side: f64| Point::new(middle.x + side * across_x, middle.y + side * across_y);
    let way = Segment { start: beyond(-THRESHOLD), end: beyond(THRESHOLD) };
    if let Some((_, at)) = walls.iter().find(|(wall, _)| way.crossing(wall).is_some()) {
        let message = format!(
            "the wall in line {at} of {} stands in the door {:?}, so that it leads nowhere; walls end at the sides of a door",
            shown(&level.file),
            door.name
        );
        findings.warning(spot, message, None);
    }
}

/// A gate that names nobody and waits for nothing.
fn locked(door: &Door, spot: &Spot<'_>, findings: &mut Findings) {
    if let Some(Preset::Gate { authorized, unlock_on: None }) = door.gate()
        && authorized.is_empty()
    {
        let message = format!(
            "the gate of {:?} has neither `authorized` nor `unlock_on`, so it stays locked until a timeline sets `locked`",
            door.name
        );
        findings.hint(spot, message, None);
    }
}
