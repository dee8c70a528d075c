//! What a person seems to be doing about others (ROS4HRI projection, section 8.1, mode `animation`).

use std::time::Duration;

use hri_msgs::msg::rmw::EngagementLevel;
use promenade_human::message::animation_state as state;
use promenade_kernel::Time;

/// Longest time between two messages of one level.
const REPEAT: Duration = Duration::from_secs(1);

/// The level of an `animation_state`; a value the message does not define says nothing.
pub(crate) fn level(animation_state: u8) -> u8 {
    match animation_state {
        state::IDLE => EngagementLevel::DISENGAGED,
        state::WALKING | state::RUNNING => EngagementLevel::ENGAGED,
        state::PANIC | state::SURPRISED | state::CURIOUS | state::THREATENING => EngagementLevel::ENGAGING,
        _ => EngagementLevel::UNKNOWN,
    }
}

/// What of a level has to be sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Due {
    /// Nothing.
    Nothing,
    /// The level again, for those who came late.
    Repeat,
    /// Another level than before.
    Change,
}

/// Whether a level is due, given the last one sent.
pub(crate) fn due(last: Option<(u8, Time)>, level: u8, now: Time) -> Due {
    match last {
        Some((before, at)) if before == level => {
            if now < at || now.saturating_since(at) >= REPEAT {
                Due::Repeat
            } else {
                Due::Nothing
            }
        }
        _ => Due::Change,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_of_all_states() {
        let levels: Vec<u8> = (0..9).map(level).collect();
        assert_eq!(levels, [1, 3, 3, 2, 2, 2, 2, 0, 0]);
    }

    #[test]
    fn a_level_is_sent_on_change_and_once_per_second() {
        let at = Time::from_secs_f64;
        assert_eq!(due(None, 1, at(0.0)), Due::Change);
        assert_eq!(due(Some((1, at(0.0))), 3, at(0.1)), Due::Change);
        assert_eq!(due(Some((1, at(0.0))), 1, at(0.9)), Due::Nothing);
        assert_eq!(due(Some((1, at(0.0))), 1, at(1.0)), Due::Repeat);
        assert_eq!(due(Some((1, at(5.0))), 1, at(1.0)), Due::Repeat);
    }
}
