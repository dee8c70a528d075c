//! Worlds as running things: doors, gates, plates, schedules, signals, regimes, timelines, zones.

mod doors;
mod stage;
