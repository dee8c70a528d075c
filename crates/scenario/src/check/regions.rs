//! Regions that cannot do their work: sources nobody leaves from, outlines that lie outside the building.

use super::findings::{Findings, Spot};
use super::scene::short;
use crate::geometry::{self, Point};
use crate::region::{Area, RegionKind};
use crate::scenario::Scenario;
use crate::world::World;
use crate::zone::Zone;

/// How far a corner of a region may lie outside the zones, metres.
const EDGE: f64 = 0.1;

pub(super) fn check(world: &World, scenario: &Scenario, findings: &mut Findings) {
    let is_sink = |kind: &RegionKind| matches!(kind, RegionKind::Sink(_));
    let has_sink = scenario.regions.iter().any(|(_, region)| is_sink(&region.kind));
    for (name, region) in &scenario.regions {
        let spot = Spot::new(&scenario.file, region.at, format!("regions.{name}"));
        match &region.kind {
            RegionKind::Source(source) if source.max_concurrent == 0 || source.max_total == 0 => {
                findings.warning(
                    &spot,
                    "a limit of 0 people, so the source never produces anybody".to_owned(),
                    None,
                );
            }
            RegionKind::Source(source) if !has_sink && !source.rate_profile.is_empty() => {
                let message = "there is no sink, so whoever comes out of this source stays for ever";
                findings.warning(&spot, message.to_owned(), None);
            }
            RegionKind::Sink(sink) if sink.capacity == 0 => {
                findings.warning(&spot, "a capacity of 0, so the sink never takes anybody".to_owned(), None);
            }
            _ => {}
        }
        if let Area::Polygon(corners) = &region.area {
            outside(world, corners, &spot.below(region.area_at, ".polygon"), findings);
        }
    }
}

/// A region may lie on any level, since it cannot say on which.
fn outside(world: &World, corners: &[Point], spot: &Spot<'_>, findings: &mut Findings) {
    if world.zones().next().is_none() {
        return;
    }
    let near = |zone: &Zone, p: Point| geometry::edges(&zone.corners).any(|edge| edge.distance(p) <= EDGE);
    let is_inside = |p: Point| world.zones().any(|(_, zone)| zone.contains(p) || near(zone, p));
    let beyond: Vec<Point> = corners.iter().copied().filter(|p| !is_inside(*p)).collect();
    match beyond.first() {
        Some(_) if beyond.len() == corners.len() && !is_inside(geometry::vertex_mean(corners)) => {
            findings.warning(spot, "the region lies outside every zone of the world".to_owned(), None);
        }
        Some(corner) => {
            let message = format!(
                "{} of {} corners lie outside every zone, first [{}, {}]",
                beyond.len(),
                corners.len(),
                short(corner.x),
                short(corner.y)
            );
            findings.hint(spot, message, None);
        }
        None => {}
    }
}
