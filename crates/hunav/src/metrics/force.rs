//! The forces that metrics measure: the force model of section 7 with the weights of a new walker, never those of a message.

use super::Body;
use crate::{Point, wrap};

/// Weights of the force library (section 7).
const SOCIAL: f64 = 2.1;
const OBSTACLE: f64 = 10.0;
const SIGMA: f64 = 0.2;
const LAMBDA: f64 = 2.0;
const GAMMA: f64 = 0.35;
const N: f64 = 2.0;
const N_PRIME: f64 = 3.0;

/// Length of a vector.
pub(super) fn modulus([x, y]: Point) -> f64 {
    x.hypot(y)
}

/// Social force of `other` on `body`; zero where the model has no answer (equal places and velocities). `compat` exchanges the arguments of
/// the direction of interaction, as the public evaluator does.
pub(super) fn social(body: &Body, other: &Body, compat: bool) -> Point {
    let away = [other.position[0] - body.position[0], other.position[1] - body.position[1]];
    let distance = modulus(away);
    let direction = if distance > 0.0 { [away[0] / distance, away[1] / distance] } else { [0.0; 2] };
    let interaction = [
        LAMBDA * (body.velocity[0] - other.velocity[0]) + direction[0],
        LAMBDA * (body.velocity[1] - other.velocity[1]) + direction[1],
    ];
    let length = modulus(interaction);
    let tangent = [interaction[0] / length, interaction[1] / length];
    let heading = if compat { tangent[0].atan2(tangent[1]) } else { tangent[1].atan2(tangent[0]) };
    let theta = wrap(direction[1].atan2(direction[0]) - heading);
    let reach = GAMMA * length;
    let decay = |n: f64| -(-distance / reach - (n * reach * theta).powi(2)).exp();
    let sign = if theta == 0.0 { 0.0 } else { theta.signum() };
    let (along, across) = (decay(N_PRIME), sign * decay(N));
    let force = [
        SOCIAL * (along * tangent[0] - across * tangent[1]),
        SOCIAL * (along * tangent[1] + across * tangent[0]),
    ];
    if force.iter().all(|part| part.is_finite()) { force } else { [0.0; 2] }
}

/// Modulus of the mean force of a body's obstacle points; points that are not finite or at its very centre count for nothing.
pub(super) fn obstacle(body: &Body) -> f64 {
    let mut sum = [0.0; 2];
    for point in &body.closest_obs {
        let away = [body.position[0] - point[0], body.position[1] - point[1]];
        let distance = modulus(away);
        if !(distance > 0.0 && distance.is_finite()) {
            continue;
        }
        let size = OBSTACLE * (-(distance - body.radius) / SIGMA).exp() / distance;
        sum = [sum[0] + size * away[0], sum[1] + size * away[1]];
    }
    let force = modulus(sum) / (body.closest_obs.len().max(1) as f64);
    if force.is_finite() { force } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn walker(position: Point, velocity: Point) -> Body {
        Body { position, velocity, radius: 0.35, ..Body::default() }
    }

    #[test]
    fn the_worked_pair_of_the_model_holds_with_the_angles_that_were_meant() {
        let (one, other) = (walker([0.0, 0.0], [1.0, 0.0]), walker([2.0, 0.5], [-1.0, 0.0]));
        let force = social(&one, &other, false);
        assert!((force[0] + 0.204_828_191).abs() < 1e-9 && (force[1] + 0.413_441_174).abs() < 1e-9);
        let back = social(&other, &one, false);
        assert!((force[0] + back[0]).abs() < 1e-12 && (force[1] + back[1]).abs() < 1e-12);
        assert_ne!(social(&one, &other, true), force);
    }

    #[test]
    fn obstacle_points_of_the_model_are_averaged() {
        let mut body = walker([0.0; 2], [0.0; 2]);
        assert_eq!(obstacle(&body), 0.0);
        body.closest_obs = vec![[0.6, 0.0]];
        assert!((obstacle(&body) - 2.865_047_969).abs() < 1e-9);
        body.closest_obs.push([0.0, 0.5]);
        let mean = modulus([2.865_047_969 / 2.0, 4.723_665_527 / 2.0]);
        assert!((obstacle(&body) - mean).abs() < 1e-9);
    }

    #[test]
    fn what_the_model_cannot_answer_is_no_force() {
        let body = walker([1.0, 1.0], [0.5, 0.0]);
        assert_eq!(social(&body, &body.clone(), true), [0.0; 2]);
        let stuck = Body { closest_obs: vec![[1.0, 1.0], [f64::NAN, 0.0], [f64::INFINITY, 0.0]], ..body };
        assert_eq!(obstacle(&stuck), 0.0);
    }
}
