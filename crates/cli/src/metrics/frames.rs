//! Frames of TF in the plane: where a frame is in the one at the root, by the newest transforms.

use std::collections::BTreeMap;

use super::messages::Transform;

/// x, y and heading.
pub(super) type Place = [f64; 3];

/// More frames than any robot stacks up; beyond, transforms go round in a circle.
const DEEPEST: usize = 32;
/// More frames than a bag of any fleet has.
const MOST: usize = 100_000;

/// `inner`, given in the frame at `outer`, in the frame that `outer` is in.
pub(super) fn compose(outer: Place, inner: Place) -> Place {
    let (sin, cos) = outer[2].sin_cos();
    [
        outer[0] + cos * inner[0] - sin * inner[1],
        outer[1] + sin * inner[0] + cos * inner[1],
        outer[2] + inner[2],
    ]
}

/// The newest transforms.
#[derive(Debug, Default)]
pub(super) struct Frames(BTreeMap<String, (String, Place)>);

impl Frames {
    /// Takes a transform.
    pub(super) fn see(&mut self, transform: &Transform) {
        let [x, y, _] = transform.pose.position;
        let place = [x, y, transform.pose.yaw()];
        let child = unslashed(&transform.child).to_owned();
        if place.iter().all(|number| number.is_finite())
            && (self.0.len() < MOST || self.0.contains_key(&child))
        {
            self.0.insert(child, (unslashed(&transform.parent).to_owned(), place));
        }
    }

    /// Where a frame is in the one at its root; itself, when nothing is known of it.
    pub(super) fn place(&self, frame: &str) -> Place {
        let (mut place, mut frame) = ([0.0; 3], unslashed(frame));
        for _ in 0..DEEPEST {
            let Some((parent, own)) = self.0.get(frame) else { break };
            place = compose(*own, place);
            frame = parent;
        }
        place
    }

    /// Frames that robots move with, for a message.
    pub(super) fn bases(&self) -> Vec<&str> {
        let is_base = |name: &&String| name.ends_with("base_link") || name.ends_with("base_footprint");
        self.0.keys().filter(is_base).map(String::as_str).collect()
    }
}

fn unslashed(frame: &str) -> &str {
    frame.trim_start_matches('/')
}

#[cfg(test)]
mod tests {
    use std::f64::consts::FRAC_PI_2;

    use promenade_human::message::Pose;

    use super::*;

    fn transform(parent: &str, child: &str, [x, y, yaw]: Place) -> Transform {
        Transform {
            stamp_ns: 0,
            parent: parent.to_owned(),
            child: child.to_owned(),
            pose: Pose::planar(x, y, yaw),
        }
    }

    #[test]
    fn a_frame_is_placed_through_its_parents_and_circles_end() {
        let mut frames = Frames::default();
        frames.see(&transform("map", "/odom", [1.0, 2.0, FRAC_PI_2]));
        frames.see(&transform("odom", "base_link", [3.0, 0.0, 0.5]));
        let [x, y, yaw] = frames.place("base_link");
        assert!((x - 1.0).abs() < 1e-12 && (y - 5.0).abs() < 1e-12 && (yaw - FRAC_PI_2 - 0.5).abs() < 1e-12);
        assert_eq!(frames.place("nowhere"), [0.0; 3]);
        assert_eq!(frames.bases(), ["base_link"]);
        frames.see(&transform("base_link", "map", [1.0, 0.0, 0.0]));
        assert!(frames.place("map").iter().all(|number| number.is_finite()));
    }
}
