//! From a file to concrete objects: where each one starts, what it heads for and the shape it has (robot-world specification, sections 3.2, 6 and 15).
//!
//! Everything random is drawn from the world's generator, in the order of the file: first the random shapes, since a place must be free for
//! them, then group by group the starts and the goals. Starts that are given, on a circle or one by one, are taken as they are, whatever they
//! overlap.

use std::f64::consts::{PI, TAU};
use std::sync::Arc;

use promenade_kernel::generator::Generator;
use promenade_scenario::problem::Position;

use crate::kinematics::{MAX_STATE, State};
use crate::shape::{Placed, Shape, ShapeError, overlap};
use crate::spec::{Distribution, Goal, GroupSpec, ShapeSpec, WorldSpec};

/// How often a pose is drawn before it is given up, or, where nothing forbids it, taken as it is.
const TRIES: usize = 1000;

/// Why a group cannot be placed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum PlaceError {
    /// There is no room for all of them.
    #[error(
        "{path} (line {}): no free place for number {} of {number} objects in {TRIES} draws between {low:?} and {high:?}; \
         widen range_low and range_high, lower number or min_distance, or set check_overlap: false",
        .at.line, .placed + 1
    )]
    NoRoom {
        /// Path of the group in its file.
        path: String,
        /// Place of the group in its file.
        at: Position,
        /// How many found a place.
        placed: usize,
        /// How many there are.
        number: usize,
        /// Range of starts.
        low: [f64; 3],
        /// Range of starts.
        high: [f64; 3],
    },
    /// No draw made a shape.
    #[error("{path} (line {}): no random shape in {TRIES} draws: {error}", .at.line)]
    Shape {
        /// Path of the group in its file.
        path: String,
        /// Place of the group in its file.
        at: Position,
        /// What was wrong with the last draw.
        error: ShapeError,
    },
}

impl PlaceError {
    /// Place of the group in its file.
    #[must_use]
    pub fn at(&self) -> Position {
        match self {
            Self::NoRoom { at, .. } | Self::Shape { at, .. } => *at,
        }
    }
}

/// An object with nothing left to draw.
#[derive(Clone, Debug, PartialEq)]
pub struct Placement {
    /// Shape in the body frame.
    pub shape: Arc<Shape>,
    /// Where it starts.
    pub state: State,
    /// Its configured goals.
    pub goals: Vec<Goal>,
}

/// Places all objects of a world, in their order.
///
/// # Errors
/// When a group finds no room, or its ranges make no shape.
pub fn place(spec: &WorldSpec, generator: &mut Generator) -> Result<Vec<Placement>, PlaceError> {
    let mut placements = Vec::new();
    let mut drawn = Vec::new();
    for group in &spec.groups {
        let first = placements.len();
        for (index, object) in group.objects.iter().enumerate() {
            let shape = draw_shape(&object.shape, generator).map_err(|error| PlaceError::Shape {
                path: group.path.clone(),
                at: group.at,
                error,
            })?;
            let mut state = [0.0; MAX_STATE];
            for (to, from) in state.iter_mut().zip(&object.state) {
                *to = *from;
            }
            let mut goals = object.goals.clone();
            if let Distribution::Circle { center, radius } = group.distribution {
                let angle = TAU * index as f64 / group.objects.len() as f64;
                let [start, goal] = across(center, radius, angle);
                state[..3].copy_from_slice(&start);
                goals = vec![goal_of(goal)];
            }
            placements.push(Placement { shape, state, goals });
        }
        if let Distribution::Random { low, high, min_distance } = group.distribution {
            drawn.push((first, Draw { group, low, high, min_distance }));
        }
    }
    if drawn.is_empty() {
        return Ok(placements);
    }
    let mut floor = Floor::of(spec, &placements);
    for (first, draw) in drawn {
        let own = &mut placements[first..first + draw.group.objects.len()];
        let starts = draw.starts(own, &mut floor, generator)?;
        let goals = draw.goals(own.len(), generator);
        for ((placement, start), goal) in own.iter_mut().zip(starts).zip(goals) {
            placement.state[..3].copy_from_slice(&start);
            placement.goals = vec![goal_of(goal)];
        }
    }
    Ok(placements)
}

/// A start on a circle and the goal opposite.
fn across([x, y]: [f64; 2], radius: f64, angle: f64) -> [[f64; 3]; 2] {
    let (sin, cos) = angle.sin_cos();
    let heading = angle - PI;
    [1.0, -1.0].map(|side| [x + side * radius * cos, y + side * radius * sin, heading])
}

fn goal_of([x, y, heading]: [f64; 3]) -> Goal {
    Goal { position: [x, y], heading: Some(heading) }
}

/// What stands where, for those who look for a place.
struct Floor {
    /// Every object with a place that others must not overlap.
    taken: Vec<(Arc<Shape>, [f64; 3])>,
    map: Option<Shape>,
    exact_circles: bool,
}

impl Floor {
    /// The map, and every object whose start is given.
    fn of(spec: &WorldSpec, placements: &[Placement]) -> Self {
        let groups =
            spec.groups.iter().flat_map(|group| group.objects.iter().map(move |object| (group, object)));
        let given = groups.zip(placements).filter(|((group, object), _)| {
            !object.unobstructed && !matches!(group.distribution, Distribution::Random { .. })
        });
        let pose = |state: &State| [state[0], state[1], state[2]];
        Self {
            taken: given.map(|(_, placed)| (Arc::clone(&placed.shape), pose(&placed.state))).collect(),
            map: spec.map.as_ref().and_then(Shape::map),
            exact_circles: spec.settings.exact_circles,
        }
    }

