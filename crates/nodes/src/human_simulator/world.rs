//! The thread that owns a world: it takes messages out of the inbox, one at a time, in order.
//!
//! Nothing here may wait for ROS, except for a simulator outside the process as long as its time-out says, and nothing that
//! a message holds may end it.

use std::sync::mpsc::RecvTimeoutError;
use std::time::Duration;

use anyhow::{Context, Result};
use promenade_human::message::Pedestrians;
use promenade_human::{ClockStep, Clocked, Environment, Ticked as _};
use promenade_kernel::Time;

use super::Ingress;
use super::inbox::Inbox;
use crate::bus::read_batch;

/// Wall time without any clock after which the user is told once.
const CLOCK_PATIENCE: Duration = Duration::from_secs(3);

/// Works until told to stop.
///
/// # Errors
/// What a system of the kernel reports.
pub(crate) fn run(mut environment: Environment, seed: u64, inbox: &Inbox) -> Result<()> {
    let mut batch = Pedestrians::default();
    // The gate of the stream needs a time, so nothing begins before the first clock reading.
    let Some(first) = first_reading(&mut environment, inbox, &mut batch) else { return Ok(()) };
    environment.set_now(first);
    environment.start();
    tell_episode(&environment);
    let mut clocked = Clocked::new(environment, seed, first).context("the human layer")?;
    let mut jumps = Jumps::default();
    let mut reading = Some(first);
    loop {
        if let Some(now) = reading.take() {
            jumps.tell(clocked.advance_to(now).context("the human layer")?, now);
        }
        match inbox.next() {
            Some(Ingress::Clock(now)) => reading = Some(now),
            Some(Ingress::Stop) | None => return Ok(()),
            Some(message) => act(&mut clocked.get(), message, &mut batch),
        }
    }
}

/// Serves requests until the clock is known; `None` when told to stop.
fn first_reading(environment: &mut Environment, inbox: &Inbox, batch: &mut Pedestrians) -> Option<Time> {
    let mut patience = Some(CLOCK_PATIENCE);
    loop {
        let message = match patience {
            None => inbox.next(),
            Some(limit) => match inbox.next_within(limit) {
                Err(RecvTimeoutError::Timeout) => {
                    tracing::warn!(
                        "no /clock yet: start a simulator or dummy_sim, or set use_sim_time to false"
                    );
                    patience = None;
                    continue;
                }
                received => received.ok(),
            },
        };
        match message {
            Some(Ingress::Clock(now)) => return Some(now),
            Some(Ingress::Stop) | None => return None,
            // What the engine says is shown once the episode has begun.
            Some(Ingress::Engine) => {}
            Some(message) => act(environment, message, batch),
        }
    }
}

/// One message that is neither the clock nor the end. Answers go to clients that may have given up waiting.
fn act(environment: &mut Environment, message: Ingress, batch: &mut Pedestrians) {
    match message {
        Ingress::Stream(message) => {
            read_batch(&message, batch);
            environment.layer_mut().on_stream(batch);
        }
        Ingress::Move(items, answer) => drop(answer.send(environment.layer_mut().on_move(&items))),
        Ingress::Queue(request, answer) => {
            let queued = environment.queue(&request).map_err(|error| error.to_string());
            if let Err(error) = &queued {
                tracing::warn!("queue_episode: {error}");
            }
            drop(answer.send(queued));
        }
        Ingress::Reset { world, seed, answer } => {
            let reset = environment.reset(&world, seed).map_err(|error| error.to_string());
            match &reset {
                Ok(()) => tell_episode(environment),
                Err(error) => tracing::warn!("reset_episode: {error}"),
            }
            drop(answer.send(reset));
        }
        Ingress::Engine => environment.layer_mut().on_engine(),
        Ingress::Clock(_) | Ingress::Stop => {}
    }
}

fn tell_episode(environment: &Environment) {
    let (episode, record) = (environment.episode(), environment.record());
    tracing::info!(
        "episode {}: {}, seed {}, {} people at {} s",
        record.episode_id,
        episode.name,
        record.seed,
        episode.people.len(),
        record.start_time
    );
    for problem in episode.report.iter() {
        tracing::debug!("{problem}");
    }
}

/// Tells about jumps of the clock. Two clocks at once make every reading a jump, and must not fill the log.
#[derive(Default)]
struct Jumps(u64);

impl Jumps {
    fn tell(&mut self, step: ClockStep, now: Time) {
        let what = match step {
            ClockStep::Continued => return,
            ClockStep::JumpedBack(by) => {
                format!("the clock went back by {:.3} s; going on from {now} s", by.as_secs_f64())
            }
            ClockStep::JumpedAhead(by) => {
                format!("the clock jumped ahead by {:.3} s; that time is skipped", by.as_secs_f64())
            }
        };
        self.0 += 1;
        match self.0 {
            1 | 2 => tracing::warn!("{what}"),
            n if n.is_power_of_two() => tracing::warn!("{what} (jump {n}; do two nodes publish /clock?)"),
            _ => {}
        }
    }
}
