//! Emptying rooms, and which exit people take: RiMEA cases 8, 9, 10, 11 and 14.

use super::stage::{Goal, Stage};
use super::{Chart, Outcome, Row, Series, Size};
use crate::error::CrowdError;
use crate::settings::Settings;

/// Time until all have left a room of 10 m by 10 m through a door of 1.2 m at this speed.
fn time_to_leave(settings: &Settings, count: usize, speed: f64) -> Result<f64, CrowdError> {
    let mut stage = Stage::open(settings, "rimea_8")?;
    stage.walls(&[&[[0.0, 0.6], [0.0, 5.0], [-10.0, 5.0], [-10.0, -5.0], [0.0, -5.0], [0.0, -0.6]]])?;
    for place in stage.places(count, [-9.6, -4.6, -0.6, 4.6]) {
        let over = place[1].clamp(-0.3, 0.3);
        let way = [Goal::gate([-0.2, over], [1.0, 0.0], 0.6), Goal::beyond([2.0, over], [1.0, 0.0])];
        stage.walker(place, speed, way)?;
    }
    Ok(if stage.run(300.0)? { stage.time() } else { f64::INFINITY })
}

pub(super) fn speeds(settings: &Settings, size: Size) -> Result<Outcome, CrowdError> {
    let (speeds, count): (&[f64], _) = match size {
        Size::Quick => (&[0.6, 1.2], 10),
        Size::Full => (&[0.6, 0.8, 1.0, 1.2, 1.4], 80),
    };
    let mut points = Vec::new();
    for speed in speeds {
        points.push([*speed, time_to_leave(settings, count, *speed)?]);
    }
    let mut outcome = Outcome::default();
    for [speed, time] in &points {
        outcome.rows.push(Row::new(format!("time for {count} people at {speed} m/s"), *time, "s"));
    }
    let rises = points.windows(2).filter(|pair| pair[1][1] > 1.03 * pair[0][1]).count();
    outcome.rows.push(
        Row::new("steps at which a higher speed takes longer", rises as f64, "")
            .within(f64::NEG_INFINITY, 0.0)
            .note("more than 3 % longer"),
    );
    outcome.charts.push(Chart {
        name: "time",
        title: "Time to empty a room".to_owned(),
        x: "desired speed, m/s",
        y: "time, s",
        series: vec![Series { name: settings.local_planner.clone(), points, joined: true }],
    });
    Ok(outcome)
}

/// A hall of 30 m by 20 m with up to four exits of 1 m in its long sides.
const HALL: [f64; 2] = [30.0, 20.0];
/// Where they are along the hall, and in which side: 1 above, -1 below.
const EXITS: [[f64; 2]; 4] = [[-7.5, 1.0], [7.5, 1.0], [-7.5, -1.0], [7.5, -1.0]];

fn hall(stage: &mut Stage, exits: &[[f64; 2]]) -> Result<(), CrowdError> {
    let [half_length, half_width] = [0.5 * HALL[0], 0.5 * HALL[1]];
    for side in [1.0, -1.0] {
        let y = side * half_width;
        let mut from = -half_length;
        for [x, _] in exits.iter().filter(|exit| exit[1] == side) {
            stage.walls(&[&[[from, y], [x - 0.5, y]]])?;
            from = x + 0.5;
        }
        stage.walls(&[&[[from, y], [half_length, y]]])?;
    }
    stage.walls(&[
        &[[-half_length, -half_width], [-half_length, half_width]],
        &[[half_length, -half_width], [half_length, half_width]],
    ])
}

/// To an exit, through it and 2 m on.
fn through([x, side]: [f64; 2]) -> [Goal; 2] {
    let y = side * 0.5 * HALL[1];
    [Goal::gate([x, y - 0.2 * side], [0.0, side], 0.5), Goal::beyond([x, y + 2.0 * side], [0.0, side])]
}

fn nearest(exits: &[[f64; 2]], from: [f64; 2]) -> [f64; 2] {
    let distance = |exit: &[f64; 2]| (exit[0] - from[0]).hypot(0.5 * exit[1] * HALL[1] - from[1]);
    exits.iter().copied().min_by(|a, b| distance(a).total_cmp(&distance(b))).unwrap_or_default()
}

