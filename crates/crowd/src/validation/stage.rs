//! A scene with people who walk to places and leave it there, and what is measured on the way.

use std::collections::{BTreeMap, VecDeque};

use promenade_scenario::{AgentTypeLibrary, ResolvedType};

use crate::error::CrowdError;
use crate::global::GlobalPlanner;
use crate::pool::Pool;
use crate::settings::Settings;
use crate::spawn::SpawnRequest;
use crate::step::Crowd;
use crate::trajectory::Trajectory;
use crate::walls::{Segment, Wall};
use promenade_kernel::generator::Generator;

use super::{Row, Scene};

/// Pairs nearer than this, centre to centre, could touch; metres.
const CLOSE: f64 = 1.0;

/// Somewhere to walk to.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Goal {
    pub(super) at: [f64; 2],
    /// How near counts as there.
    reach: f64,
    /// Whoever is past the place in this direction, of length 1, and at most so far beside it, is there too.
    past: Option<([f64; 2], f64)>,
}

impl Goal {
    pub(super) const fn near(at: [f64; 2], reach: f64) -> Self {
        Self { at, reach, past: None }
    }

    /// There as soon as the line across `direction` is crossed.
    pub(super) const fn beyond(at: [f64; 2], direction: [f64; 2]) -> Self {
        Self { at, reach: 0.3, past: Some((direction, f64::INFINITY)) }
    }

    /// There as soon as the line across `direction` is crossed within `beside` of the place.
    pub(super) const fn gate(at: [f64; 2], direction: [f64; 2], beside: f64) -> Self {
        Self { at, reach: 0.3, past: Some((direction, beside)) }
    }

    fn is_reached(&self, from: [f64; 2]) -> bool {
        let to = [self.at[0] - from[0], self.at[1] - from[1]];
        let beyond = self.past.is_some_and(|([x, y], beside)| {
            to[0] * x + to[1] * y < 0.0 && (to[0] * y - to[1] * x).abs() <= beside
        });
        beyond || to[0].hypot(to[1]) < self.reach
    }
}

/// Somebody who left.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Leaver {
    pub(super) id: i32,
    /// Seconds since the start.
    pub(super) time: f64,
    /// Where they were last.
    pub(super) at: [f64; 2],
}

/// How bodies overlapped.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Overlap {
    /// Ticks of pairs nearer than a metre.
    pub(super) pairs: u64,
    /// Those of them who overlap by more than a centimetre.
    pub(super) deep: u64,
    /// Deepest overlap of bodies, m.
    pub(super) deepest: f64,
    /// How far a body was inside a wall at most, m.
    pub(super) in_wall: f64,
    /// Times that somebody's centre went through a wall.
    pub(super) through: u64,
}

impl Overlap {
    /// Share of the pairs that do not overlap by more than a centimetre.
    pub(super) fn clear(&self) -> f64 {
        1.0 - self.deep as f64 / self.pairs.max(1) as f64
    }
}

/// That nobody went through a wall.
pub(super) fn walls_row(through: u64) -> Row {
    Row::new("people who went through a wall", through as f64, "").within(f64::NEG_INFINITY, 0.0)
}

#[derive(Debug)]
pub(super) struct Stage {
    pub(super) crowd: Crowd,
    goals: BTreeMap<i32, VecDeque<Goal>>,
    pub(super) draw: Generator,
    pub(super) left: Vec<Leaver>,
    pub(super) overlap: Overlap,
    before: BTreeMap<i32, [f64; 2]>,
    trajectory: Trajectory,
    record_every: u64,
}

impl Stage {
    /// With paths as the settings have them.
    pub(super) fn new(settings: &Settings, name: &str) -> Result<Self, CrowdError> {
        let settings = settings.clone();
        let record_every = (0.5 / settings.dt).round().max(1.0);
        Ok(Self {
            draw: Generator::named(settings.seed, &format!("validation/{name}")),
            trajectory: Trajectory::new(1.0 / (settings.dt * record_every)),
            record_every: record_every as u64,
            crowd: Crowd::new(settings)?,
            goals: BTreeMap::new(),
            left: Vec::new(),
            overlap: Overlap::default(),
            before: BTreeMap::new(),
        })
    }

    /// Where everybody walks straight to their goals.
    pub(super) fn open(settings: &Settings, name: &str) -> Result<Self, CrowdError> {
        Self::new(&Settings { global_planner: GlobalPlanner::Off, ..settings.clone() }, name)
    }

    /// Add walls along lines of points.
    pub(super) fn walls(&mut self, lines: &[&[[f64; 2]]]) -> Result<(), CrowdError> {
        let first = self.crowd.walls().walls().len();
        let ends = lines.iter().flat_map(|line| line.windows(2));
        let walls = ends.enumerate().map(|(i, pair)| Wall {
            name: format!("wall_{}", first + i),
            start: pair[0],
            end: pair[1],
        });
        let walls: Vec<Wall> = walls.collect();
        self.crowd.add_walls(walls)
    }

    pub(super) fn time(&self) -> f64 {
        self.crowd.ticks() as f64 * self.crowd.settings().dt
    }

    pub(super) fn pool(&self) -> &Pool {
        self.crowd.pool()
    }

    /// Somebody with a speed of their own: a normal variate around 1.34 m/s, as measured by Weidmann, within 0.7 and 1.9.
    pub(super) fn free_speed(&mut self) -> f64 {
        (1.34 + 0.26 * self.draw.standard_normal()).clamp(0.7, 1.9)
    }

