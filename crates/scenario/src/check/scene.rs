//! Who stands where: bodies in walls, in doors, in objects and in each other, and ways that lead through walls.
//!
//! Only what has a pose is looked at; a place in a zone is sampled free of all this. One place gets one message.

use super::findings::{Findings, Spot};
use super::floor::Floor;
use crate::assets::AssetLibrary;
use crate::entry::{DynamicEntry, Seat, StaticEntry, WaypointMode};
use crate::geometry::{self, Point};
use crate::place::{ROBOT_RADIUS, WALL_CLEARANCE, level_index, value_at};
use crate::pose::{Place, Pose};
use crate::problem::{Position, shown};
use crate::robot::{GotoTarget, PhaseAction, RobotEntry};
use crate::world::World;

/// Depth of an overlap that is nobody's mistake, metres.
const SLACK: f64 = 0.01;
/// A way-point closer to a wall than this is in it, metres.
const IN_WALL: f64 = 0.1;
/// Somebody closer to a seat than this sits on it, metres.
const ON_SEAT: f64 = 0.4;
/// What lies above heads or underfoot is in nobody's way, metres.
const IN_THE_WAY: [f64; 2] = [0.1, 1.8];
/// Ways of one person that are told about.
const MAX_LEGS: usize = 20;
/// Comparisons made of one file; a file that asks for more is not one that somebody wrote.
const BUDGET: usize = 100_000_000;

/// Somebody or something round.
struct Body<'a> {
    spot: Spot<'a>,
    name: String,
    level: usize,
    centre: Point,
    radius: f64,
    own: bool,
}

/// An object of known extent.
struct Block<'a> {
    name: &'a str,
    level: usize,
    corners: Vec<Point>,
    seats: Vec<Point>,
}

/// Everything of a world and a scenario that stands on a floor.
pub(super) struct Scene<'a> {
    world: &'a World,
    floors: Vec<Floor<'a>>,
    library: Option<&'a AssetLibrary>,
    bodies: Vec<Body<'a>>,
    blocks: Vec<Block<'a>>,
    /// With the body of whoever starts at a pose.
    people: Vec<(Spot<'a>, usize, &'a DynamicEntry, Option<usize>)>,
    robots: Vec<(Spot<'a>, usize, &'a RobotEntry)>,
    budget: usize,
}

impl<'a> Scene<'a> {
    /// The scene of a world. Its residents are in it; what is wrong with them is told when `own` says so.
    pub(super) fn new(
        world: &'a World,
        library: Option<&'a AssetLibrary>,
        own: bool,
        findings: &mut Findings,
    ) -> Self {
        let mut scene = Self {
            world,
            floors: world.levels.iter().map(Floor::new).collect(),
            library,
            bodies: Vec::new(),
            blocks: Vec::new(),
            people: Vec::new(),
            robots: Vec::new(),
            budget: BUDGET,
        };
        let mut quiet = Findings::default();
        for (index, level) in world.levels.iter().enumerate() {
            for (i, zone) in level.zones.iter().enumerate() {
                for (j, e) in zone.statics.iter().enumerate() {
                    let spot = Spot::new(&level.file, e.at, format!("zones[{i}].entities.static[{j}]"));
                    scene.object(&spot, Some(index), e, if own { findings } else { &mut quiet });
                }
                for (j, e) in zone.dynamics.iter().enumerate() {
                    let spot = Spot::new(&level.file, e.at, format!("zones[{i}].entities.dynamic[{j}]"));
                    scene.person(spot, Some(index), e, own);
                }
            }
        }
        scene
    }

