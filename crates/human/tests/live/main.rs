//! Worlds as running things: doors, gates, plates, schedules, signals, regimes, timelines, zones, tasks of robots.

mod allocations;
mod doors;
mod driver;
mod files;
mod mechanisms;
mod properties;
mod stage;
mod tasks;
mod timelines;
mod zones;
