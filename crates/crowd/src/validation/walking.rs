//! Walking along and around: RiMEA cases 1, 5, 6, 7 and 15, and free speed.

use promenade_scenario::AgentTypeLibrary;

use super::stage::{Goal, Stage, adult, walls_row};
use super::{Outcome, Row, Size};
use crate::error::CrowdError;
use crate::settings::Settings;
use crate::spawn::SpawnRequest;

/// Walls of a corridor along x from 0.
fn corridor(stage: &mut Stage, length: f64, width: f64) -> Result<(), CrowdError> {
    let half = 0.5 * width;
    stage.walls(&[&[[-1.0, half], [length, half]], &[[-1.0, -half], [length, -half]]])
}

pub(super) fn prescribed_speed(settings: &Settings, _: Size) -> Result<Outcome, CrowdError> {
    let mut stage = Stage::new(settings, "rimea_1")?;
    corridor(&mut stage, 43.0, 2.0)?;
    stage.walker([0.0, 0.0], 1.33, [Goal::beyond([40.0, 0.0], [1.0, 0.0])])?;
    stage.run(60.0)?;
    let time = stage.left.first().map_or(f64::INFINITY, |leaver| leaver.time);
    let mut outcome = Outcome::default();
    let row = Row::new("time for 40 m at 1.33 m/s", time, "s");
    outcome.rows.push(row.within(28.5, 31.5).note("30 s within 5 %; the guideline allows 26 s to 34 s"));
    outcome.scene = Some(stage.scene());
    Ok(outcome)
}

pub(super) fn setting_off(settings: &Settings, _: Size) -> Result<Outcome, CrowdError> {
    let mut stage = Stage::new(settings, "rimea_5")?;
    stage.walls(&[&[[-4.0, 0.5], [-4.0, 2.5], [-12.0, 2.5], [-12.0, -2.5], [-4.0, -2.5], [-4.0, -0.5]]])?;
    let mut waiting = Vec::new();
    for number in 0..10_u32 {
        let at = [-11.0 + 1.4 * f64::from(number % 5), if number < 5 { -1.0 } else { 1.0 }];
        // Somebody without a goal stays.
        let id = stage
            .crowd
            .spawn(&SpawnRequest { pose: [at[0], at[1], 0.0], ..SpawnRequest::default() }, adult())?;
        waiting.push((id, 10.0 * f64::from(number + 1), f64::INFINITY));
    }
    while stage.time() < 110.0 {
        for (id, start, set_off) in &mut waiting {
            if stage.time() >= *start && set_off.is_infinite() {
                let Some(row) = stage.pool().row_of(*id) else { continue };
                if stage.pool().vx[row].hypot(stage.pool().vy[row]) > 0.3 {
                    *set_off = stage.time();
                } else {
                    stage.send(*id, [Goal::beyond([-3.0, 0.0], [1.0, 0.0])])?;
                }
            }
        }
        stage.step()?;
    }
    let late = waiting.iter().map(|(_, start, set_off)| set_off - start).fold(0.0, f64::max);
    let mut outcome = Outcome::default();
    outcome.rows.push(
        Row::new("longest time from the start given until 0.3 m/s", late, "s")
            .within(0.0, 0.75)
            .note("decisions are 0.25 s apart, and people speed up by about 1.5 m/s2"),
    );
    outcome.scene = Some(stage.scene());
    Ok(outcome)
}

/// A corridor that turns left after `length` metres, and the way through it from `(x, y)`.
fn bend(stage: &mut Stage, length: f64, width: f64) -> Result<(), CrowdError> {
    stage.walls(&[
        &[[-1.0, 0.0], [length, 0.0], [length, length]],
        &[[-1.0, width], [length - width, width], [length - width, length]],
    ])
}

pub(super) fn corner(settings: &Settings, size: Size) -> Result<Outcome, CrowdError> {
    let count = match size {
        Size::Quick => 8,
        Size::Full => 20,
    };
    let mut stage = Stage::new(settings, "rimea_6")?;
    bend(&mut stage, 12.0, 2.0)?;
    for place in stage.places(count, [0.0, 0.35, 6.0, 1.65]) {
        let speed = stage.free_speed();
        stage.walker(place, speed, [Goal::beyond([11.0, 11.5], [0.0, 1.0])])?;
    }
    stage.run(60.0)?;
    let mut outcome = Outcome::default();
    outcome.rows.push(walls_row(stage.overlap.through));
    outcome.rows.push(
        Row::new(
            "pairs within 1 m that overlap by more than 1 cm",
            100.0 * (1.0 - stage.overlap.clear()),
            "%",
        )
        .within(0.0, 0.1),
    );
    outcome.rows.push(
        Row::new("people who did not get around within 60 s", stage.pool().len() as f64, "")
            .within(f64::NEG_INFINITY, 0.0),
    );
    outcome.scene = Some(stage.scene());
    Ok(outcome)
}