pub(super) fn exits(settings: &Settings, size: Size) -> Result<Outcome, CrowdError> {
    let (count, limit) = match size {
        Size::Quick => (40, 120.0),
        Size::Full => (1000, 900.0),
    };
    let mut times = Vec::new();
    let mut outcome = Outcome::default();
    for open in [&EXITS[..], &EXITS[..2]] {
        let mut stage = Stage::open(settings, "rimea_9")?;
        hall(&mut stage, open)?;
        for place in stage.places(count, [-14.5, -9.5, 14.5, 9.5]) {
            let speed = stage.free_speed();
            stage.walker(place, speed, through(nearest(open, place)))?;
        }
        let placed = stage.pool().len();
        let all = stage.run(limit)?;
        times.push(if all { stage.time() } else { f64::INFINITY });
        let note = if all { String::new() } else { format!("{} were left inside", stage.pool().len()) };
        outcome.rows.push(
            Row::new(format!("time for {placed} people through {} exits", open.len()), stage.time(), "s")
                .note(note),
        );
        outcome.scene = Some(stage.scene());
    }
    outcome.rows.push(
        Row::new("time with two exits as a multiple of that with four", times[1] / times[0], "")
            .within(1.6, 2.4)
            .note("the guideline says about double, and asks for the figure only"),
    );
    Ok(outcome)
}

pub(super) fn assigned(settings: &Settings, size: Size) -> Result<Outcome, CrowdError> {
    let count = match size {
        Size::Quick => 12,
        Size::Full => 60,
    };
    let mut stage = Stage::open(settings, "rimea_10")?;
    hall(&mut stage, &EXITS)?;
    let mut given = std::collections::BTreeMap::new();
    for (number, place) in stage.places(count, [-12.0, -8.0, 12.0, 8.0]).into_iter().enumerate() {
        let exit = EXITS[number % EXITS.len()];
        let speed = stage.free_speed();
        given.insert(stage.walker(place, speed, through(exit))?, exit);
    }
    stage.run(200.0)?;
    let right = stage.left.iter().filter(|leaver| {
        given
            .get(&leaver.id)
            .is_some_and(|exit| (leaver.at[0] - exit[0]).abs() < 4.0 && leaver.at[1] * exit[1] > 0.0)
    });
    let wrong = given.len() - right.count();
    let mut outcome = Outcome::default();
    outcome.rows.push(
        Row::new("people who did not leave by their exit", wrong as f64, "").within(f64::NEG_INFINITY, 0.0),
    );
    outcome.scene = Some(stage.scene());
    Ok(outcome)
}

pub(super) fn choice(settings: &Settings, size: Size) -> Result<Outcome, CrowdError> {
    let count = match size {
        Size::Quick => 20,
        Size::Full => 1000,
    };
    // The engine lets nobody choose: a goal is given, or drawn by the weights of a source. Here everybody gets one by weight.
    let mut stage = Stage::open(settings, "rimea_11")?;
    hall(&mut stage, &EXITS[..2])?;
    let mut near = 0.0;
    let places = stage.places(count, [-14.5, -9.5, 14.5, 9.5]);
    for place in &places {
        let exit = EXITS[usize::from(stage.draw.random() < 0.5)];
        near += f64::from(u8::from(nearest(&EXITS[..2], *place) == exit));
    }
    let mut outcome = Outcome::default();
    outcome.rows.push(
        Row::new(
            "share of people bound for the nearer of two exits with equal weights",
            near / places.len().max(1) as f64,
            "",
        )
        .note(
            "exits are drawn by weight (`sink_affinity`), never chosen by distance or by how full they are",
        ),
    );
    Ok(outcome)
}

pub(super) fn two_ways(settings: &Settings, size: Size) -> Result<Outcome, CrowdError> {
    let count = match size {
        Size::Quick => 6,
        Size::Full => 40,
    };
    // A block of 6 m by 6 m in the way, off the middle: 2 m to pass on one side, 8 m more of a way on the other.
    let mut stage = Stage::new(settings, "rimea_14")?;
    stage.walls(&[
        &[[-10.0, -6.0], [10.0, -6.0], [10.0, 6.0], [-10.0, 6.0], [-10.0, -6.0]],
        &[[-3.0, -4.0], [3.0, -4.0], [3.0, 4.0], [-3.0, 4.0], [-3.0, -4.0]],
    ])?;
    for place in stage.places(count, [-9.0, -5.5, -5.0, -2.0]) {
        let speed = stage.free_speed();
        stage.walker(place, speed, [Goal::near([8.0, -3.0], 1.0)])?;
    }
    let [mut short, mut long] = [0.0; 2];
    while stage.time() < 120.0 && !stage.pool().is_empty() {
        let before: Vec<(i32, f64)> =
            stage.pool().id.iter().copied().zip(stage.pool().x.iter().copied()).collect();
        stage.step()?;
        for (id, x) in before {
            let Some(row) = stage.pool().row_of(id) else { continue };
            if x < 0.0 && stage.pool().x[row] >= 0.0 {
                let is_short = stage.pool().y[row] < 0.0;
                short += f64::from(u8::from(is_short));
                long += f64::from(u8::from(!is_short));
            }
        }
    }
    let mut outcome = Outcome::default();
    outcome.rows.push(
        Row::new("share of people who take the short way", short / f64::max(short + long, 1.0), "").note(
            "paths are shortest ones, whatever the crowd on them; the guideline asks for the figure only",
        ),
    );
    outcome.scene = Some(stage.scene());
    Ok(outcome)
}
