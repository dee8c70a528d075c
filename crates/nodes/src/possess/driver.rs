//! The thread that drives: it takes clock readings, rosters and keys out of the queue, in order, and streams batches.
//!
//! It decides nothing itself; see `adoption`, `pace` and `motion`.

use std::collections::BTreeMap;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;

use anyhow::{Context, Result};
use arena_people_msgs::msg::rmw as wire;
use promenade_human::message::Pedestrians;
use promenade_kernel::Time;
use rclrs::{Node, Publisher};
use task_generator_msgs::msg::rmw::EpisodeRecord;

use super::adoption::{Adoption, Changes, Sighting, Wanted};
use super::drive::Command;
use super::motion::{Begin, Motion};
use super::names::with_nearest;
use super::pace::Pace;
use super::terminal::Terminal;
use super::{Ingress, Script};
use crate::bus::{pose_from_wire, read_string, time_from_wire, write_batch};

/// Wall time without clock or people after which the user is told once why nothing moves.
const PATIENCE: Duration = Duration::from_secs(3);

/// The writer is kept for this long after its last batch: the middleware may take unsent data with it, and rclrs offers no wait
/// for acknowledgement.
const FAREWELL: Duration = Duration::from_millis(150);

/// What a log line says at most.
const NAMES_TOLD: usize = 5;

/// What the thread works with.
pub(crate) struct Driver {
    adoption: Adoption,
    motion: Motion,
    pace: Pace,
    terminal: Option<Terminal>,
    node: Node,
    publisher: Publisher<wire::Pedestrians>,
    script: Script,
    /// The first clock reading.
    since: Option<Time>,
    /// Number of the episode that runs, and when it began; `None` = nobody said.
    episode: Option<(u32, Time)>,
    message: wire::Pedestrians,
    roster: Vec<Sighting>,
    now: Option<Time>,
    has_told_missing: bool,
    has_told_placed: bool,
    has_told_others: bool,
}

impl Driver {
    pub(crate) fn new(
        adoption: Adoption,
        motion: Motion,
        pace: Pace,
        terminal: Option<Terminal>,
        node: Node,
        publisher: Publisher<wire::Pedestrians>,
        script: Script,
    ) -> Self {
        Driver {
            adoption,
            motion,
            pace,
            terminal,
            node,
            publisher,
            script,
            since: None,
            episode: None,
            message: wire::Pedestrians::default(),
            roster: Vec::new(),
            now: None,
            has_told_missing: false,
            has_told_placed: false,
            has_told_others: false,
        }
    }

    /// Drives until told to stop, then releases everybody.
    pub(crate) fn run(mut self, told: &Receiver<Ingress>) -> Result<()> {
        let mut patience = Some(PATIENCE);
        self.show();
        loop {
            let message = match patience {
                Some(limit) => match told.recv_timeout(limit) {
                    Err(RecvTimeoutError::Timeout) => {
                        self.tell_why_idle();
                        patience = None;
                        continue;
                    }
                    received => received.ok(),
                },
                None => told.recv().ok(),
            };
            match message {
                Some(Ingress::Clock(now)) => self.on_clock(now)?,
                Some(Ingress::Roster(roster)) => {
                    self.on_roster(&roster);
                    if !self.adoption.is_empty() {
                        patience = None;
                    }
                }
                Some(Ingress::Episode(record)) => self.on_episode(&record),
                Some(Ingress::Key(command)) => {
                    if command == Command::Quit {
                        break;
                    }
                    if let Motion::Keyboard(drive) = &mut self.motion {
                        drive.press(command);
                    }
                }
                Some(Ingress::Stop) | None => break,
            }
            self.show();
        }
        self.release()
    }

    fn on_clock(&mut self, now: Time) -> Result<()> {
        self.now = Some(now);
        self.since.get_or_insert(now);
        let gone = self.adoption.on_clock(now);
        if !gone.is_empty() {
            tracing::warn!("arena_peds fell silent; waiting for its people to come back");
            self.motion.drop_people(&gone);
        }
        let motion = &mut self.motion;
        // Each step of its own length, so that the way does not depend on how often the clock is read; one batch for them all, since
        // the stream keeps only the last.
        let is_due = self.pace.advance(now, |dt| motion.step(dt, now));
        // An empty batch would release what others hold.
        if is_due && !self.adoption.is_empty() { self.stream() } else { Ok(()) }
    }

    fn stream(&mut self) -> Result<()> {
        write_batch(self.motion.batch(), &mut self.message);
        self.publisher.publish(&self.message).context("cannot publish human/stream")
    }

