//! `promenade bench animate`: everybody's whole posture, gestures and clips included.
//!
//! With several threads the crowd is cut into that many articulators, which meet after every tick; nobody's posture depends on
//! anybody else's, so the joints are those of one thread.

use std::sync::Barrier;
use std::time::{Duration, Instant};

use anyhow::{Result, anyhow};
use promenade_gait::{
    ArticulationBatch, Articulator, GaitBatch, GaitOutput, JOINT_COUNT, Pose40, PoseId, PoseTable,
    gesture::Channel,
};
use promenade_human::message::animation_state;
use serde_json::Map;

use super::{print_row, rounded};

/// Each row is measured in rounds of about this long; the best counts, since other work only slows down. Short ones, so that
/// some have the machine to themselves.
const ROUND: Duration = Duration::from_millis(20);
const ROUNDS: usize = 60;
/// Ticks before anything is measured: fades end, arms arrive, memory has grown.
const SETTLED: u32 = 60;
const DT: f64 = 1.0 / 30.0;

/// Nanoseconds per person and tick: 20 percent of the people wave, 5 percent point, everybody walks.
#[derive(Debug, clap::Args)]
pub(crate) struct AnimateArgs {
    /// People in the crowd; 1 000 and 10 000 without it
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    people: Option<u32>,
    /// Threads; one and two without it
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=64))]
    threads: Option<u32>,
    /// One JSON object per row
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &AnimateArgs) -> Result<()> {
    for people in args.people.map_or_else(|| vec![1_000, 10_000], |people| vec![people]) {
        for threads in args.threads.map_or_else(|| vec![1, 2], |threads| vec![threads]) {
            // Who walks past a target points anew every few ticks; who stands keeps the arm where it is.
            for (case, speed) in [("walking", 1.2), ("standing", 0.0)] {
                let found = measure(people as usize, threads as usize, speed)?;
                let mut row = Map::new();
                row.insert("bench".into(), "animate".into());
                row.insert("people".into(), people.into());
                row.insert("case".into(), case.into());
                row.insert("threads".into(), threads.into());
                row.insert("overlays".into(), 0.2.into());
                row.insert("pointing".into(), 0.05.into());
                row.insert("ns_per_person_tick".into(), rounded(found.nanos));
                row.insert("allocations_per_tick".into(), rounded(found.allocations));
                print_row(args.json, &row)?;
            }
        }
    }
    Ok(())
}

struct Figures {
    nanos: f64,
    allocations: f64,
}

/// A part of the crowd and what it needs between ticks.
struct Part {
    articulator: Articulator,
    ids: Vec<u32>,
    states: Vec<u8>,
    speeds: Vec<f64>,
    dts: Vec<f64>,
    overrides: Vec<f64>,
    kinds: Vec<PoseId>,
    positions: Vec<[f64; 3]>,
    channels: Vec<Vec<Channel<'static>>>,
    postures: Vec<Pose40>,
    phases: Vec<f64>,
}

impl Part {
    /// The people of some indices, all at one speed in m/s.
    fn new(people: std::ops::Range<usize>, speed: f64) -> Self {
        let state = if speed > 0.0 { animation_state::WALKING } else { animation_state::IDLE };
        let count = people.len();
        let channels = people.clone().map(|person| match person % 20 {
            0 => vec![Channel { slot: "arm", at: [40.0, 8.0, 1.0], ..Channel::default() }],
            1..=4 => vec![Channel { slot: "body", clip: "wave", ..Channel::default() }],
            _ => Vec::new(),
        });
        Self {
            articulator: Articulator::default(),
            channels: channels.collect(),
            ids: people.clone().map(|person| (person as u32).wrapping_mul(2_654_435_761)).collect(),
            states: vec![state; count],
            speeds: vec![speed; count],
            dts: vec![DT; count],
            overrides: vec![f64::NAN; count],
            kinds: vec![PoseId::DEFAULT; count],
            positions: people.map(|person| [0.01 * (person % 977) as f64, 0.0, 0.0]).collect(),
            postures: vec![[0.0; JOINT_COUNT]; count],
            phases: vec![0.0; count],
        }
    }

