//! The session log: everything that happened to a crowd, one JSON record per line, and the replay that does it again
//! (crowd-engine specification, section 24).
//!
//! Beside the records of the specification there are those without which a run could not be repeated: settings, walls, and what
//! requests and feeds changed between two ticks. Writing never changes a run.

mod record;
mod replay;

use std::collections::BTreeMap;
use std::io::Write;

use super::Engine;
use super::error::shown;
use crate::pool::Kind;
use crate::step::Crowd;
use crate::walls::Wall;

use record::{Agent, Between, Command, Event, Parameters, Place, Tick, Velocity};
pub use replay::{Divergence, ReplayError, Replayed, replay};

/// Why an agent has gone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reason {
    /// It came to its sink.
    Sink,
    /// Its lifetime is over.
    Lifetime,
    /// A client took it out.
    Request,
    /// Nothing was heard of it for too long.
    Lease,
}

impl Reason {
    const fn word(self) -> &'static str {
        match self {
            Self::Sink => "sink",
            Self::Lifetime => "ttl",
            Self::Request => "request",
            Self::Lease => "lease",
        }
    }
}

/// A log under way.
pub(super) struct Log {
    sink: Box<dyn Write + Send>,
    /// What the reader of the log knows of everybody.
    known: BTreeMap<i32, Between>,
}

impl Engine {
    /// Write what happens from here on. Begun before the first tick, the log can be replayed exactly; later, what planners remember is
    /// missing from it. The log ends with the first error of `sink`, which becomes a warning.
    pub fn log_to(&mut self, sink: impl Write + Send + 'static) {
        self.log = Some(Log { sink: Box::new(sink), known: BTreeMap::new() });
        self.note_settings();
        let walls = self.crowd.walls().walls().to_vec();
        self.note_walls(&walls, &[]);
        for row in 0..self.crowd.pool().len() {
            self.note_arrival(self.crowd.pool().id[row]);
        }
    }

    /// The parameters that hold, as YAML, to be kept beside a log.
    #[must_use]
    pub fn config_snapshot(&self) -> String {
        let line = |(name, _): (&str, _)| {
            self.parameter(name).map(|value| format!("{name}: {}\n", shown(value))).unwrap_or_default()
        };
        self.parameters().map(line).collect()
    }

    pub(super) fn note_settings(&mut self) {
        if self.log.is_some() {
            let settings = self.crowd.settings().clone();
            self.write(&Event::Settings { settings });
        }
    }

    pub(super) fn note_walls(&mut self, add: &[Wall], remove: &[String]) {
        if self.log.is_some() && !(add.is_empty() && remove.is_empty()) {
            self.write(&Event::Walls { add: add.to_vec(), remove: remove.to_vec() });
        }
    }

    pub(super) fn note_arrival(&mut self, id: i32) {
        if self.log.is_none() {
            return;
        }
        let (Some(row), Some(parameters)) = (self.crowd.pool().row_of(id), self.crowd.parameters(id)) else {
            return;
        };
        let person = &self.people.persons[row];
        let event = Event::Spawn {
            agent_id: id,
            agent_type: person.agent_type.clone(),
            params: Parameters::new(&person.name, parameters),
            robot: self.crowd.pool().kind[row] == Kind::Robot,
            state: between(&self.crowd, row),
        };
        if let (Some(log), Event::Spawn { state, .. }) = (&mut self.log, &event) {
            log.known.insert(id, state.clone());
        }
        self.write(&event);
    }

    pub(super) fn note_change(&mut self, id: i32) {
        if self.log.is_none() {
            return;
        }
        let (Some(row), Some(parameters)) = (self.crowd.pool().row_of(id), self.crowd.parameters(id)) else {
            return;
        };
        let params = Parameters::new(&self.people.persons[row].name, parameters);
        self.write(&Event::Update { agent_id: id, params });
    }

    pub(super) fn note_departure(&mut self, id: i32, reason: Reason) {
        if let Some(log) = &mut self.log {
            log.known.remove(&id);
            let event =
                Event::Despawn { tick: self.crowd.ticks(), agent_id: id, reason: reason.word().to_owned() };
            self.write(&event);
        }
    }

    /// Before the crowd steps: what requests and feeds changed since it stepped last.
    pub(super) fn note_requests(&mut self) {
        let Some(log) = &mut self.log else { return };
        let crowd = &self.crowd;
        let changed: Vec<(i32, Between)> = (0..crowd.pool().len())
            .map(|row| (crowd.pool().id[row], between(crowd, row)))
            .filter(|(id, state)| log.known.get(id) != Some(state))
            .collect();
        let tick = crowd.ticks();
        if !changed.is_empty() {
            self.write(&Event::Before { tick, agents: changed });
        }
    }

    /// After the crowd stepped: what the reader of the log knows without being told.
    pub(super) fn note_step(&mut self) {
        let Some(log) = &mut self.log else { return };
        let crowd = &self.crowd;
        for row in 0..crowd.pool().len() {
            log.known.insert(crowd.pool().id[row], between(crowd, row));
        }
    }

    /// At the end of tick number `tick`: everybody, and where they were sent.
    pub(super) fn note_tick(&mut self, tick: u64) {
        if self.log.is_none() {
            return;
        }
        let pool = self.crowd.pool();
        let mut record = Tick { tick, timestamp: tick as f64 * self.crowd.settings().dt, ..Tick::default() };
        for row in 0..pool.len() {
            let id = pool.id[row];
            let Between { pose, velocity, .. } = between(&self.crowd, row);
            record.agents.insert(id, Agent { pose, velocity });
            if let Some([x, y]) = self.crowd.target(id) {
                let target_pose = Place { x, y, theta: 0.0 };
                record.commands.insert(id, Command { kind: 0, target_pose, interaction_target: -1 });
            }
        }
        self.write(&record);
    }

    fn write(&mut self, record: &impl serde::Serialize) {
        let Some(log) = &mut self.log else { return };
        let written = serde_json::to_writer(&mut log.sink, record)
            .map_err(std::io::Error::from)
            .and_then(|()| log.sink.write_all(b"\n"));
        if let Err(error) = written {
            self.log = None;
            self.warnings.say(format!("the session log ends here: {error}"));
        }
    }
}

/// What of a row others than the crowd itself may change.
fn between(crowd: &Crowd, row: usize) -> Between {
    let pool = crowd.pool();
    let planner = usize::try_from(pool.policy[row]).ok().and_then(|index| crowd.planner_names().nth(index));
    Between {
        pose: Place { x: pool.x[row], y: pool.y[row], theta: pool.theta[row] },
        velocity: Velocity { vx: pool.vx[row], vy: pool.vy[row] },
        radius: pool.radius[row],
        policy: planner.map(str::to_owned),
        target: crowd.target(pool.id[row]),
        latched: pool.latched[row],
    }
}
