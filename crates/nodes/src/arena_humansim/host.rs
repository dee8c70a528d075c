//! The engine in the node: what turns the clock into ticks and ticks into messages.
//!
//! All callbacks run one after the other on one worker with a [`Host`] as its state, so that a service never meets a tick half done. What
//! takes long, a burst of owed ticks, is cut into slices between which services are answered.

use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use promenade_crowd::Engine;
use promenade_crowd::protocol::ParameterValue;
use rclrs::{ExecutorCommands, WorkerState, WorkerTimer};

use super::outbox::Outbox;
use super::pace::{Follower, Reading, epoch_for, period};
use super::{Shared, host};

/// How long ticks may run before waiting requests get their turn.
const SLICE: Duration = Duration::from_millis(20);
/// Between two warnings that the engine falls behind the clock.
const BETWEEN_WARNINGS: Duration = Duration::from_secs(5);
/// How long the node stays after its last tick, so that the last messages arrive.
const LINGER: Duration = Duration::from_millis(500);

/// Where ticks come from.
pub(crate) enum Source {
    /// The node makes the time.
    Master {
        /// Ticks at `dt / rtf` of wall time.
        timer: Option<WorkerTimer<Shared>>,
        /// Factor of that timer.
        rtf: f64,
        /// When the node ends.
        end: End,
    },
    /// `/clock` does.
    Subsystem {
        /// Readings so far.
        clock: Follower,
        /// Whether ticks that did not fit into a slice are on their way.
        is_continuing: bool,
        /// When the burst began that is being paid off.
        burst_began: Option<Instant>,
        /// When a slow burst was told of last.
        warned: Option<Instant>,
    },
}

impl Source {
    /// A master that does not tick yet.
    pub(crate) fn master(end: End) -> Self {
        Source::Master { timer: None, rtf: 0.0, end }
    }

    /// A subsystem that has heard no clock yet.
    pub(crate) fn subsystem() -> Self {
        Source::Subsystem {
            clock: Follower::default(),
            is_continuing: false,
            burst_began: None,
            warned: None,
        }
    }
}

/// When a master ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct End {
    /// After this many ticks.
    pub(crate) last_tick: Option<u64>,
    /// When every robot stays at the last point of a way that ends, and nobody is still to come.
    pub(crate) when_robots_arrive: bool,
}

impl End {
    fn has_come(&self, engine: &Engine) -> bool {
        self.last_tick.is_some_and(|last| engine.ticks() >= last)
            || (self.when_robots_arrive && !engine.expects_agents() && engine.robots_have_arrived())
    }
}

/// See the module.
pub(crate) struct Host {
    pub(crate) engine: Engine,
    pub(crate) outbox: Outbox,
    pub(crate) source: Source,
    /// Grows when sources and sinks change.
    pub(crate) flow_revision: u64,
    /// The worker that this is the state of.
    worker: Weak<WorkerState<Shared>>,
    /// To end the node.
    commands: Arc<ExecutorCommands>,
    has_ended: bool,
}

impl Host {
    /// A host that does not tick yet.
    pub(crate) fn new(
        engine: Engine,
        outbox: Outbox,
        source: Source,
        commands: Arc<ExecutorCommands>,
    ) -> Self {
        let worker = Weak::new();
        Self { engine, outbox, source, flow_revision: 0, worker, commands, has_ended: false }
    }

    /// Begins: a master ticks from now on.
    pub(crate) fn start(&mut self, worker: Weak<WorkerState<Shared>>) -> Result<()> {
        self.worker = worker;
        self.take_parameters()
    }

    /// Lets the parameters act that are the node's own.
    pub(crate) fn take_parameters(&mut self) -> Result<()> {
        let level = match self.engine.parameter("publish_markers") {
            Some(ParameterValue::Integer(level)) => u8::try_from(*level).unwrap_or(0),
            _ => 0,
        };
        self.outbox.set_level(level, &self.engine);
        let wanted = match self.engine.parameter("rtf") {
            Some(ParameterValue::Double(rtf)) => *rtf,
            _ => 1.0,
        };
        let dt_ns = self.engine.dt_ns();
        let Source::Master { timer, rtf, .. } = &mut self.source else { return Ok(()) };
        if timer.is_some() && *rtf == wanted {
            return Ok(());
        }
        let Some(worker) = self.worker.upgrade() else { return Ok(()) };
        let ticking = worker
            .create_timer_repeating(period(dt_ns, wanted), |shared: &mut Shared| host(shared).on_timer())
            .context("cannot create the timer of the ticks")?;
        (*timer, *rtf) = (Some(ticking), wanted);
        Ok(())
    }