    /// An adult with this desired speed who walks through goals and leaves at the last.
    pub(super) fn walker(
        &mut self,
        at: [f64; 2],
        speed: f64,
        goals: impl IntoIterator<Item = Goal>,
    ) -> Result<i32, CrowdError> {
        let goals: VecDeque<Goal> = goals.into_iter().collect();
        let to = goals.front().map_or(at, |goal| goal.at);
        let pose = [at[0], at[1], (to[1] - at[1]).atan2(to[0] - at[0])];
        let request = SpawnRequest { pose, desired_velocity: speed, ..SpawnRequest::default() };
        let id = self.crowd.spawn(&request, adult())?;
        if let Some(goal) = goals.front() {
            self.crowd.navigate(id, Some(goal.at))?;
        }
        self.goals.insert(id, goals);
        Ok(id)
    }

    /// Give somebody goals they did not have.
    pub(super) fn send(&mut self, id: i32, goals: impl IntoIterator<Item = Goal>) -> Result<(), CrowdError> {
        let goals: VecDeque<Goal> = goals.into_iter().collect();
        self.crowd.navigate(id, goals.front().map(|goal| goal.at))?;
        self.goals.insert(id, goals);
        Ok(())
    }

    /// Whether a body of an adult fits at a place.
    pub(super) fn is_free(&self, [x, y]: [f64; 2]) -> bool {
        const ROOM: f64 = 0.52;
        let pool = self.pool();
        !(0..pool.len()).any(|row| (pool.x[row] - x).hypot(pool.y[row] - y) < ROOM)
    }

    /// Free places in a box `[x least, y least, x most, y most]`, drawn at random; fewer when the box is full.
    pub(super) fn places(&mut self, count: usize, area: [f64; 4]) -> Vec<[f64; 2]> {
        const ROOM: f64 = 0.52;
        let [x0, y0, x1, y1] = area;
        let mut places: Vec<[f64; 2]> = Vec::with_capacity(count);
        let mut tries = 0;
        while places.len() < count && tries < 400 * count {
            tries += 1;
            let place = [self.draw.uniform(x0, x1), self.draw.uniform(y0, y1)];
            let is_free = places.iter().all(|p| (p[0] - place[0]).hypot(p[1] - place[1]) >= ROOM);
            if is_free && self.is_free(place) {
                places.push(place);
            }
        }
        places
    }

    /// One tick. Whoever is at the last of their goals is gone after it.
    pub(super) fn step(&mut self) -> Result<(), CrowdError> {
        if self.crowd.ticks().is_multiple_of(self.record_every) {
            self.trajectory.record_pool(self.crowd.pool());
        }
        self.crowd.step();
        self.measure();
        let mut gone = Vec::new();
        for (id, goals) in &mut self.goals {
            let Some(row) = self.crowd.pool().row_of(*id) else { continue };
            let at = self.crowd.pool().position(row);
            let mut moved_on = false;
            while goals.front().is_some_and(|goal| goal.is_reached(at)) {
                goals.pop_front();
                moved_on = true;
            }
            match goals.front() {
                Some(goal) if moved_on => self.crowd.navigate(*id, Some(goal.at))?,
                None if moved_on => gone.push((*id, at)),
                _ => {}
            }
        }
        for (id, at) in gone {
            self.crowd.remove(id)?;
            self.goals.remove(&id);
            self.before.remove(&id);
            self.left.push(Leaver { id, time: self.time(), at });
        }
        Ok(())
    }

    /// Run until everybody has left, at most for these seconds; whether all have.
    pub(super) fn run(&mut self, seconds: f64) -> Result<bool, CrowdError> {
        while self.time() < seconds && !self.pool().is_empty() {
            self.step()?;
        }
        Ok(self.pool().is_empty())
    }

    fn measure(&mut self) {
        let pool = self.crowd.pool();
        let mut order: Vec<usize> = (0..pool.len()).collect();
        order.sort_unstable_by(|a, b| pool.x[*a].total_cmp(&pool.x[*b]));
        for (place, &i) in order.iter().enumerate() {
            for &j in order[place + 1..].iter().take_while(|j| pool.x[**j] - pool.x[i] < CLOSE) {
                let distance = (pool.x[i] - pool.x[j]).hypot(pool.y[i] - pool.y[j]);
                if distance < CLOSE {
                    let depth = pool.radius[i] + pool.radius[j] - distance;
                    self.overlap.pairs += 1;
                    self.overlap.deep += u64::from(depth > 0.01);
                    self.overlap.deepest = self.overlap.deepest.max(depth);
                }
            }
        }
        for row in 0..pool.len() {
            let at = pool.position(row);
            let before = self.before.insert(pool.id[row], at);
            for wall in self.crowd.walls().segments() {
                let (distance, _) = wall.offset(at);
                self.overlap.in_wall = self.overlap.in_wall.max(pool.radius[row] - distance);
                if before.is_some_and(|before| crosses(wall, before, at)) {
                    self.overlap.through += 1;
                }
            }
        }
    }

    /// What was recorded, to look at.
    pub(super) fn scene(self) -> Scene {
        Scene { walls: self.crowd.walls().segments().to_vec(), trajectory: self.trajectory }
    }
}

/// The type of everybody here.
pub(super) fn adult() -> Option<&'static ResolvedType> {
    AgentTypeLibrary::built_in().named("adult").ok().map(|adult| &**adult)
}

/// Whether a step goes through a wall.
fn crosses(wall: &Segment, from: [f64; 2], to: [f64; 2]) -> bool {
    let side =
        |a: [f64; 2], b: [f64; 2], p: [f64; 2]| (b[0] - a[0]) * (p[1] - a[1]) - (b[1] - a[1]) * (p[0] - a[0]);
    let end = wall.end();
    side(wall.start, end, from) * side(wall.start, end, to) < 0.0
        && side(from, to, wall.start) * side(from, to, end) < 0.0
}
