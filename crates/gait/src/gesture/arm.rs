//! The arm that points: a closed-form hold for a target (human-layer specification, section 14.5).
//!
//! The pointing ray is the forearm, from elbow through wrist. The elbow is slightly bent and hangs below the line, in
//! the vertical plane of the target, so that azimuth, flexion and elbow follow from plane geometry: with the upper arm A,
//! the bend e and the target at distance D under the polar angle q (from straight down), the forearm has
//! `q + asin(A sin e / D)` and the shoulder e less. Nothing here may allocate or depend on anything but its arguments.

use std::f64::consts::{PI, TAU};

use crate::{
    joint::{JOINT_COUNT, Joint, Pose40, Side},
    joint_set::JointSet,
    rig::{Matrix, Point},
};

/// Bend of the elbow of a pointing arm, radians, and the least that leaves room to breathe.
const BEND: f64 = 0.15;
const LEAST_BEND: f64 = 0.03;
/// How far a hold stays from the limit of flexion, radians.
const BREATHING_ROOM: f64 = 0.05;
/// Upper arm, clavicle, a third of the torso and hip height, in u.
const UPPER_ARM: f64 = 1.6;
const FOREARM: f64 = 1.0;
const CLAVICLE: f64 = 0.8;
const THIRD: f64 = 2.75 / 3.0;
const HIP: f64 = 3.5;
/// A target this close to the shoulder has no direction, metres.
const NEAREST: f64 = 0.1;
/// Rounds of the search for a forearm behind the body; each shrinks the error by upper arm over distance.
const ROUNDS: usize = 24;
/// How far beyond half a turn azimuth and twist may go to step around the wrap, radians.
const OVERLAP: f64 = 0.35;
/// Azimuths of the arm that feel easy, toward its own side positive, radians; the trunk turns for the rest.
const EASY: [f64; 2] = [-0.2, 1.4];
/// Most that waist, spine and chest turn together, radians.
const TURN: f64 = 1.5;

/// Joints of one arm in wire order: collar yaw and pitch, shoulder azimuth, flexion and twist, elbow.
pub(super) fn joints(side: Side) -> [Joint; 6] {
    match side {
        Side::Left => [
            Joint::LYCollar,
            Joint::LPCollar,
            Joint::LYShoulder,
            Joint::LPShoulder,
            Joint::LRShoulder,
            Joint::LElbow,
        ],
        _ => [
            Joint::RYCollar,
            Joint::RPCollar,
            Joint::RYShoulder,
            Joint::RPShoulder,
            Joint::RRShoulder,
            Joint::RElbow,
        ],
    }
}

pub(super) fn joint_set(side: Side) -> JointSet {
    if side == Side::Left { JointSet::LEFT_ARM } else { JointSet::RIGHT_ARM }
}

/// A posture that points.
#[derive(Debug, Clone, Copy)]
pub(super) struct Hold {
    /// Spine and arm; every other joint is 0.
    pub(super) pose: Pose40,
    /// Direction of the forearm in the frame of the person.
    pub(super) aim: Point,
    /// The target is within reach of the hand.
    pub(super) near: bool,
}

/// The posture that points at a target in the frame of the person (origin on the floor, metres), `None` for a target in
/// the shoulder. `turning` lets the trunk help.
pub(super) fn hold(side: Side, target: Point, unit: f64, turning: bool) -> Option<Hold> {
    let own = if side == Side::Left { 1.0 } else { -1.0 };
    let [dx, dy, dz] = [target[0], target[1], target[2] - (HIP + 3.0 * THIRD) * unit];
    let across = dx.hypot(dy);
    let elevation = dz.atan2(across);
    let mut azimuth = if across > 1e-6 { own * dy.atan2(dx) } else { 0.0 };
    let mut pose = [0.0; JOINT_COUNT];
    if turning {
        let mut turn = (0.25 * azimuth).clamp(-0.4, 0.4);
        turn = turn.max(azimuth - EASY[1]).min(azimuth - EASY[0]).clamp(-TURN, TURN);
        azimuth -= turn;
        for (joint, share) in [(Joint::YWaist, 0.5), (Joint::YSpine, 0.25), (Joint::YChest, 0.25)] {
            pose[joint.index()] = own * share * turn;
        }
        let lean = (-0.12 * elevation).clamp(-0.08, 0.15);
        pose[Joint::Spine.index()] = lean;
        pose[Joint::Chest.index()] = lean;
    }
    let [y_collar, p_collar, y, p, r, elbow] = joints(side).map(Joint::index);
    pose[y_collar] = 0.12 * azimuth.cos();
    pose[p_collar] = (0.1 + 0.25 * elevation).clamp(0.0, 0.45);
    let (collar, shoulder) = collar(side, &pose, unit);
    let local = turn_back(&collar, std::array::from_fn(|axis| target[axis] - shoulder[axis]));
    let distance = norm(local);
    if !distance.is_finite() || distance < NEAREST {
        return None;
    }
    let upper = UPPER_ARM * unit;
    // Close to the shoulder the bend shrinks, or the forearm could not come back to the target.
    let bend = (distance / upper * BEND.sin()).min(BEND.sin()).asin().max(LEAST_BEND);
    let [triple, forearm] = solve(local, distance, upper, bend, own);
    [pose[y], pose[p], pose[r]] = triple;
    pose[elbow] = bend;
    Some(Hold { pose, aim: collar.apply(forearm), near: distance < upper + FOREARM * unit })
}

