//! The force model, term by term (HuNav specification, section 7): pure functions of one walker and what it sees.
//!
//! They must not know who a walker is, why it walks, or which fault of the original is wanted.

use crate::{ObstacleRule, Point, wrap};

/// Seconds in which a walker takes up its velocity.
pub(crate) const RELAXATION: f64 = 0.5;
/// How fast the force of an obstacle falls, metres.
pub(crate) const OBSTACLE_RANGE: f64 = 0.2;
/// Weight of the relative velocity in the direction of an interaction.
pub(crate) const ANTICIPATION: f64 = 2.0;
/// Range of an interaction per length of its vector.
pub(crate) const INTERACTION: f64 = 0.35;
/// Angular fall of the turning part and of the slowing part.
pub(crate) const ANGULAR: [f64; 2] = [2.0, 3.0];
const GAZE: f64 = 3.0;
const COHESION: f64 = 2.0;
const REPULSION: f64 = 1.0;
/// Part of the range that the whole-list call of the library adds to the angle of an interaction, so that equals evade to one side.
pub(crate) const WHOLE_LIST_BIAS: f64 = 0.005;

/// The forces on one walker, m/s².
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Forces {
    /// Towards the goal.
    pub goal: Point,
    /// From other walkers.
    pub social: Point,
    /// From obstacles.
    pub obstacle: Point,
    /// From its walking group.
    pub group: Point,
    /// What moves it: the sum, and what a reaction adds.
    pub total: Point,
}

impl Forces {
    /// The sum of the four, after any that is not a number has become none.
    pub(crate) fn summed(mut self) -> Self {
        let terms = [&mut self.goal, &mut self.social, &mut self.obstacle, &mut self.group];
        let mut total = [0.0; 2];
        for term in terms {
            if term.iter().any(|part| part.is_nan()) {
                *term = [0.0; 2];
            }
            total = add(total, *term);
        }
        self.total = total;
        self
    }
}

pub(crate) fn add(a: Point, b: Point) -> Point {
    [a[0] + b[0], a[1] + b[1]]
}

pub(crate) fn sub(a: Point, b: Point) -> Point {
    [a[0] - b[0], a[1] - b[1]]
}

pub(crate) fn scale(a: Point, factor: f64) -> Point {
    [a[0] * factor, a[1] * factor]
}

pub(crate) fn dot(a: Point, b: Point) -> f64 {
    a[0] * b[0] + a[1] * b[1]
}

pub(crate) fn norm(a: Point) -> f64 {
    dot(a, a).sqrt()
}

/// A place to walk to, and how near is there.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Goal {
    /// Where it is.
    pub center: Point,
    /// Distance at which it is reached, metres.
    pub radius: f64,
}

/// The direction to a goal, zero where there is none to walk to, and the force.
pub(crate) fn to_goal(
    at: Point,
    velocity: Point,
    cruise: f64,
    goal: Option<Goal>,
    factor: f64,
) -> [Point; 2] {
    let way = goal.map(|goal| (sub(goal.center, at), goal.radius));
    match way.map(|(way, radius)| (way, norm(way), radius)) {
        Some((way, distance, radius)) if distance > radius => {
            let direction = scale(way, 1.0 / distance);
            [direction, scale(sub(scale(direction, cruise), velocity), factor / RELAXATION)]
        }
        _ => [[0.0; 2], scale(velocity, -1.0 / RELAXATION)],
    }
}

/// The force of one point of an obstacle; not a number where the walker stands on it.
pub(crate) fn from_point(at: Point, radius: f64, point: Point, factor: f64) -> Point {
    let away = sub(at, point);
    let distance = norm(away);
    scale(away, factor * (-(distance - radius) / OBSTACLE_RANGE).exp() / distance)
}

/// The force of obstacle points by either rule.
pub(crate) fn from_obstacles(
    at: Point,
    radius: f64,
    points: impl Iterator<Item = Point>,
    factor: f64,
    rule: ObstacleRule,
) -> Point {
    let (mut sum, mut count) = ([0.0; 2], 0.0);
    for point in points {
        sum = add(sum, from_point(at, radius, point, factor));
        count += 1.0;
    }
    match rule {
        ObstacleRule::Mean if count > 0.0 => scale(sum, 1.0 / count),
        _ => sum,
    }
}

/// The force on a walker from another one, before its factor: `way` leads to the other, `relative` is own velocity less the other's,
/// `bias` times the range is added to the angle. Not a number where the interaction has no direction.
pub(crate) fn from_walker(way: Point, relative: Point, bias: f64) -> Point {
    let distance = norm(way);
    let direction = if distance > 0.0 { scale(way, 1.0 / distance) } else { [0.0; 2] };
    let interaction = add(scale(relative, ANTICIPATION), direction);
    let length = norm(interaction);
    let along = scale(interaction, 1.0 / length);
    let range = INTERACTION * length;
    let angle = wrap(direction[1].atan2(direction[0]) - along[1].atan2(along[0])) + bias * range;
    let [turning, slowing] = ANGULAR.map(|n| (-distance / range - (n * range * angle).powi(2)).exp());
    let sign = if angle == 0.0 { 0.0 } else { angle.signum() };
    add(scale(along, -slowing), scale([-along[1], along[0]], -sign * turning))
}