    /// Put an object there; `level` is known for residents.
    pub(super) fn object(
        &mut self,
        spot: &Spot<'a>,
        level: Option<usize>,
        e: &'a StaticEntry,
        findings: &mut Findings,
    ) {
        let level = level.unwrap_or_else(|| level_index(self.world, e.level_id.as_deref()));
        let model = self.library.and_then(|library| library.object(&e.model).ok());
        let annotation = model.as_ref().map(|bundle| &bundle.annotation);
        let seats = e.interaction.seats.as_deref().or(annotation.map(|a| a.seats.as_slice()));
        let seats = seats.unwrap_or_default();
        seats_in_reach(spot, e, seats, findings);
        let Place::Pose(pose) = &e.pose else { return };
        let spot = spot.below(value_at(&e.extra, &["pose", "pos"]), ".pose");
        if let Some(message) = self.outside(level, pose.point()) {
            findings.hint(&spot, message, None);
        }
        let Some(bounds) = annotation.and_then(|a| a.bounding_box) else { return };
        let [sx, sy, sz] = e.scale.unwrap_or([1.0; 3]);
        if bounds.z[0] * sz > IN_THE_WAY[1] || bounds.z[1] * sz < IN_THE_WAY[0] {
            return;
        }
        let on_floor = |x: f64, y: f64| pose.compose(&Pose { x, y, ..Pose::default() }).point();
        let corners: Vec<Point> =
            bounds.footprint().into_iter().map(|[x, y]| on_floor(x * sx, y * sy)).collect();
        if let Some(door) = self.floor(level).and_then(|floor| floor.door_in(&corners)) {
            findings.warning(&spot, format!("the object stands in the door {:?}", door.name), None);
        }
        let seats = seats.iter().map(|seat| seat.world_pose(pose).point()).collect();
        self.blocks.push(Block { name: &e.name, level, corners, seats });
    }

    /// Put a person there; `own` ones are reported on.
    pub(super) fn person(&mut self, spot: Spot<'a>, level: Option<usize>, e: &'a DynamicEntry, own: bool) {
        let level = level.unwrap_or_else(|| level_index(self.world, e.level_id.as_deref()));
        let mut body = None;
        if let Place::Pose(pose) = &e.pose {
            // Without a declared radius a person takes the room that sampling keeps clear.
            let radius = e.agent.as_ref().and_then(|a| a.radius).unwrap_or(WALL_CLEARANCE);
            let at = value_at(&e.extra, &["pose", "pos"]);
            body = Some(self.bodies.len());
            self.body(spot.below(at, ".pose"), format!("{:?}", e.name), level, pose, radius, own);
        }
        if own {
            self.people.push((spot, level, e, body));
        }
    }

    /// Put a robot of the scenario there.
    pub(super) fn robot(&mut self, spot: Spot<'a>, index: usize, e: &'a RobotEntry) {
        let level = level_index(self.world, e.start_floor.as_deref());
        if let Place::Pose(pose) = &e.start {
            let name = e.name.as_ref().map_or_else(|| format!("robot {index}"), |name| format!("{name:?}"));
            let at = value_at(&e.extra, &["start"]);
            self.body(spot.below(at, ".start"), name, level, pose, ROBOT_RADIUS, true);
        }
        self.robots.push((spot, level, e));
    }

    fn body(&mut self, spot: Spot<'a>, name: String, level: usize, pose: &Pose, radius: f64, own: bool) {
        self.bodies.push(Body { spot, name, level, centre: pose.point(), radius, own });
    }

    /// Say what is wrong with where everybody stands and goes.
    pub(super) fn report(mut self, findings: &mut Findings) {
        let bodies = std::mem::take(&mut self.bodies);
        let mut stands_well = vec![true; bodies.len()];
        for (i, body) in bodies.iter().enumerate().filter(|(_, body)| body.own) {
            if let Some(message) = self.standing(body) {
                stands_well[i] = false;
                findings.warning(&body.spot, message, None);
            }
        }
        self.overlaps(&bodies, findings);
        for (spot, level, e, body) in std::mem::take(&mut self.people) {
            let start = body.filter(|body| stands_well[*body]).map(|body| bodies[body].centre);
            self.route(&spot, level, e, start, findings);
        }
        for (spot, level, e) in std::mem::take(&mut self.robots) {
            self.goals(&spot, level, e, findings);
        }
        if self.budget == 0
            && let Some(body) = bodies.iter().find(|body| body.own)
        {
            let spot = Spot::new(body.spot.file, Position::START, "");
            findings.hint(&spot, "so much stands here that not everything was compared".to_owned(), None);
        }
    }

    /// Whether a question of this cost may still be asked.
    fn spend(&mut self, cost: usize) -> bool {
        self.budget = self.budget.saturating_sub(cost.max(1));
        self.budget > 0
    }

