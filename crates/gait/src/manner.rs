//! What a body does beyond the contract's cycle, for types that ask for it: turning with head and trunk ahead, standing like
//! somebody, starting and stopping within a step.
//!
//! A manner changes the posture of a base animation after the gait and before gestures. A person without one has the
//! contract's values to the bit. Nothing here may know where a person goes next: a turn is what the heading did so far.

use std::collections::HashMap;

use crate::{
    driver::wrapped,
    joint::{JOINT_COUNT, Joint, Pose40},
    pool::{IdHash, Motion},
};

/// How strongly a body shows what no cycle holds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Manner {
    /// Seconds of the present turn that the head is ahead of the feet, the chest half of that, the lumbar joint a quarter. People
    /// walking curves have about 0.2. 0 turns in one piece.
    pub turn_lead: f64,
    /// How much of a standing person's own way to stand shows, 0 to 1: weight on one leg and then the other, arms, glances.
    pub idle_variety: f64,
    /// Seconds in which standing, walking and running go over into each other; one step is about 0.5. 0 switches at once.
    pub settle: f64,
}

impl Default for Manner {
    /// Nothing at all.
    fn default() -> Self {
        Self { turn_lead: 0.0, idle_variety: 0.0, settle: 0.0 }
    }
}

/// m/s2.
const GRAVITY: f64 = 9.81;
/// Seconds over which the heading's rate is averaged; a step lasts half a second.
const TURN_MEMORY: f64 = 0.2;
/// Fastest turn that shows, rad/s.
const FASTEST_TURN: f64 = 2.0;
/// Shares of the lead from the lumbar joint to the head, each on top of the one below; together 1. The bus has no pelvis apart
/// from the feet, so the lumbar joint carries its part. Heads are 0.2 s ahead on curves, and the trunk rolls to the inner side
/// (Grasso et al., NeuroReport 7, 1996; Courtine and Schieppati, Eur. J. Neurosci. 18, 2003).
const LEAD: [(Joint, f64); 4] =
    [(Joint::YWaist, 0.25), (Joint::YSpine, 0.125), (Joint::YChest, 0.125), (Joint::YHead, 0.5)];
/// The most a head is ahead, radians.
const MOST_LEAD: f64 = 0.6;
/// The most a trunk leans into a turn, radians.
const MOST_LEAN: f64 = 0.12;

#[derive(Debug, Clone)]
struct Person {
    yaw: f64,
    /// Of the heading, averaged, rad/s.
    rate: f64,
    motion: Motion,
    /// The base as shown last.
    shown: Pose40,
    /// What is left of the posture before the last change, relative to the gait.
    offset: Pose40,
    /// Seconds since that change.
    since: f64,
}

/// What manners remember, by person id.
#[derive(Debug, Clone, Default)]
pub(crate) struct Manners {
    people: HashMap<u32, Person, IdHash>,
}

/// What a person does in a tick, as far as a manner needs to know.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Going {
    pub(crate) motion: Motion,
    /// Along the heading, m/s.
    pub(crate) speed: f64,
    /// Seconds.
    pub(crate) dt: f64,
    /// Heading, radians.
    pub(crate) yaw: f64,
    /// Of the gait, radians.
    pub(crate) phase: f64,
}

impl Manners {
    /// Changes a base posture by one tick of a manner.
    pub(crate) fn apply(&mut self, id: u32, manner: &Manner, going: &Going, pose: &mut Pose40) {
        let finite = |value: f64| if value.is_finite() { value } else { 0.0 };
        let (speed, dt, yaw) = (finite(going.speed), finite(going.dt).max(0.0), finite(going.yaw));
        let base = *pose;
        if going.motion == Motion::Idle && manner.idle_variety > 0.0 {
            stand(id, manner.idle_variety, going.phase, pose);
        }
        let person = self.people.entry(id).or_insert_with(|| Person {
            yaw,
            rate: 0.0,
            motion: going.motion,
            shown: *pose,
            offset: [0.0; JOINT_COUNT],
            since: f64::INFINITY,
        });
        if dt > 0.0 {
            let turned = wrapped(yaw - person.yaw) / dt;
            let share = 1.0 - (-dt / TURN_MEMORY).exp();
            person.rate += share * (turned.clamp(-FASTEST_TURN, FASTEST_TURN) - person.rate);
        }
        person.yaw = yaw;
        if manner.turn_lead > 0.0 {
            turn(manner.turn_lead * person.rate, speed * person.rate, pose);
        }
        if person.motion != going.motion {
            person.motion = going.motion;
            for ((offset, shown), target) in person.offset.iter_mut().zip(&person.shown).zip(&*pose) {
                *offset = shown - target;
            }
            person.since = 0.0;
        }
        person.since += dt;
        if person.since < manner.settle {
            let left = 1.0 - crate::clip::raised_cosine(person.since / manner.settle);
            for (angle, offset) in pose.iter_mut().zip(&person.offset) {
                *angle += left * offset;
            }
        }
        for (joint, angle) in Joint::ALL.into_iter().zip(pose.iter_mut()) {
            // What the profile itself lets out of the limits stays out.
            let [lo, hi] = joint.wire_limits();
            let own = base[joint.index()];
            *angle = angle.max(lo.min(own)).min(hi.max(own));
        }
        person.shown = *pose;
    }

