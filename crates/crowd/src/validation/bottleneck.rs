//! Openings that many people want through.

use super::stage::{Goal, Leaver, Stage, walls_row};
use super::{Chart, Outcome, Row, Series, Size};
use crate::analysis::fitted_line;
use crate::error::CrowdError;
use crate::planner;
use crate::sampling::AgentParameters;
use crate::settings::Settings;
use crate::spawn::SpawnRequest;

/// Length of an opening along the way, m.
const DEPTH: f64 = 1.0;

/// A room of 10 m by 8 m left of the origin with an opening of this width to the right, which leads into the open.
fn room(stage: &mut Stage, width: f64) -> Result<(), CrowdError> {
    let half = 0.5 * width;
    stage.walls(&[
        &[
            [DEPTH, half],
            [0.0, half],
            [0.0, 4.0],
            [-10.0, 4.0],
            [-10.0, -4.0],
            [0.0, -4.0],
            [0.0, -half],
            [DEPTH, -half],
        ],
        &[[DEPTH, half], [DEPTH, 4.0]],
        &[[DEPTH, -half], [DEPTH, -4.0]],
    ])
}

/// The way of somebody at `y`: to the opening, as far over as they are, and through it.
fn way_out(y: f64, width: f64) -> [Goal; 2] {
    let over = y.clamp(-0.5 * width + 0.3, (0.5 * width - 0.3).max(-0.5 * width + 0.3));
    [Goal::gate([-0.2, over], [1.0, 0.0], width), Goal::beyond([DEPTH + 1.5, over], [1.0, 0.0])]
}

/// People per second between the first and the last tenth.
fn rate(left: &[Leaver]) -> f64 {
    let (from, to) = (left.len() / 10, left.len() - left.len() / 10);
    match left.get(from..to) {
        Some([first, .., last]) => (to - from - 1) as f64 / (last.time - first.time),
        _ => 0.0,
    }
}

pub(super) fn flow(settings: &Settings, size: Size) -> Result<Outcome, CrowdError> {
    let (widths, count): (&[f64], _) = match size {
        Size::Quick => (&[0.8, 1.6], 30),
        Size::Full => (&[0.8, 1.0, 1.2, 1.6], 150),
    };
    let mut outcome = Outcome::default();
    let mut points = Vec::new();
    let mut walls = 0;
    for &width in widths {
        let mut stage = Stage::open(settings, "bottleneck")?;
        room(&mut stage, width)?;
        for place in stage.places(count, [-9.0, -3.5, -0.5, 3.5]) {
            let speed = stage.free_speed();
            stage.walker(place, speed, way_out(place[1], width))?;
        }
        let all = stage.run(300.0)?;
        let flow = rate(&stage.left);
        points.push([width, flow]);
        let left = stage.pool().len();
        let note =
            if all { String::new() } else { format!("{left} of {count} did not get out within 300 s") };
        outcome.rows.push(
            Row::new(format!("flow through {width} m"), flow, "1/s")
                .published(format!("{:.2}", 1.9 * width))
                .note(note),
        );
        walls += stage.overlap.through;
        outcome.scene = Some(stage.scene());
    }
    if let Some(line) = fitted_line(&points) {
        outcome.rows.push(
            Row::new("growth of the flow with the width", line.slope, "1/(m s)")
                .within(1.2, 2.2)
                .note("published about 1.9 for 0.8 m to 1.2 m"),
        );
        outcome.rows.push(
            Row::new("share of variance that a line explains", line.explained, "")
                .within(0.95, f64::INFINITY),
        );
    }
    outcome.rows.push(walls_row(walls));
    let law = [0.7, 1.7].map(|width| [width, 1.9 * width]);
    outcome.charts.push(Chart {
        name: "flow",
        title: "Flow through an opening".to_owned(),
        x: "width, m",
        y: "flow, 1/s",
        series: vec![
            Series { name: settings.local_planner.clone(), points, joined: false },
            Series {
                name: "1.9 per metre, Seyfried et al. 2009".to_owned(),
                points: law.to_vec(),
                joined: true,
            },
        ],
    });
    Ok(outcome)
}

/// A runner without the limits of a walker, since people in the published model push with accelerations of their own.
fn runner(stage: &mut Stage, speed: f64) -> Result<AgentParameters, CrowdError> {
    let keys = planner::named(&stage.crowd.settings().local_planner)?.keys();
    let mut parameters = AgentParameters::unknown_type();
    parameters.planner = keys.iter().map(|key| (key.name.to_owned(), key.default.mean)).collect();
    parameters.desired_velocity = speed;
    parameters.radius = stage.draw.uniform(0.25, 0.35);
    parameters.max_velocity = f64::max(2.0 * speed, 3.0);
    (parameters.max_acceleration, parameters.max_deceleration) = (50.0, 50.0);
    (parameters.min_turning_radius, parameters.pivot_angular_velocity) = (0.01, 20.0);
    Ok(parameters)
}

