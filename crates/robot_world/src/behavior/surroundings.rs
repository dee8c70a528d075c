//! What one object sees of the others: itself, discs and walls (robot-world specification, section 9.2).

use super::walls::nearest;
use crate::objects::Objects;
use crate::registry::{Argument, ArgumentError, Arguments, Kind, Parameter};
use crate::shape::ShapeKind;
use crate::spec::Role;
use crate::world::Scene;
use crate::{Point, kinematics::Command};

/// What is added to every radius, metres.
const MARGIN: f64 = 0.1;

/// Nearer than this to the goal nothing is desired, metres.
const AT_GOAL: f64 = 0.1;

/// Shorter segments are not walls, metres.
const SHORTEST: f64 = 1e-6;

/// Faster wishes are cut to this, so that a limit left open does not make numbers of no direction, m/s.
pub(super) const FASTEST: f64 = 1e4;

/// The one that chooses a velocity.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Ego {
    pub(super) position: Point,
    /// In the world, m/s.
    pub(super) velocity: Point,
    /// With the margin, metres.
    pub(super) radius: f64,
}

/// Another object as a disc.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Disc {
    pub(super) center: Point,
    /// In the world, m/s.
    pub(super) velocity: Point,
    /// With the margin, metres.
    pub(super) radius: f64,
}

/// How an object translates a world velocity into its command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Drive {
    /// Forward and yaw rate.
    Diff,
    /// Forward and left.
    Omni,
}

impl Drive {
    /// The drive of a kinematic model, by its name in files.
    pub(super) fn of(kinematics: &str) -> Self {
        if kinematics == "diff" { Self::Diff } else { Self::Omni }
    }

    /// The drive of an object; members of a group may differ.
    pub(super) fn of_row(objects: &Objects, row: usize) -> Self {
        objects.model[row].as_ref().map_or(Self::Omni, |model| Self::of(model.name()))
    }

    /// Largest wanted speeds along x and y of the world.
    fn speeds(self, vel_max: &Command) -> Point {
        match self {
            Self::Diff => [vel_max[0]; 2],
            Self::Omni => [vel_max[0], vel_max[1]],
        }
        .map(|speed| speed.min(FASTEST))
    }
}

impl Ego {
    pub(super) fn new(objects: &Objects, row: usize) -> Self {
        Self {
            position: [objects.state[row][0], objects.state[row][1]],
            velocity: objects.velocity_xy[row],
            radius: objects.shape[row].radius + MARGIN,
        }
    }
}

impl Disc {
    pub(super) fn new(objects: &Objects, row: usize) -> Self {
        Self {
            center: objects.centroid[row],
            velocity: objects.velocity_xy[row],
            radius: objects.shape[row].radius + MARGIN,
        }
    }
}

/// Distance and direction to the present goal; `None` without one.
pub(super) fn to_goal(objects: &Objects, row: usize) -> Option<(f64, f64)> {
    let goal = objects.goals[row].front()?.position;
    let to = [goal[0] - objects.state[row][0], goal[1] - objects.state[row][1]];
    Some((to[0].hypot(to[1]), to[1].atan2(to[0])))
}

/// The velocity an object would have if it were alone: zero at its goal, `None` without one.
pub(super) fn desired(objects: &Objects, row: usize, drive: Drive) -> Option<Point> {
    let (distance, bearing) = to_goal(objects, row)?;
    let speeds = drive.speeds(&objects.vel_max[row]);
    let (sine, cosine) = bearing.sin_cos();
    Some(if distance <= AT_GOAL { [0.0; 2] } else { [speeds[0] * cosine, speeds[1] * sine] })
}

/// The key that says whom a behaviour sees.
pub(super) fn target_roles() -> Parameter {
    Parameter {
        name: "target_roles",
        kind: Kind::Word(&["all", "robot", "obstacle"]),
        default: Some(Argument::Word("all".to_owned())),
    }
}

/// Which objects a behaviour sees, and as what.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct View {
    /// Discs further away are not seen, metres.
    pub(super) threshold: f64,
    /// `None` = all.
    roles: Option<Role>,
    /// Whether static rectangles, polygons and compounds are walls instead of discs.
    obstacle_edges: bool,
}

impl View {
    /// The keys of a view.
    pub(super) fn parameters(threshold: f64) -> Vec<Parameter> {
        vec![
            super::number("neighbor_threshold", threshold, 0.0, f64::MAX),
            target_roles(),
            Parameter { name: "obstacle_edges", kind: Kind::Flag, default: Some(Argument::Flag(false)) },
        ]
    }

