//! Wire values to URDF values; only the two shoulder triples change.
//!
//! The wire triple (y, p, r) is anatomical: `R = Rz(y) Rot((0,-1,0), p) Rot((0,0,-1), r)` on both sides. The URDF chain
//! is `Rz(-a) Rx(b) Rz(c)` on the left and `Rz(a) Rx(-b) Rz(-c)` on the right. A rotation about -y is
//! `Rz(-pi/2) Rx(.) Rz(pi/2)`, so the map is linear (ROS4HRI projection, section 4.3):
//!
//! ```text
//! left :  a = pi/2 - y   b = p   c = pi/2 - r
//! right:  a = pi/2 + y   b = p   c = pi/2 + r
//! ```
//!
//! The recorded numbers of the human-layer specification, section 31, take the branch with a in [0, pi], where
//! (a, b, c) and (a + pi, -b, c + pi) are the same rotation; so does this module. It has no special case for the
//! hanging arm (p = 0 or pi), where only a combination of azimuth and twist shows: the linear map gives that
//! combination too, without a jump in time.

use std::f64::consts::{FRAC_PI_2, PI, TAU};

use crate::joint::{Joint, Pose40, Side};

/// The URDF values (`y_shoulder`, `p_shoulder`, `r_shoulder`) of a wire triple of the same names, radians. Every side
/// other than [`Side::Left`] is read as the right one. URDF limits are not enforced.
#[must_use]
pub fn shoulder_to_urdf(side: Side, [y, p, r]: [f64; 3]) -> [f64; 3] {
    let sign = if side == Side::Left { -1.0 } else { 1.0 };
    let a = wrap(FRAC_PI_2 + sign * y);
    let c = FRAC_PI_2 + sign * r;
    if a < 0.0 { [a + PI, -p, wrap(c + PI)] } else { [a, p, wrap(c)] }
}

/// URDF values of a whole wire posture.
#[must_use]
pub fn wire_to_urdf(wire: &Pose40) -> Pose40 {
    wire_to_urdf_where(wire, |_| true)
}

/// URDF values of a message that holds only the joints of `has`: a shoulder triple that is not complete passes
/// unchanged.
#[must_use]
pub fn wire_to_urdf_where(wire: &Pose40, has: impl Fn(Joint) -> bool) -> Pose40 {
    const LEFT: [Joint; 3] = [Joint::LYShoulder, Joint::LPShoulder, Joint::LRShoulder];
    const RIGHT: [Joint; 3] = [Joint::RYShoulder, Joint::RPShoulder, Joint::RRShoulder];
    let mut urdf = *wire;
    for (side, triple) in [(Side::Left, LEFT), (Side::Right, RIGHT)] {
        if triple.iter().all(|joint| has(*joint)) {
            let turned = shoulder_to_urdf(side, triple.map(|joint| wire[joint.index()]));
            for (joint, value) in triple.iter().zip(turned) {
                urdf[joint.index()] = value;
            }
        }
    }
    urdf
}

/// Into (-pi, pi].
fn wrap(angle: f64) -> f64 {
    if angle > -PI && angle <= PI {
        return angle;
    }
    let within = angle.rem_euclid(TAU);
    if within > PI { within - TAU } else { within }
}
