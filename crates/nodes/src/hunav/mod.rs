//! HuNav on the wire: the agent manager, the bridge to an external one, and what both say.
//!
//! `hunav_msgs` has one name and three incompatible definitions. Only what sits behind the feature `hunav` links it; everything else
//! speaks the messages of `promenade_msgs`, in which an agent is the same whatever the environment has.

#[cfg(feature = "hunav")]
pub mod bridge;
#[cfg(feature = "hunav")]
pub mod manager;
pub(crate) mod neutral;
#[cfg(feature = "hunav")]
pub(crate) mod wire;

use promenade_hunav::{BehaviorKind, Configuration, Kind, Point};
use rosidl_runtime_rs::Sequence;

use crate::bus::resize;

/// Names below the task generator on which `human_simulator` and `hunav_bridge` speak.
pub(crate) mod names {
    /// `promenade_msgs/srv/HunavStep`.
    pub(crate) const STEP: &str = "hunav_bridge/step";
    /// `std_srvs/srv/Trigger`.
    pub(crate) const CLEAR: &str = "hunav_bridge/clear";
    /// `promenade_msgs/msg/HunavRoster`, latched.
    pub(crate) const ROSTER: &str = "hunav_bridge/roster";
    /// `promenade_msgs/msg/HunavStatus`, latched.
    pub(crate) const STATUS: &str = "hunav_bridge/status";
}

/// What an agent is; an unknown number is a person.
pub(crate) fn kind(number: u8) -> Kind {
    match number {
        2 => Kind::Robot,
        3 => Kind::Other,
        _ => Kind::Person,
    }
}

/// How an agent takes a robot; an unknown number is regular.
pub(crate) fn behavior_kind(number: u8) -> BehaviorKind {
    match number {
        2 => BehaviorKind::Impassive,
        3 => BehaviorKind::Surprised,
        4 => BehaviorKind::Scared,
        5 => BehaviorKind::Curious,
        6 => BehaviorKind::Threatening,
        _ => BehaviorKind::Regular,
    }
}

/// Where factors come from; an unknown number is the default.
pub(crate) fn configuration(number: u8) -> Configuration {
    match number {
        1 => Configuration::Custom,
        2 => Configuration::RandomNormal,
        3 => Configuration::RandomUniform,
        _ => Configuration::Default,
    }
}

/// Reads points into a re-used list.
fn read_points(from: &[geometry_msgs::msg::rmw::Point], to: &mut Vec<Point>) {
    to.clear();
    to.extend(from.iter().map(|point| [point.x, point.y]));
}

/// Writes points into a re-used sequence.
fn write_points(from: &[Point], to: &mut Sequence<geometry_msgs::msg::rmw::Point>) {
    resize(to, from.len());
    for ([x, y], to) in from.iter().zip(to.iter_mut()) {
        (to.x, to.y, to.z) = (*x, *y, 0.0);
    }
}

/// Gives a list a length, and its items back what they hold on the heap.
fn reuse<T: Default>(list: &mut Vec<T>, len: usize) -> std::slice::IterMut<'_, T> {
    list.resize_with(len, T::default);
    list.iter_mut()
}