    fn floor(&mut self, level: usize) -> Option<&Floor<'a>> {
        let cost = self.floors.get(level)?.cost;
        if self.spend(cost) { self.floors.get(level) } else { None }
    }

    /// What is said about a point outside every zone. A level without zones has no outside.
    fn outside(&mut self, level: usize, p: Point) -> Option<String> {
        let floor = self.floor(level)?;
        if floor.level.zones.is_empty() || floor.is_inside(p) {
            return None;
        }
        Some(format!("{} lies outside every zone of level {:?}", point(p), floor.level.id))
    }

    fn standing(&mut self, body: &Body<'_>) -> Option<String> {
        if let Some(message) = self.outside(body.level, body.centre) {
            return Some(message);
        }
        let (centre, reach) = (body.centre, body.radius - SLACK);
        if let Some(floor) = self.floor(body.level) {
            if let Some((wall, distance)) = floor.wall_near(centre, reach) {
                return Some(format!(
                    "{} is {} m from {}, and the body has a radius of {} m",
                    point(centre),
                    short(distance),
                    wall_name(floor, wall.at),
                    short(body.radius)
                ));
            }
            if let Some(door) = floor.door_near(centre, reach) {
                return Some(format!("{} is in the door {:?}, which cannot close", point(centre), door.name));
            }
        }
        self.in_block(body.level, centre, reach)
            .map(|name| format!("{} is in the object {name:?}", point(centre)))
    }

    /// The object that a disc reaches into, unless it is on one of its seats.
    fn in_block(&mut self, level: usize, p: Point, reach: f64) -> Option<&'a str> {
        if !self.spend(self.blocks.len()) {
            return None;
        }
        let inside = |block: &&Block<'_>| {
            block.level == level
                && (geometry::contains(&block.corners, p)
                    || geometry::edges(&block.corners).any(|edge| edge.distance(p) < reach))
        };
        let block = self.blocks.iter().find(inside)?;
        block.seats.iter().all(|seat| seat.distance(p) > ON_SEAT).then_some(block.name)
    }

    /// Everybody is compared with those before them, along x.
    fn overlaps(&mut self, bodies: &[Body<'_>], findings: &mut Findings) {
        let widest = bodies.iter().map(|body| body.radius).fold(0.0, f64::max);
        let mut order: Vec<usize> = (0..bodies.len()).collect();
        order.sort_by(|a, b| bodies[*a].centre.x.total_cmp(&bodies[*b].centre.x).then(a.cmp(b)));
        let mut told = vec![false; bodies.len()];
        for (rank, &i) in order.iter().enumerate() {
            let body = &bodies[i];
            for &j in &order[rank + 1..] {
                let other = &bodies[j];
                if other.centre.x - body.centre.x > body.radius + widest || !self.spend(1) {
                    break;
                }
                let (apart, needed) = (body.centre.distance(other.centre), body.radius + other.radius);
                let (earlier, later) = if i < j { (body, other) } else { (other, body) };
                let index = i.max(j);
                if body.level != other.level || apart >= needed - SLACK || !later.own || told[index] {
                    continue;
                }
                told[index] = true;
                let message = format!(
                    "{} is {} m from {} ({}), and the two bodies need {} m",
                    point(later.centre),
                    short(apart),
                    earlier.name,
                    earlier.spot.line_from(&later.spot),
                    short(needed)
                );
                findings.warning(&later.spot, message, None);
            }
        }
    }

    /// Way-points that are nowhere, and straight legs that lead through a wall.
    fn route(
        &mut self,
        spot: &Spot<'_>,
        level: usize,
        e: &DynamicEntry,
        start: Option<Point>,
        findings: &mut Findings,
    ) {
        let Some(id) = self.floors.get(level).map(|floor| floor.level.id.clone()) else { return };
        let mut route = Vec::with_capacity(e.waypoints.len());
        let mut legs = Vec::with_capacity(e.waypoints.len() + 1);
        let mut from = start;
        for (i, waypoint) in e.waypoints.iter().enumerate() {
            let spot = spot.below(waypoint.at, &format!(".waypoints[{i}]"));
            let here = waypoint.level_id.as_ref().is_none_or(|other| *other == id);
            let to = match &waypoint.place {
                Place::Pose(pose) if here => Some(pose.point()),
                _ => None,
            };
            let to = to.filter(|to| self.can_be_reached(&spot, level, *to, findings));
            legs.extend(from.zip(to).map(|(from, to)| (spot, from, to, "the straight way")));
            route.push(to);
            from = to;
        }
        if let ([Some(first), .., Some(last)], WaypointMode::Repeat) = (&route[..], e.waypoint_mode) {
            let spot = spot.below(value_at(&e.extra, &["waypoints", "waypoint"]), ".waypoints");
            legs.push((spot, *last, *first, "the straight way back to the first"));
        }
        // A way and the same way back are one mistake.
        let mut told: Vec<(Point, Point)> = Vec::new();
        for (spot, from, to, what) in legs {
            if told.len() == MAX_LEGS || told.contains(&(from, to)) || told.contains(&(to, from)) {
                continue;
            }
            if let Some((message, suggestion)) = self.leg(level, from, to, what) {
                told.push((from, to));
                findings.warning(&spot, message, suggestion);
            }
        }
    }

    fn can_be_reached(&mut self, spot: &Spot<'_>, level: usize, p: Point, findings: &mut Findings) -> bool {
        if let Some(message) = self.outside(level, p) {
            findings.warning(spot, message, None);
            return false;
        }
        let wall = self.floor(level).and_then(|floor| {
            let (wall, _) = floor.wall_near(p, IN_WALL)?;
            Some(wall_name(floor, wall.at))
        });
        if let Some(wall) = wall {
            findings.warning(spot, format!("{} lies in {wall}, where nobody gets to", point(p)), None);
            return false;
        }
        if let Some(name) = self.in_block(level, p, 0.0) {
            findings.warning(
                spot,
                format!("{} lies in the object {name:?}, where nobody gets to", point(p)),
                None,
            );
            return false;
        }
        true
    }

    /// What is said about a straight way through a wall, and where else to go.
    fn leg(&mut self, level: usize, from: Point, to: Point, what: &str) -> Option<(String, Option<String>)> {
        let floor = self.floor(level)?;
        let wall = floor.wall_between(from, to)?;
        let mut message =
            format!("{what} from {} to {} crosses {}", point(from), point(to), wall_name(floor, wall.at));
        let mut suggestion = None;
        if let Some((zone, door)) = floor.door_into(from, to) {
            message += &format!("; zone {:?} is entered through the door {:?}", zone.name, door.name);
            suggestion = Some(format!("{} on the way", point(door.line.at(0.5))));
        }
        Some((message, suggestion))
    }

    /// Poses a robot is sent to. How it gets there is its own business.
    fn goals(&mut self, spot: &Spot<'_>, level: usize, e: &RobotEntry, findings: &mut Findings) {
        let level = e.goal_floor.as_deref().map_or(level, |id| level_index(self.world, Some(id)));
        for (i, phase) in e.phases.iter().enumerate() {
            if let PhaseAction::Goto(GotoTarget::Pose(pose)) = &phase.action {
                let spot = spot.below(phase.at, &format!(".phases[{i}].goto"));
                self.can_be_reached(&spot, level, pose.point(), findings);
            }
        }
    }
}