pub(super) fn faster_is_slower(settings: &Settings, size: Size) -> Result<Outcome, CrowdError> {
    let (speeds, count): (&[f64], _) = match size {
        Size::Quick => (&[1.0, 3.0], 20),
        Size::Full => (&[0.8, 1.0, 1.5, 2.0, 3.0, 4.0, 5.0], 200),
    };
    let limit = 150.0;
    let mut outcome = Outcome::default();
    let mut points = Vec::new();
    for &speed in speeds {
        // The stiff contacts of the model ask for shorter steps than walking does.
        let fine = Settings { dt: 0.02, ..settings.clone() };
        let mut stage = Stage::open(&fine, "faster_is_slower")?;
        stage.walls(&[&[[0.0, 0.5], [0.0, 7.5], [-15.0, 7.5], [-15.0, -7.5], [0.0, -7.5], [0.0, -0.5]]])?;
        for at in stage.places(count, [-14.5, -7.0, -0.6, 7.0]) {
            let parameters = runner(&mut stage, speed)?;
            let pose = [at[0], at[1], 0.0];
            let id = stage.crowd.spawn_with(&SpawnRequest { pose, ..SpawnRequest::default() }, parameters)?;
            let way = [Goal::gate([-0.2, 0.0], [1.0, 0.0], 0.5), Goal::beyond([2.0, 0.0], [1.0, 0.0])];
            stage.send(id, way)?;
        }
        let all = stage.run(limit)?;
        let time = if all { stage.time() } else { limit };
        points.push([speed, time]);
        let note = if all { String::new() } else { format!("{} were left inside", stage.pool().len()) };
        outcome.rows.push(Row::new(format!("time to leave at {speed} m/s"), time, "s").note(note));
        outcome.scene = Some(stage.scene());
    }
    let fastest = points.iter().enumerate().min_by(|a, b| a.1[1].total_cmp(&b.1[1]));
    if let Some((at, [speed, _])) = fastest {
        let inside = at > 0 && at + 1 < points.len();
        outcome.rows.push(
            Row::new("desired speed that empties the room soonest", *speed, "m/s")
                .expected("neither the lowest nor the highest; published about 1.5", inside),
        );
    }
    outcome.charts.push(Chart {
        name: "time",
        title: "Time for 200 people to leave through a door of 1 m".to_owned(),
        x: "desired speed, m/s",
        y: "time, s",
        series: vec![Series { name: settings.local_planner.clone(), points, joined: true }],
    });
    Ok(outcome)
}

pub(super) fn two_openings(settings: &Settings, size: Size) -> Result<Outcome, CrowdError> {
    let count = match size {
        Size::Quick => 20,
        Size::Full => 150,
    };
    let mut stage = Stage::open(settings, "rimea_12")?;
    // A room of 10 m, a corridor of 5 m by 1 m, and another room with an exit of 1 m.
    stage.walls(&[
        &[[0.0, 0.5], [0.0, 5.0], [-10.0, 5.0], [-10.0, -5.0], [0.0, -5.0], [0.0, -0.5]],
        &[[0.0, 0.5], [5.0, 0.5], [5.0, 5.0], [15.0, 5.0], [15.0, 0.5]],
        &[[0.0, -0.5], [5.0, -0.5], [5.0, -5.0], [15.0, -5.0], [15.0, -0.5]],
    ])?;
    for place in stage.places(count, [-9.6, -4.6, -0.6, 4.6]) {
        let speed = stage.free_speed();
        let way = [-0.2, 5.2, 14.8].map(|x| Goal::gate([x, 0.0], [1.0, 0.0], 0.5));
        stage.walker(place, speed, way.into_iter().chain([Goal::beyond([17.0, 0.0], [1.0, 0.0])]))?;
    }
    let [mut before_first, mut before_second] = [0.0_f64; 2];
    while stage.time() < 300.0 && !stage.pool().is_empty() {
        stage.step()?;
        let pool = stage.pool();
        let near = |from: f64| {
            let inside = |row: &usize| (from - 2.0..from).contains(&pool.x[*row]) && pool.y[*row].abs() < 1.5;
            (0..pool.len()).filter(inside).count() as f64 / 6.0
        };
        if stage.time() > 10.0 {
            before_first = before_first.max(near(0.0));
            before_second = before_second.max(near(15.0));
        }
    }
    let mut outcome = Outcome::default();
    outcome.rows.push(Row::new("largest density before the first opening", before_first, "1/m2"));
    outcome.rows.push(
        Row::new("largest density before the second opening", before_second, "1/m2")
            .expected("below half of that before the first", before_second < 0.5 * before_first),
    );
    outcome.rows.push(
        Row::new("people who did not get out within 300 s", stage.pool().len() as f64, "")
            .within(f64::NEG_INFINITY, 0.0),
    );
    outcome.scene = Some(stage.scene());
    Ok(outcome)
}
