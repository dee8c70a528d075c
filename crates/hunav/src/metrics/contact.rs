//! Who ran into whom.

use super::Body;
use super::force::modulus;

/// Closer than this, edge to edge, two bodies collide, metres.
const TOUCHING: f64 = 0.02;

/// Whether the robot ran into a person in a step, and whether a person ran into it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Contact {
    pub(super) by_robot: bool,
    pub(super) by_person: bool,
}

/// Distance of two discs from edge to edge; negative when they overlap.
pub(super) fn gap(robot: &Body, person: &Body) -> f64 {
    let away = [robot.position[0] - person.position[0], robot.position[1] - person.position[1]];
    modulus(away) - robot.radius - person.radius
}

/// `to` in the frame of `body`: ahead and to the left.
fn seen_from(body: &Body, to: &Body) -> (f64, f64) {
    let (dx, dy) = (to.position[0] - body.position[0], to.position[1] - body.position[1]);
    let (sin, cos) = body.yaw.sin_cos();
    (dx * cos + dy * sin, dy * cos - dx * sin)
}

/// Judges a pair by the bearings under which they see each other. With equal bearings and different speeds, about which the public rule is
/// silent, the faster one ran into the slower.
pub(super) fn contact(robot: &Body, person: &Body, compat: bool) -> Contact {
    if gap(robot, person) >= TOUCHING {
        return Contact::default();
    }
    let (ahead, left) = seen_from(person, robot);
    let of_robot = left.atan2(ahead).abs();
    let (ahead, left) = seen_from(robot, person);
    let of_person = if compat { ahead.atan2(left) } else { left.atan2(ahead) }.abs();
    let same_speed = robot.linear_vel == person.linear_vel;
    match (of_robot == of_person, same_speed) {
        (true, true) => Contact { by_robot: true, by_person: true },
        (false, true) => Contact::default(),
        (true, false) => {
            let by_robot = robot.linear_vel > person.linear_vel;
            Contact { by_robot, by_person: !by_robot }
        }
        (false, false) => Contact { by_robot: of_robot < of_person, by_person: of_robot > of_person },
    }
}

#[cfg(test)]
mod tests {
    use std::f64::consts::PI;

    use super::*;

    fn body(x: f64, yaw: f64, linear_vel: f64) -> Body {
        Body { position: [x, 0.0], yaw, linear_vel, radius: 0.3, ..Body::default() }
    }

    #[test]
    fn bearings_and_speeds_decide_who_ran_into_whom() {
        let judge = |robot: &Body, person: &Body| {
            let Contact { by_robot, by_person } = contact(robot, person, false);
            (by_robot, by_person)
        };
        // The robot is behind a person who sees nothing of it.
        let robot = body(0.0, 0.0, 0.8);
        assert_eq!(judge(&robot, &body(0.61, 0.0, 0.2)), (false, true));
        assert_eq!(judge(&robot, &body(0.61, 0.5 - PI, 0.2)), (false, true));
        // It sees the person at its side, who sees it ahead.
        assert_eq!(judge(&body(0.0, 1.0, 0.8), &body(0.61, PI, 0.2)), (true, false));
        // Head on.
        assert_eq!(judge(&robot, &body(0.61, -PI, 0.8)), (false, false), "pi is no exact half turn");
        let (robot, person) = (body(0.0, 0.0, 0.5), Body { position: [0.61, 0.0], ..body(0.0, 0.0, 0.5) });
        let mirrored = Body { position: [-0.61, 0.0], ..person };
        assert_eq!(judge(&robot, &mirrored), (false, false));
        assert_eq!(judge(&robot, &body(0.62, 0.0, 0.5)), (false, false));
    }

    #[test]
    fn equal_bearings_are_both_at_equal_speeds_and_else_the_faster() {
        // Side by side, each at the other's left hand: cosines and sines are exact.
        let robot = Body { position: [0.0, 0.0], ..body(0.0, 0.0, 0.0) };
        let at_left = |linear_vel| Body { position: [0.0, 0.61], ..body(0.0, 0.0, linear_vel) };
        assert_eq!(contact(&robot, &at_left(0.0), false), Contact { by_robot: true, by_person: true });
        assert_eq!(contact(&robot, &at_left(0.5), false), Contact { by_robot: false, by_person: true });
        let moving = Body { linear_vel: 0.7, ..robot };
        assert_eq!(contact(&moving, &at_left(0.5), false), Contact { by_robot: true, by_person: false });
    }
}