pub(super) fn groups(settings: &Settings, size: Size) -> Result<Outcome, CrowdError> {
    let count = match size {
        Size::Quick => 10,
        Size::Full => 50,
    };
    // The type, and the speeds that are measured of such people.
    let groups = [("adult", [0.58, 1.61]), ("elder", [0.46, 1.41]), ("wheelchair_manual", [0.3, 1.4])];
    let mut outcome = Outcome::default();
    for (name, [least, most]) in groups {
        let Ok(resolved) = AgentTypeLibrary::built_in().named(name) else { continue };
        let mut stage = Stage::open(settings, "rimea_7")?;
        let mut speeds = Vec::new();
        for number in 0..count {
            let pose = [0.0, 3.0 * f64::from(number), 0.0];
            let id = stage.crowd.spawn(&SpawnRequest { pose, ..SpawnRequest::default() }, Some(resolved))?;
            stage.send(id, [Goal::near([100.0, pose[1]], 0.5)])?;
        }
        while stage.time() < 8.0 {
            stage.step()?;
        }
        let pool = stage.pool();
        speeds.extend((0..pool.len()).map(|row| pool.vx[row].hypot(pool.vy[row])));
        let inside = speeds.iter().filter(|speed| (least..=most).contains(*speed)).count();
        let mean = speeds.iter().sum::<f64>() / speeds.len().max(1) as f64;
        outcome.rows.push(
            Row::new(
                format!("share of `{name}` who walk at {least} to {most} m/s"),
                inside as f64 / speeds.len().max(1) as f64,
                "",
            )
            .within(0.95, 1.0)
            .note(format!("mean {mean:.2} m/s")),
        );
    }
    Ok(outcome)
}

pub(super) fn crowd_around_a_corner(settings: &Settings, size: Size) -> Result<Outcome, CrowdError> {
    let (count, length) = match size {
        Size::Quick => (30, 14.0),
        Size::Full => (500, 40.0),
    };
    const WIDTH: f64 = 5.0;
    let mut flows = Vec::new();
    let mut outcome = Outcome::default();
    for straight in [true, false] {
        let mut stage = Stage::new(settings, "rimea_15")?;
        match straight {
            true => stage
                .walls(&[&[[-60.0, 0.0], [2.0 * length, 0.0]], &[[-60.0, WIDTH], [2.0 * length, WIDTH]]])?,
            false => {
                stage.walls(&[
                    &[[-60.0, 0.0], [length, 0.0], [length, length]],
                    &[[-60.0, WIDTH], [length - WIDTH, WIDTH], [length - WIDTH, length]],
                ])?;
            }
        }
        // Two people per square metre, from the end of the straight part backwards.
        let start = length - WIDTH - 2.0;
        let room = count as f64 / (1.8 * (WIDTH - 0.8));
        for place in stage.places(count, [start - room, 0.4, start, WIDTH - 0.4]) {
            let speed = stage.free_speed();
            let goal = match straight {
                true => Goal::beyond([length + 12.0, place[1]], [1.0, 0.0]),
                false => Goal::beyond([length - place[1], 12.0], [0.0, 1.0]),
            };
            stage.walker(place, speed, [goal])?;
        }
        let total = stage.pool().len();
        stage.run(180.0)?;
        let (from, to) = (total / 10, total * 8 / 10);
        let flow = match stage.left.get(from..to) {
            Some([first, .., last]) => (to - from - 1) as f64 / (last.time - first.time) / WIDTH,
            _ => 0.0,
        };
        let stuck = stage.pool().len();
        flows.push(flow);
        let name = if straight { "straight on" } else { "around the corner" };
        let note = if stuck > 0 {
            format!("{stuck} of {total} were still there after 180 s")
        } else {
            String::new()
        };
        outcome.rows.push(Row::new(format!("specific flow {name}"), flow, "1/(m s)").note(note));
        if !straight {
            outcome.rows.push(walls_row(stage.overlap.through));
            outcome.scene = Some(stage.scene());
        }
    }
    outcome.rows.push(
        Row::new("flow around the corner as part of that straight on", flows[1] / flows[0], "")
            .within(0.6, f64::INFINITY)
            .note("the guideline asks for a comparable flow; the bound is ours"),
    );
    Ok(outcome)
}

pub(super) fn free_speed(settings: &Settings, size: Size) -> Result<Outcome, CrowdError> {
    let count = match size {
        Size::Quick => 10,
        Size::Full => 200,
    };
    let mut stage = Stage::open(settings, "free_speed")?;
    for number in 0..count {
        let y = 3.0 * f64::from(number);
        let id =
            stage.crowd.spawn(&SpawnRequest { pose: [0.0, y, 0.0], ..SpawnRequest::default() }, adult())?;
        stage.send(id, [Goal::near([100.0, y], 0.5)])?;
    }
    while stage.time() < 8.0 {
        stage.step()?;
    }
    let pool = stage.pool();
    let speeds: Vec<f64> = (0..pool.len()).map(|row| pool.vx[row].hypot(pool.vy[row])).collect();
    let n = speeds.len() as f64;
    let mean = speeds.iter().sum::<f64>() / n;
    let spread = (speeds.iter().map(|s| (s - mean).powi(2)).sum::<f64>() / n).sqrt();
    let mut outcome = Outcome::default();
    let note =
        "the type of the original engine strolls; give `desired_velocity` to walk like Weidmann's people";
    outcome.rows.push(Row::new("mean free speed of `adult`", mean, "m/s").published("1.34").note(note));
    outcome.rows.push(Row::new("its standard deviation", spread, "m/s").published("0.26"));
    Ok(outcome)
}