    pub(crate) fn forget(&mut self, id: u32) {
        self.people.remove(&id);
    }

    pub(crate) fn retain(&mut self, mut keep: impl FnMut(u32) -> bool) {
        self.people.retain(|id, _| keep(*id));
    }
}

/// Head and trunk turn to where the feet will point, and the trunk leans as the path's curvature asks: tan = v rate / g.
fn turn(lead: f64, across: f64, pose: &mut Pose40) {
    let lead = lead.clamp(-MOST_LEAD, MOST_LEAD);
    for (joint, share) in LEAD {
        pose[joint.index()] += share * lead;
    }
    // A roll to the left is negative.
    let lean = -(across / GRAVITY).atan().clamp(-MOST_LEAN, MOST_LEAN);
    pose[Joint::RWaist.index()] += lean;
    // Eyes stay level.
    pose[Joint::RHead.index()] -= lean;
}

/// A person's own way to stand. Slow waves of the idle phase (a quarter of a cycle per second), with numbers from the id.
fn stand(id: u32, amount: f64, phase: f64, pose: &mut Pose40) {
    let own = |what: u32| own_number(id, what);
    // From one leg to the other every 8 to 16 s, and then rest there: a wave with its tops cut off.
    let shift = (3.0 * (phase * (0.125 + 0.125 * own(0)) + std::f64::consts::TAU * own(1)).sin()).tanh();
    let rests = [shift.max(0.0), (-shift).max(0.0)];
    let mut add = |joint: Joint, angle: f64| pose[joint.index()] += amount * angle;
    add(Joint::RWaist, 0.05 * shift);
    add(Joint::RSpine, -0.03 * shift);
    let legs = [
        [Joint::LRHip, Joint::LKnee, Joint::LAnkle, Joint::LPHip],
        [Joint::RRHip, Joint::RKnee, Joint::RAnkle, Joint::RPHip],
    ];
    for ([hip, knee, ankle, out], rest) in legs.into_iter().zip(rests) {
        // The thigh goes forward by as much as the shin comes back, so the sole stays level on the floor.
        add(hip, 0.11 * rest);
        add(knee, -0.22 * rest);
        add(ankle, 0.11 * rest);
        add(out, 0.02 + 0.02 * own(2));
    }
    let breath = (phase * (0.9 + 0.3 * own(3))).sin();
    add(Joint::Chest, 0.012 * breath);
    for (what, elbow, shoulder, twist) in [
        (4, Joint::LElbow, Joint::LPShoulder, Joint::LRShoulder),
        (6, Joint::RElbow, Joint::RPShoulder, Joint::RRShoulder),
    ] {
        add(elbow, 0.1 + 0.3 * own(what) + 0.02 * breath);
        add(shoulder, 0.1 * own(what + 1) - 0.05 + 0.01 * breath);
        add(twist, if elbow == Joint::LElbow { -0.2 } else { 0.2 });
    }
    let glance = (phase * (0.21 + 0.1 * own(8)) + std::f64::consts::TAU * own(9)).sin();
    add(Joint::YHead, 0.35 * glance.powi(5));
    add(Joint::PHead, -0.12 * own(10) + 0.02 * breath);
}

/// A number in [0, 1) of an id: the fractional parts of multiples of the golden ratio fill the interval evenly.
fn own_number(id: u32, what: u32) -> f64 {
    const GOLDEN: u32 = 2_654_435_769;
    let mixed = id.wrapping_add(what.wrapping_mul(0x9e37_79b1)).wrapping_mul(GOLDEN);
    f64::from(mixed ^ (mixed >> 15)) / (f64::from(u32::MAX) + 1.0)
}