/// What a walker needs to know of its group.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Company {
    /// Members besides the walker.
    pub(crate) others: f64,
    /// Sum of their positions.
    pub(crate) sum: Point,
    /// Sum of the ways from those whose disc overlaps the walker's.
    pub(crate) overlap: Point,
}

impl Company {
    /// Take in another member.
    pub(crate) fn join(&mut self, at: Point, radius: f64, other: Point, other_radius: f64) {
        self.others += 1.0;
        self.sum = add(self.sum, other);
        let away = sub(at, other);
        if norm(away) < radius + other_radius {
            self.overlap = add(self.overlap, away);
        }
    }

    /// The force of the group on the walker at `at` that walks towards `direction`, a unit vector or zero.
    pub(crate) fn force(&self, at: Point, direction: Point) -> Point {
        if self.others < 1.0 {
            return [0.0; 2];
        }
        let to_others = sub(scale(self.sum, 1.0 / self.others), at);
        let ahead = dot(direction, to_others);
        // A negative product is an angle of more than 90 degrees; it holds only where there is a direction.
        let gaze =
            if ahead < 0.0 { scale(direction, GAZE * ahead / dot(direction, direction)) } else { [0.0; 2] };
        let to_center = sub(scale(add(self.sum, at), 1.0 / (self.others + 1.0)), at);
        let soft = 0.5 * ((norm(to_center) - 0.5 * self.others).tanh() + 1.0);
        add(gaze, add(scale(to_center, COHESION * soft), scale(self.overlap, REPULSION)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(found: Point, expected: Point) {
        let off = norm(sub(found, expected));
        assert!(off < 1e-8, "{found:?} is not {expected:?}");
    }

    // The worked values of section 7.

    #[test]
    fn two_walkers_push_each_other_apart_equally() {
        let (way, relative) = ([2.0, 0.5], [2.0, 0.0]);
        let force = scale(from_walker(way, relative, 0.0), 2.1);
        near(force, [-0.204_828_191, -0.413_441_174]);
        near(scale(from_walker(scale(way, -1.0), scale(relative, -1.0), 0.0), 2.1), scale(force, -1.0));
        near(scale(from_walker(way, relative, WHOLE_LIST_BIAS), 2.1), [-0.185_226_414, -0.395_742_662]);
    }

    #[test]
    fn a_goal_pulls_until_it_is_reached() {
        let goal = Some(Goal { center: [5.0, 0.0], radius: 0.3 });
        near(to_goal([0.0; 2], [1.0, 0.0], 1.2, goal, 2.0)[1], [0.8, 0.0]);
        let there = to_goal([4.75, 0.0], [1.0, 0.0], 1.2, goal, 2.0);
        assert_eq!(there, [[0.0; 2], [-2.0, 0.0]], "reached: slows down, the factor does not count");
        assert_eq!(to_goal([0.0; 2], [1.0, 0.0], 1.2, None, 9.0)[1], [-2.0, 0.0]);
    }

    #[test]
    fn obstacle_points_add_up_or_average() {
        let force =
            |points: &[Point], rule| from_obstacles([0.0; 2], 0.35, points.iter().copied(), 10.0, rule);
        let (one, two) = ([[0.6, 0.0]], [[0.6, 0.0], [0.0, 0.5]]);
        near(force(&one, ObstacleRule::Sum), [-2.865_047_969, 0.0]);
        near(force(&two, ObstacleRule::Sum), [-2.865_047_969, -4.723_665_527]);
        near(force(&two, ObstacleRule::Mean), [-2.865_047_969 / 2.0, -4.723_665_527 / 2.0]);
        assert_eq!(force(&[], ObstacleRule::Mean), [0.0; 2]);
    }

    #[test]
    fn a_group_looks_keeps_together_and_keeps_apart() {
        let mut company = Company::default();
        for other in [[-1.5, 0.4], [-0.3, -0.4]] {
            company.join([0.0; 2], 0.35, other, 0.35);
        }
        near(company.force([0.0; 2], [1.0, 0.0]), [-2.772_030_623, 0.4]);
        assert_eq!(Company::default().force([0.0; 2], [1.0, 0.0]), [0.0; 2], "alone");
    }

    #[test]
    fn what_is_not_a_number_counts_for_nothing() {
        assert!(from_walker([0.0; 2], [0.0; 2], 0.0)[0].is_nan());
        assert!(from_point([1.0; 2], 0.3, [1.0; 2], 10.0)[0].is_nan());
        let forces = Forces { goal: [1.0, 2.0], social: [f64::NAN, 3.0], ..Forces::default() }.summed();
        assert_eq!((forces.social, forces.total), ([0.0; 2], [1.0, 2.0]));
    }
}
