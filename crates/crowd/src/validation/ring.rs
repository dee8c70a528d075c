//! Ring corridors, where density is a choice: the fundamental diagram and the room of people in single file.

use std::f64::consts::TAU;

use super::stage::Stage;
use super::{Chart, Outcome, Row, Series, Size};
use crate::analysis::{fitted_line, weidmann};
use crate::error::CrowdError;
use crate::settings::Settings;

/// Straight pieces of a round wall.
const PIECES: usize = 96;

/// A ring corridor with walls.
struct Ring {
    stage: Stage,
    radius: f64,
    half_width: f64,
    /// The distance from the middle that each person keeps to.
    lanes: Vec<(i32, f64)>,
}

impl Ring {
    fn new(settings: &Settings, name: &str, radius: f64, half_width: f64) -> Result<Self, CrowdError> {
        let mut stage = Stage::open(settings, name)?;
        for radius in [radius - half_width, radius + half_width] {
            let corner = |i: usize| {
                let (sin, cos) = (TAU * i as f64 / PIECES as f64).sin_cos();
                [radius * cos, radius * sin]
            };
            let line: Vec<[f64; 2]> = (0..=PIECES).map(corner).collect();
            stage.walls(&[&line])?;
        }
        Ok(Self { stage, radius, half_width, lanes: Vec::new() })
    }

    fn add(&mut self, radius: f64, angle: f64) -> Result<(), CrowdError> {
        let (sin, cos) = angle.sin_cos();
        let speed = self.stage.free_speed();
        let id = self.stage.walker([radius * cos, radius * sin], speed, [])?;
        self.lanes.push((id, radius));
        Ok(())
    }

    /// Everybody goes for a point 2 m ahead of them, in the lane they have by now.
    fn lead(&mut self) -> Result<(), CrowdError> {
        let room = self.half_width - 0.3;
        for (id, lane) in &mut self.lanes {
            let Some(row) = self.stage.pool().row_of(*id) else { continue };
            let [x, y] = self.stage.pool().position(row);
            if room > 0.5 {
                *lane = x.hypot(y).clamp(self.radius - room, self.radius + room);
            }
            let (sin, cos) = (y.atan2(x) + 2.0 / *lane).sin_cos();
            self.stage.crowd.navigate(*id, Some([*lane * cos, *lane * sin]))?;
        }
        Ok(())
    }

    /// Let them walk and give their mean speed along the ring after a while, over as long.
    fn mean_speed(&mut self, settle: f64, measure: f64) -> Result<f64, CrowdError> {
        let [mut sum, mut count] = [0.0; 2];
        let interval = u64::from(self.stage.crowd.settings().bt_tick_interval);
        while self.stage.time() < settle + measure {
            if self.stage.crowd.ticks().is_multiple_of(interval) {
                self.lead()?;
            }
            self.stage.step()?;
            if self.stage.time() > settle {
                let pool = self.stage.pool();
                for row in 0..pool.len() {
                    let [x, y] = pool.position(row);
                    sum += (pool.vy[row] * x - pool.vx[row] * y) / x.hypot(y);
                    count += 1.0;
                }
            }
        }
        Ok(sum / f64::max(count, 1.0))
    }
}