/// Shoulder triple and forearm direction in the collar frame.
fn solve(target: Point, distance: f64, upper: f64, bend: f64, own: f64) -> [Point; 2] {
    let across = target[0].hypot(target[1]);
    let azimuth = if across > 1e-9 { target[1].atan2(target[0]) } else { 0.0 };
    let polar = across.atan2(-target[2]);
    let tilt = (upper * bend.sin() / distance).clamp(-1.0, 1.0).asin();
    // Behind the body and low, the arm goes back instead of around.
    let back = -polar + tilt - bend;
    let behind = own * azimuth > 2.0 || own * azimuth < -1.2;
    if behind && back >= Joint::LPShoulder.wire_limits()[0] + BREATHING_ROOM {
        let y = if azimuth > 0.0 { azimuth - PI } else { azimuth + PI };
        return [[y, back, 0.0], direction(y, back + bend)];
    }
    let furthest = Joint::LYShoulder.wire_limits()[1];
    if azimuth.abs() <= furthest {
        let p = polar + tilt - bend;
        return [[azimuth, p, 0.0], direction(azimuth, p + bend)];
    }
    // Straight behind: the azimuth stops at its limit, and a twist takes the forearm the rest of the way.
    let y = furthest.copysign(azimuth);
    let (sin_y, cos_y) = y.sin_cos();
    let (mut p, mut r) = (0.0, 0.0);
    let mut forearm = direction(azimuth, polar + tilt);
    for _ in 0..ROUNDS {
        let [fx, fy, fz] = forearm;
        let [a, b] = [cos_y * fx + sin_y * fy, cos_y * fy - sin_y * fx];
        r = (-b / bend.sin()).clamp(-1.0, 1.0).asin();
        p = a.atan2(-fz) - (bend.sin() * r.cos()).atan2(bend.cos());
        let elbow = direction(y, p).map(|component| component * upper);
        let ray: Point = std::array::from_fn(|axis| target[axis] - elbow[axis]);
        let length = norm(ray);
        forearm = ray.map(|component| component / length);
    }
    [[y, p, r], forearm]
}

/// The direction of an azimuth and a polar angle from straight down.
fn direction(azimuth: f64, polar: f64) -> Point {
    let (sin, cos) = polar.sin_cos();
    [sin * azimuth.cos(), sin * azimuth.sin(), -cos]
}

fn norm([x, y, z]: Point) -> f64 {
    x.hypot(y).hypot(z)
}

fn turn_back(rotation: &Matrix, point: Point) -> Point {
    rotation.columns.map(|column| column[0] * point[0] + column[1] * point[1] + column[2] * point[2])
}

