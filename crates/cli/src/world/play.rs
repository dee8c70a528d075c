//! Stepping a world to its end, with all that is asked to be kept of it.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use indicatif::{ProgressBar, ProgressStyle};
use promenade_robot_world::record::{Record, Script};
use promenade_robot_world::world::{Done, ObjectRef};
use promenade_robot_world::{World, WorldSpec};

use super::summary::Tally;
use crate::draw::world::Film;

/// Steps of a run to which nobody gave an end, at most.
const USUAL_STEPS: u64 = 1000;
/// Steps between looks at the clock.
const GLANCE: u64 = 16;

/// What is to be kept of a run.
#[derive(Debug, Clone, Copy)]
pub(super) struct Keep {
    /// Everything, for a document.
    pub(super) record: bool,
    /// The ways, for a picture.
    pub(super) paths: bool,
    /// Frames, for a moving picture.
    pub(super) frames: bool,
}

/// A run and what is kept of it.
pub(super) struct Run {
    script: Script,
    record: Option<Record>,
    film: Option<Film>,
    frames: bool,
    tally: Tally,
    warned: BTreeSet<String>,
    warnings: Vec<String>,
    stepping: Duration,
}

impl Run {
    pub(super) fn new(spec: &WorldSpec, world: &World, script: Script, seed: u64, keep: Keep) -> Self {
        let mut film = keep.paths.then(|| Film::new(spec, world));
        if let Some(film) = film.as_mut().filter(|_| keep.frames) {
            film.shoot(world);
        }
        Self {
            record: keep.record.then(|| Record::new(world, &script, seed)),
            film,
            frames: keep.frames,
            tally: Tally::new(world),
            script,
            warned: BTreeSet::new(),
            warnings: Vec::new(),
            stepping: Duration::ZERO,
        }
    }

    /// One step with these commands, and the script's for whoever has none.
    pub(super) fn step(&mut self, world: &mut World, commands: &[(ObjectRef<'_>, &[f64])]) -> Result<()> {
        let step = world.count();
        let mut all = self.script.commands(step);
        if !commands.is_empty() {
            let rows: Vec<_> = commands.iter().map(|(object, _)| world.row(*object)).collect();
            all.retain(|(object, _)| !rows.contains(&world.row(*object)));
            all.extend_from_slice(commands);
        }
        let start = Instant::now();
        world.step(&all).with_context(|| format!("in step {step}"))?;
        self.stepping += start.elapsed();
        self.tally.note(world);
        if let Some(record) = &mut self.record {
            record.look(world);
        }
        if let Some(film) = &mut self.film {
            film.follow(world);
            if self.frames {
                film.shoot(world);
            }
        }
        for warning in world.warnings() {
            let warning = warning.to_string();
            if self.warned.insert(warning.clone()) {
                self.warnings.push(warning);
            }
        }
        Ok(())
    }

    /// Steps as often as asked, else as often as the script says, else until every robot is done. Ctrl-C ends a run early, not in vain.
    pub(super) fn play(&mut self, world: &mut World, steps: Option<u64>) -> Result<()> {
        let interrupted = Arc::new(AtomicBool::new(false));
        let flag = Arc::clone(&interrupted);
        ctrlc::set_handler(move || flag.store(true, Ordering::Relaxed)).context("cannot watch for Ctrl-C")?;
        let asked = steps.or(self.script.steps);
        let last = asked.unwrap_or(USUAL_STEPS);
        let bar = bar(last, "steps");
        for step in 0..last {
            self.step(world, &[])?;
            if step.is_multiple_of(GLANCE) {
                bar.set_position(step);
                bar.set_message(format!("{:.1} s, {}", world.time(), world.status()));
                if interrupted.load(Ordering::Relaxed) {
                    self.warnings.push(format!("interrupted after {} of {last} steps", world.count()));
                    break;
                }
            }
            if asked.is_none() && world.done(Done::All) {
                break;
            }
        }
        bar.finish_and_clear();
        Ok(())
    }

    /// Forgets what was kept so far, when a world began anew.
    pub(super) fn restart(&mut self, world: &World) {
        self.tally = Tally::new(world);
        if let Some(film) = &mut self.film {
            film.restart(world);
        }
    }

    /// What there was to warn of, each thing once.
    pub(super) fn warnings(&self) -> &[String] {
        &self.warnings
    }

    pub(super) fn film(&self) -> Option<&Film> {
        self.film.as_ref()
    }

    /// The document of the run, when one was asked for.
    pub(super) fn document(&mut self, world: &World) -> Option<serde_json::Value> {
        self.record.take().map(|record| record.finish(world))
    }

    pub(super) fn summary(&self, world: &World) -> String {
        self.tally.describe(world, self.stepping)
    }
}

/// A bar for what takes a while; none where nobody looks.
pub(super) fn bar(count: u64, what: &str) -> ProgressBar {
    let template = format!("{{bar:32}} {{pos}}/{{len}} {what}  {{msg}}  {{eta}} left");
    let style = ProgressStyle::with_template(&template).unwrap_or_else(|_| ProgressStyle::default_bar());
    ProgressBar::new(count).with_style(style)
}