    /// The timer of a master went off.
    fn on_timer(&mut self) {
        let Source::Master { rtf, .. } = &self.source else { return };
        let as_fast_as_possible = *rtf == 0.0;
        let began = Instant::now();
        while !self.has_ended {
            self.tick();
            self.outbox.publish_clock(self.engine.now_ns());
            self.end_if_done();
            if !as_fast_as_possible || began.elapsed() >= SLICE {
                break;
            }
        }
    }

    fn end_if_done(&mut self) {
        let Source::Master { end, timer, .. } = &mut self.source else { return };
        if !end.has_come(&self.engine) {
            return;
        }
        *timer = None;
        tracing::info!("the last of {} ticks is done", self.engine.ticks());
        self.end();
    }

    /// Ends the node, a moment from now.
    pub(crate) fn end(&mut self) {
        if std::mem::replace(&mut self.has_ended, true) {
            return;
        }
        let commands = Arc::clone(&self.commands);
        std::thread::spawn(move || {
            std::thread::park_timeout(LINGER);
            commands.halt_spinning();
        });
    }

    /// `/clock` of a subsystem.
    pub(crate) fn on_clock(&mut self, now_ns: i64) {
        let Source::Subsystem { clock, burst_began, .. } = &mut self.source else { return };
        let (ticks, dt_ns) = (self.engine.ticks(), self.engine.dt_ns());
        match clock.read(now_ns, ticks) {
            Reading::First => self.engine.set_epoch_ns(now_ns),
            Reading::Jumped { by_ns } => {
                let by = by_ns as f64 / 1e9;
                tracing::warn!("the clock jumped by {by:.3} s; ticks go on from there");
                self.engine.set_epoch_ns(epoch_for(now_ns, dt_ns, ticks));
            }
            Reading::On => {}
        }
        burst_began.get_or_insert_with(Instant::now);
        self.pay_off();
    }

    /// Runs owed ticks, and comes back for those that do not fit into a slice.
    fn pay_off(&mut self) {
        let began = Instant::now();
        while self.owed() > 0 {
            if began.elapsed() >= SLICE {
                return self.pay_off_later();
            }
            self.tick();
        }
        self.end_burst();
    }

    fn owed(&self) -> u64 {
        let Source::Subsystem { clock, .. } = &self.source else { return 0 };
        let (dt_ns, ticks) = (self.engine.dt_ns(), self.engine.ticks());
        // The engine tells the time of the next tick; the epoch is that without the ticks.
        clock.owed(epoch_for(self.engine.now_ns(), dt_ns, ticks), dt_ns, ticks)
    }

    fn pay_off_later(&mut self) {
        let Source::Subsystem { is_continuing, .. } = &mut self.source else { return };
        if std::mem::replace(is_continuing, true) {
            return;
        }
        let Some(worker) = self.worker.upgrade() else { return };
        // Nobody waits for the answer.
        drop(worker.run(|shared: &mut Shared| {
            let host = host(shared);
            if let Source::Subsystem { is_continuing, .. } = &mut host.source {
                *is_continuing = false;
            }
            host.pay_off();
        }));
    }

    fn end_burst(&mut self) {
        let dt = Duration::from_nanos(u64::try_from(self.engine.dt_ns()).unwrap_or(0));
        let Source::Subsystem { burst_began, warned, .. } = &mut self.source else { return };
        let Some(took) = burst_began.take().map(|began| began.elapsed()) else { return };
        if took > dt && warned.is_none_or(|warned| warned.elapsed() >= BETWEEN_WARNINGS) {
            *warned = Some(Instant::now());
            let (took, dt) = (took.as_secs_f64() * 1e3, dt.as_secs_f64() * 1e3);
            tracing::warn!(
                "the engine lags: ticks that were due took {took:.0} ms, dt is {dt:.0} ms; none is skipped"
            );
        }
    }

    fn tick(&mut self) {
        self.engine.tick();
        self.outbox.publish_tick(&self.engine, self.flow_revision);
        for warning in self.engine.warnings() {
            tracing::warn!("{warning}");
        }
        self.tell_profile();
    }

    fn tell_profile(&mut self) {
        let Some(ParameterValue::Integer(interval @ 1..)) = self.engine.parameter("profile_interval") else {
            return;
        };
        if !self.engine.ticks().is_multiple_of(interval.unsigned_abs()) {
            return;
        }
        let profile = self.engine.profile(false);
        let phases =
            profile.phase_names.iter().zip(profile.phase_means_ms.iter().zip(&profile.phase_p95s_ms));
        let phases: Vec<String> =
            phases.map(|(name, (mean, p95))| format!("{name} {mean:.3}/{p95:.3}")).collect();
        tracing::info!(
            "{} agents, {} ticks, mean/p95 in ms: {}",
            profile.n_agents,
            profile.n_ticks,
            phases.join(", ")
        );
    }

    /// Sends what is static and has changed, also while no tick is due.
    pub(crate) fn publish_geometry(&mut self) {
        self.outbox.publish_geometry(&self.engine, self.flow_revision);
    }
}
