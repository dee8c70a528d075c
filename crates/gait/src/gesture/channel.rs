//! What a person is asked to do: the channels of the bus.

use crate::{animation::SlotId, joint::Side, rig::Point};

/// One gesture channel as the bus carries it.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Channel<'a> {
    /// `head`, `arm`, `arm_l`, `arm_r` or `body`.
    pub slot: &'a str,
    /// Target in the world, metres, for head and arms.
    pub at: Point,
    /// Clip name, for `body`.
    pub clip: &'a str,
    /// Dominant hand `l` or `r`, for `arm`; anything else is the right one.
    pub hand: &'a str,
}

/// The channels of everybody in a batch.
pub trait Channels {
    /// How many channels an entry of the batch has.
    fn count(&self, person: usize) -> usize;
    /// One of them.
    fn channel(&self, person: usize, n: usize) -> Channel<'_>;
}

/// Nobody gestures.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoChannels;

impl Channels for NoChannels {
    fn count(&self, _: usize) -> usize {
        0
    }

    fn channel(&self, _: usize, _: usize) -> Channel<'_> {
        Channel::default()
    }
}

impl Channels for [Vec<Channel<'_>>] {
    fn count(&self, person: usize) -> usize {
        self.get(person).map_or(0, Vec::len)
    }

    fn channel(&self, person: usize, n: usize) -> Channel<'_> {
        self[person][n]
    }
}

/// The slots of the wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wire {
    Head,
    Arm,
    ArmLeft,
    ArmRight,
    Body,
}

impl Wire {
    pub(super) fn parse(slot: &str) -> Option<Self> {
        Some(match slot {
            "head" => Self::Head,
            "arm" => Self::Arm,
            "arm_l" => Self::ArmLeft,
            "arm_r" => Self::ArmRight,
            "body" => Self::Body,
            _ => return None,
        })
    }

    /// Position in the order of serving.
    pub(super) fn index(self) -> usize {
        match self {
            Self::Head => 0,
            Self::Arm | Self::ArmLeft | Self::ArmRight => 1,
            Self::Body => 2,
        }
    }

    pub(super) fn slot(self) -> SlotId {
        [SlotId::HEAD, SlotId::ARM, SlotId::BODY][self.index()]
    }
}

/// A channel that somebody serves.
#[derive(Debug, Clone, Copy)]
pub(super) struct Want<'a> {
    pub(super) wire: Wire,
    /// Target in the world.
    pub(super) at: Point,
    /// Target in the frame of the person.
    pub(super) target: Point,
    pub(super) clip: &'a str,
    /// The dominant hand.
    pub(super) dominant: Side,
}

impl<'a> Want<'a> {
    /// The channel for a person at (x, y, yaw).
    pub(super) fn new(wire: Wire, channel: Channel<'a>, [x, y, yaw]: [f64; 3]) -> Self {
        let (sin, cos) = yaw.sin_cos();
        let [dx, dy, dz] = [channel.at[0] - x, channel.at[1] - y, channel.at[2]];
        Self {
            wire,
            at: channel.at,
            target: [cos * dx + sin * dy, cos * dy - sin * dx, dz],
            clip: channel.clip,
            dominant: if channel.hand == "l" { Side::Left } else { Side::Right },
        }
    }

    /// The arm to point with: the dominant one in front, else the one on the target's side.
    pub(super) fn side(&self) -> Side {
        const MIDLINE: f64 = 20.0;
        let azimuth = self.target[1].atan2(self.target[0]);
        match self.wire {
            Wire::ArmLeft => Side::Left,
            Wire::ArmRight => Side::Right,
            _ if azimuth.abs() <= MIDLINE.to_radians() => self.dominant,
            _ if azimuth > 0.0 => Side::Left,
            _ => Side::Right,
        }
    }
}
