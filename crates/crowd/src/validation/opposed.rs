//! People whose ways are in each other's way.

use std::collections::BTreeSet;
use std::f64::consts::TAU;

use super::stage::{Goal, Stage, walls_row};
use super::{Outcome, Row, Size};
use crate::error::CrowdError;
use crate::settings::Settings;

pub(super) fn circle(settings: &Settings, size: Size) -> Result<Outcome, CrowdError> {
    let (count, limit) = match size {
        Size::Quick => (12, 60.0),
        Size::Full => (50, 120.0),
    };
    const RADIUS: f64 = 10.0;
    let mut stage = Stage::open(settings, "circle")?;
    for number in 0..count {
        let (sin, cos) = (TAU * f64::from(number) / f64::from(count)).sin_cos();
        let [x, y] = [RADIUS * cos, RADIUS * sin];
        stage.walker([x, y], 1.3, [Goal::near([-x, -y], 0.3)])?;
    }
    stage.run(limit)?;
    let last = stage.left.last().map_or(limit, |leaver| leaver.time);
    let mut outcome = Outcome::default();
    outcome.rows.push(
        Row::new(
            format!("people of {count} who did not arrive within {limit} s"),
            stage.pool().len() as f64,
            "",
        )
        .within(f64::NEG_INFINITY, 0.0),
    );
    let straight = 2.0 * RADIUS / 1.3;
    let told = Row::new("time of the last, as a multiple of the straight way's", last / straight, "");
    outcome.rows.push(told);
    outcome.rows.push(Row::new("deepest overlap of bodies", 100.0 * stage.overlap.deepest, "cm"));
    outcome.scene = Some(stage.scene());
    Ok(outcome)
}

pub(super) fn head_on(settings: &Settings, _: Size) -> Result<Outcome, CrowdError> {
    let mut stage = Stage::open(settings, "head_on")?;
    stage.walls(&[&[[-9.0, 1.5], [9.0, 1.5]], &[[-9.0, -1.5], [9.0, -1.5]]])?;
    for side in [-1.0, 1.0] {
        stage.walker([side * 5.0, 0.0], 1.3, [Goal::beyond([-side * 5.0, 0.0], [-side, 0.0])])?;
    }
    let (mut met, mut passed) = (None, None);
    while stage.time() < 40.0 && stage.pool().len() == 2 {
        stage.step()?;
        if let [a, b] = stage.pool().x[..] {
            if met.is_none() && b - a < 1.5 {
                met = Some(stage.time());
            }
            if passed.is_none() && b < a {
                passed = Some(stage.time());
            }
        }
    }
    let time = match (met, passed) {
        (Some(met), Some(passed)) => passed - met,
        _ => f64::INFINITY,
    };
    let mut outcome = Outcome::default();
    outcome.rows.push(
        Row::new("time from 1.5 m apart until past each other", time, "s").within(f64::NEG_INFINITY, 5.0),
    );
    outcome.scene = Some(stage.scene());
    Ok(outcome)
}

pub(super) fn door(settings: &Settings, size: Size) -> Result<Outcome, CrowdError> {
    let end = match size {
        Size::Quick => 20.0,
        Size::Full => 200.0,
    };
    const RATE: f64 = 1.0;
    const MOST: usize = 20;
    let mut stage = Stage::new(settings, "door_counterflow")?;
    stage.walls(&[
        &[[0.0, 0.6], [0.0, 5.0], [10.0, 5.0], [10.0, -5.0], [0.0, -5.0], [0.0, -0.6]],
        &[[0.0, 5.0], [-10.0, 5.0], [-10.0, -5.0], [0.0, -5.0]],
    ])?;
    let mut sides = [BTreeSet::new(), BTreeSet::new()];
    let mut passes: Vec<(f64, usize)> = Vec::new();
    let mut longest = 0.0_f64;
    let dt = settings.dt;
    while stage.time() < end {
        for (side, direction) in [1.0, -1.0].into_iter().enumerate() {
            for _ in 0..stage.draw.poisson(RATE * dt) {
                let at = [-direction * stage.draw.uniform(7.0, 9.0), stage.draw.uniform(-1.5, 1.5)];
                let speed = stage.draw.uniform(1.1, 1.4);
                if sides[side].len() < MOST && stage.is_free(at) {
                    let goal = Goal::near([direction * 8.0, direction * 3.0], 1.0);
                    sides[side].insert(stage.walker(at, speed, [goal])?);
                }
            }
        }
        let before: Vec<(i32, f64)> =
            stage.pool().id.iter().copied().zip(stage.pool().x.iter().copied()).collect();
        stage.step()?;
        let now = stage.time();
        for (id, x) in before {
            let Some(row) = stage.pool().row_of(id) else {
                sides.iter_mut().for_each(|ids| {
                    ids.remove(&id);
                });
                continue;
            };
            let side = usize::from(sides[1].contains(&id));
            let direction = [1.0, -1.0][side];
            if x * direction < 0.0 && stage.pool().x[row] * direction >= 0.0 {
                passes.push((now, side));
            }
        }
        let pool = stage.pool();
        let waits = (0..pool.len()).any(|row| pool.x[row].hypot(pool.y[row]) < 2.0);
        let last = passes.last().map_or(0.0, |(time, _)| *time);
        if waits && now > 10.0 {
            longest = longest.max(now - last);
        }
    }
    let changes = passes.windows(2).filter(|pair| pair[0].1 != pair[1].1).count();
    let mut outcome = Outcome::default();
    outcome.rows.push(
        Row::new("longest time that nobody passed while somebody waited", longest, "s")
            .within(f64::NEG_INFINITY, 10.0),
    );
    outcome
        .rows
        .push(Row::new("changes of the passing direction", changes as f64, "").within(1.0, f64::INFINITY));
    let told = Row::new("people through the door", passes.len() as f64 / end * 60.0, "1/min");
    outcome.rows.push(told);
    outcome.rows.push(walls_row(stage.overlap.through));
    outcome.scene = Some(stage.scene());
    Ok(outcome)
}