    fn tick(&mut self, table: &PoseTable) -> Result<()> {
        for (position, speed) in self.positions.iter_mut().zip(&self.speeds) {
            // Everybody walks to and fro before their target.
            position[0] = (position[0] + speed * DT) % 20.0;
        }
        let batch = ArticulationBatch {
            gait: GaitBatch {
                ids: &self.ids,
                states: &self.states,
                speeds: &self.speeds,
                dts: &self.dts,
                phase_overrides: &self.overrides,
                poses: &self.kinds,
            },
            positions: &self.positions,
            channels: self.channels.as_slice(),
        };
        let mut out = GaitOutput { poses: &mut self.postures, phases: &mut self.phases };
        self.articulator.advance(table, &batch, &mut out)?;
        Ok(())
    }
}

fn parts(people: usize, threads: usize, speed: f64) -> Vec<Part> {
    (0..threads)
        .map(|part| Part::new(people * part / threads..people * (part + 1) / threads, speed))
        .collect()
}

/// Ticks all parts, each on its own thread, and answers seconds and allocations of the slowest and the greediest.
fn ticks(parts: &mut [Part], table: &PoseTable, count: u32) -> Result<(f64, u64)> {
    let meet = Barrier::new(parts.len());
    let results: Vec<Result<(f64, u64)>> = std::thread::scope(|scope| {
        let meet = &meet;
        let running: Vec<_> = parts
            .iter_mut()
            .map(|part| {
                scope.spawn(move || {
                    meet.wait();
                    let start = Instant::now();
                    let mut done = Ok(());
                    let counted = allocation_counter::measure(|| {
                        for _ in 0..count {
                            done = std::mem::replace(&mut done, Ok(())).and_then(|()| part.tick(table));
                            meet.wait();
                        }
                    });
                    done.map(|()| (start.elapsed().as_secs_f64(), counted.count_total))
                })
            })
            .collect();
        running
            .into_iter()
            .map(|part| part.join().unwrap_or_else(|_| Err(anyhow!("a part of the crowd panicked"))))
            .collect()
    });
    let mut worst = (0.0_f64, 0);
    for result in results {
        let (seconds, allocations) = result?;
        worst = (worst.0.max(seconds), worst.1 + allocations);
    }
    Ok(worst)
}

fn measure(people: usize, threads: usize, speed: f64) -> Result<Figures> {
    let table = PoseTable::default();
    let mut parts = parts(people, threads, speed);
    let (seconds, _) = ticks(&mut parts, &table, SETTLED)?;
    let count = (ROUND.as_secs_f64() / (seconds / f64::from(SETTLED))).ceil().clamp(1.0, 1e6) as u32;
    let mut found = Figures { nanos: f64::INFINITY, allocations: 0.0 };
    for _ in 0..ROUNDS {
        let (seconds, allocations) = ticks(&mut parts, &table, count)?;
        std::hint::black_box(&parts[0].postures);
        found.nanos = found.nanos.min(1e9 * seconds / (f64::from(count) * people as f64));
        found.allocations = found.allocations.max(allocations as f64 / f64::from(count));
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn joints_do_not_depend_on_the_number_of_threads() {
        let table = PoseTable::default();
        let joints = |threads: usize| -> Vec<Pose40> {
            let mut parts = parts(101, threads, 1.2);
            ticks(&mut parts, &table, 45).expect("ticked");
            parts.into_iter().flat_map(|part| part.postures).collect()
        };
        let one = joints(1);
        assert_ne!(one[0], one[20]);
        for threads in [2, 3, 7] {
            assert!(joints(threads) == one, "{threads} threads");
        }
    }
}
