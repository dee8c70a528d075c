//! Streams of people who meet: lanes, stripes, and how much bodies overlap.

use super::stage::{Goal, Stage, walls_row};
use super::{Chart, Outcome, Row, Series, Size};
use crate::error::CrowdError;
use crate::settings::Settings;

/// Two streams along x in a corridor: who of a stream each id is.
struct Corridor {
    stage: Stage,
    /// Ids of those who walk to the right.
    right: std::collections::BTreeSet<i32>,
    half_length: f64,
    half_width: f64,
}

impl Corridor {
    fn new(settings: &Settings, name: &str, length: f64, width: f64) -> Result<Self, CrowdError> {
        let (half_length, half_width) = (0.5 * length, 0.5 * width);
        let mut stage = Stage::open(settings, name)?;
        let far = half_length + 4.0;
        stage
            .walls(&[&[[-far, half_width], [far, half_width]], &[[-far, -half_width], [far, -half_width]]])?;
        Ok(Self { stage, right: std::collections::BTreeSet::new(), half_length, half_width })
    }

    /// Let people in at both ends, `rate` per second each.
    fn step(&mut self, rate: f64) -> Result<(), CrowdError> {
        let dt = self.stage.crowd.settings().dt;
        for direction in [1.0, -1.0] {
            for _ in 0..self.stage.draw.poisson(rate * dt) {
                let room = self.half_width - 0.4;
                let y = self.stage.draw.uniform(-room, room);
                let at = [-direction * (self.half_length + 3.0), y];
                let speed = self.stage.free_speed();
                if self.stage.is_free(at) {
                    let goal = Goal::beyond([direction * (self.half_length + 2.0), y], [direction, 0.0]);
                    let id = self.stage.walker(at, speed, [goal])?;
                    if direction > 0.0 {
                        self.right.insert(id);
                    }
                }
            }
        }
        self.stage.step()
    }

    /// Mean of `((a - b) / (a + b))^2` over rows of 0.4 m along the corridor: 1 when every row has one direction only.
    fn order(&self) -> f64 {
        let pool = self.stage.pool();
        let rows = (2.0 * self.half_width / 0.4).round() as usize;
        let mut counts = vec![[0.0_f64; 2]; rows];
        for row in 0..pool.len() {
            if pool.x[row].abs() < self.half_length {
                let at = ((pool.y[row] + self.half_width) / 0.4).clamp(0.0, rows as f64 - 1.0) as usize;
                counts[at][usize::from(self.right.contains(&pool.id[row]))] += 1.0;
            }
        }
        let filled: Vec<f64> =
            counts.iter().filter(|[a, b]| a + b > 0.0).map(|[a, b]| ((a - b) / (a + b)).powi(2)).collect();
        filled.iter().sum::<f64>() / filled.len().max(1) as f64
    }
}

pub(super) fn lanes(settings: &Settings, size: Size) -> Result<Outcome, CrowdError> {
    let [settle, end] = match size {
        Size::Quick => [15.0, 20.0],
        Size::Full => [60.0, 120.0],
    };
    let mut corridor = Corridor::new(settings, "lanes", 30.0, 4.0)?;
    let mut points = Vec::new();
    while corridor.stage.time() < end {
        corridor.step(1.0)?;
        if corridor.stage.crowd.ticks().is_multiple_of(20) {
            points.push([corridor.stage.time(), corridor.order()]);
        }
    }
    let late: Vec<f64> = points.iter().filter(|p| p[0] > settle).map(|p| p[1]).collect();
    let order = late.iter().sum::<f64>() / late.len().max(1) as f64;
    let mut outcome = Outcome::default();
    outcome.rows.push(
        Row::new(format!("order after {settle} s"), order, "")
            .within(0.6, f64::INFINITY)
            .note("1 is perfect lanes; people placed at random give about 0.3"),
    );
    outcome.rows.push(Row::new("people who got through", corridor.stage.left.len() as f64, ""));
    outcome.charts.push(Chart {
        name: "order",
        title: "Order of two streams over time".to_owned(),
        x: "time, s",
        y: "order",
        series: vec![Series { name: settings.local_planner.clone(), points, joined: true }],
    });
    outcome.scene = Some(corridor.stage.scene());
    Ok(outcome)
}

