//! Which objects lie in a field of view (robot-world specification, section 13.4). Nothing is hidden behind anything.

use std::f64::consts::FRAC_PI_2;

use crate::objects::Objects;
use crate::wrap;

/// Whether an object of enclosing radius `radius` at `target` is in the view `[full angle, radius]` from the pose x, y, heading.
#[must_use]
pub fn sees(pose: [f64; 3], view: [f64; 2], target: [f64; 2], radius: f64) -> bool {
    let [dx, dy] = [target[0] - pose[0], target[1] - pose[1]];
    let distance = f64::hypot(dx, dy);
    let error = wrap(f64::atan2(dy, dx) - pose[2]).abs();
    let half_width = if distance > 0.0 { (radius / distance).min(1.0).asin() } else { FRAC_PI_2 };
    (error - half_width).max(0.0) <= view[0] / 2.0 && distance - radius <= view[1]
}

/// Rows of the objects in the field of view of the object `row`, ascending; none when it has no view.
pub fn in_view(objects: &Objects, row: usize) -> impl Iterator<Item = usize> + '_ {
    let pose = [objects.state[row][0], objects.state[row][1], objects.state[row][2]];
    let view = objects.fov[row];
    (0..objects.len()).filter(move |other| {
        let state = &objects.state[*other];
        *other != row
            && view.is_some_and(|view| sees(pose, view, [state[0], state[1]], objects.shape[*other].radius))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wide_target_straight_ahead_of_a_narrow_view_is_seen() {
        assert!(sees([0.0; 3], [0.2, 5.0], [2.0, 0.0], 1.5));
    }

    #[test]
    fn a_target_is_seen_as_soon_as_its_edge_is_in_the_sector() {
        let target = |bearing: f64| [4.0 * bearing.cos(), 4.0 * bearing.sin()];
        let half_width = (0.5_f64 / 4.0).asin();
        assert!(sees([0.0; 3], [1.0, 5.0], target(0.5 + half_width - 1e-9), 0.5));
        assert!(!sees([0.0; 3], [1.0, 5.0], target(0.5 + half_width + 1e-9), 0.5));
        assert!(sees([0.0; 3], [1.0, 3.5], target(0.0), 0.5));
        assert!(!sees([0.0; 3], [1.0, 3.5 - 1e-9], target(0.0), 0.5));
    }

    #[test]
    fn a_target_on_the_spot_is_seen_when_the_view_is_half_a_turn_or_it_is_ahead() {
        assert!(sees([1.0, 2.0, 0.0], [0.1, 1.0], [1.0, 2.0], 0.2));
        assert!(!sees([1.0, 2.0, 0.0], [0.1, 1.0], [f64::NAN, 2.0], 0.2));
    }
}