    pub(super) fn new(arguments: &Arguments) -> Result<Self, ArgumentError> {
        Ok(Self {
            threshold: super::required(arguments, "neighbor_threshold")?,
            roles: match arguments.word("target_roles") {
                Some("robot") => Some(Role::Robot),
                Some("obstacle") => Some(Role::Obstacle),
                _ => None,
            },
            obstacle_edges: arguments.flag("obstacle_edges"),
        })
    }

    fn sees(&self, objects: &Objects, row: usize) -> bool {
        self.roles.is_none_or(|role| objects.role[row] == role)
    }

    /// Whether what is seen of an object are its edges.
    fn takes_edges(&self, objects: &Objects, row: usize) -> bool {
        match objects.shape[row].kind {
            ShapeKind::Linestring | ShapeKind::Map(_) => true,
            ShapeKind::Circle { .. } => false,
            _ => self.obstacle_edges && objects.is_static[row],
        }
    }

    /// Whether an object is seen as a disc.
    pub(super) fn takes_disc(&self, objects: &Objects, row: usize) -> bool {
        self.sees(objects, row) && !self.takes_edges(objects, row)
    }
}

/// What an object sees; memory is kept between uses.
#[derive(Debug, Default)]
pub(super) struct Surroundings {
    /// In ascending order of their ids.
    pub(super) discs: Vec<Disc>,
    /// From which to which point, in ascending order of their ids.
    pub(super) walls: Vec<[Point; 2]>,
    numbers: Vec<u32>,
}

impl Surroundings {
    /// Looks around from `row`. `neighbors` is memory.
    pub(super) fn look(&mut self, scene: &Scene<'_>, view: &View, row: usize, neighbors: &mut Vec<u32>) {
        let objects = scene.objects;
        let position = [objects.state[row][0], objects.state[row][1]];
        self.discs.clear();
        scene.neighbors_within(position, view.threshold, neighbors);
        for neighbor in neighbors.iter().map(|&neighbor| neighbor as usize) {
            if neighbor != row
                && view.takes_disc(objects, neighbor)
                && distance(objects.centroid[neighbor], position) < view.threshold
            {
                self.discs.push(Disc::new(objects, neighbor));
            }
        }
        self.look_for_walls(scene, view, row);
    }

    /// Collects the walls `row` sees: lines at any distance, of everything else what is nearer than the threshold.
    pub(super) fn look_for_walls(&mut self, scene: &Scene<'_>, view: &View, row: usize) {
        let objects = scene.objects;
        let position = [objects.state[row][0], objects.state[row][1]];
        let Self { walls, numbers, .. } = self;
        walls.clear();
        for (wall, outline) in &scene.walls.rows {
            let wall = *wall as usize;
            if wall == row || !view.sees(objects, wall) || !view.takes_edges(objects, wall) {
                continue;
            }
            let shape = &objects.shape[wall];
            let state = &objects.state[wall];
            let [sine, cosine] = objects.rotation[wall];
            let place = |[x, y]: Point| [state[0] + cosine * x - sine * y, state[1] + sine * x + cosine * y];
            let mut add = |segment: [Point; 2]| {
                if distance(segment[0], segment[1]) >= SHORTEST {
                    walls.push(segment);
                }
            };
            if shape.kind == ShapeKind::Linestring {
                shape.segments().for_each(|segment| add(segment.map(place)));
            } else if let Some(outline) = outline {
                outline.within(position, view.threshold, numbers, |segment| {
                    if faces(segment, position) {
                        add(*segment);
                    }
                });
            } else if beyond(&objects.bounds[wall], position) < view.threshold {
                let near = |segment: &[Point; 2]| {
                    faces(segment, position)
                        && distance(nearest(segment, position), position) < view.threshold
                };
                shape.segments().map(|segment| segment.map(place)).filter(near).for_each(add);
            }
        }
    }
}

/// Whether `point` is on the outer side of an edge of a ring that runs counter-clockwise around what is solid. What is behind adds nothing to
/// the front, and would push twice.
fn faces([start, end]: &[Point; 2], point: Point) -> bool {
    let along = [end[0] - start[0], end[1] - start[1]];
    along[0] * (point[1] - start[1]) - along[1] * (point[0] - start[0]) <= 0.0
}

pub(super) fn distance(a: Point, b: Point) -> f64 {
    let to = [a[0] - b[0], a[1] - b[1]];
    (to[0] * to[0] + to[1] * to[1]).sqrt()
}

/// Distance of a point from a box.
fn beyond(bounds: &[f64; 4], point: Point) -> f64 {
    let x = (bounds[0] - point[0]).max(point[0] - bounds[2]).max(0.0);
    let y = (bounds[1] - point[1]).max(point[1] - bounds[3]).max(0.0);
    x.hypot(y)
}