pub(super) fn fundamental_diagram(settings: &Settings, size: Size) -> Result<Outcome, CrowdError> {
    const RADIUS: f64 = 8.0;
    const HALF_WIDTH: f64 = 1.5;
    let area = TAU * RADIUS * 2.0 * HALF_WIDTH;
    let (densities, settle, measure): (&[f64], _, _) = match size {
        Size::Quick => (&[0.5, 2.0], 6.0, 6.0),
        Size::Full => (&[0.25, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 3.5], 20.0, 20.0),
    };
    let mut outcome = Outcome::default();
    let mut points = Vec::new();
    for density in densities {
        let mut ring = Ring::new(settings, "fundamental_diagram", RADIUS, HALF_WIDTH)?;
        let count = (density * area).round() as usize;
        // Five lanes fill the ring evenly up to the density of touching bodies.
        let lanes = 5;
        for number in 0..count {
            let lane = (number % lanes) as f64;
            let radius = RADIUS + (lane - 2.0) * (HALF_WIDTH - 0.3) / 2.0;
            let angle = TAU * (number / lanes) as f64 / count.div_ceil(lanes) as f64;
            ring.add(radius, angle + 0.5 * (lane % 2.0) * TAU * lanes as f64 / count as f64)?;
        }
        let speed = ring.mean_speed(settle, measure)?;
        let within = weidmann(*density);
        points.push([*density, speed]);
        outcome.rows.push(
            Row::new(format!("speed at {density} /m2"), speed, "m/s")
                .published(format!("{within:.2}"))
                .note(if *density > 3.0 { "bodies of 0.25 m touch at 4.6 /m2" } else { "" }),
        );
        outcome.scene = Some(ring.stage.scene());
    }
    let falls = points.windows(2).all(|pair| pair[1][1] < pair[0][1] + 0.02);
    let off = points.iter().map(|p| (p[1] - weidmann(p[0])).abs()).sum::<f64>() / points.len() as f64;
    outcome.rows.push(
        Row::new("mean distance from Weidmann", off, "m/s")
            .within(0.0, 0.2)
            .note("the bound is ours; field data scatter as much"),
    );
    let rises = points.windows(2).filter(|pair| pair[1][1] >= pair[0][1] + 0.02).count() as f64;
    outcome.rows.push(Row::new("steps at which speed rises with density", rises, "").expected("0", falls));
    let flow = points.iter().map(|p| p[0] * p[1]).fold(0.0, f64::max);
    outcome.rows.push(
        Row::new("largest specific flow", flow, "1/(m s)")
            .published("1.22 Weidmann; about 2.0 Zhang et al. 2012, corridors in one direction"),
    );
    let curve = (1..=54).map(|i| f64::from(i) * 0.1).map(|density| [density, weidmann(density)]);
    outcome.charts.push(Chart {
        name: "speed",
        title: "Speed at a density".to_owned(),
        x: "density, 1/m2",
        y: "speed, m/s",
        series: vec![
            Series { name: settings.local_planner.clone(), points, joined: false },
            Series { name: "Weidmann 1993".to_owned(), points: curve.collect(), joined: true },
        ],
    });
    Ok(outcome)
}

pub(super) fn single_file(settings: &Settings, size: Size) -> Result<Outcome, CrowdError> {
    const RADIUS: f64 = 5.0;
    let (counts, settle, measure): (&[u32], _, _) = match size {
        Size::Quick => (&[15, 30], 6.0, 6.0),
        Size::Full => (&[14, 17, 20, 24, 28, 33, 38, 44, 50, 54, 58], 30.0, 30.0),
    };
    let mut outcome = Outcome::default();
    let mut points = Vec::new();
    for count in counts {
        let mut ring = Ring::new(settings, "single_file", RADIUS, 0.4)?;
        for number in 0..*count {
            ring.add(RADIUS, TAU * f64::from(number) / f64::from(*count))?;
        }
        let speed = ring.mean_speed(settle, measure)?;
        points.push([speed, TAU * RADIUS / f64::from(*count)]);
        outcome.scene = Some(ring.stage.scene());
    }
    let slow: Vec<[f64; 2]> = points.iter().copied().filter(|p| (0.1..1.0).contains(&p[0])).collect();
    match fitted_line(&slow) {
        Some(line) => {
            outcome.rows.push(
                Row::new("room at a standstill", line.at_zero, "m")
                    .within(0.26, 0.66)
                    .note("published 0.36; bodies here have a diameter of 0.5"),
            );
            let slope = Row::new("room per speed", line.slope, "s").within(0.74, 1.38);
            outcome.rows.push(slope.note("published 1.06, here within 30 %"));
            outcome.rows.push(Row::new("share of variance that the line explains", line.explained, ""));
        }
        None => {
            let told = Row::new("speeds between 0.1 and 1 m/s", slow.len() as f64, "");
            outcome.rows.push(told.expected("at least 2, to fit a line", false));
        }
    }
    let law = [0.0, 1.2].map(|speed| [speed, 0.36 + 1.06 * speed]);
    outcome.charts.push(Chart {
        name: "headway",
        title: "Room per person at a speed, single file".to_owned(),
        x: "speed, m/s",
        y: "room, m",
        series: vec![
            Series { name: settings.local_planner.clone(), points, joined: false },
            Series { name: "Seyfried et al. 2005".to_owned(), points: law.to_vec(), joined: true },
        ],
    });
    Ok(outcome)
}
