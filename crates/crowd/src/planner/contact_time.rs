//! When things that keep their velocities touch. Shared by the models that look ahead.

use super::SMALLEST;
use crate::walls::Segment;

/// Time until the point `p` that moves with `w` comes within `radius` of the origin: 0 if it is, `None` if it never does.
#[inline(always)]
pub(super) fn of_circle(p: [f64; 2], w: [f64; 2], radius: f64) -> Option<f64> {
    let (toward, speed2) = (-(p[0] * w[0] + p[1] * w[1]), w[0] * w[0] + w[1] * w[1]);
    let outside = p[0] * p[0] + p[1] * p[1] - radius * radius;
    if outside <= 0.0 {
        return Some(0.0);
    }
    let root = toward * toward - speed2 * outside;
    // The nearer root as a quotient without a difference of nearly equal numbers.
    (toward > 0.0 && root >= 0.0).then(|| outside / (toward + root.sqrt()))
}

/// Time until a disc around `position` that moves with `velocity` touches a wall: 0 if it touches and comes nearer, `None` if it
/// never does.
pub(super) fn of_wall(wall: &Segment, position: [f64; 2], velocity: [f64; 2], radius: f64) -> Option<f64> {
    let (distance, offset) = wall.offset(position);
    let nearing = offset[0] * velocity[0] + offset[1] * velocity[1] < 0.0;
    if distance <= radius {
        return nearing.then_some(0.0);
    }
    let from_start = [position[0] - wall.start[0], position[1] - wall.start[1]];
    let end = wall.end();
    let from_end = [position[0] - end[0], position[1] - end[1]];
    let ends = [of_circle(from_start, velocity, radius), of_circle(from_end, velocity, radius)];
    let length = wall.length2.sqrt();
    let side = (length > SMALLEST)
        .then(|| {
            let along = wall.along.map(|a| a / length);
            let height = along[0] * from_start[1] - along[1] * from_start[0];
            let sinking = -(along[0] * velocity[1] - along[1] * velocity[0]) * height.signum();
            let time = (height.abs() - radius) / sinking;
            let foot = (from_start[0] + velocity[0] * time) * along[0]
                + (from_start[1] + velocity[1] * time) * along[1];
            (sinking > 0.0 && time >= 0.0 && (0.0..=length).contains(&foot)).then_some(time)
        })
        .flatten();
    ends.into_iter().chain([side]).flatten().reduce(f64::min)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_circle_is_met_head_on_grazed_and_missed() {
        assert_eq!(of_circle([3.0, 0.0], [-1.0, 0.0], 1.0), Some(2.0));
        assert_eq!(of_circle([3.0, 1.0], [-1.0, 0.0], 1.0), Some(3.0));
        assert_eq!(of_circle([3.0, 1.1], [-1.0, 0.0], 1.0), None);
        assert_eq!(of_circle([3.0, 0.0], [1.0, 0.0], 1.0), None);
        assert_eq!(of_circle([0.5, 0.0], [1.0, 0.0], 1.0), Some(0.0));
        assert_eq!(of_circle([3.0, 0.0], [0.0, 0.0], 1.0), None);
    }

    #[test]
    fn a_wall_is_met_on_its_side_and_on_its_ends() {
        let wall = Segment::between([0.0, 0.0], [4.0, 0.0]);
        assert_eq!(of_wall(&wall, [1.0, 3.0], [0.0, -2.0], 1.0), Some(1.0));
        assert_eq!(of_wall(&wall, [-3.0, 0.0], [1.0, 0.0], 0.5), Some(2.5));
        assert_eq!(of_wall(&wall, [1.0, 3.0], [1.0, 0.0], 1.0), None);
        assert_eq!(of_wall(&wall, [1.0, 0.5], [1.0, -0.1], 1.0), Some(0.0), "touches and comes nearer");
        assert_eq!(of_wall(&wall, [1.0, 0.5], [1.0, 0.0], 1.0), None, "touches and slides");
        let point = Segment::between([0.0, 0.0], [0.0, 0.0]);
        assert_eq!(of_wall(&point, [3.0, 0.0], [-1.0, 0.0], 1.0), Some(2.0));
    }

    proptest! {
        #[test]
        fn at_the_time_of_contact_a_disc_touches_and_earlier_it_does_not(
            ends in (-3.0..3.0, -3.0..3.0, -3.0..3.0, -3.0..3.0),
            position in (-6.0..6.0, -6.0..6.0),
            velocity in (-2.0..2.0, -2.0..2.0),
            radius in 0.1..0.6,
        ) {
            let wall = Segment::between([ends.0, ends.1], [ends.2, ends.3]);
            let at = |t: f64| wall.offset([position.0 + velocity.0 * t, position.1 + velocity.1 * t]).0;
            prop_assume!(at(0.0) > radius);
            let found = of_wall(&wall, [position.0, position.1], [velocity.0, velocity.1], radius);
            if let Some(time) = found {
                prop_assert!((at(time) - radius).abs() < 1e-6);
            }
            let before = found.unwrap_or(100.0) * (1.0 - 1e-9);
            for step in 0..200 {
                prop_assert!(at(before * f64::from(step) / 200.0) > radius - 1e-6);
            }
        }
    }
}