pub(super) fn crossing(settings: &Settings, size: Size) -> Result<Outcome, CrowdError> {
    let end = match size {
        Size::Quick => 20.0,
        Size::Full => 120.0,
    };
    // Two corridors of 5 m that cross in a square; 0.5 people per m2 at 1.34 m/s are 3.3 per second in each.
    const HALF: f64 = 2.5;
    const FAR: f64 = 12.0;
    const RATE: f64 = 0.5 * 1.34 * 2.0 * HALF;
    let mut stage = Stage::new(settings, "crossing")?;
    for (sx, sy) in [(1.0, 1.0), (1.0, -1.0), (-1.0, 1.0), (-1.0, -1.0)] {
        stage.walls(&[&[[sx * FAR, sy * HALF], [sx * HALF, sy * HALF], [sx * HALF, sy * FAR]]])?;
    }
    let mut along_x = std::collections::BTreeSet::new();
    // Twice the mean of sine and cosine of the double angle between neighbours of a stream.
    let mut double_angle = [0.0; 2];
    let mut slowest = f64::INFINITY;
    let dt = settings.dt;
    while stage.time() < end {
        for is_x in [true, false] {
            for _ in 0..stage.draw.poisson(RATE * dt) {
                let over = stage.draw.uniform(-HALF + 0.4, HALF - 0.4);
                let speed = stage.free_speed();
                let (at, goal) = match is_x {
                    true => ([-FAR + 0.5, over], Goal::beyond([FAR - 1.0, over], [1.0, 0.0])),
                    false => ([over, -FAR + 0.5], Goal::beyond([over, FAR - 1.0], [0.0, 1.0])),
                };
                if stage.is_free(at) {
                    let id = stage.walker(at, speed, [goal])?;
                    if is_x {
                        along_x.insert(id);
                    }
                }
            }
        }
        stage.step()?;
        let pool = stage.pool();
        let inside: Vec<usize> =
            (0..pool.len()).filter(|r| pool.x[*r].abs() < HALF && pool.y[*r].abs() < HALF).collect();
        if stage.time() > 20.0 && stage.crowd.ticks().is_multiple_of(10) {
            for (place, &i) in inside.iter().enumerate() {
                for &j in &inside[place + 1..] {
                    let [dx, dy] = [pool.x[i] - pool.x[j], pool.y[i] - pool.y[j]];
                    if dx.hypot(dy) < 1.5 {
                        // Those of one stream lie along a stripe, those of the other across it.
                        let same = along_x.contains(&pool.id[i]) == along_x.contains(&pool.id[j]);
                        let weight = if same { 1.0 } else { -1.0 };
                        let angle = 2.0 * dy.atan2(dx);
                        double_angle[0] += weight * angle.cos();
                        double_angle[1] += weight * angle.sin();
                    }
                }
            }
        }
        if stage.time() > 20.0 && !inside.is_empty() && stage.crowd.ticks().is_multiple_of(20) {
            let mean: f64 = inside.iter().map(|r| pool.vx[*r].hypot(pool.vy[*r])).sum();
            slowest = slowest.min(mean / inside.len() as f64);
        }
    }
    let angle = 0.5 * double_angle[1].atan2(double_angle[0]).to_degrees();
    let mut outcome = Outcome::default();
    outcome.rows.push(
        Row::new("direction of the stripes", angle.rem_euclid(180.0), "deg")
            .within(120.0, 150.0)
            .note("135 is at right angles to the sum of the two velocities"),
    );
    outcome.rows.push(
        Row::new("slowest mean speed in the crossing", slowest, "m/s")
            .within(0.2, f64::INFINITY)
            .note("a deadlock stands still"),
    );
    outcome.rows.push(Row::new("people who got through", stage.left.len() as f64, ""));
    outcome.scene = Some(stage.scene());
    Ok(outcome)
}

pub(super) fn overlap(settings: &Settings, size: Size) -> Result<Outcome, CrowdError> {
    let end = match size {
        Size::Quick => 15.0,
        Size::Full => 120.0,
    };
    let mut corridor = Corridor::new(settings, "overlap", 20.0, 4.0)?;
    let mut densest = 0.0_f64;
    while corridor.stage.time() < end {
        corridor.step(1.5)?;
        densest = densest.max(corridor.stage.pool().len() as f64 / (26.0 * 4.0));
    }
    let overlap = corridor.stage.overlap;
    let mut outcome = Outcome::default();
    outcome.rows.push(
        Row::new("pairs within 1 m that overlap by less than 1 cm", 100.0 * overlap.clear(), "%")
            .within(99.9, f64::INFINITY),
    );
    let deepest = Row::new("deepest overlap of bodies", 100.0 * overlap.deepest, "cm");
    outcome.rows.push(deepest.within(f64::NEG_INFINITY, 5.0));
    outcome.rows.push(
        Row::new("deepest overlap with a wall", 100.0 * overlap.in_wall, "cm").within(f64::NEG_INFINITY, 0.1),
    );
    outcome.rows.push(walls_row(overlap.through));
    outcome.rows.push(Row::new("largest mean density", densest, "1/m2"));
    outcome.scene = Some(corridor.stage.scene());
    Ok(outcome)
}