    /// Another episode: everybody is let go and walked anew as it says. Whoever went on as before would drag the people of the last
    /// episode into this one.
    fn on_episode(&mut self, record: &EpisodeRecord) {
        let episode = (record.episode_id, time_from_wire(&record.start_time));
        let before = self.episode.replace(episode);
        if before == Some(episode) || (before.is_none() && self.script.is_own(record)) {
            return;
        }
        let gone = self.adoption.let_go();
        self.motion.drop_people(&gone);
        if matches!(self.motion, Motion::Keyboard(_)) {
            return;
        }
        match self.script.people(record) {
            Ok((wanted, people)) => {
                // Somebody may have been driven on into an episode that began since; one from before is under way.
                let is_new = before.is_some() || self.since.is_some_and(|since| since <= episode.1);
                let begin = if is_new { Begin::AtTheirStart } else { Begin::WhereSeen };
                self.adoption = Adoption::new(wanted);
                self.motion = Motion::along_waypoints(record.seed.cast_unsigned(), people, begin);
            }
            Err(error) => {
                tracing::warn!("episode {}: {error}; its people go on by themselves", record.episode_id);
                self.adoption = Adoption::new(Wanted::Named(BTreeMap::new()));
            }
        }
    }

    fn on_roster(&mut self, roster: &wire::Pedestrians) {
        // Nobody is driven before the clock is known: a batch needs a stamp.
        let Some(now) = self.now else { return };
        // A frame of the last episode that was under way.
        let stamp = time_from_wire(&roster.header.stamp);
        if self.episode.is_some_and(|(_, start)| stamp < start && start <= now) {
            return;
        }
        self.roster.resize_with(roster.pedestrians.len(), Sighting::default);
        for (from, to) in roster.pedestrians.iter().zip(&mut self.roster) {
            read_string(&from.name, &mut to.name);
            to.pose = pose_from_wire(&from.pose);
        }
        let changes = self.adoption.on_roster(&self.roster, self.motion.people(), now);
        if changes == Changes::default() && self.has_told_missing {
            return;
        }
        self.motion.apply(&changes, &self.roster);
        self.tell(&changes);
    }

    /// Releases everybody at once.
    fn release(mut self) -> Result<()> {
        let Some(stamp) = self.now.filter(|_| !self.adoption.is_empty()) else { return Ok(()) };
        write_batch(&Pedestrians { stamp, ..Pedestrians::default() }, &mut self.message);
        self.publisher.publish(&self.message).context("cannot publish human/stream")?;
        std::thread::sleep(FAREWELL);
        Ok(())
    }

    fn show(&mut self) {
        if let (Some(terminal), Motion::Keyboard(drive)) = (&mut self.terminal, &self.motion) {
            terminal.show(&drive.status());
        }
    }

    fn tell(&mut self, changes: &Changes) {
        match &changes.adopted[..] {
            [] => {}
            [(_, sighting)] => tracing::info!("driving {:?}", self.roster[*sighting].name),
            adopted => tracing::info!("driving {} more people", adopted.len()),
        }
        if !changes.adopted.is_empty() && !std::mem::replace(&mut self.has_told_others, true) {
            self.tell_others();
        }
        match &changes.dropped[..] {
            [] => {}
            [gone] => tracing::info!("{gone:?} left arena_peds"),
            gone => tracing::info!("{} people left arena_peds", gone.len()),
        }
        if !changes.placed.is_empty() && !std::mem::replace(&mut self.has_told_placed, true) {
            tracing::warn!(
                "arena_peds shows people away from where they were driven (a new episode, a second driver, or a stream that is \
                 refused); going on from there (told once)"
            );
        }
        if !self.roster.is_empty() && !std::mem::replace(&mut self.has_told_missing, true) {
            let missing: Vec<&str> = self.adoption.missing().collect();
            if !missing.is_empty() {
                let known = || self.roster.iter().map(|sighting| sighting.name.as_str());
                let named: Vec<String> =
                    missing.iter().take(NAMES_TOLD).map(|name| with_nearest(name, known())).collect();
                tracing::warn!(
                    "{} not on arena_peds yet, claimed once they are: {}{}",
                    missing.len(),
                    named.join(", "),
                    if missing.len() > NAMES_TOLD { ", ..." } else { "" }
                );
            }
        }
    }

    /// Two drivers of one environment release each other's people with every batch; the user has to end one.
    fn tell_others(&self) {
        let topic = self.publisher.topic_name();
        if self.node.count_publishers(&topic).is_ok_and(|publishers| publishers > 1) {
            tracing::warn!(
                "another node publishes {topic}: each batch releases whom the other drives, so people will falter; end one of \
                 them (the demo starts a possess of its own unless walk:=false)"
            );
        }
    }

    fn tell_why_idle(&self) {
        if self.now.is_none() {
            tracing::warn!("no /clock yet: start a simulator or dummy_sim, or set use_sim_time to false");
        } else if self.adoption.is_empty() {
            tracing::warn!("nobody on arena_peds yet: is human_simulator running in this namespace?");
        }
    }
}