/// Seats that cannot be used since the object's interactions end before them, and people who find none.
fn seats_in_reach(spot: &Spot<'_>, e: &StaticEntry, seats: &[Seat], findings: &mut Findings) {
    let reach = e.interaction.interaction_radius.filter(|reach| *reach > 0.0);
    for (i, seat) in seats.iter().enumerate() {
        let distance = seat.x.hypot(seat.y);
        let Some(reach) = reach.filter(|reach| distance > *reach) else { continue };
        let at = e.extra.get("seats").and_then(|s| s.items()?.get(i)).map_or(e.at, |seat| seat.at);
        let message = format!(
            "the seat is {} m from the object's origin, beyond its interaction_radius of {} m",
            short(distance),
            short(reach)
        );
        findings.warning(&spot.below(at, &format!(".seats[{i}]")), message, None);
    }
    if let Some(capacity) = e.interaction.capacity
        && !seats.is_empty()
        && capacity > seats.len() as i64
    {
        let at = value_at(&e.extra, &["capacity"]);
        let message = format!("room for {capacity} people, but only {} seats", seats.len());
        findings.hint(&spot.below(at, ".capacity"), message, None);
    }
}

fn wall_name(floor: &Floor<'_>, at: Position) -> String {
    format!("the wall in line {} of {}", at.line, shown(&floor.level.file))
}

fn point(p: Point) -> String {
    format!("[{}, {}]", short(p.x), short(p.y))
}

/// At most two decimals, as a person would write them.
pub(super) fn short(x: f64) -> String {
    let rounded = (x * 100.0).round() / 100.0;
    if rounded == 0.0 { "0".to_owned() } else { rounded.to_string() }
}