    fn is_free(&self, shape: &Shape, pose: [f64; 3]) -> bool {
        let placed = Placed::at(shape, pose);
        let map = self.map.iter().map(|map| Placed::at(map, [0.0; 3]));
        let others = self.taken.iter().map(|(shape, pose)| Placed::at(shape, *pose));
        !map.chain(others).any(|other| overlap(&placed, &other, self.exact_circles))
    }
}

/// A group whose poses are drawn.
struct Draw<'s> {
    group: &'s GroupSpec,
    low: [f64; 3],
    high: [f64; 3],
    min_distance: f64,
}

impl Draw<'_> {
    /// Starts, each at least the distance from those before it and, unless the group allows it, overlapping nothing.
    fn starts(
        &self,
        own: &[Placement],
        floor: &mut Floor,
        generator: &mut Generator,
    ) -> Result<Vec<[f64; 3]>, PlaceError> {
        let mut starts: Vec<[f64; 3]> = Vec::new();
        for (placement, object) in own.iter().zip(&self.group.objects) {
            let checked = self.group.check_overlap && !object.unobstructed;
            let free = |pose| !checked || floor.is_free(&placement.shape, pose);
            let start = match self.pose(&starts, free, generator) {
                Ok(start) => start,
                Err(last) if !self.group.check_overlap => last,
                Err(_) => {
                    return Err(PlaceError::NoRoom {
                        path: self.group.path.clone(),
                        at: self.group.at,
                        placed: starts.len(),
                        number: own.len(),
                        low: self.low,
                        high: self.high,
                    });
                }
            };
            starts.push(start);
            if !object.unobstructed {
                floor.taken.push((Arc::clone(&placement.shape), start));
            }
        }
        Ok(starts)
    }

    /// Goals, each at least the distance from those before it as far as there is room.
    fn goals(&self, number: usize, generator: &mut Generator) -> Vec<[f64; 3]> {
        let mut goals = Vec::new();
        for _ in 0..number {
            let (Ok(goal) | Err(goal)) = self.pose(&goals, |_| true, generator);
            goals.push(goal);
        }
        goals
    }

    /// A pose far enough from `others` that is `free`, else the last one drawn.
    fn pose(
        &self,
        others: &[[f64; 3]],
        free: impl Fn([f64; 3]) -> bool,
        generator: &mut Generator,
    ) -> Result<[f64; 3], [f64; 3]> {
        let mut pose = [0.0; 3];
        for _ in 0..TRIES {
            for (number, (low, high)) in pose.iter_mut().zip(self.low.iter().zip(self.high)) {
                *number = generator.uniform(*low, high);
            }
            let is_near =
                |other: &[f64; 3]| f64::hypot(pose[0] - other[0], pose[1] - other[1]) < self.min_distance;
            if !others.iter().any(is_near) && free(pose) {
                return Ok(pose);
            }
        }
        Err(pose)
    }
}

/// A shape, drawn when it is random. A draw that is no shape, as a ring that crosses itself, is drawn again.
///
/// # Errors
/// When no draw was a shape: what was wrong with the last.
pub fn draw_shape(spec: &ShapeSpec, generator: &mut Generator) -> Result<Arc<Shape>, ShapeError> {
    if let ShapeSpec::Fixed(shape) = spec {
        return Ok(Arc::clone(shape));
    }
    let mut made = Err(ShapeError::NoArea);
    for _ in 0..TRIES {
        made = one_draw(spec, generator);
        if made.is_ok() {
            break;
        }
    }
    made.map(Arc::new)
}

fn one_draw(spec: &ShapeSpec, generator: &mut Generator) -> Result<Shape, ShapeError> {
    let uniform = |generator: &mut Generator, [low, high]: [f64; 2]| generator.uniform(low, high);
    match spec {
        ShapeSpec::Fixed(shape) => Ok(Shape::clone(shape)),
        ShapeSpec::RandomCircle { radius, center, wheelbase } => {
            Shape::circle(uniform(generator, *radius), *center, *wheelbase)
        }
        ShapeSpec::RandomPolygon { open, center, avg_radius, irregularity, spikeyness, vertices } => {
            let middle = [0, 1].map(|axis| uniform(generator, [center[axis], center[axis + 2]]));
            let mean = uniform(generator, *avg_radius);
            let irregularity = uniform(generator, *irregularity);
            let spread = uniform(generator, *spikeyness) * mean;
            let count = vertices[0] + generator.choice(vertices[1].saturating_sub(vertices[0]));
            let even = TAU / f64::from(count);
            let [least, most] = [even * (1.0 - irregularity), even * (1.0 + irregularity)];
            let steps: Vec<f64> = (0..count).map(|_| generator.uniform(least, most)).collect();
            let scale = TAU / steps.iter().sum::<f64>();
            let mut angle = generator.uniform(0.0, TAU);
            let mut points = Vec::with_capacity(steps.len());
            for step in steps {
                let radius = (mean + spread * generator.standard_normal()).clamp(0.0, 2.0 * mean);
                let (sin, cos) = angle.sin_cos();
                points.push([middle[0] + radius * cos, middle[1] + radius * sin]);
                angle += step * scale;
            }
            if *open { Shape::linestring(points) } else { Shape::polygon(points) }
        }
    }
}