/// Angle between two directions, radians.
pub(super) fn angle(a: Point, b: Point) -> f64 {
    let cross = [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
    norm(cross).atan2(a[0] * b[0] + a[1] * b[1] + a[2] * b[2])
}

/// Rotation of the collar and position of the shoulder in the frame of the person.
fn collar(side: Side, pose: &Pose40, unit: f64) -> (Matrix, Point) {
    let mut rotation = Matrix::IDENTITY;
    let mut point = [0.0, 0.0, HIP * unit];
    let mut step = |rotation: &Matrix, offset: Point| {
        let moved = rotation.apply(offset);
        point = std::array::from_fn(|axis| point[axis] + moved[axis]);
    };
    for (index, joint) in JointSet::SPINE.iter().enumerate() {
        rotation.turn(joint.axis(), pose[joint.index()]);
        if index % 3 == 2 {
            step(&rotation, [0.0, 0.0, THIRD * unit]);
        }
    }
    for joint in &joints(side)[..2] {
        rotation.turn(joint.axis(), pose[joint.index()]);
    }
    let own = if side == Side::Left { 1.0 } else { -1.0 };
    step(&rotation, [0.0, own * CLAVICLE * unit, 0.0]);
    (rotation, point)
}

/// The arm's rotation of a wire triple, as a quaternion (x, y, z, w).
pub(super) fn quaternion([y, p, r]: Point) -> [f64; 4] {
    let mut rotation = Matrix::IDENTITY;
    rotation.turn(crate::joint::Axis::PZ, y);
    rotation.turn(crate::joint::Axis::NY, p);
    rotation.turn(crate::joint::Axis::NZ, r);
    rotation.quaternion()
}

/// The wire triple of a rotation nearest to one that went before, so that it does not jump.
pub(super) fn triple(rotation: [f64; 4], before: Point) -> Point {
    let [x, _, z] = Matrix::from_quaternion(rotation).columns;
    let p = z[2].clamp(-1.0, 1.0).acos();
    let azimuth = if p.sin() > 1e-7 { (-z[1]).atan2(-z[0]) } else { before[0] };
    // What is left after azimuth and flexion turns about -z.
    let mut rest = Matrix::IDENTITY;
    rest.turn(crate::joint::Axis::PZ, azimuth);
    rest.turn(crate::joint::Axis::NY, p);
    let left = turn_back(&rest, x);
    let twist = (-left[1]).atan2(left[0]);
    let near = |angle: f64, before: f64| {
        let stepped = angle + TAU * ((before - angle) / TAU).round();
        if stepped.abs() <= PI + OVERLAP { stepped } else { angle }
    };
    let one = [near(azimuth, before[0]), p, near(twist, before[2])];
    let other = [near(azimuth + PI, before[0]), -p, near(twist + PI, before[2])].map(fold);
    let gap = |triple: &Point| (0..3).map(|axis| (triple[axis] - before[axis]).abs()).sum::<f64>();
    if gap(&other) < gap(&one) { other } else { one }
}

/// Into the range that an angle may have on the wire around its wrap.
fn fold(angle: f64) -> f64 {
    if angle.abs() <= PI + OVERLAP { angle } else { angle - TAU.copysign(angle) }
}

/// Spherical interpolation of unit quaternions by the shorter way.
pub(super) fn slerp(from: [f64; 4], to: [f64; 4], s: f64) -> [f64; 4] {
    let dot: f64 = from.iter().zip(to).map(|(a, b)| a * b).sum();
    let to = if dot < 0.0 { to.map(|component| -component) } else { to };
    let half = dot.abs().min(1.0).acos();
    let [a, b] = if half < 1e-6 {
        [1.0 - s, s]
    } else {
        [((1.0 - s) * half).sin() / half.sin(), (s * half).sin() / half.sin()]
    };
    let mixed: [f64; 4] = std::array::from_fn(|axis| a * from[axis] + b * to[axis]);
    let length = mixed.iter().map(|component| component * component).sum::<f64>().sqrt();
    mixed.map(|component| component / length)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rig::{Frames, Link, Rig, Transform, wire_to_urdf};

    /// Angle between the forearm and the line from the wrist to the target, from forward kinematics.
    fn aim_error(rig: &Rig, side: Side, pose: &Pose40, target: Point) -> f64 {
        let mut frames = Frames::default();
        let root = Transform { translation: [0.0, 0.0, rig.hip_height()], ..Transform::IDENTITY };
        rig.forward(&root, &wire_to_urdf(pose), &mut frames);
        let prefix = if side == Side::Left { "l" } else { "r" };
        let at = |name: &str| frames.origin(Link::parse(&format!("{prefix}_{name}")).unwrap());
        let (elbow, wrist) = (at("elbow"), at("wrist"));
        let forearm = std::array::from_fn(|axis| wrist[axis] - elbow[axis]);
        angle(forearm, std::array::from_fn(|axis| target[axis] - wrist[axis]))
    }

    #[test]
    fn every_direction_of_the_sphere_is_hit_within_the_limits() {
        let rig = Rig::default();
        let mut worst = 0.0_f64;
        for side in [Side::Left, Side::Right] {
            for turning in [false, true] {
                for distance in [0.9, 1.5, 4.0, 30.0] {
                    for elevation in -90..=90 {
                        for azimuth in (-180..=180).step_by(2) {
                            let [el, az] =
                                [elevation, azimuth].map(|degrees| f64::from(degrees).to_radians());
                            let around = [el.cos() * az.cos(), el.cos() * az.sin(), el.sin()];
                            let target =
                                std::array::from_fn(|axis| distance * around[axis] + [0.0, 0.0, 1.375][axis]);
                            let hold = hold(side, target, rig.unit(), turning).unwrap();
                            for joint in joint_set(side).union(JointSet::SPINE).iter() {
                                let [lo, hi] = joint.wire_limits();
                                let value = hold.pose[joint.index()];
                                assert!(
                                    value >= lo && value <= hi,
                                    "{joint} {value} at {distance} m, {azimuth}, {elevation}, {turning}"
                                );
                            }
                            let error = aim_error(&rig, side, &hold.pose, target);
                            assert!(
                                error < 1.0_f64.to_radians(),
                                "{side:?} {}: {distance} m, {azimuth}, {elevation}, {turning}, {:?}",
                                error.to_degrees(),
                                &hold.pose[12..24]
                            );
                            worst = worst.max(error);
                        }
                    }
                }
            }
        }
        assert!(worst < 0.05_f64.to_radians(), "{}", worst.to_degrees());
    }

    /// Least distance of forearm and hand from the axis of the trunk, metres.
    fn clearance(rig: &Rig, side: Side, pose: &Pose40) -> f64 {
        let mut frames = Frames::default();
        rig.forward(&Transform::IDENTITY, &wire_to_urdf(pose), &mut frames);
        let prefix = if side == Side::Left { "l" } else { "r" };
        let link = |name: &str| Link::parse(&format!("{prefix}_{name}")).unwrap();
        let limb = [frames.origin(link("elbow")), frames.point(link("wrist"), [0.0, 0.0, -0.1])];
        let trunk = [Link::BODY, Link::parse("spine").unwrap(), Link::parse("chest").unwrap(), Link::TORSO]
            .map(|link| frames.origin(link));
        let between = |[from, to]: [Point; 2], part: u32| -> Point {
            std::array::from_fn(|axis| from[axis] + (to[axis] - from[axis]) * f64::from(part) / 16.0)
        };
        let mut least = f64::INFINITY;
        for bone in trunk.windows(2) {
            for (one, other) in (0..=16).flat_map(|one| (0..=16).map(move |other| (one, other))) {
                let (a, b) = (between(limb, one), between([bone[0], bone[1]], other));
                least = least.min((0..3).map(|axis| (a[axis] - b[axis]).powi(2)).sum::<f64>());
            }
        }
        least.sqrt()
    }

    #[test]
    fn an_arm_that_points_to_its_own_side_stays_out_of_the_trunk() {
        let rig = Rig::default();
        let mut least = (f64::INFINITY, [0.0; 3]);
        for (side, sign) in [(Side::Left, 1.0), (Side::Right, -1.0)] {
            for turning in [false, true] {
                // Lower is under the floor.
                for elevation in (-25..=90).step_by(5) {
                    // 20 degrees across the midline is as far as the dominant hand goes of itself.
                    for azimuth in (-20..=180).step_by(5) {
                        let [el, az] = [elevation, azimuth].map(|degrees| f64::from(degrees).to_radians());
                        let az = sign * az;
                        let target =
                            [3.0 * el.cos() * az.cos(), 3.0 * el.cos() * az.sin(), 1.375 + 3.0 * el.sin()];
                        let hold = hold(side, target, rig.unit(), turning).unwrap();
                        let found = clearance(&rig, side, &hold.pose);
                        if found < least.0 {
                            least = (found, [f64::from(elevation), f64::from(azimuth), sign]);
                        }
                    }
                }
            }
        }
        assert!(least.0 > 0.126, "{least:?}");
    }

    #[test]
    fn bodies_of_all_heights_point() {
        for height in [0.8, 1.2, 2.1] {
            let rig = Rig::new(height).unwrap();
            let target = [2.0, -1.0, 0.4];
            let hold = hold(Side::Right, target, rig.unit(), true).unwrap();
            assert!(aim_error(&rig, Side::Right, &hold.pose, target) < 1e-3);
        }
    }

    #[test]
    fn targets_in_the_body_are_refused_or_told() {
        let unit = Rig::default().unit();
        let shoulder = [0.0, 0.176, 1.375];
        assert!(hold(Side::Left, shoulder, unit, false).is_none());
        assert!(hold(Side::Left, [f64::NAN; 3], unit, false).is_none());
        assert!(hold(Side::Left, [0.3, 0.2, 1.3], unit, false).unwrap().near);
        assert!(!hold(Side::Left, [3.0, 0.2, 1.3], unit, false).unwrap().near);
    }

    #[test]
    fn triples_come_back_without_a_jump() {
        for y in -10..=10 {
            for p in [-0.9, -0.3, 0.2, 1.0, 2.0, 3.0] {
                for r in -5..=5 {
                    let wire = [0.3 * f64::from(y), p, 0.3 * f64::from(r)];
                    let found = triple(quaternion(wire), wire);
                    for axis in 0..3 {
                        assert!((found[axis] - wire[axis]).abs() < 1e-6, "{found:?} for {wire:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn slerp_goes_the_short_way() {
        let from = quaternion([0.0, 1.0, 0.0]);
        let to = quaternion([0.0, 2.0, 0.0]).map(|component| -component);
        let half = triple(slerp(from, to, 0.5), [0.0, 1.0, 0.0]);
        assert!((half[1] - 1.5).abs() < 1e-9 && half[0].abs() < 1e-9);
    }
}
