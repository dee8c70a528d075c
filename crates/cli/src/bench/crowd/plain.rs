//! What a plain loop makes of the same crowd: the yardstick for the engine.
//!
//! The force and the field of view of `sfm` with the mean numbers of an adult, over a grid sorted by counting, one pair after the other; no
//! contacts, no limits but the speed cap, no paths. Nothing of the engine's code.

use std::time::Instant;

use promenade_crowd::Pool;
use serde_json::{Map, Value};

use super::{ROUND, ROUNDS, TICKS, WARM_UP};
use crate::bench::rounded;

const DT: f64 = 0.05;
const RELAXATION_TIME: f64 = 0.5;
const STRENGTH: f64 = 2.1;
const RANGE: f64 = 0.3;
const ANISOTROPY: f64 = 0.5;
const RADIUS: f64 = 0.25;
const SPEED: f64 = 1.1;
const MOST: f64 = 1.5;
const VISION: f64 = 5.0;
const PROXIMITY: f64 = 1.0;
const CELL: f64 = 2.5;

#[derive(Clone, Copy)]
struct Person {
    place: [f64; 2],
    velocity: [f64; 2],
    heading: [f64; 2],
    goal: [f64; 2],
}

struct Crowd {
    people: Vec<Person>,
    sorted: Vec<Person>,
    starts: Vec<u32>,
    low: [f64; 2],
    columns: usize,
    lines: usize,
}

impl Crowd {
    fn new(pool: &Pool) -> Self {
        let person = |row: usize| {
            let [x, y] = pool.position(row);
            let heading = [pool.theta[row].cos(), pool.theta[row].sin()];
            Person { place: [x, y], velocity: [0.0; 2], heading, goal: [-x, -y] }
        };
        let people: Vec<Person> = (0..pool.len()).map(person).collect();
        Self { sorted: people.clone(), people, starts: Vec::new(), low: [0.0; 2], columns: 0, lines: 0 }
    }

    fn cell(&self, place: [f64; 2]) -> [usize; 2] {
        let along = |axis: usize| ((place[axis] - self.low[axis]) / CELL).max(0.0) as usize;
        [along(0).min(self.columns - 1), along(1).min(self.lines - 1)]
    }

    fn sort(&mut self) {
        let (mut low, mut high) = ([f64::INFINITY; 2], [f64::NEG_INFINITY; 2]);
        for person in &self.people {
            for axis in 0..2 {
                low[axis] = low[axis].min(person.place[axis]);
                high[axis] = high[axis].max(person.place[axis]);
            }
        }
        self.low = low;
        self.columns = ((high[0] - low[0]) / CELL) as usize + 1;
        self.lines = ((high[1] - low[1]) / CELL) as usize + 1;
        let mut starts = std::mem::take(&mut self.starts);
        starts.clear();
        starts.resize(self.columns * self.lines + 1, 0);
        let number = |crowd: &Self, place| {
            let [column, line] = crowd.cell(place);
            line * crowd.columns + column
        };
        for person in &self.people {
            starts[number(self, person.place) + 1] += 1;
        }
        for cell in 1..starts.len() {
            starts[cell] += starts[cell - 1];
        }
        let mut next = starts.clone();
        for index in 0..self.people.len() {
            let slot = &mut next[number(self, self.people[index].place)];
            self.sorted[*slot as usize] = self.people[index];
            *slot += 1;
        }
        self.starts = starts;
    }

    fn force(&self, own: &Person, e: [f64; 2]) -> [f64; 2] {
        let mut sum = [0.0; 2];
        let ([left, bottom], [right, top]) = (
            self.cell([own.place[0] - VISION, own.place[1] - VISION]),
            self.cell([own.place[0] + VISION, own.place[1] + VISION]),
        );
        for line in bottom..=top {
            let cells = line * self.columns;
            let run = self.starts[cells + left] as usize..self.starts[cells + right + 1] as usize;
            for other in &self.sorted[run] {
                let apart = [own.place[0] - other.place[0], own.place[1] - other.place[1]];
                let distance2 = apart[0] * apart[0] + apart[1] * apart[1];
                if distance2 > VISION * VISION || distance2 == 0.0 {
                    continue;
                }
                let ahead = -(apart[0] * own.heading[0] + apart[1] * own.heading[1]);
                if ahead < 0.0 && distance2 > PROXIMITY * PROXIMITY {
                    continue;
                }
                let distance = distance2.sqrt();
                let n = [apart[0] / distance, apart[1] / distance];
                let cos = -(n[0] * e[0] + n[1] * e[1]);
                let weight = ANISOTROPY + (1.0 - ANISOTROPY) * (1.0 + cos) * 0.5;
                let push = STRENGTH * ((2.0 * RADIUS - distance) / RANGE).exp() * weight;
                sum[0] += push * n[0];
                sum[1] += push * n[1];
            }
        }
        sum
    }

    fn step(&mut self) {
        self.sort();
        for index in 0..self.sorted.len() {
            let mut person = self.sorted[index];
            let to = [person.goal[0] - person.place[0], person.goal[1] - person.place[1]];
            let distance = to[0].hypot(to[1]).max(1e-6);
            let e = [to[0] / distance, to[1] / distance];
            let social = self.force(&person, e);
            for axis in 0..2 {
                let drive = (SPEED * e[axis] - person.velocity[axis]) / RELAXATION_TIME;
                person.velocity[axis] += (drive + social[axis]) * DT;
            }
            let speed = person.velocity[0].hypot(person.velocity[1]);
            if speed > 0.1 {
                person.heading = person.velocity.map(|v| v / speed);
            }
            for axis in 0..2 {
                person.velocity[axis] *= (MOST / speed.max(1e-9)).min(1.0);
                person.place[axis] += person.velocity[axis] * DT;
            }
            self.people[index] = person;
        }
    }
}

/// The row of the plain loop over the people of a pool.
pub(super) fn row(pool: &Pool) -> Map<String, Value> {
    let agents = pool.len() as f64;
    let mut best = f64::INFINITY;
    for _ in 0..ROUNDS {
        let mut crowd = Crowd::new(pool);
        (0..WARM_UP).for_each(|_| crowd.step());
        let (start, mut done) = (Instant::now(), 0);
        while done < TICKS && start.elapsed() < ROUND {
            crowd.step();
            done += 1;
        }
        best = best.min(start.elapsed().as_secs_f64() / f64::from(done));
        std::hint::black_box(&crowd.people);
    }
    let mut row = Map::new();
    row.insert("bench".into(), "crowd".into());
    row.insert("agents".into(), pool.len().into());
    row.insert("planner".into(), "plain".into());
    row.insert("threads".into(), 1.into());
    row.insert("agent_steps_per_s".into(), rounded(agents / best));
    row.insert("ms_per_tick".into(), rounded(best * 1e3));
    row
}

#[cfg(test)]
mod tests {
    use super::*;
    use promenade_crowd::{Settings, workload::mirrored_square};

    #[test]
    fn the_plain_loop_walks_the_crowd_to_the_other_side() {
        let crowd = mirrored_square(Settings::default(), 30).expect("settings hold");
        let mut plain = Crowd::new(crowd.pool());
        let far = |crowd: &Crowd| -> f64 {
            let left = |p: &Person| (p.goal[0] - p.place[0]).hypot(p.goal[1] - p.place[1]);
            crowd.people.iter().map(left).sum()
        };
        let before = far(&plain);
        (0..100).for_each(|_| plain.step());
        assert!(far(&plain) < 0.7 * before);
    }
}
