//! The thread that owns the layer: it takes messages out of the queue, one at a time, in order.
//!
//! Nothing here may block on ROS, and nothing that a message holds may end it.

use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;

use anyhow::{Context, Result};
use promenade_human::message::Pedestrians;
use promenade_human::{ClockStep, Clocked, Environment, Ticked as _};
use promenade_kernel::Time;

use super::Ingress;
use crate::bus::read_batch;

/// Wall time without any clock after which the user is told once.
const CLOCK_PATIENCE: Duration = Duration::from_secs(3);

/// What the thread works with.
pub(crate) struct World {
    /// The environment before the first clock reading: the gate of the stream needs a time.
    waiting: Option<Environment>,
    /// The environment from then on.
    clocked: Option<Clocked<Environment>>,
    seed: u64,
    batch: Pedestrians,
    /// Jumps of the clock so far.
    jumps: u64,
}

impl World {
    pub(crate) fn new(environment: Environment, seed: u64) -> Self {
        World { waiting: Some(environment), clocked: None, seed, batch: Pedestrians::default(), jumps: 0 }
    }

    /// Works until told to stop.
    pub(crate) fn run(mut self, told: &Receiver<Ingress>) -> Result<()> {
        let mut patience = Some(CLOCK_PATIENCE);
        loop {
            let message = match (&self.waiting, patience) {
                (Some(_), Some(limit)) => match told.recv_timeout(limit) {
                    Err(RecvTimeoutError::Timeout) => {
                        tracing::warn!(
                            "no /clock yet: start a simulator or dummy_sim, or set use_sim_time to false"
                        );
                        patience = None;
                        continue;
                    }
                    received => received.ok(),
                },
                _ => told.recv().ok(),
            };
            match message {
                Some(Ingress::Clock(now)) => self.on_clock(now)?,
                Some(Ingress::Stream(batch)) => {
                    if let Some(clocked) = &self.clocked {
                        read_batch(&batch, &mut self.batch);
                        clocked.get().layer_mut().on_stream(&self.batch);
                    }
                }
                Some(Ingress::Move(items, answer)) => {
                    if let Some(clocked) = &self.clocked {
                        // A client that gave up waiting has dropped its end.
                        drop(answer.send(clocked.get().layer_mut().on_move(&items)));
                    }
                }
                Some(Ingress::Stop) | None => return Ok(()),
            }
        }
    }

    fn on_clock(&mut self, now: Time) -> Result<()> {
        if let Some(mut environment) = self.waiting.take() {
            environment.set_now(now);
            environment.start();
            let episode = environment.episode();
            tracing::info!("{}: {} people at {now} s", episode.name, episode.people.len());
            self.clocked = Some(Clocked::new(environment, self.seed, now).context("the human layer")?);
        }
        let Some(clocked) = &mut self.clocked else { return Ok(()) };
        let what = match clocked.advance_to(now).context("the human layer")? {
            ClockStep::Continued => return Ok(()),
            ClockStep::JumpedBack(by) => {
                format!("the clock went back by {:.3} s; going on from {now} s", by.as_secs_f64())
            }
            ClockStep::JumpedAhead(by) => {
                format!("the clock jumped ahead by {:.3} s; that time is skipped", by.as_secs_f64())
            }
        };
        // Two clocks at once make every reading a jump, and must not fill the log.
        self.jumps += 1;
        match self.jumps {
            1 | 2 => tracing::warn!("{what}"),
            n if n.is_power_of_two() => tracing::warn!("{what} (jump {n}; do two nodes publish /clock?)"),
            _ => {}
        }
        Ok(())
    }
}
